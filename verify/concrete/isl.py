"""Engine based on the integer set library (isl), which is complete for Presburger arithmetic.

The problem becomes the set of points that satisfy ``where`` minus those of every option.  It is empty exactly
when the claim holds.  Its first point in the counterexample order is a lexicographic minimum in a space with
the total magnitude in front.  Every question has a fresh isl context, so that the budget runs out at the same
place on every machine: in a reused context the counts depend on earlier questions.  islpy does not free contexts,
which take some 10 KB each.  Only this module and `..isl_form` import islpy.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import islpy

from ...core.expr import Var, interpret
from ...core.interval import Interval, is_infinite
from ...core.numerals import parse_int
from .enumerate import shrunk
from .forms import Form, NotQuasiAffine, Row
from .problem import HOLDS, Fact, Outcome, Point, Problem, counterexample_order

#: Limit on the isl operations of one question: enough for almost all, and rarely more than a second.
BUDGET = 5_000
_SET = islpy.dim_type.set
_ZERO, _NATURAL, _ANY = Interval(0, 0), Interval(0, math.inf), Interval(-math.inf, math.inf)


class _OutOfBudget(Exception):
    """The limit of operations was reached."""


class Affine:
    """An algebra of isl's affine functions: ``Aff``, or ``PwAff`` above a minimum or maximum."""

    def __init__(self, context: Any, box: Sequence[tuple[Any, Interval]]) -> None:
        self.context = context
        self.space = islpy.Space.set_alloc(context, 0, len(box))
        local = islpy.LocalSpace.from_space(self.space)
        self.zero = islpy.Aff.zero_on_domain(local)
        self.at = {v: islpy.Aff.var_on_domain(local, _SET, k) for k, (v, _) in enumerate(box)}
        self.box = box

    def value(self, n: int) -> Any:
        return _value(self.context, n)

    # -- the algebra
    def integer(self, n: int) -> Any:
        return self.zero.add_constant_val(self.value(n)) if n else self.zero

    def variable(self, v: Var) -> Any:
        return self.at[v]

    def form(self, f: Form) -> Any:
        """Return the affine function of a linear form; the variables are the numbers of its atoms."""
        return self.sum(f.get(0, 0), [(self.at[m], k) for m, k in f.items() if m])

    def sum(self, const: int, terms: list[tuple[Any, int]]) -> Any:
        total = self.integer(const)
        for e, k in terms:
            total = self._add(total, e if k == 1 else e.scale_val(self.value(k)))
        return total

    def _add(self, a: Any, b: Any) -> Any:
        if isinstance(a, islpy.PwAff) or isinstance(b, islpy.PwAff):
            return _piecewise(a).add(_piecewise(b))
        return a.add(b)

    def product(self, factors: list[Any]) -> Any:
        raise NotQuasiAffine

    def _literal(self, b: Any) -> int:
        if not isinstance(b, islpy.Aff) or not b.is_cst():
            raise NotQuasiAffine
        n = _integer(b.get_constant_val())
        if not n:
            raise NotQuasiAffine
        return n

    def floordiv(self, a: Any, b: Any) -> Any:
        n = self._literal(b)
        # isl's floor applies to rationals, so move the sign of the divisor into the dividend
        return (a if n > 0 else a.neg()).scale_down_val(self.value(abs(n))).floor()

    def mod(self, a: Any, b: Any) -> Any:
        return self._add(a, self.floordiv(a, b).scale_val(self.value(-self._literal(b))))

    def ceildiv(self, a: Any, b: Any) -> Any:
        return self.floordiv(a.neg(), b).neg()

    def minimum(self, args: list[Any]) -> Any:
        return self._fold("min", args)

    def maximum(self, args: list[Any]) -> Any:
        return self._fold("max", args)

    def _fold(self, operation: str, args: list[Any]) -> Any:
        total = _piecewise(args[0])
        for a in args[1:]:
            total = getattr(total, operation)(_piecewise(a)).coalesce()
        return total

    # -- sets
    def universe(self) -> Any:
        """Return the set of points in the box."""
        return self.conjunction((self.at[v], i) for v, i in self.box)

    def conjunction(self, rows: Iterable[tuple[Any, Interval]]) -> Any:
        """Return the set in which each of these ``Aff`` lies in its interval."""
        result = islpy.BasicSet.universe(self.space)
        for e, within in rows:
            for c in self.constraints(e, within):
                result = result.add_constraint(c)
        return islpy.Set.from_basic_set(result)

    def constraints(self, e: Any, within: Interval) -> list[Any]:
        """Return constraints which state that an ``Aff`` lies in ``within``."""
        sides = self._sides(e, within)
        if within.lo == within.hi:
            return [islpy.Constraint.equality_from_aff(sides[0])]
        return [islpy.Constraint.inequality_from_aff(side) for side in sides]

    def _sides(self, e: Any, within: Interval) -> list[Any]:
        """Return functions that are all nonnegative exactly if ``e`` lies in ``within``."""
        out = []
        if not is_infinite(within.lo):
            out.append(e.add_constant_val(self.value(-int(within.lo))))
        if not is_infinite(within.hi):
            out.append(e.neg().add_constant_val(self.value(int(within.hi))))
        return out

    def _nonnegative(self, e: Any) -> Any:
        if isinstance(e, islpy.PwAff):
            return e.nonneg_set()
        return self.conjunction([(e, Interval(0, math.inf))])

    def where(self, e: Any, within: Interval) -> Any:
        """Return the set of points with ``e`` in ``within``."""
        if not isinstance(e, islpy.PwAff):
            return self.conjunction([(e, within)])
        result = islpy.Set.universe(self.space)
        for side in self._sides(e, within):
            result = result.intersect(self._nonnegative(side))
        return result

    def outside(self, e: Any, within: Interval) -> list[Any]:
        """Return the sets of points with ``e`` below and above ``within``."""
        minus_one = self.value(-1)
        return [self._nonnegative(side.neg().add_constant_val(minus_one)) for side in self._sides(e, within)]

    def all_of(self, start: Any, facts: Iterable[Fact]) -> Any:
        """Intersect ``start`` with the set of points at which all ``facts`` hold."""
        chosen = list(facts)
        for e, f in zip(interpret([f.expr for f in chosen], self), chosen, strict=True):
            start = start.intersect(self.where(e, f.within))
        return start


