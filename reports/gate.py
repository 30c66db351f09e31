"""`indexproof gate`: prove what a repository declares, and compare it with what was proved before.

`[tool.indexproof]` of pyproject.toml names the files. Everything must have the verdict that it expects, nothing that the
base has may be missing, and a proof of the base may not be lost. The base is a committed document of an earlier run, or a
Git revision, which is proved in the same way.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ..core.blocks import point_text
from ..core.errors import InputError, quoted
from ..core.op import Case
from ..verify.claims import Claim, check_claim
from ..verify.obligation import Obligation
from ..verify.outcome import Result
from ..verify.proving import prove_all
from ..verify.rulefiles import StatedRule
from ..verify.verdict import Status, worst
from .claims import claim_block
from .layout import block, count, duration, joined
from .machine import document, written_as
from .refutation import explain, ordered_point
from .rule_files import findings_of, rule_block
from .selection import Selected, read_text
from .settings import Settings, files_below_root
from .sources import DeclaredClaim, Place, SourceFile, kind_of_file, read_source

__all__ = ["Gate", "GateItem", "gate_json", "gate_text", "run_gate"]

#: In place of a verdict: a statement that cannot be read.
ILL_FORMED = "ILL-FORMED"


@dataclass(frozen=True)
class GateItem:
    """One claim of a repository: a rule, an op, a claim of a claims file, a computation, or what could not be read."""

    name: str
    kind: str
    file: str
    line: int
    column: int
    verdict: str
    expected: str = "PROVED"
    #: The block that is printed where the verdict is not the expected one.
    text: str = ""
    #: A sentence for a line of its own, and the counterexample in words; both may be empty.
    message: str = ""
    counterexample: str = ""
    repair: str = ""
    seconds: float = 0.0

    @property
    def passes(self) -> bool:
        """Whether the verdict is the expected one."""
        return self.verdict == self.expected

    @property
    def where(self) -> str:
        """The file and the line."""
        return f"{self.file}:{self.line}"


@dataclass
class Gate:
    """The outcome of one run."""

    items: list[GateItem] = field(default_factory=list)
    #: Claims of the base that are not there any more, as items of the base.
    missing: list[GateItem] = field(default_factory=list)
    #: Names of claims whose proof was lost.
    lost: list[str] = field(default_factory=list)
    #: Files that have not changed and were not looked at.
    unchanged: list[str] = field(default_factory=list)
    floor: int = 0
    base: str = ""
    notes: list[str] = field(default_factory=list)
    interrupted: bool = False
    seconds: float = 0.0

    @property
    def failed(self) -> list[GateItem]:
        """The items whose verdict is not the expected one."""
        return [i for i in self.items if not i.passes]

    @property
    def proved(self) -> int:
        """How many items are as they are expected to be."""
        return sum(i.passes for i in self.items)

    @property
    def exit_status(self) -> int:
        """0 if the gate passes, 1 if something is false, lost or missing, 2 if something is undecided, 3 if ill-formed."""
        if any(i.verdict == ILL_FORMED for i in self.failed):
            return 3
        open_ = (Status.UNDECIDED.value, Status.NOT_CHECKED.value)
        if self.missing or any(i.verdict not in open_ for i in self.failed):
            return 1
        return (
            2
            if self.failed or self.interrupted or self.below_floor or not (self.items or self.unchanged)
            else 0
        )

    @property
    def below_floor(self) -> bool:
        """Whether fewer claims are proved than must be; nothing is said where only some files were looked at."""
        return not self.unchanged and self.proved < self.floor

    @property
    def verdict(self) -> str:
        """``PASSED`` or ``FAILED``."""
        return "FAILED" if self.exit_status else "PASSED"


# ------------------------------------------------------------------------------------------------------- running
def run_gate(
    settings: Settings,
    prove: Callable[[Sequence[Obligation]], Any] = prove_all,
    *,
    since: str = "",
    options: Sequence[str] = (),
    progress: Callable[[str], None] = lambda _: None,
) -> Gate:
    """Prove what the repository declares, and compare it with the base.

    ``prove`` proves obligations, with its cache; ``options`` say the same to the process that proves a revision.  With
    ``since`` only files that differ from that Git revision are looked at.  Raises `InputError` for settings or a base
    that cannot be read.
    """
    start = time.perf_counter()
    gate = Gate(floor=settings.floor, base=settings.base)
    files = files_below_root(settings.root, settings.files)
    if since:
        changed = _changed(settings.root, since)
        gate.unchanged = [f for f in files if f not in changed]
        files = [f for f in files if f in changed]
    gate.items = list(_items(settings.root, files, settings.max_rank, prove, progress))
    if settings.base:
        skipped = set(gate.unchanged)
        before = [i for i in _base(settings, options) if i.file not in skipped]
        now = {(i.kind, i.name): i for i in gate.items}
        gate.missing = [i for i in before if (i.kind, i.name) not in now and i.verdict != ILL_FORMED]
        gate.lost = [
            i.name for i in before if i.passes and (i.kind, i.name) in now and not now[i.kind, i.name].passes
        ]
    gate.seconds = time.perf_counter() - start
    return gate


def _items(
    root: Path,
    files: Sequence[str],
    max_rank: int,
    prove: Callable[[Sequence[Obligation]], Any],
    progress: Callable[[str], None],
) -> Iterator[GateItem]:
    sources = [_relative(read_source(str(root / f), max_rank), f) for f in files if kind_of_file(f) != "hlo"]
    groups: dict[tuple[str, str], list[DeclaredClaim]] = {}
    for s in sources:
        for d in s.declared:
            groups.setdefault((s.path, d.named.group), []).append(d)
    owed: list[Obligation] = []
    parts: list[tuple[str, list[DeclaredClaim], int]] = []
    for (path, _), declared in groups.items():
        before = len(owed)
        owed += [o for d in declared for o in Selected(d.named).obligations() if o.gate]
        parts.append((path, declared, len(owed) - before))
    run = prove(owed) if owed else None
    results = iter(run.results if run is not None else ())
    found: dict[str, list[GateItem]] = {}
    for path, declared, n in parts:
        of = [r for _, r in zip(range(n), results, strict=False)]
        found.setdefault(path, []).append(proved_item(path, declared, of))
    for s in sources:
        here = found.get(s.path, []) + [ill_formed_item(s.path, u.place, u.message) for u in s.unread]
        if s.claims is not None:
            here += [claim_item(s.path, c) for c in s.claims.claims]
        yield from sorted(here, key=lambda i: (i.line, i.column))
    for f in files:
        if kind_of_file(f) == "hlo":
            progress(f)
            yield from module_items(root, f)


def _relative(source: SourceFile, path: str) -> SourceFile:
    """Name places as the repository does."""
    source.path = path
    return source


def ill_formed_item(
    path: str, place: Place, message: str, name: str = "", expected: str = "PROVED"
) -> GateItem:
    """The item of what cannot be read."""
    head = joined([f"{ILL_FORMED}  {name}".rstrip(), f"{path}:{place.line}"])
    text = f"{head}\n{message}".replace("\n", "\n  ")
    return GateItem(
        name or f"line {place.line}",
        "claim" if name else "file",
        path,
        place.line,
        place.column,
        ILL_FORMED,
        expected,
        text,
        message.split("\n", maxsplit=1)[0],
    )


def proved_item(path: str, declared: Sequence[DeclaredClaim], results: Sequence[Result]) -> GateItem:
    """The item of a rule, or of all instances of an op."""
    first = declared[0]
    claim = first.named.claim
    kind = (
        "op" if isinstance(claim, Case) else "rule" if isinstance(claim, StatedRule) else first.named.family
    )
    statuses = [r.verdict.status for r in results]
    status = worst(statuses)
    expected = Status(getattr(claim, "expected", Status.PROVED)).value
    item = GateItem(
        first.named.group,
        kind,
        path,
        first.place.line,
        first.place.column,
        status.value,
        expected,
        seconds=sum(r.verdict.seconds for r in results),
    )
    if item.passes:
        return item
    bad = next(r for r in results if r.verdict.status is status) if statuses else None
    if bad is None:
        return replace(
            item, text=f"{status.value}  {item.name}   {item.where}", message="nothing was checked"
        )
    command = f"indexproof prove {path}"
    if isinstance(claim, StatedRule):
        (finding,) = findings_of(_Results([bad]), [claim])  # type: ignore[arg-type]
        text = rule_block(finding, command=command)
    else:
        instances = len({r.obligation.subject for r in results if r.verdict.status is status})
        also = f"{instances} of {count(len(declared), 'instance')}" if len(declared) > 1 else ""
        text = explain(bad, command=command, also=also)
    lines = text.split("\n")
    head = joined([f"{status.value}  {item.name}", item.where])
    witness = bad.verdict.witness
    point = point_text(ordered_point(bad.obligation, dict(witness))) if witness else ""
    repairs = [
        line.strip().removeprefix("repair").strip() for line in lines if line.strip().startswith("repair")
    ]
    said = {
        Status.REFUTED: f"false at {point}" if point else "false",
        Status.UNDEFINED: f"divides by zero at {point}",
        Status.VACUOUS: "no integers satisfy the conditions, so the claim says nothing",
        Status.PROVED: "proved, but expected to be refuted",
    }.get(status, "not decided within the budget")
    return replace(
        item,
        text="\n".join([head, *lines[1:]]),
        message=f"{item.name}: {said}",
        counterexample=point,
        repair=repairs[0] if repairs else "",
    )


@dataclass
class _Results:
    """As much of a run as the report on rules reads."""

    results: list[Result]


def claim_item(path: str, claim: Claim) -> GateItem:
    try:
        found = check_claim(claim)
    except InputError as error:
        return ill_formed_item(path, Place(path, claim.line), str(error), claim.name, claim.expected.value)
    item = GateItem(
        claim.name,
        "claim",
        path,
        claim.line,
        1,
        found.verdict.value,
        claim.expected.value,
        seconds=found.seconds,
    )
    if item.passes:
        return item
    return replace(
        item,
        text=claim_block(path, found),
        message=f"{claim.name}: {found.headline or found.verdict.value}",
        counterexample=found.headline,
    )


def module_items(root: Path, path: str) -> Iterator[GateItem]:
    """The items of the computations of an HLO file."""
    from .hlo import module_of, report

    try:
        module = module_of(str(root / path))
        found = report(module, list(module.computations), verify=True)
    except InputError as error:
        yield ill_formed_item(path, Place(path, max(error.line, 1), max(error.column, 1)), str(error))
        return
    lines = _computation_lines(root / path)
    for u in found.units:
        line = lines.get(u.name, 1)
        failed = u.verified.failed if u.verified is not None else []
        unmapped = [f"no map of {name} ({opcode}): {'; '.join(why)}" for name, opcode, why in u.unmapped]
        status = (
            worst([c.status for c in failed]) if failed else Status.UNDECIDED if unmapped else Status.PROVED
        )
        item = GateItem(f"{path}: {u.name}", "computation", path, line, 1, status.value, seconds=u.seconds)
        if not item.passes:
            said = [f"{c.kind}, {c.where}: {c.detail}" for c in failed] + unmapped
            text = block(
                joined([f"{status.value}  {u.name}", f"{path}:{line}"]), [("because", s) for s in said]
            )
            item = replace(item, text=text, message=f"{u.name}: {said[0]}")
        yield item


def _computation_lines(path: Path) -> dict[str, int]:
    """Return where each computation begins."""
    import re

    from .hlo import hlo_file_text

    found: dict[str, int] = {}
    for n, line in enumerate(hlo_file_text(str(path)).split("\n"), 1):
        begins = re.match(r"(?:ENTRY\s+)?%?([\w.-]+)\s*(?:\(.*)?\{", line)
        if begins:
            found.setdefault(begins[1], n)
    return found


# ------------------------------------------------------------------------------------------------------- the base
def _git(root: Path, *words: str) -> bytes:
    done = subprocess.run(["git", "-C", str(root), *words], capture_output=True, check=False)
    if done.returncode:
        raise InputError(f"git {' '.join(words)}: {done.stderr.decode(errors='replace').strip()}")
    return done.stdout


def _changed(root: Path, since: str) -> set[str]:
    """Return the files that differ from a revision, or that Git does not know, relative to ``root``."""
    names = _git(root, "diff", "--name-only", "--relative", "-z", since, "--") + _git(
        root, "ls-files", "--others", "--exclude-standard", "-z"
    )
    return set(names.decode().split("\0")) - {""}


def _base(settings: Settings, options: Sequence[str]) -> list[GateItem]:
    """Return the items of the base: those of a document, or of what a revision declares."""
    path = settings.root / settings.base
    if path.is_file():
        return list(_items_of_document(read_text(path), settings.base))
    with tempfile.TemporaryDirectory() as folder:
        archive = _git(settings.root, "archive", "--format=tar", settings.base)
        subprocess.run(["tar", "-x", "-C", folder], input=archive, check=True)
        # in a process of its own, since modules of two versions have one name
        words = [sys.executable, "-m", "indexproof", "gate", "--without-base", "--json", *options]
        done = subprocess.run(
            words, cwd=folder, capture_output=True, text=True, encoding="utf-8", check=False
        )
        if not done.stdout.startswith("{"):
            raise InputError(f"the base {quoted(settings.base)} cannot be proved: {done.stderr.strip()}")
        return list(_items_of_document(done.stdout, settings.base))


def _items_of_document(text: str, name: str) -> Iterator[GateItem]:
    try:
        data = json.loads(text)
        for i in data["claims"]:
            yield GateItem(
                i["name"], i["kind"], i["file"], i["line"], i["column"], i["verdict"], i["expected"]
            )
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(
            f"{name}: {type(error).__name__}: {error}", expected="a document that `indexproof gate` wrote"
        ) from None


# ------------------------------------------------------------------------------------------------------- reports
def gate_text(gate: Gate) -> Iterator[str]:
    """A block for everything that keeps the gate from passing, and one last line."""
    for item in gate.failed:
        expected = "" if item.expected == "PROVED" else f"   expected {item.expected}"
        yield item.text + expected if "\n" not in item.text else item.text.replace("\n", f"{expected}\n", 1)
    for item in gate.missing:
        yield f"MISSING  {item.name}   {item.where}\n  because  the base has this {item.kind}, and it is declared no more"
    if gate.lost:
        yield f"lost proofs: {', '.join(gate.lost)}"
    if gate.below_floor:
        yield f"{gate.proved:,} claims are proved, and the floor is {gate.floor:,}"
    yield from gate.notes
    yield closing_line(gate)


def closing_line(gate: Gate) -> str:
    """Sum up a run in one line."""
    parts = [f"{gate.verdict}  {count(len(gate.items), 'claim')}, {gate.proved:,} as expected"]
    if gate.unchanged:
        parts.append(f"{count(len(gate.unchanged), 'unchanged file')} not looked at")
    if gate.interrupted:
        parts.append("interrupted")
    return joined([", ".join(parts), f"in {duration(gate.seconds)}"])


written_as(GateItem, "name kind file line column verdict expected passes message counterexample repair text")


def gate_json(gate: Gate) -> dict[str, Any]:
    """Return the document of a run; committed, it is the base of later ones."""
    return document(
        "gate",
        gate.verdict,
        gate.exit_status,
        claims=gate.items,
        missing=gate.missing,
        lost=gate.lost,
        unchanged=gate.unchanged,
        floor=gate.floor,
        base=gate.base,
        timing={"seconds": gate.seconds, "claims": {f"{i.file}: {i.name}": i.seconds for i in gate.items}},
    )
