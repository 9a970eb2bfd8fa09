"""The widget shows a model in several files, and reads no other files."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, Dict, List, Optional

import numpy as np
import pytest

pytestmark = pytest.mark.deep

FIRST, SECOND = "m-00001-of-00002.safetensors", "m-00002-of-00002.safetensors"
INDEX = "m.safetensors.index.json"


class View:
    """Requests of a view, and the answers."""

    def __init__(self, source: Any, monkeypatch: Any, **options: Any) -> None:
        from weighbridge import Viewer

        self.viewer = Viewer(source, **options)
        self._sent: List[Any] = []

        def send(content: Any, buffers: Optional[List[Any]] = None) -> None:
            self._sent.append((content, [bytes(buffer) for buffer in buffers or []]))

        monkeypatch.setattr(self.viewer, "send", send)
        self.opened = self.ask(kind="open")
        self.opening = self.opened["opening"]

    def ask(self, **content: Any) -> Dict[str, Any]:
        self.viewer._handle_custom_msg({"id": 1, **content}, [])
        answer, buffers = self._sent.pop()
        assert self._sent == [] and answer.pop("id") == 1
        return {**answer, "buffers": buffers} if buffers else dict(answer)

    def beside(self, name: Any) -> Any:
        """The size of a file of the model, None if it is missing, or why it is not shown."""
        answer = self.ask(kind="beside", opening=self.opening, name=name)
        return answer.get("failure", answer.get("size"))

    def read(self, part: Any, length: int, offset: int = 0) -> Any:
        content = {"opening": self.opening, "part": part, "offset": offset, "length": length}
        answer = self.ask(kind="read", **content)
        return answer["buffers"][0] if "buffers" in answer else answer["failure"]


@pytest.fixture
def view(monkeypatch: Any) -> Any:
    return lambda source, **options: View(source, monkeypatch, **options)


@pytest.fixture
def files(encoder: Any) -> Dict[str, bytes]:
    """A checkpoint in two shards."""
    files = {FIRST: encoder({"a": np.arange(3.0)}), SECOND: encoder({"b": np.arange(5.0)})}
    index = {"metadata": {"total_size": 64}, "weight_map": {"a": FIRST, "b": SECOND}}
    return {**files, INDEX: json.dumps(index).encode()}


def write(folder: Path, files: Dict[str, bytes]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        (folder / name).write_bytes(data)
    return folder


NO_SUCH = "the model has no file with this name"
LINK = "it is a link that points outside the folder"


def test_an_index_its_folder_and_a_list(view: Any, tmp_path: Path, files: Any) -> None:
    folder = write(tmp_path / "set", files)
    (folder / "other.safetensors").write_bytes(files[FIRST])
    paths = [folder / name for name in files]
    for source in [folder / INDEX, str(folder / INDEX), folder, paths]:
        it = view(source)
        assert it.viewer.name == INDEX and it.opened["size"] == len(files[INDEX])
        assert it.opened["beside"] is True
        for name in (FIRST, SECOND):
            assert it.read(name, 1) == "this file of the model has not been opened"
            assert it.beside(name) == it.beside(name) == len(files[name])
            assert it.read(name, 8, 3) == files[name][3:11]
            assert "are out of range" in it.read(name, 1, len(files[name]))
        assert it.read(None, 5) == files[INDEX][:5]
        # A file in the folder that the index does not list.
        assert it.beside("other.safetensors") == NO_SUCH
    # No files outside the list are read.
    it = view([folder / FIRST, folder / INDEX])
    assert it.viewer.name == INDEX and it.beside(FIRST) == len(files[FIRST])
    assert it.beside(SECOND) == NO_SUCH
    it = view([folder / INDEX])
    assert "beside" not in it.opened and it.beside(FIRST) == NO_SUCH


def test_parts_of_a_split(view: Any, tmp_path: Path) -> None:
    parts = {f"m-0000{number}-of-00003.gguf": bytes(number) for number in (1, 2)}
    folder = write(tmp_path, {**parts, "n-00002-of-00003.gguf": b"n", "m-00002-of-00004.gguf": b"4"})
    for name in parts:
        it = view(folder / name)
        assert it.opened["beside"] is True
        assert [it.beside(part) for part in parts] == [1, 2]
        assert it.read("m-00002-of-00003.gguf", 2) == bytes(2)
        # Missing parts are None; other files are not parts of the model.
        assert it.beside("m-00003-of-00003.gguf") is None
        for other in ["n-00002-of-00003.gguf", "m-00002-of-00004.gguf", "m-00000-of-00003.gguf"]:
            assert it.beside(other) == NO_SUCH
        assert it.beside("m-00004-of-00003.gguf") == NO_SUCH
    assert "beside" not in view(write(tmp_path, {"whole.gguf": b"1"}) / "whole.gguf").opened
    assert "beside" not in view(b"bytes").opened


def test_names_that_lead_elsewhere(view: Any, tmp_path: Path, files: Any) -> None:
    names = [
        "../secret.safetensors",
        "..",
        "sub/x.safetensors",
        "sub\\x.safetensors",
        str(tmp_path / "secret.safetensors"),
        "c:x.safetensors",
        "x.safetensors\0",
        "notes.txt",
        "x" * 300 + ".safetensors",
        "",
    ]
    listed = {str(i): name for i, name in enumerate(names)}
    index = json.dumps({"metadata": {}, "weight_map": listed}).encode()
    folder = write(tmp_path / "set" / "sub", {"x.safetensors": b"1"}).parent
    write(folder, {INDEX: index, "notes.txt": b"1"})
    write(tmp_path, {"secret.safetensors": b"secret"})
    it = view(folder / INDEX)
    for name in [*names, None, 7, ["x"]]:
        assert it.beside(name) not in (None, 1, 6), name
        assert isinstance(it.read(name, 1), str) or name is None
    # A broken index names no files.
    write(folder, {INDEX: b"[" * 100_000})
    assert isinstance(view(folder / INDEX).beside(FIRST), str)


def test_links(view: Any, tmp_path: Path, files: Any) -> None:
    out = write(tmp_path / "out", files)
    folder = write(tmp_path / "set", {INDEX: files[INDEX], "blob": files[SECOND]})
    os.symlink(out / FIRST, folder / FIRST)
    os.symlink("blob", folder / SECOND)
    for source in [folder / INDEX, folder]:
        it = view(source)
        assert it.beside(FIRST) == LINK and it.beside(SECOND) == len(files[SECOND])
    # Named files are read.
    assert view([folder / INDEX, folder / FIRST]).beside(FIRST) == len(files[FIRST])
    # A dangling link, out of the folder or within it.
    for target, found in [(tmp_path / "nowhere", LINK), (Path("nowhere"), None)]:
        (folder / FIRST).unlink()
        os.symlink(target, folder / FIRST)
        assert view(folder / INDEX).beside(FIRST) == found
    # In the cache of Hugging Face all files are links to one place: naming the index allows that
    # place.
    cache = tmp_path / "snapshot"
    cache.mkdir()
    for name in files:
        os.symlink(out / name, cache / name)
    assert view(cache / INDEX).beside(FIRST) == len(files[FIRST])
    with pytest.raises(OSError, match=LINK):
        view(cache)
    # Opening a FIFO does not block.
    (folder / FIRST).unlink()
    os.mkfifo(folder / FIRST)
    assert view(folder / INDEX).beside(FIRST) == "it is not a regular file"


def test_files_that_change_and_many(view: Any, tmp_path: Path, files: Any) -> None:
    folder = write(tmp_path, files)
    it = view(folder / INDEX)
    assert it.beside(FIRST) == len(files[FIRST])
    (folder / "new").write_bytes(bytes(len(files[FIRST])))
    os.replace(folder / "new", folder / FIRST)
    assert it.read(FIRST, 1) == "the file has changed"
    (folder / FIRST).unlink()
    assert "No such file" in it.read(FIRST, 1)
    # A view that reopens the model gets the new state.
    (folder / FIRST).write_bytes(b"new")
    it.opening = it.ask(kind="open")["opening"]
    assert it.beside(FIRST) == 3 and it.read(FIRST, 3) == b"new"
    # The maximum number of parts, none of which stays open.
    many = 5000
    for number in range(1, many + 1):
        (folder / f"p-{number:05}-of-{many:05}.gguf").touch()
    it = view(folder / f"p-00001-of-{many:05}.gguf")
    before = len(os.listdir("/proc/self/fd"))
    sizes = [it.beside(f"p-{number:05}-of-{many:05}.gguf") for number in range(1, many + 1)]
    assert sizes[:4096] == [0] * 4096 and "more than 4096" in sizes[4096]
    assert len(os.listdir("/proc/self/fd")) == before


def test_lists_need_names(view: Any, tmp_path: Path, files: Any) -> None:
    folder = write(tmp_path / "a", files)
    other = write(tmp_path / "b", files)
    for sources in [[], [b"bytes"], [folder / FIRST, other / FIRST]]:
        with pytest.raises(ValueError):
            view(sources)
    with open(folder / FIRST, "rb") as file:
        assert view([folder / INDEX, file]).beside(FIRST) == len(files[FIRST])


def test_shards_in_a_store(view: Any, files: Any) -> None:
    fs = pytest.importorskip("fsspec").filesystem("memory")
    for name, data in files.items():
        if name != SECOND:
            fs.pipe(f"/shown/{name}", data)
    for place in [f"memory://shown/{INDEX}", "memory://shown"]:
        it = view(place)
        assert it.viewer.name == INDEX and it.opened["beside"] is True
        assert it.beside(FIRST) == len(files[FIRST])
        assert it.read(FIRST, 4, 2) == files[FIRST][2:6]
        assert it.beside(SECOND) is None and it.beside("../shown/" + FIRST) == NO_SUCH
    fs.rm("/shown", recursive=True)