def _piecewise(e: Any) -> Any:
    return e if isinstance(e, islpy.PwAff) else islpy.PwAff.from_aff(e)


def _pieces(problem: Problem, context: Any) -> list[Any]:
    """Return sets whose union is the set of counterexamples."""
    algebra = Affine(context, problem.variables)
    domain = algebra.all_of(algebra.universe(), problem.where)
    if len(problem.options) == 1 and not problem.options[0].unknowns:
        # the violations of each fact of a single conjunction are simpler than the difference of sets
        facts = problem.options[0].facts
        values = interpret([f.expr for f in facts], algebra)
        sides = [s for e, f in zip(values, facts, strict=True) for s in algebra.outside(e, f.within)]
        return [domain.intersect(s) for s in sides]
    for option in problem.options:
        if domain.is_empty():
            return []
        if option.unknowns:
            wider = Affine(context, (*problem.variables, *option.unknowns))
            fits = wider.all_of(wider.universe(), option.facts)
            fits = fits.project_out(_SET, len(problem.variables), len(option.unknowns))
        else:
            fits = algebra.all_of(islpy.Set.universe(algebra.space), option.facts)
        domain = domain.subtract(fits)
    return [domain]


def _first(piece: Any, boxes: Sequence[Interval]) -> Point | None:
    """Return the first point of a basic set in the counterexample order, or ``None`` if the set is empty."""
    n = len(boxes)
    # new leading coordinates: the total, the magnitude of each variable, each variable negated
    front = 1 + 2 * n
    wide = piece.insert_dims(_SET, 0, front)
    algebra = Affine(piece.get_ctx(), [(k, _ANY) for k in range(1, front + n + 1)])
    rows: list[Row] = [({1: 1, **{2 + k: -1 for k in range(n)}}, _ZERO)]
    for k, (lo, hi) in enumerate(boxes):
        magnitude, minus, x = 2 + k, 2 + n + k, 1 + front + k
        rows.append(({x: 1, minus: 1}, _ZERO))
        # at the minimum of the total, each magnitude is the smallest number above x and -x
        rows.append(({x: -1, magnitude: 1}, _ZERO if lo >= 0 else _NATURAL))
        rows.append(({x: 1, magnitude: 1}, _ZERO if hi <= 0 < -lo else _NATURAL))
    for f, i in rows:
        for c in algebra.constraints(algebra.form(f), i):
            wide = wide.add_constraint(c)
    # lexmin of a set with divisions can fail inside isl; lifting turns divisions into ordinary coordinates
    point = islpy.Set.from_basic_set(wide).lift().flatten().lexmin().sample_point()
    if point.is_void():
        return None
    return tuple(-_coordinate(point, 1 + n + k) for k in range(n))


