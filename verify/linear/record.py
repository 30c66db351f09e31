"""Recorded proofs: facts with the reasons for them, in the order in which they were found.

Nothing is recorded unless a certificate is wanted.  :mod:`.export` writes what was recorded as a certificate.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from .bounds import Bounds, Evidence
from .formula import AtLeast, Formula
from .polynomial import Poly

#: A node of a recorded proof: JSON but for polynomials, formulas, terms, facts and readings.
Node = dict[str, Any]


class Unrecorded(Exception):
    """A proof uses what certificates cannot say."""


@dataclass(frozen=True, eq=False)
class Reason:
    """The name of a step, and what it is made of: polynomials, terms, facts and evidence."""

    step: str
    data: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class LinearFact:
    """A formula that holds, and why: a hypothesis, a sign case, or the name of a step or lemma.

    ``reason`` says it so that it can be checked, where a proof is recorded.
    """

    formula: Formula
    why: str
    reason: Reason | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, eq=False)
class Resolved:
    """Evidence whose facts are those of a log."""

    parts: tuple[tuple[Poly, LinearFact], ...]
    shifts: tuple[LinearFact, ...]


class Log:
    """Facts and divisions in the order in which they were found."""

    def __init__(self) -> None:
        self.entries: list[LinearFact | Reason] = []
        self._bounds: dict[Poly, LinearFact] = {}

    def add(self, entry: LinearFact | Reason) -> None:
        """Note a fact or a step that is none."""
        self.entries.append(entry)
        if isinstance(entry, LinearFact) and isinstance(entry.formula, AtLeast):
            self._bounds.setdefault(entry.formula.p, entry)

    def settle(self, bounds: Bounds) -> None:
        """Note the bounds of names that follow from facts."""
        for p, evidence in bounds.settled.items():
            data = {"evidence": self.resolved(evidence)}
            self.add(LinearFact(AtLeast(p), "combination", Reason("combination", data)))
        bounds.settled.clear()

    def resolved(self, e: Evidence) -> Resolved:
        """Evidence with facts for polynomials.  Raises :class:`Unrecorded` where one is not here."""
        try:
            return Resolved(tuple((c, self._bounds[p]) for c, p in e.parts), tuple(self._bounds[p] for p in e.shifts))
        except KeyError as missing:
            raise Unrecorded(f"no fact says that {missing} is not negative") from missing
