"""The audit of the published maps as a page, and the check that the page is current."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import indexproof
from indexproof.core.text import format_map
from indexproof.reports.layout import count
from indexproof.verify.claims import ClaimResult, ClaimsFile, builtin_claims, check_claims
from indexproof.verify.verdict import Status

#: The committed page.
PAGE = Path(indexproof.__file__).parent / "reports/published_maps.md"

_KINDS = {
    "wrong": "misses something, or names what does not exist",
    "over-approximation": "names all that it should, and more",
}


def published_page(audit: Sequence[tuple[ClaimsFile, Sequence[ClaimResult]]] | None = None) -> str:
    """Return the page for a given audit or for a new one; the text is deterministic."""
    if audit is None:
        audit = [(file, check_claims(file)) for file in builtin_claims()]
    return "\n".join(_lines(audit)) + "\n"


def is_current(path: Path = PAGE) -> bool:
    """Return whether the page on disk equals that of the audit."""
    return path.is_file() and path.read_text("utf-8") == published_page()


_HEAD = """# Published maps, audited

Every map that the published descriptions of XLA's indexing analysis print, and every formula of the
descriptions of layouts and tiles, transcribed as printed and compared with the maps that follow from
the proved declarations of the ops. A map that is not exact is shown with an element for which it is
false and with the right map."""


def _lines(audit: Sequence[tuple[ClaimsFile, Sequence[ClaimResult]]]) -> Iterator[str]:
    yield _HEAD
    for file, results in audit:
        yield f"\n## {file.filename}\n\n{_counts(results)}"
        for kind, meaning in _KINDS.items():
            if found := [r for r in results if r.accuracy == kind and r.verdict is Status.REFUTED]:
                yield f"\n### {count(len(found), 'map')}: {kind} ({meaning})"
                yield from map(_false, found)
        if others := [r for r in results if r.verdict is not Status.PROVED and r.accuracy not in _KINDS]:
            yield "\n### Other claims that do not hold"
            yield from map(_false, others)
        yield "\n### All claims\n\n| section | claim | line | verdict |\n|---|---|---|---|"
        for r in results:
            verdict = r.verdict.value + (f" ({r.accuracy})" if r.accuracy in _KINDS else "")
            yield f"| {r.claim.section} | `{r.name}` | {r.line} | {verdict} |"


def _counts(results: Sequence[ClaimResult]) -> str:
    found = Counter(r.verdict for r in results)
    parts = [count(len(results), "claim"), *(f"{found[s]:,} {s.value}" for s in Status if found[s])]
    unexpected = sum(not r.as_expected for r in results)
    parts.append(f"{unexpected:,} not as expected" if unexpected else "every verdict as expected")
    return ", ".join(parts) + "."


def _false(r: ClaimResult) -> str:
    """Return the block about a claim that does not hold."""
    lines = [f"claimed  {_aligned(r.claim.text)}", f"take     {r.headline or 'not decided'}"]
    lines += [f"note     {note}" for note in r.explanation]
    right = "\nand ".join(map(format_map, r.right))
    lines += [f"right    {_aligned(right)}"] if right else []
    head = f"**`{r.name}`** ({r.claim.section}, line {r.line})"
    return "\n".join(["", head, "", "```text", *lines, "```"])


def _aligned(text: str) -> str:
    return text.replace("\n", "\n" + " " * 9)
