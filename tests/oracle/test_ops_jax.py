"""Every op against jax: shapes, and the elements that an output element depends on.

Dependence is observed, not derived: one operand element is changed, and the output elements that change depend
on it. That needs no gradient, so it works for integers and comparisons as well.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from op_relation import Pair, map_relation, reads_relation
from oracle.ops_in_jax import perform

from indexproof.core.op import DIRECTIONS, WRITTEN, Op
from indexproof.rules.ops import OPS
from indexproof.rules.ops.contraction import Dot
from indexproof.rules.ops.dynamic import DynamicSlice, DynamicUpdateSlice, Gather
from indexproof.rules.ops.folding import Reduce
from indexproof.rules.ops.movement import Broadcast, Concatenate, Pad, Reverse, Slice, Transpose
from indexproof.rules.ops.pointwise import (
    FUNCTIONS,
    Clamp,
    Compare,
    Constant,
    Convert,
    Copy,
    Elementwise,
    Iota,
    Rng,
    Select,
)
from indexproof.rules.ops.reshape import Bitcast, Reshape
from indexproof.rules.ops.scatter import Scatter
from indexproof.rules.ops.sorting import Sort, TopK
from indexproof.rules.ops.window import Convolution, ReduceWindow, SelectAndScatter, Window

jax = pytest.importorskip("jax")

Shape = list[int]
Case = tuple[Op, list[Shape]]
SAMPLES = 6
# Ops whose result may stay the same although an operand changes.
HIDING = (Elementwise, Compare, Select, Clamp, Sort, TopK)
# Ops that jax.lax cannot perform: collectives need several devices (test_collectives.py), a dynamic size has
# no counterpart, tuples are exchanged only in optimized programs, and fibres have their own test.
ELSEWHERE = {
    *("all-gather", "all-reduce", "all-to-all", "all-to-all-of-tuples", "collective-broadcast"),
    *("collective-permute", "fibres", "reduce-scatter", "set-dimension-size"),
}


def sizes(rng: random.Random, rank: int, low: int = 0, high: int = 4) -> Shape:
    """Random sizes, now and then 0 or 1, at most 48 elements."""
    while True:
        x = [rng.choice((low, 1, *range(max(low, 1), high + 1), *range(2, high + 1))) for _ in range(rank)]
        if math.prod(x) <= 48:
            return x


def some(rng: random.Random, rank: int) -> tuple[int, ...]:
    return tuple(d for d in range(rank) if rng.random() < 0.5)


def shuffled(rng: random.Random, values: Sequence[int]) -> tuple[int, ...]:
    return tuple(rng.sample(list(values), len(values)))


# ------------------------------------------------------------------------------------------- random instances
def elementwise(rng: random.Random, x: Shape) -> Case:
    function = rng.choice(["add", "multiply", "negate", "exponential", "maximum", "sign", "subtract", "tanh"])
    return Elementwise(function, FUNCTIONS[function]), [x] * FUNCTIONS[function]


def iota(rng: random.Random, x: Shape) -> Case:
    x = x or [3]
    return Iota(tuple(x), rng.randrange(len(x))), []


def broadcast(rng: random.Random, x: Shape) -> Case:
    dimensions = shuffled(rng, some(rng, len(x)))
    return Broadcast(tuple(x), dimensions), [[x[d] for d in dimensions]]


def slice_(rng: random.Random, x: Shape) -> Case:
    ends = [sorted((rng.randint(0, n), rng.randint(0, n))) for n in x]
    stride = tuple(rng.randint(1, 3) for _ in x)
    return Slice(tuple(a for a, _ in ends), tuple(b for _, b in ends), stride), [x]


def concatenate(rng: random.Random, x: Shape) -> Case:
    x = x or [2]
    d, count = rng.randrange(len(x)), rng.randint(1, 4)
    return Concatenate(d, count), [[*x[:d], rng.randint(0, 3), *x[d + 1 :]] for _ in range(count)]


def pad(rng: random.Random, x: Shape) -> Case:
    while True:
        op = Pad(*(tuple(rng.randint(low, 2) for _ in x) for low in (-2, -2, 0)))
        if all(int(n.evaluate({})) >= 0 for n in op.shape(x, [])):
            return op, [x, []]


def factored(rng: random.Random, count: int) -> Shape:
    """A random shape with `count` elements."""
    out = []
    while count > 1:
        n = rng.choice([k for k in range(2, count + 1) if count % k == 0])
        out.append(n)
        count //= n
    for _ in range(rng.randint(0, 2)):
        out.insert(rng.randint(0, len(out)), 1)
    return out if count else [*out, 0, *sizes(rng, rng.randint(0, 2))]


def bitcast(rng: random.Random, x: Shape) -> Case:
    target = factored(rng, math.prod(x))
    return Bitcast(tuple(target), shuffled(rng, range(len(x))), shuffled(rng, range(len(target)))), [x]


class Pointed:
    """The common part of gather and scatter: an array, the roles of its dimensions, a batch of indices into it.

    A dimension is part of the (w)indow, (d)ropped from it, (m)apped to an index and part of the window, or (b)atching.
    """

    def __init__(self, rng: random.Random, x: Shape) -> None:
        self.roles = [rng.choice("wwdmb" if rng.random() < 0.5 else "wm") for _ in x]
        # a dropped dimension may have no start index, which means 0
        self.mapped = shuffled(rng, [d for d, r in enumerate(self.roles) if r in "dm"])
        self.dropped = tuple(d for d, r in enumerate(self.roles) if r == "d")
        self.batching = tuple(d for d, r in enumerate(self.roles) if r == "b")
        self.window = [d for d, r in enumerate(self.roles) if r in "wm"]
        free = [rng.randint(0, 3) for _ in range(rng.randint(0, 2))]
        indices = [*(x[d] for d in self.batching), *free]
        order = shuffled(rng, range(len(indices)))
        self.over = [indices[k] for k in order]
        paired = [order.index(k) for k in range(len(self.batching))]
        self.batch = list(self.over)
        self.vector = rng.randint(0, len(self.batch))
        if len(self.mapped) == 1 and rng.random() < 0.3:
            self.vector = len(self.batch)
        else:
            self.batch.insert(self.vector, len(self.mapped))
            paired = [e + (e >= self.vector) for e in paired]
        self.paired = tuple(paired)

    def places(self, rng: random.Random) -> tuple[int, ...]:
        """Draw the positions of the window's dimensions among those of the output or of the updates."""
        total = len(self.window) + len(self.over)
        return tuple(sorted(rng.sample(range(total), len(self.window))))


