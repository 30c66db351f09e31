"""The declaration language: rewrite rules and constraint rules as closed mathematics.

A rule is a function that runs once, on pattern variables, and returns the equation it claims::

    @rule(fires={"(4*a + b) // 12 | b in [0, 3]": "a // 3"})
    def small_digit_vanishes(x: Expr, g: Const, d: Const, r: Rest):
        \"\"\"Less than one step of x cannot carry x over a multiple of d.\"\"\"
        return Rewrite((x * g + r) // d, x // (d // g), when=(d > 0, g.divides(d), r.within(0, g - 1)))

The annotation determines what a variable matches: ``Expr`` any expression, ``Const`` an integer literal, ``Rest`` the
remaining summands.  The same object is proved (:mod:`indexproof.verify`), printed and documented, and production code
is generated from it (:mod:`.kernel.generate`).
"""

from __future__ import annotations

import functools
import inspect
import math
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, TypeAlias, TypeVar

from . import expr as core
from .condition import Condition, all_of, show_condition
from .display import Shown
from .expr import Expr, Var, lift, natural_key, postorder
from .notation import show

if TYPE_CHECKING:
    from .engine import Engine

Const: TypeAlias = Annotated[core.Expr, "const"]
Rest: TypeAlias = Annotated[core.Expr, "rest"]
R = TypeVar("R", bound="Declared")
_KINDS = {"Expr": "expr", "Const": "const", "Rest": "rest"}


class DeclarationError(TypeError):
    """A rule or op is declared in a way that has no meaning; the message names it and suggests a change."""


@dataclass(frozen=True)
class Rewrite:
    """The equation ``left = right`` under the conditions ``when``, used from left to right.

    ``guard`` conditions are needed for progress or taste, not for truth; the proof of soundness ignores them.
    ``choose`` names a strategy that supplies values for variables that occur only on the right (a quotient, say).
    """

    left: Expr
    right: Expr | int
    when: tuple[Condition, ...] = ()
    guard: tuple[Condition, ...] = ()
    choose: str = ""


@dataclass(frozen=True, eq=False, kw_only=True)
class Declared(Shown):
    """The common fields of both kinds of rules, with examples that are tests and documentation."""

    name: str
    doc: str
    when: tuple[Condition, ...]
    guard: tuple[Condition, ...]
    choose: str
    where: str
    fires: Mapping[str, str] = field(default_factory=dict)
    keeps: tuple[str, ...] = ()

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """All conditions that must hold before the rule is applied."""
        return self.when + self.guard

    def _parts(self) -> Sequence[Expr]:
        """Return the expressions of both sides."""
        raise NotImplementedError

    @functools.cached_property
    def variables(self) -> tuple[Var, ...]:
        """The pattern variables, in natural order of names."""
        found = {n for n in postorder(*self._parts()) if isinstance(n, Var)}
        found.update(*(c.variables() for c in self.conditions))
        return tuple(sorted(found, key=lambda v: natural_key(v.name)))

    def statement(self) -> str:
        """Return the claim on one line."""
        raise NotImplementedError

    def __str__(self) -> str:
        return f"{self.name}: {self.statement()}"


@dataclass(frozen=True, eq=False, kw_only=True)
class Rule(Declared):
    """A claim ``left = right`` under ``when``, to be proved for all integers."""

    left: Expr
    right: Expr
    #: whether it is a law of the canonical form, which the constructors apply, so that it is never matched
    structural: bool = False
    #: whether it is applied only to finished normal forms, where that lowers the cost of all results together
    sharing: bool = False

    def _parts(self) -> Sequence[Expr]:
        return self.left, self.right

    def statement(self) -> str:
        """Return the claim on one line."""
        text = f"{show(self.left)}  →  {show(self.right)}"
        if self.when:
            text += "   when " + ",  ".join(map(show_condition, self.when))
        if self.guard:
            text += "   guard " + ",  ".join(map(show_condition, self.guard))
        return text


@dataclass(frozen=True)
class Bounded:
    """The constraint ``e ∈ [lo, hi]`` as a pattern."""

    e: Expr
    lo: Expr
    hi: Expr

    def condition(self) -> Condition:
        """Return the condition it states."""
        return self.e.within(self.lo, self.hi)


