"""The production engine of the catalogue.

Written by `indexproof dev docs` from the declarations in this folder; do not edit.
"""

from __future__ import annotations

from ..core.engine import Engine
from ..core.kernel.form import MAXIMUM, MINIMUM, QUOTIENT, REMAINDER, Form, atom, exactly, lone, minus, times
from ..core.kernel.kernel import CEILING, KNOWN, SUM

__all__ = ["CatalogueEngine"]


class CatalogueEngine(Engine):
    """The engine with the rules of the catalogue."""

    def value_known(self, x: Form) -> Form | None:
        """``x  →  k   when x = k``"""
        k_known = self.constant(x)
        if not (k_known is not None):
            return None
        k = k_known
        if self.record is not None:
            self.record("value_known", (k, x,))
        return (k, ())

    def quotient_by_one(self, x: Form, _1: int) -> Form | None:
        """``x // 1  →  x``"""
        if not (_1 == 1):
            return None
        if self.record is not None:
            self.record("quotient_by_one", (x,))
        return x

    def quotient_known(self, x: Form, d: int, q: int) -> Form | None:
        """``x // d  →  q   when (0 < d and x - d·q ∈ [0, d - 1]) or (d < 0 and x - d·q ∈ [d + 1, 0])``"""
        if not ((((0 < d) and (self.within(self.shift(x, -(d * q)), 0, d - 1)))) or (((d < 0) and (self.within(self.shift(x, -(d * q)), d + 1, 0))))):
            return None
        if self.record is not None:
            self.record("quotient_known", (d, q, x,))
        return (q, ())

    def quotient_certified(self, x: Form, d: int, q: Form) -> Form | None:
        """``x // d  →  q   when x - q·d ∈ [0, d - 1]``"""
        if not self.within(minus(x, q, d), 0, d - 1):
            return None
        q = self.normal(q)
        if not self.descends(self.size_of_division(QUOTIENT, x, d), self.size(q)):
            return None
        if self.record is not None:
            self.record("quotient_certified", (d, q, x,))
        return q

    def multiple_leaves_quotient(self, _1: Form, d: int, x: Form) -> Form | None:
        """``(x·d + r…) // d  →  r… // d + x``"""
        r = minus(_1, x, d)
        if self.record is not None:
            self.record("multiple_leaves_quotient", (d, r, x,))
        return self.add(self.floordiv(r, d), x)

    def small_remainder_vanishes(self, _1: Form, d: int, g: int, x: Form) -> Form | None:
        """``(x·g + r…) // d  →  x // (d // g)   when 0 < d,  g ∣ d,  r… ∈ [0, g - 1]   guard 1 < g``"""
        if not (0 < d):
            return None
        if not (g != 0 and d % g == 0):
            return None
        if not (1 < g):
            return None
        r = minus(_1, x, g)
        if not self.within(r, 0, g - 1):
            return None
        if self.record is not None:
            self.record("small_remainder_vanishes", (d, g, r, x,))
        return self.floordiv(x, d // g)

    def quotient_of_quotient(self, _1: Form, b: int) -> Form | None:
        """``x // a // b  →  x // (a·b)   when 0 < b``"""
        if not (0 < b):
            return None
        _2 = lone(_1)
        if not (_2 >= 0 and self.kind[_2] == QUOTIENT):
            return None
        x = self.arg[_2]
        a = self.divisor[_2]
        if self.record is not None:
            self.record("quotient_of_quotient", (a, b, x,))
        return self.floordiv(x, a * b)

    def quotient_absorbs_summand(self, _1: Form, b: int) -> Form | None:
        """``(x // a + r…) // b  →  (a·r… + x) // (a·b)   when 0 < b``"""
        if not (0 < b):
            return None
        for _2, _3 in self.atoms(_1, QUOTIENT):
            x = self.arg[_2]
            a = self.divisor[_2]
            if not (_3 == 1):
                continue
            r = minus(_1, atom(_2), 1)
            if self.record is not None:
                self.record("quotient_absorbs_summand", (a, b, r, x,))
            return self.floordiv(self.add(x, times(r, a)), a * b)
        return None

    def quotient_absorbs_negated(self, _1: Form, b: int) -> Form | None:
        """``((x // a)·v + r…) // b  →  (a·r… + a - x - 1) // (a·b)   when 0 < a,  0 < b,  v = -1``"""
        if not (0 < b):
            return None
        for _2, v in self.atoms(_1, QUOTIENT):
            x = self.arg[_2]
            a = self.divisor[_2]
            if not (0 < a):
                continue
            if not (v == -1):
                continue
            r = minus(_1, atom(_2), v)
            if self.record is not None:
                self.record("quotient_absorbs_negated", (a, b, r, v, x,))
            return self.floordiv(self.add(self.shift(times(x, -1), a - 1), times(r, a)), a * b)
        return None

    def quotient_absorbs_digit(self, _1: Form, b: int) -> Form | None:
        """``((x // m)·v + x // a mod n + r…) // b  →  ((x // m)·a·v + a·r… + x mod (a·n)) // (a·b)   when 0 < n,  0 < b   guard m = a·n,  n ∣ v``"""
        if not (0 < b):
            return None
        for _2, _3 in self.atoms(_1, REMAINDER):
            _4 = self.arg[_2]
            n = self.divisor[_2]
            if not (0 < n):
                continue
            if not (_3 == 1):
                continue
            _5 = lone(_4)
            if not (_5 >= 0 and self.kind[_5] == QUOTIENT):
                continue
            x = self.arg[_5]
            a = self.divisor[_5]
            for _6, v in self.atoms(_1, QUOTIENT):
                _7 = self.arg[_6]
                m = self.divisor[_6]
                if not (m == a * n):
                    continue
                if not (n != 0 and v % n == 0):
                    continue
                if not (_7 == x):
                    continue
                r = minus(minus(_1, atom(_2), 1), atom(_6), v)
                if self.record is not None:
                    self.record("quotient_absorbs_digit", (a, b, m, n, r, v, x,))
                return self.floordiv(self.add(self.add(times(self.floordiv(x, m), a * v), self.mod(x, a * n)), times(r, a)), a * b)
        return None

    def quotient_of_remainder(self, _1: Form, d: int) -> Form | None:
        """``(x mod m) // d  →  x // d mod (m // d)   when 0 < d,  0 < m,  d ∣ m``"""
        if not (0 < d):
            return None
        _2 = lone(_1)
        if not (_2 >= 0 and self.kind[_2] == REMAINDER):
            return None
        x = self.arg[_2]
        m = self.divisor[_2]
        if not (0 < m):
            return None
        if not (d != 0 and m % d == 0):
            return None
        if self.record is not None:
            self.record("quotient_of_remainder", (d, m, x,))
        return self.mod(self.floordiv(x, d), m // d)

    def quotient_of_digit(self, _1: Form, b: int) -> Form | None:
        """``(x // a mod n) // b  →  (x mod (a·n)) // (a·b)   when 0 < n,  0 < b``"""
        if not (0 < b):
            return None
        _2 = lone(_1)
        if not (_2 >= 0 and self.kind[_2] == REMAINDER):
            return None
        _3 = self.arg[_2]
        n = self.divisor[_2]
        if not (0 < n):
            return None
        _4 = lone(_3)
        if not (_4 >= 0 and self.kind[_4] == QUOTIENT):
            return None
        x = self.arg[_4]
        a = self.divisor[_4]
        if self.record is not None:
            self.record("quotient_of_digit", (a, b, n, x,))
        return self.floordiv(self.mod(x, a * n), a * b)

    def complement_leaves_quotient(self, _1: Form, d: int) -> Form | None:
        """``(d - x - 1) // d  →  -(x // d)   when 0 < d``"""
        if not (0 < d):
            return None
        x = self.shift(times(_1, -1), d - 1)
        if self.record is not None:
            self.record("complement_leaves_quotient", (d, x,))
        return times(self.floordiv(x, d), -1)

    def negative_divisor_moves_up(self, x: Form, d: int) -> Form | None:
        """``x // d  →  (-x) // (-d)   guard d < 0``"""
        if not (d < 0):
            return None
        if self.record is not None:
            self.record("negative_divisor_moves_up", (d, x,))
        return self.floordiv(times(x, -1), -d)

    def ceiling_of_positive(self, x: Form, d: int) -> Form | None:
        """``ceildiv(x, d)  →  (x + d - 1) // d   when 0 < d``"""
        if not (0 < d):
            return None
        if self.record is not None:
            self.record("ceiling_of_positive", (d, x,))
        return self.floordiv(self.shift(x, d - 1), d)

    def ceiling_of_negative(self, x: Form, d: int) -> Form | None:
        """``ceildiv(x, d)  →  -(x // (-d))   guard d < 0``"""
        if not (d < 0):
            return None
        if self.record is not None:
            self.record("ceiling_of_negative", (d, x,))
        return times(self.floordiv(x, -d), -1)

    def remainder_by_one(self, x: Form, d: int) -> Form | None:
        """``x mod d  →  0   when d = 1 or d = -1``"""
        if not ((d == 1) or (d == -1)):
            return None
        if self.record is not None:
            self.record("remainder_by_one", (d, x,))
        return (0, ())

    def remainder_known(self, x: Form, d: int, q: int) -> Form | None:
        """``x mod d  →  x - d·q   when (0 < d and x - d·q ∈ [0, d - 1]) or (d < 0 and x - d·q ∈ [d + 1, 0])``"""
        if not ((((0 < d) and (self.within(self.shift(x, -(d * q)), 0, d - 1)))) or (((d < 0) and (self.within(self.shift(x, -(d * q)), d + 1, 0))))):
            return None
        if self.record is not None:
            self.record("remainder_known", (d, q, x,))
        return self.shift(x, -(d * q))

    def remainder_certified(self, x: Form, d: int, q: Form) -> Form | None:
        """``x mod d  →  x - q·d   when x - q·d ∈ [0, d - 1]``"""
        if not self.within(minus(x, q, d), 0, d - 1):
            return None
        q = self.normal(q)
        if not self.descends(self.size_of_division(REMAINDER, x, d), self.added([self.size(x), self.size(q)])):
            return None
        if self.record is not None:
            self.record("remainder_certified", (d, q, x,))
        return self.add(times(q, -d), x)

    def multiple_leaves_remainder(self, _1: Form, d: int, x: Form) -> Form | None:
        """``(x·d + r…) mod d  →  r… mod d``"""
        r = minus(_1, x, d)
        if self.record is not None:
            self.record("multiple_leaves_remainder", (d, r, x,))
        return self.mod(r, d)

    def common_factor_leaves_remainder(self, _1: Form, d: int, g: int, x: Form) -> Form | None:
        """``(x·g + r…) mod d  →  (x mod (d // g))·g + r…   when 0 < d,  g ∣ d,  r… ∈ [0, g - 1]   guard 1 < g``"""
        if not (0 < d):
            return None
        if not (g != 0 and d % g == 0):
            return None
        if not (1 < g):
            return None
        r = minus(_1, x, g)
        if not self.within(r, 0, g - 1):
            return None
        if self.record is not None:
            self.record("common_factor_leaves_remainder", (d, g, r, x,))
        return self.add(times(self.mod(x, d // g), g), r)

    def known_residue_is_constant(self, _1: Form, d: int, x: Form) -> Form | None:
        """``(x + r…) mod d  →  (m + r…) mod d   when x mod d = m``"""
        r = minus(_1, x, 1)
        m_known = self.constant(self.mod(x, d))
        if not (m_known is not None):
            return None
        m = m_known
        if self.record is not None:
            self.record("known_residue_is_constant", (d, m, r, x,))
        return self.mod(self.shift(r, m), d)

    def inner_remainder_vanishes(self, _1: Form, d: int) -> Form | None:
        """``((x mod m)·c + r…) mod d  →  (x·c + r…) mod d   when d ∣ c·m``"""
        for _2, c in self.atoms(_1, REMAINDER):
            x = self.arg[_2]
            m = self.divisor[_2]
            if not (d != 0 and (c * m) % d == 0):
                continue
            r = minus(_1, atom(_2), c)
            if self.record is not None:
                self.record("inner_remainder_vanishes", (c, d, m, r, x,))
            return self.mod(self.add(times(x, c), r), d)
        return None

    def complement_leaves_remainder(self, _1: Form, d: int) -> Form | None:
        """``(d - x - 1) mod d  →  d - x mod d - 1   when 0 < d``"""
        if not (0 < d):
            return None
        x = self.shift(times(_1, -1), d - 1)
        if self.record is not None:
            self.record("complement_leaves_remainder", (d, x,))
        return self.shift(times(self.mod(x, d), -1), d - 1)

    def negative_modulus_moves_out(self, x: Form, d: int) -> Form | None:
        """``x mod d  →  -((-x) mod (-d))   guard d < 0``"""
        if not (d < 0):
            return None
        if self.record is not None:
            self.record("negative_modulus_moves_out", (d, x,))
        return times(self.mod(times(x, -1), -d), -1)

    def quotient_and_remainder_recombine(self, _1: Form, _2: int, q: Form, w: int, x: Form) -> Form | None:
        """``(y mod d)·w + q·p + r…  →  x·w + r…   when p = d·w,  q = x // d,  d ∣ x - y``"""
        if not (self.kind[_2] == REMAINDER):
            return None
        y = self.arg[_2]
        d = self.divisor[_2]
        if not self.equal(q, self.floordiv(x, d)):
            return None
        if not self.is_multiple(minus(x, y, 1), d):
            return None
        p = d * w
        r = minus(minus(_1, atom(_2), w), q, p)
        x = self.normal(x)
        if not self.descends(self.size(_1), self.added([self.size(x), self.size(r)])):
            return None
        if self.record is not None:
            self.record("quotient_and_remainder_recombine", (d, p, q, r, w, x, y,))
        return self.add(times(x, w), r)

    def digits_recombine(self, _1: Form, _2: int, n: int, w: int, z: Form) -> Form | None:
        """``(x mod d)·w + t·p + r…  →  ((z·d + x) mod (d·n))·w + r…   when 0 < n,  p = d·w,  q = x // d,  t = (q + z) mod n``"""
        if not (0 < n):
            return None
        if not (self.kind[_2] == REMAINDER):
            return None
        x = self.arg[_2]
        d = self.divisor[_2]
        p = d * w
        q = self.floordiv(x, d)
        t = self.mod(self.add(q, z), n)
        r = minus(minus(_1, atom(_2), w), t, p)
        z = self.normal(z)
        if not self.descends(self.size(_1), self.added([self.size_of_division(REMAINDER, minus(x, z, -d), d * n), self.size(r)])):
            return None
        if self.record is not None:
            self.record("digits_recombine", (d, n, p, q, r, t, w, x, z,))
        return self.add(times(self.mod(self.add(x, times(z, d)), d * n), w), r)

    def remainder_subtracts_to_quotient(self, _1: Form) -> Form | None:
        """``(x mod d)·v + x·w + r…  →  (x // d)·d·w + r…   when v = -w``"""
        for _2, v in self.atoms(_1, REMAINDER):
            x = self.arg[_2]
            d = self.divisor[_2]
            w = (-v) // 1
            if not (v == -w):
                continue
            if not self.contains(_1, x, w, _2):
                continue
            r = minus(minus(_1, atom(_2), v), x, w)
            if self.record is not None:
                self.record("remainder_subtracts_to_quotient", (d, r, v, w, x,))
            return self.add(times(self.floordiv(x, d), d * w), r)
        return None

    def quotient_subtracts_to_remainder(self, _1: Form) -> Form | None:
        """``(x // d)·v + x·w + r…  →  (x mod d)·w + r…   when v = -(d·w)``"""
        for _2, v in self.atoms(_1, QUOTIENT):
            x = self.arg[_2]
            d = self.divisor[_2]
            if not (d != 0):
                continue
            w = (-v) // d
            if not (v == -(d * w)):
                continue
            if not self.contains(_1, x, w, _2):
                continue
            r = minus(minus(_1, atom(_2), v), x, w)
            if self.record is not None:
                self.record("quotient_subtracts_to_remainder", (d, r, v, w, x,))
            return self.add(times(self.mod(x, d), w), r)
        return None

    def exact_quotient_multiplies(self, _1: Form, _2: int, w: int) -> Form | None:
        """``(x // d)·v + r…  →  (x - m)·w + r…   when v = d·w,  x mod d = m``"""
        if not (self.kind[_2] == QUOTIENT):
            return None
        x = self.arg[_2]
        d = self.divisor[_2]
        v = d * w
        r = minus(_1, atom(_2), v)
        m_known = self.constant(self.mod(x, d))
        if not (m_known is not None):
            return None
        m = m_known
        if self.record is not None:
            self.record("exact_quotient_multiplies", (d, m, r, v, w, x,))
        return self.add(times(self.shift(x, -m), w), r)

    def min_keeps_smaller(self, _1: Form, _2: Form) -> Form | None:
        """``min(x, y)  →  x   when x ≤ y``"""
        for _1, _2 in ((_1, _2), (_2, _1)):
            y = _1
            x = _2
            if not self.at_most(x, y):
                continue
            if self.record is not None:
                self.record("min_keeps_smaller", (x, y,))
            return x
        return None

    def max_keeps_larger(self, _1: Form, _2: Form) -> Form | None:
        """``max(x, y)  →  x   when y ≤ x``"""
        for _1, _2 in ((_1, _2), (_2, _1)):
            y = _1
            x = _2
            if not self.at_most(y, x):
                continue
            if self.record is not None:
                self.record("max_keeps_larger", (x, y,))
            return x
        return None

    def min_shifts(self, _1: Form, _2: Form, k: int) -> Form | None:
        """``min(x, y)  →  min(x - k, y - k) + k``"""
        y = _1
        x = _2
        if not self.descends(self.size_of_extremum((_1, _2)), self.size_of_extremum((self.shift(x, -k), self.shift(y, -k)))):
            return None
        if self.record is not None:
            self.record("min_shifts", (k, x, y,))
        return self.shift(self.extremum(MINIMUM, [self.shift(x, -k), self.shift(y, -k)]), k)

    def max_shifts(self, _1: Form, _2: Form, k: int) -> Form | None:
        """``max(x, y)  →  max(x - k, y - k) + k``"""
        y = _1
        x = _2
        if not self.descends(self.size_of_extremum((_1, _2)), self.size_of_extremum((self.shift(x, -k), self.shift(y, -k)))):
            return None
        if self.record is not None:
            self.record("max_shifts", (k, x, y,))
        return self.shift(self.extremum(MAXIMUM, [self.shift(x, -k), self.shift(y, -k)]), k)

    def min_distributes(self, _1: Form, _2: Form, g: int, x: Form) -> Form | None:
        """``min(x·g, y·g)  →  min(x, y)·g   when 0 < g   guard 1 < g``"""
        if not (0 < g):
            return None
        if not (1 < g):
            return None
        if not (_1 == times(x, g)):
            return None
        y_exact = exactly(_2, g)
        if not (y_exact is not None):
            return None
        y = y_exact
        if not self.descends(self.size_of_extremum((_1, _2)), self.size_of_extremum((y, x))):
            return None
        if self.record is not None:
            self.record("min_distributes", (g, x, y,))
        return times(self.extremum(MINIMUM, [y, x]), g)

    def max_distributes(self, _1: Form, _2: Form, g: int, x: Form) -> Form | None:
        """``max(x·g, y·g)  →  max(x, y)·g   when 0 < g   guard 1 < g``"""
        if not (0 < g):
            return None
        if not (1 < g):
            return None
        if not (_1 == times(x, g)):
            return None
        y_exact = exactly(_2, g)
        if not (y_exact is not None):
            return None
        y = y_exact
        if not self.descends(self.size_of_extremum((_1, _2)), self.size_of_extremum((y, x))):
            return None
        if self.record is not None:
            self.record("max_distributes", (g, x, y,))
        return times(self.extremum(MAXIMUM, [y, x]), g)

    def min_turns(self, _1: Form, _2: Form, g: int, x: Form) -> Form | None:
        """``min(x·g, y·g)  →  max(x, y)·g   when g < 0``"""
        if not (g < 0):
            return None
        if not (_1 == times(x, g)):
            return None
        y_exact = exactly(_2, g)
        if not (y_exact is not None):
            return None
        y = y_exact
        if not self.descends(self.size_of_extremum((_1, _2)), self.size_of_extremum((y, x))):
            return None
        if self.record is not None:
            self.record("min_turns", (g, x, y,))
        return times(self.extremum(MAXIMUM, [y, x]), g)

    def max_turns(self, _1: Form, _2: Form, g: int, x: Form) -> Form | None:
        """``max(x·g, y·g)  →  min(x, y)·g   when g < 0``"""
        if not (g < 0):
            return None
        if not (_1 == times(x, g)):
            return None
        y_exact = exactly(_2, g)
        if not (y_exact is not None):
            return None
        y = y_exact
        if not self.descends(self.size_of_extremum((_1, _2)), self.size_of_extremum((y, x))):
            return None
        if self.record is not None:
            self.record("max_turns", (g, x, y,))
        return times(self.extremum(MINIMUM, [y, x]), g)

    def min_and_max_sum(self, _1: Form) -> Form | None:
        """``max(x, y)·v + min(x, y)·w + r…  →  x·w + y·w + r…   when v = w``"""
        for _2, v in self.atoms(_1, MAXIMUM):
            for y, x in self.splits(_2):
                for _3, w in self.atoms(_1, MINIMUM):
                    if not self.made_of(_3, y, x):
                        continue
                    if not (v == w):
                        continue
                    r = minus(minus(_1, atom(_2), v), atom(_3), w)
                    if self.record is not None:
                        self.record("min_and_max_sum", (r, v, w, x, y,))
                    return self.add(self.add(times(x, w), times(y, w)), r)
        return None

    def minimum_of_congruent_leaves_remainder(self, _1: Form, d: int) -> Form | None:
        """``(min(x, y)·k + r…) mod d  →  (y·k + r…) mod d   when d ∣ x·k - y·k``"""
        for _2, k in self.atoms(_1, MINIMUM):
            for y, x in self.splits(_2):
                if not self.is_multiple(minus(times(x, k), y, k), d):
                    continue
                r = minus(_1, atom(_2), k)
                if self.record is not None:
                    self.record("minimum_of_congruent_leaves_remainder", (d, k, r, x, y,))
                return self.mod(self.add(times(y, k), r), d)
        return None

    def maximum_of_congruent_leaves_remainder(self, _1: Form, d: int) -> Form | None:
        """``(max(x, y)·k + r…) mod d  →  (y·k + r…) mod d   when d ∣ x·k - y·k``"""
        for _2, k in self.atoms(_1, MAXIMUM):
            for y, x in self.splits(_2):
                if not self.is_multiple(minus(times(x, k), y, k), d):
                    continue
                r = minus(_1, atom(_2), k)
                if self.record is not None:
                    self.record("maximum_of_congruent_leaves_remainder", (d, k, r, x, y,))
                return self.mod(self.add(times(y, k), r), d)
        return None

    def remainder_is_difference(self, x: Form, d: int, q: Form) -> Form | None:
        """``x mod d  →  x - q·d   when q = x // d``"""
        if not self.equal(self.normal(q), self.floordiv(self.normal(x), d)):
            return None
        if self.record is not None:
            self.record("remainder_is_difference", (d, q, x,))
        return minus(x, q, d)

    def multiple_is_difference(self, _1: Form, _2: int, t: Form) -> Form | None:
        """``(x // d)·v + r…  →  x·w - t·w + r…   when v = d·w,  t = x mod d``"""
        if not (self.kind[_2] == QUOTIENT):
            return None
        x = self.arg[_2]
        d = self.divisor[_2]
        if not self.equal(self.normal(t), self.mod(self.normal(x), d)):
            return None
        v = self.coefficient(_1, _2)
        r = minus(_1, atom(_2), v)
        if not (-d != 0):
            return None
        w = (-v) // (-d)
        if not (v == d * w):
            return None
        if self.record is not None:
            self.record("multiple_is_difference", (d, r, t, v, w, x,))
        return minus(minus(r, t, w), x, -w)

    def known_digit_joins_quotient(self, _1: Form, _2: int, a: int, q: Form) -> Form | None:
        """``(x // e)·v + r…  →  q·w - m·w + r…   when 0 < n,  e = a·n,  v = n·w,  q = x // a,  q mod n = m``"""
        if not (self.kind[_2] == QUOTIENT):
            return None
        x = self.arg[_2]
        e = self.divisor[_2]
        if not self.equal(self.normal(q), self.floordiv(self.normal(x), a)):
            return None
        if not (-a != 0):
            return None
        n = (-e) // (-a)
        if not (0 < n):
            return None
        if not (e == a * n):
            return None
        m_known = self.constant(self.mod(self.normal(q), n))
        if not (m_known is not None):
            return None
        m = m_known
        v = self.coefficient(_1, _2)
        r = minus(_1, atom(_2), v)
        if not (-n != 0):
            return None
        w = (-v) // (-n)
        if not (v == n * w):
            return None
        if self.record is not None:
            self.record("known_digit_joins_quotient", (a, e, m, n, q, r, v, w, x,))
        return minus(self.shift(r, -(m * w)), q, -w)

    def known_digit_joins_digit(self, _1: Form, _2: int, a: int, t: Form, x: Form) -> Form | None:
        """``(q mod n)·v + r…  →  t·w - m·w + r…   when 0 < n,  q = x // a,  v = a·w,  t = x mod (a·n),  x mod a = m``"""
        if not (self.kind[_2] == REMAINDER):
            return None
        q = self.arg[_2]
        n = self.divisor[_2]
        if not (0 < n):
            return None
        if not self.equal(self.normal(q), self.floordiv(self.normal(x), a)):
            return None
        if not self.equal(self.normal(t), self.mod(self.normal(x), a * n)):
            return None
        m_known = self.constant(self.mod(self.normal(x), a))
        if not (m_known is not None):
            return None
        m = m_known
        v = self.coefficient(_1, _2)
        r = minus(_1, atom(_2), v)
        if not (-a != 0):
            return None
        w = (-v) // (-a)
        if not (v == a * w):
            return None
        if self.record is not None:
            self.record("known_digit_joins_digit", (a, m, n, q, r, t, v, w, x,))
        return minus(self.shift(r, -(m * w)), t, -w)

    def exact_quotient_negates(self, x: Form, d: int) -> Form | None:
        """``x // d  →  -((m - x) // d)   when x mod d = m``"""
        m_known = self.constant(self.mod(self.normal(x), d))
        if not (m_known is not None):
            return None
        m = m_known
        if self.record is not None:
            self.record("exact_quotient_negates", (d, m, x,))
        return times(self.raw(QUOTIENT, self.shift(times(x, -1), m), d), -1)

    def quotient_turns(self, x: Form, d: int, t: Form) -> Form | None:
        """``x // d  →  -t   when 0 < d,  t = (d - x - 1) // d``"""
        if not (0 < d):
            return None
        if not self.equal(self.normal(t), self.floordiv(self.shift(times(self.normal(x), -1), d - 1), d)):
            return None
        if self.record is not None:
            self.record("quotient_turns", (d, t, x,))
        return times(t, -1)

    def remainder_turns(self, x: Form, d: int, t: Form) -> Form | None:
        """``x mod d  →  d - t - 1   when 0 < d,  t = (d - x - 1) mod d``"""
        if not (0 < d):
            return None
        if not self.equal(self.normal(t), self.mod(self.shift(times(self.normal(x), -1), d - 1), d)):
            return None
        if self.record is not None:
            self.record("remainder_turns", (d, t, x,))
        return self.shift(times(t, -1), d - 1)

    def quotient_is_sign(self, x: Form, d: int, e: int) -> Form | None:
        """``x // d  →  x // e   when 0 < d,  0 < e,  x ∈ [-d, d - 1],  x ∈ [-e, e - 1]``"""
        if not (0 < d):
            return None
        if not (0 < e):
            return None
        if not self.within(x, -d, d - 1):
            return None
        if not self.within(x, -e, e - 1):
            return None
        if self.record is not None:
            self.record("quotient_is_sign", (d, e, x,))
        return self.raw(QUOTIENT, x, e)

    def quotient_widens(self, y: Form, e: int, g: int, r: Form) -> Form | None:
        """``y // e  →  (y·g + r…) // (e·g)   when 0 < e,  0 < g,  r… ∈ [0, g - 1]``"""
        if not (0 < e):
            return None
        if not (0 < g):
            return None
        if not self.within(r, 0, g - 1):
            return None
        if self.record is not None:
            self.record("quotient_widens", (e, g, r, y,))
        return self.raw(QUOTIENT, minus(r, y, -g), e * g)

    def remainder_widens(self, _1: Form, _2: int, g: int, r: Form) -> Form | None:
        """``(y mod e)·k + h·r… + s…  →  ((y·g + r…) mod (e·g))·h + s…   when 0 < e,  0 < g,  k = g·h,  r… ∈ [0, g - 1]``"""
        if not (0 < g):
            return None
        if not self.within(r, 0, g - 1):
            return None
        if not (self.kind[_2] == REMAINDER):
            return None
        y = self.arg[_2]
        e = self.divisor[_2]
        if not (0 < e):
            return None
        k = self.coefficient(_1, _2)
        if not (-g != 0):
            return None
        h = (-k) // (-g)
        if not (k == g * h):
            return None
        s = minus(minus(_1, atom(_2), k), r, h)
        if self.record is not None:
            self.record("remainder_widens", (e, g, h, k, r, s, y,))
        return minus(s, self.raw(REMAINDER, minus(r, y, -g), e * g), -h)

    def summand_joins_quotient(self, x: Form, d: int, t: Form) -> Form | None:
        """``x // d  →  (t·d + x) // d - t``"""
        if self.record is not None:
            self.record("summand_joins_quotient", (d, t, x,))
        return minus(self.raw(QUOTIENT, minus(x, t, -d), d), t, 1)

    def remainder_takes_congruent(self, x: Form, d: int, y: Form) -> Form | None:
        """``x mod d  →  y mod d   when d ∣ x - y``"""
        if not self.is_multiple(minus(x, y, 1), d):
            return None
        if self.record is not None:
            self.record("remainder_takes_congruent", (d, x, y,))
        return self.raw(REMAINDER, y, d)

    def quotient_releases_summand(self, _1: Form, _2: int, a: int, q: Form, x: Form) -> Form | None:
        """``(a·r… + x) // (a·b)  →  (q + r…) // b   when 0 < b,  q = x // a``"""
        if not self.equal(self.normal(q), self.floordiv(self.normal(x), a)):
            return None
        r_exact = exactly(minus(_1, x, 1), a)
        if not (r_exact is not None):
            return None
        r = r_exact
        if not (-a != 0):
            return None
        b = (-_2) // (-a)
        if not (0 < b):
            return None
        if not (_2 == a * b):
            return None
        if self.record is not None:
            self.record("quotient_releases_summand", (a, b, q, r, x,))
        return self.raw(QUOTIENT, minus(q, r, -1), b)

    def inner_remainder_leaves_quotient(self, _1: Form, d: int, _2: int, j: int, o: Form, q: Form) -> Form | None:
        """``((x mod m)·k + r…) // d  →  o - q·j   when q = x // m,  o = (x·k - (k·m - d·j)·q + r…) // d``"""
        if not (self.kind[_2] == REMAINDER):
            return None
        x = self.arg[_2]
        m = self.divisor[_2]
        if not self.equal(self.normal(q), self.floordiv(self.normal(x), m)):
            return None
        k = self.coefficient(_1, _2)
        r = minus(_1, atom(_2), k)
        if not self.equal(self.normal(o), self.floordiv(self.add(self.add(times(self.normal(q), (d * j) - (k * m)), times(self.normal(x), k)), self.normal(r)), d)):
            return None
        if self.record is not None:
            self.record("inner_remainder_leaves_quotient", (d, j, k, m, o, q, r, x,))
        return minus(o, q, j)


CatalogueEngine.RULES = {
    QUOTIENT: {
        "": (CatalogueEngine.quotient_by_one, CatalogueEngine.quotient_of_quotient, CatalogueEngine.quotient_absorbs_summand, CatalogueEngine.quotient_absorbs_negated, CatalogueEngine.quotient_absorbs_digit, CatalogueEngine.quotient_of_remainder, CatalogueEngine.quotient_of_digit,),
        "anywhere": (CatalogueEngine.negative_divisor_moves_up,),
        "block_of_range": (CatalogueEngine.quotient_known,),
        "coefficient_quotients": (CatalogueEngine.quotient_certified,),
        "common_factor": (CatalogueEngine.small_remainder_vanishes,),
        "complement": (CatalogueEngine.complement_leaves_quotient,),
        "multiples": (CatalogueEngine.multiple_leaves_quotient,),
    },
    REMAINDER: {
        "": (CatalogueEngine.inner_remainder_vanishes, CatalogueEngine.minimum_of_congruent_leaves_remainder, CatalogueEngine.maximum_of_congruent_leaves_remainder,),
        "anywhere": (CatalogueEngine.remainder_by_one, CatalogueEngine.negative_modulus_moves_out,),
        "block_of_range": (CatalogueEngine.remainder_known,),
        "coefficient_quotients": (CatalogueEngine.remainder_certified,),
        "common_factor": (CatalogueEngine.common_factor_leaves_remainder,),
        "complement": (CatalogueEngine.complement_leaves_remainder,),
        "known_residue": (CatalogueEngine.known_residue_is_constant,),
        "multiples": (CatalogueEngine.multiple_leaves_remainder,),
    },
    MINIMUM: {
        "": (CatalogueEngine.min_keeps_smaller,),
        "common_constant": (CatalogueEngine.min_shifts,),
        "common_factor": (CatalogueEngine.min_distributes, CatalogueEngine.min_turns,),
    },
    MAXIMUM: {
        "": (CatalogueEngine.max_keeps_larger,),
        "common_constant": (CatalogueEngine.max_shifts,),
        "common_factor": (CatalogueEngine.max_distributes, CatalogueEngine.max_turns,),
    },
    SUM: {
        "": (CatalogueEngine.remainder_subtracts_to_quotient, CatalogueEngine.quotient_subtracts_to_remainder, CatalogueEngine.min_and_max_sum,),
        "known_remainder": (CatalogueEngine.exact_quotient_multiplies,),
        "next_digit": (CatalogueEngine.digits_recombine,),
        "quotient_below_remainder": (CatalogueEngine.quotient_and_remainder_recombine,),
    },
    KNOWN: {
        "single_value": (CatalogueEngine.value_known,),
    },
    CEILING: {
        "": (CatalogueEngine.ceiling_of_positive, CatalogueEngine.ceiling_of_negative,),
    },
}

CatalogueEngine.EQUALITIES = {
    QUOTIENT: {
        "divided_part": (CatalogueEngine.quotient_releases_summand,),
        "inner_remainder": (CatalogueEngine.inner_remainder_leaves_quotient,),
        "negated": (CatalogueEngine.exact_quotient_negates,),
        "other_divisor": (CatalogueEngine.quotient_is_sign,),
        "summand": (CatalogueEngine.summand_joins_quotient,),
        "turned": (CatalogueEngine.quotient_turns,),
        "wider": (CatalogueEngine.quotient_widens,),
    },
    REMAINDER: {
        "congruent": (CatalogueEngine.remainder_takes_congruent,),
        "needed_quotient": (CatalogueEngine.remainder_is_difference,),
        "turned": (CatalogueEngine.remainder_turns,),
    },
    SUM: {
        "digit_above_known": (CatalogueEngine.known_digit_joins_digit,),
        "known_digit": (CatalogueEngine.known_digit_joins_quotient,),
        "needed_remainder": (CatalogueEngine.multiple_is_difference,),
        "wider_digit": (CatalogueEngine.remainder_widens,),
    },
}
