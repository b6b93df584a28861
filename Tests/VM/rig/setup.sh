#!/bin/bash
# setup.sh [--update]: install what the virtual machine needs and build it into the cache folder.
#   --update    look for a newer Debian kernel too (otherwise the one in the cache stays)
# Run it as often as you like: it does only what is missing. DUALCAM_RIG_CACHE is the cache folder,
# by default ~/.cache/dualcam-rig; nothing is written into the source folder. DUALCAM_DEBS is where
# Debian's packages of the kernel are taken from if they are there, and kept if they are not: by
# default /var/cache/dualcam-debs where that is, else apt's own folder of what it has fetched.
set -euo pipefail
RIG=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
CACHE=${DUALCAM_RIG_CACHE:-$HOME/.cache/dualcam-rig}
T0=$SECONDS
say() { echo "setup: $*"; }
fail() { echo "setup: $*" >&2; exit 1; }
case "${1:-}" in ''|--update) ;; *) sed -n '2,7s/^# //p' "$0"; exit 2 ;; esac

[ "$(uname -m)" = x86_64 ] || fail "needs an x86_64 machine"
command -v apt-get >/dev/null || fail "needs Debian (apt-get)"
mkdir -p "$CACHE"
CACHE=$(cd "$CACHE" && pwd)
exec 9>"$CACHE/.lock"
flock -n 9 || { say "another setup.sh is at work, waiting"; flock 9; }

# A step is done when its stamp holds its key; the key names what the step depends on.
mkdir -p "$CACHE/stamps"
done_already() { [ "$(cat "$CACHE/stamps/$1" 2>/dev/null)" = "$2" ]; }
mark() { echo "$2" > "$CACHE/stamps/$1"; }
sum() { cat "$@" | sha256sum | cut -c1-16; }
DID=

# 1. packages
"$RIG/../../../tools/deps" vm

