"""Writes the code of rules in Python, from their plans (:mod:`.plan`).

For every rule the generated class has a method that takes the subject and the proposed values, establishes the left side
and every condition, and returns the right side as a form, or ``None`` where the rule does not apply.  Nothing but these
methods turns one form into another.  The class is written to a file (``rules/compiled.py``) that is committed, so that it
can be read and type-checked; a test compares it with the declarations.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from .. import expr as core
from ..condition import And, Compare, Condition, Divides, Not, Or, Truth, Within
from ..expr import CeilDiv, Expr, FloorDiv, Int, Max, Min, Mod, Mul, Sum, Var
from ..rewrite import DeclarationError, Rule, measured
from .form import MAXIMUM, MINIMUM, QUOTIENT, REMAINDER
from .kernel import ANYWHERE, CEILING, KNOWN, SUM, Kernel
from .plan import (
    Alone,
    Coefficient,
    Contains,
    EachAtom,
    EachOrder,
    EachSplit,
    Inside,
    Let,
    LetConstant,
    LetExact,
    OtherPart,
    Plan,
    Proposed,
    Require,
    RequireSame,
    SameParts,
    Step,
    is_constant,
    plan,
    scaled_parts,
)

__all__ = ["condition_text", "const_text", "engine_of", "engine_source"]

_HEADER = '''"""{doc}

