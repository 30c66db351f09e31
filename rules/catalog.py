"""The named rule sets."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from ..core.kernel.generate import engine_source
from ..core.rewrite import RuleSet
from . import constraints as _constraints
from . import division as _division
from . import minmax as _minmax
from . import mixed_radix as _mixed_radix
from . import remainder as _remainder
from . import sharing as _sharing
from . import sums as _sums
from .compiled import CatalogueEngine

__all__ = [
    "COMPILED",
    "RULES",
    "compiled_source",
    "constraints",
    "division",
    "minmax",
    "mixed_radix",
    "remainder",
    "sharing",
    "sums",
]

sums = RuleSet.of(_sums)
division = RuleSet.of(_division)
remainder = RuleSet.of(_remainder)
mixed_radix = RuleSet.of(_mixed_radix)
minmax = RuleSet.of(_minmax)
sharing = RuleSet.of(_sharing)
constraints = RuleSet.of(_constraints)

#: Everything, in the order in which it is tried.
RULES: RuleSet = replace(
    sums + division + remainder + mixed_radix + minmax + sharing + constraints,
    name="catalogue",
    engine=CatalogueEngine,
)


#: The module that defines the engine; it is written by :func:`compiled_source` and committed.
COMPILED = Path(__file__).with_name("compiled.py")


def compiled_source() -> str:
    """What :data:`COMPILED` has to say for the rules as they are declared now."""
    return engine_source(RULES.rules, CatalogueEngine.__name__, "The production engine of the catalogue.")
