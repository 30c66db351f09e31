"""Any number of random maps, simplified and validated: in parallel, resumable, with nothing left out silently."""

from __future__ import annotations

import hashlib
import time
import traceback
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field, replace
from functools import cache, partial
from pathlib import Path
from typing import Any, Final

from indexproof.core.cost import DIVISION_WEIGHT, map_cost
from indexproof.core.explain import UnexplainedError, explained
from indexproof.core.indexing_map import IndexingMap
from indexproof.core.json_form import dump_json, map_to_json
from indexproof.core.simplify_map import simplify_map
from indexproof.core.steps import Trace
from indexproof.core.text import format_map
from indexproof.core.transform import reduce_map
from indexproof.rules.catalog import RULES
from indexproof.verify.checkpoint import Checkpoint
from indexproof.verify.concrete import equal_maps
from indexproof.verify.derivation import DerivationRefused, check_derivation
from indexproof.verify.outcome import available_cores
from indexproof.verify.pool import each
from indexproof.verify.sources import read_sources
from indexproof.verify.verdict import Status

from .generate import BY_DEFAULT, Asked, random_map
from .shrink import shrunk
from .validate import ENGINES, Disagreement, Validation, read_as_before, validate

__all__ = ["FATAL", "Chunk", "Failure", "FuzzRun", "Settings", "examine", "examine_corpus", "fuzz"]

#: Maps of one task.  Small enough that an interruption loses little, and that all processes end at about the same time.
CHUNK: Final = 50
#: What stops a run at once: something is wrong or nobody knows what is right.
FATAL: Final = frozenset({"wrong", "disagreement", "crash", "not deterministic", "refused"})
#: Of the other failures, so many of a chunk are kept with their maps.
KEPT: Final = 2
#: The rules without an engine: the plain driver applies them.
PLAIN: Final = replace(RULES, engine=None)
#: Every so many chunks are simplified once more by another process, backwards.
AGAIN: Final = 10
#: As soon as there are so many of these, or at the end.
HELD: Final = 20


@dataclass(frozen=True)
class Settings:
    """The options of a run.

    ``checked``: every simplification is also derived step by step, the derivation is checked, and the result compared with
    that of the plain driver.
    """

    seed: int = 0
    count: int = 100_000
    checked: bool = False
    #: Rules that a derivation may use, where that was asked; empty: all of the catalogue.
    proved: tuple[str, ...] = ()


@dataclass(frozen=True)
class Failure:
    """A map with which something is wrong: what, where it comes from, and the smallest map found that fails alike."""

    kind: str
    index: int
    family: str
    text: str
    map: str
    after: str = ""
    small: str = ""
    small_after: str = ""
    small_text: str = ""
    division_weight: int = DIVISION_WEIGHT
    quick: bool = False

    @property
    def asked(self) -> Asked:
        """The options with which the map was simplified."""
        return Asked(self.division_weight, self.quick)


@dataclass
class Chunk:
    """The result for the maps numbered from ``start`` to ``stop - 1``."""

    start: int
    stop: int
    counts: Counter[str] = field(default_factory=Counter)
    digests: list[str] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    seconds: float = 0.0

    def to_json(self) -> dict[str, Any]:
        """For the checkpoint."""
        return {**asdict(self), "counts": dict(self.counts)}

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> Chunk:
        """Read what :meth:`to_json` made.

        Raises :class:`ValueError`, :class:`KeyError` or :class:`TypeError` for anything else.
        """
        counts, failures = Counter(data["counts"]), [Failure(**f) for f in data["failures"]]
        if counts["maps"] != data["stop"] - data["start"]:
            raise ValueError("a chunk counts every map of it")
        return Chunk(data["start"], data["stop"], counts, list(data["digests"]), failures, data["seconds"])


