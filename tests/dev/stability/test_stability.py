"""Stability: mutants are equivalent questions, and flips are found."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from itertools import product

import pytest
import z3

from dev.stability import stability as module
from dev.stability.stability import (
    Record,
    examine_stability,
    examined,
    mutant,
    question_of,
    renaming,
    stability,
    stability_status,
    stability_text,
)
from indexproof.core.condition import Compare
from indexproof.core.expr import lift, maximum, var
from indexproof.reports.selection import catalogue
from indexproof.verify import encode, solve
from indexproof.verify.budget import Budget
from indexproof.verify.lemmas import LemmaObligation
from indexproof.verify.obligation import Obligation
from indexproof.verify.preprocess import Part
from indexproof.verify.refute import confirmed
from indexproof.verify.rulefiles import StatedRule, judge, parse_rules, stated_rule_obligations
from indexproof.verify.rulefiles.obligations import StatedObligation
from indexproof.verify.verdict import Status, Verdict

x, y, d = var("x"), var("y"), var("d")
CLAIM = Obligation(
    "test",
    "claim",
    "sound",
    (d > 0, x.within(0, d - 1), d.divides(y), (x <= 3) | (y < 7)),
    ((x + y) // d).eq(y // d) & (maximum(x, 0) <= d - 1),
)


def test_mutants_are_different() -> None:
    assert len({(m.hypotheses, m.goal) for m in (mutant(CLAIM, n) for n in range(40))}) > 20


def test_every_kind_of_condition_keeps_its_meaning() -> None:
    todo = [o for o in catalogue(max_rank=1) if o.question == "valid" and not o.width][::40]
    dice = random.Random(1)
    for o in todo:
        for n in range(4):
            m, names = mutant(o, n), renaming(o, n)
            assert m == mutant(o, n)
            for _ in range(20):
                point = {v: dice.randint(-2, 5) for v in names}
                moved = {names[v]: k for v, k in point.items()}
                assert confirmed(point, o.hypotheses, o.goal) == confirmed(moved, m.hypotheses, m.goal)


RULES = """
semantics trunc
integers 8 bits undefined
int x, y, z
const c, d
bool p
wrong: (x + y) + c -> x + (y + c)
right: select(p and x < y, min(x, y), min(y, x)) -> min(x, y) if p or x != y, x <= y
semantics floor
integers unbounded
int x
const c, d
nested: (x / c) / d -> x / fold(c * d) if d > 0
again: (x / c) / d -> x / fold(c * d) if d > 0
never: x + c -> x if c > 0, c < 0
"""


def outcomes(r: StatedRule, values: list[int]) -> Counter[str]:
    """Count the outcomes of a rule over all assignments of the values to its variables."""
    axes = [(False, True) if k.sort == "bool" else values for k in r.variables.values()]
    return Counter(judge(r, dict(zip(r.variables, point, strict=True))) for point in product(*axes))


def test_mutants_of_a_rule_of_a_rule_file_say_the_same() -> None:
    for r in parse_rules(RULES, "test"):
        (o, *_) = stated_rule_obligations(r)
        seen = set()
        dice = random.Random(r.name)
        for n in range(20):
            m = mutant(o, n)
            assert isinstance(m, StatedObligation)
            assert m == mutant(o, n)
            seen.add(m.source)
            # over all points of a cube the counts do not depend on the order of the variables
            values = [*(dice.randint(-128, 127) for _ in range(2)), dice.randint(-3, 3)]
            assert outcomes(m.rule, values) == outcomes(r, values)
        assert len(seen) > 5


def test_rules_of_rule_files_are_examined() -> None:
    asked = [o for r in parse_rules(RULES, "test") for o in stated_rule_obligations(r)]
    assert [(r.name, r.status, r.stable) for r in stability(examined(asked), mutants=6)] == [
        ("wrong: sound", Status.REFUTED, True),
        ("right: sound", Status.PROVED, True),
        ("nested: sound", Status.PROVED, True),
        ("again: sound", Status.PROVED, True),
        ("never: sound", Status.VACUOUS, True),
    ]


def test_a_flip_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def moody(o: Obligation, budget: Budget) -> Verdict:
        lucky = o is CLAIM or "<" in str(o.hypotheses[0])
        return Verdict(Status.PROVED if lucky else Status.UNDECIDED, resources=len(str(o.goal)))

    monkeypatch.setattr(module, "decide", moody)
    r = examine_stability(CLAIM, 30, Budget())
    assert not r.stable
    assert r.flips
    text = "\n".join(stability_text([r], 1, 30, 1.0))
    assert "UNSTABLE  claim: sound" in text
    assert f"number {r.flips[0][0]}: UNDECIDED" in text
    assert (stability_status([r], 1), stability_status([], 1), stability_status([], 0)) == (1, 2, 2)


@pytest.mark.parametrize("depends_on", ["names", "shape", "seed"])
def test_an_encoding_that_depends_on_luck_is_found(monkeypatch: pytest.MonkeyPatch, depends_on: str) -> None:
    """Flips are found with strategies that work only for some names, some forms of a condition, or some seeds."""

    def lucky(asked: Part, budget: Budget) -> tuple[bool, int, tuple[()]]:
        works = {
            "names": [h.variables() for h in asked.all if len(h.variables()) == 1] == [(var("v2"),)],
            "shape": any(isinstance(h, Compare) and h.op == "<" for h in asked.all),
            "seed": encode.SEED % 5 != 3,
        }
        return works[depends_on], 1, ()

    monkeypatch.setattr(solve, "_STRATEGIES", dict.fromkeys(solve._STRATEGIES, lucky))
    monkeypatch.setattr(solve, "_unsat", lambda *_: (False, 0, ()))
    monkeypatch.setattr(solve, "model", lambda *_: (None, "unknown", 0))
    claim = Obligation("test", "claim", "sound", (lift(0) <= y, x <= d, y < d), (x + y).ne(2 * d))
    r = examine_stability(claim, 20, Budget())
    assert r.status is Status.PROVED
    assert 0 < len(r.flips) < 20
    assert {s for _, s in r.flips} == {"UNDECIDED"}
    # the results of earlier mutants do not depend on the number of mutants
    assert examine_stability(claim, 7, Budget()).flips == tuple(f for f in r.flips if f[0] <= 7)


@pytest.mark.parametrize("claim", ["linear", "witness", "lemma"])
def test_seeds_reach_every_solver(monkeypatch: pytest.MonkeyPatch, claim: str) -> None:
    given: list[int] = []

    class Watched:
        def set(self, option: str, value: int) -> None:
            if option == "random_seed":
                given.append(value)
            super().set(option, value)  # type: ignore[misc]

    for of in ("Solver", "SimpleSolver"):
        made = getattr(z3, of)
        # SimpleSolver is a function
        kind = made if isinstance(made, type) else type(made(ctx=z3.Context()))
        seen = type(of, (Watched, kind), {})
        monkeypatch.setattr(
            z3, of, seen if made is kind else lambda ctx, make=made, cls=seen: cls(make(ctx=ctx).solver, ctx)
        )
    o = Obligation("test", "claim", "sound", (d > 0, x >= 0, x * d <= y), (x // 3) * d <= y)
    if claim == "lemma":
        o = next(o for o in catalogue(max_rank=0) if isinstance(o, LemmaObligation) and o.gate)
    elif claim == "witness":
        monkeypatch.setattr(solve, "_QUICK", ())
        monkeypatch.setattr(solve, "_PORTFOLIO", ("witness",))
    r = examine_stability(o, 3, Budget())
    assert r.stable
    assert r.status is Status.PROVED
    assert set(given) == {0, 1, 2, 3}
    assert encode.SEED == 0, "the seed is given back"


def test_mutants_of_a_lemma_are_decided_as_the_lemma_is() -> None:
    lemmas = [o for o in examined(catalogue(max_rank=0)) if isinstance(o, LemmaObligation)]
    assert len(lemmas) > 20
    assert all(question_of(o) is o for o in lemmas)
    some = [o for o in lemmas if "unique quotient" in o.name or "radix" in o.name or "apart" in o.name]
    for o in some:
        m = mutant(o, 4)
        assert isinstance(m, LemmaObligation)
        assert {v for v, _ in m.renamed} == set(o.formula_variables())
        assert m.formula_variables() != o.formula_variables()
        assert (m.decided(Budget()).status, m.decided(Budget()).strategy) == (
            o.decided(Budget()).status,
            o.decided(Budget()).strategy,
        )
    # hints that name the scheme's variables would prevent this
    step = next(o for o in some if "unique quotient" in o.name)
    assert step.decided(Budget()).strategy == "linear"
    other = mutant(step, 4)
    assert isinstance(other, LemmaObligation)
    assert replace(other, renamed=()).decided(Budget()).strategy != "linear"


def test_an_interrupted_run_says_what_it_knows() -> None:
    todo = [CLAIM, *examined(o for o in catalogue(max_rank=0) if o.family == "transfer")[:5]]
    calls: list[str] = []

    def stop(r: Record) -> None:
        calls.append(r.name)
        if len(calls) == 3:
            raise KeyboardInterrupt

    records = stability(todo, mutants=2, progress=stop)
    assert [r.name for r in records] == calls
    assert stability_status(records, len(todo)) == 2
    assert "3 not examined" in list(stability_text(records, len(todo), 2, 1.0))[-1]
    whole = stability(todo, mutants=2, jobs=2)
    assert (whole[:3], stability_status(whole, len(todo))) == (records, 0)


def test_a_sample_depends_on_names_alone() -> None:
    everything = catalogue(max_rank=1)
    some = examined(everything, 0.2)
    assert 0.1 < len(some) / len(examined(everything)) < 0.3
    assert {o.name for o in examined(reversed(everything), 0.2)} == {o.name for o in some}


def test_what_several_ask_is_examined_once(monkeypatch: pytest.MonkeyPatch) -> None:
    names = {x: var("a"), y: var("b"), d: var("c")}
    twin = Obligation(
        "test",
        "twin",
        "sound",
        tuple(h.substitute({x: var("p2"), y: var("p10"), d: var("p1")}) for h in reversed(CLAIM.hypotheses)),
        CLAIM.goal.substitute({x: var("p2"), y: var("p10"), d: var("p1")}),
    )
    # p1, p2, p10 have the same natural order as d, x, y; a, b, c do not
    assert question_of(twin) == question_of(CLAIM)
    other = replace(
        CLAIM, goal=CLAIM.goal.substitute(names), hypotheses=tuple(h.substitute(names) for h in CLAIM.hypotheses)
    )
    weaker = replace(CLAIM, subject="weaker", hypotheses=CLAIM.hypotheses[:3])
    assert question_of(weaker) != question_of(CLAIM)
    assert question_of(replace(CLAIM, kind="defined")) != question_of(CLAIM)
    assert question_of(other).formula_variables() == question_of(CLAIM).formula_variables()
    asked: list[str] = []

    def counted(o: Obligation, mutants: int, budget: Budget) -> Record:
        asked.append(o.name)
        flips = ((2, "UNDECIDED"),) if o == question_of(CLAIM) else ()
        return Record(o.name, Status.PROVED, mutants, (1, 2), flips)

    monkeypatch.setattr(module, "examine_stability", counted)
    found = stability([CLAIM, twin, weaker], mutants=1)
    assert len(asked) == 2
    expected = [("claim: sound", False), ("twin: sound", False), ("weaker: sound", True)]
    assert [(r.name, r.stable) for r in found] == expected
