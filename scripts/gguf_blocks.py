#!/usr/bin/env python3
"""Writes tests/data/gguf-blocks.bin: random blocks of every type that is decoded, with the values
that ggml's Python package computes for them. Also writes the tables of types whose codes index
entries, core/src/model/block/grids.

    pip install gguf==0.19.0
    python3 scripts/gguf_blocks.py

For each type: its number, elements and bytes of a block, the number of blocks (u32 each), the
blocks, and their elements as f32, all little-endian, compressed with zlib as a whole. Scales are
drawn from all 16-bit patterns; in addition, each scale of a block takes each value of SPECIAL once,
and then all scales together.
"""

import pathlib
import struct
import zlib

import numpy
from gguf.constants import GGML_QUANT_SIZES, GGMLQuantizationType
from gguf import quants
from gguf.quants import dequantize

TYPES = (
    "Q4_0 Q4_1 Q5_0 Q5_1 Q8_0 Q2_K Q3_K Q4_K Q5_K Q6_K TQ1_0 TQ2_0 IQ4_NL IQ4_XS MXFP4 NVFP4"
    " IQ1_S IQ1_M IQ2_XXS IQ2_XS IQ2_S IQ3_XXS IQ3_S"
).split()
ELEMENTS = 1024
# NaN, infinities, zeros, subnormals and the largest values; powers of two and 8-bit floats.
SPECIAL = {
    2: [0x7E00, 0x7C01, 0xFFFF, 0x7C00, 0xFC00, 0x0000, 0x8000, 0x0001, 0x83FF, 0x7BFF, 0xFBFF],
    1: [0x00, 0x01, 0x02, 0x07, 0x7E, 0x7F, 0x80, 0xFC, 0xFD, 0xFE, 0xFF],
}
# Offset and width of each scale; the default is two bytes at the start.
SCALES = {
    "Q4_1": [(0, 2), (2, 2)],
    "Q5_1": [(0, 2), (2, 2)],
    "Q4_K": [(0, 2), (2, 2)],
    "Q5_K": [(0, 2), (2, 2)],
    "Q2_K": [(80, 2), (82, 2)],
    "Q3_K": [(108, 2)],
    "Q6_K": [(208, 2)],
    "TQ1_0": [(52, 2)],
    "TQ2_0": [(64, 2)],
    "MXFP4": [(0, 1)],
    "NVFP4": [(0, 1), (1, 1), (2, 1), (3, 1)],
}


ROOT = pathlib.Path(__file__).parent.parent
GRIDS = "IQ1_S IQ2_XXS IQ2_XS IQ2_S IQ3_XXS IQ3_S".split()


def grid(name):
    """The entries of a table as words of 16 bits, with the first digit in the lowest bits."""
    kind = getattr(quants, name)
    kind.init_grid()
    digit = {value: i for i, value in enumerate(kind.grid_map)}
    bits = 2 if len(digit) == 3 else 3
    rows = kind.grid.reshape(kind.grid_shape).astype(int)
    entries = [sum(digit[value] << (bits * i) for i, value in enumerate(row)) for row in rows]
    return struct.pack(f"<{len(entries)}H", *entries)


def put(name, block, at, width, word):
    """Writes a scale."""
    if name == "IQ1_M":
        # The scale's bits are spread over the upper four bits of four words.
        for i in range(4):
            block[49 + 2 * i] = block[49 + 2 * i] & 0xF | (word >> 4 * i & 0xF) << 4
    else:
        block[at : at + width] = numpy.frombuffer(word.to_bytes(width, "little"), numpy.uint8)


def special(name, random, size):
    """Blocks with unusual scales."""
    scales = SCALES.get(name, [(0, 2)])
    chosen = [[scale] for scale in scales] + ([scales] if len(scales) > 1 else [])
    for some in chosen:
        for word in SPECIAL[scales[0][1]]:
            block = random.integers(0, 256, size, dtype=numpy.uint8)
            for at, width in some:
                put(name, block, at, width, word)
            yield block


def main():
    for name in GRIDS:
        (ROOT / f"core/src/model/block/grids/{name.lower()}.bin").write_bytes(grid(name))
    random = numpy.random.default_rng(20261121)
    out = bytearray()
    for name in TYPES:
        kind = GGMLQuantizationType[name]
        count, size = GGML_QUANT_SIZES[kind]
        blocks = random.integers(0, 256, (ELEMENTS // count, size), dtype=numpy.uint8)
        blocks = numpy.vstack([blocks, *special(name, random, size)])
        with numpy.errstate(all="ignore"):
            values = dequantize(blocks, kind).astype("<f4")
        out += struct.pack("<4I", kind.value, count, size, len(blocks))
        out += blocks.tobytes() + values.tobytes()
    place = ROOT / "tests/data/gguf-blocks.bin"
    place.parent.mkdir(exist_ok=True)
    packed = zlib.compress(out, 9)
    place.write_bytes(packed)
    print(f"{place.name}: {len(TYPES)} types, {len(out)} bytes, {len(packed)} packed")


main()
