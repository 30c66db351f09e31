"""The commands of ``indexproof dev``: generated documents, random maps, injected faults, mutants, confluence."""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path

import typer

from indexproof.core.errors import InputError, quoted
from indexproof.reports.commands.frame import FALSE, PROVED, emit, report, say, writing
from indexproof.reports.commands.given import chosen_claims, opened_cache
from indexproof.reports.commands.options import documented
from indexproof.reports.progress import Lines
from indexproof.verify.outcome import available_cores


class Counted(Lines):
    """A line for every tenth of a run."""

    def __call__(self, more: int) -> None:
        """Count so many more."""
        if self.advance(more):
            self.tell(self.share("examined"))


def docs(context: typer.Context, *, check_only: bool = False, folder: Path | None = None) -> None:
    """Write the generated documents and the compiled rules.

    Args:
        check_only (--check): Write nothing; exit with 1 if a document is out of date.
        folder (PATH): Where they are (default: reports/docs).
    """
    from indexproof.rules.catalog import compiled_sources

    from .documents.published import PAGE, is_current, published_page
    from .documents.reference import documents, help_texts, outdated, write_documents

    place = folder or PAGE.parent / "docs"
    pages = documents(help_texts(context.find_root().command))
    stale = outdated(pages, place)
    # the audit of the published maps is beside the other documents; the claims files repeat it
    audit = folder is None and not is_current()
    sources = compiled_sources().items() if folder is None else ()
    code = {p: text for p, text in sources if not p.exists() or p.read_text("utf-8") != text}
    if check_only:
        for path in code:
            say(f"{path}: is not what the rules say")
        if audit:
            say(f"{PAGE}: is not what the audit says")
        for name, why in stale.items():
            say(f"{place / name}: {why}")
        if stale or audit or code:
            say("run `make docs` (or `indexproof dev docs`) and commit the result")
        raise typer.Exit(FALSE if stale or audit or code else PROVED)
    with writing("cannot write below", place):
        write_documents(pages, place)
        if audit:
            PAGE.write_text(published_page(), "utf-8")
        for path, text in code.items():
            path.write_text(text, "utf-8")
    changed = len(stale) + audit + len(code)
    emit(f"{len(pages) + 3 * (folder is None)} documents in {place}, {changed} changed")


def fuzz(
    *,
    count: int = 2000,
    seed: int = 0,
    checked: bool = False,
    corpus: list[Path] | None = None,
    jobs: int | None = None,
) -> None:
    """Simplify random maps, and compare each with its result by evaluation, isl and z3.

    Further each result must be simplified again to itself, and must not cost more than its map. Hypothesis draws
    the maps, the same ones for a seed, and makes one that fails as small as it gets. A corpus has a map on each
    line. The first failure ends the run; interrupted with Ctrl-C, it says that not everything was examined.

    Args:
        count (-n N 0..): How many are drawn.
        seed (N): Which ones are drawn.
        checked: Also check every step, and compare with the plain driver.
        corpus (FILE): Also what is in this file; may be repeated.
    """
    from indexproof.rules.catalog import RULES
    from indexproof.verify.replay import proved_rules

    from .fuzz.corpus import read_corpus
    from .fuzz.maps import examine_corpus, examine_some, fuzz_text
    from .fuzz.runs import Run, in_chunks

    maps = [m for path in corpus or () for m in read_corpus(path)]
    _something(count, maps)
    proved: tuple[str, ...] = ()
    if checked:
        with opened_cache(None, False, False) as kept:
            proved = tuple(sorted(proved_rules(RULES, kept)))
    start, jobs = time.perf_counter(), jobs or available_cores()
    run = Run(tasks=bool(maps))
    if maps:
        run.add(examine_corpus(maps, checked, proved))
    do = partial(examine_some, checked=checked, proved=proved)
    in_chunks(do, count, seed, jobs, Counted(count), run=run)
    emit("\n\n".join(fuzz_text(run, time.perf_counter() - start, jobs)))
    raise typer.Exit(run.exit_status)


def fuzz_hlo(*, count: int = 2000, seed: int = 0, corpus: list[Path] | None = None, jobs: int | None = None) -> None:
    """Damage HLO modules and maps, and see that each is read, or refused at the place where it is wrong.

    What is read must print to something that reads as the same, and its maps are computed. Any other error, a
    text that takes too long and one that takes too much memory are failures. Hypothesis draws the damage, the
    same for a seed and a corpus of HLO files, and makes what fails small. Interrupted with Ctrl-C, it says that
    not everything was examined.

    Args:
        count (-n N 0..): How many are drawn.
        seed (N): Which ones are drawn.
        corpus (FILE): Also what is in this file; may be repeated.
    """
    from .fuzz.hlo import DATA, MAPS, examine_some, hlo_text, limited, read_texts
    from .fuzz.runs import in_chunks

    texts = (*read_texts([DATA, *(corpus or ())]), *MAPS)
    _something(count)
    start, jobs = time.perf_counter(), jobs or available_cores()
    do = partial(examine_some, texts=texts)
    run = in_chunks(do, count, seed, jobs, Counted(count), limited)
    emit("\n\n".join(hlo_text(run, time.perf_counter() - start, jobs)))
    raise typer.Exit(run.exit_status)


