"""The outcome of a gate in the formats of other tools: SARIF 2.1.0, JUnit XML, annotations and summaries of GitHub."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from .. import __version__
from .gate import Gate, GateItem, closing_line, gate_json
from .machine import text_of

__all__ = ["WRITERS", "github_lines", "junit", "markdown", "sarif"]

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
#: By verdict: a short description, and help.
_RULES = {
    "REFUTED": ("A claim is false", "The counterexample shows values at which the claim fails."),
    "VACUOUS": ("A claim says nothing", "No values satisfy its conditions: they contradict each other."),
    "UNDEFINED": ("A claim divides by zero", "State the condition that the divisor is not zero."),
    "UNDECIDED": (
        "A claim is not decided",
        "The budget ran out: a larger --budget or a stronger condition helps.",
    ),
    "NOT CHECKED": ("A claim was not checked", "The run was interrupted."),
    "ILL-FORMED": ("A statement cannot be read", "The message says what was expected at this place."),
    "PROVED": ("A claim is proved that was expected to be false", "Change what is expected of it."),
    "MISSING": ("A claim of the base is missing", "Restore it, or write the base anew."),
}


def _everything(gate: Gate) -> Iterator[tuple[GateItem, str]]:
    """Yield what keeps the gate from passing, with the verdict on it."""
    yield from ((i, i.verdict) for i in gate.failed)
    yield from ((i, "MISSING") for i in gate.missing)


def _message(item: GateItem, verdict: str) -> str:
    return f"{item.name} is declared no more" if verdict == "MISSING" else item.message or item.name


def sarif(gate: Gate) -> str:
    """Return a SARIF log with a result for every claim; those that pass are of the kind `pass`."""

    def region(item: GateItem) -> dict[str, Any]:
        return {
            "physicalLocation": {
                "artifactLocation": {"uri": Path(item.file).as_posix(), "uriBaseId": "%SRCROOT%"},
                "region": {"startLine": item.line, "startColumn": item.column},
            }
        }

    def result(item: GateItem, verdict: str) -> dict[str, Any]:
        fails = verdict == "MISSING" or not item.passes
        found: dict[str, Any] = {
            "ruleId": f"indexproof/{verdict}",
            "kind": "fail" if fails else "pass",
            "level": ("warning" if verdict in ("UNDECIDED", "NOT CHECKED") else "error") if fails else "none",
            "message": {"text": _message(item, verdict) if fails else f"{item.name} is {verdict.lower()}"},
            "locations": [region(item) | {"logicalLocations": [{"name": item.name, "kind": item.kind}]}],
            "partialFingerprints": {"claim/v1": f"{item.file}:{item.kind}:{item.name}"},
        }
        if fails and item.text:
            found["message"]["markdown"] = f"{_message(item, verdict)}\n\n```text\n{item.text}\n```"
        if fails and item.counterexample:
            said = {"message": {"text": f"counterexample: {item.counterexample}"}}
            found["relatedLocations"] = [{"id": 1, **region(item), **said}]
        if fails and item.repair:
            found["properties"] = {"repair": item.repair}
        return found

    rules = [
        {
            "id": f"indexproof/{verdict}",
            "name": verdict.title().replace(" ", "").replace("-", ""),
            "shortDescription": {"text": short},
            "fullDescription": {"text": f"{short}. {help_}"},
            "help": {"text": help_},
        }
        for verdict, (short, help_) in _RULES.items()
    ]
    results = [result(i, i.verdict) for i in gate.items] + [result(i, "MISSING") for i in gate.missing]
    run = {
        "tool": {"driver": {"name": "indexproof", "version": __version__, "rules": rules}},
        "invocations": [{"executionSuccessful": not gate.interrupted, "exitCode": gate.exit_status}],
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {"%SRCROOT%": {"description": {"text": "the root of the repository"}}},
        "results": results,
    }
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=1)


def junit(gate: Gate) -> str:
    """Return a JUnit report with a suite for every file and a case for every claim."""
    root = ElementTree.Element("testsuites", name="indexproof", time=f"{gate.seconds:.3f}")
    everything = [(i, i.verdict) for i in gate.items] + [(i, "MISSING") for i in gate.missing]
    for file in dict.fromkeys(i.file for i, _ in everything):
        cases = [(i, v) for i, v in everything if i.file == file]
        wrong = [(i, v) for i, v in cases if v == "MISSING" or not i.passes]
        errors = sum(v == "ILL-FORMED" for _, v in wrong)
        suite = ElementTree.SubElement(
            root,
            "testsuite",
            name=file,
            tests=str(len(cases)),
            failures=str(len(wrong) - errors),
            errors=str(errors),
            skipped="0",
            time=f"{sum(i.seconds for i, _ in cases):.3f}",
        )
        for item, verdict in cases:
            case = ElementTree.SubElement(
                suite,
                "testcase",
                name=item.name,
                classname=f"{Path(file).with_suffix('').as_posix().replace('/', '.')}.{item.kind}",
                file=item.file,
                line=str(item.line),
                time=f"{item.seconds:.3f}",
            )
            if (item, verdict) in wrong:
                tag = "error" if verdict == "ILL-FORMED" else "failure"
                said = ElementTree.SubElement(
                    case, tag, type=verdict, message=_printable(_message(item, verdict))
                )
                said.text = _printable(item.text)
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True)


def _printable(text: str) -> str:
    """Return text without the control characters that XML cannot hold."""
    return "".join(c if c in "\t\n" or " " <= c <= "\ud7ff" or c >= "\ue000" else "�" for c in text)


def github_lines(gate: Gate) -> Iterator[str]:
    """Yield the lines by which GitHub marks places in a change."""
    for item, verdict in _everything(gate):
        level = "warning" if verdict in ("UNDECIDED", "NOT CHECKED") else "error"
        place = f"file={_property(item.file)},line={item.line},col={item.column}"
        title = _property(f"{verdict} {item.name}")
        yield f"::{level} {place},title={title}::{_escaped(item.text or _message(item, verdict))}"


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _escaped(text).replace(":", "%3A").replace(",", "%2C")


def markdown(gate: Gate) -> str:
    """Return a summary: one line, a table of what failed, and its blocks folded."""
    lines = [f"### indexproof: {closing_line(gate)}", ""]
    failed = list(_everything(gate))
    if failed:
        lines += ["| verdict | claim | place | |", "| --- | --- | --- | --- |"]
        lines += [
            f"| {v} | {_cell(i.name)} | {_cell(i.where)} | {_cell(_message(i, v))} |" for i, v in failed
        ]
        for i, v in failed:
            if i.text:
                fence = "`" * 4 if "```" in i.text else "```"
                lines += [
                    "",
                    f"<details><summary>{v} {_html(i.name)}</summary>",
                    "",
                    f"{fence}text",
                    i.text,
                    fence,
                    "",
                    "</details>",
                ]
    if gate.below_floor:
        lines += ["", f"{gate.proved:,} claims are proved, and the floor is {gate.floor:,}."]
    return "\n".join(lines) + "\n"


def _html(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _cell(text: str) -> str:
    return _html(text).replace("|", "\\|").replace("\n", " ")


#: The formats of `--to FILE`, by suffix.
WRITERS = {
    ".json": lambda gate: text_of(gate_json(gate)) + "\n",
    ".sarif": sarif,
    ".xml": junit,
    ".md": markdown,
}
