#!/bin/sh
# Before the files go; not on an upgrade: deb says "upgrade", rpm how many will be left.
set -e
case "${1:-}" in
  upgrade | 1) exit 0 ;;
esac
[ ! -d /run/systemd/system ] || [ -n "${DPKG_ROOT:-}" ] || systemctl disable --now neuron-emf.service
