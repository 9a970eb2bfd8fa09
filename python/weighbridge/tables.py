"""Rows for tables: one for each checked file, or one for each tensor of an index.

Rows are dictionaries of plain objects, which pandas, Polars, Arrow, Ray and Spark accept. The
Arrow schemas are `report_schema` and `tensor_schema`.
"""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple

from . import _native
from ._check import Outcome, check_many

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._options import CheckOptions

Row = Dict[str, Any]


def report_row(outcome: Outcome) -> Row:
    """The row of a file: its report, or the reason why there is none."""
    row: Row = {
        "file": _text(str(outcome.source)),
        "verdict": None,
        "format": None,
        "version": None,
        "size": None,
        "diagnosis": None,
        "findings": [],
        "total_findings": None,
        "unchecked": [],
        "error": None,
    }
    report = outcome.report
    if report is None:
        error = outcome.error
        row["error"] = _text(f"{type(error).__name__}: {error}")
        return row
    row["verdict"] = report.verdict
    row["format"], row["version"] = report.format, report.version
    row["size"], row["diagnosis"] = report.size, report.diagnosis
    row["total_findings"] = report.total
    row["findings"] = [_finding(it) for it in report.findings]
    row["unchecked"] = [{"entry": _text(it.entry), "why": it.why} for it in report.unchecked]
    return row


def report_rows(
    sources: Any, *, concurrency: int = 8, **options: Unpack[CheckOptions]
) -> Iterator[Row]:
    """The rows of many files, in their order."""
    for outcome in check_many(sources, concurrency=concurrency, **options):
        yield report_row(outcome)


def tensor_rows(
    source: Any, *, storage_options: Optional[Mapping[str, Any]] = None
) -> Iterator[Row]:
    """A row for each tensor of a file; a row with an error if the file cannot be opened or read."""
    from ._open import open as open_

    file = _text(str(source))
    try:
        with open_(source, storage_options=storage_options) as model:
            for tensor in model.tensors:
                yield _tensor(file, model, tensor)
    except Exception as error:
        row: Row = dict.fromkeys(TENSOR_COLUMNS)
        row["file"], row["error"] = file, _text(f"{type(error).__name__}: {error}")
        yield row


def partition(files: Sequence[Tuple[str, int]], count: int) -> List[List[str]]:
    """Divides files, given with their sizes, into at most `count` groups that take about equally
    long. Each file counts as 1 MiB larger than it is, because opening it takes time too."""
    groups: List[Tuple[int, int, List[str]]] = [
        (0, i, []) for i in range(max(1, min(count, len(files))))
    ]
    for file, size in sorted(files, key=lambda it: it[1], reverse=True):
        weight, i, group = heapq.heappop(groups)
        group.append(file)
        heapq.heappush(groups, (weight + size + (1 << 20), i, group))
    return [group for _, _, group in sorted(groups, key=lambda it: it[1]) if group]


TENSOR_COLUMNS = (
    "file",
    "format",
    "name",
    "dtype",
    "shape",
    "elements",
    "status",
    "encoding",
    "layout",
    "offset",
    "stored_bytes",
    "decoded_bytes",
    "error",
)


def report_schema() -> Any:
    """The Arrow schema of `report_row`."""
    import pyarrow as pa

    text = pa.string()
    finding = pa.struct(
        [
            ("rule", text),
            ("severity", text),
            ("offset", pa.uint64()),
            ("len", pa.uint32()),
            ("entry", text),
            ("message", text),
        ]
    )
    unchecked = pa.struct([("entry", text), ("why", text)])
    return pa.schema(
        [
            pa.field("file", text, nullable=False),
            ("verdict", text),
            ("format", text),
            ("version", text),
            ("size", pa.uint64()),
            ("diagnosis", text),
            ("findings", pa.list_(finding)),
            ("total_findings", pa.uint64()),
            ("unchecked", pa.list_(unchecked)),
            ("error", text),
        ]
    )


def tensor_schema() -> Any:
    """The Arrow schema of `tensor_rows`."""
    import pyarrow as pa

    number, text = pa.uint64(), pa.string()
    types: Dict[str, Any] = dict.fromkeys(TENSOR_COLUMNS, text)
    types.update(elements=number, offset=number, stored_bytes=number, decoded_bytes=number)
    types["shape"] = pa.list_(number)
    return pa.schema([pa.field(name, type_, name != "file") for name, type_ in types.items()])


def _finding(it: _native.Finding) -> Row:
    return {
        "rule": it.rule,
        "severity": it.severity,
        "offset": it.offset,
        "len": it.len,
        "entry": _text(it.entry),
        "message": it.message,
    }


def _tensor(file: Optional[str], model: _native.Model, tensor: _native.Tensor) -> Row:
    offset, stored = tensor.span or (None, None)
    shape: List[Optional[int]] = list(tensor.shape)
    values = (
        file,
        model.format,
        _text(tensor.name),
        tensor.dtype,
        shape,
        tensor.elements,
        tensor.status,
        tensor.encoding,
        tensor.layout,
        offset,
        stored,
        tensor.nbytes,
        None,
    )
    return dict(zip(TENSOR_COLUMNS, values))


def _text(text: Optional[str]) -> Optional[str]:
    """Replaces surrogates, which tables do not accept: bytes that are not UTF-8 become U+FFFD."""
    if text is None:
        return None
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
