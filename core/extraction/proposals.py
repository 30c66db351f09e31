"""The written graph as the search sees it.  Nothing here is trusted."""

from __future__ import annotations

from ..kernel.form import MINIMUM, QUOTIENT, REMAINDER, VARIABLE, Form, atom, lone
from .choices import Choices
from .ledger import ARGUMENT, Ledger

__all__ = ["Proposals"]


class Proposals(Choices):
    """Lists written sums and atoms in an order that does not depend on when atoms were created."""

    def __init__(self, ledger: Ledger) -> None:
        super().__init__(ledger)
        self.digests: dict[Form, int] = {}

    # ---------------------------------------------------------------- what is written
    def sums(self) -> list[Form]:
        """Return the written sums that have several summands, a factor or a constant."""
        return [f for f in self.ledger.owners if f[1] and lone(f) < 0]

    def divisions(self, of: int) -> list[int]:
        """Return the written quotients or remainders, largest divisor first."""
        kind = self.engine.kind
        found = [a for a in self.ledger.users if kind[a] == of]
        if len(found) > 1:
            self.sort(found)
        return found

    def dividends(self) -> dict[Form, list[int]]:
        """Return the written dividends that are no numbers, each with the atoms that divide it."""
        found: dict[Form, list[int]] = {}
        for f, owners in self.ledger.owners.items():
            atoms = [a for a in owners if 0 <= a < ARGUMENT]
            if atoms and f[1]:
                found[f] = atoms
        return found

    def there(self, f: Form) -> bool:
        """Return whether all atoms of a sum are written already."""
        users, kind = self.ledger.users, self.engine.kind
        return all([kind[a] == VARIABLE or a in users for a, _ in f[1]])

    def quotient(self, a: int) -> Form:
        """Return the quotient that belongs to a remainder, in the form in which it is written if it is."""
        engine = self.engine
        if a not in engine.normals:
            return engine.quotient_above(a)
        x, d, users = engine.arg[a], engine.divisor[a], self.ledger.users
        q = engine.raws.get((QUOTIENT, x, d), -1)
        if q in users:
            return atom(q)
        b = lone(x)
        if b >= 0 and engine.kind[b] == QUOTIENT:
            # (x // c) // d is x // (c·d)
            q = engine.raws.get((QUOTIENT, engine.arg[b], engine.divisor[b] * d), -1)
            if q in users:
                return atom(q)
        return engine.floordiv(engine.normal(x), d)

    # ---------------------------------------------------------------- orders
    def digest(self, f: Form) -> int:
        """Return a hash of a form that does not depend on when its atoms were created."""
        found = self.digests.get(f)
        if found is None:
            # made odd, because -1 and -2 have the same hash in Python
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
        """Sort quotients and remainders, largest divisor first."""
        divisor, arg = self.engine.divisor, self.engine.arg
        ranks = sorted([(-divisor[a], a) for a in atoms])
        if any([ranks[i][0] == ranks[i + 1][0] for i in range(len(ranks) - 1)]):
            atoms.sort(key=lambda a: (-divisor[a], self.digest(arg[a])))
        else:
            atoms[:] = [a for _, a in ranks]

    def widest(self, forms: list[Form]) -> list[Form]:
        """Return the forms sorted by their number of summands, largest first."""
        if len(forms) < 2:
            return forms
        return sorted(forms, key=lambda f: (-len(f[1]), self.digest(f)))
