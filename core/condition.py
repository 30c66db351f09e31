"""Conditions: assumptions of rules, requirements of ops and goals of proofs.

A condition is a Boolean combination of comparisons, ranges and divisibilities of expressions.  It is total: it has a
truth value for all integers (``0 ∣ x`` is false), provided its expressions are defined.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Generic, Literal, Protocol, TypeVar

from .expr import Expr, ExprLike, Int, Integers, Var, complete, interpret, natural_key, postorder, substitute_all
from .notation import show

Relation = Literal["<=", "<", "==", "!="]
V = TypeVar("V")
W_contra = TypeVar("W_contra", contravariant=True)
B = TypeVar("B")


class Condition:
    """A statement about integers; combine with ``&``, ``|`` and ``~``."""

    __slots__ = ()

    def exprs(self) -> tuple[Expr, ...]:
        """Return the maximal expressions of this condition, not those of its subconditions."""
        return ()

    def parts(self) -> tuple[Condition, ...]:
        """Return the direct subconditions."""
        return ()

    def evaluate(self, env: Mapping[Any, Any]) -> bool:
        """Return whether the condition holds; ``env`` maps variables or names to integers.

        Raises :class:`ZeroDivisionError` where one of its expressions has no value.
        """
        values: dict[Expr, Any] = {}
        algebra = Integers(env)
        return bool(condition_interpret(self, lambda e: interpret((e,), algebra, values)[0], _PLAIN))

    def substitute(self, mapping: Mapping[Any, ExprLike]) -> Condition:
        """Replace expressions; a condition between constants becomes :data:`TRUE` or :data:`FALSE`."""
        return substitute_conditions((self,), mapping)[0]

    def variables(self) -> tuple[Var, ...]:
        """Return its variables, in natural order of their names."""
        found = {n for n in postorder(*all_exprs(self)) if isinstance(n, Var)}
        return tuple(sorted(found, key=lambda v: (natural_key(v.name), v.kind)))

    def __and__(self, other: Condition) -> Condition:
        return all_of((self, other))

    def __or__(self, other: Condition) -> Condition:
        return any_of((self, other))

    def __invert__(self) -> Condition:
        return negate(self)

    def __bool__(self) -> bool:
        raise TypeError(f"`{self}` is not decided by constants alone: keep it as a condition")

    def __str__(self) -> str:
        return show_condition(self)

    __repr__ = __str__


@dataclass(frozen=True, repr=False, slots=True)
class Truth(Condition):
    """The constant condition, true or false."""

    value: bool

    def __bool__(self) -> bool:
        return self.value

    def __reduce__(self) -> tuple[Any, ...]:
        # unpickling must return the same objects, because conditions are compared with `is TRUE` and `is FALSE`
        return _decided, (self.value,)


@dataclass(frozen=True, repr=False, slots=True)
class Compare(Condition):
    """The comparison ``a op b``; ``>`` and ``>=`` are stored with their sides exchanged."""

    op: Relation
    a: Expr
    b: Expr

    def exprs(self) -> tuple[Expr, ...]:
        return (self.a, self.b)


@dataclass(frozen=True, repr=False, slots=True)
class Within(Condition):
    """The range ``lo <= e <= hi``, both ends included."""

    e: Expr
    lo: Expr
    hi: Expr

    def exprs(self) -> tuple[Expr, ...]:
        return (self.e, self.lo, self.hi)


@dataclass(frozen=True, repr=False, slots=True)
class Divides(Condition):
    """The divisor ``d`` is not zero and divides ``e``."""

    d: Expr
    e: Expr

    def exprs(self) -> tuple[Expr, ...]:
        return (self.d, self.e)


@dataclass(frozen=True, repr=False, slots=True)
class And(Condition):
    """A conjunction: all of ``args`` hold."""

    args: tuple[Condition, ...]

    def parts(self) -> tuple[Condition, ...]:
        return self.args


@dataclass(frozen=True, repr=False, slots=True)
class Or(Condition):
    """A disjunction: at least one of ``args`` holds."""

    args: tuple[Condition, ...]

    def parts(self) -> tuple[Condition, ...]:
        return self.args


@dataclass(frozen=True, repr=False, slots=True)
class Not(Condition):
    """A negation: ``arg`` does not hold."""

    arg: Condition

    def parts(self) -> tuple[Condition, ...]:
        return (self.arg,)


TRUE = Truth(True)
FALSE = Truth(False)


def _decided(value: bool) -> Condition:
    return TRUE if value else FALSE


def compare(op: Relation, a: Expr, b: Expr) -> Condition:
    """Return ``a op b``, as a constant when both sides are literals or the same expression."""
    if type(a) is Int and type(b) is Int:
        return _decided(related(op, a.value, b.value))
    if a is b:
        return _decided(op in ("<=", "=="))
    return Compare(op, a, b)


def within(e: Expr, lo: Expr, hi: Expr) -> Condition:
    """Return ``lo <= e <= hi``: a constant where literals decide it, an equation where both bounds are equal."""
    if lo is hi:
        return compare("==", e, lo)
    if type(lo) is Int and type(hi) is Int and lo.value > hi.value:
        return FALSE
    if type(e) is Int and type(lo) is Int and type(hi) is Int:
        return _decided(lo.value <= e.value <= hi.value)
    return Within(e, lo, hi)


def divides(d: Expr, e: Expr) -> Condition:
    """Return the condition that ``d`` divides ``e``, which is false for the divisor zero."""
    if type(d) is Int:
        if d.value == 0:
            return FALSE
        if d.value in (1, -1):
            return TRUE
        if type(e) is Int:
            return _decided(e.value % d.value == 0)
    return Divides(d, e)


def parts_of(c: Condition) -> tuple[Condition, ...]:
    """Return the conjuncts of a condition; a condition that is no conjunction is its own only conjunct."""
    return c.args if isinstance(c, And) else (c,)


def all_of(conditions: Iterable[Condition]) -> Condition:
    """Return the conjunction, flattened and without duplicates."""
    kept: dict[Condition, None] = {}
    for c in conditions:
        for part in parts_of(c):
            if part is FALSE:
                return FALSE
            if part is not TRUE:
                kept[part] = None
    return TRUE if not kept else next(iter(kept)) if len(kept) == 1 else And(tuple(kept))


def any_of(conditions: Iterable[Condition]) -> Condition:
    """Return the disjunction, flattened and without duplicates."""
    kept: dict[Condition, None] = {}
    for c in conditions:
        for part in c.args if isinstance(c, Or) else (c,):
            if part is TRUE:
                return TRUE
            if part is not FALSE:
                kept[part] = None
    return FALSE if not kept else next(iter(kept)) if len(kept) == 1 else Or(tuple(kept))


def negate(c: Condition) -> Condition:
    """Return the negation, pushed down to the comparisons."""
    match c:
        case Truth(value):
            return _decided(not value)
        case Compare("<=", a, b):
            return compare("<", b, a)
        case Compare("<", a, b):
            return compare("<=", b, a)
        case Compare("==", a, b):
            return compare("!=", a, b)
        case Compare("!=", a, b):
            return compare("==", a, b)
        case Within(e, lo, hi):
            return any_of((compare("<", e, lo), compare("<", hi, e)))
        case And(args):
            return any_of(negate(a) for a in args)
        case Or(args):
            return all_of(negate(a) for a in args)
        case Not(arg):
            return arg
    return Not(c)


def substitute_conditions(conditions: Iterable[Condition], mapping: Mapping[Any, ExprLike]) -> list[Condition]:
    """Apply :meth:`Condition.substitute` to several conditions, replacing common subexpressions only once.

    ``mapping`` is as for :func:`~indexproof.core.expr.substitute_all`.  The order of the conditions is kept.  Raises
    :class:`ZeroDivisionError` where a divisor becomes the literal zero.
    """
    kept = list(conditions)
    roots = list(dict.fromkeys(e for c in kept for e in all_exprs(c)))
    value_of = dict(zip(roots, substitute_all(roots, mapping), strict=True)).__getitem__
    return [condition_interpret(c, value_of, REBUILD) for c in kept]


def atoms(c: Condition) -> list[Condition]:
    """Return the subconditions without connectives, in order of appearance."""
    out: list[Condition] = []
    todo = [c]
    while todo:
        at = todo.pop()
        if parts := at.parts():
            todo.extend(reversed(parts))
        else:
            out.append(at)
    return out


def all_exprs(c: Condition) -> list[Expr]:
    """Return the maximal expressions of ``c`` and all its subconditions, in order of appearance."""
    return [e for atom in atoms(c) for e in atom.exprs()]


class Logic(Protocol[W_contra, B]):
    """An interpretation of comparisons and connectives, over values of the expressions."""

    def const(self, value: bool, /) -> B: ...
    def compare(self, op: Relation, a: W_contra, b: W_contra, /) -> B: ...
    def within(self, e: W_contra, lo: W_contra, hi: W_contra, /) -> B: ...
    def divides(self, d: W_contra, e: W_contra, /) -> B: ...
    def conj(self, parts: list[B], /) -> B: ...
    def disj(self, parts: list[B], /) -> B: ...
    def neg(self, part: B, /) -> B: ...


def condition_interpret(c: Condition, value_of: Callable[[Expr], V], logic: Logic[V, B]) -> B:
    """Return the value of ``c`` in ``logic``; ``value_of`` gives the values of expressions.

    This recurses: conditions are written by people and stay shallow, unlike expressions.
    """
    match c:
        case Truth(value):
            return logic.const(value)
        case Compare(op, a, b):
            return logic.compare(op, value_of(a), value_of(b))
        case Within(e, lo, hi):
            return logic.within(value_of(e), value_of(lo), value_of(hi))
        case Divides(d, e):
            return logic.divides(value_of(d), value_of(e))
        case And(args):
            return logic.conj([condition_interpret(a, value_of, logic) for a in args])
        case Or(args):
            return logic.disj([condition_interpret(a, value_of, logic) for a in args])
        case Not(arg):
            return logic.neg(condition_interpret(arg, value_of, logic))
    raise AssertionError(f"no meaning for {type(c).__name__}")


def related(op: Relation, a: Any, b: Any) -> Any:
    """Return ``a op b``, for any values that define the operator."""
    match op:
        case "<=":
            return a <= b
        case "<":
            return a < b
        case "==":
            return a == b
        case "!=":
            return a != b


@dataclass(frozen=True)
class _Connectives(Generic[W_contra, B]):
    """A :class:`Logic` whose operations are given as functions."""

    const: Callable[[bool], B]
    compare: Callable[[Relation, W_contra, W_contra], B]
    within: Callable[[W_contra, W_contra, W_contra], B]
    divides: Callable[[W_contra, W_contra], B]
    conj: Callable[[list[B]], B]
    disj: Callable[[list[B]], B]
    neg: Callable[[B], B]


_PLAIN: Final = _Connectives[Any, Any](
    bool, related, lambda e, lo, hi: lo <= e <= hi, lambda d, e: d != 0 and e % d == 0, all, any, lambda part: not part
)
#: Rebuilds a condition over new expressions.
REBUILD: Final = _Connectives[Expr, Condition](_decided, compare, within, divides, all_of, any_of, negate)

_RELATION: Final = {"<=": "≤", "<": "<", "==": "=", "!=": "≠"}
_TURNED: Final = {**_RELATION, "<=": "≥", "<": ">"}


def show_condition(c: Condition, number_last: bool = False) -> str:
    """Return ``c`` in mathematical notation; with ``number_last`` it says ``x ≥ 2`` in place of ``2 ≤ x``."""
    match c:
        case Truth(value):
            return "true" if value else "false"
        case Compare(op, Int() as a, b) if number_last:
            return f"{show(b)} {_TURNED[op]} {show(a)}"
        case Compare(op, a, b):
            return f"{show(a)} {_RELATION[op]} {show(b)}"
        case Within(e, lo, hi):
            return f"{show(e)} ∈ [{show(lo)}, {show(hi)}]"
        case Divides(d, e):
            left = show(d)
            return f"{left if isinstance(d, (Int, Var)) else f'({left})'} ∣ {show(e)}"
        case And(args):
            return " and ".join(_parts_shown(args, Or, number_last))
        case Or(args):
            return " or ".join(_parts_shown(args, And, number_last))
        case Not(arg):
            return f"not ({show_condition(arg, number_last)})"
    raise AssertionError(f"no notation for {type(c).__name__}")


def _parts_shown(args: Iterable[Condition], bracketed: type[And | Or], number_last: bool) -> Iterator[str]:
    for a in args:
        text = show_condition(a, number_last)
        yield f"({text})" if isinstance(a, bracketed) else text


def _digest(c: Condition) -> tuple[int, tuple[Expr, ...]]:
    """Return a digest that is the same in every process, which orders terms, and the distinct expressions of ``c``."""
    inside = tuple(dict.fromkeys(all_exprs(c)))
    shape = condition_interpret(c, lambda e: e.key, _SHAPE)
    return hash(shape), inside


def _shape(tag: int) -> Callable[..., Any]:
    return lambda *parts: (tag, *(tuple(p) if isinstance(p, list) else p for p in parts))


_SHAPE: Final = _Connectives[Any, Any](
    _shape(0), lambda op, a, b: (1, ("<=", "<", "==", "!=").index(op), a, b), *map(_shape, (2, 3, 4, 5, 6))
)

complete(
    compare=compare,
    within=within,
    divides=divides,
    decided=lambda c: c.value if isinstance(c, Truth) else None,
    digest=_digest,
    rebuilt=lambda c, new: condition_interpret(c, new.__getitem__, REBUILD),
    holds=lambda c, value_of: condition_interpret(c, value_of, _PLAIN),
)
