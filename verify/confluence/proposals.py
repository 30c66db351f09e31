"""What strategies propose, as statements: the cases of an overlap that can occur, and those that cannot.

A rule that names a strategy (``choose=``) is not applied wherever it is true, but where its strategy proposes values.
What every strategy proposes is stated here: the forms that its values have (``SHAPES``), what holds of constants
(``facts``), and expressions to which it proposes nothing.  Each statement is necessary: no proposal is without it.  It is a
claim about :mod:`...core.choose`, which a test holds against what the strategies do.

Variables stand for whole summands: what a pattern shows as a summand is one, and is not cancelled by what a variable next
to it stands for (which is another overlap, where that variable's share is part of something else); and what is shown as
two summands is two (where they are the same summand, another overlap makes them one).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from ...core.condition import FALSE, TRUE, Compare, Condition
from ...core.expr import CeilDiv, Expr, FloorDiv, Max, Min, Mod, Mul, Sum, Var, integer, mul, postorder, var
from ...core.rewrite import Rule
from .overlap import Binding, Overlap
from .unify import (
    State,
    conditions_of,
    expanded,
    flat,
    is_const,
    is_constantless,
    is_shared,
    tidy,
    unify,
)

__all__ = ["Cases", "Narrowed", "Same", "narrowed", "proposed", "summands_shown", "there"]

#: The values of a rule's variables, by their names in the rule.
Values = Mapping[str, Expr]


@dataclass(frozen=True)
class Narrowed:
    """One form of what is proposed: both members of every pair are the same, and the conditions hold."""

    pairs: tuple[tuple[Expr, Expr], ...] = ()
    conditions: tuple[Condition, ...] = ()


@dataclass(frozen=True)
class Cases:
    """The cases of an overlap in which both strategies propose something.

    ``never`` says why there is none.  ``whole`` is false if there may be others, because unification of sums is not
    complete.
    """

    overlaps: tuple[Overlap, ...]
    never: str = ""
    whole: bool = True


def _loose(e: Expr) -> bool:
    """Whether ``e`` is a pattern variable, which may stand for anything."""
    return isinstance(e, Var) and e.kind != ""


def _written(e: Expr) -> bool:
    """Whether the constant of ``e`` is written out: no variable can hold another."""
    return not any(_loose(t) and not is_constantless(t) for _, t in flat(e).items)


def _nothing(reason: str) -> tuple[str, tuple[Narrowed, ...]]:
    return reason, ()


def _some(*forms: Narrowed) -> tuple[str, tuple[Narrowed, ...]]:
    return "", forms


# ------------------------------------------------------------------------------------------------------- strategies
def _coefficient_quotients(values: Values, fresh: str) -> tuple[str, tuple[Narrowed, ...]]:
    """The divisor exceeds one; a single summand with coefficient one has nothing that is divided by it."""
    items = flat(values["x"]).items
    if len(items) == 1 and not _loose(items[0][1]) and items[0][0] is integer(1):
        return _nothing("one summand with coefficient 1 holds no multiple of a divisor above 1")
    return _some(Narrowed(conditions=(values["d"] > 1,)))


def _common_factor(values: Values, fresh: str) -> tuple[str, tuple[Narrowed, ...]]:
    """The factor exceeds one and divides some summand that is no constant."""
    if is_const(values["x"]):
        return _nothing("no summand is a multiple of the factor")
    return _some(Narrowed(conditions=(values["d"] > 1, values["g"] > 1)))


def _multiples(values: Values, fresh: str) -> tuple[str, tuple[Narrowed, ...]]:
    """The divisor exceeds one; all its multiples leave, and only they."""
    x, d, r = values["x"], values["d"], values["r"]
    f = flat(r)
    known: list[Condition] = [d > 1, *((k % d).ne(0) for k, e in f.items if not _loose(e))]
    if is_const(x):
        known.append(x.ne(0))
    if _written(r):
        known.append(f.const.within(0, d - 1))
    return _some(Narrowed(conditions=tuple(known)))


def _complement(values: Values, fresh: str) -> tuple[str, tuple[Narrowed, ...]]:
    """The divisor exceeds one; what is subtracted from the last of a block has no constant and no negative coefficient."""
    x, d = values["x"], values["d"]
    f = flat(x)
    known: list[Condition] = [d > 1, *(k > 0 for k, e in f.items if not _loose(e))]
    if _written(x):
        known.append(f.const.eq(0))
    return _some(Narrowed(conditions=tuple(known)))


def _common_constant(values: Values, fresh: str) -> tuple[str, tuple[Narrowed, ...]]:
    """Every argument is a constant or has one, and the smallest in magnitude is taken out."""
    known: list[Condition] = [values["k"].ne(0)]
    if is_const(values["x"]) and is_const(values["y"]):
        return _nothing("both arguments are constants")
    both = (values["x"], values["y"])
    known += [flat(a).const.ne(0) for a in both if _written(a) and not is_const(a)]
    return _some(Narrowed(conditions=tuple(known)))


def _below(x: Expr, d: Expr, fresh: str) -> Iterator[tuple[Expr, tuple[tuple[Expr, Expr], ...]]]:
    """Ways in which the quotient of ``x`` by ``d`` is written, with what must be the same for it."""
    yield x // d, ()
    y, b = var("y" + fresh, "expr"), var("b" + fresh, "const")
    yield y // (b * d), ((x, y // b),)


def _quotient_of_remainder(values: Values, fresh: str) -> tuple[str, tuple[Narrowed, ...]]:
    """The quotient is written as one: x // d, or y // (b·d) where x is y // b."""
    if is_const(values["q"]):
        return _nothing("a constant quotient is no summand")
    forms = _below(values["x"], values["d"], fresh)
    return _some(*(Narrowed((*same, (values["q"], q)), (values["w"].ne(0),)) for q, same in forms))


