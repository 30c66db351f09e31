"""Joining the two results of an overlap with symbols for constants: rewriting both until they meet.

A step is an instance of a rule as it is stated: its left side matches the expression modulo the canonical form, the
hypotheses of the overlap imply its conditions (shown by the reduction to linear arithmetic), and, where the rule lets
values be chosen, they imply that the right side is smaller in the order.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from ...core.condition import FALSE, Compare, Condition, Divides, Truth, Within, all_exprs
from ...core.expr import (
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
    integer,
    mul,
    postorder,
    var,
)
from ...core.rewrite import Rule, measure
from .. import linear
from ..obligations import Obligation, _lexicographic, _sizes
from ..preprocess import definition
from ..refute import completed, eliminated, failing_points, variables_of
from ..solve import Budget, reduced, valid
from .cases import cancelled, computed, signs, split, without
from .overlap import Overlap
from .unify import OPEN, Flat, State, expanded, flat, is_const, is_share, rational, unify

__all__ = ["Join", "Known", "Rewriter", "SymbolicStep", "join"]

#: Limits of the search for a common result: counts, so that the answer is the same on every machine.
_CHAIN = 10
_TERMS = 14
_QUESTIONS = 80
_PRODUCTS = 12
LIMITS = linear.Budget(
    rlimit=400_000, questions=12, instances=400, readings=40, leaves=24, splits=2, rounds=8, patient=False
)


#: Strategies whose rules join both sides even where the right one is not smaller: what leaves is then a constant, and
#: both sides are rewritten to the one whose constant lies between zero and the divisor.
_EITHER_WAY = frozenset({"multiples"})


@dataclass(frozen=True)
class SymbolicStep:
    """``rule`` turned ``before`` into ``after``; ``chosen`` if it let a value be chosen."""

    rule: str
    before: Expr
    after: Expr
    chosen: bool = False


@dataclass(frozen=True)
class Join:
    """Both sides of an overlap meet in ``meets``."""

    left: tuple[SymbolicStep, ...]
    right: tuple[SymbolicStep, ...]
    meets: Expr
    #: the same in other cases of the conditions
    others: tuple[Join, ...] = ()

    @property
    def chosen(self) -> bool:
        """Whether some step lets a value be chosen, which the rule's strategy may not propose."""
        return any(s.chosen for j in (self, *self.others) for s in (*j.left, *j.right))


