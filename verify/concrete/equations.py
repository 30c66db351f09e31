"""Simplifies equations before any engine is asked: equations between numbers become equations between digits.

Equal mixed-radix numbers have equal digits, also with gaps between strides.
``850·d0 + 9·d1 + d2 = 850·e0 + 9·e1 + e2`` is ``850·(d0 - e0) = r`` with ``-850 < r < 850``, so both sides are zero, and
r is split in turn.  Conversely, a quotient and a remainder together determine their number.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from ...core.expr import Expr, FloorDiv, Int, Mod, Sum, Var, as_sum, integer, linear, substitute_all
from ...core.interval import Interval, is_infinite


def span(const: int, terms: Iterable[tuple[Expr, int]], box: Mapping[Var, Interval]) -> Interval:
    """Return the interval of ``const + Σ k·v`` for variables in their boxes."""
    total = Interval(const, const)
    for v, k in terms:
        total = total.plus(box[v].scale(k))  # type: ignore[index]
    return total


def parts(e: Expr, box: Mapping[Var, Interval]) -> list[Expr]:
    """Split ``e`` into expressions that are all zero exactly where ``e`` is; one of them is 1 if ``e`` is never zero."""
    todo, done = [e], []
    while todo:
        one = todo.pop()
        found = _split(one, box)
        if found is None:
            done.append(one)
        else:
            todo += found
    return done


def _split(e: Expr, box: Mapping[Var, Interval]) -> list[Expr] | None:
    """Split ``s·t + r`` into ``t - m`` and ``r + s·m`` if ``-s·m`` is the only multiple of s in the range of r."""
    if not isinstance(e, Sum) or len(e.terms) < 3 or not all(isinstance(v, Var) and v in box for v, _ in e.terms):
        return None
    for s in sorted({abs(k) for _, k in e.terms}, reverse=True):
        high = [(v, k // s) for v, k in e.terms if k % s == 0]
        low = [(v, k) for v, k in e.terms if k % s]
        if s == 1 or not low:
            break
        lo, hi = span(e.const, low, box)
        if is_infinite(lo) or is_infinite(hi) or lo > hi:
            return None
        # -r is a multiple of s
        least, most = -(int(hi) // s), -int(lo) // s
        if least > most:
            return [integer(1)]
        if least == most:
            return [linear(-least, high), linear(e.const + s * least, low)]
    return None


def whole(equations: Sequence[Expr], box: Mapping[Var, Interval] | None = None) -> list[Expr]:
    """Replace equations of a quotient and of the remainder of one number by the equation of that number.

    The other sides are the quotient and the remainder of a second number, or sums of variables in the ``box``.
    """
    left = list(equations)
    while (found := next(_pairs(left, box or {}), None)) is not None:
        *pair, place = found
        left = [e for e in left if all(e is not x for x in pair)] + [place]
    return left


def _pairs(equations: Sequence[Expr], box: Mapping[Var, Interval]) -> Iterator[tuple[Expr, Expr, Expr]]:
    """Yield an equation of a quotient, one of a remainder, and the single equation equivalent to both."""
    for one in equations:
        match one:
            case Sum(const=more, terms=((FloorDiv(a=x, b=Int(value=n)), k), (FloorDiv(a=y, b=Int(value=m)), j))):
                if n != m or n <= 0 or k != -j or more % k:
                    continue
                # the remainders may be written in several ways, the quotients in one
                for other in equations:
                    for c in _divisors(other, x, n) if other is not one else ():
                        if _is_remainder(other, _quotient(x, c), _quotient(y, c), n // c):
                            yield one, other, _quotient(x, c) - _quotient(y, c) + more // k * (n // c)
            case Sum(terms=terms):
                for q, k in terms:
                    if isinstance(q, FloorDiv) and isinstance(q.b, Int) and k in (1, -1):
                        yield from _digits(equations, one, q, q - one * k, box)


def _digits(
    equations: Sequence[Expr], one: Expr, q: FloorDiv, high: Expr, box: Mapping[Var, Interval]
) -> Iterator[tuple[Expr, Expr, Expr]]:
    """Yield the pairs of ``one``, which is ``q = high``, and ``remainder = low``, where both are sums of variables."""
    if _linear_span(high, box) is None:
        return
    for other in equations:
        for r, k in other.terms if isinstance(other, Sum) else ():
            if not isinstance(r, Mod) or not isinstance(r.b, Int) or k not in (1, -1) or r.b.value <= 0:
                continue
            low, n = r - other * k, r.b.value
            within = _linear_span(low, box)
            if _quotient(r.a, n) is q and within is not None and within.inside(Interval(0, n - 1)):
                yield one, other, r.a - high * n - low


def _linear_span(e: Expr, box: Mapping[Var, Interval]) -> Interval | None:
    """Return the interval of a sum of variables, or ``None`` for any other expression."""
    const, terms = as_sum(e)
    return span(const, terms, box) if all(v in box for v, _ in terms) else None


def _quotient(e: Expr, n: int) -> Expr:
    """Return ``e // n``, with a single division where ``e`` is a quotient."""
    if n == 1:
        return e
    if isinstance(e, FloorDiv) and isinstance(e.b, Int) and e.b.value > 0:
        return e.a // (e.b.value * n)
    return e // n


def _divisors(e: Expr, x: Expr, n: int) -> set[int]:
    """Return 1 and the divisors of ``n`` by which ``x`` is divided inside the remainders of a sum."""
    found = [d.a for d, _ in e.terms if isinstance(d, Mod)] if isinstance(e, Sum) else []
    by = {d.b.value for d in found if isinstance(d, FloorDiv) and d.a is x and isinstance(d.b, Int)}
    return {1} | {c for c in by if c > 0 and n % c == 0}


def _is_remainder(e: Expr, x: Expr, y: Expr, n: int) -> bool:
    """Return whether ``e`` is ``x mod n - y mod n`` up to sign, with remainders possibly written as quotients."""
    if not isinstance(e, Sum):
        return False
    mods = {
        t: t.a - _quotient(t.a, t.b.value) * t.b
        for t, _ in e.terms
        if isinstance(t, Mod) and isinstance(t.b, Int) and t.b.value > 0
    }
    (spelled,) = substitute_all((e,), mods) if mods else (e,)
    wanted = x - y - (_quotient(x, n) - _quotient(y, n)) * n
    return spelled in (wanted, -wanted)
