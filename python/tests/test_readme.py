"""The examples in the documentation run."""

from __future__ import annotations

import re
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

PAGE = Path(__file__).resolve().parents[1] / "README.md"
RECIPES = Path(__file__).resolve().parents[2] / "docs" / "python.md"


def examples(page: Path) -> Any:
    return [
        pytest.param(code, id=f"{page.stem}-{i}")
        for i, code in enumerate(re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL))
    ]


@pytest.fixture
def folder(tmp_path: Path, encoder: Any, fixtures: Path, monkeypatch: Any) -> Path:
    emb = np.arange(6, dtype=np.float32).reshape(2, 3)
    (tmp_path / "model.safetensors").write_bytes(encoder({"emb": emb}))
    gguf = struct.pack("<4sIQQ", b"GGUF", 3, 0, 0)
    (tmp_path / "other.gguf").write_bytes(gguf)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("code", examples(PAGE) + (examples(RECIPES) if RECIPES.exists() else []))
def test_example(code: str, folder: Path) -> None:
    for needed in re.findall(r"^(?:import|from) (\w+)", code, re.MULTILINE):
        pytest.importorskip(needed)
    names: Any = {"__name__": "example"}
    exec("import weighbridge as wb\n" + code, names)
