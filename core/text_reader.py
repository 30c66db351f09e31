"""Reading maps, expressions and conditions.

One iterative operator-precedence reader, so nesting of any depth is read.  Unary minus binds tightest, then
``* / // floordiv % mod ceildiv`` from left to right, then ``+`` and ``-``; ``100d0`` is a product.  Whatever
is wrong is an :class:`~indexproof.core.errors.InputError` at the character where the text stopped making
sense.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Final, NamedTuple, NoReturn, TypeVar

from .condition import Condition, Relation, all_of, compare, divides, within
from .errors import InputError, quoted
from .expr import (
    Expr,
    Int,
    Var,
    ceildiv,
    floordiv,
    integer,
    maximum,
    minimum,
    mod,
    mul,
    substitute_all,
    var,
)
from .indexing_map import (
    RESERVED,
    Constraint,
    IndexingMap,
    RuntimeSource,
    RuntimeVariable,
    Variable,
    known_names,
)
from .numerals import parse_int
from .open_sum import OpenSum, Operand, closed

__all__ = ["Frame", "Reader", "Token", "parse_condition", "parse_expr", "parse_map"]


class Token(NamedTuple):
    """A word of the text: kind ``number``, ``name``, ``sign``, ``hlo``, ``stray`` or ``end``."""

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
#: The relation that a sign stands for, and whether its sides change places.
_RELATIONS: Final[dict[str, tuple[Relation, bool]]] = {
    "<": ("<", False),
    "<=": ("<=", False),
    "≤": ("<=", False),
    ">": ("<", True),
    ">=": ("<=", True),
    "≥": ("<=", True),
    "==": ("==", False),
    "=": ("==", False),
    "!=": ("!=", False),
    "≠": ("!=", False),
}
T = TypeVar("T")
_AN_EXPRESSION: Final = "a variable, an integer, `-`, `(`, `min(` or `max(`"


@dataclass(slots=True)
class Frame:
    """One bracket level of an expression: finished summands, and the product being read."""

    opener: Token | None = None
    function: str = ""
    args: list[Expr] = field(default_factory=list)
    terms: list[tuple[Operand, int]] = field(default_factory=list)
    sign: int = 1
    product: Operand | None = None
    operator: Token | None = None
    negative: bool = False
    start: Token | None = None  # of the operand that comes next, with its minus signs

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


class Reader:
    """Words, complaints and expressions of one text; other notations derive their readers from it."""

    #: The words of the notation, each in a group named after its kind.
    words: ClassVar = _TOKEN
    divisions: ClassVar[Mapping[str, Callable[[Expr, Expr], Expr]]] = _DIVISIONS
    functions: ClassVar[frozenset[str]] = frozenset({"min", "max", "ceildiv"})

    def __init__(self, text: str, first_line: int, first_column: int, quasi_affine: bool) -> None:
        if not isinstance(text, str):
            raise InputError(f"expected text, not {type(text).__name__}")
        self.text = text
        self.first = (first_line, first_column)
        self.quasi_affine = quasi_affine
        found = self.words.finditer(text, 1 if text.startswith("\ufeff") else 0)
        self.tokens = [Token(m.lastgroup, m[0], m.start()) for m in found if m.lastgroup]
        self.tokens.append(Token("end", "", len(text)))
        self.next = 0

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
        """Take ``word:`` if it comes next."""
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
        line, column = self.first
        return InputError.at(message, self.text, token.at, expected, first_line=line, first_column=column)

    def unexpected(self, expected: str, after: Token | None = None) -> NoReturn:
        token = self.token
        if after is not None:
            here = self.error("", after)
            expected += f" (the {quoted(after.text)} of line {here.line}, column {here.column} is open)"
        if token.kind == "end":
            raise self.error(
                "the text ends too early" if self.text.strip() else "there is no text", token, expected
            )
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
        """Items between brackets with commas between them; ``item`` is given the opening bracket.

        ``separator`` says what may follow an item, ``after_comma`` what must follow a comma; empty, the last item may
        have a comma too.
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

    # -- expressions
    def expression(self, scope: Mapping[str, Expr] | None) -> Expr:
        """One expression; stops before the first word that cannot continue it."""
        frames = [Frame()]
        while True:
            frame = frames[-1]
            token = self.token
            if frame.start is None:
                frame.start = token
            if self.take("-"):
                frame.negative = not frame.negative
                continue
            if self.take("("):
                frames.append(Frame(token))
                continue
            if self.is_word(*self.functions):
                self.advance()
                self.expect("(")
                frames.append(Frame(token, token.text))
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
                    if not self.is_sign(")"):
                        break
                elif not self.is_sign(")"):
                    self.unexpected(
                        "an operator, `,` or `)`" if frame.function else "an operator or `)`", frame.opener
                    )
                elif frame.function:
                    frame.args.append(frame.total())
                self.advance()
                value = self._close(frame) if frame.function else frame.summed()
                frames.pop()
                frame = frames[-1]

    def _primary(self, scope: Mapping[str, Expr] | None) -> Expr:
        token = self.token
        if token.kind == "number":
            self.advance()
            value: Expr = integer(parse_int(token.text))
            name = self.token
            if name.kind == "name" and name.at == token.at + len(token.text) and name.text not in RESERVED:
                value = mul(value, self._variable(scope))
            return value
        if token.kind == "name" and token.text not in RESERVED:
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

    def _operand(self, frame: Frame, value: Operand) -> None:
        """Take ``value`` into the product being read."""
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
                raise self.error(
                    "a product of two variables is not quasi-affine", operator, "a constant factor"
                )
            frame.product = mul(a, b)
        else:
            frame.product = self._divide(operator.text, a, b, start)

    def _divide(self, operator: str, a: Expr, b: Expr, at: Token) -> Expr:
        if type(b) is Int:
            if b.value == 0:
                raise self.error("division by zero", at, "a divisor other than 0")
        elif self.quasi_affine:
            raise self.error(
                "the divisor is not a constant: an indexing map is quasi-affine", at, "an integer"
            )
        return self.divisions[operator](a, b)

    def _close(self, frame: Frame) -> Expr:
        """What the arguments of a function make."""
        opener = frame.opener
        assert opener is not None
        if frame.function != "ceildiv":
            return (minimum if frame.function == "min" else maximum)(*frame.args)
        if len(frame.args) != 2:
            raise self.error(f"`ceildiv` has {len(frame.args)} arguments", opener, "`ceildiv(a, b)`")
        return self._divide("ceildiv", frame.args[0], frame.args[1], opener)

    def expressions(self, scope: Mapping[str, Expr], after_comma: str = "") -> list[Expr]:
        """``(e, e, …)``."""
        return self.listed("(", ")", lambda _: self.expression(scope), "an operator, `,` or `)`", after_comma)

    # -- maps
    def names(self, left: str, right: str, seen: set[str]) -> list[Token]:
        """``(d0, d1)`` with the given brackets; ``seen`` collects the names."""

        def name(opener: Token) -> Token:
            token = self.token
            if token.kind != "name":
                self.unexpected(f"a variable name or `{right}`", opener)
            if token.text in RESERVED:
                raise self.error(f"{quoted(token.text)} is an operator", token, "a variable name")
            if token.text in seen:
                raise self.error(
                    f"duplicate variable {quoted(token.text)}", token, "a name that is not used yet"
                )
            seen.add(token.text)
            return self.advance()

        return self.listed(left, right, name, f"`,` or `{right}`")

    def head(self) -> _Head:
        """``(dims)[ranges]{rts} -> (results)``."""
        seen: set[str] = set()
        at = self.token
        dims = self.names("(", ")", seen)
        ranges = self.names("[", "]", seen) if self.is_sign("[") else []
        rts = self.names("{", "}", seen) if self.is_sign("{") else []
        if not self.is_sign("->"):
            self.unexpected("`->`" if rts else "`{` or `->`" if ranges else "`[`, `{` or `->`")
        self.advance()
        scope: dict[str, Expr] = {name: var(name) for name in (t.text for t in (*dims, *ranges, *rts))}
        return _Head(at, dims, ranges, rts, scope, tuple(self.expressions(scope)))

    def bound(self) -> int:
        negative = self.take("-")
        if self.token.kind != "number":
            self.unexpected("an integer bound")
        value = parse_int(self.advance().text)
        return -value if negative else value

    def is_in(self) -> bool:
        return self.is_word("in") or self.is_sign("∈")

    def interval(self, end: Callable[[], T]) -> tuple[T, T]:
        """``in [lo, hi]``."""
        self.advance()
        opener = self.expect("[")
        lo = end()
        self.expect(",", opener)
        hi = end()
        self.expect("]", opener)
        return lo, hi

    def map(self, defaults: Mapping[str, tuple[int, int]]) -> IndexingMap:
        head = self.head()
        scope = head.scope
        bounds: dict[str, tuple[int, int]] = {}
        sources: dict[str, _Provenance] = {}
        constraints: list[Constraint] = []
        dims = {t.text for t in head.dims}
        self.take(",")
        self.took_label("domain")
        while self.token.kind != "end":
            if self.took_label("is_simplified"):
                if not self.is_word("true", "false"):
                    self.unexpected("`true` or `false`")
                self.advance()
                self.take(",")
                self.end("the end of the map")
                break
            if self.token.kind == "hlo":
                raise self.error(
                    "an `hlo:` line that belongs to no variable", self.token, "`VARIABLE in [lo, hi]`"
                )
            token = self.token
            following = self.tokens[min(self.next + 1, len(self.tokens) - 1)]
            bare = token.kind == "name" and following.text in ("in", "∈")
            if bare and token.text not in scope and token.text not in RESERVED:
                message = f"bounds for {quoted(token.text)}, which is not a variable of this map"
                raise self.error(message, token, known_names(scope))
            e = self.expression(scope)
            if not self.is_in():
                self.unexpected("an operator or `in [lo, hi]`")
            lo, hi = self.interval(self.bound)
            # the first interval of a variable is its box; a further one is a constraint like any other
            if isinstance(e, Var) and bare and e.name not in bounds:
                bounds[e.name] = (lo, hi)
            else:
                constraints.append(Constraint(e, lo, hi))
            self.take(",")
            if self.token.kind == "hlo":
                if not bare or token.text in dims or token.text in sources:
                    raise self.error(
                        "only a range or runtime variable has a source, and only one",
                        self.token,
                        "a domain entry",
                    )
                sources[token.text] = self.provenance()
                self.take(",")
        return self._build(head, {**defaults, **bounds}, sources, constraints)

    def provenance(self) -> _Provenance:
        """An ``hlo:`` line and the map to the element that is read."""
        token = self.advance()
        text = token.text.partition(":")[2].strip()
        if not text:
            raise self.error("an empty `hlo:` line", token, "the text of an HLO instruction")
        return _Provenance(token, text, self.head())

    def _build(
        self,
        head: _Head,
        bounds: Mapping[str, tuple[int, int]],
        sources: Mapping[str, _Provenance],
        constraints: list[Constraint],
    ) -> IndexingMap:
        for token in (*head.dims, *head.ranges, *head.rts):
            if token.text not in bounds:
                raise self.error(
                    f"the variable {quoted(token.text)} has no bounds",
                    token,
                    f"`{token.text} in [lo, hi]` in the domain",
                )
        # a symbol with a source is a runtime variable, whichever brackets the notation of its day put it in
        ranges = [t for t in head.ranges if t.text not in sources]
        rts = [t for t in head.ranges if t.text in sources] + head.rts
        runtime: list[RuntimeVariable] = []
        for token in rts:
            found = sources.get(token.text)
            source = None
            if found is not None:
                source = RuntimeSource(found.hlo, self._resolve(found.head, head.dims, ranges, rts))
            runtime.append(RuntimeVariable(token.text, *bounds[token.text], source))
        try:
            return IndexingMap(
                tuple(Variable(t.text, *bounds[t.text]) for t in head.dims),
                tuple(Variable(t.text, *bounds[t.text]) for t in ranges),
                tuple(runtime),
                head.results,
                tuple(constraints),
            )
        except InputError as error:
            raise self.error(error.message, head.at, error.expected) from None

    def _resolve(
        self, inner: _Head, dims: Sequence[Token], ranges: Sequence[Token], rts: Sequence[Token]
    ) -> tuple[Expr, ...]:
        """The results of a source's map over the variables of the map itself, which it names by position."""
        names: dict[Expr, Expr] = {}
        for what, local, own in (
            ("dimension", inner.dims, dims),
            ("range", inner.ranges, ranges),
            ("runtime", inner.rts, rts),
        ):
            if len(local) != len(own) and (local or what == "dimension"):
                raise self.error(
                    f"the map of the source has {len(local)} {what} variables",
                    inner.at,
                    f"{len(own)} as in the map itself",
                )
            names.update((var(a.text), var(b.text)) for a, b in zip(local, own, strict=False))
        return tuple(substitute_all(inner.results, names))

    # -- conditions
    def conditions(self, scope: Mapping[str, Expr] | None) -> Condition:
        """Relations joined by ``and`` or commas."""
        out: list[Condition] = []
        while True:
            left = self.expression(scope)
            if self.is_in():
                out.append(within(left, *self.interval(lambda: self.expression(scope))))
            elif self.is_word("divides") or self.is_sign("∣"):
                self.advance()
                out.append(divides(left, self.expression(scope)))
            elif self.token.text in _RELATIONS:
                while self.token.text in _RELATIONS:
                    relation, exchanged = _RELATIONS[self.advance().text]
                    right = self.expression(scope)
                    out.append(compare(relation, *((right, left) if exchanged else (left, right))))
                    left = right
            else:
                self.unexpected("an operator, `in [lo, hi]`, `divides` or one of < <= == != >= >")
            if not self.is_word("and") and not self.is_sign(","):
                return all_of(out)
            self.advance()


