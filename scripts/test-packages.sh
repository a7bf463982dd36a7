#!/bin/sh
# scripts/test-packages.sh PROFILE: tests of the packages. The wheel, built with a profile of cargo, has the bits of the
# program, and its notebooks run; the npm package has the bits of the native library under node. A test that is skipped
# fails. Crates in the form of the registry build from their archives alone. The node agent reaches a gateway from a root that has busybox alone. The time of each part is printed.
set -eu
cd "$(dirname "$0")/.."
profile=$1
data=${GROUNDWAVE_DATA:-.data}
target=${CARGO_TARGET_DIR:-target}

# part NAME COMMAND...
part() {
    name=$1
    shift
    begin=$(date +%s)
    "$@"
    echo "test-packages: $name: $(($(date +%s) - begin)) s" >&2
}
# Fails where a line of the output names what was left out.
whole() {
    log=$(mktemp)
    "$@" > "$log" 2>&1 || { cat "$log"; rm -f "$log"; return 1; }
    cat "$log"
    ! grep -Eq 'skipped=|[1-9][0-9]* ignored|running 0 tests' "$log" || {
        echo "test-packages: a test was left out" >&2
        rm -f "$log"
        return 1
    }
    rm -f "$log"
}
python_tests() {
    GROUNDWAVE=$target/debug/groundwave GROUNDWAVE_DATA=$data "$data/wheel/bin/python" io/python/tests/test_groundwave.py
}

part "crates in the form of the registry" make --silent crates
part "program" cargo build --quiet --bin groundwave
part "wheel ($profile)" sh scripts/wheel.sh "$profile"
part "tests of the wheel, notebooks" whole python_tests
part "npm package" sh scripts/wasm.sh
part "tests of the npm package" whole cargo test --quiet -p groundwave_c --lib -- npm
part "node agent without shared libraries" sh scripts/programs.sh
part "tests of the node agent over busybox" whole cargo test --quiet --test it -- --ignored bare_agent
