"""A second computation of the masks of the analysis: the elements that a `select` takes and that a `scatter` leaves.

:mod:`.values` evaluates the deciding values again. Their consequences are derived here from the definitions of the
operations, and share nothing with `core.analysis`.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Any

import numpy as np

from ..core.analysis import MaskStep
from ..core.hlo import Computation, Shape
from ..core.indexing_map import Constraint, IndexingMap, RuntimeSource
from .values import operand_answer
from .verdict import Status


def mask_answer(computations: Mapping[str, Computation], m: MaskStep) -> tuple[Status, str]:
    """Check that maps under a mask are restricted to exactly the indices where the mask takes them."""
    status, detail = operand_answer(computations, m.known)
    if status is not Status.PROVED:
        return status, detail
    name, scatters = m.instruction.name, m.instruction.opcode == "scatter"
    found = _landing(m) if scatters else _predicate(m)
    if found is None:
        return Status.REFUTED, f"{name}: its mask is another"
    mask, axes = found
    for side, branch, masked in zip((False,) if scatters else (True, False), m.branches, m.masked, strict=True):
        bare = branch.with_(rts=(), constraints=())
        if bare.results != bare.dim_vars or not (_unwritten(branch, name) if scatters else branch == bare):
            return Status.REFUTED, f"{name}: an operand is read elsewhere"
        if mask.all() or not mask.any():
            if list(masked) != [bare] * (bool(mask.all()) == side):
                return Status.REFUTED, f"{name}: its mask is {mask.all()} everywhere"
            continue
        # no constraint mentions the other axes, so one index of each is enough
        places: list[Any] = [0] * len(bare.dims)
        for axis, grid in zip(axes, np.indices(mask.shape), strict=True):
            places[axis] = grid
        said = {bare.dim_vars[axis] for axis in axes}
        taken = np.zeros(mask.shape, bool)
        for part in masked:
            if part.with_(constraints=()) != bare:
                return Status.REFUTED, f"{name}: an operand is read elsewhere"
            if not all(said.issuperset(c.expr.variables()) for c in part.constraints):
                return Status.REFUTED, f"{name}: its mask does not depend on an index that decides"
            taken |= part.evaluate_many(places)[0]
        if not np.array_equal(taken, mask == side):
            return Status.REFUTED, f"{name}: an operand is not read just where the mask is {side}"
    return Status.PROVED, "every index"


Mask = tuple[np.ndarray, list[int]]
"""Truth at some indices, and which these are among those of a map."""


def _predicate(m: MaskStep) -> Mask | None:
    """Return the predicate of a select, if the claimed value is broadcast to it."""
    reader, axes = m.instruction, list(range(len(m.branches[0].dims)))
    while reader.name != m.known.instruction.name:
        reader = m.known.caller.instruction(reader.operands[0].name)
        if reader.opcode != "broadcast":
            return None
        axes = [axes[d] for d in reader.integers("dimensions", ())]
    value, shape = m.known.operands[0, ()], reader.operands[0].shape
    if len(set(value)) == 1:
        return np.full((), value[0] == 1), []
    return (np.array(value, bool).reshape(shape.dims), axes) if isinstance(shape, Shape) else None


def _landing(m: MaskStep) -> Mask | None:
    """Return where a scatter's updates land: the boxes of all windows that lie within the operand."""
    i = m.instruction
    if m.known.instruction.name != i.name or [*m.known.operands] != [(1, ())]:
        return None
    x, y, u = (s.dims for s in i.operand_arrays)
    given, vector = np.array(m.known.operands[1, ()], object).reshape(y), i.integer("index_vector_dim")
    windows, batching = i.integers("update_window_dims"), i.integers("input_batching_dims", ())
    dropped = {*i.integers("inserted_window_dims", ()), *batching}
    sizes = dict.fromkeys(range(len(x)), 1)
    sizes.update(zip((d for d in sizes if d not in dropped), (u[d] for d in windows), strict=True))
    boxes = []
    for place in product(*(range(n) for d, n in enumerate(u) if d not in windows)):
        low = dict.fromkeys(sizes, 0)
        for k, d in enumerate(i.integers("scatter_dims_to_operand_dims")):
            low[d] = given[(*place[:vector], k, *place[vector:]) if vector < len(y) else place]
        for d, e in zip(batching, i.integers("scatter_indices_batching_dims", ()), strict=True):
            low[d] = place[e - (vector < e)]
        if all(0 <= low[d] and low[d] + sizes[d] <= n for d, n in enumerate(x)):
            boxes.append(low)
    axes = [d for d, n in enumerate(x) if sizes[d] < n] if boxes else []
    grids = dict(zip(axes, np.indices([x[d] for d in axes]), strict=True))
    mask = np.zeros([x[d] for d in axes], bool)
    for low in boxes:
        mask |= np.logical_and.reduce([(low[d] <= g) & (g < low[d] + sizes[d]) for d, g in grids.items()], initial=True)
    return mask, axes


def _unwritten(m: IndexingMap, scatter: str) -> bool:
    """Return whether a map reads only elements that no update of a scatter overwrites."""
    source = RuntimeSource(f"written({scatter})", m.dim_vars)
    return len(m.rts) == 1 and m.rts[0].source == source and m.constraints == (Constraint(m.rts[0].expr, 0, 0),)
