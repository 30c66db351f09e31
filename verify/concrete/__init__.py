"""Decides concrete questions, which are Presburger arithmetic, by a proof or a concrete counterexample.

:mod:`.questions` and :mod:`.equality` state claims about maps and expressions in the common form of :mod:`.problem`.
:mod:`.decide` asks the engines in a fixed order: :mod:`.normal_form`, :mod:`.enumerate`, :mod:`.sat_sweeping`,
:mod:`.witnesses`, :mod:`.isl`, :mod:`.smt`.
"""

from __future__ import annotations

from .decide import ENGINES, decide_problem
from .equality import contains, equal_maps, inverse
from .families import inclusion, same_relation
from .problem import Answer, Counterexample, EngineDisagreement, Fact, Option, Problem
from .questions import covering_domains, covers, disjoint_domains, equal_exprs, holds, in_bounds, is_empty, partition

__all__ = [
    "ENGINES",
    "Answer",
    "Counterexample",
    "EngineDisagreement",
    "Fact",
    "Option",
    "Problem",
    "contains",
    "covering_domains",
    "covers",
    "decide_problem",
    "disjoint_domains",
    "equal_exprs",
    "equal_maps",
    "holds",
    "in_bounds",
    "inclusion",
    "inverse",
    "is_empty",
    "partition",
    "same_relation",
]
