"""Sources of a file's bytes: on disk, in memory, a file object, a store."""

from __future__ import annotations

import errno
import os
import re
import threading
from typing import Any, Callable, List, Mapping, NamedTuple, Optional, Tuple, Union
from urllib.parse import quote, unquote

#: Requests to a store are aligned to multiples of this: each is a round trip.
GRANULE = 64 << 10
#: Ranges no further apart than this are read in one request.
GAP = 64 << 10

#: Endings of the names of shard indexes. Loaders prefer the first.
_INDEXES = (".safetensors.index.json", ".bin.index.json")

#: Only its name tells an archive of models (DDUF) from other archives.
ARCHIVE = ".dduf"

Read = Callable[[int, int], bytes]
Span = Tuple[int, int]


class Path(NamedTuple):
    """A file on disk."""

    path: str


class Memory(NamedTuple):
    """Bytes that do not change."""

    data: bytes


class Reader(NamedTuple):
    """A source read by offset and length; `view` covers all of it, if there is one."""

    size: int
    read: Read
    name: Optional[str] = None
    view: Any = None


class Remote(NamedTuple):
    """A file of a file system of fsspec."""

    fs: Any
    path: str
    name: str

    def is_http(self) -> bool:
        """Whether its path is a URL."""
        return self.path.startswith(("http://", "https://"))

    def parts(self) -> Tuple[str, str, str]:
        """The folder with its slash, the name, and anything after the name in a URL."""
        end = re.search("[?#]|$", self.path)
        at = end.start() if end is not None and self.is_http() else len(self.path)
        start = self.path.rfind("/", 0, at) + 1
        name = self.path[start:at]
        return self.path[:start], unquote(name) if self.is_http() else name, self.path[at:]

    def beside(self, name: str) -> Remote:
        """The file of this name in the same folder."""
        folder, _, rest = self.parts()
        path = folder + (quote(name) if self.is_http() else name) + rest
        return Remote(self.fs, path, path)

    def is_folder(self) -> bool:
        """Whether the store says that this is a folder; HTTP has none."""
        isdir = None if self.is_http() else getattr(self.fs, "isdir", None)
        try:
            return isdir is not None and bool(isdir(self.path))
        except OSError:  # files may be readable where folders cannot be listed
            return False

    def size(self) -> int:
        """Number of bytes."""
        size = self.fs.info(self.path).get("size")
        if size is None:
            raise OSError(f"{self.name}: the store does not report its size")
        return int(size)

    def read(self, offset: int, length: int) -> bytes:
        """Reads bytes; returns too few if the file has become shorter."""
        return bytes(self.fs.cat_file(self.path, start=offset, end=offset + length))

    def read_all(self, spans: List[Span]) -> List[bytes]:
        """Reads several ranges, concurrently if the store can."""
        if len(spans) == 1:
            return [self.read(*spans[0])]
        starts = [offset for offset, _ in spans]
        ends = [offset + length for offset, length in spans]
        found = self.fs.cat_ranges([self.path] * len(spans), starts, ends, on_error="raise")
        return [bytes(piece) for piece in found]


Source = Union[Path, Memory, Reader, Remote]


def find(source: Any, storage_options: Optional[Mapping[str, Any]] = None) -> Source:
    """Returns the kind of source this is."""
    if isinstance(source, bytes):
        return Memory(source)
    if isinstance(source, str) and ("://" in source or "::" in source):
        from fsspec.core import url_to_fs

        fs, path = url_to_fs(source, **(storage_options or {}))
        return _in(fs, path, source)
    if hasattr(source, "fs") and hasattr(source, "path"):
        if getattr(source, "compression", None) is None:
            return _in(source.fs, source.path, getattr(source, "full_name", str(source.path)))
        if not hasattr(source, "seek"):
            raise ValueError("a file compressed as a whole must be opened first")
    if isinstance(source, (str, os.PathLike)):
        return Path(os.fsdecode(source))
    if hasattr(source, "read") and hasattr(source, "seek"):
        return from_file(source)
    try:
        view = memoryview(source)
    except TypeError:
        kind = type(source).__name__
        raise TypeError(
            f"expected a path, bytes, a buffer, a file object or a URL, not {kind}"
        ) from None
    return _buffer(view)


def beside(source: Source, name: str) -> Source:
    """The file of this name in the folder of another."""
    if isinstance(source, Path):
        return Path(os.path.join(os.path.dirname(source.path), name))
    if isinstance(source, Remote):
        return source.beside(name)
    raise ValueError("cannot locate the files listed by an index that is in memory")


