"""A pytest plugin for the tests of `safetensors` itself: replaces the functions that load whole
files with ours.

`scripts/python.sh torch` runs them. The tests also save, inspect files with `safe_open`, slice
and search for shared storage. This package has no functions of those names, so the original
stays, and such tests do not cover our code. Tests that do not apply are listed below.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, Callable, Dict, List

import safetensors.numpy
import safetensors.torch
import weighbridge as wb

#: Files that need another framework.
OTHERS = ("flax", "mlx", "paddle", "tf_")
#: How often each test called one of our functions.
CALLS: Counter[str] = Counter()
_test = ""


def _counted(load: Callable[..., Any]) -> Callable[..., Any]:
    def counted(*args: Any, backend: str = "mmap", **options: Any) -> Any:
        # `backend` chooses how `safetensors` reads. This package has only one way.
        CALLS[_test] += 1
        return load(*args, **options)

    return counted


safetensors.numpy.load = _counted(wb.load)
safetensors.numpy.load_file = _counted(wb.load_file)
safetensors.torch.load = _counted(wb.torch.load)
safetensors.torch.load_file = _counted(wb.torch.load_file)


def pytest_ignore_collect(collection_path: Any) -> Any:
    return True if any(it in collection_path.name for it in OTHERS) else None


def pytest_runtest_call(item: Any) -> None:
    global _test
    _test = item.nodeid


def pytest_sessionfinish(session: Any) -> None:
    # Tests that never load with this package prove nothing.
    if not CALLS:
        session.exitstatus = session.exitstatus or 1


def pytest_terminal_summary(terminalreporter: Any) -> None:
    passed: List[Any] = terminalreporter.stats.get("passed", [])
    ours: Dict[str, int] = {it.nodeid: CALLS[it.nodeid] for it in passed if CALLS[it.nodeid]}
    terminalreporter.write_line(
        f"{len(ours)} tests passed that load with weighbridge, {sum(ours.values())} times"
    )
