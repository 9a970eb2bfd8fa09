"""Ray Data: one row per file, or per tensor of an index, in any storage.

Ray schedules the work; a failed file becomes a row with an `error`, never a failed task.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Dict, Iterator, List, Mapping, Optional, Union

import pyarrow
import ray.data
from ray.data.block import BlockMetadata
from ray.data.datasource import Datasource, ReadTask

from . import tables
from ._sources import expand

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._options import CheckOptions

#: Files that a task checks at the same time: it mostly waits for bytes.
THREADS = 4
#: Approximate size of a row in memory.
ROW = 512

Rows = Callable[[List[str]], Iterator[tables.Row]]


def read_reports(
    paths: Union[str, List[str]],
    *,
    override_num_blocks: Optional[int] = None,
    ray_remote_args: Optional[Dict[str, Any]] = None,
    **options: Unpack[CheckOptions],
) -> ray.data.Dataset:
    """One row per file: `tables.report_schema`.

    Args:
        paths: Paths and URLs of fsspec; folders are walked, wildcards resolved.
        override_num_blocks: Number of tasks; Ray decides if absent.
        ray_remote_args: As for `ray.data.read_datasource`.
        options: As for `weighbridge.check`.
    """

    def rows(files: List[str]) -> Iterator[tables.Row]:
        return tables.report_rows(files, concurrency=THREADS, **options)

    files = _Files(paths, options.get("storage_options"), rows, tables.report_schema(), "reports")
    return _read(files, override_num_blocks, ray_remote_args)


def read_tensors_index(
    paths: Union[str, List[str]],
    *,
    override_num_blocks: Optional[int] = None,
    ray_remote_args: Optional[Dict[str, Any]] = None,
    storage_options: Optional[Mapping[str, Any]] = None,
) -> ray.data.Dataset:
    """One row per tensor: `tables.tensor_schema`. No tensor data is read."""

    def rows(files: List[str]) -> Iterator[tables.Row]:
        for file in files:
            yield from tables.tensor_rows(file, storage_options=storage_options)

    files = _Files(paths, storage_options, rows, tables.tensor_schema(), "tensors")
    return _read(files, override_num_blocks, ray_remote_args)


def _read(
    files: _Files, blocks: Optional[int], remote: Optional[Dict[str, Any]]
) -> ray.data.Dataset:
    return ray.data.read_datasource(files, override_num_blocks=blocks, ray_remote_args=remote)


class _Files(Datasource):  # type: ignore[misc,unused-ignore]
    """Files, divided into tasks of about equal size."""

    def __init__(
        self,
        paths: Union[str, List[str]],
        storage_options: Optional[Mapping[str, Any]],
        rows: Rows,
        schema: Any,
        name: str,
    ) -> None:
        super().__init__()
        self._files = expand(paths, storage_options)
        self._rows, self._schema, self._name = rows, schema, name

    def get_name(self) -> str:
        return f"Weighbridge({self._name})"

    def estimate_inmemory_data_size(self) -> Optional[int]:
        return len(self._files) * ROW

    def get_read_tasks(self, parallelism: int, *_: Any, **__: Any) -> List[ReadTask]:
        tasks = []
        for group in tables.partition(self._files, parallelism):
            metadata = BlockMetadata(
                num_rows=None, size_bytes=len(group) * ROW, input_files=group, exec_stats=None
            )
            read = _Read(group, self._rows, self._schema)
            tasks.append(ReadTask(read, metadata, schema=self._schema))
        return tasks


class _Read:
    """Reads the files of a task, and yields blocks of rows."""

    #: Number of rows per block.
    BATCH = 10_000

    def __init__(self, files: List[str], rows: Rows, schema: Any) -> None:
        self._files, self._rows, self._schema = files, rows, schema

    def __call__(self) -> Iterator[Any]:
        batch: List[tables.Row] = []
        for row in self._rows(self._files):
            batch.append(row)
            if len(batch) == self.BATCH:
                yield pyarrow.Table.from_pylist(batch, self._schema)
                batch = []
        yield pyarrow.Table.from_pylist(batch, self._schema)
