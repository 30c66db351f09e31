"""MLIR's affine maps and integer sets as text: ``affine_map<(d0)[s0] -> (d0 floordiv 4 + s0)>``.

Dimensions are the dimension variables of a map; symbols are its range variables, then its runtime variables.  An affine
map has no domain, so the domain is a separate ``affine_set`` over the same variables.  The written text is the one that
MLIR prints for it, unless MLIR simplifies it.  MLIR has no minimum and maximum, and its ``mod`` is undefined for a
modulus below one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple, TypeAlias

from ..bounded import Inequality
from ..errors import InputError, quoted
from ..expr import (
    CeilDiv,
    Expr,
    FloorDiv,
    Int,
    Max,
    Min,
    Mod,
    Sum,
    Var,
    ceildiv,
    floordiv,
    integer,
    mod,
    postorder,
    rebuild,
    substitute_all,
    var,
)
from ..expr_reader import ExprReader, Token
from ..indexing_map import IndexingMap, expect_map, known_names
from ..interval import INF
from ..text_printer import Order, Printer
from .foreign import ForeignMap, domain_of, from_foreign

_LARGEST: Final = 2**63 - 1  # MLIR reads no larger constant, not even after a minus sign


# --------------------------------------------------------------------------------------------------- writing
def to_mlir(m: IndexingMap) -> str:
    """Return the results of ``m`` as an ``affine_map``; :func:`to_mlir_set` writes its domain.

    Raises :class:`InputError` for a minimum or maximum and for constants beyond 64 bits.
    """
    expect_map(m)
    return f"affine_map<{_head(m)} -> ({', '.join(_texts(m, m.results))})>"


def to_mlir_set(m: IndexingMap) -> str:
    """Return the domain of ``m`` as an ``affine_set`` over the dimensions and symbols of :func:`to_mlir`."""
    expect_map(m)
    bounded = [(v.expr, v.lo, v.hi) for v in m.variables] + [(c.expr, c.lo, c.hi) for c in m.constraints]
    exprs: list[Expr] = []
    relations: list[str] = []
    for e, lo, hi in bounded:
        if lo == hi:
            exprs.append(e - lo)
            relations.append("==")
        else:
            exprs += [e - lo, hi - e]
            relations += [">=", ">="]
    facts = ", ".join(f"{e} {relation} 0" for e, relation in zip(_texts(m, exprs), relations, strict=True))
    return f"affine_set<{_head(m)} : ({facts or '0 == 0'})>"


def _head(m: IndexingMap) -> str:
    symbols = ", ".join(f"s{k}" for k in range(len(m.ranges) + len(m.rts)))
    dims = ", ".join(f"d{k}" for k in range(len(m.dims)))
    return f"({dims})[{symbols}]" if symbols else f"({dims})"


def _texts(m: IndexingMap, exprs: Sequence[Expr]) -> list[str]:
    dims: dict[Expr, Expr] = {v: var(f"d{k}") for k, v in enumerate(m.dim_vars)}
    symbols: dict[Expr, Expr] = {v: var(f"s{k}") for k, v in enumerate((*m.range_vars, *m.rt_vars))}
    roots = _affine(exprs, {**dims, **symbols})
    names = (*dims.values(), *symbols.values())
    order = Order(roots, {v: k for k, v in enumerate(names) if isinstance(v, Var)})
    _symbols_last(order, roots, set(symbols.values()))
    printer = Printer("floordiv", order)
    return [printer.text(e) for e in roots]


def _affine(roots: Sequence[Expr], names: Mapping[Expr, Expr]) -> list[Expr]:
    """Return ``roots`` in the variables and operators of MLIR."""
    done: dict[Expr, Expr] = dict(names)
    for node in postorder(*roots, known=names):
        children = [done[c] for c in node.children]
        new = rebuild(node, children)
        constants: list[int] = []
        match node:
            case Min() | Max():
                raise InputError(
                    f"MLIR's affine expressions have no `{type(node).__name__.lower()}`",
                    expected="sums, products with a constant, floordiv, ceildiv and mod",
                )
            case Int(value=n):
                constants = [n]
            case Sum():
                constants = [node.const, *(k for _, k in node.terms)]
            case Mod(b=Int(value=n)) | FloorDiv(b=Int(value=n)) | CeilDiv(b=Int(value=n)) if n < 0:
                # `mod` by a negative number is undefined in MLIR: x mod -n is -(-x mod n)
                new = rebuild(node, (-children[0], integer(-n)))
                new = -new if isinstance(node, Mod) else new
        if any(abs(n) > _LARGEST for n in constants):
            raise InputError("MLIR's affine expressions have constants of 64 bits", expected="smaller ones")
        done[node] = new
    return [done[r] for r in roots]


def _symbols_last(order: Order, roots: Sequence[Expr], symbols: set[Expr]) -> None:
    """Reorder sums as MLIR does: no summand over symbols alone precedes one that contains dimensions."""
    symbolic: dict[Expr, bool] = {}
    for node in postorder(*roots):
        children = node.children
        symbolic[node] = all(symbolic[c] for c in children) if children else node in symbols or type(node) is Int
        if isinstance(node, Sum):
            terms = order.terms[node]
            first = next((k for k, (t, _) in enumerate(terms) if not symbolic[t]), 0)
            order.terms[node] = [terms[first], *terms[:first], *terms[first + 1 :]]


# --------------------------------------------------------------------------------------------------- reading
_TOKEN: Final = re.compile(
    r"""\s+ | //[^\n]*
    | (?P<alias> \# [A-Za-z_][A-Za-z0-9_$.]* )
    | (?P<name> [A-Za-z_][A-Za-z0-9_$.]* )
    | (?P<number> 0x[0-9a-fA-F]+ | [0-9]+ )
    | (?P<sign> -> | <= | >= | == | [][(),:+*<>=\-] )
    | (?P<stray> . )
    """,
    re.VERBOSE | re.DOTALL,
)
_DIVISIONS: Final = {"floordiv": floordiv, "ceildiv": ceildiv, "mod": mod}


class _Head(NamedTuple):
    """The variables ``(d0, d1)[s0]``: the tokens of the names, and the expressions that they denote."""

    at: Token
    dims: list[Token]
    symbols: list[Token]
    scope: dict[str, Expr]


#: ``affine_map<HEAD -> (results)>``, or ``affine_set<HEAD : (relations)>``, whose results are ``None``.
_Attribute: TypeAlias = "tuple[_Head, list[Expr] | None, list[Inequality]]"


class _Affine(ExprReader):
    """A reader of MLIR's notation, which has its own words and no functions."""

    words = _TOKEN
    divisions = reserved = _DIVISIONS
    functions = frozenset()

    def _primary(self, scope: Mapping[str, Expr] | None) -> Expr:
        token = self.token
        if token.kind == "number":
            n = int(token.text, 16) if token.text.startswith("0x") else self.number(token)
            if n > _LARGEST:
                raise self.error("the constant is too large for an index", token, f"at most {_LARGEST}")
            self.advance()
            return integer(n)
        if token.kind == "name" and token.text not in self.reserved:
            return self._variable(scope)
        self.unexpected("a dimension, a symbol, an integer, `-` or `(`")

    def _divide(self, operator: str, a: Expr, b: Expr, at: Token) -> Expr:
        if operator == "mod" and isinstance(b, Int) and b.value < 0:
            raise self.error("`mod` by a negative number has no value in MLIR", at, "a positive modulus")
        return super()._divide(operator, a, b, at)

    # -- attributes
    def variables(self) -> _Head:
        at = self.token
        seen: set[str] = set()
        dims = self.names("(", ")", seen, "a variable name")
        symbols = self.names("[", "]", seen, "a variable name") if self.is_sign("[") else []
        # a separate kind, because MLIR allows more names than maps do
        return _Head(at, dims, symbols, {t.text: var(t.text, "mlir") for t in (*dims, *symbols)})

    def relation(self, opener: Token, scope: Mapping[str, Expr]) -> Inequality:
        left = self.expression(scope)
        if not self.is_sign(">=", "<=", "=="):
            self.unexpected("an operator, `>=`, `<=` or `==`", opener)
        sign = self.advance().text
        right = self.expression(scope)
        return right - left if sign == "<=" else left - right, 0, 0 if sign == "==" else INF

    def attribute(self, *words: str) -> _Attribute:
        """Read a map or a set, as ``words`` allow, optionally after the name of an alias."""
        if self.token.kind == "alias":
            self.advance()
            self.expect("=")
        if not self.is_word(*words):
            self.unexpected(" or ".join(f"`{w}<`" for w in words))
        word = self.advance().text
        opener = self.expect("<")
        head = self.variables()
        results: list[Expr] | None = None
        relations: list[Inequality] = []
        sign = "->" if word == "affine_map" else ":"
        if not self.take(sign):
            self.unexpected(f"`{sign}`" if head.symbols else f"`[` or `{sign}`")
        if word == "affine_map":
            results = self.expressions(head.scope, "an expression")
        else:
            relations = self.listed(
                "(", ")", lambda o: self.relation(o, head.scope), "an operator, `,` or `)`", "a constraint"
            )
        self.expect(">", opener)
        return head, results, relations


_START: Final = re.compile(r"(?:\s|//[^\n]*)*+(?:affine_map|affine_set|#)")


def is_mlir(text: str) -> bool:
    """Return whether a text begins like those that :func:`from_mlir` reads, optionally with comments or an alias."""
    return _START.match(text) is not None


def from_mlir(
    text: str, domain: str = "", *, bounds: Mapping[str, tuple[int, int]] | None = None, runtime: int = 0
) -> IndexingMap:
    """Read the map that an ``affine_map`` denotes on a domain.

    The domain is given by an ``affine_set`` with as many dimensions and symbols, which may also follow the map in the
    same text, by ``bounds`` of variables by name, or by all of these; every variable needs two bounds.  Symbols become
    range variables, the last ``runtime`` of them runtime variables.  Invalid names of variables are replaced.  An
    ``affine_set`` alone becomes a map without results.  Raises :class:`InputError`, with line and column for errors in
    the text, and nothing else.
    """
    reader = _Affine(text, quasi_affine=True)
    head, found, relations = reader.attribute("affine_map", "affine_set")
    results = found or []
    if found is not None and reader.token.kind != "end":
        relations += _domain(reader, head, "`affine_set<` or the end of the text")
    reader.end("the end of the text")
    if domain:
        try:
            other = _Affine(domain, quasi_affine=True)
            relations += _domain(other, head, "`affine_set<`")
            other.end("the end of the text")
        except InputError as error:
            error.add_note("in the domain")
            raise
    if not 0 <= runtime <= len(head.symbols):
        raise InputError(f"{runtime} of {len(head.symbols)} symbols cannot be runtime variables")
    unknown = [n for n in bounds or () if n not in head.scope]
    if unknown:
        message = f"bounds for {quoted(unknown[0])}, which is not a variable of this map"
        raise InputError(message, expected=known_names(head.scope))

    tokens = {v: t for t in (*head.dims, *head.symbols) if isinstance(v := head.scope[t.text], Var)}
    boxes, constraints = domain_of(
        [*tokens],
        relations,
        {v: bounds[t.text] for v, t in tokens.items() if bounds and t.text in bounds},
        lambda v, message: reader.error(message, tokens[v], "a domain that bounds it"),
    )
    declared = [(v, *box) for v, box in boxes.items()]
    rank, last = len(head.dims), len(declared) - runtime
    return from_foreign(
        ForeignMap(
            tuple(declared[:rank]),
            tuple(declared[rank:last]),
            tuple(declared[last:]),
            tuple(results),
            tuple((c.expr, c.lo, c.hi) for c in constraints),
        ),
        lambda v: v.name,
        lambda exprs, scope: substitute_all(exprs, dict(scope)),
    )


def _domain(reader: _Affine, head: _Head, expected: str) -> list[Inequality]:
    """Return the constraints of an ``affine_set``, its variables matched by position with those of ``head``."""
    if not reader.is_word("affine_set") and reader.token.kind != "alias":
        reader.unexpected(expected)
    inner, _, relations = reader.attribute("affine_set")
    names: dict[Expr, Expr] = {}
    for what, theirs, own in (("dimensions", inner.dims, head.dims), ("symbols", inner.symbols, head.symbols)):
        if len(theirs) != len(own):
            raise reader.error(f"the domain has {len(theirs)} {what}", inner.at, f"{len(own)} as in the map")
        names.update((inner.scope[a.text], head.scope[b.text]) for a, b in zip(theirs, own, strict=True))
    exprs = substitute_all([e for e, _, _ in relations], names)
    return [(e, lo, hi) for e, (_, lo, hi) in zip(exprs, relations, strict=True)]
