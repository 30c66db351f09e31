"""Indexing maps, their expressions, and everything that computes with them; knows no rule, op or solver."""

from .late import LATE


def _complete() -> None:
    """Complete the operators of expressions; most commands print their help without an expression."""
    from . import condition as condition


LATE.load = _complete
