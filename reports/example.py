"""The repository that `indexproof init` makes: rules, an op, claims, HLO, a gate, and suggestions what to break."""

from __future__ import annotations

import re
from importlib.resources import files
from typing import Final

#: The base: the document of the first run, with which later runs are compared.
BASE: Final = "indexproof-base.json"

_, *_PARTS = re.split(r"^-- (.+) --\n", (files(__package__) / "example.txtar").read_text("utf-8"), flags=re.MULTILINE)

#: The files by path, without the base, which the first run writes.
FILES: Final = dict(zip(_PARTS[::2], _PARTS[1::2], strict=True))
