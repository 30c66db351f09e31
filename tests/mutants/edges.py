"""Maps whose numbers lie at the bounds that the simplifier compares with, and checks of their results.

The values of a map at points of its domain are evaluated without the simplifier.
``test_edges.py`` and the mutants (``mutants.py``) go through the same maps.
"""

from __future__ import annotations

import itertools
import json
import math
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import pytest

from dev.fuzz.corpus import rule_examples
from dev.fuzz.generate import EDGES, Maker
from indexproof.core import native
from indexproof.core.cost import map_cost
from indexproof.core.engine import Engine
from indexproof.core.explain import UnexplainedError, explained
from indexproof.core.expr import Expr, ceildiv, maximum, minimum, mul, var
from indexproof.core.extraction.choices import Choices
from indexproof.core.extraction.ledger import Ledger
from indexproof.core.facts import Facts
from indexproof.core.indexing_map import IndexingMap
from indexproof.core.interval import Interval
from indexproof.core.json_form import map_from_json
from indexproof.core.kernel.form import MAXIMUM, MINIMUM, QUOTIENT, REMAINDER, ZERO, lone
from indexproof.core.kernel.generate import STRATEGIES
from indexproof.core.kernel.kernel import DEEPEST, Kernel
from indexproof.core.rewrite import measure
from indexproof.core.simplify import Simplifier
from indexproof.core.simplify_map import simplify_map
from indexproof.core.steps import Trace
from indexproof.core.text import parse_map
from indexproof.rules.catalog import RULES
from indexproof.verify.derivation import DerivationRefused, check_derivation

#: The number of maps of each family.  ``random_maps.jsonl`` has 200 more, of a fuzzer.
EACH: Final = 150
#: Limits on the evaluated points inside and outside of the domain.
INSIDE: Final = 24
OUTSIDE: Final = 6
#: With constraints, a box with at most this many points is enumerated.
DOMAIN: Final = 20_000
WEIGHTS: Final = (3, 3, 1, 12)
#: Extrema of which two arguments are rewritten at once, and constraints that leave one value of a sum.
TWICE: Final = (
    "(d0, d1) -> (d0 - d1), domain: d0 in [0, 9], d1 in [0, 9], d0 + d1 in [0, 3], d0 * 2 + d1 * 2 in [6, 9]",
    "(d0, d1) -> (min(d1 - d0 floordiv 2 * 2, d0 floordiv 2 * -2 + 1), d1 mod 3, d0 * 2 + d1 + 5),"
    " domain: d0 in [0, 63], d1 in [0, 9]",
    "(d0, d1) -> (max((d0 + d1) floordiv 4 * 8 + d1, d0 * 2 - (d0 + d1) mod 4, d0)), domain: d0 in [0, 63], d1 in [0, 3]",
    "(d0, d1) -> (min((d0 + d1) mod 4 * 3, d1 + d0 mod 8, d0 floordiv 8 * 16)), domain: d0 in [0, 63], d1 in [0, 3]",
    # each round narrows by one value at each end, which is rolled back
    "(d0, d1, d2) -> (d0), domain: d0 in [0, 2400], d1 in [0, 2400], d2 in [0, 2400], d0 - d1 in [1, 2400],"
    " d1 - d2 in [1, 2400], d0 - d2 in [-2400, 1]",
)

Point = tuple[int, ...]


