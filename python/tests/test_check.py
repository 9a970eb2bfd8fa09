"""`check`: accepted sources, reports, exceptions."""

from __future__ import annotations

import array
import asyncio
import io
import json
import mmap
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any, List

import numpy as np
import pytest
import weighbridge as wb


def test_a_valid_file(sound: Path) -> None:
    report = wb.check(sound)
    assert (report.verdict, report.is_valid, report.format) == ("valid", True, "safetensors")
    assert report.findings == [] and report.total == 0 and report.unchecked == []
    assert report.checked == ["structure", "payloads"] and report.size == sound.stat().st_size
    assert report.file == str(sound) and report.diagnosis is None
    report.raise_for_status()


def test_a_broken_file_says_where_and_why(broken: Path) -> None:
    report = wb.check(str(broken))
    (finding,) = report.findings
    assert report.verdict == "invalid"
    assert (finding.rule, finding.severity, finding.entry) == ("OFFSET-BOUNDS", "fatal", "truth")
    assert finding.len > 0 and finding.message and finding.spec
    line = json.loads(report.to_json())
    assert line["findings"][0]["offset"] == finding.offset
    with pytest.raises(wb.InvalidFile, match="1 byte short") as raised:
        report.raise_for_status()
    assert raised.value.report is report
    assert issubclass(wb.InvalidFile, wb.WeighbridgeError)


def test_every_kind_of_source_gives_the_same(sound: Path, broken: Path) -> None:
    for path in (sound, broken):
        data, expected = path.read_bytes(), wb.check(path)
        with open(path, "rb") as file:
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        sources: List[Any] = [str(path), data, bytearray(data), memoryview(data), mapped]
        sources += [array.array("B", data), np.frombuffer(data, np.uint8), io.BytesIO(data)]
        for source in sources:
            report = wb.check(source)
            assert report.verdict == expected.verdict, type(source)
            assert [it.rule for it in report.findings] == [it.rule for it in expected.findings]
        with open(path, "rb") as file:
            assert wb.check(file).verdict == expected.verdict


def test_what_is_no_source() -> None:
    with pytest.raises(TypeError, match="not int"):
        wb.check(7)
    with pytest.raises(TypeError, match="binary"):
        wb.check(io.StringIO("text"))


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as raised:
        wb.check(tmp_path / "none.gguf")
    assert str(raised.value.filename).endswith("none.gguf") and raised.value.errno == 2
    with pytest.raises(IsADirectoryError):
        wb.check(tmp_path)


def test_options(sound: Path, fixtures: Path) -> None:
    assert wb.check(sound, structure=True).checked == ["structure"]
    assert wb.check(sound, format="gguf").verdict == "invalid"
    with pytest.raises(ValueError, match="unknown format 'tar'|unknown format \"tar\""):
        wb.check(sound, format="tar")
    with pytest.raises(ValueError, match="no rule has the id"):
        wb.check(sound, deny="NOTHING")
    lints = [
        path
        for path in sorted((fixtures / "safetensors").iterdir())
        if (it := wb.check(path)).is_valid and it.total > 0
    ]
    assert lints
    assert wb.check(lints[0], deny="lint").verdict == "invalid"
    assert wb.check(lints[0], deny=[wb.check(lints[0]).findings[0].rule]).verdict == "invalid"
    lenient = [it for it in sorted((fixtures / "safetensors").iterdir()) if wb.check(it).total > 0]
    verdicts = {(wb.check(it).verdict, wb.check(it, lenient=True).verdict) for it in lenient}
    assert ("invalid", "valid") in verdicts and ("valid", "invalid") not in verdicts


def test_other_formats_are_unsupported() -> None:
    report = wb.check(b"\x89HDF\r\n\x1A\n and so on")
    assert report.verdict == "unsupported" and report.diagnosis == "an HDF5 file"
    with pytest.raises(wb.Unsupported):
        report.raise_for_status()


def test_a_limit_is_not_a_verdict(fixtures: Path) -> None:
    met = 0
    for path in sorted((fixtures / "ztensor").iterdir()):
        report = wb.check(path, max_work=1)
        if report.verdict == "unchecked":
            met += 1
            with pytest.raises((wb.LimitExceeded, wb.Unsupported)) as raised:
                report.raise_for_status()
            if any("work limit" in it.why for it in report.unchecked):
                assert raised.type is wb.LimitExceeded
    assert met > 0


def test_second_opinion_changes_no_verdict(fixtures: Path) -> None:
    for path in sorted((fixtures / "ztensor").iterdir()):
        one, two = wb.check(path), wb.check(path, second_opinion=True)
        assert (one.verdict, one.to_json()) == (two.verdict, two.to_json()), path


def test_what_a_notebook_shows(broken: Path) -> None:
    report = wb.check(broken)
    assert repr(report).startswith("<Report ") and "invalid, 1 finding>" in repr(report)
    assert repr(report.findings[0]).startswith("<Finding OFFSET-BOUNDS (fatal) at ")
    html = report._repr_html_()
    assert "<table>" in html and "OFFSET-BOUNDS" in html


def test_names_cannot_write_markup(encoder: Any) -> None:
    hostile = "<img src=x onerror=alert(1)>\u202e"
    data = encoder({hostile: ("F32", [2], b"1234")})
    report = wb.check(data)
    assert report.findings[0].entry == hostile
    html = report._repr_html_()
    assert "<img" not in html and "&lt;img" in html and "\u202e" not in html
    with wb.open(encoder({hostile: ("U8", [2], b"12")})) as model:
        assert "<img" not in model._repr_html_() and "\u202e" not in repr(model)