def _next_digit(values: Values, fresh: str) -> tuple[str, tuple[Narrowed, ...]]:
    """Nothing is added to the number, and its next digit is written as q mod n for a quotient written as one."""
    if is_const(values["t"]):
        return _nothing("a constant digit is no summand")
    forms = _below(values["x"], values["d"], fresh)
    return _some(
        *(
            Narrowed(
                (
                    (values["z"], integer(0)),
                    *same,
                    (values["t"], q % values["n"]),
                    (values["q"], q),
                ),
                (values["w"].ne(0),),
            )
            for q, same in forms
        )
    )


def _remaining_constant(values: Values) -> Iterator[Condition]:
    """Of the constant is left what is below the factor."""
    if _written(values["r"]):
        yield flat(values["r"]).const.within(0, values["g"] - 1)


#: More that is stated of strategies, for pairs that nothing else decides.
SHARP: Mapping[str, Callable[[Values], Iterator[Condition]]] = {"common_factor": _remaining_constant}

#: Strategies that propose at most one value of each variable for an expression.
SINGLE = frozenset(
    {"block_of_range", "common_constant", "common_factor", "complement", "multiples", "single_value"}
)

_Statement = Callable[[Values, str], tuple[str, tuple[Narrowed, ...]]]

#: What is stated of strategies; of the others nothing is, beyond what their rules say.
SHAPES: Mapping[str, _Statement] = {
    "coefficient_quotients": _coefficient_quotients,
    "common_constant": _common_constant,
    "common_factor": _common_factor,
    "complement": _complement,
    "multiples": _multiples,
    "next_digit": _next_digit,
    "quotient_of_remainder": _quotient_of_remainder,
}


def proposed(rule: Rule, values: Values, fresh: str = "~") -> tuple[str, tuple[Narrowed, ...]]:
    """The forms that the values of a rule's variables have, or why its strategy proposes none."""
    stated = SHAPES.get(rule.choose)
    return stated(values, fresh) if stated else _some(Narrowed())


def summands_shown(rule: Rule) -> list[Expr]:
    """The summands of a left side, each of which is one of what it rewrites; those that are left over are not shown."""
    return [e for _, e in flat(rule.left).items if not (isinstance(e, Var) and e.kind == "rest")]


def there(rule: Rule, values: Values) -> Iterator[Condition]:
    """What a left side shows as a summand is there, so its coefficient is not zero."""
    at: dict[Var, Expr] = {v: values[v.name] for v in rule.variables}
    for node in postorder(rule.left):
        if isinstance(node, (Sum, Mul)):
            yield from (k.substitute(at).ne(0) for k, e in flat(node).items if not isinstance(e, Var))


