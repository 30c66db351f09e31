"""Questions about maps in unusual cases: runtime variables, empty domains, disagreement of engines."""

from __future__ import annotations

import itertools
import math
import subprocess
import sys

import pytest

from dev.runtime_values import turned
from indexproof.core.condition import TRUE, Condition
from indexproof.core.errors import InputError
from indexproof.core.expr import Expr, Var, ceildiv, integer, maximum, minimum, var
from indexproof.core.indexing_map import Constraint, IndexingMap, RuntimeSource
from indexproof.core.interval import Interval
from indexproof.core.text import parse_map
from indexproof.verify.concrete import (
    Answer,
    EngineDisagreement,
    Fact,
    Option,
    Problem,
    contains,
    covering_domains,
    covers,
    decide_problem,
    disjoint_domains,
    equal_exprs,
    equal_maps,
    holds,
    in_bounds,
    inclusion,
    inverse,
    is_empty,
    isl,
    partition,
    same_relation,
)
from indexproof.verify.concrete import decide as portfolio
from indexproof.verify.concrete.problem import Outcome
from indexproof.verify.properties import aligned, contiguous, disjoint, injective, monotone
from indexproof.verify.verdict import Status

d0, d1, s0, s1, rt0, rt1 = map(var, ("d0", "d1", "s0", "s1", "rt0", "rt1"))


