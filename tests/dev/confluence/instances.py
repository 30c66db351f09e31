"""Small ground instances of declared rules, and maps on which two rules apply at overlapping places.

Values for the variables of a rule are derived from its conditions: an equation gives the value of a variable, bounds
give the box of a fresh one, a divisor gives a multiple.  Other values are drawn from small constants and expressions.
Nothing here is trusted: :meth:`World.complete` ends by checking every condition with :class:`Facts`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from random import Random
from typing import Final, TypeAlias

from indexproof.core.condition import FALSE, And, Compare, Condition, Divides, Or, Within, all_exprs
from indexproof.core.errors import InputError
from indexproof.core.expr import Binary, Expr, Extremum, Int, Mul, Sum, Var, integer, linear, postorder, rebuild, var
from indexproof.core.expr import as_sum as summands
from indexproof.core.facts import Facts
from indexproof.core.indexing_map import Constraint, IndexingMap, Variable
from indexproof.core.interval import is_infinite
from indexproof.core.rewrite import Bounded, ConstraintRule, Rule

__all__ = ["AnyRule", "Miss", "Overlap", "instance", "overlap"]

AnyRule: TypeAlias = "Rule | ConstraintRule"
Values: TypeAlias = dict[Var, Expr]

#: The boxes of variables, and the values of constants that no condition restricts.
_BOXES: Final = ((0, 1), (0, 2), (0, 3), (0, 5), (0, 7), (0, 11), (1, 4), (-3, 3), (0, 99))
_CONSTANTS: Final = (1, 2, 2, 3, 3, 4, 4, 6, 8, 12, 0, -1, -2, 5)
#: The candidates for a constant that the conditions restrict.
_RANGE: Final = range(-12, 25)
#: Limits on the number of variables and on the number of values of a bounded one.
_VARIABLES: Final = 6
_WIDEST: Final = 24
#: Limits on the instances of each rule and on the attempts to make one.
_BANK: Final = 24
_PATIENCE: Final = 40


class Miss(Exception):
    """Raised where the drawn values make no instance."""


def _unknown(of: Expr | Condition) -> list[Var]:
    """Return the variables of a pattern that have no value yet."""
    roots = all_exprs(of) if isinstance(of, Condition) else [of]
    return [n for n in postorder(*roots) if isinstance(n, Var) and n.kind]


def _solvable(e: Expr) -> list[tuple[Var, int]]:
    """Return the pattern variables that occur in ``e`` only as a summand, with their coefficients."""
    _, terms = summands(e)
    found = [(t, k) for t, k in terms if isinstance(t, Var) and t.kind]
    return [(v, k) for v, k in found if not any(v in t.variables() for t, _ in terms if t is not v)]


class World:
    """Variables with small boxes, created on demand, and the random choices of one attempt."""

    def __init__(self, rng: Random, boxes: Mapping[Var, tuple[int, int]] | None = None) -> None:
        self.rng = rng
        self.boxes = dict(boxes or {})

    # ------------------------------------------------------------------------------------------------ what is drawn
    def fresh(self, lo: int, hi: int) -> Expr:
        """Create a variable with these bounds.  Raises :class:`Miss` if there are too many."""
        if lo > hi or len(self.boxes) == _VARIABLES:
            raise Miss
        v = var("abcdefgh"[len(self.boxes)])
        self.boxes[v] = lo, hi
        return v

    def variable(self) -> Expr:
        """Return a variable, often an existing one."""
        if self.boxes and (len(self.boxes) > 2 or self.rng.random() < 0.4):
            return self.rng.choice(list(self.boxes))
        return self.fresh(*self.rng.choice(_BOXES))

    def expression(self, kind: str) -> Expr:
        """A small expression, or a constant."""
        rng = self.rng
        if kind == "const":
            return integer(rng.choice(_CONSTANTS))
        if kind == "rest" and rng.random() < 0.4:
            return integer(0)
        x = self.variable()
        k = rng.choice((2, 3, 4))
        match rng.randrange(14):
            case 0:
                return x + rng.choice((1, -1, 2))
            case 1:
                return -x
            case 2:
                return x * k
            case 3:
                return x + self.variable() * k
            case 4:
                return x // k
            case 5:
                return x % k
        return x

    # ------------------------------------------------------------------------------------------ values of a rule
    def complete(self, rule: AnyRule, values: Values) -> Values:
        """Give every variable of ``rule`` a value, so that all its conditions hold.  Raises :class:`Miss`."""
        todo = [c.substitute(values) for c in self._atoms(rule.conditions)]
        self.rng.shuffle(todo)
        missing = [v for v in rule.variables if v not in values]
        while missing:
            if FALSE in todo:
                raise Miss
            known = [(c, names) for c in todo if (names := _unknown(c))]
            v, e = self._solution(known) or self._drawn(known, missing)
            missing.remove(v)
            values[v] = e
            todo = [c.substitute({v: e}) for c, _ in known]
        if not self.holds(rule, values):
            raise Miss
        return values

    def holds(self, rule: AnyRule, values: Values) -> bool:
        """Return whether every condition of ``rule`` certainly holds."""
        facts = Facts(self.boxes)
        return all(facts.holds(c.substitute(values)) for c in rule.conditions)

    def _atoms(self, conditions: Sequence[Condition]) -> list[Condition]:
        """Return conditions without connectives that imply ``conditions``, or most of them."""
        found: list[Condition] = []
        for c in conditions:
            parts = c.args if isinstance(c, And) else (self.rng.choice(c.args),) if isinstance(c, Or) else ()
            found += self._atoms(parts) if parts else [c]
        return found

    def _solution(self, todo: Sequence[tuple[Condition, list[Var]]]) -> tuple[Var, Expr] | None:
        """Return a variable that some condition determines, with its value."""
        for c, names in todo:
            if isinstance(c, Within) and not _unknown(c.e):
                # the bounds around a known expression are its range
                for bound, end in zip((c.lo, c.hi), Facts(self.boxes).interval(c.e), strict=True):
                    if bound in names and not is_infinite(end):
                        return bound, integer(int(end))
            if len(names) != 1:
                continue
            if names[0].kind == "const":
                return names[0], self._constant(names[0], [c for c, other in todo if other == names])
            for e in _equated(c):
                for v, k in _solvable(e):
                    return v, self._at_target(c, e, v, k)
        return None

    def _constant(self, v: Var, conditions: Sequence[Condition]) -> Expr:
        """Return a value of ``v`` that satisfies ``conditions``, whose only variable is ``v``."""
        solved = [
            (c, value.value)
            for c in conditions
            for e in _equated(c)
            for _, k in _solvable(e)
            if isinstance(value := self._at_target(c, e, v, k), Int)
        ]
        candidates = [n for c, n in solved if isinstance(c, Compare) and c.op == "=="]
        if not candidates:
            # small ones first, most of the time
            candidates = sorted(_RANGE, key=lambda n: abs(n) * self.rng.random())
            if self.rng.random() < 0.5:
                candidates = [n for _, n in solved] + candidates
        facts = Facts(self.boxes)
        for n in candidates:
            if all(facts.holds(c.substitute({v: n})) for c in conditions):
                return integer(n)
        raise Miss

    def _at_target(self, c: Condition, e: Expr, v: Var, k: int) -> Expr:
        """Return a value of ``v``, which has the coefficient ``k`` in ``e``, for which ``e`` satisfies ``c``."""
        rest = e - v * k
        pick = self.rng.choice
        target: Expr = integer(0)
        match c:
            case Within(lo=Int(value=lo), hi=Int(value=hi)):
                if v.kind == "const":
                    target = integer(self.rng.randint(lo, max(lo, min(hi, lo + _WIDEST))))
                elif abs(k) == 1:
                    target = self.fresh(lo, pick((min(hi, lo + _WIDEST), min(hi, lo + 1))))
            case Divides(d=Int(value=d)):
                target = integer(pick((1, 2, 3, 4, 0, -1)) * d) if v.kind == "const" else self.variable() * d
            case Compare(op="<" | "<=" as op):
                more = pick((0, 0, 1, 2, 3, 5, 7, 11)) + (op == "<")
                if v.kind == "const":
                    least = Facts(self.boxes).interval(rest).lo
                    if is_infinite(least) or k == 0:
                        raise Miss
                    need = more - int(least)
                    return integer(-(-need // k) if k > 0 else -(need // -k))
                target = self.fresh(more, more + pick((0, 2, 5))) if abs(k) == 1 else integer(more)
        const, terms = summands(target - rest)
        return linear(const // k, [(t, j // k) for t, j in terms])

    def _drawn(self, todo: Sequence[tuple[Condition, list[Var]]], missing: Sequence[Var]) -> tuple[Var, Expr]:
        """Draw a value for a variable, preferably for one that no condition will determine."""
        later = {v for c, _ in todo for e in _equated(c) for v, k in _solvable(e) if abs(k) == 1}
        v = self.rng.choice([v for v in missing if v not in later] or list(missing))
        return v, self.expression(v.kind)

    # ------------------------------------------------------------------------------------------------ unification
    def match(self, p: Expr, e: Expr, values: Values) -> None:
        """Extend ``values`` by one match of the pattern ``p`` with ``e``.  Raises :class:`Miss`."""
        p = p.substitute(values)
        if p is e or not _unknown(p):
            if p is not e:
                raise Miss
            return
        match p:
            case Var():
                if p.kind == "const" and not isinstance(e, Int):
                    raise Miss
                values[p] = e
            case Binary():
                if not isinstance(e, type(p)):
                    raise Miss
                self.match(p.b, e.b, values)
                self.match(p.a, e.a, values)
            case Extremum():
                if not isinstance(e, type(p)):
                    raise Miss
                args = list(e.args)
                one = args.pop(self.rng.randrange(len(args)))
                first, second = self.rng.sample(p.args, 2)
                self.match(first, one, values)
                self.match(second, rebuild(e, args) if len(args) > 1 else args[0], values)
            case _:
                self._match_sum(p, e, values)

    def _match_sum(self, p: Expr, e: Expr, values: Values) -> None:
        if len(_unknown(p)) == 1:
            for v, k in _solvable(p):
                if abs(k) == 1:
                    found = (e - (p - v * k)) * k
                    if v.kind == "const" and not isinstance(found, Int):
                        raise Miss
                    values[v] = found
                    return
        const, terms = summands(e)
        left = list(terms)
        named, rest, constant = _named_summands(p)
        for atom, coefficient in named:
            self.match_summand(atom, coefficient, left, values)
        if constant is not None:
            self.match(constant, integer(const), values)
            const = 0
        if rest is not None:
            self.match(rest, linear(const, left), values)
        elif left or const:
            raise Miss

    def match_summand(
        self, atom: Expr, coefficient: Expr | None, terms: list[tuple[Expr, int]], values: Values
    ) -> tuple[Expr, int]:
        """Match one summand of a pattern with one of ``terms``, which is removed and returned."""
        fits = [(t, k) for t, k in terms if isinstance(atom, Var) or isinstance(t, type(atom))]
        if not fits:
            raise Miss
        t, k = self.rng.choice(fits)
        self.match(coefficient if coefficient is not None else integer(1), integer(k), values)
        self.match(atom, t, values)
        terms.remove((t, k))
        return t, k


def _equated(c: Condition) -> list[Expr]:
    """Return the expression that a condition restricts, if it is known how."""
    match c:
        case Compare(op="==" | "<" | "<=", a=a, b=b):
            return [b - a]
        case Within(e=e, lo=Int(), hi=Int()) | Divides(d=Int(), e=e):
            return [e]
    return []


def _named_summands(p: Expr) -> tuple[list[tuple[Expr, Expr | None]], Var | None, Var | None]:
    """Return the summands of a sum pattern with coefficients, structured ones first; its rest and its constant."""
    named: list[tuple[Expr, Expr | None]] = []
    rest = constant = None
    const, terms = summands(p)
    for t, k in terms:
        if isinstance(t, Var) and t.kind == "rest" and k == 1:
            rest = t
        elif isinstance(t, Var) and t.kind == "const" and k == 1:
            constant = t
        elif isinstance(t, Mul) and len(t.factors) == 2 and k == 1:
            coefficient, atom = sorted(t.factors, key=lambda f: not (isinstance(f, Var) and f.kind == "const"))
            named.append((atom, coefficient))
        else:
            named.append((t, integer(k)))
    if const:
        raise Miss
    return sorted(named, key=lambda n: isinstance(n[0], Var)), rest, constant


@cache
def instance(rule: AnyRule, number: int) -> tuple[Values, World] | None:
    """Return an instance of one rule, the same in every process, and its world."""
    for attempt in range(_PATIENCE):
        world = World(Random(f"{rule.name} {number} {attempt}"))
        with suppress(Miss, ZeroDivisionError):
            return world.complete(rule, {}), world
    return None


# ------------------------------------------------------------------------------------------------------- overlaps
@dataclass(frozen=True)
class Overlap:
    """A map to which two rules apply, and the map after each of them."""

    start: IndexingMap
    first: IndexingMap
    second: IndexingMap


def _sides(rule: AnyRule) -> tuple[tuple[Bounded, ...], tuple[Bounded, ...]]:
    """Return both sides of a rule as constraints; for rules on expressions the bounds are dummies."""
    if isinstance(rule, ConstraintRule):
        return rule.left, rule.right
    zero = integer(0)
    return (Bounded(rule.left, zero, zero),), (Bounded(rule.right, zero, zero),)


def _places(e: Expr) -> list[Expr]:
    """Return the parts of a pattern at which another rule may apply, the whole first."""
    return [n for n in reversed(postorder(e)) if n is e or not isinstance(n, (Var, Int, Mul))]


def overlap(outer: AnyRule, inner: AnyRule, rng: Random) -> Overlap:
    """Make a map on which both rules apply at overlapping places.  Raises :class:`Miss` if this attempt fails.

    ``inner`` applies within the left-hand side of ``outer``; of two rules for constraints, to one of its constraints.
    """
    try:
        return _overlap(outer, inner, rng)
    except (ZeroDivisionError, InputError):
        raise Miss from None


def _overlap(outer: AnyRule, inner: AnyRule, rng: Random) -> Overlap:
    (left, right), (left_in, right_in) = _sides(outer), _sides(inner)
    n, m = rng.randrange(len(left)), rng.randrange(len(left_in))
    if isinstance(inner, ConstraintRule):
        there, here = _parts(left[n]), _parts(left_in[m])
    else:
        there, here = (rng.choice(_places(left[n].e)),), (inner.left,)
    (one, theirs), (other, ours) = (outer, there), (inner, here)
    turned = rng.random() < 0.5
    if turned:
        (one, theirs), (other, ours) = (other, ours), (one, theirs)
    kept = instance(one, rng.randrange(_BANK))
    if kept is None:
        raise Miss
    at, world = dict(kept[0]), World(rng, kept[1].boxes)
    join = _joined if len(here) == 1 and rng.random() < 0.5 else _matched
    at_other = join(world, one, at, theirs, other, ours)
    if any(p.substitute(at) is not q.substitute(at_other) for p, q in zip(theirs, ours, strict=True)):
        raise Miss
    at, at_in = (at_other, at) if turned else (at, at_other)

    before, after = _ground(left, at), _ground(right, at)
    if isinstance(inner, ConstraintRule):
        others = [c for k, c in enumerate(_ground(left_in, at_in)) if k != m]
        changed = [c for k, c in enumerate(before) if k != n] + list(_ground(right_in, at_in))
        start, first, second = [*before, *others], [*after, *others], changed
    else:
        spot, new = here[0].substitute(at_in), inner.right.substitute(at_in)
        start, first = list(before), list(after)
        second = [Constraint(c.expr.substitute({spot: new}), c.lo, c.hi) for c in before]
    make = _map_maker(world, start[0].expr)
    if isinstance(outer, ConstraintRule):
        found = Overlap(make(None, start), make(None, first), make(None, second))
    else:
        found = Overlap(make(None, ()), make(first[0].expr, ()), make(second[0].expr, ()))
    if found.start in (found.first, found.second):
        raise Miss
    return found


def _parts(b: Bounded) -> tuple[Expr, ...]:
    return b.e, b.lo, b.hi


def _ground(side: Sequence[Bounded], values: Values) -> tuple[Constraint, ...]:
    """Return one side of a rule under the substitution."""
    found = []
    for b in side:
        e, lo, hi = (p.substitute(values) for p in _parts(b))
        assert isinstance(lo, Int)
        assert isinstance(hi, Int)
        found.append(Constraint(e, lo.value, hi.value))
    return tuple(found)


def _map_maker(world: World, result: Expr) -> Callable[[Expr | None, Sequence[Constraint]], IndexingMap]:
    """Return a function that makes maps on the boxes of ``world``, by default with the result ``result``."""
    dims = tuple(Variable(v.name, *box) for v, box in world.boxes.items())
    return lambda e, constraints: IndexingMap(dims, (), (), (result if e is None else e,), tuple(constraints))


def _matched(
    world: World, one: AnyRule, at: Values, theirs: Sequence[Expr], other: AnyRule, ours: Sequence[Expr]
) -> Values:
    """Return values for ``other`` that match its parts ``ours`` with the parts ``theirs`` of ``one`` under ``at``."""
    values: Values = {}
    # bounds before the expression between them
    for p, q in reversed(list(zip(ours, theirs, strict=True))):
        world.match(p, q.substitute(at), values)
    return world.complete(other, values)


def _joined(
    world: World, one: AnyRule, at: Values, theirs: Sequence[Expr], other: AnyRule, ours: Sequence[Expr]
) -> Values:
    """As :func:`_matched`, for sums that share one summand: the other summands of each join the other's rest."""
    (there,), (here,) = theirs, ours
    if not (isinstance(there, Sum) and isinstance(here, Sum)):
        return _matched(world, one, at, theirs, other, ours)
    (_, rest, _), (named, rest_other, _) = _named_summands(there), _named_summands(here)
    if rest is None or rest_other is None or not named:
        raise Miss
    whole = there.substitute(at)
    values: Values = {rest_other: integer(0)}
    t, k = world.match_summand(*world.rng.choice(named), list(summands(whole)[1]), values)
    more = here.substitute(world.complete(other, values)) - t * k
    at[rest], values[rest_other] = at[rest] + more, whole - t * k
    if not (world.holds(one, at) and world.holds(other, values)):
        raise Miss
    return values
