"""Check a verdict without proving anything: evaluate its counterexample or example.

This settles every verdict that rests on a point, wherever it comes from.  A proof rests on no point, so only its form is
checked.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from .obligation import Obligation, has_form
from .refute import confirmed
from .rulefiles.evaluate import judge
from .rulefiles.obligations import StatedObligation
from .verdict import Status, Verdict

__all__ = ["believable", "is_example"]


def is_example(o: Obligation, point: Mapping[str, int]) -> bool:
    """Whether integers satisfy the hypotheses of ``o`` and violate its goal; a rule of a rule file in its arithmetic."""
    if isinstance(o, StatedObligation):
        r = o.rule
        if o.condition is not None:
            r = replace(r, conditions=(*r.conditions[: o.condition], *r.conditions[o.condition + 1 :]))
        return set(point) == set(r.variables) and judge(r, point) in ("counterexample", "undefined")
    variables = {v for c in (*o.hypotheses, o.goal) for v in c.variables()}
    if set(point) != {v.name for v in variables}:
        return False
    return confirmed({v: point[v.name] for v in variables}, o.hypotheses, o.goal)


def believable(o: Obligation, v: Verdict) -> bool:
    """Whether a verdict has the form of one on ``o``, and its example is one."""
    if isinstance(o, StatedObligation) and v.status is Status.PROVED and v.witness is None:
        # of a rule file only whether there is a point is kept
        return True
    return has_form(o, v) and (v.witness is None or is_example(o, v.witness))
