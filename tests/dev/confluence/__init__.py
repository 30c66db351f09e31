"""Search for maps on which the result of the production simplifier depends on the order of rules.

:mod:`.instances` makes small ground instances of the declarations and embeds one rule's left-hand side in another's.
:mod:`.search` rewrites each with one rule or the other, gives all forms to the simplifier and compares the results.
reports/confluence.md explains the verdicts.
"""

from __future__ import annotations

from .search import COUNT, Example, Found, OverlapSearch, Pair, examine, pairs_of, search

__all__ = ["COUNT", "Example", "Found", "OverlapSearch", "Pair", "examine", "pairs_of", "search"]
