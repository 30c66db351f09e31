"""Every notebook of examples/ runs from its first cell to its last in a kernel of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

NOTEBOOKS = sorted((Path(__file__).parent.parent / "examples").glob("*.ipynb"))
EXECUTE = """
import sys, nbformat
from nbclient import NotebookClient
notebook = nbformat.read(sys.argv[1], 4)
assert not any(c.get("outputs") for c in notebook.cells), "clear the outputs before a commit"
NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
shown = [o for c in notebook.cells for o in c.get("outputs", ()) if o.output_type != "stream" or o.name == "stdout"]
assert shown
"""


def test_there_are_notebooks() -> None:
    assert len(NOTEBOOKS) >= 3


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_a_notebook_runs(path: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", EXECUTE, str(path)], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert not done.returncode, done.stderr[-3000:]
