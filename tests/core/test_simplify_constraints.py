"""Constraints of whole maps: simplified constraints and boxes, and every step an instance of a rule."""

from __future__ import annotations

import itertools
import pickle
from dataclasses import replace

import pytest
from conftest import Maps

from indexproof.core.condition import compare
from indexproof.core.constraint_normal import ROUNDS
from indexproof.core.constraint_order import descends
from indexproof.core.derivation import ConstraintChange, MapChange
from indexproof.core.errors import InputError
from indexproof.core.expr import Expr, Int, integer, maximum, minimum, var
from indexproof.core.indexing_map import Constraint, IndexingMap
from indexproof.core.rewrite import Bounded, ConstraintRule, DeclarationError, RuleSet
from indexproof.core.simplify_map import empty_domain, simplify_map
from indexproof.core.steps import Step, Trace
from indexproof.core.text import parse_map
from indexproof.rules.catalog import RULES

#: A map and its simplified form; the second line of a pair is `=` where nothing changes.
CASES = """
# through sums, in both directions, and on to other constraints
(d0)[s0] -> (d0 + s0), domain: d0 in [0, 3], s0 in [0, 30], s0 * 2 + d0 in [3, 9]
(d0)[s0] -> (d0 + s0), domain: d0 in [0, 3], s0 in [0, 4], s0 * 2 + d0 in [3, 9]

(d0)[s0] -> (d0 + s0), domain: d0 in [0, 20], s0 in [0, 30], d0 - s0 in [15, 40]
(d0)[s0] -> (d0 + s0), domain: d0 in [15, 20], s0 in [0, 5], d0 - s0 in [15, 20]

(d0, d1) -> (d0), domain: d0 in [0, 99], d1 in [0, 3], (d0 floordiv 4) * 2 + d1 in [4, 9]
(d0, d1) -> (d0), domain: d0 in [4, 19], d1 in [0, 3], (d0 floordiv 4) * 2 + d1 in [4, 9]

(d0, d1, d2) -> (d0), domain: d0 in [0, 99], d1 in [0, 99], d2 in [0, 99], d0 + d1 in [0, 5], d1 + d2 in [98, 200]
(d0, d1, d2) -> (d0), domain: d0 in [0, 5], d1 in [0, 5], d2 in [93, 99], d0 + d1 in [0, 5], d1 + d2 in [98, 104]

# quotients, by divisors of either sign
(d0, d1) -> (d0), domain: d0 in [0, 99], d1 in [0, 99], d0 floordiv 4 in [2, 9], d1 floordiv -4 in [-3, -1]
(d0, d1) -> (d0), domain: d0 in [8, 39], d1 in [1, 12]

(d0, d1) -> (d1), domain: d0 in [0, 3], d1 in [0, 99], d0 - (d1 floordiv 4) * 2 in [-9, 1]
(d0, d1) -> (d1), domain: d0 in [0, 3], d1 in [0, 27], (d1 floordiv 4) * -2 + d0 in [-9, 1]

# what holds everywhere, or follows
(d0, d1) -> (d0), domain: d0 in [0, 5], d1 in [1, 3], d0 + d1 in [0, 20]
(d0, d1) -> (d0), domain: d0 in [0, 5], d1 in [1, 3]

(d0, d1) -> (d0), domain: d0 in [0, 9], d1 in [0, 9], (d0 + d1) mod 8 in [3, 3], (d0 + d1) mod 4 in [3, 3]
(d0, d1) -> (d0), domain: d0 in [0, 9], d1 in [0, 9], (d0 + d1) mod 8 in [3, 3]

# multiples that leave room for one value, or none
(d0, d1) -> (d0 + d1), domain: d0 in [0, 9], d1 in [0, 2], (d0 mod 2) * 3 + d1 in [3, 3]
(d0, d1) -> (d0), domain: d0 in [1, 9], d1 in [0, 0], d0 mod 2 in [1, 1]

(d0, d1) -> (d0 + d1), domain: d0 in [0, 9], d1 in [2, 3], (d0 mod 2) * 3 + d1 in [4, 4]
(d0, d1) -> (0), domain: d0 in [0, -1], d1 in [0, -1]

# a sum of parts that constraints bound, as convolutions have them
(a, b, c) -> ((a * 4 + b + c * 4) floordiv 16), domain: a in [0, 3], b in [0, 3], c in [0, 3], a + c in [0, 3]
(a, b, c) -> (0), domain: a in [0, 3], b in [0, 3], c in [0, 3], a + c in [0, 3]

# a sum of which others say something that is no multiple of it
(a)[s] -> ((a * 6 + s - 1) floordiv 5, (a * 6 + s - 1) mod 5), domain: a in [0, 1], s in [0, 2], a * 6 + s in [1, 8]
(a)[s] -> (a, a + s - 1), domain: a in [0, 1], s in [0, 2], a * 6 + s in [1, 8]

(a)[s] -> ((a + s - 1) floordiv 3), domain: a in [0, 9], s in [0, 9], a * 3 + s * 2 in [1, 6]
(a)[s] -> (0), domain: a in [0, 2], s in [0, 3], a * 3 + s * 2 in [1, 6]

# what is known of a digit is known of the digits that have more to them
(d)[s] -> ((s * 8 + d mod 28 - 4) floordiv 64), domain: d in [0, 895], s in [0, 6], (d floordiv 4) mod 7 + s * 2 in [1, 16]
(d)[s] -> (0), domain: d in [0, 895], s in [0, 6], s * 2 + (d floordiv 4) mod 7 in [1, 16]

(d) -> (((d floordiv 2) mod 44 - 8) floordiv 20), domain: d in [0, 999], (d floordiv 8) mod 11 in [2, 6]
(d) -> (0), domain: d in [0, 999], (d floordiv 8) mod 11 in [2, 6]

# remainders of multiples of what has a known one, and of sums with such a summand
(a) -> (((a * 3 + 1) floordiv 2) * 8), domain: a in [1, 3], a mod 2 in [1, 1]
(a) -> (a * 12 + 4), domain: a in [1, 3], a mod 2 in [1, 1]

(a, b) -> (((a + b) mod 2) * 5 + a), domain: a in [2, 4], b in [0, 1], a mod 2 in [0, 0]
(a, b) -> (b * 5 + a), domain: a in [2, 4], b in [0, 1], a mod 2 in [0, 0]

# variables with two values, quotients that are subtracted, remainders of what is congruent
(d0) -> ((d0 * 8 + 144) floordiv 21, (d0 * 8 + 144) mod 21), domain: d0 in [0, 1]
(d0) -> (d0 + 6, d0 * -13 + 18), domain: d0 in [0, 1]

(d0, d1) -> ((d0 * 2 - d1 floordiv 3) floordiv 5), domain: d0 in [0, 63], d1 in [0, 63]
(d0, d1) -> ((d0 * 6 - d1 + 2) floordiv 15), domain: d0 in [0, 63], d1 in [0, 63]

(a, b) -> ((((a * 3 + b) mod 6) floordiv 2) * 16 + (((a * 3 + b) mod 6) mod 2) * 8), domain: a in [0, 7], b in [0, 2]
(a, b) -> ((a mod 2) * 24 + b * 8), domain: a in [0, 7], b in [0, 2]

# normal forms of constraints that would share less than the given ones do
(a, b) -> (b floordiv 2), domain: a in [5, 64], b in [-20, 20], (-a + b * 6) mod 5 in [2, 2], a * 8 + b * 6 in [-3, -2]
(a, b) -> (b floordiv 2), domain: a in [5, 14], b in [-19, -7], (-a + b * 6) mod 5 in [2, 2], a * 8 + b * 6 in [-3, -2]

# what one result shows to be known is known where another one asks
(d0) -> ((d0 * -3) mod -6, d0 mod 2), domain: d0 in [0, 6], d0 mod 4 in [0, 0]
(d0) -> (0, 0), domain: d0 in [0, 4], d0 mod 4 in [0, 0]

# remainders: plain, merged, and moving the ends of boxes
(d0) -> (d0), domain: d0 in [0, 30], d0 mod 4 in [1, 1], d0 mod 6 in [3, 3]
(d0) -> (d0), domain: d0 in [9, 21], d0 mod 12 in [9, 9]

(d0) -> (d0), domain: d0 in [0, 30], (d0 + 1) mod 4 in [2, 2], (3 - d0) mod 6 in [0, 0]
(d0) -> (d0), domain: d0 in [9, 21], d0 mod 12 in [9, 9]

(d0) -> (d0), domain: d0 in [0, 30], d0 mod 8 in [2, 4]
(d0) -> (d0), domain: d0 in [2, 28], d0 mod 8 in [2, 4]

(d0) -> (d0), domain: d0 in [0, 99], (d0 * 5 + 1) mod 12 in [0, 0]
(d0) -> (d0), domain: d0 in [7, 91], d0 mod 12 in [7, 7]

(d0, d1) -> (d0), domain: d0 in [0, 9], d1 in [0, 9], (d0 * 4 + d1 * 6 + 3) mod 8 in [5, 5]
(d0, d1) -> (d0), domain: d0 in [0, 9], d1 in [0, 9], (d0 * 2 + d1 * 3) mod 4 in [1, 1]

# a known remainder and the quotient by the same divisor have one dividend
(d0) -> ((d0 - 3) floordiv 7), domain: d0 in [3, 17], (d0 + 4) mod 7 in [0, 0]
(d0) -> ((d0 - 3) floordiv 7), domain: d0 in [3, 17], (d0 - 3) mod 7 in [0, 0]

(d0) -> ((d0 - 3) floordiv 7), domain: d0 in [3, 17], d0 mod 7 in [3, 3]
=

# what a constraint says helps the results
(d0, d1) -> ((d0 + d1) floordiv 8), domain: d0 in [0, 6], d1 in [0, 6], d0 + d1 in [3, 7]
(d0, d1) -> (0), domain: d0 in [0, 6], d1 in [0, 6], d0 + d1 in [3, 7]

(d0) -> (d0 mod 4, (d0 + 3) mod 4, (d0 + 5) mod 2), domain: d0 in [0, 99], d0 mod 4 in [1, 1]
(d0) -> (1, 0, 0), domain: d0 in [1, 97], d0 mod 4 in [1, 1]

# minima and maxima whose other bound is out of reach
(d0, d1) -> (d0), domain: d0 in [0, 9], d1 in [0, 9], min(d0, d1 + 2) in [4, 50]
(d0, d1) -> (d0), domain: d0 in [4, 9], d1 in [2, 9]

(d0, d1) -> (d0), domain: d0 in [0, 9], d1 in [0, 9], max(d0, d1 - 2) in [-9, 3]
(d0, d1) -> (d0), domain: d0 in [0, 3], d1 in [0, 5]

# bounds reach no further than values, and signs are upright
(d0, d1) -> (d0), domain: d0 in [0, 9], d1 in [0, 9], d1 - d0 in [-99, 4]
(d0, d1) -> (d0), domain: d0 in [0, 9], d1 in [0, 9], d0 - d1 in [-4, 9]

(d0, d1) -> (d0), domain: d0 in [0, 9], d1 in [0, 9], d0 - d1 in [2, 4], d1 * 3 - d0 * 3 in [-9, 0]
(d0, d1) -> (d0), domain: d0 in [2, 9], d1 in [0, 7], d0 - d1 in [2, 3]

# a runtime variable keeps its box
(d0){rt0} -> ((d0 + rt0) floordiv 6), domain: d0 in [0, 1], rt0 in [0, 20], rt0 in [-3, 4], rt0 * 2 in [3, 90]
(d0){rt0} -> (0), domain: d0 in [0, 1], rt0 in [0, 20], rt0 in [2, 4]

# a domain without a point: by ranges, by remainders, by a box
(d0, d1)[s0] -> (d0, d1), domain: d0 in [0, 9], d1 in [0, 9], s0 in [0, 3], d0 + d1 in [20, 30]
(d0, d1)[s0] -> (0, 0), domain: d0 in [0, -1], d1 in [0, -1], s0 in [0, -1]

(d0) -> (d0), domain: d0 in [0, 99], d0 mod 4 in [1, 1], d0 mod 6 in [2, 2]
(d0) -> (0), domain: d0 in [0, -1]

(d0, d1) -> (d0), domain: d0 in [0, 9], d1 in [0, 9], d0 * 2 + d1 * 4 in [5, 5]
(d0, d1) -> (0), domain: d0 in [0, -1], d1 in [0, -1]

()[s0] -> (s0), domain: s0 in [3, 1]
()[s0] -> (0), domain: s0 in [0, -1], 0 in [1, 1]

() -> (), domain: 3 in [5, 9]
() -> (), domain: 0 in [1, 1]

# nothing to do
(d0, d1) -> (d0 - d1), domain: d0 in [0, 9], d1 in [0, 9], d0 + d1 in [3, 12]
=

() -> ()
=
"""


