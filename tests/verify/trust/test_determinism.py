"""Verdict, strategy, resources and witness do not depend on the number of processes, the order or the load."""

from __future__ import annotations

import json
import os
import pickle
import random
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from indexproof.core.condition import FALSE, TRUE
from indexproof.reports.selection import catalogue
from indexproof.verify import run as run_module
from indexproof.verify.budget import Budget
from indexproof.verify.cache import Cache
from indexproof.verify.obligation import Obligation
from indexproof.verify.proving import prove_all
from indexproof.verify.rulefiles import read_rule_file, stated_rule_obligations
from indexproof.verify.run import Job, examine, work
from indexproof.verify.solve import _attempt, decide
from indexproof.verify.verdict import Status, Verdict

RULES = """
semantics trunc
int x, y
const c
carry: (x * c) / c -> x if c != 0
carry_more: (x * c + y) / c -> x + y / c if c > 0, x >= 0, y >= 0
wrong: (x + y) % c -> x % c + y % c if c > 0
clamp: min(max(x, c), c) -> c
"""

CLAIMS = {
    "negation_distributes",
    "quotient_known",
    "small_remainder_vanishes",
    "quotient_of_quotient",
    "quotient_absorbs_summand",
    "inner_remainder_vanishes",
    "negative_modulus_moves_out",
    "min_and_max_sum",
    "summand_moves_into_bounds",
    "remainders_contradict",
    "remainder_tightens_bounds",
    "interval_product",
    "interval_quotient_positive",
    "interval_sum",
    "congruence_product",
    "range_rescales",
}
OPS = ("tiling rank 1", "concatenate rank 1", "transpose rank 2")


@cache  # each process of the tests reads this file
def sample() -> list[Obligation]:
    kept = [o for o in catalogue(max_rank=2) if o.subject in CLAIMS or o.subject.startswith(OPS)]
    random.Random(5).shuffle(kept)
    rules = read_rule_file(RULES, "sample.rules")
    return [*kept[:130], *(o for r in rules for o in stated_rule_obligations(r))]


def answer(v: Verdict) -> list[Any]:
    witness = None if v.witness is None else dict(v.witness)
    return [v.status.value, v.strategy, v.resources, witness, list(v.tried), v.detail]


def answers(obligations: list[Obligation], **how: Any) -> dict[str, list[Any]]:
    run = prove_all(obligations, **how)
    assert not run.interrupted
    return {f"{r.obligation.family} {r.obligation.name}": answer(r.verdict) for r in run.results}


@pytest.fixture(scope="module")
def expected() -> dict[str, list[Any]]:
    return answers(sample(), jobs=1)


def test_the_sample_uses_the_solver(expected: dict[str, list[Any]]) -> None:
    assert len(expected) == len(sample()) > 90
    assert sum(a[2] > 0 for a in expected.values()) > 20
    assert len({a[1] for a in expected.values()}) >= 4
    assert len({a[0] for a in expected.values()}) >= 2


def test_processes_make_no_difference(expected: dict[str, list[Any]]) -> None:
    assert answers(sample(), jobs=3) == expected


@pytest.mark.parametrize("seed", [1, 2])
def test_the_order_makes_no_difference(expected: dict[str, list[Any]], seed: int) -> None:
    shuffled = list(sample())
    random.Random(seed).shuffle(shuffled)
    _attempt.cache_clear()
    assert answers(shuffled, jobs=seed) == expected


def test_what_was_asked_before_makes_no_difference(expected: dict[str, list[Any]]) -> None:
    # each alone, with an empty cache
    for o in sample()[::5]:
        _attempt.cache_clear()
        assert answer(decide(o)) == expected[f"{o.family} {o.name}"], o.name


def test_threads_make_no_difference(expected: dict[str, list[Any]]) -> None:
    with ThreadPoolExecutor(3) as pool:
        found = list(pool.map(lambda o: answer(examine(o, Budget())), sample()[:40]))
    assert found == list(expected.values())[:40]


