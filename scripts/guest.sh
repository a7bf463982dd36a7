#!/bin/sh
# A virtual machine with the kernel that scripts/guest-kernel.sh left in a folder. It sees the files of
# this machine read-only, runs the script `job` of the folder OUT, and writes to that folder.
#
#   scripts/guest.sh KERNEL OUT
#   scripts/guest.sh --probe KERNEL     succeeds if such a machine boots and reads this machine's files
#
# Its processor is emulated, and its clock counts instructions, a nanosecond each; an idle processor jumps
# to its next timer. So what happens in it depends neither on the processor of this machine nor on its
# load. Hardware acceleration (KVM) has no such clock, and a /dev/kvm does not tell that guests boot: it
# is not used.
set -eu
here=$(cd "$(dirname "$0")" && pwd)

if [ "$1" = --probe ]; then
    out=$(mktemp -d)
    trap 'rm -rf "$out"' EXIT
    echo "echo booted; ls '$here/guest.sh'" > "$out/job"
    # An idle machine takes ten seconds.
    timeout 300 sh "$0" "$2" "$out" < /dev/null >&2 || exit 1
    [ "$(cat "$out/stdout")" = "booted
$here/guest.sh" ]
    exit
fi

# Paths are the same inside, where there is no other way to them.
kernel=$(cd "$1" && pwd -P)
out=$(cd "$2" && pwd -P)
share() {
    echo "local,path=$1,mount_tag=$2,security_model=none,multidevs=remap,id=$2"
}
# It does not outlive who asked for it.
exec setpriv --pdeathsig KILL qemu-system-x86_64 \
    -accel tcg,thread=single -icount shift=0,sleep=off -smp 1 -cpu max -m 1024 \
    -machine pc,usb=off,hpet=off,graphics=off,vmport=off \
    -nodefaults -no-user-config -display none -no-reboot -serial stdio -nic none -device virtio-rng-pci \
    -kernel "$kernel/vmlinux" -initrd "$kernel/initrd.gz" \
    -virtfs "$(share / root),readonly=on" -virtfs "$(share "$out" out)" \
    -append "console=ttyS0 quiet loglevel=3 panic=-1 mitigations=off tsc=reliable no_timer_check nokaslr \
groundwave_modules=$kernel/modules groundwave_init=$here/guest-init.sh"