def cases() -> list[tuple[str, str]]:
    lines = [line for line in CASES.splitlines() if line and not line.startswith("#")]
    assert len(lines) % 2 == 0
    return list(zip(lines[::2], lines[1::2], strict=True))


@pytest.mark.parametrize(("before", "after"), cases())
def test_case(before: str, after: str) -> None:
    m = parse_map(before)
    found = simplify_map(m, RULES)
    assert repr(found) == (before if after == "=" else after)
    assert found.relation() == m.relation()
    trace: Trace = []
    assert simplify_map(parse_map(before), RULES, trace) == found
    assert bool([s for s in trace if isinstance(s, (Step, ConstraintChange, MapChange))]) == (after != "=")


#: True maps that XLA's description prints: each is its own simplest form.
PUBLISHED = """
(d0, d1) -> (d0, d1), domain: d0 in [0, 9], d1 in [0, 19]
(d0)[s0, s1] -> (s0, d0, s1), domain: d0 in [0, 19], s0 in [0, 9], s1 in [0, 29]
()[s0, s1] -> (s0, s1), domain: s0 in [0, 1], s1 in [0, 3]
(d0, d1, d2){rt0, rt1, rt2} -> (d0 + rt0, d1 + rt1, d2 + rt2),
    domain: d0 in [0, 0], d1 in [0, 1], d2 in [0, 31], rt0 in [0, 1], rt1 in [0, 0], rt2 in [0, 226]
(d0, d1, d2, d3){rt0, rt1} -> (d1 + rt0, d2 + rt1, d3),
    domain: d0 in [0, 1805], d1 in [0, 6], d2 in [0, 7], d3 in [0, 3], rt0 in [0, 26], rt1 in [0, 68]
(d0, d1, d2, d3) -> (d0, -d1 + 16, -d2 + 8, d3),
    domain: d0 in [0, 0], d1 in [0, 16], d2 in [0, 8], d3 in [0, 8]
(d0, d1, d2) -> (d0 + 5, d1 * 7 + 3, d2 * 2), domain: d0 in [0, 4], d1 in [0, 2], d2 in [0, 24]
(d0, d1, d2) -> (d0 - 5, (d1 - 3) floordiv 7, d2 floordiv 2),
    domain: d0 in [5, 9], d1 in [3, 17], d2 in [0, 48], (d1 - 3) mod 7 in [0, 0], d2 mod 2 in [0, 0]
(d0, d1, d2) -> (d0, d1 - 5, d2), domain: d0 in [0, 1], d1 in [5, 15], d2 in [0, 6]
(d0, d1) -> ((d0 - 1) floordiv 2, d1 - 4), domain: d0 in [1, 7], d1 in [4, 7], (d0 - 1) mod 2 in [0, 0]
(d0, d1)[s0] -> (d0, d1 + s0), domain: d0 in [0, 1023], d1 in [0, 2], s0 in [0, 511]
"""


