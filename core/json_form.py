"""The JSON form of maps, for machines; reading what was written gives the same map.

``{"dims": [["d0", lo, hi], ...], "ranges": [...], "rts": [...], "results": [EXPR, ...],
"constraints": [[EXPR, lo, hi], ...]}`` where EXPR is an integer, a variable's name, or ``[op, a, b]`` with op
``add``, ``mul``, ``fdiv``, ``mod``, ``cdiv``, ``min`` or ``max``.  Where runtime variables have sources there
is a further key ``"sources"`` with one entry for each of them: ``null`` or
``{"hlo": TEXT, "results": [EXPR, ...]}``.

``ranges``, ``rts``, ``constraints`` and ``sources`` may be left out.  Errors name the place as a path:
``results[0][2]: unknown variable `d7```.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, TypeAlias, TypeVar

from .errors import InputError, quoted
from .expr import Expr, Int, Max, Min, Mul, Sum, Var, integer, postorder, var
from .indexing_map import (
    Constraint,
    IndexingMap,
    RuntimeSource,
    RuntimeVariable,
    Variable,
    expect_map,
    is_name,
    known_names,
)
from .json_text import dump_json, load_json
from .open_sum import OpenSum, Operand, closed
from .operators import DIVISIONS, NAME_OF, OPERATORS
from .text_printer import Order

__all__ = ["dump_json", "expr_from_json", "expr_to_json", "load_json", "map_from_json", "map_to_json"]

Json: TypeAlias = Any

T = TypeVar("T")
_KNOWN: Final = ("add", *OPERATORS)
_KEYS: Final = ("dims", "ranges", "rts", "results", "constraints", "sources")
_OPERATORS: Final = "one of add, mul, fdiv, mod, cdiv, min, max"
_EXPRESSION: Final = "an integer, a variable name or [op, a, b]"


# --------------------------------------------------------------------------------------------------- writing
def expr_to_json(e: Expr, variables: Sequence[Var] = ()) -> Json:
    """``e`` as nested lists; ``variables`` orders the summands as in the textual notation."""
    return _exprs_to_json((e,), variables)[0]


def _exprs_to_json(roots: Sequence[Expr], variables: Sequence[Var]) -> list[Json]:
    order = Order(roots, {v: i for i, v in enumerate(variables)})
    done: dict[Expr, Json] = {}
    for node in postorder(*roots):
        match node:
            case Int():
                done[node] = node.value
            case Var():
                done[node] = node.name
            case Sum():
                parts = [done[t] if k == 1 else ["mul", done[t], k] for t, k in order.terms[node]]
                done[node] = _nested("add", [*parts, node.const] if node.const else parts)
            case Mul() | Min() | Max():
                done[node] = _nested(NAME_OF[type(node)], [done[a] for a in order.sorted(node.children)])
            case _:
                done[node] = [NAME_OF[type(node)], *(done[c] for c in node.children)]
    return [done[r] for r in roots]


def _nested(op: str, parts: list[Json]) -> Json:
    total = parts[0]
    for p in parts[1:]:
        total = [op, total, p]
    return total


def map_to_json(m: IndexingMap) -> dict[str, Json]:
    """``m`` as plain dictionaries and lists; :func:`dump_json` makes text of it."""
    expect_map(m)
    variables = tuple(v.expr for v in m.variables)
    roots = m.roots
    exprs = dict(zip(roots, _exprs_to_json(roots, variables), strict=True))
    data: dict[str, Json] = {
        "dims": [[v.name, v.lo, v.hi] for v in m.dims],
        "ranges": [[v.name, v.lo, v.hi] for v in m.ranges],
        "rts": [[v.name, v.lo, v.hi] for v in m.rts],
        "results": [exprs[e] for e in m.results],
        "constraints": [[exprs[c.expr], c.lo, c.hi] for c in m.constraints],
    }
    if any(r.source is not None for r in m.rts):
        data["sources"] = [
            None if s is None else {"hlo": s.hlo, "results": [exprs[e] for e in s.results]}
            for s in (r.source for r in m.rts)
        ]
    return data


# --------------------------------------------------------------------------------------------------- reading
class _Path:
    """A place in JSON, written out only when something is wrong there."""

    __slots__ = ("outer", "step")

    def __init__(self, step: str | int, outer: _Path | None = None) -> None:
        self.step = step
        self.outer = outer

    def __truediv__(self, step: str | int) -> _Path:
        return _Path(step, self)

    def __str__(self) -> str:
        steps: list[str] = []
        at: _Path | None = self
        while at is not None:
            name = f".{at.step}" if at.outer else at.step
            steps.append(f"[{at.step}]" if isinstance(at.step, int) else str(name))
            at = at.outer
        if len(steps) > 24:
            steps[12:-12] = ["…"]
        return "".join(reversed(steps)).replace("$.", "").removeprefix("$[")


def _fail(message: str, path: _Path, expected: str = "") -> InputError:
    return InputError(message, path=str(path), expected=expected)


def _kind(value: Json) -> str:
    """Describe a JSON value, for messages."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case str():
            return f"the string {quoted(value)}"
        case int() | float():
            return f"the number {quoted(repr(value)) if abs(value) < 10**30 else '(a large one)'}"
        case Mapping():
            return "an object"
        case list() | tuple():
            return "a list" if value else "an empty list"
    return f"a {type(value).__name__}"


