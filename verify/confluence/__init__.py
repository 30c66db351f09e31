"""Local confluence: do two rules that can rewrite the same expression lead to the same end?

:mod:`.overlap` finds every critical overlap of a catalogue's rules, :mod:`.proposals` narrows it to what strategies
propose, :mod:`.joining` joins both results with symbols for constants (:mod:`.cases` writes conditions into them),
:mod:`.ground` and :mod:`.instances` look for the smallest expression that has two normal forms, :mod:`.collisions` lets
summands combine, of which symbols know nothing, :mod:`.hiding` hides some, :mod:`.again` joins with more that is known,
and :mod:`.stated` does all of that for the rules of rule files.  For rules for constraints :mod:`.constraint_overlap` finds
the overlaps, :mod:`.domains` and :mod:`.constraint_instances` rewrite small domains, :mod:`.constraint_posed` says what
strategies propose, :mod:`.constraint_joining` joins with symbols, and :mod:`.solutions` says in what sides end.
reports/confluence.md says what the answers mean.
"""

from __future__ import annotations

from .analysis import Kind, Pair, counted, critical_pairs, decide_pair, smallest
from .run import ConfluenceRun, confluence
from .stated import decide_stated, stated_overlaps

__all__ = [
    "ConfluenceRun",
    "Kind",
    "Pair",
    "confluence",
    "counted",
    "critical_pairs",
    "decide_pair",
    "decide_stated",
    "smallest",
    "stated_overlaps",
]
