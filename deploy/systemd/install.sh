#!/usr/bin/env bash
# Install neuron-emf as a systemd service, or uninstall it.
#
#   install.sh install | uninstall | python
#
# `python` changes nothing: it prints the Python that the installation would use.
#
# Variables, all of them optional:
#   PREFIX=/opt/neuron-emf  folder of the program, a virtual environment
#   DESTDIR=                root folder to install into (an image, a package) instead of this machine's
#   PYTHON=                 the Python that makes the environment, 3.10 or later
#   CLUSTER= REGION=        written into a new config.toml; an existing file is not changed
#   PURGE=1                 uninstall also removes configuration and spool
#
# You can run it again: it replaces the whole program or nothing, and keeps your configuration.
# The files to install are next to this script, in the clone or in the bundle.
set -euo pipefail
umask 022 # the user of the service must be able to read files of root, whatever root's umask is

PREFIX=${PREFIX:-/opt/neuron-emf}
DESTDIR=${DESTDIR:-}
PYTHON=${PYTHON:-}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

units=/etc/systemd/system
unit=$units/neuron-emf.service
options=$units/neuron-emf.service.d/options.conf
sysusers=/etc/sysusers.d/neuron-emf.conf
config=/etc/neuron-emf/config.toml
command=/usr/local/bin/neuron-emf
spool=/var/lib/neuron-emf

say() { printf 'neuron-emf: %s\n' "$*"; }

fail() {
  printf 'neuron-emf: %s\n' "$*" >&2
  exit 1
}

# Succeed if the installation changes this running machine.
is_live() { [ -z "$DESTDIR" ] && [ -d /run/systemd/system ]; }

# Check that PREFIX is a folder of neuron-emf alone, because an upgrade and an uninstallation delete it.
check_prefix() {
  [[ "$PREFIX" =~ ^/[A-Za-z0-9._/-]+$ && ! "$PREFIX/" =~ /\.{0,2}/ ]] ||
    fail "Invalid PREFIX $PREFIX. Use an absolute path of letters, digits and . _ - without empty parts, . or .."
  [ "$PREFIX/bin/neuron-emf" != "$command" ] ||
    fail "PREFIX $PREFIX is where the command $command is installed. Use a folder of its own, such as /opt/neuron-emf."
  local folder=$DESTDIR$PREFIX
  [ -e "$folder" ] || [ -L "$folder" ] || return 0
  [ -f "$folder/pyvenv.cfg" ] && [ -f "$folder/bin/neuron-emf" ] && [ ! -L "$folder/bin/neuron-emf" ] ||
    fail "$folder exists and is not an installation of neuron-emf. Use another folder with PREFIX=, or move $folder away."
}

# Succeed if every user may run the Python $1, because the user of the service cannot read root's folders.
is_for_everybody() {
  [ -z "$DESTDIR" ] && command -v setpriv >/dev/null || return 0
  # Through env, because setpriv still has root's rights when it starts its command.
  setpriv --reuid=65534 --regid=65534 --clear-groups env "$1" -I -c 'import ensurepip, venv' 2>/dev/null
}

