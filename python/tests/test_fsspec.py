"""Files in stores, which are read in ranges."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any, Dict, List, Tuple

import numpy as np
import pytest
import weighbridge as wb
from weighbridge._sources import coalesce, expand

fsspec = pytest.importorskip("fsspec")


@pytest.fixture
def store(sound: Path, broken: Path) -> Any:
    fs = fsspec.filesystem("memory")
    fs.pipe({"/wb/sound.safetensors": sound.read_bytes(), "/wb/broken.bin": broken.read_bytes()})
    yield fs
    fs.rm("/wb", recursive=True)


def test_urls(store: Any, weights: Dict[str, Any]) -> None:
    url = "memory://wb/sound.safetensors"
    report = wb.check(url)
    assert report.is_valid and report.file == url
    assert wb.check("memory://wb/broken.bin").verdict == "invalid"
    assert wb.check(fsspec.open(url)).is_valid
    with fsspec.open(url) as file:
        assert wb.check(file).is_valid
    with wb.open(url) as model:
        np.testing.assert_array_equal(model["a"].numpy(), weights["a"])
    loaded = wb.load_file(url)
    assert loaded.keys() == weights.keys()
    with pytest.raises(FileNotFoundError):
        wb.check("memory://wb/none")


def test_archives(sound: Path, tmp_path: Path) -> None:
    archive = tmp_path / "files.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as out:
        out.write(sound, "a/b.safetensors")
    assert wb.check(f"zip://a/b.safetensors::{archive}").is_valid


def test_local_files_are_paths(sound: Path) -> None:
    report = wb.check(f"file://{sound}")
    assert report.is_valid and report.file == str(sound)


class Counting:
    """A store that counts reads."""

    protocol = "counting"

    def __init__(self, data: bytes) -> None:
        self.data, self.rounds, self.ranges = data, 0, []  # type: Any

    def info(self, path: str) -> Any:
        return {"size": len(self.data)}

    def cat_file(self, path: str, version_id: Any = None, start: int = 0, end: int = 0) -> bytes:
        # Like that of s3fs: the parameter after `path` is not `start`.
        self.rounds += 1
        self.ranges.append((start, end))
        return self.data[start:end]

    def cat_ranges(self, paths: Any, starts: Any, ends: Any, on_error: str) -> List[bytes]:
        self.rounds += 1
        self.ranges += zip(starts, ends)
        return [self.data[start:end] for start, end in zip(starts, ends)]


class Place:
    def __init__(self, fs: Any) -> None:
        self.fs, self.path = fs, "model"


def test_only_what_is_needed_is_read(encoder: Any) -> None:
    # Not of zeros: where a file ends in zeros, more is read to find where they begin.
    tensors = {f"t{i}": np.ones(1 << 18, np.float32) for i in range(40)}
    fs = Counting(encoder(tensors))
    assert wb.check(Place(fs)).is_valid
    assert fs.rounds <= 4 and sum(end - start for start, end in fs.ranges) < 1 << 20
    read = sum(end - start for start, end in fs.ranges)
    with wb.open(Place(fs)) as model:
        assert model["t7"].slice(0, 5).tolist() == [1.0] * 5
        assert model.file == "model"
    assert sum(end - start for start, end in fs.ranges) < read + (1 << 20)


def test_a_store_that_gives_too_little(sound: Path) -> None:
    class Short(Counting):
        def cat_file(self, path: str, *args: Any, **kwargs: Any) -> bytes:
            return super().cat_file(path, *args, **kwargs)[:-1]

    for call in (wb.check, wb.open, wb.load_file):
        with pytest.raises(OSError, match="changed|invalid"):
            try:
                call(Place(Short(sound.read_bytes())))
            except wb.InvalidFile as error:
                raise OSError(str(error)) from None


def test_every_fixture_reads_the_same_in_ranges(fixtures: Path) -> None:
    for folder in sorted(fixtures.iterdir()):
        if folder.name == "shards":
            continue  # following an index in a store is tested in test_sets.py
        for path in sorted(folder.iterdir())[:40]:
            data = path.read_bytes()
            there, here = wb.check(Place(Counting(data))), wb.check(data)
            assert there.verdict == here.verdict, path
            assert [(it.rule, it.offset) for it in there.findings] == [
                (it.rule, it.offset) for it in here.findings
            ], path


def test_ranges_close_to_one_another_are_one() -> None:
    spans: List[Tuple[int, int]] = [(500, 10), (0, 10), (5, 2), (11, 5)]
    assert coalesce(spans, 1) == [(0, 16), (500, 10)]
    assert coalesce(spans, 1000) == [(0, 510)]
    assert coalesce([], 1) == []


def test_many(store: Any) -> None:
    urls = ["memory://wb/sound.safetensors", "memory://wb/broken.bin", "memory://wb/none"] * 5
    outcomes = list(wb.check_many(urls, concurrency=3))
    verdicts = [None if it.report is None else it.report.verdict for it in outcomes]
    assert verdicts == ["valid", "invalid", None] * 5


def test_folders_and_wildcards(store: Any, sound: Path, broken: Path) -> None:
    def names(pattern: str) -> List[str]:
        return [url.rsplit("/", 1)[-1] for url, _ in expand(pattern)]

    assert names("memory://wb") == ["broken.bin", "sound.safetensors"]
    assert names("memory://wb/*.bin") == ["broken.bin"]
    assert names(str(sound.parent)) == ["broken.safetensors", "model.safetensors"]
    assert expand(str(sound)) == [(str(sound), sound.stat().st_size)]
    assert expand("memory://wb/none") == [("memory://wb/none", 0)]
