#!/bin/sh
# scripts/wasm.sh [FOLDER]: the npm package as FOLDER/groundwave-VERSION.tgz and unpacked in FOLDER/package, out/npm
# by default. Three modules: links and coverages, ITM alone, positions. With wasm-opt on the PATH (binaryen) modules get
# smaller.
#
# scripts/wasm.sh page: the modules of positions and of ITM, for the page, in web/app/wasm. Where Rust's standard library
# for WebAssembly is missing and cannot be had, the page is built without them: its server reads positions, and heights
# have no previews.
set -eu
cd "$(dirname "$0")/.."
target=wasm32-unknown-unknown
folder=${1:-out/npm}
package=$folder/package
[ "$folder" != page ] || package=web/app/wasm

# The vectors of WebAssembly are part of every browser since 2023 and of node since 16.
export RUSTFLAGS="-C target-feature=+simd128"
rm -rf "$package"
mkdir -p "$package"
# module NAME PROFILE FEATURE
module() {
    name=$1
    built=${CARGO_TARGET_DIR:-target}/$target/$2/groundwave_c.wasm
    # A cdylib alone: other kinds of libraries are compiled for nothing.
    cargo rustc --quiet --locked --profile "$2" --target $target -p groundwave_c --crate-type cdylib \
        --no-default-features --features "$3"
    if command -v wasm-opt > /dev/null 2>&1; then
        timeout 300 wasm-opt -Oz --enable-simd --enable-bulk-memory --enable-nontrapping-float-to-int \
            --enable-sign-ext --enable-mutable-globals --enable-multivalue --enable-reference-types \
            "$built" -o "$package/$name"
    else
        cp "$built" "$package/$name"
    fi
    echo "$package/$name: $(wc -c < "$package/$name") bytes, $(gzip -9 -c "$package/$name" | wc -c) with gzip" >&2
}
if [ "$folder" = page ]; then
    [ -d "$(rustc --print sysroot)/lib/rustlib/$target/lib" ] || rustup -q target add $target || {
        echo "wasm: Rust has no $target here (rustup target add $target): the server of the page reads positions, and heights have no previews" >&2
        exit 0
    }
    module positions.wasm small positions
    module itm.wasm small itm
    exit 0
fi
cp io/c/npm/* "$package"
module itm.wasm wasm itm
module positions.wasm small positions
module groundwave.wasm wasm models
(cd "$package" && npm pack --silent --pack-destination ..)
