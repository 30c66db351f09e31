"""The page, the plots and the JSON of the benchmark, made from the measurements."""

from __future__ import annotations

import json
import math
import statistics
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from measure import MEASURES, measures, summarise
from peers import OWN, how

OURS, NATIVE, QUICK, QUICK_NATIVE, LIBRARY, QUICK_LIBRARY = OWN
#: Variants with the same results as pure Python.
COMPILED = (NATIVE, QUICK_NATIVE, LIBRARY, QUICK_LIBRARY)
#: The names of corpora on the page.
TITLES = {
    "published": "published examples",
    "xla": "XLA pairs",
    "chains": "chains",
    "tiles": "tiled layouts",
    "convolutions": "convolutions",
    "threads": "threads and blocks",
}
ABOUT = {
    "published": "the worked examples of the published descriptions of XLA's simplifier",
    "xla": "what XLA composed for 250 random fusions, with the domain it stated",
    "chains": "reshape, transpose, slice, pad, reverse, broadcast: depth 2 to 8, rank 1 to 6",
    "tiles": "one- and two-level tilings such as (8,128)(2,1): index to offset, back, there and back, tiling to tiling",
    "convolutions": "strided and dilated windows over padded and dilated inputs, with chains behind and before",
    "threads": "block, thread, vector lane and unrolled step to an output position, on to an operand",
}


# -------------------------------------------------------------------------------------------------------------- words
def duration(seconds: float) -> str:
    if math.isnan(seconds):
        return "-"
    for unit, scale in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds * 1e6:.3g} µs" if seconds >= 1e-6 else f"{seconds * 1e9:.0f} ns"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Return a table in Markdown; columns of figures are right-aligned."""
    rows = list(rows)
    figures = [all(r[k][:1] in "0123456789-≤≥<" for r in rows) for k in range(len(head))]
    return [
        "| " + " | ".join(head) + " |",
        "| " + " | ".join("---:" if f else "---" for f in figures) + " |",
        *("| " + " | ".join(r) + " |" for r in rows),
        "",
    ]


def prose(text: str, mark: str = "") -> list[str]:
    """Return a wrapped paragraph and an empty line."""
    words = " ".join(text.split())
    return [
        *textwrap.wrap(words, 120, initial_indent=mark, subsequent_indent=" " * len(mark), break_on_hyphens=False),
        "",
    ]


def percent(share: float) -> str:
    """Format a share as a percentage, rounded down, so that 100% means all."""
    return f"{math.floor(share * 1000) / 10:g}%"


def rest(share: float) -> str:
    """Format the complement of a share as a percentage, rounded up."""
    return f"{math.ceil(round((1 - share) * 1000, 6)) / 10:g}%"


def ratio(a: float, b: float) -> str:
    return f"{a / b:.2f}" if b else ("1.00" if a == b else "-")


def against(cost: float, best: float, at_best: float) -> str:
    """Format a cost as a multiple of the best, with the share of maps that are no larger."""
    return f"{ratio(cost, best)} ({percent(at_best)})"


def section(title: str, text: str, picture: str = "", shows: str = "") -> list[str]:
    """Return the head of a section: title, text, and a picture."""
    drawn = [f"![{shows}](benchmark/{picture}.svg)", ""] if picture else []
    return [f"## {title}", "", *prose(text), *drawn]


# --------------------------------------------------------------------------------------------------------------- page
def markdown(data: dict[str, Any]) -> str:
    m = data["machine"]
    corpora = {c: d["summary"] for c, d in data["corpora"].items()}
    names = list(data["peers"])
    out = [
        "# The simplifier against other simplifiers",
        "",
        *prose(
            """Written by `make bench`, which measures this project and every installed peer in one run, each in a process
            of its own and all on the same processor: map by map, in an order that is shuffled anew for every round,
            so that nobody finds its caches as it left them, the garbage
            collector off during a call. Times are processor time of one call of the
            simplifier on one map. *Cold*: a new analyzer or context, told the boxes and the constraints, and
            nothing remembered of any map; the peer's own expressions are built before (*convert*). *Warm*: the
            same call again on the same objects."""
        ),
        f"Machine: {m['cores']} cores, {m['cpu']}, {m['system']}, Python {m['python']}; load {m['load']} at the start.",
        "",
        *table(
            ["peer", "version", "how it is asked"],
            [[n, d["version"] or "-", d["note"]] for n, d in data["peers"].items()],
        ),
    ]
    if "renewed" in data:
        others = ", ".join(n for n in names if n not in data["renewed"])
        if not data["all renewed"]:
            others += ", of growth, of memory and of passes that find nothing"
        where = "another machine, whose times are left out" if data["elsewhere"] else "the same machine"
        out += prose(
            f"""What is said of {others} is taken from an earlier run on {where}
            (`python tests/bench/simplifier.py --fast --update reports/benchmark/simplifier.json --write`)."""
        )
    if data["missing"]:
        out += [f"Not installed, and so not measured: {', '.join(sorted(data['missing']))}.", ""]
    out += _goals(data, corpora)
    out += _corpora(corpora)
    out += _size(corpora, [n for n in names if n not in COMPILED])
    if "held out" in data:
        out += _held_out(data["held out"])
    out += _time(corpora, names)
    out += _wrong(data, corpora, names)
    if "growth" in data:
        out += _growth(data)
    out += _rest(data)
    out += _method()
    while out[-1] == "":
        out.pop()
    return "\n".join(out) + "\n"


