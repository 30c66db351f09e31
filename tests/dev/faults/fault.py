"""A batch of faults, and the result of each."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Batch", "Fault"]


@dataclass(frozen=True)
class Fault:
    """One case: the kind of fault, the changed object, and the check that noticed it (empty if none did)."""

    kind: str
    name: str
    noticed: str


@dataclass(frozen=True)
class Batch:
    """Cases that are performed together: a kind, and for some kinds a part of the work."""

    kind: str
    detail: str = ""
    part: int = 0
    parts: int = 1
