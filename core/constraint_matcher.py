"""Constraint rules become functions, as rules do in :mod:`.matcher`.

:class:`CompiledConstraintRule` holds what the driver calls: ``propose`` finds values for the variables, ``build`` tests the
conditions on constants and computes the new constraints.  :func:`applications` is the reference that they are compared
with; it knows nothing but substitution.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeAlias

from .condition import Condition, condition_interpret
from .constraint_choose import CHECKED, CONSTRAINT_STRATEGIES, Ends
from .constraint_order import Bound, descends
from .expr import CeilDiv, Expr, FloorDiv, Mod, Mul, Sum, Var, integer, lift, linear
from .facts import Facts
from .matcher import bindings, const_text
from .rewrite import Bounded, ConstraintRule, DeclarationError

__all__ = ["CompiledConstraintRule", "Values", "applications", "compiled_constraint_rule", "ends_of"]

#: The values of a rule's variables by name; constants are plain integers.
Values: TypeAlias = Mapping[str, "Expr | int"]


# ------------------------------------------------------------------------------------------------- the reference
def applications(
    rule: ConstraintRule, constraints: Sequence[Bound], facts: Facts
) -> Iterator[tuple[tuple[Bound, ...], dict[Var, Expr]]]:
    """Every way in which ``rule`` applies to ``constraints``: what becomes of them, and the values of its variables.

    The left side under the binding must be the constraints themselves, and every condition must certainly hold.
    """
    for values in _proposals(rule, constraints, facts):
        try:
            if any(_instance(b, values) != c for b, c in zip(rule.left, constraints, strict=True)):
                continue
            if not all(facts.holds(k.substitute(values)) for k in rule.conditions):
                continue
            after = tuple(_instance(b, values) for b in rule.right)
        except ZeroDivisionError:
            continue
        if set(after) != set(constraints) and (rule.choose not in CHECKED or descends(constraints, after)):
            yield after, values


def _instance(b: Bounded, values: Mapping[Var, Expr]) -> Bound:
    e, lo, hi = (part.substitute(values) for part in (b.e, b.lo, b.hi))
    return e, lo.value, hi.value  # type: ignore[attr-defined]


def ends_of(facts: Facts) -> Ends:
    """The enclosures that ``facts`` gives."""

    def ends(e: Expr) -> tuple[int, int]:
        lo, hi = facts.interval(e)
        return lo, hi  # type: ignore[return-value]

    return ends


def _proposals(rule: ConstraintRule, constraints: Sequence[Bound], facts: Facts) -> Iterator[dict[Var, Expr]]:
    """Bindings under which the left side may be ``constraints``."""
    if rule.choose:
        for found in _strategy(rule)(constraints, ends_of(facts)):
            yield {v: lift(found[v.name]) for v in rule.variables if v.name in found}
        return
    partial: list[dict[Var, Expr]] = [{}]
    for b, (e, lo, hi) in zip(rule.left, constraints, strict=True):
        for pattern, target in ((b.lo, integer(lo)), (b.hi, integer(hi)), (b.e, e)):
            partial = [
                {**bound, **more}
                for bound in partial
                for more in bindings(pattern, target)
                if all(bound.get(v, value) is value for v, value in more.items())
            ]
    yield from partial


def _strategy(rule: ConstraintRule) -> Callable[[Sequence[Bound], Ends], Iterable[Values]]:
    found = CONSTRAINT_STRATEGIES.get(rule.choose)
    if found is None:
        known = ", ".join(CONSTRAINT_STRATEGIES)
        raise DeclarationError(f"rule {rule.name}: no strategy is called {rule.choose!r}; there are {known}")
    return found


# ------------------------------------------------------------------------------------------------------- compiled
@dataclass(frozen=True, eq=False)
class CompiledConstraintRule:
    """A rule ready for production.

    ``propose`` yields values for the left side's constraints: the strategy of the rule, or what matching its patterns
    gives; ``None`` for a rule that only :func:`applications` can apply.  ``build(values, expressions)`` is the right side,
    or ``None`` where a condition on constants fails; conditions on ranges are what a strategy has looked up.
    """

    rule: ConstraintRule
    propose: Callable[[Sequence[Bound], Ends], Iterable[Values]] | None
    build: Callable[[Values, Sequence[Expr]], tuple[Bound, ...] | None]
    #: whether a proposal has to be measured
    checked: bool
    #: the class of the first constraint's expression, ``None`` for any
    head: type[Expr] | None

    def after(
        self, constraints: Sequence[Bound], ends: Ends, facts: Facts
    ) -> tuple[tuple[Bound, ...], Values] | None:
        """What the first proposal that works makes of ``constraints``."""
        if self.propose is None:
            for found, binding in applications(self.rule, constraints, facts):
                return found, {v.name: e for v, e in binding.items()}
            return None
        for values in self.propose(constraints, ends):
            made: tuple[Bound, ...] | None = self.build(values, [c[0] for c in constraints])
            if made is not None and (not self.checked or descends(constraints, made)):
                return made, values
        return None


@cache
def compiled_constraint_rule(rule: ConstraintRule) -> CompiledConstraintRule:
    """``rule`` as functions.  Raises :class:`DeclarationError` for a strategy that does not exist."""
    propose: Callable[[Sequence[Bound], Ends], Iterable[Values]] | None = None
    if rule.choose:
        propose = _strategy(rule)
    elif all(_constant(c) for c in rule.conditions):
        propose = _matcher(rule)
    first = rule.left[0].e
    # a product of patterns is a sum whose coefficients have a common factor
    head = None if isinstance(first, Var) else Sum if isinstance(first, Mul) else type(first)
    return CompiledConstraintRule(rule, propose, _builder(rule), rule.choose in CHECKED, head)


def _constant(c: Condition) -> bool:
    return all(v.kind == "const" for v in c.variables())


class _Text:
    """A condition on constants as Python text."""

    def const(self, value: bool) -> str:
        return str(value)

    def compare(self, op: str, a: str, b: str) -> str:
        return f"{a} {op} {b}"

    def within(self, e: str, lo: str, hi: str) -> str:
        return f"{lo} <= {e} <= {hi}"

    def divides(self, d: str, e: str) -> str:
        return f"({d} != 0 and {e} % {d} == 0)"

    def conj(self, parts: list[str]) -> str:
        return "(" + " and ".join(f"({p})" for p in parts) + ")"

    def disj(self, parts: list[str]) -> str:
        return "(" + " or ".join(f"({p})" for p in parts) + ")"

    def neg(self, part: str) -> str:
        return f"not ({part})"


def _builder(rule: ConstraintRule) -> Callable[[Values, Sequence[Expr]], tuple[Bound, ...] | None]:
    tests = [condition_interpret(c, const_text, _Text()) for c in rule.conditions if _constant(c)]
    ours = {b.e: n for n, b in enumerate(rule.left)}
    parts = []
    for b in rule.right:
        plain = b.e.name if isinstance(b.e, Var) else f"_lift({const_text(b.e)})"
        e = f"_es[{ours[b.e]}]" if b.e in ours else plain
        parts.append(f"({e}, {const_text(b.lo)}, {const_text(b.hi)}),")
    made = f"({' '.join(parts)})"
    text = [*tests, made]
    lines = ["def build(_v, _es):"]
    lines += [
        f"    {v.name} = _v[{v.name!r}]" for v in rule.variables if any(_mentions(t, v.name) for t in text)
    ]
    if tests:
        lines.append(f"    if not ({' and '.join(tests)}): return None")
    lines.append(f"    return {made}")
    build: Callable[[Values, Sequence[Expr]], tuple[Bound, ...] | None] = _function(rule, "\n".join(lines))
    return build


def _mentions(text: str, name: str) -> bool:
    return re.search(rf"\b{name}\b", text) is not None


def _function(rule: ConstraintRule, source: str) -> Any:
    names: dict[str, Any] = {"_lift": lift, "_linear": linear, "_Sum": Sum}
    names.update({c.__name__: c for c in (FloorDiv, Mod, CeilDiv)})
    exec(compile(source, f"<constraint rule {rule.name}>", "exec"), names)
    return names["build"] if "build" in names else names["match"]


def _matcher(rule: ConstraintRule) -> Callable[[Sequence[Bound], Ends], Iterable[Values]] | None:
    """A function that matches the rule's patterns, where they are of the usual kind.

    The usual ones are a variable, a division of one by a constant, and a rest plus a constant, with constants for bounds.
    """
    lines = ["def match(_cs, _ends):"]
    found: dict[str, str] = {}

    def bind(v: Var, text: str) -> None:
        if v.name in found:
            lines.append(
                f"    if {found[v.name]} {'!=' if v.kind == 'const' else 'is not'} {text}: return ()"
            )
        else:
            found[v.name] = text

    for n, b in enumerate(rule.left):
        e, lo, hi = f"_e{n}", f"_lo{n}", f"_hi{n}"
        lines.append(f"    {e}, {lo}, {hi} = _cs[{n}]")
        match b.e:
            case Var(kind="expr"):
                bind(b.e, e)
            case (
                FloorDiv(a=Var(kind="expr") as x, b=Var(kind="const") as d)
                | Mod(a=Var(kind="expr") as x, b=Var(kind="const") as d)
            ):
                lines.append(f"    if type({e}) is not {type(b.e).__name__}: return ()")
                bind(x, f"{e}.a")
                bind(d, f"{e}.b.value")
            case Sum(const=0, terms=((Var() as x, 1), (Var() as k, 1))) if {x.kind, k.kind} == {
                "rest",
                "const",
            }:
                rest, constant = (x, k) if x.kind == "rest" else (k, x)
                lines.append(f"    if type({e}) is not _Sum or not {e}.const: return ()")
                bind(rest, f"_linear(0, {e}.terms)")
                bind(constant, f"{e}.const")
            case _:
                return None
        for v, text in ((b.lo, lo), (b.hi, hi)):
            if not isinstance(v, Var):
                return None
            bind(v, text)
    if set(found) != {v.name for v in rule.variables}:
        return None
    lines.append("    return ({" + ", ".join(f"{name!r}: {text}" for name, text in found.items()) + "},)")
    made: Callable[[Sequence[Bound], Ends], Iterable[Values]] = _function(rule, "\n".join(lines))
    return made
