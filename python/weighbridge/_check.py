"""Verdicts on files."""

from __future__ import annotations

import asyncio
import re
import threading
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from typing import (
    TYPE_CHECKING,
    Any,
    AsyncIterator,
    Callable,
    Deque,
    Iterable,
    Iterator,
    Mapping,
    NamedTuple,
    Optional,
    Tuple,
    Union,
)

from . import _native
from ._options import Bar, Options, Progress, rules
from ._sources import ARCHIVE, GRANULE, Memory, Path, Read, Remote, Source, alone, coalesce, find

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._options import CheckOptions


def check(
    source: Any,
    *,
    format: Optional[str] = None,
    lenient: bool = False,
    structure: bool = False,
    deny: Union[str, Iterable[str]] = (),
    max_work: Optional[int] = None,
    memory: Optional[int] = None,
    second_opinion: bool = False,
    allow_global: Union[str, Iterable[str]] = (),
    progress: Optional[Progress] = None,
    tqdm: bool = False,
    storage_options: Optional[Mapping[str, Any]] = None,
) -> _native.Report:
    """Checks a file.

    Args:
        source: A path, bytes, a buffer, a seekable file object, or a URL, `OpenFile` or
            path object of fsspec. Only the parts that are needed are read.
        format: Read the file as this format instead of detecting the format.
        lenient: Accept files that break the specification but can be read safely.
        structure: Stop before the payloads.
        deny: Treat remarks as faults: `lint` for all of them, or rule ids.
        max_work: Limit on decoding, in decoded bytes.
        memory: Bytes of memory for comparing names and regions.
        second_opinion: Decode zstd streams with a second decoder as well, and report differences.
        allow_global: Names that pickles may import, as `MODULE.NAME`, off the list of
            `torch.load(weights_only=True)`.
        progress: Called with the number of bytes read so far and the size of the file.
        tqdm: Show a tqdm bar.
        storage_options: Options of the file system, for a URL.

    Raises:
        OSError: The bytes cannot be read.
    """
    options = Options(format, lenient, structure, rules(deny), max_work, memory)
    options = options._replace(second_opinion=second_opinion, allow_global=rules(allow_global))
    with Bar(progress, tqdm, source if isinstance(source, str) else None) as bar:
        found = find(source, storage_options)
        return check_source(found, options._replace(progress=bar.callback))


def check_source(found: Source, options: Options) -> _native.Report:
    """Checks a file from any source."""
    if isinstance(found, Path):
        try:
            return _native.check_path(found.path, options)
        except OSError as error:
            if error.errno is not None:
                error.filename = error.filename or found.path
            raise
    if isinstance(found, Memory):
        return _native.check_bytes(found.data, options)
    if isinstance(found, Remote):
        return _check_remote(found, options)
    options = options._replace(name=found.name)
    if found.name is not None and found.name.endswith(ARCHIVE):
        return _native.check_in_folder(found.name, alone(found), options)
    return _native.check_reader(found.size, found.read, options)


def _check_remote(source: Remote, options: Options) -> _native.Report:
    size = source.size()
    if _OF_SEVERAL.search(source.parts()[1]):
        return _check_several(source, options)
    progress = options.progress
    session = _native.Session(size, options._replace(name=source.name, granule=GRANULE))
    read = 0
    while True:
        ranges = session.poll()
        if ranges is None:
            break
        spans = coalesce(ranges)
        for (offset, length), piece in zip(spans, source.read_all(spans)):
            if len(piece) != length:
                raise OSError(f"{source.name}: the file changed while it was read")
            session.supply(offset, piece)
            read += length
        if progress is not None:
            progress(min(read, size), size)
    if progress is not None:
        progress(size, size)
    report = session.report()
    several = report.format == INDEX or session.is_part
    return _check_several(source, options) if several else report


def _check_several(source: Remote, options: Options) -> _native.Report:
    """Checks the file with the files that it lists, or with the other parts of its set."""

    own = source.parts()[1]

    def open_(name: str) -> Tuple[int, Read]:
        file = source if name == own else source.beside(name)
        try:
            return file.size(), file.read
        except FileNotFoundError as error:
            not_there(file, name, error)
            raise

    options = options._replace(name=source.name, granule=GRANULE)
    return _native.check_in_folder(own, open_, options)


