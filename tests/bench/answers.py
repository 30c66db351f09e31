"""Run a peer within its limits, and check its result."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from corpora import Map
from peers import GivesUp, Peer
from programs import Program

sys.setrecursionlimit(20_000)


class Late(BaseException):
    """Raised at the time limit of a peer."""


def _late(*_: Any) -> None:
    raise Late


def limited(peer: Peer, work: Callable[[], Any]) -> tuple[str, str, Any]:
    """Return ``("", "", work())``, or a state, the reason why there is no result, and ``None``."""
    signal.signal(signal.SIGPROF, _late)
    signal.setitimer(signal.ITIMER_PROF, peer.limit)
    try:
        value = work()
        signal.setitimer(signal.ITIMER_PROF, 0)
        return "", "", value
    except Late:
        return "gave up", f"not finished after {peer.limit:g} s of processor time", None
    except GivesUp as error:
        return "gave up", str(error), None
    except (RecursionError, MemoryError) as error:
        return "gave up", type(error).__name__, None
    except Exception as error:  # any exception of a peer is its answer
        return "failed", f"{type(error).__name__}: {error}"[:300], None
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def disagreement(m: Map, program: Program) -> str:
    """Describe a sampled point of the domain at which ``program`` differs from the map; empty if there is none."""
    env = m.points()
    if env and not len(next(iter(env.values()))):
        return ""
    try:
        left = m.program.evaluate(env)
        right = program.evaluate(env)
    except (KeyError, ZeroDivisionError) as error:
        return f"{type(error).__name__}: {error}"
    for k, (a, b) in enumerate(zip(left, right, strict=True)):
        differ = np.asarray(a) != np.asarray(b)
        if np.any(differ):
            at = int(np.argmax(np.broadcast_to(differ, next(iter(env.values())).shape)))
            point = {n: int(v[at]) for n, v in env.items()}
            return f"result {k} differs at {point}" if len(point) < 12 else f"result {k} differs"
    return ""
