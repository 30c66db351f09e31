"""The trust commands: `prove --confirm`, `--recheck`, `--cache off`, `export`, `stability`, `dev faults`."""

from __future__ import annotations

import errno
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dev.faults import run as sabotage
from dev.faults.fault import Batch, Fault
from dev.stability import stability as stability_module
from indexproof.verify.trust.solvers import available, z3_reply
from indexproof.verify.verdict import Status, Verdict
from json_forms import FORMS

Run = Callable[..., Any]
needs_cvc5 = pytest.mark.skipif(not available(), reason="needs cvc5")

RULES = """
int x
const c
multiple: (x * c) / c -> x if c != 0
wrong: (x * c) / c -> x + 1 if c != 0
"""


@needs_cvc5
def test_confirmed_verdicts_have_a_column(run: Run) -> None:
    done = run("prove", "quotient_by_one", "interval_sum", "--confirm", "cvc5", "--jobs", 1)
    assert done.status == 0
    assert "confirmed" in done.out.splitlines()[0]
    assert "confirmed by cvc5" in done.out
    assert ", all confirmed by cvc5" in done.out.splitlines()[-1]
    data = json.loads(run("prove", "quotient_by_one", "--confirm", "cvc5", "--jobs", 1, "--json").out)
    assert set(data) == set(FORMS["prove"])
    assert data["confirmed"]["solver"].startswith("cvc5 ")
    assert all(r["confirmed"] for r in data["results"])
    plain = json.loads(run("prove", "quotient_by_one", "--jobs", 1, "--json").out)
    assert plain["confirmed"] is None
    assert "confirmed" not in plain["results"][0]


