"""The commands of ``indexproof dev``: random maps, damaged texts, injected faults, mutants of obligations."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from indexproof.core.errors import InputError
from indexproof.reports.commands.frame import emit, report, to_be_written, writing
from indexproof.reports.commands.given import (
    BudgetFactor,
    Checkpoint,
    Jobs,
    Json,
    MaxRank,
    Names,
    chosen_claims,
    opened_cache,
)

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
    from indexproof.rules.catalog import RULES
    from indexproof.verify.proved import proved_rules

    from .fuzz.corpus import builtin_corpus, read_corpus
    from .fuzz.report import MapWatcher, fuzz_json, fuzz_text, only_text
    from .fuzz.run import Settings
    from .fuzz.run import fuzz as run_fuzz

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
    command = f"indexproof dev fuzz --seed {seed}" + (" --checked" if checked else "")
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
    from .fuzz.hlo import fuzz_hlo as run_fuzz
    from .fuzz.hlo import read_texts
    from .fuzz.hlo_report import TextWatcher, hlo_fuzz_json, hlo_fuzz_text, one_text

    texts = read_texts(corpus) if corpus else []
    command = f"indexproof dev fuzz-hlo --seed {seed}" + "".join(f" --corpus {path}" for path in corpus or ())
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
    from indexproof.reports.machine import text_of

    with writing("--json: cannot write", path):
        path.write_text(text_of(data) + "\n", "utf-8")


def stability(
    names: Names = None,
    mutants: Annotated[
        int, typer.Option("--mutants", min=1, metavar="N", help="So many mutants of each obligation.")
    ] = 60,
    sample: Annotated[
        float, typer.Option("--sample", min=0, max=100, metavar="PERCENT", help="Only so many obligations.")
    ] = 100.0,
    shard: Annotated[
        str,
        typer.Option(
            "--shard", metavar="K/N", help="Only part K of N, as 2/8; equal questions are in one part."
        ),
    ] = "1/1",
    checkpoint: Checkpoint = None,
    jobs: Jobs = None,
    budget: BudgetFactor = 1.0,
    json: Json = False,
    max_rank: MaxRank = None,
) -> None:
    """Prove everything again under other names, in other orders, with other seeds of the solver.

    A mutant asks the same question in other words, so it must have the same verdict; an obligation that
    flips has a fragile encoding. What several obligations ask is examined once. The exit status is 0 if none
    does, 1 if one does, 2 if some were not examined. Interrupted with Ctrl-C, says what it knows. Several runs
    with --shard and one --checkpoint examine everything; a last one without --shard reports on all of it. A run
    for more --mutants goes on from those that the checkpoint knows.
    """
    import time

    from indexproof.verify.run import available_cores
    from indexproof.verify.solve import Budget

    from .stability.report import Shaker, stability_json, stability_status, stability_text
    from .stability.stability import examined, in_shard
    from .stability.stability import stability as examine

    chosen, _ = chosen_claims(names, max_rank)
    todo = in_shard(examined((o for s in chosen for o in s.obligations()), sample / 100), shard)
    start = time.perf_counter()
    with writing("--checkpoint: cannot write", checkpoint):
        records, resumed, questions = examine(
            todo,
            mutants=mutants,
            jobs=jobs or available_cores(),
            budget=Budget().scaled(budget),
            checkpoint=checkpoint,
            progress=Shaker(len(todo)),
        )
    seconds = time.perf_counter() - start
    what = records, len(todo), mutants, resumed, seconds, questions
    report(json, lambda: stability_json(*what), lambda: stability_text(*what))
    raise typer.Exit(stability_status(records, len(todo)))


def faults(jobs: Jobs = None, json: Json = False) -> None:
    """Tamper with everything that verdicts rest on, and see that every case is noticed.

    Over 5,000 cases with cvc5: entries and files of the cache, claims, meanings of operators, answers of
    solvers, steps of certificates, processes that are killed. The exit status is 1 if a case passes unnoticed.
    reports/trust.md says what notices which kind; some cases need cvc5 and are left out where it is not
    installed.
    """
    import time

    from indexproof.verify.run import available_cores

    from .faults.report import Teller, faults_json, faults_status, faults_text
    from .faults.run import faults as run_faults
    from .faults.run import tasks

    start = time.perf_counter()
    outcomes = run_faults(jobs or available_cores(), Teller(len(tasks())))
    seconds = time.perf_counter() - start
    report(json, lambda: faults_json(outcomes, seconds), lambda: faults_text(outcomes, seconds))
    raise typer.Exit(faults_status(outcomes))


app = typer.Typer(rich_markup_mode=None)
app.command("fuzz")(fuzz)
app.command("fuzz-hlo")(fuzz_hlo)
app.command("faults")(faults)
app.command("stability")(stability)
