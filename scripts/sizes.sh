#!/bin/sh
# scripts/sizes.sh [PAGE]: sizes of the packages in out/dist, out/programs, out/wheel and out/npm as a table of Markdown,
# with the seconds of processors that `make dist` noted; into PAGE, between the lines `<!-- sizes -->` and
# `<!-- /sizes -->`, where it is named. Packages that were not made have no row.
set -eu
cd "$(dirname "$0")/.."
export LC_ALL=C
page=${1:-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# mb FILE, kb FILE: millions and thousands of bytes.
mb() { wc -c < "$1" | awk '{ printf "%.2f MB", $1 / 1e6 }'; }
kb() { wc -c < "$1" | awk '{ printf "%.0f kB", $1 / 1e3 }'; }
# row NAME FILE [TIME]: FILE is one file, or a pattern that no file has.
row() {
    [ -e "$2" ] || return 0
    seconds=$(awk -v name="${3:-}" '$1 == name { print $2 " s" }' out/dist.times 2> /dev/null || true)
    echo "| $1 | $(mb "$2") | $seconds |"
}
programs=out/programs
for archive in out/dist/groundwave-*.tar.gz; do
    [ -e "$archive" ] || continue
    programs=$work
    tar -xzf "$archive" -C "$work" --wildcards --strip-components=2 '*/bin/groundwave*'
done
{
    row "\`groundwave\`, without shared libraries" "$programs/groundwave" groundwave
    row "\`groundwave-agent\`, without shared libraries" "$programs/groundwave-agent" small
    row "\`groundwave-impaird\`, built with it" "$programs/groundwave-impaird"
    row "archive of all" "$(echo out/dist/groundwave-*.tar.gz)"
    for name in groundwave groundwave-agent groundwave-impaird; do
        row "\`$name\`, Debian package" "$(echo out/dist/"$name"_*.deb)"
    done
    row "\`groundwave-agent\`, OpenWrt package" "$(echo out/dist/groundwave-agent_*.ipk)"
    row "image for containers" "$(echo out/dist/groundwave-*.oci.tar)"
    row "wheel of Python" "$(echo out/wheel/groundwave-*.whl)"
    for name in groundwave itm positions; do
        module=out/npm/package/$name.wasm
        [ -e "$module" ] || continue
        gzip -9 -n < "$module" > "$work/gzip"
        echo "| \`$name.wasm\` of the npm package | $(kb "$module"), $(kb "$work/gzip") with gzip | |"
    done
} > "$work/rows"
[ -s "$work/rows" ] || { echo "sizes: no packages: make dist wheel wasm" >&2 && exit 1; }
{
    echo "| package | size | processor time of its build |"
    echo "|---|---|---|"
    cat "$work/rows"
} > "$work/table"
if [ -z "$page" ]; then
    cat "$work/table"
    exit 0
fi
grep -qx '<!-- sizes -->' "$page" || { echo "sizes: $page has no line <!-- sizes -->" >&2 && exit 1; }
awk -v table="$work/table" '
    $0 == "<!-- /sizes -->" { within = 0 }
    !within { print }
    $0 == "<!-- sizes -->" { within = 1; while ((getline line < table) > 0) print line }' "$page" > "$work/page"
cat "$work/page" > "$page"
