"""Values of `f32` arrays that do not depend on a module's inputs, as the words that hold them.

Every operation rounds once, to nearest, ties to even, as HLO defines it. Results that depend on the platform are
unknown: subnormal numbers (XLA flushes them on some), NaN, which zero is the larger, and sums with a rounded product,
because XLA may fuse multiplication and addition. A bit above the word marks such products.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .runtime import COMPARISONS, FLOAT

_ROUNDED_PRODUCT = 1 << 32

# Integers up to this bound are exact in 53 bits, so that they are rounded only once, to 24 bits.
_EXACT = 1 << 53

_UNARY: dict[str, Callable[[Any], Any]] = {
    "abs": np.abs,
    "ceil": np.ceil,
    "floor": np.floor,
    "negate": np.negative,
    "round-nearest-afz": lambda a: np.copysign(np.trunc(a) + (np.abs(a - np.trunc(a)) >= 0.5) * np.sign(a), a),
    "round-nearest-even": np.rint,
}
_BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "add": np.add,
    "divide": np.divide,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "subtract": np.subtract,
}


def float_words(numbers: Sequence[str | int]) -> tuple[int, ...] | None:
    """Return the words of HLO numbers or integers, read with 53 bits and rounded to 24; None if unknown."""
    try:
        if any(isinstance(n, int) and abs(n) > _EXACT for n in numbers):
            return None
        return _words(np.array([*map(float, numbers)]))
    except ValueError:
        return None


def float_elements(
    opcode: str, direction: str, made: str, types: Sequence[str], operands: Sequence[Sequence[int]]
) -> tuple[int, ...] | None:
    """Return the elements of an operation on operands of its size, some of them `f32`; None if they are not known."""
    arrays = [_numbers(v) if t == FLOAT else np.array(v, object) for t, v in zip(types, operands, strict=True)]
    if not all(a is not None for a in arrays):
        return None
    match opcode, arrays:
        case "convert", [a] if made == FLOAT:
            return tuple(operands[0]) if types[0] == FLOAT else float_words(a.tolist())
        case "convert", [a] if made[1:].isdecimal():
            least, most = (
                (-1 << int(made[1:]) - 1, 1 << int(made[1:]) - 1) if made[0] == "s" else (0, 1 << int(made[1:]))
            )
            whole = np.trunc(a)
            return tuple(map(int, whole)) if ((least <= whole) & (whole < most)).all() else None
        case "select", [_, _, _] if made == FLOAT:
            return tuple([a if p else b for p, a, b in zip(*operands, strict=True)])
    if set(types) != {FLOAT}:
        return None
    products = [w & _ROUNDED_PRODUCT for w in itertools.chain(*operands)]
    if opcode in ("add", "subtract") and any(products):
        return None
    with np.errstate(all="ignore"):
        match opcode, arrays:
            case "compare", [a, b] if direction in COMPARISONS:
                return tuple(map(int, COMPARISONS[direction](a, b)))
            case _, [a] if opcode in _UNARY:
                kept = products if opcode in ("abs", "negate") else ()
                return _words(_UNARY[opcode](a), kept)
            case "multiply", [a, b]:
                exact = a.astype(np.float64) * b.astype(np.float64)
                return _words(a * b, [_ROUNDED_PRODUCT * bool(e) for e in exact != a * b])
            case _, [a, b] if opcode in _BINARY and not _zeros(opcode, a, b):
                return _words(_BINARY[opcode](a, b))
            case "clamp", [low, a, high] if not _zeros("maximum", low, a):
                raised = np.maximum(low, a)
                return None if _zeros("minimum", raised, high) else _words(np.minimum(raised, high))
    return None


def _zeros(opcode: str, a: Any, b: Any) -> bool:
    """Return whether the result depends on which zero counts as the larger."""
    return opcode in ("maximum", "minimum") and bool(((a == 0) & (b == 0) & (np.signbit(a) != np.signbit(b))).any())


def _numbers(words: Sequence[int]) -> Any:
    """Return the numbers that words hold; None unless all are normal, zero or infinite."""
    return _normal(np.array(words, np.uint64).astype(np.uint32).view(np.float32))


def _words(numbers: Any, marks: Sequence[int] = ()) -> tuple[int, ...] | None:
    with np.errstate(all="ignore"):
        found = _normal(np.asarray(numbers).astype(np.float32))
    if found is None:
        return None
    words = found.view(np.uint32).tolist()
    return tuple([w | m for w, m in zip(words, marks, strict=True)] if marks else words)


def _normal(numbers: Any) -> Any:
    small = (numbers != 0) & (np.abs(numbers) < np.finfo(np.float32).tiny)
    return None if (small | np.isnan(numbers)).any() else numbers
