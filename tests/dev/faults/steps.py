"""Steps of certificates that are not true: none may be accepted.

Steps are drawn at random in a case of a small claim.  What each would establish is evaluated at points that satisfy
what is known in that case, so that it is seen without the checker's reasons which steps lie.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from indexproof.core.condition import divides
from indexproof.core.expr import var
from indexproof.verify.certificate import ClaimReader
from indexproof.verify.checker import (
    LEMMAS,
    CertificateRefused,
    CertifiedClaim,
    Check,
    Formula,
    Json,
    Polynomial,
    State,
    Steps,
    Terms,
    Unknown,
    at,
    constant,
    polynomials,
    read_formula,
    read_polynomial,
    variable,
    with_values,
    z3_refutes,
)

from .fault import Batch, Fault

__all__ = ["Attempt", "attempts", "step_cases"]

_Point = dict[str, int]

m, n, x, y, z = map(var, "mnxyz")
_TERMS = (x, y, z, n, m, x // y, x % y, x // m, 2 * x)
_KNOWN = (y > 0, divides(y, z), -3 <= x, x <= 3 * n + 2, n >= 0)
_GOALS = (x // y * y <= x, (x // m).eq((-x) // (-m)))
#: In the case at hand m is negative.
_SIGN: tuple[Polynomial, int] = (variable("m"), -1)

_POINTS = tuple(
    {"x": vx, "y": vy, "z": vy * vz, "n": vn, "m": vm}
    for vx in range(-3, 9)
    for vy in (1, 2, 3, 5)
    for vz in (-1, 0, 2)
    for vn in (0, 2, 3)
    for vm in (-2, -1)
    if vx <= 3 * vn + 2
)[::7]

#: What has been shown before; the numbers of facts are their places among those that have one.
_START: tuple[Json, ...] = (
    {"by": "hypothesis", "fact": ["ge", [[-1], [1, "y"]]], "number": 0},
    {"by": "hypothesis", "fact": ["ge", [[1, "n"]]], "number": 1},
    {"by": "hypothesis", "fact": ["ge", [[3], [1, "x"]]], "number": 2},
    {"by": "hypothesis", "fact": ["ge", [[2], [3, "n"], [-1, "x"]]], "number": 3},
    {"by": "sign", "fact": ["ge", [[-1], [-1, "m"]]], "number": 4},
    {
        "by": "name",
        "dividend": [[1, "x"]],
        "divisor": [[1, "y"]],
        "quotient": [[1, "q"]],
        "remainder": [[1, "r"]],
        "one": {"shifts": [], "parts": [[[[1]], 0]]},
    },
    {"by": "named", "fact": ["eq", [[-1, "q", "y"], [-1, "r"], [1, "x"]]], "number": 5},
    {"by": "named", "fact": ["ge", [[1, "r"]]], "number": 6},
    {"by": "named", "fact": ["ge", [[-1], [-1, "r"], [1, "y"]]], "number": 7},
    {
        "by": "divisible",
        "dividend": [[1, "z"]],
        "divisor": [[1, "y"]],
        "quotient": [[1, "k"]],
        "given": [[1, "z"]],
        "d": 1,
        "e": 2,
        "one": {"shifts": [], "parts": [[[[1]], 0]]},
    },
    {"by": "named", "fact": ["eq", [[-1, "k", "y"], [1, "z"]]], "number": 8},
    {
        "by": "name",
        "dividend": [[1, "n"]],
        "divisor": [[1, "y"]],
        "quotient": [[1, "h"]],
        "remainder": [[1, "j"]],
        "one": {"shifts": [], "parts": [[[[1]], 0]]},
    },
    {
        "by": "extremum",
        "name": "min",
        "args": [[[1, "n"]], [[1, "r"]]],
        "dropped": [],
        "value": [[1, "e"]],
    },
    {"by": "named", "fact": ["ge", [[-1, "e"], [1, "n"]]], "number": 9},
    # rests on the negation of a goal that is true, so that it holds nowhere
    {"by": "negated goal", "fact": ["ge", [[-1], [1, "q", "y"], [-1, "x"]]], "number": 10},
)
_KINDS = tuple(name[4:].replace("_", " ") for name in sorted(vars(Steps)) if name.startswith("_by_"))


@dataclass
class Attempt:
    """One step: what it says, whether that is untrue somewhere, and whether the checker accepted it."""

    step: Json
    untrue: bool
    accepted: bool


def _at(p: Polynomial, point: _Point) -> int:
    total = 0
    for names, c in p.items():
        for v in names:
            c *= point[v]
        total += c
    return total


def _holds(f: Formula, point: _Point) -> bool:
    match f[0]:
        case "ge":
            return _at(Polynomial(f[1]), point) >= 0
        case "eq":
            return _at(Polynomial(f[1]), point) == 0
        case "and":
            return all(_holds(g, point) for g in f[1])
    return any(_holds(g, point) for g in f[1])


def _meaning(kind: str, of: Sequence[int]) -> tuple[int, ...] | None:
    """Return the values that new names stand for; ``None`` where there are none."""
    match kind, of:
        case ("quotient", [a, b]):
            return divmod(a, b) if b > 0 else None
        case ("the same quotient", [a, b]):
            return (a // b,) if b > 0 else None
        case ("multiple", [a, b]):
            return (a // b,) if b > 0 and a % b == 0 else None
        case ("min", [_, *_]):
            return (min(of),)
        case ("max", [_, *_]):
            return (max(of),)
    return None


@dataclass
class _Case:
    """The case of the claim, the facts in it, and points at which all of it holds."""

    steps: Steps
    points: list[_Point]
    numbers: list[Formula] = field(default_factory=list)

    @classmethod
    def new(cls) -> _Case:
        terms = Terms()
        reader = ClaimReader(terms)
        for e in _TERMS:
            reader.term(e)
        goals = [reader.condition(g) for g in _GOALS]
        claim = CertifiedClaim(Check("", terms, {"z3": z3_refutes}), [*map(reader.condition, _KNOWN)], goals)
        state = State(terms, "mnxyz")
        state.signs = [_SIGN]
        case = cls(Steps(claim, state, "case"), [dict(p) for p in _POINTS])
        case.steps.goal = goals[0]
        for step in _START:
            accepted = case.take(step)
            assert accepted
            assert not case.contradicted()
        return case

    def take(self, step: Json) -> bool:
        """Whether the checker accepts a step; the case is as it was where it does not."""
        steps, before = self.steps, self.steps.state.copy()
        steps.place = "case"
        try:
            steps.run([step])
        except (
            CertificateRefused,
            Unknown,
            LookupError,
            TypeError,
            ValueError,
            AttributeError,
            ArithmeticError,
        ):
            steps.state = before
            return False
        if "fact" in step:
            self.numbers.append(read_formula(step["fact"]))
        return True

    def contradicted(self) -> bool:
        """Whether something that is established is untrue at a point, or says something of names without meaning."""
        try:
            return self._contradicted()
        except KeyError:
            return True

    def _contradicted(self) -> bool:
        state = self.steps.state
        for p in self.points:
            if not self._named(p):
                return True
            known = (*self.steps.established(), *state.named)
            if not all(_holds(f, p) for f in known):
                return True
            for (a, b), (q, r) in state.divisions.items():
                divisor = _at(Polynomial(b), p)
                if divisor < 1 or divmod(_at(Polynomial(a), p), divisor) != (_at(q, p), _at(r, p)):
                    return True
            for (op, args), value in state.extrema.items():
                if _meaning(op, [_at(Polynomial(a), p) for a in args]) != (_at(value, p),):
                    return True
            if any(
                _at(Polynomial({product: 1}), p) != _at(value, p) for product, value in state.rewrites.items()
            ):
                return True
        return False

    def _named(self, p: _Point) -> bool:
        """Give new names the values that they stand for; whether there are any."""
        todo = sorted(self.steps.state.made, key=lambda m: str([m[0], *map(str, m[1] + m[2])]))
        while todo:
            later = []
            for kind, of, names in todo:
                if not all(q.names <= p.keys() for q in of):
                    later.append((kind, of, names))
                    continue
                values = _meaning(kind, [_at(q, p) for q in of])
                if values is None:
                    return False
                for name, value in zip(names, values, strict=True):
                    for v in name.names - p.keys():
                        p[v] = value - name.get((), 0)
                    if _at(name, p) != value:
                        return False
            if len(later) == len(todo):
                return False
            todo = later
        return True

    def untrue(self, step: Json) -> bool:
        """Whether what a step says is seen to be untrue at a point; names that have no value yet say nothing."""
        try:
            return any(not _says_truth(step, p) for p in self.points)
        except KeyError:
            return False


def _says_truth(step: Json, p: _Point) -> bool:
    """Whether what a step establishes holds at a point.  Raises :class:`KeyError` for what has no value yet."""
    if "fact" in step:
        return _holds(read_formula(step["fact"]), p)

    def of(key: str) -> int:
        return _at(read_polynomial(step[key]), p)

    match step["by"]:
        case "name" | "quotient":
            return of("divisor") > 0 and divmod(of("dividend"), of("divisor")) == (
                of("quotient"),
                of("remainder"),
            )
        case "divisible":
            return of("divisor") > 0 and of("dividend") == of("divisor") * of("quotient")
        case "rewrite":
            return of("product") == of("value")
        case "extremum":
            args = [_at(read_polynomial(a), p) for a in step["args"]]
            return _meaning(str(step["name"]), args) == (of("value"),)
    raise KeyError(step["by"])


# --------------------------------------------------------------------------------------------------- what is drawn
_SIMPLE: list[Polynomial] = [
    *(constant(k) for k in (0, 1, -1, 2)),
    *(variable(v) for v in "xynzmqrke"),
    *(-variable(v) for v in "xynzmqr"),
    *(variable(v) + c for v in "xyq" for c in (1, -1)),
    variable("x") + variable("y"),
    variable("x") - variable("y"),
    variable("x") + variable("z"),
    variable("k") + variable("q"),
    variable("q") * variable("y"),
    variable("k") * variable("y"),
    variable("x") - variable("q") * variable("y"),
]
#: A name that means nothing.
_UNKNOWN = variable("w")
#: Not negative where a goal is denied.
_DENIED: Polynomial = Polynomial({("q", "y"): 1, ("x",): -1})


def _json(p: Polynomial) -> Json:
    return [[c, *names] for names, c in sorted(p.items())]


def _formula(f: Formula) -> Json:
    return [f[0], *(sorted(map(_formula, f[1]), key=repr) if f[0] in ("and", "or") else [_json(f[1])])]


class _Draw:
    """Steps at random: often with premises that hold, and then often with something else in one place."""

    def __init__(self, rng: random.Random, case: _Case) -> None:
        self.rng = rng
        self.case = case

    def polynomial(self) -> Polynomial:
        rng = self.rng
        p = rng.choice(_SIMPLE)
        if rng.random() < 0.25:
            p = p + rng.choice(_SIMPLE) * rng.choice((1, -1))
        if rng.random() < 0.1:
            p = p * rng.choice(_SIMPLE)
        return p if rng.random() < 0.97 else _UNKNOWN

    def new(self) -> Polynomial:
        """Draw a new name, and sometimes a polynomial that is none."""
        u = variable(f"u{self.rng.randrange(100)}")
        if self.rng.random() < 0.7:
            return u
        return u + self.rng.choice([constant(1), u * u, u * u, variable("x")])

    def equation(self) -> int:
        """The number of an equation."""
        return self.rng.choice([k for k, f in enumerate(self.case.numbers) if f[0] == "eq"])

    def comparison(self) -> int:
        """The number of an equation or inequality."""
        return self.rng.choice([k for k, f in enumerate(self.case.numbers) if f[0] in ("eq", "ge")])

    def number(self) -> int:
        return self.rng.randrange(len(self.case.numbers))

    def evidence(self, p: Polynomial) -> Json:
        """Evidence for ``p >= 0`` of at most one fact and a rest, if there is any; otherwise some."""
        rng = self.rng
        shifts = [0, 1, 2, 6]
        if rng.random() < 0.2:
            shifts = [self.number() for _ in range(2)]
        factors = [constant(1), constant(2), variable("y")]
        if rng.random() < 0.2:
            factors = [rng.choice([constant(-1), variable("x"), variable("q"), -variable("y")])]
        found: list[Json] = [[]]
        for k, f in enumerate(self.case.numbers):
            if f[0] == "ge":
                found += [[[_json(by), k]] for by in factors if _rest(p, by, f)]
        return {"shifts": shifts, "parts": rng.choice(found[1:] or found)}

    def step(self, kind: str) -> Json:
        """A step of one kind."""
        made = getattr(self, "_" + kind.replace(" ", "_"), self._other)
        step: Json = {"by": kind} | made()
        if "fact" in step:
            step["number"] = len(self.case.numbers)
        if self.rng.random() < 0.4:
            self._alter(step)
        return step

    def _alter(self, step: Json) -> None:
        """Something else in one place, the fact that is shown among them."""
        rng = self.rng
        key = rng.choice(sorted(step.keys() - {"by", "number"}) or ["by"])
        old = step[key]
        if key in ("dividend", "divisor", "quotient", "remainder", "value", "t", "r", "base", "of", "given"):
            if isinstance(old, list):
                step[key] = _json(self.polynomial())
        elif key == "fact":
            step[key] = self.fact()
        elif isinstance(old, dict) and "shifts" in old:
            step[key] = self.evidence(self.polynomial())
        elif isinstance(old, list) and old:
            del old[rng.randrange(len(old))]
        elif type(old) is int:
            step[key] = self.number()

    def fact(self) -> Json:
        p, q = self.polynomial(), self.polynomial()
        either = ["or", ["eq", _json(p)], ["eq", _json(q)]]
        return self.rng.choice([["ge", _json(p)], ["ge", _json(p)], ["eq", _json(p)], either, ["or"]])

    def _other(self) -> dict[str, Any]:
        return {"fact": self.fact(), "goal": ["<=", 0, 1]}

    def _division(self) -> tuple[Polynomial, Polynomial, Polynomial, Polynomial]:
        """Dividend, divisor, quotient and remainder, which often belong together."""
        rng = self.rng
        if rng.random() < 0.5:
            (a, b), (q, r) = rng.choice(sorted(self.case.steps.state.divisions.items(), key=repr))
            more = rng.choice(_SIMPLE) if rng.random() < 0.5 else Polynomial()
            return Polynomial(a) + Polynomial(b) * more, Polynomial(b), q + more, r
        b = variable("y") if rng.random() < 0.7 else rng.choice([_DENIED, self.polynomial()])
        q, r = self.polynomial(), variable("r") if rng.random() < 0.6 else self.polynomial()
        return b * q + r, b, q, r

    def _name(self) -> dict[str, Any]:
        a, b, q, r = self._division()
        if self.rng.random() < 0.5:
            q, r = self.new(), self.new()
        return {
            "dividend": _json(a),
            "divisor": _json(b),
            "quotient": _json(q),
            "remainder": _json(r),
            "one": self.evidence(b - 1),
        }

    def _divisible(self) -> dict[str, Any]:
        given, b, _, _ = self._division()
        k = self.rng.choice([self.new(), variable("k"), self.polynomial()])
        e = 2
        if self.rng.random() < 0.7:
            e = self.rng.choice((2, 2, 0, 3))
            given, b = variable(str(_TERMS[e])), variable("y")
        return {
            "dividend": _json(
                given + b * self.polynomial() if self.rng.random() < 0.7 else self.polynomial()
            ),
            "divisor": _json(b),
            "quotient": _json(k),
            "given": _json(given),
            "d": 1,
            "e": e,
            "one": self.evidence(b - 1),
        }

    def _quotient(self) -> dict[str, Any]:
        a, b, q, r = self._division()
        equations: list[Json] = []
        if self.rng.random() < 0.4:
            k = self.equation() if self.rng.random() < 0.7 else self.comparison()
            by = self.polynomial()
            a = a + by * Polynomial(self.case.numbers[k][1])
            equations = [[_json(by), k]]
        return {
            "dividend": _json(a),
            "divisor": _json(b),
            "quotient": _json(q),
            "remainder": _json(r),
            "equations": equations,
            "low": self.evidence(r),
            "high": self.evidence(b - r - 1),
        }

    def _rewrite(self) -> dict[str, Any]:
        k = self.equation()
        p = Polynomial(self.case.numbers[k][1])
        names, c = self.rng.choice(sorted(p.items()))
        product = Polynomial({names: 1})
        if self.rng.random() < 0.2:
            product = product + self.polynomial()
        return {"product": _json(product), "value": _json(product - p * c), "equation": k}

    def _quotient_of_a_natural_number(self) -> dict[str, Any]:
        a, b, q, _ = self._division()
        if self.rng.random() < 0.4:
            a, b, q = (variable(v) for v in "nyh")
        return {
            "dividend": _json(a),
            "divisor": _json(b),
            "quotient": _json(q),
            "natural": self.evidence(a),
            "fact": ["ge", _json(q)] if self.rng.random() < 0.8 else self.fact(),
        }

    def _quotient_of_a_bound(self) -> dict[str, Any]:
        a, b, q, _ = self._division()
        t = self.polynomial()
        if self.rng.random() < 0.4:
            a, b, q, t = (variable(v) for v in "nyhn")
        if self.rng.random() < 0.5:
            a = b * (t + 1) - 1 - self.rng.choice((0, 1))
            q = self.rng.choice([q, Polynomial()])
        return {
            "dividend": _json(a),
            "divisor": _json(b),
            "quotient": _json(q),
            "t": _json(t),
            "below": self.evidence(b * (t + 1) - 1 - a),
            "fact": ["ge", _json(t - q)] if self.rng.random() < 0.8 else self.fact(),
        }

    def _divided_bound(self) -> dict[str, Any]:
        b, t, r = variable("y"), self.polynomial(), self.polynomial()
        if self.rng.random() < 0.5:
            # what is known not to be negative, up to less than the base
            t, r = self.rng.choice([variable("n"), variable("n") + 1]), -b + 1
        return {
            "base": _json(b),
            "t": _json(t),
            "r": _json(r),
            "one": self.evidence(b - 1),
            "of": self.evidence(b * t + r),
            "gap": self.evidence(b - r - 1),
            "fact": ["ge", _json(t)],
        }

    def _equal_digits(self) -> dict[str, Any]:
        b, r = variable("y"), variable("r")
        k = self.equation()
        rest = Polynomial(self.case.numbers[k][1]) + r * self.rng.choice((1, -1))
        t = Polynomial({tuple(v for v in ns if v != "y"): c for ns, c in rest.items() if "y" in ns})
        return {
            "base": _json(b),
            "t": _json(t),
            "r": _json(r),
            "of": k,
            "high": self.evidence(b - r - 1),
            "low": self.evidence(b + r - 1),
            "fact": ["eq", _json(self.rng.choice((t, r)))],
        }

    def _extremum(self) -> dict[str, Any]:
        rng = self.rng
        sign = rng.choice((1, -1))
        args = [self.polynomial() for _ in range(rng.choice((0, 1, 2, 2, 3)))]
        dropped = []
        if len(args) > 1 and rng.random() < 0.6:
            if rng.random() < 0.5:
                args[0] = args[1] + rng.choice([variable("n"), variable("r"), constant(1)]) * sign
            dropped = [[_json(args[0]), _json(args[1]), self.evidence((args[0] - args[1]) * sign)]]
        return {
            "name": "min" if sign == 1 else "max",
            "args": [_json(p) for p in args],
            "dropped": dropped,
            "value": _json(rng.choice([self.new(), *args[-1:]])),
        }

    def _extremum_bound(self) -> dict[str, Any]:
        rng = self.rng
        op, args = "min", [variable("n"), variable("r")]
        bound = self.polynomial() if rng.random() < 0.5 else constant(rng.choice((0, -1)))
        if rng.random() < 0.2:
            args = args[:1]
            bound = args[0]
        sign = {"min": 1, "max": -1}[op]
        value = variable(rng.choice("eeeq"))
        return {
            "name": op,
            "args": [_json(a) for a in args],
            "value": _json(value),
            "bound": _json(bound),
            "each": [self.evidence((a - bound) * sign) for a in args],
            "fact": ["ge", _json((value - bound) * sign)],
        }

    def _substitution(self) -> dict[str, Any]:
        k, of = self.equation(), self.number()
        p = Polynomial(self.case.numbers[k][1])
        single = [(names, c) for names, c in sorted(p.items()) if len(names) == 1 and abs(c) == 1]
        if not single:
            return self._other()
        ((v,), c) = self.rng.choice(single)
        value = variable(v) - p * c
        if self.rng.random() < 0.2:
            value = self.polynomial()
        fact = _formula(at(self.case.numbers[of], lambda q: with_values(q, {v: value})))
        return {"values": {v: _json(value)}, "equation": k, "of": of, "fact": fact}

    def _derived(self) -> dict[str, Any]:
        p = self.polynomial()
        return {
            "from": [self.number() for _ in range(2)],
            "zero": _json(p),
            "fact": ["eq", _json(p)],
        }

    def _combination(self) -> dict[str, Any]:
        p = self.polynomial()
        return {"fact": ["ge", _json(p)], "evidence": self.evidence(p)} | (
            {"of": _json(self.polynomial())} if self.rng.random() < 0.2 else {}
        )

    def _defined(self) -> dict[str, Any]:
        return {"divisor": _json(self.polynomial()), "fact": ["or"]}

    def _lemma(self) -> dict[str, Any]:
        rng = self.rng
        name = rng.choice(sorted(LEMMAS))
        premises, then = LEMMAS[name]
        mentioned = {v for p in (*polynomials(then), *(p for _, p in premises)) for v in p.names}
        values = {v: self.polynomial() for v in sorted(mentioned)}

        def of(p: Polynomial) -> Polynomial:
            return with_values(p, values)

        given = [self.evidence(of(p)) if kind == "ge" else self.number() for kind, p in premises]
        return {
            "lemma": name,
            "with": {v: _json(p) for v, p in values.items()},
            "given": given,
            "fact": _formula(at(then, of)),
        }


def _rest(p: Polynomial, by: Polynomial, f: Formula) -> bool:
    """Whether nothing is left of ``p`` but what is seen not to be negative."""
    rest = p - by * Polynomial(f[1])
    return all(c > 0 and set(names) <= set("nyr") for names, c in rest.items())


def attempts(seed: int, number: int, again: int = 300) -> Iterator[Attempt]:
    """Steps that are drawn; every ``again`` of them, or after one that is wrong, the case is made anew."""
    rng = random.Random(seed)
    case, left = _Case.new(), again
    for _ in range(number):
        if not left or len(case.numbers) > 40:
            case, left = _Case.new(), again
        left -= 1
        draw = _Draw(rng, case)
        step = draw.step(rng.choice(_KINDS))
        case.steps.goal = rng.choice((*case.steps.claim.goals, None))
        untrue = case.untrue(step)
        accepted = case.take(step)
        if accepted:
            untrue = case.contradicted()
            left = 0 if untrue else left
        yield Attempt(step, untrue, accepted)


#: So many steps are drawn.
_DRAWN = 4_000


def step_cases(_: Batch) -> Iterator[Fault]:
    """Steps that say something untrue."""
    for k, a in enumerate(attempts(0, _DRAWN)):
        if a.untrue:
            yield Fault("step", f"{a.step['by']} {k}", "" if a.accepted else "the checker")
