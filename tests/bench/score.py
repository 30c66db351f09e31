"""Our simplifier against stored results of the peers: ``python score.py PEERS.json [--corpus NAME]... [--worst N]``.

The file is what ``dump.py`` wrote.  For each map the *virtual best* is the smallest result of all peers, for all
operations and for divisions separately; wrong results do not count, and a peer that gave up has the input.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from pathlib import Path
from typing import Any

from corpora import CORPORA, Map, corpus
from dump import disagreement
from measure import percentile
from peers import Ours, Peer
from programs import Program, cost


def best(record: dict[str, Any], key: str) -> tuple[int, str]:
    """The smallest ``cost_all`` or ``cost_div`` of the peers that answered rightly, and whose it is."""
    answers = [(p[key], n) for n, p in record["peers"].items() if p["state"] == "ok"]
    return min(answers) if answers else (record["input"][key == "cost_div"], "input")


def score(ours: Peer, maps: list[Map], stored: dict[str, Any]) -> list[dict[str, Any]]:
    """One row for each map."""
    rows = []
    for m in maps:
        record = stored.get(f"{m.corpus}/{m.name}")
        if record is None or record.get("digest", m.digest) != m.digest:
            continue
        native = ours.convert(m)
        start = time.perf_counter()
        result = ours.simplify(native)
        seconds = time.perf_counter() - start
        program = ours.back(result, m)
        c = cost(program)
        rows.append(
            {
                "map": m,
                "program": program,
                "all": c.all,
                "div": c.divisions,
                "seconds": seconds,
                "best_all": best(record, "cost_all"),
                "best_div": best(record, "cost_div"),
                "record": record,
                "wrong": disagreement(m, program),
            }
        )
    return rows


def summary(name: str, rows: list[dict[str, Any]]) -> str:
    n = len(rows) or 1
    sums = {k: sum(r[k] for r in rows) for k in ("all", "div")}
    vb = {k: sum(r["best_" + k][0] for r in rows) for k in ("all", "div")}
    good = {k: sum(r[k] <= r["best_" + k][0] for r in rows) for k in ("all", "div")}
    both = sum(all(r[k] <= r["best_" + k][0] for k in ("all", "div")) for r in rows)
    wrong = sum(bool(r["wrong"]) for r in rows)
    times = sorted(r["seconds"] for r in rows) or [0.0]
    tvm = [r["record"]["peers"].get("tvm", {}).get("cold") for r in rows]
    pairs = [t for t in tvm if t is not None]
    reference = statistics.median(pairs) if pairs else 0.0
    parts = [f"{name:13} {len(rows):4} maps"]
    parts += [
        f"{k} {sums[k]:5} vb {vb[k]:5} ({sums[k] / max(vb[k], 1):.3f}, {100 * good[k] / n:5.1f}%)"
        for k in ("all", "div")
    ]
    parts.append(f"both {100 * both / n:5.1f}%  wrong {wrong}")
    parts.append(f"median {1e6 * statistics.median(times):.0f} us, p95 {1e6 * percentile(times, 0.95):.0f}")
    return "  ".join(parts) + f"  (stored tvm {1e6 * reference:.0f})"


def explain(r: dict[str, Any]) -> str:
    m = r["map"]
    lines = [
        f"--- {m.corpus}/{m.name}",
        "    " + ", ".join(f"{n} in [{lo}, {hi}]" for n, lo, hi in m.vars[:12]),
    ]
    for c, lo, hi in m.constraints[:6]:
        lines.append(f"    where {Program(m.program.nodes, [c]).text(200)} in [{lo}, {hi}]")
    lines.append(f"    before {m.program.text(300)}")
    lines.append(f"    ours   {r['all']:3}/{r['div']:2}  {r['program'].text()}")
    for key in ("best_all", "best_div"):
        name = r[key][1]
        peer = r["record"]["peers"].get(name)
        text = Program.from_json(peer["program"]).text() if peer else "(the input)"
        mark = f"{peer['cost_all']:3}/{peer['cost_div']:2}" if peer else ""
        lines.append(f"    {name:6} {mark}  {text}")
        if r["best_all"][1] == r["best_div"][1]:
            break
    if r["wrong"]:
        lines.append(f"    WRONG: {r['wrong']}")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("file", type=Path)
    parser.add_argument("--corpus", action="append", choices=list(CORPORA))
    parser.add_argument(
        "--worst", type=int, default=3, help="how many of the worst maps of each corpus to show"
    )
    parser.add_argument("--by", choices=["all", "div"], default="all")
    args = parser.parse_args()
    stored = json.loads(args.file.read_text())["maps"]
    ours = Ours()
    for name in args.corpus or CORPORA:
        rows = score(ours, corpus(name), stored)
        print(summary(name, rows), flush=True)
        other = "div" if args.by == "all" else "all"
        rows.sort(
            key=lambda r: (
                not r["wrong"],
                -(r[args.by] - r["best_" + args.by][0]),
                -(r[other] - r["best_" + other][0]),
            )
        )
        for r in rows[: args.worst]:
            if r["wrong"] or r["all"] > r["best_all"][0] or r["div"] > r["best_div"][0]:
                print(explain(r))


if __name__ == "__main__":
    main()
