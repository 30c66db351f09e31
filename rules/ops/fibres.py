"""Ops that read whole fibres of their operands, as a table of the dimensions that output and operands share.

Most entries are exact. The others are over-approximations and state why an output element may read less.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from ...core.condition import Condition
from ...core.expr import Expr, lift
from ...core.hlo import Shape, leaves
from ...core.op import Case, Coordinates, Demand, Op, Sizes, op, symbols
from .contraction import Dot
from .movement import Aligned, Dims, Extents, Sized, one_dimension
from .pointwise import Copy

#: Marks a dimension of an operand that is read whole, in place of an output dimension.
WHOLE = -1
Shared = tuple[Dims | None, ...]
Shapes = Sequence[Dims]


@op
class Fibres(Sized, Aligned):
    """An output element reads every element of each operand that agrees with it in the dimensions they share.

    `shared` has for each dimension of each operand the corresponding dimension of the output, -1 for one that is read
    whole, and None in place of an operand that is not read. In the output's dimension `along` an operand is read up
    to the element's own position, or with `backwards` from there on.
    """

    function: str
    sizes: Extents
    shared: Shared
    along: int = WHOLE
    backwards: bool = False
    #: Why less may be read; empty if the entry is exact.
    why: str = ""
    opcodes: ClassVar[tuple[str, ...]] = (
        *("batch-norm-inference", "bitcast-convert", "cholesky", "dynamic-reshape", "fft", "ragged-all-to-all"),
        *("ragged-dot", "scaled-dot", "triangular-solve"),
    )

    @property
    def arity(self) -> int:
        return len(self.shared)

    @property
    def at_most(self) -> str:
        return self.why

    def connected(self, result: int, k: int) -> bool:
        return self.shared[k] is not None

    def structure(self, *x: Sizes) -> None:
        for k, (dims, sizes) in enumerate(zip(self.shared, x, strict=True)):
            if dims is not None:
                self._rank(k, sizes, len(dims))
                self._dimensions("shared", [d for d in dims if d != WHOLE], len(self.sizes), self.sizes)

    def demands(self, *x: Sizes) -> Iterator[Demand]:
        yield from super().demands(*x)
        for k, sizes in enumerate(x):
            for d, place in self._shared(k).items():
                what = f"{self.function}: dimension {d} of operand {k} has size {sizes[d]}, not {self.sizes[place]}"
                yield lift(sizes[d]).eq(self.sizes[place]), what

    def _shared(self, k: int) -> dict[int, int]:
        return {d: place for d, place in enumerate(self.shared[k] or ()) if place != WHOLE}

    def places(self, k: int, *x: Sizes) -> dict[int, int]:
        return {d: place for d, place in self._shared(k).items() if place != self.along}

    def between(self, k: int, o: Coordinates, i: Coordinates, *x: Sizes) -> list[Condition]:
        """Return the condition that the element of the operand is not beyond that of the output in dimension `along`."""
        sign = -1 if self.backwards else 1
        return [(i[d] - o[p]) * sign <= 0 for d, p in self._shared(k).items() if p == self.along]

    @classmethod
    def cases(cls, rank: int) -> Iterator[Case]:
        """Yield every set of dimensions that an operand of this rank can share, also ordered along one of them."""
        n, m = symbols("n", rank), symbols("m", rank)
        dims = range(rank)
        for number, chosen in enumerate(itertools.product((False, True), repeat=rank)):
            kept = [d for d in dims if chosen[d]]
            orders = list(itertools.permutations(dims, len(kept)))
            # step through the orders instead of combining all: each occurs with some dimensions
            order = dict(zip(kept, orders[number * 5 % len(orders)], strict=True))
            shared = tuple(order.get(d, WHOLE) for d in dims)
            sizes = [n[order[d]] if d in order else m[d] for d in dims]
            made = cls("fft", n, (shared,))
            yield Case.of(rank, f"shared={shared}", made, sizes)
            for along in sorted(order.values())[:1]:
                ordered = replace(made, along=along, backwards=number % 2 == 0)
                yield Case.of(rank, f"shared={shared}, along={along}", ordered, sizes)

    @classmethod
    def from_hlo(cls, instruction: Any, shapes: Shapes) -> Op:
        (part,) = _TABLE[instruction.opcode](instruction, shapes)
        return part


@op
class Several(Aligned):
    """Several outputs, each of which reads fibres of its own as :class:`Fibres` does."""

    parts: tuple[Fibres, ...]
    opcodes: ClassVar[tuple[str, ...]] = ("batch-norm-grad", "batch-norm-training", "rng-bit-generator", "scan")

    @property
    def arity(self) -> int:
        return self.parts[0].arity

    @property
    def results(self) -> int:
        return len(self.parts)

    def part(self, result: int) -> Op:
        return self.parts[result]

    def shape(self, *x: Sizes) -> list[Expr]:
        return self.parts[0].shape(*x)

    @classmethod
    def from_hlo(cls, instruction: Any, shapes: Shapes) -> Several:
        return cls(tuple(_TABLE[instruction.opcode](instruction, shapes)))


def sharded(instruction: Any, shapes: Shapes) -> Op | None:
    """Return the op of a custom call that shards an array among devices: a copy, or a part of the array."""
    if len(shapes) != 1 or not isinstance(instruction.shape, Shape) or instruction.shape.rank != len(shapes[0]):
        return None
    made = instruction.shape.dims
    if made == shapes[0]:
        return Copy()
    shared = tuple(d if n == m else WHOLE for d, (n, m) in enumerate(zip(shapes[0], made, strict=True)))
    return Fibres("custom-call", made, (shared,), why="which part a device has is not looked at")


# ---------------------------------------------------------------------------------------------------------- the table
Rule = Callable[[Any, Shapes], Sequence[Fibres]]
_TABLE: dict[str, Rule] = {}


def _reads(*opcodes: str) -> Callable[[Rule], Rule]:
    """Register a function that returns what each output of an instruction over operands of these sizes reads."""

    def enter(rule: Rule) -> Rule:
        for opcode in opcodes:
            _TABLE[opcode] = rule
        return rule

    return enter


def _expect(instruction: Any, shapes: Shapes, count: int) -> None:
    if len(shapes) != count:
        raise ValueError(f"{instruction.name}: {instruction.opcode} has {len(shapes)} operands, not {count}")


def _whole(x: Dims) -> Dims:
    return (WHOLE,) * len(x)


@_reads("batch-norm-grad", "batch-norm-inference", "batch-norm-training")
def _batch_norm(instruction: Any, shapes: Shapes) -> list[Fibres]:
    kind = instruction.opcode
    _expect(instruction, shapes, 3 if kind == "batch-norm-training" else 5)
    x, f = shapes[0], instruction.integer("feature_index")
    if not 0 <= f < len(x):
        raise ValueError(f"{instruction.name}: feature_index={f} for an operand of rank {len(x)}")
    channel = tuple(d if d == f else WHOLE for d in range(len(x)))
    summed = tuple(0 if d == f else WHOLE for d in range(len(x)))
    each, own, feature = (f,), (0,), (x[f],)
    if kind == "batch-norm-inference":
        return [Fibres(kind, x, (tuple(range(len(x))), each, each, each, each))]
    if kind == "batch-norm-training":
        statistics = Fibres(kind, feature, (summed, None, None))
        return [Fibres(kind, x, (channel, each, each)), statistics, statistics]
    return [
        Fibres(kind, x, (channel, each, each, each, channel)),
        Fibres(kind, feature, (summed, None, own, own, summed)),
        Fibres(kind, feature, (None, None, None, None, summed)),
    ]


@_reads("bitcast-convert")
def _bitcast_convert(instruction: Any, shapes: Shapes) -> list[Fibres]:
    """Read a bitcast-convert: a narrower type adds a last dimension for the parts of an element, a wider one drops it."""
    _expect(instruction, shapes, 1)
    x, made = shapes[0], instruction.array.dims
    if abs(len(x) - len(made)) > 1:
        raise ValueError(f"{instruction.name}: bitcast-convert makes {list(made)} of {list(x)}")
    return [Fibres("bitcast-convert", made, (tuple(d if d < len(made) else WHOLE for d in range(len(x))),))]


@_reads("cholesky", "triangular-solve")
def _triangle(instruction: Any, shapes: Shapes) -> list[Fibres]:
    solves = instruction.opcode == "triangular-solve"
    _expect(instruction, shapes, 2 if solves else 1)
    x = shapes[-1]
    rank, batch = len(x), tuple(range(len(x) - 2))
    if rank < 2:
        raise ValueError(f"{instruction.name}: {instruction.opcode} of an array of rank {rank}")
    why = "of a triangle of the matrix, an element depends on a part"
    matrix = (*batch, WHOLE, WHOLE)
    if not solves:
        return [Fibres("cholesky", x, (matrix,), why=why)]
    left = instruction.flag("left_side")
    own = (*batch, WHOLE, rank - 1) if left else (*batch, rank - 2, WHOLE)
    return [Fibres("triangular-solve", x, (matrix, own), why=why)]


@_reads("fft")
def _fft(instruction: Any, shapes: Shapes) -> list[Fibres]:
    _expect(instruction, shapes, 1)
    kind, length = instruction.word("fft_type"), instruction.integers("fft_length")
    x = shapes[0]
    kept = len(x) - len(length)
    if kind not in ("FFT", "IFFT", "RFFT", "IRFFT") or kept < 0 or not length:
        raise ValueError(f"{instruction.name}: fft_type={kind}, fft_length={length} for rank {len(x)}")
    half = (*length[:-1], length[-1] // 2 + 1)
    if x[kept:] != (half if kind == "IRFFT" else length):
        raise ValueError(f"{instruction.name}: fft_length={length} for sizes {list(x)}")
    sizes = (*x[:kept], *(half if kind == "RFFT" else length))
    return [Fibres("fft", sizes, ((*range(kept), *_whole(length)),))]


def _of_dot(dot: Dot, k: int, x: Dims, y: Dims) -> Dims:
    places = dot.places(k, x, y)
    return tuple(places.get(d, WHOLE) for d in range(len((x, y)[k])))


@_reads("scaled-dot")
def _scaled_dot(instruction: Any, shapes: Shapes) -> list[Fibres]:
    _expect(instruction, shapes, 4)
    dot, made = Dot.from_hlo(instruction, shapes[:2]), instruction.array.dims
    found = []
    # versions of XLA differ: the scales follow both operands, or each follows its own
    for right, first, second in ((1, 2, 3), (2, 1, 3)):
        x, y = shapes[0], shapes[right]
        try:
            dot.validate(x, y)
        except ValueError:
            continue
        sizes = tuple(int(n.evaluate({})) for n in dot.shape(x, y))
        whole = (dot.lhs_contracting, dot.rhs_contracting)
        shared: dict[int, Dims] = {0: _of_dot(dot, 0, x, y), right: _of_dot(dot, 1, x, y)}
        for k, scale, operand, side in ((first, shapes[first], x, 0), (second, shapes[second], y, 1)):
            own = shared[right if side else 0]
            fits = len(scale) == len(operand) and all(d in whole[side] or n == operand[d] for d, n in enumerate(scale))
            shared[k] = own if fits else _whole(scale)
        if sizes == made and all(WHOLE in shared[k] or shapes[k] for k in shared):
            found.append(Fibres("scaled-dot", sizes, tuple(shared[k] for k in range(4))))
    if len(found) != 1:
        raise ValueError(f"{instruction.name}: which operands of a scaled-dot are scales cannot be told")
    return found


@_reads("ragged-dot")
def _ragged_dot(instruction: Any, shapes: Shapes) -> list[Fibres]:
    _expect(instruction, shapes, 3)
    x, y, counts = shapes
    (ragged,), groups = instruction.integers("lhs_ragged_dims"), instruction.integers("rhs_group_dims", ())
    plain = Dot.from_hlo(instruction, shapes[:2])
    # the right operand has separate dimensions for groups, which are neither contracted nor in the output
    kept = [d for d in range(len(y)) if d not in groups]
    renumbered = Dot(
        plain.lhs_batch,
        tuple(kept.index(d) for d in plain.rhs_batch),
        plain.lhs_contracting,
        tuple(kept.index(d) for d in plain.rhs_contracting),
    )
    inner = tuple(y[d] for d in kept)
    renumbered.validate(x, inner)
    sizes = tuple(int(n.evaluate({})) for n in renumbered.shape(x, inner))
    left, right = (list(_of_dot(renumbered, k, x, inner)) for k in (0, 1))
    for d in groups:
        right.insert(d, WHOLE)
    if ragged in plain.lhs_contracting:
        # one product for each group
        sizes = (counts[-1], *sizes)
        left, right = ([p + 1 if p != WHOLE else p for p in side] for side in (left, right))
    why = "sizes of groups are known only when the program runs"
    return [Fibres("ragged-dot", sizes, (tuple(left), tuple(right), _whole(counts)), why=why)]


@_reads("dynamic-reshape")
def _dynamic_reshape(instruction: Any, shapes: Shapes) -> list[Fibres]:
    why = "sizes are known only when the program runs"
    return [Fibres("dynamic-reshape", instruction.array.dims, tuple(map(_whole, shapes)), why=why)]


@_reads("ragged-all-to-all")
def _ragged_all_to_all(instruction: Any, shapes: Shapes) -> list[Fibres]:
    _expect(instruction, shapes, 6)
    made = shapes[1]
    sent = (WHOLE, *range(1, len(made)))[: len(shapes[0])]
    shared = (sent, tuple(range(len(made))), *map(_whole, shapes[2:]))
    return [Fibres("ragged-all-to-all", made, shared, why="offsets of all replicas say where elements go")]


@_reads("rng-bit-generator")
def _random_bits(instruction: Any, shapes: Shapes) -> list[Fibres]:
    _expect(instruction, shapes, 1)
    outputs = [a.dims for _, a in leaves(instruction.shape)]
    return [Fibres("rng-bit-generator", sizes, (_whole(shapes[0]),)) for sizes in outputs]


@_reads("scan")
def _scan(instruction: Any, shapes: Shapes) -> list[Fibres]:
    carries, along = instruction.integer("num_carries"), one_dimension(instruction)
    backwards = instruction.flag("is_reverse")
    outputs = [a.dims for _, a in leaves(instruction.shape)]
    inputs = shapes[: len(shapes) - carries]
    if not 0 <= carries <= min(len(shapes), len(outputs)):
        raise ValueError(f"{instruction.name}: num_carries={carries} of {len(shapes)} operands")
    if any(not 0 <= along < len(x) for x in (*inputs, *outputs[: len(outputs) - carries])):
        raise ValueError(f"{instruction.name}: dimensions={{{along}}} that not every array has")
    why = "which elements of a step the computation reads is not looked at"
    before: Shared = tuple(tuple(along if d == along else WHOLE for d in range(len(x))) for x in inputs)
    initial: Shared = tuple(map(_whole, shapes[len(inputs) :]))
    every: Shared = tuple(map(_whole, inputs))
    return [
        Fibres("scan", sizes, (*before, *initial), along, backwards, why)
        if k < len(outputs) - carries
        else Fibres("scan", sizes, (*every, *initial), why=why)
        for k, sizes in enumerate(outputs)
    ]
