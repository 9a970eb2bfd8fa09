"""Compares host/src/analyse/gguf_names.rs with gguf-py: its converter must produce each name for
some architecture."""

import re
import sys
from collections import defaultdict
from pathlib import Path

import gguf

# The names in gguf-py, by each suffix of a `transformers` name that starts after a dot.
known = defaultdict(set)
for architecture in gguf.MODEL_TENSORS:
    for theirs, (_, name) in gguf.get_tensor_name_map(architecture, 1).mapping.items():
        parts = theirs.split(".")
        for i in range(len(parts)):
            known[".".join(parts[i:])].add(name.removeprefix("blk.0."))

source = Path("host/src/analyse/gguf_names.rs").read_text()
rows = re.findall(r'^    \("([^"]+)", "([^"]+)"\),$', source, re.MULTILINE)
wrong = [(theirs, ours) for theirs, ours in rows if ours not in known[theirs]]
for theirs, ours in wrong:
    print(f"{theirs}: gguf-py has {sorted(known[theirs])}, not {ours}", file=sys.stderr)
print(f"names: {len(rows) - len(wrong)} of {len(rows)} match gguf-py")
sys.exit(1 if wrong or len(rows) < 90 else 0)
