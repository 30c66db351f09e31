"""Damaged HLO and map texts: each is read, or refused with an `InputError` that has a position.

A text is damaged by a few changes: characters, tokens, numbers, lines, brackets.  A module that is read must survive
printing and reading, every query must answer or refuse, and its maps are computed.  A text that takes more than
:data:`PATIENCE` seconds of processor time, or more memory than :data:`ROOM` bytes, fails too; both limits are far above
the needs of any text.
"""

from __future__ import annotations

import random
import re
import resource
import signal
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, Final

from computation_maps import computation_maps
from hypothesis import strategies as st

from indexproof.core.errors import InputError
from indexproof.core.hlo import Module, format_module, read_module
from indexproof.core.map_reader import read_map
from indexproof.core.op import DIRECTIONS
from indexproof.core.text import format_map
from indexproof.reports.hlo_files import hlo_file_text
from indexproof.rules.ops import catalogue
from indexproof.verify.pool import ignore_interrupts

from .runs import Failed, Result, Run, attempted, run_text

__all__ = ["DATA", "MAPS", "damaged", "examine_hlo", "examine_some", "hlo_text", "is_map", "limited", "read_texts"]

PATIENCE: Final = 60
ROOM: Final = 4 << 30
#: Larger modules are read and printed, but not analysed.
ANALYSED: Final = 80
#: Limit on the length of damaged texts in characters.
LONGEST: Final = 400_000
#: Small modules that together use every form of the notation.
DATA: Final = Path(__file__).parent / "data"
#: Maps in all spellings.
MAPS: Final[tuple[str, ...]] = (
    "(d0, d1)[s0]{rt0} -> (d0 floordiv 4, (d1 * 3 + s0) mod 5, rt0), domain: d0 in [0, 9], d1 in [0, 7], s0 in [0, 2], "
    "rt0 in [0, 5], d0 * 8 + d1 in [0, 50], is_simplified: false",
    "(d0)[s0] -> (d0 - s0, max(d0, 3), min(s0, -d0 ceildiv 2)), domain: d0 in [0, 63], s0 in [-1, 1], d0 mod 4 in [0, 2]",
    "(th_x, th_y, th_z, bl_x, bl_y, bl_z)[chunk_id, unroll_id] -> ((bl_x * 128 + th_x) / 15 mod 8), domain: "
    "th_x in [0, 127], th_y in [0, 0], th_z in [0, 0], bl_x in [0, 7], bl_y in [0, 0], bl_z in [0, 0], "
    "chunk_id in [0, 0], unroll_id in [0, 3]",
    "(d0, d1) -> (d1, d0)\ndomain:\nd0 in [0, 3]\nd1 in [0, 5]",
    "() -> ()",
)

_TOKEN = re.compile(r"[A-Za-z_][\w.\-]*|\d+|\s+|.", re.DOTALL)
_NUMBER = re.compile(r"-?\d+")
_LINE = re.compile(r"[^\n]*\n")
_NUMBERS = ("0", "-1", "1", "2", "7", "2147483647", "2147483648", "4294967296", "9223372036854775807")
_LARGE = ("9223372036854775808", "1" + "0" * 30, "9" * 41, "9" * 5000, "1.5", "-0", "007", "")
_PIECES: Final[tuple[str, ...]] = (
    *"{}()[]<>\",=%:;*/\\'!?#~ \t\n\r\0é\u2028\ud800𝔸",
    *("/*", "*/", "//", "->", "<=", '\\"', " mod ", " in [", "rt0", "ROOT ", "ENTRY ", "HloModule ", "FileNames\n",
        "}\n\n"),
    *("parameter(0)", "constant({...})", "f32[]", "f32[<=3]", "(f32[2], s32[])", "{1,0:T(2,2)}", "token[]"),
    *(", calls=%add.1", ", to_apply=add", ", body=body", ", backend_config={", "/*index=5*/"),
)  # fmt: skip
_BOMBS = (
    "(", "{", "[", "((", "{(", '"', "\\", "/*", "f32[", "a = (", "{{1},", "(f32[],", "-", "1,", "T(", ", x={",
)  # fmt: skip


