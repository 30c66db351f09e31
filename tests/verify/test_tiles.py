"""Tiles of operands agree with trying every offset of every tile."""

from __future__ import annotations

import inspect
import itertools
import random
import re
from collections import Counter
from collections.abc import Callable
from math import gcd, prod

import pytest
from broken.analyses import RESHAPE_TILES, TILE_SIZES, TILES, TILES_FOR_ALL_SIZES, aligned_only

from dev.enumeration import compared, compared_tile, elements_held, elements_read, reshape, tile_by_trying
from indexproof import IndexingMap, InputError, parse_map, simplify
from indexproof.core.analysis.unknown_sizes import ReadsForAllSizes
from indexproof.core.condition import FALSE, TRUE, negate
from indexproof.core.expr import integer, var
from indexproof.core.hlo import read_module
from indexproof.core.parametric import parse_parametric
from indexproof.core.text import format_expr
from indexproof.rules.tiles import TILE_LAWS
from indexproof.verify import tiles
from indexproof.verify.modules import ModuleVerifier
from indexproof.verify.reshape_tiles import ReshapeTile
from indexproof.verify.tile_sizes import tile_sizes
from indexproof.verify.tiles import NoTile, TargetTile, TilingPlan, over, tile_of, tiled, tilings
from indexproof.verify.tiles_for_all_sizes import tile_for_all_sizes

Sizes = tuple[int, ...]


def _factors(rng: random.Random, n: int, rank: int) -> list[int]:
    found = []
    for _ in range(rank - 1):
        d = rng.choice([d for d in range(1, n + 1) if n % d == 0])
        found.append(d)
        n //= d
    return rng.sample([*found, n], rank)


def _reshape(rng: random.Random) -> tuple[list[str], list[str]]:
    size = rng.choice([4, 6, 8, 12, 16, 18, 20, 24, 30, 36])
    a, b = (_factors(rng, size, rng.randint(1, 3)) for _ in range(2))
    position = " + ".join(f"d{k} * {prod(a[k + 1 :])}" for k in range(len(a)))
    results = [f"(({position}) floordiv {prod(b[k + 1 :])}) mod {n}" for k, n in enumerate(b)]
    return results, [f"d{k} in [0, {n - 1}]" for k, n in enumerate(a)]


def _other(rng: random.Random) -> tuple[list[str], list[str]]:
    """Return a strided slice, a pad with interior padding, an operand of a concatenation, or a window."""
    sizes = [rng.randint(2, 9) for _ in range(rng.randint(1, 2))]
    boxes = [f"d{k} in [0, {n - 1}]" for k, n in enumerate(sizes)]
    others = [f"d{k}" for k in range(1, len(sizes))]
    low, high, step = rng.randint(0, 2), rng.randint(2, 12), rng.randint(1, 3)
    window = f"d0 * {step} + s0 * {rng.randint(1, 2)} - {rng.randint(0, 1)}"
    first, more = rng.choice(
        [
            (f"d0 * {step} + {low}", []),
            (f"(d0 - {low}) floordiv {step}", [f"d0 in [{low}, {high}]", f"(d0 - {low}) mod {step} in [0, 0]"]),
            (f"d0 - {low}", [f"d0 in [{low}, {high}]"]),
            (window, [f"s0 in [0, {rng.randint(0, 2)}]"]),
            (window, [f"s0 in [0, {rng.randint(0, 2)}]", f"{window} in [0, {high}]"]),
        ]
    )
    return rng.sample([first, *others], len(sizes)), boxes + more


def _random_map(rng: random.Random) -> IndexingMap:
    results, boxes = rng.choice([_reshape, _reshape, _other])(rng)
    rank = 1 + max(int(b[1]) for b in boxes if b.startswith("d"))
    dims = ", ".join(f"d{k}" for k in range(rank))
    ranges = "[s0]" if any("s0" in b for b in boxes) else ""
    return simplify(parse_map(f"({dims}){ranges} -> ({', '.join(results)}), domain: {', '.join(boxes)}"))


