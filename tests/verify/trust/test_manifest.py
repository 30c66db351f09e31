"""Manifests: which claims need not be stated again, and which must be (reports/trust.md, "Manifests").

The commands run on a copy of the package with a small catalogue, in processes of their own.
"""

from __future__ import annotations

import json
import os
import pickle
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import indexproof
from indexproof.core.errors import IndexproofError
from indexproof.reports.selection import catalogue
from indexproof.verify.budget import Budget
from indexproof.verify.cache import Cache, content_key, question_digest
from indexproof.verify.catalogue import obligations_of, sections
from indexproof.verify.manifest import Recorded, Whole, reached, state, whole_catalogue
from indexproof.verify.manifest import recorded as listed_in
from indexproof.verify.sources import ROOT, prover_digest, read_sources, version_of

#: A smaller catalogue, so that proving it takes seconds.
SMALLER = {
    "rules/catalog.py": 'RULES = replace(sums + minmax + constraints, name="small")\n'
    "RULES = replace(RULES, constraints=RULES.constraints[:2])\n",
    "rules/transfer.py": "TRANSFER_LAWS = TRANSFER_LAWS[:2]\nKNOWN_LAWS = KNOWN_LAWS[:1]\n",
    "rules/tiles.py": "TILE_LAWS = TILE_LAWS[:2]\n",
    "rules/transforms.py": "TRANSFORM_LAWS = TRANSFORM_LAWS[:2]\n",
    "rules/ops/__init__.py": 'OPS = {name: OPS[name] for name in ("copy", "transpose", "reverse", "all-reduce")}\n',
}
STATE = """
import json, sys
from indexproof.verify.cache import Cache
from indexproof.verify.manifest import whole_catalogue
with Cache(__import__("pathlib").Path(sys.argv[1]), read_only="read-only" in sys.argv) as cache:
    found = whole_catalogue(cache, int(sys.argv[2]))
    loaded = [m for m in ("z3", "numpy", "islpy", "indexproof.core.op") if m in sys.modules]
    print(json.dumps({
        "stated": found.stated, "claims": [c.name for c in found.claims], "groups": [c.group for c in found.claims],
        "names": [o.name for o in found.obligations], "gates": [o.gate for o in found.obligations],
        "refused": dict(cache.refused), "loaded": loaded,
    }))
"""


