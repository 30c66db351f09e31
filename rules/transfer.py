"""The laws of the range domain, which :mod:`indexproof.core.kernel.ranges` and :mod:`indexproof.core.interval` apply.

A transfer law states bounds of an expression from bounds of its variables, or from bounds that a constraint gives another
expression, and names points at which the bounds are attained.  *Sound* and *tight* are proved for all integers.  That the
production domain computes exactly these formulas is checked exhaustively on small numbers.  A law that is not tight states
why.  A known law states an implication between facts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from ..core.condition import Condition, all_of
from ..core.expr import Expr, ceildiv, integer, lift, maximum, minimum, var

a, b, c, d, g, j, k, m, n, p, q, r, s, x, y, z = (var(name) for name in "abcdgjkmnpqrsxyz")

Point = tuple[Expr | int, ...]
#: An expression with its lower and upper bound.
Ranged = tuple[Expr, Expr, Expr]


@dataclass(frozen=True, eq=False)
class TransferLaw:
    """The law ``lo <= value <= hi`` if every input lies between its bounds, and ``known``, ``when`` and ``where`` hold.

    ``unbounded`` inputs have no bounds of their own.  ``known`` are constraints: expressions with their bounds.  ``lo_at``
    and ``hi_at`` list points of the inputs, one of which attains the bound.  ``approximate`` states why none does.
    """

    name: str
    doc: str
    value: Expr
    inputs: tuple[Ranged, ...]
    lo: Expr
    hi: Expr
    when: tuple[Condition, ...] = ()
    where: tuple[Condition, ...] = ()
    unbounded: tuple[Expr, ...] = ()
    known: tuple[Ranged, ...] = ()
    lo_at: tuple[Point, ...] = ()
    hi_at: tuple[Point, ...] = ()
    approximate: str = ""

    def hypotheses(self) -> tuple[Condition, ...]:
        """Return the bounds of the inputs, the conditions on the bounds, and the conditions on the inputs."""
        boxes = (v.within(lo, hi) for v, lo, hi in (*self.inputs, *self.known))
        return (*boxes, *self.when, *self.where)

    def bounds(self) -> tuple[Condition, ...]:
        """Return the conditions on the bounds alone; they include that no interval is empty."""
        return (*(lo <= hi for _, lo, hi in (*self.inputs, *self.known)), *self.when)

    def statement(self) -> str:
        """Return the law on one line."""
        given = all_of(self.hypotheses())
        return f"{self.value} ∈ [{self.lo}, {self.hi}]   when {given}"


@dataclass(frozen=True, eq=False)
class KnownLaw:
    """The law that ``given`` facts imply ``then``."""

    family: ClassVar[str] = "transfer"
    name: str
    doc: str
    given: tuple[Condition, ...]
    then: Condition

    def statement(self) -> str:
        """Return the law on one line."""
        return f"{self.then}   when {all_of(self.given)}"


def _attained(
    name: str,
    doc: str,
    value: Expr,
    inputs: tuple[Ranged, ...],
    lo_at: tuple[Point, ...],
    hi_at: tuple[Point, ...] = (),
    **given: Any,
) -> TransferLaw:
    """Return the law whose bounds are the least value at the points ``lo_at`` and the greatest at ``hi_at``.

    Without ``hi_at`` both are among the points ``lo_at``.
    """
    hi_at = hi_at or lo_at
    variables = [*(v for v, _, _ in inputs), *given.get("unbounded", ())]
    lo = minimum(*(value.substitute(dict(zip(variables, map(lift, p), strict=True))) for p in lo_at))
    hi = maximum(*(value.substitute(dict(zip(variables, map(lift, p), strict=True))) for p in hi_at))
    return TransferLaw(name, doc, value, inputs, lo, hi, lo_at=lo_at, hi_at=hi_at, **given)


X = (x, a, b)
Y = (y, c, d)
K = (k, k, k)
M = (m, m, m)
_CORNERS: tuple[Point, ...] = tuple((u, v) for u in (a, b) for v in (c, d))
#: The corners, and the points at the divisors next to zero.
_SPANNING: tuple[Point, ...] = tuple((u, v) for u in (a, b) for v in (c, -1, 1, d))

TRANSFER_LAWS: tuple[TransferLaw, ...] = (
    _attained("interval_sum", "Bounds add up.", x + y, (X, Y), ((a, c),), ((b, d),)),
    _attained(
        "interval_multiple",
        "A non-negative factor preserves the order of the bounds.",
        x * k,
        (X, K),
        ((a, k),),
        ((b, k),),
        when=(k >= 0,),
    ),
    _attained(
        "interval_negative_multiple",
        "A negative factor swaps the bounds.",
        x * k,
        (X, K),
        ((b, k),),
        ((a, k),),
        when=(k < 0,),
    ),
    _attained("interval_product", "A product attains its extremes at corners of the box.", x * y, (X, Y), _CORNERS),
    _attained(
        "interval_quotient_positive",
        "A quotient by positive divisors attains its extremes at corners.",
        x // y,
        (X, Y),
        _CORNERS,
        when=(c > 0,),
    ),
    _attained(
        "interval_quotient_negative",
        "A quotient by negative divisors attains its extremes at corners.",
        x // y,
        (X, Y),
        _CORNERS,
        when=(d < 0,),
    ),
    _attained(
        "interval_quotient_spanning",
        "If divisors lie on both sides of zero, extremes are also attained at the divisors 1 and -1.",
        x // y,
        (X, Y),
        _SPANNING,
        when=(c < 0, d > 0),
        where=(y.ne(0),),
    ),
    _attained(
        "interval_ceiling_positive",
        "Rounded up, a quotient by positive divisors attains its extremes at corners.",
        ceildiv(x, y),
        (X, Y),
        _CORNERS,
        when=(c > 0,),
    ),
    _attained(
        "interval_ceiling_negative",
        "Rounded up, a quotient by negative divisors attains its extremes at corners.",
        ceildiv(x, y),
        (X, Y),
        _CORNERS,
        when=(d < 0,),
    ),
    _attained(
        "interval_remainder_one_block",
        "Within one block of the modulus, the remainder is the offset from the start of the block.",
        x % m,
        (X, M),
        ((a, m),),
        ((b, m),),
        when=(m > 0, (a // m).eq(b // m)),
    ),
    TransferLaw(
        "interval_remainder_many_blocks",
        "Across a block border, the remainder attains both extremes next to the border.",
        x % m,
        (X, M),
        integer(0),
        m - 1,
        when=(m > 0, a // m < b // m),
        lo_at=((b // m * m, m),),
        hi_at=((b // m * m - 1, m),),
    ),
    _attained(
        "interval_remainder_negative_one_block",
        "The same law for a negative modulus, within one block.",
        x % m,
        (X, M),
        ((a, m),),
        ((b, m),),
        when=(m < 0, (a // m).eq(b // m)),
    ),
    TransferLaw(
        "interval_remainder_negative_many_blocks",
        "The same law for a negative modulus, across a block border.",
        x % m,
        (X, M),
        m + 1,
        integer(0),
        when=(m < 0, (a // m).ne(b // m)),
        lo_at=((a // m * m + 1, m),),
        hi_at=((a // m * m, m),),
    ),
    TransferLaw(
        "interval_remainder_below_moduli",
        "A dividend below every modulus is its own remainder.",
        x % y,
        (X, Y),
        a,
        b,
        when=(a >= 0, b < c),
        lo_at=((a, c),),
        hi_at=((b, c),),
    ),
    TransferLaw(
        "interval_remainder_by_moduli",
        "The remainder of a non-negative dividend is at most the dividend and below the largest modulus.",
        x % y,
        (X, Y),
        integer(0),
        minimum(b, d - 1),
        when=(a >= 0, c > 0, c < d, b >= c),
        approximate="which remainders occur depends on every modulus in between; the exact bounds have no closed form",
    ),
    TransferLaw(
        "interval_remainder_by_moduli_signed",
        "The remainder of any dividend by positive moduli is below the largest modulus.",
        x % y,
        (X, Y),
        integer(0),
        d - 1,
        when=(a < 0, c > 0, c < d),
        approximate="which remainders occur depends on every modulus in between; the exact bounds have no closed form",
    ),
    TransferLaw(
        "interval_remainder_above_negated_moduli",
        "A negative dividend above the negated smallest modulus has the modulus added once.",
        x % y,
        (X, Y),
        a + c,
        b + d,
        when=(c > 0, b < 0, a >= -c),
        lo_at=((a, c),),
        hi_at=((b, d),),
    ),
    TransferLaw(
        "interval_remainder_all_residues",
        "Dividends that cover every residue of the largest modulus give every remainder below it.",
        x % y,
        (X, Y),
        integer(0),
        d - 1,
        when=(c > 0, b - a >= d - 1),
        lo_at=((b // d * d, d), (a // d * d + d, d)),
        hi_at=((b // d * d - 1, d), (b // d * d + d - 1, d)),
    ),
    TransferLaw(
        "interval_remainder_by_negative_moduli",
        "The remainder by negative moduli is above the smallest modulus and at most zero.",
        x % y,
        (X, Y),
        c + 1,
        integer(0),
        when=(d < 0, c < d),
        approximate="which remainders occur depends on every modulus in between; the exact bounds have no closed form",
    ),
    TransferLaw(
        "interval_remainder_by_moduli_spanning",
        "The remainder by moduli on both sides of zero lies strictly between the smallest and the largest.",
        x % y,
        (X, Y),
        c + 1,
        d - 1,
        when=(c < 0, d > 0),
        where=(y.ne(0),),
        approximate="which remainders occur depends on every modulus in between; the exact bounds have no closed form",
    ),
    _attained(
        "interval_ceiling_spanning",
        "If divisors lie on both sides of zero, the same holds for quotients rounded up.",
        ceildiv(x, y),
        (X, Y),
        _SPANNING,
        when=(c < 0, d > 0),
        where=(y.ne(0),),
    ),
    _attained("interval_minimum", "The smaller bounds.", minimum(x, y), (X, Y), ((a, c),), ((b, d),)),
    _attained("interval_maximum", "The larger bounds.", maximum(x, y), (X, Y), ((a, c),), ((b, d),)),
    # -- what constraints say
    _attained(
        "known_interval",
        "Two intervals that contain a value intersect in an interval that contains it.",
        x,
        (X,),
        ((maximum(a, c),),),
        ((minimum(b, d),),),
        when=(maximum(a, c) <= minimum(b, d),),
        known=((x, c, d),),
    ),
    _attained(
        "known_multiple",
        "Bounds of a multiple g·x give bounds of x, rounded inwards.",
        x,
        (),
        ((ceildiv(a, g),),),
        ((b // g,),),
        when=(g > 0, ceildiv(a, g) <= b // g),
        unbounded=(x,),
        known=((x * g, a, b),),
    ),
    TransferLaw(
        "known_sum_leaves_summand",
        "Bounds of a sum and of its other summands bound one summand.",
        x,
        (Y,),
        ceildiv(a - d, k),
        (b - c) // k,
        when=(k > 0, ceildiv(a - d, k) <= (b - c) // k),
        unbounded=(x,),
        known=((x * k + y, a, b),),
        approximate="between the ends of the sum there may be no multiple of the coefficient",
    ),
    _attained(
        "known_quotient",
        "Bounds of a quotient bound its dividend.",
        x,
        (),
        ((a * m,),),
        ((b * m + m - 1,),),
        when=(m > 0,),
        unbounded=(x,),
        known=((x // m, a, b),),
    ),
    TransferLaw(
        "known_sum_in_proportion",
        "If q times a sum is p times a bounded sum plus a rest, both bound the sum (p positive).",
        s,
        (X, Y),
        ceildiv(p * a + c, q),
        (p * b + d) // q,
        when=(p > 0, q > 0, ceildiv(p * a + c, q) <= (p * b + d) // q),
        where=((s * q).eq(x * p + y),),
        approximate="of the sums that are known and what is left not all occur together",
    ),
    TransferLaw(
        "known_sum_in_negative_proportion",
        "The same law for negative p.",
        s,
        (X, Y),
        ceildiv(p * b + c, q),
        (p * a + d) // q,
        when=(p < 0, q > 0, ceildiv(p * b + c, q) <= (p * a + d) // q),
        where=((s * q).eq(x * p + y),),
        approximate="of the sums that are known and what is left not all occur together",
    ),
    TransferLaw(
        "known_digit_bounds_finer",
        "Bounds of a digit bound the finer digit, which is g times as large plus less than g.",
        x // n,
        (),
        a * g,
        b * g + g - 1,
        when=(n > 0, g > 0),
        unbounded=(x,),
        known=((x // (n * g), a, b),),
        lo_at=((a * g * n,),),
        hi_at=(((b * g + g - 1) * n,),),
    ),
    TransferLaw(
        "known_remainder_bounds_finer",
        "The same law for digits that are remainders of quotients.",
        x // n % (g * d),
        (),
        a * g,
        b * g + g - 1,
        when=(n > 0, g > 0, d > 0, a >= 0, b < d),
        unbounded=(x,),
        known=((x // (n * g) % d, a, b),),
        lo_at=((a * g * n,),),
        hi_at=(((b * g + g - 1) * n,),),
    ),
    TransferLaw(
        "known_sum_with_finer_digit",
        "Bounds of a sum with a digit bound g times the sum with the finer digit instead.",
        (x // n) * k + y * g,
        (),
        a * g,
        b * g + k * (g - 1),
        unbounded=(x, y),
        when=(n > 0, g > 0, k > 0),
        known=((x // (n * g) * k + y, a, b),),
        approximate="how far the digit goes depends on the other summands",
    ),
    TransferLaw(
        "known_difference_with_finer_digit",
        "The same law for a negative coefficient of the digit.",
        (x // n) * k + y * g,
        (),
        a * g + k * (g - 1),
        b * g,
        unbounded=(x, y),
        when=(n > 0, g > 0, k < 0),
        known=((x // (n * g) * k + y, a, b),),
        approximate="how far the digit goes depends on the other summands",
    ),
)

KNOWN_LAWS: tuple[KnownLaw, ...] = (
    KnownLaw(
        "known_argument_below_maximum",
        "A sum with a maximum is at least the sum with either argument instead.",
        (k >= 0, (x * k + z) >= a, (y * k + z) >= c),
        maximum(x, y) * k + z >= maximum(a, c),
    ),
    KnownLaw(
        "known_argument_of_minimum",
        "A sum with a minimum is at least the smaller of the sums with an argument instead.",
        (k >= 0, (x * k + z) >= a, (y * k + z) >= c),
        minimum(x, y) * k + z >= minimum(a, c),
    ),
    KnownLaw(
        "known_argument_above_minimum",
        "A sum that subtracts a minimum is at least the sum that subtracts either argument.",
        (k <= 0, (x * k + z) >= a, (y * k + z) >= c),
        minimum(x, y) * k + z >= maximum(a, c),
    ),
    KnownLaw(
        "known_argument_of_maximum",
        "A sum that subtracts a maximum is at least the smaller of the sums that subtract an argument.",
        (k <= 0, (x * k + z) >= a, (y * k + z) >= c),
        maximum(x, y) * k + z >= minimum(a, c),
    ),
    KnownLaw(
        "known_divisor_of_sum",
        "A divisor of a constant and of a product divides their sum; by induction this holds for any number of summands.",
        (d.divides(c), d.divides(x * k)),
        d.divides(c + x * k),
    ),
    KnownLaw(
        "known_divisor_of_minimum",
        "A divisor of the same multiple of both arguments divides that multiple of their minimum.",
        (d.divides(x * k), d.divides(y * k)),
        d.divides(minimum(x, y) * k),
    ),
    KnownLaw(
        "known_divisor_of_maximum",
        "A divisor of the same multiple of both arguments divides that multiple of their maximum.",
        (d.divides(x * k), d.divides(y * k)),
        d.divides(maximum(x, y) * k),
    ),
    KnownLaw(
        "known_divisor_of_remainder",
        "A divisor of the same multiple of dividend and modulus divides that multiple of the remainder.",
        (m > 0, d.divides(m * k), d.divides(x * k)),
        d.divides(x % m * k),
    ),
    KnownLaw(
        "known_remainder_of_multiple",
        "A fixed remainder modulo n fixes the remainder of a multiple j·x modulo every divisor of j·n.",
        (n > 0, (x % n).eq(r), d.divides(n * j)),
        d.divides(x * j - r * j),
    ),
    KnownLaw(
        "known_not_zero",
        "A value congruent to a non-multiple of the modulus is not zero.",
        (g > 0, g.divides(x - c), (c % g).ne(0)),
        x.ne(0),
    ),
)