@needs_cvc5
def test_rule_files_are_confirmed_too(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "few.rules"
    path.write_text(RULES, "utf-8")
    done = run("prove", path, "--confirm", "cvc5", "--jobs", 1)
    assert done.status == 1
    rows = [line.split() for line in done.out.splitlines()[:3]]
    assert "confirmed" in rows[0]
    assert rows[1][:2] == ["PROVED", "multiple"]
    assert "example" in rows[2]
    data = json.loads(run("prove", path, "--confirm", "cvc5", "--jobs", 1, "--json").out)
    assert set(data) == set(FORMS["prove FILE"])
    assert all(r["confirmed"] for r in data["rules"])


@needs_cvc5
def test_a_disagreement_stops_the_run_and_writes_a_report(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "wrong.py"
    path.write_text(
        "from indexproof.core.rewrite import Const, Expr, Rewrite, rule\n"
        "@rule()\n"
        "def far(x: Expr, c: Const):\n"
        "    'False where nobody looks.'\n"
        "    return Rewrite(x // c, 0, when=(c.eq(5003), x.within(0, 5003)))\n",
        "utf-8",
    )
    monkeypatch.setattr("indexproof.verify.run.decide", lambda o, budget: Verdict(Status.PROVED, "linear"))
    done = run("prove", path, "far: sound", "--confirm", "cvc5", "--jobs", 1, "--no-cache")
    assert done.status == 4
    assert done.err.splitlines()[0] == "DISAGREEMENT  far: sound"
    assert "Traceback" not in done.err
    (question,) = tmp_path.glob("disagreement-*.smt2")
    assert z3_reply(question.read_text("utf-8"), 1_000_000).answer == "sat"
    (answers,) = tmp_path.glob("disagreement-*.json")
    said = json.loads(answers.read_text("utf-8"))
    assert said["answers"]["verdict"] == "unsat"
    assert any(name.startswith("z3 ") for name in said["answers"])
    assert any(name.startswith("cvc5 ") for name in said["answers"])


def test_no_cache_has_another_name(run: Run, own_cache: Path) -> None:
    assert run("prove", "quotient_by_one", "--cache", "off", "--jobs", 1).status == 0
    assert not own_cache.exists()
    assert not Path("off").exists()


def test_kept_verdicts_are_proved_again(run: Run) -> None:
    run("prove", "quotient_by_one", "--jobs", 1)
    data = json.loads(run("prove", "quotient_by_one", "--jobs", 1, "--recheck", 100, "--json").out)
    assert data["timing"]["from_cache"] == 0
    assert data["timing"]["damaged_cache_entries"] == 0
    data = json.loads(run("prove", "quotient_by_one", "--jobs", 1, "--json").out)
    assert data["timing"]["from_cache"] == len(data["results"])


def test_what_is_not_believed_is_said(run: Run, own_cache: Path) -> None:
    run("prove", "quotient_by_one", "--jobs", 1)
    own_cache.with_name(own_cache.name + ".key").write_text("0" * 64, "ascii")
    done = run("prove", "quotient_by_one", "--jobs", 1)
    assert done.status == 0
    assert "the cache was sealed with another key, so everything is proved again" in done.out


# ------------------------------------------------------------------------------------------------------------- export
def exported(run: Run, folder: Path, *words: object) -> list[dict[str, Any]]:
    """Export claims, check that z3 gives the expected answer to every question, and return the obligations."""
    assert run("export", *words, "--to", folder, "--jobs", 1).status == 0
    found = json.loads((folder / "index.json").read_text("utf-8"))["obligations"]
    questions = [q for o in found for q in o["questions"]]
    assert {q["file"] for q in questions} == {p.name for p in folder.glob("*.smt2")}
    for q in questions:
        text = (folder / q["file"]).read_text("utf-8")
        assert f"(set-info :status {q['expected']})" in text
        assert z3_reply(text, 300_000).answer in (q["expected"], "unknown") or q["expected"] == "unknown"
    return found


def test_export(run: Run, tmp_path: Path) -> None:
    found = exported(run, tmp_path / "out", "small_remainder_vanishes", "--questions")
    sound = next(o for o in found if o["obligation"] == "sound")
    assert sound["verdict"] == "PROVED"
    assert len(sound["questions"]) > 1


def test_every_case_of_a_false_rule_has_an_expected_answer(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "cases.rules"
    path.write_text(RULES, "utf-8")
    assert exported(run, tmp_path / "few", path)
    path.write_text(
        "semantics trunc\nintegers 32 bits undefined\nint x\nconst c, d\n"
        "nested: (x / c) / d -> x / fold(c * d) if c > 0, d > 0\n",
        "utf-8",
    )
    for o in exported(run, tmp_path / "out", path):
        assert len(o["questions"]) > 1
        answers = [q["expected"] for q in o["questions"]]
        assert o["obligation"] != "sound" or {*answers} <= {"sat", "unsat"}
        assert "sat" in answers


@needs_cvc5
def test_export_with_proofs(run: Run, tmp_path: Path) -> None:
    done = run("export", "quotient_by_one", "--to", tmp_path / "out", "--questions", "--proofs", "--jobs", 1)
    assert done.status == 0
    assert "without a step taken on trust" in done.out
    assert list((tmp_path / "out").glob("*.proof"))


def test_export_needs_a_folder(run: Run, tmp_path: Path) -> None:
    assert run("export", "quotient_by_one").status == 3
    (tmp_path / "file").write_text("", "utf-8")
    done = run("export", "quotient_by_one", "--to", tmp_path / "file")
    assert done.status == 3
    assert "cannot write" in done.err


# ---------------------------------------------------------------------------------------------- stability and faults
def test_stability(run: Run) -> None:
    words = ["dev", "stability", "small_remainder_vanishes", "interval_sum", "--jobs", 1]
    done = run(*words, "--mutants", 2)
    assert done.status == 0
    assert done.out.splitlines()[-1].startswith("STABLE  ")
    assert "2 mutants each, none unstable" in done.out
    assert run(*words, "--sample", 0).status == 2


def test_tools_that_are_not_installed_are_named_with_the_remedy(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("indexproof.reports.commands.dev._FOLDER", tmp_path / "tests/dev")
    for words in (["fuzz"], ["stability", "--help"]):
        done = run("dev", *words)
        assert done.status == 3
        assert done.err.startswith("error: the tools for developing indexproof are not installed")
        assert done.err.count("\n") == 1
        assert "checkout" in done.err


def test_faults(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    outcomes = {"crash": [Fault("crash", "one", "not checked")], "claim": [Fault("claim", "two", "refuted")]}
    monkeypatch.setattr(sabotage, "tasks", lambda: [Batch("crash")])
    monkeypatch.setattr(sabotage, "perform", lambda t: outcomes[t.kind])
    done = run("dev", "faults", "--jobs", 1)
    assert done.status == 0
    assert done.out.splitlines()[-1].startswith("NOTICED  1 case, every one noticed")
    assert "100%  crash: 1 case" in done.err
    outcomes["crash"] = [Fault("crash", "one", "")]
    assert run("dev", "faults", "--jobs", 1).status == 1


def test_certificates_that_are_none(run: Run, tmp_path: Path) -> None:
    for name, content, said in (
        ("cut.json", b'{"format": [', "line 1, column 13: the JSON ends too early"),
        ("bytes.json", b"\xe9", "is not text: byte 0 is not UTF-8"),
        ("deep.json", b"[" * 100_000, "the JSON ends too early"),
        ("list.json", b"[]", "an empty list is no object"),
    ):
        file = tmp_path / name
        file.write_bytes(content)
        outcome = run("replay", file)
        assert outcome.status == 3, outcome.err
        assert said in outcome.err
        assert "codec" not in outcome.err
    outcome = run("replay", tmp_path / "nothing.json")
    assert outcome.status == 3
    assert "nothing.json`: No such file or directory" in outcome.err


# ------------------------------------------------------------------------------------------- what cannot be written
def limited(blocks: int, *words: object) -> Any:
    """Run a command that may write files of at most this many kilobytes."""
    command = ["bash", "-c", f'ulimit -f {blocks}; "$0" -m indexproof "$@"', sys.executable, *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False)


@pytest.mark.skipif(sys.platform == "win32", reason="no limits of the size of files")
def test_what_was_proved_is_told_also_where_certificates_cannot_be_written(tmp_path: Path) -> None:
    folder = tmp_path / "certificates"
    done = limited(0, "prove", "quotient_of_quotient", "--jobs", 1, "--no-cache", "--certificates", folder)
    assert done.returncode == 3
    assert done.stderr.splitlines()[-1] == f"error: --certificates: cannot write `{folder}`: File too large"
    assert done.stdout.splitlines()[-1].startswith("PROVED  1 claim, ")


def test_where_certificates_cannot_be_written_is_said(run: Run) -> None:
    done = run("prove", "--certificates", __file__)
    assert done.status == 3
    assert done.err == f"error: --certificates: cannot write `{__file__}`: File exists\n"


@pytest.mark.parametrize(("error", "said"), [
    (BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable"), "Resource temporarily unavailable"),
    (OSError(errno.EMFILE, "Too many open files"), "Too many open files"),
    (MemoryError(), "out of memory"),
])  # fmt: skip
def test_a_machine_that_has_no_room_is_no_bug(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, error: Exception, said: str
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(stability_module, "stability", fail)
    done = run("dev", "stability", "quotient_by_one", "--jobs", 1)
    assert (done.status, done.err) == (2, f"not checked: the machine has not enough for this: {said}\n")
