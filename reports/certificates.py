"""Write certificates after a run, check them, and compare them with the catalogue or with rule files.

:mod:`..verify.checker` checks the steps; what a certificate claims is compared here with what the catalogue or a rule
file states.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

from ..core.condition import Condition
from ..core.errors import IndexproofError, InputError, TooLargeError, quoted
from ..core.json_text import load_json
from ..verify.certificate import check_certificate
from ..verify.checker import FILE_FORMAT, MANIFEST, MANIFEST_FORMAT, CertificateRefused, Solver, listed, solvers_at_hand
from ..verify.lemmas import LemmaObligation
from ..verify.linear.export import certificate
from ..verify.obligation import Obligation
from ..verify.pool import each
from ..verify.rulefiles import read_rule_file
from ..verify.rulefiles.cases import expanded
from ..verify.rulefiles.certify import case_certificate
from ..verify.rulefiles.lowering import rule_of, source_of
from ..verify.rulefiles.obligations import SOUND, StatedObligation
from ..verify.rulefiles.rule import StatedRule
from .files import noted, read_text
from .selection import catalogue
from .serializer import document, written_as

_Claim: TypeAlias = tuple[tuple[Condition, ...], Condition]
#: The number of obligations that a process gets at once.
_FEW = 8


def _cases(rule: StatedRule) -> list[_Claim]:
    """Translate a rule of a rule file into claims of the core language."""
    return [(part.hypotheses, part.goal) for part in expanded(rule)]


def _certificates(o: Obligation) -> tuple[dict[str, Any], list[Any]] | None:
    """Return the head of a file and one certificate for each part; ``None`` if a part has no certificate.

    Raises :class:`TooLargeError` for a rule with too many cases.
    """
    if not isinstance(o, StatedObligation):
        found = certificate(o.name, o.hypotheses, o.goal)
        return None if found is None else ({}, [found])
    said = {"rule": json.loads(o.source)}
    said["rule"]["rules"][0]["name"] = o.subject
    parts = [case_certificate(replace(part, subject=o.subject, kind=o.kind)) for part in expanded(o.rule)]
    return None if None in parts else (said, parts)


def _text(o: Obligation) -> str:
    """Return the content of the file for an obligation; empty if there is no certificate."""
    found = None
    with suppress(TooLargeError):
        found = _certificates(o)
    if found is None:
        return ""
    said, parts = found
    data = {"format": FILE_FORMAT, "obligation": o.name, **said, "parts": parts}
    return json.dumps(data, ensure_ascii=False) + "\n"


def _texts(numbered: Sequence[tuple[int, Obligation]]) -> list[tuple[int, str]]:
    return [(n, _text(o)) for n, o in numbered]


def _in_processes(owed: Sequence[Obligation], jobs: int) -> list[str]:
    """Return the content of the file for every obligation, found by several processes."""
    numbered = list(enumerate(owed))
    # the last ones first: in the catalogue they take the longest
    parcels = [numbered[i : i + _FEW] for i in range(0, len(owed), _FEW)][::-1]
    texts: dict[int, str] = {}
    with closing(each(_texts, parcels, jobs)) as done:
        for parcel, found in done:
            # the work of a process that died is repeated in this process
            texts.update(_texts(parcel) if found is None else found)
    return [texts[n] for n, _ in numbered]


def write_certificates(proved: Iterable[Obligation], folder: Path, jobs: int = 1) -> tuple[int, list[str]]:
    """Write one file for every obligation, and a manifest of the files, which do not depend on ``jobs``.

    Returns the number of files, and the names of the obligations without a certificate.  These are obligations that
    only another strategy than the reduction proved.  Lemmas are proved without the reduction and are skipped.  Raises
    :class:`OSError` if the folder cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.json"):
        if is_certificate(str(old)):
            old.unlink()
    written: list[dict[str, str]] = []
    without: list[str] = []
    used = {MANIFEST}
    owed = [o for o in proved if o.question == "valid" and not isinstance(o, LemmaObligation)]
    texts = map(_text, owed) if jobs == 1 or len(owed) < 2 * _FEW else _in_processes(owed, jobs)
    for o, text in zip(owed, texts, strict=True):
        if not text:
            without.append(o.name)
            continue
        name = _file_name(o.name, used)
        (folder / name).write_bytes(content := text.encode())
        written.append({"file": name, "obligation": o.name, "sha256": hashlib.sha256(content).hexdigest()})
    manifest = {"format": MANIFEST_FORMAT, "certificates": written, "without": without}
    (folder / MANIFEST).write_text(json.dumps(manifest, ensure_ascii=False, indent=1) + "\n", "utf-8")
    return len(written), without


def _file_name(name: str, used: set[str]) -> str:
    stem = re.sub(r"[^0-9A-Za-z_.-]+", "_", name).strip("_.")[:120] or "claim"
    names = itertools.chain([stem], (f"{stem}_{n}" for n in itertools.count(2)))
    # some file systems do not distinguish upper and lower case
    found = next(n for n in names if n.lower() not in used)
    used.add(found.lower())
    return f"{found}.json"


@dataclass(frozen=True)
class CheckedCertificate:
    """The outcome for one file: its obligation, what was checked, and why it is refused, if it is."""

    path: str
    obligation: str
    steps: int = 0
    leaves: int = 0
    lemmas: tuple[str, ...] = ()
    #: Whether the certificate was compared with the catalogue, or with the rule that the file holds.
    compared: bool = False
    refused: str = ""


def is_certificate(file: str) -> bool:
    """Return whether a file declares itself a certificate; its content may still be wrong."""
    return re.match(r'\s*\{\s*"format"\s*:\s*"indexproof certificates', read_text(file)) is not None


