"""Conversion of the jaxpr of a Pallas index map to an indexing map.

This module does not import jax; ``..frameworks.pallas`` passes the required functions of jax.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

from ..bounded import constraints_of
from ..codegen.program import limits
from ..condition import Condition
from ..errors import InputError
from ..expr import (
    CeilDiv,
    Expr,
    FloorDiv,
    Int,
    Mod,
    Var,
    ceildiv,
    floordiv,
    integer,
    lift,
    maximum,
    minimum,
    mod,
    mul,
    postorder,
    var,
)
from ..facts import Facts
from ..indexing_map import IndexingMap, RuntimeSource, RuntimeVariable, Variable
from ..interval import Interval
from ..pallas_call import LARGEST_SIZE, ScalarTable, Size
from ..parametric import ParametricMap

#: The primitives that evaluate their jaxpr exactly once, at their operands.
CALLS = frozenset(
    (
        *("jit", "pjit", "closed_call", "core_call", "checkpoint", "remat2"),
        *("custom_jvp_call", "custom_vjp_call", "custom_vjp_call_jaxpr"),
    )
)

#: What the names of the types of integers and truth values begin with.
_INTEGERS = ("int", "uint", "bool")


def constants(closed: Any) -> dict[Any, Any]:
    """Return the values of the constant variables of a closed jaxpr; empty for any other."""
    return dict(zip(closed.jaxpr.constvars, closed.consts, strict=True)) if hasattr(closed, "consts") else {}


def variables(atoms: Sequence[Any]) -> list[Any]:
    """Return the atoms that are not literals."""
    return [a for a in atoms if not hasattr(a, "val")]


def nested(eqn: Any) -> Iterator[Any]:
    """Yield the jaxprs among the parameters of an equation, closed or not."""
    for value in eqn.params.values():
        for part in value if isinstance(value, (list, tuple)) else (value,):
            if hasattr(getattr(part, "jaxpr", part), "eqns"):
                yield part


class NotConverted(Exception):
    """An index map cannot be converted to an indexing map, with the reason."""


@dataclass
class IndexMapReader:
    """Converts the jaxpr of an index map to expressions; truth values are 0 and 1.

    A table is represented by its name, and an element read from it by a runtime variable.  Machine integers wrap
    around, expressions do not: operations that may overflow are refused, for any sizes (``parameters``) up to the
    largest. ``divisions`` maps the jaxprs that jax generates for ``//`` and ``%`` to builders, ``unflatten`` is
    ``jax.tree.unflatten``, and ``symbolic`` converts symbolic sizes of jax to expressions.
    """

    axes: Sequence[str]
    grid: Sequence[Size]
    tables: Mapping[str, ScalarTable]
    divisions: Mapping[str, Callable[[Expr, Expr], Expr]]
    unflatten: Callable[[Any, Sequence[Any]], Any]
    symbolic: Callable[[Any], Any] = lift
    parameters: Sequence[str] = ()
    conditions: Sequence[Condition] = ()

    def __post_init__(self) -> None:
        self.reads: dict[tuple[str, tuple[Expr, ...]], RuntimeVariable] = {}
        self.boxes: dict[Var, tuple[Any, Any]] = {var(p): (1, LARGEST_SIZE) for p in self.parameters}
        self.known = [(e, Interval(lo, hi)) for c in self.conditions for e, lo, hi in constraints_of(c)]
        for a, n in zip(self.axes, self.grid, strict=True):
            self.boxes[var(a)] = (0, max(self.interval(lift(n)).hi - 1, 0))

    def read(self, closed: Any) -> IndexingMap | ParametricMap:
        """Return the indexing map.  Raises :class:`NotConverted` where the conversion fails."""
        results = self.closed(closed, [*map(var, self.axes), *self.tables])
        if self.parameters and self.reads:
            raise NotConverted("scalar prefetch needs concrete sizes")
        for e in postorder(*results, *map(lift, self.grid)) if self.parameters else ():
            # jax divides sizes before anything runs, and stops there
            if isinstance(e, (CeilDiv, FloorDiv, Mod)):
                self.nonzero(e.b)
        try:
            if self.parameters:
                boxes = [var(a).within(0, n - 1) for a, n in zip(self.axes, self.grid, strict=True)]
                conditions = (*self.conditions, *boxes)
                return ParametricMap(tuple(self.axes), (), tuple(self.parameters), tuple(results), conditions)
            dims = tuple(Variable(name, 0, n - 1) for name, n in zip(self.axes, self.grid, strict=True))
            return IndexingMap(dims, (), tuple(self.reads.values()), tuple(results))
        except InputError as error:
            raise NotConverted(error.message) from None

    def interval(self, e: Expr) -> Interval:
        return Facts(self.boxes, self.known).interval(e)

    def closed(self, closed: Any, args: Sequence[Any]) -> list[Any]:
        """Return the results of a jaxpr, with its constants, for these arguments."""
        jaxpr = getattr(closed, "jaxpr", closed)
        env = dict(zip(jaxpr.invars, args, strict=True))
        env.update((v, self.literal(x)) for v, x in constants(closed).items())

        def value(v: Any) -> Any:
            return self.literal(v.val) if hasattr(v, "val") else env[v]

        for eqn in jaxpr.eqns:
            results = self.equation(eqn, [value(v) for v in eqn.invars])
            for v, e in zip(eqn.outvars, results, strict=True):
                self.check(eqn, v.aval, e)
                env[v] = e
        return [value(v) for v in jaxpr.outvars]

    @staticmethod
    def literal(x: Any) -> Expr:
        kind = str(getattr(x, "dtype", type(x).__name__))
        if getattr(x, "shape", ()) != () or not kind.startswith(_INTEGERS):
            raise NotConverted(f"a constant of the index map is {x}")
        return integer(int(x))

    def check(self, eqn: Any, aval: Any, e: Expr) -> None:
        kind = str(getattr(aval, "dtype", ""))
        if aval.shape != () or not kind.startswith(_INTEGERS):
            raise NotConverted(f"`{eqn.primitive.name}` gives {aval.str_short()}, not an integer")
        if kind != "bool":
            bits, found = int(kind.lstrip("uint")), self.interval(e)
            if not found.inside(limits(bits) if kind.startswith("int") else Interval(0, 2**bits - 1)):
                raise NotConverted(f"`{eqn.primitive.name}` may overflow {kind}: {e} is in [{found.lo}, {found.hi}]")

    def equation(self, eqn: Any, args: list[Any]) -> list[Any]:
        """Return the values of one equation."""
        name = eqn.primitive.name
        if name == "cond":
            index, *rest = args
            before = len(self.reads)
            results = [self.closed(b, rest) for b in eqn.params["branches"]]
            if len(self.reads) > before:  # an element that is not read need not exist
                raise NotConverted("scalar prefetch that is read in a branch")
            return [self.choice(index, column) for column in zip(*results, strict=True)]
        if name in CALLS:
            inner = next(nested(eqn))
            division = self.divisions.get(str(inner))
            if division is not None and isinstance(args[1], Expr) and self.is_size(args[1]):
                return [division(args[0], self.nonzero(args[1]))]
            return self.closed(inner, args)
        if name == "get":
            return [self.table(eqn, args)]
        if name == "dim_as_value":
            return [lift(self.symbolic(eqn.params["dim"]))]
        if any(not isinstance(a, Expr) for a in args):
            raise NotConverted(f"`{name}` of scalar prefetch")
        kind = eqn.outvars[0].aval.dtype
        operation = _OPERATIONS.get(f"{name} {kind}") or _OPERATIONS.get(name)
        if operation is None:
            raise NotConverted(f"the index map computes `{name}`")
        return [operation(self, *args)]

    def table(self, eqn: Any, args: list[Any]) -> Expr:
        """Return an element of a scalar prefetch operand."""
        name = args[0]
        (indexer,) = self.unflatten(eqn.params["tree"], args[1:]) or (None,)
        indices = tuple(getattr(indexer, "indices", ()))
        if not all(isinstance(i, Expr) for i in indices):
            raise NotConverted(f"a slice of {name}")
        key = (name, indices)
        if key not in self.reads:
            table = self.tables[name]
            within = table.stated or limits(32)
            if table.values is not None and table.values.size:
                within = Interval(int(table.values.min()), int(table.values.max()))
            taken = {*self.axes, *(r.name for r in self.reads.values())}
            fresh = next(n for k in count() if (n := f"{name}_{k}") not in taken)
            read = RuntimeVariable(fresh, int(within.lo), int(within.hi), RuntimeSource(name, indices))
            self.reads[key] = read
            self.boxes[read.expr] = (read.lo, read.hi)
        return self.reads[key].expr

    # -- choices
    def choice(self, index: Expr, cases: Sequence[Expr]) -> Expr:
        """Return case number ``index``; larger numbers select the last case, negative ones the first."""
        chosen = cases[-1]
        for k, case in reversed(list(enumerate(cases[:-1]))):
            chosen = self.chosen(self.positive(index - k), case, chosen)
        return chosen

    def chosen(self, p: Expr, no: Expr, yes: Expr) -> Expr:
        """Return ``yes`` if the truth value ``p`` is 1, otherwise ``no``."""
        if isinstance(p, Int) or yes is no:
            return yes if isinstance(p, Int) and p.value else no
        gap = yes - no
        if self.is_size(gap):
            return no + mul(p, gap)
        lo, hi = (int(x) for x in self.interval(gap))
        # p * gap without a product of variables: gap - lo lies in [0, hi - lo]
        return no + p * lo + minimum(gap - lo, p * (hi - lo))

    def positive(self, e: Expr) -> Expr:
        """Return the truth value of ``e >= 1``."""
        lo, hi = self.interval(e)
        if lo >= 1 or hi <= 0:
            return integer(int(lo >= 1))
        e = e if hi <= 1 else minimum(e, 1)
        return e if lo >= 0 else maximum(e, 0)

    def truncated(self, a: Expr, b: Expr) -> Expr:
        """Return the quotient rounded towards zero."""
        if not self.is_size(b):
            raise NotConverted("a division by a value that is neither a constant nor a size")
        least, most = self.interval(self.nonzero(b))
        if most < 0:
            return -self.truncated(a, -b)
        if least < 1:
            raise NotConverted(f"the divisor {b} may be negative")
        if self.interval(a).lo >= 0:
            return floordiv(a, b)
        return maximum(floordiv(a, b), 0) + minimum(ceildiv(a, b), 0)

    def remainder(self, a: Expr, b: Expr) -> Expr:
        """Return the remainder of :meth:`truncated`, which has the sign of ``a``."""
        quotient = self.truncated(a, b)
        return mod(a, -b if self.interval(b).hi < 0 else b) if self.interval(a).lo >= 0 else a - mul(b, quotient)

    def is_size(self, e: Expr) -> bool:
        """Return whether an expression has the same value at all points."""
        return {*e.variables()} <= {*map(var, self.parameters)}

    def nonzero(self, e: Expr) -> Expr:
        """Return a divisor.  Raises :class:`NotConverted` where it may be zero."""
        if 0 in self.interval(e):
            raise NotConverted(f"the divisor {e} may be zero")
        return e

    def times(self, a: Expr, b: Expr) -> Expr:
        """Return a product in which one factor is a constant, a size or a truth value."""
        if self.is_size(a) or self.is_size(b):
            return mul(a, b)
        for p, other in ((a, b), (b, a)):
            if self.interval(p).inside(Interval(0, 1)):
                return self.chosen(p, integer(0), other)
        raise NotConverted(f"the index map multiplies {a} and {b}")

    def masked(self, a: Expr, b: Expr) -> Expr:
        """Return the lowest bits of ``a``, for a mask of the form ``2**n - 1``."""
        if isinstance(b, Int) and b.value >= 0 and not b.value & (b.value + 1):
            return mod(a, b.value + 1)
        raise NotConverted(f"the index map computes {a} & {b}")

    def power(self, b: Expr) -> int:
        """Return the power of two by which a shift multiplies or divides."""
        if not isinstance(b, Int) or not 0 <= b.value < 31:
            raise NotConverted(f"a shift by {b}")
        return int(2**b.value)


def _unequal(r: IndexMapReader, a: Expr, b: Expr) -> Expr:
    return r.positive(maximum(a - b, b - a))


#: The primitives of jax that an index map may use, on integers, or with truth values as results where the name says so.
_OPERATIONS: dict[str, Callable[..., Expr]] = {
    **dict.fromkeys(("broadcast_in_dim", "convert_element_type", "copy", "reshape", "squeeze"), lambda r, a: a),
    "abs": lambda r, a: maximum(a, -a),
    "add": lambda r, a, b: a + b,
    "and": IndexMapReader.masked,
    "and bool": lambda r, a, b: minimum(a, b),
    "convert_element_type bool": lambda r, a: _unequal(r, a, integer(0)),
    "clamp": lambda r, lo, x, hi: minimum(maximum(x, lo), hi),
    "div": IndexMapReader.truncated,
    "eq": lambda r, a, b: 1 - _unequal(r, a, b),
    "ge": lambda r, a, b: r.positive(a - b + 1),
    "gt": lambda r, a, b: r.positive(a - b),
    "le": lambda r, a, b: r.positive(b - a + 1),
    "lt": lambda r, a, b: r.positive(b - a),
    "max": lambda r, a, b: maximum(a, b),
    "min": lambda r, a, b: minimum(a, b),
    "mul": IndexMapReader.times,
    "ne": _unequal,
    "neg": lambda r, a: -a,
    "not": lambda r, a: -1 - a,
    "not bool": lambda r, a: 1 - a,
    "or bool": lambda r, a, b: maximum(a, b),
    "rem": IndexMapReader.remainder,
    "select_n": lambda r, index, *cases: r.choice(index, cases),
    "shift_left": lambda r, a, b: a * r.power(b),
    "shift_right_arithmetic": lambda r, a, b: floordiv(a, r.power(b)),
    "sign": lambda r, a: r.positive(a) - r.positive(-a),
    "sub": lambda r, a, b: a - b,
}
