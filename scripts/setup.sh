#!/bin/sh
# Makes sure the tools are there that `make` needs: Rust, Node's npm (it fetches the terrain
# tile), sha256sum. Installs from Debian what is missing, when it may.
set -eu

# No package may ask questions of a machine.
export DEBIAN_FRONTEND=noninteractive

need() {
    command -v "$1" > /dev/null 2>&1 && return
    if [ "$(id -u)" = 0 ] && command -v apt-get > /dev/null 2>&1; then
        echo "setup: installing $2" >&2
        apt-get update -qq
        apt-get install -y -qq --no-install-recommends "$2" > /dev/null
    fi
    command -v "$1" > /dev/null 2>&1 || {
        echo "setup: $1 is missing; install it (Debian: apt-get install $2) and run this again" >&2
        exit 1
    }
}

need sha256sum coreutils
need tar tar
need npm npm
need cc gcc
command -v cargo > /dev/null 2>&1 || {
    echo "setup: cargo is missing; install Rust 1.95 or later from https://rustup.rs" >&2
    exit 1
}

# The tests that look at pages in a browser say so and are skipped without one.
command -v chromedriver > /dev/null 2>&1 || {
    if [ "$(id -u)" = 0 ] && command -v apt-get > /dev/null 2>&1; then
        echo "setup: installing chromium and chromium-driver" >&2
        apt-get update -qq
        apt-get install -y -qq --no-install-recommends chromium chromium-driver > /dev/null
    else
        echo "setup: no chromedriver; pages will not be tested in a browser" >&2
    fi
}

# The tests of testbeds run routing programs in their nodes.
for pair in babeld:babeld batctl:batctl iperf3:iperf3 ping:iputils-ping; do
    [ -e "/usr/sbin/${pair%%:*}" ] || [ -e "/usr/bin/${pair%%:*}" ] || [ -e "/bin/${pair%%:*}" ] || missing="${missing:-} ${pair##*:}"
done
if [ -n "${missing:-}" ]; then
    if [ "$(id -u)" = 0 ] && command -v apt-get > /dev/null 2>&1; then
        echo "setup: installing$missing" >&2
        apt-get update -qq
        # shellcheck disable=SC2086
        apt-get install -y -qq --no-install-recommends $missing > /dev/null \
            || echo "setup: not installed:$missing; testbeds will not be tested" >&2
    else
        echo "setup: no$missing; testbeds will not be tested" >&2
    fi
fi

# The tests that shape traffic run on a kernel of their own; without it they say so, and only what
# this machine's kernel can do is tested.
if ! [ -e /usr/bin/linux.uml ] || ! [ -e /bin/busybox ] || ! [ -e /usr/sbin/tc ]; then
    if [ "$(id -u)" = 0 ] && command -v apt-get > /dev/null 2>&1; then
        echo "setup: installing user-mode-linux, busybox-static and iproute2" >&2
        apt-get update -qq
        apt-get install -y -qq --no-install-recommends user-mode-linux busybox-static iproute2 \
            > /dev/null || echo "setup: no user-mode kernel; netem will not be tested" >&2
    else
        echo "setup: no user-mode-linux, busybox or tc; netem will not be tested" >&2
    fi
fi

# The test that lets nodes into a mesh runs Debian's stock kernel in a virtual machine, and in it
# the tools that our readings are held to; without them it says so.
missing=
for pair in qemu-system-x86_64:qemu-system-x86 iw:iw wg:wireguard-tools dnsmasq:dnsmasq-base batctl:batctl ping:iputils-ping depmod:kmod cpio:cpio xz:xz-utils; do
    tool=${pair%%:*}
    [ -e "/usr/sbin/$tool" ] || [ -e "/usr/bin/$tool" ] || [ -e "/sbin/$tool" ] || [ -e "/bin/$tool" ] || missing="$missing ${pair##*:}"
done
if [ -n "$missing" ]; then
    if [ "$(id -u)" = 0 ] && command -v apt-get > /dev/null 2>&1; then
        echo "setup: installing$missing" >&2
        apt-get update -qq
        # shellcheck disable=SC2086
        apt-get install -y -qq --no-install-recommends $missing > /dev/null \
            || echo "setup: not installed:$missing; the mesh will not be tested in a virtual machine" >&2
    else
        echo "setup: no$missing; the mesh will not be tested in a virtual machine" >&2
    fi
fi
