"""Ranges derived from the box and the constraints of a map, reimplemented for the checker of derivations.

Conditions on constants are evaluated.  Other conditions are decided by intervals and congruences, in code shared with
no other module, and by the concrete deciders (:mod:`.concrete`) if these do not suffice.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from ..core.condition import And, Compare, Condition, Divides, Or, Truth, Within
from ..core.expr import CeilDiv, Expr, FloorDiv, Int, Max, Min, Mod, Mul, Sum, Var, linear, postorder
from ..core.indexing_map import Constraint
from ..core.notation import show
from .concrete import holds
from .verdict import Status


class Span(NamedTuple):
    """Values in ``[lo, hi]`` that are ``r`` modulo ``m``; ``m = 0`` means that ``r`` is the only value."""

    lo: int
    hi: int
    m: int = 1
    r: int = 0

    def __str__(self) -> str:
        if self.lo == self.hi:
            return f"{{{self.lo}}}"
        return f"[{self.lo}, {self.hi}]" + (f" and ≡ {self.r} (mod {self.m})" if self.m > 1 else "")


class Finding(NamedTuple):
    """How a condition was decided: ``by`` constants, ranges or an engine; ``why`` lists the ranges in use."""

    holds: bool
    by: str
    why: tuple[str, ...] = ()


class _Unknown(Exception):
    """Raised if no finite range of an expression is known."""


def _span(lo: int, hi: int, m: int = 1, r: int = 0) -> Span:
    """Return a span with its ends tightened to members."""
    m = abs(m)
    if m:
        r %= m
        lo += (r - lo) % m
        hi -= (hi - r) % m
    if lo == hi:
        return Span(lo, hi, 0, lo)
    # contradictory facts give lo > hi: the domain is empty, so that every statement is true
    return Span(lo, hi, m, r)


def _divided(a: Span, d: int) -> Span:
    """Return the span of ``a // d``."""
    if d < 0:
        a, d = _scaled(a, -1), -d
    whole = a.m % d == 0 and (a.m or a.r % d == 0)
    # x = r + m·k gives x // d = r // d + (m / d)·k if d divides m
    return _span(a.lo // d, a.hi // d, a.m // d, a.r // d) if whole else _span(a.lo // d, a.hi // d)


def _scaled(a: Span, k: int) -> Span:
    ends = (a.lo * k, a.hi * k) if k >= 0 else (a.hi * k, a.lo * k)
    return _span(*ends, a.m * k, a.r * k)


def _reduced(a: Span, d: int) -> Span:
    """Return the span of ``a mod d``."""
    if d < 0:
        return _scaled(_reduced(_scaled(a, -1), -d), -1)
    lo, hi = (a.lo % d, a.hi % d) if a.lo // d == a.hi // d else (0, d - 1)
    return _span(lo, hi, math.gcd(a.m, d), a.r)


def _product(a: Span, b: Span) -> Span:
    corners = [x * y for x in (a.lo, a.hi) for y in (b.lo, b.hi)]
    return _span(min(corners), max(corners))


def _extreme(pick: Callable[[Iterable[int]], int], args: list[Span]) -> Span:
    m = 0
    for a in args:
        m = math.gcd(m, a.m, a.r - args[0].r)
    return _span(pick(a.lo for a in args), pick(a.hi for a in args), m, args[0].r)


class _Line(NamedTuple):
    """``e = times·body + const``, where the coefficients of ``body`` are coprime and the first is positive."""

    body: Expr
    times: int
    const: int


def _line(e: Expr) -> _Line:
    if not isinstance(e, Sum):
        return _Line(e, 1, 0)
    g = math.gcd(*(k for _, k in e.terms))
    if e.terms[0][1] < 0:
        g = -g
    return _Line(linear(0, [(t, k // g) for t, k in e.terms]), g, e.const)


class Domain:
    """The points of a box that satisfy some constraints."""

    def __init__(self, box: Mapping[Var, tuple[int, int]], constraints: Iterable[Constraint] = ()) -> None:
        self.box = dict(box)
        self.constraints = tuple(constraints)
        self.empty = any(lo > hi for lo, hi in self.box.values()) or any(c.holds_never for c in self.constraints)
        self._values: dict[Expr, Span] = {}
        self._asked: dict[Condition, Finding] = {}
        #: bounds and residues from the constraints, by the body of their line
        self._bounds: dict[Expr, tuple[int, int]] = {}
        self._classes: dict[Expr, tuple[int, int]] = {}
        for c in self.constraints:
            self._learn(c)

    def _learn(self, c: Constraint) -> None:
        if isinstance(c.expr, Int) or c.lo > c.hi:
            return
        body, times, const = _line(c.expr)
        lo, hi = c.lo - const, c.hi - const
        if times < 0:
            lo, hi, times = -hi, -lo, -times
        lo, hi = -(-lo // times), hi // times
        old = self._bounds.get(body)
        self._bounds[body] = (lo, hi) if old is None else (max(lo, old[0]), min(hi, old[1]))
        inner = c.expr
        if isinstance(inner, Mod) and isinstance(inner.b, Int) and inner.b.value > 0 and c.lo == c.hi:
            body, times, const = _line(inner.a)
            if abs(times) == 1:
                self._classes[body] = (inner.b.value, (c.lo - const) * times)

    # -- ranges
    def span(self, e: Expr) -> Span:
        """Return a span that contains all values of ``e``.  Raises :class:`_Unknown` if none is known."""
        values = self._values
        for node in postorder(e, known=values):
            values[node] = self._sharpened(node, self._computed(node, values))
        return values[e]

    def _sharpened(self, node: Expr, s: Span) -> Span:
        if not self._bounds or isinstance(node, Int):
            return s
        body, times, const = _line(node)
        known = self._bounds.get(body)
        if known is not None:
            lo, hi = sorted((known[0] * times, known[1] * times))
            s = _span(max(s.lo, lo + const), min(s.hi, hi + const), s.m, s.r)
        known = self._classes.get(body)
        if known is not None and s.m <= 1:
            s = _span(s.lo, s.hi, known[0] * times, known[1] * times + const)
        return s

    def _computed(self, node: Expr, values: Mapping[Expr, Span]) -> Span:
        match node:
            case Int(value=n):
                return Span(n, n, 0, n)
            case Var():
                if node not in self.box:
                    raise _Unknown
                return _span(*self.box[node])
            case Sum():
                lo = hi = r = node.const
                m = 0
                for t, k in node.terms:
                    s = _scaled(values[t], k)
                    lo, hi, m, r = lo + s.lo, hi + s.hi, math.gcd(m, s.m), r + s.r
                return _span(lo, hi, m, r)
            case Mul():
                total = values[node.factors[0]]
                for f in node.factors[1:]:
                    total = _product(total, values[f])
                return total
            case Min():
                return _extreme(min, [values[a] for a in node.args])
            case Max():
                return _extreme(max, [values[a] for a in node.args])
            case FloorDiv(b=Int(value=d)):
                return _divided(values[node.a], d)
            case CeilDiv(b=Int(value=d)):
                return _scaled(_divided(_scaled(values[node.a], -1), d), -1)
            case Mod(b=Int(value=d)):
                return _reduced(values[node.a], d)
        raise _Unknown

    # -- conditions
    def decide(self, c: Condition) -> Finding:
        """Decide whether ``c`` holds at every point; an undecided condition counts as false."""
        found = self._asked.get(c)
        if found is None:
            found = self._asked[c] = self._decide(c)
        return found

    def _decide(self, c: Condition) -> Finding:
        if isinstance(c, Truth):
            return Finding(c.value, "constants")
        if not c.variables():
            return Finding(c.evaluate({}), "constants")
        if self.empty:
            return Finding(True, "the domain is empty")
        why: list[str] = []
        try:
            if self._follows(c, why):
                return Finding(True, "ranges", tuple(why))
        except _Unknown:
            pass
        box: list[Any] = [(v, lo, hi) for v, (lo, hi) in self.box.items()]
        answer = holds(c, box, [k.condition for k in self.constraints])
        if answer.verdict is Status.PROVED:
            return Finding(True, answer.engine)
        said = str(answer.counterexample) if answer.counterexample is not None else "not decided"
        return Finding(False, answer.engine, (said,))

    def _follows(self, c: Condition, why: list[str]) -> bool:
        match c:
            case Truth(value):
                return value
            case Compare(op, a, b):
                s = self._seen(a - b, why)
                if op == "<=":
                    return s.hi <= 0
                if op == "<":
                    return s.hi < 0
                if op == "==":
                    return s.lo == s.hi == 0
                return s.lo > 0 or s.hi < 0 or (s.m > 1 and s.r % s.m != 0)
            case Within(e, lo, hi):
                if isinstance(lo, Int) and isinstance(hi, Int):
                    s = self._seen(e, why)
                    return lo.value <= s.lo and s.hi <= hi.value
                return self._seen(lo - e, why).hi <= 0 and self._seen(e - hi, why).hi <= 0
            case Divides(Int(value=d), e):
                s = self._seen(e, why)
                return d != 0 and s.m % d == 0 and s.r % d == 0
            case And(args):
                return all(self._follows(part, why) for part in args)
            case Or(args):
                for part in args:
                    said: list[str] = []
                    if self._follows(part, said):
                        why += said
                        return True
        return False

    def _seen(self, e: Expr, why: list[str]) -> Span:
        s = self.span(e)
        if not isinstance(e, Int):
            why.append(f"{show(e)} ∈ {s}")
        return s