Written by `indexproof dev docs` from the declarations in this folder; do not edit.
"""

from __future__ import annotations

from ..core.engine import Engine
from ..core.kernel.form import {kinds}, Form, atom, exactly, lone, minus, times
from ..core.kernel.kernel import CEILING, KNOWN, SUM

__all__ = ["{name}"]


class {name}(Engine):
    """The engine with the rules of the catalogue."""
'''

_NAMES = {
    QUOTIENT: "QUOTIENT",
    REMAINDER: "REMAINDER",
    MINIMUM: "MINIMUM",
    MAXIMUM: "MAXIMUM",
    SUM: "SUM",
    KNOWN: "KNOWN",
    CEILING: "CEILING",
}
_KINDS = ", ".join(sorted(_NAMES[k] for k in (QUOTIENT, REMAINDER, MINIMUM, MAXIMUM)))


def engine_source(rules: Iterable[Rule], name: str, doc: str) -> str:
    """The source of a module that defines the engine class ``name`` for ``rules``.

    Raises :class:`DeclarationError` for a rule that cannot be applied to forms.
    """
    plans, methods = [], []
    for r in rules:
        if not r.structural:
            try:
                plans.append(plan(r))
                methods.append("\n" + _Method(plans[-1]).text())
            except DeclarationError as error:
                raise DeclarationError(f"rule {r.name}: {error}") from None
    return _HEADER.format(doc=doc, name=name, kinds=_KINDS) + "".join(methods) + _table(plans, name)


def engine_of(rules: Iterable[Rule]) -> type[Kernel]:
    """The engine class for ``rules``, made at once and not from a file."""
    source = engine_source(rules, "Made", "An engine made at run time.")
    package = __package__.rsplit(".", 2)[0] + ".rules"
    names: dict[str, object] = {"__name__": f"{package}.made", "__package__": package}
    exec(compile(source, "<generated rules>", "exec"), names)
    made = names["Made"]
    assert isinstance(made, type)
    assert issubclass(made, Kernel)
    return made


def _table(plans: list[Plan], engine: str) -> str:
    """The rules by what they are about and by the strategy that proposes them, and those for extraction likewise.

    They stand below the class: compiled by mypyc, a class cannot speak of its own methods.
    """
    lines = [""]
    for name, sharing in (("RULES", False), ("EQUALITIES", True)):
        found: dict[int, dict[str, list[str]]] = {}
        for p in plans:
            if p.rule.sharing is sharing:
                found.setdefault(p.about, {}).setdefault(_key(p), []).append(f"{engine}.{p.rule.name}")
        lines += ["", f"{engine}.{name} = {{"]
        for about, strategies in sorted(found.items()):
            lines.append(f"    {_NAMES[about]}: {{")
            lines += [f'        "{s}": ({", ".join(names)},),' for s, names in sorted(strategies.items())]
            lines.append("    },")
        lines.append("}")
    return "\n".join([*lines, ""])


def _key(p: Plan) -> str:
    """The strategy that proposes a rule."""
    match p.rule.left:
        case FloorDiv(a=a, b=Var()) | Mod(a=a, b=Var()) if not p.rule.choose:
            inside = [e for e in core.postorder(a) if isinstance(e, (FloorDiv, Mod, CeilDiv, Min, Max))]
            return "" if inside else ANYWHERE
    return p.rule.choose


_COMPARED = re.compile(r" (<=?|==|!=|is not|is) ")


def const_text(e: Expr) -> str:
    """Python text that computes an expression over constants."""
    text, _ = _const(e)
    return text


def _const(e: Expr) -> tuple[str, bool]:
    """The text, and whether it can stand beside any operator as it is."""
    match e:
        case Var():
            return e.name, True
        case Int():
            return str(e.value), e.value >= 0
        case Sum():
            positive = sorted(e.terms, key=lambda t: t[1] < 0)
            text = ""
            for t, k in positive:
                size = _tight(t) if k in (1, -1) else f"{abs(k)} * {_tight(t)}"
                text += (f" {'+' if k > 0 else '-'} {size}") if text else (size if k > 0 else f"-{size}")
            if e.const:
                text += f" {'+' if e.const > 0 else '-'} {abs(e.const)}"
            return text, len(e.terms) == 1 and not e.const and e.terms[0][1] > 0
        case Mul():
            return " * ".join(sorted(map(_tight, e.factors))), False
        case FloorDiv(a=a, b=b) | Mod(a=a, b=b):
            return f"{_tight(a)} {'//' if isinstance(e, FloorDiv) else '%'} {_tight(b)}", False
        case CeilDiv(a=a, b=b):
            return f"-(-{_tight(a)} // {_tight(b)})", False
        case Min() | Max():
            return f"{type(e).__name__.lower()}({', '.join(map(const_text, e.args))})", True
    raise AssertionError(e)


def _tight(e: Expr) -> str:
    text, tight = _const(e)
    return text if tight else f"({text})"


def condition_text(c: Condition, ranged: Callable[[Condition], str]) -> str:
    """Python text that is true only where ``c`` holds; ``ranged`` writes what is said of more than constants."""
    match c:
        case Truth(value):
            return str(value)
        case Or(args) | And(args):
            word = " or " if isinstance(c, Or) else " and "
            return f"({word.join(f'({condition_text(a, ranged)})' for a in args)})"
        case _ if not is_constant(c):
            return ranged(c)
        case Compare(op, a, b):
            return f"{const_text(a)} {op} {const_text(b)}"
        case Within(e, lo, hi):
            return f"{const_text(lo)} <= {const_text(e)} <= {const_text(hi)}"
        case Divides(d, e):
            return f"({const_text(d)} != 0 and {_tight(e)} % {_tight(d)} == 0)"
        case Not(arg):
            return f"not ({condition_text(arg, ranged)})"
    raise AssertionError(c)


class _Method:
    """The method of one rule."""

    def __init__(self, p: Plan) -> None:
        self.plan = p
        self.lines: list[str] = []
        self.depth = 2
        self.loops = 0
        #: what extraction chooses is put together as it stands, and brought to normal form to be compared only
        self.reading = not p.rule.sharing

    def text(self) -> str:
        p = self.plan
        names = [v.name for v in p.subject] + [q if isinstance(q, str) else q.name for q in p.parameters]
        kinds = [v.kind for v in p.subject] + ["const" if isinstance(q, str) else q.kind for q in p.parameters]
        types = [f"{n}: {'int' if k == 'const' else 'Form'}" for n, k in zip(names, kinds, strict=True)]
        for s in p.steps:
            self.step(s)
        self.result()
        return "\n".join(
            [
                f"    def {p.rule.name}(self, {', '.join(types)}) -> Form | None:",
                f'        """``{p.rule.statement()}``"""',
                *self.lines,
                "",
            ]
        )

    def emit(self, text: str) -> None:
        self.lines.append("    " * self.depth + text)

    def unless(self, test: str) -> None:
        """Go on where the test holds."""
        simple = " and " not in test and " or " not in test and not _COMPARED.search(test)
        self.emit(f"if not {test}:" if simple or test.startswith("(") else f"if not ({test}):")
        self.emit("    continue" if self.loops else "    return None")

    def loop(self, head: str) -> None:
        self.emit(head)
        self.depth += 1
        self.loops += 1

    def step(self, s: Step) -> None:
        match s:
            case EachOrder(x, y):
                self.loop(f"for {x.name}, {y.name} in (({x.name}, {y.name}), ({y.name}, {x.name})):")
            case EachAtom(at, k, of, kind):
                self.loop(f"for {at}, {k.name} in self.atoms({of.name}, {_NAMES[kind]}):")
            case Alone(at, of, kind):
                self.emit(f"{at} = lone({of.name})")
                self.unless(f"{at} >= 0 and self.kind[{at}] == {_NAMES[kind]}")
            case Proposed(at, kind):
                self.unless(f"self.kind[{at}] == {_NAMES[kind]}")
            case Inside(at, x, d):
                self.emit(f"{x.name} = self.arg[{at}]")
                self.emit(f"{d.name} = self.divisor[{at}]")
            case EachSplit(at, x, y):
                self.loop(f"for {x.name}, {y.name} in self.splits({at}):")
            case OtherPart(at, x, y):
                self.loop(f"for {y.name} in self.beside({at}, {x.name}):")
            case SameParts(at, x, y):
                self.unless(f"self.made_of({at}, {x.name}, {y.name})")
            case Contains(of, x, k, at):
                self.unless(f"self.contains({of.name}, {x.name}, {const_text(k)}, {at})")
            case Coefficient(name, of, at):
                self.emit(f"{name.name} = self.coefficient({of.name}, {at})")
            case Let(name, value, plain):
                if name.kind == "const":
                    self.emit(f"{name.name} = {const_text(value)}")
                else:
                    self.emit(f"{name.name} = {self.form(value, reading=not plain)}")
            case LetConstant(name, value):
                known = f"{name.name}_known" if not name.name.startswith("_") else f"{name.name}k"
                self.emit(f"{known} = self.constant({self.form(value)})")
                self.unless(f"{known} is not None")
                self.emit(f"{name.name} = {known}")
            case LetExact(name, value, factor):
                known = f"{name.name}_exact"
                self.emit(f"{known} = exactly({self.form(value, reading=False)}, {const_text(factor)})")
                self.unless(f"{known} is not None")
                self.emit(f"{name.name} = {known}")
            case Require(condition):
                if condition != Truth(True):
                    self.unless(self.test(condition))
            case RequireSame(of, value):
                self.unless(f"{self.form(of, reading=False)} == {self.form(value, reading=False)}")

    def result(self) -> None:
        rule = self.plan.rule
        if self.reading:
            bound = set(rule.left.variables())
            for v in rule.right.variables():
                # a value that only a strategy knows need not be in normal form
                if v not in bound and v.kind != "const":
                    self.emit(f"{v.name} = self.normal({v.name})")
        if self.reading and measured(rule):
            # the declaration does not show that the rule descends
            subject = [v.name for v in self.plan.subject]
            before = {SUM: "self.size({0})", KNOWN: "self.size({0})"}.get(
                self.plan.about,
                "self.size_of_extremum(({0}, {1}))"
                if self.plan.about in (MINIMUM, MAXIMUM)
                else f"self.size_of_division({_NAMES[self.plan.about]}, {{0}}, {{1}})",
            )
            self.unless(f"self.descends({before.format(*subject)}, {self.size(rule.right)})")
        names = ", ".join(v.name for v in rule.variables)
        self.emit("if self.record is not None:")
        self.emit(f'    self.record("{rule.name}", ({names},))')
        self.emit(f"return {self.form(rule.right, reading=self.reading)}")
        if self.loops:
            self.depth = 2
            self.emit("return None")

    def size(self, e: Expr) -> str:
        """Python text that computes how large what is made of ``e`` is at most."""
        parts = []
        for x, _ in scaled_parts(e)[1]:
            match x:
                case FloorDiv(a=a, b=b) | Mod(a=a, b=b) if is_constant(b):
                    kind = "QUOTIENT" if isinstance(x, FloorDiv) else "REMAINDER"
                    form = self.form(a, reading=False)
                    parts.append(f"self.size_of_division({kind}, {form}, {const_text(b)})")
                case Min() | Max():
                    args = ", ".join(self.form(a, reading=False) for a in x.args)
                    parts.append(f"self.size_of_extremum(({args}))")
                case _:
                    parts.append(f"self.size({self.form(x, reading=False)})")
        return parts[0] if len(parts) == 1 else f"self.added([{', '.join(parts)}])"

    # -- conditions
    def test(self, c: Condition) -> str:
        return condition_text(c, self.ranged)

    def ranged(self, c: Condition) -> str:
        match c:
            case Compare("==", a, b):
                return f"self.equal({self.form(a)}, {self.form(b)})"
            case Compare("<=", a, b):
                return f"self.at_most({self.form(a)}, {self.form(b)})"
            case Compare("<", a, b):
                return f"self.at_most({self.form(core.add(a, 1))}, {self.form(b)})"
            case Within(e, lo, hi) if is_constant(lo) and is_constant(hi):
                return f"self.within({self.form(e, reading=False)}, {const_text(lo)}, {const_text(hi)})"
            case Divides(d, e) if is_constant(d):
                return f"self.is_multiple({self.form(e, reading=False)}, {const_text(d)})"
        raise DeclarationError(f"ranges do not decide {c}")

    # -- forms
    def form(self, e: Expr, *, reading: bool = True) -> str:
        """Python text that computes the form of ``e``; sums are brought to normal form in ``reading``."""
        if is_constant(e):
            return f"({const_text(e)}, ())"
        match e:
            case Var(kind="atom"):
                return f"atom({e.name})"
            case Var():
                return f"self.normal({e.name})" if reading and not self.reading else e.name
            case Sum() | Mul():
                return self.sum(e, reading)
            case FloorDiv(a=a, b=b) | Mod(a=a, b=b) if is_constant(b):
                quotient = isinstance(e, FloorDiv)
                if reading or self.reading:
                    inner = self.form(a)
                    return f"self.{'floordiv' if quotient else 'mod'}({inner}, {const_text(b)})"
                inner = self.form(a, reading=False)
                return f"self.raw({_NAMES[QUOTIENT if quotient else REMAINDER]}, {inner}, {const_text(b)})"
            case Min() | Max():
                args = ", ".join(self.form(a, reading=reading) for a in e.args)
                return f"self.extremum({'MINIMUM' if isinstance(e, Min) else 'MAXIMUM'}, [{args}])"
            case CeilDiv():
                pass
        raise DeclarationError(f"forms cannot express {e}")

    def sum(self, e: Expr, reading: bool) -> str:
        constant, parts = scaled_parts(e)
        one = core.integer(1)
        if reading:
            # the rest last: it is what the new summands are merged into
            parts.sort(key=lambda p: (isinstance(p[0], Var) and p[0].kind == "rest", str(p[0])))
            text = self.scaled(*parts[0], reading)
            if constant is not core.integer(0):
                # first: what summands become together is said of the whole sum
                text = f"self.shift({text}, {const_text(constant)})"
            for part in parts[1:]:
                text = f"self.add({text}, {self.scaled(*part, reading)})"
            return text
        # as it stands: what has the coefficient one first, and the others taken from that
        parts.sort(key=lambda p: (p[1] is not one, str(p[0])))
        text = self.scaled(*parts[0], reading)
        if constant is not core.integer(0):
            text = f"self.shift({text}, {const_text(constant)})"
        for of, scale in parts[1:]:
            text = f"minus({text}, {self.form(of, reading=False)}, {const_text(core.mul(-1, scale))})"
        return text

    def scaled(self, t: Expr, k: Expr, reading: bool) -> str:
        text = self.form(t, reading=reading)
        return text if k is core.integer(1) else f"times({text}, {const_text(k)})"
