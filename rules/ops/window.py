"""Ops that slide a window: reduce-window, select-and-scatter and convolution.

Along one dimension, the window of output o has its element w at position ``o·stride - low + w·window_dilation``
of the base, whose elements are ``base_dilation`` apart.  Positions before the first element, after the last one
or between two are padding: nothing is read there.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, ClassVar

from ...core.condition import Condition
from ...core.expr import Expr, ExprLike, add, lift, maximum, minimum, mul
from ...core.op import (
    Case,
    Coordinates,
    Demand,
    Map,
    Op,
    Range,
    Sizes,
    coordinate,
    divide_exactly,
    exact_text,
    op,
    quotient,
    symbols,
)
from .folding import Folding
from .movement import Alike, Dims, piece
from .solved import nth

#: A range over the window, the coordinate that is read or reads, and the conditions for it.
Slid = tuple[Range, Expr, list[Condition]]


@dataclass(frozen=True)
class Window:
    """The window along one dimension.  `low` and `high` padding may be negative: it crops."""

    size: ExprLike
    stride: ExprLike = 1
    low: ExprLike = 0
    high: ExprLike = 0
    base_dilation: ExprLike = 1
    window_dilation: ExprLike = 1
    reversed: bool = False

    def demands(self, d: int) -> Iterator[Demand]:
        """Yield the demands on any window; ``d`` is its dimension, for the message."""
        for what in ("size", "stride", "base_dilation", "window_dilation"):
            value = getattr(self, what)
            yield lift(value) >= 1, f"window dimension {d}: {what}={value} is not positive"

    def output(self, n: ExprLike) -> Expr:
        """Return the size of the output over a base of ``n`` elements."""
        # a base without elements has no dilation either
        base = maximum((lift(n) - 1) * self.base_dilation + 1, 0)
        reach = (lift(self.size) - 1) * self.window_dilation + 1
        return maximum(quotient(add(self.low, base, self.high) - reach, self.stride) + 1, 0)

    def _step(self, w: Expr) -> Expr:
        return (lift(self.size) - 1 - w if self.reversed else w) * self.window_dilation

    def position(self, o: Expr, w: Expr) -> Expr:
        """Return the position of window element ``w`` of output ``o`` on the dilated base."""
        return o * self.stride - self.low + self._step(w)

    def on_base(self, o: Expr, w: Expr, n: ExprLike) -> tuple[Expr, list[Condition]]:
        """Return the element of the base at that position, and the conditions that there is one."""
        return nth(self.position(o, w), n, self.base_dilation)

    def meeting(self, o: Expr, i: Expr) -> tuple[Expr, list[Condition]]:
        """Return the element of the window of output ``o`` on element ``i`` of the base, and the conditions for it."""
        w, met = nth(i * self.base_dilation + self.low - o * self.stride, self.size, self.window_dilation)
        return (lift(self.size) - 1 - w if self.reversed else w), met

    def read_by(self, o: Expr, n: ExprLike, d: int) -> Slid:
        """Return what output ``o`` reads: a range over the window, the element of the base, and conditions."""
        w = Range(self.size, lambda target: self.meeting(o, target[d])[0])
        return w, *self.on_base(o, w.index, n)

    def reading(self, i: Expr, n: ExprLike, d: int) -> Slid:
        """Return what reads element ``i`` of the base: a range over the window, the output, and conditions."""
        w = Range(self.size, lambda target: self.meeting(target[d], i)[0])
        distance = i * self.base_dilation + self.low - self._step(w.index)
        return w, *nth(distance, self.output(n), self.stride)

    @staticmethod
    def symbolic(rank: int, reversed: Dims = ()) -> tuple[Window, ...]:
        """Return windows whose parameters are all symbols."""
        w, t, lo, hi, bd, wd = (symbols(stem, rank) for stem in ("w", "t", "lo", "hi", "bd", "wd"))
        return tuple(Window(w[d], t[d], lo[d], hi[d], bd[d], wd[d], d in reversed) for d in range(rank))

    @staticmethod
    def from_hlo(instruction: Any) -> tuple[Window, ...]:
        """Return the windows of an HLO instruction."""
        return tuple(Window(*w) for w in instruction.window())


def window_of(instruction: Any, shapes: Sequence[Dims]) -> tuple[Window, ...]:
    """Return the windows of an instruction; one over scalars is printed without them."""
    if not (window := Window.from_hlo(instruction)) and shapes and shapes[0]:
        raise ValueError(f"{instruction.name}: {instruction.opcode} needs the attribute window")
    return window


@op
class ReduceWindow(Folding):
    """Every output element reduces the elements under its window, and the initial value.

    Operands are `count` inputs and as many scalar initial values; `depends` is as in reduce.
    """

    window: tuple[Window, ...]
    count: int = 1
    depends: tuple[Dims, ...] = ()
    hlo: ClassVar = {"window": window_of}

    def structure(self, *x: Sizes) -> None:
        super().structure(*x)
        if len(self.window) != len(x[0]):
            raise self.error(f"a window of {len(self.window)} dimensions for shape {exact_text(list(x[0]))}")

    def demands(self, *x: Sizes) -> Iterator[Demand]:
        yield from super().demands(*x)
        for d, window in enumerate(self.window):
            yield from window.demands(d)

    def shape(self, *x: Sizes) -> list[Expr]:
        return [window.output(n) for window, n in zip(self.window, x[0], strict=True)]

    def reads(self, k: int, o: Coordinates, i: Coordinates, rt: Coordinates, *x: Sizes) -> list[Condition]:
        if k >= self.count:
            return []
        return _meet(self.window, o, i)

    def output_to_input(self, k: int, o: Coordinates, rt: Coordinates, *x: Sizes) -> Map:
        if k >= self.count:
            return Map([])
        return _slid(map(Window.read_by, self.window, o, x[0], itertools.count()))

    def input_to_output(self, k: int, i: Coordinates, rt: Coordinates, *x: Sizes) -> Map:
        if k >= self.count:
            return Map([Range(n) for n in self.shape(*x)])
        return _slid(map(Window.reading, self.window, i, x[0], itertools.count()))

    @classmethod
    def cases(cls, rank: int) -> Iterator[Case]:
        n = symbols("n", rank)
        yield Case.of(rank, "any window", cls(Window.symbolic(rank)), n, ())
        simple = tuple(Window(w.size, 1, w.low, w.high) for w in Window.symbolic(rank))
        yield Case.of(rank, "size and padding only", cls(simple), n, ())
        if rank == 1:
            yield Case.of(rank, "two inputs", cls(Window.symbolic(rank), 2), n, n, (), ())


def _slid(parts: Iterable[Slid]) -> Map:
    ranges, results, where = tuple(zip(*parts, strict=True)) or ((), (), ())
    return Map(results, chain(*where), ranges)


def _meet(windows: Sequence[Window], o: Sequence[Expr], i: Sequence[Expr]) -> list[Condition]:
    """Return the conditions that the windows of output ``o`` have an element on element ``i``."""
    return [c for w, a, b in zip(windows, o, i, strict=True) for c in w.meeting(a, b)[1]]


@op
class SelectAndScatter(Alike):
    """Each element of operand 1 is scattered to the element of operand 0 that is selected under its window.

    Operand 1 has one element for each position of the window over operand 0.  Elements scattered to one position
    are combined with operand 2, a scalar.  The selection depends on values, so an output element counts as
    reading every element of operand 1 whose window contains it, and all elements of operand 0 in these windows.
    Windows are not dilated.
    """

    window: tuple[Window, ...]
    operands: ClassVar[int] = 3
    hlo: ClassVar = {"window": window_of}

    def structure(self, x: Sizes, source: Sizes, initial: Sizes) -> None:
        if len(self.window) != len(x):
            raise self.error(f"a window of {len(self.window)} dimensions for shape {exact_text(list(x))}")
        self._rank(1, source, len(x))
        self._rank(2, initial, 0)
        for d, w in enumerate(self.window):
            if lift(w.base_dilation) is not lift(1) or lift(w.window_dilation) is not lift(1) or w.reversed:
                raise self.error(f"window dimension {d} is dilated or reversed")

    def demands(self, x: Sizes, source: Sizes, initial: Sizes) -> Iterator[Demand]:
        for d, (w, n, m) in enumerate(zip(self.window, x, source, strict=True)):
            yield from w.demands(d)
            places = w.output(n)
            yield (places.eq(m), f"window dimension {d} has {places} places over {n} elements, operand 1 has {m}")

    @staticmethod
    def _shared(w: Window, o: Expr, i: Expr, m: ExprLike) -> Expr:
        """Return the last position of the window that does not begin after ``o`` or ``i``.

        If any position covers both, this one does, since later windows begin later and end later.
        """
        return minimum(quotient(o + w.low, w.stride), quotient(i + w.low, w.stride), lift(m) - 1)

    def reads(
        self, k: int, o: Coordinates, i: Coordinates, rt: Coordinates, x: Sizes, source: Sizes, initial: Sizes
    ) -> list[Condition]:
        if k == 2:
            return []
        if k == 1:
            return _meet(self.window, i, o)
        found = []
        for w, a, b, m in zip(self.window, o, i, source, strict=True):
            begin = self._shared(w, a, b, m) * w.stride - w.low
            last = begin + w.size - 1
            found += [self._shared(w, a, b, m) >= 0, a <= last, b <= last]
        return found

    def output_to_input(self, k: int, o: Coordinates, rt: Coordinates, x: Sizes, source: Sizes, initial: Sizes) -> Map:
        if k == 2:
            return Map([])
        if k == 1:
            return _slid(map(Window.reading, self.window, o, x, itertools.count()))
        return self._neighbours(o, x, source)

    def input_to_output(self, k: int, i: Coordinates, rt: Coordinates, x: Sizes, source: Sizes, initial: Sizes) -> Map:
        if k == 2:
            return Map([Range(n) for n in x])
        if k == 1:
            return _slid(map(Window.read_by, self.window, i, x, itertools.count()))
        return self._neighbours(i, x, source)

    def _neighbours(self, v: Coordinates, x: Sizes, source: Sizes) -> Map:
        """Return the elements that share a window with ``v``, a symmetric relation."""
        results, where, ranges = [], [], []
        for d, (w, a, n, m) in enumerate(zip(self.window, v, x, source, strict=True)):
            place = Range(m, self._place(w, a, d, m))
            step = Range(w.size, self._step(w, a, d, m))
            begin = place.index * w.stride - w.low
            element = begin + step.index
            results.append(element)
            where += [(a - begin).within(0, lift(w.size) - 1), element.within(0, lift(n) - 1)]
            ranges += [place, step]
        return Map(results, where, ranges)

    def _place(self, w: Window, a: Expr, d: int, m: ExprLike) -> Any:
        return lambda target: self._shared(w, a, target[d], m)

    def _step(self, w: Window, a: Expr, d: int, m: ExprLike) -> Any:
        return lambda target: target[d] + w.low - self._shared(w, a, target[d], m) * w.stride

    @classmethod
    def cases(cls, rank: int) -> Iterator[Case]:
        n = symbols("n", rank)
        window = tuple(Window(w.size, w.stride, w.low, w.high) for w in Window.symbolic(rank))
        places = [w.output(a) for w, a in zip(window, n, strict=True)]
        yield Case.of(rank, "any window", cls(window), n, places, ())


@op
class Convolution(Op):
    """Every output element is a sum of products of input and kernel elements, over the window and the input features.

    Dimensions are listed as batch, feature, spatial ones (`lhs_dims`, `out_dims`) and output feature, input
    feature, spatial ones (`rhs_dims`).  With `feature_groups` G the features of both operands form G separate
    groups.  With `batch_groups` B output feature group g reads batch group g of the input, and the output batch
    is a B-th of the input's.  An element of the kernel counts as read only if the window's element lies on an
    input element.
    """

    window: tuple[Window, ...]
    lhs_dims: Dims
    rhs_dims: Dims
    out_dims: Dims
    feature_groups: ExprLike = 1
    batch_groups: ExprLike = 1
    operands: ClassVar[int] = 2

    def structure(self, x: Sizes, y: Sizes) -> None:
        rank = len(self.window) + 2
        self._rank(0, x, rank)
        self._rank(1, y, rank)
        self._dimensions("lhs_dims", self.lhs_dims, rank, x, count=rank)
        self._dimensions("rhs_dims", self.rhs_dims, rank, y, count=rank)
        self._dimensions("out_dims", self.out_dims, rank, count=rank)

    def demands(self, x: Sizes, y: Sizes) -> Iterator[Demand]:
        on = f"for shapes {exact_text(list(x))} and {exact_text(list(y))}"
        groups, batches = lift(self.feature_groups), lift(self.batch_groups)
        yield groups >= 1, f"feature_groups={groups} is not positive"
        yield batches >= 1, f"batch_groups={batches} is not positive"
        yield (groups.eq(1) | batches.eq(1), f"feature_groups={groups} and batch_groups={batches} are both more than 1")
        batch, feature, *_ = self.lhs_dims
        out, inner, *kernel = self.rhs_dims
        yield (
            lift(x[feature]).eq(mul(groups, y[inner])),
            (f"feature_groups={groups} {on}: {x[feature]} input features are not {groups} times {y[inner]}"),
        )
        for what, count, n, name in (
            ("feature", groups, y[out], "output features"),
            ("batch", batches, y[out], "output features"),
            ("batch", batches, x[batch], "input batches"),
        ):
            # stated as a product where the size is one, for the proof
            whole = mul(count, divide_exactly(n, count)) if count is not lift(0) else lift(0)
            yield whole.eq(n), f"{what}_groups={count} {on} does not divide {n} {name}"
        for d, (w, e) in enumerate(zip(self.window, kernel, strict=True)):
            yield from w.demands(d)
            yield lift(w.size).eq(y[e]), f"window dimension {d}: size={w.size} {on}: the kernel has {y[e]}"

    def shape(self, x: Sizes, y: Sizes) -> list[Expr]:
        spatial = [w.output(x[d]) for w, d in zip(self.window, self.lhs_dims[2:], strict=True)]
        sizes = [divide_exactly(x[self.lhs_dims[0]], self.batch_groups), lift(y[self.rhs_dims[0]]), *spatial]
        return _placed(sizes, self.out_dims)

    # -- groups: output features per group, input features per group, batches per group
    def _per_group(self, x: Sizes, y: Sizes) -> tuple[Expr, Expr, Expr]:
        outputs = divide_exactly(y[self.rhs_dims[0]], mul(self.feature_groups, self.batch_groups))
        return outputs, lift(y[self.rhs_dims[1]]), divide_exactly(x[self.lhs_dims[0]], self.batch_groups)

    def _beginnings(self, of: Expr, x: Sizes, y: Sizes) -> tuple[Expr, Expr]:
        """Return the first batch and the first feature of the group of the input that an output feature reads."""
        outputs, inputs, batches = self._per_group(x, y)
        group = piece(of, outputs)
        if lift(self.batch_groups) is not lift(1):
            return group * batches, lift(0)
        return lift(0), group * inputs if lift(self.feature_groups) is not lift(1) else lift(0)

    def _on_input(self, at: Sequence[Expr], kernel: Sequence[Expr], x: Sizes) -> list[Condition]:
        """Return the conditions that the elements of the kernel lie on elements of the input."""
        places = zip(self.window, at, kernel, self.lhs_dims[2:], strict=True)
        return [c for w, a, e, d in places for c in w.on_base(a, e, x[d])[1]]

    def reads(self, k: int, o: Coordinates, i: Coordinates, rt: Coordinates, x: Sizes, y: Sizes) -> list[Condition]:
        ob, of, *at = (o[d] for d in self.out_dims)
        if k == 1:
            out, _, *kernel = (i[d] for d in self.rhs_dims)
            return [of.eq(out), *self._on_input(at, kernel, x)]
        ib, feature, *base = (i[d] for d in self.lhs_dims)
        batch, first = self._beginnings(of, x, y)
        grouped = lift(self.batch_groups) is lift(1) and lift(self.feature_groups) is not lift(1)
        inside = [feature.within(first, first + y[self.rhs_dims[1]] - 1)] if grouped else []
        return [ib.eq(batch + ob), *inside, *_meet(self.window, at, base)]

    def output_to_input(self, k: int, o: Coordinates, rt: Coordinates, x: Sizes, y: Sizes) -> Map:
        ob, of, *at = (o[d] for d in self.out_dims)
        inputs = y[self.rhs_dims[1]]
        if k == 1:
            ranges = [Range(inputs, coordinate(self.rhs_dims[1]))]
            ranges += [Range(w.size, coordinate(d)) for w, d in zip(self.window, self.rhs_dims[2:], strict=True)]
            kernel = [r.index for r in ranges]
            return Map(_placed([of, *kernel], self.rhs_dims), self._on_input(at, kernel[1:], x), ranges)
        batch, first = self._beginnings(of, x, y)
        inner = Range(inputs, lambda target: target[self.lhs_dims[1]] - first)
        spatial = self.lhs_dims[2:]
        slid = _slid(map(Window.read_by, self.window, at, [x[d] for d in spatial], spatial))
        results = _placed([batch + ob, first + inner.index, *slid.results], self.lhs_dims)
        return Map(results, slid.where, [inner, *slid.ranges])

    def input_to_output(self, k: int, i: Coordinates, rt: Coordinates, x: Sizes, y: Sizes) -> Map:
        outputs, inputs, batches = self._per_group(x, y)
        if k == 1:
            out, _, *kernel = (i[d] for d in self.rhs_dims)
            sizes = self.shape(x, y)
            ranges = [Range(sizes[d], coordinate(d)) for d in (self.out_dims[0], *self.out_dims[2:])]
            batch, *at = [r.index for r in ranges]
            return Map(_placed([batch, out, *at], self.out_dims), self._on_input(at, kernel, x), ranges)
        ib, feature, *base = (i[d] for d in self.lhs_dims)
        spatial = self.lhs_dims[2:]
        slid = _slid(map(Window.reading, self.window, base, [x[d] for d in spatial], self.out_dims[2:]))
        ob, group = ib, lift(0)
        if lift(self.batch_groups) is not lift(1):
            group = piece(ib, batches)
            ob = ib - group * batches
        elif lift(self.feature_groups) is not lift(1):
            group = piece(feature, inputs)
        inner = Range(outputs, lambda target: target[self.out_dims[1]] - group * outputs)
        results = _placed([ob, group * outputs + inner.index, *slid.results], self.out_dims)
        return Map(results, slid.where, [inner, *slid.ranges])

    @classmethod
    def cases(cls, rank: int) -> Iterator[Case]:
        """Yield cases of rank 2 and more, with every numbering of the dimensions of each operand and the output."""
        if rank < 2:
            return
        orders = list(itertools.permutations(range(rank)))
        for number, lhs in enumerate(orders):
            # step through the other numberings instead of combining all: each occurs
            rhs, out = (orders[number * step % len(orders)] for step in (5, 7))
            flipped = tuple(d for d in range(rank - 2) if number >> d & 1)
            grouping = ("none", "features", "batches")[number % 3]
            yield cls._case(lhs, rhs, out, flipped, grouping)
        for grouping in ("features", "batches"):
            yield cls._case(orders[0], orders[0], orders[0], (), grouping)

    @classmethod
    def _case(cls, lhs: Dims, rhs: Dims, out: Dims, flipped: Dims, grouping: str) -> Case:
        (n, c, f, g), rank = symbols("c", 4), len(lhs)
        window = Window.symbolic(rank - 2, flipped)
        features, batches = g if grouping == "features" else lift(1), g if grouping == "batches" else lift(1)
        made = cls(window, lhs, rhs, out, features, batches)
        x = _placed([mul(n, batches), mul(c, features), *symbols("n", rank - 2)], lhs)
        y = _placed([mul(f, g) if grouping != "none" else f, c, *(lift(w.size) for w in window)], rhs)
        label = f"{lhs}, {rhs} to {out}; reversed {flipped}; groups of {grouping}"
        return Case.of(rank, label, made, x, y, facts=[n >= 1, c >= 1, f >= 1])

    @classmethod
    def from_hlo(cls, instruction: Any, shapes: Sequence[Dims]) -> Convolution:
        groups = (instruction.integer(f"{what}_group_count", 1) for what in ("feature", "batch"))
        return cls(Window.from_hlo(instruction), *instruction.dim_labels(), *groups)


def _placed(values: Sequence[Any], dims: Dims) -> list[Any]:
    """Return the list with ``values[k]`` at position ``dims[k]``."""
    placed = dict(zip(dims, values, strict=True))
    return [placed[d] for d in range(len(values))]
