"""One map and its simplified form: the same relation?  Every engine is asked, and all must agree.

* *evaluation* computes both maps with Python integers (numpy where nothing can overflow): at every point where there are
  few, otherwise at points chosen from the whole box, its corners and its middle;
* *isl* decides the question as sets of integers;
* *z3* decides it as a formula, within a budget of the solver's own units.

Where the variables of both maps are the same the question is asked point by point, which is more than equality of
relations; otherwise, and where that fails, it is asked of the relations.  Budgets never depend on time.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal

import numpy as np
import z3

from indexproof.core.errors import IndexproofError
from indexproof.core.expr import Int
from indexproof.core.indexing_map import IndexingMap, Variable, unused_name
from indexproof.core.interval import Interval, is_infinite
from indexproof.core.transform import Reduced
from indexproof.verify.concrete import Answer, Counterexample, Fact, Option, Problem, equal_maps, isl
from indexproof.verify.concrete.problem import Outcome
from indexproof.verify.encode import Encoder, Encoding
from indexproof.verify.verdict import Status

__all__ = [
    "ENGINES",
    "SAMPLES",
    "Disagreement",
    "Validation",
    "aligned",
    "questions",
    "read_as_before",
    "validate",
]

ENGINES: Final = ("evaluation", "isl", "z3")
Said = Literal["same", "different", "open"]

#: Boxes with at most this many points are evaluated completely.
POINTS: Final = 20_000
#: Otherwise so many points are.
SAMPLES: Final = 128
#: The rounds in which z3 is asked: encoding of divisions, whether with its tactics, whether about each fact by itself, and
#: solver units for each question.
Z3_ROUNDS: Final[tuple[tuple[Encoding, bool, bool, int], ...]] = (
    ("native", False, False, 10_000),
    ("linked", True, False, 200_000),
    ("linked", True, False, 2_000_000),
    ("linked", True, True, 2_000_000),
    ("linked", True, True, 20_000_000),
)
#: isl's operations in the rounds in which it is asked.
ISL_BUDGETS: Final = (5_000, 60_000, 2_000_000)


class Disagreement(IndexproofError):
    """Two engines contradict each other about the same two maps."""


@dataclass(slots=True)
class Validation:
    """The result for one pair: the verdict, and what each engine said.

    ``complete`` tells whether evaluation saw every point.  ``nothing`` means that both maps are one and the same object, so
    that there was nothing to ask.
    """

    verdict: Status
    said: dict[str, Said] = field(default_factory=dict)
    points: int = 0
    complete: bool = False
    pointwise: bool = True
    decided_by: str = ""
    counterexample: Counterexample | None = None


def aligned(m: IndexingMap, after: IndexingMap) -> bool:
    """Whether both maps have the same variables, by name and kind."""
    groups = ((m.dims, after.dims), (m.ranges, after.ranges), (m.rts, after.rts))
    return len(m.results) == len(after.results) and all(
        [v.name for v in a] == [v.name for v in b] for a, b in groups
    )


def questions(m: IndexingMap, after: IndexingMap) -> list[Problem]:
    """Return the questions about two aligned maps: everywhere in one domain the other map says the same.

    What both maps state in the same words is left out; nothing is left where they are the same map.
    """
    out = []
    for one, two, whole in ((m, after, True), (after, m, False)):
        facts = [Fact(v.expr, Interval(v.lo, v.hi)) for v in two.variables if v not in one.variables]
        own = set(one.constraints)
        facts += [Fact(c.expr, Interval(c.lo, c.hi)) for c in two.constraints if c not in own]
        if whole:
            pairs = zip(one.results, two.results, strict=True)
            facts += [Fact(a - b, Interval(0, 0)) for a, b in pairs if a is not b]
        facts = [f for f in facts if not (isinstance(f.expr, Int) and f.expr.value in f.within)]
        if facts:
            box = tuple((v.expr, Interval(v.lo, v.hi)) for v in one.variables)
            where = tuple(Fact(c.expr, Interval(c.lo, c.hi)) for c in one.constraints)
            out.append(Problem(box, where, (Option(tuple(facts)),)))
    return out


def validate(m: IndexingMap, after: IndexingMap) -> Validation:
    """Whether ``after`` has the relation of ``m``, according to all engines.

    Raises :class:`Disagreement` where engines contradict each other.
    """
    if m == after:
        return Validation(Status.PROVED, decided_by="identity")
    if not aligned(m, after):
        return _by_relation(m, after)
    found = Validation(Status.UNDECIDED)
    counterexample = _evaluated(m, after, found)
    problems = questions(m, after)
    # what no point satisfies, and variables with one value, need no engine
    smaller = [q[0] for p in problems if (q := p.simplified()) is not None]
    # a context of its own for each map, so that what z3 says does not depend on other maps
    context = z3.Context()
    outcomes = {"isl": [_isl(p) for p in smaller], "z3": [_z3(p, context) for p in smaller]}
    for engine, answers in outcomes.items():
        status = {o.status for o in answers}
        found.said[engine] = "different" if "fails" in status else "open" if "open" in status else "same"
    if counterexample is not None or "different" in found.said.values():
        # point by point the maps differ; the relations may still be the same
        return _contradicted(m, after, found, counterexample, smaller, outcomes)
    for engine in ENGINES:
        if found.said[engine] == "same":
            found.verdict = Status.PROVED
            found.decided_by = found.decided_by or engine
    if found.verdict is not Status.PROVED:
        _settle(found, equal_maps(m, after))
    return found


def _settle(found: Validation, answer: Answer) -> None:
    """The verdict of the whole portfolio, for a pair that no engine settled within its budget."""
    found.verdict = answer.verdict
    found.counterexample = answer.counterexample
    found.decided_by = f"portfolio: {answer.engine}"


def _contradicted(
    m: IndexingMap,
    after: IndexingMap,
    found: Validation,
    counterexample: Counterexample | None,
    problems: Sequence[Problem],
    outcomes: dict[str, list[Outcome]],
) -> Validation:
    """Some engine says that the maps differ at a point: believe it only once the point has been evaluated."""
    if counterexample is None:
        for engine, answers in outcomes.items():
            for p, o in zip(problems, answers, strict=True):
                if o.status == "fails" and not p.violated_by(o.point):
                    raise Disagreement(
                        f"{engine} refutes what evaluation finds true at {o.point}\n{m}\n{after}"
                    )
    deniers = {e for e, s in found.said.items() if s == "different"}
    believers = {e for e, s in found.said.items() if s == "same"} - (
        set() if found.complete else {"evaluation"}
    )
    if deniers and believers:
        raise Disagreement(
            f"{' and '.join(sorted(believers))}: the maps are the same; {' and '.join(sorted(deniers))}: they are not\n"
            f"{m}\n{after}\n{counterexample or ''}"
        )
    found.pointwise = False
    _settle(found, equal_maps(m, after))
    return found


# ---------------------------------------------------------------------------------------------- evaluation
def _evaluated(m: IndexingMap, after: IndexingMap, found: Validation) -> Counterexample | None:
    """Compare at all points of the larger box, or at a selection."""
    box = [_hull(a, b) for a, b in zip(m.variables, after.variables, strict=True)]
    size = math.prod([max(v.hi - v.lo + 1, 0) for v in box])
    if size > POINTS:
        columns = _selection(box)
        found.points = SAMPLES
    else:
        found.points, found.complete = size, True
        if not size:
            found.said["evaluation"] = "same"
            return None
        axes = [np.arange(v.hi - v.lo + 1, dtype=np.int64) for v in box]
        fits = all(abs(v.lo) < 2**62 and abs(v.hi) < 2**62 for v in box)
        axes = [a + v.lo if fits else a.astype(object) + v.lo for a, v in zip(axes, box, strict=True)]
        columns = [a.reshape([-1 if j == k else 1 for j in range(len(box))]) for k, a in enumerate(axes)]
    n, k = len(m.dims), len(m.dims) + len(m.ranges)
    values = columns[:n], columns[n:k], columns[k:]
    inside, left = m.evaluate_many(*values)
    inside_too, right = after.evaluate_many(*values)
    shape = np.broadcast_shapes(inside.shape, inside_too.shape)
    wrong = np.broadcast_to(inside != inside_too, shape).copy()
    for a, b in zip(left, right, strict=True):
        wrong |= (inside & (a != b)).astype(bool)
    at = np.argwhere(wrong)
    if not len(at):
        found.said["evaluation"] = "same" if found.complete else "open"
        return None
    found.said["evaluation"] = "different"
    point = [int(np.broadcast_to(c, shape)[tuple(at[0])]) for c in columns]
    parts = point[:n], point[n:k], point[k:]
    named = {v.name: x for v, x in zip(m.variables, point, strict=True)}
    return Counterexample(
        named, m.evaluate(*parts), after.evaluate(*parts), "evaluation differs", minimal=False
    )


def _hull(a: Variable, b: Variable) -> Variable:
    """The box that holds both, of which one may be empty."""
    if b.hi < b.lo:
        return a
    if a.hi < a.lo:
        return b
    return replace(a, lo=min(a.lo, b.lo), hi=max(a.hi, b.hi))


def _selection(box: Sequence[Variable]) -> list[Any]:
    """Points of a large box, the same ones every time: low-discrepancy ones, corners, and the surroundings of zero."""
    count = np.arange(SAMPLES)
    columns: list[Any] = []
    for k, v in enumerate(box):
        width = v.hi - v.lo + 1
        dtype = np.int64 if max(abs(v.lo), abs(v.hi)) < 2**62 else object
        # multiples of an irrational number spread evenly; another one for each axis
        spread = [(v.lo + int(width * ((n * _STEPS[k % len(_STEPS)]) % 1.0))) for n in range(SAMPLES)]
        # three of eight points lie at an end or near zero, along independent binary digits of their number
        corner = (count >> (3 + k % 4)) % 3
        near = min(max(0, v.lo), v.hi)
        values = [
            min(max((v.lo, v.hi, near + (n >> 4) - 3)[corner[n]], v.lo), v.hi) if n % 8 < 3 else min(x, v.hi)
            for n, x in enumerate(spread)
        ]
        columns.append(np.array(values, dtype=dtype))
    return columns


_STEPS: Final = tuple(math.sqrt(p) % 1.0 for p in (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37))


# -------------------------------------------------------------------------------------------------- engines
def _isl(problem: Problem) -> Outcome:
    outcome = Outcome("open")
    for budget in ISL_BUDGETS:
        outcome = isl.decide(problem, budget)
        if outcome.status != "open":
            break
    return outcome


def _z3(problem: Problem, context: z3.Context) -> Outcome:
    (option,) = problem.options
    outcome = Outcome("open")
    for encoding, tactics, each, budget in Z3_ROUNDS:
        facts = [(f,) for f in option.facts] if each else [option.facts]
        for some in facts:
            part = replace(problem, options=(Option(some),))
            outcome = _z3_once(part, context, encoding, tactics, budget)
            if outcome.status != "holds":
                break
        if outcome.status != "open":
            break
    return outcome


def _z3_once(
    problem: Problem, context: z3.Context, encoding: Encoding, tactics: bool, budget: int
) -> Outcome:
    """As :func:`..concrete.smt.decide`, but without looking for the least point, and starting faster without tactics."""
    encoder = Encoder(context, encoding)
    (option,) = problem.options
    conditions = [c for v, i in problem.variables for c in _within(encoder.value(v), i)]
    conditions += [c for f in problem.where for c in _within(encoder.value(f.expr), f.within)]
    claim = [c for f in option.facts for c in _within(encoder.value(f.expr), f.within)]
    conditions.append(z3.Not(z3.And([*claim, encoder.const(True)])))
    solver = z3.Solver(ctx=context) if tactics else z3.SimpleSolver(ctx=context)
    solver.set("rlimit", budget)
    solver.set("random_seed", 0)
    solver.set("ctrl_c", False)
    solver.add(*encoder.facts, *conditions)
    answer = solver.check()
    if answer == z3.unsat:
        return Outcome("holds")
    if answer != z3.sat:
        return Outcome("open", note="out of budget")
    model = solver.model()
    point = tuple(model.eval(encoder.value(v), model_completion=True).as_long() for v, _ in problem.variables)
    return Outcome("fails", point, minimal=False)


def _within(e: Any, i: Interval) -> Iterator[Any]:
    if i.lo == i.hi:
        yield e == int(i.lo)
        return
    if not is_infinite(i.lo):
        yield e >= int(i.lo)
    if not is_infinite(i.hi):
        yield e <= int(i.hi)


# ------------------------------------------------------------------------------------------------ relations
def _by_relation(m: IndexingMap, after: IndexingMap) -> Validation:
    """Maps over different variables: the relations themselves."""
    found = Validation(Status.UNDECIDED, pointwise=False)
    _settle(found, equal_maps(m, after))
    return found


def read_as_before(r: Reduced) -> IndexingMap:
    """The map that a transform made, with the dimensions and the runtime variables of the map that it was made from.

    Worked out anew from what the record says became of the variables: an unused dimension takes every value of its box, and
    dimensions that were ranges are ranges again.
    """
    old = {v.name for v in r.before.rts}
    m = r.map.rename({now: then for then, now in r.kept.items() if then in old})
    new = set(r.new_dims)
    own = {v.name: v for v in m.dims if v.name not in new}
    taken = {v.name for v in m.variables}
    dims = []
    for v in r.before.dims:
        found = own.get(r.kept.get(v.name, ""))
        if found is None:
            found = r.unused.get(v.name, v).named(unused_name(v.name, taken))
        dims.append(found)
    return m.with_(dims=tuple(dims), ranges=tuple(v for v in m.dims if v.name in new) + m.ranges)
