#!/bin/sh
# scripts/wheel.sh PROFILE: the wheel of Python in out/wheel, the same bytes from the same sources, installed into
# the environment .data/wheel, where its tests run.
set -eu
cd "$(dirname "$0")/.."
profile=$1
data=${GROUNDWAVE_DATA:-.data}
: "${SOURCE_DATE_EPOCH:=$(git log -1 --format=%ct 2> /dev/null || echo 0)}"
export SOURCE_DATE_EPOCH

sh scripts/venv.sh wheel maturin==1.16.0 numpy==2.4.6 rasterio==1.4.4 xarray==2026.9.0 pandas==3.1.1 matplotlib==3.11.2
[ -x "$data/wheel/bin/maturin" ] || {
    echo "wheel: no python3 with venv (Debian: apt-get install python3-venv)" >&2
    exit 1
}
# Maturin builds without network.
[ "${CARGO_NET_OFFLINE:-}" = true ] || cargo fetch --locked --quiet
rm -f out/wheel/groundwave-*.whl "$data/wheel/installed"
"$data/wheel/bin/maturin" build --quiet --locked --offline --profile "$profile" --manifest-path io/python/Cargo.toml \
    --interpreter "$data/wheel/bin/python" --out out/wheel
"$data/wheel/bin/pip" install --quiet --disable-pip-version-check --no-deps --force-reinstall out/wheel/groundwave-*.whl
touch "$data/wheel/installed"
ls -l out/wheel/groundwave-*.whl
