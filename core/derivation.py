"""Derivations: step-by-step explanations why a simplified map equals the given map.

A :class:`Derivation` leads from one map to another in steps of three kinds:

* a :class:`RuleStep` is an equation on the domain, an instance of a rule,
* a :class:`ConstraintChange` replaces some constraints (or boxes of variables) by equivalent ones,
* a :class:`MapChange` replaces the whole map by one with the same relation, for instance to remove variables.

Equations are used up to congruence (:mod:`.congruence`).  The equations since the start or the last :class:`MapChange`
together imply that the results and the indices of runtime sources equal those of the next map in the derivation.
Equations about a constraint hold where all *other* constraints do.  They are consecutive, and the last one gives the
new expression of the constraint.

Each step can be checked alone, from the rule and the values of its variables. :mod:`indexproof.verify.derivation` does
so without any code of the simplifier.  The simplifier records steps while it runs, :mod:`.explain` keeps those that the
result needs, and :mod:`.derivation_json` stores them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

from .display import Shown
from .expr import Expr
from .indexing_map import Constraint, IndexingMap
from .rewrite import ConstraintRule, Rule

#: A group of expressions of a map: its results, its constraints, or the indices of all its runtime sources, in order.
Part: TypeAlias = Literal["result", "constraint", "source"]


class Position(NamedTuple):
    """The expression with index ``number`` in ``part`` of a map."""

    part: Part
    number: int

    def __str__(self) -> str:
        return f"{self.part} {self.number}"


def constraints_text(constraints: tuple[Constraint, ...]) -> str:
    """Return the conjunction of constraints in mathematical notation."""
    return " and ".join(f"{c.expr} ∈ [{c.lo}, {c.hi}]" for c in constraints) or "true"


@dataclass(frozen=True, slots=True)
class RuleStep:
    """An instance of ``rule``: ``before`` equals ``after``; first needed for the expression at ``position``.

    The last step about a constraint has ``becomes``, the new expression of that constraint.
    """

    rule: Rule
    binding: Mapping[str, Expr]
    position: Position
    before: Expr
    after: Expr
    becomes: Expr | None = None

    def __str__(self) -> str:
        return f"{self.before}  →  {self.after}   by {self.rule.name} in {self.position}"


@dataclass(frozen=True, slots=True)
class ConstraintChange:
    """An instance of a constraint rule: the conjunctions of ``before`` and of ``after`` are equivalent.

    The constraints ``after`` take the place of the first of ``before``.  A constraint on a single dimension or range
    variable may represent the variable's box; one on ``±variable + constant`` may represent the image of the box.  The
    box of a runtime variable may be among ``before``, but never changes.
    """

    rule: ConstraintRule
    binding: Mapping[str, Expr]
    before: tuple[Constraint, ...]
    after: tuple[Constraint, ...]

    def __str__(self) -> str:
        return f"{constraints_text(self.before)}  ⇔  {constraints_text(self.after)}   by {self.rule.name}"


@dataclass(frozen=True, slots=True)
class MapChange:
    """A replacement of the map ``before`` by ``after``, with the same relation; ``why`` names the transform."""

    why: str
    before: IndexingMap
    after: IndexingMap

    def __str__(self) -> str:
        return f"{self.before}  ⇔  {self.after}   by {self.why}"


DerivationStep: TypeAlias = RuleStep | ConstraintChange | MapChange


@dataclass(frozen=True, slots=True, repr=False)
class Derivation(Shown):
    """The ``steps`` that lead from ``before`` to ``after``.

    ``str`` gives one line for each step; :func:`~indexproof.reports.derivation.derivation_text` gives details.
    """

    before: IndexingMap
    after: IndexingMap
    steps: tuple[DerivationStep, ...]

    def __len__(self) -> int:
        return len(self.steps)

    @property
    def wider(self) -> str:
        """A note where the result needs, or may need, wider machine integers than the input; empty otherwise."""
        # imported here, because the checker of derivations must load no code of the simplifier
        from .room import widening

        return widening(self.before, self.after)

    def __iter__(self) -> Iterator[DerivationStep]:
        return iter(self.steps)

    def rules(self) -> tuple[str, ...]:
        """Return the names of the rules that were applied, without duplicates, in order of first use."""
        return tuple(dict.fromkeys(s.rule.name for s in self.steps if not isinstance(s, MapChange)))

    def __str__(self) -> str:
        return "\n".join(f"{n}  {step}" for n, step in enumerate(self.steps, 1)) or "no rule applies"

    def __repr__(self) -> str:
        n = len(self.steps)
        return f"<Derivation: {n} step{'s' * (n != 1)} by {', '.join(self.rules()) or 'no rule'}>"


def expect_derivation(d: object) -> None:
    """Raise :class:`TypeError` for an object that is no derivation, such as a map."""
    if not isinstance(d, Derivation):
        hint = "; simplify(m, explain=True) makes one" if isinstance(d, IndexingMap) else ""
        raise TypeError(f"expected a Derivation, got {type(d).__name__}{hint}")
