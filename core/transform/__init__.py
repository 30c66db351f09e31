"""Transforms of indexing maps that change their variables, each with a record of the changes.

Unlike :func:`~indexproof.core.simplify_map.simplify_map`, which keeps the variables, these remove variables, replace
ranges by others, or turn ranges into dimensions.  Each is an instance of a law that is proved for all maps
(:mod:`indexproof.rules.transforms`).  Its :class:`Reduced` relates the new map to the old one.
"""

from __future__ import annotations

from .canonical import Distinct, canonical, distinct, number_variables
from .record import Reduced, record_text
from .reduce import reduce_map
from .variables import eliminate_ranges, merge_runtime, ranges_to_dims, remove_unused, rescale_ranges, reset_ranges

__all__ = [
    "Distinct",
    "Reduced",
    "canonical",
    "distinct",
    "eliminate_ranges",
    "merge_runtime",
    "number_variables",
    "ranges_to_dims",
    "record_text",
    "reduce_map",
    "remove_unused",
    "rescale_ranges",
    "reset_ranges",
]
