"""The generated documents agree with the declarations, and the check notices when they do not."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from dev.documents.reference import documents, help_texts, outdated, write_documents
from indexproof.cli import app
from indexproof.core.rewrite import RuleSet
from indexproof.reports.selection import everything
from indexproof.rules import catalog
from indexproof.rules.ops import OPS
from indexproof.rules.tiles import TILE_LAWS
from indexproof.rules.transfer import KNOWN_LAWS, TRANSFER_LAWS
from indexproof.rules.transforms import TRANSFORM_LAWS
from indexproof.verify.catalogue import obligations_of

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "reports/docs"


#: A sentence of a page that counts the catalogue as it is; what was measured once says when.
COUNTED = re.compile(r"The catalogue has ([\d,]+) claims and ([\d,]+) (?:gating )?obligations")


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    return documents(help_texts(get_command(app)))


def test_committed_documents_are_current(pages: dict[str, str]) -> None:
    assert not outdated(pages, FOLDER), "run `make docs` and commit the result"


def test_pages_count_the_catalogue_as_it_is() -> None:
    owed = [o.gate for claim in everything() for o in obligations_of(claim.claim)]
    counts = f"{len(everything()):,}", f"{sum(owed):,}"
    written = [ROOT / "README.md", *(ROOT / "reports").rglob("*.md")]
    found = {(path.name, said) for path in written for said in COUNTED.findall(path.read_text("utf-8"))}
    assert found == {("README.md", counts)}


def test_code_is_generated_from_the_rules_as_they_are() -> None:
    for path, text in catalog.compiled_sources().items():
        assert path.read_text("utf-8") == text, "run `make docs` and commit the result"


def test_printing_them_twice_gives_the_same(pages: dict[str, str]) -> None:
    assert documents(help_texts(get_command(app))) == pages


@pytest.mark.parametrize("columns", ["40", "200"])
def test_they_do_not_depend_on_the_terminal(
    pages: dict[str, str], columns: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    assert documents(help_texts(get_command(app))) == pages


def test_everything_is_documented(pages: dict[str, str]) -> None:
    for r in catalog.RULES:
        assert f"\n### {r.name}\n" in pages["rules.md"], r.name
        assert r.doc.split("\n")[0] in pages["rules.md"], r.name
    for law in (*TRANSFER_LAWS, *KNOWN_LAWS):
        assert f"\n### {law.name}\n" in pages["transfer.md"], law.name
    for tile in TILE_LAWS:
        assert f"\n### {tile.name}\n" in pages["tiles.md"], tile.name
    for transform in TRANSFORM_LAWS:
        assert f"\n### {transform.name}\n" in pages["transforms.md"], transform.name
    for name in OPS:
        assert f"\n## {name}\n" in pages["ops.md"], name


def test_every_rule_belongs_to_one_named_set() -> None:
    sets = [getattr(catalog, n) for n in catalog.__all__]
    listed = [r.name for s in sets if isinstance(s, RuleSet) and s is not catalog.RULES for r in s]
    assert sorted(listed) == sorted(r.name for r in catalog.RULES)


def test_the_pages_fit_in_a_tree(pages: dict[str, str]) -> None:
    """Generated pages are short enough to be read and reviewed."""
    for name, text in pages.items():
        assert text.count("\n") < 2500, name


def test_what_is_out_of_date_is_noticed(pages: dict[str, str], tmp_path: Path) -> None:
    assert set(outdated(pages, tmp_path)) == set(pages)
    write_documents(pages, tmp_path)
    assert not outdated(pages, tmp_path)
    (tmp_path / "rules.md").write_text(pages["rules.md"] + "\n", "utf-8")
    (tmp_path / "ops.md").unlink()
    (tmp_path / "extra.md").write_text("", "utf-8")
    assert set(outdated(pages, tmp_path)) == {"rules.md", "ops.md", "extra.md"}


def test_the_command(tmp_path: Path) -> None:
    runner = CliRunner()
    missing = runner.invoke(app, ["dev", "docs", "--check", "--folder", str(tmp_path)])
    assert missing.exit_code == 1
    assert "rules.md: is missing" in missing.stderr
    assert runner.invoke(app, ["dev", "docs", "--folder", str(tmp_path)]).exit_code == 0
    assert runner.invoke(app, ["dev", "docs", "--check", "--folder", str(tmp_path)]).exit_code == 0
    assert runner.invoke(app, ["dev", "docs", "--folder", "/dev/null/x"]).exit_code == 3