@dataclass
class FuzzRun:
    """A run, finished or not."""

    settings: Settings
    chunks: list[Chunk] = field(default_factory=list)
    interrupted: bool = False
    stopped: bool = False
    jobs: int = 1
    seconds: float = 0.0
    resumed: int = 0
    #: Maps that are not random, as one chunk.
    corpus: Chunk = field(default_factory=lambda: Chunk(0, 0))

    @property
    def counts(self) -> Counter[str]:
        """All counts together, those of the corpus included."""
        total: Counter[str] = Counter(self.corpus.counts)
        for c in self.chunks:
            total.update(c.counts)
        return total

    @property
    def random_maps(self) -> int:
        """The number of random maps that were examined."""
        return sum(c.stop - c.start for c in self.chunks)

    @property
    def failures(self) -> list[Failure]:
        """Those of the corpus, then the others in the order of the maps."""
        return self.corpus.failures + sorted(
            (f for c in self.chunks for f in c.failures), key=lambda f: f.index
        )

    @property
    def missing(self) -> list[tuple[int, int]]:
        """Ranges ``[first, last]`` of maps that were not examined."""
        out: list[tuple[int, int]] = []
        at = 0
        end = self.settings.count
        for c in [*sorted(self.chunks, key=lambda c: c.start), Chunk(end, end)]:
            if c.start > at:
                out.append((at, c.start - 1))
            at = max(at, c.stop)
        return out

    @property
    def digest(self) -> str:
        """One digest of all results in order: the same for every run of these maps with these rules, on every machine."""
        h = hashlib.blake2b(digest_size=16)
        for c in sorted(self.chunks, key=lambda c: c.start):
            for d in c.digests:
                h.update(d.encode())
        return h.hexdigest()

    @property
    def exit_status(self) -> int:
        """0 all validated, 1 something is wrong, 2 undecided or not checked, 4 a crash."""
        kinds = {f.kind for f in self.failures} | {
            k.removeprefix("failed ") for k in self.counts if k.startswith("failed ")
        }
        if "crash" in kinds:
            return 4
        if kinds - {"undecided"}:
            return 1
        return 2 if kinds or self.missing or not self.counts["maps"] else 0


# -------------------------------------------------------------------------------------------------- one map
def examine(
    m: IndexingMap, settings: Settings, asked: Asked = BY_DEFAULT
) -> tuple[Counter[str], str, str, IndexingMap | None]:
    """Simplify and validate one map: what to count, what is wrong (kind and text), and the simplified map.

    ``asked`` says how to simplify it.
    """
    counts: Counter[str] = Counter()
    trace: Trace | None = [] if settings.checked else None
    try:
        after = _simplified(m, asked, trace)
        again = _simplified(_reread(after), asked)
    except Exception:
        return counts, "crash", traceback.format_exc(limit=-8), None
    try:
        found = validate(m, after)
    except Disagreement as error:
        return counts, "disagreement", str(error), after
    _count(counts, found)
    if found.verdict is Status.REFUTED:
        return counts, "wrong", str(found.counterexample), after
    if found.verdict is not Status.PROVED:
        return counts, "undecided", f"nobody decided it: {found.said}", after
    if trace is not None:
        kind, text = _derived(m, after, trace, settings, counts)
        if kind:
            return counts, kind, text, after
    kind, text = _reduced(m, after, settings, counts)
    if kind:
        return counts, kind, text, after
    before, now = map_cost(m), map_cost(after)
    counts[f"division weight {asked.division_weight}"] += 1
    counts["quick"] += asked.quick
    counts["divisions before"] += before.divisions
    counts["operations before"] += before.operations
    counts["divisions after"] += now.divisions
    counts["operations after"] += now.operations
    if trace is not None:
        unasked = _simplified(m, asked)
        if unasked != after:
            return counts, "depends on explaining", f"without a trace: {format_map(unasked)}", after
        if asked == BY_DEFAULT:
            counts[f"plainly {beside_plain(m, after)}"] += 1
    if again != after:
        return counts, "not idempotent", f"simplified again: {format_map(again)}", after
    if now.weighed(asked.division_weight) > before.weighed(asked.division_weight):
        return counts, "grows", f"from {before} to {now}", after
    return counts, "", "", after


