"""The repository that `indexproof init` makes: rules, an op, claims and HLO with a gate, and what to break in it."""

from __future__ import annotations

import re
from importlib.resources import files
from typing import Final

#: The document of the first run, which later runs are compared with.
BASE: Final = "indexproof-base.json"

_, *_PARTS = re.split(r"^-- (.+) --\n", (files(__package__) / "example.txtar").read_text("utf-8"), flags=re.MULTILINE)

#: The files by their paths, the base aside, which is written by the first run.
FILES: Final = dict(zip(_PARTS[::2], _PARTS[1::2], strict=True))
