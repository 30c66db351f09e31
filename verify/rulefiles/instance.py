"""Whether a rule is an instance of another one: seen from the two rules alone, however the other one was found."""

from __future__ import annotations

from .rule import StatedRule, sort_of
from .semantics import Semantics
from .terms import Term, below

__all__ = ["instance_terms"]

_DIVISIONS = frozenset(
    {"fdiv", "mod", "cdiv", "floordiv", "floormod", "truncdiv", "truncmod", "eucliddiv", "euclidmod"}
)


def instance_terms(wider: StatedRule, r: StatedRule) -> dict[str, Term] | None:
    """What the variables that only ``wider`` has stand for in ``r``; ``None`` where ``r`` does not follow from it.

    The rules are the same but for these variables; each stands for one term, which has a value everywhere and may have
    any.
    """
    if wider.semantics != r.semantics or len(wider.conditions) != len(r.conditions):
        return None
    found: dict[str, Term] = {}
    pairs = list(
        zip((wider.left, wider.right, *wider.conditions), (r.left, r.right, *r.conditions), strict=True)
    )
    while pairs:
        a, b = pairs.pop()
        if a.op in ("var", "flag") and a.name not in r.variables:
            if sort_of(a) != sort_of(b) or not _same(found.setdefault(a.name, b), b):
                return None
        elif (a.op, a.value, len(a.args)) != (b.op, b.value, len(b.args)):
            return None
        else:
            pairs += zip(a.args, b.args, strict=True)
    for v, kind in wider.variables.items():
        if v in r.variables:
            if kind != r.variables[v]:
                return None
        elif kind.lo is not None or not _valued(found[v], r.semantics):
            return None
    # the integers of a condition do not wrap around: there a term of machine integers is another number
    conditional = {t.name for t in below(*wider.conditions) if t.op in ("var", "flag")}
    return None if r.semantics.width and conditional & set(found) else found


def _valued(t: Term, s: Semantics) -> bool:
    """Whether a term has a value everywhere."""
    if s.width and s.overflow != "wrap":
        return not t.args
    total = s.quotient.endswith("0") and s.remainder.endswith("0")
    return total or not any(a.op in _DIVISIONS for a in below(t))


def _same(a: Term, b: Term) -> bool:
    todo = [(a, b)]
    while todo:
        x, y = todo.pop()
        if (x.op, x.value, len(x.args)) != (y.op, y.value, len(y.args)):
            return False
        todo += zip(x.args, y.args, strict=True)
    return True
