"""The published JSON Schema and the page that describes the documents list the same keys; wrong documents are refused.

That the commands print what the schema allows is checked wherever a test runs one with `--json` (tests/cli/conftest.py).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from indexproof.reports.machine import document
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


@pytest.mark.parametrize(
    "change",
    [
        {"format": "indexproof nothing 1"},
        {"format": "indexproof prove 2"},
        {"exit_status": "0"},
        {"exit_status": 4},
        {"claims": "one"},
        {"counts": {"PROVED": -1}},
        {"other": 1},
        {"ill_formed": [{"line": 0, "column": 1, "message": ""}]},
        {"timing": None},
    ],
    ids=str,
)
def test_another_document_is_refused(change: dict[str, Any]) -> None:
    right = document(
        "prove", "PROVED", 0, interrupted=False, claims=1, counts={}, strategies={}, confirmed=None, timing={}
    )
    VALIDATOR.validate(right)
    assert not VALIDATOR.is_valid({**right, **change})
