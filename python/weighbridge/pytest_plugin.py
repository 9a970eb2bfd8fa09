"""A pytest plugin: the fixture `assert_valid_model`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import pytest

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._native import Report
    from ._options import CheckOptions


class AssertValidModel(Protocol):
    """Fails a test unless a file is valid."""

    def __call__(self, source: Any, **options: Unpack[CheckOptions]) -> Report: ...


@pytest.fixture
def assert_valid_model() -> AssertValidModel:
    """Fails the test unless a file is valid, and shows which entry breaks which rule; options are
    those of `weighbridge.check`."""

    def check(source: Any, **options: Unpack[CheckOptions]) -> Report:
        __tracebackhide__ = True
        import weighbridge

        report = weighbridge.check(source, **options)
        if not report.is_valid:
            lines = [str(report)]
            lines += [f"  {it.rule} at {it.offset}: {it.message}" for it in report.findings[:20]]
            lines += [f"  not checked: {it.why}" for it in report.unchecked[:20] if it.asked]
            pytest.fail("\n".join(lines), pytrace=False)
        return report

    return check