def _coordinate(point: Any, k: int) -> int:
    return _integer(point.get_coordinate_val(_SET, k))


def _integer(value: Any) -> int:
    text = value.to_str()
    if text is None:
        # isl cannot print once the limit is reached, and islpy then returns None instead of raising
        raise _OutOfBudget
    return parse_int(text)


#: Messages of isl for a spent budget, and for a lexicographic minimum that it cannot compute, which is not essential.
_GIVEN_UP = ("maximal number of operations", "affine expression involves some of the domain dimensions")


def _value(context: Any, n: int) -> Any:
    if -(2**63) <= n < 2**63:
        return islpy.Val.int_from_si(context, n)
    high, low = divmod(n, 2**62)
    return _value(context, high).mul(_value(context, 2**62)).add(_value(context, low))


def counterexample(atoms: Sequence[Interval], rows: Iterable[Row], goal: Row, budget: int) -> tuple[bool | None, Point]:
    """Return whether values of the atoms satisfy the rows but not ``goal``, and the values; ``None`` if out of budget."""
    context = islpy.Context()
    context.set_max_operations(budget)
    try:
        algebra = Affine(context, [*enumerate(atoms, 1)])
        domain = algebra.universe().intersect(algebra.conjunction((algebra.form(f), i) for f, i in rows))
        for side in algebra.outside(algebra.form(goal[0]), goal[1]):
            point = domain.intersect(side).sample_point()
            context.reset_operations()
            if not point.is_void():
                return True, tuple(_coordinate(point, k) for k in range(len(atoms)))
    except (islpy.Error, _OutOfBudget) as error:
        if isinstance(error, islpy.Error) and _GIVEN_UP[0] not in str(error):
            raise
        return None, ()
    return False, ()


def decide(problem: Problem, budget: int = BUDGET, *, minimise: bool = True) -> Outcome:
    """Decide with at most ``budget`` isl operations, and as many again to find the first counterexample.

    isl counts an operation on wide integers as one, so the limit is divided by their width.  It does not count the work
    of a lexicographic minimum with growing coefficients: for wide integers in several variables the counterexample
    is only shrunk.
    """
    context = islpy.Context()
    words = problem.words
    context.set_max_operations(max(budget // words, 1))  # 0 would mean no limit
    boxes = [i for _, i in problem.variables]
    found: list[Point] = []
    try:
        pieces = [p for p in _pieces(problem, context) if not p.is_empty()]
        if not pieces:
            return HOLDS
        sample = pieces[0].sample_point()
        # reading the found point must not count as part of the search
        context.reset_operations()
        found.append(tuple(_coordinate(sample, k) for k in range(len(boxes))))
        context.reset_operations()
        if not minimise:
            return Outcome("fails", found[0], minimal=False, note="not minimised")
        if words > 1 and len(boxes) + sum([len(o.unknowns) for o in problem.options]) > 1:
            return Outcome("fails", shrunk(problem, found[0]), minimal=False, note="not minimised")
        for piece in pieces:
            firsts = (_first(basic, boxes) for basic in piece.get_basic_sets())
            found += [p for p in firsts if p is not None]
    except NotQuasiAffine:
        return Outcome("open", note="not Presburger")
    except (islpy.Error, _OutOfBudget) as error:
        if isinstance(error, islpy.Error) and not any(said in str(error) for said in _GIVEN_UP):
            raise
        if not found:
            return Outcome("open", note="out of budget")
        return Outcome("fails", min(found, key=counterexample_order), minimal=False, note="not minimised")
    return Outcome("fails", min(found, key=counterexample_order))
