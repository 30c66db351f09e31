"""The facts, definitions, quotients and extrema of one case of a claim, and the meaning of terms under them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...core.condition import And, Compare, Condition, Divides, Not, Or, Truth, Within, negate
from ...core.expr import CeilDiv, Expr, FloorDiv, Int, Max, Min, Mod, Mul, Sum, Var, postorder
from .polynomials import (
    CONTRADICTION,
    ONE,
    TAUTOLOGY,
    Formula,
    Key,
    Monomial,
    Polynomial,
    conjunction,
    constant,
    disjunction,
    exact_quotient,
    nonnegative,
    nonzero,
    split,
    substituted,
    variable,
    with_values,
    zero,
)

__all__ = ["State", "Unknown", "variable_name"]

#: How often products are replaced in one term.
_REWRITTEN = 8


class Unknown(Exception):
    """A division or an extremum of which nothing has been shown yet."""


def variable_name(v: Var) -> str:
    """The name of a variable of the claim."""
    # made names have one `!`, which no name of a variable of a claim is given
    name = v.name.replace("!", "!!").replace(":", "::")
    return f"{name}:{v.kind}" if v.kind else name


class State:
    """One case: its definitions, signs, facts, and the values of divisions and extrema."""

    def __init__(self) -> None:
        self.definitions: dict[str, Polynomial] = {}
        self.signs: list[tuple[Polynomial, int]] = []
        #: What equations among the facts say of products, in the order in which they replace them.
        self.rewrites: dict[Monomial, Polynomial] = {}
        self.facts: set[Formula] = set()
        self.named: set[Formula] = set()
        self.divisions: dict[Any, tuple[Polynomial, Polynomial]] = {}
        self.extrema: dict[Any, Polynomial] = {}
        self.extremes: dict[str, tuple[str, tuple[Any, ...]]] = {}
        #: What names were introduced for, and the names; substitution may leave several for the same.
        self.made: set[tuple[tuple[Any, ...], tuple[Key, ...]]] = set()
        self.names: set[str] = set()

    def copy(self) -> State:
        """A copy for one of several cases."""
        out = State()
        for name, value in vars(self).items():
            setattr(out, name, value.copy())
        return out

    def define(self, name: str, value: Polynomial) -> None:
        """Replace a name everywhere."""
        one = {name: value}

        def moved(key: Key) -> Key:
            return with_values(Polynomial(key), one).key

        self.definitions = {v: with_values(p, one) for v, p in self.definitions.items()} | one
        self.signs = [(with_values(p, one), s) for p, s in self.signs]
        self.facts = {substituted(f, one) for f in self.facts}
        self.named = {substituted(f, one) for f in self.named}
        self.divisions = {
            (moved(a), moved(b)): (with_values(q, one), with_values(r, one))
            for (a, b), (q, r) in self.divisions.items()
        }
        self.extrema = {
            (op, tuple(map(moved, args))): with_values(v, one) for (op, args), v in self.extrema.items()
        }
        self.extremes = {v: (op, tuple(map(moved, args))) for v, (op, args) in self.extremes.items()}
        self.made = {
            ((kind, *map(moved, keys)), tuple(map(moved, names))) for (kind, *keys), names in self.made
        }

    def sign_facts(self) -> set[Formula]:
        """Return the facts that the decided signs state."""
        return {nonnegative(p * s - 1) if s else zero(p) for p, s in self.signs}

    def is_zero(self, b: Polynomial) -> bool:
        """Whether ``b`` is zero in this case."""
        return not b or any(s == 0 and exact_quotient(b, p) is not None for p, s in self.signs)

    # -- the meaning of terms
    def value(self, e: Expr, memo: dict[Expr, Polynomial]) -> Polynomial:
        """The polynomial of a term.  Raises :class:`Unknown` where a division is not known."""
        for n in postorder(e, known=memo):
            memo[n] = self._meaning(n, memo)
        return memo[e]

    def _meaning(self, n: Expr, memo: Mapping[Expr, Polynomial]) -> Polynomial:
        match n:
            case Int():
                return constant(n.value)
            case Var():
                name = variable_name(n)
                return self.definitions.get(name, variable(name))
            case Sum():
                return sum((memo[t] * k for t, k in n.terms), start=constant(n.const))
            case Mul():
                product = ONE
                for f in n.factors:
                    product = product * memo[f]
                return self.rewritten(product)
            case FloorDiv():
                return self.quotient(memo[n.a], memo[n.b])[0]
            case Mod():
                return self.quotient(memo[n.a], memo[n.b])[1]
            case CeilDiv():
                for sign in (1, -1):
                    a, b = memo[n.a] * sign, memo[n.b] * sign
                    found = self.divisions.get(((a + b - 1).key, b.key))
                    if found is not None:
                        return found[0]
            case Min() | Max():
                entry = type(n).__name__.lower(), tuple(memo[a].key for a in n.args)
                if entry in self.extrema:
                    return self.extrema[entry]
        raise Unknown

    def rewritten(self, p: Polynomial) -> Polynomial:
        """``p`` with products replaced by what equations say that they are."""
        for _ in range(_REWRITTEN if self.rewrites else 0):
            for product, value in self.rewrites.items():
                kept, moved = split(p, product)
                if moved:
                    p = kept + moved * value
                    break
            else:
                break
        return p

    def quotient(self, a: Polynomial, b: Polynomial) -> tuple[Polynomial, Polynomial]:
        """Quotient and remainder of floor division."""
        a = self.rewritten(a)
        found = self.divisions.get((a.key, b.key))
        if found is not None:
            return found
        found = self.divisions.get(((-a).key, (-b).key))
        if found is None:
            raise Unknown
        return found[0], -found[1]

    def formula(self, c: Condition, memo: dict[Expr, Polynomial]) -> Formula:
        """A condition over polynomials.  Raises :class:`Unknown`."""
        match c:
            case Truth(value):
                return TAUTOLOGY if value else CONTRADICTION
            case Compare(op, x, y):
                gap = self.value(y, memo) - self.value(x, memo)
                match op:
                    case "<=":
                        return nonnegative(gap)
                    case "<":
                        return nonnegative(gap - 1)
                    case "==":
                        return zero(gap)
                return nonzero(gap)
            case Within(e, lo, hi):
                return conjunction(
                    (self.formula(Compare("<=", lo, e), memo), self.formula(Compare("<=", e, hi), memo))
                )
            case And(args):
                return conjunction(self.formula(a, memo) for a in args)
            case Or(args):
                return disjunction(self.formula(a, memo) for a in args)
            case Divides(d, e):
                rest = self._remainder(d, e, memo)
                return CONTRADICTION if rest is None else zero(rest)
            case Not(Divides(d, e)):
                rest = self._remainder(d, e, memo)
                return TAUTOLOGY if rest is None else nonzero(rest)
            case Not(arg):
                return self.formula(negate(arg), memo)
        raise TypeError(type(c).__name__)

    def _remainder(self, d: Expr, e: Expr, memo: dict[Expr, Polynomial]) -> Polynomial | None:
        """The remainder of ``e`` by ``d``; ``None`` where ``d`` is zero."""
        divisor = self.value(d, memo)
        return None if self.is_zero(divisor) else self.quotient(self.value(e, memo), divisor)[1]
