"""The laws of tiles: the digits of the elements of a tile, for every size, position and radix.

A tile has t elements, from o on or from a multiple of t. An element x of a dimension of m elements has the digit
`x // s mod n` of stride s. The first laws state what a tile reads; those from `torn_by_broken_strides` on name elements
that show that a tile does not read a tile, and those from `whole_rows_join` on are about rows that tiles have parts of.
`verify/tile_sizes.py` and `verify/reshape_tiles.py` derive their conditions from them.
"""

from __future__ import annotations

from typing import ClassVar

from ..core.condition import Condition
from ..core.expr import Expr, integer, minimum, var
from .transfer import KnownLaw


class TileLaw(KnownLaw):
    """A law about the elements of a tile."""

    family: ClassVar[str] = "tile"


a, b, c, d, g, h, j, k, m, n, o, p, r, s, t, u, x = (var(name) for name in "abcdghjkmnoprstux")


def _same(p: Condition, q: Condition) -> Condition:
    return (~p | q) & (~q | p)


def _torn(x: Expr, y: Expr, z: Expr, o: Expr | int) -> Condition:
    """Return that the tile from o on has x and y but not z, where ``z // s = x // s`` and ``z % s = y % s``."""
    inside = x.within(o, o + t - 1) & y.within(o, o + t - 1) & ~z.within(o, o + t - 1)
    return inside & z.within(0, m - 1) & (z // s).eq(x // s) & (z % s).eq(y % s)


_first = p * t // s % n

TILE_LAWS: tuple[TileLaw, ...] = (
    TileLaw(
        "digit_of_tile",
        "A tile of whole strides that divides the next stride reads a range of one digit, one value of the digits above, "
        "and all values of the digits below.",
        (s.divides(t), t.divides(s * n), d.within(0, n - 1), r.within(0, s - 1)),
        _same(
            ((h * n + d) * s + r).within(p * t, p * t + t - 1),
            h.eq(p * t // (s * n)) & d.within(_first, _first + t // s - 1),
        ),
    ),
    TileLaw(
        "digit_with_all_below",
        "A range of a digit of coefficient g·m, with the m multiples of g below it, forms a range of multiples of g. This "
        "is the induction step that adds one digit after another to a sum.",
        (g > 0, m > 0, r.within(0, g * m - 1)),
        _same(
            d.within(a, b - 1) & g.divides(r),
            (d * (g * m) + r).within(a * g * m, g * (b * m - 1)) & g.divides(d * (g * m) + r),
        ),
    ),
    TileLaw(
        "one_value_above",
        "A number with one value has digits with one value. This is the induction step that removes the smallest.",
        (d.within(0, n - 1),),
        _same((h * n + d).eq(c), h.eq(c // n) & d.eq(c % n)),
    ),
    TileLaw(
        "below_next_coefficient",
        "A digit of n values times g, plus a sum below g, stays below a coefficient of g·n or more. This is the induction "
        "step for any number of digits.",
        (a >= g * n, d.within(0, n - 1), r.within(0, g - 1)),
        (d * g + r).within(0, a - 1),
    ),
    TileLaw(
        "period_in_tile",
        "A tile of at least a period contains every remainder.",
        (t >= n, d.within(0, n - 1)),
        (o + (d - o) % n).within(o, o + t - 1) & ((o + (d - o) % n) % n).eq(d),
    ),
    TileLaw(
        "period_cut_off",
        "A tile of at most a period that ends with one contains the last remainders.",
        (k.within(1, n), d.within(0, n - 1)),
        _same((h * n + d).within(c * n - k, c * n - 1), h.eq(c - 1) & (d >= n - k)),
    ),
    TileLaw(
        "beyond_largest_digit",
        "Values beyond the last value of the digit with the largest coefficient are out of bounds.",
        (u.within(0, a - 1), r >= 0, d >= n),
        d * a + r > (n - 1) * a + u,
    ),
    TileLaw(
        "torn_by_broken_strides",
        "A first tile of a stride or more, but not whole strides, has the digits of the next element without it.",
        (t.within(s, m), s > 0, s.divides(m), ~s.divides(t)),
        _torn(t - t % s, t % s, t, 0),
    ),
    TileLaw(
        "across_end_of_period",
        "If tiles do not divide a period, some tile contains the period's last element and the next one.",
        (t.within(1, s - 1), ~t.divides(s)),
        (s // t * t).within(1, s - 1) & (s // t * t + t > s),
    ),
    TileLaw(
        "shifted_across_end_of_period",
        "Some tile contains both if tiles may start anywhere.",
        (t.within(2, m - 1), s.within(2, m - 1)),
        minimum(s - 1, m - t).within(1, s - 1) & (minimum(s - 1, m - t) + t > s),
    ),
    TileLaw(
        "torn_by_end_of_period",
        "Such a tile has the digits of the first element but not the element.",
        (o.within(1, s - 1), o + t > s, s < m),
        _torn(s - 1, s, integer(0), o),
    ),
    TileLaw(
        "remainder_left_out",
        "Such a tile that is shorter than the period contains the first and the last remainder, but misses one in between.",
        (o.within(1, n - 1), o + t > n, t < n, x.within(o, o + t - 1)),
        (n - 1).within(o, o + t - 1) & n.within(o, o + t - 1) & (o - 1).within(1, n - 2) & (x % n).ne(o - 1),
    ),
    TileLaw(
        "gap_between_digits",
        "If m values of step g end below the next coefficient a, the next multiple of g is not read.",
        (g > 0, a > g * m, j.within(0, m - 1), u.eq(0) | (u >= a)),
        (u + g * j).ne(g * m),
    ),
    TileLaw(
        "smaller_digit_not_cut_off",
        "A digit of coefficient g below one of coefficient a stays in bounds on both sides of its last values.",
        (a >= g * n, d.within(1, n - 1), r.within(0, g - 1)),
        ((d - 1) * g + r).within(0, a + r) & (n * g + r).within(0, a + r),
    ),
    TileLaw(
        "whole_rows_join",
        "Whole rows of b elements are one tile of t·b elements. This is the induction step that joins dimensions which a "
        "tile holds as a whole.",
        (x.within(0, b - 1),),
        _same((d * b + x).within(p * t * b, p * t * b + t * b - 1), d.within(p * t, p * t + t - 1)),
    ),
    TileLaw(
        "parts_of_rows_continue",
        "If tiles divide rows of b elements, those of each row begin at multiples of their size.",
        (t.divides(b),),
        t.divides(d * b + p * t),
    ),
    TileLaw(
        "torn_by_rows_off_strides",
        "Rows of b elements that are not whole strides: the first tile, with t elements of some rows, has the digits of "
        "the start of the second row, but either an element of the first row with its low digit or the one before it not.",
        (t.within(1, b - 1), s.within(1, b - 1), ~s.divides(b)),
        ((b % s).within(t, b - 1) & (b % s // s).eq(0) & (b % s % s).eq(b % s))
        | ((b % s - 1).within(0, t - 1) & ((b - 1) // s).eq(b // s) & ((b - 1) % s).eq(b % s - 1)),
    ),
    TileLaw(
        "torn_by_row_before",
        "A tile with the element s, and with the one above it in the row before, has the digits of the first element.",
        (b.within(1, s - 1),),
        ((s - b) // s).eq(0) & (s % s).eq(0) & (s - b).within(1, s - 1) & ((s - b) // b).eq(s // b - 1),
    ),
    TileLaw(
        "torn_within_first_rows",
        "If this is the first tile, it has the digits of the element right of it in the row of s.",
        (b < s, t < b, (s % b).within(1, t - 1)),
        ((s + t - s % b) // b).eq(s // b)
        & ((s + t - s % b) % b).eq(t)
        & ((s + t - s % b) // s).eq(1)
        & ((s + t - s % b) % s).eq(t - s % b)
        & (t - s % b).within(1, t - 1),
    ),
    TileLaw(
        "torn_by_row_after",
        "A tile from the row of s on, with s - 1 and the element below it, has the digits of b - 1 in the first row.",
        (b.within(1, s - 1), ~b.divides(s)),
        ((s - 1) // b).eq(s // b)
        & (s // b >= 1)
        & ((s - 1 + b) // b).eq(s // b + 1)
        & ((b - 1) // s).eq((s - 1) // s)
        & ((b - 1) % s).eq((s - 1 + b) % s),
    ),
    TileLaw(
        "row_beside_a_boundary",
        "In the first half of the rows, a tile of at least two rows has another row beside each.",
        (t >= 2, a >= 2, 2 * x <= a),
        (x < a - 1) | ~t.divides(x),
    ),
    TileLaw(
        "torn_in_second_row",
        "If tiles of single rows divide s but not the rows, one of the second row crosses a multiple of s, and has the "
        "digits of the multiple before.",
        (t > 0, t.divides(s), s.within(1, b - 1), ~t.divides(b), x.eq(b // s * s + s - b)),
        x.within(1, b - 1) & (x % t >= 1) & (b + x - s < b + x - x % t),
    ),
    TileLaw(
        "torn_at_start_of_second_row",
        "If tiles of single rows are whole strides and the rows are not, the first of the second row has the digits of an "
        "element before it.",
        (s > 0, t > 0, s.divides(t), ~s.divides(b), x.eq(b // s * s)),
        (x + s).within(b + 1, b + t - 1) & (x < b) & (x // s).eq(b // s) & (x % s).eq((x + s) % s),
    ),
)
