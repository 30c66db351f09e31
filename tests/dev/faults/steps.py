"""False steps of certificates: none may be accepted.

Steps are drawn at random under the hypotheses of a small claim.  Each is evaluated at points that satisfy these, with the
values of new names, so that false steps are recognised independently of the checker.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from indexproof.core.condition import Condition
from indexproof.core.expr import var
from indexproof.verify import checker
from indexproof.verify.certificate import ClaimReader
from indexproof.verify.checker import CertificateRefused, Formula, Polynomial, z3_refutes

from .fault import Batch, Fault

__all__ = ["Attempt", "attempts", "step_cases"]

Json = Any
_Point = dict[str, int]

n, x, y = map(var, "nxy")
_KNOWN: tuple[Condition, ...] = (y > 0, -3 <= x, x <= 3 * n + 2, n >= 0, (x % y).ne(1))
_POINTS = tuple(
    {"x": vx, "y": vy, "n": vn, "!q0": vx // vy, "!r1": vx % vy}
    for vx in range(-3, 9)
    for vy in (1, 2, 3, 5)
    for vn in (0, 1, 2)
    if vx <= 3 * vn + 2 and vx % vy != 1
)
#: The names in steps; the last ones are undefined at first.
_NAMES = ("x", "y", "n", "!q0", "!r1", "u", "v", "w")
_LAWS = ("name", "product", "multiple", "inverse", "cut", "shown")


@dataclass
class Attempt:
    """One step: its text, whether it is false at some point, and whether the checker accepted it."""

    step: Json
    untrue: bool
    accepted: bool


def _at(p: Polynomial, point: _Point) -> int:
    total = 0
    for names, c in p.items():
        for v in names:
            c *= point.setdefault(v, 1)  # an undefined name may have any value
        total += c
    return total


def _holds(f: Formula, point: _Point) -> bool:
    if f[0] in ("and", "or"):
        return (all if f[0] == "and" else any)([_holds(g, point) for g in f[1]])
    return _at(f[1], point) >= 0 if f[0] == "ge" else _at(f[1], point) == 0


def _says_truth(step: Json, p: _Point) -> bool:
    """Return whether a step holds at a point, at which new names are given their values."""

    def of(q: Json) -> int:
        return _at(checker.read_polynomial(q), p)

    def new(*values: tuple[str, int]) -> bool:
        free = {v: value for v, value in values if v not in p}
        p.update(free)
        return all(p[v] == value for v, value in values)

    match step:
        case ["name", q, r, a, b]:
            return new(*zip((q, r), divmod(of(a), of(b)), strict=True)) if of(b) else True
        case ["inverse", h, w, i, t]:
            odd = 2 * of(h) + 1
            inverse = pow(odd, -1, 1 << w)
            return new((i, inverse), (t, (odd * inverse - 1) >> w))
        case ["cut", f, _]:
            return _holds(checker.read_formula(f), p)
    # any other step holds for all numbers
    return True


class _Case:
    """Facts derived from the hypotheses, and points at which all of them hold."""

    def __init__(self) -> None:
        terms = checker.Terms()
        known = [ClaimReader(terms).condition(c) for c in _KNOWN]
        self.check = checker.Check("", terms, {"z3": z3_refutes})
        self.known = [self.check.text(f) for f in (*known, *terms.facts(known))]
        self.names = {*terms.variables, *terms.meaning}
        self.points: list[_Point] = [dict(p) for p in _POINTS]
        assert all(_holds(f, dict(p)) for f in known for p in self.points)

    def attempt(self, step: Json) -> Attempt:
        """Evaluate a step and let the checker check it; a refused step leaves the case unchanged."""
        points = [dict(p) for p in self.points]
        untrue = False in [_says_truth(step, p) for p in points]
        names = set(self.names)
        try:
            fact = self.check.fact(step, self.known, names, "case")
        except CertificateRefused:
            return Attempt(step, untrue, False)
        untrue = untrue or False in [_holds(fact, p) for p in points]
        self.known.append(self.check.text(fact))
        self.names, self.points = names, points
        return Attempt(step, untrue, True)


def _polynomial(rng: random.Random) -> Json:
    terms = [[rng.choice((1, -1, 1, 2)), *rng.choices(_NAMES, k=rng.choice((1, 1, 1, 2)))] for _ in range(2)]
    return [*terms[: rng.choice((1, 2))], [rng.choice((-2, -1, 0, 1, 2))]]


def _drawn(rng: random.Random, case: _Case) -> Json:
    law = rng.choice(_LAWS)
    match law:
        case "name":
            divisor = rng.choice(([[1, "y"]], [[2]], [[1]], _polynomial(rng)))
            return [law, *rng.choices(_NAMES, k=2), _polynomial(rng), divisor]
        case "inverse":
            return [law, _polynomial(rng), rng.choice((1, 2, 5)), *rng.choices(_NAMES, k=2)]
        case "cut":
            kind = rng.choice(("ge", "ge", "eq"))
            return [law, rng.choice(([kind, _polynomial(rng)], ["or", ["eq", _polynomial(rng)]])), []]
        case "shown":
            # likely to be true, so that facts accumulate
            return ["cut", ["ge", [[1, rng.choice("xyn")], [rng.choice((3, 3, 4, -1))]]], []]
    return [law, _polynomial(rng), _polynomial(rng)]


def attempts(seed: int, number: int, again: int = 40) -> Iterator[Attempt]:
    """Yield random steps; after ``again`` of them, or after a wrongly accepted one, a new case begins."""
    rng = random.Random(seed)
    case, left = _Case(), again
    for _ in range(number):
        if not left:
            case, left = _Case(), again
        left -= 1
        found = case.attempt(_drawn(rng, case))
        if found.untrue and found.accepted:
            left = 0
        yield found


#: The number of drawn steps.
_DRAWN = 2_000


def step_cases(_: Batch) -> Iterator[Fault]:
    """Yield the cases of false steps."""
    for k, a in enumerate(attempts(0, _DRAWN)):
        if a.untrue:
            yield Fault("step", f"{a.step[0]} {k}", "" if a.accepted else "the checker")
