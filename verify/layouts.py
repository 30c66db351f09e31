"""The obligations of layouts: placements for all sizes, and the claims of a single array in memory.

For all sizes, the ops :class:`Tiling` and :class:`Placement` owe what every op owes (`reports/semantics.md`, "Ops"):
*sound* and *complete* state that the backward map is the inverse of the forward map, with exactly its image as domain,
so that no two elements share a position; *coverage* states that padding is exactly the complement. They also owe that
the formula equals the construction in the published description, from ops that are proved in the catalogue: pad,
reshape and transpose for every tile. Long stacks of tiles are proved step by step: each step for all sizes, and the
whole as the composition of its steps.

For one array the claims are in Presburger arithmetic and always decided: :func:`verify_memory`, :func:`verify_bitcast`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ..core.condition import Condition, all_of
from ..core.expr import Expr, Int, ceildiv, integer, lift, substitute_all
from ..core.indexing_map import IndexingMap, Variable
from ..core.layout import Decomposition, Memory, TransposeStep, bitcast_map, memory
from ..core.layout.placement import Padded, Placement, Stack, Tiling
from ..core.op import Case, Coordinates, Direction, Op, Sizes, box, concrete, lifted, map_claim, product, symbols
from ..rules.ops.movement import Pad, Transpose
from ..rules.ops.reshape import Block, Reshape
from .concrete import Answer, equal_maps, in_bounds, inverse, partition
from .obligation import Obligation
from .obligations import op_obligations
from .properties import injective

#: An op and the sizes of its operands.
Applied = tuple[Op, tuple[tuple[Expr, ...], ...]]
#: Source dimensions, target dimensions, digits, and the number of dimensions on either side.
_Group = tuple[tuple[int, ...], tuple[int, ...], tuple[Expr, ...], int, int]


# -------------------------------------------------------------------------------------------- pad, reshape, transpose
def construction(op: Padded, x: Sizes) -> list[Applied]:
    """Return the ops of the catalogue that together do to an array of sizes ``x`` what ``op`` does, in order."""
    steps = _Steps([lift(n) for n in x])
    if isinstance(op, Tiling):
        _tiled(steps, op)
        return steps.found
    assert isinstance(op, Placement)
    steps.physical(op)
    for tile in op.tiles:
        _tiled(steps, Tiling(tile))
    steps.reshape([(tuple(range(len(steps.sizes))), (0,), tuple(steps.sizes), len(steps.sizes), 1)])
    (used,) = steps.sizes
    if op.tail != 1:
        steps.pad([ceildiv(used, op.tail) * op.tail])
    return steps.found


class _Steps:
    """A sequence of ops, and the sizes after them."""

    def __init__(self, sizes: list[Expr]) -> None:
        self.sizes = sizes
        self.found: list[Applied] = []

    def transpose(self, permutation: Sequence[int]) -> None:
        """Apply a transpose: dimension k becomes dimension ``permutation[k]``."""
        self.apply(Transpose(tuple(permutation)))

    def physical(self, op: Placement) -> None:
        """Transpose to the physical order, and pad to the padded sizes."""
        self.transpose([*reversed(op.minor_to_major)])
        if op.padded:
            self.pad(op.physical(op.padded))

    def pad(self, wide: Sequence[Expr]) -> None:
        """Pad at the high ends up to the sizes ``wide``."""
        if list(wide) != self.sizes:
            nothing = (integer(0),) * len(wide)
            high = tuple(w - n for w, n in zip(wide, self.sizes, strict=True))
            self.apply(Pad(nothing, high, nothing), ())

    def reshape(self, groups: Sequence[_Group]) -> None:
        """Reshape groups of source dimensions, target dimensions, digits, and the numbers of dimensions on both sides.
        On a side with as many dimensions as digits each has one digit, otherwise one dimension has all of them.  A
        target without a source has size 1.
        """
        blocks, sizes = [], dict[int, Expr]()
        for source, target, digits, here, there in groups:
            one = (1,) * len(digits)
            if not source:
                sizes.update((d, integer(1)) for d in target)
                continue
            counts = [one if n == len(digits) else (len(digits),) for n in (here, there)]
            blocks.append(Block(source, target, digits, counts[0], counts[1]))
            parts = iter(digits)
            sizes.update((d, product(next(parts) for _ in range(n))) for d, n in zip(target, counts[1], strict=True))
        dims = tuple(sizes[d] for d in range(len(sizes)))
        if list(dims) != self.sizes:
            known = all(isinstance(n, Int) for n in (*self.sizes, *dims))
            numbers = tuple(n.value if isinstance(n, Int) else n for n in dims)
            self.apply(Reshape(numbers, () if known else tuple(blocks)))

    def apply(self, op: Op, *others: tuple[Expr, ...]) -> None:
        """Append an op on the sizes so far and on other operands."""
        shapes = (tuple(self.sizes), *others)
        self.found.append((op, shapes))
        self.sizes = list(op.shape(*shapes))


def _tiled(steps: _Steps, op: Tiling) -> None:
    """Merge the dimensions at ``*``, pad to whole tiles, split every dimension, move the tile's own to the end."""
    x = steps.sizes
    groups, kept = op.groups(x), max(len(x) - len(op.tile), 0)
    missing = max(len(op.tile) - len(x), 0)
    same: list[_Group] = [((k,), (k,), (x[k],), 1, 1) for k in range(kept)]
    merged, at, left = list(same), kept, missing
    for target, group in enumerate(groups, kept):
        added = min(left, len(group))
        left -= added
        source = tuple(range(at, at + len(group) - added))
        at += len(source)
        digits = group[added:] or (integer(1),)
        merged.append((source, (target,), digits, len(source), 1))
    if missing or any(len(g) > 1 for g in groups):
        steps.reshape(merged)
    cuts = [lift(t) for t in op.tile if t is not None]
    counts = [ceildiv(product(g), t) for g, t in zip(groups, cuts, strict=True)]
    steps.pad([*steps.sizes[:kept], *(c * t for c, t in zip(counts, cuts, strict=True))])
    split = [
        ((kept + k,), (kept + 2 * k, kept + 2 * k + 1), (c, t), 1, 2)
        for k, (c, t) in enumerate(zip(counts, cuts, strict=True))
    ]
    steps.reshape([*same, *split])
    end = kept + 2 * len(cuts)
    steps.transpose([*range(kept), *range(kept, end, 2), *range(kept + 1, end, 2)])


