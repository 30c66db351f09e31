"""Stability: mutants ask the same question, flips are found, and a run goes on where it stopped."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest

from indexproof.core.errors import InputError
from indexproof.core.expr import maximum, var
from indexproof.reports.trust import stability_json, stability_status, stability_text
from indexproof.verify import encode
from indexproof.verify.catalogue import catalogue
from indexproof.verify.obligations import Obligation
from indexproof.verify.refute import confirmed
from indexproof.verify.solve import Budget
from indexproof.verify.trust import stability as module
from indexproof.verify.trust.stability import (
    Record,
    examine_stability,
    examined,
    in_shard,
    mutant,
    question_of,
    renaming,
    stability,
)
from indexproof.verify.verdict import Status, Verdict

x, y, d = var("x"), var("y"), var("d")
CLAIM = Obligation(
    "test",
    "claim",
    "sound",
    (d > 0, x.within(0, d - 1), d.divides(y), (x <= 3) | (y < 7)),
    ((x + y) // d).eq(y // d) & (maximum(x, 0) <= d - 1),
)


def test_mutants_ask_the_same() -> None:
    dice = random.Random(3)
    seen = set()
    for n in range(40):
        m = mutant(CLAIM, n)
        assert m == mutant(CLAIM, n)
        seen.add((m.hypotheses, m.goal))
        names = sorted(v.name for v in m.formula_variables())
        assert len(names) == 3
        # some renaming turns one into the other: the sets of values at which both fail are the same
        values = [dice.randint(-3, 9) for _ in range(3)]
        ours = {
            tuple(p)
            for p in ([values[i], values[j], values[k]] for i in range(3) for j in range(3) for k in range(3))
        }
        fails = sum(
            confirmed(dict(zip((x, y, d), p, strict=True)), CLAIM.hypotheses, CLAIM.goal)
            for p in sorted(ours)
        )
        theirs = sum(
            confirmed(dict(zip(m.formula_variables(), p, strict=True)), m.hypotheses, m.goal)
            for p in sorted(ours)
        )
        assert fails == theirs
    assert len(seen) > 20


def test_every_kind_of_condition_keeps_its_meaning() -> None:
    todo = [o for o in catalogue(max_rank=1) if o.question == "valid" and not o.width][::40]
    dice = random.Random(1)
    for o in todo:
        for n in range(4):
            m, names = mutant(o, n), renaming(o, n)
            for _ in range(20):
                point = {v: dice.randint(-2, 5) for v in names}
                moved = {names[v]: k for v, k in point.items()}
                assert confirmed(point, o.hypotheses, o.goal) == confirmed(moved, m.hypotheses, m.goal)


def test_part_of_the_catalogue_is_stable() -> None:
    todo = examined(o for o in catalogue(max_rank=2) if o.family in ("rule", "transfer"))[::9]
    records, resumed, _ = stability(todo, mutants=3)
    assert len(records) == len(todo) > 10
    assert not resumed
    assert not [r for r in records if not r.stable]


def test_a_flip_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def moody(o: Obligation, budget: Budget) -> Verdict:
        lucky = o is CLAIM or "<" in str(o.hypotheses[0])
        return Verdict(Status.PROVED if lucky else Status.UNDECIDED, resources=len(str(o.goal)))

    monkeypatch.setattr(module, "decide", moody)
    r = examine_stability(CLAIM, 30, Budget())
    assert not r.stable
    assert r.flips
    text = "\n".join(stability_text([r], 1, 30, 0, 1.0, 1))
    assert "UNSTABLE  claim: sound" in text
    assert stability_status([r], 1) == 1
    assert stability_json([r], 1, 30, 0, 1.0, 1)["results"][0]["flips"][0]["mutant"] == r.flips[0][0]


def test_seeds_are_given_back() -> None:
    examine_stability(CLAIM, 2, Budget())
    assert encode.SEED == 0


def test_a_run_goes_on_where_it_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "stability.jsonl"
    todo = [CLAIM, *examined(o for o in catalogue(max_rank=0) if o.family == "transfer")[:5]]
    calls: list[str] = []

    def stop(r: Record) -> None:
        calls.append(r.name)
        if len(calls) == 3:
            raise KeyboardInterrupt

    records, _, _ = stability(todo, mutants=2, checkpoint=place, progress=stop)
    assert len(records) == 3
    assert stability_status(records, len(todo)) == 2
    # a line that was cut off is done again
    place.write_text(place.read_text("utf-8")[:-20], "utf-8")
    records, resumed, _ = stability(todo, mutants=2, checkpoint=place)
    assert resumed == 2
    assert len(records) == len(todo)
    assert stability_status(records, len(todo)) == 0
    again, resumed, _ = stability(todo, mutants=2, checkpoint=place)
    assert resumed == len(todo)
    assert again == records
    # what is known of some mutants is known of fewer, and a run for more goes on from there
    assert stability(todo, mutants=1, checkpoint=place)[1] == len(todo)
    more = stability(todo, mutants=3, checkpoint=place)
    assert more.resumed == 0
    assert more.records == stability(todo, mutants=3).records
    assert stability(todo, mutants=3, checkpoint=place).resumed == len(todo)


def test_a_sample_depends_on_names_alone() -> None:
    everything = catalogue(max_rank=1)
    some = examined(everything, 0.2)
    assert 0.1 < len(some) / len(examined(everything)) < 0.3
    assert {o.name for o in examined(reversed(everything), 0.2)} == {o.name for o in some}


def test_what_several_ask_is_examined_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = {x: var("a"), y: var("b"), d: var("c")}
    twin = Obligation(
        "test",
        "twin",
        "sound",
        tuple(h.substitute({x: var("p2"), y: var("p10"), d: var("p1")}) for h in reversed(CLAIM.hypotheses)),
        CLAIM.goal.substitute({x: var("p2"), y: var("p10"), d: var("p1")}),
    )
    # d, x, y are in the natural order of p1, p2, p10; a, b, c are not
    assert question_of(twin) == question_of(CLAIM)
    other = replace(
        CLAIM,
        goal=CLAIM.goal.substitute(names),
        hypotheses=tuple(h.substitute(names) for h in CLAIM.hypotheses),
    )
    weaker = replace(CLAIM, subject="weaker", hypotheses=CLAIM.hypotheses[:3])
    assert question_of(weaker) != question_of(CLAIM)
    assert question_of(replace(CLAIM, kind="defined")) != question_of(CLAIM)
    asked: list[str] = []

    def counted(o: Obligation, mutants: int, budget: Budget, before: Record | None) -> Record:
        asked.append(o.name)
        return examine_stability(o, mutants, budget, before)

    monkeypatch.setattr(module, "examine_stability", counted)
    place = tmp_path / "stability.jsonl"
    found = stability([CLAIM, twin, weaker], mutants=1, checkpoint=place)
    assert len(asked) == 2
    assert found.questions == 2
    assert [r.name for r in found.records] == ["claim: sound", "twin: sound", "weaker: sound"]
    assert found.records[0].status is found.records[1].status
    again = stability([twin], mutants=1, checkpoint=place)
    assert (again.resumed, again.records) == (1, [found.records[1]])
    assert len(asked) == 2
    assert question_of(other).formula_variables() == question_of(CLAIM).formula_variables()


def test_a_twin_of_an_unstable_claim_is_unstable(monkeypatch: pytest.MonkeyPatch) -> None:
    twin = replace(CLAIM, subject="twin")
    flip = Record("", Status.PROVED, 3, (1, 2), ((2, "UNDECIDED"),))
    monkeypatch.setattr(module, "examine_stability", lambda o, mutants, budget, before: flip)
    found = stability([CLAIM, twin], mutants=3)
    assert [(r.name, r.stable) for r in found.records] == [("claim: sound", False), ("twin: sound", False)]


def test_shards_deal_out_everything_once(tmp_path: Path) -> None:
    todo = examined(o for o in catalogue(max_rank=1) if o.family in ("transfer", "op"))
    shards = [in_shard(todo, f"{k}/5") for k in range(1, 6)]
    assert sorted(o.name for s in shards for o in s) == sorted(o.name for o in todo)
    assert all(len(s) > len(todo) / 12 for s in shards)
    asks = [{question_of(o).subject for o in s} for s in shards]
    assert sum(map(len, asks)) == len(set().union(*asks)) < len(todo)
    assert in_shard(todo, "1/1") == todo
    # several runs, one record of all of them
    some = [s[:3] for s in shards]
    place = tmp_path / "stability.jsonl"
    for s in some:
        stability(s, mutants=1, checkpoint=place)
    together = stability([o for s in some for o in s], mutants=1, checkpoint=place)
    assert together.resumed == len(together.records) == 15


@pytest.mark.parametrize("shard", ["0/3", "4/3", "3", "1/0", "-1/2", "a/b", "1/2/3", ""])
def test_shards_that_there_are_not(shard: str) -> None:
    with pytest.raises(InputError, match="--shard"):
        in_shard([], shard)
