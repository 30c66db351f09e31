"""Where a power of two divides a polynomial in one variable."""

from __future__ import annotations

import math
from collections.abc import Sequence

__all__ = ["are_roots"]

#: So many classes are looked at to see that there are no other roots than those that are named.
_LOOKED_AT = 4096


def are_roots(p: Sequence[int], modulus: int, classes: Sequence[tuple[int, int]]) -> bool:
    """Whether a power of two divides a polynomial exactly at the integers of classes ``r + m·k``."""

    def at(r: int, m: int) -> list[int]:
        """The coefficients of ``p(r + m·y)``, by the binomial theorem."""
        return [
            sum(a * math.comb(i, j) * r ** (i - j) for i, a in enumerate(p) if i >= j) * m**j
            for j in range(len(p))
        ]

    if any(m < 1 or m & (m - 1) or any(a % modulus for a in at(r, m)) for r, m in classes):
        return False
    todo = [(0, 1)]
    for _ in range(_LOOKED_AT):
        if not todo:
            return True
        r, m = todo.pop()
        if any(m % other == 0 and (r - s) % other == 0 for s, other in classes):
            continue
        free, *rest = at(r, m)
        step = math.gcd(modulus, *rest)
        if free % step:
            continue  # some power of two divides all coefficients but this one
        if step == modulus:
            return False
        todo += [(r, 2 * m), (r + m, 2 * m)]
    return False
