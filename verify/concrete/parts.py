"""Decide a problem part by part, where it falls into parts that have no variable in common.

A claim that is one option is the conjunction of the claims of its parts: each part is a problem of its own, with those
of the facts that mention its variables.  The claim holds if it holds in every part, or if some part has no point at all.
Otherwise the first counterexample is that of one part, together with the first point of every other part: the order of
counterexamples compares totals and then coordinates, so the first point of a product is made of first points.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from ...core.expr import Int, Var
from .problem import HOLDS, Fact, Option, Outcome, Problem, counterexample_order

__all__ = ["NAME", "decide", "split"]

NAME = "parts"


def split(problem: Problem) -> list[Problem]:
    """The parts of a problem.  Several options stay together in one part; parts without a claim have no option."""
    options = [o for o in problem.options if not any(i.empty for _, i in o.unknowns)]
    options = [o for o in options if all(x in f.within for f in o.facts for x in _constant(f))]
    claims = [set(f.expr.variables()) for o in options for f in o.facts]
    if len(options) > 1 or not all(claims):
        claims = [set().union(*claims)] if claims else []
    if options and (not claims or not claims[0]):
        return [problem]
    where = [(f, set(f.expr.variables())) for f in problem.where]
    if not all(names for _, names in where):
        return [problem]
    # what a guess mentions must be there where it is tried
    tried = [
        {v}.union(*(g[k].variables() for g in o.guesses))
        for o in options
        for k, (v, _) in enumerate(o.unknowns)
    ]
    parts = []
    for names in _connected(
        [*(own for _, own in where), *claims, *tried, *({v} for v, _ in problem.variables)]
    ):
        own = [_restricted(o, names) for o in options] if any(c <= names for c in claims) else []
        box = tuple((v, i) for v, i in problem.variables if v in names)
        parts.append(Problem(box, tuple(f for f, mentioned in where if mentioned <= names), tuple(own)))
    return parts


def _constant(f: Fact) -> list[int]:
    return [f.expr.value] if isinstance(f.expr, Int) else []


def _restricted(option: Option, names: set[Var]) -> Option:
    """The facts of an option about these variables."""
    facts = tuple(f for f in option.facts if names.issuperset(f.expr.variables()))
    chosen = [k for k, (v, _) in enumerate(option.unknowns) if v in names]
    guesses = tuple(tuple(g[k] for k in chosen) for g in option.guesses)
    return Option(facts, tuple(option.unknowns[k] for k in chosen), guesses)


def _connected(sets: Iterable[set[Var]]) -> list[set[Var]]:
    """The unions of those sets that share members, directly or by way of others."""
    groups: list[set[Var]] = []
    for names in sets:
        joined = set(names).union(*(g for g in groups if not g.isdisjoint(names)))
        groups = [*(g for g in groups if g.isdisjoint(names)), joined]
    return groups


def decide(problem: Problem, solve: Callable[[Problem], Outcome]) -> Outcome:
    """Decide a problem of several parts, each of which ``solve`` decides."""
    parts = split(problem)
    if len(parts) < 2:
        return Outcome("open", note="one part")
    claimed = [k for k, p in enumerate(parts) if p.options]
    found = {k: solve(parts[k]) for k in claimed}
    failing = [k for k, o in found.items() if o.status == "fails"]
    if claimed and not failing:
        undecided = any(o.status == "open" for o in found.values())
        return Outcome("open", note="out of budget: a part is not decided") if undecided else HOLDS
    # the first point of each part, whatever is claimed there
    first = {k: solve(replace(p, options=())) for k, p in enumerate(parts) if [k] != failing}
    if any(o.status == "holds" for o in first.values()):
        return HOLDS
    if any(o.status == "open" for o in first.values()):
        return Outcome("open", note="out of budget: a part is not known to have points")
    best = min(
        (_together(problem, parts, first | ({k: found[k]} if claimed else {})) for k in failing or [-1]),
        key=lambda o: counterexample_order(o.point),
    )
    minimal = all(o.minimal and o.status != "open" for o in (*found.values(), *first.values()))
    return best if minimal else best._replace(minimal=False, note="not minimised")


def _together(problem: Problem, parts: list[Problem], chosen: dict[int, Outcome]) -> Outcome:
    """The point with these points in the parts."""
    at = {v: x for k, o in chosen.items() for (v, _), x in zip(parts[k].variables, o.point, strict=True)}
    return Outcome("fails", tuple(at[v] for v, _ in problem.variables))
