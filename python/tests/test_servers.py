"""Checkpoints and sets on servers: responses, and number of requests."""

from __future__ import annotations

import json
from typing import Any, Dict, List
from urllib.parse import unquote, urlsplit

import pytest
import weighbridge as wb
from test_sets import FIRST, INDEX, SECOND, arrays, files, part
from weighbridge._sources import Remote

__all__ = ["arrays", "files"]


class Http:
    """Servers: files by the path of their URL, or the error that a request raises."""

    protocol = "https"

    def __init__(self, files: Dict[str, Any]) -> None:
        self.files, self.asked, self.read = files, [], []  # type: Any

    def info(self, path: str) -> Any:
        self.asked.append(path)
        found = self.files.get(unquote(urlsplit(path).path), 404)
        if isinstance(found, bytes):
            return {"size": len(found)}
        cause = found if isinstance(found, Exception) else ValueError("secret")
        cause.status = found if isinstance(found, int) else None  # type: ignore[attr-defined]
        raise FileNotFoundError(path) from cause

    def cat_file(self, path: str, start: int = 0, end: int = 0) -> bytes:
        self.read.append((path, start, end))
        return bytes(self.files[unquote(urlsplit(path).path)][start:end])

    def cat_ranges(self, paths: Any, starts: Any, ends: Any, on_error: str) -> List[bytes]:
        return [self.cat_file(*span) for span in zip(paths, starts, ends)]

    def at(self, path: str) -> Any:
        class Place:
            fs = self

        Place.path = "https://host" + path  # type: ignore[attr-defined]
        return Place()


def test_what_servers_answer(files: Dict[str, bytes]) -> None:
    served: Dict[str, Any] = {f"/set/{name}": data for name, data in files.items()}
    assert wb.check(Http(served).at(f"/set/{INDEX}")).is_valid
    for status in (404, 410):
        report = wb.check(Http({**served, f"/set/{SECOND}": status}).at(f"/set/{INDEX}"))
        assert [it.rule for it in report.findings] == ["SHARD-MISSING"]
        with wb.open(Http({**served, f"/set/{SECOND}": status}).at(f"/set/{INDEX}")) as model:
            assert model.names == ["a", "b"] and len(model.missing) == 1
    for failure, why in ((403, "ValueError, status 403"), (TimeoutError(), "TimeoutError")):
        for what in (wb.check, wb.open):
            with pytest.raises(OSError, match=f"{SECOND}: {why}$") as raised:
                what(Http({**served, f"/set/{SECOND}": failure}).at(f"/set/{INDEX}"))
            assert not isinstance(raised.value, FileNotFoundError)


def test_urls_with_more_than_a_path(files: Dict[str, bytes], arrays: Dict[str, Any]) -> None:
    served = {f"/a set/{name}".replace(SECOND, "2#?%41.st"): it for name, it in files.items()}
    served[f"/a set/{INDEX}"] = files[INDEX].replace(SECOND.encode(), b"2#?%41.st")
    for query in ("?download=true", "?path=a/b", ""):
        place = Http(served).at(f"/a%20set/{INDEX}{query}")
        assert wb.check(place).is_valid
        assert wb.load_file(place).keys() == arrays.keys()
        assert place.fs.asked[-1] == "https://host/a%20set/" + (FIRST + query)
        assert f"https://host/a%20set/2%23%3F%2541.st{query}" in place.fs.asked
    parts = {f"/m x-0000{no}-of-00002.gguf": part(no - 1) for no in (1, 2)}
    place = Http(parts).at("/m%20x-00001-of-00002.gguf?path=a/b")
    assert wb.check(place).is_valid
    assert "https://host/m%20x-00002-of-00002.gguf?path=a/b" in place.fs.asked


def test_files_beside_others() -> None:
    def beside(path: str) -> str:
        return Remote(None, path, "simplecache::memory://x/y").beside("z?").path

    assert [beside(it) for it in ("m", "/m", "b/m", "b::c/m::n", "b?/m")] == [
        *("z?", "/z?", "b/z?", "b::c/z?", "b?/z?")
    ]
    assert beside("http://host/m") == "http://host/z%3F"


def test_files_that_a_store_does_not_have_are_looked_for_a_thousand_times() -> None:
    listed = {f"t{i}": f"{i}.safetensors" for i in range(3_000)}
    index, last = f"/{INDEX}", "/m-60000-of-60000.gguf"
    served = {index: json.dumps({"metadata": {}, "weight_map": listed}).encode(), last: part(59_999, 60_000)}
    for path, looked, left in ((index, 1_000, "2,000"), (last, 2_000, "58,999")):
        place = Http(served).at(path)
        report = wb.check(place)
        assert report.verdict == "invalid" and report.total == 1_000
        whys = [it.why for it in report.unchecked]
        assert f"{left} more files not looked for: 1,000 could not be read" in whys
        assert len(place.fs.asked) <= looked + 5
    first = "/m-00001-of-60000.gguf"
    served[first] = part(0, 60_000)
    for path, missing in ((index, 3_000), (first, 59_999)):
        place = Http(served).at(path)
        with wb.open(place) as model:
            assert len(model.missing) == missing
        assert len(place.fs.asked) <= 1_000 + 5


def test_the_first_part_of_a_set_is_loaded_once() -> None:
    first, names = "/m-00001-of-00002.gguf", [str(i) for i in range(5_000)]
    parts = {first: part(0, tensors=5_001, holds=names)}
    parts["/m-00002-of-00002.gguf"] = part(1, tensors=5_001, holds=["last"])
    place = Http(parts).at(first)
    assert list(wb.load_file(place)) == [*names, "last"]
    # A check does not read the elements.
    assert place.fs.read.count((place.path, 0, len(parts[first]))) == 1


def test_a_store_whose_folders_may_not_be_listed(files: Dict[str, bytes]) -> None:
    class Locked(Http):
        def isdir(self, path: str) -> bool:
            raise PermissionError("no access")

    place = Locked({f"bucket/{FIRST}": files[FIRST]}).at("")
    place.fs.protocol, type(place).path = "s3", f"bucket/{FIRST}"
    with wb.open(place) as model:
        assert model.names == ["a", "b"]
