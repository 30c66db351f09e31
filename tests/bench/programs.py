"""Programs: the neutral form in which the benchmark passes expressions to every simplifier and reads results back.

A program is a list of nodes, operands before users, and the indices of its roots.  A node is an integer, a variable's
name or ``(op, i, j, ...)`` with indices of earlier nodes.  Equal nodes occur once, so shared
expressions stay shared.  Operations: ``add``, ``mul``, ``fdiv`` and ``mod`` (floor), ``cdiv`` (ceiling),
``tdiv`` and ``tmod`` (truncating), ``min``, ``max``, ``and`` and ``or`` (of bits, or of truth values), ``xor``,
``le``, ``eq`` and ``select``.  A difference is ``a + b * -1``.

This module imports nothing of any simplifier, so one cost function and one evaluation serve them all.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

Node = int | str | tuple[Any, ...]

DIVISIONS = frozenset({"fdiv", "mod", "cdiv", "tdiv", "tmod"})
COMMUTATIVE = frozenset({"add", "mul", "min", "max", "and", "or", "xor", "eq"})


class Builder:
    """Nodes under construction.  Folds only literals and neutral elements."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self.at: dict[Node, int] = {}

    def put(self, node: Node) -> int:
        found = self.at.get(node)
        if found is None:
            found = self.at[node] = len(self.nodes)
            self.nodes.append(node)
        return found

    def lit(self, n: int) -> int:
        return self.put(int(n))

    def var(self, name: str) -> int:
        return self.put(name)

    def op(self, op: str, *args: int) -> int:
        """Add the node ``op`` of earlier nodes."""
        values = [self.nodes[a] for a in args]
        if all(isinstance(v, int) for v in values):
            return self.lit(_OPERATIONS[op](*values))
        if op == "add":
            if values[0] == 0:
                return args[1]
            if values[1] == 0:
                return args[0]
        elif op == "mul":
            if values[0] == 1:
                return args[1]
            if values[1] == 1:
                return args[0]
            if 0 in values:
                return self.lit(0)
        elif values[-1] == 1:
            if op in ("fdiv", "cdiv", "tdiv"):
                return args[0]
            if op in ("mod", "tmod"):
                return self.lit(0)
        return self.put((op, *args))

    def add(self, a: int, b: int | None = None, *, n: int = 0) -> int:
        """Add the node ``a + b + n``."""
        if b is not None:
            a = self.op("add", a, b)
        return self.op("add", a, self.lit(n)) if n else a

    def mul(self, a: int, k: int) -> int:
        return self.op("mul", a, self.lit(k))

    def sub(self, a: int, b: int) -> int:
        return self.op("add", a, self.mul(b, -1))

    def fdiv(self, a: int, k: int) -> int:
        return self.op("fdiv", a, self.lit(k))

    def mod(self, a: int, k: int) -> int:
        return self.op("mod", a, self.lit(k))

    def nested(self, data: Any) -> int:
        """Add a node given as nested lists ``[op, a, b]``."""
        done: dict[int, int] = {}
        stack: list[tuple[Any, list[int]]] = []
        item = data
        while True:
            if isinstance(item, (list, tuple)) and id(item) not in done:
                stack.append((item, []))
                item = item[1]
                continue
            value = done[id(item)] if isinstance(item, (list, tuple)) else self.put(item)
            while stack:
                whole, args = stack[-1]
                args.append(value)
                if len(args) + 1 < len(whole):
                    item = whole[len(args) + 1]
                    break
                stack.pop()
                value = done[id(whole)] = self.op(whole[0], *args)
            else:
                return value

    def program(self, roots: Iterable[int]) -> Program:
        return Program(list(self.nodes), list(roots))


