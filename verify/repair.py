"""Repairs of a refuted rule: single conditions that make it true, from a documented list of candidates.

The candidates, in order: each constant positive, negative or nonzero; one constant divides another; two constants
equal; an expression variable non-negative; a remainder below a constant (``r ∈ [0, c - 1]``).  A candidate is offered
only if the rule is *proved* with it and remains satisfiable.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace

from ..core.condition import FALSE, TRUE, Condition
from ..core.expr import Expr, Var
from .budget import Budget
from .obligation import Obligation
from .refute import variables_of
from .solve import decide


def candidates(o: Obligation) -> Iterator[Condition]:
    """Yield the candidate conditions, in order."""
    names: list[Var] = variables_of([*o.hypotheses, o.goal])
    constants: list[Expr] = [v for v in names if v.kind == "const"]
    others: list[Expr] = [v for v in names if v.kind != "const"]
    for c in constants:
        yield from (c > 0, c < 0, c.ne(0))
    for a, b in itertools.permutations(constants, 2):
        yield a.divides(b)
    for a, b in itertools.combinations(constants, 2):
        yield a.eq(b)
    for x in others:
        yield x >= 0
    for x, c in itertools.product(others, constants):
        yield x.within(0, c - 1)


def repairs(o: Obligation) -> list[Condition]:
    """Return up to four conditions that make a refuted obligation provable without making it vacuous."""
    if o.question != "valid":
        return []
    budget = Budget().scaled(0.05)
    found: list[Condition] = []
    for c in candidates(o):
        if c in o.hypotheses or c is TRUE or c is FALSE:
            continue
        stronger = replace(o, hypotheses=(*o.hypotheses, c))
        if not decide(stronger, budget).proved:
            continue
        if decide(replace(stronger, goal=FALSE, question="exists"), budget).proved:
            found.append(c)
        if len(found) == 4:
            break
    return found
