"""Claims files: plain text with claims about indexing maps and programs, each with the verdict that its author
expects.  ``reports/docs/claims.md`` describes the format.
"""

from __future__ import annotations

from .evaluate import Accuracy, ClaimResult, check_claim, check_claims
from .reader import read_claims
from .statements import Claim, ClaimsFile, Comparison, Dependence, PropertyClaim, Relation, Simplification

__all__ = [
    "Accuracy",
    "Claim",
    "ClaimResult",
    "ClaimsFile",
    "Comparison",
    "Dependence",
    "PropertyClaim",
    "Relation",
    "Simplification",
    "builtin_claims",
    "check_claim",
    "check_claims",
    "read_claims",
]


def builtin_claims() -> list[ClaimsFile]:
    """Return the claims files of the package: every map that the published descriptions print."""
    from importlib.resources import files

    folder = files(__package__.split(".", maxsplit=1)[0]) / "rules" / "claims"
    found = sorted((f for f in folder.iterdir() if f.name.endswith(".claims")), key=lambda f: f.name)
    return [read_claims(f.read_text("utf-8"), f.name) for f in found]
