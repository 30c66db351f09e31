"""Compile constraint rules to functions, which alone apply them.

The function generated for a rule is given constraints, a function that bounds expressions on the domain, and proposed
values.  It establishes that the constraints *are* the left side and that *every* condition holds, and then builds the
right side; otherwise it returns ``None``.  Variables of the left side are bound by matching, and a rest takes the other
summands.  The strategy of the rule (``choose=``) proposes the other variables: a wrong proposal costs time and is
refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeAlias

from .condition import Compare, Condition, Divides, Within
from .constraint_choose import CONSTRAINT_STRATEGIES, Ends, Proposal
from .constraint_order import Bound, descends
from .expr import (
    CeilDiv,
    Expr,
    FloorDiv,
    Int,
    Max,
    Min,
    Mod,
    Mul,
    Sum,
    Var,
    ceildiv,
    floordiv,
    integer,
    linear,
    maximum,
    minimum,
    mod,
)
from .interval import End
from .kernel.patterns import condition_text, const_text, is_constant, scaled_parts
from .rewrite import ConstraintRule, DeclarationError

#: The constraints of the right side, and the values of all variables by name.
Applied: TypeAlias = tuple[tuple[Bound, ...], Mapping[str, "Expr | int"]]
Check: TypeAlias = Callable[[Sequence[Bound], Ends, Proposal], "Applied | None"]
Propose: TypeAlias = Callable[[Sequence[Bound], Ends], Iterable[Proposal]]


def _strategy(rule: ConstraintRule, proposed: Sequence[str]) -> Propose:
    """Return the strategy that proposes values for the variables that the left side does not bind."""
    found = CONSTRAINT_STRATEGIES.get(rule.choose)
    if found is None:
        said = f"no strategy is called {rule.choose!r}"
        if not rule.choose:
            said = f"the left side does not say what {', '.join(proposed)} are, and choose= names no strategy"
        raise DeclarationError(f"rule {rule.name}: {said}; there are {', '.join(CONSTRAINT_STRATEGIES)}")
    return found


@dataclass(frozen=True, eq=False)
class CompiledConstraintRule:
    """A rule ready for production.

    ``check`` is generated from the declaration.  ``propose`` yields values for the variables that the left side does not
    bind; it is ``None`` if there are none.
    """

    rule: ConstraintRule
    check: Check
    propose: Propose | None
    #: the class of the first constraint's expression, or ``None`` for any
    head: type[Expr] | None

    def after(self, constraints: Sequence[Bound], ends: Ends) -> Applied | None:
        """Apply the first proposal that is accepted and descends in the termination order (:func:`descends`)."""
        for values in _NOTHING if self.propose is None else self.propose(constraints, ends):
            found = self.check(constraints, ends, values)
            if found is not None and descends(constraints, found[0]):
                return found
        return None


_NOTHING: tuple[Proposal, ...] = ({},)


#: The checks loaded from a generated module, by rule.
_WRITTEN: dict[ConstraintRule, Check] = {}
#: The sets of rules that such a module has completely.
_SETS: list[tuple[ConstraintRule, ...]] = []


def use_written(rules: tuple[ConstraintRule, ...], checks: Mapping[str, Check]) -> None:
    """Register the checks of ``rules`` from a module that :func:`constraint_source` wrote, instead of generating them."""
    written = {rule: checks[rule.name] for rule in rules if rule.name in checks}
    _WRITTEN.update(written)
    if len(written) == len(rules):
        _SETS.append(rules)


def are_written(rules: tuple[ConstraintRule, ...]) -> bool:
    """Return whether these are the rules of a generated module: all of them, in their order."""
    return rules in _SETS


@cache
def compiled_constraint_rule(rule: ConstraintRule) -> CompiledConstraintRule:
    """Compile ``rule``.  Raises :class:`DeclarationError` for a strategy that does not exist."""
    check, proposed = _WRITTEN.get(rule), [v.name for v in rule.variables if rule.choose]
    if check is None:
        source, proposed = _source(rule)
        names: dict[str, Any] = {"FloorDiv": FloorDiv, "Int": Int, "Mod": Mod, "Sum": Sum, "number": number}
        names |= {"floordiv": floordiv, "linear": linear, "maximum": maximum, "minimum": minimum, "mod": mod}
        names |= {"ceildiv": ceildiv, "expression": expression, "inside": inside, "integer": integer}
        exec(compile(source, f"<constraint rule {rule.name}>", "exec"), names)
        check = names[rule.name]
    first = rule.left[0].e
    # a product of patterns is a sum whose coefficients have a common factor
    head = None if isinstance(first, Var) else Sum if isinstance(first, Mul) else type(first)
    return CompiledConstraintRule(rule, check, _strategy(rule, proposed) if proposed else None, head)


_HEADER = '''"""{doc}

