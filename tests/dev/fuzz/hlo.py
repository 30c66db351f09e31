"""Damaged HLO and map texts: each is read, or refused with an `InputError` that points somewhere, and nothing else.

A mutant is one of some texts after a few changes: characters, tokens, numbers, lines, brackets. Mutant number N of a
sequence is always the same. What is read must print to something that reads as the same module, what is asked of it
must answer or refuse, and its maps are computed. What takes longer than :data:`PATIENCE` seconds of processor time, or
more memory than :data:`ROOM` bytes, has failed too; both are far beyond what any mutant needs.
"""

from __future__ import annotations

import gzip
import random
import re
import resource
import signal
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any, Final

from indexproof.core.analysis import computation_maps
from indexproof.core.errors import InputError, quoted
from indexproof.core.hlo import Module, aliases, entry_layout, format_module, read_module, source_frames
from indexproof.core.map_reader import read_map
from indexproof.core.op import DIRECTIONS
from indexproof.core.text import format_map
from indexproof.rules.ops import catalogue
from indexproof.verify.outcome import available_cores
from indexproof.verify.pool import each, ignore_interrupts

from .hlo_texts import MAPS, TEXTS

__all__ = [
    "MAPS",
    "PATIENCE",
    "ROOM",
    "HloFailure",
    "HloFuzz",
    "examine_hlo",
    "fuzz_hlo",
    "mutant",
    "read_texts",
]

PATIENCE: Final = 60
ROOM: Final = 4 << 30
#: Larger modules are read and printed, but not analysed.
ANALYSED: Final = 80
#: Mutants are no longer than this, in characters.
LONGEST: Final = 400_000
#: Mutants of one task.
CHUNK: Final = 250
#: So many failures are kept and made small.
KEPT: Final = 20

_TOKEN = re.compile(r"[A-Za-z_][\w.\-]*|\d+|\s+|.", re.DOTALL)
_NUMBER = re.compile(r"-?\d+")
_NUMBERS = ("0", "-1", "1", "2", "7", "2147483647", "2147483648", "4294967296", "9223372036854775807")
_LARGE = ("9223372036854775808", "1" + "0" * 30, "9" * 41, "9" * 5000, "1.5", "-0", "007", "")
_PIECES: Final[tuple[str, ...]] = (
    *"{}()[]<>\",=%:;*/\\'!?#~ \t\n\r\0",
    "é",
    "\u2028",
    "\ud800",
    "𝔸",
    "/*",
    "*/",
    "//",
    "->",
    "<=",
    '\\"',
    "ROOT ",
    "ENTRY ",
    "HloModule ",
    "parameter(0)",
    "constant({...})",
    "f32[]",
    "f32[<=3]",
    "(f32[2], s32[])",
    "{1,0:T(2,2)}",
    ", calls=%add.1",
    ", to_apply=add",
    ", body=body",
    ", backend_config={",
    "/*index=5*/",
    "token[]",
    "}\n\n",
    "FileNames\n",
    " mod ",
    " in [",
    "rt0",
)
_BOMBS = (
    "(",
    "{",
    "[",
    "((",
    "{(",
    '"',
    "\\",
    "/*",
    "f32[",
    "a = (",
    "{{1},",
    "(f32[],",
    "-",
    "1,",
    "T(",
    ", x={",
)


class Impatience(BaseException):  # not an Exception: nothing between here and there may swallow it
    """A mutant took more than :data:`PATIENCE`."""


@dataclass(frozen=True)
class HloFailure:
    """A mutant with which something is wrong: what, its number, and the shortest text found that fails alike."""

    kind: str
    index: int
    text: str
    small: str
    said: str


@dataclass
class HloFuzz:
    """The result of a run over mutants."""

    seed: int = 0
    start: int = 0
    count: int = 0
    done: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    failures: list[HloFailure] = field(default_factory=list)
    slowest: float = 0.0
    slowest_index: int = -1
    longest: int = 0
    memory: int = 0
    jobs: int = 1
    seconds: float = 0.0
    interrupted: bool = False

    @property
    def exit_status(self) -> int:
        """0 nothing is wrong, 1 a text does not come back, 2 not all were examined, 4 anything else."""
        kinds = {f.kind for f in self.failures}
        if kinds:
            return 1 if kinds == {"changed"} else 4
        return 0 if self.done == self.count and self.count else 2

    def add(self, other: HloFuzz) -> None:
        """Take in what became of other mutants."""
        self.done += other.done
        self.counts.update(other.counts)
        self.failures += other.failures
        if other.slowest > self.slowest:
            self.slowest, self.slowest_index = other.slowest, other.slowest_index
        self.longest = max(self.longest, other.longest)
        self.memory = max(self.memory, other.memory)


