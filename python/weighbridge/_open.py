"""Opens files, and loads all tensors of a file."""

from __future__ import annotations

import contextlib
import mmap as _mmap
import os
import stat
from typing import (
    Any,
    Dict,
    Iterable,
    List,
    Literal,
    Mapping,
    Optional,
    Protocol,
    Tuple,
    TypeVar,
    Union,
)

import numpy as np
import numpy.typing as npt

from . import _native, _numpy
from ._check import INDEX, check_source, not_there
from ._members import member_of
from ._options import Bar, Options, Progress, rules
from ._sources import (
    GRANULE,
    Memory,
    Path,
    Reader,
    Remote,
    Source,
    beside,
    file_name,
    find,
    in_folder,
)

#: Files up to this length are read in full when they are opened.
WHOLE = 16 << 20
#: Tensors of a file share buffers of this length; a longer tensor has its own.
SHARED = 4 << 20
#: Bytes read between two progress reports.
PIECE = 64 << 20
#: Once a store lacks this many files, the others are not looked up, as in a check.
ABSENT = 1_000

Array = npt.NDArray[Any]
T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
#: Changes when a file is replaced or written to.
State = Tuple[int, ...]


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
    member: Optional[str] = None,
    storage_options: Optional[Mapping[str, Any]] = None,
) -> _native.Model:
    """Opens a file and reads only what is needed.

    The index of a sharded checkpoint, a folder with one, and the first part of a split GGUF are
    opened as one model, whose tensors lie in several files: `tensor.file` names the file. The
    tensors of missing files (`model.missing`) are missing too.

    Opening gives no verdict: use `model.check()` or `weighbridge.check` for that.

    Args:
        source: Anything that `check` accepts, or a folder with one index.
        mmap: Map a file on disk, so that arrays are views of it. Only for files that no other
            program shortens: accessing an array of a mapped file that has become shorter kills
            the process. Without `mmap` the file is read, and this raises an `OSError`.
        member: Open this member of an archive of models (DDUF), such as
            `vae/diffusion_pytorch_model.safetensors`. `weighbridge.members` lists them.
        format, lenient, structure, deny, max_work, memory, storage_options: As for `check`;
            they apply to `model.check()` too.
    """
    options = Options(format, lenient, structure, rules(deny), max_work, memory)
    found = find(source, storage_options)
    if member is not None:
        return _open_reader(member_of(found, member), options)
    found = in_folder(found)
    before = _state_at(found.path) if isinstance(found, Path) else None
    return _with_parts(found, _open_alone(found, options, mmap), options, mmap, before)


def _open_alone(
    found: Source, options: Options, mmap: bool = False, whole: int = WHOLE
) -> _native.Model:
    """Opens one file; on disk, up to `whole` bytes are read in full."""
    if isinstance(found, Path):
        return _open_path(found.path, options, mmap, whole)
    if isinstance(found, Memory):
        return _native.Model.open_bytes(found.data, options)
    if isinstance(found, Remote):
        options = options._replace(name=found.name, granule=GRANULE)
        return _native.Model.open_reader(found.size(), found.read, options)
    return _open_reader(found, options)


def _of_part(model: _native.Model, name: str, options: Options) -> Options:
    """Options for a file of a model's set, as they are when the set is checked."""
    if model.format != INDEX:
        return options._replace(format="gguf")
    # Loaders read a shard with another name as a checkpoint of PyTorch.
    is_safe = name.lower().endswith(".safetensors")
    return options._replace(format="safetensors" if is_safe else None)


def _with_parts(
    found: Source, model: _native.Model, options: Options, mmap: bool, before: Optional[State]
) -> _native.Model:
    """The model that a file belongs to, if it is the first part or the index of others; `before` is
    the file's state when it was opened."""
    own = file_name(found)
    if own is None or model.format not in (INDEX, "gguf"):
        return model
    left, absent = WHOLE, 0
    # The check reopens files on disk.
    states = {found.path: before} if isinstance(found, Path) else {}

    def open_(name: str) -> Tuple[str, Optional[_native.Model]]:
        nonlocal left, absent
        if name == own:
            return str(model.file), model
        part = beside(found, name)
        full = part.path if isinstance(part, Path) else str(getattr(part, "name", name))
        if isinstance(part, Path):
            if _native.leaves(part.path):
                return full, None
            states[part.path] = _state_at(part.path)
        elif absent == ABSENT:
            return full, None
        try:
            opened = _open_alone(part, _of_part(model, name, options), mmap, left)
        except FileNotFoundError as error:
            if isinstance(part, Remote):
                not_there(part, name, error)
            absent += 1
            return full, None
        left -= min(left, opened.size)
        return full, opened

    def check() -> _native.Report:
        report = check_source(found, options)
        for path, state in states.items():
            if _state_at(path) != state:
                raise OSError(f"{path}: the file changed after it was opened")
        return report

    return model.with_parts(own, open_, check)