def _product(rng: random.Random) -> IndexingMap:
    """Return a map of parts without common variables, at most one of them with constraints, in any order."""
    rows = _random_map(rng)
    others = [
        simplify(parse_map(t))
        for t in (
            "(d0) -> (d0 floordiv 2), domain: d0 in [1, 4]",
            "(d0) -> (d0 * 3), domain: d0 in [0, 2]",
            "(d0) -> (5), domain: d0 in [0, 1]",
            "(d0, d1) -> (d1 mod 2, d0), domain: d0 in [0, 1], d1 in [0, 3]",
            "(d0) -> (d0 mod 3), domain: d0 in [0, 3]",
        )
    ]
    more = rng.choice(others)
    more = more.rename({v.name: v.name.replace("d", "e") for v in more.dims})
    results = rng.sample([*rows.results, *more.results], len(rows.results) + len(more.results))
    return rows.with_(dims=(*rows.dims, *more.dims), results=tuple(results))


def _by_trying(m: IndexingMap, sizes: Sizes) -> tuple[Sizes, Sizes] | None:
    return tile_by_trying(elements_read(m, sizes))


def test_tiles_of_reshapes_are_those_that_trying_finds() -> None:
    found = compared("tilings", range(0, 100_776, 401))
    assert found["tile"] + found["no tile"] == 252
    assert min(found["tile"], found["no tile"]) > 50


def test_offsets_depend_on_the_place_alone() -> None:
    found = tile_of(reshape((6, 2, 2), (8, 3)), (3, 2, 2))
    assert isinstance(found, TargetTile)
    assert str(found.offsets) == "(t0, t1, t2) -> (t0 * 4, 0), domain: t0 in [0, 1], t1 in [0, 0], t2 in [0, 0]"


@pytest.mark.parametrize("budget", [tiles.BUDGET, 1])
@pytest.mark.parametrize(("seed", "make"), [*((n, _random_map) for n in range(4)), (4, _product), (5, _product)])
def test_tiles_are_those_that_trying_finds(
    seed: int, make: Callable[[random.Random], IndexingMap], budget: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tiles, "BUDGET", budget)
    rng = random.Random(seed)
    kinds: Counter[str] = Counter()
    for _ in range(150):
        m = make(rng)
        if all(v.size for v in m.dims):
            kinds[compared_tile(m, tuple(rng.randint(1, v.size) for v in m.dims))] += 1
    assert min(kinds["tile"], kinds["no tile"]) > 10
    assert not kinds["open"]


@pytest.mark.parametrize("seed", range(2))
def test_tiles_that_begin_anywhere_are_those_that_trying_finds(seed: int) -> None:
    rng = random.Random(seed)
    kinds: Counter[str] = Counter()
    while kinds.total() < 100:
        m = _random_map(rng)
        if any(v.size < 1 for v in m.dims):
            continue
        m = over(m, [v.hi + 1 for v in m.dims])
        sizes = tuple(rng.randint(1, v.size) for v in m.dims)
        kinds[
            compared_tile(m, sizes, {k: name for k, name in enumerate("opq"[: len(sizes)]) if rng.random() < 0.6})
        ] += 1
    assert min(kinds["tile"], kinds["no tile"]) > 10
    assert not kinds["open"]


