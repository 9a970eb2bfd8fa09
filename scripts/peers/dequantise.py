"""How fast ggml's Python package converts blocks to f32 with NumPy: dequantise.py
BLOCKS ELEMENTS ROUNDS, like tests/examples/dequantise.rs."""

import sys
import time

import numpy
from gguf.constants import GGML_QUANT_SIZES, GGMLQuantizationType
from gguf.quants import dequantize

TYPES = "Q4_0 Q5_0 Q8_0 Q2_K Q3_K Q4_K Q5_K Q6_K IQ4_NL".split()

path, elements, rounds = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
data = numpy.fromfile(path, dtype=numpy.uint8)
for name in TYPES:
    kind = GGMLQuantizationType[name]
    count, size = GGML_QUANT_SIZES[kind]
    blocks = data[: elements // count * size].reshape(-1, size)
    least = float("inf")
    for _ in range(rounds):
        begun = time.perf_counter()
        out = dequantize(blocks, kind)
        least = min(least, time.perf_counter() - begun)
        assert out.size == elements and out.dtype == numpy.float32
    print(name.lower(), f"{elements * 4 / 1e9 / least:.3f}")
