"""`indexproof prove`: verdicts, reports, exit statuses, the cache, single points, files with declarations."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from indexproof.reports.selection import catalogue
from json_forms import FORMS

Run = Callable[..., Any]

RULE = "small_remainder_vanishes"


def answer(out: str) -> dict[str, Any]:
    return dict(json.loads(out))


def test_a_true_rule_is_proved(run: Run) -> None:
    done = run("prove", "quotient_by_one", "--jobs", 1)
    assert done.status == 0
    assert done.out.splitlines()[-1].startswith("PROVED  1 claim, ")
    assert "all proved" in done.out
    assert not done.err


@pytest.mark.parametrize(("names", "claims"), [
    (["quotient_by_one", "quotient_by_one"], {"quotient_by_one"}),
    (["transpose permutation=(1, 0)"], {"transpose rank 2, permutation=(1, 0)"}),
    (["transpose permutation=(1,0)"], {"transpose rank 2, permutation=(1, 0)"}),
    (["transpose rank 2, permutation=(1, 0)"], {"transpose rank 2, permutation=(1, 0)"}),
    (["transpose rank 2"], {"transpose rank 2, permutation=(0, 1)", "transpose rank 2, permutation=(1, 0)"}),
    (["interval_sum", "known_multiple"], {"interval_sum", "known_multiple"}),
])  # fmt: skip
def test_names_select_claims(run: Run, names: list[str], claims: set[str]) -> None:
    done = run("prove", "--json", "--jobs", 1, *names)
    assert {r["claim"] for r in answer(done.out)["results"]} == claims
    assert done.status == 0


def test_one_obligation_has_a_name(run: Run) -> None:
    results = answer(run("prove", "--json", f"{RULE}: defined").out)["results"]
    assert [(r["claim"], r["obligation"]) for r in results] == [(RULE, "defined")]


def test_families_and_rule_sets_select_all_of_theirs(run: Run) -> None:
    everything = answer(run("show", "--json").out)["claims"]
    for name, families in (
        ("rules", {"rule", "constraint rule"}),
        ("transfer", {"transfer"}),
        ("tiles", {"tile"}),
        ("ops", {"op"}),
    ):
        listed = answer(run("show", "--family", name, "--json").out)["claims"]
        assert listed == [c for c in everything if c["family"] in families]
    shown = answer(run("show", "minmax", "--json", "--no-cache").out)["claims"]
    assert {"min_shifts", "max_keeps_larger"} <= {c["name"] for c in shown}


def test_a_false_rule_is_answered_with_its_smallest_counterexample(run: Run, broken: Path) -> None:
    done = run("prove", broken, "--jobs", 1)
    assert done.status == 1
    text = done.out[done.out.index("REFUTED  wrong_small_remainder") :]
    lines = {line.split()[0]: " ".join(line.split()[1:]) for line in text.splitlines() if line.startswith("  ")}
    assert lines["take"] == "x = 1, g = 2, r = 0, d = 3"
    assert lines["right"] == "x // (d // g) = 1"
    assert "broken.py:" in text.splitlines()[0]
    assert "g ∣ d" in lines["repair"]
    assert re.search(r"REFUTED  2 claims, \d+ obligations of which 1 REFUTED", done.out.splitlines()[-1])
    # running the printed command reports the counterexample again
    again = run(*shlex.split(lines["again"])[1:])
    assert again.status == 1
    assert "false here: this is a counterexample" in again.out


def test_a_name_chooses_among_the_claims_of_a_file(run: Run, broken: Path) -> None:
    done = run("prove", broken, "right_small_remainder", "--json", "--jobs", 1)
    assert {r["claim"] for r in answer(done.out)["results"]} == {"right_small_remainder"}
    assert done.status == 0
    assert run("prove", broken, "quotient_by_one").status == 3


def test_the_report_is_json_with_the_documented_keys(run: Run, broken: Path) -> None:
    done = run("prove", broken, "--json", "--jobs", 1)
    assert done.status == 1
    data = answer(done.out)
    assert set(data) == set(FORMS["prove"])
    assert data["verdict"] == "REFUTED"
    assert data["exit_status"] == 1
    (false,) = (r for r in data["results"] if r["gate"] and r["verdict"] == "REFUTED")
    assert false["counterexample"] == {"x": 1, "g": 2, "r": 0, "d": 3}
    assert {"side": "left", "term": "(x·g + r…) // d", "value": 0} in false["subterms"]
    assert false["goal"] == [{"condition": "(x·g + r…) // d = x // (d // g)", "holds": False}]
    assert all(h["holds"] for h in false["hypotheses"])


def test_json_is_the_same_every_time_but_for_timing(run: Run) -> None:
    first, second = (answer(run("prove", RULE, "interval_sum", "--json", "--no-cache").out) for _ in range(2))
    assert set(first.pop("timing")) == set(second.pop("timing"))
    assert first == second
    third = answer(run("prove", RULE, "interval_sum", "--json", "--no-cache", "--jobs", 1).out)
    third.pop("timing")
    assert first == third


# ------------------------------------------------------------------------------------------------------ cache
def test_verdicts_are_kept(run: Run, own_cache: Path) -> None:
    first = answer(run("prove", "interval_sum", "quotient_by_one", "--json").out)
    assert own_cache.is_file()
    second = answer(run("prove", "interval_sum", "quotient_by_one", "--json").out)
    assert first["timing"]["from_cache"] == 0
    assert second["timing"]["from_cache"] == len(second["results"])
    assert first["results"] == second["results"]
    shown = run("show", "quotient_by_one")
    assert "not in the cache" not in shown.out
    assert "PROVED by" in shown.out


def test_a_cache_can_be_left_alone(run: Run, own_cache: Path, tmp_path: Path) -> None:
    run("prove", "quotient_by_one", "--no-cache")
    run("prove", "quotient_by_one", "--read-only-cache")
    run("show", "quotient_by_one")
    assert not own_cache.exists()
    mine = tmp_path / "mine.sqlite"
    run("prove", "quotient_by_one", "--cache", mine)
    before = mine.read_bytes()
    done = run("prove", RULE, "quotient_by_one", "--cache", mine, "--read-only-cache", "--json")
    assert answer(done.out)["timing"]["from_cache"] > 0
    assert mine.read_bytes() == before


def test_a_damaged_cache_is_noticed(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "bad.sqlite"
    path.write_bytes(b"this is no database")
    done = run("prove", "quotient_by_one", "--cache", path)
    assert done.status == 0
    assert "1 damaged cache entry" in done.out


# ---------------------------------------------------------------------------------------------------- a point
def test_a_point_where_a_condition_is_false_says_nothing(run: Run) -> None:
    done = run("prove", RULE, "--at", "x=1,g=2,r=0,d=3")
    assert done.status == 2
    assert "sound: says nothing here" in done.out


def test_a_point_where_the_claim_holds(run: Run) -> None:
    done = run("prove", RULE, "--at", "x=1, g=2, r=0, d=4", "--json")
    assert done.status == 0
    data = answer(done.out)
    assert set(data) == set(FORMS["prove --at"])
    assert {o["obligation"]: o["here"] for o in data["obligations"]}["sound"] == "holds"


def test_a_point_of_a_rule_with_an_obligation_that_has_no_variables(run: Run, tmp_path: Path) -> None:
    """A point is checked against the hypotheses of an obligation whose goal has no variables."""
    file = tmp_path / "own.py"
    file.write_text(
        "from indexproof.core.rewrite import Const, Expr, Rewrite, rule\n\n"
        "@rule()\ndef next(x: Expr, d: Const):\n"
        "    'One more than a multiple.'\n    return Rewrite((x * d + 1) // d, x, when=[d > 0])\n"
    )
    done = run("prove", str(file), "next", "--at", "x=0,d=1")
    assert done.status == 1, done.err
    assert "so       sound: false here: this is a counterexample" in done.out
    assert run("prove", str(file), "next", "--at", "x=0,d=2").status == 0


# ----------------------------------------------------------------------------------------- not enough to pass
def test_a_small_budget_is_undecided_not_proved(run: Run) -> None:
    done = run("prove", "quotient_known", "--budget", "0.0001", "--no-cache")
    assert done.status == 2
    assert "UNDECIDED  quotient_known" in done.out
    assert done.out.splitlines()[-1].startswith("UNDECIDED  1 claim")


def test_nothing_to_check_is_not_a_success(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "empty.py"
    path.write_text("from indexproof.rules.division import quotient_by_one\n", "utf-8")
    done = run("prove", path)
    assert done.status == 3
    assert "declares nothing to prove" in done.err
    # findings alone decide no verdict
    done = run("prove", f"{RULE}: needs 0 < d")
    assert done.status == 2
    assert "nothing was checked" in done.out


def test_show_and_catalogue_know_files(run: Run, tmp_path: Path) -> None:
    rules = tmp_path / "own.rules"
    rules.write_text("int x\nconst c\nback: x / c * c -> x if c > 0\nzero: x + 0 -> x\n")
    done = run("show", str(rules), "--no-cache")
    assert done.status == 0
    assert done.out.startswith(f"back   stated rule, {rules}:3\n\n  claim    ")
    assert "zero owes" in done.out
    assert "back" not in run("show", str(rules), "zero", "--no-cache").out
    found = json.loads(run("show", str(rules), "--no-cache", "--json").out)
    assert [c["name"] for c in found["claims"]] == ["back", "zero"]
    assert "did you mean `zero`" in run("show", str(rules), "zerro").err
    sound = [o for o in catalogue([str(rules)]) if o.kind == "sound"]
    assert [(o.subject, o.where) for o in sound] == [("back", f"{rules}:3"), ("zero", f"{rules}:4")]
    declared = tmp_path / "own.py"
    declared.write_text(
        "from indexproof.core.expr import Expr\nfrom indexproof.core.rewrite import Rewrite, rule\n\n\n"
        "@rule(fires={'(4 * a) // 2': '2 * a'}, keeps=['a // 3'])\n"
        'def halved(x: Expr) -> Rewrite:\n    """Half of 4·x."""\n    return Rewrite((x * 4) // 2, x * 2)\n'
    )
    shown = run("show", str(declared), "--no-cache").out
    assert shown.startswith(f"halved   rule, {declared}:5\n  Half of 4·x.\n")
    assert {o.subject for o in catalogue([str(declared)])} == {"halved"}


def test_what_is_ill_formed_costs_only_itself(run: Run, tmp_path: Path) -> None:
    """An ill-formed rule and a Python file that raises are reported after the verdicts on all other claims."""
    rules, fails = tmp_path / "a.rules", tmp_path / "fails.py"
    rules.write_text("int x, y\nbad: x + -> y\ngood: x + 0 -> x\nworse: x -> z\n", "utf-8")
    fails.write_text("raise ValueError('on purpose')\n", "utf-8")
    done = run("prove", rules, fails, "--no-cache", "--jobs", 1)
    assert done.status == 3
    assert "PROVED   good" in done.out
    assert done.out.endswith("\nILL-FORMED  3 statements or files not read\n")
    assert run("prove", rules, "--no-cache", "--jobs", 1, "-q").out == "ILL-FORMED  2 statements or files not read\n"
    for place in (f"in {rules}: line 2", f"in {rules}: line 4", "fails.py: ValueError: on purpose"):
        assert place in done.err
    data = answer(run("prove", rules, fails, "--no-cache", "--jobs", 1, "--json").out)
    assert (data["verdict"], data["exit_status"]) == ("ILL-FORMED", 3)
    assert [e["line"] for e in data["ill_formed"]] == [2, 4, 1]
    # a broken file alone gives exit status 3 and no verdict
    alone = run("prove", fails)
    assert (alone.status, alone.out) == (3, "")


def test_quiet_and_verbose(run: Run, broken: Path) -> None:
    plain, quiet = run("prove", broken, "--jobs", 1), run("prove", broken, "--jobs", 1, "-q")
    assert (quiet.status, quiet.err) == (1, "")
    assert quiet.out.count("\n") == 1
    assert quiet.out.partition(" in ")[0] == plain.out.splitlines()[-1].partition(" in ")[0]
    verbose = run("-v", "prove", "quotient_by_one", "--jobs", 1, "--no-cache")
    steps = [line for line in verbose.err.splitlines() if " obligations" in line]
    assert len(steps) > 3
    assert run("prove", "quotient_by_one", "--jobs", 1, "--no-cache").err == ""
    assert "-v" in run("--help").out
