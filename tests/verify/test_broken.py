"""Every planted mistake is refuted by a small counterexample, and its correct twin is proved."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any

import pytest

from indexproof.core.errors import InputError
from indexproof.core.op import DIRECTIONS, concrete
from indexproof.core.rewrite import DeclarationError
from indexproof.verify.catalogue import obligations_of
from indexproof.verify.obligation import Obligation
from indexproof.verify.solve import decide
from indexproof.verify.verdict import Status, Verdict

#: The families, each with a lower bound on the number of its mistakes.
FAMILIES = {
    "rules": 16, "constraint_rules": 18, "transfer_laws": 8, "tile_laws": 12,
    "transforms": 12, "ops": 14, "layouts": 20, "launches": 8,
}  # fmt: skip
MODULES: dict[str, ModuleType] = {family: import_module(f"broken.{family}") for family in FAMILIES}
BROKEN: dict[str, Any] = {f"{family}.{p.name}": p for family, m in MODULES.items() for p in m.BROKEN}
UNDECLARABLE: dict[str, Any] = {p.name: p for p in MODULES["rules"].UNDECLARABLE}
#: Upper bound on the sum of absolute values in a counterexample.
SMALL = 60
#: Obligations that only an op with divisions has.
NOTHING_TO_SHOW = ("sizes defined", "defined at points")


@cache
def _decided(claim: Any) -> list[tuple[Obligation, Verdict]]:
    """Return gating obligations of a correct claim with verdicts.  Cached, because several mistakes share a twin."""
    return [(o, decide(o)) for o in obligations_of(claim, widths=()) if o.gate]


@pytest.mark.parametrize("name", BROKEN)
def test_the_mistake_is_found(name: str) -> None:
    planted = BROKEN[name]
    owed = {o.kind: o for o in obligations_of(planted.wrong, widths=())}
    o = owed[planted.fails]
    verdict = decide(o)
    assert verdict.status is planted.status, o.statement()
    if verdict.status not in (Status.REFUTED, Status.UNDEFINED):
        assert verdict.witness is None
        return
    point = verdict.witness
    assert set(point) == {v.name for v in o.formula_variables()}
    assert all(type(v) is int for v in point.values())
    # evaluated with exact integers, without a solver
    assert all(h.evaluate(point) for h in o.hypotheses), point
    assert not o.goal.evaluate(point), point
    assert sum(map(abs, point.values())) <= SMALL, point


@pytest.mark.parametrize("name", BROKEN)
def test_the_twin_is_proved(name: str) -> None:
    planted = BROKEN[name]
    decided = _decided(planted.twin)
    assert decided
    assert not {o.name: v for o, v in decided if not v.proved}
    # the twin has and fulfils the failed obligation, unless that belongs to a superfluous condition or step
    if not planted.fails.startswith(("needs", "step ")) and not planted.fails.endswith(NOTHING_TO_SHOW):
        assert planted.fails in {o.kind for o, _ in decided}


@pytest.mark.parametrize("name", UNDECLARABLE)
def test_what_means_nothing_is_not_declared(name: str) -> None:
    planted = UNDECLARABLE[name]
    with pytest.raises(DeclarationError) as caught:
        planted.declare()
    assert planted.says in str(caught.value)
    assert all(v.proved for _, v in _decided(planted.twin))


def test_an_op_may_divide_by_the_size_of_an_array_without_elements() -> None:
    ops = MODULES["ops"]
    for direction in DIRECTIONS:
        assert concrete(ops.RollRows(1), 0, direction, [(0,)]).relation() == set()
        assert concrete(ops.RollRows(1), 0, direction, [(3, 0)]).relation() == set()
        with pytest.raises(InputError, match=r"division by zero for operands of shapes \[3\]"):
            concrete(ops.RollHalved(0), 0, direction, [(3,)])
    with pytest.raises(InputError, match=r"division by zero for operands of shapes \[3\]"):
        concrete(ops.RollByQuotient(0), 0, "output_to_input", [(3,)])


def test_there_are_enough_of_them() -> None:
    refuted = [p for p in BROKEN.values() if p.status is Status.REFUTED]
    assert len(refuted) >= 40
    assert len(BROKEN) == sum(len(m.BROKEN) for m in MODULES.values()), "two mistakes have one name"
    for family, least in FAMILIES.items():
        assert len(MODULES[family].BROKEN) >= least, family
