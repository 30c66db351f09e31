"""Straight-line programs: the operations that evaluate expressions, in the order in which they are printed.

An expression does not fix the order in which three summands are added, but overflow depends on it.  A :class:`Program`
fixes it (reports/semantics.md, "Machine integers"): every literal, product and partial sum is a separate step, computed
once.  Overflow, the generated code and the simplifications of that code are all determined from the same steps.  A
*lean* program has another order, in which summands with the same factor are added first and multiplied once; generated
code follows it where it has fewer operations and needs no wider integers.
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


#: Limit on the sums considered for one summand; summands of more sums are ignored in the search for common parts.
_OFTEN: Final = 64


class ProgramStep(NamedTuple):
    """One operation.  ``args`` are the numbers of earlier steps; ``leaf`` is the variable or literal of a leaf."""

    op: Operation
    args: tuple[int, ...] = ()
    leaf: Var | int = 0


class _Apply(NamedTuple):
    """A task: apply an operation to the top ``arity`` values of the stack."""

    op: Operation
    arity: int


class _Keep(NamedTuple):
    """A task: record the top value of the stack as that of this expression."""

    of: Expr


_Task: TypeAlias = "Expr | int | _Apply | _Keep"


@dataclass(frozen=True)
class Program:
    """Steps in the order of evaluation; ``outputs`` are the numbers of the steps that compute the roots.

    The first ``inputs`` steps are the variables, used or not.  All steps are distinct, so common subexpressions are
    shared.
    """

    inputs: int
    steps: tuple[ProgramStep, ...]
    outputs: tuple[int, ...]

    @classmethod
    def of(cls, roots: Sequence[Expr], variables: Sequence[Var] = (), *, lean: bool = False) -> Program:
        """Return the program of ``roots``.  Summands are added from left to right, as printed over ``variables``.

        With ``lean``, summands with the same factor, up to the sign, are added first and multiplied once, and negative
        summands come last, so that more partial sums coincide.
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
        """Return the lean program of the same roots if it has fewer operations than this one, otherwise this one."""
        lean = Program.of(roots, variables, lean=True)
        return lean if lean.operations < self.operations else self

    @property
    def operations(self) -> int:
        """The number of steps that have operands."""
        return sum(1 for s in self.steps if s.args)

    @classmethod
    def of_map(cls, m: IndexingMap) -> Program:
        """Return the program of a map: results, constraints, then the indices of runtime sources."""
        return cls.of(m.roots, [v.expr for v in m.variables])

    def exprs(self, wanted: Iterable[int]) -> dict[int, Expr]:
        """Return the expressions that the ``wanted`` steps and their operands compute, by step number."""
        found: dict[int, Expr] = {}
        for k in sorted(self.needed(wanted)):
            op, args, leaf = self.steps[k]
            if op == "variable" or op == "integer":
                found[k] = leaf if isinstance(leaf, Var) else integer(leaf)
            else:
                found[k] = _EXPRS[op](*(found[a] for a in args))
        return found

    def needed(self, wanted: Iterable[int]) -> set[int]:
        """Return the ``wanted`` steps and all steps that they depend on."""
        found: set[int] = set()
        todo = list(wanted)
        while todo:
            k = todo.pop()
            if k not in found:
                found.add(k)
                todo.extend(self.steps[k].args)
        return found

    def ranges(self, bounds: Mapping[Any, Interval], known: Mapping[int, Interval] | None = None) -> list[Interval]:
        """Return the range of every step for variables within ``bounds``.

        ``known`` gives additional bounds of some steps, which are intersected with those implied by their operands.
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
    """Return the tasks that compute ``e`` from its operands, in the order in which it is printed."""
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
        # the coefficient of the first summand keeps its sign, unless it is -1
        size = abs(k) if out or k == -1 else k
        _add(out, [t] if size == 1 else [t, size, _Apply("times", 2)], negative=k < 0 < size)
    if e.const:
        _add(out, [abs(e.const)], negative=e.const < 0)
    return out


def _add(out: list[_Task], value: Sequence[_Task], negative: bool) -> None:
    """Append the addition of a value to the sum in ``out``, or its subtraction."""
    if out:
        out += [*value, _Apply("minus" if negative else "plus", 2)]
    else:
        out += [*value, _Apply("negate", 1)] if negative else value


class _Parts:
    """Finds, for the sums of a lean program, other sums that are parts of them."""

    def __init__(self, roots: Sequence[Expr]) -> None:
        #: for each summand, the sums with several summands that contain it
        self.having: dict[tuple[Expr, int], list[Sum]] = {}
        for e in postorder(*roots):
            if type(e) is Sum and len(e.terms) > 1:
                for t in e.terms:
                    self.having.setdefault(t, []).append(e)

    def part(self, e: Sum) -> Sum | None:
        """Return the largest other sum whose summands are a proper subset of those of ``e``, or ``None``."""
        shared: dict[Sum, int] = {}
        for t in e.terms:
            having = self.having[t]
            if len(having) <= _OFTEN:
                for other in having:
                    shared[other] = shared.get(other, 0) + 1
        found = [s for s, n in shared.items() if n == len(s.terms) < len(e.terms)]
        return max(found, key=lambda s: (len(s.terms), s.key), default=None)

    def tasks(self, e: Sum) -> list[_Task]:
        """Return the tasks for a sum: summands with the same factor are added first, negative ones come last."""
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
                # no multiplication: add the summands one by one
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
    """Return the range of two's complement integers with this many bits."""
    return Interval(-(1 << (bits - 1)), (1 << (bits - 1)) - 1)


def fits(ranges: Iterable[Interval]) -> int | None:
    """Return the smallest width that holds every value of every range; ``None`` if 64 bits are not enough."""
    peak = [r for r in ranges if not r.empty]
    for bits in WIDTHS:
        if all(r.inside(limits(bits)) for r in peak):
            return bits
    return None


def width_bound(m: IndexingMap) -> int | None:
    """Return a width in which no step of ``m`` overflows on its domain: 32, 64, or ``None`` if the ranges show neither.

    This is an upper bound from intervals alone; :func:`indexproof.verify.width.width` gives the exact answer.
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