@pytest.mark.parametrize("text", PUBLISHED.replace("\n    ", " ").strip().splitlines())
def test_published_maps_stay_as_they_are(text: str) -> None:
    m = parse_map(text)
    assert simplify_map(m, RULES, keep_points=True) == m


def test_points_are_folded_or_kept() -> None:
    m = parse_map(
        "(d0, d1)[s0]{rt0} -> (d0 * 8 + d1, (d0 + s0 + rt0) floordiv 4, rt0), "
        "domain: d0 in [3, 3], d1 in [0, 7], s0 in [0, 0], rt0 in [1, 1]"
    )
    assert [str(e) for e in simplify_map(m, RULES).results] == ["d1 + 24", "1", "1"]
    kept = simplify_map(m, RULES, keep_points=True)
    assert kept.results[0] is var("d0") * 8 + var("d1")
    assert kept.results[1:] == (integer(1), var("rt0"))
    assert kept.relation() == simplify_map(m, RULES).relation() == m.relation()


# --------------------------------------------------------------------------------------------------- random maps
def _constrained(maps: Maps) -> IndexingMap:
    rng = maps.rng
    dims = [(f"d{n}", lo, lo + rng.randint(0, 9)) for n in range(rng.randint(0, 3)) for lo in [rng.choice([0, -3, 2])]]
    ranges = [(f"s{n}", 0, rng.randint(0, 5)) for n in range(rng.choice([0, 0, 1, 2]))]
    rts = [("rt0", 0, rng.randint(0, 4))] if rng.random() < 0.2 else []
    names: list[Expr] = [var(v[0]) for v in (*dims, *ranges, *rts)] or [integer(3)]
    constraints = []
    for _ in range(rng.choice([0, 1, 1, 2, 3])):
        v, w = rng.choice(names), rng.choice(names)
        makers = (
            maps.expr(names, 2),
            sum((rng.choice([-3, -2, -1, 1, 2, 3, 4]) * x for x in names), integer(rng.randint(-3, 3))),
            (v * rng.choice([-2, -1, 1, 1, 3, 5]) + rng.randint(-4, 4)) % rng.choice([2, 3, 4, 6]),
            (v + rng.randint(-2, 2)) // rng.choice([2, 3, 4]) * rng.choice([-2, 1, 3]) + w,
            rng.choice([minimum, maximum])(v + rng.randint(-2, 2), w),
        )
        lo = rng.randint(-4, 4)
        constraints.append((rng.choice(makers), lo, lo + rng.choice([0, 1, 2, 9, 20])))
    return IndexingMap.of(dims, ranges, rts, [maps.expr(names, 3) for _ in range(rng.randint(0, 2))], constraints)