def not_there(file: Remote, name: str, error: FileNotFoundError) -> None:
    """Raises an `OSError` unless the store's error means that the file is missing."""
    # Over HTTP `fsspec` raises it for all failures. Only the type of the cause is shown: its text
    # has the headers of the request.
    cause = error.__cause__
    status = getattr(cause, "status", None)
    if cause is None or not file.is_http() or status in (404, 410):
        return
    why = type(cause).__name__ + (f", status {status}" if status else "")
    raise OSError(f"{name}: {why}") from error


#: The format of a sharded checkpoint's index.
INDEX = "shards"
#: The names of such indexes, of the parts of a GGUF set, and of archives of models.
_OF_SEVERAL = re.compile(r"(\.index\.json|-\d{5}-of-\d{5}\.gguf|\.dduf)$")


class Outcome(NamedTuple):
    """Outcome for one of several sources: a report, or the exception that was raised."""

    source: Any
    report: Optional[_native.Report]
    error: Optional[Exception]

    @property
    def is_valid(self) -> bool:
        """Whether the file was read and is valid."""
        return self.report is not None and self.report.is_valid


class _Cancelled(Exception):
    """The result is no longer wanted."""


class _Pool:
    """Threads that run checks; on exit, checks still running are stopped soon."""

    def __init__(self, concurrency: int, options: CheckOptions) -> None:
        if concurrency < 1:
            raise ValueError("concurrency must be at least 1")
        self._executor = ThreadPoolExecutor(concurrency, "weighbridge")
        self._options = options
        self._left = threading.Event()

    def submit(self, source: Any) -> Future[Outcome]:
        return self._executor.submit(self._check, source)

    def fill(self, waiting: Deque[Future[Outcome]], sources: Iterator[Any], most: int) -> None:
        """Submits sources until `most` are waiting, or none are left."""
        while len(waiting) < most:
            try:
                waiting.append(self.submit(next(sources)))
            except StopIteration:
                return

    def _check(self, source: Any) -> Outcome:
        try:
            return Outcome(source, check(source, progress=self._look, **self._options), None)
        except Exception as error:
            return Outcome(source, None, error)

    def _look(self, _read: int, _size: int) -> None:
        if self._left.is_set():
            raise _Cancelled

    def __enter__(self) -> _Pool:
        return self

    def __exit__(self, *_: object) -> None:
        self._left.set()
        self._executor.shutdown(wait=False, cancel_futures=True)


def check_many(
    sources: Iterable[Any],
    *,
    concurrency: int = 8,
    progress: Optional[Callable[[int], object]] = None,
    tqdm: bool = False,
    **options: Unpack[CheckOptions],
) -> Iterator[Outcome]:
    """Checks several files at a time, and yields their outcomes in order.

    A failure does not stop the other checks: its outcome has the exception. `sources` is read
    only as threads become free, so it may be a generator of any length.

    Args:
        sources: Anything that `check` accepts.
        concurrency: Number of files checked at the same time.
        progress: Called with the number of files that are done.
        tqdm: Show a tqdm bar that counts files.
        options: As for `check`.
    """
    bar: Any = None
    if tqdm:
        from tqdm.auto import tqdm as new

        bar = new(unit="file")
    waiting: Deque[Future[Outcome]] = deque()
    iterator, done = iter(sources), 0
    with _Pool(concurrency, options) as pool:
        try:
            while True:
                pool.fill(waiting, iterator, 2 * concurrency)
                if not waiting:
                    return
                outcome = waiting.popleft().result()
                done += 1
                if bar is not None:
                    bar.update()
                if progress is not None:
                    progress(done)
                yield outcome
        finally:
            if bar is not None:
                bar.close()


async def check_async(source: Any, **options: Unpack[CheckOptions]) -> _native.Report:
    """Like `check`, but in a thread, without blocking the event loop. Cancelling it stops the
    check."""
    with _Pool(1, options) as pool:
        outcome = await asyncio.wrap_future(pool.submit(source))
    if outcome.error is not None:
        raise outcome.error
    assert outcome.report is not None
    return outcome.report


async def check_many_async(
    sources: Iterable[Any], *, concurrency: int = 8, **options: Unpack[CheckOptions]
) -> AsyncIterator[Outcome]:
    """Like `check_many`, for `async for`."""
    waiting: Deque[Future[Outcome]] = deque()
    iterator = iter(sources)
    with _Pool(concurrency, options) as pool:
        while True:
            pool.fill(waiting, iterator, 2 * concurrency)
            if not waiting:
                return
            yield await asyncio.wrap_future(waiting.popleft())