A = "a = f32[?,4] parameter(0)"
FLAT = "a = f32[?] parameter(0)"
BOTH = "a = f32[?,?] parameter(0)"
Asked = tuple[str, Sizes, dict[int, str], str]
THREE_TO_TWO = (
    "(n3 ≤ 3 or ((n0 ≤ 1 or (n1·n2) ∣ 3·n4 or (3·n4) ∣ n1·n2) and (n0·n1 ≤ 1 or n2 ∣ 3·n4 or (3·n4) ∣ n2))) and "
    "(n4 ≤ 2 or (n3 ≤ 1 and (n0 ≤ 1 or (n1·n2) ∣ 2 or 2 ∣ n1·n2) and (n0·n1 ≤ 1 or n2 ∣ 2 or 2 ∣ n2)) or "
    "((n0 ≤ 1 or n4 ∣ n1·n2 or ((n1·n2) ∣ n4 and ((n1·n2) ∣ 2 or 2 ∣ n1·n2))) and "
    "(n0·n1 ≤ 1 or n4 ∣ n2 or (n2 ∣ n4 and (n2 ∣ 2 or 2 ∣ n2))) and "
    "(n1·n2 = n4 or n2 = n4 or (2 ∣ n1·n2 and (n1·n2) ∣ n4) or (2 ∣ n2 and n2 ∣ n4)))), and only then"
)
UNKNOWN: list[Asked] = [
    (f"{A}\nROOT r = f32[4,?] transpose(a), dimensions={{1,0}}", (3, 2), {}, "true"),
    (f"{A}\nROOT r = f32[4,?] transpose(a), dimensions={{1,0}}", (2, 3), {1: "o"}, "true"),
    (f"{A}\nROOT r = f32[?,4] reverse(a), dimensions={{0}}", (3, 2), {0: "o"}, "true"),
    (f"{A}\nz = f32[] constant(0)\nROOT r = f32[?,6] pad(a, z), padding=2_1x1_1", (2, 3), {}, "true"),
    (f"{A}\nROOT r = f32[?,4] concatenate(a, a), dimensions={{0}}", (2, 3), {}, "true"),
    (f"{A}\nROOT r = f32[?] reshape(a)", (8,), {}, "true"),
    (f"{A}\nROOT r = f32[?] reshape(a)", (2,), {}, "true"),
    (f"{A}\nROOT r = f32[?] reshape(a)", (6,), {}, "4·n0 ≤ 6 or n0 ≤ 1, and only then"),
    (f"{A}\nROOT r = f32[?] reshape(a)", (2,), {0: "o"}, "n0 ≤ 1, and only then"),
    (f"{A}\nROOT r = f32[?,2,2] reshape(a)", (3, 2, 1), {}, "true"),
    (f"{FLAT}\nROOT r = f32[?,4] reshape(a)", (3, 4), {}, "true"),
    (f"{FLAT}\nROOT r = f32[?,4] reshape(a)", (3, 2), {}, "n1 ≤ 1, and only then"),
    (f"{BOTH}\nROOT r = f32[?] reshape(a)", (4,), {}, "n0·n1 ≤ 4 or n0 ≤ 1 or n1 ∣ 4 or 4 ∣ n1, and only then"),
    (f"{BOTH}\nROOT r = f32[?] reshape(a)", (4,), {0: "o"}, "n0 ≤ 1 or n1 ≤ 1"),
    # a product of two sizes is one of three
    ("a = f32[?,?,?] parameter(0)\nROOT r = f32[?,?] reshape(a)", (3, 2), {}, THREE_TO_TWO),
    ("a = f32[?,2,?] parameter(0)\nROOT r = f32[?,?] reshape(a)", (1, 2), {}, "exact"),
    (f"{BOTH}\nROOT r = f32[?,?,?] reshape(a)", (2, 4, 8), {}, "exact"),
    (f"{BOTH}\nROOT r = f32[?,?,?] reshape(a)", (2, 1, 3), {}, "exact"),
    (f"{A}\nz = f32[] constant(0)\nROOT r = f32[?] reduce(a, z), dimensions={{1}}, to_apply=f", (5,), {}, "true"),
    (f"{A}\nROOT r = f32[?,4,3] broadcast(a), dimensions={{0,1}}", (2, 3, 2), {0: "o"}, "true"),
]
SUM = "f {\nx = f32[] parameter(0)\ny = f32[] parameter(1)\nROOT s = f32[] add(x, y)\n}\n"


def _unknown(body: str) -> list[ReadsForAllSizes]:
    asked = ModuleVerifier(read_module(f"HloModule m\n{SUM}ENTRY e {{\n{body}\n}}\n"))
    return [*asked.for_all_sizes(asked.module.entry, "output_to_input").values()]


