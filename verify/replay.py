"""Derivations checked again, against the catalogue and the verdicts on its rules."""

from __future__ import annotations

from functools import lru_cache

from ..core.derivation import Derivation, expect_derivation
from ..rules.catalog import RULES
from .derivation import Checked, check_derivation
from .proved import proved_rules

__all__ = ["replay"]


@lru_cache(maxsize=1)
def _proved() -> frozenset[str]:
    return proved_rules(RULES)


def replay(derivation: Derivation) -> Checked:
    """Check every step of what ``simplify(m, explain=True)`` returned, as ``indexproof replay`` does.

    Each must be an instance of a rule of the catalogue that is proved; the first call proves them, which takes some
    seconds.  Raises :class:`~indexproof.verify.derivation.DerivationRefused`.
    """
    expect_derivation(derivation)
    return check_derivation(derivation, RULES, _proved())
