"""Stability: an obligation is proved again under other names, in other orders and with other seeds.

A proof that depends on any of these depends on luck.  A mutant is the same question in other words:

- its variables are numbered by a random permutation behind one of five stems, so that all that is ordered by names (what
  is eliminated first, the order of splits and of the solver's symbols) or by digests of them (the terms of sums and
  products, sorted hypotheses) is ordered otherwise;
- the hypotheses are shuffled, and so are the parts of every conjunction and disjunction;
- ``a < b`` may become ``a + 1 <= b``, ``a <= b`` may become ``-b <= -a``, the sides of ``=`` and ``!=`` may change places,
  and a range may become its two ends;
- number n has n for the solver's random seed, in every strategy.

A rule of a rule file is restated in its own language (:mod:`.restated`).

It is decided from the beginning, with nothing remembered of any other mutant.  The verdict must be the same; an obligation
that flips is a defect of its encoding.

Many obligations ask the same but for the names of their variables.  Such a question is examined once, and its mutants
depend on nothing but it.  :func:`in_shard` deals questions out, records of several runs may go to one checkpoint, and a
run for more mutants goes on from those that a checkpoint knows.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from indexproof.core.condition import And, Compare, Condition, Not, Or, Within, all_of, any_of, negate
from indexproof.core.errors import InputError
from indexproof.core.expr import Var, lift, natural_key, var
from indexproof.verify import encode
from indexproof.verify.cache import content_key
from indexproof.verify.checkpoint import Checkpoint
from indexproof.verify.lemmas import LemmaObligation
from indexproof.verify.obligations import Obligation
from indexproof.verify.pool import each
from indexproof.verify.preprocess import mentioned, ordered, substituted
from indexproof.verify.rulefiles.obligations import StatedObligation
from indexproof.verify.solve import Budget, _attempt, decide
from indexproof.verify.verdict import Status

from .restated import stated_mutant, stated_question

__all__ = [
    "MUTANTS",
    "Examination",
    "Record",
    "examine_stability",
    "examined",
    "in_shard",
    "mutant",
    "question_of",
    "renaming",
    "stability",
]

#: So many mutants of each obligation by default.
MUTANTS = 60
_CHUNK = 2


@dataclass(frozen=True)
class Record:
    """The result for the mutants of one obligation, or of another one that asks the same.

    ``resources`` are the least and the most units that a mutant took; ``flips`` maps the numbers of mutants that came to
    another verdict to that verdict.
    """

    name: str
    status: Status
    mutants: int
    resources: tuple[int, int]
    flips: tuple[tuple[int, str], ...] = ()

    @property
    def stable(self) -> bool:
        """Whether every mutant came to the same verdict."""
        return not self.flips


class Examination(NamedTuple):
    """A record for every obligation, in order; how many the checkpoint knew enough of; how many questions they ask."""

    records: list[Record]
    resumed: int
    questions: int


def question_of(o: Obligation) -> Obligation:
    """Return the question of an obligation, the same for all that differ in names and in the order of hypotheses alone.

    Variables are numbered in the natural order of their names.  Its own name is a digest of what it says.  A lemma, which
    is decided in a way of its own, is a question of its own.
    """
    if isinstance(o, LemmaObligation):
        return o
    if isinstance(o, StatedObligation):
        return stated_question(o)
    conditions = (*o.hypotheses, o.goal)
    found = frozenset[Var]().union(*map(mentioned, conditions))
    numbered = sorted(found, key=lambda v: (natural_key(v.name), v.kind))
    *hypotheses, goal = substituted(conditions, {v: var(f"v{k}", v.kind) for k, v in enumerate(numbered)})
    asked = Obligation(
        "question",
        "",
        "defined" if o.kind == "defined" else "",
        ordered(dict.fromkeys(hypotheses)),
        goal,
        o.question,
        width=o.width,
    )
    return replace(asked, subject=hashlib.sha256(asked.statement().encode()).hexdigest()[:16])


def _key(question: Obligation, budget: Budget) -> str:
    # the seeds of the mutants depend on the name
    asked = f"{content_key(question, budget)} {type(question).__name__} {question.name}"
    return hashlib.sha256(asked.encode()).hexdigest()


def mutant(o: Obligation, n: int) -> Obligation:
    """Mutant number ``n`` of an obligation: the same question in other words."""
    if isinstance(o, StatedObligation):
        return stated_mutant(o, n)
    names = renaming(o, n)
    dice = random.Random(f"{o.name} {n}")
    *hypotheses, goal = (_reworded(c, dice) for c in substituted((*o.hypotheses, o.goal), names))
    dice.shuffle(hypotheses)
    changed = replace(o, hypotheses=tuple(hypotheses), goal=goal, show=(), tags=())
    if isinstance(changed, LemmaObligation):
        return replace(changed, renamed=tuple(names.items()))
    return changed


def renaming(o: Obligation, n: int) -> dict[Var, Var]:
    """The variables of mutant number ``n``: of other names, which have another order and other digests."""
    dice = random.Random(f"{o.name} {n} names")
    found = frozenset[Var]().union(*map(mentioned, (*o.hypotheses, o.goal)))
    variables = sorted(found, key=lambda v: (v.name, v.kind))
    numbers = list(range(len(variables)))
    dice.shuffle(numbers)
    letters = dice.choice(["z", "m", "long_name_", "A", "q0_"])
    return {v: var(f"{letters}{k}", v.kind) for v, k in zip(variables, numbers, strict=True)}


def _reworded(c: Condition, dice: random.Random) -> Condition:
    """An equivalent condition."""
    match c:
        case And(args) | Or(args):
            parts = [_reworded(a, dice) for a in args]
            dice.shuffle(parts)
            return all_of(parts) if isinstance(c, And) else any_of(parts)
        case Not(arg):
            return negate(_reworded(arg, dice))
        case Compare("<", a, b) if dice.random() < 0.25:
            return a + 1 <= b
        case Compare("<=", a, b) if dice.random() < 0.25:
            return lift(-b) <= -a
        case Compare("==" | "!=", a, b) if dice.random() < 0.5:
            return b.eq(a) if c.op == "==" else b.ne(a)
        case Within(e, lo, hi) if dice.random() < 0.25:
            return all_of((lo <= e, e <= hi))
    return c


@contextmanager
def seeded(n: int) -> Iterator[None]:
    """Solvers with another random seed, and nothing remembered."""
    before = encode.SEED
    encode.SEED = n
    _attempt.cache_clear()
    try:
        yield
    finally:
        encode.SEED = before
        _attempt.cache_clear()


def examine_stability(o: Obligation, mutants: int, budget: Budget, before: Record | None = None) -> Record:
    """Decide an obligation and its mutants; ``before`` is what is known of the first ones."""
    if before is None:
        first = decide(o, budget)
        before = Record(o.name, first.status, 0, (first.resources, first.resources))
    least, most = before.resources
    flips = list(before.flips)
    for n in range(before.mutants + 1, mutants + 1):
        with seeded(n):
            v = decide(mutant(o, n), budget)
        least, most = min(least, v.resources), max(most, v.resources)
        if v.status is not before.status:
            flips.append((n, v.status.value))
    return Record(o.name, before.status, max(mutants, before.mutants), (least, most), tuple(flips))


def examined(obligations: Iterable[Obligation], share: float = 1.0) -> list[Obligation]:
    """Select the obligations that are examined, or a share of them that depends on the names alone."""
    found = [o for o in obligations if o.question == "valid" and o.gate]
    return [o for o in found if share >= 1 or random.Random(o.name).random() < share]


def in_shard(obligations: Iterable[Obligation], shard: str) -> list[Obligation]:
    """Those of one shard: ``2/8`` is the second of eight.  Obligations that ask the same are in the same shard, which
    depends on the question alone.  Raises :class:`InputError` for a shard that there is not.
    """
    number, slash, of = shard.partition("/")
    if not (slash and number.isascii() and of.isascii() and number.isdigit() and of.isdigit()):
        raise InputError(f"--shard {shard!r}", expected="a shard and how many there are, as 2/8")
    k, n = int(number), int(of)
    if not 1 <= k <= n:
        raise InputError(
            f"--shard {shard!r}", expected=f"a shard from 1 to {n}" if n else "at least one shard"
        )
    # the prover's version is no part of the name, so that its shards stay what they were
    return [o for o in obligations if n == 1 or _number(question_of(o)) % n == k - 1]


def _number(question: Obligation) -> int:
    return int(hashlib.sha256(question.name.encode()).hexdigest(), 16)


#: A question, its key, and what is known of it.
_Task = tuple[str, Obligation, Record | None]


def _chunk(todo: Sequence[_Task], mutants: int, budget: Budget) -> list[tuple[str, Record]]:
    return [(key, examine_stability(o, mutants, budget, before)) for key, o, before in todo]


def stability(
    obligations: Iterable[Obligation],
    *,
    mutants: int = MUTANTS,
    jobs: int = 1,
    budget: Budget | None = None,
    checkpoint: Path | None = None,
    progress: Callable[[Record], None] | None = None,
) -> Examination:
    """The records of all obligations that ask for a proof.

    Examples (settled by a point, however it was found) and findings are left out.  What several of them ask is examined
    once.  ``checkpoint`` is a file that gets a line for each question; a run that finds one goes
    on from it, also one for more mutants.  On :class:`KeyboardInterrupt` what is finished is returned.
    """
    budget = budget or Budget()
    todo = examined(obligations)
    questions: dict[str, Obligation] = {}
    askers: dict[str, list[int]] = {}
    for n, o in enumerate(todo):
        question = question_of(o)
        key = _key(question, budget)
        questions.setdefault(key, question)
        askers.setdefault(key, []).append(n)
    kept = Checkpoint(checkpoint)
    known = kept.known(_record, better=lambda new, old: new.mutants > old.mutants)
    found: dict[int, Record] = {}
    enough = {key for key in questions.keys() & known.keys() if known[key].mutants >= mutants}
    for key in enough:
        found.update((n, replace(known[key], name=todo[n].name)) for n in askers[key])
    resumed = len(found)
    open_: list[_Task] = [(key, q, known.get(key)) for key, q in questions.items() if key not in enough]

    def settle(key: str, r: Record) -> None:
        kept.add(key, _plain(r))
        for n in askers[key]:
            found[n] = replace(r, name=todo[n].name)
        if progress is not None:
            for n in askers[key]:
                progress(found[n])

    with kept, suppress(KeyboardInterrupt):
        if jobs == 1 or len(open_) < 4:
            for key, o, before in open_:
                settle(key, examine_stability(o, mutants, budget, before))
        else:
            chunks = [open_[k : k + _CHUNK] for k in range(0, len(open_), _CHUNK)]
            do = partial(_chunk, mutants=mutants, budget=budget)
            with closing(each(do, chunks, jobs)) as done:
                for chunk, records in done:
                    # what ends its process is found by doing it here
                    for key, r in do(chunk) if records is None else records:
                        settle(key, r)
    return Examination([found[n] for n in sorted(found)], resumed, len(questions))


def _plain(r: Record) -> dict[str, object]:
    return {
        "name": r.name,
        "status": r.status.value,
        "mutants": r.mutants,
        "resources": list(r.resources),
        "flips": [list(f) for f in r.flips],
    }


def _record(line: Mapping[str, Any]) -> Record:
    """The record that :func:`_plain` wrote."""
    flips = tuple((int(n), str(s)) for n, s in line["flips"])
    least, most = line["resources"]
    return Record(line["name"], Status(line["status"]), int(line["mutants"]), (least, most), flips)