def gather(rng: random.Random, x: Shape) -> Case:
    x = [max(n, 1) for n in x]
    p = Pointed(rng, x)
    slices = tuple(1 if r in "db" else rng.randint(0, n) for n, r in zip(x, p.roles, strict=True))
    op = Gather(p.places(rng), p.dropped, p.mapped, p.vector, slices, p.batching, p.paired)
    return op, [x, p.batch]


def scatter(rng: random.Random, x: Shape) -> Case:
    # XLA fails to compile a scalar that several updates go to
    x = [max(n, 1) for n in x] or [3]
    p = Pointed(rng, x)
    window = [rng.randint(0, x[d]) for d in p.window]
    places = p.places(rng)
    parts, rest = iter(window), iter(p.over)
    updates = [next(parts) if d in places else next(rest) for d in range(len(window) + len(p.over))]
    op = Scatter(places, p.dropped, p.mapped, p.vector, p.batching, p.paired, replaces=rng.random() < 0.5)
    return op, [x, p.batch, updates]


def sort(rng: random.Random, x: Shape) -> Case:
    x = x or [3]
    count = rng.randint(1, 2)
    return Sort(rng.randrange(len(x)), count, ((0,), (0, 1)) if count == 2 else ()), [x] * count


def topk(rng: random.Random, x: Shape) -> Case:
    x = x or [3]
    return TopK(rng.randint(0, x[-1]), len(x) - 1), [x]


def select_and_scatter(rng: random.Random, x: Shape) -> Case:
    # XLA stops at scalars
    x = [max(n, 1) for n in x] or [2]
    windows = []
    for n in x:
        low, high = rng.randint(0, 1), rng.randint(0, 1)
        windows.append(Window(rng.randint(1, min(3, n + low + high)), rng.randint(1, 3), low, high))
    places = [int(w.output(n).evaluate({})) for w, n in zip(windows, x, strict=True)]
    return SelectAndScatter(tuple(windows)), [x, places, []]


