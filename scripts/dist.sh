#!/bin/sh
# scripts/dist.sh [FOLDER]: release files in FOLDER, out/dist by default, with the same digests from the same sources:
# an archive, packages of Debian and OpenWrt, an image for containers, a bill of materials, SHA256SUMS.
#
# DIST_BINARIES=FOLDER takes programs from there instead of building them. DIST_PROGRAMS names those that are packed.
# DIST_LEVEL (1 to 9) is the level of compression. Seconds of processors that builds took are noted in FOLDER.times, for
# scripts/sizes.sh: of a build from nothing where the target folder was empty.
set -eu
cd "$(dirname "$0")/.."
umask 022
export LC_ALL=C TZ=UTC
out=${1:-out/dist}
programs=${DIST_PROGRAMS:-groundwave groundwave-agent groundwave-impaird}
level=${DIST_LEVEL:-9}
: "${SOURCE_DATE_EPOCH:=$(git log -1 --format=%ct 2> /dev/null || echo 0)}"
export SOURCE_DATE_EPOCH
target=$(rustc -vV | sed -n 's/^host: //p')
version=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' Cargo.toml)
case $target in
    x86_64-*-linux-*) architecture=amd64 ;;
    aarch64-*-linux-*) architecture=arm64 ;;
    *) echo "dist: invalid target: found $target, allowed Linux on x86_64 and aarch64" >&2 && exit 2 ;;
esac
for tool in dpkg-deb tar gzip xz sha256sum node; do
    command -v $tool > /dev/null || { echo "dist: $tool is missing: scripts/setup.sh" >&2 && exit 1; }
