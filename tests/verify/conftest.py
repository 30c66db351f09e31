"""Fixtures of tests of verdicts: the strategies that stated rules and claims may need."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="session")
def linear_strategies() -> frozenset[str]:
    """Strategies by which rules and claims in files are proved: none of them asks a nonlinear engine."""
    digits = ("recombined digits", "equated dividends")
    return frozenset(("identity", "linear", "generalisation", "linearisation", *digits))
