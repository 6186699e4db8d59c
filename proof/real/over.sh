#!/bin/sh
# Run COMMAND with the packages of .real/debian over this machine's /usr and /etc: proof/real/over.sh COMMAND...
# They are in a mount namespace, so no other process sees them, and they disappear with the command. Needs root;
# without root the command runs on this machine unchanged.
set -eu
real=$(cd "$(dirname "$0")/../.." && pwd)/.real
export NEURON_EMF_PROOF_OVER="$real"
if [ ! -d "$real/debian/usr" ] || ! unshare --mount true 2>/dev/null; then
  exec "$@" # each part then reports its missing programs
fi
mkdir -p "$real/scratch" "$real/debian/etc"
# shellcheck disable=SC2016 # the inner shell expands
exec unshare --mount sh -c '
  set -eu
  real=$1
  shift
  mount -t tmpfs -o mode=755 scratch "$real/scratch"
  for folder in usr etc; do
    mkdir "$real/scratch/$folder" "$real/scratch/$folder.work"
    chmod 755 "$real/scratch/$folder"
    lower="$real/debian/$folder:/$folder"
    mount -t overlay -o "lowerdir=$lower,upperdir=$real/scratch/$folder,workdir=$real/scratch/$folder.work" over "/$folder"
  done
  exec "$@"' sh "$real" "$@"
