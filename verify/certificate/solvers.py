"""Questions of linear arithmetic in SMT-LIB, and the solvers that are asked about them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .formulas import Formula
from .polynomials import Monomial, Polynomial

__all__ = ["Solver", "cvc5_refutes", "linear_question", "z3_refutes"]

#: Whether a question in SMT-LIB is contradictory.
Solver = Callable[[str], bool]


def linear_question(formulas: Sequence[Formula]) -> str:
    """The question whether the formulas contradict each other, every monomial a variable, as SMT-LIB."""
    symbols: dict[Monomial, str] = {}

    def total(p: Polynomial) -> str:
        terms = []
        for m, c in sorted(p.items()):
            number = str(c) if c >= 0 else f"(- {-c})"
            if m:
                symbol = symbols.setdefault(m, f"m{len(symbols)}")
                terms.append(f"(* {number} {symbol})")
            else:
                terms.append(number)
        return f"(+ {' '.join(terms)})" if len(terms) > 1 else terms[0] if terms else "0"

    def text(f: Formula) -> str:
        match f[0]:
            case "ge":
                return f"(>= {total(dict(f[1]))} 0)"
            case "eq":
                return f"(= {total(dict(f[1]))} 0)"
        if len(f) == 1:
            return "true" if f[0] == "and" else "false"
        return f"({f[0]} {' '.join(map(text, f[1:]))})"

    asserted = [f"(assert {text(f)})" for f in formulas]
    declared = [f"(declare-const {s} Int)" for s in symbols.values()]
    return "\n".join(["(set-logic QF_LIA)", *declared, *asserted, "(check-sat)", ""])


def z3_refutes(script: str) -> bool:
    """Whether z3 says that the assertions contradict each other."""
    import z3

    solver = z3.SimpleSolver(ctx=z3.Context())
    solver.set("rlimit", 50_000_000)
    solver.from_string(script)
    return bool(solver.check() == z3.unsat)


def cvc5_refutes(script: str) -> bool:
    """The same by cvc5.  Raises :class:`ImportError` where it is not installed."""
    import cvc5

    manager = cvc5.TermManager() if hasattr(cvc5, "TermManager") else None
    solver = cvc5.Solver(manager) if manager is not None else cvc5.Solver()
    solver.setOption("rlimit", "5000000")
    parser = cvc5.InputParser(solver)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, script, "question")
    symbols = parser.getSymbolManager()
    answers = []
    while not (command := parser.nextCommand()).isNull():
        answers.append(str(command.invoke(solver, symbols)).strip())
    return [a for a in answers if a] == ["unsat"]
