"""Instances that hide something from the rules: what symbols, and the strategies of rules, take for summands are none.

Where two results meet with symbols, or in all instances that were drawn, four things may still keep them apart:

- *A summand inside an extremum.*  ``t`` and ``max(t, t + e) - t`` together show no ``t``.  So where a step makes ``t``, and
  a rule for one of the results wants to see it, the other result may be all there is.
- *Nothing.*  ``(3·t) mod 2 - t mod 2`` is nothing, and no rule sees it.  A strategy that looks how far the rest of a sum
  reaches leaves it out on the one side; on the other, where nothing has a factor in common, it stays.
- *A sum that is constant.*  ``t mod 2 + (t + 1) mod 2`` is one; with factors of its own for each summand it is not, and a
  strategy that rounds factors to multiples of a divisor may propose another quotient.
- *A quotient or a dividend that a step makes a summand.*  It may be among the summands already, so that its factor is
  no multiple of what a rule wants.

Both rules must still apply; that is for them to say.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...core.condition import Condition, Divides
from ...core.expr import Expr, FloorDiv, Int, Mod, Sum, Var, maximum, mul, postorder
from ...core.rewrite import ConstraintRule, Rule
from .collisions import instance_on, summands_of
from .constraint_further import _Further, smaller_further
from .constraint_instances import _DomainTrial
from .constraint_overlap import ConstraintOverlap
from .constraint_posed import Posed
from .domains import Domain, DomainMove, Domains
from .drawn import SEED, DrawnCase, drawn_numbers
from .draws import HIDING, HIDING_BOXES, SMALL, Pick, drawn_values
from .further import smaller_instances
from .ground import Ground, Move
from .instances import ExpressionTrial, Instance
from .overlap import Overlap
from .rewriting import Examined, Patience
from .unify import expanded, flat, tidy

__all__ = ["examine_hiding", "examine_hiding_domains", "pieces"]

#: Counts: rewritings from one instance; smaller instances of one that has two normal forms.
_LIMIT = 900
_SMALLER = 200
#: Domains with the same expressions that differ in bounds; summands that are hidden.
_EACH = 3
_SUMMANDS = 8


class _Effort(NamedTuple):
    """Draws; of these, so many to which both rules apply; changes of each, and of those again; patience with all.

    So many of the smallest come first.
    """

    smallest: int
    rows: int
    used: int
    changes: int
    again: int
    patience: Patience


_LONG = _Effort(250, 3_000, 80, 40, 2, Patience(apart=1_200, tried=1_500, looked=8_000, given_up=16))
_SHORT = _Effort(30, 400, 12, 16, 1, Patience(apart=60, tried=100, looked=600, given_up=2))


def pieces(
    made: Sequence[tuple[Expr, int]], divisors: Sequence[int], pick: Pick, share: float = 0.6
) -> Iterator[Expr]:
    """What is added to variables, in the order in which it is drawn.

    ``made`` are summands, with factors, that a rule wants to see, the first ones more often, ``divisors`` those of the
    instance; such a ``share`` of all hides or shows one of these.
    """
    b = pick.narrow
    while True:
        kind = pick.chance() * 0.6 / share
        k = pick.of((1, 1, -1, 2))
        if made and kind < 0.6:
            t, j = made[min(pick.of(range(len(made))), pick.of(range(len(made))))]
            j = pick.of((j, j, -j, 1, -1))
            if kind < 0.2:
                yield t * -j if kind < 0.05 else t * k
                continue
            step = (b - 1) * pick.of((1, *divisors))
            yield maximum(t * j, t * j + step) - t * j
        elif kind < 0.7:
            yield ((b * 3) % 2 - b % 2) * k
        elif kind < 0.8:
            yield (b % 2 - (-b) % 2) * k
        else:
            d = pick.of((5, *divisors))
            yield b % 2 * (d // 2 + 1) + (b + 1) % 2 * (d // 2 + 2)


def _piece(t: Expr, k: int, way: int, pick: Pick) -> Expr:
    """A summand, once more or less, or hidden in an extremum, with its factor or without."""
    if way < 2:
        return t * (1, -1)[way]
    j = (k, -k, 1)[way - 2]
    return maximum(t * j, t * j + (pick.narrow - 1) * pick.of((1, 1, 2))) - t * j


def _congruent(c: Condition) -> Condition:
    """What a number divides, it divides with the dividends of remainders by it in their place."""
    if not isinstance(c, Divides):
        return c
    f = flat(c.e)
    e = f.const
    for k, t in f.items:
        e = e + mul(k, t.a if isinstance(t, Mod) and t.b is c.d else t)
    return c.d.divides(expanded(e))


def _divisors(*expressions: Expr) -> list[int]:
    """Numbers above one by which something is divided."""
    found = {
        n.b.value
        for n in postorder(*expressions)
        if isinstance(n, (FloorDiv, Mod)) and isinstance(n.b, Int) and n.b.value > 1
    }
    return sorted(found)


def _changed(
    values: Mapping[Var, Expr], loose: Sequence[Var], pick: Pick, drawn: Iterator[Expr]
) -> Mapping[Var, Expr] | None:
    """One variable with something added to what it stands for, or in its place."""
    v = loose[pick.of(range(len(loose)))]
    try:
        return {**values, v: tidy(next(drawn) + (values[v] if pick.chance() < 0.6 else 0))}
    except ZeroDivisionError:
        return None


def _sorted(drawn: Iterator[Any], trial: Any, effort: _Effort) -> list[Any]:
    """Those to which both rules apply: the smallest first, then the others in an order that is drawn."""
    found = sorted((i for i in dict.fromkeys(drawn) if trial.both(i)[1]), key=lambda i: i.rank)
    rest = found[effort.smallest :]
    return found[: effort.smallest] + [rest[n] for n in np.random.default_rng(SEED).permutation(len(rest))]


# ------------------------------------------------------------------------------------------------------- expressions
class _Drawn(DrawnCase):
    """Instances of one case of an overlap."""

    def __init__(self, o: Overlap, seed: int, trial: ExpressionTrial) -> None:
        super().__init__(o)
        self.facts = [_congruent(c) for c in self.facts]
        self.trial = trial
        self.pick = Pick(np.random.default_rng(SEED + seed), HIDING)

    def instances(self, effort: _Effort) -> Iterator[Instance]:
        """Those to which both rules apply, each followed by some that hide something."""
        used = 0
        for values, box in drawn_values(self, self.pick, SMALL, effort.rows, HIDING_BOXES):
            i = instance_on(self.start, self.spot, values, box)
            if i is None or i in self.trial.seen:
                continue
            ground, both = self.trial.both(i)
            if not both:
                continue
            yield i
            yield from self._hiding(values, box, self._made(ground, both), effort)
            used += 1
            if used >= effort.used:
                return

    def _hiding(
        self,
        values: Mapping[Var, Expr],
        box: Mapping[Var, tuple[int, int]],
        made: Sequence[tuple[Expr, int]],
        effort: _Effort,
    ) -> Iterator[Instance]:
        if not self.loose:
            return
        drawn = pieces(made, _divisors(self.start.substitute(values)), self.pick)
        for _ in range(effort.changes):
            changed = _changed(values, self.loose, self.pick, drawn)
            i = instance_on(self.start, self.spot, changed, box) if changed is not None else None
            if i is not None:
                yield i

    @staticmethod
    def _made(ground: Ground, both: Sequence[tuple[Move, Move]]) -> list[tuple[Expr, int]]:
        """Summands of both results, and of what comes next, that are no numbers."""
        found: dict[tuple[Expr, int], None] = {}
        for step in dict.fromkeys(s for pair in both for s in pair):
            for e in (step.after, *(m.after for m in ground.moves(step.after)[:4])):
                for t, k in summands_of(e):
                    found[t, k] = None
        return list(itertools.islice(found, 2 * _SUMMANDS))


def examine_hiding(
    o: Overlap,
    cases: Sequence[Overlap],
    rules: Sequence[Rule],
    worlds: dict[Any, Ground],
    *,
    brief: bool = False,
) -> Examined[Instance, Move]:
    """Rewrite such instances until one has two normal forms, and then smaller ones; fewer if it is to be ``brief``.

    Raises :class:`.rewriting.Circle` where steps lead back to where they came from.
    """
    trial = ExpressionTrial(o, rules, worlds, _LIMIT, weighs=False)
    effort = _SHORT if brief else _LONG
    batches = (
        _sorted(_Drawn(case, number, trial).instances(effort), trial, effort)
        for number, case in enumerate(cases)
    )
    return trial.search(batches, effort.patience, smaller_instances, _SMALLER)


# ------------------------------------------------------------------------------------------------------- constraints
class _DrawnDomains(_Further):
    """Domains of one case of an overlap, with bounds that are drawn as well."""

    def __init__(self, p: Posed, number: int, trial: _DomainTrial) -> None:
        super().__init__(p, number)
        self.given = [_congruent(c) for c in self.given]
        self.first, self.second = p.first, p.second
        self.trial = trial
        self.pick = Pick(np.random.default_rng(SEED - 7 * number - 3), HIDING)

    def domains(self, effort: _Effort) -> Iterator[Domain]:
        """Those to which both rules apply, each followed by some that hide something."""
        pick = self.pick
        rows = drawn_numbers(self.free, self.known, pick.generator, SMALL)
        used = 0
        for row in itertools.islice(itertools.cycle(rows), effort.rows):
            pick.begin()
            made = self._values(row, pick)
            if made is None:
                continue
            box = HIDING_BOXES[pick.of(range(len(HIDING_BOXES)))]
            applies = False
            for d in self._domains(made, box):
                applies = applies or bool(self.trial.both(d)[1])
                yield d
            # what is hidden may be what makes both apply
            if not applies and pick.chance() > 0.2:
                continue
            yield from self._hiding(made, box, effort)
            used += 1
            if used >= effort.used:
                return

    def _domains(
        self, values: Mapping[Var, Expr], box: Sequence[tuple[Var, tuple[int, int]]]
    ) -> Iterator[Domain]:
        (_, a), (_, b) = box
        return itertools.islice(self._written(values, (a, b)), _EACH)

    def _hiding(
        self, values: Mapping[Var, Expr], box: Sequence[tuple[Var, tuple[int, int]]], effort: _Effort
    ) -> Iterator[Domain]:
        """What each of the first summands gives, hidden or added, and then something else besides."""
        made, drawn = self._made(values, box)
        chosen = list(itertools.product(self.loose, made[:_SUMMANDS], range(5)))
        for n in self.pick.generator.permutation(len(chosen))[: effort.changes]:
            v, (t, k), way = chosen[n]
            changed = self._put(values, v, _piece(t, k, way, self.pick))
            if changed is None:
                continue
            yield from self._domains(changed, box)
            if n % 4 == 0:
                for _ in range(effort.again):
                    more = _changed(changed, self.loose, self.pick, drawn)
                    if more is not None:
                        yield from self._domains(more, box)

    def _put(self, values: Mapping[Var, Expr], v: Var, piece: Expr) -> Mapping[Var, Expr] | None:
        try:
            return {**values, v: tidy(piece + (values[v] if self.pick.chance() < 0.6 else 0))}
        except ZeroDivisionError:
            return None

    def _made(
        self, values: Mapping[Var, Expr], box: Sequence[tuple[Var, tuple[int, int]]]
    ) -> tuple[list[tuple[Expr, int]], Iterator[Expr]]:
        """Summands of both sides and of what is next, those that are new first, and what else is drawn."""
        try:
            expressions = [tidy(b.e.substitute(values)) for b in (*self.second, *self.first, *self.start)]
            old = {t for b in self.start for t, _ in _terms(tidy(b.e.substitute(values)))}
        except ZeroDivisionError:
            return [], iter(())
        expressions = [e for e in dict.fromkeys(expressions) if not any(v.kind for v in e.variables())]
        after = [m for e in expressions for m in self.trial.domains.rewritten(e, box)]
        found = dict.fromkeys(p for e in (*expressions, *after) for p in _terms(e))
        made = sorted(found, key=lambda p: p[0] in old)
        return made, pieces(made[: 2 * _SUMMANDS], _divisors(*expressions), self.pick, 0.9)

    def _rows(self, grid: np.ndarray[Any, Any]) -> Sequence[np.ndarray[Any, Any]]:
        return list(self.pick.generator.permutation(grid)[:_EACH])


def _terms(e: Expr) -> Sequence[tuple[Expr, int]]:
    if isinstance(e, Sum):
        return e.terms
    return () if isinstance(e, Int) else ((e, 1),)


def examine_hiding_domains(
    o: ConstraintOverlap,
    cases: Sequence[Posed],
    constraints: Sequence[ConstraintRule],
    rules: Sequence[Rule],
    *,
    brief: bool = False,
) -> Examined[Domain, DomainMove]:
    """The same of domains.

    Raises :class:`.rewriting.Circle` where steps lead back to where they came from.
    """
    trial = _DomainTrial(o, Domains(constraints, rules, _LIMIT))
    effort = _SHORT if brief else _LONG
    batches = (
        _sorted(_DrawnDomains(p, number, trial).domains(effort), trial, effort)
        for number, p in enumerate(cases)
    )
    return trial.search(batches, effort.patience, smaller_further, _SMALLER)
