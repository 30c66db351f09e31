"""Certificates of the cases of a rule: as of any claim, and by the strategies that only such cases have."""

from __future__ import annotations

from typing import Any

from .. import linear
from ..linear.export import certificate, certificate_json, recorded
from ..linear.record import Node
from ..obligations import Obligation
from .equal_terms import proof_by_equal_terms
from .modular import claims_of_oddness, quotient, residue_cases, solved, values, without_odd_factors

__all__ = ["case_certificate"]


def case_certificate(o: Obligation, budget: linear.ReductionBudget | None = None) -> Any:
    """The certificate of one case as JSON, or ``None`` where none is found."""
    found, _ = certificate(o.name, o.hypotheses, o.goal, budget)
    if found is not None:
        return found
    limits = budget or linear.ReductionBudget()
    proof = (
        _roots(o, limits)
        or _odd_factors(o, limits)
        or _residues(o, budget)
        or proof_by_equal_terms(o.hypotheses, o.goal, limits)
    )
    return proof and certificate_json(o.name, o.hypotheses, o.goal, proof)


def _roots(o: Obligation, budget: linear.ReductionBudget) -> Node | None:
    found = solved(o)
    if found is None:
        return None
    then = recorded(found.hypotheses, found.goal, budget)
    if then is None:
        return None
    parts = [
        {"of": e, "variable": v, "modulus": d.value, "classes": classes}
        for (d, e), (v, classes) in found.classes.items()
    ]
    return {"step": "roots", "solved": parts, "then": then}


def _odd_factors(o: Obligation, budget: linear.ReductionBudget) -> Node | None:
    found, _ = without_odd_factors(o, budget)
    if found is None:
        return None
    odd = []
    for v in found.odd:
        claims = claims_of_oddness(v, found.given)
        proofs = (p for c in claims if (p := recorded(c.hypotheses, c.goal, budget) or _residues(c, budget)))
        proof = next(proofs, None)
        if proof is None:
            return None
        odd.append({"factor": v, "proof": proof})
    shorter = [{"of": e, "factors": vs, "rest": rest} for e, vs, rest in found.shorter]
    then = recorded(found.hypotheses, found.goal, budget)
    if then is None:
        return None
    node: Node = {"step": "odd factors", "odd": odd, "shorter": shorter, "then": then}
    if found.multiple is not None:
        d, c, k = found.multiple
        node = {"step": "multiple", "variable": d, "divisor": c, "quotient": k, "then": node}
    return node


def _residues(o: Obligation, budget: linear.ReductionBudget | None) -> Node | None:
    modulus, variables = residue_cases(o)
    if not variables:
        return None
    cases = []
    for at in values(modulus, variables):
        proof = recorded([h.substitute(at) for h in o.hypotheses], o.goal.substitute(at), budget)
        if proof is None:
            return None
        cases.append(proof)
    named = [{"variable": v, "quotient": quotient(v, modulus)} for v in variables]
    return {"step": "residues", "modulus": modulus, "variables": named, "cases": cases}