@dataclass
class Goals:
    """Each goal with its measurements by corpus; the empty name means all corpora."""

    rows: dict[tuple[str, str], dict[str, tuple[bool, str]]] = field(default_factory=dict)

    def add(self, what: str, limit: str, met: bool, shown: str, on: str = "") -> None:
        self.rows.setdefault((what, limit), {})[on] = met, shown

    def against_best(self, what: str, on: str, mine: float, best: float, share: float) -> None:
        self.add(f"{what}: sum, of the virtual best", "≤ 1", mine <= best, f"{mine / max(best, 1):.3f}", on)
        self.add(f"{what}: maps that the virtual best beats", "≤ 3%", share >= 0.97, rest(share), on)

    @property
    def measured(self) -> dict[str, dict[str, str]]:
        """The text of each table cell, by goal and corpus."""
        return {what: {c: shown for c, (_, shown) in row.items()} for (what, _), row in self.rows.items()}


def goals(data: dict[str, Any]) -> Goals:
    """Return the goals of the simplifier with the measurements of a run."""
    corpora = {c: d["summary"] for c, d in data["corpora"].items()}
    found = Goals()
    for c, summary in corpora.items():
        p = _found(corpora, c, OURS)
        for k, label in enumerate(MEASURES if "cost" in p else ()):
            found.against_best(label, c, p["cost"][k], p["best"][k], p["at_best"][k])
        for what, a in summary.get("asked", {}).items():
            value = a["cost"][MEASURES.index(what)]
            found.against_best(f"{what} where they are asked for", c, value, a["best"], a["at_best"])
        if "beaten" in p and p["ok"]:
            share = 1 - p["beaten"] / p["ok"]
            found.add("maps of which one result is better in both", "≤ 3%", share >= 0.97, rest(share), c)
        p = _found(corpora, c, QUICK)
        if "cost" in p:
            # normal forms are compared by the documented cost alone
            found.against_best("documented cost, quick", c, p["cost"][-1], p["best"][-1], p["at_best"][-1])
    for name in OWN:
        if name in data["peers"]:
            _time_goals(name, corpora, found)
    _against_xla(data, found)
    for pure, native in ((OURS, NATIVE), (QUICK, QUICK_NATIVE)):
        asked = data.get("renewed", data["peers"])
        if {pure, native} <= data["peers"].keys() and (pure in asked) == (native in asked):
            both = [[r["peers"][n] for n in (pure, native)] for d in data["corpora"].values() for r in d["rows"]]
            n = sum(any(a[k] != b[k] for k in ("state", "all", "div")) for a, b in both)
            found.add(f"maps of another size with the native core{how(pure)}", "0", n == 0, str(n))
    wrong = sum(_found(corpora, c, n).get("wrong", 0) for c in corpora for n in OWN)
    wrong += sum(a["wrong"] for s in corpora.values() for a in s.get("asked", {}).values())
    found.add("wrong answers", "0", wrong == 0, str(wrong))
    for core in map(how, OWN):
        if n := data.get("nothing" + core):
            value = n["again_median"]
            found.add(f"an already simplified map, median{core}", "≤ 1 µs", value <= 1e-6, duration(value))
        if n := data.get("pass" + core):
            value, limit = n["per_node"], 30e-9 if "native" in core else 0.6e-6
            what = f"a pass that finds nothing, per node{core}"
            found.add(what, f"≤ {duration(limit)}", value <= limit, duration(value))
    grown = {
        f"{g['family']}, {g['kind']}": max(g["exponent"], g["tail"] or 0)
        for g in data.get("growth", ())
        if g["peer"] == OURS and g["exponent"] is not None
    }
    if grown:
        worst = max(grown, key=lambda g: grown[g])
        shown = f"{grown[worst]:.2f} ({worst})"
        found.add("growth of time: largest exponent of a family", "< 1.2", grown[worst] < 1.2, shown)
    if n := data.get("memory"):
        what = f"memory for {n['maps']:,} distinct maps{how(n.get('peer', OURS))}"
        found.add(what, "< 200 MB", n["peak"] < 200, f"{n['peak']:.0f} MB")
    return found


