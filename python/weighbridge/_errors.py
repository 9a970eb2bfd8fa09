"""Exceptions and warnings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Optional

if TYPE_CHECKING:
    from ._native import Report


class WeighbridgeError(Exception):
    """What this package raises besides `OSError`, `ValueError` and `KeyError`."""

    #: The report that says why, where there is one.
    report: Optional[Report] = None


class InvalidFile(WeighbridgeError):
    """The file breaks a rule that counts."""


class Unsupported(WeighbridgeError):
    """The file or the tensor is of a kind that is not read, or cannot be given in this form."""


class LimitExceeded(WeighbridgeError):
    """A limit on memory or work was reached before all was checked or read."""


class RawElementsWarning(UserWarning):
    """Elements are given as raw bits, because `ml_dtypes` is not installed."""


class Truncated(NamedTuple):
    """A value of metadata that is longer than what is here: its first 64 KiB."""

    value: Any