def _relations(m: IndexingMap) -> list[set[tuple[tuple[int, ...], tuple[int, ...]]]]:
    """Return the relation for every value of the runtime variables."""
    return [m.relation(rts=p) for p in itertools.product(*(range(v.lo, v.hi + 1) for v in m.rts))]


@pytest.mark.parametrize("seed", range(4))
def test_the_relation_stays_for_every_runtime_value_and_nothing_changes_twice(seed: int) -> None:
    maps = Maps(seed)
    empty = missed = 0
    for _ in range(350):
        m = _constrained(maps)
        after = simplify_map(m, RULES)
        truth = _relations(m)
        assert _relations(after) == truth, (m, after)
        # a copy, for which nothing is cached
        assert simplify_map(after.with_(), RULES) == after, (m, after)
        assert simplify_map(m.with_(), RULES, []) == after, m
        assert [(v.name, v.lo, v.hi) for v in after.rts] == [(v.name, v.lo, v.hi) for v in m.rts]
        assert [v.name for v in after.variables] == [v.name for v in m.variables]
        if not any(truth):
            empty += 1
            missed += after != empty_domain(m)
    # emptiness is not decided, but nearly always found
    assert empty > 50
    assert missed <= empty // 20, (missed, empty)


def test_every_constraint_step_is_an_instance_of_its_rule() -> None:
    maps = Maps(11)
    used: set[str] = set()
    for _ in range(700):
        m = _constrained(maps)
        trace: Trace = []
        simplify_map(m, RULES, trace)
        for step in trace:
            if not isinstance(step, ConstraintChange):
                continue
            before = [(c.expr, c.lo, c.hi) for c in step.before]
            after = tuple((c.expr, c.lo, c.hi) for c in step.after)
            used.add(step.rule.name)
            binding = {v: step.binding[v.name] for v in step.rule.variables}
            for side, constraints in ((step.rule.left, before), (step.rule.right, after)):
                for b, c in zip(side, constraints, strict=True):
                    assert tuple(x.substitute(binding) for x in (b.e, b.lo, b.hi)) == (
                        c[0],
                        integer(c[1]),
                        integer(c[2]),
                    ), step
            # only the final spelling of a remainder ascends in the order; a false literal is minimal
            down = descends(before, after) or set(before) == set(after) or isinstance(before[0][0], Int)
            assert down or step.rule.choose == "residue", step
    assert len(used) >= 16, sorted({r.name for r in RULES.constraints} - used)


