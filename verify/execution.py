"""Symbolic execution of the code that is generated from rules.

The code is executed by Python: a number is a constant of the prover, and a form or an expression is the value that it has.
Tests are replaced by calls (:class:`_Tests`): both ways of each are taken, and what it implies is assumed on its way.
"""

from __future__ import annotations
import __future__ as future

import ast
import functools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

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
    negate,
    parts_of,
)
from ..core.expr import Expr, FloorDiv, Int, Max, Min, Mod, Mul, Sum, Var, postorder, rebuild

#: Labelled goals.
Goals = list[tuple[str, Condition]]
Function = Callable[..., Any]


class NotUnderstood(ValueError):
    """Raised for generated code without a meaning here, or that does not fit its rule."""


#: Allowed imports, because any other could give these names another meaning.
_IMPORTS: Final = {
    "from __future__ import annotations",
    "from ..core.engine import Engine",
    "from ..core.kernel.form import MAXIMUM, MINIMUM, QUOTIENT, REMAINDER, Form, atom, exactly, lone, minus, times",
    "from ..core.kernel.kernel import CEILING, KNOWN, SUM",
    "from collections.abc import Sequence",
    "from typing import Final",
    "from ..core.constraint_choose import Ends, Proposal",
    "from ..core.constraint_matcher import Applied, Check, expression, inside, number",
    "from ..core.constraint_order import Bound",
    "from ..core.expr import FloorDiv, Int, Mod, Sum, ceildiv, floordiv, integer, linear, maximum, minimum, mod",
}
#: Operations by the classes of their expressions.
DIVISIONS: Final[dict[Any, Function]] = {FloorDiv: core.floordiv, Mod: core.mod}
EXTREMA: Final[dict[Any, Function]] = {Min: core.minimum, Max: core.maximum}


def paths(goals_of: Callable[[ExecutionPath], Goals | None]) -> Iterator[tuple[tuple[Condition, ...], Goals]]:
    """Yield the hypotheses and goals of each path that ends in a result, of which there must be one."""
    pending: list[tuple[bool, ...]] = [()]
    ended = False
    while pending:
        path = ExecutionPath(pending.pop())
        goals = goals_of(path)
        pending += [(*path.taken[:k], True) for k in range(len(path.choices), len(path.taken))]
        if goals is not None:
            ended = True
            path.settle()
            yield tuple(path.hypotheses), [(kind, path.goal(c)) for kind, c in goals]
    if not ended:
        raise NotUnderstood("no path ends in a result")


# -------------------------------------------------------------------------------------------------------- the modules
FILE = "<generated code>"


@functools.lru_cache(4)
def module_of(source: str) -> tuple[dict[str, ast.FunctionDef], dict[str, Any]]:
    """Return the functions or methods of a module by name, and its tables, with names as text."""
    functions: dict[str, ast.FunctionDef] = {}
    tables: dict[str, Any] = {}
    pending = ast.parse(source).body[::-1]
    classes = 0
    while pending:
        node = pending.pop()
        match node:
            case ast.Expr(value=ast.Constant()) | ast.Assign(targets=[ast.Name(id="__all__")]):
                pass
            case ast.FunctionDef(name=name, decorator_list=[]) if name not in functions:
                functions[name] = node
            case ast.ClassDef(bases=[ast.Name(id="Engine")], keywords=[], decorator_list=[]) if not classes:
                classes += 1
                pending += node.body[::-1]
            case (
                ast.Assign(targets=[target], value=ast.Dict() as rows)
                | ast.AnnAssign(target=target, value=ast.Dict() as rows)
            ) if (name := ast.unparse(target)) not in tables:
                tables[name] = ast.literal_eval(_Quoted().visit(rows))
            case _ if ast.unparse(node) not in _IMPORTS:
                raise NotUnderstood(f"line {node.lineno} is not understood: {ast.unparse(node)}")
    return functions, tables


class _Quoted(ast.NodeTransformer):
    """Replaces names, with or without a dot, by their text."""

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return ast.Constant(node.id)

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        return ast.Constant(ast.unparse(node))


def function_of(node: ast.FunctionDef, path: ExecutionPath, names: Mapping[str, Any]) -> Function:
    """Return a function to be executed on a path, with a meaning for each of the other names in it."""
    known: dict[str, Any] = {"__builtins__": {"ZeroDivisionError": ZeroDivisionError}, "_path": path, **names}
    exec(_code(node), known)
    made: Function = known[node.name]
    return made


@functools.lru_cache(128)
def _code(node: ast.FunctionDef) -> Any:
    module = ast.Module([_Tests(node).visit(node)], [])
    flags = future.annotations.compiler_flag
    return compile(ast.fix_missing_locations(module), FILE, "exec", flags, dont_inherit=True)


#: What generated code consists of: statements, expressions, and their parts.
_SYNTAX: Final = (
    *(ast.FunctionDef, ast.arguments, ast.arg, ast.If, ast.For, ast.Continue, ast.Return, ast.Assign, ast.Expr),
    *(ast.Try, ast.ExceptHandler, ast.Call, ast.Compare, ast.BoolOp, ast.BinOp, ast.UnaryOp, ast.Attribute),
    *(ast.Subscript, ast.Name, ast.Constant, ast.Tuple, ast.List, ast.Dict),
    *(ast.expr_context, ast.boolop, ast.operator, ast.unaryop, ast.cmpop),
)


