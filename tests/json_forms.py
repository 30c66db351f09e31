"""The keys of the JSON documents, as reports/json.md lists them."""

from __future__ import annotations

import re
from pathlib import Path

__all__ = ["FORMS"]


def _forms() -> dict[str, set[str]]:
    page = (Path(__file__).parent.parent / "reports/json.md").read_text("utf-8")
    frame, *sections = re.split(r"^## ", page, flags=re.MULTILINE)
    every = _keys(frame)
    return {s.partition("\n")[0]: every | _keys(s) for s in sections}


def _keys(text: str) -> set[str]:
    return set(re.findall(r"^- `(\w+)`:", text, flags=re.MULTILINE))


#: The keys of all documents of a section, by the name of the section.
FORMS = _forms()
