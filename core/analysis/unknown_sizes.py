"""Maps of computations with arrays of unknown size, for all sizes: each ``?`` is a parameter.

Each ``?`` in the arrays of the parameters becomes a symbol.  The ops determine all other sizes, the maps, and the
conditions on the symbols.  A size that only the running program knows becomes a symbol of its own.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from ..condition import FALSE, TRUE, Compare, Condition, Divides, Within, all_exprs, all_of, parts_of
from ..errors import InputError
from ..expr import Expr, ExprLike, Int, Var, as_sum, integer, lift, linear, var
from ..facts import Facts
from ..hlo import Computation, Instruction, Module, leaves
from ..hlo.shape import UNBOUNDED
from ..op import Direction, Op, box, map_claim, substituted, symbols
from ..parametric import ParametricMap, divisors_of
from .catalogue import ReadOp
from .dataflow import READS_NOTHING, TRANSPARENT, flattened
from .dependence import Leaf, NoMap, Path, Reads, paths_of, union
from .values import CALLS

Link: TypeAlias = Reads[ParametricMap | None]

#: Limit on the maps between two arrays.
MOST = 64


def named_sizes(
    op: Op, sizes: Sequence[Sequence[ExprLike]], name: Callable[[str, int], Var]
) -> tuple[Op, tuple[tuple[Expr, ...], ...]]:
    """Replace each ``?`` of an op and its operands by a symbol, which ``name`` makes from its owner and a dimension."""

    def named(place: str, x: Sequence[Any]) -> tuple[Any, ...]:
        return tuple(name(place, d) if n == UNBOUNDED else n for d, n in enumerate(x))

    own = getattr(op, "sizes", None)
    made = replace(op, sizes=named("m", own)) if own is not None and UNBOUNDED in own else op  # type: ignore[type-var]
    return made, tuple(tuple(map(lift, named(f"n{k}", x))) for k, x in enumerate(sizes))


@dataclass(frozen=True)
class _Array:
    """The sizes of an array, and how it depends on those of the parameters; the map None is the identity."""

    sizes: tuple[Expr, ...]
    reads: dict[Leaf, Link]


_Value: TypeAlias = "dict[Path, _Array]"


@dataclass(frozen=True)
class ReadsForAllSizes(Reads[ParametricMap]):
    """The sizes of an array and of one that it depends on, with all maps between them; none if some are not known."""

    output: tuple[Expr, ...] = ()
    operand: tuple[Expr, ...] = ()


class MapsForAllSizes:
    """The maps between the roots and the parameters of computations of one module in one direction."""

    def __init__(self, module: Module, read: ReadOp, direction: Direction) -> None:
        self.computations = {c.name: c for c in module.computations}
        self.read = read
        self.direction = direction
        self._count = itertools.count()
        self._open: list[str] = []

    def computation(self, c: Computation) -> dict[tuple[int, int, int], ReadsForAllSizes]:
        """Return all maps by root array, parameter and array of the parameter."""
        self._count = itertools.count()
        given = {
            p.parameter_number: {
                path: _Array(self._sizes(a.dims), {(p.parameter_number, path): Reads((None,))})
                for path, a in leaves(p.shape)
            }
            for p in c.parameters
        }
        places = {(k, path): (k, n) for k, value in given.items() for n, path in enumerate(value)}
        found: dict[tuple[int, int, int], ReadsForAllSizes] = {}
        for root, array in enumerate(self._walk(c, given).values()):
            for leaf, reads in array.reads.items():
                maps = () if reads.unknown else tuple(m or _identity(array.sizes) for m in reads.maps)
                sizes = array.sizes, given[leaf[0]][leaf[1]].sizes
                found[root, *places[leaf]] = ReadsForAllSizes(maps, reads.unknown, reads.at_most, False, *sizes)
        return found

    def _symbol(self) -> Var:
        return var(f"n{next(self._count)}")

    def _sizes(self, dims: Sequence[int]) -> tuple[Expr, ...]:
        return tuple(self._symbol() if n == UNBOUNDED else integer(n) for n in dims)

    def _walk(self, c: Computation, given: Mapping[int, _Value]) -> _Value:
        """Return the root for the ``given`` parameters."""
        known: dict[str, _Value] = {}
        for i in c.instructions:
            known[i.name] = self._made(i, [known.get(o.name, {}) for o in i.operands], given)
        return known[c.root.name]

    def _made(self, i: Instruction, operands: list[_Value], given: Mapping[int, _Value]) -> _Value:
        if i.opcode == "parameter":
            return given.get(i.parameter_number, {})
        if i.opcode == "tuple":
            return {(k, *path): a for k, value in enumerate(operands) for path, a in value.items()}
        if i.opcode == "get-tuple-element":
            index = i.number("index")
            return {path[1:]: a for path, a in operands[0].items() if path[:1] == (index,)}
        if i.opcode in TRANSPARENT:
            return operands[0]
        if i.opcode in CALLS:
            callee = self.computations.get(i.called[0]) if i.called else None
            if callee is None or callee.name in self._open:
                return self._opaque(i, operands, "what it calls is not defined, or calls itself")
            self._open.append(callee.name)
            made = self._walk(callee, dict(enumerate(operands)))
            self._open.pop()
            return made
        try:
            return self._of_op(i, operands)
        except InputError as error:
            return self._opaque(i, operands, str(error))

    def _of_op(self, i: Instruction, operands: list[_Value]) -> _Value:
        """Return the arrays that an op computes."""
        arrays = [a.dims for _, a in leaves(i.shape)]
        op = None if i.opcode in READS_NOTHING else self.read(flattened(i))
        if op is None and i.opcode not in READS_NOTHING:
            raise InputError(f"maps for all sizes do not go through {i.opcode}")
        if op is None or op.virtual:
            return {path: _Array(self._sizes(a.dims), {}) for path, a in leaves(i.shape)}
        read = [value.get(()) for value in operands]
        own = [a for a in read if a is not None]
        if len(own) < len(read):
            raise InputError(f"{i.opcode} of a tuple")
        x = tuple(a.sizes for a in own)
        op, owed = self._settled(op, [(s,) for s in x] if op.parallel else [x])
        made: _Value = {}
        paths = paths_of(i.shape)
        for r, path in enumerate(paths):
            part = op.part(r)
            shapes, at = ((x[r],), [r]) if op.parallel else (x, list(range(len(x))))
            sizes = tuple(part.shape(*shapes))
            conditions = [*owed]
            for e, n in zip(sizes, arrays[r] if r < len(arrays) else (), strict=False):
                if n != UNBOUNDED and not isinstance(e, Int):
                    conditions.append(e.eq(n))
            reads: dict[Leaf, list[Link]] = {}
            for k, operand in enumerate(at):
                if own[operand].reads and (op.parallel or part.connected(r, k)):
                    link = self._link(i, part, k, shapes, conditions)
                    for leaf, before in own[operand].reads.items():
                        reads.setdefault(leaf, []).append(self._over(before, link, i))
            made[path] = _Array(sizes, {leaf: union(parts) for leaf, parts in reads.items()})
        return made

    def _settled(self, op: Op, operands: Sequence[Sequence[Sequence[Expr]]]) -> tuple[Op, list[Condition]]:
        """Solve an op's demands for its own unknown sizes; return it with the conditions on its operands."""
        fresh: list[Var] = []

        def name(place: str, d: int) -> Var:
            fresh.append(self._symbol())
            return fresh[-1]

        op, _ = named_sizes(op, (), name)
        owed: list[Condition] = []
        for x in operands:
            for r in range(op.results):
                op.part(r).validate(*x)
            for v in fresh:
                for condition, _ in op.demands(*x):
                    value = _solved(condition, v)
                    if value is not None:
                        op = substituted(op, {v: value})  # type: ignore[dict-item]
                        break
            for c in (c for r in range(op.results) for c, _ in op.part(r).demands(*x)):
                sizes = Facts(dict.fromkeys(c.variables(), (0, math.inf)))
                owed += [part for part in _parts(c) if part not in owed and not sizes.holds(part)]
        return op, owed

    def _link(
        self, i: Instruction, op: Op, k: int, shapes: Sequence[Sequence[Expr]], owed: Sequence[Condition]
    ) -> Reads[ParametricMap]:
        """Return the map of an op between its output and an operand."""
        claim = map_claim(op, k, self.direction, shapes, stated=False)
        if claim.runtime:
            why = "what it reads is known when it runs, and there is a map for each size"
            return Reads((), (NoMap(i.name, why),))
        dims = symbols("d", len(claim.source))
        names: dict[Expr, Expr] = dict(zip(claim.source, dims, strict=True))
        ranges = [r.variable.name for r in claim.ranges]
        try:
            conditions = [part for c in (*claim.point, *owed) for part in _parts(c.substitute(names))]
        except InputError as error:
            return Reads((), (NoMap(i.name, error.message),))
        results = tuple(e.substitute(names) for e in claim.results)
        # a divisor is a size; if it is 0, the array has no elements
        conditions += [d >= 1 for d in divisors_of((*results, *(e for c in conditions for e in all_exprs(c))))]
        free = {v for e in results for v in e.variables()} | {v for c in conditions for v in c.variables()}
        bound = {*(d.name for d in dims), *ranges}
        parameters = sorted({v.name for v in free} - bound, key=lambda n: (len(n), n))
        own = tuple(d.name for d in dims)
        m = ParametricMap(own, tuple(ranges), tuple(parameters), results, tuple(conditions))
        return Reads((m,), (), (NoMap(i.name, op.at_most),) if op.at_most else ())

    def _over(self, before: Link, link: Reads[ParametricMap], i: Instruction) -> Link:
        """Extend maps by one more link."""
        made: dict[ParametricMap, None] = {}
        for m, n in itertools.product(before.maps, link.maps):
            first, second = (n, m) if self.direction == "output_to_input" else (m, n)
            new = first.compose(second) if first is not None and second is not None else n
            if FALSE not in new.conditions:
                made[new] = None
        many = (NoMap(i.name, f"more than {MOST} different maps"),) if len(made) > MOST else ()
        reads = Reads(tuple(made)[:MOST], many)
        return union([reads, replace(before, maps=()), replace(link, maps=())])

    def _opaque(self, i: Instruction, operands: list[_Value], reason: str) -> _Value:
        """Return the arrays of an instruction without maps."""
        why: Link = Reads((), (NoMap(i.name, reason),))
        reads = {leaf: why for value in operands for array in value.values() for leaf in array.reads}
        return {p: _Array(self._sizes(a.dims), reads) for p, a in leaves(i.shape)}


def _identity(sizes: Sequence[Expr]) -> ParametricMap:
    dims = symbols("d", len(sizes))
    names = tuple(dict.fromkeys(v.name for n in sizes for v in n.variables()))
    return ParametricMap(tuple(d.name for d in dims), (), names, dims, tuple(box(dims, sizes)))


def _parts(c: Condition) -> Iterator[Condition]:
    """Yield the conditions that a map can have, one by one.  Raises :class:`InputError` for alternatives."""
    for part in parts_of(all_of([c])):
        if isinstance(part, (Within, Compare, Divides)) or part is FALSE:
            yield part
        elif part is not TRUE:
            raise InputError(f"a map for all sizes cannot say `{part}`")


def _solved(c: Condition, v: Var) -> Expr | None:
    """Return the value that an equation determines for a symbol; None if it does not."""
    if not isinstance(c, Compare) or c.op != "==":
        return None
    const, terms = as_sum(c.a - c.b)
    k = dict(terms).get(v, 0)
    rest = [(t, j) for t, j in terms if t is not v]
    if not k or const % k or any(j % k or v in t.variables() for t, j in rest):
        return None
    return linear(-const // k, [(t, -j // k) for t, j in rest])
