"""Defines the solver meaning of every operator, in this module alone.

Three encodings of division exist, all with floor semantics:

``witness``
    A quotient and a remainder are fresh integers with the facts that define them.  Lemmas ``s < t → s·b <= t·b - b``
    relate quotients by the same divisor.  Good for proofs.
``linked``
    Like ``witness``, with more facts for quotients of one dividend by constants of which one divides the other: ``(a //
    b) - m·(a // (b·m))`` is between 0 and m - 1, also if the second quotient is written ``a // b // m``.  Each fact
    follows from the definitions of both quotients; without it the solver has to search for it.  Good for proofs about
    mixed radices whose radices are numbers.
``native``
    ``a // b`` is z3's division, with both signs of the divisor spelled out, and ``a % b`` is ``a - b·(a // b)``.
    Good for models.

z3's own ``div`` is Euclidean and its ``mod`` never negative, so both are used only with that correction.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, cast

import z3

from ..core.condition import Condition, Relation, condition_interpret, related
from ..core.expr import Algebra, Expr, Var, interpret
from .budget import MAX_RLIMIT

Encoding = Literal["witness", "linked", "native"]

# The first context of a process counts resources differently from later ones (z3 5.4), so the cost of a question would
# depend on whether it comes first. This context takes that place for good.
z3.main_ctx()

#: The solver's random seed; only the stability experiments change it (``tests/dev/stability``).
SEED = 0


def numbered(context: z3.Context, n: int) -> Any:
    """Return integer constant number ``n`` of a context.

    Numbers instead of names: z3 orders symbols in one table of names for the whole process, so with names the cost of a
    question would depend on earlier questions.
    """
    symbol = z3.Z3_mk_int_symbol(context.ref(), n)
    return z3.ArithRef(z3.Z3_mk_const(context.ref(), symbol, z3.IntSort(context).ast), context)


def integer_text(n: int) -> str:
    """Return an integer as an SMT-LIB term."""
    return str(n) if n >= 0 else f"(- {-n})"


def limited(s: z3.Solver, budget: int) -> z3.Solver:
    """Limit a solver to ``budget`` resource units, and give it the settings of all solvers."""
    # z3 treats 0 as no limit
    s.set("rlimit", max(1, min(budget, MAX_RLIMIT)))
    s.set("random_seed", SEED)
    s.set("ctrl_c", False)  # this program handles interrupts; z3 would answer "unknown"
    return s


def resources(s: z3.Solver) -> int:
    """Return the resource units that the solver's context has used."""
    return sum(int(amount) for name, amount in s.statistics() if name == "rlimit count")


