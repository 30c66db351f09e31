"""Stability: an obligation is proved again under other names, in other orders and with other seeds.

A proof that depends on any of these depends on luck.  A mutant is the same question: its variables are renamed, so that
everything that is ordered by names or by digests of them is ordered otherwise; hypotheses, conjuncts and disjuncts are
permuted; inequalities are turned round; the solver's random seed is another.  The verdict must be the same; an
obligation that flips is a defect of its encoding.
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

from ...core.condition import And, Compare, Condition, Not, Or, Within, all_of, any_of, negate
from ...core.expr import Var, lift, var
from .. import encode
from ..cache import content_key
from ..obligations import Obligation
from ..solve import Budget, _attempt, decide
from ..verdict import Status

__all__ = ["MUTANTS", "Record", "examine_stability", "examined", "mutant", "renaming", "stability"]

#: So many mutants of each obligation by default.
MUTANTS = 60
_CHUNK = 2


@dataclass(frozen=True)
class Record:
    """What became of the mutants of one obligation.

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


def _chunk(todo: Sequence[tuple[int, Obligation]], mutants: int, budget: Budget) -> list[tuple[int, Record]]:
    return [(n, examine_stability(o, mutants, budget)) for n, o in todo]


def stability(
    obligations: Iterable[Obligation],
    *,
    mutants: int = MUTANTS,
    jobs: int = 1,
    budget: Budget | None = None,
    checkpoint: Path | None = None,
    progress: Callable[[Record], None] | None = None,
) -> tuple[list[Record], int]:
    """The records of all obligations that ask for a proof, in order, and how many of them the checkpoint knew.

    Examples (settled by a point, however it was found), findings, and rules of rule files are left out.  ``checkpoint``
    is a file that gets a line for each record; a run that finds one goes on from it.  On :class:`KeyboardInterrupt` what
    is finished is returned.
    """
    from ..run import ended, workers

    budget = budget or Budget()
    todo = examined(obligations)
    keys = [hashlib.sha256(f"{content_key(o, budget)} {o.name} {mutants}".encode()).hexdigest() for o in todo]
    known = _read(checkpoint)
    found = {n: known[k] for n, k in enumerate(keys) if k in known}
    resumed = len(found)
    open_ = [(n, o) for n, o in enumerate(todo) if n not in found]
    out = checkpoint.open("a", encoding="utf-8") if checkpoint is not None else None
    if out is not None and out.tell():
        out.write("\n")  # the last line may have been cut off

    def settle(n: int, r: Record) -> None:
        found[n] = r
        if out is not None:
            out.write(json.dumps({"key": keys[n], **_plain(r)}, ensure_ascii=False) + "\n")
            out.flush()
        if progress is not None:
            progress(r)

    try:
        if jobs == 1 or len(open_) < 4:
            for n, o in open_:
                settle(n, examine_stability(o, mutants, budget))
        else:
            pool = workers(jobs)
            finished = False
            try:
                chunks = [open_[k : k + _CHUNK] for k in range(0, len(open_), _CHUNK)]
                for future in as_completed([pool.submit(_chunk, c, mutants, budget) for c in chunks]):
                    for n, r in future.result():
                        settle(n, r)
                finished = True
            finally:
                ended(pool, finished=finished)
    except KeyboardInterrupt:
        pass
    finally:
        if out is not None:
            out.close()
    return [found[n] for n in sorted(found)], resumed


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
