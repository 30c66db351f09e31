"""Plans: what the code of a rule has to do, in the order in which it does it.

A plan is made from a declaration alone and knows nothing of the language that it is written in (:mod:`.generate`).  It
takes the *subject* (a dividend and a divisor, a sum, two arguments) and proposed values, finds out what the other
variables of the rule are, and requires everything that the declaration says, so that what it returns at the end is the
right side of an instance of the rule whose left side is the subject.

A variable becomes known because it is the subject or a part of an atom in it, because it is proposed, because an equation
among the conditions gives it, or because it is what is left of a sum when everything else is taken out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from .. import expr as core
from ..condition import Compare, Condition, compare
from ..expr import CeilDiv, Expr, FloorDiv, Max, Min, Mod, Mul, Sum, Var
from ..rewrite import DeclarationError, Rule
from .form import MAXIMUM, MINIMUM, QUOTIENT, REMAINDER
from .kernel import CEILING, KNOWN, SUM

__all__ = ["STRATEGIES", "Plan", "Step", "is_constant", "plan"]

#: For every strategy the values that it supplies: ``at`` is an atom of the subject, one for each division on the left.
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

_KINDS: Final = {FloorDiv: QUOTIENT, Mod: REMAINDER, Min: MINIMUM, Max: MAXIMUM}


def is_constant(e: Expr | Condition) -> bool:
    """Whether only constants occur in ``e``."""
    return all(v.kind == "const" for v in e.variables())


def scaled_parts(e: Expr) -> tuple[Expr, list[tuple[Expr, Expr]]]:
    """The constant of a sum of patterns, and the other summands, each an expression and its coefficient.

    Raises :class:`DeclarationError` for a product of two expressions.
    """
    const, terms = (e.const, e.terms) if isinstance(e, Sum) else (0, ((e, 1),))
    constant = core.linear(const, [(t, k) for t, k in terms if is_constant(t)])
    parts = []
    for t, k in terms:
        factors = t.factors if isinstance(t, Mul) else (t,)
        others = [f for f in factors if not is_constant(f)]
        if len(others) > 1:
            raise DeclarationError(f"{t} is not one expression times constants")
        parts += [(x, core.mul(k, *[f for f in factors if is_constant(f)])) for x in others]
    return constant, parts


# ------------------------------------------------------------------------------------------------------------- steps
@dataclass(frozen=True)
class EachOrder:
    """Go on with the two arguments in one order and then in the other."""

    x: Var
    y: Var


@dataclass(frozen=True)
class EachAtom:
    """Go on with every atom of a kind that stands in a sum, and its coefficient."""

    at: str
    coefficient: Var
    of: Var
    kind: int


@dataclass(frozen=True)
class Alone:
    """The form is a single atom of this kind."""

    at: str
    of: Var
    kind: int


@dataclass(frozen=True)
class Proposed:
    """The proposed atom is of this kind."""

    at: str
    kind: int


@dataclass(frozen=True)
class Inside:
    """The dividend and the divisor of a quotient or a remainder."""

    at: str
    dividend: Var
    divisor: Var


@dataclass(frozen=True)
class EachSplit:
    """Go on with each argument of an extremum and the extremum of the others."""

    at: str
    x: Var
    y: Var


@dataclass(frozen=True)
class OtherPart:
    """The other argument of the extremum that has x."""

    at: str
    x: Var
    y: Var


@dataclass(frozen=True)
class SameParts:
    """The extremum is that of x and y."""

    at: str
    x: Var
    y: Var


@dataclass(frozen=True)
class Contains:
    """``factor·part`` is a part of the sum beside the atom."""

    of: Var
    part: Var
    factor: Expr
    at: str


@dataclass(frozen=True)
class Coefficient:
    """The coefficient of an atom in a sum."""

    name: Var
    of: Var
    at: str


@dataclass(frozen=True)
class Let:
    """A value that follows from others: a constant if ``name`` is one, or else a form.

    ``plain`` sums are not brought to normal form.
    """

    name: Var
    value: Expr
    plain: bool = False


@dataclass(frozen=True)
class LetConstant:
    """The constant that the normal form of ``value`` is."""

    name: Var
    value: Expr


@dataclass(frozen=True)
class LetExact:
    """``value / factor``, where that leaves nothing."""

    name: Var
    value: Expr
    factor: Expr


@dataclass(frozen=True)
class Require:
    """The condition holds."""

    condition: Condition


@dataclass(frozen=True)
class RequireSame:
    """A form is literally the same as what is said of it."""

    of: Expr
    value: Expr


Step: TypeAlias = (
    EachOrder
    | EachAtom
    | Alone
    | Proposed
    | Inside
    | EachSplit
    | OtherPart
    | SameParts
    | Contains
    | Coefficient
    | Let
    | LetConstant
    | LetExact
    | Require
    | RequireSame
)


@dataclass
class Plan:
    """Steps that apply a rule: ``subject`` and ``parameters`` are given, ``steps`` follow, then comes the right side."""

    rule: Rule
    about: int
    subject: tuple[Var, ...]
    parameters: list[Var | str] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)


@dataclass(frozen=True)
class _Sum:
    """``of`` is the sum of ``constant`` and of coefficients times patterns, each with the atom that it was found as."""

    of: Var
    constant: Expr
    parts: tuple[tuple[Expr, Expr, str], ...]


# ----------------------------------------------------------------------------------------------------------- planning
def plan(rule: Rule) -> Plan:
    """Return the steps that apply ``rule``.  Raises :class:`DeclarationError` where nothing gives a variable a value."""
    return _Planner(rule).done()


class _Planner:
    def __init__(self, rule: Rule) -> None:
        self.rule = rule
        self.known: set[Var] = set()
        self.open = list(rule.conditions)
        self.sums: list[_Sum] = []
        self.coefficients: dict[Var, tuple[Var, str]] = {}
        self.fresh = 0
        self.plan = Plan(rule, *self._subject())
        self.free = not rule.choose
        if rule.choose not in ("", *STRATEGIES):
            known = ", ".join(STRATEGIES)
            raise DeclarationError(f"no strategy is called {rule.choose!r}; there are {known}")

    # -- the subject
    def _subject(self) -> tuple[int, tuple[Var, ...]]:
        left = self.rule.left
        match left:
            case FloorDiv() | Mod():
                return _KINDS[type(left)], (self._named(left.a), self._named(left.b, "const"))
            case CeilDiv():
                return CEILING, (self._named(left.a), self._named(left.b, "const"))
            case Min() | Max() if len(left.args) == 2:
                return _KINDS[type(left)], (self.new(), self.new())
            case Var():
                return KNOWN, (left,)
            case Sum() | Mul():
                return SUM, (self.new(),)
        raise DeclarationError(f"no form is {left}")

    def _named(self, pattern: Expr, kind: str = "expr") -> Var:
        return pattern if isinstance(pattern, Var) else self.new(kind)

    def new(self, kind: str = "expr") -> Var:
        """A variable of the plan's own."""
        self.fresh += 1
        return core.var(f"_{self.fresh}", kind)

    # -- the plan
    def done(self) -> Plan:
        left, subject, steps = self.rule.left, self.plan.subject, self.plan.steps
        self.known.update(subject)
        supplied = STRATEGIES.get(self.rule.choose, ())
        mine = {v.name: v for v in self.rule.variables}
        given: list[Var | str] = []
        for name in supplied:
            if name == "at":
                given.append("at")
            elif name in mine:
                given.append(mine[name])
                if mine[name] not in self.known:
                    self.known.add(mine[name])
            else:
                given.append(f"_{name}")
        self.flush()
        match left:
            case FloorDiv() | Mod() | CeilDiv():
                self._divisor(left.b, subject[1])
                self.form(left.a, subject[0])
            case Min() | Max():
                if self.free:
                    steps.append(EachOrder(*subject))
                # a variable first: what else is said of it is compared then
                args = sorted(zip(left.args, subject, strict=True), key=lambda p: not isinstance(p[0], Var))
                for pattern, form in args:
                    self.form(pattern, form)
            case Sum() | Mul():
                self.form(left, subject[0])
        witnesses: list[Var | str] = [s.at for s in steps if isinstance(s, Proposed)]
        if "at" in given:
            given[given.index("at") : given.index("at") + 1] = witnesses
            witnesses = []
        self.plan.parameters = [*witnesses, *given]
        while True:
            self.flush()
            if not (self._from_sums() or self._from_conditions() or self._from_coefficients()):
                break
        unknown = ", ".join(v.name for v in self.rule.variables if v not in self.known)
        if unknown:
            raise DeclarationError(f"the strategy {self.rule.choose!r} gives no value to {unknown}")
        return self.plan

    def bind(self, v: Var) -> None:
        self.known.add(v)
        self.flush()

    def is_known(self, *es: Expr) -> bool:
        return all(v in self.known for e in es for v in e.variables())

    def flush(self) -> None:
        """Require the conditions whose variables are known, those on constants first."""
        ready = [c for c in self.open if all(v in self.known for v in c.variables())]
        ready.sort(key=lambda c: not all(v.kind == "const" for v in c.variables()))
        for c in ready:
            self.open.remove(c)
            self.plan.steps.append(Require(c))

    def _divisor(self, pattern: Expr, value: Var) -> None:
        if pattern is not value:
            self.open.append(compare("==", value, pattern))

    # -- matching
    def form(self, pattern: Expr, of: Var) -> None:
        """The form called ``of`` is an instance of the pattern."""
        match pattern:
            case Var() if pattern is of:
                return
            case Var(kind="expr" | "rest"):
                if pattern in self.known:
                    self.plan.steps.append(RequireSame(of, pattern))
                else:
                    self.plan.steps.append(Let(pattern, of))
                    self.bind(pattern)
            case FloorDiv() | Mod() | Min() | Max():
                at = self._at()
                self.plan.steps.append(Alone(at, of, _KINDS[type(pattern)]))
                self._inside(pattern, at)
            case Sum() | Mul():
                self._sum(pattern, of)
            case _:
                raise DeclarationError(f"no form is known to be {pattern}")

    def _at(self) -> str:
        self.fresh += 1
        return f"_{self.fresh}"

    def _inside(self, node: Expr, at: str) -> None:
        steps = self.plan.steps
        if isinstance(node, (FloorDiv, Mod)):
            dividend = node.a if isinstance(node.a, Var) and node.a not in self.known else self.new()
            divisor = node.b if isinstance(node.b, Var) and node.b not in self.known else self.new("const")
            steps.append(Inside(at, dividend, divisor))
            self.known.update((dividend, divisor))
            self._divisor(node.b, divisor)
            self.flush()
            self.form(node.a, dividend)
            return
        assert isinstance(node, (Min, Max))
        x, y = node.args
        if not (isinstance(x, Var) and isinstance(y, Var)):
            raise DeclarationError(f"name the arguments of {node} with variables")
        if x not in self.known and y not in self.known:
            steps.append(EachSplit(at, x, y))
        elif x in self.known and y in self.known:
            steps.append(SameParts(at, x, y))
        else:
            steps.append(OtherPart(at, x, y) if x in self.known else OtherPart(at, y, x))
        self.known.update((x, y))
        self.flush()

    def _sum(self, pattern: Expr, of: Var) -> None:
        constant, summands = scaled_parts(pattern)
        plain = [(scale, x, "") for x, scale in summands if isinstance(x, Var)]
        nodes = [s for s in summands if not isinstance(s[0], Var)]
        parts: list[tuple[Expr, Expr, str]] = []
        # what has most to it first: it fails fastest
        nodes.sort(key=lambda n: (-len(core.postorder(n[0])), str(n[0])))
        for node, scale in nodes:
            kind = _KINDS.get(type(node))
            if kind is None:
                raise DeclarationError(f"no form is known to be {node}")
            at = self._at()
            if self.free:
                times = scale if isinstance(scale, Var) and scale not in self.known else self.new("const")
                self.plan.steps.append(EachAtom(at, times, of, kind))
                self.known.add(times)
                self._divisor(scale, times)
            else:
                self.plan.steps.append(Proposed(at, kind))
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
                witnesses = [p[2] for p in others if p[2]]
                for k, x, at in others:
                    if not at and isinstance(x, Var):
                        self.plan.steps.append(Contains(s.of, x, k, witnesses[0] if witnesses else "-1"))
            taken = core.add(s.constant, *[core.mul(k, _alias(x, at)) for k, x, at in others])
            left = core.add(s.of, -taken)
            if rest is None:
                self.plan.steps.append(RequireSame(s.of, taken))
            else:
                k, x, _ = rest
                assert isinstance(x, Var)
                if k is core.integer(1):
                    self.plan.steps.append(Let(x, left, plain=True))
                elif k is core.integer(-1):
                    self.plan.steps.append(Let(x, -left, plain=True))
                else:
                    self.plan.steps.append(LetExact(x, left, k))
                self.bind(x)
            return True
        return False

    def _from_conditions(self) -> bool:
        for c in self.open:
            if not isinstance(c, Compare) or c.op != "==":
                continue
            for x, value in ((c.a, c.b), (c.b, c.a)):
                if isinstance(x, Var) and x not in self.known and self.is_known(value):
                    self.open.remove(c)
                    constant = x.kind == "const" and not is_constant(value)
                    self.plan.steps.append(LetConstant(x, value) if constant else Let(x, value))
                    self.bind(x)
                    return True
            found = self._factor(c)
            if found is not None:
                x, value, by = found
                # that nothing is left is required with the condition itself
                self.plan.steps.append(Require(by.ne(0)))
                self.plan.steps.append(Let(x, value // by))
                self.bind(x)
                return True
        return False

    def _factor(self, c: Compare) -> tuple[Var, Expr, Expr] | None:
        """The only unknown constant of an equation, as a quotient of what is known."""
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
                self.plan.steps.append(Coefficient(v, of, at))
                self.bind(v)
                return True
        return False


def _alias(x: Expr, at: str) -> Expr:
    """A summand by the atom that it was found as."""
    return core.var(at, "atom") if at else x
