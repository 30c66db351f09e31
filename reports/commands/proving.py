"""Commands that prove: the catalogue, declarations in Python, rule files and claims files."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ...core.errors import InputError, quoted
from ..files import collecting
from .frame import (
    BAD_INPUT,
    BUG,
    FALSE,
    OPEN,
    PROVED,
    emit,
    emit_json,
    finish,
    kept_to_the_end,
    report,
    say,
    say_wrong,
    writing,
)
from .given import certify, chosen_claims, file_text, opened_cache, point_of, rank, with_files_of_folders

if TYPE_CHECKING:
    from ...verify.cache import Cache
    from ...verify.claims import ClaimResult, ClaimsFile
    from ...verify.cluster import Cluster
    from ...verify.obligation import Obligation
    from ...verify.outcome import Run
    from ..selection import Selected


def prove(
    names: list[str] | None = None,
    *,
    json: bool = False,
    jobs: int | None = None,
    budget: float = 1.0,
    cache: Path | None = None,
    no_cache: bool = False,
    read_only_cache: bool = False,
    at: str = "",
    confirm: str = "",
    recheck: float = 0.0,
    max_rank: int | None = None,
    certificates: Path | None = None,
    scheduler: str = "",
    findings: bool = True,
) -> None:
    """Prove the catalogue, named claims, or those of a file.

    Reports how many obligations were proved, by which strategies and how fast, and answers a false claim
    with its smallest counterexample. With a file FILE.py, proves what that file declares; further names then
    choose among its claims. Interrupted with Ctrl-C, says what was not checked; the verdicts reached so far
    are in the cache.

    Verdicts are kept in $INDEXPROOF_CACHE, by default ~/.cache/indexproof/verdicts.sqlite (or below
    $XDG_CACHE_HOME). With --confirm, what the second solver could not settle is not a success, and a
    contradiction between two engines stops the run: the question is written to a file, and the exit status
    is 4. reports/trust.md says what all this establishes.

    With --scheduler the obligations are sent to a Dask cluster, whose workers need the same indexproof; the
    verdicts are the same, and are kept here.

    Args:
        at (POINT): Evaluate one claim at a point, as in --at 'x=1,g=2'.
        confirm (cvc5): Have every verdict confirmed by a second solver.
        recheck (PERCENT 0..100): Prove this percentage of the kept verdicts again.
        certificates (DIR): Write a certificate of every proof to this folder.
        scheduler (ADDRESS): Prove on the Dask cluster of this scheduler, tls://host:port.
        findings (--findings/--no-findings): Also ask which conditions are needed and what may overflow;
            decides no verdict.
    """
    if scheduler and jobs:
        raise InputError("--jobs is about processes of this machine", expected="--jobs or --scheduler")
    if at:
        chosen, _ = chosen_claims(names, max_rank)
        raise typer.Exit(_at_point(chosen, at, json))
    from ...verify.budget import Budget

    # only a plain run of the catalogue can use manifests: other runs must state all obligations
    everything = not names and not recheck and certificates is None
    problems: list[InputError] = []
    try:
        given = None if everything else _given(names, max_rank, problems)
    except InputError:
        for problem in problems:
            say_wrong(problem)
        raise
    if budget <= 0:
        raise InputError(f"--budget {budget:g} leaves the solver nothing", expected="a factor above 0")
    if certificates is not None:
        with writing("--certificates: cannot write", certificates):
            certificates.mkdir(parents=True, exist_ok=True)
    with opened_cache(cache, no_cache, read_only_cache) as kept, _crew(scheduler) as crew:
        with kept_to_the_end():
            asked = given or _whole(kept, max_rank)
            if not findings:
                asked = replace(asked, obligations=[o for o in asked.obligations if o.gate], findings=False)
        given_up = Budget().scaled(budget)
        how = {"jobs": jobs, "budget": given_up, "confirm": confirm, "recheck": recheck / 100}
        run = proved(asked.obligations, kept, **how, executor=crew)
        keeps = kept.path is not None and not kept.read_only
    status = OPEN if run.interrupted and run.exit_status == PROVED else run.exit_status
    try:
        if certificates is not None:
            owed = [r.obligation for r in run.results if r.verdict.proved and r.obligation.gate]
            for name in certify(owed, certificates, jobs):
                say(f"  none  {name}")
    finally:  # report the verdicts even if the certificates cannot be written
        report(json, lambda: asked.document(run), lambda: asked.text(run, keeps), problems)
    raise typer.Exit(BAD_INPUT if problems else status)


@dataclass(frozen=True)
class _Asked:
    """The obligations to prove with their claims, and the command that selects them again."""

    claims: Sequence[Any]
    obligations: Sequence[Obligation]
    command: str
    #: Whether findings, which decide no verdict, are included.
    findings: bool = True

    def document(self, run: Run) -> dict[str, Any]:
        """Return the JSON document; rules of rule files have one of their own."""
        from ...verify.obligation import STATED

        if self.claims and all(c.family == STATED for c in self.claims):
            from ..rule_files import rules_json

            return rules_json(run, self.claims, self.command, findings=self.findings)
        from ..machine import run_json

        return run_json(run, self.claims, self.command)

    def text(self, run: Run, keeps: bool) -> Iterator[str]:
        """Yield the report as text; ``keeps`` says whether verdicts were cached."""
        from ..summary import summary

        return summary(run, self.claims, command=self.command, cached=keeps)


def _given(names: Sequence[str] | None, max_rank: int | None, problems: list[InputError]) -> _Asked:
    """State the obligations of the selected claims; ill-formed input is appended to ``problems``."""
    chosen, command = chosen_claims(names, max_rank, problems)
    with kept_to_the_end():
        obligations = [o for s in chosen for o in s.obligations()]
    claims = list({s.named.name: s.named for s in chosen}.values())
    return _Asked(claims, obligations, command)


def _whole(kept: Cache, max_rank: int | None) -> _Asked:
    """Select the whole catalogue, and state only the obligations that have changed."""
    from ...verify.manifest import whole_catalogue

    found = whole_catalogue(kept, rank(max_rank))
    return _Asked(found.claims, found.obligations, "indexproof prove")


def _crew(scheduler: str) -> AbstractContextManager[Cluster | None]:
    """Connect to the workers of a scheduler, if one is named."""
    if not scheduler:
        return nullcontext()
    from ...verify.cluster import Cluster

    return Cluster(scheduler)


def proved(obligations: Sequence[Obligation], kept: Cache, **how: Any) -> Run:
    """Prove obligations with progress on standard error; end the command if two engines contradict each other."""
    from ...verify.proving import prove_all
    from ..progress import Watcher

    with stopped_by_disagreement(), Watcher(len(obligations)) as watcher:
        return prove_all(obligations, cache=kept, progress=watcher, **how)


@contextmanager
def stopped_by_disagreement() -> Iterator[None]:
    """End the command if two engines contradict each other, with the question in a file."""
    from ...verify.trust.disagreement import Disagreement

    try:
        yield
    except Disagreement as found:
        from ..trust import disagreement_text

        say(disagreement_text(found, Path.cwd()))
        raise typer.Exit(BUG) from None


def _at_point(chosen: Sequence[Selected], at: str, json: bool) -> int:
    """Evaluate the obligations of one claim at one point, and return the exit status."""
    from ...verify.obligation import STATED
    from ..machine import point_json
    from ..refutation import at_point, holds_at, point_variables

    if len({s.named.name for s in chosen}) != 1:
        said = f"--at evaluates one claim, but {len(chosen):,} are selected"
        raise InputError(said, expected="the name of one claim")
    obligations = [o for s in chosen for o in s.obligations()]
    if not any(s.kind for s in chosen) or chosen[0].named.family == STATED:
        # the variables of obligations about generated code have no names that a user could know
        asked = [o for o in obligations if o.gate and o.question == "valid"]
        obligations = [o for o in asked if not o.kind.startswith("as compiled")]
    of = {o: point_variables(o) for o in obligations}
    point = point_of(at, list(dict.fromkeys(itertools.chain.from_iterable(of.values()))))
    places = [(o, place) for o in obligations if (place := holds_at(o, point)) is not None]
    # prefer obligations with variables: the others do not depend on the point
    places = [(o, place) for o, place in places if of[o]] or places
    if not places:
        least = min(of, key=lambda o: len(set(of[o]) - set(point)))
        missing = [v for v in of[least] if v not in point]
        said = f"--at: no value for {', '.join(map(quoted, missing))}"
        raise InputError(said, expected=f"as for {quoted(least.name, 80)}")
    false = any(place == "counterexample" and o.gate for o, place in places)
    says = any(place in ("holds", "example") for _, place in places)
    status = FALSE if false else PROVED if says else OPEN
    if json:
        emit_json(point_json(places, point, status))
    else:
        wrong = [p for p in places if p[1] == "counterexample"]
        for o, place in wrong or [p for p in places if p[0].show][:1] or places[:1]:
            emit(at_point(o, point, place) + "\n")
        emit("\n".join(f"  {o.kind}: {place}" for o, place in places))
    return status


def check(
    files: list[str] | None = None,
    *,
    builtin: bool = False,
    only: list[str] | None = None,
    confirm: bool = False,
    json: bool = False,
) -> None:
    """Check claims files, and the published maps of XLA.

    A claims file states equalities of maps, simplifications, and the maps of ops written as HLO
    instructions, each with the verdict that is expected; reports/docs/claims.md describes it. A false claim
    is answered with an element that shows it and with the right map. The exit status is 0 if every verdict
    is the expected one.

    Args:
        files (FILE): Claims files, or folders of them (FOLDER/); - is standard input.
        builtin: Check the maps that the XLA documents publish.
        only (NAME): Check the claim of this name; repeat for more.
        confirm: Ask a second engine about every comparison.
    """
    import time

    from ...verify.claims import builtin_claims, check_claims
    from ..claims import checked_json, checked_text, exit_status

    if not files and not builtin:
        raise InputError("nothing to check", expected="claims files, or --builtin")
    problems: list[InputError] = []
    given = with_files_of_folders(files or (), ("claims",), problems, bare=True)
    sources = [f for name in given for f in _claims_file(name, problems)]
    if problems and not any(f.claims for f in sources):
        for problem in problems[:-1]:
            say_wrong(problem)
        raise problems[-1]
    sources += builtin_claims() if builtin else []
    wanted = set(only or ())
    if unknown := wanted - {c.name for f in sources for c in f.claims}:
        from ..selection import suggestion

        name = min(unknown)
        said = suggestion(name, (c.name for f in sources for c in f.claims), "the files name their claims")
        raise InputError(f"--only: no claim is called {quoted(name)}: {said}")
    start = time.perf_counter()
    checked: list[tuple[Any, list[ClaimResult]]] = []
    total = sum(not wanted or c.name in wanted for f in sources for c in f.claims)
    try:
        for f in sources:
            checked.append((f, []))
            check_claims(f, names=only or None, confirm=confirm, progress=checked[-1][1].append)
    except KeyboardInterrupt:
        pass  # claims that were not checked are counted below
    missed = total - sum(len(results) for _, results in checked)
    checked = [(f, results) for f, results in checked if results]
    found = checked, missed, time.perf_counter() - start
    status = exit_status(checked, missed)
    finish(status, json, lambda: checked_json(*found), lambda: checked_text(*found), problems)


def _claims_file(name: str, problems: list[InputError]) -> list[ClaimsFile]:
    """Read a claims file; empty if it cannot be read.  Ill-formed input is appended to ``problems``."""
    from ...verify.claims import read_claims

    shown, text = file_text(name)
    found = []
    with collecting(problems, shown) as ill_formed:
        found.append(read_claims(text, shown, ill_formed))
    return found
