#!/bin/sh
# scripts/sizes.sh [PAGE]: sizes of the packages in out/dist, out/wheel and out/npm as a table of Markdown, with the
# seconds of processors that `make dist` noted; into PAGE, between the lines `<!-- sizes -->` and `<!-- /sizes -->`, where
# it is named. A package that was not made ends the script.
set -eu
cd "$(dirname "$0")/.."
export LC_ALL=C
page=${1:-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
one() {
    [ $# = 1 ] && [ -e "$1" ] || { echo "sizes: invalid packages: found $*, allowed one: make dist wheel wasm" >&2 && exit 1; }
    echo "$1"
}
archive=$(one out/dist/groundwave-*.tar.gz)
tar -xzf "$archive" -C "$work" --wildcards --strip-components=2 '*/bin/groundwave*'

# mb FILE: millions of bytes.
mb() { wc -c < "$1" | awk '{ printf "%.2f", $1 / 1e6 }'; }
# kb FILE: thousands of bytes.
kb() { wc -c < "$1" | awk '{ printf "%.0f", $1 / 1e3 }'; }
cpu() { awk -v name="$1" '$1 == name { print $2 " s" }' out/dist.times 2> /dev/null || true; }
row() { echo "| $1 | $2 | ${3:-} |"; }
{
    echo "| package | size | processor time of its build |"
    echo "|---|---|---|"
    row "\`groundwave\`, static, stripped" "$(mb "$work/groundwave") MB" "$(cpu groundwave)"
    row "\`groundwave-agent\`, the same" "$(mb "$work/groundwave-agent") MB" "$(cpu small), with the next"
    row "\`groundwave-impaird\`, the same" "$(mb "$work/groundwave-impaird") MB"
    row "archive of all" "$(mb "$archive") MB"
    for name in groundwave groundwave-agent groundwave-impaird; do
        row "\`$name\`, Debian package" "$(mb "$(one out/dist/"$name"_*.deb)") MB"
    done
    row "image for containers" "$(mb "$(one out/dist/groundwave-*.oci.tar)") MB"
    row "wheel of Python" "$(mb "$(one out/wheel/groundwave-*.whl)") MB"
    for name in groundwave itm positions; do
        module=$(one out/npm/package/$name.wasm)
        gzip -9 -n < "$module" > "$work/gzip"
        row "\`$name.wasm\` of the npm package" "$(kb "$module") kB, $(kb "$work/gzip") kB with gzip"
    done
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
