"""From what a simplifier recorded to a derivation.

A trace says what every expression became, and by which equations.  Here the equations are put in the order of
:mod:`.derivation` and given their places.  Nothing here is trusted: what comes out is checked by
:mod:`indexproof.verify.derivation`, and what cannot be brought into that form is refused at once.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from .constraint_normal import shifted_variable
from .derivation import ConstraintChange, Derivation, DerivationStep, MapChange, Part, Position, RuleStep
from .errors import IndexproofError
from .expr import Expr, Max, Min, Var, maximum, minimum, postorder, rebuild
from .indexing_map import Constraint, IndexingMap
from .interval import Interval
from .rewrite import RuleSet
from .simplify_map import simplify_map
from .steps import Normalised, Step, Trace, Written

__all__ = ["UnexplainedError", "explain", "explained", "replayed"]

#: An equation, and where it was needed first.
_Use: TypeAlias = "tuple[Any, Expr]"


class UnexplainedError(IndexproofError):
    """A trace does not lead from the map that was given to the result: the simplifier has recorded too little."""


def explain(m: IndexingMap, rules: RuleSet) -> Derivation:
    """Simplify ``m`` and say why the result equals it."""
    trace: Trace = []
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
        elif isinstance(entry, ConstraintChange):
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
    within = steps[0].within or roots[index]
    found = _uses(within, steps, ())
    if found is not None:
        roots[index] = roots[index].substitute({within: found[0]})
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
    run = _Run(m, [])
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
        self.trace = trace
        self.start(m)

    def start(self, m: IndexingMap, now: int = 0) -> None:
        """From here on the map is ``m``."""
        self.since = now
        self.map = m
        self.boxes: dict[Var, Interval] = m.bounds
        self.fixed = set(m.rt_vars)
        self.constraints = list(m.constraints)

    # -- expressions
    def equations(self, engine: int, now: int) -> list[Step]:
        """Return the equations that an engine has recorded, the last one for every left side."""
        found = {e.before: e for e in self.trace[:now] if isinstance(e, Step) and e.engine == engine}
        return list(found.values())

    def run(
        self,
        part: Part,
        index: int,
        e: Expr,
        goal: Expr,
        equations: Sequence[Any],
        within: Expr | None = None,
    ) -> bool:
        """Bring an expression, or a part of one, to the goal in one run; whether that was possible."""
        uses = _towards(e, goal, equations)
        if uses is None:
            return False
        self.runs += 1
        for step, at in uses:
            position = Position(part, index, at)
            self.steps.append(
                RuleStep(step.rule, _binding(step), position, step.before, step.after, self.runs, within)
            )
        return True

    def rewrite(self, part: Part, index: int, e: Expr, goal: Expr, now: int) -> bool:
        """Bring an expression to ``goal``, from one normal form to the next; whether that was possible."""
        ways: dict[Expr, list[tuple[int, Normalised]]] = {e: []}
        for n in range(now):
            entry = self.trace[n]
            if isinstance(entry, Normalised) and entry.before in ways:
                ways.setdefault(entry.after, [*ways[entry.before], (n, entry)])
        if goal not in ways:
            return False
        mark, runs = len(self.steps), self.runs
        for n, entry in ways[goal]:
            if not self.run(part, index, entry.before, entry.after, self.equations(entry.engine, n)):
                del self.steps[mark:]
                self.runs = runs
                return False
        return True

    def written(self, index: int, goal: Expr, now: int) -> bool:
        """Bring a result from one way of writing it to the next, and in the end to the goal; whether that was possible."""
        e = self.map.results[index]
        for n in range(self.since, now):
            entry = self.trace[n]
            if not isinstance(entry, Written) or len(entry.results) <= index or entry.results[index] is e:
                continue
            to = entry.results[index]
            if entry.steps:
                done = self.run("result", index, e, to, entry.steps)
            elif entry.part is not None:
                of, becomes = entry.part.before, entry.part.after
                done = self.run("result", index, of, becomes, self.equations(entry.engine, n), of)
            else:
                done = self.run("result", index, e, to, self.equations(entry.engine, n))
            if not done:
                return False
            e = to
        return e is goal

    def become(self, goal: IndexingMap, now: int) -> None:
        """Bring the map to ``goal`` by rewriting; boxes must be the same already."""
        if any(self.boxes.get(v.expr) != Interval(v.lo, v.hi) for v in goal.variables):
            raise UnexplainedError(f"the steps lead to the boxes {self.boxes}, not to those of {goal}")
        wanted = {c.expr: c for c in goal.constraints}
        for k, c in enumerate(self.constraints):
            if c.expr not in wanted:
                have = {d.expr for d in self.constraints}
                for t in sorted(goal.constraints, key=lambda t: t.expr in have):
                    if self.rewrite("constraint", k, c.expr, t.expr, now):
                        self.constraints[k] = replace(c, expr=t.expr)
                        break
        reached = {c.expr: c for c in _merged(self.constraints)}
        if reached != wanted:
            left = ", ".join(f"{c.expr} in [{c.lo}, {c.hi}]" for c in reached.values())
            raise UnexplainedError(
                f"the steps lead to the constraints {left or 'none'}, not to those of {goal}"
            )
        sources, goals = _sources(self.map), _sources(goal)
        if len(self.map.results) != len(goal.results) or len(sources) != len(goals):
            raise UnexplainedError("there are other expressions before than after")
        for k, to in enumerate(goal.results):
            if self.map.results[k] is not to and not self.written(k, to, now):
                raise UnexplainedError(f"the steps do not lead from result {self.map.results[k]} to {to}")
        for k, (e, to) in enumerate(zip(sources, goals, strict=True)):
            if e is not to and not self.rewrite("source", k, e, to, now):
                raise UnexplainedError(f"the steps do not lead from source {e} to {to}")

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
def _towards(root: Expr, goal: Expr, equations: Sequence[Any]) -> list[_Use] | None:
    """Return the equations that bring ``root`` to ``goal`` in one run; ``None`` where none do."""
    inside = set(postorder(goal))
    # an expression that the goal still has was not rewritten, whatever is known of it
    for kept in ((), inside):
        found = _uses(root, equations, kept)
        # fewer equations may be needed in another order, and of those fewer
        while found is not None and found[0] is goal:
            order = [e for e, _ in found[1]]
            found = _uses(root, order, ())
            if found is None or len(found[1]) == len(order):
                break
        if found is not None and found[0] is goal:
            again = _uses(root, [e for e, _ in found[1]], ())
            if again is not None and [e for e, _ in again[1]] == [e for e, _ in found[1]]:
                return found[1]
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
    """Apply an equation to a minimum or maximum that has the arguments of its left side among others."""
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
    """The first equation from which, perhaps by others, the left side of an equation is reached, and what it makes.

    What becomes an argument on the way is rewritten before the next is applied.
    """
    memo: dict[Expr, Expr] = {}

    def rewritten(e: Expr) -> Expr:
        for a in e.children:
            _normalise(a, lambda n: (exact[n], exact[n].after) if n in exact else None, memo, lambda *_: None)
        return rebuild(e, [memo[a] for a in e.children])

    todo: list[tuple[Expr, tuple[Any, Expr] | None]] = [(node, None)]
    seen = {node}
    while todo:
        at, first = todo.pop(0)
        if not isinstance(at, (Min, Max)):
            continue
        for e in shifting:
            made = _among_others(e, at)
            if made is None:
                continue
            way = first or (e, made)
            for after in (made, rewritten(made)):
                if after in exact:
                    return way
                if after not in seen:
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
