"""Unification and matching of rule patterns modulo the canonical form of sums.

A sum is flat and its summands have no order, so ``x·d + r`` unifies with ``q·p + (x mod d)·w + r`` in many ways.  Constants
of rules are symbols: where two coefficients must agree, an equation between them is a hypothesis of the solution.

What is complete: patterns without sums (syntactic unification; ``min`` and ``max`` of two arguments either way round), and
sums whose summands are assigned as wholes, each to one summand or to one variable of the other side, with the constant
of a sum distributed over variables freely.  What is not covered: a summand whose coefficient is split between several
variables, and a variable that occurs in what it would be bound to.  Bounded instances (:mod:`.ground`) look there.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from ...core.condition import Condition
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
    lift,
    linear,
    mul,
    postorder,
    rebuild,
    var,
)

__all__ = [
    "Flat",
    "State",
    "expanded",
    "factors_of",
    "flat",
    "is_const",
    "is_constantless",
    "is_share",
    "is_shared",
    "rational",
    "tidy",
    "unify",
]

#: A pattern variable of a match has a name that begins so; in an overlap every variable may be bound.
OPEN = "?"
#: What a variable begins with that stands for what two variables share, and one of those that holds no constant.
_CELLS = ("A", "B")


@lru_cache(maxsize=65536)
def _variables_of(e: Expr) -> tuple[Var, ...]:
    return tuple(e.variables())


@lru_cache(maxsize=65536)
def is_const(e: Expr) -> bool:
    """Whether only constants occur in ``e``."""
    return all(v.kind == "const" for v in e.variables())


def _parts(e: Expr) -> list[tuple[Expr, int]]:
    if isinstance(e, Sum):
        return [(integer(1), e.const), *e.terms] if e.const else list(e.terms)
    return [(e, 1)]


@lru_cache(maxsize=65536)
def expanded(e: Expr) -> Expr:
    """``e`` with products of sums multiplied out, so that equal polynomials are the same expression."""
    done: dict[Expr, Expr] = {}
    for node in postorder(e):
        kids = [done[c] for c in node.children]
        if isinstance(node, Mul):
            total: Expr = integer(1)
            for k in kids:
                total = linear(0, [(mul(t, u), i * j) for t, i in _parts(total) for u, j in _parts(k)])
            done[node] = total
        else:
            done[node] = rebuild(node, kids) if kids else node
    return done[e]


@lru_cache(maxsize=65536)
def tidy(e: Expr) -> Expr:
    """``e`` expanded, with the quotients and remainders of zero, which constructors compute."""
    done: dict[Expr, Expr] = {}
    zero = integer(0)
    e = expanded(e)
    for node in postorder(e):
        kids = [done[c] for c in node.children]
        if isinstance(node, (FloorDiv, Mod, CeilDiv)) and kids[0] is zero:
            done[node] = zero
        else:
            done[node] = expanded(rebuild(node, kids)) if kids else node
    return done[e]


@dataclass(frozen=True)
class Flat:
    """``const + Σ coefficient·atom``: constants are symbols, atoms are no sums."""

    const: Expr
    items: tuple[tuple[Expr, Expr], ...]

    def expr(self) -> Expr:
        """The sum itself."""
        return expanded(linear(0, [(self.const, 1), *((mul(k, a), 1) for k, a in self.items)]))

    def without(self, i: int) -> Flat:
        """The sum less one of its items."""
        return Flat(self.const, self.items[:i] + self.items[i + 1 :])


@lru_cache(maxsize=65536)
def flat(e: Expr) -> Flat:
    """The summands of ``e``, expanded."""
    const: Expr = integer(0)
    items: dict[Expr, Expr] = {}
    for t, k in _parts(expanded(e)):
        factors = t.factors if isinstance(t, Mul) else (t,)
        others = [f for f in factors if not is_const(f)]
        scale = mul(k, *[f for f in factors if is_const(f)])
        if not others:
            const = const + scale
        else:
            atom = mul(*others)
            items[atom] = items[atom] + scale if atom in items else scale
    kept = tuple((expanded(k), a) for a, k in items.items() if expanded(k) is not integer(0))
    return Flat(expanded(const), kept)


def rational(k: Expr, c: Expr) -> Expr | None:
    """``k / c`` where a monomial ``c`` divides every monomial of ``k``, else ``None``."""
    k, c = expanded(k), expanded(c)
    if k is c:
        return integer(1)
    if isinstance(c, Sum) and (c.const or len(c.terms) != 1):
        return None
    (c_term, c_scale) = (integer(1), c.value) if isinstance(c, Int) else _parts(c)[0]
    if c_scale == 0:
        return None
    need = list(c_term.factors) if isinstance(c_term, Mul) else [] if isinstance(c_term, Int) else [c_term]
    out = []
    for t, j in _parts(k):
        if isinstance(t, Int):
            t, j = integer(1), t.value * j
        have = list(t.factors) if isinstance(t, Mul) else [] if isinstance(t, Int) else [t]
        for f in need:
            if f not in have:
                return integer(0) if j == 0 else None
            have.remove(f)
        if j % c_scale:
            return None
        out.append((mul(*have) if have else integer(1), j // c_scale))
    return linear(0, out)


@dataclass(frozen=True)
class State:
    """Bindings so far (triangular), equations between constants, and how many names were invented.

    In a ``match`` only variables whose name begins with ``?`` are bound, and no constants are invented.
    """

    bound: Mapping[Var, Expr] = field(default_factory=dict)
    equations: tuple[Condition, ...] = ()
    fresh: int = 0
    match: bool = False

    def binds(self, e: Expr) -> bool:
        """Whether ``e`` is a variable that may still be bound."""
        return (
            isinstance(e, Var)
            and e.kind != ""
            and e not in self.bound
            and (not self.match or e.name.startswith(OPEN))
        )

    def of(self, e: Expr) -> Expr:
        """``e`` under the bindings."""
        while True:
            if all(v not in self.bound for v in _variables_of(e)):
                return expanded(e)
            e = e.substitute(self.bound)

    def bind(self, v: Var, e: Expr) -> State | None:
        """With one binding more; ``None`` where ``v`` would contain itself, or a constant be no constant."""
        e = self.of(e)
        if e is v:
            return self
        if v in e.variables() or (v.kind == "const" and not is_const(e)):
            return None
        return State({**self.bound, v: e}, self.equations, self.fresh, self.match)

    def assume(self, a: Expr, b: Expr) -> State | None:
        """With one equation between constants more; ``None`` if it is false."""
        a, b = self.of(a), self.of(b)
        gap = expanded(a - b)
        if isinstance(gap, Int):
            return self if gap.value == 0 else None
        return State(self.bound, (*self.equations, a.eq(b)), self.fresh, self.match)

    def new(self, kind: str, stem: str) -> tuple[Var, State]:
        """A variable that nothing mentions."""
        v = var(f"{stem}{self.fresh + 1}", kind)
        return v, State(self.bound, self.equations, self.fresh + 1, self.match)


Pairs = tuple[tuple[Expr, Expr], ...]


def unify(pairs: Pairs, state: State) -> Iterator[State]:
    """Every way to make both members of every pair equal."""
    if not pairs:
        yield state
        return
    (a, b), rest = pairs[0], pairs[1:]
    a, b = state.of(a), state.of(b)
    if a is b:
        yield from unify(rest, state)
        return
    if is_const(a) and is_const(b):
        for s in _constants(a, b, state):
            yield from unify(rest, s)
        return
    for v, e in ((a, b), (b, a)):
        if state.binds(v):
            assert isinstance(v, Var)
            s1 = state.bind(v, e)
            if s1 is not None:
                yield from unify(rest, s1)
            return
    match a, b:
        case (FloorDiv(), FloorDiv()) | (Mod(), Mod()) | (CeilDiv(), CeilDiv()):
            yield from unify(((a.b, b.b), (a.a, b.a), *rest), state)  # type: ignore[attr-defined]
        case (Min(), Min()) | (Max(), Max()):
            p, q = a.args, b.args  # type: ignore[attr-defined]
            if len(p) == len(q) == 2:
                yield from unify(((p[0], q[0]), (p[1], q[1]), *rest), state)
                yield from unify(((p[0], q[1]), (p[1], q[0]), *rest), state)
            elif state.match and len(p) == 2 < len(q):
                yield from _extremum(type(a), p, q, rest, state)
        case _:
            if isinstance(a, (Sum, Mul)) or isinstance(b, (Sum, Mul)):
                for s in _sums(flat(a), flat(b), state):
                    yield from unify(rest, s)


def _extremum(
    cls: type[Expr], p: Sequence[Expr], q: Sequence[Expr], rest: Pairs, state: State
) -> Iterator[State]:
    """Two arguments of a pattern against more: each takes a nonempty share."""
    from ...core.expr import maximum, minimum

    join = minimum if cls is Min else maximum
    for size in range(1, len(q)):
        for chosen in itertools.combinations(range(len(q)), size):
            one = join(*[q[i] for i in chosen])
            other = join(*[q[i] for i in range(len(q)) if i not in chosen])
            yield from unify(((p[0], one), (p[1], other), *rest), state)


def _constants(a: Expr, b: Expr, state: State) -> Iterator[State]:
    """Constant expressions that must agree: a variable is bound where it stands alone or is a factor."""
    for v, e in ((a, b), (b, a)):
        if state.binds(v):
            assert isinstance(v, Var)
            s = state.bind(v, e)
            if s is not None:
                yield s
                return
    for one, e in ((a, b), (b, a)):
        factors = factors_of(one)
        unknown = [f for f in factors if state.binds(f)]
        if state.match and len(unknown) == 1:
            q = rational(e, mul(*[f for f in factors if f is not unknown[0]]))
            if q is not None:
                s = state.bind(unknown[0], q)  # type: ignore[arg-type]
                if s is not None:
                    yield s
                    return
    s = state.assume(a, b)
    if s is not None:
        yield s


def _quotients(k: Expr, c: Expr, state: State) -> Iterator[tuple[Expr, State]]:
    """Every v with ``c·v = k``: what a variable with coefficient ``c`` takes of a summand with coefficient ``k``."""
    k, c = state.of(k), state.of(c)
    exact = rational(k, c)
    if exact is not None:
        yield exact, state
        return
    if isinstance(k, Int) and isinstance(c, Int):
        return
    if state.binds(c):
        assert isinstance(c, Var)
        factors = factors_of(k)
        for size in range(len(factors), 0, -1):
            for chosen in itertools.combinations(factors, size):
                s = state.bind(c, mul(*chosen))
                q = rational(k, mul(*chosen))
                if s is not None and q is not None:
                    yield q, s
            if not state.match:
                break
        if state.match and isinstance(k, Int):
            # a pattern's variable may have a coefficient of its own
            for d in range(abs(k.value), 1, -1):
                part = state.bind(c, integer(d)) if k.value % d == 0 and d != k.value else None
                if part is not None:
                    yield integer(k.value // d), part
        if state.match:
            return
    if not state.match:
        v, s1 = state.new("const", "u")
        s2 = s1.assume(k, mul(c, v))
        if s2 is not None:
            yield v, s2


def factors_of(k: Expr) -> list[Expr]:
    """The factors of a product or of a single summand."""
    match k:
        case Mul():
            return list(k.factors)
        case Sum():
            if k.const == 0 and len(k.terms) == 1:
                t, j = k.terms[0]
                return [integer(j), *(factors_of(t))]
    return [k]


def _sums(a: Flat, b: Flat, state: State) -> Iterator[State]:
    """Two sums, summand by summand."""
    a, b = flat(state.of(a.expr())), flat(state.of(b.expr()))
    for one, two, swapped in ((a, b, False), (b, a, True)):
        i = next((i for i, (_, t) in enumerate(one.items) if not state.binds(t)), None)
        if i is None:
            continue
        k, t = one.items[i]
        for j, (c, u) in enumerate(two.items):
            rests = (one.without(i), two.without(j))
            if state.binds(u):
                yield from _absorbed(k, t, c, u, one.without(i), two, state, swapped)
            else:
                for s in unify(((k, c), (t, u)), state):
                    yield from _sums(*(rests[::-1] if swapped else rests), s)
        return
    yield from _variables(a, b, state)


def _absorbed(
    k: Expr, t: Expr, c: Expr, u: Expr, one: Flat, two: Flat, state: State, swapped: bool
) -> Iterator[State]:
    """The variable ``u`` (with coefficient ``c``) takes the summand ``k·t`` and leaves room for more."""
    assert isinstance(u, Var)
    for v, s in _quotients(k, c, state):
        more, s = s.new("rest", OPEN + "A" if state.match else "A")
        found = s.bind(u, mul(v, t) + more)
        if found is None:
            continue
        left = tuple((q, w) for q, w in two.items if w is not u)
        remaining = Flat(two.const, (*left, (c, more)))
        yield from _sums(*((remaining, one) if swapped else (one, remaining)), found)


def _variables(a: Flat, b: Flat, state: State) -> Iterator[State]:
    """Only variables and constants are left."""
    if not a.items and not b.items:
        yield from unify(((a.const, b.const),), state)
        return
    if state.match:
        yield from _taken(a, b, state)
        return
    a, b = _less_common(a, b)
    if not a.items and not b.items:
        yield from unify(((a.const, b.const),), state)
        return
    if a.items and b.items:
        yield from _shared(a, b, state)
        return
    # what has no counterpart is nothing, or a constant
    one, two = (a, b) if a.items else (b, a)
    yield from _fixed(one, expanded(two.const - one.const), state)


def _less_common(a: Flat, b: Flat) -> tuple[Flat, Flat]:
    """Both sums without what a variable that stands on both sides has in common there."""
    other = {u: k for k, u in b.items}
    mine = [(expanded(k - other[u]) if u in other else k, u) for k, u in a.items]
    left = {u for _, u in a.items}
    return (
        Flat(a.const, tuple((k, u) for k, u in mine if k is not integer(0))),
        Flat(b.const, tuple((k, u) for k, u in b.items if u not in left)),
    )


def _fixed(one: Flat, total: Expr, state: State) -> Iterator[State]:
    """``Σ c·X = total`` for a constant total: one variable takes all of it."""
    for i, (c, _) in enumerate(one.items):
        share = rational(total, c)
        if share is None and not state.match:
            v, s0 = state.new("const", "u")
            s1 = s0.assume(total, mul(c, v))
            if s1 is None:
                continue
            share, here = v, s1
        elif share is None:
            continue
        else:
            here = state
        s: State | None = here
        for j, (_, w) in enumerate(one.items):
            assert isinstance(w, Var)
            s = s.bind(w, share if i == j else integer(0)) if s is not None else None
        if s is not None:
            yield s
        if is_const(total) and total is integer(0):
            return


def _taken(a: Flat, b: Flat, state: State) -> Iterator[State]:
    """A match: the pattern's variables are left with a constant.  Those with a coefficient take its multiples."""
    one, two = (a, b) if a.items else (b, a)
    if two.items:
        return
    total = expanded(two.const - one.const)
    ordered = sorted(one.items, key=lambda i: _unit(i[0], state))
    s: State | None = state
    for n, (c, u) in enumerate(ordered):
        assert isinstance(u, Var)
        c = state.of(c)
        share: Expr = integer(0)
        if n == len(ordered) - 1:
            exact = rational(total, c)
            if exact is None:
                return
            share = exact
        elif not (isinstance(c, Int) or state.binds(c)):
            parts = [(t, k) for t, k in _parts(total) if rational(mul(t, k), c) not in (None, integer(0))]
            taken = linear(0, parts)
            exact = rational(taken, c)
            if exact is not None:
                share = exact
                total = expanded(total - taken)
        s = s.bind(u, share) if s is not None else None
    if s is not None:
        yield s


