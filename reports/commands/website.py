"""The command that writes a report as a web site."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ...core.errors import InputError, quoted
from ..files import noted
from .frame import OPEN, PROVED, emit, status_of, writing
from .given import chosen_claims, opened_cache, with_files_of_folders
from .proving import proved as proved_by

if TYPE_CHECKING:
    from ...verify.cache import Cache
    from ..selection import Selected


def report(
    folder: Path,
    inputs: list[str] | None = None,
    *,
    jobs: int | None = None,
    cache: Path | None = None,
    no_cache: bool = False,
    confirm: str = "",
    certificates: bool = False,
    compare: Path | None = None,
    jax: Path | None = None,
    max_rank: int | None = None,
) -> None:
    """Prove, and write a report that a browser shows.

    The report is DIR/index.html with all that it needs, and DIR/report.json.

    The page needs no network. It has the verdicts and what was not checked, a page for every rule and op, the
    counterexamples, and an explorer of HLO modules: choose elements of an instruction, and follow what they read
    through all instructions to the parameters.

    The exit status is that of `prove`, `check` and `hlo --verify` for the same inputs, the worst of them.

    Args:
        folder (DIR): The folder to write, made if need be.
        inputs (NAME): What `prove` takes, claims files (FILE.claims), HLO modules, and folders of all of them
            (FOLDER/); the catalogue without names.
        confirm (cvc5): Have every verdict confirmed by a second solver.
        certificates: Write a certificate of every proof beside the page.
        compare (OLD): The report.json of a former report, or a --json document.
        jax (FILE): Include the comparison of ops with jax: the file of `pytest tests/oracle/test_ops_jax.py
            --junitxml FILE`.
    """
    from ...verify.claims import read_claims
    from ...verify.verdict import Status, worst
    from .. import website
    from ..files import read_text
    from ..hlo_files import module_of
    from ..progress import Bar

    old = None if compare is None else _document(compare)
    comparisons = "" if jax is None else read_text(jax)
    given = with_files_of_folders(inputs or (), ("python", "rules", "claims", "hlo"))
    with writing("cannot write", folder):
        folder.mkdir(parents=True, exist_ok=True)
    claims = [n for n in given if n.endswith(".claims")]
    modules = [n for n in given if _is_module(n)]
    names = [n for n in given if n not in claims and n not in modules]
    read = {n: module_of(n) for n in modules}
    files = []
    for n in claims:
        with noted(f"in {n}"):
            files.append(read_claims(read_text(n), n))
    statuses: list[tuple[Status, int]] = []
    proved: list[dict[str, Any]] = []
    if names or not given:
        place = folder / "certificates" if certificates else None
        named = chosen_claims(names, max_rank)
        with opened_cache(cache, no_cache, False) as kept:
            proved.append(_proved(*named, place, kept, statuses, jobs=jobs, confirm=confirm))
    checked = [_checked(f, statuses) for f in files]
    explored = []
    corpus = website.published_maps() if proved else {}
    for name, module in read.items():
        with Bar(len(module.computations)) as bar:
            explored.append(website.module_section(name, module, partial(bar.show, 1), corpus))
        found = Status(explored[-1]["verdict"])
        statuses.append((found, status_of(found)))
    website.add_firings(proved, corpus)
    if jax is not None:
        with noted(f"--jax: in {jax}"):
            website.add_comparisons(proved, comparisons)
    codes = {code for _, code in statuses}
    code = 1 if 1 in codes else OPEN if codes - {PROVED} else PROVED
    verdict = worst([s for s, _ in statuses])
    data = website.report_document(proved, checked, explored, verdict, code, old)
    with writing("cannot write", folder):
        (folder / "report.json").write_text(json.dumps(data, ensure_ascii=False) + "\n", "utf-8")
        (folder / "index.html").write_text(website.page_of(data), "utf-8")
    emit(f"{data['verdict']}  {folder / 'index.html'}")
    raise typer.Exit(code)


def _is_module(name: str) -> bool:
    """Return whether a name is that of an HLO module, by its suffix or by the beginning of its text."""
    from ..sources import kind_of_file

    path = Path(name)
    if path.suffix == ".txt" and path.is_file():
        with path.open("rb") as file:
            return b"HloModule" in file.read(4000)
    return path.suffix == ".gz" or kind_of_file(path) == "hlo"


def _proved(
    chosen: Sequence[Selected],
    command: str,
    certificates: Path | None,
    kept: Cache,
    statuses: list[tuple[Any, int]],
    **how: Any,
) -> dict[str, Any]:
    from ...verify.checker import MANIFEST
    from ..certificates import write_certificates
    from ..website import prove_section

    claims = list({s.named.name: s.named for s in chosen}.values())
    obligations = [o for s in chosen for o in s.obligations()]
    run = proved_by(obligations, kept, **how)
    written: dict[str, str] = {}
    if certificates is not None:
        owed = [r.obligation for r in run.results if r.verdict.proved and r.obligation.gate]
        with writing("cannot write", certificates):
            write_certificates(owed, certificates, run.jobs)
            listed = json.loads((certificates / MANIFEST).read_text("utf-8"))["certificates"]
            written = {entry["obligation"]: entry["file"] for entry in listed}
    statuses.append((run.status, OPEN if run.interrupted and not run.exit_status else run.exit_status))
    return prove_section(run, claims, command, written)


def _checked(file: Any, statuses: list[tuple[Any, int]]) -> dict[str, Any]:
    import time

    from ...verify.claims import check_claims
    from ...verify.verdict import Status, worst
    from ..claims import checked_json, exit_status

    start = time.perf_counter()
    results = check_claims(file)
    code = exit_status([(file, results)])
    found = Status.PROVED if not code else worst([r.verdict for r in results if not r.as_expected])
    statuses.append((found, code))
    return checked_json([(file, results)], 0, time.perf_counter() - start)


def _document(path: Path) -> dict[str, Any]:
    from ...core.json_text import load_json
    from ..files import read_text
    from ..website import verdicts_in

    with noted(f"--compare: in {path}"):
        data = load_json(read_text(path))
        if not isinstance(data, dict) or not str(data.get("format", "")).startswith("indexproof "):
            said = f"{quoted(path, 200)} is no answer of indexproof"
            raise InputError(said, expected="a report.json or a --json document")
        try:
            verdicts_in(data)
        except (AttributeError, LookupError, TypeError, ValueError):
            said = f"{quoted(path, 200)} is not as indexproof wrote it"
            raise InputError(said, expected="a report.json or a --json document") from None
    return data
