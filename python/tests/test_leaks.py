"""Memory use stays constant, however many files are opened."""

from __future__ import annotations

import gc
import sys
from pathlib import Path
from typing import Any

import pytest
import weighbridge as wb

#: Leaking a report or a model would take a hundred times as much.
SLACK = 4 << 20


def resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.deep
def test_opens_of_broken_and_sound_files(sound: Path, broken: Path) -> None:
    data, damaged = sound.read_bytes(), broken.read_bytes()

    #: Number of files checked, opened or loaded.
    opened = 0

    def once() -> None:
        nonlocal opened
        opened += 11
        for source in (sound, data, broken, damaged):
            report = wb.check(source)
            report.findings, report.unchecked, report.to_json()
            with wb.open(source) as model:
                for tensor in model.tensors:
                    if tensor.status == "sound":
                        tensor.numpy()
        model = wb.open(data)
        model["a"].numpy()
        for refused in (b"nothing", damaged):
            with pytest.raises(wb.WeighbridgeError):
                wb.load(refused)
        with pytest.raises(KeyError):
            model["nothing"]

    def run(times: int) -> int:
        for _ in range(times):
            once()
        gc.collect()
        return resident()

    run(100)
    before = run(100)
    assert run(750) - before < SLACK and opened > 10_000
