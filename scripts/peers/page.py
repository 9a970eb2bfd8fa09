"""Replaces tables of a page: page.py PAGE TABLES. A table is known by its first cell. A new one goes in
the order of ORDER."""

import sys

ORDER = ["safetensors", "GGUF", "ONNX", "zTensor 2", "TensorFlow Lite", "ExecuTorch"]
ORDER += ["PyTorch", "PyTorch, sample corpus"]


def tables(text):
    """The tables of a text, by first cell."""
    parts = [part.strip() for part in text.split("\n\n")]
    return {part.split("|")[1].strip(): part for part in parts if part.startswith("|")}


page, new = sys.argv[1:3]
with open(page, encoding="utf-8") as file:
    text = file.read()
with open(new, encoding="utf-8") as file:
    all = {**tables(text), **tables(file.read())}
before = text[: text.index("\n| ") + 1]
with open(page, "w", encoding="utf-8") as file:
    file.write(before + "\n\n".join(sorted(all.values(), key=lambda it: ORDER.index(it.split("|")[1].strip()))) + "\n")
