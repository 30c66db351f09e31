"""Small domains to which both rules of an overlap of constraint rules apply, and those that have two normal forms.

Variables of the rules become short expressions over ``a`` and ``b``, constants inside expressions small numbers that
satisfy what is known of them, and bounds what lies on, within and beyond the ends of what the expression may be, because
that is where rules for bounds differ.  Once expressions and boxes are chosen, the ends of every expression are numbers, so
what both rules and their strategies ask of bounds (:func:`.constraint_posed.posed`) is asked of all of them at once, and
only bounds to which both rules may apply are tried.  A constraint on a variable is written as one and, besides, as the
box of that variable.  Where all of these join, others are drawn (:mod:`.wide`), and one that has two normal forms is made
smaller.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...core.condition import FALSE, TRUE, Condition
from ...core.constraint_order import Bound
from ...core.expr import (
    Expr,
    FloorDiv,
    Int,
    Max,
    Min,
    Mod,
    Sum,
    Var,
    integer,
    maximum,
    minimum,
    postorder,
    rebuild,
    var,
)
from ...core.rewrite import ConstraintRule, Rule
from ..refute import failing_points
from .constraint_overlap import ConstraintOverlap
from .constraint_posed import Posed
from .domains import Domain, DomainMove, Domains
from .drawn import SEED, drawn_numbers
from .ground import Exact
from .instances import assignments
from .rewriting import Examined, Trial
from .unify import flat, tidy
from .wide import APART

__all__ = ["DomainExamination", "domain_instances"]

_A, _B = var("a"), var("b")
_EXPRS: tuple[Expr, ...] = (
    _A,
    _A + _B,
    _A * 2 + _B,
    -_A,
    _A * 2,
    _A + 1,
    _A - _B,
    3 - _A,
    _A // 2,
    _A % 3,
    4 - _A * 2 - _B,
    _B,
    minimum(_A, _B),
    _A * 3,
    maximum(_A + _B, _A),
    _A // 2 + _A,
    _A * 2 - _B + 1,
    _A + _B + 1,
    _A // 2 + _B,
    minimum(_A * 2, _B * 2),
    -_A - _B,
)
_RESTS: tuple[Expr, ...] = (
    _B,
    integer(0),
    _A,
    _B * 2,
    -_B,
    _A // 2,
    _A + _B,
    _A % 3,
    _B + 1,
    _A * 2 + _B,
    _A // 2 + _B,
)
_BOXES: tuple[tuple[tuple[int, int], tuple[int, int]], ...] = (
    ((0, 3), (0, 1)),
    ((0, 5), (0, 3)),
    ((-3, 3), (0, 1)),
    ((0, 1), (0, 1)),
    ((1, 4), (-1, 2)),
    ((0, 9), (0, 3)),
    ((0, 7), (0, 7)),
)
#: Boxes of what is drawn, and numbers for coefficients, constants and divisors of the expressions.
_WIDE_BOXES: tuple[tuple[tuple[int, int], tuple[int, int]], ...] = (
    ((0, 11), (0, 5)),
    ((0, 23), (0, 2)),
    ((-6, 6), (0, 3)),
    ((0, 7), (-3, 4)),
    ((1, 12), (-1, 2)),
    ((0, 3), (0, 15)),
    ((0, 35), (0, 1)),
    ((-9, 2), (-2, 2)),
)
_WIDE_FACTORS = (1, 1, 1, 2, 3, 4, 6, -1, -2, 0)
_WIDE_SHIFTS = (0, 0, 0, 1, -1, 2)
_WIDE_DIVISORS = (2, 3, 4)
#: Numbers for constants in expressions.
_NUMBERS = (2, 3, -1, 4, 6, -2, 1, 8, -3, 5, 0)
#: Where a lower bound lies, from the least value of an expression or (second) from the greatest; an upper bound the
#: other way round.
_ENDS = ((1, False), (0, False), (-1, False), (2, False), (0, True), (3, False), (-2, False), (1, True))
#: Counts: choices of expressions and of numbers; of expressions that have a constant; of both and of boxes, the nearest
#: and others; choices of bounds that are carried on, and kept for each choice; domains that are kept; the smallest, which
#: come first; smaller ones that are tried besides one that has two normal forms; those on which both rules are tried;
#: those with two results that are rewritten.
_CHOSEN = 60
_ASSIGNED = 16
_SHIFTED = 8
_NEAR = 140
_FAR = 220
_GRID = 6_000
_FEW = 8
_KEPT = 1_200
_EARLY = 16
_SMALLER = 60
_SCANNED = 600
REWRITTEN = 120
#: Where so many reach too much, others would too.
_GIVEN_UP = 3
#: Of what is drawn: domains for each choice of expressions, and domains in all.
_EACH = 3
_DRAWN = 2_000
#: A prime above the number of choices of all three.
_STEP = 100_003
#: A set of domains in which so much was rewritten is begun anew.
_REMEMBERED = 150_000


@dataclass(frozen=True)
class Found:
    """A domain, and what of it was chosen: instances of a kind are tried in turns."""

    domain: Domain
    group: tuple[int, ...]


def _ordered(lists: Sequence[Sequence[Expr]], limit: int) -> list[tuple[Expr, ...]]:
    """Choices of one member of each list, those of small numbers first."""
    most = max((len(of) for of in lists), default=0) - 1
    out: list[tuple[Expr, ...]] = []
    for total in range(most * len(lists) + 1):
        for index in _summing([len(of) for of in lists], total):
            out.append(tuple(of[i] for i, of in zip(index, lists, strict=True)))
            if len(out) >= limit:
                return out
    return out or [()]


def _summing(sizes: Sequence[int], total: int) -> Iterator[tuple[int, ...]]:
    if not sizes:
        if total == 0:
            yield ()
        return
    for first in range(min(sizes[0] - 1, total) + 1):
        for rest in _summing(sizes[1:], total - first):
            yield (first, *rest)


def domain_instances(cases: Sequence[Posed]) -> list[Found]:
    """Domains of the form of the overlap in one of these cases, smallest first.

    Whether both rules apply is for the rules to say.
    """
    found: dict[Domain, Found] = {}
    for number, p in enumerate(cases):
        _Choices(p, number).into(found, _KEPT * (number + 1) // len(cases))
    return sorted(found.values(), key=lambda f: f.domain.rank)


def _numbered(numbers: Sequence[Var], known: Sequence[Condition]) -> Iterator[dict[Var, Expr]]:
    """Small numbers that satisfy what is known, those that come first in their list first."""
    if not numbers:
        return
    index = np.indices((len(_NUMBERS),) * min(len(numbers), 4)).reshape(min(len(numbers), 4), -1).T
    index = index[np.argsort(index.sum(axis=1), kind="stable")]
    grid = np.array(_NUMBERS, dtype=np.int64)[index]
    if len(numbers) > 4:
        grid = np.hstack([grid, np.tile(grid[:, :1], len(numbers) - 4)])
    for c in known:
        grid = failing_points(grid, numbers, (c,), FALSE)
    for row in grid[:_ASSIGNED]:
        yield {v: integer(int(n)) for v, n in zip(numbers, row, strict=True)}


def _expression(generator: np.random.Generator, rest: bool) -> Expr:
    """An expression over ``a`` and ``b``; the rest of a sum is often nothing."""

    def of(pool: Sequence[int]) -> int:
        return pool[int(generator.integers(len(pool)))]

    kind = generator.random()
    if rest and kind < 0.4:
        return integer(0)
    e = _A * of(_WIDE_FACTORS) + _B * of(_WIDE_FACTORS) + of(_WIDE_SHIFTS)
    if kind < 0.8:
        return e
    return e // of(_WIDE_DIVISORS) if kind < 0.9 else e % of(_WIDE_DIVISORS)


class _Choices:
    """The domains of one case."""

    def __init__(self, p: Posed, number: int) -> None:
        self.number = number
        self.start = p.overlap.start
        assert p.ranges is not None
        for b in self.start:
            p.ranges.of(b.e)
        self.ends = p.ranges.symbols()
        inside = {v: None for b in self.start for v in b.e.variables()}
        self.loose = [v for v in inside if v.kind != "const"]
        self.numbers = [v for v in inside if v.kind == "const"]
        self.given = [h for h in p.given if h != TRUE]
        self.facts: dict[tuple[tuple[int, int], ...], Exact] = {}

    def into(self, found: dict[Domain, Found], limit: int) -> None:
        """Add domains until there are so many."""
        known = self._known()
        divisors = {
            v
            for b in self.start
            for n in postorder(b.e)
            if isinstance(n, (FloorDiv, Mod))
            for v in n.b.variables()
        }
        # some that are neither large nor special, and the smallest and the least special
        made = [
            *_numbered(self.numbers, known),
            *(at for at, _ in assignments(self.numbers, known, divisors)),
        ]
        assigned = [dict(at) for at in dict.fromkeys(tuple(at.items()) for at in made)]
        chosen = _ordered([_RESTS if v.kind == "rest" else _EXPRS for v in self.loose], _CHOSEN)
        # with a constant everywhere
        chosen += [tuple(e + 1 for e in of) for of in chosen[:_SHIFTED]]
        kinds = itertools.product(range(len(assigned)), range(len(chosen)), range(len(_BOXES)))
        small = sorted(kinds, key=lambda of: (of[0] + of[1] + of[2], of))
        # the first ones of each list, and then of all kinds some
        far = small[_NEAR:]
        spread = (far[i * _STEP % len(far)] for i in range(min(len(far), _FAR)))
        for n, k, m in (*small[:_NEAR], *spread):
            if len(found) >= limit:
                return
            values = {**assigned[n], **dict(zip(self.loose, chosen[k], strict=True))}
            for d in self._written(values, _BOXES[m]):
                found.setdefault(d, Found(d, (self.number, n, k, m)))

    def _known(self) -> list[Condition]:
        """What is known of the constants of expressions alone."""
        mine = set(self.numbers)
        return [h for h in self.given if set(h.variables()) <= mine]

    def drawn(self) -> Iterator[Domain]:
        """Domains with constants, expressions and boxes that are drawn, in the order in which they are."""
        generator = np.random.default_rng(SEED + self.number)
        for row in drawn_numbers(self.numbers, self._known(), generator):
            values: dict[Var, Expr] = {v: integer(n) for v, n in zip(self.numbers, row, strict=True)}
            values |= {v: _expression(generator, v.kind == "rest") for v in self.loose}
            box = _WIDE_BOXES[int(generator.integers(len(_WIDE_BOXES)))]
            yield from itertools.islice(self._written(values, box), _EACH)

    def _written(self, values: Mapping[Var, Expr], box: tuple[tuple[int, int], ...]) -> Iterator[Domain]:
        """The domains with these values of the variables in expressions, on one box."""
        try:
            expressions = [tidy(b.e.substitute(values)) for b in self.start]
            ends = [(lo, hi, tidy(e.substitute(values))) for e, lo, hi in self.ends]
        except ZeroDivisionError:
            return
        used = {v for e in expressions for v in e.variables()}
        if not used or any(v.kind for v in used):
            return
        boxes = {v: b for v, b in zip((_A, _B), box, strict=True) if v in used}
        facts = self.facts.get(box)
        if facts is None:
            facts = self.facts[box] = Exact(dict(zip((_A, _B), box, strict=True)))
        if any(facts.values(e) is None or facts.undefined for e in expressions):
            del self.facts[box]
            return
        at: dict[Var, int] = {v: e.value for v, e in values.items() if isinstance(e, Int)}
        at |= {
            var(f"{v}∘", "const"): c.value for v, e in values.items() if isinstance(c := flat(e).const, Int)
        }
        for lo, hi, e in ends:
            if all(not v.kind for v in e.variables()):
                of = facts.range(e).interval
                at[lo], at[hi] = int(of.lo), int(of.hi)
        numbers: dict[Var, Expr] = {**values, **{v: integer(n) for v, n in at.items()}}
        try:
            known = [held for h in self.given if (held := h.substitute(numbers)) != TRUE]
        except ZeroDivisionError:
            return
        if any(not _possible(c, facts) for c in known):
            return
        known = self._of_bounds(known, facts)
        for gone in ((), *((n,) for n, e in enumerate(expressions) if isinstance(e, Var))):
            for ends_of in self._bounds(expressions, gone, at, boxes, facts, known):
                made: list[Bound] = []
                for n, (b, e) in enumerate(zip(self.start, expressions, strict=True)):
                    if n not in gone:
                        made.append((e, *(x.evaluate({**at, **ends_of}) for x in (b.lo, b.hi))))
                yield Domain.of(boxes, made)

    def _of_bounds(self, known: Sequence[Condition], facts: Exact) -> list[Condition]:
        """What is asked of bounds, where what expressions may be is known."""
        return [c for c in known if all(v.kind == "const" for v in c.variables())]

    def _bounds(
        self,
        expressions: Sequence[Expr],
        gone: Sequence[int],
        at: Mapping[Var, int],
        boxes: Mapping[Var, tuple[int, int]],
        facts: Exact,
        known: Sequence[Condition],
    ) -> list[dict[Var, int]]:
        """Values for the bounds with which everything that is known of them holds, of all kinds some."""
        fixed: dict[Var, int] = {}
        choices: dict[Var, list[int]] = {}
        for n, (b, e) in enumerate(zip(self.start, expressions, strict=True)):
            if n in gone:
                assert isinstance(e, Var)
                for x, end in zip((b.lo, b.hi), boxes[e], strict=True):
                    if not isinstance(x, Var) or at.get(x, fixed.get(x, end)) != end:
                        return []
                    fixed[x] = end
                continue
            of = facts.range(e).interval
            lo, hi = int(of.lo), int(of.hi)
            for x, less, more, way in ((b.lo, lo, hi, 1), (b.hi, hi, lo, -1)):
                for v in x.variables():
                    if v not in at:
                        near = [(more if far else less) + way * k for k, far in _ENDS]
                        near.insert(2, (lo + hi) // 2)
                        choices.setdefault(v, list(dict.fromkeys(near)))
        order = list(fixed)
        grid = np.array([[fixed[v] for v in order]], dtype=np.int64).reshape(1, len(order))
        open_ = list(known)
        for new in (None, *(v for v in choices if v not in fixed)):
            if new is not None:
                some = np.array(choices[new], dtype=np.int64)
                count = len(grid)
                grid = np.hstack([np.repeat(grid, len(some), axis=0), np.tile(some, count).reshape(-1, 1)])
                order.append(new)
            for c in [c for c in open_ if set(c.variables()) <= set(order)]:
                open_.remove(c)
                grid = failing_points(grid, order, (c,), FALSE)
            if not len(grid):
                return []
            grid = grid[:: max(1, len(grid) // _GRID)]
        return [dict(zip(order, map(int, row), strict=True)) for row in self._rows(grid)]

    def _rows(self, grid: np.ndarray[Any, Any]) -> Sequence[np.ndarray[Any, Any]]:
        """Some choices of bounds: the first, and some of all kinds."""
        return [*grid[: _FEW // 2], *grid[:: max(1, len(grid) // (_FEW // 2))]][:_FEW]


def _possible(c: Condition, facts: Exact) -> bool:
    """Whether nothing that is known already excludes a condition."""
    if c == FALSE:
        return False
    return any(v.kind for v in c.variables()) or facts.holds(c)


class DomainExamination:
    """Rewrites instances, smallest first and then some of every kind, until one of them has two normal forms."""

    def __init__(self, o: ConstraintOverlap, cases: Sequence[Posed], domains: Domains) -> None:
        if domains.remembered > _REMEMBERED:
            domains.forget()
        self.cases = cases
        self.found = domain_instances(cases)
        self.trial = _DomainTrial(o, domains)
        self.waiting = _turns(self.found)

    def until(self, limit: int = REWRITTEN) -> Examined[Domain, DomainMove]:
        """What is known when so many with different results were rewritten, or there are no more."""
        trial = self.trial
        while trial.found is None and trial.apart < limit and len(trial.seen) < _SCANNED:
            if trial.given_up >= _GIVEN_UP:
                break
            f = next(self.waiting, None)
            if f is None:
                break
            if trial.witness(f.domain):
                # smaller ones, of the same expressions first
                small = [g for g in self.found if g.domain.rank < f.domain.rank]
                small.sort(key=lambda g: (g.group[:3] != f.group[:3], g.domain.rank))
                for g in small[:_SMALLER]:
                    if trial.witness(g.domain):
                        break
        return trial.examined()

    def wide(self, limit: int = APART) -> Examined[Domain, DomainMove]:
        """What is known when so many more with different results were rewritten that were drawn."""
        trial = self.trial
        apart, given_up, looked = trial.apart + limit, trial.given_up + _GIVEN_UP, len(trial.seen) + _DRAWN
        for number, p in enumerate(self.cases):
            share = apart - limit * (len(self.cases) - 1 - number) // len(self.cases)
            for d in _Choices(p, number).drawn():
                if trial.apart >= share or trial.given_up >= given_up or len(trial.seen) >= looked:
                    break
                if trial.witness(d):
                    trial.shrink(d, smaller_domains, lambda e: e, _SMALLER)
                    return trial.examined()
        return trial.examined()


def smaller_domains(d: Domain) -> Iterator[Domain]:
    """Domains that have a simpler expression everywhere where this one has another, a smaller box or a smaller bound."""
    expressions = [e for e, _, _ in d.constraints]
    boxes = dict(d.boxes)
    for node in dict.fromkeys(reversed(postorder(*expressions))):
        for new in _simpler(node):
            try:
                made = [tidy(e.substitute({node: new})) for e in expressions]
            except ZeroDivisionError:
                continue
            inside = {v for e in made for v in e.variables()}
            bounds = [(e, lo, hi) for e, (_, lo, hi) in zip(made, d.constraints, strict=True)]
            yield Domain.of({v: b for v, b in boxes.items() if v in inside}, bounds)
    for v, (lo, hi) in d.boxes:
        width = hi - lo
        ends = [(0, width)] if lo else []
        ends += [(lo, lo + n) for n in dict.fromkeys((1, 2, 3, width // 2, width - 1)) if 0 < n < width]
        for end in ends:
            yield Domain.of({**boxes, v: end}, d.constraints)
    for n, (e, lo, hi) in enumerate(d.constraints):
        others = (
            (lo, lo),
            (hi, hi),
            (0, hi),
            (lo, 0),
            (lo, 1),
            (lo + 1, hi),
            (lo, hi - 1),
            (lo // 2, hi),
            (lo, hi // 2),
        )
        for least, most in dict.fromkeys(others):
            if least <= most and (least, most) != (lo, hi):
                yield Domain.of(boxes, [*d.constraints[:n], (e, least, most), *d.constraints[n + 1 :]])


def _simpler(e: Expr) -> Iterator[Expr]:
    """Expressions that may stand where this one does and are smaller."""
    if isinstance(e, Sum):
        yield from (t * k for t, k in e.terms)
        if e.const:
            yield e - e.const
        for t, k in e.terms:
            yield e - t * k
            yield from (e - t * (k - n) for n in (1, 2, -1) if abs(n) < abs(k) or n == -k)
    elif isinstance(e, (FloorDiv, Mod)):
        yield e.a
        if isinstance(e.b, Int):
            yield from (rebuild(e, (e.a, integer(n))) for n in (2, 3, e.b.value - 1) if 1 < n < e.b.value)
    elif isinstance(e, (Min, Max)):
        yield from e.args
    elif isinstance(e, Var):
        yield integer(0)


def _turns(found: Sequence[Found]) -> Iterator[Found]:
    """The smallest, then of every choice of expressions, numbers and boxes one after the other."""
    yield from found[:_EARLY]
    groups: dict[tuple[int, ...], list[Found]] = {}
    for f in found[_EARLY:]:
        groups.setdefault(f.group, []).append(f)
    waiting = [of for _, of in sorted(groups.items(), key=lambda g: (sum(g[0]), g[0]))]
    while waiting:
        for of in waiting:
            yield of.pop(len(of) // 2)
        waiting = [of for of in waiting if of]


class _DomainTrial(Trial[Domain, DomainMove]):
    """Rewrites instances of an overlap of constraint rules."""

    def __init__(self, o: ConstraintOverlap, domains: Domains) -> None:
        super().__init__()
        self.o = o
        self.domains = domains

    def both(self, i: Domain) -> tuple[Domains, list[tuple[DomainMove, DomainMove]]]:
        """Steps of both rules that have constraints in common as the overlap says."""
        o, domains = self.o, self.domains
        # a rule for expressions applies less often
        second: tuple[DomainMove, ...] = ()
        if isinstance(o.inner, Rule):
            second = tuple(domains.inside(i, o.inner))
            if not second:
                return domains, []
        first = tuple(domains.applied(o.outer, i))
        if first and isinstance(o.inner, ConstraintRule):
            second = tuple(domains.applied(o.inner, i))
        met = [(x, y) for x in first for y in second if all(x.used[n] == y.used[k] for n, k in o.shared)]
        return domains, met
