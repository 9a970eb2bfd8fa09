#!/usr/bin/env python3
"""Writes tests/data/gguf-blocks.bin: random blocks of every type that is taken
apart, and what the Python package of ggml makes of them.

    pip install gguf==0.19.0
    python3 scripts/gguf_blocks.py

For each type: its number, elements and bytes of a block, the number of blocks
(u32 each), the blocks, and their elements as f32, all little-endian. Scales are
drawn from all 16-bit patterns, so that infinities, NaN and subnormals occur.
"""

import pathlib
import struct

import numpy
from gguf.constants import GGML_QUANT_SIZES, GGMLQuantizationType
from gguf.quants import dequantize

TYPES = "Q4_0 Q4_1 Q5_0 Q5_1 Q8_0 Q2_K Q3_K Q4_K Q5_K Q6_K TQ2_0 IQ4_NL IQ4_XS MXFP4".split()
ELEMENTS = 1024


def main():
    random = numpy.random.default_rng(20261121)
    out = bytearray()
    for name in TYPES:
        kind = GGMLQuantizationType[name]
        count, size = GGML_QUANT_SIZES[kind]
        blocks = random.integers(0, 256, (ELEMENTS // count, size), dtype=numpy.uint8)
        with numpy.errstate(all="ignore"):
            values = dequantize(blocks, kind).astype("<f4")
        out += struct.pack("<4I", kind.value, count, size, len(blocks))
        out += blocks.tobytes() + values.tobytes()
    place = pathlib.Path(__file__).parent.parent / "tests/data/gguf-blocks.bin"
    place.parent.mkdir(exist_ok=True)
    place.write_bytes(out)
    print(f"{place.name}: {len(TYPES)} types, {len(out)} bytes")


main()
