"""The cache: tampering of every kind is noticed, and many processes may share a file, even if they are killed."""

from __future__ import annotations

import hmac
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from indexproof.core.expr import var
from indexproof.reports import summary
from indexproof.verify import cache as cache_module
from indexproof.verify.budget import Budget
from indexproof.verify.cache import FORMAT, KEY_VARIABLE, Cache, content_key
from indexproof.verify.obligation import Obligation
from indexproof.verify.proving import prove_all
from indexproof.verify.rulefiles import read_rule_file, stated_rule_obligations
from indexproof.verify.solve import decide
from indexproof.verify.verdict import Opinion, Status, Verdict

BUDGET = Budget()
x, y = var("x"), var("y")
TRUE_CLAIM = Obligation("test", "true", "sound", (x >= 1,), x * y + x > x * y)
FALSE_CLAIM = Obligation("test", "false", "sound", (x >= 1,), x * y > y)
EXAMPLE = Obligation("test", "example", "not vacuous", (x >= 1,), x * y >= 0, question="exists")
CLAIMS = (TRUE_CLAIM, FALSE_CLAIM, EXAMPLE)


@pytest.fixture(autouse=True)
def no_secret_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(KEY_VARIABLE, raising=False)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    place = tmp_path / "verdicts.sqlite"
    with Cache(place) as cache:
        for o in CLAIMS:
            cache.put(content_key(o, BUDGET), decide(o))
    return place


def edit(path: Path, change: Callable[[sqlite3.Connection], object]) -> None:
    db = sqlite3.connect(path)
    with db:
        change(db)
    db.close()


def read(path: Path, o: Obligation, **more: bool) -> tuple[Verdict | None, dict[str, int]]:
    with Cache(path, **more) as cache:
        return cache.get(content_key(o, BUDGET), o), {k: n for k, n in cache.refused.items() if n}


def resealed(path: Path, key: str, body: str) -> str:
    """Return the seal of an entry, as somebody with the secret computes it."""
    secret = bytes.fromhex(path.with_name(path.name + ".key").read_text("ascii"))
    return hmac.new(secret, f"indexproof {FORMAT}\0{key}\0{body}".encode(), "sha256").hexdigest()


# ---------------------------------------------------------------------------------------------------- what is kept
def test_verdicts_come_back_as_they_were(path: Path) -> None:
    for o in CLAIMS:
        found, refused = read(path, o)
        assert found == decide(o)
        assert not refused
    assert read(path, replace(TRUE_CLAIM, goal=x > y)) == (None, {})


def test_what_is_undecided_is_kept_and_what_was_not_asked_is_not(path: Path) -> None:
    undecided = Verdict(Status.UNDECIDED, tried=("linear",), detail="so many units")
    with Cache(path) as cache:
        cache.put("a", undecided)
        cache.put("b", Verdict(Status.NOT_CHECKED))
        assert cache.get("a") == undecided
        assert cache.get("b") is None


def test_opinions_are_kept(path: Path) -> None:
    v = Verdict(Status.PROVED, "linear", 7, opinion=Opinion("cvc5 1", True, 2, 2, resources=9))
    with Cache(path) as cache:
        cache.put("a", v)
        assert cache.get("a") == v


def test_a_confirmed_verdict_has_a_key_of_its_own() -> None:
    assert len({content_key(TRUE_CLAIM, BUDGET, who) for who in ("", "cvc5 1.0", "cvc5 1.1")}) == 3


# -------------------------------------------------------------------------------------------------- what is noticed
def test_a_true_claim_cannot_be_forged_false(path: Path) -> None:
    with Cache(path) as cache:
        for witness in (None, {}, {"x": 1, "y": 0}, {"x": 0, "y": 0}):
            cache.put("k", Verdict(Status.REFUTED, "model", 0, witness))
            assert cache.get("k", TRUE_CLAIM) is None


