"""Certificates of false claims."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from indexproof.core.condition import Condition
from indexproof.core.expr import Expr, var
from indexproof.verify.linear.record import Node

from .bank import DIGITS, DIVIDENDS, c, d, x
from .fault import Batch, Fault

__all__ = ["certificate_cases"]

#: Either of two terms that are said to be equal.
_ANY = var("any")


def _forged_equalities(known: Sequence[Condition], digits: Expr, number: Expr) -> Iterator[tuple[str, Node]]:
    """Proofs that digits make up a number, or that dividends are equal; all prove something else or nothing."""
    from indexproof.verify.linear.export import recorded

    true, false = (x // d * d + x % d).eq(x), digits.eq(number)
    of_others, assumed = recorded((*known, d > 0), true), recorded((*known, false), false)
    assert of_others is not None
    assert assumed is not None
    nothing: Node = {"step": "goals", "parts": []}
    yield "not shown", nothing
    yield "shown of other digits", of_others
    yield "other digits are a goal", {"step": "goals", "parts": [{"goal": true, "proof": of_others}]}
    yield "contradictory", {"step": "contradiction", "then": of_others}
    yield "assumed", assumed
    again = {"step": "equal terms", "variable": _ANY, "equal": nothing, "then": nothing}
    yield "shown by itself", {**again, "term": digits, "value": number, "goals": [_ANY.eq(number)]}
    round_about = {"term": number, "value": digits, "goals": [digits.eq(_ANY)]}
    yield "shown the other way round", {**again, **round_about}


def certificate_cases(task: Batch) -> Iterator[Fault]:
    """Certificates of false claims, in which a term is replaced by another one that is not equal to it.

    Terms are digits and the number that they are said to make up, or two dividends.
    """
    from indexproof.verify.certificate import CertificateRefused, check_certificate, z3_refutes
    from indexproof.verify.linear.export import certificate_json

    for name, facts, digits, number in (*DIGITS, *DIVIDENDS):
        known = (*facts, c > 0)
        goal = (digits // c).eq(number // c)
        # a quotient is equal to itself: nothing is left
        then: Node = {"step": "goals", "parts": []}
        for how, equal in _forged_equalities(known, digits, number):
            said = {"variable": _ANY, "goals": [(_ANY // c).eq(number // c)]}
            replaced = {"term": digits, "value": number, **said}
            proof = {"step": "equal terms", **replaced, "equal": equal, "then": then}
            data = json.loads(json.dumps(certificate_json(name, known, goal, proof)))
            try:
                check_certificate(data, (known, goal), solvers={"z3": z3_refutes})
            except CertificateRefused:
                noticed = "the checker"
            else:
                noticed = ""
            yield Fault("certificate", f"{how}: {name}", noticed)
