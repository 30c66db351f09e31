"""Constraints on sums have one form: no constant, no common factor, and not more minus signs than plus signs.

Three rules make it: one moves a constant into the bounds, one takes a common factor out of all summands, one turns a sum
round that has more minus signs (or as many, and the first).  Of a sum and its opposite exactly one stays.  So two
constraints ``k·e + c ∈ B`` and ``e ∈ {v | k·v + c ∈ B}``, ``k`` not zero, end in the same one: the sum is ``e`` without
constant and factor, turned the right way, and its bounds are the ends of one set of integers; where that is empty, both are
nowhere, and where ``e`` is a number, both hold everywhere or nowhere.

So a rule for expressions that rewrites the whole sum joins with each of the three where it commutes with them.  Let its
left side be a sum of patterns with constants for coefficients and a rest, let its conditions say nothing of the rest, and
let it have no strategy, so that it applies wherever it matches, or one that looks for two summands and for nothing but
how their coefficients are to each other, so that it proposes the same of a multiple (that the result is smaller is proved
of every rule).  A factor ``k`` of all summands divides the coefficients of the patterns that are no variables, because
each is a summand of its own.  What has to be proved (:func:`facts_of`):

- ``k`` divides the other coefficients, too;
- the conditions hold of the coefficients without ``k``;
- the right side is ``k`` times what it is for the coefficients and the rest without ``k``, which is seen from its form.

Then the rule applies to what the sum becomes without its factor, and without its constant, which is part of the rest; what
it makes of that and what it makes of the sum differ by the factor and the constant.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

from ...core.condition import all_of
from ...core.expr import Expr, Mul, Sum, Var, integer, mul, var
from ...core.rewrite import ConstraintRule, Rule
from ..obligations import Obligation
from ..solve import Budget, valid
from .constraint_overlap import ConstraintOverlap
from .constraint_posed import rest_and_constant
from .tightening import empties, satisfied
from .unify import expanded, flat

__all__ = ["BY_COEFFICIENTS", "commutes", "facts_of", "has_forms", "joined_by_linear_form"]

_K = var("k°", "const")
#: Strategies that look for two summands, and for how their coefficients are to each other.
BY_COEFFICIENTS = frozenset({"quotient_of_remainder", "next_digit"})
#: Strategies that look for summands, and not at the constant of a sum.
BY_SUMMANDS = frozenset({"", "known_remainder", *BY_COEFFICIENTS})


def _parts(rule: Rule) -> tuple[dict[Var, Expr], Var] | None:
    """The coefficients of the patterns, each with its pattern, and the rest; nothing if the left side is no such sum."""
    if rule.choose not in ("", *BY_COEFFICIENTS) or not isinstance(rule.left, Sum) or rule.left.const:
        return None
    coefficients: dict[Var, Expr] = {}
    rest: list[Var] = []
    for k, t in flat(rule.left).items:
        if isinstance(t, Var) and t.kind == "rest" and k is integer(1):
            rest.append(t)
        elif isinstance(k, Var) and k.kind == "const" and k not in coefficients:
            coefficients[k] = t
        else:
            return None
    if len(rest) != 1 or any(rest[0] in c.variables() for c in rule.conditions):
        return None
    if any(v in t.variables() for v in (*coefficients, rest[0]) for t in coefficients.values()):
        return None
    return coefficients, rest[0]


def _scaled(rule: Rule, parts: tuple[Mapping[Var, Expr], Var]) -> dict[Var, Expr]:
    coefficients, rest = parts
    return {v: mul(_K, v) for v in (*coefficients, rest)}


def facts_of(rule: Rule) -> tuple[Obligation, ...]:
    """What has to be proved of a rule for sums; nothing where it is no such rule, or its right side has another form."""
    parts = _parts(rule)
    if parts is None:
        return ()
    coefficients, rest = parts
    at = _scaled(rule, parts)
    if expanded(rule.right.substitute(at) - mul(_K, rule.right)).children or not _only_summand(rule, rest):
        return ()
    shown = [v for v, t in coefficients.items() if not isinstance(t, Var)]
    others = [v for v in coefficients if v not in shown]
    given = (_K.ne(0), *rule.conditions, *(_K.divides(v) for v in shown))
    scaled = (_K.ne(0), *(c.substitute(at) for c in rule.conditions))
    return (
        Obligation("confluence", rule.name, "a factor of all", given, all_of(_K.divides(v) for v in others)),
        Obligation("confluence", rule.name, "without the factor", scaled, all_of(rule.conditions)),
    )


def _only_summand(rule: Rule, rest: Var) -> bool:
    """Whether the right side has the rest as a summand, and nowhere else."""
    gap = expanded(rule.right - rest)
    return rest not in gap.variables()


def commutes_with_constants(rule: Rule) -> bool:
    """Whether a rule for sums makes the same of a sum with another constant, which is part of the rest."""
    if rule.choose not in BY_SUMMANDS or not isinstance(rule.left, Sum) or rule.left.const:
        return False
    rest = [
        t for k, t in flat(rule.left).items if isinstance(t, Var) and t.kind == "rest" and k is integer(1)
    ]
    if len(rest) != 1 or any(rest[0] in c.variables() for c in rule.conditions):
        return False
    others = [t for _, t in flat(rule.left).items if t is not rest[0]]
    return all(rest[0] not in t.variables() for t in others) and _only_summand(rule, rest[0])


@cache
def commutes(rule: Rule) -> bool:
    """Whether the facts about a rule for sums are proved."""
    facts = facts_of(rule)
    return bool(facts) and all(valid(o, Budget()).proved for o in facts)


def _moves_constant(rule: ConstraintRule) -> bool:
    return len(rule.left) == 1 and not rule.choose and rest_and_constant(rule.left[0].e) is not None


def joined_by_linear_form(o: ConstraintOverlap, rules: Sequence[ConstraintRule]) -> bool:
    """Whether a pair is one of a rule for the form of a sum and one for expressions that commutes with it."""
    if not isinstance(o.inner, Rule) or len(o.outer.left) != 1 or o.at is not o.outer.left[0].e:
        return False
    if not (o.outer.choose in ("content", "negative_content") or _moves_constant(o.outer)):
        return False
    if not has_forms(rules) or not isinstance(o.outer.left[0].e, (Sum, Mul)):
        return False
    return (_moves_constant(o.outer) and commutes_with_constants(o.inner)) or commutes(o.inner)


def has_forms(rules: Sequence[ConstraintRule]) -> bool:
    """Whether there are all rules that it takes to bring constraints on sums into one form."""
    return {"content", "negative_content"} <= {r.choose for r in rules} and all(
        any(map(needed, rules)) for needed in (_moves_constant, empties, satisfied)
    )
