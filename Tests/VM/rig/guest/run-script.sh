#!/bin/sh
# Run the scripts between the marks that run-in-vm looks for, note how they ended, power off.
. /rigout/.rig-env
export RIG RIG_OUT=/rigout HOME=/root TERM=dumb LANG=C.UTF-8
export PATH="$TOOLS:$RIG/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
for v in $PASSED; do export "$v"; done
cd "$CWD" 2>/dev/null || cd /
uptime() { cut -d' ' -f1 /proc/uptime; }

# What a script has started, in the background, too, is what is in this.
cgroup=/sys/fs/cgroup$(sed -n 's/^0:://p' /proc/self/cgroup)/script
run() {
	mkdir "$cgroup"
	(
		echo 0 > "$cgroup/cgroup.procs"
		if [ -x "$1" ]; then exec timeout -k 10 "$SCRIPT_TIMEOUT" "$1" </dev/null; fi
		exec timeout -k 10 "$SCRIPT_TIMEOUT" sh "$1" </dev/null
	)
	rc=$?
	[ $rc != 124 ] || echo "FAILED: it took more than $SCRIPT_TIMEOUT s"
	echo 1 > "$cgroup/cgroup.kill"
	until rmdir "$cgroup" 2>/dev/null; do sleep 0.05; done
}

last=
while IFS= read -r script <&9; do
	if [ -n "$last" ] && [ -n "$BETWEEN" ]; then
		echo RIG-BETWEEN
		run "$BETWEEN"
		echo RIG-EXIT
		[ $rc = 0 ] || { echo "left $last $rc" >> /rigout/results; break; }
	fi
	last=${script##*/}; last=${last%.*}
	echo "RIG-START $last"
	began=$(uptime)
	run "$script"
	echo RIG-EXIT
	echo "ran $last $rc $began $(uptime)" >> /rigout/results
done 9< /rigout/.rig-scripts
touch /rigout/.rig-done
sync
echo o > /proc/sysrq-trigger
sleep 20
