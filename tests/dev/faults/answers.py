"""Faults in solvers: wrong answers, missing answers, wrong models."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import z3

from indexproof.verify.linear import question
from indexproof.verify.trust import opinion, solvers

from .fault import Batch, Fault
from .lies import Change, honest_reply, lied_about, replaced, without_reduction

__all__ = ["LIES", "SECOND_LIES", "second_solver_cases", "solver_cases"]


_check = z3.Solver.check
_value = z3.ModelRef.eval


def _fault(*_: Any, **__: Any) -> Any:
    raise z3.Z3Exception("out of memory")


class _Every:
    """A counter that is true for every ``period``-th answer."""

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


#: Faulty solvers by name.
LIES: dict[str, Callable[[], list[Change]]] = {
    "always unsat": lambda: [(z3.Solver, "check", lambda s, *more: z3.unsat)],
    "always sat": lambda: [(z3.Solver, "check", lambda s, *more: (_check(s, *more), z3.sat)[1])],
    "always unknown": lambda: [(z3.Solver, "check", lambda s, *more: z3.unknown)],
    "always the contrary": lambda: [(z3.Solver, "check", _sometimes(1))],
    "every second answer wrong": lambda: [(z3.Solver, "check", _sometimes(2))],
    "every third answer wrong": lambda: [(z3.Solver, "check", _sometimes(3))],
    "every fifth answer wrong": lambda: [(z3.Solver, "check", _sometimes(5))],
    "a fault instead of an answer": lambda: [(z3.Solver, "check", _fault)],
    "models off by one": lambda: [without_reduction(), (z3.ModelRef, "eval", _off_by(1))],
    "models far off": lambda: [without_reduction(), (z3.ModelRef, "eval", _off_by(-1000))],
    "every leaf is contradictory": lambda: [(question.LinearQuestion, "contradictory", lambda s: True)],
    "unknown is unsat": lambda: [
        (z3.Solver, "check", lambda s, *more: z3.unsat if (r := _check(s, *more)) == z3.unknown else r)
    ],
    "unsat without the last assertion": lambda: [(z3.Solver, "check", _without_last)],
}


def _without_last(self: z3.Solver, *more: Any) -> Any:
    """Answer unsat instead of sat to questions with more than two assertions."""
    answer = _check(self, *more)
    return z3.unsat if answer == z3.sat and len(self.assertions()) > 2 else answer


def solver_cases(task: Batch) -> Iterator[Fault]:
    """Yield the cases of claims under one fault of z3."""
    # made anew for each claim, so that counting starts at the first answer
    make = LIES[task.detail]
    yield from lied_about("solver", task.detail, lambda: replaced(*make()), solvers.available())


def _second(answers: dict[str, str]) -> Callable[..., solvers.Reply]:
    def reply(script: str, rlimit: int, **more: Any) -> solvers.Reply:
        found = honest_reply(script, rlimit, **more)
        return replace(found, answer=answers.get(found.answer, found.answer), values=())

    return reply


SECOND_LIES: dict[str, dict[str, str]] = {
    "sat for unsat": {"unsat": "sat"},
    "unsat for sat": {"sat": "unsat"},
    "unknown for unsat": {"unsat": "unknown"},
    "unknown for sat": {"sat": "unknown"},
}


def second_solver_cases(task: Batch) -> Iterator[Fault]:
    """Yield the cases of claims under one fault of cvc5."""
    lie = _second(SECOND_LIES[task.detail])
    yield from lied_about("second solver", task.detail, lambda: replaced((opinion, "cvc5_reply", lie)), confirm=True)
