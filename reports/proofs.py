"""Proofs in Python: :func:`prove` decides the same as `indexproof prove`, and its result prints the same report."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..core.display import Shown
from ..core.errors import InputError
from ..core.op import Op
from ..core.rewrite import RuleSet
from ..verify.budget import MAX_RANK
from ..verify.catalogue import Claim
from ..verify.outcome import Run
from ..verify.proving import prove_all
from ..verify.verdict import Status
from .refutation import explain, ordered_point
from .selection import Selected, chosen, declared_by, files_among
from .summary import failing, instances, summary

__all__ = ["Proofs", "Refutation", "prove"]


@dataclass(frozen=True)
class Refutation(Shown):
    """A claim that is not proved; prints the block of the command line.

    ``values`` is the counterexample; it is empty if the claim is vacuous or undecided.
    """

    claim: str
    obligation: str
    verdict: Status
    values: Mapping[str, int]
    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Proofs(Shown):
    """Claims, and the run that decided their obligations; prints as `indexproof prove` does."""

    claims: Sequence[Any]
    run: Run
    command: str = "indexproof prove"

    @property
    def verdict(self) -> Status:
        """The worst verdict."""
        return self.run.status

    @property
    def proved(self) -> bool:
        """Whether every claim has its expected verdict."""
        return self.run.exit_status == 0

    @property
    def refutations(self) -> list[Refutation]:
        """The claims that are not proved, with counterexamples; a wrong map of an op is listed once."""
        found = []
        for wrong in failing(self.run, self.claims):
            o, v = wrong[0].obligation, wrong[0].verdict
            text = explain(wrong[0], command=self.command, also=instances(wrong, self.claims))
            found.append(Refutation(o.subject, o.kind, v.status, ordered_point(o, v.witness or {}), text))
        return found

    def blocks(self, cached: bool = True) -> Iterator[str]:
        """Yield the report block by block; ``cached`` says whether verdicts were cached."""
        return summary(self.run, self.claims, command=self.command, cached=cached)

    def __str__(self) -> str:
        return "\n\n".join(self.blocks())


def prove(
    *what: str | Claim | RuleSet | type[Op] | Sequence[Claim],
    max_rank: int = MAX_RANK,
    jobs: int | None = 1,
    confirm: str = "",
    findings: bool = True,
) -> Proofs:
    """Prove claims, given as names and files as `indexproof prove` takes them, or as rules and ops.

    Without arguments, the whole catalogue is proved.  ``jobs`` is the number of processes, ``None`` for one per core.
    With ``confirm="cvc5"`` a second solver confirms each verdict.  Without ``findings`` only gating obligations are
    decided. Raises :class:`InputError` for unreadable input, and if there is nothing to prove.
    """
    names = [w for w in what if isinstance(w, str)]
    selected = [Selected(n) for w in what if not isinstance(w, str) for n in declared_by(w, max_rank)]
    if names or not what:
        selected += chosen(names, max_rank)
    if not (owed := [o for s in selected for o in s.obligations() if o.gate or findings]):
        raise InputError("there is nothing to prove", expected="a rule or an op")
    claims = list({s.named.name: s.named for s in selected}.values())
    command = shlex.join(["indexproof", "prove", *files_among(names)])
    return Proofs(claims, prove_all(owed, jobs=jobs, confirm=confirm), command)
