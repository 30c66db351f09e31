"""Bounds and facts about a domain, and the conditions that they decide.

:class:`Facts` bounds the values of expressions and decides whether a condition certainly holds.  It uses a kernel
without rules, so it knows what the simplifier knows of an expression before it rewrites anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property

from .condition import Condition, condition_interpret
from .expr import Expr, FloorDiv, Int, Mod, Var, floordiv, mod
from .interval import EMPTY, LINE, End, Interval
from .kernel.kernel import Kernel


class Facts:
    """Bounds of variables, and facts ``expression ∈ interval``.

    ``boxes`` maps variables to intervals, or to plain pairs of ends; other variables are unbounded.
    """

    def __init__(self, boxes: Mapping[Var, tuple[End, End]], known: Iterable[tuple[Expr, Interval]] = ()) -> None:
        self.boxes: dict[Var, tuple[End, End]] = dict(boxes)
        self.constraints = tuple(known)

    @cached_property
    def kernel(self) -> Kernel:
        """A kernel without rules that knows the bounds and facts."""
        kernel = Kernel(self.boxes, keep_points=True)
        for n, (e, (lo, hi)) in enumerate(self.constraints, 1):
            kernel.know(e, lo, hi, more=n < len(self.constraints))
        return kernel

    @cached_property
    def contradictory(self) -> bool:
        """Whether the bounds show that some variable or constrained expression has no value."""
        ends = [*self.boxes.values(), *(i for _, i in self.constraints)]
        if any(lo > hi for lo, hi in ends):
            return True
        kernel = self.kernel
        if any(map(int.__gt__, kernel.lo, kernel.hi)):
            return True
        return any((Interval(*kernel.ends(e)) & i).empty for e, i in self.constraints)

    def interval(self, e: Expr) -> Interval:
        """Return an over-approximation of the values of ``e``; empty where the domain is found to be empty."""
        if self.contradictory:
            return EMPTY
        try:
            return Interval(*self.kernel.ends(e))
        except OverflowError:
            # unbounded variables with numbers larger than those of any program
            return LINE

    def holds(self, c: Condition) -> bool:
        """Return whether ``c`` certainly holds on the domain; ``False`` means "not known", never "does not hold"."""
        try:
            return not self.contradictory and bool(condition_interpret(c, lambda e: e, _Certain(self.kernel)))
        except OverflowError:
            return False


def _undivided_twice(e: Expr) -> Expr:
    """Return ``x // a // b`` as ``x // (a·b)``, which is equal for positive b; also below one remainder."""
    if isinstance(e, Mod):
        return mod(_undivided_twice(e.a), e.b)
    if isinstance(e, FloorDiv) and isinstance(e.a, FloorDiv):
        inner, outer = e.a.b, e.b
        if isinstance(inner, Int) and isinstance(outer, Int) and outer.value > 0:
            return floordiv(e.a.a, inner.value * outer.value)
    return e


class _Certain:
    """Three-valued logic reduced to "certainly true"; negating a comparison gives a comparison and loses nothing."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel

    def const(self, value: bool) -> bool:
        return value

    def compare(self, op: str, a: Expr, b: Expr) -> bool:
        kernel = self.kernel
        if op == "==" and _undivided_twice(a) is _undivided_twice(b):
            return True
        x, y = kernel.read(a), kernel.read(b)
        match op:
            case "<=":
                return kernel.at_most(x, y)
            case "<":
                return kernel.at_most((x[0] + 1, x[1]), y)
            case "==":
                return kernel.equal(x, y)
        return kernel.differ(x, y)

    def within(self, e: Expr, lo: Expr, hi: Expr) -> bool:
        return self.compare("<=", lo, e) and self.compare("<=", e, hi)

    def divides(self, d: Expr, e: Expr) -> bool:
        if not isinstance(d, Int) or not d.value:
            return False
        n, f = abs(d.value), self.kernel.read(e)
        return self.kernel.divides(n, f) or self.kernel.known_remainder(f, n) == 0

    def conj(self, parts: list[bool]) -> bool:
        return all(parts)

    def disj(self, parts: list[bool]) -> bool:
        return any(parts)

    def neg(self, part: bool) -> bool:
        # only reached for divisibility; "not known" must stay "not known"
        return False
