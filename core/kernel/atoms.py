"""The table of atoms, and writing atoms and forms as expressions."""

from __future__ import annotations

from typing import Any, Final

from ..expr import Expr, distinct_sum, floordiv, integer, maximum, minimum, mod
from .form import END, FAR, LARGE, MINIMUM, NEAR, QUOTIENT, REMAINDER, Form, atom

__all__ = ["EXCESS", "Atoms", "Excess"]

#: The dividends of a normal form may have this many summands more than twice the cost of the expressions read.
EXCESS: Final = 64


class Excess(Exception):
    """Raised when normal forms become much larger than the expressions that are read."""


class Atoms:
    """The atoms of one domain, numbered in the order of creation.  The operands of an atom have smaller numbers."""

    def __init__(self, record: Any = None) -> None:
        #: by atom: its kind and range, and the dividend and divisor of quotients and remainders
        self.kind: list[int] = []
        self.lo: list[int] = []
        self.hi: list[int] = []
        self.arg: list[Form] = []
        self.divisor: list[int] = []
        #: the arguments of minima and maxima
        self.parts: dict[int, tuple[Form, ...]] = {}
        #: *raw* atoms, which keep the operands they were given, with their normal forms once computed
        self.normals: dict[int, Form | None] = {}
        #: the sizes of atoms in the termination order
        self.sizes: dict[int, tuple[int, int, int, int, int]] = {}
        #: whether some atom has no lower or no upper bound
        self.unbounded = False
        #: by atom, its expression once written; by expression read or written, its form
        self.expr: list[Expr | None] = []
        self.memo: dict[Expr, Form] = {}
        #: called for each application with the rule's name and its values in the order of ``Rule.variables``
        self.record = record
        #: a lower bound of the cost of the expressions read; a division counts three operations (:mod:`..cost`)
        self.spent = 0
        #: the summands in atoms created since then, and whether to raise :class:`Excess` when they are too many
        self.volume = 0
        self.limited = False
        #: an upper bound of the cost of the expressions written
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
        """Raise :class:`OverflowError` for numbers so large that they reach the ends that represent infinity."""
        if d > LARGE or d < -LARGE or abs(x[0]) > LARGE or any([abs(k) > LARGE for _, k in x[1]]):
            raise OverflowError("numbers of more than 300 digits with unbounded variables")

    # ---------------------------------------------------------------- writing
    def write(self, f: Form) -> Expr:
        """Return the expression of a form."""
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
        """Return the expression of an atom.  Operands have smaller numbers and are written first, without recursion."""
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
                # an expression written from a normal form is read as that form
                self.memo.setdefault(e, (0, ((b, 1),)))
        made = expr[a]
        assert made is not None
        return made

    def _inside(self, a: int) -> tuple[Form, ...]:
        """Return the operands of a quotient, a remainder, a minimum or a maximum."""
        of = self.kind[a]
        return (self.arg[a],) if of == QUOTIENT or of == REMAINDER else self.parts[a]
