"""Settings of all tests, and a generator of random maps that is deterministic."""

from __future__ import annotations

import random
import signal
from collections.abc import Iterator

import pytest

from indexproof.core.expr import Expr, ceildiv, integer, maximum, minimum, var
from indexproof.core.indexing_map import Constraint, IndexingMap, RuntimeSource, RuntimeVariable


def pytest_configure() -> None:
    """Restore the handling of Ctrl-C, which a shell disables in background jobs."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


DIVISORS = (1, 2, 3, 4, 5, 8, 12, 64, -1, -2, -3, -8)
OPERATIONS = ("add", "sub", "mul", "div", "mod", "ceil", "min", "max")


class Maps:
    """A generator of random maps and points."""

    def __init__(self, seed: int | random.Random) -> None:
        self.rng = seed if isinstance(seed, random.Random) else random.Random(seed)

    def expr(self, atoms: list[Expr], depth: int, operations: tuple[str, ...] = OPERATIONS, scale: int = 9) -> Expr:
        rng = self.rng
        if depth == 0 or rng.random() < 0.15:
            return rng.choice(atoms) if atoms and rng.random() < 0.8 else integer(rng.randint(-scale, scale))
        a = self.expr(atoms, depth - 1, operations, scale)
        kind = rng.choice(operations)
        if kind in ("add", "sub", "min", "max"):
            b = self.expr(atoms, depth - 1, operations, scale)
            return {"add": a + b, "sub": a - b, "min": minimum(a, b), "max": maximum(a, b)}[kind]
        c = rng.choice(DIVISORS) if scale < 100 or rng.random() < 0.7 else rng.randint(2, scale)
        return {"mul": a * c, "div": a // c, "mod": a % c, "ceil": ceildiv(a, c)}[kind]

    def map(
        self,
        operations: tuple[str, ...] = OPERATIONS,
        *,
        scale: int = 9,
        size: int = 6,
        depth: int = 4,
        runtime: bool = True,
        constraints: int = 2,
        rank: int | None = None,
        results: int | None = None,
        names: str = "d s rt",
        empty: bool = False,
    ) -> IndexingMap:
        """Return a map with up to three dimensions, two ranges and a runtime variable, in boxes of about ``size``.

        ``rank`` and ``results`` fix the numbers of dimensions and results; with ``empty`` some boxes are empty.
        """
        rng = self.rng

        def variables(prefix: str, most: int, count: int | None = None) -> list[tuple[str, int, int]]:
            out = []
            for k in range(rng.randint(0, most) if count is None else count):
                lo = rng.randint(-size, size) if rng.random() < 0.4 else 0
                least = -1 if empty and rng.random() < 0.1 else 0
                out.append((f"{prefix}{k}", lo, lo + rng.randint(least, size)))
            return out

        d, s, rt = names.split()
        dims, ranges, rts = variables(d, 3, rank), variables(s, 2), variables(rt, 1) if runtime else []
        atoms: list[Expr] = [var(name) for name, _, _ in (*dims, *ranges, *rts)]
        count = rng.randint(0, 3) if results is None else results
        targets = [self.expr(atoms, depth, operations, scale) for _ in range(count)]
        facts = []
        for _ in range(rng.randint(0, constraints)):
            lo = rng.randint(-scale, 3)
            e = self.expr(atoms, 2, operations, scale)
            facts.append(Constraint(e, lo, lo + rng.randint(0, 4 * scale)))
        return IndexingMap.of(dims, ranges, rts, targets, facts)

    def sourced(self, m: IndexingMap) -> IndexingMap:
        """Return ``m`` with one more runtime variable, and with sources for some of them."""
        rng = self.rng
        atoms: list[Expr] = [v.expr for v in (*m.dims, *m.ranges)]
        rts = []
        for k, (lo, hi) in enumerate([*((r.lo, r.hi) for r in m.rts), (0, 3)]):
            index = tuple(self.expr(atoms, 2) for _ in range(rng.randrange(3)))
            source = RuntimeSource(f"of{k} = s32[9] parameter({k})", index) if rng.random() < 0.5 else None
            rts.append(RuntimeVariable(f"rt{k}", lo, hi, source))
            atoms.append(rts[-1].expr)
        return m.with_(rts=tuple(rts))

    def points(self, m: IndexingMap, count: int, outside: bool = True) -> Iterator[tuple[int, ...]]:
        """Yield points of the box, many of them corners; with ``outside``, some lie one step beyond it."""
        rng = self.rng
        if any(v.size == 0 for v in m.variables):
            return
        for _ in range(count):
            point = [rng.choice((v.lo, v.hi, rng.randint(v.lo, v.hi))) for v in m.variables]
            if point and outside and rng.random() < 0.1:
                k = rng.randrange(len(point))
                point[k] = rng.choice((m.variables[k].lo - 1, m.variables[k].hi + 1))
            yield tuple(point)

    def target(self, m: IndexingMap, point: tuple[int, ...]) -> tuple[int, ...] | None:
        """Return the target of a point, or ``None`` outside the domain."""
        i, j = len(m.dims), len(m.dims) + len(m.ranges)
        return m.evaluate(point[:i], point[i:j], point[j:])


@pytest.fixture
def maps(request: pytest.FixtureRequest) -> Maps:
    """Return a generator of random maps, seeded by the name of the test."""
    return Maps(sum(map(ord, request.node.name)))
