"""Everything the project claims, as obligations: rewrite rules, constraint rules, transfer functions, map transforms,
op map pairs.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence

from ..core.layout.placement import Padded
from ..core.op import Case
from ..core.rewrite import ConstraintRule, Rule, RuleSet
from ..rules.catalog import RULES
from ..rules.ops import OPS
from ..rules.transfer import CONGRUENCE_LAWS, TRANSFER_LAWS, CongruenceLaw, TransferLaw
from ..rules.transforms import TRANSFORM_LAWS, TransformLaw
from .launches import launch_cases
from .layouts import layout_cases, layout_obligations
from .lemmas import lemma_obligations
from .obligations import (
    Obligation,
    congruence_obligations,
    constraint_rule_obligations,
    op_obligations,
    rule_obligations,
    transfer_obligations,
)
from .rulefiles import StatedRule, stated_rule_obligations
from .schemes import LEMMAS, STEPS, Scheme
from .transforms import transform_obligations

__all__ = ["MAX_RANK", "WIDTHS", "catalogue", "claims", "obligations_of", "select"]

#: Op pairs are proved for every rank up to this one.
MAX_RANK = 4
#: Machine widths for which rules owe *no new overflow*.
WIDTHS = (32, 64)

Claim = Rule | ConstraintRule | TransferLaw | CongruenceLaw | TransformLaw | Scheme | Case | StatedRule


def claims(rules: RuleSet = RULES, max_rank: int = MAX_RANK) -> Iterator[tuple[str, Claim]]:
    """Every claim with its name, in catalogue order."""
    for r in rules:
        yield r.name, r
    for transfer in TRANSFER_LAWS:
        yield transfer.name, transfer
    for congruence in CONGRUENCE_LAWS:
        yield congruence.name, congruence
    for transform in TRANSFORM_LAWS:
        yield transform.name, transform
    for lemma in (*LEMMAS.values(), *STEPS.values()):
        yield f"lemma: {lemma.name}", lemma
    for cls in OPS.values():
        for rank in range(max_rank + 1):
            for case in cls.cases(rank):
                yield f"{cls.name} {case.label}", case
    for rank in range(max_rank + 1):
        for case in itertools.chain(layout_cases(rank), launch_cases(rank)):
            yield f"{case.op.name} {case.label}", case


def obligations_of(claim: Claim, widths: Sequence[int] = WIDTHS) -> Iterator[Obligation]:
    """What one claim owes."""
    match claim:
        case Rule():
            return rule_obligations(claim, widths)
        case ConstraintRule():
            return constraint_rule_obligations(claim)
        case TransferLaw():
            return transfer_obligations(claim)
        case CongruenceLaw():
            return congruence_obligations(claim)
        case TransformLaw():
            return transform_obligations(claim)
        case Scheme():
            return lemma_obligations(claim)
        case StatedRule():
            return stated_rule_obligations(claim)
        case Case():
            return layout_obligations(claim) if isinstance(claim.op, Padded) else op_obligations(claim)


def catalogue(names: Iterable[str] = (), max_rank: int = MAX_RANK) -> list[Obligation]:
    """The obligations of the named claims, or of all of them.  Raises :class:`KeyError` for a name nothing has."""
    wanted = list(names)
    if not wanted:
        return [o for _, claim in claims(max_rank=max_rank) for o in obligations_of(claim)]
    return [o for claim in select(wanted, max_rank) for o in obligations_of(claim)]


def select(names: Sequence[str], max_rank: int = MAX_RANK) -> list[Claim]:
    """The claims with these names.  An op's bare name (``transpose``) and a family (``rules``, ``transfer``,
    ``transforms``, ``lemmas``, ``ops``) select all of theirs.
    """
    everything = list(claims(max_rank=max_rank))
    out: list[Claim] = []
    for name in names:
        found = [c for n, c in everything if n == name]
        if not found:
            found = [c for _, c in everything if isinstance(c, Case) and c.op.name == name]
        if not found and name == "rules":
            found = [c for _, c in everything if isinstance(c, (Rule, ConstraintRule))]
        if not found and name == "transfer":
            found = [c for _, c in everything if isinstance(c, (TransferLaw, CongruenceLaw))]
        if not found and name == "transforms":
            found = [c for _, c in everything if isinstance(c, TransformLaw)]
        if not found and name == "lemmas":
            found = [c for _, c in everything if isinstance(c, Scheme)]
        if not found and name == "ops":
            found = [c for _, c in everything if isinstance(c, Case)]
        if not found:
            raise KeyError(name)
        out.extend(c for c in found if c not in out)
    return out