def _against_xla(data: dict[str, Any], found: Goals) -> None:
    xla = data["corpora"].get("xla")
    if not (xla and "xla" in data["peers"] and OURS in data["peers"]):
        return
    pairs = [(r["peers"][OURS], r["peers"]["xla"]) for r in xla["rows"]]
    pairs = [(a, b) for a, b in pairs if a["state"] == b["state"] == "ok"]
    dearer = sum(measures(a)[-1] > measures(b)[-1] for a, b in pairs)
    found.add("maps that cost more than XLA's result", "0", dearer == 0, str(dearer))
    asked = [
        (r["asked"]["operations"], r["peers"]["xla"])
        for r in xla["rows"]
        if "asked" in r and r["peers"]["xla"]["state"] == "ok"
    ]
    if asked:
        n = sum(a["all"] > b["all"] or a["div"] > b["div"] for a, b in asked)
        what = "maps with more operations or divisions than XLA's result, operations asked for"
        found.add(what, "0", n == 0, str(n))
    fewer = 1 - sum(a["div"] for a, _ in pairs) / max(1, sum(b["div"] for _, b in pairs))
    found.add("fewer divisions than XLA", "≥ 15%", fewer >= 0.15, percent(fewer))


def _goals(data: dict[str, Any], corpora: dict[str, Any]) -> list[str]:
    found = goals(data)
    before = data.get("before", {})

    def cell(what: str, c: str, row: dict[str, tuple[bool, str]]) -> str:
        if c not in row:
            return ""
        met, shown = row[c]
        was = before.get(what, {}).get(c, shown)
        return (shown if met else f"**{shown}**") + (f" ({was})" if was != shown else "")

    names = [c for c in corpora if any(c in row for row in found.rows.values())]
    each = [
        [what, limit, *(cell(what, c, row) for c in names)]
        for (what, limit), row in found.rows.items()
        if "" not in row
    ]
    whole = [[what, limit, cell(what, "", row)] for (what, limit), row in found.rows.items() if "" in row]
    reached = sum(all(met for met, _ in row.values()) for row in found.rows.values())
    said = "What does not meet its goal is bold; what the version before measured, where it differs, is in brackets."
    return [
        *section(f"Goals: {reached} of {len(found.rows)} met everywhere", said),
        *(table(["goal", "limit", *(TITLES[c] for c in names)], each) if each else []),
        *table(["goal", "limit", "measured"], whole),
    ]


def _found(corpora: dict[str, Any], c: str, name: str) -> dict[str, Any]:
    """Return the summary of one peer on one corpus."""
    found: dict[str, Any] = corpora.get(c, {}).get("peers", {}).get(name, {})
    return found


#: The limits on medians, on medians for tiled layouts, and on 95th percentiles, as shares of TVM's.
LIMITS = {
    NATIVE: (0.4, 0.8, 0.16),
    QUICK_NATIVE: (0.16, 0.5, 0.06),
    LIBRARY: (0.2, 0.4, 0.08),
    QUICK_LIBRARY: (0.08, 0.25, 0.03),
}
#: The limits on pure Python are the times of an earlier version on each corpus.
PURE = {"chains": 1.90, "tiles": 2.50, "convolutions": 1.62, "threads": 1.96}


