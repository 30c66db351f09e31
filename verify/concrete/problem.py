"""The common form of concrete questions, and their answers.

A :class:`Problem` states: *for all integers in a box that satisfy some facts, at least one option holds*.  An
option is a conjunction of facts ``expr in [lo, hi]``, possibly with existentially quantified unknowns in boxes of
their own:

    for all  x in box  with  where(x):   option_1(x)  or  option_2(x)  or ...      option_j(x) = exists y:
    facts_j(x, y)

Equality of expressions is one option per statement, emptiness is a problem without options, inclusion of
relations has the ranges of the larger relation as unknowns.  With literal divisors and no products this is
Presburger arithmetic.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple

from ...core.display import Shown
from ...core.errors import IndexproofError
from ...core.expr import Expr, ExprLike, FloorDiv, Int, Integers, Sum, Var, interpret, postorder, substitute_all
from ...core.indexing_map import IndexingMap
from ...core.interval import Interval, is_infinite
from ...core.points import Magnitude
from ..verdict import Status
from .equations import parts, span, whole

#: Values of the problem's variables, in the order of :attr:`Problem.variables`.
Point = tuple[int, ...]
Box = tuple[tuple[Var, Interval], ...]


class Fact(NamedTuple):
    """The statement that ``expr`` lies in ``within``, whose ends may be infinite."""

    expr: Expr
    within: Interval

    def __str__(self) -> str:
        lo, hi = self.within
        return f"{self.expr} = {lo}" if lo == hi else f"{self.expr} in {self.within}"


def substituted(facts: Iterable[Fact], mapping: Mapping[Any, ExprLike]) -> list[Fact]:
    """Return the facts with ``mapping`` applied to their expressions."""
    chosen = list(facts)
    moved = substitute_all([f.expr for f in chosen], mapping)
    return [Fact(e, f.within) for e, f in zip(moved, chosen, strict=True)]


@dataclass(frozen=True, slots=True)
class Option:
    """A disjunct of a problem's claim: there are ``unknowns`` in their boxes for which all facts hold.

    ``guesses`` are candidate expressions for the unknowns.  A guess that satisfies the facts proves the option; a
    wrong guess refutes nothing.
    """

    facts: tuple[Fact, ...]
    unknowns: Box = ()
    guesses: tuple[tuple[Expr, ...], ...] = ()

    def variables(self) -> set[Var]:
        """Return the variables in its facts."""
        return {v for f in self.facts for v in f.expr.variables()}

    def guessed(self) -> Iterator[Option]:
        """Yield a sufficient option without unknowns for each guess, or the option itself if it has no unknowns."""
        if not self.unknowns:
            yield self
            return
        for guess in self.guesses:
            chosen = {v: e for (v, _), e in zip(self.unknowns, guess, strict=True)}
            inside = [Fact(e, box) for (_, box), e in zip(self.unknowns, guess, strict=True)]
            yield Option((*inside, *substituted(self.facts, chosen)))

    def substituted(self, mapping: Mapping[Any, ExprLike]) -> Option:
        """Return the option with ``mapping`` applied to facts and guesses."""
        guesses = tuple(tuple(substitute_all(guess, mapping)) for guess in self.guesses)
        return Option(tuple(substituted(self.facts, mapping)), self.unknowns, guesses)


@dataclass(frozen=True, slots=True)
class Problem:
    """The claim that for all ``variables`` in their boxes with ``where`` some option holds; without options, false."""

    variables: Box
    where: tuple[Fact, ...] = ()
    options: tuple[Option, ...] = ()

    def exprs(self) -> list[Expr]:
        """Return the expressions of all facts."""
        return [f.expr for f in self.where] + [f.expr for o in self.options for f in o.facts]

    @property
    def words(self) -> int:
        """The number of 64-bit words that hold every intermediate value; infinite bounds are ignored."""
        unknowns = (u for o in self.options for u in o.unknowns)
        largest = {
            v: max((int(abs(x)) for x in i if not is_infinite(x)), default=0) for v, i in (*self.variables, *unknowns)
        }
        magnitude = Magnitude(largest)
        interpret(self.exprs(), magnitude)
        return 1 + magnitude.peak.bit_length() // 64

    def environment(self, point: Point) -> dict[Expr, int]:
        """Return ``point`` as an assignment."""
        return {v: x for (v, _), x in zip(self.variables, point, strict=True)}

    def simplified(self) -> tuple[Problem, dict[Var, int]] | None:
        """Return an equivalent smaller problem and the values of eliminated variables; ``None`` if ``where`` is false.

        Facts about sums of variables narrow boxes, variables with one value are substituted, and unused variables
        are fixed at their smallest value, so that a minimal counterexample stays minimal.
        """
        box = dict(self.variables)
        where, options = list(self.where), list(self.options)
        fixed: dict[Var, int] = {}
        while True:
            kept: list[Fact] = []
            where = [_without_quotient(f) for f in where]
            where = _with_digits(where, box)
            _narrow_sums(where, box)
            for f in where:
                narrowed = _narrowed(f, box)
                if narrowed is not None:
                    box[narrowed[0]] &= narrowed[1]
                elif not isinstance(f.expr, Int):
                    kept.append(f)
                elif not f.within.lo <= f.expr.value <= f.within.hi:
                    return None
            where = kept
            if any(i.empty for i in box.values()):
                return None
            single = {v: i.constant for v, i in box.items() if i.constant is not None}
            if not single:
                break
            fixed.update(single)
            for v in single:
                del box[v]
            where, options = substituted(where, single), [o.substituted(single) for o in options]
        # drop facts that the box implies: their variable may then be unused
        digits = [_with_digits(o.facts, {**box, **dict(o.unknowns)}) for o in options]
        options = [
            replace(o, facts=tuple(f for f in facts if not _implied(f, box)))
            for o, facts in zip(options, digits, strict=True)
        ]
        used = {n for n in postorder(*Problem((), tuple(where), tuple(options)).exprs()) if isinstance(n, Var)}
        unused = {v: smallest(i) for v, i in box.items() if v not in used}
        fixed.update(unused)
        options = [o.substituted(unused) if o.guesses else o for o in options]  # guesses may mention them
        return Problem(tuple((v, i) for v, i in box.items() if v in used), tuple(where), tuple(options)), fixed

    def restored(self, values: Mapping[Var, int]) -> Point:
        """Return a point with these values; other variables have their smallest value."""
        return tuple(values[v] if v in values else smallest(i) for v, i in self.variables)

    def violated_by(self, point: Point) -> bool | None:
        """Return whether ``point`` evaluates to a counterexample, or ``None`` if unknowns have too many values."""
        env = self.environment(point)
        if any(x not in i for x, (_, i) in zip(point, self.variables, strict=True)):
            return False
        if not _all_hold(self.where, env):
            return False
        unsure = False
        for option in self.options:
            if size(option.unknowns) > 4096:
                unsure = True
                continue
            # compute subexpressions without unknowns once
            facts = substituted(option.facts, env)
            names = [v for v, _ in option.unknowns]
            for values in itertools.product(*(range(int(i.lo), int(i.hi) + 1) for _, i in option.unknowns)):
                if _all_hold(facts, dict(zip(names, values, strict=True))):
                    return False
        return None if unsure else True

    def __str__(self) -> str:
        def box(variables: Box) -> str:
            return ", ".join(f"{v} in {i}" for v, i in variables) or "nothing"

        lines = [f"for all {box(self.variables)}"]
        lines += [f"  with  {f}" for f in self.where]
        if not self.options:
            lines.append("  false")
        for option in self.options:
            chosen = f"exists {box(option.unknowns)}: " if option.unknowns else ""
            lines.append(f"  {chosen}{' and '.join(map(str, option.facts)) or 'true'}")
        return "\n".join(lines)


def _narrowed(f: Fact, box: Mapping[Var, Interval]) -> tuple[Var, Interval] | None:
    """Return the variable and its implied interval if ``f`` is about a single variable, else ``None``."""
    if isinstance(f.expr, Var):
        return (f.expr, f.within) if f.expr in box else None
    if not isinstance(f.expr, Sum) or len(f.expr.terms) != 1:
        return None
    v, k = f.expr.terms[0]
    if not isinstance(v, Var) or v not in box:
        return None
    return v, preimage(f.within, k, f.expr.const)


def _implied(f: Fact, box: Mapping[Var, Interval]) -> bool:
    return isinstance(f.expr, Var) and f.expr in box and box[f.expr].inside(f.within)


def _with_digits(where: Sequence[Fact], box: Mapping[Var, Interval]) -> list[Fact]:
    """Replace equations between mixed-radix numbers by equations between their digits."""
    zero = Interval(0, 0)
    equations = [f.expr - int(f.within.lo) for f in where if f.within.lo == f.within.hi]
    if not equations:
        return list(where)
    digits = [e for whole_ in whole(equations, box) for e in parts(whole_, box)]
    if digits == equations:
        return list(where)
    return [f for f in where if f.within.lo != f.within.hi] + [Fact(e, zero) for e in digits]


def _without_quotient(f: Fact) -> Fact:
    """Turn ``e // c in [lo, hi]`` for ``c > 0`` into a fact about ``e``."""
    while isinstance(f.expr, FloorDiv) and isinstance(f.expr.b, Int) and f.expr.b.value > 0:
        f = Fact(f.expr.a, dividends(f.within, f.expr.b.value))
    return f