# -------------------------------------------------------------------------------------------------------- narrowing
class Same:
    """Makes a summand what a strategy says it is.  ``whole`` is false once something may have been missed."""

    def __init__(self) -> None:
        self.whole = True

    def all(self, pairs: tuple[tuple[Expr, Expr], ...], state: State) -> Iterator[State]:
        """Every way in which both members of every pair are the same."""
        if not pairs:
            yield state
            return
        for s in self.one(*pairs[0], state):
            yield from self.all(pairs[1:], s)

    def one(self, t: Expr, shape: Expr, state: State) -> Iterator[State]:
        """``t``, of which an overlap shows some summands, is the single summand ``shape`` or a constant."""
        t, shape = state.of(t), state.of(shape)
        if t is shape:
            yield state
        elif is_const(shape) and is_const(t):
            yield from unify(((t, shape),), state)
        elif state.binds(t):
            assert isinstance(t, Var)
            bound = state.bind(t, shape)
            if bound is not None:
                yield bound
        elif is_const(shape) or _loose(shape):
            self.whole = False
            yield from unify(((t, shape),), state)
        elif not is_const(t):
            yield from self._summand(t, shape, state)

    def _summand(self, t: Expr, shape: Expr, state: State) -> Iterator[State]:
        f = flat(t)
        shown = [i for i in f.items if not _loose(i[1])]
        if any(type(e) is not type(shape) for _, e in shown):
            return
        if len(shown) > 1:
            return
        if not shown:
            for i, (k, v) in enumerate(f.items):
                yield from self._held(k, v, f.const, f.without(i).items, shape, state)
            return
        ((k, e),) = shown
        s = state.assume(k, integer(1))
        s = s.assume(f.const, integer(0)) if s is not None else None
        s = self._absent([i for i in f.items if i is not shown[0]], s)
        if s is not None:
            yield from self._division(s.of(e), s.of(shape), s)

    def _absent(
        self, items: list[tuple[Expr, Expr]] | tuple[tuple[Expr, Expr], ...], s: State | None
    ) -> State | None:
        """Variables that share a summand with others stand for nothing."""
        for _, v in items:
            assert isinstance(v, Var)
            # only what both rules share has no constant of its own
            self.whole &= is_shared(v)
            s = s.bind(v, integer(0)) if s is not None and s.binds(v) else None
        return s

    def _held(
        self,
        k: Expr,
        v: Expr,
        const: Expr,
        others: tuple[tuple[Expr, Expr], ...],
        shape: Expr,
        state: State,
    ) -> Iterator[State]:
        """The variable ``v`` with coefficient ``k`` stands for all of the summand."""
        assert isinstance(v, Var)
        for unit in (1, -1):
            s = state.assume(k, integer(unit))
            s = self._absent(others, s)
            if s is not None:
                s = s.bind(v, mul(unit, s.of(shape) - s.of(const)))
            if s is not None:
                yield s

    def _division(self, a: Expr, b: Expr, state: State) -> Iterator[State]:
        """Two divisions of the same kind, which no rest surrounds."""
        if type(a) is not type(b) or not isinstance(a, (FloorDiv, Mod, CeilDiv)):
            return
        assert isinstance(b, (FloorDiv, Mod, CeilDiv))
        for s in unify(((a.b, b.b),), state):
            x, y = s.of(a.a), s.of(b.a)
            if isinstance(y, (FloorDiv, Mod)):
                yield from self.one(x, y, s)
                continue
            found = False
            for made in unify(((x, y),), s):
                found = True
                yield made
            # unification of sums is not complete, but a single summand is no other single summand
            self.whole &= not is_const(x) and not is_const(y)
            self.whole &= found or not _sums(x, y)
            self.whole &= not (found and _sums(x, y))


def _sums(x: Expr, y: Expr) -> bool:
    """Whether two dividends may be the same in ways that unification does not see."""
    shown = [[t for _, t in flat(e).items if not _loose(t)] for e in (x, y)]
    lone = [len(flat(e).items) == 1 and len(s) == 1 for e, s in zip((x, y), shown, strict=True)]
    if any(isinstance(e, Var) for e in (x, y)):
        return False
    return not (all(lone) and type(shown[0][0]) is not type(shown[1][0]))


def narrowed(o: Overlap, *, sharp: bool = False) -> Cases:
    """The cases in which both strategies propose something; with ``sharp`` more is said of them."""
    found: list[Overlap] = []
    reasons: list[str] = []
    whole = True
    for binding in o.bindings:
        cases, reason, complete = _narrowed(o, binding, sharp)
        found += cases
        whole &= complete
        reasons.append(reason)
    if not o.bindings:
        return Cases((o,))
    return Cases(tuple(found), next((r for r in reasons if r), ""), whole)


