"""Bind certificates to claims: what the checker finds proved is compared with a claim in the core language.

The checker itself (:mod:`.checker`) is one file that imports nothing of the package.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

from ..core.condition import Condition, condition_interpret
from ..core.expr import Expr, Int, Sum, Var, postorder
from ..core.operators import NAME_OF
from . import checker
from .checker import CertificateRefused, Check, Formula, Polynomial, Solver, Terms, cvc5_refutes, z3_refutes

__all__ = ["CertificateRefused", "ClaimReader", "Solver", "check_certificate", "cvc5_refutes", "z3_refutes"]


def check_certificate(
    data: checker.Json,
    claim: tuple[Sequence[Condition], Condition] | None = None,
    *,
    proved: Collection[str] | None = None,
    solvers: Mapping[str, Solver] | None = None,
) -> Check:
    """Check every step of a certificate, as :func:`.checker.check_certificate` does.

    With ``claim``, the certificate must be one of these hypotheses and this goal; with ``proved``, each lemma that it
    uses must be named there.  Raises :class:`CertificateRefused`.
    """
    found = checker.check_certificate(data, solvers)
    unproved = sorted(set(found.lemmas) - set(found.lemmas if proved is None else proved))
    if unproved:
        raise CertificateRefused("certificate", f"the lemma {unproved[0]!r} is not proved")
    if claim is not None:
        reader = ClaimReader(found.terms)
        if (tuple(map(reader.condition, claim[0])), reader.condition(claim[1])) != (
            found.hypotheses,
            found.goal,
        ):
            raise CertificateRefused("claim", "this is a certificate of another claim")
    return found


class ClaimReader:
    """Conditions of the core language as the checker reads those of a certificate, whose terms it has in common."""

    def __init__(self, terms: Terms) -> None:
        self._terms = terms
        self._numbers: dict[Expr, int] = {}

    def _number(self, root: Expr) -> int:
        for e in postorder(root, known=self._numbers):
            match e:
                case Int():
                    entry: checker.Json = e.value
                case Var():
                    entry = ["var", e.name, e.kind]
                case Sum():
                    entry = ["sum", e.const, [[self._numbers[t], k] for t, k in e.terms]]
                case _:
                    entry = [NAME_OF[type(e)], *(self._numbers[x] for x in e.children)]
            self._numbers[e] = self._terms.add(entry)
        return self._numbers[root]

    def term(self, e: Expr) -> Polynomial:
        """Return an expression as a term."""
        return self._terms.table[self._number(e)]

    def condition(self, c: Condition) -> Formula:
        """Return a condition as a formula."""
        return self._terms.condition(condition_interpret(c, self._number, _AS_JSON))


#: Conditions as certificates write them.
_AS_JSON: Any = SimpleNamespace(
    const=lambda value: value,
    compare=lambda op, a, b: [op, a, b],
    within=lambda e, lo, hi: ["within", e, lo, hi],
    divides=lambda d, e: ["divides", d, e],
    conj=lambda parts: ["and", *parts],
    disj=lambda parts: ["or", *parts],
    neg=lambda part: ["not", part],
)