class _Head(NamedTuple):
    at: Token
    dims: list[Token]
    ranges: list[Token]
    rts: list[Token]
    scope: dict[str, Expr]
    results: tuple[Expr, ...]


class _Provenance(NamedTuple):
    at: Token
    hlo: str
    head: _Head


def _scope(variables: Mapping[str, Expr] | Iterable[str | Var] | None) -> Mapping[str, Expr] | None:
    if variables is None or isinstance(variables, Mapping):
        return variables
    return {v if isinstance(v, str) else v.name: var(v) if isinstance(v, str) else v for v in variables}


def parse_map(
    text: str,
    *,
    bounds: Mapping[str, tuple[int, int]] | None = None,
    first_line: int = 1,
    first_column: int = 1,
) -> IndexingMap:
    """The map that ``text`` denotes, in any of the published spellings.

    ``bounds`` gives boxes of variables that the text leaves without; the place of the first character is used
    in error messages.  Raises :class:`~indexproof.core.errors.InputError` and nothing else.
    """
    return Reader(text, first_line, first_column, quasi_affine=True).map(bounds or {})


def parse_expr(
    text: str,
    variables: Mapping[str, Expr] | Iterable[str | Var] | None = None,
    *,
    quasi_affine: bool = False,
    first_line: int = 1,
    first_column: int = 1,
) -> Expr:
    """One expression over ``variables`` (names, variables, or what each name stands for); by default over any
    name.

    Unless ``quasi_affine``, products of variables and symbolic divisors are allowed.  Raises
    :class:`~indexproof.core.errors.InputError` and nothing else.
    """
    reader = Reader(text, first_line, first_column, quasi_affine)
    e = reader.expression(_scope(variables))
    reader.end("an operator or the end of the text")
    return e


def parse_condition(
    text: str,
    variables: Mapping[str, Expr] | Iterable[str | Var] | None = None,
    *,
    first_line: int = 1,
    first_column: int = 1,
) -> Condition:
    """A condition: ``e in [lo, hi]``, ``a < b <= c``, ``d divides e``, joined by ``and`` or commas.

    Raises :class:`~indexproof.core.errors.InputError` and nothing else.
    """
    reader = Reader(text, first_line, first_column, quasi_affine=False)
    c = reader.conditions(_scope(variables))
    reader.end("`and`, `,` or the end of the text")
    return c