done
rm -rf "$out"
mkdir -p "$out"
out=$(cd "$out" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# spent NAME: notes the time of processors that programs of this script took since the last note, s.
before=0
spent() {
    times > "$work/times"
    after=$(awk 'NR == 2 { for (i = 1; i <= 2; i++) { split($i, part, /[ms]/); sum += 60 * part[1] + part[2] } print sum }' \
        "$work/times")
    echo "$1 $after $before" | awk '{ printf "%s %.0f\n", $1, $2 - $3 }' >> "$out.times"
    before=$after
}

binaries=${DIST_BINARIES:-}
if [ -z "$binaries" ]; then
    . scripts/static.sh
    rm -f "$out.times"
    cargo build --locked --profile dist --target "$target" --package groundwave --bin groundwave
    spent groundwave
    binaries=$work/programs
    sh scripts/programs.sh "$binaries"
    spent small
    cp "${CARGO_TARGET_DIR:-target}/$target/dist/groundwave" "$binaries"
fi

# Sets the times of all files, and the rights.
settle() {
    find "$1" -type d -exec chmod 755 {} +
    find "$1" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
}
# archive FOLDER NAME: an archive of NAME in FOLDER.
archive() {
    tar -C "$1" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" \
        --format=gnu -cf - "$2" | gzip -n "-$level"
}

# One page, changelog and licence of all packages.
licence() {
    mkdir -p "$1"
    { echo "MIT OR Apache-2.0"; cat LICENSE-MIT LICENSE-APACHE; } > "$1/copyright"
    gzip -n9 < CHANGELOG.md > "$1/changelog.gz"
}
# group FOLDER: the group whose members control the impairment daemon, in a package.
group() {
    mkdir -p "$1/usr/lib/sysusers.d" "$1/DEBIAN"
    echo "g impair -" > "$1/usr/lib/sysusers.d/groundwave.conf"
    cat > "$1/DEBIAN/postinst" << 'END'
#!/bin/sh
set -e
if [ "$1" = configure ]; then
    ! command -v systemd-sysusers > /dev/null || systemd-sysusers groundwave.conf || true
    [ ! -d /run/systemd/system ] || systemctl daemon-reload || true
fi
END
    chmod 755 "$1/DEBIAN/postinst"
}
# documents FOLDER: README, changelog and pages, with the folders that their links name.
documents() {
    mkdir -p "$1/benches"
    cp -R README.md CHANGELOG.md ARCHITECTURE.md CONTRIBUTING.md docs "$1"
    cp benches/README.md "$1/benches"
}
# deb NAME FOLDER DESCRIPTION [FIELD...]: the package of the tree in FOLDER.
deb() {
    name=$1 tree=$2 description=$3
    shift 3
    mkdir -p "$tree/DEBIAN"
    licence "$tree/usr/share/doc/$name"
    size=$(du -sk --apparent-size --exclude=DEBIAN "$tree" | cut -f1)
    {
        echo "Package: $name"
        echo "Version: $version"
        echo "Architecture: $architecture"
        echo "Maintainer: Groundwave <groundwave@localhost>"
        echo "Section: net"
        echo "Priority: optional"
        echo "Installed-Size: $size"
        for field in "$@"; do echo "$field"; done
        echo "Description: $description"
    } > "$tree/DEBIAN/control"
    (cd "$tree" && find usr -type f -exec md5sum {} + | sort -k 2 > DEBIAN/md5sums)
    settle "$tree"
    dpkg-deb --root-owner-group -Zxz "-z$level" --build "$tree" "$out/${name}_${version}_$architecture.deb" > /dev/null
}

# ipk NAME TREE DESCRIPTION DEPENDS: the package of OpenWrt of the tree in TREE: control and data in an archive. The program
# has no shared libraries, so that one package serves all targets of a processor, whose names differ ("aarch64_cortex-a53");
# opkg takes it as one of all of them, and the script before the installation refuses other processors.
ipk() {
    name=$1 tree=$2 description=$3 depends=$4
    control=$work/$name.control machine=${target%%-*}
    mkdir -p "$control"
    cat > "$control/control" << END
Package: $name
Version: $version
Depends: $depends
License: MIT OR Apache-2.0
Section: net
Architecture: all
Installed-Size: $(du -sb --apparent-size "$tree" | cut -f1)
Description: $description ($machine)
END
    cat > "$control/preinst" << END
#!/bin/sh
[ -n "\$IPKG_INSTROOT" ] || [ "\$(uname -m)" = $machine ] || {
    echo "$name: invalid processor: found \$(uname -m), allowed $machine" >&2
    exit 1
}
END
    (cd "$tree" && find etc/config -type f 2> /dev/null | sed 's|^|/|') > "$control/conffiles"
    chmod 755 "$control/preinst"
    settle "$tree"
    settle "$control"
    mkdir -p "$work/$name.ipk"
    archive "$tree" . > "$work/$name.ipk/data.tar.gz"
    archive "$control" . > "$work/$name.ipk/control.tar.gz"
    echo 2.0 > "$work/$name.ipk/debian-binary"
    settle "$work/$name.ipk"
    archive "$work/$name.ipk" . > "$out/${name}_${version}_$machine.ipk"
}

# The program with manual pages, completions, units, scenarios, examples and pages.
tree=$work/groundwave
if [ -x "$binaries/groundwave" ]; then
    mkdir -p "$tree/usr/bin" "$tree/usr/lib/systemd/system" "$tree/usr/share/groundwave" "$tree/usr/share/man"
    install -m 755 "$binaries/groundwave" "$tree/usr/bin/groundwave"
    "$binaries/groundwave" man "$tree/usr/share/man/man1" > /dev/null
    find "$tree/usr/share/man" -name '*.1' -exec gzip -n9 {} +
    for shell in bash:usr/share/bash-completion/completions/groundwave \
        zsh:usr/share/zsh/vendor-completions/_groundwave fish:usr/share/fish/vendor_completions.d/groundwave.fish; do
        mkdir -p "$tree/$(dirname "${shell#*:}")"
        "$binaries/groundwave" completions "${shell%%:*}" > "$tree/${shell#*:}"
    done
    cp examples/systemd/groundwave-*.service "$tree/usr/lib/systemd/system"
    cp web/impair/impaird.service "$tree/usr/lib/systemd/system/groundwave-impaird.service"
    # The gateway opens the socket of the impairment daemon by its group, which the package creates.
    group "$tree"
    sed -i 's|^CapabilityBoundingSet=|SupplementaryGroups=impair\n&|' \
        "$tree/usr/lib/systemd/system/groundwave-gateway.service"
    cp -R scenarios examples "$tree/usr/share/groundwave"
    documents "$tree/usr/share/doc/groundwave"
    find "$tree/usr/lib" "$tree/usr/share" -type f -exec chmod 644 {} +
fi

# Archive: all programs, with what the package has beside them.
unpacked=groundwave-$version-$target
mkdir -p "$work/$unpacked/bin"
for program in $programs; do
    install -m 755 "$binaries/$program" "$work/$unpacked/bin/$program"
done
if [ -d "$tree" ]; then
    cp -R "$tree/usr/share" "$tree/usr/lib" "$work/$unpacked"
    # Commands of the pages name them from here.
    rm -r "$work/$unpacked/share/groundwave" "$work/$unpacked/share/doc"
    cp -R scenarios examples "$work/$unpacked"
fi
documents "$work/$unpacked"
cp LICENSE-MIT LICENSE-APACHE "$work/$unpacked"
settle "$work/$unpacked"
archive "$work" "$unpacked" > "$out/$unpacked.tar.gz"

if [ -d "$tree" ]; then
    # The image has the program alone, a folder for its state and a user without rights.
    mkdir -p "$work/image/usr/bin" "$work/image/etc" "$work/image/data" "$work/image/tmp"
    cp "$binaries/groundwave" "$work/image/usr/bin/groundwave"
    echo "groundwave:x:65532:65532::/data:/usr/bin/groundwave" > "$work/image/etc/passwd"
    # Certificate authorities of this machine: servers of terrain are asked over TLS.
    authorities=/etc/ssl/certs/ca-certificates.crt
    if [ -r $authorities ]; then
        mkdir -p "$work/image/etc/ssl/certs"
        cp -L $authorities "$work/image$authorities"
    else
        echo "dist: $authorities is missing: the image fetches no terrain" >&2
    fi
    settle "$work/image"
    sh scripts/image.sh "$work/image" "$out/groundwave-$version-$architecture.oci.tar" "$version" "$architecture" "$level"
    deb groundwave "$tree" "plan, simulate, emulate and operate wireless meshes on real terrain" \
        "Recommends: iproute2, xdg-utils" "Suggests: babeld, batctl, wireguard-tools"
fi
for program in $programs; do
    [ "$program" != groundwave ] || continue
    mkdir -p "$work/$program/usr/bin" "$work/$program/usr/lib/systemd/system"
    install -m 755 "$binaries/$program" "$work/$program/usr/bin/$program"
    case $program in
        groundwave-agent)
            unit=examples/systemd/groundwave-agent.service what="node agent of a wireless mesh" ;;
        *)
            unit=web/impair/impaird.service what="impairment daemon: delay, loss and rates of two ports"
            group "$work/$program" ;;
    esac
    sed "s|/usr/bin/groundwave [a-z]*|/usr/bin/$program|" $unit > "$work/$program/usr/lib/systemd/system/$program.service"
    deb "$program" "$work/$program" "$what" "Conflicts: groundwave" "Replaces: groundwave"
    [ "$program" = groundwave-agent ] || continue
    mkdir -p "$work/openwrt/usr/bin" "$work/openwrt/etc/init.d" "$work/openwrt/etc/config" "$work/openwrt/lib/upgrade/keep.d"
    install -m 755 "$binaries/$program" "$work/openwrt/usr/bin/$program"
    install -m 755 examples/openwrt/groundwave-agent.init "$work/openwrt/etc/init.d/$program"
    install -m 600 examples/openwrt/groundwave-agent.config "$work/openwrt/etc/config/$program"
    echo /etc/groundwave/ > "$work/openwrt/lib/upgrade/keep.d/$program"
    ipk "$program" "$work/openwrt" "$what" "kmod-wireguard"
done

node scripts/sbom.mjs "$version" > "$out/groundwave-$version.cdx.json"
(cd "$out" && sha256sum -- * > "$work/SHA256SUMS" && mv "$work/SHA256SUMS" .)
ls -l "$out"