@dataclass(frozen=True)
class ConstraintRewrite:
    """The conjunction of ``left`` is equivalent to the conjunction of ``right``, given ``when``.

    ``by`` lists intermediate statements of the proof that left implies right, each to be proved from those before it.
    ``back_by`` lists those of the other direction.
    """

    left: tuple[Bounded, ...]
    right: tuple[Bounded, ...]
    when: tuple[Condition, ...] = ()
    guard: tuple[Condition, ...] = ()
    choose: str = ""
    by: tuple[Condition, ...] = ()
    back_by: tuple[Condition, ...] = ()


@dataclass(frozen=True, eq=False, kw_only=True)
class ConstraintRule(Declared):
    """An equivalence between constraints, proved for all integers."""

    left: tuple[Bounded, ...]
    right: tuple[Bounded, ...]
    by: tuple[Condition, ...] = ()
    back_by: tuple[Condition, ...] = ()

    def _parts(self) -> Sequence[Expr]:
        return [x for b in (*self.left, *self.right) for x in (b.e, b.lo, b.hi)]

    def claim(self) -> tuple[Condition, Condition]:
        """Return both sides of the equivalence."""
        return all_of(b.condition() for b in self.left), all_of(b.condition() for b in self.right)

    def statement(self) -> str:
        """Return the claim on one line."""
        left, right = self.claim()
        text = f"{show_condition(left)}  ⇔  {show_condition(right)}"
        if self.when:
            text += "   when " + ",  ".join(map(show_condition, self.when))
        return text


# --------------------------------------------------------------------------------------------------------- decorators
def _pattern_variables(fn: Callable[..., Any]) -> dict[str, Var]:
    out: dict[str, Var] = {}
    for name, parameter in inspect.signature(fn).parameters.items():
        annotation = parameter.annotation
        if isinstance(annotation, str):
            kind = _KINDS.get(annotation)
        elif annotation is Expr:
            kind = "expr"
        else:
            kind = next(iter(getattr(annotation, "__metadata__", ())), None)
        if kind is None:
            raise DeclarationError(f"rule {fn.__name__}: annotate `{name}` with Expr, Const or Rest")
        out[name] = core.var(name, kind)
    return out


def _declared(
    fn: Callable[..., Rewrite | ConstraintRewrite], fires: Mapping[str, str] | None, keeps: Sequence[str]
) -> dict[str, Any]:
    """Run a declaration; return the fields of its rule by name."""
    doc = inspect.cleandoc(fn.__doc__ or "")
    if not doc:
        raise DeclarationError(f"rule {fn.__name__}: say in a docstring what it claims")
    code = fn.__code__
    where = f"{code.co_filename.rsplit('/', 1)[-1]}:{code.co_firstlineno}"
    claim = fn(**_pattern_variables(fn))
    fields = dict(vars(claim))
    for name in {"when", "guard", "by", "back_by"} & fields.keys():
        fields[name] = tuple(fields[name])
    about = {"name": fn.__name__, "doc": doc, "where": where, "fires": dict(fires or {}), "keeps": tuple(keeps)}
    return fields | about


def _checked(made: R, bound: set[Var]) -> R:
    loose = [v.name for v in made.variables if v not in bound]
    if loose and not made.choose:
        raise DeclarationError(f"rule {made.name}: {', '.join(loose)} does not occur on the left, so nothing binds it")
    return made


def rule(
    fires: Mapping[str, str] | None = None,
    keeps: Sequence[str] = (),
    *,
    structural: bool = False,
    sharing: bool = False,
) -> Callable[[Callable[..., Rewrite]], Rule]:
    """Declare a rewrite rule.

    ``fires`` maps an expression (``expression | x in [lo, hi], …``) to its simplified form, ``keeps`` lists expressions
    that the rule must leave unchanged.  A ``structural`` rule is a law of the canonical form, which the constructors
    apply. A ``sharing`` rule gives an alternative form, considered only once at the end. Raises
    :class:`DeclarationError` for an unannotated or unbound variable or a missing docstring.
    """
    if callable(fires):
        raise DeclarationError(f"{fires.__name__}: `@rule` without parentheses; write `@rule()`")

    def declare(fn: Callable[..., Rewrite]) -> Rule:
        fields = _declared(fn, fires, keeps)
        fields |= {"left": lift(fields["left"]), "right": lift(fields["right"])}
        made = Rule(**fields, structural=structural, sharing=sharing)
        return _checked(made, set(made.left.variables()))

    return declare


