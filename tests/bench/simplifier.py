"""The benchmark of the simplifier: ``python tests/bench/simplifier.py [--write]``; ``make bench`` runs it with ``--write``.

Measures this project and every installed peer in one run, and prints tables.  With ``--write`` it writes
``reports/simplifier_benchmark.md``, its plots and ``reports/benchmark/simplifier.json``.  ``--fast`` measures only the
fast simplifiers.  ``--fast --update reports/benchmark/simplifier.json --write`` takes the
figures of all others from that file, and states that on the page.  ``--held-out`` with the same file updates the sizes
of results on maps that are made with other seeds.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import measure
import page
import remote
from corpora import CORPORA, corpus
from peers import COMPARED, IN_PYTHON, PEERS, Native, Ours, Quick, available, how

ROOT = Path(__file__).resolve().parents[2]
#: Offsets that are added to the seeds of the corpora for held-out maps.
SHIFTS = (7_001, 7_002, 7_003, 7_004)
#: Families of growing maps have their own section.
FAMILIES = ("terms", "depths")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="write the page, the plots and the JSON")
    parser.add_argument("--fast", action="store_true", help="only the fast peers")
    parser.add_argument("--corpus", action="append", choices=[c for c in CORPORA if c not in FAMILIES])
    parser.add_argument("--peer", action="append", choices=[p.name for p in PEERS])
    parser.add_argument("--maps", type=int, help="how many maps the memory run simplifies (default 1,000,000)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write what was measured here as well")
    parser.add_argument("--draw", type=Path, metavar="JSON", help="measure nothing; page and plots from this file")
    parser.add_argument("--update", type=Path, metavar="JSON", help="take what is not measured now from this file")
    parser.add_argument(
        "--held-out",
        type=Path,
        metavar="JSON",
        help="measure only how large results are on maps made with other seeds; the rest from this file",
    )
    parser.add_argument("--shift", type=int, action="append", help="the seeds of those maps, added to the usual ones")
    args = parser.parse_args()
    sys.setrecursionlimit(20_000)

    if args.draw:
        data = page.expanded(args.draw.read_text("utf-8"))
    elif args.held_out:
        data = page.expanded(args.held_out.read_text("utf-8"))
        compared, _ = available([*COMPARED, Quick.name])
        data["held out"] = measure.held_out(compared, args.shift or SHIFTS)
    else:
        names = args.peer or ([p.name for p in PEERS if not p.slow] if args.fast else None)
        data = run(names, args.corpus, args.maps)
        if args.update:
            data = measure.renewed(page.expanded(args.update.read_text("utf-8")), data)
    stored = ROOT / "reports" / "benchmark" / "simplifier.json"
    if stored.exists() and not args.draw:
        before = page.goals(page.expanded(stored.read_text("utf-8"))).measured
        if before != page.goals(data).measured:
            data["before"] = before
    text = page.markdown(data)
    if args.json:
        args.json.write_text(page.compact(data), "utf-8")
    if args.write:
        stored.parent.mkdir(exist_ok=True)
        page.plots(data, stored.parent)
        stored.write_text(page.compact(data), "utf-8")
        (ROOT / "reports" / "simplifier_benchmark.md").write_text(text, "utf-8")
    else:
        print(text)


def run(names: list[str] | None, chosen: list[str] | None, maps: int | None) -> dict[str, object]:
    if hasattr(os, "sched_setaffinity"):
        # each peer has its own process, but all share one processor and its caches
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    peers, missing = remote.started(names)
    for name, why in missing.items():
        print(f"missing: {name} ({why})", file=sys.stderr)
    for p in peers:
        p.ask(measure.warm_up)
    data: dict[str, object] = {
        "machine": measure.machine(),
        "peers": {p.name: {"version": p.version, "note": p.note} for p in peers},
        "missing": missing,
        "corpora": {},
    }
    corpora: dict[str, object] = {}
    for name in chosen or [c for c in CORPORA if c not in FAMILIES]:
        rows = measure.measure_corpus(peers, corpus(name))
        corpora[name] = {"summary": measure.summarise(rows, [p.name for p in peers]), "rows": rows}
        print(f"measured {name}", file=sys.stderr)
    data["corpora"] = corpora
    if not chosen:
        grown = [g for p in peers if p.name != "xla" for g in p.ask(measure.growth)]
        data["growth"] = sorted(grown, key=lambda g: [h["kind"] for h in grown].index(g["kind"]))
        for p in peers:
            if p.name in IN_PYTHON:
                data["nothing" + how(p.name)] = p.ask(measure.nothing_to_do, list(corpora))
                data["pass" + how(p.name)] = p.ask(measure.big_pass)
    for p in peers:
        if p.name in (Ours.name, Quick.name):
            data["checking" + how(p.name)] = {c: p.ask(measure.checking, c) for c in corpora}
        p.close()
    if any(p.name in IN_PYTHON for p in peers) and (maps or not chosen):
        # in a new process, whose memory is that of these maps alone
        fresh = remote.started([Native.name])[0] or remote.started([Ours.name])[0]
        data["memory"] = {"peer": fresh[0].name, **fresh[0].ask(measure.many_maps, maps or 1_000_000)}
        fresh[0].close()
    return data


if __name__ == "__main__":
    main()
