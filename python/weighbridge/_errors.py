"""Exceptions and warnings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Optional

if TYPE_CHECKING:
    from ._native import Report


class WeighbridgeError(Exception):
    """What this package raises besides `OSError`, `ValueError` and `KeyError`."""

    #: The report that explains the exception, if there is one.
    report: Optional[Report] = None


class InvalidFile(WeighbridgeError):
    """The file breaks a rule that makes it invalid."""


class Unsupported(WeighbridgeError):
    """The file or tensor is of an unsupported kind, or cannot be returned in this form."""


class LimitExceeded(WeighbridgeError):
    """A limit on memory or work was reached before everything was checked or read."""


class RawElementsWarning(UserWarning):
    """Elements are returned as raw bits, because `ml_dtypes` is not installed."""


class Truncated(NamedTuple):
    """The first 64 KiB of a longer metadata value."""

    value: Any
