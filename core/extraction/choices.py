"""The choices there are: each is what the generated code of a rule returned, or what reading makes of a form.

Searching names a strategy and values, and gets choices or none.  It makes none itself, so what it finds may be of no use,
and cannot be wrong.
"""

from __future__ import annotations

from typing import Any

from ..kernel.form import Form, atom, lone
from ..kernel.kernel import SUM
from .ledger import ARGUMENT, Choice, Ledger

__all__ = ["Choices"]


class Choices:
    """Make choices for a ledger, by rules and by reading."""

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger
        self.engine = ledger.engine

    # ---------------------------------------------------------------- by rules
    def _applied(self, about: int, strategy: str, *values: Any) -> tuple[Form, Any] | None:
        """Return what a rule makes of a form, with the rule and its arguments; ``None`` where none applies."""
        engine = self.engine
        for table in (engine.EQUALITIES, engine.RULES):
            for rule in table.get(about, {}).get(strategy, ()):
                f = rule(engine, *values)
                if f is not None:
                    return f, (rule, values)
        return None

    def instead(self, a: int, strategy: str, *values: Any) -> list[Choice]:
        """A quotient or a remainder, as it is written, as something else; nothing if no rule says so."""
        if a < 0:
            return []  # no atom: a number below zero is that of a result
        engine = self.engine
        x = self.ledger.written.get(a, engine.arg[a])
        found = self._applied(engine.kind[a], strategy, x, engine.divisor[a], *values)
        return [(a, found[0], found[1])] if found is not None else []

    def everywhere(self, f: Form, strategy: str, *values: Any) -> list[Choice]:
        """A sum that is written as something else, for all that it is needed for; nothing if no rule says so."""
        found = self._applied(SUM, strategy, f, *values)
        return self._replacing(f, found[0], found[1]) if found is not None and found[0] != f else []

    def _replacing(self, f: Form, by: Form, why: Any) -> list[Choice]:
        """Another sum in place of ``f`` for all that it is needed for."""
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
        """The normal form of a sum for all that it is needed for."""
        g = self.engine.normal(f)
        return self._replacing(f, g, (None, (f, g))) if f != g else []

    def normal_atom(self, a: int) -> list[Choice]:
        """The normal form of a raw atom."""
        f = self.engine.normal(atom(a))
        return [(a, f, (None, (atom(a), f)))] if lone(f) != a else []

    def read_again(self, a: int) -> list[Choice]:
        """Read an atom again as it is written now."""
        f = self.engine.read(self.ledger.express(atom(a), {}))
        return [(a, f, (None, (atom(a), f)))] if lone(f) != a else []
