"""Spark 4: a data source, `spark.read.format("weighbridge")`.

```
spark.dataSource.register(weighbridge.spark.WeighbridgeDataSource)
spark.read.format("weighbridge").load("s3://bucket/models")
```

Spark schedules the work; a failed file becomes a row with an `error`, never a failed task.
"""

from __future__ import annotations

import json
import os
from typing import Any, Dict, Iterator, List, Tuple

from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition

from . import tables
from ._sources import expand

#: Files that a task checks at the same time.
THREADS = 4

REPORTS = """
file STRING NOT NULL, verdict STRING, format STRING, version STRING, size BIGINT,
diagnosis STRING,
findings ARRAY<STRUCT<rule: STRING, severity: STRING, offset: BIGINT, len: BIGINT,
  entry: STRING, message: STRING>>,
total_findings BIGINT, unchecked ARRAY<STRUCT<entry: STRING, why: STRING>>, error STRING
"""

TENSORS = """
file STRING NOT NULL, format STRING, name STRING, dtype STRING, shape ARRAY<BIGINT>,
elements BIGINT, status STRING, encoding STRING, layout STRING, offset BIGINT,
stored_bytes BIGINT, decoded_bytes BIGINT, error STRING
"""


class WeighbridgeDataSource(DataSource):  # type: ignore[misc,unused-ignore]
    """One row per file or, with the option `rows` = `tensors`, per tensor.

    Options:
        path: The argument of `load`: an fsspec path or URL, or several as a JSON array.
            Folders are walked, wildcards resolved.
        rows: `reports` (the default) or `tensors`.
        partitions: Maximum number of tasks; the default is the number of processors.
        lenient, structure: `true` or `false`. format, deny, max_work, memory: as for
            `weighbridge.check`; several rules of `deny` are separated by commas.
        storage_options: Options of the file system, as a JSON object.
    """

    @classmethod
    def name(cls) -> str:
        return "weighbridge"

    def schema(self) -> str:
        return TENSORS if self._of_tensors() else REPORTS

    def reader(self, schema: Any) -> DataSourceReader:
        return _Reader(dict(self.options), self._of_tensors())

    def _of_tensors(self) -> bool:
        rows = self.options.get("rows", "reports")
        if rows not in ("reports", "tensors"):
            raise ValueError(f"rows must be reports or tensors, not {rows}")
        return bool(rows == "tensors")


class _Files(InputPartition):  # type: ignore[misc,unused-ignore]
    """The files of a task."""

    def __init__(self, files: List[str]) -> None:
        super().__init__(len(files))
        self.files = files


class _Reader(DataSourceReader):  # type: ignore[misc,unused-ignore]
    def __init__(self, options: Dict[str, str], of_tensors: bool) -> None:
        # Spark stores option names in lower case.
        options = {key.lower(): value for key, value in options.items()}
        path = options["path"]
        self._paths: List[str] = json.loads(path) if path.startswith("[") else [path]
        self._of_tensors = of_tensors
        self._count = int(options.get("partitions") or os.cpu_count() or 1)
        storage = options.get("storage_options")
        self._storage: Any = json.loads(storage) if storage else None
        self._check: Dict[str, Any] = {}
        for key in ("lenient", "structure"):
            self._check[key] = options.get(key, "false").lower() == "true"
        for key in ("max_work", "memory"):
            self._check[key] = int(options[key]) if key in options else None
        self._check["format"] = options.get("format")
        self._check["deny"] = tuple(filter(None, options.get("deny", "").split(",")))

    def partitions(self) -> List[InputPartition]:
        files = expand(self._paths, self._storage)
        return [_Files(group) for group in tables.partition(files, self._count)]

    def read(self, partition: Any) -> Iterator[Tuple[Any, ...]]:
        files: List[str] = partition.files
        if self._of_tensors:
            for file in files:
                for row in tables.tensor_rows(file, storage_options=self._storage):
                    yield _values(row)
            return
        options: Any = self._check
        rows = tables.report_rows(
            files, concurrency=THREADS, storage_options=self._storage, **options
        )
        for row in rows:
            yield _values(row)


def _values(row: tables.Row) -> Tuple[Any, ...]:
    """The columns in order. Spark only has signed numbers; a larger one, which only a broken file
    has, becomes the largest possible."""
    return tuple(_signed(value) for value in row.values())


def _signed(value: Any) -> Any:
    if isinstance(value, list):
        return [_signed(item) for item in value]
    if isinstance(value, dict):
        return {key: _signed(item) for key, item in value.items()}
    return min(value, (1 << 63) - 1) if isinstance(value, int) else value
