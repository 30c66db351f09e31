"""Compare analyses of maps with enumeration: ``python -m dev.enumeration tilings`` (in `tests`).

========== ===================================================================================================
tilings    every tile of every reshape of up to 50 elements between shapes of up to three dimensions
coalescing memory requests and bank conflicts of random launches, reads and layouts
properties all questions about random maps of ops, layouts, launches and tilings, of up to 400 points
pallas     random kernels of Pallas, against the interpreter for TPUs
runtime    questions about random maps that read values at run time, for all contents of small arrays
========== ===================================================================================================

``--first 500 --count 250`` takes the cases 500 to 749, and ``--every 10`` each tenth of them. The tests take a few.
"""

from __future__ import annotations

import argparse
import itertools
import random
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, partial
from math import gcd, prod
from typing import Any

from map_corpus import SMALL, Shaped, Table, corpus, questions, tables

from dev.runtime_values import compared_runtime
from indexproof import IndexingMap, memory, parse_map, simplify
from indexproof.core.codegen.python_code import compile_map
from indexproof.core.launch import Launch, Launched
from indexproof.core.layout import Memory, element_bits
from indexproof.verify.access import requests
from indexproof.verify.tiles import NoTile, TargetTile, tile_of

Sizes = tuple[int, ...]
#: The names of the outcomes of a case that was compared, or of its questions; a wrong one raises an AssertionError.
Outcome = Iterable[str]


