"""Further domains for pairs that nothing else decides: what hides that it is a multiple, and variables that equations give.

The domains of :mod:`.constraint_instances` give every variable of an overlap an expression of its own, so that they hardly
ever satisfy an equation between expressions, as rules for sums have them (``k + r = x // d``).  Here constants are drawn
first, and the other variables as :mod:`.draws` does.  What always lies between two bounds, or always is one, says which
bounds these can be.

What is found is made smaller in the same way as there.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ...core.condition import FALSE, TRUE, Compare, Condition, Within
from ...core.expr import Expr, Var, integer
from ...core.rewrite import ConstraintRule, Rule
from .constraint_instances import _Choices, _DomainTrial, smaller_domains
from .constraint_overlap import ConstraintOverlap
from .constraint_posed import Posed
from .domains import Domain, DomainMove, Domains
from .drawn import SEED, drawn_numbers
from .draws import BOXES, KINDS, OPAQUE, OPAQUE_BOXES, SMALL, Pick, values_for
from .ground import Exact
from .instances import _definition
from .rewriting import Examined, Patience
from .unify import is_const, tidy

__all__ = ["examine_further", "examine_opaque", "further_domains", "opaque_domains", "smaller_further"]

#: Counts: draws of a batch; domains of a draw; smaller ones that are tried of one that has two normal forms.
_ROWS = 2_000
_EACH = 3
_SMALLER = 200
#: With the domains of one batch.
_PATIENCE = Patience(apart=50, tried=150, looked=1_200, given_up=2)
_OPAQUE_PATIENCE = Patience(apart=300, tried=300, looked=4_000, given_up=4)
_OPAQUE_LIMIT = 1_200


class _Further(_Choices):
    """Domains of one case of an overlap."""

    def __init__(self, p: Posed, number: int) -> None:
        super().__init__(p, number)
        #: constants that others give, each by those that come before it in the list reversed
        self.given_by: list[tuple[Var, Expr]] = []
        facts = list(self.given)
        while (d := next((d for c in facts if (d := self._constant(c)) is not None), None)) is not None:
            self.given_by.append(d)
            facts = [c.substitute({d[0]: d[1]}) for c in facts]
        gone = {v for v, _ in self.given_by}
        self.free = [v for v in self.numbers if v not in gone]
        mine = set(self.free)
        self.known = [c for c in facts if set(c.variables()) <= mine]

    def _constant(self, c: Condition) -> tuple[Var, Expr] | None:
        """A constant of an expression that other constants of expressions give."""
        found = _definition(c)
        if (
            found is None
            or found[0] not in self.numbers
            or not set(found[1].variables()) <= set(self.numbers)
        ):
            return None
        return found

    def batch(self, batch: int) -> Iterator[Domain]:
        """The domains of a batch, in the order in which they are drawn."""
        pick = Pick(np.random.default_rng(SEED + 1000 * (batch + 1) + self.number), KINDS[batch])
        rows = drawn_numbers(self.free, self.known, pick.generator, SMALL if batch != 1 else None)
        yield from self.written(pick, rows, BOXES)

    def written(
        self,
        pick: Pick,
        rows: Sequence[Sequence[int]],
        boxes: Sequence[Sequence[tuple[Var, tuple[int, int]]]],
    ) -> Iterator[Domain]:
        """Domains with these numbers, on some of the boxes."""
        for row in itertools.islice(itertools.cycle(rows), _ROWS):
            pick.begin()
            values = self._values(row, pick)
            if values is not None:
                (_, a), (_, b) = boxes[pick.of(range(len(boxes)))]
                yield from itertools.islice(self._written(values, (a, b)), _EACH)

    def _values(self, row: Sequence[int], pick: Pick) -> dict[Var, Expr] | None:
        """What all variables stand for where the constants that nothing gives are these numbers."""
        numbers: dict[Var, Expr] = {v: integer(n) for v, n in zip(self.free, row, strict=True)}
        try:
            for v, e in reversed(self.given_by):
                numbers[v] = tidy(e.substitute(numbers))
            values = values_for(self.loose, [c.substitute(numbers) for c in self.given], pick)
        except ZeroDivisionError:
            return None
        return None if values is None else {**numbers, **values}

    def _of_bounds(self, known: Sequence[Condition], facts: Exact) -> list[Condition]:
        """Also what conditions on expressions say of bounds: what always lies between two, or always is one."""
        found = super()._of_bounds(known, facts)
        for c in known:
            match c:
                case Within(e, lo, hi) if is_const(lo) and is_const(hi) and self._plain(e):
                    of = facts.range(e).interval
                    found += [lo <= int(of.lo), integer(int(of.hi)) <= hi]
                case Compare("==", e, m) if is_const(m) and self._plain(e):
                    of = facts.range(e).interval
                    found.append(m.eq(int(of.lo)) if of.lo == of.hi else FALSE)
        return [c for c in found if c != TRUE]

    @staticmethod
    def _plain(e: Expr) -> bool:
        """Whether what ``e`` may be is known."""
        return all(not v.kind for v in e.variables()) and bool(e.variables())


class _Opaque(_Further):
    """Domains of expressions that hardly any rule rewrites, with bounds that are drawn as well.

    If a rule for expressions takes away what a rule for constraints wants to see, a constraint that holds from the start
    vanishes on the one side, and is made narrower, and stays, on the other.
    """

    def __init__(self, p: Posed, number: int) -> None:
        super().__init__(p, number)
        self.pick = Pick(np.random.default_rng(SEED - number - 1), OPAQUE)

    def domains(self) -> Iterator[Domain]:
        """The domains in the order in which they are drawn."""
        rows = drawn_numbers(self.free, self.known, self.pick.generator, SMALL)
        yield from self.written(self.pick, rows, OPAQUE_BOXES)

    def _rows(self, grid: np.ndarray[Any, Any]) -> Sequence[np.ndarray[Any, Any]]:
        return list(self.pick.generator.permutation(grid)[:_EACH])


def opaque_domains(p: Posed, number: int) -> Iterator[Domain]:
    """The domains of one case of an overlap that are of such expressions."""
    return _Opaque(p, number).domains()


def further_domains(p: Posed, number: int, batch: int) -> Iterator[Domain]:
    """The domains of one case of an overlap in one batch."""
    return _Further(p, number).batch(batch)


def examine_further(
    o: ConstraintOverlap, cases: Sequence[Posed], domains: Domains
) -> Examined[Domain, DomainMove]:
    """Rewrite further domains until one has two normal forms, and then smaller ones.

    Raises :class:`.rewriting.Circle` where steps lead back to where they came from.
    """
    trial = _DomainTrial(o, domains)
    numbered = itertools.product(range(len(KINDS)), enumerate(cases))
    batches = (further_domains(p, number, batch) for batch, (number, p) in numbered)
    return trial.search(batches, _PATIENCE, smaller_further, _SMALLER)


def examine_opaque(
    o: ConstraintOverlap, cases: Sequence[Posed], constraints: Sequence[ConstraintRule], rules: Sequence[Rule]
) -> Examined[Domain, DomainMove]:
    """The same of domains of expressions that hardly any rule rewrites, from which more may be reached.

    Raises :class:`.rewriting.Circle` where steps lead back to where they came from.
    """
    trial = _DomainTrial(o, Domains(constraints, rules, _OPAQUE_LIMIT))
    batches = (opaque_domains(p, number) for number, p in enumerate(cases))
    return trial.search(batches, _OPAQUE_PATIENCE, smaller_further, _SMALLER)


def smaller_further(d: Domain) -> Iterator[Domain]:
    """Simpler domains; a constraint is left out, if a box stands for it, bounds move far at once, and each by itself."""
    for n in range(len(d.constraints) if len(d.constraints) > 1 else 0):
        yield Domain.of(dict(d.boxes), [*d.constraints[:n], *d.constraints[n + 1 :]])
    for n, (e, lo, hi) in enumerate(d.constraints):
        for least, most in ((0, 0), (1, 1), (lo, lo + 1), (hi - 1, hi), (0, 1), (1, 2)):
            if least <= most and (least, most) != (lo, hi):
                yield Domain.of(
                    dict(d.boxes), [*d.constraints[:n], (e, least, most), *d.constraints[n + 1 :]]
                )
    yield from smaller_domains(d)
