"""What extraction may choose: a view of what is written, and the equalities of rules as choices in it."""

from __future__ import annotations

from typing import Any

from ..kernel.form import MINIMUM, QUOTIENT, REMAINDER, VARIABLE, Form, atom, lone
from ..kernel.kernel import SUM
from .ledger import Choice, Ledger

__all__ = ["Proposals"]


class Proposals:
    """Looks for choices in a ledger.  Nothing here is trusted: what a rule refuses is no choice."""

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger
        self.engine = ledger.engine
        self.digests: dict[Form, int] = {}

    # ---------------------------------------------------------------- equalities
    def rewritten(self, about: int, strategy: str, *values: Any) -> tuple[Form, Any] | None:
        """What a rule makes of a form, with the rule and its arguments."""
        engine = self.engine
        for table in (engine.EQUALITIES, engine.RULES):
            for rule in table.get(about, {}).get(strategy, ()):
                f = rule(engine, *values)
                if f is not None:
                    return f, (rule, values)
        return None

    def instead(self, a: int, strategy: str, *values: Any) -> list[Choice]:
        """A quotient or a remainder, as it is written, as something else; nothing if no rule says so."""
        engine = self.engine
        found = self.rewritten(engine.kind[a], strategy, self.ledger.written[a], engine.divisor[a], *values)
        return [(a, *found)] if found else []

    def everywhere(self, f: Form, strategy: str, *values: Any) -> list[Choice]:
        """A sum that is written as something else, for all that it is needed for; nothing if no rule says so."""
        found = self.rewritten(SUM, strategy, f, *values)
        return self.replacing(f, *found) if found and found[0] != f else []

    def replacing(self, f: Form, by: Form, why: Any) -> list[Choice]:
        """Another sum in place of ``f`` for all that it is needed for."""
        ledger, engine = self.ledger, self.engine
        choices: dict[int, Choice] = {}
        for owner in ledger.owners[f]:
            if type(owner) is tuple:
                a = owner[0]
                written = [ledger.written[a, n] for n in range(len(engine.parts[a]))]
                new = engine.raw_extremum(engine.kind[a], tuple([by if x == f else x for x in written]))
                choices[a] = a, new, why
            elif owner < 0:
                choices[owner] = owner, by, why
            else:
                choices[owner] = owner, engine.raw(engine.kind[owner], by, engine.divisor[owner]), why
        return list(choices.values())

    # ---------------------------------------------------------------- what is written
    def sums(self) -> list[Form]:
        """The sums that are written, with several summands or a factor."""
        return [f for f in self.ledger.owners if f[1] and lone(f) < 0]

    def divisions(self, of: int) -> list[int]:
        """The quotients or the remainders that are written, large divisors first."""
        kind = self.engine.kind
        found = [a for a in self.ledger.users if kind[a] == of]
        if len(found) > 1:
            self.sort(found)
        return found

    def dividends(self) -> dict[Form, list[int]]:
        """What is divided, as it is written, and by which atoms."""
        found: dict[Form, list[int]] = {}
        for f, owners in self.ledger.owners.items():
            atoms = [a for a in owners if type(a) is int and a >= 0]
            if atoms:
                found[f] = atoms
        return found

    def there(self, f: Form) -> bool:
        """Whether everything that a sum needs is written."""
        users, kind = self.ledger.users, self.engine.kind
        for a, _ in f[1]:
            if kind[a] != VARIABLE and a not in users:
                return False
        return True

    def quotient(self, a: int) -> Form:
        """The quotient that belongs to a remainder, as it is written where it is."""
        engine = self.engine
        if a not in engine.normals:
            return engine.quotient_above(a)
        x, d, users = engine.arg[a], engine.divisor[a], self.ledger.users
        q = engine.raws.get((QUOTIENT, x, d), -1)
        if q in users:
            return atom(q)
        b = lone(x)
        if b >= 0 and engine.kind[b] == QUOTIENT:
            # the quotient of a quotient is that of its dividend
            q = engine.raws.get((QUOTIENT, engine.arg[b], engine.divisor[b] * d), -1)
            if q in users:
                return atom(q)
        return engine.floordiv(engine.normal(x), d)

    # ---------------------------------------------------------------- orders
    def digest(self, f: Form) -> int:
        """A number for a form that does not depend on when its atoms were met."""
        found = self.digests.get(f)
        if found is None:
            # odd numbers: those have a hash of their own, and -1 and -2 have not
            found = hash((2 * f[0] + 1, tuple(sorted([(self._of_atom(a), 2 * k + 1) for a, k in f[1]]))))
            self.digests[f] = found
        return found

    def _of_atom(self, a: int) -> int:
        engine = self.engine
        of = engine.kind[a]
        if of == QUOTIENT or of == REMAINDER:
            return hash((of, engine.divisor[a], self.digest(engine.arg[a])))
        if of >= MINIMUM and a in engine.parts:
            return hash((of, tuple(sorted([self.digest(f) for f in engine.parts[a]]))))
        e = engine.expr[a]
        assert e is not None
        return e.key

    def sort(self, atoms: list[int]) -> None:
        """Sort quotients and remainders, large divisors first."""
        divisor, arg = self.engine.divisor, self.engine.arg
        ranks = sorted([(-divisor[a], a) for a in atoms])
        tied = False
        for i in range(len(ranks) - 1):
            if ranks[i][0] == ranks[i + 1][0]:
                tied = True
                break
        if tied:
            atoms.sort(key=lambda a: (-divisor[a], self.digest(arg[a])))
        else:
            atoms[:] = [a for _, a in ranks]

    def widest(self, forms: list[Form]) -> list[Form]:
        """The forms with most summands first."""
        if len(forms) < 2:
            return forms
        return sorted(forms, key=lambda f: (-len(f[1]), self.digest(f)))