class _Tests(ast.NodeTransformer):
    """Replaces tests by calls of a path, and an assigned quotient by any number, since the tests imply what is used.

    A name has one value, so that an iteration of a loop cannot depend on an earlier one, which may not be executed.
    """

    def __init__(self, node: ast.FunctionDef) -> None:
        self.bound = {a.arg for a in ast.walk(node.args) if isinstance(a, ast.arg)}
        for part in ast.walk(node):
            # a division by zero is on no path
            handler = isinstance(part, ast.ExceptHandler) and [*map(ast.unparse, part.body)] != ["return None"]
            if handler or not isinstance(part, _SYNTAX):
                line = getattr(part, "lineno", node.lineno)
                raise NotUnderstood(f"line {line} is not understood: {ast.unparse(part)}")

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        self.generic_visit(node)
        ends = [node.left, *node.comparators]
        if any(isinstance(e, ast.Constant) and e.value is None for e in ends):
            return node
        relations = [ast.Constant(_RELATIONS.get(type(op).__name__)) for op in node.ops]
        pairs = zip(relations, ends, ends[1:], strict=False)
        return self.call(node, "both", [self.call(node, "compare", [*pair]) for pair in pairs])

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        self.generic_visit(node)
        return self.call(node, "both" if isinstance(node.op, ast.And) else "either", node.values)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        self.generic_visit(node)
        return self.call(node, "neither", [node.operand]) if isinstance(node.op, ast.Not) else node

    def visit_If(self, node: ast.If) -> ast.stmt:
        self.generic_visit(node)
        node.test = self.call(node.test, "decide", [node.test])
        return node

    def visit_For(self, node: ast.For) -> ast.stmt:
        # each value of a tuple is executed, so that targets may have several
        targets = [] if isinstance(node.iter, ast.Tuple) else [node.target]
        for part in (*targets, node.iter, *node.body, *node.orelse):
            self.visit(part)
        return node

    def visit_Assign(self, node: ast.Assign) -> ast.stmt:
        target = ast.unparse(node.targets[0])
        if ast.unparse(node.value) == f"self.normal({target})":
            return node
        self.generic_visit(node)
        if isinstance(node.value, ast.BinOp) and isinstance(node.value.op, ast.FloorDiv):
            node.value = self.call(node.value, "number", [])
        return node

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if isinstance(node.ctx, ast.Store):
            if node.id in self.bound:
                raise NotUnderstood(f"line {node.lineno}: {node.id} has another value already")
            self.bound.add(node.id)
        return node

    def only_read(self, node: ast.Attribute | ast.Subscript) -> ast.expr:
        if not isinstance(node.ctx, ast.Load):
            raise NotUnderstood(f"line {node.lineno} changes {ast.unparse(node)}")
        self.generic_visit(node)
        return node

    visit_Attribute = visit_Subscript = only_read

    def call(self, at: ast.expr, name: str, args: list[ast.expr]) -> ast.expr:
        function = ast.Attribute(ast.Name("_path", ast.Load()), name, ast.Load())
        return ast.copy_location(ast.Call(function, args, []), at)


#: Comparisons by name; identical forms and expressions are equal.
_RELATIONS: Final = {"Lt": "<", "LtE": "<=", "GtE": ">=", "Eq": "==", "NotEq": "!=", "Is": "==", "IsNot": "!="}


# ------------------------------------------------------------------------------------------------------------- values
@dataclass(eq=False)
class SymbolicForm:
    """A form, an atom or an expression: its value, and its operands if its operation is known.

    ``known`` is the condition under which the operation is the one of the operands.  For the result of ``lone``,
    ``whole`` is the form that it may be.
    """

    expr: Expr
    operands: dict[str, Any] = field(default_factory=dict)
    kind: type[Expr] | None = None
    known: Condition = FALSE
    whole: Expr | None = None

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name not in self.operands:
            raise AttributeError(f"{self.expr} has no known `{name}`")
        return self.operands[name]


@dataclass(frozen=True)
class FormKind:
    """The kind of an atom, or the class of an expression, whose divisor is an expression."""

    of: SymbolicForm
    expression: bool = False


def number_of(n: Any) -> Expr:
    """Return the value of a number."""
    if type(n) is int or (isinstance(n, Expr) and all(v.kind == "const" for v in n.variables())):
        return core.lift(n)
    raise NotUnderstood(f"no number: {n}")


def value_of(e: Any) -> Expr:
    """Return the value of a form; ``(n, ())`` is that of a number."""
    match e:
        case SymbolicForm():
            return e.expr
        case (n, ()):
            return number_of(n)
    raise NotUnderstood(f"no form: {e}")


@dataclass(frozen=True)
class SymbolicTest:
    """A test: what follows from its success, and from its failure."""

    yes: Condition
    no: Condition = TRUE

    def __bool__(self) -> bool:
        raise NotUnderstood("a test decides something other than an `if`")


