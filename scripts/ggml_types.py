#!/usr/bin/env python3
"""Compares our reading of every GGUF element type with files that ggml wrote.

    scripts/ggml_types.py target/debug/weighbridge target/peers/ggml/read FOLDER

The second argument is the program of scripts/peers/ggml.cpp, which writes a file of each type to
FOLDER. Each must be valid here, with the type's name, blocks of the same size, the next tensor
where ggml put it, and bit-identical elements if both programs decode the blocks. The block sizes
must match the table that a test of the core pins (TABLE). Any difference is printed, and the exit
code is 1.
"""

import json
import pathlib
import re
import struct
import subprocess
import sys

TABLE = "core/src/format/gguf/elements.rs"


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, check=False)


def pinned():
    """Name, elements and bytes of a block by number, from the table in the core."""
    text = (pathlib.Path(__file__).parent.parent / TABLE).read_text()
    table = text[text.index("const GGML:"):]
    table = table[:table.index("];")]
    return re.findall(r'\("(\w*)", (\d+), (\d+)\)', table)


def is_nan(bits):
    return bits & 0x7F800000 == 0x7F800000 and bits & 0x007FFFFF != 0


def equal(ours, theirs):
    """Whether floats are bit-identical; the bits of a NaN depend on the processor."""
    count = len(theirs) // 4
    if len(ours) != len(theirs):
        return False
    pairs = zip(struct.unpack(f"<{count}I", ours), struct.unpack(f"<{count}I", theirs))
    return all(a == b or is_nan(a) and is_nan(b) for a, b in pairs)


def faults(binary, folder, number, name, block, width, size):
    """Yields our differences from ggml."""
    path = folder / f"{number}.gguf"
    checked = run(binary, "check", "--json", str(path))
    if checked.returncode != 0:
        yield f"is not valid: {checked.stdout.strip()}"
    tensors = {t["name"]: t for t in json.loads(run(binary, "inspect", "--json", str(path)).stdout)["tensors"]}
    blocks, last = tensors["blocks"], tensors["last"]
    if blocks["dtype"] != name.lower():
        yield f"is called {blocks['dtype']}"
    if blocks["shape"] != [3, 2 * block] or size != 6 * width:
        yield f"has the shape {blocks['shape']}"
    if blocks["chunks"][0]["stored"] != size:
        yield f"has {blocks['chunks'][0]['stored']} bytes, not {size}"
    end = blocks["chunks"][0]["offset"] + size
    if last["chunks"][0]["offset"] != (end + 31) // 32 * 32:
        yield f"the tensor after it lies at {last['chunks'][0]['offset']}"


def main():
    binary, writer, folder = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
    folder.mkdir(parents=True, exist_ok=True)
    wrong, apart, types = [], 0, 0
    table = pinned()
    lines = run(writer, str(folder)).stdout.splitlines()
    if len(lines) != len(table):
        wrong.append(f"ggml has {len(lines)} numbers, and {TABLE} {len(table)}")
    for line, (known, count, bytes_) in zip(lines, table):
        number, name, block, width, size = line.split()
        if name == "-":
            if known:
                wrong.append(f"{number} is not a ggml type, but {known} in {TABLE}")
            continue
        if (name.lower(), block, width) != (known, count, bytes_):
            wrong.append(f"{line}: {TABLE} has {known} {count} {bytes_}")
        types += 1
        wrong += [f"{name}: {fault}" for fault in
                  faults(binary, folder, number, name, int(block), int(width), int(size))]
        values, out = folder / f"{number}.f32", folder / f"{number}.npy"
        out.unlink(missing_ok=True)
        extracted = run(binary, "extract", str(folder / f"{number}.gguf"), "blocks", "-o", str(out))
        if extracted.returncode not in (0, 3):
            wrong.append(f"{name}: extract: {extracted.stderr.strip()}")
        if int(block) > 1 and values.exists() and extracted.returncode == 0 and out.exists():
            apart += 1
            data = out.read_bytes()
            if not equal(data[-values.stat().st_size:], values.read_bytes()):
                wrong.append(f"{name}: elements differ from ggml's")
    if not apart:
        wrong.append("no blocks were decoded")
    print(f"ggml wrote a file of each of its {types} types; the blocks of {apart} decode identically"
          if not wrong else "\n".join(["files written by ggml:", *wrong]))
    sys.exit(bool(wrong))


main()
