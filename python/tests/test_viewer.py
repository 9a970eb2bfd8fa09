"""The widget answers its views, but only permitted requests."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, Dict, List, Optional, Tuple

import pytest

pytestmark = pytest.mark.deep

Sent = List[Tuple[Dict[str, Any], List[bytes]]]


@pytest.fixture
def viewer(monkeypatch: Any) -> Any:
    """Creates viewers, and records what each sends to its views."""
    from weighbridge import Viewer

    def make(source: Any, **options: Any) -> Tuple[Any, Sent]:
        it = Viewer(source, **options)
        sent: Sent = []

        def send(content: Any, buffers: Optional[List[Any]] = None) -> None:
            sent.append((content, [bytes(buffer) for buffer in buffers or []]))

        monkeypatch.setattr(it, "send", send)
        return it, sent

    return make


def ask(it: Any, content: Any) -> None:
    """Sends a view's message, as the comm does."""
    it._handle_custom_msg(content, [])


def test_ranges_of_every_kind_of_source(viewer: Any, tmp_path: Path) -> None:
    data = bytes(range(256)) * 4
    path = tmp_path / "model.gguf"
    path.write_bytes(data)
    with open(path, "rb") as file:
        for source, name in [
            (path, "model.gguf"),
            (str(path), "model.gguf"),
            (path.as_uri(), "model.gguf"),
            (file, "model.gguf"),
            (data, "file"),
            (bytearray(data), "file"),
            (io.BytesIO(data), "file"),
        ]:
            it, sent = viewer(source)
            assert (it.name, it.size) == (name, 1024)
            ask(it, {"kind": "read", "id": 7, "offset": 3, "length": 5})
            ask(it, {"kind": "read", "id": 8, "offset": 1024, "length": 0})
            assert sent == [({"id": 7}, [data[3:8]]), ({"id": 8}, [b""])]
    assert viewer(data, name="mine")[0].name == "mine"


def test_only_ranges_of_the_file(viewer: Any) -> None:
    it, sent = viewer(bytes(8 << 20))
    for asked in [
        {"offset": -1, "length": 1},
        {"offset": 0, "length": (8 << 20) + 1},
        {"offset": (8 << 20) - 1, "length": 2},
        {"offset": 0, "length": (4 << 20) + 1},
        {"offset": 0.0, "length": 1},
        {"offset": "0", "length": 1},
        {"offset": True, "length": 1},
        {"length": 1},
    ]:
        ask(it, {"kind": "read", "id": 1, **asked})
        content, buffers = sent.pop()
        assert content["id"] == 1 and content["failure"] and buffers == []
    for strange in [{"kind": "write", "id": 1}, {}, [], "read", None]:
        ask(it, strange)
    assert sent == []
    # The size that a view sends is ignored.
    it.set_state({"size": 9 << 20})
    assert it.size == 8 << 20
    ask(it, {"kind": "read", "id": 2, "offset": 4 << 20, "length": 4 << 20})
    assert sent == [({"id": 2}, [bytes(4 << 20)])]


def test_a_file_that_has_changed_is_opened_anew(viewer: Any, tmp_path: Path) -> None:
    path = tmp_path / "model.gguf"
    path.write_bytes(b"short")
    it, sent = viewer(path)
    new = tmp_path / "new"
    new.write_bytes(b"longer than before")
    os.replace(new, path)
    ask(it, {"kind": "open", "id": 1})
    ask(it, {"kind": "read", "id": 2, "opening": 1, "offset": 7, "length": 4})
    assert sent == [({"id": 1, "size": 18, "opening": 1}, []), ({"id": 2}, [b"than"])]
    assert it.size == 18
    # A view that has an older state of the file is told so, and gets no bytes of the new one.
    ask(it, {"kind": "read", "id": 4, "opening": 0, "offset": 0, "length": 4})
    assert sent.pop() == ({"id": 4, "failure": "the file has changed"}, [])
    for opening in [2, -1, True, "1", None]:
        ask(it, {"kind": "read", "id": 5, "opening": opening, "offset": 0, "length": 1})
        assert "run its cell again" in sent.pop()[0]["failure"]
    path.unlink()
    ask(it, {"kind": "open", "id": 3})
    assert "No such file" in sent.pop()[0]["failure"]


def test_a_file_of_6_gb(viewer: Any, tmp_path: Path) -> None:
    path = tmp_path / "big.stb"
    with open(path, "wb") as file:
        file.seek(6_000_000_000)
        file.write(b"end")
    it, sent = viewer(path)
    assert it.size == 6_000_000_003
    ask(it, {"kind": "read", "id": 1, "offset": 6_000_000_000, "length": 3})
    assert sent == [({"id": 1}, [b"end"])]


def test_what_the_source_raises_is_said(viewer: Any, tmp_path: Path) -> None:
    class Gone(io.BytesIO):
        def read(self, size: Optional[int] = -1) -> bytes:
            raise OSError("the disk is gone")

    it, sent = viewer(Gone(bytes(10)))
    ask(it, {"kind": "read", "id": 1, "offset": 0, "length": 1})
    assert sent == [({"id": 1, "failure": "the disk is gone"}, [])]
    with pytest.raises(FileNotFoundError):
        viewer(tmp_path / "nowhere.gguf")


def test_what_the_views_get(viewer: Any) -> None:
    it, _ = viewer(b"12", height=300, theme="dark")
    state = it.get_state()
    assert {key: state[key] for key in ("name", "height", "theme", "report")} == {
        "name": "file",
        "height": 300,
        "theme": "dark",
        "report": None,
    }
    # The bundle contains the element, its worker and its WebAssembly.
    assert state["_esm"].count("weighbridge-viewer") > 0 and len(state["_esm"]) > 300_000
    it.set_state({"report": {"verdict": "valid"}})
    assert it.report == {"verdict": "valid"}


def test_the_rest_does_without() -> None:
    code = "import sys; sys.modules['anywidget'] = None\nfrom weighbridge import *\nimport weighbridge\ncheck\n"
    code += "try:\n  weighbridge.Viewer\nexcept ImportError as error:\n  print(error.name)\n"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ})
    assert (run.returncode, run.stdout) == (0, "anywidget\n"), run.stderr


def test_the_example(tmp_path: Path, monkeypatch: Any, encoder: Any) -> None:
    page = Path(__file__).resolve().parents[2] / "docs" / "embed.md"
    monkeypatch.chdir(tmp_path)
    Path("model.safetensors").write_bytes(encoder({}))
    Path("checkpoint").mkdir()
    Path("checkpoint", "model.safetensors.index.json").write_text('{"metadata": {}, "weight_map": {}}')
    shown = []
    for code in re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL):
        names: Dict[str, Any] = {}
        exec(code, names)
        shown.append((names["viewer"].name, names["viewer"].height))
    assert shown == [("model.safetensors", 500), ("model.safetensors.index.json", 640)]