def expr_from_json(
    data: Json,
    variables: Mapping[str, Expr] | Iterable[str] | None = None,
    *,
    path: str = "$",
    quasi_affine: bool = False,
) -> Expr:
    """The expression that nested lists denote, over ``variables`` (by default any name).

    Unless ``quasi_affine``, products of variables and symbolic divisors are allowed.  Raises
    :class:`InputError` with the path of the place, which begins with ``path``.
    """
    if variables is not None and not isinstance(variables, Mapping):
        variables = {v: var(v) for v in variables}
    return _expr(data, variables, _Path(path), quasi_affine)


def _expr(data: Json, scope: Mapping[str, Expr] | None, path: _Path, quasi_affine: bool) -> Expr:
    # shared lists are read once; a list inside itself is found by meeting it while it is still open
    done: dict[int, Operand] = {}
    open_: set[int] = set()
    stack: list[tuple[Sequence[Json], list[Operand], _Path]] = []
    item, at = data, path
    while True:
        value: Operand | None = None
        if isinstance(item, (list, tuple)):
            value = done.get(id(item))
            if value is None:
                _operator(item, at)
                if id(item) in open_:
                    raise _fail("the list contains itself", at, _EXPRESSION)
                open_.add(id(item))
                stack.append((item, [], at))
                item, at = item[1], at / 1
                continue
        else:
            value = _leaf(item, scope, at)
        while True:
            if not stack:
                return closed(value)
            whole, args, place = stack[-1]
            args.append(value)
            if len(args) + 1 < len(whole):
                item, at = whole[len(args) + 1], place / (len(args) + 1)
                break
            stack.pop()
            value = _apply(whole[0], args, place, quasi_affine)
            open_.discard(id(whole))
            done[id(whole)] = value


def _operator(item: Sequence[Json], path: _Path) -> None:
    """Check the form of ``[op, a, b]`` before reading its arguments."""
    if not item:
        raise _fail("an empty list where an expression stands", path, _EXPRESSION)
    op = item[0]
    if not isinstance(op, str):
        raise _fail(f"{_kind(op)} where an operator stands", path / 0, _OPERATORS)
    if op not in _KNOWN:
        raise _fail(f"unknown operator {quoted(op)}", path / 0, _OPERATORS)
    count = len(item) - 1
    if count < 2 or (count > 2 and op in DIVISIONS):
        exactly = "2 arguments" if op in DIVISIONS else "at least 2 arguments"
        raise _fail(f"`{op}` has {count} argument{'' if count == 1 else 's'}", path, exactly)


def _leaf(item: Json, scope: Mapping[str, Expr] | None, path: _Path) -> Expr:
    if isinstance(item, int) and not isinstance(item, bool):
        return integer(item)
    if not isinstance(item, str):
        raise _fail(f"{_kind(item)} is no expression", path, _EXPRESSION)
    if scope is not None:
        found = scope.get(item)
        if found is None:
            raise _fail(f"unknown variable {quoted(item)}", path, known_names(scope))
        return found
    if not is_name(item):
        raise _fail(f"{quoted(item)} is no name for a variable", path, "letters, digits and `_`")
    return var(item)


def _apply(op: str, operands: list[Operand], path: _Path, quasi_affine: bool) -> Operand:
    if op == "add":
        return OpenSum([(a, 1) for a in operands])
    if op == "mul" and len(operands) == 2:
        for a, b in (operands, reversed(operands)):
            if type(a) is OpenSum and type(b) is Int:
                return OpenSum([(a, b.value)])
    args = [closed(a) for a in operands]
    if op in DIVISIONS:
        divisor = args[1]
        if type(divisor) is Int:
            if divisor.value == 0:
                raise _fail("division by zero", path / 2, "a divisor other than 0")
        elif quasi_affine:
            raise _fail(
                "the divisor is not a constant: an indexing map is quasi-affine", path / 2, "an integer"
            )
    elif op == "mul" and quasi_affine and sum(type(a) is not Int for a in args) > 1:
        raise _fail("a product of two variables is not quasi-affine", path, "a constant factor")
    return OPERATORS[op](*args)