class Impatience(BaseException):  # not an Exception, so that no handler in between catches it
    """A text took more than :data:`PATIENCE`."""


# ------------------------------------------------------------------------------------------------------- damage
def damaged(rng: random.Random, texts: Sequence[str]) -> str:
    """Return one of the texts with a few changes."""
    text = rng.choice(texts)
    for _ in range(rng.choice((1, 1, 1, 1, 1, 2, 2, 3, 5))):
        text = _changed(rng, text, texts)[:LONGEST]
    return text


def _changed(rng: random.Random, text: str, texts: Sequence[str]) -> str:
    """Replace a number, a token, a line or a few characters, or change all line ends."""
    parts = rng.choice((_NUMBER, _NUMBER, _TOKEN, _TOKEN, _LINE))
    spans = [m.span() for m in parts.finditer(text)]
    at = rng.randrange(len(text) + 1)
    a, b = at, min(len(text), at + rng.choice((0, 0, 0, 1, 1, 1, 2, 5, 20, 100, len(text))))
    if spans and rng.random() < 0.7:
        a, b = rng.choice(spans)
    match rng.randrange(10):
        case 0:
            new = ""
        case 1:
            new = text[a:b] * rng.choice((2, 2, 2, 50, 200))
        case 2 | 3:
            new = rng.choice(_NUMBERS if rng.random() < 0.7 else _LARGE)
        case 4 | 5:
            new = rng.choice(_PIECES)
        case 6 | 7:
            others = [m.group() for m in parts.finditer(rng.choice((text, text, *texts)))]
            new = rng.choice(others) if others else ""
        case 8:
            opened, count = rng.choice(_BOMBS), rng.choice((10, 100, 3000, 20_000))
            closed = "".join({"(": ")", "{": "}", "[": "]"}.get(c, "") for c in reversed(opened))
            new = opened * count + closed * rng.choice((0, count))
        case _ if a < b and rng.random() < 0.7:
            new = chr(ord(text[a]) ^ 1 << rng.randrange(8)) + text[a + 1 : b]
        case _:
            return text.replace("\n", rng.choice(("", "\r\n")))
    return text[:a] + new + text[b:]


# ------------------------------------------------------------------------------------------------------ one text
def examine_hlo(text: str) -> Counter[str]:
    """Read one text and run every query on it; return counts of the work done.  Raises :class:`~.runs.Failed`."""
    counts = Counter({"texts": 1})
    try:
        with _patience():
            (_examine_map if is_map(text) else _examine_module)(text, counts)
    except Impatience:
        raise _failed("hang", text, f"takes more than {PATIENCE} s of processor time") from None
    except MemoryError:
        raise _failed("memory", text, f"takes more than {ROOM >> 20} MiB") from None
    except Failed:
        raise
    except Exception as error:
        trace = traceback.extract_tb(error.__traceback__)
        at = f"{Path(trace[-1].filename).name}:{trace[-1].lineno}"
        raise _failed(
            f"{type(error).__name__} at {at}", text, "".join(traceback.format_exception(error, limit=-6))
        ) from error
    return counts


def _failed(kind: str, text: str, why: str, status: int = 4) -> Failed:
    shown = text if len(text) <= 2000 else f"{text[:2000]}… ({len(text):,} characters)"
    return Failed(kind, status, ("text", repr(shown)), ("because", why))


def is_map(text: str) -> bool:
    """Return whether a text is read as a map rather than a module."""
    return "HloModule" not in text and "->" in text.split("\n", 1)[0]


