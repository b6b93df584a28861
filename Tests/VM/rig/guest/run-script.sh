#!/bin/sh
# Run the script between the two marks that run-in-vm looks for, note its status, power off.
. /rigout/.rig-env
export RIG RIG_OUT=/rigout HOME=/root TERM=dumb LANG=C.UTF-8
export PATH="$TOOLS:$RIG/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
for v in $PASSED; do export "$v"; done
cd "$CWD" 2>/dev/null || cd /
echo "RIG-START $(cut -d' ' -f1 /proc/uptime)"
if [ -x "$CMD" ]; then "$CMD" </dev/null; else sh "$CMD" </dev/null; fi
rc=$?
echo "RIG-EXIT $rc"
echo $rc > /rigout/.rig-rc
sync
echo o > /proc/sysrq-trigger
sleep 20
