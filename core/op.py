"""Operations: their declaration, and the claims that follow from it.

An op is a frozen dataclass whose fields are the HLO attributes.  Its methods define it completely::

    @op
    class Transpose(Op):
        \"\"\"Output dimension k is input dimension permutation[k].\"\"\"
        permutation: Sizes
        def shape(self, x):                     return [x[p] for p in self.permutation]
        def reads(self, k, o, i, rt, x):        return [o[n].eq(i[p]) for n, p in enumerate(self.permutation)]
        def output_to_input(self, k, o, rt, x): return Map([o[n] for n in inverse(self.permutation)])
        def input_to_output(self, k, i, rt, x): return Map([i[p] for p in self.permutation])

``reads`` is the specification, the two maps are implementations.  Sizes and attributes are integers in production
and symbols in a proof; the methods do not distinguish them.  In all of them

* ``x, y, …`` are the operands' sizes, one sequence of expressions per operand,
* ``k`` is the operand's number, ``o`` an output element, ``i`` an element of operand ``k``,
* ``rt`` holds the op's runtime values *after clamping*, in the order of :meth:`Op.runtime`.

:func:`map_claim` states the obligations of one map (*in bounds*, *sound*, *complete*), :func:`coverage_claim`
those of an op whose operands partition the output, and :func:`concrete` returns the production map.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from typing import Any, ClassVar, Literal, TypeVar, dataclass_transform

from .bounded import constrained, constraints_of, merged
from .condition import FALSE, TRUE, Condition, all_of, any_of, parts_of
from .errors import InputError
from .expr import (
    Expr,
    ExprLike,
    FloorDiv,
    Int,
    Mul,
    Sum,
    Var,
    floordiv,
    integer,
    lift,
    linear,
    mod,
    mul,
    natural_key,
    substitute_all,
    var,
)
from .indexing_map import IndexingMap, RuntimeSource, RuntimeVariable, Variable
from .interval import Interval

Sizes = Sequence[ExprLike]
Coordinates = Sequence[Expr]
Direction = Literal["output_to_input", "input_to_output"]
DIRECTIONS: tuple[Direction, Direction] = ("output_to_input", "input_to_output")
#: A tuple of hypotheses, and a goal.
Question = tuple[tuple[Condition, ...], Condition]
#: A condition on attributes and sizes, and the error message where it does not hold.
Demand = tuple[Condition, str]

_fresh = itertools.count()


@dataclass(frozen=True, eq=False)
class Range:
    """A fresh index over ``[0, size)``, which makes a map one-to-many.

    A range that is itself a result of the map is that coordinate of the target.  One that occurs inside an expression
    needs a ``witness``: a function from the target's coordinates to the value that yields this target.
    """

    size: ExprLike
    witness: Callable[[Coordinates], ExprLike] | None = None
    #: The index, for use inside expressions; :class:`Map` renames it.
    index: Var = dataclasses.field(default_factory=lambda: var(f"fresh{next(_fresh)}", "range"))


#: Used as operand numbers for values that no operand holds: the replica's position in its group, and whether an update
#: of a scatter writes an element (1 or 0).
POSITION, WRITTEN = -1, -2
_SOURCES = {POSITION: "replica-position", WRITTEN: "written"}


@dataclass(frozen=True)
class Runtime:
    """A value known only at run time: ``operand``'s element at ``index``, clamped to ``[lo, hi]``.

    :data:`POSITION` and :data:`WRITTEN` as ``operand`` mean the values described there.
    """

    operand: int
    index: tuple[Expr, ...]
    lo: Expr
    hi: Expr

    @staticmethod
    def of(operand: int, index: Iterable[ExprLike], lo: ExprLike, hi: ExprLike) -> Runtime:
        """Return a runtime value given by expressions or integers."""
        return Runtime(operand, tuple(lift(e) for e in index), lift(lo), lift(hi))


class Map:
    """The targets of a source element: one result per target dimension, under conditions, for all values of the ranges.

    Ranges that are not results themselves are listed in ``ranges``.
    """

    __slots__ = ("ranges", "results", "where")
    results: tuple[Expr, ...]
    where: tuple[Condition, ...]
    #: In order of appearance; the ``index`` of each occurs in ``results`` and ``where``.
    ranges: tuple[Range, ...]

    def __init__(
        self, results: Iterable[ExprLike | Range], where: Iterable[Condition] = (), ranges: Iterable[Range] = ()
    ) -> None:
        known = {r.index: r for r in ranges}
        exprs: list[Expr] = []
        for position, result in enumerate(results):
            if isinstance(result, Range):
                if result.witness is None:
                    result = dataclasses.replace(result, witness=coordinate(position))
                known[result.index] = result
                exprs.append(result.index)
            else:
                exprs.append(lift(result))
        self.results = tuple(exprs)
        self.where = tuple(part for c in where for part in parts_of(c) if part is not TRUE)
        seen: dict[Range, None] = {}
        for e in exprs:
            for v in sorted((v for v in e.variables() if v in known), key=list(known).index):
                seen.setdefault(known[v])
        for r in known.values():
            seen.setdefault(r)
        self.ranges = tuple(seen)


def coordinate(position: int) -> Callable[[Coordinates], Expr]:
    """Return the witness of a range that is this coordinate of the target."""
    return lambda target: target[position]


@dataclass(frozen=True)
class Case:
    """One symbolic instance of an op; its proof holds for all values of its symbols that satisfy ``facts``."""

    label: str
    op: Op
    shapes: tuple[tuple[Expr, ...], ...]
    facts: tuple[Condition, ...] = ()

    @staticmethod
    def of(rank: int, label: str, op: Op, *shapes: Sizes, facts: Iterable[Condition] = ()) -> Case:
        """Return a case for sizes that may be integers; the rank makes the label unique."""
        return Case(f"rank {rank}, {label}", op, tuple(tuple(lift(n) for n in x) for x in shapes), tuple(facts))

    @property
    def symbols(self) -> tuple[Var, ...]:
        """The symbols of attributes and sizes, in natural order of their names."""
        exprs = [*_expressions(self.op), *itertools.chain(*self.shapes)]
        found = {v for e in exprs for v in e.variables()} | {v for c in self.facts for v in c.variables()}
        return tuple(sorted(found, key=lambda v: natural_key(v.name)))

    @property
    def hypotheses(self) -> tuple[Condition, ...]:
        """The assumptions about the symbols."""
        return (*self.facts, *self.op.requires(*self.shapes))

    def instance(self, values: Mapping[Var, int]) -> tuple[Op, list[list[int]]]:
        """Return the op and its operands' sizes with integers substituted for all symbols."""
        sizes = [[int(n.evaluate(values)) for n in x] for x in self.shapes]
        return substituted(self.op, values), sizes


