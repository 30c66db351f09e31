"""Exact evaluation of a rule at a point, the reference for all other interpretations.

Arithmetic is strict.  ``select`` evaluates only the chosen side.  A conjunction with a false part is false, and a
disjunction with a true part is true, even if other parts have no value.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from typing import Literal

from .rule import StatedRule
from .semantics import Rounding, Semantics, quotient, remainder
from .terms import Term, below


class Missing(Enum):
    """The reason why a term has no value."""

    ZERO = "division by zero"
    OVERFLOW = "overflow"


Value = int | bool | Missing
Point = Mapping[str, int]

#: The outcome at a point: the sides agree (``holds``), differ (``counterexample``), or only the right one has no value
#: (``undefined``); or a condition is false or the left side has no value, so that nothing is claimed (``not concerned``).
Outcome = Literal["holds", "counterexample", "undefined", "not concerned"]

#: The operators with a rounding of their own.
_NAMED: dict[str, tuple[str, bool]] = {
    "floordiv": ("floor", True),
    "floormod": ("floor", False),
    "truncdiv": ("trunc", True),
    "truncmod": ("trunc", False),
    "eucliddiv": ("euclid", True),
    "euclidmod": ("euclid", False),
}


def division(t: Term, s: Semantics) -> tuple[Rounding, bool] | None:
    """Return the rounding of a division and whether it gives the quotient, or ``None`` for other terms.

    A division with a rounding of its own treats a zero divisor as the rule set's division does.
    """
    match t.op:
        case "fdiv":
            return s.quotient, True
        case "mod":
            return s.remainder, False
    if t.op not in _NAMED:
        return None
    name, whole = _NAMED[t.op]
    own = s.quotient if whole else s.remainder
    return (name + "0" if own.endswith("0") else name), whole  # type: ignore[return-value]


def values(roots: Iterable[Term], point: Point, s: Semantics) -> dict[int, Value]:
    """Return the value of every term below ``roots``, by ``id``; in ``point`` truth values are 0 and 1.

    The terms are those of a side.  The conditions of a rule have unbounded integers, see :func:`truth`.
    """
    return _values(roots, point, s, machine=bool(s.width))


def truth(condition: Term, point: Point, s: Semantics) -> bool | Missing:
    """Return the truth value of a condition over unbounded integers."""
    found = _values((condition,), point, s, machine=False)[id(condition)]
    return found if isinstance(found, Missing) else bool(found)


def _values(roots: Iterable[Term], point: Point, s: Semantics, *, machine: bool) -> dict[int, Value]:
    done: dict[int, Value] = {}
    for t in below(*roots):
        value = _value(t, [done[id(a)] for a in t.args], point, s)
        if machine and type(value) is int and not s.lo <= value <= s.hi:
            value = s.wrapped(value) if s.overflow == "wrap" else Missing.OVERFLOW
        elif machine and s.overflow != "wrap" and division(t, s) is not None:
            a, b = (done[id(x)] for x in t.args)
            if a == s.lo and b == -1:
                value = Missing.OVERFLOW  # the remainder too, since machines compute both at once
        done[id(t)] = value
    return done


def judge(r: StatedRule, point: Point) -> Outcome:
    """Evaluate the rule at a point that gives every variable a value."""
    s = r.semantics
    for v, kind in r.variables.items():
        n = point[v]
        if kind.name == "bool":
            continue
        if (kind.lo is not None and n < kind.lo) or (kind.hi is not None and n > kind.hi):
            return "not concerned"
        if s.width and not s.lo <= n <= s.hi:
            return "not concerned"
    if not all(truth(c, point, s) is True for c in r.conditions):
        return "not concerned"
    found = values((r.left, r.right), point, s)
    left, right = found[id(r.left)], found[id(r.right)]
    if isinstance(left, Missing) or (right is Missing.OVERFLOW and s.overflow == "nowrap"):
        return "not concerned"
    if isinstance(right, Missing):
        return "undefined"
    return "holds" if left == right else "counterexample"


def refutes(r: StatedRule, point: Point) -> bool:
    """Return whether the rule fails at a point: its sides differ, or only the right one has no value."""
    return judge(r, point) in ("counterexample", "undefined")


def _value(t: Term, args: list[Value], point: Point, s: Semantics) -> Value:
    match t.op:
        case "int":
            return int(t.value)
        case "bool":
            return bool(t.value)
        case "var":
            return point[t.name]
        case "flag":
            return point[t.name] != 0
        case "and" | "or":
            deciding = t.op == "or"
            if any(a is deciding for a in args):
                return deciding
            lost = _missing(args)
            return not deciding if lost is None else lost
        case "fold":
            return args[0]
        case "select":
            chosen = args[0]
            return chosen if isinstance(chosen, Missing) else args[1] if chosen else args[2]
    lost = _missing(args)
    if lost is not None:
        return lost
    numbers = [int(a) for a in args if not isinstance(a, Missing)]
    kind = division(t, s)
    if kind is not None:
        rounding, whole = kind
        n = (quotient if whole else remainder)(rounding, *numbers)
        return Missing.ZERO if n is None else n
    match t.op, numbers:
        case "cdiv", [a, b]:
            if b == 0:
                return 0 if s.quotient.endswith("0") else Missing.ZERO
            return -(-a // b)
        case "wrap", [a]:
            return s.wrapped(a)
    return _OF_VALUES[t.op](*numbers)


def _missing(args: list[Value]) -> Missing | None:
    """Return the reason why an argument is missing; overflow takes precedence over division by zero."""
    return next((why for why in (Missing.OVERFLOW, Missing.ZERO) if why in args), None)


_OF_VALUES: dict[str, Callable[..., int | bool]] = {
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
    "eq": operator.eq,
    "ne": operator.ne,
    "not": operator.not_,
    "within": lambda e, lo, hi: lo <= e <= hi,
    "divides": lambda d, e: d != 0 and e % d == 0,
    "add": operator.add,
    "sub": operator.sub,
    "neg": operator.neg,
    "mul": operator.mul,
    "min": min,
    "max": max,
}
