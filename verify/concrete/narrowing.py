"""Narrows the box of counterexamples: where a claim fails, every difference that it depends on is nonzero.

``max(x, y) - max(x', y)`` is zero where ``y >= x`` and ``y >= x'``.  So its being nonzero bounds the variables of
all counterexamples, and the remaining question is smaller, or already decided.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence

from ...core.interval import Interval, is_infinite
from .climbing import Definitions
from .forms import Form, Row, plus
from .problem import preimage

#: Limits on the rows that are propagated for one case, on the definitions unfolded into one row, and on the cases of a
#: minimum.
_STEPS = 400
_DEPTH = 6
_CASES = 24


class NarrowedBox:
    """The bounds of all atoms, narrowed by their definitions and by rows."""

    def __init__(self, atoms: Definitions) -> None:
        self.atoms = atoms
        self.box = [Interval(lo, hi) for lo, hi in zip(atoms.lo, atoms.hi, strict=True)]
        self.rows: list[Row] = list(atoms.rows)
        for m, (a, c) in atoms.quotients.items():
            self.rows.append((plus(a, {m: 1}, -c), Interval(0, c - 1)))
        for m, forms in atoms.minima.items():
            self.rows += [(plus(f, {m: 1}, -1), Interval(0, math.inf)) for f in forms]
        self.touching: list[list[int]] = [[] for _ in self.box]
        for k, (f, _) in enumerate(self.rows):
            for m in f:
                if m:
                    self.touching[m].append(k)

    def narrow(self, f: Form, within: Interval) -> bool:
        """Narrow the box to the points with ``f`` not in ``within``; return whether any may be left."""
        found: list[Interval] | None = None
        for g, least in ((f, within.hi + 1), ({m: -k for m, k in f.items()}, 1 - within.lo)):
            if is_infinite(least):
                continue
            for case in self._cases(g, int(least), _DEPTH):
                box = self._within([(h, Interval(x, math.inf)) for h, x in case])
                if box is not None:
                    found = box if found is None else [a | b for a, b in zip(found, box, strict=True)]
        if found is None:
            return False
        self.box = found
        return True

    def _cases(self, f: Form, least: int, depth: int) -> list[list[tuple[Form, int]]]:
        """Return cases that cover ``f >= least``, each with implied inequalities about the definitions of its atoms."""
        here = f, least
        high = sum(k * self.box[m].hi if k > 0 else k * self.box[m].lo for m, k in f.items())
        if high < least:
            return []
        atoms = self.atoms
        m = max((j for j in f if j in atoms.quotients or j in atoms.minima), default=0)
        if not m or not depth:
            return [[here]]
        if m in atoms.quotients:
            # c·q is the dividend minus a remainder
            a, c = atoms.quotients[m]
            times = c // math.gcd(c, f[m])
            k = f[m] * times // c
            g = plus({j: times * i for j, i in f.items() if j != m}, a, k)
            return [[here, *case] for case in self._cases(g, times * least + min(0, k) * (c - 1), depth - 1)]
        k = f[m]
        rest = plus(f, {m: 1}, -k)
        found = [self._cases(plus(rest, arg, k), least, depth - 1) for arg in atoms.minima[m]]
        if k < 0:
            # one case for each argument that may be the minimum
            return [[here, *case] for cases in found for case in cases]
        # the minimum is at most each argument: combine their cases, dropping arguments with many cases beyond the limit
        found.sort(key=len)
        while math.prod(map(len, found)) > _CASES:
            found.pop()
        return [[here, *itertools.chain(*chosen)] for chosen in itertools.product(*found)]

    def _within(self, rows: Sequence[Row]) -> list[Interval] | None:
        """Propagate ``rows`` and return the bounds of all atoms, or ``None`` on a contradiction."""
        box = list(self.box)
        todo: dict[int, None] = dict.fromkeys(range(len(self.rows), len(self.rows) + len(rows)))
        for _ in range(_STEPS):
            if not todo:
                break
            k = next(iter(todo))
            del todo[k]
            f, within = self.rows[k] if k < len(self.rows) else rows[k - len(self.rows)]
            moved = _cut(f, within, box)
            if moved is None:
                return None
            for m in moved:
                todo.update(dict.fromkeys(self.touching[m]))
        return box


def _cut(f: Form, within: Interval, box: list[Interval]) -> list[int] | None:
    """Narrow the atoms of one row in place; return those that shrink by a sixteenth, or ``None`` on a contradiction."""
    low: int | float = f.get(0, 0)
    high = low
    for m, k in f.items():
        if m:
            i = box[m].scale(k)
            low, high = low + i.lo, high + i.hi
    if low > within.hi or high < within.lo:
        return None
    moved: list[int] = []
    if low >= within.lo and high <= within.hi:
        return moved
    for m, k in f.items():
        if not m:
            continue
        i, before = box[m].scale(k), box[m]
        rest = Interval(low - i.lo, high - i.hi)
        after = before & preimage(within.plus(rest.scale(-1)), k, 0)
        if after.empty:
            return None
        if after != before:
            box[m] = after
            j = after.scale(k)
            low, high = low + j.lo - i.lo, high + j.hi - i.hi
            if 16 * after.size <= 15 * before.size:
                moved.append(m)
    return moved


def differences(atoms: Definitions) -> Iterator[Form]:
    """Yield forms not proved zero: differences of atoms, each after the difference of dividends of two quotients."""
    for f in atoms.doubts:
        m = max(f)
        for j in f:
            if j != m and f == {m: 1, j: -1} and m in atoms.quotients and j in atoms.quotients:
                (a, c), (b, d) = atoms.quotients[m], atoms.quotients[j]
                if c == d:
                    yield plus(a, b, -1)
        yield f
