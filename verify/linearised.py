"""Claims as one question of linear arithmetic, with what its models get wrong about products added as lemmas.

Where divisors are products or remainders a claim has many cases, as each of their signs is one.  Here there are no cases:
every quotient, remainder, minimum and product is a name, what is known of it is a fact with disjunctions, and the solver
tells the signs apart.  A model that multiplies wrongly violates an instance of a lemma about products, which is added,
until there is no model, or one that is a counterexample (reports/strategies.md, "Linearisation").
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from typing import Any

from ..core.condition import Condition, condition_interpret
from ..core.expr import Expr, Var, interpret
from .linear.formula import (
    FALSE,
    TRUE,
    All,
    AtLeast,
    Formula,
    FormulaLogic,
    Some,
    Zero,
    at_least,
    both,
    either,
    holds,
    nonzero,
    zero,
)
from .linear.polynomial import ONE, ZERO, Monomial, Poly, Ring, Values, constant, variable
from .linear.question import Leaf, LinearQuestion, Meter
from .linear.record import LinearFact

#: The name of this strategy.
LINEARISED = "linearisation"

#: Questions and instances of lemmas in all, and instances that are added at once.
_ROUNDS = 60
_INSTANCES = 1500
_BATCH = 12
#: So often the budget of one question may be spent on them.
_SPENT = 3
#: Where nothing is multiplied the solver has less to find out than a reduction, and so many times less to spend.
_PLAIN = 20
#: Products that are looked at, of how many names pairs are too, and monomials of a polynomial that is still multiplied.
_PRODUCTS = 160
_PAIRED = 2
_TERMS = 24
#: What every lemma here is an instance of, where its premises hold.
_LEMMA = "product of bounds"
#: By so much factors are moved, whatever a model says, and so many lemmas about one product are added at once.
_MOVED = (1, -1, 2, -2)
_OF_ONE = 3


@dataclass(frozen=True)
class Linearised:
    """Whether the claim was proved and from which facts, what was made of a model that was good enough, and the cost."""

    proved: bool
    resources: int
    leaf: Leaf | None = None
    found: Any = None


class _TooLong(Exception):
    """A product has too many terms."""


def negated(f: Formula) -> Formula:
    """Where ``f`` does not hold."""
    match f:
        case AtLeast(p):
            return at_least(-p - ONE)
        case Zero(p):
            return nonzero(p)
        case All(parts):
            return either(map(negated, parts))
        case Some(parts):
            return both(map(negated, parts))


# --------------------------------------------------------------------------------------------------------- lemmas
def _sizes(u: Poly, v: Poly) -> Iterator[Formula]:
    """Return the facts about a product from the signs of its factors."""
    p = u * v
    yield either((nonzero(u), zero(p)))
    yield either((nonzero(v), zero(p)))
    for s, t in itertools.product((1, -1), repeat=2):
        size = p * (s * t)
        least = both((at_least(size - u * s), at_least(size - v * t), at_least(size - u * s - v * t + ONE)))
        yield either((at_least(u * -s), at_least(v * -t), least))


def _moved(u: Poly, v: Poly, a: int, b: int) -> Iterator[Formula]:
    """The same of factors that are moved, by a little and then to where a model has them."""
    for n in _MOVED:
        yield from _sizes(u, v - n)
        yield from _sizes(u - n, v)
    yield from _sizes(u, v - b)
    yield from _sizes(u - a, v)
    yield from _sizes(u - a, v - b)


def _products(reading: Linearising) -> list[tuple[Poly, Poly]]:
    """Pairs of factors worth asking about: those of products, and differences of what has a factor in common."""
    found = dict.fromkeys(reading.products)
    for a, b, q in reading.divisions:
        if b.is_constant:
            continue
        whole, _ = a.divide(b)
        if whole:
            found[b, q - whole] = None
    extra: dict[Poly, list[Poly]] = {}
    for (_, b, _), (_, c, p) in itertools.permutations(reading.divisions, 2):
        if not (b.is_constant or c == b) and len(c) * len(p) <= _TERMS:
            ratio, rest = c.divide(b)
            if ratio and not rest:
                extra.setdefault(b, []).append(ratio * p)
    return _with_differences(found, extra)


def _parts(reading: Linearising, known: list[tuple[Poly, Poly]]) -> list[tuple[Poly, Poly]]:
    """The same of single names: every product of a sum is one of its terms too."""
    found: dict[tuple[Poly, Poly], None] = {}
    for m in sorted({m for u, v in known for m in (u * v).terms if len(m) > 1}):
        for v in sorted(set(m)):
            rest = list(m)
            rest.remove(v)
            found[variable(v), Poly({tuple(rest): 1})] = None
        if len(m) > _PAIRED:
            found.update({(variable(v), variable(w)): None for v, w in itertools.combinations(m, 2)})
    for (a, b, q), (c, d, _) in itertools.permutations(reading.divisions, 2):
        # of one number, the larger divisor has the smaller quotient
        if a == c and b != d and not d.is_constant and len(d) <= _TERMS:
            found[d, q] = None
    every = _with_differences(found | dict.fromkeys(reading.products), {})
    seen = set(known)
    return [uv for uv in every if uv not in seen]


def _with_differences(
    found: dict[tuple[Poly, Poly], None], extra: Mapping[Poly, list[Poly]]
) -> list[tuple[Poly, Poly]]:
    with_factor: dict[Poly, dict[Poly, None]] = {u: dict.fromkeys(vs) for u, vs in extra.items()}
    for u, v in found:
        with_factor.setdefault(u, {})[v] = None
        with_factor.setdefault(v, {})[u] = None
    every = dict(found)
    for u, vs in with_factor.items():
        for v, w in itertools.combinations(vs, 2):
            for d in (v - w, v + w):
                if not d.is_constant:
                    every[u, d] = None
    return list(every)[:_PRODUCTS]


def _asked(
    reading: Linearising, violated: Formula, rlimit: int, understood: Callable[[Mapping[Monomial, int]], Any]
) -> Linearised:
    """Whether the facts contradict ``violated``, or else what ``understood`` makes of a model."""
    facts = [f for f in reading.facts if f != TRUE]
    if violated == FALSE or FALSE in facts:
        return Linearised(True, 0, (LinearFact(FALSE, "negated goal"),))
    limit = _SPENT * rlimit if reading.products else rlimit // _PLAIN
    meter = Meter(limit)
    question = LinearQuestion(meter)
    question.add([*facts, violated])
    products = _products(reading)
    pool = [f for u, v in products for f in _sizes(u, v) if f != TRUE]
    further = False
    used: list[Formula] = []
    batch = _BATCH
    for _ in range(_ROUNDS):
        if question.contradictory():
            shown = [LinearFact(f, "fact") for f in facts] + [LinearFact(f, f"lemma: {_LEMMA}") for f in used]
            leaf = (*shown, LinearFact(violated, "negated goal"))
            return Linearised(True, meter.spent, leaf)
        if question.undecided or len(used) > _INSTANCES or meter.spent > limit:
            break
        values = Values(question.model())
        found = understood(values)
        if found is not None:
            return Linearised(False, meter.spent, None, found)
        new = _wrong(pool, values, batch)
        if not (new or further):
            further = True
            pool += [f for u, v in _parts(reading, products) for f in _sizes(u, v) if f != TRUE]
            new = _wrong(pool, values, batch)
        new = new or list(_wrong_moved(reading, values, batch))
        if not new:
            break
        used += new
        pool = [f for f in pool if f not in new]
        question.add(new)
        batch += batch // 4
    return Linearised(False, meter.spent)


def _wrong(pool: Sequence[Formula], values: Values, most: int) -> list[Formula]:
    """Lemmas that a model violates, so many at most."""
    return list(itertools.islice((f for f in pool if not holds(f, values)), most))


def _wrong_moved(reading: Linearising, values: Values, most: int) -> Iterator[Formula]:
    """The same of moved factors of the products that a model gets wrong."""
    count = 0
    for u, v in reading.products:
        a, b = u.value(values), v.value(values)
        if (u * v).value(values) == a * b:
            continue
        for f in itertools.islice((f for f in _moved(u, v, a, b) if not holds(f, values)), _OF_ONE):
            yield f
            count += 1
            if count == most:
                return


# ------------------------------------------------------------------------------------------------------ expressions
class Linearising(Ring, FormulaLogic):
    """Expressions and conditions as polynomials and formulas, with names for what is no sum and facts about them."""

    def __init__(self) -> None:
        self.facts: list[Formula] = []
        #: Pairs of factors whose product occurs.
        self.products: dict[tuple[Poly, Poly], None] = {}
        #: Divisors of quotients and remainders, which are not zero.
        self.divisors: dict[Poly, None] = {}
        #: Dividend, divisor and quotient.
        self.divisions: list[tuple[Poly, Poly, Poly]] = []
        self._named: dict[tuple[object, ...], Poly] = {}
        self._memo: dict[Expr, Poly] = {}

    def formula(self, c: Condition) -> Formula:
        """The meaning of a condition."""
        return condition_interpret(c, lambda e: interpret((e,), self, self._memo)[0], self)

    def name(self, *key: object) -> tuple[Poly, bool]:
        """The name of what is determined by ``key``, and whether it is new."""
        found = self._named.get(key)
        if found is not None:
            return found, False
        made = self._named[key] = variable(f"{key[0]}{len(self._named)}")
        return made, True

    def multiplied(self, a: Poly, b: Poly) -> Poly:
        """The product, which is remembered with its factors.  Raises :class:`_TooLong`."""
        if len(a) * len(b) > _TERMS:
            raise _TooLong
        if not (a.is_constant or b.is_constant):
            self.products[(a, b) if a.key <= b.key else (b, a)] = None
        return a * b

    def divided(self, a: Poly, b: Poly) -> tuple[Poly, Poly]:
        """Quotient and remainder, rounded down; unknown where the divisor is zero."""
        if not b:
            return ZERO, ZERO
        if a.is_constant and b.is_constant:
            return constant(a.constant // b.constant), constant(a.constant % b.constant)
        q, new = self.name("q", a, b)
        r, _ = self.name("r", a, b)
        if new:
            self.divisions.append((a, b, q))
            facts = [zero(a - self.multiplied(b, q) - r), *_remainder(b, r)]
            self.facts += facts if b.is_constant else [either((zero(b), both(facts)))]
        return q, r

    # -- expressions
    def variable(self, v: Var) -> Poly:
        return variable(f"v:{v.name}")

    def product(self, factors: list[Poly]) -> Poly:
        return reduce(self.multiplied, factors)

    def _defined(self, a: Poly, b: Poly) -> tuple[Poly, Poly]:
        if not b.is_constant:
            self.divisors[b] = None
        return self.divided(a, b)

    def floordiv(self, a: Poly, b: Poly) -> Poly:
        return self._defined(a, b)[0]

    def mod(self, a: Poly, b: Poly) -> Poly:
        return self._defined(a, b)[1]

    def ceildiv(self, a: Poly, b: Poly) -> Poly:
        return -self._defined(-a, b)[0]

    def minimum(self, args: list[Poly]) -> Poly:
        return reduce(partial(self._extreme, "min", 1), args)

    def maximum(self, args: list[Poly]) -> Poly:
        return reduce(partial(self._extreme, "max", -1), args)

    def _extreme(self, op: str, sign: int, a: Poly, b: Poly) -> Poly:
        a, b = sorted((a, b), key=lambda p: p.key)
        gap = (b - a) * sign
        if gap.is_constant:
            return a if gap.constant >= 0 else b
        e, new = self.name(op, a, b)
        if new:
            below = [at_least((p - e) * sign) for p in (a, b)]
            self.facts += [*below, either((zero(a - e), zero(b - e)))]
        return e

    def select(self, c: Condition, value_of: Callable[[Expr], Poly], a: Poly, b: Poly) -> Poly:
        f = condition_interpret(c, value_of, self)
        if f in (TRUE, FALSE) or a == b:
            return b if f == FALSE else a
        e, new = self.name("s", f, a, b)
        if new:
            self.facts += [either((negated(f), zero(e - a))), either((f, zero(e - b)))]
        return e

    # -- conditions
    def divides(self, d: Poly, e: Poly) -> Formula:
        return both((nonzero(d), zero(self.divided(e, d)[1])))

    def neg(self, part: Formula) -> Formula:
        return negated(part)


def _remainder(b: Poly, r: Poly) -> list[Formula]:
    """Where the remainder r of a division by b lies, which is not zero."""
    positive = both((at_least(r), at_least(b - r - ONE)))
    negative = both((at_least(-r), at_least(r - b - ONE)))
    return [either((at_least(-b), positive)), either((at_least(b), negative))]


def by_linearisation(
    hypotheses: Sequence[Condition],
    goal: Condition,
    rlimit: int,
    understood: Callable[[Mapping[Var, int]], Any] = lambda _: None,
) -> Linearised:
    """Whether the hypotheses imply the goal wherever no divisor is zero; or what ``understood`` makes of a model."""
    reading = Linearising()
    try:
        given = [reading.formula(h) for h in hypotheses]
        claim = negated(reading.formula(goal))
    except _TooLong:
        return Linearised(False, 0)
    reading.facts += [nonzero(d) for d in reading.divisors]
    variables = {v for c in (*hypotheses, goal) for v in c.variables()}

    def of_model(model: Mapping[Monomial, int]) -> Any:
        return understood({v: model.get((f"v:{v.name}",), 0) for v in variables})

    return _asked(reading, both((*given, claim)), rlimit, of_model)
