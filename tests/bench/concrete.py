"""Equality of large expressions: ten to twelve divisions over eight variables, simplified, or with one of them changed.

``python tests/bench/concrete.py 0 400`` asks three questions for each of 400 seeds from 0 on, and prints the verdicts.
A question is stopped after ``--limit`` seconds of wall time and counted as late; those that take long are listed.
"""

from __future__ import annotations

import argparse
import random
import signal
import time
from collections import Counter
from collections.abc import Iterator
from types import FrameType

from indexproof.core.expr import Expr, FloorDiv, Int, Mod, floordiv, integer, maximum, minimum, mod, postorder, var
from indexproof.rules.simplifier import simplify_expr
from indexproof.verify.concrete import equal_exprs

VARIABLES = [var(f"d{k}") for k in range(8)]
EXTENTS = (2**31, 2**31 - 1, 10**6, 4096, 1000, 77, 8, 3, 2**16)
DIVISORS = (2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 16, 17, 24, 32, 60, 63, 64, 100, 127, 128, 1000, 1023, 1024, 4096, 65536)
#: Questions that take more seconds than this are listed.
LONG = 3.0

Box = list[tuple[str, int, int]]


class Late(Exception):
    """Raised when a question takes too long."""


def expression(rng: random.Random, style: int) -> tuple[Expr, Box]:
    """Draw a repeatedly divided index (styles 0 and 1, the latter from below zero), a sum of digits, or extrema."""
    extents = [rng.choice(EXTENTS) for _ in VARIABLES]
    box = [(str(v), 0, n - 1) for v, n in zip(VARIABLES, extents, strict=True)]
    if style == 1:
        box = [(str(v), -rng.randrange(n), n - 1) for v, n in zip(VARIABLES, extents, strict=True)]
    if style == 2:
        return digits(rng), box
    return (extrema(rng) if style == 3 else place(rng)), box


def place(rng: random.Random) -> Expr:
    e: Expr = integer(0)
    for v in VARIABLES[: rng.randrange(2, 9)]:
        e = e * rng.choice(DIVISORS) + v
    divisions = 0
    while divisions < 10:
        k = rng.random()
        if k < 0.5:
            e = e // rng.choice(DIVISORS)
            divisions += 1
        elif k < 0.6:
            e = e % (rng.choice(DIVISORS) * rng.choice(DIVISORS))
            divisions += 1
        elif k < 0.8:
            e = e * rng.choice((1, 2, 3, 5, -1, 7))
            e = e + rng.choice(VARIABLES) * rng.choice((1, -1, 2, 3)) + rng.randrange(-3, 4)
        else:
            e = e + (rng.choice(VARIABLES) // rng.choice(DIVISORS)) * rng.choice((1, 3, -2))
            divisions += 1
    return e


def digits(rng: random.Random) -> Expr:
    e: Expr = integer(0)
    divisions = 0
    while divisions < 12:
        x: Expr = integer(0)
        for v in rng.sample(VARIABLES, rng.randrange(1, 5)):
            x = x + v * rng.choice((1, 2, 3, 7, 16, -1, 100))
        x = x // rng.choice(DIVISORS) % rng.choice(DIVISORS)
        divisions += 2
        e = e + x * rng.choice((1, 2, 8, 16, 100, -3))
        if rng.random() < 0.4:
            e = e // rng.choice(DIVISORS)
            divisions += 1
    return e


def extrema(rng: random.Random) -> Expr:
    e: Expr = rng.choice(VARIABLES)
    divisions = 0
    while divisions < 10:
        k = rng.random()
        v = rng.choice(VARIABLES)
        if k < 0.3:
            e = e // rng.choice(DIVISORS) * rng.choice((1, 2, 3)) + v
            divisions += 1
        elif k < 0.5:
            e = e % rng.choice(DIVISORS) + v // rng.choice(DIVISORS)
            divisions += 2
        elif k < 0.75:
            e = minimum(e, v * rng.choice((1, 2)) + rng.randrange(100))
        else:
            e = maximum(e, v - rng.randrange(50), (e + v) // 3)
            divisions += 1
    return e


def changed(e: Expr, rng: random.Random) -> Expr:
    """Return the expression with one divisor or dividend, or both, off by one."""
    divisions = [n for n in postorder(e) if isinstance(n, (FloorDiv, Mod)) and isinstance(n.b, Int) and n.b.value > 1]
    if not divisions:
        return e + 1
    n = rng.choice(divisions)
    assert isinstance(n.b, Int)
    d = max(n.b.value + rng.choice((1, -1, 0)), 1)
    made = floordiv if isinstance(n, FloorDiv) else mod
    return e.substitute({n: made(n.a + rng.choice((0, 0, 1)), d)})


def questions(seed: int) -> Iterator[tuple[str, Expr, Expr, Box]]:
    rng = random.Random(seed)
    e, box = expression(rng, seed % 4)
    simple = simplify_expr(e, {n: (lo, hi) for n, lo, hi in box})
    yield "simplified", e, simple, box
    yield "simplified and changed", e, changed(simple, rng), box
    yield "changed", e, changed(e, rng), box


def asked(left: Expr, right: Expr, box: Box, limit: int) -> tuple[str, float]:
    """Return the verdict on a question and the processor time in seconds."""
    start = time.process_time()
    signal.alarm(limit)
    try:
        verdict = str(equal_exprs([left], [right], box).verdict)
    except Late:
        verdict = "late"
    finally:
        signal.alarm(0)
    return verdict, time.process_time() - start


def _late(_number: int, _frame: FrameType | None) -> None:
    raise Late


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("first", type=int)
    parser.add_argument("count", type=int)
    parser.add_argument("--limit", type=int, default=60, metavar="SECONDS")
    args = parser.parse_args()
    signal.signal(signal.SIGALRM, _late)
    counts: Counter[str] = Counter()
    total = worst = 0.0
    for seed in range(args.first, args.first + args.count):
        for what, left, right, box in questions(seed):
            verdict, seconds = asked(left, right, box, args.limit)
            counts[verdict] += 1
            total, worst = total + seconds, max(worst, 0.0 if verdict == "late" else seconds)
            if seconds > LONG or verdict not in ("PROVED", "REFUTED"):
                print(f"{seed} {what}: {verdict} after {seconds:.1f} s", flush=True)
    said = ", ".join(f"{n:,} {verdict}" for verdict, n in sorted(counts.items()))
    print(
        f"{counts.total():,} questions: {said}; {total:.0f} s of processor time, the slowest decided one {worst:.1f} s"
    )


if __name__ == "__main__":
    main()
