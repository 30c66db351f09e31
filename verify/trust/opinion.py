"""Second opinions: cvc5 gets the questions of z3, and the obligation itself (reports/trust.md, "Second opinion").

A proof is checked twice: by every linear question that it rests on, and by the whole obligation as :mod:`.smtlib`
writes it, which is nonlinear and may stay undecided.  A counterexample or an example is checked at its point.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

from ...core.condition import Condition
from ...core.errors import InputError, TooLargeError
from ..evidence import ProofQuestion
from ..obligation import Obligation
from ..recheck import is_example
from ..refute import confirmed as fails
from ..rulefiles.cases import expanded
from ..rulefiles.obligations import StatedObligation
from ..verdict import Opinion, Status, Verdict
from .disagreement import Disagreement
from .smtlib import counterexample_script, names_of
from .solvers import Reply, cvc5_name, cvc5_reply, z3_name, z3_reply

Claim: TypeAlias = tuple[Sequence[Condition], Condition]


@dataclass(frozen=True)
class Limits:
    """Limits on the resource units of cvc5 for one question of each kind."""

    leaf: int = 2_000_000
    #: For an obligation whose questions were confirmed: cvc5 proves most that it can prove at once.
    brief: int = 3_000
    whole: int = 20_000
    #: For a nonlinear question of a proof, and for an obligation whose questions were not all confirmed.
    patient: int = 100_000


_LIMITS = Limits()
#: Limit on the cases of an obligation of a rule file that are checked as a whole.
_CASES = 200


def confirmer(name: str) -> str:
    """Return the second solver with its version, which is part of a verdict's key.

    Raises :class:`InputError` if it is not installed or unknown.
    """
    if name != "cvc5":
        raise InputError(f"there is no second opinion from `{name}`", expected="cvc5")
    return cvc5_name()


@lru_cache(maxsize=4096)
def _reply(text: str, rlimit: int) -> Reply:
    # memoized, because dimensions of an op ask the same question; the answer depends on the text alone
    return cvc5_reply(text, rlimit)


def second_opinion(o: Obligation, v: Verdict, evidence: Sequence[ProofQuestion]) -> Opinion | None:
    """Ask cvc5 about a verdict and the questions it rests on; return ``None`` if there is nothing to ask.

    Raises :class:`Disagreement` if cvc5 contradicts the verdict.
    """
    if v.status in (Status.UNDECIDED, Status.NOT_CHECKED):
        return None
    if v.witness is not None:
        return _of_example(o, v.witness)
    if o.question == "exists" and v.status is Status.PROVED:
        return None  # rules of rule files store no example
    leaves = dict.fromkeys((q.strategy, q.smtlib()) for q in evidence)
    confirmed = spent = 0
    for n, (strategy, text) in enumerate(leaves, start=1):
        reply = _reply(text, _LIMITS.patient if "(set-logic QF_NIA)" in text else _LIMITS.leaf)
        spent += reply.resources
        if reply.answer == "sat":
            raise _disagreement(o, f"question {n} of {len(leaves)} of the proof by {strategy}", text)
        # a question about products is only as sound as its encoding: it can contradict, but not confirm
        confirmed += reply.answer == "unsat" and strategy == "linear"
    # an identity needs no solver, and a finding decides nothing
    limit = _LIMITS.brief if confirmed == len(leaves) else _LIMITS.patient
    whole, more = _whole(o, limit if leaves and o.gate else _LIMITS.whole)
    return Opinion(cvc5_name(), whole, len(leaves), confirmed, resources=spent + more)


def _whole(o: Obligation, rlimit: int) -> tuple[bool, int]:
    """Return whether cvc5 proves the obligation itself, and the cost."""
    spent = 0
    whole = True
    try:
        for claim in claims_of(o):
            # a solver that gives up on one form may decide the other, which is tried only with a large budget
            for named in (False, True) if rlimit > _LIMITS.whole else (False,):
                text = counterexample_script(*claim, "unsat", named=named)
                reply = _reply(text, rlimit)
                spent += reply.resources
                if reply.answer == "sat":
                    raise _disagreement(o, "the obligation", text, claim)
                if reply.answer == "unsat":
                    break
            else:
                whole = False
                break
    except TooLargeError:
        whole = False
    return whole, spent


def _of_example(o: Obligation, point: Mapping[str, int]) -> Opinion:
    """Check that some claim of the obligation has its counterexample at the point."""
    spent = 0
    asked: list[tuple[str, str]] = []
    try:
        for claim in claims_of(o):
            text = counterexample_script(*claim, "sat", point=point)
            reply = _reply(text, _LIMITS.leaf)
            spent += reply.resources
            if reply.answer == "sat":
                return Opinion(cvc5_name(), example=True, resources=spent)
            asked.append((text, reply.answer))
    except TooLargeError:
        return Opinion(cvc5_name(), resources=spent)
    if all(answer == "unsat" for _, answer in asked):
        held = "is" if is_example(o, point) else "is not"
        text = asked[0][0] if asked else ""
        note = f"by exact evaluation the point {held} an example"
        raise Disagreement(o.name, "an example", text, {"verdict": "sat", cvc5_name(): "unsat"}, note)
    return Opinion(cvc5_name(), resources=spent)


def claims_of(o: Obligation) -> Iterator[Claim]:
    """Yield an obligation's claims in the core language: itself, or the cases of a rule in a rule file.

    Raises :class:`TooLargeError` for a rule with too many cases.
    """
    if not isinstance(o, StatedObligation):
        yield o.hypotheses, o.goal
        return
    for n, part in enumerate(expanded(o.without, total=True)):
        if n >= _CASES:
            raise TooLargeError(f"more than {_CASES} cases")
        yield part.hypotheses, part.goal


def _disagreement(o: Obligation, what: str, text: str, claim: Claim | None = None) -> Disagreement:
    """Return the error with the answers of both solvers, and with the claim's exact value at cvc5's model."""
    first = z3_reply(text, 20_000_000)
    second = cvc5_reply(text, _LIMITS.leaf, values=True)
    note = ""
    if second.values:
        at = ", ".join(f"{name} = {n}" for name, n in second.values)
        note = f"{cvc5_name()} takes {at}"
        if claim is not None:
            names = names_of([*claim[0], claim[1]])
            values = dict(second.values)
            point = {v: values.get(name, 0) for v, name in names.items()}
            note += f", where the claim is {'false' if fails(point, *claim) else 'true'} by exact evaluation"
    answers = {"verdict": "unsat", z3_name(): first.answer, cvc5_name(): second.answer}
    return Disagreement(o.name, what, text, answers, note)
