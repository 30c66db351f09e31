"""What the tests of confluence share: the planted rules, beside the other planted mistakes, and the overlaps."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from indexproof.rules.catalog import RULES
from indexproof.verify.confluence import critical_pairs
from indexproof.verify.confluence.constraint_overlap import ConstraintOverlap, constraint_overlaps
from indexproof.verify.confluence.ground import Ground, Move
from indexproof.verify.confluence.instances import Instance
from indexproof.verify.confluence.overlap import Overlap, matched
from indexproof.verify.confluence.rewriting import Witness

_PLANTED = Path(__file__).parents[2] / "broken" / "confluence_rules.py"


def _loaded() -> ModuleType:
    """The planted rules; loaded once, since rules are compared by identity."""
    name = "planted_confluence_rules"
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, _PLANTED)
        assert spec is not None
        assert spec.loader is not None
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]


@pytest.fixture(scope="session")
def planted() -> ModuleType:
    """The module of planted rules."""
    return _loaded()


@pytest.fixture(scope="session")
def expression_overlaps() -> dict[str, Overlap]:
    """The critical overlaps of the catalogue's rules for expressions, by name, in their order."""
    return {o.name: o for o in critical_pairs(RULES.rules)}


@pytest.fixture(scope="session")
def overlaps_with_constraints() -> dict[str, ConstraintOverlap]:
    """Those in which rules for constraints take part."""
    return {o.name: o for o in constraint_overlaps(RULES.constraints, RULES.rules)}


@pytest.fixture(scope="session")
def check_witness() -> Callable[[Witness[Instance, Move]], None]:
    """Both forms are normal, different, have no common result, and have the value of the expression everywhere."""

    def check(witness: Witness[Instance, Move]) -> None:
        one, two = witness.forms
        ground = Ground(matched(RULES.rules), dict(witness.instance.boxes))
        assert one is not two
        assert not ground.moves(one)
        assert not ground.moves(two)
        assert not (ground.normal_forms(witness.left[0].after) & ground.normal_forms(witness.right[0].after))
        for form in witness.forms:
            assert ground.facts.holds(form.eq(witness.instance.start))
        assert witness.left[0].before is witness.right[0].before is witness.instance.start

    return check


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """One test for every planted set that a test asks for by the name of an argument."""
    module = _loaded()
    for name, sets in {
        "broken": module.BROKEN,
        "mendable": [p for p in module.BROKEN if p.healed],
        "sound": module.SOUND,
    }.items():
        if name in metafunc.fixturenames:
            metafunc.parametrize(name, sets, ids=[getattr(p, "name", str(n)) for n, p in enumerate(sets)])
