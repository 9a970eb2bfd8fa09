#!/usr/bin/env python3
"""Compares verdicts on GGUF files with those of ggml's Python reader.

    pip install gguf==0.19.0
    cargo build -p weighbridge-cli
    cargo run -p weighbridge-tests --example fixtures -- target/fixtures
    python3 scripts/gguf_reader.py target/debug/weighbridge target/fixtures/gguf [FILES A FIXTURE]

Every sound and broken fixture, and copies of each with damaged bytes, are read
by both. Where both accept a file they must have read the same metadata, names,
shapes, types and bytes of data. What only one of them accepts must be explained
by the rules in ACCEPTED, which the reader does not check; anything else is
printed, and the exit code is 1.
"""

import json
import pathlib
import random
import subprocess
import sys
import tempfile

import numpy
from gguf import GGUFReader

# Rules that the Python reader does not look at, with the reason. What it reads
# of such a file may be as meaningless as the file is.
ACCEPTED = {
    "KEY-EMPTY": "any key is taken",
    "KEY-LENGTH": "any key is taken",
    "KEY-ASCII": "keys are decoded as UTF-8",
    "KEY-FORM": "any key is taken",
    "VALUE-BOOL": "NumPy takes any byte for true",
    "TEXT-UTF8": "texts stay bytes until they are asked for",
    "NAME-LENGTH": "any name is taken",
    "NAME-LIMIT": "any name is taken",
    "DIMS-COUNT": "any number of dimensions is taken",
    "OFFSET-ALIGN": "offsets are taken as they are",
    "OFFSET-ORDER": "offsets are taken as they are",
    "OVERLAP": "offsets are taken as they are",
    "ALIAS": "offsets are taken as they are",
    "PADDING": "padding is not looked at",
    "ALIGNMENT-MULTIPLE": "any alignment but 0 is taken",
    "ALIGNMENT-VALUE": "any alignment but 0 is taken",
    "ALIGNMENT-LIMIT": "any alignment but 0 is taken",
    "EXTENT-RANGE": "products are computed in 64 bits and may wrap",
    "DATA-BOUNDS": "an offset near 2^64 wraps",
    "SHAPE-OVERFLOW": "products are computed in 64 bits and may wrap",
    "BLOCK-MULTIPLE": "sizes are rounded down to whole blocks",
    "TABLE-TRUNCATED": "reads behind the end of the file give nothing, and are not noticed",
    "STRING-BOUNDS": "reads behind the end of the file give what there is",
    "ARRAY-BOUNDS": "an array that reaches behind the end of the file ends there",
    "ARRAY-DEPTH": "arrays nest without a bound",
    "COUNT-METADATA": "counts are not compared with the file, and the loop goes on behind its end",
    "COUNT-TENSORS": "counts are not compared with the file",
}

# What the reader refuses and we accept under strict: lints, with the reason.
ONLY_OURS = {
    "ARRAY-NESTED": "nested arrays are not built",
    "EXTENT-ZERO": "an empty tensor may lie at the end of the file",
    "TRAILING": "an edit may leave bytes behind the last tensor",
    "VERSION-BIG": "read by both, as a rule",
    "NAME-64": "read by both, as a rule",
    "GAP": "read by both, as a rule",
}

SECONDS = 20


def ours(binary, paths):
    """The report on each path."""
    listed = subprocess.run(
        [binary, "check", "--structure", "--json", "--format", "gguf", *map(str, paths)],
        capture_output=True, text=True, check=False)
    return [json.loads(line) for line in listed.stdout.splitlines()]


