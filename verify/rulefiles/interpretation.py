"""Interpret terms in an algebra: columns of points (`table`), bit-vectors (`bits`) or polynomials (`whole`).

An :class:`Interpretation` gives every operator its meaning in terms of a few operations, which each algebra supplies.
:mod:`.evaluate` says the same of single points, and shares nothing with this: whatever is found here is confirmed there.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import reduce
from typing import Any, NamedTuple

from .evaluate import division
from .semantics import Rounding, Semantics
from .terms import Term, below

__all__ = ["Interpretation", "Meaning"]


class Meaning(NamedTuple):
    """A number or a truth value, and the truth values that say where it has none.

    ``zero`` holds where a division by zero leaves it without a value, ``lost`` where an overflow does.  Where both hold
    the overflow comes first.
    """

    value: Any
    zero: Any
    lost: Any


class Interpretation(ABC):
    """Terms in one algebra.  Its numbers have ``+``, ``-`` and ``*``; everything else is a method.

    With ``machine`` results that leave the range of the rule's integers wrap around or are lost, as its semantics say.
    """

    def __init__(self, semantics: Semantics, *, machine: bool) -> None:
        self.semantics = semantics
        self.machine = machine
        self._memo: dict[int, Meaning] = {}

    # -- the algebra
    @abstractmethod
    def number(self, n: int) -> Any:
        """An integer."""

    @abstractmethod
    def variable(self, name: str) -> Any:
        """The value of a variable; truth values are 0 and 1."""

    @abstractmethod
    def truth(self, value: bool) -> Any:
        """A truth value."""

    @abstractmethod
    def conj(self, *parts: Any) -> Any:
        """Whether all parts hold."""

    @abstractmethod
    def disj(self, *parts: Any) -> Any:
        """Whether one of the parts holds."""

    @abstractmethod
    def neg(self, part: Any) -> Any:
        """Whether the part does not hold."""

    @abstractmethod
    def less(self, a: Any, b: Any) -> Any:
        """Whether ``a < b``."""

    @abstractmethod
    def equal(self, a: Any, b: Any) -> Any:
        """Whether two numbers are equal."""

    @abstractmethod
    def either(self, c: Any, a: Any, b: Any) -> Any:
        """The number ``a`` where ``c`` holds, and ``b`` elsewhere."""

    @abstractmethod
    def extreme(self, op: str, a: Any, b: Any) -> Any:
        """The smaller (``min``) or larger (``max``) of two numbers."""

    @abstractmethod
    def divided(self, rounding: Rounding, a: Any, b: Any, *, whole: bool) -> Any:
        """The quotient, or without ``whole`` the remainder; by zero it is zero, or anything where it has no value."""

    @abstractmethod
    def wrapped(self, a: Any) -> Any:
        """The machine integer that ``a`` wraps around to."""

    def product(self, a: Any, b: Any) -> Any:
        """The product."""
        return a * b

    # -- terms
    def of(self, root: Term) -> Meaning:
        """The meaning of a term."""
        for t in below(root):
            if id(t) not in self._memo:
                args = [self._memo[id(a)] for a in t.args]
                found = self._meaning(t, args)
                self._memo[id(t)] = self._fitted(t, found, args) if self.machine else found
        return self._memo[id(root)]

    def holds(self, condition: Term) -> Any:
        """Where a term is true: not where it has no value."""
        value, zero, lost = self.of(condition)
        return self.conj(value, self.neg(zero), self.neg(lost))

    def same(self, a: Any, b: Any) -> Any:
        """Whether two truth values are equal."""
        return self.disj(self.conj(a, b), self.conj(self.neg(a), self.neg(b)))

    def _fitted(self, t: Term, found: Meaning, args: list[Meaning]) -> Meaning:
        """A result as the machine integer that it is; a quotient overflows together with its remainder."""
        s = self.semantics
        divides = division(t, s) is not None
        if not (divides or t.op in ("int", "add", "sub", "neg", "mul", "cdiv")):
            return found
        value, zero, lost = found
        if s.overflow == "wrap":
            return Meaning(self.wrapped(value), zero, lost)
        least = self.number(s.lo)
        outside = [self.less(value, least), self.less(self.number(s.hi), value)]
        if divides:
            a, b = args[0].value, args[1].value
            outside.append(self.conj(self.equal(a, least), self.equal(b, self.number(-1))))
        # what had no value keeps its reason
        return Meaning(value, zero, self.disj(lost, self.conj(self.disj(*outside), self.neg(zero))))

    def _meaning(self, t: Term, args: list[Meaning]) -> Meaning:
        no = self.truth(False)
        match t.op:
            case "int":
                return Meaning(self.number(int(t.value)), no, no)
            case "bool":
                return Meaning(self.truth(bool(t.value)), no, no)
            case "var":
                return Meaning(self.variable(t.name), no, no)
            case "flag":
                return Meaning(self.neg(self.equal(self.variable(t.name), self.number(0))), no, no)
            case "fold":
                return args[0]
            case "and" | "or":
                return self._connective(t.op == "or", args)
            case "select" | "choose":
                return self._select(t.op, *args)
        zero, lost = self.disj(*(a.zero for a in args)), self.disj(*(a.lost for a in args))
        xs = [a.value for a in args]
        kind = division(t, self.semantics)
        if kind is None and t.op != "cdiv":
            return Meaning(self._plain(t.op, xs), zero, lost)
        if kind is None:
            rounding: Rounding = "floor0" if self.semantics.quotient.endswith("0") else "floor"
            value = -self.divided(rounding, -xs[0], xs[1], whole=True)
        else:
            rounding = kind[0]
            value = self.divided(rounding, xs[0], xs[1], whole=kind[1])
        if not rounding.endswith("0"):
            zero = self.disj(zero, self.equal(xs[1], self.number(0)))
        return Meaning(value, zero, lost)

    def _connective(self, deciding: bool, args: list[Meaning]) -> Meaning:
        """A conjunction or disjunction: one part decides it, whatever the others are."""
        decides = [
            self.conj(a.value if deciding else self.neg(a.value), self.neg(a.zero), self.neg(a.lost))
            for a in args
        ]
        decided = self.disj(*decides)
        undecided = self.neg(decided)
        zero, lost = self.disj(*(a.zero for a in args)), self.disj(*(a.lost for a in args))
        value = decided if deciding else undecided
        return Meaning(value, self.conj(undecided, zero), self.conj(undecided, lost))

    def _select(self, op: str, c: Meaning, a: Meaning, b: Meaning) -> Meaning:
        chosen = self.conj(c.value, self.neg(c.zero), self.neg(c.lost))
        other = self.conj(self.neg(c.value), self.neg(c.zero), self.neg(c.lost))

        def of(x: Any, y: Any) -> Any:
            return self.disj(self.conj(chosen, x), self.conj(other, y))

        value = self.either(c.value, a.value, b.value) if op == "select" else of(a.value, b.value)
        zero, lost = self.disj(c.zero, of(a.zero, b.zero)), self.disj(c.lost, of(a.lost, b.lost))
        return Meaning(value, zero, lost)

    def _plain(self, op: str, xs: list[Any]) -> Any:
        match op:
            case "add":
                return xs[0] + xs[1]
            case "sub":
                return xs[0] - xs[1]
            case "neg":
                return -xs[0]
            case "mul":
                return self.product(xs[0], xs[1])
            case "min" | "max":
                return reduce(lambda a, b: self.extreme(op, a, b), xs)
            case "wrap":
                return self.wrapped(xs[0])
            case "lt":
                return self.less(xs[0], xs[1])
            case "le":
                return self.neg(self.less(xs[1], xs[0]))
            case "gt":
                return self.less(xs[1], xs[0])
            case "ge":
                return self.neg(self.less(xs[0], xs[1]))
            case "eq":
                return self.equal(xs[0], xs[1])
            case "ne":
                return self.neg(self.equal(xs[0], xs[1]))
            case "iff":
                return self.same(xs[0], xs[1])
            case "xor":
                return self.neg(self.same(xs[0], xs[1]))
            case "within":
                return self.conj(self.neg(self.less(xs[0], xs[1])), self.neg(self.less(xs[2], xs[0])))
            case "divides":
                zero = self.equal(xs[0], self.number(0))
                rest = self.divided("euclid", xs[1], xs[0], whole=False)
                return self.conj(self.neg(zero), self.equal(rest, self.number(0)))
            case "not":
                return self.neg(xs[0])
        raise AssertionError(f"no meaning for {op}")
