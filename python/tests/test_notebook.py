"""The notebook runs from start to end, and its results can be displayed."""

from __future__ import annotations

import ast
import json
import tempfile
from pathlib import Path
from typing import Any, Dict, List

import weighbridge as wb

NOTEBOOK = Path(__file__).resolve().parents[1] / "examples" / "weighbridge.ipynb"


def run(source: str, names: Dict[str, Any]) -> Any:
    """Runs a cell; returns the value of its last line, if that is an expression."""
    body = ast.parse(source).body
    last = body.pop() if isinstance(body[-1], ast.Expr) else None
    exec(compile(ast.Module(body, []), NOTEBOOK.name, "exec"), names)
    if last is None:
        return None
    return eval(compile(ast.Expression(last.value), NOTEBOOK.name, "eval"), names)  # type: ignore[attr-defined]


def test_the_notebook(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    cells = json.loads(NOTEBOOK.read_text())["cells"]
    names: Dict[str, Any] = {"__name__": "__main__"}
    shown: List[Any] = []
    for cell in cells:
        if cell["cell_type"] == "code":
            assert not cell["outputs"], "it is kept without outputs"
            shown.append(run("".join(cell["source"]), names))
    tables = [it._repr_html_() for it in shown if hasattr(it, "_repr_html_")]
    assert len(tables) == 3 and all("<p>" in it for it in tables)
    assert "OFFSET-BOUNDS" in tables[1] and "<td>encoder.weight</td>" in tables[2]
    assert shown[-1] == {"model.safetensors": "valid", "cut.safetensors": "invalid"}
    assert sum(isinstance(it, wb.Stats) for it in shown) == 1