def constraint_rule(
    fires: Mapping[str, str] | None = None, keeps: Sequence[str] = ()
) -> Callable[[Callable[..., ConstraintRewrite]], ConstraintRule]:
    """Declare an equivalence between constraints; the arguments are as for :func:`rule`."""

    def declare(fn: Callable[..., ConstraintRewrite]) -> ConstraintRule:
        made = ConstraintRule(**_declared(fn, fires, keeps))
        return _checked(made, {v for b in made.left for x in (b.e, b.lo, b.hi) for v in x.variables()})

    return declare


@dataclass(frozen=True)
class RuleSet:
    """An ordered collection of rules; join sets with ``+``."""

    name: str
    rules: tuple[Rule, ...] = ()
    constraints: tuple[ConstraintRule, ...] = ()
    #: the class compiled from these rules, if it exists (:mod:`.compiler`)
    engine: type[Engine] | None = field(default=None, compare=False)

    @staticmethod
    def of(module: ModuleType) -> RuleSet:
        """Return the rules that a module declares, in the order of declaration."""
        values = list(vars(module).values())
        return RuleSet(
            module.__name__.rsplit(".", 1)[-1],
            tuple(v for v in values if isinstance(v, Rule)),
            tuple(v for v in values if isinstance(v, ConstraintRule)),
        )

    def __add__(self, other: RuleSet) -> RuleSet:
        return RuleSet(
            f"{self.name}+{other.name}", self.rules + other.rules, self.constraints + other.constraints
        ).checked()

    def checked(self) -> RuleSet:
        """Return the set itself.  Raises :class:`DeclarationError` for duplicate names."""
        seen: dict[str, str] = {}
        for r in self:
            if r.name in seen:
                raise DeclarationError(f"two rules are called {r.name}: {seen[r.name]} and {r.where}")
            seen[r.name] = r.where
        return self

    def __iter__(self) -> Iterator[Rule | ConstraintRule]:
        yield from self.rules
        yield from self.constraints

    def __len__(self) -> int:
        return len(self.rules) + len(self.constraints)

    def __getitem__(self, name: str) -> Rule | ConstraintRule:
        for r in self:
            if r.name == name:
                return r
        raise KeyError(name)


# ------------------------------------------------------------------------------------------------------- the order
class Measure(NamedTuple):
    """The well-founded order in which rules descend, compared lexicographically; every component is a natural number.

    ``weight`` is a polynomial interpretation, strictly monotone in every argument.  Divisions triple the weight of
    their operands, so moving terms out of a division makes progress.  ``mod`` weighs more than ``//``, so a digit is
    normalised to ``(x // a) % b``.  ``divisors`` is the sum of the absolute values of all divisors, ``negative`` counts
    negative ones.  ``reversed`` counts negative summands below divisions and extrema, and triples with every such node
    above, because a sign removed inside appears outside.  ``unreduced`` counts constants outside of ``[0, divisor)``,
    and the arguments of ``min`` or ``max`` that have constants or factors in common; it triples with every such node
    above, because reducing a constant moves the excess outwards.  It comes last, since changing signs adds constants,
    and reducing constants changes no signs.
    """

    weight: Expr
    divisors: Expr
    negative: Expr
    reversed: Expr
    unreduced: Expr

    def values(self) -> tuple[int, ...]:
        """Return the components for a ground expression, as integers."""
        return tuple(c.value for c in self)  # type: ignore[attr-defined]


