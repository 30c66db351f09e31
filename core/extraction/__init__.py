"""Extraction: choose which of several equal forms to write.

Reading gives normal forms.  A class of equal forms, an atom or a whole result, may be written as any form that an
equality says it equals: one of the rules for extraction (:attr:`.Kernel.EQUALITIES`), whose generated code checks all of
it, or reading itself.  A :mod:`.ledger` holds the graph that all results share, with its documented cost; choices in it
cost as much time as what they change.  :mod:`.search` makes those that lower the cost.
"""

from .given import as_given, takes_sums_apart
from .ledger import Choice, Ledger
from .narrow import NarrowLedger
from .search import Search

__all__ = ["Choice", "Ledger", "NarrowLedger", "Search", "as_given", "takes_sums_apart"]
