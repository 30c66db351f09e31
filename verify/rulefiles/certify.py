"""Certificates of the cases of a rule, by the general prover or by the strategies for rule files."""

from __future__ import annotations

from typing import Any

from ..linear.export import checked_json, recorded
from ..linear.record import Node
from ..obligation import Obligation
from .equal_terms import proof_by_equal_terms
from .generalise import proof_by_generalisation
from .modular import Show, proof_by_odd_factors, proof_by_residues, proof_by_roots


def _directly(o: Obligation, show: Show) -> Node | None:
    proof: Node | None = show(o.hypotheses, o.goal)
    return proof


_STRATEGIES = (
    proof_by_generalisation,  # the proof of a wider claim is found sooner, and shorter
    _directly,
    proof_by_roots,
    proof_by_odd_factors,
    proof_by_residues,
    proof_by_equal_terms,
)


def case_certificate(o: Obligation) -> Any:
    """Return the certificate of one case as JSON, or ``None`` if none is found."""
    for strategy in _STRATEGIES:
        proof = strategy(o, recorded)
        if proof and (found := checked_json(o.name, o.hypotheses, o.goal, proof)) is not None:
            return found
    return None
