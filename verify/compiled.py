"""The obligations *as compiled*: the generated method of a rule does what the rule says.

The module of an engine is parsed, and every method is executed symbolically.  A form is the expression that it equals,
a test that succeeds is a hypothesis, and unknown code is refused.  At the end of a method, the values that it records
must turn the left side of the rule into its subject and the right side into its result, and every condition must follow
from the tests.  The generator is not trusted.  The functions of :mod:`indexproof.core.kernel` are assumed to do what
they document.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from ..core import expr as core
from ..core.condition import (
    FALSE,
    TRUE,
    Compare,
    Condition,
    Divides,
    Within,
    all_exprs,
    all_of,
    any_of,
    compare,
    divides,
    negate,
    parts_of,
    show_condition,
)
from ..core.expr import CeilDiv, Expr, FloorDiv, Max, Min, Mod, Mul, Sum, Var, postorder, rebuild, substitute_all
from ..core.kernel.generate import engine_source
from ..core.rewrite import DeclarationError, Rule
from ..rules.catalog import COMPILED, RULES
from .obligation import Obligation


class NotUnderstood(ValueError):
    """Raised for generated code without a meaning here, or that does not fit its rule."""


_DIVISIONS: Final[dict[str, Callable[..., Expr]]] = {"QUOTIENT": core.floordiv, "REMAINDER": core.mod}
_EXTREMA: Final[dict[str, Callable[..., Expr]]] = {"MINIMUM": core.minimum, "MAXIMUM": core.maximum}
_ABOUT: Final = {FloorDiv: "QUOTIENT", Mod: "REMAINDER", CeilDiv: "CEILING", Min: "MINIMUM", Max: "MAXIMUM"}
RELATIONS: Final = {ast.Lt: "<", ast.LtE: "<=", ast.Eq: "==", ast.NotEq: "!="}
OPERATIONS: Final[dict[type, Callable[[Expr, Expr], Expr]]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.FloorDiv: lambda a, b: a // b,
    ast.Mod: lambda a, b: a % b,
}
#: allowed imports, because any other could give these names another meaning
_IMPORTED: Final = {
    "__future__": {"annotations"},
    "core.engine": {"Engine"},
    "core.kernel.form": {*_DIVISIONS, *_EXTREMA, "Form", "atom", "exactly", "lone", "minus", "times"},
    "core.kernel.kernel": {"CEILING", "KNOWN", "SUM"},
}


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
    """Yield the obligations of the method in the module ``source``: the left side is its subject, the right side is its
    result, and the conditions hold.  For unknown code the goal is ``false``.
    """

    def owe(kind: str, hypotheses: Iterable[Condition], goal: Condition, claim: str) -> Obligation:
        return Obligation(
            "rule", rule.name, f"as compiled: {kind}", tuple(hypotheses), goal, where=rule.where, claim=claim
        )

    about = "KNOWN" if isinstance(rule.left, Var) else _ABOUT.get(type(rule.left), "SUM")
    try:
        methods, table = _parts(source)
        places = [place for *place, method in table if method == rule.name]
        name = "EQUALITIES" if rule.sharing else "RULES"
        # a rule without a strategy and one that is tried at every dividend get no values
        if places not in [[[name, about, s]] for s in (rule.choose, rule.choose or "anywhere")]:
            raise NotUnderstood(f"it stands in the tables of rules as {places}")
        if rule.name not in methods:
            raise NotUnderstood("no method has this name")
        method = _Method(rule=rule, about=about)
        goals = method.run(methods[rule.name])
    except (NotUnderstood, SyntaxError, ZeroDivisionError) as e:
        yield owe("understood", (), FALSE, f"{rule.statement()}   {e}")
        return
    for kind, goal in goals:
        yield owe(kind, method.hypotheses, goal, rule.statement())


@functools.lru_cache(4)
def _parts(source: str) -> tuple[dict[str, ast.FunctionDef], list[tuple[str, ...]]]:
    """Return the methods by name, and the rows of the tables of rules: table, kind, strategy and name."""
    module = ast.parse(source)
    methods: dict[str, ast.FunctionDef] = {}
    tables: set[str] = set()
    table: list[tuple[str, ...]] = []
    classes: list[ast.ClassDef] = []
    for node in module.body:
        match node:
            case ast.Expr(value=ast.Constant()) | ast.Assign(targets=[ast.Name(id="__all__")]):
                pass
            case ast.ImportFrom(module=str(name), names=names) if {a.name for a in names} <= _IMPORTED.get(
                name, set()
            ) and not any(a.asname for a in names):
                pass
            case ast.ClassDef(bases=[ast.Name(id="Engine")], keywords=[], decorator_list=[]) if not classes:
                classes.append(node)
            case ast.Assign(
                targets=[ast.Attribute(value=ast.Name(id=engine), attr="RULES" | "EQUALITIES" as which)],
                value=ast.Dict(keys=kinds, values=rows),
            ) if [engine] == [c.name for c in classes] and which not in tables:
                tables.add(which)
                for kind, row in zip(kinds, rows, strict=True):
                    match kind, row:
                        case ast.Name(id=about), ast.Dict(keys=keys, values=lists):
                            table += [(which, about, *place) for place in _row(engine, keys, lists)]
                        case _:
                            raise misread(node)
            case _:
                raise misread(node)
    for node in classes[0].body if classes else []:
        match node:
            case ast.Expr(value=ast.Constant()):
                pass
            case ast.FunctionDef(name=name, decorator_list=[]) if name not in methods:
                methods[name] = node
            case _:
                raise misread(node)
    return methods, table


def _row(engine: str, keys: list[ast.expr | None], lists: list[ast.expr]) -> Iterator[tuple[str, str]]:
    for key, names in zip(keys, lists, strict=True):
        match key, names:
            case ast.Constant(value=str(strategy)), ast.Tuple(elts=elements):
                for element in elements:
                    match element:
                        case ast.Attribute(value=ast.Name(id=of), attr=method) if of == engine:
                            yield strategy, method
                        case _:
                            raise misread(element)
            case _:
                raise misread(names)


def misread(node: ast.AST) -> NotUnderstood:
    """Return the error for a part of the code that has no meaning here."""
    return NotUnderstood(f"line {getattr(node, 'lineno', 0)} is not understood: {ast.unparse(node)}")


def _name(node: ast.AST) -> str:
    if isinstance(node, ast.Name):
        return node.id
    raise misread(node)


# ------------------------------------------------------------------------------------------------------- what is known
@dataclass
class PathFacts:
    """Hypotheses that hold at a point of the code, over symbolic values."""

    hypotheses: list[Condition] = field(default_factory=list)
    solved: dict[Var, Expr] = field(default_factory=dict)
    fresh: int = 0

    def new(self, number: bool) -> Var:
        """Return a fresh variable."""
        self.fresh += 1
        return core.var(f"v{self.fresh}", "const" if number else "expr")

    def assume(self, c: Condition) -> None:
        """Add a hypothesis; an equation that can be solved for a variable is substituted everywhere instead."""
        for part in parts_of(c):
            known = self.learned(part)
            if isinstance(known, Compare) and known.op == "==" and self.solve(_expanded(known.a - known.b)):
                continue
            self.hypotheses.append(known)

    def solve(self, zero: Expr) -> bool:
        terms = zero.terms if isinstance(zero, Sum) else ((zero, 1),)
        for v, k in terms:
            if isinstance(v, Var) and k in (1, -1):
                value = _expanded(v - zero * k)
                if v not in value.variables():
                    for other in self.solved:
                        self.solved[other] = _expanded(self.solved[other].substitute({v: value}))
                    self.solved[v] = value
                    self.hypotheses = [self.learned(h) for h in self.hypotheses]
                    return True
        return False

    def known(self, e: Expr) -> Expr:
        return _expanded(e.substitute(self.solved))

    def learned(self, c: Condition) -> Condition:
        roots = {e: self.known(e) for e in all_exprs(c)}
        return c.substitute(roots)

    def goal(self, c: Condition) -> Condition:
        """Return a goal, or ``TRUE`` if it is a hypothesis or an identity."""
        goal = self.learned(c)
        if isinstance(goal, Compare) and goal.op == "==" and _expanded(goal.a - goal.b) is core.integer(0):
            return TRUE
        return goal if _owed(goal, self.hypotheses) else TRUE

    # -- code that means the same in every engine
    def exact(self, test: ast.expr) -> bool:
        """Return whether a test is exact, so that its failure implies its negation."""
        raise NotImplementedError

    def condition(self, test: ast.expr) -> Condition:
        """Return the condition that a successful test implies."""
        match test:
            case ast.BoolOp(op=op, values=values):
                return (all_of if isinstance(op, ast.And) else any_of)(map(self.condition, values))
            case ast.UnaryOp(op=ast.Not(), operand=held) if self.exact(held):
                return negate(self.condition(held))
            case ast.Compare(left=left, ops=ops, comparators=rights) if all(type(o) in RELATIONS for o in ops):
                ends = [self.number(e) for e in (left, *rights)]
                return all_of(
                    compare(RELATIONS[type(o)], a, b)  # type: ignore[arg-type]
                    for o, a, b in zip(ops, ends, ends[1:], strict=False)
                )
        raise misread(test)

    def number(self, e: ast.expr) -> Expr:
        """Return the value of an arithmetic expression."""
        match e:
            case ast.Constant(value=int(n)) if not isinstance(n, bool):
                return core.integer(n)
            case ast.UnaryOp(op=ast.USub(), operand=a):
                return -self.number(a)
            case ast.BinOp(left=a, op=op, right=b) if type(op) in OPERATIONS:
                return OPERATIONS[type(op)](self.number(a), self.number(b))
        raise misread(e)


# ------------------------------------------------------------------------------------------------------- one method
@dataclass
class _Method(PathFacts):
    """Symbolic execution of the one path through a method that ends in a result."""

    rule: Rule = field(kw_only=True)
    about: str = field(kw_only=True)
    numbers: dict[str, Expr] = field(default_factory=dict)
    forms: dict[str, Expr] = field(default_factory=dict)
    #: atoms with their kinds, and forms by the names that hold their only atom, if they have just one
    atoms: dict[str, tuple[str, Expr]] = field(default_factory=dict)
    lone: dict[str, Expr] = field(default_factory=dict)
    #: names that may be ``None``: whether the value is a number, the value otherwise, and a fact about it
    perhaps: dict[str, tuple[bool, Expr, Condition]] = field(default_factory=dict)
    recorded: list[str] | None = None
    returned: Expr | None = None

    def run(self, method: ast.FunctionDef) -> list[tuple[str, Condition]]:
        """Execute the method and return the obligations that must follow from its tests."""
        given = method.args
        if given.defaults or given.kwonlyargs or given.vararg or given.kwarg or given.posonlyargs:
            raise misread(given)
        types = [ast.unparse(a.annotation) if a.annotation else "" for a in given.args]
        for a, kind in zip(given.args[1:], types[1:], strict=True):
            self.bind(a.arg, self.new(kind == "int"), number=kind == "int")
        names = [a.arg for a in given.args]
        subject = ["Form"]
        if self.about not in ("SUM", "KNOWN"):
            subject.append("Form" if self.about in _EXTREMA else "int")
        if names[0] != "self" or types[1 : len(subject) + 1] != subject or {*types[1:]} - {"Form", "int"}:
            raise misread(given)
        asked = [{**self.numbers, **self.forms}[n] for n in names[1 : len(subject) + 1]]
        make = {**_DIVISIONS, **_EXTREMA, "CEILING": core.ceildiv}.get(self.about, lambda x: x)
        self.block(method.body)
        return self.owed(make(*asked))

    def bind(self, name: str, value: Expr, *, number: bool) -> None:
        """Bind a name to its only value."""
        mine = self.numbers if number else self.forms
        if name in self.atoms or (self.has(name) and mine.get(name) is not value):
            raise NotUnderstood(f"{name} has another value already")
        mine[name] = value

    # -- statements
    def block(self, body: list[ast.stmt]) -> None:
        for k, node in enumerate(body):
            match node:
                case ast.Expr(value=ast.Constant()):
                    pass
                case ast.For(orelse=[], target=ast.Tuple() | ast.Name()):
                    if any(ast.unparse(n) != "return None" for n in body[k + 1 :]):
                        raise misread(body[k + 1])
                    self.loop(node)
                    return
                case ast.If(
                    test=ast.UnaryOp(op=ast.Not(), operand=test),
                    body=[ast.Continue() | ast.Return(value=ast.Constant(value=None))],
                    orelse=[],
                ):
                    self.passed(test)
                case ast.If(test=test, body=[ast.Expr(value=call)], orelse=[]) if self.recorded is None:
                    self.record(test, call)
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    self.assign(name, value)
                case ast.Return(value=ast.expr() as value) if k == len(body) - 1:
                    self.returned = self.form(value)
                case _:
                    raise misread(node)

    def record(self, test: ast.expr, call: ast.expr) -> None:
        match ast.unparse(test), call:
            case "self.record is not None", ast.Call(
                func=ast.Attribute(value=ast.Name(id="self"), attr="record"),
                args=[ast.Constant(value=name), ast.Tuple(elts=values)],
                keywords=[],
            ) if name == self.rule.name:
                self.recorded = [_name(v) for v in values]
            case _:
                raise misread(call)

    def assign(self, name: str, value: ast.expr) -> None:
        function, args = _call(value)
        match value:
            case ast.BinOp(op=ast.FloorDiv()):
                # a proposal; the tests imply all that is used of it
                self.bind(name, self.new(True), number=True)
            case ast.Subscript(value=ast.Attribute(value=ast.Name(id="self"), attr=part), slice=ast.Name(id=at)):
                _, found = self.atoms.get(at, ("", None))
                if not isinstance(found, (FloorDiv, Mod)) or part not in ("arg", "divisor"):
                    raise misread(value)
                self.bind(name, found.a if part == "arg" else found.b, number=part == "divisor")
            case _ if function == "self.coefficient":
                self.bind(name, self.new(True), number=True)
            case _ if function == "lone" and len(args) == 1 and not self.has(name):
                self.lone[name] = self.form(args[0])
            case _ if function == "self.constant" and len(args) == 1 and not self.has(name):
                k = self.new(True)
                self.perhaps[name] = True, k, Compare("==", k, self.form(args[0]))
            case _ if function == "exactly" and len(args) == 2 and not self.has(name):
                r = self.new(False)
                self.perhaps[name] = False, r, Compare("==", self.number(args[1]) * r, self.form(args[0]))
            case _ if self.is_number(value):
                self.bind(name, self.number(value), number=True)
            case _:
                self.bind(name, self.form(value), number=False)

    def has(self, name: str) -> bool:
        return any(name in d for d in (self.numbers, self.forms, self.lone, self.perhaps, self.atoms))

    def loop(self, node: ast.For) -> None:
        names = [_name(n) for n in (node.target.elts if isinstance(node.target, ast.Tuple) else [node.target])]
        function, args = _call(node.iter)
        if len(names) == 2 and ast.unparse(node.iter) == "(({0}, {1}), ({1}, {0}))".format(*names):
            # both orders of the arguments of an extremum, which are symmetric before any test
            if self.hypotheses or self.solved or self.about not in _EXTREMA or {*names} != {*self.forms}:
                raise misread(node.iter)
        elif any(map(self.has, names)):
            raise misread(node.target)
        elif function == "self.atoms" and len(args) == len(names) == 2:
            self.form(args[0])
            self.meet(names[0], _name(args[1]))
            self.bind(names[1], self.new(True), number=True)
        elif function == "self.splits" and len(args) == 1 and len(names) == 2:
            x, y = self.new(False), self.new(False)
            self.bind(names[0], x, number=False)
            self.bind(names[1], y, number=False)
            self.assume(self.is_extremum(args[0], x, y))
        elif function == "self.beside" and len(args) == 2 and len(names) == 1:
            y = self.new(False)
            self.bind(names[0], y, number=False)
            self.assume(self.is_extremum(args[0], self.form(args[1]), y))
        else:
            raise misread(node.iter)
        self.block(node.body)

    def meet(self, name: str, kind: str) -> Expr:
        """Introduce an atom of this kind with fresh operands."""
        if name in self.atoms:
            raise NotUnderstood(f"{name} is an atom already")
        if kind in _DIVISIONS:
            made = _DIVISIONS[kind](self.new(False), self.new(True))
        elif kind in _EXTREMA:
            made = self.new(False)
        else:
            raise NotUnderstood(f"no atom is a {kind}")
        self.atoms[name] = kind, made
        return made

    def is_extremum(self, at: ast.expr, x: Expr, y: Expr) -> Condition:
        kind, value = self.atoms.get(_name(at), ("", x))
        if kind not in _EXTREMA:
            raise misread(at)
        return Compare("==", value, _EXTREMA[kind](x, y))

    # -- tests
    def passed(self, test: ast.expr) -> None:
        """Assume that a test succeeded."""
        match test:
            case ast.Compare(left=ast.Name(id=name), ops=[ast.IsNot()], comparators=[ast.Constant(value=None)]):
                if name not in self.perhaps:
                    raise misread(test)
                number, value, condition = self.perhaps.pop(name)
                self.bind(name, value, number=number)
                self.assume(condition)
            case ast.BoolOp(op=ast.And(), values=[first, ast.Compare() as second]) if (
                name := ast.unparse(first).removesuffix(" >= 0")
            ) in self.lone:
                if ast.unparse(first) != f"{name} >= 0":
                    raise misread(test)
                self.assume(compare("==", self.lone[name], self.meet(name, self.kind(second, name))))
            case ast.Compare(left=ast.Subscript(slice=ast.Name(id=name))) if name in self.numbers:
                self.meet(name, self.kind(test, name))
            case _:
                self.assume(self.condition(test))

    def kind(self, test: ast.expr, name: str) -> str:
        text, _, kind = ast.unparse(test).partition(" == ")
        if text != f"self.kind[{name}]":
            raise misread(test)
        return kind

    def condition(self, test: ast.expr) -> Condition:
        """Return the condition that a successful test implies.  Nothing follows from its failure."""
        function, args = _call(test)
        match test, function, args:
            case ast.Compare(left=a, ops=[ast.Eq()], comparators=[b]), _, _ if not self.is_number(a):
                return compare("==", self.form(a), self.form(b))
            case _, "self.within", [x, lo, hi]:
                return self.form(x).within(self.number(lo), self.number(hi))
            case _, "self.at_most", [x, y]:
                return self.form(x) <= self.form(y)
            case _, "self.equal", [x, y]:
                return compare("==", self.form(x), self.form(y))
            case _, "self.is_multiple", [x, d]:
                return divides(self.number(d), self.form(x))
            case _, "self.made_of", [at, x, y]:
                return self.is_extremum(at, self.form(x), self.form(y))
            case (_, "self.contains", [_, _, _, _]) | (_, "self.descends", [_, _]):
                # assume nothing, because these tests serve cost and termination, not soundness
                return TRUE
        return super().condition(test)

    def exact(self, test: ast.expr) -> bool:
        return isinstance(test, ast.Compare) and self.is_number(test.left)

    # -- values
    def is_number(self, e: ast.expr) -> bool:
        match e:
            case ast.Name(id=name):
                return name in self.numbers
            case ast.Call(func=ast.Name(id="min" | "max")):
                return True
        return isinstance(e, (ast.Constant, ast.BinOp, ast.UnaryOp))

    def number(self, e: ast.expr) -> Expr:
        match e:
            case ast.Name(id=name) if name in self.numbers and name not in self.atoms:
                return self.numbers[name]
        return super().number(e)

    def form(self, e: ast.expr) -> Expr:
        function, args = _call(e)
        match e, function, args:
            case ast.Name(id=name), _, _ if name in self.forms:
                return self.forms[name]
            case ast.Tuple(elts=[n, ast.Tuple(elts=[])]), _, _:
                return self.number(n)
            case _, "atom", [ast.Name(id=name)] if name in self.atoms:
                return self.atoms[name][1]
            case _, "minus", [x, y, k]:
                return self.form(x) - self.form(y) * self.number(k)
            case _, "times" | "self.scale", [x, k]:
                return self.form(x) * self.number(k)
            case _, "self.add", [x, y]:
                return self.form(x) + self.form(y)
            case _, "self.shift", [x, k]:
                return self.form(x) + self.number(k)
            case _, "self.normal", [x]:
                return self.form(x)
            case _, "self.floordiv", [x, d]:
                return self.form(x) // self.number(d)
            case _, "self.mod", [x, d]:
                return self.form(x) % self.number(d)
            case _, "self.raw", [ast.Name(id=kind), x, d] if kind in _DIVISIONS:
                return _DIVISIONS[kind](self.form(x), self.number(d))
            case _, "self.extremum", [ast.Name(id=kind), ast.List(elts=parts)] if kind in _EXTREMA:
                return _EXTREMA[kind](*map(self.form, parts))
        raise misread(e)

    # -- what follows
    def owed(self, subject: Expr) -> list[tuple[str, Condition]]:
        """Return the rule's two sides and conditions as goals, for the recorded values."""
        if self.recorded is None or self.returned is None:
            raise NotUnderstood("nothing is recorded or returned")
        values = [self.numbers.get(n, self.forms.get(n)) for n in self.recorded]
        of = {v: e for v, e in zip(self.rule.variables, values, strict=False) if e is not None}
        if len(of) < len(self.rule.variables) or len(values) > len(of):
            raise NotUnderstood(f"{self.recorded} are not the values of the variables of the rule")
        for v, name in zip(self.rule.variables, self.recorded, strict=True):
            if (v.kind == "const") is not (name in self.numbers):
                raise NotUnderstood(f"{name} is a constant or a form where {v} is not")
        left, right = substitute_all((self.rule.left, self.rule.right), of)
        goals = [("left side", compare("==", left, subject)), ("right side", compare("==", right, self.returned))]
        goals += [(show_condition(c), c.substitute(of)) for c in self.rule.conditions]
        return [(kind, self.goal(c)) for kind, c in goals]


