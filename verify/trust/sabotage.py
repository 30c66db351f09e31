"""Sabotage: everything that could make a wrong verdict look right is done on purpose, and must be noticed.

A case tampers with one thing: an entry of the cache, a claim, the meaning of an operator, an answer of a solver, a step
of a certificate.  It is noticed if no wrong verdict comes of it: the entry is not believed, the engines contradict each
other, the claim is refuted, the certificate is refused, or nothing is proved.  What makes no difference is no case: a
claim that stays true is not counted, nor a lie that changes no outcome.  Claims whose counterexamples are far away are
lied about only where cvc5 is installed, which is what notices; reports/trust.md says which kind rests on what.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import signal
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import z3

from ...core.condition import Compare, Condition
from ...core.expr import Expr, FloorDiv, Var, postorder, var
from .. import solve
from ..cache import FORMAT, Cache, content_key
from ..catalogue import catalogue, sections
from ..encode import Encoder
from ..linear import bounds, question, reading
from ..linear import lemmas as linear_lemmas
from ..linear.polynomial import Poly
from ..linear.record import Node
from ..obligations import Obligation
from ..preprocess import unquotiented
from ..recheck import is_example
from ..recombine import divided
from ..rolls import Whole, common_digest, depends, roll_name, sound_roll, state
from ..rulefiles import StatedRule, read_rule_file, stated_rule_obligations
from ..solve import Budget, decide
from ..sources import read_sources
from ..verdict import Status, Verdict
from . import opinion, solvers
from .disagreement import Disagreement
from .mutation import false_mutants

__all__ = ["Outcome", "Task", "perform", "selftest", "tasks"]

#: Claims are small, so their proofs are too.
BUDGET = Budget(proof=60_000, model=60_000, quick=20_000, linear=7_500)


@dataclass(frozen=True)
class Outcome:
    """One case: what was done, to what, and what noticed it (empty: nothing did)."""

    kind: str
    name: str
    noticed: str


@dataclass(frozen=True)
class Task:
    """Cases that are performed together: a kind, and for some kinds which part of the work."""

    kind: str
    detail: str = ""
    part: int = 0
    parts: int = 1


#: The kinds in the order of the report, each with what performs it.
_KINDS: dict[str, Callable[[Task], Iterator[Outcome]]] = {}


def _kind(name: str) -> Callable[[Callable[[Task], Iterator[Outcome]]], Callable[[Task], Iterator[Outcome]]]:
    def note(perform_: Callable[[Task], Iterator[Outcome]]) -> Callable[[Task], Iterator[Outcome]]:
        _KINDS[name] = perform_
        return perform_

    return note


def tasks() -> list[Task]:
    """Everything there is to do, the long tasks first."""
    found = [Task("claim", part=k, parts=_CLAIM_PARTS) for k in range(_CLAIM_PARTS)]
    found += [Task("encoding", name) for name in _ENCODINGS]
    found += [Task("solver", name) for name in _LIES]
    found += [Task("second solver", name) for name in _SECOND_LIES] if solvers.available() else []
    found += [
        Task(kind)
        for kind in (
            "rule file",
            "whole rule",
            "instance",
            "certificate",
            "cache entry",
            "cache file",
            "roll",
            "crash",
        )
    ]
    return found


def perform(task: Task) -> list[Outcome]:
    """The cases of one task."""
    return list(_KINDS[task.kind](task))


def selftest(jobs: int, progress: Callable[[Task, list[Outcome]], None] | None = None) -> list[Outcome]:
    """Perform all tasks, in processes of their own; the cases in the order of the tasks."""
    from concurrent.futures import as_completed

    from ..run import ended, workers

    todo = tasks()
    found: dict[Task, list[Outcome]] = {}
    pool = workers(jobs)
    finished = False
    try:
        pending = {pool.submit(perform, t): t for t in todo if t.kind != "crash"}
        for future in as_completed(pending):
            found[pending[future]] = future.result()
            if progress is not None:
                progress(pending[future], future.result())
        finished = True
    finally:
        ended(pool, finished=finished)
    for t in todo:
        if t.kind == "crash":  # starts processes of its own
            found[t] = perform(t)
            if progress is not None:
                progress(t, found[t])
    return [o for t in todo for o in found[t]]


# ------------------------------------------------------------------------------------------------------- the claims
a, b, c, d, n, x, y = (var(name) for name in "abcdnxy")

_Claim = tuple[str, tuple[Condition, ...], Condition]
#: True of all integers.
_TRUE: tuple[_Claim, ...] = (
    ("product of naturals", (x >= 0, y >= 0), x * y >= 0),
    ("remainder below", (d > 0,), x % d < d),
    ("remainder above", (d > 0,), x % d >= 0),
    ("negative remainder", (d < 0,), x % d <= 0),
    ("negative remainder below", (d < 0,), d < x % d),
    ("division splits", (d.ne(0),), x.eq(d * (x // d) + x % d)),
    ("quotient of multiple", (d.ne(0),), (x * d // d).eq(x)),
    ("carry", (d > 0,), ((x * d + y) // d).eq(x + y // d)),
    ("small dividend", (0 <= x, x < d), (x // d).eq(0)),
    ("quotient shrinks", (x >= 0, d > 0), x // d <= x),
    ("nested quotient", (a > 0, b > 0), (x // a // b).eq(x // (a * b))),
    ("divisible", (d > 0, d.divides(x)), (x % d).eq(0)),
    ("quotient is monotone", (d > 0, x <= y), x // d <= y // d),
    ("digits", (x.within(0, a - 1), y.within(0, b - 1)), (x * b + y).within(0, a * b - 1)),
    ("equal multiples", ((x * (d + n)).eq(y * (d + n)), (d + n).ne(0)), x.eq(y)),
    ("digits divided again", (d > 0, c > 0), ((x // d * d + x % d) // c).eq(x // c)),
    ("dividends said to be equal", (c > 0, (x + y).eq(a * d + b)), ((x + y) // c).eq((a * d + b) // c)),
)
#: Digits, what is known of them, and a number that they do not make up.
_DIGITS: tuple[tuple[str, tuple[Condition, ...], Expr, Expr], ...] = (
    ("digits of another weight", (d > 0, n > 0), x // d * n + x % d, x),
    ("digits of two numbers", (), x // 8 * 8 + y % 8, x),
    ("digits without the highest", (d > 0, n > 0), x // d % n * d + x % d, x),
    ("digits with a sign", (d > 0,), x // d * d - x % d, x),
)
#: Dividends, what is said of them, and something else that they are not equal to.
_DIVIDENDS: tuple[tuple[str, tuple[Condition, ...], Expr, Expr], ...] = (
    ("a dividend that is only bounded", (x + y <= a * d + b,), x + y, a * d + b),
    ("dividends that are one apart", ((x + y).eq(a * d + b + 1),), x + y, a * d + b),
    ("dividends with opposite signs", ((x + y).eq(-(a * d) - b),), x + y, a * d + b),
    ("dividends of which other sums are equal", ((x + n).eq(a * d + b),), x + y, a * d + b),
)
#: False, at a point that is small.
_FALSE: tuple[_Claim, ...] = (
    ("product of naturals is positive", (x >= 0, y >= 0), x * y > 0),
    ("remainder is below less one", (d > 0,), x % d < d - 1),
    ("remainder is positive", (d > 0,), x % d > 0),
    ("remainder of any sign", (d.ne(0),), x % d >= 0),
    ("remainder of any sign below", (d.ne(0),), x % d < d),
    ("quotient of a negative divisor is negative", (x >= 0, d < 0), x // d < 0),
    ("truncation", (x < 0, d > 0), (x // d).eq(-(-x // d))),
    ("carry without a sign", (d > 1,), ((x * d + y) // d).eq(x)),
    ("small dividend, one too large", (0 <= x, x <= d, d > 0), (x // d).eq(0)),
    ("quotient shrinks always", (d > 0,), x // d <= x),
    ("nested quotient of any sign", (a.ne(0), b.ne(0)), (x // a // b).eq(x // (a * b))),
    ("divisible by chance", (d > 1,), (x % d).eq(0)),
    ("monotone for all divisors", (d.ne(0), x <= y), x // d <= y // d),
    ("digits without bounds", (x.within(0, a - 1), y.within(0, b)), (x * b + y).within(0, a * b - 1)),
    ("a linear slip", (x >= 1, y >= 1), x + y >= 3),
    ("multiples one apart", ((x * d).eq(y * d + d), d.ne(0)), x.eq(y)),
    ("an equation", ((x + y).eq(5),), x <= 5),
    ("bound of a quotient, one too far", (d > 0, x <= d * y + d), x // d <= y),
    ("quotient as a bound, one too near", (d > 0, d * y - d + 1 <= x), y <= x // d),
    ("bound of a quotient of any sign", (d.ne(0), x <= d * y + d - 1), x // d <= y),
    ("quotient of any sign as a bound", (d.ne(0), d * y <= x), y <= x // d),
    *(
        (name, (*known, c > 0), (one // c).eq(other // c))
        for name, known, one, other in (*_DIGITS, *_DIVIDENDS)
    ),
)
#: False, at points that no table of small points holds.
_FAR: tuple[_Claim, ...] = (
    ("far bound", (x >= 0,), x <= 1_000_003),
    ("far remainder", (x.within(0, 5003),), (x // 5003).eq(0)),
    ("far quotient", (x >= 0, x % 1009 <= 1007), (x // 1009).eq((x + 1) // 1009) & (x <= 99_999)),
    ("far sum", (x >= 0, y >= 0), x + 3 * y <= 77_777),
    ("far product", (n >= 1, x.within(0, n)), x * 5 <= n * 4 + 999),
    ("far quotient of a constant", (x >= 0,), x // 7 <= 70_000),
    ("far multiple", (x >= 0, (x % 97).eq(0)), x <= 123_456),
    ("far extremum", (x >= 0,), (x + 7) // 8 <= 8191),
)


def _obligations(claims: Sequence[_Claim], kind: str) -> list[Obligation]:
    return [Obligation("sabotage", name, kind, hypotheses, goal) for name, hypotheses, goal in claims]


def _bank() -> list[tuple[Obligation, bool]]:
    """Claims, and whether they are true."""
    found = [(o, True) for o in _obligations(_TRUE, "true")]
    found += [(o, False) for o in _obligations(_FALSE, "false")]
    if solvers.available():
        found += [(o, False) for o in _obligations(_FAR, "false far away")]
    return found


def _examined(o: Obligation, confirm: bool) -> tuple[str, Verdict | None]:
    """How the examination of a claim ends: the verdict, or what stopped it."""
    from ..run import examine

    try:
        v = examine(o, BUDGET, confirm)
    except Disagreement as found:
        return ("second solver" if any("cvc5" in name for name in found.answers) else "evaluation"), None
    except (z3.Z3Exception, AssertionError, ArithmeticError, LookupError, TypeError, ValueError) as error:
        return f"stopped: {type(error).__name__}", None
    if confirm and v.proved and v.strategy != "identity" and not (v.opinion and v.opinion.confirms):
        return "not confirmed", v
    return v.status.value, v


def _wrong(o: Obligation, true: bool, v: Verdict | None, said: str) -> bool:
    """Whether a wrong verdict has come out."""
    if v is None or said == "not confirmed":
        return False
    if v.proved:
        return not true
    refuted = v.status in (Status.REFUTED, Status.UNDEFINED)
    return refuted and (true or v.witness is None or not is_example(o, v.witness))


def _lied_about(
    kind: str,
    name: str,
    tampering: Callable[[], Any],
    confirm: bool,
    baseline: Callable[[], Any] = nullcontext,
) -> Iterator[Outcome]:
    """Every claim of the bank is a case whose right outcome under ``baseline`` the tampering changes."""
    for k, (o, true) in enumerate(_bank()):
        with baseline(), _briefly():
            honest = _honest(k, confirm, baseline)
        with tampering(), _briefly():
            _forget()
            said, v = _examined(o, confirm)
            _forget()
        wrong = _wrong(o, true, v, said)
        settled = v is not None and v.status is not Status.UNDECIDED and said != "not confirmed"
        if not wrong and (said == honest or settled):
            continue  # it came to the right verdict all the same
        yield Outcome(kind, f"{name}: {o.subject}", "" if wrong else _NOTICED.get(said, said))


def _briefly() -> Any:
    """Less patience of the second solver: the claims are small."""
    return _replaced((opinion, "_LIMITS", opinion.Limits(leaf=100_000, whole=5_000, patient=10_000)))


@cache
def _honest(k: int, confirm: bool, baseline: Callable[[], Any]) -> str:
    """How the examination of claim number ``k`` ends where nobody lies."""
    _forget()
    said = _examined(_bank()[k][0], confirm)[0]
    _forget()
    return said


_NOTICED = {Status.UNDECIDED.value: "nothing is proved"}


def _forget() -> None:
    """Answers that are remembered were given by somebody else."""
    from ..solve import _attempt

    _attempt.cache_clear()
    if opinion.cvc5_reply is not _reply:
        opinion._reply.cache_clear()


_INHERITED = object()


@contextmanager
def _replaced(*changes: tuple[Any, str, Any]) -> Iterator[None]:
    """Attributes of classes and modules with other values."""
    # what a class inherits is nothing of its own, and is not to become that
    before = [(owner, name, vars(owner).get(name, _INHERITED)) for owner, name, _ in changes]
    try:
        for owner, name, value in changes:
            setattr(owner, name, value)
        yield
    finally:
        for owner, name, value in before:
            if value is _INHERITED:
                delattr(owner, name)
            else:
                setattr(owner, name, value)


# -------------------------------------------------------------------------------------------------------- encodings
def _witness_with(change: str) -> Callable[[Encoder, Any, Any], tuple[Any, Any]]:
    """A division axiom that is wrong in one way."""

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
    return _replaced(_no_reduction())


def _no_reduction() -> tuple[Any, str, Any]:
    """Without the reduction to linear arithmetic, so that the encoding is asked."""
    from .. import linear
    from ..linear import Outcome as Reduced

    def nothing(*_: Any, **__: Any) -> Reduced:
        return Reduced(False, "linear", (), (), 0, 0)

    return linear, "prove", nothing


def _with_division(method: str, change: str) -> list[tuple[Any, str, Any]]:
    wrong = _witness_with(change) if method == "_witness" else _native_with(change)
    return [_no_reduction(), (Encoder, method, wrong)]


def _with_quotient_bound(change: str) -> list[tuple[Any, str, Any]]:
    """A bound of a dividend that is none of the quotient."""

    def wrong(hypotheses: Sequence[Condition], goal: Condition) -> Condition | None:
        if not isinstance(goal, Compare) or goal.op not in ("<=", "<"):
            return None
        small, large, gap = goal.a, goal.b, 0 if goal.op == "<=" else 1
        if change != "divisors of any sign" and unquotiented(hypotheses, goal) is None:
            return None
        if isinstance(small, FloorDiv):
            wide = 0 if change == "one too wide" else 1
            return small.a <= small.b * (large - gap) + small.b - wide
        if isinstance(large, FloorDiv):
            below = large.b - 1 if change == "one too wide from below" else 0
            return large.b * (small + gap) - below <= large.a
        return None

    return [(solve, "unquotiented", wrong)]


def _with_recombination() -> list[tuple[Any, str, Any]]:
    """Digits are put together to the number of the first of them, and nobody asks whether they make it up."""

    def wrong(goal: Condition) -> tuple[list[tuple[Expr, Expr]], Condition]:
        for s in divided(goal):
            number = next((e.a for e in postorder(s) if isinstance(e, FloorDiv)), None)
            if number is not None:
                # what is asked is true: that a sum is equal to itself
                return [(s, s)], goal.substitute({s: number})
        return [], goal

    return [(solve, "recombinations", wrong)]


def _with_equated(change: str) -> list[tuple[Any, str, Any]]:
    """Dividends are replaced by what they are compared with, as if that were said to be equal to them."""

    def wrong(
        hypotheses: Sequence[Condition], goal: Condition
    ) -> tuple[list[tuple[Expr, Expr]], list[Condition], Condition]:
        dividends = set(divided(goal))
        for h in (h for h in hypotheses if isinstance(h, Compare)):
            for one, other in ((h.a, h.b), (h.b, h.a)):
                if one not in dividends or (h.op == "==") is (change == "by their bounds"):
                    continue
                if change == "one too small":
                    other = other - 1
                elif change == "with the opposite sign":
                    other = -other
                # what is asked is true: that a dividend is equal to itself
                return [(one, one)], list(hypotheses), goal.substitute({one: other})
        return [], list(hypotheses), goal

    return [(solve, "equated", wrong)]


def _loose_factors(e: Poly, s: linear_lemmas.Setting) -> Iterator[tuple[Poly, Poly]]:
    """Differences and what they are multiplied with in an equation, whatever else is in it."""
    for p in s.differences if e.degree > 1 else ():
        q, _ = e.divide(p)
        if not q.is_constant:
            yield p, q


#: Ways to give an operator the wrong meaning: what to replace by what.
_ENCODINGS: dict[str, Callable[[], list[tuple[Any, str, Any]]]] = {
    **{f"division, {change}": partial(_with_division, "_witness", change) for change in _WRONG_DIVISIONS},
    **{
        f"division in models, {change}": partial(_with_division, "_native", change)
        for change in ("Euclidean", "rounded up")
    },
    "less is less or equal": lambda: [
        _no_reduction(),
        (Encoder, "compare", lambda s, op, p, q: _relate(s, "<=" if op == "<" else op, p, q)),
    ],
    "less or equal is less": lambda: [
        _no_reduction(),
        (Encoder, "compare", lambda s, op, p, q: _relate(s, "<" if op == "<=" else op, p, q)),
    ],
    "comparison turned round": lambda: [
        _no_reduction(),
        (Encoder, "compare", lambda s, op, p, q: _relate(s, op, q, p)),
    ],
    "upper bounds dropped": lambda: [_no_reduction(), (Encoder, "within", lambda s, e, lo, hi: lo <= e)],
    "lower bounds dropped": lambda: [_no_reduction(), (Encoder, "within", lambda s, e, lo, hi: e <= hi)],
    "bounds one too wide": lambda: [
        _no_reduction(),
        (Encoder, "within", lambda s, e, lo, hi: z3.And(lo <= e, e <= hi + 1)),
    ],
    "bounds one too narrow": lambda: [
        _no_reduction(),
        (Encoder, "within", lambda s, e, lo, hi: z3.And(lo <= e, e < hi)),
    ],
    "a sign lost": lambda: [
        _no_reduction(),
        (Encoder, "sum", lambda s, k, terms: z3.Sum([s.integer(k), *(t * abs(m) for t, m in terms)])),
    ],
    "a constant lost": lambda: [
        _no_reduction(),
        (Encoder, "sum", lambda s, k, terms: z3.Sum([s.integer(0), *(t * m for t, m in terms)])),
    ],
    "a factor lost": lambda: [_no_reduction(), (Encoder, "product", lambda s, factors: factors[0])],
    "everything divides": lambda: [_no_reduction(), (Encoder, "divides", lambda s, p, e: p != 0)],
    "nothing divides": lambda: [_no_reduction(), (Encoder, "divides", lambda s, p, e: s.const(False))],
    "negations lost": lambda: [_no_reduction(), (Encoder, "neg", lambda s, part: part)],
    "conjunctions weakened": lambda: [_no_reduction(), (Encoder, "conj", lambda s, parts: parts[0])],
    "contradictory facts": lambda: [
        _no_reduction(),
        (Encoder, "variable", _contradicting(Encoder.variable)),
    ],
    **{
        f"quotient bound, {change}": partial(_with_quotient_bound, change)
        for change in ("one too wide", "one too wide from below", "divisors of any sign")
    },
    "recombined digits of whatever number": _with_recombination,
    **{
        f"equated dividends, {change}": partial(_with_equated, change)
        for change in ("by their bounds", "one too small", "with the opposite sign")
    },
    "reduction: less is less or equal": lambda: [
        (reading.Reading, "compare", lambda s, op, p, q: _read_relation(s, "<=" if op == "<" else op, p, q))
    ],
    "reduction: less or equal is less": lambda: [
        (reading.Reading, "compare", lambda s, op, p, q: _read_relation(s, "<" if op == "<=" else op, p, q))
    ],
    "reduction: comparison turned round": lambda: [
        (reading.Reading, "compare", lambda s, op, p, q: _read_relation(s, op, q, p))
    ],
    "reduction: quotient off by one": lambda: [
        (reading.Reading, "divmod", lambda s, p, q: _shifted(_read_divmod(s, p, q), 1, 0))
    ],
    "reduction: remainder off by one": lambda: [
        (reading.Reading, "divmod", lambda s, p, q: _shifted(_read_divmod(s, p, q), 0, -1))
    ],
    "reduction: a factor that leaves a rest": lambda: [(linear_lemmas, "_factors", _loose_factors)],
    "reduction: everything is certain": lambda: [(bounds.Bounds, "certain", lambda s, p: True)],
    "reduction: certain though one short": lambda: [
        (bounds.Bounds, "certain", lambda s, p: _certain(s, p + 1))
    ],
    "reduction: a sign lost": lambda: [
        (reading.Reading, "sum", lambda s, k, terms: _total(k, [(t, abs(m)) for t, m in terms]))
    ],
    "reduction: a constant lost": lambda: [(reading.Reading, "sum", lambda s, k, terms: _total(0, terms))],
}


def _shifted(pair: Any, q: int, r: int) -> Any:
    return pair[0] + q, pair[1] + r


def _total(k: int, terms: list[tuple[Any, int]]) -> Any:
    from ..linear.polynomial import constant

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


@_kind("encoding")
def _encoding(task: Task) -> Iterator[Outcome]:
    changes = _ENCODINGS[task.detail]()
    baseline = _unreduced if len(changes) > 1 else nullcontext
    yield from _lied_about(
        "encoding", task.detail, lambda: _replaced(*changes), solvers.available(), baseline
    )


# ---------------------------------------------------------------------------------------------------------- solvers
_check = z3.Solver.check
_contradictory = question.Question.contradictory
_value = z3.ModelRef.eval


def _fault(*_: Any, **__: Any) -> Any:
    raise z3.Z3Exception("out of memory")


class _Every:
    """Every so many answers."""

    def __init__(self, period: int) -> None:
        self.period = period
        self.asked = 0

    def now(self) -> bool:
        self.asked += 1
        return self.asked % self.period == 0


def _sometimes(period: int) -> Callable[..., Any]:
    turn = _Every(period)

    def check(self: z3.Solver, *more: Any) -> Any:
        answer = _check(self, *more)
        if not turn.now():
            return answer
        return z3.unsat if answer == z3.sat else z3.sat if answer == z3.unsat else answer

    return check


def _off_by(k: int) -> Callable[..., Any]:
    def value(self: z3.ModelRef, e: Any, model_completion: bool = False) -> Any:
        found = _value(self, e, model_completion)
        return z3.IntVal(found.as_long() + k, found.ctx) if z3.is_int_value(found) else found

    return value


#: Ways in which a solver may be wrong.
_LIES: dict[str, Callable[[], list[tuple[Any, str, Any]]]] = {
    "always unsat": lambda: [(z3.Solver, "check", lambda s, *more: z3.unsat)],
    "always sat": lambda: [(z3.Solver, "check", lambda s, *more: (_check(s, *more), z3.sat)[1])],
    "always unknown": lambda: [(z3.Solver, "check", lambda s, *more: z3.unknown)],
    "always the contrary": lambda: [(z3.Solver, "check", _sometimes(1))],
    "every second answer wrong": lambda: [(z3.Solver, "check", _sometimes(2))],
    "every third answer wrong": lambda: [(z3.Solver, "check", _sometimes(3))],
    "every fifth answer wrong": lambda: [(z3.Solver, "check", _sometimes(5))],
    "a fault instead of an answer": lambda: [(z3.Solver, "check", _fault)],
    "models off by one": lambda: [_no_reduction(), (z3.ModelRef, "eval", _off_by(1))],
    "models far off": lambda: [_no_reduction(), (z3.ModelRef, "eval", _off_by(-1000))],
    "every leaf is contradictory": lambda: [(question.Question, "contradictory", lambda s: True)],
    "unknown is unsat": lambda: [
        (z3.Solver, "check", lambda s, *more: z3.unsat if (r := _check(s, *more)) == z3.unknown else r)
    ],
    "unsat without the last assertion": lambda: [(z3.Solver, "check", _without_last)],
}


def _without_last(self: z3.Solver, *more: Any) -> Any:
    """A solver that adds a contradiction of its own to what it is asked about products."""
    answer = _check(self, *more)
    return z3.unsat if answer == z3.sat and len(self.assertions()) > 2 else answer


@_kind("solver")
def _solver(task: Task) -> Iterator[Outcome]:
    # made anew for each claim, so that counted lies begin at the beginning
    make = _LIES[task.detail]
    yield from _lied_about("solver", task.detail, lambda: _replaced(*make()), solvers.available())


_reply = solvers.cvc5_reply


def _second(answers: dict[str, str]) -> Callable[..., solvers.Reply]:
    def reply(script: str, rlimit: int, **more: Any) -> solvers.Reply:
        found = _reply(script, rlimit, **more)
        return replace(found, answer=answers.get(found.answer, found.answer), values=())

    return reply


_SECOND_LIES: dict[str, dict[str, str]] = {
    "sat for unsat": {"unsat": "sat"},
    "unsat for sat": {"sat": "unsat"},
    "unknown for unsat": {"unsat": "unknown"},
    "unknown for sat": {"sat": "unknown"},
}


@_kind("second solver")
def _second_solver(task: Task) -> Iterator[Outcome]:
    lie = _second(_SECOND_LIES[task.detail])
    yield from _lied_about(
        "second solver", task.detail, lambda: _replaced((opinion, "cvc5_reply", lie)), confirm=True
    )


# ----------------------------------------------------------------------------------------------------------- claims
_CLAIM_PARTS = 6
#: So many claims are changed, each in so many ways.
_CLAIMS, _WAYS = 120, 5


def _true_claims() -> list[Obligation]:
    """Claims of the catalogue that are worth changing, of all families."""
    found = [
        o
        for o in catalogue(max_rank=2)
        if o.question == "valid" and o.gate and o.kind != "progress" and o.hypotheses and not o.width
    ]
    by_family: dict[str, list[Obligation]] = {}
    for o in found:
        by_family.setdefault(o.family, []).append(o)
    share = _CLAIMS // len(by_family)
    return [o for of in by_family.values() for o in of[:: max(1, len(of) // share)][:share]]


@_kind("claim")
def _claim(task: Task) -> Iterator[Outcome]:
    for o in _true_claims()[task.part :: task.parts]:
        for m in false_mutants(o, _WAYS):
            try:
                v = decide(m.obligation, BUDGET)
            except Disagreement:
                # a prover that is itself must not be convinced
                yield Outcome("claim", m.obligation.name, "")
                continue
            refuted = v.status in (Status.REFUTED, Status.UNDEFINED)
            shown = refuted and v.witness is not None and is_example(m.obligation, v.witness)
            yield Outcome("claim", m.obligation.name, "refuted" if shown else "")


#: Rules in the meaning of several compilers, all of them true.
_RULES = """
{semantics}
int x, y
const c0, c1
nested: (x / c0) / c1 -> x / fold(c0 * c1) if c0 > 0, c1 > 0
whole: (x / c0) * c0 + x % c0 -> x if c0 != 0
multiple: (x * c0) / c0 -> x if c0 != 0
apart: (x * c0 + y) / c0 -> x if c0 > 0, x >= 0, y >= 0, y < c0
small: x / c0 -> 0 if x >= 0, x < c0
rest: x % c0 -> x if x >= 0, x < c0
again: (x % c0) % c0 -> x % c0 if c0 > 0
scaled: (x * c0) % c0 -> 0 if c0 != 0
clamped: min(max(x, c0), c1) -> c0 if x <= c0, c0 <= c1
smaller: x / c0 <= x -> true if x >= 0, c0 > 0
"""
_SEMANTICS = ("floor", "trunc", "euclid", "floor0", "trunc0", "euclid0")


def _false_rules() -> Iterator[tuple[str, StatedRule]]:
    """The rules without a condition, or with another right side, where a point shows that they are false."""
    from ..rulefiles.evaluate import judge
    from ..rulefiles.sample import table_of
    from ..rulefiles.terms import Term

    one = Term("int", value=1)
    for semantics in _SEMANTICS:
        rules = read_rule_file(_RULES.format(semantics=f"semantics {semantics}"), "sabotage.rules").rules
        for r in rules:
            changed = [
                (f"without {k + 1}", replace(r, conditions=(*r.conditions[:k], *r.conditions[k + 1 :])))
                for k in range(len(r.conditions))
            ]
            if r.sort == "int":
                changed.append(("one more", replace(r, right=Term("add", (r.right, one)))))
                changed.append(("opposite", replace(r, right=Term("neg", (r.right,)))))
            for what, wrong in changed:
                point = table_of(wrong).counterexample()
                if point is not None and judge(wrong, point) in ("counterexample", "undefined"):
                    yield f"{semantics} {r.name}, {what}", wrong


@_kind("rule file")
def _rule_file(task: Task) -> Iterator[Outcome]:
    for what, wrong in _false_rules():
        o = next(stated_rule_obligations(wrong))
        v = decide(o, BUDGET)
        refuted = v.status in (Status.REFUTED, Status.UNDEFINED) and v.witness is not None
        shown = refuted and is_example(o, v.witness or {})
        yield Outcome("rule file", what, "refuted" if shown else "")


@_kind("whole rule")
def _whole_rule(task: Task) -> Iterator[Outcome]:
    """A false rule is put to incremental linearisation alone, without the points that would refute it before."""
    from ..rulefiles.evaluate import judge
    from ..rulefiles.whole import as_a_whole

    for what, wrong in _false_rules():
        found = as_a_whole(wrong, 20 * BUDGET.linear)
        if found.proved:
            noticed = ""
        elif found.found is None:
            noticed = "nothing is proved"
        else:
            noticed = "refuted" if judge(wrong, found.found) in ("counterexample", "undefined") else ""
        yield Outcome("whole rule", what, noticed)


#: False rules, each with a true one that is called a wider rule and is none: preamble, rule, what it is taken for.
_INSTANCES: tuple[tuple[str, str, str, str], ...] = (
    ("two terms for one variable", "", "(x + y) * c - (x - y) * c -> 0", "t1 * c - t1 * c -> 0"),
    ("two terms that are nearly the same", "", "x * c + 1 <= x * d -> false", "t1 + 1 <= t1 -> false"),
    ("fewer values than the term has", "", "(x + y) / 8 + (x + y) * 0 -> 0", "i / 8 + i * 0 -> 0"),
    ("another literal", "", "(x + y) * 2 -> (x + y) + (x + y) + 1", "t1 * 2 -> t1 + t1"),
    ("another operator", "", "(x + y) % c -> (x + y) / c", "t1 % c -> t1 % c"),
    ("another variable", "", "x * c / d -> x * d / c", "t1 / t2 -> t1 / t2"),
    ("a condition more", "", "(x + y) % c -> 0", "t1 % c -> 0 if t1 % c == 0"),
    ("another condition", "", "(x * y) % c -> x * y if x * y <= c", "t1 % c -> t1 if 0 <= t1, t1 < c"),
    ("a term without a value", "semantics floor", "0 -> x / y - x / y", "0 -> t1 - t1"),
    ("a remainder without a value", "semantics trunc", "0 -> x % c - x % c", "0 -> t1 - t1"),
    (
        "a sum that overflows",
        "integers 8 bits undefined",
        "x * 0 -> (x + y) - (x + y)",
        "x * 0 -> t1 - t1",
    ),
    (
        "a term without a value that is not chosen",
        "semantics trunc",
        "select(y == 0, x, x / y) -> select(x / y == x / y, select(y == 0, x, x / y), 7)",
        "select(y == 0, x, t1) -> select(t1 == t1, select(y == 0, x, t1), 7)",
    ),
    (
        "a part without a value of what is true without it",
        "semantics floor",
        "p or x / y == c -> (p or x / y == c) and x / y <= x / y",
        "p or t1 == c -> (p or t1 == c) and t1 <= t1",
    ),
    (
        "a condition that does not overflow",
        "integers 8 bits undefined",
        "x -> (x + y) - (x + y) + x if x + y > 0",
        "x -> t1 - t1 + x if t1 > 0",
    ),
    (
        "a condition that sees another number",
        "integers 8 bits wrap",
        "max(x + 1, 0) -> x + 1 if x + 1 > 0",
        "max(t1, 0) -> t1 if t1 > 0",
    ),
    (
        "a truth value for an integer",
        "",
        "select(x < y, c, d) -> select(x < c, c, d)",
        "select(p, c, d) -> select(p, c, d)",
    ),
)


@_kind("instance")
def _instance(task: Task) -> Iterator[Outcome]:
    """A rule that is taken for an instance of another one, by the prover and in a certificate."""
    from ..rulefiles import prove
    from ..rulefiles.evaluate import judge
    from ..rulefiles.sample import table_of

    names = "int x, y, t1, t2\nint i in [0, 7]\nconst c, d\nbool p\n"
    for name, head, false, true in _INSTANCES:
        r, wider = (
            read_rule_file(f"{head}\n{names}r: {rule}\n", "sabotage.rules").rules[0] for rule in (false, true)
        )
        point = table_of(r).counterexample()
        assert point is not None, name
        assert judge(r, point) in ("counterexample", "undefined"), name
        with _replaced((prove, "generalised", lambda _, wider=wider, **__: wider)):
            used, _ = prove._as_instance(r, BUDGET)
        yield Outcome("instance", name, "" if used else "the comparison of the two rules")


# ----------------------------------------------------------------------------------------------------- certificates
def _forged_equalities(known: Sequence[Condition], digits: Expr, number: Expr) -> Iterator[tuple[str, Node]]:
    """Proofs that digits make up a number, or that dividends are equal; all prove something else or nothing."""
    from ..linear.export import recorded

    true, false = (x // d * d + x % d).eq(x), digits.eq(number)
    of_others, assumed = recorded((*known, d > 0), true), recorded((*known, false), false)
    assert of_others is not None
    assert assumed is not None
    nothing: Node = {"step": "goals", "parts": []}
    yield "not shown", nothing
    yield "shown of other digits", of_others
    yield "other digits are a goal", {"step": "goals", "parts": [{"goal": true, "proof": of_others}]}
    yield "contradictory", {"step": "contradiction", "then": of_others}
    yield "assumed", assumed
    again = {"step": "equal terms", "term": digits, "value": number, "equal": nothing, "then": nothing}
    yield "shown by itself", again
    yield "shown the other way round", {**again, "term": number, "value": digits}


@_kind("certificate")
def _certificates(task: Task) -> Iterator[Outcome]:
    """Certificates of false claims, in which a term is replaced by another one that is not equal to it.

    Terms are digits and the number that they are said to make up, or two dividends.
    """
    from ..certificate import CertificateRefused, check_certificate, z3_refutes
    from ..linear.export import certificate_json

    for name, facts, digits, number in (*_DIGITS, *_DIVIDENDS):
        known = (*facts, c > 0)
        goal = (digits // c).eq(number // c)
        # a quotient is equal to itself: nothing is left
        then: Node = {"step": "goals", "parts": []}
        for how, equal in _forged_equalities(known, digits, number):
            proof = {"step": "equal terms", "term": digits, "value": number, "equal": equal, "then": then}
            data = json.loads(json.dumps(certificate_json(name, known, goal, proof)))
            try:
                check_certificate(data, (known, goal), solvers={"z3": z3_refutes})
            except CertificateRefused:
                noticed = "the checker"
            else:
                noticed = ""
            yield Outcome("certificate", f"{how}: {name}", noticed)


# ------------------------------------------------------------------------------------------------------------ cache
def _kept() -> list[tuple[Obligation, Verdict]]:
    """Claims with their verdicts: true ones, false ones, and points that exist."""
    found = [*_obligations(_TRUE, "true"), *_obligations(_FALSE, "false")]
    found += [
        replace(o, kind="exists", question="exists", subject=f"{o.subject}, somewhere")
        for o in _obligations(_FALSE, "false")
    ]
    return [(o, decide(o, BUDGET)) for o in found]


class _Store:
    """A cache file with verdicts, and the means to tamper with it."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "verdicts.sqlite"
        self.kept = _kept()
        self.keys = [content_key(o, BUDGET) for o, _ in self.kept]
        with Cache(self.path) as cache:
            for key, (_, v) in zip(self.keys, self.kept, strict=True):
                cache.put(key, v)
        db = sqlite3.connect(self.path, isolation_level=None)
        # pages that were split keep stale copies of entries, whose damage means nothing
        db.execute("VACUUM")
        self.rows: dict[str, tuple[str, str]] = {
            k: (body, seal) for k, body, seal in db.execute("SELECT * FROM verdicts")
        }
        db.close()
        self.secret = bytes.fromhex((folder / "verdicts.sqlite.key").read_text("ascii"))

    def sealed(self, key: str, body: str, secret: bytes | None = None) -> str:
        """The seal of an entry by somebody who has a secret, the right one or another."""
        text = f"indexproof {FORMAT}\0{key}\0{body}".encode()
        return hmac.new(self.secret if secret is None else secret, text, "sha256").hexdigest()

    def with_row(self, key: str, body: str, seal: str) -> None:
        db = sqlite3.connect(self.path)
        with db:
            db.execute("INSERT OR REPLACE INTO verdicts VALUES (?, ?, ?)", (key, body, seal))
        db.close()

    def restored(self, key: str) -> None:
        self.with_row(key, *self.rows[key])


