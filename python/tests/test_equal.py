"""Verdicts, findings and values match the command's, for every fixture and every file of the
corpus."""

from __future__ import annotations

import io
import json
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any, Dict, Iterator, List, Optional, Tuple

import numpy as np
import pytest
import weighbridge as wb
from conftest import KNOWN, files

#: Maximum number of tensors that the command extracts per file, and per format.
MOST, OF_FORMAT = 4, 50


def lines(command: str, paths: List[Path]) -> Iterator[Tuple[Path, str]]:
    for i in range(0, len(paths), 200):
        some = paths[i : i + 200]
        arguments = [command, "check", "--json", *map(str, some)]
        run = subprocess.run(arguments, capture_output=True, check=False)
        yield from zip(some, run.stdout.decode().splitlines())


def name(line: Dict[str, Any]) -> Optional[str]:
    if "entry_hex" in line:
        return bytes.fromhex(line["entry_hex"]).decode("utf-8", "surrogateescape")
    entry: Optional[str] = line["entry"]
    return entry


def test_every_report(command: str) -> None:
    paths, seen = files(), set()
    assert len(paths) > 300
    for path, line in lines(command, paths):
        report = wb.check(path)
        assert report.to_json() == line, path
        expected = json.loads(line)
        found = [(it.rule, it.severity, it.offset, it.len, it.entry) for it in report.findings]
        assert found == [
            (it["rule"], it["severity"], it["offset"], it["len"], name(it))
            for it in expected["findings"]
        ], path
        assert [it.message for it in report.findings] == [
            it["message"] for it in expected["findings"]
        ]
        assert [(it.entry, it.why) for it in report.unchecked] == [
            (name(it), it["why"]) for it in expected["unchecked"]
        ], path
        assert report.format == expected["format"] and report.size == expected["size"]
        if report.verdict != "unchecked":
            assert report.verdict == expected["verdict"], path
        seen.add(report.verdict)
    assert seen == {"valid", "invalid", "unsupported", "unchecked"}


def test_sarif(command: str) -> None:
    for path in files()[::25]:
        run = subprocess.run([command, "check", "--output", "sarif", path], capture_output=True)
        report = wb.check(path)
        assert report.to_sarif() + "\n" == run.stdout.decode(), path
    data = path.read_bytes()
    piped = [command, "check", "--output", "sarif", "-"]
    run = subprocess.run(piped, input=data, capture_output=True)
    assert wb.check(data).to_sarif() + "\n" == run.stdout.decode()


@pytest.mark.deep
def test_reports_are_the_same_from_pieces(command: str) -> None:
    for path in files():
        if path.name.endswith(".index.json") or "split" in path.name or "-of-" in path.name:
            continue  # these look at neighbouring files, which bytes do not have
        data = path.read_bytes()
        format = {".stb": "stb"}.get(path.suffix)
        whole, pieces = wb.check(data, format=format), wb.check(io.BytesIO(data), format=format)
        assert whole.to_json() == pieces.to_json(), path


@pytest.mark.deep
def test_every_value(command: str, tmp_path: Path) -> None:
    out, compared = tmp_path / "out.npy", Counter()
    for path in files():
        try:
            model = wb.open(path)
        except wb.WeighbridgeError:
            continue
        once = [it for it in model.tensors if model[it.name].index == it.index]
        for tensor in once[:MOST]:
            if "\0" in tensor.name or compared[path.suffix] >= OF_FORMAT:
                continue
            raw = tensor.name.encode("utf-8", "surrogateescape")
            arguments = [command.encode(), b"extract", b"-o", bytes(out), b"--", bytes(path), raw]
            run = subprocess.run(arguments, capture_output=True, check=False)
            if run.returncode != 0:
                continue
            try:
                theirs = np.load(out)
            except ValueError:
                # NumPy does not support the shape.
                with pytest.raises(wb.Unsupported):
                    tensor.numpy(dequantize=not tensor.quantization)
                continue
            try:
                ours = tensor.numpy(dequantize=not tensor.quantization)
            except wb.WeighbridgeError as error:
                # The command writes elements with unknown extents as one axis.
                assert "extents" in str(error) or "chunks" in str(error), (path, error)
                continue
            if theirs.dtype.byteorder == ">":
                theirs = theirs.astype(theirs.dtype.newbyteorder("="))
            assert ours.shape == theirs.shape, (path, tensor)
            assert ours.dtype == theirs.dtype, (path, tensor)
            ours, theirs = np.ascontiguousarray(ours), np.ascontiguousarray(theirs)
            assert ours.tobytes() == theirs.tobytes(), (path, tensor)
            compared[path.suffix] += 1
        model.close()
    assert set(compared) == KNOWN and min(compared.values()) > 5, compared
