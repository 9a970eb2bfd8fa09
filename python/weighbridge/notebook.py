"""The page's viewer in a notebook: a widget that needs `anywidget` (`pip install
'weighbridge[notebook]'`)."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Dict, Mapping, Optional

import anywidget
import traitlets

from ._model_files import ModelFiles, Opened

#: Maximum number of openings kept: each view of the widget has one.
OPENINGS = 16

#: Maximum bytes that leave the kernel at a time, which is the most that the viewer requests.
LONGEST = 4 << 20


class Viewer(anywidget.AnyWidget):
    """Shows the contents of a tensor file and whether it is valid. The source is a path, bytes, a
    buffer, a file object in binary mode or an fsspec URL.

    The index of a sharded checkpoint, a folder with one, and any part of a split GGUF are shown
    with the model's other files, if they lie in the same folder and are named by the index or
    follow from the part's name. A list contains the files of a model; no others are read.

    Files may have any size: the viewer requests the ranges that it shows, and nothing else
    leaves the kernel. `report` is the verdict in the command's format, once the viewer has it.
    """

    _esm = Path(__file__).with_name("viewer.js")

    name = traitlets.Unicode(read_only=True).tag(sync=True)
    size = traitlets.Int(read_only=True)
    height = traitlets.Int(640, help="in pixels").tag(sync=True)
    theme = traitlets.Enum(("", "light", "dark"), "", help="the notebook's if empty").tag(sync=True)
    report = traitlets.Dict(default_value=None, allow_none=True).tag(sync=True)

    def __init__(
        self,
        source: Any,
        *,
        name: Optional[str] = None,
        storage_options: Optional[Mapping[str, Any]] = None,
        **traits: Any,
    ) -> None:
        self._files = ModelFiles(source, storage_options)
        first = self._files.open()
        self._openings: Dict[int, Opened] = {0: first}
        self._opened = 0
        super().__init__(**traits)
        self.set_trait("name", name or first.name or "file")
        self.set_trait("size", first.size)
        self.on_msg(self._answer)

    def _answer(self, _widget: Any, asked: Any, _buffers: Any) -> None:
        """Opens the file or another of its model for a view, or sends a requested range."""
        if not isinstance(asked, dict) or asked.get("kind") not in ("open", "beside", "read"):
            return
        answer: Dict[str, Any] = {"id": asked.get("id")}
        buffers = []
        try:
            if asked["kind"] == "open":
                opened = self._files.open()
                self._opened += 1
                self._openings[self._opened] = opened
                self._openings.pop(self._opened - OPENINGS, None)
                self.set_trait("size", opened.size)
                answer.update(size=opened.size, opening=self._opened)
                if opened.has_others:
                    answer["beside"] = True
            elif asked["kind"] == "beside":
                size = self._opening(asked).add(asked.get("name"))
                answer.update({} if size is None else {"size": size})
            else:
                part, span = asked.get("part"), (asked.get("offset"), asked.get("length"))
                buffers = [_range(self._opening(asked), part, *span)]
        except Exception as error:  # the view shows whatever the source raises
            answer["failure"] = str(error) or type(error).__name__
        self.send(answer, buffers=buffers)

    def _opening(self, asked: Dict[str, Any]) -> Opened:
        opening = asked.get("opening", 0)
        if type(opening) is not int or opening not in self._openings:
            raise ValueError("this view was closed: run its cell again")
        return self._openings[opening]


def _range(opened: Opened, part: Any, offset: Any, length: Any) -> bytes:
    """Reads bytes of a file, or of another file of its model."""
    size, read = opened.reader(part)
    for number in (offset, length):
        if type(number) is not int or number < 0:
            raise ValueError("offset and length must be integers")
    if length > LONGEST or offset + length > size:
        raise ValueError(f"{length} bytes at offset {offset} are out of range")
    return read(offset, length)
