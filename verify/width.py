"""The machine width of a map: the smaller of int32 and int64 in which nothing overflows on its domain, exactly.

The *subexpressions* of the map may overflow, in the order in which its printed text is evaluated (reports/semantics.md,
"Machine integers").  Intervals rule this out for most of them; the others are given to the concrete deciders.
:func:`subexpression_widths` finds for each of them the smallest signed type, from 8 bits on, that has all its values.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import Final

from ..core.codegen.program import WIDTHS, Program, domain_knowledge, limits
from ..core.display import Shown
from ..core.expr import Expr, Integers, interpret
from ..core.indexing_map import IndexingMap, expect_map
from ..core.interval import Interval
from .concrete.decide import Decision, decide_problem
from .concrete.points import domain_of, named
from .concrete.problem import Fact, Option, Problem
from .verdict import Status

#: The widths of signed machine types; maps are computed in those of 32 and 64 bits.
TYPES: Final = (8, 16, *WIDTHS)


@dataclass(frozen=True, slots=True)
class Overflow(Shown):
    """The first subexpression that overflows integers of ``bits`` bits, with its value at the smallest such point.

    ``values`` has every variable by name; ``minimal`` means that no such point has a smaller total magnitude.
    """

    bits: int
    expr: Expr
    value: int
    values: dict[str, int]
    minimal: bool = True

    def __str__(self) -> str:
        from .words import overflow_text

        return overflow_text(self)


@dataclass(frozen=True, slots=True)
class Width(Shown):
    """The machine width of a map: ``bits`` is the smallest sufficient width, or ``None``.

    ``verdict`` is ``PROVED`` if a width suffices, ``REFUTED`` if none does, ``UNDECIDED`` if the engines gave up.
    ``overflows`` has an overflow for each smaller width.  ``engines`` lists the engines in the order of first use, and
    ``tried`` their reasons for giving up.
    """

    verdict: Status
    bits: int | None
    overflows: tuple[Overflow, ...] = ()
    engines: tuple[str, ...] = ()
    tried: tuple[str, ...] = ()
    seconds: float = field(default=0.0, compare=False)
    map: IndexingMap | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        from .words import width_text

        return width_text(self)


@dataclass(frozen=True, slots=True)
class Subexpression(Shown):
    """The smallest signed type that has every value of ``expr`` on the domain.

    ``bits`` is ``None`` if 64 bits do not suffice (``REFUTED``) or the engines gave up (``UNDECIDED``).  ``overflow``
    is the smallest point at which the next smaller type overflows; ``engine`` decided last.
    """

    expr: Expr
    verdict: Status
    bits: int | None
    overflow: Overflow | None
    engine: str

    def __str__(self) -> str:
        from .words import each_text

        return each_text((self,)).strip()


@dataclass(frozen=True, slots=True)
class _Steps:
    """The steps in which a map is computed, their ranges by intervals, and its domain."""

    program: Program
    ranges: list[Interval]
    domain: Problem

    @classmethod
    def of(cls, m: IndexingMap) -> _Steps:
        program = Program.of_map(m)
        return cls(program, program.ranges(m.bounds, domain_knowledge(m, program)), domain_of(m))

    def doubtful(self, bits: int) -> list[int]:
        """Return the steps that may overflow according to intervals."""
        machine = limits(bits)
        return [k for k, r in enumerate(self.ranges) if not r.empty and not r.inside(machine)]

    def asked(self, expr: Expr, bits: int, confirm: bool) -> tuple[Decision, Overflow | None]:
        """Decide whether ``expr`` fits into ``bits`` bits, and if not, where it first overflows."""
        problem = replace(self.domain, options=(Option((Fact(expr, limits(bits)),)),))
        decision = decide_problem(problem, confirm=confirm)
        if decision.outcome.status != "fails":
            return decision, None
        env = problem.environment(decision.outcome.point)
        (value,) = interpret((expr,), Integers(env))
        return decision, Overflow(bits, expr, int(value), named(env), decision.outcome.minimal)


def subexpression_widths(m: IndexingMap, *, confirm: bool = False) -> tuple[Subexpression, ...]:
    """Return the smallest type of each distinct subexpression of ``m``, in the order of evaluation."""
    expect_map(m)
    steps = _Steps.of(m)
    found: dict[Expr, Subexpression] = {}
    for k, e in sorted(steps.program.exprs(range(len(steps.ranges))).items()):
        if e not in found:
            found[e] = _smallest_type(steps, k, e, confirm)
    return tuple(found.values())


def _smallest_type(steps: _Steps, k: int, e: Expr, confirm: bool) -> Subexpression:
    r = steps.ranges[k]
    below: Overflow | None = None
    engine = "intervals"
    for bits in TYPES:
        if r.empty or r.inside(limits(bits)):
            return Subexpression(e, Status.PROVED, bits, below, "intervals")
        if below is not None and not limits(bits).lo <= below.value <= limits(bits).hi:
            below = replace(below, bits=bits)
            continue
        decision, overflow = steps.asked(e, bits, confirm)
        engine = decision.engine
        if decision.outcome.status == "open":
            return Subexpression(e, Status.UNDECIDED, None, below, engine)
        if overflow is None:
            return Subexpression(e, Status.PROVED, bits, below, engine)
        below = overflow
    return Subexpression(e, Status.REFUTED, None, below, engine)


def width(m: IndexingMap, *, confirm: bool = False) -> Width:
    """Return the machine width of ``m``; with ``confirm`` a second engine checks what intervals leave open."""
    expect_map(m)
    start = time.perf_counter()
    steps = _Steps.of(m)
    exprs = steps.program.exprs(steps.doubtful(WIDTHS[0]))
    engines: dict[str, None] = {}
    overflows: list[Overflow] = []

    def answer(verdict: Status, bits: int | None, tried: tuple[str, ...] = ()) -> Width:
        return Width(verdict, bits, (*overflows,), (*engines,), tried, time.perf_counter() - start, m)

    for bits in WIDTHS:
        doubtful = steps.doubtful(bits)
        if not doubtful:
            engines.setdefault("intervals")
        for k in doubtful:
            decision, found = steps.asked(exprs[k], bits, confirm)
            if decision.outcome.status == "open":
                return answer(Status.UNDECIDED, None, decision.tried)
            engines.setdefault(decision.engine)
            if found is not None:
                overflows.append(found)
                break
        else:
            return answer(Status.PROVED, bits)
    return answer(Status.REFUTED, None)
