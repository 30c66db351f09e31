"""The report of a run, in text and as JSON, from invented results."""

from __future__ import annotations

import io

import pytest

from indexproof.core.expr import var
from indexproof.reports.layout import block, duration, spent, table, write
from indexproof.reports.machine import run_json
from indexproof.reports.progress import Watcher
from indexproof.reports.selection import everything, select
from indexproof.reports.summary import grouped, interruption, redundant, strategies, summary, verdict_line, widening
from indexproof.verify import outcome
from indexproof.verify.obligation import Obligation
from indexproof.verify.outcome import Result, Run
from indexproof.verify.verdict import Status, Verdict

NAMES = ("quotient_of_quotient", "quotient_by_one", "transpose permutation=(1, 0)")
CLAIMS = [s.named for s in select(NAMES, everything(2))]


def made(status: Status, subject: str = "quotient_of_quotient", kind: str = "sound", **more: object) -> Result:
    seconds = more.pop("seconds", 0.001)
    strategy = more.pop("strategy", "witness")
    witness = more.pop("witness", None)
    family = "op" if " " in subject else "rule"
    x = var("x")
    o = Obligation(family, subject, kind, (), x.eq(x + 1), **more)
    return Result(o, Verdict(status, str(strategy), witness=witness, seconds=seconds))


def text_of(run: Run) -> str:
    return "\n\n".join(summary(run, CLAIMS, repairs=0))


PROVED = made(Status.PROVED)


def test_groups_are_families_and_their_rules_and_ops() -> None:
    run = Run([PROVED, made(Status.PROVED, "transpose rank 2, permutation=(1, 0)", seconds=0.5)])
    families, groups = grouped(run, CLAIMS)
    assert [(g.name, g.claims) for g in families] == [("rule", 2), ("op", 1)]
    assert [(g.name, g.claims) for g in groups] == [
        ("quotient_of_quotient", 1),
        ("quotient_by_one", 1),
        ("transpose", 1),
    ]
    assert families[1].slowest is run.results[1]
    assert families[1].median == 0.5


def test_findings_do_not_count_as_failures() -> None:
    run = Run(
        [
            PROVED,
            made(Status.VACUOUS, kind="needs 0 < b", gate=False),
            made(Status.REFUTED, kind="no new overflow, int32", gate=False, witness={"x": 5}),
            made(Status.UNDECIDED, kind="no new overflow, int64", gate=False),
        ]
    )
    assert run.exit_status == 0
    assert redundant(run) == {"quotient_of_quotient": ["0 < b"]}
    assert [r.obligation.kind for r in widening(run)] == ["no new overflow, int32"]
    text = text_of(run)
    assert "quotient_of_quotient  0 < b" in text
    assert "int32: x = 5" in text
    assert "quotient_of_quotient  no new overflow, int64" in text
    assert verdict_line(run, 3).startswith("PROVED  3 claims, 1 obligation, all proved; 3 findings besides")


@pytest.mark.parametrize(
    "status", [Status.REFUTED, Status.VACUOUS, Status.UNDEFINED, Status.UNDECIDED, Status.NOT_CHECKED]
)
def test_whatever_is_not_proved_is_named(status: Status) -> None:
    run = Run([PROVED, made(status, "quotient_by_one", witness={"x": 1})])
    line = verdict_line(run, 3)
    assert line.startswith(f"{status.value}  3 claims, 2 obligations of which 1 {status.value}")
    data = run_json(run, CLAIMS)
    assert data["verdict"] == status.value
    assert data["counts"][status.value] == 1
    # only a decided obligation gets a block of its own
    assert (f"{status.value}  quotient_by_one" in text_of(run)) == (status is not Status.NOT_CHECKED)


def test_nothing_checked() -> None:
    assert "nothing was checked" in verdict_line(Run([]), 0)
    assert run_json(Run([]), [])["exit_status"] == 2


