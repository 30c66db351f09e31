"""From what a simplifier recorded to a derivation.

A trace lists equations and changes of constraints as they happened.  Here the equations that lead from one map to the
other are picked out, put in the order of :mod:`.derivation` and given their places.  Nothing here is trusted: what comes
out is checked by :mod:`indexproof.verify.derivation`, and what cannot be brought into that form is refused at once.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from operator import itemgetter
from typing import Any, Final, TypeAlias

from .derivation import ConstraintChange, Derivation, DerivationStep, MapChange, Part, Position, RuleStep
from .errors import IndexproofError
from .expr import Expr, Max, Min, Sum, Var, maximum, minimum, postorder, rebuild
from .indexing_map import Constraint, IndexingMap
from .interval import Interval
from .rewrite import ConstraintRule, Rule, RuleSet
from .simplify_map import simplify_map

__all__ = ["UnexplainedError", "explain", "explained", "replayed"]

#: How often equations are applied in the order in which they were recorded.
TURNS: Final = 2
#: An equation, and where it was needed first.
_Use: TypeAlias = "tuple[Any, Expr]"
#: What a simplifier records: objects with ``rule``, ``binding``, ``before`` and ``after``, and :class:`MapChange`.
Trace: TypeAlias = Sequence[Any]


class UnexplainedError(IndexproofError):
    """A trace does not lead from the map that was given to the result: the simplifier has recorded too little."""


def explain(m: IndexingMap, rules: RuleSet) -> Derivation:
    """Simplify ``m`` and say why the result equals it."""
    trace: list[Any] = []
    return explained(m, simplify_map(m, rules, trace), trace)


def explained(before: IndexingMap, after: IndexingMap, trace: Trace) -> Derivation:
    """The derivation that ``trace`` tells.

    Raises :class:`UnexplainedError` where the trace does not lead from ``before`` to ``after``.
    """
    run = _Run(before, trace)
    for n, entry in enumerate(trace):
        if isinstance(entry, MapChange):
            run.become(entry.before, n)
            run.steps.append(entry)
            run.start(entry.after, n)
        elif isinstance(getattr(entry, "rule", None), ConstraintRule):
            run.change(entry, n)
    run.become(after, len(trace))
    return Derivation(before, after, tuple(run.steps))


def replayed(derivation: Derivation) -> Iterator[tuple[DerivationStep, IndexingMap]]:
    """Each step with the map as it stands before its run; for showing a derivation, not for believing it.

    The constraints of that map are those of the derivation, one by one, even where two speak of the same expression.
    """
    m = derivation.before
    steps = list(derivation.steps)
    while steps:
        first = steps[0]
        length = 1
        if isinstance(first, RuleStep):
            while length < len(steps) and getattr(steps[length], "run", -1) == first.run:
                length += 1
        for step in steps[:length]:
            yield step, m
        if isinstance(first, RuleStep):
            m = _after_run(m, steps[:length])
        elif isinstance(first, ConstraintChange):
            m = _after_change(m, first)
        else:
            m = first.after
        del steps[:length]


def _after_run(m: IndexingMap, steps: Sequence[Any]) -> IndexingMap:
    part, index, _ = steps[0].position
    parts = {"result": list(m.results), "constraint": [c.expr for c in m.constraints], "source": _sources(m)}
    roots = parts[part]
    found = _uses(roots[index], steps, ())
    if found is not None:
        roots[index] = found[0]
    constraints = [replace(c, expr=e) for c, e in zip(m.constraints, parts["constraint"], strict=True)]
    new = iter(parts["source"])
    rts = tuple(
        r
        if r.source is None
        else replace(r, source=replace(r.source, results=tuple(next(new) for _ in r.source.results)))
        for r in m.rts
    )
    return IndexingMap._trusted(
        m.dims, m.ranges, rts, tuple(parts["result"]), tuple(constraints), merged=True
    )


def _after_change(m: IndexingMap, step: ConstraintChange) -> IndexingMap:
    run = _Run(m, ())
    run.constraints = list(m.constraints)
    run.change(step, 0)
    dims, ranges = (
        tuple(replace(v, lo=int(i.lo), hi=int(i.hi)) for v in g for i in [run.boxes[v.expr]])
        for g in (m.dims, m.ranges)
    )
    return IndexingMap._trusted(dims, ranges, m.rts, m.results, tuple(run.constraints), merged=True)


class _Run:
    """A map on its way through the trace."""

    def __init__(self, m: IndexingMap, trace: Trace) -> None:
        self.steps: list[DerivationStep] = []
        self.runs = 0
        #: by left side, what simplifies and what spells
        self.equations: dict[bool, dict[Expr, list[tuple[int, Any]]]] = {False: {}, True: {}}
        #: when the results were known to be what
        self.waypoints: list[tuple[int, tuple[Expr, ...]]] = []
        for n, entry in enumerate(trace):
            rule = getattr(entry, "rule", None)
            if isinstance(rule, Rule):
                kind = self.equations[getattr(entry, "spelling", False)]
                kind.setdefault(entry.before, []).append((n, entry))
            elif not isinstance(entry, MapChange) and not isinstance(rule, ConstraintRule):
                self.waypoints.append((n, entry.results))
        self.start(m)

    def start(self, m: IndexingMap, now: int = 0) -> None:
        """From here on the map is ``m``."""
        #: when the map, and when a constraint was changed last
        self.since = self.settled = now
        self.map = m
        self.boxes: dict[Var, Interval] = m.bounds
        self.fixed = set(m.rt_vars)
        self.constraints = list(m.constraints)

    # -- expressions
    def known(self, now: int, *, spelling: bool = False) -> list[Any]:
        """For every left side the equation that was recorded last before ``now``."""
        found = []
        for entries in self.equations[spelling].values():
            found += [e for n, e in entries if n < now][-1:]
        return found

    def recorded(self, since: int, now: int) -> list[Any]:
        """For every left side the equation that was recorded last between two moments."""
        found = []
        for equations in self.equations.values():
            for entries in equations.values():
                found += [e for n, e in entries if since <= n < now][-1:]
        return found

    def rewrite(self, part: Part, index: int, e: Expr, goal: Expr, now: int) -> bool:
        """Bring an expression to ``goal`` and say how; whether that was possible."""
        if e is goal:
            return True
        for way in (self.by_waypoints, self.at_once, self.in_stages):
            runs = way(part, index, e, goal, now)
            if runs is not None:
                for run in runs:
                    self.runs += 1
                    for step, at in run:
                        position = Position(part, index, at)
                        self.steps.append(
                            RuleStep(step.rule, _binding(step), position, step.before, step.after, self.runs)
                        )
                return True
        return False

    def by_waypoints(self, part: Part, index: int, e: Expr, goal: Expr, now: int) -> list[list[_Use]] | None:
        """A result: to the normal form, and then from one way of writing it to the next."""
        since = self.since
        stages = [(n, w[index]) for n, w in self.waypoints if since <= n < now and len(w) > index]
        if part != "result" or not stages:
            return None
        stages.append((now, goal))
        runs = self.along(e, stages, since, 0, set())
        return runs if runs is None else [run for run in runs if run]

    def along(
        self, e: Expr, stages: Sequence[tuple[int, Expr]], since: int, first: int, dead: set[int]
    ) -> list[list[_Use]] | None:
        """A run to the next stage that leads on to the last one, and the runs from there.

        A result that stayed as it was when others changed has left some stages out.  From those in ``dead`` no way leads
        on.
        """
        if first == len(stages):
            return []
        for k in range(first, len(stages)):
            if k in dead:
                continue
            n, way = stages[k]
            # what was recorded on this stretch; or what was known, and therefore not recorded again
            pools = [self.recorded(since, n), self.known(n), self.known(n, spelling=True)]
            run = [] if e is way else _towards(e, way, pools)
            # what was recorded before one of them is not recorded again when it applies to what has come about since
            moments = reversed([since, *[m for m, _ in stages[:k]]])
            runs = [run] if run is not None else self.since_any(e, way, moments, n, joined=False)
            if runs is None:
                # one dividend may be taken apart as another one is written, and that written so as well then
                runs = self.one_by_one(e, way, since, n, joined=False, spelled=True)
            if runs is None:
                continue
            rest = self.along(way, stages, n, k + 1, dead)
            if rest is not None:
                return [*runs, *rest]
            dead.add(k)
        return None

    def in_order(self, since: int, now: int, *, spelled: bool) -> list[Any]:
        """The equations that simplify, or also those that spell, and were recorded between two moments."""
        kinds = self.equations.values() if spelled else [self.equations[False]]
        found = [
            (n, x) for kind in kinds for entries in kind.values() for n, x in entries if since <= n < now
        ]
        return [x for _, x in sorted(found, key=itemgetter(0))]

    def at_once(self, part: Part, index: int, e: Expr, goal: Expr, now: int) -> list[list[_Use]] | None:
        """All in one run."""
        run = _towards(e, goal, [self.known(now)])
        return None if run is None else [run]

    def in_stages(self, part: Part, index: int, e: Expr, goal: Expr, now: int) -> list[list[_Use]] | None:
        """In the order of the trace, with a run for each equation that applies when it is recorded."""
        # a variable may have got its value before the map became another one, and be met after that
        return self.since_any(e, goal, dict.fromkeys((self.since, 0)), now, joined=True)

    def since_any(
        self, e: Expr, goal: Expr, moments: Iterable[int], now: int, *, joined: bool
    ) -> list[list[_Use]] | None:
        """:meth:`one_by_one` from the first of the moments from which that leads to the goal."""
        for since in moments:
            runs = self.one_by_one(e, goal, since, now, joined=joined)
            if runs is not None:
                return runs
        return None

    def one_by_one(
        self, e: Expr, goal: Expr, since: int, now: int, *, joined: bool, spelled: bool = False
    ) -> list[list[_Use]] | None:
        """A run for each equation recorded between two moments that applies then.

        It is ``joined`` by those that were recorded before it, or else applied when it is recorded and not later: what
        comes about outside of a sum that changes may be what inside of it has been rewritten before.  What comes about
        only then may have been recorded earlier, so there is a second turn.
        """
        runs = []
        order = self.in_order(since, now, spelled=spelled)
        for _ in range(TURNS):
            before = e
            pool: dict[Expr, Any] = {}
            nodes = set(postorder(e))
            for x in order:
                if joined:
                    pool.pop(x.before, None)
                else:
                    pool.clear()
                pool[x.before] = x
                if x.before not in nodes and not (joined and isinstance(x.before, (Min, Max))):
                    continue
                equations = list(reversed(pool.values()))
                found = _uses(e, equations, ())
                if found is None or found[0] is e:
                    continue
                run = _towards(e, found[0], [equations])
                if run is None:
                    return None
                runs.append(run)
                e = found[0]
                if e is goal:
                    return runs
                nodes = set(postorder(e))
            if e is before:
                break
        return None

    def become(self, goal: IndexingMap, now: int) -> None:
        """Bring the map to ``goal`` by rewriting; boxes must be the same already."""
        if any(self.boxes.get(v.expr) != Interval(v.lo, v.hi) for v in goal.variables):
            raise UnexplainedError(f"the steps lead to the boxes {self.boxes}, not to those of {goal}")
        wanted = {c.expr: c for c in goal.constraints}
        # the results come after the constraints, and what is said of them rests on all constraints: before they are read,
        # or else before they are written
        moments = [n for n, _ in self.waypoints if self.settled <= n < now][:2] or [now]
        for k, c in enumerate(self.constraints):
            if c.expr not in wanted:
                have = {d.expr for d in self.constraints}
                ways = sorted(goal.constraints, key=lambda t: t.expr in have)
                for settled, t in product(moments, ways):
                    if self.rewrite("constraint", k, c.expr, t.expr, settled):
                        self.constraints[k] = replace(c, expr=t.expr)
                        break
        reached = {c.expr: c for c in _merged(self.constraints)}
        if reached != wanted:
            left = ", ".join(f"{c.expr} in [{c.lo}, {c.hi}]" for c in reached.values())
            raise UnexplainedError(
                f"the steps lead to the constraints {left or 'none'}, not to those of {goal}"
            )
        parts: list[tuple[Part, Sequence[Expr], Sequence[Expr]]] = [
            ("result", self.map.results, goal.results),
            ("source", _sources(self.map), _sources(goal)),
        ]
        for part, roots, goals in parts:
            if len(roots) != len(goals):
                raise UnexplainedError(
                    f"there are {len(roots)} expressions ({part}) before, and {len(goals)} after"
                )
            for k, (e, to) in enumerate(zip(roots, goals, strict=True)):
                if not self.rewrite(part, k, e, to, now):
                    raise UnexplainedError(f"the steps do not lead from {part} {e} to {to}")

    # -- constraints
    def change(self, entry: Any, now: int) -> None:
        """One application of a constraint rule."""
        taken: list[int] = []
        boxes: set[Var] = set()
        said = {at[0] for c in entry.after if (at := shifted_variable(c.expr)) is not None}
        for n, b in enumerate(entry.before):
            v = self.box(b)
            if v in boxes:
                v = None
            if n and v is not None and v not in self.fixed:
                # of two, the second is the box where it can be; a constraint may say the same
                boxes.add(v)
                continue
            # a rule for one constraint means a constraint; where nothing is said of the variable afterwards, its box is
            # not what is meant either
            k = self.find(b, taken, now, rewrite=v is None or v not in said or len(entry.before) == 1)
            if k is not None:
                taken.append(k)
            elif v is not None:
                boxes.add(v)
            else:
                raise UnexplainedError(
                    f"{b.expr} in [{b.lo}, {b.hi}] is no constraint of the map when {entry} happens"
                )
        stay = []
        for c in entry.after:
            at = shifted_variable(c.expr)
            if at is not None and at[0] in boxes and at[0] not in self.fixed:
                self.boxes[at[0]] = box_of(c)
            else:
                stay.append(c)
        self.steps.append(
            ConstraintChange(entry.rule, _binding(entry), tuple(entry.before), tuple(entry.after))
        )
        replace_constraints(self.constraints, taken, stay)
        self.settled = now

    def find(self, b: Constraint, taken: Collection[int], now: int, *, rewrite: bool) -> int | None:
        """The number of the constraint that is ``b``, or can be rewritten to it."""
        free = [k for k in range(len(self.constraints)) if k not in taken]
        for k in free:
            if self.constraints[k] == b:
                return k
        # what says which values a runtime variable has is what others are rewritten with
        for k in sorted(free, key=lambda k: self.constraints[k].expr in self.fixed) if rewrite else ():
            c = self.constraints[k]
            if (c.lo, c.hi) == (b.lo, b.hi) and self.rewrite("constraint", k, c.expr, b.expr, now):
                self.constraints[k] = b
                return k
        return None

    def box(self, b: Constraint) -> Var | None:
        """The variable whose box ``b`` states."""
        at = shifted_variable(b.expr)
        if at is None or self.boxes.get(at[0]) != box_of(b):
            return None
        return at[0]


def replace_constraints(
    constraints: list[Constraint], taken: Sequence[int], after: Iterable[Constraint]
) -> None:
    """Put ``after`` where the first of the constraints numbered ``taken`` stands (at the end, if there is none)."""
    place = min(taken, default=len(constraints))
    constraints[:] = [
        *constraints[:place],
        *after,
        *(c for k, c in enumerate(constraints) if k > place and k not in taken),
    ]


def _merged(constraints: Iterable[Constraint]) -> Iterable[Constraint]:
    return IndexingMap._trusted((), (), (), (), constraints).constraints


def shifted_variable(e: Expr) -> tuple[Var, int, int] | None:
    """``±v + n`` as ``(v, ±1, n)``."""
    if isinstance(e, Var):
        return e, 1, 0
    if isinstance(e, Sum) and len(e.terms) == 1:
        t, k = e.terms[0]
        if isinstance(t, Var) and abs(k) == 1:
            return t, k, e.const
    return None


def box_of(c: Constraint) -> Interval:
    """The box of v that a constraint on ``±v + n`` states."""
    at = shifted_variable(c.expr)
    assert at is not None
    _, sign, shift = at
    return Interval(c.lo, c.hi).shift(-shift).scale(sign)


def _sources(m: IndexingMap) -> list[Expr]:
    """The indices of all runtime sources."""
    return [e for r in m.rts if r.source is not None for e in r.source.results]


def _binding(entry: Any) -> dict[str, Expr]:
    values = entry.binding
    if not isinstance(values, Mapping):
        values = dict(zip((v.name for v in entry.rule.variables), values, strict=True))
    return dict(sorted(values.items()))


# ------------------------------------------------------------------------------------------------ rewriting
def _towards(root: Expr, goal: Expr, choices: Iterable[Sequence[Any]]) -> list[_Use] | None:
    """What a run uses that brings ``root`` to ``goal``, with one of the choices of equations."""
    inside = set(postorder(goal))
    # an expression that the goal still has was not rewritten, whatever another pass says of it
    for equations, kept in ((c, k) for c in choices for k in ((), inside)):
        found = _uses(root, equations, kept)
        if found is None or found[0] is not goal:
            continue
        order = [e for e, _ in found[1]]
        again = _uses(root, order, ())
        if again is not None and again[0] is goal and [e for e, _ in again[1]] == order:
            return again[1]
    return None


class _Circle(Exception):
    """Equations lead back to where they started."""


def _uses(root: Expr, equations: Sequence[Any], kept: Collection[Expr]) -> tuple[Expr, list[_Use]] | None:
    """``root`` rewritten with ``equations``, and which were needed, each with its place.

    Nodes in ``kept`` are left alone.  ``None`` where the equations turn in a circle.
    """
    exact = {e.before: e for e in reversed(equations)}
    extrema = [e for e in equations if isinstance(e.before, (Min, Max))]
    choosing = [e for e in extrema if e.after in e.before.children]
    shifting = [e for e in extrema if e.after not in e.before.children]
    memo: dict[Expr, Expr] = {}
    used: dict[int, _Use] = {}

    def find(node: Expr) -> tuple[Any, Expr] | None:
        if node in kept:
            return None
        e = exact.get(node)
        if e is not None:
            return e, e.after
        if extrema and isinstance(node, (Min, Max)):
            return _choosing(node, choosing) or _leading(node, shifting, exact)
        return None

    try:
        _normalise(root, find, memo, lambda e, at: used.setdefault(id(e), (e, at)))
    except _Circle:
        return None
    return memo[root], list(used.values())


def _among_others(e: Any, node: Min | Max) -> Expr | None:
    """What an equation makes of a minimum or maximum that has the arguments of its left side among others."""
    inner = e.before.children
    if type(e.before) is not type(node) or len(inner) >= len(node.args) or not set(inner) <= set(node.args):
        return None
    others = [a for a in node.args if a not in inner]
    return minimum(e.after, *others) if isinstance(node, Min) else maximum(e.after, *others)


def _choosing(node: Min | Max, choosing: Sequence[Any]) -> tuple[Any, Expr] | None:
    """The first step on the shortest way to the fewest arguments, and what it makes."""
    best: tuple[Any, Expr] | None = None
    fewest = len(node.args)
    todo: list[tuple[Expr, tuple[Any, Expr] | None]] = [(node, None)]
    seen: set[Expr] = {node}
    while todo:
        at, first = todo.pop(0)
        left = len(at.args) if type(at) is type(node) and isinstance(at, (Min, Max)) else 1
        if left < fewest:
            best, fewest = first, left
        if left == 1 or not isinstance(at, (Min, Max)):
            continue
        for e in choosing:
            after = e.after if e.before is at else _among_others(e, at)
            if after is not None and after not in seen:
                seen.add(after)
                todo.append((after, first or (e, after)))
    return best


def _leading(node: Expr, shifting: Sequence[Any], exact: Mapping[Expr, Any]) -> tuple[Any, Expr] | None:
    """The first equation from which, perhaps by others, the left side of an equation is reached, and what it makes."""
    todo: list[tuple[Expr, tuple[Any, Expr] | None]] = [(node, None)]
    seen = {node}
    while todo:
        at, first = todo.pop(0)
        if not isinstance(at, (Min, Max)):
            continue
        for e in shifting:
            after = _among_others(e, at)
            if after is None or after in seen:
                continue
            way = first or (e, after)
            if after in exact:
                return way
            seen.add(after)
            todo.append((after, way))
    return None


def _normalise(
    root: Expr,
    find: Callable[[Expr], tuple[Any, Expr] | None],
    memo: dict[Expr, Expr],
    note: Callable[[Any, Expr], object],
) -> None:
    """Rewrite bottom-up, first children first; every node that is met ends in ``memo``."""
    # a frame: the node, its place in what was given (a node of its own there is its own place), the children that are
    # open, and what the node has become
    stack: list[list[Any]] = [[root, None, iter(root.children), None, None]]
    active = {root}
    while stack:
        frame = stack[-1]
        node, place, children, rebuilt, successor = frame
        if successor is None:
            open_ = next((c for c in children if c not in memo), None)
            if open_ is not None:
                if open_ in active:
                    raise _Circle
                active.add(open_)
                stack.append([open_, place, iter(open_.children), None, None])
                continue
            kids = [memo[c] for c in node.children]
            same = all(a is b for a, b in zip(kids, node.children, strict=True))
            frame[3] = rebuilt = node if same else rebuild(node, kids)
            found = None if rebuilt in memo else find(rebuilt)
            if found is None:
                memo[node] = memo.setdefault(rebuilt, rebuilt)
                active.discard(node)
                stack.pop()
                continue
            note(found[0], node if place is None else place)
            frame[4] = successor = found[1]
        if successor not in memo:
            if successor in active:
                raise _Circle
            active.add(successor)
            stack.append([successor, node if place is None else place, iter(successor.children), None, None])
            continue
        memo[node] = memo[rebuilt] = memo[successor]
        active.discard(node)
        stack.pop()