def _time_goals(name: str, corpora: dict[str, Any], found: Goals) -> None:
    core = how(name)
    median, tiles, p95 = LIMITS.get(name, (0.0, 0.0, 1.42))
    limits = {c: tiles if c == "tiles" else median for c in PURE} if name in LIMITS else PURE
    told = f"≤ {median}, tiled layouts {tiles}"
    if name not in LIMITS:
        told = "≤ " + ", ".join(f"{limit} ({TITLES[c]})" for c, limit in PURE.items())
    for c in PURE if name != QUICK else ():
        r = _found(corpora, c, name).get("to_tvm")
        if r:
            what = f"median cold time, of TVM's{core}"
            found.add(what, told, r["median"] <= limits[c], f"{r['median']:.2f}", c)
        if r and c != "tiles" and (name in LIMITS or c == "chains"):
            what = f"p95 of the cold time, of TVM's{core}"
            found.add(what, f"≤ {p95}", r["p95"] <= p95, f"{r['p95']:.2f}", c)
    for peer, factor in (("tinygrad", 60), ("inductor", 300)) if name == NATIVE else ():
        for c in corpora:
            a, b = _found(corpora, c, name).get("cold"), _found(corpora, c, peer).get("cold")
            if a and b and c != "published":
                x = b["median"] / a["median"]
                what = f"median, times faster than {peer}{core}"
                found.add(what, f"≥ {factor}", x >= factor, f"{x:.0f}", c)


def _corpora(corpora: dict[str, Any]) -> list[str]:
    rows = [
        [TITLES[c], str(s["maps"]), f"{s['before'][0]:,}", f"{s['before'][1]:,}", ABOUT[c]] for c, s in corpora.items()
    ]
    return ["## Corpora", "", *table(["corpus", "maps", "operations", "divisions", "what it holds"], rows)]


def _size(corpora: dict[str, Any], names: Sequence[str]) -> list[str]:
    out = section(
        "Size of the results",
        """Cost summed over the maps, as a multiple of the *virtual best*: for each map the smallest right
            result among all peers (ours is not one of them), for all operations, for divisions (`floordiv` and
            `mod`) and for the documented cost, in which a division counts three, each by itself. In brackets the
            share of maps that are no larger. A map that a peer did not answer, or answered wrongly, counts as it
            was given. The native core is left out: its results are the same. Operations and divisions trade
            against each other, so often nobody has the least of both: a map is *beaten* if one result of another
            peer has no more of either and less of one.""",
        "cost_against_best",
        "cost of results as a multiple of the virtual best",
    )
    for k, label in enumerate(("All operations", "Divisions", "Documented cost")):
        found = {n: [_found(corpora, c, n) for c in corpora] for n in names}
        rows = [
            [n, *(against(p["cost"][k], p["best"][k], p["at_best"][k]) if "cost" in p else "-" for p in of)]
            for n, of in found.items()
        ]
        rows.append(["virtual best, sum", *(f"{s['best'][k]:,}" for s in corpora.values())])
        given = [measures(dict(zip(("all", "div"), s["before"], strict=True)))[k] for s in corpora.values()]
        rows.append(["as given, sum", *(f"{n:,}" for n in given)])
        out += [f"**{label}**", "", *table(["peer", *(TITLES[c] for c in corpora)], rows)]
    rows = [[n, *(f"{p['beaten']} of {p['ok']}" if p.get("ok") else "-" for p in of)] for n, of in found.items()]
    out += ["**Beaten maps**", "", *table(["peer", *(TITLES[c] for c in corpora)], rows)]
    return out + _asked(corpora)


def _held_out(found: dict[str, Any]) -> list[str]:
    """Return the section on the sizes of results for maps that are made with other seeds."""
    rows = []
    for c, s in found["corpora"].items():
        for n in (OURS, QUICK):
            own = s["peers"].get(n)
            if own is not None:
                shares = [against(*of) for of in zip(own["cost"], s["best"], own["at_best"], strict=True)]
                what = TITLES[c] + how(n)
                rows.append([what, f"{s['maps']:,}", *shares, f"{own['beaten']} of {own['ok']}"])
    peers = ", ".join(n for n in found["peers"] if n not in OWN)
    return [
        "### Maps made with other seeds",
        "",
        *prose(
            f"""What is found by looking at the maps of a benchmark may be of use for those alone. So the same generators
            make more of them, with {", ".join(map(str, found["shifts"]))} added to their seeds, which were first looked
            at to write this table (`python tests/bench/simplifier.py --held-out reports/benchmark/simplifier.json
            --write`). The virtual best is that of {peers}; sympy and Inductor, which take longest, are left out."""
        ),
        *table(["corpus", "maps", "operations", "divisions", "documented cost", "beaten"], rows),
    ]


