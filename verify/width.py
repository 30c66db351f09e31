"""The machine width of a map: the smallest of int32 and int64 in which nothing overflows on its domain, exactly.

What may overflow are the *subexpressions* of the map, in the order in which its printed text is evaluated
(reports/semantics.md, "Machine integers").  Intervals answer for most of them; for the others it is a concrete question,
decided as all of them are.  :func:`subexpression_widths` asks for each of them which is the smallest signed type, from 8
bits on, that has its values.
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
from .concrete.problem import Box, Fact, Option, Problem
from .verdict import Status

#: The widths of signed machine types; maps are computed in those of 32 and 64 bits.
TYPES: Final = (8, 16, *WIDTHS)


@dataclass(frozen=True, slots=True)
class Overflow(Shown):
    """The first subexpression that overflows integers of ``bits`` bits, with its value at the smallest such point.

    ``values`` has every variable by name; ``minimal`` says that no such point has a smaller total magnitude.
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
    """The answer: ``bits`` is the smallest width that is enough, or ``None``.

    ``verdict`` is ``PROVED`` if a width is enough, ``REFUTED`` if none is, ``UNDECIDED`` if the engines gave up.
    ``overflows`` tells of each smaller width what overflows.  ``engines`` are those that were needed, in the order in
    which they first were, and ``tried`` is what they said where they gave up.
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

    ``bits`` is ``None`` if not even 64 are enough, or if the engines gave up, which ``verdict`` tells apart:
    ``PROVED``, ``REFUTED``, ``UNDECIDED``.  ``overflow`` is the smallest point at which the next smaller type
    overflows; ``engine`` is what decided last.
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
    """The steps in which a map is computed, with what intervals know of them, and its domain."""

    program: Program
    ranges: list[Interval]
    box: Box
    where: tuple[Fact, ...]
    variables: tuple[tuple[str, Expr], ...]

    @classmethod
    def of(cls, m: IndexingMap) -> _Steps:
        program = Program.of_map(m)
        return cls(
            program,
            program.ranges(m.bounds, domain_knowledge(m, program)),
            tuple((v.expr, Interval(v.lo, v.hi)) for v in m.variables),
            tuple(Fact(c.expr, Interval(c.lo, c.hi)) for c in m.constraints),
            tuple((v.name, v.expr) for v in m.variables),
        )

    def doubtful(self, bits: int) -> list[int]:
        """The steps that may overflow, for all that intervals know."""
        machine = limits(bits)
        return [k for k, r in enumerate(self.ranges) if not r.empty and not r.inside(machine)]

    def asked(self, expr: Expr, bits: int, confirm: bool) -> tuple[Decision, Overflow | None]:
        """Whether ``expr`` stays within so many bits, and if not, where it first overflows."""
        problem = Problem(self.box, self.where, (Option((Fact(expr, limits(bits)),)),))
        decision = decide_problem(problem, confirm=confirm)
        if decision.outcome.status != "fails":
            return decision, None
        env = problem.environment(decision.outcome.point)
        (value,) = interpret((expr,), Integers(env))
        values = {name: env[v] for name, v in self.variables}
        return decision, Overflow(bits, expr, int(value), values, decision.outcome.minimal)


def subexpression_widths(m: IndexingMap, *, confirm: bool = False) -> tuple[Subexpression, ...]:
    """The smallest type of every subexpression of ``m``, each once, in the order in which they are evaluated."""
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
    """The machine width of ``m``; with ``confirm`` a second engine decides every question that intervals leave."""
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
