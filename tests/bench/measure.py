"""Measurements: all simplifiers on one processor, map by map in shuffled order; growth, memory, and idle passes.

Measurements affect only the printed figures.  Each is a clock around one call with the garbage collector off, as in
``timeit``; peers are compared by processor time.
"""

from __future__ import annotations

import cProfile
import gc
import math
import platform
import pstats
import random
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Protocol

from answers import disagreement, limited
from corpora import GENERATED, Map, corpus, depths, published, terms
from peers import OWN, WEIGHTS, Ours, Peer
from programs import Builder, Program, cost

#: Rounds for one peer on one map, and the seconds after which no further round begins.
ROUNDS = 7
PATIENCE = 0.05


def percentile(values: Sequence[float], p: float) -> float:
    """Return the percentile ``p`` of the values by the nearest-rank method."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, math.ceil(p * len(ordered)) - 1 if p else 0)] if ordered else math.nan


# ------------------------------------------------------------------------------------------------- corpora and peers
class Elsewhere(Protocol):
    """A peer in a separate process (:mod:`remote`): ``ask`` calls one of the functions below there."""

    name: str

    def ask(self, what: Callable[..., Any], *args: Any) -> Any: ...


def asked(p: Peer | Elsewhere, what: Callable[..., Any], *args: Any) -> Any:
    """Return ``what(p, *args)``, computed in the peer's process."""
    return what(p, *args) if isinstance(p, Peer) else p.ask(what, *args)


def measure_corpus(
    peers: Sequence[Peer | Elsewhere], maps: Iterable[Map], rounds: int = ROUNDS
) -> list[dict[str, Any]]:
    """Return for each map a row ``{"name", "before": [all, div], "peers": {name: record}}``.

    A record has ``state`` (``ok``, ``wrong``, ``refused``, ``gave up`` or ``failed``) and, where there was a result, its
    cost and the medians over the rounds of ``convert``, ``cold`` and ``warm`` in seconds.
    """
    rows = []
    for number, m in enumerate(maps):
        before = cost(m.program)
        records: dict[str, dict[str, Any]] = {}
        times: dict[str, list[tuple[float, float, float]]] = {p.name: [] for p in peers}
        for round_ in range(rounds):
            # shuffled, so that no peer always finds its code in the processor's caches from the peer before it
            turns = list(peers)
            random.Random(number * rounds + round_).shuffle(turns)
            for p in turns:
                record = records.get(p.name)
                spent = sum(sum(t) for t in times[p.name])
                if record is not None and (record["state"] not in ("ok", "wrong") or spent > PATIENCE):
                    continue
                found = asked(p, once, m, record is None)
                if "times" in found:
                    times[p.name].append(found.pop("times"))
                if record is None:
                    records[p.name] = found
        for name, taken in times.items():
            if taken and records[name]["state"] in ("ok", "wrong"):
                for k, what in enumerate(("convert", "cold", "warm")):
                    records[name][what] = statistics.median(t[k] for t in taken)
        row = {"name": m.name, "size": m.size, "before": [before.all, before.divisions], "peers": records}
        for p in peers:
            if p.name == Ours.name:
                row["asked"] = {what: asked(p, asked_for, what, m) for what in WEIGHTS}
        rows.append(row)
    return rows


def held_out(peers: Sequence[Peer], shifts: Sequence[int]) -> dict[str, Any]:
    """Summarise the sizes of results, without times, on corpora that are generated with other seeds."""
    names = [p.name for p in peers]
    found: dict[str, Any] = {"shifts": list(shifts), "peers": names, "corpora": {}}
    for name, made in GENERATED.items():
        rows = measure_corpus(peers, (m for s in shifts for m in made(shift=s)), rounds=1)
        found["corpora"][name] = summarise(rows, names)
    return found


