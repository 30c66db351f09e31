"""The engine: the kernel with the strategies.  The code generated from a rule set completes it (:mod:`.kernel`)."""

from __future__ import annotations

from .kernel.kernel import DEEPEST
from .strategies.sums import Sums

__all__ = ["DEEPEST", "Engine"]


class Engine(Sums):
    """Forms over one domain, in normal form; a generated subclass supplies the rules."""
