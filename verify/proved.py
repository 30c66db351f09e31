"""The rules that are proved, which are those that a derivation in checked mode may use."""

from __future__ import annotations

from ..core.rewrite import RuleSet
from .cache import Cache
from .catalogue import obligations_of
from .proving import prove_all

__all__ = ["proved_rules"]

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
