#!/usr/bin/env bash
# Pack the files that a machine without a clone needs to install neuron-emf: dist/neuron-emf-VERSION.tar.gz.
#
#   bundle.sh [--wheels]
#
# The bundle has the wheel, the pins, the unit and install.sh: unpack it and run `install.sh install`.
# With --wheels it also has every pinned package, for machines that cannot reach a package index, or if
# a package index would refuse the requests of all machines. These machines need the processor
# architecture of this machine, and the same minor version of Python, which the bundle has in a file.
# PYTHON= sets the Python of the build, 3.10 or later. OUT= sets another folder than dist/ of the clone.
set -euo pipefail

clone=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
out=${OUT:-$clone/dist}
python=${PYTHON:-python3}

version=$(sed -n 's/^__version__.*= "\([^"]*\)"$/\1/p' "$clone/emitter/neuron_emitter/__init__.py")
[ -n "$version" ] || {
  echo "neuron-emf: emitter/neuron_emitter/__init__.py has no __version__. Run this in a clone of neuron-emf." >&2
  exit 1
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bundle=$work/neuron-emf-$version
mkdir -p "$bundle" "$work/source" "$out"

cp -r "$clone"/{pyproject.toml,README.md,LICENSE,emitter,neuron_emf,lambda} "$work/source/"
awk '/^[a-z]/ {is_it = /^setuptools==/} is_it' "$clone/requirements/dev.txt" >"$work/setuptools.txt"
"$python" -m venv "$work/build"
pip=("$work/build/bin/python" -m pip --quiet --disable-pip-version-check --no-input)
"${pip[@]}" install --no-deps --require-hashes --requirement "$work/setuptools.txt"
"${pip[@]}" wheel --no-deps --no-build-isolation --wheel-dir "$bundle" "$work/source"
if [ "${1:-}" = --wheels ]; then
  "${pip[@]}" download --no-deps --only-binary :all: --require-hashes \
    --requirement "$clone/requirements/emitter.txt" --dest "$bundle/wheels"
  "$work/build/bin/python" -c 'import sys; print("%d.%d" % sys.version_info[:2])' >"$bundle/python-version"
fi
cp "$clone/requirements/emitter.txt" "$bundle/requirements.txt"
cp "$clone"/deploy/systemd/{install.sh,neuron-emf.service,neuron-emf.sysusers,options.conf,config.toml} "$bundle/"
cp "$clone/LICENSE" "$bundle/"
tar -C "$work" --owner=0 --group=0 -czf "$out/neuron-emf-$version.tar.gz" "neuron-emf-$version"
echo "$out/neuron-emf-$version.tar.gz"
