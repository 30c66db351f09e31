"""The engine: one bottom-up pass over linear forms, with ranges.

Expressions are read into forms (:mod:`.forms`), and every form that leaves :meth:`Engine.add`, :meth:`Engine.floordiv`
and :meth:`Engine.mod` is in normal form.

The engine *finds*: it looks for a rule whose left side the form at hand is, and for the values of the rule's variables.
The rules *act*: what happens then is a method compiled from the declaration (:mod:`.compiler`), which evaluates the
rule's right side with :meth:`add`, :meth:`scale`, :meth:`floordiv` and :meth:`mod`, so that nothing is visited twice.
Conditions on ranges are what the engine has just computed; a recorded run is checked against the declarations by
:mod:`indexproof.verify.derivation`.
"""

from __future__ import annotations

from math import inf
from typing import Any, Final

from .actions import Form
from .expr import Binary, CeilDiv, Expr, Extremum, FloorDiv, Int, Max, Min, Mod, Sum, Var, postorder, rebuild
from .forms.extrema import Extrema
from .forms.form import END, FAR, OPAQUE, QUOTIENT, REMAINDER, VARIABLE, ZERO, finite

__all__ = ["Engine"]

#: Expressions nested deeper than this are read without recursion, and written as they are.
DEEPEST: Final = 200


class Engine(Extrema):
    """Forms over one domain.

    ``bounds`` maps variables to pairs of ends, integers or infinite floats.  Raises :class:`OverflowError` where a variable
    is unbounded and a number larger than any program's meets it.  A variable with a single value is replaced
    by it unless ``keep_points``.  A subclass supplies the actions.
    """

    def __init__(self, bounds: dict[Any, Any], *, keep_points: bool = False, record: Any = None) -> None:
        super().__init__(record)
        self.bounds = bounds
        self.keep_points = keep_points
        self.opaque: dict[Expr, Form] = {}
        #: the sums that have been read
        self.bodies: set[Any] = set()
        #: whether what is recorded is a spelling of finished normal forms
        self.spelling = False
        #: how many divisions and extrema the expression at hand is inside of, and how many any has been
        self.level = 0
        self.deepest = 0

    # ---------------------------------------------------------------- reading
    def read(self, e: Expr) -> Form:
        """The normal form of ``e``."""
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
            # the class is known: compiled, an assignment checks it and what follows is native
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
            if interesting and len(total) > 1:
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
            if lo == hi and not self.keep_points:
                memo[e] = f = self._pinned(e, lo)
                return f
            f = self._new(VARIABLE, ZERO, 0, lo, hi)
            self.expr[-1] = e
        elif t is Int:
            literal: Int = e  # type: ignore[assignment]
            f = (literal.value, ())
        elif t is Min or t is Max:
            of: Extremum = e  # type: ignore[assignment]
            f = self.extremum(t is Min, [memo.get(a) or self._below(a) for a in of.args])
        elif t is CeilDiv:
            up: CeilDiv = e  # type: ignore[assignment]
            by = up.b
            if type(by) is Int:
                f = memo.get(up.a) or self._below(up.a)
                d = by.value
                f = self.ceiling_of_positive(d, f) if d > 0 else self.ceiling_of_negative(d, f)
            else:
                f = self._opaque(e)
        else:
            f = self._opaque(e)
        memo[e] = f
        return f

    def _below(self, e: Expr) -> Form:
        """:meth:`_read` one level down.  Raises :class:`RecursionError` where that would be too deep."""
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
        if type(new) is Int:
            return new.value, ()
        found = self.opaque.get(new)
        if found is None:
            found = self.opaque[new] = self._new(OPAQUE, ZERO, 0, -END, END)
            self.expr[-1] = new
        elif self.index is not None:
            return self._again(found[1][0][0], -END, END)
        return found

    # ---------------------------------------------------------------- what is known
    def know(self, e: Expr, lo: int | float, hi: int | float, *, more: bool = False) -> None:
        """From now on ``lo <= e <= hi``.  Call it before :meth:`read`; what was read before is forgotten.

        ``more`` says that it is called again at once, and what follows for digits can wait.
        """
        self._narrow(self.read(e), finite(lo), finite(hi))
        self.index = {}
        for a, t in enumerate(self.kind):
            if t == QUOTIENT or t == REMAINDER:
                self.index.setdefault((t, self.arg[a], self.divisor[a]), a)
        kept: dict[Expr, Form] = {}
        for v, f in self.memo.items():
            if type(v) is Var:
                if f[1] and not self.keep_points:
                    a = f[1][0][0]
                    if self.lo[a] == self.hi[a]:
                        f = self._pinned(v, self.lo[a])
                kept[v] = f
        self.memo = kept
        for a, t in enumerate(self.kind):
            if t == REMAINDER and self.lo[a] == self.hi[a]:
                x, d = self.arg[a], self.divisor[a]
                self.exact[x[1], d] = (self.lo[a] - x[0]) % d
        self.sharp.clear()
        self.quotients.clear()
        self.remainders.clear()
        self.above.clear()
        self.apart.clear()
        if not more:
            self._know_digits()

    def ends(self, e: Expr) -> tuple[int | float, int | float]:
        """Bounds of every value the expression takes, infinite where there are none."""
        lo, hi = self.range(self.read(e))
        return -inf if lo < -FAR else lo, inf if hi > FAR else hi
