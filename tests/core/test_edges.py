"""Maps whose numbers lie at the edges that the simplifier compares with: what they come to is right, and stays as it is.

``tests/mutants`` changes the simplifier one comparison or number at a time, and these maps notice it.
"""

from __future__ import annotations

import hashlib
import importlib.util
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from indexproof.core.text import format_map


def _edges() -> Any:
    """``tests/mutants/edges.py``, which is on no path."""
    path = Path(__file__).parents[1] / "mutants" / "edges.py"
    spec = importlib.util.spec_from_file_location("edges", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules.setdefault("edges", module)
    spec.loader.exec_module(module)
    return module


#: Of all results of a family; a change of what the simplifier finds changes it, and has to be meant.
PINNED: dict[str, str] = {
    "blocks": "68bf34fbf89920bb",
    "digits": "133553784ea2abc8",
    "nested": "f5ad0978a21a5d47",
    "extrema": "149d927c8fd857af",
    "turned": "90f72a3330a7c2f1",
    "known": "5c2dff03fe298f83",
    "congruent": "126e6a1441ad0442",
    "shared": "0d38dc839c7b222c",
    "large": "548797b5cca1cd3c",
    "opaque": "bca61b90f28aee73",
    "points_only": "910293e9ab9af69f",
    "examples": "0ddca5b4dde0c48a",
    "random": "ac10828c8a4f31d4",
}

EDGES = _edges()


@pytest.fixture(scope="module")
def results() -> list[tuple[Any, Any]]:
    """The cases with what they come to."""
    return [(c, c.simplified(c.map)) for c in EDGES.corpus()]


def test_results_are_right_and_cost_no_more_and_stay(results: list[tuple[Any, Any]]) -> None:
    problems = {c.name: f"{c.problem(after)}: {c.map}" for c, after in results if c.problem(after)}
    assert not problems


def test_every_step_is_an_instance_of_a_rule(results: list[tuple[Any, Any]]) -> None:
    refused = {c.name: f"{c.refused()}: {c.map}" for c, _ in results[::2] if c.refused()}
    assert not refused


def test_results_are_the_same_as_ever(results: list[tuple[Any, Any]]) -> None:
    texts: dict[str, Any] = defaultdict(lambda: hashlib.blake2b(digest_size=8))
    for c, after in results:
        texts[c.family].update(f"{format_map(after)}\n".encode())
    assert {family: h.hexdigest() for family, h in texts.items()} == PINNED
