"""Derivations checked again, against the catalogue: only rules that are proved may be used."""

from __future__ import annotations

from functools import lru_cache

from ..core.derivation import Derivation, expect_derivation
from ..core.rewrite import RuleSet
from ..rules.catalog import RULES
from .cache import Cache
from .catalogue import obligations_of
from .derivation import Checked, check_derivation
from .proving import prove_all

#: Whether a rule ends, or ever applies, says nothing about whether it is true.
_NOT_ABOUT_TRUTH = frozenset({"progress", "not vacuous"})


def proved_rules(rules: RuleSet, cache: Cache | None = None) -> frozenset[str]:
    """The names of the rules that are proved sound and defined, together with the lemmas of their proofs.

    Verdicts in ``cache`` are used, the others are reached now, by asking the solvers.
    """
    asked = [o for r in rules for o in obligations_of(r, ()) if o.gate and o.kind not in _NOT_ABOUT_TRUTH]
    run = prove_all(asked, jobs=1, cache=cache)
    failed = {r.obligation.subject for r in run.results if not r.verdict.proved}
    # an interrupted run has results that were not reached, which count as failed
    return frozenset(o.subject for o in asked) - failed


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
