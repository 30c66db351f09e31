"""Small domains to which both rules of an overlap of constraint rules apply, and those that have two normal forms.

Variables of the rules become short expressions over ``a`` and ``b``, constants inside expressions small numbers, and bounds
what lies on, within and beyond the ends of what the expression may be, because that is where rules for bounds differ.  A
constraint on a variable is written as one and, besides, as the box of that variable.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...core.condition import TRUE, Condition
from ...core.constraint_order import Bound
from ...core.expr import Expr, Int, Var, integer, minimum, var
from ...core.rewrite import Bounded, ConstraintRule
from .constraint_overlap import ConstraintOverlap
from .domains import Domain, DomainMove, Domains
from .ground import Exact
from .rewriting import TooMany
from .unify import tidy

__all__ = ["ExaminedDomains", "domain_instances", "examine_domains"]

_A, _B = var("a"), var("b")
_EXPRS: tuple[Expr, ...] = (
    _A,
    _A + _B,
    _A + 1,
    -_A,
    _A * 3,
    _A * 2,
    _A - _B,
    _A // 2,
    _A % 3,
    _B,
    _A * 2 + _B,
    minimum(_A, _B),
    minimum(_A * 2, _B * 2),
    _A // 2 + _A,
    _A * 2 - _B + 1,
)
_RESTS: tuple[Expr, ...] = (_B, integer(0), _A, _B * 2, -_B, _A // 2, _B + 1, _A + _B, _A % 3)
_NUMBERS = (2, 3, -1, 4, 6, -2, 1, 0, 8, -3, 5)
_BOXES: tuple[tuple[tuple[int, int], tuple[int, int]], ...] = (
    ((0, 1), (0, 1)),
    ((0, 3), (0, 1)),
    ((0, 5), (0, 3)),
    ((-3, 3), (0, 1)),
    ((1, 4), (-1, 2)),
    ((0, 9), (0, 3)),
)
#: Both ends relative to those of what an expression may be.
_ENDS = (
    (0, -1),
    (1, 0),
    (1, -1),
    (-1, -1),
    (1, 1),
    (0, 0),
    (-1, 1),
    (2, 0),
    (0, -2),
    (2, -2),
    (-1, 0),
)
#: Counts: choices of expressions and of numbers; of bounds for all constraints, and for one of them; domains that are
#: kept; those on which both rules are tried for each that is rewritten; the smallest, which come first; smaller ones that
#: are tried besides one that has two normal forms; those that are rewritten.
_CHOSEN = 28
_ASSIGNED = 20
_BOUNDED = 8
_FEW = 5
_KEPT = 1_200
_SCANNED = 12
_EARLY = 100
_SMALLER = 40
REWRITTEN = 32
#: A set of domains in which so much was rewritten is begun anew.
_REMEMBERED = 150_000


@dataclass(frozen=True)
class Found:
    """A domain, and what of it was chosen: instances of a kind are tried in turns."""

    domain: Domain
    group: tuple[int, ...]


@dataclass(frozen=True)
class DomainWitness:
    """A domain with two normal forms that have nothing in common, and a derivation of each."""

    start: Domain
    left: tuple[DomainMove, ...]
    right: tuple[DomainMove, ...]


@dataclass(frozen=True)
class ExaminedDomains:
    """How many domains both rules rewrite, how many of those join, the smallest that does not; some reach too many."""

    tried: int
    joined: int
    given_up: int
    witness: DomainWitness | None


def _ordered(lists: Sequence[Sequence[Any]], limit: int) -> list[tuple[tuple[int, ...], tuple[Any, ...]]]:
    """Choices of one member of each list, those of small numbers first."""
    most = max((len(of) for of in lists), default=0) - 1
    out: list[tuple[tuple[int, ...], tuple[Any, ...]]] = []
    for total in range(most * len(lists) + 1):
        for index in _summing([len(of) for of in lists], total):
            out.append((index, tuple(of[i] for i, of in zip(index, lists, strict=True))))
            if len(out) >= limit:
                return out
    return out or [((), ())]


def _summing(sizes: Sequence[int], total: int) -> Iterator[tuple[int, ...]]:
    if not sizes:
        if total == 0:
            yield ()
        return
    for first in range(min(sizes[0] - 1, total) + 1):
        for rest in _summing(sizes[1:], total - first):
            yield (first, *rest)


def domain_instances(o: ConstraintOverlap) -> list[Found]:
    """Domains of the form of the overlap, smallest first; whether both rules apply is for the rules to say."""
    inside = {v: None for b in o.start for v in b.e.variables()}
    loose = [v for v in inside if v.kind != "const"]
    numbers = [v for v in inside if v.kind == "const"]
    # bounds that occur in no expression are chosen to fit it
    known = [h for h in o.hypotheses if h != TRUE and set(h.variables()) <= set(numbers)]
    assigned: list[tuple[tuple[int, ...], dict[Var, Expr]]] = []
    for index, values in _ordered([_NUMBERS] * len(numbers), 4_000):
        at: dict[Var, Expr] = {v: integer(n) for v, n in zip(numbers, values, strict=True)}
        if all(_true(h, at) for h in known):
            assigned.append((index, at))
            if len(assigned) >= _ASSIGNED:
                break
    chosen = _ordered([_RESTS if v.kind == "rest" else _EXPRS for v in loose], _CHOSEN)
    written: dict[tuple[int, int], list[Expr]] = {}
    found: dict[Domain, Found] = {}
    facts: dict[int, Exact] = {}
    ends = {v for b in o.start for e in (b.lo, b.hi) for v in e.variables()}
    of_bounds = [h for h in o.hypotheses if h != TRUE and set(h.variables()) <= {*numbers, *ends}]
    kinds = itertools.product(range(len(assigned)), range(len(chosen)), range(len(_BOXES)))
    for n, k, m in sorted(kinds, key=lambda of: (of[0] + of[1] + of[2], of)):
        if len(found) >= _KEPT:
            break
        values_of = {**assigned[n][1], **dict(zip(loose, chosen[k][1], strict=True))}
        expressions = written.get((n, k))
        if expressions is None:
            expressions = written[n, k] = _written(o.start, values_of)
        used = {v for e in expressions for v in e.variables()}
        if not used or any(v.kind for v in used):
            continue
        here = facts.get(m)
        if here is None:
            here = facts[m] = Exact(dict(zip((_A, _B), _BOXES[m], strict=True)))
        if any(here.values(e) is None or here.undefined for e in expressions):
            facts.pop(m)
            continue
        boxes = {v: box for v, box in zip((_A, _B), _BOXES[m], strict=True) if v in used}
        known_ends = {v: e.value for v, e in values_of.items() if isinstance(e, Int)}
        for d in _bounded(o.start, expressions, known_ends, boxes, here, of_bounds, n + k + m):
            found.setdefault(d, Found(d, (n, k, m)))
    return sorted(found.values(), key=lambda f: f.domain.rank)


def _written(start: Sequence[Bounded], values: Mapping[Var, Expr]) -> list[Expr]:
    try:
        return [tidy(b.e.substitute(values)) for b in start]
    except ZeroDivisionError:
        return []


def _true(h: Any, at: Mapping[Var, Expr]) -> bool:
    try:
        return bool(h.substitute(at) == TRUE)
    except ZeroDivisionError:
        return False


def _bounded(
    start: Sequence[Bounded],
    expressions: Sequence[Expr],
    values: Mapping[Var, int],
    boxes: Mapping[Var, tuple[int, int]],
    facts: Exact,
    known: Sequence[Condition],
    turn: int,
) -> Iterator[Domain]:
    """The domains with these expressions: bounds around what they may be, and without what a box says."""
    absent = [n for n, e in enumerate(expressions) if isinstance(e, Var)]
    for gone in ((), *((n,) for n in absent)):
        partial: list[tuple[dict[Var, int], tuple[Bound, ...]]] = [(dict(values), ())]
        for n, (b, e) in enumerate(zip(start, expressions, strict=True)):
            if n not in gone:
                lo, hi = facts.range(e).interval
                choices = _choices(b, int(lo), int(hi))
                # not all of them with everything else, but each with something
                first = turn * _FEW % len(choices)
                choices = [*choices[first:], *choices[:first]]
                partial = [
                    ({**at, **more}, (*made, (e, low, high)))
                    for at, made in partial
                    for more, low, high in itertools.islice(
                        (c for c in _ends(b, at, choices) if _possible(known, {**at, **c[0]})), _FEW
                    )
                ]
                partial = partial[:: max(1, len(partial) // _BOUNDED)]
        for _, made in partial[:_BOUNDED]:
            yield Domain.of(boxes, made)


def _possible(known: Sequence[Condition], at: Mapping[Var, int]) -> bool:
    """Whether nothing that is said of constants alone is false so far."""
    try:
        return all(h.evaluate(at) for h in known if all(v in at for v in h.variables()))
    except ZeroDivisionError:
        return False


def _choices(b: Bounded, lo: int, hi: int) -> list[tuple[int, int]]:
    """Both bounds, given the ends of what the expression may be."""
    if b.lo is b.hi:
        return [(s, s) for s in dict.fromkeys((lo, lo + 1, hi, (lo + hi) // 2, hi + 1))]
    mid = (lo + hi) // 2
    far = [(lo - 1, mid), (mid, hi + 1), (lo, lo), (hi, hi), (hi + 1, hi + 2), (lo, mid), (mid, hi), (hi, lo)]
    return list(dict.fromkeys([*((lo + i, hi + j) for i, j in _ENDS), *far]))


def _ends(
    b: Bounded, values: Mapping[Var, int], choices: Sequence[tuple[int, int]]
) -> Iterator[tuple[dict[Var, int], int, int]]:
    """Bounds for one constraint, and what was chosen for that."""
    done: set[tuple[int, int]] = set()
    for low, high in choices:
        at: dict[Var, int] = {}
        for e, n in ((b.lo, low), (b.hi, high)):
            if isinstance(e, Var) and e not in values:
                at.setdefault(e, n)
        ends = tuple(
            at.get(e, values.get(e)) if isinstance(e, Var) else _valued(e, values) for e in (b.lo, b.hi)
        )
        if ends not in done and ends[0] is not None and ends[1] is not None:
            done.add(ends)  # type: ignore[arg-type]
            yield at, ends[0], ends[1]


def _valued(e: Expr, values: Mapping[Var, int]) -> int | None:
    try:
        return e.evaluate(values) if all(v in values for v in e.variables()) else None
    except ZeroDivisionError:
        return None


def examine_domains(o: ConstraintOverlap, domains: Domains, limit: int = REWRITTEN) -> ExaminedDomains:
    """Rewrite instances, smallest first and then some of every kind, until one of them has two normal forms."""
    if domains.remembered > _REMEMBERED:
        domains.forget()
    found = domain_instances(o)
    trial = _Trial(o, domains)
    for f in _turns(found):
        if trial.tried >= limit or trial.scanned >= limit * _SCANNED:
            break
        if trial.witness(f.domain):
            # smaller ones of the same expressions
            small = [g for g in found if g.group[:2] == f.group[:2] and g.domain.rank < f.domain.rank]
            for g in small[:_SMALLER]:
                if trial.witness(g.domain):
                    break
            break
    return ExaminedDomains(trial.tried, trial.joined, trial.given_up, trial.found)


def _turns(found: Sequence[Found]) -> Iterator[Found]:
    """The smallest, then of every choice of expressions, numbers and boxes one after the other."""
    yield from found[:_EARLY]
    groups: dict[tuple[int, ...], list[Found]] = {}
    for f in found[_EARLY:]:
        groups.setdefault(f.group, []).append(f)
    waiting = [of for _, of in sorted(groups.items(), key=lambda g: (sum(g[0]), g[0]))]
    while waiting:
        for of in waiting:
            yield of.pop(len(of) // 2)
        waiting = [of for of in waiting if of]


class _Trial:
    """Rewrites instances of an overlap and keeps what was found."""

    def __init__(self, o: ConstraintOverlap, domains: Domains) -> None:
        self.o = o
        self.domains = domains
        self.scanned = self.tried = self.joined = self.given_up = 0
        self.seen: set[Domain] = set()
        self.found: DomainWitness | None = None

    def witness(self, d: Domain) -> bool:
        """Whether ``d`` has two normal forms."""
        if d in self.seen:
            return False
        self.seen.add(d)
        self.scanned += 1
        both = _applied(self.o, self.domains, d)
        if not both:
            return False
        self.tried += 1
        try:
            bad = next(((x, y) for x, y in both if not self.domains.meet(x.after, y.after)), None)
        except TooMany:
            self.given_up += 1
            return False
        if bad is None:
            self.joined += 1
            return False
        self.found = _witness(self.domains, d, *bad)
        return True


def _applied(o: ConstraintOverlap, domains: Domains, d: Domain) -> list[tuple[DomainMove, DomainMove]]:
    """Steps of both rules that have constraints in common as the overlap says."""
    first = tuple(domains.applied(o.outer, d))
    if not first:
        return []
    second: tuple[DomainMove, ...]
    if isinstance(o.inner, ConstraintRule):
        second = tuple(domains.applied(o.inner, d))
    else:
        second = tuple(domains.inside(d, o.inner))
    both = [(x, y) for x in first for y in second if all(x.used[i] == y.used[j] for i, j in o.shared)]
    # those that lead to the same say no more than that the rules meet here
    return [(x, y) for x, y in both if x.after != y.after] or both[:1]


def _witness(domains: Domains, d: Domain, x: DomainMove, y: DomainMove) -> DomainWitness:
    one = min(domains.normal_forms(x.after), key=lambda e: e.rank)
    two = min(domains.normal_forms(y.after), key=lambda e: e.rank)
    return DomainWitness(d, (x, *domains.path(x.after, one)), (y, *domains.path(y.after, two)))
