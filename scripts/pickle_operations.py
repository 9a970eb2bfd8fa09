"""Compares the operations of pickles with those that Python's pickletools reads.

    pickle_operations.py OPERATIONS [FOLDER [COUNT [SEED]]]

OPERATIONS is the example `operations` of the tests, FOLDER has checkpoints, such as the fixtures
of PyTorch. Their pickles, and pickles that Python writes in each protocol, are read by both, whole
and damaged. Every operation that is carried out here is at the offset that pickletools says, with
its argument; a pickle that ends here ends there too.
"""

import collections
import io
import pathlib
import pickle
import pickletools
import random
import struct
import subprocess
import sys
import zipfile

# What pickletools refuses and a scan does not: it looks at texts only if they name something.
LAXER = ("codec can't decode", "could not convert", "invalid literal", "repr", "escape", "quotes", "Trailing")


def samples():
    """Pickles that Python writes."""
    tree = [
        None, True, False, 0, 1, 255, 256, 65536, -1, 1 << 31, 1 << 63, -(1 << 100), 1.5, "", "é",
        "x" * 300, b"", b"abc", b"y" * 300, (), (1,), (1, 2), (1, 2, 3), (1, 2, 3, 4), {}, {"a": [1]},
        set(), {1, 2}, frozenset([3]), bytearray(b"z"), collections.OrderedDict(a=1), complex(1, 2),
    ]
    shared = ["memo"]
    for value in (*tree, tree, [shared, shared, {"again": shared}], list(range(300))):
        for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
            yield pickle.dumps(value, protocol)


def of_checkpoints(folder):
    """The pickles in archives."""
    for path in sorted(pathlib.Path(folder).iterdir()):
        try:
            with zipfile.ZipFile(path) as archive:
                for name in archive.namelist():
                    if name.endswith(".pkl"):
                        yield archive.read(name)
        except (zipfile.BadZipFile, OSError, NotImplementedError):
            yield path.read_bytes()[:4096]


def damaged(content, rng):
    content = bytearray(content)
    for _ in range(rng.randint(1, 3)):
        at = rng.randrange(len(content) + 1)
        kind = rng.randrange(4)
        if kind == 0:
            content[at : at + 1] = bytes([rng.randrange(256)])
        elif kind == 1:
            del content[at : at + rng.randint(1, 4)]
        elif kind == 2:
            content[at:at] = bytes(rng.choice(pickletools.opcodes).code, "latin-1")
        else:
            del content[at:]
    return bytes(content)


def argument(opcode, value):
    """The argument as the example prints it."""
    if opcode.name in ("NEWTRUE", "NEWFALSE"):
        return str(int(opcode.name == "NEWTRUE"))
    if opcode.name in ("STRING", "UNICODE", "PERSID", "GLOBAL", "INST", "LONG4", "FLOAT") or value is None:
        return None
    if opcode.name == "EXT4":
        return str(value % (1 << 32))  # A code below 1 is refused in either spelling.
    if isinstance(value, (bool, int)):
        return str(int(value)) if -(1 << 63) <= value < 1 << 63 else None
    if isinstance(value, float):
        return struct.pack(">d", value).hex() if value == value else None
    if isinstance(value, str):
        if opcode.name in ("BINSTRING", "SHORT_BINSTRING"):
            return "x" + value.encode("latin-1").hex()
        return "x" + value.encode("utf-8", "surrogatepass").hex()
    return "x" + bytes(value).hex()


def theirs(content):
    found, why = [], None
    try:
        for opcode, value, at in pickletools.genops(io.BytesIO(content)):
            found.append((at, ord(opcode.code), argument(opcode, value)))
    except Exception as error:  # noqa: BLE001 - whatever it raises is a refusal
        why = str(error)
    return found, why


def difference(content, line):
    end, at, *operations = line.split(" ")
    found, why = theirs(content)
    ours = [operation.split(":") for operation in operations]
    for number, (place, byte, shown) in enumerate(ours):
        if number >= len(found):
            return None if why and any(text in why for text in LAXER) else f"more operations: {why}"
        place_there, byte_there, shown_there = found[number]
        if (int(place), int(byte)) != (place_there, byte_there):
            return f"operation {number}: {place}:{byte}, {place_there}:{byte_there}"
        if shown_there is not None and shown != "-" and shown != shown_there:
            return f"argument of operation {number} at {place}: {shown}, {shown_there}"
    if end == "stopped" and (why or len(found) != len(ours)):
        return f"it ends at {at}: {why or len(found)}"
    return None


def main():
    program, *rest = sys.argv[1:]
    rng = random.Random(int(rest[2]) if len(rest) > 2 else 1)
    count = int(rest[1]) if len(rest) > 1 else 60
    sound = [*samples(), *(of_checkpoints(rest[0]) if rest else ())]
    ends, wrong, compared = collections.Counter(), [], 0
    with subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as scan:
        for content in sound:
            for copy in (content, *(damaged(content, rng) for _ in range(count))):
                scan.stdin.write(struct.pack("<I", len(copy)) + copy)
                scan.stdin.flush()
                line = scan.stdout.readline().decode().rstrip("\n")
                ends[line.split(" ")[0]] += 1
                compared += line.count(" ") - 1
                why = difference(copy, line)
                if why:
                    wrong.append(f"{why}: {copy[:200].hex()}")
        scan.stdin.close()
    for line in wrong[:20]:
        print(line)
    kinds = ", ".join(f"{number} {kind}" for kind, number in sorted(ends.items()))
    print(f"pickletools: {sum(ends.values())} pickles ({kinds}), {compared} operations, {len(wrong)} differences")
    sys.exit(1 if wrong or ends["stopped"] < len(sound) // 2 else 0)


main()
