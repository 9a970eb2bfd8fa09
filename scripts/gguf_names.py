"""Compares host/src/names.rs with gguf-py: its converter must give each name in some
architecture."""

import re
import sys
from collections import defaultdict
from pathlib import Path

import gguf

# Names of gguf-py by each end of a name of `transformers` that begins after a dot.
known = defaultdict(set)
for architecture in gguf.MODEL_TENSORS:
    for theirs, (_, name) in gguf.get_tensor_name_map(architecture, 1).mapping.items():
        parts = theirs.split(".")
        for i in range(len(parts)):
            known[".".join(parts[i:])].add(name.removeprefix("blk.0."))

source = Path("host/src/names.rs").read_text()
rows = re.findall(r'^    \("([^"]+)", "([^"]+)"\),$', source, re.MULTILINE)
wrong = [(theirs, ours) for theirs, ours in rows if ours not in known[theirs]]
for theirs, ours in wrong:
    print(f"{theirs}: gguf-py has {sorted(known[theirs])}, not {ours}", file=sys.stderr)
print(f"names: {len(rows) - len(wrong)} of {len(rows)} match gguf-py")
sys.exit(1 if wrong or len(rows) < 90 else 0)