#: ``x / c * c -> x`` in Python and in a rule file, and a claim that is false only far from zero.
NEAR = Obligation("test", "near", "sound", (y.ne(0),), (x // y * y).eq(x))
_RULES = read_rule_file("int x\nconst c\nforged: x / c * c -> x if c != 0\n", "forged.rules")
RULE = next(iter(stated_rule_obligations(_RULES[0])))
FAR = Obligation("test", "far", "sound", (), x.ne(100_003))


@pytest.mark.parametrize("strategy", ["linear", "recombined digits + linear", "witness", "identity"])
@pytest.mark.parametrize("o", [NEAR, RULE], ids=["Python", "rule file"])
def test_a_false_claim_cannot_be_forged_true(path: Path, o: Obligation, strategy: str) -> None:
    with Cache(path) as cache:
        cache.put(content_key(o, BUDGET), Verdict(Status.PROVED, strategy))
        run = prove_all([o], jobs=1, cache=cache)
    assert run.results[0].verdict.status is Status.REFUTED
    assert run.refused_cache_entries == {"untrue": 1}
    assert read(path, o)[0] == run.results[0].verdict


def test_of_what_fails_only_far_away_no_identity_can_be_forged(path: Path) -> None:
    """A forged proof by identity is refused; one by the reduction is trusted with its seal until it is proved again."""
    with Cache(path) as cache:
        cache.put("k", Verdict(Status.PROVED, "identity"))
        assert cache.get("k", FAR) is None
        forged = Verdict(Status.PROVED, "linear")
        cache.put(content_key(FAR, BUDGET), forged)
        assert prove_all([FAR], jobs=1, cache=cache).results[0].verdict == forged
        assert prove_all([FAR], jobs=1, cache=cache, recheck=1.0).results[0].status is Status.REFUTED
        assert prove_all([FAR], jobs=1, cache=cache).results[0].status is Status.REFUTED


@pytest.mark.parametrize(
    "body", ["", "null", "[]", "{", '{"status": 2}', "1" * 5000, "[" * 100_000, '{"witness": [], "opinion": null}']
)
def test_sealed_nonsense_is_noticed(path: Path, body: str) -> None:
    seal = resealed(path, "k", body)
    edit(path, lambda db: db.execute("INSERT INTO entries VALUES (?, ?, ?)", ("k", body, seal)))
    with Cache(path) as cache:
        assert cache.get("k") is None
        assert cache.damaged == 1


def test_another_secret_believes_nothing(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY_VARIABLE, "of the CI")
    assert read(path, TRUE_CLAIM) == (None, {"altered": 1})
    with Cache(path) as cache:
        cache.put(content_key(TRUE_CLAIM, BUDGET), decide(TRUE_CLAIM))
    assert read(path, TRUE_CLAIM)[0] is not None
    monkeypatch.delenv(KEY_VARIABLE)
    assert read(path, TRUE_CLAIM) == (None, {"altered": 1})


def test_the_secret_is_for_its_owner(path: Path) -> None:
    place = path.with_name(path.name + ".key")
    assert place.stat().st_mode & 0o077 == 0
    place.write_text("no secret", "ascii")
    assert read(path, TRUE_CLAIM) == (None, {"altered": 1})
    place.unlink()
    assert read(path, TRUE_CLAIM, read_only=True) == (None, {"altered": 1})
    assert not place.exists()


@pytest.mark.skipif(not hasattr(os, "O_NOFOLLOW"), reason="links are followed")
def test_a_planted_link_in_place_of_the_lock_is_not_followed(tmp_path: Path) -> None:
    place, diary = tmp_path / "verdicts.sqlite", tmp_path / "diary"
    diary.write_text("mine", "utf-8")
    place.with_name(place.name + ".lock").symlink_to(diary)
    place.write_bytes(b"no database")
    with Cache(place) as cache:
        cache.put("key", Verdict(Status.PROVED, "test"))
    assert diary.read_text("utf-8") == "mine"


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="files have no owners")
@pytest.mark.parametrize("how", ["a link", "writable", "readable", "of another user", "a pipe"])
def test_a_secret_that_somebody_else_planted_or_may_change_is_not_trusted(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    place = path.with_name(path.name + ".key")
    planted, user = place.read_bytes(), os.geteuid()
    match how:
        case "a link":
            place.rename(tmp_path / "planted")
            place.symlink_to(tmp_path / "planted")
        case "writable" | "readable":
            place.chmod(0o622 if how == "writable" else 0o644)
        case "of another user":
            monkeypatch.setattr(os, "geteuid", lambda: user + 1)
        case _:
            place.unlink()
            os.mkfifo(place, 0o600)
    assert read(path, TRUE_CLAIM, read_only=True) == (None, {"altered": 1})
    # a run with write access makes a new secret and does not trust entries sealed with the old one
    assert read(path, TRUE_CLAIM) == (None, {"altered": 1})
    monkeypatch.undo()
    assert place.is_file()
    assert not place.is_symlink()
    assert place.stat().st_mode & 0o077 == 0
    assert place.read_bytes() != planted
    if how == "a link":
        assert (tmp_path / "planted").read_bytes() == planted


# ------------------------------------------------------------------------------------------------------- whole files
@pytest.mark.parametrize("keep", [0, 1, 15, 100, 4096, 5000, 8192])
def test_a_truncated_file_is_proved_again_and_used_again(path: Path, keep: int) -> None:
    path.write_bytes(path.read_bytes()[:keep])
    with Cache(path) as cache:
        run = prove_all(CLAIMS, jobs=1, cache=cache)
    assert [r.verdict for r in run.results] == [decide(o) for o in CLAIMS]
    with Cache(path) as cache:
        run = prove_all(CLAIMS, jobs=1, cache=cache)
        assert cache.hits == len(CLAIMS)
        assert not cache.damaged


@pytest.mark.parametrize("at", range(0, 12_000, 613))
def test_a_damaged_byte_never_changes_a_verdict(path: Path, at: int) -> None:
    data = bytearray(path.read_bytes())
    data[at % len(data)] ^= 0xFF
    path.write_bytes(data)
    with Cache(path) as cache:
        run = prove_all(CLAIMS, jobs=1, cache=cache)
    assert [r.verdict for r in run.results] == [decide(o) for o in CLAIMS]


def test_a_file_of_another_format_is_set_aside(path: Path) -> None:
    edit(path, lambda db: db.execute(f"PRAGMA user_version = {FORMAT - 1}"))
    before = path.read_bytes()
    assert read(path, TRUE_CLAIM, read_only=True) == (None, {"outdated": 1})
    assert path.read_bytes() == before
    assert read(path, TRUE_CLAIM) == (None, {"outdated": 1})
    assert path.with_name(path.name + ".damaged").exists()
    assert read(path, TRUE_CLAIM) == (None, {})


def test_a_database_of_something_else_is_not_read(tmp_path: Path) -> None:
    place = tmp_path / "other.sqlite"
    edit(place, lambda db: db.execute("CREATE TABLE songs (title TEXT)"))
    before = place.read_bytes()
    with Cache(place) as cache:
        assert cache.refused == {"outdated": 1}
        cache.put("k", decide(TRUE_CLAIM))
        assert cache.get("k") is not None
        run = prove_all([TRUE_CLAIM], jobs=1, cache=cache)
    # the file may be valuable: it is kept completely, and its new place is reported
    kept = place.with_name("other.sqlite.damaged")
    assert kept.read_bytes() == before
    assert f"the file was not a cache and was moved to {kept}" in summary.damage(run)


# --------------------------------------------------------------------------------------------------------- read only
@pytest.mark.parametrize("read_only", [False, True])
@pytest.mark.parametrize("made", [
    "CREATE VIEW entries AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) "
        "SELECT x AS key, x AS body, x AS seal FROM c",
    "CREATE TABLE entries (key, body, seal); CREATE TRIGGER t BEFORE INSERT ON entries "
        "BEGIN SELECT raise(ABORT, 'no'); END",
])  # fmt: skip
def test_what_would_be_computed_without_end_is_no_cache(path: Path, made: str, read_only: bool) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.executescript(f"DROP TABLE entries; {made}")
    with Cache(path, read_only=read_only) as cache:
        assert cache.get("key") is None
        cache.put("key", Verdict(Status.PROVED, "test"))
        assert cache.refused["outdated"] == 1
        assert (cache.get("key") is not None) == (not read_only)
        assert (cache.set_aside is None) == read_only


@pytest.mark.parametrize("length", [240, 246, 250, 251, 255])
def test_a_name_that_is_nearly_too_long(tmp_path: Path, length: int) -> None:
    place = tmp_path / ("x" * length)
    place.write_bytes(b"no database")
    for _ in range(2):
        with Cache(place) as cache:
            cache.put("key", Verdict(Status.PROVED, "test"))
            assert cache.get("key") in (None, Verdict(Status.PROVED, "test"))


def test_read_only_changes_nothing(path: Path) -> None:
    before = {p.name: p.read_bytes() for p in path.parent.iterdir()}
    with Cache(path, read_only=True) as cache:
        assert cache.get(content_key(TRUE_CLAIM, BUDGET), TRUE_CLAIM) is not None
        cache.put("k", decide(TRUE_CLAIM))
        assert cache.get("k") is None
    assert {p.name: p.read_bytes() for p in path.parent.iterdir()} == before


def test_read_only_on_a_damaged_file(path: Path) -> None:
    path.write_bytes(b"this is no database" * 1000)
    before = path.read_bytes()
    assert read(path, TRUE_CLAIM, read_only=True) == (None, {"unreadable": 1})
    assert path.read_bytes() == before


# --------------------------------------------------------------------------------------------------- many processes
WRITER = """
import sys
from pathlib import Path
from indexproof.verify.cache import Cache
from indexproof.verify.verdict import Status, Verdict

me, n = int(sys.argv[2]), int(sys.argv[3])
with Cache(Path(sys.argv[1])) as cache:
    print("ready", flush=True)
    for k in range(n):
        cache.put(f"{me}-{k}", Verdict(Status.PROVED, "linear", me * 100_000 + k))
        cache.put(f"shared-{k}", Verdict(Status.PROVED, "linear", k))
        if k % 50 == 0:
            print(k, flush=True)
    assert not cache.damaged, cache.refused
"""


def start(path: Path, me: int, n: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", WRITER, str(path), str(me), str(n)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=dict(os.environ))


def test_many_processes_write_one_file(tmp_path: Path) -> None:
    place = tmp_path / "shared.sqlite"
    writers = [start(place, me, 120) for me in range(4)]
    ended = [(w.communicate(timeout=120), w.returncode)[1] for w in writers]
    assert ended == [0, 0, 0, 0]
    with Cache(place) as cache:
        for me in range(4):
            assert all(cache.get(f"{me}-{k}").resources == me * 100_000 + k for k in range(120))
        assert all(cache.get(f"shared-{k}") is not None for k in range(120))
        assert not cache.damaged
    assert not list(tmp_path.glob("*.damaged"))


def test_two_processes_begin_one_file(tmp_path: Path) -> None:
    """Two processes may create the file at once, although SQLite then refuses to set the log mode without waiting."""
    place = tmp_path / "begun.sqlite"
    other = sqlite3.connect(place, isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    let_go = threading.Timer(0.2, other.execute, ["COMMIT"])
    let_go.start()
    with Cache(place) as cache:
        cache.put("k", Verdict(Status.PROVED, "linear", 1))
        assert cache.get("k") is not None
        assert not cache.refused
    let_go.join()
    other.close()


def test_a_file_that_stays_locked_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache_module, "_SECONDS", 0.1)
    place = tmp_path / "held.sqlite"
    other = sqlite3.connect(place, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with Cache(place) as cache:
        run = prove_all([TRUE_CLAIM], jobs=1, cache=cache)
        cache.put("k", decide(TRUE_CLAIM))
    other.execute("COMMIT")
    other.close()
    assert (run.damaged_cache_entries, run.refused_cache_entries) == (0, {"locked": 1})
    assert "another process kept the cache locked" in summary.damage(run)
    assert not place.with_name(place.name + ".damaged").exists()
    assert run.results[0].verdict.status is Status.PROVED


def test_what_a_full_disk_does_not_take_is_told(tmp_path: Path) -> None:
    """If the disk is full, the verdicts are right but not cached, and the file is not damaged."""
    place = tmp_path / "full.sqlite"
    Cache(place).__exit__()
    with Cache(place) as cache:
        cache._db.execute(f"PRAGMA max_page_count={cache._db.execute('PRAGMA page_count').fetchone()[0]}")
        cache.put("long", Verdict(Status.UNDECIDED, detail="x" * 100_000))
        assert (cache.unkept, cache.trouble) == (1, "database or disk is full")
        cache._db.execute("CREATE TEMP TRIGGER full BEFORE INSERT ON entries BEGIN SELECT RAISE(FAIL, 'full'); END")
        cache.unkept = 0
        run = prove_all([TRUE_CLAIM, EXAMPLE], jobs=1, cache=cache)
    assert (run.status, run.unkept, run.damaged_cache_entries) == (Status.PROVED, 2, 0)
    assert summary.damage(run) == "2 verdicts could not be kept in the cache: full"
    run.interrupted = True
    assert summary.interruption(run).endswith("0 verdicts kept in the cache")


@pytest.mark.skipif(sys.platform == "win32", reason="no limits of the size of files")
@pytest.mark.parametrize("blocks", [0, 8])
def test_a_file_that_must_not_grow(tmp_path: Path, blocks: int) -> None:
    command = f'ulimit -f {blocks}; "$0" -m indexproof prove interval_sum --jobs 1 --cache "$1"'
    words = ["bash", "-c", command, sys.executable, str(tmp_path / "verdicts.sqlite")]
    done = subprocess.run(words, capture_output=True, text=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stderr
    assert "could not be kept in the cache: " in done.stdout
    assert "damaged" not in done.stdout


def test_a_killed_process_loses_nothing_that_was_kept(tmp_path: Path) -> None:
    place = tmp_path / "killed.sqlite"
    for me in range(3):
        w = start(place, me, 100_000)
        reached = -1
        while reached < 100:
            line = w.stdout.readline().strip()
            reached = int(line) if line.isdigit() else reached
        time.sleep(0.01 * me)
        w.send_signal(signal.SIGKILL)
        w.wait()
        w.stdout.close()
        with Cache(place) as cache:
            assert all(cache.get(f"{me}-{k}") is not None for k in range(reached))
            assert not cache.damaged
            assert cache._db.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_processes_that_meet_a_damaged_file_set_it_aside_once(tmp_path: Path) -> None:
    place = tmp_path / "bad.sqlite"
    place.write_bytes(b"this is no database, however it is read" * 300)
    writers = [start(place, me, 60) for me in range(4)]
    said = [w.communicate(timeout=120)[0] for w in writers]
    assert all("ready" in text for text in said)
    with Cache(place) as cache:
        kept = sum(cache.get(f"{me}-{k}") is not None for me in range(4) for k in range(60))
    # any process may meet the damage and count it, which a writer's assertion may report; no entry is lost
    assert kept == 240


def test_a_copy_needs_its_secret(path: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    shutil.copy(path, elsewhere / path.name)
    assert read(elsewhere / path.name, TRUE_CLAIM, read_only=True) == (None, {"altered": 1})
    shutil.copy(path.with_name(path.name + ".key"), elsewhere)
    assert read(elsewhere / path.name, TRUE_CLAIM, read_only=True)[0] is not None


def test_a_secret_that_appears_meanwhile_stays(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A secret that another process creates between the check and the creation is kept."""
    place = path.with_name(path.name + ".key")
    before = place.read_bytes()
    real = cache_module._secret_in
    calls: list[Path] = []

    def late(p: Path) -> bytes | None:
        calls.append(p)
        return None if len(calls) == 1 else real(p)

    monkeypatch.setattr(cache_module, "_secret_in", late)
    with Cache(path) as cache:
        assert cache.get(content_key(TRUE_CLAIM, BUDGET), TRUE_CLAIM) is not None
    assert place.read_bytes() == before
    assert not [p.name for p in path.parent.iterdir() if ".key." in p.name]


def test_a_lock_is_no_damage(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that another process has locked is not taken for damaged."""
    monkeypatch.setattr(cache_module, "_SECONDS", 0.1)
    monkeypatch.delenv(KEY_VARIABLE, raising=False)
    damage = sqlite3.DatabaseError("file is not a database")
    damage.sqlite_errorcode = sqlite3.SQLITE_NOTADB
    with Cache(path) as cache:
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("PRAGMA locking_mode=EXCLUSIVE")
        cache._close()
        other.execute("BEGIN EXCLUSIVE")
        cache._recover(damage)
        other.execute("ROLLBACK")
        other.close()
    assert not path.with_name(path.name + ".damaged").exists()
    assert read(path, TRUE_CLAIM)[0] is not None
