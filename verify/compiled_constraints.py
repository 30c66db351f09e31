"""The obligations *as compiled* of constraint rules: the generated function of a rule does what the rule says.

The module is parsed, and every function is executed symbolically: a test that succeeds is a hypothesis, and unknown
code is refused.  If a function returns a result, the values that it gives to the variables must turn the left side of
the rule into the given constraints and the right side into the result, and every condition must follow.  The generator
is not trusted.
"""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Callable, Iterator
from typing import Final

from ..core import expr as core
from ..core.condition import FALSE, TRUE, Condition, compare, show_condition
from ..core.constraint_matcher import constraint_source
from ..core.expr import Expr
from ..core.rewrite import ConstraintRule
from ..rules.catalog import COMPILED_CONSTRAINTS, RULES
from .compiled import NotUnderstood, PathFacts, misread
from .obligation import Obligation

_IMPORTED: Final = {
    "from __future__ import annotations",
    "from collections.abc import Sequence",
    "from typing import Final",
    "from ..core.constraint_choose import Ends, Proposal",
    "from ..core.constraint_matcher import Applied, Check, expression, inside, number",
    "from ..core.constraint_order import Bound",
    "from ..core.expr import FloorDiv, Int, Mod, Sum, ceildiv, floordiv, integer, linear, maximum, minimum, mod",
}


def obligations_of_check(rule: ConstraintRule, source: str | None = None) -> Iterator[Obligation]:
    """Yield the obligations of the generated code of a constraint rule; the goal is ``false`` for unknown code.

    The code of a rule of the catalogue is read from its file; for any other rule it is generated.
    """
    if source is None:
        written = any(rule is r for r in RULES.constraints)
        source = COMPILED_CONSTRAINTS.read_text("utf-8") if written else constraint_source([rule], "One rule.")
    check = _Check()
    try:
        goals = check.run(rule, _functions(source)[rule.name])
    except (NotUnderstood, SyntaxError, KeyError, ZeroDivisionError) as e:
        goals, check.hypotheses = [(f"understood: {e}", FALSE)], []
    for kind, goal in goals:
        yield Obligation(
            "constraint rule",
            rule.name,
            f"as compiled: {kind}",
            tuple(check.hypotheses),
            goal,
            where=rule.where,
            claim=rule.statement(),
        )


@functools.lru_cache(4)
def _functions(source: str) -> dict[str, ast.FunctionDef]:
    found: dict[str, ast.FunctionDef] = {}
    for node in ast.parse(source).body:
        match node:
            case ast.FunctionDef(name=name, decorator_list=[]) if name not in found:
                found[name] = node
            case ast.Expr(value=ast.Constant()) | ast.Assign(targets=[ast.Name(id="__all__")]):
                pass
            case ast.AnnAssign(target=ast.Name(id="CHECKS"), value=ast.Dict(keys=keys, values=values)):
                for key, value in zip(keys, values, strict=True):
                    if ast.unparse(key or value) != repr(ast.unparse(value)):
                        raise misread(value)
            case _ if ast.unparse(node) not in _IMPORTED:
                raise misread(node)
    return found


