"""Factors with an inverse modulo the divisor: what follows from them is proved, and nothing else."""

from __future__ import annotations

import itertools

import pytest

from indexproof.core.condition import Compare, Condition
from indexproof.core.expr import integer, var
from indexproof.verify import linear
from indexproof.verify.obligations import Obligation
from indexproof.verify.recheck import is_example
from indexproof.verify.rulefiles.inverses import by_inverses

from ...broken.inverses import BROKEN, Inverse

POSITIVE = tuple(Compare("<", integer(0), var(name)) for name in "dn")


def owed(conditions: tuple[Condition, ...]) -> Obligation:
    return Obligation("rule", "planted", "sound", (*POSITIVE, *conditions[:-1]), conditions[-1])


def has_counterexample(o: Obligation) -> bool:
    names = sorted({v.name for c in (*o.hypotheses, o.goal) for v in c.variables()})
    points = itertools.product(range(6), repeat=len(names))
    return any(is_example(o, dict(zip(names, point, strict=True))) for point in points)


@pytest.mark.parametrize("planted", BROKEN, ids=lambda b: b.name)
def test_what_does_not_follow_is_not_proved(planted: Inverse) -> None:
    wrong, twin = owed(planted.wrong), owed(planted.twin)
    assert has_counterexample(wrong)
    assert not by_inverses(wrong, linear.ReductionBudget())[0]
    assert not has_counterexample(twin)
    assert by_inverses(twin, linear.ReductionBudget())[0]