@dataclass
class Program:
    """``nodes``, operands before users, and the ``roots`` among them."""

    nodes: list[Node]
    roots: list[int]

    def live(self, roots: Iterable[int] | None = None) -> list[int]:
        """Return the nodes that the roots need, in order."""
        need = set(self.roots if roots is None else roots)
        for i in range(len(self.nodes) - 1, -1, -1):
            if i in need and isinstance(self.nodes[i], tuple):
                need.update(self.nodes[i][1:])
        return sorted(need)

    def tree_size(self) -> int:
        """Return the number of nodes without sharing, which a simplifier without memoisation has to visit."""
        size: dict[int, int] = {}
        for i in self.live():
            node = self.nodes[i]
            size[i] = 1 + sum(size[a] for a in node[1:]) if isinstance(node, tuple) else 1
        return sum(size[r] for r in self.roots)

    def evaluate(self, env: Mapping[str, Any], roots: Iterable[int] | None = None) -> list[Any]:
        """Evaluate the roots.  ``env`` gives numpy integer arrays (of equal length) or integers."""
        roots = self.roots if roots is None else list(roots)
        live = self.live(roots)
        if not self._fits(live, env):
            env = {n: v.astype(object) if isinstance(v, np.ndarray) else v for n, v in env.items()}
        values: dict[int, Any] = {}
        for i in live:
            node = self.nodes[i]
            if isinstance(node, tuple):
                values[i] = _OPERATIONS[node[0]](*(values[a] for a in node[1:]))
            else:
                values[i] = env[node] if isinstance(node, str) else node
        return [values[r] for r in roots]

    def _fits(self, live: Iterable[int], env: Mapping[str, Any]) -> bool:
        """Return whether no value can overflow the machine's integers."""
        size: dict[int, int] = {}
        for i in live:
            node = self.nodes[i]
            if isinstance(node, int):
                size[i] = abs(node)
            elif isinstance(node, str):
                value = env[node]
                size[i] = (
                    int(max(abs(value.min()), abs(value.max()))) if isinstance(value, np.ndarray) and value.size else 1
                )
            elif node[0] == "mul":
                size[i] = size[node[1]] * size[node[2]]
            else:
                size[i] = sum(size[a] for a in node[1:]) + 1
            if size[i] > 1 << 62:
                return False
        return True

    def text(self, limit: int = 400) -> str:
        """Return the roots as readable text, each shortened to ``limit`` characters."""
        done: dict[int, tuple[str, int]] = {}
        for i in self.live():
            node = self.nodes[i]
            if not isinstance(node, tuple):
                done[i] = (str(node), 9 if not isinstance(node, int) or node >= 0 else 4)
                continue
            done[i] = _written(node, [done[a] for a in node[1:]], limit)
        return "(" + ", ".join(done[r][0] for r in self.roots) + ")"


