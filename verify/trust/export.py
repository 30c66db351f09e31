"""Exports obligations for other solvers: the claims, the questions that proofs rest on, and cvc5's proofs.

Each file asks one question and states the expected answer.  ``index.json`` lists the files of each obligation.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ...core.errors import InputError, TooLargeError
from ..budget import Budget
from ..evidence import collecting
from ..obligation import Obligation
from ..refute import confirmed as fails
from ..refute import model, variables_of
from ..solve import decide
from ..verdict import Status, Verdict
from .opinion import Claim, claims_of
from .smtlib import Answer, counterexample_script
from .solvers import cvc5_proof

#: Fraction of the model budget for the counterexample to one case of a false rule.
_CASE = 0.1
#: Limit on the resource units of cvc5 for one proof.
_PROOF = 500_000


@dataclass(frozen=True)
class Exported:
    """The files of one obligation by name, and its entry in ``index.json``."""

    files: dict[str, str]
    entry: dict[str, Any] = field(default_factory=dict)


def expected_answer(o: Obligation, v: Verdict) -> Answer:
    """Return the answer that a solver should give to the scripts of an obligation with this verdict."""
    match v.status:
        case Status.PROVED:
            return "unsat" if o.question == "valid" else "sat"
        case Status.REFUTED | Status.UNDEFINED:
            return "sat"
        case Status.VACUOUS:
            return "unsat"
    return "unknown"


def file_name(number: int, o: Obligation) -> str:
    """Return the stem of an obligation's files: its number and the start of its name."""
    words = re.findall(r"[0-9A-Za-z]+", f"{o.subject} {o.kind}")
    return f"{number:05d}-{'-'.join(words)[:80]}"


def export(number: int, o: Obligation, v: Verdict, budget: Budget, *, leaves: bool, proofs: bool) -> Exported:
    """Return the files of one obligation.

    With ``leaves`` it is proved again to collect the questions that the proof rests on.  With ``proofs`` cvc5 must
    prove every question whose answer is ``unsat``, and its proof is checked (:func:`.solvers.cvc5_proof`).
    """
    stem = file_name(number, o)
    expected = expected_answer(o, v)
    files: dict[str, str] = {}
    listed: list[dict[str, Any]] = []
    try:
        for name, text, answer in _claims(stem, o, v, expected, budget):
            files[name] = text
            listed.append({"file": name, "asks": "the claim", "expected": answer})
    except TooLargeError as large:
        listed = [{"file": None, "asks": "the claim", "reason": str(large)}]
        files = {}
    if leaves and v.proved and o.question == "valid":
        with collecting() as evidence:
            decide(o, budget)
        for k, q in enumerate(evidence, start=1):
            name = f"{stem}-question-{k}.smt2"
            files[name] = q.smtlib()
            listed.append({"file": name, "asks": f"a question of the proof by {q.strategy}", "expected": "unsat"})
    if proofs:
        for item in listed:
            if item["file"] and item["expected"] == "unsat":
                item |= _with_proof(files, item["file"])
    return Exported(
        files,
        {
            "family": o.family,
            "claim": o.subject,
            "obligation": o.kind,
            "verdict": v.status.value,
            "strategy": v.strategy,
            "questions": listed,
        },
    )


def _claims(
    stem: str, o: Obligation, v: Verdict, expected: Answer, budget: Budget
) -> Iterator[tuple[str, str, Answer]]:
    """Yield the files of the claims, each with the expected answer."""
    several = list(claims_of(o))
    for k, claim in enumerate(several, start=1):
        case = f"-case-{k}" if len(several) > 1 else ""
        answer, point = expected, v.witness
        if case and expected == "sat":  # only one case must be false, which says nothing about the others
            answer, point = _answer(claim, point, budget)
        comments = [
            f"{o.family}: {o.subject}: {o.kind}" + (f", case {k} of {len(several)}" if case else ""),
            o.claim if o.source else o.statement(),
            "asks for integers that satisfy the hypotheses and violate the goal",
        ]
        example = point if answer == "sat" else None
        script = counterexample_script(*claim, answer, point=example, comments=comments)
        yield f"{stem}{case}.smt2", script, answer


def _answer(claim: Claim, point: Mapping[str, int] | None, budget: Budget) -> tuple[Answer, Mapping[str, int] | None]:
    """Return the expected answer for one case of a claim that fails at ``point``, and a point where the case fails."""
    names = variables_of([*claim[0], claim[1]])
    if point is not None and all(v.name in point for v in names) and fails({v: point[v.name] for v in names}, *claim):
        return "sat", point
    found, answer, _ = model(*claim, budget.scaled(_CASE).model)
    if found is not None:
        return "sat", {v.name: n for v, n in found.items()}
    return "unsat" if answer == "unsat" else "unknown", None


def _with_proof(files: dict[str, str], name: str) -> dict[str, Any]:
    """Add the proof of a question, and return its entry."""
    try:
        proof = cvc5_proof(files[name], _PROOF)
    except InputError as error:
        return {"proof": None, "reason": str(error)}
    if proof is None:
        return {"proof": None, "reason": "cvc5 gives none within its limit"}
    place = name.removesuffix(".smt2") + ".proof"
    files[place] = proof.text
    return {"proof": place, "steps": proof.steps, "complete": not proof.trusted, "trusted": list(proof.trusted)}
