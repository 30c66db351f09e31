"""The parts of a map: variables with their boxes, the sources of runtime variables, constraints, and their names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from operator import index
from typing import Any, Self

from . import native
from .condition import Condition
from .errors import InputError, TooLargeError, quoted
from .expr import CeilDiv, Expr, FloorDiv, Int, Mod, Mul, Var, lift, postorder, var
from .text_printer import format_expr

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
#: Words of the notation, which are not valid names of variables.
RESERVED = frozenset({"and", "ceildiv", "floorDiv", "floordiv", "in", "max", "min", "mod"})

_put = object.__setattr__


def is_name(name: str) -> bool:
    """Return whether ``name`` is a valid name of a variable."""
    return _NAME.match(name) is not None and name not in RESERVED


def as_integer(value: Any, what: str) -> int:
    """Return ``value`` as a Python integer (numpy integers too).  Raises :class:`InputError` for anything else."""
    if isinstance(value, bool):
        raise InputError(f"{what} must be an integer, not {value}")
    try:
        return index(value)
    except TypeError:
        raise InputError(f"{what} must be an integer, not {quoted(repr(value))}") from None


class _Expr:
    """The cache of :attr:`Variable.expr`, which avoids repeated look-ups of the name."""

    __slots__ = ("_expr",)
    _expr: Var


@dataclass(frozen=True, slots=True)
class Variable(_Expr):
    """A dimension or range variable with its inclusive bounds; ``hi < lo`` is an empty dimension."""

    name: str
    lo: int
    hi: int

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not is_name(self.name):
            raise InputError(f"{quoted(self.name)} is no name for a variable", expected="letters, digits and `_`")
        if type(self.lo) is not int:
            _put(self, "lo", as_integer(self.lo, f"the lower bound of {quoted(self.name)}"))
        if type(self.hi) is not int:
            _put(self, "hi", as_integer(self.hi, f"the upper bound of {quoted(self.name)}"))
        _put(self, "_expr", var(self.name))

    def __str__(self) -> str:
        return f"{self.name} in [{self.lo}, {self.hi}]"

    @property
    def expr(self) -> Var:
        """The variable as an expression."""
        try:
            return self._expr
        except AttributeError:
            found = var(self.name)
            _put(self, "_expr", found)
            return found

    @property
    def size(self) -> int:
        """The number of values in its box."""
        return max(self.hi - self.lo + 1, 0)

    def named(self, name: str) -> Self:
        """Return the variable under another name."""
        return self if name == self.name else replace(self, name=name)

    def boxed(self, lo: int, hi: int) -> Variable:
        """Return the variable with other bounds, which are known to be integers."""
        if lo == self.lo and hi == self.hi:
            return self
        made = object.__new__(type(self))
        _put(made, "name", self.name)
        _put(made, "lo", lo)
        _put(made, "hi", hi)
        if isinstance(self, RuntimeVariable):
            _put(made, "source", self.source)
        return made


@dataclass(frozen=True, slots=True)
class RuntimeSource:
    """The source of a runtime value: the element with index ``results`` of the value of the instruction ``hlo``.

    ``results`` are expressions over the variables of the map that contains the runtime variable: its dimension
    variables, its ranges and, after composition, other runtime variables.
    """

    hlo: str
    results: tuple[Expr, ...]

    def __post_init__(self) -> None:
        text = self.hlo.strip() if isinstance(self.hlo, str) else ""
        if not text or "\n" in text or "\r" in text:
            raise InputError("the source of a runtime variable is the text of one HLO instruction, on one line")
        _put(self, "hlo", text)
        _put(self, "results", tuple(lift(e) for e in self.results))


@dataclass(frozen=True, slots=True)
class RuntimeVariable(Variable):
    """A value known only at run time: the element that ``source`` names, clamped to ``[lo, hi]``.

    Without a source it is an arbitrary integer of its box, the same for the whole map.
    """

    source: RuntimeSource | None = None

    def indexed(self, results: tuple[Expr, ...]) -> RuntimeVariable:
        """Return the variable, read at other indices of its source."""
        assert self.source is not None
        return RuntimeVariable(self.name, self.lo, self.hi, RuntimeSource(self.source.hlo, results))

    def moved(self, moved: Mapping[Expr, Expr]) -> RuntimeVariable:
        """Return the variable with the indices of its source replaced as ``moved`` maps them."""
        return self if self.source is None else self.indexed(tuple(moved[e] for e in self.source.results))


@dataclass(frozen=True, slots=True)
class Constraint:
    """The constraint ``lo <= expr <= hi``; unsatisfiable where ``hi < lo``."""

    expr: Expr
    lo: int
    hi: int

    def __post_init__(self) -> None:
        _put(self, "expr", lift(self.expr))
        _put(self, "lo", as_integer(self.lo, "the lower bound of a constraint"))
        _put(self, "hi", as_integer(self.hi, "the upper bound of a constraint"))

    @classmethod
    def trusted(cls, expr: Expr, lo: int, hi: int) -> Constraint:
        """Return a constraint whose parts are known to be an expression and two integers."""
        self = object.__new__(cls)
        _put(self, "expr", expr)
        _put(self, "lo", lo)
        _put(self, "hi", hi)
        return self

    def __str__(self) -> str:
        try:
            return f"{format_expr(self.expr)} in [{self.lo}, {self.hi}]"
        except TooLargeError as error:
            return f"<constraint to [{self.lo}, {self.hi}]: {error}>"

    @property
    def condition(self) -> Condition:
        """The constraint as a condition."""
        return self.expr.within(self.lo, self.hi)

    @property
    def holds_always(self) -> bool:
        """Whether it is a true statement about a constant."""
        return type(self.expr) is Int and self.lo <= self.expr.value <= self.hi

    @property
    def holds_never(self) -> bool:
        """Whether it is visibly false."""
        return self.hi < self.lo or (type(self.expr) is Int and not self.holds_always)


def known_names(names: Iterable[str]) -> str:
    """Return the possible names of a variable, for an error message."""
    known = [*names]
    if not known:
        return "no variable: the map has none"
    if len(known) == 1:
        return f"`{known[0]}`"
    return "one of " + ", ".join(known[:12]) + (", …" if len(known) > 12 else "")


def not_quasi_affine(node: Expr) -> str:
    """Return the error in this one node of a map, or the empty string."""
    if isinstance(node, Mul):
        return "a product of two variables is not quasi-affine: one factor must be a constant"
    if isinstance(node, (FloorDiv, Mod, CeilDiv)) and type(node.b) is not Int:
        return "the divisor is not a constant: an indexing map is quasi-affine"
    return ""


@native.built
def quasi_affine(roots: tuple[Expr, ...], names: dict[str, None]) -> bool:
    """Return whether all nodes below ``roots`` are quasi-affine and over variables with these names."""
    for node in postorder(*roots):
        if not_quasi_affine(node) or (isinstance(node, Var) and (node.kind or node.name not in names)):
            return False
    return True


def expect_quasi_affine(roots: tuple[Expr, ...], names: dict[str, None]) -> None:
    """Raise :class:`InputError` for a node below ``roots`` that is not quasi-affine, or an unknown variable."""
    if quasi_affine(roots, names):
        return
    for node in postorder(*roots):
        if problem := not_quasi_affine(node):
            raise InputError(problem)
        if isinstance(node, Var) and (node.kind or node.name not in names):
            raise InputError(f"unknown variable {quoted(node.name)}", expected=known_names(names))


def unused_name(name: str, taken: set[str]) -> str:
    """Return ``name``, with underscores appended if it is taken, and mark it as taken."""
    while name in taken:
        name += "_"
    taken.add(name)
    return name


def numbered_name(name: str, numbered: str, prefix: str, start: int, taken: set[str]) -> str:
    """Return a free name for a variable called ``name``, and mark it as taken.

    Numbered names (``s0``, ``rt1``) continue the numbering; other names get a suffix only if they clash.
    """
    if re.fullmatch(numbered, name):
        k, pattern = start, prefix + "{}"
        fresh = pattern.format(k)
    else:
        k, pattern = 0, name + "_{}"
        fresh = name
    while fresh in taken:
        k += 1
        fresh = pattern.format(k)
    taken.add(fresh)
    return fresh
