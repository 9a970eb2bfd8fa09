"""PyTorch tensors: `scripts/python.sh torch`."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any, Dict

import ml_dtypes
import numpy as np
import pytest
import torch
import weighbridge as wb
from safetensors.torch import load_file as their_load_file


@pytest.fixture
def tensors() -> Dict[str, Any]:
    """The file format's name for a type, and a tensor of that type."""
    every = torch.arange(256, dtype=torch.int16)
    return {
        "F64": torch.randn(3, 5, dtype=torch.float64),
        "F32": torch.randn(4, 1, 6),
        "F16": torch.randn(7).to(torch.float16),
        "BF16": torch.randn(2, 3).to(torch.bfloat16),
        "I64": torch.arange(5) - 2,
        "U16": torch.arange(6, dtype=torch.int16).view(torch.uint16),
        "C64": torch.randn(2, 2, dtype=torch.complex64),
        "F8_E4M3": every.to(torch.uint8).view(torch.float8_e4m3fn),
        "F8_E5M2": every.to(torch.uint8).view(torch.float8_e5m2),
        "BOOL": torch.tensor([[True, False], [False, True]]),
        "U8": torch.arange(3, dtype=torch.uint8),
    }


@pytest.fixture
def path(tensors: Dict[str, Any], encoder: Any, tmp_path: Path) -> Path:
    def stored(name: str, it: Any) -> Any:
        return name, list(it.shape), it.contiguous().view(torch.uint8).numpy().tobytes()

    path = tmp_path / "model.safetensors"
    data = encoder({name: stored(name, it) for name, it in tensors.items()}, {"format": "pt"})
    path.write_bytes(data)
    return path


def same(a: Any, b: Any) -> bool:
    if a.dtype != b.dtype or a.shape != b.shape or a.device != b.device:
        return False
    a, b = (it.contiguous().reshape(-1).view(torch.uint8) for it in (a, b))
    return bool(torch.equal(a, b))


def test_load_file(path: Path, tensors: Dict[str, Any]) -> None:
    theirs = their_load_file(path)
    ways = (
        wb.torch.load_file(path),
        wb.torch.load_file(str(path), "cpu"),
        wb.torch.load_file(io.BytesIO(path.read_bytes()), device=torch.device("cpu")),
        wb.torch.load(path.read_bytes()),
    )
    for loaded in ways:
        assert loaded.keys() == tensors.keys() == theirs.keys()
        for name, it in tensors.items():
            assert same(loaded[name], it) and same(loaded[name], theirs[name]), name
            assert loaded[name].is_contiguous()
    loaded = wb.torch.load_file(path)
    loaded["F32"].fill_(3)
    assert same(loaded["F64"], tensors["F64"])


def test_other_devices(path: Path) -> None:
    loaded = wb.torch.load_file(path, device="meta")
    assert {str(it.device) for it in loaded.values()} == {"meta"}
    assert loaded["F32"].shape == (4, 1, 6)
    with torch.device("meta"):
        loaded = wb.torch.load_file(path)
    assert {str(it.device) for it in loaded.values()} == {"cpu"}


def test_what_is_invalid_is_refused(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])
    for load in (
        lambda: wb.torch.load_file(path),
        lambda: wb.torch.load(path.read_bytes()),
        lambda: wb.torch.load_file(path, lenient=True),
    ):
        with pytest.raises(wb.InvalidFile) as raised:
            load()
        assert raised.value.report is not None


def test_one_tensor(path: Path, tensors: Dict[str, Any]) -> None:
    with wb.open(path) as model:
        for name, it in tensors.items():
            found = wb.torch.tensor(model[name])
            assert same(found, it), name
        found.fill_(9)
        assert same(wb.torch.tensor(model[name]), it)
        floats = wb.torch.tensor(model["BF16"], dequantize=True)
        assert torch.equal(floats, tensors["BF16"].to(torch.float32))


def test_every_fixture(fixtures: Path) -> None:
    """The same as in NumPy, for the other formats, orders and compressions."""
    seen = 0
    for file in sorted(fixtures.rglob("*")):
        if not file.is_file():
            continue
        try:
            arrays = wb.load_file(file)
        except wb.WeighbridgeError as error:
            # An exception without a report means that the file is valid, but NumPy has no array for
            # it.
            if error.report is not None:
                with pytest.raises(type(error)):
                    wb.torch.load_file(file)
            continue
        loaded = wb.torch.load_file(file)
        assert loaded.keys() == arrays.keys(), file
        for name, array in arrays.items():
            it, stored = loaded[name].contiguous(), np.ascontiguousarray(array)
            if it.dtype == torch.float4_e2m1fn_x2:
                continue  # PyTorch packs two per byte, NumPy has one number per element
            assert tuple(it.shape) == array.shape, (file, name)
            if array.size > 0:
                assert it.reshape(-1).view(torch.uint8).numpy().tobytes() == stored.tobytes()
            seen += 1
    assert seen > 100


def test_an_index(encoder: Any, tmp_path: Path) -> None:
    (tmp_path / "a.safetensors").write_bytes(encoder({"x": np.arange(3, dtype=np.float32)}))
    index = tmp_path / "model.safetensors.index.json"
    index.write_text(json.dumps({"metadata": {}, "weight_map": {"x": "a.safetensors"}}))
    assert wb.torch.load_file(index)["x"].tolist() == [0.0, 1.0, 2.0]


def test_without_ml_dtypes(path: Path, tensors: Dict[str, Any], monkeypatch: Any) -> None:
    from weighbridge import _numpy

    monkeypatch.setattr(_numpy, "VIEWS", {k: v for k, v in _numpy.VIEWS.items() if k != "bf16"})
    assert ml_dtypes is not None and same(wb.torch.load_file(path)["BF16"], tensors["BF16"])


def test_a_release_without_a_type(path: Path, monkeypatch: Any) -> None:
    monkeypatch.delitem(wb.torch.DTYPES, "f8e5m2")
    with wb.open(path) as model, pytest.raises(wb.Unsupported, match="no type for f8e5m2 data"):
        wb.torch.tensor(model["F8_E5M2"])


def test_large_files_are_read_in_pieces(encoder: Any, tmp_path: Path) -> None:
    arrays = {f"t{i:02}": np.full((i, 40_000), i, np.float32) for i in range(1, 15)}
    path = tmp_path / "large.safetensors"
    path.write_bytes(encoder(arrays))
    for name, it in wb.torch.load_file(path).items():
        assert np.array_equal(it.numpy(), arrays[name])
