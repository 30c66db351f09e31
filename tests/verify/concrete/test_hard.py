"""Deep and wide questions about two forms of a map: decided, without a fourth round of budgets."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from indexproof.core.expr import (
    CeilDiv,
    Expr,
    FloorDiv,
    Int,
    Max,
    Min,
    Mod,
    Sum,
    Var,
    ceildiv,
    lift,
    maximum,
    minimum,
    postorder,
    var,
)
from indexproof.core.indexing_map import Constraint, IndexingMap, Variable
from indexproof.core.interval import Interval
from indexproof.reports.layouts import readable
from indexproof.verify.concrete import Fact, Option, Problem, equal_exprs, equal_maps, sat_sweeping

MOST = 2**31
DIVISORS = (2, 3, 4, 5, 7, 8, 12, 16, 60, 128, 1000, 4099)


def extent(rng: random.Random) -> int:
    kinds: tuple[Callable[[], int], ...] = (
        lambda: rng.randint(1, 9),
        lambda: 2 ** rng.randint(1, 31),
        lambda: rng.randint(2, 4096),
        lambda: rng.randint(2, MOST),
        lambda: rng.choice((6, 12, 60, 96, 1000, 65537, 999_983, 2**20, MOST)),
    )
    return rng.choice(kinds)()


def nested(rng: random.Random, e: Expr, dims: list[Expr], depth: int) -> Expr:
    """``depth`` divisions one inside the other, of both signs, with sums and extrema between them."""
    for _ in range(depth):
        d = rng.choice(DIVISORS)
        made: tuple[Callable[[Expr], Expr], ...] = (
            lambda e, d=d: e // d,
            lambda e, d=d: e % (d * rng.choice((1, 1, 64, 4096))),
            lambda e, d=d: ceildiv(e, d),
            lambda e, d=d: (e + rng.randint(-9, 9)) // d,
            lambda e, d=d: e // -d,
            lambda e, d=d: (-e) // d,
        )
        e = rng.choice(made)(e)
        if rng.random() < 0.4:
            e = e * rng.choice((2, 3, 5, d, -1, -3)) + rng.choice(dims) * rng.choice((-1, 1, 4, -7, 1024))
        if rng.random() < 0.08:
            e = rng.choice((minimum, maximum))(e, rng.choice(dims) + rng.choice((0, 5, -3)))
    return e


def random_map(rng: random.Random, deepest: int, constrained: bool) -> IndexingMap:
    variables = tuple(Variable(f"d{k}", 0, extent(rng) - 1) for k in range(rng.randint(1, 8)))
    dims: list[Expr] = [v.expr for v in variables]
    results = []
    for _ in range(rng.randint(1, 3)):
        total = lift(rng.randint(-5, 5))
        for v in dims:
            total += v * rng.choice((0, 1, 1, 2, 6, 24, 1024, 65536, -1, -12))
        results.append(nested(rng, total, dims, rng.randint(1, deepest)))
    constraints = []
    for _ in range(rng.randint(1, 2) if constrained else 0):
        a, b = rng.choice(dims), rng.choice(dims)
        c = rng.choice((2, 3, 6, 12, 128))
        r = rng.randrange(c)
        choices = [
            Constraint((a + b * rng.choice((0, 1, 3))) % c, r, r),
            Constraint((a + b) // c, 0, rng.choice((1, 7, 100))),
            Constraint(a + b, 0, rng.choice((10, 1000, 10**6))),
        ]
        if a is not b:
            choices.append(Constraint(a - b * rng.choice((1, 2, 3, -1, 8)), r % 4, r % 4))
        constraints.append(rng.choice(choices))
    return IndexingMap(variables, (), (), tuple(results), tuple(constraints))


def rewritten(rng: random.Random, e: Expr) -> Expr:
    """``e`` with three of its parts replaced by what is equal."""
    for _ in range(3):
        nodes = [n for n in postorder(e) if isinstance(n, (FloorDiv, Mod, CeilDiv, Var, Min, Max))]
        if not nodes:
            return e
        n, c = rng.choice(nodes), rng.choice((2, 3, 4, 6, 7))
        forms: list[Expr]
        match n:
            case FloorDiv(a=a, b=Int(value=b)):
                forms = [-ceildiv(-a, b), (a - a % b) // b, (a * c) // (b * c), (a + b * c) // b - c]
                forms += [(a // f) // (b // f) for f in (2, 3, 5) if b > f and b % f == 0]
            case Mod(a=a, b=Int(value=b)):
                forms = [a - (a // b) * b, (a % (b * c)) % b, (a + b * c) % b]
                forms += [((a // f) % (b // f)) * f + a % f for f in (2, 3, 5) if b > f and b % f == 0]
            case CeilDiv(a=a, b=b):
                forms = [-((-a) // b)]
            case Min(args=args):
                forms = [-maximum(*[-x for x in args])]
            case Max(args=args):
                forms = [-minimum(*[-x for x in args])]
            case _:
                forms = [(n // c) * c + n % c, (n // (c * c)) * (c * c) + ((n // c) % c) * c + n % c]
        e = e.substitute({n: rng.choice(forms)})
    return e


def changed(rng: random.Random, m: IndexingMap) -> IndexingMap:
    """``m`` with one literal of one result moved by one."""
    k, step = rng.randrange(len(m.results)), rng.choice((-1, 1))
    e = m.results[k]
    nodes = [n for n in postorder(e) if isinstance(n, (Sum, FloorDiv, Mod, CeilDiv))]
    if not nodes:
        return m.with_(results=(*m.results[:k], e + 1, *m.results[k + 1 :]))
    n = rng.choice(nodes)
    if isinstance(n, Sum):
        other = n + step
    else:
        d = n.b.evaluate({}) + step or 2
        other = {FloorDiv: n.a // d, Mod: n.a % d, CeilDiv: ceildiv(n.a, d)}[type(n)]
    return m.with_(results=(*m.results[:k], e.substitute({n: other}), *m.results[k + 1 :]))


def digits_of_a_place(rng: random.Random) -> tuple[IndexingMap, IndexingMap]:
    """A position written in digits to bases that do not divide its extents, and put together again in two orders."""
    sizes = [rng.choice((3, 5, 7, 10, 13, 31, 100, 1000, 4097)) for _ in range(rng.randint(2, 5))]
    variables = tuple(Variable(f"d{k}", 0, n - 1) for k, n in enumerate(sizes))
    place: Expr = lift(rng.choice((0, 0, 1, 5)))
    for v, n in zip(variables, sizes, strict=True):
        place = place * n + v.expr
    bases = [rng.choice((2, 3, 4, 6, 8, 9, 11, 16, 60)) for _ in range(rng.randint(2, 5))]
    outer = rng.choice((7, 12, 100))
    maps = []
    for order in (bases, bases[::-1]):
        total, stride, rest = lift(0), 1, place
        for b in order:
            total += (rest % b) * stride
            rest, stride = rest // b, stride * b
        total += rest * stride
        maps.append(IndexingMap(variables, (), (), (total // outer, total % outer)))
    return maps[0], maps[1]


def question(seed: int) -> tuple[IndexingMap, IndexingMap, bool]:
    """Two maps, and whether they are known to be equal."""
    rng = random.Random(f"hard {seed}")
    kind = seed % 6
    if kind == 5:
        one, two = digits_of_a_place(rng)
        return (one, two, True) if rng.random() < 0.5 else (one, changed(rng, two), False)
    m = random_map(rng, 12, constrained=kind in (2, 3))
    if kind == 0:
        return m, readable(m), True
    if kind in (1, 2):
        return m, m.with_(results=tuple(rewritten(rng, e) for e in m.results)), True
    if kind == 3:
        return m, changed(rng, m), False
    return m, changed(rng, m.with_(results=tuple(rewritten(rng, e) for e in m.results))), False


@pytest.mark.parametrize("seed", range(8))
def test_every_question_is_decided_early(seed: int) -> None:
    for n in range(12 * seed, 12 * seed + 12):
        left, right, equal = question(n)
        answer = equal_maps(left, right)
        said = n, left, right, answer.tried
        assert answer.verdict in ("PROVED", "REFUTED"), said
        assert answer.proved or not equal, said
        assert not any("round 4" in t for t in answer.tried), said
        if not answer.proved:
            found = answer.counterexample
            assert found is not None, said
            assert found.left != found.right, said


# ----------------------------------------------------------------------------------------------- the engine
d0, d1, d2 = (var(f"d{k}") for k in range(3))


def asked(left: Expr, right: Expr, *sizes: int, where: tuple[Fact, ...] = ()) -> str:
    box = tuple((var(f"d{k}"), Interval(0, n - 1)) for k, n in enumerate(sizes))
    problem = Problem(box, where, (Option((Fact(left - right, Interval(0, 0)),)),))
    return sat_sweeping.decide(problem).status


def test_inner_quotients_are_compared_first() -> None:
    one, two = d0, d0
    for k, c in enumerate((3, 7, 1000, 12, 5, 128, 9, 4, 4099, 11, 2, 6)):
        one = (one * 5 + d1 * 4) // c - d2
        two = -ceildiv((-two) * 10 - d1 * 8, 2 * c) - (d2 // 6) * 6 - d2 % 6
        if k % 3 == 0:
            one, two = one + d1 % 35, two + (d1 // 5 % 7) * 5 + d1 % 5
    assert asked(one, two, MOST, MOST, MOST) == "holds"
    assert asked(one, two + (d0 + 1) // MOST, MOST, MOST, MOST) == "fails"


def test_facts_help() -> None:
    left, right = (d0 * 3 + d1) // 8, (d0 // 4) * 3 + (d1 + 6) // 8
    known = Fact(d0 % 4, Interval(2, 2))
    assert asked(left, right, MOST, MOST) == "fails"
    assert asked(left + d2 % 4, (d0 // 4) * 3 // 2 + d2 % 4, 8, 1, MOST, where=(known,)) == "fails"
    even = Fact(d0 % 8, Interval(0, 0))
    assert asked(((d0 + d1) // 8) // 1000, (d0 // 8 + d1 // 8) // 1000, MOST, MOST, where=(even,)) == "holds"
    tied = Fact(d0 - d1 * 8, Interval(3, 3))
    assert asked((d0 // 8) // 77, d1 // 77, MOST, MOST, where=(tied,)) == "holds"
    assert asked((d0 // 7) // 77, d1 // 77, MOST, MOST, where=(tied,)) == "fails"


def test_one_value_among_billions() -> None:
    # each division lets the difference through for one remainder only
    left = ((((d0 * 24 + d1 - 3) // 3000) // 4099 % 1000 - d1) // 3 * 5 + d1 * 4) // 12
    right = ((((d0 * 24 + d1 - 2) // 3000) // 4099 % 1000 - d1) // 3 * 5 + d1 * 4) // 12
    answer = equal_exprs(left, right, [("d0", 0, MOST - 1), ("d1", 0, 3000)])
    assert answer.counterexample.left != answer.counterexample.right


def test_bounds_of_sums_and_quotients_cut_boxes() -> None:
    box = [("d0", 0, MOST), ("d1", 0, MOST)]
    assert equal_exprs(d0 // 16 + d1 // 16, 0, box, [((d0 + d1) // 4, 0, 3)]).proved
    answer = equal_exprs(d0 // 15, 0, box, [((d0 + d1) // 4, 0, 3)])
    assert answer.engine == "enumeration"
    assert answer.counterexample.values == {"d0": 15, "d1": 0}


def test_one_question_where_domains_are_stated_alike() -> None:
    m = IndexingMap.of([("d0", 0, MOST)], results=[d0 // 6], constraints=[(d0 % 4, 0, 1)])
    same = m.with_(results=(d0 // 2 // 3,))
    assert len([t for t in equal_maps(m, same).tried if t.startswith("normal form")]) == 1
    # otherwise what is left to ask is whether the other domain lies within the first
    wider = same.with_(constraints=(Constraint(d0 % 4, 0, 2),))
    answer = equal_maps(m, wider)
    assert (answer.counterexample.values, answer.counterexample.left) == ({"d0": 2}, None)
    assert equal_maps(wider, m).counterexample is not None


def test_ranges_do_not_unfold_to_the_bottom(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a range costs does not grow with the depth: of 200 levels, 26 s became 16 s."""
    asked_for = 0
    direct = sat_sweeping._Atoms.bounds

    def counted(self: sat_sweeping._Atoms, f: dict[int, int]) -> Interval:
        nonlocal asked_for
        asked_for += 1
        return direct(self, f)

    monkeypatch.setattr(sat_sweeping._Atoms, "bounds", counted)

    def halves(depth: int) -> int:
        nonlocal asked_for
        asked_for = 0
        one, two = d0, d0
        for _ in range(depth):
            one, two = (one + d1) // 2 + one % 2, ceildiv(two, 2) + (two + d1) // 2 - two // 2
        assert asked(one, two, MOST, 1000) == "holds"
        return asked_for

    assert halves(120) < 3 * halves(60)


def test_equal_minima_of_unequal_arguments_are_one() -> None:
    """Where the quotients differ another argument is smaller; what is above is compared as if they were equal."""
    d = [var(f"d{k}") for k in range(8)]
    inner = minimum(d[0] * 2 + 46, d[7] + 48, d[0])
    inner = maximum((inner + d[1]) // 3, d[1] - 38, inner)

    def above(c: int) -> Expr:
        e = minimum(inner // c * 2 + d[1], d[6] * 2 + 25, d[4] + 56) % 4096 + d[0] // 5
        for v in (d[5], d[6], d[2], d[3]):
            e = maximum((minimum(d[2] * 2 + 36, e) + v) // 3, e, v - 49)
        return (minimum(e * 2, d[0] + 3) + d[3]) // 63 % 63

    sizes = (2**31, 2**31 - 1, 2**31 - 1, 65536, 3, 4096, 2**31, 8)
    box = tuple((v, Interval(0, n - 1)) for v, n in zip(d, sizes, strict=True))
    problem = Problem(box, (), (Option((Fact(above(64) - above(63), Interval(0, 0)),)),))
    assert sat_sweeping.decide(problem).status == "holds"
