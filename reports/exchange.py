"""The outcome of a gate in other tools' formats: SARIF 2.1.0, JUnit XML, annotations and summaries of GitHub."""

from __future__ import annotations

import json
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from .. import __version__
from .gate import Gate, closing_line, gate_json
from .gate_items import GateItem
from .layout import ILL_FORMED
from .serializer import text_of

_PRINTED = "indexproof prints each claim with its counterexample."
_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
#: Short description and help for each verdict.
_RULES = {
    "REFUTED": ("A claim is false", "The counterexample shows values at which the claim fails."),
    "VACUOUS": ("A claim says nothing", "No values satisfy its conditions: they contradict each other."),
    "UNDEFINED": ("A claim divides by zero", "State the condition that the divisor is not zero."),
    "UNDECIDED": ("A claim is not decided", "The budget ran out: a larger --budget or a stronger condition helps."),
    "NOT CHECKED": ("A claim was not checked", "The run was interrupted."),
    "ILL-FORMED": ("A statement cannot be read", "The message says what was expected at this place."),
    "PROVED": ("A claim is proved that was expected to be false", "Change what is expected of it."),
    "MISSING": ("A claim of the base is missing", "Restore it, or write the base anew."),
    "LOST": ("A proof of the base is lost", "Make the claim true again, or write the base anew."),
    "BELOW FLOOR": ("Fewer claims than the floor", "Restore what is gone, or lower the floor of the settings."),
}


def _message(item: GateItem) -> str:
    repair = f"; {item.repair}" if item.repair else ""
    return (item.message or item.name) + repair


def sarif(gate: Gate) -> str:
    """Return a SARIF log with a result for every claim; results that pass have the kind `pass`."""

    def region(item: GateItem) -> dict[str, Any]:
        file = {"uri": Path(item.file).as_posix(), "uriBaseId": "%SRCROOT%"}
        place = {"startLine": item.line, "startColumn": item.column}
        return {"physicalLocation": {"artifactLocation": file, "region": place}}

    def result(item: GateItem) -> dict[str, Any]:
        verdict, fails = item.verdict, not item.passes
        found: dict[str, Any] = {
            "ruleId": f"indexproof/{verdict}",
            "kind": "fail" if fails else "pass",
            "level": _level(verdict) if fails else "none",
            "message": {"text": _message(item) if fails else f"{item.name} is {verdict.lower()}"},
            "locations": [region(item) | {"logicalLocations": [{"name": item.name, "kind": item.kind}]}],
            "partialFingerprints": {"claim/v1": f"{item.file}:{item.kind}:{item.name}"},
        }
        if fails and item.text:
            found["message"]["markdown"] = f"{_message(item)}\n\n```text\n{item.text}\n```"
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
            "help": {"text": help_, "markdown": f"{help_}\n\n{_PRINTED}"},
            "defaultConfiguration": {"level": _level(verdict)},
        }
        for verdict, (short, help_) in _RULES.items()
    ]
    results = [result(i) for i in (*gate.items, *gate.broken)]
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
    everything = [*gate.items, *gate.broken]
    for file in dict.fromkeys(i.file for i in everything):
        cases = [i for i in everything if i.file == file]
        wrong = [i for i in cases if not i.passes]
        errors = sum(i.verdict == ILL_FORMED for i in wrong)
        counts = {"tests": len(cases), "failures": len(wrong) - errors, "errors": errors, "skipped": 0}
        time = f"{sum(i.seconds for i in cases):.3f}"
        shown = {"name": file, **{k: str(n) for k, n in counts.items()}, "time": time}
        suite = ElementTree.SubElement(root, "testsuite", shown)
        module = Path(file).with_suffix("").as_posix().replace("/", ".")
        for item in cases:
            of = {"name": item.name, "classname": f"{module}.{item.kind}", "file": item.file}
            of |= {"line": str(item.line), "time": f"{item.seconds:.3f}"}
            case = ElementTree.SubElement(suite, "testcase", of)
            if not item.passes:
                tag = "error" if item.verdict == ILL_FORMED else "failure"
                message = _printable(_message(item))
                said = ElementTree.SubElement(case, tag, type=item.verdict, message=message)
                said.text = _printable(item.text)
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True)


def _printable(text: str) -> str:
    """Return text without the control characters that XML cannot hold."""
    return "".join(c if c in "\t\n" or " " <= c <= "\ud7ff" or c >= "\ue000" else "�" for c in text)


def github_lines(gate: Gate) -> Iterator[str]:
    """Yield the workflow commands by which GitHub annotates lines of a change."""
    for item in gate.failed:
        place = f"file={_property(item.file)},line={item.line},col={item.column}"
        title = _property(f"{item.verdict} {item.name}")
        yield f"::{_level(item.verdict)} {place},title={title}::{_escaped(item.text or _message(item))}"


def _level(verdict: str) -> str:
    return "warning" if verdict in ("UNDECIDED", "NOT CHECKED") else "error"


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _escaped(text).replace(":", "%3A").replace(",", "%2C")


def markdown(gate: Gate) -> str:
    """Return a summary: one line, a table of the failures, and their blocks folded."""
    lines = [f"### indexproof: {closing_line(gate)}", ""]
    if gate.failed:
        rows = [(i.verdict, _cell(i.name), _cell(i.where), _cell(_message(i))) for i in gate.failed]
        lines += ["| verdict | claim | place | |", "| --- | --- | --- | --- |"]
        lines += [f"| {' | '.join(row)} |" for row in rows]
        for i in gate.failed:
            if i.text:
                fence = "`" * 4 if "```" in i.text else "```"
                head = f"<details><summary>{i.verdict} {escape(i.name, quote=False)}</summary>"
                lines += ["", head, "", f"{fence}text", i.text, fence, "", "</details>"]
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    return escape(text, quote=False).replace("|", "\\|").replace("\n", " ")


#: The writers of `--to FILE`, by suffix.
WRITERS = {".json": lambda gate: text_of(gate_json(gate)) + "\n", ".sarif": sarif, ".xml": junit, ".md": markdown}
