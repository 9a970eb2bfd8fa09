"""Elements as NumPy arrays."""

from __future__ import annotations

import ast
import contextlib
import io
import tokenize
import warnings
from typing import TYPE_CHECKING, Any, Dict, List, Tuple

import numpy as np
import numpy.lib.format as npy
import numpy.typing as npt

from ._errors import RawElementsWarning, Unsupported

if TYPE_CHECKING:
    from ._native import Tensor

_ml: Any = None
with contextlib.suppress(ImportError):  # otherwise raw bits, with a warning
    import ml_dtypes as _ml

Array = npt.NDArray[Any]

_DIRECT = {
    "i8": "int8",
    "i16": "int16",
    "i32": "int32",
    "i64": "int64",
    "u8": "uint8",
    "u16": "uint16",
    "u32": "uint32",
    "u64": "uint64",
    "f16": "float16",
    "f32": "float32",
    "f64": "float64",
}
_COMPLEX = {"c64": "complex64", "c128": "complex128"}
#: Types that only ml_dtypes has, and their substitutes without it.
_NARROW = {
    "bf16": ("bfloat16", "uint16"),
    "f8e4m3": ("float8_e4m3fn", "uint8"),
    "f8e5m2": ("float8_e5m2", "uint8"),
    "f8e4m3fnuz": ("float8_e4m3fnuz", "uint8"),
    "f8e5m2fnuz": ("float8_e5m2fnuz", "uint8"),
    "f8e8m0": ("float8_e8m0fnu", "uint8"),
}
#: Types that pack several elements in a byte, and the type for one element.
_PACKED = {
    "i4": "int8",
    "i2": "int8",
    "i1": "int8",
    "t2": "int8",
    "t1": "int8",
    "u4": "uint8",
    "u2": "uint8",
    "u1": "uint8",
    "f4e2m1": "float32",
    "f6e2m3": "float32",
    "f6e3m2": "float32",
}
_KINDS = {"int8": "i8", "uint8": "u8", "float32": "f32"}


def _views() -> Dict[str, np.dtype[Any]]:
    views: Dict[str, np.dtype[Any]] = {name: np.dtype(it) for name, it in _DIRECT.items()}
    views.update((name, np.dtype(it)) for name, it in _COMPLEX.items())
    for name, (narrow, _) in _NARROW.items():
        if _ml is not None and hasattr(_ml, narrow):
            views[name] = np.dtype(getattr(_ml, narrow))
    return views


#: The types whose elements are stored as in NumPy. Booleans are not: NumPy expects 0 or 1, and a
#: file may contain other bytes.
VIEWS = _views()


def array(tensor: Tensor, dequantize: bool) -> Array:
    """The elements of a tensor that is not a view of its file."""
    return _array(tensor, dequantize, None)


def rows(tensor: Tensor, start: int, stop: int, dequantize: bool) -> Array:
    """The elements of some rows."""
    shape = _shape(tensor)
    if not shape or not 0 <= start <= stop <= shape[0]:
        why = f"the first axis has length {shape[0]}" if shape else "the tensor is a scalar"
        raise ValueError(f"rows {start} to {stop} are out of range: {why}")
    view = None if dequantize else tensor.peek()
    if view is not None:
        found: Array = view[start:stop]
        return found
    return _array(tensor, dequantize, (start, stop))


def _array(tensor: Tensor, dequantize: bool, rows: Any) -> Array:
    dtype, shape = tensor.dtype, _shape(tensor)
    if rows is not None:
        shape = (rows[1] - rows[0], *shape[1:])
    if dequantize:
        quantization = tensor.quantization
        if quantization is not None:
            return _scaled(tensor, quantization, rows)
        if dtype in _NARROW or _is_block(tensor):
            return _frozen(np.frombuffer(tensor.read_as("f32", rows), np.float32), shape)
    if dtype in _DIRECT:
        return _frozen(np.frombuffer(tensor.read_as(dtype, rows), _DIRECT[dtype]), shape)
    if dtype in _PACKED:
        wide = _PACKED[dtype]
        return _frozen(np.frombuffer(tensor.read_as(_KINDS[wide], rows), wide), shape)
    if dtype == "bool":
        return _frozen(np.frombuffer(tensor.read_as("u8", rows), np.uint8) != 0, shape)
    if dtype == "bf16":
        return _frozen(np.frombuffer(tensor.read_as("bf16", rows), _narrow(dtype)), shape)
    if dtype in _NARROW:
        return _cut(_stored(tensor, _narrow(dtype)), rows)
    if dtype in _COMPLEX:
        stored = np.dtype(_COMPLEX[dtype]).newbyteorder(">" if tensor.big_endian else "<")
        return _cut(_stored(tensor, stored).astype(_COMPLEX[dtype]), rows)
    if _is_block(tensor):
        blocks = _blocks(tensor)
        if rows is not None and blocks.ndim < 2:
            raise Unsupported("a block holds several elements: pass dequantize=True")
        return _cut(blocks, rows)
    descr = tensor.descr
    if descr is not None:
        stored = _described(tensor, descr)
        return _cut(_stored(tensor, stored).astype(stored.newbyteorder("=")), rows)
    # Raises the reason why there are no numbers.
    tensor.read_as("f64", rows)
    raise Unsupported(f"NumPy has no type for {dtype} data")


