"""The pytest plugin, in a separate run."""

from __future__ import annotations

from pathlib import Path
from typing import Any


pytest_plugins = ["pytester"]


def test_the_fixture(pytester: Any, sound: Path, broken: Path) -> None:
    pytester.makepyfile(
        f"""
        def test_sound(assert_valid_model):
            assert assert_valid_model({str(sound)!r}).format == "safetensors"

        def test_broken(assert_valid_model):
            assert_valid_model({str(broken)!r})

        def test_structure(assert_valid_model):
            assert_valid_model({str(sound)!r}, structure=True)
        """
    )
    run = pytester.runpytest_subprocess("-p", "no:cacheprovider")
    run.assert_outcomes(passed=2, failed=1)
    run.stdout.fnmatch_lines(["*is invalid*1 byte short*", "*OFFSET-BOUNDS at *"])