# ------------------------------------------------------------------------------------------- expressions
def test_the_counterexample_is_the_smallest_and_evaluates() -> None:
    answer = equal_exprs((d0 + 3) // 4, d0 // 4 + 1, [("d0", 0, 10**9)])
    assert answer.verdict == "REFUTED"
    found = answer.counterexample
    assert (found.values, found.left, found.right, found.minimal) == ({"d0": 0}, (0,), (1,), True)
    assert str(found) == "the values differ at d0 = 0"
    assert found.subterms((d0 + 3) // 4) == [(d0, 0), (d0 + 3, 3), ((d0 + 3) // 4, 0)]


def test_constraints_are_hypotheses() -> None:
    box = [("d0", 0, 99)]
    assert not equal_exprs(d0 // 3 * 3, d0, box).proved
    assert equal_exprs(d0 // 3 * 3, d0, box, [(d0 % 3, 0, 0)]).proved
    assert equal_exprs(d0, d0 + 1, box, [(d0, 100, 200)]).proved  # the domain is empty


HUGE = 10**400
LARGE, ANY, FINITE = Interval(HUGE, math.inf), Interval(-math.inf, math.inf), Interval(0, HUGE)


@pytest.mark.parametrize(("goal", "box", "hypothesis", "proved"), [
    (d0 * HUGE + d1 >= 0, {d0: Interval(0, math.inf), d1: FINITE}, TRUE, True),
    (d0 + HUGE >= 0, {d0: ANY}, TRUE, False),
    (d0 // HUGE >= 1, {d0: LARGE}, TRUE, True),
    (d0 // HUGE >= 2, {d0: LARGE}, TRUE, False),
    (d0 < 4 * HUGE, {d0: ANY}, d0 // HUGE <= 3, True),
    (d0 < 4 * HUGE - 1, {d0: ANY}, d0 // HUGE <= 3, False),
    ((d0 % HUGE) // 2 < HUGE, {d0: LARGE, d1: ANY}, minimum(d0 % HUGE, d1) <= 7, True),
    (d0 <= 5, {d0: FINITE, d1: ANY}, d0 * 3 + d1 % 7 <= 15, True),
    (d0 <= d1 + HUGE, {d0: FINITE, d1: ANY}, d0 + d1 >= -HUGE, False),
])  # fmt: skip
def test_infinite_ends_beside_integers_beyond_floats(
    goal: Condition, box: dict[Var, Interval], hypothesis: Condition, proved: bool
) -> None:
    assert holds(goal, box, [hypothesis]).verdict == ("PROVED" if proved else "REFUTED")


def test_unknowns_without_end_beside_integers_beyond_floats() -> None:
    zero = Interval(0, 0)
    for step, expected in ((1, "holds"), (2, "fails")):
        there = Option((Fact(d0 - s0 * step, zero),), ((s0, LARGE),))
        assert decide_problem(Problem(((d0, Interval(HUGE * 2, HUGE * 3)),), (), (there,))).outcome.status == expected
    remainder = Option((Fact(d0 - s0 % 7, zero),), ((s0, LARGE),))
    assert decide_problem(Problem(((d0, Interval(0, 6)),), (), (remainder,))).outcome.status == "holds"


@pytest.mark.parametrize("c", [-7, -3, -1, 1, 3, 7])
def test_floor_semantics_of_every_sign(c: int) -> None:
    box = [("d0", -100, 2**40)]
    assert equal_exprs(d0 % c, d0 - c * (d0 // c), box, confirm=True).proved
    assert equal_exprs(ceildiv(d0, c), -(-d0 // c), box, confirm=True).proved
    assert equal_exprs(d0 // c, -d0 // -c, box, confirm=True).proved


def test_unbounded_variables() -> None:
    anywhere = {d0: Interval(-float("inf"), float("inf"))}
    assert equal_exprs(d0 // 6, d0 // 2 // 3, anywhere).proved
    assert equal_exprs(d0 // 2 * 2, d0, anywhere).counterexample.values == {"d0": 1}


def test_constants_far_beyond_machine_words() -> None:
    n = 2**62 + 12345
    assert equal_exprs((d0 * n + d1) // n, d0, [("d0", 0, 2**31), ("d1", 0, n - 1)]).proved
    answer = equal_exprs((d0 * n + d1) // n, d0, [("d0", 0, 2**31), ("d1", 0, n)])
    assert answer.counterexample.values == {"d0": 0, "d1": n}


def test_conditions() -> None:
    box = [("d0", 0, 2**31 - 1), ("d1", 0, 1000)]
    assert holds((d0 // 8).within(0, 2**28 - 1), box).proved
    assert holds(integer(4).divides(d0), box, [integer(8).divides(d0)]).proved
    assert holds((d0 % 2).eq(0) | (d0 % 2).eq(1), box).proved
    assert holds(d0 <= d1, box, [(d0 < d1) | (d0 + 1).eq(d1)]).proved
    answer = holds(~integer(6).divides(d0), box, [integer(2).divides(d0), integer(3).divides(d0), d0 > 0])
    assert answer.counterexample.values["d0"] == 6
    with pytest.raises(InputError, match="literal divisor"):
        holds(d0.divides(d1), box)


def test_products_of_variables_are_decided_where_they_can_be() -> None:
    assert equal_exprs(d0 * d1 + d0, d0 * (d1 + 1) * 1, [("d0", 0, 9), ("d1", 0, 9)]).proved
    answer = equal_exprs(d0 * d1, d0, [("d0", 0, 10**6), ("d1", 0, 10**6)])
    assert answer.counterexample.values == {"d0": 1, "d1": 0}


def test_divisors_that_can_be_zero_have_no_verdict() -> None:
    assert equal_exprs(d0 // d1 * 0 + d0 // d1, d0, [("d0", 0, 9), ("d1", 0, 9)]).verdict == "UNDECIDED"
    assert equal_exprs(d0 // d1, d0, [("d0", 0, 9), ("d1", 1, 1)]).proved


# ------------------------------------------------------------------------------------------- maps
def test_ranges_are_existential_unless_pointwise() -> None:
    forwards = IndexingMap.of([("d0", 0, 7)], [("s0", 0, 9)], results=[d0, s0])
    backwards = IndexingMap.of([("d0", 0, 7)], [("s0", 0, 9)], results=[d0, 9 - s0])
    assert equal_maps(forwards, backwards).proved
    answer = equal_maps(forwards, backwards, mode="pointwise")
    assert answer.counterexample.values == {"d0": 0, "s0": 0}
    assert (answer.counterexample.left, answer.counterexample.right) == ((0, 0), (0, 9))
    split = IndexingMap.of([("d0", 0, 7)], [("s0", 0, 1), ("s1", 0, 4)], results=[d0, s0 * 5 + s1])
    assert equal_maps(forwards, split, confirm=True).proved
    answer = equal_maps(forwards, split.with_(results=(d0, s0 * 6 + s1)))
    assert (answer.counterexample.values, answer.counterexample.left) == ({"d0": 0, "s0": 1, "s1": 4}, None)
    assert answer.counterexample.right == (0, 10)


def test_different_domains_are_refuted_by_a_point_of_one() -> None:
    wide = IndexingMap.of([("d0", 0, 2**31)], results=[d0])
    narrow = wide.with_(constraints=IndexingMap.of([("d0", 0, 9)], constraints=[(d0, 0, 1000)]).constraints)
    answer = equal_maps(wide, narrow)
    assert answer.counterexample.values == {"d0": 1001}
    assert answer.counterexample.right is None
    assert "left map only" in answer.counterexample.reason
    assert equal_maps(wide, narrow, domain=[(d0, 5, 700)]).proved
    assert contains(wide, narrow).proved
    assert not contains(narrow, wide).proved
    with pytest.raises(InputError, match="no variable of the left map"):
        equal_maps(wide, narrow, domain=[(d1, 0, 1)])


def test_empty_maps_are_all_equal() -> None:
    empty = IndexingMap.of([("d0", 0, -1)], results=[d0])
    other = IndexingMap.of([("d0", 0, 9)], results=[d0, d0], constraints=[(d0, 20, 30)])
    assert is_empty(empty).proved
    assert is_empty(other, confirm=True).proved
    assert equal_maps(empty, other).proved
    answer = equal_maps(empty, other.with_(constraints=()))
    assert "1 result, the other 2" in answer.counterexample.reason
    assert covering_domains([], [0]).proved
    assert not covering_domains([], [1]).proved


def test_rank_zero() -> None:
    scalar = IndexingMap.of()
    assert equal_maps(scalar, scalar).proved
    assert inverse(scalar, scalar).proved
    assert partition([scalar], []).proved
    answer = disjoint_domains([scalar, scalar])
    assert answer.counterexample.reason == "maps 0 and 1 both have this source"


def test_inverse_of_a_reshape() -> None:
    collapse = IndexingMap.of([("d0", 0, 2**20 - 1), ("d1", 0, 2**11 - 1)], results=[d0 * 2048 + d1])
    expand = IndexingMap.of([("d0", 0, 2**31 - 1)], results=[d0 // 2048, d0 % 2048])
    assert inverse(collapse, expand).proved
    assert inverse(expand, collapse, confirm=True).proved
    answer = inverse(collapse, expand.with_(results=(d0 // 2048, d0 % 1024)))
    assert answer.counterexample.values == {"d0": 0, "d1": 1024}
    with pytest.raises(InputError, match="cannot be inverse"):
        inverse(collapse, collapse)


def test_bounds_and_images() -> None:
    window = IndexingMap.of([("d0", 0, 9)], [("s0", 0, 2)], results=[d0 * 2 + s0])
    assert in_bounds(window, [21]).proved
    assert in_bounds(window, [20]).counterexample.reason == "result 0 is 20, which is not in [0, 19]"
    assert covers(window, [21], confirm=True).proved
    assert covers(window, [22]).counterexample.values == {"t0": 21}


def test_partition_of_concatenated_pieces() -> None:
    def piece(lo: int, hi: int) -> IndexingMap:
        return IndexingMap.of([("d0", 0, 2**31 - 1)], results=[d0 - lo], constraints=[(d0, lo, hi)])

    pieces = [piece(0, 9), piece(10, 2**30), piece(2**30 + 1, 2**31 - 1)]
    assert partition(pieces, [2**31]).proved
    answer = partition([*pieces[:2], piece(2**30 + 3, 2**31 - 1)], [2**31])
    assert answer.counterexample.values == {"d0": 2**30 + 1}
    answer = partition([*pieces[:2], piece(2**30, 2**31 - 1)], [2**31])
    assert answer.counterexample.reason == "maps 1 and 2 both have this source"


# ------------------------------------------------------------------------------------------ runtime variables
def sliced(*rts: tuple[str, int, int, RuntimeSource | None], result: object = d0 + rt0) -> IndexingMap:
    return IndexingMap.of([("d0", 0, 9)], [], list(rts), [result])


def source(hlo: str, *results: object) -> RuntimeSource:
    return RuntimeSource(hlo, results)


def test_runtime_variables_are_parameters() -> None:
    a = sliced(("rt0", 0, 5, None))
    assert equal_maps(a, a).proved
    answer = equal_maps(a, sliced(("rt0", 0, 5, None), result=d0 + 2 * rt0))
    assert answer.counterexample.values == {"d0": 0, "rt0": 1}
    # a value outside its box is clamped, so that the maps differ where the boxes do
    assert equal_maps(a, sliced(("rt0", 0, 6, None))).counterexample.values == {"d0": 0, "rt0": 6}
    assert equal_maps(a, sliced(("rt0", 0, 6, None), result=d0 + minimum(rt0, 5))).proved


def test_each_map_clamps_a_value_to_its_own_box() -> None:
    """Each map clamps a value to its own box: 1 stays 1 in the first map, outside its domain; in the second it is 0."""
    wide, narrow = (
        IndexingMap.of([("d0", 0, 9)], [], [("rt0", 0, hi, source("p", d0))], [d0], [(rt0, 0, 0)]) for hi in (1, 0)
    )
    assert equal_maps(wide, narrow).counterexample.values == {"d0": 0, "rt0": 1}
    assert contains(narrow, wide).proved
    assert not contains(wide, narrow).proved
    assert not inverse(wide, narrow).proved
    assert not same_relation([wide, wide], [narrow, narrow, narrow]).proved
    assert not covering_domains([wide], [10]).proved
    assert covering_domains([narrow], [10]).proved
    least, most = (IndexingMap.of([("d0", 0, 9)], [], [("rt0", 0, hi, None)], [d0], [(rt0, hi, hi)]) for hi in (1, 3))
    # 3 lies in both domains, because the first map clamps it
    assert disjoint_domains([least, most]).counterexample.values["rt0"] == 3
    assert not disjoint(least, most).proved
    nothing = sliced(("rt0", 0, -1, None), result=d0)
    assert not inverse(narrow, nothing).proved
    assert not same_relation([narrow], [nothing, nothing]).proved


def test_runtime_variables_match_by_source_before_name() -> None:
    p, q = source("p", d0), source("q", d0)
    both = sliced(("rt0", 0, 5, p), ("rt1", 0, 5, q), result=rt0 + 3 * rt1)
    assert equal_maps(both, sliced(("rt0", 0, 5, q), ("rt1", 0, 5, p), result=rt1 + 3 * rt0)).proved
    assert not equal_maps(both, sliced(("rt0", 0, 5, q), ("rt1", 0, 5, p), result=rt0 + 3 * rt1)).proved
    # values of different instructions differ
    assert not equal_maps(sliced(("rt0", 0, 5, p)), sliced(("rt0", 0, 5, q))).proved
    # an unused runtime variable is not matched with any other
    assert equal_maps(sliced(("rt0", 0, 5, p)), sliced(("x", 0, 9, None), ("rt0", 0, 5, p))).proved


def test_the_same_element_may_be_written_differently() -> None:
    plain = sliced(("rt0", 0, 5, source("p", d0)))
    assert equal_maps(plain, sliced(("rt0", 0, 5, source("p", d0 % 10)))).proved
    answer = equal_maps(plain, sliced(("rt0", 0, 5, source("p", d0 % 7))))
    assert answer.counterexample.values["d0"] == 7
    assert "different runtime elements" in answer.counterexample.reason
    # a value that does not affect the result may be read anywhere
    dull = minimum(rt0, 0)
    assert equal_maps(
        sliced(("rt0", 0, 5, source("p", d0)), result=dull), sliced(("rt0", 0, 5, source("p", d0 + 1)), result=dull)
    ).proved


def test_elements_that_depend_on_ranges() -> None:
    def gathered(index: object) -> IndexingMap:
        rts = [("rt0", 0, 5, source("p", index))]
        return IndexingMap.of([("d0", 0, 9)], [("s0", 0, 3)], rts, [d0 * 4 + s0 + 100 * rt0])

    assert equal_maps(gathered(s0), gathered(s0 % 4)).proved
    assert not equal_maps(gathered(s0), gathered(3 - s0)).proved
    # the same spelling, but another element: reading one row differs from reading all rows
    one, all_rows = (
        IndexingMap.of(
            [("d0", 0, 3)], [("s0", 0, 5), ("s1", 0, 2)], [("rt0", 0, 3, source("p", s0))], results, [(d0 - rt0, 0, 0)]
        )
        for results in ([s0 // 3, s0 % 3], [s0 // 3, s1])
    )
    assert not equal_maps(one, all_rows).proved
    assert equal_maps(all_rows, all_rows.with_(results=(all_rows.results[0], s1 % 3))).proved


def counted(*index: object) -> IndexingMap:
    """Map 0 to 0 where some value of the range equals the value read there; without an index, everywhere."""
    rts = [("rt0", 0, 1, source("p", *index))] if index else []
    return IndexingMap.of([("d0", 0, 0)], [("s0", 0, 1)], rts, [0], [(rt0 - s0, 0, 0)] if index else [])


def test_a_range_is_not_chosen_by_the_value_that_is_read_at_it() -> None:
    """A range need not equal the value read at its index: of the values 1, 0 none does, of 0, 1 both do."""
    assert equal_maps(counted(s0), counted(s0 % 2)).proved
    assert not equal_maps(counted(s0), counted(1 - s0)).proved
    one, other = counted(s0), counted()
    assert contains(other, one).proved
    assert equal_maps(one, other).verdict is Status.REFUTED
    assert inverse(one, other).verdict is Status.REFUTED
    assert same_relation([one, one], [other, other]).verdict is Status.REFUTED
    assert same_relation([one, one], [counted(1 - s0), counted(1 - s0)]).verdict is Status.REFUTED
    assert same_relation([one, one], [counted(s0 % 2), one]).proved


def test_values_that_are_read_at_exchanged_ranges() -> None:
    """The order of ranges and the names of values do not matter, also for a value read at an index that is a value."""

    def nested(row: str, column: str, *names: str) -> IndexingMap:
        outer, pick, inner = map(var, names)
        ends = {row: 2, column: 1}
        values = [
            (names[0], 0, 2, source("q", var(row), var(row))),
            (names[1], 0, 1, source("p", var(column))),
            (names[2], 0, 2, source("p", outer // 2)),
        ]
        ranges = [(name, 0, ends[name]) for name in ("s0", "s1")]
        return IndexingMap.of([("d0", 0, 1)], ranges, values, [var(column) + inner], [(pick * 2 + outer, 1, 1)])

    one = nested("s0", "s1", "rt1", "rt0", "rt2")
    for names in itertools.permutations(("rt0", "rt1", "rt2")):
        other = nested("s1", "s0", *names)
        assert equal_maps(one, other).proved
        assert contains(other, one).proved
        assert same_relation([one, one], [other, other]).proved
        assert inverse(one, turned(other)).proved
        assert equal_maps(one, other.with_(results=(other.results[0] + 1,))).verdict is Status.REFUTED


def test_a_value_of_some_range_is_not_that_of_an_element() -> None:
    """What a map reads at some range is more than what another reads at one index, whatever the names are."""
    some, one = (
        IndexingMap.of([("d0", 0, 1)], [("s0", 0, 1)], [("rt0", 0, 1, source("p", index))], [rt0]) for index in (s0, d0)
    )
    none = IndexingMap.of([("d0", 0, 1)], [], [], [d0], [(d0, 2, 2)])
    assert same_relation([some, none], [none, one]).verdict is Status.REFUTED
    assert inclusion([one, none], [none, some]).proved
    assert inclusion([some, none], [none, one]).verdict is Status.REFUTED


def test_a_range_that_is_too_long_to_be_tried() -> None:
    """Among many elements, one that is known is found, and if all others are equal, none of them has another value."""

    def least(index: Expr, *where: object) -> IndexingMap:
        rts = [("rt0", 0, 9, source("p", index))]
        return IndexingMap.of([("d0", 0, 999)], [("s0", 0, 999)], rts, [rt0 + d0], where)

    picked = least(d0)
    assert contains(least(s0), picked).proved
    assert contains(picked, least(s0)).verdict is Status.REFUTED
    assert equal_maps(least(s0), least(999 - s0)).proved
    # some element may be 0, which depends on a thousand elements
    assert equal_maps(least(s0, (rt0, 0, 0)), least(s0, (rt0 + s0, 0, 0))).verdict is Status.REFUTED
    assert covers(IndexingMap.of([("d0", 0, 9)], [], [("rt0", 0, 0, source("p", d0))], [d0 + rt0]), [10]).proved


def test_many_values_that_are_read_at_ranges() -> None:
    """Of very many choices of elements the likely one is tried; equal elements refute what is wrong for all choices."""
    ranges = [var(f"s{k}") for k in range(6)]
    rts = [(f"rt{k}", 0, 99, source("p", 2 * s)) for k, s in enumerate(ranges)]
    results = [100 * s + var(f"rt{k}") for k, s in enumerate(ranges)]
    box = [("d0", 0, 9)], [(s.name, 0, 99) for s in ranges]
    one = IndexingMap.of(*box, rts, results)
    assert equal_maps(one, IndexingMap.of(*box, rts[::-1], results)).proved
    assert equal_maps(one, IndexingMap.of(*box, rts, [e + 1 for e in results])).verdict is Status.REFUTED


def test_what_is_read_and_not_used_does_not_matter() -> None:
    one, two = (IndexingMap.of([("d0", 0, 3)], [("s0", 0, n)], [("rt0", 0, 1, source("p", s0))], [d0]) for n in (0, 1))
    assert equal_maps(one, two).proved
    assert contains(one, two).proved
    assert contains(one, two.with_(constraints=(Constraint(rt0 - s0, 0, 0),))).proved
    # nor is it false where every value that is read gives the target
    bounded = [m.with_(constraints=(Constraint(rt0 + d0, 0, 9),)) for m in (one, two)]
    assert equal_maps(*bounded).verdict is not Status.REFUTED


def test_domains_of_what_is_read_at_a_range() -> None:
    def domains(index: object) -> list[IndexingMap]:
        rts = [("rt0", 0, 1, source("p", index))]
        return [IndexingMap.of([("d0", 0, 3)], [("s0", 0, 1)], rts, [d0], [(rt0, k, k)]) for k in (0, 1)]

    assert partition(domains(d0), [4]).proved
    assert disjoint_domains(domains(s0)).verdict is Status.REFUTED
    assert covering_domains(domains(s0), [4]).proved


def at_one_element(rts: list[tuple[str, object]], results: list[Expr], *constraints: object) -> IndexingMap:
    """A map with values of the boxes [0, 2] that are read from q at indices."""
    values = [(name, 0, 2, source("q", index)) for name, index in rts]
    return IndexingMap.of([("d0", 0, 2), ("d1", 0, 2)], [], values, results, constraints)


def test_an_element_with_two_names_has_one_value() -> None:
    both = [("rt0", d0), ("rt1", d0)]
    still, one = (at_one_element(both, e) for e in ([d0 * 3 + d1 + rt0 - rt1], [d0 * 3 + d1 + rt0]))
    assert injective(still).proved
    assert in_bounds(still, [9]).proved
    assert covers(still, [9]).verdict is not Status.REFUTED
    assert aligned(at_one_element(both, [rt0 + rt1]), 2).proved
    assert monotone(still, strict=True).proved
    assert contiguous(still, "d1", 3).proved
    assert is_empty(at_one_element(both, [], (rt0 - rt1, 1, 2))).proved
    assert disjoint(still, at_one_element(both, [9 + d0 + rt1 - rt0])).proved
    assert equal_maps(one, at_one_element(both, [d0 * 3 + d1 + rt1])).proved
    assert contains(one, at_one_element(both, [d0 * 3 + d1 + rt1 * 2 - rt0])).proved
    assert inclusion([still], [one, at_one_element(both[1:], [d0 * 3 + d1])]).proved
    domains = [at_one_element(both, [], (e, lo, lo + 2)) for e, lo in ((rt0, 0), (rt1 - rt0, 1))]
    assert partition(domains, [3, 3]).proved
    assert not disjoint_domains([domains[0], at_one_element(both, [], (rt1, 0, 1))]).proved
    # one box may be narrower
    narrow = IndexingMap.of(
        [("d0", 0, 2)], [], [("rt0", 0, 2, source("q", d0)), ("rt1", 1, 2, source("q", d0))], [rt1 - rt0]
    )
    assert in_bounds(narrow, [2]).proved
    found = in_bounds(narrow, [1]).counterexample
    assert (found.left, found.values) == ((1,), {"d0": 0, "rt0": 0, "rt1": 1})


def test_values_are_equal_where_the_indices_are() -> None:
    two = at_one_element([("rt0", d0), ("rt1", d1)], [rt0 - rt1], (d0 - d1, 0, 0))
    assert in_bounds(two, [1]).proved
    found = in_bounds(two.with_(constraints=()), [1]).counterexample
    assert found.values["d0"] != found.values["d1"]
    # of two maps
    other = at_one_element([("rt0", d1), ("rt1", d0)], [rt0 - rt1], (d0 - d1, 0, 0))
    assert equal_maps(two, other).proved
    assert same_relation([two, two], [other, other, two]).proved


def test_one_name_for_two_elements() -> None:
    """A name that two maps give to different elements is not one value."""
    covered = [at_one_element([("rt0", index)], [], (rt0, lo, lo)) for index, lo in ((0, 0), (0, 1), (1, 2))]
    assert not covering_domains(covered, [1, 1]).proved
    whole = at_one_element([], [])
    assert not inclusion([whole], covered).proved
    assert inclusion([whole], [*covered[:2], at_one_element([("rt0", 0)], [], (rt0, 2, 2))]).proved


def test_what_goes_back_reads_the_same_element() -> None:
    def there_and_back(index: object) -> Answer:
        there = IndexingMap.of([("d0", 0, 3)], [], [("rt0", 0, 3, source("p", d0))], [d0 + rt0])
        back = IndexingMap.of(
            [("d0", 0, 6)], [("s0", 0, 3)], [("rt0", 0, 3, source("p", index))], [s0], [(d0 - rt0 - s0, 0, 0)]
        )
        return inverse(there, back)

    assert there_and_back(s0).proved
    assert not there_and_back(d0).proved
    # the same for several maps: the elements read at 1 and at 0 differ
    one, other = (sliced(("rt0", 0, 5, source("p", k))) for k in (0, 1))
    assert not same_relation([one, one], [other, other]).proved
    assert not same_relation([one, one], [sliced(("rt0", 0, 5, source("q", 0)))] * 2).proved
    assert same_relation([one, other], [other, one, one]).proved


# ------------------------------------------------------------------------------------------- trust
def test_disagreement_stops_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = Problem(((d0, Interval(0, 9)),), (), (Option((Fact(d0 // 2 - 1, Interval(-1, 2)),)),))
    assert decide_problem(problem).outcome == Outcome("fails", (8,))
    monkeypatch.setitem(portfolio.ENGINES, "isl", lambda p, factor: Outcome("holds"))
    with pytest.raises(
        EngineDisagreement, match=r"(?s)enumeration: fails at d0 = 8\nisl: holds\nfor all d0 in \[0, 9\]"
    ):
        decide_problem(problem, confirm=True)
    monkeypatch.setitem(portfolio.ENGINES, "enumeration", lambda p, factor: Outcome("fails", (3,)))
    with pytest.raises(EngineDisagreement, match="evaluation: holds"):
        decide_problem(problem)


def test_every_engine_alone_gives_the_same_answer() -> None:
    e = maximum((d0 * 3 + d1) // 4, d0 % 5) - minimum(d1, d0 // 7)
    problem = Problem(((d0, Interval(-20, 20)), (d1, Interval(-9, 9))), (), (Option((Fact(e, Interval(-30, 16)),)),))
    answers = {name: decide_problem(problem, engines=[name]).outcome for name in ("enumeration", "isl", "z3")}
    assert len(set(answers.values())) == 1, answers
    assert answers["isl"].status == "fails"


def test_answers_do_not_depend_on_the_hash_seed() -> None:
    program = (
        "from indexproof.verify.concrete import *; from indexproof.core.expr import *;"
        "x, y = var('x'), var('y'); box = [('x', 0, 10**6), ('y', -10**6, 10**6)];"
        "e = (x * 5 + y) // 7; a = equal_exprs(e + x % 3, e + (x + y // 9000) % 3, box, confirm=True);"
        "print(a.verdict, a.engine, a.tried, a.counterexample, a.confirmed_by)"
    )
    runs = {
        subprocess.run(
            [sys.executable, "-c", program], env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
            capture_output=True, text=True, check=True,
        ).stdout
        for seed in ("0", "1", "2")
    }  # fmt: skip
    assert len(runs) == 1, runs
    assert "REFUTED" in runs.pop()


def test_a_part_that_isl_finds_empty_only_when_it_looks_for_a_point() -> None:
    s, t = var("s"), var("t")
    where = (
        Fact((s * 3 - 14) // 6 - 8, Interval(0, 0)),
        Fact((s * 4 + t) % 3, Interval(2, 2)),
        Fact((t * 6 - 12) % 8, Interval(3, 7)),
        Fact(s % 9, Interval(4, 4)),
    )
    found = isl.decide(Problem(((s, Interval(4, 22)), (t, Interval(0, 5))), where))
    assert (found.status, found.point, found.minimal) == ("fails", (22, 4), True)


# A guess for an unknown may use a variable of the other map, which is left out where nothing depends on it.
@pytest.mark.parametrize(("left", "right"), [
    ("s0 in [0, 2], s0 mod 2 in [0, 0]", "s0 in [0, 1]"),
    ("s0 in [0, 4], s0 mod 4 in [0, 0]", "s0 in [0, 2], s0 mod 2 in [0, 0]"),
])  # fmt: skip
def test_guesses_that_mention_what_a_part_has_not(left: str, right: str) -> None:
    head, tail = "(d0)[s0, s1] -> (d0), domain: d0 in [0, 1]", "s1 in [0, 1], d0 - s1 in [0, 0]"
    maps = [parse_map(f"{head}, {s}, {tail}") for s in (left, right)]
    assert equal_maps(*maps).proved
    assert equal_maps(*maps[::-1]).proved