def _common(c: Expr, g: Expr, state: State) -> tuple[Expr, Expr, State] | None:
    """The least ``u`` and ``v`` with ``c·u = g·v`` that can be written; new constants where it takes them."""
    c, g = state.of(c), state.of(g)
    for one, other, swapped in ((c, g, False), (g, c, True)):
        q = rational(other, one)
        if q is not None:
            return (q, integer(1), state) if not swapped else (integer(1), q, state)
    u, s = state.new("const", "u")
    v, s = s.new("const", "u")
    found = s.assume(mul(c, u), mul(g, v))
    return None if found is None else (u, v, found)


def _shared(a: Flat, b: Flat, state: State) -> Iterator[State]:
    """Variables against variables: a new one for what each two of them share, and the constant spread freely."""
    s = state
    cells: dict[Expr, list[Expr]] = {u: [] for _, u in (*a.items, *b.items)}
    stem = _CELLS[_spreads(a, b, s)]
    for (c, x), (g, y) in itertools.product(a.items, b.items):
        found = _common(c, g, s)
        if found is None:
            return
        u, v, s = found
        cell, s = s.new("rest", stem)
        cells[x].append(mul(u, cell))
        cells[y].append(mul(v, cell))
    whole, s = _spread(a, b, cells, s)
    if whole is None:
        return
    bound: State | None = s
    for u, parts in cells.items():
        assert isinstance(u, Var)
        bound = bound.bind(u, linear(0, [(lift(p), 1) for p in parts])) if bound is not None else None
    if bound is not None:
        yield bound


