#!/bin/sh
# Debian's stock kernel for the tests that run in a virtual machine: fetched as a package, unpacked,
# never installed. Leaves in .data/kernel (or the folder given) `vmlinux`, which boots without a boot
# loader, `initrd.gz`, which mounts this machine's files, and in `modules/SET` the few modules that a test
# needs with all that they need, named in the order they are loaded in.
#
#   scripts/guest-kernel.sh [FOLDER [PACKAGE]]    PACKAGE: linux-image-amd64, linux-image-6.12-amd64, ...
set -eu

into=${1:-.data/kernel}
meta=${2:-linux-image-amd64}
# SET:MODULE,...
sets="network:veth,sch_tbf,sch_prio,sch_htb,sch_ingress,cls_flower netem:sch_netem
ingress:ifb,act_mirred,cls_matchall
mesh:crc32c_generic,batman-adv radio:wireguard,mac80211_hwsim
sensor:i2c-dev,i2c-stub bridge:i2c-dev,uhid,hid-mcp2221 camera:vivid"
[ -e "$into/complete" ] && [ "$(cat "$into/complete")" = "$sets" ] && exit 0
[ "$(uname -m)" = x86_64 ] || { echo "guest-kernel: only for x86_64" >&2; exit 0; }
for tool in apt-get dpkg-deb depmod modprobe cpio busybox xz; do
    command -v "$tool" > /dev/null 2>&1 || { echo "guest-kernel: no $tool; tests in a virtual machine are ignored" >&2; exit 0; }
done

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
package=$(apt-cache depends "$meta" 2> /dev/null | sed -n 's/.*Depends: \(linux-image-[0-9].*\)/\1/p' | head -1)
(cd "$work" && [ -n "$package" ] && apt-get download -qq "$package") > /dev/null 2>&1 || {
    echo "guest-kernel: the package $meta of Debian's kernel cannot be had" >&2
    exit 0
}
# Of the 400 MB of modules only the places that the wanted ones and their needs come from.
mkdir "$work/tree"
dpkg-deb --fsys-tarfile "$work"/linux-image-*.deb | tar -x -C "$work/tree" --wildcards \
    './boot/vmlinuz-*' './lib/modules/*/modules.*' './lib/modules/*/kernel/net/*' \
    './lib/modules/*/kernel/crypto/*' './lib/modules/*/kernel/lib/*' './lib/modules/*/kernel/arch/*' \
    './lib/modules/*/kernel/fs/9p/*' './lib/modules/*/kernel/fs/fscache/*' './lib/modules/*/kernel/fs/netfs/*' \
    './lib/modules/*/kernel/drivers/net/veth.ko*' './lib/modules/*/kernel/drivers/net/ifb.ko*' './lib/modules/*/kernel/drivers/net/wireguard/*' './lib/modules/*/kernel/drivers/net/wireless/*hwsim*' \
    './lib/modules/*/kernel/drivers/virtio/*' './lib/modules/*/kernel/drivers/hid/*' './lib/modules/*/kernel/drivers/i2c/*' \
    './lib/modules/*/kernel/drivers/iio/*' './lib/modules/*/kernel/drivers/media/*' './lib/modules/*/kernel/drivers/video/*' \
    2> /dev/null || true # Not every version has every place.
ls "$work"/tree/boot/vmlinuz-* > /dev/null
version=$(ls "$work/tree/lib/modules")
# Newer kernels have their modules compressed; insmod of the initrd takes them plain.
find "$work/tree/lib/modules" -name '*.ko.xz' -exec xz -d {} +
depmod -b "$work/tree" "$version"
rm -rf "$into/complete" "$into/modules"
mkdir -p "$into/modules" "$work/initrd/bin" "$work/initrd/m" "$work/initrd/proc" "$work/initrd/dev" "$work/initrd/root"

# modprobe says what it would insert, in order; each once.
closure() {
    for module in "$@"; do modprobe -d "$work/tree" -S "$version" -D "$module"; done |
        awk '$1 == "insmod" && !seen[$2]++ { print $2 }'
}
for set in $sets; do
    folder=$into/modules/${set%%:*}
    mkdir "$folder"
    number=100
    for file in $(closure $(echo "${set#*:}" | tr , ' ')); do
        cp "$file" "$folder/$number-$(basename "$file")"
        number=$((number + 1))
    done
done
number=100
for file in $(closure virtio_pci 9pnet_virtio 9p); do
    cp "$file" "$work/initrd/m/$number-$(basename "$file")"
    number=$((number + 1))
done

cp "$(command -v busybox)" "$work/initrd/bin/busybox"
cat > "$work/initrd/init" << 'INIT'
#!/bin/busybox sh
b=/bin/busybox
$b mount -t proc proc /proc
$b mount -t devtmpfs dev /dev
for file in /m/*.ko; do $b insmod "$file"; done
$b mount -t 9p -o trans=virtio,version=9p2000.L,msize=512000,cache=loose,ro root /root || $b poweroff -f
init=$($b sed -n 's/.*groundwave_init=\([^ ]*\).*/\1/p' /proc/cmdline)
$b mount --move /dev /root/dev
$b umount /proc
exec $b switch_root /root /bin/busybox sh "$init"
INIT
chmod +x "$work/initrd/init"
(cd "$work/initrd" && find . | cpio -o -H newc 2> /dev/null | gzip -1) > "$into/initrd.gz"

# The kernel proper is compressed within the image that boot loaders want; the first place of its
# magic from which something unpacks to an ELF file is where it begins.
image=$work/tree/boot/vmlinuz-$version
rm -f "$into/vmlinux"
for at in $(LC_ALL=C grep -aobP '\xFD7zXZ\x00' "$image" | cut -d: -f1); do
    tail -c +$((at + 1)) "$image" | xz -dc --single-stream > "$into/vmlinux" 2> /dev/null || true
    [ "$(head -c 4 "$into/vmlinux" | tail -c 3)" = ELF ] && break
done
[ "$(head -c 4 "$into/vmlinux" 2> /dev/null | tail -c 3)" = ELF ] || cp "$image" "$into/vmlinux"
echo "$sets" > "$into/complete"
