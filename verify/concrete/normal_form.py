"""Normal form of quasi-affine expressions on a box: proves most true claims in about a millisecond, refutes none.

Every expression becomes a linear form ``constant + Σ coefficient·atom``.  ``x mod c`` is ``x - c·(x // c)``, and
quotients are rewritten by laws that hold for all integers:

* multiples of the divisor leave the quotient:       ``(c·x + r) // c = x + r // c``
* a remainder below the step cannot carry:           ``(g·x + r) // (g·c) = x // c``  for ``0 <= r < g``
* nested quotients are flattened:                    ``(x // a + y) // b = (x + a·y) // (a·b)``
* a variable in a dividend is split in two digits:   ``x = r·high + low``, ``0 <= low < r``

A quotient that no law resolves is an opaque atom with bounds.  Splitting into digits loses an upper bound of
``r·high + low`` that is no multiple of ``r``; claims that need it are left to other engines.
"""

from __future__ import annotations

import math
from typing import TypeAlias

from ...core.expr import Expr, Var, interpret
from ...core.interval import Interval, is_infinite
from .forms import Form, LinearAlgebra, NotQuasiAffine, add, add_term, constant, plus, scaled
from .problem import HOLDS, Box, Fact, Outcome, Problem, dividends, preimage

NAME = "normal form"

_Known: TypeAlias = "dict[frozenset[tuple[int, int]], Interval]"

MAX_SPLITS = 200
_MAX_ROUNDS = 8


class Empty(Exception):
    """The facts contradict each other."""


