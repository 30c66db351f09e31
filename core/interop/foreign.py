"""The common parts of conversions of maps from and to other systems.

A :class:`ForeignMap` is an indexing map whose variables and expressions belong to another package. :func:`domain_of`
converts inequalities, which most systems use for domains, to boxes and constraints.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from ..bounded import Inequality, constrained, merged
from ..errors import InputError, quoted
from ..expr import Expr, Var
from ..indexing_map import Constraint, IndexingMap, RuntimeSource, RuntimeVariable, Variable, is_name
from ..interval import INF, LINE

V = TypeVar("V")
E = TypeVar("E")


@contextmanager
def needed(package: str, extra: str = "") -> Iterator[None]:
    """Raise :class:`InputError` where an optional package cannot be imported within the ``with`` block."""
    try:
        yield
    except ImportError as error:
        why = " ".join(str(error).split())
        raise InputError(
            f"{package} is not installed ({why})", expected=f"`pip install 'indexproof[{extra or package}]'`"
        ) from None


@dataclass(frozen=True, eq=False)
class ForeignMap(Generic[V, E]):
    """An indexing map whose variables are of type ``V`` and whose expressions are of type ``E``.

    Variables have inclusive bounds, and constraints are ``(expression, lo, hi)``.  ``sources`` contains, for each
    runtime variable, ``None`` or the text of an instruction and the index that is read; empty means no sources.
    """

    dims: tuple[tuple[V, int, int], ...]
    ranges: tuple[tuple[V, int, int], ...] = ()
    rts: tuple[tuple[V, int, int], ...] = ()
    results: tuple[E, ...] = ()
    constraints: tuple[tuple[E, int, int], ...] = ()
    sources: tuple[tuple[str, tuple[E, ...]] | None, ...] = ()

    @property
    def variables(self) -> tuple[tuple[V, int, int], ...]:
        """All variables with their bounds: dimensions, ranges, runtime variables."""
        return (*self.dims, *self.ranges, *self.rts)


F = TypeVar("F", bound=ForeignMap[Any, Any])


def to_foreign(
    m: IndexingMap,
    kind: type[F],
    variable: Callable[[Variable], Any],
    convert: Callable[[Sequence[Expr], Mapping[Var, Any]], Sequence[Any]],
) -> F:
    """Return ``m`` with foreign variables and expressions; ``convert`` is passed all expressions of the map at once."""
    of = {v.expr: variable(v) for v in m.variables}
    moved = dict(zip(m.roots, convert(m.roots, of), strict=True))

    def group(variables: Iterable[Variable]) -> tuple[tuple[Any, int, int], ...]:
        return tuple((of[v.expr], v.lo, v.hi) for v in variables)

    sources = tuple(
        None if s is None else (s.hlo, tuple(moved[e] for e in s.results)) for s in (r.source for r in m.rts)
    )
    return kind(
        group(m.dims),
        group(m.ranges),
        group(m.rts),
        tuple(moved[e] for e in m.results),
        tuple((moved[c.expr], c.lo, c.hi) for c in m.constraints),
        sources if any(sources) else (),
    )


def fresh_name(wanted: str, prefix: str, taken: set[str]) -> str:
    """Return ``wanted`` if it is a valid and free name of a variable, otherwise another name; mark it as taken."""
    name, k = wanted, 0
    while not is_name(name) or name in taken:
        name, k = f"{prefix}{k}", k + 1
    taken.add(name)
    return name


def from_foreign(
    f: ForeignMap[V, E],
    name: Callable[[V], str],
    convert: Callable[[Sequence[E], Sequence[tuple[V, Var]]], Sequence[Expr]],
) -> IndexingMap:
    """Return the map that ``f`` denotes; ``convert`` is passed the variable here for each foreign variable.

    An invalid or duplicate name of a variable is replaced by another.  Raises :class:`InputError`.
    """
    taken = {n for n in (name(v) for v, _, _ in f.variables) if is_name(n)}
    free = set(taken)
    groups: list[list[Variable]] = []
    scope: list[tuple[V, Var]] = []
    for prefix, group in (("d", f.dims), ("s", f.ranges), ("rt", f.rts)):
        groups.append([])
        for v, lo, hi in group:
            wanted = name(v)
            if wanted in free:  # the first variable with a name keeps it
                free.discard(wanted)
            else:
                wanted = fresh_name(wanted, prefix, taken)
            declared = Variable(wanted, lo, hi)
            groups[-1].append(declared)
            scope.append((v, declared.expr))
    sources = f.sources or (None,) * len(f.rts)
    if len(sources) != len(f.rts):
        raise InputError(f"there are {len(sources)} sources for {len(f.rts)} runtime variables")
    read = [e for s in sources if s is not None for e in s[1]]
    moved = iter(convert([*f.results, *(e for e, _, _ in f.constraints), *read], scope))
    results = tuple(next(moved) for _ in f.results)
    constraints = tuple(Constraint(next(moved), lo, hi) for _, lo, hi in f.constraints)
    rts = []
    for r, given in zip(groups[2], sources, strict=True):
        source = None if given is None else RuntimeSource(given[0], tuple(next(moved) for _ in given[1]))
        rts.append(RuntimeVariable(r.name, r.lo, r.hi, source))
    return IndexingMap(tuple(groups[0]), tuple(groups[1]), tuple(rts), results, constraints)


def assignments(f: ForeignMap[Any, E], text: Callable[[E], str]) -> list[str]:
    """Return ``f`` as lines of Python: bounds of the variables, results, constraints."""
    lines = [
        f"bounds = {{{', '.join(f'{v}: ({lo}, {hi})' for v, lo, hi in f.variables)}}}",
        f"results = [{', '.join(text(e) for e in f.results)}]",
    ]
    if f.constraints:
        rows = ", ".join(f"({text(e)}, {lo}, {hi})" for e, lo, hi in f.constraints)
        lines.append(f"constraints = [{rows}]")
    return lines


# ---------------------------------------------------------------------------------------------------- domains
def domain_of(
    variables: Sequence[Var],
    bounded: Iterable[Inequality],
    given: Mapping[Var, tuple[int, int]] | None = None,
    unbounded: Callable[[Var, str], InputError] | None = None,
) -> tuple[dict[Var, tuple[int, int]], list[Constraint]]:
    """Return boxes and constraints equivalent to bounds of expressions together with the ``given`` boxes.

    A relation on a single variable bounds it; two on the same expression become one constraint.  Where an expression is
    bounded on one side only, its range in the box gives the other bound.  Raises :class:`InputError` for an unbounded
    variable, or the result of ``unbounded`` for the variable and the message.
    """
    boxes, left = merged(bounded, {**dict.fromkeys(variables, LINE), **(given or {})})
    for v, (lo, hi) in boxes.items():
        if -lo == INF or hi == INF:
            missing = "bounds" if -lo == hi else "lower bound" if -lo == INF else "upper bound"
            message = f"the variable {quoted(v.name)} has no {missing}"
            raise InputError(message) if unbounded is None else unbounded(v, message)
    return {v: (int(lo), int(hi)) for v, (lo, hi) in boxes.items()}, constrained(left, boxes)
