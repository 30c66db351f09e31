"""Decides many obligations: from the cache, and the rest by :mod:`.run`, which is imported only if there is a rest."""

from __future__ import annotations

import random
import time
from collections.abc import Iterable
from contextlib import closing
from typing import TYPE_CHECKING

from .budget import Budget
from .cache import Cache, content_key
from .obligation import Obligation
from .outcome import PASSING, CrewLost, Progress, Result, Run, available_cores
from .verdict import Status, Verdict

if TYPE_CHECKING:
    from .cluster import Cluster


def prove_all(
    obligations: Iterable[Obligation],
    *,
    jobs: int | None = None,
    budget: Budget | None = None,
    cache: Cache | None = None,
    progress: Progress | None = None,
    confirm: str = "",
    recheck: float = 0.0,
    executor: Cluster | None = None,
) -> Run:
    """Decide all obligations; those that ask the same question are decided once.

    Verdicts do not depend on ``jobs`` or on the order.  On :class:`KeyboardInterrupt` finished verdicts are kept (also
    in ``cache``) and the rest is ``NOT CHECKED``.  Work of a worker that dies is repeated; an obligation that kills
    every worker is ``UNDECIDED``.

    With ``confirm="cvc5"`` every verdict gets a second opinion.  Engines that contradict each other raise
    :class:`~indexproof.verify.trust.disagreement.Disagreement`.  A random fraction ``recheck`` of the cached verdicts
    is decided anew; wrong ones are replaced and counted.  Jobs run on the cluster ``executor`` if there is one, and
    otherwise in processes of this machine.  Only this process writes ``cache``, as results arrive.
    """
    todo = list(obligations)
    budget = budget or Budget()
    cache = cache or Cache(None)
    jobs = executor.size if executor is not None else max(1, jobs or available_cores())
    start = time.perf_counter()
    verdicts: dict[int, Verdict] = {}
    cached: set[int] = set()
    run = Run(jobs=jobs, confirm=_confirmer(confirm))
    asking: dict[str, list[int]] = {}
    kept: dict[str, Verdict] = {}
    chance = random.SystemRandom()

    def settle(key: str, v: Verdict, *, found: bool = False) -> None:
        if key in kept and kept[key] != v:
            cache.refused["untrue"] += 1
        if not found and PASSING.isdisjoint(v.tried):
            cache.put(key, v)
        for n in asking[key]:
            verdicts[n] = v
            if found:
                cached.add(n)
            if progress is not None:
                progress(Result(todo[n], v, found))

    unchecked = Verdict(Status.NOT_CHECKED, detail="the run was interrupted")
    try:
        for n, o in enumerate(todo):
            asking.setdefault(content_key(o, budget, run.confirm), []).append(n)
        open_: dict[int, str] = {}
        known = cache.get_all((key, todo[n]) for key, (n, *_) in asking.items())
        for (key, (n, *_)), v in zip(asking.items(), known, strict=True):
            if v is not None and recheck and chance.random() < recheck:
                kept[key] = v
            elif v is not None:
                settle(key, v, found=True)
                continue
            open_[n] = key
            # the mathematics of a recorded obligation is needed from here on
            todo[n] = todo[n].in_full()
        if open_:
            from .run import answers

            asked = [(n, todo[n]) for n in open_]
            found = answers(asked, jobs=jobs, budget=budget, confirm=bool(confirm), executor=executor, run=run)
            with closing(found):
                for n, v in found:
                    settle(open_[n], v)
    except KeyboardInterrupt:
        run.interrupted = True
    except CrewLost as lost:
        run.interrupted, run.stopped = True, str(lost)
        unchecked = Verdict(Status.NOT_CHECKED, detail=run.stopped)
    if executor is not None:
        run.lost_workers = executor.lost_workers
    run.results = [Result(o, verdicts.get(n, unchecked), n in cached) for n, o in enumerate(todo)]
    run.seconds = time.perf_counter() - start
    run.damaged_cache_entries = cache.damaged
    run.unkept, run.cache_trouble = cache.unkept, cache.trouble
    run.cache_set_aside = "" if cache.set_aside is None else str(cache.set_aside)
    run.refused_cache_entries = {reason: n for reason, n in sorted(cache.refused.items()) if n}
    return run


def _confirmer(confirm: str) -> str:
    """Return the second solver with its version, or an empty string."""
    if not confirm:
        return ""
    from .trust.opinion import confirmer

    return confirmer(confirm)
