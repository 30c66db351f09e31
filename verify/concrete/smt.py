"""Engine based on z3: an independent second one, and the only one for products of variables.

Operators have the native encoding of :mod:`indexproof.verify.encode`, and if that decides nothing the linked one.
Budgets are resource counts in a fresh context, so verdicts do not depend on the machine's load.  Counterexamples are
minimised by binary search on the counterexample order.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import z3

from ...core.expr import CeilDiv, FloorDiv, Int, Mod, Var, postorder
from ...core.interval import Interval, is_infinite
from ..encode import Encoder, Encoding, integer_text, limited, resources
from .forms import Form, Row
from .problem import HOLDS, Fact, Option, Outcome, Point, Problem

#: Limit on the z3 resource units of a single query.
BUDGET = 500_000


def _within(e: Any, i: Interval) -> list[Any]:
    """Return the finite ends of ``i`` as conditions on ``e``."""
    out = []
    if not is_infinite(i.lo):
        out.append(e >= int(i.lo))
    if not is_infinite(i.hi):
        out.append(e <= int(i.hi))
    return out


def _conditions(encoder: Encoder, facts: Iterable[Fact]) -> list[Any]:
    return [c for f in facts for c in _within(encoder.value(f.expr), f.within)]


def _not_fitting(encoder: Encoder, option: Option) -> Any:
    """Return the condition that no choice of unknowns satisfies ``option``."""
    unknowns = [encoder.value(v) for v, _ in option.unknowns]
    boxes = [c for x, (_, i) in zip(unknowns, option.unknowns, strict=True) for c in _within(x, i)]
    fits = z3.And([*boxes, *_conditions(encoder, option.facts), encoder.const(True)])
    return z3.Not(z3.Exists(unknowns, fits) if unknowns else fits)


def _symbolic_divisors(problem: Problem) -> list[Any]:
    nodes = postorder(*problem.exprs())
    return [n.b for n in nodes if isinstance(n, (FloorDiv, Mod, CeilDiv)) and not isinstance(n.b, Int)]


def decide(problem: Problem, budget: int = BUDGET, *, minimise: bool = True) -> Outcome:
    """Decide with at most ``budget`` resource units for a query, and as many again to minimise."""
    budget = max(budget, 1)  # 0 would mean no limit
    divisors = _symbolic_divisors(problem)
    unknowns: set[Var] = {v for o in problem.options for v, _ in o.unknowns}
    if any(isinstance(n, Var) and n in unknowns for n in postorder(*divisors)):
        return Outcome("open", note="a divisor depends on an unknown")
    outcome = _decided(problem, divisors, budget, "native", minimise)
    # the linked encoding adds free variables for quotients; quotients of unknowns would have to be quantified
    if outcome.status == "open" and not unknowns:
        outcome = _decided(problem, divisors, budget, "linked", minimise)
    return outcome


def _decided(problem: Problem, divisors: list[Any], budget: int, encoding: Encoding, minimise: bool) -> Outcome:
    encoder = Encoder(z3.Context(), encoding)
    variables = [encoder.value(v) for v, _ in problem.variables]
    conditions = [c for x, (_, i) in zip(variables, problem.variables, strict=True) for c in _within(x, i)]
    conditions += _conditions(encoder, problem.where)
    if divisors:
        # if a divisor can be zero, an expression has no value and nothing is decided
        zero = z3.Or([encoder.value(d) == 0 for d in divisors])
        if encoder.solver([*conditions, zero], budget).check() != z3.unsat:
            return Outcome("open", note="a divisor can be zero")
    conditions += [_not_fitting(encoder, o) for o in problem.options]
    solver = encoder.solver(conditions, budget)
    answer = solver.check()
    if answer == z3.unsat:
        return HOLDS
    if answer != z3.sat:
        return Outcome("open", note="out of budget")

    def model() -> Point:
        found = solver.model()
        return tuple(found.eval(x, model_completion=True).as_long() for x in variables)

    best = model()
    if not minimise:
        return Outcome("fails", best, minimal=False, note="not minimised")
    spent = resources(solver)
    sizes = [z3.If(x >= 0, x, -x) for x in variables]
    # minimise the coordinates of the counterexample order one after the other
    measures: list[Any] = [z3.Sum([*sizes, encoder.integer(0)]), *sizes, *(-x for x in variables)]
    for k, measure in enumerate(measures):
        high = _coordinate(best, k)
        low = 0 if k <= len(variables) else -abs(high)
        while low < high:
            middle = (low + high) // 2
            solver.push()
            solver.add(measure <= middle)
            answer = solver.check()
            if answer == z3.sat:
                best = model()
            solver.pop()
            if answer == z3.unknown or resources(solver) > spent + budget:
                return Outcome("fails", best, minimal=False, note="not minimised")
            low, high = (middle + 1, high) if answer == z3.unsat else (low, _coordinate(best, k))
        solver.add(measure == high)
    return Outcome("fails", best)


def counterexample(
    atoms: Sequence[Interval], rows: Iterable[Row], choices: Iterable[Sequence[Sequence[Row]]], goal: Row, budget: int
) -> tuple[bool | None, Point]:
    """Return whether values of the atoms satisfy the rows and one list of each choice but not ``goal``, and the values.

    The answer is ``None`` if ``budget`` resource units do not suffice.
    """
    context = z3.Context()
    names = [f"x{k}" for k in range(1, len(atoms) + 1)]
    lines = [f"(declare-const {x} Int)" for x in names]
    lines += [f"(assert {_inside({k: 1}, i)})" for k, i in enumerate(atoms, 1)]
    lines += [f"(assert {_inside(f, i)})" for f, i in rows]
    for choice in choices:
        lines.append(f"(assert (or {' '.join(_all([_inside(f, i) for f, i in chosen]) for chosen in choice)}))")
    lines.append(f"(assert (not {_inside(*goal)}))")
    solver = limited(z3.SolverFor("QF_LIA", ctx=context), budget)
    # text is read many times faster than z3's Python objects are built
    solver.from_string("".join(lines))
    answer = solver.check()
    if answer == z3.unsat:
        return False, ()
    if answer != z3.sat:
        return None, ()
    found = solver.model()
    return True, tuple(found.eval(z3.Int(x, context), model_completion=True).as_long() for x in names)


def _inside(f: Form, i: Interval) -> str:
    """Return the SMT-LIB text that says that a form over ``x1``, ``x2``, … lies in an interval."""
    terms = [f"(* {integer_text(k)} x{m})" for m, k in f.items() if m]
    total = f"(+ {integer_text(f.get(0, 0))} {' '.join(terms)})"
    ends = [] if is_infinite(i.lo) else [f"(>= {total} {integer_text(int(i.lo))})"]
    return _all(ends if is_infinite(i.hi) else [*ends, f"(<= {total} {integer_text(int(i.hi))})"])


def _all(conditions: list[str]) -> str:
    return f"(and true {' '.join(conditions)})"


def _coordinate(point: Point, k: int) -> int:
    """Return coordinate ``k`` of the counterexample order."""
    sizes = [abs(x) for x in point]
    return [sum(sizes), *sizes, *(-x for x in point)][k]
