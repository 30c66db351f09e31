"""The command as a process: start-up, pipes, bad input, interruption, bugs."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import FunctionType
from typing import Any

import pytest
import typer
from typer.main import get_command
from typer.testing import CliRunner

from dev.documents.reference import help_texts
from indexproof import __version__
from indexproof.cli import app
from indexproof.core.errors import InputError
from indexproof.reports.commands import maps
from indexproof.reports.commands.frame import Commands
from indexproof.reports.commands.options import documented

Run = Callable[..., Any]


def test_starting_loads_nothing_heavy() -> None:
    code = (
        "import sys, indexproof.cli\n"
        "heavy = ('z3', 'islpy', 'numpy', 'rich', 'jax', 'sympy', 'indexproof.core.expr')\n"
        "heavy += ('indexproof.verify.obligation',)\n"
        "assert not set(heavy) & set(sys.modules)\n"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("shown", ["x < 3", "x + 3", "x | 3"])
def test_operators_of_expressions_are_complete_whatever_is_loaded_first(shown: str) -> None:
    """Comparisons and printing work before their modules, which are loaded lazily, have been imported."""
    made = {"x | 3": "x.divides(3)"}.get(shown, shown)
    code = f"from indexproof.core.expr import var\nx = var('x')\nprint({made})"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.replace("∣", "|") == f"{shown}\n"


def test_help_and_version(spawn: Run) -> None:
    assert spawn("--version").out == f"indexproof {__version__}\n"
    done = spawn("--help")
    assert done.status == 0
    for name in ("prove", "check", "equal", "simplify", "show", "layout", "dev"):
        assert f"  {name} " in done.out
    assert "Exit status" in done.out


def test_help_is_short_enough() -> None:
    texts = help_texts(get_command(app))
    top = [words for words in texts if words.count(" ") == 1]
    # twelve, three for repositories (gate, init, report), and two for maps and kernels (property, pallas)
    assert len(top) <= 17
    for words, text in texts.items():
        assert max(map(len, text.split("\n"))) <= 80, words
        assert not re.search(r"\w\.\.\.\n", text.partition("\n\n")[2]), words


def test_no_command_is_answered_with_the_help(spawn: Run) -> None:
    done = spawn()
    assert done.status == 3
    assert done.err.startswith("Usage: indexproof")


def test_a_pipe_gets_plain_lines(spawn: Run) -> None:
    done = spawn("prove", "transpose", "--jobs", 2)
    assert done.status == 0
    assert "\x1b" not in done.out + done.err
    assert "\r" not in done.err
    lines = done.err.splitlines()
    assert [line.split("%")[0].strip() for line in lines] == [str(k) for k in range(10, 101, 10)]


def test_a_reader_that_has_gone(tmp_path: Path) -> None:
    command = f"{sys.executable} -m indexproof show | head -1"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    assert done.stdout.startswith("rule: ")
    assert not done.stderr


def started(*words: str) -> subprocess.Popen[str]:
    """Start a command with its output in pipes."""
    command = [sys.executable, "-m", "indexproof", *words]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, encoding="utf-8")


@pytest.mark.parametrize(("words", "status"), [
    (["equal", "(d0) -> (d0), domain: d0 in [0, 9]", "(d0) -> (d0), domain: d0 in [0, 9]"], 0),
    (["equal", "(d0) -> (d0), domain: d0 in [0, 9]", "(d0) -> (d0), domain: d0 in [0, 8]", "--json"], 1),
    (["prove", "interval_sum", "--no-cache", "--jobs", "1"], 0),
    (["convert", "(d0) -> (d0), domain: d0 in [0, 9]", "--to", "c"], 0),
    (["show"], 0),
    (["--help"], 0),
    (["prove", "--help"], 0),
])  # fmt: skip
def test_a_verdict_does_not_depend_on_whether_somebody_reads_it(words: list[str], status: int) -> None:
    with started(*words) as process:
        process.stdout.close()
        said = process.stderr.read()
    assert process.returncode == status
    assert not [line for line in said.splitlines() if "%" not in line]


@pytest.mark.parametrize(
    ("words", "status"), [(["prove", "transpose", "--no-cache", "--jobs", "2"], 0), (["prove", "transpos"], 3)]
)
@pytest.mark.parametrize("full", [False, True])
def test_nobody_reads_what_a_run_says_meanwhile(words: list[str], status: int, full: bool) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    if full:
        os.dup2(os.open("/dev/full", os.O_WRONLY), writer)
    command = [sys.executable, "-m", "indexproof", *words]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=writer, check=False)
    os.close(writer)
    assert done.returncode == status
    assert done.stdout.startswith(b"           claims") == (status == 0)


@pytest.mark.parametrize(("source", "said"), [
    ("def f(:\n", "line 1, column 7"),
    ("x = 1\nraise ValueError('no')\n", "line 2, column 1: "),
    ("import no_such_module\n", "ModuleNotFoundError"),
    ("raise SystemExit(0)\n", "SystemExit"),
    ("from indexproof.core.rewrite import *\n@rule()\ndef f(x):\n    'says'\n    return Rewrite(x, " "x)\n",
        "annotate `x`"),
    ("from indexproof.core.rewrite import *\n@rule()\ndef f(x: Const):\n    return Rewrite(x, x)\n",
        "say in a docstring"),
    ("from indexproof.core.rewrite import *\n@rule()\ndef f(c: Const, d: Const):\n    'says'\n    "
        "return Rewrite(c, d)\n", "nothing binds it"),
    ("x = '\0'\n", "null bytes"),
    ("\xff\xfe\0", "is not text"),
])  # fmt: skip
def test_a_file_that_declares_nothing_sensible(run: Run, tmp_path: Path, source: str, said: str) -> None:
    path = tmp_path / "wrong.py"
    path.write_text(source, "latin-1")
    done = run("prove", path)
    assert done.status == 3, done.err
    assert said in done.err
    assert "Traceback" not in done.err
    assert str(path) in done.err.splitlines()[0]


# ----------------------------------------------------------------------------------------------- interruption
def children(pid: int) -> list[int]:
    """Return the child processes of a process, or an empty list where the system does not tell them."""
    said = Path(f"/proc/{pid}/task/{pid}/children")
    return [int(word) for word in said.read_text("ascii").split()] if said.exists() else []


def still_there(pid: int) -> bool:
    """Return whether a process is still alive after five seconds."""
    for _ in range(100):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return False
        time.sleep(0.05)
    return True


@pytest.mark.parametrize(("jobs", "number"), [(1, signal.SIGINT), (2, signal.SIGINT), (2, signal.SIGTERM)])
def test_an_interrupted_run_keeps_what_it_has(spawn: Run, own_cache: Path, jobs: int, number: signal.Signals) -> None:
    words = ["prove", "ops", "--max-rank", "1", "--jobs", str(jobs)]
    process = started(*words)
    line = process.stderr.readline()
    assert line.startswith(" 10%"), line
    helpers = children(process.pid)
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 2, err
    assert not [pid for pid in helpers if still_there(pid)]
    assert "Traceback" not in err
    last = out.splitlines()[-2:]
    said = re.fullmatch(r"interrupted: .*; (\d+) verdicts? kept in the cache", last[0])
    assert said, last[0]
    assert "NOT CHECKED" in last[1]
    # an interrupted claim does not count as undecided
    assert "UNDECIDED" not in last[1]
    assert int(said[1]) > 0
    assert own_cache.is_file()
    # the next run continues where this one stopped: one op shows it, whose claims come first
    again = spawn("prove", "elementwise", *words[2:], "--json", "--read-only-cache")
    assert json.loads(again.out)["timing"]["from_cache"] > 0


@pytest.mark.parametrize("work", ["time.sleep(60)", "eval('time.sleep(60)')"])
def test_an_interrupt_before_the_work(tmp_path: Path, work: str) -> None:
    path = tmp_path / "slow.py"
    path.write_text(f"import time\nprint('ready', flush=True)\n{work}\n", "utf-8")
    process = started("prove", str(path))
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 2
    assert err == "interrupted: nothing was checked\n"


def test_an_interrupt_while_the_command_line_is_read(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Commands, "make_context", interrupted)
    done = run("show")
    assert (done.status, done.err) == (2, "interrupted: nothing was checked\n")


def test_an_interrupt_while_the_commands_are_loaded(tmp_path: Path) -> None:
    slow = "import os, signal, time\nos.kill(os.getpid(), signal.SIGINT)\ntime.sleep(60)\n"
    (tmp_path / "typer.py").write_text(slow, "utf-8")
    path = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    for start in (["-m", "indexproof"], ["-c", "from indexproof.__main__ import main; main()"]):
        is_interrupted(*start, "show", PYTHONPATH=path)


@pytest.mark.parametrize("work", ["raise KeyboardInterrupt", "eval('_thread.interrupt_main() or time.sleep(60)')"])
def test_an_interrupt_before_the_command_line_is_read(work: str) -> None:
    code = (
        "import _thread, time, indexproof.cli, indexproof.__main__\n"
        f"def app():\n    {work}\n"
        "indexproof.cli.app = app\n"
        "indexproof.__main__.main()\n"
    )
    is_interrupted("-c", code)


def is_interrupted(*arguments: str, **env: str) -> None:
    done = subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, check=False, timeout=50, env={**os.environ, **env}
    )
    assert (done.returncode, done.stdout, done.stderr) == (2, "", "interrupted: nothing was checked\n")


class Solver:
    """An object of z3 whose destructor raises an exception."""

    def __init__(self, happens: type[BaseException]) -> None:
        self.happens = happens

    def __del__(self) -> None:
        raise self.happens("has no owner")

    # a function of z3, by its globals
    __del__ = FunctionType(__del__.__code__, {"__name__": "z3.z3"})


@pytest.mark.parametrize(("happens", "status"), [(KeyboardInterrupt, 2), (AttributeError, 3)])
def test_an_interrupt_in_a_destructor_is_not_lost(
    run: Run, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], happens: type, status: int
) -> None:
    def work(*_: object) -> None:
        Solver(happens)
        for _ in range(500 if happens is KeyboardInterrupt else 0):
            time.sleep(0.01)  # until the interrupt comes
        raise InputError("it went on")

    monkeypatch.setattr(maps, "any_maps", work)
    done = run("simplify", "x")
    assert done.status == status
    assert done.err == {2: "interrupted: nothing was checked\n", 3: "error: it went on\n"}[status]
    assert capfd.readouterr().err == ""


# ------------------------------------------------------------------------------------------------------- bugs
def failing(run: Run, monkeypatch: pytest.MonkeyPatch, error: Exception) -> Any:
    """Return the outcome of a command that raises this error."""

    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(maps, "any_maps", fail)
    return run("simplify", "x")


def test_a_bug_asks_to_be_reported(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    done = failing(run, monkeypatch, RuntimeError("something that should not happen"))
    assert done.status == 4
    assert done.err.startswith("internal error: RuntimeError: something that should not happen (test_process.py:")
    assert "Please report it" in done.err
    assert "Traceback" not in done.err


@pytest.mark.parametrize(("error", "status", "said"), [
    (ModuleNotFoundError("No module named 'z3'", name="z3"), 3,
        "error: a package that this needs cannot be loaded: "),
    (ImportError("libz3.so: cannot open shared object file"), 3, "libz3.so: cannot open shared object file"),
    (ImportError("cannot import name 'x'", name="indexproof.verify.solve"), 4, "internal error: ImportError: "),
])  # fmt: skip
def test_a_package_that_is_missing_or_broken_is_no_bug(
    run: Run, monkeypatch: pytest.MonkeyPatch, error: ImportError, status: int, said: str
) -> None:
    done = failing(run, monkeypatch, error)
    assert done.status == status
    assert said in done.err.splitlines()[0]
    assert ("pip check" in done.err) == (status == 3)


def test_debug_shows_where(spawn: Run) -> None:
    done = spawn("simplify", "(d0", "--debug")
    assert "Traceback" in done.err
    assert "InputError" in done.err


@pytest.mark.parametrize(("encoding", "times"), [("ascii", "*"), ("latin-1", "·"), ("utf-8", "·")])
def test_signs_that_an_encoding_lacks_are_spelled(
    spawn: Run, monkeypatch: pytest.MonkeyPatch, encoding: str, times: str
) -> None:
    monkeypatch.setenv("PYTHONIOENCODING", encoding)
    for more in ([], ["--json"]):
        assert spawn("show", "--family", "transfer", *more, encoding=encoding).status == 0
    text = "(d0, d1) -> ((d0 * 4 + d1) floordiv 12), domain: d0 in [0, 99], d1 in [0, 3]"
    said = spawn("simplify", "--explain", text, encoding=encoding).out
    arrow, within = ("→", "∈") if encoding == "utf-8" else ("->", "in")
    assert f"says     (4{times}d0 + d1) // 12  {arrow}  d0 // 3\n" in said
    assert f"since    d1 {within} [0, 3]   from d1 {within} [0, 3]\n" in said
    # characters without an ASCII spelling are escaped
    name = "日本".encode(encoding, "backslashreplace").decode(encoding)
    refused = spawn("prove", "日本", encoding=encoding).err
    assert refused.startswith(f"error: nothing in the catalogue is called `{name}`")


EQUAL = ["(d0) -> (d0), domain: d0 in [0, 9]", "(d0) -> (d0 + 0), domain: d0 in [0, 9]"]


@pytest.mark.skipif(sys.platform == "win32", reason="a shell of its own kind")
@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-", "<&-"])
def test_without_standard_streams_the_status_still_answers(closed: str) -> None:
    command = ["sh", "-c", f'"$0" -m indexproof equal "$@" {closed}', sys.executable]
    assert subprocess.run([*command, *EQUAL], capture_output=True, check=False).returncode == 0
    different = [EQUAL[0], EQUAL[1].replace("+ 0", "+ 1")]
    assert subprocess.run([*command, *different], capture_output=True, check=False).returncode == 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
def test_a_full_disk_is_no_bug() -> None:
    command = [sys.executable, "-m", "indexproof", "equal", *EQUAL]
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 3
    assert done.stderr == "error: cannot write the output: No space left on device\n"


def test_a_cache_that_is_turned_off_or_has_no_place(run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("INDEXPROOF_CACHE", "off")
    assert run("prove", "interval_sum", "--jobs", 1).status == 0
    assert not (tmp_path / "off").exists()
    monkeypatch.delenv("INDEXPROOF_CACHE")
    monkeypatch.delenv("XDG_CACHE_HOME")

    def unknown(self: Path) -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "expanduser", unknown)
    done = run("prove", "interval_sum", "--jobs", 1)
    assert (done.status, done.err) == (0, "")
    assert "damaged" not in done.out


# ------------------------------------------ What the docstring of a command says of its arguments and options
def grown(start: int, *, by: int = 2, loud: bool = False) -> None:
    """Grow.

    Args:
        start (N): Where to begin: a number.
        by (--step -s STEP 1..3): How much
            to add.
        loud: Say it twice.
    """
    typer.echo([start + by] * (1 + loud))


@pytest.mark.parametrize(("words", "said"), [
    ("4", "[6]"),
    ("4 -s 3 --loud", "[7, 7]"),
    ("4 --step 4", "Invalid value for '--step'"),
    ("4 --by 1", "No such option"),
    ("--help", "How much to add.  [default: 2; 1<=x<=3]"),
    ("--help", "Where to begin: a number."),
])  # fmt: skip
def test_an_entry_declares_flags_bounds_and_help(words: str, said: str) -> None:
    app = typer.Typer(rich_markup_mode=None)
    app.command()(documented(grown))
    assert said in CliRunner().invoke(app, words.split()).output


def test_what_has_no_entry_is_noticed() -> None:
    def silent(*, size: int = 1) -> None:
        """Do nothing."""

    with pytest.raises(KeyError, match="size"):
        documented(silent)
