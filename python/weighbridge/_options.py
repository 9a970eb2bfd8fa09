"""Options for checking and opening files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Iterable, Mapping, NamedTuple, Optional, Tuple, Union

if TYPE_CHECKING:
    from typing_extensions import TypedDict

    class CheckOptions(TypedDict, total=False):
        """The keyword arguments of `check`."""

        format: Optional[str]
        lenient: bool
        structure: bool
        deny: Union[str, Iterable[str]]
        max_work: Optional[int]
        memory: Optional[int]
        second_opinion: bool
        allow_global: Union[str, Iterable[str]]
        storage_options: Optional[Mapping[str, Any]]


Progress = Callable[[int, int], object]


class Options(NamedTuple):
    """The options that the native part takes; the names are those of the command."""

    format: Optional[str] = None
    lenient: bool = False
    structure: bool = False
    deny: Tuple[str, ...] = ()
    max_work: Optional[int] = None
    memory: Optional[int] = None
    granule: Optional[int] = None
    name: Optional[str] = None
    progress: Optional[Progress] = None
    second_opinion: bool = False
    allow_global: Tuple[str, ...] = ()


def rules(names: Union[str, Iterable[str]]) -> Tuple[str, ...]:
    """One rule or name, or several."""
    return (names,) if isinstance(names, str) else tuple(names)


class Bar:
    """The requested progress callback: a function, a tqdm bar, or both."""

    def __init__(self, progress: Optional[Progress], tqdm: bool, name: Optional[str]) -> None:
        self._progress = progress
        self._bar: Any = None
        if tqdm:
            from tqdm.auto import tqdm as bar

            self._bar = bar(total=None, unit="B", unit_scale=True, unit_divisor=1024, desc=name)

    @property
    def callback(self) -> Optional[Progress]:
        """The callback; None if progress was not requested."""
        return self._progress if self._bar is None else self._update

    def _update(self, read: int, size: int) -> None:
        self._bar.total = size
        self._bar.update(read - self._bar.n)
        if self._progress is not None:
            self._progress(read, size)

    def __enter__(self) -> Bar:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()
