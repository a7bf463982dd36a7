# The first process of the guest: busybox's shell, run by path because the host's /proc, seen
# through hostfs until ours is mounted, names another program as "self".
#
# GROUNDWAVE_OUT (a host folder for the job and its answers), GROUNDWAVE_MODULES (the folder of
# modules) and GROUNDWAVE_LOAD (names under it, comma separated, each with at most one parameter
# after a colon: NAME:KEY=VALUE) come from the kernel's command line.
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/run/tmp TMPDIR=/run/tmp

/bin/busybox mount -t proc proc /proc
busybox mount -t sysfs sys /sys
busybox mount -t tmpfs tmp /run
busybox mkdir -p /run/netns /run/tmp /run/out
busybox mount -t hostfs out /run/out -o "$GROUNDWAVE_OUT"

IFS=,
for entry in $GROUNDWAVE_LOAD; do
    module=${entry%%:*}
    parameter=${entry#"$module"}
    busybox insmod "$GROUNDWAVE_MODULES/kernel/$module.ko" ${parameter#:} || echo "init: no module $module"
done
unset IFS
ip link set lo up

# The root is read-only, so answers go to the one folder that is not; what the console says is
# only read when they are missing.
busybox sh /run/out/job > /run/out/stdout 2> /run/out/stderr
echo $? > /run/out/status
busybox sync
# A plain reboot or power-off would start the kernel again.
busybox poweroff -f
