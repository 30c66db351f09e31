"""Joining the results of an overlap once more, with more that is known of it and more values to choose from.

- *What strategies propose*, more of it (:func:`.proposals.narrowed` with ``sharp``): a strategy that takes out a common
  factor leaves of the constant what is below the factor; what has no constant of its own keeps none when an equation
  says what it is.
- *Turned*: what is taken from the last of a block has no negative factors, so a variable in it that has one is written
  as the negative of another.
- *More values*: where a value is known, its negative, and the quotients and remainders of it by the numbers by which
  something is divided.
- *Products*: what is below a number is, times a number above zero, below their product.

Cases whose conditions exclude each other are left out.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from ...core.condition import FALSE, TRUE, Compare, Condition, Within
from ...core.expr import Expr, FloorDiv, Int, Mod, Mul, Sum, Var, integer, mul, postorder, var
from ...core.rewrite import Rule
from ..preprocess import definition
from ..solve import reduced
from .cases import computed, split
from .joining import LIMITS, Join, Known, Rewriter, SymbolicStep, _signed, _solved
from .overlap import Overlap
from .proposals import narrowed
from .unify import expanded, flat, is_const, rational

__all__ = ["join_again"]

#: So many values are tried.
_HINTS = 16
#: So many questions are asked in one case.
_QUESTIONS = 400


class _Again(Rewriter):
    """Steps that choose from more values."""

    def hinted(self, sides: Sequence[Expr]) -> list[Expr]:
        """Also negatives, quotients and remainders of the values that are known."""
        found: dict[Expr, None] = {k: None for k in super().hinted(sides) if isinstance(k, (Int, Var))}
        divisors = dict.fromkeys(
            v
            for n in postorder(*sides)
            if isinstance(n, (FloorDiv, Mod))
            for v in n.b.variables()
            if v.kind == "const"
        )
        for k in list(found):
            if isinstance(k, Var):
                found[expanded(-k)] = None
                above = [d for d in divisors if d is not k and (d > 0) in self.known.hypotheses]
                found |= dict.fromkeys(made for d in above for made in (k % d, k // d))
        return list(found)[:_HINTS]


def _products(given: Sequence[Condition]) -> Iterator[Condition]:
    """Bounds of products of what lies in a block, and what is above zero."""
    above = [
        c.b
        for c in given
        if isinstance(c, Compare) and c.op == "<" and isinstance(c.a, Int) and c.a.value >= 0
    ]
    above = [e for e in above if isinstance(e, Var) and e.kind == "const"]
    blocks = [c for c in given if isinstance(c, Within) and is_const(c.e) and c.lo is integer(0)]
    for c, d in itertools.product(blocks, above):
        if d not in c.e.variables():
            yield expanded(mul(d, c.e)).within(integer(0), expanded(mul(d, c.hi)))


def _blocks(given: Sequence[Condition], values: Sequence[Expr]) -> Iterator[Condition]:
    """Remainders of known values by what is above zero lie in a block, and belong to their quotients."""
    for n in values:
        if isinstance(n, Mod) and (n.b > 0) in given:
            yield n.within(integer(0), n.b - 1)
            yield (n.a // n.b * n.b + n).eq(n.a)


def _quotients(given: Sequence[Condition]) -> Iterator[Condition]:
    """What lies within a block of a divisor has a known quotient."""
    for c in given:
        if not isinstance(c, Within) or is_const(c.e):
            continue
        g = expanded(c.hi + 1) if c.lo is integer(0) else expanded(c.lo - 1) if c.hi is integer(0) else None
        f = flat(c.e)
        q = rational(expanded(-f.const), g) if g is not None and f.const is not integer(0) else None
        if g is not None and q is not None:
            yield (expanded(c.e - f.const) // g).eq(q)


def _multiplied(equations: Sequence[Condition], sides: Sequence[Expr]) -> Iterator[Condition]:
    """Equations that divide a constant, times what it is multiplied with."""
    terms = {t for e in sides for n in postorder(e) for t in (flat(n).const,)}
    parts = [t for e in terms if isinstance(e, Sum) for t, _ in e.terms] + [
        t for t in terms if isinstance(t, Mul)
    ]
    for c in equations:
        if isinstance(c, Compare) and c.op == "==" and isinstance(c.b, Var) and is_const(c.a):
            for t in dict.fromkeys(parts):
                k = rational(t, c.b)
                if k is not None and not isinstance(k, Int):
                    yield expanded(mul(k, c.a)).eq(expanded(mul(k, c.b)))


def _turned(o: Overlap) -> dict[Var, Expr]:
    """Variables with a negative factor in what is taken from the last of a block, as negatives."""
    for rule, e in ((o.outer, o.start), (o.inner, o.spot)):
        if rule.choose == "complement" and isinstance(e, (FloorDiv, Mod)):
            # what is taken is the last of the block less the dividend
            return {
                v: mul(-1, v)
                for k, v in flat(e.a).items
                if isinstance(v, Var) and v.kind != "const" and not _negative(k)
            }
    return {}


def _upright(given: Sequence[Condition]) -> dict[Var, Expr]:
    """Constants below zero, as negatives."""
    found: dict[Var, Expr] = {}
    for c in given:
        if isinstance(c, Compare) and c.op == "<":
            v = expanded(c.a - c.b)
            if isinstance(v, Var) and v.kind == "const":
                found[v] = mul(-1, v)
    return found


def _counted(given: Sequence[Condition]) -> tuple[Var, Expr] | None:
    """A constant that a block gives: a multiple of a number is in its block only if it is nothing.

    One less than a multiple is only if it is one less than the number itself.
    """
    for c in given:
        if not isinstance(c, Within) or c.lo is not integer(0) or not is_const(c.e) or not is_const(c.hi):
            continue
        g = expanded(c.hi + 1)
        for less in (0, 1):
            times = rational(expanded(c.e + less), g)
            found = definition(times.eq(less), short=False) if times is not None else None
            if found is not None and found[0].kind == "const" and found[0] not in found[1].variables():
                return found
    return None


def _negative(k: Expr) -> bool:
    """Whether a factor is written with a minus."""
    if isinstance(k, Int):
        return k.value < 0
    return (
        not isinstance(k, Mul) and not isinstance(k, Var) and all(j < 0 for _, j in getattr(k, "terms", ()))
    )


#: What is given, and both sides.
_Case = tuple[tuple[Condition, ...], tuple[Expr, ...]]


def _put(at: Mapping[Var, Expr], case: _Case) -> _Case:
    """The case with values for some variables."""
    given, sides = case
    known = (c.substitute(at) for c in given)
    return tuple(c for c in known if c != TRUE), tuple(computed(e.substitute(at)) for e in sides)


def _cases(o: Overlap) -> Iterator[_Case]:
    """The cases of an overlap, written as simply as their conditions allow."""
    facts, first, second = _solved(o)
    for case in split(*_put(_turned(o), (facts, (first, second)))):
        below = _upright(case[0])
        given, sides = _put(below, case)
        case = (*given, *(v > 0 for v in below)), sides
        while found := _counted(case[0]):
            case = _put(dict([found]), case)
        yield case


def _valued(case: _Case) -> tuple[_Case, list[tuple[SymbolicStep, ...]]]:
    """The case with quotients that are known for their values, and the steps to it.

    What is left of a quotient that is written in two ways is then any expression.
    """
    given, sides = case
    quotients = {c.a: c.b for c in _quotients(given) if isinstance(c, Compare)}
    written = [(c.a, c.b) for c in given if isinstance(c, Compare) and c.op == "==" and c.b in quotients]
    steps: list[tuple[SymbolicStep, ...]] = [() for _ in sides]
    for e, same in written:
        made = tuple(computed(s.substitute({e: quotients[same]})) for s in sides)
        for n, (before, after) in enumerate(zip(sides, made, strict=True)):
            if before is not after:
                steps[n] += (SymbolicStep("value_known", before, after, True),)
        assert isinstance(same, FloorDiv)
        x = var("y°", "expr")
        left = [c for c in given if not (isinstance(c, Compare) and (c.a, c.b) == (e, same))]
        put = {same.a: x}
        sides = tuple(s.substitute(put) for s in made)
        given = tuple(c.substitute(put) for c in left)
    return (given, sides), steps


def _met(case: _Case, rules: Sequence[Rule]) -> Join | None:
    """Where both sides meet in one case."""
    valued, steps = _valued(case)
    if not any(steps):
        return _searched(case, rules)
    found: list[Join] = []
    for part in split(*valued):
        made = _searched(part, rules)
        if made is None:
            return None
        found.append(Join((*steps[0], *made.left), (*steps[1], *made.right), made.meets, made.others))
    return replace(found[0], others=tuple(found[1:])) if found else None


def _searched(case: _Case, rules: Sequence[Rule]) -> Join | None:
    given, (one, two) = case
    known = Known(given, (*one.variables(), *two.variables()))
    known.asks = _QUESTIONS
    search = _Again(rules, known)
    sharper = [*_blocks(given, search.hinted((one, two))), *_quotients(given)]
    sharper += [*_products((*given, *sharper)), *_multiplied(sharper, (one, two))]
    known.assume([c for c in sharper if c != FALSE])
    return search.join(one, two)


def join_again(o: Overlap, rules: Sequence[Rule]) -> list[Join] | None:
    """A common result in every case, or nothing; none at all if no integers satisfy what is given."""
    cases = narrowed(o, sharp=True)
    if not cases.whole:
        return None
    found: list[Join] = []
    for case in (c for part in cases.overlaps for c in _cases(part)):
        if reduced(case[0], FALSE, LIMITS).proved:
            continue
        made = _met(case, rules)
        parts = [] if made is not None else _signed(*case)
        joined = [made] if made is not None else [_met(part, rules) for part in parts if part != case]
        if not joined or any(j is None for j in joined):
            return None
        found += [j for j in joined if j is not None]
    return found