Written by `indexproof dev docs` from the declarations in this folder; do not edit.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ..core.constraint_choose import Ends, Proposal
from ..core.constraint_matcher import Applied, Check, expression, inside, number
from ..core.constraint_order import Bound
from ..core.expr import FloorDiv, Int, Mod, Sum, ceildiv, floordiv, integer, linear, maximum, minimum, mod

__all__ = ["CHECKS"]
'''


def constraint_source(rules: Iterable[ConstraintRule], doc: str) -> str:
    """Return the source of a module of the package ``rules`` with the checks of ``rules``."""
    rules = list(rules)
    functions = [f"\n\n{_source(r)[0]}" for r in rules]
    table = "".join(f'    "{r.name}": {r.name},\n' for r in rules)
    table = f"CHECKS: Final[dict[str, Check]] = {{\n{table}}}"
    return _HEADER.format(doc=doc) + "".join(functions) + f"\n\n{table}\n"


def number(v: Proposal, name: str) -> int | None:
    """Return the integer that was proposed for a variable."""
    found = v.get(name)
    return found if type(found) is int else None


def expression(v: Proposal, name: str) -> Expr | None:
    """Return the expression that was proposed for a variable."""
    found = v.get(name)
    return found if isinstance(found, Expr) else None


def inside(ends: tuple[End, End], lo: int, hi: int) -> bool:
    """Return whether the interval ``ends`` lies within ``[lo, hi]``."""
    return lo <= ends[0] and ends[1] <= hi


def expr_text(e: Expr) -> str:
    """Return Python text that builds an expression."""
    if is_constant(e):
        return f"integer({const_text(e)})"
    match e:
        case Var():
            return e.name
        case Sum() | Mul():
            constant, parts = scaled_parts(e)
            terms = ", ".join(f"({expr_text(x)}, {const_text(k)})" for x, k in parts)
            return f"linear({const_text(constant)}, [{terms}])"
    made = {FloorDiv: "floordiv", Mod: "mod", CeilDiv: "ceildiv", Min: "minimum", Max: "maximum"}
    return f"{made[type(e)]}({', '.join(map(expr_text, e.children))})"


def _source(rule: ConstraintRule) -> tuple[str, list[str]]:
    """Return the text of a rule's check, and the names of the variables that it takes from the proposal."""
    lines: list[str] = []
    bound: set[Var] = set()
    tests: list[str] = []

    def bind(v: Var, text: str) -> None:
        if v in bound:
            lines.append(f"if {v.name} {'!=' if v.kind == 'const' else 'is not'} {text}: return None")
        else:
            bound.add(v)
            lines.append(f"{v.name} = {text}")

    # bound by matching: bounds, variables, and both operands of divisions
    open_: list[tuple[Expr, str]] = []
    for n, b in enumerate(rule.left):
        lines.append(f"_e{n}, _lo{n}, _hi{n} = _cs[{n}]")
        for end, text in ((b.lo, f"_lo{n}"), (b.hi, f"_hi{n}")):
            if isinstance(end, Var):
                bind(end, text)
            else:
                tests.append(f"{const_text(end)} == {text}")
        todo = [(b.e, f"_e{n}")]
        while todo:
            p, at = todo.pop()
            match p:
                case Var(kind="const"):
                    lines.append(f"if type({at}) is not Int: return None")
                    bind(p, f"{at}.value")
                case Var(kind="expr" | "rest"):
                    bind(p, at)
                case FloorDiv() | Mod():
                    lines.append(f"if type({at}) is not {type(p).__name__}: return None")
                    todo += [(p.a, f"{at}.a"), (p.b, f"{at}.b")]
                case _:
                    open_.append((p, at))
    # in sums, a constant summand, and the rest
    rests: list[tuple[Var, Expr, str]] = []
    for p, at in open_:
        for t, k in p.terms if isinstance(p, Sum) else ():
            if isinstance(t, Var) and k == 1 and t not in bound:
                if t.kind == "const":
                    lines.append(f"if type({at}) is not Sum: return None")
                    bind(t, f"{at}.const")
                elif t.kind == "rest" and t not in (p - t).variables() and all(t is not r for r, _, _ in rests):
                    rests.append((t, p, at))
    proposed = [v for v in rule.variables if v not in bound and all(v is not r for r, _, _ in rests)]
    for v in proposed:
        lines.append(f"{v.name} = {'number' if v.kind == 'const' else 'expression'}(_v, {v.name!r})")
        lines.append(f"if {v.name} is None: return None")
    tests += [_holds(c) for c in rule.conditions if is_constant(c)]
    if tests:
        lines.append(f"if not ({' and '.join(tests)}): return None")
    for r, p, at in rests:
        lines.append(f"{r.name} = linear(0, [({at}, 1), ({expr_text(p - r)}, -1)])")
    of_rests = {id(p) for _, p, _ in rests}
    lines += [f"if {expr_text(p)} is not {at}: return None" for p, at in open_ if id(p) not in of_rests]
    lines += [f"if not {_holds(c)}: return None" for c in rule.conditions if not is_constant(c)]
    have = {b.e: f"_e{n}" for n, b in reversed(list(enumerate(rule.left)))}
    made = [f"({have.get(b.e) or expr_text(b.e)}, {const_text(b.lo)}, {const_text(b.hi)})," for b in rule.right]
    values = ", ".join(f"{v.name!r}: {v.name}" for v in rule.variables)
    lines.append(f"return ({' '.join(made)}), {{{values}}}")
    body = "\n        ".join(lines)
    text = f'''def {rule.name}(_cs: Sequence[Bound], _ends: Ends, _v: Proposal) -> Applied | None:
    """``{rule.statement()}``"""
    try:
        {body}
    except ZeroDivisionError:
        return None
