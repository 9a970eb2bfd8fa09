"""The files of a model as the viewer requests them: the first, and others by name."""

from __future__ import annotations

import ntpath
import os
import re
import stat
from typing import Any, Container, Dict, Mapping, Optional, Tuple

from . import _native
from ._options import Options
from ._sources import (
    Memory,
    Read,
    Reader,
    Remote,
    Source,
    beside,
    file_name,
    find,
    in_folder,
    is_index,
)
from ._sources import Path as OnDisk

#: Maximum number of a model's files that are read for a view.
PARTS = 4096

#: The name of a part of a split GGUF: common prefix, number of the part, number of parts.
_PART = re.compile(r"(?s)(.*)-(\d{5})-of-(\d{5})\.gguf")

#: The size of a file, and a function that reads it.
Readable = Tuple[int, Read]


class Opened:
    """A file in the state it had when it was opened, and the other requested files of its model."""

    def __init__(self, files: ModelFiles, size: int, read: Read, name: Optional[str]) -> None:
        self.size, self.read, self.name = size, read, name
        self._files = files
        self._names: Optional[Container[str]] = None
        self._parts: Dict[str, Readable] = {}

    @property
    def has_others(self) -> bool:
        """Whether other files may be requested."""
        return self._files.has_others(self.name)

    def add(self, name: Any) -> Optional[int]:
        """Opens another file of the model; returns its size, or None if it is missing."""
        if self._names is None:
            self._names = self._files.names(self)
        if not _is_plain(name) or name not in self._names:
            raise ValueError("the model has no file with this name")
        if name not in self._parts:
            if len(self._parts) >= PARTS:
                raise ValueError(f"cannot show more than {PARTS} files of a model")
            try:
                self._parts[name] = self._files.part(name)
            except FileNotFoundError:
                return None
        return self._parts[name][0]

    def reader(self, part: Any) -> Readable:
        """Size and reader of the file itself if `part` is None, otherwise of an added file."""
        if part is None:
            return self.size, self.read
        if not isinstance(part, str) or part not in self._parts:
            raise ValueError("this file of the model has not been opened")
        return self._parts[part]


class ModelFiles:
    """Files that may be read: a file and those it names in its folder, or the files of a list."""

    def __init__(self, source: Any, storage_options: Optional[Mapping[str, Any]]) -> None:
        self._options = storage_options
        self._source = source
        self._given: Optional[Dict[str, Any]] = None
        if isinstance(source, (list, tuple)):
            self._given = _by_name(source, storage_options)
            # An index comes before the files that it lists.
            self._source = self._given[min(self._given, key=lambda name: not is_index(name))]

    def _first(self) -> Tuple[Source, Optional[str]]:
        """The file itself, and its path on disk if the file was named rather than its folder."""
        named = find(self._source, self._options)
        found = in_folder(named) if self._given is None else named
        return found, named.path if found is named and isinstance(named, OnDisk) else None

    def open(self) -> Opened:
        """Opens the file itself, in its current state."""
        found, named = self._first()
        if isinstance(found, OnDisk):
            size, read = _kept_open(found.path if named else _within(found.path, None))
        else:
            size, read = _readable(found)
        return Opened(self, size, read, _name_of(found))

    def has_others(self, name: Optional[str]) -> bool:
        """Whether a file of this name may belong to a model whose other files can be found."""
        if self._given is not None:
            return len(self._given) > 1
        if name is None or file_name(self._first()[0]) is None:
            return False
        return is_index(name) or _PART.fullmatch(name) is not None

    def names(self, opened: Opened) -> Container[str]:
        """The names of the files of the model."""
        name = opened.name
        if self._given is not None:
            return self._given
        if name is None or not self.has_others(name):
            return ()
        if _PART.fullmatch(name) is not None:
            return _Parts(name)
        options = Options(name=name)
        model = _native.Model.open_reader(opened.size, opened.read, options)
        return frozenset(model.part_names(name) or ())

    def part(self, name: str) -> Readable:
        """Opens the file with a name from `names`."""
        if self._given is not None:
            found = find(self._given[name], self._options)
            return _reopened(found.path) if isinstance(found, OnDisk) else _readable(found)
        first, named = self._first()
        found = beside(first, name)
        if isinstance(found, OnDisk):
            return _reopened(_within(found.path, named))
        return _readable(found)


