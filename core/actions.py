"""What the engine asks of a rule set: one action for each rule it looks for.

The compiled class (:mod:`.compiler`) overrides all of them; a rule set that lacks one cannot have an engine.  Values
come in the order of ``Rule.variables``: constants as integers, everything else as forms.
"""

from __future__ import annotations

from typing import TypeAlias

__all__ = ["Actions", "Form"]

Form: TypeAlias = tuple[int, tuple[tuple[int, int], ...]]


class Actions:
    """The rules that the engine looks for.  Each raises :class:`NotImplementedError` where the rule set lacks it."""

    def value_known(self, k: int, x: Form) -> Form:
        raise NotImplementedError("value_known")

    def quotient_by_one(self, x: Form) -> Form:
        raise NotImplementedError("quotient_by_one")

    def quotient_known(self, d: int, q: int, x: Form) -> Form:
        raise NotImplementedError("quotient_known")

    def quotient_certified(self, d: int, q: Form, x: Form) -> Form:
        raise NotImplementedError("quotient_certified")

    def multiple_leaves_quotient(self, d: int, r: Form, x: Form) -> Form:
        raise NotImplementedError("multiple_leaves_quotient")

    def small_remainder_vanishes(self, d: int, g: int, r: Form, x: Form) -> Form:
        raise NotImplementedError("small_remainder_vanishes")

    def quotient_of_quotient(self, a: int, b: int, x: Form) -> Form:
        raise NotImplementedError("quotient_of_quotient")

    def quotient_absorbs_summand(self, a: int, b: int, r: Form, x: Form) -> Form:
        raise NotImplementedError("quotient_absorbs_summand")

    def quotient_absorbs_negated(self, a: int, b: int, r: Form, v: int, x: Form) -> Form:
        raise NotImplementedError("quotient_absorbs_negated")

    def quotient_absorbs_digit(self, a: int, b: int, m: int, n: int, r: Form, v: int, x: Form) -> Form:
        raise NotImplementedError("quotient_absorbs_digit")

    def quotient_of_remainder(self, d: int, m: int, x: Form) -> Form:
        raise NotImplementedError("quotient_of_remainder")

    def quotient_of_digit(self, a: int, b: int, n: int, x: Form) -> Form:
        raise NotImplementedError("quotient_of_digit")

    def complement_leaves_quotient(self, d: int, x: Form) -> Form:
        raise NotImplementedError("complement_leaves_quotient")

    def negative_divisor_moves_up(self, d: int, x: Form) -> Form:
        raise NotImplementedError("negative_divisor_moves_up")

    def ceiling_of_positive(self, d: int, x: Form) -> Form:
        raise NotImplementedError("ceiling_of_positive")

    def ceiling_of_negative(self, d: int, x: Form) -> Form:
        raise NotImplementedError("ceiling_of_negative")

    def remainder_by_one(self, d: int, x: Form) -> Form:
        raise NotImplementedError("remainder_by_one")

    def remainder_known(self, d: int, q: int, x: Form) -> Form:
        raise NotImplementedError("remainder_known")

    def remainder_certified(self, d: int, q: Form, x: Form) -> Form:
        raise NotImplementedError("remainder_certified")

    def multiple_leaves_remainder(self, d: int, r: Form, x: Form) -> Form:
        raise NotImplementedError("multiple_leaves_remainder")

    def common_factor_leaves_remainder(self, d: int, g: int, r: Form, x: Form) -> Form:
        raise NotImplementedError("common_factor_leaves_remainder")

    def inner_remainder_vanishes(self, c: int, d: int, m: int, r: Form, x: Form) -> Form:
        raise NotImplementedError("inner_remainder_vanishes")

    def complement_leaves_remainder(self, d: int, x: Form) -> Form:
        raise NotImplementedError("complement_leaves_remainder")

    def negative_modulus_moves_out(self, d: int, x: Form) -> Form:
        raise NotImplementedError("negative_modulus_moves_out")

    def quotient_and_remainder_recombine(self, d: int, p: int, q: Form, r: Form, w: int, x: Form) -> Form:
        raise NotImplementedError("quotient_and_remainder_recombine")

    def quotient_and_congruent_remainder_recombine(
        self, d: int, p: int, r: Form, w: int, x: Form, y: Form
    ) -> Form:
        raise NotImplementedError("quotient_and_congruent_remainder_recombine")

    def digits_recombine(
        self, d: int, n: int, p: int, q: Form, r: Form, t: Form, w: int, x: Form, z: Form
    ) -> Form:
        raise NotImplementedError("digits_recombine")

    def remainder_subtracts_to_quotient(self, d: int, r: Form, v: int, w: int, x: Form) -> Form:
        raise NotImplementedError("remainder_subtracts_to_quotient")

    def min_keeps_smaller(self, x: Form, y: Form) -> Form:
        raise NotImplementedError("min_keeps_smaller")

    def max_keeps_larger(self, x: Form, y: Form) -> Form:
        raise NotImplementedError("max_keeps_larger")

    def min_absorbs_max(self, x: Form, y: Form) -> Form:
        raise NotImplementedError("min_absorbs_max")

    def max_absorbs_min(self, x: Form, y: Form) -> Form:
        raise NotImplementedError("max_absorbs_min")

    def min_shifts(self, k: int, x: Form, y: Form) -> Form:
        raise NotImplementedError("min_shifts")

    def max_shifts(self, k: int, x: Form, y: Form) -> Form:
        raise NotImplementedError("max_shifts")

    def quotient_subtracts_to_remainder(self, d: int, r: Form, v: int, w: int, x: Form) -> Form:
        raise NotImplementedError("quotient_subtracts_to_remainder")

    def min_and_max_sum(self, r: Form, v: int, w: int, x: Form, y: Form) -> Form:
        raise NotImplementedError("min_and_max_sum")

    def exact_quotient_multiplies(self, d: int, m: int, r: Form, v: int, w: int, x: Form) -> Form:
        raise NotImplementedError("exact_quotient_multiplies")