'''
    return text, [v.name for v in proposed]


def _ranged(c: Condition) -> str:
    """Return Python text that implies ``c`` by the ranges of expressions."""
    match c:
        case Compare(op, a, b):
            if not (is_constant(a) or is_constant(b)):
                a, b = a - b, integer(0)
            (low, high), (least, most) = map(_ends, (a, b))
            match op:
                case "==":
                    return f"{high} <= {least} and {most} <= {low}"
                case "!=":
                    return f"{high} < {least} or {most} < {low}"
            return f"{high} {op} {least}"
        case Within(e, lo, hi) if is_constant(lo) and is_constant(hi):
            return f"inside(_ends({expr_text(e)}), {const_text(lo)}, {const_text(hi)})"
        case Within(e, lo, hi):
            return condition_text((lo <= e) & (e <= hi), _ranged)
        case Divides(d, e) if is_constant(d):
            return f"{const_text(d)} != 0 and inside(_ends({expr_text(e % d)}), 0, 0)"
    raise DeclarationError(f"ends of expressions do not decide {c}")


def _ends(e: Expr) -> tuple[str, str]:
    """Return Python text for the least and the greatest value of an expression."""
    if is_constant(e):
        return const_text(e), const_text(e)
    return f"_ends({expr_text(e)})[0]", f"_ends({expr_text(e)})[1]"


def _holds(c: Condition) -> str:
    return f"({condition_text(c, _ranged)})"