def beside_plain(m: IndexingMap, after: IndexingMap) -> str:
    """Compare a result with that of the plain driver: the same rules one at a time, bottom-up, without extraction."""
    plain = simplify_map(_reread(m), PLAIN)
    if plain == after:
        return "the same"
    cost, other = map_cost(after).weight, map_cost(plain).weight
    return "cheaper" if cost < other else "dearer" if cost > other else "as dear"


def _reduced(m: IndexingMap, after: IndexingMap, settings: Settings, counts: Counter[str]) -> tuple[str, str]:
    """The map without the variables that it can do without, read as its record says, must be the map too.

    It is compared with ``after``, which is known to have the relation of ``m``.
    """
    trace: Trace | None = [] if settings.checked else None
    try:
        reduced = reduce_map(m, RULES, trace)
    except Exception:
        return "crash", traceback.format_exc(limit=-8)
    if not reduced.steps:
        return "", ""
    counts["reduced"] += 1
    answer = equal_maps(after, read_as_before(reduced))
    if answer.verdict is Status.REFUTED:
        return "wrong", f"reduced to {format_map(reduced.map)}: {answer.counterexample}"
    if not answer.proved:
        return "undecided", f"nobody decided whether it may be reduced to {format_map(reduced.map)}"
    return ("", "") if trace is None else _derived(m, reduced.map, trace, settings, counts)


def _simplified(m: IndexingMap, asked: Asked, trace: Trace | None = None) -> IndexingMap:
    return simplify_map(m, RULES, trace, division_weight=asked.division_weight, quick=asked.quick)


def _reread(m: IndexingMap) -> IndexingMap:
    """The same map, with nothing remembered about it."""
    return m.with_()


def _derived(
    m: IndexingMap, after: IndexingMap, trace: Trace, settings: Settings, counts: Counter[str]
) -> tuple[str, str]:
    """Derive and check every step."""
    try:
        derivation = explained(m, after, trace)
        checked = check_derivation(derivation, RULES, settings.proved or None)
    except UnexplainedError as error:
        return "unexplained", str(error)
    except DerivationRefused as error:
        return "refused", str(error)
    counts["derivations"] += 1
    counts["steps"] += checked.steps
    for name in derivation.rules():
        counts[f"rule {name}"] += 1
    for by, n in checked.decided_by().items():
        counts[f"condition {by}"] += n
    for engine in checked.engines:
        counts[f"map change {engine}"] += 1
    return "", ""


def _count(counts: Counter[str], found: Validation) -> None:
    counts[f"decided {found.decided_by}"] += 1
    if not found.pointwise:
        counts["compared as relations"] += 1
    for engine in ENGINES:
        said = found.said.get(engine)
        if said is not None:
            counts[f"{engine} {said}"] += 1
    counts["points"] += found.points
    counts["evaluated completely"] += found.complete
    if found.said.get("z3") == "open" and found.said.get("isl") == "same":
        counts["z3 gave up, isl proved"] += 1
    if found.said.get("isl") == "open" and found.said.get("z3") == "same":
        counts["isl gave up, z3 proved"] += 1


def _digest(m: IndexingMap | None) -> str:
    return (
        "-" if m is None else hashlib.blake2b(dump_json(map_to_json(m)).encode(), digest_size=8).hexdigest()
    )


# ------------------------------------------------------------------------------------------------ one chunk
def examine_chunk(settings: Settings, start: int, stop: int) -> Chunk:
    """Examine maps number ``start`` to ``stop - 1``."""
    begin = time.perf_counter()
    out = Chunk(start, stop)
    for index in range(start, stop):
        sample = random_map(settings.seed, index)
        _examine_into(out, settings, index, sample.family, sample.map, sample.asked)
    out.seconds = time.perf_counter() - begin
    return out


