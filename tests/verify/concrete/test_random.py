"""Random small problems and maps: every engine and every question agrees with enumeration in Python."""

from __future__ import annotations

import itertools
import random

import pytest
from conftest import Maps

from indexproof.core.expr import Expr, ceildiv, integer, maximum, minimum, var
from indexproof.core.indexing_map import Constraint, IndexingMap
from indexproof.core.interval import Interval
from indexproof.verify.concrete import (
    Answer,
    Fact,
    Option,
    Problem,
    contains,
    covering_domains,
    covers,
    decide_problem,
    disjoint_domains,
    equal_maps,
    in_bounds,
    inverse,
    is_empty,
    isl,
    normal_form,
    partition,
    smt,
)
from indexproof.verify.concrete import enumerate as enumeration
from indexproof.verify.concrete.problem import counterexample_order


def random_identity(rng: random.Random, e: Expr) -> Expr:
    """Return an expression that is zero, though not syntactically."""
    c, d = rng.choice((2, 3, 4, 6)), rng.choice((2, 3))
    return rng.choice(
        (
            (e // c) // d - e // (c * d),
            e - (e // c) * c - e % c,
            (c * e + d - 1) // c - e - (d - 1) // c,
            (e % (c * d)) // c - (e // c) % d,
            maximum(e, c) + minimum(e, c) - e - c,
            e // -c + ceildiv(e, c),
        )
    )


def random_problem(rng: random.Random) -> Problem:
    variables = [var(f"v{k}") for k in range(rng.randint(1, 3))]
    box = []
    for v in variables:
        lo = rng.randint(-5, 5) if rng.random() < 0.4 else 0
        box.append((v, Interval(lo, lo + rng.randint(0, 9))))
    where = []
    for _ in range(rng.randint(0, 2)):
        lo = rng.randint(-3, 3)
        where.append(Fact(Maps(rng).expr(list(variables), 2), Interval(lo, lo + rng.randint(0, 8))))
    options = []
    for k in range(rng.choice((0, 1, 1, 1, 1, 2))):
        unknowns = ((var(f"u{k}"), Interval(0, rng.randint(0, 4))),) if rng.random() < 0.3 else ()
        facts = []
        for _ in range(rng.randint(1, 2)):
            e = Maps(rng).expr([*variables, *(u for u, _ in unknowns)], 3)
            lo = rng.randint(-8, 0)
            facts.append(Fact(e, Interval(lo, lo + rng.randint(0, 22))))
        if rng.random() < 0.5 and not unknowns:
            facts = [Fact(random_identity(rng, Maps(rng).expr(list(variables), 3)), Interval(0, 0))]
        options.append(Option(tuple(facts), unknowns))
    return Problem(tuple(box), tuple(where), tuple(options))


def first_violation(problem: Problem) -> tuple[int, ...] | None:
    ranges = [range(int(i.lo), int(i.hi) + 1) for _, i in problem.variables]
    bad = [p for p in itertools.product(*ranges) if problem.violated_by(p)]
    return min(bad, key=counterexample_order, default=None)


@pytest.mark.parametrize("seed", range(120))
def test_engines_agree_with_enumeration(seed: int) -> None:
    problem = random_problem(random.Random(seed))
    expected = first_violation(problem)
    outcomes = {
        "normal form": normal_form.decide(problem),
        "enumeration": enumeration.decide(problem),
        "small points": enumeration.probe(problem),
        "isl": isl.decide(problem, 1_000_000),
    }
    if seed % 4 == 0:
        outcomes["z3"] = smt.decide(problem, 5_000_000)
    for name, outcome in outcomes.items():
        context = f"{name} says {outcome} of\n{problem}"
        if outcome.status == "holds":
            assert expected is None, context
        if outcome.status == "fails":
            assert expected is not None, context
            assert problem.violated_by(outcome.point), context
            assert not outcome.minimal or outcome.point == expected, context
    for complete in ("enumeration", "isl"):
        assert outcomes[complete].status != "open", problem
    decision = decide_problem(problem, confirm=seed % 3 == 0)
    assert decision.outcome.status == ("holds" if expected is None else "fails"), problem
    if expected is not None:
        assert decision.outcome.point == expected, problem


# ------------------------------------------------------------------------------------------------------- maps
def random_map(rng: random.Random) -> IndexingMap:
    dims = []
    for k in range(rng.randint(0, 2)):
        lo = rng.choice((0, 0, 0, -2, 1))
        dims.append((f"d{k}", lo, lo + rng.randint(-1 if rng.random() < 0.05 else 0, 4)))
    ranges = [(f"s{k}", 0, rng.randint(0, 4)) for k in range(rng.randint(0, 2))]
    rts = [(f"rt{k}", 0, rng.randint(0, 2)) for k in range(rng.choice((0, 0, 1)))]
    atoms: list[Expr] = [var(name) for name, _, _ in dims + ranges + rts]
    results = [Maps(rng).expr(atoms, rng.randint(0, 3)) for _ in range(rng.randint(0, 2))]
    constraints = []
    for _ in range(rng.choice((0, 0, 1, 2))):
        lo = rng.randint(-2, 1)
        constraints.append((Maps(rng).expr(atoms, 2), lo, lo + rng.randint(0, 6)))
    return IndexingMap.of(dims, ranges, rts, results, constraints)


def mutated(rng: random.Random, m: IndexingMap) -> IndexingMap:
    """Return a rewritten map, which is often a different map."""
    results = [e + random_identity(rng, e) for e in m.results]
    constraints, ranges = list(m.constraints), m.ranges
    atoms: list[Expr] = [v.expr for v in m.variables]
    kind = rng.randrange(6)
    if kind == 0 and results:
        results[rng.randrange(len(results))] += rng.choice((0, 1, -1))
    if kind == 1 and constraints:
        constraints.pop()
    if kind == 2:
        ranges = tuple(reversed(ranges))
    if kind == 3 and ranges:  # reverse a range
        s = ranges[0]
        back = {s.expr: s.hi - s.expr}
        results = [e.substitute(back) for e in results]
        constraints = [Constraint(c.expr.substitute(back), c.lo, c.hi) for c in constraints]
    if kind == 4 and results:
        results[rng.randrange(len(results))] += Maps(rng).expr(atoms, 2) // 3
    if kind == 5:
        constraints.append(Constraint(Maps(rng).expr(atoms, 1), -3, 5))
    return IndexingMap(m.dims, ranges, m.rts, tuple(results), tuple(constraints))


Relation = set[tuple[tuple[int, ...], tuple[int, ...]]]


def relations(m: IndexingMap) -> dict[tuple[int, ...], Relation]:
    return {rt: m.relation(rt) for rt in itertools.product(*(range(v.lo, v.hi + 1) for v in m.rts))}


def table(m: IndexingMap) -> dict[tuple[tuple[int, ...], ...], tuple[int, ...] | None]:
    groups = (m.dims, m.ranges, m.rts)
    parts = [list(itertools.product(*(range(v.lo, v.hi + 1) for v in group))) for group in groups]
    return {point: m.evaluate(*point) for point in itertools.product(*parts)}


def agrees(what: str, answer: Answer, expected: bool, *context: object) -> None:
    assert answer.verdict == ("PROVED" if expected else "REFUTED"), (what, answer, context)
    assert expected == (answer.counterexample is None), (what, answer, context)


@pytest.mark.parametrize("seed", range(80))
def test_questions_agree_with_enumeration(seed: int) -> None:
    rng = random.Random(1000 + seed)
    a = random_map(rng)
    b = mutated(rng, a)
    ra, rb = relations(a), relations(b)

    answer = equal_maps(a, b, confirm=seed % 5 == 0)
    agrees("equal", answer, ra == rb, a, b)
    if answer.counterexample is not None:
        c = answer.counterexample
        source = tuple(c.values[v.name] for v in a.dims)
        rt = tuple(c.values[v.name] for v in a.rts)
        left = c.left is not None and (source, c.left) in ra[rt] - rb[rt]
        right = c.right is not None and (source, c.right) in rb[rt] - ra[rt]
        assert left or right, (c, a, b)
    agrees("contains", contains(b, a), all(ra[rt] <= rb[rt] for rt in ra), a, b)
    if a.ranges == b.ranges:
        agrees("pointwise", equal_maps(a, b, mode="pointwise"), table(a) == table(b), a, b)

    pairs: Relation = set().union(*ra.values())
    agrees("empty", is_empty(a), not pairs, a)
    shape = [rng.randint(1, 5) for _ in a.results]
    inside = all(0 <= x < n for _, t in pairs for x, n in zip(t, shape, strict=True))
    agrees("in bounds", in_bounds(a, shape), inside, a, shape)
    targets = set(itertools.product(*map(range, shape)))
    agrees("covers", covers(a, shape), all(targets <= {t for _, t in r} for r in ra.values()), a, shape)

    sources = set(itertools.product(*(range(rng.randint(1, 4)) for _ in a.dims)))
    size = [max((s[k] for s in sources), default=0) + 1 for k in range(len(a.dims))]
    of_a = {rt: {s for s, _ in r} for rt, r in ra.items()}
    of_b = {rt: {s for s, _ in r} for rt, r in rb.items()}
    covered = all(sources <= of_a[rt] | of_b[rt] for rt in ra)
    apart = all(not of_a[rt] & of_b[rt] for rt in ra)
    agrees("covers", covering_domains([a, b], size), covered, a, b, size)
    agrees("disjoint", disjoint_domains([a, b]), apart, a, b)
    agrees("partition", partition([a, b], size), covered and apart, a, b, size)

    c = random_map(rng)
    if len(c.dims) == len(a.results) and len(c.results) == len(a.dims) and not a.rts and not c.rts:
        agrees("inverse", inverse(a, c), {(t, s) for s, t in ra[()]} == relations(c)[()], a, c)


# --------------------------------------------------------------------------------------- beyond machine integers
def wide_maps(rng: random.Random, longest: int) -> tuple[IndexingMap, IndexingMap]:
    """Return two spellings of a map, or two similar maps, with ranges and with coefficients and divisors up to 2^62."""

    def number() -> int:
        size = rng.choice((1, 1, rng.randint(2, 9), 2 ** rng.randint(30, 62), rng.randint(2**30, 2**62)))
        return size * rng.choice((1, 1, -1))

    extents = (1, 2, 4, longest, rng.randint(1, longest))
    dims = [(f"d{k}", 0, rng.choice(extents) - 1) for k in range(rng.randint(1, 2))]
    ranges = [(f"s{k}", 0, rng.choice(extents) - 1) for k in range(rng.randint(1, 2))]
    variables = [var(name) for name, _, _ in dims + ranges]

    def result() -> Expr:
        e = sum((v * number() for v in variables), start=integer(rng.choice((0, 1, -5, 2**40))))
        for _ in range(rng.randint(0, 2)):
            c = abs(number())
            e = rng.choice((e // c, e % c, (e + rng.choice(variables)) // c))
        return e

    left = [result() for _ in range(rng.randint(1, 2))]
    v = rng.choice(variables)
    rewritten = (0, 0, 1, v // 2 * 2 + v % 2 - v, v * 2**40, (v % 7) // 7)
    back = {var(s): integer(hi) - var(s) for s, _, hi in ranges if rng.random() < 0.3}
    right = [(e + rng.choice(rewritten)).substitute(back) for e in left]
    return IndexingMap.of(dims, ranges, (), left), IndexingMap.of(dims, ranges, (), right)


@pytest.mark.parametrize("seed", [255, 730, 1522])
def test_a_round_is_enough_where_wide_dividends_nearly_agree(seed: int) -> None:
    """The normal form decides maps whose dividends nearly agree and have the same quotients by a large divisor."""
    answer = equal_maps(*wide_maps(random.Random(seed), 2**21))
    assert answer.proved
    assert not any("round" in said for said in answer.tried)