def check_files(paths: Sequence[Path], against: Sequence[Path] = ()) -> Iterator[CheckedCertificate]:
    """Check every certificate in files and folders; the manifest of a folder must list exactly its files.

    With ``against``, each certificate must belong to a rule of these rule files, by name and by statement, and every
    rule of them must have one.  Raises :class:`InputError` for a file that cannot be read.
    """
    read = (r for path in against for r in read_rule_file(read_text(str(path)), str(path)))
    rules = {f"{r.name}: {SOUND}": r for r in read if r.expected == "PROVED"}
    files: list[Path] = []
    for path in paths:
        try:
            files += listed(path) if path.is_dir() else [path]
        except CertificateRefused as error:
            yield CheckedCertificate(str(path), "the folder", refused=str(error))
    if not files:
        return
    first = _read(files[0])  # report a file without certificates before any expensive work
    solvers = solvers_at_hand()
    known = cache(lambda: {o.name: o for o in catalogue()})  # files with a rule do not need it
    for file in files:
        data = first if file == files[0] else _read(file)
        stated = rules.pop(data["obligation"], None)
        if against and stated is None:
            why = "no rule, or none left, is called so"
            yield CheckedCertificate(str(file), data["obligation"], refused=why)
        else:
            yield _check(file, data, stated, known, solvers)
    for name, r in rules.items():
        yield CheckedCertificate(r.where, name, refused="there is no certificate of this rule")


def _read(file: Path) -> dict[str, Any]:
    text = read_text(file)
    try:
        data: Any = json.loads(text)
    except (ValueError, RecursionError):
        with noted(f"in {file}"):
            data = load_json(text)  # slower, but reports the position
    found: dict[str, Any] = data if isinstance(data, dict) and data.get("format") == FILE_FORMAT else {}
    if not (isinstance(found.get("obligation"), str) and isinstance(found.get("parts"), list)):
        raise InputError(f"{quoted(str(file))} holds no certificates", expected=f"the format {FILE_FORMAT!r}")
    return found


def _check(
    file: Path,
    data: dict[str, Any],
    expected: StatedRule | None,
    known: Callable[[], Mapping[str, Obligation]],
    solvers: dict[str, Solver],
) -> CheckedCertificate:
    name, parts = data["obligation"], data["parts"]
    steps = leaves = 0
    lemmas: set[str] = set()
    try:
        claims = _stated(data, expected, known)
    except (IndexproofError, LookupError, TypeError, ValueError, ArithmeticError, RecursionError) as error:
        why = "it is nested too deep" if isinstance(error, RecursionError) else error
        return CheckedCertificate(str(file), name, refused=f"the rule is refused: {why}")
    try:
        if len(parts) != (1 if claims is None else len(claims)):
            raise CertificateRefused("claim", f"{len(parts)} parts do not prove all that is claimed")
        for part, claim in zip(parts, [None] if claims is None else claims, strict=True):
            found = check_certificate(part, claim, solvers=solvers)
            if found.name != name:
                raise CertificateRefused("claim", f"this is a certificate of {found.name}")
            steps += found.steps
            leaves += found.leaves
            lemmas |= set(found.lemmas)
    except CertificateRefused as error:
        return CheckedCertificate(str(file), name, steps, leaves, refused=str(error))
    return CheckedCertificate(str(file), name, steps, leaves, tuple(sorted(lemmas)), claims is not None)


def _stated(
    data: Mapping[str, Any], expected: StatedRule | None, known: Callable[[], Mapping[str, Obligation]]
) -> list[_Claim] | None:
    """Return the claims to prove: the cases of the rule in the file, or the catalogue's claim.

    Returns ``None`` if the catalogue has no such claim; the certificate then proves its own statement.  Raises
    :class:`InputError` if the rule in the file is not the ``expected`` one.
    """
    if "rule" in data or expected is not None:
        stated = rule_of(json.dumps(data["rule"]))
        if f"{stated.name}: {SOUND}" != data["obligation"]:
            raise InputError(f"the rule in the file is called {quoted(stated.name)}")
        if expected is not None and source_of(stated) != source_of(expected):
            raise InputError(f"{expected.where} states another rule by this name: {expected.statement()}")
        return _cases(stated)
    o = known().get(data["obligation"])
    if o is None:
        return None
    return _cases(o.rule) if isinstance(o, StatedObligation) else [(tuple(o.hypotheses), o.goal)]


def certificates_text(found: Sequence[CheckedCertificate]) -> str:
    """Report the number of certificates that hold, and every refused file with the reason."""
    lines = [f"REFUSED  {c.obligation}   {c.path}\n  because  {c.refused}" for c in found if c.refused]
    good = [c for c in found if not c.refused]
    asked = " and ".join(solvers_at_hand())
    steps, leaves = sum(c.steps for c in good), sum(c.leaves for c in good)
    if alone := [c for c in good if not c.compared]:
        said = "are not of claims of the catalogue: they prove only what they state themselves"
        lines.append(f"{len(alone)} of them {said}")
    counts = f"{len(good)} of {len(found)} certificates hold: {steps:,} steps, {leaves:,} leaves confirmed by {asked}"
    lines.append(f"{'PROVED' if found and len(good) == len(found) else 'REFUSED'}  {counts}")
    return "\n".join(lines)


_KEYS = "file=path obligation holds compared steps leaves lemmas because=refused?"
written_as(CheckedCertificate, _KEYS, holds=lambda c: not c.refused)


def certificates_document(found: Sequence[CheckedCertificate], exit_status: int) -> dict[str, Any]:
    """Return the answer of ``replay`` about certificates."""
    verdict = "REFUSED" if exit_status else "PROVED"
    more = {"solvers": list(solvers_at_hand()), "certificates": found}
    return document("check-certificate", verdict, exit_status, **more)
