"""The textual notation of indexing maps, XLA's own: reading and printing."""

from __future__ import annotations

from .indexing_map import IndexingMap, expect_map
from .text_printer import format_expr
from .text_reader import parse_condition, parse_expr, parse_map

__all__ = ["format_expr", "format_map", "parse_condition", "parse_expr", "parse_map"]


def format_map(m: IndexingMap, division: str = "floordiv", multiline: bool = False) -> str:
    """Return ``m`` as text that reads back as the same map; ``division`` is ``floordiv``, ``/`` or ``//``.

    The text is one line, or as in XLA's documentation one line per variable and constraint.  A map whose runtime
    variables have sources is always printed on several lines, since every source needs an ``hlo:`` line. Raises
    :class:`~indexproof.core.errors.TooLargeError` for a text of more than ``MAX_WORDS`` words.
    """
    expect_map(m)
    return m.text(division, multiline)