def _asked(corpora: dict[str, Any]) -> list[str]:
    """Return the section on our results with few operations, or few divisions, as the aim."""
    rows = []
    for k, what in enumerate(MEASURES):
        found = [s.get("asked", {}).get(what) for s in corpora.values()]
        if not any(found):
            continue
        cells = [
            f"{against(a['cost'][k], a['best'], a['at_best'])}; {a['cost'][0]:,} / {a['cost'][1]:,}" if a else "-"
            for a in found
        ]
        rows.append([f'{what} (`minimize="{what}"`)', *cells])
    if not rows:
        return []
    return [
        *prose(
            """What a division weighs can be said: 3 is the documented cost, by which the tables above were made. Where
            few operations or few divisions are asked for, against the virtual best by that measure, in brackets the
            share of maps that are no larger; then operations and divisions, summed."""
        ),
        *table(["asked for", *(TITLES[c] for c in corpora)], rows),
    ]


def _time(corpora: dict[str, Any], names: Sequence[str]) -> list[str]:
    out = [
        "## Time",
        "",
        "![time against size](benchmark/time_against_size.svg)",
        "",
        *prose(
            """Median and 95th percentile over the maps of each corpus; the time of a map is the median of up to
            seven rounds. The columns on the right are ratios to tvm on the maps that both answered: of the
            medians, of the 95th percentiles, and the median of the ratios map by map."""
        ),
    ]
    for c, s in corpora.items():
        rows = []
        for n in names:
            p = s["peers"].get(n, {})
            if "cold" not in p:
                continue
            t = p.get("to_tvm")
            times = [p[what][k] for what in ("cold", "warm") for k in ("median", "p95")]
            times.append(p["convert"]["median"])
            ratios = [f"{t[k]:.2f}" for k in ("median", "p95", "per_map")] if t else ["-"] * 3
            rows.append([n, *map(duration, times), *ratios])
        head = ["peer", "cold", "cold p95", "warm", "warm p95", "convert"]
        head += ["cold / tvm", "p95 / tvm", "by map"]
        out += [f"**{TITLES[c]}**", "", *table(head, rows)]
    return out


def _wrong(data: dict[str, Any], corpora: dict[str, Any], names: Sequence[str]) -> list[str]:
    out = section(
        "Answers",
        """Every result is evaluated on all points of the domain where the box has at most 20,000, otherwise on
            those of 20,000 random points and corners of the box that lie in it; *wrong* differs from the map
            somewhere. *Gave up* is the peer's limit of time or of its own steps.""",
    )
    states = ("ok", "wrong", "gave up", "failed", "refused")
    rows = []
    for n in names:
        counts = [sum(s["peers"].get(n, {}).get(k, 0) for s in corpora.values()) for k in states]
        rows.append([n, *(str(x) for x in counts)])
    out += table(["peer", "right", "wrong", "gave up", "failed", "not asked"], rows)
    shown = []
    for c, d in data["corpora"].items():
        for r in d["rows"]:
            for n, p in r["peers"].items():
                if p["state"] == "wrong" and sum(1 for s in shown if s[0] == n) < 2:
                    shown.append((n, f"- `{n}` on {TITLES[c]}, {r['name']}: {p.get('why', '')}"))
    return out + ([line for _, line in shown] + [""] if shown else [])


def _growth(data: dict[str, Any]) -> list[str]:
    out = section(
        "Growth",
        """Families of growing maps: a sum of up to 1,000 terms under a quotient and a remainder (*digits*:
            coefficients 4 to 32; *loose*: 1 to 40), and chains of up to 64 reshapes (*transpose*: with
            transposes between). The exponent is the slope of the logarithm of the cold time (best of seven)
            against the logarithm of the size; *tail* is that of the larger half. A chain shares its nodes; as a
            tree it grows exponentially, which is what stops simplifiers that walk trees.""",
        "growth",
        "time on growing maps",
    )
    rows = []
    for g in data["growth"]:
        if g["points"]:
            size, seconds = g["points"][-1]
            slopes = ["-" if g[k] is None else f"{g[k]:.2f}" for k in ("exponent", "tail")]
            row = [f"{g['family']}, {g['kind']}", g["peer"], *slopes, str(size), duration(seconds)]
            rows.append([*row, g["stopped"].replace("|", "/")])
    return out + table(["family", "peer", "exponent", "tail", "largest", "time there", "stopped by"], rows)