class Known:
    """Hypotheses, what they imply, and some points at which they hold."""

    def __init__(self, hypotheses: Sequence[Condition], names: Sequence[Var] = ()) -> None:
        self.hypotheses = tuple(hypotheses)
        self.names = variables_of(hypotheses)
        self.names += [v for v in names if v not in self.names]
        self.questions = 0
        self.resources = 0
        #: how often a constant may be compared with more patience
        self.patience = 3
        #: how many questions may be asked
        self.asks = _QUESTIONS
        self.limits = LIMITS
        self._memo: dict[Condition, bool] = {}
        self.points = self._sampled()

    def defined(self) -> list[tuple[Var, Expr]]:
        """What is computed from other values at the points of the sample, the last one first."""
        return eliminated(self.hypotheses)

    def _sampled(self) -> np.ndarray[Any, Any]:
        definitions = self.defined()
        free = [v for v in self.names if v not in dict(definitions)]
        generator = np.random.default_rng(20240229)
        scale = generator.choice([2, 3, 4, 8, 16, 64], size=(6000, 1))
        sample = np.rint(generator.uniform(-0.35, 1.0, size=(6000, len(free))) * scale).astype(np.int64)
        points = np.zeros((len(sample), len(self.names)), dtype=np.int64)
        points[:, [self.names.index(v) for v in free]] = sample
        points = completed(points, self.names, definitions)
        return failing_points(points, self.names, self.hypotheses, FALSE)[:200]

    def assume(self, more: Sequence[Condition]) -> None:
        """Add hypotheses, which may speak of other variables."""
        self.hypotheses = tuple(dict.fromkeys((*self.hypotheses, *more)))
        self.names += [v for v in variables_of(more) if v not in self.names]
        # what was implied still is
        self._memo = {c: True for c, held in self._memo.items() if held}
        self.points = self._sampled()

    def implies(self, goal: Condition) -> bool:
        """Whether the hypotheses imply ``goal``, as far as the prover can see."""
        if isinstance(goal, Truth):
            return goal.value
        if goal in self.hypotheses:
            return True
        found = self._memo.get(goal)
        if found is None:
            found = self._memo[goal] = self._divides(goal) or self._asked(goal)
        return found

    def _divides(self, goal: Condition) -> bool:
        """Whether one constant divides another by a chain of what is known to divide products."""
        if not isinstance(goal, Divides) or not is_const(goal.e) or not is_const(goal.d):
            return False
        if not self.implies(goal.d.ne(0)):
            return False
        known = [(c.d, c.e) for c in self.hypotheses if isinstance(c, Divides) and is_const(c.e)]
        total = expanded(goal.e)
        parts = [(integer(1), total.const), *total.terms] if isinstance(total, Sum) else [(total, 1)]
        return all(k == 0 or divides_product(goal.d, mul(t, k), known) for t, k in parts)

    def refutes(self, goal: Condition) -> bool:
        """Whether some point of the sample violates ``goal``."""
        if not len(self.points) or not set(goal.variables()) <= set(self.names):
            return False
        return bool(len(failing_points(self.points, self.names, (), goal)))

    def _asked(self, goal: Condition) -> bool:
        if self.refutes(goal):
            return False
        if self.questions >= self.asks:
            return False
        self.questions += 1
        outcome = reduced(self.hypotheses, goal, self.limits)
        self.resources += outcome.resources
        return outcome.proved

    def equal(self, a: Expr, b: Expr) -> bool:
        """Whether two constant expressions are the same number."""
        gap = expanded(a - b)
        if isinstance(gap, Int):
            return gap.value == 0
        return self.proves(a.eq(b))

    def proves(self, goal: Condition) -> bool:
        """The same as :meth:`implies`, some times with more patience."""
        if self.implies(goal):
            return True
        if self.patience and not self.refutes(goal):
            self.patience -= 1
            asked = Obligation("confluence", "constants", "equal", self.hypotheses, goal)
            verdict = valid(asked, Budget().scaled(0.1))
            self.resources += verdict.resources
            self._memo[goal] = verdict.proved
        return self._memo.get(goal, False)


def divides_product(d: Expr, product: Expr, known: Sequence[tuple[Expr, Expr]]) -> bool:
    """Whether ``d`` divides a product, where each of the first divides the second of what is known.

    If a product holds ``e``, and ``c`` divides ``e``, it is a multiple of the same with ``c`` in the place of ``e``.
    """
    todo, seen = [expanded(product)], {expanded(product)}
    for p in todo:
        if rational(p, d) is not None:
            return True
        for c, e in known if len(todo) < _PRODUCTS else ():
            others = rational(p, e)
            if others is not None and (made := expanded(mul(others, c))) not in seen:
                seen.add(made)
                todo.append(made)
    return False


