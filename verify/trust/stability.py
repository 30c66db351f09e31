"""Stability: an obligation is proved again under other names, in other orders and with other seeds.

A proof that depends on any of these depends on luck.  A mutant is the same question: its variables are renamed, so that
everything that is ordered by names or by digests of them is ordered otherwise; hypotheses, conjuncts and disjuncts are
permuted; inequalities are turned round; the solver's random seed is another.  The verdict must be the same; an
obligation that flips is a defect of its encoding.

Many obligations ask the same but for the names of their variables.  Such a question is examined once, and its mutants
depend on nothing but it.  All questions are too many for one evening: :func:`in_shard` deals them out, and records of
several runs may go to one checkpoint.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import as_completed
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from ...core.condition import And, Compare, Condition, Not, Or, Within, all_exprs, all_of, any_of, negate
from ...core.errors import InputError
from ...core.expr import Var, lift, natural_key, var
from .. import encode
from ..cache import content_key
from ..obligations import Obligation
from ..solve import Budget, _attempt, decide
from ..verdict import Status

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
    """What became of the mutants of one obligation, or of another one that asks the same.

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
    """A record for every obligation, in order; how many the checkpoint knew; how many questions they ask."""

    records: list[Record]
    resumed: int
    questions: int


def question_of(o: Obligation) -> Obligation:
    """What an obligation asks: the same for all that differ in names and in the order of hypotheses alone.

    Variables are numbered in the natural order of their names.  Its own name is a digest of what it says.
    """
    found = {v for c in (*o.hypotheses, o.goal) for v in c.variables()}
    ordered = sorted(found, key=lambda v: (natural_key(v.name), v.kind))
    names = {v: var(f"v{k}", v.kind) for k, v in enumerate(ordered)}
    hypotheses = dict.fromkeys(h.substitute(names) for h in o.hypotheses)
    asked = Obligation(
        "question",
        "",
        "defined" if o.kind == "defined" else "",
        tuple(sorted(hypotheses, key=lambda c: (type(c).__name__, [e.key for e in all_exprs(c)], str(c)))),
        o.goal.substitute(names),
        o.question,
        width=o.width,
    )
    return replace(asked, subject=hashlib.sha256(asked.statement().encode()).hexdigest()[:16])


def _key(question: Obligation, mutants: int, budget: Budget) -> str:
    return hashlib.sha256(f"{content_key(question, budget)} {mutants}".encode()).hexdigest()


def mutant(o: Obligation, n: int) -> Obligation:
    """Mutant number ``n`` of an obligation: the same question in other words."""
    names = renaming(o, n)
    dice = random.Random(f"{o.name} {n}")
    hypotheses = [_reworded(h.substitute(names), dice) for h in o.hypotheses]
    dice.shuffle(hypotheses)
    return replace(
        o, hypotheses=tuple(hypotheses), goal=_reworded(o.goal.substitute(names), dice), show=(), tags=()
    )


def renaming(o: Obligation, n: int) -> dict[Var, Var]:
    """The variables of mutant number ``n``: of other names, which have another order and other digests."""
    dice = random.Random(f"{o.name} {n} names")
    found = {v for c in (*o.hypotheses, o.goal) for v in c.variables()}
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
    """Solvers with another random seed."""
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
    least = most = first.resources
    flips = []
    for n in range(1, mutants + 1):
        with seeded(n):
            v = decide(mutant(o, n), budget)
        least, most = min(least, v.resources), max(most, v.resources)
        if v.status is not first.status:
            flips.append((n, v.status.value))
    return Record(o.name, first.status, mutants, (least, most), tuple(flips))


def examined(obligations: Iterable[Obligation], share: float = 1.0) -> list[Obligation]:
    """What stability is examined of, or a share of it that depends on the names alone."""
    found = [o for o in obligations if o.question == "valid" and o.gate and not o.source]
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
    return [o for o in obligations if int(question_of(o).subject, 16) % n == k - 1]


def _chunk(todo: Sequence[tuple[str, Obligation]], mutants: int, budget: Budget) -> list[tuple[str, Record]]:
    return [(key, examine_stability(o, mutants, budget)) for key, o in todo]


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

    Examples (settled by a point, however it was found), findings, and rules of rule files are left out.  What several
    of them ask is examined once.  ``checkpoint`` is a file that gets a line for each question; a run that finds one goes
    on from it.  On :class:`KeyboardInterrupt` what is finished is returned.
    """
    from ..run import ended, workers

    budget = budget or Budget()
    todo = examined(obligations)
    questions: dict[str, Obligation] = {}
    askers: dict[str, list[int]] = {}
    for n, o in enumerate(todo):
        question = question_of(o)
        key = _key(question, mutants, budget)
        questions.setdefault(key, question)
        askers.setdefault(key, []).append(n)
    known = _read(checkpoint)
    found: dict[int, Record] = {}
    for key in questions.keys() & known.keys():
        found.update((n, replace(known[key], name=todo[n].name)) for n in askers[key])
    resumed = len(found)
    open_ = [(key, q) for key, q in questions.items() if key not in known]
    out = checkpoint.open("a", encoding="utf-8") if checkpoint is not None else None
    if out is not None and out.tell():
        out.write("\n")  # the last line may have been cut off

    def settle(key: str, r: Record) -> None:
        if out is not None:
            out.write(json.dumps({"key": key, **_plain(r)}, ensure_ascii=False) + "\n")
            out.flush()
        for n in askers[key]:
            found[n] = replace(r, name=todo[n].name)
        if progress is not None:
            for n in askers[key]:
                progress(found[n])

    try:
        if jobs == 1 or len(open_) < 4:
            for key, o in open_:
                settle(key, examine_stability(o, mutants, budget))
        else:
            pool = workers(jobs)
            finished = False
            try:
                chunks = [open_[k : k + _CHUNK] for k in range(0, len(open_), _CHUNK)]
                for future in as_completed([pool.submit(_chunk, c, mutants, budget) for c in chunks]):
                    for key, r in future.result():
                        settle(key, r)
                finished = True
            finally:
                ended(pool, finished=finished)
    except KeyboardInterrupt:
        pass
    finally:
        if out is not None:
            out.close()
    return Examination([found[n] for n in sorted(found)], resumed, len(questions))


def _plain(r: Record) -> dict[str, object]:
    return {
        "name": r.name,
        "status": r.status.value,
        "mutants": r.mutants,
        "resources": list(r.resources),
        "flips": [list(f) for f in r.flips],
    }


def _read(checkpoint: Path | None) -> dict[str, Record]:
    """The records of a checkpoint by key; a line that was cut off is left out."""
    found: dict[str, Record] = {}
    if checkpoint is None or not checkpoint.exists():
        return found
    for line in checkpoint.read_text("utf-8", errors="replace").splitlines():
        try:
            d = json.loads(line)
            flips = tuple((int(n), str(s)) for n, s in d["flips"])
            least, most = d["resources"]
            found[d["key"]] = Record(d["name"], Status(d["status"]), d["mutants"], (least, most), flips)
        except (ValueError, KeyError, TypeError):
            continue
    return found
