"""Expressions over integer variables: interned, immutable, with sums in canonical form.

The language is the quasi-affine one of reports/semantics.md ("Integers"): ``+ - *``, ``//`` and ``%`` (floor semantics,
as in Python), ``ceildiv``, ``min`` and ``max`` over unbounded integers.  Products of two variables are representable,
because the sizes and attributes of a proof are symbols.

Every node is interned: structural equality *is* identity, so ``==``, ``hash`` and dictionary look-ups are cheap. Sums
are canonical (one constant, each term once with its integer coefficient).  Constructors rewrite nothing else:
simplification is left to the proved rules.
"""

from __future__ import annotations

import hashlib
import os
import re
import sys
import threading
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, reduce
from typing import TYPE_CHECKING, Any, Final, Generic, Protocol, TypeAlias, TypeVar, dataclass_transform

from . import native
from .late import LATE

if TYPE_CHECKING:
    from .condition import Condition

__all__ = [
    "BUILDERS",
    "Algebra",
    "Binary",
    "CeilDiv",
    "Expr",
    "Extremum",
    "FloorDiv",
    "Int",
    "Integers",
    "Max",
    "Min",
    "Mod",
    "Mul",
    "Selection",
    "Sum",
    "Var",
    "add",
    "ceildiv",
    "complete",
    "distinct_sum",
    "floordiv",
    "integer",
    "interpret",
    "lift",
    "linear",
    "maximum",
    "minimum",
    "mod",
    "mul",
    "natural_key",
    "postorder",
    "rebuild",
    "select",
    "sweep",
    "sweep_if_large",
    "var",
]

V = TypeVar("V")
ExprLike: TypeAlias = "Expr | int"


_table: Final[dict[tuple[Any, ...], Any]] = {}
_lock = threading.RLock()
#: The table is swept above this size, and then whenever it has twice as many entries as survived the last sweep.
_SMALLEST: Final = 1 << 16
_limit: int = _SMALLEST


def _renew_lock() -> None:
    global _lock  # noqa: PLW0603 - a lock held by another thread when the process forked is of no use
    _lock = threading.RLock()


os.register_at_fork(after_in_child=_renew_lock)


def _store(entry: tuple[Any, ...], node: Expr) -> Any:
    """Add a new node to the table, or return the one that another thread added first."""
    with _lock:
        present = _table.setdefault(entry, node)
        if len(_table) > _limit:
            sweep_if_large()
        return present


def sweep_if_large() -> None:
    """Call :func:`sweep` where the table has doubled."""
    global _limit  # noqa: PLW0603 - it belongs to the table
    with _lock:
        if len(_table) > _limit:
            sweep()
            _limit = max(_SMALLEST, 2 * len(_table))


def _referred(entry: tuple[Any, ...]) -> int:
    """Return the reference count of an entry's node, as seen during a sweep."""
    node = _table[entry]
    return sys.getrefcount(node)


def sweep() -> int:
    """Remove the nodes that only the table refers to; return the number of nodes left.

    Parents are younger than their children, so one pass from the youngest to the oldest finds all of them.  The sweep
    holds the lock that insertion needs, and only the sweep removes entries.  It checks the reference count again after
    the removal, so a node that another thread has looked up in the meantime stays.
    """
    with _lock:
        unused = _unused()
        entries = list(_table)
        while entries:
            entry = entries.pop()
            if _referred(entry) == unused:
                node = _table.pop(entry)
                if sys.getrefcount(node) >= unused:
                    _table[entry] = node
                del node
        return len(_table)


def _unused() -> int:
    """Return the reference count of a node that only the table and the sweep refer to."""
    entry = (None,)
    _table[entry] = object()
    count = _referred(entry)
    del _table[entry]
    return count


def complete(**functions: Any) -> None:
    """Register ``show`` (:mod:`.notation`) and the functions on conditions that nodes call (:mod:`.condition`)."""
    LATE.update(functions)


