"""`indexproof gate`: prove what a repository declares, and compare the result with an earlier one.

`[tool.indexproof]` of pyproject.toml names the files. Every claim must have its expected verdict, no claim of the base
may be missing, and no proof of the base may be lost. The base is a committed document of an earlier run, or a Git
revision, which is proved in the same way.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from ..core.errors import InputError, quoted
from ..core.json_text import load_json
from ..verify.cache import Cache
from ..verify.obligation import Obligation
from ..verify.outcome import Run
from ..verify.proving import prove_all
from ..verify.sources import first_read, platform_text, prover_digest
from ..verify.verdict import Status
from .files import noted, read_text
from .gate_items import GateItem, claim_item, ill_formed_item, module_items, proved_item, unread_item
from .layout import ILL_FORMED, block, count, duration, joined
from .selection import Named, Selected, by_group
from .serializer import document, plain, written_as
from .settings import SETTINGS, Settings, files_below_root
from .sources import kind_of_file, read_source


@dataclass
class Gate:
    """The outcome of one run."""

    items: list[GateItem] = field(default_factory=list)
    #: Violations of the base and the floor: claims of the base that are ``MISSING``, proofs that are ``LOST`` because
    #: another verdict is expected now, and a number of claims ``BELOW FLOOR``.
    broken: list[GateItem] = field(default_factory=list)
    #: Files that have not changed and were not checked.
    unchanged: list[str] = field(default_factory=list)
    floor: int = 0
    base: str = ""
    notes: list[str] = field(default_factory=list)
    interrupted: bool = False
    seconds: float = 0.0

    @property
    def failed(self) -> list[GateItem]:
        """The items whose verdict is not the expected one, and the violations of the base and the floor."""
        return [i for i in self.items if not i.passes] + self.broken

    @property
    def proved(self) -> int:
        """The number of items with the expected verdict."""
        return sum(i.passes for i in self.items)

    @property
    def exit_status(self) -> int:
        """0 if the gate passes, 1 if a claim is false, lost or missing, 2 if undecided, 3 if ill-formed."""
        verdicts = {i.verdict for i in self.failed}
        if verdicts - {Status.UNDECIDED, Status.NOT_CHECKED}:
            return 3 if ILL_FORMED in verdicts else 1
        return 2 if self.failed or self.interrupted or not (self.items or self.unchanged) else 0

    @property
    def verdict(self) -> str:
        """``PASSED`` or ``FAILED``."""
        return "FAILED" if self.exit_status else "PASSED"


# ------------------------------------------------------------------------------------------------------- running
def run_gate(
    settings: Settings,
    prove: Callable[[Sequence[Obligation]], Run] = prove_all,
    *,
    cache: Cache | None = None,
    since: str = "",
    options: Sequence[str] = (),
) -> Gate:
    """Prove what the repository declares, and compare it with the base.

    ``prove`` proves obligations and uses its own cache; ``options`` configure the process that proves a revision in the
    same way.  ``cache`` remembers claims files and HLO files in which every claim passes.  With ``since`` only files
    that changed since that Git revision are checked.  Raises `InputError` for settings or a base that cannot be read.
    """
    start = time.perf_counter()
    gate = Gate(floor=settings.floor, base=settings.base)
    files = files_below_root(settings.root, settings.files)
    if since:
        touched = _touched(settings.root, files, since)
        gate.unchanged = [f for f in files if f not in touched]
        files = [f for f in files if f in touched]
    gate.items = [
        ill_formed_item(SETTINGS, line, f"{quoted(pattern)} is no file", pattern)
        for pattern, line in settings.unmatched
    ]
    gate.items += _items(settings.root, files, settings.max_rank, prove, cache or Cache(None))
    if settings.base:
        skipped = set(gate.unchanged)
        gate.broken = _compared([i for i in _base(settings, options) if i.file not in skipped], gate.items)
    if not gate.failed and not gate.unchanged and gate.proved < settings.floor:
        said = f"{count(gate.proved, 'claim')} as expected, and the floor is {settings.floor:,}"
        gate.broken.append(_broken("floor", "setting", SETTINGS, settings.floor_line, "BELOW FLOOR", said))
    gate.seconds = time.perf_counter() - start
    return gate


def _items(
    root: Path, files: Sequence[str], max_rank: int, prove: Callable[[Sequence[Obligation]], Run], cache: Cache
) -> Iterator[GateItem]:
    """Yield the items of all files, in order."""
    proved = [f for f in files if kind_of_file(f) in ("python", "rules")]
    sources = {f: read_source(str(root / f), max_rank) for f in proved}
    groups = {(f, *of): claims for f, s in sources.items() for of, claims in by_group(s.declared).items()}
    owed = {of: gated(declared) for of, declared in groups.items()}
    asked = [o for obligations in owed.values() for o in obligations]
    results = iter(prove(asked).results if asked else ())
    found = {f: [unread_item(f, error) for error in s.unread] for f, s in sources.items()}
    for of, declared in groups.items():
        found[of[0]].append(proved_item(of[0], declared, [next(results) for _ in owed[of]]))
    for f in files:
        items = found[f] if f in found else _remembered(cache, root, f)
        yield from sorted(items, key=lambda i: (i.line, i.column))


def gated(declared: Iterable[Named]) -> list[Obligation]:
    """Return the gating obligations of the claims."""
    return [o for d in declared for o in Selected(d).obligations() if o.gate]


def _remembered(cache: Cache, root: Path, path: str) -> list[GateItem]:
    """Return the items of a claims file or an HLO file.

    If all of them pass, they are cached under the content of the file, the program and its platform.
    """
    try:
        content = (root / path).read_bytes()
    except OSError as error:
        return [ill_formed_item(path, 1, f"cannot read it: {error.strerror}")]
    program = "\0".join((path, platform_text(), prover_digest(), *first_read().values(), ""))
    key = f"gate {hashlib.sha256(program.encode() + content).hexdigest()}"
    if known := cache.manifest(key):
        return [GateItem(**item) for item in known]
    make = module_items if kind_of_file(path) == "hlo" else _claims_items
    items = list(make(root, path))
    if items and all(i.passes for i in items):
        cache.put_manifest(key, [asdict(i) for i in items])
    return items


def _claims_items(root: Path, path: str) -> Iterator[GateItem]:
    """Yield the items of a claims file."""
    source = read_source(str(root / path))
    yield from (unread_item(path, error) for error in source.unread)
    yield from (claim_item(path, claim) for claim in source.claims)


# ------------------------------------------------------------------------------------------------------- the base
#: What a comparison needs to know of a claim of the base, with its type.
_KEPT = {"name": str, "kind": str, "file": str, "line": int, "column": int, "verdict": str, "expected": str}


def _git(root: Path, *words: str) -> bytes:
    done = subprocess.run(["git", "-C", str(root), *words], capture_output=True, check=False)
    if done.returncode:
        raise InputError(f"git {' '.join(words)}: {done.stderr.decode(errors='replace').strip()}")
    return done.stdout


def _touched(root: Path, files: Sequence[str], since: str) -> set[str]:
    """Return the files that differ from a revision, including files that Git does not track yet.

    Python files may import each other, so a change of one touches all.  A change of the settings touches every file.
    """
    known = _git(root, "diff", "--name-only", "--relative", "-z", since, "--")
    unknown = _git(root, "ls-files", "--others", "--exclude-standard", "-z")
    changed = set((known + unknown).decode().split("\0"))
    if SETTINGS in changed:
        return set(files)
    if any(name.endswith(".py") for name in changed):
        changed |= {f for f in files if kind_of_file(f) == "python"}
    return changed & set(files)


def _compared(before: Sequence[GateItem], now: Sequence[GateItem]) -> list[GateItem]:
    """Return the violations of a base: its claims may move to another file, but may not vanish or lose their proof.

    A file with unreadable parts fails already, so none of its claims is reported as missing.
    """
    here: dict[tuple[str, str], dict[str, GateItem]] = {}
    for i in now:
        here.setdefault((i.kind, i.name), {})[i.file] = i
    unread = {i.file for i in now if i.verdict == ILL_FORMED}
    before = [i for i in before if i.verdict != ILL_FORMED]
    stayed = {id(i): i.file for i in before if i.file in here.get((i.kind, i.name), {})}
    found = []
    for was in sorted(before, key=lambda i: id(i) not in stayed):
        same = here.get((was.kind, was.name), {})
        match = same.pop(stayed.get(id(was)) or min(same), None) if same else None
        if match is None and was.file not in unread:
            said = f"the base has this {was.kind}, but no file declares it any more"
            found.append(_broken(was.name, was.kind, was.file, was.line, "MISSING", said))
        elif match and was.verdict == Status.PROVED and match.verdict != Status.PROVED and match.passes:
            said = f"the base has a proof of it, and now it is expected to be {match.expected}"
            found.append(_broken(match.name, match.kind, match.file, match.line, "LOST", said))
    return found


def _broken(name: str, kind: str, file: str, line: int, verdict: str, said: str) -> GateItem:
    text = block(joined([f"{verdict}  {name}", f"{file}:{line}"]), [("because", said)])
    return GateItem(name, kind, file, line, 1, verdict, text=text, message=f"{name}: {said}")


def _base(settings: Settings, options: Sequence[str]) -> list[GateItem]:
    """Return the items of the base: those of a document, or of what a revision declares."""
    path = settings.root / settings.base
    if path.is_file():
        return _items_of_document(read_text(path), settings.base)
    # git would read it as an option, and some options write files
    if settings.base.startswith("-") or "\0" in settings.base:
        raise InputError(f"base: {quoted(settings.base)} is neither a file nor a Git revision")
    with tempfile.TemporaryDirectory() as folder:
        archive = _git(settings.root, "archive", "--format=tar", settings.base)
        subprocess.run(["tar", "-x", "-C", folder], input=archive, check=True)
        # in a process of its own, since the modules of both versions have the same names
        words = [sys.executable, "-m", "indexproof", "gate", "--without-base", "--json", *options]
        done = subprocess.run(words, cwd=folder, capture_output=True, encoding="utf-8", check=False)
        if not done.stdout.startswith("{"):
            raise InputError(f"the base {quoted(settings.base)} cannot be proved: {done.stderr.strip()}")
        return _items_of_document(done.stdout, settings.base)


def _items_of_document(text: str, name: str) -> list[GateItem]:
    expected = "a document that `indexproof gate` wrote"
    with noted(f"in {name}"):
        data = load_json(text)
        if not isinstance(data, dict) or not isinstance(data.get("claims"), list):
            raise InputError("it has no claims", expected=expected)
        for n, i in enumerate(data["claims"]):
            if not isinstance(i, dict) or any(type(i.get(key)) is not kind for key, kind in _KEPT.items()):
                raise InputError(f"claims[{n}] is no claim with {', '.join(_KEPT)}", expected=expected)
        return [GateItem(**{key: i[key] for key in _KEPT}) for i in data["claims"]]


# ------------------------------------------------------------------------------------------------------- reports
def gate_text(gate: Gate) -> Iterator[str]:
    """Yield a block for every failure, and a closing line."""
    for item in gate.failed:
        expected = "" if item.expected == "PROVED" else f"   expected {item.expected}"
        yield item.text + expected if "\n" not in item.text else item.text.replace("\n", f"{expected}\n", 1)
    yield "\n".join([*gate.notes, closing_line(gate)])


def closing_line(gate: Gate) -> str:
    """Sum up a run in one line."""
    parts = [f"{gate.verdict}  {count(len(gate.items), 'claim')}, {gate.proved:,} as expected"]
    if gate.unchanged:
        parts.append(f"{count(len(gate.unchanged), 'unchanged file')} not looked at")
    if gate.interrupted:
        parts.append("interrupted")
    return joined([", ".join(parts), f"in {duration(gate.seconds)}"])


written_as(Gate, "claims=items broken notes unchanged floor base")


def gate_json(gate: Gate) -> dict[str, Any]:
    """Return the document of a run; committed, it is the base of later ones."""
    timing = {"seconds": gate.seconds, "claims": {f"{i.file}: {i.name}": i.seconds for i in gate.items}}
    return document("gate", gate.verdict, gate.exit_status, **plain(gate), timing=timing)
