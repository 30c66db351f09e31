"""The JSON Schema and the page about the documents list the same keys, and wrong documents are refused.

Every test of a command with `--json` checks its output against the schema (tests/cli/conftest.py).
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from typer.testing import CliRunner

from indexproof.cli import app
from json_forms import FORMS

SCHEMA = json.loads((Path(__file__).parent.parent / "reports/schema/documents.json").read_text("utf-8"))
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


def test_it_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_the_page_and_the_schema_list_the_same_keys() -> None:
    described: dict[str, set[str]] = {}
    for section, keys in FORMS.items():
        name = section if section == "prove --at" else section.replace(",", "").split()[0]
        described.setdefault(name, set()).update(keys)
    for name in ("prove", "check"):
        described[name].add("ill_formed")
    known = {name for f in SCHEMA["properties"]["format"]["enum"] for name in [f[11:-2]]}
    assert known == set(described)
    for name in known:
        assert set(SCHEMA["$defs"][name]["properties"]) == described[name], name


RULES = "int x, y\nconst c\nwrong: (x + y) / c -> x / c + y / c if c > 0\nright: x + 0 -> x\n"
WRONG = """from indexproof.core.rewrite import Const, Expr, Rewrite, rule

@rule()
def wrong(x: Expr, d: Const):
    'One more than a multiple leaves the quotient.'
    return Rewrite((x * d + 1) // d, x, when=[d > 0])
"""


def printed(*command: str) -> dict[str, Any]:
    """Return the document that a command prints."""
    found = CliRunner().invoke(app, [*command, "--json"])
    assert found.exit_code == 1, found.output
    return json.loads(found.stdout)


@pytest.fixture(scope="module")
def documents(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """Return documents of a rule file, declarations, a point and a gate, each with something refuted."""
    folder = tmp_path_factory.mktemp("schema")
    own, python = folder / "own.rules", folder / "own.py"
    own.write_text(RULES, "utf-8")
    python.write_text(WRONG, "utf-8")
    settings = '[tool.indexproof]\nrules = ["own.rules"]\npython = ["own.py"]\n'
    (folder / "pyproject.toml").write_text(settings, "utf-8")
    made = {
        "rules": printed("prove", str(own), "--no-cache", "--jobs", "1"),
        "declared": printed("prove", str(python), "--no-cache", "--jobs", "1"),
        "point": printed("prove", str(python), "wrong", "--at", "x=0,d=1"),
        "gate": printed("gate", str(folder), "--no-cache", "--jobs", "1"),
    }
    for data in made.values():
        VALIDATOR.validate(data)
    return made


def parts(value: Any) -> Iterator[dict[str, Any]]:
    """Yield all objects of a document, nested ones included."""
    if isinstance(value, dict):
        yield value
    for part in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from parts(part)


@pytest.mark.parametrize("name", ["rules", "declared", "point", "gate"])
def test_each_part_of_a_document_is_described(documents: dict[str, dict[str, Any]], name: str) -> None:
    """An unknown key or a value of the wrong type is refused anywhere in a document, ``timing`` included."""
    data = copy.deepcopy(documents[name])
    # objects that may have any key
    free = {"point", "counterexample", "example", "at", "strategies", "counts", "overflows"}
    free |= {"results", "claims", "rules", "groups", "resources", "refused_cache_entries", "redundant_conditions"}
    tried = 0
    named = [(key, part) for o in parts(data) for key, part in o.items() if isinstance(part, (dict, list))]
    for key, value in [("", data), *named]:
        for part in [x for x in value if isinstance(x, dict)] if isinstance(value, list) else [value]:
            if key not in free or isinstance(value, list):
                part["other"] = 1
                assert not VALIDATOR.is_valid(data), (key, part)
                del part["other"]
            for inner, old in part.items():
                part[inner] = object
                assert not VALIDATOR.is_valid(data), (key, inner)
                part[inner] = old
                tried += 1
    VALIDATOR.validate(data)
    assert tried > 20


@pytest.mark.parametrize("key", ["counterexample", "subterms", "hypotheses", "goal", "again", "verdict", "gate"])
def test_what_belongs_to_a_refutation_is_required(documents: dict[str, dict[str, Any]], key: str) -> None:
    data = copy.deepcopy(documents["declared"])
    refuted = next(r for r in data["results"] if r["verdict"] == "REFUTED" and r["gate"])
    del refuted[key]
    assert not VALIDATOR.is_valid(data)


@pytest.mark.parametrize("change", [
    {"format": "indexproof nothing 1"},
    {"format": "indexproof prove 2"},
    {"exit_status": "0"},
    {"exit_status": 4},
    {"claims": "one"},
    {"counts": {"PROVED": -1}},
    {"counts": {"LIKELY": 1}},
    {"results": [{}]},
    {"other": 1},
    {"ill_formed": [{"line": 0, "column": 1, "message": ""}]},
    {"timing": None},
    {"rules": []},
], ids=str)  # fmt: skip
def test_another_document_is_refused(documents: dict[str, dict[str, Any]], change: dict[str, Any]) -> None:
    assert not VALIDATOR.is_valid({**documents["declared"], **change})
