"""Reads OINF files with the published Python package.

    pip install openinfer-oinf==0.1.1

Its verifier prints what it reads. The functions that shorten values for printing are replaced here
by functions that print all values.
"""

import json

import numpy
import oinf_verify

FORMAT = "oinf"

# Rules that the package does not check, with the reason.
ACCEPTED = {
    "HDR-FLAGS": "header flags are not checked",
    "HDR-RESERVED": "reserved fields are not checked",
    "HDR-PAD": "padding is not checked",
    "HDR-OVERLAP": "sections may lie in the header",
    "FILE-TAIL-ALIGN": "the length is only compared with the header",
    "TABLE-OVERRUN": "the tensor table is held to its fixed fields only",
    "TABLE-SLACK": "padding is not checked",
    "TENSOR-NDIM": "extents may lie in the data section",
    "STR-LEN": "strings are held to the end of the file, not of their section",
    "STR-CHARSET": "a regular expression with $ lets a line feed at the end pass",
    "STR-PAD": "padding is not checked",
    "META-BOOL": "any byte but 0 is true",
    "META-T2": "the code 10 is read as -2",
    "META-BITSET-PAD": "padding is not checked",
    "META-ND-PAD": "padding is not checked",
    "META-ND-BOOL": "any byte but 0 is true",
    "META-ND-T2": "the code 10 is read as -2",
    "META-ND-OVERFLOW": "products are computed in 64 bits and may wrap",
    "TENSOR-FLAGS": "unknown flags are not checked",
    "TENSOR-BOOL": "any byte but 0 is true",
    "TENSOR-T2": "the code 10 is read as -2",
    "TENSOR-NUMEL": "products are not computed for tensors without data, or wrap",
    "TENSOR-SIZE": "products are computed in 64 bits and may wrap",
    "PAYLOAD-OVERLAP": "payloads may share bytes",
    "PAYLOAD-GAP-NONZERO": "padding is not checked",
}

# Files that the package refuses and we accept, by its message.
ONLY_OURS = {
    "Unsupported version 2": "only git HEAD reads version 2, which no release does",
    "object too deep for desired array": "statistics of a Boolean matrix fail, not the file",
    "cannot reshape array of size 0": "an empty product is computed in 64 bits and wraps",
}


def tell(path):
    """The facts to compare."""
    lines = []
    as_text = lambda value: json.dumps(plain(value))
    replaced = {
        "print": lambda *line: lines.extend(line),
        "format_values": as_text,
        "format_scalar": as_text,
        "histogram_string": lambda _: "",
        "_tensor_stats": lambda _: dict.fromkeys(
            ["nbytes", "min", "max", "mean", "median", "std"], 0),
    }
    for name, function in replaced.items():
        setattr(oinf_verify, name, function)
    with numpy.errstate(all="ignore"):
        oinf_verify.parse_file(path)
    return [line for line in lines if not line.startswith(("- [", "- hist"))]


def plain(value):
    """Numbers unchanged, NaN as text."""
    if isinstance(value, numpy.ndarray):
        return [plain(item) for item in value.reshape(-1)]
    if isinstance(value, numpy.generic):
        value = value.item()
    if isinstance(value, float) and not numpy.isfinite(value):
        return str(value)
    return value


def ours(shown):
    """The same facts from `inspect --json`."""
    lines = []
    for entry in shown["metadata"]:
        key, kind, value = entry["key"], entry["type"], entry.get("value")
        if kind == "sizevar":
            lines.append(f"{key} := {value}")
        elif kind == "ndarray":
            dims = ", ".join(map(str, entry["shape"]))
            lines.append(f"{key}: {name(entry['dtype'])}[{dims}] = {text(flat(value))}")
        elif kind == "bitset":
            lines.append(f"{key}: bitset")
        else:
            lines.append(f"{key}: {name(kind)} = {text(value)}")
    for tensor in shown["tensors"]:
        key, dims = tensor["name"], ", ".join(map(str, tensor["shape"]))
        values = tensor.get("values")
        if not tensor["chunks"] or 0 in tensor["shape"]:
            lines.append(f"{key}: {name(tensor['dtype'])}[{dims}] -- uninitialized")
        elif len(values) == 1:
            lines.append(f"{key}: {name(tensor['dtype'])} = {text(values[0])}")
        else:
            lines.append(f"{key}: {name(tensor['dtype'])}[{dims}] = {text(values)}")
    return lines


def name(dtype):
    """The package's name for a type."""
    return {"f8e5m2": "f8", "string": "str"}.get(dtype, dtype)


def flat(value):
    """Flattens nested arrays into one list."""
    return [item for part in value for item in flat(part)] if isinstance(value, list) else [value]


def text(value):
    words = {"NaN": "nan", "Infinity": "inf", "-Infinity": "-inf"}
    word = lambda item: words.get(item, item) if isinstance(item, str) else item
    return json.dumps([word(item) for item in value] if isinstance(value, list) else word(value))


def same(mine, theirs):
    """Whether two lines have the same meaning."""
    mine, theirs = mine.strip(), theirs.strip()
    if mine.endswith(": bitset"):
        # For a set of bits the package shows the first bytes.
        return theirs.startswith(mine + "[")
    # It reads NaN in F8 as infinite.
    fold = lambda line: line.replace('"nan"', '"inf"').replace('"-inf"', '"inf"')
    return mine == theirs or (": f8" in mine and fold(mine) == fold(theirs))
