"""The obligations *as compiled*: the generated code of a rule does what the rule says.

The code is executed with symbolic values: a number is a constant, and a form or an expression is the value that it has.
Both ways of every test are taken, and what a test implies is a hypothesis on its way.  On every path that ends in a
result, the values that the code gives to the variables must turn the left side of the rule into the subject and the right
side into the result, and every condition must follow.  Other code is refused.  The generator is not trusted.  The functions
that the code calls are assumed to do what they document.
"""

from __future__ import annotations

import ast
import functools
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ..core import expr as core
from ..core.condition import FALSE, TRUE, any_of, compare, divides, negate, show_condition, within
from ..core.constraint_matcher import constraint_source
from ..core.expr import CeilDiv, Expr, FloorDiv, Int, Max, Min, Mod, Sum, Var, substitute_all
from ..core.kernel.generate import engine_source
from ..core.rewrite import ConstraintRule, DeclarationError, Rule
from ..rules.catalog import COMPILED, COMPILED_CONSTRAINTS, RULES
from .execution import (
    DIVISIONS,
    EXTREMA,
    FILE,
    ExecutionPath,
    FormKind,
    Function,
    Goals,
    NotUnderstood,
    SymbolicForm,
    SymbolicTest,
    function_of,
    module_of,
    number_of,
    paths,
    value_of,
)
from .obligation import Obligation


# ----------------------------------------------------------------------------------------------------- the obligations
def compiled_obligations(rule: Rule) -> Iterator[Obligation]:
    """Yield the obligations of the generated code of a rule; none for a rule that forms cannot express.

    The code of a rule of the catalogue is read from its file; for any other rule it is generated.
    """
    if rule.structural:
        return
    if any(rule is r for r in RULES.rules):
        source = COMPILED.read_text("utf-8")
    else:
        try:
            source = engine_source((rule,), "Made", "A rule of its own.")
        except DeclarationError:
            return
    yield from obligations_of_code(rule, source)


def obligations_of_code(rule: Rule, source: str) -> Iterator[Obligation]:
    """Yield the obligations of the method of a rule in the module ``source``."""
    return _owed("rule", rule, functools.partial(_method_goals, rule, source))


def obligations_of_check(rule: ConstraintRule, source: str | None = None) -> Iterator[Obligation]:
    """Yield the obligations of the generated function of a constraint rule, in the module ``source`` if given."""
    if source is None:
        written = any(rule is r for r in RULES.constraints)
        source = COMPILED_CONSTRAINTS.read_text("utf-8") if written else constraint_source([rule], "One rule.")
    return _owed("constraint rule", rule, functools.partial(_check_goals, rule, source))


def _owed(
    family: str, rule: Rule | ConstraintRule, goals_of: Callable[[ExecutionPath], Goals | None]
) -> Iterator[Obligation]:
    """Yield the goals of each path that ends in a result; for code that is not understood, the goal is ``false``."""
    owe = functools.partial(Obligation, family, rule.name, where=rule.where)
    try:
        found = [*paths(goals_of)]
    except (NotUnderstood, SyntaxError, ArithmeticError, AttributeError, LookupError, NameError, TypeError) as error:
        lines = [s.lineno for s in traceback.extract_tb(error.__traceback__) if s.filename == FILE]
        place = f"line {lines[-1]}: " if lines else ""
        yield owe("as compiled: understood", (), FALSE, claim=f"{rule.statement()}   {place}{error}")
        return
    for n, (hypotheses, goals) in enumerate(found):
        for kind, goal in goals:
            label = f"as compiled: {kind}" + (f", path {n + 1}" if n else "")
            yield owe(label, hypotheses, goal, claim=rule.statement())


def _goals(rule: Rule | ConstraintRule, sides: Sequence[tuple[str, Expr, Expr]], values: Mapping[str, Any]) -> Goals:
    """Return that both sides of the rule, for these values, are the given expressions, and that its conditions hold."""
    if {*values} != {v.name for v in rule.variables}:
        raise NotUnderstood(f"{', '.join(values)} are not the variables of the rule")
    of = {v: number_of(values[v.name]) if v.kind == "const" else value_of(values[v.name]) for v in rule.variables}
    patterns = substitute_all([pattern for _, pattern, _ in sides], of)
    goals = [(kind, compare("==", made, value)) for (kind, _, value), made in zip(sides, patterns, strict=True)]
    return goals + [(show_condition(c), c.substitute(of)) for c in rule.conditions]


