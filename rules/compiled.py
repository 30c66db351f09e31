"""The production engine of the catalogue.

Written by `indexproof docs` from the declarations in this folder; do not edit.
"""

from __future__ import annotations

from ..core.actions import Form
from ..core.engine import Engine

__all__ = ["CatalogueEngine"]


class CatalogueEngine(Engine):
    """The engine with the actions of the catalogue."""

    def value_known(self, k: int, x: Form) -> Form:
        """``x  →  k   when x = k``"""
        if self.record is not None:
            self.record("value_known", (k, x,))
        return (k, ())

    def quotient_by_one(self, x: Form) -> Form:
        """``x // 1  →  x``"""
        if self.record is not None:
            self.record("quotient_by_one", (x,))
        return x

    def quotient_known(self, d: int, q: int, x: Form) -> Form:
        """``x // d  →  q   when (0 < d and x - d·q ∈ [0, d - 1]) or (d < 0 and x - d·q ∈ [d + 1, 0])``"""
        if self.record is not None:
            self.record("quotient_known", (d, q, x,))
        return (q, ())

    def quotient_certified(self, d: int, q: Form, x: Form) -> Form:
        """``x // d  →  q   when x - q·d ∈ [0, d - 1]``"""
        if self.record is not None:
            self.record("quotient_certified", (d, q, x,))
        return self.renewed(q)

    def multiple_leaves_quotient(self, d: int, r: Form, x: Form) -> Form:
        """``(x·d + r…) // d  →  r… // d + x``"""
        if self.record is not None:
            self.record("multiple_leaves_quotient", (d, r, x,))
        return self.add(self.floordiv(r, d), x)

    def small_remainder_vanishes(self, d: int, g: int, r: Form, x: Form) -> Form:
        """``(x·g + r…) // d  →  x // (d // g)   when 0 < d,  g ∣ d,  r… ∈ [0, g - 1]   guard 1 < g``"""
        if not (0 < d and g != 0 and d % g == 0 and 1 < g):
            self.refuse("small_remainder_vanishes", (d, g, r, x,))
        if self.record is not None:
            self.record("small_remainder_vanishes", (d, g, r, x,))
        return self.floordiv(x, (d // g))

    def quotient_of_quotient(self, a: int, b: int, x: Form) -> Form:
        """``x // a // b  →  x // (a·b)   when 0 < b``"""
        if not (0 < b):
            self.refuse("quotient_of_quotient", (a, b, x,))
        if self.record is not None:
            self.record("quotient_of_quotient", (a, b, x,))
        return self.floordiv(x, (b * a))

    def quotient_absorbs_summand(self, a: int, b: int, r: Form, x: Form) -> Form:
        """``(x // a + r…) // b  →  (a·r… + x) // (a·b)   when 0 < b``"""
        if not (0 < b):
            self.refuse("quotient_absorbs_summand", (a, b, r, x,))
        if self.record is not None:
            self.record("quotient_absorbs_summand", (a, b, r, x,))
        return self.floordiv(self.add(self.scale(r, a), x), (b * a))

    def quotient_absorbs_negated(self, a: int, b: int, r: Form, v: int, x: Form) -> Form:
        """``((x // a)·v + r…) // b  →  (a·r… + a - x - 1) // (a·b)   when 0 < a,  0 < b,  v = -1``"""
        if not (0 < a and 0 < b and v == (-1)):
            self.refuse("quotient_absorbs_negated", (a, b, r, v, x,))
        if self.record is not None:
            self.record("quotient_absorbs_negated", (a, b, r, v, x,))
        return self.floordiv(self.add(self.shift(self.scale(r, a), (a + -1)), self.scale(x, (-1))), (b * a))

    def quotient_absorbs_digit(self, a: int, b: int, m: int, n: int, r: Form, v: int, x: Form) -> Form:
        """``((x // m)·v + x // a mod n + r…) // b  →  ((x // m)·a·v + a·r… + x mod (a·n)) // (a·b)   when 0 < n,  0 < b   guard m = a·n,  n ∣ v``"""
        if not (0 < n and 0 < b and m == (n * a) and n != 0 and v % n == 0):
            self.refuse("quotient_absorbs_digit", (a, b, m, n, r, v, x,))
        if self.record is not None:
            self.record("quotient_absorbs_digit", (a, b, m, n, r, v, x,))
        return self.floordiv(self.add(self.add(self.scale(self.floordiv(x, m), (v * a)), self.scale(r, a)), self.mod(x, (n * a))), (b * a))

    def quotient_of_remainder(self, d: int, m: int, x: Form) -> Form:
        """``(x mod m) // d  →  x // d mod (m // d)   when 0 < d,  0 < m,  d ∣ m``"""
        if not (0 < d and 0 < m and d != 0 and m % d == 0):
            self.refuse("quotient_of_remainder", (d, m, x,))
        if self.record is not None:
            self.record("quotient_of_remainder", (d, m, x,))
        return self.mod(self.floordiv(x, d), (m // d))

    def quotient_of_digit(self, a: int, b: int, n: int, x: Form) -> Form:
        """``(x // a mod n) // b  →  (x mod (a·n)) // (a·b)   when 0 < n,  0 < b``"""
        if not (0 < n and 0 < b):
            self.refuse("quotient_of_digit", (a, b, n, x,))
        if self.record is not None:
            self.record("quotient_of_digit", (a, b, n, x,))
        return self.floordiv(self.mod(x, (n * a)), (b * a))

    def complement_leaves_quotient(self, d: int, x: Form) -> Form:
        """``(d - x - 1) // d  →  -(x // d)   when 0 < d``"""
        if not (0 < d):
            self.refuse("complement_leaves_quotient", (d, x,))
        if self.record is not None:
            self.record("complement_leaves_quotient", (d, x,))
        return self.scale(self.floordiv(x, d), (-1))

    def negative_divisor_moves_up(self, d: int, x: Form) -> Form:
        """``x // d  →  (-x) // (-d)   guard d < 0``"""
        if not (d < 0):
            self.refuse("negative_divisor_moves_up", (d, x,))
        if self.record is not None:
            self.record("negative_divisor_moves_up", (d, x,))
        return self.floordiv(self.scale(x, (-1)), (-1 * d + 0))

    def ceiling_of_positive(self, d: int, x: Form) -> Form:
        """``ceildiv(x, d)  →  (x + d - 1) // d   when 0 < d``"""
        if not (0 < d):
            self.refuse("ceiling_of_positive", (d, x,))
        if self.record is not None:
            self.record("ceiling_of_positive", (d, x,))
        return self.floordiv(self.shift(x, (d + -1)), d)

    def ceiling_of_negative(self, d: int, x: Form) -> Form:
        """``ceildiv(x, d)  →  -(x // (-d))   guard d < 0``"""
        if not (d < 0):
            self.refuse("ceiling_of_negative", (d, x,))
        if self.record is not None:
            self.record("ceiling_of_negative", (d, x,))
        return self.scale(self.floordiv(x, (-1 * d + 0)), (-1))

    def remainder_by_one(self, d: int, x: Form) -> Form:
        """``x mod d  →  0   when d = 1 or d = -1``"""
        if not (((d == 1) or (d == (-1)))):
            self.refuse("remainder_by_one", (d, x,))
        if self.record is not None:
            self.record("remainder_by_one", (d, x,))
        return (0, ())

    def remainder_known(self, d: int, q: int, x: Form) -> Form:
        """``x mod d  →  x - d·q   when (0 < d and x - d·q ∈ [0, d - 1]) or (d < 0 and x - d·q ∈ [d + 1, 0])``"""
        if self.record is not None:
            self.record("remainder_known", (d, q, x,))
        return self.shift(x, (-1 * (d * q) + 0))

    def remainder_certified(self, d: int, q: Form, x: Form) -> Form:
        """``x mod d  →  x - q·d   when x - q·d ∈ [0, d - 1]``"""
        if self.record is not None:
            self.record("remainder_certified", (d, q, x,))
        return self.add(self.scale(self.renewed(q), (-1 * d + 0)), x)

    def multiple_leaves_remainder(self, d: int, r: Form, x: Form) -> Form:
        """``(x·d + r…) mod d  →  r… mod d``"""
        if self.record is not None:
            self.record("multiple_leaves_remainder", (d, r, x,))
        return self.mod(r, d)

    def common_factor_leaves_remainder(self, d: int, g: int, r: Form, x: Form) -> Form:
        """``(x·g + r…) mod d  →  (x mod (d // g))·g + r…   when 0 < d,  g ∣ d,  r… ∈ [0, g - 1]   guard 1 < g``"""
        if not (0 < d and g != 0 and d % g == 0 and 1 < g):
            self.refuse("common_factor_leaves_remainder", (d, g, r, x,))
        if self.record is not None:
            self.record("common_factor_leaves_remainder", (d, g, r, x,))
        return self.add(self.scale(self.mod(x, (d // g)), g), r)

    def inner_remainder_vanishes(self, c: int, d: int, m: int, r: Form, x: Form) -> Form:
        """``((x mod m)·c + r…) mod d  →  (x·c + r…) mod d   when d ∣ c·m``"""
        if not (d != 0 and (m * c) % d == 0):
            self.refuse("inner_remainder_vanishes", (c, d, m, r, x,))
        if self.record is not None:
            self.record("inner_remainder_vanishes", (c, d, m, r, x,))
        return self.mod(self.add(self.scale(x, c), r), d)

    def complement_leaves_remainder(self, d: int, x: Form) -> Form:
        """``(d - x - 1) mod d  →  d - x mod d - 1   when 0 < d``"""
        if not (0 < d):
            self.refuse("complement_leaves_remainder", (d, x,))
        if self.record is not None:
            self.record("complement_leaves_remainder", (d, x,))
        return self.shift(self.scale(self.mod(x, d), (-1)), (d + -1))

    def negative_modulus_moves_out(self, d: int, x: Form) -> Form:
        """``x mod d  →  -((-x) mod (-d))   guard d < 0``"""
        if not (d < 0):
            self.refuse("negative_modulus_moves_out", (d, x,))
        if self.record is not None:
            self.record("negative_modulus_moves_out", (d, x,))
        return self.scale(self.mod(self.scale(x, (-1)), (-1 * d + 0)), (-1))

    def quotient_and_remainder_recombine(self, d: int, p: int, q: Form, r: Form, w: int, x: Form) -> Form:
        """``(x mod d)·w + q·p + r…  →  x·w + r…   when p = d·w,  q = x // d``"""
        if not (p == (w * d)):
            self.refuse("quotient_and_remainder_recombine", (d, p, q, r, w, x,))
        if self.record is not None:
            self.record("quotient_and_remainder_recombine", (d, p, q, r, w, x,))
        return self.add(self.scale(x, w), r)

    def quotient_and_congruent_remainder_recombine(self, d: int, p: int, r: Form, w: int, x: Form, y: Form) -> Form:
        """``(x // d)·p + (y mod d)·w + r…  →  x·w + r…   when p = d·w,  d ∣ x - y``"""
        if not (p == (w * d)):
            self.refuse("quotient_and_congruent_remainder_recombine", (d, p, r, w, x, y,))
        if self.record is not None:
            self.record("quotient_and_congruent_remainder_recombine", (d, p, r, w, x, y,))
        return self.add(self.scale(x, w), r)

    def digits_recombine(self, d: int, n: int, p: int, q: Form, r: Form, t: Form, w: int, x: Form, z: Form) -> Form:
        """``(x mod d)·w + t·p + r…  →  ((z·d + x) mod (d·n))·w + r…   when 0 < n,  p = d·w,  q = x // d,  t = (q + z) mod n``"""
        if not (0 < n and p == (w * d)):
            self.refuse("digits_recombine", (d, n, p, q, r, t, w, x, z,))
        if self.record is not None:
            self.record("digits_recombine", (d, n, p, q, r, t, w, x, z,))
        return self.add(self.scale(self.mod(self.add(x, self.scale(self.renewed(z), d)), (n * d)), w), r)

    def remainder_subtracts_to_quotient(self, d: int, r: Form, v: int, w: int, x: Form) -> Form:
        """``(x mod d)·v + x·w + r…  →  (x // d)·d·w + r…   when v = -w``"""
        if not (v == (-1 * w + 0)):
            self.refuse("remainder_subtracts_to_quotient", (d, r, v, w, x,))
        if self.record is not None:
            self.record("remainder_subtracts_to_quotient", (d, r, v, w, x,))
        return self.add(self.scale(self.floordiv(x, d), (w * d)), r)

    def quotient_subtracts_to_remainder(self, d: int, r: Form, v: int, w: int, x: Form) -> Form:
        """``(x // d)·v + x·w + r…  →  (x mod d)·w + r…   when v = -(d·w)``"""
        if not (v == (-1 * (w * d) + 0)):
            self.refuse("quotient_subtracts_to_remainder", (d, r, v, w, x,))
        if self.record is not None:
            self.record("quotient_subtracts_to_remainder", (d, r, v, w, x,))
        return self.add(self.scale(self.mod(x, d), w), r)

    def exact_quotient_multiplies(self, d: int, m: int, r: Form, v: int, w: int, x: Form) -> Form:
        """``(x // d)·v + r…  →  (x - m)·w + r…   when v = d·w,  x mod d = m``"""
        if not (v == (w * d)):
            self.refuse("exact_quotient_multiplies", (d, m, r, v, w, x,))
        if self.record is not None:
            self.record("exact_quotient_multiplies", (d, m, r, v, w, x,))
        return self.add(self.scale(self.shift(x, (-1 * m + 0)), w), r)

    def min_keeps_smaller(self, x: Form, y: Form) -> Form:
        """``min(x, y)  →  x   when x ≤ y``"""
        if self.record is not None:
            self.record("min_keeps_smaller", (x, y,))
        return x

    def max_keeps_larger(self, x: Form, y: Form) -> Form:
        """``max(x, y)  →  x   when y ≤ x``"""
        if self.record is not None:
            self.record("max_keeps_larger", (x, y,))
        return x

    def min_absorbs_max(self, x: Form, y: Form) -> Form:
        """``min(max(x, y), x)  →  x``"""
        if self.record is not None:
            self.record("min_absorbs_max", (x, y,))
        return x

    def max_absorbs_min(self, x: Form, y: Form) -> Form:
        """``max(min(x, y), x)  →  x``"""
        if self.record is not None:
            self.record("max_absorbs_min", (x, y,))
        return x

    def min_shifts(self, k: int, x: Form, y: Form) -> Form:
        """``min(x, y)  →  min(x - k, y - k) + k``"""
        if self.record is not None:
            self.record("min_shifts", (k, x, y,))
        return self.shift(self.extremum(True, [self.shift(x, (-1 * k + 0)), self.shift(y, (-1 * k + 0))]), k)

    def max_shifts(self, k: int, x: Form, y: Form) -> Form:
        """``max(x, y)  →  max(x - k, y - k) + k``"""
        if self.record is not None:
            self.record("max_shifts", (k, x, y,))
        return self.shift(self.extremum(False, [self.shift(x, (-1 * k + 0)), self.shift(y, (-1 * k + 0))]), k)

    def min_and_max_sum(self, r: Form, v: int, w: int, x: Form, y: Form) -> Form:
        """``max(x, y)·v + min(x, y)·w + r…  →  x·w + y·w + r…   when v = w``"""
        if not (v == w):
            self.refuse("min_and_max_sum", (r, v, w, x, y,))
        if self.record is not None:
            self.record("min_and_max_sum", (r, v, w, x, y,))
        return self.add(self.add(self.scale(x, w), self.scale(y, w)), r)