def map_from_json(data: Json, *, first_line: int = 1, first_column: int = 1) -> IndexingMap:
    """The map that JSON text, or the dictionary read from it, denotes.

    Raises :class:`InputError` and nothing else: with line and column where the text is no JSON, with a path
    where the JSON is no map.
    """
    if isinstance(data, str):
        data = load_json(data, first_line=first_line, first_column=first_column)
    top = _Path("$")
    keys = f"the keys {', '.join(_KEYS)}"
    if not isinstance(data, Mapping):
        raise _fail(f"a map is an object, not {_kind(data)}", top, keys)
    for k in data:
        if k not in _KEYS:
            raise _fail(f"unknown key {quoted(k)}", top, keys)
    for k in ("dims", "results"):
        if k not in data:
            raise _fail(f"the key `{k}` is missing", top, keys)
    scope: dict[str, Expr] = {}

    def each(key: str, read: Callable[[Json, _Path], T]) -> list[T]:
        return _each(data.get(key, ()), _Path(key), read)

    def expression(value: Json, path: _Path) -> Expr:
        return _expr(value, scope, path, True)

    def variable(value: Json, path: _Path) -> Variable:
        name, lo, hi = _triple(value, path, "[name, lo, hi]")
        if not isinstance(name, str) or not is_name(name):
            raise _fail(f"{_kind(name)} is no name for a variable", path / 0, "letters, digits and `_`")
        if name in scope:
            raise _fail(f"duplicate variable {quoted(name)}", path / 0, "a name that is not used yet")
        scope[name] = var(name)
        return Variable(name, _bound(lo, path / 1), _bound(hi, path / 2))

    def constraint(value: Json, path: _Path) -> Constraint:
        e, lo, hi = _triple(value, path, "[expression, lo, hi]")
        return Constraint(expression(e, path / 0), _bound(lo, path / 1), _bound(hi, path / 2))

    def source(value: Json, path: _Path) -> RuntimeSource | None:
        if value is None:
            return None
        if not isinstance(value, Mapping) or set(value) != {"hlo", "results"}:
            raise _fail(f"unexpected {_kind(value)}", path, 'null or {"hlo": TEXT, "results": [EXPR, ...]}')
        hlo = value["hlo"]
        if not isinstance(hlo, str) or not hlo.strip() or "\n" in hlo or "\r" in hlo:
            raise _fail(
                f"{_kind(hlo)} is no instruction",
                path / "hlo",
                "the text of one HLO instruction, on one line",
            )
        return RuntimeSource(hlo, tuple(_each(value["results"], path / "results", expression)))

    dims, ranges, rts = (each(key, variable) for key in ("dims", "ranges", "rts"))
    results, constraints = each("results", expression), each("constraints", constraint)
    sources = [None] * len(rts) if "sources" not in data else data["sources"]
    if isinstance(sources, (list, tuple)) and len(sources) != len(rts):
        raise _fail(
            f"{len(sources)} sources for {len(rts)} runtime variables",
            _Path("sources"),
            "one entry for each, perhaps null",
        )
    read = _each(sources, _Path("sources"), source)
    runtime = [RuntimeVariable(v.name, v.lo, v.hi, s) for v, s in zip(rts, read, strict=True)]
    try:
        return IndexingMap(tuple(dims), tuple(ranges), tuple(runtime), tuple(results), tuple(constraints))
    except InputError as error:
        raise _fail(error.message, top, error.expected) from None


def _each(value: Json, path: _Path, read: Callable[[Json, _Path], T]) -> list[T]:
    """Read every element of a list with ``read``, which is given its path."""
    if not isinstance(value, (list, tuple)):
        raise _fail(f"{_kind(value)} is no list", path, "a list")
    return [read(x, path / i) for i, x in enumerate(value)]


def _triple(value: Json, path: _Path, expected: str) -> tuple[Json, Json, Json]:
    if not isinstance(value, (list, tuple)) or len(value) != 3:
        what = f"a list of {len(value)}" if isinstance(value, (list, tuple)) else _kind(value)
        raise _fail(f"unexpected {what}", path, expected)
    return value[0], value[1], value[2]


def _bound(value: Json, path: _Path) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise _fail(f"{_kind(value)} is no bound", path, "an integer")
    return value
