"""Compare extraction with an exhaustive search over its own proposals: ``python -m dev.exhaustive`` (in `tests`).

Production keeps a choice only if it lowers the cost at once.  Here every proposal is followed, even to a higher cost, up to
a limited depth, starting from the normal forms, from the given map and from production's result.  A cheaper result is one
that local improvement missed.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from pathlib import Path

from indexproof.core.constraint_normal import Constraints
from indexproof.core.cost import cost
from indexproof.core.extraction import Ledger, Search, as_given
from indexproof.core.extraction.ledger import Choice
from indexproof.core.indexing_map import IndexingMap
from indexproof.core.kernel.form import Form
from indexproof.core.simplify_map import simplify_map
from indexproof.rules.catalog import RULES

__all__ = ["Gap", "gap"]

#: Results that cost more are not explored.
DEAREST = 30
#: The cost of a division.
WEIGHT = 3


class Offers(Ledger):
    """A ledger that can collect proposals instead of trying them."""

    offers: list[list[Choice]] | None = None

    def attempt(self, choices: list[Choice], *, even: bool = False) -> bool:
        """Keep the choices if they lower the cost, or collect them."""
        if self.offers is None:
            return super().attempt(choices, even=even)
        self.offers += [choices] if choices else []
        return False

    def best(self, options: list[list[Choice]]) -> bool:
        """Keep the best of several options, or collect all."""
        if self.offers is None:
            return super().best(options)
        self.offers += [o for o in options if o]
        return False


@dataclass
class Exploration:
    """A depth-first search through the states of a ledger, each visited once per remaining depth."""

    search: Search
    states: int
    least: int = sys.maxsize
    visited: dict[frozenset[Form], int] = field(default_factory=dict)

    def run(self, depth: int) -> None:
        """Follow at most ``depth`` successive proposals from the current state."""
        ledger = self.search.ledger
        state = frozenset(ledger.owners)
        if self.visited.get(state, -1) >= depth or len(self.visited) >= self.states:
            return
        self.visited[state] = depth
        self.least = min(self.least, ledger.spent)
        for choices in self.offers() if depth else ():
            mark = len(ledger.log)
            if all(ledger.choose(c) for c in choices):
                self.run(depth - 1)
            ledger.undo(mark)

    def offers(self) -> list[list[Choice]]:
        """Return all proposals for the current state, without duplicates."""
        search, ledger = self.search, self.search.ledger
        assert isinstance(ledger, Offers)
        ledger.offers = found = []
        mark = len(ledger.log)
        search.improve()
        search.normal_forms()
        ledger.undo(mark)  # known digits are chosen directly, without a proposal
        ledger.offers = None
        return list({tuple((key, f) for key, f, _ in choices): choices for choices in found}.values())


@dataclass(frozen=True)
class Gap:
    """The cost of results, the least cost found, and whether the exploration was complete."""

    found: int
    least: int
    whole: bool


def gap(m: IndexingMap, states: int = 150, depth: int = 3) -> Gap | None:
    """Explore a map; return ``None`` if its results cost nothing or more than :data:`DEAREST`."""
    after = simplify_map(m, RULES)
    found = cost(after.results).weighed(WEIGHT)
    if not 0 < found <= DEAREST:
        return None
    constraints = Constraints(m, RULES, None, False, WEIGHT, False)
    constraints.run()
    engine = constraints.simplifier_of_results().engine
    assert engine is not None
    least, whole = found, True
    for es in (m.results, after.results):
        for forms in ([engine.read(e) for e in es], as_given(engine, list(es))):
            exploration = Exploration(Search(Offers(engine, WEIGHT, forms)), states)
            exploration.run(depth)
            least = min(least, exploration.least)
            whole &= len(exploration.visited) < states
    return Gap(found, least, whole)


def main() -> None:
    """Print the gaps on the corpora of the benchmark."""
    sys.path.insert(0, str(Path(__file__).parents[1] / "bench"))
    from corpora import corpus
    from peers import Ours

    ours = Ours()
    for name in ("published", "xla", "chains", "tiles", "convolutions", "threads"):
        gaps = [g for m in corpus(name) if (g := gap(ours.convert(m))) is not None]
        cheaper = [g.found - g.least for g in gaps if g.least < g.found]
        whole = sum(g.whole for g in gaps)
        print(f"{name}: {len(gaps)} maps that cost {sum(g.found for g in gaps)}, {whole} explored to the end;", end=" ")
        print(f"{len(cheaper)} have a result that costs less, by {sum(cheaper)} in all", flush=True)


if __name__ == "__main__":
    main()
