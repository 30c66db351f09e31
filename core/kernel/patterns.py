"""Translate expressions over constants, conditions and patterns to Python text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from .. import expr as core
from ..condition import And, Compare, Condition, Divides, Not, Or, Truth, Within
from ..expr import CeilDiv, Expr, FloorDiv, Int, Max, Min, Mod, Mul, Sum, Var
from ..rewrite import DeclarationError
from .form import MAXIMUM, MINIMUM, QUOTIENT, REMAINDER
from .kernel import CEILING, KNOWN, SUM

__all__ = ["KINDS", "NAMES", "FormText", "condition_text", "const_text", "is_constant", "scaled_parts"]

KINDS: Final = {FloorDiv: QUOTIENT, Mod: REMAINDER, Min: MINIMUM, Max: MAXIMUM}
NAMES: Final = {
    QUOTIENT: "QUOTIENT",
    REMAINDER: "REMAINDER",
    MINIMUM: "MINIMUM",
    MAXIMUM: "MAXIMUM",
    SUM: "SUM",
    KNOWN: "KNOWN",
    CEILING: "CEILING",
}


def is_constant(e: Expr | Condition) -> bool:
    """Return whether only constants occur in ``e``."""
    return all(v.kind == "const" for v in e.variables())


def scaled_parts(e: Expr) -> tuple[Expr, list[tuple[Expr, Expr]]]:
    """Return the constant of a sum of patterns, and the other summands as pairs of expression and coefficient.

    Raises :class:`DeclarationError` for a product of two expressions.
    """
    const, terms = (e.const, e.terms) if isinstance(e, Sum) else (0, ((e, 1),))
    constant = core.linear(const, [(t, k) for t, k in terms if is_constant(t)])
    parts = []
    for t, k in terms:
        factors = t.factors if isinstance(t, Mul) else (t,)
        others = [f for f in factors if not is_constant(f)]
        if len(others) > 1:
            raise DeclarationError(f"{t} is not one expression times constants")
        parts += [(x, core.mul(k, *[f for f in factors if is_constant(f)])) for x in others]
    return constant, parts


def const_text(e: Expr) -> str:
    """Return Python text that computes an expression over constants."""
    text, _ = _const(e)
    return text


def _const(e: Expr) -> tuple[str, bool]:
    """Return the text, and whether it needs no parentheses as an operand."""
    match e:
        case Var():
            return e.name, True
        case Int():
            return str(e.value), e.value >= 0
        case Sum():
            positive = sorted(e.terms, key=lambda t: t[1] < 0)
            text = ""
            for t, k in positive:
                size = _tight(t) if k in (1, -1) else f"{abs(k)} * {_tight(t)}"
                text += (f" {'+' if k > 0 else '-'} {size}") if text else (size if k > 0 else f"-{size}")
            if e.const:
                text += f" {'+' if e.const > 0 else '-'} {abs(e.const)}"
            return text, len(e.terms) == 1 and not e.const and e.terms[0][1] > 0
        case Mul():
            return " * ".join(sorted(map(_tight, e.factors))), False
        case FloorDiv(a=a, b=b) | Mod(a=a, b=b):
            return f"{_tight(a)} {'//' if isinstance(e, FloorDiv) else '%'} {_tight(b)}", False
        case CeilDiv(a=a, b=b):
            return f"-(-{_tight(a)} // {_tight(b)})", False
        case Min() | Max():
            return f"{type(e).__name__.lower()}({', '.join(map(const_text, e.args))})", True
    raise AssertionError(e)


def _tight(e: Expr) -> str:
    text, tight = _const(e)
    return text if tight else f"({text})"


def condition_text(c: Condition, ranged: Callable[[Condition], str]) -> str:
    """Return Python text that implies ``c``.  ``ranged`` writes the conditions on other things than constants."""
    match c:
        case Truth(value):
            return str(value)
        case Or(args) | And(args):
            word = " or " if isinstance(c, Or) else " and "
            return f"({word.join(f'({condition_text(a, ranged)})' for a in args)})"
        case _ if not is_constant(c):
            return ranged(c)
        case Compare(op, a, b):
            return f"{const_text(a)} {op} {const_text(b)}"
        case Within(e, lo, hi):
            return f"{const_text(lo)} <= {const_text(e)} <= {const_text(hi)}"
        case Divides(d, e):
            return f"({const_text(d)} != 0 and {_tight(e)} % {_tight(d)} == 0)"
        case Not(arg):
            return f"not ({condition_text(arg, ranged)})"
    raise AssertionError(c)


class FormText:
    """Writes Python text that computes the forms of patterns, in normal form if ``reading`` and else as declared."""

    def __init__(self, *, reading: bool) -> None:
        self.reading = reading

    def size(self, e: Expr) -> str:
        """Return Python text that computes an upper bound of the size of ``e``."""
        parts = []
        for x, _ in scaled_parts(e)[1]:
            match x:
                case FloorDiv(a=a, b=b) | Mod(a=a, b=b) if is_constant(b):
                    kind = "QUOTIENT" if isinstance(x, FloorDiv) else "REMAINDER"
                    form = self.form(a, reading=False)
                    parts.append(f"self.size_of_division({kind}, {form}, {const_text(b)})")
                case Min() | Max():
                    args = ", ".join(self.form(a, reading=False) for a in x.args)
                    parts.append(f"self.size_of_extremum(({args}))")
                case _:
                    parts.append(f"self.size({self.form(x, reading=False)})")
        return parts[0] if len(parts) == 1 else f"self.added([{', '.join(parts)}])"

    # -- conditions
    def ranged(self, c: Condition) -> str:
        match c:
            case Compare("==", a, b):
                return f"self.equal({self.form(a)}, {self.form(b)})"
            case Compare("<=", a, b):
                return f"self.at_most({self.form(a)}, {self.form(b)})"
            case Compare("<", a, b):
                return f"self.at_most({self.form(core.add(a, 1))}, {self.form(b)})"
            case Within(e, lo, hi) if is_constant(lo) and is_constant(hi):
                return f"self.within({self.form(e, reading=False)}, {const_text(lo)}, {const_text(hi)})"
            case Divides(d, e) if is_constant(d):
                return f"self.is_multiple({self.form(e, reading=False)}, {const_text(d)})"
        raise DeclarationError(f"ranges do not decide {c}")

    # -- forms
    def form(self, e: Expr, *, reading: bool = True) -> str:
        """Return Python text that computes the form of ``e``; with ``reading``, sums are brought to normal form."""
        if is_constant(e):
            return f"({const_text(e)}, ())"
        match e:
            case Var(kind="atom"):
                return f"atom({e.name})"
            case Var():
                return f"self.normal({e.name})" if reading and not self.reading else e.name
            case Sum() | Mul():
                return self.sum(e, reading)
            case FloorDiv(a=a, b=b) | Mod(a=a, b=b) if is_constant(b):
                quotient = isinstance(e, FloorDiv)
                if reading or self.reading:
                    inner = self.form(a)
                    return f"self.{'floordiv' if quotient else 'mod'}({inner}, {const_text(b)})"
                inner = self.form(a, reading=False)
                return f"self.raw({NAMES[QUOTIENT if quotient else REMAINDER]}, {inner}, {const_text(b)})"
            case Min() | Max():
                args = ", ".join(self.form(a, reading=reading) for a in e.args)
                return f"self.extremum({'MINIMUM' if isinstance(e, Min) else 'MAXIMUM'}, [{args}])"
            case CeilDiv():
                pass
        raise DeclarationError(f"forms cannot express {e}")

    def sum(self, e: Expr, reading: bool) -> str:
        constant, parts = scaled_parts(e)
        one = core.integer(1)
        if reading:
            # the rest last, because new summands are merged into it
            parts.sort(key=lambda p: (isinstance(p[0], Var) and p[0].kind == "rest", str(p[0])))
            text = self.scaled(*parts[0], reading)
            if constant is not core.integer(0):
                # first, because rules that join summands apply to the whole sum
                text = f"self.shift({text}, {const_text(constant)})"
            for part in parts[1:]:
                text = f"self.add({text}, {self.scaled(*part, reading)})"
            return text
        # as declared: subtract the other summands from one with coefficient one
        parts.sort(key=lambda p: (p[1] is not one, str(p[0])))
        text = self.scaled(*parts[0], reading)
        if constant is not core.integer(0):
            text = f"self.shift({text}, {const_text(constant)})"
        for of, scale in parts[1:]:
            text = f"minus({text}, {self.form(of, reading=False)}, {const_text(core.mul(-1, scale))})"
        return text

    def scaled(self, t: Expr, k: Expr, reading: bool) -> str:
        text = self.form(t, reading=reading)
        return text if k is core.integer(1) else f"times({text}, {const_text(k)})"
