"""Commands that show claims, check proofs again, and export obligations for other solvers."""

from __future__ import annotations

from pathlib import Path

import typer

from ...core.errors import InputError, quoted
from ..files import noted
from .frame import FALSE, OPEN, PROVED, emit, finish, report, writing
from .given import chosen_claims, file_text, opened_cache, rank
from .proving import proved, stopped_by_disagreement


def show(
    names: list[str] | None = None,
    *,
    family: str = "",
    json: bool = False,
    cache: Path | None = None,
    no_cache: bool = False,
    max_rank: int | None = None,
) -> None:
    """Show claims, or without a name list all of them.

    Of a claim: what it states, its conditions, examples, obligations, and the verdicts that are known.
    Verdicts come from the cache; nothing is proved. The list has every rule, law and op with its claim in a
    sentence.

    Args:
        names (NAME): Rules, laws, ops or instances, of the files FILE.py or FILE.rules where these are named.
        family (NAME): List only rules, transfer, tiles, transforms, lemmas or ops.
    """
    from ..catalogue import list_json, list_text, show_json, show_text
    from ..selection import FAMILIES, everything

    if family and names:
        raise InputError("--family is about the list", expected="no NAME, or no --family")
    if family and family not in FAMILIES:
        said = f"--family: there is no family {quoted(family)}"
        raise InputError(said, expected=f"one of {', '.join(FAMILIES)}")
    if not names:
        wanted = [c for c in everything(rank(max_rank)) if not family or c.family in FAMILIES[family]]
        report(json, lambda: list_json(wanted), lambda: list_text(wanted))
        return
    found = [s.named for s in chosen_claims(names, max_rank)[0]]
    with opened_cache(cache, no_cache, not no_cache and cache is None) as kept:
        report(json, lambda: show_json(found, kept), lambda: show_text(found, kept))


def replay(
    files: list[str],
    *,
    against: list[Path] | None = None,
    json: bool = False,
    cache: Path | None = None,
    no_cache: bool = False,
    read_only_cache: bool = False,
) -> None:
    """Check a stored derivation, or certificates of proofs.

    The checkers share no code with the simplifier and the prover. Of a derivation, each step must be an
    instance of a rule that is proved, its conditions must hold on the domain, and the steps must lead from
    the map to the result. Of a certificate, every lemma must be proved, every step an instance of one, the
    cases exhaustive, and the linear questions at the leaves contradictory for z3, and for cvc5 where it is
    installed; `indexproof-check` does the same without the package. reports/certificates.md specifies the
    format.

    Args:
        files (FILE...): What `simplify --json` printed, the derivation in it, or one of the native library,
            - for standard input; or files or folders that `prove --certificates` wrote.
        against (FILE): The certificates must be those of all rules in this rule file, by content.
    """
    from ..certificates import certificates_document, certificates_text, check_files, is_certificate

    if against or len(files) > 1 or Path(files[0]).is_dir() or (files[0] != "-" and is_certificate(files[0])):
        if not (found := list(check_files([Path(f) for f in files], against or []))):
            raise InputError("there is no certificate", expected="files that `prove --certificates` wrote")
        status = FALSE if any(c.refused for c in found) else PROVED
        finish(status, json, lambda: certificates_document(found, status), lambda: certificates_text(found))
    from ...core.json_text import load_json
    from ...rules.catalog import RULES
    from ...verify.derivation import DerivationRefused, check_derivation
    from ...verify.replay import proved_rules
    from ...verify.words import replay_text
    from ..derivation import read_derivation, replay_json

    shown, text = file_text(files[0])
    with noted(f"in {shown}"):
        derivation = read_derivation(load_json(text), RULES)
    with opened_cache(cache, no_cache, read_only_cache) as kept:
        known = proved_rules(RULES, kept)
    try:
        checked, refused = check_derivation(derivation, RULES, known), None
    except DerivationRefused as error:
        checked, refused = None, error
    status, told = PROVED if refused is None else FALSE, (derivation, checked, refused)
    finish(status, json, lambda: replay_json(*told, status), lambda: replay_text(*told))


def export(
    names: list[str] | None = None,
    *,
    folder: Path,
    leaves: bool = False,
    proofs: bool = False,
    jobs: int | None = None,
    budget: float = 1.0,
    cache: Path | None = None,
    no_cache: bool = False,
    read_only_cache: bool = False,
    max_rank: int | None = None,
) -> None:
    """Write obligations as SMT-LIB files for any solver to check.

    Each has the expected answer. The files are written from the claims alone, by code that the prover does
    not use. index.json says which file belongs to which obligation. reports/trust.md says what they
    establish, and what a proof does.

    Args:
        folder (--to FOLDER): Write the files there.
        leaves (--questions): Also the questions that each proof rests on.
        proofs: Also a proof by cvc5 of what it can prove, checked.
    """
    from ...verify.budget import Budget
    from ...verify.trust.export import export as exported
    from ...verify.trust.solvers import available, cvc5_name, z3_name
    from ..trust import write_export

    if proofs and not available():
        cvc5_name()  # raises an error that says what is missing
    chosen, _ = chosen_claims(names, max_rank)
    patience = Budget().scaled(budget)
    with opened_cache(cache, no_cache, read_only_cache) as kept, stopped_by_disagreement():
        obligations = [o for s in chosen for o in s.obligations()]
        run = proved(obligations, kept, jobs=jobs, budget=patience)
        results = enumerate(run.results, start=1)
        wanted = {"leaves": leaves, "proofs": proofs}
        found = [exported(n, r.obligation, r.verdict, patience, **wanted) for n, r in results]
    with writing("--to: cannot write", folder):
        emit(write_export(found, folder, ", ".join([z3_name(), *([cvc5_name()] if proofs else [])])))
    raise typer.Exit(PROVED if not run.interrupted else OPEN)