@pytest.mark.parametrize(("body", "sizes", "starts", "condition"), UNKNOWN)
def test_tiles_for_all_sizes_are_what_is_read_at_each(
    body: str, sizes: Sizes, starts: dict[int, str], condition: str
) -> None:
    (reads,) = _unknown(body)
    assert reads.maps
    for m in reads.maps:
        found = tile_for_all_sizes(m, reads.output, sizes, starts, reads.operand)
        stated = "not stated" if found.offsets is None else str(found.condition)
        if found.necessary and stated != "true":
            stated += f" where {negate(found.condition)}" if found.offsets is None else ", and only then"
        points = 0
        for values in itertools.product(range(1, 8), repeat=len(m.parameters)):
            env = dict(zip(m.parameters, values, strict=True))
            if not all(c.evaluate(env) for c in m.on_parameters):
                continue
            at = over(m.at(env), [n.evaluate(env) for n in reads.output])
            read = elements_read(at, sizes, [*starts])
            if found.at == env:
                assert tile_by_trying(read) is None
                assert found.missing is not None
                assert found.missing.missing not in read[found.missing.place]
            if found.necessary and not found.condition.evaluate(env):
                assert tile_by_trying(read) is None, env
            if found.offsets is None or not found.condition.evaluate(env):
                continue
            values_of = [[e.evaluate(env) for e in some] for some in (found.strides, found.sizes)]
            bounds = [(lo.evaluate(env), hi.evaluate(env)) for lo, hi in found.bounds]
            offsets = found.offsets.at(env)
            for place in itertools.product(*(range(v.lo, v.hi + 1) for v in offsets.dims)):
                held = elements_held(offsets.evaluate(place), *values_of, bounds)
                assert held == read.pop(place, set()), (env, place)
                points += len(held)
            assert not read
        assert stated == condition or (condition == "exact" and stated.endswith(", and only then"))
        assert points > 3 or found.offsets is None