def _turned(body: dict[str, Any]) -> dict[str, Any]:
    """The contrary verdict."""
    if body["status"] == "PROVED":
        return {**body, "status": "REFUTED", "witness": body["witness"] or {"x": 0}}
    return {**body, "status": "PROVED", "witness": None, "strategy": "linear"}


def _entry_tamperings(s: _Store, k: int) -> Iterator[tuple[str, str, str, bool]]:
    """What can be done to entry ``k``: the kind, body and seal, and whether it takes a recheck to notice."""
    key = s.keys[k]
    text, seal = s.rows[key]
    body = json.loads(text)
    turned = json.dumps(_turned(body), sort_keys=True)
    yield "verdict turned round", turned, seal, False
    yield (
        "verdict turned round, digest as seal",
        turned,
        hashlib.sha256(f"{key}\0{turned}".encode()).hexdigest(),
        False,
    )
    yield "verdict turned round, sealed with another secret", turned, s.sealed(key, turned, b"guess"), False
    other, its_seal = s.rows[s.keys[(k + 1) % len(s.keys)]]
    yield "entry of another claim", other, its_seal, False
    yield "seal of another entry", text, its_seal, False
    for field, value in (("format", FORMAT - 1), ("prover", "0" * 64)):
        old = json.dumps({**body, field: value}, sort_keys=True)
        yield f"another {field}, sealed with the secret", old, s.sealed(key, old), False
    yield "truncated", text[: len(text) // 2], seal, False
    yield "truncated, sealed with the secret", text[:-1], s.sealed(key, text[:-1]), False
    yield "a character changed", text.replace('"resources": ', '"resources": 1', 1), seal, False
    o, v = s.kept[k]
    if v.witness:
        wrong = {name: value + 10_007 for name, value in v.witness.items()}
        if not is_example(o, wrong):
            moved = json.dumps({**body, "witness": wrong}, sort_keys=True)
            yield "wrong example, sealed with the secret", moved, s.sealed(key, moved), False
    if v.status is Status.PROVED and o.question == "valid":
        lie = json.dumps({**body, "status": "REFUTED", "witness": {}}, sort_keys=True)
        yield "forged refutation, sealed with the secret", lie, s.sealed(key, lie), False
    if v.status is Status.REFUTED:
        yield "forged proof, sealed with the secret, rechecked", turned, s.sealed(key, turned), True


@_kind("cache entry")
def _cache_entry(task: Task) -> Iterator[Outcome]:
    from ..run import prove_all

    with TemporaryDirectory() as folder, _without_secret_from_outside():
        s = _Store(Path(folder))
        for k, (o, honest) in enumerate(s.kept):
            for kind, body, seal, recheck in _entry_tamperings(s, k):
                if (body, seal) == s.rows[s.keys[k]]:
                    continue
                s.with_row(s.keys[k], body, seal)
                with Cache(s.path, read_only=recheck) as cache:
                    if recheck:
                        run = prove_all([o], jobs=1, budget=BUDGET, cache=cache, recheck=1.0)
                        right = run.results[0].verdict == honest and run.refused_cache_entries == {
                            "untrue": 1
                        }
                        noticed = "proved again" if right else ""
                    else:
                        found = cache.get(s.keys[k], o)
                        noticed = next(iter(cache.refused), "") if found is None else ""
                yield Outcome("cache entry", f"{kind}: {o.subject}", noticed)
                s.restored(s.keys[k])


@_kind("cache file")
def _cache_file(task: Task) -> Iterator[Outcome]:
    with TemporaryDirectory() as folder, _without_secret_from_outside():
        s = _Store(Path(folder))
        whole = s.path.read_bytes()
        spoiled: list[tuple[str, bytes]] = [
            (f"truncated to {size:,} bytes", whole[:size])
            for size in range(1, len(whole) * 3 // 4, len(whole) // 40)
        ]
        for k, key in enumerate(s.keys):
            at = whole.find(s.rows[key][0].encode())
            if at >= 0:
                place = at + 7 * k % len(s.rows[key][0])
                spoiled.append((f"byte {place:,} damaged", _flipped(whole, place)))
        spoiled += [
            ("header damaged", _flipped(whole, 3)),
            ("no database", b"verdicts: all proved\n" * 500),
            ("empty", b""),
            ("zeros", bytes(len(whole))),
        ]
        for name, data in spoiled:
            for suffix in ("-wal", "-shm", ".damaged", ".lock"):
                with suppress(FileNotFoundError):
                    Path(f"{s.path}{suffix}").unlink()
            s.path.write_bytes(data)
            with Cache(s.path) as cache:
                found = [cache.get(key, o) for key, (o, _) in zip(s.keys, s.kept, strict=True)]
                wrong = sum(
                    v is not None and v != honest for v, (_, honest) in zip(found, s.kept, strict=True)
                )
                lost = sum(v is None for v in found)
                noticed = next(iter(cache.refused), "nothing is there") if lost and not wrong else ""
            yield Outcome("cache file", name, noticed)


@_kind("roll")
def _rolls(task: Task) -> Iterator[Outcome]:
    """A roll that is changed, moved, cut off or put back, and a change of anything that it depends on."""
    sources, there = read_sources(), sections()
    homes = {s.home for s in there}

    def sound(cache: Cache, name: str, now: Mapping[str, str]) -> bool:
        home = next(s.home for s in there if s.name == name)
        return sound_roll(cache, name, home, 0, common_digest(now, homes), now) is not None

    with TemporaryDirectory() as folder, _without_secret_from_outside():
        path = Path(folder) / "verdicts.sqlite"
        with Cache(path) as cache:
            for s in there[:3]:
                cache.put_roll(roll_name(s.name, 0), state(s, 0, Whole()) | depends(s.home, homes, sources))
            db = sqlite3.connect(path, isolation_level=None)
            rows = db.execute("SELECT name, body, seal FROM rolls ORDER BY name").fetchall()
            for k, (name, body, seal) in enumerate(rows):
                section = name.removesuffix(", rank 0")
                if not sound(cache, section, sources):
                    yield Outcome("roll", f"left alone: {name}", "")
                _, other, its_seal = rows[(k + 1) % len(rows)]
                roll = json.loads(body)
                spoiled = {
                    "a claim less": (json.dumps({**roll, "claims": roll["claims"][1:]}), seal),
                    "an obligation less": (json.dumps({**roll, "claims": _less(roll["claims"])}), seal),
                    "gates opened": (body.replace("true", "false"), seal),
                    "other files": (json.dumps({**roll, "files": {}}), seal),
                    "the roll of another section": (other, its_seal),
                    "the seal of another section": (body, its_seal),
                    "sealed with another secret": (body, seal[::-1]),
                    **{f"cut off after {n:,}": (body[:n], seal) for n in range(0, len(body), len(body) // 8)},
                }
                for how, (text, mark) in spoiled.items():
                    db.execute("UPDATE rolls SET body = ?, seal = ? WHERE name = ?", (text, mark, name))
                    before = cache.damaged
                    believed = sound(cache, section, sources)
                    noticed = "" if believed or cache.damaged == before else "the seal"
                    yield Outcome("roll", f"{how}: {name}", noticed)
                    db.execute("UPDATE rolls SET body = ?, seal = ? WHERE name = ?", (body, seal, name))
                # what the roll depends on: every file but the homes of other claims and the engine made of them
                apart = {
                    f for f in {*homes, "rules/compiled.py"} - set(roll["files"]) if f.startswith("rules/")
                }
                for file in [f for f in sources if f not in apart][k :: len(rows)]:
                    changed = {**sources, file: "0" * 64}
                    removed = {f: d for f, d in sources.items() if f != file}
                    believed = sound(cache, section, changed) or sound(cache, section, removed)
                    yield Outcome(
                        "roll", f"{file} changed or removed: {name}", "" if believed else "its digest"
                    )
            db.close()


def _less(claims: list[Any]) -> list[Any]:
    *rest, (name, family, group, owed) = claims
    return [*rest, [name, family, group, owed[1:]]]


def _flipped(data: bytes, at: int) -> bytes:
    return data[:at] + bytes([data[at] ^ 0x15]) + data[at + 1 :]


@contextmanager
def _without_secret_from_outside() -> Iterator[None]:
    from ..cache import KEY_VARIABLE

    before = os.environ.pop(KEY_VARIABLE, None)
    try:
        yield
    finally:
        if before is not None:
            os.environ[KEY_VARIABLE] = before


# ---------------------------------------------------------------------------------------------------------- crashes
class Fatal(Obligation):
    """A claim that ends every process that looks at it, as a fault in a solver would."""

    def decided(self, budget: Budget) -> Verdict | None:
        """Never returns."""
        os.kill(os.getpid(), signal.SIGKILL)
        raise AssertionError("this process has been killed")


@_kind("crash")
def _crash(task: Task) -> Iterator[Outcome]:
    from ..run import prove_all

    others = _obligations(_TRUE[:9], "true")
    fatal = Fatal("sabotage", "a fault", "fatal", (), x >= 0)
    for at in (0, 7):
        todo = [*others[:at], fatal, *others[at:]]
        run = prove_all(todo, jobs=2, budget=BUDGET)
        said = {r.obligation.name: r.verdict.status for r in run.results}
        rest = all(said[o.name] is Status.PROVED for o in others)
        noticed = rest and said[fatal.name] is Status.UNDECIDED and run.exit_status != 0
        yield Outcome("crash", f"a worker killed at claim {at + 1}", "undecided" if noticed else "")