def _written(node: tuple[Any, ...], args: list[tuple[str, int]], limit: int) -> tuple[str, int]:
    def within(a: tuple[str, int], level: int) -> str:
        return a[0] if a[1] >= level else f"({a[0]})"

    op = node[0]
    if op == "add":
        minus = args[1][0].startswith("-") and args[1][1] >= 4
        second = args[1][0][1:] if minus else args[1][0]
        made = f"{args[0][0]} {'-' if minus else '+'} {second}", 3
    elif op == "mul" and args[1][0] == "-1":
        made = "-" + within(args[0], 5), 4
    elif op == "mul" and args[1][0].startswith("-") and isinstance(args[1][0], str) and args[1][0][1:].isdigit():
        made = f"-{within(args[0], 5)}*{args[1][0][1:]}", 4
    elif op in _SIGNS:
        made = f"{within(args[0], 5)}{_SIGNS[op]}{within(args[1], 6)}", 5
    else:
        made = f"{op}({', '.join(a for a, _ in args)})", 9
    if len(made[0]) > limit:
        made = made[0][: limit // 2] + "…" + made[0][-limit // 4 :], 3
    return made


_SIGNS = {"mul": "*", "fdiv": "//", "mod": " % "}


def _tdiv(a: Any, b: Any) -> Any:
    q = abs(a) // abs(b)
    return q * np.sign(a) * np.sign(b) if isinstance(a, np.ndarray) else (q if (a < 0) == (b < 0) else -q)


_OPERATIONS: dict[str, Any] = {
    "add": lambda a, b: a + b,
    "mul": lambda a, b: a * b,
    "fdiv": lambda a, b: a // b,
    "mod": lambda a, b: a % b,
    "cdiv": lambda a, b: -(-a // b),
    "tdiv": _tdiv,
    "tmod": lambda a, b: a - _tdiv(a, b) * b,
    "min": lambda a, b: (np.minimum(a, b) if isinstance(a, np.ndarray) or isinstance(b, np.ndarray) else min(a, b)),
    "max": lambda a, b: (np.maximum(a, b) if isinstance(a, np.ndarray) or isinstance(b, np.ndarray) else max(a, b)),
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
    "le": lambda a, b: a <= b,
    "eq": lambda a, b: a == b,
    "select": lambda c, a, b: np.where(c, a, b) if isinstance(c, np.ndarray) else (a if c else b),
}  # fmt: skip


# ------------------------------------------------------------------------------------------------------------ cost
@dataclass(frozen=True, order=True)
class Cost:
    """``all`` operations, and the ``divisions`` (quotients and remainders) among them."""

    all: int
    divisions: int


def cost(program: Program) -> Cost:
    """Count the operations that a straight-line program needs for all roots, computing no value twice.

    Expressions are counted as written by the simplifier, without merging terms or distributing products.  The rules are
    chosen so that the cost of a formula does not depend on a simplifier's spelling:

    * literals and variables are free, operations on literals alone are folded;
    * ``fdiv``, ``mod`` (and ``cdiv``, ``tdiv``, ``tmod``), ``min``, ``max``, comparisons, ``select`` and operations on
      bits: one each.  A shift to the right is an ``fdiv``, a mask of low bits is a ``mod``;
    * a product with a literal: one, also when the literal is negative; ``x * 3`` and ``x * -3`` in sums are one product;
    * a sum of ``n`` terms: ``n - 1``, in any order and grouping.  A partial sum that is also used elsewhere is
      computed once, as written;
    * a subtraction is one operation.  A factor -1 is free in a sum with a literal or a term of the other sign, where
    it becomes a subtraction; otherwise it is one negation;
    * equal nodes count once per map (commutative operations have no order).
    """
    count = _Count(program)
    return Cost(count.operations, count.divisions)


class _Count:
    def __init__(self, program: Program) -> None:
        # A reference is (sign, key): factors -1 are kept on the uses.
        self.keys: dict[Any, int] = {}
        self.made: list[Any] = []
        refs: dict[int, tuple[int, int]] = {}
        for i in program.live():
            refs[i] = self._ref(program.nodes[i], refs)
        roots = [refs[r] for r in program.roots]
        self.operations = self.divisions = 0
        self._count(roots)

    def _key(self, made: Any) -> int:
        key = self.keys.get(made)
        if key is None:
            key = self.keys[made] = len(self.made)
            self.made.append(made)
        return key

    def _literal(self, ref: tuple[int, int]) -> int | None:
        made = self.made[ref[1]]
        return ref[0] * made if isinstance(made, int) else None

    def _ref(self, node: Node, refs: Mapping[int, tuple[int, int]]) -> tuple[int, int]:
        if isinstance(node, int):
            return (1, self._key(node))
        if isinstance(node, str):
            return (1, self._key((node,)))
        op, args = node[0], [refs[a] for a in node[1:]]
        values = [self._literal(a) for a in args]
        if all(v is not None for v in values):
            return (1, self._key(int(_OPERATIONS[op](*values))))
        if op == "mul" and (values[0] is not None or values[1] is not None):
            k, (sign, key) = (values[0], args[1]) if values[0] is not None else (values[1], args[0])
            assert k is not None
            if k == 0:
                return (1, self._key(0))
            sign = sign if k > 0 else -sign
            return (sign, key if abs(k) == 1 else self._key(("mul", key, abs(k))))
        if op in COMMUTATIVE:
            args.sort()
        return (1, self._key((op, *args)))

    def _count(self, roots: Sequence[tuple[int, int]]) -> None:
        uses: dict[int, int] = {}
        adders: dict[int, int] = {}
        seen: list[int] = []
        stack = [key for _, key in roots]
        for key in stack:
            uses[key] = uses.get(key, 0) + 1
        visited: set[int] = set()
        while stack:
            key = stack.pop()
            if key in visited:
                continue
            visited.add(key)
            seen.append(key)
            for kid in self._kids(self.made[key]):
                uses[kid] = uses.get(kid, 0) + 1
                if self.made[key][0] == "add":
                    adders[kid] = adders.get(kid, 0) + 1
                stack.append(kid)
        # a sum whose only use is inside another sum is part of that sum
        inner = {k for k in seen if self._is_add(k) and uses[k] == 1 and adders.get(k, 0) == 1}
        negated: set[int] = set()
        for key in seen:
            made = self.made[key]
            if isinstance(made, int) or len(made) == 1:
                continue
            if made[0] == "add":
                if key not in inner:
                    self.operations += self._sum(key, inner)
                continue
            self.operations += 1
            self.divisions += made[0] in DIVISIONS
            if made[0] != "mul" or isinstance(made[1], tuple):
                negated.update(k for s, k in made[1:] if s < 0)
        negated.update(k for s, k in roots if s < 0)
        # a literal, or a product with one, is negated by writing the other literal
        self.operations += sum(
            not (isinstance(self.made[k], int) or (self.made[k][0] == "mul" and not isinstance(self.made[k][1], tuple)))
            for k in negated
        )

    def _is_add(self, key: int) -> bool:
        made = self.made[key]
        return isinstance(made, tuple) and made[0] == "add" and len(made) > 1

    def _kids(self, made: Any) -> list[int]:
        if isinstance(made, int) or len(made) == 1:
            return []
        if made[0] == "mul" and not isinstance(made[1], tuple):
            return [made[1]]
        return [k for _, k in made[1:]]

    def _sum(self, key: int, inner: set[int]) -> int:
        terms = 0
        free = False  # whether a positive term can come before the first minus
        stack = [(s, k) for s, k in self.made[key][1:]]
        while stack:
            sign, k = stack.pop()
            if k in inner:
                stack += [(s * sign, j) for s, j in self.made[k][1:]]
                continue
            terms += 1
            made = self.made[k]
            free = free or sign > 0 or isinstance(made, int) or made[0] == "mul"
        return terms - 1 + (not free)
