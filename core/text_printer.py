"""Printing expressions in the compilers' own notation.

The summands of a sum are printed in XLA's structural order, so that XLA's own maps are reproduced character by
character: products with a constant (with -1 too) first, then remainders, quotients, variables (dimensions before ranges
and runtime variables, each in order of declaration), and the constant last; expressions of the same form compare by
their left operand, then by their right one.  Parentheses follow XLA too: an operand of ``*``, ``/`` and ``mod`` is set
in parentheses unless it is a variable or a literal.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cmp_to_key
from typing import Final, TypeAlias

from .errors import TooLargeError
from .expr import CeilDiv, Expr, FloorDiv, Int, Max, Min, Mod, Mul, Sum, Var, natural_key, postorder
from .numerals import format_int

DIVISIONS: Final = ("floordiv", "/", "//")
#: Limit on the number of printed words; shared subexpressions can make the text of a small map astronomically long.
MAX_WORDS: Final = 5_000_000

#: A summand: an expression and its coefficient.  An item may also be an expression, or a constant as a plain integer.
_Piece: TypeAlias = "tuple[Expr, int]"
_Item: TypeAlias = "Expr | int | tuple[Expr, int]"

_ADD, _MUL, _MOD, _FLOORDIV, _CEILDIV, _MIN, _MAX, _CONSTANT, _VARIABLE = range(9)
_RANK: Final = {
    Mul: _MUL,
    Mod: _MOD,
    FloorDiv: _FLOORDIV,
    CeilDiv: _CEILDIV,
    Min: _MIN,
    Max: _MAX,
    Int: _CONSTANT,
    Var: _VARIABLE,
}
_SYMBOL = re.compile(r"(s|rt)\d+\Z")


class Order:
    """The printing order of the summands of every sum below some expressions."""

    def __init__(self, roots: Iterable[Expr], positions: Mapping[Var, int] | None = None) -> None:
        self.positions = {} if positions is None else positions
        self.terms: dict[Expr, list[_Piece]] = {}
        key = cmp_to_key(self._compare)
        for node in postorder(*roots):
            if isinstance(node, Sum):  # its terms are ordered already: children come first
                plain = all(type(t) is Var for t, _ in node.terms)
                terms = sorted(node.terms, key=self._plain_key if plain else key)
                if plain and all(k in (1, -1) for _, k in terms):
                    # XLA prints a plain difference as `d0 - rt0`; in other sums products come first, and a product with
                    # -1 counts as one
                    terms.sort(key=_subtracted)
                self.terms[node] = terms
        self.key = key

    def _plain_key(self, piece: _Piece) -> tuple[object, ...]:
        """Return the order of :meth:`_compare` as a sort key, for sums of variables only."""
        t, k = piece
        return (_VARIABLE if k == 1 else _MUL, self._variable(_as_var(t)), k)

    def sorted(self, args: Sequence[Expr]) -> list[Expr]:
        """Return the arguments of a product, a minimum or a maximum in printing order, literals last."""
        plain = [a for a in args if not isinstance(a, Int)]
        return sorted(plain, key=self.key) + [a for a in args if isinstance(a, Int)]

    def _variable(self, v: Var) -> tuple[object, ...]:
        at = self.positions.get(v)
        if at is not None:
            return (0, at, ())
        symbol = _SYMBOL.match(v.name)
        return (1, 0 if symbol is None else len(symbol[1]), natural_key(v.name))

    def _view(self, item: _Item) -> tuple[int, list[_Item]]:
        """Return the form of an item and its parts, in the order in which they are compared."""
        if isinstance(item, int):
            return _CONSTANT, []
        if isinstance(item, tuple):
            return (_MUL, [item[0], item[1]]) if item[1] != 1 else self._view(item[0])
        if isinstance(item, Sum):
            if item.const == 0 and len(item.terms) == 1:
                return self._view(item.terms[0])
            pieces: list[_Item] = [*self.terms[item]]
            return _ADD, [*pieces, item.const] if item.const else pieces
        return _RANK[type(item)], list(item.children)

    def _compare(self, a: _Item, b: _Item) -> int:
        """Return a negative number when ``a`` is printed before ``b``; the first difference from the left decides."""
        todo: list[tuple[_Item, _Item]] = [(a, b)]
        while todo:
            a, b = todo.pop()
            if a is b or a == b:
                continue
            (form_a, parts_a), (form_b, parts_b) = self._view(a), self._view(b)
            if form_a != form_b:
                return form_a - form_b
            if form_a == _CONSTANT:
                x, y = _value(a), _value(b)
                if x != y:
                    return -1 if x < y else 1
            elif form_a == _VARIABLE:
                u, v = self._variable(_as_var(a)), self._variable(_as_var(b))
                if u != v:
                    return -1 if u < v else 1
            else:
                # sums associate to the left, so the longer one has a sum where the shorter has its first summand
                if len(parts_a) != len(parts_b):
                    return len(parts_b) - len(parts_a)
                todo.extend(reversed([*zip(parts_a, parts_b, strict=True)]))
        return 0


def _subtracted(piece: _Piece) -> bool:
    return piece[1] < 0


def _value(item: _Item) -> int:
    return item.value if isinstance(item, Int) else item  # type: ignore[return-value]


def _as_var(item: _Item) -> Var:
    return item[0] if isinstance(item, tuple) else item  # type: ignore[return-value]


class Printer:
    """Prints expressions with an explicit stack: nesting may have any depth, and time is linear in the text."""

    def __init__(self, division: str, order: Order) -> None:
        if division not in DIVISIONS:
            raise ValueError(f"division is printed as one of {', '.join(DIVISIONS)}, not {division!r}")
        self.division = division
        self.order = order
        self.words: dict[Expr, int] = {}

    def _check_size(self, root: Expr) -> None:
        words = self.words
        for node in postorder(root):
            if node not in words:
                words[node] = 1 + sum(words[c] for c in node.children)
        if words[root] > MAX_WORDS:
            raise TooLargeError(f"the text of an expression would be longer than {MAX_WORDS} words")

    def text(self, root: Expr) -> str:
        self._check_size(root)
        out: list[str] = []
        # finished text, or an expression and whether it is an operand of an operator that binds tightly
        todo: list[str | tuple[Expr, bool]] = [(root, False)]
        while todo:
            item = todo.pop()
            if isinstance(item, str):
                out.append(item)
                continue
            node, tight = item
            parts = self._parts(node)
            if tight and not isinstance(node, (Int, Var, Min, Max)):
                parts = ["(", *parts, ")"]
            todo.extend(reversed(parts))
        return "".join(out)

    def _parts(self, node: Expr) -> list[str | tuple[Expr, bool]]:
        match node:
            case Int():
                return [format_int(node.value)]
            case Var():
                return [node.name]
            case Sum():
                return self._sum(node)
            case Mul():
                return _joined(" * ", [(f, True) for f in self.order.sorted(node.factors)])
            case FloorDiv():
                return [(node.a, True), f" {self.division} ", (node.b, True)]
            case Mod():
                return [(node.a, True), " mod ", (node.b, True)]
            case CeilDiv():
                return [(node.a, True), " ceildiv ", (node.b, True)]
            case Min() | Max():
                name = "min(" if isinstance(node, Min) else "max("
                return [name, *_joined(", ", [(a, False) for a in self.order.sorted(node.args)]), ")"]
        raise AssertionError(f"no notation for {type(node).__name__}")

    def _sum(self, node: Sum) -> list[str | tuple[Expr, bool]]:
        parts: list[str | tuple[Expr, bool]] = []
        for t, k in self.order.terms[node]:
            first = not parts
            if k == 1:
                parts += [(t, False)] if first else [" + ", (t, False)]
            elif k == -1:
                parts += ["-", (t, True)] if first else [" - ", (t, False)]
            elif first:
                parts += [(t, True), f" * {format_int(k)}"]
            else:
                parts += [" - " if k < 0 else " + ", (t, True), f" * {format_int(abs(k))}"]
        if node.const:
            parts.append(f" - {format_int(-node.const)}" if node.const < 0 else f" + {format_int(node.const)}")
        return parts


def _joined(separator: str, items: list[tuple[Expr, bool]]) -> list[str | tuple[Expr, bool]]:
    return [part for item in items for part in (separator, item)][1:]


def format_expr(e: Expr, division: str = "floordiv", variables: Sequence[Var] = ()) -> str:
    """Return ``e`` in the notation of maps.

    ``variables`` determines the order in which summands mention variables; without it, dimension variables come before
    ``s…`` and ``rt…``, by name.  Raises :class:`~indexproof.core.errors.TooLargeError` for a text of more than
    ``MAX_WORDS`` words.
    """
    positions = {v: i for i, v in enumerate(variables)}
    return Printer(division, Order((e,), positions)).text(e)
