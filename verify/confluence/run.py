"""All critical pairs of a rule set, on several processes, with what is done kept in a file."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import blake2b
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from ...core.rewrite import ConstraintRule, Rule
from ..checkpoint import Checkpoint
from ..rulefiles.rule import StatedRule
from ..run import available_cores
from .analysis import Kind, Pair, counted, critical_pairs, decide_pair, digest, pair_key
from .constraint_overlap import ConstraintOverlap, constraint_overlaps
from .constraint_pairs import constraint_key, decide_constraint_pair
from .overlap import Overlap
from .stated import StatedOverlap, decide_stated, stated_overlaps

__all__ = ["ConfluenceRun", "confluence"]

Rules = Sequence[Rule | ConstraintRule] | Sequence[StatedRule]
Task = Overlap | ConstraintOverlap | StatedOverlap
#: So many pairs are dealt out at a time.
_CHUNK = 4


@dataclass
class ConfluenceRun:
    """The verdicts on all pairs, in the order of the rules; ``kept`` of them come from the file."""

    pairs: list[Pair] = field(default_factory=list)
    kept: int = 0
    interrupted: bool = False
    total: int = 0

    @property
    def exit_status(self) -> int:
        """0 if all are joinable, 1 if one is not, 2 if something is open."""
        found = counted(self.pairs)
        if found[Kind.NOT_JOINABLE]:
            return 1
        return 2 if self.interrupted or found[Kind.UNDECIDED] or not self.total else 0


def tasks(rules: Rules, among: Sequence[str] = ()) -> list[Task]:
    """The critical pairs of the rules, of a file or of a catalogue; those of rules for constraints come last."""
    stated = [r for r in rules if isinstance(r, StatedRule)]
    if stated:
        wanted = set(among)
        return [
            o
            for o in stated_overlaps(stated)
            if not wanted or o.outer.name in wanted or o.inner.name in wanted
        ]
    plain, constraints = _kinds(rules)
    return [*critical_pairs(plain, among), *constraint_overlaps(constraints, plain, among)]


def _kinds(rules: Rules) -> tuple[list[Rule], list[ConstraintRule]]:
    """The rules for expressions, and those for constraints."""
    return [r for r in rules if isinstance(r, Rule)], [r for r in rules if isinstance(r, ConstraintRule)]


def _decided(task: Task, rules: Rules, worlds: dict[Any, Any]) -> Pair:
    if isinstance(task, StatedOverlap):
        return decide_stated(task, [r for r in rules if isinstance(r, StatedRule)])
    plain, constraints = _kinds(rules)
    if isinstance(task, ConstraintOverlap):
        return decide_constraint_pair(task, plain, constraints, worlds)
    return decide_pair(task, plain, worlds.setdefault("expressions", {}))


def _key(task: Task, rules: Rules) -> str:
    plain, constraints = _kinds(rules)
    if isinstance(task, Overlap):
        return pair_key(task, plain)
    if isinstance(task, ConstraintOverlap):
        return constraint_key(task, plain, constraints)
    stated = [f"{r} {r.semantics} {r.variables}" for r in rules if isinstance(r, StatedRule)]
    parts = [digest("stated"), task.name, task.statement(), *stated]
    return blake2b("\n".join(parts).encode(), digest_size=16).hexdigest()


# ---------------------------------------------------------------------------------------------------- processes
_mine: tuple[Rules, list[Task], dict[Any, Any]] | None = None


def _begin(rules: Rules, among: Sequence[str]) -> None:
    """A process makes the pairs itself: the same ones in the same order."""
    global _mine  # noqa: PLW0603 - what a process works on
    _mine = rules, tasks(rules, among), {}


def _work(numbers: Sequence[int]) -> list[tuple[int, Pair]]:
    assert _mine is not None
    rules, todo, worlds = _mine
    return [(n, _decided(todo[n], rules, worlds)) for n in numbers]


def confluence(
    rules: Rules,
    among: Sequence[str] = (),
    *,
    jobs: int | None = None,
    checkpoint: Path | None = None,
    progress: Callable[[Pair], None] | None = None,
    begun: Callable[[int], None] | None = None,
) -> ConfluenceRun:
    """Decide all critical pairs of ``rules``, or those in which a rule named in ``among`` takes part.

    ``begun`` is told how many there are, ``progress`` every verdict as it comes.  What ``checkpoint`` holds for the same
    pair, rules and program is taken from there, and everything else is added to it.
    """
    todo = tasks(rules, among)
    if begun is not None:
        begun(len(todo))
    run = ConfluenceRun(total=len(todo))
    kept = Checkpoint(checkpoint)
    known = kept.known(lambda line: Pair.from_json(line["pair"]))
    keys = [_key(t, rules) for t in todo] if checkpoint is not None else []
    found: dict[int, Pair] = {}
    for n, key in enumerate(keys):
        if key in known:
            found[n] = known[key]
            if progress is not None:
                progress(known[key])
    run.kept = len(found)
    open_ = [n for n in range(len(todo)) if n not in found]
    jobs = jobs or available_cores()
    try:
        with kept, suppress(KeyboardInterrupt):
            run.interrupted = True
            results = (
                _pooled(rules, among, open_, jobs)
                if jobs > 1 and len(open_) > 8
                else _alone(rules, todo, open_)
            )
            for n, pair in results:
                found[n] = pair
                if checkpoint is not None:
                    kept.add(keys[n], {"pair": pair.to_json()})
                if progress is not None:
                    progress(pair)
            run.interrupted = False
    finally:
        run.pairs = [found[n] for n in sorted(found)]
    return run


def _alone(rules: Rules, todo: Sequence[Task], open_: Sequence[int]) -> Iterator[tuple[int, Pair]]:
    worlds: dict[Any, Any] = {}
    for n in open_:
        yield n, _decided(todo[n], rules, worlds)


def _pooled(
    rules: Rules, among: Sequence[str], open_: Sequence[int], jobs: int
) -> Iterator[tuple[int, Pair]]:
    parcels = [open_[i : i + _CHUNK] for i in range(0, len(open_), _CHUNK)]
    # forked processes would inherit locks and solvers half-held
    context = get_context("spawn")
    with ProcessPoolExecutor(jobs, context, _begin, (rules, tuple(among))) as pool:
        waiting: set[Future[list[tuple[int, Pair]]]] = set()
        rest = iter(parcels)
        try:
            while True:
                for parcel in rest:
                    waiting.add(pool.submit(_work, parcel))
                    if len(waiting) >= 2 * jobs:
                        break
                if not waiting:
                    return
                done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                for future in done:
                    yield from future.result()
        finally:
            for future in waiting:
                future.cancel()
