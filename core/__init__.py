"""Indexing maps, their expressions and all computations with them; independent of any particular rule, op or solver."""

from .late import LATE


def _complete() -> None:
    """Load the operators that build conditions.  They load lazily, because most commands only print their help."""
    from . import condition as condition


LATE.load = _complete
