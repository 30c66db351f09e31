"""The claims that are examined under faults, and whether they are true."""

from __future__ import annotations

from collections.abc import Sequence

from indexproof.core.condition import Condition
from indexproof.core.expr import Expr, var
from indexproof.verify.budget import Budget
from indexproof.verify.obligation import Obligation
from indexproof.verify.trust import solvers

__all__ = ["BUDGET", "DIGITS", "DIVIDENDS", "FALSE_CLAIMS", "TRUE_CLAIMS", "bank", "c", "d", "obligations", "x"]

#: The budget is small, since the claims and their proofs are.
BUDGET = Budget(proof=60_000, model=60_000, quick=20_000, linear=7_500)

a, b, c, d, n, x, y = (var(name) for name in "abcdnxy")

_Claim = tuple[str, tuple[Condition, ...], Condition]
#: Claims that hold for all integers.
TRUE_CLAIMS: tuple[_Claim, ...] = (
    ("product of naturals", (x >= 0, y >= 0), x * y >= 0),
    ("remainder below", (d > 0,), x % d < d),
    ("remainder above", (d > 0,), x % d >= 0),
    ("negative remainder", (d < 0,), x % d <= 0),
    ("negative remainder below", (d < 0,), d < x % d),
    ("division splits", (d.ne(0),), x.eq(d * (x // d) + x % d)),
    ("quotient of multiple", (d.ne(0),), (x * d // d).eq(x)),
    ("carry", (d > 0,), ((x * d + y) // d).eq(x + y // d)),
    ("small dividend", (0 <= x, x < d), (x // d).eq(0)),
    ("quotient shrinks", (x >= 0, d > 0), x // d <= x),
    ("nested quotient", (a > 0, b > 0), (x // a // b).eq(x // (a * b))),
    ("divisible", (d > 0, d.divides(x)), (x % d).eq(0)),
    ("quotient is monotone", (d > 0, x <= y), x // d <= y // d),
    ("digits", (x.within(0, a - 1), y.within(0, b - 1)), (x * b + y).within(0, a * b - 1)),
    ("equal multiples", ((x * (d + n)).eq(y * (d + n)), (d + n).ne(0)), x.eq(y)),
    ("digits divided again", (d > 0, c > 0), ((x // d * d + x % d) // c).eq(x // c)),
    ("dividends said to be equal", (c > 0, (x + y).eq(a * d + b)), ((x + y) // c).eq((a * d + b) // c)),
)
#: Sums of digits with facts about them, and a number that differs from the sum.
DIGITS: tuple[tuple[str, tuple[Condition, ...], Expr, Expr], ...] = (
    ("digits of another weight", (d > 0, n > 0), x // d * n + x % d, x),
    ("digits of two numbers", (), x // 8 * 8 + y % 8, x),
    ("digits without the highest", (d > 0, n > 0), x // d % n * d + x % d, x),
    ("digits with a sign", (), x // 8 * 8 - x % 8, x),
)
#: Dividends with facts about them, and an expression that differs from the dividend.
DIVIDENDS: tuple[tuple[str, tuple[Condition, ...], Expr, Expr], ...] = (
    ("a dividend that is only bounded", (x + y <= a * d + b,), x + y, a * d + b),
    ("dividends that are one apart", ((x + y).eq(a * d + b + 1),), x + y, a * d + b),
    ("dividends with opposite signs", ((x + y).eq(-(a * d) - b),), x + y, a * d + b),
    ("dividends of which other sums are equal", ((x + n).eq(a * d + b),), x + y, a * d + b),
)
#: False claims with a counterexample near zero.
FALSE_CLAIMS: tuple[_Claim, ...] = (
    ("product of naturals is positive", (x >= 0, y >= 0), x * y > 0),
    ("remainder is below less one", (d > 0,), x % d < d - 1),
    ("remainder is positive", (d > 0,), x % d > 0),
    ("remainder of any sign", (d.ne(0),), x % d >= 0),
    ("remainder of any sign below", (d.ne(0),), x % d < d),
    ("quotient of a negative divisor is negative", (x >= 0, d < 0), x // d < 0),
    ("truncation", (x < 0, d > 0), (x // d).eq(-(-x // d))),
    ("carry without a sign", (d > 1,), ((x * d + y) // d).eq(x)),
    ("small dividend, one too large", (0 <= x, x <= d, d > 0), (x // d).eq(0)),
    ("quotient shrinks always", (d > 0,), x // d <= x),
    ("nested quotient of any sign", (b.ne(0),), (x // 2 // b).eq(x // (2 * b))),
    ("divisible by chance", (d > 1,), (x % d).eq(0)),
    ("monotone for all divisors", (d.ne(0), x <= y), x // d <= y // d),
    ("digits without bounds", (x.within(0, a - 1), y.within(0, b)), (x * b + y).within(0, a * b - 1)),
    ("a linear slip", (x >= 1, y >= 1), x + y >= 3),
    ("multiples one apart", ((x * d).eq(y * d + d), d.ne(0)), x.eq(y)),
    ("an equation", ((x + y).eq(5),), x <= 5),
    ("bound of a quotient, one too far", (d > 0, x <= d * y + d), x // d <= y),
    ("quotient as a bound, one too near", (d > 0, d * y - d + 1 <= x), y <= x // d),
    ("bound of a quotient of any sign", (d.ne(0), x <= d * y + d - 1), x // d <= y),
    ("quotient of any sign as a bound", (d.ne(0), d * y <= x), y <= x // d),
    *((name, (*known, c > 0), (one // c).eq(other // c)) for name, known, one, other in (*DIGITS, *DIVIDENDS)),
)
#: False claims whose counterexamples are outside of the tables of small points.
_FAR_CLAIMS: tuple[_Claim, ...] = (
    ("far bound", (x >= 0,), x <= 1_000_003),
    ("far remainder", (x.within(0, 5003),), (x // 5003).eq(0)),
    ("far quotient", (x >= 0, x % 1009 <= 1007), (x // 1009).eq((x + 1) // 1009) & (x <= 99_999)),
    ("far sum", (x >= 0, y >= 0), x + 3 * y <= 77_777),
    ("far product", (n >= 1, x.within(0, n)), x * 5 <= n * 4 + 999),
    ("far quotient of a constant", (x >= 0,), x // 7 <= 70_000),
    ("far multiple", (x >= 0, (x % 97).eq(0)), x <= 123_456),
    ("far extremum", (x >= 0,), (x + 7) // 8 <= 8191),
)


def obligations(claims: Sequence[_Claim], kind: str) -> list[Obligation]:
    """Return the obligations for claims."""
    return [Obligation("faults", name, kind, hypotheses, goal) for name, hypotheses, goal in claims]


def bank() -> list[tuple[Obligation, bool]]:
    """Return claims, each with its truth."""
    found = [(o, True) for o in obligations(TRUE_CLAIMS, "true")]
    found += [(o, False) for o in obligations(FALSE_CLAIMS, "false")]
    if solvers.available():
        found += [(o, False) for o in obligations(_FAR_CLAIMS, "false far away")]
    return found
