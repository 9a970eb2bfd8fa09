#!/usr/bin/env python3
"""Compares our reading of GGUF files with that of ggml's Python package.

    pip install gguf==0.19.0
    cargo build -p weighbridge-cli
    cargo run -p weighbridge-tests --example fixtures -- target/fixtures
    python3 scripts/gguf_reader.py target/debug/weighbridge target/fixtures/gguf [GGML]

Every fixture, and 40 copies of each with damaged bytes, are read by both. If both accept a file,
they must have read the same metadata with the same values, and the same names, shapes, types and
places of tensors. A file that only the package accepts may break only rules in ACCEPTED, and a file
that only we accept needs a reason in UNKNOWN. Any other difference is printed, and the exit code is
1, as it is when a line of ACCEPTED is unused.

GGML is the program of scripts/peers/ggml.cpp, whose verdicts are compared in the same way. What the
reference reader refuses is at least a violation, except for NARROWER, where the specification
explicitly allows what ggml does not read.

Then tensors of every type that we decode, made of random blocks, are written with the package and
read with `weighbridge extract`. The result must be bit-identical to that of the package's
`dequantize`.
"""

import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile

import numpy
from gguf import GGUFReader, GGUFWriter
from gguf.constants import GGML_QUANT_SIZES, GGMLQuantizationType
from gguf.quants import dequantize

BLOCKS = "Q4_0 Q4_1 Q5_0 Q5_1 Q8_0 Q2_K Q3_K Q4_K Q5_K Q6_K TQ2_0 IQ4_NL IQ4_XS MXFP4".split()

# Rules that the package does not check, with the reason. What it reads from such a file may be as
# meaningless as the file.
ACCEPTED = {
    "KEY-EMPTY": "any key is accepted",
    "KEY-LENGTH": "any key is accepted",
    "KEY-ASCII": "keys are decoded as UTF-8",
    "KEY-FORM": "any key is accepted",
    "VALUE-BOOL": "NumPy takes any byte for true",
    "NAME-LENGTH": "any name is accepted",
    "NAME-LIMIT": "any name is accepted",
    "NAME-NUL": "any name is accepted",
    "DIMS-COUNT": "any number of dimensions is accepted",
    "OFFSET-ALIGN": "offsets are taken as they are",
    "OFFSET-ORDER": "offsets are taken as they are",
    "OVERLAP": "offsets are taken as they are",
    "ALIAS": "offsets are taken as they are",
    "DATA-BOUNDS": "an offset near 2^64 wraps",
    "PADDING": "padding is not checked",
    "ALIGNMENT-MULTIPLE": "any alignment but 0 is accepted",
    "STRING-BOUNDS": "a string that ends past the end of the file is cut",
    "KEYS-": "the meaning of keys is left to the loader",
    "EXTENT-ZERO": "an empty tensor is read",
}

# The same for ggml's own reader, which does not look at data.
GGML = {
    "NAME-NUL": "a name ends at its first zero",
    "KEY-LENGTH": "any key but the empty one is accepted",
    "KEY-ASCII": "any key but the empty one is accepted",
    "KEY-FORM": "any key but the empty one is accepted",
    "VALUE-BOOL": "any byte but 0 is true",
    "TEXT-UTF8": "texts are bytes",
    "NAME-UTF8": "names are bytes",
    "ALIGNMENT-MULTIPLE": "any power of two is accepted",
    "DATA-BOUNDS": "data is left to the loader",
    "PADDING": "padding is not checked",
    "KEYS-": "the meaning of keys is left to the loader",
    "EXTENT-ZERO": "this release reads empty tensors",
}

# Features that ggml's own reader refuses, but the specification allows.
NARROWER = {
    "big": "the other byte order is not read",
    "ARRAY-NESTED": "arrays in arrays are not read",
    "NAME-64": "a name needs room for a zero",
    "ALIGNMENT-POWER": "alignments are powers of two",
}

# Features that the package refuses, but ggml accepts.
UNKNOWN = {
    "types": "the package does not know the newest type of ggml, or a later one",
    "ALIGNMENT-POWER": "alignments are powers of two",
}

# The package assumes 32-bit floats in blocks of this type; ggml has used 16 bits for years.
GGML_QUANT_SIZES[GGMLQuantizationType.Q8_1] = (32, 36)

SECONDS = 5
COPIES = 40


def ours(binary, paths):
    """Our report on each path."""
    listed = subprocess.run(
        [binary, "check", "--structure", "--json", "--format", "gguf", *map(str, paths)],
        capture_output=True, text=True, check=False)
    return [json.loads(line) for line in listed.stdout.splitlines()]


