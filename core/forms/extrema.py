"""Minima and maxima of forms."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..actions import Form
from .divisions import Divisions
from .form import MAXIMUM, MINIMUM, ZERO, lone

__all__ = ["Extrema"]


class Extrema(Divisions):
    """Minima and maxima in normal form."""

    def __init__(self, record: Any = None) -> None:
        super().__init__(record)
        #: by whether it is the minimum, and the arguments
        self.extrema: dict[tuple[bool, tuple[Form, ...]], Form] = {}

    def extremum(self, least: bool, forms: Iterable[Form]) -> Form:
        """The smallest (``least``) or the largest of several forms."""
        own, other = (MINIMUM, MAXIMUM) if least else (MAXIMUM, MINIMUM)
        # nested extrema and literals are merged first, as the constructors of expressions do
        flat: list[Form] = []
        literal: int | None = None
        stack = list(forms)
        stack.reverse()
        while stack:
            f = stack.pop()
            a = lone(f)
            if a >= 0 and self.kind[a] == own:
                stack.extend(reversed(self.parts[a]))
            elif not f[1]:
                n = f[0]
                if literal is None or (n < literal) == least:
                    literal = n
            else:
                flat.append(f)
        if literal is not None:
            flat.append((literal, ()))
        args: list[Form] = []
        todo = flat
        todo.reverse()
        while todo:
            f = todo.pop()
            for g in args:
                winner = self._winner(least, own, other, g, f)
                if winner is not None:
                    break
            else:
                args.append(f)
                continue
            if winner != g:
                args.remove(g)
                todo.append(winner)
        if len(args) == 1:
            return args[0]
        constants = [f[0] for f in args if f[1]]
        if all(constants):
            c = min(constants, key=lambda n: (abs(n), n))
            x, y = args[0], self.extremum(least, args[1:])
            return self.min_shifts(c, x, y) if least else self.max_shifts(c, x, y)
        args.sort()
        key = (least, tuple(args))
        found = self.extrema.get(key)
        if found is not None and self.index is None:
            return found
        ranges = [self.range(f) for f in args]
        lows, highs = [r[0] for r in ranges], [r[1] for r in ranges]
        lo, hi = (min(lows), min(highs)) if least else (max(lows), max(highs))
        if found is not None:
            return self._again(found[1][0][0], lo, hi)
        found = self.extrema[key] = self._new(own, ZERO, 0, lo, hi)
        self.parts[found[1][0][0]] = key[1]
        return found

    def _winner(self, least: bool, own: int, other: int, x: Form, y: Form) -> Form | None:
        """Which of two arguments the extremum of both always is, if it is one of them."""
        if x == y:
            return x
        if self.unbounded:
            self._refuse_large(x, 0)
            self._refuse_large(y, 0)
        apart = self.add(y, self.scale(x, -1))
        lo, hi = self.range(apart)
        if lo < 0 < hi:
            for f, g in ((x, y), (y, x)):
                a = lone(g)
                if a >= 0 and self.kind[a] == other and f in self.parts[a]:
                    rest = [h for h in self.parts[a] if h != f]
                    h = rest[0] if len(rest) == 1 else self._extremum_of(other, tuple(rest))
                    return self.min_absorbs_max(f, h) if least else self.max_absorbs_min(f, h)
            lo, hi = self._distance(apart, lo, hi)
        if least:
            if lo >= 0:
                return self.min_keeps_smaller(x, y)
            if hi <= 0:
                return self.min_keeps_smaller(y, x)
        else:
            if hi <= 0:
                return self.max_keeps_larger(x, y)
            if lo >= 0:
                return self.max_keeps_larger(y, x)
        return None

    def _distance(self, f: Form, lo: int, hi: int) -> tuple[int, int]:
        """The range of a difference, whose sign is not seen, from those with one argument in place of an extremum."""
        for i, (a, k) in enumerate(f[1]):
            if lo >= 0 or hi <= 0:
                break
            t = self.kind[a]
            if t == MINIMUM or t == MAXIMUM:
                rest = f[0], f[1][:i] + f[1][i + 1 :]
                ranges = [self.range(self.add(rest, self.scale(p, k))) for p in self.parts[a]]
                pick = max if (t == MAXIMUM) == (k > 0) else min
                lo, hi = max(lo, pick([r[0] for r in ranges])), min(hi, pick([r[1] for r in ranges]))
        return lo, hi

    def _extremum_of(self, kind: int, parts: tuple[Form, ...]) -> Form:
        """The minimum or the maximum of forms as they are: some of the arguments of one that is in normal form."""
        ranges = [self.range(f) for f in parts]
        pick = min if kind == MINIMUM else max
        made = self._new(kind, ZERO, 0, pick([r[0] for r in ranges]), pick([r[1] for r in ranges]))
        self.parts[made[1][0][0]] = parts
        return made
