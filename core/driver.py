"""Any rules, applied bottom-up: slow and obvious, for rule sets without an engine and for what an engine cannot do."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations

from .choose import STRATEGIES
from .expr import CeilDiv, Expr, FloorDiv, Max, Min, Mod, Mul, Sum, Var, rebuild
from .facts import Facts
from .matcher import bindings, instance
from .rewrite import DeclarationError, Rule, RuleSet, measure
from .steps import Step, Trace

__all__ = ["Driver"]


class Driver:
    """Any rules, applied bottom-up until none fires."""

    def __init__(
        self,
        rules: RuleSet | Iterable[Rule],
        facts: Facts,
        trace: Trace | None = None,
        engine: int = 0,
    ) -> None:
        self.facts = facts
        self.trace = trace
        self.engine = engine
        self.by_head: dict[type[Expr], list[Rule]] = _indexed(
            tuple(rules.rules if isinstance(rules, RuleSet) else rules)
        )
        self.normal: dict[Expr, Expr] = {}
        self.rewritten: dict[Expr, Expr] = {}

    def __call__(self, e: Expr) -> Expr:
        """The normal form of ``e`` on the domain."""
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
                self._record(rule, found[1], e, found[0])
                return found[0]
        return None

    def _pairwise(self, e: Min | Max, rules: list[Rule]) -> Expr | None:
        """Minimum and maximum are associative: a rule for two arguments serves any two of many."""
        for i, j in combinations(range(len(e.args)), 2):
            x, y = e.args[i], e.args[j]
            others = [a for n, a in enumerate(e.args) if n not in (i, j)]
            both = rebuild(e, (x, y))
            for rule in rules:
                found = applied(rule, both, self.facts)
                if found is None:
                    continue
                after = _rejoined(e, x, y, found[0], others)
                if after is not None:
                    self._record(rule, found[1], both, found[0])
                    return after
        return None

    def _record(self, rule: Rule, binding: tuple[Expr, ...], before: Expr, after: Expr) -> None:
        if self.trace is not None:
            self.trace.append(Step(rule, binding, before, after, self.engine))


def applied(rule: Rule, e: Expr, facts: Facts) -> tuple[Expr, tuple[Expr, ...]] | None:
    """Return what ``rule`` makes of ``e`` and the values of its variables, ``None`` where it does not apply."""
    for binding in _proposals(rule, e, facts):
        after = instance(rule, e, binding, facts)
        # of a rule whose values are chosen, descent is not proved for all of them
        if after is not None and (not rule.choose or measure(after).values() < measure(e).values()):
            return after, tuple(binding[v.name] for v in rule.variables)
    return None


def _proposals(rule: Rule, e: Expr, facts: Facts) -> Iterator[Mapping[str, Expr]]:
    """Values with which the rule may apply to ``e``.  Raises :class:`DeclarationError` for an unknown strategy."""
    if not rule.choose:
        return ({v.name: x for v, x in found.items()} for found in bindings(rule.left, e))
    strategy = STRATEGIES.get(rule.choose)
    if strategy is None:
        raise DeclarationError(
            f"rule {rule.name}: no strategy is called {rule.choose!r}; there are {', '.join(STRATEGIES)}"
        )
    return strategy(e, facts)


def _rejoined(e: Min | Max, x: Expr, y: Expr, joined: Expr, others: list[Expr]) -> Expr | None:
    """The extremum ``e`` with ``joined`` for its arguments x and y, if that descends in the order.

    One argument less descends in any case; otherwise what both became goes on with the others, and stands below one
    extremum more than they did.
    """
    whole = rebuild(e, (joined, *others))
    return whole if joined in (x, y) or measure(whole).values() < measure(e).values() else None


_HEADS = (Var, Sum, Mul, FloorDiv, Mod, CeilDiv, Min, Max)
_cache: dict[tuple[Rule, ...], dict[type[Expr], list[Rule]]] = {}


def _indexed(rules: tuple[Rule, ...]) -> dict[type[Expr], list[Rule]]:
    found = _cache.get(rules)
    if found is None:
        found = {}
        for r in rules:
            if not (r.structural or r.sharing):
                # a left side that is a bare variable is every expression
                for head in _HEADS if isinstance(r.left, Var) else (type(r.left),):
                    found.setdefault(head, []).append(r)
        _cache[rules] = found
    return found
