"""The catalogue as obligations: rewrite rules, constraint rules, transfer laws, tile laws, transforms, op map pairs."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from ..core.launch import GridOrder
from ..core.layout.placement import Placement, Tiling
from ..core.op import Case
from ..core.rewrite import ConstraintRule, Rule, RuleSet
from ..rules import catalog
from ..rules.catalog import RULES
from ..rules.ops import OPS
from ..rules.tiles import TILE_LAWS, TileLaw
from ..rules.transfer import KNOWN_LAWS, TRANSFER_LAWS, KnownLaw, TransferLaw
from ..rules.transforms import TRANSFORM_LAWS, TransformLaw
from .budget import MAX_RANK, ranks
from .compiled import compiled_obligations, obligations_of_check
from .layouts import layout_cases, layout_obligations
from .lemmas import lemma_obligations
from .obligation import STATED, Obligation
from .obligations import (
    constraint_rule_obligations,
    known_obligations,
    op_obligations,
    rule_obligations,
    transfer_obligations,
)
from .rulefiles import StatedRule, stated_rule_obligations
from .schemes import LEMMAS, STEPS, Scheme
from .transforms import transform_obligations

#: Machine widths for which rules owe *no new overflow*.
WIDTHS = (32, 64)

Named = Rule | ConstraintRule | TransferLaw | KnownLaw | TransformLaw | Scheme
Claim = Named | Case | StatedRule


@dataclass(frozen=True)
class Section:
    """Consecutive claims of the catalogue that one source file declares.

    ``home`` is the path of the file below the package, or empty for a file elsewhere.  ``claims`` yields the claims up
    to a rank, each with its name.
    """

    name: str
    home: str
    claims: Callable[[int], Iterator[tuple[str, Claim]]]


def _home(module: str) -> str:
    """Return the file of a module of this package, or an empty string for another module."""
    package, _, inner = module.partition(".")
    path = f"{inner.replace('.', '/')}.py"
    return path if package == __name__.partition(".")[0] and module in sys.modules else ""


def _named(found: Iterable[Named], prefix: str = "") -> Callable[[int], Iterator[tuple[str, Claim]]]:
    listed: list[tuple[str, Claim]] = [(f"{prefix}{c.name}", c) for c in found]
    return lambda max_rank: iter(listed)


def _cases(*cases: Callable[[int], Iterator[Case]]) -> Callable[[int], Iterator[tuple[str, Claim]]]:
    def made(max_rank: int) -> Iterator[tuple[str, Claim]]:
        for rank in ranks(max_rank):
            for case in itertools.chain(*(some(rank) for some in cases)):
                yield f"{case.op.name} {case.label}", case

    return made


def sections(rules: RuleSet = RULES) -> list[Section]:
    """Split the catalogue, in order, into the parts that one source file declares each."""
    declared = {
        id(r): getattr(catalog, known).name
        for known in catalog.__all__
        if isinstance(getattr(catalog, known), RuleSet) and known != "RULES"
        for r in getattr(catalog, known)
    }
    found: list[Section] = []
    for module, group in itertools.groupby(rules, key=lambda r: declared.get(id(r), "")):
        home = _home(f"{catalog.__package__}.{module}") if module else ""
        found.append(Section(f"rules {module}", home, _named(group)))
    laws: tuple[tuple[str, type, Sequence[Named]], ...] = (
        ("transfer", TransferLaw, (*TRANSFER_LAWS, *KNOWN_LAWS)),
        ("tiles", TileLaw, TILE_LAWS),
        ("transforms", TransformLaw, TRANSFORM_LAWS),
    )
    found += (Section(name, _home(cls.__module__), _named(some)) for name, cls, some in laws)
    lemmas = _named((*LEMMAS.values(), *STEPS.values()), "lemma: ")
    found.append(Section("lemmas", _home(Scheme.__module__), lemmas))
    found += (Section(f"op {cls.__name__}", _home(cls.__module__), _cases(cls.cases)) for cls in OPS.values())
    found.append(Section("placements", _home(layout_cases.__module__), _cases(layout_cases, GridOrder.cases)))
    # a file that recurs later in the catalogue begins a section of another name
    names = [s.name for s in found]
    return [replace(s, name=f"{s.name} {k}") if s.name in names[:k] else s for k, s in enumerate(found)]


def claims(rules: RuleSet = RULES, max_rank: int = MAX_RANK) -> Iterator[tuple[str, Claim]]:
    """Yield every claim with its name, in catalogue order."""
    for section in sections(rules):
        yield from section.claims(max_rank)


def obligations_of(claim: Claim, widths: Sequence[int] = WIDTHS) -> Iterator[Obligation]:
    """Yield the obligations of one claim."""
    match claim:
        case Rule():
            return itertools.chain(rule_obligations(claim, widths), compiled_obligations(claim))
        case ConstraintRule():
            return itertools.chain(constraint_rule_obligations(claim), obligations_of_check(claim))
        case TransferLaw():
            return transfer_obligations(claim)
        case KnownLaw():
            return known_obligations(claim)
        case TransformLaw():
            return transform_obligations(claim)
        case Scheme():
            return lemma_obligations(claim)
        case StatedRule():
            return stated_rule_obligations(claim)
        case Case():
            placed = isinstance(claim.op, Tiling | Placement)
            return layout_obligations(claim) if placed else op_obligations(claim)


_FAMILIES = {
    Rule: "rule",
    ConstraintRule: "constraint rule",
    TransferLaw: "transfer",
    TransformLaw: "transform",
    Scheme: "lemma",
    Case: "op",
    StatedRule: STATED,
}


def family_of(claim: Claim) -> str:
    """Return the family of a claim's obligations."""
    if isinstance(claim, KnownLaw):
        return claim.family
    return next(family for kind, family in _FAMILIES.items() if isinstance(claim, kind))


def group_of(name: str, claim: Claim) -> str:
    """Return the name under which reports list a claim: that of the op for an instance, or else its own."""
    return claim.op.name if isinstance(claim, Case) else name
