# Sourced by /init (busybox sh). $N is the new root; everything written goes to the overlay.
S=$N/etc/systemd/system
$B mkdir -p $S/multi-user.target.wants
$B cat > $S/rig.service <<UNIT
[Unit]
Description=run-in-vm scripts
After=multi-user.target
[Service]
Type=exec
# For a cgroup of each script
Delegate=yes
ExecStart=/bin/sh -c '. /rigout/.rig-env; exec sh "\$\$RIG/guest/run-script.sh"'
StandardOutput=tty
StandardError=tty
TTYPath=/dev/ttyS0
UNIT
$B ln -sf ../rig.service $S/multi-user.target.wants/rig.service

# Left out: what a test machine does not need and TCG would spend seconds on
for u in apt-daily.timer apt-daily-upgrade.timer dpkg-db-backup.timer e2scrub_all.timer e2scrub_reap.service \
	fstrim.timer man-db.timer logrotate.timer systemd-timesyncd.service systemd-networkd.service \
	getty@tty1.service serial-getty@ttyS0.service getty.target systemd-tmpfiles-clean.timer \
	systemd-journal-flush.service postgresql.service keyboard-setup.service console-setup.service \
	systemd-firstboot.service systemd-update-utmp.service systemd-hwdb-update.service systemd-remount-fs.service \
	systemd-binfmt.service systemd-pcrphase.service systemd-pcrphase-sysinit.service systemd-rfkill.service \
	modprobe@drm.service modprobe@dm_mod.service modprobe@loop.service modprobe@efi_pstore.service \
	modprobe@fuse.service dev-hugepages.mount dev-mqueue.mount sys-kernel-debug.mount sys-kernel-tracing.mount \
	sys-fs-fuse-connections.mount systemd-sysusers.service systemd-pstore.service systemd-random-seed.service \
	systemd-update-done.service dm-event.service lvm2-monitor.service systemd-boot-system-token.service \
	systemd-machine-id-commit.service ldconfig.service systemd-journal-catalog-update.service
do
	$B ln -sf /dev/null $S/$u
done
echo > $N/etc/fstab
$B rm -f $N/etc/resolv.conf
echo > $N/etc/resolv.conf
# Debian 12's tmpfiles.d/tmp.conf is "D /tmp": at boot it would empty the guest's view of /tmp,
# where work trees may lie. Debian 13 would mount another file system there.
$B ln -sf /dev/null $S/tmp.mount
$B mkdir -p $N/etc/tmpfiles.d
$B ln -sf /dev/null $N/etc/tmpfiles.d/tmp.conf

# testuser (4242) in video, render and audio, lingering: user@4242.service is part of the boot
U=testuser ID=4242
echo "$U:x:$ID:$ID::/home/$U:/bin/bash" >> $N/etc/passwd
echo "$U:*:19000:0:99999:7:::" >> $N/etc/shadow
echo "$U:x:$ID:" >> $N/etc/group
for g in video render audio; do
	$B sed -i "/^$g:/{s/:\$/:$U/;t;s/\$/,$U/}" $N/etc/group
done
$B mkdir -p $N/home/$U $N/var/lib/systemd/linger
$B chown $ID:$ID $N/home/$U
$B touch $N/var/lib/systemd/linger/$U