# -------------------------------------------------------------------------------------------------------- tilings
@cache
def shapes(size: int, rank: int) -> list[Sizes]:
    """Return the shapes with so many elements and no dimension of size 1, unless it is the only one."""
    if rank == 1:
        return [(size,)]
    return [
        (n, *rest) for n in range(2, size) if size % n == 0 for rest in shapes(size // n, rank - 1) if 1 not in rest
    ]


def reshapes() -> Iterator[tuple[Sizes, Sizes, Sizes]]:
    """Yield the tilings: sizes of the output, of the operand, and of the tile."""
    for size in range(1, 51):
        of_size = [s for rank in (1, 2, 3) for s in shapes(size, rank)]
        for output, operand in itertools.product(of_size, of_size):
            for tile in itertools.product(*(range(1, n + 1) for n in output)):
                yield output, operand, tile


@cache
def reshape(output: Sizes, operand: Sizes) -> IndexingMap:
    """Return the map of a reshape."""
    dims = ", ".join(f"d{k}" for k in range(len(output)))
    position = " + ".join(f"d{k} * {prod(output[k + 1 :])}" for k in range(len(output)))
    results = (f"(({position}) floordiv {prod(operand[k + 1 :])}) mod {n}" for k, n in enumerate(operand))
    boxes = ", ".join(f"d{k} in [0, {n - 1}]" for k, n in enumerate(output))
    return simplify(parse_map(f"({dims}) -> ({', '.join(results)}), domain: {boxes}"))


def elements_read(m: IndexingMap, sizes: Sizes, starts: Sequence[int] = ()) -> dict[Sizes, set[Sizes]]:
    """Return the elements that each tile reads; tiles begin anywhere in the dimensions ``starts``."""
    tiles: dict[Sizes, set[Sizes]] = {}
    for at in itertools.product(*(range(v.lo, v.hi + 1) for v in m.variables)):
        d, s = at[: len(m.dims)], at[len(m.dims) :]
        element = m.evaluate(d, s)
        if element is not None:
            places = (
                range(max(x - n + 1, v.lo), x + 1) if k in starts else [(x - v.lo) // n]
                for k, (x, v, n) in enumerate(zip(d, m.dims, sizes, strict=True))
            )
            for place in itertools.product(*places):
                tiles.setdefault(place, set()).add(element)
    return tiles


def tile_by_trying(tiles: dict[Sizes, set[Sizes]]) -> tuple[Sizes, Sizes] | None:
    """Return sizes and strides of tiles that hold these sets, or None where some offset does not exist."""
    found = []
    for k in range(len(next(iter(next(iter(tiles.values())))))):
        columns = [{e[k] for e in some} for some in tiles.values()]
        low, high = min(map(min, columns)), max(map(max, columns))
        stride = gcd(*(x - min(c) for c in columns for x in c)) or 1
        size = max((max(c) - min(c)) // stride + 1 for c in columns)
        for c in columns:
            offsets = range(low - stride * size, high + 1)
            if not any({o + stride * i for i in range(size)} & set(range(low, high + 1)) == c for o in offsets):
                return None
        found.append((size, stride))
    for some in tiles.values():
        if prod(len({e[k] for e in some}) for k in range(len(found))) != len(some):
            return None
    return tuple(n for n, _ in found), tuple(n for _, n in found)


def elements_held(offsets: Sizes | None, strides: Any, sizes: Any, bounds: Any) -> set[Sizes]:
    """Return the elements of a tile within its bounds."""
    assert offsets is not None
    ranges = (
        {o + s * i for i in range(n)} & {*range(lo, hi + 1)}
        for o, s, n, (lo, hi) in zip(offsets, strides, sizes, bounds, strict=True)
    )
    return set(itertools.product(*ranges))


def _compared_reshape(output: Sizes, operand: Sizes, tile: Sizes) -> Outcome:
    return [compared_tile(reshape(output, operand), tile)]


def compared_tile(m: IndexingMap, sizes: Sizes, starts: dict[int, str] | None = None) -> str:
    """Compare the tile of a map with trying every offset; return ``tile``, ``no tile`` or ``open``."""
    found, read = tile_of(m, sizes, starts or {}), elements_read(m, sizes, [*(starts or ())])
    if found is None:
        return "open"
    if isinstance(found, NoTile):
        assert not read or tile_by_trying(read) is None, (m, sizes, starts)
        assert found.missing is None or found.missing not in read[found.place], (m, sizes, starts)
        return "no tile"
    assert isinstance(found, TargetTile)
    assert not read or (found.sizes, found.strides) == tile_by_trying(read), (m, sizes, starts)
    if found.offsets is None:
        return "tile"
    for place, elements in read.items():
        held = elements_held(found.offsets.evaluate(place), found.strides, found.sizes, found.bounds)
        assert held == elements, (m, sizes, starts, place)
    return "tile"


# ----------------------------------------------------------------------------------------------------- coalescing
def random_launch(rng: random.Random) -> tuple[Launched, IndexingMap, Memory]:
    """Return a launch, a map from its output to an operand, and the operand."""
    rank = rng.randint(1, 3)
    sizes = [rng.choice([1, 2, 3, 4, 5, 8, 16, 20, 33]) for _ in range(rank)]
    order = rng.sample(range(rank), rank)
    launch = Launch((rng.choice([20, 32, 48, 64]), rng.choice([1, 1, 2])), (rng.randint(1, 4),), rng.choice([1, 2, 4]))
    at = launch.over(f"f32[{','.join(map(str, sizes))}]{{{','.join(map(str, order))}}}")
    read, extents = [], []
    for d in rng.sample(range(rank), rank):
        step = rng.choice([1, 1, 2, 3])
        read.append(rng.choice([f"d{d} * {step}", f"d{d} floordiv 2", f"{sizes[d] - 1} - d{d}"]))
        extents.append((sizes[d] - 1) * step + 1)
    if rng.random() < 0.4:
        read.append("s0")
        extents.append(3)
    layout = ",".join(map(str, rng.sample(range(len(read)), len(read))))
    tile = rng.choice(["", ":T(2,4)"]) if len(read) > 1 else ""
    kind = rng.choice(["f32", "bf16", "s8", "f64", "c128"])
    operand = memory(f"{kind}[{','.join(map(str, extents))}]{{{layout}{tile}}}")
    dims = ", ".join(f"d{k}" for k in range(rank))
    where = [f"d{k} in [0, {n - 1}]" for k, n in enumerate(sizes)]
    iterations = "[s0]" if "s0" in read else ""
    where += ["s0 in [0, 2]"] if iterations else []
    if rng.random() < 0.3:
        where.append(f"({' + '.join(rng.sample(read, rng.randint(1, len(read))))}) mod 3 in [0, 1]")
    return at, parse_map(f"({dims}){iterations} -> ({', '.join(read)}), domain: {', '.join(where)}"), operand


def requests_one_by_one(at: Launched, m: IndexingMap, operand: Memory, vector: int) -> Sizes:
    """Count requests, sectors, lines, the least number of sectors, and passes through the banks of shared memory."""
    bits = element_bits(operand.shape)
    positions = at.reads(m, "warp").compose(operand.forward)
    position, names = compile_map(positions, checked=True), [v.name for v in positions.variables]
    loads: dict[tuple[object, ...], list[tuple[int, int]]] = defaultdict(list)
    for point in itertools.product(*(range(v.lo, v.hi + 1) for v in positions.variables)):
        found = position(*point)
        if found is not None:
            value = dict(zip(names, point, strict=True))
            value["unroll_id"] = value.get("unroll_id", 0) // vector
            lane = value.pop("lane_id", 0)
            loads[tuple(sorted(value.items()))].append((lane, found[0]))
    each = max(1, 32 // max(1, bits * vector // 32))
    passes = 0
    for load in loads.values():
        for lane in {lane for lane, _ in load}:
            # a vector is whole, without gaps and aligned
            first = min(p for x, p in load if x == lane)
            assert sorted(p for x, p in load if x == lane) == [*range(first, first + vector)], (at, m, operand)
            assert first % vector == 0, (at, m, operand)
        for first in range(0, 32, each):
            words = {
                p * bits // 32 + k
                for lane, p in load
                if first <= lane < first + each
                for k in range(max(bits // 32, 1))
            }
            passes += max(Counter(w % 32 for w in words).values(), default=0)
    touched = [{p for _, p in load} for load in loads.values()]
    return (
        len(loads),
        sum(len({p * bits // 256 for p in some}) for some in touched),
        sum(len({p * bits // 1024 for p in some}) for some in touched),
        sum(-(-len(some) * bits // 256) for some in touched),
        passes,
    )


def _compared_launch(seed: int) -> Outcome:
    return [compared_requests(*random_launch(random.Random(seed)))]


def compared_requests(at: Launched, m: IndexingMap, operand: Memory) -> str:
    """Compare the numbers of a launch with counting; return ``coalesced``, ``not coalesced`` or ``open``."""
    found = requests(at, m, operand)
    if found is None:
        return "open"
    counted = (found.requests, found.sectors, found.lines, found.packed, found.wavefronts)
    assert counted == requests_one_by_one(at, m, operand, found.vector), (at, m, operand)
    return "coalesced" if found.coalesced else "not coalesced"


# ----------------------------------------------------------------------------------------------------- properties
def small_maps(seed: int = 0) -> Iterator[tuple[Shaped, list[Table]]]:
    """Yield maps of up to 400 points with their shapes, and a table for each combination of values that are read."""
    for m, shape in corpus(sys.maxsize, SMALL, seed):
        found = tables(m, shape)
        if found is not None:
            yield (m, shape), found


def compared_properties(shaped: Shaped, each: list[Table]) -> Outcome:
    """Compare the verdict on every question about a map with that on its tables; yield the verdicts."""
    m, shape = shaped
    for name, ask, holds in questions(m, shape):
        answer, right = ask(), all(holds(t) for t in each)
        if answer.verdict == "UNDECIDED":
            yield "open"
            continue
        assert answer.verdict == ("PROVED" if right else "REFUTED"), (name, m, shape)
        yield answer.verdict
        found = answer.counterexample
        assert right == (found is None), (name, m)
        if found is not None and found.left is not None and name != "inverse":
            rank = len(m.dims)
            point = [found.values[v.name] for v in (*m.dims, *m.ranges)]
            there = m.evaluate(point[:rank], point[rank:], [found.values[v.name] for v in m.rts])
            assert there is not None, (name, m, found)
            assert found.left in (there, (each[0].place(there),)), (name, m, found)


# -------------------------------------------------------------------------------------------------------- running
def _specifications() -> Iterator[Callable[[], Outcome]]:
    from oracle.pallas_specs import compared_spec

    return (partial(compared_spec, number) for number in itertools.count())


KINDS: dict[str, Callable[[], Iterator[Callable[[], Outcome]]]] = {
    "tilings": lambda: (partial(_compared_reshape, *case) for case in reshapes()),
    "coalescing": lambda: (partial(_compared_launch, n) for n in itertools.count()),
    "properties": lambda: (partial(compared_properties, *case) for case in small_maps()),
    "pallas": _specifications,
    "runtime": lambda: (partial(compared_runtime, seed) for seed in itertools.count()),
}


def compared(kind: str, numbers: range) -> Counter[str]:
    """Compare the cases with these numbers, and count the outcomes."""
    chosen = itertools.islice(KINDS[kind](), numbers.start, numbers.stop, numbers.step)
    return Counter(itertools.chain.from_iterable(ask() for ask in chosen))


def main() -> None:
    """Compare cases of one kind and print how many came to which outcome; exit with 1 if one is wrong.

    Interrupted with Ctrl-C, it prints what was compared so far.
    """
    parser = argparse.ArgumentParser(prog="python -m dev.enumeration", description="Compare analyses with enumeration.")
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("--first", type=int, default=0, help="the number of the first case")
    parser.add_argument("--count", type=int, default=1000, help="how many there are")
    parser.add_argument("--every", type=int, default=1, help="take each so many-th")
    asked = parser.parse_args()
    numbers = range(asked.first, asked.first + asked.count, asked.every)
    outcomes: Counter[str] = Counter()
    start, cases, wrong = time.perf_counter(), 0, 0
    for ask in itertools.islice(KINDS[asked.kind](), numbers.start, numbers.stop, numbers.step):
        try:
            outcomes.update([*ask()])
        except KeyboardInterrupt:
            break
        except AssertionError as error:
            wrong += 1
            print(f"wrong: case {numbers[cases]}: {error}", flush=True)
        cases += 1
        if cases % max(len(numbers) // 10, 1) == 0:
            print(f"{cases:,} of {len(numbers):,}", file=sys.stderr, flush=True)
    told = ", ".join(f"{n:,} {name}" for name, n in sorted(outcomes.items()))
    seconds = time.perf_counter() - start
    print(f"{asked.kind}: {cases:,} compared, {wrong} wrong, {outcomes['open']} open; {told}; {seconds:.0f} s")
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
