#!/usr/bin/env bash
# Measures the hardest files: for each, its length, seconds of processor time, peak
# memory and the number of findings of `weighbridge check --json`. Fails if a file takes
# more than 1 s or 64 MiB per MB of its length.
#
#   scripts/hard.sh [COMMAND]     COMMAND defaults to target/release/weighbridge,
#                                 which is built
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/setup.sh
ready_or_leave_out hard

command=$(released "${1:-}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cargo run --quiet -p weighbridge-tests --example hard -- "$work/files"

python3 - "$command" "$work/files" <<'PYTHON'
import json, os, pathlib, resource, subprocess, sys

command, folder = sys.argv[1:]
SECONDS, MIB = 1, 64  # for each MB of file, and for a shorter file; MIB beyond an empty file's


def measure(file):
    """Processor time in seconds, peak memory in MiB, and findings, in a child of its own."""
    into, out = os.pipe()
    if os.fork() == 0:
        run = subprocess.run([command, "check", "--json", file], capture_output=True, check=False)
        assert run.returncode in (0, 1, 3), run
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        findings = len(json.loads(run.stdout)["findings"])
        figures = used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, findings
        os.write(out, json.dumps(figures).encode())
        os._exit(0)
    os.close(out)
    with os.fdopen(into) as answer:
        figures = json.loads(answer.read())
    assert os.wait()[1] == 0
    return figures


empty = pathlib.Path(folder, "empty")
empty.write_bytes(b"")
_, base, _ = measure(empty)
empty.unlink()
above = 0
print(f"{'file':<44} {'bytes':>9} {'seconds':>8} {'MiB':>9} {'findings':>9}")
for file in sorted(pathlib.Path(folder).iterdir()):
    size = file.stat().st_size
    seconds, mib, findings = measure(file)
    share = max(1, size / 1e6)
    over = seconds > SECONDS * share or mib - base > MIB * share
    above += over
    print(f"{file.name:<44} {size:>9} {seconds:>8.2f} {mib:>9.0f} {findings:>9}{'  OVER LIMIT' if over else ''}")
print(f"hard: {above} files above {SECONDS} s or {MIB} MiB per MB; an empty file takes {base:.0f} MiB")
sys.exit(above > 0)
PYTHON