def test_narrowing_that_would_take_too_long_is_taken_back() -> None:
    text = "(d0, d1, d2) -> (d0), domain: {}, d0 - d1 in [1, {n}], d1 - d2 in [1, {n}], d0 - d2 in [-{n}, 1]"

    def made(n: int) -> IndexingMap:
        return parse_map(text.format(", ".join(f"d{k} in [0, {n}]" for k in range(3)), n=n))

    # each round narrows by one value at each end
    assert simplify_map(made(9), RULES) == empty_domain(made(9))
    wide = made(ROUNDS * 100)
    after = simplify_map(wide, RULES)
    assert [(v.lo, v.hi) for v in after.dims] == [(v.lo, v.hi) for v in wide.dims]
    assert simplify_map(after.with_(), RULES) == after
    trace: Trace = []
    assert simplify_map(wide.with_(), RULES, trace) == after
    assert not [s for s in trace if isinstance(s, ConstraintChange) and s.rule.choose == "summand"]


def test_a_rule_set_without_constraint_rules_changes_no_constraint() -> None:
    m = parse_map("(d0) -> (d0 mod 4), domain: d0 in [0, 9], d0 in [2, 3], d0 + d0 in [0, 40]")
    assert simplify_map(m, RuleSet("none")) == m


def test_what_is_demanded_of_a_runtime_variable_stays_where_remainders_merge() -> None:
    m = parse_map(
        "(d0){rt0} -> (d0 + rt0), domain: d0 in [0, 30], rt0 in [0, 20], rt0 in [0, 4], "
        "d0 mod 4 in [1, 1], d0 mod 6 in [3, 3]"
    )
    assert _relations(simplify_map(m, RULES)) == _relations(m)


