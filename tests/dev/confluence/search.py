"""The search: overlaps of two rules, simplified in every order, and the differences between the results.

Nothing depends on the clock or on the number of processes: the attempts for two rules are a fixed random sequence,
seeded by their names, and the number of instances is given.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from itertools import combinations_with_replacement
from random import Random
from typing import Any, Final, Protocol

from indexproof.core.cost import map_cost
from indexproof.core.expr import Int, Sum, postorder
from indexproof.core.indexing_map import IndexingMap
from indexproof.core.rewrite import ConstraintRule, Rule
from indexproof.core.text import format_map
from indexproof.rules.catalog import RULES
from indexproof.rules.simplifier import simplify
from indexproof.verify.outcome import available_cores
from indexproof.verify.pool import each

from .instances import AnyRule, Miss, Overlap, overlap

__all__ = ["COUNT", "Example", "Found", "OverlapSearch", "Pair", "Simplify", "examine", "pairs_of", "search"]

#: The default number of instances for two rules, and the limit on the attempts for each.
COUNT: Final = 16
_ATTEMPTS: Final = 16
#: The number of points of its domain at which an instance and its results are evaluated.
_POINTS: Final = 8


class Simplify(Protocol):
    """The simplifier that is examined."""

    def __call__(self, m: IndexingMap, *, quick: bool = ...) -> IndexingMap: ...


class Found(StrEnum):
    """Kinds of differences, worst first."""

    #: a rule or the simplifier changes a value
    WRONG = "wrong"
    #: the results cost differently
    COST = "cost"
    #: the results cost the same but differ
    FORM = "form"


_WORST: Final = {kind: n for n, kind in enumerate(Found)}


@dataclass(frozen=True)
class Example:
    """Two ways of writing one map and the simplified form of each; ``way`` names the difference."""

    kind: Found
    way: str
    quick: bool
    given: tuple[str, str]
    results: tuple[str, str]
    weights: tuple[int, int]
    #: the size of the given map: symbols, constants, points
    size: tuple[int, int, int]

    @property
    def rank(self) -> tuple[Any, ...]:
        """The sort key: changed values first, then missed cheaper results, then smaller maps."""
        return _WORST[self.kind], self.weights[0] <= self.weights[1], self.size, self.quick, self.given


@dataclass(frozen=True)
class Pair:
    """The differences found for two rules in ``instances`` overlaps: their number, and the worst and smallest examples.

    Both are grouped by the cause of the difference: `rewritten`, `renamed` or `reordered`.
    """

    outer: str
    inner: str
    instances: int
    counts: dict[str, dict[Found, int]]
    examples: dict[str, Example]

    @property
    def example(self) -> Example | None:
        """The worst and smallest example of all."""
        return min(self.examples.values(), key=lambda e: e.rank, default=None)

    @property
    def verdict(self) -> str:
        """The verdict in words, which never claims that no difference exists."""
        if self.example is not None:
            return "WRONG" if self.example.kind is Found.WRONG else "ORDER MATTERS"
        return f"none found ({self.instances} instances)" if self.instances else "no instance"


@dataclass
class OverlapSearch:
    """A run over pairs of rules, in their order."""

    count: int
    total: int
    pairs: list[Pair] = field(default_factory=list)
    interrupted: bool = False

    @property
    def instances(self) -> int:
        """The number of overlaps examined."""
        return sum(p.instances for p in self.pairs)

    @property
    def verdict(self) -> str:
        """The worst verdict."""
        kinds = {p.example.kind for p in self.pairs if p.example is not None}
        if kinds:
            return "WRONG" if Found.WRONG in kinds else "ORDER MATTERS"
        return "NOT CHECKED" if self.interrupted or not self.instances else "NONE FOUND"

    @property
    def exit_status(self) -> int:
        """0 if no difference was found, 1 if one was, 2 if none was found but the search is incomplete."""
        return {"NONE FOUND": 0, "NOT CHECKED": 2}.get(self.verdict, 1)


# ---------------------------------------------------------------------------------------------------- one instance
@dataclass(frozen=True)
class _Way:
    """One way of writing a map, and the function that translates a result back to the first way."""

    name: str
    m: IndexingMap
    back: Callable[[IndexingMap], IndexingMap] = lambda m: m


def _renamed(m: IndexingMap) -> _Way:
    """Rename the dimensions in reverse order, which reorders sums."""
    names = [v.name for v in m.dims]
    there = {n: f"x{k}" for k, n in enumerate(reversed(names))}
    back = {new: old for old, new in there.items()}
    turned = m.with_(dims=m.dims[::-1]).rename(there)
    return _Way("other names", turned, lambda r: r.rename(back).with_(dims=r.rename(back).dims[::-1]))


def _turned(m: IndexingMap) -> IndexingMap:
    return m.with_(results=m.results[::-1], constraints=m.constraints[::-1])


def _questions(outer: AnyRule, inner: AnyRule, at: Overlap) -> dict[str, list[_Way]]:
    """Return groups of maps; all maps of a group should have the same result."""
    start = _Way("as it is", at.start)
    together = at.start
    if not at.start.constraints:
        together = at.start.with_(results=[m.results[0] for m in (at.start, at.first, at.second)])
    return {
        "rewritten": [start, _Way(f"{outer.name} first", at.first), _Way(f"{inner.name} first", at.second)],
        "renamed": [start, _renamed(at.start)],
        "reordered": [_Way("as it is", together), _Way("other order", _turned(together), _turned)],
    }


def _same(m: IndexingMap) -> Any:
    """Return the key by which results are compared; the order of constraints does not count."""
    return m.dims, m.results, frozenset(m.constraints)


def _size(m: IndexingMap) -> tuple[int, int, int]:
    nodes = postorder(*m.results, *(c.expr for c in m.constraints))
    constants = sum(abs(n.value) for n in nodes if isinstance(n, Int))
    constants += sum(abs(n.const) + sum(abs(k) for _, k in n.terms) for n in nodes if isinstance(n, Sum))
    return len(nodes), constants, sum(v.size + abs(v.lo) for v in m.dims)


def _examples(ways: Sequence[_Way], simplify: Simplify, points: Sequence[Sequence[int]]) -> Iterator[Example]:
    """Yield the differences between the results for one group of maps, at most one for each setting."""
    seen: set[IndexingMap] = set()

    def differs(m: IndexingMap) -> bool:
        """Return whether a map that is not in ``seen`` has different values."""
        if m in seen:
            return False
        seen.add(m)
        return [m.evaluate(p) for p in points] != expected

    expected = [ways[0].m.evaluate(p) for p in points]

    def example(kind: Found, a: int, b: int, quick: bool, results: Sequence[IndexingMap]) -> Example:
        one, two = ways[a], ways[b]
        given = one.back(one.m), two.back(two.m)
        ends = results[a], results[b]
        return Example(
            kind,
            two.name if a == 0 else f"{one.name} / {two.name}",
            quick,
            (format_map(given[0]), format_map(given[1])),
            (format_map(ends[0]), format_map(ends[1])),
            (map_cost(ends[0]).weight, map_cost(ends[1]).weight),
            _size(ways[0].m),
        )

    for quick in (False, True):
        results = [w.back(simplify(w.m, quick=quick)) for w in ways]
        for n, w in enumerate(ways):
            if differs(w.back(w.m)) or differs(results[n]):
                yield example(Found.WRONG, 0, n, quick, results)
                return
        apart = [n for n, r in enumerate(results) if _same(r) != _same(results[0])]
        if not apart:
            continue
        weights = [map_cost(r).weight for r in results]
        if min(weights) < max(weights):
            a, b = sorted((weights.index(min(weights)), weights.index(max(weights))))
            yield example(Found.COST, a, b, quick, results)
        else:
            yield example(Found.FORM, 0, apart[0], quick, results)


def examine(outer: AnyRule, inner: AnyRule, count: int = COUNT, simplify: Simplify = simplify) -> Pair:
    """Simplify up to ``count`` overlaps of two rules in every order and compare.

    Each rule is the outer one in every other attempt, where that is possible.
    """
    counts: dict[str, Counter[Found]] = {}
    best: dict[str, Example] = {}
    seen: set[Overlap] = set()
    both = [(outer, inner)]
    if type(outer) is type(inner):
        both.append((inner, outer))
    for number in range(count * _ATTEMPTS):
        rng = Random(f"{outer.name} {inner.name} {number}")
        try:
            one, other = both[number % len(both)]
            at = overlap(one, other, rng)
        except Miss:
            continue
        if at in seen:
            continue
        seen.add(at)
        points = [[rng.randint(v.lo, v.hi) for v in at.start.dims] for _ in range(_POINTS)]
        for how, ways in _questions(one, other, at).items():
            found = sorted(_examples(ways, simplify, points), key=lambda e: e.rank)
            if found:
                counts.setdefault(how, Counter())[found[0].kind] += 1
                best[how] = min(best.get(how, found[0]), found[0], key=lambda e: e.rank)
        if len(seen) == count:
            break
    return Pair(outer.name, inner.name, len(seen), {how: dict(n) for how, n in counts.items()}, best)


# -------------------------------------------------------------------------------------------------------- a run
def pairs_of(rules: Sequence[AnyRule] = tuple(RULES), among: Sequence[str] = ()) -> list[tuple[AnyRule, AnyRule]]:
    """Return all pairs of rules, each rule with itself too; with ``among`` only pairs with a rule of these names.

    Structural and sharing rules are left out.  A rule for constraints is the outer one of a pair with a rule for
    expressions.
    """
    constraints: list[AnyRule] = [r for r in rules if isinstance(r, ConstraintRule)]
    plain: list[AnyRule] = [r for r in rules if isinstance(r, Rule) and not r.structural and not r.sharing]
    found = combinations_with_replacement([*constraints, *plain], 2)
    return [(a, b) for a, b in found if not among or a.name in among or b.name in among]


def _work(numbers: Sequence[int], among: Sequence[str], count: int) -> list[tuple[int, Pair]]:
    todo = pairs_of(among=among)
    return [(n, examine(*todo[n], count)) for n in numbers]


def search(
    among: Sequence[str] = (),
    *,
    count: int = COUNT,
    jobs: int | None = None,
    progress: Callable[[Pair], object] = lambda pair: None,
) -> OverlapSearch:
    """Examine all pairs of rules of the catalogue, or those with a rule named in ``among``, on production.

    On :class:`KeyboardInterrupt`, and where a process was killed, the findings so far are kept.
    """
    todo = pairs_of(among=among)
    run = OverlapSearch(count, len(todo))
    found: dict[int, Pair] = {}
    try:
        for n, pair in _examined(len(todo), among, count, jobs or available_cores()):
            found[n] = pair
            progress(pair)
    except (KeyboardInterrupt, InterruptedError):
        run.interrupted = True
    run.pairs = [found[n] for n in sorted(found)]
    return run


#: The number of pairs in one task.
_CHUNK: Final = 16


def _examined(total: int, among: Sequence[str], count: int, jobs: int) -> Iterator[tuple[int, Pair]]:
    parcels = [tuple(range(n, min(n + _CHUNK, total))) for n in range(0, total, _CHUNK)]
    do = partial(_work, among=among, count=count)
    if jobs == 1 or len(parcels) < 2:
        for n in range(total):
            yield from do((n,))
        return
    with closing(each(do, parcels, jobs)) as done:
        for _, found in done:
            if found is None:
                raise InterruptedError("a process was killed")
            yield from found
