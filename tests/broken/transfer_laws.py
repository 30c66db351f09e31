"""Transfer laws with bounds that do not hold (not sound) or are never attained (not tight).

Each is a law of the catalogue with one or two parts exchanged.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from indexproof.core.expr import ceildiv, integer, maximum, minimum, var
from indexproof.rules.transfer import CONGRUENCE_LAWS, TRANSFER_LAWS

from .planted import Planted

a, b, c, d, g, k, m, n, r, s, x, y = (var(name) for name in "abcdgkmnrsxy")
LAWS = {law.name: law for law in (*TRANSFER_LAWS, *CONGRUENCE_LAWS)}


def _changed(name: str, twin: str, fails: str, **parts: Any) -> Planted:
    return Planted(name, wrong=replace(LAWS[twin], name=name, **parts), fails=fails, twin=LAWS[twin])


BROKEN = [
    # -- not sound
    _changed("sum_mixes_its_bounds", "interval_sum", "sound above", hi=a + d),
    _changed("multiple_of_any_sign", "interval_multiple", "sound below", when=()),
    _changed(
        "negative_multiple_keeps_order", "interval_negative_multiple", "sound below", lo=a * k, hi=b * k
    ),
    _changed(
        "product_of_two_corners",
        "interval_product",
        "sound below",
        lo=minimum(a * c, b * d),
        hi=maximum(a * c, b * d),
    ),
    _changed("quotient_of_positive_dividends", "interval_quotient_positive", "sound below", lo=a // d),
    _changed(
        "quotient_spanning_without_one",
        "interval_quotient_spanning",
        "sound above",
        hi=maximum(a // c, a // d, b // c, b // d),
    ),
    _changed(
        "ceiling_rounds_down",
        "interval_ceiling_positive",
        "sound above",
        hi=maximum(a // c, a // d, b // c, b // d),
    ),
    _changed("remainder_across_blocks", "interval_remainder_one_block", "sound below", when=(m > 0,)),
    _changed("remainder_misses_the_last", "interval_remainder_many_blocks", "sound above", hi=m - 2),
    _changed("maximum_of_upper_bounds", "interval_maximum", "sound above", hi=minimum(b, d)),
    _changed(
        "congruence_sum_forgets_a_modulus",
        "congruence_sum",
        "sound",
        given=(m.divides(x - r), n.divides(y - s), g.divides(m)),
    ),
    _changed(
        "congruence_remainder_of_any_divisor",
        "congruence_remainder",
        "sound",
        given=(m.divides(x - r), d.ne(0), g.divides(m)),
    ),
    _changed(
        "congruence_known_for_any_divisor",
        "congruence_remainder_known",
        "sound",
        given=(m.divides(x - r), d.ne(0)),
    ),
    _changed(
        "negated_dividend_of_any_size",
        "interval_remainder_above_negated_moduli",
        "sound above",
        when=(c > 0, b < 0),
    ),
    _changed("residues_with_the_modulus", "interval_remainder_all_residues", "sound above", hi=d - 2),
    _changed("negative_moduli_from_above", "interval_remainder_by_negative_moduli", "sound below", lo=d + 1),
    _changed(
        "spanning_moduli_not_negative", "interval_remainder_by_moduli_spanning", "sound below", lo=integer(0)
    ),
    _changed(
        "ceiling_spanning_without_one",
        "interval_ceiling_spanning",
        "sound above",
        hi=maximum(ceildiv(a, c), ceildiv(a, d), ceildiv(b, c), ceildiv(b, d)),
    ),
    # -- not tight
    _changed(
        "negated_dividend_by_the_largest",
        "interval_remainder_above_negated_moduli",
        "tight below",
        lo=integer(0),
    ),
    _changed("residues_of_few_dividends", "interval_remainder_all_residues", "tight above", when=(c > 0,)),
    _changed("remainder_as_large_as_the_modulus", "interval_remainder_many_blocks", "tight above", hi=m),
    _changed(
        "remainder_within_the_whole_block", "interval_remainder_one_block", "tight below", lo=integer(0)
    ),
    _changed("minimum_of_larger_bounds", "interval_minimum", "tight above", hi=maximum(b, d)),
    _changed("maximum_forgets_one", "interval_maximum", "tight below", lo=a),
    _changed("class_without_rounding", "interval_reduced_by_congruence", "tight above", hi=b),
]
