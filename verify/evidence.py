"""Records the questions that a proof rests on, so that another solver can be asked too.

Nothing is recorded outside :func:`collecting`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from .linear import Leaf, leaf_smtlib


@dataclass(frozen=True)
class ProofQuestion:
    """A question that was answered ``unsat``: the strategy that asked it, and the leaf or script."""

    strategy: str
    asked: Leaf | str

    def smtlib(self) -> str:
        """Return the question as an SMT-LIB script."""
        return self.asked if isinstance(self.asked, str) else leaf_smtlib(self.asked)


_notes: ContextVar[list[ProofQuestion] | None] = ContextVar("notes", default=None)


@contextmanager
def collecting() -> Iterator[list[ProofQuestion]]:
    """Collect the questions of every proof that is accepted within the block, in the list returned."""
    found: list[ProofQuestion] = []
    token = _notes.set(found)
    try:
        yield found
    finally:
        _notes.reset(token)


def wanted() -> bool:
    """Return whether questions are being collected."""
    return _notes.get() is not None


def note(questions: Iterable[ProofQuestion]) -> None:
    """Record questions that a proof rests on."""
    found = _notes.get()
    if found is not None:
        found.extend(questions)
