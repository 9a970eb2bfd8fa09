#!/usr/bin/env bash
# Checks folders as transformers, sentence-transformers, peft, diffusers, torch and huggingface_hub
# write them; the last one downloads from a server on this machine. Compares each exit code with the
# one that a gate should give. Installs packages of 6 GB.
#
#   scripts/folders.sh [COMMAND]    COMMAND defaults to target/release/weighbridge,
#                                   which is built
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/setup.sh

command=$(released "${1:-}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/python" -m pip install --quiet --disable-pip-version-check \
  torch==2.15.0 transformers==5.24.0 sentence-transformers==6.2.0 peft==0.21.2 diffusers==0.42.1 \
  accelerate huggingface_hub==2.4.0
"$work/venv/bin/python" scripts/folders.py "$work/folders" >"$work/list" 2>"$work/log" ||
  { tail -n 20 "$work/log" >&2; exit 1; }
failed=0
while IFS=$'\t' read -r expected name what; do
  got=0
  "$command" check "$work/folders/$name" >"$work/out" 2>&1 || got=$?
  lines=$(wc -l <"$work/out")
  printf '%-22s exit code %d, %3d lines  %s\n' "$name" "$got" "$lines" "$what"
  if [ "$got" -ne "$expected" ] || [ "$lines" -gt 30 ]; then
    echo "  expected: $expected and at most 30 lines" >&2
    cat "$work/out" >&2
    failed=1
  fi
done <"$work/list"
exit "$failed"