class Op:
    """The interface of every operation.  Signatures are ``(…, *x)`` with one argument per operand's sizes."""

    #: Short lower-case name, unique in the catalogue.
    name: ClassVar[str] = ""
    #: HLO opcodes that this class reads; by default its own name.
    opcodes: ClassVar[tuple[str, ...]] = ()
    #: The number of operands, for ops where it is fixed.
    operands: ClassVar[int] = 1
    #: Whether the op has no operands (constant, iota) and is treated as a function of one virtual operand of rank 0.
    virtual: ClassVar[bool] = False
    #: Whether an instruction with several operands applies the op to each separately, with one output for each.
    parallel: ClassVar[bool] = False
    #: Readers of attributes from an HLO instruction over operands of these sizes, by field name; base classes add
    #: theirs.
    hlo: ClassVar[Mapping[str, Callable[[Any, Sequence[tuple[int, ...]]], Any]]] = {}

    # -- declaration
    @property
    def arity(self) -> int:
        """The number of operands, including a virtual one."""
        return self.operands

    @property
    def results(self) -> int:
        """The number of outputs; all have the sizes that :meth:`shape` gives."""
        return 1

    def shape(self, *args: Any, **kwargs: Any) -> list[Expr]:
        """Return the sizes of the output; called as ``shape(*x)``."""
        raise NotImplementedError(f"{self.name} does not state its shape")

    def demands(self, *args: Any, **kwargs: Any) -> Iterator[Demand]:
        """Yield the legality conditions on attributes and sizes with error messages; called as ``demands(*x)``."""
        return iter(())

    def structure(self, *args: Any, **kwargs: Any) -> None:
        """Raise :class:`InputError` unless ranks and dimension numbers fit; called as ``structure(*x)``."""

    def runtime(self, *args: Any, **kwargs: Any) -> list[Runtime]:
        """Return the runtime values that determine what output element ``o`` reads; called as ``runtime(o, *x)``."""
        return []

    def runtime_between(self, k: int, o: Coordinates, i: Coordinates, *x: Sizes) -> list[Runtime]:
        """Return the runtime values that determine whether output element ``o`` reads element ``i`` of operand ``k``.

        By default those of :meth:`runtime`; an op overrides this where operand elements determine where they are
        written.
        """
        return self.runtime(o, *x)

    # -- meaning and maps
    def reads(self, *args: Any, **kwargs: Any) -> list[Condition]:
        """Return when output ``o`` reads element ``i`` of operand ``k``; called as ``reads(k, o, i, rt, *x)``."""
        raise NotImplementedError(f"{self.name} does not state what it reads")

    def output_to_input(self, *args: Any, **kwargs: Any) -> Map:
        """Return the elements of operand ``k`` that output ``o`` reads; called as ``output_to_input(k, o, rt, *x)``."""
        raise NotImplementedError(f"{self.name} has no map from output to operand")

    def input_to_output(self, *args: Any, **kwargs: Any) -> Map:
        """Return the outputs that read element ``i`` of operand ``k``; called as ``input_to_output(k, i, rt, *x)``."""
        raise NotImplementedError(f"{self.name} has no map from operand to output")

    def connected(self, result: int, k: int) -> bool:
        """Return whether output number ``result`` reads operand ``k`` at all."""
        return True

    def part(self, result: int) -> Op:
        """Return the op that computes output number ``result``, for an op whose outputs have different sizes."""
        return self

    @property
    def at_most(self) -> str:
        """The reason why the maps may over-approximate the elements that are read; empty for exact maps."""
        return ""

    def sharing(self) -> tuple[int, ...]:
        """Return operands of which exactly one, with one element, supplies each output element; empty for no claim."""
        return ()

    # -- proof, input
    @classmethod
    def cases(cls, rank: int) -> Iterator[Case]:
        """Yield every symbolic instance whose operands (or, where stated, outputs) have this rank."""
        return iter(())

    @classmethod
    def from_hlo(cls, instruction: Any, shapes: Sequence[tuple[int, ...]]) -> Op:
        """Return the op of an instruction over operands of these sizes, with its attributes read by :attr:`hlo`."""
        return cls(**{name: read(instruction, shapes) for name, read in _read_fields(cls).items()})  # type: ignore[arg-type]

    # -- derived
    def requires(self, *x: Sizes) -> list[Condition]:
        """Return the legality conditions on attributes and sizes: the hypotheses of every proof about this op."""
        return list(_required(self, lifted(x)))

    def validate(self, *x: Sizes) -> None:
        """Raise :class:`InputError` with parameter, value and shape unless the op is legal on these operands.

        Conditions that depend on symbols are not checked: they are hypotheses of the proof.
        """
        shapes = lifted(x)
        wanted = 0 if self.virtual else self.arity
        given = len(shapes)
        if given != wanted and not (self.virtual and given == 1):
            raise self.error(f"{wanted} operand{'s' * (wanted != 1)} expected, {given} given")
        for k, s in enumerate(shapes):
            for d, n in enumerate(s):
                if isinstance(n, Int) and n.value < 0:
                    raise self.error(f"size {n} of dimension {d} of operand {k}", expected="a size of at least 0")
        self.structure(*shapes)
        try:
            broken = next((message for condition, message in self.demands(*shapes) if condition is FALSE), None)
        except ZeroDivisionError:
            broken = f"division by zero for operands of shapes {_shown(shapes)}"
        if broken is not None:
            raise self.error(broken)

    def error(self, message: str, expected: str = "") -> InputError:
        """Return an :class:`InputError` about this op."""
        return InputError(f"{self.name}: {message}", expected=expected)

    def text(self) -> str:
        """Return name and attributes, as in ``transpose(permutation=(1, 0))``."""
        shown = []
        for f in dataclasses.fields(self):  # type: ignore[arg-type]  # every op is a dataclass: see `op`
            value = getattr(self, f.name)
            if value != f.default:
                shown.append(f"{f.name}={exact_text(value)}")
        return f"{self.name}({', '.join(shown)})"

    def _dimensions(
        self,
        parameter: str,
        dims: Sequence[int],
        rank: int,
        shape: Sizes | None = None,
        *,
        count: int | None = None,
        ordered: bool = False,
    ) -> None:
        """Raise unless ``dims`` are distinct dimension numbers below ``rank``, ``count`` of them if given."""
        what = f"{parameter}={exact_text(tuple(dims))}"
        on = f" for shape {exact_text(list(shape))}" if shape is not None else f" for rank {rank}"
        for d in dims:
            if not isinstance(d, int) or isinstance(d, bool):
                raise self.error(f"{what} is not a list of dimension numbers")
            if not 0 <= d < rank:
                some = f"dimensions 0 to {rank - 1}" if rank else "no dimension"
                raise self.error(f"{what} names dimension {d}{on}", expected=some)
        if len(set(dims)) != len(dims):
            twice = next(d for d in dims if list(dims).count(d) > 1)
            raise self.error(f"{what} names dimension {twice} twice{on}")
        if count is not None and len(dims) != count:
            raise self.error(f"{what} has {len(dims)} dimensions{on}", expected=f"{count}")
        if ordered and list(dims) != sorted(dims):
            raise self.error(f"{what} is not increasing{on}")

    def _same_sizes(self, x: Sequence[Sizes], operands: Sequence[int], but: Sequence[int] = ()) -> Iterator[Demand]:
        """Yield the demands that these operands have the same sizes, except in the dimensions `but`."""
        first, *others = operands
        for k in others:
            for d, (m, n) in enumerate(zip(x[first], x[k], strict=False)):
                if d not in but:
                    yield (
                        lift(m).eq(n),
                        f"operands {first} and {k} of shapes {_shown((x[first], x[k]))} differ in dimension {d}",
                    )

    def _rank(self, operand: int, x: Sizes, rank: int) -> None:
        if len(x) != rank:
            raise self.error(f"operand {operand} has shape {exact_text(list(x))}", expected=f"rank {rank}")

    def _per_dimension(self, parameter: str, values: Sequence[object], x: Sizes) -> None:
        if len(values) != len(x):
            what = f"{parameter}={exact_text(tuple(values))}"
            raise self.error(f"{what} has {len(values)} entries for shape {exact_text(list(x))}", expected=f"{len(x)}")


