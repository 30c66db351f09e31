"""Two engines that contradict each other: the end of a run, with everything that repeats it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ...core.errors import IndexproofError


class Disagreement(IndexproofError):
    """A second solver contradicts a verdict, so that one of the two (or an encoding) is wrong.

    ``script`` is the question as SMT-LIB 2; ``answers`` what each engine says of it, by name and version.  A run that
    meets one ends with it.
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
        """A name for files, the same for the same question."""
        return f"disagreement-{hashlib.sha256(self.script.encode()).hexdigest()[:12]}"

    def write(self, folder: Path) -> tuple[Path, Path]:
        """Write the question as ``.smt2`` and the answers as ``.json``; returns where.  Raises :class:`OSError`."""
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
