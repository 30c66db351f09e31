"""Records of planted mistakes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from indexproof.core.op import Case, Op
from indexproof.core.rewrite import ConstraintRule, Rule
from indexproof.rules.transfer import KnownLaw, TransferLaw
from indexproof.rules.transforms import TransformLaw
from indexproof.verify.verdict import Status

__all__ = ["Claim", "Planted", "Undeclarable", "instance", "mistaken"]

Claim = Rule | ConstraintRule | TransferLaw | KnownLaw | TransformLaw | Case


@dataclass(frozen=True)
class Planted:
    """``wrong`` must get the verdict ``status`` on its obligation of kind ``fails``; ``twin`` is the correct one."""

    name: str
    wrong: Claim
    fails: str
    twin: Claim
    status: Status = Status.REFUTED


@dataclass(frozen=True)
class Undeclarable:
    """``declare`` raises a ``DeclarationError`` that contains ``says``; ``twin`` is a declaration that works."""

    name: str
    declare: Callable[[], object]
    says: str
    twin: Claim


def instance(cls: type[Op], rank: int, label: str) -> Case:
    """Return the case of this rank whose label, after the rank, starts with ``label``."""
    wanted = f"rank {rank}, {label}"
    return next(c for c in cls.cases(rank) if c.label.startswith(wanted))


def mistaken(right: type, says: str, methods: Mapping[str, Any]) -> Any:
    """Return a subclass with other methods, named after its mistake."""
    return type(f"{right.__name__} that {says}", (right,), {"__doc__": says, **methods})
