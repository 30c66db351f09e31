"""The driver: applies a rule set bottom-up until nothing fires.

Each subexpression is brought to normal form once and remembered; a rule that fires hands its result back to the driver,
whose parts are mostly normal already.  Every step is an instance of a declared rule, and :func:`simplify` can say which.
Termination follows from the order of :func:`~indexproof.core.rewrite.measure`, which every rule is proved to decrease.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from .expr import Expr, Max, Min, rebuild
from .facts import Facts
from .matcher import Matcher, matcher, pairs
from .rewrite import Rule, RuleSet

__all__ = ["Simplifier", "Step"]


@dataclass(frozen=True)
class Step:
    """One application: ``rule`` with ``binding`` turned ``before`` into ``after``."""

    rule: Rule
    binding: tuple[Expr, ...]
    before: Expr
    after: Expr

    def bindings(self) -> dict[str, Expr]:
        """The binding by variable name."""
        return {v.name: e for v, e in zip(self.rule.variables, self.binding, strict=True)}

    def __str__(self) -> str:
        return f"{self.before}  →  {self.after}   by {self.rule.name}"


class Simplifier:
    """A rule set made ready to run on one domain."""

    def __init__(
        self, rules: RuleSet | Iterable[Rule], facts: Facts, trace: list[Step] | None = None
    ) -> None:
        self.facts = facts
        self.trace = trace
        self.by_head: dict[type[Expr], list[tuple[Rule, Matcher]]] = _indexed(
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
        for rule, match in rules:
            found = match(e, self.facts)
            if found is not None:
                self._record(rule, found[1], e, found[0])
                return found[0]
        return None

    def _pairwise(self, e: Min | Max, rules: list[tuple[Rule, Matcher]]) -> Expr | None:
        """Minimum and maximum are associative: a rule for two arguments serves any two of many."""
        for x, y, others in pairs(e.args):
            both = rebuild(e, (x, y))
            for rule, match in rules:
                found = match(both, self.facts)
                if found is not None:
                    self._record(rule, found[1], both, found[0])
                    return rebuild(e, (found[0], *others))
        return None

    def _record(self, rule: Rule, binding: tuple[Expr, ...], before: Expr, after: Expr) -> None:
        if self.trace is not None:
            self.trace.append(Step(rule, binding, before, after))


_cache: dict[tuple[Rule, ...], dict[type[Expr], list[tuple[Rule, Matcher]]]] = {}


def _indexed(rules: tuple[Rule, ...]) -> dict[type[Expr], list[tuple[Rule, Matcher]]]:
    found = _cache.get(rules)
    if found is None:
        found = {}
        for r in rules:
            if not r.structural:
                found.setdefault(type(r.left), []).append((r, matcher(r)))
        _cache[rules] = found
    return found


def simplify_all(
    es: Sequence[Expr], rules: RuleSet, facts: Facts, trace: list[Step] | None = None
) -> list[Expr]:
    """Normal forms of several expressions on one domain."""
    run = Simplifier(rules, facts, trace)
    return [run(e) for e in es]
