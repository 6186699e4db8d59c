#!/usr/bin/env bash
# AWS ParallelCluster runs this on each node as root: CustomActions / OnNodeConfigured.
#
#   install-neuron-emf.sh BUNDLE [--cluster NAME] [--region NAME] [--log-group NAME] [--strict]
#
# BUNDLE is the file that deploy/systemd/bundle.sh wrote: s3://BUCKET/KEY, or a path on a shared file system.
# By default the emitter uses the name of the ParallelCluster and the node's region.
#
# The script changes nothing on a node without Neuron devices (a head or login node). ParallelCluster
# terminates a node if this action fails, and a node without an emitter is better than no node. So
# without --strict the script only logs a failure and exits with 0. You can run the script again.
set -euo pipefail

root=${NEURON_EMF_ROOT:-} # another root folder, for tests
log=$root/var/log/neuron-emf-install.log

say() { printf '%s neuron-emf: %s\n' "$(date -u +%Y-%m-%dT%H:%M:%SZ)" "$*"; }

usage() {
  say "$1 Usage: $(basename "$0") BUNDLE [--cluster NAME] [--region NAME] [--log-group NAME] [--strict]"
  return 2
}

has_neuron() {
  # The driver may be loaded after this script, so the script reads the PCI bus too. The vendor is
  # Amazon. The driver lists these IDs: four of inf1, one each of trn1, inf2 and trn2, two of trn3.
  compgen -G "$root/dev/neuron[0-9]*" >/dev/null && return
  local vendor
  for vendor in "$root"/sys/bus/pci/devices/*/vendor; do
    [ "$(cat "$vendor" 2>/dev/null)" = 0x1d0f ] || continue
    case $(cat "${vendor%vendor}device") in
      0x7064 | 0x7065 | 0x7066 | 0x7067 | 0x7164 | 0x7264 | 0x7364 | 0x7564 | 0x7565) return 0 ;;
    esac
  done
  return 1
}

# Set option $2 in the file of settings $1 to $3, unless the file already sets it.
set_once() {
  local file=$1 name=$2 value=$3
  if grep -q "^$name *=" "$file"; then
    say "kept $name of $file"
  elif grep -q "^#$name *=" "$file"; then
    sed -i "s|^#$name *=.*|$name = \"$value\"|" "$file"
  else
    printf '%s = "%s"\n' "$name" "$value" >>"$file"
  fi
}

# Install a Python for the bundle in folder $1 if its installer finds none. A bundle with packages needs the
# minor version in its file python-version.
ensure_python() {
  local only=""
  [ ! -f "$1/python-version" ] || only=$(<"$1/python-version")
  ! DESTDIR=$root "$1/install.sh" python >/dev/null 2>&1 || return 0
  say "no Python ${only:-3.10 or later} with venv was found: installing one with the package manager"
  if command -v dnf >/dev/null; then
    dnf install -y -q "python${only:-3.11}"
  elif command -v apt-get >/dev/null; then
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "python${only:-3}-venv"
  else
    say "Neither dnf nor apt-get was found. Install Python ${only:-3.10 or later} with venv in the image."
    return 1
  fi
}

main() {
  local bundle="" cluster="" region="" group="" work
  while [ $# -gt 0 ]; do
    case $1 in
      --strict) ;;
      --cluster | --region | --log-group)
        [ -n "${2:-}" ] || usage "$1 needs a value." || return
        [[ "$2" =~ ^[A-Za-z0-9._:/#-]+$ ]] || usage "Invalid value of $1: use letters, digits and . _ : / # -." || return
        case $1 in
          --cluster) cluster=$2 ;;
          --region) region=$2 ;;
          --log-group) group=$2 ;;
        esac
        shift
        ;;
      -*) usage "Unknown option $1." || return ;;
      *)
        [ -z "$bundle" ] || usage "More than one BUNDLE: $1." || return
        bundle=$1
        ;;
    esac
    shift
  done
  [ -n "$bundle" ] || usage "No BUNDLE is given." || return

  if ! has_neuron; then
    say "no Neuron device: nothing to do on this node"
    return
  fi
  work=$(mktemp -d)
  # shellcheck disable=SC2064 # expand the folder's name now
  trap "rm -rf '$work'" EXIT
  case $bundle in
    s3://*)
      say "downloading $bundle"
      aws s3 cp --only-show-errors ${region:+--region "$region"} "$bundle" "$work/bundle.tar.gz"
      ;;
    *) cp "$bundle" "$work/bundle.tar.gz" ;;
  esac
  tar -C "$work" --no-same-owner -xzf "$work/bundle.tar.gz"
  local bundles=("$work"/neuron-emf-*)
  ensure_python "${bundles[0]}"
  DESTDIR=$root CLUSTER="" REGION="" "${bundles[0]}/install.sh" install

  local config=$root/etc/neuron-emf/config.toml
  [ -z "$cluster" ] || set_once "$config" cluster "$cluster"
  [ -z "$region" ] || set_once "$config" region "$region"
  [ -z "$group" ] || set_once "$config" log-group "$group"
  echo yes >"$is_installed"
  systemctl enable neuron-emf.service
  systemctl restart neuron-emf.service
  say "running; see systemctl status neuron-emf"
}

mkdir -p "$(dirname "$log")"
is_installed=$(mktemp) # main writes to this file after the installation, before it starts the service
# Run main in a subshell, because `set -e` has no effect in a command of `if` or `||`.
set +e
(
  set -e
  main "$@"
) 2>&1 | tee -a "$log"
code=${PIPESTATUS[0]}
failure="Not installed (exit code $code): the node works, but its cores are not monitored. See $log."
[ ! -s "$is_installed" ] ||
  failure="Installed, but the service did not start (exit code $code): the node's cores are not monitored. See journalctl -u neuron-emf."
rm -f "$is_installed"
case " $* " in
  *" --strict "*) exit "$code" ;;
esac
[ "$code" = 0 ] || say "$failure" | tee -a "$log"
exit 0