class Expr:
    """An integer-valued expression.  Build one with the functions of this module or with Python's operators.

    ``==`` is identity and therefore structural equality; the ordering operators and :meth:`eq` build
    :class:`~indexproof.core.condition.Condition` objects.  An expression has no truth value.
    """

    __slots__ = ("key",)
    #: A 64-bit structural digest, the same in every process.  It orders the terms of a canonical sum.
    key: int

    # -- structure
    @property
    def children(self) -> tuple[Expr, ...]:
        """The direct subexpressions, in order."""
        return ()

    def variables(self) -> tuple[Var, ...]:
        """Return all variables below this node, in natural order of their names (``d2`` before ``d10``)."""
        found = [n for n in postorder(self) if isinstance(n, Var)]
        return tuple(sorted(found, key=lambda v: (natural_key(v.name), v.kind)))

    def substitute(self, mapping: Mapping[Any, ExprLike]) -> Expr:
        """Replace whole subexpressions simultaneously; keys are expressions (usually variables)."""
        return substitute_all((self,), mapping)[0]

    def evaluate(self, env: Mapping[Any, Any]) -> Any:
        """Return the value, an integer or a numpy array; ``env`` maps variables or their names to values.

        Raises :class:`ZeroDivisionError` where a divisor is zero and :class:`KeyError` for an unbound variable.
        """
        return interpret((self,), Integers(env))[0]

    # -- arithmetic
    def __add__(self, other: ExprLike) -> Expr:
        return add(self, other)

    def __radd__(self, other: int) -> Expr:
        return add(other, self)

    def __sub__(self, other: ExprLike) -> Expr:
        return linear(0, ((self, 1), (lift(other), -1)))

    def __rsub__(self, other: int) -> Expr:
        return linear(other, ((self, -1),))

    def __neg__(self) -> Expr:
        return linear(0, ((self, -1),))

    def __mul__(self, other: ExprLike) -> Expr:
        return mul(self, other)

    def __rmul__(self, other: int) -> Expr:
        return mul(other, self)

    def __floordiv__(self, other: ExprLike) -> Expr:
        return floordiv(self, other)

    def __rfloordiv__(self, other: int) -> Expr:
        return floordiv(other, self)

    def __mod__(self, other: ExprLike) -> Expr:
        return mod(self, other)

    def __rmod__(self, other: int) -> Expr:
        return mod(other, self)

    # -- conditions
    def __lt__(self, other: ExprLike) -> Condition:
        return _stated("compare", "<", self, lift(other))

    def __le__(self, other: ExprLike) -> Condition:
        return _stated("compare", "<=", self, lift(other))

    def __gt__(self, other: ExprLike) -> Condition:
        return _stated("compare", "<", lift(other), self)

    def __ge__(self, other: ExprLike) -> Condition:
        return _stated("compare", "<=", lift(other), self)

    def eq(self, other: ExprLike) -> Condition:
        """Return the condition that both sides have the same value."""
        return _stated("compare", "==", self, lift(other))

    def ne(self, other: ExprLike) -> Condition:
        """Return the condition that the sides differ."""
        return _stated("compare", "!=", self, lift(other))

    def within(self, lo: ExprLike, hi: ExprLike) -> Condition:
        """Return the condition ``lo <= self <= hi``."""
        return _stated("within", self, lift(lo), lift(hi))

    def divides(self, other: ExprLike) -> Condition:
        """Return the condition that ``self`` is not zero and divides ``other``."""
        return _stated("divides", self, lift(other))

    def __bool__(self) -> bool:
        raise TypeError(f"{self} has no truth value: state it as a condition (`when=`, `where=`, `.eq()`, `.within()`)")

    # -- identity is equality: copying and unpickling must return the interned node
    def __copy__(self) -> Expr:
        return self

    def __deepcopy__(self, memo: Any) -> Expr:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return _replay, (_program(self),)

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        shown: str = LATE["show"](self)
        return shown


def _stated(kind: str, *parts: Any) -> Condition:
    made: Condition = LATE[kind](*parts)
    return made


