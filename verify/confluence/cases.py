"""What conditions say, written into expressions: the cases of an overlap whose conditions hold by its form.

Alternatives are cases of their own.  A constant that another divides is a multiple of it; an expression that lies within a
block is the start of the block and a rest.  A constant that unification invented to spread the constant of a sum goes into
the rest of that sum.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

from ...core.condition import FALSE, And, Compare, Condition, Divides, Or, Truth, Within
from ...core.expr import (
    Expr,
    FloorDiv,
    Int,
    Mod,
    Mul,
    Sum,
    Var,
    integer,
    linear,
    mul,
    postorder,
    rebuild,
    var,
)
from ..preprocess import definition
from .unify import expanded, flat, is_const, is_share, rational, tidy

__all__ = ["cancelled", "computed", "signs", "split", "without"]

Sides = tuple[Expr, ...]
Given = tuple[Condition, ...]
#: So many cases at most; where there would be more, alternatives stay conditions.
_CASES = 8


def split(facts: Sequence[Condition], sides: Sides) -> list[tuple[Given, Sides]]:
    """The cases, with their conditions; none where the conditions contradict each other on their face."""
    todo: list[tuple[Given, Sides]] = [(tuple(facts), tuple(sides))]
    out: list[tuple[Given, Sides]] = []
    while todo:
        given, now = todo.pop(0)
        given = tuple(_unit_divisor(c) for c in given)
        k = next((k for k, c in enumerate(given) if isinstance(c, (And, Or))), None)
        if k is None:
            made = _written(given, now)
            if made is not None:
                out.append(made)
            continue
        c, rest = given[k], (*given[:k], *given[k + 1 :])
        if isinstance(c, And):
            todo.insert(0, ((*rest, *c.parts()), now))
        elif len(todo) + len(out) + len(c.parts()) > _CASES:
            out.append((given, now))
        else:
            todo += [((*rest, part), now) for part in c.parts()]
    return out


def _written(given: Given, sides: Sides) -> tuple[Given, Sides] | None:
    """One case with its conditions written into the expressions."""
    done: set[Condition] = set()
    while True:
        if FALSE in given:
            return None
        for c in given:
            if c in done:
                continue
            done.add(c)
            made = (
                _equal(cancelled(c, given))
                or _whole(c)
                or _multiple(c, given)
                or _remainder(c, given)
                or _block(c, given)
            )
            if made is not None:
                at, more = made
                try:
                    sides = tuple(computed(e.substitute(at)) for e in sides)
                    given = _given([*(h.substitute(at) for h in given), *more])
                except ZeroDivisionError:
                    return None
                break
        else:
            return _absorbed(given, sides)


def _given(conditions: Sequence[Condition]) -> Given:
    return tuple(dict.fromkeys(c for c in conditions if not (isinstance(c, Truth) and c.value)))


def _multiple(c: Condition, given: Given) -> tuple[dict[Var, Expr], list[Condition]] | None:
    """A constant that another divides is a multiple of it."""
    if not isinstance(c, Divides) or not is_const(c.e) or not is_const(c.d):
        return None
    f = flat(c.e).const
    unit = 1
    if isinstance(f, Sum) and len(f.terms) == 1 and f.const == 0 and abs(f.terms[0][1]) == 1:
        f, unit = f.terms[0]
    if not isinstance(f, Var) or f in c.d.variables() or rational(f, c.d) is not None:
        return None
    e = var(f.name + "~", "const")
    known = set(given)
    more: list[Condition] = []
    if f.ne(0) in known or _positive(f, known):
        more.append(e.ne(0))
    if _positive(c.d, known) and _positive(f, known):
        more.append(e > 0 if unit > 0 else e < 0)
    return {f: mul(c.d, e, unit)}, more


def _remainder(c: Condition, given: Given) -> tuple[dict[Var, Expr], list[Condition]] | None:
    """What lies between nothing and a divisor is its own remainder, and so has the value that the remainder has."""
    match c:
        case Compare("==", Mod(a=e, b=d), m) if is_const(m):
            f = flat(e)
            left = [(k, t) for k, t in f.items if rational(k, d) is None]
            if len(left) == 1 and rational(f.const, d) is not None and left[0][0] is integer(1):
                s = left[0][1]
                if isinstance(s, Var) and (s.within(0, d - 1) in given or s.within(d + 1, 0) in given):
                    return {s: m}, [m.within(0, d - 1) | m.within(d + 1, 0)]
    return None


def _whole(c: Condition) -> tuple[dict[Var, Expr], list[Condition]] | None:
    """The remainder of a division by one is nothing."""
    match c:
        case Compare("==", Mod(b=Int(value=1 | -1)), Var() as m) if m.kind == "const":
            return {m: integer(0)}, []
    return None


def _unit_divisor(c: Condition) -> Condition:
    """What divides one is one, or minus one."""
    match c:
        case Divides(d, Int(value=1 | -1)) if isinstance(d, Var):
            return d.eq(1) | d.eq(-1)
    return c


def cancelled(c: Condition, facts: Sequence[Condition]) -> Condition:
    """An equation between constants without a common factor that is not zero."""
    if not isinstance(c, Compare) or c.op != "==":
        return c
    gap = expanded(c.a - c.b)
    if not is_const(gap) or not isinstance(gap, Sum) or gap.const:
        return c
    for f in sorted(set(gap.variables()), key=lambda v: v.name):
        q = rational(gap, f)
        if q is not None and any(f.ne(0) == h or (f > 0) == h or (f > 1) == h or (f < 0) == h for h in facts):
            terms = q.terms if isinstance(q, Sum) else ((q, 1),)
            plus = [(t, k) for t, k in terms if k > 0]
            minus = [(t, -k) for t, k in terms if k < 0]
            return cancelled(
                linear(0, plus).eq(linear(0, minus) - (q.const if isinstance(q, Sum) else 0)), facts
            )
    return c


def without(
    at: Mapping[Var, Expr], given: Sequence[Condition], sides: Sequence[Expr]
) -> tuple[Given, Expr, Expr]:
    """What is given and both sides with values for some constants."""
    one, two = (computed(e.substitute(at)) for e in sides)
    return _given([h.substitute(at) for h in given]), one, two


def signs(given: Given, sides: Sides) -> list[tuple[Given, Sides]]:
    """The cases of the first divisor whose sign is not known, or which is positive and may be one; none without such.

    A divisor below zero is written as the negative of one above zero.
    """
    known = set(given)
    divisors = dict.fromkeys(
        v
        for n in postorder(*sides)
        if isinstance(n, (FloorDiv, Mod))
        for v in n.b.variables()
        if v.kind == "const"
    )
    for v in divisors:
        if v.ne(0) in known and not _positive(v, known) and (v < 0) not in known:
            n = var(v.name + "~", "const")
            return [*_case(given, sides, {}, v > 0), *_case(given, sides, {v: -n}, n > 0)]
    for v in divisors:
        if (v > 0) in known and (v > 1) not in known:
            return [*_case(given, sides, {}, v > 1), *_case(given, sides, {v: integer(1)})]
    return []


def _case(given: Given, sides: Sides, at: dict[Var, Expr], *more: Condition) -> list[tuple[Given, Sides]]:
    """The case with what holds in it, unless it cannot be."""
    try:
        turned = tuple(computed(e.substitute(at)) for e in sides)
        made = _written(_given([*(h.substitute(at) for h in given), *more]), turned)
    except ZeroDivisionError:
        return []
    return [] if made is None else [made]


def _positive(e: Expr, known: set[Condition]) -> bool:
    return (e > 0) in known or (e > 1) in known or (isinstance(e, Int) and e.value > 0)


def _equal(c: Condition) -> tuple[dict[Var, Expr], list[Condition]] | None:
    """A constant that an equation gives."""
    d = definition(c, short=False)
    if d is None or d[0].kind != "const" or not is_const(d[1]) or d[0] in d[1].variables():
        return None
    return {d[0]: d[1]}, []


def _block(c: Condition, given: Given) -> tuple[dict[Var, Expr], list[Condition]] | None:
    """What lies between nothing and a bound is a rest, and a summand of it the rest less the others."""
    if not isinstance(c, Within) or isinstance(c.e, Var):
        return None
    for k, v in flat(c.e).items:
        # a rest once made stays one
        if isinstance(v, Var) and k is integer(1) and not v.name.endswith("~"):
            others = expanded(c.e - v)
            elsewhere = any(v in h.variables() for h in given if h is not c and isinstance(h, Within))
            if v not in others.variables() and not elsewhere:
                s = var(v.name + "~", v.kind)
                return {v: expanded(s - others)}, []
    return None


def _absorbed(given: Given, sides: Sides) -> tuple[Given, Sides]:
    """Without the constants of unification that only occur next to the rest of a sum."""
    changed = True
    while changed:
        changed = False
        names = dict.fromkeys(v for e in sides for v in e.variables())
        for k in [v for v in names if is_share(v)]:
            for a, u in _next_to(k, sides):
                at: dict[Var, Expr] = {a: a - mul(u, k)}
                made = tuple(computed(e.substitute(at)) for e in sides)
                known = _given([h.substitute(at) for h in given])
                if all(k not in e.variables() for e in made) and all(k not in h.variables() for h in known):
                    sides, given, changed = made, known, True
                    break
            if changed:
                break
    return given, sides


def _next_to(k: Var, sides: Sides) -> list[tuple[Var, Expr]]:
    """Rests of sums that stand next to a constant, and how many times they would hold it."""
    found: dict[tuple[Var, Expr], None] = {}
    for node in postorder(*sides):
        f = flat(node)
        share = [mul(t, j) for t, j in _parts(f.const) if k in t.variables()]
        if not share or not f.items:
            continue
        total = linear(0, [(t, 1) for t in share])
        for c, a in f.items:
            u = rational(total, mul(c, k))
            if isinstance(a, Var) and a.kind == "rest" and u is not None and k not in u.variables():
                found[a, u] = None
    return list(found)


def _parts(e: Expr) -> list[tuple[Expr, int]]:
    if isinstance(e, Sum):
        return [(integer(1), e.const), *e.terms] if e.const else list(e.terms)
    return [(e, 1)]


@lru_cache(maxsize=65536)
def computed(e: Expr) -> Expr:
    """``e`` expanded, with quotients and remainders of constants computed as far as their factors say.

    What a constant has in common with its divisor is no zero, where the expression is defined.
    """
    done: dict[Expr, Expr] = {}
    e = tidy(e)
    for node in postorder(e):
        kids = [done[c] for c in node.children]
        made = rebuild(node, kids) if kids else node
        if isinstance(made, (FloorDiv, Mod)) and is_const(made) and not isinstance(made.b, Int):
            made = _divided(made)
        done[node] = tidy(made) if kids else made
    return done[e]


def _divided(node: FloorDiv | Mod) -> Expr:
    """A division of constants without the multiples of its divisor and without common factors."""
    a, b = node.a, node.b
    whole = [(t, j) for t, j in _parts(expanded(a)) if rational(mul(t, j), b) is not None]
    gone = linear(0, whole)
    quotient = rational(gone, b) if whole else integer(0)
    assert quotient is not None
    rest = expanded(a - gone)
    if rest is integer(0):
        return quotient if isinstance(node, FloorDiv) else integer(0)
    common: Expr = integer(1)
    for f in b.factors if isinstance(b, Mul) else (b,):
        if isinstance(f, Var) and (r := rational(rest, f)) is not None and (c := rational(b, f)) is not None:
            rest, b, common = r, c, mul(common, f)
    if isinstance(rest, Mod) and rest.b is b:
        # what is less than the divisor already
        return quotient if isinstance(node, FloorDiv) else expanded(mul(common, rest))
    if isinstance(node, FloorDiv):
        return expanded(quotient + rest // b)
    return expanded(mul(common, rest % b))
