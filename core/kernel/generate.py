"""Generate the Python code of rules from their declarations.

For every rule the generated class has a method that takes the *subject* (a dividend and a divisor, a sum, two arguments)
and proposed values.  It determines the other variables of the rule, establishes that the subject is the left side and
that every condition holds, and returns the right side as a form, or ``None`` where the rule does not apply.  Only these
methods rewrite forms.

A variable becomes known in one of four ways: it is the subject or an operand of an atom in it, it is proposed, an
equation among the conditions determines it, or it is the rest of a sum whose other summands are known.

The class is written to a file (``rules/compiled.py``) that is committed, so that it can be read and type-checked; a test
compares it with the declarations.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from .. import expr as core
from ..condition import Compare, Condition, Truth, compare
from ..expr import CeilDiv, Expr, FloorDiv, Max, Min, Mod, Mul, Sum, Var
from ..rewrite import DeclarationError, Rule, measured
from .form import MAXIMUM, MINIMUM
from .kernel import ANYWHERE, CEILING, KNOWN, SUM, Kernel
from .patterns import KINDS, NAMES, FormText, condition_text, const_text, is_constant, scaled_parts

__all__ = ["STRATEGIES", "engine_of", "engine_source"]

#: The values that each strategy supplies: ``at`` is an atom of the subject, one for each division on the left.
STRATEGIES: Final[Mapping[str, tuple[str, ...]]] = {
    "block_of_range": ("q",),
    "coefficient_quotients": ("q",),
    "common_constant": ("k",),
    "common_factor": ("g", "x"),
    "complement": (),
    "known_remainder": ("at", "w"),
    "known_residue": ("x",),
    "multiples": ("x",),
    "next_digit": ("at", "n", "w", "z"),
    "quotient_below_remainder": ("at", "q", "w", "x"),
    "single_value": (),
    # of extraction
    "congruent": ("y",),
    "digit_above_known": ("at", "a", "t", "x"),
    "divided_part": ("a", "q", "x"),
    "inner_remainder": ("at", "j", "o", "q"),
    "known_digit": ("at", "a", "q"),
    "needed_quotient": ("q",),
    "needed_remainder": ("at", "t"),
    "negated": (),
    "summand": ("t",),
    "other_divisor": ("e",),
    "turned": ("t",),
    "wider": ("g", "r"),
    "wider_digit": ("at", "g", "r"),
}

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


def engine_source(rules: Iterable[Rule], name: str, doc: str) -> str:
    """Return the source of a module that defines the engine class ``name`` for ``rules``.

    Raises :class:`DeclarationError` for a rule that cannot be applied to forms.
    """
    methods = []
    for r in rules:
        if not r.structural:
            try:
                methods.append(_Method(r))
            except DeclarationError as error:
                raise DeclarationError(f"rule {r.name}: {error}") from None
    bodies = "".join(f"\n{m.text}" for m in methods)
    kinds = ", ".join(sorted(NAMES[k] for k in KINDS.values()))
    return _HEADER.format(doc=doc, name=name, kinds=kinds) + bodies + _table(methods, name)


def engine_of(rules: Iterable[Rule]) -> type[Kernel]:
    """Compile and return the engine class for ``rules``, without a file."""
    source = engine_source(rules, "Made", "An engine made at run time.")
    package = __package__.rsplit(".", 2)[0] + ".rules"
    names: dict[str, object] = {"__name__": f"{package}.made", "__package__": package}
    exec(compile(source, "<generated rules>", "exec"), names)
    made = names["Made"]
    assert isinstance(made, type)
    assert issubclass(made, Kernel)
    return made


def _table(methods: list[_Method], engine: str) -> str:
    """Return the source of the tables of rules by kind of subject and strategy."""
    lines = [""]
    for name, sharing in (("RULES", False), ("EQUALITIES", True)):
        found: dict[int, dict[str, list[str]]] = {}
        for m in methods:
            if m.rule.sharing is sharing:
                found.setdefault(m.about, {}).setdefault(_key(m.rule), []).append(f"{engine}.{m.rule.name}")
        lines += ["", f"{engine}.{name} = {{"]
        for about, strategies in sorted(found.items()):
            lines.append(f"    {NAMES[about]}: {{")
            lines += [f'        "{s}": ({", ".join(names)},),' for s, names in sorted(strategies.items())]
            lines.append("    },")
        lines.append("}")
    return "\n".join([*lines, ""])


def _key(rule: Rule) -> str:
    """Return the key of a rule in its table: its strategy, or :data:`ANYWHERE`."""
    match rule.left:
        case FloorDiv(a=a, b=Var()) | Mod(a=a, b=Var()) if not rule.choose:
            inside = [e for e in core.postorder(a) if isinstance(e, (FloorDiv, Mod, CeilDiv, Min, Max))]
            return "" if inside else ANYWHERE
    return rule.choose


_COMPARED = re.compile(r" (<=?|==|!=|is not|is) ")


@dataclass(frozen=True)
class _Sum:
    """``of`` is ``constant`` plus coefficients times patterns; each pattern comes with the atom that matches it."""

    of: Var
    constant: Expr
    parts: tuple[tuple[Expr, Expr, str], ...]


class _Method(FormText):
    """The method of one rule.  Raises :class:`DeclarationError` if some variable cannot be determined."""

    def __init__(self, rule: Rule) -> None:
        # extraction writes the right side as declared; only comparisons bring it to normal form
        super().__init__(reading=not rule.sharing)
        self.rule = rule
        self.known: set[Var] = set()
        self.open = list(rule.conditions)
        self.sums: list[_Sum] = []
        self.coefficients: dict[Var, tuple[Var, str]] = {}
        self.fresh = 0
        self.lines: list[str] = []
        self.depth = 2
        self.loops = 0
        #: whether no strategy proposes, so that the method loops over candidates itself
        self.free = not rule.choose
        #: the parameters for proposed atoms
        self.atoms: list[str] = []
        self.about, self.subject = self._subject()
        if rule.choose not in ("", *STRATEGIES):
            known = ", ".join(STRATEGIES)
            raise DeclarationError(f"no strategy is called {rule.choose!r}; there are {known}")
        given = self.left_side()
        while True:
            self.flush()
            if not (self._from_sums() or self._from_conditions() or self._from_coefficients()):
                break
        unknown = ", ".join(v.name for v in rule.variables if v not in self.known)
        if unknown:
            raise DeclarationError(f"the strategy {rule.choose!r} gives no value to {unknown}")
        self.result()
        head = f"    def {rule.name}(self, {', '.join(self.typed(self.subject) + given)}) -> Form | None:"
        self.text = "\n".join([head, f'        """``{rule.statement()}``"""', *self.lines, ""])

    # -- the text
    def emit(self, text: str) -> None:
        self.lines.append("    " * self.depth + text)

    def unless(self, test: str) -> None:
        """Emit a guard: give up this candidate unless the test holds."""
        simple = " and " not in test and " or " not in test and not _COMPARED.search(test)
        self.emit(f"if not {test}:" if simple or test.startswith("(") else f"if not ({test}):")
        self.emit("    continue" if self.loops else "    return None")

    def loop(self, head: str) -> None:
        self.emit(head)
        self.depth += 1
        self.loops += 1

    def let(self, v: Var, value: str) -> None:
        """Assign a variable, and emit the conditions that are decidable now."""
        self.emit(f"{v.name} = {value}")
        self.known.add(v)
        self.flush()

    def let_known(self, v: Var, known: str, value: str) -> None:
        """Assign a variable from an expression that may be ``None``, which is a failure to match."""
        self.emit(f"{known} = {value}")
        self.unless(f"{known} is not None")
        self.let(v, known)

    # -- the subject
    def _subject(self) -> tuple[int, tuple[Var, ...]]:
        left = self.rule.left
        match left:
            case FloorDiv() | Mod():
                return KINDS[type(left)], (self._named(left.a), self._named(left.b, "const"))
            case CeilDiv():
                return CEILING, (self._named(left.a), self._named(left.b, "const"))
            case Min() | Max() if len(left.args) == 2:
                return KINDS[type(left)], (self.new(), self.new())
            case Var():
                return KNOWN, (left,)
            case Sum() | Mul():
                return SUM, (self.new(),)
        raise DeclarationError(f"no form is {left}")

    def _named(self, pattern: Expr, kind: str = "expr") -> Var:
        return pattern if isinstance(pattern, Var) else self.new(kind)

    def new(self, kind: str = "expr") -> Var:
        """Return a fresh variable."""
        self.fresh += 1
        return core.var(f"_{self.fresh}", kind)

    def left_side(self) -> list[str]:
        """Match the subject with the left side; return the parameters for proposed values."""
        left, subject = self.rule.left, self.subject
        self.known.update(subject)
        mine = {v.name: v for v in self.rule.variables}
        supplied = STRATEGIES.get(self.rule.choose, ())
        self.known.update([mine[name] for name in supplied if name in mine])
        self.flush()
        match left:
            case FloorDiv() | Mod() | CeilDiv():
                self._divisor(left.b, subject[1])
                self.form_is(left.a, subject[0])
            case Min() | Max():
                if self.free:
                    x, y = (v.name for v in subject)
                    self.loop(f"for {x}, {y} in (({x}, {y}), ({y}, {x})):")
                # bind variables first, so that the other argument is compared with them
                for pattern, form in sorted(
                    zip(left.args, subject, strict=True), key=lambda p: not isinstance(p[0], Var)
                ):
                    self.form_is(pattern, form)
            case Sum() | Mul():
                self.form_is(left, subject[0])
        given = [] if "at" in supplied else self.typed(self.atoms)
        for name in supplied:
            given += self.typed(self.atoms if name == "at" else [mine.get(name, f"_{name}")])
        return given

    @staticmethod
    def typed(names: Iterable[Var | str]) -> list[str]:
        """Return parameters with their types: forms, or integers for constants and atoms."""
        return [
            n.name + (": int" if n.kind == "const" else ": Form") if isinstance(n, Var) else f"{n}: int" for n in names
        ]

    def is_known(self, *es: Expr | Condition) -> bool:
        return all(v in self.known for e in es for v in e.variables())

    def flush(self) -> None:
        """Emit the conditions whose variables are known, those on constants first."""
        for c in sorted(filter(self.is_known, self.open), key=lambda c: not is_constant(c)):
            self.open.remove(c)
            self.require(c)

    def require(self, c: Condition) -> None:
        if c != Truth(True):
            self.unless(condition_text(c, self.ranged))

    def _divisor(self, pattern: Expr, value: Var) -> None:
        if pattern is not value:
            self.open.append(compare("==", value, pattern))

    # -- matching
    def form_is(self, pattern: Expr, of: Var) -> None:
        """Match the form in the variable ``of`` with a pattern."""
        match pattern:
            case Var() if pattern is of:
                return
            case Var(kind="expr" | "rest"):
                if pattern in self.known:
                    self.same(of, pattern)
                else:
                    self.let(pattern, self.form(of))
            case FloorDiv() | Mod() | Min() | Max():
                at = self.new().name
                self.emit(f"{at} = lone({of.name})")
                self.unless(f"{at} >= 0 and self.kind[{at}] == {NAMES[KINDS[type(pattern)]]}")
                self._inside(pattern, at)
            case Sum() | Mul():
                self._sum(pattern, of)
            case _:
                raise DeclarationError(f"no form is known to be {pattern}")

    def same(self, of: Expr, value: Expr) -> None:
        """Require that two forms are identical."""
        self.unless(f"{self.form(of, reading=False)} == {self.form(value, reading=False)}")

    def _inside(self, node: Expr, at: str) -> None:
        """Match the operands of the atom in the variable ``at`` with those of the pattern."""
        if isinstance(node, (FloorDiv, Mod)):
            dividend = node.a if isinstance(node.a, Var) and node.a not in self.known else self.new()
            divisor = node.b if isinstance(node.b, Var) and node.b not in self.known else self.new("const")
            self.emit(f"{dividend.name} = self.arg[{at}]")
            self.emit(f"{divisor.name} = self.divisor[{at}]")
            self.known.update((dividend, divisor))
            self._divisor(node.b, divisor)
            self.flush()
            self.form_is(node.a, dividend)
            return
        assert isinstance(node, (Min, Max))
        x, y = node.args
        if not (isinstance(x, Var) and isinstance(y, Var)):
            raise DeclarationError(f"name the arguments of {node} with variables")
        if x not in self.known and y not in self.known:
            self.loop(f"for {x.name}, {y.name} in self.splits({at}):")
        elif x in self.known and y in self.known:
            self.unless(f"self.made_of({at}, {x.name}, {y.name})")
        else:
            have, other = (x, y) if x in self.known else (y, x)
            self.loop(f"for {other.name} in self.beside({at}, {have.name}):")
        self.known.update((x, y))
        self.flush()

    def _sum(self, pattern: Expr, of: Var) -> None:
        constant, summands = scaled_parts(pattern)
        plain = [(scale, x, "") for x, scale in summands if isinstance(x, Var)]
        nodes = [s for s in summands if not isinstance(s[0], Var)]
        parts: list[tuple[Expr, Expr, str]] = []
        # the largest pattern first, because it fails fastest
        nodes.sort(key=lambda n: (-len(core.postorder(n[0])), str(n[0])))
        for node, scale in nodes:
            kind = KINDS.get(type(node))
            if kind is None:
                raise DeclarationError(f"no form is known to be {node}")
            at = self.new().name
            if self.free:
                times = scale if isinstance(scale, Var) and scale not in self.known else self.new("const")
                self.loop(f"for {at}, {times.name} in self.atoms({of.name}, {NAMES[kind]}):")
                self.known.add(times)
                self._divisor(scale, times)
            else:
                self.atoms.append(at)
                self.unless(f"self.kind[{at}] == {NAMES[kind]}")
                if isinstance(scale, Var) and scale not in self.known:
                    self.coefficients[scale] = of, at
            self._inside(node, at)
            parts.append((scale, node, at))
        self.sums.append(_Sum(of, constant, (*parts, *plain)))

    # -- what follows from what
    def _from_sums(self) -> bool:
        for s in self.sums:
            if not self.is_known(s.constant, *[k for k, _, _ in s.parts]):
                continue
            unknown = [p for p in s.parts if not p[2] and p[1] not in self.known]
            if len(unknown) > 1:
                continue
            self.sums.remove(s)
            others = [p for p in s.parts if p not in unknown]
            rest = unknown[0] if unknown else None
            if self.free and rest is not None and isinstance(rest[1], Var) and rest[1].kind == "rest":
                at = next((p[2] for p in others if p[2]), "-1")
                for k, x, found in others:
                    if not found and isinstance(x, Var):
                        self.unless(f"self.contains({s.of.name}, {x.name}, {const_text(k)}, {at})")
            taken = core.add(s.constant, *[core.mul(k, _alias(x, at)) for k, x, at in others])
            if rest is None:
                self.same(s.of, taken)
                return True
            k, x, _ = rest
            assert isinstance(x, Var)
            left = core.add(s.of, -taken)
            if k is core.integer(1) or k is core.integer(-1):
                self.let(x, self.form(core.mul(k, left), reading=False))
            else:
                exactly = f"exactly({self.form(left, reading=False)}, {const_text(k)})"
                self.let_known(x, f"{x.name}_exact", exactly)
            return True
        return False

    def _from_conditions(self) -> bool:
        for c in self.open:
            if not isinstance(c, Compare) or c.op != "==":
                continue
            for x, value in ((c.a, c.b), (c.b, c.a)):
                if isinstance(x, Var) and x not in self.known and self.is_known(value):
                    self.open.remove(c)
                    if x.kind != "const":
                        self.let(x, self.form(value))
                    elif is_constant(value):
                        self.let(x, const_text(value))
                    else:
                        known = f"{x.name}k" if x.name.startswith("_") else f"{x.name}_known"
                        self.let_known(x, known, f"self.constant({self.form(value)})")
                    return True
            found = self._factor(c)
            if found is not None:
                x, value, by = found
                # the condition itself is required later, and establishes that the division is exact
                self.require(by.ne(0))
                self.let(x, const_text(value // by))
                return True
        return False

    def _factor(self, c: Compare) -> tuple[Var, Expr, Expr] | None:
        """Solve an equation with one unknown constant; return it with the dividend and divisor that give its value."""
        if not (is_constant(c.a) and is_constant(c.b)):
            return None
        unknown = [v for v in c.variables() if v not in self.known]
        if len(unknown) != 1:
            return None
        x = unknown[0]
        at_zero = core.lift(c.a - c.b).substitute({x: 0})
        slope = core.add(core.lift(c.a - c.b).substitute({x: 1}), -at_zero)
        return x, -at_zero, slope

    def _from_coefficients(self) -> bool:
        for v, (of, at) in self.coefficients.items():
            if v not in self.known:
                self.let(v, f"self.coefficient({of.name}, {at})")
                return True
        return False

    # -- the right side
    def result(self) -> None:
        rule = self.rule
        if self.reading:
            bound = set(rule.left.variables())
            for v in rule.right.variables():
                # values proposed by a strategy may not be in normal form
                if v not in bound and v.kind != "const":
                    self.emit(f"{v.name} = self.normal({v.name})")
        if self.reading and measured(rule):
            # descent is not proved from the declaration, so the code checks it
            names = ", ".join(v.name for v in self.subject)
            if self.about in (SUM, KNOWN):
                before = f"self.size({names})"
            elif self.about in (MINIMUM, MAXIMUM):
                before = f"self.size_of_extremum(({names}))"
            else:
                before = f"self.size_of_division({NAMES[self.about]}, {names})"
            self.unless(f"self.descends({before}, {self.size(rule.right)})")
        names = ", ".join(v.name for v in rule.variables)
        self.emit("if self.record is not None:")
        self.emit(f'    self.record("{rule.name}", ({names},))')
        self.emit(f"return {self.form(rule.right, reading=self.reading)}")
        if self.loops:
            self.depth = 2
            self.emit("return None")


def _alias(x: Expr, at: str) -> Expr:
    """Return the variable for the atom that a summand was matched with, or the summand."""
    return core.var(at, "atom") if at else x
