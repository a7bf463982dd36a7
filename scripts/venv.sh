#!/bin/sh
# scripts/venv.sh NAME PACKAGE==VERSION...: a Python environment at .data/NAME, made once. Without
# Python the tests that need it say so and are skipped.
set -eu

name=$1
shift
folder=${GROUNDWAVE_DATA:-.data}/$name

[ -f "$folder/ready" ] && [ "$(cat "$folder/ready")" = "$*" ] && exit 0
python3 -c 'import venv, ensurepip' 2> /dev/null || {
    echo "venv: no python3 with venv; tests that need $* will be skipped" >&2
    exit 0
}
echo "venv: installing $*" >&2
rm -rf "$folder"
python3 -m venv "$folder"
"$folder/bin/pip" install --quiet --disable-pip-version-check "$@"
printf '%s' "$*" > "$folder/ready"