def _single(o: Overlap, binding: tuple[Binding, Binding]) -> tuple[State, tuple[Condition, ...]]:
    """The same strategy asked twice about the same expression proposes the same.

    So both values of a variable have the same summands, and what is a summand of only one of them is nothing.
    """
    state = State(fresh=100)
    if o.outer is not o.inner or o.outer.choose not in SINGLE or not o.at_root:
        return state, ()
    one, two = ({var(n, v.kind): e for (n, e), v in zip(b, o.outer.variables, strict=True)} for b in binding)
    if isinstance(o.outer.left, (Min, Max)) and o.outer.left.substitute(one) is not o.outer.left.substitute(
        two
    ):
        return state, ()  # arguments of one extremum, but not the same ones
    given: list[Condition] = []
    extremum = isinstance(o.outer.left, (Min, Max))
    for v in o.outer.variables:
        if extremum and v.kind != "const":
            continue
        f, g = flat(one[v]), flat(two[v])
        unshared = {t for _, t in f.items} ^ {t for _, t in g.items}
        if not all(is_shared(t) for t in unshared):
            return state, ()
        given.append(f.const.eq(g.const))
        mine, its = ({t: k for k, t in e.items} for e in (f, g))
        for t in {**mine, **its}:
            if t in mine and t in its:
                given.append(mine[t].eq(its[t]))
            elif isinstance(t, Var) and is_shared(t) and state.binds(t):
                state = state.bind(t, integer(0)) or state
    return state, tuple(given)


def _without_constants(o: Overlap, state: State) -> Iterator[Condition]:
    """What has no constant has none when it is known what it is."""
    for v in o.variables:
        made = state.of(v)
        if is_constantless(v) and made is not v and _written(made):
            yield flat(made).const.eq(0)


def _narrowed(
    o: Overlap, binding: tuple[Binding, Binding], sharp: bool = False
) -> tuple[list[Overlap], str, bool]:
    states: list[tuple[State, tuple[Condition, ...]]] = [_single(o, binding)]
    never = ""
    same = Same()
    for rule, values, mark in ((o.outer, binding[0], ""), (o.inner, binding[1], "′")):
        after: list[tuple[State, tuple[Condition, ...]]] = []
        for state, known in states:
            here = {n: tidy(state.of(e)) for n, e in values}
            reason, forms = proposed(rule, here, "~" + mark)
            if reason:
                never = f"{rule.choose} proposes nothing: {reason}"
            present = tuple(there(rule, here))
            if sharp and rule.choose in SHARP:
                present += tuple(SHARP[rule.choose](here))
            for form in forms:
                after += [(s, (*known, *form.conditions, *present)) for s in same.all(form.pairs, state)]
        if not after and not never:
            never = f"{rule.choose} proposes nothing that has this form"
        states = after
    cases: list[Overlap] = []
    for state, known in states:
        more = tuple(_without_constants(o, state)) if sharp else ()
        given = conditions_of((*o.hypotheses, *known, *state.equations, *more), state)
        case = _settled(
            replace(
                o,
                start=tidy(state.of(o.start)),
                spot=tidy(state.of(o.spot)),
                first=tidy(state.of(o.first)),
                second=tidy(state.of(o.second)),
                hypotheses=given,
                bindings=(),
            )
        )
        if case is None or FALSE in case.hypotheses:
            never = (
                never or f"{o.outer.choose or o.inner.choose} proposes nothing under the conditions of both"
            )
        elif all(case.statement() != c.statement() for c in cases):
            cases.append(case)
    return cases, "" if cases else never, same.whole


def _settled(o: Overlap) -> Overlap | None:
    """The overlap without constants of which an equation says which number they are; ``None`` if one divides by zero."""
    while True:
        known = next((k for c in o.hypotheses if (k := _number(c)) is not None), None)
        if known is None:
            return o
        try:
            sides = [tidy(e.substitute(known)) for e in (o.start, o.spot, o.first, o.second)]
            given = [c.substitute(known) for c in o.hypotheses]
        except ZeroDivisionError:
            return None
        start, spot, first, second = sides
        kept = tuple(dict.fromkeys(c for c in given if c != TRUE))
        o = replace(o, start=start, spot=spot, first=first, second=second, hypotheses=kept)


def _number(c: Condition) -> dict[Var, Expr] | None:
    """The constant that an equation gives, and its value."""
    if not isinstance(c, Compare) or c.op != "==":
        return None
    gap = expanded(c.a - c.b)
    if isinstance(gap, Var) and gap.kind == "const":
        return {gap: integer(0)}
    if isinstance(gap, Sum) and len(gap.terms) == 1:
        ((v, k),) = gap.terms
        if isinstance(v, Var) and v.kind == "const" and abs(k) == 1:
            return {v: integer(-gap.const * k)}
    return None
