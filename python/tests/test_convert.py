"""Models as safetensors."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any, Dict

import numpy as np
import pytest
import weighbridge as wb


def test_a_copy_has_the_same_arrays(sound: Path, weights: Dict[str, Any], tmp_path: Path) -> None:
    target = tmp_path / "copy.safetensors"
    done = wb.convert(sound, target)
    assert done.files == [target] and done.report.is_valid
    assert (done.left_out, done.tied, done.notes) == ({}, {}, [])
    copy = wb.load_file(target)
    assert set(copy) == set(weights)
    assert all(copy[name].tobytes() == weights[name].tobytes() for name in weights)


def test_arrays_of_numpy_become_a_model(tmp_path: Path) -> None:
    arrays = {"a": np.asfortranarray(np.arange(6.0).reshape(2, 3)), "b": np.arange(3, dtype=">u2")}
    np.savez(tmp_path / "in.npz", **arrays)
    wb.convert(str(tmp_path / "in.npz"), str(tmp_path / "out"))
    copy = wb.load_file(tmp_path / "out")
    assert all(np.array_equal(copy[name], arrays[name]) for name in arrays)


def test_shards_have_an_index(tmp_path: Path) -> None:
    np.savez(tmp_path / "in.npz", a=np.zeros(100, np.uint8), b=np.ones(100, np.uint8))
    done = wb.convert(tmp_path / "in.npz", tmp_path / "m.safetensors", max_shard_size="150B")
    names = [path.name for path in done.files]
    assert names[0] == "m-00001-of-00002.safetensors"
    assert names[2] == "m.safetensors.index.json"
    assert wb.check(done.files[2]).is_valid
    with pytest.raises(ValueError, match="like 5GB"):
        wb.convert(tmp_path / "in.npz", tmp_path / "x", max_shard_size="150 apples")


def test_what_cannot_be_written_is_an_error(sound: Path, tmp_path: Path) -> None:
    np.savez(tmp_path / "in.npz", a=np.zeros(2, np.complex128), b=np.zeros(2, np.complex128))
    target = tmp_path / "out"
    with pytest.raises(wb.Unsupported, match='"a": safetensors has no type for c128\n"b": '):
        wb.convert(tmp_path / "in.npz", target)
    with pytest.raises(wb.InvalidFile):
        broken = tmp_path / "broken.safetensors"
        broken.write_bytes(sound.read_bytes()[:-1])
        wb.convert(broken, target)
    with pytest.raises(FileNotFoundError):
        wb.convert(tmp_path / "none", target)
    assert not target.exists()
    target.write_bytes(b"precious")
    with pytest.raises(OSError, match="exists already"):
        wb.convert(sound, target)
    assert target.read_bytes() == b"precious"
    assert wb.convert(sound, target, overwrite=True).files == [target]
    done = wb.convert(tmp_path / "in.npz", tmp_path / "empty", force=True)
    assert list(done.left_out) == ["a", "b"]


def test_the_command_writes_the_same_bytes(sound: Path, command: str, tmp_path: Path) -> None:
    wb.convert(sound, tmp_path / "a")
    subprocess.run([command, "convert", str(sound), os.fspath(tmp_path / "b")], check=True)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
