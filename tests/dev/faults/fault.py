"""A batch of faults, and what becomes of each."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Batch", "Fault"]


@dataclass(frozen=True)
class Fault:
    """One case: what was done, to what, and what noticed it (empty: nothing did)."""

    kind: str
    name: str
    noticed: str


@dataclass(frozen=True)
class Batch:
    """Cases that are performed together: a kind, and for some kinds which part of the work."""

    kind: str
    detail: str = ""
    part: int = 0
    parts: int = 1