def test_the_condition_of_a_reshape_is_exact() -> None:
    rng = random.Random(3)
    kinds = {True: 0, False: 0}
    for _ in range(1500):
        count = rng.choice([1, 2, 4, 6, 8, 9, 12, 16, 18, 24, 30, 36, 48])
        shape, operand = (_factors(rng, count, rng.randint(1, 4)) for _ in range(2))
        sizes = tuple(rng.choice([1, 1, 2, 2, 3, 4, 5, 6]) for _ in shape)
        made = ReshapeTile([*map(integer, shape)], [*map(integer, operand)], sizes)
        read: dict[Sizes, set[Sizes]] = {}
        for at in itertools.product(*map(range, shape)):
            position = sum(x * prod(shape[k + 1 :]) for k, x in enumerate(at))
            element = tuple(position // prod(operand[k + 1 :]) % n for k, n in enumerate(operand))
            read.setdefault(tuple(x // n for x, n in zip(at, sizes, strict=True)), set()).add(element)
        wanted, condition = tile_by_trying(read), made.condition()
        kinds[wanted is not None] += 1
        assert condition is (FALSE if wanted is None else TRUE), (shape, operand, sizes)
        if wanted is not None:
            held = [(n.evaluate({}), step.evaluate({})) for n, step in made.read()]
            assert [(n, step if n > 1 else 1) for n, step in held] == [*zip(*wanted, strict=True)], (
                shape,
                operand,
                sizes,
            )
    assert min(kinds.values()) > 300


def test_empty_reshapes_read_tiles() -> None:
    for shape, operand in (((2, 0), (0, 3)), ((9, 9, 0), (0, 4)), ((9, 0, 9), (0, 1, 4)), ((0, 9, 9), (0, 7))):
        for tile in itertools.product((1, 2), repeat=len(shape)):
            made = ReshapeTile([*map(integer, shape)], [*map(integer, operand)], tile)
            assert made.condition() is TRUE
            for n, step in made.read():
                n.evaluate({})
                step.evaluate({})


def test_tiles_for_all_sizes_of_other_maps_are_not_stated() -> None:
    for text, said in (
        ("(d0){n} -> (min(d0, 3)), domain: d0 in [0, n - 1]", "is no sum of digits"),
        ("(d0)[s0]{n} -> (d0 + s0), domain: d0 in [0, n - 1], s0 >= 0", "has no bounds"),
        ("(d0){n} -> (d0 floordiv n), domain: d0 in [0, 9]", "may be zero"),
    ):
        m = parse_parametric(text)
        assert m is not None
        found = tile_for_all_sizes(m, [var("n")], (2,))
        assert found.offsets is None
        assert said in found.reason


def _digits(rng: random.Random) -> IndexingMap:
    """Return a map of shuffled digits of dimensions, some combined in a result: with gaps, reversed, next to ranges."""
    digits, boxes = [], []
    for k in range(rng.randint(1, 2)):
        stride = 1
        for n in [rng.randint(2, 4) for _ in range(rng.randint(1, 3 if k == 0 else 2))]:
            digits.append((f"((d{k} floordiv {stride}) mod {n})", n))
            stride *= n
        low = rng.choice([0, 0, stride])
        boxes.append(f"d{k} in [{low}, {low + stride - 1}]")
    rank = len(boxes)
    if rng.random() < 0.3:
        digits.append(("s0", n := rng.randint(2, 3)))
        boxes.append(f"s0 in [0, {n - 1}]")
    if rng.random() < 0.2:
        digits.remove(rng.choice(digits))
    rng.shuffle(digits)
    results: list[list[str]] = [[]]
    weight = 1
    for text, n in digits:
        if results[-1] and rng.random() < 0.5:
            results.append([])
            weight = 1
        results[-1].append(f"{text} * {rng.choice([1, 1, 1, -1]) * weight}")
        weight *= n * rng.choice([1, 1, 1, 2])
    dims = ", ".join(f"d{k}" for k in range(rank))
    shown = ", ".join(" + ".join(r) or "0" for r in results)
    ranges = "[s0]" if len(boxes) > rank else ""
    return simplify(parse_map(f"({dims}){ranges} -> ({shown}), domain: {', '.join(boxes)}"))


def _by_shifting(m: IndexingMap, sizes: Sizes) -> tuple[Sizes, Sizes] | None:
    """Return sizes and strides of the elements that tiles read, or None where they depend on the tile's offset."""
    read = []
    for at in itertools.product(*(range(v.size - n + 1) for v, n in zip(m.dims, sizes, strict=True))):
        spans = (range(v.lo + o, v.lo + o + n) for v, o, n in zip(m.dims, at, sizes, strict=True))
        ranges = (range(v.lo, v.hi + 1) for v in m.ranges)
        points = itertools.product(itertools.product(*spans), itertools.product(*ranges))
        read.append({e for d, s in points if (e := m.evaluate(d, s)) is not None})
    found = []
    for k in range(len(m.results)):
        columns = [sorted({e[k] for e in some}) for some in read]
        shapes = {tuple(x - c[0] for x in c) for c in columns}
        stride = gcd(*shapes.copy().pop()) or 1
        if len(shapes) > 1 or len({b - a for a, b in itertools.pairwise(columns[0])}) > 1:
            return None
        found.append((len(columns[0]), stride))
    if any(len(some) != prod(n for n, _ in found) for some in read):
        return None
    return tuple(n for n, _ in found), tuple(n for _, n in found)


@pytest.mark.parametrize("anywhere", [False, True])
@pytest.mark.parametrize("make", [_digits, _random_map], ids=["digits", "ops"])
def test_the_condition_on_sizes_is_exact(make: Callable[[random.Random], IndexingMap], anywhere: bool) -> None:
    rng, most = random.Random(7), 1000
    asked = {True: 0, False: 0}
    maps = decided = 0
    while sum(asked.values()) < most:
        m = make(rng)
        if any(v.size < 1 for v in m.dims) or prod(v.size for v in m.variables) > 200:
            continue
        found = tile_sizes(m, anywhere)
        maps += 1
        if found is None:
            continue
        decided += 1
        for sizes in itertools.product(*(range(1, v.size + 1) for v in m.dims)):
            wanted = (_by_shifting if anywhere else _by_trying)(m, sizes)
            asked[wanted is not None] += 1
            assert found.holds(sizes) == (wanted is not None), (m, sizes, found.condition)
            if wanted is not None:
                assert found.read(sizes) == wanted, (m, sizes)
                env = {f"t{k}": n for k, n in enumerate(sizes)}
                assert tuple(e.evaluate(env) for e in found.sizes) == wanted[0], (m, sizes)
    assert min(asked.values()) > most // 8
    assert decided > maps // 5


@pytest.mark.parametrize(("text", "condition", "sizes"), [
    ("(d0) -> (d0 floordiv 4, d0 mod 4), domain: d0 in [0, 31]", "t0 ∣ 4 or 4 ∣ t0", "t0 ceildiv 4, min(t0, 4)"),
    ("(d0, d1) -> (d0 * 4 + d1), domain: d0 in [0, 7], d1 in [0, 3]", "(t0 = 1 or t1 = 1 or t1 ≥ 4) and t1 ∣ 4",
        "t0 * t1"),
    ("(d0) -> (d0 floordiv 4 - 2, d0 mod 4), domain: d0 in [8, 39]", "t0 ∣ 4 or 4 ∣ t0",
        "t0 ceildiv 4, min(t0, 4)"),
    ("(d0, d1) -> (d1, d0), domain: d0 in [0, 7], d1 in [0, 3]", "true", "t1, t0"),
])  # fmt: skip
def test_the_condition_is_in_closed_form(text: str, condition: str, sizes: str) -> None:
    found = tile_sizes(parse_map(text))
    assert (found.condition, ", ".join(map(format_expr, found.sizes))) == (condition, sizes)


@pytest.mark.parametrize("text", [
    "(d0) -> (d0), domain: d0 in [0, 9], d0 mod 2 in [0, 0]",
    "(d0){rt0} -> (d0 + rt0), domain: d0 in [0, 9], rt0 in [0, 9]",
    "(d0) -> (d0 floordiv 2), domain: d0 in [0, 9]",
    "(d0) -> (d0, d0), domain: d0 in [0, 9]",
    "(d0)[s0] -> (s0 floordiv 4, s0, d0), domain: d0 in [0, 9], s0 in [0, 7]",
    "(d0) -> (d0 floordiv 4, d0 mod 4), domain: d0 in [2, 9]",
    "(d0)[s0] -> (d0 + s0, s0), domain: d0 in [0, 9], s0 in [0, 2]",
    "(d0, d1) -> ((d0 * 3 + d1) floordiv 2), domain: d0 in [0, 3], d1 in [0, 2]",
    "(d0)[s0] -> (d0 + s0), domain: d0 in [0, 9], s0 in [0, 2]",
])  # fmt: skip
def test_other_maps_have_no_condition(text: str) -> None:
    assert tile_sizes(parse_map(text)) is None


def test_each_law_is_a_step_of_the_argument() -> None:
    arguments = "".join(inspect.getmodule(a).__doc__ or "" for a in (tile_sizes, ReshapeTile))
    assert {law.name for law in TILE_LAWS} == {*re.findall(r"`(\w+)`", arguments)}


def test_a_tile_across_rows_has_no_constant_size() -> None:
    m = parse_map("(d0) -> (d0 floordiv 3), domain: d0 in [0, 11]")
    assert tile_of(m, (2,)) == NoTile((2,), None, 0)  # the first tile may begin before the operand
    rows = tile_of(m, (6,))
    assert isinstance(rows, TargetTile)
    assert (rows.sizes, rows.bounds, str(rows.offsets.results[0]) if rows.offsets else "") == ((2,), ((0, 3),), "2·t0")


def test_a_tile_that_is_read_in_part_names_what_is_missing() -> None:
    m = parse_map("(d0) -> (d0 floordiv 4, d0 mod 4), domain: d0 in [0, 15]")
    found = tile_of(m, (6,))
    assert isinstance(found, NoTile)
    assert found.missing is not None
    assert found.missing not in elements_read(m, (6,))[found.place]


def test_runtime_offsets_move_a_tile() -> None:
    m = parse_map("(d0){rt0} -> (d0 + rt0), domain: d0 in [0, 9], rt0 in [0, 20]")
    found = tile_of(m, (4,))
    assert isinstance(found, TargetTile)
    assert found.sizes == (4,)
    assert str(found.offsets) == "(t0){rt0} -> (t0 * 4 + rt0), domain: t0 in [0, 2], rt0 in [0, 20]"


def test_tilings_fit_into_the_budget_and_move_least_first() -> None:
    box = "domain: d0 in [0, 63], d1 in [0, 31], s0 in [0, 15]"
    a, b = (parse_map(f"(d0, d1)[s0] -> ({r}), {box}") for r in ("d0, s0", "s0, d1"))
    found = tilings((64, 32), 32, [([a], 32), ([b], 32)], 4096)
    assert found[0] == TilingPlan((16, 16), 3072, 24576)
    assert all(t.bytes <= 4096 for t in found)
    powers = [1 << k for k in range(7)]
    fit = {(i, j) for i in powers for j in powers[:6] if i * j + 16 * (i + j) <= 1024}
    assert {t.sizes for t in found} == fit
    apart = parse_map("(d0, d1) -> (d0 * 32 + d1), domain: d0 in [0, 63], d1 in [0, 31]")
    assert {t.sizes[0] for t in tilings((64, 32), 32, [([apart], 32)], 512) if 1 < t.sizes[1] < 32} == {1}


def test_beyond_the_limits_nothing_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tiles, "BUDGET", 1)
    monkeypatch.setattr(tiles, "POINTS", 9)
    assert tile_of(parse_map("(d0) -> (d0), domain: d0 in [0, 9]"), (5,)) is None


@pytest.mark.parametrize("sizes", [(), (2, 2), (0,)])
def test_a_tile_has_a_size_for_every_dimension(sizes: Sizes) -> None:
    with pytest.raises(InputError, match="a tile"):
        tiled(parse_map("(d0) -> (d0), domain: d0 in [0, 9]"), sizes)


@pytest.mark.parametrize(("place", "name", "wrong"), TILES, ids=lambda x: getattr(x, "__name__", ""))
def test_planted_mistakes_contradict_trying(
    place: object, name: str, wrong: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(place, name, wrong)
    with pytest.raises(AssertionError):
        test_tiles_are_those_that_trying_finds(0, _random_map, tiles.BUDGET, monkeypatch)


@pytest.mark.parametrize(("place", "name", "wrong"), TILE_SIZES, ids=lambda x: getattr(x, "__name__", ""))
def test_planted_mistakes_make_conditions_inexact(
    place: object, name: str, wrong: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(place, name, wrong)
    with pytest.raises(AssertionError):
        test_the_condition_on_sizes_is_exact(_digits, wrong is aligned_only)


@pytest.mark.parametrize(("place", "name", "wrong"), RESHAPE_TILES, ids=lambda x: getattr(x, "__name__", ""))
def test_planted_mistakes_make_conditions_of_reshapes_inexact(
    place: object, name: str, wrong: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(place, name, wrong)
    with pytest.raises(AssertionError):
        test_the_condition_of_a_reshape_is_exact()


def test_a_transpose_of_many_dimensions_reads_tiles() -> None:
    dims = [f"d{k}" for k in range(16)]
    m = parse_map(
        f"({', '.join(dims)}) -> ({', '.join(dims[::-1])}), domain: " + ", ".join(f"{d} in [0, 15]" for d in dims)
    )
    found = tile_of(m, (2, 4) * 8)
    assert isinstance(found, TargetTile)
    assert found.sizes == (4, 2) * 8
    assert found.offsets.evaluate((1,) * 16) == (4, 2) * 8


def test_a_part_that_is_never_read_leaves_nothing() -> None:
    m = parse_map("(d0, d1) -> (d0, d1), domain: d0 in [0, 7], d1 in [0, 7], d0 * 2 in [1, 1]")
    found = tile_of(m, (2, 2))
    assert isinstance(found, TargetTile)
    assert found.sizes == (1, 1)


@pytest.mark.parametrize(("place", "name", "wrong"), TILES_FOR_ALL_SIZES, ids=lambda x: getattr(x, "__name__", ""))
def test_planted_mistakes_contradict_what_is_read_at_each_size(
    place: object, name: str, wrong: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(place, name, wrong)

    def all_asked() -> None:
        for asked in UNKNOWN:
            test_tiles_for_all_sizes_are_what_is_read_at_each(*asked)

    with pytest.raises(AssertionError):
        all_asked()
