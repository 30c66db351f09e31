"""The checks of the constraint rules of the catalogue.

Written by `indexproof dev docs` from the declarations in this folder; do not edit.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ..core.constraint_choose import Ends, Proposal
from ..core.constraint_matcher import Applied, Check, expression, inside, number
from ..core.constraint_order import Bound
from ..core.expr import FloorDiv, Int, Mod, Sum, ceildiv, floordiv, integer, linear, maximum, minimum, mod

__all__ = ["CHECKS"]


def summand_moves_into_bounds(_cs: Sequence[Bound], _ends: Ends, _v: Proposal) -> Applied | None:
    """``k + r… ∈ [lo, hi]  ⇔  r… ∈ [lo - k, hi - k]``"""
    try:
        _e0, _lo0, _hi0 = _cs[0]
        lo = _lo0
        hi = _hi0
        if type(_e0) is not Sum: return None
        k = _e0.const
        if not ((k != 0)): return None
        r = linear(0, [(_e0, 1), (integer(k), -1)])
        return ((r, lo - k, hi - k),), {'hi': hi, 'k': k, 'lo': lo, 'r': r}
    except ZeroDivisionError:
        return None


def positive_factor_divides_bounds(_cs: Sequence[Bound], _ends: Ends, _v: Proposal) -> Applied | None:
    """``x·k ∈ [lo, hi]  ⇔  x ∈ [ceildiv(lo, k), hi // k]   when 0 < k``"""
    try:
        _e0, _lo0, _hi0 = _cs[0]
        lo = _lo0
        hi = _hi0
        k = number(_v, 'k')
        if k is None: return None
        x = expression(_v, 'x')
        if x is None: return None
        if not ((0 < k) and (1 < k)): return None
        if linear(0, [(x, k)]) is not _e0: return None
        return ((x, -(-lo // k), hi // k),), {'hi': hi, 'k': k, 'lo': lo, 'x': x}
    except ZeroDivisionError:
        return None


def negative_factor_exchanges_bounds(_cs: Sequence[Bound], _ends: Ends, _v: Proposal) -> Applied | None:
    """``x·k ∈ [lo, hi]  ⇔  x ∈ [ceildiv(hi, k), lo // k]   when k < 0``"""
    try:
        _e0, _lo0, _hi0 = _cs[0]
        lo = _lo0
        hi = _hi0
        k = number(_v, 'k')
        if k is None: return None
        x = expression(_v, 'x')
        if x is None: return None
        if not ((k < 0)): return None
        if linear(0, [(x, k)]) is not _e0: return None
        return ((x, -(-hi // k), lo // k),), {'hi': hi, 'k': k, 'lo': lo, 'x': x}
    except ZeroDivisionError:
        return None


def positive_divisor_scales_bounds(_cs: Sequence[Bound], _ends: Ends, _v: Proposal) -> Applied | None:
    """``x // d ∈ [lo, hi]  ⇔  x ∈ [d·lo, d·hi + d - 1]   when 0 < d``"""
    try:
        _e0, _lo0, _hi0 = _cs[0]
        lo = _lo0
        hi = _hi0
        if type(_e0) is not FloorDiv: return None
        if type(_e0.b) is not Int: return None
        d = _e0.b.value
        x = _e0.a
        if not ((0 < d)): return None
        return ((x, d * lo, d + (d * hi) - 1),), {'d': d, 'hi': hi, 'lo': lo, 'x': x}
    except ZeroDivisionError:
        return None


def minimum_from_below(_cs: Sequence[Bound], _ends: Ends, _v: Proposal) -> Applied | None:
    """``min(x, y) ∈ [lo, hi]  ⇔  x ∈ [lo, b] and y ∈ [lo, d]   when x ≤ b,  y ≤ d,  min(x, y) ≤ hi``"""
    try:
        _e0, _lo0, _hi0 = _cs[0]
        lo = _lo0
        hi = _hi0
        b = number(_v, 'b')
        if b is None: return None
        d = number(_v, 'd')
        if d is None: return None
        x = expression(_v, 'x')
        if x is None: return None
        y = expression(_v, 'y')
        if y is None: return None
        if minimum(y, x) is not _e0: return None
        if not (_ends(x)[1] <= b): return None
        if not (_ends(y)[1] <= d): return None
        if not (_ends(minimum(y, x))[1] <= hi): return None
        return ((x, lo, b), (y, lo, d),), {'b': b, 'd': d, 'hi': hi, 'lo': lo, 'x': x, 'y': y}
    except ZeroDivisionError:
        return None


def maximum_from_above(_cs: Sequence[Bound], _ends: Ends, _v: Proposal) -> Applied | None:
    """``max(x, y) ∈ [lo, hi]  ⇔  x ∈ [a, hi] and y ∈ [c, hi]   when a ≤ x,  c ≤ y,  lo ≤ max(x, y)``"""
    try:
        _e0, _lo0, _hi0 = _cs[0]
        lo = _lo0
        hi = _hi0
        a = number(_v, 'a')
        if a is None: return None
        c = number(_v, 'c')
        if c is None: return None
        x = expression(_v, 'x')
        if x is None: return None
        y = expression(_v, 'y')
        if y is None: return None
        if maximum(y, x) is not _e0: return None
        if not (a <= _ends(x)[0]): return None
        if not (c <= _ends(y)[0]): return None
        if not (lo <= _ends(maximum(y, x))[0]): return None
        return ((x, a, hi), (y, c, hi),), {'a': a, 'c': c, 'hi': hi, 'lo': lo, 'x': x, 'y': y}
    except ZeroDivisionError:
        return None


def residue_is_rescaled(_cs: Sequence[Bound], _ends: Ends, _v: Proposal) -> Applied | None:
    """``x mod m = s  ⇔  y mod m = t   when 0 < m,  s ∈ [0, m - 1],  t ∈ [0, m - 1],  m ∣ u·v - 1,  m ∣ y - (x - s)·u - t``"""
    try:
        _e0, _lo0, _hi0 = _cs[0]
        s = _lo0
        if s != _hi0: return None
        if type(_e0) is not Mod: return None
        if type(_e0.b) is not Int: return None
        m = _e0.b.value
        x = _e0.a
        t = number(_v, 't')
        if t is None: return None
        u = number(_v, 'u')
        if u is None: return None
        v = number(_v, 'v')
        if v is None: return None
        y = expression(_v, 'y')
        if y is None: return None
        if not ((0 < m) and (0 <= s <= m - 1) and (0 <= t <= m - 1) and ((m != 0 and ((u * v) - 1) % m == 0))): return None
        if not (m != 0 and inside(_ends(mod(linear(-t, [(y, 1), (linear(-s, [(x, 1)]), -u)]), integer(m))), 0, 0)): return None
        return ((mod(y, integer(m)), t, t),), {'m': m, 's': s, 't': t, 'u': u, 'v': v, 'x': x, 'y': y}
    except ZeroDivisionError:
        return None


def bounds_meet_range(_cs: Sequence[Bound], _ends: Ends, _v: Proposal) -> Applied | None:
    """``x ∈ [lo, hi]  ⇔  x ∈ [max(a, lo), min(b, hi)]   when x ∈ [a, b]``"""
    try:
        _e0, _lo0, _hi0 = _cs[0]
        lo = _lo0
        hi = _hi0
        x = _e0
        a = number(_v, 'a')
        if a is None: return None
        b = number(_v, 'b')
        if b is None: return None
        if not ((a <= b) and (lo <= b) and (a <= hi) and (((lo < a) or (b < hi)))): return None
        if not (inside(_ends(x), a, b)): return None
        return ((_e0, max(a, lo), min(b, hi)),), {'a': a, 'b': b, 'hi': hi, 'lo': lo, 'x': x}
    except ZeroDivisionError:
        return None


def satisfied_constraint_vanishes(_cs: Sequence[Bound], _ends: Ends, _v: Proposal) -> Applied | None:
    """``x ∈ [lo, hi]  ⇔  true   when x ∈ [lo, hi]``"""
    try:
        _e0, _lo0, _hi0 = _cs[0]
        lo = _lo0
        hi = _hi0
        x = _e0
        if not (inside(_ends(x), lo, hi)): return None
        return (), {'hi': hi, 'lo': lo, 'x': x}
    except ZeroDivisionError:
        return None


def impossible_constraint_is_false(_cs: Sequence[Bound], _ends: Ends, _v: Proposal) -> Applied | None:
    """``x ∈ [lo, hi]  ⇔  false   when x ∈ [a, b],  hi < a or b < lo or hi < lo``"""
    try:
        _e0, _lo0, _hi0 = _cs[0]
        lo = _lo0
        hi = _hi0
        x = _e0
        a = number(_v, 'a')
        if a is None: return None
        b = number(_v, 'b')
        if b is None: return None
        if not ((((hi < a) or (b < lo) or (hi < lo)))): return None
        if not (inside(_ends(x), a, b)): return None
        return ((integer(0), 1, 1),), {'a': a, 'b': b, 'hi': hi, 'lo': lo, 'x': x}
    except ZeroDivisionError:
        return None


def multiple_and_rest_separate(_cs: Sequence[Bound], _ends: Ends, _v: Proposal) -> Applied | None:
    """``x·g + r… ∈ [lo, hi]  ⇔  x = k and r… ∈ [lo - g·k, hi - g·k]   when 0 < g,  r… ∈ [p, q],  k = ceildiv(lo - q, g),  k = (hi - p) // g``"""
    try:
        _e0, _lo0, _hi0 = _cs[0]
        lo = _lo0
        hi = _hi0
        g = number(_v, 'g')
        if g is None: return None
        k = number(_v, 'k')
        if k is None: return None
        p = number(_v, 'p')
        if p is None: return None
        q = number(_v, 'q')
        if q is None: return None
        x = expression(_v, 'x')
        if x is None: return None
        if not ((0 < g) and (k == -(-(lo - q) // g)) and (k == (hi - p) // g) and (1 < g)): return None
        r = linear(0, [(_e0, 1), (linear(0, [(x, g)]), -1)])
        if not (inside(_ends(r), p, q)): return None
        return ((x, k, k), (r, lo - (g * k), hi - (g * k)),), {'g': g, 'hi': hi, 'k': k, 'lo': lo, 'p': p, 'q': q, 'r': r, 'x': x}
    except ZeroDivisionError:
        return None


def multiple_and_rest_contradict(_cs: Sequence[Bound], _ends: Ends, _v: Proposal) -> Applied | None:
    """``x·g + r… ∈ [lo, hi]  ⇔  false   when 0 < g,  r… ∈ [p, q],  (hi - p) // g < ceildiv(lo - q, g)``"""
    try:
        _e0, _lo0, _hi0 = _cs[0]
        lo = _lo0
        hi = _hi0
        g = number(_v, 'g')
        if g is None: return None
        p = number(_v, 'p')
        if p is None: return None
        q = number(_v, 'q')
        if q is None: return None
        x = expression(_v, 'x')
        if x is None: return None
        if not ((0 < g) and ((hi - p) // g < -(-(lo - q) // g))): return None
        r = linear(0, [(_e0, 1), (linear(0, [(x, g)]), -1)])
        if not (inside(_ends(r), p, q)): return None
        return ((integer(0), 1, 1),), {'g': g, 'hi': hi, 'lo': lo, 'p': p, 'q': q, 'r': r, 'x': x}
    except ZeroDivisionError:
        return None


def same_expression_intersects(_cs: Sequence[Bound], _ends: Ends, _v: Proposal) -> Applied | None:
    """``x ∈ [a, b] and x ∈ [c, d]  ⇔  x ∈ [max(a, c), min(b, d)]``"""
    try:
        _e0, _lo0, _hi0 = _cs[0]
        a = _lo0
        b = _hi0
        x = _e0
        _e1, _lo1, _hi1 = _cs[1]
        c = _lo1
        d = _hi1
        if x is not _e1: return None
        return ((_e0, max(a, c), min(b, d)),), {'a': a, 'b': b, 'c': c, 'd': d, 'x': x}
    except ZeroDivisionError:
        return None


def remainders_merge(_cs: Sequence[Bound], _ends: Ends, _v: Proposal) -> Applied | None:
    """``x mod m = s and x mod n = t  ⇔  x mod k = w   when 0 < m,  0 < n,  k = a·m,  k = b·n,  a·u + b·v = 1,  w mod m = s,  w mod n = t,  w ∈ [0, k - 1]``"""
    try:
        _e0, _lo0, _hi0 = _cs[0]
        s = _lo0
        if s != _hi0: return None
        if type(_e0) is not Mod: return None
        if type(_e0.b) is not Int: return None
        m = _e0.b.value
        x = _e0.a
        _e1, _lo1, _hi1 = _cs[1]
        t = _lo1
        if t != _hi1: return None
        if type(_e1) is not Mod: return None
        if type(_e1.b) is not Int: return None
        n = _e1.b.value
        if x is not _e1.a: return None
        a = number(_v, 'a')
        if a is None: return None
        b = number(_v, 'b')
        if b is None: return None
        k = number(_v, 'k')
        if k is None: return None
        u = number(_v, 'u')
        if u is None: return None
        v = number(_v, 'v')
        if v is None: return None
        w = number(_v, 'w')
        if w is None: return None
        if not ((0 < m) and (0 < n) and (k == a * m) and (k == b * n) and ((b * v) + (a * u) == 1) and (w % m == s) and (w % n == t) and (0 <= w <= k - 1)): return None
        return ((mod(x, integer(k)), w, w),), {'a': a, 'b': b, 'k': k, 'm': m, 'n': n, 's': s, 't': t, 'u': u, 'v': v, 'w': w, 'x': x}
    except ZeroDivisionError:
        return None


def remainders_contradict(_cs: Sequence[Bound], _ends: Ends, _v: Proposal) -> Applied | None:
    """``x mod m = s and x mod n = t  ⇔  false   when g ∣ m,  g ∣ n,  not (g ∣ s - t)``"""
    try:
        _e0, _lo0, _hi0 = _cs[0]
        s = _lo0
        if s != _hi0: return None
        if type(_e0) is not Mod: return None
        if type(_e0.b) is not Int: return None
        m = _e0.b.value
        x = _e0.a
        _e1, _lo1, _hi1 = _cs[1]
        t = _lo1
        if t != _hi1: return None
        if type(_e1) is not Mod: return None
        if type(_e1.b) is not Int: return None
        n = _e1.b.value
        if x is not _e1.a: return None
        g = number(_v, 'g')
        if g is None: return None
        if not (((g != 0 and m % g == 0)) and ((g != 0 and n % g == 0)) and (not ((g != 0 and (s - t) % g == 0))) and (g != 0)): return None
        return ((integer(0), 1, 1),), {'g': g, 'm': m, 'n': n, 's': s, 't': t, 'x': x}
    except ZeroDivisionError:
        return None


def remainder_tightens_bounds(_cs: Sequence[Bound], _ends: Ends, _v: Proposal) -> Applied | None:
    """``x mod m ∈ [s, t] and x ∈ [lo, hi]  ⇔  x mod m ∈ [s, t] and x ∈ [a + lo, hi - b]   when 0 < m,  a = 0 or (a = (s - lo) mod m and t - s < (lo - s) mod m),  b = 0 or (b = (hi - t) mod m and t - s < (hi - s) mod m)``"""
    try:
        _e0, _lo0, _hi0 = _cs[0]
        s = _lo0
        t = _hi0
        if type(_e0) is not Mod: return None
        if type(_e0.b) is not Int: return None
        m = _e0.b.value
        x = _e0.a
        _e1, _lo1, _hi1 = _cs[1]
        lo = _lo1
        hi = _hi1
        if x is not _e1: return None
        a = number(_v, 'a')
        if a is None: return None
        b = number(_v, 'b')
        if b is None: return None
        if not ((0 < m) and (((a == 0) or (((a == (s - lo) % m) and (t - s < (lo - s) % m))))) and (((b == 0) or (((b == (hi - t) % m) and (t - s < (hi - s) % m))))) and (lo <= hi) and (s <= t) and (b + a != 0)): return None
        return ((_e0, s, t), (_e1, a + lo, hi - b),), {'a': a, 'b': b, 'hi': hi, 'lo': lo, 'm': m, 's': s, 't': t, 'x': x}
    except ZeroDivisionError:
        return None


def sum_bounds_summand(_cs: Sequence[Bound], _ends: Ends, _v: Proposal) -> Applied | None:
    """``x·k + r… ∈ [lo, hi] and x ∈ [a, b]  ⇔  x·k + r… ∈ [lo, hi] and x ∈ [max(ceildiv(s, k), a), min(t // k, b)]   when (0 < k and s = lo - q and t = hi - p) or (k < 0 and s = hi - p and t = lo - q),  r… ∈ [p, q]``"""
    try:
        _e0, _lo0, _hi0 = _cs[0]
        lo = _lo0
        hi = _hi0
        _e1, _lo1, _hi1 = _cs[1]
        a = _lo1
        b = _hi1
        x = _e1
        k = number(_v, 'k')
        if k is None: return None
        p = number(_v, 'p')
        if p is None: return None
        q = number(_v, 'q')
        if q is None: return None
        s = number(_v, 's')
        if s is None: return None
        t = number(_v, 't')
        if t is None: return None
        if not ((((((0 < k) and (s == lo - q) and (t == hi - p))) or (((k < 0) and (s == hi - p) and (t == lo - q))))) and (a <= b) and (((a < -(-s // k)) or (t // k < b)))): return None
        r = linear(0, [(_e0, 1), (linear(0, [(x, k)]), -1)])
        if not (inside(_ends(r), p, q)): return None
        return ((_e0, lo, hi), (_e1, max(-(-s // k), a), min(b, t // k)),), {'a': a, 'b': b, 'hi': hi, 'k': k, 'lo': lo, 'p': p, 'q': q, 'r': r, 's': s, 't': t, 'x': x}
    except ZeroDivisionError:
        return None


def sum_bounds_dividend(_cs: Sequence[Bound], _ends: Ends, _v: Proposal) -> Applied | None:
    """``(x // d)·k + r… ∈ [lo, hi] and x ∈ [a, b]  ⇔  (x // d)·k + r… ∈ [lo, hi] and x ∈ [max(ceildiv(s, k)·d, a), min((t // k)·d + d - 1, b)]   when (0 < k and s = lo - q and t = hi - p) or (k < 0 and s = hi - p and t = lo - q),  0 < d,  r… ∈ [p, q]``"""
    try:
        _e0, _lo0, _hi0 = _cs[0]
        lo = _lo0
        hi = _hi0
        _e1, _lo1, _hi1 = _cs[1]
        a = _lo1
        b = _hi1
        x = _e1
        d = number(_v, 'd')
        if d is None: return None
        k = number(_v, 'k')
        if k is None: return None
        p = number(_v, 'p')
        if p is None: return None
        q = number(_v, 'q')
        if q is None: return None
        s = number(_v, 's')
        if s is None: return None
        t = number(_v, 't')
        if t is None: return None
        if not ((((((0 < k) and (s == lo - q) and (t == hi - p))) or (((k < 0) and (s == hi - p) and (t == lo - q))))) and (0 < d) and (a <= b) and (((a < (-(-s // k)) * d) or (((t // k) * d) + d - 1 < b)))): return None
        r = linear(0, [(_e0, 1), (linear(0, [(floordiv(x, integer(d)), k)]), -1)])
        if not (inside(_ends(r), p, q)): return None
        return ((_e0, lo, hi), (_e1, max((-(-s // k)) * d, a), min(b, ((t // k) * d) + d - 1)),), {'a': a, 'b': b, 'd': d, 'hi': hi, 'k': k, 'lo': lo, 'p': p, 'q': q, 'r': r, 's': s, 't': t, 'x': x}
    except ZeroDivisionError:
        return None


CHECKS: Final[dict[str, Check]] = {
    "summand_moves_into_bounds": summand_moves_into_bounds,
    "positive_factor_divides_bounds": positive_factor_divides_bounds,
    "negative_factor_exchanges_bounds": negative_factor_exchanges_bounds,
    "positive_divisor_scales_bounds": positive_divisor_scales_bounds,
    "minimum_from_below": minimum_from_below,
    "maximum_from_above": maximum_from_above,
    "residue_is_rescaled": residue_is_rescaled,
    "bounds_meet_range": bounds_meet_range,
    "satisfied_constraint_vanishes": satisfied_constraint_vanishes,
    "impossible_constraint_is_false": impossible_constraint_is_false,
    "multiple_and_rest_separate": multiple_and_rest_separate,
    "multiple_and_rest_contradict": multiple_and_rest_contradict,
    "same_expression_intersects": same_expression_intersects,
    "remainders_merge": remainders_merge,
    "remainders_contradict": remainders_contradict,
    "remainder_tightens_bounds": remainder_tightens_bounds,
    "sum_bounds_summand": sum_bounds_summand,
    "sum_bounds_dividend": sum_bounds_dividend,
}
