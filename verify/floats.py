"""A second evaluation of operations on `f32`, with the floating point of z3.

It shares nothing with `core.analysis.floats`. The result is unknown if it depends on the platform: NaNs, subnormal
numbers, the larger of two zeros, and sums with a rounded product, which may be fused. The word of a rounded product has
one more bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import z3

FLOAT_WIDTH = 33

_SINGLE, _DOUBLE = z3.Float32(), z3.Float64()
_NEAREST = z3.RNE()
_ROUNDED = {"ceil": z3.RTP(), "floor": z3.RTN(), "round-nearest-afz": z3.RNA(), "round-nearest-even": _NEAREST}


@lru_cache(maxsize=1 << 16)
def float_word(number: str) -> int | None:
    """Return the word of a number in HLO text, rounded to 53 bits and then to 24; None if NaN or subnormal."""
    if number.lstrip("+-") in ("inf", "nan"):
        return {"inf": 0x7F800000, "-inf": 0xFF800000}.get(number)
    try:
        return _word(z3.fpToFP(_NEAREST, z3.FPVal(number, _DOUBLE), _SINGLE))
    except z3.Z3Exception:
        return None


def float_result(
    opcode: str, direction: str, made: str, types: Sequence[str], elements: Sequence[z3.BitVecNumRef]
) -> z3.BitVecRef | None:
    """Return the word that an operation computes from words of these types, some of them `f32`; None if unknown."""
    x = [z3.fpBVToFP(z3.Extract(31, 0, e), _SINGLE) if t == "f32" else e for t, e in zip(types, elements, strict=True)]
    if any(t == "f32" and _word(a) is None for t, a in zip(types, x, strict=True)):
        return None
    if opcode == "select" and types[1:] == (made, made):
        return elements[1 if elements[0].as_long() else 2]
    if opcode == "convert":
        return elements[0] if types[0] == made else _converted(made, types[0], x[0])
    if {*types} != {"f32"}:
        return None
    rounded = any(e.as_long() >> 32 for e in elements)
    if rounded and opcode in ("add", "subtract"):
        return None
    rounded, number = rounded and opcode in ("abs", "negate"), None
    match opcode, x:
        case "compare", [a, b]:
            held = {
                "EQ": z3.fpEQ(a, b),
                "NE": z3.fpNEQ(a, b),
                "LT": z3.fpLT(a, b),
                "LE": z3.fpLEQ(a, b),
                "GT": z3.fpGT(a, b),
                "GE": z3.fpGEQ(a, b),
            }.get(direction)
            return None if held is None else z3.If(held, z3.BitVecVal(1, 1), z3.BitVecVal(0, 1))
        case "add", [a, b]:
            number = z3.fpAdd(_NEAREST, a, b)
        case "subtract", [a, b]:
            number = z3.fpSub(_NEAREST, a, b)
        case "multiply", [a, b]:
            number = z3.fpMul(_NEAREST, a, b)
            wide, *parts = (z3.fpFPToFP(_NEAREST, z3.simplify(e), _DOUBLE) for e in (number, a, b))
            rounded = not z3.is_true(_told(z3.fpEQ(wide, z3.fpMul(_NEAREST, *parts))))
        case "divide", [a, b]:
            number = z3.fpDiv(_NEAREST, a, b)
        case "abs", [a]:
            number = z3.fpAbs(a)
        case "negate", [a]:
            number = z3.fpNeg(a)
        case _, [a] if opcode in _ROUNDED:
            number = z3.fpRoundToIntegral(_ROUNDED[opcode], a)
        case "maximum", [a, b]:
            number = _larger(a, b)
        case "minimum", [a, b]:
            number = _smaller(a, b)
        case "clamp", [low, a, high]:
            raised = _larger(low, a)
            number = None if raised is None else _smaller(raised, high)
    word = None if number is None else _word(number)
    return None if word is None else z3.BitVecVal(word | rounded << 32, FLOAT_WIDTH)


def _converted(made: str, given: str, a: z3.ExprRef) -> z3.BitVecRef | None:
    """Convert an integer to the nearest float, or truncate a float to an integer; None if the type cannot hold it."""
    if made == "f32":
        number = z3.fpSignedToFP(_NEAREST, a, _SINGLE) if given[0] == "s" else z3.fpUnsignedToFP(_NEAREST, a, _SINGLE)
        word = _word(number)
        return None if word is None else z3.BitVecVal(word, FLOAT_WIDTH)
    if not made[1:].isdecimal():
        return None
    bits, whole = int(made[1:]), z3.fpRoundToIntegral(z3.RTZ(), a)
    sort, signed = z3.BitVecSort(bits), made[0] == "s"
    word = z3.simplify(z3.fpToSBV(z3.RTZ(), a, sort) if signed else z3.fpToUBV(z3.RTZ(), a, sort))
    if not z3.is_bv_value(word):
        return None
    number = word.as_signed_long() if signed else word.as_long()
    # if the type cannot hold the number, the word means another one
    same = (
        z3.simplify(z3.fpToReal(whole) == z3.RealVal(number))
        if z3.is_false(_told(z3.fpIsInf(a)))
        else z3.BoolVal(False)
    )
    return word if z3.is_true(same) else None


def _larger(a: z3.FPRef, b: z3.FPRef) -> z3.FPRef | None:
    if z3.is_true(_told(z3.fpEQ(a, b))) and _word(a) != _word(b):
        return None
    return a if z3.is_true(_told(z3.fpGEQ(a, b))) else b


def _smaller(a: z3.FPRef, b: z3.FPRef) -> z3.FPRef | None:
    larger = _larger(a, b)
    return None if larger is None else b if larger is a else a


def _told(condition: z3.BoolRef) -> z3.BoolRef:
    return z3.simplify(condition)


def _word(number: z3.FPRef) -> int | None:
    """Return the word of a zero, normal or infinite number, else None."""
    number = z3.simplify(number)
    if z3.is_true(_told(z3.Or(z3.fpIsNaN(number), z3.fpIsSubnormal(number)))):
        return None
    word = z3.simplify(z3.fpToIEEEBV(number))
    return word.as_long() if isinstance(word, z3.BitVecNumRef) else None
