"""Wrong launches: the real order of the grid with one method replaced."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from indexproof.core.condition import TRUE
from indexproof.core.expr import mod
from indexproof.core.launch import GRID, GridOrder
from indexproof.core.op import Case, Coordinates, Map, Sizes, digits_of, product, row_major

from .planted import Planted, instance, mistaken


def planted(twin: Case, fails: str, says: str, **methods: Any) -> Planted:
    cls = mistaken(GridOrder, says, methods)
    made = cls(**{name: getattr(twin.op, name) for name in ("dims", "minor_to_major")})
    return Planted(cls.__name__, replace(twin, op=made), fails, twin)


def rounds_first(op: Any, k: int, o: Coordinates, rt: Coordinates, x: Sizes) -> Map:
    order = (5, 2, 4, 1, 3, 0, 6, 7)
    found = dict(zip(order, digits_of(op.number(o), [x[k] for k in order]), strict=True))
    return Map([found[k] for k in range(len(GRID))])


def wraps_around(op: Any, k: int, i: Coordinates, rt: Coordinates, x: Sizes) -> Map:
    digits = digits_of(mod(op.place_number(i, x), product(op.dims)), list(op._physical(op.dims)))
    found = dict(zip(reversed(op.minor_to_major), digits, strict=True))
    return Map([found[d] for d in range(len(op.dims))], [product(op.dims) >= 1])


def logical_order(op: Any, k: int, i: Coordinates, rt: Coordinates, x: Sizes) -> Map:
    number = op.place_number(i, x)
    return Map(digits_of(number, op.dims), [number.within(0, product(op.dims) - 1)])


def ends_at(last: int) -> Any:
    """Return a method by which places compute all elements up to ``last`` beyond the final one."""

    def changed(op: Any, k: int, i: Coordinates, rt: Coordinates, x: Sizes) -> Map:
        inside = op.place_number(i, x).within(0, product(op.dims) - 1 + last)
        return Map(GridOrder.input_to_output(op, k, i, rt, x).results, [inside])

    return changed


BLOCKS_FIRST = (6, 2, 5, 1, 4, 0, 3, 7)
_LINE = instance(GridOrder, 1, "{0} over x")
_PLANE = instance(GridOrder, 1, "{0} over x and y")
_EVERY = instance(GridOrder, 0, "{} over every axis")
_ORDER = instance(GridOrder, 2, "{0,1} over x")

BROKEN = [
    planted(_PLANE, "output to input sound", "numbers the threads of all blocks alternately",
            place_number=staticmethod(
                lambda i, x: row_major([i[k] for k in BLOCKS_FIRST], [x[k] for k in BLOCKS_FIRST]))),
    planted(_LINE, "output to input sound", "looks elements up round by round", output_to_input=rounds_first),
    planted(_LINE, "output to input sound", "leaves out that a thread takes several elements at once",
            output_to_input=lambda op, *rest: Map([*GridOrder.output_to_input(op, *rest).results[:7], 0])),
    planted(_LINE, "input to output in bounds", "lets places beyond the last element compute one",
            input_to_output=lambda op, *rest: Map(GridOrder.input_to_output(op, *rest).results, [TRUE])),
    planted(_LINE, "input to output in bounds", "lets one place too many compute", input_to_output=ends_at(1)),
    planted(_LINE, "input to output complete", "leaves the last element out", input_to_output=ends_at(-1)),
    planted(_LINE, "input to output sound", "begins anew where there are no more", input_to_output=wraps_around),
    planted(_LINE, "output to input in bounds", "takes a grid with too few places",
            demands=lambda op, x: [(product(x) >= 1, "an empty grid")]),
    planted(_EVERY, "output to input in bounds", "counts rounds from one",
            output_to_input=lambda op, *rest: Map(
                [e + (k == 6) for k, e in enumerate(GridOrder.output_to_input(op, *rest).results)])),
    planted(_ORDER, "input to output sound", "always varies the last dimension fastest", input_to_output=logical_order),
    planted(_ORDER, "input to output in bounds", "numbers elements with the order of dimensions turned round",
            _physical=lambda op, v: [v[d] for d in op.minor_to_major]),
]  # fmt: skip