#: Limit on the rounds of narrowing, since a round may remove a single value from a large box.
_NARROWED = 6


def _narrow_sums(where: Sequence[Fact], box: dict[Var, Interval]) -> None:
    """Narrow boxes by facts about sums of variables, in place."""
    sums = [(f.expr, f.within) for f in where if isinstance(f.expr, Sum) and all(v in box for v, _ in f.expr.terms)]
    for _ in range(_NARROWED):
        before = dict(box)
        for e, within in sums:
            for v, k in e.terms:
                rest = span(e.const, [(x, j) for x, j in e.terms if x is not v], box)
                if not box[v].empty and not rest.empty:  # type: ignore[index]
                    box[v] &= preimage(within.plus(rest.scale(-1)), k, 0)  # type: ignore[index]
        if box == before:
            return


def preimage(within: Interval, k: int, const: int) -> Interval:
    """Return the integers ``x`` with ``k·x + const`` in ``within``, for ``k ≠ 0``."""
    lo, hi = within if k > 0 else (within.hi, within.lo)
    least = -math.inf if is_infinite(lo) else -((const - lo) // k) if k > 0 else -((lo - const) // -k)
    most = math.inf if is_infinite(hi) else (hi - const) // k
    return Interval(least, most)


def dividends(within: Interval, c: int) -> Interval:
    """Return the integers ``x`` with ``x // c`` in ``within``, for ``c > 0``."""
    return within.scale(c).plus(Interval(0, c - 1))


def size(box: Box) -> int | float:
    """Return the number of points of a box."""
    sizes = [i.size for _, i in box]
    return 0 if 0 in sizes else math.inf if math.inf in sizes else math.prod(sizes)


def _all_hold(facts: Sequence[Fact], env: Mapping[Expr, int]) -> bool:
    return all(interpret([f.expr], Integers(env))[0] in f.within for f in facts)


def smallest(i: Interval) -> int:
    """Return the member of smallest magnitude, the positive one of two."""
    if i.lo <= 0 <= i.hi:
        return 0
    return int(i.lo) if i.lo > 0 else int(i.hi)


def counterexample_order(point: Point) -> tuple[object, ...]:
    """Return a sort key: total magnitude, then the magnitudes in order, then positive before negative."""
    sizes = tuple(abs(x) for x in point)
    return sum(sizes), sizes, tuple(-x for x in point)


class Outcome(NamedTuple):
    """The answer of one engine: ``holds``, ``fails`` with a point, or ``open`` with the reason."""

    status: Literal["holds", "fails", "open"]
    point: Point = ()
    #: Whether no counterexample comes before ``point`` in :func:`counterexample_order`.
    minimal: bool = True
    note: str = ""


HOLDS = Outcome("holds")


@dataclass(frozen=True, slots=True)
class Counterexample(Shown):
    """A point where a claim is false.

    ``values`` maps names of variables to their values.  ``left`` and ``right`` are the two results at the point;
    ``None`` means that the point lies outside the domain of that side or its relation lacks the pair.
    ``reason`` is one sentence for readers.  ``minimal`` states that no counterexample has a smaller total magnitude;
    for a map with parameters, that there is none for sizes of a smaller sum, and none smaller for these sizes.
    """

    values: dict[str, int]
    left: tuple[int, ...] | None = None
    right: tuple[int, ...] | None = None
    reason: str = ""
    minimal: bool = True

    def subterms(self, *exprs: Expr) -> list[tuple[Expr, int]]:
        """Return every subexpression of ``exprs`` except literals with its value at this point, children first."""
        values: dict[Expr, int] = {}
        interpret(exprs, Integers(self.values), values)
        return [(e, int(x)) for e, x in values.items() if not isinstance(e, Int)]

    def __str__(self) -> str:
        at = ", ".join(f"{n} = {x}" for n, x in self.values.items())
        return f"{self.reason} at {at}" if at else self.reason


@dataclass(frozen=True, slots=True)
class Answer(Shown):
    """The verdict on a concrete question.

    ``engine`` decided it, and ``tried`` lists the answers of all engines in order.  ``confirmed_by`` names the
    independent engine that reached the same verdict, if confirmation was requested.  ``seconds`` is information
    only: no verdict depends on it.  For a question of equality, ``sides`` are the two maps and ``mode`` is the
    kind of equality: of relations, or pointwise.
    """

    verdict: Status
    engine: str = ""
    tried: tuple[str, ...] = ()
    counterexample: Counterexample | None = None
    seconds: float = field(default=0.0, compare=False)
    confirmed_by: str = ""
    sides: tuple[IndexingMap, IndexingMap] | None = field(default=None, compare=False, repr=False)
    mode: str = ""

    def __str__(self) -> str:
        from ..words import answer_text

        return answer_text(self)

    @property
    def proved(self) -> bool:
        """Whether the claim holds."""
        return self.verdict is Status.PROVED


class EngineDisagreement(IndexproofError):
    """Two engines contradict each other, which is always a bug.  The message states the problem."""

    def __init__(self, problem: Problem, first: str, one: Outcome, second: str, other: Outcome) -> None:
        self.problem = problem
        names = [str(v) for v, _ in problem.variables]

        def said(engine: str, outcome: Outcome) -> str:
            at = ", ".join(f"{n} = {x}" for n, x in zip(names, outcome.point, strict=False))
            return f"{engine}: {outcome.status}" + (f" at {at}" if at else "")

        super().__init__(f"engines disagree\n{said(first, one)}\n{said(second, other)}\n{problem}")
