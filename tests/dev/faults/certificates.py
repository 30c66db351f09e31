"""Certificates of false claims."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from indexproof.core.condition import Condition
from indexproof.core.expr import Expr

from .bank import DIGITS, DIVIDENDS, c, d, x
from .fault import Batch, Fault

__all__ = ["certificate_cases"]

Json = Any


def _forged_equalities(
    known: Sequence[Condition], digits: Expr, number: Expr, said: Json
) -> Iterator[tuple[str, Json]]:
    """Yield forged proofs of equations between digits and a number, or between dividends; none proves its equation."""
    from indexproof.verify.linear.export import certificate

    true, false = (x // d * d + x % d).eq(x), digits.eq(number)
    of_others, assumed = certificate("", (*known, d > 0), true), certificate("", (*known, false), false)
    assert of_others is not None
    assert assumed is not None
    nothing: Json = []
    yield "not shown", nothing
    yield "shown of other digits", of_others["proof"]
    yield "assumed", assumed["proof"]
    yield "shown by itself", [["cut", said, nothing]]
    yield "shown in two cases", [["split", [[1, "x"]], nothing, nothing]]
    yield "contradictory", [["cut", ["or"], nothing]]
    yield "shown of no products", [["product", [[1, "x"]], [[1, "x"]]], ["multiple", [[1, "x"]], [[1, "x"]]]]


def certificate_cases(task: Batch) -> Iterator[Fault]:
    """Yield the cases of certificates of false claims, in which a term is replaced by one that differs from it.

    The terms are a sum of digits and the claimed number, or two dividends.
    """
    from indexproof.verify.certificate import check_certificate
    from indexproof.verify.checker import FORMAT, CertificateRefused, z3_refutes
    from indexproof.verify.linear.instances import CertifiedTerms, as_json

    for name, facts, digits, number in (*DIGITS, *DIVIDENDS):
        known = (*facts, c > 0)
        goal = (digits // c).eq(number // c)
        terms = CertifiedTerms([*known, goal], False)
        gap, equal = (
            as_json(terms.poly(digits) - terms.poly(number)),
            terms.poly(digits // c) - terms.poly(number // c),
        )
        # equal dividends have equal quotients
        then = [["product", as_json(p - 1), as_json(terms.poly(c))] for p in (equal, -equal)]
        for how, shown in _forged_equalities(known, digits, number, ["eq", gap]):
            claim = {"name": name, "hypotheses": terms.claimed[:-1], "goal": terms.claimed[-1]}
            proof = [["cut", ["eq", gap], shown], *then]
            data = {"format": FORMAT, "claim": claim, "terms": terms.entries, "proof": proof}
            try:
                check_certificate(json.loads(json.dumps(data)), (known, goal), solvers={"z3": z3_refutes})
            except CertificateRefused:
                noticed = "the checker"
            else:
                noticed = ""
            yield Fault("certificate", f"{how}: {name}", noticed)
