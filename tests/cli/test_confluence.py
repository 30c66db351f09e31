"""`indexproof dev confluence`."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

from dev.confluence import COUNT, examine, pairs_of
from dev.confluence.report import PAGE, page
from dev.confluence.search import OverlapSearch
from json_forms import FORMS

Run = Callable[..., Any]

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
    answers = [
        json.loads(run("dev", "confluence", RULE, "-n", "1", "--json", "--jobs", jobs).out) for jobs in (1, 2)
    ]
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


def test_what_is_no_rule_of_the_simplifier(run: Run) -> None:
    for name in ("transpose", "like_terms_combine", "nothing.rules"):
        done = run("dev", "confluence", name)
        assert done.status == 3
        assert f"`{name}` is no rule that the simplifier rewrites with" in done.err


def test_a_page_is_about_everything(run: Run) -> None:
    done = run("dev", "confluence", RULE, "--page")
    assert done.status == 3
    assert "--page is about the whole catalogue" in done.err


def test_the_page_is_short_and_of_this_catalogue() -> None:
    committed = PAGE.read_text("utf-8")
    assert len(committed.splitlines()) <= 80
    assert f"\n{len(pairs_of()):,} pairs of rules, up to {COUNT} instances of each" in committed
    # what it says around the figures is what is printed now
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
    assert done.out.splitlines()[-1].startswith(
        f"NOT CHECKED  2 pairs, 0 instances, {rest} pairs not checked"
    )
    assert done.status == 2
