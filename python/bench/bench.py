"""The package compared with the crate and with `safetensors`: `bench.py FOLDER CHECK`, where CHECK
is the program built from check.rs. All runs are interleaved; the minimum of each is printed with
its goal, and a note if the goal is missed. Times are processor time or, for checks, which the
program measures that way, wall time."""

from __future__ import annotations

import json
import struct
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Callable, Dict, List

import numpy as np
import weighbridge as wb
from safetensors import safe_open
from safetensors.numpy import load_file

#: Number of tensors, and elements per tensor.
SHAPES = {"10,000 tensors of 256 bytes": (10_000, 64), "200 of 1 MiB": (200, 1 << 18), "8 of 64 MiB": (8, 1 << 24)}


def write(path: Path, count: int, elements: int, axes: int = 1) -> List[str]:
    """A file as `safetensors` writes it, of tensors with one or two axes."""
    shape = [elements] if axes == 1 else [8, elements // 8]
    header: Dict[str, Any] = {"__metadata__": {"format": "pt"}}
    for i in range(count):
        place = [i * elements * 4, (i + 1) * elements * 4]
        name = f"model.layers.{i // 7}.block_{i % 7}.weight"
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": place}
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    data = np.arange(elements, dtype=np.float32).tobytes()
    with path.open("wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for _ in range(count):
            file.write(data)
    return [name for name in header if name != "__metadata__"]


def taken(run: Callable[[], Any], clock: Callable[[], float] = time.process_time) -> float:
    """Seconds of processor time, or of another clock."""
    begun = clock()
    run()
    return clock() - begun


def interleaved(times: int, *runs: Callable[[], Any]) -> List[float]:
    """The minimum of each, run in turns."""
    for run in runs:
        run()
    found: List[List[float]] = [[] for _ in runs]
    for _ in range(times):
        for run, list_ in zip(runs, found):
            list_.append(taken(run))
    return [min(list_) for list_ in found]


def row(what: str, ours: float, theirs: float, ratio: float, goal: str, met: bool = True) -> None:
    note = "" if met else "  MISSED"
    print(f"{what:<58} {ours * 1e3:9.3f} ms {theirs * 1e3:9.3f} ms {ratio:6.2f} ({goal}){note}")


def check(path: Path, program: str) -> None:
    data = path.read_bytes()
    rust_memory, rust_disk, memory, disk = [], [], [], []
    clock = time.perf_counter  # the clock that the program uses
    for _ in range(7):
        run = subprocess.run([program, str(path), "40"], capture_output=True, check=True)
        of_memory, of_disk = map(int, run.stdout.split())
        rust_memory.append(of_memory / 1e9)
        rust_disk.append(of_disk / 1e9)
        memory.append(min(taken(lambda: wb.check(data), clock) for _ in range(40)))
        disk.append(min(taken(lambda: wb.check(path), clock) for _ in range(40)))
    for what, ours, theirs in (
        ("check of bytes", min(memory), min(rust_memory)),
        ("check of a file", min(disk), min(rust_disk)),
    ):
        ratio = ours / theirs
        row(f"{what}, 10,000 tensors: wheel, crate", ours, theirs, ratio, "<= 1.3", ratio <= 1.3)


def main() -> None:
    folder, program = Path(sys.argv[1]), sys.argv[2]
    folder.mkdir(parents=True, exist_ok=True)
    names: Dict[str, List[str]] = {}
    for i, (title, (count, elements)) in enumerate(SHAPES.items()):
        names[title] = write(folder / f"{i}.safetensors", count, elements)
    first = folder / "0.safetensors"
    check(first, program)
    for i, title in enumerate(SHAPES):
        path = folder / f"{i}.safetensors"
        times = 5 if i == 2 else 15
        ours, theirs = interleaved(times, lambda: wb.load_file(path), lambda: load_file(path))
        ratio = theirs / ours
        row(f"load_file, {title}: wheel, safetensors", ours, theirs, ratio, ">= 1", ratio >= 1)
    wanted, second = next(iter(names.values())), folder / "two.safetensors"
    write(second, *next(iter(SHAPES.values())), axes=2)

    def our_arrays(path: Path = first) -> None:
        with wb.open(path) as model:
            for name in wanted:
                model[name].numpy()

    def their_arrays(path: Path = first) -> None:
        with safe_open(path, framework="np") as file:
            for name in wanted:
                file.get_tensor(name)

    def our_handles(names: List[str] = wanted) -> None:
        with wb.open(first) as model:
            for name in names:
                model[name].shape

    def their_handles(names: List[str] = wanted) -> None:
        with safe_open(first, framework="np") as file:
            for name in names:
                file.get_slice(name).get_shape()

    def our_first() -> None:
        our_handles(wanted[:1])

    def their_first() -> None:
        their_handles(wanted[:1])

    for what, path in (("", first), (" of two axes", second)):
        ours, theirs = interleaved(25, lambda: our_arrays(path), lambda: their_arrays(path))
        what = f"10,000 arrays{what} by name: wheel, safe_open"
        row(what, ours, theirs, theirs / ours, ">= 5", theirs / ours >= 5)
    # Only opens the file: afterwards, both create an object for each name.
    ours, theirs = interleaved(25, our_handles, their_handles)
    what = "10,000 shapes by name: wheel, safe_open"
    row(what, ours, theirs, theirs / ours, "no goal")
    ours, theirs = interleaved(25, our_first, their_first)
    row("  of that, until the first: wheel, safe_open", ours, theirs, theirs / ours, "no goal")


if __name__ == "__main__":
    main()
