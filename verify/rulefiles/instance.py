"""Whether a rule is an instance of another one: seen from the two rules alone, however the other one was found."""

from __future__ import annotations

from collections.abc import Sequence

from .rule import StatedRule, sort_of
from .semantics import Semantics
from .terms import DIVISIONS, Term, alike, below, evaluated


def instance_terms(wider: StatedRule, r: StatedRule) -> dict[str, Term] | None:
    """Match the variables that only ``wider`` has against ``r``; ``None`` where ``r`` does not follow from it.

    The rules are the same but for these variables; each stands for one term, which may have any value, and has one
    wherever the rule says something: because it has one everywhere, or because the left side or a condition has none
    where it has none.
    """
    if wider.semantics != r.semantics or len(wider.conditions) != len(r.conditions):
        return None
    found: dict[str, Term] = {}
    pairs = list(zip((wider.left, wider.right, *wider.conditions), (r.left, r.right, *r.conditions), strict=True))
    while pairs:
        a, b = pairs.pop()
        if a.op in ("var", "flag") and a.name not in r.variables:
            if sort_of(a) != sort_of(b) or not _same(found.setdefault(a.name, b), b):
                return None
        elif (a.op, a.value, len(a.args)) != (b.op, b.value, len(b.args)):
            return None
        else:
            pairs += zip(a.args, b.args, strict=True)
    # the integers of a condition do not overflow, so that it may have a value where the term has none
    needed = evaluated(r.left, *(() if r.semantics.width else r.conditions))
    for v, kind in wider.variables.items():
        if v in r.variables:
            if kind != r.variables[v]:
                return None
        elif kind.lo is not None or not _valued(found[v], needed, r.semantics):
            return None
    # the integers of a condition do not wrap around: there a term of machine integers is another number
    conditional = {t.name for t in below(*wider.conditions) if t.op in ("var", "flag")}
    return None if r.semantics.width and conditional & set(found) else found


def _valued(t: Term, needed: Sequence[Term], s: Semantics) -> bool:
    """Whether a term has a value wherever all that is needed has one."""
    found: set[int] = set()
    for a in below(t):
        total = not a.args or (_is_total(a, s) and found.issuperset(map(id, a.args)))
        if total or any(_same(a, b) for b in needed):
            found.add(id(a))
    return id(t) in found


def _is_total(t: Term, s: Semantics) -> bool:
    """Whether an operator gives a value for all values."""
    if s.width and s.overflow != "wrap":
        return False
    return t.op not in DIVISIONS or (s.quotient.endswith("0") and s.remainder.endswith("0"))


def _same(a: Term, b: Term) -> bool:
    number = alike(below(a, b))
    return number[id(a)] == number[id(b)]