def load_file(
    filename: Any,
    *,
    lenient: bool = False,
    max_work: Optional[int] = None,
    progress: Optional[Progress] = None,
    tqdm: bool = False,
    storage_options: Optional[Mapping[str, Any]] = None,
) -> Dict[str, Array]:
    """Loads all tensors of a valid file: like `safetensors.numpy.load_file`, but for every format,
    and only after a check. For the index of a sharded checkpoint, a folder with one, and the
    first part of a split GGUF, loads the tensors of all files.

    The arrays are writable and belong to the caller. bf16 and 8-bit floats have the types of
    `ml_dtypes`; quantised blocks are returned as stored (see `Tensor.numpy`).

    Raises:
        InvalidFile, Unsupported, LimitExceeded: The check did not find the file valid.
        OSError: The file cannot be read, or changed while it was read.
    """
    options = Options(lenient=lenient, max_work=max_work)
    with Bar(progress, tqdm, filename if isinstance(filename, str) else None) as bar:
        found = in_folder(find(filename, storage_options))
        return load_all(found, options, ARRAYS, bar.callback)


def load(data: Union[bytes, bytearray, memoryview], *, lenient: bool = False) -> Dict[str, Array]:
    """Like `load_file`, for a file in memory; the arrays are copies."""
    return load_all(Memory(bytes(data)), Options(lenient=lenient), ARRAYS)


def _open_path(
    path: str, options: Options, mmap: bool = False, whole: int = WHOLE
) -> _native.Model:
    options = options._replace(name=path)
    try:
        about = os.stat(path)
        if stat.S_ISREG(about.st_mode) and mmap and about.st_size > 0:
            with _open_file(path) as file:
                buffer = _mmap.mmap(file.fileno(), 0, access=_mmap.ACCESS_READ)
                model = _native.Model.open_path(path, options, _bytes_of(memoryview(buffer)))
                if _state(os.stat(path)) != _state(os.fstat(file.fileno())):
                    raise OSError(f"{path}: the file changed while it was opened")
            return model
        if stat.S_ISREG(about.st_mode) and about.st_size <= whole:
            with _open_file(path) as file:
                model = _native.Model.open_bytes(file.read(), options)
            # The data of an ONNX model may be in files beside it.
            if model.format != "onnx":
                return model
        return _native.Model.open_path(path, options)
    except OSError as error:
        if error.errno is not None:
            error.filename = error.filename or path
        raise


def _open_file(path: str) -> Any:
    return os.fdopen(os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0)), "rb", buffering=0)


def _open_reader(found: Reader, options: Options) -> _native.Model:
    options = options._replace(name=found.name)
    whole = _bytes_of(found.view) if found.view else None
    # Views require that elements in memory are as aligned as their offset in the file.
    aligned = whole is not None and whole.ctypes.data % 16 == 0
    return _native.Model.open_reader(found.size, found.read, options, whole if aligned else None)


def _bytes_of(view: memoryview) -> Array:
    """An array that keeps the view alive, and with it the memory. `numpy.ndarray` would not: an
    array made from the view itself releases the view and keeps only the underlying object."""
    return np.frombuffer(view, np.uint8)


def _state(about: os.stat_result) -> State:
    return (about.st_ino, about.st_size, about.st_mtime_ns, about.st_ctime_ns)


def _state_at(path: str) -> Optional[State]:
    with contextlib.suppress(FileNotFoundError):
        return _state(os.stat(path))
    return None


def load_all(
    source: Source,
    options: Options,
    kind: Kind[T],
    progress: Optional[Progress] = None,
    alone: bool = False,
) -> Dict[str, T]:
    """All tensors of a valid model: of the file and, unless `alone`, of the files it lists."""
    if isinstance(source, Path):
        return _load_path(source, options, kind, progress, alone)
    data = source.data if isinstance(source, Memory) else _whole(source)
    return _load_bytes(source, data, options, kind, alone)


def _whole(source: Union[Reader, Remote]) -> bytes:
    size = source.size() if isinstance(source, Remote) else source.size
    return source.read(0, size)


def _load_path(
    source: Path, options: Options, kind: Kind[T], progress: Optional[Progress], alone: bool
) -> Dict[str, T]:
    path = source.path
    before = _state(os.stat(path))
    with _open_path(path, options) as model:
        files = _files(source, model, alone)
        if files:
            loaded = _load_several(source, model, files, options, kind, progress)
            if _state(os.stat(path)) != before:
                raise OSError(f"{path}: the file changed while it was read")
            return loaded
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

            tensors = _all(model, kind, read)
            if _state(os.fstat(file.fileno())) != before:
                raise OSError(f"{path}: the file changed while it was read")
        model.verify_unchanged()
    return tensors


