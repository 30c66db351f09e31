"""Checks that a rule is an instance of another one, independently of how the other one was found."""

from __future__ import annotations

from collections.abc import Mapping, Set

from .rule import StatedRule, sort_of
from .semantics import Semantics
from .terms import DIVISIONS, Term, alike, below, evaluated


def instance_terms(wider: StatedRule, r: StatedRule) -> dict[str, Term] | None:
    """Return the terms of ``r`` for the variables that only ``wider`` has, or ``None`` if ``r`` is no instance of it.

    Except for these variables, the rules are the same.  Each variable is unbounded and replaces one term.  The term
    must have a value wherever the rule claims something: it is total, or the left side or a condition has no value
    where it has none.
    """
    if wider.semantics != r.semantics or len(wider.conditions) != len(r.conditions):
        return None
    number = alike(below(r.left, r.right, *r.conditions))
    found: dict[str, Term] = {}
    pairs = list(zip((wider.left, wider.right, *wider.conditions), (r.left, r.right, *r.conditions), strict=True))
    while pairs:
        a, b = pairs.pop()
        if a.op in ("var", "flag") and a.name not in r.variables:
            if sort_of(a) != sort_of(b) or number[id(found.setdefault(a.name, b))] != number[id(b)]:
                return None
        elif (a.op, a.value, len(a.args)) != (b.op, b.value, len(b.args)):
            return None
        else:
            pairs += zip(a.args, b.args, strict=True)
    # integers in conditions do not overflow, so a condition may have a value where the term has none
    needed = {number[id(t)] for t in evaluated(r.left, *(() if r.semantics.width else r.conditions))}
    for v, kind in wider.variables.items():
        if v in r.variables:
            if kind != r.variables[v]:
                return None
        elif kind.lo is not None or not _valued(found[v], needed, number, r.semantics):
            return None
    # integers in conditions do not wrap around, so there a term over machine integers has another value
    conditional = {t.name for t in below(*wider.conditions) if t.op in ("var", "flag")}
    return None if r.semantics.width and conditional & set(found) else found


def _valued(t: Term, needed: Set[int], number: Mapping[int, int], s: Semantics) -> bool:
    """Return whether a term has a value wherever all ``needed`` terms have one, which are given by their numbers."""
    found = set(needed)
    for a in below(t):
        if not a.args or (_is_total(a, s) and found.issuperset(number[id(b)] for b in a.args)):
            found.add(number[id(a)])
    return number[id(t)] in found


def _is_total(t: Term, s: Semantics) -> bool:
    """Return whether an operator is total."""
    if s.width and s.overflow != "wrap":
        return False
    return t.op not in DIVISIONS or (s.quotient.endswith("0") and s.remainder.endswith("0"))
