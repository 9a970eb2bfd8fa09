"""Members of an archive of models (DDUF), as files of their own."""

from __future__ import annotations

from typing import Any, Dict, Mapping, NamedTuple, Optional

from . import _native
from ._sources import Memory, Read, Reader, Remote, Source, alone, find, from_file


class Member(NamedTuple):
    """Where the bytes of a member are; both are None if the archive holds them compressed."""

    offset: Optional[int]
    size: Optional[int]


def members(
    source: Any, *, storage_options: Optional[Mapping[str, Any]] = None
) -> Dict[str, Member]:
    """The members of an archive of models by name: of a DDUF file, or of a program with a GGUF model
    behind it. `weighbridge.open(source, member=name)` opens one.

    Args:
        source: A path, a file object with a name, or a URL of fsspec.
        storage_options: Options of the file system, for a URL.

    Raises:
        ValueError: The file is no archive of models.
        OSError: The bytes cannot be read.
    """
    return _listed(_reader(find(source, storage_options)))


def member_of(source: Source, name: str) -> Reader:
    """One member as a file.

    Raises:
        KeyError: The archive has no such member.
    """
    archive = _reader(source)
    offset, size = _listed(archive)[name]
    if offset is None or size is None:
        raise ValueError(f"{name}: the member is compressed, or not in the file")
    return Reader(size, _part(archive, offset, size), f"{archive.name}: {name}")


def _part(archive: Reader, offset: int, size: int) -> Read:
    """Reads a part of a file, and nothing past its end."""
    return lambda at, length: archive.read(offset + at, max(0, min(length, size - at)))


def _listed(archive: Reader) -> Dict[str, Member]:
    found = None
    if archive.name is not None:
        found = _native.members(archive.name, alone(archive))
    if found is None:
        raise ValueError(f"{archive.name or 'a file without a name'}: no archive of models")
    return {name: Member(*(place or (None, None))) for name, place in found}


def _reader(source: Source) -> Reader:
    if isinstance(source, Reader):
        return source
    if isinstance(source, Memory):
        return Reader(len(source.data), lambda at, length: source.data[at : at + length])
    if isinstance(source, Remote):
        return Reader(source.size(), source.read, source.parts()[1])
    return from_file(open(source.path, "rb", buffering=0))
