"""Count what maps read: distinct elements and reads of an operand, and the memory transactions of warps.

All numbers are exact. Elements are counted per component (variables that share no result and no constraint multiply),
each component as a set by isl. Transactions are counted per request: what the lanes of one warp read at once. Requests
whose addresses differ by a multiple of the largest granule need equally many, so one period of each variable is counted
for all of its values. The result is None if the count takes more than `LIMIT` steps.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from math import gcd, isqrt, lcm, prod
from typing import Any

import numpy as np

from ..core.display import Shown
from ..core.errors import InputError
from ..core.expr import Expr, FloorDiv, Int, Mod, Var, integer, postorder, substitute_all
from ..core.facts import Facts
from ..core.indexing_map import Constraint, IndexingMap, RuntimeVariable, Variable
from ..core.interval import Interval
from ..core.launch import Launched
from ..core.layout import Memory, element_bits
from ..rules.simplifier import simplify, simplify_expr
from .isl_form import count_points, to_isl

#: Bytes of a sector and of a line of global memory, and of a word of shared memory, of which there are `BANKS` banks.
SECTOR, LINE, WORD, BANKS = 32, 128, 4, 32
#: Limit on the lanes that are evaluated, and on the points of a set that are enumerated.
LIMIT = 1 << 22
#: Limit on the candidates for the period of a variable.
_TRIED = 64


# ----------------------------------------------------------------------------------------------------- utilization
@dataclass(frozen=True)
class Utilization(Shown):
    """How many elements of an operand are read, and how often; None for an unknown number."""

    #: Elements of the operand.
    elements: int
    #: Elements that are read at least once.
    distinct: int | None
    #: Pairs of an output element and an element that it reads.
    reads: int | None
    #: Whether the numbers are upper bounds, because addresses are known only at run time.
    at_most: bool = False

    @property
    def fraction(self) -> float | None:
        """The fraction of the operand that is read, from 0 to 1; 1 for an operand without elements."""
        return None if self.distinct is None else self.distinct / self.elements if self.elements else 1.0

    @property
    def reuse(self) -> float | None:
        """How often each element that is read is read, on average."""
        return self.reads / self.distinct if self.reads is not None and self.distinct else None

    def __str__(self) -> str:
        if self.distinct is None or self.reads is None:
            return "not counted: there are too many elements to walk through"
        part = "all" if self.distinct == self.elements else f"{self.distinct:,} of"
        share = "" if self.distinct == self.elements else f" ({self.fraction:.1%})"
        often = "" if self.reuse is None else ", each once" if self.reuse == 1 else f", each {self.reuse:,.4g} times"
        return f"reads {'at most ' * self.at_most}{part} {self.elements:,} elements{share}{often}"


def utilization(maps: Sequence[IndexingMap], elements: int, at_most: bool = False) -> Utilization:
    """Count the elements of an operand of ``elements`` elements that the output reads, and the reads.

    ``maps`` are from output to operand and all of them apply. With runtime variables the numbers are upper bounds: an
    element counts as read if some value reaches it. ``at_most`` says that the maps themselves are an upper bound.
    """
    at_most = at_most or any(m.rts for m in maps)
    maps = [m.with_(rts=tuple(RuntimeVariable(v.name, v.lo, v.hi) for v in m.rts)) for m in maps]
    if len(maps) == 1:
        (m,) = maps
        parts = [p.map for p in components(m)]
        pairs = _product([_pairs(p) for p in parts])
        distinct = _product([count_points(_targets(p), LIMIT) for p in parts])
    elif maps:
        pairs = _pairs_of_all(maps)
        distinct = count_points(_union([_targets(m) for m in maps]), LIMIT)
    else:
        pairs = distinct = 0
    if pairs is not None and distinct is not None:
        distinct = min(distinct, pairs)
    return Utilization(elements, distinct, pairs, at_most)


def _product(counts: Sequence[int | None]) -> int | None:
    """Multiply counts, None being unknown; the product is 0 if any factor is 0."""
    known = [n for n in counts if n is not None]
    return prod(known) if len(known) == len(counts) or 0 in known else None


def connected(sets: Iterable[set[Var]]) -> list[set[Var]]:
    """Return the unions of sets that are connected by common elements, without empty sets."""
    groups: list[set[Var]] = []
    for together in filter(None, sets):
        apart = [g for g in groups if not g & together]
        groups = [*apart, together.union(*(g for g in groups if g & together))]
    return groups


@dataclass(frozen=True)
class MapPart:
    """A part of a map that shares no variable with the others, with the indices of its dimensions and results."""

    map: IndexingMap
    dims: Sequence[int]
    results: Sequence[int]


def components(m: IndexingMap) -> Iterator[MapPart]:
    """Split a map into parts that share no variable; its relation is their product."""
    mentioned = {e: set(e.variables()) for e in m.roots}
    apart: list[set[Var]] = [] if all(mentioned.values()) else [set()]
    for group in (*apart, *connected([*mentioned.values(), *({v.expr} for v in m.variables)])):
        inside = {e for e, about in mentioned.items() if (about <= group if about else not group)}
        dims = [i for i, v in enumerate(m.dims) if v.expr in group]
        results = [k for k, e in enumerate(m.results) if e in inside]
        part = IndexingMap(
            tuple(m.dims[i] for i in dims),
            tuple(v for v in m.ranges if v.expr in group),
            tuple(v for v in m.rts if v.expr in group),
            tuple(m.results[k] for k in results),
            tuple(c for c in m.constraints if c.expr in inside),
        )
        yield MapPart(part, dims, results)


def _pairs(m: IndexingMap) -> int | None:
    """Count the pairs of a source and a target; with runtime variables, an upper bound."""
    if m.ranges and not m.rts:
        return _relation(to_isl(m))
    # each point of the domain is at most one pair, and without runtime variables exactly one
    free = (*m.dims, *m.ranges)
    if not m.constraints:
        return prod(v.size for v in free)
    ranges = (*free, *(Variable(v.name, v.lo, v.hi) for v in m.rts))
    return count_points(to_isl(IndexingMap((), ranges, (), tuple(v.expr for v in free), m.constraints)).range(), LIMIT)


def _targets(m: IndexingMap) -> Any:
    """Return the targets as an isl set, for any runtime values."""
    ranges = (*m.ranges, *(Variable(v.name, v.lo, v.hi) for v in m.rts))
    return to_isl(IndexingMap(m.dims, ranges, (), m.results, m.constraints)).range()


def _union(sets: Sequence[Any]) -> Any:
    return reduce(lambda a, b: a.union(b), sets)


def _pairs_of_all(maps: Sequence[IndexingMap]) -> int | None:
    """Count the pairs of all maps together; with runtime variables, an upper bound."""
    total = 0
    for n, m in enumerate(maps):
        own = _product([_pairs(p.map) for p in components(m)])
        again: int | None = 0
        if n and not any(a.rts for a in maps):
            before = _union([to_isl(a) for a in maps[:n]])
            again = _relation(before.intersect(to_isl(m)))
        if own is None or again is None:
            return None
        total += own - again
    return total


def _relation(pairs: Any) -> int | None:
    """Count the pairs of an isl relation."""
    if pairs.is_single_valued():
        return count_points(pairs.domain(), LIMIT)
    if pairs.is_injective():
        return count_points(pairs.range(), LIMIT)
    return count_points(pairs.wrap(), LIMIT)


# ------------------------------------------------------------------------------------------------------ transactions
@dataclass(frozen=True)
class Requests:
    """The memory requests of all warps of a launch for one operand, in total.

    A request is one load by one warp. The operand begins at a multiple of `LINE` bytes.
    """

    #: Requests with at least one active lane.
    requests: int
    #: Sectors and lines that the requests touch, and the sectors that the same bytes fill if packed.
    sectors: int
    lines: int
    packed: int
    #: Passes over the banks if the operand is in shared memory; lanes that read one word share it.
    wavefronts: int
    #: Elements that one thread loads at once: neighbours in memory, aligned to their common size.
    vector: int
    #: Bytes from lane to lane if the distance is constant, otherwise None.
    stride: int | None
    #: The operand's dimensions in which neighbouring lanes differ.
    dimensions: tuple[int, ...]
    #: A request that touches the most sectors, by the values of its variables, and the number of them.
    worst: tuple[dict[str, int], int]

    @property
    def coalesced(self) -> bool:
        """Whether no request touches more sectors than its bytes fill."""
        return self.sectors == self.packed


def requests(at: Launched, m: IndexingMap, operand: Memory) -> Requests | None:
    """Count the memory requests of a launch for one operand, or return None beyond `LIMIT` lanes.

    ``m`` is from elements of the output to elements of the operand. Each value of its ranges is an iteration with a
    request of its own. Raises `InputError` for a map of another rank, or with runtime variables.
    """
    if m.rts:
        raise InputError("a map with runtime variables has no fixed addresses", expected="a map without them")
    elements = simplify(at.reads(m, "warp"), quick=True)
    position = simplify(elements.compose(operand.forward), quick=True)
    bits = element_bits(operand.shape)
    return _Counter(position, bits, at.launch.warp).count(elements)


class _Counter:
    """Evaluates the positions that lanes read, given the variables of a request, the lane and the vector element."""

    def __init__(self, m: IndexingMap, bits: int, warp: int) -> None:
        self.map = m
        self.bits = bits
        self.warp = warp
        self.ends: dict[str | Var, tuple[int, int]] = {v.expr: (v.lo, v.hi) for v in m.variables}
        self.random = np.random.default_rng(0)

    def count(self, elements: IndexingMap) -> Requests | None:
        (f,) = self.map.results
        lane, unroll = self._variable("lane_id"), self._variable("unroll_id")
        vector = self._vector(f, unroll)
        values, weights, names = [], [], []
        for v in self.map.variables:
            if v is lane:
                continue
            if v is unroll:
                at, weight = np.arange(v.lo, v.hi + 1, vector), np.ones(v.size // vector, np.int64)
            else:
                at, weight = self._period(f, v)
            values.append(at)
            weights.append(weight)
            names.append(v.name)
        lanes = 1 if lane is None else self.warp
        if prod(len(v) for v in values) * lanes * vector > LIMIT:
            return None
        rows = [g.reshape(-1, 1, 1) for g in np.meshgrid(*values, indexing="ij")]
        weight = prod(np.meshgrid(*weights, indexing="ij"), start=np.ones((), np.int64)).reshape(-1)
        columns = {"lane_id": np.arange(lanes)[None, :, None], "unroll_id": np.arange(vector)[None, None, :]}
        arrays = dict(zip(names, rows, strict=True))
        arrays.update({name: arrays.get(name, 0) + at for name, at in columns.items()})
        inside, position = self._at(arrays)
        shape = (len(weight), lanes, vector)
        bit = np.where(np.broadcast_to(inside, shape), np.broadcast_to(position, shape) * self.bits, -1)
        flat = np.sort(bit.reshape(len(weight), -1), axis=1)
        active = flat[:, -1] >= 0
        sectors, lines, read = (_distinct(flat, n) for n in (8 * SECTOR, 8 * LINE, self.bits))
        packed = -(-read * self.bits // (8 * SECTOR))
        worst = int(sectors.argmax()) if len(sectors) else 0
        place = (
            {name: int(row.reshape(-1)[worst]) for name, row in zip(names, rows, strict=True)} if len(sectors) else {}
        )

        def total(counts: Any) -> int:
            return int((counts * weight).sum())

        return Requests(
            total(active),
            total(sectors),
            total(lines),
            total(packed),
            total(_wavefronts(bit, self.bits, self.warp)),
            vector,
            self._stride(f, lane),
            tuple(k for k, e in enumerate(elements.results) if lane is not None and lane.expr in e.variables()),
            (place, int(sectors[worst]) if len(sectors) else 0),
        )

    def _at(self, values: Mapping[str, Any]) -> tuple[Any, Any]:
        """Return which points lie in the domain, and the positions."""
        groups = self.map.dims, self.map.ranges, self.map.rts
        inside, (position,) = self.map.evaluate_many(*([values[v.name] for v in group] for group in groups))
        return inside, position

    def _variable(self, name: str) -> Variable | None:
        return next((v for v in self.map.variables if v.name == name), None)

    def _difference(self, f: Expr, v: Variable, by: int) -> int | None:
        """Return f(v + by) - f(v) if it is constant on the box."""
        return next((step for _, step in self._differences(f, v, [by])), None)

    def _differences(self, f: Expr, v: Variable, moves: Sequence[int]) -> Iterator[tuple[int, int]]:
        """Yield each of ``moves`` by which f differs by a constant on the box, and that constant."""
        moves = [by for by in moves if by <= v.hi - v.lo]
        if not moves:
            return
        far, shape = np.array(moves, np.int64)[:, None], (len(moves), 32)
        points = {u.name: self.random.integers(u.lo, u.hi, shape, endpoint=True) for u in self.map.variables}
        points[v.name] = self.random.integers(v.lo, v.hi - far, shape, endpoint=True)
        steps = self._at({**points, v.name: points[v.name] + far})[1] - self._at(points)[1]
        steps = np.broadcast_to(steps, shape)
        # sampled points rule out most candidates, which saves their proofs
        for by in itertools.compress(moves, (steps == steps[:, :1]).all(axis=1)):
            step = self._step(f, v, by)
            if step is not None:
                yield by, step

    def _step(self, f: Expr, v: Variable, by: int) -> int | None:
        """Return f(v + by) - f(v) if the simplifier proves it constant on the box."""
        (moved,) = substitute_all([f], {v.expr: v.expr + by})
        found = simplify_expr(moved - f, {**self.ends, v.expr: (v.lo, v.hi - by)})
        return found.value if isinstance(found, Int) else None

    def _stride(self, f: Expr, lane: Variable | None) -> int | None:
        if lane is None or lane.size == 1:
            return 0
        step = self._difference(f, lane, 1)
        return None if step is None or step * self.bits % 8 else step * self.bits // 8

    def _vector(self, f: Expr, unroll: Variable | None) -> int:
        """Return how many neighbours can be loaded at once: a power of two, aligned, at most 16 bytes in total."""
        if unroll is None or unroll.lo or self._difference(f, unroll, 1) != 1:
            return 1
        width = gcd(unroll.size, max(128 // self.bits, 1))
        (first,) = substitute_all([f], {unroll.expr: integer(0)})
        while width > 1 and not (
            simplify_expr(first % width, self.ends) is integer(0)
            and all(self._whole(c, unroll, width) for c in self.map.constraints if unroll.expr in c.expr.variables())
        ):
            width //= 2
        return width

    def _whole(self, c: Constraint, v: Variable, width: int) -> bool:
        """Return whether the bounds of a constraint admit all or none of each ``width`` aligned neighbours."""
        (first,) = substitute_all([c.expr], {v.expr: integer(0)})
        counts = simplify_expr(c.expr - first - v.expr, self.ends) is integer(0)
        aligned = simplify_expr(first % width, self.ends) is integer(0)
        return counts and aligned and c.lo % width == 0 and (c.hi + 1) % width == 0

    def _period(self, f: Expr, v: Variable) -> tuple[Any, Any]:
        """Return representatives of the values of ``v``, and how many values each represents."""
        whole = self._unconstrained(v)
        size = v.hi - v.lo + 1
        divisors = {
            node.b.value
            for node in postorder(f)
            if isinstance(node, (FloorDiv, Mod)) and isinstance(node.b, Int) and v.expr in node.variables()
        }
        tried = {d for n in (lcm(*divisors), prod(divisors)) for d in _divisors(n) if d < whole}
        for period, step in itertools.islice(self._differences(f, v, sorted(tried)[:_TRIED]), 1):
            period *= 8 * LINE // gcd(step * self.bits, 8 * LINE)
            if period < whole:
                first = np.arange(period)
                times = whole // period + (first < whole % period)
                rest = np.arange(whole, size)
                return v.lo + np.concatenate([first, rest]), np.concatenate([times, np.ones_like(rest)])
        return np.arange(v.lo, v.hi + 1), np.ones(size, np.int64)

    def _unconstrained(self, v: Variable) -> int:
        """Return how many values of ``v``, from the lowest, satisfy all constraints for any other values."""
        concerned = [c for c in self.map.constraints if v.expr in c.expr.variables()]
        low, high = 0, v.hi - v.lo + 1
        while low < high:
            middle = (low + high + 1) // 2
            facts = Facts(
                {u.expr: Interval(u.lo, u.hi) for u in self.map.variables} | {v.expr: Interval(v.lo, v.lo + middle - 1)}
            )
            ends = [(facts.interval(c.expr), c) for c in concerned]
            if all(c.lo <= i.lo and i.hi <= c.hi for i, c in ends):
                low = middle
            else:
                high = middle - 1
        return low


def _divisors(n: int) -> list[int]:
    small = [d for d in range(1, min(isqrt(n), 1 << 12) + 1) if n % d == 0]
    return [*small, *(n // d for d in small)]


def _distinct(bits: Any, granule: int) -> Any:
    """Count the distinct granules in each sorted row, without negative entries."""
    at = bits // granule
    new = np.ones_like(at, bool)
    new[:, 1:] = at[:, 1:] != at[:, :-1]
    return (new & (at >= 0)).sum(axis=1)


def _wavefronts(bits: Any, element: int, warp: int) -> Any:
    """Count the passes over the banks of shared memory that each row takes.

    Lanes that load more than a word are served in groups. Each pass loads at most one word of every bank.
    """
    rows, lanes, vector = bits.shape
    words = max(element // (8 * WORD), 1)
    at = np.where(bits < 0, -1, bits // (8 * WORD))[..., None] + np.where(bits < 0, 0, 1)[..., None] * np.arange(words)
    lanes_each = max(1, warp // max(1, element * vector // (8 * WORD)))
    total = np.zeros(rows, np.int64)
    for first in range(0, lanes, lanes_each):
        part = np.sort(at[:, first : first + lanes_each].reshape(rows, -1), axis=1)
        new = np.ones_like(part, bool)
        new[:, 1:] = part[:, 1:] != part[:, :-1]
        row, column = np.nonzero(new & (part >= 0))
        banks = np.bincount(row * BANKS + part[row, column] % BANKS, minlength=rows * BANKS)
        total += banks.reshape(rows, BANKS).max(axis=1)
    return total