def reduce(rng: random.Random, x: Shape) -> Case:
    count = rng.randint(1, 2)
    # the oracle adds componentwise
    depends = ((0,), (1,)) if count == 2 else ()
    return Reduce(some(rng, len(x)), count, depends), [x] * count + [[]] * count


def window(rng: random.Random, size: int, reversed: bool = False) -> Window:
    pads = rng.randint(-1, 2), rng.randint(-1, 2)
    return Window(size, rng.randint(1, 3), *pads, rng.randint(1, 2), rng.randint(1, 2), reversed)


def reduce_window(rng: random.Random, x: Shape) -> Case:
    count = rng.randint(1, 2)
    windows = tuple(window(rng, rng.randint(1, 3)) for _ in x)
    return ReduceWindow(windows, count, ((0,), (1,)) if count == 2 else ()), [x] * count + [[]] * count


def dot(rng: random.Random, x: Shape) -> Case:
    roles = [rng.choice("bcf") for _ in x]
    batch, contracting = (shuffled(rng, [d for d, r in enumerate(roles) if r == role]) for role in "bc")
    y = [*(x[d] for d in (*batch, *contracting)), *sizes(rng, rng.randint(0, 2), high=3)]
    order = shuffled(rng, range(len(y)))
    places = [order.index(k) for k in range(len(batch) + len(contracting))]
    there = tuple(places[: len(batch)]), tuple(places[len(batch) :])
    return Dot(batch, there[0], contracting, there[1]), [x, [y[k] for k in order]]


def convolution(rng: random.Random, x: Shape) -> Case:
    spatial = min(len(x), 2)
    groups = rng.choice([(1, 1), (1, 1), (2, 1), (1, 2)])
    rank = spatial + 2
    orders = [shuffled(rng, range(rank)) for _ in range(3)]
    inner, count, batch = rng.randint(1, 2), groups[0] * groups[1], rng.randint(1, 2) * groups[1]
    outer = rng.randint(1, 2) * count
    base = [rng.randint(1, 4) for _ in range(spatial)]
    kernel = [rng.randint(1, 3) for _ in range(spatial)]
    windows = tuple(window(rng, n, rng.random() < 0.3) for n in kernel)
    # jax refuses padding that crops more elements than the array has
    windows = tuple(
        w if (n - 1) * w.base_dilation + 1 + w.low + w.high >= 0 else replace(w, low=0)
        for w, n in zip(windows, base, strict=True)
    )
    op = Convolution(windows, *orders, *groups)
    shapes = []
    for parts, order in (([batch, inner * groups[0], *base], orders[0]), ([outer, inner, *kernel], orders[1])):
        at = dict(zip(order, parts, strict=True))
        shapes.append([at[d] for d in range(rank)])
    return op, shapes


MAKERS: dict[str, Callable[[random.Random, Shape], Case]] = {
    "compare": lambda rng, x: (Compare(rng.choice(["LT", "GE", "GT", "LE"])), [x, x]),
    "select": lambda rng, x: (Select(), [rng.choice([x, []]), x, x]),
    "clamp": lambda rng, x: (Clamp(), rng.choice([[x, x, x], [[], x, []]])),
    "convert": lambda rng, x: (Convert("f32"), [x]),
    "copy": lambda rng, x: (Copy(), [x]),
    "constant": lambda rng, x: (Constant(tuple(x)), []),
    "transpose": lambda rng, x: (Transpose(shuffled(rng, range(len(x)))), [x]),
    "reverse": lambda rng, x: (Reverse(some(rng, len(x))), [x]),
    "reshape": lambda rng, x: (Reshape(tuple(factored(rng, math.prod(x)))), [x]),
    "dynamic-slice": lambda rng, x: (DynamicSlice(tuple(rng.randint(0, n) for n in x)), [x, *([] for _ in x)]),
    "dynamic-update-slice": lambda rng, x: (
        DynamicUpdateSlice(len(x)),
        [x, [rng.randint(0, n) for n in x], *([] for _ in x)],
    ),
    "rng": lambda rng, x: (Rng(tuple(x)), [[], []]),
    **{
        f.__name__.strip("_").replace("_", "-"): f
        for f in (
            *(elementwise, iota, broadcast, slice_, concatenate, pad, bitcast, gather, scatter),
            *(sort, topk, select_and_scatter, reduce, reduce_window, dot, convolution),
        )
    },
}


