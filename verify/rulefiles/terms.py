"""Terms of stated rules, over integers and truth values; they are untyped when read and typed once checked.

A :class:`Term` is one operator applied to terms.  ``OPERATORS`` defines the whole language: the sorts of arguments and
result of each operator, and its text form.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

from ...core.expr import postorder
from ...core.numerals import format_int

Sort = Literal["int", "bool"]
INT: Sort = "int"
BOOL: Sort = "bool"


@dataclass(frozen=True)
class Kind:
    """The kind of a variable: any integer, a constant of the rule, a truth value, or a range of integers."""

    name: Literal["int", "const", "bool"]
    lo: int | None = None
    hi: int | None = None

    @property
    def sort(self) -> Sort:
        """The sort of its values."""
        return BOOL if self.name == "bool" else INT


@dataclass(frozen=True)
class Operator:
    """The sorts of arguments and result of an operator, where ``""`` is one sort shared by all places so marked.

    ``most`` is the maximal number of arguments, 0 for any number from two on.  ``text`` is its name in the text form
    (``infix`` between its arguments), ``level`` its precedence.
    """

    args: tuple[Sort | Literal[""], ...]
    result: Sort | Literal[""]
    text: str
    level: int
    most: int
    infix: bool = False

    def sort_of(self, k: int) -> Sort | Literal[""]:
        """Return the sort of argument number ``k``."""
        return self.args[min(k, len(self.args) - 1)]


_OR, _AND, _NOT, _RELATION, _SUM, _PRODUCT, _MINUS, _CALL = range(1, 9)


def _infix(sort: Sort | Literal[""], result: Sort, text: str, level: int, most: int = 2) -> Operator:
    return Operator((sort, sort), result, text, level, most, infix=True)


def _call(args: Sequence[Sort | Literal[""]], result: Sort | Literal[""], text: str) -> Operator:
    return Operator(tuple(args), result, text, _CALL, len(args))


#: The operators by their name in the JSON form.
OPERATORS: dict[str, Operator] = {
    "add": _infix(INT, INT, "+", _SUM, 0),
    "sub": _infix(INT, INT, "-", _SUM),
    "neg": Operator((INT,), INT, "-", _MINUS, 1),
    "mul": _infix(INT, INT, "*", _PRODUCT, 0),
    "fdiv": _infix(INT, INT, "/", _PRODUCT),
    "mod": _infix(INT, INT, "%", _PRODUCT),
    "cdiv": _call((INT, INT), INT, "ceildiv"),
    "floordiv": _call((INT, INT), INT, "floordiv"),
    "floormod": _call((INT, INT), INT, "floormod"),
    "truncdiv": _call((INT, INT), INT, "truncdiv"),
    "truncmod": _call((INT, INT), INT, "truncmod"),
    "eucliddiv": _call((INT, INT), INT, "eucliddiv"),
    "euclidmod": _call((INT, INT), INT, "euclidmod"),
    "min": Operator((INT, INT), INT, "min", _CALL, 0),
    "max": Operator((INT, INT), INT, "max", _CALL, 0),
    "wrap": _call((INT,), INT, "wrap"),
    "lt": _infix(INT, BOOL, "<", _RELATION),
    "le": _infix(INT, BOOL, "<=", _RELATION),
    "gt": _infix(INT, BOOL, ">", _RELATION),
    "ge": _infix(INT, BOOL, ">=", _RELATION),
    "eq": _infix("", BOOL, "==", _RELATION),
    "ne": _infix("", BOOL, "!=", _RELATION),
    "within": Operator((INT, INT, INT), BOOL, "in", _RELATION, 3),
    "divides": _call((INT, INT), BOOL, "divides"),
    "and": _infix(BOOL, BOOL, "and", _AND, 0),
    "or": _infix(BOOL, BOOL, "or", _OR, 0),
    "not": Operator((BOOL,), BOOL, "not", _NOT, 1),
    "select": _call((BOOL, "", ""), "", "select"),
    "fold": _call(("",), "", "fold"),
}

#: The operators whose second argument is a divisor.
DIVISIONS = frozenset(op for op in OPERATORS if op in ("mod", "cdiv") or op.endswith(("div", "mod")))


class Term:
    """An ``op`` applied to ``args``; a literal has the op ``int`` or ``bool``, a variable ``var``, and a ``value``.

    In a checked rule, a variable for truth values has the op ``flag``.

    ``at`` is the offset in the text it was read from.  Terms are compared by identity.
    """

    __slots__ = ("args", "at", "op", "value")

    def __init__(self, op: str, args: tuple[Term, ...] = (), value: int | str | bool = 0, at: int = -1) -> None:
        self.op = op
        self.args = args
        self.value = value
        self.at = at

    @property
    def children(self) -> tuple[Term, ...]:
        """The arguments, under the name that core expressions use."""
        return self.args

    @property
    def name(self) -> str:
        """The name of a variable."""
        return str(self.value)

    def __repr__(self) -> str:
        return f"Term({show(self)})"


def below(*roots: Term) -> list[Term]:
    """Return every term below ``roots`` once, arguments first, iteratively."""
    found: list[Term] = cast(Any, postorder)(*roots)
    return found


def evaluated(*roots: Term) -> list[Term]:
    """Return the terms that every evaluation of the roots evaluates: no sides of selections, no parts of connectives."""
    seen: set[int] = set()
    out: list[Term] = []
    todo = list(roots)
    while todo:
        t = todo.pop()
        if id(t) in seen:
            continue
        seen.add(id(t))
        out.append(t)
        match t.op:
            case "and" | "or":
                continue
            case "select":
                todo.append(t.args[0])
            case _:
                todo += t.args
    return out


def alike(terms: Iterable[Term]) -> dict[int, int]:
    """Return a number for each term, by ``id``, equal for structurally equal terms; arguments must come first."""
    numbers: dict[tuple[object, ...], int] = {}
    number: dict[int, int] = {}
    for t in terms:
        key = (t.op, t.value, type(t.value), *(number[id(a)] for a in t.args))
        number[id(t)] = numbers.setdefault(key, len(numbers))
    return number


#: Limits on the subterms that are shown, and on their characters; at least one is shown.
_SHOWN = 64
_CHARACTERS = 20_000


def subterms(root: Term) -> list[Term]:
    """Return the compound subterms to show, each once, arguments first; if there are many, the outermost."""
    worth = [t for t in below(root) if t.args and t.op != "fold" and not (t.op == "neg" and not t.args[0].args)]
    texts: dict[str, None] = {}
    shown: list[tuple[str, Term]] = []
    for t in reversed(worth):
        text = show(t)
        shown.append((text, t))
        texts[text] = None
        if len(texts) == _SHOWN or sum(map(len, texts)) > _CHARACTERS:
            break
    found: dict[str, Term] = {}
    for text, t in reversed(shown):
        found.setdefault(text, t)
    return list(found.values()) or [root]


def show(root: Term) -> str:
    """Return the term in the text form; reading it gives the same term."""
    done: dict[int, tuple[str, int]] = {}

    def at(t: Term, least: int) -> str:
        text, level = done[id(t)]
        return text if level >= least else f"({text})"

    for t in below(root):
        done[id(t)] = _text(t, at)
    return done[id(root)][0]


def _text(t: Term, at: Callable[[Term, int], str]) -> tuple[str, int]:
    if t.op in ("var", "flag"):
        return t.name, _CALL
    if t.op == "bool":
        return ("true" if t.value else "false"), _CALL
    if t.op == "int":
        return format_int(int(t.value)), _CALL if int(t.value) >= 0 else _MINUS
    o = OPERATORS[t.op]
    args = t.args
    if o.infix:
        # relations do not chain, so both of their sides need a higher level; other operators associate to the left
        left = o.level if o.level != _RELATION else o.level + 1
        parts = [at(args[0], left), *(at(a, o.level + 1) for a in args[1:])]
        return f" {o.text} ".join(parts), o.level
    match t.op:
        case "within":
            return f"{at(args[0], _SUM)} in [{at(args[1], 0)}, {at(args[2], 0)}]", _RELATION
        case "neg":
            # parentheses keep the negation of a literal apart from a negative literal
            literal = args[0].op == "int"
            return "-" + (f"({at(args[0], 0)})" if literal else at(args[0], _MINUS)), _MINUS
        case "not":
            return f"not {at(args[0], _NOT)}", _NOT
    return f"{o.text}({', '.join(at(a, 0) for a in args)})", _CALL
