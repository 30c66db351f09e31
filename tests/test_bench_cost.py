"""The benchmark's own parts: cost function, maps, adapters of peers and statistics."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

BENCH = Path(__file__).parent / "bench"
sys.path.insert(0, str(BENCH))

import answers  # noqa: E402
import audit  # noqa: E402
import corpora  # noqa: E402
import measure  # noqa: E402
import page  # noqa: E402
import peers  # noqa: E402
import remote  # noqa: E402
from programs import Builder, Program, cost  # noqa: E402

from indexproof.core.expr import postorder  # noqa: E402

X, Y, Z = "x", "y", "z"


def program(*roots: Any) -> Program:
    b = Builder()
    return b.program([b.nested(r) for r in roots])


def sub(a: Any, b: Any) -> list[Any]:
    return ["add", a, ["mul", b, -1]]


# ------------------------------------------------------------------------------------------------------------ cost
@pytest.mark.parametrize(("roots", "operations", "divisions"), [
    ([X], 0, 0),
    ([7], 0, 0),
    ([["add", 2, 5]], 0, 0),
    ([["add", X, 1]], 1, 0),
    ([["add", X, -1]], 1, 0),
    ([["mul", X, 4]], 1, 0),
    ([["mul", X, -4]], 1, 0),
    ([["fdiv", X, 4]], 1, 1),
    ([["mod", ["fdiv", X, 4], 8]], 2, 2),
    ([["cdiv", X, 4]], 1, 1),
    ([["min", X, 3]], 1, 0),
    # a sum below both a quotient and a remainder counts once
    ([["fdiv", ["add", X, Y], 4], ["mod", ["add", Y, X], 4]], 3, 2),
    # equal results count once
    ([["fdiv", X, 4], ["fdiv", X, 4]], 1, 1),
    # n terms cost n - 1 additions, in any grouping
    ([["add", ["add", X, Y], ["add", Z, 1]]], 3, 0),
    ([["add", X, ["add", Y, ["add", Z, 1]]]], 3, 0),
    # a partial sum that is used again counts once
    ([["add", ["add", X, Y], Z], ["mod", ["add", X, Y], 3]], 3, 1),
    # a subtraction is one operation; only a minus without a minuend is a negation
    ([sub(X, Y)], 1, 0),
    ([sub(X, sub(Y, Z))], 2, 0),
    ([["mul", X, -1]], 1, 0),
    ([["add", ["mul", X, -1], 9]], 1, 0),
    ([["add", 9, ["mul", X, -1]]], 1, 0),
    ([["add", ["add", ["mul", X, -1], ["mul", Y, -1]], 9]], 2, 0),
    ([["add", ["mul", X, -1], ["mul", Y, -1]]], 2, 0),
    ([["mul", ["add", X, Y], -1]], 2, 0),
    ([["add", ["mul", X, -3], ["mul", Y, -1]]], 2, 0),
    ([["fdiv", ["mul", X, -1], 3]], 2, 1),
    # x * 3 is one product, added here and subtracted there
    ([["add", Y, ["mul", X, 3]], ["add", Z, ["mul", X, -3]]], 3, 0),
    # the cost function does not expand products of sums
    ([["mul", ["add", X, Y], 3]], 2, 0),
    ([["add", ["mul", X, 3], ["mul", Y, 3]]], 3, 0),
    ([["select", ["le", X, Y], X, Y]], 2, 0),
])  # fmt: skip
def test_cost(roots: list[Any], operations: int, divisions: int) -> None:
    found = cost(program(*roots))
    assert (found.all, found.divisions) == (operations, divisions)


def test_nodes_that_no_root_needs_cost_nothing() -> None:
    b = Builder()
    b.fdiv(b.var("x"), 3)
    assert cost(b.program([b.var("x")])).all == 0


@pytest.mark.parametrize("seed", range(40))
def test_a_sum_costs_the_same_in_every_order_and_grouping(seed: int) -> None:
    rng = random.Random(seed)
    terms: list[Any] = [["mul", v, rng.choice([-3, -1, 1, 2])] for v in "abcdef"[: rng.randint(2, 6)]]
    if rng.random() < 0.5:
        terms.append(rng.randint(1, 9))
    costs = set()
    for _ in range(6):
        left = list(terms)
        while len(left) > 1:
            rng.shuffle(left)
            a, b = left.pop(), left.pop()
            left.append(["add", a, b])
        costs.add(cost(program(["mod", left[0], 16])))
    assert len(costs) == 1, terms


# ------------------------------------------------------------------------------------------------------ evaluation
def test_the_operations_mean_what_they_say() -> None:
    values = range(-9, 10)
    for a in values:
        for d in (-4, -3, 1, 3, 4):
            e = program(*([op, X, Y] for op in ("fdiv", "mod", "cdiv", "tdiv", "tmod")))
            truncated = int(a / d)
            expected = [a // d, a % d, -(-a // d), truncated, a - truncated * d]
            assert e.evaluate({X: a, Y: d}) == expected
            arrays = e.evaluate({X: np.array([a]), Y: np.array([d])})
            assert [int(v[0]) for v in arrays] == expected


# --------------------------------------------------------------------------------------------------------- corpora
def test_the_corpora_are_the_same_in_every_process() -> None:
    code = "import corpora; print([m.digest for c in corpora.CORPORA for m in corpora.corpus(c)])"
    env = {**os.environ, "PYTHONHASHSEED": "12345"}
    done = subprocess.run([sys.executable, "-c", code], cwd=BENCH, env=env, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str([m.digest for c in corpora.CORPORA for m in corpora.corpus(c)])


@pytest.mark.parametrize("name", corpora.CORPORA)
def test_every_map_has_a_domain_and_a_name_of_its_own(name: str) -> None:
    maps = corpora.corpus(name)
    assert len({m.name for m in maps}) == len(maps)
    for m in maps:
        assert {n for n in m.program.nodes if isinstance(n, str)} <= {v for v, _, _ in m.vars}, m.name
        assert m.constraints == [] or any(v.size for v in m.points().values()), m.name


def test_xla_kept_its_maps_equal() -> None:
    for m in corpora.corpus("xla"):
        assert m.after is not None
        assert answers.disagreement(m, m.after) == "", m.name


def test_a_wrong_result_is_noticed() -> None:
    m = corpora.corpus("published")[0]
    b = Builder()
    assert "differs at" in answers.disagreement(m, b.program([b.var("d0"), b.mod(b.var("d1"), 14)]))


# ----------------------------------------------------------------------------------------------------------- peers
@pytest.mark.parametrize("kind", peers.PEERS, ids=lambda k: k.name)
def test_a_peer_is_read_rightly(kind: type[peers.Peer]) -> None:
    """On easy maps every peer is right, so that a difference is a mistake in its adapter."""
    if kind.name == "inductor":
        pytest.skip("takes ten seconds to import")
    loaded, missing = peers.available([kind.name])
    if missing:
        pytest.skip(f"not installed: {missing[kind.name]}")
    asked = 0
    for m in [*corpora.corpus("published"), *corpora.corpus("xla")[:12]]:
        if not loaded[0].refuses(m):
            record = measure.once(loaded[0], m, first=True)
            assert record["state"] == "ok", (m.name, record)
            asked += 1
    assert asked


def test_a_peer_answers_in_a_process_of_its_own() -> None:
    there = remote.Remote(peers.Quick)
    try:
        m = corpora.corpus("published")[0]
        assert there.version == peers.Ours().version
        found = measure.asked(there, measure.once, m, True)
        here = measure.asked(peers.Quick(), measure.once, m, True)
        assert {**found, "times": 0} == {**here, "times": 0}
        assert len(found["times"]) == 3
        with pytest.raises(RuntimeError, match="indexproof-quick: TypeError"):
            there.ask(measure.once, m)
    finally:
        there.close()
    assert there.process.poll() == 0


def test_a_peer_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peers.QuickNative, "python", staticmethod(lambda: "/no/such/python"))
    found, missing = remote.started([peers.QuickNative.name])
    assert not found
    assert "make native" in missing[peers.QuickNative.name]
    # an interpreter without the native core reports that itself
    monkeypatch.setattr(peers.QuickNative, "python", staticmethod(lambda: sys.executable))
    found, missing = remote.started([peers.QuickNative.name])
    assert not found
    assert "no native core" in missing[peers.QuickNative.name]


def test_the_audits_find_what_could_be_cheaper() -> None:
    b = Builder()
    x, y = b.var("x"), b.var("y")
    place = b.add(b.mul(x, 8), y)
    boxes = [("x", 0, 9), ("y", 0, 9)]
    # y // 8 is the difference of x + y // 8 and x, and (8 * x + y) % 8 is y % 8
    roots = [b.fdiv(place, 8), b.fdiv(y, 8), b.mod(place, 8), b.mod(y, 8)]
    m = corpora.Map("test", "digits", boxes, b.program(roots))
    found = [n.why.partition(":")[0] for n in audit.needless_atoms(m, m.program)]
    assert found == ["as another"]
    results = peers.Ours().convert(m).results
    nodes = postorder(*results)
    spent, least, text = audit._cheapest(results, nodes, audit.evaluate(nodes, m.points()))
    assert least < spent
    assert " = " in text


# ------------------------------------------------------------------------------------------------------ statistics
def row(before: tuple[int, int], **found: tuple[str, int, int, float]) -> dict[str, Any]:
    records = {
        n: {"state": s, "all": a, "div": d, "convert": t, "cold": t, "warm": t} for n, (s, a, d, t) in found.items()
    }
    return {"name": "m", "size": 0, "before": list(before), "peers": records}


def test_the_virtual_best_takes_each_measure_from_whoever_is_best_and_right() -> None:
    r = row((9, 5), indexproof=("ok", 1, 1, 1.0), a=("ok", 4, 3, 1.0), b=("ok", 6, 2, 1.0), c=("wrong", 0, 0, 1.0))
    assert measure.virtual_best(r, ["a", "b", "c"]) == (4, 2, 10)
    assert measure.virtual_best(r, ["c"]) == (9, 5, 19)


def test_a_map_is_beaten_by_one_result_and_not_by_two() -> None:
    names = ["indexproof", "a", "b", "c"]
    r = row((9, 9), indexproof=("ok", 4, 3, 1.0), a=("ok", 3, 4, 1.0), b=("ok", 5, 2, 1.0), c=("wrong", 0, 0, 1.0))
    assert not measure.beaten(r, "indexproof", names)
    assert not measure.beaten(r, "a", names)
    r["peers"]["c"]["state"] = "ok"
    assert measure.beaten(r, "indexproof", names)
    assert not measure.beaten(r, "c", names)
    assert measure.summarise([r], names)["peers"]["indexproof"]["beaten"] == 1


def test_a_summary_counts_wrong_results_as_the_input() -> None:
    rows = [
        row((9, 5), indexproof=("ok", 4, 2, 1.0), tvm=("ok", 5, 2, 2.0)),
        row((8, 4), indexproof=("wrong", 0, 0, 3.0), tvm=("ok", 8, 3, 4.0)),
    ]
    found = measure.summarise(rows, ["indexproof", "tvm"])
    ours = found["peers"]["indexproof"]
    assert found["best"] == [13, 5, 23]
    assert ours["cost"] == [12, 6, 24]
    assert ours["at_best"] == [1.0, 0.5, 0.5]
    assert (ours["ok"], ours["wrong"]) == (1, 1)
    assert ours["to_tvm"] == {"median": 2 / 3, "p95": 0.75, "per_map": 0.625}


def test_percentiles_and_exponents() -> None:
    assert measure.percentile([4.0, 1.0, 3.0, 2.0], 0.95) == 4.0
    assert measure.percentile([float(k) for k in range(1, 101)], 0.95) == 95.0
    assert measure.slope([(n, 3e-6 * n**1.5) for n in (1, 10, 100)]) == pytest.approx(1.5)
    assert measure.slope([(1, 1.0), (2, 2.0)]) is None


def test_the_page_and_its_json() -> None:
    rows = [row((9, 5), indexproof=("ok", 4, 2, 1e-5), tvm=("ok", 5, 2, 1e-4))]
    names = ["indexproof", "tvm"]
    data: dict[str, Any] = {
        "machine": {"cores": 2, "cpu": "a cpu", "system": "Linux", "python": "3.11", "load": 0.1},
        "peers": {n: {"version": "1", "note": ""} for n in names},
        "missing": {"tinygrad": "not installed"},
        "corpora": {"chains": {"summary": measure.summarise(rows, names), "rows": rows}},
    }
    text = page.markdown(data)
    assert "Not installed, and so not measured: tinygrad." in text
    assert "| p95 of the cold time, of TVM's | ≤ 1.42 | 0.10 |\n" in text
    # an earlier measurement is shown next to the new one where it differs
    before = page.goals(data).measured
    before["median cold time, of TVM's"]["chains"] = "0.70"
    assert "| 0.10 (0.70) |\n" in page.markdown({**data, "before": before})
    slower = [row((9, 5), indexproof=("ok", 4, 2, 1e-3), tvm=("ok", 5, 2, 1e-4))]
    data["corpora"]["chains"]["summary"] = measure.summarise(slower, names)
    assert "| **10.00** |\n" in page.markdown(data)
    data["corpora"]["chains"]["summary"] = measure.summarise(rows, names)
    again = page.expanded(page.compact(data))
    assert page.markdown(again) == text
    (read,) = again["corpora"]["chains"]["rows"]
    assert read["peers"]["indexproof"] == pytest.approx(
        {"state": "ok", "all": 4, "div": 2, "convert": 1e-5, "cold": 1e-5, "warm": 1e-5}
    )


def test_what_is_measured_anew_is_compared_with_the_stored_peers() -> None:
    """A new run replaces our records only, the page says so, and maps that differ from the stored ones are refused."""
    stored = page.expanded((BENCH.parents[1] / "reports" / "benchmark" / "simplifier.json").read_text("utf-8"))
    stored["corpora"] = {"published": stored["corpora"]["published"]}
    before = json.loads(json.dumps(stored["corpora"]["published"]["rows"]))
    for row in stored["corpora"]["published"]["rows"]:
        row["peers"]["indexproof"]["all"] = 99
    # the summary includes a peer that was not in the stored run
    ours, quick = peers.Ours(), stored["peers"].pop(peers.Quick.name)
    for row in stored["corpora"]["published"]["rows"]:
        del row["peers"][peers.Quick.name]
    asked = [ours, peers.Quick()]
    found = {"rows": measure.measure_corpus(asked, corpora.corpus("published"), rounds=1)}
    named = {ours.name: {"version": "9", "note": ""}, peers.Quick.name: quick}
    new = {"corpora": {"published": found}, "peers": named, "missing": {}}
    new["machine"] = {**stored["machine"], "cpu": "another"}
    data = measure.renewed(stored, new | {"checking": {"published": measure.checking(ours, "published")}})
    rows = data["corpora"]["published"]["rows"]
    for row, was in zip(rows, before, strict=True):
        assert row["peers"]["tvm"] == {k: was["peers"]["tvm"][k] for k in ("state", "all", "div")}
        assert row["peers"]["indexproof"]["all"] < 99
        assert row["peers"]["indexproof"]["cold"] != was["peers"]["indexproof"]["cold"]
        assert row["asked"]["operations"]["all"] <= row["peers"]["indexproof"]["all"]
        assert row["asked"]["divisions"]["div"] <= row["peers"]["indexproof"]["div"]
    assert data["peers"]["indexproof"]["version"] == "9"
    assert data["corpora"]["published"]["summary"]["peers"][peers.Quick.name]["ok"] == len(rows)
    assert 0 < data["checking"]["published"] < 1  # a share of the time, which depends on the machine
    text = page.markdown(data)
    assert "xla, tvm" in text
    assert "taken from an earlier run on another machine" in " ".join(text.split())
    assert "operations where they are asked for" in text
    again = page.expanded(page.compact(data))
    assert again["renewed"] == [ours.name, peers.Quick.name]
    assert again["corpora"]["published"]["summary"]["asked"] == data["corpora"]["published"]["summary"]["asked"]
    rows[0]["before"] = [0, 0]
    with pytest.raises(ValueError, match="another map than was measured"):
        measure.renewed(data, new)