def _owed(goal: Condition, hypotheses: list[Condition]) -> bool:
    """Return whether a goal is not a hypothesis, also in the forms that divisibility and ranges can take."""
    if goal in hypotheses:
        return False
    if isinstance(goal, Divides):
        nonzero, remainder = (compare("!=", goal.d, core.integer(0)), compare("==", goal.e % goal.d, core.integer(0)))
        return not (nonzero in hypotheses and remainder in hypotheses)
    return not (isinstance(goal, Within) and {goal.lo <= goal.e, goal.e <= goal.hi} <= set(hypotheses))


def _call(e: ast.expr) -> tuple[str, list[ast.expr]]:
    return (ast.unparse(e.func), e.args) if isinstance(e, ast.Call) and not e.keywords else ("", [])


def _expanded(e: Expr) -> Expr:
    """Distribute products over sums, in all subexpressions."""
    made: dict[Expr, Expr] = {}
    for node in postorder(e):
        new = rebuild(node, [made[k] for k in node.children])
        made[node] = _product(new) if isinstance(new, Mul) else new
    return made[e]


def _product(e: Mul) -> Expr:
    terms: list[Expr] = [core.integer(1)]
    for f in e.factors:
        parts = [core.integer(f.const), *[t * k for t, k in f.terms]] if isinstance(f, Sum) else [f]
        terms = [t * p for t in terms for p in parts]
    return core.add(*terms)