# ------------------------------------------------------------------------------------------------ observation
def addresses(op: Op) -> set[int]:
    """Return the operands that hold addresses, which select the elements that are read."""
    if isinstance(op, DynamicSlice | DynamicUpdateSlice):
        return set(range(op.first, op.arity))
    return {1} if isinstance(op, Gather | Scatter) else set()


def values(op: Op, k: int, shape: Shape, rng: np.random.Generator) -> np.ndarray:
    if k in addresses(op):
        return np.array(rng.integers(-6, 9, shape), dtype=np.int32)
    if isinstance(op, Select) and k == 0:
        return np.array(rng.integers(0, 2, shape), dtype=bool)
    if isinstance(op, HIDING):
        # around zero, so that signs and comparisons vary
        return np.array(rng.choice([-3, -2, -1, 1, 2, 3], shape), dtype=np.float32)
    # small positive integers: their sums and products are exact, and change whenever a term does
    return np.array(rng.integers(1, 50, shape), dtype=np.float32)


def observed(
    op: Op, run: Callable[..., Any], shapes: list[Shape], k: int, arrays: list[np.ndarray], reads: set[Pair]
) -> set[Pair]:
    """Return the pairs (output element, element of operand k) in which changing the latter changes the former.

    Each observed pair is a dependence. Where a dependence may be hidden (a comparison with an unchanged result),
    other base values are tried until all of `reads` have been observed, up to 300 times.
    """
    rng = np.random.default_rng(k)
    found: set[Pair] = set()
    for _ in range(300 if isinstance(op, HIDING) else 1):
        base = result(op, run(*arrays), k)
        for element in np.ndindex(*shapes[k]):
            changed = arrays[k].copy()
            changed[element] = another(op, k, arrays[k][element], rng)
            now = result(op, run(*arrays[:k], changed, *arrays[k + 1 :]), k)
            found |= {(tuple(place), element) for place in np.argwhere(now != base).tolist()}
        if found == reads:
            break
        arrays = [values(op, j, x, rng) for j, x in enumerate(shapes)]
    return found


def another(op: Op, k: int, old: Any, rng: np.random.Generator) -> Any:
    """Draw a value that differs from `old`."""
    if old.dtype == bool:
        return ~old
    new = old
    while new == old:
        new = values(op, k, [], rng)
    return new


def optimized_away(op: Op, shapes: list[Shape], k: int) -> bool:
    """Return whether XLA drops an initial value, since it assumes that folding one element needs none.

    HLO requires initial values to be neutral, so that the compiler may use them any number of times, even never.
    The ops follow the definition of the fold, as the reference interpreter does.
    """
    if isinstance(op, Reduce):
        return k >= op.count and math.prod(shapes[0][d] for d in op.dimensions) == 1
    return isinstance(op, ReduceWindow) and k >= op.count and not shapes[0]


def aimed(run: Callable[..., Any], shapes: list[Shape], k: int, asked: list[Pair]) -> set[Pair]:
    """Return the pairs of a select-and-scatter that are observed when those of `asked` are provoked.

    For each pair the output element is made the largest one, so that every window that contains it selects it; then
    the operand element or the source element changes. A pair of an operand element with itself is added unobserved,
    since an element that is alone in its window is always selected.
    """
    found: set[Pair] = set()
    source = np.arange(1, 1 + math.prod(shapes[1]), dtype=np.float32).reshape(shapes[1])
    for place, element in asked:
        if k == 0 and place == element:
            found.add((place, element))
            continue
        operand = np.zeros(shapes[0], np.float32)
        operand[place] = 1
        base = np.asarray(run(operand, source, np.float32(0)))
        if k == 0:
            operand[element] = 2
            now = np.asarray(run(operand, source, np.float32(0)))
        else:
            changed = source.copy()
            changed[element] += 100
            now = np.asarray(run(operand, changed, np.float32(0)))
        found |= {(tuple(o), element) for o in np.argwhere(now != base).tolist()}
    return found