#: Maps on which every constraint rule fires, for changes of the declarations.
FIRING = [parse_map(line) for line, _ in cases()]


def _fired(rules: RuleSet, name: str) -> tuple[list[ConstraintChange], list[IndexingMap]]:
    """Return the applications of a rule on the maps, and the simplified maps."""
    found: list[ConstraintChange] = []
    after = []
    for m in FIRING:
        trace: Trace = []
        after.append(simplify_map(m.with_(), rules, trace))
        found += [s for s in trace if isinstance(s, ConstraintChange) and s.rule.name == name]
    return found, after


def _changed(rule: ConstraintRule, kind: str) -> ConstraintRule:
    first = rule.left[0]
    match kind:
        case "condition":
            return replace(rule, when=(*rule.when, compare("<", first.hi, first.lo)))
        case "left":
            return replace(rule, left=(Bounded(first.e, first.lo, first.lo), *rule.left[1:]))
    raise AssertionError(kind)


@pytest.mark.parametrize("rule", RULES.constraints, ids=lambda rule: rule.name)
def test_whoever_changes_a_declaration_changes_production(rule: ConstraintRule) -> None:
    assert _fired(RULES, rule.name)[0]

    def without(new: tuple[ConstraintRule, ...]) -> RuleSet:
        changed = tuple(n for r in RULES.constraints for n in (new if r is rule else (r,)))
        return replace(RULES, constraints=changed)

    assert not _fired(without(()), rule.name)[0]
    for kind in ("condition", "left"):
        changed = without((_changed(rule, kind),))
        if kind == "left" and not rule.choose and rule.left[0].hi is not rule.left[0].lo:
            # the upper bound is undetermined
            with pytest.raises(DeclarationError, match="the left side does not say what"):
                _fired(changed, rule.name)
            continue
        for step in _fired(changed, rule.name)[0]:
            # each application is an instance of the changed declaration
            c = step.before[0]
            assert c.lo > c.hi if kind == "condition" else c.lo == c.hi, (rule.name, step)
    if rule.right:
        *others, last = rule.right
        wider = Bounded(last.e, last.lo, last.hi - 1)
        found = _fired(without((replace(rule, right=(*others, wider)),)), rule.name)[0]
        for step in found:
            at = {v: step.binding[v.name] for v in rule.variables}
            assert integer(step.after[-1].hi) is wider.hi.substitute(at), (rule.name, step)


