"""The audit of the published maps as a page, and what keeps the page at what it says today."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from ..verify.claims import ClaimResult, ClaimsFile, builtin_claims, check_claims, maps_text
from ..verify.verdict import Status
from .layout import count

#: The committed page.
PAGE = Path(__file__).parent / "published_maps.md"

_KINDS = {
    "wrong": "misses something, or names what does not exist",
    "over-approximation": "names all that it should, and more",
}


def published_page(audit: Sequence[tuple[ClaimsFile, Sequence[ClaimResult]]] | None = None) -> str:
    """The page, from an audit or from running it; the same text on every run."""
    if audit is None:
        audit = [(file, check_claims(file)) for file in builtin_claims()]
    return "\n".join(_lines(audit)) + "\n"


def is_current(path: Path = PAGE) -> bool:
    """Whether the page on disk is what the audit says."""
    return path.is_file() and path.read_text("utf-8") == published_page()


def write_page(path: Path = PAGE) -> bool:
    """Write the page if it is not current; whether it was written."""
    text = published_page()
    if path.is_file() and path.read_text("utf-8") == text:
        return False
    path.write_text(text, "utf-8")
    return True


def _lines(audit: Sequence[tuple[ClaimsFile, Sequence[ClaimResult]]]) -> Iterator[str]:
    yield "# Published maps, audited"
    yield ""
    yield "Every map that the published descriptions of XLA's indexing analysis print, and every formula of the"
    yield "descriptions of layouts and tiles, transcribed as printed and compared with the maps that follow from"
    yield "the proved declarations of the ops. A map that is not exact is shown with an element for which it is"
    yield "false and with the right map."
    for file, results in audit:
        yield ""
        yield f"## {file.filename}"
        yield ""
        yield _counts(results)
        for kind, meaning in _KINDS.items():
            found = [r for r in results if r.accuracy == kind and r.verdict is Status.REFUTED]
            if found:
                yield ""
                yield f"### {count(len(found), 'map')}: {kind} ({meaning})"
                for r in found:
                    yield from _false(r)
        others = [r for r in results if r.verdict is not Status.PROVED and r.accuracy not in _KINDS]
        if others:
            yield ""
            yield "### Other claims that do not hold"
            for r in others:
                yield from _false(r)
        yield ""
        yield "### All claims"
        yield ""
        yield "| section | claim | line | verdict |"
        yield "|---|---|---|---|"
        for r in results:
            verdict = r.verdict.value + (f" ({r.accuracy})" if r.accuracy in _KINDS else "")
            yield f"| {r.claim.section} | `{r.name}` | {r.line} | {verdict} |"


def _counts(results: Sequence[ClaimResult]) -> str:
    parts = [count(len(results), "claim")]
    for status in Status:
        found = sum(r.verdict is status for r in results)
        if found:
            parts.append(f"{found:,} {status.value}")
    unexpected = sum(not r.as_expected for r in results)
    parts.append(f"{unexpected:,} not as expected" if unexpected else "every verdict as expected")
    return ", ".join(parts) + "."


def _false(r: ClaimResult) -> Iterator[str]:
    yield ""
    yield f"**`{r.name}`** ({r.claim.section}, line {r.line})"
    yield ""
    yield "```text"
    yield f"claimed  {_aligned(r.claim.text)}"
    yield f"take     {r.headline or 'not decided'}"
    for note in r.explanation:
        yield f"note     {note}"
    if r.right:
        yield f"right    {_aligned(maps_text(r.right))}"
    yield "```"


def _aligned(text: str) -> str:
    return text.replace("\n", "\n" + " " * 9)
