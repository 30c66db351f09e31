"""Plain text in blocks: labelled lines, tables, counts, durations and points."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from .numerals import format_int

#: Minimum width of a label column.
LABEL = 9


def block(head: str, lines: Sequence[tuple[str, str]]) -> str:
    """Return ``head`` followed by labelled lines with aligned texts; an empty label continues the previous line.

    The lines of a multi-line text stay aligned with its first line.
    """
    width = max([LABEL, *(len(label) + 2 for label, _ in lines)])
    single = [(label if not n else "", line) for label, text in lines for n, line in enumerate(text.split("\n"))]
    return "\n".join([head, *(f"  {label:<{width}}{text}".rstrip() for label, text in single)])


def table(rows: Sequence[Sequence[str]], right: Iterable[int] = ()) -> list[str]:
    """Return rows as aligned lines; the columns numbered in ``right`` are right-aligned."""
    flush = set(right)
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))] if rows else []
    return [
        "  ".join(
            cell.rjust(w) if k in flush else cell.ljust(w) for k, (cell, w) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def count(n: int, thing: str, things: str = "") -> str:
    """Return a number with its noun, such as ``1 claim`` or ``7,514 obligations``."""
    return f"{n:,} {thing if n == 1 else things or thing + 's'}"


def duration(seconds: float) -> str:
    """Return a duration with its unit, such as ``0.4 ms``, ``31 ms`` or ``1.2 s``."""
    if seconds >= 0.9995:
        return f"{seconds:.1f} s"
    ms = seconds * 1000
    return f"{ms:.1f} ms" if ms < 9.95 else f"{ms:.0f} ms"


def tuple_text(values: Iterable[int]) -> str:
    """Return a tuple as text, such as ``(1, 2)``, or ``(1)`` for one number."""
    return f"({', '.join(map(str, values))})"


def point_text(witness: Mapping[str, int]) -> str:
    """Return the values of a counterexample as text, such as ``x = 1, g = 2``."""
    return ", ".join(f"{name} = {format_int(int(value))}" for name, value in witness.items())
