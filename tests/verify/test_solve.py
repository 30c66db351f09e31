"""Single strategies of the portfolio: each transforms a goal into an equivalent one."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest
import z3

from dev.stability.stability import mutant, question_of
from indexproof.core.condition import FALSE, TRUE, Condition, all_of, any_of, divides, negate
from indexproof.core.expr import lift, var
from indexproof.core.map_reader import read_any_map
from indexproof.core.parametric import ParametricMap
from indexproof.reports.selection import catalogue
from indexproof.verify import solve
from indexproof.verify.budget import MAX_RLIMIT, Budget
from indexproof.verify.cache import question_digest
from indexproof.verify.encode import Encoder
from indexproof.verify.obligation import Obligation, Way
from indexproof.verify.obligations import Needed
from indexproof.verify.parametric import condition_on_sizes
from indexproof.verify.preprocess import mentioned, substituted
from indexproof.verify.refute import machine_point, minimised
from indexproof.verify.run import examine
from indexproof.verify.size_claims import SizeQuestion
from indexproof.verify.solve import decide
from indexproof.verify.trust.disagreement import Disagreement
from indexproof.verify.trust.solvers import available
from indexproof.verify.verdict import Status

x, y, d, e = var("x"), var("y"), var("d"), var("e")


def test_mutants_of_a_bound_of_digits_cost_what_it_costs() -> None:
    """Mutants of a bound on digits cost about as much as the bound itself."""
    name = "grid-order rank 1, {0} over every axis: output to input in bounds"
    q = question_of(next(o for o in catalogue(max_rank=1) if o.name == name))
    found = [decide(q), *(decide(mutant(q, n)) for n in (1, 3))]
    assert {v.status for v in found} == {Status.PROVED}
    assert {v.strategy for v in found} == {"linear"}
    assert max(v.resources for v in found) < 5_000


CHAIN = Obligation(
    "test",
    "the last digit",
    "sound",
    (*(0 <= v for v in (d, e, y, var("f"))), x.within(0, var("n") - 1), var("n") <= d * e * var("f") * y),
    x // d // e // var("f") <= y - 1,
)


def test_a_number_bounds_its_digits() -> None:
    v = decide(CHAIN)
    assert (v.status, v.strategy, v.resources) == (Status.PROVED, "linear", 0)


@pytest.mark.parametrize("hypotheses", [(d.eq(0),), (d.eq(e), e.eq(0)), ((x + d).eq(x), y.eq(e))])
def test_hypotheses_that_make_a_divisor_zero_hold_nowhere(hypotheses: tuple[Condition, ...]) -> None:
    claimed = Obligation("test", "division by zero", "sound", hypotheses, (y // d).eq(x))
    assert decide(claimed).status is Status.PROVED
    some = replace(claimed, hypotheses=(*hypotheses, d.ne(0)), question="exists", goal=FALSE)
    assert decide(some).status is Status.VACUOUS


def test_a_wrong_proof_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    false = Obligation("test", "one short", "sound", (0 <= d, x <= d * y + d), x // d <= y)
    assert decide(false).strategy == "small points"
    monkeypatch.setitem(solve._STRATEGIES, "linear", lambda *_: (True, 0, ()))
    solve._attempt.cache_clear()
    try:
        with pytest.raises(Disagreement):
            decide(false)
    finally:
        solve._attempt.cache_clear()


@pytest.mark.skipif(not available(), reason="cvc5 is not installed")
def test_what_once_was_open_is_confirmed() -> None:
    """Claims that once needed z3's nonlinear engine, a step of a rule and bounds on a grid, are confirmed by cvc5."""
    todo = catalogue(["remainders_merge"])
    todo += [o for o in catalogue(["grid-order"], max_rank=1) if "every axis: output to input in" in o.name]
    assert len(todo) > 20
    for o in todo:
        if o.gate:
            v = examine(o, Budget(), confirm=True)
            assert v.proved, o.name
            assert v.strategy == "identity" or (v.opinion and v.opinion.confirms), o.name


# ---------------------------------------------------------------------------------------------- machine integers
OVERFLOWS = [
    o
    for o in catalogue(["multiple_leaves_quotient", "remainder_certified", "quotient_and_remainder_recombine"])
    if o.width
]
SAFE = [o for o in catalogue(["quotient_subtracts_to_remainder", "min_and_max_sum"]) if o.width]


