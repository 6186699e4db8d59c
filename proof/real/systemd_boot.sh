#!/usr/bin/env bash
# Become a real systemd in its own namespaces: PID 1 with the root folder $1.
# test_systemd_unit.py runs it under `unshare --pid --fork --mount --cgroup`. It has no effect outside of
# the namespace and ends with it.
set -euo pipefail
root=$1
mount --make-rprivate /
mount -t proc proc "$root/proc"
mount -t sysfs -o ro sysfs "$root/sys"
mount -t tmpfs -o mode=755 tmpfs "$root/sys/fs/cgroup"
mount -t cgroup2 cgroup2 "$root/sys/fs/cgroup"
mount -t tmpfs -o mode=755 tmpfs "$root/run"
mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
# No /dev/kmsg, because the test must not read the messages of this machine's kernel.
mount -t tmpfs -o mode=755 tmpfs "$root/dev"
for name in null zero full random urandom tty; do
  touch "$root/dev/$name"
  mount --bind "/dev/$name" "$root/dev/$name"
done
mkdir -p "$root/dev/pts" "$root/dev/shm" "$root/.before"
cd "$root"
pivot_root . .before
umount -l .before
exec env -i container=test PATH=/usr/sbin:/usr/bin:/sbin:/bin /lib/systemd/systemd \
  --system --unit=rehearsal.target --log-target=null --show-status=no
