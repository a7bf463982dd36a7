#!/bin/sh
# A Python environment with Schemathesis, which makes up requests from our interface documents and
# checks every answer against them. Without Python the test that needs it says so and is skipped.
set -eu

folder=${GROUNDWAVE_DATA:-.data}/api
wanted="schemathesis==4.32.5"

[ -f "$folder/ready" ] && [ "$(cat "$folder/ready")" = "$wanted" ] && exit 0
python3 -c 'import venv' 2> /dev/null || {
    echo "api-venv: no python3 with venv; the interface will not be fuzzed" >&2
    exit 0
}
echo "api-venv: installing $wanted" >&2
rm -rf "$folder"
python3 -m venv "$folder"
"$folder/bin/pip" install --quiet --disable-pip-version-check "$wanted"
printf '%s' "$wanted" > "$folder/ready"
