"""Claims of the core language in the form of certificates, and the check that a certificate proves a given claim.

The checker itself (:mod:`.checker`) is one file that imports nothing of the package.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import SimpleNamespace

from ..core.condition import Condition, condition_interpret
from ..core.expr import Expr, Int, Sum, Var, postorder
from ..core.operators import NAME_OF
from . import checker
from .checker import CertificateRefused, Check, Formula, Json, Polynomial, Solver, Terms


def check_certificate(
    data: Json,
    claim: tuple[Sequence[Condition], Condition] | None = None,
    *,
    solvers: Mapping[str, Solver] | None = None,
) -> Check:
    """Check every step of a certificate, as :func:`.checker.check_certificate` does.

    With ``claim``, the certificate must prove these hypotheses and this goal.  Raises :class:`CertificateRefused`.
    """
    found = checker.check_certificate(data, solvers)
    if claim is not None:
        reader = ClaimReader(found.terms)
        if (tuple(map(reader.condition, claim[0])), reader.condition(claim[1])) != (found.hypotheses, found.goal):
            raise CertificateRefused("claim", "this is a certificate of another claim")
    return found


class ClaimReader:
    """Writes expressions and conditions as JSON and as the checker's terms; ``entries`` lists the terms in order."""

    def __init__(self, terms: Terms) -> None:
        self.terms = terms
        self.entries: list[Json] = []
        self.numbers: dict[Expr, int] = {}
        self._as_json = SimpleNamespace(
            const=lambda value: value,
            compare=lambda op, a, b: [op, a, b],
            within=lambda e, lo, hi: ["within", e, lo, hi],
            divides=self._divides,
            conj=lambda parts: ["and", *parts],
            disj=lambda parts: ["or", *parts],
            neg=lambda part: ["not", part],
        )

    def _add(self, entry: Json) -> int:
        self.entries.append(entry)
        return self.terms.add(entry)

    def _divides(self, d: int, e: int) -> Json:
        # a quotient gets its name from its index in the table, so the order of entries counts
        self._add(["rest", e, d])
        return ["divides", d, e]

    def _number(self, root: Expr) -> int:
        for e in postorder(root, known=self.numbers):
            match e:
                case Int():
                    entry: Json = e.value
                case Var():
                    entry = ["var", e.name, e.kind]
                case Sum():
                    entry = ["sum", e.const, [[self.numbers[t], k] for t, k in e.terms]]
                case _:
                    entry = [NAME_OF[type(e)], *(self.numbers[x] for x in e.children)]
            self.numbers[e] = self._add(entry)
        return self.numbers[root]

    def term(self, e: Expr) -> Polynomial:
        """Return an expression as a term."""
        return self.terms.table[self._number(e)]

    def json(self, c: Condition) -> Json:
        """Return a condition as JSON, whose terms are among ``entries``."""
        return condition_interpret(c, self._number, self._as_json)

    def condition(self, c: Condition) -> Formula:
        """Return a condition as a formula."""
        return self.terms.condition(self.json(c))