def _rest(data: dict[str, Any]) -> list[str]:
    out: list[str] = []
    if "nothing" in data:
        out += ["## Where there is nothing to do", ""]
    for name in OWN:
        core = how(name)
        if "nothing" + core in data:
            n, p = data["nothing" + core], data["pass" + core]
            out += prose(
                f"""`{name}`: an already simplified map comes back in
                {duration(n["again_median"])} (median of all corpora; worst {duration(n["again_worst"])}). A pass that
                finds nothing, over one map of {p["nodes"]:,} nodes, costs {duration(p["per_node"])} a node; over the
                simplified maps of the corpora, of {n["pass_nodes_median"]:.0f} nodes in the median,
                {duration(n["pass_per_node_median"])} a node, everything included."""
            )
    if "checking" in data:
        shares = [
            f"{percent(min(s))} to {percent(max(s))} of the time of a corpus{core}"
            for core in map(how, OWN)
            if (s := data.get("checking" + core, {}).values())
        ]
        out += section(
            "What the checks cost",
            f"""The code of a rule establishes its left side and every condition on the value at hand before it builds
                the right side. That takes {"; ".join(shares)}, as a profiler sees it, which makes short calls look longer
                than they are. No option switches it off.""",
        )
    if "memory" in data:
        n = data["memory"]
        marks = n["megabytes"]
        out += section(
            "Memory",
            f"""{n["maps"]:,} distinct maps, simplified by {n.get("peer", OURS)} and let go in one process:
                {marks[0][1]:.0f} MB resident after {marks[0][0]:,}, {marks[-1][1]:.0f} MB at the end,
                {n["peak"]:.0f} MB at the peak; {duration(n["seconds_simplifying"] / n["maps"])} of simplification each.""",
        )
    return out


def _method() -> list[str]:
    points = (
        """Our results are read as our code generator writes them (`core/codegen/program.py`), which adds what has the same
        factor before it multiplies, as the results of other peers have it.""",
        """Maps come from seeded generators that use no simplifier (`tests/bench/corpora.py`); only literals and
        neutral elements are folded. Each peer gets the same nodes, shared where the map shares them.""",
        """One cost function reads every result in one neutral form (`tests/bench/programs.py`): the operations of
        a straight-line program for all results of the map, equal nodes once. `floordiv`, `mod`, `min`, `max`, a
        comparison and `select` are one each; a product with a literal is one; a sum of n terms is n - 1 in any
        grouping, subtractions included; a factor -1 is free where there is something to subtract from. A shift
        is a `floordiv`, a mask of low bits is a `mod`, tinygrad's `~max(~a, ~b)` is a `min`, Inductor's
        `ModularIndexing(x, d, m)` is a `floordiv` and a `mod`, isl's exact division is a `floordiv`.""",
        """Whatever facts a peer can take it is given: constraints go to tvm as scopes, to its iter-map as the
        predicate, to tinygrad through `uop_given_valid`, to isl as the context. sympy and Inductor have no
        place for them; sympy knows only the signs.""",
        """sympy, Inductor and tinygrad are stopped by a time limit (3, 5 and 20 s of processor time a map), isl by
        its own count of operations, tvm by the size of the map as a tree. Simplifiers that need more than 50 ms for
        a map are measured once on it, others up to seven times.""",
        """The virtual best has the better of all peers, and of three ways of asking tvm, for each map and each measure.""",
    )
    listed = [line for p in points for line in prose(p, "- ")[:-1]]
    again = prose(
        """To repeat it: `make bench` (all peers but Inductor are in the extra `bench`; Inductor needs `pip install
        torch`, whose CPU build is enough), or `python tests/bench/simplifier.py --fast` for the fast peers
        alone."""
    )
    return ["## How it is made fair", "", *listed, "", *again]


# --------------------------------------------------------------------------------------------------------------- JSON
_FIELDS = ("all", "div", "convert", "cold", "warm")


