"""Collectives against jax on four devices: which elements are read, and on which replicas.

The number of devices must be set before jax starts, so the observation runs in its own process: it changes one
element on one device, and prints which elements on which devices change.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest
from op_relation import map_relation, reads_relation

from indexproof.core.op import DIRECTIONS, POSITION, Op
from indexproof.rules.ops.collective import AllGather, AllReduce, AllToAll, CollectivePermute, ReduceScatter

pytest.importorskip("jax")

OBSERVE = """
import json, sys
import jax, jax.numpy as jnp, numpy as np
from jax.sharding import Mesh, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()[:4]).reshape(2, 2), ("x", "y"))
lax = jax.lax
shape = (4, 6)
functions = {
    "all-reduce": lambda axis: lambda v: lax.psum(v, axis),
    "all-gather 0": lambda axis: lambda v: lax.all_gather(v, axis, axis=0, tiled=True),
    "all-gather 1": lambda axis: lambda v: lax.all_gather(v, axis, axis=1, tiled=True),
    "reduce-scatter 0": lambda axis: lambda v: lax.psum_scatter(v, axis, scatter_dimension=0, tiled=True),
    "reduce-scatter 1": lambda axis: lambda v: lax.psum_scatter(v, axis, scatter_dimension=1, tiled=True),
    "all-to-all 0": lambda axis: lambda v: lax.all_to_all(v, axis, 0, 0, tiled=True),
    "all-to-all 1": lambda axis: lambda v: lax.all_to_all(v, axis, 1, 1, tiled=True),
    "collective-permute": lambda axis: lambda v: lax.ppermute(v, axis, [(0, 1), (1, 0)]),
    "sent once": lambda axis: lambda v: lax.ppermute(v, axis, [(0, 1)]),
}
found = {}
rng = np.random.default_rng(0)
for axis in ("x", "y"):
    for name, make in functions.items():
        inner = make(axis)
        run = jax.jit(jax.shard_map(
            lambda v, inner=inner: inner(v[0, 0])[None, None],
            mesh=mesh, in_specs=P("x", "y"), out_specs=P("x", "y"),
        ))
        values = rng.integers(1, 1000, (2, 2, *shape)).astype(np.float32)
        base = np.asarray(run(values))
        pairs = []
        for place in np.ndindex(*values.shape):
            changed = values.copy()
            changed[place] += 1000
            now = np.asarray(run(changed))
            pairs += [[o, list(place)] for o in np.argwhere(now != base).tolist()]
        found[f"{name} over {axis}"] = {"shape": list(base.shape[2:]), "pairs": pairs}
print(json.dumps(found))
"""

SHAPE = (4, 6)
OPS: dict[str, Op] = {
    "all-reduce": AllReduce(),
    "all-gather 0": AllGather(0, 2),
    "all-gather 1": AllGather(1, 2),
    "reduce-scatter 0": ReduceScatter(0, 2),
    "reduce-scatter 1": ReduceScatter(1, 2),
    "all-to-all 0": AllToAll(0, 2),
    "all-to-all 1": AllToAll(1, 2),
    "collective-permute": CollectivePermute(),
    "sent once": CollectivePermute(),
}


@pytest.fixture(scope="module")
def observed() -> Any:
    env = {**os.environ, "XLA_FLAGS": "--xla_force_host_platform_device_count=4", "JAX_PLATFORMS": "cpu"}
    done = subprocess.run(
        [sys.executable, "-c", OBSERVE], env=env, capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout.splitlines()[-1])


def senders(name: str, op: Op, position: int, o: Any, i: Any) -> list[int]:
    """Return the positions of the replicas on which `o`, computed at `position`, reads `i`, by the op's definition."""
    if isinstance(op, AllReduce | ReduceScatter):
        return [0, 1]
    if isinstance(op, CollectivePermute):
        return [1 - position] if name != "sent once" else [0] * position
    if isinstance(op, AllGather):
        return [o[op.dimension] // SHAPE[op.dimension]]
    assert isinstance(op, AllToAll)
    return [o[op.dimension] // (SHAPE[op.dimension] // 2)]


@pytest.mark.parametrize("axis", ["x", "y"])
@pytest.mark.parametrize("name", OPS)
def test_elements_and_replicas_are_those_that_jax_uses(name: str, axis: str, observed: Any) -> None:
    op, seen = OPS[name], observed[f"{name} over {axis}"]
    assert [int(n.evaluate({})) for n in op.shape(SHAPE)] == seen["shape"]
    wanted = {(tuple(o), tuple(i)) for o, i in seen["pairs"]}
    found = set()
    for device in ((0, 0), (0, 1), (1, 0), (1, 1)):
        position = device["xy".index(axis)]
        reads = reads_relation(op, 0, [SHAPE], {POSITION: position})
        for direction in DIRECTIONS:
            assert map_relation(op, 0, direction, [SHAPE], {POSITION: position}) == reads
        for o, i in reads:
            for sender in senders(name, op, position, o, i):
                other = (sender, device[1]) if axis == "x" else (device[0], sender)
                found.add(((*device, *o), (*other, *i)))
    assert found == wanted