def _examine_module(text: str, counts: Counter[str]) -> None:
    counts["modules"] += 1
    try:
        module = read_module(text)
    except InputError as error:
        counts["modules refused"] += 1
        _must_point(error, text)
        return
    for percent in (True, False):
        printed = format_module(module, percent)
        if read_module(printed) != module or format_module(read_module(printed), percent) != printed:
            raise _failed("changed", text, printed, 1)
    _ask(module, counts)
    if sum(len(c.instructions) for c in module.computations) <= ANALYSED:
        _analyse(module, counts)


def _examine_map(text: str, counts: Counter[str]) -> None:
    counts["maps"] += 1
    try:
        m = read_map(text)
    except InputError as error:
        counts["maps refused"] += 1
        _must_point(error, text)
        return
    if read_map(format_map(m)) != m:
        raise _failed("changed", text, format_map(m), 1)


def _must_point(error: InputError, text: str) -> None:
    """Check that the error is one line and has a position within the text."""
    lines = text.count("\n") + 1
    if "\n" in str(error) or not error.message:
        raise _failed("bad message", text, str(error))
    if not (error.line and 1 <= error.line <= lines and error.column >= 1) and not error.path:
        raise _failed("bad place", text, f"{error}: line {error.line} of {lines}, column {error.column}")
    error.render().encode("utf-8", "backslashreplace")


def _ask(module: Module, counts: Counter[str]) -> None:
    """Run every query of a module; a query may be refused."""
    questions: list[Callable[[], Any]] = [lambda: module.callees_first, lambda: module.callers, lambda: hash(module)]
    for computation in module.computations:
        questions += [lambda c=computation: (c.users, c.parameters)]  # type: ignore[misc]
        for i in computation.instructions:
            questions += [
                lambda i=i: i.calls,  # type: ignore[misc]
                *(getattr(i, name) for name in ("replica_groups", "strides", "window", "padding", "dim_labels")),
            ]
    for question in questions:
        try:
            question()
        except InputError:
            counts["questions refused"] += 1
        counts["questions"] += 1


def _analyse(module: Module, counts: Counter[str]) -> None:
    """Compute the maps of every computation without simplifying them, which the other fuzzer does."""
    for computation in module.computations:
        for direction in DIRECTIONS:
            try:
                found = computation_maps(module, catalogue, computation=computation, direction=direction, limit=50)
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


# ---------------------------------------------------------------------------------------------------- many texts
def read_texts(paths: Sequence[Path]) -> list[str]:
    """Read files, compressed or not, and all `*.hlo` and `*.hlo.gz` in folders.  Raises `InputError` without files."""
    found: list[Path] = []
    for path in paths:
        found += sorted([*path.glob("*.hlo"), *path.glob("*.hlo.gz")]) if path.is_dir() else [path]
    if not found:
        raise InputError("there are no HLO files", expected="files, or folders with *.hlo or *.hlo.gz")
    return [hlo_file_text(path) for path in found]


def limited() -> None:
    """Limit the memory of this process."""
    ignore_interrupts()
    resource.setrlimit(resource.RLIMIT_AS, (ROOM, resource.getrlimit(resource.RLIMIT_AS)[1]))


def examine_some(task: tuple[int, int], texts: Sequence[str]) -> Result:
    """Examine a number of damaged texts that are drawn with a seed."""
    rngs = st.randoms(use_true_random=False)
    return attempted(rngs, *task, lambda rng: examine_hlo(damaged(rng, texts)))


def hlo_text(run: Run, seconds: float, jobs: int) -> Iterator[str]:
    """Yield the report of a run over damaged texts."""
    c = run.counts
    lines = [
        *((k, f"{c[k]:,}, {c[f'{k} refused']:,} refused at a place") for k in ("modules", "maps")),
        *((k, f"{c[k]:,}, {c[f'{k} refused']:,} refused with a reason") for k in ("questions", "analyses")),
        ("computed", f"{c['maps computed']:,} maps"),
    ]
    return run_text(run, "texts", lines, [], seconds, jobs)
