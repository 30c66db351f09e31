"""A property of maps with parameters, as a claim of the prover and as concrete questions at small sizes."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from ..core.blocks import count
from ..core.condition import FALSE, TRUE, Condition, all_exprs, all_of, any_of, negate, substitute_conditions
from ..core.errors import InputError, quoted
from ..core.expr import Expr, Int, Mul, Sum, Var, mod, postorder, substitute_all, var
from ..core.indexing_map import unused_name
from ..core.parametric import ParametricMap, divisors_of
from .budget import Budget
from .concrete import Answer, equal_maps
from .concrete.equality import not_minimal
from .concrete.questions import expect_shape
from .inversion import solutions
from .obligation import Obligation
from .properties import decide_property, place_in_memory
from .proving import prove_all
from .verdict import Status, Verdict

#: Hypotheses and a goal that they should imply.
Claim: TypeAlias = tuple[tuple[Condition, ...], Condition]

#: Limits on the sizes that are tried, and on the tuples of parameter values they are chosen from.
_SIZES, _TRIED = 32, 20_000
#: Limits on the proposed ways to resolve extrema, on the sizes they are tried at, and on the points at each size.
_BRANCHES, _TRIED_FORMS, _POINTS = 16, 8, 64
#: Values of a variable without bounds are tried up to this distance from zero.
_REACH = 4


@dataclass(frozen=True)
class SizeQuestion:
    """One property of one or two maps, with its arguments."""

    maps: Sequence[ParametricMap]
    given: Mapping[str, Any]
    budget: Budget = field(default_factory=Budget)
    #: Obligations of the property that were proved.
    proved: list[Obligation] = field(default_factory=list)

    def __post_init__(self) -> None:
        for m in self.maps:
            if clash := [p for p in self.parameters if p in (*m.dims, *m.ranges)]:
                raise InputError(
                    f"{quoted(clash[0])} is a parameter of one map and a variable of the other", expected="another name"
                )

    @property
    def parameters(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(p for m in self.maps for p in m.parameters))

    @property
    def sizes(self) -> tuple[Condition, ...]:
        """The known conditions on the parameters."""
        return tuple(c for m in self.maps for c in m.on_parameters)

    @property
    def arguments(self) -> list[Expr]:
        """The sizes in the arguments."""
        return [e for x in self.given.values() for e in (x if isinstance(x, list) else [x]) if isinstance(e, Expr)]

    # -- verdicts
    def decided(self, name: str, confirm: bool) -> Answer:
        start = time.perf_counter()
        claims = self.claims(name)
        self.expect_divisors()
        self.proved.clear()
        sizes = [*itertools.islice(self.values(), _SIZES)]
        if not sizes and self.shown("sizes", [[(self.sizes, FALSE)]])[0]:
            raise InputError("the conditions on the parameters contradict each other")
        proved: list[dict[str, int]] = []
        for values in sizes:
            answer = self.concrete(name, values)
            if answer is not None and answer.verdict is Status.REFUTED:
                answer = answer if self.smallest(values, proved) else not_minimal(answer)
                return replace(answer, seconds=time.perf_counter() - start)
            proved += [values] if answer is not None and answer.proved else []
        shown, said = self.shown(name, claims, confirm)
        seconds = time.perf_counter() - start
        for v in said:
            if v.witness is not None:
                values = {p: v.witness.get(p, 0) for p in self.parameters}
                found = self.concrete(name, values)
                if found is not None and found.verdict is Status.REFUTED:
                    return replace(not_minimal(found), seconds=seconds)
        if shown:
            by = dict.fromkeys(s for v in said for s in v.strategy.split(" + "))
            opinions = [v.opinion is not None and v.opinion.confirms for v in said if v.strategy != "identity"]
            confirmed = "cvc5" if confirm and all(opinions) else ""
            engine = f"z3 ({', '.join(by) or 'nothing to show'}), for all sizes"
            return Answer(Status.PROVED, engine, (), None, seconds, confirmed)
        why = [f"{v.status.value.lower()}: {', '.join(v.tried)}" for v in said if not v.proved]
        tried = f"no counterexample at {count(len(sizes), 'size')}"
        return Answer(Status.UNDECIDED, "", (*why, tried), None, seconds)

    def shown(
        self, name: str, claims: Sequence[Sequence[Claim]], confirm: bool = False, more: Sequence[Condition] = ()
    ) -> tuple[bool, list[Verdict]]:
        """Decide whether each claim has a form that is proved; return that and the last verdict on each."""
        last = []
        for k, forms in enumerate(claims):
            verdict = Verdict(Status.UNDECIDED, tried=("no inverse",))
            for hypotheses, goal in self.plausible(forms):
                known = (*more, *hypotheses)
                # the prover assumes nonzero divisors, so those that the goal introduces are proved nonzero first
                for kind, part in (("defined", self.divided(goal)), ("holds", goal)):
                    subject = f"{name}: {' and '.join(map(str, self.maps))}"
                    o = Obligation("property", subject, f"{kind} {k}", known, part)
                    run = prove_all([o], jobs=1, budget=self.budget, confirm="cvc5" if confirm else "")
                    verdict = run.results[0].verdict
                    if not verdict.proved:
                        break
                    if part is not TRUE:
                        self.proved.append(o)
                if verdict.proved:
                    break
            last.append(verdict)
            if not verdict.proved:
                return False, last
        return True, last

    def plausible(self, forms: Sequence[Claim]) -> Sequence[Claim]:
        """Return the forms that no small point refutes, or else the last one."""
        for p in self.points(forms[0][0]) if len(forms) > 1 else ():
            forms = [f for f in forms if holds_at(f[1], p)] or forms[-1:]
        return forms

    def points(self, known: Sequence[Condition]) -> Iterator[dict[str, int]]:
        """Yield points at some small, nonzero sizes that satisfy the conditions."""
        names = dict.fromkeys(v.name for c in known for v in c.variables() if v.name not in self.parameters)
        pool = range(round(_POINTS ** (1 / max(len(names), 1))))
        sizes = (v for v in self.values() if min(v.values(), default=1) > 0)
        for values in itertools.islice(sizes, _TRIED_FORMS):
            for p in itertools.product(pool, repeat=len(names)):
                at = {**values, **dict(zip(names, p, strict=True))}
                if holds_at(all_of(known), at):
                    yield at

    def divided(self, goal: Condition) -> Condition:
        """Return that the goal's divisors are nonzero, except those of the maps and the arguments."""
        known = {*self.divisors()}
        return all_of(d.ne(0) for d in divisors_of(all_exprs(goal)) if d not in known)

    def divisors(self) -> Iterator[Expr]:
        """Yield the divisors of the maps and of the arguments."""
        for m in self.maps:
            yield from m.divisors
        yield from divisors_of(self.arguments)
        yield from (self.given[key] for key in ("width", "by") if key in self.given)

    def expect_divisors(self) -> None:
        """Check that all divisors are nonzero, and widths positive.  Raises :class:`InputError` otherwise."""
        counted = [self.given[key] for key in ("width", "by") if key in self.given]
        # a condition with a divisor of its own is undefined where that is zero
        known = tuple(c for c in self.sizes if not divisors_of(all_exprs(c)))
        for d in self.divisors():
            wanted = Obligation("property", "divisor", "", known, d >= 1 if d in counted else d.ne(0))
            verdict = prove_all([wanted], jobs=1).results[0].verdict
            if not verdict.proved:
                point = ", ".join(f"{p} = {x}" for p, x in (verdict.witness or {}).items())
                raise InputError(
                    f"`{d}` may be {'less than 1' if d in counted else 'zero'}" + (f": at {point}" if point else ""),
                    expected=f"a condition of the domain, such as `{d} >= 1`",
                )

    # -- sizes
    def values(self) -> Iterator[dict[str, int]]:
        """Yield small values of the parameters that the conditions allow, by increasing sum."""
        roots = [e for m in self.maps for e in (*m.results, *(e for c in m.conditions for e in all_exprs(c)))]
        roots += self.arguments
        known = {abs(n.value) for n in postorder(*roots) if isinstance(n, Int)}
        known |= {abs(k) for n in postorder(*roots) if isinstance(n, Sum) for k in (n.const, *(k for _, k in n.terms))}
        large = [n for n in sorted(known) if n > 5][:4]
        near = {x for n in large for x in (n - 1, n, n + 1, 2 * n, 3 * n)}
        pool = sorted({*range(16 // (len(self.parameters) + 1) + 2), *near})
        names = self.parameters
        for point in by_sum(pool, len(names)):
            values = dict(zip(names, point, strict=True))
            if holds_at(all_of(self.sizes), values):
                yield values

    def smallest(self, values: Mapping[str, int], proved: Sequence[Mapping[str, int]]) -> bool:
        """Return whether the property was ``proved`` at all smaller non-negative sizes."""
        total, point = sum(values.values()), tuple(values.values())
        if (total + 1) ** len(point) > _TRIED:
            return False
        before = (
            dict(zip(values, p, strict=True))
            for p in itertools.product(range(total + 1), repeat=len(point))
            if (sum(p), p) < (total, point)
        )
        known = all(v in proved for v in before if holds_at(all_of(self.sizes), v))
        whole = all({*m.variables} <= m.lower_bounds.keys() & m.upper_bounds.keys() for m in self.maps)
        signs: list[list[Claim]] = [[(self.sizes, var(p) >= 0)] for p in values]
        return known and whole and self.shown("sizes", signs)[0]

    def concrete(self, name: str, values: Mapping[str, int]) -> Answer | None:
        """Return the answer at these sizes, or ``None`` if the question is undefined there."""
        try:
            at = [m.at({p: values[p] for p in m.parameters}, None if name in _EXISTS else _REACH) for m in self.maps]
            given = {k: _valued(x, values) for k, x in self.given.items()}
            answer = equal_maps(at[0], at[1], **given) if name == "equal" else decide_property(name, at, **given)
        except (InputError, ZeroDivisionError):
            return None
        return replace(at_sizes(answer, values), sides=None)

    # -- claims
    def claims(self, name: str) -> list[list[Claim]]:
        """Return the conjuncts of the property as lists of alternative forms, of which one is enough."""
        made: list[list[Claim]] = getattr(self, f"_{name}")(**self.given)
        return made

    def _in_bounds(self, shape: Sequence[Any]) -> list[list[Claim]]:
        (m,) = self.maps
        expect_shape(m, shape)
        return [[(m.conditions, all_of([e >= 0, e < n]))] for e, n in zip(m.results, shape, strict=True)] or [
            [((), all_of(()))]
        ]

    def _injective(self, over: Sequence[str] = ()) -> list[list[Claim]]:
        (m,) = self.maps
        again = m.primed()
        same = [a.eq(b) for a, b in zip(m.results, again.results, strict=True)]
        chosen = [var(n) for n in over] or m.variables
        hypotheses = (*m.conditions, *again.conditions, *same)
        return [[(hypotheses, v.eq(var(v.name + "'")))] for v in chosen]

    def _covers(self, shape: Sequence[Any]) -> list[list[Claim]]:
        (m,) = self.maps
        expect_shape(m, shape)
        index = [var(f"t{k}'") for k in range(len(shape))]
        inside = [t.within(0, n - 1) for t, n in zip(index, shape, strict=True)]
        return [_reached((*m.on_parameters, *inside), m, {}, index)]

    def _bijective(self, shape: Sequence[Any]) -> list[list[Claim]]:
        return [*self._in_bounds(shape), *self._injective(), *self._covers(shape)]

    def _disjoint(self) -> list[list[Claim]]:
        one, other = self.maps[0], self.maps[1].primed()
        if len(one.results) != len(other.results):
            raise InputError(
                "maps to tensors of different rank have no common target", expected="two maps to one tensor"
            )
        same = [a.eq(b) for a, b in zip(one.results, other.results, strict=True)]
        *known, last = same or [all_of(())]
        return [[((*one.conditions, *other.conditions, *known), negate(last))]]

    def _inverse(self) -> list[list[Claim]]:
        one, other = self.maps[0], self.maps[1].primed()
        if len(one.dims) != len(other.results) or len(other.dims) != len(one.results):
            raise InputError(
                "maps of these ranks cannot be inverse to each other", expected="as many dimensions as results"
            )
        pairs = ((one, other), (other, one))
        return [
            _reached((*self.sizes, *a.conditions), b, dict(zip(_vars(b.dims), a.results, strict=True)), _vars(a.dims))
            for a, b in pairs
        ]

    def _equal(self, mode: str) -> list[list[Claim]]:
        one, other = self.maps[0], self.maps[1].primed()
        if len(one.dims) != len(other.dims) or len(one.results) != len(other.results):
            raise InputError(
                "the maps have other numbers of dimensions or results", expected="two maps between the same tensors"
            )
        claims = []
        for a, b in ((one, other), (other, one)):
            known: dict[Var, Expr] = dict(zip(_vars(b.dims), _vars(a.dims), strict=True))
            forms = []
            if len(a.ranges) == len(b.ranges):
                place = known | dict(zip(_vars(b.ranges), _vars(a.ranges), strict=True))
                forms = _reached((*self.sizes, *a.conditions), b, place, a.results)
            elif mode == "pointwise":
                raise InputError("maps with other numbers of ranges are not compared pointwise")
            if mode == "relation" and b.ranges:
                forms += _reached((*self.sizes, *a.conditions), b, known, a.results)
            claims.append(forms)
        return claims

    def _least(self, name: str) -> Expr:
        (m,) = self.maps
        low = m.lower_bounds.get(var(name))
        products = {
            v for c in m.conditions for n in postorder(*all_exprs(c)) if isinstance(n, Mul) for v in n.variables()
        }
        if low is None or var(name) in products:
            # at some sizes the product may be the variable itself, and give another bound of it
            raise InputError(
                f"{quoted(name)} has no lower bound" if low is None else f"{quoted(name)} is bounded by a product",
                expected=f"`{name} in [lo, hi]` in the domain",
            )
        return low

    def _contiguous(self, along: str, width: Any, shape: Sequence[Any] | None = None) -> list[list[Claim]]:
        (m,), v, j = self.maps, var(along), var("lane'")
        start = v - mod(v - self._least(along), width)
        place, moved = place_in_memory(m, shape), {v: start + j}
        hypotheses = (*m.conditions, j.within(0, width - 1))
        inside = substitute_conditions(m.conditions, moved)
        same = (place.substitute(moved) - place).eq(start + j - v)
        return [[(hypotheses, all_of(inside))], [((*hypotheses, *inside), same)]]

    def _aligned(self, by: Any, shape: Sequence[Any] | None = None, along: str = "") -> list[list[Claim]]:
        (m,) = self.maps
        first = [mod(var(along) - self._least(along), by).eq(0)] if along else []
        return [[((*m.conditions, *first), mod(place_in_memory(m, shape), by).eq(0))]]

    def _monotone(self, along: str = "", strict: bool = False) -> list[list[Claim]]:
        (m,) = self.maps
        again = m.renamed({along: along + "'"}) if along else m.primed()
        gaps = [b - a for a, b in zip(m.results, again.results, strict=True)]
        later = [all_of([*(g.eq(0) for g in gaps[:k]), g > 0]) for k, g in enumerate(gaps)]
        goal = any_of([*later, *([] if strict else [all_of(g.eq(0) for g in gaps)])])
        both = (*m.conditions, *again.conditions)
        chosen = [var(along)] if along else m.variables
        return [
            [((*both, *(x.eq(var(x.name + "'")) for x in chosen[:k]), v < var(v.name + "'")), goal)]
            for k, v in enumerate(chosen)
        ]


#: Properties that state that a point exists, so that a part of the domain cannot refute them.
_EXISTS = frozenset({"covers", "bijective", "inverse", "equal", "contiguous"})


def _vars(names: Sequence[str]) -> tuple[Var, ...]:
    return tuple(map(var, names))


def _reached(
    hypotheses: tuple[Condition, ...], m: ParametricMap, known: Mapping[Var, Expr], index: Sequence[Expr]
) -> list[Claim]:
    """Return claims that ``m`` has the target ``index`` at solved values of the variables that are not ``known``."""
    unknown = [v for v in m.variables if v not in known]
    results = substitute_all(m.results, known)
    own = [c for c in m.conditions if c not in m.on_parameters]
    goals: dict[Condition, None] = {}
    for most in (None, m.upper_bounds):
        found = solutions([*zip(results, index, strict=True)], unknown, m.lower_bounds, most)
        for values in itertools.islice(found, _BRANCHES):
            place: dict[Expr, Expr] = dict(known) | values
            inside = substitute_conditions(own, place)
            same = [a.eq(b) for a, b in zip(substitute_all(m.results, place), index, strict=True)]
            goals[all_of([*inside, *same])] = None
    return [(hypotheses, goal) for goal in goals]


def by_sum(pool: Sequence[int], count: int) -> Iterator[tuple[int, ...]]:
    """Return the points of ``count`` coordinates from ``pool``, by increasing sum."""
    while len(pool) ** count > _TRIED:
        pool = pool[:-1]
    return iter(sorted(itertools.product(pool, repeat=count), key=lambda p: (sum(p), p)))


def at_sizes(answer: Answer, values: Mapping[str, int]) -> Answer:
    """Return the answer with the parameters first in its counterexample, and other variables renamed on a clash."""
    c, taken = answer.counterexample, {*values}
    if c is None:
        return answer
    own = {unused_name(n, taken): x for n, x in c.values.items()}
    return replace(answer, counterexample=replace(c, values={**values, **own}))


def holds_at(c: Condition, values: Mapping[Any, int]) -> bool:
    """Return whether a condition is defined and holds at these values."""
    try:
        return c.evaluate(values)
    except ZeroDivisionError:
        return False


def _valued(x: Any, values: Mapping[str, int]) -> Any:
    if isinstance(x, list):
        return [_valued(e, values) for e in x]
    return int(x.evaluate(values)) if isinstance(x, Expr) else x