def theirs(path):
    """What the reader makes of a file, or why it refuses; in a process of its
    own, because a count of 2^40 keeps it busy."""
    code = "import sys; sys.path.insert(0, sys.argv[2]); import gguf_reader; gguf_reader.tell(sys.argv[1])"
    here = str(pathlib.Path(__file__).parent)
    try:
        run = subprocess.run([sys.executable, "-c", code, str(path), here],
                             capture_output=True, text=True, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return None, "no end after %d s" % SECONDS
    if run.returncode != 0:
        return None, (run.stderr.strip().splitlines() or ["exit %d" % run.returncode])[-1]
    return json.loads(run.stdout), None


def tell(path):
    """Prints the facts that are compared."""
    with numpy.errstate(all="ignore"):
        reader = GGUFReader(path)
    order = "big" if reader.byte_order == "S" else "little"
    tensors = []
    for tensor in reader.tensors:
        tensors.append({
            "name": tensor.name,
            "shape": [int(n) for n in reversed(tensor.shape)],
            "type": tensor.tensor_type.name.lower(),
            "bytes": int(tensor.n_bytes),
            "at": int(tensor.data_offset),
        })
    keys = [key for key in reader.fields if not key.startswith("GGUF.")]
    print(json.dumps({"order": order, "keys": keys, "tensors": tensors}))


def compare(binary, path):
    """What the two readings differ in."""
    shown = subprocess.run([binary, "inspect", "--json", "--format", "gguf", str(path)],
                           capture_output=True, text=True, check=False)
    mine = json.loads(shown.stdout)
    other, _ = theirs(path)
    if [entry["key"] for entry in mine["metadata"]] != other["keys"]:
        return "metadata"
    if len(mine["tensors"]) != len(other["tensors"]):
        return "number of tensors"
    for one, two in zip(mine["tensors"], other["tensors"]):
        chunk = one["chunks"][0]
        facts = [one["name"], one["dtype"], one["shape"], chunk["stored"], chunk["offset"]]
        if facts != [two["name"], two["type"], two["shape"], two["bytes"], two["at"]]:
            return f"{facts} and {two}"
    return None


def damaged(bytes_, rng):
    """A copy with a few bytes changed, in front of the data most of all."""
    copy = bytearray(bytes_)
    for _ in range(rng.randint(1, 3)):
        at = rng.randrange(min(len(copy), 600))
        copy[at] = rng.choice([0, 1, 2, 7, 13, 32, 127, 255, copy[at] ^ 1, copy[at] ^ 0x80])
    return bytes(copy)


def main():
    binary, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    each = int(sys.argv[3]) if len(sys.argv) > 3 else 4
    rng = random.Random(8)
    counts = {"both": 0, "neither": 0, "only the reader": 0, "only ours": 0}
    reasons, unexplained = {}, []
    with tempfile.TemporaryDirectory() as temporary:
        paths = sorted(folder.glob("*.gguf"))
        for path in list(paths):
            content = path.read_bytes()
            if 24 < len(content) < 20_000:
                for i in range(each):
                    copy = pathlib.Path(temporary) / f"{path.stem}-{i}.gguf"
                    copy.write_bytes(damaged(content, rng))
                    paths.append(copy)
        for path, report in zip(paths, ours(binary, paths), strict=True):
            valid = report["verdict"] == "valid"
            rules = {finding["rule"] for finding in report["findings"]}
            facts, refusal = theirs(path)
            if valid and facts is not None:
                counts["both"] += 1
                difference = compare(binary, path)
                if difference:
                    unexplained.append(f"{path.name}: read differently: {difference}")
                continue
            if not valid and facts is None:
                counts["neither"] += 1
                continue
            side = "only ours" if valid else "only the reader"
            counts[side] += 1
            explained = rules & (ONLY_OURS if valid else ACCEPTED).keys()
            if not explained:
                unexplained.append(f"{path.name}: {side}: {sorted(rules)} {refusal or ''}")
            for rule in explained:
                reasons[rule] = reasons.get(rule, 0) + 1
    print(f"{len(paths)} files: " + ", ".join(f"{n} accepted by {who}" for who, n in counts.items()))
    for rule, n in sorted(reasons.items()):
        print(f"  {rule:<20} {n:>5}  {ACCEPTED.get(rule) or ONLY_OURS.get(rule)}")
    for line in unexplained:
        print("UNEXPLAINED", line)
    return 1 if unexplained else 0


if __name__ == "__main__":
    sys.exit(main())
