"""Observe a function: which output elements change with an element of an argument."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any

import numpy as np
import pytest

jax = pytest.importorskip("jax")

Array = np.ndarray[Any, Any]


def dependence(
    run: Callable[..., Any],
    draws: Iterable[Sequence[Array]],
    steps: Sequence[complex],
    differ: Callable[[Array, Array], Array] = np.not_equal,
    over: Collection[int] | None = None,
) -> dict[tuple[int, int], set[Any]]:
    """Add each of ``steps`` to each element of each argument (or of those in ``over``); collect the changed outputs.

    Returns pairs of an output element and an argument element, by numbers of output and argument.
    """
    found: dict[tuple[int, int], set[Any]] = {}
    for arrays in draws:
        base = [np.asarray(a) for a in jax.tree.leaves(run(*arrays))]
        for k, array in enumerate(arrays):
            for element in np.ndindex(*array.shape) if over is None or k in over else ():
                for step in steps:
                    changed = array.copy()
                    changed[element] += step
                    now = jax.tree.leaves(run(*arrays[:k], changed, *arrays[k + 1 :]))
                    for output, (old, new) in enumerate(zip(base, now, strict=True)):
                        places = np.argwhere(differ(old, np.asarray(new))).tolist()
                        found.setdefault((output, k), set()).update((tuple(o), element) for o in places)
    return found
