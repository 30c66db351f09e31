"""Linear forms as tuples of integers, and their arithmetic.

A *form* is ``(constant, ((atom, coefficient), ...))`` with atoms as integers in increasing order; an atom is a variable,
a quotient, a remainder, a minimum, a maximum or something opaque.  Forms are plain tuples of integers, so equality and
hashing are those of tuples.
"""

from __future__ import annotations

from typing import Final, TypeAlias

__all__ = [
    "END",
    "FAR",
    "LARGE",
    "MAXIMUM",
    "MINIMUM",
    "NEAR",
    "OPAQUE",
    "QUOTIENT",
    "REMAINDER",
    "VARIABLE",
    "ZERO",
    "Form",
    "Terms",
    "atom",
    "contains",
    "exactly",
    "finite",
    "lone",
    "minus",
    "times",
]

Form: TypeAlias = tuple[int, tuple[tuple[int, int], ...]]

Terms: TypeAlias = tuple[tuple[int, int], ...]

VARIABLE: Final = 0
QUOTIENT: Final = 1
REMAINDER: Final = 2
MINIMUM: Final = 3
MAXIMUM: Final = 4
OPAQUE: Final = 5
ZERO: Final[Form] = (0, ())

#: Ranges are pairs of integers.  What has no end, or one farther than ``FAR``, ends at ``END`` or beyond; constants and
#: divisors beyond ``LARGE`` are refused there, so no sum or quotient brings an end back to where numbers are.
LARGE: Final = 1 << 1024
FAR: Final = 1 << 4096
END: Final = 1 << 8192
#: Nearly all ends are nearer than this, which takes no arithmetic of long integers to see.
NEAR: Final = 1 << 60


def atom(a: int) -> Form:
    """The form of one atom."""
    return 0, ((a, 1),)


def times(x: Form, k: int) -> Form:
    """``k·x``."""
    if k == 1:
        return x
    if k == 0:
        return ZERO
    return x[0] * k, tuple([(a, j * k) for a, j in x[1]])


def minus(x: Form, y: Form, k: int) -> Form:
    """``x - k·y``, without a look at what the atoms are."""
    c = x[0] - k * y[0]
    if not y[1] or not k:
        return c, x[1]
    total = dict(x[1])
    ordered = True
    for a, j in y[1]:
        n = total.get(a)
        if n is None:
            total[a] = -k * j
            ordered = False
        elif n == k * j:
            del total[a]
        else:
            total[a] = n - k * j
    return c, tuple(total.items()) if ordered else tuple(sorted(total.items()))


def exactly(x: Form, k: int) -> Form | None:
    """``x / k``, if k is not zero and divides every coefficient."""
    if not k or x[0] % k or any([j % k for _, j in x[1]]):
        return None
    return x[0] // k, tuple([(a, j // k) for a, j in x[1]])


def lone(f: Form) -> int:
    """The atom that is all of the form, or -1."""
    if f[0] or len(f[1]) != 1 or f[1][0][1] != 1:
        return -1
    return f[1][0][0]


def contains(total: dict[int, int], terms: Terms, k: int, without: int) -> bool:
    """Whether ``k·terms`` is part of the sum, not counting the atom ``without``; k is not zero."""
    for a, j in terms:
        if total.get(a, 0) != k * j or a == without:
            return False
    return True


def finite(end: int | float) -> int:
    """The end of a range, infinite ends as numbers."""
    if isinstance(end, float):
        return END if end > 0 else -END
    return end
