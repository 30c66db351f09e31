"""Collectives: ops whose operand is an array on every replica of a group.

All replicas of a group run the same program, each on its own data, so an array of the program represents one
array on each of them.  An output element, on the replica that computes it, reads elements of the operand's
array on some replicas of its group: the map states *which elements*, the op's docstring *on which replicas*.
The dependence on the computing replica is a runtime value, its **position**: its index in the list of its group
in `replica_groups`.  What another replica sends was computed at its position.  Maps are those of a replica that
takes part.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from ...core.condition import Condition
from ...core.expr import Expr, ExprLike, lift, mul
from ...core.op import (
    POSITION,
    Case,
    Coordinates,
    Demand,
    Map,
    Op,
    Range,
    Runtime,
    Sizes,
    divide_exactly,
    exact_text,
    op,
    remainder,
    symbols,
)
from .fibres import WHOLE, Fibres
from .movement import Alike, Dims, one_dimension, piece
from .pointwise import Pointwise
from .solved import Solved


class Collective(Solved):
    """The base of all collectives."""

    parallel: ClassVar[bool] = True
    #: The number of replicas in a group.
    group: ExprLike

    def demands(self, *x: Sizes) -> Iterator[Demand]:
        yield lift(self.group) >= 1, f"a group of {self.group} replicas"

    def _position(self) -> Runtime:
        return Runtime.of(POSITION, (), 0, lift(self.group) - 1)


def _group(instruction: Any, shapes: Sequence[Dims]) -> int:
    """Return the number of replicas in a group.  Without groups all replicas form one, whose size shapes determine."""
    groups = instruction.replica_groups()
    sizes = {len(g) for g in groups}
    if len(sizes) > 1:
        raise ValueError(f"{instruction.name}: {instruction.opcode} has groups of {sorted(sizes)} replicas")
    if sizes:
        return sizes.pop()
    dimension = one_dimension(instruction)
    before = instruction.operand_arrays[0].dims[dimension]
    shape = instruction.shape
    after = (shape.elements[0] if hasattr(shape, "elements") else shape).dims[dimension]
    small, large = sorted((before, after))
    if before == after or not small or large % small:
        raise ValueError(
            f"{instruction.name}: {instruction.opcode} states no replica_groups, and its shapes do not tell how "
            "many replicas there are"
        )
    return int(large // small)


@dataclass(frozen=True)
class Along(Collective):
    """The base of collectives that act along the dimension `dimension` of one operand."""

    dimension: int
    group: ExprLike
    hlo: ClassVar = {"dimension": one_dimension, "group": _group}

    def structure(self, x: Sizes) -> None:
        self._dimensions("dimension", (self.dimension,), len(x), x)

    def _along(self, v: Coordinates, place: Any) -> list[Any]:
        return [place if d == self.dimension else a for d, a in enumerate(v)]

    def related(self, a: Expr, b: Expr, rt: Coordinates, x: Sizes) -> Condition:
        """Return the condition that output element ``a`` reads element ``b`` of the dimension."""
        raise NotImplementedError

    def reads(self, k: int, o: Coordinates, i: Coordinates, rt: Coordinates, x: Sizes) -> list[Condition]:
        pairs = enumerate(zip(o, i, strict=True))
        return [self.related(a, b, rt, x) if d == self.dimension else a.eq(b) for d, (a, b) in pairs]


class Cut(Along):
    """The base of collectives that cut `dimension` into one piece for each replica of the group."""

    #: The least number of elements of a piece in the proof.
    least: ClassVar[int] = 0

    def demands(self, *x: Sizes) -> Iterator[Demand]:
        yield from super().demands(*x)
        # stated as a product where the size is one, for the proof
        n, group = x[0][self.dimension], lift(self.group)
        whole = mul(group, self._piece(x[0])) if group is not lift(0) else lift(0)
        yield (
            whole.eq(n),
            f"{self.group} replicas do not divide dimension {self.dimension} of shape {exact_text(list(x[0]))}",
        )

    def _piece(self, x: Sizes) -> Expr:
        return divide_exactly(x[self.dimension], self.group)

    def runtime(self, o: Coordinates, x: Sizes) -> list[Runtime]:
        return [self._position()]

    @classmethod
    def cases(cls, rank: int) -> Iterator[Case]:
        (g,), (m,) = symbols("g", 1), symbols("m", 1)
        for dimension in range(rank):
            sizes = [mul(m, g) if d == dimension else n for d, n in enumerate(symbols("n", rank))]
            facts = [m >= cls.least, g >= 1]
            yield Case.of(rank, f"dimension={dimension}", cls(dimension, g), sizes, facts=facts)


@op
class AllReduce(Pointwise):
    """Output element p combines elements p of the operand on all replicas of the group."""

    parallel: ClassVar[bool] = True


@op
class CollectivePermute(Pointwise):
    """Output element p is element p of the operand on the replica that sends to this one.

    `source_target_pairs` states the sender.  A replica without a sender gets zeros and reads nothing: the map is
    that of a replica that receives.
    """

    parallel: ClassVar[bool] = True

    @classmethod
    def from_hlo(cls, instruction: Any, shapes: Sequence[Dims]) -> CollectivePermute | Fibres:
        instruction.pairs("source_target_pairs")
        if not instruction.has("slice_sizes"):
            return cls()
        if len(shapes) < 4:
            raise ValueError(f"{instruction.name}: slices of {len(shapes)} operands, not 4")
        # slices of operand 0 are sent and replace slices of operand 1; the others, of two tuples, are their starts
        kept = tuple(range(len(shapes[1])))
        sent, *starts = ((WHOLE,) * len(x) for x in (shapes[0], *shapes[2:]))
        why = "where the slices begin is known only when the program runs"
        return Fibres("collective-permute", shapes[1], (sent, kept, *starts), why=why)


@op
class CollectiveBroadcast(Pointwise):
    """Output element p is element p of the operand on the first replica of the group."""

    parallel: ClassVar[bool] = True


@op
class AllGather(Along):
    """The operands of all replicas of the group, one after the other in dimension `dimension`.

    With n elements there, output element o is element o mod n of the operand on replica number o // n of the
    group.  Every replica reads an operand element from the replica that holds it, so the element is read `group`
    times in all.
    """

    def shape(self, x: Sizes) -> list[Expr]:
        return [mul(n, self.group) if d == self.dimension else lift(n) for d, n in enumerate(x)]

    def related(self, a: Expr, b: Expr, rt: Coordinates, x: Sizes) -> Condition:
        return b.eq(_within(a, lift(x[self.dimension])))

    def input_to_output(self, k: int, i: Coordinates, rt: Coordinates, x: Sizes) -> Map:
        n = lift(x[self.dimension])
        member = Range(self.group, lambda target: piece(target[self.dimension], n))
        return Map(self._along(i, member.index * n + i[self.dimension]), ranges=[member])

    @classmethod
    def cases(cls, rank: int) -> Iterator[Case]:
        g = symbols("g", 1)[0]
        for dimension in range(rank):
            n = symbols("n", rank)
            # a dimension without elements is excluded: it has no accesses, and the size is a divisor
            yield Case.of(rank, f"dimension={dimension}", cls(dimension, g), n, facts=[n[dimension] >= 1])


@op
class ReduceScatter(Cut):
    """The operands of all replicas of the group are combined, and each replica keeps one part.

    The parts are equal pieces of dimension `dimension`, in the order of the group.  With m elements in a piece
    and p the position of the computing replica, output element o combines elements p·m + o of the operand on
    all replicas of the group.
    """

    def shape(self, x: Sizes) -> list[Expr]:
        return [self._piece(x) if d == self.dimension else lift(n) for d, n in enumerate(x)]

    def related(self, a: Expr, b: Expr, rt: Coordinates, x: Sizes) -> Condition:
        return b.eq(rt[0] * self._piece(x) + a)


@op
class AllToAll(Cut, Alike):
    """Every replica cuts dimension `dimension` into one piece for each replica of the group, and sends them.

    The output is the received pieces in the order of the group.  With m elements in a piece and p the position
    of the computing replica, output element o is element p·m + o mod m of the operand on replica number o // m
    of the group.
    """

    least: ClassVar[int] = 1

    def related(self, a: Expr, b: Expr, rt: Coordinates, x: Sizes) -> Condition:
        m = self._piece(x)
        return b.eq(rt[0] * m + _within(a, m))

    def input_to_output(self, k: int, i: Coordinates, rt: Coordinates, x: Sizes) -> Map:
        m = self._piece(x)
        place = i[self.dimension] - rt[0] * m
        sender = Range(self.group, lambda target: piece(target[self.dimension], m))
        return Map(self._along(i, sender.index * m + place), [place.within(0, m - 1)], [sender])

    @classmethod
    def from_hlo(cls, instruction: Any, shapes: Sequence[Dims]) -> Op:
        return super().from_hlo(instruction, shapes) if instruction.has("dimensions") else Exchange(len(shapes))


@op
class Exchange(Collective, Alike):
    """The all-to-all of tuples: operand number q goes to replica number q of the group.

    With p the position of the computing replica, output number q is operand number p on replica number q of the
    group.  So an output reads only one of the operands, which the position selects.
    """

    group: int
    name: ClassVar[str] = "all-to-all-of-tuples"
    opcodes: ClassVar[tuple[str, ...]] = ()
    parallel: ClassVar[bool] = False

    @property
    def arity(self) -> int:
        return self.group

    @property
    def results(self) -> int:
        return self.group

    def structure(self, *x: Sizes) -> None:
        for k, sizes in enumerate(x):
            self._rank(k, sizes, len(x[0]))

    def demands(self, *x: Sizes) -> Iterator[Demand]:
        yield from super().demands(*x)
        yield from self._same_sizes(x, range(self.group))

    def runtime(self, o: Coordinates, *x: Sizes) -> list[Runtime]:
        return [self._position()]

    def reads(self, k: int, o: Coordinates, i: Coordinates, rt: Coordinates, *x: Sizes) -> list[Condition]:
        return [rt[0].eq(k), *(a.eq(b) for a, b in zip(o, i, strict=True))]

    def sharing(self) -> tuple[int, ...]:
        return tuple(range(self.group))

    @classmethod
    def cases(cls, rank: int) -> Iterator[Case]:
        for group in (1, 2, 3):
            yield Case.of(rank, f"{group} replicas", cls(group), *[symbols("n", rank)] * group)


def _within(a: Expr, n: Expr) -> Expr:
    """Return the position of ``a`` in its piece of ``n`` elements."""
    return lift(0) if n is lift(0) else remainder(a, n)
