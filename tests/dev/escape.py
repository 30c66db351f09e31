"""Escape analysis: find local variables and parameters whose list, dictionary or set is only read and changed in place, so
that it may be allocated in the frame of its function.

A use that is not known to be harmless counts as an escape.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, TypeAlias

from mypy import nodes as n

__all__ = ["Kept", "Variable", "assigned", "is_fresh", "mentions"]

Variable: TypeAlias = n.SymbolNode | None

#: Methods that retain neither the container nor more of an argument than its items.
METHODS: Final = {
    "append", "add", "get", "setdefault", "pop", "items", "keys", "values", "clear", "extend", "sort", "remove", "discard",
    "index", "reverse", "isdisjoint", "issuperset",
}  # fmt: skip
LOOKING_METHODS: Final = {"extend", "isdisjoint", "issuperset"}
#: Builtins that only copy or read their argument.
LOOKING: Final = {
    "tuple", "sorted", "list", "set", "dict", "len", "sum", "min", "max", "any", "all", "reversed", "enumerate", "zip",
    "gcd",
}  # fmt: skip
#: The fields of statements and expressions that hold their parts.
PARTS: Final = (
    "lvalue", "lvalues", "rvalue", "expr", "body", "else_body", "index", "base", "left", "right", "operands", "cond",
    "if_expr", "else_expr", "items", "generator", "left_expr", "sequences", "condlists", "indices", "key", "value",
    "callee", "args", "begin_index", "end_index", "stride", "handlers",
)  # fmt: skip


def is_fresh(e: n.Expression) -> bool:
    """Return whether an expression makes a new container whose place can be chosen."""
    if isinstance(e, n.CallExpr) and isinstance(e.callee, n.NameExpr):
        return e.callee.fullname in ("builtins.list", "builtins.dict", "builtins.set")
    comprehensions = (n.ListComprehension, n.SetComprehension, n.DictionaryComprehension)
    return isinstance(e, (n.ListExpr, n.DictExpr, n.SetExpr, *comprehensions))


def parts(e: n.Node) -> Iterator[n.Node]:
    """Yield the direct parts of a statement or an expression."""
    todo: list[object] = [getattr(e, name, None) for name in PARTS]
    while todo:
        x = todo.pop()
        if isinstance(x, n.Node):
            yield x
        elif isinstance(x, list | tuple):
            todo += x


def mentioned(e: n.Node) -> set[Variable]:
    """Return the variables that occur in a node."""
    found: set[Variable] = {e.node} if isinstance(e, n.NameExpr) else set()
    return found.union(*map(mentioned, parts(e)))


def mentions(e: n.Node, v: Variable) -> bool:
    """Return whether a variable occurs in a node."""
    return v in mentioned(e)


def assigned(e: n.Node) -> Iterator[tuple[Variable, n.Expression | None]]:
    """Yield the assigned variables, each with the assigned expression if it is assigned as a whole."""

    def target(lv: n.Node, value: n.Expression | None) -> Iterator[tuple[Variable, n.Expression | None]]:
        if isinstance(lv, n.NameExpr):
            yield lv.node, value
        elif isinstance(lv, n.TupleExpr):
            for x in lv.items:
                yield from target(x, None)

    if isinstance(e, n.AssignmentStmt):
        for lv in e.lvalues:
            yield from target(lv, e.rvalue if len(e.lvalues) == 1 else None)
    elif isinstance(e, n.ForStmt):
        yield from target(e.index, None)
    for x in parts(e):
        yield from assigned(x)


class Kept:
    """The variables of a function whose containers may escape.

    ``keeps`` tells of an argument of a call, by its number, whether the called function may retain it.
    """

    def __init__(self, body: n.Node, keeps: Callable[[n.CallExpr, int], bool]) -> None:
        self.keeps = keeps
        self.found: set[Variable] = set()
        #: the variables in the iterables of the enclosing loops
        self.loops: list[Variable] = []
        self.visit(body)

    def looked_at(self, e: n.Node) -> None:
        """Visit an expression whose value is only read."""
        if not isinstance(e, n.NameExpr):
            self.visit(e)

    def condition(self, e: n.Node) -> None:
        """Visit an expression that is used as a condition."""
        if isinstance(e, n.OpExpr) and e.op in ("and", "or"):
            self.condition(e.left)
            self.condition(e.right)
        elif isinstance(e, n.UnaryExpr):
            self.condition(e.expr)
        else:
            self.looked_at(e)

    def visit(self, e: n.Node) -> None:
        if isinstance(e, n.NameExpr):
            self.found.add(e.node)
            return
        known: dict[n.Node, Callable[[n.Node], None]] = {}
        if isinstance(e, n.AssignmentStmt):
            for lv in e.lvalues:
                # a container must not be replaced during a loop over it
                known[lv] = self.visit if isinstance(lv, n.NameExpr) and lv.node in self.loops else self.looked_at
        elif isinstance(e, n.OperatorAssignmentStmt):
            known = {e.lvalue: self.looked_at, e.rvalue: self.looked_at}
        elif isinstance(e, n.IfStmt):
            known = dict.fromkeys(e.expr, self.condition)
        elif isinstance(e, n.WhileStmt):
            known = {e.expr: self.condition}
        elif isinstance(e, n.ConditionalExpr):
            known = {e.cond: self.condition}
        elif isinstance(e, n.UnaryExpr):
            known = {e.expr: self.condition}
        elif isinstance(e, n.ComparisonExpr):
            known = dict.fromkeys(e.operands, self.looked_at)
        elif isinstance(e, n.IndexExpr):
            known = {e.base: self.looked_at}
        elif isinstance(e, n.GeneratorExpr | n.DictionaryComprehension):
            known = dict.fromkeys(e.sequences, self.looked_at)
            known |= {c: self.condition for of in e.condlists for c in of}
        elif isinstance(e, n.CallExpr):
            known = self.call(e)
        elif isinstance(e, n.ForStmt):
            self.looked_at(e.expr)
            over = mentioned(e.expr)
            self.loops += over
            self.visit(e.body)
            del self.loops[len(self.loops) - len(over) :]
            if e.else_body is not None:
                self.visit(e.else_body)
            return
        for x in parts(e):
            known.get(x, self.visit)(x)

    def call(self, e: n.CallExpr) -> dict[n.Node, Callable[[n.Node], None]]:
        f = e.callee
        looking = isinstance(f, n.NameExpr) and f.name in LOOKING and (len(e.args) == 1 or f.name not in ("min", "max"))
        looking |= isinstance(f, n.MemberExpr) and f.name in LOOKING_METHODS
        known: dict[n.Node, Callable[[n.Node], None]] = {f: self.looked_at}
        if isinstance(f, n.MemberExpr) and f.name not in METHODS:
            known[f] = self.visit
        elif isinstance(f, n.MemberExpr):
            known[f] = lambda _: self.looked_at(f.expr)
        for i, x in enumerate(e.args):
            known[x] = self.looked_at if looking or not self.keeps(e, i) else self.visit
        return known