class Encoder:
    """Translates expressions and conditions to z3 terms in one context.

    ``facts`` collects the definitions of fresh variables; assert them together with the encoded conditions.  A divisor
    of zero leaves quotient and remainder unconstrained: the *defined* obligation excludes it.
    """

    def __init__(self, context: z3.Context, encoding: Encoding = "witness") -> None:
        self.context = context
        self.encoding = encoding
        self.facts: list[Any] = []
        self.symbols: dict[Var, Any] = {}
        self._memo: dict[Expr, Any] = {}
        self._pairs: dict[tuple[int, int], tuple[Any, Any]] = {}
        self._by_divisor: dict[int, list[Any]] = {}
        self._positive: set[int] = set()
        #: quotients by constants: by their dividends, and the dividends and the divisors of those that are divided
        self._linked: dict[int, list[tuple[int, Any]]] = {}
        self._dividends: dict[int, tuple[Any, int]] = {}
        self._count = 0

    def assume_positive(self, divisors: Iterable[Expr]) -> None:
        """Omit the cases of non-positive divisors; the caller has checked that the hypotheses exclude them."""
        for d in divisors:
            b = self.value(d)
            self._positive.add(b.get_id())
            self.facts.append(b > 0)

    def condition(self, c: Condition) -> Any:
        """Return ``c`` as a z3 Boolean."""
        return condition_interpret(c, self.value, self)

    def value(self, e: Expr) -> Any:
        """Return ``e`` as a z3 term."""
        return interpret((e,), cast("Algebra[Any]", self), self._memo)[0]

    # -- expressions
    def integer(self, n: int) -> Any:
        return z3.IntVal(n, self.context)

    def variable(self, v: Var) -> Any:
        found = self.symbols.get(v)
        if found is None:
            found = self.symbols[v] = self.fresh()
        return found

    def fresh(self) -> Any:
        """Return a fresh integer constant."""
        self._count += 1
        return numbered(self.context, self._count)

    def sum(self, const: int, terms: list[tuple[Any, int]]) -> Any:
        parts = [t if k == 1 else t * k for t, k in terms]
        if const or not parts:
            parts.append(self.integer(const))
        return parts[0] if len(parts) == 1 else z3.Sum(parts)

    def product(self, factors: list[Any]) -> Any:
        return z3.Product(factors)

    def minimum(self, args: list[Any]) -> Any:
        total = args[0]
        for a in args[1:]:
            total = z3.If(total <= a, total, a)
        return total

    def maximum(self, args: list[Any]) -> Any:
        total = args[0]
        for a in args[1:]:
            total = z3.If(total >= a, total, a)
        return total

    def select(self, c: Condition, value_of: Callable[[Expr], Any], a: Any, b: Any) -> Any:
        return z3.If(condition_interpret(c, value_of, self), a, b)

    def floordiv(self, a: Any, b: Any) -> Any:
        return self._divmod(a, b)[0]

    def mod(self, a: Any, b: Any) -> Any:
        return self._divmod(a, b)[1]

    def ceildiv(self, a: Any, b: Any) -> Any:
        return -self._divmod(z3.simplify(-a), b)[0]

    def _divmod(self, a: Any, b: Any) -> tuple[Any, Any]:
        entry = (a.get_id(), b.get_id())
        found = self._pairs.get(entry)
        if found is None:
            found = self._native(a, b) if self.encoding == "native" else self._witness(a, b)
            self._pairs[entry] = found
        return found

    def _native(self, a: Any, b: Any) -> tuple[Any, Any]:
        # for b < 0: floor(a / b) = floor(-a / -b), and z3 rounds down for a positive divisor
        if z3.is_int_value(b):
            q = a / b if b.as_long() > 0 else (-a) / self.integer(-b.as_long())
        else:
            q = z3.If(b > 0, a / b, (-a) / (-b))
        return q, a - b * q

    def _witness(self, a: Any, b: Any) -> tuple[Any, Any]:
        q, r = self.fresh(), self.fresh()
        if b.get_id() in self._positive or (z3.is_int_value(b) and b.as_long() > 0):
            self.facts += [a == b * q + r, 0 <= r, r < b]
            if not z3.is_int_value(b):
                self._order_quotients(b, q)
            elif self.encoding == "linked":
                self._link(a, b.as_long(), q)
            return q, r
        self.facts.append(z3.Implies(b != 0, a == b * q + r))
        self.facts.append(z3.Implies(b > 0, z3.And(0 <= r, r < b)))
        self.facts.append(z3.Implies(b < 0, z3.And(b < r, r <= 0)))
        if not z3.is_int_value(b):
            self._order_quotients(b, q)
        return q, r

    def _order_quotients(self, b: Any, q: Any) -> None:
        """Add monotonicity lemmas, because the product with b is nonlinear for the solver."""
        others = self._by_divisor.setdefault(b.get_id(), [])
        known = b.get_id() in self._positive
        for s in others:
            for x, y in ((s, q), (q, s)):
                premise = x < y if known else z3.And(b > 0, x < y)
                self.facts.append(z3.Implies(premise, x * b <= y * b - b))
        others.append(q)

    def _link(self, a: Any, d: int, q: Any) -> None:
        """Relate ``q = a // d`` to the other quotients of the same dividend; ``a`` may be such a quotient itself."""
        a, inner = self._dividends.get(a.get_id(), (a, 1))
        d *= inner
        self._dividends[q.get_id()] = a, d
        others = self._linked.setdefault(a.get_id(), [])
        for e, p in others:
            fine, coarse, m = (p, q, d // e) if e <= d else (q, p, e // d)
            if max(d, e) % min(d, e) == 0:
                self.facts += [m * coarse <= fine, fine <= m * coarse + (m - 1)]
        others.append((d, q))

    # -- conditions
    def const(self, value: bool) -> Any:
        return z3.BoolVal(value, self.context)

    def compare(self, op: Relation, a: Any, b: Any) -> Any:
        return related(op, a, b)

    def within(self, e: Any, lo: Any, hi: Any) -> Any:
        return z3.And(lo <= e, e <= hi)

    def divides(self, d: Any, e: Any) -> Any:
        return z3.And(d != 0, self.mod(e, d) == 0)

    def conj(self, parts: list[Any]) -> Any:
        return z3.And(*parts)

    def disj(self, parts: list[Any]) -> Any:
        return z3.Or(*parts)

    def neg(self, part: Any) -> Any:
        return z3.Not(part)

    # -- solving
    def solver(self, conditions: Sequence[Any], budget: int) -> z3.Solver:
        """Return a solver with ``conditions`` and the facts, limited to ``budget`` resource units."""
        s = limited(z3.Solver(ctx=self.context), budget)
        s.add(*self.facts, *conditions)
        return s
