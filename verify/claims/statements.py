"""The statements of a claims file, as values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from ...core.indexing_map import IndexingMap
from ...core.parametric import ParametricMap
from ..verdict import Status
from .program import ClaimedProgram, Endpoint

#: How the left side relates to the right one; as sets of pairs (source element, target element).
Relation: TypeAlias = Literal["equals", "within", "covers"]


@dataclass(frozen=True)
class Comparison:
    """``MAP == MAP``, ``MAP within MAP`` or ``MAP covers MAP``."""

    relation: Relation
    left: IndexingMap | ParametricMap
    right: IndexingMap | ParametricMap


@dataclass(frozen=True)
class Simplification:
    """``simplify MAP to MAP``: the simplifier makes exactly ``after`` of ``before``, and both are equal."""

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
    """``ENDPOINT -> ENDPOINT : MAPS``: how the elements of two arrays of a program belong together.

    With ``within`` the truth lies within ``maps`` taken together, with ``covers`` it covers them; no maps is
    the claim that nothing belongs together.
    """

    program: ClaimedProgram
    source: Endpoint
    target: Endpoint
    relation: Relation
    maps: tuple[IndexingMap, ...]


Statement: TypeAlias = "Comparison | Simplification | PropertyClaim | Dependence"


@dataclass(frozen=True)
class Claim:
    """One claim, where it stands, and the verdict that its author expects."""

    name: str
    line: int
    section: str
    statement: Statement
    #: What was written, without comments and common indentation.
    text: str
    expected: Status = Status.PROVED
    #: The last line of the statement, and the line that says what to expect (0 for none).
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
