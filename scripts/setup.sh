#!/bin/sh
# Installs what `make` needs. `setup.sh build`: what building and the demo need. Without an argument:
# also what the tests need. `setup.sh gpu`: also a driver that imitates a graphics card.
#
# As root on Debian missing packages are installed; elsewhere they are named. Only what building needs
# is an error: a test whose tool is missing is ignored, and says so.
set -eu
export DEBIAN_FRONTEND=noninteractive

# has TOOL: a program, or `python-MODULE`, a module of Python.
has() {
    case $1 in
        python-*) python3 -c "import ${1#python-}" 2> /dev/null && return ;;
    esac
    command -v "$1" > /dev/null 2>&1 || [ -e "/usr/sbin/$1" ] || [ -e "/sbin/$1" ]
}

# Installs the packages of the missing tools: TOOL:PACKAGE...
need() {
    packages=
    for pair in "$@"; do
        has "${pair%%:*}" || packages="$packages ${pair##*:}"
    done
    [ -n "$packages" ] || return 0
    if [ "$(id -u)" = 0 ] && has apt-get; then
        echo "setup: installing$packages" >&2
        apt-get update -qq || true
        # shellcheck disable=SC2086
        apt-get install -y -qq --no-install-recommends $packages > /dev/null 2>&1 ||
            # One that the distribution lacks keeps apt from installing the others.
            for package in $packages; do
                apt-get install -y -qq --no-install-recommends "$package" > /dev/null ||
                    echo "setup: $package is not to be had" >&2
            done
    fi
    packages=
    for pair in "$@"; do
        has "${pair%%:*}" || packages="$packages ${pair##*:}"
    done
    [ -z "$packages" ] || echo "setup: not installed:$packages (Debian: apt-get install$packages)" >&2
    [ -z "$packages" ]
}

need sha256sum:coreutils tar:tar node:nodejs npm:npm cc:gcc || exit 1
[ "$(node -p 'parseInt(process.versions.node)')" -ge 20 ] || {
    echo "setup: node $(node --version) is too old; the page is built with version 20 or later, https://nodejs.org" >&2
    exit 1
}
has cargo || {
    echo "setup: cargo is missing; install Rust 1.95 or later from https://rustup.rs" >&2
    exit 1
}
minor=$(rustc --version | sed -n 's/^rustc 1\.\([0-9]*\).*/\1/p')
[ "${minor:-0}" -ge 95 ] || {
    echo "setup: invalid Rust: found $(rustc --version), allowed 1.95 or later, https://rustup.rs" >&2
    exit 1
}
[ "${1:-}" = build ] && exit 0

# In the order of the tests: pages in browsers; commands of the documentation; testbeds; kernels and a
# mesh in a virtual machine; a firewall and a UPS; processors of other kinds; receivers of notices;
# Python packages.
need chromium:chromium WebKitWebDriver:webkit2gtk-driver Xvfb:xvfb firefox-esr:firefox-esr \
    jq:jq curl:curl faketime:faketime openssl:openssl systemd-analyze:systemd \
    babeld:babeld batctl:batctl iperf3:iperf3 ping:iputils-ping unshare:util-linux \
    busybox:busybox-static tc:iproute2 ip:iproute2 \
    qemu-system-x86_64:qemu-system-x86 iw:iw wg:wireguard-tools dnsmasq:dnsmasq-base \
    nft:nftables upsdrvctl:nut-server qemu-x86_64:qemu-user \
    depmod:kmod cpio:cpio xz:xz-utils setpriv:util-linux dpkg-deb:dpkg man:man-db \
    mosquitto:mosquitto mosquitto_sub:mosquitto-clients aiosmtpd:python3-aiosmtpd ffmpeg:ffmpeg \
    python3:python3 python-ensurepip:python3-venv || echo "setup: the tests that need these are ignored" >&2

# The standard library for other kinds of processors, whose bits are compared with those of this one.
has rustup && { rustup -q target add aarch64-unknown-linux-musl wasm32-unknown-unknown || true; }

# An RTSP server, which Debian has as a library for Python: no tool tells that it is there.
rtsp='import gi; gi.require_version("GstRtspServer", "1.0")'
if [ "$(id -u)" = 0 ] && has apt-get && ! /usr/bin/python3 -c "$rtsp" 2> /dev/null; then
    apt-get install -y -qq --no-install-recommends python3-gi gir1.2-gst-rtsp-server-1.0 \
        gstreamer1.0-plugins-base gstreamer1.0-plugins-good gstreamer1.0-plugins-ugly > /dev/null || true
fi

# A GPU that the processor imitates, which has no tool either.
if [ "${1:-}" = gpu ] && [ "$(id -u)" = 0 ] && has apt-get && ! ls /usr/share/vulkan/icd.d/lvp_icd.* > /dev/null 2>&1; then
    apt-get install -y -qq --no-install-recommends mesa-vulkan-drivers libvulkan1 > /dev/null || true
fi
