#!/usr/bin/env bash
# Tests the command against a third-party server for buckets: moto, on the loopback address. `cargo
# test -p weighbridge-cli --features remote` has the servers that fail and lie.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/setup.sh
ready_or_leave_out python
work=$target_dir/remote
mkdir -p "$work"

venv=$work/venv
if [ ! -x "$venv/bin/moto_server" ]; then
  "${PYTHON:-python3}" -m venv "$venv"
  "$venv/bin/python" -m pip install --quiet --disable-pip-version-check 'moto[s3,server]==5.*' || {
    left_out "the bucket on a third-party server: moto cannot be installed"
    exit 0
  }
fi
cargo build --quiet -p weighbridge-cli --features remote
cargo run --quiet -p weighbridge-tests --example fixtures -- "$work/files"
"$venv/bin/python" scripts/remote.py "$target_dir/debug/weighbridge" "$work/files"