class Copy:
    """A copy of the package, with its cache and functions to run commands."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.package = folder / "indexproof"
        self.cache = folder / "verdicts.sqlite"

    def run(self, *words: str, given: str = "") -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, *words],
            input=given,
            capture_output=True,
            text=True,
            check=False,
            cwd=self.folder,
            env={"PYTHONPATH": str(self.folder), "PATH": "", "HOME": str(self.folder)},
        )

    def prove(self, *words: str) -> tuple[int, dict[str, Any]]:
        place = () if "--cache" in words else ("--cache", str(self.cache))
        done = self.run("-m", "indexproof", "prove", "--json", "--max-rank", "1", "-j", "1", *place, *words)
        assert done.stdout, done.stderr
        return done.returncode, json.loads(done.stdout)

    def stated(self, rank: int = 1, *words: str) -> dict[str, Any]:
        done = self.run("-c", STATE, str(self.cache), str(rank), *words)
        assert done.returncode == 0, done.stderr
        found: dict[str, Any] = json.loads(done.stdout)
        return found

    def edit(self, path: str, old: str, new: str) -> None:
        place = self.package / path
        text = place.read_text("utf-8")
        assert old in text
        place.write_text(text.replace(old, new, 1), "utf-8")

    def append(self, path: str, more: str) -> None:
        with (self.package / path).open("a", encoding="utf-8") as f:
            f.write(more)

    def database(self) -> sqlite3.Connection:
        return sqlite3.connect(self.cache)


def answer(data: dict[str, Any]) -> dict[str, Any]:
    """Return a report without the parts that differ from run to run."""
    return {key: value for key, value in data.items() if key != "timing"}


# of the session, since a process may come back to this file after another
@pytest.fixture(scope="session")
def proved(tmp_path_factory: pytest.TempPathFactory) -> tuple[Copy, dict[str, Any]]:
    """Prove a small catalogue in a copy of the package; return the copy and the report."""
    copy = Copy(tmp_path_factory.mktemp("copy"))
    # a checkout may contain environments with links back to it
    ignored = shutil.ignore_patterns("__pycache__", ".*", "build", "dist", "tests", "*.md")
    shutil.copytree(ROOT, copy.package, ignore=ignored, symlinks=True)
    for path, more in SMALLER.items():
        copy.append(path, "\n\n" + more)
    status, data = copy.prove()
    assert (status, data["verdict"]) == (0, "PROVED")
    return copy, data


@pytest.fixture
def copy(proved: tuple[Copy, dict[str, Any]], tmp_path: Path) -> Copy:
    """Return another copy, with its cache and bytecode, which may be changed."""
    shutil.copytree(proved[0].folder, tmp_path / "copy")
    return Copy(tmp_path / "copy")


@pytest.fixture(scope="module")
def everything() -> list[str]:
    """Return the sections of the small catalogue."""
    rules = [f"rules {name}" for name in ("sums", "minmax", "constraints")]
    ops = [f"op {name}" for name in ("Copy", "Transpose", "Reverse", "AllReduce")]
    return [*rules, "transfer", "tiles", "transforms", "lemmas", *ops, "placements"]


# ------------------------------------------------------------------------------------------------------ nothing changed
def test_a_warm_run_says_what_the_cold_run_said(proved: tuple[Copy, dict[str, Any]]) -> None:
    copy, cold = proved
    assert cold["timing"]["from_cache"] == 0
    status, warm = copy.prove()
    assert status == 0
    assert answer(warm) == answer(cold)
    assert warm["timing"]["resources"] == cold["timing"]["resources"]
    assert warm["timing"]["from_cache"] == len(warm["results"])


def test_a_warm_run_states_nothing_and_loads_no_solver(proved: tuple[Copy, dict[str, Any]]) -> None:
    copy, cold = proved
    found = copy.stated()
    assert found["stated"] == []
    assert found["names"] == [f"{r['claim']}: {r['obligation']}" for r in cold["results"]]
    assert found["gates"] == [r["gate"] for r in cold["results"]]
    assert len(found["claims"]) == cold["claims"]
    assert found["loaded"] == []
    done = copy.run("-X", "importtime", "-m", "indexproof", "prove", "--max-rank", "1", "--cache", str(copy.cache))
    assert done.returncode == 0
    loaded = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines() if line.startswith("import time")}
    assert "indexproof.verify.manifest" in loaded
    assert not loaded & {"z3", "numpy", "islpy", "sympy", "rich", "indexproof.rules.catalog", "indexproof.core.op"}


def test_another_checkout_of_the_same_sources_needs_no_stating(copy: Copy) -> None:
    assert copy.stated()["stated"] == []


def test_another_rank_has_manifests_of_its_own(copy: Copy) -> None:
    found = copy.stated(2)
    assert "op Transpose" in found["stated"]
    assert len(found["names"]) > len(copy.stated(1)["names"])
    assert copy.stated(2)["stated"] == [] == copy.stated(1)["stated"]


def test_the_whole_catalogue_is_what_is_stated(tmp_path: Path) -> None:
    """Without cache and manifests, the claims are those of :func:`catalogue`, in the same order."""
    with Cache(None) as cache:
        found = whole_catalogue(cache, 1)
    assert found.obligations == catalogue(max_rank=1)
    assert found.stated == [s.name for s in sections()]
    # a process that states claims before it reads the sources records nothing
    with Cache(tmp_path / "c.sqlite") as cache:
        whole_catalogue(cache, 1)
        assert cache.manifest("plan") is None


def test_names_of_sections_and_claims_are_unique() -> None:
    names = [s.name for s in sections()]
    assert len(set(names)) == len(names)
    assert all(s.home and (ROOT / s.home).is_file() for s in sections())
    claims = [name for s in sections() for name, _ in s.claims(2)]
    assert len(set(claims)) == len(claims)


# ------------------------------------------------------------------------------------------------------ something edited
def test_one_rule_made_false_is_refuted_and_only_its_file_is_stated(copy: Copy) -> None:
    copy.edit("rules/minmax.py", "when=(x <= y,)", "when=(x <= y + 1,)")
    assert copy.stated(1, "read-only")["stated"] == ["rules minmax"]
    status, data = copy.prove()
    assert (status, data["verdict"]) == (1, "REFUTED")
    wrong = [r for r in data["results"] if r["gate"] and r["verdict"] != "PROVED"]
    assert [(r["claim"], r["obligation"]) for r in wrong] == [("min_keeps_smaller", "sound")]
    asked = len(data["results"]) - data["timing"]["from_cache"]
    assert 0 < asked < 12
    assert copy.stated()["stated"] == []
    # the same from the manifest, with counterexample, values and repairs
    again, same = copy.prove()
    assert (again, answer(same)) == (status, answer(data))
    done = copy.run("-m", "indexproof", "prove", "--max-rank", "1", "--cache", str(copy.cache))
    assert done.returncode == 1
    assert "REFUTED  min_keeps_smaller" in done.stdout
    assert "left     min(x, y) = 0" in done.stdout


def test_an_edit_concerns_what_rests_on_its_file(copy: Copy, everything: list[str]) -> None:
    ops = ["op Copy", "op Transpose", "op Reverse", "op AllReduce"]
    concerned = {
        "rules/sums.py": ["rules sums"],
        "rules/ops/movement.py": [*ops, "placements"],
        "rules/ops/collective.py": ["op AllReduce"],
        # a file without claims affects no section, one that all sections import affects all
        "reports/layout.py": [],
        **dict.fromkeys(("core/interval.py", "rules/ops/__init__.py", "__init__.py"), everything),
    }
    for path, names in concerned.items():
        before = (copy.package / path).read_bytes()
        copy.append(path, "# a word\n")
        assert copy.stated(1, "read-only")["stated"] == names, path
        (copy.package / path).write_bytes(before)
    # generated code affects the rules, but no op
    copy.append("rules/compiled.py", "# a word\n")
    stated = copy.stated()["stated"]
    assert "rules minmax" in stated
    assert not [name for name in stated if name.startswith("op ")]


def test_files_that_come_go_or_change_their_name_concern_everything(copy: Copy, everything: list[str]) -> None:
    new = copy.package / "core" / "novelty.py"
    new.write_text("")
    assert copy.stated(1, "read-only")["stated"] == everything
    new.rename(copy.package / "rules" / "novelty.py")
    assert copy.stated(1, "read-only")["stated"] == everything
    (copy.package / "rules" / "novelty.py").unlink()
    assert copy.stated(1, "read-only")["stated"] == []
    (copy.package / "core" / "frameworks" / "jax.py").unlink()
    assert copy.stated(1, "read-only")["stated"] == everything


def test_a_rule_that_comes_or_goes_is_there_or_not(copy: Copy) -> None:
    before = copy.stated()["claims"]
    rule = '\n\n@rule()\ndef silly(x: Expr) -> Rewrite:\n    """No."""\n    return Rewrite(maximum(x, x + 1), x)\n'
    copy.append("rules/minmax.py", rule)
    assert set(copy.stated()["claims"]) - set(before) == {"silly"}
    status, data = copy.prove()
    assert (status, data["verdict"]) == (1, "REFUTED")
    copy.edit("rules/minmax.py", "def silly", "def sillier")
    assert set(copy.stated()["claims"]) - set(before) == {"sillier"}
    copy.edit("rules/minmax.py", rule.replace("silly", "sillier"), "")
    assert copy.stated()["claims"] == before


def test_a_set_that_joins_the_catalogue_is_there(copy: Copy) -> None:
    copy.edit(
        "rules/catalog.py", "replace(sums + minmax + constraints", "replace(sums + minmax + sharing + constraints"
    )
    found = copy.stated()
    assert "rules sharing" in found["stated"]
    assert "summand_joins_quotient" in found["claims"]
    copy.edit("rules/catalog.py", "replace(sums + minmax + sharing", "replace(sums + sharing")
    assert not any(name == "min_shifts" for name in copy.stated()["claims"])


def test_an_edit_that_python_does_not_see_is_not_recorded(copy: Copy) -> None:
    """If Python runs old bytecode because size and time of the source are unchanged, nothing is recorded."""
    copy.stated()
    place = copy.package / "rules" / "minmax.py"
    copy.run("-m", "compileall", "-q", str(place))
    (compiled,) = (place.parent / "__pycache__").glob("minmax.*.pyc")
    second = place.stat().st_mtime_ns
    copy.edit("rules/minmax.py", "when=(x <= y,)", "when=(y <= x,)")
    os.utime(place, ns=(second, second))
    os.utime(compiled, ns=(second, second))
    assert copy.stated()["stated"] == ["rules minmax"]
    assert copy.stated()["stated"] == ["rules minmax"]
    compiled.unlink()
    assert copy.stated()["stated"] == ["rules minmax"]
    assert copy.stated()["stated"] == []


# ------------------------------------------------------------------------------------------------------------ tampering
def _manifest(copy: Copy, name: str) -> tuple[str, str]:
    db = copy.database()
    body, seal = db.execute("SELECT body, seal FROM entries WHERE key = ?", (f"manifest {name}",)).fetchone()
    db.close()
    return body, seal


def _with_manifest(copy: Copy, name: str, body: str, seal: str) -> None:
    db = copy.database()
    with db:
        db.execute("INSERT OR REPLACE INTO entries VALUES (?, ?, ?)", (f"manifest {name}", body, seal))
    db.close()


SUMS, MINMAX = "rules sums, rank 1", "rules minmax, rank 1"


# dev.faults.manifests injects other kinds of tampering
TAMPERINGS: dict[str, Callable[[str, str, str, str], tuple[str, str]]] = {
    "another question": lambda body, seal, *_: (body.replace("valid", "exist", 1), seal),
    "the manifest of another section": lambda _, __, body, seal: (body, seal),
    "no seal": lambda body, *_: (body, ""),
}


@pytest.mark.parametrize("how", TAMPERINGS)
def test_a_manifest_that_was_tampered_with_is_noticed(copy: Copy, how: str) -> None:
    honest = copy.stated()
    own, other = _manifest(copy, MINMAX), _manifest(copy, SUMS)
    _with_manifest(copy, MINMAX, *TAMPERINGS[how](*own, *other))
    found = copy.stated()
    assert found["stated"] == ["rules minmax"]
    assert found["refused"] == {"altered": 1}
    assert found["names"] == honest["names"]
    assert copy.stated()["refused"] == {}
    assert _manifest(copy, MINMAX) == own


def test_a_plan_that_was_tampered_with_is_noticed(copy: Copy) -> None:
    honest = copy.stated()
    body, seal = _manifest(copy, "plan")
    plan = json.loads(body)
    del plan["sections"][0]
    _with_manifest(copy, "plan", json.dumps(plan), seal)
    found = copy.stated()
    assert found["refused"] == {"altered": 1}
    assert found["names"] == honest["names"]
    assert _manifest(copy, "plan") == (body, seal)


def test_an_old_manifest_put_back_is_stale(copy: Copy) -> None:
    """A manifest of an older source is stale, even if it is sealed, complete and in its place."""
    copy.stated()
    old = {name: _manifest(copy, name) for name in (MINMAX, "plan")}
    copy.edit("rules/minmax.py", "when=(x <= y,)", "when=(x <= y + 1,)")
    new = copy.stated()
    for name, (body, seal) in old.items():
        _with_manifest(copy, name, body, seal)
    found = copy.stated()
    assert found["stated"] == ["rules minmax"]
    assert found["refused"] == {}
    assert found["names"] == new["names"]


def test_a_sealed_manifest_that_is_none_is_stated(copy: Copy) -> None:
    whole = _manifest(copy, MINMAX)[0]
    spoiled = [(MINMAX, content) for content in (None, [], {}, {"claims": 1}, json.loads(whole) | {"files": {}})]
    spoiled.append((MINMAX, json.loads(whole)))
    spoiled += [
        ("plan", content) for content in (None, {"sections": [[1, 2]], "common": ""}, {"sections": [], "common": "0"})
    ]
    script = (
        "import json, pathlib, sys\n"
        "from indexproof.verify.cache import Cache\n"
        "from indexproof.verify.manifest import whole_catalogue\n"
        "path = pathlib.Path(sys.argv[1])\n"
        "for name, content in json.load(sys.stdin):\n"
        "    with Cache(path) as cache: cache.put_manifest(name, content)\n"
        "    with Cache(path, read_only=True) as cache: print(json.dumps(whole_catalogue(cache, 1).stated))\n"
    )
    done = copy.run("-c", script, str(copy.cache), given=json.dumps(spoiled))
    assert done.returncode == 0, done.stderr
    stated = [json.loads(line) for line in done.stdout.splitlines()]
    assert stated[:6] == [["rules minmax"]] * 5 + [[]]
    assert len(stated) == 9
    assert all("rules minmax" in found for found in stated[6:])


def test_a_manifest_is_no_verdict_and_a_verdict_no_manifest(copy: Copy) -> None:
    body, seal = _manifest(copy, MINMAX)
    db = copy.database()
    with db:
        db.execute("INSERT INTO entries VALUES (?, ?, ?)", (MINMAX, body, seal))
        key, verdict, its_seal = db.execute(
            "SELECT * FROM entries WHERE key NOT LIKE 'manifest %' AND key != ? LIMIT 1", (MINMAX,)
        ).fetchone()
        db.execute("INSERT INTO entries VALUES (?, ?, ?)", (f"manifest {key}", verdict, its_seal))
    db.close()
    with Cache(copy.cache) as cache:
        assert cache.get(MINMAX) is None
        assert cache.manifest(key) is None
        assert dict(cache.refused) == {"altered": 2}


def test_another_secret_makes_all_manifests_strange(copy: Copy, everything: list[str]) -> None:
    copy.cache.with_name("verdicts.sqlite.key").unlink()
    found = copy.stated()
    assert found["stated"] == everything
    assert found["refused"]["altered"] > 0


def test_a_sealed_refutation_of_a_true_claim_is_evaluated(copy: Copy) -> None:
    script = (
        "import pathlib, sys\n"
        "from indexproof.verify.budget import Budget\n"
        "from indexproof.verify.cache import Cache, content_key\n"
        "from indexproof.reports.selection import catalogue\n"
        "from indexproof.verify.verdict import Status, Verdict\n"
        "o = next(o for o in catalogue(['min_keeps_smaller']) if o.kind == 'sound')\n"
        "with Cache(pathlib.Path(sys.argv[1])) as cache:\n"
        "    cache.put(content_key(o, Budget()), Verdict(Status.REFUTED, 'linear', witness={'x': 0, 'y': 0}))\n"
    )
    done = copy.run("-c", script, str(copy.cache))
    assert done.returncode == 0, done.stderr
    status, data = copy.prove()
    assert (status, data["timing"]["refused_cache_entries"]) == (0, {"untrue": 1})


def test_verdicts_that_are_gone_are_reached_again(copy: Copy) -> None:
    _, honest = copy.prove()
    db = copy.database()
    with db:
        kept = "SELECT key FROM entries WHERE key NOT LIKE 'manifest %'"
        db.execute(f"DELETE FROM entries WHERE key IN ({kept} LIMIT 5)")
        key, seal = db.execute(f"SELECT key, seal FROM entries WHERE key IN ({kept}) LIMIT 1").fetchone()
        db.execute("UPDATE entries SET seal = ? WHERE key = ?", (seal[::-1], key))
    db.close()
    status, data = copy.prove()
    assert (status, answer(data)) == (0, answer(honest))
    assert data["timing"]["from_cache"] < len(data["results"])
    assert data["timing"]["refused_cache_entries"] == {"altered": 1}


# -------------------------------------------------------------------------------------------------------------- options
def test_read_only_off_and_other_budgets(copy: Copy) -> None:
    copy.append("rules/minmax.py", "# a word\n")
    content = copy.cache.read_bytes()
    status, data = copy.prove("--read-only-cache")
    assert (status, data["timing"]["from_cache"]) == (0, len(data["results"]))
    assert copy.cache.read_bytes() == content
    status, named = copy.prove("minmax")
    assert (status, named["timing"]["from_cache"]) == (0, len(named["results"]))
    assert {r["claim"] for r in named["results"]} < {r["claim"] for r in data["results"]}
    status, sure = copy.prove("minmax", "--recheck", "100")
    assert (status, sure["timing"]["from_cache"]) == (0, 0)
    assert answer(sure) == answer(named)


# ------------------------------------------------------------------------------------ what a manifest rests on
def test_stating_a_section_runs_no_code_of_a_file_that_its_manifest_does_not_list() -> None:
    """Each file below ``rules`` that stating a section executes is a dependency of its manifest."""
    homes = {s.home for s in sections()}
    package = Path(indexproof.__file__).parent
    apart = {str(package / home): home for home in homes | {"rules/compiled.py"} if home.startswith("rules/")}
    used: set[str] = set()

    def watch(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code.co_filename in apart:
            used.add(apart[frame.f_code.co_filename])

    ran: set[str] = set()
    for s in sections():
        used.clear()
        sys.setprofile(watch)
        try:
            for _, claim in s.claims(2):
                for o in obligations_of(claim):
                    question_digest(o)
        finally:
            sys.setprofile(None)
        assert used <= set(reached(s.home, homes)), s.name
        ran |= used
    assert {"rules/ops/movement.py", "rules/ops/reshape.py"} <= ran


def test_what_a_file_reaches() -> None:
    homes = {s.home for s in sections()}
    assert reached("rules/division.py", homes) == ["rules/compiled.py", "rules/division.py"]
    assert reached("rules/ops/collective.py", homes) == [
        f"rules/ops/{name}.py" for name in ("collective", "contraction", "fibres", "movement", "pointwise")
    ]
    assert reached("verify/layouts.py", homes) == ["rules/ops/movement.py", "rules/ops/reshape.py"]
    assert reached("verify/schemes.py", homes) == []


def test_sources_are_bytes(tmp_path: Path) -> None:
    for name in ("core/a.py", "rules/b.py", "verify/c.so", "reports/d.py", "tests/e.py", "__init__.py"):
        place = tmp_path / "p" / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(name)
    found = read_sources(tmp_path / "p")
    assert sorted(found) == ["__init__.py", "core/a.py", "rules/b.py", "verify/c.so"]
    place = tmp_path / "p" / "core" / "a.py"
    times = place.stat().st_mtime_ns
    place.write_text("core/b.py")
    os.utime(place, ns=(times, times))
    assert read_sources(tmp_path / "p") != found


def test_versions_are_those_of_what_is_installed() -> None:
    z3 = pytest.importorskip("z3")
    assert version_of("numpy") == pytest.importorskip("numpy").__version__
    assert version_of("z3", "z3-solver").startswith(z3.get_version_string())
    assert len(prover_digest()) == 64


# ------------------------------------------------------------------------------------------------- recorded obligations
@pytest.fixture
def recorded() -> Recorded:
    section = next(s for s in sections() if s.name == "rules minmax")
    out = Whole()
    manifest = json.loads(json.dumps(state(section, 1, Whole())))
    listed_in(manifest, 1, out)
    first = out.obligations[0]
    assert isinstance(first, Recorded)
    return first


def test_a_recorded_obligation_is_the_stated_one(recorded: Recorded) -> None:
    full = recorded.in_full()
    assert type(full) is not Recorded
    for part in fields(full):
        assert getattr(recorded, part.name) == getattr(full, part.name), part.name
    assert recorded.statement() == full.statement()
    assert recorded.formula_variables() == full.formula_variables()
    assert content_key(recorded, Budget()) == content_key(full, Budget())
    assert pickle.loads(pickle.dumps(recorded)) == full


def test_a_recorded_obligation_whose_source_has_changed_is_an_error(recorded: Recorded) -> None:
    for change in ({"_recorded": "0" * 64}, {"kind": "defined"}):
        other = Recorded.__new__(Recorded)
        other.__dict__.update({**recorded.__dict__, **change})
        other.__dict__.pop("_full", None)
        with pytest.raises(IndexproofError, match="source changed"):
            other.in_full()
