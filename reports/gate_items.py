"""Items of the gate and of pytest: one claim of a repository with its verdict, from any kind of input file."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..core.blocks import point_text
from ..core.errors import InputError
from ..core.op import Case
from ..verify.claims import Claim, check_claim
from ..verify.outcome import Result
from ..verify.rulefiles import StatedRule
from ..verify.verdict import Status, worst
from .claims import claim_block
from .layout import ILL_FORMED, block, count, joined
from .refutation import explanation, ordered_point
from .selection import Named
from .serializer import written_as


@dataclass(frozen=True)
class GateItem:
    """One claim of a repository: a rule, an op, a claim of a claims file, a computation, or an unreadable statement."""

    name: str
    kind: str
    file: str
    line: int
    column: int
    verdict: str
    expected: str = "PROVED"
    #: The block that is printed where the verdict is not the expected one.
    text: str = ""
    #: The message on one line, and the counterexample as text; both may be empty.
    message: str = ""
    counterexample: str = ""
    repair: str = ""
    seconds: float = 0.0

    @property
    def passes(self) -> bool:
        """Whether the verdict is the expected one; `UNDEFINED` passes where `REFUTED` is expected."""
        return self.verdict == self.expected or (self.expected, self.verdict) == ("REFUTED", "UNDEFINED")

    @property
    def where(self) -> str:
        """The file and the line."""
        return f"{self.file}:{self.line}"


written_as(GateItem, "name kind file line column verdict expected passes message counterexample repair text")


def unread_item(path: str, error: InputError) -> GateItem:
    """Return the item of a statement that cannot be read, from the error."""
    return ill_formed_item(path, max(error.line, 1), str(error), column=max(error.column, 1))


def ill_formed_item(
    path: str, line: int, message: str, name: str = "", expected: str = "PROVED", column: int = 1
) -> GateItem:
    """Return the item of an unreadable statement at a given line."""
    head = joined([f"{ILL_FORMED}  {name}".rstrip(), f"{path}:{line}"])
    text = f"{head}\n{message}".replace("\n", "\n  ")
    called = (name, "claim") if name else (f"line {line}", "file")
    first, *_ = message.split("\n", maxsplit=1)
    return GateItem(*called, path, line, column, ILL_FORMED, expected, text, first)


def proved_item(path: str, declared: Sequence[Named], results: Sequence[Result]) -> GateItem:
    """Return the item of a rule, or of all instances of an op."""
    first = declared[0]
    claim = first.claim
    kind = "op" if isinstance(claim, Case) else "rule" if isinstance(claim, StatedRule) else first.family
    status = worst([r.verdict.status for r in results])
    expected = claim.expected if isinstance(claim, StatedRule) else "PROVED"
    seconds = sum(r.verdict.seconds for r in results)
    place = path, first.line, first.column
    item = GateItem(first.group, kind, *place, status.value, expected, seconds=seconds)
    if item.passes:
        return item
    head = joined([f"{status.value}  {item.name}", item.where])
    if not results:
        return replace(item, text=head, message="nothing was checked")
    bad = next(r for r in results if r.verdict.status is status)
    command = f"indexproof prove {path}"
    instances = len({r.obligation.subject for r in results if r.verdict.status is status})
    also = f"{instances} of {count(len(declared), 'instance')}" if len(declared) > 1 else ""
    lines = explanation(bad, command=command, also=also)
    witness = bad.verdict.witness
    point = point_text(ordered_point(bad.obligation, dict(witness))) if witness else ""
    said = {
        Status.REFUTED: f"false at {point}" if point else "false",
        Status.UNDEFINED: f"divides by zero at {point}",
        Status.VACUOUS: "no integers satisfy the conditions, so the claim says nothing",
        Status.PROVED: "proved, but expected to be refuted",
    }.get(status, "not decided within the budget")
    repair = next((text.partition("\n")[0] for heading, text in lines if heading == "repair"), "")
    told: dict[str, Any] = {"message": f"{item.name}: {said}", "counterexample": point, "repair": repair}
    return replace(item, text=block(head, lines), **told)


def claim_item(path: str, claim: Claim) -> GateItem:
    """Check a claim of a claims file and return its item."""
    try:
        found = check_claim(claim)
    except InputError as error:
        return ill_formed_item(path, claim.line, str(error), claim.name, claim.expected.value)
    verdicts = found.verdict.value, claim.expected.value
    item = GateItem(claim.name, "claim", path, claim.line, 1, *verdicts, seconds=found.seconds)
    if item.passes:
        return item
    message = f"{claim.name}: {found.headline or found.verdict.value}"
    return replace(item, text=claim_block(path, found), message=message, counterexample=found.headline)


def module_items(root: Path, path: str) -> Iterator[GateItem]:
    """Yield the items of the computations of an HLO file."""
    from .hlo import report
    from .hlo_files import hlo_file_text, module_of

    try:
        written = hlo_file_text(str(root / path))
        module = module_of(path, written)
        found = report(module, list(module.computations), verify=True)
    except InputError as error:
        yield unread_item(path, error)
        return
    lines = _computation_lines(written)
    for u in found.units:
        line = lines.get(u.name, 1)
        failed = u.verified.failed if u.verified is not None else []
        unmapped = [f"no map of {name} ({opcode}): {'; '.join(why)}" for name, opcode, why in u.unmapped]
        status = Status.UNDECIDED if unmapped else Status.PROVED
        status = worst([c.status for c in failed]) if failed else status
        item = GateItem(f"{path}: {u.name}", "computation", path, line, 1, status.value, seconds=u.seconds)
        if not item.passes:
            said = [f"{c.kind}, {c.where}: {c.detail}" for c in failed] + unmapped
            instructions = {i.name: i.line for i in found.module.computation(u.name).instructions}
            about = [c.where for c in failed] + [name for name, _, _ in u.unmapped]
            item = replace(item, line=next((n for a in about if (n := instructions.get(a, 0))), line))
            text = block(joined([f"{status.value}  {u.name}", item.where]), [("because", s) for s in said])
            item = replace(item, text=text, message=f"{u.name}: {said[0]}")
        yield item


def _computation_lines(text: str) -> dict[str, int]:
    """Return the line on which each computation begins."""
    found: dict[str, int] = {}
    for n, line in enumerate(text.split("\n"), 1):
        if begins := re.match(r"(?:ENTRY\s+)?%?([\w.-]+)\s*(?:\(.*)?\{", line):
            found.setdefault(begins[1], n)
    return found
