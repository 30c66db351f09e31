"""The named rule sets."""

from __future__ import annotations

from dataclasses import replace

from ..core.rewrite import RuleSet
from . import constraints as _constraints
from . import division as _division
from . import minmax as _minmax
from . import mixed_radix as _mixed_radix
from . import remainder as _remainder
from . import sharing as _sharing
from . import sums as _sums
from .compiled import CatalogueEngine

__all__ = ["RULES", "constraints", "division", "minmax", "mixed_radix", "remainder", "sharing", "sums"]

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
