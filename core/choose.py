"""The arithmetic of a strategy: the engine and the native core share it."""

from __future__ import annotations

import math

__all__ = ["least_common_multiple"]


def least_common_multiple(m: int, s: int, n: int, t: int) -> tuple[int, int, int, int, int, int] | None:
    """Everything that makes two remainders one: the multiple, the common remainder, cofactors, Bézout coefficients."""
    if m <= 0 or n <= 0:
        return None
    g = math.gcd(m, n)
    if (s - t) % g or not 0 <= s < m or not 0 <= t < n:
        return None
    a, b = n // g, m // g
    u = pow(a, -1, b) if b > 1 else 0
    v = (1 - u * a) // b
    w = (s + m * ((t - s) // g * pow(b, -1, a) % a if a > 1 else 0)) % (m * a)
    return m * a, w, a, b, u, v
