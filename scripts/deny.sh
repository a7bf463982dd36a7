#!/bin/sh
# Licences, bans and sources of all dependencies with cargo-deny, without network; where it is not
# installed (`cargo install --locked cargo-deny`, a build of minutes) the test `dependencies` has
# compared the same lists of deny.toml with the dependency tree.
set -eu
if cargo deny --version > /dev/null 2>&1; then
    cargo deny --offline check licenses bans sources
else
    echo "deny: cargo-deny is not installed; the test \`dependencies\` has checked deny.toml" >&2
fi
