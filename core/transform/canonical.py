"""A canonical form for maps that differ only in the names and the order of their variables and constraints."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

from ..blocks import table
from ..display import Shown
from ..expr import Expr, Var, linear, postorder, substitute_all, var
from ..indexing_map import IndexingMap, Variable
from ..rewrite import RuleSet
from ..simplify_map import simplify_map
from .record import Reduced
from .reduce import reduce_map
from .variables import renamed, reset_ranges

V = TypeVar("V", bound=Variable)
#: Limit on the rounds of simplification under canonical names; if it is exceeded, the last form is the result.
_ROUNDS: Final = 8


# -------------------------------------------------------------------------------------------------- names and order
def number_variables(m: IndexingMap, *, everything: bool = False) -> Reduced:
    """Order ranges and runtime variables by their first mention in results and constraints.

    Those that one expression mentions first keep their order.  Variables are called `s0, s1, …` and `rt0, rt1, …` where
    all of their kind have such names already.  With ``everything`` they always are, the dimensions are called `d0, d1,
    …`, and ties are broken by the role of variables in results and constraints, not by their previous order.
    """
    appearance: dict[Expr, int] = {}
    for number, e in enumerate(m.results if everything else [*m.results, *(c.expr for c in m.constraints)]):
        for node in postorder(e):
            if type(node) is Var:
                appearance.setdefault(node, number)
    last = len(appearance) + len(m.constraints) + len(m.results)
    names: dict[str, str] = {}
    if everything:
        _name(m.dims, "d", names)
    ranges = _ordered(m, m.ranges, appearance, last, everything)
    rts = _ordered(m, m.rts, appearance, last, everything)
    for variables, prefix in ((ranges, "s"), (rts, "rt")):
        if everything or all(re.fullmatch(prefix + r"\d+", v.name) for v in variables):
            _name(variables, prefix, names)
        else:
            ranges, rts = (list(m.ranges), rts) if prefix == "s" else (ranges, list(m.rts))
    names = {old: new for old, new in names.items() if old != new}
    taken = {v.name for v in m.variables if v.name not in names}
    if not everything and taken & set(names.values()):
        return Reduced.of(m)
    if not names and tuple(ranges) == m.ranges and tuple(rts) == m.rts:
        return Reduced.of(m)
    return renamed(m, names, ranges=tuple(ranges), rts=tuple(rts))


def _name(variables: Sequence[Variable], prefix: str, names: dict[str, str]) -> None:
    names.update((v.name, f"{prefix}{k}") for k, v in enumerate(variables))


def _ordered(
    m: IndexingMap, variables: tuple[V, ...], appearance: Mapping[Expr, int], last: int, by_part: bool
) -> list[V]:
    placed = sorted(variables, key=lambda v: appearance.get(v.expr, last))
    at = [appearance.get(v.expr, last) for v in placed]
    if not by_part or len(set(at)) == len(at):
        return placed
    # ties: repeatedly take the variable whose role in the map has the smallest digest
    colours = _colours(m)
    out: list[V] = []
    left = placed
    while left:
        first = appearance.get(left[0].expr, last)
        tied = [v for v in left if appearance.get(v.expr, last) == first]
        if len(tied) > 1:
            tied.sort(key=lambda v: _digest(m, {**colours, v.expr: hash((colours[v.expr], -1))}))
        out.append(tied[0])
        colours[tied[0].expr] = hash((colours[tied[0].expr], len(out)))
        left = [v for v in left if v is not tied[0]]
    return out


# ------------------------------------------------------------------------------------- digests that ignore names
def _colours(m: IndexingMap) -> dict[Expr, int]:
    """Return initial digests of variables that do not depend on their role: positions of dimensions, boxes, sources."""
    found: dict[Expr, int] = {v.expr: hash((1, k, v.lo, v.hi)) for k, v in enumerate(m.dims)}
    found.update((v.expr, hash((2, v.lo, v.hi))) for v in m.ranges)
    for v in m.rts:
        text = "" if v.source is None else v.source.hlo
        name = int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")
        found[v.expr] = hash((3, v.lo, v.hi, name))
    return found


def _digest(m: IndexingMap, colours: Mapping[Expr, int]) -> int:
    """Return a hash of the whole map that depends on variables through their colours only."""
    # a constraint and its negation are equivalent, and which of the two is written depends on names
    opposites = [linear(0, ((c.expr, -1),)) for c in m.constraints]
    exprs = [*m.roots, *opposites]
    coloured = substitute_all(exprs, {v: var(f"{colour}") for v, colour in colours.items()})
    values = {e: said.key for e, said in zip(exprs, coloured, strict=True)}
    constraints = sorted(
        hash(tuple(sorted([(values[c.expr], c.lo, c.hi), (values[e], -c.hi, -c.lo)])))
        for c, e in zip(m.constraints, opposites, strict=True)
    )
    sources = sorted(
        hash((colours[v.expr], *[values[e] for e in v.source.results])) for v in m.rts if v.source is not None
    )
    return hash((tuple(values[e] for e in m.results), tuple(constraints), tuple(sources)))


# ----------------------------------------------------------------------------------------------------- equal maps
def canonical(m: IndexingMap, rules: RuleSet) -> IndexingMap:
    """Return an equal map in a canonical form, shared by all maps that simplification can show to be equal.

    It is simplified and reduced, ranges start at zero, variables are called `d0, …`, `s0, …`, `rt0, …` in an order that
    does not depend on their names, and constraints have a fixed order.
    """
    rounds: list[IndexingMap] = []
    form = _arranged(m)
    while form not in rounds and len(rounds) < _ROUNDS:
        rounds.append(form)
        reduced = reduce_map(form, rules).then(reset_ranges).map
        form = _arranged(simplify_map(reduced, rules))
    # some forms depend on names; if they cycle, take the least one, which is a deterministic tie-break
    turns = rounds[rounds.index(form) :] if form in rounds else [form]
    return min(turns, key=lambda n: tuple(e.key for e in n.roots)) if len(turns) > 1 else form


def _arranged(m: IndexingMap) -> IndexingMap:
    """Return the map with standard names, and variables and constraints in an order independent of the old one.

    The result has no memoised normal form, so it is simplified again.
    """
    after = number_variables(m, everything=True).map
    return after.with_(constraints=tuple(sorted(after.constraints, key=lambda c: (c.expr.key, c.lo, c.hi))))


@dataclass(frozen=True)
class Distinct(Shown):
    """Several maps without duplicate relations.

    ``maps`` are the simplified distinct maps, ``index`` gives for every input map its number in ``maps``.
    """

    maps: tuple[IndexingMap, ...]
    index: tuple[int, ...]

    def __str__(self) -> str:
        given: dict[int, list[str]] = {}
        for k, at in enumerate(self.index):
            given.setdefault(at, []).append(str(k))
        return "\n".join(
            table([(f"{at}", repr(m), f"given as {', '.join(given[at])}") for at, m in enumerate(self.maps)])
        )


def distinct(maps: Iterable[IndexingMap], rules: RuleSet) -> Distinct:
    """Return the maps of an operand that is read several times, without duplicates.

    Maps are the same when their canonical forms are (:func:`canonical`), so two equal maps are both listed if
    simplification cannot show that they are equal.
    """
    number: dict[IndexingMap, int] = {}
    kept: list[IndexingMap] = []
    index: list[int] = []
    for m in maps:
        if m not in number:
            simple = simplify_map(m, rules)
            # one form does not depend on names, the other not on how a map was written
            forms = (m, simple, canonical(m, rules), canonical(simple, rules))
            at = next((number[form] for form in forms if form in number), len(kept))
            if at == len(kept):
                kept.append(simple)
            for form in forms:
                number.setdefault(form, at)
        index.append(number[m])
    return Distinct(tuple(kept), tuple(index))