C = TypeVar("C", bound=type[Op])


@dataclass_transform(frozen_default=True)
def op(cls: C) -> C:
    """Declare an operation: a frozen dataclass with a name, a docstring and both maps."""
    made = dataclass(frozen=True)(cls)
    if not made.__doc__ or made.__doc__.startswith(made.__name__ + "("):
        raise TypeError(f"{made.__name__}: the docstring states what the op does")
    for method in ("shape", "reads", "output_to_input", "input_to_output"):
        if getattr(made, method) is getattr(Op, method):
            raise TypeError(f"{made.__name__}: `{method}` is missing")
    if not made.name:
        made.name = "".join("-" * (c.isupper() and n > 0) + c.lower() for n, c in enumerate(made.__name__))
    if not made.opcodes and "opcodes" not in vars(made):
        made.opcodes = (made.name,)
    return made  # type: ignore[return-value]


# ---------------------------------------------------------------------------------------------------- helpers
@cache
def _read_fields(cls: type[Op]) -> dict[str, Callable[[Any, Sequence[tuple[int, ...]]], Any]]:
    """Return the reader of each field of an op from HLO, as declared by the class or its bases."""
    read = {name: of for base in reversed(cls.__mro__) for name, of in vars(base).get("hlo", {}).items()}
    return {f.name: read[f.name] for f in dataclasses.fields(cls) if f.name in read}  # type: ignore[arg-type]


