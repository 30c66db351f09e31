"""The kernel: forms over one domain, and the application of rules that brings them to normal form.

:meth:`Kernel.floordiv`, :meth:`Kernel.mod`, :meth:`Kernel.extremum` and :meth:`Kernel.add` ask for *proposals*: the name
of a strategy and values for the variables of a rule.  A proposal is handed to the code that was generated from the
declarations of all rules which name that strategy (:mod:`.generate`).  That code takes the form at hand, establishes
that it is the rule's left side and that every condition holds, and returns the right side, or ``None``.  Nothing else
rewrites a form, so a wrong proposal costs time and no more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import reduce
from math import inf
from typing import Any, ClassVar, Final, TypeAlias

from ..expr import (
    Binary,
    CeilDiv,
    Expr,
    Extremum,
    FloorDiv,
    Int,
    Max,
    Min,
    Mod,
    Mul,
    Sum,
    Var,
    floordiv,
    mod,
    postorder,
    rebuild,
)
from ..interval import Interval
from .form import (
    END,
    FAR,
    MAXIMUM,
    MINIMUM,
    OPAQUE,
    QUOTIENT,
    REMAINDER,
    VARIABLE,
    ZERO,
    Form,
    Terms,
    atom,
    finite,
    lone,
    times,
)
from .measure import Size
from .ranges import Ranges

__all__ = ["ANYWHERE", "CEILING", "DEEPEST", "KNOWN", "MATCHED", "SUM", "Bounds", "Kernel", "Proposal"]

#: The name of a strategy, and the values that it supplies in the order of :data:`.generate.STRATEGIES`.
Proposal: TypeAlias = tuple[str, tuple[Any, ...]]
#: The lower and upper bounds of variables.
Bounds: TypeAlias = dict[Any, tuple[int | float, int | float]]
#: The proposal of the rules that name no strategy: their code matches the left side by itself.
MATCHED: Final[Proposal] = ("", ())
#: The key of those among them whose dividend has no division, minimum or maximum in it.  They are tried last.
ANYWHERE: Final = "anywhere"

#: Keys of rule tables beside the kinds of atoms: sums, forms with one value, and division that rounds up.
SUM: Final = 6
KNOWN: Final = 7
CEILING: Final = 8

#: Expressions nested deeper than this are read without recursion, and not searched for cheaper ones.
DEEPEST: Final = 200

#: The ranges of operators that are no forms, as functions of the ranges of their operands.
_RANGES: Final[Mapping[type[Expr], Callable[..., Interval]]] = {
    Mul: lambda *factors: reduce(Interval.times, factors),
    FloorDiv: Interval.floordiv,
    Mod: Interval.mod,
    CeilDiv: Interval.ceildiv,
}


class Kernel(Ranges):
    """Forms over one domain.

    ``bounds`` maps variables to pairs of ends, integers or infinite floats.  A variable with a single value is replaced by
    it unless ``keep_points``.  A generated subclass supplies the rules.  Reading raises :class:`OverflowError` for numbers
    of more than 300 digits if some variable is unbounded.
    """

    #: rules by the kind of form they rewrite and the strategy that they name
    RULES: ClassVar[Mapping[int, Mapping[str, tuple[Callable[..., Form | None], ...]]]] = {}
    #: the rules for extraction, likewise; their right sides need not be in normal form
    EQUALITIES: ClassVar[Mapping[int, Mapping[str, tuple[Callable[..., Form | None], ...]]]] = {}

    def __init__(self, bounds: Bounds, *, keep_points: bool = False, record: Any = None) -> None:
        super().__init__(record)
        self.bounds = bounds
        self.keep_points = keep_points
        self.opaque: dict[Expr, Form] = {}
        #: caches of quotients, remainders and extrema
        self.quotients: dict[tuple[Terms, int, int], Form] = {}
        self.remainders: dict[tuple[Terms, int, int], Form] = {}
        self.extrema: dict[tuple[bool, tuple[Form, ...]], Form] = {}
        #: raw atoms by their operands
        self.raws: dict[tuple[int, Form, int], int] = {}
        self.raw_extrema: dict[tuple[int, tuple[Form, ...]], int] = {}
        #: the summands of the sums that have been read, to count equal ones once
        self.bodies: set[tuple[tuple[Expr, int], ...]] = set()
        #: the nesting of divisions and extrema around the current expression, and the deepest nesting so far
        self.level = 0
        self.deepest = 0

    # ---------------------------------------------------------------- sums
    def add(self, x: Form, y: Form) -> Form:
        """Return ``x + y``.  One of them may be a multiple of a form, which known digits may simplify."""
        if not self.exact:
            if not x[1]:
                return (x[0] + y[0], y[1]) if x[0] else y
            if not y[1]:
                return (x[0] + y[0], x[1]) if y[0] else x
        total = dict(x[1])
        for a, k in y[1]:
            if a in total:
                k += total[a]
                if k:
                    total[a] = k
                else:
                    del total[a]
            else:
                total[a] = k
        return self.recombine(x[0] + y[0], total)

    def scale(self, x: Form, k: int) -> Form:
        """Return ``k·x``."""
        return times(x, k)

    def shift(self, x: Form, n: int) -> Form:
        """Return ``x + n``."""
        return x[0] + n, x[1]

    def normal(self, x: Form) -> Form:
        """Return the normal form of any sum, which may contain raw atoms."""
        normals = self.normals
        for t in x[1]:
            if t[0] in normals:
                break
        else:
            return self.recombine(x[0], dict(x[1])) if len(x[1]) > 1 else x
        c = x[0]
        total: dict[int, int] = {}
        for a, k in x[1]:
            n, terms = self._normal(a) if a in normals else atom(a)
            c += k * n
            for b, j in terms:
                j = total.get(b, 0) + j * k
                if j:
                    total[b] = j
                else:
                    del total[b]
        return self.recombine(c, total)

    def _normal(self, a: int) -> Form:
        """Return the normal form of a raw atom."""
        f = self.normals[a]
        if f is None:
            of = self.kind[a]
            if of == QUOTIENT:
                f = self.floordiv(self.normal(self.arg[a]), self.divisor[a])
            elif of == REMAINDER:
                f = self.mod(self.normal(self.arg[a]), self.divisor[a])
            else:
                f = self.extremum(of, [self.normal(x) for x in self.parts[a]])
            self.normals[a] = f
        return f

    def recombine(self, c: int, total: dict[int, int]) -> Form:
        """Return the normal form of a sum of atoms in normal form, given by atom and coefficient."""
        if len(total) < 2:
            return c, tuple(total.items())
        f = c, tuple(sorted(total.items()))
        if self.sums:
            known = self._known(f)
            if known is not f:
                return known
        kind = self.kind
        for a in total:
            if kind[a]:
                break
        else:
            return f
        rules = self.RULES.get(SUM)
        if rules:
            for strategy, values in self.propose_for_sum(f, total):
                for rule in rules.get(strategy, ()):
                    g = rule(self, f, *values)
                    if g is not None:
                        return g
        return f

    # ---------------------------------------------------------------- quotients and remainders
    def floordiv(self, x: Form, d: int) -> Form:
        """Return ``x // d``."""
        key = (x[1], x[0], d)
        f = self.quotients.get(key)
        if f is None:
            f = self.quotients[key] = self._divided(QUOTIENT, x, d)
        return f

    def mod(self, x: Form, d: int) -> Form:
        """Return ``x % d``."""
        key = (x[1], x[0], d)
        f = self.remainders.get(key)
        if f is None:
            f = self.remainders[key] = self._divided(REMAINDER, x, d)
        return f

    def _divided(self, kind: int, x: Form, d: int) -> Form:
        if self.unbounded:
            self._refuse_large(x, d)
        if not d:
            raise ZeroDivisionError("division by the constant zero has no value")
        if not x[1]:
            return x[0] // d if kind == QUOTIENT else x[0] % d, ()
        rules = self.RULES.get(kind)
        if rules:
            for strategy, values in self.propose_for_division(kind, x, d):
                for rule in rules.get(strategy, ()):
                    f = rule(self, x, d, *values)
                    if f is not None:
                        return f
            for rule in rules.get(ANYWHERE, ()):
                f = rule(self, x, d)
                if f is not None:
                    return f
        if d < 0:
            # no rule made the divisor positive
            return self._as_written(floordiv(self.write(x), d) if kind == QUOTIENT else mod(self.write(x), d))
        return self._atom(kind, x, d)

    def ceildiv(self, x: Form, d: int) -> Form | None:
        """Return ``x / d`` rounded up if a rule rewrites it, or else ``None``."""
        for rule in self.RULES.get(CEILING, {}).get("", ()):
            f = rule(self, x, d)
            if f is not None:
                return f
        return None

    def raw(self, kind: int, x: Form, d: int) -> Form:
        """Return the quotient or the remainder of x by d as a raw atom."""
        if not x[1] or d < 1:
            return self.floordiv(x, d) if kind == QUOTIENT else self.mod(x, d)
        f = (self.quotients if kind == QUOTIENT else self.remainders).get((x[1], x[0], d))
        if f is not None:
            a = lone(f)
            if a >= 0 and self.kind[a] == kind and self.arg[a] == x and self.divisor[a] == d:
                return f
        found = self.raws.get((kind, x, d), -1)
        if found < 0:
            found = self.raws[kind, x, d] = len(self.kind)
            lo, hi = self._span_of_division(kind, x, d)
            self._new(kind, x, d, lo, hi)
            self.normals[found] = None
        return atom(found)

    def raw_extremum(self, kind: int, parts: tuple[Form, ...]) -> Form:
        """Return the minimum or the maximum of several forms as a raw atom."""
        found = self.raw_extrema.get((kind, parts), -1)
        if found < 0:
            found = self.raw_extrema[kind, parts] = len(self.kind)
            self.joined(kind, parts)
            self.normals[found] = None
        return atom(found)

    # ---------------------------------------------------------------- minima and maxima
    def extremum(self, kind: int, forms: Iterable[Form]) -> Form:
        """Return the minimum (``kind`` is ``MINIMUM``) or the maximum of several forms."""
        least = kind == MINIMUM
        # merge nested extrema and literals first, as the constructors of expressions do
        flat: list[Form] = []
        literal: int | None = None
        stack = list(forms)
        stack.reverse()
        while stack:
            f = stack.pop()
            a = lone(f)
            if a >= 0 and self.kind[a] == kind:
                stack.extend(reversed(self.parts[a]))
            elif not f[1]:
                n = f[0]
                if literal is None or (n < literal) == least:
                    literal = n
            else:
                flat.append(f)
        if literal is not None:
            flat.append((literal, ()))
        if self.unbounded:
            for f in flat:
                self._refuse_large(f, 0)
        args = self._in_pairs(kind, flat)
        if len(args) == 1:
            return args[0]
        args.sort()
        key = (least, tuple(args))
        found = self.extrema.get(key)
        if found is not None and self.index is None:
            return found
        ranges = [self.range(f) for f in args]
        lows, highs = [r[0] for r in ranges], [r[1] for r in ranges]
        lo, hi = (min(lows), min(highs)) if least else (max(lows), max(highs))
        if found is not None:
            return self._again(lone(found), lo, hi)
        found = self.extrema[key] = self._new(kind, ZERO, 0, lo, hi)
        self.parts[lone(found)] = key[1]
        return found

    def _in_pairs(self, kind: int, forms: list[Form]) -> list[Form]:
        """Apply the rules to pairs of arguments, then to each argument and the others; return the arguments left."""
        rules = self.RULES.get(kind, {})
        args: list[Form] = []
        todo = list(reversed(forms))
        while todo:
            f = todo.pop()
            for g in args:
                made = f if f == g else self._applied(rules, g, f, MATCHED)
                if made is not None:
                    args.remove(g)
                    todo.append(made)
                    break
            else:
                args.append(f)
        # try every argument as the first, so that the result does not depend on their order
        for i in range(len(args) if len(args) > 1 else 0):
            f, others = args[i], args[:i] + args[i + 1 :]
            for p in self.propose_for_extremum(kind, [f, *others]):
                made = self._applied(rules, f, self.extremum(kind, others), p)
                if made is not None:
                    return [made]
        return args

    def _applied(self, rules: Mapping[str, Any], x: Form, y: Form, p: Proposal) -> Form | None:
        strategy, values = p
        for rule in rules.get(strategy, ()):
            f: Form | None = rule(self, x, y, *values)
            if f is not None:
                return f
        return None

    def joined(self, kind: int, args: tuple[Form, ...]) -> Form:
        """Return a new atom for the extremum of forms that no rule joins."""
        if len(args) == 1:
            return args[0]
        ranges = [self.range(f) for f in args]
        lows, highs = [r[0] for r in ranges], [r[1] for r in ranges]
        lo, hi = (min(lows), min(highs)) if kind == MINIMUM else (max(lows), max(highs))
        made = self._new(kind, ZERO, 0, lo, hi)
        self.parts[lone(made)] = args
        return made

    # ---------------------------------------------------------------- what generated code asks
    def settled(self, a: int) -> Form:
        """Return the value of an atom with only one value if a rule says so, or else the atom."""
        f = atom(a)
        found = self._known(f)
        e = self.expr[a]
        if e is not None and found is not f:
            # the expression of the atom is read as the value from now on
            self.memo[e] = found
        return found

    def _known(self, f: Form) -> Form:
        """Return the only value of a form if it has one and a rule says so, or else the form."""
        for rule in self.RULES.get(KNOWN, {}).get("single_value", ()):
            found: Form | None = rule(self, f)
            if found is not None:
                return found
        return f

    def is_multiple(self, f: Form, d: int) -> bool:
        """Return whether d is not zero and divides the form: by its coefficients, or because its remainder is zero."""
        return self.divides(d, f) or (d > 0 and self.mod(self.normal(f), d) == ZERO)

    def atoms(self, f: Form, kind: int) -> Terms:
        """Return the summands of one kind, in an order that does not depend on when their atoms were created."""
        kinds = self.kind
        found = [t for t in f[1] if kinds[t[0]] == kind]
        if len(found) > 1:
            found.sort(key=self._rank)
        return tuple(found)

    def _rank(self, t: tuple[int, int]) -> tuple[int, int, int, list[tuple[int, int, int, int]], int]:
        """Return a key that sorts small coefficients and divisors first, then long dividends."""
        a, k = t
        x = self.arg[a]
        kind, lo, hi = self.kind, self.lo, self.hi
        inside = sorted([(j, kind[b], lo[b], hi[b]) for b, j in x[1]])
        return abs(k), self.divisor[a], -len(x[1]), inside, x[0]

    def descends(self, before: Size, after: Size) -> bool:
        """Return whether a rewrite makes a form smaller in the termination order."""
        return after < before

    def coefficient(self, f: Form, a: int) -> int:
        """Return the coefficient of an atom in a sum, 0 for one that does not occur."""
        for b, k in f[1]:
            if b == a:
                return k
        return 0

    def contains(self, f: Form, x: Form, k: int, at: int) -> bool:
        """Return whether f contains ``k·x`` without its constant, beside the atom ``at``, and x is no constant."""
        if not x[1]:
            return False
        total = dict(f[1])
        for a, j in x[1]:
            if a == at or total.get(a, 0) != k * j:
                return False
        return True

    def splits(self, a: int) -> list[tuple[Form, Form]]:
        """Return each argument of an extremum, paired with the extremum of the others."""
        parts, kind = self.parts[a], self.kind[a]
        return [(x, self.joined(kind, parts[:i] + parts[i + 1 :])) for i, x in enumerate(parts)]

    def beside(self, a: int, x: Form) -> list[Form]:
        """Return the extremum of the other arguments in a list, empty if x is none of them."""
        return [y for part, y in self.splits(a) if part == x] if x in self.parts[a] else []

    def made_of(self, a: int, x: Form, y: Form) -> bool:
        """Return whether x and y are the arguments of an extremum."""
        return sorted(self.parts[a]) == sorted((x, y))

    # ---------------------------------------------------------------- proposals (untrusted)
    def propose_for_division(self, kind: int, x: Form, d: int) -> Iterable[Proposal]:
        """Propose rules for a quotient or a remainder."""
        return (MATCHED,)

    def propose_for_sum(self, f: Form, total: dict[int, int]) -> Iterable[Proposal]:
        """Propose rules for a sum of at least two summands; ``total`` holds its coefficients by atom."""
        return (MATCHED,)

    def propose_for_extremum(self, kind: int, args: list[Form]) -> Iterable[Proposal]:
        """Propose rules for the first of several arguments and the extremum of the others."""
        return ()

    # ---------------------------------------------------------------- reading
    def read(self, e: Expr) -> Form:
        """Return the normal form of ``e``."""
        found = self.memo.get(e)
        if found is not None:
            return found
        try:
            return self._read(e)
        except RecursionError:
            self.level = 0
            self.deepest = DEEPEST
            for node in postorder(e, known=self.memo):
                self._read(node)
            return self.memo[e]

    def _read(self, e: Expr) -> Form:
        t = type(e)
        memo = self.memo
        if t is Sum:
            # an assignment with a narrower type, for the translator and the type checker
            s: Sum = e  # type: ignore[assignment]
            c = s.const
            terms = s.terms
            if c:
                self.spent += 1
            bodies = self.bodies
            had = len(bodies)
            bodies.add(terms)
            if len(bodies) > had:
                self.spent += len(terms) - 1
            total: dict[int, int] = {}
            interesting = 0
            kind = self.kind
            for a, k in terms:
                f = memo.get(a)
                if f is None:
                    f = self._read(a)
                n, ts = f
                if n:
                    c += k * n
                for b, j in ts:
                    if kind[b]:
                        interesting += 1
                    if b in total:
                        j = total[b] + j * k
                        if j:
                            total[b] = j
                        else:
                            del total[b]
                    else:
                        total[b] = j * k
            if (interesting or self.sums) and len(total) > 1:
                f = self.recombine(c, total)
            else:
                f = (c, tuple(sorted(total.items())))
        elif t is FloorDiv or t is Mod:
            self.spent += 3
            q: Binary = e  # type: ignore[assignment]
            by = q.b
            f = memo.get(q.a) or self._below(q.a)
            if type(by) is Int:
                f = self.floordiv(f, by.value) if t is FloorDiv else self.mod(f, by.value)
            else:
                f = self._opaque(e)
        elif t is Var:
            box = self.bounds.get(e)
            lo, hi = (-END, END) if box is None else (finite(box[0]), finite(box[1]))
            f = self._new(VARIABLE, ZERO, 0, lo, hi)
            self.expr[-1] = e
            if lo == hi and not self.keep_points:
                f = self.settled(lone(f))
        elif t is Int:
            literal: Int = e  # type: ignore[assignment]
            f = (literal.value, ())
        elif t is Min or t is Max:
            of: Extremum = e  # type: ignore[assignment]
            kids = [memo.get(a) or self._below(a) for a in of.args]
            f = self.extremum(MINIMUM if t is Min else MAXIMUM, kids)
        elif t is CeilDiv:
            up: CeilDiv = e  # type: ignore[assignment]
            by = up.b
            made = None
            if type(by) is Int:
                made = self.ceildiv(memo.get(up.a) or self._below(up.a), by.value)
            f = made or self._opaque(e)
        else:
            f = self._opaque(e)
        memo[e] = f
        return f

    def _below(self, e: Expr) -> Form:
        """Read an operand, one level down.  Raises :class:`RecursionError` below :data:`DEEPEST` levels."""
        self.level += 1
        if self.level > self.deepest:
            if self.level > DEEPEST:
                raise RecursionError
            self.deepest = self.level
        f = self._read(e)
        self.level -= 1
        return f

    def _opaque(self, e: Expr) -> Form:
        kids = [self.write(self.memo.get(c) or self._below(c)) for c in e.children]
        new = rebuild(e, kids)
        # the divisor may have become a constant
        return self._as_written(e) if new is e else self.memo.get(new) or self._below(new)

    def _as_written(self, e: Expr) -> Form:
        """Return the opaque atom of an expression of which only the range is known."""
        if type(e) not in _RANGES:
            return self.read(e)
        inside = [Interval(*self.ends(c)) for c in e.children]
        lo, hi = _RANGES[type(e)](*inside)
        if lo > hi:
            # no divisor is possible, so that nothing follows
            lo, hi = -inf, inf
        found = self.opaque.get(e)
        if found is None:
            found = self.opaque[e] = self._new(OPAQUE, ZERO, 0, finite(lo), finite(hi))
            self.expr[-1] = e
        elif self.index is not None:
            return self._again(lone(found), finite(lo), finite(hi))
        return found

    # ---------------------------------------------------------------- what is known
    def know(self, e: Expr, lo: int | float, hi: int | float, *, more: bool = False) -> None:
        """Assume ``lo <= e <= hi`` from now on, and forget all expressions that were read but variables.

        ``more`` defers the consequences for digits to the next call.
        """
        self._narrow(self.read(e), finite(lo), finite(hi))
        if self.index is None:
            self.index = {}
            for a, t in enumerate(self.kind):
                if t == QUOTIENT or t == REMAINDER:
                    self.index.setdefault((t, self.arg[a], self.divisor[a]), a)
        kept: dict[Expr, Form] = {}
        for v, f in self.memo.items():
            if type(v) is Var:
                if f[1] and not self.keep_points:
                    a = lone(f)
                    if self.lo[a] == self.hi[a]:
                        f = self.settled(a)
                kept[v] = f
        self.memo = kept
        for a in range(self.later, len(self.kind)):
            self.narrower.append(a)
        for a in self.narrower:
            if self.kind[a] == REMAINDER and self.lo[a] == self.hi[a]:
                x, d = self.arg[a], self.divisor[a]
                self.exact[x[1], d] = (self.lo[a] - x[0]) % d
        self.narrower.clear()
        self.later = len(self.kind)
        self.sharp.clear()
        self.quotients.clear()
        self.remainders.clear()
        self.forget()
        if not more:
            self._know_digits()

    def forget_read(self) -> None:
        """Forget all expressions that were read but variables, and the deepest nesting."""
        self.memo = {v: f for v, f in self.memo.items() if type(v) is Var}
        self.deepest = 0

    def ends(self, e: Expr) -> tuple[int | float, int | float]:
        """Return bounds of the expression's values, infinite floats where it has none."""
        lo, hi = self.range(self.read(e))
        return -inf if lo < -FAR else lo, inf if hi > FAR else hi

    def forget(self) -> None:
        """Clear the caches of strategies after :meth:`know`."""
