"""The obligation of a lemma of the reduction to linear arithmetic: a proof that does without that reduction.

Every quotient and remainder becomes a pair of fresh integers with ``a = b·q + r`` and ``0 <= r < b``, for each sign of
the divisor apart, every product an opaque integer, and the few instances of *multiples are apart* that the scheme names
are added: then the question is linear.  The lemmas about products themselves, of which none is a premise of another,
are asked of the solver's nonlinear engine.  So nothing is proved by itself.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import z3

from ..core.condition import (
    FALSE,
    And,
    Condition,
    all_exprs,
    all_of,
    any_of,
    condition_interpret,
    negate,
)
from ..core.expr import CeilDiv, Expr, FloorDiv, Mod, Var, interpret, postorder
from .budget import Budget
from .encode import Encoder
from .evidence import ProofQuestion, note
from .linear.formula import FALSE as NEVER
from .linear.formula import Formula, FormulaLogic, at_least, either, zero
from .linear.polynomial import ONE, ZERO, Poly, Ring, variable
from .linear.question import Leaf, LinearQuestion, Meter
from .linear.record import LinearFact
from .obligation import Obligation
from .refute import small_point
from .schemes import LEMMAS, STEPS, Scheme, multiples_are_apart
from .solve import contradiction
from .verdict import Status, Verdict

__all__ = ["FAMILY", "LemmaObligation", "lemma_obligations"]

FAMILY = "lemma"


@dataclass(frozen=True)
class LemmaObligation(Obligation):
    """A lemma as a question of its own; ``renamed`` says where it has other names for the variables of the scheme."""

    renamed: tuple[tuple[Var, Var], ...] = ()

    def decided(self, budget: Budget) -> Verdict:
        """The verdict, without the reduction that uses the lemma."""
        point = small_point(self.hypotheses, self.goal)
        if point is not None:
            witness = {v.name: n for v, n in point.items()}
            status = Status.PROVED if self.question == "exists" else Status.REFUTED
            return Verdict(status, "small points", witness=witness)
        if self.question == "exists":
            return Verdict(Status.UNDECIDED, tried=("small points",))
        scheme = {**LEMMAS, **STEPS}.get(self.subject.removeprefix("lemma: "))
        if scheme is not None and scheme.name in STEPS:
            named = dict(self.renamed)
            apart = [(b.substitute(named), d.substitute(named)) for b, d in scheme.apart]
            leaves, spent = _linear(self.hypotheses, self.goal, apart, 20 * budget.linear)
            if leaves is not None:
                note(ProofQuestion("linear", leaf) for leaf in leaves)
                return Verdict(Status.PROVED, "linear", spent)
        spent = 0
        known = list(self.hypotheses)
        # a quotient is shown before its remainder, which it determines
        for part in self.goal.args if isinstance(self.goal, And) else (self.goal,):
            encoder = Encoder(z3.Context())
            conditions = [*map(encoder.condition, known), z3.Not(encoder.condition(part))]
            proved, cost, asked = contradiction(encoder, conditions, budget.proof)
            spent += cost
            if not proved:
                return Verdict(Status.UNDECIDED, "", spent, tried=("small points", "witness"))
            note(asked)
            known.append(part)
        return Verdict(Status.PROVED, "witness", spent)


def _linear(
    hypotheses: tuple[Condition, ...], goal: Condition, apart: Iterable[tuple[Expr, Expr]], rlimit: int
) -> tuple[list[Leaf] | None, int]:
    """The linear questions that a lemma becomes, all of them contradictory, or ``None``; and their cost."""
    hints = [any_of((b <= 0, multiples_are_apart(b, d))) for b, d in apart]
    given = [*hypotheses, *hints]
    roots = [e for c in (*given, goal) for e in all_exprs(c)]
    divisors = {n.b for n in postorder(*roots) if isinstance(n, (FloorDiv, Mod, CeilDiv))}
    names = sorted({v for d in divisors for v in d.variables()}, key=lambda v: v.name)
    meter = Meter(rlimit)
    leaves: list[Leaf] = []
    for signs in itertools.product((1, -1), repeat=len(names)):
        reading = _Reading(dict(zip(names, signs, strict=True)))
        facts = [reading.formula(c) for c in given]
        negated = reading.formula(negate(goal))
        everything = [*reading.facts, *facts, negated]
        question = LinearQuestion(meter)
        question.add(everything)
        if not question.contradictory():
            return None, meter.spent
        kept = [LinearFact(f, "lemma") for f in everything[:-1]]
        leaves.append(Leaf((*kept, LinearFact(negated, "negated goal")), (), (), "solver"))
    return leaves, meter.spent


class _Reading(Ring, FormulaLogic):
    """Terms as polynomials for given signs of the variables in divisors; also the algebra and the logic for that."""

    def __init__(self, signs: dict[Var, int]) -> None:
        self.facts: list[Formula] = [at_least(self.variable(v) * s - ONE) for v, s in signs.items()]
        self.signs = {v.name: s for v, s in signs.items()}
        self._memo: dict[Expr, Poly] = {}
        self._divided: dict[tuple[Poly, Poly], tuple[Poly, Poly]] = {}
        self._extrema = 0

    def formula(self, c: Condition) -> Formula:
        return condition_interpret(c, self.value, self)

    def value(self, e: Expr) -> Poly:
        return interpret((e,), self, self._memo)[0]

    # -- terms
    def variable(self, v: Var) -> Poly:
        return variable(v.name)

    def _divmod(self, a: Poly, b: Poly) -> tuple[Poly, Poly]:
        if (a, b) not in self._divided:
            ((m, sign),) = b.terms.items()  # divisors of lemmas are products of variables
            for v in m:
                sign *= self.signs[v]
            q, r = (variable(f"{k}!{len(self._divided)}") for k in "qr")
            self._divided[a, b] = q, r
            self.facts += [zero(a - b * q - r), at_least(r * sign), at_least((b - r) * sign - ONE)]
        return self._divided[a, b]

    def floordiv(self, a: Poly, b: Poly) -> Poly:
        return self._divmod(a, b)[0]

    def mod(self, a: Poly, b: Poly) -> Poly:
        return self._divmod(a, b)[1]

    def ceildiv(self, a: Poly, b: Poly) -> Poly:
        return -self._divmod(-a, b)[0]

    def minimum(self, args: list[Poly]) -> Poly:
        return self._extremum(args, 1)

    def maximum(self, args: list[Poly]) -> Poly:
        return self._extremum(args, -1)

    def _extremum(self, args: list[Poly], sign: int) -> Poly:
        self._extrema += 1
        m = variable(f"m!{self._extrema}")
        self.facts += [*(at_least((p - m) * sign) for p in args), either(zero(p - m) for p in args)]
        return m

    # -- conditions
    def divides(self, d: Poly, e: Poly) -> Formula:
        return zero(self._divmod(e, d)[1]) if d != ZERO else NEVER

    def neg(self, part: Formula) -> Formula:
        raise AssertionError("no lemma denies a divisibility")


def lemma_obligations(lemma: Scheme) -> Iterator[LemmaObligation]:
    """*True* of all integers, and *not vacuous*: its premises can be."""

    def owe(kind: str, goal: Condition) -> LemmaObligation:
        return LemmaObligation(
            FAMILY,
            f"lemma: {lemma.name}",
            kind,
            lemma.given,
            goal,
            "valid" if kind == "true" else "exists",
            where="schemes.py",
            claim=lemma.text,
        )

    yield owe("true", lemma.then)
    yield owe("not vacuous", FALSE if lemma.given else negate(all_of(())))
