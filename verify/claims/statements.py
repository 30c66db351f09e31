"""The statements of a claims file, as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from ...core.indexing_map import IndexingMap
from ...core.parametric import ParametricMap
from ..verdict import Status
from .program import ClaimedProgram, Endpoint

#: How the left side relates to the right side, both as sets of pairs (source element, target element).
Relation: TypeAlias = Literal["equals", "within", "covers"]


@dataclass(frozen=True)
class Comparison:
    """``MAP == MAP``, ``MAP within MAP`` or ``MAP covers MAP``."""

    relation: Relation
    left: IndexingMap | ParametricMap
    right: IndexingMap | ParametricMap


@dataclass(frozen=True)
class Simplification:
    """``simplify MAP to MAP``: the simplifier turns ``before`` into exactly ``after``, and both are equal."""

    before: IndexingMap
    after: IndexingMap


@dataclass(frozen=True)
class PropertyClaim:
    """``property NAME ARGUMENTS : MAP``, for some properties with ``and MAP``; see :mod:`indexproof.verify.properties`."""

    name: str
    maps: tuple[IndexingMap | ParametricMap, ...]
    arguments: Mapping[str, Any]


@dataclass(frozen=True)
class Dependence:
    """``ENDPOINT -> ENDPOINT : MAPS``: which elements of two arrays of a program are related.

    The true relation equals the union of ``maps``, is contained in it (``within``) or contains it (``covers``).
    Without maps the claim is that no elements are related.
    """

    program: ClaimedProgram
    source: Endpoint
    target: Endpoint
    relation: Relation
    maps: tuple[IndexingMap, ...]


Statement: TypeAlias = "Comparison | Simplification | PropertyClaim | Dependence"


@dataclass(frozen=True)
class Claim:
    """One claim, its position, and the verdict that its author expects."""

    name: str
    line: int
    section: str
    statement: Statement
    #: The text of the claim, without comments and common indentation.
    text: str
    expected: Status = Status.PROVED
    #: The last line of the statement, and the line with the expected verdict (0 if there is none).
    last_line: int = 0
    expect_line: int = 0


@dataclass(frozen=True)
class ClaimsFile:
    """All claims of one file, in order."""

    filename: str
    claims: tuple[Claim, ...]
    text: str = field(default="", repr=False)

    def __len__(self) -> int:
        return len(self.claims)