@dataclass(frozen=True)
class Case:
    """A map, the options of its simplification, and its values at some points (``None`` outside the domain).

    ``bare``: only results are simplified, with the given constraints as facts.  ``astray``: some proposals are wrong.
    """

    family: str
    name: str
    map: IndexingMap
    targets: tuple[tuple[Point, Point | None], ...]
    weight: int
    quick: bool
    keep_points: bool
    bare: bool = False
    astray: bool = False

    def simplified(self, m: IndexingMap, trace: Trace | None = None) -> IndexingMap:
        """Simplify the map with this case's options, without anything cached."""
        asked: Any = {"keep_points": self.keep_points, "division_weight": self.weight, "quick": self.quick}
        with misled(self.name) if self.astray else nullcontext():
            if not self.bare:
                return simplify_map(fresh(m), RULES, trace, **asked)
            results = tuple(Simplifier(RULES, facts(m), **asked).all(m.results))
            return IndexingMap._trusted(m.dims, m.ranges, m.rts, results, m.constraints)

    def seen(self) -> list[Any]:
        """Return the kernel's facts about the results in normal form: their ranges, sizes and divisors."""
        if not self.bare:
            return []
        engine = Simplifier(RULES, facts(self.map)).engine
        assert engine is not None
        found: list[Any] = []
        # with rules, and without
        for kernel in (engine, facts(self.map).kernel):
            try:
                for n, e in enumerate(self.map.results):
                    f = kernel.read(e)
                    found += [(n, *kernel.range(f)), kernel.size(f)]
                    found.append([d for d in range(-1, 9) if kernel.divides(d, f)])
                    if kernel.size(f) != measure(kernel.write(f)).values():
                        raise AssertionError("sizes of forms are those of expressions")
            except OverflowError:
                found.append("too large")
        return found

    def problem(self, after: IndexingMap) -> str:
        """Return the worst problem of a result; empty if it has none."""
        ends = [found for found in self.seen() if type(found) is tuple and len(found) == 3]
        for point, target in self.targets:
            # where only results are simplified, they may differ at points that violate the constraints
            if target is not None or not self.bare:
                found = at(after, point)
                if found != target:
                    return f"wrong: at {point} {found}, not {target}"
                for k, lo, hi in ends if target else ():
                    if not lo <= (n := target[k]) <= hi:
                        return f"wrong: at {point} {n} is not in [{lo}, {hi}]"
        if map_cost(after).weighed(self.weight) > map_cost(self.map).weighed(self.weight):
            return "dearer"
        return "" if self.astray or self.simplified(after) == after else "unstable"

    def refused(self) -> str:
        """Return why the derivation is refused; empty if it is accepted."""
        if self.bare or self.astray:
            return ""
        trace: Trace = []
        after = self.simplified(self.map, trace)
        try:
            check_derivation(explained(self.map, after, trace), RULES)
        except (DerivationRefused, UnexplainedError) as error:
            return f"refused: {error}"
        return "" if after == self.simplified(self.map) else "refused: another result when it is explained"


NOTHING: Final = IndexingMap((), (), (), (), ())


@dataclass(frozen=True)
class Asked:
    """A question to the kernel that no map causes, and the answer; in place of a :class:`Case`."""

    name: str
    answer: Callable[[], Any]
    expected: Any
    family: str = "asked"
    map: IndexingMap = NOTHING

    def simplified(self, m: IndexingMap, trace: Trace | None = None) -> IndexingMap:
        return m

    def seen(self) -> list[Any]:
        return [repr(self.answer())]

    def problem(self, after: IndexingMap) -> str:
        found = self.answer()
        return "" if found == self.expected else f"wrong: {found}, not {self.expected}"

    def refused(self) -> str:
        return ""


