"""The facts of one case, with consequences that need no solver."""

from __future__ import annotations

from collections.abc import Iterable

from ...core.condition import And, Compare, Condition, Or, Truth, Within, negate
from ...core.expr import Expr, Mul, Sum, Var, interpret
from ..linear.bounds import Bounds
from ..linear.formula import tight
from ..linear.polynomial import ONE, Poly, Ring, constant, variable


class Polynomials(Ring):
    """Interpretation of expressions as polynomials, in which all but sums and products are opaque names."""

    def __init__(self) -> None:
        self._memo: dict[Expr, Poly] = {}
        self._names: dict[tuple[object, ...], Poly] = {}

    def of(self, e: Expr) -> Poly:
        """Return the polynomial of an expression; equal expressions have equal polynomials."""
        return interpret((e,), self, self._memo)[0]

    def _opaque(self, *parts: object) -> Poly:
        found = self._names.get(parts)
        if found is None:
            found = self._names[parts] = variable(f"#{len(self._names)}")
        return found

    def variable(self, v: Var) -> Poly:
        return variable(f"{v.name}:{v.kind}")

    def floordiv(self, a: Poly, b: Poly) -> Poly:
        return self._opaque("//", a, b)

    def mod(self, a: Poly, b: Poly) -> Poly:
        return self._opaque("%", a, b)

    def ceildiv(self, a: Poly, b: Poly) -> Poly:
        return self._opaque("⌈/⌉", a, b)

    def minimum(self, args: list[Poly]) -> Poly:
        return self._opaque("min", *args)

    def maximum(self, args: list[Poly]) -> Poly:
        return self._opaque("max", *args)


def unscaled(e: Expr) -> tuple[Expr, int]:
    """Return an expression without its coefficient, and the coefficient."""
    return e.terms[0] if isinstance(e, Sum) and len(e.terms) == 1 and not e.const else (e, 1)


class Known:
    """Facts of one case.  Every answer follows from the facts; ``None`` means unknown."""

    def __init__(self, polynomials: Polynomials) -> None:
        self.polynomials = polynomials
        self._bounds = Bounds()
        self._facts: set[Condition] = set()
        self._nonzero: set[Poly] = set()
        self._settled = True

    def assume(self, conditions: Iterable[Condition]) -> None:
        """Add facts."""
        of = self.polynomials.of
        todo = list(conditions)
        while todo:
            c = todo.pop()
            match c:
                case And(args):
                    todo += args
                case Within(e, lo, hi):
                    todo += [lo <= e, e <= hi]
                case Compare("<=", a, b):
                    self._bounds.learn(of(b - a))
                case Compare("<", a, b):
                    self._bounds.learn(of(b - a) - ONE)
                case Compare("==", a, b):
                    p = of(b - a)
                    self._bounds.learn(p)
                    self._bounds.learn(-p)
                case Compare("!=", a, b):
                    self._not_zero(b - a)
                case Truth():
                    pass
            self._facts.add(c)
        self._settled = False

    def note(self, conditions: Iterable[Condition]) -> None:
        """Add consequences of the facts that are not known yet."""
        new = [c for c in conditions if c not in self._facts]
        if new:
            self.assume(new)

    def _not_zero(self, e: Expr) -> None:
        """Record that ``e`` and each of its factors is nonzero."""
        term, _ = unscaled(e)
        for p in map(self.polynomials.of, (e, term)):
            self._nonzero |= {p, -p}
        for f in term.factors if isinstance(term, Mul) else ():
            self._not_zero(f)

    def _sharpen(self) -> None:
        """Infer ``p >= 1`` from ``p >= 0`` and ``p != 0``."""
        for p in self._nonzero:
            if tight(p) in self._bounds.facts:
                self._bounds.learn(p - ONE)

    def _certain(self, p: Poly) -> bool:
        if not self._settled:
            self._sharpen()
            self._bounds.settle()
            self._settled = True
        return self._bounds.certain(p)

    def at_least(self, e: Expr, n: int) -> bool:
        """Return whether ``e >= n`` is proved."""
        return self._certain(self.polynomials.of(e) - n)

    def at_most(self, e: Expr, n: int) -> bool:
        """Return whether ``e <= n`` is proved."""
        return self._certain(constant(n) - self.polynomials.of(e))

    def nonzero(self, e: Expr) -> bool:
        """Return whether ``e != 0`` is proved."""
        p = self.polynomials.of(e)
        if p in self._nonzero or self._certain(p - ONE) or self._certain(-p - ONE):
            return True
        term, _ = unscaled(e)
        return isinstance(term, Mul) and all(map(self.nonzero, term.factors))

    def truth(self, c: Condition) -> bool | None:
        """Return whether ``c`` is proved or refuted, or ``None``."""
        if isinstance(c, Truth):
            return c.value
        if c in self._facts:
            return True
        if negate(c) in self._facts:
            return False
        match c:
            case Compare("<=" | "<" as op, a, b):
                p = self.polynomials.of(b - a)
                strict = 1 if op == "<" else 0
                if self._certain(p - strict):
                    return True
                if self._certain(-p - (1 - strict)):
                    return False
            case Compare("==" | "!=" as op, a, b):
                p = self.polynomials.of(b - a)
                if not p:
                    return op == "=="
                if self.nonzero(b - a):
                    return op == "!="
                if self._certain(p) and self._certain(-p):
                    return op == "=="
            case Within(e, lo, hi):
                return _all([self.truth(lo <= e), self.truth(e <= hi)])
            case And(args):
                return _all([self.truth(a) for a in args])
            case Or(args):
                found = _all([self.truth(negate(a)) for a in args])
                return None if found is None else not found
        return None


def _all(truths: list[bool | None]) -> bool | None:
    """Return the truth value of a conjunction in three-valued logic."""
    if False in truths:
        return False
    return None if None in truths else True
