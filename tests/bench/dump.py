"""What each peer makes of each map, once: ``python dump.py dump OUT.json [--corpus NAME]... [--peer NAME]...``.

``score.py`` compares our simplifier with the file.  An existing file is extended; maps that a peer has already
answered are not asked again unless ``--again``.
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from corpora import CORPORA, Map, corpus
from peers import OWN, GivesUp, Peer, available
from programs import Program, cost

sys.setrecursionlimit(20_000)


class Late(BaseException):
    """The time limit of a peer."""


def _late(*_: Any) -> None:
    raise Late


def limited(peer: Peer, work: Callable[[], Any]) -> tuple[str, str, Any]:
    """``("", "", work())``, or the state and the reason why there is no result."""
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
    except Exception as error:  # whatever a peer raises is its answer
        return "failed", f"{type(error).__name__}: {error}"[:300], None
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def run(peer: Peer, m: Map) -> dict[str, Any]:
    """One peer on one map: the record that the file keeps."""
    reason = peer.refuses(m)
    if reason:
        return {"state": "refused", "why": reason}
    peer.fresh()

    def work() -> tuple[float, Program]:
        native = peer.convert(m)
        start = time.perf_counter()
        result = peer.simplify(native)
        seconds = time.perf_counter() - start
        return seconds, peer.back(result, m)

    state, why, value = limited(peer, work)
    if state:
        return {"state": state, "why": why}
    seconds, program = value
    c = cost(program)
    wrong = disagreement(m, program)
    return {
        "state": "wrong" if wrong else "ok",
        "why": wrong,
        "cost_all": c.all,
        "cost_div": c.divisions,
        "cold": seconds,
        "program": program.to_json(),
    }


def disagreement(m: Map, program: Program) -> str:
    """A point of the domain where ``program`` differs from the map; empty where there is none among the points."""
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


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("verb", choices=["dump"])
    parser.add_argument("out", type=Path)
    parser.add_argument("--corpus", action="append", choices=list(CORPORA))
    parser.add_argument("--peer", action="append")
    parser.add_argument("--again", action="store_true")
    args = parser.parse_args()
    peers, missing = available(args.peer)
    for name, why in missing.items():
        print(f"missing: {name}: {why}", file=sys.stderr)
    data = json.loads(args.out.read_text()) if args.out.exists() else {"peers": {}, "maps": {}}
    for p in peers:
        if p.name not in OWN:
            data["peers"][p.name] = p.version
    for name in args.corpus or CORPORA:
        for m in corpus(name):
            key = f"{name}/{m.name}"
            here = data["maps"].get(key, {})
            if here.get("digest", m.digest) != m.digest:
                here = {}
            before = cost(m.program)
            here.setdefault("peers", {})
            here |= {"corpus": name, "digest": m.digest, "input": [before.all, before.divisions]}
            data["maps"][key] = here
            for p in peers:
                if p.name not in OWN and (args.again or p.name not in here["peers"]):
                    here["peers"][p.name] = run(p, m)
        done = [r["peers"] for r in data["maps"].values() if r["corpus"] == name]
        for p in peers:
            states: dict[str, int] = {}
            for r in done:
                state = r.get(p.name, {}).get("state", "-")
                states[state] = states.get(state, 0) + 1
            if p.name not in OWN:
                print(f"{name:13} {p.name:12} {states}", flush=True)
        args.out.write_text(json.dumps(data))


if __name__ == "__main__":
    main()
