"""Transfer laws whose bounds do not hold (not sound) or are never attained (not tight).

Each is a law of the catalogue with one or two parts replaced.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from indexproof.core.expr import ceildiv, integer, maximum, minimum, var
from indexproof.rules.transfer import KNOWN_LAWS, TRANSFER_LAWS

from .planted import Planted

a, b, c, d, g, k, m, n, p, q, r, x, y, z = (var(name) for name in "abcdgkmnpqrxyz")
_ENDS = ((x * k + z) >= a, (y * k + z) >= c)
LAWS = {law.name: law for law in (*TRANSFER_LAWS, *KNOWN_LAWS)}


def _changed(name: str, twin: str, fails: str, **parts: Any) -> Planted:
    return Planted(name, wrong=replace(LAWS[twin], name=name, **parts), fails=fails, twin=LAWS[twin])


BROKEN = [
    # -- not sound
    _changed("sum_mixes_its_bounds", "interval_sum", "sound above", hi=a + d),
    _changed("multiple_of_any_sign", "interval_multiple", "sound below", when=()),
    _changed("negative_multiple_keeps_order", "interval_negative_multiple", "sound below", lo=a * k, hi=b * k),
    _changed("product_of_two_corners", "interval_product", "sound below", lo=minimum(a * c, b * d), hi=maximum(a *
        c, b * d)),
    _changed("quotient_of_positive_dividends", "interval_quotient_positive", "sound below", lo=a // d),
    _changed("quotient_spanning_without_one", "interval_quotient_spanning", "sound above", hi=maximum(a // c, a //
        d, b // c, b // d)),
    _changed("ceiling_rounds_down", "interval_ceiling_positive", "sound above", hi=maximum(a // c, a // d, b // c, b
        // d)),
    _changed("remainder_across_blocks", "interval_remainder_one_block", "sound below", when=(m > 0,)),
    _changed("remainder_misses_the_last", "interval_remainder_many_blocks", "sound above", hi=m - 2),
    _changed("maximum_of_upper_bounds", "interval_maximum", "sound above", hi=minimum(b, d)),
    _changed("negated_dividend_of_any_size", "interval_remainder_above_negated_moduli", "sound above", when=(c > 0,
        b < 0)),
    _changed("residues_with_the_modulus", "interval_remainder_all_residues", "sound above", hi=d - 2),
    _changed("negative_moduli_from_above", "interval_remainder_by_negative_moduli", "sound below", lo=d + 1),
    _changed("spanning_moduli_not_negative", "interval_remainder_by_moduli_spanning", "sound below", lo=integer(0)),
    _changed("ceiling_spanning_without_one", "interval_ceiling_spanning", "sound above", hi=maximum(ceildiv(a, c),
        ceildiv(a, d), ceildiv(b, c), ceildiv(b, d))),
    # -- not tight
    _changed("negated_dividend_by_the_largest", "interval_remainder_above_negated_moduli", "tight below",
        lo=integer(0)),
    _changed("residues_of_few_dividends", "interval_remainder_all_residues", "tight above", when=(c > 0,)),
    _changed("remainder_as_large_as_the_modulus", "interval_remainder_many_blocks", "tight above", hi=m),
    _changed("remainder_within_the_whole_block", "interval_remainder_one_block", "tight below", lo=integer(0)),
    _changed("minimum_of_larger_bounds", "interval_minimum", "tight above", hi=maximum(b, d)),
    _changed("maximum_forgets_one", "interval_maximum", "tight below", lo=a),
    # -- laws on constraints
    _changed("outer_ends_of_two", "known_interval", "tight below", lo=minimum(a, c)),
    _changed("multiple_rounded_inwards_too_far", "known_multiple", "sound below", lo=a // g + 1),
    _changed("multiple_rounded_outwards", "known_multiple", "tight above", hi=ceildiv(b, g)),
    _changed("summand_beside_its_own_end", "known_sum_leaves_summand", "sound below", lo=ceildiv(a - c, k)),
    _changed("summand_of_any_sign", "known_sum_leaves_summand", "sound below", when=(k.ne(0),)),
    _changed("dividends_without_the_last", "known_quotient", "sound above", hi=b * m + m - 2),
    _changed("dividends_one_too_many", "known_quotient", "tight above", hi=b * m + m),
    _changed("proportion_rounded_inwards", "known_sum_in_proportion", "sound above", hi=(p * b + d) // q - 1),
    _changed("proportion_of_any_sign", "known_sum_in_proportion", "sound below", when=(q > 0,)),
    _changed("negative_proportion_keeps_order", "known_sum_in_negative_proportion", "sound below", when=(q > 0,)),
    _changed("finer_digit_as_large_as_g", "known_digit_bounds_finer", "tight above", hi=b * g + g),
    _changed("finer_digit_without_its_own", "known_digit_bounds_finer", "sound above", hi=b * g),
    _changed("sum_without_the_finer_digit", "known_sum_with_finer_digit", "sound above", hi=b * g),
    _changed("difference_as_a_sum", "known_difference_with_finer_digit", "sound below", lo=a * g),
    _changed("both_arguments_of_a_minimum", "known_argument_of_minimum", "sound", then=minimum(x, y) * k + z >=
        maximum(a, c)),
    _changed("maximum_taken_any_number_of_times", "known_argument_below_maximum", "sound", given=_ENDS),
    _changed("minimum_taken_any_number_of_times", "known_argument_above_minimum", "sound", given=_ENDS),
    _changed("both_arguments_of_a_maximum", "known_argument_of_maximum", "sound", then=maximum(x, y) * k + z >=
        maximum(a, c)),
    _changed("divisor_of_the_variables_alone", "known_divisor_of_sum", "sound", given=(d.divides(x * k),)),
    _changed("divisor_of_one_argument", "known_divisor_of_minimum", "sound", given=(d.divides(x * k),)),
    _changed("divisor_of_the_other_argument", "known_divisor_of_maximum", "sound", given=(d.divides(y * k),)),
    _changed("divisor_of_the_dividend", "known_divisor_of_remainder", "sound", given=(m > 0, d.divides(x * k))),
    _changed("remainder_of_any_multiple", "known_remainder_of_multiple", "sound", given=(n > 0, (x % n).eq(r))),
    _changed("multiples_are_not_zero", "known_not_zero", "sound", given=(g > 0, g.divides(x - c))),
    _changed("finer_remainder_as_large_as_g", "known_remainder_bounds_finer", "tight above", hi=b * g + g),
    _changed("finer_remainder_without_its_own", "known_remainder_bounds_finer", "sound above", hi=b * g),
]  # fmt: skip
