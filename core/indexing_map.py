"""Indexing maps: for each element of one tensor, the related elements of another.

``(d0, d1)[s0]{rt0} -> (results)`` on a domain (reports/semantics.md, "Maps").  Dimension variables index the source
tensor, range variables make the map one-to-many, runtime variables represent values known only when the program runs.
Every variable has an inclusive box, and constraints ``expr in [lo, hi]`` restrict the domain further.  An empty box (a
dimension of size zero), rank 0 and an empty domain are ordinary cases.

All expressions of a map are quasi-affine: no product of two variables, and every divisor is a constant.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

from .condition import Condition
from .display import html_text, rich_text
from .errors import InputError, TooLargeError, quoted
from .expr import Expr, ExprLike, Integers, Var, interpret, lift, postorder, substitute_all, var
from .interval import Interval
from .numerals import format_int
from .text_printer import Order, Printer
from .variables import (
    RESERVED,
    Constraint,
    RuntimeSource,
    RuntimeVariable,
    Variable,
    as_integer,
    expect_quasi_affine,
    is_name,
    known_names,
    numbered_name,
    unused_name,
)

if TYPE_CHECKING:
    import numpy as np

__all__ = [
    "RESERVED",
    "Constraint",
    "IndexingMap",
    "RuntimeSource",
    "RuntimeVariable",
    "Variable",
    "expect_map",
    "is_name",
    "known_names",
    "unused_name",
]

_put = object.__setattr__

VariableLike: TypeAlias = "Variable | tuple[str, int, int]"
ConstraintLike: TypeAlias = "Constraint | tuple[ExprLike, int, int]"


def expect_map(m: object) -> None:
    """Raise :class:`TypeError` for an object that is no map, such as the text of one."""
    if not isinstance(m, IndexingMap):
        hint = "; parse_map reads one from text" if isinstance(m, str) else ""
        raise TypeError(f"expected an IndexingMap, got {type(m).__name__}{hint}")


def _merged(constraints: Iterable[Constraint]) -> tuple[Constraint, ...]:
    """Return constraints with one per expression, at its first place, with the intersection of its intervals."""
    if not constraints:
        return ()
    found: dict[Expr, Constraint] = {}
    for c in constraints:
        have = found.get(c.expr)
        if have is None:
            found[c.expr] = c
        elif c.lo > have.lo or c.hi < have.hi:
            found[c.expr] = Constraint(c.expr, max(have.lo, c.lo), min(have.hi, c.hi))
    return tuple(found.values())


class _Memory:
    """Memoised properties of a map: its hash, and the rule set under which it is in normal form, with details.

    They are not part of the map: neither compared, printed nor pickled.  A value may be ``None`` or its slot may be
    unset where nothing is known; reading a slot that is set is much faster.
    """

    __slots__ = ("_hash", "_normal")
    _hash: int
    _normal: tuple[Any, ...] | None


@dataclass(frozen=True, repr=False, slots=True)
class IndexingMap(_Memory):
    """An indexing map.  Equality is structural: same variables, names, results and constraints, in order.

    ``dims``, ``ranges`` and ``rts`` are the variables in order; ``results`` index the target tensor;
    ``constraints`` keep their order, and constraints on one expression are merged into one.  Raises
    :class:`InputError` when a name occurs twice, an expression mentions an undeclared variable or is not
    quasi-affine, or runtime sources are cyclic.
    """

    dims: tuple[Variable, ...]
    ranges: tuple[Variable, ...] = ()
    rts: tuple[RuntimeVariable, ...] = ()
    results: tuple[Expr, ...] = ()
    constraints: tuple[Constraint, ...] = ()

    def __post_init__(self) -> None:
        _put(self, "dims", tuple(self.dims))
        _put(self, "ranges", tuple(self.ranges))
        _put(self, "rts", tuple(self.rts))
        _put(self, "results", tuple(lift(e) for e in self.results))
        _put(self, "constraints", _merged(self.constraints))
        _put(self, "_normal", None)
        self._check()

    def __hash__(self) -> int:
        if (found := getattr(self, "_hash", None)) is None:
            found = hash((self.dims, self.ranges, self.rts, self.results, self.constraints))
            _put(self, "_hash", found)
        return found

    @classmethod
    def of(
        cls,
        dims: Iterable[VariableLike] = (),
        ranges: Iterable[VariableLike] = (),
        rts: Iterable[VariableLike | tuple[str, int, int, RuntimeSource | None]] = (),
        results: Iterable[ExprLike] = (),
        constraints: Iterable[ConstraintLike] = (),
    ) -> IndexingMap:
        """Return a map built from plain tuples: variables ``(name, lo, hi)``, constraints ``(expr, lo, hi)``."""
        return cls(
            tuple(v if isinstance(v, Variable) else Variable(*v) for v in dims),
            tuple(v if isinstance(v, Variable) else Variable(*v) for v in ranges),
            tuple(_runtime(v) for v in rts),
            tuple(lift(e) for e in results),
            tuple(c if isinstance(c, Constraint) else Constraint(lift(c[0]), c[1], c[2]) for c in constraints),
        )

    @classmethod
    def _trusted(
        cls,
        dims: tuple[Variable, ...],
        ranges: tuple[Variable, ...],
        rts: tuple[RuntimeVariable, ...],
        results: tuple[Expr, ...],
        constraints: Iterable[Constraint],
        merged: bool = False,
    ) -> IndexingMap:
        """Return a map of parts that are known to be valid because they come from valid maps.

        ``merged`` says that ``constraints`` is a tuple in which no expression occurs twice.
        """
        self = object.__new__(cls)
        _put(self, "dims", dims)
        _put(self, "ranges", ranges)
        _put(self, "rts", rts)
        _put(self, "results", results)
        _put(self, "constraints", constraints if merged else _merged(constraints))
        _put(self, "_normal", None)
        return self

    def _check(self) -> None:
        names: dict[str, None] = {}  # in order of declaration
        for v in self.variables:
            if v.name in names:
                raise InputError(f"duplicate variable {quoted(v.name)}")
            names[v.name] = None
        for r in self.rts:
            if not isinstance(r, RuntimeVariable):
                raise InputError(f"{quoted(r.name)} is declared as a runtime variable but is a plain one")
        expect_quasi_affine(self.roots, names)
        self.runtime_order()

    # -- parts
    @property
    def variables(self) -> tuple[Variable, ...]:
        """All variables: dimensions, ranges, runtime variables."""
        return self.dims + self.ranges + self.rts

    @property
    def dim_vars(self) -> tuple[Var, ...]:
        """The dimension variables as expressions."""
        return tuple(v.expr for v in self.dims)

    @property
    def range_vars(self) -> tuple[Var, ...]:
        """The range variables as expressions."""
        return tuple(v.expr for v in self.ranges)

    @property
    def rt_vars(self) -> tuple[Var, ...]:
        """The runtime variables as expressions."""
        return tuple(v.expr for v in self.rts)

    @property
    def roots(self) -> tuple[Expr, ...]:
        """Every maximal expression in the map: results, constraints, indices of runtime sources."""
        return (*self.results, *(c.expr for c in self.constraints), *self.source_indices)

    @property
    def source_indices(self) -> list[Expr]:
        """The indices at which runtime variables are read, in order."""
        return [e for r in self.rts if r.source is not None for e in r.source.results]

    @property
    def bounds(self) -> dict[Var, Interval]:
        """The box of every variable."""
        # equal to Interval(lo, hi), but without a call of Python code, because this runs for every map
        make = tuple.__new__
        return {v.expr: make(Interval, (v.lo, v.hi)) for v in self.variables}

    @property
    def domain(self) -> tuple[Condition, ...]:
        """The conditions on the variables: their boxes, then the constraints."""
        boxes = (v.expr.within(v.lo, v.hi) for v in self.variables)
        return (*boxes, *(c.condition for c in self.constraints))

    @property
    def is_trivially_empty(self) -> bool:
        """Whether the domain is visibly empty: a box is empty, or a constraint on a constant is false."""
        return any(v.hi < v.lo for v in self.variables) or any(c.holds_never for c in self.constraints)

    def runtime_order(self) -> tuple[RuntimeVariable, ...]:
        """Return the runtime variables in an order in which each follows those that its source needs.

        Raises :class:`InputError` when sources depend on each other in a cycle.
        """
        by_var = {r.expr: r for r in self.rts}
        needs = {
            v: {n for n in postorder(*r.source.results) if n in by_var} if r.source is not None else set()
            for v, r in by_var.items()
        }
        order: list[RuntimeVariable] = []
        done: set[Expr] = set()
        while len(order) < len(by_var):
            ready = [v for v in by_var if v not in done and needs[v] <= done]
            if not ready:
                stuck = ", ".join(v.name for v in by_var if v not in done)
                message = f"the sources of the runtime variables {stuck} need each other in a circle"
                raise InputError(message, expected="an order in which they can be read")
            order += [by_var[v] for v in ready]
            done.update(ready)
        return tuple(order)

    def with_(self, **changes: Any) -> IndexingMap:
        """Return a copy with some of ``dims``, ``ranges``, ``rts``, ``results`` and ``constraints`` replaced."""
        return replace(self, **changes)

    # -- meaning
    def evaluate(
        self, dims: Sequence[int], ranges: Sequence[int] = (), rts: Sequence[int] = ()
    ) -> tuple[int, ...] | None:
        """Return the target index at one point, or ``None`` outside the domain.

        ``rts`` are the values of the runtime variables after clamping.  Raises :class:`InputError` when the number of
        values is not the number of variables, and for values that are no integers.
        """
        env = self._environment(dims, ranges, rts)
        for v, x in env.items():
            if type(x) is not int:  # numpy integers could overflow, and fractions would be rounded down
                env[v] = as_integer(x, f"the value of {quoted(v)}")
        if any(not v.lo <= env[v.expr] <= v.hi for v in self.variables):
            return None
        exprs = (*self.results, *(c.expr for c in self.constraints))
        values = interpret(exprs, Integers(env))
        for c, x in zip(self.constraints, values[len(self.results) :], strict=True):
            if not c.lo <= x <= c.hi:
                return None
        return tuple(values[: len(self.results)])

    def _environment(self, dims: Sequence[Any], ranges: Sequence[Any], rts: Sequence[Any]) -> dict[Expr, Any]:
        env: dict[Expr, Any] = {}
        for what, variables, values in (
            ("dimension", self.dims, dims),
            ("range", self.ranges, ranges),
            ("runtime", self.rts, rts),
        ):
            if len(values) != len(variables):
                raise InputError(f"the map has {len(variables)} {what} variables but {len(values)} values were given")
            env.update((v.expr, x) for v, x in zip(variables, values, strict=True))
        return env

    def evaluate_many(
        self, dims: Sequence[Any], ranges: Sequence[Any] = (), rts: Sequence[Any] = ()
    ) -> tuple[np.ndarray, tuple[np.ndarray, ...]]:
        """Evaluate the map at many points; return ``(inside, results)``.

        Each variable gets an integer or a numpy integer array; all are broadcast together.  ``inside`` tells which
        points lie in the domain; elsewhere the results are meaningless.  Arrays are ``int64`` when no intermediate
        value can overflow and hold Python integers otherwise, so the results are always exact.
        """
        from . import points  # lazily, so that numpy is loaded only by computations with arrays

        return points.evaluate_many(self, self._environment(dims, ranges, rts))

    def domain_points(self, rts: Sequence[int] | None = None, limit: int = 20_000_000) -> np.ndarray:
        """Return all points of the domain, shape ``(points, dims + ranges)``, in row-major order.

        With ``rts`` the runtime variables have these values; otherwise they are enumerated in additional columns.
        Raises :class:`~indexproof.core.errors.TooLargeError` when the box holds more than ``limit`` points.
        """
        from . import points

        return points.domain_points(self, rts, limit)

    def relation(
        self, rts: Sequence[int] | None = None, operands: Mapping[str, Any] | None = None, limit: int = 20_000_000
    ) -> set[tuple[tuple[int, ...], tuple[int, ...]]]:
        """Return all ``(source index, target index)`` pairs.

        Runtime variables take the values ``rts``, or those read from ``operands`` (``hlo`` text of the source to
        array), or, with neither, every value of their boxes.
        """
        from . import points

        return points.relation(self, rts, operands, limit)

    # -- transformations
    def compose(self, inner: IndexingMap) -> IndexingMap:
        """Return the composition, first this map, then ``inner``: from A over B to C.

        Its relation is the composition of both relations.  Variables never clash: this map's results replace the
        dimension variables of ``inner``, and its range and runtime variables are appended under fresh names. Every
        constraint of ``inner`` is kept.  The box of each of its dimension variables becomes a constraint on this map's
        result unless the intervals of the variables imply it.  Sources of runtime variables are composed too.
        """
        expect_map(inner)
        if len(self.results) != len(inner.dims):
            raise InputError(
                f"maps do not compose: the first has {len(self.results)} results,"
                f" the second {len(inner.dims)} dimension variables"
            )
        taken = {v.name for v in self.variables}
        ranges = [v.named(numbered_name(v.name, r"s\d+", "s", len(self.ranges), taken)) for v in inner.ranges]
        rts = [v.named(numbered_name(v.name, r"(s|rt)\d+", "rt", len(self.rts), taken)) for v in inner.rts]
        mapping: dict[Expr, ExprLike] = dict(zip(inner.dim_vars, self.results, strict=True))
        mapping.update((old.expr, new.expr) for old, new in zip(inner.ranges, ranges, strict=True))
        mapping.update((old.expr, new.expr) for old, new in zip(inner.rts, rts, strict=True))
        constraints = list(self.constraints)
        # not at the top: code that only reads maps, such as the checker of derivations, must load no kernel
        from .facts import Facts

        facts = Facts(self.bounds)
        for e, v in zip(self.results, inner.dims, strict=True):
            if not facts.interval(e).inside(Interval(v.lo, v.hi)):
                constraints.append(Constraint.trusted(e, v.lo, v.hi))
        made = inner.rewritten(mapping, dims=self.dims, ranges=(*self.ranges, *ranges), rts=rts, also=constraints)
        if not self.rts:
            return made
        both = self.rts + made.rts
        return IndexingMap._trusted(made.dims, made.ranges, both, made.results, made.constraints, merged=True)

    def rewritten(
        self,
        mapping: Mapping[Expr, ExprLike],
        *,
        dims: Sequence[Variable] | None = None,
        ranges: Sequence[Variable] | None = None,
        rts: Sequence[RuntimeVariable] | None = None,
        without: Iterable[Constraint] = (),
        also: Iterable[Constraint] = (),
    ) -> IndexingMap:
        """Return the map with variables and their lists replaced, and constraints removed and added.

        Sources of the runtime variables are replaced as well.  The result is not checked: the caller must ensure its
        validity.
        """
        gone = set(without)
        kept = [c for c in self.constraints if c not in gone] if gone else self.constraints
        own = self.rts if rts is None else rts
        roots = [*self.results, *(c.expr for c in kept)]
        roots += [e for v in own if v.source is not None for e in v.source.results]
        moved = dict(zip(roots, substitute_all(roots, mapping), strict=True))
        constraints = [*also, *(Constraint.trusted(moved[c.expr], c.lo, c.hi) for c in kept)]
        return IndexingMap._trusted(
            self.dims if dims is None else tuple(dims),
            self.ranges if ranges is None else tuple(ranges),
            tuple(v.moved(moved) for v in own),
            tuple(moved[e] for e in self.results),
            [c for c in constraints if not c.holds_always],
        )

    def substitute(self, mapping: Mapping[Any, ExprLike]) -> IndexingMap:
        """Replace variables by expressions over the others simultaneously; keys are variables or their names.

        A replaced variable leaves the map, and its box becomes a constraint on the expression.
        """
        known = {v.expr: v for v in self.variables}
        full: dict[Expr, ExprLike] = {}
        for k, e in mapping.items():
            key = var(k) if isinstance(k, str) else k
            if key not in known:
                raise InputError(f"the map has no variable {quoted(key)}")
            full[key] = e
        boxes = [Constraint(lift(e), known[k].lo, known[k].hi) for k, e in full.items()]  # type: ignore[index]
        made = self.rewritten(full, rts=[r for r in self.rts if r.expr not in full], also=boxes)
        return made.with_(
            dims=tuple(v for v in self.dims if v.expr not in full),
            ranges=tuple(v for v in self.ranges if v.expr not in full),
        )

    def rename(self, names: Mapping[str, str]) -> IndexingMap:
        """Return the same map with some variables renamed simultaneously."""
        new = {v.name: names.get(v.name, v.name) for v in self.variables}
        unknown = [n for n in names if n not in new]
        if unknown:
            raise InputError(f"the map has no variable {quoted(unknown[0])}")
        dims, ranges, rts = ([v.named(new[v.name]) for v in group] for group in (self.dims, self.ranges, self.rts))
        made = self.rewritten({var(a): var(b) for a, b in new.items()}, dims=dims, ranges=ranges, rts=rts)  # type: ignore[arg-type]
        made._check()
        return made

    # -- display
    def text(self, division: str = "floordiv", multiline: bool = False) -> str:
        """Return the map in its textual notation; see :func:`indexproof.core.text.format_map`."""
        printer = Printer(division, Order(self.roots, {v.expr: i for i, v in enumerate(self.variables)}))

        def listed(exprs: Iterable[Expr]) -> str:
            return ", ".join([printer.text(e) for e in exprs])

        def within(text: str, lo: int, hi: int) -> str:
            return f"{text} in [{format_int(lo)}, {format_int(hi)}]"

        entries = [within(v.name, v.lo, v.hi) for v in self.variables]
        for i, r in enumerate(self.rts, len(entries) - len(self.rts)):
            if r.source is not None:
                used = {n for n in postorder(*r.source.results) if isinstance(n, Var)}
                ranges = self.ranges if used & set(self.range_vars) else ()
                rts = self.rts if used & set(self.rt_vars) else ()
                entries[i] += f"\n  hlo: {r.source.hlo}"
                entries[i] += f"\n  {_head(self.dims, ranges, rts)} -> ({listed(r.source.results)})"
        entries += [within(printer.text(c.expr), c.lo, c.hi) for c in self.constraints]
        head = f"{_head(self.dims, self.ranges, self.rts)} -> ({listed(self.results)})"
        if not entries:
            return head
        if multiline or any(r.source is not None for r in self.rts):
            return f"{head},\ndomain:\n" + ",\n".join(entries)
        return f"{head}, domain: " + ", ".join(entries)

    def __repr__(self) -> str:
        try:
            return self.text()
        except TooLargeError as error:
            return f"<IndexingMap with {len(self.dims)} dims and {len(self.results)} results: {error}>"

    def _coloured(self) -> tuple[str, dict[str, str]]:
        """Return the text on several lines, and the kind of each of its variables."""
        kinds = dict.fromkeys([v.name for v in self.dims], "dim")
        kinds |= dict.fromkeys([v.name for v in self.ranges], "range")
        kinds |= dict.fromkeys([v.name for v in self.rts], "rt")
        try:
            return self.text(multiline=True), kinds
        except TooLargeError as error:
            return f"<map with {len(self.dims)} dims and {len(self.results)} results: {error}>", kinds

    def __rich__(self) -> Any:
        return rich_text(*self._coloured())

    def _repr_html_(self) -> str:
        return html_text(*self._coloured())


def _head(dims: Sequence[Variable], ranges: Sequence[Variable], rts: Sequence[Variable]) -> str:
    text = f"({', '.join([v.name for v in dims])})"
    if ranges:
        text += f"[{', '.join([v.name for v in ranges])}]"
    if rts:
        text += f"{{{', '.join([v.name for v in rts])}}}"
    return text


def _runtime(v: Any) -> RuntimeVariable:
    if isinstance(v, RuntimeVariable):
        return v
    if isinstance(v, Variable):
        return RuntimeVariable(v.name, v.lo, v.hi)
    return RuntimeVariable(*v)
