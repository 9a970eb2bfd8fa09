"""Archives of models (DDUF): verdicts, lists of members, and members opened as files."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any, Dict

import numpy as np
import pytest
import weighbridge as wb

WEIGHTS = "vae/diffusion_pytorch_model.safetensors"
INDEX = b'{"_class_name": "StablePipeline", "vae": ["diffusers", "AutoencoderKL"]}'


def archive(tmp_path: Path, **others: bytes) -> Path:
    """A DDUF file with one component of two tensors, and these texts in its folder."""
    np.savez(tmp_path / "in.npz", a=np.arange(6, dtype=np.float32), b=np.ones(2, np.uint8))
    wb.convert(tmp_path / "in.npz", tmp_path / "weights.safetensors")
    members: Dict[str, bytes] = {
        "model_index.json": INDEX,
        "vae/config.json": b"{}",
        WEIGHTS: (tmp_path / "weights.safetensors").read_bytes(),
        **{f"vae/{name}.txt": content for name, content in others.items()},
    }
    path = tmp_path / "pipeline.dduf"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as out:
        for name, content in members.items():
            out.writestr(name, content)
    return path


def test_dduf_with_harmless_settings_is_valid(tmp_path: Path) -> None:
    path = archive(tmp_path)
    assert wb.check(path).verdict == "valid"
    with open(path, "rb") as file:
        assert wb.check(file).verdict == "valid"


def test_dduf_with_pickle_named_as_text_is_invalid(tmp_path: Path) -> None:
    pickle = b"\x80\x04\x95\x15\x00\x00\x00\x00\x00\x00\x00\x8c\x05posix\x8c\x06system\x93."
    path = archive(tmp_path, notes=pickle)
    with open(path, "rb") as file:
        reports = [wb.check(path), wb.check(path, lenient=True), wb.check(file)]
    for report in reports:
        assert report.verdict == "invalid"
        assert [it.rule for it in report.findings] == ["ARCHIVE-CODE"]
        assert "vae/notes.txt" in report.findings[0].message


def test_dduf_members_are_listed_with_their_places(tmp_path: Path) -> None:
    path = archive(tmp_path)
    listed = wb.members(path)
    assert list(listed) == ["model_index.json", "vae/config.json", WEIGHTS]
    offset, size = listed["model_index.json"]
    assert offset is not None and size is not None
    assert path.read_bytes()[offset : offset + size] == INDEX
    with open(path, "rb") as file:
        assert wb.members(file) == listed


def test_dduf_member_is_opened_as_file(tmp_path: Path) -> None:
    path = archive(tmp_path)
    with wb.open(path, member=WEIGHTS) as model:
        assert sorted(model) == ["a", "b"]
        assert model["a"].numpy().tolist() == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
        assert model.check().is_valid
    with pytest.raises(KeyError):
        wb.open(path, member="vae/none.json")


def test_dduf_in_store_is_checked_and_its_member_opened(tmp_path: Path) -> None:
    fsspec: Any = pytest.importorskip("fsspec")
    path = archive(tmp_path)
    with fsspec.open("memory://archives/pipeline.dduf", "wb") as out:
        out.write(path.read_bytes())
    assert wb.check("memory://archives/pipeline.dduf").verdict == "valid"
    assert wb.members("memory://archives/pipeline.dduf") == wb.members(path)
    with wb.open("memory://archives/pipeline.dduf", member=WEIGHTS) as model:
        assert model["b"].numpy().tolist() == [1, 1]


def test_members_of_other_files_are_an_error(tmp_path: Path) -> None:
    archive(tmp_path)
    for source in [tmp_path / "weights.safetensors", b"bytes", io.BytesIO(b"bytes")]:
        with pytest.raises(ValueError, match="no archive of models"):
            wb.members(source)
