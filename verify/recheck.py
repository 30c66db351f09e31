"""Check a verdict without proving anything, and without a solver.

This settles every verdict that rests on a point, wherever it comes from, and every proof of an identity.  Of any other
proof it establishes only that the claim does not fail at small points.
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
    """Whether integers satisfy the hypotheses of ``o`` and violate its goal; a rule of a rule file in its arithmetic."""
    if isinstance(o, StatedObligation):
        r = o.without
        return set(point) == set(r.variables) and refutes(r, point)
    variables = {v for c in (*o.hypotheses, o.goal) for v in c.variables()}
    if set(point) != {v.name for v in variables}:
        return False
    return confirmed({v: point[v.name] for v in variables}, o.hypotheses, o.goal)


def believable(o: Obligation, v: Verdict) -> bool:
    """Whether a verdict has the form of one on ``o``, its example is one, and what it calls proved may be."""
    if v.witness is not None:
        return has_form(o, v) and is_example(o, v.witness)
    if v.proved and o.gate and o.question == "valid":
        return _may_be_proved(o, v.strategy)
    # of a rule file only whether there is a point is kept
    return has_form(o, v) or (v.proved and isinstance(o, StatedObligation))


def _may_be_proved(o: Obligation, strategy: str) -> bool:
    """Whether ``o`` is an identity, if that is what is said, and else holds where counterexamples are looked for first."""
    if isinstance(o, StatedObligation):
        return table_of(o.rule).counterexample() is None
    if strategy == "identity":
        return not conjuncts(o.hypotheses, o.goal)[1]
    return small_point(o.hypotheses, o.goal) is None
