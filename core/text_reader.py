"""Reading maps and conditions in the textual notation, in any of its published spellings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from .condition import Condition, Relation, all_of, compare, divides, within
from .errors import InputError, quoted
from .expr import Expr, Var, substitute_all, var
from .expr_reader import ExprReader, Token
from .indexing_map import IndexingMap
from .variables import RESERVED, Constraint, RuntimeSource, RuntimeVariable, Variable, known_names

#: The relation that a sign denotes, and whether its sides are exchanged.
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


class MapReader(ExprReader):
    """A reader of maps and conditions."""

    def head(self) -> _Head:
        """Read ``(dims)[ranges]{rts} -> (results)``."""
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

    def map(self, defaults: Mapping[str, tuple[int, int]]) -> IndexingMap:
        head = self.head()
        scope = head.scope
        bounds: dict[str, tuple[int, int]] = {}
        sources: dict[str, tuple[str, _Head]] = {}
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
                raise self.error("an `hlo:` line that belongs to no variable", self.token, "`VARIABLE in [lo, hi]`")
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
            # the first interval of a variable is its box; further ones are constraints
            if isinstance(e, Var) and bare and e.name not in bounds:
                bounds[e.name] = (lo, hi)
            else:
                constraints.append(Constraint(e, lo, hi))
            self.take(",")
            if self.token.kind == "hlo":
                if not bare or token.text in dims or token.text in sources:
                    raise self.error(
                        "only a range or runtime variable has a source, and only one", self.token, "a domain entry"
                    )
                sources[token.text] = self.provenance()
                self.take(",")
        return self._build(head, {**defaults, **bounds}, sources, constraints)

    def provenance(self) -> tuple[str, _Head]:
        """Read an ``hlo:`` line and the map to the element that is read."""
        token = self.advance()
        text = token.text.partition(":")[2].strip()
        if not text:
            raise self.error("an empty `hlo:` line", token, "the text of an HLO instruction")
        return text, self.head()

    def _build(
        self,
        head: _Head,
        bounds: Mapping[str, tuple[int, int]],
        sources: Mapping[str, tuple[str, _Head]],
        constraints: list[Constraint],
    ) -> IndexingMap:
        for token in (*head.dims, *head.ranges, *head.rts):
            if token.text not in bounds:
                raise self.error(
                    f"the variable {quoted(token.text)} has no bounds",
                    token,
                    f"`{token.text} in [lo, hi]` in the domain",
                )
        # a symbol with a source is a runtime variable; older notations put it into other brackets
        ranges = [t for t in head.ranges if t.text not in sources]
        rts = [t for t in head.ranges if t.text in sources] + head.rts
        given = {
            name: RuntimeSource(hlo, self._resolve(inner, head.dims, ranges, rts))
            for name, (hlo, inner) in sources.items()
        }
        try:
            return IndexingMap(
                tuple(Variable(t.text, *bounds[t.text]) for t in head.dims),
                tuple(Variable(t.text, *bounds[t.text]) for t in ranges),
                tuple(RuntimeVariable(t.text, *bounds[t.text], given.get(t.text)) for t in rts),
                head.results,
                tuple(constraints),
            )
        except InputError as error:
            raise self.error(error.message, head.at, error.expected) from None

    def _resolve(
        self, inner: _Head, dims: Sequence[Token], ranges: Sequence[Token], rts: Sequence[Token]
    ) -> tuple[Expr, ...]:
        """Return the results of a source's map, whose variables are matched by position with those of the map."""
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
        """Read relations joined by ``and`` or commas."""
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


def _scope(variables: Mapping[str, Expr] | Iterable[str | Var] | None) -> Mapping[str, Expr] | None:
    if variables is None or isinstance(variables, Mapping):
        return variables
    return {v if isinstance(v, str) else v.name: var(v) if isinstance(v, str) else v for v in variables}


def parse_map(text: str, *, bounds: Mapping[str, tuple[int, int]] | None = None) -> IndexingMap:
    """Read a map in any of the published spellings.

    ``bounds`` gives boxes for variables without bounds in the text.  Raises
    :class:`~indexproof.core.errors.InputError` and nothing else.
    """
    return MapReader(text, quasi_affine=True).map(bounds or {})


def parse_expr(
    text: str, variables: Mapping[str, Expr] | Iterable[str | Var] | None = None, *, quasi_affine: bool = False
) -> Expr:
    """Read one expression over ``variables`` (names, variables, or a mapping of names); by default any name is allowed.

    Unless ``quasi_affine``, products of variables and symbolic divisors are allowed.  Raises
    :class:`~indexproof.core.errors.InputError` and nothing else.
    """
    reader = MapReader(text, quasi_affine)
    e = reader.expression(_scope(variables))
    reader.end("an operator or the end of the text")
    return e


def parse_condition(text: str, variables: Mapping[str, Expr] | Iterable[str | Var] | None = None) -> Condition:
    """Read a condition: ``e in [lo, hi]``, ``a < b <= c``, ``d divides e``, joined by ``and`` or commas.

    Raises :class:`~indexproof.core.errors.InputError` and nothing else.
    """
    reader = MapReader(text, quasi_affine=False)
    c = reader.conditions(_scope(variables))
    reader.end("`and`, `,` or the end of the text")
    return c