def compact(data: dict[str, Any]) -> str:
    """Return the JSON with one map per line, so that diffs stay readable.

    In a row a peer has ``[all, div, convert, cold, warm]`` with times in microseconds, followed by the error of a wrong
    result; or ``[state, why]`` without a result; or no entry if it was not asked.  An entry of ``asked`` is
    ``[all, div]``, followed by the error of a wrong result.
    """
    lines = ["{"]
    for k, v in data.items():
        if k != "corpora":
            lines.append(f" {json.dumps(k)}: {json.dumps(_rounded(v), ensure_ascii=False)},")
    lines.append(' "corpora": {')
    for i, (c, d) in enumerate(data["corpora"].items()):
        lines.append(f'  {json.dumps(c)}: {{"summary": {json.dumps(_rounded(d["summary"]), ensure_ascii=False)},')
        lines.append('   "rows": [')
        rows = []
        for r in d["rows"]:
            found = {n: _packed(p) for n, p in r["peers"].items() if p["state"] != "refused"}
            row = {"name": r["name"], "before": r["before"], "peers": found}
            if "asked" in r:
                row["asked"] = {
                    what: [a["all"], a["div"], *([a["why"]] if a["why"] else [])] for what, a in r["asked"].items()
                }
            rows.append("    " + json.dumps(row, ensure_ascii=False, separators=(",", ":")))
        lines.append(",\n".join(rows))
        lines.append("   ]}" + ("," if i + 1 < len(data["corpora"]) else ""))
    lines += [" }", "}", ""]
    return "\n".join(lines)


def _packed(p: dict[str, Any]) -> list[Any]:
    if p["state"] not in ("ok", "wrong"):
        return [p["state"], p.get("why", "")]
    times = [float(f"{p[k] * 1e6:.3g}") if k in p else None for k in _FIELDS[2:]]
    packed = [p["all"], p["div"], *(int(t) if t is not None and t >= 100 else t for t in times)]
    return packed + ([p["why"]] if p["state"] == "wrong" else [])


