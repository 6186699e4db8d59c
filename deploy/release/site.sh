#!/usr/bin/env bash
# Add the site of this version next to earlier versions, as a commit on the branch gh-pages. It pushes nothing.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
make --silent --no-print-directory .venv-tools/.ready PYTHON=python3
version=$(python3 deploy/release/versions.py)
export NO_MKDOCS_2_WARNING=1 PATH="$PWD/.venv-tools/bin:$PATH"
address=$(sed -n 's/^Repository = "\([^"]*\)".*/\1/p' pyproject.toml)
export DOCS_SOURCE="$address/blob/v$version/docs/"
mike deploy --config-file mkdocs.versions.yml --update-aliases "$version" latest
mike set-default --config-file mkdocs.versions.yml latest
echo "gh-pages: the site of $version"