# ------------------------------------------------------------------------------------------------------- mutants
def mutant(seed: int, index: int, texts: Sequence[str] = (*TEXTS, *MAPS)) -> str:
    """Mutant number ``index`` of a sequence: a few changes to one of the texts."""
    rng = random.Random(f"{seed}:{index}")
    text = rng.choice(texts)
    for _ in range(rng.choice((1, 1, 1, 1, 1, 2, 2, 3, 5))):
        text = rng.choice(_CHANGES)(rng, text, texts)[:LONGEST]
    return text


Change = Callable[[random.Random, str, Sequence[str]], str]


def _span(rng: random.Random, text: str) -> tuple[int, int]:
    at = rng.randrange(len(text) + 1)
    return at, min(len(text), at + rng.choice((1, 1, 1, 2, 5, 20, 100)))


def _delete(rng: random.Random, text: str, texts: Sequence[str]) -> str:
    a, b = _span(rng, text)
    return text[:a] + text[b:]


def _double(rng: random.Random, text: str, texts: Sequence[str]) -> str:
    a, b = _span(rng, text)
    return text[:b] + text[a:b] * rng.choice((1, 1, 1, 1, 50)) + text[b:]


def _insert(rng: random.Random, text: str, texts: Sequence[str]) -> str:
    at = rng.randrange(len(text) + 1)
    return text[:at] + rng.choice(_PIECES) + text[at:]


def _overwrite(rng: random.Random, text: str, texts: Sequence[str]) -> str:
    at = rng.randrange(len(text) + 1)
    return text[:at] + rng.choice(_PIECES) + text[at + 1 :]


def _byte(rng: random.Random, text: str, texts: Sequence[str]) -> str:
    if not text:
        return text
    at = rng.randrange(len(text))
    return text[:at] + chr(ord(text[at]) ^ 1 << rng.randrange(8)) + text[at + 1 :]


def _token(rng: random.Random, text: str, texts: Sequence[str]) -> str:
    tokens = _TOKEN.findall(text)
    if not tokens:
        return text
    a, b = rng.randrange(len(tokens)), rng.randrange(len(tokens))
    match rng.randrange(3):
        case 0:
            tokens[a], tokens[b] = tokens[b], tokens[a]
        case 1:
            tokens[a] = tokens[b]
        case _:
            tokens[a] = rng.choice(_PIECES)
    return "".join(tokens)


def _number(rng: random.Random, text: str, texts: Sequence[str]) -> str:
    found = list(_NUMBER.finditer(text))
    if not found:
        return text
    one = rng.choice(found)
    new = rng.choice(_NUMBERS if rng.random() < 0.7 else _LARGE)
    return text[: one.start()] + new + text[one.end() :]


def _lines(rng: random.Random, text: str, texts: Sequence[str]) -> str:
    lines = text.split("\n")
    a, b = rng.randrange(len(lines)), rng.randrange(len(lines))
    match rng.randrange(5):
        case 0:
            lines[a], lines[b] = lines[b], lines[a]
        case 1:
            del lines[a]
        case 2:
            lines.insert(a, lines[b])
        case 3:
            lines.insert(a, rng.choice(rng.choice(texts).split("\n")))
        case _:
            lines[a : a + 1] = [lines[a]] * 200
    return "\n".join(lines)


def _joined(rng: random.Random, text: str, texts: Sequence[str]) -> str:
    return "".join(text.split("\n")) if rng.random() < 0.5 else text.replace("\n", "\r\n")


def _bomb(rng: random.Random, text: str, texts: Sequence[str]) -> str:
    at = rng.randrange(len(text) + 1)
    piece, count = rng.choice(_BOMBS), rng.choice((10, 100, 3000, 20_000))
    closing = "".join({"(": ")", "{": "}", "[": "]"}.get(c, "") for c in reversed(piece)) * count
    return text[:at] + piece * count + (closing if rng.random() < 0.5 else "") + text[at:]


def _cut(rng: random.Random, text: str, texts: Sequence[str]) -> str:
    at = rng.randrange(len(text) + 1)
    return text[:at] if rng.random() < 0.7 else text[at:]


def _spliced(rng: random.Random, text: str, texts: Sequence[str]) -> str:
    other = rng.choice(texts)
    return text[: rng.randrange(len(text) + 1)] + other[rng.randrange(len(other) + 1) :]


