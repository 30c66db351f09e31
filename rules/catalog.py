"""The named rule sets."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from ..core.constraint_matcher import constraint_source, use_written
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
from .compiled_constraints import CHECKS

__all__ = [
    "COMPILED",
    "COMPILED_CONSTRAINTS",
    "RULES",
    "compiled_sources",
    "constraints",
    "division",
    "minmax",
    "mixed_radix",
    "outdated_code",
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

#: All rules, in the order in which they are tried.
RULES: RuleSet = replace(
    sums + division + remainder + mixed_radix + minmax + sharing + constraints, name="catalogue", engine=CatalogueEngine
)


use_written(RULES.constraints, CHECKS)

#: The generated and committed modules (:func:`compiled_sources`): the engine, and the checks of constraint rules.
COMPILED = Path(__file__).with_name("compiled.py")
COMPILED_CONSTRAINTS = Path(__file__).with_name("compiled_constraints.py")


def compiled_sources() -> dict[Path, str]:
    """Return the text of the generated modules for the rules as they are declared now."""
    engine = engine_source(RULES.rules, CatalogueEngine.__name__, "The production engine of the catalogue.")
    checks = constraint_source(RULES.constraints, "The checks of the constraint rules of the catalogue.")
    return {COMPILED: engine, COMPILED_CONSTRAINTS: checks}


def outdated_code() -> bool:
    """Return whether the generated modules were written from other rules."""
    return any(path.read_text("utf-8") != text for path, text in compiled_sources().items())
