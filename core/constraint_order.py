"""The well-founded order in which every constraint rule descends (reports/semantics.md, "The order of constraints").

Constraints are compared by :class:`ConstraintMeasure`, lexicographically.  On patterns the components are expressions over
the measures of the pattern variables, so that descent is proved for all instances; on ground constraints they are numbers,
which is how proposals of a strategy (``choose=``) are checked when they are made.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from math import gcd
from typing import NamedTuple, TypeAlias

from . import expr as core
from .expr import (
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
    lift,
    maximum,
    minimum,
    natural_key,
    postorder,
    var,
)
from .rewrite import Bounded, ConstraintRule, measure

#: A constraint ``lo <= expression <= hi`` without pattern variables.
Bound: TypeAlias = tuple[Expr, int, int]
Terms: TypeAlias = tuple[tuple[Expr, int], ...]


class ConstraintMeasure(NamedTuple):
    """Every component is a natural number, summed over the constraints (the boxes of variables are constraints too).

    ``weight``, ``divisors``, ``negative``, ``reversed`` and ``unreduced`` are those of the expressions
    (the order of rules).  The next three look at the summands of the expression: ``coefficients`` is the sum of their
    absolute coefficients (1 for anything but a sum), ``constants`` counts expressions with a constant summand, ``minus``
    is twice the number of negative summands, and one more if the leading summand is among them; between them stands
    ``constraints``, how many there are, so that a sum may be split where its coefficients become smaller.  The three
    after them say the same of dividends, where the expression is a remainder.  ``width`` is the number of values that the
    bounds admit.
    """

    weight: Expr
    divisors: Expr
    negative: Expr
    reversed: Expr
    unreduced: Expr
    coefficients: Expr
    constraints: Expr
    constants: Expr
    minus: Expr
    coefficients_inside: Expr
    constants_inside: Expr
    minus_inside: Expr
    width: Expr

    def values(self) -> tuple[int, ...]:
        """Return the components of ground constraints as integers."""
        return tuple(c.value for c in self)  # type: ignore[attr-defined]


def constraint_measure(constraints: Sequence[Bounded]) -> ConstraintMeasure:
    """Return the measure of all of ``constraints`` together.

    On patterns it speaks of ``|x|``, ``‖x‖``, ``x⁻``, ``x↺`` and ``x°`` as :func:`~indexproof.core.rewrite.measure` does,
    and of ``x#`` (coefficients), ``x∘`` (constants) and ``x∓`` (minus), with a prime for those inside.
    """
    rows = []
    for b in constraints:
        coefficients, *shape = _shape(b.e)
        width = maximum(0, b.hi - b.lo + 1)
        rows.append((*measure(b.e), coefficients, lift(1), *shape, *_inside(b.e), width))
    if not rows:
        return ConstraintMeasure(*[lift(0)] * len(ConstraintMeasure._fields))
    return ConstraintMeasure(*[core.add(*column) for column in zip(*rows, strict=True)])


def _literal(e: Expr) -> bool:
    return all(v.kind == "const" for v in e.variables())


def _shape(e: Expr) -> tuple[Expr, Expr, Expr]:
    """Return ``coefficients``, ``constants`` and ``minus`` of one expression."""
    if _literal(e):
        return lift(0), lift(0), lift(0)
    if isinstance(e, Var) and e.kind:
        return var(f"{e.name}#"), var(f"{e.name}∘"), var(f"{e.name}∓")
    if isinstance(e, Mul):
        scale = core.mul(*[f for f in e.factors if _literal(f)])
        others = [f for f in e.factors if not _literal(f)]
        if len(others) == 1:
            one, other, _ = _shape(others[0])
            # the number of negative summands depends on the sign of the factor
            return core.mul(maximum(scale, -scale), one), other, var(f"({e})∓")
    if not isinstance(e, Sum):
        return lift(1), lift(0), lift(0)
    constant = core.linear(e.const, [(t, k) for t, k in e.terms if _literal(t)])
    if all(not (isinstance(t, Mul) or (isinstance(t, Var) and t.kind)) for t, _ in e.terms):
        return lift(sum(abs(k) for _, k in e.terms)), lift(int(e.const != 0)), lift(_minus(e.terms))
    coefficients: list[Expr] = []
    constants: list[Expr] = [minimum(1, maximum(constant, -constant))]
    for t, k in e.terms:
        if not _literal(t):
            c, n, _ = _shape(t)
            coefficients.append(c * abs(k))
            constants.append(n)
    return core.add(*coefficients), core.add(*constants), var(f"({e})∓")


def _inside(e: Expr) -> tuple[Expr, Expr, Expr]:
    """Return these components of the dividend of a remainder."""
    if isinstance(e, Mod):
        return _shape(e.a)
    if isinstance(e, Var) and e.kind and e.kind != "const":
        return var(f"{e.name}′#"), var(f"{e.name}′∘"), var(f"{e.name}′∓")
    return lift(0), lift(0), lift(0)


def measured(rule: ConstraintRule) -> bool:
    """Return whether descent of ``rule`` cannot be proved from its declaration, so that its code checks it.

    All applications are checked when they are made; the descent of the other rules is proved as well.  A component of the
    right side may be unknown on the left side.  Then an earlier component must differ, which small constants decide.
    Where constants make both sides the same, descent is an obligation, and is refuted.
    """
    before, after = constraint_measure(rule.left), constraint_measure(rule.right)
    known = {v for e in before for v in e.variables()}
    count = next(
        (n for n, e in enumerate(after) if any(v.kind != "const" and v not in known for v in e.variables())), len(after)
    )
    if count == len(after):
        return False
    symbols = {v for e in (*before[:count], *after[:count]) for v in e.variables()}
    constants = [v for v in symbols if v.kind == "const"]
    for values in itertools.product(range(-3, 4), repeat=len(constants)):
        env = dict.fromkeys(symbols, 1) | dict(zip(constants, values, strict=True))
        if all(c.evaluate(env) for c in rule.conditions if symbols.issuperset(c.variables())):
            then, now = ([e.evaluate(env) for e in side[:count]] for side in (before, after))
            if not now < then:
                at = dict(zip(constants, values, strict=True))
                pairs = zip(rule.left, rule.right, strict=False)
                return not all(b.e.substitute(at) is c.e.substitute(at) for b, c in pairs)
    return False


# ------------------------------------------------------------------------------------------------ ground constraints
def summands(e: Expr) -> tuple[int, Terms]:
    """Return the constant of an expression and its summands; a number has none."""
    if type(e) is Sum:
        return e.const, e.terms
    return (e.value, ()) if type(e) is Int else (0, ((e, 1),))


def _leading(terms: Terms) -> int:
    """Return the coefficient of the leading summand: the first variable by name, or else the smallest key."""
    named = [(natural_key(t.name), k) for t, k in terms if type(t) is Var]
    return min(named)[1] if named else min([(t.key, k) for t, k in terms])[1]


def _minus(terms: Terms) -> int:
    negative = sum([k < 0 for _, k in terms])
    return 2 * negative + (_leading(terms) < 0) if negative else 0


def upright(terms: Terms) -> bool:
    """Return whether negating a sum makes no fewer summands negative, and as many only with the leading one."""
    negative = sum([k < 0 for _, k in terms])
    return 2 * negative < len(terms) or (2 * negative == len(terms) and _leading(terms) > 0)


def _outline(e: Expr) -> tuple[int, int, int]:
    """Return the sum of absolute coefficients, whether there is a constant, and the count of signs."""
    const, terms = summands(e)
    return sum([abs(k) for _, k in terms]), int(const != 0 and bool(terms)), _minus(terms)


def _below(e: Expr) -> tuple[int, int, int]:
    return _outline(e.a) if type(e) is Mod else (0, 0, 0)


def descends(before: Sequence[Bound], after: Sequence[Bound]) -> bool:
    """Return whether ``after`` is strictly smaller than ``before``.  Constraints in both count for neither."""
    rest, new = list(before), []
    for c in after:
        if c in rest:
            rest.remove(c)
        else:
            new.append(c)
    # some constraints disappeared, or one of two on the same expression
    if not new or (len(new) == 1 < len(rest) and any(new[0][0] is c[0] for c in rest)):
        return bool(rest)
    if len(rest) == len(new) == 1:
        (e, lo, hi), (f, low, high) = rest[0], new[0]
        atoms = [t for t, _ in summands(f)[1]]
        if atoms and atoms == [t for t, _ in summands(e)[1]]:
            # only coefficients, constants and bounds changed: the summands are the same
            whole, left = _outline(e) + _below(e), _outline(f) + _below(f)
            return left < whole or (left == whole and max(0, high - low + 1) < max(0, hi - lo + 1))
    return _measures(new) < _measures(rest)


def _measures(constraints: Sequence[Bound]) -> list[int]:
    """Return the components of :class:`ConstraintMeasure` as numbers."""
    total: list[int] = []
    for e, lo, hi in constraints:
        whole, inside = _outline(e), _below(e)
        row = [*_sizes(e), whole[0], 1, whole[1], whole[2], inside[0], inside[1], inside[2], max(0, hi - lo + 1)]
        total = [a + b for a, b in zip(total, row, strict=True)] if total else row
    return total


def _sizes(e: Expr) -> list[int]:
    """Return the components of :func:`~indexproof.core.rewrite.measure`; divisors that are no literals count 1."""
    done: dict[Expr, list[int]] = {}
    for node in postorder(e):
        own = [0, 0, 0, 0, 0]
        if type(node) is Var:
            own[0] = 2
        for c in node.children:
            own = [a + b for a, b in zip(own, done[c], strict=True)]
        if type(node) is FloorDiv or type(node) is Mod or type(node) is CeilDiv:
            d = node.b.value if type(node.b) is Int else 1
            const, terms = summands(node.a)
            own[0] = 3 * own[0] + (1 if type(node) is FloorDiv else 2 if type(node) is Mod else 3)
            own[1] += abs(d)
            own[2] += d < 0
            own[3] = 3 * own[3] + sum([k < 0 for _, k in terms])
            own[4] = 3 * own[4] + (const // d != 0)
        elif type(node) is Min or type(node) is Max:
            args = node.args
            sums = [summands(a) for a in args]
            common = all(const != 0 for const, terms in sums if terms)
            multiples = gcd(*[const for const, _ in sums], *[k for _, terms in sums for _, k in terms]) > 1
            own[0] += len(args) - 1
            own[3] = 3 * own[3] + sum([k < 0 for _, terms in sums for _, k in terms])
            own[4] = 3 * own[4] + (common + multiples) * len(args)
        done[node] = own
    return done[e]