@dataclass_transform()
def _node(cls: type[V]) -> type[V]:
    """Declare a class of nodes: its fields are slots, equality is identity."""
    return dataclass(eq=False, repr=False, slots=True)(cls)


@_node
class Int(Expr):
    """An integer literal."""

    value: int
    key: int


@_node
class Var(Expr):
    """A variable.  ``kind`` is empty for index variables; rules use ``expr``, ``const`` and ``rest``."""

    name: str
    kind: str
    key: int


@_node
class Sum(Expr):
    """``const + Σ coefficient·term``: terms are distinct, neither sums nor literals, coefficients are not zero."""

    const: int
    terms: tuple[tuple[Expr, int], ...]
    key: int

    @property
    def children(self) -> tuple[Expr, ...]:
        return tuple([t for t, _ in self.terms])


@_node
class Mul(Expr):
    """A product of at least two factors, none of them a literal."""

    factors: tuple[Expr, ...]
    key: int

    @property
    def children(self) -> tuple[Expr, ...]:
        return self.factors


@_node
class Binary(Expr):
    """A quotient or a remainder: dividend and divisor."""

    a: Expr
    b: Expr
    key: int

    @property
    def children(self) -> tuple[Expr, ...]:
        return (self.a, self.b)


class FloorDiv(Binary):
    """``a // b``, rounded towards minus infinity."""

    __slots__ = ()


class Mod(Binary):
    """``a % b``, with the sign of ``b``."""

    __slots__ = ()


class CeilDiv(Binary):
    """``-(-a // b)``, rounded towards plus infinity."""

    __slots__ = ()


@_node
class Extremum(Expr):
    """The smallest or the largest of several arguments."""

    args: tuple[Expr, ...]
    key: int

    @property
    def children(self) -> tuple[Expr, ...]:
        return self.args


class Min(Extremum):
    """The smallest of at least two arguments."""

    __slots__ = ()


class Max(Extremum):
    """The largest of at least two arguments."""

    __slots__ = ()


@_node
class Selection(Expr):
    """A selection: ``a`` where the condition ``c`` holds, ``b`` elsewhere; ``inside`` are the expressions of ``c``.

    Maps contain no selections.  Only rules of other systems are lowered to them, and a case split eliminates them.
    """

    c: Any
    a: Expr
    b: Expr
    inside: tuple[Expr, ...]
    key: int

    @property
    def children(self) -> tuple[Expr, ...]:
        return (*self.inside, self.a, self.b)


# ---------------------------------------------------------------------------------------------------------- builders
def _hashable(n: int) -> Any:
    """Return a key whose hash, unlike that of ``n``, differs between -1 and -2 and between 0 and 2**61 - 1."""
    x = n + n if n >= 0 else -n - n - 1
    if x < 1 << 60:
        return x
    limbs = []
    while x:
        limbs.append(x & ((1 << 60) - 1))
        x >>= 60
    return tuple(limbs)


@native.built
def integer(n: int) -> Int:
    """Return the literal ``n``."""
    entry = (Int, n)
    node: Int | None = _table.get(entry)
    if node is None:
        node = _store(entry, Int(n, hash((1, _hashable(n)))))
    return node


def var(name: str, kind: str = "") -> Var:
    """Return the variable ``name``; two variables are the same when name and kind are."""
    entry = (Var, name, kind)
    node: Var | None = _table.get(entry)
    if node is None:
        # Python randomises string hashes in each process, but the digest must not depend on the process
        digest = hashlib.blake2b(f"{kind}:{name}".encode(), digest_size=8).digest()
        node = _store(entry, Var(name, kind, int.from_bytes(digest, "little", signed=True)))
    return node


def lift(x: ExprLike) -> Expr:
    """Return ``x`` itself, or the literal for a Python integer.  Raises :class:`TypeError` for anything else."""
    if isinstance(x, Expr):
        return x
    if isinstance(x, int) and not isinstance(x, bool):
        return integer(x)
    try:
        index = x.__index__()
    except AttributeError:
        raise TypeError(f"expected an expression or an integer, got {x!r}") from None
    return integer(index)