def _balance(f: Flat, state: State) -> tuple[Expr, Expr] | None:
    """The first variable without a coefficient."""
    return next((i for i in f.items if _unit(i[0], state)), None)


def _spreads(a: Flat, b: Flat, state: State) -> bool:
    """Whether :func:`_spread` gives every variable a constant of its own, which then is in none of the new ones."""
    balance = [_balance(f, state) for f in (a, b)]
    return all(balance) and any(i not in balance for i in (*a.items, *b.items))


def _spread(a: Flat, b: Flat, cells: dict[Expr, list[Expr]], state: State) -> tuple[Expr | None, State]:
    """The constant of the whole: each variable with a coefficient takes some, one without takes what remains."""
    balance = [_balance(f, state) for f in (a, b)]
    scaled = [i for f, bal in zip((a, b), balance, strict=True) for i in f.items if i is not bal]
    s = state
    if all(balance) and not scaled:
        # both sides are one variable each and a constant
        _, (g, y) = balance  # type: ignore[misc]
        gap = expanded(a.const - b.const)
        cells[y].append(mul(s.of(g), gap))
        return integer(0), s
    if not any(balance):
        gap = expanded(a.const - b.const)
        return (None, s) if isinstance(gap, Int) and gap.value else (integer(0), s)
    total: Expr
    if all(balance):
        total, s = s.new("const", "k")
    else:
        total = a.const if balance[0] is None else b.const
    for f, bal in zip((a, b), balance, strict=True):
        if bal is None:
            continue
        left = total - f.const
        for i in f.items:
            if i is not bal:
                share, s = s.new("const", "k")
                cells[i[1]].append(share)
                left = left - mul(i[0], share)
        cells[bal[1]].append(expanded(mul(s.of(bal[0]), left)))
    return total, s


