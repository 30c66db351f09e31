"""Checks derivations against the catalogue: only rules that are proved may be used."""

from __future__ import annotations

from functools import lru_cache

from ..core.derivation import Derivation, expect_derivation
from ..core.rewrite import RuleSet
from ..rules.catalog import RULES
from .cache import Cache
from .catalogue import obligations_of
from .derivation import Checked, check_derivation
from .proving import prove_all

#: Obligations about progress and applicability, not about the truth of a rule.
_NOT_ABOUT_TRUTH = frozenset({"progress", "not vacuous"})


def proved_rules(rules: RuleSet, cache: Cache | None = None) -> frozenset[str]:
    """Return the names of the rules whose soundness, definedness and proof lemmas are proved.

    Verdicts come from ``cache`` if it has them, and otherwise from the solvers.
    """
    asked = [o for r in rules for o in obligations_of(r, ()) if o.gate and o.kind not in _NOT_ABOUT_TRUTH]
    run = prove_all(asked, jobs=1, cache=cache)
    failed = {r.obligation.subject for r in run.results if not r.verdict.proved}
    # obligations that an interrupted run did not reach count as failed
    return frozenset(o.subject for o in asked) - failed


@lru_cache(maxsize=1)
def _proved() -> frozenset[str]:
    return proved_rules(RULES)


def replay(derivation: Derivation) -> Checked:
    """Check every step of a derivation from ``simplify(m, explain=True)``, as ``indexproof replay`` does.

    Each step must be an instance of a proved rule of the catalogue.  The first call proves the rules, which takes some
    seconds.  Raises :class:`~indexproof.verify.derivation.DerivationRefused`.
    """
    expect_derivation(derivation)
    return check_derivation(derivation, RULES, _proved())
