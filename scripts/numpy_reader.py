"""Runs damaged copies of NPY and NPZ files through NumPy, zipfile and Weighbridge.

    numpy_reader.py VERDICTS FILES [COUNT [SEED]]

VERDICTS is the example `verdicts` of the tests, FILES a folder with files in `npy` and `npz`. What
NumPy or zipfile refuses must be fatal here, or be listed below; what NumPy loads must not be fatal,
and must have the same shape, type and bytes, or be listed below.
"""

import collections
import io
import pathlib
import random
import resource
import struct
import subprocess
import sys
import tempfile
import warnings
import zipfile
import zlib

import numpy

# Rules that are fatal although NumPy loads the file, and why the specification supports us.
STRICTER = {
    "NPY-SYNTAX": "Python literals in other forms: comments, other bases, joined strings",
    "NPY-SHAPE": "bools are integers to Python",
    "NPY-SHAPE-NEGATIVE": "an extent of -1 is taken for whatever is there",
    "NPY-SHAPE-SIZE": "a product that wraps beside an extent of 0",
    "NPY-DESCR": "types of other platforms, aliases",
    "NPY-DEPTH": "a limit",
    "NPY-UTF8": "a limit of the form",
    "NPZ-SIZE": "bytes after an array, which zipfile then does not verify",
    "NPZ-NONE": "no member is an array",
    "NPZ-MAGIC": "not checked by zipfile",
    "ZIP-DISK": "zipfile ignores disk numbers",
    "ZIP-OVERLAP": "zipfile before 3.11.8 does not look for overlaps",
    "ZIP-NAME-NUL": "zipfile ends the name there",
    "ZIP64-RECORD": "zipfile skips what it cannot read",
    "ZIP64-DIFFERS": "zipfile takes either",
    "ZIP64-EXTRA": "zipfile takes the first of several fields",
    "ZIP-SIZE-STORED": "zipfile takes one of the sizes",
    "ZIP-LOCAL-TRUNCATED": "zipfile reads on into the directory",
    "ZIP-DATA-END": "zipfile reads on into the directory",
    "ZIP-ENCRYPTED": "zipfile checks only bit 0",
    "ZIP-EXTRA": "zipfile skips the fields of other systems",
    "NPY-LENGTH": "a header that NumPy reads in part",
    "NPY-MAGIC": "NumPy hands such a member out as bytes",
    "ZIP-DIRECTORY": "zipfile looks for the directory before the end record",
    "ZIP-TRUNCATED": "zipfile takes what is left of a comment or of extra fields",
    "ZIP-DEFLATE-SIZE": "zipfile does not compare the size of a stream that ends",
    "NPZ-DUPLICATE": "NumPy loads the last of equal names only",
    "NPZ-PICKLE": "NumPy hands a pickle out as bytes",
    "ZIP-DEFLATE": "zipfile does not ask for the end of a stream that has all its bytes",
    "ZIP64-MISSING": "zipfile takes numbers of all ones as they are",
}
# NumPy errors, by part of their message, for files that are not fatal here, and why.
LAXER = {
    "max_header_size": "a limit of numpy.load (NPY-HEADER-LONG)",
    "is too large": "a limit of numpy.load (NPY-HEADER-LONG)",
    "occurs more than once": "names of fields are not compared",
    "title": "titles of fields are not compared",
    "duplicate": "names of fields are not compared",
    "not understood": "types of other platforms; field names are not decoded",
    "MemoryError": "more memory than is available",
    "Unable to allocate": "more memory than is available",
    "array is too big": "an element of no bytes",
    "unicode": "escapes in names of fields",
    "codec can't decode": "escapes in names of fields",
    "itemsize": "an element of no bytes",
}
# The same, if a given non-fatal rule was broken.
LAXER_WITH = {
    ("NPY-PADDING", "Cannot parse header"): "a line after a newline in the padding, indented to Python",
    ("NPY-SPACE", "Cannot parse header"): "a dictionary on a second line, indented to Python",
    ("ZIP-APPENDED", "BadZipFile"): "bytes after the archive, through which zipfile does not look far enough",
}