def _unit(c: Expr, state: State) -> bool:
    value = state.of(c)
    return isinstance(value, Int) and abs(value.value) == 1


def is_shared(e: Expr) -> bool:
    """Whether ``e`` is a variable for what two variables share."""
    return isinstance(e, Var) and e.kind == "rest" and e.name.startswith(_CELLS)


def is_constantless(e: Expr) -> bool:
    """Whether ``e`` is a variable for what two variables share besides their constants."""
    return isinstance(e, Var) and e.kind == "rest" and e.name.startswith(_CELLS[True])


def is_share(v: Var) -> bool:
    """Whether a constant is what unification invents for the share of a sum's constant."""
    return v.kind == "const" and v.name[0] == "k" and len(v.name) > 1 and v.name[1:].isdigit()


def renamed(e: Expr, names: Mapping[Var, Expr]) -> Expr:
    """``e`` with other variables."""
    return e.substitute(names)


def conditions_of(parts: Iterable[Condition], state: State) -> tuple[Condition, ...]:
    """Conditions under the bindings; those that are true are left out."""
    out = []
    for c in parts:
        known = {v: state.of(v) for v in c.variables()}
        made = c.substitute(known)
        if not (hasattr(made, "value") and made.value is True):
            out.append(made)
    return tuple(dict.fromkeys(out))
