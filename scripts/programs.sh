#!/bin/sh
# scripts/programs.sh [FOLDER]: the node agent and the impairment daemon, small, without shared libraries and without
# folders of this machine in their messages, in FOLDER, out/programs by default.
set -eu
cd "$(dirname "$0")/.."
folder=${1:-out/programs}
target=$(rustc -vV | sed -n 's/^host: //p')
. scripts/static.sh
cargo build --locked --profile small --target "$target" --package groundwave_agent --package groundwave_impaird
mkdir -p "$folder"
for program in groundwave-agent groundwave-impaird; do
    cp "${CARGO_TARGET_DIR:-target}/$target/small/$program" "$folder/"
done
