"""Relations between output and operand of ops at given sizes, by full enumeration.

They are the reference for all tests of ops.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from math import prod
from typing import Any

import numpy as np

from indexproof.core.condition import Condition, Relation, condition_interpret
from indexproof.core.errors import InputError, TooLargeError
from indexproof.core.expr import Expr, Integers, Var, interpret
from indexproof.core.op import Direction, MapClaim, Op, RuntimeValue, Sizes, lifted, map_claim

#: (output element, operand element); enumerated runtime values follow the coordinates of the
#: output element.
Pair = tuple[tuple[int, ...], tuple[int, ...]]


class _Arrays:
    """The logic of conditions over numpy arrays, element by element."""

    def const(self, value: bool) -> Any:
        return np.bool_(value)

    def compare(self, op: Relation, a: Any, b: Any) -> Any:
        return {"<=": np.less_equal, "<": np.less, "==": np.equal, "!=": np.not_equal}[op](a, b)

    def within(self, e: Any, lo: Any, hi: Any) -> Any:
        return np.less_equal(lo, e) & np.less_equal(e, hi)

    def divides(self, d: Any, e: Any) -> Any:
        nonzero = np.not_equal(d, 0)
        return nonzero & (np.mod(e, np.where(nonzero, d, 1)) == 0)

    def conj(self, parts: list[Any]) -> Any:
        return np.logical_and.reduce(np.broadcast_arrays(*parts)) if parts else np.bool_(True)

    def disj(self, parts: list[Any]) -> Any:
        return np.logical_or.reduce(np.broadcast_arrays(*parts)) if parts else np.bool_(False)

    def neg(self, part: Any) -> Any:
        return np.logical_not(part)


_LOGIC = _Arrays()


def holds(conditions: Sequence[Condition], env: Mapping[Any, Any], size: int) -> np.ndarray:
    """Return where all conditions hold, for arrays of ``size`` values in ``env``."""
    values: dict[Expr, Any] = {}
    algebra = Integers(env)
    truth = [condition_interpret(c, lambda e: interpret((e,), algebra, values)[0], _LOGIC) for c in conditions]
    return np.broadcast_to(_LOGIC.conj(truth), (size,))


def _sizes(exprs: Sequence[Expr]) -> list[int]:
    return [max(int(e.evaluate({})), 0) for e in exprs]


def _grid(claim: MapClaim, extra: Sequence[Var], sizes: Sequence[int], enumerate_runtime: bool, limit: int) -> Any:
    """Enumerate source coordinates, ``extra`` and runtime values; return an array per variable, and the count."""
    variables = [*claim.source, *extra]
    extents = [*_sizes(claim.source_sizes), *sizes]
    lows = [0] * len(extents)
    if enumerate_runtime:
        for r in claim.runtime:
            lo, hi = int(r.lo.evaluate({})), int(r.hi.evaluate({}))
            variables.append(r.variable)
            extents.append(max(hi - lo + 1, 0))
            lows.append(lo)
    count = prod(extents)
    if count > limit:
        raise TooLargeError(f"{claim.op.name}: {count} points to enumerate, more than {limit}")
    columns = np.indices(extents).reshape(len(extents), count) if extents else np.zeros((0, 1), int)
    return {v: columns[k] + lows[k] for k, v in enumerate(variables)}, count


def _values(e: Expr, env: Mapping[Any, Any], size: int) -> np.ndarray:
    return np.broadcast_to(np.asarray(e.evaluate(env)), (size,))


def _given(op: Op, shapes: Sequence[Sizes]) -> Sequence[Sizes]:
    """Return the operands' sizes, those of a virtual operand included."""
    return ((),) if op.virtual and not shapes else shapes


def _read_runtime(runtime: Iterable[RuntimeValue], env: dict[Any, Any], size: int, operands: Mapping[int, Any]) -> None:
    """Read runtime values from the operands that hold them, or from `POSITION` and `WRITTEN`, and clamp them."""
    for r in runtime:
        held = np.asarray(operands[r.operand])
        place = tuple(_values(e, env, size) for e in r.index)
        # outside the domain of the map the place may be out of bounds: any value will do
        inside = tuple(np.clip(p, 0, max(n - 1, 0)) for p, n in zip(place, held.shape, strict=True))
        raw = held[inside] if held.size else np.zeros(size, int)
        env[r.variable] = np.clip(np.broadcast_to(raw, (size,)), int(r.lo.evaluate({})), int(r.hi.evaluate({})))


def _pairs(first: Sequence[np.ndarray], second: Sequence[np.ndarray], mask: np.ndarray) -> set[Pair]:
    kept = np.flatnonzero(mask)
    left, right = ([np.asarray(c)[kept].tolist() for c in side] for side in (first, second))
    sources = list(zip(*left, strict=True)) if left else [()] * len(kept)
    targets = list(zip(*right, strict=True)) if right else [()] * len(kept)
    return set(zip(sources, targets, strict=True))


def reads_relation(
    op: Op, operand: int, shapes: Sequence[Sizes], operands: Mapping[int, Any] | None = None, limit: int = 20_000_000
) -> set[Pair]:
    """Return all (output element, element of ``operand``) pairs that the op's ``reads`` relates.

    ``operands`` gives the values of the operands that hold runtime values; without them every legal
    combination of runtime values is enumerated.
    """
    claim = map_claim(op, operand, "output_to_input", shapes)
    env, size = _grid(claim, claim.target, _sizes(claim.target_sizes), operands is None, limit)
    if operands is not None:
        # both elements of a pair are given, so no index needs a range
        between = op.runtime_between(operand, claim.source, claim.target, *lifted(_given(op, shapes)))
        held = [replace(r, index=b.index) for r, b in zip(claim.runtime, between, strict=True)]
        _read_runtime(held, env, size, operands)
    shown = () if operands is not None else tuple(r.variable for r in claim.runtime)
    return _pairs(
        [env[v] for v in (*claim.source, *shown)], [env[v] for v in claim.target], holds(claim.reads, env, size)
    )


def map_relation(
    op: Op,
    operand: int,
    direction: Direction,
    shapes: Sequence[Sizes],
    operands: Mapping[int, Any] | None = None,
    limit: int = 20_000_000,
) -> set[Pair]:
    """Return all (output element, element of ``operand``) pairs that one of the op's maps relates; see
    :func:`reads_relation`.

    Raises :class:`InputError` when the map names an element that does not exist.
    """
    claim = map_claim(op, operand, direction, shapes, stated=False)
    ranges = [r.variable for r in claim.ranges]
    env, size = _grid(claim, ranges, _sizes([r.size for r in claim.ranges]), operands is None, limit)
    if operands is not None:
        _read_runtime(claim.runtime, env, size, operands)
    shown = () if operands is not None else tuple(r.variable for r in claim.runtime)
    named = [_values(e, env, size) for e in claim.results]
    mask = holds(claim.where, env, size)
    for d, (column, n) in enumerate(zip(named, _sizes(claim.target_sizes), strict=True)):
        outside = mask & ((column < 0) | (column >= n))
        if outside.any():
            at = [int(env[v][np.flatnonzero(outside)[0]]) for v in (*claim.source, *ranges)]
            raise InputError(
                f"{op.name}: the map from {direction.replace('_', ' ')} of operand {operand} leaves "
                f"dimension {d} of size {n} at {at}"
            )
    source = [env[v] for v in claim.source]
    runtime = [env[v] for v in shown]
    if direction == "output_to_input":
        return _pairs([*source, *runtime], named, mask)
    return _pairs([*named, *runtime], source, mask)
