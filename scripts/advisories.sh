#!/usr/bin/env bash
# Writes docs/advisories.md: the table of tests/data/advisories.toml, with the results
# of other readers and scanners on the same files. They are installed below target/peers
# and target/scanners; any that cannot be installed has no column.
#
#   scripts/advisories.sh
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/setup.sh
ready_or_leave_out peers
work=$target_dir/advisories
scanners=$target_dir/scanners
mkdir -p "$work"

# If one fails, the others still run.
scripts/peers.sh install
if [ ! -e "$scanners/done" ]; then
  python3 -m venv "$scanners"
  if "$scanners/bin/python" -m pip install --quiet picklescan==1.0.5 modelscan==0.8.8 modelaudit==0.2.54 \
    >"$work/pip.log" 2>&1; then
    touch "$scanners/done"
  else
    left_out "the scanners, which cannot be installed: $work/pip.log"
  fi
fi

cargo build --quiet -p weighbridge-cli
cargo run --quiet -p weighbridge-tests --example fixtures -- "$work/files"
python3 scripts/advisories.py "$target_dir" "$work/files" >"$work/advisories.md"
mv "$work/advisories.md" docs/advisories.md
