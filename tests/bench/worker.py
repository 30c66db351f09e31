"""Our simplifier in another interpreter: answers :class:`peers.Compiled` over pipes.

A request is pickled: the name of one of :data:`ANSWERS`, which of ours is asked, and the arguments; so is what comes back:
``("ok", value)`` or ``("failed", reason)``.  The first thing that is sent is whether the core here is the compiled one.
"""

from __future__ import annotations

import gc
import os
import pickle
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

import measure
from corpora import Map, corpus
from peers import Ours, Quick


def timed(ours: Ours, m: Map) -> Any:
    """:meth:`.Peer.timed`, with the result as a program, which is what can be sent."""
    gc.disable()
    try:
        taken, result = ours.timed(m)
    finally:
        gc.enable()
    program = ours.back(result, m)
    del result
    ours.fresh()
    return taken, program


def nothing_to_do(ours: Ours, names: list[str]) -> Any:
    return measure.nothing_to_do(ours, [m for name in names for m in corpus(name)])


def big_pass(ours: Ours) -> Any:
    return measure.big_pass(ours)


ANSWERS: dict[str, Callable[..., Any]] = {f.__name__: f for f in (timed, nothing_to_do, big_pass)}


def main() -> None:
    from indexproof.core.expr import COMPILED

    # what is printed by anything else must not get between the answers
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    ours = {kind.name: kind() for kind in (Ours, Quick)}
    sys.setrecursionlimit(20_000)
    gc.collect()
    gc.freeze()

    def send(answer: Any) -> None:
        pickle.dump(answer, out)
        out.flush()

    send(("ok", COMPILED))
    while True:
        try:
            what, name, args = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        try:
            send(("ok", ANSWERS[what](ours[name], *args)))
        except Exception as error:  # whatever is raised here is raised there
            send(("failed", f"{type(error).__name__}: {error}"))


if __name__ == "__main__":
    main()
