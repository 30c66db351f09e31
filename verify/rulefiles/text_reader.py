"""Reads rule files in their text form; reports/rule_files.md gives the grammar.

The operator-precedence parser is iterative, so nesting of any depth is read.  Nothing in a file is executed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from ...core.errors import InputError, quoted
from ...core.expr_reader import Token, WordReader
from .rule import EXPECTED, StatedRule, checked
from .semantics import OVERFLOWS, ROUNDINGS, Overflow, Rounding, Semantics, overflow_of, rounding_of, width_of
from .terms import OPERATORS, Kind, Term

#: Words that cannot name variables.
RESERVED: Final = frozenset(
    {"and", "or", "not", "in", "if", "true", "false"} | {o.text for o in OPERATORS.values() if o.text.isalpha()}
)
_STATEMENTS: Final = (
    "`NAME: LEFT -> RIGHT if CONDITIONS`, `int`, `const` or `bool` with names, `semantics …`, `integers …`,"
    " `expect …` or an indented line"
)

_TOKEN: Final = re.compile(
    r"""\s+ | \#[^\n]*
    | (?P<name> [A-Za-z_][A-Za-z0-9_]* )
    | (?P<number> [0-9]+ )
    | (?P<sign> -> | <= | >= | == | != | && | \|\| | [][(),:+*/%<>!-] )
    | (?P<stray> . )
    """,
    re.VERBOSE | re.DOTALL,
)
_RULE: Final = re.compile(r'(?P<name>[A-Za-z_][\w.\-]*|"(?:[^"\\\n]|\\["\\])+")[ \t]*:', re.ASCII)
_WORD: Final = re.compile(r"[A-Za-z_]+")
_LINE: Final = re.compile(r"(?P<indent>[^\S\n]*)(?P<said>[^#\n]*)[^\n]*(?:\n|\Z)")

#: Operator names by their symbols in the text form.
_INFIX: Final[dict[str, str]] = {o.text: op for op, o in OPERATORS.items() if o.infix} | {"&&": "and", "||": "or"}
_CALLS: Final[dict[str, str]] = {
    o.text: op for op, o in OPERATORS.items() if not o.infix and op not in ("neg", "not", "within")
}
_PREFIX: Final[dict[str, str]] = {"-": "neg", "not": "not", "!": "not"}
_RELATION: Final = OPERATORS["lt"].level


@dataclass(slots=True)
class _Pending:
    """A pending operator, or an open bracket (level 0) with the arguments read so far.

    The ``op`` of a bracket is the function that it calls, empty for grouping.
    """

    op: str
    token: Token
    level: int
    args: list[Term] = field(default_factory=list)


def parse_rules(
    text: str, name: str = "<rules>", problems: list[InputError] | None = None, *, derived: bool = False
) -> list[StatedRule]:
    """Return the rules of a text.  Raises only :class:`InputError`, with a position in the text.

    If ``problems`` is given, the error of an ill-formed rule is appended to it, and the other rules are read.  An
    ill-formed declaration is always raised, since the meaning of what follows depends on it.  Rules ``derived`` from
    others may have variables on the right side alone.
    """
    return _Reader(text, name, problems, derived=derived).file()


class _Reader(WordReader):
    words = _TOKEN
    reserved = RESERVED
    unit = "statement"

    def __init__(self, text: str, name: str, problems: list[InputError] | None, *, derived: bool) -> None:
        super().__init__(text)
        self.name = name
        self.derived = derived
        self.problems = problems
        self.kinds: dict[str, Kind] = {}
        self.semantics = Semantics()
        self.rules: list[StatedRule] = []
        self.lines: dict[str, int] = {}
        #: Index of the last rule, or the one that it would have if well-formed; ``None`` if nothing can be expected.
        self.above: int | None = None

    # -- complaints
    def wrong(self, message: str, at: int, expected: str = "") -> InputError:
        return self.error(message, Token("", "", at), expected)

    def complain(self, t: Term, message: str, expected: str) -> InputError:
        return self.wrong(message, t.at, expected)

    # -- statements
    def file(self) -> list[StatedRule]:
        for start, end in self.statements():
            self.statement(start, end)
        if not self.rules and not self.problems:
            raise self.wrong("the file states no rule", len(self.text), "`NAME: LEFT -> RIGHT if CONDITIONS`")
        return self.rules

    def statements(self) -> Iterator[tuple[int, int]]:
        """Yield the beginning and end of each statement; indented lines continue the statement above."""
        start = end = -1
        for line in _LINE.finditer(self.text, 1 if self.text.startswith("\ufeff") else 0):
            if not line["said"]:
                continue
            if not line["indent"]:
                if start >= 0:
                    yield start, end
                start = line.start("said")
            elif start < 0:
                raise self.wrong("an indented line that continues nothing", line.start("said"), _STATEMENTS)
            end = line.start("said") + len(line["said"].rstrip())
        if start >= 0:
            yield start, end

    def statement(self, start: int, end: int) -> None:
        rule = _RULE.match(self.text, start, end)
        if rule is not None:
            self.above = len(self.rules)
            try:
                self.tokenize(rule.end(), end)
                return self.rule(rule["name"], start)
            except InputError as error:
                if self.problems is None:
                    raise
                return self.problems.append(error)
        word = _WORD.match(self.text, start, end)
        keyword = word[0] if word is not None else ""
        self.tokenize(start + len(keyword), end)
        match keyword:
            case "int" | "const" | "bool":
                self.declaration(keyword)
            case "semantics":
                self.division()
            case "integers":
                self.integers()
            case "expect":
                self.expectation(start)
            case _:
                self.tokenize(start, end)
                try:
                    self.unexpected(_STATEMENTS)
                except InputError as error:
                    if self.problems is None or "->" not in self.text[start:end]:
                        raise
                    # with an arrow it is an ill-formed rule, on which nothing else depends
                    self.above = len(self.rules)
                    return self.problems.append(error)
        if self.token.kind != "end":
            self.unexpected("the end of the statement")

    def took(self, word: str) -> bool:
        """Take a word if it comes next."""
        found = self.is_word(word)
        self.next += found
        return found

    def declaration(self, keyword: str) -> None:
        names: list[Token] = []
        while True:
            token = self.token
            if token.kind != "name":
                self.unexpected("the name of a variable")
            if token.text in RESERVED:
                raise self.error(f"{quoted(token.text)} is a word of the language", token, "another name")
            names.append(token)
            self.next += 1
            if not self.take(","):
                break
        kind = Kind(keyword)  # type: ignore[arg-type]
        if keyword != "bool" and self.is_in():
            at = self.tokens[self.next + 1]
            lo, hi = self.interval(self.bound)
            if lo > hi:
                raise self.error(f"no integer lies in [{lo}, {hi}]", at, "the smaller bound first")
            kind = Kind(kind.name, lo, hi)
        for token in names:
            self.kinds.pop(token.text, None)
            self.kinds[token.text] = kind

    def rounding(self) -> Rounding:
        token = self.token
        if token.kind == "end":
            self.unexpected(", ".join(f"`{r}`" for r in ROUNDINGS))
        self.next += 1
        return self.told(rounding_of, token.text, token)

    def division(self) -> None:
        if self.took("quotient"):
            quotient = self.rounding()
            if not self.took("remainder"):
                self.unexpected("`remainder`")
            remainder = self.rounding()
        else:
            quotient = remainder = self.rounding()
        self.semantics = replace(self.semantics, quotient=quotient, remainder=remainder)

    def integers(self) -> None:
        old = self.semantics
        if self.took("unbounded"):
            self.semantics = Semantics(old.quotient, old.remainder)
            return
        token = self.token
        if token.kind != "number":
            self.unexpected("`unbounded`, or a number of bits as in `32 bits wrap`")
        width = self.told(width_of, self.number(token), token)
        self.next += 1
        if not self.took("bits"):
            self.unexpected("`bits`")
        overflow: Overflow = "wrap"
        if self.token.kind != "end":
            if self.token.text not in OVERFLOWS:
                self.unexpected("`wrap`, `nowrap` or `undefined`")
            overflow = overflow_of(self.token.text)
            self.next += 1
        self.semantics = Semantics(old.quotient, old.remainder, width, overflow)

    def expectation(self, at: int) -> None:
        """Read the verdict that is expected of the rule above."""
        if self.above is None:
            raise self.wrong("there is no rule above that this is expected of", at, "a rule, and one such line")
        token = self.token
        expected = next((e for e in EXPECTED if e == token.text), None)
        if expected is None:
            self.unexpected("`PROVED` or `REFUTED`")
        self.next += 1
        self.rules[self.above :] = [replace(r, expected=expected) for r in self.rules[self.above :]]
        self.above = None

    def rule(self, label: str, at: int) -> None:
        name = re.sub(r"\\(.)", r"\1", label[1:-1]) if label.startswith('"') else label
        line = self.text.count("\n", 0, at) + 1
        if not name.isprintable():
            raise self.wrong(f"the name {quoted(name)} cannot be printed", at, "printable characters")
        if name in self.lines:
            raise self.wrong(
                f"another rule is called {quoted(name)}, in line {self.lines[name]}", at, "a name of its own"
            )
        self.lines[name] = line
        left = self.expression()
        if not self.take("->"):
            self.unexpected("an operator or `->`")
        right = self.expression()
        conditions: list[Term] = []
        if self.took("if"):
            conditions.append(self.expression())
            while self.take(","):
                conditions.append(self.expression())
        if self.token.kind != "end":
            self.unexpected("an operator, " + ("`,`" if conditions else "`if`") + " or the next statement")
        where = f"{self.name}:{line}"
        found = StatedRule(name, left, right, tuple(conditions), self.kinds, self.semantics, where=where, line=line)
        self.rules.append(checked(found, self.complain, derived=self.derived))

    # -- expressions
    def expression(self) -> Term:
        """Read one expression, up to the first word that cannot continue it."""
        operands: list[Term] = []
        waiting: list[_Pending] = []
        while True:
            self.operand(operands, waiting)
            while True:  # operators, commas and closing brackets after an operand
                token = self.token
                op = _INFIX.get(token.text) if token.kind in ("sign", "name") else None
                if op is not None:
                    self.infix(op, token, operands, waiting)
                    break
                if token.kind == "name" and token.text == "in":
                    self.reduce(operands, waiting, _RELATION)
                    self.next += 1
                    waiting.append(_Pending("within", self.expect("["), 0, [operands.pop()]))
                    break
                self.reduce(operands, waiting, 1)
                if not waiting:
                    return operands.pop()
                if token.text == "," and _takes_more(waiting[-1]):
                    self.next += 1
                    waiting[-1].args.append(operands.pop())
                    break
                self.close(waiting.pop(), operands)

    def operand(self, operands: list[Term], waiting: list[_Pending]) -> None:
        """Read prefix operators and opening brackets, then a variable or a literal."""
        while True:
            token = self.token
            word = token.kind in ("sign", "name")
            if token.text == "-" and self.tokens[self.next + 1].kind == "number":
                # a minus before a number is part of the literal
                self.next += 1
                operands.append(Term("int", (), -self.number(self.token), token.at))
                break
            if word and token.text in _PREFIX:
                op = _PREFIX[token.text]
                waiting.append(_Pending(op, token, OPERATORS[op].level))
            elif word and token.text == "(":
                waiting.append(_Pending("", token, 0))
            elif word and token.text in _CALLS:
                self.next += 1
                if self.token.text != "(":
                    self.unexpected(f"`(` and the arguments of `{token.text}`")
                waiting.append(_Pending(_CALLS[token.text], token, 0))
            else:
                operands.append(self.primary())
                break
            self.next += 1
        self.next += 1

    def primary(self) -> Term:
        token = self.token
        if token.kind == "number":
            return Term("int", (), self.number(token), token.at)
        if token.kind == "name" and token.text in ("true", "false"):
            return Term("bool", (), token.text == "true", token.at)
        if token.kind == "name" and token.text not in RESERVED:
            if token.text not in self.kinds and self.tokens[self.next + 1].text == "(":
                known = ", ".join(f"`{c}`" for c in _CALLS)
                raise self.error(f"no function is called {quoted(token.text)}", token, f"one of {known}")
            return Term("var", (), token.text, token.at)
        self.unexpected("a variable, a number, `true`, `false`, `-`, `not`, `(` or a function")

    def infix(self, op: str, token: Token, operands: list[Term], waiting: list[_Pending]) -> None:
        level = OPERATORS[op].level
        before: list[Term] = []
        if level == _RELATION:
            # `a < b < c` is `a < b and b < c`
            self.reduce(operands, waiting, level + 1)
            if waiting and waiting[-1].level == level:
                middle = operands[-1]
                self.reduce(operands, waiting, level)
                before.append(operands.pop())
                operands.append(middle)
        else:
            self.reduce(operands, waiting, level)
        waiting.append(_Pending(op, token, level, before))
        self.next += 1

    def reduce(self, operands: list[Term], waiting: list[_Pending], level: int) -> None:
        """Apply the pending operators of at least this precedence ``level``."""
        while waiting and waiting[-1].level >= level:
            p = waiting.pop()
            last = operands.pop()
            if p.op in ("neg", "not"):
                operands.append(Term(p.op, (last,), at=p.token.at))
                continue
            made = Term(p.op, (operands.pop(), last), at=p.token.at)
            operands.append(Term("and", (p.args[0], made), at=p.token.at) if p.args else made)

    def close(self, opener: _Pending, operands: list[Term]) -> None:
        """Read the closing bracket of ``opener``, and apply its function."""
        sign = "]" if opener.op == "within" else ")"
        args = [*opener.args, operands.pop()]
        missing = opener.op and len(args) < max(OPERATORS[opener.op].most, len(OPERATORS[opener.op].args))
        if missing or not self.take(sign):
            self.unexpected(f"an operator or {'`,`' if missing else quoted(sign)}", opener.token)
        operands.append(applied(opener.op, args, opener.token.at) if opener.op else args[0])


def _takes_more(opener: _Pending) -> bool:
    """Return whether a comma may follow the argument just read."""
    if not opener.op:
        return False
    most = OPERATORS[opener.op].most
    return not most or len(opener.args) + 1 < most


def applied(op: str, args: Sequence[Term], at: int) -> Term:
    """Apply ``op`` to arguments; an operator of any number of arguments becomes nested pairs from the left."""
    if OPERATORS[op].most:
        return Term(op, tuple(args), at=at)
    total = args[0]
    for a in args[1:]:
        total = Term(op, (total, a), at=at)
    return total