# ------------------------------------------------------------------------------------------------ methods of an engine
#: What operations and tests of forms and functions of expressions take (``x``, or numbers ``k``), and what they give.
_OPERATIONS: Final[dict[str, tuple[str, Function]]] = {
    "add": ("xx", lambda x, y: x + y),
    "floordiv": ("xk", core.floordiv),
    "minus": ("xxk", lambda x, y, k: x - y * k),
    "mod": ("xk", core.mod),
    "normal": ("x", core.lift),
    "shift": ("xk", lambda x, k: x + k),
    "times": ("xk", lambda x, k: x * k),
}
_TESTS: Final[dict[str, tuple[str, Function]]] = {
    "at_most": ("xx", lambda x, y: x <= y),
    "equal": ("xx", functools.partial(compare, "==")),
    "is_multiple": ("xk", lambda x, d: divides(d, x)),
    "within": ("xkk", within),
}
_FUNCTIONS: Final[dict[str, tuple[str, Function]]] = {
    "ceildiv": ("xx", core.ceildiv),
    "floordiv": ("xx", core.floordiv),
    "integer": ("k", core.lift),
    "maximum": ("xx", core.maximum),
    "minimum": ("xx", core.minimum),
    "mod": ("xx", core.mod),
}


def _operation(operation: tuple[str, Function], wrap: Callable[[Any], Any] = SymbolicForm) -> Function:
    """Return a function that checks the kinds of its arguments."""
    takes, make = operation

    def made(*args: Any) -> Any:
        return wrap(make(*((value_of if t == "x" else number_of)(a) for t, a in zip(takes, args, strict=True))))

    return made


_KINDS: Final = {"QUOTIENT": FloorDiv, "REMAINDER": Mod, "MINIMUM": Min, "MAXIMUM": Max}
_ABOUT: Final = {FloorDiv: "QUOTIENT", Mod: "REMAINDER", CeilDiv: "CEILING", Min: "MINIMUM", Max: "MAXIMUM"}


def _method_goals(rule: Rule, source: str, path: ExecutionPath) -> Goals | None:
    """Execute the method of a rule on a path."""
    methods, tables = module_of(source)
    about = "KNOWN" if isinstance(rule.left, Var) else _ABOUT.get(type(rule.left), "SUM")
    places = [
        (table.partition(".")[2], kind, strategy)
        for table, kinds in tables.items()
        for kind, strategies in kinds.items()
        for strategy, names in strategies.items()
        for name in names
        if name == f"{table.partition('.')[0]}.{rule.name}"
    ]
    # a rule without a strategy and one that is tried at every dividend get no values
    there = "EQUALITIES" if rule.sharing else "RULES"
    if places not in [[(there, about, s)] for s in (rule.choose, rule.choose or "anywhere")]:
        raise NotUnderstood(f"it stands in the tables of rules as {places}")
    if rule.name not in methods:
        raise NotUnderstood("no method has this name")
    node = methods[rule.name]
    types = [ast.unparse(a.annotation) if a.annotation else "" for a in node.args.args[1:]]
    subject = {"SUM": ["Form"], "KNOWN": ["Form"], "MINIMUM": ["Form", "Form"], "MAXIMUM": ["Form", "Form"]}
    expected = subject.get(about, ["Form", "int"])
    if types[: len(expected)] != expected or {*types} - {"Form", "int"}:
        raise NotUnderstood(f"the method of a rule about {about} takes {', '.join(types)}")
    engine = _Engine(path, rule.name)
    values = [path.form() if t == "Form" else path.number() for t in types]
    given = [value_of(v) if t == "Form" else v for v, t in zip(values, expected, strict=False)]
    names = {name: getattr(engine, name) for name in ("atom", "exactly", "lone", "minus", "times")}
    result = function_of(node, path, {**names, **_KINDS})(engine, *values)
    if result is None:
        return None
    make: Function = {**DIVISIONS, **EXTREMA, CeilDiv: core.ceildiv}.get(type(rule.left), lambda x: x)
    found = dict(zip([v.name for v in rule.variables], engine.recorded, strict=True))
    return _goals(rule, [("left side", rule.left, make(*given)), ("right side", rule.right, value_of(result))], found)