class _Parts(Container[str]):
    """The names of all parts of a split GGUF, given the name of one."""

    def __init__(self, name: str) -> None:
        self._own = _PART.fullmatch(name)

    def __contains__(self, name: object) -> bool:
        other = _PART.fullmatch(name) if isinstance(name, str) else None
        if self._own is None or other is None:
            return False
        same = self._own.group(1, 3) == other.group(1, 3)
        return same and 1 <= int(other[2]) <= int(other[3])


def _is_plain(name: Any) -> bool:
    """Whether the name has no folder, and the extension of a model file."""
    if not isinstance(name, str) or "\0" in name or ntpath.basename(name) != name:
        return False
    return len(name) <= 255 and name.endswith((".safetensors", ".gguf"))


def _by_name(
    sources: Any, storage_options: Optional[Mapping[str, Any]]
) -> Dict[str, Any]:
    """Sources that were given individually, by name."""
    named: Dict[str, Any] = {}
    for source in sources:
        name = _name_of(find(source, storage_options))
        if name is None:
            raise ValueError("the files of a model need names: paths, URLs or named file objects")
        if name in named:
            raise ValueError(f"two files of the model are called {name}")
        named[name] = source
    if not named:
        raise ValueError("the list of files is empty")
    return named


def _name_of(found: Source) -> Optional[str]:
    name = file_name(found)
    if name is None and isinstance(found, Reader) and found.name:
        return os.path.basename(found.name)
    return name


def _readable(found: Source) -> Readable:
    if isinstance(found, Memory):
        found = find(memoryview(found.data))
    if isinstance(found, Remote):
        return found.size(), found.read
    assert isinstance(found, Reader)
    return found.size, found.read


def _within(path: str, named: Optional[str]) -> str:
    """Resolves a path, which must lie in its own folder or in that of the named file, as in the
    cache of Hugging Face. Otherwise the folder's author would choose which files are read."""
    there = os.path.realpath(path)
    folders = [os.path.realpath(os.path.dirname(path))]
    if named is not None:
        folders.append(os.path.dirname(os.path.realpath(named)))
    if os.path.dirname(there) not in folders:
        raise OSError("it is a link that points outside the folder")
    return there


def _kept_open(path: str) -> Readable:
    """Opens a file on disk; reading fails once it has changed."""
    file = open(path, "rb")
    it = find(file)
    assert isinstance(it, Reader)
    at_first = _state(os.fstat(file.fileno()))
    read_all = it.read

    def read(offset: int, length: int) -> bytes:
        found = read_all(offset, length)
        if _state(os.stat(path)) != at_first:
            raise OSError("the file has changed")
        return found

    return it.size, read


def _reopened(path: str) -> Readable:
    """Reopens the file for each range: models have more files than a process may keep open."""

    def opened() -> Any:
        # Opening a FIFO would block.
        if not stat.S_ISREG(os.stat(path).st_mode):
            raise OSError("it is not a regular file")
        return open(path, "rb")

    with opened() as file:
        at_first = _state(os.fstat(file.fileno()))

    def read(offset: int, length: int) -> bytes:
        with opened() as file:
            file.seek(offset)
            found: bytes = file.read(length)
            if _state(os.fstat(file.fileno())) != at_first:
                raise OSError("the file has changed")
        return found

    return at_first[1], read


def _state(it: os.stat_result) -> Tuple[int, int, int]:
    return it.st_ino, it.st_size, it.st_mtime_ns
