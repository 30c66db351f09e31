"""Reading expressions from text: one iterative reader for every notation, so that nesting may have any depth.

Unary minus binds tightest, then ``* / // floordiv % mod ceildiv`` from left to right, then ``+`` and ``-``; ``100d0``
is a product.  All errors are :class:`~indexproof.core.errors.InputError`, at the first character that cannot continue
the text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final, NamedTuple, NoReturn, TypeVar

from .errors import InputError, quoted
from .expr import Expr, Int, ceildiv, floordiv, integer, maximum, minimum, mod, mul, var
from .numerals import parse_int
from .open_sum import OpenSum, Operand, closed
from .variables import RESERVED, known_names


class Token(NamedTuple):
    """A word of the text, of kind ``number``, ``name``, ``sign``, ``hlo``, ``stray`` or ``end``."""

    kind: str
    text: str
    at: int


_TOKEN: Final = re.compile(
    r"""\s+
    | (?P<hlo> hlo[ \t]*:[^\n]* )
    | (?P<name> [A-Za-z_][A-Za-z0-9_]* )
    | (?P<number> [0-9]+ )
    | (?P<sign> -> | // | <= | >= | == | != | [][(){},:+*/%<>=\-] | [∈∣≤≥≠] )
    | (?P<stray> . )
    """,
    re.VERBOSE | re.DOTALL,
)

_DIVISIONS: Final[dict[str, Callable[[Expr, Expr], Expr]]] = {
    "/": floordiv,
    "//": floordiv,
    "floordiv": floordiv,
    "floorDiv": floordiv,
    "%": mod,
    "mod": mod,
    "ceildiv": ceildiv,
}
T = TypeVar("T")
_AN_EXPRESSION: Final = "a variable, an integer, `-`, `(`, `min(` or `max(`"


@dataclass(slots=True)
class _Frame:
    """One bracket level of an expression: finished summands, and the product being read."""

    opener: Token | None = None
    function: str = ""
    args: list[Expr] = field(default_factory=list)
    terms: list[tuple[Operand, int]] = field(default_factory=list)
    sign: int = 1
    product: Operand | None = None
    operator: Token | None = None
    negative: bool = False
    start: Token | None = None  # of the next operand, including its minus signs

    def flush(self) -> None:
        if self.product is not None:
            self.terms.append((self.product, self.sign))
        self.product, self.sign = None, 1

    def summed(self) -> OpenSum:
        self.flush()
        value = OpenSum(self.terms)
        self.terms = []
        return value

    def total(self) -> Expr:
        return self.summed().total()


class WordReader:
    """The words of one text and the error messages about them; the readers of all notations derive from it."""

    #: The words of the notation, each in a group named after its kind.
    words: ClassVar = _TOKEN
    #: The words that no variable may be called.
    reserved: ClassVar[Collection[str]] = RESERVED
    #: The unit of text that is read at once, for error messages.
    unit: ClassVar = "text"

    def __init__(self, text: str) -> None:
        if not isinstance(text, str):
            raise InputError(f"expected text, not {type(text).__name__}")
        self.text = text

    def tokenize(self, start: int, end: int) -> None:
        """Continue with the words between two offsets."""
        found = self.words.finditer(self.text, start, end)
        self.tokens = [Token(m.lastgroup, m[0], m.start()) for m in found if m.lastgroup]
        self.tokens.append(Token("end", "", end))
        self.next = 0

    def told(self, read: Callable[[Any], T], value: Any, token: Token) -> T:
        """Read a value; report an :class:`InputError` about it at the position of ``token``."""
        try:
            return read(value)
        except InputError as wrong:
            raise self.error(wrong.message, token, wrong.expected) from None

    def number(self, token: Token) -> int:
        """Return the integer that a token denotes."""
        return self.told(parse_int, token.text, token)

    # -- words
    @property
    def token(self) -> Token:
        return self.tokens[self.next]

    def advance(self) -> Token:
        token = self.tokens[self.next]
        if token.kind != "end":
            self.next += 1
        return token

    def is_sign(self, *signs: str) -> bool:
        return self.token.kind == "sign" and self.token.text in signs

    def is_word(self, *words: str) -> bool:
        return self.token.kind == "name" and self.token.text in words

    def took_label(self, word: str) -> bool:
        """Consume ``word:`` if it comes next, and return whether it did."""
        found = self.is_word(word) and self.tokens[self.next + 1].text == ":"
        self.next += 2 * found
        return found

    def take(self, *signs: str) -> bool:
        if self.is_sign(*signs):
            self.next += 1
            return True
        return False

    # -- complaints
    def error(self, message: str, token: Token, expected: str = "") -> InputError:
        return InputError.at(message, self.text, token.at, expected)

    def unexpected(self, expected: str, after: Token | None = None) -> NoReturn:
        token = self.token
        if after is not None:
            here = self.error("", after)
            expected += f" (the {quoted(after.text)} of line {here.line}, column {here.column} is open)"
        if token.kind == "end":
            early = f"the {self.unit} ends too early" if self.text.strip() else "there is no text"
            raise self.error(early, token, expected)
        what = "stray character" if token.kind == "stray" else "unexpected"
        raise self.error(f"{what} {quoted(token.text)}", token, expected)

    def expect(self, sign: str, after: Token | None = None) -> Token:
        if not self.is_sign(sign):
            self.unexpected(f"`{sign}`", after)
        return self.advance()

    def end(self, expected: str) -> None:
        if self.token.kind != "end":
            self.unexpected(expected)

    def listed(
        self, left: str, right: str, item: Callable[[Token], T], separator: str, after_comma: str = ""
    ) -> list[T]:
        """Read a bracketed list with commas; ``item`` reads one item and is passed the opening bracket.

        ``separator`` says what may follow an item, ``after_comma`` what must follow a comma.  Where ``after_comma`` is
        empty, a trailing comma is allowed.
        """
        opener = self.expect(left)
        out: list[T] = []
        while not self.is_sign(right):
            out.append(item(opener))
            if not self.take(","):
                if not self.is_sign(right):
                    self.unexpected(separator, opener)
            elif after_comma and self.is_sign(right):
                self.unexpected(after_comma, opener)
        self.advance()
        return out

    def names(self, left: str, right: str, seen: set[str], after_comma: str = "") -> list[Token]:
        """Read names in brackets, such as ``(d0, d1)``; ``seen`` collects them."""

        def name(opener: Token) -> Token:
            token = self.token
            if token.kind != "name":
                last = after_comma and self.tokens[self.next - 1] is not opener
                self.unexpected(after_comma if last else f"a variable name or `{right}`", opener)
            if token.text in self.reserved:
                raise self.error(f"{quoted(token.text)} is an operator", token, "a variable name")
            if token.text in seen:
                raise self.error(f"duplicate variable {quoted(token.text)}", token, "a name that is not used yet")
            seen.add(token.text)
            return self.advance()

        return self.listed(left, right, name, f"`,` or `{right}`", after_comma)

    def bound(self) -> int:
        negative = self.take("-")
        if self.token.kind != "number":
            self.unexpected("an integer bound")
        value = self.number(self.advance())
        return -value if negative else value

    def is_in(self) -> bool:
        return self.is_word("in") or self.is_sign("∈")

    def interval(self, end: Callable[[], T]) -> tuple[T, T]:
        """Read ``in [lo, hi]``."""
        self.advance()
        opener = self.expect("[")
        lo = end()
        self.expect(",", opener)
        hi = end()
        self.expect("]", opener)
        return lo, hi


class ExprReader(WordReader):
    """A reader of expressions, the base of readers for larger notations."""

    divisions: ClassVar[Mapping[str, Callable[[Expr, Expr], Expr]]] = _DIVISIONS
    functions: ClassVar[frozenset[str]] = frozenset({"min", "max", "ceildiv"})

    def __init__(self, text: str, quasi_affine: bool) -> None:
        super().__init__(text)
        self.quasi_affine = quasi_affine
        self.tokenize(1 if text.startswith("\ufeff") else 0, len(text))

    # -- expressions
    def expression(self, scope: Mapping[str, Expr] | None) -> Expr:
        """Read one expression; stop before the first word that cannot continue it."""
        frames = [_Frame()]
        while True:
            frame = frames[-1]
            token = self.token
            if frame.start is None:
                frame.start = token
            if self.take("-"):
                frame.negative = not frame.negative
                continue
            if self.take("("):
                frames.append(_Frame(token))
                continue
            if token.kind == "name" and token.text in self.functions:
                self.advance()
                self.expect("(")
                frames.append(_Frame(token, token.text))
                continue
            value: Operand = self._primary(scope)
            while True:
                self._operand(frame, value)
                if self.is_sign("*") or self.token.text in self.divisions:
                    frame.operator = self.advance()
                    break
                if self.is_sign("+", "-"):
                    frame.flush()
                    frame.sign = 1 if self.advance().text == "+" else -1
                    break
                if frame.opener is None:
                    return frame.total()
                if frame.function and self.take(","):
                    frame.args.append(frame.total())
                    break
                if not self.is_sign(")"):
                    self.unexpected("an operator, `,` or `)`" if frame.function else "an operator or `)`", frame.opener)
                if frame.function:
                    frame.args.append(frame.total())
                self.advance()
                value = self._close(frame) if frame.function else frame.summed()
                frames.pop()
                frame = frames[-1]

    def _primary(self, scope: Mapping[str, Expr] | None) -> Expr:
        token = self.token
        if token.kind == "number":
            self.advance()
            value: Expr = integer(self.number(token))
            name = self.token
            if name.kind == "name" and name.at == token.at + len(token.text) and name.text not in self.reserved:
                value = mul(value, self._variable(scope))
            return value
        if token.kind == "name" and token.text not in self.reserved:
            return self._variable(scope)
        self.unexpected(_AN_EXPRESSION)

    def _variable(self, scope: Mapping[str, Expr] | None) -> Expr:
        token = self.advance()
        if scope is None:
            return var(token.text)
        found = scope.get(token.text)
        if found is None:
            raise self.error(f"unknown variable {quoted(token.text)}", token, known_names(scope))
        return found

    def _operand(self, frame: _Frame, value: Operand) -> None:
        """Combine ``value`` with the product being read."""
        if frame.negative:
            value = OpenSum([(value, -1)])
        start, operator = frame.start, frame.operator
        frame.negative, frame.start, frame.operator = False, None, None
        if operator is None or frame.product is None or start is None:
            frame.product = value
            return
        a, b = closed(frame.product), closed(value)
        if operator.text == "*":
            if self.quasi_affine and type(a) is not Int and type(b) is not Int:
                raise self.error("a product of two variables is not quasi-affine", operator, "a constant factor")
            frame.product = mul(a, b)
        else:
            frame.product = self._divide(operator.text, a, b, start)

    def _divide(self, operator: str, a: Expr, b: Expr, at: Token) -> Expr:
        if type(b) is Int:
            if b.value == 0:
                raise self.error("division by zero", at, "a divisor other than 0")
        elif self.quasi_affine:
            raise self.error("the divisor is not a constant: an indexing map is quasi-affine", at, "an integer")
        return self.divisions[operator](a, b)

    def _close(self, frame: _Frame) -> Expr:
        """Return a function applied to its arguments."""
        opener = frame.opener
        assert opener is not None
        if frame.function != "ceildiv":
            return (minimum if frame.function == "min" else maximum)(*frame.args)
        if len(frame.args) != 2:
            raise self.error(f"`ceildiv` has {len(frame.args)} arguments", opener, "`ceildiv(a, b)`")
        return self._divide("ceildiv", frame.args[0], frame.args[1], opener)

    def expressions(self, scope: Mapping[str, Expr], after_comma: str = "") -> list[Expr]:
        """Read a list of expressions, ``(e, e, …)``."""
        return self.listed("(", ")", lambda _: self.expression(scope), "an operator, `,` or `)`", after_comma)
