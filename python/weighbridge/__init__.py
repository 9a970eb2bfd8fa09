"""Checks and reads untrusted tensor files: safetensors and its shards, GGUF, PyTorch, ONNX,
TensorFlow Lite, ExecuTorch, NPY, NPZ, zTensor, OINF, BinTensors, STB, ML.NET data views, and DDUF."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._check import Outcome, check, check_async, check_many, check_many_async
from ._convert import convert
from ._errors import (
    InvalidFile,
    LimitExceeded,
    RawElementsWarning,
    Truncated,
    Unsupported,
    WeighbridgeError,
)
from ._members import Member, members
from ._native import VERSION as __version__
from ._native import (
    Converted,
    Finding,
    Global,
    Model,
    Report,
    Session,
    Stats,
    Storage,
    Tensor,
    Unchecked,
)

if TYPE_CHECKING:
    from . import torch as torch
    from ._open import load, load_file, open
    from .notebook import Viewer as Viewer

__all__ = [
    "Converted",
    "Finding",
    "Global",
    "InvalidFile",
    "LimitExceeded",
    "Member",
    "Model",
    "Outcome",
    "RawElementsWarning",
    "Report",
    "Session",
    "Stats",
    "Storage",
    "Tensor",
    "Truncated",
    "Unchecked",
    "Unsupported",
    "WeighbridgeError",
    "__version__",
    "check",
    "check_async",
    "check_many",
    "check_many_async",
    "convert",
    "load",
    "load_file",
    "members",
    "open",
]


def __getattr__(name: str) -> Any:
    # These need NumPy, which a check does not.
    if name in ("load", "load_file", "open"):
        from . import _open

        return getattr(_open, name)
    if name == "Viewer":
        from .notebook import Viewer

        return Viewer
    if name == "torch":
        from importlib import import_module

        return import_module(".torch", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
