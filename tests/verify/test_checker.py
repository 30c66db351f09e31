"""Certificates in folders: what is bound to rule files and manifests, and forgeries of both."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from indexproof.cli import app
from indexproof.verify import checker

Json = Any

RULES = """int x, y
const c
add100: x + 100 - 100 -> x
add101: x + 101 - 101 -> x
split: (x * c + y) / c -> x + y / c if c > 0
"""


def run(*words: object) -> tuple[int, str]:
    found = CliRunner().invoke(app, [str(w) for w in words])
    return found.exit_code, found.output


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A rule file and the certificates of its rules."""
    place = tmp_path_factory.mktemp("honest")
    (place / "some.rules").write_text(RULES, "utf-8")
    status, text = run(
        "prove", place / "some.rules", "--no-cache", "--jobs", 1, "--certificates", place / "certificates"
    )
    assert status == 0, text
    return place


@pytest.fixture
def place(honest: Path, tmp_path: Path) -> Path:
    shutil.copytree(honest, tmp_path / "copy")
    return tmp_path / "copy"


def replay(place: Path) -> tuple[int, str]:
    return run("replay", place / "certificates", "--against", place / "some.rules")


def certificate_of(place: Path, rule: str) -> Path:
    (file,) = (
        file
        for file in (place / "certificates").glob("*.json")
        if json.loads(file.read_text("utf-8")).get("obligation") == f"{rule}: sound"
    )
    return file


def rewritten(file: Path, change: Callable[[Json], object]) -> None:
    data = json.loads(file.read_text("utf-8"))
    change(data)
    file.write_text(json.dumps(data), "utf-8")


def listed_again(place: Path) -> None:
    """Make a manifest of what is there, as a forger would."""
    folder = place / "certificates"
    entries = [
        {
            "file": file.name,
            "obligation": json.loads(file.read_text("utf-8"))["obligation"],
            "sha256": checker.hashlib.sha256(file.read_bytes()).hexdigest(),
        }
        for file in sorted(folder.glob("*.json"))
        if file.name != checker.MANIFEST
    ]
    manifest = {"format": checker.MANIFEST_FORMAT, "certificates": entries, "without": []}
    (folder / checker.MANIFEST).write_text(json.dumps(manifest), "utf-8")


def test_honest_certificates_hold(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert replay(place)[0] == 0
    assert checker.main([str(place / "certificates")]) == 0
    # a sum says of itself that it is the same
    assert "3 files, 0 refused, 2 without a part" in capsys.readouterr().out
    manifest = json.loads((place / "certificates" / checker.MANIFEST).read_text("utf-8"))
    assert [e["obligation"] for e in manifest["certificates"]] == [
        "add100: sound",
        "add101: sound",
        "split: sound",
    ]


def relabelled(place: Path) -> None:
    """The certificate of one rule under the name of another, throughout."""
    file = certificate_of(place, "add101")
    text = file.read_text("utf-8").replace("add101", "add100")
    certificate_of(place, "add100").write_text(text, "utf-8")


def test_a_certificate_under_another_label_is_refused(place: Path) -> None:
    """`add101` does not prove `add100`, whatever it is called."""
    relabelled(place)
    listed_again(place)
    status, text = replay(place)
    assert status == 1
    assert "states another rule by this name: x + 100 - 100 -> x" in text.replace("\n  ", " ")


def test_a_label_that_is_not_that_of_the_rule_needs_no_rule_file_to_be_refused(place: Path) -> None:
    rewritten(certificate_of(place, "split"), lambda d: d.update(obligation="quotient: sound"))
    listed_again(place)
    status, text = run("replay", place / "certificates")
    assert (status, "the rule in the file is called `split`" in text) == (1, True)
    assert checker.main([str(place / "certificates")]) == 1


def test_all_rules_need_a_certificate(place: Path) -> None:
    certificate_of(place, "split").unlink()
    listed_again(place)
    status, text = replay(place)
    assert (status, "there is no certificate of this rule" in text) == (1, True)


def test_a_certificate_of_a_rule_that_is_not_in_the_file_is_refused(place: Path) -> None:
    (place / "some.rules").write_text(RULES.replace("add101: x + 101 - 101 -> x\n", ""), "utf-8")
    status, text = replay(place)
    assert (status, "no rule, or none left, is called so" in text) == (1, True)


@pytest.mark.parametrize(
    ("old", "new"),
    [("c > 0", "c != 0"), ("int x, y", "int x, y in [0, 9]"), ("int x", "integers 8 bits\nint x")],
)
def test_rules_are_compared_by_content(place: Path, old: str, new: str) -> None:
    (place / "some.rules").write_text(RULES.replace(old, new), "utf-8")
    status, text = replay(place)
    assert (status, "states another rule by this name" in text.replace("\n  ", " ")) == (1, True)


def test_how_a_rule_file_is_written_does_not_matter(place: Path) -> None:
    written = RULES.replace("x + 100 - 100", "(x + 100) - 100").replace("const c", "# some constant\nconst c")
    (place / "some.rules").write_text(written, "utf-8")
    assert replay(place)[0] == 0


def unlisted(folder: Path) -> None:
    file = next(f for f in folder.glob("*.json") if f.name != checker.MANIFEST)
    shutil.copy(file, folder / "more.json")


def altered(folder: Path) -> None:
    file = next(f for f in folder.glob("*.json") if f.name != checker.MANIFEST)
    rewritten(file, lambda d: d.update(note="harmless"))


FOLDERS: dict[str, tuple[Callable[[Path], object], str]] = {
    "there is no manifest": (lambda folder: (folder / checker.MANIFEST).unlink(), "there is no manifest"),
    "of another format": (lambda folder: rewritten(folder / checker.MANIFEST, lambda d: d.update(format="x")),
        "the format is not"),
    "a subset": (lambda folder: next(f for f in folder.glob("*.json") if f.name != checker.MANIFEST).unlink(),
        "is missing, and the manifest lists it"),
    "one more": (unlisted, "the manifest does not list it"),
    "altered": (altered, "it is not the file that the manifest lists"),
}  # fmt: skip


@pytest.mark.parametrize("name", FOLDERS)
def test_a_folder_is_what_its_manifest_lists(
    place: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    change, reason = FOLDERS[name]
    change(place / "certificates")
    assert checker.main([str(place / "certificates")]) == 1
    assert reason in capsys.readouterr().out
    status, text = run("replay", place / "certificates")
    assert status == 1
    assert reason in " ".join(text.split())


def test_the_parts_are_those_of_the_claim(place: Path) -> None:
    for change in (
        lambda d: d["parts"].clear(),
        lambda d: d["parts"][0]["claim"].update(name="other: sound"),
        lambda d: d["parts"][0]["claim"].update(goal=True),
    ):
        copy = place / "one.json"
        shutil.copy(certificate_of(place, "split"), copy)
        rewritten(copy, change)
        assert run("replay", copy)[0] == 1


def test_the_checker_is_a_file_that_runs_alone(place: Path) -> None:
    """In another folder, without the package."""
    alone = place / "alone.py"
    shutil.copy(checker.__file__, alone)
    words = [sys.executable, "-P", str(alone), str(place / "certificates")]
    done = subprocess.run(words, capture_output=True, text=True, cwd=place, check=False)
    assert (done.returncode, done.stdout[:24]) == (0, "PROVED  3 files, 0 refused"[:24]), done.stderr
    assert subprocess.run(words[:3], capture_output=True, check=False, cwd=place).returncode == 3