def load(kind, data):
    """The arrays by name, or the error message."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            if kind == "npy":
                return {"": numpy.load(io.BytesIO(data), allow_pickle=False)}
            archive = zipfile.ZipFile(io.BytesIO(data))
            for member in archive.infolist():
                try:
                    archive.read(member)
                except Exception as error:
                    return f"testzip: {type(error).__name__}: {error}: {member.filename}"
            loaded = numpy.load(io.BytesIO(data), allow_pickle=False)
            return {name: loaded[name] for name in loaded.files}
        except MemoryError:
            return "MemoryError"
        except Exception as error:  # Any exception is a refusal.
            return f"{type(error).__name__}: {error}"


NAMES = {"b1": "bool", "c8": "c64", "c16": "c128"}


def fact(array, layout):
    kind = array.dtype.str[1:]
    known = array.dtype.kind in "biufc" and array.dtype.names is None
    known = known and array.dtype.itemsize <= (16 if array.dtype.kind == "c" else 8)
    name = NAMES.get(kind, f"{kind[0]}{8 * array.dtype.itemsize}") if known else "unknown"
    order = "F" if layout == "column-major" else "C"
    return name, list(array.shape), f"{zlib.crc32(array.tobytes(order)):08x}"


TOKENS = [b"'<f4'", b"'>f8'", b"'|b1'", b"'|O'", b"'<U3'", b"'|S2'", b"True", b"False", b"()", b"(0,)",
          b"(1, 2)", b"3L", b"-1", b", ", b":", b"{", b"}", b"[", b"]", b"('a', '<i4')", b"\n", b"\t", b" ",
          b"shape", b"descr", b"'<M8[ns]'", b"'f4'", b"'float32'", b"'<i1'", b"9223372036854775807"]


def damage(rng, data):
    data = bytearray(data)
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        if not data:
            break
        at = rng.randrange(len(data))
        if rng.random() < 0.5:
            at = min(at, rng.randrange(1, 130))
        elif rng.random() < 0.5:
            at = max(at, len(data) - rng.randrange(1, 200), 0)
        at = min(at, len(data) - 1)
        match rng.randrange(8):
            case 0:
                data[at] = rng.randrange(256)
            case 1:
                data[at] ^= 1 << rng.randrange(8)
            case 2:
                data[at:at + 1] = bytes([rng.randrange(32, 127)])
            case 3:
                token = rng.choice(TOKENS)
                data[at:at + rng.choice([0, len(token)])] = token
            case 4:
                del data[at:at + rng.choice([1, 1, 2, 4, 16])]
            case 5:
                number = rng.choice([0, 1, 0xFF, 0xFFFF, 0xFFFFFFFF, rng.randrange(1 << 32)])
                width = rng.choice(["<H", "<I"])
                packed = struct.pack(width, number & (0xFFFF if width == "<H" else 0xFFFFFFFF))
                data[at:at + len(packed)] = packed
            case 6:
                start = rng.randrange(len(data))
                data[at:at] = data[start:start + rng.randrange(1, 40)]
            case 7:
                if rng.random() < 0.3:
                    del data[at:]
                else:
                    data[at] = (data[at] + rng.choice([1, 255])) % 256
    return bytes(data)


def has_no_end(data):
    """Whether some stream contains all bytes of its member, and is then truncated or faulty."""
    for member in zipfile.ZipFile(io.BytesIO(data)).infolist():
        if member.compress_type != zipfile.ZIP_DEFLATED:
            continue
        name, extra = struct.unpack_from("<HH", data, member.header_offset + 26)
        start = member.header_offset + 30 + name + extra
        stream, size = zlib.decompressobj(-15), 0
        try:
            for byte in data[start:start + member.compress_size]:
                size += len(stream.decompress(bytes([byte])))
        except zlib.error:
            pass
        if size >= member.file_size and not stream.eof:
            return True
    return False


def main():
    verdicts, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    count = int(sys.argv[3]) if len(sys.argv) > 3 else 50_000
    rng = random.Random(int(sys.argv[4]) if len(sys.argv) > 4 else 1)
    resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
    files = [(kind, path.read_bytes()) for kind in ("npy", "npz") for path in sorted((folder / kind).iterdir())]
    small = [(kind, data) for kind, data in files if len(data) < 6_000]
    ours = subprocess.Popen([verdicts], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    seen, wrong = collections.Counter(), collections.Counter()
    for number in range(len(files) + count):
        kind, data = files[number] if number < len(files) else rng.choice(small)
        if number >= len(files):
            data = damage(rng, data)
        ours.stdin.write((b"z" if kind == "npz" else b"y") + struct.pack("<I", len(data)) + data)
        ours.stdin.flush()
        worst, rules, *tensors = ours.stdout.readline().decode().rstrip("\n").split("\t")
        rules = rules.split()
        theirs = load(kind, data)
        refused = isinstance(theirs, str)
        fatal = worst == "fatal"
        unsure = any(rule in rules for rule in
                     ("NPY-DESCR-FORM", "ZIP-METHOD", "NPZ-MEMBER", "NPZ-HEADER-LIMIT", "NPZ-STREAM-LIMIT",
                      "NPZ-SHAPE-LIMIT"))
        if unsure and not fatal:
            seen[kind, "unchecked here"] += 1
        elif refused and fatal:
            seen[kind, "refused by both"] += 1
        elif refused:
            why = next((why for text, why in LAXER.items() if text in theirs), None) or next(
                (why for (rule, text), why in LAXER_WITH.items() if rule in rules and text in theirs), None)
            seen[kind, "refused by NumPy: " + (why or "?")] += 1
            if why is None:
                wrong[kind, "NumPy refuses", theirs[:100], worst, " ".join(rules)] += 1
                keep(kind, data)
        elif fatal:
            objects = any(getattr(array, "dtype", None) == object for array in theirs.values())
            # Only for streams that have all their bytes but no sound end.
            why = next((rule for rule in rules if rule in STRICTER and
                        (rule != "ZIP-DEFLATE" or has_no_end(data))), None)
            if kind == "npz" and why is None:
                names = zipfile.ZipFile(io.BytesIO(data)).namelist()
                why = "NPZ-DUPLICATE" if len(set(names)) < len(names) else None
            seen[kind, "fatal here: " + (why or "?")] += 1
            if why is None or objects:
                wrong[kind, "NumPy loads", worst, " ".join(rules)] += 1
                keep(kind, data)
        else:
            seen[kind, "accepted by both"] += 1
            for tensor in tensors:
                name, dtype, _, layout, shape, crc = tensor.split("|")
                name = bytes.fromhex(name).decode("utf-8", "replace")
                array = theirs.get(name) if kind == "npz" else theirs[""]
                passed = {"ZIP-NAME-CODE-PAGE", "ZIP-NAME-AGAIN", "ZIP-DEFLATE-REST", "NPZ-DUPLICATE",
                          "NPZ-NAME-SUFFIX"}
                if not isinstance(array, numpy.ndarray) or passed.intersection(rules):
                    continue
                expected = fact(array, layout)
                if array.dtype.names is not None:
                    # The padding bytes between fields are not kept.
                    crc = expected[2]
                if (dtype, eval(shape), crc) != expected and 0 not in array.shape and array.dtype.itemsize:
                    wrong[kind, "differs", str(expected), tensor] += 1
                    keep(kind, data)
    for key, value in sorted(seen.items()):
        print(f"{value:7} {key[0]}: {key[1]}")
    for key, value in wrong.most_common(40):
        print("WRONG", value, *key)
    sys.exit(1 if wrong else 0)


KEPT = collections.Counter()


def keep(kind, data):
    KEPT[kind] += 1
    if KEPT[kind] <= 200:
        folder = pathlib.Path(tempfile.gettempdir(), "numpy-reader")
        folder.mkdir(exist_ok=True)
        (folder / f"{KEPT[kind]:03}.{kind}").write_bytes(data)


if __name__ == "__main__":
    main()
