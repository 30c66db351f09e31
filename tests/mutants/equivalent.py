"""Mutants of trusted files that change nothing that anybody could notice, each with the reason."""

from __future__ import annotations

from typing import Final

__all__ = ["EQUIVALENT"]

#: By ``Mutant.key``.
EQUIVALENT: Final[dict[str, str]] = {}
