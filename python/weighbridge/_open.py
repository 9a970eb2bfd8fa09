"""Open files, and all tensors of a file at once."""

from __future__ import annotations

import contextlib
import mmap as _mmap
import os
import stat
from typing import Any, Dict, Iterable, List, Literal, Mapping, Optional, Tuple, Union

import numpy as np
import numpy.typing as npt

from . import _native, _numpy
from ._options import Bar, Options, Progress, rules
from ._sources import GRANULE, Memory, Path, Reader, Remote, find

#: Files up to this length are read at once when they are opened.
WHOLE = 16 << 20
#: Tensors of a file share buffers of this length; a longer one has its own.
SHARED = 4 << 20
#: How much is read between two reports of progress.
PIECE = 64 << 20

Array = npt.NDArray[Any]


def open(
    source: Any,
    *,
    format: Optional[str] = None,
    lenient: bool = False,
    structure: bool = False,
    deny: Union[str, Iterable[str]] = (),
    max_work: Optional[int] = None,
    memory: Optional[int] = None,
    mmap: bool = False,
    storage_options: Optional[Mapping[str, Any]] = None,
) -> _native.Model:
    """Opens a file, of which only what is asked for is read.

    A model is not a verdict: `model.check()` gives that, and so does `weighbridge.check`.

    Args:
        source: What `check` takes.
        mmap: Map a file on disk, so that arrays are views of it. Only for files that nobody
            else shortens: to look at an array of a mapped file that has become shorter ends
            the process. Without this a file is read, and then it is an `OSError`.
        format, lenient, structure, deny, max_work, memory, storage_options: As for `check`;
            they hold for `model.check()` too.
    """
    options = Options(format, lenient, structure, rules(deny), max_work, memory)
    found = find(source, storage_options)
    if isinstance(found, Path):
        return _open_path(found.path, options, mmap)
    if isinstance(found, Memory):
        return _native.Model.open_bytes(found.data, options)
    if isinstance(found, Remote):
        options = options._replace(name=found.name, granule=GRANULE)
        return _native.Model.open_reader(found.size(), found.read, options)
    return _open_reader(found, options)


def load_file(
    filename: Any,
    *,
    lenient: bool = False,
    max_work: Optional[int] = None,
    progress: Optional[Progress] = None,
    tqdm: bool = False,
    storage_options: Optional[Mapping[str, Any]] = None,
) -> Dict[str, Array]:
    """Loads all tensors of a file that is valid: as `safetensors.numpy.load_file`, for every
    format, and only after a check.

    The arrays are writable and belong to the caller. bf16 and 8-bit floats have the types of
    `ml_dtypes`; quantised blocks stay as they are stored (see `Tensor.numpy`).

    Raises:
        InvalidFile, Unsupported, LimitExceeded: The check did not find it valid.
        OSError: It cannot be read, or changed while it was.
    """
    options = Options(lenient=lenient, max_work=max_work)
    found = find(filename, storage_options)
    with Bar(progress, tqdm, filename if isinstance(filename, str) else None) as bar:
        if isinstance(found, Path):
            return _load_path(found.path, options, bar.callback)
        if isinstance(found, Memory):
            return _load_bytes(found.data, options)
        if isinstance(found, Remote):
            return _load_bytes(found.read(0, found.size()), options._replace(name=found.name))
        return _load_bytes(found.read(0, found.size), options._replace(name=found.name))


def load(data: Union[bytes, bytearray, memoryview], *, lenient: bool = False) -> Dict[str, Array]:
    """As `load_file`, of a file that is in memory; the arrays are copies."""
    return _load_bytes(bytes(data), Options(lenient=lenient))


def _open_path(path: str, options: Options, mmap: bool) -> _native.Model:
    options = options._replace(name=path)
    try:
        about = os.stat(path)
        if stat.S_ISREG(about.st_mode) and mmap and about.st_size > 0:
            with _open_file(path) as file:
                buffer = _mmap.mmap(file.fileno(), 0, access=_mmap.ACCESS_READ)
            return _native.Model.open_path(path, options, buffer)
        if stat.S_ISREG(about.st_mode) and about.st_size <= WHOLE:
            with _open_file(path) as file:
                return _native.Model.open_bytes(file.read(), options)
        return _native.Model.open_path(path, options)
    except OSError as error:
        error.filename = error.filename or path
        raise


def _open_file(path: str) -> Any:
    return os.fdopen(os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0)), "rb", buffering=0)


def _open_reader(found: Reader, options: Options) -> _native.Model:
    options = options._replace(name=found.name)
    # A view of it can be had where elements are as aligned as their offset in the file.
    aligned = found.view is not None and np.frombuffer(found.view, np.uint8).ctypes.data % 16 == 0
    view = found.view if aligned else None
    return _native.Model.open_reader(found.size, found.read, options, view)


def _state(about: os.stat_result) -> Tuple[int, ...]:
    return (about.st_ino, about.st_size, about.st_mtime_ns, about.st_ctime_ns)


def _load_path(path: str, options: Options, progress: Optional[Progress]) -> Dict[str, Array]:
    before = _state(os.stat(path))
    with _open_path(path, options, False) as model:
        model.check().raise_for_status()
        with _open_file(path) as file:

            def read(offset: int, into: memoryview) -> None:
                file.seek(offset)
                while len(into):
                    count = file.readinto(into[:PIECE])
                    if not count:
                        raise OSError(f"{path}: the file changed while it was read")
                    into = into[count:]
                    if progress is not None:
                        progress(file.tell(), model.size)

            arrays = _all(model, read)
            if _state(os.fstat(file.fileno())) != before:
                raise OSError(f"{path}: the file changed while it was read")
        model.verify_unchanged()
    return arrays


def _load_bytes(data: bytes, options: Options) -> Dict[str, Array]:
    whole = memoryview(data)

    def read(offset: int, into: memoryview) -> None:
        into[:] = whole[offset : offset + len(into)]

    with _native.Model.open_bytes(data, options) as model:
        model.check().raise_for_status()
        return _all(model, read)


Planned = Tuple[int, str, Tuple[int, ...], int, int, bool]


def _all(model: _native.Model, read: Any) -> Dict[str, Array]:
    """All tensors, those next to one another in one buffer."""
    tensors = model.tensors
    arrays: List[Optional[Array]] = [None] * len(tensors)
    dtypes = _numpy.VIEWS
    run: List[Planned] = []
    start = end = 0

    def flush() -> None:
        if not run:
            return
        # As aligned as in the file.
        before = start % 64
        buffer = np.empty(before + end - start, np.uint8)
        read(start, buffer.data[before:])
        for i, dtype, shape, offset, _, fortran in run:
            place = before + offset - start
            order: Literal["C", "F"] = "F" if fortran else "C"
            with contextlib.suppress(ValueError):  # a shape that NumPy does not have
                arrays[i] = np.ndarray(shape, dtypes[dtype], buffer, place, None, order)
        run.clear()

    planned = [it for it in model.plan() if it[1] in dtypes]
    planned.sort(key=lambda it: it[3])
    for it in planned:
        offset, length = it[3], it[4]
        if run and (offset != end or offset + length - start > SHARED):
            flush()
        if not run:
            start = offset
        run.append(it)
        end = offset + length
    flush()
    loaded: Dict[str, Array] = {}
    for tensor, array in zip(tensors, arrays):
        loaded[tensor.name] = tensor.numpy().copy() if array is None else array
    return loaded
