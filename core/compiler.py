"""Rules become the engine's actions: each declaration is compiled to a method that evaluates its right side.

The generated class derives from :class:`~indexproof.core.engine.Engine`.  A method takes the values of the rule's
variables, constants as integers and everything else as forms, in the order of ``Rule.variables``; it refuses constants
that contradict the conditions, which costs next to nothing and keeps a mistake of the engine from becoming a wrong
result, reports the step when somebody listens, and computes the right side with the engine's arithmetic.

The class is written to a file (``rules/compiled.py``) that is committed, so that it can be read, type-checked and compiled
to machine code; a test compares it with the declarations.
"""

from __future__ import annotations

from collections.abc import Iterable

from . import expr as core
from .condition import And, Compare, Condition, Divides, Not, Or, Truth, Within
from .expr import CeilDiv, Expr, FloorDiv, Int, Max, Min, Mod, Mul, Sum, Var
from .matcher import const_text
from .rewrite import DeclarationError, Rule

__all__ = ["engine_source"]

_HEADER = '''"""{doc}

Written by `indexproof docs` from the declarations in this folder; do not edit.
"""

from __future__ import annotations

from ..core.actions import Form
from ..core.engine import Engine

__all__ = ["{name}"]


class {name}(Engine):
    """The engine with the actions of the catalogue."""
'''


def engine_source(rules: Iterable[Rule], name: str, doc: str) -> str:
    """The source of a module that defines the engine class ``name`` for ``rules``.

    Raises :class:`DeclarationError` for a right side that the engine's arithmetic cannot express.
    """
    methods = [_method(r) for r in rules if not (r.structural or r.sharing)]
    return _HEADER.format(doc=doc, name=name) + "".join("\n" + m for m in methods)


def _method(rule: Rule) -> str:
    bound = set(rule.left.variables())
    lines = [f"    def {rule.name}(self, {', '.join(_parameter(v) for v in rule.variables)}) -> Form:"]
    lines.append(f'        """``{rule.statement()}``"""')
    names = ", ".join(v.name for v in rule.variables)
    tests = [text for c in rule.conditions for text in _constant_tests(c)]
    if tests:
        lines.append(f"        if not ({' and '.join(tests)}):")
        lines.append(f'            self.refuse("{rule.name}", ({names},))')
    lines.append("        if self.record is not None:")
    lines.append(f'            self.record("{rule.name}", ({names},))')
    # a value that only a strategy knows is no part of what was in normal form
    fresh = {v for v in rule.right.variables() if v not in bound and v.kind != "const"}
    lines.append(f"        return {_form(rule, rule.right, fresh)}")
    return "\n".join(lines) + "\n"


def _parameter(v: Var) -> str:
    return f"{v.name}: {'int' if v.kind == 'const' else 'Form'}"


def _constant_tests(c: Condition) -> list[str]:
    """Python tests for the parts of a condition that speak of constants alone."""
    match c:
        case And(args):
            return [text for a in args for text in _constant_tests(a)]
        case Truth() | Or() | Not() | Compare() | Within() | Divides():
            if all(v.kind == "const" for v in c.variables()):
                return [_test(c)]
    return []


def _test(c: Condition) -> str:
    match c:
        case Compare(op, a, b):
            return f"{const_text(a)} {op} {const_text(b)}"
        case Within(e, lo, hi):
            return f"{const_text(lo)} <= {const_text(e)} <= {const_text(hi)}"
        case Divides(d, e):
            return f"{const_text(d)} != 0 and {const_text(e)} % {const_text(d)} == 0"
        case Or(args):
            return "(" + " or ".join(f"({_test(a)})" for a in args) + ")"
        case And(args):
            return "(" + " and ".join(f"({_test(a)})" for a in args) + ")"
        case Not(arg):
            return f"not ({_test(arg)})"
    return str(c is Truth(True))


def _is_constant(e: Expr) -> bool:
    return all(v.kind == "const" for v in e.variables())


def _form(rule: Rule, e: Expr, fresh: set[Var]) -> str:
    """Python text that computes the form of ``e``."""
    if _is_constant(e):
        return f"({const_text(e)}, ())"
    match e:
        case Var():
            return f"self.renewed({e.name})" if e in fresh else e.name
        case Sum():
            constant = core.linear(e.const, [(t, k) for t, k in e.terms if _is_constant(t)])
            # the rest last: it is what the new summands are merged into
            parts = sorted(
                ((t, k) for t, k in e.terms if not _is_constant(t)),
                key=lambda p: (isinstance(p[0], Var) and p[0].kind == "rest", str(p[0])),
            )
            text = _scaled(rule, *parts[0], fresh)
            if constant is not core.integer(0):
                # first: what summands become together is said of the whole sum
                text = f"self.shift({text}, {const_text(constant)})"
            for t, k in parts[1:]:
                text = f"self.add({text}, {_scaled(rule, t, k, fresh)})"
            return text
        case Mul():
            return _scaled(rule, e, 1, fresh)
        case FloorDiv(a=a, b=b) if _is_constant(b):
            return f"self.floordiv({_form(rule, a, fresh)}, {const_text(b)})"
        case Mod(a=a, b=b) if _is_constant(b):
            return f"self.mod({_form(rule, a, fresh)}, {const_text(b)})"
        case Min() | Max():
            args = ", ".join(_form(rule, a, fresh) for a in e.args)
            return f"self.extremum({isinstance(e, Min)}, [{args}])"
        case Int() | CeilDiv():
            pass
    raise DeclarationError(f"rule {rule.name}: the engine cannot compute {e}")


def _scaled(rule: Rule, t: Expr, k: int, fresh: set[Var]) -> str:
    factors = t.factors if isinstance(t, Mul) else (t,)
    constants = [f for f in factors if _is_constant(f)]
    others = [f for f in factors if not _is_constant(f)]
    if len(others) != 1:
        raise DeclarationError(f"rule {rule.name}: the engine cannot compute the product {t}")
    scale = core.mul(k, *constants)
    text = _form(rule, others[0], fresh)
    return text if scale is core.integer(1) else f"self.scale({text}, {const_text(scale)})"
