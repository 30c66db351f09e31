"""Disagreements between XLA's coalescing rules and the exact count of sectors, each with the smallest map.

``xla_coalesced`` restates ``IsIndexingCoalesced`` of XLA's ``coalescing_analysis.cc`` for a map of one warp, a function
of the thread ``d0 in [0, 31]`` and of the innermost loop ``s0``: reads ``f(d0) + g(s0)``, the limit of one
constraint, the intervals and the threshold.  XLA's reduction to that form (blocks 0, outer loops at their lower
bounds) is not restated.
``python tests/bench/xla_coalescing.py`` prints the table of ``reports/benchmarks.md``; a test compares both.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from indexproof.core.expr import Expr, Sum, Var, add, mul, substitute_all, var
from indexproof.core.indexing_map import Constraint, IndexingMap, Variable
from indexproof.core.launch import Launch
from indexproof.core.layout import memory
from indexproof.verify.access import Requests, requests

WARP, TRANSACTION, THRESHOLD = 32, 128, 0.9
THREAD, LOOP = var("d0"), var("s0")
KINDS = {1: "s8", 4: "f32", 8: "f64"}

Intervals = list[tuple[int, int]]


def xla_coalesced(e: Expr, trips: int, width: int, constraints: Sequence[Constraint] = ()) -> tuple[str, bool]:
    """Return the deciding rule and its verdict: elements of ``width`` bytes at ``e``, ``s0`` in ``[0, trips - 1]``."""
    terms = e.terms if isinstance(e, Sum) else ((e, 1),)
    if any({THREAD, LOOP} <= {*t.variables()} for t, _ in terms):
        return "no sum of a function of the thread and one of the loop", False
    if len(constraints) > 1 or (constraints and constraints[0].expr is not e):
        return "constraints that are not on the index alone", False
    of_thread = add(*(mul(t, k) for t, k in terms if THREAD in t.variables()))
    of_loop = add(*(mul(t, k) for t, k in terms if LOOP in t.variables()))
    rule, intervals = _intervals(of_thread, of_loop is LOOP, trips)
    sizes = [hi - lo + 1 for lo, hi in intervals]
    # ceiling division, which truncates for negative sizes, as in C++
    transactions = sum(-(-n * width // TRANSACTION) for n in sizes)
    least = -(-sum(sizes) * width // TRANSACTION)
    return rule, transactions == 0 or least > transactions * THRESHOLD


def _intervals(of_thread: Expr, contiguous: bool, trips: int) -> tuple[str, Intervals]:
    terms = of_thread.terms if isinstance(of_thread, Sum) else ((of_thread, 1),)
    if len(terms) == 1 and (isinstance(terms[0][0], Var) or terms[0][1] != 1):
        # XLA looks at the factor alone: a multiple of a quotient counts as that multiple of the thread
        k = terms[0][1]
        if k in (1, -1):
            return "stride of one element", [(0, WARP - 1)]
        if contiguous and trips >= abs(k):
            return "neighbours overlap", [(0, k * (WARP - 1) + trips - 1)]
        length = trips if contiguous else 1
        return "stride", [(k * d, k * d + length - 1) for d in range(WARP)]
    found: Intervals = []
    for x in sorted({int(of_thread.evaluate({"d0": d})) for d in range(WARP)}):
        hi = x + trips - 1 if contiguous else x
        if found and x <= found[-1][1] + 1:
            found[-1] = found[-1][0], max(found[-1][1], hi)
        else:
            found.append((x, hi))
    return "any function of the thread", found


def exact(e: Expr, trips: int, width: int, constraints: Sequence[Constraint] = ()) -> Requests:
    """Return the requests of one warp whose threads each compute ``trips`` adjacent outputs; the least address is 0."""
    n = WARP * trips
    element = var("e0")
    moved, *rest = substitute_all(
        [e, *(c.expr for c in constraints)], {THREAD: element // trips, LOOP: element % trips}
    )
    where = tuple(Constraint(x, c.lo, c.hi) for x, c in zip(rest, constraints, strict=True))
    reached = [int(moved.evaluate({"e0": k})) for k in range(n)]
    first, last = min(reached), max(reached)
    m = IndexingMap((Variable("e0", 0, n - 1),), (), (), (moved - first,), where)
    found = requests(Launch((WARP,), (1,), trips).over(f"f32[{n}]"), m, memory(f"{KINDS[width]}[{last - first + 1}]"))
    assert found is not None
    return found


def small_maps() -> Iterator[tuple[Expr, int, int, tuple[Constraint, ...]]]:
    """Yield small maps, those with the smallest numbers first."""
    parts = [THREAD * k for k in (1, -1, 2, -2, 3, 4, -4, 8, 32)]
    parts += [THREAD // k * step for k in (2, 4, 16) for step in (1, 2, 32, 64)]
    parts += [THREAD % k * step for k in (2, 8, 16) for step in (1, 2, 32)]
    for trips, of_thread, step, width in itertools.product((1, 2, 4), parts, (1, 2, 32), KINDS):
        if trips > 1 or step == 1:
            yield of_thread + (LOOP * step if trips > 1 else 0), trips, width, ()
    for trips, width in itertools.product((2, 4), KINDS):
        yield (THREAD * trips + LOOP) % 64, trips, width, ()
    for width in KINDS:
        yield THREAD, 1, width, (Constraint(THREAD % 32, 0, 30),)
        yield THREAD, 1, width, (Constraint(THREAD, 0, 15), Constraint(THREAD % 32, 0, 30))


def table() -> str:
    """Return a row for every rule and pair of differing verdicts."""
    rows: dict[tuple[str, bool], str] = {}
    said = {True: "coalesced", False: "not coalesced"}
    for e, trips, width, where in small_maps():
        rule, verdict = xla_coalesced(e, trips, width, where)
        found = exact(e, trips, width, where)
        if verdict != found.coalesced and (rule, verdict) not in rows:
            domain = [f"s0 in [0, {trips - 1}]"] * (trips > 1) + [f"{c.expr} in [{c.lo}, {c.hi}]" for c in where]
            at = f"`{e}`{', ' if domain else ''}{', '.join(domain)}, {KINDS[width]}"
            rows[rule, verdict] = (
                f"| {rule} | {at} | {said[verdict]} | {said[not verdict]}: {found.sectors} sectors in "
                f"{found.requests} loads, {found.packed} would do |"
            )
    head = "| rule of XLA | smallest map | XLA says | exact |\n| --- | --- | --- | --- |\n"
    return head + "\n".join(row for _, row in sorted(rows.items())) + "\n"


if __name__ == "__main__":
    print(table(), end="")
