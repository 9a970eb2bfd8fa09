"""Checkpoints of PyTorch, without PyTorch: tensors, storages, what their pickles import."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import weighbridge as wb
from weighbridge import tables

FIRST = "pytorch_model-00001-of-00002.bin"
SECOND = "pytorch_model-00002-of-00002.bin"


@pytest.fixture
def views(fixtures: Path) -> Path:
    return fixtures / "pytorch" / "views-of-one-storage.pt"


@pytest.fixture
def sharded(fixtures: Path, tmp_path: Path) -> Path:
    """An index with two checkpoints."""
    shutil.copy(fixtures / "pytorch" / "nested-with-numbers.pt", tmp_path / FIRST)
    shutil.copy(fixtures / "pytorch" / "sparse-in-order.pt", tmp_path / SECOND)
    with wb.open(tmp_path / FIRST) as one, wb.open(tmp_path / SECOND) as two:
        names = {**{name: FIRST for name in one}, **{name: SECOND for name in two}}
    index = tmp_path / "pytorch_model.bin.index.json"
    index.write_text(json.dumps({"metadata": {}, "weight_map": names}))
    return index


def test_storages_name_their_tensors(views: Path) -> None:
    with wb.open(views) as model:
        first, second = model.storages
        assert first.key == "0" and set(first.tensors) == {"w", "tied", "turned", "every-other"}
        assert (first.size, first.stored, first.used) == (24, 24, 24)
        assert second.tensors == ["b"] and isinstance(second.crc, int)
        assert repr(second) == "<Storage '1' of 1 tensor, 8 bytes>"


def test_path_keeps_keys_with_dots_whole(fixtures: Path) -> None:
    with wb.open(fixtures / "pytorch" / "nested-with-numbers.pt") as model:
        assert model["model.layer.b"].path == ("model", "layer.b")


@pytest.mark.parametrize("name, extension", [("program", "jit"), ("program-for-devices", "ptl")])
def test_program_opens_and_stays_unsupported(
    fixtures: Path, tmp_path: Path, name: str, extension: str
) -> None:
    path = tmp_path / f"model.{extension}"
    shutil.copy(fixtures / "pytorch" / f"{name}.pt", path)
    assert wb.check(path).verdict == "unsupported"
    with wb.open(path) as model:
        assert list(model) == ["w", "named.a", "layer.b"]
        assert model["w"].numpy().tolist() == [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]


def test_other_formats_have_no_storages_and_paths(sound: Path) -> None:
    with wb.open(sound) as model:
        assert model.storages == [] and model.globals == []
        assert {tensor.path for tensor in model.tensors} == {None}


def test_globals_say_what_is_called(views: Path, tmp_path: Path) -> None:
    with wb.open(views) as model:
        found = {it.name: it for it in model.globals}
    assert found["torch._utils._rebuild_tensor_v2"].called
    assert not found["torch.FloatStorage"].called
    assert {it.standing for it in found.values()} == {"listed"}
    unsafe = tmp_path / "unsafe.pkl"
    unsafe.write_bytes(b"cposix\nsystem\n(S'id'\ntR.")
    (runs,) = wb.check(unsafe).globals
    assert (runs.name, runs.standing, runs.called, runs.offset) == ("posix.system", "not listed", True, 0)
    assert repr(runs) == "<Global 'posix.system' (not listed, called)>"


def test_shards_are_one_model(sharded: Path) -> None:
    assert wb.check(sharded).is_valid
    loaded = wb.load_file(sharded)
    assert set(loaded) == {"w", "model.layer.b", "w.#indices", "w.#values"}
    np.testing.assert_array_equal(loaded["w"].shape, (2, 3))
    with wb.open(sharded) as model:
        assert [it.tensors for it in model.storages] == [["w"], ["model.layer.b"], ["w.#indices"], ["w.#values"]]
        assert [it.name for it in model.globals].count("torch.FloatStorage") == 2


def test_rows_of_tables_take_checkpoints(views: Path, tmp_path: Path) -> None:
    # What Ray and Spark make of each file.
    broken = tmp_path / "broken.pt"
    broken.write_bytes(views.read_bytes()[:-1])
    rows = list(tables.report_rows([str(views), str(broken)]))
    assert [(row["format"], row["verdict"]) for row in rows][0] == ("pytorch", "valid")
    assert rows[1]["verdict"] == "invalid"
    tensors = {row["name"]: row for row in tables.tensor_rows(str(views))}
    assert tensors["turned"]["shape"] == [3, 2] and tensors["b"]["dtype"] == "f32"
