"""The error that ends a run if two engines contradict each other, with everything to repeat the question."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ...core.errors import IndexproofError


class Disagreement(IndexproofError):
    """Raised if a second solver contradicts a verdict, so that one of the two (or an encoding) is wrong.

    ``script`` is the question in SMT-LIB 2, and ``answers`` has the answer of each engine, by name and version.  It
    ends the run.
    """

    def __init__(self, obligation: str, what: str, script: str, answers: Mapping[str, str], note: str = "") -> None:
        self.obligation, self.what, self.script = obligation, what, script
        self.answers, self.note = dict(answers), note
        said = ", ".join(f"{name}: {answer}" for name, answer in answers.items())
        super().__init__(f"{obligation}: engines disagree about {what} ({said})" + (f"; {note}" if note else ""))

    def __reduce__(self) -> tuple[Any, ...]:
        return Disagreement, (self.obligation, self.what, self.script, self.answers, self.note)

    @property
    def name(self) -> str:
        """A name for files, determined by the question."""
        return f"disagreement-{hashlib.sha256(self.script.encode()).hexdigest()[:12]}"

    def write(self, folder: Path) -> tuple[Path, Path]:
        """Write the question as ``.smt2`` and the answers as ``.json``; return both paths.  Raises :class:`OSError`."""
        folder.mkdir(parents=True, exist_ok=True)
        question, answers = folder / f"{self.name}.smt2", folder / f"{self.name}.json"
        question.write_text(self.script, "utf-8")
        said = {
            "obligation": self.obligation,
            "about": self.what,
            "answers": self.answers,
            "note": self.note,
            "question": question.name,
        }
        answers.write_text(json.dumps(said, indent=2, ensure_ascii=False) + "\n", "utf-8")
        return question, answers
