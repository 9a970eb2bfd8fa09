"""PyTorch tensors: like `safetensors.torch`, but for every format, and only after a check."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, Dict, Mapping, Optional, Tuple, Union

import numpy as np
import torch

from ._errors import RawElementsWarning, Unsupported
from ._open import Planned, load_all
from ._options import Bar, Options, Progress
from ._sources import Memory, find, in_folder

if TYPE_CHECKING:
    from ._native import Tensor

_NAMES = {
    "i8": "int8",
    "i16": "int16",
    "i32": "int32",
    "i64": "int64",
    "u8": "uint8",
    "u16": "uint16",
    "u32": "uint32",
    "u64": "uint64",
    "f16": "float16",
    "bf16": "bfloat16",
    "f32": "float32",
    "f64": "float64",
    "c64": "complex64",
    "f8e4m3": "float8_e4m3fn",
    "f8e5m2": "float8_e5m2",
    "f8e4m3fnuz": "float8_e4m3fnuz",
    "f8e5m2fnuz": "float8_e5m2fnuz",
    "f8e8m0": "float8_e8m0fnu",
}
#: The types that this release of PyTorch has.
DTYPES = {name: getattr(torch, it) for name, it in _NAMES.items() if hasattr(torch, it)}
#: Types that NumPy does not have, and their width.
_NARROW: Dict[str, Any] = {name: np.int8 for name in _NAMES if name.startswith("f8")}
_NARROW["bf16"] = np.int16


def load_file(
    filename: Any,
    device: Any = "cpu",
    *,
    lenient: bool = False,
    max_work: Optional[int] = None,
    progress: Optional[Progress] = None,
    tqdm: bool = False,
    storage_options: Optional[Mapping[str, Any]] = None,
) -> Dict[str, torch.Tensor]:
    """Like `weighbridge.load_file`, with PyTorch tensors on a device.

    The data is read directly into the tensors' memory. Adjacent tensors share storage of up to 4
    MiB. Quantised data is returned as stored.
    """
    options = Options(lenient=lenient, max_work=max_work)
    with Bar(progress, tqdm, filename if isinstance(filename, str) else None) as bar:
        found = in_folder(find(filename, storage_options))
        return load_all(found, options, _Tensors(device), bar.callback)


def load(
    data: Union[bytes, bytearray, memoryview], *, lenient: bool = False
) -> Dict[str, torch.Tensor]:
    """Like `load_file`, for a file in memory; the tensors are copies."""
    return load_all(Memory(bytes(data)), Options(lenient=lenient), _Tensors("cpu"))


def tensor(tensor: Tensor, *, dequantize: bool = False) -> torch.Tensor:
    """One tensor of a model, as a copy."""
    pairs = None if dequantize else _pairs(tensor)
    if pairs is not None:
        return pairs
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RawElementsWarning)
        array = np.array(tensor.numpy(dequantize=dequantize))
    narrow = None if dequantize else _NARROW.get(tensor.dtype)
    if narrow is None:
        return torch.from_numpy(array)
    dtype = DTYPES.get(tensor.dtype)
    if dtype is None:
        raise Unsupported(f"this release of PyTorch has no type for {tensor.dtype} data")
    return torch.from_numpy(array.view(narrow)).view(dtype)


def _pairs(tensor: Tensor) -> Optional[torch.Tensor]:
    """4-bit floats as in `safetensors.torch`, two per byte."""
    inner = tensor.shape[-1] if tensor.shape else None
    if tensor.dtype != "f4e2m1" or tensor.layout != "row-major" or not inner or inner % 2:
        return None
    if not hasattr(torch, "float4_e2m1fn_x2") or not tensor.elements:
        return None
    stored = torch.frombuffer(bytearray(tensor.tobytes()), dtype=torch.uint8)
    return stored.view(torch.float4_e2m1fn_x2).reshape(*tensor.shape[:-1], inner // 2)


class _Tensors:
    """Tensors on a device."""

    dtypes: Mapping[str, Any] = DTYPES

    def __init__(self, device: Any) -> None:
        self._device = device
        #: The last buffer, and its copy on the device.
        self._moved: Tuple[Any, Any] = (None, None)

    def buffer(self, length: int) -> Tuple[Any, memoryview]:
        # On the CPU, whatever the default device is.
        buffer = torch.empty(length, dtype=torch.uint8, device="cpu")
        return buffer, buffer.numpy().data

    def view(self, buffer: Any, planned: Planned, place: int) -> torch.Tensor:
        _, dtype, shape, _, length, fortran = planned
        if self._moved[0] is not buffer:
            self._moved = (buffer, buffer.to(self._device))
        flat = self._moved[1][place : place + length].view(DTYPES[dtype])
        if fortran:
            return flat.reshape(shape[::-1]).permute(*range(len(shape))[::-1])
        return flat.reshape(shape)

    def decoded(self, it: Tensor) -> torch.Tensor:
        return tensor(it).to(self._device)