def measure(e: Expr) -> Measure:
    """Return the :class:`Measure` of ``e``.

    On a ground expression the components are literals.  On a pattern they are expressions over the measures of its
    variables, called ``|x|``, ``‖x‖``, ``x⁻``, ``x↺`` and ``x°``.  A literal weighs nothing, an index variable two.
    """
    done: dict[Expr, Measure] = {}
    literal: dict[Expr, bool] = {}
    zero = lift(0)
    nothing = Measure(zero, zero, zero, zero, zero)
    for node in postorder(e):
        kids = node.children
        literal[node] = isinstance(node, core.Int) or (
            node.kind == "const" if isinstance(node, Var) else all(literal[k] for k in kids)
        )
        if literal[node]:
            done[node] = nothing
            continue
        if isinstance(node, Var):
            symbols = (f"|{node.name}|", f"‖{node.name}‖", f"{node.name}⁻", f"{node.name}↺", f"{node.name}°")
            done[node] = Measure(*map(core.var, symbols)) if node.kind else Measure(lift(2), *nothing[1:])
            continue
        weight, divisors, negative, backwards, unreduced = (
            core.add(*parts) for parts in zip(*[done[k] for k in kids], strict=True)
        )
        match node:
            case core.FloorDiv() | core.Mod() | core.CeilDiv():
                weight = 3 * weight + _DIVISION_WEIGHT[type(node)]
                if literal[node.b]:  # other divisors have a measure of their own
                    divisors += core.maximum(node.b, -node.b)
                    negative += core.minimum(1, core.maximum(0, -node.b))
                unreduced = 3 * unreduced + _excess(node, literal)
                backwards = 3 * backwards + _negative(node.a, literal)
            case core.Min() | core.Max():
                weight += len(kids) - 1
                unreduced = 3 * unreduced + _common_constant(kids) + _common_factor(kids)
                backwards = 3 * backwards + sum(_negative(a, literal) for a in kids)
        done[node] = Measure(weight, divisors, negative, backwards, unreduced)
    return done[e]


#: Number of samples in the search for an instance of a declaration that does not descend.
_SAMPLES = 400


@functools.cache
def measured(rule: Rule) -> bool:
    """Return whether ``rule`` has an instance that does not descend, as far as sampling finds one.

    Production measures every application of such a rule at run time; the progress of all other rules is proved.  The
    search samples sizes and constants; if it misses an instance that does not descend, the proof fails.
    """
    sides = measure(rule.left), measure(rule.right)
    symbols = sorted({v for side in sides for e in side for v in e.variables()}, key=str)
    loose = {a for n in postorder(rule.left) if isinstance(n, (core.Min, core.Max)) for a in n.args}
    rng = random.Random(rule.name)
    for _ in range(_SAMPLES):
        env = {v: rng.randint(-3, 3) if v.kind == "const" else rng.choice((0, 1, 5, 50)) for v in symbols}
        for v in rule.variables:
            weight = core.var(f"|{v.name}|")
            if v.kind == "expr" and v not in loose and weight in env:
                env[weight] += 2
        try:
            if not all(c.evaluate(env) for c in rule.conditions if env.keys() >= {*c.variables()}):
                continue
            before, after = ([e.evaluate(env) for e in side] for side in sides)
        except ZeroDivisionError:
            continue
        if not after < before:
            return True
    return False


_DIVISION_WEIGHT: dict[type[Expr], int] = {core.FloorDiv: 1, core.Mod: 2, core.CeilDiv: 3}


def _excess(node: core.FloorDiv | core.Mod | core.CeilDiv, literal: Mapping[Expr, bool]) -> Expr:
    """Return 1 if the divisor would reduce the constant of the dividend, else 0."""
    const, terms = core.as_sum(node.a)
    constant = core.linear(const, [(t, k) for t, k in terms if literal[t]])
    if constant is lift(0):
        return constant
    q = core.floordiv(constant, node.b)
    return core.minimum(1, core.maximum(q, -q))


def _negative(e: Expr, literal: Mapping[Expr, bool]) -> int:
    """Return the number of summands with a negative coefficient."""
    return sum(k < 0 for t, k in core.as_sum(e)[1] if not literal[t])


def _common_constant(args: Sequence[Expr]) -> int:
    """Return the number of arguments if all nonliteral ones have a constant, else 0."""
    compound = [a for a in args if not isinstance(a, core.Int)]
    return len(args) if all(isinstance(a, core.Sum) and a.const != 0 for a in compound) else 0


def _common_factor(args: Sequence[Expr]) -> int:
    """Return the number of arguments if all their coefficients and constants have a common divisor, else 0."""
    sums = map(core.as_sum, args)
    return len(args) if math.gcd(*[n for c, terms in sums for n in (c, *[k for _, k in terms])]) > 1 else 0
