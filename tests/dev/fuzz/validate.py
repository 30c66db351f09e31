"""Check that a map and its simplified form have the same relation: all engines are asked and must agree.

* *evaluation* computes both maps with numpy: at every point of a small box, otherwise at chosen points;
* *isl* decides the question as sets of integers;
* *z3* decides it as a formula.

Maps with the same variables are compared point by point, which is stronger than equality of relations; otherwise, and
if that fails, the relations are compared.  Budgets never depend on time.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Final, Literal

import numpy as np

from indexproof.core.errors import IndexproofError
from indexproof.core.expr import Int
from indexproof.core.indexing_map import IndexingMap, Variable, unused_name
from indexproof.core.interval import Interval
from indexproof.core.transform import Reduced
from indexproof.verify.concrete import Answer, Counterexample, Fact, Option, Problem, equal_maps
from indexproof.verify.concrete.decide import decide_problem
from indexproof.verify.concrete.enumerate import drawn
from indexproof.verify.concrete.problem import EngineDisagreement, Outcome
from indexproof.verify.verdict import Status

__all__ = ["ENGINES", "SAMPLES", "Disagreement", "Validation", "questions", "read_as_before", "validate"]

ENGINES: Final = ("evaluation", "isl", "z3")
Said = Literal["same", "different", "open"]

#: Boxes with at most ``POINTS`` points are evaluated completely, others at ``SAMPLES`` points.
POINTS: Final = 20_000
SAMPLES: Final = 128
#: Rounds of isl and z3; the budget of each round is five times the previous one.
ROUNDS: Final = 3


class Disagreement(IndexproofError):
    """Two engines contradict each other about the same two maps."""


@dataclass(slots=True)
class Validation:
    """The result for one pair: the verdict, and the answer of each engine.

    ``complete`` tells whether every point was evaluated.
    """

    verdict: Status
    said: dict[str, Said] = field(default_factory=dict)
    complete: bool = False
    pointwise: bool = True
    decided_by: str = ""
    counterexample: Counterexample | None = None


def aligned(m: IndexingMap, after: IndexingMap) -> bool:
    """Return whether both maps have the same variables, by name and kind."""
    groups = ((m.dims, after.dims), (m.ranges, after.ranges), (m.rts, after.rts))
    return len(m.results) == len(after.results) and all([v.name for v in a] == [v.name for v in b] for a, b in groups)


def questions(m: IndexingMap, after: IndexingMap) -> list[Problem]:
    """Return the questions whether two aligned maps agree on the domain of each.

    Identical parts of the maps are left out; equal maps have no questions.
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
    """Decide whether ``after`` has the relation of ``m``, with all engines.

    Raises :class:`Disagreement` if engines contradict each other.
    """
    if m == after:
        return Validation(Status.PROVED, decided_by="identity")
    found = Validation(Status.UNDECIDED)
    if not aligned(m, after):
        return _by_relation(found, m, after)
    _evaluate(m, after, found)
    problems = questions(m, after)
    for engine in ENGINES[1:]:
        outcomes = [_decided(p, engine) for p in problems]
        for p, o in zip(problems, outcomes, strict=True):
            if o.status == "fails" and not p.violated_by(o.point):
                raise Disagreement(f"{engine} refutes what evaluation finds true at {o.point}\n{m}\n{after}")
        status = {o.status for o in outcomes}
        found.said[engine] = "different" if "fails" in status else "open" if "open" in status else "same"
    said = {s: [e for e in ENGINES if found.said[e] == s] for s in ("same", "different")}
    if said["same"] and said["different"]:
        who = [" and ".join(engines) for engines in said.values()]
        raise Disagreement(f"{who[0]}: the maps are the same; {who[1]}: they are not\n{m}\n{after}")
    if said["different"]:
        # the maps differ at a point; the relations may still be equal
        return _by_relation(found, m, after)
    if not said["same"]:
        return _settled(found, equal_maps(m, after))
    found.verdict, found.decided_by = Status.PROVED, said["same"][0]
    return found


def _decided(problem: Problem, engine: str) -> Outcome:
    """Ask one engine alone."""
    try:
        return decide_problem(problem, engines=(engine,), rounds=ROUNDS).outcome
    except EngineDisagreement as error:
        raise Disagreement(str(error)) from error


def _settled(found: Validation, answer: Answer) -> Validation:
    """Record the verdict of the whole portfolio, for a pair that no single engine settled."""
    found.verdict, found.counterexample = answer.verdict, answer.counterexample
    found.decided_by = f"portfolio: {answer.engine}"
    return found


def _by_relation(found: Validation, m: IndexingMap, after: IndexingMap) -> Validation:
    found.pointwise = False
    return _settled(found, equal_maps(m, after))


def _evaluate(m: IndexingMap, after: IndexingMap, found: Validation) -> None:
    """Compare both maps at all points of the smallest box around both, or at a sample of them."""
    box = [_hull(a, b) for a, b in zip(m.variables, after.variables, strict=True)]
    size = math.prod([max(v.hi - v.lo + 1, 0) for v in box])
    dtype = np.int64 if all(abs(v.lo) < 2**62 and abs(v.hi) < 2**62 for v in box) else object
    found.complete = size <= POINTS
    if not size:
        found.said["evaluation"] = "same"
        return
    if found.complete:
        axes = [np.arange(v.hi - v.lo + 1, dtype=np.int64).astype(dtype) + v.lo for v in box]
        columns = [a.reshape([-1 if j == k else 1 for j in range(len(box))]) for k, a in enumerate(axes)]
    else:
        columns = [drawn(Interval(v.lo, v.hi), SAMPLES, k, dtype) for k, v in enumerate(box)]
    n, k = len(m.dims), len(m.dims) + len(m.ranges)
    (inside, left), (also, right) = (f.evaluate_many(columns[:n], columns[n:k], columns[k:]) for f in (m, after))
    wrong = np.any(inside != also) or any(np.any(inside & (a != b)) for a, b in zip(left, right, strict=True))
    found.said["evaluation"] = "different" if wrong else "same" if found.complete else "open"


def _hull(a: Variable, b: Variable) -> Variable:
    """Return the smallest box that contains both, of which one may be empty."""
    if b.hi < b.lo:
        return a
    if a.hi < a.lo:
        return b
    return replace(a, lo=min(a.lo, b.lo), hi=max(a.hi, b.hi))


def read_as_before(r: Reduced) -> IndexingMap:
    """Return the transformed map with the dimensions and runtime variables of the original map.

    It is reconstructed from the record alone: an unused dimension takes every value of its box, and dimensions that
    were ranges are ranges again.
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
