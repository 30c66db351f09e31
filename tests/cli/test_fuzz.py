"""`indexproof dev fuzz` and `indexproof dev fuzz-hlo`."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from dev.confluence import COUNT, examine, pairs_of
from dev.confluence.report import PAGE, page
from dev.confluence.search import OverlapSearch
from json_forms import FORMS

Run = Callable[..., Any]


def test_random_maps_and_a_corpus(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "maps.txt"
    path.write_text("(d0, d1) -> ((d0 * 4 + d1) floordiv 12), domain: d0 in [0, 99], d1 in [0, 3]\n", "utf-8")
    done = run("dev", "fuzz", "-n", "20", "--seed", "3", "-j", "1", "--checked", "--corpus", path)
    assert done.status == 0, done.out
    assert "what was examined" in done.out
    assert "  derived  " in done.out
    assert done.out.splitlines()[-1].startswith("PROVED  21 maps, 0 failures")


def test_damaged_texts(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "a.hlo"
    path.write_text("ENTRY e { ROOT a = f32[] parameter(0) }", "utf-8")
    done = run("dev", "fuzz-hlo", "-n", "60", "--seed", "3", "-j", "1", "--corpus", path)
    assert done.status == 0
    assert done.out.splitlines()[-1].startswith("PROVED  60 texts, 0 failures")


def test_ctrl_c_says_that_not_everything_was_examined() -> None:
    command = [sys.executable, "-m", "indexproof", "dev", "fuzz-hlo", "--seed", "4", "-j", "2", "-n", "5000"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stderr.readline().startswith(" 10%")
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 2, err
    assert "Traceback" not in err
    assert "the rest of the run" in out
    assert out.splitlines()[-1].startswith("NOT CHECKED")


# -------------------------------------------------------------------------------- `indexproof dev confluence`
#: A rule that overlaps with few others.
RULE = "ceiling_of_positive"


def test_where_the_order_matters_is_shown_with_both_results(run: Run) -> None:
    done = run("dev", "confluence", RULE, "-n", "2", "--jobs", 1)
    lines = done.out.splitlines()
    assert lines[-1].partition("  ")[0] in ("ORDER MATTERS", "NONE FOUND")
    assert done.status == (1 if lines[-1].startswith("ORDER MATTERS") else 0)
    blocks = [b for b in done.out.split("\n\n") if b.startswith("ORDER MATTERS") and "take" in b]
    assert bool(blocks) == bool(done.status)
    for b in blocks:
        assert [line.split()[0] for line in b.splitlines()[1:]] == ["take", "or", "become", "and"]
        assert "weight" in b


def test_as_json_and_the_same_on_two_processes(run: Run) -> None:
    answers = [json.loads(run("dev", "confluence", RULE, "-n", "1", "--json", "--jobs", jobs).out) for jobs in (1, 2)]
    assert set(answers[0]) == set(FORMS["confluence"])
    assert answers[0]["format"] == "indexproof confluence 2"
    for answer in answers:
        del answer["timing"]
    assert answers[0] == answers[1]
    pairs = answers[0]["pairs"]
    assert len(pairs) == answers[0]["total"] == sum(answers[0]["counts"].values())
    assert answers[0]["instances"] == sum(p["instances"] for p in pairs)
    for p in pairs:
        assert RULE in (p["outer"], p["inner"])
        assert bool(p["examples"]) == (p["verdict"] in ("ORDER MATTERS", "WRONG"))
        assert (p["verdict"] == "no instance") == (p["instances"] == 0)


def test_the_page_is_short_and_of_this_catalogue() -> None:
    committed = PAGE.read_text("utf-8")
    assert len(committed.splitlines()) <= 80
    assert f"\n{len(pairs_of()):,} pairs of rules, up to {COUNT} instances of each" in committed
    # the text around the figures is up to date
    some = page(OverlapSearch(COUNT, 3, [examine(*pair, 2) for pair in pairs_of()[:3]]))
    assert committed.partition("## What is done")[2] == some.partition("## What is done")[2]


def test_an_interrupted_run_says_what_it_knows(run: Run, monkeypatch: Any) -> None:
    searching = sys.modules[OverlapSearch.__module__]
    real = searching.examine
    asked: list[str] = []

    def examine_some(*args: Any, **more: Any) -> Any:
        asked.append("")
        if len(asked) > 2:
            raise KeyboardInterrupt
        return real(*args, **more)

    monkeypatch.setattr(searching, "examine", examine_some)
    done = run("dev", "confluence", "min_and_max_sum", "-n", "1", "--jobs", 1)
    rest = sum("min_and_max_sum" in {r.name for r in pair} for pair in pairs_of()) - 2
    assert done.out.splitlines()[-1].startswith(f"NOT CHECKED  2 pairs, 0 instances, {rest} pairs not checked")
    assert done.status == 2
