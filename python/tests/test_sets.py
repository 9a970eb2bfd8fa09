"""Sharded checkpoints and split sets, on disk and in stores."""

from __future__ import annotations

import errno
import io
import json
import mmap
import os
import struct
from pathlib import Path
from typing import Any, Dict, List, Sequence

import numpy as np
import pytest
import weighbridge as wb

fsspec = pytest.importorskip("fsspec")

FIRST, SECOND = "m-00001-of-00002.safetensors", "m-00002-of-00002.safetensors"
INDEX = "m.safetensors.index.json"


@pytest.fixture
def arrays() -> Dict[str, Any]:
    return {name: np.arange(i + 2, dtype=np.float32) for i, name in enumerate("dacb")}


@pytest.fixture
def files(arrays: Dict[str, Any], encoder: Any) -> Dict[str, bytes]:
    """A checkpoint in two shards."""
    places = {"d": SECOND, "a": FIRST, "c": SECOND, "b": FIRST}
    files = {}
    for file in (FIRST, SECOND):
        files[file] = encoder({name: arrays[name] for name in places if places[name] == file})
    total = sum(array.nbytes for array in arrays.values())
    index = {"metadata": {"total_size": total}, "weight_map": places}
    files[INDEX] = json.dumps(index).encode()
    return files


