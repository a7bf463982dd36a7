#!/bin/sh
# A Python environment with GDAL's readers, so that tests can ask them about our rasters. Without
# Python the tests that need it say so and are skipped.
set -eu

folder=${GROUNDWAVE_DATA:-.data}/gis
wanted="rasterio==1.4.4 rio-cogeo==7.0.4 numpy==2.4.6"

[ -f "$folder/ready" ] && [ "$(cat "$folder/ready")" = "$wanted" ] && exit 0
python3 -c 'import venv' 2> /dev/null || {
    echo "gis-venv: no python3 with venv; rasters will not be shown to GDAL" >&2
    exit 0
}
echo "gis-venv: installing $wanted" >&2
rm -rf "$folder"
python3 -m venv "$folder"
# shellcheck disable=SC2086  # a list of words on purpose
"$folder/bin/pip" install --quiet --disable-pip-version-check $wanted
printf '%s' "$wanted" > "$folder/ready"
