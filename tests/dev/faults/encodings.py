"""Faults in the prover: operators, bounds and steps with a wrong meaning."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from functools import partial
from typing import Any

import z3

from indexproof.core.condition import Condition
from indexproof.core.expr import Expr, FloorDiv, Var, postorder
from indexproof.verify import solve
from indexproof.verify.encode import Encoder
from indexproof.verify.linear import bounds, reading
from indexproof.verify.linear import lemmas as linear_lemmas
from indexproof.verify.linear.polynomial import Poly
from indexproof.verify.recombine import divided
from indexproof.verify.trust import solvers

from .fault import Batch, Fault
from .lies import Change, lied_about, replaced, without_reduction

__all__ = ["ENCODINGS", "encoding_cases"]


def _witness_with(change: str) -> Callable[[Encoder, Any, Any], tuple[Any, Any]]:
    """Return a division axiom with one error."""

    def wrong(self: Encoder, e: Any, by: Any) -> tuple[Any, Any]:
        q, r = self.fresh(), self.fresh()
        positive = by.get_id() in self._positive or (z3.is_int_value(by) and by.as_long() > 0)
        top = {"remainder as large as the divisor": r <= by, "remainder below divisor less one": r < by - 1}
        low = {"negative remainder": -by < r, "remainder from one": r >= 1}
        equation = {"quotient off by one": e == by * (q + 1) + r, "remainder subtracted": e == by * q - r}
        self.facts += [
            z3.Implies(by != 0, equation.get(change, e == by * q + r)),
            z3.Implies(by > 0, z3.And(low.get(change, r >= 0), top.get(change, r < by))),
        ]
        if not positive and change != "negative divisors are free":
            euclid = z3.And(r >= 0, r < -by)
            self.facts.append(z3.Implies(by < 0, euclid if change == "Euclidean" else z3.And(by < r, r <= 0)))
        return (r, q) if change == "quotient and remainder exchanged" else (q, r)

    return wrong


def _native_with(change: str) -> Callable[[Encoder, Any, Any], tuple[Any, Any]]:
    def wrong(self: Encoder, e: Any, by: Any) -> tuple[Any, Any]:
        q = -((-e) / by) if change == "rounded up" else e / by
        return q, e - by * q

    return wrong


_WRONG_DIVISIONS = (
    "remainder as large as the divisor",
    "remainder below divisor less one",
    "negative remainder",
    "remainder from one",
    "quotient off by one",
    "remainder subtracted",
    "negative divisors are free",
    "Euclidean",
    "quotient and remainder exchanged",
)

_relate = Encoder.compare
_read_relation = reading.Reading.compare
_read_divmod = reading.Reading.divmod
_certain = bounds.Bounds.certain


def _unreduced() -> Any:
    return replaced(without_reduction())


def _with_division(method: str, change: str) -> list[Change]:
    wrong = _witness_with(change) if method == "_witness" else _native_with(change)
    return [without_reduction(), (Encoder, method, wrong)]


def _with_recombination() -> list[Change]:
    """Replace each sum of digits by the number of its first digit, without proving them equal."""

    def wrong(goal: Condition) -> tuple[list[tuple[Expr, Expr]], Condition]:
        for s in divided(goal):
            number = next((e.a for e in postorder(s) if isinstance(e, FloorDiv)), None)
            if number is not None:
                # the equation to be proved is trivial: a sum equals itself
                return [(s, s)], goal.substitute({s: number})
        return [], goal

    return [(solve, "recombinations", wrong)]


def _loose_factors(e: Poly, s: linear_lemmas.Setting) -> Iterator[tuple[Poly, Poly]]:
    """Yield the factors of an equation that are differences, with their cofactors, ignoring the remainder."""
    for p in s.differences if e.degree > 1 else ():
        q, _ = e.divide(p)
        if not q.is_constant:
            yield p, q


#: Changes that give an operator a wrong meaning.
ENCODINGS: dict[str, Callable[[], list[Change]]] = {
    **{f"division, {change}": partial(_with_division, "_witness", change) for change in _WRONG_DIVISIONS},
    **{f"division in models, {change}": partial(_with_division, "_native", change) for change in ("Euclidean",
        "rounded up")},
    "less is less or equal": lambda: [without_reduction(), (Encoder, "compare", lambda s, op, p, q: _relate(s, "<="
        if op == "<" else op, p, q))],
    "less or equal is less": lambda: [without_reduction(), (Encoder, "compare", lambda s, op, p, q: _relate(s, "<"
        if op == "<=" else op, p, q))],
    "comparison turned round": lambda: [without_reduction(), (Encoder, "compare", lambda s, op, p, q: _relate(s, op,
        q, p))],
    "upper bounds dropped": lambda: [without_reduction(), (Encoder, "within", lambda s, e, lo, hi: lo <= e)],
    "lower bounds dropped": lambda: [without_reduction(), (Encoder, "within", lambda s, e, lo, hi: e <= hi)],
    "bounds one too wide": lambda: [without_reduction(), (Encoder, "within", lambda s, e, lo, hi: z3.And(lo <= e, e
        <= hi + 1))],
    "bounds one too narrow": lambda: [without_reduction(), (Encoder, "within", lambda s, e, lo, hi: z3.And(lo <= e,
        e < hi))],
    "a sign lost": lambda: [without_reduction(), (Encoder, "sum", lambda s, k, terms: z3.Sum([s.integer(k), *(t *
        abs(m) for t, m in terms)]))],
    "a constant lost": lambda: [without_reduction(), (Encoder, "sum", lambda s, k, terms: z3.Sum([s.integer(0), *(t
        * m for t, m in terms)]))],
    "a factor lost": lambda: [without_reduction(), (Encoder, "product", lambda s, factors: factors[0])],
    "everything divides": lambda: [without_reduction(), (Encoder, "divides", lambda s, p, e: p != 0)],
    "nothing divides": lambda: [without_reduction(), (Encoder, "divides", lambda s, p, e: s.const(False))],
    "negations lost": lambda: [without_reduction(), (Encoder, "neg", lambda s, part: part)],
    "conjunctions weakened": lambda: [without_reduction(), (Encoder, "conj", lambda s, parts: parts[0])],
    "contradictory facts": lambda: [without_reduction(), (Encoder, "variable", _contradicting(Encoder.variable))],
    "recombined digits of whatever number": _with_recombination,
    "reduction: less is less or equal": lambda: [(reading.Reading, "compare", lambda s, op, p, q: _read_relation(s,
        "<=" if op == "<" else op, p, q))],
    "reduction: less or equal is less": lambda: [(reading.Reading, "compare", lambda s, op, p, q: _read_relation(s,
        "<" if op == "<=" else op, p, q))],
    "reduction: comparison turned round": lambda: [(reading.Reading, "compare", lambda s, op, p, q:
        _read_relation(s, op, q, p))],
    "reduction: quotient off by one": lambda: [(reading.Reading, "divmod", lambda s, p, q: _shifted(_read_divmod(s,
        p, q), 1, 0))],
    "reduction: remainder off by one": lambda: [(reading.Reading, "divmod", lambda s, p, q: _shifted(_read_divmod(s,
        p, q), 0, -1))],
    "reduction: a factor that leaves a rest": lambda: [(linear_lemmas, "_factors", _loose_factors)],
    "reduction: everything is certain": lambda: [(bounds.Bounds, "certain", lambda s, p: True)],
    "reduction: certain though one short": lambda: [(bounds.Bounds, "certain", lambda s, p: _certain(s, p + 1))],
    "reduction: a sign lost": lambda: [(reading.Reading, "sum", lambda s, k, terms: _total(k, [(t, abs(m)) for t, m
        in terms]))],
    "reduction: a constant lost": lambda: [(reading.Reading, "sum", lambda s, k, terms: _total(0, terms))],
}  # fmt: skip


def _shifted(pair: Any, q: int, r: int) -> Any:
    return pair[0] + q, pair[1] + r


def _total(k: int, terms: list[tuple[Any, int]]) -> Any:
    from indexproof.verify.linear.polynomial import constant

    total = constant(k)
    for t, m in terms:
        total = total.plus(t, m)
    return total


def _contradicting(variable: Callable[[Encoder, Var], Any]) -> Callable[[Encoder, Var], Any]:
    def wrong(self: Encoder, v: Var) -> Any:
        made = variable(self, v)
        self.facts.append(made != made + 0)
        return made

    return wrong


def encoding_cases(task: Batch) -> Iterator[Fault]:
    """Yield the cases of claims under one wrong meaning."""
    changes = ENCODINGS[task.detail]()
    baseline = _unreduced if len(changes) > 1 else nullcontext
    yield from lied_about("encoding", task.detail, lambda: replaced(*changes), solvers.available(), baseline)
