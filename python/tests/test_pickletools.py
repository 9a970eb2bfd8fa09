"""Checkpoints through Python's own `pickletools` and `zipfile`: the same operations and members."""

from __future__ import annotations

import io
import json
import pickletools
import struct
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any, Dict, Iterator, List, Tuple

import pytest

#: Bytes of a local header before the name.
LOCAL = 30

pytestmark = pytest.mark.skipif(
    sys.implementation.name != "cpython", reason="pickletools of other interpreters may differ"
)


def inspected(command: str, path: Path, *options: str) -> Dict[str, Any]:
    run = subprocess.run([command, "inspect", "--json", *options, path], capture_output=True, check=False)
    assert run.returncode in (0, 1, 3), run.stderr
    return dict(json.loads(run.stdout))


def members(path: Path) -> Dict[str, Tuple[int, zipfile.ZipInfo]]:
    """The members of an archive, each with the offset of its data."""
    found = {}
    with zipfile.ZipFile(path) as archive, path.open("rb") as file:
        for info in archive.infolist():
            file.seek(info.header_offset)
            name, extra = struct.unpack("<HH", file.read(LOCAL)[26:])
            found[info.filename] = (info.header_offset + LOCAL + name + extra, info)
    return found


def archives(fixtures: Path) -> Iterator[Path]:
    for path in sorted((fixtures / "pytorch").iterdir()):
        try:
            with zipfile.ZipFile(path) as archive:
                names = archive.namelist()
                if len(set(names)) == len(names) and archive.testzip() is None:
                    yield path
        except (zipfile.BadZipFile, OSError, NotImplementedError, RuntimeError, EOFError, struct.error):
            pass


def theirs(pickle: bytes) -> Tuple[List[Tuple[int, str]], bool]:
    """Offsets and names of the operations, and whether pickletools read all of them."""
    found = []
    try:
        for opcode, _, at in pickletools.genops(io.BytesIO(pickle)):
            found.append((at or 0, opcode.name))
    except Exception:  # noqa: BLE001 - whatever it raises ends the pickle
        return found, False
    return found, True


def test_operations_are_those_of_pickletools(fixtures: Path, command: str) -> None:
    files = operations = 0
    for path in archives(fixtures):
        found = members(path)
        objects = [(at, info) for name, (at, info) in found.items() if name.endswith("/data.pkl")]
        if len(objects) != 1 or objects[0][1].compress_type != zipfile.ZIP_STORED:
            continue
        ((at, info),) = objects
        pickle = path.read_bytes()[at : at + info.file_size]
        listed = inspected(command, path, "--opcodes=10000", "--at", str(at)).get("operations", [])
        for ours in (it for it in listed if it["offset"] == at):
            names = [(it["offset"] - at, it["name"]) for it in ours["operations"]]
            expected, is_all = theirs(pickle)
            # It refuses texts and numbers that are only reported here, and ends there.
            most = len(names) if is_all else len(expected)
            assert names[:most] == expected[: len(names)], path.name
            files += 1
            operations += len(names)
    assert files > 50 and operations > 1000, (files, operations)


def test_storages_are_members_of_zipfile(fixtures: Path, command: str) -> None:
    files = storages = 0
    for path in archives(fixtures):
        found = members(path)
        shown = inspected(command, path)
        if shown["format"] != "pytorch" or shown["verdict"] != "valid":
            continue
        (top,) = {name.split("/")[0] for name in found}
        for storage in shown.get("storages", []):
            at, info = found[f"{top}/data/{storage['key']}"]
            assert storage["offset"] == at, path.name
            assert (storage["stored"], storage["size"]) == (info.compress_size, info.file_size), path.name
            assert (storage["crc"] or 0) == info.CRC, path.name  # 0: not computed
            storages += 1
        files += 1
    assert files > 10 and storages > 10, (files, storages)
