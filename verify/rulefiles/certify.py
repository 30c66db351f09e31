"""Certificates of the cases of a rule, by the general prover or by the strategies for rule files."""

from __future__ import annotations

from typing import Any

from ..linear.export import certificate, checked_json, recorded
from ..obligation import Obligation
from .equal_terms import proof_by_equal_terms
from .modular import proof_by_odd_factors, proof_by_residues, proof_by_roots


def case_certificate(o: Obligation) -> Any:
    """Return the certificate of one case as JSON, or ``None`` if none is found."""
    found = certificate(o.name, o.hypotheses, o.goal)
    if found is not None:
        return found

    proof = (
        proof_by_roots(o, recorded)
        or proof_by_odd_factors(o, recorded)
        or proof_by_residues(o, recorded)
        or proof_by_equal_terms(o, recorded)
    )
    return proof and checked_json(o.name, o.hypotheses, o.goal, proof)
