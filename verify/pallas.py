"""The claims of a ``pallas_call``: blocks in bounds, outputs written, no race, no block taken up again after it was left.

Index maps without data are Presburger, so :mod:`.concrete` decides each claim for grids of any size.  Where they read
scalar prefetch operands whose elements are known, the iterations are enumerated: :func:`enumerated`, which shares nothing
with the other way and is its oracle in the tests.

Two iterations *meet* in an array where the block that the first has of it (or of the array that is aliased to it) and the
block of the second share an element.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import inf, prod
from typing import Any

import numpy as np

from ..core.expr import Expr, ExprLike, Var, integer, substitute_all, var
from ..core.indexing_map import Constraint, IndexingMap, Variable, unused_name
from ..core.interval import Interval
from ..core.pallas_call import BlockedOperand, PallasCall
from .concrete import Answer, Counterexample, Fact, Option, Problem, in_bounds, onto
from .concrete.image import ZERO, asked
from .verdict import Status, worst

__all__ = ["CheckedPallasCall", "PallasClaim", "enumerated", "verify_pallas", "visits"]

#: No more pairs of an iteration and a block of an array, or an element of one, are enumerated.
LIMIT = 1 << 22


@dataclass(frozen=True)
class PallasClaim:
    """One claim about an operand and its answer; the kind is a key of :data:`CLAIMS`.

    The counterexample has the iteration by the names of the axes, an earlier or concurrent one with primes, and on its
    left side the index of the block, on its right side that of the other iteration.
    """

    operand: str
    kind: str
    answer: Answer


#: The kinds of claims, in the order in which they are reported.
CLAIMS = {
    "in bounds": "every block lies in the array",
    "table": "every element read of scalar prefetch exists",
    "written": "every element belongs to the block of an iteration",
    "stored": "the kernel stores to it",
    "no race": "parallel iterations have blocks of their own",
    "consecutive": "the iterations of a block are consecutive",
    "alias race": "parallel iterations do not overwrite each other's input",
    "alias": "no input is fetched after its output was written",
}


@dataclass(frozen=True)
class CheckedPallasCall:
    """A call and the answers to its claims."""

    call: PallasCall
    claims: tuple[PallasClaim, ...]

    @property
    def verdict(self) -> Status:
        """The worst of the answers; `NOT CHECKED` without any."""
        return worst([c.answer.verdict for c in self.claims])


#: Two operands: the blocks of the first are written, those of the second are written or read.
Pair = tuple[BlockedOperand, BlockedOperand]


def verify_pallas(call: PallasCall) -> CheckedPallasCall:
    """Check everything that is claimed of a call.  A claim that depends on data that is not known is undecided."""
    return CheckedPallasCall(call, tuple(_checked(call, _symbolic)))


def enumerated(call: PallasCall) -> CheckedPallasCall:
    """The same by going through the iterations, for as many as there is room for; the first counterexample in order."""
    return CheckedPallasCall(call, tuple(_checked(call, _by_enumeration)))


Decide = Callable[[PallasCall, str, Pair], Answer]


def _checked(call: PallasCall, decide: Decide) -> Iterator[PallasClaim]:
    for o in call.operands:
        if o.whole:
            continue
        source = next((s for s in call.operands if s.name == o.alias and not s.whole), None)
        for kind in CLAIMS:
            if not _is_claimed(call, kind, o, source):
                continue
            pair = (o, source) if kind.startswith("alias") and source is not None else (o, o)
            yield PallasClaim(o.name, kind, _answer(call, kind, pair, decide))


def _is_claimed(call: PallasCall, kind: str, o: BlockedOperand, source: BlockedOperand | None) -> bool:
    if kind == "in bounds":
        return True
    if kind == "table":
        return o.index is not None and bool(o.index.rts)
    sequential = any("parallel" not in s and n != 1 for s, n in zip(call.semantics, call.grid, strict=True))
    if not o.output or not o.used:
        return False
    return {
        "written": not o.alias,
        "stored": not o.touched and not o.alias,
        "no race": bool(call.parallel),
        "consecutive": sequential and not o.revisits,
        "alias race": source is not None and bool(call.parallel),
        "alias": source is not None and sequential,
    }[kind]


def _answer(call: PallasCall, kind: str, pair: Pair, decide: Decide) -> Answer:
    start = time.perf_counter()
    if kind == "stored":
        return _refuted("the kernel never mentions its reference")
    why = next((o.why for o in pair if o.index is None), "")
    if why:
        return _undecided(why)
    reads = _reads(kind, pair)
    if reads and all(call.tables[t].values is not None for t in reads.values()):
        decide = _by_enumeration
    elif reads and (
        kind not in ("in bounds", "table") or any(call.tables[t].stated is None for t in reads.values())
    ):
        return _undecided(_needed(kind, pair[0], reads))
    answer = decide(call, kind, pair)
    if kind == "no race" and call.direct and answer.verdict is Status.REFUTED:
        # each program may store to elements of its own
        found = answer.counterexample
        answer = _undecided(f"the kernel stores to the array itself, and iterations share a block: {found}")
    return replace(answer, seconds=time.perf_counter() - start)


def _reads(kind: str, pair: Pair) -> dict[Expr, str]:
    """The runtime variables that a claim depends on, each with the table that it is read from."""
    found: dict[Expr, str] = {}
    for o in pair:
        m = _map(o)
        sources = {r.expr: r.source for r in m.rts if r.source is not None}
        exprs = [e for s in sources.values() for e in s.results] if kind == "table" else m.results
        found.update({v: sources[v].hlo for e in exprs for v in e.variables() if v in sources})
    return found


def _needed(kind: str, o: BlockedOperand, reads: Mapping[Expr, str]) -> str:
    text = f"depends on the elements of {' and '.join(dict.fromkeys(reads.values()))}"
    if kind != "in bounds":
        return text
    indices = zip(_map(o).results, o.dims, strict=True)
    needs = [f"{e} in {d.indices}" for e, d in indices if not reads.keys().isdisjoint(e.variables())]
    return f"{text}: needs {' and '.join(needs)}"


def _undecided(reason: str) -> Answer:
    return Answer(Status.UNDECIDED, tried=(reason,))


def _refuted(
    reason: str, values: Mapping[str, int] | None = None, left: Any = None, right: Any = None
) -> Answer:
    return Answer(Status.REFUTED, "enumeration", (), Counterexample(dict(values or {}), left, right, reason))


def _map(o: BlockedOperand) -> IndexingMap:
    assert o.index is not None
    return o.index


# --------------------------------------------------------------------------------------------- for grids of any size
def _symbolic(call: PallasCall, kind: str, pair: Pair) -> Answer:
    o, other = pair
    m = _map(o)
    if kind == "in bounds":
        return in_bounds(m, [d.indices for d in o.dims])
    if kind == "table":
        answers = [
            in_bounds(m.with_(results=r.source.results), call.tables[r.source.hlo].shape)
            for r in m.rts
            if r.source is not None
        ]
        return next((a for a in answers if not a.proved), answers[0])
    if kind == "written":
        answer = onto(*_elements(o))
        found = answer.counterexample
        reason = _unwritten(not all(d.aligned for d in o.dims))
        return answer if found is None else replace(answer, counterexample=replace(found, reason=reason))
    race = kind in ("no race", "alias race")
    problems = list((_races if race else _returns)(call, o, other))
    answers = []
    for problem, axes in problems:
        answers.append(asked(problem, partial(_described, o, other, axes, race), False))
        if not answers[-1].proved:
            return answers[-1]
    return answers[0] if answers else Answer(Status.PROVED, "nothing to show")


def _elements(o: BlockedOperand) -> tuple[IndexingMap, tuple[int, ...]]:
    """The map from iterations to what they cover, and its sizes: blocks, or elements where blocks may overlap."""
    m = _map(o)
    taken = {v.name for v in m.variables}
    results: list[Expr] = []
    ranges, inside = [], []
    for k, (e, d) in enumerate(zip(m.results, o.dims, strict=True)):
        if not d.aligned:
            s = Variable(unused_name(f"s{k}", taken), 0, d.size - 1)
            ranges.append(s)
            e = e * d.step - d.low + s.expr
            inside.append(Constraint(e, 0, d.array - 1))
        results.append(e)
    sizes = tuple(n if d.aligned else d.array for n, d in zip(o.blocks, o.dims, strict=True))
    return m.with_(ranges=tuple(ranges), results=tuple(results), constraints=tuple(inside)), sizes


def _races(call: PallasCall, o: BlockedOperand, other: BlockedOperand) -> Iterator[tuple[Problem, list[Var]]]:
    """That no iteration meets one with another coordinate along a parallel axis."""
    for k in call.parallel:
        for sign in (1, -1) if o is not other else (1,):
            box, first, second = _two(o)
            gap = Fact(sign * (first[k] - second[k]), Interval(1, inf))
            yield Problem(box, (gap, *_meeting(o, other, first, second))), first


def _returns(
    call: PallasCall, o: BlockedOperand, other: BlockedOperand
) -> Iterator[tuple[Problem, list[Var]]]:
    """That an iteration that meets an earlier one of the same core continues the block of its predecessor.

    One problem for each first axis along which the two differ, and each axis along which the later one differs from its
    predecessor: it is at the start of all axes after that.
    """
    box, first, second = _two(o)
    hi = [v.hi for v in _map(o).dims]
    long = [k for k, n in enumerate(call.grid) if n != 1]
    for changed in long:
        if changed in call.parallel:
            continue
        where = [Fact(first[k] - second[k], ZERO) for k in call.parallel]
        where += [Fact(first[k] - second[k], ZERO) for k in range(changed) if k not in call.parallel]
        where += [Fact(first[changed] - second[changed], Interval(1, inf))]
        where += _meeting(o, other, first, second)
        for moved in long:
            if moved < changed:
                continue
            starts = [Fact(first[k], ZERO) for k in range(moved + 1, len(first))]
            before: dict[Any, ExprLike] = {first[k]: integer(hi[k]) for k in range(moved + 1, len(first))}
            before[first[moved]] = first[moved] - 1
            here, there = _at(other, first), substitute_all(_at(other, first), before)
            same = tuple(Fact(a - b, ZERO) for a, b in zip(here, there, strict=True))
            moves = Fact(first[moved], Interval(1, inf))
            yield Problem(box, (*where, *starts, moves), (Option(same),)), first


def _two(o: BlockedOperand) -> tuple[Any, list[Var], list[Var]]:
    """Two iterations: the one that the counterexample is about, and a second one with primes."""
    m = _map(o)
    first = [v.expr for v in m.dims]
    second = [var(v.name + "'") for v in m.dims]
    intervals = [Interval(v.lo, v.hi) for v in m.dims]
    return (*zip(first, intervals, strict=True), *zip(second, intervals, strict=True)), first, second


def _at(o: BlockedOperand, point: Sequence[Var]) -> list[Expr]:
    m = _map(o)
    return substitute_all(m.results, dict(zip(m.dim_vars, point, strict=True)))


def _meeting(
    o: BlockedOperand, other: BlockedOperand, first: Sequence[Var], second: Sequence[Var]
) -> list[Fact]:
    """That the block of ``o`` at the second iteration and that of ``other`` at the first share an element."""
    found: list[Fact] = []
    for a, b, d, e in zip(_at(o, second), _at(other, first), o.dims, other.dims, strict=True):
        if d == e and d.aligned:
            found.append(Fact(b - a, ZERO))
            continue
        one, two = a * d.step - d.low, b * e.step - e.low
        found.append(Fact(two - one, Interval(1 - e.size, d.size - 1)))
        # what they share is in the array, not in its padding
        found += [Fact(one, Interval(1 - d.size, d.array - 1)), Fact(two, Interval(1 - e.size, e.array - 1))]
    return found


def _described(
    o: BlockedOperand, other: BlockedOperand, axes: Sequence[Var], race: bool, env: Mapping[Expr, int]
) -> Counterexample:
    n = len(axes)
    values = {str(v): x for v, x in env.items()}
    points = list(values.values())
    here, there = _map(other).evaluate(points[:n]), _map(o).evaluate(points[n:])
    return Counterexample(values, here, there, _reason(o, other, race))


def _unwritten(fine: bool) -> str:
    return "no iteration has this " + ("element" if fine else "block")


def _reason(o: BlockedOperand, other: BlockedOperand, race: bool) -> str:
    if o is other:
        return (
            "two parallel iterations have this block" if race else "the block was left and is taken up again"
        )
    return (
        "a parallel iteration writes what this one reads"
        if race
        else "an earlier iteration has written what is read"
    )


# -------------------------------------------------------------------------------------------------- by enumeration
def _by_enumeration(call: PallasCall, kind: str, pair: Pair) -> Answer:
    n = call.iterations
    if n is None or n > LIMIT:
        return _undecided(f"{n:,} iterations are too many to go through" if n else "the grid is not known")
    o, other = pair
    points = _points(call)
    if kind in ("in bounds", "table"):
        return _outside(call, kind, o, points)
    fine = not (o.dims == other.dims and all(d.aligned for d in o.dims))
    written, read = _cells(call, o, points, fine), _cells(call, other, points, fine)
    if written is None or read is None:
        return _undecided("there are too many blocks to go through")
    if kind == "written":
        free = np.setdiff1d(np.arange(prod(_grain(o, fine))), written[1])
        place = np.unravel_index(free[0], _grain(o, fine)) if free.size else ()
        values = {f"t{k}": int(x) for k, x in enumerate(place)}
        return _refuted(_unwritten(fine), values) if free.size else _held()
    parallel = points[:, list(call.parallel)]
    group = (
        np.unique(parallel, axis=0, return_inverse=True)[1].reshape(-1) if len(points) else np.zeros(0, int)
    )
    race = kind in ("no race", "alias race")
    cells = int(max((*written[1], -1), default=-1)) + 1 if len(written[1]) else 0
    blocks = _indices(call, other, points)
    entered = np.ones(len(points), bool)
    if len(points) > 1:
        entered[1:] = (blocks[1:] != blocks[:-1]).any(axis=1)
    if race:
        # the smallest and the largest core that writes a cell
        low, high = np.full(cells, len(points)), np.full(cells, -1)
        np.minimum.at(low, written[1], group[written[0]])
        np.maximum.at(high, written[1], group[written[0]])
        inside = read[1] < cells
        at, cell = read[0][inside], read[1][inside]
        bad = (high[cell] >= 0) & ((low[cell] != group[at]) | (high[cell] != group[at]))
    else:
        # the first iteration of the same core that writes a cell
        key = written[1] * (len(points) + 1) + group[written[0]]
        order = np.lexsort((written[0], key))
        keys, first = np.unique(key[order], return_index=True)
        earliest = written[0][order][first]
        at, cell = read
        wanted = cell * (len(points) + 1) + group[at]
        place = np.minimum(np.searchsorted(keys, wanted), max(len(keys) - 1, 0))
        met = keys[place] == wanted if len(keys) else np.zeros(len(wanted), bool)
        bad = entered[at] & met
        bad[bad] = earliest[place[bad]] < at[bad]
    if not bad.any():
        return _held()
    k = int(np.flatnonzero(bad)[np.argmin(at[bad])])
    i, shared = int(at[k]), cell[k]
    writers = written[0][written[1] == shared]
    others = writers[group[writers] != group[i]] if race else writers[writers < i]
    j = int(others.min())
    values = {**_point(call, points[i]), **_point(call, points[j], "'")}
    here, there = (tuple(int(x) for x in _indices(call, x, points[[y]])[0]) for x, y in ((other, i), (o, j)))
    return _refuted(_reason(o, other, race), values, here, there)


def _held() -> Answer:
    return Answer(Status.PROVED, "enumeration")


def _points(call: PallasCall) -> Any:
    sizes = [n or 0 for n in call.grid]
    return np.indices(sizes).reshape(len(sizes), -1).T if sizes else np.zeros((1, 0), int)


def _point(call: PallasCall, point: Any, mark: str = "") -> dict[str, int]:
    return {a + mark: int(x) for a, x in zip(call.axes, point, strict=True)}


def _evaluated(call: PallasCall, m: IndexingMap, points: Any) -> list[Any]:
    """The results of a map at iterations; what is read of a table is looked up, at the next element where there is none."""
    columns = [points[:, k] for k in range(points.shape[1])]
    known: list[Any] = []
    zeros = np.zeros(len(points), int)
    for r in m.runtime_order():
        assert r.source is not None
        if call.tables[r.source.hlo].values is None:  # nothing that is asked for depends on it
            known.append(zeros)
            continue
        at = IndexingMap(m.dims, (), m.runtime_order()[: len(known)], r.source.results)
        indices = [np.asarray(x) + zeros for x in at.evaluate_many(columns, (), known)[1]]
        table = np.asarray(call.tables[r.source.hlo].values)
        clipped = [np.clip(x, 0, n - 1) for x, n in zip(indices, table.shape, strict=True)]
        known.append(table[tuple(clipped)].astype(np.int64) if clipped else zeros + int(table))
    ordered = m.with_(rts=m.runtime_order())
    return [np.asarray(x) + zeros for x in ordered.evaluate_many(columns, (), known)[1]]


def _indices(call: PallasCall, o: BlockedOperand, points: Any) -> Any:
    columns = _evaluated(call, _map(o), points)
    return np.stack(columns, axis=1) if columns else np.zeros((len(points), 0), int)


def _outside(call: PallasCall, kind: str, o: BlockedOperand, points: Any) -> Answer:
    m = _map(o)
    asked_for = (
        [(m.results, [d.indices for d in o.dims])]
        if kind == "in bounds"
        else [
            (r.source.results, [Interval(0, n - 1) for n in call.tables[r.source.hlo].shape])
            for r in m.rts
            if r.source is not None
        ]
    )
    for results, bounds in asked_for:
        columns = _evaluated(call, m.with_(results=results), points)
        for k, (column, within) in enumerate(zip(columns, bounds, strict=True)):
            bad = np.flatnonzero((column < within.lo) | (column > within.hi))
            if bad.size:
                reason = f"result {k} is {column[bad[0]]}, which is not in {within}"
                index = tuple(int(c[bad[0]]) for c in columns)
                return _refuted(reason, _point(call, points[bad[0]]), index)
    return _held()


def _grain(o: BlockedOperand, fine: bool) -> tuple[int, ...]:
    return o.shape if fine else o.blocks


def _cells(call: PallasCall, o: BlockedOperand, points: Any, fine: bool) -> tuple[Any, Any] | None:
    """Pairs of an iteration and the number of a block, or of an element if ``fine``, that it has; those inside only."""
    sizes = _grain(o, fine)
    index = _indices(call, o, points)
    if prod(sizes) > LIMIT or len(points) * (prod(d.size for d in o.dims) if fine else 1) > LIMIT:
        return None
    number, inside = np.zeros((len(points), 1), np.int64), np.ones((len(points), 1), bool)
    for k, (d, n) in enumerate(zip(o.dims, sizes, strict=True)):
        at = index[:, k : k + 1] * (d.step if fine else 1) - d.low * fine
        at = at[:, :, None] + np.arange(d.size if fine else 1)
        within = (at >= 0) & (at < n)
        shape = (len(points), number.shape[1] * at.shape[2])
        number = (number[:, :, None] * n + at).reshape(shape)
        inside = (inside[:, :, None] & within).reshape(shape)
    iteration = np.broadcast_to(np.arange(len(points))[:, None], number.shape)
    return iteration[inside], number[inside]


def visits(call: PallasCall, o: BlockedOperand) -> Any:
    """How many iterations have each block (each element, for blocks that may overlap) as an array; ``None`` if unknown."""
    known = o.index is not None and all(
        r.source is not None and call.tables[r.source.hlo].values is not None for r in o.index.rts
    )
    n = call.iterations
    if not known or n is None or n > LIMIT:
        return None
    fine = not all(d.aligned for d in o.dims)
    found = _cells(call, o, _points(call), fine)
    return (
        None
        if found is None
        else np.bincount(found[1], minlength=prod(_grain(o, fine))).reshape(_grain(o, fine))
    )
