"""The laws of the interval and congruence transfer functions of :mod:`indexproof.core.interval`.

Each law states the result of an operator for inputs between symbolic bounds and names points where the bounds are
attained.  *Sound* and *tight* are proved for all bounds; that production code computes exactly these formulas is checked
exhaustively on small bounds (``compute``).  A law that is not tight says why.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..core.condition import Condition, all_of
from ..core.expr import Expr, ceildiv, integer, maximum, minimum, var
from ..core.interval import Congruence, Interval

__all__ = ["CONGRUENCE_LAWS", "TRANSFER_LAWS", "CongruenceLaw", "TransferLaw"]

a, b, c, d, e, f, g, h, i, j, k, m, n, r, s, x, y = (var(name) for name in "abcdefghijkmnrsxy")

Point = tuple[Expr | int, ...]


@dataclass(frozen=True, eq=False)
class TransferLaw:
    """``lo <= value <= hi`` whenever every input lies between its bounds and ``when`` holds.

    ``lo_at`` and ``hi_at`` list input points, one of which attains the bound; an ``approximate`` law gives the reason
    instead.  ``compute`` is the production function: it receives one :class:`Interval` per input.
    """

    name: str
    doc: str
    value: Expr
    inputs: tuple[tuple[Expr, Expr, Expr], ...]
    lo: Expr
    hi: Expr
    compute: Callable[..., Interval]
    when: tuple[Condition, ...] = ()
    where: tuple[Condition, ...] = ()
    lo_at: tuple[Point, ...] = ()
    hi_at: tuple[Point, ...] = ()
    approximate: str = ""

    def hypotheses(self) -> tuple[Condition, ...]:
        """Bounds of the inputs, conditions on the bounds, and what the inputs must satisfy themselves."""
        return (*(v.within(lo, hi) for v, lo, hi in self.inputs), *self.when, *self.where)

    def bounds(self) -> tuple[Condition, ...]:
        """Conditions on the bounds alone: no interval is empty."""
        return (*(lo <= hi for _, lo, hi in self.inputs), *self.when)

    def statement(self) -> str:
        """The law on one line."""
        given = all_of(self.hypotheses())
        return f"{self.value} ∈ [{self.lo}, {self.hi}]   when {given}"


@dataclass(frozen=True, eq=False)
class CongruenceLaw:
    """What the congruences of the inputs say about the result."""

    name: str
    doc: str
    given: tuple[Condition, ...]
    then: Condition
    compute: Callable[..., Congruence] | None = None

    def statement(self) -> str:
        """The law on one line."""
        return f"{self.then}   when {all_of(self.given)}"


def _corners(f: Callable[[Expr, Expr], Expr], ys: tuple[Expr, ...]) -> tuple[Expr, Expr, tuple[Point, ...]]:
    """Smallest and largest value at the corners, and the corners."""
    points: tuple[Point, ...] = tuple((u, v) for u in (a, b) for v in ys)
    values = [f(u, v) for u in (a, b) for v in ys]
    return minimum(*values), maximum(*values), points


X = (x, a, b)
Y = (y, c, d)
_product = _corners(lambda u, v: u * v, (c, d))
_quotient = _corners(lambda u, v: u // v, (c, d))
_spanning = _corners(lambda u, v: u // v, (c, integer(-1), integer(1), d))
_ceiling = _corners(ceildiv, (c, d))
_ceiling_spanning = _corners(ceildiv, (c, integer(-1), integer(1), d))

TRANSFER_LAWS: tuple[TransferLaw, ...] = (
    TransferLaw(
        "interval_sum",
        "Bounds add up.",
        x + y,
        (X, Y),
        a + c,
        b + d,
        Interval.plus,
        lo_at=((a, c),),
        hi_at=((b, d),),
    ),
    TransferLaw(
        "interval_multiple",
        "A factor that is not negative keeps the order of the bounds.",
        x * k,
        (X, (k, k, k)),
        a * k,
        b * k,
        lambda i, j: i.scale(int(j.lo)),
        when=(k >= 0,),
        lo_at=((a, k),),
        hi_at=((b, k),),
    ),
    TransferLaw(
        "interval_negative_multiple",
        "A negative factor exchanges the bounds.",
        x * k,
        (X, (k, k, k)),
        b * k,
        a * k,
        lambda i, j: i.scale(int(j.lo)),
        when=(k < 0,),
        lo_at=((b, k),),
        hi_at=((a, k),),
    ),
    TransferLaw(
        "interval_product",
        "A product is extreme at corners.",
        x * y,
        (X, Y),
        _product[0],
        _product[1],
        Interval.times,
        lo_at=_product[2],
        hi_at=_product[2],
    ),
    TransferLaw(
        "interval_quotient_positive",
        "A quotient by positive divisors is extreme at corners.",
        x // y,
        (X, Y),
        _quotient[0],
        _quotient[1],
        Interval.floordiv,
        when=(c > 0,),
        lo_at=_quotient[2],
        hi_at=_quotient[2],
    ),
    TransferLaw(
        "interval_quotient_negative",
        "A quotient by negative divisors is extreme at corners.",
        x // y,
        (X, Y),
        _quotient[0],
        _quotient[1],
        Interval.floordiv,
        when=(d < 0,),
        lo_at=_quotient[2],
        hi_at=_quotient[2],
    ),
    TransferLaw(
        "interval_quotient_spanning",
        "Divisors on both sides of zero: also extreme next to zero.",
        x // y,
        (X, Y),
        _spanning[0],
        _spanning[1],
        Interval.floordiv,
        when=(c < 0, d > 0),
        where=(y.ne(0),),
        lo_at=_spanning[2],
        hi_at=_spanning[2],
    ),
    TransferLaw(
        "interval_ceiling_positive",
        "Rounding up by positive divisors is extreme at corners.",
        ceildiv(x, y),
        (X, Y),
        _ceiling[0],
        _ceiling[1],
        Interval.ceildiv,
        when=(c > 0,),
        lo_at=_ceiling[2],
        hi_at=_ceiling[2],
    ),
    TransferLaw(
        "interval_ceiling_negative",
        "Rounding up by negative divisors is extreme at corners.",
        ceildiv(x, y),
        (X, Y),
        _ceiling[0],
        _ceiling[1],
        Interval.ceildiv,
        when=(d < 0,),
        lo_at=_ceiling[2],
        hi_at=_ceiling[2],
    ),
    TransferLaw(
        "interval_remainder_one_block",
        "Within one block of the modulus the remainder is the offset from the block's start.",
        x % m,
        (X, (m, m, m)),
        a % m,
        b % m,
        Interval.mod,
        when=(m > 0, (a // m).eq(b // m)),
        lo_at=((a, m),),
        hi_at=((b, m),),
    ),
    TransferLaw(
        "interval_remainder_many_blocks",
        "Across a block border the remainder takes both extremes, next to the border.",
        x % m,
        (X, (m, m, m)),
        integer(0),
        m - 1,
        Interval.mod,
        when=(m > 0, a // m < b // m),
        lo_at=((b // m * m, m),),
        hi_at=((b // m * m - 1, m),),
    ),
    TransferLaw(
        "interval_remainder_negative_one_block",
        "A negative modulus, within one block.",
        x % m,
        (X, (m, m, m)),
        a % m,
        b % m,
        Interval.mod,
        when=(m < 0, (a // m).eq(b // m)),
        lo_at=((a, m),),
        hi_at=((b, m),),
    ),
    TransferLaw(
        "interval_remainder_negative_many_blocks",
        "A negative modulus, across a block border.",
        x % m,
        (X, (m, m, m)),
        m + 1,
        integer(0),
        Interval.mod,
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
        Interval.mod,
        when=(a >= 0, b < c),
        lo_at=((a, c),),
        hi_at=((b, c),),
    ),
    TransferLaw(
        "interval_remainder_by_moduli",
        "Some modulus in an interval, dividend not negative.",
        x % y,
        (X, Y),
        integer(0),
        minimum(b, d - 1),
        Interval.mod,
        when=(a >= 0, c > 0, c < d, b >= c),
        approximate="which remainders occur depends on every modulus in between; the exact bounds have no closed form",
    ),
    TransferLaw(
        "interval_remainder_by_moduli_signed",
        "Some modulus in an interval, dividend of any sign.",
        x % y,
        (X, Y),
        integer(0),
        d - 1,
        Interval.mod,
        when=(a < 0, c > 0, c < d),
        approximate="which remainders occur depends on every modulus in between; the exact bounds have no closed form",
    ),
    TransferLaw(
        "interval_remainder_above_negated_moduli",
        "To a negative dividend that no modulus is too small for, the modulus is added once.",
        x % y,
        (X, Y),
        a + c,
        b + d,
        Interval.mod,
        when=(c > 0, b < 0, a >= -c),
        lo_at=((a, c),),
        hi_at=((b, d),),
    ),
    TransferLaw(
        "interval_remainder_all_residues",
        "Dividends that take every residue of the largest modulus.",
        x % y,
        (X, Y),
        integer(0),
        d - 1,
        Interval.mod,
        when=(c > 0, b - a >= d - 1),
        lo_at=((b // d * d, d), (a // d * d + d, d)),
        hi_at=((b // d * d - 1, d), (b // d * d + d - 1, d)),
    ),
    TransferLaw(
        "interval_remainder_by_negative_moduli",
        "Remainders by negative moduli are opposite to those of the opposite dividend by the opposite modulus.",
        x % y,
        (X, Y),
        c + 1,
        integer(0),
        Interval.mod,
        when=(d < 0, c < d),
        approximate="which remainders occur depends on every modulus in between; the exact bounds have no closed form",
    ),
    TransferLaw(
        "interval_remainder_by_moduli_spanning",
        "Moduli on both sides of zero: remainders of either sign.",
        x % y,
        (X, Y),
        c + 1,
        d - 1,
        Interval.mod,
        when=(c < 0, d > 0),
        where=(y.ne(0),),
        approximate="which remainders occur depends on every modulus in between; the exact bounds have no closed form",
    ),
    TransferLaw(
        "interval_ceiling_spanning",
        "Divisors on both sides of zero, rounding up: also extreme next to zero.",
        ceildiv(x, y),
        (X, Y),
        _ceiling_spanning[0],
        _ceiling_spanning[1],
        Interval.ceildiv,
        when=(c < 0, d > 0),
        where=(y.ne(0),),
        lo_at=_ceiling_spanning[2],
        hi_at=_ceiling_spanning[2],
    ),
    TransferLaw(
        "interval_minimum",
        "The smaller bounds.",
        minimum(x, y),
        (X, Y),
        minimum(a, c),
        minimum(b, d),
        Interval.minimum,
        lo_at=((a, c),),
        hi_at=((b, d),),
    ),
    TransferLaw(
        "interval_maximum",
        "The larger bounds.",
        maximum(x, y),
        (X, Y),
        maximum(a, c),
        maximum(b, d),
        Interval.maximum,
        lo_at=((a, c),),
        hi_at=((b, d),),
    ),
    TransferLaw(
        "interval_reduced_by_congruence",
        "The ends of an interval move inwards to members of the congruence class.",
        x,
        (X,),
        a + (r - a) % m,
        b - (b - r) % m,
        Interval.minimum,
        when=(m > 0, a + (r - a) % m <= b - (b - r) % m),
        where=(m.divides(x - r),),
        lo_at=((a + (r - a) % m,),),
        hi_at=((b - (b - r) % m,),),
    ),
)

CONGRUENCE_LAWS: tuple[CongruenceLaw, ...] = (
    CongruenceLaw(
        "congruence_sum",
        "Classes add up modulo any common divisor of the moduli.",
        (m.divides(x - r), n.divides(y - s), g.divides(m), g.divides(n)),
        g.divides(x + y - (r + s)),
    ),
    CongruenceLaw(
        "congruence_multiple",
        "A factor scales class and modulus.",
        (m.divides(x - r), k.ne(0)),
        (m * k).divides(x * k - r * k),
    ),
    CongruenceLaw(
        "congruence_product",
        "Classes multiply modulo any common divisor g of m·n, m·s and n·r, whose cofactors are e, f and h.",
        (x.eq(r + m * i), y.eq(s + n * j), (m * n).eq(g * e), (m * s).eq(g * f), (n * r).eq(g * h)),
        (x * y - r * s).eq(g * (e * i * j + f * i + h * j)),
    ),
    CongruenceLaw(
        "congruence_quotient",
        "A divisor of the modulus divides class and modulus.",
        (m.divides(x - r), d.divides(m)),
        (m // d).divides(x // d - r // d),
    ),
    CongruenceLaw(
        "congruence_remainder_known",
        "Modulo a divisor of the modulus the class is known.",
        (m.divides(x - r), d.divides(m)),
        (x % d).eq(r % d),
    ),
    CongruenceLaw(
        "congruence_remainder",
        "A remainder keeps its class modulo any common divisor of modulus and divisor.",
        (m.divides(x - r), d.ne(0), g.divides(m), g.divides(d)),
        g.divides(x % d - r),
    ),
    CongruenceLaw(
        "congruence_join",
        "What either class allows, both allow modulo a common divisor of the moduli and of the distance.",
        (m.divides(x - r) | n.divides(x - s), g.divides(m), g.divides(n), g.divides(r - s)),
        g.divides(x - r),
    ),
)