def test_progress_comes_to_the_end(sound: Path) -> None:
    for source in (sound, str(sound), io.BytesIO(sound.read_bytes())):
        seen: List[Any] = []
        wb.check(source, progress=lambda read, size: seen.append((read, size)))
        assert seen[-1] == (sound.stat().st_size,) * 2


def test_tqdm(sound: Path, capsys: Any) -> None:
    pytest.importorskip("tqdm")
    assert wb.check(sound, tqdm=True).is_valid
    assert "B/s" in capsys.readouterr().err


def test_an_exception_of_a_callback_is_raised(sound: Path) -> None:
    class Odd(Exception):
        pass

    def fail(*_: int) -> bytes:
        raise Odd

    with pytest.raises(Odd):
        wb.check(sound, progress=fail)

    class File(io.BytesIO):
        def read(self, *_: Any) -> bytes:
            raise Odd

    with pytest.raises(Odd):
        wb.check(File(sound.read_bytes()))


def test_a_file_that_shrinks_is_an_error(sound: Path) -> None:
    class Shrinks(io.BytesIO):
        def read(self, n: Any = -1) -> bytes:
            return super().read(n)[:-1]

    with pytest.raises(OSError, match="changed"):
        wb.check(Shrinks(sound.read_bytes()))


class Slow(io.BytesIO):
    """A slow reader, which sleeps without the interpreter lock."""

    reads = 0

    def read(self, *args: Any) -> bytes:
        Slow.reads += 1
        time.sleep(0.1)
        return super().read(*args)


def many(count: int, size: int = 4096) -> bytes:
    """A file with many tensors."""
    from conftest import encode

    return encode({f"t{i}": ("BOOL", [size], b"\1" * size) for i in range(count)})


@pytest.mark.deep
def test_ctrl_c_ends_a_check(tmp_path: Path) -> None:
    path = tmp_path / "large.safetensors"
    path.write_bytes(many(200_000, 1))
    pause = threading.Timer(0.15, lambda: signal.raise_signal(signal.SIGINT))
    begun = time.monotonic()
    # A shell makes its background processes ignore the signal.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            pause.start()
            while time.monotonic() - begun < 30:
                wb.check(path)
    finally:
        signal.signal(signal.SIGINT, before)
        pause.join()


def test_other_threads_run_meanwhile() -> None:
    data, counted, stop = many(3000), [0], threading.Event()

    def count() -> None:
        while not stop.is_set():
            counted[0] += 1
            time.sleep(0)

    thread, interval = threading.Thread(target=count), sys.getswitchinterval()
    thread.start()
    try:
        # Other threads run only if this one releases the lock.
        sys.setswitchinterval(1000)
        before = counted[0]
        for _ in range(10_000):
            assert wb.check(data).is_valid
            if counted[0] > before:
                break
        assert counted[0] > before
    finally:
        sys.setswitchinterval(interval)
        stop.set()
        thread.join()


def test_threads_share_a_model() -> None:
    from concurrent.futures import ThreadPoolExecutor

    names = [f"t{i}" for i in range(200)]
    data = many(200)
    with wb.open(io.BytesIO(data)) as model, ThreadPoolExecutor(8) as pool:
        sums = pool.map(lambda name: int(model[name].numpy().sum()), names * 4)
        assert set(sums) == {4096}


def test_check_many_keeps_the_order_and_outlives_failures(sound: Path, broken: Path) -> None:
    sources = [sound, broken, sound.parent / "none", sound.read_bytes(), 3] * 20
    done: List[int] = []
    outcomes = list(wb.check_many(sources, concurrency=4, progress=done.append))
    assert [outcome.source for outcome in outcomes] == sources and done[-1] == 100
    for outcome, source in zip(outcomes, sources):
        assert outcome.is_valid == (source is sound or isinstance(source, bytes))
        assert (outcome.report is None) == (outcome.error is not None)
    assert isinstance(outcomes[2].error, FileNotFoundError)
    with pytest.raises(ValueError):
        list(wb.check_many([], concurrency=0))


def test_check_many_reads_no_further_than_needed(sound: Path) -> None:
    taken = []

    def sources() -> Any:
        for i in range(1_000_000):
            taken.append(i)
            yield sound

    outcomes = wb.check_many(sources(), concurrency=2)
    assert next(outcomes).is_valid
    outcomes.close()
    assert len(taken) < 10


def test_asyncio(sound: Path, broken: Path) -> None:
    async def run() -> List[Any]:
        one = await wb.check_async(sound)
        with pytest.raises(FileNotFoundError):
            await wb.check_async(sound.parent / "none")
        many = [it async for it in wb.check_many_async([sound, broken] * 5, concurrency=3)]
        return [one.verdict, *(it.report.verdict for it in many)]

    assert asyncio.run(run()) == ["valid"] + ["valid", "invalid"] * 5


@pytest.mark.deep
def test_cancelling_ends_the_thread() -> None:
    async def run() -> None:
        task = asyncio.create_task(wb.check_async(Slow(many(100_000, 1))))
        while Slow.reads == 0:
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.sleep(0.5)
        reads = Slow.reads
        await asyncio.sleep(0.5)
        assert Slow.reads == reads < 5

    asyncio.run(run())
