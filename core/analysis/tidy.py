"""One form for maps that differ only in variables that do not matter.

Composition leaves ranges behind that nothing mentions any more: a sum over a dimension that an earlier map does not keep,
say.  Their number grows with every step, and without them most maps of a deep computation turn out the same.
"""

from __future__ import annotations

from ..indexing_map import IndexingMap
from ..transform import merge_runtime, number_variables, remove_unused

__all__ = ["tidy"]


def tidy(m: IndexingMap) -> IndexingMap:
    """The same relation without unused ranges and runtime values, the others numbered as they appear.

    Runtime values that read the same element within the same bounds are one.  Variables that do not have their standard
    names `s0`, `rt0`, … keep names and places.
    """
    if not (m.ranges or m.rts):
        return m
    return merge_runtime(m).then(remove_unused).then(number_variables).map
