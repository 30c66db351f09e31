"""What is stated of strategies for constraints holds of everything they propose: the twin of test_proposals."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest

from indexproof.core.condition import Condition
from indexproof.core.constraint_choose import CONSTRAINT_STRATEGIES
from indexproof.core.constraint_matcher import applications, ends_of
from indexproof.core.constraint_order import Bound
from indexproof.core.expr import Expr, FloorDiv, Sum, integer, lift, maximum, minimum, var
from indexproof.core.rewrite import ConstraintRule
from indexproof.rules.catalog import RULES
from indexproof.verify.confluence import constraint_posed
from indexproof.verify.confluence.constraint_joining import SINGLE
from indexproof.verify.confluence.constraint_posed import Ranges
from indexproof.verify.confluence.ground import Exact

A, B = var("a"), var("b")
BOXES = (((0, 5), (0, 3)), ((-3, 3), (0, 1)), ((1, 4), (-1, 2)))


@cache
def expressions() -> tuple[Expr, ...]:
    """Sums, multiples, divisions and extrema, with and without constants, of both signs."""
    atoms = (
        A,
        B,
        A // 2,
        (A + B) // 3,
        A % 3,
        (A + B) % 4,
        (A * 2 + B) % 3,
        minimum(A, B),
        maximum(A + B, A * 2),
    )
    found: dict[Expr, None] = {}
    for t in atoms:
        for k, c in itertools.product((1, -1, 2, -3), (0, 1, -2)):
            found[t * k + c] = None
    for t, u in itertools.combinations(atoms, 2):
        for k, j in ((1, 1), (2, -1), (-2, -4), (-1, -1), (3, 6)):
            found[t * k + u * j] = None
    for x in (A + B + 1, A * 2, A * 3 + 2, -A, A - B, A // 2 + B):
        for m in (2, 3, 4, 5, -2):
            found[x % m] = None
            found[x // m] = None
    for x, y in itertools.combinations((*atoms, A + 1, A * 2, B + 3, A - B, 3 - A, integer(2)), 2):
        found[minimum(x, y)] = None
        found[maximum(x, y)] = None
    found[minimum(A, B, 3 - A)] = None
    found[maximum(A + B, A * 2, 3 - A)] = None
    return tuple(e for e in found if e.variables())


def bounds(facts: Exact, e: Expr, turn: int) -> list[tuple[int, int]]:
    """Some around what the expression may be; of remainders also one value."""
    of = facts.range(e).interval
    lo, hi = int(of.lo), int(of.hi)
    mid = (lo + hi) // 2
    each = [(lo - 1, mid), (mid, hi + 1), (lo, lo), (lo, hi), (mid, mid), (lo + 1, hi - 1), (hi + 1, hi + 2)]
    return [each[turn % len(each)], each[(turn + 3) % len(each)]]


def constraints_for(rule: ConstraintRule, facts: Exact) -> Iterator[tuple[Bound, ...]]:
    """Constraints of the kind that the rule wants to see, and others."""
    for turn, e in enumerate(expressions()):
        for end in bounds(facts, e, turn):
            if len(rule.left) == 1:
                yield ((e, *end),)
                continue
            parts: list[Expr] = [e, *e.children]
            for t in e.children:
                parts += t.children
            if rule.choose in ("common_multiple", "greatest_common_divisor") or not rule.choose:
                parts += [c % m for c in e.children for m in (2, 6)]
            for other in dict.fromkeys(p for p in parts if p.variables()):
                for its in bounds(facts, other, turn):
                    yield (e, *end), (other, *its)
                    yield (other, *its), (e, *end)


def _holds(c: Condition, facts: Exact, at: dict[Any, Expr]) -> bool:
    """Whether a condition does, where symbols stand for what is known."""
    return facts.holds(c.substitute(at))


def _as_stated(rule: ConstraintRule, values: dict[str, Expr], facts: Exact) -> None:
    """That the statement allows these values, and that what it says of ranges is true."""
    ranges = Ranges(frozenset())
    what = (rule.name, {n: str(e) for n, e in values.items()})
    never, conditions, chosen = constraint_posed.strategy_says(rule, values, ranges)
    assert not never, (*what, never)
    at: dict[Any, Expr] = {}
    for e, lo, hi in ranges.symbols():
        of = facts.range(e).interval
        at[lo], at[hi] = integer(int(of.lo)), integer(int(of.hi))
    # a variable of a domain has no constant
    at |= {var(f"{v}∘", "const"): integer(0) for v in (A, B)}
    for c in (*conditions, *ranges.facts):
        assert _holds(c, facts, at), (*what, str(c))
    for name, e in chosen.items():
        # a rule need not have all of them
        assert e.substitute(at) is values.get(name, e.substitute(at)), (*what, name, str(e))
    alone, several = constraint_posed.shown(rule, values)
    assert all(not isinstance(e, Sum) for e in alone), what
    assert all(isinstance(e, Sum) for e in several), what


def checked(rule: ConstraintRule) -> int:
    """How many proposals with which the rule applies were compared with the statement."""
    met = 0
    for box in BOXES:
        facts = Exact(dict(zip((A, B), box, strict=True)))
        ends = ends_of(facts)
        for constraints in constraints_for(rule, facts):
            if rule.choose:
                proposals = list(CONSTRAINT_STRATEGIES[rule.choose](constraints, ends))
                if rule.choose in SINGLE:
                    assert len(proposals) <= 1, (rule.name, str(constraints))
                if not proposals:
                    continue
            for _, values in applications(rule, constraints, facts):
                met += 1
                _as_stated(rule, {v.name: lift(e) for v, e in values.items()}, facts)
    return met


@cache
def compared() -> dict[str, int]:
    """How many proposals of each rule are as stated."""
    return {rule.name: checked(rule) for rule in RULES.constraints}


def test_every_proposal_is_as_stated() -> None:
    found = compared()
    assert all(n >= 20 for n in found.values()), found
    assert sum(found.values()) > 5_000


def _rule(name: str) -> ConstraintRule:
    return next(r for r in RULES.constraints if r.name == name)


@pytest.mark.parametrize(
    ("name", "more"),
    [
        # that a factor exceeds two, that only sums have one, that the other summands are never negative
        ("positive_factor_divides_bounds", lambda values, ranges: [values["k"] > 2]),
        ("negative_factor_exchanges_bounds", lambda values, ranges: [values["k"] < -1]),
        ("sum_bounds_summand", lambda values, ranges: [ranges.of(values["r"])[0] >= 0]),
        ("minimum_from_below", lambda values, ranges: [ranges.of(values["x"])[1] <= values["hi"]]),
    ],
    ids=lambda x: x if isinstance(x, str) else "",
)
def test_a_statement_that_is_too_strong_is_noticed(
    monkeypatch: pytest.MonkeyPatch, name: str, more: Any
) -> None:
    real = constraint_posed.strategy_says

    def stronger(rule: ConstraintRule, values: Any, ranges: Ranges) -> Any:
        never, conditions, chosen = real(rule, values, ranges)
        return never, [*conditions, *more(values, ranges)], chosen

    monkeypatch.setattr(constraint_posed, "strategy_says", stronger)
    with pytest.raises(AssertionError):
        checked(_rule(name))


def test_a_strategy_that_is_said_to_propose_nothing_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(constraint_posed, "_summand", lambda e, ranges: ("none is", []))
    with pytest.raises(AssertionError):
        checked(_rule("sum_bounds_dividend"))


def test_a_summand_by_itself_has_no_factor(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is taken apart is no summand; if it were said to be one, that would show."""
    monkeypatch.setattr(constraint_posed, "shown", lambda rule, values: ([values["x"] * values["k"]], []))
    with pytest.raises(AssertionError):
        checked(_rule("positive_factor_divides_bounds"))


def test_a_wrong_range_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The ends of a quotient are those of its dividend, divided."""
    real = Ranges._atom

    def wrong(self: Ranges, t: Expr) -> tuple[Expr, Expr]:
        lo, hi = real(self, t)
        return (lo, hi + 1) if isinstance(t, FloorDiv) else (lo, hi)

    monkeypatch.setattr(Ranges, "_atom", wrong)
    with pytest.raises(AssertionError):
        checked(_rule("bounds_meet_range"))
