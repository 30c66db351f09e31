"""Files of rules: true rules are proved, false ones refuted by a counterexample, none stays open."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from indexproof.verify.linear import prove as prove_linear
from indexproof.verify.rulefiles import (
    StatedRule,
    Term,
    judge,
    parse_rules,
    read_rule_file,
    show,
    stated_rule_obligations,
)
from indexproof.verify.rulefiles.bits import bit_vector_point
from indexproof.verify.rulefiles.cases import expanded
from indexproof.verify.rulefiles.lowering import source_of
from indexproof.verify.rulefiles.repair import candidates, weakest_repairs
from indexproof.verify.rulefiles.sample import table_of
from indexproof.verify.rulefiles.table import Table
from indexproof.verify.rulefiles.terms import below
from indexproof.verify.solve import decide
from indexproof.verify.verdict import Status, Verdict

DATA = Path(__file__).parent / "data"
TRUE = ("euclid0", "divisions", "machine", "parametric")
#: Number of rules in one test.
_PART = 40


@cache
def rules_in(name: str) -> list[StatedRule]:
    path = DATA / f"{name}.rules"
    return read_rule_file(path.read_text("utf-8"), path.name)


def parts(*names: str) -> list[tuple[str, int]]:
    return [(name, k) for name in names for k in range(0, len(rules_in(name)), _PART)]


def verdict(r: StatedRule) -> Verdict:
    return decide(next(stated_rule_obligations(r)))


def one(text: str) -> StatedRule:
    return parse_rules(text)[-1]


# ------------------------------------------------------------------------------------------------- whole files
def test_there_is_something_to_prove() -> None:
    assert len(rules_in("euclid0")) >= 300
    assert sum(len(rules_in(name)) for name in TRUE) >= 700
    assert len(rules_in("parametric")) >= 60
    assert len(rules_in("unsound")) >= 60


@pytest.mark.parametrize(("name", "start"), parts(*TRUE))
def test_true_rules_are_proved(name: str, start: int, linear_strategies: frozenset[str]) -> None:
    for r in rules_in(name)[start : start + _PART]:
        found = verdict(r)
        assert found.status is Status.PROVED, (str(r), found)
        # no proof depends on a nonlinear engine
        assert set(found.strategy.split(" + ")) <= linear_strategies, (r.name, found.strategy)


@pytest.mark.parametrize(("name", "start"), parts("unsound"))
def test_false_rules_are_refuted_by_a_point(name: str, start: int) -> None:
    for r in rules_in(name)[start : start + _PART]:
        found = verdict(r)
        assert found.status in (Status.REFUTED, Status.UNDEFINED), (str(r), found)
        assert found.witness is not None
        says = judge(r, dict(found.witness))
        assert says in ("counterexample", "undefined"), (str(r), found)
        if found.status is Status.UNDEFINED:
            assert says == "undefined"


# --------------------------------------------------------------------------------------------- single verdicts
@pytest.mark.parametrize(("text", "point"), [
    ("semantics euclid0\nint x\nconst c\nr: x / c * c + x % c -> x", {"x": 1, "c": 0}),
    ("int x\nr: x < 1000 -> true", {"x": 1000}),
    ("int x, y\nr: x * x == y * y -> x == y", {"x": 1, "y": -1}),
    ("bool p, q\nr: p and not q -> p", {"p": 1, "q": 1}),
    ("int i in [5, 9]\nr: i * i != 49 -> true", {"i": 7}),
    ("int i in [-9, -5]\nr: i > -6 -> true", {"i": -6}),
    ("integers 16 bits wrap\nint x\nr: x + 1 > x -> true", {"x": 32767}),
])  # fmt: skip
def test_the_smallest_counterexample(text: str, point: dict[str, int]) -> None:
    found = verdict(one(text))
    assert found.status is Status.REFUTED
    assert found.witness == point


def test_points_that_no_table_holds_come_from_solvers() -> None:
    far = one("int x\nr: x % 1000 == 999 and x / 1000 == 7777 -> false")
    assert table_of(far).counterexample() is None
    assert verdict(far).witness == {"x": 7777999}
    for most, strategy in ((65535, "every point"), (999999, "bit-vectors")):
        rare = one(f"integers 32 bits wrap\nint x in [0, {most}]\nr: x * x != 1522756 -> true")
        assert table_of(rare).counterexample() is None
        found = verdict(rare)
        assert (found.witness, found.strategy) == ({"x": 1234}, strategy)


def test_bit_vectors_find_points_and_prove_nothing() -> None:
    false = [r for r in rules_in("unsound") if r.name.startswith("overflow") and r.semantics.width <= 32]
    found = 0
    for r in false:
        point, spent = bit_vector_point(r, 500_000)
        assert spent > 0
        assert point is None or judge(r, point) in ("counterexample", "undefined")
        found += point is not None
    assert found >= len(false) - 6
    for r in rules_in("machine")[:6]:
        assert bit_vector_point(r, 50_000)[0] is None


@pytest.mark.parametrize(("text", "status"), [
    ("int x\nr: x -> x + 1 if x > 3, x < 4", Status.VACUOUS),
    ("int x, y\nr: x -> y if 2 * x == 4 * y + 1", Status.VACUOUS),
    ("int x\nr: x / 0 -> x / 0", Status.VACUOUS),
    ("int x, y\nr: x + 0 * y -> x + 0 * (y / x)", Status.UNDEFINED),
    ("int x, y\nr: x / y -> x / y", Status.PROVED),
    ("semantics floor0\nint x\nr: x / 0 -> 0", Status.PROVED),
    ("r: 1 + 1 -> 2", Status.PROVED),
    ("r: 1 + 1 -> 3", Status.REFUTED),
])  # fmt: skip
def test_verdicts(text: str, status: Status) -> None:
    assert verdict(one(text)).status is status


def test_many_dividends_of_unknown_sign() -> None:
    names = [f"x{k}" for k in range(8)]
    total = " + ".join(f"{v} / 3 + {v} % c" for v in names)
    shifted = " + ".join(f"{v} % c + {v} / 3" for v in reversed(names))
    r = one(f"semantics trunc\nint {', '.join(names)}\nconst c\nr: {total} -> {shifted}")
    assert verdict(r).status is Status.PROVED
    wrong = one(f"semantics trunc\nint {', '.join(names)}\nconst c\nr: {total} -> {shifted} + x0 / 1000")
    assert verdict(wrong).status is Status.REFUTED


def test_too_many_cases_are_not_a_proof() -> None:
    names = [f"x{k}" for k in range(7)]
    total = " + ".join(f"7 / {v}" for v in names)
    # true, but no term occurs twice
    other = " + ".join(f"14 / (2 * {v})" for v in names)
    found = verdict(one(f"semantics euclid0\nint {', '.join(names)}\nr: {total} -> {other}"))
    assert found.status is Status.UNDECIDED
    assert "cases" in found.detail
    # equal sides are proved whatever the number of cases
    found = verdict(one(f"semantics euclid0\nint {', '.join(names)}\nr: {total} -> {total}"))
    assert (found.status, found.strategy) == (Status.PROVED, "identity")
    # an instance of ``2 * t -> t + t``
    found = verdict(
        one(f"semantics euclid0\nint {', '.join(names)}\nr: max({total}, 0) + max(0, {total}) -> 2 * max({total}, 0)")
    )
    assert found.status is Status.PROVED


# ----------------------------------------------------------------------------------------------------- findings
@pytest.mark.parametrize(("text", "needed"), [
    ("semantics euclid0\nint x\nconst c, d\nr: x / c / d -> x / fold(c * d) if c > 0, d > 0", [True, False]),
    ("int x, y\nr: x * y >= 0 -> true if x >= 0, y >= 0, x + y >= 0", [True, True, False]),
    ("int x\nr: x % 4 % 2 -> x % 2 if x >= 0", [False]),
    ("bool p\nint x, y\nr: select(p, x, y) -> x if p, x != y", [True, False]),
])  # fmt: skip
def test_conditions_that_are_not_needed(text: str, needed: list[bool]) -> None:
    questions = [o for o in stated_rule_obligations(one(text)) if o.condition is not None]
    found = [decide(o) for o in questions]
    assert [v.status for v in found] == [Status.PROVED if n else Status.VACUOUS for n in needed]
    assert all(not o.gate for o in questions)


@pytest.mark.parametrize("rank", [4, 6])
def test_of_many_bounds_each_is_needed(rank: int) -> None:
    """For each of many bounds a point is found that violates this bound alone, which random points do not."""
    sizes, ids = ([f"{v}{k}" for k in range(rank)] for v in "ni")
    place = "i0"
    for n, i in list(zip(sizes, ids, strict=True))[1:]:
        place = f"({place}) * {n} + {i}"
    given = [f"{n} > 0" for n in sizes] + [
        c for n, i in zip(sizes, ids, strict=True) for c in (f"{i} >= 0", f"{i} < {n}")
    ]
    text = f"int {', '.join((*sizes, *ids))}\nr: {place} in [0, {' * '.join(sizes)} - 1] -> true if {', '.join(given)}"
    questions = [o for o in stated_rule_obligations(one(text)) if o.condition is not None]
    found = [decide(o).status for o in questions]
    # a size above a natural number is positive
    assert found == [Status.VACUOUS] * rank + [Status.PROVED] * (2 * rank)


@pytest.mark.parametrize(("text", "weakest"), [
    ("semantics euclid0\nint x\nconst c, d\nr: x / c / d -> x / fold(c * d) if d > 0", "c >= 0"),
    ("semantics euclid0\nint x\nconst c\nr: x / c * c + x % c -> x", "c != 0"),
    ("int x\nconst c\nr: -x / c -> -(x / c)", "divides(c, x)"),
    ("int x, y\nconst c\nr: x * c < y * c -> x < y", "c > 0"),
    ("int x, y\nr: min(x, y) -> x", "x <= y"),
    ("int x\nconst c\nr: x % c -> x", "x in [0, c - 1]"),
    ("int x, y\nbool p\nr: select(p, x, y) -> x", "p"),
    ("integers 32 bits wrap\nint x\nr: x < x + 1 -> true", "x + 1 in [-2147483648, 2147483647]"),
    ("integers 32 bits undefined\nint x\nconst c, d\nr: (x + c) + d -> x + fold(c + d)",
        "c + d in [-2147483648, 2147483647]"),
])  # fmt: skip
def test_the_weakest_condition_that_makes_a_rule_true(text: str, weakest: str) -> None:
    r = one(text)
    found = weakest_repairs(r)
    assert weakest in map(show, found), [show(c) for c in found]
    for c in found:
        assert any(show(c) == show(other) for other in candidates(r))
        assert verdict(replace(r, conditions=(*r.conditions, c))).proved


def test_nothing_is_offered_where_nothing_helps() -> None:
    assert weakest_repairs(one("int x, y\nr: x + y -> x + y + 1")) == []


# ----------------------------------------------------------------------------------------------------- trust
SWAPPED = {
    "lt": "le",
    "le": "lt",
    "gt": "ge",
    "ge": "gt",
    "eq": "le",
    "ne": "lt",
    "min": "max",
    "max": "min",
    "add": "sub",
    "sub": "add",
    "fdiv": "cdiv",
    "and": "or",
    "or": "and",
}


def mutants(name: str, count: int) -> Iterator[StatedRule]:
    """Yield rules with one operator exchanged, one literal changed or one condition dropped."""
    generator = np.random.default_rng(11)
    rules = rules_in(name)
    while count:
        r = rules[generator.integers(len(rules))]
        if r.conditions and generator.random() < 0.3:
            k = int(generator.integers(len(r.conditions)))
            yield replace(r, conditions=r.conditions[:k] + r.conditions[k + 1 :])
            count -= 1
            continue
        nodes = [t for t in below(r.left) if t.op in SWAPPED or t.op == "int"]
        if nodes:
            yield replace(r, left=_changed(r.left, nodes[generator.integers(len(nodes))]))
            count -= 1


def _changed(root: Term, target: Term) -> Term:
    done: dict[int, Term] = {}
    for t in below(root):
        args = tuple(done[id(a)] for a in t.args)
        if t is not target:
            done[id(t)] = Term(t.op, args, t.value)
        elif t.op == "int":
            done[id(t)] = Term("int", (), int(t.value) + 1)
        else:
            done[id(t)] = Term(SWAPPED[t.op], args)
    return done[id(root)]


@pytest.mark.parametrize("name", ["euclid0", "divisions"])
def test_changed_rules_are_proved_only_if_they_are_true(name: str) -> None:
    generator = np.random.default_rng(5)
    proved = 0
    for r in mutants(name, 30):
        found = verdict(r)
        assert found.status is not Status.UNDECIDED, (str(r), found)
        if not found.proved:
            continue
        proved += 1
        for scale in (4, 12, 60):
            points = generator.integers(-scale, scale + 1, size=(4000, len(r.variables)))
            assert Table(r, points).counterexample() is None, str(r)
    assert proved


def test_the_cases_of_a_rule_are_ordinary_obligations() -> None:
    (r,) = (r for r in rules_in("divisions") if r.name == "trunc_nested")
    cases = list(expanded(r))
    assert len(cases) == 8
    for o in cases:
        assert o.question == "valid"
        assert o.gate
        assert prove_linear(o.hypotheses, o.goal).proved


def test_what_is_asked_does_not_depend_on_names_and_places() -> None:
    text = "int x\nr: x % 2 -> x % 2"
    one_, two = one(text), replace(one(text), name="other", where="elsewhere", doc="…")
    assert source_of(one_) == source_of(two)
    assert verdict(one_) == verdict(two)


def test_verdicts_are_the_same_every_time() -> None:
    for r in rules_in("euclid0")[40:60]:
        first, second = verdict(r), verdict(r)
        assert first == second


@pytest.mark.parametrize("rank", [3, 6, 8])
def test_bounds_on_both_sides_are_met_together(rank: int) -> None:
    """Points are drawn between zero and the size of an index, so that a claim that is off by one fails at once."""
    index = [f"i{k}" for k in range(rank)]
    size = [f"n{k}" for k in range(rank)]
    place = " + ".join("*".join([index[k], *size[k + 1 :]]) for k in range(rank))
    inside = ", ".join([*(f"{n} > 0" for n in size), *(f"0 <= {i} < {n}" for i, n in zip(index, size, strict=True))])
    text = f"int {', '.join([*index, *size])}\nshort: {place} < {'*'.join(size)} - 1 -> true if {inside}\n"
    (r,) = read_rule_file(text, "short.rules")
    table = table_of(r)
    assert table.counterexample() == {**dict.fromkeys(index, 0), **dict.fromkeys(size, 1)}


TILED = """int i, j, k, l
int m, n
apart: j == l -> true
  if m > 0, n > 0, i in [0, m - 1], k in [0, m - 1], j in [0, n - 1], l in [0, n - 1], i * n + j == k * n + l