# Print the path of a Python that can make the environment, or fail with the package to install first.
# The service cannot see home folders, so a Python in a home folder is used only if PYTHON sets it. The
# packages of a bundle are for one minor version, which is in a file next to them.
find_python() {
  local name found only=""
  [ ! -f "$here/python-version" ] || only=$(<"$here/python-version")
  local names="python3 /usr/bin/python3 python3.14 python3.13 python3.12 python3.11 python3.10"
  [ -z "$only" ] || names="python3 /usr/bin/python3 python$only"
  for name in ${PYTHON:-$names}; do
    found=$("$name" -c '
import sys, ensurepip, venv
only = sys.argv[1]
is_right = "%d.%d" % sys.version_info[:2] == only if only else sys.version_info >= (3, 10)
print(sys.executable if is_right else "")' "$only" 2>/dev/null) || continue
    case "$found:$PYTHON" in
      :* | /root/*: | /home/*:) ;;
      *)
        is_for_everybody "$found" || continue
        printf '%s\n' "$found"
        return
        ;;
    esac
  done
  local expected="Python ${only:-3.10 or later} with venv that every user may run"
  [ -z "$PYTHON" ] || fail "$PYTHON is not $expected. Set another Python with PYTHON=, or omit PYTHON."
  local first="install Python ${only:-3.10 or later} with venv"
  local ID="" ID_LIKE=""
  if [ -r "${OS_RELEASE:-/etc/os-release}" ]; then
    # shellcheck source=/dev/null
    . "${OS_RELEASE:-/etc/os-release}"
  fi
  case " $ID $ID_LIKE " in
    *" amzn "*) first="dnf install -y python${only:-3.11}" ;; # the system needs its python3, which is 3.9
    *" debian "* | *" ubuntu "*) first="apt-get update && apt-get install -y python${only:-3}-venv" ;;
    *" rhel "* | *" fedora "*) first="dnf install -y python${only:-3.12}" ;;
  esac
  fail "No $expected was found. Run \`$first\` and try again, or set PYTHON=."
}

# Put the wheel into folder $2: the bundle's wheel, or a wheel that Python $1 builds from a copy of this
# clone. make_program later uninstalls the pinned setuptools of this build, together with pip.
make_wheel() {
  local python=$1 folder=$2
  local clone=$here/../..
  if compgen -G "$here/neuron_emf-*.whl" >/dev/null; then
    cp "$here"/neuron_emf-*.whl "$folder/"
    return
  fi
  [ -f "$clone/pyproject.toml" ] || fail "$here has no wheel of neuron-emf and is not in a clone. Run deploy/systemd/bundle.sh in a clone."
  mkdir "$folder/source"
  cp -r "$clone"/{pyproject.toml,README.md,LICENSE,emitter,neuron_emf,lambda} "$folder/source/"
  awk '/^[a-z]/ {is_it = /^setuptools==/} is_it' "$clone/requirements/dev.txt" >"$folder/setuptools.txt"
  "$python" -m pip install --quiet --disable-pip-version-check --no-input --no-compile --no-deps \
    --require-hashes --requirement "$folder/setuptools.txt"
  "$python" -m pip wheel --quiet --disable-pip-version-check --no-input --no-deps \
    --no-build-isolation --wheel-dir "$folder" "$folder/source"
}

# Make the program in folder $1 from the wheel in folder $3. The program is moved to $2 later, so no file
# may contain the path $1.
make_program() {
  local folder=$1
  local destination=$2
  local wheels=$3
  local pins=$here/requirements.txt
  [ -f "$pins" ] || pins=$here/../../requirements/emitter.txt
  local from=()
  [ ! -d "$here/wheels" ] || from=(--no-index --find-links "$here/wheels")
  local pip=("$folder/bin/python" -m pip install --quiet --disable-pip-version-check --no-input --no-compile --no-deps)
  "${pip[@]}" "${from[@]}" --require-hashes --requirement "$pins"
  "${pip[@]}" --no-index "$wheels"/neuron_emf-*.whl
  "$folder/bin/python" -m pip --quiet --disable-pip-version-check uninstall --yes setuptools pip
  "$folder/bin/python" -m compileall -q -s "$folder" -p "$destination" "$folder/lib"
  grep -rlIF "$folder" "$folder/bin" "$folder/pyvenv.cfg" | while read -r file; do
    [ -L "$file" ] || sed -i "s|$folder|$destination|g" "$file"
  done
}

# Copy file $1 to $2, a file of the operator. Keep an existing file.
keep_or_put() {
  if [ -e "$DESTDIR$2" ]; then
    say "kept $2"
  else
    install -D -m 644 "$1" "$DESTDIR$2"
  fi
}

# Write config.toml with CLUSTER and REGION to file $1.
write_config() {
  cp "$here/config.toml" "$1"
  [ -z "${CLUSTER:-}" ] || sed -i "s|^#cluster = .*|cluster = \"$CLUSTER\"|" "$1"
  [ -z "${REGION:-}" ] || sed -i "s|^#region = .*|region = \"$REGION\"|" "$1"
}

install_all() {
  check_prefix
  [[ "${CLUSTER:-}${REGION:-}" =~ ^[A-Za-z0-9._:/@+=-]*$ ]] || fail "Invalid CLUSTER or REGION. Use letters, digits and . _ : / @ + = -, or write the name into $config yourself."
  local python work
  python=$(find_python)
  work=$(mktemp -d)
  # shellcheck disable=SC2064 # expand now, because the trap runs after this function
  trap "rm -rf '$work' '$DESTDIR$PREFIX.new'" EXIT

  say "creating $PREFIX with $python"
  mkdir -p "$DESTDIR$(dirname "$PREFIX")"
  "$python" -m venv --clear "$DESTDIR$PREFIX.new"
  make_wheel "$DESTDIR$PREFIX.new/bin/python" "$work"
  make_program "$DESTDIR$PREFIX.new" "$PREFIX" "$work"
  rm -rf "$DESTDIR$PREFIX.old"
  [ ! -e "$DESTDIR$PREFIX" ] || mv "$DESTDIR$PREFIX" "$DESTDIR$PREFIX.old"
  mv "$DESTDIR$PREFIX.new" "$DESTDIR$PREFIX"
  rm -rf "$DESTDIR$PREFIX.old"

  sed "s|/opt/neuron-emf|$PREFIX|" "$here/neuron-emf.service" >"$work/unit"
  install -D -m 644 "$work/unit" "$DESTDIR$unit"
  install -D -m 644 "$here/neuron-emf.sysusers" "$DESTDIR$sysusers"
  keep_or_put "$here/options.conf" "$options"
  write_config "$work/config.toml"
  keep_or_put "$work/config.toml" "$config"
  mkdir -p "$DESTDIR$(dirname "$command")"
  ln -sfn "$PREFIX/bin/neuron-emf" "$DESTDIR$command"

  if is_live; then
    systemd-sysusers "$sysusers"
    systemctl daemon-reload
    systemctl try-restart neuron-emf.service # a running service continues with the new program
  fi
  say "installed. Next steps:"
  say "  1. edit $config, if needed"
  say "  2. neuron-emf check"
  say "  3. systemctl enable --now neuron-emf"
  say "  4. systemctl status neuron-emf, journalctl -u neuron-emf"
  command -v neuron-monitor >/dev/null || [ -x "$DESTDIR/opt/aws/neuron/bin/neuron-monitor" ] ||
    say "neuron-monitor was not found. Install the package aws-neuronx-tools from the AWS Neuron repository."
}

uninstall_all() {
  check_prefix
  if is_live; then
    systemctl disable --now neuron-emf.service 2>/dev/null || true
  fi
  rm -rf "$DESTDIR${PREFIX:?}" "$DESTDIR$unit" "$DESTDIR$sysusers" "$DESTDIR$command"
  ! cmp -s "$here/options.conf" "$DESTDIR$options" || rm -f "$DESTDIR$options"
  ! cmp -s "$here/config.toml" "$DESTDIR$config" || rm -f "$DESTDIR$config"
  if [ -n "${PURGE:-}" ]; then
    rm -rf "$DESTDIR$options" "$DESTDIR$(dirname "$config")" "$DESTDIR$spool"
  fi
  rmdir "$DESTDIR$(dirname "$options")" "$DESTDIR$(dirname "$config")" 2>/dev/null || true
  ! is_live || systemctl daemon-reload
  say "uninstalled. Kept: the user neuron-emf, the group neuron, the spool in $spool and your configuration (PURGE=1 removes spool and configuration)."
}

[ -n "$DESTDIR" ] || [ "$(id -u)" = 0 ] || fail "Must run as root, not as $(id -un). Use sudo, or install into a folder with DESTDIR=."
case "${1:-}" in
  install) install_all ;;
  uninstall) uninstall_all ;;
  python) find_python ;;
  *) fail "Unknown command '${1:-}'. Use install, uninstall or python." ;;
esac
