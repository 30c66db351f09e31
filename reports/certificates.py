"""Certificates in files: written after a run, checked again by code that has nothing in common with the prover."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ..core.condition import Condition
from ..core.errors import IndexproofError, InputError, TooLargeError, quoted
from ..core.json_text import load_json
from ..verify.catalogue import catalogue
from ..verify.certificate import CertificateRefused, Solver, check_certificate, cvc5_refutes, z3_refutes
from ..verify.lemmas import LemmaObligation, proved_lemmas
from ..verify.linear.export import certificate
from ..verify.obligations import Obligation
from ..verify.rulefiles.certify import case_certificate
from ..verify.rulefiles.generalise import generalised
from ..verify.rulefiles.instance import instance_terms
from ..verify.rulefiles.lowering import expanded, rule_of, source_of
from ..verify.rulefiles.obligations import StatedObligation
from ..verify.rulefiles.rule import StatedRule
from .machine import ABSENT, document, written_as
from .selection import read_text

__all__ = [
    "CheckedCertificate",
    "certificates_document",
    "certificates_text",
    "check_files",
    "is_certificate",
    "solvers_at_hand",
    "write_certificates",
]

FORMAT = "indexproof certificates 1"


def _claims(o: Obligation) -> Iterator[tuple[tuple[Condition, ...], Condition]]:
    """An obligation in the core language: itself, or the cases of a rule in a rule file."""
    if isinstance(o, StatedObligation):
        for part in expanded(o.rule):
            yield part.hypotheses, part.goal
    else:
        yield tuple(o.hypotheses), o.goal


def _certificates(o: Obligation) -> tuple[dict[str, Any], list[Any]] | None:
    """The head of a file, and a certificate of each claim; ``None`` where one has none.

    Raises :class:`TooLargeError` for a rule with too many cases.
    """
    if not isinstance(o, StatedObligation):
        found = certificate(o.name, o.hypotheses, o.goal)[0]
        return None if found is None else ({}, [found])
    for stated in _statements(o.rule):
        said = {"rule": json.loads(o.source)}
        if stated is not o.rule:
            said["instance of"] = json.loads(source_of(stated))
        parts: list[Any] = []
        for part in expanded(stated):
            found = case_certificate(replace(part, subject=o.subject, kind=o.kind))
            if found is None:
                break
            parts.append(found)
        else:
            return said, parts
    return None


def _statements(r: StatedRule) -> Iterator[StatedRule]:
    """The rule and those of which it is an instance, as they are tried."""
    wider = generalised(r)
    if wider is not None:
        yield wider
    yield r


def write_certificates(proved: Iterable[Obligation], folder: Path) -> tuple[int, list[str]]:
    """Write one file for every obligation; how many there are, and the names of those that have no certificate.

    A lemma has none, since it is proved without the reduction; nor has what was proved in another way only.
    Raises :class:`OSError` where the folder cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    written, without = 0, []
    used: set[str] = set()
    for o in proved:
        if o.question != "valid" or isinstance(o, LemmaObligation):
            continue
        with suppress(TooLargeError):
            found = _certificates(o)
            if found is not None:
                said, parts = found
                data = {"format": FORMAT, "obligation": o.name, **said, "parts": parts}
                (folder / _file_name(o.name, used)).write_text(
                    json.dumps(data, ensure_ascii=False) + "\n", "utf-8"
                )
                written += 1
                continue
        without.append(o.name)
    return written, without


def _file_name(name: str, used: set[str]) -> str:
    stem = re.sub(r"[^0-9A-Za-z_.-]+", "_", name).strip("_.")[:120] or "claim"
    found, n = stem, 1
    while found.lower() in used:  # there are file systems for which these are the same
        n += 1
        found = f"{stem}_{n}"
    used.add(found.lower())
    return f"{found}.json"


@dataclass(frozen=True)
class CheckedCertificate:
    """One file: what it is a certificate of, what was checked, or why it is none."""

    path: str
    obligation: str
    steps: int = 0
    leaves: int = 0
    lemmas: tuple[str, ...] = ()
    #: Whether it was compared with the catalogue, or with the rule that the file holds.
    compared: bool = False
    refused: str = ""


def is_certificate(file: str) -> bool:
    """Whether a file says that it is a certificate; the rest of it may still be wrong."""
    return re.match(r'\s*\{\s*"format"\s*:\s*"indexproof certificates', read_text(file)) is not None


def solvers_at_hand() -> dict[str, Solver]:
    """z3, and cvc5 where it is installed."""
    found: dict[str, Solver] = {"z3": z3_refutes}
    return {**found, "cvc5": cvc5_refutes} if find_spec("cvc5") is not None else found