def _test(test: Any) -> SymbolicTest:
    match test:
        case SymbolicTest():
            return test
        case True:
            return SymbolicTest(TRUE, FALSE)
        case False:
            return SymbolicTest(FALSE, TRUE)
    raise NotUnderstood(f"no test: {test}")


class ExecutionPath:
    """One path through a function: which tests succeed, and the hypotheses that follow."""

    def __init__(self, choices: tuple[bool, ...]) -> None:
        self.choices = choices
        self.taken: list[bool] = []
        self.assumed: list[Condition] = []
        self.hypotheses: list[Condition] = []
        self.solved: dict[Var, Expr] = {}
        self.fresh = 0

    # -- values
    def new(self, kind: str) -> Var:
        """Return a fresh variable."""
        self.fresh += 1
        return core.var(f"v{self.fresh}", kind)

    def number(self) -> Var:
        return self.new("const")

    def form(self) -> SymbolicForm:
        return SymbolicForm(self.new("expr"))

    # -- tests
    def decide(self, test: Any) -> bool:
        """Choose whether a test succeeds, unless that is known; the first choice is that it fails."""
        test = _test(test)
        if test.yes is FALSE or test.no is FALSE:
            return test.no is FALSE
        k = len(self.taken)
        chosen = k < len(self.choices) and self.choices[k]
        self.taken.append(chosen)
        self.assumed.append(test.yes if chosen else test.no)
        return chosen

    def perhaps(self, value: Any, known: Condition = TRUE) -> Any:
        """Return a value about which something is known, or ``None``."""
        return None if self.decide(SymbolicTest(TRUE, known)) else value

    def both(self, *tests: Any) -> SymbolicTest:
        found = [*map(_test, tests)]
        return SymbolicTest(all_of(t.yes for t in found), any_of(t.no for t in found))

    def either(self, *tests: Any) -> SymbolicTest:
        return self.neither(self.both(*map(self.neither, tests)))

    def neither(self, test: Any) -> SymbolicTest:
        test = _test(test)
        return SymbolicTest(test.no, test.yes)

    def compare(self, op: str, a: Any, b: Any) -> SymbolicTest:
        match op, a, b:
            case ">=", SymbolicForm(whole=Expr() as whole), 0:
                return SymbolicTest(compare("==", a.expr, whole))
            case "==" | "!=", FormKind(), type():
                equal = SymbolicTest(self.is_a(a, b))
            case ("==" | "!=", SymbolicForm(), _) | ("==" | "!=", _, SymbolicForm()):
                # forms of one value may be unequal
                equal = SymbolicTest(compare("==", value_of(a), value_of(b)))
            case "==" | "!=" | "<" | "<=", _, _:
                c = compare(op, number_of(a), number_of(b))
                return SymbolicTest(c, negate(c))
            case _:
                raise NotUnderstood(f"no test: {a} {op} {b}")
        return equal if op == "==" else self.neither(equal)

    def is_a(self, kind: FormKind, expected: type[Expr]) -> Condition:
        """Return the condition that a form is of this kind, and give it operands, which mean nothing otherwise."""
        form, a, b = kind.of, self.form(), self.form() if kind.expression else self.number()
        if expected in (FloorDiv, Mod):
            made = DIVISIONS[expected](a.expr, value_of(b) if kind.expression else b)
            form.operands = {"a": a, "b": b}
        elif expected in EXTREMA and not kind.expression:
            b = self.form()
            made = EXTREMA[expected](a.expr, b.expr)
            form.operands = {"a": a, "b": b}
        elif expected in (Int, Sum) and kind.expression:
            n = self.number()
            made = n if expected is Int else n + a.expr
            form.operands = {"value" if expected is Int else "const": n}
        else:
            raise NotUnderstood(f"{form.expr} has no kind {expected}")
        form.kind, form.known = expected, compare("==", form.expr, made)
        return form.known

    # -- what is known
    def settle(self) -> None:
        """Make hypotheses of all that is assumed; an equation that can be solved for a variable is substituted."""
        for part in (p for c in self.assumed for p in parts_of(c)):
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

    def learned(self, c: Condition) -> Condition:
        return c.substitute({e: _expanded(e.substitute(self.solved)) for e in all_exprs(c)})

    def goal(self, c: Condition) -> Condition:
        """Return a goal, or ``TRUE`` if it is a hypothesis or an identity."""
        goal = self.learned(c)
        if isinstance(goal, Compare) and goal.op == "==" and _expanded(goal.a - goal.b) is core.integer(0):
            return TRUE
        return TRUE if self.holds(goal) else goal

    def holds(self, goal: Condition) -> bool:
        """Return whether a goal is a hypothesis, also in the forms that divisibility and ranges can take."""
        if isinstance(goal, Divides):
            zero = core.integer(0)
            forms = {compare("!=", goal.d, zero), compare("==", goal.e % goal.d, zero)}
            return goal in self.hypotheses or forms <= {*self.hypotheses}
        ends = {goal.lo <= goal.e, goal.e <= goal.hi} if isinstance(goal, Within) else {goal}
        return goal in self.hypotheses or ends <= {*self.hypotheses}


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
