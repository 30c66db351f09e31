"""Laws of tiles with a missing condition or a wrong part."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from indexproof.core.condition import Condition
from indexproof.core.expr import var
from indexproof.rules.tiles import TILE_LAWS

from .planted import Planted

a, b, d, g, k, m, n, o, r, s, t, u, x = (var(name) for name in "abdgkmnorstux")
LAWS = {law.name: law for law in TILE_LAWS}


def _changed(name: str, twin: str, **parts: Any) -> Planted:
    return Planted(name, wrong=replace(LAWS[twin], name=name, **parts), fails="sound", twin=LAWS[twin])


def _without(k: int, name: str, twin: str, *instead: Condition) -> Planted:
    """Return the law without its condition k."""
    given = LAWS[twin].given
    return _changed(name, twin, given=(*given[:k], *instead, *given[k + 1 :]))


BROKEN = [
    _without(0, "tile_of_broken_strides", "digit_of_tile"),
    _without(1, "tile_across_the_next_stride", "digit_of_tile"),
    _without(2, "digit_with_more_below", "digit_with_all_below", r.within(0, g * m)),
    _without(0, "several_values_above", "one_value_above", d.within(0, n)),
    _without(0, "below_an_overlapping_coefficient", "below_next_coefficient", a >= g * n - 1),
    _without(0, "tile_shorter_than_a_period", "period_in_tile", t >= n - 1),
    _without(0, "more_than_a_period_cut_off", "period_cut_off", k.within(1, n + 1)),
    _without(0, "below_as_large_as_the_coefficient", "beyond_largest_digit", u.within(0, a)),
    _without(3, "torn_by_whole_strides", "torn_by_broken_strides"),
    _without(1, "divisor_across_end_of_period", "across_end_of_period"),
    _without(0, "element_across_end_of_period", "shifted_across_end_of_period", t.within(1, m - 1)),
    _without(1, "torn_before_end_of_period", "torn_by_end_of_period", o + t >= s),
    _without(2, "remainder_left_out_of_a_period", "remainder_left_out", t <= n),
    _without(1, "no_gap_between_digits", "gap_between_digits", a >= g * m),
    _without(1, "first_digit_not_cut_off", "smaller_digit_not_cut_off", d.within(0, n - 1)),
    _without(0, "longer_rows_join", "whole_rows_join", x.within(0, b)),
    _without(0, "all_parts_of_rows_continue", "parts_of_rows_continue"),
    _without(2, "torn_by_rows_on_strides", "torn_by_rows_off_strides"),
    _without(0, "torn_in_the_first_row", "torn_by_row_before", b.within(1, s)),
    _without(2, "torn_left_of_a_boundary", "torn_within_first_rows"),
    _without(1, "torn_by_row_after_whole_rows", "torn_by_row_after"),
    _without(2, "row_beside_the_last_row", "row_beside_a_boundary", 2 * x <= a + 1),
    _without(3, "torn_in_row_of_whole_tiles", "torn_in_second_row"),
    _without(3, "torn_at_start_of_whole_strides", "torn_at_start_of_second_row"),
]
