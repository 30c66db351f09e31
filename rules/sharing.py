"""Other forms of quotients and remainders, which share divisions and sums with the rest of a map.

These rules do not decrease in the order of the others.  They are applied once, to the finished normal forms, where the
documented cost of all results together decreases.  In the examples, semicolons separate several results.
"""

from __future__ import annotations

from ..core.expr import Expr
from ..core.rewrite import Const, Rest, Rewrite, rule


@rule(sharing=True, fires={"a // 4; a % 4 + b": "a // 4; a - a // 4 * 4 + b"}, keeps=["a % 4"])
def remainder_is_difference(x: Expr, q: Expr, d: Const) -> Rewrite:
    """A remainder is x - d·q for any q that equals the quotient; it costs no division if q is needed anyway."""
    return Rewrite(x % d, x - q * d, when=(q.eq(x // d),), choose="needed_quotient")


@rule(
    sharing=True,
    fires={"a // 4 * 4; a % 4 + b": "a - a % 4; a % 4 + b", "2*a - a // 4 * 4": "a + a % 4"},
    keeps=["a // 4 * 4 + c; a % 4; a // 4"],
)
def multiple_is_difference(x: Expr, t: Expr, d: Const, v: Const, w: Const, r: Rest) -> Rewrite:
    """A multiple d·w of the quotient is w·x - w·t for any t that equals the remainder.

    It costs no division if t is needed anyway, and possibly no multiplication if the dividend is a summand.
    """
    return Rewrite((x // d) * v + r, x * w - t * w + r, when=(v.eq(d * w), t.eq(x % d)), choose="needed_remainder")


@rule(
    sharing=True,
    fires={"a // 32 * 4 | a // 8 % 4 in [0, 0]": "a // 8"},
    keeps=["a // 32 * 4", "a // 32 * 2 | a // 8 % 4 in [0, 0]"],
)
def known_digit_joins_quotient(
    x: Expr, q: Expr, a: Const, n: Const, e: Const, m: Const, v: Const, w: Const, r: Rest
) -> Rewrite:
    """The quotient x // (a·n), times n, is q - m for any q that equals x // a, if the digit q % n is known to be m.

    The finer quotient q may be needed anyway.
    """
    return Rewrite(
        (x // e) * v + r,
        q * w - m * w + r,
        when=(n > 0, e.eq(a * n), v.eq(n * w), q.eq(x // a), (q % n).eq(m)),
        choose="known_digit",
    )


@rule(
    sharing=True,
    fires={"(a + 5) // 2 % 4 * 4 | a % 2 in [1, 1]": "(a + 5) % 8 * 2"},
    keeps=["(a + 5) // 2 % 4 * 4", "(a + 5) // 2 % 4 | a % 2 in [1, 1]"],
)
def known_digit_joins_digit(
    x: Expr, q: Expr, t: Expr, a: Const, n: Const, m: Const, v: Const, w: Const, r: Rest
) -> Rewrite:
    """A digit above a known remainder x % a = m, times a, is t - m for any t that equals x % (a·n).

    The digit may be that of any q that equals ``x // a``.
    """
    return Rewrite(
        (q % n) * v + r,
        t * w - m * w + r,
        when=(n > 0, q.eq(x // a), v.eq(a * w), t.eq(x % (a * n)), (x % a).eq(m)),
        choose="digit_above_known",
    )


@rule(
    sharing=True,
    fires={"-((a - 3) // 4) - b | a % 4 in [1, 1]": "(-a + 5) // 4 - b"},
    keeps=["-((a - 3) // 4) - b", "c - ((a - 3) // 4) | a % 4 in [1, 1]"],
)
def exact_quotient_negates(x: Expr, d: Const, m: Const) -> Rewrite:
    """A quotient x // d with known remainder m is -((m - x) // d)."""
    return Rewrite(x // d, -((m - x) // d), when=((x % d).eq(m),), choose="negated")


@rule(
    sharing=True,
    fires={"(a - b) // 4; (b - a + 3) // 4 + c": "(a - b) // 4; -((a - b) // 4) + c"},
    keeps=["(a - b) // 4; (b - a + 2) // 4 + c", "(b - a + 3) // 4 + c"],
)
def quotient_turns(x: Expr, t: Expr, d: Const) -> Rewrite:
    """A quotient x // d is -t for any t that equals (d - 1 - x) // d."""
    return Rewrite(x // d, -t, when=(d > 0, t.eq((d - 1 - x) // d)), choose="turned")


@rule(
    sharing=True,
    fires={"(a - b) % 4; (b - a + 3) % 4 + c": "(a - b) % 4; 3 - (a - b) % 4 + c"},
    keeps=["(a - b) % 4; (b - a + 2) % 4 + c", "(b - a + 3) % 4 + c"],
)
def remainder_turns(x: Expr, t: Expr, d: Const) -> Rewrite:
    """A remainder x % d is d - 1 - t for any t that equals (d - 1 - x) % d."""
    return Rewrite(x % d, d - 1 - t, when=(d > 0, t.eq((d - 1 - x) % d)), choose="turned")


@rule(
    sharing=True,
    fires={"(a - b) // 8; (a - b) // 64 + c | a in [0, 5], b in [0, 5]": "(a - b) // 8; (a - b) // 8 + c"},
    keeps=["(a - b) // 4; (a - b) // 64 + c | a in [0, 5], b in [0, 5]"],
)
def quotient_is_sign(x: Expr, d: Const, e: Const) -> Rewrite:
    """A quotient in [-1, 0] depends only on the sign of the dividend, so all divisors that are large enough give it."""
    return Rewrite(
        x // d, x // e, when=(d > 0, e > 0, x.within(-d, d - 1), x.within(-e, e - 1)), choose="other_divisor"
    )


@rule(
    sharing=True,
    fires={"(12*a + 4*c + b) // 5; (3*a + c) // 2 | b in [0, 3]": "(12*a + 4*c + b) // 5; (12*a + 4*c + b) // 8"},
    keeps=["a // 2"],
)
def quotient_widens(y: Expr, e: Const, g: Const, r: Rest) -> Rewrite:
    """A quotient y // e is (g·y + r) // (g·e) if r lies in [0, g - 1]; that number may be divided elsewhere too."""
    return Rewrite(y // e, (y * g + r) // (e * g), when=(e > 0, g > 0, r.within(0, g - 1)), choose="wider")


@rule(
    sharing=True,
    fires={
        "(12*a + 4*c + b) // 5; (3*a + c) % 2 * 4 + b | b in [0, 3]": "(12*a + 4*c + b) // 5; (12*a + 4*c + b) % 8",
        "(a - 1) % 2 * 5 + 2": "(5*a + 7) % 10",
    },
    keeps=["a % 2 * 4 + b | b in [0, 3]", "a % 2 * 5 + 2"],
)
def remainder_widens(y: Expr, e: Const, g: Const, h: Const, k: Const, r: Rest, s: Rest) -> Rewrite:
    """A remainder times g plus a rest in [0, g - 1] is one remainder of a number, which may be divided elsewhere too."""
    return Rewrite(
        (y % e) * k + r * h + s,
        (y * g + r) % (e * g) * h + s,
        when=(e > 0, g > 0, k.eq(g * h), r.within(0, g - 1)),
        choose="wider_digit",
    )


@rule(
    sharing=True,
    fires={"(a + 1) // 2 - 1": "(a - 1) // 2", "(a * 7 + b) // 3 - a * 3": "(b - a * 2) // 3"},
    keeps=["(a + 1) // 2", "(a * 7 + b) // 3 - c", "(a * 7 + b) // 3 - a * 3; a * 7 + b"],
)
def summand_joins_quotient(x: Expr, t: Expr, d: Const) -> Rewrite:
    """A summand beside a quotient, for example a constant, may move into the dividend, times the divisor."""
    return Rewrite(x // d, (x + t * d) // d - t, choose="summand")


@rule(sharing=True, fires={"(a - 1) // 2; (a + 1) % 2": "(a - 1) // 2; (a - 1) % 2"}, keeps=["(a + 1) % 2"])
def remainder_takes_congruent(x: Expr, y: Expr, d: Const) -> Rewrite:
    """A remainder is that of any congruent number."""
    return Rewrite(x % d, y % d, when=(d.divides(x - y),), choose="congruent")


@rule(
    sharing=True,
    fires={"(a // 2 + b) % 5; (a + 2*b) // 6": "(a // 2 + b) % 5; (a // 2 + b) // 3"},
    keeps=["(a // 2 + b) // 3"],
)
def quotient_releases_summand(x: Expr, q: Expr, a: Const, b: Const, r: Rest) -> Rewrite:
    """A quotient by a·b is one by b of any q that equals x // a, plus r; q may be needed anyway."""
    return Rewrite((x + r * a) // (a * b), (q + r) // b, when=(b > 0, q.eq(x // a)), choose="divided_part")


@rule(
    sharing=True,
    fires={"(a % 14 + b) // 2; (a + b) // 2": "(a + b) // 2 - 7*(a // 14); (a + b) // 2"},
    keeps=["(a % 14 + b) // 2"],
)
def inner_remainder_leaves_quotient(
    x: Expr, q: Expr, o: Expr, j: Const, k: Const, m: Const, d: Const, r: Rest
) -> Rewrite:
    """A remainder inside a quotient is a difference x - m·q, from which a multiple of the divisor leaves the quotient.

    The quotients are any q that equals ``x // m``, and any o that equals the remaining quotient.
    """
    return Rewrite(
        ((x % m) * k + r) // d,
        o - q * j,
        when=(q.eq(x // m), o.eq((x * k - q * (k * m - j * d) + r) // d)),
        choose="inner_remainder",
    )
