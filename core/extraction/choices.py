"""Choices: each is the result of a rule's generated code, or the normal form of what it replaces.

The search names a strategy and values, and is handed choices or none.  It constructs none itself, so a choice may be
useless but cannot be wrong.
"""

from __future__ import annotations

from typing import Any

from ..kernel.form import Form, atom, lone
from ..kernel.kernel import SUM
from .ledger import ARGUMENT, Choice, Ledger

__all__ = ["Choices"]


class Choices:
    """Makes the choices of a ledger, by applying rules and by reading expressions."""

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger
        self.engine = ledger.engine

    # ---------------------------------------------------------------- by rules
    def _applied(self, about: int, strategy: str, *values: Any) -> tuple[Form, Any] | None:
        """Return the result of the first rule that applies, with the rule and its arguments, or ``None``."""
        engine = self.engine
        for table in (engine.EQUALITIES, engine.RULES):
            for rule in table.get(about, {}).get(strategy, ()):
                f = rule(engine, *values)
                if f is not None:
                    return f, (rule, values)
        return None

    def instead(self, a: int, strategy: str, *values: Any) -> list[Choice]:
        """Rewrite a quotient or a remainder by a rule; return no choice where none applies."""
        if a < 0:
            return []  # negative numbers are results, not atoms
        engine = self.engine
        x = self.ledger.written.get(a, engine.arg[a])
        found = self._applied(engine.kind[a], strategy, x, engine.divisor[a], *values)
        return [(a, found[0], found[1])] if found is not None else []

    def everywhere(self, f: Form, strategy: str, *values: Any) -> list[Choice]:
        """Rewrite a sum by a rule for all of its owners; return no choice where none applies."""
        found = self._applied(SUM, strategy, f, *values)
        if found is None or self.ledger.resolved(found[0]) == f:
            return []
        return self._replacing(f, found[0], found[1])

    def _replacing(self, f: Form, by: Form, why: Any) -> list[Choice]:
        """Replace ``f`` by another sum for all of its owners."""
        ledger, engine = self.ledger, self.engine
        choices: dict[int, Choice] = {}
        for owner in ledger.owners[f]:
            if owner >= ARGUMENT:
                a = owner % ARGUMENT
                written = ledger.arguments(a)
                new = engine.raw_extremum(engine.kind[a], tuple([by if x == f else x for x in written]))
                choices[a] = a, new, why
            elif owner < 0:
                choices[owner] = owner, by, why
            else:
                choices[owner] = owner, engine.raw(engine.kind[owner], by, engine.divisor[owner]), why
        return list(choices.values())

    # ---------------------------------------------------------------- by reading
    def normal_sum(self, f: Form) -> list[Choice]:
        """Replace a sum by its normal form for all of its owners."""
        g = self.engine.normal(f)
        return self._replacing(f, g, (None, (f, g))) if f != g else []

    def normal_atom(self, a: int) -> list[Choice]:
        """Replace a raw atom by its normal form."""
        f = self.engine.normal(atom(a))
        return [(a, f, (None, (atom(a), f)))] if lone(f) != a else []

    def read_again(self, a: int) -> list[Choice]:
        """Replace an atom by the normal form of the expression it is written as now."""
        f = self.engine.read(self.ledger.express(atom(a), {}))
        return [(a, f, (None, (atom(a), f)))] if lone(f) != a else []
