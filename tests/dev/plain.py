"""The plain driver: a slow and simple reference that applies the rules one at a time, bottom-up, by substitution.

The production simplifier is compared with it (:func:`plain_map`), as are the steps that production records
(:func:`instance`).  It shares no code with the engine and its strategies.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from itertools import combinations
from typing import TypeAlias
from unittest.mock import patch

from dev.matching import bindings
from indexproof.core.expr import (
    CeilDiv,
    Expr,
    FloorDiv,
    Int,
    Max,
    Min,
    Mod,
    Mul,
    Sum,
    Var,
    floordiv,
    integer,
    linear,
    mod,
    rebuild,
)
from indexproof.core.expr import as_sum as summands
from indexproof.core.facts import Facts
from indexproof.core.indexing_map import IndexingMap
from indexproof.core.rewrite import Rule, measure
from indexproof.core.simplify import Simplifier
from indexproof.core.simplify_map import simplify_map
from indexproof.rules.catalog import RULES

__all__ = ["Driver", "instance", "plain_map"]

#: Without an engine the simplifier leaves expressions unchanged, so that the driver can rewrite them.
_PLAIN = replace(RULES, rules=(), engine=None)

Binding: TypeAlias = Mapping[str, Expr]


def plain_map(m: IndexingMap) -> IndexingMap:
    """Simplify a map with the driver in place of the engine, and with the constraint rules of production."""

    def driven(self: Simplifier, e: Expr) -> Expr:
        driver: Driver = vars(self).setdefault("driver", Driver(RULES.rules, self.facts))
        return driver(e)

    with patch.object(Simplifier, "normal", driven):
        return simplify_map(m.with_(), _PLAIN)


class Driver:
    """Applies given rules bottom-up until none fires."""

    def __init__(self, rules: Iterable[Rule], facts: Facts) -> None:
        self.facts = facts
        self.by_head = _indexed(tuple(rules))
        self.normal: dict[Expr, Expr] = {}
        self.rewritten: dict[Expr, Expr] = {}

    def __call__(self, e: Expr) -> Expr:
        """Return the normal form of ``e`` on the domain."""
        normal, rewritten = self.normal, self.rewritten
        stack = [e]
        while stack:
            at = stack[-1]
            if at in normal:
                stack.pop()
                continue
            waiting = rewritten.get(at)
            if waiting is not None:
                if waiting in normal:
                    normal[at] = normal[waiting]
                    stack.pop()
                else:
                    stack.append(waiting)
                continue
            kids = at.children
            missing = [c for c in kids if c not in normal]
            if missing:
                stack.extend(missing)
                continue
            inner = [normal[c] for c in kids]
            if any(a is not b for a, b in zip(kids, inner, strict=True)):
                rewritten[at] = rebuild(at, inner)
                continue
            after = self._step(at)
            if after is None:
                normal[at] = at
                stack.pop()
            else:
                rewritten[at] = after
        return normal[e]

    def _step(self, e: Expr) -> Expr | None:
        rules = self.by_head.get(type(e))
        if not rules:
            return None
        if isinstance(e, (Min, Max)) and len(e.args) > 2:
            return self._pairwise(e, rules)
        for rule in rules:
            found = applied(rule, e, self.facts)
            if found is not None:
                return found
        return None

    def _pairwise(self, e: Min | Max, rules: list[Rule]) -> Expr | None:
        """Apply a rule for two arguments of an extremum to any two of several, since extrema are associative."""
        for i, j in combinations(range(len(e.args)), 2):
            x, y = e.args[i], e.args[j]
            others = [a for n, a in enumerate(e.args) if n not in (i, j)]
            both = rebuild(e, (x, y))
            for rule in rules:
                found = applied(rule, both, self.facts)
                if found is None:
                    continue
                after = _rejoined(e, x, y, found, others)
                if after is not None:
                    return after
        return None


def applied(rule: Rule, e: Expr, facts: Facts) -> Expr | None:
    """Return ``e`` rewritten by ``rule``, ``None`` where it does not apply."""
    for binding in _proposals(rule, e, facts):
        after = instance(rule, e, binding, facts)
        # for a rule with chosen values, descent is not proved for all values
        if after is not None and (not rule.choose or measure(after).values() < measure(e).values()):
            return after
    return None


def _proposals(rule: Rule, e: Expr, facts: Facts) -> Iterator[Binding]:
    """Yield candidate bindings for the rule at ``e``."""
    if rule.choose:
        return STRATEGIES[rule.choose](e, facts)
    return ({v.name: x for v, x in found.items()} for found in bindings(rule.left, e))


def _rejoined(e: Min | Max, x: Expr, y: Expr, joined: Expr, others: list[Expr]) -> Expr | None:
    """Return the extremum ``e`` with ``joined`` for its arguments x and y, if that descends in the order.

    One argument less always descends; otherwise the joined expression is nested one extremum deeper than the two
    arguments were.
    """
    whole = rebuild(e, (joined, *others))
    return whole if joined in (x, y) or measure(whole).values() < measure(e).values() else None


_HEADS = (Var, Sum, Mul, FloorDiv, Mod, CeilDiv, Min, Max)


@cache
def _indexed(rules: tuple[Rule, ...]) -> dict[type[Expr], list[Rule]]:
    found: dict[type[Expr], list[Rule]] = {}
    for r in rules:
        if not (r.structural or r.sharing):
            # a left-hand side that is a bare variable matches every expression
            for head in _HEADS if isinstance(r.left, Var) else (type(r.left),):
                found.setdefault(head, []).append(r)
    return found


def instance(rule: Rule, redex: Expr, binding: Mapping[str, Expr], facts: Facts) -> Expr | None:
    """Return ``redex`` rewritten by ``rule`` under ``binding``, ``None`` where it does not apply.

    The left-hand side under the binding must equal the redex, and every condition must certainly hold.
    """
    values = {v: binding[v.name] for v in rule.variables}
    if any(v.kind == "const" and not isinstance(e, Int) for v, e in values.items()):
        return None
    try:
        if rule.left.substitute(values) is not redex:
            return None
        if not all(facts.holds(c.substitute(values)) for c in rule.conditions):
            return None
        return rule.right.substitute(values)
    except ZeroDivisionError:
        return None


# ---------------------------------------------------------------------------------------------------- strategies
# They only propose values for variables that the left-hand side does not bind; :func:`instance` checks each one.
def _division(e: Expr) -> tuple[Expr, int] | None:
    if isinstance(e, (FloorDiv, Mod)) and isinstance(e.b, Int):
        return e.a, e.b.value
    return None


def block_of_range(e: Expr, facts: Facts) -> Iterator[Binding]:
    """Propose the quotient that both ends of the dividend's range have."""
    parts = _division(e)
    if parts:
        x, d = parts
        lo, hi = facts.interval(x)
        if lo <= hi and not isinstance(lo, float) and not isinstance(hi, float) and lo // d == hi // d:
            yield {"x": x, "d": integer(d), "q": integer(lo // d)}


def coefficient_quotients(e: Expr, facts: Facts) -> Iterator[Binding]:
    """Propose, for every summand, the multiple of the divisor nearest to its coefficient, or the one below it.

    The range of the remaining dividend then determines the constant part of the quotient.
    """
    parts = _division(e)
    if not parts or parts[1] <= 1:
        return
    x, d = parts
    const, terms = summands(x)
    tried = set()
    for nearest in (True, False):
        quotients: list[tuple[Expr, int]] = []
        lo: float = const
        hi: float = const
        for t, k in terms:
            q, r = divmod(k, d)
            if nearest and 2 * r > d:
                q, r = q + 1, r - d
            if q:
                quotients.append((t, q))
            if r:
                span = facts.interval(t)
                ends = (span.lo, span.hi) if r > 0 else (span.hi, span.lo)
                if any(isinstance(v, float) for v in ends):
                    lo, hi = 0, d
                    break
                lo += r * ends[0]
                hi += r * ends[1]
        if not quotients or tuple(quotients) in tried:
            continue
        tried.add(tuple(quotients))
        if lo // d == hi // d:
            yield {"x": x, "d": integer(d), "q": linear(int(lo // d), quotients)}
        else:
            # a constraint may bound the remaining dividend more tightly than its terms do
            rest = linear(const, [*terms, *[(t, -q * d) for t, q in quotients]])
            lo, hi = facts.interval(rest)
            if not isinstance(lo, float) and not isinstance(hi, float) and lo // d == hi // d:
                yield {"x": x, "d": integer(d), "q": linear(int(lo // d), quotients)}


def common_factor(e: Expr, facts: Facts) -> Iterator[Binding]:
    """Propose the summands with the largest coefficients whose common divisor with d exceeds the range of the others.

    For extrema, propose the greatest common divisor, negative where most summands are.
    """
    if isinstance(e, (Min, Max)) and len(e.args) == 2:
        sums = [summands(a) for a in e.args]
        factors = [k for _, terms in sums for _, k in terms]
        g = math.gcd(*factors, *[c for c, _ in sums])
        if 2 * sum(k < 0 for k in factors) > len(factors):
            g = -g
        if g != 1:
            x, y = (linear(c // g, [(t, k // g) for t, k in terms]) for c, terms in sums)
            yield {"x": x, "y": y, "g": integer(g)}
        return
    parts = _division(e)
    if not parts or parts[1] <= 1:
        return
    whole, d = parts
    const, terms = summands(whole)
    ordered = sorted(terms, key=lambda t: (-abs(t[1]), t[0].key))
    g = d
    for i, (_, k) in enumerate(ordered):
        g = math.gcd(g, k)
        if g == 1:
            return
        rest = linear(const % g, ordered[i + 1 :])
        span = facts.interval(rest)
        if 0 <= span.lo and span.hi <= g - 1:
            x = linear(const // g, [(t, k // g) for t, k in ordered[: i + 1]])
            yield {"x": x, "g": integer(g), "d": integer(d), "r": rest}
            return


def common_constant(e: Expr, facts: Facts) -> Iterator[Binding]:
    """Propose the constant of smaller magnitude of two arguments that both have one."""
    if not isinstance(e, (Min, Max)) or len(e.args) != 2:
        return
    compound = [a for a in e.args if not isinstance(a, Int)]
    constants = [a.const if isinstance(a, Sum) else 0 for a in compound]
    if constants and all(constants):
        k = min(constants, key=lambda c: (abs(c), c))
        yield {"x": e.args[0], "y": e.args[1], "k": integer(k)}


def multiples(e: Expr, facts: Facts) -> Iterator[Binding]:
    """Propose the summands whose coefficient the divisor divides, and the multiples of the divisor in the constant."""
    parts = _division(e)
    if not parts or parts[1] <= 1:
        return
    whole, d = parts
    const, terms = summands(whole)
    x = linear(const // d, [(t, k // d) for t, k in terms if k % d == 0])
    if x is not integer(0):
        r = linear(const % d, [(t, k) for t, k in terms if k % d])
        yield {"x": x, "d": integer(d), "r": r}


def complement(e: Expr, facts: Facts) -> Iterator[Binding]:
    """Propose the sum in ``d - 1`` minus a sum without constant or negative coefficient."""
    parts = _division(e)
    if parts and parts[1] > 1:
        const, terms = summands(parts[0])
        if const == parts[1] - 1 and all(k < 0 for _, k in terms):
            yield {"x": linear(0, [(t, -k) for t, k in terms]), "d": integer(parts[1])}


def single_value(e: Expr, facts: Facts) -> Iterator[Binding]:
    """Propose the only value in the range."""
    n = facts.interval(e).constant
    if n is not None and not isinstance(e, Int):
        yield {"x": e, "k": integer(n)}


def _quotient(x: Expr, d: int) -> list[Expr]:
    """Return the possible spellings of ``x // d``."""
    found = [floordiv(x, d)]
    if isinstance(x, FloorDiv) and isinstance(x.b, Int):
        found.append(floordiv(x.a, x.b.value * d))
    return found


def quotient_below_remainder(e: Expr, facts: Facts) -> Iterator[Binding]:
    """Propose a remainder in a sum, with the quotient of a congruent dividend at the matching coefficient."""
    const, terms = summands(e)
    have = dict(terms)
    for t, w in terms:
        if not (isinstance(t, Mod) and isinstance(t.b, Int)):
            continue
        d = t.b.value
        pairs = [(q, t.a) for q in _quotient(t.a, d) if have.get(q) == d * w]
        pairs += [(u, u.a) for u, k in terms if isinstance(u, FloorDiv) and u.b is t.b and k == d * w]
        for q, x in pairs:
            rest = linear(const, [(u, k) for u, k in terms if u is not t and u is not q])
            yield {"x": x, "y": t.a, "q": q, "d": t.b, "p": integer(d * w), "w": integer(w), "r": rest}


def known_residue(e: Expr, facts: Facts) -> Iterator[Binding]:
    """Propose each summand of a dividend whose remainder has only one value."""
    parts = _division(e)
    if not isinstance(e, Mod) or not parts or parts[1] <= 1:
        return
    whole, d = parts
    const, terms = summands(whole)
    for t, k in terms:
        x = linear(0, [(t, k)])
        m = facts.interval(mod(x, d)).constant
        if len(terms) > 1 and k % d and m is not None:
            rest = linear(const, [(u, j) for u, j in terms if u is not t])
            yield {"x": x, "d": integer(d), "m": integer(m), "r": rest}


def next_digit(e: Expr, facts: Facts) -> Iterator[Binding]:
    """Propose a remainder in a sum with the next higher digit at the matching coefficient."""
    const, terms = summands(e)
    for t, w in terms:
        if not (isinstance(t, Mod) and isinstance(t.b, Int)):
            continue
        d = t.b.value
        quotients = _quotient(t.a, d)
        for u, p in terms:
            if p == d * w and isinstance(u, Mod) and isinstance(u.b, Int) and u.a in quotients:
                rest = linear(const, [(v, k) for v, k in terms if v is not t and v is not u])
                yield {"x": t.a, "z": integer(0), "q": u.a, "t": u, "d": t.b, "n": u.b, "r": rest} | {
                    "p": integer(p),
                    "w": integer(w),
                }


def known_remainder(e: Expr, facts: Facts) -> Iterator[Binding]:
    """Propose a quotient in a sum, scaled by its divisor, whose remainder has only one value."""
    const, terms = summands(e)
    for t, v in terms:
        parts = _division(t)
        if isinstance(t, FloorDiv) and parts and v % parts[1] == 0:
            x, d = parts
            m = facts.interval(mod(x, d)).constant
            if m is not None:
                rest = linear(const, [(u, k) for u, k in terms if u is not t])
                values = {"d": d, "m": m, "v": v, "w": v // d}
                yield {"x": x, "r": rest, **{name: integer(n) for name, n in values.items()}}


Strategy: TypeAlias = Callable[[Expr, Facts], Iterator[Binding]]

#: Strategies by their names in ``choose=``.
STRATEGIES: dict[str, Strategy] = {
    f.__name__: f
    for f in (
        *(block_of_range, coefficient_quotients, common_factor, common_constant, complement, known_remainder),
        *(known_residue, multiples, next_digit, quotient_below_remainder, single_value),
    )
}
