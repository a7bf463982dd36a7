#!/bin/sh
# scripts/wasm.sh [FOLDER]: the npm package as FOLDER/groundwave-VERSION.tgz and unpacked in FOLDER/package, out/npm
# by default. Two modules: everything, and ITM alone. With wasm-opt on the PATH (binaryen) modules get smaller.
set -eu
cd "$(dirname "$0")/.."
folder=${1:-out/npm}
package=$folder/package
target=wasm32-unknown-unknown
built=${CARGO_TARGET_DIR:-target}/$target/wasm/groundwave_c.wasm

# The vectors of WebAssembly are part of every browser since 2023 and of node since 16.
export RUSTFLAGS="-C target-feature=+simd128"
rm -rf "$package"
mkdir -p "$package"
cp io/c/npm/* "$package"
module() {
    name=$1
    shift
    # A cdylib alone: other kinds of libraries are compiled for nothing.
    cargo rustc --quiet --profile wasm --target $target -p groundwave_c --crate-type cdylib "$@"
    if command -v wasm-opt > /dev/null 2>&1; then
        timeout 300 wasm-opt -Oz --enable-simd --enable-bulk-memory --enable-nontrapping-float-to-int \
            --enable-sign-ext --enable-mutable-globals --enable-multivalue --enable-reference-types \
            "$built" -o "$package/$name"
    else
        cp "$built" "$package/$name"
    fi
    echo "$package/$name: $(wc -c < "$package/$name") bytes, $(gzip -9 -c "$package/$name" | wc -c) with gzip" >&2
}
module itm.wasm --no-default-features
module groundwave.wasm
(cd "$package" && npm pack --silent --pack-destination ..)
