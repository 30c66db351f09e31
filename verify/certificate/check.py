"""One check of a certificate: the solvers it asks, the lemmas it uses, the claim at hand, and how it is refused."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from ...core.condition import Condition, all_exprs
from ...core.errors import IndexproofError
from ...core.expr import CeilDiv, Expr, FloorDiv, Mod, postorder
from ..schemes import LEMMAS, STEPS
from .polynomials import Formula, Monomial, Polynomial
from .state import State, Unknown

__all__ = [
    "CertificateRefused",
    "CertifiedClaim",
    "Check",
    "Solver",
    "Verified",
    "cvc5_refutes",
    "z3_refutes",
]

#: Whether a question in SMT-LIB is contradictory.
Solver = Callable[[str], bool]


class CertificateRefused(IndexproofError):
    """A certificate that proves nothing: what is wrong, and where."""

    def __init__(self, place: str, reason: str) -> None:
        self.place = place
        self.reason = reason
        super().__init__(f"{place}: {reason}")


@dataclass
class Verified:
    """The result of a check: the claim, how many steps and leaves it took, the lemmas and the solvers that were asked."""

    name: str
    hypotheses: tuple[Condition, ...]
    goal: Condition
    steps: int = 0
    leaves: int = 0
    questions: int = 0
    lemmas: dict[str, int] = field(default_factory=dict)
    solvers: tuple[str, ...] = ()


@dataclass
class Check:
    """The terms of the certificate, the lemmas that are proved (``None``: all), the solvers, and the counts so far."""

    terms: Sequence[Expr]
    proved: Collection[str] | None
    solvers: Mapping[str, Solver]
    found: Verified

    def contradictory(self, formulas: Sequence[Formula], place: str) -> None:
        """Refuse unless every solver says that the formulas contradict each other."""
        script = _linear_question(formulas)
        self.found.questions += 1
        for name, refutes in self.solvers.items():
            if not refutes(script):
                raise CertificateRefused(place, f"{name} does not say that these facts contradict each other")

    def lemma(self, name: str, place: str) -> None:
        """Count a use of a lemma.  Refuse one that is not proved."""
        if name not in LEMMAS and name not in STEPS:
            raise CertificateRefused(place, f"there is no lemma {name!r}")
        if self.proved is not None and name not in self.proved:
            raise CertificateRefused(place, f"the lemma {name!r} is not proved")
        self.found.lemmas[name] = self.found.lemmas.get(name, 0) + 1


@dataclass
class CertifiedClaim:
    """Hypotheses and goals that are proved by cases, and the check that they are part of."""

    check: Check
    known: list[Condition]
    goals: list[Condition]

    @cached_property
    def divisors(self) -> list[Expr]:
        """The divisors of the claim; it is assumed that none is zero."""
        roots = [e for c in (*self.known, *self.goals) for e in all_exprs(c)]
        return list({n.b: None for n in postorder(*roots) if isinstance(n, (FloorDiv, Mod, CeilDiv))})

    def divides_by(self, divisor: Polynomial, state: State) -> bool:
        """Whether a divisor of the claim is this polynomial, up to its sign."""
        memo: dict[Expr, Polynomial] = {}
        for d in self.divisors:
            try:
                value = state.value(d, memo)
            except Unknown:
                continue
            if value in (divisor, -divisor):
                return True
        return False


# -------------------------------------------------------------------------------------------------------- solvers
def _linear_question(formulas: Sequence[Formula]) -> str:
    """The question whether the formulas contradict each other, every monomial a variable, as SMT-LIB."""
    symbols: dict[Monomial, str] = {}

    def total(p: Polynomial) -> str:
        terms = []
        for m, c in sorted(p.items()):
            number = str(c) if c >= 0 else f"(- {-c})"
            terms.append(f"(* {number} {symbols.setdefault(m, f'm{len(symbols)}')})" if m else number)
        return f"(+ {' '.join(terms)})" if len(terms) > 1 else terms[0] if terms else "0"

    def text(f: Formula) -> str:
        if f[0] in ("ge", "eq"):
            return f"({'>=' if f[0] == 'ge' else '='} {total(Polynomial(f[1]))} 0)"
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