def theirs(path):
    """The facts that the package reads from a file, or why it refuses the file; in a separate
    process, because a count of 2^40 keeps it busy."""
    output, input_ = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(output)
        signal.alarm(SECONDS)
        try:
            answer = {"facts": tell(path)}
        except BaseException as refusal:  # pylint: disable=broad-except
            answer = {"refusal": repr(refusal)}
        with os.fdopen(input_, "w") as pipe:
            json.dump(answer, pipe)
        os._exit(0)
    os.close(input_)
    with os.fdopen(output) as pipe:
        answer = pipe.read()
    if os.waitpid(child, 0)[1] != 0:
        return None, f"no end after {SECONDS} s"
    answer = json.loads(answer)
    return answer.get("facts"), answer.get("refusal")


def tell(path):
    """The facts to compare."""
    with numpy.errstate(all="ignore"):
        reader = GGUFReader(path)
    tensors = []
    for tensor in reader.tensors:
        shape = [int(extent) for extent in reversed(tensor.shape)]
        kind = tensor.tensor_type.name.lower()
        tensors.append([tensor.name, kind, shape, int(tensor.n_bytes), int(tensor.data_offset)])
    fields = [field for field in reader.fields.values() if not field.name.startswith("GGUF.")]
    return {
        "order": "big" if reader.byte_order == "S" else "little",
        "metadata": [[field.name, plain(field.contents())] for field in fields],
        "tensors": tensors,
    }


def plain(value):
    """A value in comparable form: floats by their exact value, Booleans unchanged."""
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, float):
        return "nan" if value != value else value.hex()
    return value


def mine(entry):
    """A metadata value from our JSON, in the same form."""
    def item(value):
        if isinstance(value, list):
            return [item(one) for one in value]
        if kind in ("f32", "f64"):
            number = float(value)
            return plain(float(numpy.float32(number)) if kind == "f32" else number)
        return value
    kind = entry.get("dtype", entry["type"])
    value = item(entry["value"])
    while isinstance(value, list) and any(isinstance(one, list) for one in value):
        value = [one for inner in value for one in inner]  # the package flattens them
    return value


def compare(binary, path, other):
    """The difference between the two readings."""
    shown = subprocess.run([binary, "inspect", "--json", "--format", "gguf", str(path)],
                           capture_output=True, text=True, check=False)
    read = json.loads(shown.stdout)
    metadata = [[entry["key"], mine(entry)] for entry in read["metadata"]]
    if metadata != other["metadata"]:
        pairs = zip(metadata, other["metadata"])
        return f"metadata: {[pair for pair in pairs if pair[0] != pair[1]]}"
    tensors = []
    for tensor in read["tensors"]:
        chunk = tensor["chunks"][0] if tensor["chunks"] else {"stored": 0, "offset": 0}
        tensors.append([tensor["name"], tensor["dtype"], tensor["shape"],
                        chunk["stored"], chunk["offset"]])
        if tensor["endianness"] != other["order"]:
            return f"the byte order of {tensor['name']}"
    if tensors != other["tensors"]:
        return f"tensors: {tensors} and {other['tensors']}"
    return None


