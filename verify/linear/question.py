"""Questions to z3 about linear integer arithmetic, asked in SMT-LIB: what is exported is what was asked."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import z3

from .. import encode
from ..budget import MAX_RLIMIT
from .formula import Formula
from .leaf import Symbols, smtlib
from .polynomial import Monomial

__all__ = ["Meter", "Question"]

_VALUE = re.compile(r"\(define-fun (\|[^|]*\||[^\s()]+) \(\) Int\s+(?:\(- (\d+)\)|(\d+))\)")


class Meter:
    """The z3 context of one obligation, made when first needed, and what it has spent."""

    def __init__(self, rlimit: int) -> None:
        self.rlimit = min(rlimit, MAX_RLIMIT)
        self.questions = 0
        self.last: Any = None
        self._context: z3.Context | None = None

    @property
    def spent(self) -> int:
        """Resource units so far; z3 counts them for the context."""
        counts = () if self.last is None else self.last.statistics()
        return sum(int(amount) for name, amount in counts if name == "rlimit count")

    @property
    def context(self) -> z3.Context:
        """A context of its own makes resource counts, and so verdicts, independent of everything else."""
        if self._context is None:
            self._context = z3.Context()
        return self._context


class Question:
    """Assertions, and whether integers satisfy them."""

    def __init__(self, meter: Meter) -> None:
        self.meter = meter
        self.symbols = Symbols()
        self._declared = 0
        self._solver = z3.SimpleSolver(ctx=meter.context)
        self._solver.set("rlimit", meter.rlimit)
        self._solver.set("random_seed", encode.SEED)
        self._solver.set("ctrl_c", False)  # an interrupt is this program's to notice, not an "unknown"
        self._text: list[str] = []
        self._stale = False
        self.undecided = False

    def add(self, formulas: Iterable[Formula]) -> None:
        """Assert formulas."""
        self._text += [f"(assert {smtlib(f, self.symbols)})" for f in formulas]

    def _flush(self) -> None:
        if not self._text:
            return
        new = list(self.symbols.monomials)[self._declared :]
        self._declared += len(new)
        declarations = [f"(declare-const {s} Int)" for s in new]
        self._solver.from_string("\n".join((*declarations, *self._text)))
        self._text = []

    def contradictory(self) -> bool:
        """Whether no integers satisfy the assertions; false also where the budget is spent."""
        self._flush()
        answer = self._solver.check()
        self._stale = False
        self.meter.questions += 1
        self.meter.last = self._solver
        self.undecided = answer == z3.unknown
        return bool(answer == z3.unsat)

    def contradictory_with(self, formulas: Iterable[Formula]) -> bool:
        """The same with more assertions, for this once."""
        self._flush()
        self._solver.push()
        self.add(formulas)
        answer = self.contradictory()
        self._solver.pop()
        self._stale = True
        return answer

    def model(self) -> dict[Monomial, int]:
        """Values of the monomials that satisfy the assertions; empty where none are known."""
        if self._stale and (self.contradictory() or self.undecided):
            return {}
        text: Any = self._solver.model().sexpr()
        found: dict[Monomial, int] = {}
        for symbol, negative, natural in _VALUE.findall(text):
            m = self.symbols.monomials.get(symbol if symbol.startswith("|") else f"|{symbol}|")
            if m is not None:
                found[m] = -int(negative) if negative else int(natural)
        return found
