"""Proof of a claim as one question of linear arithmetic, refined by lemmas about products that its models violate.

A reduction splits cases on the sign of every divisor that is a product or remainder, which may be many.  Here nothing
is split: every quotient, remainder, minimum and product gets a name with facts that contain disjunctions, and the
solver handles the signs.  A model with a wrong product violates an instance of a lemma about products, which is added,
until there is no model or it is a counterexample (reports/strategies.md, "Linearisation").
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from typing import Any

from ..core.condition import Condition, condition_interpret
from ..core.expr import Expr, Var, interpret
from .linear.formula import FALSE, TRUE, Formula, FormulaLogic, at_least, both, either, holds, negated, nonzero, zero
from .linear.polynomial import ONE, ZERO, Monomial, Poly, Ring, Values, constant, variable
from .linear.question import Leaf, LinearQuestion, Meter
from .linear.record import LinearFact

#: The name of this strategy.
LINEARISED = "linearisation"

#: Limits on the questions and lemma instances in total, and on the instances added at once.
_ROUNDS = 60
_INSTANCES = 1500
_BATCH = 12
#: Limit on the total cost, in multiples of the budget of one question.
_SPENT = 3
#: Without products the budget is divided by this, because the solver then has an easier task than a reduction.
_PLAIN = 20
#: Limit on the pairs of factors, degree above which pairs in a monomial are added, and limit on the terms of a product.
_PRODUCTS = 160
_PAIRED = 2
_TERMS = 24
#: The lemma that all facts about products here are instances of.
_LEMMA = "product of bounds"
#: Offsets of factors that are always tried, and a limit on the lemmas about one product that are added at once.
_MOVED = (1, -1, 2, -2)
_OF_ONE = 3


@dataclass(frozen=True)
class Linearised:
    """Whether the claim was proved and from which facts, the accepted result of a model, and the cost."""

    proved: bool
    resources: int
    leaf: Leaf | None = None
    found: Any = None


class _TooLong(Exception):
    """Raised if a product has too many terms."""


# --------------------------------------------------------------------------------------------------------- lemmas
def _sizes(u: Poly, v: Poly) -> Iterator[Formula]:
    """Yield the facts about a product that follow from the signs of its factors."""
    p = u * v
    yield either((nonzero(u), zero(p)))
    yield either((nonzero(v), zero(p)))
    for s, t in itertools.product((1, -1), repeat=2):
        size = p * (s * t)
        least = both((at_least(size - u * s), at_least(size - v * t), at_least(size - u * s - v * t + ONE)))
        yield either((at_least(u * -s), at_least(v * -t), least))


def _too_small(x: int, y: int, product: int) -> bool:
    """Return whether a product violates a fact of :func:`_sizes`, given values; writing down all facts takes longer."""
    if not (x and y):
        return product != 0
    return (product if (x > 0) == (y > 0) else -product) < abs(x) + abs(y) - 1


def _offsets(a: int, b: int) -> list[tuple[int, int]]:
    """Return what to subtract from the factors of a product: small numbers, and their values ``a`` and ``b`` in a model."""
    small = [offsets for n in _MOVED for offsets in ((0, n), (n, 0))]
    return [*small, (0, b), (a, 0), (a, b)]


def _products(reading: Linearising) -> list[tuple[Poly, Poly]]:
    """Return pairs of factors for lemmas: factors of products, and differences of expressions with a common factor."""
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
    """Return the pairs of factors of single monomials, since every product of sums expands to monomials."""
    found: dict[tuple[Poly, Poly], None] = {}
    for m in sorted({m for u, v in known for m in (u * v).terms if len(m) > 1}):
        for v in sorted(set(m)):
            rest = list(m)
            rest.remove(v)
            found[variable(v), Poly({tuple(rest): 1})] = None
        if len(m) > _PAIRED:
            found.update({(variable(v), variable(w)): None for v, w in itertools.combinations(m, 2)})
    for (a, b, q), (c, d, _) in itertools.permutations(reading.divisions, 2):
        # of two quotients of one dividend, the one with the larger divisor is smaller
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
    """Decide whether the facts contradict ``violated``; otherwise return the result of ``understood`` for a model."""
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
    """Return lemmas that a model violates, at most ``most``."""
    return list(itertools.islice((f for f in pool if not holds(f, values)), most))


def _wrong_moved(reading: Linearising, values: Values, most: int) -> Iterator[Formula]:
    """Yield violated lemmas for shifted factors of the products that a model gets wrong, at most ``most``."""
    count = 0
    for u, v in reading.products:
        a, b, product = u.value(values), v.value(values), (u * v).value(values)
        if product == a * b:
            continue
        moved = (
            _sizes(u - m, v - n) for m, n in _offsets(a, b) if _too_small(a - m, b - n, product - n * a - m * b + m * n)
        )
        wrong = (f for f in itertools.chain.from_iterable(moved) if not holds(f, values))
        for f in itertools.islice(wrong, _OF_ONE):
            yield f
            count += 1
            if count == most:
                return


# ------------------------------------------------------------------------------------------------------ expressions
class Linearising(Ring, FormulaLogic):
    """Translates expressions and conditions to polynomials and formulas, with names and facts for nonlinear terms."""

    def __init__(self) -> None:
        self.facts: list[Formula] = []
        #: Pairs of factors whose product occurs.
        self.products: dict[tuple[Poly, Poly], None] = {}
        #: Divisors of quotients and remainders, which are assumed to be nonzero.
        self.divisors: dict[Poly, None] = {}
        #: Dividend, divisor and quotient.
        self.divisions: list[tuple[Poly, Poly, Poly]] = []
        self._named: dict[tuple[object, ...], Poly] = {}
        self._memo: dict[Expr, Poly] = {}

    def formula(self, c: Condition) -> Formula:
        """Translate a condition."""
        return condition_interpret(c, lambda e: interpret((e,), self, self._memo)[0], self)

    def name(self, *key: object) -> tuple[Poly, bool]:
        """Return the name for ``key``, and whether it is new."""
        found = self._named.get(key)
        if found is not None:
            return found, False
        made = self._named[key] = variable(f"{key[0]}{len(self._named)}")
        return made, True

    def multiplied(self, a: Poly, b: Poly) -> Poly:
        """Return the product, and record its factors.  Raises :class:`_TooLong`."""
        if len(a) * len(b) > _TERMS:
            raise _TooLong
        if not (a.is_constant or b.is_constant):
            self.products[(a, b) if a.key <= b.key else (b, a)] = None
        return a * b

    def divided(self, a: Poly, b: Poly) -> tuple[Poly, Poly]:
        """Return quotient and remainder of floor division; unconstrained if the divisor is zero."""
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


def _remainder(b: Poly, r: Poly) -> list[Formula]:
    """Return the bounds of the remainder r of a division by b, which is not zero."""
    positive = both((at_least(r), at_least(b - r - ONE)))
    negative = both((at_least(-r), at_least(r - b - ONE)))
    return [either((at_least(-b), positive)), either((at_least(b), negative))]


def by_linearisation(
    hypotheses: Sequence[Condition],
    goal: Condition,
    rlimit: int,
    understood: Callable[[Mapping[Var, int]], Any] = lambda _: None,
) -> Linearised:
    """Decide whether the hypotheses imply the goal if no divisor is zero; or return ``understood`` of a model."""
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