_CHANGES: Final[tuple[Change, ...]] = (
    *(_delete, _double, _insert, _insert, _overwrite, _byte, _token, _token, _token),
    *(
        _number,
        _number,
        _number,
        _number,
        _number,
        _number,
        _lines,
        _lines,
        _lines,
        _cut,
        _spliced,
        _joined,
        _bomb,
    ),
)


# ------------------------------------------------------------------------------------------------------ one text
def examine_hlo(text: str) -> tuple[Counter[str], str, str]:
    """Read one text and ask everything of what it says: what to count, what is wrong (kind and text) if anything is."""
    counts: Counter[str] = Counter()
    try:
        with _patience():
            kind, said = _examined(text, counts)
    except Impatience:
        return counts, "hang", f"takes more than {PATIENCE} s of processor time"
    except MemoryError:
        return counts, "memory", f"takes more than {ROOM >> 20} MiB"
    except Exception as error:
        trace = traceback.extract_tb(error.__traceback__)
        at = f"{Path(trace[-1].filename).name}:{trace[-1].lineno}"
        return counts, f"{type(error).__name__} at {at}", "".join(traceback.format_exception(error, limit=-6))
    return counts, kind, said


def is_map(text: str) -> bool:
    """Whether a text is taken for a map rather than a module."""
    return "HloModule" not in text and "->" in text.split("\n", 1)[0]


def _examined(text: str, counts: Counter[str]) -> tuple[str, str]:
    if is_map(text):
        return _examined_map(text, counts)
    counts["modules"] += 1
    try:
        module = read_module(text)
    except InputError as error:
        counts["modules refused"] += 1
        return _pointed(error, text)
    counts["modules read"] += 1
    for percent in (True, False):
        printed = format_module(module, percent)
        if read_module(printed) != module or format_module(read_module(printed), percent) != printed:
            return "changed", printed
    _asked(module, counts)
    if sum(len(c.instructions) for c in module.computations) <= ANALYSED:
        _analysed(module, counts)
    return "", ""


def _examined_map(text: str, counts: Counter[str]) -> tuple[str, str]:
    counts["maps"] += 1
    try:
        m = read_map(text)
    except InputError as error:
        counts["maps refused"] += 1
        return _pointed(error, text)
    counts["maps read"] += 1
    again = read_map(format_map(m))
    return ("", "") if again == m else ("changed", format_map(m))


def _pointed(error: InputError, text: str) -> tuple[str, str]:
    """An error is one line, and shows a place within the text."""
    lines = text.count("\n") + 1
    if "\n" in str(error) or not error.message:
        return "bad message", str(error)
    if not (error.line and 1 <= error.line <= lines and error.column >= 1) and not error.path:
        return "bad place", f"{error}: line {error.line} of {lines}, column {error.column}"
    error.render().encode("utf-8", "backslashreplace")
    return "", ""


def _asked(module: Module, counts: Counter[str]) -> None:
    """Everything that can be asked of a module; a question may be refused."""
    questions: list[Callable[[], Any]] = [
        lambda: entry_layout(module),
        lambda: aliases(module),
        lambda: module.callees_first,
        module.undefined,
        lambda: module.callers,
        lambda: hash(module),
    ]
    for computation in module.computations:
        questions += [lambda c=computation: (c.users, c.live, c.parameters)]  # type: ignore[misc]
        for i in computation.instructions:
            questions += [
                lambda i=i: source_frames(module, i),  # type: ignore[misc]
                lambda i=i: (i.calls, i.op_name, i.backend_config()),  # type: ignore[misc]
                *(
                    getattr(i, name)
                    for name in ("replica_groups", "strides", "window", "padding", "dim_labels")
                ),
            ]
    for question in questions:
        try:
            question()
        except InputError:
            counts["questions refused"] += 1
        counts["questions"] += 1


def _analysed(module: Module, counts: Counter[str]) -> None:
    """Maps of every computation, as they are: simplified maps are the business of another fuzzer."""
    for computation in module.computations:
        for direction in DIRECTIONS:
            try:
                found = computation_maps(
                    module, catalogue, computation=computation, direction=direction, limit=50
                )
            except InputError:
                counts["analyses refused"] += 1
                continue
            counts["analyses"] += 1
            counts["maps computed"] += sum(len(reads.maps) for reads in found.leaves.values())