def examine_corpus(maps: Sequence[tuple[str, IndexingMap]], settings: Settings) -> Chunk:
    """Examine maps that have names; a failure has its name as family, and -1 as index."""
    begin = time.perf_counter()
    out = Chunk(0, len(maps))
    for name, m in maps:
        _examine_into(out, settings, -1, name, m)
    out.seconds = time.perf_counter() - begin
    return out


def _examine_into(
    out: Chunk,
    settings: Settings,
    index: int,
    family: str,
    m: IndexingMap,
    asked: Asked = BY_DEFAULT,
) -> None:
    counts, kind, text, after = examine(m, settings, asked)
    counts["maps"] += 1
    shown = family if index >= 0 else "corpus"
    counts[f"family {shown}"] += 1
    for engine in ENGINES:
        if counts[f"{engine} open"]:
            counts[f"family {shown}: {engine} open"] += 1
    if kind:
        counts[f"failed {kind}"] += 1
        if kind in FATAL or len(out.failures) < KEPT:
            out.failures.append(_failure(settings, kind, index, family, text, m, after, asked))
    out.counts.update(counts)
    out.digests.append(_digest(after))


def _failure(
    settings: Settings,
    kind: str,
    index: int,
    family: str,
    text: str,
    m: IndexingMap,
    after: IndexingMap | None,
    asked: Asked,
) -> Failure:
    small = shrunk(m, lambda s: _fails(s, kind, settings, asked))
    small_text, small_after = (text, after) if small is m else examine(small, settings, asked)[2:]
    return Failure(
        kind,
        index,
        family,
        text,
        format_map(m),
        "" if after is None else format_map(after),
        format_map(small),
        "" if small_after is None else format_map(small_after),
        small_text,
        *asked,
    )


def _fails(m: IndexingMap, kind: str, settings: Settings, asked: Asked) -> bool:
    """Whether a map fails in the same way, without asking more than that needs."""
    trace: Trace | None = [] if settings.checked else None
    try:
        after = _simplified(m, asked, trace)
        again = _simplified(_reread(after), asked)
    except Exception:
        return kind == "crash"
    match kind:
        case "crash":
            return False
        case "grows":
            return map_cost(after).weighed(asked.division_weight) > map_cost(m).weighed(asked.division_weight)
        case "not idempotent":
            return again != after
        case "depends on explaining":
            return trace is not None and _simplified(m, asked) != after
        case "unexplained" | "refused":
            found = _derived(m, after, trace or [], settings, Counter())[0]
            return (found or _reduced(m, after, settings, Counter())[0]) == kind
        case "wrong":
            wrong = equal_maps(m, after).verdict is Status.REFUTED
            return wrong or _reduced(m, after, settings, Counter())[0] == kind
    return examine(m, settings, asked)[1] == kind


def simplify_chunk(settings: Settings, start: int, stop: int) -> list[str]:
    """Digests of the results alone, computed from the last map to the first."""
    out = []
    for index in reversed(range(start, stop)):
        try:
            sample = random_map(settings.seed, index)
            out.append(_digest(_simplified(sample.map, sample.asked)))
        except Exception:
            out.append("-")
    return out[::-1]


