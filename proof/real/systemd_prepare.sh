#!/usr/bin/env bash
# Overlay this machine's root with a temporary root and boot it: $1 is its folder, $2 the files that were
# installed with DESTDIR, $3 a folder of files to add, $4 a cgroup for it.
# Run this under `unshare --mount`: the mounts end with the namespace.
set -euo pipefail
work=$1 installed=$2 files=$3 cgroup=$4
mount --make-rprivate /
mount -t tmpfs -o mode=755 tmpfs "$work"
mkdir "$work/upper" "$work/changes" "$work/root"
mount -t overlay overlay -o "lowerdir=/,upperdir=$work/upper,workdir=$work/changes" "$work/root"
root=$work/root
rm -rf "$root"/etc/systemd/system/*.wants "$root"/etc/systemd/system/*.requires \
  "$root/var/lib/neuron-emf" "$root/etc/neuron-emf" "$root/opt/neuron-emf"
cp -a "$installed/." "$root/"
cp -r "$files/." "$root/"
systemd-sysusers --root="$root" "$root/etc/sysusers.d/neuron-emf.conf"
echo $$ >"$cgroup/cgroup.procs"
exec unshare --pid --fork --kill-child --mount --cgroup \
  bash "$(dirname "${BASH_SOURCE[0]}")/systemd_boot.sh" "$root"
