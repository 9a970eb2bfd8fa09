"""Checkpoints that PyTorch writes: `scripts/python.sh torch`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Dict, Iterator, Tuple

import pytest
import torch
import weighbridge as wb
from safetensors import safe_open
from safetensors.torch import save_file, save_model

INDEX = "pytorch_model.bin.index.json"


def tensors_of(value: Any, path: str = "") -> Iterator[Tuple[str, torch.Tensor]]:
    """The tensors of an object, with keys and positions joined by dots."""
    if isinstance(value, torch.Tensor):
        yield path, value.detach()
        return
    inner = value.items() if isinstance(value, dict) else enumerate(value)
    for key, it in inner:
        if isinstance(it, (dict, list, tuple, torch.Tensor)):
            yield from tensors_of(it, f"{path}.{key}" if path else str(key))


def same(a: torch.Tensor, b: torch.Tensor) -> bool:
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    first, second = (it.contiguous().clone().reshape(-1).view(torch.uint8) for it in (a, b))
    return bool(torch.equal(first, second))


def checkpoint() -> Dict[str, Any]:
    """Every type and view that training leaves behind."""
    torch.manual_seed(1)
    model = torch.nn.Sequential(torch.nn.Linear(5, 7), torch.nn.LayerNorm(7), torch.nn.Conv2d(1, 3, 2))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    image = model[2](torch.randn(1, 1, 4, 4)).sum()
    (model[1](model[0](torch.randn(2, 5))).square().sum() + image).backward()
    optimizer.step()
    base = torch.randn(6, 8)
    every = torch.arange(256, dtype=torch.int16).to(torch.uint8)
    return {
        "epoch": 3,
        "model": model.state_dict(),
        "parameters": list(model.parameters()),
        "optimizer": optimizer.state_dict(),
        "views": {
            "whole": base,
            "tied": base,
            "turned": base.t(),
            "part": base[1:4, 2:5],
            "steps": base[::2, ::3],
            "expanded": base[0].expand(3, 8),
            "scalar": torch.tensor(2.5),
            "empty": torch.empty(0, 4),
        },
        "types": {
            "bf16": torch.randn(3).to(torch.bfloat16),
            "f16": torch.randn(3).to(torch.float16),
            "f64": torch.randn(3, dtype=torch.float64),
            "c64": torch.randn(3, dtype=torch.complex64),
            "f8": every.view(torch.float8_e4m3fn),
            "bool": torch.tensor([True, False]),
            "i64": torch.arange(3) - 1,
            "u16": torch.arange(3, dtype=torch.int16).view(torch.uint16),
        },
    }


FORMS: Dict[str, Dict[str, Any]] = {
    "archive": {},
    "older": {"_use_new_zipfile_serialization": False},
    "protocol 4": {"pickle_protocol": 4},
}


@pytest.fixture(params=FORMS)
def path(request: Any, tmp_path: Path) -> Path:
    path = tmp_path / "model.pt"
    state = checkpoint()
    if request.param == "older":
        for name in ("f8", "u16"):  # torch cannot read them in this form
            del state["types"][name]
    torch.save(state, path, **FORMS[request.param])
    return path


def test_loads_what_torch_loads(path: Path) -> None:
    wanted = dict(tensors_of(torch.load(path, weights_only=False)))
    loaded = wb.torch.load_file(path)
    assert loaded.keys() == wanted.keys() and len(wanted) > 30
    for name, tensor in wanted.items():
        assert same(loaded[name], tensor), name


def test_converts_to_what_safetensors_writes(path: Path, tmp_path: Path) -> None:
    wanted = dict(tensors_of(torch.load(path, weights_only=False)))
    save_file({name: it.contiguous().clone() for name, it in wanted.items()}, tmp_path / "theirs")
    done = wb.convert(path, tmp_path / "ours.safetensors")
    assert not done.left_out
    with safe_open(tmp_path / "ours.safetensors", "pt") as ours:
        with safe_open(tmp_path / "theirs", "pt") as theirs:
            kept = dict(ours.metadata())
            for name in theirs.keys():
                assert same(ours.get_tensor(kept.get(name, name)), theirs.get_tensor(name)), name


class Tied(torch.nn.Module):
    """A model whose last layer has the weights of the first."""

    def __init__(self) -> None:
        super().__init__()
        self.last = torch.nn.Linear(3, 4, bias=False)
        self.first = torch.nn.Embedding(4, 3)
        self.last.weight = self.first.weight


def test_tied_weights_are_written_as_by_safetensors(tmp_path: Path) -> None:
    model = Tied()
    torch.save(model.state_dict(), tmp_path / "tied.pt")
    save_model(model, str(tmp_path / "theirs"))
    wb.convert(tmp_path / "tied.pt", tmp_path / "ours.safetensors")
    with safe_open(tmp_path / "ours.safetensors", "pt") as ours, safe_open(tmp_path / "theirs", "pt") as theirs:
        assert list(ours.keys()) == list(theirs.keys()) == ["first.weight"]
        kept = dict(ours.metadata())
        assert kept.pop("format") == "pt"
        assert kept == dict(theirs.metadata()) == {"last.weight": "first.weight"}


def test_lists_numbers_and_quantisers(tmp_path: Path) -> None:
    weight = torch.quantize_per_tensor(torch.randn(4), 0.5, 3, torch.qint8)
    torch.save({"q": weight, "lr": 0.25}, tmp_path / "q.pt")
    with wb.open(tmp_path / "q.pt") as model:
        assert model.metadata["lr"] == 0.25
        said = dict(model["q"].metadata)
    assert said["quantiser"] == "per_tensor_affine"
    assert (said["scale"], said["zero_point"]) == (0.5, 3)


def test_a_folder_of_shards_is_one_model(tmp_path: Path) -> None:
    shards = {f"pytorch_model-{i:05}-of-00002.bin": {f"layer.{i}": torch.randn(i, 3)} for i in (1, 2)}
    for name, state in shards.items():
        torch.save(state, tmp_path / name)
    listed = {key: name for name, state in shards.items() for key in state}
    (tmp_path / INDEX).write_text(json.dumps({"metadata": {}, "weight_map": listed}))
    loaded = wb.torch.load_file(tmp_path)
    assert loaded.keys() == listed.keys()
    for state in shards.values():
        for key, tensor in state.items():
            assert same(loaded[key], tensor)


class Runs:
    """An object whose pickle runs a command."""

    def __reduce__(self) -> Any:
        import os

        return os.system, ("true",)


def test_a_pickle_that_runs_code_is_refused(tmp_path: Path) -> None:
    torch.save({"w": torch.ones(2), "x": Runs()}, tmp_path / "unsafe.pt")
    with pytest.raises(wb.InvalidFile, match=r"posix\.system"):
        wb.torch.load_file(tmp_path / "unsafe.pt")
    with pytest.raises(wb.InvalidFile):
        wb.torch.load_file(tmp_path / "unsafe.pt", lenient=True)
