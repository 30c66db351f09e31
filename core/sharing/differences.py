"""Remainders as differences: ``x % d`` is ``x - d·(x // d)``, which saves a division where the quotient is there anyway."""

from __future__ import annotations

from typing import Any, TypeAlias

from ..engine import Engine
from ..kernel.form import MAXIMUM, MINIMUM, QUOTIENT, REMAINDER, Form, Terms
from .digit_with_rest import saved_by_taking_in
from .order import Order
from .sums import Products, count, difference, gained

__all__ = ["Change", "Differences"]

#: A rule and its values in the order of ``Rule.variables``; with an empty name, the kind of an atom, a dividend and a
#: divisor, which come to their normal form by the rules of the others.
Change: TypeAlias = tuple[str, tuple[Any, ...]]


class Differences:
    """Writes those remainders of forms as differences that cost less so; one that stands inside another atom stays.

    ``weight`` is what a division costs.  ``keep_digits`` leaves remainders alone that might take in what they stand with.
    """

    # of one pass: the forms, and those with candidates as they become,
    forms: list[Form]
    sums: dict[int, dict[int, int]]
    constants: dict[int, int]
    # the forms that remainders stand in, the products and the atoms that are needed,
    uses: dict[int, list[int]]
    products: Products
    seen: set[int]
    # and the remainders that have become differences, and those of them that have come back since
    gone: set[int]
    returned: set[int]

    def __init__(self, engine: Engine, weight: int, order: Order, keep_digits: bool = False) -> None:
        self.engine = engine
        self.weight = weight
        self.order = order
        self.keep_digits = keep_digits
        #: whether there has been a remainder that might take in what it stands with
        self.torn = False
        #: whether there are quotients among the summands, as far as this has made them
        self.quotients = False
        #: whether a remainder has left a sum with remainders that were inside it, which may be differences now
        self.deeper = False
        #: how the last pass has changed the forms
        self.changes: list[Change] = []

    def written(self, forms: list[Form]) -> list[Form]:
        """The forms with remainders as differences; :attr:`changes` say which."""
        self.deeper = False
        self.changes = []
        candidates = self._candidates(forms)
        if not candidates:
            return forms
        engine, uses, seen = self.engine, self.uses, self.seen
        arg, divisor = engine.arg, engine.divisor
        if len(candidates) > 1:
            # large divisors first: their quotients are what smaller remainders may be differences of
            self.order.sort(candidates)
        self.forms = forms
        self.gone = set()
        self.returned = set()
        self.sums = sums = {}
        self.constants = constants = {}
        for a in candidates:
            for i in uses[a]:
                if i not in sums:
                    f = forms[i]
                    constants[i] = f[0]
                    sums[i] = dict(f[1])
        changed: set[int] = set()
        known: dict[int, tuple[Form, list[tuple[int, int]]]] = {}
        again = True
        while again and candidates:
            again = False
            left: list[int] = []
            for n, a in enumerate(candidates):
                if not uses[a]:
                    # it has left the sums that it stood in; it may come back
                    left.append(a)
                    continue
                x = arg[a]
                d = divisor[a]
                if a in known:
                    q, summands = known[a]
                else:
                    q = engine.quotient_above(a)
                    summands = difference(x, q, d)
                    known[a] = q, summands
                new = [t[0] for t in q[1] if t[0] not in seen]
                if (new and not self._ready(new)) or not self._pays(a, q, new, summands):
                    left.append(a)
                    continue
                if self.gone:
                    # what has become a difference elsewhere may come back with this one, once
                    back = [b for b, _ in summands if b in self.gone and b not in self.returned]
                    self.returned.update(back)
                    left += back
                # what is counted decides about the candidates that are left
                again = bool(left) or n + 1 < len(candidates)
                changed.update(uses[a])
                self._replace(a, x[0] - d * q[0], new, summands, again)
                self.changes.append(("remainder_is_difference", (d, q, x)))
            candidates = left
        if not changed:
            return forms
        self.quotients = True
        out = list(forms)
        for i in changed:
            out[i] = constants[i], tuple(sorted(sums[i].items()))
        return out

    def _candidates(self, forms: list[Form]) -> list[int]:
        """The remainders in the forms that stand in no other atom; counts what there is."""
        kind = self.engine.kind
        uses: dict[int, list[int]] = {}
        products: Products = {}
        seen: set[int] = set()
        inside: list[Terms] = []
        for i, f in enumerate(forms):
            for t in f[1]:
                a, k = t
                if k < 0:
                    t = a, -k
                if k != 1 and k != -1:
                    products[t] = products.get(t, 0) + 1
                of = kind[a]
                if of == REMAINDER:
                    if a in uses:
                        uses[a].append(i)
                    else:
                        uses[a] = [i]
                if a not in seen:
                    seen.add(a)
                    if of:
                        self._add_inside(a, inside)
        if not uses:
            return []
        nested: set[int] = set()
        while inside:
            for t in inside.pop():
                a, k = t
                if k < 0:
                    t = a, -k
                if k != 1 and k != -1:
                    products[t] = products.get(t, 0) + 1
                if a in uses:
                    nested.add(a)
                if a not in seen:
                    seen.add(a)
                    if kind[a]:
                        self._add_inside(a, inside)
        self.uses, self.products, self.seen = uses, products, seen
        return [a for a in uses if a not in nested] if nested else list(uses)

    def _add_inside(self, a: int, found: list[Terms]) -> None:
        """The sums that an atom is made of, without their constants, and none for a variable."""
        of = self.engine.kind[a]
        if of == QUOTIENT or of == REMAINDER:
            found.append(self.engine.arg[a][1])
        elif of == MINIMUM or of == MAXIMUM:
            found += [f[1] for f in self.engine.parts[a]]

    def _ready(self, new: list[int]) -> bool:
        """Whether of the atoms that would be new only one is, a quotient of what is there."""
        a = new[0]
        if len(new) > 1 or self.engine.kind[a] != QUOTIENT:
            return False
        seen = self.seen
        for b, _ in self.engine.arg[a][1]:
            if b not in seen:
                return False
        return True

    def _pays(self, a: int, q: Form, new: list[int], summands: list[tuple[int, int]]) -> bool:
        """Whether ``a`` is written as a difference, where q is its quotient and ``new`` what is not there yet of that."""
        x = self.engine.arg[a]
        sums, constants, products = self.sums, self.constants, self.products
        c = x[0] - self.engine.divisor[a] * q[0]
        at = self.uses[a]
        divisions = len(new) - 1
        operations = divisions
        for i in at:
            operations += gained(sums[i], constants[i], a, c, summands, products)
            if c and not constants[i] and self._joins_dividend(sums[i], a, c, summands):
                operations -= 1
        change = operations + (self.weight - 1) * divisions
        if not change and divisions < 0 and self.weight == 1:
            # as many operations, but fewer of the dear ones
            change = -1
        if change >= 0 and (change >= len(x[1]) - (not x[0]) or self._needed_otherwise(x, a, q)):
            return False
        if not new and len(at) == 1:
            i = at[0]
            saved = saved_by_taking_in(self.engine, constants[i], sums[i], a, products)
            if change + saved >= 0 and x not in self.forms:
                self.torn = True
                return not self.keep_digits
        return True

    def _joins_dividend(self, total: dict[int, int], a: int, c: int, summands: list[tuple[int, int]]) -> bool:
        """Whether the constant that a difference brings can stand in a dividend that has one anyway.

        ``a`` is the remainder that becomes the difference, whose constant is c.
        """
        kind, arg = self.engine.kind, self.engine.arg
        w = total[a]
        for b, j in summands:
            if kind[b] == QUOTIENT and arg[b][0]:
                k = total.get(b, 0) + w * j
                if k and not w * c % k:
                    return True
        return False

    def _needed_otherwise(self, x: Form, a: int, q: Form) -> bool:
        """Whether x is there also where ``a``, a remainder of it, is written with its quotient q."""
        kind, arg, gone = self.engine.kind, self.engine.arg, self.gone
        for b in self.seen:
            if (kind[b] == QUOTIENT or kind[b] == REMAINDER) and b != a and arg[b] == x and b not in gone:
                return True
        for b, _ in q[1]:
            if (kind[b] == QUOTIENT or kind[b] == REMAINDER) and b != a and arg[b] == x:
                return True
        return x in self.forms

    def _replace(
        self, a: int, c: int, new: list[int], summands: list[tuple[int, int]], counted: bool
    ) -> None:
        """Write ``a`` as the difference, whose constant is c, wherever it stands; ``counted`` if that still matters."""
        kind, arg = self.engine.kind, self.engine.arg
        uses, products, gone = self.uses, self.products, self.gone
        x = arg[a]
        if not self.deeper:
            for t in x[1]:
                if kind[t[0]] == REMAINDER and t[0] not in uses:
                    self.deeper = True
        for i in uses[a]:
            total = self.sums[i]
            w = total.pop(a)
            if counted:
                count(a, w, -1, products)
            self.constants[i] += w * c
            for b, j in summands:
                old = total.get(b, 0)
                if old and counted:
                    count(b, old, -1, products)
                j = old + w * j
                if j:
                    total[b] = j
                    if counted:
                        count(b, j, 1, products)
                    if kind[b] == REMAINDER:
                        if b in gone:
                            gone.discard(b)
                            uses[b] = [i]
                        elif b not in uses:
                            uses[b] = [i]
                        elif i not in uses[b]:
                            uses[b].append(i)
                elif old:
                    del total[b]
                    if b in uses and b not in gone:
                        uses[b] = [n for n in uses[b] if n != i]
        if counted:
            for b, j in x[1]:
                count(b, j, -1, products)
            for e in new:
                self.seen.add(e)
                for b, j in arg[e][1]:
                    count(b, j, 1, products)
        gone.add(a)