def _shape(tensor: Tensor) -> Tuple[int, ...]:
    known = tuple(extent for extent in tensor.shape if extent is not None)
    if len(known) == len(tensor.shape):
        return known
    # The file does not store the extents: the array has one axis.
    return (tensor.elements,)


def _frozen(array: Array, shape: Tuple[int, ...]) -> Array:
    try:
        array = array.reshape(shape)
    except ValueError as error:  # more or longer axes than NumPy supports
        raise Unsupported(f"NumPy cannot represent this tensor: {error}") from error
    array.flags.writeable = False
    return array


def _cut(array: Array, rows: Any) -> Array:
    array.flags.writeable = False
    return array if rows is None else array[rows[0] : rows[1]]


def _narrow(dtype: str) -> np.dtype[Any]:
    if dtype in VIEWS:
        return VIEWS[dtype]
    raw = _NARROW[dtype][1]
    message = f"returning {dtype} elements as raw {raw}: install ml_dtypes, or pass dequantize=True"
    warnings.warn(message, RawElementsWarning, stacklevel=4)
    return np.dtype(raw)


def _described(tensor: Tensor, descr: str) -> np.dtype[Any]:
    """The type that the header of a NumPy array describes, as `numpy.load` reads it."""
    try:
        try:
            literal = ast.literal_eval(descr)
        except SyntaxError:
            literal = ast.literal_eval(_without_longs(descr))
        dtype = npy.descr_to_dtype(literal)
    except (MemoryError, RecursionError, SyntaxError, TypeError, ValueError) as error:
        # Long floats, for one, are other types on other machines.
        raise Unsupported(f"NumPy has no type for {tensor.dtype} data here: {error}") from error
    if dtype.hasobject or tensor.nbytes != dtype.itemsize * tensor.elements:
        raise Unsupported(f"NumPy reads {tensor.dtype} data of this type in another way")
    return dtype


def _without_longs(descr: str) -> str:
    """The text without the letter that Python 2 puts behind some numbers, as in `3L`."""
    kept: List[Tuple[int, str]] = []
    try:
        for kind, text, *_ in tokenize.generate_tokens(io.StringIO(descr).readline):
            if not (text == "L" and kept and kept[-1][0] == tokenize.NUMBER):
                kept.append((kind, text))
    except tokenize.TokenError as error:
        raise SyntaxError(str(error)) from error
    return tokenize.untokenize(kept).strip()


def _stored(tensor: Tensor, dtype: np.dtype[Any]) -> Array:
    """The elements as stored in the file."""
    if dtype.itemsize == 0:
        return np.ndarray(_shape(tensor), dtype)
    flat = np.frombuffer(tensor.tobytes(), dtype)[: tensor.elements]
    if tensor.layout == "column-major":
        return _frozen(flat, _shape(tensor)[::-1]).T
    return _frozen(flat, _shape(tensor))


def _is_block(tensor: Tensor) -> bool:
    return tensor.block is not None and tensor.dtype.startswith(("q", "iq", "tq", "mxfp", "nvfp"))


def _blocks(tensor: Tensor) -> Array:
    """Blocks as bytes; the last axis is the bytes of a row's blocks, as in the `gguf` package."""
    assert tensor.block is not None
    (count, width), shape = tensor.block, _shape(tensor)
    flat = np.frombuffer(tensor.tobytes(), np.uint8)
    if shape and shape[-1] % count == 0:
        return flat.reshape((*shape[:-1], shape[-1] // count * width))
    return flat


def _scaled(tensor: Tensor, quantization: Any, rows: Any) -> Array:
    """(element - zero point) * scale."""
    if quantization["truncated"]:
        raise Unsupported("the tensor has more scales than are kept in memory")
    elements = _array(tensor, False, None)
    axis, points = quantization["axis"], quantization["zero_points"]
    scales = np.array(quantization["scales"], np.float32)
    along = [1] * elements.ndim
    if axis is not None:
        along[axis] = -1
    shifted = elements.astype(np.int64)
    if points is not None:
        shifted = shifted - np.array(points, np.int64).reshape(along if axis is not None else ())
    scaled = shifted.astype(np.float32) * scales.reshape(along if axis is not None else ())
    return _cut(scaled, rows)
