"""Maps with parameters: symbolic sizes and strides.

``(d0, d1)[s0]{n, k} -> (d0 * k + d1), domain: d1 in [0, k - 1], n >= 1``.  A name in braces without an integer box in
the domain is a parameter: it has the same value at all points.  Products of a variable with parameters, divisors made
of parameters and any comparison or divisibility are allowed; bounds are expressions.  A variable without bounds ranges
over all integers.  With values for its parameters such a map is an :class:`~.indexing_map.IndexingMap`, the form of all
concrete maps, which pay nothing for this module.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from .bounded import Inequality, constrained, constraints_of, merged
from .condition import (
    FALSE,
    TRUE,
    Compare,
    Condition,
    Divides,
    Within,
    all_exprs,
    all_of,
    parts_of,
    substitute_conditions,
)
from .errors import InputError, quoted
from .expr import (
    Binary,
    Expr,
    Int,
    Integers,
    Mul,
    Sum,
    Var,
    interpret,
    maximum,
    minimum,
    postorder,
    substitute_all,
    var,
)
from .facts import Facts
from .indexing_map import IndexingMap, Variable, known_names, unused_name
from .interval import LINE, Interval
from .json_form import Place, expr_from_json, expr_to_json
from .text_printer import format_expr
from .text_reader import MapReader, parse_condition


@dataclass(frozen=True, repr=False)
class ParametricMap:
    """A map whose sizes and strides are ``parameters``; ``conditions`` define its domain, also for variables.

    Raises :class:`InputError` where two factors of a product contain variables, or a divisor does.
    """

    dims: tuple[str, ...]
    ranges: tuple[str, ...]
    parameters: tuple[str, ...]
    results: tuple[Expr, ...]
    conditions: tuple[Condition, ...] = ()

    def __post_init__(self) -> None:
        held = tuple(c for c in parts_of(all_of(self.conditions)) if c is not TRUE)
        object.__setattr__(self, "conditions", held)
        names = (*self.dims, *self.ranges, *self.parameters)
        for k, n in enumerate(names):
            if n in names[:k]:
                raise InputError(f"duplicate variable {quoted(n)}", expected="a name that is not used yet")
        own = {*self.variables}
        for node in postorder(*self._roots):
            if isinstance(node, Var) and node.name not in names:
                raise InputError(f"unknown variable {quoted(node.name)}", expected=known_names(names))
            # at most one factor of a product may contain variables, and no divisor
            parts = node.factors if isinstance(node, Mul) else (node.b,) if isinstance(node, Binary) else ()
            if sum(not own.isdisjoint(f.variables()) for f in parts) > isinstance(node, Mul):
                raise InputError(
                    f"`{format_expr(node)}` is not quasi-affine for fixed parameters",
                    expected="products of a variable with parameters, and divisors made of parameters",
                )

    @property
    def _roots(self) -> list[Expr]:
        return [*self.results, *(e for c in self.conditions for e in all_exprs(c))]

    @classmethod
    def of(cls, m: IndexingMap | ParametricMap) -> ParametricMap:
        """Return ``m`` as a parametric map; its runtime variables become parameters with constant bounds.

        Raises :class:`InputError` for one that is read from an operand: it may have another value at each point.
        """
        if isinstance(m, ParametricMap):
            return m
        for v in m.rts:
            if v.source is not None:
                said = f"{quoted(v.name)} is read at run time, and a map with parameters has one value of it"
                raise InputError(said, expected="a runtime variable without `hlo:`, or maps without parameters")
        names = [tuple(v.name for v in group) for group in (m.dims, m.ranges, m.rts)]
        return cls(names[0], names[1], names[2], m.results, m.domain)

    # -- parts
    @property
    def variables(self) -> tuple[Var, ...]:
        """The dimension and range variables as expressions."""
        return tuple(map(var, (*self.dims, *self.ranges)))

    @property
    def divisors(self) -> tuple[Expr, ...]:
        """The divisors that are not literals; none may be zero at any values of the parameters."""
        return divisors_of(self._roots)

    @property
    def on_parameters(self) -> tuple[Condition, ...]:
        """The conditions that mention no variable."""
        own = {*self.variables}
        return tuple(c for c in self.conditions if own.isdisjoint(c.variables()))

    @property
    def lower_bounds(self) -> dict[Var, Expr]:
        """The greatest lower bound of each variable that has one, as an expression over the parameters."""
        return {v: maximum(*lows) for v, lows in self._bounds(1).items()}

    @property
    def upper_bounds(self) -> dict[Var, Expr]:
        """The least upper bound of each variable that has one, as an expression over the parameters."""
        return {v: minimum(*highs) for v, highs in self._bounds(-1).items()}

    def is_box(self, c: Condition) -> bool:
        """Return whether a condition only bounds a single variable by expressions over the parameters."""
        bounded = [{v for v, *_ in self._ends(e)} for e in _not_negative(c)]
        return bool(bounded) and all(bounded) and len(set().union(*bounded)) == 1

    def _bounds(self, sign: int) -> dict[Var, list[Expr]]:
        found: dict[Var, list[Expr]] = {}
        for e in (e for c in self.conditions for e in _not_negative(c)):
            for v, way, end in self._ends(e):
                if way == sign:
                    found.setdefault(v, []).append(end)
        return found

    def _ends(self, e: Expr) -> Iterator[tuple[Var, int, Expr]]:
        """Yield the bounds that ``e >= 0`` implies: variable, 1 for lower or -1 for upper, bound by parameters."""
        own = {*self.variables}
        for v, sign in itertools.product(own.intersection(e.variables()), (1, -1)):
            end = v - e * sign
            if own.isdisjoint(end.variables()):
                yield v, sign, end

    # -- meaning
    def at(self, values: Mapping[str, int], unbounded: int | None = None) -> IndexingMap:
        """Return the concrete map at these ``values`` of all parameters.

        With ``unbounded``, unbounded variables are restricted to at most this distance from zero, or from their bound.
        Raises :class:`InputError` for missing values, values that the conditions exclude, and missing bounds.
        """
        missing = [p for p in self.parameters if p not in values]
        if missing or not values.keys() <= {*self.parameters}:
            known = ", ".join(f"{p}=1" for p in self.parameters)
            wrong = f"{quoted(missing[0])} has no value" if missing else "a value for something that is no parameter"
            raise InputError(wrong, expected=f"a value for every parameter, as in `{known}`")
        env: dict[Expr, int] = {var(p): values[p] for p in self.parameters}
        try:
            for c in self.on_parameters:
                if not c.evaluate(env):
                    raise InputError(f"`{format_condition(c)}` does not hold there", expected="other values")
            results = substitute_all(self.results, env)
            own = [c for c in self.conditions if c not in self.on_parameters]
            left = substitute_conditions(own, env)
        except ZeroDivisionError:
            raise InputError("a divisor is zero there", expected="other values") from None
        boxes, bounds = merged([b for c in left for b in _sided(c)], dict.fromkeys(self.variables, LINE))
        # a box that is empty at these sizes has become the condition FALSE
        boxes = dict.fromkeys(self.variables, Interval(0, -1)) if FALSE in left else _completed(boxes, bounds)
        if unbounded is not None:
            boxes = {v: _near(box, unbounded) for v, box in boxes.items()}
        for v, box in boxes.items():
            if math.inf in map(abs, box):
                raise InputError(f"{quoted(v.name)} has no bounds", expected=f"`{v.name} in [lo, hi]` in the domain")
        made = [Variable(v.name, int(boxes[v].lo), int(boxes[v].hi)) for v in self.variables]
        rank, constraints = len(self.dims), constrained(bounds, boxes)
        return IndexingMap(tuple(made[:rank]), tuple(made[rank:]), (), tuple(results), tuple(constraints))

    def fixed(self, values: Mapping[str, int]) -> IndexingMap | ParametricMap:
        """Return the map with values for some of its parameters; concrete where no parameters remain."""
        left = tuple(p for p in self.parameters if p not in values)
        if not left:
            return self.at(values)
        env = {var(p): x for p, x in values.items()}
        try:
            results, conditions = (substitute_all(self.results, env), substitute_conditions(self.conditions, env))
        except ZeroDivisionError:
            raise InputError("a divisor is zero there", expected="other values") from None
        return replace(self, parameters=left, results=tuple(results), conditions=tuple(conditions))

    def pinned(self) -> dict[str, int]:
        """Return the values of the parameters that a condition such as ``n == 4`` fixes."""
        found = {}
        for c in self.conditions:
            if isinstance(c, Compare) and c.op == "==":
                for a, b in ((c.a, c.b), (c.b, c.a)):
                    if isinstance(a, Var) and a.name in self.parameters and isinstance(b, Int):
                        found[a.name] = b.value
        return found

    def evaluate(
        self, dims: Sequence[int], ranges: Sequence[int] = (), parameters: Sequence[int] = ()
    ) -> tuple[int, ...] | None:
        """Return the target at one point, or ``None`` outside the domain.  Raises :class:`ZeroDivisionError`."""
        names = (*self.variables, *map(var, self.parameters))
        env = dict(zip(names, (*dims, *ranges, *parameters), strict=True))
        if not all(c.evaluate(env) for c in self.conditions):
            return None
        return tuple(interpret(self.results, Integers(env)))

    # -- transformations
    def primed(self) -> ParametricMap:
        """Return the map with a prime appended to its variables, which no parsed name contains."""
        return self.renamed({v: v + "'" for v in (*self.dims, *self.ranges)})

    def renamed(self, names: Mapping[str, str]) -> ParametricMap:
        """Return the map with some variables and parameters renamed."""
        moved = {var(old): var(new) for old, new in names.items()}
        groups = [tuple(names.get(n, n) for n in g) for g in (self.dims, self.ranges, self.parameters)]
        conditions = substitute_conditions(self.conditions, moved)
        results = substitute_all(self.results, moved)
        return ParametricMap(groups[0], groups[1], groups[2], tuple(results), tuple(conditions))

    def compose(self, inner: IndexingMap | ParametricMap) -> ParametricMap:
        """Return the composition, first this map, then ``inner``; parameters with equal names are identified."""
        other = ParametricMap.of(inner)
        if len(self.results) != len(other.dims):
            raise InputError(
                f"maps do not compose: the first has {len(self.results)} results,"
                f" the second {len(other.dims)} dimension variables"
            )
        taken = {*self.dims, *self.ranges, *self.parameters, *other.parameters}
        clash = [p for p in other.parameters if p in (*self.dims, *self.ranges)]
        if clash:
            raise InputError(f"{quoted(clash[0])} is a variable of the first map and a parameter of the second")
        fresh = {n: unused_name(n, taken) for n in other.ranges}
        moved: dict[Expr, Expr] = dict(zip(map(var, other.dims), self.results, strict=True))
        moved |= {var(old): var(new) for old, new in fresh.items()}
        return ParametricMap(
            self.dims,
            (*self.ranges, *fresh.values()),
            tuple(dict.fromkeys((*self.parameters, *other.parameters))),
            tuple(substitute_all(other.results, moved)),
            (*self.conditions, *substitute_conditions(other.conditions, moved)),
        )

    # -- forms
    def __str__(self) -> str:
        order = (*self.variables, *map(var, self.parameters))
        head = f"({', '.join(self.dims)})" + (f"[{', '.join(self.ranges)}]" if self.ranges else "")
        head += f"{{{', '.join(self.parameters)}}}" if self.parameters else ""
        text = f"{head} -> ({', '.join(format_expr(e, variables=order) for e in self.results)})"
        domain = ", ".join(format_condition(c, order) for c in self.conditions)
        return text + (f", domain: {domain}" if domain else "")

    __repr__ = __str__

    def to_json(self) -> dict[str, Any]:
        """Return the map as plain lists, with conditions as text; :func:`parametric_from_json` reads them."""
        order = (*self.variables, *map(var, self.parameters))
        return {
            "dims": [*self.dims],
            "ranges": [*self.ranges],
            "parameters": [*self.parameters],
            "results": [expr_to_json(e, order) for e in self.results],
            "conditions": [format_condition(c, order) for c in self.conditions],
        }


def divisors_of(roots: Iterable[Expr]) -> tuple[Expr, ...]:
    """Return the divisors that are not literals."""
    found = {n.b: None for n in postorder(*roots) if isinstance(n, Binary)}
    return tuple(d for d in found if not isinstance(d, Int))


def _not_negative(c: Condition) -> tuple[Expr, ...]:
    """Return expressions whose nonnegativity the condition implies."""
    bounds = constraints_of(c)
    above = [hi - e for e, _, hi in bounds if isinstance(hi, int)]
    return (*(e - lo for e, lo, _ in bounds if isinstance(lo, int)), *above)


def _completed(given: Mapping[Var, Interval], bounds: Iterable[Inequality]) -> dict[Var, Interval]:
    """Return boxes where missing ends are those implied by bounds of sums with bounded variables."""
    boxes = dict(given)
    for v in (*boxes, *boxes):
        if math.inf not in map(abs, boxes[v]):
            continue
        for e, lo, hi in bounds:
            sign = dict(e.terms).get(v) if isinstance(e, Sum) else None
            if sign in (1, -1):
                rest = Facts(boxes).interval(e - v * sign)
                ends = sorted(((lo - rest.hi) * sign, (hi - rest.lo) * sign))
                if not rest.empty and not math.isnan(sum(ends)):
                    boxes[v] &= Interval(*ends)
    return boxes


def _near(box: Interval, reach: int) -> Interval:
    """Replace infinite ends of an interval by ends at distance ``reach`` from zero or from the other end."""
    lo = max(box.lo, min(box.hi, 0) - reach) if box.lo == -math.inf else box.lo
    return Interval(lo, min(box.hi, max(lo, 0) + reach) if box.hi == math.inf else box.hi)


def _sided(c: Condition) -> list[Inequality]:
    """Return a condition whose divisors are integers as bounds of expressions."""
    said = isinstance(c, (Within, Divides)) or (isinstance(c, Compare) and c.op != "!=") or c is FALSE
    if not said:
        raise InputError(f"`{format_condition(c)}` is no condition of a domain", expected="<, <=, == or in")
    return constraints_of(c)


def format_condition(c: Condition, variables: Sequence[Var] = ()) -> str:
    """Return a condition without connectives in the notation of maps."""
    said = [format_expr(e, variables=variables) for e in c.exprs()]
    match c:
        case Within():
            return f"{said[0]} in [{said[1]}, {said[2]}]"
        case Divides():
            return f"{said[0]} divides {said[1]}"
        case Compare(op, a, b):
            if isinstance(a, Int) and not isinstance(b, Int) and op in ("<=", "<"):
                return f"{said[1]} {'>=' if op == '<=' else '>'} {said[0]}"
            # two equals signs separate two maps in a claims file
            return f"{said[0]} {'=' if op == '==' else op} {said[1]}"
    return "1 <= 0" if c is FALSE else str(c)


# ---------------------------------------------------------------------------------------------------- reading
#: A domain entry that gives a variable a box of integers.
_BOX: Final = re.compile(r"(?:[,)\]\n]|domain\s*:)\s*(\w+)\s*(?:\bin\b|∈)\s*\[\s*-?\d+\s*,\s*-?\d+\s*\]")


class _Reader(MapReader):
    """A reader of maps with parameters; the constructor of the map checks factors and divisors."""

    def parametric(self) -> ParametricMap | None:
        at = self.token
        try:
            head = self.head()
        except InputError:
            return None
        boxed = {*_BOX.findall(self.text)}
        if all(t.text in boxed for t in head.rts):
            return None
        self.take(",")
        self.took_label("domain")
        conditions = []
        while self.token.kind != "end":
            conditions.append(self.conditions(head.scope))
        names = [tuple(t.text for t in group) for group in (head.dims, head.ranges, head.rts)]
        try:
            return ParametricMap(names[0], names[1], names[2], head.results, tuple(conditions))
        except InputError as error:
            raise self.error(error.message, at, error.expected) from None


def parse_parametric(text: str) -> ParametricMap | None:
    """Read a map with parameters; return ``None`` where ``text`` is no such map or has no parameters."""
    return _Reader(text, quasi_affine=False).parametric()


def parametric_from_json(data: Mapping[str, Any]) -> ParametricMap:
    """Read a map written by :meth:`ParametricMap.to_json`.  Raises :class:`InputError`."""
    top = Place()
    top.fields(data, ("dims", "ranges", "parameters", "results", "conditions"))
    groups = [(top / k).each(data[k], lambda n, at: at.name(n)) for k in ("dims", "ranges", "parameters")]
    scope: dict[str, Expr] = {n: var(n) for group in groups for n in group}
    results = (top / "results").each(data["results"], lambda e, at: expr_from_json(e, scope, path=str(at)))
    conditions = (top / "conditions").each(data["conditions"], lambda c, at: parse_condition(c, scope))
    return ParametricMap(groups[0], groups[1], groups[2], results, conditions)
