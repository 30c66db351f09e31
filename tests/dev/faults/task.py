"""What is done on purpose: a task, and the cases that come of it."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Outcome", "Task"]


@dataclass(frozen=True)
class Outcome:
    """One case: what was done, to what, and what noticed it (empty: nothing did)."""

    kind: str
    name: str
    noticed: str


@dataclass(frozen=True)
class Task:
    """Cases that are performed together: a kind, and for some kinds which part of the work."""

    kind: str
    detail: str = ""
    part: int = 0
    parts: int = 1
