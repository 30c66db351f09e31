"""What verdicts rest on: derivations and certificates checked again, other solvers, tampering."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ...core.errors import InputError
from .frame import FALSE, OPEN, PROVED, emit, noted, report, writing
from .given import (
    BudgetFactor,
    CachePath,
    Jobs,
    Json,
    MaxRank,
    Names,
    NoCache,
    ReadOnly,
    chosen_claims,
    file_text,
    opened_cache,
)
from .proving import stopped_by_disagreement


def replay(
    derivation: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            show_default=False,
            help="What `simplify --json` printed, or the derivation in it; - for standard input.",
        ),
    ],
    json: Json = False,
    cache: CachePath = None,
    no_cache: NoCache = False,
    read_only_cache: ReadOnly = False,
) -> None:
    """Check a stored derivation, step by step, with a checker that has nothing in common with the simplifier.

    Each step must be an instance of a rule that is proved, its conditions must hold on the domain, and the
    steps must lead from the map to the result.
    """
    from ...core.json_text import load_json
    from ...rules.catalog import RULES
    from ...verify.derivation import DerivationRefused, check_derivation
    from ...verify.proved import proved_rules
    from ..derivation import read_derivation, replay_json, replay_text

    shown, text = file_text(derivation)
    with noted(f"in {shown}"):
        found = read_derivation(load_json(text), RULES)
    with opened_cache(cache, no_cache, read_only_cache) as kept:
        proved = proved_rules(RULES, kept)
    try:
        checked, refused = check_derivation(found, RULES, proved), None
    except DerivationRefused as error:
        checked, refused = None, error
    status = PROVED if refused is None else FALSE
    report(
        json,
        lambda: replay_json(found, checked, refused, status),
        lambda: replay_text(found, checked, refused),
    )
    raise typer.Exit(status)


def check_certificate(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE...", show_default=False, help="What `prove --certificates` wrote: files or folders."
        ),
    ],
    json: Json = False,
) -> None:
    """Check certificates of proofs, step by step, with a checker that has nothing in common with the prover.

    Every lemma must be proved, every step an instance of one, the cases exhaustive, and the linear questions
    at the leaves contradictory for z3, and for cvc5 where it is installed. reports/strategies.md says what a
    certificate is.
    """
    from ..certificates import certificates_json, certificates_text, check_files, solvers_at_hand
    from ..machine import document

    found = list(check_files(files))
    if not found:
        raise InputError("there is no certificate", expected="files that `prove --certificates` wrote")
    status = FALSE if any(c.refused for c in found) else PROVED
    verdict = "REFUSED" if status else "PROVED"
    report(
        json,
        lambda: document("check-certificate", verdict, status, **certificates_json(found, solvers_at_hand())),
        lambda: certificates_text(found, solvers_at_hand()),
    )
    raise typer.Exit(status)


def export(
    folder: Annotated[
        Path, typer.Option("--to", metavar="FOLDER", show_default=False, help="Write the files there.")
    ],
    names: Names = None,
    leaves: Annotated[
        bool, typer.Option("--questions", help="Also the questions that each proof rests on.")
    ] = False,
    proofs: Annotated[
        bool, typer.Option("--proofs", help="Also a proof by cvc5 of what it can prove, checked.")
    ] = False,
    jobs: Jobs = None,
    budget: BudgetFactor = 1.0,
    cache: CachePath = None,
    no_cache: NoCache = False,
    read_only_cache: ReadOnly = False,
    max_rank: MaxRank = None,
) -> None:
    """Write obligations as SMT-LIB 2 files, each with the expected answer, for any solver to check.

    The files are written from the claims alone, by code that the prover does not use. index.json says which
    file belongs to which obligation. reports/trust.md says what they establish, and what a proof does.
    """
    from ...verify.run import prove_all
    from ...verify.solve import Budget
    from ...verify.trust.export import export as exported
    from ...verify.trust.solvers import available, cvc5_name, z3_name
    from ..progress import Watcher
    from ..trust import write_export

    if proofs and not available():
        cvc5_name()  # says what is missing
    chosen, _ = chosen_claims(names, max_rank)
    patience = Budget().scaled(budget)
    with opened_cache(cache, no_cache, read_only_cache) as kept, stopped_by_disagreement():
        obligations = [o for s in chosen for o in s.obligations()]
        with Watcher(len(obligations)) as watcher:
            run = prove_all(obligations, jobs=jobs, budget=patience, cache=kept, progress=watcher)
        found = [
            exported(n, r.obligation, r.verdict, patience, leaves=leaves, proofs=proofs)
            for n, r in enumerate(run.results, start=1)
        ]
    with writing("--to: cannot write", folder):
        emit(write_export(found, folder, ", ".join([z3_name(), *([cvc5_name()] if proofs else [])])))
    raise typer.Exit(PROVED if not run.interrupted else OPEN)
