"""The checker of certificates: a reduction to linear arithmetic again, step by step, without the prover's code.

A certificate (``indexproof prove --certificates``) says how a claim with symbolic divisors was reduced to questions of
linear arithmetic.  What is trusted here: the language of terms (:mod:`indexproof.core.expr`,
:mod:`indexproof.core.condition`), the statements of the lemmas (:mod:`..schemes`, each proved for itself), the two
solvers at the leaves, and this package.  Nothing that a certificate says is believed:

* the claim is read here; a hypothesis or negated goal among the facts must be what this reading of it gives,
* every quotient and remainder must satisfy ``a = b·q + r`` and ``0 <= r < b``, the equation by expansion and the
  bounds by an explicit combination of facts,
* a product may be replaced by what an equation says that it is,
* a name for a value must be new, also a further one for a quotient whose remainder has a name already, and a definition
  must be an equation that has been shown,
* sign cases must be all there are, or the missing ones excluded by a combination of facts or because a divisor of the
  claim would be zero,
* a term of a goal may be replaced by another one that is shown to be equal to it,
* a bound of a quotient may be replaced by that of its dividend where hypotheses say that the divisor is not negative,
* a factor may be left out of what a power of two divides where it is shown to be odd and the product is what it is,
* residue classes may stand for "a power of two divides this polynomial" where they are its roots, which is calculated,
* a number that a hypothesis calls a multiple may be replaced by one, and variables by their residues modulo a number if
  every combination of these is a case,
* each instance of a lemma must be what the lemma's statement gives, its premises shown, and the lemma be proved, and
* the facts of every leaf must contradict each other in *linear* integer arithmetic, with products as opaque
  integers, for every solver that is asked.

Divisors of the claim are assumed not to be zero, which is an obligation of its own.

:mod:`.tree` reduces a claim to others and divides it into cases; :mod:`.steps` checks the steps of one case against the
facts known there (:mod:`.state`).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from ...core.condition import Condition
from .check import CertificateRefused, Check, Solver, Verified, cvc5_refutes, z3_refutes
from .conditions import conjuncts, read_condition, read_terms
from .polynomials import Json
from .state import Unknown
from .tree import Tree

__all__ = ["CertificateRefused", "Solver", "Verified", "check_certificate", "cvc5_refutes", "z3_refutes"]

FORMAT = "indexproof certificate 1"


def check_certificate(
    data: Json,
    claim: tuple[Sequence[Condition], Condition] | None = None,
    *,
    proved: Collection[str] | None = None,
    solvers: Mapping[str, Solver] | None = None,
) -> Verified:
    """Check every step of a certificate.

    With ``claim``, the certificate must be one of these hypotheses and this goal; with ``proved``, each lemma that it
    uses must be named there.  ``solvers`` are asked about every leaf and must all agree; z3 and cvc5 unless given.
    Raises :class:`CertificateRefused`.
    """
    asked = solvers if solvers is not None else {"z3": z3_refutes, "cvc5": cvc5_refutes}
    try:
        if data["format"] != FORMAT:
            raise CertificateRefused("certificate", f"the format is not {FORMAT!r}")
        terms = read_terms(data["terms"])
        hypotheses = tuple(read_condition(h, terms) for h in data["claim"]["hypotheses"])
        goal = read_condition(data["claim"]["goal"], terms)
        if claim is not None and (tuple(claim[0]), claim[1]) != (hypotheses, goal):
            raise CertificateRefused("claim", "this is a certificate of another claim")
        found = Verified(str(data["claim"]["name"]), hypotheses, goal, solvers=tuple(asked))
        known = [p for h in hypotheses for p in conjuncts(h)]
        Tree(Check(terms, proved, asked, found)).prove(data["proof"], known, conjuncts(goal), "proof")
    except RecursionError as error:
        raise CertificateRefused("certificate", "nested too deep") from error
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, Unknown) as error:
        raise CertificateRefused("certificate", f"not of the documented form ({error!r})") from error
    if not asked:
        raise CertificateRefused("certificate", "no solver was asked")
    return found
