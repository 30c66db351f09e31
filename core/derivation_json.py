"""Derivations as JSON: written by one process, checked by another.

All expressions are entries of one table, ``nodes``, and are referred to by index, so that common subexpressions are
stored once and nesting may have any depth.  An entry is an integer, the name of a variable, or a list: ``["sum",
constant, [[node, coefficient], ...]]``, ``["fdiv", a, b]``, ``["mod", a, b]``, ``["cdiv", a, b]``, or ``"mul"``,
``"min"`` or ``"max"`` with the arguments.  Operands come before the expressions that use them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

from .derivation import ConstraintChange, Derivation, DerivationStep, MapChange, Position, RuleStep
from .errors import quoted
from .expr import Expr, Int, Sum, Var, integer, linear, postorder, var
from .indexing_map import Constraint, IndexingMap
from .json_form import Place, kind, map_data, read_constraint, read_map_data
from .json_text import load_json
from .native.recorded import entries
from .operators import DIVISIONS, NAME_OF, OPERATORS
from .rewrite import ConstraintRule, Rule, RuleSet
from .steps import Trace

FORMAT: Final = "indexproof derivation 2"
#: The format of the native library: all steps that were taken, in order.
TRACE: Final = "indexproof trace 1"
Json: TypeAlias = Any

#: The kinds of trace entries that apply a rule, with the type of the rule.
_RECORDED: Final[dict[Json, type[Any]]] = {"step": Rule, "constraints": ConstraintRule}
_PARTS: Final = ("result", "constraint", "source")


# --------------------------------------------------------------------------------------------------- writing
class _Table:
    """The table of expressions, filled on demand."""

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

    def binding(self, binding: Mapping[str, Expr]) -> Json:
        return {n: self(e) for n, e in binding.items()}

    def constraints(self, constraints: tuple[Constraint, ...]) -> Json:
        return [[self(c.expr), c.lo, c.hi] for c in constraints]

    def step(self, s: DerivationStep) -> dict[str, Json]:
        match s:
            case RuleStep():
                return {
                    "rule": s.rule.name,
                    "binding": self.binding(s.binding),
                    "position": [*s.position],
                    "before": self(s.before),
                    "after": self(s.after),
                    "becomes": None if s.becomes is None else self(s.becomes),
                }
            case ConstraintChange():
                return {
                    "constraint_rule": s.rule.name,
                    "binding": self.binding(s.binding),
                    "before": self.constraints(s.before),
                    "after": self.constraints(s.after),
                }
            case MapChange():
                return {"change": s.why, "before": map_data(s.before, self), "after": map_data(s.after, self)}


def derivation_to_json(derivation: Derivation) -> dict[str, Json]:
    """Return ``derivation`` as plain dictionaries and lists, for :func:`json.dumps`."""
    table = _Table()
    return {
        "format": FORMAT,
        "before": map_data(derivation.before, table),
        "after": map_data(derivation.after, table),
        "steps": [table.step(s) for s in derivation.steps],
        "nodes": table.nodes,
    }


# --------------------------------------------------------------------------------------------------- reading
def derivation_from_json(data: Json, rules: RuleSet) -> Derivation:
    """Read a derivation from JSON text or from the dictionary parsed from it; rules are looked up in ``rules``.

    The steps are not checked: :func:`indexproof.verify.derivation.check_derivation` does that.  Raises
    :class:`InputError` with the path of the error.
    """
    if isinstance(data, str):
        data = load_json(data)
    top = Place()
    top.fields(data, ("format", "before", "after", "steps", "nodes"))
    if data["format"] != FORMAT:
        raise (top / "format").error(f"the format is {kind(data['format'])}", quoted(FORMAT))
    reader = _Reader(rules)
    (top / "nodes").each(data["nodes"], reader.read_node)
    return Derivation(
        reader.map(data["before"], top / "before"),
        reader.map(data["after"], top / "after"),
        (top / "steps").each(data["steps"], reader.step),
    )


def trace_from_json(data: Json, rules: RuleSet) -> tuple[IndexingMap, IndexingMap, Trace]:
    """Read a map, its simplified map and the trace that the native library recorded.

    Raises :class:`InputError` with the path of the error.
    """
    top = Place()
    top.fields(data, ("format", "before", "after", "entries", "nodes"))
    reader = _Reader(rules)
    (top / "nodes").each(data["nodes"], reader.read_node)
    before, after = (reader.map(data[key], top / key) for key in ("before", "after"))

    def bounds(value: Json, at: Place) -> Any:
        return [(c.expr, c.lo, c.hi) for c in reader.constraints(value, at)]

    def entry(row: Json, at: Place) -> tuple[Any, ...]:
        what, name, values, engine, *sides = at.row(row, "what", "name", "values", "engine", "before", "after")
        nodes = (at / 2).each(values, reader.node)
        if _text(what, at / 0) in _RECORDED:
            rule = reader.rule(name, at / 1, _RECORDED[what])
            if len(nodes) != len(rule.variables):
                raise (at / 2).error(f"{len(nodes)} values", f"one for each variable of {name}")
        elif what not in ("rewritten", "map"):
            raise (at / 0).error(f"unexpected {kind(what)}", "step, rewritten, constraints or map")
        read: Callable[[Json, Place], Any] = reader.map if what == "map" else bounds
        one, other = (read(side, at / n) for n, side in enumerate(sides, 4))
        if what == "rewritten" and not len(one) == len(other) == 1:
            raise at.error("a constraint is rewritten to one constraint")
        return what, _text(name, at / 1), nodes, (at / 3).integer(engine), one, other

    said = (top / "entries").each(data["entries"], entry)
    try:
        return before, after, entries(said, rules, after)
    except ZeroDivisionError:
        raise (top / "entries").error("a rule divides by zero", "other values of its variables") from None


def _text(value: Json, at: Place) -> str:
    if not isinstance(value, str):
        raise at.error(f"{kind(value)} is no text", "text")
    return value


class _Reader:
    def __init__(self, rules: RuleSet) -> None:
        self.rules = {r.name: r for r in rules}
        self.nodes: list[Expr] = []

    def read_node(self, entry: Json, at: Place) -> None:
        try:
            self.nodes.append(self.entry(entry, at))
        except ZeroDivisionError:
            raise at.error("division by zero", "a divisor other than 0") from None

    def entry(self, entry: Json, at: Place) -> Expr:
        if isinstance(entry, str):
            return var(at.name(entry))
        if not isinstance(entry, (list, tuple)):
            return integer(at.integer(entry))
        op, *args = entry or [None]
        if op == "sum" and len(args) == 2:
            return linear((at / 1).integer(args[0]), (at / 2).each(args[1], self.term))
        if not isinstance(op, str) or op not in OPERATORS or len(args) < 2 or (op in DIVISIONS and len(args) > 2):
            raise at.error(f"unexpected {kind(entry)}", f"sum, {', '.join(OPERATORS)} and their operands")
        return OPERATORS[op](*(self.node(a, at / k) for k, a in enumerate(args, 1)))

    def term(self, term: Json, at: Place) -> tuple[Expr, int]:
        node, coefficient = at.row(term, "node", "coefficient")
        return self.node(node, at / 0), (at / 1).integer(coefficient)

    def node(self, number: Json, at: Place) -> Expr:
        n = at.integer(number)
        if not 0 <= n < len(self.nodes):
            raise at.error(f"there is no node {n} yet", "the number of an earlier entry of nodes")
        return self.nodes[n]

    def constraints(self, data: Json, at: Place) -> tuple[Constraint, ...]:
        return at.each(data, lambda row, where: read_constraint(row, where, self.node))

    def map(self, data: Json, at: Place) -> IndexingMap:
        return read_map_data(data, at, lambda n, where, _: self.node(n, where))

    def step(self, data: Json, at: Place) -> DerivationStep:
        def parts(**read: Callable[[Json, Place], Any]) -> list[Any]:
            at.fields(data, (*read,))
            return [f(data[key], at / key) for key, f in read.items()]

        if isinstance(data, Mapping) and "change" in data:
            return MapChange(*parts(change=_text, before=self.map, after=self.map))
        if isinstance(data, Mapping) and "constraint_rule" in data:
            return ConstraintChange(
                *parts(
                    constraint_rule=lambda name, where: self.rule(name, where, ConstraintRule),
                    binding=self.binding,
                    before=self.constraints,
                    after=self.constraints,
                )
            )
        return RuleStep(
            *parts(
                rule=self.rule,
                binding=self.binding,
                position=self.position,
                before=self.node,
                after=self.node,
                becomes=lambda n, where: None if n is None else self.node(n, where),
            )
        )

    def rule(self, name: Json, at: Place, wanted: type[Any] = Rule) -> Any:
        found = self.rules.get(_text(name, at))
        if found is None:
            raise at.error(f"no rule is called {quoted(name)}", "the name of a rule of the catalogue")
        if not isinstance(found, wanted):
            raise at.error(f"{name} is no rule for {'expressions' if wanted is Rule else 'constraints'}")
        return found

    def position(self, data: Json, at: Place) -> Position:
        part, number = at.row(data, " or ".join(_PARTS), "number")
        if part not in _PARTS:
            raise at.error(f"there is no part {kind(part)}", " or ".join(_PARTS))
        return Position(part, (at / 1).integer(number))

    def binding(self, data: Json, at: Place) -> dict[str, Expr]:
        if not isinstance(data, Mapping):
            raise at.error(f"{kind(data)} is no object", "a node for every variable of the rule")
        return {_text(n, at): self.node(e, at / n) for n, e in data.items()}