def _composed(steps: Sequence[Applied], start: Coordinates, direction: Direction) -> tuple[list[Expr], list[Condition]]:
    """Compose the maps of the steps: return the image of ``start`` and the conditions for it."""
    at, conditions = list(start), list[Condition]()
    for op, shapes in steps if direction == "input_to_output" else reversed(steps):
        claim = map_claim(op, 0, direction, shapes, stated=False)
        here = dict(zip(claim.source, at, strict=True))
        conditions += [c.substitute(here) for c in claim.where]
        at = substitute_all(claim.results, here)
    return at, conditions


# ------------------------------------------------------------------------------------------------------ for all sizes
def layout_cases(rank: int) -> Iterator[Case]:
    """Yield all symbolic instances of a tile, a placement and a stack of tiles for arrays of this rank."""
    yield from Tiling.cases(rank)
    yield from Placement.cases(rank)
    yield from Placement.stacks(rank)


def layout_obligations(case: Case) -> Iterator[Obligation]:
    """Yield the obligations of an instance of :class:`Tiling` or :class:`Placement`."""
    op = case.op
    assert isinstance(op, Tiling | Placement)
    if isinstance(case, Stack):
        assert isinstance(op, Placement)
        yield from _step_obligations(case, op)
    else:
        for o in op_obligations(case):
            if not (isinstance(op, Placement) and op.tiles and o.kind == "input to output 0 in bounds"):
                yield o
    if isinstance(op, Placement) and op.tiles:
        yield from _by_steps(case, op)
    if not isinstance(case, Stack):
        yield from _construction_obligations(case, op)


def _owe(case: Case, kind: str, hypotheses: Sequence[Condition], goal: Condition) -> Obligation:
    op = case.op
    where = f"{type(op).__module__.rsplit('.', 1)[-1]}.py"
    subject, given = f"{op.name} {case.label}", tuple(hypotheses)
    return Obligation("op", subject, kind, given, goal, where=where, claim=op.text())


