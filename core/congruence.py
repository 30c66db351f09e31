"""Equality of expressions under equations: congruence closure modulo linear arithmetic and the laws of extrema.

Each equation is solved for the largest of its quotients, remainders, extrema and variables.  The solution then replaces
that term everywhere, also inside other expressions.  Where the term has a coefficient ``n > 1``, its multiples of ``n``
are replaced.  Two expressions are equal where their canonical forms agree (Shostak's method, completed for the
arguments of extrema).  The procedure is sound for all equations but not complete.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from .errors import IndexproofError
from .expr import Expr, Extremum, Int, Sum, linear, postorder, rebuild

#: Limit on the steps to canonical forms of one congruence; equations with too many consequences end with an error.
_FOLLOWED = 1_000_000

#: A canonical expression and a bit mask of the equations that it follows from.
_Found = tuple[Expr, int]


class Unfinished(IndexproofError):
    """The equations have too many consequences to compute all of them."""


class Congruence:
    """The congruence closure of a set of equations.  Queries raise :class:`Unfinished` beyond the limit on steps."""

    def __init__(self, equations: Iterable[tuple[Expr, Expr]] = ()) -> None:
        #: both sides, and a bit mask of the given equations that they follow from
        self._equations: list[tuple[Expr, Expr, int]] = []
        self._given = 0
        self._closed = True
        self._solved: dict[Expr, _Found] = {}
        #: for a term t: n > 1, an expression equal to n·t, and its reasons
        self._multiples: dict[Expr, tuple[int, Expr, int]] = {}
        #: memo of canonical forms, and for expressions without one the next rewrite towards it
        self._canonical: dict[Expr, _Found] = {}
        self._next: dict[Expr, _Found] = {}
        #: the expressions whose canonical forms depend on that of the key
        self._above: dict[Expr, list[Expr]] = {}
        self._sizes: dict[Expr, int] = {}
        #: the solved extrema, and the pairs of them that were completed
        self._extrema: list[Extremum] = []
        self._completed: set[tuple[Expr, Expr, Expr, Expr]] = set()
        self._followed = 0
        for left, right in equations:
            self.add(left, right)

    def add(self, left: Expr, right: Expr) -> None:
        """Assume that ``left`` equals ``right``."""
        self._equations.append((left, right, 1 << self._given))
        self._given += 1
        self._closed = False

    def equal(self, a: Expr, b: Expr) -> bool:
        """Return whether the equations imply that both are equal; ``False`` means that no proof was found."""
        return a is b or self.reasons(a, b) is not None

    def reasons(self, a: Expr, b: Expr) -> list[int] | None:
        """Return the numbers of equations that imply that both are equal, or ``None`` where no proof was found."""
        self._close()
        left, because = self._form(a)
        right, why = self._form(b)
        because |= why
        return [n for n in range(self._given) if because >> n & 1] if left is right else None

    # ---------------------------------------------------------------- solving
    def _close(self) -> None:
        while not self._closed:
            self._closed = True
            for left, right, because in self._equations:
                self._solve(left, right, because)
            self._complete()

    def _solve(self, left: Expr, right: Expr, because: int) -> None:
        a, why = self._form(left)
        b, whence = self._form(right)
        gap = a - b
        if isinstance(gap, Int):
            return
        terms = gap.terms if isinstance(gap, Sum) else ((gap, 1),)
        common = math.gcd(*(k for _, k in terms))
        if common > 1 and isinstance(gap, Sum) and gap.const % common == 0:
            terms = tuple((t, k // common) for t, k in terms)
            gap = linear(gap.const // common, terms)
        # occurs check: a term must not be replaced by an expression that contains it
        free = [(t, k) for t, k in terms if not any(t in postorder(*u.children) for u, _ in terms)]
        if not free:
            return
        t, k = max(free, key=lambda u: (u[1] in (1, -1), self._size(u[0]), u[0].key))
        found: _Found = (t * k - gap) * (1 if k > 0 else -1), because | why | whence
        if abs(k) > 1:
            if t in self._multiples and abs(k) >= self._multiples[t][0]:
                return
            self._multiples[t] = abs(k), *found
        else:
            if isinstance(t, Extremum) and t not in self._solved:
                self._extrema.append(t)
            self._solved[t] = found
        self._forget(t)
        self._closed = False

    def _complete(self) -> None:
        """Equate the two values that overlapping solved extrema give to the extremum of all their arguments."""
        with_argument: dict[Expr, list[Extremum]] = {}
        for e in self._extrema:
            for f in dict.fromkeys(f for a in e.args for f in with_argument.get(a, ()) if type(f) is type(e)):
                (to, because), (other, why) = self._solved[e], self._solved[f]
                if (e, to, f, other) not in self._completed:
                    self._completed.add((e, to, f, other))
                    one = rebuild(e, (to, *(a for a in f.args if a not in e.args)))
                    two = rebuild(e, (other, *(a for a in e.args if a not in f.args)))
                    self._equations.append((one, two, because | why))
                    self._closed = False
            for a in e.args:
                with_argument.setdefault(a, []).append(e)

    def _size(self, e: Expr) -> int:
        for node in postorder(e, known=self._sizes):
            self._sizes[node] = 1 + sum(self._sizes[c] for c in node.children)
        return self._sizes[e]

    # ---------------------------------------------------------------- canonical forms
    def _form(self, e: Expr) -> _Found:
        canonical, following = self._canonical, self._next
        stack = [e]
        open_: set[Expr] = set()
        while stack:
            at = stack[-1]
            if at in canonical:
                stack.pop()
                continue
            open_.add(at)
            if at in following:
                waiting = [following[at][0]]
            else:
                waiting = [c for c in at.children if c not in canonical]
                if not waiting:
                    found = self._step(at)
                    if found is None:
                        self._settle(at, at, 0)
                        continue
                    following[at] = found
                    self._depends(at, (*at.children, found[0]))
                    waiting = [found[0]]
            if at in following and waiting[0] in canonical:
                last, because = canonical[waiting[0]]
                self._settle(at, last, following[at][1] | because)
            elif open_.isdisjoint(waiting):
                self._followed += 1
                if self._followed > _FOLLOWED:
                    raise Unfinished("the equations have too many consequences")
                stack += waiting
            else:
                # forms on a cycle are equal: the smallest one that an equation replaces becomes the canonical form
                first = min(stack.index(w) for w in waiting if w in open_)
                circle = [f for f in stack[first:] if f in following and self._has_canonical_children(f)]
                least = min(circle, key=lambda f: (self._size(f), f.key), default=at)
                self._settle(least, least, 0)
        return canonical[e]

    def _settle(self, e: Expr, form: Expr, because: int) -> None:
        self._canonical[e] = form, because
        if form is e:
            self._depends(e, e.children)

    def _has_canonical_children(self, e: Expr) -> bool:
        return all(c in self._canonical and self._canonical[c][0] is c for c in e.children)

    def _step(self, e: Expr) -> _Found | None:
        """Return the next rewrite of ``e``, whose children have canonical forms; ``None`` where ``e`` is canonical."""
        forms = [self._canonical[c] for c in e.children]
        if any(form is not c for (form, _), c in zip(forms, e.children, strict=True)):
            because = 0
            for _, why in forms:
                because |= why
            return rebuild(e, [form for form, _ in forms]), because
        if isinstance(e, Sum):
            for t, k in e.terms:
                n, to, why = self._multiples.get(t, (0, t, 0))
                if n and k // n:
                    # reduce the coefficient modulo n
                    return e - t * (k // n * n) + to * (k // n), why
            return None
        found = self._solved.get(e)
        if found is not None or not isinstance(e, Extremum):
            return found
        args = set(e.args)
        for part in self._extrema:
            if type(part) is type(e) and args.issuperset(part.args):
                to, why = self._solved[part]
                return rebuild(e, (to, *(a for a in e.args if a not in part.args))), why
        return None

    def _depends(self, e: Expr, on: Iterable[Expr]) -> None:
        for f in on:
            self._above.setdefault(f, []).append(e)

    def _forget(self, e: Expr) -> None:
        """Drop the memoised forms of all expressions that depend on ``e``, which has a new replacement."""
        stack = [e]
        if isinstance(e, Extremum):
            args = set(e.args)
            stack += [f for f in self._canonical if type(f) is type(e) and args <= set(f.children)]
        while stack:
            at = stack.pop()
            self._next.pop(at, None)
            self._canonical.pop(at, None)
            stack += self._above.pop(at, ())
