"""What the forms of a map are made of."""

from __future__ import annotations

from typing import Any

from ..engine import Engine
from ..kernel.form import OPAQUE, QUOTIENT, REMAINDER, VARIABLE, Form
from .sums import Products

__all__ = ["Survey"]


class Survey:
    """What forms are made of, each sum and each atom looked at once.  ``weight`` is what a division costs."""

    def __init__(self, engine: Engine, weight: int, forms: list[Form]) -> None:
        #: the atoms but variables and what is opaque
        self.atoms: set[int] = set()
        #: who divides what
        self.dividends: dict[Form, list[int]] = {}
        #: the sums that quotients stand in
        self.places: dict[int, list[tuple[Form, int]]] = {}
        #: whether there are remainders, some of them times a number in a sum with others, and those inside dividends
        self.remainders = False
        self.joinable = False
        self.inner: set[int] = set()
        #: the sums without their constants of which the opposites are divided as well
        self.opposites: set[Any] = set()
        #: remainders that add up to the divisor less one with another, and with which
        self.complements: dict[int, int] = {}
        #: how often sums have an atom times a number
        self.products: Products = {}
        #: the cost of everything that the forms need, written as they are
        self.cost = self._walk(engine, weight, forms)
        if self.remainders:
            kind = engine.kind
            self.inner = {t[0] for x in self.dividends for t in x[1] if kind[t[0]] == REMAINDER}
            if len(self.dividends) > 1:
                self._complement(engine)
        if len(self.dividends) > 1:
            self._oppose()

    def sums(self, engine: Engine, forms: list[Form]) -> list[Form]:
        """All sums that the forms need, each once where it is a result or divided."""
        return [*dict.fromkeys([*forms, *self.dividends]), *self.arguments(engine)]

    def arguments(self, engine: Engine) -> list[Form]:
        """The arguments of minima and maxima."""
        parts = engine.parts
        return [f for a in self.atoms if a in parts for f in parts[a]] if parts else []

    def _oppose(self) -> None:
        negative = [x[1] for x in self.dividends if x[1][0][1] < 0]
        if negative:
            there = {x[1] for x in self.dividends}
            for terms in negative:
                opposite = tuple([(a, -k) for a, k in terms])
                if opposite in there:
                    self.opposites.add(terms)
                    self.opposites.add(opposite)

    def _complement(self, engine: Engine) -> None:
        kind, divisor = engine.kind, engine.divisor
        of: dict[int, list[int]] = {}
        for users in self.dividends.values():
            for a in users:
                if kind[a] == REMAINDER:
                    d = divisor[a]
                    if d in of:
                        of[d].append(a)
                    else:
                        of[d] = [a]
        for d, remainders in of.items():
            if len(remainders) < 2:
                continue
            seen: dict[Any, int] = {}
            for a in remainders:
                c, terms = engine.arg[a]
                b = seen.get(((-c - 1) % d, tuple([(e, -k % d) for e, k in terms])))
                if b is not None:
                    self.complements[a] = b
                    self.complements[b] = a
                seen[c % d, tuple([(e, k % d) for e, k in terms])] = a

    def _walk(self, engine: Engine, weight: int, forms: list[Form]) -> int:
        kind = engine.kind
        # compiled, a form is taken apart where its type is known and put together where it is a key: these stay whole
        arg: list[Any] = engine.arg
        todo: list[Any] = list(forms)
        done: set[Any] = set()
        atoms, dividends, places = self.atoms, self.dividends, self.places
        products: dict[Any, int] = self.products
        spent = 0
        while todo:
            whole = todo.pop()
            known = len(done)
            done.add(whole)
            if len(done) == known:
                continue
            f: Form = whole
            c, terms = f
            if not terms:
                continue
            spent += len(terms) - 1
            opposite = True
            # as in ``todo``: a factor that is positive is a key as it stands
            inside: Any = terms
            for product in inside:
                t: tuple[int, int] = product
                a, k = t
                if k > 0:
                    opposite = False
                    if k != 1:
                        products[product] = products.get(product, 0) + 1
                elif k != -1:
                    product = a, -k
                    products[product] = products.get(product, 0) + 1
                of = kind[a]
                if of == VARIABLE or of == OPAQUE:
                    continue
                if of == QUOTIENT:
                    if a in places:
                        places[a].append((whole, k))
                    else:
                        places[a] = [(whole, k)]
                elif of == REMAINDER and k != 1 and k != -1 and len(terms) > 1:
                    self.joinable = True
                if a in atoms:
                    continue
                atoms.add(a)
                if of == QUOTIENT or of == REMAINDER:
                    if of == REMAINDER:
                        self.remainders = True
                    spent += weight
                    x = arg[a]
                    if x in dividends:
                        dividends[x].append(a)
                    else:
                        dividends[x] = [a]
                    todo.append(x)
                else:
                    parts = engine.parts[a]
                    spent += len(parts) - 1
                    todo += parts
            if c or opposite:
                spent += 1
        return spent + len(products)
