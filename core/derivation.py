"""Derivations: why a simplified map equals the map that was given, step by step.

A :class:`Derivation` starts from a map and takes one step after the other until it has the result:

* a :class:`RuleStep` is an equation on the domain, an instance of a rule,
* a :class:`ConstraintChange` replaces some constraints (or boxes of variables) by equivalent ones,
* a :class:`MapChange` replaces the map as a whole (variables leave it, or are replaced).

Rule steps are equations, and what follows from equations by congruence (:mod:`.congruence`) is what they are for.  The
equations since the start or the last :class:`MapChange` together make the results, and the indices of runtime sources,
equal to those of the next map that is named.  Equations about a constraint hold where all *other* constraints do; they
stand next to each other, and the last one says what becomes of the constraint's expression.

Each step stands for itself: the rule and the values of its variables are all that is needed to check it, which
:mod:`indexproof.verify.derivation` does without any of the simplifier's code.  The simplifier records steps while it runs,
and :mod:`.explain` leaves out those that the result does not need; :mod:`.derivation_json` stores them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

from .display import Shown
from .expr import Expr
from .indexing_map import Constraint, IndexingMap
from .rewrite import ConstraintRule, Rule

#: The expressions of a map: its results, its constraints, and the indices of its runtime sources (all of them in order).
Part: TypeAlias = Literal["result", "constraint", "source"]


class Position(NamedTuple):
    """Expression number ``number`` of ``part`` of a map."""

    part: Part
    number: int

    def __str__(self) -> str:
        return f"{self.part} {self.number}"


def constraints_text(constraints: tuple[Constraint, ...]) -> str:
    """Constraints that hold together, in mathematical notation."""
    return " and ".join(f"{c.expr} ∈ [{c.lo}, {c.hi}]" for c in constraints) or "true"


@dataclass(frozen=True, slots=True)
class RuleStep:
    """``rule`` under ``binding`` says that ``before`` equals ``after``; first needed for the expression at ``position``.

    Of the steps about a constraint the last has ``becomes``, which its expression then is.
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
    """``rule`` under ``binding``: the constraints ``before`` together say what ``after`` say.

    ``after`` stand where the first of ``before`` stood.  A constraint on a single dimension or range variable may stand for
    the variable's box, and one on such a variable plus a constant, or with the sign changed, for the image of the box.  The
    box of a runtime variable may be among ``before`` too, but stays as it is.
    """

    rule: ConstraintRule
    binding: Mapping[str, Expr]
    before: tuple[Constraint, ...]
    after: tuple[Constraint, ...]

    def __str__(self) -> str:
        return f"{constraints_text(self.before)}  ⇔  {constraints_text(self.after)}   by {self.rule.name}"


@dataclass(frozen=True, slots=True)
class MapChange:
    """The map as it stands, ``before``, has the relation of ``after``; ``why`` says what was done."""

    why: str
    before: IndexingMap
    after: IndexingMap

    def __str__(self) -> str:
        return f"{self.before}  ⇔  {self.after}   by {self.why}"


DerivationStep: TypeAlias = RuleStep | ConstraintChange | MapChange


@dataclass(frozen=True, slots=True, repr=False)
class Derivation(Shown):
    """``before`` becomes ``after`` by ``steps``.

    As text it has a line for every step; :func:`~indexproof.reports.derivation.derivation_text` says more of each.
    """

    before: IndexingMap
    after: IndexingMap
    steps: tuple[DerivationStep, ...]

    def __len__(self) -> int:
        return len(self.steps)

    @property
    def wider(self) -> str:
        """A note where the result needs, or may need, wider machine integers than the input; empty elsewhere."""
        # who checks derivations loads no code of the simplifier
        from .room import widening

        return widening(self.before, self.after)

    def __iter__(self) -> Iterator[DerivationStep]:
        return iter(self.steps)

    def rules(self) -> tuple[str, ...]:
        """The names of the rules that were applied, each once, in order of first use."""
        return tuple(dict.fromkeys(s.rule.name for s in self.steps if not isinstance(s, MapChange)))

    def __str__(self) -> str:
        return "\n".join(f"{n}  {step}" for n, step in enumerate(self.steps, 1)) or "no rule applies"

    def __repr__(self) -> str:
        n = len(self.steps)
        return f"<Derivation: {n} step{'s' * (n != 1)} by {', '.join(self.rules()) or 'no rule'}>"


def expect_derivation(d: object) -> None:
    """Raises :class:`TypeError` for what is no derivation, such as a map."""
    if not isinstance(d, Derivation):
        hint = "; simplify(m, explain=True) makes one" if isinstance(d, IndexingMap) else ""
        raise TypeError(f"expected a Derivation, got {type(d).__name__}{hint}")
