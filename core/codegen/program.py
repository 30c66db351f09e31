"""Straight-line programs: the operations that evaluate expressions, in the order in which they are printed.

An expression says nothing about the order in which a machine adds three summands, and machine integers care.  A
:class:`Program` fixes it (reports/semantics.md, "Machine integers"): every literal, product and partial sum is a step
of its own, each computed once.  What overflows, what the generated code does and what it may leave out are all read
from the same steps.  A *lean* program has another order, in which summands with the same factor are added first and
multiplied once; generated code follows it where it has fewer operations and does not need wider integers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from ..expr import BUILDERS, CeilDiv, Expr, FloorDiv, Int, Max, Min, Mod, Mul, Sum, Var, integer, linear, postorder
from ..indexing_map import IndexingMap, expect_map
from ..interval import EMPTY, LINE, Interval
from ..text_printer import Order

Operation: TypeAlias = Literal[
    "variable", "integer", "negate", "plus", "minus", "times", "floordiv", "mod", "ceildiv", "minimum", "maximum"
]
#: The widths of machine integers, smallest first.
WIDTHS: Final = (32, 64)

_OPERATION_OF: Final[dict[type[Expr], Operation]] = {
    FloorDiv: "floordiv",
    Mod: "mod",
    CeilDiv: "ceildiv",
    Min: "minimum",
    Max: "maximum",
    Mul: "times",
}
#: The integer meaning of every operation with operands.
_EXPRS: Final[dict[str, Callable[..., Expr]]] = {
    **{op: BUILDERS[kind] for kind, op in _OPERATION_OF.items()},
    "negate": lambda a: -a,
    "plus": lambda a, b: a + b,
    "minus": lambda a, b: a - b,
}
_RANGES: Final[dict[str, Callable[..., Interval]]] = {
    **{op: getattr(Interval, op) for op in ("plus", *_OPERATION_OF.values())},
    "negate": lambda a: a.scale(-1),
    "minus": lambda a, b: a.plus(b.scale(-1)),
}


#: A summand that is in more sums than this is not asked which.
_OFTEN: Final = 64


class ProgramStep(NamedTuple):
    """One operation.  ``args`` are the numbers of earlier steps; ``leaf`` is the variable or literal of a leaf."""

    op: Operation
    args: tuple[int, ...] = ()
    leaf: Var | int = 0


class _Apply(NamedTuple):
    """To do: an operation on the last values of the stack."""

    op: Operation
    arity: int


class _Keep(NamedTuple):
    """To do: the last value is the one of this expression."""

    of: Expr


_Task: TypeAlias = "Expr | int | _Apply | _Keep"


@dataclass(frozen=True)
class Program:
    """Steps in the order of evaluation; ``outputs`` are the numbers of the steps that compute the roots.

    The first ``inputs`` steps are the variables, used or not.  No two steps are alike, so common subexpressions are
    shared.
    """

    inputs: int
    steps: tuple[ProgramStep, ...]
    outputs: tuple[int, ...]

    @classmethod
    def of(cls, roots: Sequence[Expr], variables: Sequence[Var] = (), *, lean: bool = False) -> Program:
        """The program of ``roots``.  Summands are added from left to right, as printed over ``variables``.

        ``lean``, those with the same factor, up to the sign, are added first and multiplied once, and what is subtracted
        comes last, so that more of the partial sums are the same.
        """
        order = Order(roots, {v: i for i, v in enumerate(variables)})
        parts = _Parts(roots if lean else ())
        steps: list[ProgramStep] = []
        numbers: dict[ProgramStep, int] = {}
        known: dict[Expr, int] = {}
        values: list[int] = []

        def number(step: ProgramStep) -> int:
            at = numbers.setdefault(step, len(steps))
            if at == len(steps):
                steps.append(step)
            return at

        for v in variables:
            known[v] = number(ProgramStep("variable", (), v))
        todo: list[_Task] = [*reversed(roots)]
        while todo:
            match todo.pop():
                case int(n):
                    values.append(number(ProgramStep("integer", (), n)))
                case _Apply(op, arity):
                    args = tuple(values[-arity:])
                    del values[-arity:]
                    values.append(number(ProgramStep(op, args)))
                case _Keep(e):
                    known[e] = values[-1]
                case Expr() as e if e in known:
                    values.append(known[e])
                case Int() as e:
                    todo.append(e.value)
                case Var() as e:
                    values.append(number(ProgramStep("variable", (), e)))
                case e:
                    todo.append(_Keep(e))
                    todo.extend(reversed(parts.tasks(e) if lean and isinstance(e, Sum) else _tasks(e, order)))
        return cls(len(variables), tuple(steps), tuple(values))

    def shortened(self, roots: Sequence[Expr], variables: Sequence[Var] = ()) -> Program:
        """The lean program of the same roots if it has fewer operations than this one, which is returned else."""
        lean = Program.of(roots, variables, lean=True)
        return lean if lean.operations < self.operations else self

    @property
    def operations(self) -> int:
        """How many steps compute something from others."""
        return sum(1 for s in self.steps if s.args)

    @classmethod
    def of_map(cls, m: IndexingMap) -> Program:
        """The program of a map: results, constraints, then the indices of runtime sources."""
        return cls.of(m.roots, [v.expr for v in m.variables])

    def exprs(self, wanted: Iterable[int]) -> dict[int, Expr]:
        """The expressions whose values the ``wanted`` steps have."""
        found: dict[int, Expr] = {}
        for k in sorted(self.needed(wanted)):
            op, args, leaf = self.steps[k]
            if op == "variable" or op == "integer":
                found[k] = leaf if isinstance(leaf, Var) else integer(leaf)
            else:
                found[k] = _EXPRS[op](*(found[a] for a in args))
        return found

    def needed(self, wanted: Iterable[int]) -> set[int]:
        """The ``wanted`` steps and all that they are computed from."""
        found: set[int] = set()
        todo = list(wanted)
        while todo:
            k = todo.pop()
            if k not in found:
                found.add(k)
                todo.extend(self.steps[k].args)
        return found

    def ranges(self, bounds: Mapping[Any, Interval], known: Mapping[int, Interval] | None = None) -> list[Interval]:
        """The range of every step for variables within ``bounds``.

        ``known`` cuts the ranges of some steps further, where more is known of them than their operands tell.
        """
        found: list[Interval] = []
        for k, (op, args, leaf) in enumerate(self.steps):
            values = [found[a] for a in args]
            if isinstance(leaf, Var):
                value = bounds.get(leaf, LINE)
            elif op == "integer":
                value = Interval(leaf, leaf)
            elif any(v.empty for v in values):
                value = EMPTY
            else:
                value = _RANGES[op](*values)
            if known is not None and k in known:
                value &= known[k]
            found.append(value)
        return found


def _tasks(e: Expr, order: Order) -> list[_Task]:
    """How ``e`` is computed from its operands, as printed."""
    if not isinstance(e, Sum):
        op = _OPERATION_OF[type(e)]
        if op in ("floordiv", "mod", "ceildiv"):
            return [*e.children, _Apply(op, 2)]
        first, *rest = order.sorted(e.children)
        folded: list[_Task] = [first]
        for a in rest:
            folded += [a, _Apply(op, 2)]
        return folded
    out: list[_Task] = []
    for t, k in order.terms[e]:
        # of the first summand the coefficient has its sign, unless it is -1
        size = abs(k) if out or k == -1 else k
        _add(out, [t] if size == 1 else [t, size, _Apply("times", 2)], negative=k < 0 < size)
    if e.const:
        _add(out, [abs(e.const)], negative=e.const < 0)
    return out


def _add(out: list[_Task], value: Sequence[_Task], negative: bool) -> None:
    """Add a value to what ``out`` computes, or subtract it."""
    if out:
        out += [*value, _Apply("minus" if negative else "plus", 2)]
    else:
        out += [*value, _Apply("negate", 1)] if negative else value


class _Parts:
    """How sums are computed in a lean program: which others are a part of them."""

    def __init__(self, roots: Sequence[Expr]) -> None:
        #: by summand, the sums of several that it is in
        self.having: dict[tuple[Expr, int], list[Sum]] = {}
        for e in postorder(*roots):
            if type(e) is Sum and len(e.terms) > 1:
                for t in e.terms:
                    self.having.setdefault(t, []).append(e)

    def part(self, e: Sum) -> Sum | None:
        """The largest other sum whose summands are some of those of ``e``."""
        shared: dict[Sum, int] = {}
        for t in e.terms:
            having = self.having[t]
            if len(having) <= _OFTEN:
                for other in having:
                    shared[other] = shared.get(other, 0) + 1
        found = [s for s, n in shared.items() if n == len(s.terms) < len(e.terms)]
        return max(found, key=lambda s: (len(s.terms), s.key), default=None)

    def tasks(self, e: Sum) -> list[_Task]:
        """How a sum is computed where what has the same factor is added first, and what is subtracted comes last."""
        out: list[_Task] = []
        rest = list(e.terms)
        if len(rest) > 1 and (inner := self.part(e)) is not None:
            out.append(linear(0, inner.terms))
            rest = [t for t in rest if t not in inner.terms]
        groups: dict[int, list[tuple[Expr, int]]] = {}
        for t, k in sorted(rest, key=_subtracted):
            groups.setdefault(abs(k), []).append((t, k))
        for factor, terms in sorted(groups.items(), key=lambda g: _subtracted(g[1][0])):
            if factor == 1:
                # nothing is multiplied: one after the other
                for t, k in terms:
                    _add(out, [t], negative=k < 0)
                continue
            negative = terms[0][1] < 0
            value: list[_Task] = [terms[0][0]]
            for t, k in terms[1:]:
                _add(value, [t], negative=(k < 0) is not negative)
            size = -factor if negative and not out else factor
            _add(out, [*value, size, _Apply("times", 2)], negative=negative and size > 0)
        if e.const:
            _add(out, [abs(e.const)], negative=e.const < 0)
        return out


def _subtracted(term: tuple[Expr, int]) -> bool:
    return term[1] < 0


# --------------------------------------------------------------------------------------------- machine integers
def limits(bits: int) -> Interval:
    """The integers that two's complement holds in so many bits."""
    return Interval(-(1 << (bits - 1)), (1 << (bits - 1)) - 1)


def fits(ranges: Iterable[Interval]) -> int | None:
    """The smallest width that holds every value of every range; ``None`` if 64 bits are not enough."""
    peak = [r for r in ranges if not r.empty]
    for bits in WIDTHS:
        if all(r.inside(limits(bits)) for r in peak):
            return bits
    return None


def width_bound(m: IndexingMap) -> int | None:
    """A width in which no step of ``m`` overflows, on its domain: 32, 64, or ``None`` if the ranges show neither.

    An upper bound from intervals alone; :func:`indexproof.verify.width.width` gives the exact answer.
    """
    expect_map(m)
    program = Program.of_map(m)
    return fits(program.ranges(m.bounds, domain_knowledge(m, program)))


def domain_knowledge(m: IndexingMap, program: Program) -> dict[int, Interval]:
    """Return the intervals that the constraints of ``m`` give for steps of its program."""
    known: dict[int, Interval] = {}
    first = len(m.results)
    for c, k in zip(m.constraints, program.outputs[first : first + len(m.constraints)], strict=True):
        known[k] = known.get(k, Interval(c.lo, c.hi)) & Interval(c.lo, c.hi)
    return known
