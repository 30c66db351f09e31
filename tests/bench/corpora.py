"""The maps of the benchmark: seeded, the same on every machine, and made without any simplifier.

A map is composed as a compiler composes it: linearise, delinearise, shift, scale; only literals and neutral elements
are folded.  :data:`CORPORA` lists all corpora.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import math
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from programs import Builder, Program

HERE = Path(__file__).resolve().parent
XLA_PAIRS = HERE.parent / "verify" / "data" / "xla_pairs.jsonl.gz"

#: Node, lower and upper bound; for a box, the variable in place of the node.
Limits = list[tuple[int, int, int]]
Boxes = list[tuple[str, int, int]]

#: Limit on the nodes of a map as a tree, for the sake of simplifiers without memoisation.
TREE = 4_000


@dataclass
class Map:
    """``program.roots`` are the results; each constraint is ``(node, lo, hi)``; boxes are inclusive."""

    corpus: str
    name: str
    vars: Boxes
    program: Program
    constraints: Limits = field(default_factory=list)
    #: XLA's simplified form, where it is known
    after: Program | None = None
    #: position in a family of growing maps
    size: int = 0
    #: sizes of the target's dimensions, where the generator knows them: every result lies in [0, size)
    target: list[int] = field(default_factory=list)

    @property
    def digest(self) -> str:
        """A name for the map by its content."""
        content = [self.vars, self.program.nodes, self.program.roots, self.constraints]
        return hashlib.sha256(json.dumps(content).encode()).hexdigest()[:16]

    def points(self, limit: int = 20_000, seed: int = 7) -> dict[str, Any]:
        """Return points of the domain: all those of a small box, otherwise corners and random points."""
        sizes = [hi - lo + 1 for _, lo, hi in self.vars]
        if math.prod(sizes) <= limit:
            grid = np.indices(sizes).reshape(len(sizes), -1)
            env = {n: grid[i] + lo for i, (n, lo, _) in enumerate(self.vars)}
        else:
            rng = np.random.default_rng(seed)
            env = {}
            for n, lo, hi in self.vars:
                at = rng.integers(lo, hi, size=limit, endpoint=True)
                corner = rng.random(limit)
                env[n] = np.where(corner < 0.1, lo, np.where(corner > 0.9, hi, at))
        if self.constraints:
            values = self.program.evaluate(env, [c for c, _, _ in self.constraints])
            keep = np.ones(len(next(iter(env.values()))), dtype=bool) if env else np.ones(1, dtype=bool)
            for value, (_, lo, hi) in zip(values, self.constraints, strict=True):
                keep &= (value >= lo) & (value <= hi)
            env = {n: v[keep] for n, v in env.items()}
        return env


# --------------------------------------------------------------------------------------------------- index algebra
def linearize(b: Builder, index: Sequence[int], shape: Sequence[int]) -> int:
    """Return the row-major position of ``index``."""
    total = b.lit(0)
    stride = math.prod(shape)
    for i, n in zip(index, shape, strict=True):
        stride //= n
        total = b.add(total, b.mul(i, stride))
    return total


def delinearize(b: Builder, position: int, shape: Sequence[int]) -> list[int]:
    """Return the index of a row-major position that is in bounds, so the first coordinate needs no remainder."""
    out = []
    stride = math.prod(shape)
    first = True
    for n in shape:
        stride //= n
        if n == 1:
            out.append(b.lit(0))
            continue
        quotient = b.fdiv(position, stride)
        out.append(quotient if first else b.mod(quotient, n))
        first = False
    return out


def regroup(b: Builder, index: Sequence[int], old: Sequence[int], new: Sequence[int]) -> list[int]:
    """Convert an index of shape ``new`` to one of shape ``old``, block by block where the products agree."""
    out: list[int] = []
    i = j = 0
    while i < len(old) or j < len(new):
        i0, j0 = i, j
        left = right = 1
        while True:
            if left == right and (i > i0 or j > j0) and not (left == 1 and (i < len(old) or j < len(new))):
                break
            if i < len(old) and (left <= right or j == len(new)):
                left *= old[i]
                i += 1
            else:
                right *= new[j]
                j += 1
            if left == right and left > 1:
                break
        # trailing ones belong to the last block
        if i == len(old):
            j = len(new)
        if j == len(new):
            i = len(old)
        inner, outer = list(old[i0:i]), list(new[j0:j])
        if inner == outer:
            out += index[j0:j]
        else:
            out += delinearize(b, linearize(b, index[j0:j], outer), inner)
    return out


# ------------------------------------------------------------------------------------------------- movement chains
@dataclass
class Step:
    """One operation of a chain: its output shape, and the function from an output index to an operand index."""

    name: str
    shape: list[int]
    back: Callable[[Builder, list[int], Limits], list[int]]


def factors(n: int) -> list[int]:
    out, p = [], 2
    while n > 1:
        while n % p == 0:
            out.append(p)
            n //= p
        p += 1
    return out


def random_reshape(rng: random.Random, shape: Sequence[int], rank: int | None = None) -> list[int]:
    """Return another shape of the same size: the prime factors, nearly in order, in other groups."""
    primes = [p for n in shape for p in factors(n)]
    if rng.random() < 0.3:
        rng.shuffle(primes)
    rank = rank or rng.randint(1, 6)
    groups = [1] * max(1, min(rank, len(primes) or 1))
    cuts = sorted(rng.sample(range(1, len(primes)), len(groups) - 1)) if len(primes) > 1 else []
    for k, (lo, hi) in enumerate(zip([0, *cuts], [*cuts, len(primes)], strict=True)):
        groups[k] = math.prod(primes[lo:hi])
    if rng.random() < 0.15:
        groups.insert(rng.randint(0, len(groups)), 1)
    return groups[:6] if math.prod(groups[:6]) == math.prod(groups) else [math.prod(groups)]


def step(rng: random.Random, kind: str, shape: list[int]) -> Step | None:
    """Return a random operation of this kind on ``shape``, ``None`` where none is possible."""
    old = list(shape)
    if kind == "reshape":
        new = random_reshape(rng, old)
        return Step(kind, new, lambda b, i, c: regroup(b, i, old, new)) if new != old else None
    if kind == "transpose":
        if len(old) < 2:
            return None
        perm = list(range(len(old)))
        while perm == sorted(perm):
            rng.shuffle(perm)
        at = [perm.index(k) for k in range(len(old))]
        return Step(kind, [old[p] for p in perm], lambda b, i, c: [i[k] for k in at])
    if kind == "slice":
        if math.prod(old) < 8:
            return None
        start, stride, new = [], [], []
        for n in old:
            s = rng.randint(0, n // 3)
            t = rng.choice([1, 1, 1, 2, 3])
            limit = rng.randint(s + 1, n) if rng.random() < 0.5 else n
            start.append(s)
            stride.append(t)
            new.append((limit - s + t - 1) // t)
        places = list(zip(start, stride, strict=True))
        return Step(kind, new, lambda b, i, c: [b.add(b.mul(k, t), n=s) for k, (s, t) in zip(i, places, strict=True)])
    if kind == "reverse":
        return reverse(old, [rng.random() < 0.5 for _ in old])
    if kind == "broadcast":
        if len(old) > 5 or math.prod(old) > 40_000:
            return None
        at = rng.randint(0, len(old))
        size = rng.choice([1, 2, 3, 4, 8])
        return Step(kind, [*old[:at], size, *old[at:]], lambda b, i, c: [*i[:at], *i[at + 1 :]])
    assert kind == "pad"
    low = [rng.choice([0, 0, 1, 2, 3]) for _ in old]
    high = [rng.choice([0, 0, 1, 2]) for _ in old]
    gap = [rng.choice([0, 0, 0, 1]) for _ in old]
    if not any(low + high + gap):
        return None
    new = [a + n + (n - 1) * g + h for a, n, g, h in zip(low, old, gap, high, strict=True)]

    def back(b: Builder, index: list[int], constraints: Limits) -> list[int]:
        out = []
        for i, a, n, g, m in zip(index, low, old, gap, new, strict=True):
            e = b.add(i, n=-a)
            if m != n:
                constraints.append((e, 0, (n - 1) * (g + 1)))
            if g:
                constraints.append((b.mod(e, g + 1), 0, 0))
                e = b.fdiv(e, g + 1)
            out.append(e)
        return out

    return Step("pad", new, back)


def reverse(shape: list[int], flip: Sequence[bool]) -> Step:
    """Reverse the dimensions that ``flip`` marks."""
    sizes = [n if f else 1 for n, f in zip(shape, flip, strict=True)]

    def back(b: Builder, index: list[int], constraints: Limits) -> list[int]:
        return [b.add(b.mul(k, -1), n=n - 1) if n > 1 else k for k, n in zip(index, sizes, strict=True)]

    return Step("reverse", shape, back)


def chain(
    rng: random.Random, shape: list[int], depth: int, weights: dict[str, float], limit: int = 200_000
) -> list[Step]:
    """Return a chain of ``depth`` random operations."""
    steps: list[Step] = []
    kinds = list(weights)
    while len(steps) < depth:
        made = step(rng, rng.choices(kinds, [weights[k] for k in kinds])[0], shape)
        if made is not None and math.prod(made.shape) <= limit and len(made.shape) <= 6:
            steps.append(made)
            shape = made.shape
    return steps


def through(b: Builder, steps: Sequence[Step], index: list[int], constraints: Limits) -> list[int]:
    """Convert an index of the last shape to one of the first operand."""
    for s in reversed(steps):
        index = s.back(b, index, constraints)
    return index


MOVES = {"reshape": 5.0, "transpose": 3.0, "slice": 1.0, "pad": 0.6, "reverse": 0.7, "broadcast": 0.7}
SIZES = [2, 2, 3, 4, 4, 5, 6, 7, 8, 8, 10, 12, 16, 16, 32, 64, 128]


def random_shape(rng: random.Random, rank: int, limit: int = 100_000) -> list[int]:
    while True:
        shape = [rng.choice(SIZES) for _ in range(rank)]
        if math.prod(shape) <= limit:
            return shape


def accept(m: Map) -> bool:
    """Return whether the map is small enough as a tree, is not constant, and has sampled points in its domain."""
    return m.program.tree_size() <= TREE and any(len(v) for v in m.points(2_000).values())


def generated(make: Callable[[random.Random, int], Map | None], seed: int, usual: int) -> Callable[..., Iterator[Map]]:
    """Return a generator of accepted maps.  ``make`` draws a map or ``None``, given the number of maps so far."""

    def maps(count: int = usual, shift: int = 0) -> Iterator[Map]:
        rng = random.Random(seed + shift)
        made = 0
        while made < count:
            m = make(rng, made)
            if m is not None and accept(m):
                made += 1
                yield m

    return maps


def _finish(
    corpus: str, name: str, b: Builder, vars_: Boxes, roots: list[int], where: Limits, target: Sequence[int] = ()
) -> Map:
    """Return the map without duplicate constraints and without true constraints on literals."""

    def true(c: tuple[int, int, int]) -> bool:
        value = b.nodes[c[0]]
        return isinstance(value, int) and c[1] <= value <= c[2]

    kept = [c for c in dict.fromkeys(where) if not true(c)]
    return Map(corpus, name, vars_, b.program(roots), kept, target=list(target))


def _indices(b: Builder, shape: Sequence[int], prefix: str = "d") -> tuple[list[int], Boxes]:
    names = [f"{prefix}{k}" for k in range(len(shape))]
    return [b.var(n) for n in names], [(n, 0, s - 1) for n, s in zip(names, shape, strict=True)]


def _chain(rng: random.Random, made: int) -> Map | None:
    """Chains of reshape, transpose, slice, pad, reverse and broadcast: depth 2 to 8, rank 1 to 6."""
    depth = 2 + made % 7
    shape = random_shape(rng, 1 + rng.randrange(6))
    steps = chain(rng, shape, depth, MOVES)
    b = Builder()
    index, boxes = _indices(b, steps[-1].shape)
    where: Limits = []
    return _finish(
        "chains",
        f"chain {made}: " + " ".join(s.name for s in steps),
        b,
        boxes,
        through(b, steps, index, where),
        where,
        shape,
    )


# -------------------------------------------------------------------------------------------------- tiled layouts
TILINGS: list[list[list[int]]] = [
    *([[8, 128]], [[8, 128], [2, 1]], [[8, 128], [4, 1]], [[16, 128], [2, 1]], [[4, 4]]),
    *([[2, 3], [2, 1]], [[32]], [[128], [2]], [[2, 4, 8]], [[16, 16], [4, 2]]),
]


def tiled(shape: Sequence[int], tiles: Sequence[Sequence[int]]) -> list[int]:
    """Return the physical shape: each tile splits the minor-most dimensions, padded to multiples."""
    shape = list(shape)
    for t in tiles:
        head, tail = shape[: len(shape) - len(t)], shape[len(shape) - len(t) :]
        shape = [*head, *(-(-n // k) for n, k in zip(tail, t, strict=True)), *t]
    return shape


def to_tiles(b: Builder, index: list[int], shape: Sequence[int], tiles: Sequence[Sequence[int]]) -> list[int]:
    """Return the physical coordinates of a logical index."""
    for t in tiles:
        head, tail = index[: len(index) - len(t)], index[len(index) - len(t) :]
        index = [
            *head,
            *(b.fdiv(i, k) for i, k in zip(tail, t, strict=True)),
            *(b.mod(i, k) for i, k in zip(tail, t, strict=True)),
        ]
    return index


def from_tiles(b: Builder, index: list[int], tiles: Sequence[Sequence[int]]) -> list[int]:
    """Return the logical index of physical coordinates (which may lie in the padding)."""
    for t in reversed(tiles):
        n = len(t)
        head, outer, inner = (
            index[: len(index) - 2 * n],
            index[len(index) - 2 * n : len(index) - n],
            index[len(index) - n :],
        )
        index = [*head, *(b.add(b.mul(o, k), i) for o, i, k in zip(outer, inner, t, strict=True))]
    return index


def _tile(rng: random.Random, made: int) -> Map | None:
    """Two-level tiled layouts: logical to physical offset, back, the round trip, and from one tiling to another."""
    kind = ("offset", "logical", "round trip", "relayout")[made % 4]
    tiling = TILINGS[(made // 4) % len(TILINGS)]
    rank = max(len(tiling[0]), rng.randint(2, 4))
    tail = [t * rng.randint(1, 4) - (rng.randint(0, t - 1) if rng.random() < 0.4 else 0) for t in tiling[0]]
    shape = [rng.choice([1, 2, 3, 4, 5, 8]) for _ in range(rank - len(tail))] + [max(1, n) for n in tail]
    b = Builder()
    where: Limits = []
    physical = tiled(shape, tiling)
    sizes = shape if kind != "offset" else [math.prod(physical)]
    if kind in ("offset", "round trip"):
        index, boxes = _indices(b, shape)
        offset = linearize(b, to_tiles(b, index, shape, tiling), physical)
        roots = [offset] if kind == "offset" else from_tiles(b, delinearize(b, offset, physical), tiling)
    else:
        boxes = [("d0", 0, math.prod(physical) - 1)]
        roots = from_tiles(b, delinearize(b, b.var("d0"), physical), tiling)
        where = (
            [(e, 0, n - 1) for e, n in zip(roots, shape, strict=True)]
            if tiled(shape, tiling) and any(n % t for n, t in zip(shape[-len(tiling[0]) :], tiling[0], strict=True))
            else []
        )
        if kind == "relayout":
            other = rng.choice([t for t in TILINGS if len(t[0]) <= rank and t != tiling])
            roots = [linearize(b, to_tiles(b, roots, shape, other), tiled(shape, other))]
            sizes = [math.prod(tiled(shape, other))]
    return _finish("tiles", f"{kind} {made}: {shape} {tiling}", b, boxes, roots, where, sizes)


# ---------------------------------------------------------------------------------------------------- convolutions
def _convolution(rng: random.Random, made: int) -> Map | None:
    """Strided and dilated windows over padded and dilated inputs, behind and before movement chains."""
    spatial = rng.choice([1, 2, 2, 2, 3])
    batch = rng.choice([1, 2, 4, 8])
    groups = rng.choice([1, 1, 1, 2, 4])
    into, out = groups * rng.choice([1, 2, 3, 4]), groups * rng.choice([1, 2, 4, 8])
    size = [rng.choice([5, 7, 8, 12, 14, 16, 28, 32]) for _ in range(spatial)]
    window = [rng.choice([1, 2, 3, 3, 5, 7]) for _ in range(spatial)]
    stride = [rng.choice([1, 1, 2, 3]) for _ in range(spatial)]
    dilation = [rng.choice([1, 1, 2]) for _ in range(spatial)]
    base = [rng.choice([1, 1, 1, 2]) for _ in range(spatial)]
    pads = [(rng.randint(0, w // 2 + 1), rng.randint(0, w // 2 + 1)) for w in window]
    result = []
    for n, w, s, d, g, (lo, hi) in zip(size, window, stride, dilation, base, pads, strict=True):
        room = lo + (n - 1) * g + 1 + hi - ((w - 1) * d + 1)
        result.append(room // s + 1)
    if min(result) < 1:
        return None
    b = Builder()
    where: Limits = []
    shape = [batch, *result, out]
    behind = chain(rng, shape, rng.choice([0, 0, 1, 2]), {"reshape": 3, "transpose": 2, "slice": 1}) if made % 3 else []
    last = behind[-1].shape if behind else shape
    if made % 4 == 3:  # the output index is a linear position, as in a kernel
        boxes = [("d0", 0, math.prod(last) - 1)]
        index = delinearize(b, b.var("d0"), last)
    else:
        index, boxes = _indices(b, last)
    index = through(b, behind, index, where)
    taps = [b.var(f"s{k}") for k in range(spatial + 1)]
    boxes += [(f"s{k}", 0, w - 1) for k, w in enumerate(window)] + [(f"s{spatial}", 0, into // groups - 1)]
    read = [index[0]]
    for i, tap, n, s, d, g, (lo, _) in zip(index[1:-1], taps, size, stride, dilation, base, pads, strict=False):
        e = b.add(b.add(b.mul(i, s), b.mul(tap, d)), n=-lo)
        where.append((e, 0, (n - 1) * g))
        if g > 1:
            where.append((b.mod(e, g), 0, 0))
            e = b.fdiv(e, g)
        read.append(e)
    feature = taps[-1]
    if groups > 1:
        feature = b.add(b.mul(b.fdiv(index[-1], out // groups), into // groups), feature)
    read.append(feature)
    operand = [batch, *size, into]
    # every other input is the result of movement operations
    before, source = _ending_in(rng, operand, rng.choice([1, 2, 3]) if made % 2 else 0)
    roots = through(b, before, read, where)
    return _finish("convolutions", f"convolution {made}", b, boxes, roots, where, source)


def _ending_in(rng: random.Random, shape: list[int], depth: int) -> tuple[list[Step], list[int]]:
    """Return a chain that ends in ``shape``, built backwards, and its first shape."""
    steps: list[Step] = []
    target = list(shape)
    for _ in range(depth):
        kind = rng.choice(["reshape", "reshape", "transpose", "pad", "reverse"])
        new = list(target)
        if kind == "reshape":
            old = random_reshape(rng, new)
            steps.append(Step(kind, new, lambda b, i, c, old=old, new=new: regroup(b, i, old, new)))
            target = old
        elif kind == "transpose" and len(new) > 1:
            perm = list(range(len(new)))
            rng.shuffle(perm)
            old = [new[p] for p in perm]
            steps.append(Step(kind, new, lambda b, i, c, perm=perm: [i[p] for p in perm]))
            target = old
        elif kind == "reverse":
            steps.append(reverse(new, [True] * len(new)))
        elif kind == "pad":
            low = [rng.randint(0, 1) if n > 3 else 0 for n in new]
            old = [n - 2 * a for n, a in zip(new, low, strict=True)]

            def back(b: Builder, i: list[int], c: Limits, low: Any = low, old: Any = old) -> list[int]:
                out = [b.add(k, n=-a) for k, a in zip(i, low, strict=True)]
                c += [(e, 0, n - 1) for e, n, a in zip(out, old, low, strict=True) if a]
                return out

            steps.append(Step(kind, new, back))
            target = old
    steps.reverse()
    return steps, target


# ------------------------------------------------------------------------------------------------ threads and blocks
def _thread(rng: random.Random, made: int) -> Map | None:
    """Kernels: block, thread, vector lane and unrolled steps to an output position, on to an operand's index."""
    shape = random_shape(rng, rng.randint(1, 4), 1 << 20)
    block = rng.choice([32, 64, 128, 128, 256])
    vector = rng.choice([1, 2, 4, 4, 8])
    unroll = rng.choice([1, 1, 2, 4])
    steps = chain(
        rng, shape, rng.randint(0, 3), {"reshape": 4, "transpose": 3, "slice": 0.5, "reverse": 0.4, "broadcast": 0.5}
    )
    final = steps[-1].shape if steps else shape
    total = math.prod(final)
    per = block * vector * unroll
    blocks = -(-total // per)
    if blocks < 2:
        return None
    b = Builder()
    where: Limits = []
    th, bl = b.var("th_x"), b.var("bl_x")
    boxes = [("th_x", 0, block - 1), ("bl_x", 0, blocks - 1)]
    style = made % 5
    if style == 4:  # strip-mined: the thread is split into a warp and a lane first
        warps = b.fdiv(th, 32)
        lane = b.mod(th, 32)
        position = b.add(b.add(b.mul(lane, vector), b.mul(warps, 32 * vector)), b.mul(bl, block * vector))
    else:
        position = b.add(b.mul(th, vector), b.mul(bl, block * vector))
    if vector > 1:
        position = b.add(position, b.var("s0"))
        boxes.append(("s0", 0, vector - 1))
    if unroll > 1:
        position = b.add(position, b.mul(b.var("s1"), block * vector * blocks))
        boxes.append(("s1", 0, unroll - 1))
    if style == 3:  # a second thread axis
        boxes.append(("th_y", 0, 3))
        position = b.add(b.mul(position, 4), b.var("th_y"))
        per *= 4
        boxes[1] = ("bl_x", 0, -(-total // per) - 1)
        if boxes[1][2] < 1 or unroll > 1:
            return None
    covered = math.prod(hi - lo + 1 for _, lo, hi in boxes)
    if covered != total:
        where.append((position, 0, total - 1))
    roots = through(b, steps, delinearize(b, position, final), where)
    if style == 2:  # the operand's position in memory
        roots = [linearize(b, roots, shape)]
    return _finish(
        "threads",
        f"threads {made}: {block}x{vector}x{unroll} " + " ".join(s.name for s in steps),
        b,
        boxes,
        roots,
        where,
        [math.prod(shape)] if style == 2 else shape,
    )


# ---------------------------------------------------------------------------------------------------------- the rest
def xla(path: Path = XLA_PAIRS) -> Iterator[Map]:
    """Random fusions: the map that XLA composed, and its form after XLA's simplifier."""
    with gzip.open(path, "rt") as lines:
        for line, text in enumerate(lines):
            record = json.loads(text)
            for k, pair in enumerate(record["pairs"]):
                b = Builder()
                roots = [b.nested(e) for e in pair["before"]]
                where = [(b.nested(e), lo, hi) for e, lo, hi in pair["domain"]]
                after = Builder()
                after_roots = [after.nested(e) for e in pair["after"]]
                m = _finish(
                    "xla",
                    f"fusion {line}.{k}: " + " ".join(record["ops"]),
                    b,
                    [tuple(v) for v in pair["vars"]],
                    roots,
                    where,
                )
                m.after = after.program(after_roots)
                yield m


#: The examples of the published descriptions of XLA's simplifier, and chains of reshapes from there.
_PUBLISHED: list[tuple[str, Boxes, list[str]]] = [
    ("small remainder", [("d0", 0, 6), ("d1", 0, 14)], ["d0 + d1 // 16", "d1 % 16"]),
    ("three digits", [("d0", 0, 9), ("d1", 0, 9), ("d2", 0, 9)], ["(100*d0 + 10*d1 + d2) // 100",
        "(100*d0 + 10*d1 + d2) % 100 // 10", "d2 % 10"]),
    ("multiples leave", [("d0", 0, 9), ("d1", 0, 9), ("d2", 0, 9)], ["(16*d0 + 4*d1 + d2) // 8",
        "(16*d0 + 4*d1 + d2) % 8"]),
    ("negative", [("d0", 0, 9), ("d1", 0, 10)], ["-((-11*d0 - d1 + 109) // 11) + 9"]),
    ("reshape there and back", [("d0", 0, 9), ("d1", 0, 9), ("d2", 0, 9)],
        ["((100*d0 + 10*d1 + d2) // 20 * 20 + (100*d0 + 10*d1 + d2) % 20) // 100",
        "((100*d0 + 10*d1 + d2) // 20 * 20 + (100*d0 + 10*d1 + d2) % 20) // 10 % 10",
        "((100*d0 + 10*d1 + d2) // 20 * 20 + (100*d0 + 10*d1 + d2) % 20) % 10"]),
    ("collapse", [("d0", 0, 31)], ["d0 // 8", "d0 % 8"]),
    ("expand", [("d0", 0, 3), ("d1", 0, 7)], ["d0 * 8 + d1"]),
    ("expand then collapse", [("d0", 0, 7), ("d1", 0, 3)], ["d0 // 2", "d0 % 2 * 4 + d1"]),
    ("reshape of a tensor to another", [("d0", 0, 3), ("d1", 0, 7)], ["(d0 * 8 + d1) // 16",
        "(d0 * 8 + d1) // 4 % 4", "(d0 * 8 + d1) % 4"]),
    ("generic reshape", [("d0", 0, 1), ("d1", 0, 3), ("d2", 0, 3)], ["d0 * 2 + d1 // 2", "d2 + d1 % 2 * 4"]),
    ("pad with interior", [("d0", 0, 8), ("d1", 0, 7)], ["(d0 - 1) // 2", "d1 - 4"]),
    ("concatenated and sliced", [("d0", 0, 2), ("d1", 0, 2)], ["d0 * 2 + 1", "9 - d1 * 3"]),
]  # fmt: skip


def published() -> Iterator[Map]:
    """The worked examples of the published descriptions."""
    for name, boxes, texts in _PUBLISHED:
        b = Builder()
        roots = [_read(b, t) for t in texts]
        where = []
        if name == "pad with interior":
            where = [(_read(b, "d0 - 1"), 0, 6), (_read(b, "(d0 - 1) % 2"), 0, 0), (_read(b, "d1 - 4"), 0, 3)]
        yield _finish("published", name, b, boxes, roots, where)


def _read(b: Builder, text: str) -> int:
    import ast

    def walk(n: ast.expr) -> int:
        if isinstance(n, ast.Constant):
            return b.lit(n.value)
        if isinstance(n, ast.Name):
            return b.var(n.id)
        if isinstance(n, ast.UnaryOp):
            return b.mul(walk(n.operand), -1)
        assert isinstance(n, ast.BinOp)
        left, right = walk(n.left), walk(n.right)
        if isinstance(n.op, ast.Sub):
            return b.sub(left, right)
        names = {ast.Add: "add", ast.Mult: "mul", ast.FloorDiv: "fdiv", ast.Mod: "mod"}
        return b.op(names[type(n.op)], left, right)

    return walk(ast.parse(text, mode="eval").body)


TERMS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
DEPTHS = (1, 2, 4, 8, 16, 32, 64)


def terms(sizes: Sequence[int] = TERMS) -> Iterator[Map]:
    """Sums of many terms under a quotient and a remainder: one mixed-radix number, and one with loose coefficients."""
    for n in sizes:
        for kind in ("digits", "loose"):
            rng = random.Random(n)
            b = Builder()
            names = [f"d{k}" for k in range(n)]
            boxes = [(v, 0, rng.choice([1, 2, 3])) for v in names]
            total = b.lit(0)
            for k, v in enumerate(names):
                scale = 4 * (k % 8 + 1) if kind == "digits" else rng.randint(1, 40)
                total = b.add(total, b.mul(b.var(v), scale))
            total = b.add(total, n=3)
            m = _finish("terms", f"{kind}, {n} terms", b, boxes, [b.fdiv(total, 16), b.mod(total, 16)], [])
            m.size = n
            yield m


def depths(sizes: Sequence[int] = DEPTHS) -> Iterator[Map]:
    """Chains of reshapes and transposes of growing depth.  As trees they grow exponentially; nodes are shared."""
    shapes = [[8, 12, 10], [12, 80], [4, 6, 40], [32, 30]]
    for n in sizes:
        for kind in ("reshape", "transpose"):
            b = Builder()
            index, boxes = _indices(b, shapes[0])
            here = shapes[0]
            for k in range(n):
                there = shapes[(k + 1) % len(shapes)]
                index = regroup(b, index, there, here)
                if kind == "transpose" and k % 2:
                    index, there = index[::-1], there[::-1]
                    index = regroup(b, index, shapes[(k + 1) % len(shapes)], there)
                    there = shapes[(k + 1) % len(shapes)]
                here = there
            m = _finish("depths", f"{kind}, depth {n}", b, boxes, index, [])
            m.size = n
            yield m


#: The corpora that can be made with other seeds.
GENERATED: dict[str, Callable[..., Iterator[Map]]] = {
    "chains": generated(_chain, 2024, 300),
    "tiles": generated(_tile, 8128, 120),
    "convolutions": generated(_convolution, 33, 120),
    "threads": generated(_thread, 128, 150),
}
#: All corpora by name.
CORPORA: dict[str, Callable[[], Iterator[Map]]] = {
    "published": published,
    "xla": xla,
    **GENERATED,
    "terms": terms,
    "depths": depths,
}


def corpus(name: str) -> list[Map]:
    return list(CORPORA[name]())