def file_name(source: Source) -> Optional[str]:
    """The file's name without the folder, if it has one."""
    if isinstance(source, Path):
        return os.path.basename(source.path)
    return source.parts()[1] if isinstance(source, Remote) else None


def is_index(name: str) -> bool:
    """Whether a file of this name lists the shards of a checkpoint."""
    return name.endswith(_INDEXES)


def alone(found: Reader) -> Callable[[str], Tuple[int, Read]]:
    """A folder in which no other file is read."""

    def open_(name: str) -> Tuple[int, Read]:
        if name != found.name:
            raise FileNotFoundError(name)
        return found.size, found.read

    return open_


def in_folder(source: Source) -> Source:
    """The index of a sharded checkpoint in a folder; other sources are returned unchanged."""
    if isinstance(source, Path) and os.path.isdir(source.path):
        names = os.listdir(source.path)
        folder: Source = Path(os.path.join(source.path, ""))
    elif isinstance(source, Remote) and source.is_folder():
        names = [it.rsplit("/", 1)[-1] for it in source.fs.ls(source.path, detail=False)]
        folder = source._replace(path=source.path.rstrip("/") + "/")
    else:
        return source
    by_ending = ([name for name in names if name.endswith(it)] for it in _INDEXES)
    found = next((some for some in by_ending if some), [])
    if len(found) != 1:
        endings = " or ".join(f"*{it}" for it in _INDEXES)
        what = f"{len(found)} indexes ({endings})" if found else f"no index ({endings})"
        raise IsADirectoryError(errno.EISDIR, f"a folder with {what}", source[-1])
    return beside(folder, found[0])


def coalesce(spans: List[Span], gap: int = GAP) -> List[Span]:
    """Merges ranges that lie close together."""
    merged: List[Span] = []
    for offset, length in sorted(spans):
        if merged and offset <= merged[-1][0] + merged[-1][1] + gap:
            start, before = merged[-1]
            merged[-1] = (start, max(before, offset + length - start))
        else:
            merged.append((offset, length))
    return merged


def expand(
    paths: Union[str, List[str]], storage_options: Optional[Mapping[str, Any]] = None
) -> List[Tuple[str, int]]:
    """The files of paths and URLs, which may have wildcards or be folders, with their sizes.

    Paths that cannot be found are listed with size 0; opening them gives the reason.
    """
    from fsspec.core import url_to_fs

    found: List[Tuple[str, int]] = []
    for url in [paths] if isinstance(paths, str) else paths:
        try:
            fs, path = url_to_fs(url, **(storage_options or {}))
            if any(c in path for c in "*?["):
                infos = fs.glob(path, detail=True) or {path: fs.info(path)}
            elif fs.isdir(path):
                infos = fs.find(path, detail=True)
            else:
                infos = {path: fs.info(path)}
        except Exception:  # whatever a store raises is reported when the file is opened
            found.append((url, 0))
            continue
        for name, info in sorted(infos.items()):
            if info.get("type") == "directory":
                continue
            full = name if is_local(fs) else str(fs.unstrip_protocol(name))
            found.append((url if name == path else full, int(info["size"] or 0)))
    return found


def is_local(fs: Any) -> bool:
    """Whether the file system is the local disk."""
    protocol = fs.protocol
    return "file" in ((protocol,) if isinstance(protocol, str) else protocol)


def _in(fs: Any, path: str, name: str) -> Source:
    return Path(path) if is_local(fs) else Remote(fs, path, name)


def from_file(source: Any) -> Reader:
    """A source that reads a file object."""
    lock = threading.Lock()
    size = source.seek(0, os.SEEK_END)
    if size is None:
        size = source.tell()

    def read(offset: int, length: int) -> bytes:
        with lock:
            source.seek(offset)
            pieces = []
            while length > 0:
                piece = source.read(length)
                if not piece:
                    break
                if not isinstance(piece, bytes):
                    raise TypeError("the file object must be opened in binary mode")
                pieces.append(piece)
                length -= len(piece)
            return b"".join(pieces)

    name = getattr(source, "name", None)
    return Reader(size, read, name if isinstance(name, str) else None)


def _buffer(view: memoryview) -> Reader:
    if not view.contiguous:
        raise ValueError("the buffer is not contiguous")
    flat = view.cast("B").toreadonly() if view.nbytes else memoryview(b"")
    return Reader(len(flat), lambda offset, length: bytes(flat[offset : offset + length]), None, flat)
