"""The questions a proof rests on, kept while it is found, so that another solver can be asked them too.

Nothing is kept unless somebody asks for it with :func:`collecting`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from .linear import Leaf, leaf_smtlib


@dataclass(frozen=True)
class ProofQuestion:
    """One question whose answer was ``unsat``: the strategy that asked it, and the leaf or the script it asked."""

    strategy: str
    asked: Leaf | str

    def smtlib(self) -> str:
        """The question as a script."""
        return self.asked if isinstance(self.asked, str) else leaf_smtlib(self.asked)


_notes: ContextVar[list[ProofQuestion] | None] = ContextVar("notes", default=None)


@contextmanager
def collecting() -> Iterator[list[ProofQuestion]]:
    """A list that grows by the questions of every proof that is accepted within the block."""
    found: list[ProofQuestion] = []
    token = _notes.set(found)
    try:
        yield found
    finally:
        _notes.reset(token)


def wanted() -> bool:
    """Whether somebody collects."""
    return _notes.get() is not None


def note(questions: Iterable[ProofQuestion]) -> None:
    """Add questions that a proof rests on."""
    found = _notes.get()
    if found is not None:
        found.extend(questions)
