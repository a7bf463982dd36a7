#!/bin/sh
# What `make test-cluster` tests, as a digest, beside the one on which it last passed (.ci/cluster-passed).
# Files and not commits are compared, so that a rebase changes nothing.
#
#   scripts/cluster-state.sh            says what is the case; succeeds if nothing changed
#   scripts/cluster-state.sh record     notes that the tests passed on what is here
set -eu
cd "$(dirname "$0")/.."
passed=.ci/cluster-passed
# The sweep, its driver, scheduler and executors, their command lines and tests.
paths="io/cluster io/sweep tests/cluster web/cli/cluster web/cli/sweep.rs"

# shellcheck disable=SC2086
digest=$({
    find $paths -type f -print0 | LC_ALL=C sort -z | xargs -0 sha256sum
    # Versions of the packages that only the cluster has.
    grep -A1 -E '^name = "(ballista|datafusion|object_store)' Cargo.lock
} | sha256sum | cut -d' ' -f1)

if [ "${1:-}" = record ]; then
    printf '%s\n' "$digest" > "$passed"
    exit
fi
# shellcheck disable=SC2086
commit=$(git log -1 --format='%h of %cs' -- $paths 2> /dev/null || true)
if [ "$(cat "$passed" 2> /dev/null)" = "$digest" ]; then
    echo "$paths are as when it last passed, unchanged since commit ${commit:-unknown}"
else
    echo "$paths differ from what it last passed on, last change in commit ${commit:-unknown}"
    exit 1
fi