def _by_key(e: Expr) -> int:
    return e.key


def _term_key(t: tuple[Expr, int]) -> int:
    return t[0].key


@native.built
def linear(const: int, terms: Iterable[tuple[Expr, int]]) -> Expr:
    """Return the canonical sum ``const + Σ coefficient·expression``, with nested sums and literals merged."""
    merged: dict[Expr, int] = {}
    for e, k in terms:
        if type(e) is Sum:
            const += k * e.const
            for t, j in e.terms:
                merged[t] = merged.get(t, 0) + k * j
        elif type(e) is Int:
            const += k * e.value
        else:
            merged[e] = merged.get(e, 0) + k
    kept = [(t, k) for t, k in merged.items() if k]
    if not kept:
        return integer(const)
    if len(kept) == 1:
        if const == 0 and kept[0][1] == 1:
            return kept[0][0]
    else:
        kept.sort(key=_term_key)
    return _sum(const, tuple(kept))


def _sum(const: int, canonical: tuple[tuple[Expr, int], ...]) -> Expr:
    """Return the sum node for terms in canonical order."""
    entry = (Sum, const, canonical)
    node: Expr | None = _table.get(entry)
    if node is None:
        key = hash((2, _hashable(const), tuple([(t.key, _hashable(k)) for t, k in canonical])))
        node = _store(entry, Sum(const, canonical, key))
    return node


def as_sum(e: Expr) -> tuple[int, tuple[tuple[Expr, int], ...]]:
    """Return the constant of an expression, and its terms with their coefficients."""
    if isinstance(e, Sum):
        return e.const, e.terms
    return (e.value, ()) if isinstance(e, Int) else (0, ((e, 1),))


def distinct_sum(const: int, terms: list[tuple[Expr, int]]) -> Expr:
    """Return :func:`linear` of distinct terms that are neither sums nor literals, with nonzero coefficients."""
    if len(terms) < 2:
        if not terms:
            return integer(const)
        if const == 0 and terms[0][1] == 1:
            return terms[0][0]
    elif len(terms) > 2:
        terms.sort(key=_term_key)
    elif terms[0][0].key > terms[1][0].key:
        terms.reverse()
    return _sum(const, tuple(terms))


@native.built
def add(*es: ExprLike) -> Expr:
    """Return the sum of any number of expressions."""
    return linear(0, [(lift(e), 1) for e in es])


@native.built
def mul(*es: ExprLike) -> Expr:
    """Return the product.  Integer factors distribute over sums; other products are not expanded."""
    scale = 1
    factors: list[Expr] = []
    todo = [lift(e) for e in reversed(es)]
    while todo:
        e = todo.pop()
        if type(e) is Int:
            scale *= e.value
        elif type(e) is Mul:
            factors.extend(e.factors)
        elif type(e) is Sum and e.const == 0 and len(e.terms) == 1:
            scale *= e.terms[0][1]
            todo.append(e.terms[0][0])
        else:
            factors.append(e)
    if scale == 0 or not factors:
        return integer(scale)
    if len(factors) == 1:
        return linear(0, ((factors[0], scale),))
    factors.sort(key=_by_key)
    args = tuple(factors)
    entry = (Mul, args)
    product: Expr | None = _table.get(entry)
    if product is None:
        product = _store(entry, Mul(args, _key(3, args)))
    return product if scale == 1 else linear(0, ((product, scale),))


def _key(tag: int, args: tuple[Expr, ...]) -> int:
    return hash((tag, *[a.key for a in args]))


def _binary(cls: type[Binary], a: Expr, b: Expr, tag: int) -> Expr:
    entry = (cls, a, b)
    node: Expr | None = _table.get(entry)
    if node is None:
        node = _store(entry, cls(a, b, hash((tag, a.key, b.key))))
    return node