# 2. the kernel package
depends() { apt-cache show --no-all-versions "$1" | sed -n 's/^Depends: //p' | tr ',' '\n' | sed 's/^ *//; s/ .*//'; }
debs=${DUALCAM_DEBS:-/var/cache/dualcam-debs}
[ -d "$debs" ] || debs=/var/cache/apt/archives
fetch() {  # DIR PACKAGE...: download and unpack into DIR
	local dir=$1 tmp name kind hash; shift
	tmp=$(mktemp -d "$CACHE/debs.XXXXXX")
	(
		cd "$tmp"
		options=(-o APT::Sandbox::User=root -o Acquire::Retries=3)
		# A kept file is the right one if it has the hash that apt's lists name.
		apt-get "${options[@]}" download --print-uris -qq "$@" >uris
		while read -r _ name _ hash; do
			kind=${hash%%:*}
			kind=${kind,,}
			{ [ "${kind#sha}" != "$kind" ] && echo "${hash#*:}  $debs/$name" | "${kind}sum" --check --status \
				&& cp "$debs/$name" .; } 2>/dev/null || true
		done <uris
		missing=()
		for package; do compgen -G "${package}_*.deb" >/dev/null || missing+=("$package"); done
		if [ ${#missing[@]} -gt 0 ]; then
			apt-get "${options[@]}" download -qq "${missing[@]}"
			# Whole or not at all, for others may look meanwhile. A folder may take nothing.
			for package in "${missing[@]}"; do
				for name in "${package}"_*.deb; do
					{ cp "$name" "$debs/.$name.$$" && mv "$debs/.$name.$$" "$debs/$name"; } 2>/dev/null \
						|| rm -f "$debs/.$name.$$"
				done
			done
		fi
		for d in *.deb; do dpkg -x "$d" "$dir"; done
	) || { rm -rf "$tmp"; fail "could not download $*"; }
	rm -rf "$tmp"
}
kver=$(cat "$CACHE/stamps/kernel" 2>/dev/null || true)
if [ -z "$kver" ] || [ "${1:-}" = --update ]; then
	[ "$(id -u)" = 0 ] || fail "must be root to ask for Debian's kernel"
	say "apt-get update"
	apt-get update -qq 2>"$CACHE/apt-update.log" || say "apt-get update failed in part; going on"
	image=$(depends linux-image-amd64 | grep '^linux-image-' | head -1)
	[ -n "$image" ] || fail "cannot resolve linux-image-amd64"
	new=${image#linux-image-}
	if [ "$new" != "$kver" ]; then
		say "kernel $new: download, unpack"
		rm -rf "$CACHE"/{kern,kroot,stamps}; mkdir -p "$CACHE"/{kern,stamps}
		# From Debian 14 on the kernel, its modules and lists of them are in packages of their own.
		fetch "$CACHE/kern" "$image" $(depends "$image" | grep -E '^linux-(base|binary|modules)-' || true)
		# Debian 12 has the modules in /lib
		[ -d "$CACHE/kern/usr/lib" ] || { mkdir -p "$CACHE/kern/usr"; ln -s ../lib "$CACHE/kern/usr/lib"; }
		[ -d "$CACHE/kern/usr/lib/modules/$new" ] || fail "$image holds no modules"
		kver=$new; mark kernel "$kver"; DID="$DID kernel"
	fi
fi
if ! done_already vmlinux "$kver"; then
	# the uncompressed ELF kernel boots through PVH: no 3 s of decompression under TCG
	say "unpacking vmlinux"
	packed=$CACHE/kern/boot/vmlinuz-$kver
	[ -e "$packed" ] || packed=$CACHE/kern/usr/lib/modules/$kver/vmlinuz
	python3 "$RIG/extract-vmlinux.py" "$packed" "$CACHE/vmlinux" >/dev/null
	mark vmlinux "$kver"
fi

# 3. the guest's module tree: the package's modules, unpacked, for under TCG that takes long
if ! done_already modules "$kver"; then
	say "module tree"
	rm -rf "$CACHE/kroot"; mkdir -p "$CACHE/kroot/lib/modules"
	cp -al "$CACHE/kern/usr/lib/modules/$kver" "$CACHE/kroot/lib/modules/"
	find "$CACHE/kroot" -name '*.ko.xz' -print0 | xargs -0r -P 2 -n 100 unxz --force
	depmod -b "$CACHE/kroot" "$kver"
	mark modules "$kver"
fi

# 4. v4l2loopback, which Debian has as source alone
loopback=v4l2loopback-$kver
if [ ! -e "$CACHE/$loopback/v4l2loopback.ko" ]; then
	say "v4l2loopback for $kver: headers, build"
	hdr=$(mktemp -d "$CACHE/headers.XXXXXX")
	fetch "$hdr" "linux-headers-$kver" $(depends "linux-headers-$kver" | grep -E '^linux-(headers|kbuild)-') v4l2loopback-dkms
	# The headers name one another by the place that they are installed in.
	sed -i "s#/usr/src/#$hdr/usr/src/#" "$hdr/usr/src/linux-headers-$kver/Makefile"
	# Debian 13 has modules carry types for BPF, by a program that else nothing here needs.
	make -C "$hdr/usr/src/linux-headers-$kver" M="$(echo "$hdr"/usr/src/v4l2loopback-*/)" CONFIG_DEBUG_INFO_BTF_MODULES= modules >"$CACHE/v4l2loopback.log" 2>&1 \
		|| { tail -20 "$CACHE/v4l2loopback.log" >&2; fail "v4l2loopback cannot be built, see $CACHE/v4l2loopback.log"; }
	install -D -m 644 -t "$CACHE/$loopback" "$hdr"/usr/src/v4l2loopback-*/v4l2loopback.ko
	rm -rf "$hdr"
	DID="$DID v4l2loopback"
fi

# Clones of the project may share the cache: what is built from its files is named after their
# contents.

# 5. the initramfs
initrd=initrd-$(sum "$RIG/guest/init").gz
if ! done_already "$initrd" "$kver"; then
	say "initramfs"
	I=$(mktemp -d "$CACHE/initrd.XXXXXX")
	mkdir -p "$I"/{bin,dev,proc,sys,modules}
	cp /usr/bin/busybox "$I/bin/busybox" 2>/dev/null || cp /bin/busybox "$I/bin/busybox"
	for m in virtio_pci 9pnet_virtio 9p overlay virtio_rng; do
		modprobe -d "$CACHE/kroot" -S "$kver" --show-depends "$m" | awk '$1 == "insmod" { print $2 }'
	done | awk '!seen[$0]++' | while read -r f; do
		cp "$f" "$I/modules/"; basename "$f" >> "$I/modules.order"
	done
	install -m 755 "$RIG/guest/init" "$I/init"
	(cd "$I" && find . | cpio -o -H newc --quiet | gzip -1) > "$CACHE/$initrd"
	rm -rf "$I"
	mark "$initrd" "$kver"; DID="$DID initramfs"
fi

# 6. the camera
built=$CACHE/uvccam-$(sum "$RIG/src/uvccam.c")/uvccam
if [ ! -x "$built" ]; then
	say "uvccam"
	mkdir -p "${built%/*}"
	gcc -O2 -Wall -o "$built.new" "$RIG/src/uvccam.c" -lm
	mv "$built.new" "$built"
	DID="$DID uvccam"
fi

if [ -n "$DID" ]; then
	say "done in $((SECONDS - T0)) s:$DID (kernel $kver, $(du -sh "$CACHE" | cut -f1) in $CACHE)"
else
	say "already set up: kernel $kver in $CACHE"
fi
