"""Atoms: what they are made of, and the expressions that they and forms are written as."""

from __future__ import annotations

from typing import Any, Final

from ..expr import Expr, distinct_sum, floordiv, integer, maximum, minimum, mod
from .form import END, FAR, LARGE, MINIMUM, NEAR, QUOTIENT, REMAINDER, Form, atom

__all__ = ["EXCESS", "Atoms", "Excess"]

#: So many more summands than twice the cost of what was read the quotients and remainders of its normal form may have.
EXCESS: Final = 64


class Excess(Exception):
    """Raised where normal forms are much larger than the expressions that are read."""


class Atoms:
    """The atoms of one domain.  Forms refer to them by number; those in an atom are older than it is."""

    def __init__(self, record: Any = None) -> None:
        #: per atom: kind, range, and of quotients and remainders what is divided by what
        self.kind: list[int] = []
        self.lo: list[int] = []
        self.hi: list[int] = []
        self.arg: list[Form] = []
        self.divisor: list[int] = []
        #: the arguments of minima and maxima
        self.parts: dict[int, tuple[Form, ...]] = {}
        #: *raw* atoms, which are written as they stand, with their normal forms as far as they were needed
        self.normals: dict[int, Form | None] = {}
        #: how large atoms are in the order in which rules descend
        self.sizes: dict[int, tuple[int, int, int, int, int]] = {}
        #: whether some atom has no lower or no upper end
        self.unbounded = False
        #: the expressions of those that have been written, and the forms of what has been read or written
        self.expr: list[Expr | None] = []
        self.memo: dict[Expr, Form] = {}
        #: called with the name of a rule and its values in the order of ``Rule.variables``
        self.record = record
        #: no more than the cost of what was read, a division counted as three operations (:mod:`..cost`)
        self.spent = 0
        #: how many summands the atoms made since then have, and whether more than :data:`EXCESS` allows are refused
        self.volume = 0
        self.limited = False
        #: no less than the cost of what has been written, counted in the same way
        self.written = 0

    # ---------------------------------------------------------------- making
    def _new(self, kind: int, arg: Form, d: int, lo: int, hi: int) -> Form:
        if lo < -NEAR and lo < -FAR:
            lo = min(lo, -END)
            self.unbounded = True
        if hi > NEAR and hi > FAR:
            hi = max(hi, END)
            self.unbounded = True
        self.volume += len(arg[1])
        if self.limited and self.volume > EXCESS + 2 * self.spent:
            raise Excess
        a = len(self.kind)
        self.kind.append(kind)
        self.lo.append(lo)
        self.hi.append(hi)
        self.arg.append(arg)
        self.divisor.append(d)
        self.expr.append(None)
        return atom(a)

    def _refuse_large(self, x: Form, d: int) -> None:
        """Raise :class:`OverflowError` for numbers that reach the ends of what is unbounded."""
        if d > LARGE or d < -LARGE or abs(x[0]) > LARGE or any([abs(k) > LARGE for _, k in x[1]]):
            raise OverflowError("numbers of more than 300 digits with unbounded variables")

    # ---------------------------------------------------------------- writing
    def write(self, f: Form) -> Expr:
        """The expression of a form."""
        c, terms = f
        if not terms:
            return integer(c)
        expr = self.expr
        parts: list[tuple[Expr, int]] = []
        spent = len(terms) if c or terms[0][1] < 0 else len(terms) - 1
        for a, k in terms:
            e = expr[a]
            if k != 1:
                if k != -1:
                    spent += 1
            elif not c and len(terms) == 1:
                return self._write(a) if e is None else e
            parts.append((self._write(a) if e is None else e, k))
        self.written += spent
        return distinct_sum(c, parts)

    def _write(self, a: int) -> Expr:
        """The expression of an atom; those in it are older than it is, which makes recursion needless."""
        expr = self.expr
        needed = {a}
        todo = [a]
        while todo:
            for f in self._inside(todo.pop()):
                for t in f[1]:
                    b = t[0]
                    if expr[b] is None and b not in needed:
                        needed.add(b)
                        todo.append(b)
        for b in sorted(needed) if len(needed) > 1 else [a]:
            of = self.kind[b]
            inside = [self.write(f) for f in self._inside(b)]
            self.written += 2 + len(inside)
            if of == QUOTIENT:
                e = floordiv(inside[0], self.divisor[b])
            elif of == REMAINDER:
                e = mod(inside[0], self.divisor[b])
            else:
                e = minimum(*inside) if of == MINIMUM else maximum(*inside)
            expr[b] = e
            if b not in self.normals:
                # what is in normal form is read as it was written
                self.memo.setdefault(e, (0, ((b, 1),)))
        made = expr[a]
        assert made is not None
        return made

    def _inside(self, a: int) -> tuple[Form, ...]:
        """The forms that a quotient, a remainder, a minimum or a maximum is made of."""
        of = self.kind[a]
        return (self.arg[a],) if of == QUOTIENT or of == REMAINDER else self.parts[a]
