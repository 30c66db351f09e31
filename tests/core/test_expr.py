"""Expressions: interning, canonical sums, any depth, many threads."""

from __future__ import annotations

import gc
import itertools
import pickle
import random
import threading

import pytest

from indexproof.core import expr as core
from indexproof.core.condition import FALSE, TRUE, divides
from indexproof.core.expr import ceildiv, integer, linear, maximum, minimum, postorder, select, var

x, y, z = var("x"), var("y"), var("z")


def test_structural_equality_is_identity() -> None:
    assert x + 2 * y is y * 2 + x
    assert (x + y) * 3 - 3 * y is 3 * x
    assert x - x is integer(0)
    assert (x // 4) % 5 is (x // 4) % 5
    assert minimum(x, minimum(y, 3), 7) is minimum(3, y, x)
    assert maximum(x, x) is x
    assert ceildiv(7, 2) is integer(4)
    assert var("x", "const") is not x


def test_division_by_the_literal_zero_has_no_value() -> None:
    for build in (lambda: x // 0, lambda: x % 0, lambda: ceildiv(x, 0)):
        with pytest.raises(ZeroDivisionError):
            build()


def test_an_expression_has_no_truth_value() -> None:
    with pytest.raises(TypeError, match="no truth value"):
        bool(x)
    assert (integer(3) < 4) is TRUE
    assert integer(0).divides(x) is FALSE


def test_ten_thousand_nested_operations() -> None:
    e = x
    for _ in range(10_000):
        e = (e + 1) // 2
    assert e.evaluate({"x": 5}) == 1
    assert pickle.loads(pickle.dumps(e)) is e
    assert e.substitute({x: y}).variables() == (y,)
    assert len(str(e)) > 10_000


def test_interning_does_not_leak() -> None:
    gc.collect()
    before = core.sweep()
    kept = [linear(n, [((x + n) // 7, 3), (y % (n + 1), 1)]) for n in range(2_000)]
    assert core.sweep() > before + 4_000
    del kept
    assert core.sweep() <= before + 10


def test_the_table_is_swept_without_being_told() -> None:
    before = core.sweep()
    for n in range(30_000):
        linear(n, [((x + n) // 7, 3), (y % (n + 1), 1)])
    assert len(core._table) <= 2 * (before + 70_000)


def test_sweeping_takes_nothing_from_other_threads() -> None:
    done = threading.Event()

    def sweep() -> None:
        # without a pause between sweeps of a large table, the other thread never gets the lock
        while not done.wait(0.0001):
            core.sweep()

    sweeper = threading.Thread(target=sweep)
    sweeper.start()
    try:
        for n in range(3_000):
            e = (x + n) // 3 + (y * n) % 7
            assert e is (y * n) % 7 + (n + x) // 3
    finally:
        done.set()
        sweeper.join()


def test_threads_get_the_same_node() -> None:
    built: list[list[object]] = [[] for _ in range(8)]
    start = threading.Barrier(8)

    def work(out: list[object]) -> None:
        start.wait()
        out.extend((x + n) // 3 + (y * n) % 7 for n in range(3_000))

    threads = [threading.Thread(target=work, args=(out,)) for out in built]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    for nodes in zip(*built, strict=True):
        assert all(n is nodes[0] for n in nodes)


@pytest.mark.parametrize("allocations", [1, 2, 3, 5, 7])
def test_a_node_made_by_a_garbage_collection_is_the_same(allocations: int) -> None:
    """An allocation may start a collection, which may run Python code that makes the node that is being made."""
    wanted: list[int] = []
    others: list[object] = []
    met = 0

    def make(n: int) -> object:
        return (x + n) // 3 + (y * n) % 7

    def during(phase: str, _: object) -> None:
        if phase == "start" and wanted:
            others.append(make(wanted[0]))

    before = gc.get_threshold()
    gc.callbacks.append(during)
    gc.set_threshold(allocations)
    try:
        for n in range(allocations * 10_000, allocations * 10_000 + 300):
            wanted.append(n)
            node = make(n)
            wanted.clear()
            assert all(other is node for other in others)
            met += len(others)
            others.clear()
    finally:
        gc.set_threshold(*before)
        gc.callbacks.remove(during)
    assert met > 100


def test_operators_mean_what_python_means() -> None:
    rng = random.Random(7)
    for _ in range(500):
        a, b, c = (rng.randint(-30, 30) for _ in range(3))
        k = rng.choice([-7, -3, -1, 1, 2, 5])
        env = {"x": a, "y": b, "z": c}
        assert ((x * k + y - 4) // k).evaluate(env) == (a * k + b - 4) // k
        assert ((x - y) % k).evaluate(env) == (a - b) % k
        assert (x * y - z).evaluate(env) == a * b - c
        assert minimum(x, y + z, 3).evaluate(env) == min(a, b + c, 3)


def test_postorder_lists_children_first() -> None:
    e = (x + y) // 3 + (x + y) % 3
    order = postorder(e)
    assert len(order) == len(set(order))
    for node in order:
        assert all(order.index(k) < order.index(node) for k in node.children)


def test_no_two_integers_have_the_same_digest() -> None:
    x = var("x")
    numbers = [*range(-50, 50), *(s * 2**k + d for k in (31, 60, 61, 62, 64, 130) for s in (1, -1) for d in (-1, 0, 1))]
    numbers += [2**61 - 1 + n for n in range(5)]
    distinct = set(numbers)
    assert len({integer(n).key for n in distinct}) == len(distinct)
    assert len({(x * n).key for n in distinct - {0}}) == len(distinct - {0})
    assert len({(x + n).key for n in distinct}) == len(distinct)


def test_the_order_of_construction_leaves_no_trace() -> None:
    x = var("x")
    one, other = -x, -2 * x
    assert minimum(one, other) is minimum(other, one)
    assert one // 3 + other // 3 is other // 3 + one // 3


def test_a_selection_looks_at_its_condition() -> None:
    x, y = var("x"), var("y")
    e = select((x < y) & divides(integer(2), x) | x.within(7, 9), x + 1, y * y)
    for i, k in itertools.product(range(-3, 10), range(-3, 4)):
        chosen = (i < k and i % 2 == 0) or 7 <= i <= 9
        assert e.evaluate({"x": i, "y": k}) == (i + 1 if chosen else k * k)
        assert e.substitute({x: i}).substitute({y: k}) is integer(i + 1 if chosen else k * k)
    assert select(TRUE, x, y) is x
    assert select(FALSE, x, y) is y
    assert select(x < y, x, x) is x
    assert str(e) == "select((x < y and 2 ∣ x) or x ∈ [7, 9], x + 1, y·y)"
    assert pickle.loads(pickle.dumps(e)) is e
    assert select(x <= y, x, y).key != select(x < y, x, y).key != select(y < x, x, y).key
