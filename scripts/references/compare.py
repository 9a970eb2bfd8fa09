#!/usr/bin/env python3
"""Compares verdicts and values with reference readers that are not in Rust.

    cargo build -p weighbridge-cli
    cargo run -p weighbridge-tests --example fixtures -- target/fixtures
    cargo run -p weighbridge-tests --example random -- target/random/oinf oinf 300
    python3 scripts/references/compare.py oinf target/debug/weighbridge \\
        target/fixtures/oinf target/random/oinf [DAMAGED COPIES OF EACH]

and with `idv` instead of `oinf`. The packages to install are listed at the top of oinf.py and
idv.py beside this file.

Every file, and copies of each with damaged bytes, are read by both. If both accept a file, they
must have read the same names, shapes and values. Files that only one of them accepts must be
explained by the tables in oinf.py and idv.py; anything else is printed, and the exit code is 1.
"""

import collections
import importlib
import json
import pathlib
import random
import select
import subprocess
import sys
import tempfile

SECONDS = 20

UNSEEN = "in a column that the reference does not print"


class Reference:
    """Runs the reference in a separate process: a count of 2^40 keeps it busy, and a file may crash
    it."""

    def __init__(self, name):
        self.name, self.process = name, None

    def read(self, path):
        """The facts of a file, or why it is refused."""
        if self.process is None:
            self.process = subprocess.Popen(
                [sys.executable, __file__, "--serve", self.name], text=True,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            assert self.process.stdout.readline() == "ready\n", "the reference does not start"
        self.process.stdin.write(f"{path}\n")
        self.process.stdin.flush()
        ready, _, _ = select.select([self.process.stdout], [], [], SECONDS)
        line = self.process.stdout.readline() if ready else ""
        if not line:
            self.process.kill()
            self.process.wait()
            self.process = None
            return None, "it ends" if ready else f"no end after {SECONDS} s"
        answer = json.loads(line)
        return answer.get("facts"), answer.get("refusal")


def serve(reference):
    """Answers one path per line."""
    if hasattr(reference, "start"):
        reference.start()
    print("ready", flush=True)
    for line in sys.stdin:
        try:
            answer = {"facts": reference.tell(line.rstrip("\n"))}
        except MemoryError:
            answer = {"refusal": "MemoryError"}
        except Exception as error:  # any exception is a refusal
            first = (str(error).splitlines() or [""])[0]
            answer = {"refusal": f"{type(error).__name__}: {first}"}
        print(json.dumps(answer), flush=True)


def checked(binary, name, paths):
    """Our report on each path."""
    listed = subprocess.run([binary, "check", "--json", "--format", name, *map(str, paths)],
                            capture_output=True, text=True, check=False)
    return [json.loads(line) for line in listed.stdout.splitlines()]


def inspected(binary, name, path):
    shown = subprocess.run(
        [binary, "inspect", "--json", "--values", "100000", "--format", name, str(path)],
        capture_output=True, text=True, check=False)
    return json.loads(shown.stdout)


def damaged(content, rng):
    """A copy with a few bytes changed."""
    copy = bytearray(content)
    for _ in range(rng.randint(1, 3)):
        at = rng.randrange(len(copy))
        copy[at] = rng.choice([0, 1, 2, 7, 13, 32, 127, 255, copy[at] ^ 1, copy[at] ^ 0x80])
    return bytes(copy)


def batch(folders, extension, each, temporary):
    """All files of the folders, and damaged copies."""
    rng = random.Random(8)
    paths = sorted(path for folder in folders for path in folder.glob(f"*.{extension}"))
    for path in list(paths):
        content = path.read_bytes()
        if 0 < len(content) < 20_000:
            for i in range(each):
                copy = pathlib.Path(temporary) / f"{path.stem}-{i}.{extension}"
                copy.write_bytes(damaged(content, rng))
                paths.append(copy)
    return paths


def difference(module, mine, theirs, rules):
    """The first fact that differs."""
    mine = module.ours(mine)
    if hasattr(module, "paired"):
        mine = module.paired(mine, theirs, rules)
    if len(mine) != len(theirs):
        return f"{len(mine)} facts and {len(theirs)}"
    for one, two in zip(mine, theirs):
        if not module.same(one, two):
            return f"{str(one)[:300]} and {str(two)[:300]}"
    return None


def explained(module, broken, findings):
    """The broken rules that have a reason: the reference does not check them, or not in the column
    where they are broken."""
    dead = {finding["entry"] for finding in findings if finding["rule"] in getattr(module, "DEAD", ())}
    return {finding["rule"] for finding in broken
            if finding["rule"] in module.ACCEPTED or finding["entry"] in dead}


def main():
    if sys.argv[1] == "--serve":
        serve(importlib.import_module(sys.argv[2]))
        return 0
    name, binary, *rest = sys.argv[1:]
    each = int(rest.pop()) if rest[-1].isdigit() else 4
    module, reference = importlib.import_module(name), Reference(name)
    counts, reasons, unexplained = collections.Counter(), collections.Counter(), []
    with tempfile.TemporaryDirectory() as temporary:
        paths = batch([pathlib.Path(folder) for folder in rest], module.FORMAT, each, temporary)
        for path, report in zip(paths, checked(binary, name, paths), strict=True):
            valid = report["verdict"] == "valid"
            rules = {finding["rule"] for finding in report["findings"]}
            broken = [finding for finding in report["findings"]
                      if finding["severity"] in ("fatal", "violation")]
            facts, refusal = reference.read(path)
            accepted = facts is not None
            counts[("both" if accepted else "us") if valid else
                   ("the reference" if accepted else "neither")] += 1
            if valid and accepted:
                differs = difference(module, inspected(binary, name, path), facts, rules)
                if differs:
                    unexplained.append(f"{path.name}: read differently: {differs}")
            elif valid:
                why = [why for why in module.ONLY_OURS if why in refusal]
                reasons.update(why)
                if not why:
                    unexplained.append(f"{path.name}: refused only by the reference: {refusal}; {sorted(rules)}")
            elif accepted:
                why = explained(module, broken, report["findings"])
                reasons.update(why)
                left = {finding["rule"] for finding in broken} - why
                if left:
                    unexplained.append(f"{path.name}: accepted only by the reference: {sorted(left)}")
    print(f"{len(paths)} files: " + ", ".join(f"{n} accepted by {who}" for who, n in counts.items()))
    for why, n in reasons.most_common():
        print(f"  {why:<24} {n:>5}  {module.ACCEPTED.get(why) or module.ONLY_OURS.get(why) or UNSEEN}")
    for line in unexplained:
        print("UNEXPLAINED", line)
    return 1 if unexplained else 0


if __name__ == "__main__":
    sys.exit(main())
