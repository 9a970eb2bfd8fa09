"""The viewer of the page in a notebook: a widget that needs `anywidget`
(`pip install 'weighbridge[notebook]'`)."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Dict, Mapping, Optional, Tuple

import anywidget
import traitlets

from ._sources import Memory, Read, Remote, file_name, find
from ._sources import Path as OnDisk

#: As many openings are kept: each view of the widget has one.
OPENINGS = 16

#: The most bytes that leave the kernel at a time: what the viewer asks for at most.
LONGEST = 4 << 20


class Viewer(anywidget.AnyWidget):
    """Shows what is in a tensor file, and whether it is valid: of a path, bytes, a buffer,
    a file object in binary mode or a URL of fsspec.

    Files of any size: the viewer asks for the ranges that it shows, and nothing else leaves the
    kernel. `report` is what it found, as the command writes it, once it has.
    """

    _esm = Path(__file__).with_name("viewer.js")

    name = traitlets.Unicode(read_only=True).tag(sync=True)
    size = traitlets.Int(read_only=True)
    height = traitlets.Int(640, help="in pixels").tag(sync=True)
    theme = traitlets.Enum(("", "light", "dark"), "", help="as the notebook if empty").tag(sync=True)
    report = traitlets.Dict(default_value=None, allow_none=True).tag(sync=True)

    def __init__(
        self,
        source: Any,
        *,
        name: Optional[str] = None,
        storage_options: Optional[Mapping[str, Any]] = None,
        **traits: Any,
    ) -> None:
        self._source = (source, storage_options)
        size, read, found = _reader(*self._source)
        self._openings: Dict[int, Tuple[int, Read]] = {0: (size, read)}
        self._opened = 0
        super().__init__(**traits)
        self.set_trait("name", name or found or "file")
        self.set_trait("size", size)
        self.on_msg(self._answer)

    def _answer(self, _widget: Any, asked: Any, _buffers: Any) -> None:
        """Opens the file for a view, or sends the range that it asks for."""
        if not isinstance(asked, dict) or asked.get("kind") not in ("open", "read"):
            return
        answer: Dict[str, Any] = {"id": asked.get("id")}
        buffers = []
        try:
            if asked["kind"] == "open":
                size, read, _ = _reader(*self._source)
                self._opened += 1
                self._openings[self._opened] = (size, read)
                self._openings.pop(self._opened - OPENINGS, None)
                self.set_trait("size", size)
                answer.update(size=size, opening=self._opened)
            else:
                opening = asked.get("opening", 0)
                buffers = [self._range(opening, asked.get("offset"), asked.get("length"))]
        except Exception as error:  # whatever the source raises is shown there
            answer["failure"] = str(error) or type(error).__name__
        self.send(answer, buffers=buffers)

    def _range(self, opening: Any, offset: Any, length: Any) -> bytes:
        if type(opening) is not int or opening not in self._openings:
            raise ValueError("this view was closed: run its cell again")
        size, read = self._openings[opening]
        for number in (offset, length):
            if type(number) is not int or number < 0:
                raise ValueError("offset and length are to be whole numbers")
        if length > LONGEST or offset + length > size:
            raise ValueError(f"{length} bytes at offset {offset} are not to be had")
        return read(offset, length)


def _on_disk(path: str, name: Optional[str]) -> Tuple[int, Read, Optional[str]]:
    """Size, ranges and name of a file on disk, as long as it does not change."""
    file = open(path, "rb")
    it = find(file)
    assert not isinstance(it, (OnDisk, Memory, Remote))
    at_first = _state(os.fstat(file.fileno()))
    read_all = it.read

    def read(offset: int, length: int) -> bytes:
        found = read_all(offset, length)
        if _state(os.stat(path)) != at_first:
            raise OSError("the file has changed")
        return found

    return it.size, read, name


def _state(it: os.stat_result) -> Tuple[int, int, int]:
    return it.st_ino, it.st_size, it.st_mtime_ns


def _reader(
    source: Any, storage_options: Optional[Mapping[str, Any]]
) -> Tuple[int, Read, Optional[str]]:
    """Size, ranges and name of a source."""
    it = find(source, storage_options)
    name = file_name(it)
    if isinstance(it, OnDisk):
        return _on_disk(it.path, name)
    elif isinstance(it, Memory):
        it = find(memoryview(it.data))
    if isinstance(it, Remote):
        return it.size(), it.read, name
    assert not isinstance(it, (OnDisk, Memory))
    return it.size, it.read, name or (os.path.basename(it.name) if it.name else None)
