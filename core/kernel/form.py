"""Linear forms as tuples of integers, and their arithmetic.

A *form* is ``(constant, ((atom, coefficient), ...))`` with atoms as integers in increasing order.  An atom is a variable,
a quotient, a remainder, a minimum, a maximum or opaque.  Forms are plain tuples of integers, so equality and
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

#: Ranges are pairs of integers.  Infinite ends, and ends beyond ``FAR``, are represented by ``END`` or larger numbers.
#: With such ends constants and divisors beyond ``LARGE`` are refused, so that no arithmetic makes them finite again.
LARGE: Final = 1 << 1024
FAR: Final = 1 << 4096
END: Final = 1 << 8192
#: Nearly all ends are below this bound; comparing with it is cheaper than with ``FAR``.
NEAR: Final = 1 << 60


def atom(a: int) -> Form:
    """Return the form of one atom."""
    return 0, ((a, 1),)


def times(x: Form, k: int) -> Form:
    """Return ``k·x``."""
    if k == 1:
        return x
    if k == 0:
        return ZERO
    return x[0] * k, tuple([(a, j * k) for a, j in x[1]])


def minus(x: Form, y: Form, k: int) -> Form:
    """Return ``x - k·y`` without applying rules."""
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
    """Return ``x / k`` if k is not zero and divides the constant and every coefficient, or else ``None``."""
    if not k or x[0] % k or any([j % k for _, j in x[1]]):
        return None
    return x[0] // k, tuple([(a, j // k) for a, j in x[1]])


def lone(f: Form) -> int:
    """Return the atom if the form is a single atom, or else -1."""
    if f[0] or len(f[1]) != 1 or f[1][0][1] != 1:
        return -1
    return f[1][0][0]


def contains(total: dict[int, int], terms: Terms, k: int, without: int) -> bool:
    """Return whether the sum contains ``k·terms`` and these do not contain the atom ``without``; k is not zero."""
    for a, j in terms:
        if total.get(a, 0) != k * j or a == without:
            return False
    return True


def finite(end: int | float) -> int:
    """Return the end of a range as an integer, infinite ends as ``±END``."""
    if isinstance(end, float):
        return END if end > 0 else -END
    return end
