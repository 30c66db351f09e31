"""The engine: the kernel with the strategies.  Code generated from a rule set completes it (:mod:`.kernel`)."""

from __future__ import annotations

from .kernel.kernel import DEEPEST
from .strategies.sums import Sums

__all__ = ["DEEPEST", "Engine"]


class Engine(Sums):
    """An engine for normal forms over one domain; a generated subclass supplies the rules."""
