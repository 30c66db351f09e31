"""The cost model of maps: the operations of a straight-line program that computes a map and keeps every value.

Common subexpressions count once.  The distinct expressions cost:

* ``floordiv``, ``mod``, ``ceildiv``: one *division*, which is an operation too,
* ``min``, ``max`` and product of n expressions: ``n - 1`` operations,
* product of a term and a constant other than 1 and -1, up to the sign: one multiplication,
* sum of n such products and terms, without its constant: ``n - 1`` additions and subtractions; a sum whose summands are
  all negative is computed with the opposite sign,
* sum with a constant or with the opposite sign: one more operation, which also restores the sign.

Variables and literals cost nothing.  A division weighs as much as :data:`DIVISION_WEIGHT` other operations: about the
length of a division by a constant on current machines (a wide multiplication, shifts, a correction of the sign).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final, NamedTuple

from .errors import InputError, quoted
from .expr import Binary, CeilDiv, Expr, FloorDiv, Int, Mod, Sum, Var

if TYPE_CHECKING:
    from .indexing_map import IndexingMap

#: The weight of one ``floordiv``, ``mod`` or ``ceildiv``, in other operations.
DIVISION_WEIGHT: Final = 3


#: The measures that can be minimised: the documented cost, operations, or divisions, each as the weight of a division.
MEASURES: Final = {"cost": DIVISION_WEIGHT, "operations": 1, "divisions": 12}


_EXPECTED: Final = f"{', '.join(MEASURES)}, or a whole number of at least 1: what a division weighs"


def weight_of(minimize: object) -> int:
    """Return the weight of a division, given as a name in :data:`MEASURES` or as a number."""
    if isinstance(minimize, str) and minimize in MEASURES:
        return MEASURES[minimize]
    if isinstance(minimize, str):
        raise InputError(f"nothing to minimize is called {quoted(minimize)}", expected=_EXPECTED)
    expect_weight(minimize)
    assert isinstance(minimize, int)
    return minimize


def expect_weight(division_weight: object) -> None:
    """Raise :class:`InputError` unless the value is a positive integer; callers from Python may pass any object."""
    if not isinstance(division_weight, int) or division_weight < 1:
        message = f"a division cannot weigh {division_weight} operations"
        raise InputError(message, expected=_EXPECTED)


class Cost(NamedTuple):
    """A count of ``divisions`` (``floordiv``, ``mod``, ``ceildiv``) and of all ``operations``, divisions included."""

    divisions: int
    operations: int

    @property
    def weight(self) -> int:
        """The number by which costs are compared, with the documented weight of a division."""
        return self.weighed(DIVISION_WEIGHT)

    def weighed(self, division_weight: int) -> int:
        """Return the cost where a division weighs ``division_weight`` operations; simplification never increases it."""
        return self.operations + (division_weight - 1) * self.divisions

    def __str__(self) -> str:
        return f"{self.divisions} div/mod, {self.operations} operations"


def cost(roots: Iterable[Expr]) -> Cost:
    """Return the cost of computing all ``roots`` together."""
    divisions = operations = 0
    products: set[tuple[Expr, int]] = set()
    bodies: set[tuple[tuple[Expr, int], ...]] = set()
    seen: set[Expr] = set()
    todo = list(roots)
    while todo:
        node = todo.pop()
        kind = type(node)
        if kind is Var or kind is Int or node in seen:
            continue
        seen.add(node)
        if kind is Sum:
            whole: Sum = node  # type: ignore[assignment]
            terms = whole.terms
            negative = 0
            for t, k in terms:
                todo.append(t)
                if k < 0:
                    negative += 1
                    k = -k
                if k != 1:
                    products.add((t, k))
            if negative == len(terms):
                operations += 1
                terms = tuple([(t, -k) for t, k in terms])
            elif whole.const:
                operations += 1
            bodies.add(terms)
        elif kind is FloorDiv or kind is Mod or kind is CeilDiv:
            division: Binary = node  # type: ignore[assignment]
            divisions += 1
            operations += 1
            todo.append(division.a)
            if type(division.b) is not Int:
                todo.append(division.b)
        else:
            # a minimum, a maximum or a product
            children = node.children
            operations += len(children) - 1
            todo.extend(children)
    operations += len(products) + sum([len(terms) - 1 for terms in bodies])
    return Cost(divisions, operations)


def map_cost(m: IndexingMap) -> Cost:
    """Return the cost of a map: of its results, of its constraints and of the indices of each of its runtime sources.

    These parts share no subexpressions, because they are computed in different places: constraints first, to decide
    whether the rest is needed at all, and indices where the runtime value is read.
    """
    parts = [cost(m.results), cost([c.expr for c in m.constraints])]
    parts += [cost(r.source.results) for r in m.rts if r.source is not None]
    return Cost(sum([p.divisions for p in parts]), sum([p.operations for p in parts]))