"""


def test_conditions_that_others_imply_are_not_needed() -> None:
    """Positive sizes are implied where an index is below them, so that these conditions are not needed."""
    (r,) = parse_rules(TILED, "t")
    assert verdict(r).proved
    needed = [decide(o) for o in stated_rule_obligations(r) if o.condition is not None]
    found = {show(c): v for c, v in zip(r.conditions, needed, strict=True)}
    assert [c for c, v in found.items() if v.status is Status.VACUOUS] == [
        "m > 0",
        "n > 0",
        "i in [0, m - 1]",
        "k in [0, m - 1]",
    ]
    assert all(v.status is Status.PROVED for c, v in found.items() if c.startswith(("j", "l", "i *")))
    # conditions on machine integers are mathematical: n + 1 > n
    (machine,) = parse_rules("integers 8 bits wrap\nint x, n\nr: max(x, n) * 0 -> 0 if n + 1 > x, n >= x, x > 0\n", "t")
    assert all(decide(o).status is Status.VACUOUS for o in list(stated_rule_obligations(machine))[1:])


def test_conditions_are_needed_where_divisors_have_many_signs() -> None:
    """Conditions on divisors of many signs are all decided to be needed or not."""
    text = "semantics euclid0\nint x, y\nconst c, d\n"
    text += "r: (x / (c * c + d)) / (y * y + d) -> 0 if x in [0, c * c * d + d * d - 1], y > c, c >= 3, d > 100\n"
    (r,) = parse_rules(text, "t")
    assert verdict(r).proved
    needed = [decide(o) for o in stated_rule_obligations(r) if o.condition is not None]
    assert {v.status for v in needed} <= {Status.PROVED, Status.VACUOUS}
