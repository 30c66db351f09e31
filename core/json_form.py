"""The JSON form of maps, for machines; reading what was written returns the same map.

``{"dims": [["d0", lo, hi], ...], "ranges": [...], "rts": [...], "results": [EXPR, ...],
"constraints": [[EXPR, lo, hi], ...]}`` where EXPR is an integer, a variable's name, or ``[op, a, b]`` with op
``add``, ``mul``, ``fdiv``, ``mod``, ``cdiv``, ``min`` or ``max``.  If some runtime variable has a source, there
is also a key ``"sources"`` with one entry for each runtime variable: ``null`` or
``{"hlo": TEXT, "results": [EXPR, ...]}``.

``ranges``, ``rts``, ``constraints`` and ``sources`` are optional.  Errors give their position as a path:
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
    """Return ``e`` as nested lists; ``variables`` orders the summands as in the textual notation."""
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
    """Return ``m`` as plain dictionaries and lists; :func:`dump_json` converts them to text."""
    expect_map(m)
    exprs = dict(zip(m.roots, _exprs_to_json(m.roots, [v.expr for v in m.variables]), strict=True))
    data = map_data(m, exprs.__getitem__)
    if not any(data["sources"]):
        del data["sources"]
    return data


def map_data(m: IndexingMap, written: Callable[[Expr], Json]) -> dict[str, Json]:
    """Return the JSON form of ``m``, with each expression encoded by ``written``."""
    groups = {"dims": m.dims, "ranges": m.ranges, "rts": m.rts}
    return {
        **{key: [[v.name, v.lo, v.hi] for v in group] for key, group in groups.items()},
        "results": [written(e) for e in m.results],
        "constraints": [[written(c.expr), c.lo, c.hi] for c in m.constraints],
        "sources": [
            None if s is None else {"hlo": s.hlo, "results": [written(e) for e in s.results]}
            for s in (r.source for r in m.rts)
        ],
    }


# --------------------------------------------------------------------------------------------------- reading
class Place:
    """A position in JSON, converted to text only for error messages."""

    __slots__ = ("outer", "step")

    def __init__(self, step: str | int = "$", outer: Place | None = None) -> None:
        self.step = step
        self.outer = outer

    def __truediv__(self, step: str | int) -> Place:
        return Place(step, self)

    def __str__(self) -> str:
        steps: list[str] = []
        at: Place | None = self
        while at is not None:
            name = f".{at.step}" if at.outer else at.step
            steps.append(f"[{at.step}]" if isinstance(at.step, int) else str(name))
            at = at.outer
        if len(steps) > 24:
            steps[12:-12] = ["…"]
        return "".join(reversed(steps)).replace("$.", "").removeprefix("$[")

    def error(self, message: str, expected: str = "") -> InputError:
        return InputError(message, path=str(self), expected=expected)

    # -- checks of the value at this position
    def each(self, value: Json, read: Callable[[Json, Place], T]) -> tuple[T, ...]:
        """Read every element of a list with ``read``, which is passed the element and its position."""
        if not isinstance(value, (list, tuple)):
            raise self.error(f"{kind(value)} is no list", "a list")
        return tuple(read(x, self / i) for i, x in enumerate(value))

    def row(self, value: Json, *names: str) -> Sequence[Json]:
        """Check that ``value`` is a list with one element for each of ``names``, and return it."""
        if not isinstance(value, (list, tuple)) or len(value) != len(names):
            what = f"a list of {len(value)}" if isinstance(value, (list, tuple)) else kind(value)
            raise self.error(f"unexpected {what}", f"[{', '.join(names)}]")
        return value

    def fields(self, value: Json, keys: Sequence[str], optional: Sequence[str] = ()) -> Mapping[str, Json]:
        """Check that ``value`` is an object with these ``keys``, the ``optional`` ones perhaps missing; return it."""
        expected = f"the keys {', '.join(keys)}"
        if not isinstance(value, Mapping):
            raise self.error(f"{kind(value)} is no object", expected)
        for k in value:
            if k not in keys:
                raise self.error(f"unknown key {quoted(k)}", expected)
        for k in keys:
            if k not in value and k not in optional:
                raise self.error(f"the key `{k}` is missing", expected)
        return value

    def integer(self, value: Json, what: str = "integer") -> int:
        if not isinstance(value, int) or isinstance(value, bool):
            raise self.error(f"{kind(value)} is no {what}", "an integer")
        return value

    def made(self, build: Callable[..., T], *parts: Any) -> T:
        """Call ``build``; report its :class:`InputError` at this position."""
        try:
            return build(*parts)
        except InputError as error:
            raise self.error(error.message, error.expected) from None

    def name(self, value: Json) -> str:
        """Check that ``value`` is a valid name of a variable, and return it."""
        if not isinstance(value, str) or not is_name(value):
            raise self.error(f"{kind(value)} is no name for a variable", "letters, digits and `_`")
        return value


def kind(value: Json) -> str:
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
    """Read an expression from nested lists, over ``variables`` (by default any name).

    Unless ``quasi_affine``, products of variables and symbolic divisors are allowed.  Raises :class:`InputError` with
    the path of the error, which begins with ``path``.
    """
    if variables is not None and not isinstance(variables, Mapping):
        variables = {v: var(v) for v in variables}
    return _expr(data, variables, Place(path), quasi_affine)


def _expr(data: Json, scope: Mapping[str, Expr] | None, path: Place, quasi_affine: bool) -> Expr:
    # shared lists are read once; a list inside itself is detected because it is still open
    done: dict[int, Operand] = {}
    open_: set[int] = set()
    stack: list[tuple[Sequence[Json], list[Operand], Place]] = []
    item, at = data, path
    while True:
        value: Operand | None = None
        if isinstance(item, (list, tuple)):
            value = done.get(id(item))
            if value is None:
                _operator(item, at)
                if id(item) in open_:
                    raise at.error("the list contains itself", _EXPRESSION)
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


def _operator(item: Sequence[Json], path: Place) -> None:
    """Check the form of ``[op, a, b]`` before its arguments are read."""
    if not item:
        raise path.error("an empty list where an expression stands", _EXPRESSION)
    op = item[0]
    if not isinstance(op, str):
        raise (path / 0).error(f"{kind(op)} where an operator stands", _OPERATORS)
    if op not in _KNOWN:
        raise (path / 0).error(f"unknown operator {quoted(op)}", _OPERATORS)
    count = len(item) - 1
    if count < 2 or (count > 2 and op in DIVISIONS):
        exactly = "2 arguments" if op in DIVISIONS else "at least 2 arguments"
        raise path.error(f"`{op}` has {count} argument{'' if count == 1 else 's'}", exactly)


def _leaf(item: Json, scope: Mapping[str, Expr] | None, path: Place) -> Expr:
    if isinstance(item, int) and not isinstance(item, bool):
        return integer(item)
    if not isinstance(item, str):
        raise path.error(f"{kind(item)} is no expression", _EXPRESSION)
    if scope is not None:
        found = scope.get(item)
        if found is None:
            raise path.error(f"unknown variable {quoted(item)}", known_names(scope))
        return found
    return var(path.name(item))


def _apply(op: str, operands: list[Operand], path: Place, quasi_affine: bool) -> Operand:
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
                raise (path / 2).error("division by zero", "a divisor other than 0")
        elif quasi_affine:
            raise (path / 2).error("the divisor is not a constant: an indexing map is quasi-affine", "an integer")
    elif op == "mul" and quasi_affine and sum(type(a) is not Int for a in args) > 1:
        raise path.error("a product of two variables is not quasi-affine", "a constant factor")
    return OPERATORS[op](*args)


def map_from_json(data: Json) -> IndexingMap:
    """Read a map from JSON text or from the dictionary parsed from it.

    Raises :class:`InputError` and nothing else: with line and column where the text is no JSON, with a path where the
    JSON is no map.
    """
    if isinstance(data, str):
        data = load_json(data)
    return read_map_data(data, Place(), lambda value, at, scope: _expr(value, scope, at, True))


def read_map_data(data: Json, top: Place, expression: Callable[[Json, Place, Mapping[str, Expr]], Expr]) -> IndexingMap:
    """Read the map at ``top``; ``expression`` reads one expression over the variables passed to it."""
    top.fields(data, _KEYS, optional=("ranges", "rts", "constraints", "sources"))
    scope: dict[str, Expr] = {}

    def each(key: str, read: Callable[[Json, Place], T]) -> tuple[T, ...]:
        return (top / key).each(data.get(key, ()), read)

    def expr(value: Json, at: Place) -> Expr:
        return expression(value, at, scope)

    def variable(value: Json, at: Place) -> Variable:
        name, lo, hi = at.row(value, "name", "lo", "hi")
        if (at / 0).name(name) in scope:
            raise (at / 0).error(f"duplicate variable {quoted(name)}", "a name that is not used yet")
        scope[name] = var(name)
        return Variable(name, (at / 1).integer(lo, "bound"), (at / 2).integer(hi, "bound"))

    def source(value: Json, at: Place) -> RuntimeSource | None:
        if value is None:
            return None
        hlo = at.fields(value, ("hlo", "results"))["hlo"]
        results = (at / "results").each(value["results"], expr)
        return (at / "hlo").made(RuntimeSource, hlo, results)

    dims, ranges, rts = (each(key, variable) for key in ("dims", "ranges", "rts"))
    results = each("results", expr)
    constraints = each("constraints", lambda row, at: read_constraint(row, at, expr))
    sources = each("sources", source) if "sources" in data else (None,) * len(rts)
    if len(sources) != len(rts):
        raise (top / "sources").error(
            f"{len(sources)} sources for {len(rts)} runtime variables", "one entry for each, perhaps null"
        )
    runtime = tuple(RuntimeVariable(v.name, v.lo, v.hi, s) for v, s in zip(rts, sources, strict=True))
    return top.made(IndexingMap, dims, ranges, runtime, results, constraints)


def read_constraint(row: Json, at: Place, expression: Callable[[Json, Place], Expr]) -> Constraint:
    """Read the constraint ``[EXPR, lo, hi]``; ``expression`` reads its first part."""
    e, lo, hi = at.row(row, "expression", "lo", "hi")
    return Constraint(expression(e, at / 0), (at / 1).integer(lo, "bound"), (at / 2).integer(hi, "bound"))
