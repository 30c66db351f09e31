"""Laws of map transforms that do not keep the relation."""

from __future__ import annotations

from dataclasses import replace

from indexproof.core.expr import ceildiv, maximum, minimum
from indexproof.rules.transforms import TRANSFORM_LAWS, d, e, hi, lo, m, r, s, t, u, v, x

from .planted import Planted

LAW = {law.name: law for law in TRANSFORM_LAWS}


def _planted(name: str, doc: str, fails: str, twin: str, **changes: object) -> Planted:
    wrong = replace(LAW[twin], name=name, doc=doc, **changes)
    return Planted(name, wrong=wrong, fails=fails, twin=LAW[twin])


BROKEN = [
    _planted("unused_range_leaves_an_empty_box",
        "Drops a range with an empty box, and with it that there is no point at all.", "back",
        "unused_variable_leaves", when=()),
    _planted("used_variable_leaves", "Drops a variable that other expressions mention.", "into",
        "unused_variable_leaves", unseen=()),
    _planted("same_element_clamped_differently",
        "Merges two runtime variables that read the same element within different bounds.", "into",
        "same_element_has_one_value", old=((u, lo, hi), (v, lo, hi + 1)), old_where=(u.eq(minimum(maximum(x, lo),
        hi)), v.eq(minimum(maximum(x, lo), hi + 1)))),
    _planted("range_rescales_from_below", "Rounds the lower end down, to a value before the old range.", "back",
        "range_rescales", new=((t, (lo - r) // m, (hi - r) // m),), compute=None),
    _planted("range_rescales_too_far", "Rounds the upper end up, to a value after the old range.", "back",
        "range_rescales", new=((t, ceildiv(lo - r, m), ceildiv(hi - r, m)),), compute=None),
    _planted("range_rescales_without_the_remainder", "Counts multiples where the remainder is r.", "into",
        "range_rescales", back=(m * t,), compute=None),
    _planted("any_range_rescales", "Takes the values between for multiples.", "into", "range_rescales",
        old_where=(), compute=None),
    _planted("range_starts_one_late", "Loses the last value.", "into", "range_starts_at_zero", new=((t, 0, hi - lo -
        1),)),
    _planted("range_turns_round_zero", "Turns a range round as if it began at zero.", "back", "range_turns_round",
        back=(hi - lo - t,), there=(hi - lo - s,)),
    _planted("equation_forgets_the_box", "Replaces a range without asking whether the expression lies in its box.",
        "back", "equation_gives_range", new_where=()),
    _planted("composition_keeps_the_lower_bound_only", "Forgets the upper bound of the inner map's dimension.",
        "back", "composition_carries_the_box", new_where=(e >= lo,)),
    _planted("dimension_gets_the_size_for_a_bound", "Makes the new dimension one too long.", "back",
        "range_becomes_dimension", new=((d, lo, hi + 1),)),
    _planted("domain_with_one_point_is_empty", "Takes equal bounds for an empty box.", "into", "empty_domain",
        when=(hi <= lo,)),
]  # fmt: skip