def part(no: int, count: int = 2, tensors: int = 0, holds: Sequence[str] = ()) -> bytes:
    """A part of a set, with tensors of two numbers each: the part's own, and 1."""

    def pair(key: str, kind: int, value: bytes) -> bytes:
        return struct.pack("<Q", len(key)) + key.encode() + struct.pack("<I", kind) + value

    pairs = pair("split.no", 2, struct.pack("<H", no)) + pair("split.count", 2, struct.pack("<H", count))
    pairs += pair("split.tensors.count", 5, struct.pack("<i", tensors))
    data = b""
    infos = b""
    for name in holds:
        infos += struct.pack("<Q", len(name)) + name.encode()
        infos += struct.pack("<IQIQ", 1, 2, 0, len(data))
        data += struct.pack("<ff", no, 1).ljust(32, b"\0")
    file = struct.pack("<4sIQQ", b"GGUF", 3, len(holds), 3) + pairs + infos
    return file.ljust(-(-len(file) // 32) * 32, b"\0") + data if data else file


class Places:
    """The same files on disk and in a store."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.fs = folder, fsspec.filesystem("memory")

    def write(self, files: Dict[str, bytes]) -> None:
        for name, data in files.items():
            (self.folder / name).write_bytes(data)
            self.fs.pipe(f"/set/{name}", data)

    def remove(self, name: str) -> None:
        (self.folder / name).unlink()
        self.fs.rm(f"/set/{name}")

    def of(self, name: str) -> List[Any]:
        return [self.folder / name, f"memory://set/{name}"]

    def rules(self, name: str) -> Any:
        """The rules in the findings of a check: the same on disk and in the store."""
        there, here = (wb.check(place) for place in self.of(name))
        assert [(it.rule, it.offset, it.entry, it.message) for it in there.findings] == [
            (it.rule, it.offset, it.entry, it.message) for it in here.findings
        ]
        assert there.verdict == here.verdict and here.file == f"memory://set/{name}"
        assert [(it.entry, it.why) for it in there.unchecked] == [
            (it.entry, it.why) for it in here.unchecked
        ]
        return here.verdict, [it.rule for it in here.findings]


@pytest.fixture
def places(tmp_path: Path) -> Any:
    folder = tmp_path / "set"
    folder.mkdir()
    places = Places(folder)
    yield places
    places.fs.rm("/set", recursive=True)


def test_shards(places: Places, files: Dict[str, bytes], arrays: Dict[str, Any]) -> None:
    places.write(files)
    assert places.rules(INDEX) == ("valid", [])
    for place in places.of(INDEX):
        loaded = wb.load_file(place)
        assert list(loaded) == list(arrays)
        for name, array in arrays.items():
            assert loaded[name].tobytes() == array.tobytes() and loaded[name].flags.writeable
    outcomes = wb.check_many([f"memory://set/{name}" for name in files])
    assert [it.report.verdict for it in outcomes if it.report is not None] == ["valid"] * 3


def test_the_index_opens_as_one_model(
    places: Places, files: Dict[str, bytes], arrays: Dict[str, Any]
) -> None:
    places.write(files)
    for place in [*places.of(INDEX), places.folder, "memory://set", "memory://set/"]:
        with wb.open(place) as model:
            assert model.names == list(arrays) and len(model) == 4 and "a" in model
            assert model.format == "shards" and model.missing == []
            assert [Path(file).name for file in model.files] == [SECOND, FIRST]
            assert [Path(it.file or "").name for it in model.tensors] == [SECOND, FIRST, SECOND, FIRST]
            for name, array in arrays.items():
                assert model[name].numpy().tobytes() == array.tobytes()
                assert model[name].slice(1, 2).tolist() == [1.0]
            assert model.check().verdict == "valid" and "in 2 files" in repr(model)
            assert "<td>c</td>" in model._repr_html_()
            with pytest.raises(KeyError, match="no tensor 'e'"):
                model["e"]
            with pytest.raises(ValueError, match="several files"):
                model.plan()
            kept = model["a"]
        with pytest.raises(ValueError, match="closed"):
            kept.numpy()
    for folder in (places.folder, "memory://set"):
        assert wb.load_file(folder).keys() == arrays.keys()


def test_an_index_whose_files_are_mapped(places: Places, files: Dict[str, bytes]) -> None:
    places.write(files)
    with wb.open(places.folder / INDEX, mmap=True) as model:
        array = model["c"].numpy()
        assert array.tolist() == [0.0, 1.0, 2.0, 3.0]
        assert isinstance(array.base.base.obj, mmap.mmap)


def test_folders_without_one_index(places: Places, files: Dict[str, bytes]) -> None:
    places.write({FIRST: files[FIRST]})
    for folder in (str(places.folder), "memory://set"):
        for what in (wb.open, wb.load_file):
            with pytest.raises(IsADirectoryError, match="no index") as raised:
                what(folder)
            assert raised.value.errno == errno.EISDIR and raised.value.filename == folder
    places.write({INDEX: files[INDEX], "n" + INDEX: files[INDEX]})
    with pytest.raises(IsADirectoryError, match="2 indexes"):
        wb.open(places.folder)


def test_what_is_missing_of_an_open_index(
    places: Places, files: Dict[str, bytes], encoder: Any
) -> None:
    places.write({**files, SECOND: encoder({"c": np.zeros(4, np.float32), "e": np.zeros(2, np.int8)})})
    for place in places.of(INDEX):
        with wb.open(place) as model:
            assert model.names == ["a", "c", "b"]  # listed by the index and present in the files
            rules = [it.rule for it in model.check().findings]
            assert {"TENSOR-MISSING", "TENSOR-UNLISTED"} <= set(rules)
            assert rules == [it.rule for it in wb.check(place).findings]
    places.remove(SECOND)
    for place in places.of(INDEX):
        with wb.open(place) as model:
            assert model.names == ["a", "b"]
            assert [Path(it).name for it in model.missing] == [SECOND]
            assert [Path(it).name for it in model.files] == [FIRST]
            assert [it.rule for it in model.check().findings] == ["SHARD-MISSING"]
    places.write({SECOND: b"broken"})
    for place in places.of(INDEX):
        with pytest.raises(wb.InvalidFile):
            wb.open(place)


def test_no_shard_of_an_open_index_is_elsewhere(places: Places, files: Dict[str, bytes]) -> None:
    outside = {"metadata": {}, "weight_map": {"a": "../secret.safetensors", "b": "link.safetensors"}}
    places.write({INDEX: json.dumps(outside).encode()})
    secret = places.folder.parent / "secret.safetensors"
    secret.write_bytes(files[FIRST])
    (places.folder / "link.safetensors").symlink_to(secret)
    with wb.open(places.folder / INDEX) as model:
        assert model.names == [] and model.files == []
        assert {it.rule for it in model.check().findings} == {"SHARD-PATH"}


def test_no_part_that_is_loaded_is_elsewhere(places: Places) -> None:
    one, two = "m-00001-of-00002.gguf", "m-00002-of-00002.gguf"
    places.write({one: part(0, tensors=2, holds=["x"])})
    secret = places.folder.parent / "secret.gguf"
    secret.write_bytes(part(1, tensors=2, holds=["y"]))
    (places.folder / two).symlink_to(secret)
    with pytest.raises(OSError, match="a link that points outside its folder"):
        wb.load_file(places.folder / one, lenient=True)
    with pytest.raises((OSError, wb.WeighbridgeError)):
        wb.load_file(places.folder / one)


def test_files_that_are_replaced_after_they_were_opened(
    places: Places, files: Dict[str, bytes]
) -> None:
    for name in (INDEX, FIRST, SECOND):
        places.write(files)
        for change in ("replaced", "removed", "added"):
            if change == "added" and name == INDEX:
                continue
            if change == "added":
                places.remove(name)
            with wb.open(places.folder / INDEX) as model:
                if change == "removed":
                    (places.folder / name).unlink()
                else:
                    new = places.folder / "new"
                    new.write_bytes(files[name])
                    os.replace(new, places.folder / name)
                with pytest.raises(OSError, match="changed after it was opened|No such file"):
                    model.check()
            places.write(files)
            with wb.open(places.folder / INDEX) as model:
                assert model.check().is_valid


def test_an_index_by_another_name(places: Places, files: Dict[str, bytes]) -> None:
    files["renamed.json"] = files[INDEX]
    places.write(files)
    assert places.rules("renamed.json") == ("valid", [])


def test_shards_that_do_not_fit(places: Places, files: Dict[str, bytes], encoder: Any) -> None:
    places.write(files)
    places.write({SECOND: files[SECOND][:-1]})
    assert places.rules(INDEX) == ("invalid", ["SHARD-INVALID"])
    places.write({SECOND: encoder({"c": np.zeros(4, np.float32), "e": np.zeros(2, np.int8)})})
    verdict, rules = places.rules(INDEX)
    assert verdict == "invalid" and {"TENSOR-MISSING", "TENSOR-UNLISTED"} <= set(rules)
    places.remove(SECOND)
    assert places.rules(INDEX) == ("invalid", ["SHARD-MISSING"])
    for place in places.of(INDEX):
        with pytest.raises(wb.InvalidFile, match="SHARD-MISSING"):
            wb.load_file(place)


def test_shards_elsewhere(places: Places, files: Dict[str, bytes]) -> None:
    outside = {"metadata": {}, "weight_map": {"a": "../secret.safetensors"}}
    places.write({INDEX: json.dumps(outside).encode()})
    (places.folder.parent / "secret.safetensors").write_bytes(files[FIRST])
    places.fs.pipe("/secret.safetensors", files[FIRST])
    assert places.rules(INDEX) == ("invalid", ["SHARD-PATH"])
    places.fs.rm("/secret.safetensors")


def test_an_index_in_memory_has_no_files_beside_it(files: Dict[str, bytes]) -> None:
    for load in (lambda: wb.load(files[INDEX]), lambda: wb.load_file(io.BytesIO(files[INDEX]))):
        with pytest.raises(wb.WeighbridgeError, match="not checked"):
            load()


def test_a_store_that_fails_at_a_shard(files: Dict[str, bytes]) -> None:
    asked = []

    class Failing:
        protocol = "failing"

        def info(self, path: str) -> Any:
            asked.append(path)
            if path.endswith(SECOND):
                raise PermissionError("no access")
            return {"size": len(files[path.rsplit("/")[-1]])}

        def cat_file(self, path: str, start: int = 0, end: int = 0) -> bytes:
            return files[path.rsplit("/")[-1]][start:end]

    class Place:
        fs, path = Failing(), "folder/" + INDEX

    with pytest.raises(PermissionError, match="no access"):
        wb.check(Place())
    # The index lists it before the other file, which is no longer needed.
    assert asked[-1].endswith(SECOND) and FIRST not in "".join(asked)


def test_of_two_equal_keys_of_an_index_the_last_counts(
    places: Places, files: Dict[str, bytes], arrays: Dict[str, Any]
) -> None:
    first = f'"weight_map": {{"d": "{FIRST}", '.encode()
    places.write({**files, INDEX: files[INDEX].replace(b'"weight_map": {', first)})
    assert places.rules(INDEX) == ("invalid", ["TENSOR-DUPLICATE"])
    for place in places.of(INDEX):
        assert wb.load_file(place, lenient=True).keys() == arrays.keys()


def test_an_index_that_changes_while_its_shards_are_read(
    places: Places, files: Dict[str, bytes]
) -> None:
    places.write(files)
    index = places.folder / INDEX

    def change(_read: int, _size: int) -> None:
        index.write_bytes(files[INDEX] + b" ")

    with pytest.raises(OSError, match="index.json: the file changed while it was read"):
        wb.load_file(index, progress=change)


def test_split_sets(places: Places) -> None:
    one, two = "m-00001-of-00002.gguf", "m-00002-of-00002.gguf"
    places.write({one: part(0), two: part(1)})
    assert places.rules(one) == places.rules(two) == ("valid", [])
    places.write({two: part(0)})
    assert places.rules(two) == ("invalid", ["KEYS-SPLIT-OTHER"])
    places.write({one: part(0, tensors=5), two: part(1)})
    assert places.rules(one) == ("invalid", ["KEYS-SPLIT-TOTAL"])
    places.write({one: part(0), two: part(1)[:-1]})
    assert places.rules(one) == ("invalid", ["KEYS-SPLIT-INVALID"])
    places.remove(two)
    assert places.rules(one) == ("invalid", ["KEYS-SPLIT-MISSING"])


def test_a_split_set_is_one_model(places: Places) -> None:
    one, two = "m-00001-of-00002.gguf", "m-00002-of-00002.gguf"
    places.write({one: part(0, tensors=3, holds=["x"]), two: part(1, tensors=3, holds=["y", "z"])})
    for place in places.of(one):
        with wb.open(place) as model:
            assert model.names == ["x", "y", "z"] and model.metadata["split.no"] == 0
            assert [Path(it.file or "").name for it in model.tensors] == [one, two, two]
            assert model["x"].numpy().tolist() == [0.0, 1.0]
            assert model["z"].numpy().tolist() == [1.0, 1.0]
            assert model.check().verdict == "valid"
        loaded = wb.load_file(place)
        assert list(loaded) == ["x", "y", "z"] and loaded["y"].tolist() == [1.0, 1.0]
    for place in places.of(two):
        with wb.open(place) as model:  # not the first
            assert model.names == ["y", "z"]
    places.write({two: part(1, tensors=3, holds=["y", "x"])})
    for place in places.of(one):
        with pytest.raises(wb.InvalidFile, match="KEYS-SPLIT-TWICE"):
            wb.load_file(place)
        assert wb.load_file(place, lenient=True)["x"].tolist() == [0.0, 1.0]
        with wb.open(place) as model:
            assert model.names == ["x", "y"] and model["x"].numpy().tolist() == [0.0, 1.0]
    places.remove(two)
    for place in places.of(one):
        with wb.open(place) as model:
            assert model.names == ["x"] and [Path(it).name for it in model.missing] == [two]
            assert [it.rule for it in model.check().findings] == ["KEYS-SPLIT-MISSING"]


def test_a_part_without_numbers_in_its_name(places: Places) -> None:
    places.write({"part.gguf": part(0), "whole.gguf": part(0, 1)})
    assert places.rules("part.gguf") == ("unchecked", [])
    for place in places.of("part.gguf"):
        whys = [it.why for it in wb.check(place).unchecked]
        assert "the other parts of its set were not looked for: its name has no numbers" in whys
    for place in places.of("whole.gguf"):
        assert not wb.check(place).unchecked
