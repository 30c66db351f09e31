"""Random maps and damaged texts."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from ...core.errors import InputError
from .frame import emit, to_be_written, writing
from .given import Checkpoint, Jobs, opened_cache

ReportFile = Annotated[
    Path | None, typer.Option("--json", metavar="FILE", help="Write the report there, as JSON.")
]


def fuzz(
    count: Annotated[
        int, typer.Option("--count", "-n", min=0, metavar="N", help="How many random maps.")
    ] = 2000,
    seed: Annotated[int, typer.Option("--seed", metavar="N", help="Which sequence of random maps.")] = 0,
    only: Annotated[
        int | None, typer.Option("--only", min=0, metavar="N", help="Only this map of the sequence.")
    ] = None,
    checked: Annotated[
        bool, typer.Option("--checked", help="Also check every step, and compare with the plain driver.")
    ] = False,
    corpus: Annotated[
        list[Path] | None,
        typer.Option(
            "--corpus", metavar="FILE", help="Also the maps in this file, one a line; may be repeated."
        ),
    ] = None,
    builtin: Annotated[
        bool, typer.Option("--builtin", help="Also the examples of all rules, and the published maps.")
    ] = False,
    jobs: Jobs = None,
    checkpoint: Checkpoint = None,
    json: ReportFile = None,
) -> None:
    """Simplify random maps, and compare each with its result by evaluation, isl and z3.

    Further each result must be simplified again to itself, must not cost more than its map, and must be the
    same in another process. The maps are reproducible: number N of a sequence is always the same. A wrong
    result, a contradiction between engines or a crash stops the run and is made as small as it gets.
    Interrupted with Ctrl-C, says what was not checked.
    """
    from ...rules.catalog import RULES
    from ...verify.fuzz.corpus import builtin_corpus, read_corpus
    from ...verify.fuzz.run import Settings
    from ...verify.fuzz.run import fuzz as run_fuzz
    from ...verify.proved import proved_rules
    from ..fuzz import fuzz_json, fuzz_text, only_text
    from ..progress import MapWatcher

    maps = [m for path in corpus or () for m in read_corpus(path)] + (
        builtin_corpus(RULES) if builtin else []
    )
    if not (count or maps or only is not None):
        raise InputError("there is nothing to examine", expected="--count, --corpus or --builtin")
    proved: tuple[str, ...] = ()
    if checked:
        with opened_cache(None, False, False) as kept:
            proved = tuple(sorted(proved_rules(RULES, kept)))
    settings = Settings(seed, count, checked, proved)
    command = f"indexproof fuzz --seed {seed}" + (" --checked" if checked else "")
    if only is not None:
        text, status = only_text(settings, only)
        emit(text)
        raise typer.Exit(status)
    to_be_written("--json: cannot write", json)
    with writing("--checkpoint: cannot write", checkpoint), MapWatcher(count) as watcher:
        run = run_fuzz(settings, jobs=jobs, checkpoint=checkpoint, corpus=maps, progress=watcher)
    emit(fuzz_text(run, command))
    if json is not None:
        _keep(fuzz_json(run, command), json)
    raise typer.Exit(run.exit_status)


def fuzz_hlo(
    count: Annotated[
        int, typer.Option("--count", "-n", min=0, metavar="N", help="How many damaged texts.")
    ] = 2000,
    seed: Annotated[int, typer.Option("--seed", metavar="N", help="Which sequence of damaged texts.")] = 0,
    start: Annotated[
        int, typer.Option("--start", min=0, metavar="N", help="The first text of the sequence to examine.")
    ] = 0,
    only: Annotated[
        int | None, typer.Option("--only", min=0, metavar="N", help="Only this text of the sequence.")
    ] = None,
    corpus: Annotated[
        list[Path] | None,
        typer.Option("--corpus", metavar="PATH", help="Damage these HLO files too; may be repeated."),
    ] = None,
    jobs: Jobs = None,
    json: ReportFile = None,
) -> None:
    """Damage HLO modules and maps, and see that each is read, or refused at the place where it is wrong.

    What is read must print to something that reads as the same, and its maps are computed. Any other error, a
    text that takes too long and one that takes too much memory are failures, made as small as they get. The
    texts are reproducible: number N of a sequence is always the same for the same --corpus. Interrupted with
    Ctrl-C, says which were not examined, and how to go on.
    """
    from ...verify.fuzz.hlo import fuzz_hlo as run_fuzz
    from ...verify.fuzz.hlo import read_texts
    from ..fuzz_hlo import TextWatcher, hlo_fuzz_json, hlo_fuzz_text, one_text

    texts = read_texts(corpus) if corpus else []
    command = f"indexproof fuzz-hlo --seed {seed}" + "".join(f" --corpus {path}" for path in corpus or ())
    if only is not None:
        text, status = one_text(seed, only, texts)
        emit(text)
        raise typer.Exit(status)
    if not count:
        raise InputError("there is nothing to examine", expected="--count or --only")
    to_be_written("--json: cannot write", json)
    run = run_fuzz(count, seed, start=start, corpus=texts, jobs=jobs, progress=TextWatcher(count))
    emit(hlo_fuzz_text(run, command))
    if json is not None:
        _keep(hlo_fuzz_json(run, command), json)
    raise typer.Exit(run.exit_status)


def _keep(data: dict[str, Any], path: Path) -> None:
    """Write a report to a file."""
    from ..machine import text_of

    with writing("--json: cannot write", path):
        path.write_text(text_of(data) + "\n", "utf-8")
