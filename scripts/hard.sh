#!/usr/bin/env bash
# What the hardest files take: for each, its length, seconds of processor time,
# the most memory and the number of findings of `weighbridge check --json`.
#
#   scripts/hard.sh [COMMAND]     COMMAND is target/release/weighbridge by default,
#                                 which is built
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/setup.sh
ready_or_leave_out hard

command=${1:-}
if [ -z "$command" ]; then
  cargo build --quiet --release -p weighbridge-cli
  command=$target_dir/release/weighbridge
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cargo run --quiet -p weighbridge-tests --example hard -- "$work/files"

printf '%-44s %9s %8s %9s %9s\n' file bytes seconds 'MiB' findings
for file in "$work"/files/*; do
  python3 - "$command" "$file" <<'PYTHON'
import json, os, resource, subprocess, sys
command, file = sys.argv[1:]
run = subprocess.run([command, "check", "--json", file], capture_output=True, check=False)
assert run.returncode in (0, 1, 3), run
used = resource.getrusage(resource.RUSAGE_CHILDREN)
findings = len(json.loads(run.stdout)["findings"])
print(f"{os.path.basename(file):<44} {os.path.getsize(file):>9} {used.ru_utime + used.ru_stime:>8.2f}"
      f" {used.ru_maxrss / 1024:>9.0f} {findings:>9}")
PYTHON
done
