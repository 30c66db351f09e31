"""Recorded proofs: facts and their reasons, in the order in which they were found.

Proofs are recorded only if a certificate is wanted.  :mod:`.export` writes them as certificates.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from .bounds import Bounds, Evidence
from .formula import AtLeast, Formula
from .polynomial import Poly

#: A node of a recorded proof: JSON, except that it contains polynomials, formulas, terms, facts and readings.
Node = dict[str, Any]


class Unrecorded(Exception):
    """A proof uses an inference that certificates cannot express."""


@dataclass(frozen=True, eq=False)
class Reason:
    """The name of an inference step, and its parameters: polynomials, terms, facts and evidence."""

    step: str
    data: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class LinearFact:
    """A formula that holds, and its origin: a hypothesis, a sign case, or the name of a step or lemma.

    In a recorded proof, ``reason`` has the details that a certificate needs.
    """

    formula: Formula
    why: str
    reason: Reason | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, eq=False)
class Resolved:
    """Evidence that refers to facts of a log instead of polynomials."""

    parts: tuple[tuple[Poly, LinearFact], ...]
    shifts: tuple[LinearFact, ...]


class Log:
    """Facts and steps in the order in which they were found."""

    def __init__(self) -> None:
        self.entries: list[LinearFact | Reason] = []
        self._bounds: dict[Poly, LinearFact] = {}

    def add(self, entry: LinearFact | Reason) -> None:
        """Append a fact, or a step that states no fact."""
        self.entries.append(entry)
        if isinstance(entry, LinearFact) and isinstance(entry.formula, AtLeast):
            self._bounds.setdefault(entry.formula.p, entry)

    def settle(self, bounds: Bounds) -> None:
        """Append the derived lower bounds of names as facts, and clear them."""
        for p, evidence in bounds.settled.items():
            data = {"evidence": self.resolved(evidence)}
            self.add(LinearFact(AtLeast(p), "combination", Reason("combination", data)))
        bounds.settled.clear()

    def resolved(self, e: Evidence) -> Resolved:
        """Return the evidence with facts for polynomials.  Raises :class:`Unrecorded` if a fact is missing."""
        try:
            return Resolved(tuple((c, self._bounds[p]) for c, p in e.parts), tuple(self._bounds[p] for p in e.shifts))
        except KeyError as missing:
            raise Unrecorded(f"no fact says that {missing} is not negative") from missing
