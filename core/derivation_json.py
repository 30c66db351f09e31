"""Derivations as JSON: stored by one process, checked by another.

Expressions stand in one table, ``nodes``, and are named by their numbers, so that what many steps share is stored once
and no depth of nesting is too much.  An entry is an integer, the name of a variable, or a list: ``["sum", constant, [[node,
coefficient], ...]]``, ``["fdiv", a, b]``, ``["mod", a, b]``, ``["cdiv", a, b]``, or ``"mul"``, ``"min"`` or ``"max"``
with the arguments.  Its operands have smaller numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias

from .derivation import ConstraintChange, Derivation, DerivationStep, MapChange, Position, RuleStep
from .errors import InputError, quoted
from .expr import Expr, Int, Sum, Var, integer, linear, postorder, var
from .indexing_map import Constraint, IndexingMap, RuntimeSource, RuntimeVariable, Variable, is_name
from .json_text import dump_json, load_json
from .operators import DIVISIONS, NAME_OF, OPERATORS
from .rewrite import ConstraintRule, Rule, RuleSet

__all__ = ["FORMAT", "derivation_from_json", "derivation_to_json"]

FORMAT: Final = "indexproof derivation 2"
Json: TypeAlias = Any

_PARTS: Final = ("result", "constraint", "source")


# --------------------------------------------------------------------------------------------------- writing
class _Table:
    """The expressions that have a number."""

    def __init__(self) -> None:
        self.nodes: list[Json] = []
        self.number: dict[Expr, int] = {}

    def __call__(self, e: Expr) -> int:
        for node in postorder(e, known=self.number):
            self.number[node] = len(self.nodes)
            self.nodes.append(self._entry(node))
        return self.number[e]

    def _entry(self, node: Expr) -> Json:
        match node:
            case Int():
                return node.value
            case Var():
                return node.name
            case Sum():
                return ["sum", node.const, [[self.number[t], k] for t, k in node.terms]]
        return [NAME_OF[type(node)], *(self.number[c] for c in node.children)]

    def constraints(self, constraints: Sequence[Constraint]) -> Json:
        return [[self(c.expr), c.lo, c.hi] for c in constraints]

    def map(self, m: IndexingMap) -> dict[str, Json]:
        return {
            "dims": [[v.name, v.lo, v.hi] for v in m.dims],
            "ranges": [[v.name, v.lo, v.hi] for v in m.ranges],
            "rts": [[v.name, v.lo, v.hi] for v in m.rts],
            "results": [self(e) for e in m.results],
            "constraints": self.constraints(m.constraints),
            "sources": [
                None
                if r.source is None
                else {"hlo": r.source.hlo, "results": [self(e) for e in r.source.results]}
                for r in m.rts
            ],
        }


def derivation_to_json(derivation: Derivation) -> dict[str, Json]:
    """``derivation`` as plain dictionaries and lists, for :func:`json.dumps`."""
    table = _Table()
    before, after = table.map(derivation.before), table.map(derivation.after)
    steps: list[Json] = []
    for s in derivation.steps:
        match s:
            case RuleStep():
                steps.append(
                    {
                        "rule": s.rule.name,
                        "binding": {n: table(e) for n, e in s.binding.items()},
                        "position": [s.position.part, s.position.number],
                        "before": table(s.before),
                        "after": table(s.after),
                        "becomes": None if s.becomes is None else table(s.becomes),
                    }
                )
            case ConstraintChange():
                steps.append(
                    {
                        "constraint_rule": s.rule.name,
                        "binding": {n: table(e) for n, e in s.binding.items()},
                        "before": table.constraints(s.before),
                        "after": table.constraints(s.after),
                    }
                )
            case MapChange():
                steps.append({"change": s.why, "before": table.map(s.before), "after": table.map(s.after)})
    return {"format": FORMAT, "before": before, "after": after, "steps": steps, "nodes": table.nodes}


# --------------------------------------------------------------------------------------------------- reading
def derivation_from_json(data: Json, rules: RuleSet) -> Derivation:
    """The derivation that JSON text, or the dictionary read from it, describes; rules are those of ``rules``.

    Says nothing about its truth: that is for :func:`indexproof.verify.derivation.check_derivation`.  Raises
    :class:`InputError` with the path of what is wrong.
    """
    if isinstance(data, str):
        data = load_json(data)
    top = _object(data, "$", ("format", "before", "after", "steps", "nodes"))
    if top["format"] != FORMAT:
        raise _fail(f"the format is {_short(top['format'])}", "format", quoted(FORMAT))
    reader = _Reader(rules)
    reader.read_nodes(top["nodes"])
    try:
        return Derivation(
            reader.map(top["before"], "before"),
            reader.map(top["after"], "after"),
            tuple(reader.step(s, f"steps[{k}]") for k, s in enumerate(_list(top["steps"], "steps"))),
        )
    except InputError as error:
        if error.path:
            raise
        raise _fail(error.message, "$", error.expected) from None


def _fail(message: str, path: str, expected: str = "") -> InputError:
    return InputError(message, path=path, expected=expected)


def _short(value: Json) -> str:
    if isinstance(value, Mapping):
        return "an object"
    if isinstance(value, (list, tuple)):
        return f"a list of {len(value)}"
    plain = value is None or isinstance(value, (bool, int, str))
    return quoted((dump_json(value) if plain else repr(value))[:60])


def _list(value: Json, path: str) -> Sequence[Json]:
    if not isinstance(value, (list, tuple)):
        raise _fail(f"{_short(value)} is no list", path, "a list")
    return value


def _object(value: Json, path: str, keys: Sequence[str]) -> Mapping[str, Json]:
    expected = f"the keys {', '.join(keys)}"
    if not isinstance(value, Mapping):
        raise _fail(f"unexpected {_short(value)}", path, expected)
    if missing := [k for k in keys if k not in value]:
        raise _fail(f"the key {quoted(missing[0])} is missing", path, expected)
    if unknown := [k for k in value if k not in keys]:
        raise _fail(f"unknown key {quoted(unknown[0])}", path, expected)
    return value


def _int(value: Json, path: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise _fail(f"{_short(value)} is no integer", path, "an integer")
    return value


def _text(value: Json, path: str) -> str:
    if not isinstance(value, str):
        raise _fail(f"{_short(value)} is no text", path, "text")
    return value


class _Reader:
    def __init__(self, rules: RuleSet) -> None:
        self.rules = {r.name: r for r in rules}
        self.nodes: list[Expr] = []

    def read_nodes(self, data: Json) -> None:
        for k, entry in enumerate(_list(data, "nodes")):
            path = f"nodes[{k}]"
            try:
                self.nodes.append(self.entry(entry, path))
            except ZeroDivisionError:
                raise _fail("division by zero", path, "a divisor other than 0") from None

    def entry(self, entry: Json, path: str) -> Expr:
        if isinstance(entry, str):
            if not is_name(entry):
                raise _fail(f"{_short(entry)} is no name for a variable", path, "letters, digits and `_`")
            return var(entry)
        if not isinstance(entry, (list, tuple)):
            return integer(_int(entry, path))
        op, *args = entry or [None]
        if op == "sum" and len(args) == 2:
            terms = []
            for n, term in enumerate(_list(args[1], f"{path}[2]")):
                where = f"{path}[2][{n}]"
                if len(_list(term, where)) != 2:
                    raise _fail(f"unexpected {_short(term)}", where, "[node, coefficient]")
                terms.append((self.node(term[0], where), _int(term[1], where)))
            return linear(_int(args[0], f"{path}[1]"), terms)
        if (
            not isinstance(op, str)
            or op not in OPERATORS
            or len(args) < 2
            or (op in DIVISIONS and len(args) > 2)
        ):
            raise _fail(
                f"unexpected {_short(entry)}", path, f"sum, {', '.join(OPERATORS)} and their operands"
            )
        return OPERATORS[op](*(self.node(a, path) for a in args))

    def node(self, number: Json, path: str) -> Expr:
        n = _int(number, path)
        if not 0 <= n < len(self.nodes):
            raise _fail(f"there is no node {n} yet", path, "the number of an earlier entry of nodes")
        return self.nodes[n]

    def exprs(self, data: Json, path: str) -> tuple[Expr, ...]:
        return tuple(self.node(n, f"{path}[{k}]") for k, n in enumerate(_list(data, path)))

    def constraints(self, data: Json, path: str) -> tuple[Constraint, ...]:
        out = []
        for k, row in enumerate(_list(data, path)):
            at = f"{path}[{k}]"
            if len(_list(row, at)) != 3:
                raise _fail(f"unexpected {_short(row)}", at, "[node, lo, hi]")
            out.append(Constraint(self.node(row[0], at), _int(row[1], at), _int(row[2], at)))
        return tuple(out)

    def variables(self, data: Json, path: str) -> tuple[Variable, ...]:
        out = []
        for k, row in enumerate(_list(data, path)):
            at = f"{path}[{k}]"
            if len(_list(row, at)) != 3:
                raise _fail(f"unexpected {_short(row)}", at, "[name, lo, hi]")
            out.append(Variable(_text(row[0], at), _int(row[1], at), _int(row[2], at)))
        return tuple(out)

    def map(self, data: Json, path: str) -> IndexingMap:
        top = _object(data, path, ("dims", "ranges", "rts", "results", "constraints", "sources"))
        rts = self.variables(top["rts"], f"{path}.rts")
        sources = _list(top["sources"], f"{path}.sources")
        if len(sources) != len(rts):
            raise _fail(f"{len(sources)} sources for {len(rts)} runtime variables", f"{path}.sources")
        runtime = []
        for k, (v, s) in enumerate(zip(rts, sources, strict=True)):
            source = None
            if s is not None:
                at = f"{path}.sources[{k}]"
                inner = _object(s, at, ("hlo", "results"))
                source = RuntimeSource(_text(inner["hlo"], at), self.exprs(inner["results"], at))
            runtime.append(RuntimeVariable(v.name, v.lo, v.hi, source))
        return IndexingMap(
            self.variables(top["dims"], f"{path}.dims"),
            self.variables(top["ranges"], f"{path}.ranges"),
            tuple(runtime),
            self.exprs(top["results"], f"{path}.results"),
            self.constraints(top["constraints"], f"{path}.constraints"),
        )

    def step(self, data: Json, path: str) -> DerivationStep:
        if isinstance(data, Mapping) and "change" in data:
            top = _object(data, path, ("change", "before", "after"))
            return MapChange(
                _text(top["change"], path),
                self.map(top["before"], f"{path}.before"),
                self.map(top["after"], f"{path}.after"),
            )
        if isinstance(data, Mapping) and "constraint_rule" in data:
            top = _object(data, path, ("constraint_rule", "binding", "before", "after"))
            rule = self.rule(top["constraint_rule"], path)
            if not isinstance(rule, ConstraintRule):
                raise _fail(f"{rule.name} is a rule for expressions", path, "a rule for constraints")
            return ConstraintChange(
                rule,
                self.binding(top["binding"], f"{path}.binding"),
                self.constraints(top["before"], f"{path}.before"),
                self.constraints(top["after"], f"{path}.after"),
            )
        top = _object(data, path, ("rule", "binding", "position", "before", "after", "becomes"))
        rule = self.rule(top["rule"], path)
        if not isinstance(rule, Rule):
            raise _fail(f"{rule.name} is a rule for constraints", path, "a rule for expressions")
        place = _list(top["position"], f"{path}.position")
        if len(place) != 2 or place[0] not in _PARTS:
            raise _fail(f"unexpected {_short(place)}", f"{path}.position", f"[{' or '.join(_PARTS)}, number]")
        return RuleStep(
            rule,
            self.binding(top["binding"], f"{path}.binding"),
            Position(place[0], _int(place[1], f"{path}.position")),
            self.node(top["before"], f"{path}.before"),
            self.node(top["after"], f"{path}.after"),
            None if top["becomes"] is None else self.node(top["becomes"], f"{path}.becomes"),
        )

    def rule(self, name: Json, path: str) -> Rule | ConstraintRule:
        rule = self.rules.get(_text(name, path))
        if rule is None:
            raise _fail(f"no rule is called {_short(name)}", path, "the name of a rule of the catalogue")
        return rule

    def binding(self, data: Json, path: str) -> dict[str, Expr]:
        if not isinstance(data, Mapping):
            raise _fail(f"{_short(data)} is no object", path, "a node for every variable of the rule")
        return {_text(n, path): self.node(e, f"{path}.{n}") for n, e in data.items()}
