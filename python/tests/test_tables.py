"""Rows for tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import weighbridge as wb
from weighbridge import tables


def test_a_row_for_each_file(sound: Path, broken: Path) -> None:
    rows = list(tables.report_rows([str(sound), str(broken), "none"]))
    assert [row["verdict"] for row in rows] == ["valid", "invalid", None]
    assert [row["file"] for row in rows] == [str(sound), str(broken), "none"]
    assert rows[1]["findings"][0]["rule"] == "OFFSET-BOUNDS" and rows[1]["total_findings"] == 1
    assert rows[2]["error"].startswith("FileNotFoundError: ")


def test_a_row_for_each_tensor(sound: Path, weights: Any) -> None:
    rows = list(tables.tensor_rows(str(sound)))
    assert {row["name"] for row in rows} == set(weights)
    with wb.open(sound) as model:
        for row in rows:
            tensor = model[row["name"]]
            assert row["shape"] == list(tensor.shape) and row["dtype"] == tensor.dtype
            assert (row["offset"], row["stored_bytes"]) == tensor.span
    (row,) = tables.tensor_rows("none")
    assert row["file"] == "none" and "FileNotFoundError" in row["error"]
    assert tuple(row) == tables.TENSOR_COLUMNS


def test_groups_are_of_about_the_same_size() -> None:
    files = [(f"f{i}", (i * 37 % 101) << 20) for i in range(1000)]
    groups = tables.partition(files, 7)
    sizes = dict(files)
    totals = [sum(sizes[file] for file in group) for group in groups]
    assert sorted(sum(groups, [])) == sorted(sizes) and max(totals) - min(totals) < 101 << 20
    assert tables.partition([("a", 1), ("b", 2)], 9) == [["b"], ["a"]]
    assert tables.partition([], 3) == []


def test_schemas(sound: Path, broken: Path, fixtures: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    paths = [str(path) for path in sorted(fixtures.rglob("*")) if path.is_file()]
    rows = list(tables.report_rows([*paths, "none"]))
    table = pa.Table.from_pylist(rows, tables.report_schema())
    assert table.num_rows == len(rows) and table.schema == tables.report_schema()
    rows = [row for path in [*paths, "none"] for row in tables.tensor_rows(path)]
    assert tables.tensor_schema().names == list(tables.TENSOR_COLUMNS)
    assert pa.Table.from_pylist(rows, tables.tensor_schema()).num_rows == len(rows) > 100