def asked() -> list[Asked]:
    """Return questions about functions of the kernel at the limits of their contracts."""
    x, y, z = var("x"), var("y"), var("z")
    boxes = {x: (0, 9), y: (-3, 5), z: (2, 2)}
    k = Kernel(boxes, keep_points=True)
    a, b, c = (k.read(e) for e in (x, y, z))
    top, bottom = k.read(maximum(x, y)), k.read(minimum(x, y))
    of_top = top[1][0][0]

    def known(*constraints: tuple[Expr, int, int], of: Expr, boxes: Any = boxes) -> tuple[int, int]:
        i = Facts(boxes, [(e, Interval(lo, hi)) for e, lo, hi in constraints]).interval(of)
        return int(i.lo), int(i.hi)

    def twice(kind: int) -> bool:
        one = Kernel(boxes)
        p, q = one.read(x), one.read(y)
        return one.raw_extremum(kind, (p, q)) == one.raw_extremum(kind, (p, q)) != one.raw_extremum(kind, (q, p))

    def first() -> tuple[Any, ...]:
        one = Kernel(boxes)
        return one.raw(QUOTIENT, one.read(x), 4), one.raw(QUOTIENT, one.read(x), 4), one.read(x // 4 + x % 4)

    def settling() -> Any:
        one = Kernel(boxes)
        p = one.read(x % 6)
        one.know(x, 7, 8)
        return p, one.range(one.read(x % 6)), one.range(one.read(x // 6)), one.range(one.read(minimum(x, y)))

    def deep(n: int) -> tuple[int, int]:
        e: Expr = x
        for i in range(n):
            e = (e + i % 3) // 2
        one = Kernel({x: (0, 9)})
        return one.range(one.read(e)), one.deepest >= DEEPEST

    def chosen(f: Expr) -> bool:
        one = Kernel(boxes)
        remainder = one.read(x % 4)
        return Ledger(one, 3, [remainder]).choose((lone(remainder), one.read(f), None))

    ask = [
        ("an atom is written as another", lambda: chosen(y // 2), True),
        ("an atom is not written as itself", lambda: chosen(x % 4 + y), False),
        ("nor as what is made of it", lambda: chosen((x % 4 + y) // 2), False),
        ("nor as what is made of that", lambda: chosen(maximum((x % 4 + y) // 2, y)), False),
        ("quotient of a number", lambda: k.raw(QUOTIENT, (7, ()), 3), (2, ())),
        ("remainder of a number", lambda: k.raw(REMAINDER, (7, ()), 3), (1, ())),
        ("raw atoms are found again", first, ((0, ((1, 1),)), (0, ((1, 1),)), (0, ((2, 1), (3, 1))))),
        ("raw minima are found again", lambda: twice(MINIMUM), True),
        ("raw maxima are found again", lambda: twice(MAXIMUM), True),
        ("the ends of a minimum", lambda: k.range(k.joined(MINIMUM, (a, b))), (-3, 5)),
        ("the ends of a maximum", lambda: k.range(k.joined(MAXIMUM, (a, b))), (0, 9)),
        ("a minimum of one", lambda: k.joined(MINIMUM, (a,)), a),
        ("a coefficient that is there", lambda: k.coefficient((0, ((0, 2), (1, 5))), 1), 5),
        ("a coefficient that is not", lambda: k.coefficient((0, ((0, 2),)), 1), 0),
        ("the other argument", lambda: k.beside(of_top, a), [b]),
        ("no argument", lambda: k.beside(of_top, c), []),
        ("nothing is a multiple of zero", lambda: k.is_multiple(a, 0), False),
        ("all are multiples of one", lambda: k.is_multiple(a, 1), True),
        ("no ends", lambda: Kernel({}).ends(x), (-math.inf, math.inf)),
        ("far ends", lambda: Kernel({x: (-(1 << 4000), 1 << 4000)}).ends(x), (-(1 << 4000), 1 << 4000)),
        ("x is at most the maximum", lambda: k.at_most(a, top), True),
        ("the maximum is not at most x", lambda: k.at_most(top, a), False),
        ("the minimum is at most x", lambda: k.at_most(bottom, a), True),
        ("with a sum beside it", lambda: k.at_most(k.read(x + y + z), k.read(maximum(x, y + 3) + y + z)), True),
        ("one too many", lambda: k.at_most(k.read(x + 1), top), False),
        ("with something after it", lambda: (k.read(x // 2), k.at_most(k.read(x + x // 2), top))[1], False),
        ("a number and the next", lambda: k.differ(a, k.read(x + 1)), True),
        ("a number and itself", lambda: k.differ(a, a), False),
        ("even and odd", lambda: k.differ(k.read(x * 2), k.read(y * 2 + 1)), True),
        ("even and even", lambda: k.differ(k.read(x * 2), k.read(y * 2)), False),
        ("fours and fours and three", lambda: k.differ(k.read(x * 4), k.read(y * 4 + 3)), True),
        ("what may be zero, from above", lambda: k.differ(a, ZERO), False),
        ("what may be zero, from below", lambda: k.differ(k.read(-x), ZERO), False),
        ("what is above zero", lambda: k.differ(k.read(x + 1), ZERO), True),
        ("what is below zero", lambda: k.differ(k.read(-x - 1), ZERO), True),
        ("a remainder of a sum is no digit", lambda: known(((x + y) % 6, 1, 3), (x // 2, 0, 49), of=x % 12,
            boxes={x: (0, 99), y: (0, 9)}), (0, 11)),
        ("a quotient known", lambda: known((x // 4, 1, 1), of=x), (4, 7)),
        ("a finer digit", lambda: known((x // 6 % 5, 1, 3), of=x // 2 % 15, boxes={x: (0, 99)}), (3, 11)),
        ("a much finer digit", lambda: known((x // 6 % 5, 1, 3), of=x % 30, boxes={x: (0, 99)}), (6, 23)),
        ("a digit that is no finer", lambda: known((x // 6 % 5, 1, 3), of=x // 4 % 15, boxes={x: (0, 99)}), (0,
            14)),
        ("a digit of twos", lambda: known((x // 2 % 5, 1, 3), of=x % 10, boxes={x: (0, 99)}), (2, 7)),
        ("all but one value", lambda: known((x // 2 % 5, 0, 3), of=x % 10, boxes={x: (0, 99)}), (0, 7)),
        ("a sum with a finer digit", lambda: known((x // 8 * 3 + y, 4, 5), of=(x // 2) * 3 + y * 4, boxes={x: (0,
            99), y: (0, 9)}), (16, 29)),
        ("a difference with a finer digit", lambda: known((y - x // 8 * 3, 4, 5), of=y * 4 - x // 2 * 3, boxes={x:
            (0, 99), y: (0, 99)}), (7, 20)),
        ("a negative first coefficient", lambda: known((y - x, 1, 2), of=x * 3 - y * 3), (-6, -3)),
        ("common factors", lambda: known((x * 4 - y * 6, 1, 9), of=x * 2 - y * 3), (1, 4)),
        ("one end only", lambda: known((x + y, -99, 3), (x + y, 1, 99), of=x + y), (1, 3)),
        ("a known remainder", lambda: known(((x + y) % 6, 5, 5), of=(x * 2 + y * 2 + 3) % 12), (1, 1)),
        ("not of another sum", lambda: known(((x + y) % 6, 5, 5), of=(x * 2 + y * 3) % 12), (0, 11)),
        ("nor modulo another number", lambda: known(((x + y) % 6, 5, 5), of=(x + y) % 12), (0, 11)),
        ("beside something else", lambda: known(((x + y) % 6, 5, 5), of=(x * 2 + y * 2 + z * 12) % 12), (10, 10)),
        ("everything modulo one", lambda: known(((x + y) % 6, 5, 5), of=(x + y) % 1), (0, 0)),
        ("in proportion", lambda: known((x * 3 + y * 2, 6, 7), of=x * 2 + y * 3, boxes={x: (0, 9), y: (0, 9)}), (4,
            9)),
        ("known before and after", settling, ((0, ((1, 1),)), (1, 2), (1, 1), (-3, 5))),
        ("not too deep", lambda: deep(DEEPEST - 1), ((0, 0), False)),
        ("just too deep", lambda: deep(DEEPEST + 1), ((1, 1), True)),
        ("products", lambda: known(of=mul(x, y)), (-27, 45)),
        ("by a variable", lambda: known(of=x // (y + 4)), (0, 9)),
        ("modulo a variable", lambda: known(of=x % (y + 4)), (0, 8)),
        ("by a negative number", lambda: known(of=x // -2), (-5, 0)),
        ("rounded up", lambda: known(of=ceildiv(x, 4)), (0, 3)),
    ]  # fmt: skip
    return [Asked(*question) for question in ask]


def off(rng: random.Random, value: Any) -> Any:
    """Return a number or a form other than the proposed one."""
    if isinstance(value, int):
        return value + rng.choice((-1, 1))
    c, terms = value
    n = rng.randrange(len(terms) + 1)
    if n == len(terms):
        return c + rng.choice((-1, 1)), terms
    a, k = terms[n]
    changed = rng.choice(((), ((a, k + 1),), ((a, -k),))) if k != -1 else ()
    return c, (*terms[:n], *changed, *terms[n + 1 :])


@contextmanager
def misled(seed: str) -> Iterator[None]:
    """Patch the strategies so that, at random, a proposal is preceded or replaced by one with a wrong value."""
    rng = random.Random(seed)

    def wrong(engine: Engine, strategy: str, values: tuple[Any, ...]) -> tuple[Any, ...]:
        n = rng.randrange(len(values))
        atom = STRATEGIES[strategy][n] == "at"
        value = rng.randrange(len(engine.kind)) if atom else off(rng, values[n])
        return (*values[:n], value, *values[n + 1 :])

    def proposing(name: str) -> Callable[..., Iterator[Any]]:
        proposed = getattr(Engine, name)

        def propose(self: Engine, *args: Any) -> Iterator[Any]:
            for strategy, values in proposed(self, *args):
                if values and rng.random() < 0.5:
                    yield strategy, wrong(self, strategy, values)
                yield strategy, values

        return propose

    def choosing(name: str) -> Callable[..., Any]:
        chosen = getattr(Choices, name)

        def choose(self: Choices, of: Any, strategy: str, *values: Any) -> Any:
            if values and rng.random() < 0.3:
                values = wrong(self.engine, strategy, values)
            if name == "instead" and rng.random() < 0.1:
                of = rng.choice((-1, rng.randrange(len(self.engine.kind))))  # negative numbers denote results
            return chosen(self, of, strategy, *values)

        return choose

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(native, "NATIVE", False)
        for name in ("propose_for_division", "propose_for_sum", "propose_for_extremum"):
            patch.setattr(Engine, name, proposing(name))
        for name in ("instead", "everywhere"):
            patch.setattr(Choices, name, choosing(name))
        yield


def facts(m: IndexingMap) -> Facts:
    """Return the facts of a map: the boxes of its variables, and its constraints as given."""
    known = [(c.expr, Interval(c.lo, c.hi)) for c in m.constraints]
    return Facts({v.expr: Interval(v.lo, v.hi) for v in m.variables}, known)


def fresh(m: IndexingMap) -> IndexingMap:
    """Return a copy of the map without cached results; unlike a map that is read, it may multiply variables."""
    return IndexingMap._trusted(m.dims, m.ranges, m.rts, m.results, m.constraints)


def digest(c: Case, m: IndexingMap) -> object:
    """Return a value that is equal for equal maps, also across imports of the program, with the kernel's facts."""
    boxes = [(v.lo, v.hi) for v in m.variables]
    sources = [e.key for v in m.rts if v.source is not None for e in v.source.results]
    known = [(c.expr.key, c.lo, c.hi) for c in m.constraints]
    return boxes, sources, [e.key for e in m.results], known, c.seen()


def at(m: IndexingMap, point: Point) -> Point | None:
    """Return the target at a point with one value per variable."""
    i, j = len(m.dims), len(m.dims) + len(m.ranges)
    return m.evaluate(point[:i], point[i:j], point[j:])


def points(m: IndexingMap, rng: random.Random) -> Iterator[Point]:
    """Yield corners of the box, their neighbours, random points, and some points one step outside."""
    boxes = [(v.lo, v.hi) for v in m.variables]
    if any(lo > hi for lo, hi in boxes):
        yield tuple(lo for lo, _ in boxes)
        return
    size = math.prod(hi - lo + 1 for lo, hi in boxes)
    if m.constraints and 4 * INSIDE < size <= DOMAIN:
        # random points would miss a sparse domain
        found = [tuple(p) for p in m.domain_points().tolist()]
        yield from found[:4] + found[-4:]
        yield from rng.sample(found, min(len(found), INSIDE))
    if size <= 4 * INSIDE:
        yield from itertools.product(*[range(lo, hi + 1) for lo, hi in boxes])
    else:
        yield from itertools.islice(itertools.product(*boxes), 16)
        for _ in range(3 * INSIDE):
            near = [(lo, hi, min(lo + 1, hi), max(lo, hi - 1)) for lo, hi in boxes]
            yield tuple(
                rng.choice(n) if rng.random() < 0.4 else rng.randint(*b) for n, b in zip(near, boxes, strict=True)
            )
    for k, (lo, hi) in enumerate(boxes):
        for end in (lo - 1, hi + 1):
            yield tuple(end if i == k else rng.randint(*b) for i, b in enumerate(boxes))


def case(family: str, name: str, m: IndexingMap, n: int) -> Case:
    """Return the case of a map, with options that depend on ``n``."""
    inside: dict[Point, Point | None] = {}
    outside: dict[Point, Point | None] = {}
    for p in points(m, random.Random(f"points {name}")):
        if len(inside) == INSIDE and len(outside) == OUTSIDE:
            break
        target = at(m, p)
        found, most = (outside, OUTSIDE) if target is None else (inside, INSIDE)
        if len(found) < most:
            found[p] = target
    targets = (*inside.items(), *outside.items())
    return Case(family, name, m, targets, WEIGHTS[n % len(WEIGHTS)], n % 5 == 4, n % 7 == 6, family == "opaque")


# -------------------------------------------------------------------------------------------------- corpus
def corpus() -> list[Any]:
    """Return the cases, the same ones in every run: of every family, of the examples of rules, and of the fuzzer."""
    found: list[tuple[str, str, IndexingMap]] = []
    for kind, family in EDGES.items():
        for k in range(EACH):
            maker = Maker(random.Random(f"edges {kind} {k}"), numbers=True)
            family(maker)
            found.append((kind, f"{kind} {k}", maker.map()))
    found += [("examples", name, m) for name, m in rule_examples(RULES)]
    lines = (Path(__file__).parent / "random_maps.jsonl").read_text("utf-8").splitlines()
    found += [("random", f"random {k}", map_from_json(json.loads(line))) for k, line in enumerate(lines)]
    found += [("twice", f"twice {k}", parse_map(text)) for k, text in enumerate(TWICE)]
    cases: list[Any] = [case(*f, n) for n, f in enumerate(found)]
    for c in list(cases):
        if c.map.constraints or c.family == "large":
            cases.append(replace(c, name=f"{c.name}, bare", bare=True))
        if c.family in ("digits", "nested", "extrema", "known", "congruent", "shared", "turned"):
            cases.append(replace(c, name=f"{c.name}, astray", astray=True))
    return cases + asked()
