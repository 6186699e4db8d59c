#!/usr/bin/env bash
# Install the software for the parts of proof/real into .real/: proof/real/install.sh [PART...], default all.
# Packages come from Debian, PyPI and npm by the clients' own settings. Nothing is installed outside of .real/:
# Debian packages are unpacked there, and proof/real/over.sh shows them under /usr to one command. Needs Debian 12 and root.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
real=$PWD/.real
over=$PWD/proof/real/over.sh

# Unpack Debian packages and their missing dependencies: debian NAME=VERSION...
debian() {
  mkdir -p "$real/archives/partial" "$real/debian/usr"/{bin,sbin,lib,lib64}
  for folder in bin sbin lib lib64; do # Debian's merged /usr
    [ -L "$real/debian/$folder" ] || ln -s "usr/$folder" "$real/debian/$folder"
  done
  apt-cache show "$@" >/dev/null 2>&1 || apt-get update -qq
  apt-get install --yes -qq --no-install-recommends --download-only \
    -o Debug::NoLocking=1 -o APT::Sandbox::User=root -o "Dir::Cache::archives=$real/archives" "$@" >/dev/null
  for archive in "$real"/archives/*.deb; do
    if [ ! -e "$archive.unpacked" ]; then
      dpkg-deb --fsys-tarfile "$archive" | tar --extract --keep-directory-symlink --directory "$real/debian"
      touch "$archive.unpacked"
    fi
  done
}

# An environment of Python with pinned packages: pypi FOLDER NAME==VERSION...
pypi() {
  local folder=$real/$1
  shift
  [ -x "$folder/bin/python" ] || python3 -m venv "$folder"
  "$folder/bin/python" -m pip install --quiet --disable-pip-version-check --no-input --use-pep517 "$@"
}

# Packages of npm in .real/npm: npm_packages NAME@VERSION...
npm_packages() {
  command -v npm >/dev/null || debian npm
  mkdir -p "$real/npm"
  "$over" npm install --silent --no-audit --no-fund --save-exact --prefix "$real/npm" "$@"
}

install_slurm() {
  debian slurm-wlm=22.05.8-4+deb12u3 slurm-wlm-basic-plugins=22.05.8-4+deb12u3 munge=0.5.15-2+deb12u1
  for program in slurmctld slurmd slurmstepd; do # instead of update-alternatives
    ln -sf "$program-wlm" "$real/debian/usr/sbin/$program"
  done
}

install_containerd() {
  debian containerd=1.6.20~ds1-1+deb12u3 runc=1.1.5+ds1-1+deb12u1
}

install_dynalite() {
  npm_packages dynalite@4.0.0
}

install_kinesalite() {
  npm_packages kinesalite@3.3.3
}

install_spark() {
  if ! command -v java >/dev/null; then
    debian openjdk-17-jre-headless
    ln -sf ../lib/jvm/java-17-openjdk-amd64/bin/java "$real/debian/usr/bin/java" # instead of update-alternatives
  fi
  pypi spark pyspark==4.3.0
}

install_aws_cli() {
  debian awscli=2.9.19-1
  pypi aws_cli awscli==1.46.3
}

install_grpc_go() {
  debian golang-go=2:1.19~1 golang-google-grpc-dev=1.33.3-2
}

install_prometheus() {
  debian prometheus=2.42.0+ds-5+deb12u1
}

# --- the chosen parts ---

mapfile -t all < <(declare -F | sed -n 's/^declare -f install_//p')
[ "$#" -gt 0 ] || set -- "${all[@]}"
for part in "$@"; do
  if ! declare -F "install_$part" >/dev/null; then
    echo "unknown part $part. Parts are: ${all[*]}" >&2
    exit 2
  fi
  began=$(date +%s)
  "install_$part"
  echo "$part: installed after $(($(date +%s) - began)) s"
done