def join(o: Overlap, rules: Sequence[Rule], *, signed: bool = False) -> Join | None:
    """A common result of both sides, in every case of the conditions or in all of them; ``None`` where none is found.

    With ``signed`` divisors of unknown sign are above zero in one case and below it in another, and then one or more.
    """
    facts, first, second = _solved(o)
    names = {*first.variables(), *second.variables()}
    shifts: dict[frozenset[Expr], Var] = {
        frozenset((var("x" + mark, "expr"), var("y" + mark, "expr"))): var("k" + mark, "const")
        for rule, mark in ((o.outer, ""), (o.inner, "′"))
        if rule.choose == "common_constant"
    }

    def meeting(given: Sequence[Condition], one: Expr, two: Expr) -> Join | None:
        more = (*one.variables(), *two.variables(), *sorted(names, key=lambda v: v.name))
        known = Known(given, more)
        nothing: dict[Var, Expr] = {
            v: integer(0) for v in known.names if is_share(v) and known.implies(v.eq(0))
        }
        if nothing:
            given, one, two = without(nothing, given, (one, two))
            known = Known(given, more)
        return Rewriter(rules, known, shifts).join(one, two)

    cases = split(facts, (first, second))
    if signed:
        apart = [part for case in cases for part in _signed(*case)]
        if apart == cases:
            return None
        cases = apart
    found: list[Join] = []
    for given, (one, two) in cases:
        made = meeting(given, one, two)
        if made is None:
            # where alternatives are not told apart, less is known, but also less is rewritten differently
            return meeting(facts, first, second) if len(cases) > 1 and not signed else None
        found.append(made)
    return replace(found[0], others=tuple(found[1:])) if found else None


def _signed(
    given: tuple[Condition, ...], sides: tuple[Expr, ...], depth: int = 3
) -> list[tuple[tuple[Condition, ...], tuple[Expr, ...]]]:
    """The cases of the signs of divisors, and of divisors that are one."""
    parts = signs(given, sides) if depth else []
    return [case for part in parts for case in _signed(*part, depth - 1)] if parts else [(given, sides)]


def _solved(o: Overlap) -> tuple[tuple[Condition, ...], Expr, Expr]:
    """The overlap with constants that an equation gives replaced by what they are."""
    facts, sides = list(o.hypotheses), [o.first, o.second]
    while True:
        facts = [cancelled(h, facts) for h in facts]
        for k, h in enumerate(facts):
            d = definition(h, short=False)
            if d is not None and d[0].kind == "const" and is_const(d[1]) and d[0] not in d[1].variables():
                rest = [c.substitute({d[0]: d[1]}) for i, c in enumerate(facts) if i != k]
                facts = [c for c in rest if c is not Truth(True) and c != Truth(True)]
                sides = [s.substitute({d[0]: d[1]}) for s in sides]
                break
        else:
            return tuple(facts), computed(sides[0]), computed(sides[1])


@lru_cache(maxsize=4096)
def _pattern(rule: Rule) -> tuple[Expr, Expr, tuple[Condition, ...], dict[str, Var]]:
    names = {v: var(OPEN + v.name, v.kind) for v in rule.variables}
    return (
        rule.left.substitute(names),
        rule.right.substitute(names),
        tuple(c.substitute(names) for c in rule.conditions),
        {v.name: names[v] for v in rule.variables},
    )