def expanded(text: str) -> dict[str, Any]:
    """Read the output of :func:`compact`: the measurements, rounded."""
    data: dict[str, Any] = json.loads(text)
    for d in data["corpora"].values():
        for r in d["rows"]:
            for n, p in r["peers"].items():
                if isinstance(p[0], str):
                    r["peers"][n] = {"state": p[0], "why": p[1]}
                    continue
                r["peers"][n] = {"state": "wrong" if len(p) > 5 else "ok", "all": p[0], "div": p[1]}
                times = zip(_FIELDS[2:], p[2:5], strict=True)
                r["peers"][n] |= {k: t * 1e-6 for k, t in times if t is not None}
                if len(p) > 5:
                    r["peers"][n]["why"] = p[5]
            for what, a in r.get("asked", {}).items():
                why = a[2] if len(a) > 2 else ""
                r["asked"][what] = {"all": a[0], "div": a[1], "state": "wrong" if why else "ok", "why": why}
        d["summary"] = summarise(d["rows"], list(data["peers"]))
    return data


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return float(f"{value:.3g}")
    if isinstance(value, dict):
        return {k: _rounded(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_rounded(v) for v in value]
    return value


# -------------------------------------------------------------------------------------------------------------- plots
COLOURS = {"indexproof": "#c0392b", "indexproof-native": "#e8776a", "indexproof-quick": "#7d1d12"}
COLOURS |= {
    "indexproof-quick-native": "#b5651d",
    "indexproof-library": "#d98880",
    "indexproof-quick-library": "#935116",
}
COLOURS |= {"xla": "#555555", "tvm": "#1f5fa8", "tvm-steps": "#6fa3d8"}
COLOURS |= {"tvm-itermap": "#16a0a0", "tinygrad": "#e08e0b", "isl": "#2e8b57", "sympy": "#8e6bbf"}
COLOURS |= {"inductor": "#b5527f"}


def plots(data: dict[str, Any], folder: Path) -> None:
    """Return the SVG files.  Raises :class:`ImportError` without matplotlib."""
    import matplotlib

    matplotlib.use("svg")
    import matplotlib.pyplot as plt

    look = {"svg.hashsalt": "indexproof", "svg.fonttype": "none", "font.size": 9, "legend.frameon": False}
    look |= {"axes.spines.top": False, "axes.spines.right": False, "axes.grid": True, "axes.axisbelow": True}
    plt.rcParams.update(look | {"grid.color": "#e4e4e4", "grid.linewidth": 0.6})

    def save(figure: Any, name: str) -> None:
        figure.savefig(folder / name, metadata={"Date": None, "Creator": None}, bbox_inches="tight")
        plt.close(figure)

    _plot_time(data, plt, save)
    _plot_cost(data, plt, save)
    if "growth" in data:
        _plot_growth(data, plt, save)


def _plot_time(data: dict[str, Any], plt: Any, save: Any) -> None:
    figure, axes = plt.subplots(figsize=(8, 4.6))
    rows = [r for d in data["corpora"].values() for r in d["rows"]]
    for n in data["peers"]:
        points = sorted(
            (r["before"][0], r["peers"][n]["cold"])
            for r in rows
            if r["before"][0] and "cold" in r["peers"].get(n, {}) and n != "xla"
        )
        if not points:
            continue
        xs, mid, low, high = _binned(points)
        axes.plot(xs, mid, marker="o", ms=3, lw=1.4, color=COLOURS.get(n), label=n, zorder=3 if n == OURS else 2)
        if n in (OURS, "tvm"):
            axes.fill_between(xs, low, high, color=COLOURS.get(n), alpha=0.12, lw=0)
    axes.set(xscale="log", yscale="log", xlabel="operations of the map as given", ylabel="seconds, cold")
    axes.xaxis.set_major_formatter("{x:g}")
    axes.set_title(
        "Time of one map against its size: median; for indexproof and tvm the middle 90 percent",
        loc="left",
        fontsize=10,
    )
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    save(figure, "time_against_size.svg")


def _binned(points: Sequence[tuple[float, float]]) -> tuple[list[float], list[float], list[float], list[float]]:
    """Return for each bin of sizes (six a decade) its geometric middle, and median and 5th and 95th percentiles."""
    bins: dict[int, list[tuple[float, float]]] = {}
    for x, y in points:
        bins.setdefault(math.floor(6 * math.log10(x)), []).append((x, y))
    xs, mid, low, high = [], [], [], []
    for _, inside in sorted(bins.items()):
        if len(inside) < 3:
            continue
        ys = sorted(y for _, y in inside)
        xs.append(math.exp(statistics.fmean(math.log(x) for x, _ in inside)))
        mid.append(statistics.median(ys))
        low.append(ys[int(0.05 * (len(ys) - 1))])
        high.append(ys[math.ceil(0.95 * (len(ys) - 1))])
    return xs, mid, low, high


def _plot_cost(data: dict[str, Any], plt: Any, save: Any) -> None:
    corpora = [c for c in data["corpora"] if c != "published"] or list(data["corpora"])
    names = [n for n in data["peers"] if n not in ("tvm-steps", *COMPILED)]
    figure, both = plt.subplots(2, 1, figsize=(9, 6), sharex=True)
    width = 0.8 / len(names)
    for k, (axes, label) in enumerate(zip(both, ("all operations", "divisions"), strict=True)):
        for i, n in enumerate(names):
            heights, places = [], []
            for at, c in enumerate(corpora):
                p = data["corpora"][c]["summary"]["peers"].get(n, {})
                if "cost" in p and p["best"][k]:
                    heights.append(p["cost"][k] / p["best"][k])
                    places.append(at - 0.4 + (i + 0.5) * width)
            axes.bar(places, heights, width * 0.92, color=COLOURS.get(n), label=n)
        axes.axhline(1, color="black", lw=1)
        axes.set_ylabel(f"{label}\n(virtual best = 1)")
        axes.set_ylim(0, 2.5)
        axes.grid(axis="x", visible=False)
    both[-1].set_xticks(range(len(corpora)), [TITLES[c] for c in corpora])
    both[0].set_title(
        "Cost of the results against the best of all peers, summed; bars are cut at 2.5", loc="left", fontsize=10
    )
    both[0].legend(ncols=len(names), loc="upper center", bbox_to_anchor=(0.5, -0.02), fontsize=8)
    save(figure, "cost_against_best.svg")


def _plot_growth(data: dict[str, Any], plt: Any, save: Any) -> None:
    families = list(dict.fromkeys((g["family"], g["kind"]) for g in data["growth"]))
    figure, all_axes = plt.subplots(1, len(families), figsize=(3.2 * len(families), 3.4), sharey=True)
    for axes, (family, kind) in zip(all_axes, families, strict=True):
        for g in data["growth"]:
            if (g["family"], g["kind"]) == (family, kind) and len(g["points"]) > 1 and g["peer"] != "tvm-steps":
                xs, ys = zip(*g["points"], strict=True)
                axes.plot(xs, ys, marker="o", ms=3, lw=1.3, color=COLOURS.get(g["peer"]), label=g["peer"])
        axes.set(xscale="log", yscale="log", xlabel={"terms": "terms", "depths": "depth of the chain"}[family])
        axes.xaxis.set_major_formatter("{x:g}")
        axes.set_title(f"{family}, {kind}", loc="left", fontsize=9)
    all_axes[0].set_ylabel("seconds, cold")
    all_axes[-1].legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    save(figure, "growth.svg")
