#!/usr/bin/env bash
# Build the image for this machine's processor, or join the images of both processors under one name. Needs Docker.
#
#   image.sh build NAME VERSION [--push]
#   image.sh index NAME VERSION
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
action=$1
name=$2
version=$3
case $action in
  build)
    docker buildx build --file deploy/container/Containerfile --provenance=false \
      --tag "$name:$version-$(uname -m)" "${4:---load}" .
    ;;
  index)
    docker buildx imagetools create --tag "$name:$version" \
      "$name:$version-x86_64" "$name:$version-aarch64"
    ;;
  *)
    echo "Unknown action '$action'. Use build or index." >&2
    exit 2
    ;;
esac
