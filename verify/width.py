"""The machine width of a map: the smallest of int32 and int64 in which nothing overflows on its domain, exactly.

What may overflow are the *subexpressions* of the map, in the order in which its text is evaluated
(reports/semantics.md, "Machine integers"): first its variables, then those of its results, its constraints and the
indices that its runtime variables read.  They are

- every variable and every literal, the divisors and the sizes of coefficients among them: ``- d0 * 3`` has the
  literal 3 and the product ``d0 * 3``, while a sum that begins with ``d0 * -3`` has the literal -3;
- every product ``term * coefficient``, and the negation ``-term`` at the beginning of a sum;
- every partial sum of an n-ary sum, from left to right *as printed*: ``a * 4 + b - 7`` has ``a * 4``, ``a * 4 + b``
  and ``a * 4 + b - 7``;
- every quotient, remainder, minimum and maximum (of more than two arguments, from left to right as printed).

Bounds of variables and constraints are what values are compared with, and no subexpressions.  A width is enough if
each subexpression has a value in its range at every point of the domain; on an empty domain nothing overflows.
Intervals answer for most subexpressions; for the others it is a concrete question, decided as all of them are.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from ..core.codegen.program import WIDTHS, Program, domain_knowledge, limits
from ..core.expr import Expr, Integers, interpret
from ..core.indexing_map import IndexingMap
from ..core.interval import Interval
from .concrete.decide import decide_problem
from .concrete.problem import Box, Fact, Option, Problem
from .verdict import Status

__all__ = ["Overflow", "Width", "width"]


@dataclass(frozen=True, slots=True)
class Overflow:
    """The first subexpression that overflows integers of ``bits`` bits, with its value at the smallest such point.

    ``values`` has every variable by name; ``minimal`` says that no such point has a smaller total magnitude.
    """

    bits: int
    expr: Expr
    value: int
    values: dict[str, int]
    minimal: bool = True


@dataclass(frozen=True, slots=True)
class Width:
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


def width(m: IndexingMap, *, confirm: bool = False) -> Width:
    """The machine width of ``m``; with ``confirm`` a second engine decides every question that intervals leave."""
    start = time.perf_counter()
    program = Program.of_map(m)
    ranges = program.ranges(m.bounds, domain_knowledge(m, program))
    exprs = program.exprs(
        k for k, r in enumerate(ranges) if not r.empty and not r.interval.inside(limits(WIDTHS[0]))
    )
    box: Box = tuple((v.expr, Interval(v.lo, v.hi)) for v in m.variables)
    where = tuple(Fact(c.expr, Interval(c.lo, c.hi)) for c in m.constraints)
    engines: dict[str, None] = {}
    overflows: list[Overflow] = []
    for bits in WIDTHS:
        machine = limits(bits)
        doubtful = [k for k, r in enumerate(ranges) if not r.empty and not r.interval.inside(machine)]
        if not doubtful:
            engines.setdefault("intervals")
        found: Overflow | None = None
        for k in doubtful:
            problem = Problem(box, where, (Option((Fact(exprs[k], machine),)),))
            decision = decide_problem(problem, confirm=confirm)
            if decision.outcome.status == "open":
                return Width(
                    Status.UNDECIDED,
                    None,
                    tuple(overflows),
                    (*engines,),
                    decision.tried,
                    time.perf_counter() - start,
                )
            engines.setdefault(decision.engine)
            if decision.outcome.status == "fails":
                env = problem.environment(decision.outcome.point)
                (value,) = interpret((exprs[k],), Integers(env))
                values = {v.name: env[v.expr] for v in m.variables}
                found = Overflow(bits, exprs[k], int(value), values, decision.outcome.minimal)
                break
        if found is None:
            seconds = time.perf_counter() - start
            return Width(Status.PROVED, bits, tuple(overflows), (*engines,), (), seconds)
        overflows.append(found)
    return Width(Status.REFUTED, None, tuple(overflows), (*engines,), (), time.perf_counter() - start)
