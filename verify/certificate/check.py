"""One check of a certificate: what it is made with, what it counts, and how it is refused."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from ...core.condition import Condition
from ...core.errors import IndexproofError
from ...core.expr import Expr
from ..schemes import LEMMAS, STEPS
from .formulas import Formula
from .solvers import Solver, linear_question

__all__ = ["CertificateRefused", "Check", "Verified"]


class CertificateRefused(IndexproofError):
    """A certificate that proves nothing: what is wrong, and where."""

    def __init__(self, place: str, reason: str) -> None:
        self.place = place
        self.reason = reason
        super().__init__(f"{place}: {reason}")


@dataclass
class Verified:
    """What was checked: the claim, how many steps and leaves it took, the lemmas and the solvers that were asked."""

    name: str
    hypotheses: tuple[Condition, ...]
    goal: Condition
    steps: int = 0
    leaves: int = 0
    questions: int = 0
    lemmas: dict[str, int] = field(default_factory=dict)
    solvers: tuple[str, ...] = ()


class Check:
    """What every part of one check has at hand.

    The terms of the certificate, the lemmas that are proved (``None``: all), the solvers, and what has been checked.
    """

    def __init__(
        self,
        terms: Sequence[Expr],
        proved: Collection[str] | None,
        solvers: Mapping[str, Solver],
        found: Verified,
    ) -> None:
        self.terms = terms
        self.proved = proved
        self.solvers = solvers
        self.found = found

    def contradictory(self, formulas: Sequence[Formula], place: str) -> None:
        """Every solver must say that the formulas contradict each other."""
        script = linear_question(formulas)
        self.found.questions += 1
        for name, refutes in self.solvers.items():
            if not refutes(script):
                raise CertificateRefused(place, f"{name} does not say that these facts contradict each other")

    def lemma(self, name: str, place: str) -> None:
        """A lemma that is used must be one that is proved."""
        if name not in LEMMAS and name not in STEPS:
            raise CertificateRefused(place, f"there is no lemma {name!r}")
        if self.proved is not None and name not in self.proved:
            raise CertificateRefused(place, f"the lemma {name!r} is not proved")
        self.found.lemmas[name] = self.found.lemmas.get(name, 0) + 1
