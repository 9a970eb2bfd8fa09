"""Files for the tests: fixtures written by the project's encoders, and the corpus of real and
broken files, which is not part of the project."""

from __future__ import annotations

import json
import os
import struct
import sys
from pathlib import Path
from typing import Any, Callable, Dict, List, Optional

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
KNOWN = {".bt", ".gguf", ".idv", ".oinf", ".safetensors", ".stb", ".zt"}


def _corpus() -> Optional[Path]:
    named = os.environ.get("WEIGHBRIDGE_CORPUS")
    if named == "none":
        return None
    folder = Path(named) if named is not None else ROOT.parent / "shared" / "corpus"
    if folder.is_dir():
        return folder
    if named is not None:
        raise RuntimeError(f"WEIGHBRIDGE_CORPUS is {folder}: no folder")
    print(f"no corpus at {folder}: its tests check nothing", file=sys.stderr)
    return None


def files() -> List[Path]:
    """The folders of fixtures and of the corpus."""
    folders = [Path(os.environ["WEIGHBRIDGE_FIXTURES"]), _corpus()]
    return [
        path
        for folder in folders
        if folder is not None
        for path in sorted(folder.rglob("*"))
        if path.suffix in KNOWN or path.name.endswith(".index.json")
    ]


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: Any) -> None:
    """Runs outside the source tree, so that the wheel is imported."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture(scope="session")
def command() -> str:
    return os.environ["WEIGHBRIDGE_COMMAND"]


@pytest.fixture(scope="session")
def fixtures() -> Path:
    return Path(os.environ["WEIGHBRIDGE_FIXTURES"])


def encode(tensors: Dict[str, Any], metadata: Optional[Dict[str, str]] = None) -> bytes:
    """Encodes a safetensors file from arrays, or from (dtype, shape, bytes)."""
    header: Dict[str, Any] = {} if metadata is None else {"__metadata__": metadata}
    names = {"float32": "F32", "float16": "F16", "float64": "F64", "int64": "I64", "int32": "I32"}
    names.update({"int16": "I16", "int8": "I8", "uint8": "U8", "uint16": "U16", "bool": "BOOL"})
    data = bytearray()
    for name, tensor in tensors.items():
        if isinstance(tensor, np.ndarray):
            tensor = (names[tensor.dtype.name], list(tensor.shape), tensor.tobytes())
        dtype, shape, stored = tensor
        place = [len(data), len(data) + len(stored)]
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": place}
        data += stored
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + bytes(data)


@pytest.fixture
def weights() -> Dict[str, Any]:
    """Arrays of several types."""
    random = np.random.default_rng(1)
    return {
        "a": random.normal(size=(4, 6)).astype(np.float32),
        "b": random.integers(-9, 9, (3,)).astype(np.int64),
        "half": random.normal(size=(2, 2, 2)).astype(np.float16),
        "none": np.zeros((0, 3), np.float32),
        "scalar": np.array(7.5, np.float64),
        "truth": np.array([True, False, True, True, False, True, False, True]),
    }


@pytest.fixture
def sound(tmp_path: Path, weights: Dict[str, Any]) -> Path:
    """A valid file."""
    path = tmp_path / "model.safetensors"
    # Largest items first, so that all are aligned.
    ordered = dict(sorted(weights.items(), key=lambda it: -it[1].dtype.itemsize))
    path.write_bytes(encode(ordered, {"format": "pt"}))
    return path


@pytest.fixture
def broken(tmp_path: Path, sound: Path) -> Path:
    """A file whose last byte is missing."""
    path = tmp_path / "broken.safetensors"
    path.write_bytes(sound.read_bytes()[:-1])
    return path


@pytest.fixture
def encoder() -> Callable[..., bytes]:
    return encode
