"""Linear questions as SMT-LIB: those asked of z3, and the leaves of a proof, which any solver can check again."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, TypeAlias

import z3

from .. import encode
from .formula import All, AtLeast, Formula, Some, atoms
from .polynomial import Monomial, Poly
from .record import LinearFact

_VALUE = re.compile(r"\(define-fun (\|[^|]*\||[^\s()]+) \(\) Int\s+(?:\(- (\d+)\)|(\d+))\)")


#: Facts that contradict each other in linear integer arithmetic, where every monomial is a variable of its own.  The last
#: one is the negated goal.
Leaf: TypeAlias = tuple[LinearFact, ...]

_PLAIN = re.compile(r"[A-Za-z_~!@$%^&*+=<>.?/-][0-9A-Za-z_~!@$%^&*+=<>.?/-]*")


class Symbols:
    """Maps each monomial to an SMT-LIB symbol: its names joined by ``*``, or a number if a name is no plain symbol."""

    def __init__(self) -> None:
        self.of: dict[Monomial, str] = {}
        self.monomials: dict[str, Monomial] = {}

    def symbol(self, m: Monomial) -> str:
        """Return the symbol of ``m``."""
        found = self.of.get(m)
        if found is None:
            # without a star in a name, different monomials have different symbols
            plain = all(_PLAIN.fullmatch(v) and "*" not in v for v in m)
            found = "|" + "*".join(m) + "|" if plain else f"|#{len(self.of)}|"
            self.of[m] = found
            self.monomials[found] = m
        return found


def _sum(terms: list[tuple[Monomial, int]], symbols: Symbols) -> str:
    parts = []
    for m, c in terms:
        if not m:
            parts.append(encode.integer_text(c))
        else:
            parts.append(symbols.symbol(m) if c == 1 else f"(* {encode.integer_text(c)} {symbols.symbol(m)})")
    return "0" if not parts else parts[0] if len(parts) == 1 else f"(+ {' '.join(parts)})"


def _relation(op: str, p: Poly, symbols: Symbols) -> str:
    # positive terms on the left, negated negative terms on the right, for readability
    left = [(m, c) for m, c in p.key if c > 0]
    right = [(m, -c) for m, c in p.key if c < 0]
    return f"({op} {_sum(left, symbols)} {_sum(right, symbols)})"


def smtlib(f: Formula, symbols: Symbols) -> str:
    """Return a formula as an SMT-LIB term."""
    match f:
        case AtLeast(p):
            return _relation(">=", p, symbols)
        case All(parts):
            return f"(and {' '.join(smtlib(g, symbols) for g in parts)})" if parts else "true"
        case Some(parts):
            return f"(or {' '.join(smtlib(g, symbols) for g in parts)})" if parts else "false"
    return _relation("=", f.p, symbols)


def monomials(formulas: Iterable[Formula]) -> list[Monomial]:
    """Return the monomials that occur, without the empty one, in order."""
    found = {m for f in formulas for a in atoms(f) for m in a.p.terms if m}
    return sorted(found, key=lambda m: (len(m), m))


def leaf_smtlib(leaf: Leaf) -> str:
    """Return the leaf as an SMT-LIB 2 script in QF_LIA; the expected answer is ``unsat``."""
    symbols = Symbols()
    used = monomials(f.formula for f in leaf)
    lines = ["(set-logic QF_LIA)", "(set-info :status unsat)"]
    for m in used:
        symbol = symbols.symbol(m)
        comment = f" ; {'·'.join(m)}" if symbol.startswith("|#") else ""
        lines.append(f"(declare-const {symbol} Int){comment}")
    for f in leaf:
        lines += [f"; {f.why}", f"(assert {smtlib(f.formula, symbols)})"]
    return "\n".join([*lines, "(check-sat)", ""])


class Meter:
    """The z3 context of one obligation, created lazily, and the resources spent in it."""

    def __init__(self, rlimit: int) -> None:
        self.rlimit = rlimit
        self.questions = 0
        self.last: Any = None
        self._context: z3.Context | None = None

    @property
    def spent(self) -> int:
        """The resource units spent so far, which z3 counts by context."""
        return 0 if self.last is None else encode.resources(self.last)

    @property
    def context(self) -> z3.Context:
        """The context; a separate one keeps resource counts, and so verdicts, independent of other obligations."""
        if self._context is None:
            self._context = z3.Context()
        return self._context


class LinearQuestion:
    """A growing set of assertions, and the solver that holds them."""

    def __init__(self, meter: Meter) -> None:
        self.meter = meter
        self.symbols = Symbols()
        self._declared = 0
        self._solver = encode.limited(z3.SimpleSolver(ctx=meter.context), meter.rlimit)
        self._text: list[str] = []
        self.undecided = False

    def add(self, formulas: Iterable[Formula]) -> None:
        """Add formulas to the assertions."""
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
        """Return whether the assertions are unsatisfiable; false also if the budget is spent."""
        self._flush()
        answer = self._solver.check()
        self.meter.questions += 1
        self.meter.last = self._solver
        self.undecided = answer == z3.unknown
        return bool(answer == z3.unsat)

    def model(self) -> dict[Monomial, int]:
        """Return the values of the monomials in the solver's model; empty if it has none."""
        text: Any = self._solver.model().sexpr()
        found: dict[Monomial, int] = {}
        for symbol, negative, natural in _VALUE.findall(text):
            m = self.symbols.monomials.get(symbol if symbol.startswith("|") else f"|{symbol}|")
            if m is not None:
                found[m] = -int(negative) if negative else int(natural)
        return found
