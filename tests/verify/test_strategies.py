"""Hypothesis strategies draw valid and varied maps, and planted mistakes shrink to one operation."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest
from computation_maps import computation_maps
from hypothesis import HealthCheck, assume, find, given, settings
from hypothesis import strategies as st

import indexproof
from indexproof import strategies
from indexproof.core.expr import (
    CeilDiv,
    Expr,
    FloorDiv,
    Int,
    Max,
    Min,
    Mod,
    Sum,
    floordiv,
    integer,
    linear,
    mod,
    postorder,
    rebuild,
)
from indexproof.core.facts import Facts
from indexproof.core.hlo import Module, Shape, format_module, read_module, read_shape
from indexproof.core.indexing_map import IndexingMap
from indexproof.core.interval import Interval
from indexproof.core.layout import memory
from indexproof.core.op import Op
from indexproof.rules.ops import catalogue

CHECK = settings(deadline=None, max_examples=60, derandomize=True, suppress_health_check=list(HealthCheck))
FINDING = settings(CHECK, max_examples=4000)


# ------------------------------------------------------------------------------------------- planted mistakes
Rewrite = Callable[[Expr, Facts], Expr | None]


def divided(e: Expr, kind: type[FloorDiv | Mod | CeilDiv]) -> int:
    """Return the constant divisor, or 0 without one."""
    return e.b.value if isinstance(e, kind) and isinstance(e.b, Int) else 0


def remainder_at_the_edge(e: Expr, facts: Facts) -> Expr | None:
    """``x mod g = x`` although x may be g: `<=` instead of `<`."""
    g = divided(e, Mod)
    i = facts.interval(e.a) if g > 0 else Interval(-1, -1)
    return e.a if 0 <= i.lo and i.hi <= g else None


def quotient_at_the_edge(e: Expr, facts: Facts) -> Expr | None:
    """``x floordiv g = 0`` although x may be g."""
    g = divided(e, FloorDiv)
    i = facts.interval(e.a) if g > 0 else Interval(-1, -1)
    return integer(0) if 0 <= i.lo and i.hi <= g else None


def sign_of_the_divisor(e: Expr, facts: Facts) -> Expr | None:
    """``x floordiv -g = -(x floordiv g)``, as if quotients were rounded towards zero."""
    g = divided(e, FloorDiv)
    return -floordiv(e.a, -g) if g < 0 else None


def sign_of_the_remainder(e: Expr, facts: Facts) -> Expr | None:
    """``x mod -g = x mod g``."""
    g = divided(e, Mod)
    return mod(e.a, -g) if g < -1 else None


def rounding_up(e: Expr, facts: Facts) -> Expr | None:
    """``x ceildiv g = (x + g) floordiv g``, one too many."""
    g = divided(e, CeilDiv)
    return floordiv(e.a + g, g) if g else None


def nested_quotients(e: Expr, facts: Facts) -> Expr | None:
    """``(x floordiv a) floordiv b = x floordiv (a + b)``."""
    b = divided(e, FloorDiv)
    a = divided(e.a, FloorDiv) if b else 0
    return floordiv(e.a.a, a + b) if a > 0 and b > 0 else None


def multiples_that_are_not(e: Expr, facts: Facts) -> Expr | None:
    """``(k·x) floordiv g = (k floordiv g)·x`` though g does not divide k."""
    g = divided(e, FloorDiv)
    if g < 2 or not isinstance(e.a, Sum) or e.a.const or len(e.a.terms) > 1:
        return None
    ((x, k),) = e.a.terms
    return x * (k // g)


def carry_that_is_lost(e: Expr, facts: Facts) -> Expr | None:
    """``(x + c) floordiv g = x floordiv g`` where 0 < c < g."""
    g = divided(e, FloorDiv)
    if g < 2 or not isinstance(e.a, Sum) or not 0 < e.a.const < g:
        return None
    return floordiv(linear(0, e.a.terms), g)


def minimum_of_the_first(e: Expr, facts: Facts) -> Expr | None:
    """``min(x, y) = x`` although x may be larger than y by one."""
    if not isinstance(e, Min) or len(e.args) != 2:
        return None
    a, b = e.args
    return a if facts.interval(a - b).hi <= 1 else None


def maximum_of_the_factor(e: Expr, facts: Facts) -> Expr | None:
    """``max(x, y)`` is its first argument if that is never negative."""
    return e.args[0] if isinstance(e, Max) and facts.interval(e.args[0]).lo >= 0 else None


def remainder_of_a_remainder(e: Expr, facts: Facts) -> Expr | None:
    """``(x mod a) mod b = x mod b`` though b does not divide a."""
    b = divided(e, Mod)
    a = divided(e.a, Mod) if b > 0 else 0
    return mod(e.a.a, b) if a > b > 0 else None


def rewritten(m: IndexingMap, rewrite: Rewrite) -> IndexingMap:
    """Apply a rewrite to all subexpressions of the results, from the inside out."""
    facts = Facts({v.expr: Interval(v.lo, v.hi) for v in m.variables}, [])
    new: dict[Expr, Expr] = {}
    for e in postorder(*m.results):
        children = [new[c] for c in e.children]
        node = (
            linear(e.const, [(new[t], k) for t, k in e.terms])
            if isinstance(e, Sum)
            else rebuild(e, children)
            if children
            else e
        )
        found = rewrite(node, facts)
        new[e] = node if found is None else found
    return m.with_(results=tuple(new[e] for e in m.results))


def differ(m: IndexingMap, other: IndexingMap) -> bool:
    """Return whether two maps with the same domain differ at a point of a small box."""
    if math.prod(v.size for v in m.variables) > 2000:
        return False
    axes = np.meshgrid(*(np.arange(v.lo, v.hi + 1) for v in m.variables), indexing="ij")
    columns = [a.ravel() for a in axes]
    k, n = len(m.dims), len(m.dims) + len(m.ranges)
    inside, left = m.evaluate_many(columns[:k], columns[k:n], columns[n:])
    _, right = other.evaluate_many(columns[:k], columns[k:n], columns[n:])
    return any(bool(np.any(inside & (a != b))) for a, b in zip(left, right, strict=True))


#: Each mistake with the number of operations of its smallest example.
MISTAKES: list[tuple[Rewrite, int]] = [
    (remainder_at_the_edge, 1),
    (quotient_at_the_edge, 1),
    (sign_of_the_divisor, 1),
    (sign_of_the_remainder, 1),
    (rounding_up, 1),
    (nested_quotients, 2),
    (multiples_that_are_not, 2),
    (carry_that_is_lost, 2),
    (minimum_of_the_first, 1),
    (maximum_of_the_factor, 1),
    (remainder_of_a_remainder, 2),
]


@pytest.mark.parametrize(("mistake", "operations"), MISTAKES, ids=lambda x: getattr(x, "__name__", ""))
def test_a_planted_mistake_shrinks_to_what_it_is_about(mistake: Rewrite, operations: int) -> None:
    simple = strategies.maps(ranges=0, rts=0, facts=0, depth=2)
    m = find(simple, lambda m: differ(m, rewritten(m, mistake)), settings=FINDING)
    assert differ(m, rewritten(m, mistake))
    nodes = postorder(*m.results)
    # one more operation may be needed to get a nonnegative argument
    assert sum(not isinstance(n, Int) and bool(n.children) for n in nodes) <= operations + 1, m
    values = [abs(n.value) for n in nodes if isinstance(n, Int)]
    values += [abs(n.const) for n in nodes if isinstance(n, Sum)]
    assert max(values, default=0) <= 4, m


def test_a_condition_that_is_ignored_shrinks_to_one_constraint() -> None:
    m = find(strategies.maps(), lambda m: differ_in_domain(m, m.with_(constraints=m.constraints[1:])), settings=FINDING)
    assert len(m.constraints) == 1
    assert len(postorder(m.constraints[0].expr)) <= 2, m


def differ_in_domain(m: IndexingMap, other: IndexingMap) -> bool:
    if math.prod(v.size for v in m.variables) > 2000:
        return False
    return len(m.domain_points()) != len(other.domain_points())


def test_a_layout_that_is_ignored_shrinks_to_two_dimensions() -> None:
    def ignores(s: Shape) -> bool:
        return all(n > 1 for n in s.dims) and memory(s).forward != memory(s.with_layout()).forward

    s = find(strategies.shapes(empty=False), ignores, settings=FINDING)
    assert str(s) in {"f32[2]{0:T(2)}", "f32[2,2]{0,1}"}


def test_an_instruction_that_is_forgotten_shrinks_to_one() -> None:
    def reverses(m: Module) -> bool:
        return any(i.opcode == "reverse" and i.integers("dimensions") for i in m.entry.instructions)

    found = find(strategies.hlo_modules(), reverses, settings=FINDING)
    assert [i.opcode for i in found.entry.instructions] == ["parameter", "constant", "reverse", "copy"]


# ------------------------------------------------------------------------------------------- what can be drawn
def test_numbers_meet_where_simplifiers_compare() -> None:
    """Numbers coincide where simplifiers compare them: bounds and divisors, nested divisors, sizes of boxes."""
    seen: set[str] = set()

    @settings(CHECK, max_examples=400)
    @given(strategies.maps(sources=True, empty=True))
    def look(m: IndexingMap) -> None:
        nodes = postorder(*m.roots)
        divisors = [n.b.value for n in nodes if isinstance(n, (FloorDiv, Mod)) and isinstance(n.b, Int)]
        sizes = [v.size for v in m.variables]
        seen.update(
            name
            for name, there in {
                "hi == g": any(v.hi == g for v in m.variables for g in divisors),
                "hi == g - 1": any(v.hi == g - 1 for v in m.variables for g in divisors),
                "a divisor of a divisor": any(a != b and b > 1 and a % b == 0 for a in divisors for b in divisors),
                "negative divisor": any(g < 0 for g in divisors),
                "equal boxes": any(a == b for a, b in pairwise(sizes)),
                "empty": any(n == 0 for n in sizes),
                "negative": any(v.lo < 0 for v in m.variables),
                "one value": any(n == 1 for n in sizes),
                "constraints": bool(m.constraints),
                "a constraint on a remainder": any(isinstance(c.expr, Mod) for c in m.constraints),
                "sources": any(r.source is not None for r in m.rts),
                "ranges": bool(m.ranges),
                "extrema": any(isinstance(n, (Min, Max)) for n in nodes),
                "nested": any(isinstance(n, (FloorDiv, Mod)) and isinstance(n.a, (FloorDiv, Mod)) for n in nodes),
            }.items()
            if there
        )

    look()
    assert len(seen) == 14, seen


@CHECK
@given(strategies.maps(large=True))
def test_large_maps_are_simplified_to_equal_ones(m: IndexingMap) -> None:
    assert indexproof.equal_maps(m, indexproof.simplify(m)).proved


@CHECK
@given(strategies.maps(rank=2, results=1, rts=0, ranges=0, operations=("add", "mod"), names=("x", "y", "z")))
def test_what_was_asked_for_is_there(m: IndexingMap) -> None:
    assert (len(m.dims), len(m.results), m.ranges, m.rts) == (2, 1, (), ())
    assert [v.name for v in m.dims] == ["x0", "x1"]
    assert not any(isinstance(n, (FloorDiv, Min, Max)) for n in postorder(*m.results))


@CHECK
@given(strategies.domains(rank=2), st.data())
def test_points_lie_in_the_box(m: IndexingMap, data: st.DataObject) -> None:
    assert m.results == ()
    assume(not m.is_trivially_empty)
    point = data.draw(strategies.points(m))
    assert all(v.lo <= x <= v.hi for v, x in zip(m.variables, point, strict=True))


def test_an_empty_box_has_no_points() -> None:
    assert strategies.points(indexproof.parse_map("(d0) -> (d0), domain: d0 in [0, -1]")).is_empty


def test_a_wrong_operation_is_refused() -> None:
    with pytest.raises(ValueError, match="there is no operation 'xor', but add, "):
        strategies.expressions(["x"], operations=("add", "xor"))


@CHECK
@given(strategies.shapes())
def test_shapes_are_read_back(s: Shape) -> None:
    assert read_shape(str(s)) == s


@CHECK
@given(strategies.op_instances())
def test_instances_of_ops_are_valid(instance: tuple[Op, list[list[int]]]) -> None:
    op, sizes = instance
    op.validate(*(() if op.virtual else sizes))


def test_instances_of_one_op_of_ones_own() -> None:
    from indexproof.rules.ops import OPS

    seen = set()

    @CHECK
    @given(strategies.op_instances([OPS["transpose"]], max_rank=3))
    def look(instance: tuple[Op, list[list[int]]]) -> None:
        op, (sizes,) = instance
        assert op.name == "transpose"
        seen.add(len(sizes))

    look()
    assert seen == {0, 1, 2, 3}


@CHECK
@given(strategies.hlo_modules(elements=100))
def test_modules_are_read_back_and_their_maps_are_inverse(m: Module) -> None:
    assert read_module(format_module(m)) == m
    pairs = []
    for direction in ("output_to_input", "input_to_output"):
        found = computation_maps(m, catalogue, computation=m.entry, direction=direction, limit=50)
        assert not found.unknown
        pairs.append({p for one in found.get((0, 0), ()) for p in one.relation()})
    assert pairs[0] == {(b, a) for a, b in pairs[1]}
