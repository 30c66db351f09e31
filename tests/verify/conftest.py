"""Fixtures of the tests of verdicts."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="session")
def linear_strategies() -> frozenset[str]:
    """Return the strategies that rules and claims in files may need; none of them uses a nonlinear engine."""
    return frozenset(("identity", "linear", "generalisation", "linearisation", "recombined digits"))
