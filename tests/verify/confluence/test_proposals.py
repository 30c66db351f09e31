"""What is stated of strategies holds of everything they propose, and decides pairs that nothing else decides."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator

import pytest

from indexproof.core.choose import STRATEGIES
from indexproof.core.condition import TRUE, Divides
from indexproof.core.expr import Expr, FloorDiv, Max, Min, Mod, integer, maximum, minimum, postorder, var
from indexproof.core.rewrite import Rule
from indexproof.rules.catalog import RULES
from indexproof.verify.confluence import Kind, decide_pair
from indexproof.verify.confluence.cases import computed, split
from indexproof.verify.confluence.ground import Ground
from indexproof.verify.confluence.instances import instances
from indexproof.verify.confluence.joining import Known, _solved, join
from indexproof.verify.confluence.overlap import Overlap, matched
from indexproof.verify.confluence.proposals import (
    SHAPES,
    SINGLE,
    Same,
    narrowed,
    proposed,
    summands_shown,
    there,
)
from indexproof.verify.confluence.unify import State

CHOOSING = [r for r in matched(RULES.rules) if r.choose]


@pytest.fixture(scope="session")
def corpus(expression_overlaps: dict[str, Overlap]) -> tuple[tuple[Ground, Expr], ...]:
    """Parts of instances of pairs, and sums of quotients and remainders, on their domains."""
    found: dict[tuple[object, Expr], tuple[Ground, Expr]] = {}
    worlds: dict[object, Ground] = {}
    for o in list(expression_overlaps.values())[4::43]:
        made = instances(o)
        for i in made[:: max(1, len(made) // 12)]:
            ground = worlds.setdefault(i.boxes, Ground(RULES.rules, dict(i.boxes)))
            for e in postorder(i.start):
                found[i.boxes, e] = ground, e
    a, b = var("a"), var("b")
    boxes = ((a, (0, 11)), (b, (0, 3)))
    ground = Ground(RULES.rules, dict(boxes))
    for d, n, w in itertools.product((-2, 1, 2, 3), (2, 3), (-1, 1, 2)):
        for x in (a, a // 2, a + b * 4):
            for q in (x // d, a // (2 * d), x % n):
                for e in (q * (d * w) + x % d * w + b, q % n * (d * w) + x % d * w, (x * n + b) // (d * n)):
                    found[boxes, e] = ground, e
    for k, m in itertools.product((-1, 0, 2), (2, 3)):
        for e in (minimum(a + k, b + m), maximum(a + k, 5), (m - 1 - a) // m, (m - 1 - a * 2 - b) % m):
            found[boxes, e] = ground, e
    return tuple(found.values())


def _cases(rule: Rule, values: dict[str, Expr]) -> Iterator[State]:
    """The forms that the statement allows and that these values have, with conditions that hold."""
    reason, forms = proposed(rule, values)
    assert not reason, (rule.name, reason, {n: str(e) for n, e in values.items()})
    for form in forms:
        for state in Same().all(form.pairs, State()):
            given = (*form.conditions, *there(rule, values))
            known = [c.substitute({v: state.of(v) for v in c.variables()}) for c in given]
            equations = [c.substitute({v: state.of(v) for v in c.variables()}) for c in state.equations]
            if all(c == TRUE for c in (*known, *equations)):
                yield state


def test_what_is_shown_as_two_summands_is_not_one(corpus: tuple[tuple[Ground, Expr], ...]) -> None:
    """No rule whose left side shows two summands rewrites one; those that show one do."""
    seen = Counter[bool]()
    for ground, e in corpus:
        if isinstance(e, (FloorDiv, Mod, Min, Max)):
            for rule in matched(RULES.rules):
                two = len(summands_shown(rule)) > 1
                seen[two] += bool(ground.results(rule, e))
    assert seen[True] == 0
    assert seen[False] > 100


@pytest.mark.parametrize("rule", CHOOSING, ids=lambda r: r.name)
def test_every_proposal_is_as_stated(rule: Rule, corpus: tuple[tuple[Ground, Expr], ...]) -> None:
    met = 0
    for ground, e in corpus:
        try:
            values = list(STRATEGIES[rule.choose](e, ground.facts))
        except ZeroDivisionError:
            continue
        if rule.choose in SINGLE:
            assert len(values) <= 1, (rule.name, str(e))
        for binding in values:
            if not ground.results(rule, e):
                continue
            met += 1
            assert any(_cases(rule, dict(binding))), (
                rule.name,
                str(e),
                {n: str(v) for n, v in binding.items()},
            )
    assert met >= 2, rule.name


def test_a_statement_that_is_too_strong_is_noticed(
    monkeypatch: pytest.MonkeyPatch, corpus: tuple[tuple[Ground, Expr], ...]
) -> None:
    """With ``d > 2`` for ``d > 1`` the test above fails."""
    from indexproof.verify.confluence import proposals

    real = SHAPES["multiples"]

    def stronger(values: object, fresh: str) -> object:
        reason, forms = real(values, fresh)  # type: ignore[arg-type]
        return reason, tuple(
            proposals.Narrowed(f.pairs, (*f.conditions, values["d"] > 2))  # type: ignore[index]
            for f in forms
        )

    monkeypatch.setattr(proposals, "SHAPES", {**SHAPES, "multiples": stronger})
    rule = next(r for r in CHOOSING if r.choose == "multiples")
    with pytest.raises(AssertionError):
        test_every_proposal_is_as_stated(rule, corpus)


# ------------------------------------------------------------------------------------------------------- contradictory
@pytest.mark.parametrize(
    "name",
    [
        # a divisor of one has no certified quotient
        "quotient_by_one / quotient_certified #1",
        # max(x, y) is no quotient
        "quotient_and_remainder_recombine / min_and_max_sum #1",
        # one summand with coefficient 1 has no multiple of the divisor
        "quotient_certified / quotient_of_quotient #1",
        # what is subtracted from the last of a block is not negative
        "complement_leaves_quotient / min_shifts at d - x - 1 #1",
        # a constant is no quotient in a sum
        "remainder_certified / quotient_and_remainder_recombine #1",
    ],
)
def test_a_strategy_that_proposes_nothing_makes_no_pair(
    name: str, expression_overlaps: dict[str, Overlap]
) -> None:
    pair = decide_pair(expression_overlaps[name], RULES.rules)
    assert pair.kind is Kind.CONTRADICTORY
    assert "propose" in pair.reason


def test_where_two_normal_forms_are_known_strategies_propose_something(
    expression_overlaps: dict[str, Overlap],
) -> None:
    """A statement that forbids what happens would show here."""
    seen = Counter[bool]()
    for name in (
        "multiple_leaves_quotient / quotient_subtracts_to_remainder at x·d + r… #2",
        "multiple_leaves_quotient / quotient_and_remainder_recombine at x·d + r… #3",
        "quotient_certified / quotient_absorbs_negated #1",
        "complement_leaves_quotient / exact_quotient_multiplies at d - x - 1 #2",
        "complement_leaves_remainder / exact_quotient_multiplies at d - x - 1 #1",
    ):
        seen[bool(narrowed(expression_overlaps[name]).overlaps)] += 1
    assert seen == {True: 5}


# ---------------------------------------------------------------------------------------------------------- instances
@pytest.mark.parametrize(
    ("name", "witness"),
    [
        ("quotient_of_remainder / common_factor_leaves_remainder at x mod m #1", "((2·a) mod 6) // 3"),
        ("quotient_absorbs_summand / quotient_absorbs_negated #1", "(a // 2 - b // 3) // 4"),
        ("quotient_absorbs_summand / quotient_of_remainder at x // a #2", "((b mod 4) // 2 + a) // 3"),
    ],
)
def test_divisors_that_are_not_one_are_tried(
    name: str, witness: str, expression_overlaps: dict[str, Overlap]
) -> None:
    pair = decide_pair(expression_overlaps[name], RULES.rules)
    assert pair.kind is Kind.NOT_JOINABLE
    assert pair.witness == witness


# ------------------------------------------------------------------------------------------------------------ joining
@pytest.mark.parametrize(
    "name",
    [
        # in each of the two cases of a block, for positive and negative divisors
        "quotient_of_digit / quotient_known at x // a #2",
        # a strategy asked twice says the same
        "min_shifts / min_shifts #1",
        # for divisors above zero and below
        "quotient_by_one / quotient_of_digit #1",
    ],
)
def test_a_pair_joins_for_all_constants(name: str, expression_overlaps: dict[str, Overlap]) -> None:
    pair = decide_pair(expression_overlaps[name], RULES.rules)
    assert pair.kind is Kind.JOINABLE, pair.reason
    assert pair.meets


@pytest.mark.parametrize(
    ("name", "witness"),
    [
        # d′ = 1 or d′ = -1: 2·a and a are 3·a, no multiple of 2
        ("inner_remainder_vanishes / remainder_by_one at x mod m #3", "(2·(a mod 1) + a) mod 2"),
    ],
)
def test_where_summands_combine_symbols_alone_do_not_decide(
    name: str, witness: str, expression_overlaps: dict[str, Overlap]
) -> None:
    """Symbols join by a step that the strategy does not propose where summands of an instance become one."""
    o = expression_overlaps[name]
    joined = [join(case, matched(RULES.rules)) for case in narrowed(o).overlaps]
    assert any(j is not None and j.chosen for j in joined)
    pair = decide_pair(o, RULES.rules)
    assert pair.kind is Kind.NOT_JOINABLE
    assert pair.witness == witness


def test_steps_of_cases_keep_the_value(expression_overlaps: dict[str, Overlap]) -> None:
    """Every step of a derivation is compared at points where the conditions of its case hold."""
    compared = 0
    for name in (
        "quotient_of_digit / quotient_known at x // a #2",
        "quotient_absorbs_digit / quotient_and_remainder_recombine at (x // m)·v + x // a mod n + r… #1",
        "remainder_subtracts_to_quotient / remainder_certified at x mod d #2",
    ):
        for o in narrowed(expression_overlaps[name]).overlaps:
            found = join(o, matched(RULES.rules))
            assert found is not None, name
            facts, *ends = _solved(o)
            cases = split(facts, tuple(ends))
            assert len(cases) == 1 + len(found.others)
            for (given, sides), j in zip(cases, (found, *found.others), strict=True):
                known = Known(given, tuple(v for e in sides for v in e.variables()))
                compared += len(known.points) * len((*j.left, *j.right))
                for e, steps in zip(sides, (j.left, j.right), strict=True):
                    assert not known.refutes(e.eq(j.meets)), name
                    for step in steps:
                        assert not known.refutes(step.before.eq(step.after)), (name, str(step))
    assert compared > 200


def test_constants_are_computed_as_far_as_their_factors_say() -> None:
    a, b, k = (var(n, "const") for n in "abk")
    assert computed((a * b) // a) is b
    assert computed((a * b) % a) is integer(0)
    assert computed((k * a) % (a * b)) is computed(k % b * a)
    assert computed((a * b + k) // a) is computed(k // a + b)
    assert computed((k % b) // b) is integer(0)
    for x, y, z in itertools.product((-3, -1, 2, 4), (-2, 1, 3), (-5, 0, 7)):
        at = {a: x, b: y, k: z}
        for e in (
            (a * b + k) // a,
            (k * a) % (a * b),
            (k * a + a * b) // (a * b),
            (k % b) // b,
            (k % b * a) % (a * b),
        ):
            assert computed(e).evaluate(at) == e.evaluate(at), (str(e), at)


def test_a_divisor_is_written_into_what_it_divides() -> None:
    g, d = var("g", "const"), var("d", "const")
    x = var("x", "expr")
    ((given, (e,)),) = split((d > 0, g > 1, Divides(g, d)), (x // (d // g),))
    assert isinstance(e, FloorDiv)
    assert g not in e.variables()
    assert any(c == (e.b > 0) for c in given)


def test_alternatives_are_cases() -> None:
    d, x = var("d", "const"), var("x", "expr")
    cases = split((d.eq(1) | d.eq(-1),), (x % d,))
    assert [str(sides[0]) for _, sides in cases] == ["x mod 1", "x mod (-1)"]