@pytest.mark.parametrize("o", OVERFLOWS, ids=lambda o: o.name)
def test_an_overflow_at_a_limit_is_found(o: Obligation) -> None:
    """Overflows without an example near zero are found without a solver."""
    found = decide(o)
    assert (found.status, found.strategy, found.resources) == (Status.REFUTED, "machine limits", 0)
    assert found.witness is not None
    at = dict(found.witness)
    assert all(h.evaluate(at) for h in o.hypotheses)
    assert not o.goal.evaluate(at)


@pytest.mark.parametrize("o", SAFE, ids=lambda o: o.name)
def test_no_overflow_is_found_where_there_is_none(o: Obligation) -> None:
    assert machine_point(o.hypotheses, o.goal, o.width) is None
    assert decide(o).proved


def test_limits_are_equations() -> None:
    hypotheses = (divides(d, x - y), x.within(10**9, 10**9 + 5), d.within(2, 9))
    found = machine_point(hypotheses, (x // d < 10**9 // 5) & (y < 5 * 10**8), 32)
    assert found is not None
    assert all(h.evaluate(found) for h in hypotheses)
    assert machine_point(hypotheses, x >= 10**9, 32) is None


def test_a_large_budget_is_not_a_small_one() -> None:
    """Large budgets are clamped, because z3 takes its limit modulo 2³²."""
    assert Budget().scaled(10).proof == 200_000_000
    for factor in (2**32 / Budget().proof, 1000, 1e300, float("inf")):
        assert Budget().scaled(factor).proof == MAX_RLIMIT

    def answer(budget: int) -> str:
        encoder = Encoder(z3.Context())
        a, b, c = (z3.Int(n, encoder.context) for n in "abc")
        return str(encoder.solver([a * b + c == 7, a > 2, b > 2, a * a < 20], budget).check())

    assert [answer(n) for n in (0, 50, 2**31, 2**32 + 50)] == ["unknown", "unknown", "sat", "sat"]


# ------------------------------------------------------------------------------------------------------------ findings
def test_every_condition_of_the_rules_is_needed_or_is_not() -> None:
    """Whether a condition is needed is decided for every rule, by the steps of the rule's proof if necessary."""
    found = [o for o in catalogue(max_rank=0) if isinstance(o, Needed)]
    open_ = [o for o in found if o.name in _HARD]
    assert len(open_) == len(_HARD)
    for o in open_:
        v = decide(o)
        assert v.status is Status.VACUOUS, o.name
        assert v.strategy
    # a condition that the rule needs is still found to be needed
    kept = next(o for o in found if o.name == "remainders_merge: needs w ∈ [0, k - 1]")
    assert decide(kept).status is Status.PROVED


_HARD = (
    "residue_is_rescaled: needs 0 < m",
    "remainders_merge: needs 0 < m",
    "remainders_merge: needs 0 < n",
    "remainder_tightens_bounds: needs 0 < m",
)


@pytest.mark.parametrize("wrong", ["premise", "step", "target", "trivial", "one of two", "hypothesis"])
def test_a_way_with_a_gap_shows_nothing(monkeypatch: pytest.MonkeyPatch, wrong: str) -> None:
    """A step that does not follow, or follows from a missing hypothesis, leaves a finding undecided."""
    # 10^9 is not a small point, and the solver gives no model
    left, right = (d * x).eq(d * y), x.eq(y)
    there, back = Way(left, ((d * (x - y)).eq(0),), right), Way(right, (), left)
    goal = all_of((any_of((negate(left), right)), any_of((negate(right), left))))
    hypotheses = [d > 10**9]
    ways = (there, back)
    if wrong == "premise":
        ways = (there._replace(premise=TRUE), back)
    elif wrong == "step":
        ways = (there._replace(steps=(x.eq(y + d),)), back)
    elif wrong == "target":
        ways = (there._replace(target=x.eq(y + 1)), back)
    elif wrong == "trivial":
        ways, hypotheses = (there._replace(steps=(), target=(d * x).eq(d * y)), back), []
    elif wrong == "one of two":
        ways, hypotheses = (back,), []
    else:
        hypotheses = []
    monkeypatch.setattr(solve, "model", lambda *_: (None, "unknown", 0))
    monkeypatch.setattr(solve, "small_point", lambda *_: None)
    monkeypatch.setattr(solve, "bounded_point", lambda *_: None)
    o = Needed("test", "claim", "needs", tuple(hypotheses), goal, question="exists", gate=False, proofs=(there, back))
    brief = Budget().scaled(0.05)
    assert decide(replace(o, proofs=ways), brief).status is Status.UNDECIDED
    if hypotheses:
        assert decide(o, brief).status is Status.VACUOUS
        # the steps are part of the question, so that a cached answer with other steps is not used
        assert question_digest(o) != question_digest(replace(o, proofs=ways))


def test_substitution_is_shared_and_the_same() -> None:
    todo = [o for o in catalogue(max_rank=1) if o.question == "valid"][::25]
    for o in todo:
        conditions = (*o.hypotheses, o.goal)
        variables = o.formula_variables()
        for mapping in (
            {v: var(f"w{k}", v.kind) for k, v in enumerate(reversed(variables))},
            dict.fromkeys(variables[:2], variables[-1] + 2 if variables else 0),
            dict.fromkeys(variables[1:3], lift(3)),
        ):
            assert substituted(conditions, mapping) == [c.substitute(mapping) for c in conditions]
        for c in conditions:
            assert mentioned(c) == set(c.variables())


def test_a_large_counterexample_is_made_small_in_few_steps() -> None:
    """A counterexample that no solver minimises moves towards zero in large steps, not by ones."""
    u, v = var("u"), var("v")
    found = minimised({u: 2**31 - 5, v: -(2**40)}, (u >= 10**9 + 7, v <= -(3 * 10**9)), u < 0, 1)
    assert found == {u: 10**9 + 7, v: -3 * 10**9}
    pair = minimised({u: 2**31 - 5, v: 2**31 - 5}, (u.eq(v), u >= 10**9 + 7), u < 0, 1)
    assert pair == {u: 10**9 + 7, v: 10**9 + 7}


# ----------------- The weakest condition on sizes: at every small size the property holds where the condition
ROWS = "(d0, d1){n, k, s} -> (d0 * s + d1), domain: d0 in [0, n - 1], d1 in [0, k - 1], n >= 1, k >= 1, s >= 0"
TILES = "(d0, d1){n, k} -> (d0 * k + d1), domain: d0 in [0, n floordiv k - 1], d1 in [0, k - 1], n >= 1, k >= 1"


@pytest.mark.parametrize(("name", "text", "given", "condition"), [
    ("injective", ROWS, {}, "n ≤ 1 or k ≤ s"),
    ("monotone", ROWS + ", n >= 2", {}, "k - 1 ≤ s"),
    ("covers", TILES, {"shape": ["n"]}, "k ∣ n"),
    ("in_bounds", TILES.replace("n floordiv k", "n ceildiv k"), {"shape": ["n"]}, "k ∣ n"),
    ("aligned", "(d0){k} -> (d0 * k), domain: d0 in [0, 9], k >= 0", {"by": 4}, "4 ∣ k"),
    ("contiguous", TILES.replace("n floordiv k", "n"), {"along": "d1", "width": 4}, "4 ∣ k"),
    ("injective", "(d0){n, k} -> (d0 mod k), domain: d0 in [0, n - 1], k >= 1", {}, "n ≤ k"),
])  # fmt: skip
def test_the_condition_is_exact(name: str, text: str, given: dict[str, object], condition: str) -> None:
    m = read_any_map(text)
    assert isinstance(m, ParametricMap)
    found = condition_on_sizes(name, [m], **given)
    assert found is not None
    assert str(found) == f"{condition}, and only then"
    question = SizeQuestion([m], given)
    for values in itertools.islice(question.values(), 60):
        shape = [int(values["n"])] if "shape" in given else None
        there = SizeQuestion([m], {**given, "shape": shape} if shape else given).concrete(name, values)
        assert there.proved == found.condition.evaluate(values), values


def test_nothing_is_said_where_there_is_no_condition() -> None:
    never = read_any_map("(d0){n} -> (d0 * 0), domain: d0 in [0, n + 1], n >= 1")
    assert condition_on_sizes("injective", [never]) is None