def _ends(case: Case) -> tuple[tuple[Expr, ...], tuple[Expr, ...], tuple[Expr, ...], list[Condition], list[Condition]]:
    """Return sizes, an element, a place, and the hypotheses about the element and about the place."""
    x = case.shapes[0]
    i = symbols("i", len(x))
    sizes = case.op.shape(*case.shapes)
    o = symbols("o", len(sizes))
    return x, i, o, [*case.hypotheses, *box(i, x)], [*case.hypotheses, *box(o, sizes)]


def _same(
    case: Case, kind: str, maps: tuple[list[Expr], list[Condition]], op: Padded, back: bool
) -> Iterator[Obligation]:
    """Yield that the composition of steps is the map of the op: equal results on an equal domain."""
    x, i, o, here, there = _ends(case)
    results, conditions = maps
    if not back:
        # assumed here, because *in bounds* is an obligation of its own
        here += box(op.place(i, x), op.shape(*case.shapes))
        goal = all_of([*conditions, *(a.eq(b) for a, b in zip(results, op.place(i, x), strict=True))])
        yield _owe(case, f"{kind}, forward", here, goal)
        return
    element, inside = op.element(o, x)
    goal = all_of([*conditions, *(a.eq(b) for a, b in zip(results, element, strict=True))])
    yield _owe(case, f"{kind}, backward", [*there, *inside], goal)
    yield _owe(case, f"{kind}, domain", [*there, *conditions], all_of(inside))


def _construction_obligations(case: Case, op: Padded) -> Iterator[Obligation]:
    x, i, o, _, _ = _ends(case)
    steps = construction(op, x)
    kind = "pad-reshape-transpose"
    legal = [c for step, shapes in steps for c in step.requires(*shapes)]
    made = steps[-1][0].shape(*steps[-1][1]) if steps else [lift(n) for n in x]
    same = [a.eq(b) for a, b in zip(made, op.shape(*case.shapes), strict=True)]
    yield _owe(case, f"{kind}, legal", case.hypotheses, all_of([*legal, *same]))
    yield from _same(case, kind, _composed(steps, i, "input_to_output"), op, back=False)
    yield from _same(case, kind, _composed(steps, o, "output_to_input"), op, back=True)


def _by_steps(case: Case, op: Placement) -> Iterator[Obligation]:
    """Yield that a placement with tiles is the composition of its steps, and that each step's result fits the next."""
    x, i, o, here, _ = _ends(case)
    sizes = op.expanded(x)
    steps = _steps(op, x)
    yield from _same(case, "steps", _composed(steps, i, "input_to_output"), op, back=False)
    yield from _same(case, "steps", _composed(steps, o, "output_to_input"), op, back=True)
    at = op.coordinates(i, x)
    yield _owe(case, "steps, in bounds", here, all_of([*box(at, sizes), *(n >= 0 for n in sizes)]))
    # the last step needs only the bounds that have been shown of its coordinates and sizes
    a, s = symbols("a", len(sizes)), symbols("s", len(sizes))
    assumed = [*case.hypotheses, *box(a, s)]
    yield _owe(case, "input to output 0 in bounds", assumed, all_of(box([op.line(a, s)], [op.length(s)])))


def _steps(op: Placement, x: Sizes) -> list[Applied]:
    """Return the physical order with padded sizes, every tile, and the line of memory, each as an op."""
    steps = _Steps([lift(n) for n in x])
    steps.physical(op)
    for tile in op.tiles:
        steps.apply(Tiling(tile), ())
    steps.apply(Placement(tuple(reversed(range(len(steps.sizes)))), (), (), op.tail), ())
    return steps.found