def check_files(paths: Sequence[Path]) -> Iterator[CheckedCertificate]:
    """Check every certificate in some files, or in the files of some folders.

    Raises :class:`InputError` for a file that cannot be read.
    """
    files = [file for path in paths for file in (sorted(path.glob("*.json")) if path.is_dir() else [path])]
    if not files:
        return
    first = _read(files[0])  # what holds no certificates is said before anything takes time
    proved, solvers = proved_lemmas(), solvers_at_hand()
    known = cache(lambda: {o.name: o for o in catalogue()})  # a rule of a rule file is in its certificate
    yield _check(files[0], first, known, proved, solvers)
    for file in files[1:]:
        yield _check(file, _read(file), known, proved, solvers)


def _read(file: Path) -> dict[str, Any]:
    text = read_text(file)
    try:
        data: Any = json.loads(text)
    except (ValueError, RecursionError):
        try:
            data = load_json(text)  # slower, and says where
        except InputError as error:
            error.add_note(f"in {file}")
            raise
    if (
        not isinstance(data, dict)
        or data.get("format") != FORMAT
        or not isinstance(data.get("obligation"), str)
        or not isinstance(data.get("parts"), list)
    ):
        raise InputError(f"{quoted(str(file))} holds no certificates", expected=f"the format {FORMAT!r}")
    return data


def _check(
    file: Path,
    data: dict[str, Any],
    known: Callable[[], Mapping[str, Obligation]],
    proved: frozenset[str],
    solvers: dict[str, Solver],
) -> CheckedCertificate:
    name, parts = data["obligation"], data["parts"]
    try:
        claims = _stated(data, known)
    except RecursionError:
        return CheckedCertificate(str(file), name, refused="the rule cannot be read: it is nested too deep")
    except (IndexproofError, LookupError, TypeError, ValueError, ArithmeticError) as error:
        return CheckedCertificate(str(file), name, refused=f"the rule cannot be read: {error}")
    if len(parts) != (1 if claims is None else len(claims)):
        return CheckedCertificate(
            str(file), name, refused=f"{len(parts)} parts do not prove all that is claimed"
        )
    steps = leaves = 0
    lemmas: set[str] = set()
    for k, part in enumerate(parts):
        claim = None if claims is None else claims[k]
        try:
            found = check_certificate(part, claim, proved=proved, solvers=solvers)
        except CertificateRefused as error:
            return CheckedCertificate(str(file), name, steps, leaves, refused=str(error))
        steps += found.steps
        leaves += found.leaves
        lemmas |= set(found.lemmas)
    return CheckedCertificate(str(file), name, steps, leaves, tuple(sorted(lemmas)), claims is not None)


def _stated(
    data: Mapping[str, Any], known: Callable[[], Mapping[str, Obligation]]
) -> list[tuple[tuple[Condition, ...], Condition]] | None:
    """Return the cases to prove: of the rule in the file, of a wider one, or of the catalogue's claim by that name.

    ``None`` for another claim, which then is what the certificate says.
    """
    if "rule" in data:
        stated = rule_of(json.dumps(data["rule"]))
        if "instance of" in data:
            wider = rule_of(json.dumps(data["instance of"]))
            if instance_terms(wider, stated) is None:
                raise InputError("it is no instance of the rule that is proved")
            stated = wider
        return [(part.hypotheses, part.goal) for part in expanded(stated)]
    o = known().get(data["obligation"])
    return None if o is None else list(_claims(o))


def certificates_text(found: Sequence[CheckedCertificate]) -> str:
    """Return what was checked, and every file that was refused."""
    lines = [f"REFUSED  {c.obligation}   {c.path}\n  because  {c.refused}" for c in found if c.refused]
    good = [c for c in found if not c.refused]
    asked = " and ".join(solvers_at_hand())
    steps, leaves = sum(c.steps for c in good), sum(c.leaves for c in good)
    alone = [c for c in good if not c.compared]
    if alone:
        lines.append(
            f"{len(alone)} of them are of claims that the catalogue has not: they prove what they state"
        )
    counts = f"{len(good)} of {len(found)} certificates hold: {steps:,} steps, {leaves:,} leaves confirmed by {asked}"
    lines.append(f"{'PROVED' if found and len(good) == len(found) else 'REFUSED'}  {counts}")
    return "\n".join(lines)


written_as(
    CheckedCertificate,
    "file=path obligation holds compared steps leaves lemmas because",
    holds=lambda c: not c.refused,
    because=lambda c: c.refused or ABSENT,
)


def certificates_document(found: Sequence[CheckedCertificate], exit_status: int) -> dict[str, Any]:
    """Return the answer of ``replay`` about certificates."""
    verdict = "REFUSED" if exit_status else "PROVED"
    return document(
        "check-certificate", verdict, exit_status, solvers=list(solvers_at_hand()), certificates=found
    )