class _Engine:
    """The methods and functions that generated methods call, on a path."""

    def __init__(self, path: ExecutionPath, rule: str) -> None:
        self.path, self.rule = path, rule
        self.recorded: tuple[Any, ...] = ()
        #: the atoms that are parameters, by their numbers
        self.given: dict[Any, SymbolicForm] = {}
        self.kind = _Lookup(lambda at: FormKind(self.atom(at)))
        self.arg = _Lookup(lambda at: self.atom(at).a)
        self.divisor = _Lookup(lambda at: self.atom(at).b)

    def __getattr__(self, name: str) -> Function:
        if name in _OPERATIONS:
            return _operation(_OPERATIONS[name])
        if name in _TESTS:
            return _operation(_TESTS[name], SymbolicTest)
        raise NotUnderstood(f"no engine has a method `{name}`")

    def record(self, name: str, values: tuple[Any, ...]) -> None:
        if name != self.rule or self.recorded:
            raise NotUnderstood(f"{name} is recorded")
        self.recorded = values

    # -- atoms
    def atom(self, at: Any) -> SymbolicForm:
        if isinstance(at, Var):
            return self.given.setdefault(at, self.path.form())
        value_of(at)
        made: SymbolicForm = at
        return made

    def lone(self, x: SymbolicForm) -> SymbolicForm:
        return SymbolicForm(self.path.new("expr"), whole=value_of(x))

    def atoms(self, x: SymbolicForm, kind: type[Expr]) -> Iterator[tuple[SymbolicForm, Expr]]:
        made = self.path.form()
        self.path.assumed.append(self.path.is_a(FormKind(made), kind))
        yield made, self.coefficient(x, made)

    def coefficient(self, x: SymbolicForm, at: Any) -> Expr:
        value_of(x), self.atom(at)
        return self.path.number()

    def splits(self, at: Any) -> Iterator[tuple[SymbolicForm, SymbolicForm]]:
        x = self.path.form()
        yield from ((x, y) for y in self.beside(at, x))

    def beside(self, at: Any, x: SymbolicForm) -> Iterator[SymbolicForm]:
        y = self.path.form()
        self.path.assumed.append(self.made_of(at, x, y).yes)
        yield y

    def made_of(self, at: Any, x: SymbolicForm, y: SymbolicForm) -> SymbolicTest:
        # if the atom is an extremum, these are its arguments
        at = self.atom(at)
        joined = EXTREMA[at.kind](value_of(x), value_of(y))
        return SymbolicTest(any_of((negate(at.known), compare("==", at.expr, joined))))

    # -- forms
    def constant(self, x: SymbolicForm) -> Any:
        k = self.path.number()
        return self.path.perhaps(k, compare("==", k, value_of(x)))

    def exactly(self, x: SymbolicForm, k: Any) -> Any:
        made = self.path.form()
        return self.path.perhaps(made, compare("==", number_of(k) * made.expr, value_of(x)))

    def raw(self, kind: type[Expr], x: SymbolicForm, d: Any) -> SymbolicForm:
        return SymbolicForm(DIVISIONS[kind](value_of(x), number_of(d)))

    def extremum(self, kind: type[Expr], parts: Sequence[SymbolicForm]) -> SymbolicForm:
        return SymbolicForm(EXTREMA[kind](*map(value_of, parts)))

    def contains(self, *_: Any) -> SymbolicTest:
        """Imply nothing, as :meth:`descends`: these tests serve cost and termination, not soundness."""
        return SymbolicTest(TRUE)

    def size(self, *_: Any) -> None:
        """Return a measure for :meth:`descends`, as the following do."""

    descends = contains
    added = size_of_division = size_of_extremum = size


@dataclass(frozen=True)
class _Lookup:
    """Calls a function for each atom."""

    of: Callable[[Any], Any]

    def __getitem__(self, at: Any) -> Any:
        return self.of(at)


# ---------------------------------------------------------------------------------------- functions of constraint rules
def _check_goals(rule: ConstraintRule, source: str, path: ExecutionPath) -> Goals | None:
    """Execute the function of a constraint rule on a path."""
    functions, tables = module_of(source)
    if tables.get("CHECKS", {}).get(rule.name) != rule.name or rule.name not in functions:
        raise NotUnderstood("no function has this name")
    given = [(path.form(), path.number(), path.number()) for _ in rule.left]
    result = function_of(functions[rule.name], path, _expressions(path))(given, functools.partial(_Ends, path), None)
    if result is None:
        return None
    right, values = result
    sides: list[tuple[str, Expr, Expr]] = []
    for side, patterns, found in (("left", rule.left, given), ("right", rule.right, right)):
        for n, (b, (e, lo, hi)) in enumerate(zip(patterns, found, strict=True), 1):
            sides += [
                (f"{side} side {n}", b.e, value_of(e)),
                (f"{side} side {n}, low end", b.lo, number_of(lo)),
                (f"{side} side {n}, high end", b.hi, number_of(hi)),
            ]
    return _goals(rule, sides, values)


class _Ends:
    """The ends of the range of an expression."""

    def __init__(self, path: ExecutionPath, e: SymbolicForm) -> None:
        self.path, self.value = path, value_of(e)

    def __getitem__(self, upper: int) -> Expr:
        end = self.path.number()
        self.path.assumed.append(self.value <= end if upper else end <= self.value)
        return end


def _expressions(path: ExecutionPath) -> dict[str, Any]:
    """Return the functions that the functions of constraint rules call, on a path."""

    def linear(const: Any, terms: Sequence[tuple[SymbolicForm, Any]]) -> SymbolicForm:
        return SymbolicForm(core.add(number_of(const), *(value_of(e) * number_of(k) for e, k in terms)))

    return {
        **{kind.__name__: kind for kind in (FloorDiv, Int, Mod, Sum)},
        **{name: _operation(operation) for name, operation in _FUNCTIONS.items()},
        "expression": lambda v, name: path.perhaps(path.form()),
        "inside": lambda ends, lo, hi: SymbolicTest(within(ends.value, number_of(lo), number_of(hi))),
        "linear": linear,
        "max": lambda *args: core.maximum(*map(number_of, args)),
        "min": lambda *args: core.minimum(*map(number_of, args)),
        "number": lambda v, name: path.perhaps(path.number()),
        "type": lambda e: FormKind(e, expression=True),
    }
