"""What is kept of given results where normal forms would cost more.

A smaller order does not mean fewer operations: a sum that several divide is one sum as it is given, and each quotient
has one of its own in normal form.  So results are taken over one by one, and so is what is inside of them, where that
lowers the documented cost (:mod:`.cost`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from .cost import cost
from .expr import Binary, Expr, FloorDiv, Int, Mod, Sum, floordiv, linear, postorder, rebuild
from .on_domain import OnDomain
from .steps import NormalForms

__all__ = ["exchanged", "improved", "mixed", "with_sums", "without_remainders"]

#: Of so many expressions inside results it is seen whether they cost less in normal form: time grows with the map's size.
INSIDE: Final = 64
#: Beside its division a remainder that becomes a difference saves so many operations at most.
AROUND: Final = 3
#: Where more remainders than this have their quotients beside them they stay: each costs a look at the whole map.
BESIDE: Final = 16


def improved(on: OnDomain, es: list[Expr], results: list[Expr]) -> list[Expr]:
    """``es`` with what lowers the cost: some of ``results``, and normal forms of what is inside."""
    while True:
        before = es
        es = _partly(on, mixed(on, before, results))
        if es == before:
            return es


def with_sums(on: OnDomain, es: list[Expr], results: list[Expr]) -> list[Expr]:
    """``results``, or where that is cheaper ``es`` with some of them and the sums in normal form that several divide.

    What a remainder or a quotient does not need of such a sum is gone from its normal form, and each has a sum of its
    own then.
    """
    engine = on.engine
    assert engine is not None
    nodes = postorder(*es)
    divided: set[Expr] = set()
    shared: dict[Expr, None] = {}
    for x in _dividends(nodes):
        if x in divided:
            shared[x] = None
        divided.add(x)
    if not shared or len({x.terms for x in _dividends(postorder(*results))}) < 2:
        return results
    chosen = on.normal_forms(postorder(*shared))
    other = mixed(on, exchanged(es, nodes, chosen), results)
    weight = on.division_weight
    spent, now = cost(results).weighed(weight), cost(other).weighed(weight)
    if now >= spent:
        # the digits of one sum may cost less once they are differences, which they become when all else is done
        remainders = [e for e in postorder(*other) if type(e) is Mod]
        if now - (weight + AROUND) * len(remainders) >= spent:
            return results
        trace, on.trace = on.trace, None
        less = without_remainders(on, other)
        on.trace = trace
        if cost(less).weighed(weight) >= spent:
            return results
    if on.trace is not None:
        on.trace.append(NormalForms(tuple(results)))
    es = _recorded(on, es, nodes, chosen)
    return improved(on, es, results) if now < spent else mixed(on, es, results)


def without_remainders(on: OnDomain, es: list[Expr]) -> list[Expr]:
    """``es`` with remainders as differences where their quotients are there too and that costs less, until nothing does.

    Of forms those inside dividends cannot be: what is divided would come to its normal form again.
    """
    weight = on.division_weight
    changed = True
    while changed:
        changed = False
        nodes = postorder(*es)
        there = set(nodes)
        candidates: list[tuple[Mod, Expr]] = []
        for e in nodes:
            if type(e) is Mod:
                m: Mod = e
                q = _quotient(on, m, there)
                if q is not None:
                    candidates.append((m, q))
                    if len(candidates) > BESIDE:
                        return es
        spent = cost(es).weighed(weight) if candidates else 0
        for m, q in candidates:
            if m not in there or q not in there:
                continue
            by: Int = m.b  # type: ignore[assignment]
            after = exchanged(es, postorder(*es), {m: linear(0, [(m.a, 1), (q, -by.value)])})
            now = cost(after).weighed(weight)
            if now < spent:
                _record_difference(on, es, after, (by.value, q, m.a))
                spent = now
                es = after
                there = set(postorder(*es))
                changed = True
    return es


def _record_difference(
    on: OnDomain, es: list[Expr], after: list[Expr], values: tuple[int, Expr, Expr]
) -> None:
    if on.trace is not None:
        on.trace.append(NormalForms(tuple(es)))
        engine = on.engine
        assert engine is not None
        engine.spelling = True
        engine.record("remainder_is_difference", values)
        on.trace.append(NormalForms(tuple(after)))


def _quotient(on: OnDomain, m: Mod, there: set[Expr]) -> Expr | None:
    """The quotient that belongs to a remainder, as it is written among the expressions that are there."""
    if type(m.b) is not Int:
        return None
    by: Int = m.b
    q = floordiv(m.a, by.value)
    if q in there:
        return q
    if type(m.a) is FloorDiv:
        inner: FloorDiv = m.a
        if type(inner.b) is Int:
            c: Int = inner.b
            once = floordiv(inner.a, c.value * by.value)
            if c.value > 0 and once in there:
                return once
    q = on.normal_form(q)
    return q if q in there else None


def mixed(on: OnDomain, before: Sequence[Expr], after: Sequence[Expr]) -> list[Expr]:
    """``before`` with each result of ``after`` that lowers the cost, one by one until none does."""
    chosen = list(before)
    changed = len(before) > 1
    weight = on.division_weight
    spent = cost(chosen).weighed(weight) if changed else 0
    while changed:
        changed = False
        for i, e in enumerate(after):
            if e is chosen[i]:
                continue
            other = [*chosen[:i], e, *chosen[i + 1 :]]
            now = cost(other).weighed(weight)
            if now < spent:
                chosen, spent = other, now
                changed = True
    return chosen


def _partly(on: OnDomain, es: list[Expr]) -> list[Expr]:
    """``es`` with what is inside them in normal form where that lowers the cost, until nothing does.

    Where several results divide one sum, each quotient may be dearer in normal form, and the sum cheaper.
    """
    weight = on.division_weight
    spent = cost(es).weighed(weight)
    changed = True
    while changed:
        changed = False
        nodes = postorder(*es)
        forms = on.normal_forms(nodes[:INSIDE])
        chosen: dict[Expr, Expr] = {}
        for e in forms:
            # with what is inside of it, wherever that stands: the steps that lead there apply everywhere
            more = {x: forms[x] for x in postorder(e) if x in forms}
            now = cost(exchanged(es, nodes, chosen | more)).weighed(weight)
            if now < spent:
                spent = now
                changed = True
                chosen |= more
        if changed:
            es = _recorded(on, es, nodes, chosen)
    return es


def _recorded(on: OnDomain, es: list[Expr], nodes: list[Expr], chosen: dict[Expr, Expr]) -> list[Expr]:
    """``es`` with other expressions inside, and the steps by which they are equal."""
    after = exchanged(es, nodes, chosen)
    if on.trace is not None:
        on.trace.append(NormalForms(tuple(es)))
        on.renew_engine()
        engine = on.engine
        assert engine is not None
        done: dict[Expr, Expr] = {}
        for e, n in chosen.items():
            engine.write(engine.read(e))
            done[e] = n
            if type(e) is Sum:
                # a sum may become what others outside of it are read as next
                on.trace.append(NormalForms(tuple(exchanged(es, nodes, done))))
        on.trace.append(NormalForms(tuple(after)))
        on.renew_engine()
    return after


def _dividends(nodes: list[Expr]) -> list[Sum]:
    """The sums of several summands that quotients and remainders divide, each as often as it is divided."""
    found = []
    for e in nodes:
        t = type(e)
        if t is FloorDiv or t is Mod:
            q: Binary = e  # type: ignore[assignment]
            x = q.a
            if type(x) is Sum:
                s: Sum = x
                if len(s.terms) > 1:
                    found.append(s)
    return found


def exchanged(es: list[Expr], nodes: list[Expr], by: dict[Expr, Expr]) -> list[Expr]:
    """The expressions with others inside.  ``nodes`` are what they are made of, operands first."""
    new: dict[Expr, Expr] = {}
    for e in nodes:
        n = by.get(e)
        if n is None:
            n = e
            inner: list[Expr] = []
            for x in e.children:
                y = new[x]
                if y is not x:
                    n = None
                inner.append(y)
            if n is None:
                n = rebuild(e, inner)
        new[e] = n
    return [new[e] for e in es]