def _step_obligations(case: Stack, op: Placement) -> Iterator[Obligation]:
    """Yield the obligations of each step that is a tile or the line, for all sizes to which it can be applied."""
    x = case.shapes[0]
    legal = [c for step, shapes in _steps(op, x) for c in step.requires(*shapes)]
    yield _owe(case, "steps, legal", case.hypotheses, all_of(legal))
    for k, (step, shapes) in enumerate(_steps(op, x)):
        if isinstance(step, Tiling | Placement):
            part = Case.of(0, "", step, symbols("m", len(shapes[0])), ())
            for o in layout_obligations(part):
                subject = f"{op.name} {case.label}"
                yield replace(o, subject=subject, kind=f"step {k}, {step.name}: {o.kind}")


# ------------------------------------------------------------------------------------------------------- one instance
@dataclass(frozen=True)
class CheckedClaim:
    """A claim about one array in memory, and the answer."""

    claim: str
    answer: Answer

    @property
    def proved(self) -> bool:
        """Whether the claim holds."""
        return self.answer.proved


def verify_memory(
    at: Memory,
    forward: IndexingMap | None = None,
    backward: IndexingMap | None = None,
    padding: Sequence[IndexingMap] | None = None,
    *,
    confirm: bool = False,
) -> list[CheckedClaim]:
    """Check all claims of an array in memory, for its own maps or for the given ones.

    The forward map is in bounds and injective.  The backward map is its inverse, in bounds, with exactly its image as
    domain. Padding is exactly the complement.  Both maps equal pad, reshape and transpose.
    """
    there, back = forward or at.forward, backward or at.backward
    rest = list(at.padding if padding is None else padding)
    positions = (at.size,)
    steps = construction(at.op, at.shape.dims)
    made = _concrete_steps(steps, at.shape.dims, "input_to_output")
    unmade = _concrete_steps(steps, positions, "output_to_input")
    held = replace(back, results=())
    claims = {
        "every element has a position in memory": in_bounds(there, positions, confirm=confirm),
        "no two elements share a position": injective(there, confirm=confirm),
        "the backward map is the forward map turned round": inverse(there, back, confirm=confirm),
        "the backward map names elements": in_bounds(back, at.shape.dims, confirm=confirm),
        "every position holds one element or is padding, not both": partition(
            [held, *rest], positions, confirm=confirm
        ),
        "the forward map is pad, reshape and transpose": equal_maps(there, made, confirm=confirm),
        "the backward map is pad, reshape and transpose, undone": equal_maps(back, unmade, confirm=confirm),
    }
    return [CheckedClaim(claim, answer) for claim, answer in claims.items()]


def _concrete_steps(steps: Sequence[Applied], sizes: Sequence[int], direction: Direction) -> IndexingMap:
    """Compose the production maps of the ops."""
    dims = tuple(Variable(f"d{k}", 0, n - 1) for k, n in enumerate(sizes))
    m = IndexingMap(dims, (), (), tuple(v.expr for v in dims))
    for op, shapes in steps if direction == "input_to_output" else reversed(steps):
        m = m.compose(concrete(op, 0, direction, shapes))
    return m


def decomposition_ops(d: Decomposition) -> list[Applied]:
    """Return the steps of a decomposed bitcast as ops of the catalogue."""
    found: list[Applied] = []
    x: tuple[int, ...] = d.source.dims
    for step in d.needed():
        op: Op = Transpose(step.permutation) if isinstance(step, TransposeStep) else Reshape(step.dims)
        found.append((op, lifted([x])))
        x = step.sizes(x)
    return found


def verify_bitcast(d: Decomposition, *, confirm: bool = False) -> list[CheckedClaim]:
    """Check that the steps of a bitcast keep the positions of elements both ways, and are inverse to each other."""
    source, target = memory(d.source), memory(d.target)
    steps = decomposition_ops(d)
    here = _concrete_steps(steps, source.shape.dims, "input_to_output")
    there = _concrete_steps(steps, target.shape.dims, "output_to_input")
    along, back = bitcast_map(target.shape, source.shape), bitcast_map(source.shape, target.shape)
    claims = {
        "source to target: the steps keep positions": equal_maps(along, here, confirm=confirm),
        "target to source: the steps keep positions": equal_maps(back, there, confirm=confirm),
        "both ways are inverse to each other": inverse(here, there, confirm=confirm),
    }
    return [CheckedClaim(claim, answer) for claim, answer in claims.items()]
