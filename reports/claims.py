"""Reports about claims files, for people and for programs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from ..core.text import format_map
from ..verify.claims import ClaimResult, ClaimsFile
from ..verify.verdict import Status
from .layout import block, count, duration, joined
from .machine import counted
from .serializer import document, written_as

#: A claims file with the results so far.
CheckedFile = tuple[ClaimsFile, Sequence[ClaimResult]]

_WORDS = {0: "AS EXPECTED", 1: "NOT AS EXPECTED"}
_OPEN = (Status.UNDECIDED, Status.NOT_CHECKED)


def exit_status(checked: Sequence[CheckedFile], missed: int = 0) -> int:
    """Return 0 if all verdicts are as expected, 1 if one is not, 2 if claims are undecided, unchecked or absent."""
    results = [r for _, rs in checked for r in rs]
    if any(not r.as_expected and r.verdict not in _OPEN for r in results):
        return 1
    if missed or not results or any(not r.as_expected for r in results):
        return 2
    return 0


def checked_text(checked: Sequence[CheckedFile], missed: int = 0, seconds: float = 0.0) -> Iterator[str]:
    """Yield a block for every claim that is false or not as expected, a line for every file, and a closing line."""
    for file, results in checked:
        for r in results:
            if r.verdict is not Status.PROVED or not r.as_expected:
                yield claim_block(file.filename, r)
        counts = Counter(r.verdict for r in results)
        found = ", ".join(f"{n:,} {s.value}" for s, n in counts.items())
        yield f"{file.filename}: {count(len(results), 'claim')}: {found or 'none checked'}"
    yield _last(checked, missed, seconds)


def claim_block(path: str, r: ClaimResult) -> str:
    """Return the block about one claim."""
    where = f"{path}:{r.line}"
    expected = "as expected" if r.as_expected else f"expected {r.expected.value}"
    head = joined([f"{r.verdict.value}  {r.name}", where, expected])
    lines = [("in", r.claim.section), ("claim", r.claim.text.strip()), ("shows", r.headline)]
    lines += [*(("", note) for note in r.explanation), ("worth", r.accuracy)]
    lines += [("and" if k else "right", format_map(m)) for k, m in enumerate(r.right)]
    if not r.right and r.verdict is Status.REFUTED and r.accuracy:
        lines.append(("right", "nothing"))
    if r.verdict is Status.UNDECIDED:
        lines.append(("tried", "; ".join(r.tried)))
    return block(head, [(label, text) for label, text in lines if text or label in ("", "claim", "tried")])


def _last(checked: Sequence[CheckedFile], missed: int, seconds: float) -> str:
    results = [r for _, rs in checked for r in rs]
    status = exit_status(checked, missed)
    word = _WORDS.get(status, Status.NOT_CHECKED.value if missed else "UNDECIDED")
    if not results:
        left = f"interrupted: {count(missed, 'claim')} left" if missed else ""
        return joined([f"{Status.NOT_CHECKED.value}  0 claims", left])
    surprising = [r.name for r in results if not r.as_expected]
    false = sum(r.verdict is Status.REFUTED for r in results)
    parts = [f"{word}  {count(len(results), 'claim')}, {false:,} of them false"]
    if surprising:
        parts.append(f"not as expected: {', '.join(surprising)}")
    if missed:
        parts.append(f"interrupted: {count(missed, 'claim')} not checked")
    parts.append(f"in {duration(seconds)}")
    return joined(parts)


written_as(
    ClaimResult,
    "name line section=claim.section claim=claim.text verdict expected as_expected worth=accuracy shows=headline "
    "notes=explanation counterexample=counterexample.values right engine",
)


def checked_json(checked: Sequence[CheckedFile], missed: int, seconds: float) -> dict[str, Any]:
    """Return the answer of ``check``."""
    status = exit_status(checked, missed)
    counts = counted(r.verdict for _, rs in checked for r in rs)
    times = {f"{f.filename}:{r.line}": r.seconds for f, rs in checked for r in rs}
    return document(
        "check",
        _WORDS.get(status, Status.NOT_CHECKED),
        status,
        interrupted=missed > 0,
        counts=counts,
        not_checked=missed,
        files=[{"file": file.filename, "claims": rs} for file, rs in checked],
        timing={"seconds": seconds, "claims": times},
    )