class NormalForm(LinearAlgebra):
    """An algebra of linear forms that resolves quotients as far as laws and bounds allow."""

    def __init__(self, box: Box, max_splits: int) -> None:
        super().__init__()
        self.splits_left = max_splits
        #: The forms of atoms that were split or became constant.
        self.parts: dict[int, Form] = {}
        self.named: dict[object, int] = {}  # content -> opaque atom
        #: Number of splits and narrowings; forms made at an earlier version may be stale.
        self.version = 0
        for v, (lo, hi) in box:
            self.variables[v] = self._fresh(lo, hi)

    def _fresh(self, lo: int | float, hi: int | float) -> Form:
        """Return the form of a fresh variable; its atom starts at zero if the variable has a finite bound, as digits do."""
        if lo > hi:
            raise Empty
        if lo == hi:
            return constant(int(lo))
        if not is_infinite(lo):
            return plus({self.new_atom(*Interval(lo, hi).shift(-int(lo))): 1}, constant(int(lo)), 1)
        if not is_infinite(hi):
            return plus({self.new_atom(0, math.inf): -1}, constant(int(hi)), 1)
        return {self.new_atom(lo, hi): 1}

    def _opaque(self, content: object, lo: int | float, hi: int | float) -> int:
        atom = self.named.get(content)
        if atom is None:
            atom = self.named[content] = self.new_atom(lo, hi)
        return atom

    def expand(self, f: Form) -> Form:
        """Replace split atoms in ``f`` by their parts."""
        parts = self.parts
        while parts and not parts.keys().isdisjoint(f):
            out: Form = {}
            for m, k in f.items():
                if m in parts:
                    add(out, parts[m], k)
                else:
                    add_term(out, m, k)
            f = out
        return f

    # -- the algebra
    def variable(self, v: Var) -> Form:
        return self.expand(self.variables[v])

    def sum(self, const: int, terms: list[tuple[Form, int]]) -> Form:
        return super().sum(const, [(self.expand(f), k) for f, k in terms])

    def minimum(self, args: list[Form]) -> Form:
        forms = self.least(map(self.expand, args))
        if len(forms) == 1:
            return forms[0]
        # move a common constant outside, so that min(x + 1, y + 1) and min(x, y) + 1 are the same form
        shift = min(f.get(0, 0) for f in forms)
        forms = [plus(f, {0: 1}, -shift) for f in forms]
        ranges = [self.bounds(f) for f in forms]
        content = ("min", frozenset(frozenset(f.items()) for f in forms))
        atom = self._opaque(content, min(r.lo for r in ranges), min(r.hi for r in ranges))
        self.minima.setdefault(atom, forms)
        return plus({atom: 1}, {0: 1}, shift)

    # -- quotients
    def quotient(self, a: Form, c: int) -> Form:
        """Return the form of ``a // c`` for ``c > 0``."""
        out: Form = {}
        while True:
            rest: Form = {}
            for m, k in self.expand(a).items():
                q, r = divmod(k, c) if m == 0 or k % c == 0 else (0, k)
                if q:
                    add_term(out, m, q)
                if r:
                    rest[m] = r
            lo, hi = self.bounds(rest)
            if not (is_infinite(lo) or is_infinite(hi)) and lo // c == hi // c:
                add_term(out, 0, int(lo // c))
                return out
            coarse = self._coarser(rest, c)
            if coarse is not None:
                a, c = coarse
                continue
            inner = [m for m in rest if m in self.quotients and rest[m] == 1]
            if len(inner) == 1:
                x, d = self.quotients[inner[0]]
                del rest[inner[0]]
                a, c = plus(self.expand(x), rest, d), c * d
                continue
            if self._split(rest, c):
                a = rest
                continue
            low, high = (x if is_infinite(x) else x // c for x in (lo, hi))
            atom = self._opaque((frozenset(rest.items()), c), low, high)
            self.quotients.setdefault(atom, (rest, c))
            add_term(out, atom, 1)
            return out

    def _coarser(self, rest: Form, c: int) -> tuple[Form, int] | None:
        """Divide by a common divisor of ``c`` and the larger terms if the rest cannot carry; else return ``None``."""
        steps = {math.gcd(k, c) for m, k in rest.items() if m}
        for g in sorted(steps, reverse=True):
            if g == 1:
                continue
            coarse = {m: k // g for m, k in rest.items() if m and k % g == 0}
            q, r = divmod(rest.get(0, 0), g)
            fine = {m: k for m, k in rest.items() if m and k % g}
            add_term(fine, 0, r)
            lo, hi = self.bounds(fine)
            if is_infinite(lo) or is_infinite(hi) or lo // g != hi // g:
                continue
            add_term(coarse, 0, int(q + lo // g))
            return coarse, c // g
        return None

    def _split(self, rest: Form, c: int) -> bool:
        """Split the widest variable of a dividend into a high and a low digit; return whether one was split."""
        if not self.splits_left:
            return False
        best: tuple[bool, int | float, int, int] | None = None
        for m, k in rest.items():
            if m == 0 or m in self.quotients or m in self.minima:
                continue
            r = c // math.gcd(k, c)
            width = Interval(self.lo[m], self.hi[m]).size
            if 1 < r < width:
                # prefer strides that divide the divisor: they give digits, others only a refinement
                candidate = (c % k == 0, width if is_infinite(width) else width * abs(k), -m, r)
                if best is None or candidate > best:
                    best = candidate
        if best is None:
            return False
        m, r = -best[2], best[3]
        low, high = self.lo[m], self.hi[m]
        top = self._fresh(*[x if is_infinite(x) else x // r for x in (low, high)])
        self.parts[m] = plus({self.new_atom(0, r - 1): 1}, top, r)
        self.splits_left -= 1
        self.version += 1
        return True

    # -- facts
    def learn(self, f: Form, within: Interval) -> None:
        """Narrow the atoms of ``f``, given that it lies in ``within``.  Raises :class:`Empty` on a contradiction."""
        todo = [(f, within)]
        while todo:
            f, within = todo.pop()
            f = self.expand(f)
            total = self.bounds(f)
            if (total & within).empty:
                raise Empty
            if total.inside(within):
                continue
            for m, k in f.items():
                if m == 0:
                    continue
                # k·m lies in within minus the range of the other terms
                rest = self.bounds({j: i for j, i in f.items() if j != m})
                lo, hi = preimage(within.plus(rest.scale(-1)), k, 0)
                lo, hi = max(lo, self.lo[m]), min(hi, self.hi[m])
                if lo > hi:
                    raise Empty
                if (lo, hi) == (self.lo[m], self.hi[m]):
                    continue
                self.lo[m], self.hi[m] = lo, hi
                self.version += 1
                if lo == hi:
                    self.parts[m] = constant(int(lo))
                if m in self.quotients:
                    x, c = self.quotients[m]
                    todo.append((x, dividends(Interval(lo, hi), c)))


def _direction(f: Form) -> tuple[frozenset[tuple[int, int]], int]:
    """Return ``f`` without its constant, as a key, and the constant."""
    return frozenset((m, k) for m, k in f.items() if m), f.get(0, 0)


def _implied(nf: NormalForm, f: Form, within: Interval, known: _Known) -> bool:
    found = nf.bounds(f)
    if found.inside(within):
        return True
    if not known:
        return False
    for form, sign in ((f, 1), (scaled(f, -1), -1)):
        key, const = _direction(form)
        if key in known:
            found &= known[key].shift(const).scale(sign)
    return found.inside(within)


def _settled(nf: NormalForm, exprs: list[Expr], where: tuple[Fact, ...]) -> list[Form]:
    """Compute the forms of ``exprs`` until a fixpoint, learning the facts ``where`` about the first of them.

    A form computed before an atom was split or narrowed may contain stale quotients: it is correct but not normal.
    """
    forms: list[Form] = []
    for _ in range(_MAX_ROUNDS):
        version = nf.version
        forms = [nf.expand(f) for f in interpret(exprs, nf)]
        for fact, form in zip(where, forms, strict=False):
            nf.learn(form, fact.within)
        if nf.version == version:
            break
    return [nf.expand(f) for f in forms]


def _proves(problem: Problem, alternatives: list[tuple[Fact, ...]], max_splits: int, use_facts: bool) -> bool:
    """Return whether the box (and the facts) imply one alternative, or the facts contradict each other."""
    where = problem.where if use_facts else ()
    exprs = [f.expr for f in where] + [f.expr for facts in alternatives for f in facts]
    try:
        nf = NormalForm(problem.variables, max_splits)
        forms = _settled(nf, exprs, where)
    except Empty:
        return True
    known: _Known = {}
    for fact, form in zip(where, forms, strict=False):
        key, const = _direction(form)
        here = fact.within.shift(-const)
        known[key] = known[key] & here if key in known else here
    rest = iter(forms[len(where) :])
    for facts in alternatives:
        pairs = [(next(rest), f.within) for f in facts]
        if all(_implied(nf, form, within, known) for form, within in pairs):
            return True
    return False


def decide(problem: Problem) -> Outcome:
    """Return ``holds`` if the normal form proves it, otherwise ``open``."""
    alternatives = [o.facts for option in problem.options for o in option.guessed()]
    if any(not facts for facts in alternatives):
        return HOLDS
    try:
        # without digits first: telescoping sums need none, and splitting can lose a bound
        for splits in (0, MAX_SPLITS):
            if alternatives and _proves(problem, alternatives, splits, use_facts=False):
                return HOLDS
        if (problem.where or not alternatives) and _proves(problem, alternatives, MAX_SPLITS, use_facts=True):
            return HOLDS
    except NotQuasiAffine:
        return Outcome("open", note="not quasi-affine")
    return Outcome("open", note="forms differ")
