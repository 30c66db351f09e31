"""Checks a verdict without proving anything, and without a solver.

This settles every verdict that rests on a point, wherever it comes from, and every proof of an identity.  For any other
proof it only tests that the claim does not fail at small points.
"""

from __future__ import annotations

from collections.abc import Mapping

from .obligation import Obligation, has_form
from .preprocess import conjuncts
from .refute import confirmed, small_point
from .rulefiles.evaluate import refutes
from .rulefiles.obligations import StatedObligation
from .rulefiles.sample import table_of
from .verdict import Verdict


def is_example(o: Obligation, point: Mapping[str, int]) -> bool:
    """Return whether a point is a counterexample to ``o``; for a rule of a rule file, in the arithmetic of the rule."""
    if isinstance(o, StatedObligation):
        r = o.without
        return set(point) == set(r.variables) and refutes(r, point)
    variables = {v for c in (*o.hypotheses, o.goal) for v in c.variables()}
    if set(point) != {v.name for v in variables}:
        return False
    return confirmed({v: point[v.name] for v in variables}, o.hypotheses, o.goal)


def believable(o: Obligation, v: Verdict) -> bool:
    """Return whether a verdict fits ``o``, its example is valid, and a proof is plausible."""
    if v.witness is not None:
        return has_form(o, v) and is_example(o, v.witness)
    if v.proved and o.gate and o.question == "valid":
        return _may_be_proved(o, v.strategy)
    # for rules of rule files, only the existence of a point is stored
    return has_form(o, v) or (v.proved and isinstance(o, StatedObligation))


def _may_be_proved(o: Obligation, strategy: str) -> bool:
    """Return whether ``o`` is an identity, if the verdict says so, and else has no small counterexample."""
    if isinstance(o, StatedObligation):
        return table_of(o.rule).counterexample() is None
    if strategy == "identity":
        return not conjuncts(o.hypotheses, o.goal)[1]
    return small_point(o.hypotheses, o.goal) is None
