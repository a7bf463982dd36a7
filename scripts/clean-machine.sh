#!/bin/sh
# scripts/clean-machine.sh [DIST]: release files of `make dist` in DIST, out/dist by default, on machines that have nothing
# else of this project, as root. In Debian's smallest system (debootstrap) the package is installed and `groundwave demo`
# answers with its page; in a root with busybox alone the node agent of the archive takes a reading. Prints times; a part
# that fails ends the script with its output.
#
# CLEAN_SUITE (bookworm) and CLEAN_MIRROR (http://deb.debian.org/debian) are the system's.
set -eu
cd "$(dirname "$0")/.."
dist=$(cd "${1:-out/dist}" && pwd)
suite=${CLEAN_SUITE:-bookworm}
mirror=${CLEAN_MIRROR:-http://deb.debian.org/debian}
[ "$(id -u)" = 0 ] || { echo "clean-machine: invalid user: found $(id -un), allowed root" >&2 && exit 2; }
for tool in debootstrap busybox chroot tar; do
    command -v $tool > /dev/null || { echo "clean-machine: $tool is missing (Debian: apt-get install $tool)" >&2 && exit 1; }
done
package=$(ls "$dist"/groundwave_*.deb)
archive=$(ls "$dist"/groundwave-*.tar.gz)
work=$(mktemp -d)
demo=
finish() {
    [ -z "$demo" ] || kill "$demo" 2> /dev/null || true
    for root in "$work/debian" "$work/busybox"; do
        umount "$root/proc" "$root/sys" 2> /dev/null || true
    done
    rm -rf --one-file-system "$work"
}
trap finish EXIT
now() { date +%s.%N; }
# since BEGIN: seconds with two decimals.
since() { now | awk -v begin="$1" '{ printf "%.2f", $1 - begin }'; }
# inside ROOT COMMAND...: a command in a root, without the variables of this machine.
inside() {
    root=$1
    shift
    # In a shell of its own, which the program replaces: the process id is that of the program.
    exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 chroot "$root" "$@"
}
# prepare ROOT: what every Linux system has.
prepare() {
    mkdir -p "$1/proc" "$1/sys" "$1/tmp"
    mount -t proc proc "$1/proc"
    mount -t sysfs sysfs "$1/sys"
}

begin=$(now)
debootstrap --variant=minbase "$suite" "$work/debian" "$mirror" > "$work/debootstrap.log" 2>&1 ||
    { tail -20 "$work/debootstrap.log" >&2 && exit 1; }
prepare "$work/debian"
echo "Debian $suite, smallest system: $(since "$begin") s"

begin=$(now)
cp "$package" "$work/debian/tmp/groundwave.deb"
(inside "$work/debian" dpkg --install /tmp/groundwave.deb) > "$work/install.log" 2>&1 ||
    { cat "$work/install.log" >&2 && exit 1; }
echo "package installed: $(since "$begin") s"

: > "$work/demo.log"
(inside "$work/debian" groundwave demo --no-browser) > "$work/demo.log" 2>&1 &
demo=$!
address=
while [ -z "$address" ]; do
    kill -0 "$demo" 2> /dev/null || { cat "$work/demo.log" >&2 && exit 1; }
    address=$(sed -n 's/^Demo: //p' "$work/demo.log")
    sleep 0.05
done
# Not by a proxy of this machine.
env -u http_proxy -u HTTP_PROXY busybox wget -q -O "$work/page.html" "${address%%#*}"
grep -qi '<!doctype html' "$work/page.html" || { echo "clean-machine: no page at $address" >&2 && exit 1; }
echo "page of the demo, from the installation on: $(since "$begin") s"
kill "$demo"
wait "$demo" || true
demo=

unpacked=$work/unpacked
mkdir "$unpacked"
tar -xzf "$archive" -C "$unpacked" --strip-components=1
agent=$unpacked/bin/groundwave-agent
[ -x "$agent" ] || { echo "no groundwave-agent in $archive: not started" && exit 0; }
root=$work/busybox
mkdir -p "$root/bin"
cp "$(command -v busybox)" "$agent" "$root/bin"
busybox --install -s "$root/bin"
prepare "$root"
begin=$(now)
(inside "$root" /bin/groundwave-agent --once) > "$work/agent.log" 2>&1 || { cat "$work/agent.log" >&2 && exit 1; }
grep -q ' interfaces$' "$work/agent.log" || { cat "$work/agent.log" >&2 && exit 1; }
echo "node agent over busybox, $(stat -c %s "$agent") bytes: $(since "$begin") s"
sed 's/^/  /' "$work/agent.log"
