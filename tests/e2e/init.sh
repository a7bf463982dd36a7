# The first process of the guest: busybox's shell. The root is this machine's, read only, over 9p;
# answers go to the share `out`.
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/run/tmp TMPDIR=/run/tmp
busybox mount -t proc proc /proc
busybox mount -t sysfs sys /sys
busybox mount -t tmpfs tmp /run
busybox mkdir -p /run/netns /run/tmp /run/out /dev/shm
busybox mount -t 9p -o trans=virtio,version=9p2000.L,msize=512000,cache=none out /run/out

echo "init: $(busybox cut -d' ' -f1 /proc/uptime) s"
modules=$(busybox sed -n 's/.*groundwave_modules=\([^ ]*\).*/\1/p' /proc/cmdline)
for file in "$modules"/*.ko; do
    case $file in
        *mac80211_hwsim.ko) busybox insmod "$file" radios=3 ;;
        # Some are there since the root was mounted.
        *) busybox insmod "$file" 2> /dev/null ;;
    esac
done
ip link set lo up
echo "modules: $(busybox cut -d' ' -f1 /proc/uptime) s"

busybox sh /run/out/job > /run/out/stdout 2> /run/out/stderr
echo $? > /run/out/status
busybox sync
busybox poweroff -f