# -------------------------------------------------------------------------------------------------- the run
def fuzz(
    settings: Settings,
    *,
    jobs: int | None = None,
    checkpoint: Path | None = None,
    corpus: Sequence[tuple[str, IndexingMap]] = (),
    progress: Callable[[Chunk], object] | None = None,
) -> FuzzRun:
    """Examine the maps of ``corpus`` and all random ones.

    With ``checkpoint`` every finished chunk is written there, and chunks found there are not examined again, unless
    another program or other settings wrote them.  Raises :class:`InputError` where the file is no checkpoint.  On
    :class:`KeyboardInterrupt` what was reached is kept, and :attr:`FuzzRun.missing` says what was not.
    """
    run = FuzzRun(settings, jobs=max(1, jobs or available_cores()))
    begin = time.perf_counter()
    log = Checkpoint(checkpoint)
    known = log.known(Chunk.from_json)
    todo = []
    for start in range(0, settings.count, CHUNK):
        stop = min(start + CHUNK, settings.count)
        chunk = known.get(_key(settings, start, stop)) if known else None
        if chunk is None or any(f.kind in FATAL for f in chunk.failures):
            todo.append((start, stop))
        else:
            run.chunks.append(replace(chunk, start=start, stop=stop))
    run.resumed = run.random_maps
    try:
        run.corpus = examine_corpus(corpus, settings)
        if any(f.kind in FATAL for f in run.corpus.failures):
            run.stopped = True
            todo = []
        with log, closing(_examined(settings, todo, run.jobs)) as found:
            for chunk in found:
                if checkpoint is not None:
                    log.add(_key(settings, chunk.start, chunk.stop), chunk.to_json())
                run.chunks.append(chunk)
                if progress is not None:
                    progress(chunk)
                if any(f.kind in FATAL for f in chunk.failures):
                    run.stopped = True
                    break
    except KeyboardInterrupt:
        run.interrupted = True
    run.chunks.sort(key=lambda c: c.start)
    run.seconds = time.perf_counter() - begin
    return run


def _key(settings: Settings, start: int, stop: int) -> str:
    """A chunk in a checkpoint: results of another program or other settings must not be mixed with these."""
    asked = (_program(), settings.seed, settings.checked, settings.proved, start, stop)
    return hashlib.sha256(repr(asked).encode()).hexdigest()


@cache
def _program() -> str:
    return repr(sorted(read_sources().items()))


def _examined(settings: Settings, todo: Sequence[tuple[int, int]], jobs: int) -> Generator[Chunk, None, None]:
    examine_range = partial(_examine_range, settings)
    if jobs == 1 or len(todo) < 2:
        yield from map(examine_range, todo)
        return
    held: list[Chunk] = []
    with closing(each(examine_range, todo, jobs)) as done:
        for numbers, found in done:
            # what took a process down is found by doing it here
            chunk = examine_range(numbers) if found is None else found
            if (chunk.start // CHUNK) % AGAIN:
                yield chunk
                continue
            held.append(chunk)
            if len(held) == HELD:
                yield from _compared(settings, held)
                held = []
    yield from _compared(settings, held)


def _examine_range(settings: Settings, numbers: tuple[int, int]) -> Chunk:
    return examine_chunk(settings, *numbers)


def _simplify_chunk(settings: Settings, chunk: Chunk) -> list[str]:
    return simplify_chunk(settings, chunk.start, chunk.stop)


def _compared(settings: Settings, chunks: Sequence[Chunk]) -> Iterator[Chunk]:
    """Chunks, with a failure where a new process, which orders its strings in its own way, gets another result."""
    with closing(each(partial(_simplify_chunk, settings), chunks, 1)) as done:
        for chunk, digests in done:
            yield _compare(
                settings,
                chunk,
                simplify_chunk(settings, chunk.start, chunk.stop) if digests is None else digests,
            )


def _compare(settings: Settings, chunk: Chunk, digests: Sequence[str]) -> Chunk:
    """The chunk, with a failure where another process got another result."""
    chunk.counts["simplified twice"] += len(digests)
    for k, (a, b) in enumerate(zip(chunk.digests, digests, strict=True)):
        if a != b:
            sample = random_map(settings.seed, chunk.start + k)
            chunk.counts["failed not deterministic"] += 1
            text = "two processes simplify the same map differently"
            chunk.failures.append(
                Failure("not deterministic", sample.index, sample.family, text, format_map(sample.map))
            )
    return chunk