@lru_cache(maxsize=16)
def _required(op: Op, shapes: tuple[tuple[Expr, ...], ...]) -> tuple[Condition, ...]:
    """Return :meth:`Op.requires`, cached because both directions of every operand ask for it in succession."""
    sizes = [n >= 0 for s in shapes for n in s if not isinstance(n, Int)]
    return (*sizes, *(c for c, _ in op.demands(*shapes)))


def lifted(shapes: Iterable[Sizes]) -> tuple[tuple[Expr, ...], ...]:
    """Return sizes as expressions."""
    return tuple(tuple(lift(n) for n in x) for x in shapes)


def box(coordinates: Iterable[Expr], sizes: Iterable[ExprLike]) -> list[Condition]:
    """Return the conditions that every coordinate is within ``[0, size - 1]``."""
    return [c.within(0, lift(n) - 1) for c, n in zip(coordinates, sizes, strict=True)]


def symbols(stem: str, count: int) -> tuple[Var, ...]:
    """Return the variables ``stem0, stem1, …``."""
    return tuple(var(f"{stem}{k}") for k in range(count))


def product(sizes: Iterable[ExprLike]) -> Expr:
    """Return the product of sizes; 1 for none."""
    return mul(*sizes)


def divide_exactly(a: ExprLike, b: ExprLike) -> Expr:
    """Return ``a // b`` where ``b`` is known to divide ``a``, with common factors cancelled."""
    a, b = lift(a), lift(b)
    if a is b:
        return integer(1)
    if isinstance(b, Int):
        if b.value == 1:
            return a
        if isinstance(a, Sum) and a.const % b.value == 0 and all(k % b.value == 0 for _, k in a.terms):
            return linear(a.const // b.value, [(t, k // b.value) for t, k in a.terms])
    if isinstance(a, Mul):
        rest = list(a.factors)
        try:
            for factor in b.factors if isinstance(b, Mul) else (b,):
                rest.remove(factor)
        except ValueError:
            return floordiv(a, b)
        return mul(*rest)
    return floordiv(a, b)


def quotient(a: ExprLike, b: ExprLike) -> Expr:
    """Return ``a // b``; for literals, ``a // 1 = a`` and ``(x // c) // b = x // (c·b)``."""
    a, b = lift(a), lift(b)
    if isinstance(b, Int):
        if b.value == 1:
            return a
        if isinstance(a, FloorDiv) and isinstance(a.b, Int) and a.b.value > 0 and b.value > 0:
            return floordiv(a.a, a.b.value * b.value)
    return floordiv(a, b)


def remainder(a: ExprLike, b: ExprLike) -> Expr:
    """Return ``a % b``; zero for the literal divisor one."""
    return integer(0) if lift(b) is integer(1) else mod(a, b)


def row_major(coordinates: Sequence[ExprLike], sizes: Sequence[ExprLike]) -> Expr:
    """Return the position of an element when the last dimension varies fastest."""
    place: Expr = integer(0)
    for c, n in zip(coordinates, sizes, strict=True):
        place = place * n + c
    return place


def digits_of(place: ExprLike, sizes: Sequence[ExprLike]) -> list[Expr]:
    """Return the element at a row-major position within ``sizes``: the inverse of :func:`row_major`."""
    digits: list[Expr] = []
    rest = lift(place)
    for n in reversed(sizes[1:]):
        digits.append(remainder(rest, n))
        rest = quotient(rest, n)
    # the position is within the array, so the most significant digit needs no remainder
    return [rest, *reversed(digits)] if sizes else []


def _shown(shapes: Iterable[Sizes]) -> str:
    return ", ".join(exact_text(list(x)) for x in shapes) or "()"


def exact_text(value: object) -> str:
    """Return a value as text for a message: tuples and lists with ``str`` of their elements, not ``repr``."""
    if isinstance(value, tuple):
        inner = ", ".join(exact_text(v) for v in value)
        return f"({inner},)" if len(value) == 1 else f"({inner})"
    if isinstance(value, list):
        return "[" + ", ".join(exact_text(v) for v in value) + "]"
    return str(value)


# ----------------------------------------------------------------------------------------------------- claims
@dataclass(frozen=True)
class RangeVariable:
    """A range of a claim, ``0 <= variable < size``; ``witness`` is its value for a given source and target."""

    variable: Var
    size: Expr
    witness: Expr


@dataclass(frozen=True)
class RuntimeValue(Runtime):
    """A runtime value of a claim, as a variable; ``index`` is over the claim's source coordinates and ranges."""

    variable: Var


@dataclass(frozen=True)
class MapClaim:
    """One map of one op on one operand, with all parts of its proof and its production form.

    Variables: ``o0, o1, …`` index the output, ``i0, …`` the operand, ``s0, …`` are ranges, ``rt0, …`` runtime values.
    """

    op: Op
    operand: int
    direction: Direction
    source: tuple[Var, ...]
    source_sizes: tuple[Expr, ...]
    target: tuple[Var, ...]
    target_sizes: tuple[Expr, ...]
    ranges: tuple[RangeVariable, ...]
    runtime: tuple[RuntimeValue, ...]
    results: tuple[Expr, ...]
    where: tuple[Condition, ...]
    #: The conditions under which source and target are related.
    reads: tuple[Condition, ...]
    #: The assumptions about sizes, attributes and runtime values.
    assumed: tuple[Condition, ...]

    @cached_property
    def point(self) -> tuple[Condition, ...]:
        """The domain on which the map names a target: boxes of source and ranges, and its conditions."""
        inside = box(self.source, self.source_sizes)
        return (*inside, *box((r.variable for r in self.ranges), (r.size for r in self.ranges)), *self.where)

    def obligations(self) -> dict[str, Question]:
        """Return the obligations of the map, by name.

        *In bounds*: every result is an element of the target.  *Sound*: that element is related to the source.
        *Complete*: every related element is a result, for the witnesses as values of the ranges.
        """
        named = dict(zip(self.target, self.results, strict=True))
        here, there = box(self.source, self.source_sizes), box(self.target, self.target_sizes)
        chosen = {r.variable: r.witness for r in self.ranges}
        owed = [
            *box((r.witness for r in self.ranges), (r.size for r in self.ranges)),
            *[c.substitute(chosen) for c in self.where],
            *[e.eq(t) for e, t in zip(substitute_all(self.results, chosen), self.target, strict=True)],
        ]
        assumed = (*self.assumed, *self.point)
        return {
            "in bounds": (assumed, all_of(box(self.results, self.target_sizes))),
            "sound": (assumed, all_of(c.substitute(named) for c in self.reads)),
            "complete": ((*self.assumed, *here, *there, *self.reads), all_of(owed)),
        }


def map_claim(
    op: Op,
    operand: int,
    direction: Direction,
    shapes: Sequence[Sizes],
    facts: Iterable[Condition] = (),
    *,
    stated: bool = True,
) -> MapClaim:
    """Return the claim of ``op`` with its map between its output and ``operand`` for these operand sizes.

    With ``stated=False`` only the map itself: ``reads`` and ``assumed`` stay empty.
    """
    x = lifted(shapes)
    if op.virtual and not x:
        x = ((),)
    try:
        sizes = tuple(op.shape(*x))
    except ZeroDivisionError:
        raise op.error(f"division by zero for operands of shapes {_shown(x)}") from None
    o, i = symbols("o", len(sizes)), symbols("i", len(x[operand]))
    values = symbols("rt", len(op.runtime_between(operand, o, i, *x)))
    if direction == "output_to_input":
        source, source_sizes, target, target_sizes = o, sizes, i, x[operand]
    else:
        source, source_sizes, target, target_sizes = i, x[operand], o, sizes
    try:
        m = getattr(op, direction)(operand, source, values, *x)
        reads = op.reads(operand, o, i, values, *x) if stated else []
    except ZeroDivisionError:
        # an op may divide by a size; where that size is zero, the array has no elements and nothing is related
        if integer(0) not in (*sizes, *x[operand]):
            raise op.error(f"division by zero for operands of shapes {_shown(x)}") from None
        m, reads = Map([0] * len(target), [FALSE]), [FALSE]
    names = dict(zip((r.index for r in m.ranges), symbols("s", len(m.ranges)), strict=True))
    results = tuple(substitute_all(m.results, names))
    ranges = tuple(
        RangeVariable(names[r.index], lift(r.size), _witness(op, r, target).substitute(names)) for r in m.ranges
    )
    if direction == "output_to_input":
        read = op.runtime_between(operand, o, results, *x)
    else:
        read = op.runtime_between(operand, results, i, *x)
    runtime = tuple(RuntimeValue(r.operand, r.index, r.lo, r.hi, v) for v, r in zip(values, read, strict=True))
    return MapClaim(
        op,
        operand,
        direction,
        source,
        source_sizes,
        target,
        target_sizes,
        ranges,
        runtime,
        results,
        tuple(c.substitute(names) for c in m.where),
        tuple(reads) if stated else (),
        (*facts, *op.requires(*x), *(r.variable.within(r.lo, r.hi) for r in runtime)) if stated else (),
    )


def _witness(op: Op, r: Range, target: Coordinates) -> Expr:
    if r.witness is None:
        raise TypeError(f"{op.name}: a range inside an expression needs a witness")
    return lift(r.witness(target))


def coverage_claim(op: Op, shapes: Sequence[Sizes], facts: Iterable[Condition] = ()) -> Question | None:
    """Return the claim that exactly one operand in :meth:`Op.sharing` supplies each output element, with one element.

    The maps of these operands have no ranges, so each supplies at most one element.  The goal is therefore that exactly
    one of the maps' conditions holds at every output element.  Returns None for an op without such a claim.
    """
    claims = [map_claim(op, k, "output_to_input", shapes, facts) for k in op.sharing()]
    if not claims:
        return None
    if any(c.ranges for c in claims):
        raise TypeError(f"{op.name}: an operand that shares the output has a map with ranges")
    supplied = [all_of(c.where) for c in claims]
    goal = any_of(all_of(c if j == k else ~c for j, c in enumerate(supplied)) for k in range(len(supplied)))
    first = claims[0]
    return (*first.assumed, *box(first.source, first.source_sizes)), goal


def substituted(op: Op, values: Mapping[Var, int]) -> Op:
    """Return the op with integers for the symbols in its attributes, also inside tuples and dataclasses."""
    made = _replace(op, values)
    assert isinstance(made, Op)
    return made


def _expressions(value: Any) -> Iterator[Expr]:
    """Yield the expressions in an op's attributes."""
    if isinstance(value, Expr):
        yield value
    elif isinstance(value, tuple):
        for part in value:
            yield from _expressions(part)
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        for f in dataclasses.fields(value):
            yield from _expressions(getattr(value, f.name))


def _replace(value: Any, values: Mapping[Var, int]) -> Any:
    if isinstance(value, Expr):
        new = value.substitute(values)
        return new.value if isinstance(new, Int) else new
    if isinstance(value, tuple):
        return tuple(_replace(v, values) for v in value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        parts = {f.name: _replace(getattr(value, f.name), values) for f in dataclasses.fields(value) if f.init}
        return dataclasses.replace(value, **parts)
    return value


# -------------------------------------------------------------------------------------------- production maps
def concrete(
    op: Op, operand: int, direction: Direction, shapes: Sequence[Sizes], names: Sequence[str] | None = None
) -> IndexingMap:
    """Return the map between the op's output and ``operand`` for operands of these sizes.

    Dimension variables are ``d0, d1, …``, ranges ``s0, …``, runtime values ``rt0, …`` in the order of
    :meth:`Op.runtime`; a range over a single value is replaced by that value.  Conditions narrow boxes or
    become constraints.  ``names`` are the operands' instructions as text, the sources of the runtime values.

    Raises :class:`InputError` when the op is not legal on these sizes, or when a symbol is left.
    """
    op.validate(*shapes)
    claim = map_claim(op, operand, direction, shapes, stated=False)
    for e in (*itertools.chain(claim.source_sizes, claim.target_sizes), *(r.size for r in claim.ranges)):
        _number(op, e)
    dims = [Variable(f"d{k}", 0, _number(op, n) - 1) for k, n in enumerate(claim.source_sizes)]
    renamed: dict[Expr, Expr] = {v: d.expr for v, d in zip(claim.source, dims, strict=True)}
    ranges: list[Variable] = []
    for r in claim.ranges:
        size = _number(op, r.size)
        if size == 1:
            renamed[r.variable] = integer(0)
            continue
        ranges.append(Variable(f"s{len(ranges)}", 0, size - 1))
        renamed[r.variable] = ranges[-1].expr
    results = substitute_all(claim.results, renamed)
    conditions = [c for c in (c.substitute(renamed) for c in claim.where) if c is not TRUE]
    used = {v for e in results for v in e.variables()} | {v for c in conditions for v in c.variables()}
    values = [r for r in claim.runtime if r.variable in used]
    called = names or [f"operand {k}" for k in range(op.arity)]
    rts = [
        RuntimeVariable(
            r.variable.name,
            _number(op, r.lo),
            _number(op, r.hi),
            RuntimeSource(source_name(r.operand, called), tuple(substitute_all(r.index, renamed))),
        )
        for r in values
    ]
    bounded = [b for condition in conditions for b in constraints_of(condition)]
    narrow, left = merged(bounded, {v.expr: (v.lo, v.hi) for v in (*dims, *ranges)})
    constraints = constrained(left, {**narrow, **{v.expr: Interval(v.lo, v.hi) for v in rts}})
    boxed = [v.boxed(int(narrow[v.expr].lo), int(narrow[v.expr].hi)) for v in (*dims, *ranges)]
    rank = len(dims)
    return IndexingMap(tuple(boxed[:rank]), tuple(boxed[rank:]), tuple(rts), tuple(results), tuple(constraints))


def source_name(operand: int, names: Sequence[str]) -> str:
    """Return the source of a runtime value, for a map of an op outside any program."""
    return _SOURCES.get(operand) or names[operand]


def _number(op: Op, e: Expr) -> int:
    if not isinstance(e, Int):
        raise op.error(f"{e} is not a number: a production map needs integer sizes and attributes")
    return e.value