def renewed(stored: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """Join new measurements with stored ones of the other peers; stored times of another machine are dropped.

    Raises :class:`ValueError` where the maps differ.
    """
    names = list(stored["peers"] | new["peers"])
    elsewhere = stored["machine"]["cpu"] != new["machine"]["cpu"]
    for name, found in stored["corpora"].items():
        for row, by in zip(found["rows"], new["corpora"][name]["rows"], strict=True):
            if (row["name"], row["before"]) != (by["name"], by["before"]):
                raise ValueError(f"{name}/{row['name']}: another map than was measured")
            if elsewhere:
                row["peers"] = {
                    n: {k: v for k, v in p.items() if k not in ("convert", "cold", "warm")}
                    for n, p in row["peers"].items()
                }
            row["peers"] |= by["peers"]
            row["asked"] = by.get("asked", row["asked"])
        found["summary"] = summarise(found["rows"], names)
    growth = {(g["peer"], g["kind"]): g for g in new.get("growth", ())}
    data = stored | {k: v for k, v in new.items() if k not in ("corpora", "growth", "peers", "missing")}
    data["growth"] = [growth.get((g["peer"], g["kind"]), g) for g in stored["growth"]]
    data["peers"] = stored["peers"] | new["peers"]
    data["renewed"] = list(new["peers"])
    data["all renewed"] = "growth" in new
    data["elsewhere"] = elsewhere
    return data


def asked_for(ours: Ours, what: str, m: Map) -> dict[str, Any]:
    """Simplify for the measure ``what`` of :data:`MEASURES`; return the cost and whether the result is right."""
    program = ours.for_least(what, m)
    c = cost(program)
    wrong = disagreement(m, program)
    return {"all": c.all, "div": c.divisions, "state": "wrong" if wrong else "ok", "why": wrong}


def once(p: Peer, m: Map, first: bool) -> dict[str, Any]:
    """Time one conversion, one cold and one warm simplification; if ``first``, also cost and check the result.

    Peers clear their caches after a call: clearing right before a call would fill the processor's caches.
    """
    if first and (reason := p.refuses(m)):
        return {"state": "refused", "why": reason}
    try:
        return _once(p, m, first)
    finally:
        p.fresh()


def _once(p: Peer, m: Map, first: bool) -> dict[str, Any]:
    gc.disable()
    try:
        state, why, value = limited(p, lambda: p.timed(m))
    finally:
        gc.enable()
    if state:
        return {"state": state, "why": why}
    taken, result = value
    out: dict[str, Any] = {"times": taken, "state": "ok"}
    if first:
        try:
            program = p.back(result, m)
        except Exception as error:  # the result of the peer cannot be read
            return {"state": "failed", "why": f"{type(error).__name__}: {error}"[:200]}
        c = cost(program)
        out |= {"all": c.all, "div": c.divisions}
        wrong = disagreement(m, program)
        if wrong:
            out |= {"state": "wrong", "why": wrong}
    return out


def warm_up(p: Peer) -> None:
    """Let a peer do its imports and fill its tables of rules, on maps of the corpus ``published`` alone."""
    for m in published():
        if not p.refuses(m):
            limited(p, lambda m=m: p.timed(m))
        p.fresh()
    gc.collect()
    gc.freeze()


# -------------------------------------------------------------------------------------------------------- the summary
def summarise(rows: Sequence[dict[str, Any]], names: Sequence[str]) -> dict[str, Any]:
    """Return sums, medians and ratios of one corpus."""
    others = [n for n in names if n not in OWN]
    out: dict[str, Any] = {
        "maps": len(rows),
        "before": [sum(r["before"][k] for r in rows) for k in (0, 1)],
        "peers": {},
    }
    best = [virtual_best(r, others) for r in rows]
    out["best"] = [sum(b[k] for b in best) for k in range(len(MEASURES))]
    # our cost where one measure is minimised, and the best cost by that measure
    out["asked"] = {}
    for k, what in enumerate(MEASURES):
        pairs = [(r["asked"][what], b[k]) for r, b in zip(rows, best, strict=True) if what in r.get("asked", {})]
        if pairs:
            out["asked"][what] = {
                "cost": [sum(measures(a)[j] for a, _ in pairs) for j in range(len(MEASURES))],
                "best": sum(b for _, b in pairs),
                "at_best": sum(measures(a)[k] <= b for a, b in pairs) / len(pairs),
                "wrong": sum(a["state"] != "ok" for a, _ in pairs),
            }
    reference = {i: r["peers"]["tvm"]["cold"] for i, r in enumerate(rows) if _answered(r, "tvm")}
    for n in names:
        done = [(i, r["peers"][n]) for i, r in enumerate(rows) if _answered(r, n)]
        states = [r["peers"].get(n, {}).get("state", "missing") for r in rows]
        record: dict[str, Any] = {s: states.count(s) for s in ("ok", "wrong", "refused", "gave up", "failed")}
        # a map without a right result counts with the cost of its input, unless the peer was never asked
        asked = [
            (measures(r["peers"][n] if state == "ok" else _given(r)), b)
            for r, state, b in zip(rows, states, best, strict=True)
            if state not in ("refused", "missing")
        ]
        if asked:
            every = range(len(MEASURES))
            record["cost"] = [sum(p[k] for p, _ in asked) for k in every]
            record["best"] = [sum(b[k] for _, b in asked) for k in every]
            record["at_best"] = [sum(p[k] <= b[k] for p, b in asked) / len(asked) for k in every]
            record["beaten"] = sum(beaten(r, n, names) for i, r in enumerate(rows) if states[i] == "ok")
        if done and n != "xla":
            for what in ("convert", "cold", "warm"):
                values = [p[what] for _, p in done]
                record[what] = {"median": statistics.median(values), "p95": percentile(values, 0.95)}
            both = [(p["cold"], reference[i]) for i, p in done if i in reference]
            if both:
                mine, theirs = zip(*both, strict=True)
                record["to_tvm"] = {
                    "median": statistics.median(mine) / statistics.median(theirs),
                    "p95": percentile(mine, 0.95) / percentile(theirs, 0.95),
                    "per_map": statistics.median(a / b for a, b in both),
                }
        out["peers"][n] = record
    return out


def _answered(row: dict[str, Any], name: str) -> bool:
    return row["peers"].get(name, {}).get("state") in ("ok", "wrong") and "cold" in row["peers"][name]


#: The compared measures: all operations, divisions alone, and both as the simplifier weighs them.
MEASURES = ("operations", "divisions", "documented cost")


def measures(answer: dict[str, Any]) -> tuple[int, int, int]:
    """Return the cost by each of :data:`MEASURES`; a division counts three (reports/simplifier.md, "The cost")."""
    return answer["all"], answer["div"], answer["all"] + 2 * answer["div"]


def _given(row: dict[str, Any]) -> dict[str, Any]:
    return dict(zip(("all", "div"), row["before"], strict=True))


def virtual_best(row: dict[str, Any], others: Sequence[str]) -> tuple[int, int, int]:
    """Return the least cost of the other peers' right results by each measure; the input's cost if there is none."""
    good = [measures(row["peers"][n]) for n in others if row["peers"].get(n, {}).get("state") == "ok"]
    a, d, c = (min(g[k] for g in good or [measures(_given(row))]) for k in range(3))
    return a, d, c


def beaten(row: dict[str, Any], name: str, names: Sequence[str]) -> bool:
    """Return whether another peer's result has no more operations, no more divisions, and fewer of one of them."""
    mine = measures(row["peers"][name])[:2]
    others = [n for n in names if not (name in OWN and n in OWN)]
    theirs = [measures(row["peers"][n])[:2] for n in others if row["peers"].get(n, {}).get("state") == "ok"]
    return any(a <= mine[0] and d <= mine[1] and (a, d) != mine for a, d in theirs)


# ------------------------------------------------------------------------------------------------------------- growth
def growth(p: Peer) -> list[dict[str, Any]]:
    """Return the times of a peer on the growing families, and the exponents fitted to them."""
    out = []
    for family, maps in (("terms", list(terms())), ("depths", list(depths()))):
        for kind in dict.fromkeys(m.name.split(",")[0] for m in maps):
            points = []
            stopped = ""
            for m in maps:
                if m.name.split(",")[0] != kind:
                    continue
                stopped = p.refuses(m)
                taken: list[float] = []
                while not stopped and len(taken) < 7 and sum(taken) <= 1:
                    found = once(p, m, first=False)
                    if "times" in found:
                        taken.append(found["times"][1])
                    else:
                        stopped = found["why"]
                if stopped:
                    break
                points.append((m.size, min(taken)))
            row = {"family": family, "kind": kind, "peer": p.name, "points": points, "stopped": stopped}
            out.append(row | {"exponent": slope(points), "tail": slope(points[len(points) // 2 :])})
    return out


def slope(points: Sequence[tuple[float, float]]) -> float | None:
    """Return the exponent ``p`` of the best fit of ``time = c * size**p``; needs three points."""
    if len(points) < 3:
        return None
    xs, ys = [math.log(x) for x, _ in points], [math.log(y) for _, y in points]
    mx, my = statistics.fmean(xs), statistics.fmean(ys)
    return sum((x - mx) * (y - my) for x, y in zip(xs, ys, strict=True)) / sum((x - mx) ** 2 for x in xs)


# ------------------------------------------------------------------------------------------------ ours: the checks
#: Functions of the kernel that generated code calls to check the left-hand side and the conditions.
CHECKS = (
    *("added", "at_most", "atoms", "coefficient", "constant", "contains", "descends", "differ", "divides", "equal"),
    *("is_multiple", "made_of", "normal", "size", "size_of_division", "size_of_extremum", "within"),
)  # fmt: skip


def checking(ours: Ours, name: str) -> float:
    """Return the share of the time on a corpus that rules spend on checking proposals, according to a profiler."""
    profile = cProfile.Profile()
    for m in corpus(name):
        ours.fresh()
        native = ours.convert(m)
        profile.enable()
        ours.simplify(native)
        profile.disable()
    stats = pstats.Stats(profile)
    spent = 0.0
    for (file, _, function), (_, _, own, _, callers) in stats.stats.items():
        if file.endswith("rules/compiled.py"):
            spent += own
        elif function in CHECKS:
            spent += sum(v[3] for (by, _, _), v in callers.items() if by.endswith("rules/compiled.py"))
    return spent / stats.total_tt


# ------------------------------------------------------------------------------------------- ours: what does nothing
def nothing_to_do(ours: Ours, names: Sequence[str]) -> dict[str, float]:
    """Return medians over corpora for simplifying a simplified map again, and for a pass that rewrites nothing."""
    again, per_node, nodes = [], [], []
    for m in [m for name in names for m in corpus(name)]:
        result = ours.simplify(ours.convert(m))
        done = ours.simplify(result)
        loops = 200
        taken = []
        gc.disable()
        for _ in range(5):
            start = time.perf_counter()
            for _ in range(loops):
                ours.simplify(done)
            taken.append((time.perf_counter() - start) / loops)
        gc.enable()
        again.append(min(taken))
        # the same map, built anew
        copy = Map(m.corpus, m.name, [(v.name, v.lo, v.hi) for v in done.variables], *_rewritten(ours, done))
        del result, done
        count = len(copy.program.live())
        seconds, unchanged = _fastest(ours, copy)
        if unchanged and count:
            per_node.append(seconds / count)
            nodes.append(count)
    return {
        "again_median": statistics.median(again),
        "again_worst": max(again),
        "pass_per_node_median": statistics.median(per_node),
        "pass_maps": len(per_node),
        "pass_nodes_median": statistics.median(nodes),
    }


def _fastest(ours: Ours, m: Map) -> tuple[float, bool]:
    """Return the least time of simplifying a map without caches, and whether its results are unchanged."""
    taken, unchanged = [], False
    for _ in range(5):
        native = after = None
        ours.fresh()
        native = ours.convert(m)
        gc.disable()
        start = time.perf_counter()
        after = ours.simplify(native)
        taken.append(time.perf_counter() - start)
        gc.enable()
        unchanged = after.results == native.results
    return min(taken), unchanged


def _rewritten(ours: Ours, m: Any) -> tuple[Program, list[tuple[int, int, int]]]:
    whole = ours.program(m, [*m.results, *(c.expr for c in m.constraints)])
    n = len(m.results)
    where = [(r, c.lo, c.hi) for r, c in zip(whole.roots[n:], m.constraints, strict=True)]
    return Program(whole.nodes, whole.roots[:n]), where


def big_pass(ours: Ours, count: int = 2_000) -> dict[str, float]:
    """Return the time per node of a pass without rewrites, over a map with many independent results in normal form."""
    rng = random.Random(5)
    b = Builder()
    roots, boxes = [], []
    for k in range(count // 6):
        x, y = b.var(f"d{2 * k}"), b.var(f"d{2 * k + 1}")
        boxes += [(f"d{2 * k}", 0, rng.randint(50, 90)), (f"d{2 * k + 1}", 0, rng.randint(50, 90))]
        roots.append(b.add(b.mul(b.fdiv(b.add(b.mul(x, 3), y), 7), 2), b.mod(y, 11)))
    m = Map("pass", "pass", boxes, b.program(roots))
    nodes = len(m.program.live())
    seconds, unchanged = _fastest(ours, m)
    return {"nodes": nodes, "per_node": seconds / nodes, "unchanged": unchanged}


# ------------------------------------------------------------------------------------------------------------- memory
def many_maps(ours: Ours, count: int) -> dict[str, Any]:
    """Simplify ``count`` distinct maps, keeping none; return resident memory over time.  Needs a process of its own."""
    rng = random.Random(1_000_000)
    seen: list[tuple[int, float]] = []
    start = time.perf_counter()
    spent = 0.0
    for k in range(count):
        m = distinct_map(rng, k)
        native = ours.convert(m)
        t = time.perf_counter()
        ours.simplify(native)
        spent += time.perf_counter() - t
        if (k + 1) % max(1, count // 20) == 0:
            seen.append((k + 1, resident()))
    return {
        "maps": count,
        "megabytes": seen,
        "peak": peak(),
        "seconds": time.perf_counter() - start,
        "seconds_simplifying": spent,
    }


def distinct_map(rng: random.Random, k: int) -> Map:
    """Return a reshape of a reshape with a shift by ``k``, so that no two maps are equal; sizes vary too."""
    b = Builder()
    p, q, r = rng.randint(2, 40), rng.randint(2, 40), rng.randint(2, 40)
    x, y, z = b.var("d0"), b.var("d1"), b.var("d2")
    position = b.add(b.add(b.mul(x, q * r), b.mul(y, r)), z, n=k)
    outer = b.add(b.mul(b.fdiv(position, r), r), b.mod(position, r))
    roots = [b.fdiv(outer, q * r), b.mod(b.fdiv(outer, r), q), b.mod(outer, r)]
    return Map("memory", str(k), [("d0", 0, p - 1), ("d1", 0, q - 1), ("d2", 0, r - 1)], b.program(roots))


def resident() -> float:
    """Return the resident memory of this process in megabytes."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except OSError:
        return peak()
    import resource

    return pages * resource.getpagesize() / 1e6


def peak() -> float:
    """Return the peak resident memory of this process in megabytes."""
    try:  # ``ru_maxrss`` of a child includes the process that it was forked from
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1e3
    except OSError:
        pass
    import resource

    unit = 1e6 if sys.platform == "darwin" else 1e3
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


# ------------------------------------------------------------------------------------------------------------ machine
def machine() -> dict[str, Any]:
    """Describe this machine."""
    import os

    cpu = platform.processor()
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                cpu = line.split(":", 1)[1].strip()
                break
    except OSError:
        pass
    return {
        "cores": os.cpu_count(),
        "cpu": cpu,
        "system": platform.system(),
        "python": platform.python_version(),
        "load": round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None,
    }


__all__ = [
    "big_pass",
    "corpus",
    "growth",
    "machine",
    "many_maps",
    "measure_corpus",
    "nothing_to_do",
    "summarise",
    "warm_up",
]
