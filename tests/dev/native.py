"""Compare the native core with pure Python: on the corpora of the benchmark and on random maps, with every option.

``python -m dev.native LIBRARY`` loads the extension from a file, such as the test's build with sanitizers; without
an argument the installed core is compared.
"""

from __future__ import annotations

import argparse
import importlib.util
import random
import sys
from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module
from itertools import zip_longest
from pathlib import Path
from typing import Any


def load(library: Path) -> None:
    """Use the extension in this file as the native core."""
    name = "indexproof.core.native._native"
    spec = importlib.util.spec_from_file_location(name, library)
    assert spec is not None
    assert spec.loader is not None
    sys.modules[name] = module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)


def random_maps(seed: int, count: int) -> Iterator[Any]:
    """Yield small random maps: bounds coincide with divisors, some boxes are large, some constraints are equations."""
    from indexproof.core.expr import ceildiv, integer, maximum, minimum, var
    from indexproof.core.indexing_map import Constraint, IndexingMap, RuntimeSource, RuntimeVariable, Variable

    draw = random.Random(seed)
    numbers = [1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 24, 32, 48, 60, 64, 100, 128]
    for _ in range(count):
        far = draw.random() < 0.02
        size = [draw.choice([1, 2, *numbers]) << (50 if far else 0) for _ in range(draw.randint(1, 4))]
        low = [draw.choice([0, 0, 0, -1, 1, -5]) for _ in size]
        names = draw.sample(["d0", "d1", "d2", "d10", "d02", "s0", "row", "row2"], len(size))
        variables = [Variable(v, a, a + n - 1) for v, a, n in zip(names, low, size, strict=True)]
        made: list[Any] = [var(v.name) for v in variables]
        for _ in range(draw.randint(1, 9)):
            x, y, k = draw.choice(made), draw.choice(made), draw.choice(numbers) * draw.choice([1, 1, 1, -1])
            match draw.randint(0, 7):
                case 0 | 1:
                    e = x * k + y
                case 2 | 3:
                    e = x // k
                case 4 | 5:
                    e = x % k
                case 6:
                    e = draw.choice([minimum, maximum])(x, draw.choice([y, integer(k)]))
                case _:
                    e = draw.choice([x - y, x + k, ceildiv(x, k), x * k])
            made.append(e)
        constraints = []
        for _ in range(draw.choice([0, 0, 0, 1, 2])):
            c, n = draw.choice(made), draw.randint(-3, 20)
            constraints.append(Constraint(c, n, n + draw.choice([0, 1, 7, 40])))
        results = tuple(draw.choice(made[len(variables) // 2 :]) for _ in range(draw.randint(1, 4)))
        rts: list[RuntimeVariable] = []
        if draw.random() < 0.1:
            source = RuntimeSource("f32[4] parameter(0)", (draw.choice(made), draw.choice(made) % 8))
            rts.append(RuntimeVariable("rt0", 0, draw.choice(numbers), source))
            results += (draw.choice(made) * draw.choice(numbers) + var("rt0"),)
            if draw.random() < 0.5:
                constraints.append(Constraint(var("rt0") * draw.choice([1, 2, -3]) + draw.choice(made), 0, 40))
        yield IndexingMap(tuple(variables), (), tuple(rts), results, tuple(constraints))


def corpus_maps(every: int) -> Iterator[Any]:
    """Yield the maps of the benchmark, or a regular sample of them."""
    sys.path.insert(0, str(Path(__file__).parents[1] / "bench"))
    corpora, ours = import_module("corpora"), import_module("peers").Ours()
    for name in corpora.CORPORA:
        yield from map(ours.convert, list(corpora.corpus(name))[::every])


def compare(maps: Iterator[Any]) -> tuple[int, int, list[str]]:
    """Return the number of compared maps, the number of those left to Python, and the differences."""
    from indexproof.core import native
    from indexproof.core.simplify_map import simplify_map
    from indexproof.core.steps import Trace
    from indexproof.rules.catalog import RULES

    count = left = 0
    different: list[str] = []
    library: Any = native._native
    options = [
        {"quick": False},
        {"quick": True},
        {"division_weight": 1},
        {"division_weight": 12},
        {"keep_points": True},
    ]

    class Counted:
        """The library with a counter of the calls that it leaves to Python."""

        def simplify_map(self, *asked: Any) -> Any:
            nonlocal left
            found = library.simplify_map(*asked)
            left += found is None
            return found

        def simplify(self, *asked: Any) -> Any:
            return library.simplify(*asked)

    for n, m in enumerate(maps):
        for option in options[: 2 if n % 4 else None]:
            vars(native).update(NATIVE=True, _native=Counted())
            a = simplify_map(m.with_(results=m.results), RULES, **option)  # type: ignore[arg-type]
            vars(native).update(NATIVE=False)
            b = simplify_map(m.with_(results=m.results), RULES, **option)  # type: ignore[arg-type]
            vars(native).update(NATIVE=True, _native=library)
            count += 1
            if a != b:
                different.append(f"{m}\n  with {option}\n  native {a}\n  Python {b}")
        option = options[n % len(options)]
        recorded = []
        for core in True, False:
            vars(native).update(NATIVE=core)
            trace: Trace = []
            simplify_map(m.with_(results=m.results), RULES, trace, **option)  # type: ignore[arg-type]
            recorded.append(numbered(trace))
        vars(native).update(NATIVE=True)
        count += 1
        if recorded[0] != recorded[1]:
            pair = next(p for p in zip_longest(*recorded) if p[0] != p[1])
            different.append(f"{m}\n  with {option}\n  native records {pair[0]}\n  Python {pair[1]}")
    return count, left, different


def numbered(trace: Any) -> list[Any]:
    """Renumber the engines from 0."""
    from indexproof.core.steps import Rewritten, Step

    engines: dict[int, int] = {}
    return [
        replace(e, engine=engines.setdefault(e.engine, len(engines))) if isinstance(e, Step | Rewritten) else e
        for e in trace
    ]


def compare_builders(seed: int, count: int) -> tuple[int, list[str]]:
    """Compare the native functions that build expressions with Python's on the same random arguments."""
    from indexproof.core import expr
    from indexproof.core.expr import select, var
    from indexproof.core.variables import quasi_affine

    draw = random.Random(seed)
    numbers: list[Any] = [
        0,
        1,
        -1,
        2,
        3,
        7,
        64,
        -128,
        1 << 30,
        1 << 62,
        -(1 << 63),
        1 << 63,
        1 << 70,
        True,
        1.5,
        None,
        "x",
    ]
    made: list[Any] = [var(n) for n in ("d0", "d1", "d10", "é")] + [var("k", "const")]
    made.append(select(made[0] < made[1], made[0], 1))
    names = ("integer", "linear", "add", "mul", "floordiv", "mod", "ceildiv", "minimum", "maximum", "postorder")
    different: list[str] = []

    def operand() -> Any:
        return (
            draw.choice(numbers[:12]) if draw.random() < 0.3 else draw.choice(numbers if draw.random() < 0.02 else made)
        )

    def outcome(f: Any, *asked: Any) -> Any:
        try:
            return f(*asked)
        except (TypeError, ValueError, ZeroDivisionError, AttributeError, AssertionError) as error:
            return type(error), str(error)

    for _ in range(count):
        name = draw.choice(names)
        asked: tuple[Any, ...] = tuple(operand() for _ in range(draw.choice([1, 2, 2, 2, 2, 3, 5, 40])))
        if name == "postorder":
            asked = tuple(draw.choice(made) for _ in asked)
        if name == "linear":
            terms = [(draw.choice(made), draw.choice(numbers[:13])) for _ in asked]
            asked = (draw.choice(numbers[:13]), draw.choice([list, tuple, iter])(terms))
        f = getattr(expr, name)
        a = outcome(f, *asked)
        if name == "linear":
            asked = (asked[0], terms)
        b = outcome(f.__self__, *asked)
        if a != b or type(a) is not type(b):
            different.append(f"{name}{asked}: {a}, {b}")
        if isinstance(a, expr.Expr) and len(expr.postorder(a)) < 60:
            made = [*made[:6], *made[6:][-200:], a]
        roots, known = tuple(draw.sample(made, 3)), dict.fromkeys(draw.sample(["d0", "d1", "d10", "é"], 3))
        if quasi_affine(roots, known) is not quasi_affine.__self__(roots, known):  # type: ignore[attr-defined]
            different.append(f"quasi_affine{roots}, {known}")
    return count, different


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("library", type=Path, nargs="?")
    parser.add_argument("--random", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--every", type=int, default=1, help="of the maps of the corpora, one of so many")
    asked = parser.parse_args()
    if asked.library:
        load(asked.library)
    built, different = compare_builders(asked.seed, 10 * asked.random)
    print(f"builders: {built} compared, 0 left to Python, {len(different)} different")
    print("\n".join(different[:5]))
    failed = bool(different)
    for name, maps in (("corpora", corpus_maps(asked.every)), ("random maps", random_maps(asked.seed, asked.random))):
        count, left, different = compare(maps)
        print(f"{name}: {count} compared, {left} left to Python, {len(different)} different")
        for d in different[:5]:
            print(d)
        failed |= bool(different) or left > count // 10
    return failed


if __name__ == "__main__":
    sys.exit(main())