def _something(*what: object) -> None:
    if not any(what):
        raise InputError("there is nothing to examine", expected="--count")


def stability(
    names: list[str] | None = None,
    *,
    mutants: int = 60,
    sample: float = 100.0,
    jobs: int | None = None,
    budget: float = 1.0,
    max_rank: int | None = None,
) -> None:
    """Prove everything again under other names, in other orders, with other seeds of the solver.

    A mutant asks the same question in other words, so it must have the same verdict; an obligation that
    flips has a fragile encoding. What several obligations ask is examined once. The exit status is 0 if none
    does, 1 if one does, 2 if some were not examined. Interrupted with Ctrl-C, says what it knows.

    Args:
        mutants (N 1..): So many mutants of each obligation.
        sample (PERCENT 0..100): Only so many obligations.
    """
    from indexproof.verify.budget import Budget

    from .stability import stability as module

    chosen, _ = chosen_claims(names, max_rank)
    todo = module.examined((o for s in chosen for o in s.obligations()), sample / 100)
    start, jobs = time.perf_counter(), jobs or available_cores()
    records = module.stability(todo, mutants, jobs, Budget().scaled(budget), module.Shaker(len(todo)))
    text = module.stability_text(records, len(todo), mutants, time.perf_counter() - start)
    emit("\n\n".join(text))
    raise typer.Exit(module.stability_status(records, len(todo)))


def faults(*, jobs: int | None = None) -> None:
    """Tamper with everything that verdicts rest on, and see that every case is noticed.

    Over 5,000 cases with cvc5: entries and files of the cache, claims, meanings of operators, answers of
    solvers, steps of certificates, processes that are killed. The exit status is 1 if a case passes unnoticed.
    reports/trust.md says what notices which kind; some cases need cvc5 and are left out where it is not
    installed.
    """
    from .faults import run

    start = time.perf_counter()
    outcomes = run.faults(jobs or available_cores(), run.Teller(len(run.tasks())))
    emit("\n\n".join(run.faults_text(outcomes, time.perf_counter() - start)))
    raise typer.Exit(run.faults_status(outcomes))


def confluence(
    names: list[str] | None = None,
    *,
    count: int = 16,
    json: bool = False,
    jobs: int | None = None,
    write_page: bool = False,
) -> None:
    """Search for results that depend on the order of rewriting.

    Small instances on which two rules of the catalogue apply are simplified as they are, after either rule,
    with other names, and in another order. Says where the results differ, with the smallest example found.
    Takes seconds for one rule and a few minutes for all. Interrupted with Ctrl-C, says what it knows.

    The exit status is 1 if something differs, and 2 if nothing does but not everything was examined.
    reports/confluence.md says what the answers mean.

    Args:
        names (RULE): Only pairs with one of these rules; all without names.
        count (-n N 1..): How many instances of each pair.
        write_page (--page): Write reports/confluence.md (the whole catalogue only).
    """
    from .confluence import pairs_of, search
    from .confluence.report import PAGE, PairWatcher, confluence_json, confluence_text, page

    if write_page and names:
        raise InputError("--page is about the whole catalogue", expected="no names, or no --page")
    known = {r.name for pair in pairs_of() for r in pair}
    for name in names or ():
        if name not in known:
            raise InputError(
                f"{quoted(name)} is no rule that the simplifier rewrites with",
                expected="a rule that is neither structural nor sharing (`indexproof show --family rules`)",
            )
    start = time.perf_counter()
    with PairWatcher(len(pairs_of(among=names or ()))) as watcher:
        run = search(names or (), count=count, jobs=jobs, progress=watcher)
    seconds = time.perf_counter() - start
    if write_page and run.interrupted:
        emit(f"{PAGE}: not written, the run was interrupted")
    elif write_page:
        with writing("cannot write", PAGE):
            PAGE.write_text(page(run), "utf-8")
    report(json, lambda: confluence_json(run, seconds=seconds), lambda: confluence_text(run, seconds=seconds))
    raise typer.Exit(run.exit_status)


app = typer.Typer(rich_markup_mode=None)
app.command("docs")(documented(docs))
app.command("fuzz")(documented(fuzz))
app.command("fuzz-hlo")(documented(fuzz_hlo))
app.command("faults")(documented(faults))
app.command("stability")(documented(stability))
app.command("confluence")(documented(confluence))
