"""The shared graph that all results are written as, its cost, and the choices made in it.

An atom or a result is written as itself, or as the form that was chosen for it.  The ledger counts references, so that
making or undoing a choice takes time in proportion to what it changes.
"""

from __future__ import annotations

from typing import Any, Final, TypeAlias

from ..engine import Engine
from ..expr import Expr, floordiv, integer, linear, maximum, minimum, mod
from ..kernel.form import MINIMUM, OPAQUE, QUOTIENT, REMAINDER, VARIABLE, ZERO, Form, Terms, times

__all__ = ["ARGUMENT", "Choice", "Ledger"]

#: An atom, or result n as ``-1 - n``; the form to write it as; and the equality that justifies this: the code of a rule
#: with its arguments, or ``None`` with a form and its normal form.
Choice: TypeAlias = "tuple[int, Form, Any]"

#: The shape of a sum: its number, its products up to sign, its summands up to sign if there are several, and the rest of
#: its cost.  Tables use the number as a key, because hashing a sum is expensive.
Shape: TypeAlias = "tuple[int, list[tuple[int, int]], Terms, int]"

#: Argument n of an extremum ``a`` as an owner is ``(n + 1)·ARGUMENT + a``.
ARGUMENT: Final = 1 << 32
#: Limit on the atoms visited to find out whether one depends on another.  Beyond it the answer is yes, so that the time
#: for a map grows linearly.
REACH: Final = 48
#: Depth to which savings are counted.  Below it they are assumed to exceed every cost.
DEPTH: Final = 4
FREE: Final = 1 << 40
#: Exceeds the number of divisions of a map.
TIE: Final = 1 << 16


