"""Reports on contradicting engines, and on exported obligations."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from .. import __version__
from ..verify.trust.disagreement import Disagreement
from .layout import block, count
from .serializer import text_of

if TYPE_CHECKING:
    from ..verify.trust.export import Exported


def disagreement_text(found: Disagreement, folder: Path) -> str:
    """Write the question to ``folder`` and return the report on two engines that contradict each other."""
    try:
        question, answers = found.write(folder)
        where = [("question", str(question)), ("answers", str(answers))]
    except OSError as error:
        where = [("question", f"cannot write it to {folder}: {error.strerror}"), ("", found.script)]
    lines = [("about", found.what), *((name, answer) for name, answer in found.answers.items())]
    if found.note:
        lines.append(("note", found.note))
    lines += [*where, ("so", "nothing is proved until it is known which of them is wrong")]
    return block(f"DISAGREEMENT  {found.obligation}", lines)


# --------------------------------------------------------------------------------------------------------- export
def write_export(found: Sequence[Exported], folder: Path, versions: str) -> str:
    """Write the files of obligations and their index, and return a summary.  Raises :class:`OSError`."""
    folder.mkdir(parents=True, exist_ok=True)
    for one in found:
        for name, text in one.files.items():
            (folder / name).write_text(text, "utf-8")
    index = {"format": "indexproof export 1", "version": __version__, "by": versions}
    entries = [one.entry for one in found]
    (folder / "index.json").write_text(text_of({**index, "obligations": entries}) + "\n", "utf-8")
    questions = [q for e in entries for q in e["questions"] if q["file"]]
    lines = [f"{count(len(found), 'obligation')}, {count(len(questions), 'question')} in {folder}"]
    if asked := [q for q in questions if "proof" in q]:
        have = [q for q in asked if q["proof"]]
        complete = sum(q["complete"] for q in have)
        said = f"by cvc5, {complete:,} without a step taken on trust"
        lines.append(f"{len(have):,} of {count(len(asked), 'proof')} {said}")
    return "\n".join(lines)
