"""Stability: an obligation is proved again under other names, in other orders and with other seeds.

A proof that depends on any of these is fragile.  A mutant is an equivalent question:

- its variables are numbered by a random permutation behind one of five stems, which changes every order by names (of
elimination, of splits, of the solver's symbols) and by their digests (of the terms of sums and products, of sorted
hypotheses);
- the hypotheses are shuffled, and so are the parts of every conjunction and disjunction;
- ``a < b`` may become ``a + 1 <= b``, ``a <= b`` may become ``-b <= -a``, the sides of ``=`` and ``!=`` may change places,
  and a range may become its two ends;
- number n has n for the solver's random seed, in every strategy.

A rule of a rule file is restated in its own language (:mod:`.restated`).

It is decided from scratch, without cached results of other mutants.  The verdict must be the same; a flip is a defect
of the obligation's encoding.

Many obligations are equal up to the names of their variables.  Such a question is examined once, and its mutants
depend on nothing else.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial

from indexproof.core.condition import And, Compare, Condition, Not, Or, Within, all_of, any_of, negate
from indexproof.core.expr import Var, lift, natural_key, var
from indexproof.reports.layout import block, count, duration
from indexproof.reports.progress import Lines
from indexproof.verify import encode
from indexproof.verify.budget import Budget
from indexproof.verify.lemmas import LemmaObligation
from indexproof.verify.obligation import Obligation
from indexproof.verify.pool import each
from indexproof.verify.preprocess import mentioned, ordered, substituted
from indexproof.verify.rulefiles.obligations import StatedObligation
from indexproof.verify.solve import _attempt, decide
from indexproof.verify.verdict import Status

from .restated import stated_mutant, stated_question

__all__ = [
    "Record",
    "Shaker",
    "examine_stability",
    "examined",
    "mutant",
    "question_of",
    "renaming",
    "stability",
    "stability_status",
    "stability_text",
]

#: The default number of mutants of each obligation.
MUTANTS = 60


@dataclass(frozen=True)
class Record:
    """The result for the mutants of one obligation, or of an equivalent one.

    ``resources`` are the least and the most units that a mutant took; ``flips`` holds the numbers of mutants with another
    verdict, each with that verdict.
    """

    name: str
    status: Status
    mutants: int
    resources: tuple[int, int]
    flips: tuple[tuple[int, str], ...] = ()

    @property
    def stable(self) -> bool:
        """Whether every mutant has the same verdict."""
        return not self.flips


def question_of(o: Obligation) -> Obligation:
    """Return the question of an obligation, which is equal for those that differ only in names and order of hypotheses.

    Variables are numbered in the natural order of their names.  The question's name is a digest of its statement.
    A lemma is its own question, since it is decided by a separate method.
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


def mutant(o: Obligation, n: int) -> Obligation:
    """Return mutant number ``n`` of an obligation, an equivalent question."""
    if isinstance(o, StatedObligation):
        return stated_mutant(o, n)
    names = renaming(o, n)
    dice = random.Random(f"{o.name} {n}")
    *hypotheses, goal = (_reworded(c, dice) for c in substituted((*o.hypotheses, o.goal), names))
    dice.shuffle(hypotheses)
    changed = replace(o, hypotheses=tuple(hypotheses), goal=goal, show=())
    if isinstance(changed, LemmaObligation):
        return replace(changed, renamed=tuple(names.items()))
    return changed


def renaming(o: Obligation, n: int) -> dict[Var, Var]:
    """Return the variables of mutant number ``n``, whose names have another order and other digests."""
    dice = random.Random(f"{o.name} {n} names")
    found = frozenset[Var]().union(*map(mentioned, (*o.hypotheses, o.goal)))
    variables = sorted(found, key=lambda v: (v.name, v.kind))
    numbers = list(range(len(variables)))
    dice.shuffle(numbers)
    letters = dice.choice(["z", "m", "long_name_", "A", "q0_"])
    return {v: var(f"{letters}{k}", v.kind) for v, k in zip(variables, numbers, strict=True)}


def _reworded(c: Condition, dice: random.Random) -> Condition:
    """Return an equivalent condition."""
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
    """Run solvers with another random seed and empty caches."""
    before = encode.SEED
    encode.SEED = n
    _attempt.cache_clear()
    try:
        yield
    finally:
        encode.SEED = before
        _attempt.cache_clear()