class Ledger:
    """The graph that ``forms`` are written as, with its cost as defined in :mod:`..cost`.

    A sum is written for its *owners*: result n (``-1 - n``), the dividend of an atom (the atom), or an argument of a
    minimum or a maximum (:data:`ARGUMENT`).
    """

    def __init__(self, engine: Engine, weight: int, forms: list[Form]) -> None:
        self.engine = engine
        #: the costs of an operation and of a division; if they are equal, fewer divisions win
        self.unit = 1 if weight > 1 else TIE
        self.weight = weight if weight > 1 else TIE + 1
        self.forms = forms
        self.cost = 0
        #: by atom or result, the form that was chosen for it
        self.choice: dict[int, Form] = {}
        #: by owner, its sum; by sum, its owners
        self.written: dict[int, Form] = {}
        self.owners: dict[Form, dict[int, None]] = {}
        #: shapes of sums (:meth:`_shape`)
        self.shapes: dict[Form, Shape] = {}
        #: by atom, the sums that are written with it
        self.users: dict[int, dict[int, Form]] = {}
        #: how often each sum without constant and each product is written, up to sign
        self.bodies: dict[Terms, int] = {}
        self.products: dict[tuple[int, int], int] = {}
        #: the choices in order, each with the choice that it replaced and the sums that owners had before
        self.log: list[tuple[Choice, Form | None, list[tuple[int, Form]]]] = []
        for i, f in enumerate(forms):
            self._own(-1 - i, f)

    @property
    def spent(self) -> int:
        """The documented cost."""
        return self.cost // self.unit

    # ---------------------------------------------------------------- what is written
    def arguments(self, a: int) -> list[Form]:
        """Return the arguments of a minimum or a maximum as they are written."""
        return [self.written[(n + 1) * ARGUMENT + a] for n in range(len(self.engine.parts[a]))]

    def resolved(self, f: Form) -> Form:
        """Return the sum with chosen forms substituted for its atoms."""
        choice = self.choice
        if not choice:
            return f
        for t in f[1]:
            if t[0] in choice:
                break
        else:
            return f
        c = f[0]
        total: dict[int, int] = {}
        todo = list(f[1])
        while todo:
            a, k = todo.pop()
            by = choice.get(a)
            if by is None:
                total[a] = total.get(a, 0) + k
                continue
            c += k * by[0]
            for b, j in by[1]:
                todo.append((b, j * k))
        return c, tuple(sorted([t for t in total.items() if t[1]]))

    def reaches(self, f: Form, a: int) -> bool:
        """Return whether writing the form may need the atom."""
        choice, engine = self.choice, self.engine
        kind = engine.kind
        todo = [f]
        seen: set[int] = set()
        while todo:
            for t in todo.pop()[1]:
                b = t[0]
                if b == a:
                    return True
                of = kind[b]
                if of == VARIABLE or of == OPAQUE or b in seen:
                    continue
                seen.add(b)
                if len(seen) > REACH:
                    return True
                by = choice.get(b)
                if by is not None:
                    todo.append(by)
                elif of == QUOTIENT or of == REMAINDER:
                    todo.append(engine.arg[b])
                else:
                    todo += engine.parts[b]
        return False

    # ---------------------------------------------------------------- choosing
    def choose(self, choice: Choice) -> bool:
        """Write an atom or a result as a form; return ``False`` for an atom that has a choice or that the form needs."""
        key, f, _ = choice
        had = self.choice.get(key)
        if key >= 0 and (had is not None or self.reaches(f, key)):
            return False
        by = self.resolved(f)
        changes: list[tuple[int, Form]] = []
        if key < 0:
            changes.append((key, by))
        elif key in self.users:
            for g in self.users[key].values():
                now = self._with(g, key, by)
                changes += [(owner, now) for owner in self.owners[g]]
        self.choice[key] = f
        before: list[tuple[int, Form]] = []
        for owner, now in changes:
            was = self.written.get(owner)
            if was is not None and was != now:
                before.append((owner, was))
                self._own(owner, now)
                self._disown(owner, was)
        self.log.append((choice, had, before))
        return True

    def _with(self, f: Form, a: int, by: Form) -> Form:
        """Return the sum with a form substituted for an atom."""
        total = dict(f[1])
        k = total.pop(a)
        for b, j in by[1]:
            total[b] = total.get(b, 0) + k * j
        return f[0] + k * by[0], tuple(sorted([t for t in total.items() if t[1]]))

    def undo(self, mark: int) -> None:
        """Undo all choices made since the log had that length."""
        log = self.log
        while len(log) > mark:
            (key, _, _), had, before = log.pop()
            if had is None:
                del self.choice[key]
            else:
                self.choice[key] = had
            for owner, f in reversed(before):
                now = self.written.get(owner)
                if now is not None and now != f:
                    self._own(owner, f)
                    self._disown(owner, now)

    def attempt(self, choices: list[Choice], *, even: bool = False) -> bool:
        """Make the choices if all are possible and the cost falls (``even``: or stays); return whether they were made."""
        if not choices or (len(choices) == 1 and not even and not self.may_pay(choices[0])):
            return False
        mark, cost = len(self.log), self.cost
        if self._chosen(choices) and (self.cost < cost or (even and self.cost == cost)):
            return True
        self.undo(mark)
        return False

    def best(self, options: list[list[Choice]]) -> bool:
        """Make the option that lowers the cost most, the first of equals; return whether one does."""
        mark, cost = len(self.log), self.cost
        found: list[Choice] = []
        for choices in reversed(options):
            if self._chosen(choices) and (self.cost < cost or (found and self.cost == cost)):
                found, cost = choices, self.cost
                if choices is options[0]:
                    return True
            self.undo(mark)
        for c in found:
            self.choose(c)
        return bool(found)

    def _chosen(self, choices: list[Choice]) -> bool:
        """Make the choices up to the first that is impossible; return whether all were made."""
        for c in choices:
            if not self.choose(c):
                return False
        return True

    # ---------------------------------------------------------------- what may pay
    def may_pay(self, choice: Choice) -> bool:
        """Return whether one choice may lower the cost, by an optimistic estimate."""
        key, f, _ = choice
        f = self.resolved(f)
        if key < 0:
            had = self.written[key]
            return self._freed(had, 0) + self._sum(had, f) - self._needed(f) > 0
        users = self.users.get(key)
        if not users:
            return False
        saved = self._spared(key, 0) - self._needed(f)
        if saved > 0 and len(users) == 1 and len(f[1]) == 1:
            return True
        for g in users.values():
            saved += self._sum(g, self._with(g, key, f))
        return saved > 0

    def _spared(self, a: int, depth: int) -> int:
        """Return an upper bound of the cost saved when the atom is no longer written."""
        of = self.engine.kind[a]
        if of == VARIABLE or of == OPAQUE:
            return 0
        if depth > DEPTH or (of != QUOTIENT and of != REMAINDER):
            return FREE
        x = self.written[a]
        if len(self.owners[x]) > 1:
            return self.weight
        return self.weight + self._sum(x, ZERO) + self._freed(x, depth + 1)

    def _freed(self, f: Form, depth: int) -> int:
        """Return an upper bound of the cost of the atoms that only this sum needs."""
        saved = 0
        for a, _ in f[1]:
            if len(self.users[a]) == 1:
                saved += self._spared(a, depth)
        return saved

    def _needed(self, f: Form) -> int:
        """Return a lower bound of the cost of the atoms of a sum that are not written yet."""
        kind, users = self.engine.kind, self.users
        spent = 0
        for a, _ in f[1]:
            if a not in users:
                of = kind[a]
                if of == QUOTIENT or of == REMAINDER:
                    x = self.engine.arg[a]
                    spent += self.weight - self._sum(ZERO, x) + self._needed(x)
                elif of != VARIABLE and of != OPAQUE:
                    spent += self.unit
        return spent

    def _sum(self, f: Form, g: Form) -> int:
        """Return the cost saved by writing ``g`` instead of ``f``, not counting atoms."""
        saved = 0
        if g not in self.owners:
            saved -= self._priced(g, f, 0)
        return (saved + self._priced(f, g, 1)) * self.unit

    def _priced(self, f: Form, other: Form, n: int) -> int:
        """Return the operations of a sum that are used at most n times; products shared with ``other`` are free."""
        _, products, body, spent = self._shape(f)
        if products:
            free = self._shape(other)[1]
            for t in products:
                if self.products.get(t, 0) <= n and t not in free:
                    spent += 1
        if body and self.bodies.get(body, 0) <= n:
            spent += len(body) - 1
        return spent

    def _shape(self, f: Form) -> Shape:
        """Return the shape of a sum.  It is cached, because sums are often removed and written again."""
        found = self.shapes.get(f)
        if found is None:
            products = []
            opposite = bool(f[1])
            for a, k in f[1]:
                if k > 0:
                    opposite = False
                if k != 1 and k != -1:
                    products.append((a, abs(k)))
            body = () if len(f[1]) < 2 else times((0, f[1]), -1)[1] if opposite else f[1]
            spent = 1 if opposite or (f[0] and f[1]) else 0
            found = self.shapes[f] = len(self.shapes), products, body, spent
        return found

    # ---------------------------------------------------------------- counting
    def _own(self, owner: int, f: Form) -> None:
        """Write the owner as the form and add its cost."""
        self.written[owner] = f
        at = self.owners.get(f)
        if at:
            at[owner] = None
            return
        self.owners[f] = {owner: None}
        number, products, body, spent = self._shape(f)
        for t in products:
            n = self.products.get(t, 0)
            self.products[t] = n + 1
            if not n:
                spent += 1
        if body:
            n = self.bodies.get(body, 0)
            self.bodies[body] = n + 1
            if not n:
                spent += len(body) - 1
        self.cost += spent * self.unit
        kind, users = self.engine.kind, self.users
        for a, _ in f[1]:
            by = users.get(a)
            if by:
                by[number] = f
            else:
                users[a] = {number: f}
                of = kind[a]
                if of != VARIABLE and of != OPAQUE:
                    self._enter(a, of)

    def _enter(self, a: int, of: int) -> None:
        """Start to write an atom: add its cost and write its operands."""
        if of == QUOTIENT or of == REMAINDER:
            self.cost += self.weight
            self._own(a, self.resolved(self.engine.arg[a]))
        else:
            parts = self.engine.parts[a]
            self.cost += (len(parts) - 1) * self.unit
            for n, x in enumerate(parts):
                self._own((n + 1) * ARGUMENT + a, self.resolved(x))

    def _disown(self, owner: int, f: Form) -> None:
        """Stop writing the owner as the form and subtract its cost."""
        at = self.owners[f]
        del at[owner]
        if at:
            return
        del self.owners[f]
        number, products, body, spent = self._shape(f)
        for t in products:
            n = self.products[t] - 1
            if n:
                self.products[t] = n
            else:
                del self.products[t]
                spent += 1
        if body:
            n = self.bodies[body] - 1
            if n:
                self.bodies[body] = n
            else:
                del self.bodies[body]
                spent += len(body) - 1
        self.cost -= spent * self.unit
        users = self.users
        for a, _ in f[1]:
            by = users[a]
            del by[number]
            if not by:
                del users[a]
                self._leave(a, self.engine.kind[a])

    def _leave(self, a: int, of: int) -> None:
        """Stop writing an atom: subtract its cost and that of its operands."""
        if of == QUOTIENT or of == REMAINDER:
            self.cost -= self.weight
            self._disown(a, self.written.pop(a))
        elif of != VARIABLE and of != OPAQUE:
            parts = self.engine.parts[a]
            self.cost -= (len(parts) - 1) * self.unit
            for n in range(len(parts)):
                self._disown((n + 1) * ARGUMENT + a, self.written.pop((n + 1) * ARGUMENT + a))

    # ---------------------------------------------------------------- writing
    def expressions(self) -> list[Expr]:
        """Return the results as expressions."""
        if not self.choice and not self.engine.normals:
            return [self.engine.write(f) for f in self.forms]
        done: dict[int, Expr] = {}
        choice = self.choice
        return [self.express(choice.get(-1 - i, f), done) for i, f in enumerate(self.forms)]

    def express(self, f: Form, done: dict[int, Expr]) -> Expr:
        """Return the expression of a sum.  ``done`` caches the expressions of atoms."""
        c, terms = self.resolved(f)
        if not terms:
            return integer(c)
        parts = []
        for a, k in terms:
            e = done.get(a)
            if e is None:
                e = done[a] = self._atom(a, done)
            parts.append((e, k))
        return linear(c, parts)

    def _atom(self, a: int, done: dict[int, Expr]) -> Expr:
        engine = self.engine
        of = engine.kind[a]
        if of == VARIABLE or of == OPAQUE:
            made = engine.expr[a]
            assert made is not None
            return made
        if of == QUOTIENT:
            return floordiv(self.express(engine.arg[a], done), engine.divisor[a])
        if of == REMAINDER:
            return mod(self.express(engine.arg[a], done), engine.divisor[a])
        parts = [self.express(x, done) for x in engine.parts[a]]
        return minimum(*parts) if of == MINIMUM else maximum(*parts)
