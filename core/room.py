"""The machine integers that a map needs: whether a replacement stays within those of the original.

Overflow is a property of the steps of a program (:mod:`.codegen.program`).  A step is allowed if the input has it too,
or if its range fits the smallest type that sampled values of the input need.  All steps together must fit the type in
which intervals show that the input fits.  So the promise does not depend on the precision of intervals, and generated
code relies on it too.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, Final, TypeVar

from .codegen.program import WIDTHS, Program, domain_knowledge, fits, limits
from .expr import Expr, Integers, Var, interpret
from .indexing_map import IndexingMap
from .interval import Interval

T = TypeVar("T")

#: Number of points at which the input is sampled.
POINTS: Final = 96
#: Limit on passes of simplification; without a fixpoint the input is kept.  Nearly all maps need two.
PASSES: Final = 8
#: A width beyond that of any machine.
_NONE: Final = 1 << 16


class Room:
    """The widths of integers that a program needs on its domain."""

    def __init__(
        self,
        program: Program,
        bounds: Mapping[Any, Interval],
        known: Mapping[int, Interval],
        domain: Sequence[tuple[Expr, Interval]],
    ) -> None:
        self.program = program
        self.bounds = bounds
        self.domain = domain
        self.ranges = program.ranges(bounds, known)
        #: the width in which intervals show that nothing overflows
        self.bits = fits(self.ranges) or _NONE

    @classmethod
    def of_map(cls, m: IndexingMap) -> Room:
        """Return the room of a map: of its results, its constraints and the indices of its runtime sources."""
        program = Program.of_map(m)
        constraints = [(c.expr, Interval(c.lo, c.hi)) for c in m.constraints]
        return cls(program, m.bounds, domain_knowledge(m, program), constraints)

    @classmethod
    def of(
        cls, es: Sequence[Expr], bounds: Mapping[Var, Interval], constraints: Sequence[tuple[Expr, Interval]] = ()
    ) -> Room:
        """Return the room of expressions."""
        parts = [*es, *(e for e, _ in constraints)]
        variables = sorted({v for e in parts for v in e.variables()}, key=lambda v: v.name)
        return cls(Program.of(es, variables), bounds, {}, constraints)

    @cached_property
    def exprs(self) -> frozenset[Expr]:
        """The expressions that the steps of the program compute."""
        return frozenset(self.program.exprs(range(len(self.program.steps))).values())

    @cached_property
    def needed(self) -> int:
        """The smallest width that holds the values at sampled points: a lower bound of the width that is needed."""
        if self.bits == WIDTHS[0]:
            return self.bits
        variables = [s.leaf for s in self.program.steps[: self.program.inputs] if isinstance(s.leaf, Var)]
        boxes = [self.bounds.get(v) for v in variables]
        if any(b is None or math.inf in (-b.lo, b.hi) for b in boxes):
            return _NONE
        ends = [(int(b.lo), int(b.hi), int(b.lo + b.hi) // 2) for b in boxes if b is not None]
        chosen = random.Random(0)
        picks = [[0] * len(ends), [1] * len(ends)]
        picks += [[chosen.randrange(3) for _ in ends] for _ in range(POINTS)]
        exprs, least = list(self.exprs), WIDTHS[0]
        for pick in picks:
            at: dict[Expr, int] = {v: e[k] for v, e, k in zip(variables, ends, pick, strict=True)}
            try:
                inside = interpret([e for e, _ in self.domain], Integers(at))
                if all(x in i for x, (_, i) in zip(inside, self.domain, strict=True)):
                    values = interpret(exprs, Integers(at))
                    least = max(least, _width(min(values), max(values)))
            except ZeroDivisionError:
                continue
            if least >= self.bits:
                break
        return least

    @property
    def ends(self) -> tuple[int, int]:
        """The ends of the type with the width :attr:`needed`."""
        i = limits(self.needed)
        return int(i.lo), int(i.hi)

    def has_map(self, m: IndexingMap) -> bool:
        """Return whether ``m`` needs no wider integers."""
        return self.allows(Room.of_map(m))

    def allows(self, other: Room) -> bool:
        """Return whether the program of ``other`` needs no wider integers than this one."""
        if other.bits > self.bits:
            return False
        if other.bits <= WIDTHS[0] or other.bits <= self.needed:
            return True
        ends = limits(self.needed)
        wide = [k for k, r in enumerate(other.ranges) if not r.empty and not r.inside(ends)]
        return self.exprs.issuperset([e for k, e in other.program.exprs(wide).items() if k in set(wide)])


def _width(lo: int, hi: int) -> int:
    return next((bits for bits in WIDTHS if limits(bits).lo <= lo and hi <= limits(bits).hi), _NONE)


def at_rest(given: T, room_of: Callable[[T], Room], simplified: Callable[..., T]) -> T:
    """Simplify ``given`` without regard to integer widths, and return the result if it needs no wider integers.

    Otherwise call ``simplified`` with the room until a fixpoint; return ``given`` where none is reached.
    """
    seen = [given]
    while len(seen) <= PASSES:
        now = seen[-1]
        after = simplified(now)
        made = room_of(after)
        # most results fit the smallest type, so the room of the input need not be computed
        if made.bits == WIDTHS[0]:
            return after
        room = room_of(now)
        if room.allows(made):
            return after
        after = simplified(now, room)
        if after == now:
            return now
        if after in seen:
            break
        seen.append(after)
    return given


def widening(before: IndexingMap, after: IndexingMap) -> str:
    """Return a note where ``after`` needs, or may need, wider integers than ``before``; empty otherwise."""
    given, made = Room.of_map(before), Room.of_map(after)
    if made.bits <= given.bits:
        return ""
    sure = made.needed > given.bits
    what = "integers wider than int64" if made.bits == _NONE else f"int{made.bits}"
    return f"{'needs' if sure else 'may need'} {what} where the input fits int{given.bits}"