SCRIPT = """
import importlib.util, json, sys
spec = importlib.util.spec_from_file_location("sample", sys.argv[1])
module = importlib.util.module_from_spec(spec)
sys.modules["sample"] = module
spec.loader.exec_module(module)
json.dump(module.answers(module.sample()[:: int(sys.argv[2])], jobs=1), sys.stdout)
"""


@contextmanager
def load() -> Iterator[None]:
    """Run twice as many busy processes as the machine has cores."""
    burn = "while True: sum(range(10_000))"
    busy = [subprocess.Popen([sys.executable, "-c", burn]) for _ in range(2 * (os.cpu_count() or 1))]
    try:
        yield
    finally:
        for p in busy:
            p.kill()
            p.wait()


@pytest.mark.parametrize("seed", ["0", "1", "4242"])
def test_hash_seeds_and_load_make_no_difference(expected: dict[str, list[Any]], seed: str) -> None:
    # parallel tests run under this load, too, so that its sample is smaller
    step = 9 if seed == "1" else 3
    with load() if seed == "1" else nullcontext():
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT, str(Path(__file__)), str(step)],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {k: v for n, (k, v) in enumerate(expected.items()) if n % step == 0}


def test_obligations_mean_the_same_after_a_journey() -> None:
    for o in sample():
        there = pickle.loads(pickle.dumps(o))
        assert there == o
        assert there.goal == o.goal
        for c in (*there.hypotheses, there.goal):
            assert (c == TRUE) == (c is TRUE)
            assert (c == FALSE) == (c is FALSE)
    job = Job(tuple(enumerate(sample()[:3])), Budget())
    assert work(pickle.loads(pickle.dumps(job))) == work(job)


def test_what_several_ask_is_asked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    some = sample()[:6]
    twins = [replace(o, subject=f"twin of {o.subject}", claim="the same") for o in some]
    unlike = [replace(o, gate=not o.gate) for o in some]
    asked: list[str] = []

    def counted(o: Obligation, budget: Budget, confirm: bool = False) -> Verdict:
        asked.append(o.name)
        return decide(o, budget)

    monkeypatch.setattr(run_module, "examine", counted)
    run = prove_all([*some, *twins, *unlike], jobs=1)
    assert asked == [o.name for o in (*some, *unlike)]
    assert [r.obligation for r in run.results] == [*some, *twins, *unlike]
    assert [r.verdict for r in run.results[:6]] == [r.verdict for r in run.results[6:12]]


# ---------------------------------------------------------------------------------------------------- too deep
def test_a_claim_that_is_too_deep_is_open_and_takes_nothing_with_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A claim that is nested too deeply for the reduction is undecided and does not affect other claims."""
    rules = read_rule_file(RULES, "some.rules")
    todo = [o for r in rules for o in stated_rule_obligations(r)]
    honest = prove_all(todo, jobs=1).results

    def limited(o: Obligation, budget: Budget) -> Verdict:
        if o.subject == "carry_more":
            raise RecursionError
        return decide(o, budget)

    monkeypatch.setattr(run_module, "decide", limited)
    with Cache(tmp_path / "verdicts.sqlite") as cache:
        run = prove_all(todo, jobs=1, cache=cache)
    for a, b in zip(run.results, honest, strict=True):
        if a.obligation.subject == "carry_more":
            assert (a.verdict.status, a.passes) == (Status.UNDECIDED, not a.obligation.gate)
            assert "nested too deep" in a.verdict.detail
        else:
            assert a.verdict == b.verdict
    assert run.exit_status == 1  # one rule is false
    # the next run may have a deeper stack
    monkeypatch.setattr(run_module, "decide", decide)
    with Cache(tmp_path / "verdicts.sqlite") as cache:
        assert [r.verdict for r in prove_all(todo, jobs=1, cache=cache).results] == [r.verdict for r in honest]