# ------------------------------------------------------------------------------------------------------- memory
def test_a_simplified_map_is_remembered_and_forgotten_with_its_object() -> None:
    m = parse_map("(d0) -> (d0 floordiv 4 * 4 + d0 mod 4), domain: d0 in [0, 9]")
    after = simplify_map(m, RULES)
    trace: Trace = []
    assert simplify_map(after, RULES, trace) is after
    assert not trace
    # under another rule set, or with points kept, the map may not be in normal form
    assert simplify_map(after, RuleSet("none")) == after
    assert simplify_map(after.with_(), RULES, keep_points=True) == after
    # cached results are no part of the map
    copy = pickle.loads(pickle.dumps(after))
    assert copy == after
    assert hash(copy) == hash(after)
    assert getattr(copy, "_normal", None) is None
    assert getattr(after.with_(results=(var("d0") % 2,)), "_normal", None) is None
    assert simplify_map(after.with_(results=(var("d0") % 20,)), RULES).results == (var("d0"),)


def test_a_map_in_normal_form_is_returned_itself() -> None:
    m = parse_map("(d0, d1) -> (d0 + d1), domain: d0 in [0, 9], d1 in [0, 9], d0 + d1 in [3, 12]")
    assert simplify_map(m, RULES) is m
    assert simplify_map(m.with_(constraints=(*m.constraints, Constraint(var("d0"), -5, 20))), RULES) == m


def test_sums_whose_ends_are_too_far_away_to_be_numbers_narrow_what_they_can() -> None:
    far = 1 << 5000
    d0, d1 = var("d0"), var("d1")
    results = (d0 + d1, d0 // 3)
    given = IndexingMap.of([("d0", 0, far), ("d1", 0, 9)], results=results, constraints=[(d0 // 3 + d1, 0, 10)])
    after = simplify_map(given, RULES)
    assert [(v.lo, v.hi) for v in after.dims] == [(0, 32), (0, 9)]
    given = IndexingMap.of([("d0", 0, far), ("d1", 0, 9)], results=results, constraints=[(d0 + d1, 0, far + 7)])
    after = simplify_map(given, RULES)
    assert [(v.lo, v.hi) for v in after.dims] == [(0, far), (0, 9)]
    assert after.results == results


def test_a_remainder_is_known_of_what_a_divisor_leaves_of_a_sum() -> None:
    """A known sum modulo 4 gives ``d1 + 1`` modulo 2, since ``d0 * 2`` vanishes modulo 2."""
    m = parse_map(
        "(d0, d1, d2) -> (((d0 * 2 + d1 + 1) floordiv 8) * 2, (d0 * 2 + d2 * 4 + d1 + 1) mod 2),"
        " domain: d0 in [0, 15], d1 in [0, 3], d2 in [0, 1], (d0 * 2 + d1 + 1) mod 4 in [0, 0],"
        " ((d0 * 2 + d1 + 1) floordiv 4) mod 2 in [0, 0]"
    )
    assert simplify_map(m, RULES).results[1] == integer(0)


def test_rules_that_nothing_applies_are_refused() -> None:
    with pytest.raises(InputError, match="nothing applies the rules of mine: engine_of"):
        simplify_map(parse_map("(d0) -> (d0), domain: d0 in [0, 3]"), RuleSet("mine", RULES.rules))