class Rewriter:
    """Symbolic steps by rules for expressions, and the search for a common result."""

    def __init__(
        self, rules: Sequence[Rule], known: Known, shifts: Mapping[frozenset[Expr], Var] | None = None
    ) -> None:
        self.known = known
        self.by_head: dict[type[Expr], list[Rule]] = {}
        for r in rules:
            head = Sum if isinstance(r.left, Mul) else type(r.left)
            self.by_head.setdefault(head, []).append(r)
        self.hints: list[Expr] = []
        self.quotients: list[Expr] = []
        #: extrema that the pair itself says to have a constant in common
        self.shifts: Mapping[frozenset[Expr], Var] = shifts or {}
        self._after: dict[Expr, list[SymbolicStep]] = {}

    # -- the search
    def hinted(self, sides: Sequence[Expr]) -> list[Expr]:
        """Values that are tried where one may be chosen."""
        return _hints(self.known.hypotheses, sides)

    def join(self, first: Expr, second: Expr) -> Join | None:
        self.hints = self.hinted((first, second))
        if any(r.choose == "coefficient_quotients" for r in self.by_head.get(FloorDiv, [])):
            self.quotients = _quotients(self.known.hypotheses)
        chains: list[list[SymbolicStep]] = [[], []]
        ends = [first, second]
        seen: list[list[tuple[Expr, tuple[SymbolicStep, ...]]]] = [[(first, ())], [(second, ())]]
        found = self._met(seen)
        if found:
            return found
        for side in (0, 1):
            for _ in range(_CHAIN):
                step = next(iter(self.steps(ends[side], ends[1 - side])), None)
                if step is None:
                    break
                ends[side] = step.after
                chains[side].append(step)
                seen[side].append((step.after, tuple(chains[side])))
                found = self._met(seen)
                if found:
                    return found
        return self._broad(first, second)

    def _broad(self, first: Expr, second: Expr) -> Join | None:
        """Breadth first from both sides."""
        seen: list[list[tuple[Expr, tuple[SymbolicStep, ...]]]] = [[(first, ())], [(second, ())]]
        done = [0, 0]
        while any(done[k] < len(seen[k]) < _TERMS for k in (0, 1)):
            for side in (0, 1):
                if done[side] >= len(seen[side]) or len(seen[side]) >= _TERMS:
                    continue
                e, path = seen[side][done[side]]
                done[side] += 1
                for s in self.steps(e, seen[1 - side][-1][0]):
                    if all(s.after is not t for t, _ in seen[side]):
                        seen[side].append((s.after, (*path, s)))
                found = self._met(seen, fresh=True)
                if found:
                    return found
        return None

    def _met(
        self, seen: list[list[tuple[Expr, tuple[SymbolicStep, ...]]]], *, fresh: bool = False
    ) -> Join | None:
        for e, left in seen[0]:
            for t, right in seen[1]:
                if e is t or self.same(e, t):
                    return Join(left, right, t)
        return None

    # -- equality
    def same(self, a: Expr, b: Expr) -> bool:
        """Whether ``a`` and ``b`` are the same expression, constants compared by value."""
        if a is b:
            return True
        if is_const(a) and is_const(b):
            return self.known.equal(a, b)
        if type(a) is type(b) and isinstance(a, (FloorDiv, Mod, CeilDiv)):
            return self.same(a.b, b.b) and self.same(a.a, b.a)  # type: ignore[attr-defined]
        if type(a) is type(b) and isinstance(a, (Min, Max)):
            p, q = list(a.args), list(b.args)  # type: ignore[attr-defined]
            if len(p) != len(q):
                return False
            for x in p:
                i = next((i for i, y in enumerate(q) if self.same(x, y)), None)
                if i is None:
                    return False
                q.pop(i)
            return True
        if not isinstance(a, (Sum, Mul)) and not isinstance(b, (Sum, Mul)):
            return False
        f, g = flat(a), flat(b)
        rest = list(g.items)
        if len(f.items) != len(rest):
            return False
        for k, t in f.items:
            n = next((i for i, (c, u) in enumerate(rest) if self.same(t, u) and self.known.equal(k, c)), None)
            if n is None:
                return False
            rest.pop(n)
        return self.known.equal(f.const, g.const)

    # -- steps
    def steps(self, e: Expr, other: Expr) -> list[SymbolicStep]:
        """Every step from ``e``; ``other`` is what it should become."""
        key = e
        found = self._after.get(key)
        if found is None:
            found = self._after[key] = list(self._steps(e))
        return [*found, *self._towards(e, other)]

    def _towards(self, e: Expr, other: Expr) -> Iterator[SymbolicStep]:
        """Steps whose value is the other side: a known value, a certified quotient."""
        if is_const(other) and not is_const(e) and self.known.proves(e.eq(other)):
            yield SymbolicStep("value_known", e, other, True)
            return
        for node in postorder(e):
            if isinstance(node, (FloorDiv, Mod)) and not is_const(node.a):
                whole = node is e and isinstance(node, FloorDiv)
                for q in dict.fromkeys((*self.quotients, other) if whole else self.quotients):
                    if q not in node.variables() and self.known.implies(
                        (node.a - mul(q, node.b)).within(0, node.b - 1)
                    ):
                        name = "quotient_certified" if isinstance(node, FloorDiv) else "remainder_certified"
                        after = q if isinstance(node, FloorDiv) else node.a - mul(q, node.b)
                        # of what a strategy has chosen nothing else is known
                        if (whole and q in self.quotients) or self._smaller(node, after):
                            yield SymbolicStep(name, e, computed(_replaced(e, node, after)), True)

    def _steps(self, e: Expr) -> Iterator[SymbolicStep]:
        for node in reversed(postorder(e)):
            if isinstance(node, Var) and not is_const(node):
                yield from self._valued(e, node)
            if is_const(node) or isinstance(node, (Var, Mul)):
                continue
            for rule in self.by_head.get(type(node), []):
                for after in self._results(rule, node):
                    whole = computed(_replaced(e, node, after))
                    if whole is not e:
                        yield SymbolicStep(rule.name, e, whole, bool(rule.choose))
            if isinstance(node, (FloorDiv, Mod)):
                yield from self._reduced(e, node)
            if isinstance(node, Mod):
                yield from self._without_multiples(e, node)
            if isinstance(node, (FloorDiv, Mod, Sum)):
                yield from self._valued(e, node)

    def _reduced(self, e: Expr, node: FloorDiv | Mod) -> Iterator[SymbolicStep]:
        """Multiples of the divisor in the constant leave it; where there are none, nothing changes."""
        name = "multiple_leaves_quotient" if isinstance(node, FloorDiv) else "multiple_leaves_remainder"
        if all(r.name != name for r in self.by_head.get(type(node), [])) or not is_const(node.b):
            return
        f = flat(node.a)
        if isinstance(f.const, (Int, Mod)) or not f.items:
            return
        left = computed(f.const % node.b)
        if left is f.const or self.known.implies(f.const.within(0, node.b - 1)):
            return
        rest = Flat(left, f.items).expr()
        after = f.const // node.b + rest // node.b if isinstance(node, FloorDiv) else rest % node.b
        yield SymbolicStep(name, e, computed(_replaced(e, node, after)))

    def _without_multiples(self, e: Expr, node: Mod) -> Iterator[SymbolicStep]:
        """A remainder without the summands whose coefficient its divisor is known to divide, though none shows it."""
        rule = next((r for r in self.by_head.get(Mod, []) if r.choose in _EITHER_WAY), None)
        if rule is None or not is_const(node.b):
            return
        f = flat(node.a)
        left = tuple(
            (k, t)
            for k, t in f.items
            if rational(k, node.b) is not None or not self.known.implies(node.b.divides(k))
        )
        if len(left) < len(f.items):
            after = Flat(f.const, left).expr() % node.b
            yield SymbolicStep(rule.name, e, computed(_replaced(e, node, after)), True)

    def _valued(self, e: Expr, node: Expr) -> Iterator[SymbolicStep]:
        if any(r.name == "value_known" for r in self.by_head.get(Var, [])):
            for k in self.hints:
                if not self.known.refutes(node.eq(k)) and self.known.implies(node.eq(k)):
                    yield SymbolicStep("value_known", e, computed(_replaced(e, node, k)), True)
                    return

    def _results(self, rule: Rule, node: Expr) -> Iterator[Expr]:
        left, right, conditions, names = _pattern(rule)
        done: set[Expr] = set()
        states = itertools.chain(
            self._stated_rests(rule, names, node),
            self._paired(rule, names, node),
            unify(((left, node),), State(match=True)),
        )
        for count, state in enumerate(states):
            if count >= 40:
                return
            for s in self._chosen(rule, names, node, state):
                if rule.choose == "complement" and not _complement(s.of(names["x"])):
                    continue
                after = computed(s.of(right))
                if after in done or after is node or any(n.name.startswith(OPEN) for n in after.variables()):
                    continue
                wanted = [*s.equations, *conditions]
                asked = [c.substitute({v: s.of(v) for v in c.variables()}) for c in wanted]
                if any(v.name.startswith(OPEN) for c in asked for v in c.variables()):
                    continue
                if any(self.known.refutes(c) for c in asked if not isinstance(c, Truth)):
                    continue
                if all(self.known.implies(c) for c in asked) and (
                    rule.choose in _EITHER_WAY
                    or not rule.choose
                    or self._shifted(rule, names, node, s)
                    or self._smaller(node, after)
                ):
                    done.add(after)
                    yield after

    def _stated_rests(self, rule: Rule, names: dict[str, Var], node: Expr) -> Iterator[State]:
        """What a hypothesis says to lie below a factor is the rest that it leaves, or what the rest lacks of the factor."""
        if rule.choose != "common_factor" or not isinstance(node, (FloorDiv, Mod)):
            return
        for h in self.known.hypotheses:
            if not isinstance(h, Within) or h.lo is not integer(0):
                continue
            g = expanded(h.hi + 1)
            for r in (h.e, expanded(h.hi - h.e)):
                f = flat(node.a - r)
                parts = [rational(k, g) for k, _ in f.items]
                const = rational(f.const, g)
                if const is None or not f.items or any(p is None for p in parts):
                    continue
                x = const
                for p, (_, t) in zip(parts, f.items, strict=True):
                    assert p is not None
                    x = x + mul(p, t)
                values = {"x": expanded(x), "g": g, "d": node.b, "r": r}
                state: State | None = State(match=True)
                for n, e in values.items():
                    state = state.bind(names[n], e) if state is not None else None
                if state is not None:
                    yield state

    def _shifted(self, rule: Rule, names: dict[str, Var], node: Expr, state: State) -> bool:
        """Whether a constant is taken out of an extremum that the pair says to have it."""
        if rule.choose != "common_constant":
            return False
        return state.of(names["k"]) is self.shifts.get(frozenset(node.children))

    def _paired(self, rule: Rule, names: dict[str, Var], node: Expr) -> Iterator[State]:
        """A remainder in a sum and what may be the quotient or the digit that belongs to it."""
        if rule.choose not in ("quotient_of_remainder", "next_digit") or not isinstance(node, (Sum, Mul)):
            return
        f = flat(node)
        for i, (w, t) in enumerate(f.items):
            for j, (p, u) in enumerate(f.items):
                if i == j or not isinstance(t, Mod) or self.known.refutes(p.eq(mul(t.b, w))):
                    continue
                rest = Flat(f.const, tuple(k for n, k in enumerate(f.items) if n not in (i, j)))
                values = {"x": t.a, "d": t.b, "p": p, "w": w, "r": rest.expr()}
                if rule.choose == "quotient_of_remainder":
                    values["q"] = u
                elif isinstance(u, Mod):
                    values |= {"z": integer(0), "q": u.a, "t": u, "n": u.b}
                else:
                    continue
                state: State | None = State(match=True)
                for n, e in values.items():
                    state = state.bind(names[n], e) if state is not None else None
                if state is not None:
                    yield state

    def _smaller(self, before: Expr, after: Expr) -> bool:
        old, new = measure(before), measure(after)
        variables = sorted({*before.variables(), *after.variables()}, key=lambda v: (v.name, v.kind))
        sizes = _sizes(variables, [before])
        lost = expanded(old.weight - new.weight)
        parts = lost.terms if isinstance(lost, Sum) else ()
        if isinstance(lost, Sum) and lost.const > 0 and all(isinstance(t, Var) and k > 0 for t, k in parts):
            return True
        if reduced(sizes, new.weight < old.weight, LIMITS).proved:
            return True
        if not reduced(sizes, new.weight <= old.weight, LIMITS).proved:
            return False
        return reduced([*sizes, *self.known.hypotheses], _lexicographic(old, new), LIMITS).proved

    def _chosen(self, rule: Rule, names: dict[str, Var], node: Expr, state: State) -> Iterator[State]:
        """Values for variables that the left side does not bind."""
        loose = [v for v in names.values() if v not in state.bound]
        if not loose:
            yield state
            return
        for values in self._proposals(rule, names, node, state):
            s: State | None = state
            for n, e in values.items():
                s = s.bind(names[n], e) if s is not None else None
            if s is not None:
                yield s

    def _proposals(
        self, rule: Rule, names: dict[str, Var], node: Expr, state: State
    ) -> Iterator[dict[str, Expr]]:
        loose = {n for n, v in names.items() if v not in state.bound}
        if rule.choose == "common_constant":
            shift = self.shifts.get(frozenset(node.children))
            if shift is not None:
                yield {"k": shift}
            for a in node.children:
                k = flat(a).const
                if k is not integer(0):
                    yield {"k": k}
        elif rule.choose in ("block_of_range", "known_remainder", "single_value"):
            (name,) = loose if len(loose) == 1 else ("",)
            if name:
                yield from ({name: k} for k in self.hints)
            elif rule.choose == "known_remainder" and loose == {"m", "w"}:
                v, d = state.of(names["v"]), state.of(names["d"])
                w = rational(v, d)
                if w is not None:
                    yield from ({"m": k, "w": w} for k in self.hints)
        elif rule.choose == "next_digit":
            x, d = state.of(names["x"]), state.of(names["d"])
            values: dict[str, Expr] = {}
            if "q" in loose:
                values["q"] = x // d
            t = state.of(names["t"])
            if "n" in loose:
                if not isinstance(t, Mod):
                    return
                values["n"] = t.b
            if "z" in loose:
                if isinstance(t, Mod):
                    yield {**values, "z": computed(t.a - x // d)}
                yield {**values, "z": integer(0)}
            else:
                yield values
        elif rule.choose == "coefficient_quotients" and loose == {"q"}:
            d = state.of(names["d"])
            f = flat(state.of(names["x"]))
            parts = [mul(q, t) for k, t in f.items if (q := rational(k, d)) is not None]
            if parts:
                total: Expr = integer(0)
                for p in parts:
                    total = total + p
                yield {"q": total}
                for k in self.hints:
                    if k is not integer(0):
                        yield {"q": total + k}


def _complement(x: Expr) -> bool:
    """Whether the strategy may propose ``x``: it has no constant, and no coefficient that is written as negative."""
    f = flat(computed(x))
    return f.const is integer(0) and not any(isinstance(k, Int) and k.value < 0 for k, _ in f.items)


def _hints(hypotheses: Sequence[Condition], sides: Sequence[Expr]) -> list[Expr]:
    """Constants that something may be equal to: zero, and what the hypotheses and the sides speak of."""
    found: dict[Expr, None] = {integer(0): None}
    for c in hypotheses:
        if isinstance(c, Compare) and c.op == "==":
            for e in (c.a, c.b):
                if is_const(e):
                    found[e] = None
    for e in sides:
        f = flat(e)
        if f.const is not integer(0):
            found[f.const] = None
    for e in (v for c in hypotheses for x in all_exprs(c) for v in x.variables()):
        if e.kind == "const" and e.name[0] in "qkm":
            found[e] = None
    return list(found)[:6]


def _quotients(hypotheses: Sequence[Condition]) -> list[Expr]:
    """What hypotheses say to be a quotient."""
    found: dict[Expr, None] = {}
    for h in hypotheses:
        if isinstance(h, Within) and h.lo is integer(0):
            d = expanded(h.hi + 1)
            for k, t in flat(h.e).items:
                q = rational(k, d)
                if isinstance(t, Var) and isinstance(q, Int) and q.value < 0:
                    found[mul(-q.value, t)] = None
    return list(found)


def _replaced(e: Expr, node: Expr, after: Expr) -> Expr:
    return e.substitute({node: after}) if e is not node else after
