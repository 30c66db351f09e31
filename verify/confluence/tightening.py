"""Rules that only make bounds narrower: any two of them join, because narrower bounds become narrower ones.

Such a rule has the same expressions on both sides, so what it makes of a domain is said by bounds alone.  Let it leave
bounds as they are where it does not apply, and let *nowhere* be what a domain becomes of which a constraint admits no
value that its expression has.  Three facts about bounds (:func:`facts_of`) are proved of the rule:

- it *contracts*: what it makes of bounds lies within them;
- it is *monotone*: of bounds that lie within others it makes bounds within what it makes of those, where it applies to both
- and where it applies to the wider ones only.  (Where it applies to the narrower ones only that follows from the first.)

What a strategy looks up is the range of an expression on the boxes.  Of smaller boxes it lies within that of larger ones,
so it takes part in the comparison: it may be narrower, too.

Now let both results of a pair be rewritten by the two rules as long as one of them changes something.  That ends, because
every step descends.  The bounds in which it ends are *the largest ones within those of the start that neither rule
changes*: those lie within the start, and if they lie within some bounds they lie within what a rule makes of these, because
the rule is monotone and leaves them alone.  So both results end in the same bounds, or both nowhere.

Two constraints on one expression become one on the way if their bounds become the same; with the rule that intersects
them, which is monotone as well, it makes no difference when.  A constraint on a variable that says in the end what its box
says is satisfied, and the rule for such constraints lets it vanish.  So these rules have to be there too.

(Chaotic iteration: P. and R. Cousot, 1977; K. R. Apt, The essence of constraint propagation, 1999.)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from ...core.condition import Condition, Or, Within, all_of
from ...core.expr import Expr, Var, var
from ...core.rewrite import Bounded, ConstraintRule
from ...rules.constraints import NOWHERE
from ..obligations import Obligation
from ..solve import Budget, valid
from .constraint_overlap import ConstraintOverlap

__all__ = ["empties", "facts_of", "intersecting", "joined_by_tightening", "monotone", "narrows", "satisfied"]


def narrows(rule: ConstraintRule) -> bool:
    """Whether both sides are constraints on the same expressions, each of which the right side has once."""
    after = [b.e for b in rule.right]
    return len(set(after)) == len(after) and set(after) == {b.e for b in rule.left}


@dataclass(frozen=True)
class _Bounds:
    """A rule on bounds: ``left`` and ``right`` by expression, ``fires`` where it applies, and ranges that it looks up."""

    left: tuple[Bounded, ...]
    right: dict[Expr, Bounded]
    fires: tuple[Condition, ...]
    ranges: dict[Expr, tuple[Expr, Expr]]

    def possible(self) -> Iterator[Condition]:
        """Every constraint admits a value that its expression may have."""
        for b in self.left:
            yield b.lo <= b.hi
            if b.e in self.ranges:
                lo, hi = self.ranges[b.e]
                yield b.lo <= hi
                yield lo <= b.hi
        for lo, hi in self.ranges.values():
            yield lo <= hi

    def within(self, other: _Bounds) -> Iterator[Condition]:
        """Bounds and ranges lie within the others."""
        for b, c in zip(self.left, other.left, strict=True):
            yield c.lo <= b.lo
            yield b.hi <= c.hi
        for e, (lo, hi) in self.ranges.items():
            yield other.ranges[e][0] <= lo
            yield hi <= other.ranges[e][1]


def _constant(c: Condition) -> bool:
    return all(v.kind == "const" for v in c.variables())


def _bounds(rule: ConstraintRule, mark: str) -> _Bounds | None:
    """The rule with bounds of its own: every end has another name, and where the rule says one twice they are equal.

    Nothing if an end is no variable, or a bound is part of an expression as well.
    """
    ranges = {c.e: (c.lo, c.hi) for c in rule.conditions if isinstance(c, Within) and not _constant(c)}
    ends = [x for b in rule.left for x in (b.lo, b.hi)]
    inside = {v for b in rule.left for v in b.e.variables()}
    looked_up = [x for pair in ranges.values() for x in pair]
    if any(not isinstance(x, Var) or x in inside for x in (*ends, *looked_up)):
        return None
    if any(not _constant(c) and not isinstance(c, Within) for c in rule.conditions):
        return None
    at: dict[Var, Expr] = {}
    equal: list[Condition] = []
    left: list[Bounded] = []
    for n, b in enumerate(rule.left):
        two: list[Expr] = []
        for x, side in ((b.lo, "↓"), (b.hi, "↑")):
            assert isinstance(x, Var)
            own = var(f"{x}{mark}" if x not in at else f"{x}{n}{side}{mark}", "const")
            if x in at:
                equal.append(own.eq(at[x]))
            at.setdefault(x, own)
            two.append(own)
        left.append(Bounded(b.e, *two))
    for x in looked_up:
        assert isinstance(x, Var)
        at.setdefault(x, var(f"{x}{mark}", "const"))
    right = {b.e: Bounded(b.e, b.lo.substitute(at), b.hi.substitute(at)) for b in rule.right}
    fires = (*equal, *(c.substitute(at) for c in rule.conditions if _constant(c)))
    found = {e: (lo.substitute(at), hi.substitute(at)) for e, (lo, hi) in ranges.items()}
    return _Bounds(tuple(left), right, fires, found)


def _inside(of: Sequence[Bounded], within: dict[Expr, Bounded]) -> Condition:
    return all_of(c for b in of for c in (within[b.e].lo <= b.lo, b.hi <= within[b.e].hi))


def facts_of(rule: ConstraintRule) -> tuple[Obligation, ...]:
    """What has to be proved of a rule that narrows bounds; nothing where that cannot be said of its bounds."""
    narrow, wide = _bounds(rule, ""), _bounds(rule, "⁺")
    if not narrows(rule) or narrow is None or wide is None:
        return ()
    made = [narrow.right[b.e] for b in narrow.left]
    start = {b.e: b for b in narrow.left}
    both = (*narrow.within(wide), *narrow.possible(), *wide.fires)

    def owes(kind: str, given: Sequence[Condition], goal: Condition) -> Obligation:
        return Obligation("confluence", rule.name, kind, tuple(given), goal)

    contracts = [c for b in narrow.left for c in (b.lo <= narrow.right[b.e].lo, narrow.right[b.e].hi <= b.hi)]
    # two constraints on one expression both become the same, so each must contain it
    assert start
    return (
        owes("contracts", (*narrow.fires, *narrow.possible()), all_of(contracts)),
        owes("monotone where it applies to both", (*narrow.fires, *both), _inside(made, wide.right)),
        owes(
            "monotone where it applies to the wider bounds only",
            (*both, ~all_of(narrow.fires)),
            _inside(narrow.left, wide.right),
        ),
    )


@cache
def monotone(rule: ConstraintRule) -> bool:
    """Whether the facts about a rule that narrows bounds are proved."""
    facts = facts_of(rule)
    return bool(facts) and all(valid(o, Budget()).proved for o in facts)


def intersecting(rule: ConstraintRule) -> bool:
    """Whether a rule makes one constraint of any two on the same expression."""
    if rule.conditions or len(rule.left) != 2 or len(rule.right) != 1:
        return False
    one, two = rule.left
    return one.e is two.e is rule.right[0].e and isinstance(one.e, Var) and monotone(rule)


def empties(rule: ConstraintRule) -> bool:
    """Whether a rule says of any expression that bounds admit nothing, or none of the values that it has, hold nowhere."""
    if rule.right != (NOWHERE,) or len(rule.left) != 1 or not isinstance(rule.left[0].e, Var):
        return False
    (b,) = rule.left
    ranges = [(c.lo, c.hi) for c in rule.conditions if isinstance(c, Within) and c.e is b.e]
    others = [c for c in rule.conditions if not isinstance(c, Within)]
    if len(ranges) != 1 or len(others) != 1 or not isinstance(others[0], Or):
        return False
    ((lo, hi),) = ranges
    return {b.hi < lo, hi < b.lo, b.hi < b.lo} <= set(others[0].parts())


def satisfied(rule: ConstraintRule) -> bool:
    """Whether a rule lets any constraint vanish that always holds."""
    if rule.right or len(rule.left) != 1 or not isinstance(rule.left[0].e, Var):
        return False
    (b,) = rule.left
    return rule.conditions == (b.e.within(b.lo, b.hi),)


def joined_by_tightening(o: ConstraintOverlap, rules: Sequence[ConstraintRule]) -> bool:
    """Whether both rules of a pair only narrow bounds, monotonely, and the rules that it takes besides are there."""
    pair = (o.outer, o.inner)
    return (
        all(isinstance(r, ConstraintRule) and narrows(r) for r in pair)
        and any(intersecting(r) for r in rules)
        and any(empties(r) for r in rules)
        and any(satisfied(r) for r in rules)
        and all(isinstance(r, ConstraintRule) and monotone(r) for r in pair)
    )
