# The first process of the guest: busybox's shell. The root is this machine's, read only, over 9p;
# answers go to the share `out`. busybox is run by its path: by its name the shell would look for itself
# in a /proc that is not there yet.
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/run/tmp TMPDIR=/run/tmp
b=/bin/busybox
$b mount -t proc proc /proc
$b mount -t sysfs sys /sys
$b mount -t debugfs debug /sys/kernel/debug
$b mount -t tmpfs tmp /run
$b mkdir -p /run/netns /run/tmp /run/out /run/memory /dev/shm
$b mount -t 9p -o trans=virtio,version=9p2000.L,msize=512000,cache=none out /run/out
# Modules are those that a job loads: this machine may have others of the same kernel in /lib/modules.
echo > /proc/sys/kernel/modprobe
modules=$($b sed -n 's/.*groundwave_modules=\([^ ]*\).*/\1/p' /proc/cmdline)

# at WHAT: the time since the start.
at() {
    echo "$1: $($b cut -d' ' -f1 /proc/uptime) s"
}

# load SET [PARAMETER...]: loads the modules of a set that are not there yet; the parameters are the
# last one's.
load() {
    folder=$modules/$1
    shift
    for file in "$folder"/*.ko; do last=$file; done
    for file in "$folder"/*.ko; do
        name=${file##*/???-}
        name=$(echo "${name%.ko}" | $b tr - _)
        [ -d "/sys/module/$name" ] && continue
        if [ "$file" = "$last" ]; then $b insmod "$file" "$@"; else $b insmod "$file"; fi
    done
}

# in_memory FILE...: puts copies in memory in the place of files. Reading a page from a file while packets
# are under way would take time, and a processor that waits for a file is idle, so that its clock jumps
# to the next timer.
in_memory() {
    for file in "$@"; do
        number=$((${number:-0} + 1))
        $b cp "$file" "/run/memory/$number" && $b mount --bind "/run/memory/$number" "$file" || return 1
    done
}

at init
ip link set lo up
(. /run/out/job) > /run/out/stdout 2> /run/out/stderr
echo $? > /run/out/status
$b sync
$b poweroff -f
