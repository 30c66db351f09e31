"""Faults in claims: claims of the catalogue are changed so that they become false."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from indexproof.reports.selection import catalogue
from indexproof.verify.obligation import Obligation
from indexproof.verify.recheck import is_example
from indexproof.verify.solve import decide
from indexproof.verify.trust.disagreement import Disagreement
from indexproof.verify.verdict import Status

from .bank import BUDGET
from .fault import Batch, Fault
from .mutation import false_mutants

__all__ = ["PARTS", "claim_cases"]

#: The number of tasks that share the work.
PARTS = 6
#: The number of claims that are changed, and the number of ways for each.
_CLAIMS, _WAYS = 120, 5


@cache
def _true_claims() -> list[Obligation]:
    """Return claims of all families of the catalogue that are suitable for changes."""
    found = [
        o
        for o in catalogue(max_rank=2)
        if o.question == "valid" and o.gate and o.kind != "progress" and o.hypotheses and not o.width
    ]
    by_family: dict[str, list[Obligation]] = {}
    for o in found:
        by_family.setdefault(o.family, []).append(o)
    share = _CLAIMS // len(by_family)
    return [o for of in by_family.values() for o in of[:: max(1, len(of) // share)][:share]]


def claim_cases(task: Batch) -> Iterator[Fault]:
    """Yield the cases of one part of the claims, each changed in several ways."""
    for o in _true_claims()[task.part :: task.parts]:
        for m in false_mutants(o, _WAYS):
            try:
                v = decide(m.obligation, BUDGET)
            except Disagreement:
                # an unmodified prover must refute the claim, not contradict itself
                yield Fault("claim", m.obligation.name, "")
                continue
            refuted = v.status in (Status.REFUTED, Status.UNDEFINED)
            shown = refuted and v.witness is not None and is_example(m.obligation, v.witness)
            yield Fault("claim", m.obligation.name, "refuted" if shown else "")