def test_an_interrupted_run() -> None:
    run = Run([PROVED, made(Status.NOT_CHECKED, strategy="")], interrupted=True)
    assert interruption(run) == "interrupted: 1 question of 2 not asked; 1 verdict kept in the cache"
    assert interruption(run) in "\n".join(summary(run, CLAIMS))
    assert "for lack of a cache" in "\n".join(summary(run, CLAIMS, cached=False))
    assert interruption(Run(run.results[1:], interrupted=True)) == "interrupted: 1 question of 1 not asked"


def test_strategies_that_worked_together_count_each() -> None:
    run = Run([PROVED, made(Status.PROVED, strategy="witness + linear")])
    assert strategies(run) == {"witness": 2, "linear": 1}


# ----------------------------------------------------------------------------------------------------- layout
def test_blocks_and_tables() -> None:
    assert block("head", [("a", "1\n2"), ("", "3")]) == "head\n  a        1\n           2\n           3"
    assert table([("a", "1"), ("bb", "10")], right=[1]) == ["a    1", "bb  10"]
    assert table([]) == []


@pytest.mark.parametrize(("seconds", "text"), [
    (0.0, "0.0 ms"),
    (0.00994, "9.9 ms"),
    (0.01, "10 ms"),
    (0.9994, "999 ms"),
    (0.9996, "1.0 s"),
    (61, "61.0 s"),
])  # fmt: skip
def test_durations(seconds: float, text: str) -> None:
    assert duration(seconds) == text


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_colour_is_for_terminals(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    pipe, terminal = io.StringIO(), Terminal()
    text = "PROVED  [bold]" + "x" * 300
    write(text, pipe)
    write(text, terminal)
    assert pipe.getvalue() == text + "\n"
    assert "\x1b[" in terminal.getvalue()
    # the text is not read as markup
    assert "[bold]" in terminal.getvalue()


def test_a_terminal_breaks_lines_between_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setenv("TERM", "dumb")
    terminal = Terminal()
    write("head\n  claim    " + "word " * 12 + "\n  again    " + "x" * 50, terminal)
    assert terminal.getvalue().splitlines() == [
        "head",
        "  claim    word word word word word word",
        "           word word word word word word",
        "  again",
        "           " + "x" * 50,
    ]


def test_one_wrong_map_is_one_block() -> None:
    claims = [s.named for s in select(["transpose"], everything(3))]
    results = [
        made(Status.REFUTED, c.name, kind, witness={"x": 1})
        for c in claims
        if "rank 3" in c.name or "rank 2" in c.name
        for kind in ("output to input sound", "output to input complete")
    ]
    results.append(made(Status.REFUTED, claims[-1].name, "input to output sound", witness={"x": 1}))
    text = "\n\n".join(summary(Run(results), claims, repairs=0))
    blocks = [b for b in text.split("\n\n") if b.startswith("REFUTED  transpose rank")]
    assert len(blocks) == 2
    assert "  fails in  8 of 10 instances (rank 2: 2 of 2, rank 3: 6 of 6)" in blocks[0].splitlines()
    assert "fails in" not in blocks[1]


def test_progress_in_a_pipe_is_a_line_for_every_tenth() -> None:
    pipe = io.StringIO()
    with Watcher(200, pipe) as watcher:
        for n in range(200):
            watcher(made(Status.REFUTED if n == 30 else Status.PROVED))
    lines = pipe.getvalue().splitlines()
    assert len(lines) == 10
    assert lines[0] == " 10%  20 of 200 obligations"
    assert lines[-1] == "100%  200 of 200 obligations   1 REFUTED"
    small = io.StringIO()
    with Watcher(20, small) as watcher:
        for _ in range(20):
            watcher(PROVED)
    assert not small.getvalue()


def test_progress_on_a_terminal_is_a_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    terminal = Terminal()
    with Watcher(20, terminal) as watcher:
        for _ in range(20):
            watcher(PROVED)
    assert "20/20" in terminal.getvalue()


def test_more_processes_than_cores_are_no_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outcome, "available_cores", lambda: 2)
    assert [spent(0.25, jobs) for jobs in (1, 2)] == ["in 250 ms on 1 core", "in 250 ms on 2 cores"]
    assert spent(2, 1000) == "in 2.0 s by 1,000 processes"