class _Check(PathFacts):
    """Symbolic execution of the one path through a function that ends in a result."""

    def run(self, rule: ConstraintRule, function: ast.FunctionDef) -> list[tuple[str, Condition]]:
        """Execute the function and return the obligations that must follow from its tests."""
        self.names: dict[str, Expr] = {}
        #: names of values that the strategy may not have proposed
        self.missing: set[str] = set()
        self.given: dict[int, tuple[Expr, Expr, Expr]] = {}
        match function.args, function.body:
            case (
                ast.arguments(args=[ast.arg("_cs"), ast.arg("_ends"), ast.arg("_v")], defaults=[], kwonlyargs=[]),
                [
                    ast.Expr(value=ast.Constant()),
                    ast.Try(
                        body=[*body, ast.Return(value=ast.Tuple(elts=[ast.Tuple(elts=right), ast.Dict() as values]))],
                        handlers=[ast.ExceptHandler(body=[ast.Return(value=ast.Constant(value=None))])],
                        orelse=[],
                        finalbody=[],
                    ),
                ],
            ):
                for node in body:
                    self.statement(node)
            case _:
                raise misread(function)
        of: dict[core.Var, Expr] = {}
        for v in rule.variables:
            found = [e for k, e in zip(values.keys, values.values, strict=True) if k and ast.unparse(k) == repr(v.name)]
            if len(found) != 1 or (v.kind == "const") is not self.is_number(value := self.number(found[0])):
                raise NotUnderstood(f"{v} has no value of its kind")
            of[v] = value
        if sorted(self.given) != list(range(len(rule.left))) or len(right) != len(rule.right):
            raise NotUnderstood("the constraints are not as many as the rule has")
        goals = []
        sides = [(f"left side {n + 1}", b, self.given[n]) for n, b in enumerate(rule.left)]
        for n, (b, made) in enumerate(zip(rule.right, right, strict=True)):
            if not isinstance(made, ast.Tuple) or len(made.elts) != 3:
                raise misread(made)
            e, lo, hi = map(self.number, made.elts)
            sides.append((f"right side {n + 1}", b, (e, lo, hi)))
        for side, b, values_of in sides:
            for part, pattern, value in zip(("", ", low end", ", high end"), (b.e, b.lo, b.hi), values_of, strict=True):
                goals.append((side + part, compare("==", pattern.substitute(of), value)))
        goals += [(show_condition(c), c.substitute(of)) for c in rule.conditions]
        return [(kind, self.goal(c)) for kind, c in goals]

    def is_number(self, e: Expr) -> bool:
        return all(v.kind == "const" for v in e.variables())

    # -- statements
    def statement(self, node: ast.stmt) -> None:
        match node:
            case ast.Assign(targets=[ast.Tuple(elts=names)], value=value) if (
                at := re.fullmatch(r"_cs\[(\d)\]", ast.unparse(value))
            ) and int(at[1]) not in self.given:
                self.given[int(at[1])] = made = self.new(False), self.new(True), self.new(True)
                for name, v in zip(names, made, strict=True):
                    self.bind(name, v)
            case ast.Assign(
                targets=[ast.Name(id=name) as target],
                value=ast.Call(func=ast.Name(id="number" | "expression" as kind)) as value,
            ) if ast.unparse(value) == f"{kind}(_v, {name!r})":
                self.bind(target, self.new(kind == "number"))
                self.missing.add(name)
            case ast.Assign(targets=[ast.Name() as target], value=value):
                self.bind(target, self.number(value))
            case ast.If(test=test, body=[ast.Return(value=ast.Constant(value=None))], orelse=[]):
                self.failed(test)
            case _:
                raise misread(node)

    def bind(self, target: ast.expr, value: Expr) -> None:
        """Bind a name to its only value."""
        if not isinstance(target, ast.Name) or target.id in self.names:
            raise misread(target)
        self.names[target.id] = value

    def failed(self, test: ast.expr) -> None:
        """Assume that a test failed."""
        match test:
            case ast.Compare(left=ast.Name(id=name), ops=[ast.Is()], comparators=[ast.Constant(value=None)]):
                self.missing.discard(name)
            case ast.UnaryOp(op=ast.Not(), operand=held):
                self.assume(self.condition(held))
            case ast.Compare(left=ast.Call(func=ast.Name(id="type"), args=[e]), ops=[ast.IsNot()], comparators=[t]):
                self.typed(e, ast.unparse(t))
            case ast.Compare(left=a, ops=[ast.IsNot() | ast.NotEq()], comparators=[b]):
                self.assume(compare("==", self.number(a), self.number(b)))
            case _:
                raise misread(test)

    def typed(self, e: ast.expr, kind: str) -> None:
        """Assume that an expression is of this class, and give it fresh operands."""
        value = self.number(e)
        made: dict[str, Callable[[], Expr]] = {
            "Int": lambda: self.new(True),
            "FloorDiv": lambda: self.new(False) // self.new(False),
            "Mod": lambda: self.new(False) % self.new(False),
            "Sum": lambda: self.new(True) + self.new(False),
        }
        if kind not in made or not isinstance(value, core.Var):
            raise misread(e)
        new = made[kind]()
        swap = {value: new}
        self.names = {n: v.substitute(swap) for n, v in self.names.items()}
        self.given = {n: tuple(v.substitute(swap) for v in c) for n, c in self.given.items()}  # type: ignore[misc]
        self.hypotheses = [h.substitute(swap) for h in self.hypotheses]
        self.solved = {v: k.substitute(swap) for v, k in self.solved.items()}

    # -- tests
    def condition(self, test: ast.expr) -> Condition:
        """Return the condition that a successful test implies."""
        match test:
            case ast.Constant(value=bool(known)):
                return TRUE if known else FALSE
            case ast.Call(func=ast.Name(id="inside"), args=[ast.Call(func=ast.Name(id="_ends"), args=[e]), lo, hi]):
                return self.number(e).within(self.number(lo), self.number(hi))
        return super().condition(test)

    def exact(self, test: ast.expr) -> bool:
        return "_ends" not in ast.unparse(test)

    # -- values
    def number(self, e: ast.expr) -> Expr:
        match e:
            case ast.Name(id=name) if name in self.names and name not in self.missing:
                return self.names[name]
            case ast.Call(func=ast.Name(id="integer"), args=[a]):
                return self.number(a)
            case ast.Call(func=ast.Name(id="linear"), args=[constant, ast.List(elts=terms)]):
                total = self.number(constant)
                for t in terms:
                    match t:
                        case ast.Tuple(elts=[x, k]):
                            total += self.number(x) * self.number(k)
                        case _:
                            raise misread(t)
                return total
            case ast.Call(func=ast.Name(id="min" | "max" | "minimum" | "maximum" as name), args=args):
                return (core.minimum if name[:3] == "min" else core.maximum)(*map(self.number, args))
            case ast.Call(func=ast.Name(id="floordiv" | "mod" as name), args=[a, b]):
                return (core.floordiv if name == "floordiv" else core.mod)(self.number(a), self.number(b))
            case ast.Attribute(value=of, attr="a" | "b" | "value" | "const" as part):
                return self.part(e, self.number(of), part)
            case ast.Subscript(
                value=ast.Call(func=ast.Name(id="_ends"), args=[a]), slice=ast.Constant(value=0 | 1 as upper)
            ):
                # a lower or an upper bound of the expression
                end, enclosed = self.new(True), self.number(a)
                self.assume(enclosed <= end if upper else end <= enclosed)
                return end
        return super().number(e)

    def part(self, at: ast.expr, of: Expr, part: str) -> Expr:
        """Return a part of an expression whose class a test has established."""
        match part, of:
            case "a" | "b", core.FloorDiv() | core.Mod():
                return of.a if part == "a" else of.b
            case "value", core.Var(kind="const"):
                return of
            case "const", core.Sum(const=0, terms=terms):
                numbers = [t for t, k in terms if isinstance(t, core.Var) and t.kind == "const" and k == 1]
                if len(terms) == 2 and len(numbers) == 1:
                    return numbers[0]
        raise misread(at)
