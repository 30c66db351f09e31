"""Certificates of the cases of a rule: as of any claim, and by the strategies that only such cases have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core.condition import Condition
from .. import linear
from ..linear.export import certificate, checked_json, recorded
from ..linear.record import Node
from ..obligation import Obligation
from .equal_terms import proof_by_equal_terms
from .modular import proof_by_odd_factors, proof_by_residues, proof_by_roots


def case_certificate(o: Obligation, budget: linear.ReductionBudget | None = None) -> Any:
    """The certificate of one case as JSON, or ``None`` where none is found."""
    found, _ = certificate(o.name, o.hypotheses, o.goal, budget)
    if found is not None:
        return found

    def show(hypotheses: Sequence[Condition], goal: Condition) -> Node | None:
        return recorded(hypotheses, goal, budget)

    proof = (
        proof_by_roots(o, show)
        or proof_by_odd_factors(o, show)
        or proof_by_residues(o, show)
        or proof_by_equal_terms(o, show)
    )
    return proof and checked_json(o.name, o.hypotheses, o.goal, proof)