def _load_bytes(
    source: Source, data: bytes, options: Options, kind: Kind[T], alone: bool
) -> Dict[str, T]:
    whole = memoryview(data)

    def read(offset: int, into: memoryview) -> None:
        into[:] = whole[offset : offset + len(into)]

    if isinstance(source, (Reader, Remote)):
        options = options._replace(name=source.name)
    with _native.Model.open_bytes(data, options) as model:
        files = _files(source, model, alone)
        if files:
            return _load_several(source, model, files, options, kind, None, data)
        model.check().raise_for_status()
        return _all(model, kind, read)


def _files(source: Source, model: _native.Model, alone: bool) -> Optional[List[str]]:
    """The names of the model's files, if it has several."""
    if alone or model.format not in (INDEX, "gguf"):
        return None
    own = file_name(source)
    if own is None:  # the check of an index reports that its files were not looked at
        return None
    return model.part_names(own)


def _load_several(
    source: Source,
    model: _native.Model,
    files: List[str],
    options: Options,
    kind: Kind[T],
    progress: Optional[Progress],
    data: Optional[bytes] = None,
) -> Dict[str, T]:
    """The tensors of all files, in the order of the index or else part by part. `data` is the
    model's file if it was read."""
    report = check_source(source, options)
    # A lenient reader takes what is there of a set that is not whole. Each file is checked below.
    if not options.lenient or report.verdict == "invalid":
        report.raise_for_status()
    is_index = model.format == INDEX
    listed: Dict[str, str] = model.metadata if is_index else {}
    own, loaded = file_name(source), {}
    for file in files:
        as_checked = _of_part(model, file, options)
        if file == own and data is not None:
            loaded[file] = _load_bytes(source, data, as_checked, kind, alone=True)
            continue
        part = source if file == own else beside(source, file)
        if file != own and isinstance(part, Path) and _native.leaves(part.path):
            raise OSError(f"{part.path}: a link that points outside its folder")
        loaded[file] = load_all(part, as_checked, kind, progress, alone=True)
    if is_index:
        return {name: loaded[file][name] for name, file in listed.items()}
    tensors: Dict[str, T] = {}
    for file in files:
        for name, tensor in loaded[file].items():
            tensors.setdefault(name, tensor)
    return tensors


#: Position, dtype, shape, offset, length, and whether the first axis is the fastest.
Planned = Tuple[int, str, Tuple[int, ...], int, int, bool]


class Kind(Protocol[T_co]):
    """The type of loaded tensors."""

    #: The types whose elements are stored as in this kind of tensor.
    dtypes: Mapping[str, Any]

    def buffer(self, length: int) -> Tuple[Any, memoryview]:
        """Memory for tensors, and a writable view of it."""

    def view(self, buffer: Any, planned: Planned, place: int) -> Optional[T_co]:
        """The tensor stored at this place, if its shape is supported."""

    def decoded(self, tensor: _native.Tensor) -> T_co:
        """Decodes a tensor that is stored in another way."""


class _Arrays:
    """NumPy arrays."""

    dtypes: Mapping[str, Any] = _numpy.VIEWS

    def buffer(self, length: int) -> Tuple[Any, memoryview]:
        buffer = np.empty(length, np.uint8)
        return buffer, buffer.data

    def view(self, buffer: Any, planned: Planned, place: int) -> Optional[Array]:
        _, dtype, shape, _, _, fortran = planned
        order: Literal["C", "F"] = "F" if fortran else "C"
        with contextlib.suppress(ValueError):  # a shape that NumPy does not support
            return np.ndarray(shape, self.dtypes[dtype], buffer, place, None, order)
        return None

    def decoded(self, tensor: _native.Tensor) -> Array:
        return tensor.numpy().copy()


ARRAYS = _Arrays()


def _all(model: _native.Model, kind: Kind[T], read: Any) -> Dict[str, T]:
    """Loads all tensors; adjacent ones share a buffer."""
    tensors = model.tensors
    found: List[Optional[T]] = [None] * len(tensors)
    run: List[Planned] = []
    start = end = 0

    def flush() -> None:
        if not run:
            return
        # The alignment is the same as in the file.
        before = start % 64
        buffer, memory = kind.buffer(before + end - start)
        read(start, memory[before:])
        for it in run:
            found[it[0]] = kind.view(buffer, it, before + it[3] - start)
        run.clear()

    planned = [it for it in model.plan() if it[1] in kind.dtypes]
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
    loaded: Dict[str, T] = {}
    for tensor, view in zip(tensors, found):
        loaded[tensor.name] = kind.decoded(tensor) if view is None else view
    return loaded
