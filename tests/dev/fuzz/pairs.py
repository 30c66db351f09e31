"""Random pairs of maps for the portfolio, and for a comparison of all points where boxes are small.

``python -m dev.fuzz.pairs SEED FIRST COUNT [--wide] [--small]`` compares so many pairs and says how long it took: a
random map and a changed one, or with ``--wide`` two with coefficients from 2^30 to 2^62.  ``--small`` cuts every box
down to a few values and tries all points too.  A pair that takes longer than ``--limit`` seconds counts as late.
"""

from __future__ import annotations

import argparse
import itertools
import random
import signal
import time
from collections import Counter
from dataclasses import replace
from types import FrameType

from dev.fuzz.generate import random_map
from indexproof import simplify
from indexproof.core.expr import Expr, add, maximum, minimum
from indexproof.core.indexing_map import IndexingMap, Variable
from indexproof.verify.concrete import Answer, equal_maps
from indexproof.verify.verdict import Status

__all__ = ["agrees", "changed", "compared", "cut_down", "pair", "wide_pair"]

#: A map that is cut down has so many points at most, and so many values of each variable.
_POINTS = 4000
_VALUES = 5


def changed(rng: random.Random, m: IndexingMap) -> IndexingMap:
    """``m`` with a change that may make it another relation."""
    results = list(m.results)
    kind = rng.randrange(5)
    if kind == 0 and results:
        k = rng.randrange(len(results))
        results[k] = results[k] + rng.choice((0, 1, results[k] // 1000))
    if kind == 1 and m.constraints:
        return m.with_(constraints=m.constraints[1:])
    if kind == 2 and m.dims:
        v = m.dims[0]
        return m.with_(dims=(replace(v, hi=v.hi + rng.choice((-1, 0, 1))), *m.dims[1:]))
    if kind == 3 and results:
        e: Expr = results[0]
        results[0] = e // 3 * 3 + e % 3
    return m.with_(results=tuple(results))


def pair(seed: int, index: int) -> tuple[IndexingMap, IndexingMap]:
    """A random map and what the simplifier, a change, or both make of it."""
    rng = random.Random(f"{seed}:{index}:pair")
    m = random_map(seed, index)
    kind = rng.randrange(3)
    other = simplify(m) if kind != 1 else m
    return m, changed(rng, other) if kind else other


def wide_pair(seed: int, index: int) -> tuple[IndexingMap, IndexingMap]:
    """Two maps with coefficients from 2^30 to 2^62, one of them with another term, bound or spelling."""
    rng = random.Random(f"{seed}:{index}:wide")

    def number() -> int:
        return rng.choice((1, 1, -1)) * rng.randrange(2**30, 2**62)

    def divisor() -> int:
        return rng.choice((2, 7, 16, 30, 1024, 2 ** rng.randrange(30, 63), abs(number())))

    sizes = (1, 5, 15, 1000, 2**31 - 1, 2**62 - 1)
    variables = [Variable(n, 0, rng.choice(sizes)) for n in ("d0", "d1", "s0", "s1")[: rng.choice((2, 3, 4))]]
    if rng.random() < 0.5:
        variables = [v for v in variables if v.name != "d1"]

    def deep(depth: int) -> Expr:
        if not depth:
            return rng.choice(variables).expr
        parts = [
            deep(rng.randrange(depth)) * rng.choice((1, 1, 7, -3, number()))
            for _ in range(rng.choice((1, 2)))
        ]
        e = add(rng.choice((0, 0, 1, number())), *parts)
        kind = rng.randrange(8)
        if kind < 3:
            return e % divisor()
        if kind < 6:
            return e // divisor()
        return e if kind == 6 else rng.choice((minimum, maximum))(e, deep(depth - 1))

    results = [
        add(*(deep(2) * number() for _ in range(rng.choice((1, 2))))) for _ in range(rng.choice((1, 1, 2)))
    ]
    first = results[0]
    kind, c = rng.randrange(5), divisor()
    other = [
        first + deep(1) * number(),
        first + rng.choice((0, 1, number())),
        first // c * c + first % c,
        first + (deep(2) * number()) // 2**62,
        (first * 2 + number() % 2) // 2,
    ][kind]
    dims, ranges = (tuple(v for v in variables if v.name[0] == k) for k in "ds")
    one = IndexingMap(dims, ranges, (), tuple(results), ())
    two = one.with_(results=(other, *results[1:]))
    return (one, two) if rng.random() < 0.5 else (two, one)


def cut_down(left: IndexingMap, right: IndexingMap) -> tuple[IndexingMap, IndexingMap]:
    """The same maps on boxes of a few values."""

    number = max(1, len(left.variables), len(right.variables))
    values = min(_VALUES, int(_POINTS ** (1 / number)))

    def few(v: Variable) -> Variable:
        return replace(v, hi=min(v.hi, v.lo + values - 1))

    def cut(m: IndexingMap) -> IndexingMap:
        rts = tuple(replace(r, hi=min(r.hi, r.lo + 1)) for r in m.rts)
        return m.with_(dims=tuple(map(few, m.dims)), ranges=tuple(map(few, m.ranges)), rts=rts)

    return cut(left), cut(right)


def _relation(m: IndexingMap) -> set[tuple[tuple[int, ...], tuple[int, ...]]]:
    dims, ranges = ([range(v.lo, v.hi + 1) for v in g] for g in (m.dims, m.ranges))
    points = itertools.product(itertools.product(*dims), itertools.product(*ranges))
    return {(d, t) for d, s in points if (t := m.evaluate(d, s)) is not None}


def agrees(left: IndexingMap, right: IndexingMap, answer: Answer) -> bool:
    """Whether the answer is the one that all points of two maps without runtime variables give."""
    return answer.verdict is (Status.PROVED if _relation(left) == _relation(right) else Status.REFUTED)


class _LateError(BaseException):  # nothing between here and there may swallow it
    pass


def _late(_number: int, _frame: FrameType | None) -> None:
    raise _LateError


def compared(left: IndexingMap, right: IndexingMap, limit: int) -> tuple[str, float]:
    """The verdict, or what went wrong, and the processor time in seconds."""
    start = time.process_time()
    signal.signal(signal.SIGALRM, _late)
    signal.alarm(limit)
    try:
        said = str(equal_maps(left, right).verdict)
    except _LateError:
        said = "late"
    except Exception as error:  # whatever it is, it is to be counted
        said = f"{type(error).__name__}: {str(error).splitlines()[0]}"
    finally:
        signal.alarm(0)
    return said, time.process_time() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("seed", type=int)
    parser.add_argument("first", type=int)
    parser.add_argument("count", type=int)
    parser.add_argument("--wide", action="store_true")
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--limit", type=int, default=60, metavar="SECONDS")
    args = parser.parse_args()
    counts: Counter[str] = Counter()
    times: list[float] = []
    for index in range(args.first, args.first + args.count):
        left, right = (wide_pair if args.wide else pair)(args.seed, index)
        if args.small:
            left, right = cut_down(left, right)
            if left.rts or right.rts:
                continue
        said, seconds = compared(left, right, args.limit)
        if args.small and said in ("PROVED", "REFUTED") and not agrees(left, right, equal_maps(left, right)):
            said = "WRONG"
        counts[said] += 1
        times.append(seconds)
        if seconds > 1 or said not in ("PROVED", "REFUTED"):
            print(f"{index}: {said} after {seconds:.1f} s", flush=True)
    times.sort()
    said = ", ".join(f"{n:,} {verdict}" for verdict, n in sorted(counts.items()))
    marks = ", ".join(f"{100 * q:g}% {times[int(q * (len(times) - 1))]:.3f} s" for q in (0.5, 0.99, 0.999, 1))
    print(f"{counts.total():,} pairs: {said}; {sum(times):.0f} s of processor time: {marks}")


if __name__ == "__main__":
    main()
