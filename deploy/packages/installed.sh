#!/bin/sh
# After the files are there. In an image that no systemd has booted there is nothing to tell.
set -e
[ ! -d /run/systemd/system ] || [ -n "${DPKG_ROOT:-}" ] || {
  systemd-sysusers neuron-emf.conf
  systemctl daemon-reload
  systemctl try-restart neuron-emf.service
}