def _refuse_zero(b: Expr) -> None:
    if type(b) is Int and b.value == 0:
        raise ZeroDivisionError("division by the constant zero has no value")


@native.built
def floordiv(a: ExprLike, b: ExprLike) -> Expr:
    """Return ``a // b``.  Raises :class:`ZeroDivisionError` for the literal divisor zero."""
    a, b = lift(a), lift(b)
    _refuse_zero(b)
    if type(a) is Int and type(b) is Int:
        return integer(a.value // b.value)
    return _binary(FloorDiv, a, b, 4)


@native.built
def mod(a: ExprLike, b: ExprLike) -> Expr:
    """Return ``a % b``.  Raises :class:`ZeroDivisionError` for the literal divisor zero."""
    a, b = lift(a), lift(b)
    _refuse_zero(b)
    if type(a) is Int and type(b) is Int:
        return integer(a.value % b.value)
    return _binary(Mod, a, b, 5)


@native.built
def ceildiv(a: ExprLike, b: ExprLike) -> Expr:
    """Return ``a / b`` rounded up.  Raises :class:`ZeroDivisionError` for the literal divisor zero."""
    a, b = lift(a), lift(b)
    _refuse_zero(b)
    if type(a) is Int and type(b) is Int:
        return integer(-(-a.value // b.value))
    return _binary(CeilDiv, a, b, 6)


def _extremum(cls: type[Extremum], es: Sequence[ExprLike], tag: int) -> Expr:
    if not es:
        raise TypeError(f"{cls.__name__.lower()} needs at least one argument")
    literal: int | None = None
    pick = min if cls is Min else max
    args: dict[Expr, None] = {}
    for x in es:
        e = lift(x)
        for a in e.args if type(e) is cls else (e,):
            if type(a) is Int:
                literal = a.value if literal is None else pick(literal, a.value)
            else:
                args[a] = None
    if literal is not None:
        args[integer(literal)] = None
    if len(args) == 1:
        return next(iter(args))
    chosen = tuple(sorted(args, key=_by_key))
    entry = (cls, chosen)
    node: Expr | None = _table.get(entry)
    if node is None:
        node = _store(entry, cls(chosen, _key(tag, chosen)))
    return node


@native.built
def minimum(*es: ExprLike) -> Expr:
    """Return the minimum of the arguments; nested minima are merged."""
    return _extremum(Min, es, 7)


@native.built
def maximum(*es: ExprLike) -> Expr:
    """Return the maximum of the arguments; nested maxima are merged."""
    return _extremum(Max, es, 8)


def select(c: Any, a: ExprLike, b: ExprLike) -> Expr:
    """Return ``a`` where the condition ``c`` holds, else ``b``; a constant condition selects at once."""
    a, b = lift(a), lift(b)
    decided = LATE["decided"](c)
    if decided is not None or a is b:
        return b if decided is False else a
    entry = (Selection, c, a, b)
    node: Expr | None = _table.get(entry)
    if node is None:
        digest, inside = LATE["digest"](c)
        node = _store(entry, Selection(c, a, b, inside, hash((9, digest, a.key, b.key))))
    return node


# ---------------------------------------------------------------------------------------------------------- traversal
@native.built
def postorder(*roots: Expr, known: Container[Expr] = ()) -> list[Expr]:
    """Return every distinct node below ``roots``, children before parents; iterative, so nesting may have any depth.

    Nodes in ``known`` are omitted, and their descendants are not visited through them.
    """
    seen: set[Expr] = set()
    out: list[Expr] = []
    #: nodes to visit; ``None`` marks the end of the node that was opened last
    todo: list[Expr | None] = list(reversed(roots))
    opened: list[Expr] = []
    while todo:
        node = todo.pop()
        if node is None:
            out.append(opened.pop())
            continue
        if node in seen or node in known:
            continue
        seen.add(node)
        children = node.children
        if children:
            opened.append(node)
            todo.append(None)
            todo.extend(reversed(children))
        else:
            out.append(node)
    return out


def operands_first(roots: Iterable[V], operands: Callable[[V], Sequence[V]]) -> list[V]:
    """Return the distinct nodes below ``roots`` in postorder, for any type of node; ``operands`` gives the children."""
    seen: set[V] = set()
    out: list[V] = []
    stack = [(r, False) for r in reversed([*roots])]
    while stack:
        node, finished = stack.pop()
        if finished:
            out.append(node)
        elif node not in seen:
            seen.add(node)
            stack.append((node, True))
            stack.extend((a, False) for a in reversed(operands(node)))
    return out


#: The functions that build all operators but sums, keyed by the class of their nodes.
BUILDERS: Final[dict[type[Expr], Callable[..., Expr]]] = {
    Mul: mul,
    FloorDiv: floordiv,
    Mod: mod,
    CeilDiv: ceildiv,
    Min: minimum,
    Max: maximum,
}


def rebuild(node: Expr, children: Sequence[ExprLike]) -> Expr:
    """Return ``node`` with other children, in the order of :attr:`Expr.children`."""
    if isinstance(node, Sum):
        return linear(node.const, [(lift(c), k) for c, (_, k) in zip(children, node.terms, strict=True)])
    if isinstance(node, Selection):
        *inside, a, b = children
        return select(LATE["rebuilt"](node.c, dict(zip(node.inside, map(lift, inside), strict=True))), a, b)
    build = BUILDERS.get(type(node))
    return node if build is None else build(*children)


def substitute_all(roots: Sequence[Expr], mapping: Mapping[Any, ExprLike]) -> list[Expr]:
    """Apply :meth:`Expr.substitute` to several expressions at once, replacing common subexpressions only once."""
    done: dict[Expr, Expr] = {k: lift(v) for k, v in mapping.items()}
    for node in postorder(*roots):
        if node not in done:
            kids = node.children
            new = [done[c] for c in kids]
            done[node] = node if all(a is b for a, b in zip(kids, new, strict=True)) else rebuild(node, new)
    return [done[r] for r in roots]


class Algebra(Protocol, Generic[V]):
    """An interpretation of the operators: over integers, intervals, solver terms or text."""

    def integer(self, n: int, /) -> V: ...
    def variable(self, v: Var, /) -> V: ...
    def sum(self, const: int, terms: list[tuple[V, int]], /) -> V: ...
    def product(self, factors: list[V], /) -> V: ...
    def floordiv(self, a: V, b: V, /) -> V: ...
    def mod(self, a: V, b: V, /) -> V: ...
    def ceildiv(self, a: V, b: V, /) -> V: ...
    def minimum(self, args: list[V], /) -> V: ...
    def maximum(self, args: list[V], /) -> V: ...


def interpret(roots: Sequence[Expr], algebra: Algebra[V], memo: dict[Expr, V] | None = None) -> list[V]:
    """Return the value of each root in ``algebra``: the only walker over expressions.

    Common subexpressions are computed once; pass ``memo`` (node to value) to share work between calls.
    """
    values: dict[Expr, V] = {} if memo is None else memo
    for node in postorder(*roots, known=values):
        match node:
            case Int():
                value = algebra.integer(node.value)
            case Var():
                value = algebra.variable(node)
            case Sum():
                value = algebra.sum(node.const, [(values[t], k) for t, k in node.terms])
            case Mul():
                value = algebra.product([values[f] for f in node.factors])
            case FloorDiv():
                value = algebra.floordiv(values[node.a], values[node.b])
            case Mod():
                value = algebra.mod(values[node.a], values[node.b])
            case CeilDiv():
                value = algebra.ceildiv(values[node.a], values[node.b])
            case Min():
                value = algebra.minimum([values[a] for a in node.args])
            case Max():
                value = algebra.maximum([values[a] for a in node.args])
            case Selection():
                # only the algebras for rules of other systems interpret selections
                chooser: Any = algebra
                value = chooser.select(node.c, values.__getitem__, values[node.a], values[node.b])
            case _:
                raise AssertionError(f"no meaning for {type(node).__name__}")
        values[node] = value
    return [values[r] for r in roots]


class Integers:
    """The integer interpretation (reports/semantics.md): Python integers, or elementwise on numpy integer arrays."""

    def __init__(self, env: Mapping[Any, Any]) -> None:
        self.env = env

    def integer(self, n: int) -> Any:
        return n

    def variable(self, v: Var) -> Any:
        env = self.env
        if v in env:
            return env[v]
        if v.name in env:
            return env[v.name]
        raise KeyError(v.name)

    def sum(self, const: int, terms: list[tuple[Any, int]]) -> Any:
        total: Any = const
        for value, k in terms:
            total = total + value * k
        return total

    def product(self, factors: list[Any]) -> Any:
        total: Any = 1
        for f in factors:
            total = total * f
        return total

    def _divisor(self, b: Any) -> Any:
        if hasattr(b, "dtype") and not b.all():
            raise ZeroDivisionError("division by zero")
        return b

    def floordiv(self, a: Any, b: Any) -> Any:
        return a // self._divisor(b)

    def mod(self, a: Any, b: Any) -> Any:
        return a % self._divisor(b)

    def ceildiv(self, a: Any, b: Any) -> Any:
        return -(-a // self._divisor(b))

    def _fold(self, args: list[Any], arrays: str, pick: Any) -> Any:
        if any(hasattr(a, "dtype") for a in args):
            import numpy as np

            return reduce(getattr(np, arrays), args)
        return pick(args)

    def minimum(self, args: list[Any]) -> Any:
        return self._fold(args, "minimum", min)

    def maximum(self, args: list[Any]) -> Any:
        return self._fold(args, "maximum", max)

    def select(self, c: Any, value_of: Callable[[Expr], Any], a: Any, b: Any) -> Any:
        """Return ``a`` where single integers satisfy the condition, else ``b``."""
        return a if LATE["holds"](c, value_of) else b


# ------------------------------------------------------------------------------------------------ pickling, any depth
def _program(root: Expr) -> tuple[tuple[Any, ...], ...]:
    """Return a flat list of build steps; operands are indices of earlier steps."""
    at: dict[Expr, int] = {}
    steps: list[tuple[Any, ...]] = []
    for node in postorder(root):
        match node:
            case Int():
                step: tuple[Any, ...] = ("i", node.value)
            case Var():
                step = ("v", node.name, node.kind)
            case Sum():
                step = ("s", node.const, tuple((at[t], k) for t, k in node.terms))
            case Selection():
                step = ("c", node.c, at[node.a], at[node.b])
            case _:
                step = (type(node).__name__, tuple(at[c] for c in node.children))
        at[node] = len(steps)
        steps.append(step)
    return tuple(steps)


_BUILDERS: Final = {kind.__name__: build for kind, build in BUILDERS.items()}


def _replay(steps: tuple[tuple[Any, ...], ...]) -> Expr:
    built: list[Expr] = []
    for step in steps:
        match step:
            case ("i", value):
                node: Expr = integer(value)
            case ("v", name, kind):
                node = var(name, kind)
            case ("s", const, terms):
                node = linear(const, [(built[i], k) for i, k in terms])
            case ("c", c, i, k):
                node = select(c, built[i], built[k])
            case (name, args):
                node = _BUILDERS[name](*[built[i] for i in args])
            case _:
                raise ValueError(f"damaged expression pickle: {step!r}")
        built.append(node)
    return built[-1]


native.attach(sys.modules[__name__])


@lru_cache(maxsize=1 << 14)
def natural_key(name: str) -> tuple[tuple[int, int, str], ...]:
    """Return a sort key under which ``d2`` comes before ``d10``."""
    parts = re.findall(r"\d+|\D+", name)
    return tuple([(0, int(part), "") if part.isdecimal() else (1, 0, part) for part in parts])