def examine_stability(o: Obligation, mutants: int, budget: Budget) -> Record:
    """Decide an obligation and its mutants."""
    first = decide(o, budget)
    found = []
    for n in range(1, mutants + 1):
        with seeded(n):
            found.append(decide(mutant(o, n), budget))
    flips = tuple((n, v.status.value) for n, v in enumerate(found, 1) if v.status is not first.status)
    resources = [v.resources for v in (first, *found)]
    return Record(o.name, first.status, mutants, (min(resources), max(resources)), flips)


def examined(obligations: Iterable[Obligation], share: float = 1.0) -> list[Obligation]:
    """Select the obligations that require a proof, or a share of them that depends on their names alone."""
    found = [o for o in obligations if o.question == "valid" and o.gate]
    return [o for o in found if share >= 1 or random.Random(o.name).random() < share]


def stability(
    obligations: Sequence[Obligation],
    mutants: int = MUTANTS,
    jobs: int = 1,
    budget: Budget | None = None,
    progress: Callable[[Record], None] = lambda r: None,
) -> list[Record]:
    """Return the records of all obligations, in order; on :class:`KeyboardInterrupt`, those of the finished ones."""
    askers: dict[Obligation, list[int]] = {}
    for n, o in enumerate(obligations):
        askers.setdefault(question_of(o), []).append(n)
    found: dict[int, Record] = {}
    do = partial(examine_stability, mutants=mutants, budget=budget or Budget())
    with suppress(KeyboardInterrupt), closing(each(do, askers, jobs) if jobs > 1 else _here(do, askers)) as done:
        for question, record in done:
            # a question whose process died is repeated in this process
            record = do(question) if record is None else record
            for n in askers[question]:
                found[n] = replace(record, name=obligations[n].name)
                progress(found[n])
    return [found[n] for n in sorted(found)]


def _here(do: Callable[[Obligation], Record], tasks: Iterable[Obligation]) -> Generator[tuple[Obligation, Record]]:
    for t in tasks:
        yield t, do(t)


# ----------------------------------------------------------------------------------------------------- reports
class Shaker(Lines):
    """A line of progress for every hundredth of a run over mutants."""

    parts, least = 100, 1
    unstable = 0

    def __call__(self, r: Record) -> None:
        """Count one more obligation."""
        self.unstable += not r.stable
        if self.advance():
            more = f"  {self.unstable:,} unstable" if self.unstable else ""
            self.tell(self.share("obligation" if self.total == 1 else "obligations") + more)


def stability_status(records: Sequence[Record], asked: int) -> int:
    """Return 0 if all obligations are stable, 1 if one is not, 2 if some were not examined."""
    if any(not r.stable for r in records):
        return 1
    return 0 if records and len(records) == asked else 2


def stability_text(records: Sequence[Record], asked: int, mutants: int, seconds: float) -> Iterator[str]:
    """Report the obligations that flip, those whose costs differ most, and the verdict."""
    unstable = [r for r in records if not r.stable]
    for r in unstable:
        lines = [("verdict", r.status.value)]
        lines += [("mutant", f"number {n}: {status}") for n, status in r.flips[:5]]
        lines.append(("flips", f"{len(r.flips):,} of {r.mutants:,}"))
        yield block(f"UNSTABLE  {r.name}", lines)

    def spread(r: Record) -> float:
        return r.resources[1] / max(1, r.resources[0])

    if wide := sorted((r for r in records if r.resources[0] > 1000), key=spread, reverse=True)[:5]:
        rows = [(f"{spread(r):.1f}×", f"{r.resources[0]:,} to {r.resources[1]:,}  {r.name}") for r in wide]
        yield block("resources of the solver differ most for:", rows)
    said = f"{count(len(records), 'obligation')}, {count(mutants, 'mutant')} each"
    said += f", {len(unstable):,} unstable" if unstable else ", none unstable" if records else ""
    said += f"; {asked - len(records):,} not examined" if asked > len(records) else ""
    verdict = ("STABLE", "UNSTABLE", "NOT CHECKED")[stability_status(records, asked)]
    yield f"{verdict}  {said}   in {duration(seconds)}"
