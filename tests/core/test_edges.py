"""Maps whose numbers lie at the bounds that the simplifier compares with: their results are right, and pinned.

``tests/mutants`` changes the simplifier one comparison or number at a time, and these maps notice it.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from indexproof.core.expr import var
from indexproof.core.indexing_map import IndexingMap
from indexproof.core.text import format_map
from indexproof.rules.simplifier import simplify, simplify_expr


def _edges() -> Any:
    """Load ``tests/mutants/edges.py``, which is not on the import path."""
    path = Path(__file__).parents[1] / "mutants" / "edges.py"
    spec = importlib.util.spec_from_file_location("edges", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules.setdefault("edges", module)
    spec.loader.exec_module(module)
    return module


#: Digests of all results of each family.  A change of results changes them, and must be intended.
PINNED: dict[str, str] = {
    "blocks": "74f5bb4228e1636c",
    "digits": "f79df0238e1c49b0",
    "nested": "fb59e94fd5e402cf",
    "extrema": "9d14c9fec5b8ded9",
    "turned": "48fb82dba60d9c32",
    "known": "8b0edf9d24a93283",
    "congruent": "23b08fbdf4fe27ba",
    "shared": "d84c72df35dfb47a",
    "large": "89b5298bbc9a52d3",
    "opaque": "18779af2f930f7ca",
    "points_only": "dedda3a57878ea3d",
    "linear": "bec752e7aa34f74d",
    "constrained": "90815869e007211c",
    "examples": "efdc90cc5ac2fa89",
    "random": "85445a2d281536bb",
    "twice": "faef1a7c03a02823",
    "asked": "47ce8dabf478b5ac",
}

EDGES = _edges()


@pytest.fixture(scope="module")
def results() -> list[tuple[Any, Any]]:
    """The cases with their results."""
    return [(c, c.simplified(c.map)) for c in EDGES.corpus()]


def test_results_are_right_and_cost_no_more_and_stay(results: list[tuple[Any, Any]]) -> None:
    assert not {c.name: f"{why}: {c.map}" for c, after in results if (why := c.problem(after))}


def test_every_step_is_an_instance_of_a_rule(results: list[tuple[Any, Any]]) -> None:
    # every other case: `make mutants` goes through all of them
    assert not {c.name: f"{why}: {c.map}" for c, _ in results[::2] if (why := c.refused())}


def test_results_are_the_same_as_ever(results: list[tuple[Any, Any]]) -> None:
    texts: dict[str, Any] = defaultdict(lambda: hashlib.blake2b(digest_size=8))
    for c, after in results:
        texts[c.family].update(f"{format_map(after)} {c.seen()}\n".encode())
    assert {family: h.hexdigest() for family, h in texts.items()} == PINNED


def test_ends_beyond_every_other_stay_where_they_are() -> None:
    end = 1 << 8192
    m = IndexingMap.of([("d0", end, end + 3)], [], [], [var("d0") // 2], [])
    after = simplify(m)
    assert [after.evaluate((end + n,)) for n in range(4)] == [m.evaluate((end + n,)) for n in range(4)]


def test_what_has_a_divisor_that_varies_has_a_size() -> None:
    x, y, z = var("x"), var("y"), var("z")
    e = (x % 6 // y * 18 + z) // 6
    assert str(simplify_expr(e, {"x": (0, 53), "y": (1, 6), "z": (0, 2)})) == "3·((x mod 6) // y)"
    assert str(simplify_expr(x % 2 // y % 5, {"x": (0, 9), "y": (1, 1)})) == "x mod 2"


def test_strategies_remember_nothing_that_rules_rely_on() -> None:
    """Strategies call only those private methods of the kernel that change nothing."""
    folder = Path(__file__).parents[2] / "core" / "strategies"
    for path in folder.glob("*.py"):
        tree = ast.parse(path.read_text("utf-8"))
        own = {n.name for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)}
        used = {n.attr for n in ast.walk(tree) if isinstance(n, ast.Attribute) and n.attr[:1] == "_"}
        assert used - own - {"__init__"} <= {"_span", "_spoken_of"}, path.name
