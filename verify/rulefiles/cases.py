"""A rule as claims of the core language, case by case.

The core divides by rounding down, knows no ``select`` and no truth values in variables.  So a rule is split into cases:
by the signs on which its own division depends, by divisors that are zero, and by the conditions of its selections.  In
one case every operator has one core meaning:

- a quotient that rounds towards zero is ``a // b``, ``-((-a) // b)``, … by the signs of both; a Euclidean one goes by the
  sign of the divisor; a remainder is ``a % |b|``, negated where its rounding says so;
- division by zero is zero, or has no value;
- integers that wrap around are polynomials until something looks at their value (a division, a comparison, an extremum):
  then they are ``(e + 2^(w-1)) % 2^w - 2^(w-1)``; two of them are equal where ``2^w`` divides their difference;
- integers that must not overflow carry the condition that they fit;
- a truth value is a pair of conditions, when it is true and when it is false; neither holds where it has no value.

The cases exclude each other and leave nothing out, so the claims of all cases together are the rule.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

from ...core.condition import FALSE, TRUE, Condition, Or, all_of, any_of, atoms, divides, negate, within
from ...core.errors import TooLargeError
from ...core.expr import (
    Expr,
    Int,
    Mod,
    Mul,
    Sum,
    ceildiv,
    floordiv,
    integer,
    linear,
    maximum,
    minimum,
    mod,
    mul,
    var,
)
from .evaluate import division
from .known import Known, Polynomials
from .rule import StatedRule
from .semantics import Rounding
from .terms import DIVISIONS, Term, below

__all__ = ["MAX_CASES", "RuleCase", "cases", "variable_of"]

#: More cases than this are not worth enumerating, and so many are enough with dividends of both signs apart.
MAX_CASES = 256
_SIGNED_CASES = 96
#: A condition with more alternatives is left as it is.
_ALTERNATIVES = 4


@dataclass(frozen=True)
class Number:
    """An integer: ``e``, or without a value because of a division by zero.

    ``fits`` says where nothing in it overflows.  ``wraps`` marks a number that stands for all that differ from it by
    multiples of the modulus.
    """

    e: Expr
    fits: Condition = TRUE
    zero: bool = False
    wraps: bool = False


@dataclass(frozen=True)
class Truth2:
    """A truth value: where it is true, where it is false, and where it has no value because of an overflow.

    ``hole`` says whether a division by zero may leave it without a value.
    """

    true: Condition
    false: Condition
    lost: Condition = FALSE
    hole: bool = False


@dataclass(frozen=True, eq=False)
class RuleCase:
    """One case: what was decided, what the conditions of the rule say there, and its two sides."""

    decided: tuple[Condition, ...]
    given: tuple[Condition, ...]
    left: Number | Truth2
    right: Number | Truth2 | None
    known: Known
    modulus: int

    def same(self, a: Number, b: Number) -> Condition:
        """Whether two integers are equal; that they fit is another question."""
        gap = a.e - b.e
        if not self.known.polynomials.of(gap):
            return TRUE
        if a.wraps or b.wraps:
            return divides(integer(self.modulus), _reduced(gap, self.modulus))
        return a.e.eq(b.e)


def variable_of(name: str, kind: str) -> Expr:
    """The core variable of a variable of a rule; truth values are 0 and 1."""
    return var(name, "const" if kind == "const" else "")


class _Split(Exception):
    """A decision is needed: these conditions exclude each other and leave nothing out."""

    def __init__(self, options: Sequence[Condition]) -> None:
        super().__init__()
        self.options = options


def cases(
    r: StatedRule, *, without: int | None = None, right: bool = True, total: bool = False
) -> list[RuleCase]:
    """The cases in which the conditions may hold and the left side may have a value.

    ``without`` is the number of a condition that is left out; without ``right`` the right side is not read.  Expressions
    may divide by what is zero in other cases; ``total`` ones never divide by zero, so that those of several cases may
    stand in one condition.  Raises :class:`TooLargeError` for too many cases.
    """
    # fewer and fewer cases, with more and more to prove in one
    with suppress(TooLargeError):
        return list(_cases(r, _Options(without, right, total, signs=True, apart=True, most=_SIGNED_CASES)))
    with suppress(TooLargeError):
        return list(_cases(r, _Options(without, right, total, signs=True, apart=False, most=_SIGNED_CASES)))
    return list(_cases(r, _Options(without, right, total, signs=False, apart=False, most=MAX_CASES)))


@dataclass(frozen=True)
class _Options:
    """The input of :func:`cases`.

    ``signs`` tells the signs of dividends apart where a rounding depends on them; ``apart`` tells apart how often a
    dividend or a divisor wraps around, where that is once at most, and the alternatives of a condition; there may be
    ``most`` cases.
    """

    without: int | None
    right: bool
    total: bool
    signs: bool
    apart: bool
    most: int


def _cases(r: StatedRule, options: _Options) -> Iterator[RuleCase]:
    polynomials = Polynomials()
    domain = _domain(r)
    todo: list[tuple[Condition, ...]] = [()]
    count = visits = 0
    while todo:
        decided = todo.pop()
        visits += 1
        if count + len(todo) > options.most or visits > 3 * options.most:
            raise TooLargeError(f"more than {options.most} cases")
        known = Known(polynomials)
        known.assume(domain)
        known.assume(decided)
        try:
            found = _case(r, domain, decided, known, options)
        except _Split as split:
            todo += [(*decided, c) for c in reversed(split.options) if known.truth(c) is not False]
            continue
        count += 1
        if found is not None:
            yield found


def _domain(r: StatedRule) -> list[Condition]:
    """The ranges of the variables."""
    s = r.semantics
    out = []
    for name, kind in r.variables.items():
        v = variable_of(name, kind.name)
        lo, hi = kind.lo, kind.hi
        if kind.name == "bool":
            lo, hi = 0, 1
        elif s.width:
            lo = s.lo if lo is None else max(lo, s.lo)
            hi = s.hi if hi is None else min(hi, s.hi)
        if lo is not None and hi is not None:
            out.append(within(v, integer(lo), integer(hi)) if lo <= hi else FALSE)
    return out


def _case(
    r: StatedRule,
    domain: Sequence[Condition],
    decided: tuple[Condition, ...],
    known: Known,
    options: _Options,
) -> RuleCase | None:
    given: list[Condition] = list(domain)
    conditions = [c for k, c in enumerate(r.conditions) if k != options.without]
    # conditions that need no decision come first: they decide what the others, and the sides, ask
    for t in sorted(conditions, key=_is_involved):
        truth = _Reading(r, known, options, machine=False).truth(t)
        if truth.true is FALSE:
            return None
        if options.apart and known.truth(truth.true) is None:
            _split_alternatives(truth.true)
        given.append(truth.true)
        known.assume((truth.true,))
    sides = _Reading(r, known, options, machine=bool(r.semantics.width))
    left = sides.side(r.left)
    if isinstance(left, Number) and (left.zero or left.fits is FALSE):
        return None
    if isinstance(left, Truth2) and left.true is FALSE and left.false is FALSE:
        return None
    other = sides.side(r.right) if options.right else None
    return RuleCase(decided, tuple(given), left, other, known, r.semantics.modulus if sides.wraps else 0)


def _split_alternatives(c: Condition) -> None:
    """Raise :class:`_Split` for a disjunction of few relations; where none of them holds the rule says nothing."""
    if isinstance(c, Or) and len(c.args) <= _ALTERNATIVES and all(len(list(atoms(a))) == 1 for a in c.args):
        raise _Split([all_of((*map(negate, c.args[:k]), a)) for k, a in enumerate(c.args)])


def _reduced(e: Expr, modulus: int) -> Expr:
    """``e`` with the coefficients of its sum reduced, which changes it by a multiple of the modulus."""

    def small(n: int) -> int:
        return (n + modulus // 2) % modulus - modulus // 2

    match e:
        case Sum():
            return linear(small(e.const), [(t, small(k)) for t, k in e.terms])
        case Int():
            return integer(small(e.value))
    return e


_INVOLVED = DIVISIONS | {"select", "choose", "wrap"}


def _is_involved(t: Term) -> bool:
    return any(a.op in _INVOLVED for a in below(t))


class _Reading:
    """Terms in one case."""

    def __init__(self, r: StatedRule, known: Known, options: _Options, *, machine: bool) -> None:
        self.rule = r
        self.total = options.total
        self.signs = options.signs
        self.apart = options.apart
        self.semantics = r.semantics
        self.known = known
        self.machine = machine
        self.wraps = machine and r.semantics.overflow == "wrap"
        self._memo: dict[int, Number | Truth2] = {}

    def truth(self, t: Term) -> Truth2:
        found = self.side(t)
        assert isinstance(found, Truth2)
        return found

    def side(self, root: Term) -> Number | Truth2:
        """The meaning of a term.  Raises :class:`_Split` where the case must be divided."""
        # of a selection only the chosen side is read, so that the other one asks for no decisions
        todo = [root]
        while todo:
            t = todo[-1]
            if id(t) in self._memo:
                todo.pop()
                continue
            wanted = self._wanted(t)
            missing = [a for a in wanted if id(a) not in self._memo]
            if missing:
                todo += reversed(missing)
                continue
            todo.pop()
            self._memo[id(t)] = self._meaning(t)
        return self._memo[id(root)]

    def _wanted(self, t: Term) -> Sequence[Term]:
        if t.op != "select":
            return t.args
        if id(t.args[0]) not in self._memo:
            return t.args[:1]
        chosen = self._decided(t.args[0])
        return () if chosen is None else (t.args[1 if chosen else 2],)

    def _decided(self, t: Term) -> bool | None:
        """Whether a condition holds in this case; ``None`` where it has no value."""
        c = self._memo[id(t)]
        assert isinstance(c, Truth2)
        options = [c.true, c.false]
        rest = negate(c.true) if c.false == negate(c.true) else None
        if rest is None:
            options.append(all_of((negate(c.true), negate(c.false))))
        for k, o in enumerate(options):
            if o is TRUE or self.known.truth(o):
                return (True, False, None)[k]
        possible = [o for o in options if o is not FALSE and self.known.truth(o) is not False]
        if len(possible) == 1:
            return (True, False, None)[options.index(possible[0])]
        raise _Split(possible)

    # -- leaves and connectives
    def _meaning(self, t: Term) -> Number | Truth2:
        match t.op:
            case "int":
                return Number(integer(int(t.value)))
            case "bool":
                return Truth2(TRUE, FALSE) if t.value else Truth2(FALSE, TRUE)
            case "var":
                return Number(variable_of(t.name, self.rule.variables[t.name].name))
            case "flag":
                p = variable_of(t.name, "bool")
                return Truth2(p.eq(1), p.ne(1))
            case "fold":
                return self._memo[id(t.args[0])]
            case "select":
                return self._select(t)
        args = [self._memo[id(a)] for a in t.args]
        truths = [a for a in args if isinstance(a, Truth2)]
        if truths:
            return _connected(t.op, truths)
        numbers = [a for a in args if isinstance(a, Number)]
        if t.op in ("lt", "le", "gt", "ge", "eq", "ne", "within", "divides"):
            return self._relation(t.op, numbers)
        return self._integer(t, numbers)

    def _select(self, t: Term) -> Number:
        chosen = self._decided(t.args[0])
        if chosen is None:
            c = self._memo[id(t.args[0])]
            assert isinstance(c, Truth2)
            return Number(integer(0), negate(c.lost), zero=True)
        found = self._memo[id(t.args[1 if chosen else 2])]
        assert isinstance(found, Number)
        return found

    def _relation(self, op: str, args: list[Number]) -> Truth2:
        fits = all_of(a.fits for a in args)
        lost = negate(fits)
        if any(a.zero for a in args):
            return Truth2(FALSE, FALSE, lost, hole=True)
        if op in ("eq", "ne") and any(a.wraps for a in args):
            modulus = self.semantics.modulus
            gap = args[0].e - args[1].e
            known_equal = not self.known.polynomials.of(gap)
            holds = TRUE if known_equal else divides(integer(modulus), _reduced(gap, modulus))
            if op == "ne":
                holds = negate(holds)
        else:
            es = [self._seen(a) for a in args]
            holds = _related(op, es)
        decided = self.known.truth(holds)
        if decided is not None:
            holds = TRUE if decided else FALSE
        return Truth2(all_of((fits, holds)), all_of((fits, negate(holds))), lost)

    # -- integers
    def _integer(self, t: Term, args: list[Number]) -> Number:
        fits = all_of(a.fits for a in args)
        zero = any(a.zero for a in args)
        if zero:
            return Number(integer(0), fits, zero=True)
        match t.op:
            case "add":
                return self._made(args[0].e + args[1].e, fits)
            case "sub":
                return self._made(args[0].e - args[1].e, fits)
            case "neg":
                return self._made(-args[0].e, fits)
            case "mul":
                return self._made(mul(args[0].e, args[1].e), fits)
        apart = self.apart and t.op not in ("min", "max", "wrap")
        seen = [self._seen(a, apart=apart) for a in args]
        match t.op:
            case "min":
                return Number(minimum(*seen), fits)
            case "max":
                return Number(maximum(*seen), fits)
            case "wrap":
                return Number(self._wrapped(seen[0]), fits)
            case "cdiv":
                return self._ceiling(seen[0], seen[1], fits)
        kind = division(t, self.semantics)
        if kind is None:
            raise AssertionError(f"no meaning for {t.op}")
        rounding, whole = kind
        return self._division(rounding, seen[0], seen[1], fits, whole=whole)

    def _made(self, e: Expr, fits: Condition) -> Number:
        """The result of a ring operation."""
        if not self.machine:
            return Number(e, fits)
        s = self.semantics
        if self.known.at_least(e, s.lo) and self.known.at_most(e, s.hi):
            return Number(e, fits)
        if self.wraps:
            return Number(_reduced(e, s.modulus), fits, wraps=True)
        return Number(e, all_of((fits, within(e, integer(s.lo), integer(s.hi)))))

    def _seen(self, a: Number, *, apart: bool = False) -> Expr:
        """The value of a number, wrapped around where it must be."""
        return self._wrapped(a.e, apart=apart) if a.wraps else a.e

    def _wrapped(self, e: Expr, *, apart: bool = False) -> Expr:
        """The machine integer that ``e`` wraps around to; with ``apart`` in cases by how often, if that is once at most."""
        s, known = self.semantics, self.known
        turns = (0, -1, 1) if apart else (0,)
        for k in turns:
            turned = e + k * s.modulus
            if known.at_least(turned, s.lo) and known.at_most(turned, s.hi):
                return turned
        if apart and known.at_least(e, s.lo - s.modulus) and known.at_most(e, s.hi + s.modulus):
            fits = within(e, integer(s.lo), integer(s.hi))
            raise _Split([c for c in (fits, e > s.hi, e < s.lo) if known.truth(c) is not False])
        return mod(e - s.lo, s.modulus) + s.lo

    # -- division
    def _sign(self, e: Expr, *, zero: bool) -> int:
        """The sign of ``e`` in this case: 1, -1, or 0; with ``zero`` false 0 counts as either."""
        known = self.known
        if known.at_least(e, 1 if zero else 0):
            return 1
        if known.at_most(e, -1):
            return -1
        if zero and known.at_least(e, 0) and known.at_most(e, 0):
            return 0
        factors, sign = _factors(e)
        if factors:
            for f in factors:
                sign *= self._sign(f, zero=zero)
            return sign
        if not zero:
            # what is not positive may count as negative: it is negated before it is divided
            if known.at_most(e, 0):
                return -1
            raise _Split((e >= 0, e < 0))
        options = [c for c in (e > 0, e < 0, e.eq(0)) if known.truth(c) is not False]
        if e.eq(0) in options and known.nonzero(e):
            options.remove(e.eq(0))
        if len(options) == 1:
            return {e > 0: 1, e < 0: -1}.get(options[0], 0)
        raise _Split(options)

    def _is_zero(self, e: Expr) -> bool:
        if self.known.nonzero(e):
            return False
        if self.known.truth(e.eq(0)):
            return True
        raise _Split((e.ne(0), e.eq(0)))

    def _by_zero(self, rounding: Rounding, fits: Condition) -> Number:
        return Number(integer(0), fits, zero=not rounding.endswith("0"))

    def _division(self, rounding: Rounding, a: Expr, b: Expr, fits: Condition, *, whole: bool) -> Number:
        floor = rounding.startswith("floor")
        if floor and not self.total:
            if self._is_zero(b):
                return self._by_zero(rounding, fits)
            e = floordiv(a, b) if whole else mod(a, b)
            if self.known.at_least(b, 1):
                e = self._positive(a, b, whole=whole)
            return self._quotient(e, a, b, fits) if whole else self._rest(e, a, b, fits)
        sign = self._sign(b, zero=True)
        if sign == 0:
            return self._by_zero(rounding, fits)
        size = b if sign > 0 else -b
        if floor:
            # a // b = (-a) // (-b), and the remainders are opposite
            up = a if sign > 0 else -a
            if whole:
                return self._quotient(self._positive(up, size, whole=True), a, b, fits)
            e = self._positive(up, size, whole=False)
            return self._rest(e if sign > 0 else -e, a, b, fits)
        negative = False
        if rounding.startswith("trunc"):
            if not (self.signs or self.known.at_least(a, 0) or self.known.at_most(a, 0)):
                return self._either_sign(a, b, size, sign, fits, whole=whole)
            negative = self._sign(a, zero=False) < 0
        if negative:
            a = -a
        if whole:
            e = self._positive(a, size, whole=True)
            flip = (sign < 0) != negative
            return self._quotient(-e if flip else e, -a if negative else a, b, fits)
        e = self._positive(a, size, whole=False)
        return self._rest(-e if negative else e, -a if negative else a, b, fits)

    def _either_sign(
        self, a: Expr, b: Expr, size: Expr, sign: int, fits: Condition, *, whole: bool
    ) -> Number:
        """A division that rounds towards zero: one of ``max(a, 0)`` and ``max(-a, 0)`` is zero, and so is its part."""
        above, below_ = (self._positive(maximum(x, 0), size, whole=whole) for x in (a, -a))
        e = above - below_
        if not whole:
            return self._rest(e, a, b, fits)
        return self._quotient(e if sign > 0 else -e, a, b, fits)

    def _positive(self, a: Expr, b: Expr, *, whole: bool) -> Expr:
        """Quotient or remainder by a divisor that is positive in this case, with what is plain about its size."""
        d = self._divisor(b)
        if not whole:
            e = mod(a, d)
            self.known.note((e >= 0, e < b))
            return e
        e = floordiv(a, d)
        if self.known.at_least(a, 0):
            self.known.note((e >= 0,))
        elif self.known.at_most(a, -1):
            self.known.note((e < 0,))
        return e

    def _divisor(self, b: Expr) -> Expr:
        """A divisor that is positive in this case, and with ``total`` in every other."""
        return maximum(b, 1) if self.total and not isinstance(b, Int) else b

    def _ceiling(self, a: Expr, b: Expr, fits: Condition) -> Number:
        if self.total:
            sign = self._sign(b, zero=True)
            if sign:
                up = a if sign > 0 else -a
                return self._quotient(ceildiv(up, self._divisor(b if sign > 0 else -b)), a, b, fits)
            return self._by_zero(self.semantics.quotient, fits)
        if self._is_zero(b):
            return self._by_zero(self.semantics.quotient, fits)
        return self._quotient(ceildiv(a, b), a, b, fits)

    def _quotient(self, q: Expr, a: Expr, b: Expr, fits: Condition) -> Number:
        """A quotient; only that of the least integer by -1 does not fit."""
        return self._overflowing(q, a, b, fits)

    def _rest(self, r: Expr, a: Expr, b: Expr, fits: Condition) -> Number:
        """A remainder; machines compute it together with the quotient, so it overflows with it."""
        return Number(r, fits) if self.wraps else self._overflowing(r, a, b, fits)

    def _overflowing(self, e: Expr, a: Expr, b: Expr, fits: Condition) -> Number:
        s = self.semantics
        if not self.machine or self.known.at_least(a, s.lo + 1) or self.known.nonzero(b + 1):
            return Number(e, fits)
        least = all_of((a.eq(s.lo), b.eq(-1)))
        if self.known.truth(a.eq(s.lo)) is False or self.known.truth(b.eq(-1)) is False:
            return Number(e, fits)
        if self.wraps:
            return Number(e, fits, wraps=True)
        return Number(e, all_of((fits, negate(least))))


def _factors(e: Expr) -> tuple[Sequence[Expr], int]:
    """The factors of a product and the sign of its coefficient; no factors for anything else."""
    sign = 1
    if isinstance(e, Sum) and len(e.terms) == 1 and not e.const:
        e, k = e.terms[0]
        sign = 1 if k > 0 else -1
        if not isinstance(e, Mul):
            return (e,), sign
    return (e.factors if isinstance(e, Mul) else ()), sign


def _vanishes(a: Expr, b: Expr) -> Condition | None:
    """That a remainder is zero, as divisibility, which is more use to a proof; ``None`` for other equations."""
    for e, zero in ((a, b), (b, a)):
        if isinstance(e, Sum) and len(e.terms) == 1 and not e.const:
            e = e.terms[0][0]
        if isinstance(zero, Int) and not zero.value and isinstance(e, Mod):
            return divides(e.b, e.a)
    return None


def _related(op: str, es: list[Expr]) -> Condition:
    match op:
        case "lt":
            return es[0] < es[1]
        case "le":
            return es[0] <= es[1]
        case "gt":
            return es[0] > es[1]
        case "ge":
            return es[0] >= es[1]
        case "eq":
            zero = _vanishes(es[0], es[1])
            return es[0].eq(es[1]) if zero is None else zero
        case "ne":
            zero = _vanishes(es[0], es[1])
            return es[0].ne(es[1]) if zero is None else negate(zero)
        case "within":
            return es[0].within(es[1], es[2])
    return divides(es[0], es[1])


def _connected(op: str, args: list[Truth2]) -> Truth2:
    lost = any_of(a.lost for a in args)
    hole = any(a.hole for a in args)
    match op:
        case "not":
            (a,) = args
            return Truth2(a.false, a.true, lost, hole)
        case "and":
            false = any_of(a.false for a in args)
            return Truth2(all_of(a.true for a in args), false, all_of((lost, negate(false))), hole)
        case "or":
            true = any_of(a.true for a in args)
            return Truth2(true, all_of(a.false for a in args), all_of((lost, negate(true))), hole)
        case "iff" | "xor":
            a, b = args
            same = any_of((all_of((a.true, b.true)), all_of((a.false, b.false))))
            other = any_of((all_of((a.true, b.false)), all_of((a.false, b.true))))
            return Truth2(same, other, lost, hole) if op == "iff" else Truth2(other, same, lost, hole)
        case "choose":
            c, a, b = args
            true = any_of((all_of((c.true, a.true)), all_of((c.false, b.true))))
            false = any_of((all_of((c.true, a.false)), all_of((c.false, b.false))))
            chosen = any_of((all_of((c.true, a.lost)), all_of((c.false, b.lost))))
            return Truth2(true, false, any_of((c.lost, chosen)), hole)
    raise AssertionError(f"no meaning for {op}")