def elements(binary, folder, rng):
    """The number of elements of random blocks on which we and the package agree, and the types on
    which they disagree."""
    path, out = folder / "blocks.gguf", folder / "out.npy"
    writer = GGUFWriter(str(path), "none")
    expected = {}
    for name in BLOCKS:
        kind = GGMLQuantizationType[name]
        count, size = GGML_QUANT_SIZES[kind]
        rows = numpy.frombuffer(rng.randbytes(64 * 16 * size), dtype=numpy.uint8)
        rows = rows.reshape(64, 16 * size)
        writer.add_tensor(name, rows, raw_shape=rows.shape, raw_dtype=kind)
        with numpy.errstate(all="ignore"):
            expected[name] = dequantize(rows, kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    agreed, differing = 0, []
    for name, values in expected.items():
        subprocess.run([binary, "extract", str(path), name, "-o", str(out)],
                       check=True, capture_output=True)
        read = numpy.load(out)
        out.unlink()
        same = read.view("<u4") == values.view("<u4")
        # The bits of a NaN depend on the processor.
        if read.shape == values.shape and (same | numpy.isnan(read) & numpy.isnan(values)).all():
            agreed += values.size
        else:
            differing.append(f"{name}: dequantised differently")
    return agreed, differing


def damaged(bytes_, rng):
    """A copy with a few bytes changed, mostly before the data."""
    copy = bytearray(bytes_)
    for _ in range(rng.randint(1, 3)):
        at = rng.randrange(min(len(copy), 600))
        copy[at] = rng.choice([0, 1, 2, 7, 13, 32, 127, 255, copy[at] ^ 1, copy[at] ^ 0x80])
    return bytes(copy)


class Tally:
    """Counts which reader accepted how many files, and explains the differences."""

    def __init__(self, accepted, narrower):
        self.lists = accepted, narrower
        self.counts = {"both": 0, "neither": 0, "only the peer": 0, "only us": 0,
                       "unchecked": 0}
        self.reasons, self.unexplained = {}, []

    def add(self, path, report, accepts, note=""):
        """Records a file; returns whether both accept it."""
        valid = report["verdict"] == "valid"
        # For types of a later ggml and for deeply nested arrays, we do not vouch for the file.
        left = [item for item in report["unchecked"] if item["why"] != "payloads not asked for"]
        if valid and left:
            self.counts["unchecked"] += 1
            return False
        # Neither reader checks what keys mean: all such rules count as one.
        breaks = {}
        for finding in report["findings"]:
            rule = "KEYS-" if finding["rule"].startswith("KEYS-") else finding["rule"]
            if breaks.get(rule) in (None, "lint"):
                breaks[rule] = finding["severity"]
        if valid == accepts:
            self.counts["both" if valid else "neither"] += 1
            return valid
        self.counts["only us" if valid else "only the peer"] += 1
        accepted, narrower = self.lists
        if valid:
            used = {rule for rule in breaks if rule in narrower}
            if "big" in narrower and big(path):
                used.add("big")
            if "types" in narrower and "GGMLQuantizationType" in (note or ""):
                used.add("types")
            explained = bool(used)
        else:
            used = {rule for rule, severity in breaks.items() if severity != "lint"}
            explained = used <= accepted.keys()
        if not explained:
            self.unexplained.append(f"{path.name}: {sorted(breaks)} {note}")
        for rule in used:
            self.reasons[rule] = self.reasons.get(rule, 0) + 1
        return False

    def show(self, title):
        """Prints the counts, and reports unused excuses as unexplained."""
        known = self.lists[0] | self.lists[1]
        print(f"{title}: {sum(self.counts.values())} files: "
              + ", ".join(f"{n} {'' if who == 'unchecked' else 'accepted by '}{who}"
                          for who, n in self.counts.items()))
        for rule, n in sorted(self.reasons.items()):
            print(f"  {rule:<20} {n:>5}  {known.get(rule)}")
        unused = known.keys() - self.reasons.keys()
        self.unexplained += [f"{rule} is listed but never needed" for rule in unused]
        for line in self.unexplained:
            print("UNEXPLAINED", line)


def big(path):
    """Whether the file is big-endian, judging by its version."""
    return path.read_bytes()[4:6] == b"\0\0"


def main():
    binary, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    rng = random.Random(8)
    package, ggml = Tally(ACCEPTED, UNKNOWN), Tally(GGML, NARROWER)
    with tempfile.TemporaryDirectory() as temporary:
        temporary = pathlib.Path(temporary)
        paths = sorted(folder.glob("*.gguf"))
        for path in list(paths):
            content = path.read_bytes()
            if 24 < len(content) < 20_000:
                for i in range(COPIES):
                    copy = temporary / f"{path.stem}-{i}.gguf"
                    copy.write_bytes(damaged(content, rng))
                    paths.append(copy)
        reports = ours(binary, paths)
        for path, report in zip(paths, reports, strict=True):
            facts, refusal = theirs(path)
            if package.add(path, report, facts is not None, refusal):
                difference = compare(binary, path, facts)
                if difference:
                    package.unexplained.append(f"{path.name}: read differently: {difference}")
        package.show("gguf, the Python package")
        if len(sys.argv) > 3:
            listed = "".join(f"{path}\n" for path in paths)
            answers = subprocess.run([sys.argv[3]], input=listed, stdout=subprocess.PIPE, text=True,
                                     stderr=subprocess.DEVNULL, check=True).stdout.split()
            for path, report, answer in zip(paths, reports, answers, strict=True):
                ggml.add(path, report, answer == "accepts")
            ggml.show("ggml, gguf_init_from_file")
        agreed, differing = elements(binary, temporary, rng)
    print(f"{agreed} elements of {len(BLOCKS)} types match")
    for line in differing:
        print("UNEXPLAINED", line)
    return 1 if package.unexplained or ggml.unexplained or differing else 0


if __name__ == "__main__":
    sys.exit(main())