@contextmanager
def _patience() -> Iterator[None]:
    """Raise :class:`Impatience` after too much processor time; does nothing outside of the main thread."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise Impatience

    try:
        before = signal.signal(signal.SIGVTALRM, stop)
    except ValueError:
        yield
        return
    signal.setitimer(signal.ITIMER_VIRTUAL, PATIENCE)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def _small(text: str, kind: str, tries: int = 400) -> str:
    """The text without lines, then without characters, that it does not need in order to fail alike."""
    if kind in ("hang", "memory"):
        return text
    for separator in ("\n", ""):
        parts = text.split(separator) if separator else list(text)
        width = max(1, len(parts) // 2)
        while tries > 0:
            at = 0
            while at < len(parts) and tries > 0:
                fewer = parts[:at] + parts[at + width :]
                tries -= 1
                if examine_hlo(separator.join(fewer))[1] == kind:
                    parts = fewer
                else:
                    at += width
            if width == 1:
                break
            width //= 2
        text = separator.join(parts)
    return text


# ---------------------------------------------------------------------------------------------------- many texts
def read_texts(paths: Sequence[Path]) -> list[str]:
    """The texts of files, packed or not, and of all `*.hlo` and `*.hlo.gz` in folders. `InputError` when there are none."""
    found: list[Path] = []
    for path in paths:
        found += sorted([*path.glob("*.hlo"), *path.glob("*.hlo.gz")]) if path.is_dir() else [path]
    texts = []
    for path in found:
        try:
            data = path.read_bytes()
            texts.append((gzip.decompress(data) if path.suffix == ".gz" else data).decode())
        except (OSError, EOFError, ValueError) as error:
            reason = getattr(error, "strerror", None) or " ".join(str(error).split())
            raise InputError(f"cannot read {quoted(path, 200)}: {reason}") from None
    if not texts:
        raise InputError("there are no HLO files", expected="files, or folders with *.hlo or *.hlo.gz")
    return texts


def examine_chunk(seed: int, start: int, stop: int, texts: tuple[str, ...]) -> HloFuzz:
    """Examine mutants number ``start`` to ``stop - 1``."""
    out = HloFuzz()
    for index in range(start, stop):
        text = mutant(seed, index, texts)
        begin = time.process_time()
        counts, kind, said = examine_hlo(text)
        took = time.process_time() - begin
        out.done += 1
        out.counts.update(counts)
        out.longest = max(out.longest, len(text))
        if took > out.slowest:
            out.slowest, out.slowest_index = took, index
        if kind:
            out.counts[f"failed {kind}"] += 1
            if len(out.failures) < KEPT:
                small = _small(text, kind)
                out.failures.append(HloFailure(kind, index, text, small, said))
    out.memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (
        1 if sys.platform == "darwin" else 1024
    )
    return out


def _limited() -> None:
    ignore_interrupts()
    resource.setrlimit(resource.RLIMIT_AS, (ROOM, resource.getrlimit(resource.RLIMIT_AS)[1]))


def fuzz_hlo(
    count: int,
    seed: int = 0,
    *,
    start: int = 0,
    corpus: Sequence[str] = (),
    jobs: int | None = None,
    progress: Callable[[HloFuzz], None] | None = None,
) -> HloFuzz:
    """Examine so many mutants of the texts that come with this module and of further ones, from number ``start`` on.

    On :class:`KeyboardInterrupt` the processes are ended, and what comes back is about the first ``done`` of them.
    """
    begin = time.perf_counter()
    texts = (*TEXTS, *MAPS, *corpus)
    jobs = max(1, min(jobs or available_cores(), count // CHUNK or 1))
    out = HloFuzz(seed=seed, start=start, count=count, jobs=jobs)
    end = start + count
    starts = [(k, min(k + CHUNK, end)) for k in range(start, end, CHUNK)]
    do = partial(_examine_range, seed=seed, texts=texts)
    ready: dict[int, HloFuzz] = {}
    try:
        # always another process: its memory is limited, and it may be killed without harm
        with closing(each(do, starts, jobs, initializer=_limited)) as found:
            for (first, _), chunk in found:
                if chunk is None:
                    said = "a process ended while it examined this mutant or a later one of its task"
                    out.failures.append(HloFailure("killed", first, "", "", said))
                    break
                ready[first] = chunk
                while start + out.done in ready:
                    out.add(ready.pop(start + out.done))
                    if progress is not None:
                        progress(out)
    except KeyboardInterrupt:
        out.interrupted = True
    out.seconds = time.perf_counter() - begin
    return out


def _examine_range(numbers: tuple[int, int], seed: int, texts: tuple[str, ...]) -> HloFuzz:
    return examine_chunk(seed, *numbers, texts)
