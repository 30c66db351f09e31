"""Mathematical notation for people: ``x·c + r``, ``a // b``, ``a mod b``.

:mod:`.condition` prints conditions, :mod:`.text` the compilers' own textual notation of maps.
"""

from __future__ import annotations

from collections.abc import Iterator

from .expr import (
    CeilDiv,
    Expr,
    FloorDiv,
    Int,
    Max,
    Min,
    Mod,
    Mul,
    Selection,
    Sum,
    Var,
    complete,
    linear,
    mod,
    natural_key,
    postorder,
)

_SUM, _PRODUCT, _ATOM = 1, 2, 3
_KIND_ORDER = {"expr": 0, "": 1, "const": 2, "rest": 3}


def _rank(e: Expr) -> tuple[object, ...]:
    """Return a sort key for summands and factors: structured terms, expressions, then constants, then the rest."""
    if isinstance(e, Var):
        return (1, _KIND_ORDER.get(e.kind, 1), natural_key(e.name))
    return (0, 0, ())


def show(root: Expr) -> str:
    """Return ``root`` in mathematical notation; iterative, so nesting may have any depth."""
    text: dict[Expr, tuple[str, int]] = {}

    def at(e: Expr, level: int) -> str:
        s, precedence = text[e]
        return f"({s})" if precedence < level else s

    for node in postorder(root):
        match node:
            case Int():
                text[node] = (str(node.value), _ATOM if node.value >= 0 else _SUM)
            case Var():
                text[node] = (node.name + ("…" if node.kind == "rest" else ""), _ATOM)
            case Sum():
                text[node] = _sum(node, text, at)
            case Mul():
                factors = sorted(node.factors, key=lambda f: (_rank(f), text[f][0]))
                loose = [text[f][1] == _PRODUCT and not isinstance(f, Mul) for f in factors]
                parts = [
                    f"({text[f][0]})" if tight else at(f, _PRODUCT) for f, tight in zip(factors, loose, strict=True)
                ]
                text[node] = ("·".join(parts), _PRODUCT)
            case FloorDiv() | Mod():
                sign = "//" if isinstance(node, FloorDiv) else "mod"
                text[node] = (f"{_operand(node.a, text)} {sign} {at(node.b, _ATOM)}", _PRODUCT)
            case CeilDiv():
                text[node] = (f"ceildiv({text[node.a][0]}, {text[node.b][0]})", _ATOM)
            case Min() | Max():
                args = sorted(node.args, key=lambda a: (isinstance(a, Int), _rank(a), text[a][0]))
                text[node] = (f"{type(node).__name__.lower()}({', '.join(text[a][0] for a in args)})", _ATOM)
            case Selection():
                text[node] = (f"select({node.c}, {text[node.a][0]}, {text[node.b][0]})", _ATOM)
    return text[root][0]


def _operand(e: Expr, text: dict[Expr, tuple[str, int]]) -> str:
    """Return the dividend of a division, in parentheses unless it is an atom or another floor division."""
    s, precedence = text[e]
    return s if precedence == _ATOM or isinstance(e, FloorDiv) else f"({s})"


def _sum(node: Sum, text: dict[Expr, tuple[str, int]], at: object) -> tuple[str, int]:
    pieces: list[str] = []
    ordered = sorted(node.terms, key=lambda t: (_rank(t[0]), text[t[0]][0]))
    # begin with a positive term if possible: "b - a" reads better than "-a + b"
    ordered.sort(key=lambda t: (isinstance(t[0], Var) and t[0].kind == "rest", t[1] < 0))
    for t, k in ordered:
        s, precedence = text[t]
        size = abs(k)
        if size != 1:
            s = f"({s})" if precedence == _PRODUCT and not isinstance(t, Mul) else s
            s = f"{size}·{s}"
        if not pieces:
            pieces.append(s if k > 0 else f"-({s})" if precedence == _PRODUCT and size == 1 else f"-{s}")
        else:
            pieces.append(f"{'+' if k > 0 else '-'} {s}")
    if node.const:
        pieces.append(f"{'+' if node.const > 0 else '-'} {abs(node.const)}")
    level = _PRODUCT if len(node.terms) == 1 and not node.const and node.terms[0][1] > 0 else _SUM
    return " ".join(pieces), level


complete(show=show)


def with_remainders(e: Expr) -> Expr:
    """Replace ``n - k·(n // k)`` by ``n mod k`` wherever that makes the sum ``e`` shorter."""
    while isinstance(e, Sum):
        shorter = next((s for s in _with_one_more(e) if _length(s) < _length(e)), None)
        if shorter is None:
            break
        e = shorter
    return e


def _with_one_more(e: Sum) -> Iterator[Expr]:
    """Yield the sum with a quotient replaced by a remainder, of its dividend or of a finer quotient of that."""
    quotients = [(t, c, t.b.value) for t, c in e.terms if isinstance(t, FloorDiv) and isinstance(t.b, Int)]
    for t, c, n in quotients:
        # since y // (d·m) is (y // d) // m
        coarser = [(u, n // d) for u, _, d in quotients if u.a is t.a and 0 < d < n and n % d == 0]
        for x, m in [(t.a, n), *coarser]:
            if m > 1 and c % m == 0:
                yield linear(0, ((e, 1), (t, -c), (x, c // m), (mod(x, m), -c // m)))


def _length(e: Expr) -> int:
    return len(e.terms) + (e.const != 0) if isinstance(e, Sum) else 1
