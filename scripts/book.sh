#!/bin/sh
# Builds the book: `book.sh GROUNDWAVE` gathers the pages of docs/, those of other folders and the help of the
# program GROUNDWAVE in out/book-source, and renders them into out/book.
#
# mdBook is installed from the crate registry where it is missing.
set -eu
program=$1
version=0.5.4
root=$(cd "$(dirname "$0")/.." && pwd)
source=$root/out/book-source
tools=$root/.data/mdbook

command -v mdbook > /dev/null 2>&1 && mdbook=mdbook || mdbook=$tools/bin/mdbook
if ! "$mdbook" --version > /dev/null 2>&1; then
    echo "book: installing mdbook $version" >&2
    CARGO_NET_OFFLINE=false CARGO_TARGET_DIR=$tools/target cargo install mdbook --version $version --locked --quiet \
        --no-default-features --features search --root "$tools"
    rm -rf "$tools/target"
fi

rm -rf "$source" "$root/out/book"
mkdir -p "$source/src"
cp "$root/docs/book.toml" "$source/"
cp "$root"/docs/*.md "$source/src/"
cp -r "$root/docs/maps" "$root/docs/plots" "$root/docs/web" "$source/src/"
cp "$root/scenarios/README.md" "$source/src/scenarios.md"
cp "$root/examples/README.md" "$source/src/examples.md"
cp "$root/ARCHITECTURE.md" "$source/src/architecture.md"
cp "$root/scenarios/schema.json" "$source/src/"
"$program" man "$source/src" --markdown > /dev/null

# Pages that the program writes.
sed -i 's#^- \[Configuration\](configuration.md)#- [Commands](commands.md)\n&\n- [Keys of the configuration file](configuration-keys.md)\n- [HTTP operations](http.md)#' \
    "$source/src/SUMMARY.md"
for page in commands configuration-keys http; do
    grep -q "($page.md)" "$source/src/SUMMARY.md" || { echo "book: $page.md is not in the summary" >&2 && exit 1; }
done

# Links of the folders to those of the book; files that are not part of it lose theirs.
for page in "$source"/src/*.md; do
    sed -E \
        -e 's#\]\((\.\./)?(docs/)?scenarios/README\.md#](scenarios.md#g' \
        -e 's#\]\((\.\./)?examples/README\.md#](examples.md#g' \
        -e 's#\]\((\.\./)?ARCHITECTURE\.md#](architecture.md#g' \
        -e 's#\]\((\.\./)?docs/#](#g' \
        -e 's#\[([^]]*)\]\((\.\./)*[A-Za-z/_.]*(README|CONTRIBUTING|CHANGELOG)\.md\)#\1#g' \
        -e 's#\[([^]]*)\]\(\.\./[^)]*\)#\1#g' \
        "$page" > "$page.new"
    mv "$page.new" "$page"
done

"$mdbook" build "$source" --dest-dir "$root/out/book"

# Links within the book: pages and headings that are not there.
node "$root/scripts/book-links.mjs" "$root/out/book"
echo "book: out/book/index.html"
