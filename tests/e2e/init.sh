# The first process of the guest: busybox's shell. The root is this machine's, read only, over 9p;
# answers go to the share `out`. busybox is run by its path: by its name the shell would look for itself
# in a /proc that is not there yet.
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/run/tmp TMPDIR=/run/tmp
b=/bin/busybox
$b mount -t proc proc /proc
$b mount -t sysfs sys /sys
$b mount -t debugfs debug /sys/kernel/debug
$b mount -t tmpfs tmp /run
$b mkdir -p /run/netns /run/tmp /run/out /dev/shm
$b mount -t 9p -o trans=virtio,version=9p2000.L,msize=512000,cache=none out /run/out

echo "init: $($b cut -d' ' -f1 /proc/uptime) s"
modules=$($b sed -n 's/.*groundwave_modules=\([^ ]*\).*/\1/p' /proc/cmdline)
for file in "$modules"/*.ko; do
    case $file in
        *mac80211_hwsim.ko) $b insmod "$file" radios=3 ;;
        # Some are there since the root was mounted.
        *) $b insmod "$file" 2> /dev/null ;;
    esac
done
ip link set lo up
echo "modules: $($b cut -d' ' -f1 /proc/uptime) s"

$b sh /run/out/job > /run/out/stdout 2> /run/out/stderr
echo $? > /run/out/status
$b sync
$b poweroff -f
