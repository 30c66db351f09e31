"""Gives scripts to solvers: cvc5, which is imported in this module alone, and z3.

Limits are resource units, never seconds, and every question has a solver of its own, so an answer depends on the script
and the versions alone.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import z3

from ...core.errors import InputError

#: The expected answer, which is removed from scripts for a second opinion.
_STATUS = re.compile(r"\(set-info :status \w+\)")


@dataclass(frozen=True)
class Reply:
    """The answer ``sat``, ``unsat`` or ``unknown``, and the resource units spent.

    ``values`` are those of the script's constants, if requested and available.
    """

    answer: str
    resources: int
    values: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True)
class Proof:
    """A proof in cvc5's own format, the number of its steps, and the rules in it that have no justification."""

    text: str
    steps: int
    trusted: tuple[str, ...] = ()


def available() -> bool:
    """Return whether cvc5 is installed."""
    try:
        import cvc5  # noqa: F401
    except ImportError:
        return False
    return True


def _cvc5() -> Any:
    try:
        import cvc5
    except ImportError:
        raise InputError(
            "a second opinion needs cvc5, which is not installed", expected="pip install 'indexproof[cvc5]'"
        ) from None
    return cvc5


@lru_cache(maxsize=1)
def cvc5_name() -> str:
    """Return ``cvc5 VERSION``.  Raises :class:`InputError` if it is not installed."""
    return f"cvc5 {_cvc5().__version__}"


def z3_name() -> str:
    """Return ``z3 VERSION``."""
    return f"z3 {z3.get_version_string()}"


def cvc5_reply(script: str, rlimit: int, *, values: bool = False) -> Reply:
    """Give cvc5 a script with one ``(check-sat)``, within ``rlimit`` resource units.

    Raises :class:`InputError` if cvc5 is not installed or cannot read the script.
    """
    solver, known, answer = _asked(script, rlimit, {"produce-models": "true"} if values else {})
    spent = int(solver.getStatistics()["resource::resourceUnitsUsed"]["value"])
    found: tuple[tuple[str, int], ...] = ()
    if values and answer == "sat":
        terms = known.getDeclaredTerms()
        found = tuple((str(t), int(solver.getValue(t).getIntegerValue())) for t in terms)
    return Reply(answer, spent, found)


def _asked(script: str, rlimit: int, options: Mapping[str, str]) -> tuple[Any, Any, str]:
    """Return a solver that has read a script, its symbols, and its answer."""
    cvc5 = _cvc5()
    solver = cvc5.Solver(cvc5.TermManager())
    for option, value in {"rlimit": str(rlimit), **options}.items():
        solver.setOption(option, value)
    said = ""
    try:
        parser = cvc5.InputParser(solver)
        parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, _STATUS.sub("", script), "question")
        known = parser.getSymbolManager()
        while not (command := parser.nextCommand()).isNull():
            said += command.invoke(solver, known)
    except Exception as error:
        raise InputError(f"cvc5 cannot read the question: {' '.join(str(error).split())}") from error
    answer = said.strip()
    if answer.startswith("(error"):
        raise InputError(f"cvc5 cannot read the question: {answer}")
    return solver, known, answer if answer in ("sat", "unsat") else "unknown"


def cvc5_proof(script: str, rlimit: int) -> Proof | None:
    """Return cvc5's proof that a script is unsatisfiable, checked; ``None`` if it gives none.

    cvc5 checks every step when it produces the proof (its option ``check-proofs``).  Checked here is that the proof
    ends in a contradiction and assumes only assertions of the script.  Raises :class:`InputError` if a check fails, or
    if cvc5 is not installed or cannot read the script.
    """
    options = {"produce-proofs": "true", "check-proofs": "true", "proof-granularity": "dsl-rewrite"}
    solver, _, answer = _asked(script, rlimit, options)
    if answer != "unsat":
        return None
    (root,) = solver.getProof()
    given = set(solver.getAssertions())
    rule = _cvc5().ProofRule
    ends = root
    while ends.getRule() == rule.SCOPE:
        given_here = set(ends.getArguments())
        if not given_here <= given:
            raise InputError("the proof that cvc5 gives assumes more than the question says")
        (ends,) = ends.getChildren()
    if not (ends.getResult().isBooleanValue() and not ends.getResult().getBooleanValue()):
        raise InputError("the proof that cvc5 gives does not end in a contradiction")
    trusted: dict[str, None] = {}
    steps = 0
    seen: set[Any] = set()
    todo: list[tuple[Any, frozenset[Any]]] = [(root, frozenset(given))]
    while todo:
        node, assumed = todo.pop()
        if (node, assumed) in seen:
            continue
        seen.add((node, assumed))
        steps += 1
        kind = node.getRule()
        if kind == rule.ASSUME and node.getResult() not in assumed:
            raise InputError("the proof that cvc5 gives rests on an assumption of its own")
        if kind in (rule.TRUST, rule.TRUST_THEORY_REWRITE):
            trusted[str(kind)] = None
        inner = assumed | set(node.getArguments()) if kind == rule.SCOPE else assumed
        todo += [(child, inner) for child in node.getChildren()]
    text = solver.proofToString(root)
    return Proof(text.decode("utf-8") if isinstance(text, bytes) else str(text), steps, tuple(trusted))


def z3_reply(script: str, rlimit: int) -> Reply:
    """Give z3 the same script."""
    solver = z3.Solver(ctx=z3.Context())
    solver.set("rlimit", rlimit)
    solver.set("random_seed", 0)
    solver.set("ctrl_c", False)
    solver.from_string(_STATUS.sub("", script))
    answer = str(solver.check())
    spent = sum(int(n) for name, n in solver.statistics() if name == "rlimit count")
    return Reply(answer, spent)