def held(op: Op, run: Callable[..., Any], arrays: list[np.ndarray]) -> dict[int, np.ndarray]:
    """Return the runtime values of an op: its operands, and where a scatter writes (jax scatters ones into zeros)."""
    found = dict(enumerate(arrays))
    if isinstance(op, Scatter):
        found[WRITTEN] = np.asarray(run(np.zeros_like(arrays[0]), arrays[1], np.ones_like(arrays[2]))).astype(int)
    return found


def result(op: Op, made: Any, k: int) -> np.ndarray:
    """Return the output that depends on operand k."""
    return np.asarray(made[k % op.results] if isinstance(made, tuple | list) else made)


@pytest.mark.parametrize("rank", range(6))
@pytest.mark.parametrize("name", MAKERS)
def test_reads_is_what_jax_computes(name: str, rank: int) -> None:
    rng, numbers = random.Random(f"{name} {rank}"), np.random.default_rng(rank)
    for _ in range(SAMPLES):
        op, shapes = MAKERS[name](rng, sizes(rng, rank))
        op.validate(*shapes)
        arrays = [values(op, k, x, numbers) for k, x in enumerate(shapes)]
        run = jax.jit(lambda *arrays, op=op: perform(op, *arrays))
        made = run(*arrays)
        for output in made if isinstance(made, tuple | list) else [made]:
            assert [int(n.evaluate({})) for n in op.shape(*shapes)] == list(output.shape), (op.text(), shapes)
        if any(math.prod(x) > 100 for x in shapes) or math.prod(output.shape) > 400:
            continue
        for k in range(op.arity if shapes else 0):
            reads = reads_relation(op, k, shapes, held(op, run, arrays))
            for direction in DIRECTIONS:
                assert map_relation(op, k, direction, shapes, held(op, run, arrays)) == reads
            if isinstance(op, Rng):
                continue  # each run draws new numbers
            if isinstance(op, SelectAndScatter) and k < 2:
                asked = rng.sample(sorted(reads), min(len(reads), 60))
                assert set(asked) <= aimed(run, shapes, k, asked) <= reads, (op.text(), k, shapes)
                continue
            if isinstance(op, Scatter) and op.replaces and k == 2:
                # of several updates of one element the last one counts, in an unspecified order
                seen = observed(op, run, shapes, k, arrays, reads)
                assert seen <= reads, (op.text(), shapes)
                assert {o for o, _ in seen} == {o for o, _ in reads}, (op.text(), shapes)
                continue
            # an address changes where the op reads; by definition every output reads it
            if k not in addresses(op) and not optimized_away(op, shapes, k):
                assert reads == observed(op, run, shapes, k, arrays, reads), (op.text(), k, shapes)


@pytest.mark.parametrize("rows", [7, 8, 100])
def test_what_many_windows_replace_is_not_read(rows: int) -> None:
    op = Scatter((1,), (0,), (0,), 1, replaces=True)
    shapes, numbers = [[rows + 5, 2], [rows, 1], [rows, 2]], np.random.default_rng(rows)
    run = jax.jit(lambda *arrays: perform(op, *arrays))
    arrays = [values(op, k, x, numbers) for k, x in enumerate(shapes)]
    # all updates are at different rows, but the first, which is out of bounds
    arrays[1] = numbers.permutation(rows + 5)[:rows, None].astype(np.int32)
    arrays[1][0] = -1
    for k, elements in ((0, 2 * 6), (2, 2 * (rows - 1))):
        reads = reads_relation(op, k, shapes, held(op, run, arrays))
        assert reads == observed(op, run, shapes, k, arrays, reads)
        assert len(reads) == elements
        for direction in DIRECTIONS:
            assert map_relation(op, k, direction, shapes, held(op, run, arrays)) == reads


def test_every_op_has_an_oracle() -> None:
    assert set(MAKERS) | ELSEWHERE == set(OPS)
    assert not set(MAKERS) & ELSEWHERE
