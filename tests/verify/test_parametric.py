"""Properties for all sizes agree with enumeration at small sizes, for ops with symbolic sizes and for stated maps."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Iterator

import pytest
from broken.analyses import SHUFFLES
from broken.properties import MISTAKES, Mistake
from map_corpus import Table

from indexproof.core.errors import InputError
from indexproof.core.expr import Var, var
from indexproof.core.map_reader import read_any_map
from indexproof.core.op import DIRECTIONS, map_claim
from indexproof.core.parametric import ParametricMap
from indexproof.core.text import parse_expr
from indexproof.rules.ops import OPS
from indexproof.verify.parametric import decide_for_all_sizes, equal_for_all_sizes, simplified
from indexproof.verify.properties import decide_property
from indexproof.verify.verdict import Status

GRID = "(d0, d1){n, k} -> (d0 * k + d1), domain: d0 in [0, n - 1], d1 in [0, k - 1], n >= 1, k >= 1"
BACK = "(d0){n, k} -> (d0 floordiv k, d0 mod k), domain: d0 in [0, n * k - 1], n >= 1, k >= 1"
DIGITS = (
    "(t){n, m, k} -> (t mod n, (t floordiv n) mod m, t floordiv (n * m)),"
    " domain: t in [0, n * m * k - 1], n >= 1, m >= 1, k >= 1"
)
REVERSED = "(d0){n, k} -> (d0 floordiv k * k + k - 1 - d0 mod k), domain: d0 in [0, n * k - 1], k >= 1"
SWAPPED = "(d0){n} -> (d0 + 1 - 2 * (d0 mod 2)), domain: d0 in [0, 2 * n - 1]"
DOUBLED = "(d0){n} -> (d0 * 2 mod n), domain: d0 in [0, n - 1], n >= 1, n mod 2 in [1, 1]"
SHUFFLED = "(d0){n} -> (d0 floordiv 2 + (d0 + 1) mod 2 * n), domain: d0 in [0, 2 * n - 1], n >= 1"
WINDOW = "(d0)[s0]{n, s, w} -> (d0 * s + s0), domain: d0 in [0, n - 1], s0 in [0, w - 1], n >= 1, s >= 1, w >= 1"


def read(text: str) -> ParametricMap:
    m = read_any_map(text)
    assert isinstance(m, ParametricMap)
    return m


def of_ops(count: int) -> Iterator[tuple[ParametricMap, list[object]]]:
    """Yield maps of symbolic instances of ops, with the shapes of their targets."""
    rng = random.Random(0)
    cases = [c for op in OPS.values() for rank in (1, 2) for c in op.cases(rank) if c.symbols]
    while count:
        case, direction = rng.choice(cases), rng.choice(DIRECTIONS)
        claim = map_claim(case.op, 0, direction, case.shapes, case.facts)
        if claim.runtime or not claim.source:
            continue
        names = [[v.name for v in claim.source], [r.variable.name for r in claim.ranges]]
        own = {*names[0], *names[1]}
        parameters = sorted({v.name for e in (*claim.results, *claim.target_sizes) for v in e.variables()} - own)
        parameters = sorted(
            {*parameters, *(v.name for c in (*claim.assumed, *claim.point) for v in c.variables())} - own
        )
        try:
            m = ParametricMap(
                tuple(names[0]), tuple(names[1]), tuple(parameters), claim.results, (*claim.assumed, *claim.point)
            )
        except InputError:
            continue
        if len(parameters) > 4:
            continue
        count -= 1
        yield m, [*claim.target_sizes]


def tables(m: ParametricMap, shape: list[object], most: int = 3) -> Iterator[tuple[dict[str, int], Table]]:
    """Yield the tables of the map at small sizes."""
    for values in itertools.product(range(most + 1), repeat=len(m.parameters)):
        sizes = dict(zip(m.parameters, values, strict=True))
        try:
            there = m.at(sizes)
            leads = tuple(n if isinstance(n, int) else int(n.evaluate(sizes)) for n in shape)
        except (InputError, ZeroDivisionError):
            continue
        if all(n >= 0 for n in leads):
            yield sizes, Table(there, leads, {})


PROPERTIES = {
    "injective": lambda t: t.injective([*range(len(t.names))]),
    "in_bounds": Table.in_bounds,
    "covers": Table.covers,
    "bijective": lambda t: t.in_bounds() and t.covers() and t.injective([*range(len(t.names))]),
    "monotone": lambda t: t.monotone(False),
}


def test_no_verdict_is_wrong_at_small_sizes() -> None:
    seen: Counter[str] = Counter()
    for m, shape in of_ops(40):
        small = [*tables(m, shape)]
        for name, holds in PROPERTIES.items():
            given = {"shape": shape} if name in ("in_bounds", "covers", "bijective") else {}
            try:
                answer = decide_for_all_sizes(name, [m], **given)
            except InputError as error:
                refused = str(error)
            else:
                refused = ""
            # an op may divide by a size that is zero, where it has no elements
            assert not refused or "may be zero" in refused, refused
            if refused:
                continue
            seen[answer.verdict.value] += 1
            if answer.proved:
                assert all(holds(t) for _, t in small), (name, m, shape)
            if answer.verdict is Status.REFUTED:
                sizes = {p: answer.counterexample.values[p] for p in m.parameters}
                leads = tuple(int(n.evaluate(sizes)) for n in shape)
                assert not holds(Table(m.at(sizes), leads, {})), (name, m, sizes)
    assert seen["PROVED"] > 80
    assert seen["REFUTED"] > 40
    assert seen["UNDECIDED"] < 20, seen


def test_no_verdict_on_a_shuffle_is_wrong_at_small_sizes() -> None:
    rng, seen = random.Random(0), Counter[str]()
    for _ in range(32):
        c, a, b, e = rng.choice([2, 3]), rng.choice([0, 1, 2, 5]), rng.choice([0, 1, 2]), rng.choice([0, 1, 2])
        sign = rng.choice(["", "-"])
        result, size = rng.choice(
            [
                (f"d0 floordiv {c} + ({sign}d0 + {a}) mod {c} * n", f"{c} * n + {e}"),
                (f"d0 floordiv {c} * {c} + {a} - d0 mod {c}", f"{c} * n"),
                (f"d0 + {a} - {b} * (d0 mod {c})", f"{c} * n"),
                (f"(d0 * {c} + {a}) mod ({c} * n + {e})", f"{c} * n + {e}"),
                (f"(d0 * {c} + {a}) mod n", "n"),
            ]
        )
        m = read(f"(d0){{n}} -> ({result}), domain: d0 in [0, {size} - 1], n >= 1")
        for name in ("injective", "covers"):
            given = {"shape": [size]} if name == "covers" else {}
            answer = decide_for_all_sizes(name, [m], **given)
            seen[answer.verdict.value] += 1
            small = [(n, Table(m.at({"n": n}), (read_size(size, {"n": n}),), ())) for n in range(1, 8)]
            held = {n: PROPERTIES[name](t) for n, t in small}
            if answer.proved:
                assert all(held.values()), (name, m, held)
            if answer.verdict is Status.REFUTED and (n := answer.counterexample.values["n"]) in held:
                assert not held[n], (name, m, n)
    assert min(seen["PROVED"], seen["REFUTED"]) > 10, seen
    assert seen["UNDECIDED"] < 3, seen


@pytest.mark.parametrize(("name", "maps", "given", "verdict"), [
    ("injective", [GRID], {}, "PROVED"),
    ("injective", ["(d0, d1){k} -> (d0 * k + d1), domain: d1 in [0, k - 1]"], {}, "PROVED"),
    ("injective", ["(d0, d1){k} -> (d0 * k + d1), domain: d1 in [0, k]"], {}, "REFUTED"),
    ("bijective", [GRID], {"shape": ["n * k"]}, "PROVED"),
    ("covers", [GRID], {"shape": ["n * k + 1"]}, "REFUTED"),
    ("bijective", ["(d0){n, k} -> ((d0 + k) mod n), domain: d0 in [0, n - 1], n >= 1"], {"shape": ["n"]}, "PROVED"),
    ("bijective", ["(d0){n, k} -> ((k - d0) mod n), domain: d0 in [k, k + n - 1], n >= 1"], {"shape": ["n"]}, "PROVED"),
    ("bijective", ["(d0, d1){n} -> (n * 8 - 8 - d0 * 8 + d1), domain: d0 in [0, n - 1], d1 in [0, 7]"],
        {"shape": ["n * 8"]}, "PROVED"),
    # shuffles: pairs are swapped, rows reversed, even places before odd ones, cards dealt in turn
    ("bijective", [SWAPPED], {"shape": ["2 * n"]}, "PROVED"),
    ("bijective", [REVERSED], {"shape": ["n * k"]}, "PROVED"),
    ("bijective", [REVERSED.replace("k - 1 - ", "k - ")], {"shape": ["n * k"]}, "REFUTED"),
    ("bijective", [SHUFFLED], {"shape": ["2 * n"]}, "PROVED"),
    ("bijective", [SHUFFLED.replace("d0 + 1", "5 - d0")], {"shape": ["2 * n"]}, "PROVED"),
    ("covers", [SHUFFLED], {"shape": ["2 * n + 1"]}, "REFUTED"),
    ("bijective", ["(d0){n} -> (d0 floordiv 2 + (d0 mod 2) * (n ceildiv 2)), domain: d0 in [0, n - 1]"],
        {"shape": ["n"]}, "PROVED"),
    ("bijective", [DOUBLED], {"shape": ["n"]}, "PROVED"),
    ("bijective", ["(d0){n} -> (d0 * 2 mod n), domain: d0 in [0, n - 1], n >= 1"], {"shape": ["n"]}, "REFUTED"),
    ("bijective", ["(d0){n} -> (d0 * 3 mod (n * 3 + 1)), domain: d0 in [0, 3 * n], n >= 0"],
        {"shape": ["n * 3 + 1"]}, "PROVED"),
    ("covers", ["(d0){n} -> ((d0 * 3 + 1) mod (n * 3 + 2)), domain: d0 in [0, 3 * n + 1], n >= 0"],
        {"shape": ["n * 3 + 2"]}, "PROVED"),
    ("bijective", [DIGITS], {"shape": ["n", "m", "k"]}, "PROVED"),
    ("bijective", [DIGITS], {"shape": ["m", "n", "k"]}, "REFUTED"),
    ("covers", [WINDOW], {"shape": ["(n - 1) * s + w"]}, "REFUTED"),
    ("covers", [WINDOW + ", s <= w"], {"shape": ["(n - 1) * s + w"]}, "PROVED"),
    ("injective", [WINDOW], {"over": ["d0"]}, "REFUTED"),
    ("injective", [WINDOW + ", w <= s"], {}, "PROVED"),
    ("in_bounds", [WINDOW], {"shape": ["n * s + w - s"]}, "PROVED"),
    ("in_bounds", [WINDOW], {"shape": ["n * s"]}, "REFUTED"),
    ("inverse", [GRID, BACK], {}, "PROVED"),
    ("inverse", [GRID, BACK.replace("n * k - 1", "n * k")], {}, "REFUTED"),
    ("disjoint", ["(d0){n} -> (2 * d0), domain: d0 in [0, n]", "(d0){n} -> (d0 * 2 + 1)"], {}, "PROVED"),
    ("disjoint", ["(d0){n} -> (2 * d0), domain: d0 in [0, n]", "(d0){n} -> (d0 * 3 + 1)"], {}, "REFUTED"),
    ("contiguous", [GRID + ", 4 divides k"], {"along": "d1", "width": 4}, "PROVED"),
    ("contiguous", [GRID], {"along": "d1", "width": "k"}, "PROVED"),
    ("contiguous", [GRID], {"along": "d1", "width": 2}, "REFUTED"),
    ("contiguous", [GRID], {"along": "d0", "width": 2}, "REFUTED"),
    ("aligned", [GRID], {"by": "k", "along": "d1"}, "PROVED"),
    ("aligned", [GRID], {"by": 2, "along": "d1"}, "REFUTED"),
    ("monotone", [GRID], {"strict": True}, "PROVED"),
    ("monotone", [GRID.replace("d0 * k + d1", "d1 * n + d0")], {}, "REFUTED"),
    ("monotone", [GRID.replace("d0 * k + d1", "d1 * n + d0")], {"along": "d0"}, "PROVED"),
])  # fmt: skip
def test_stated_maps(name: str, maps: list[str], given: dict[str, object], verdict: str) -> None:
    answer = decide_for_all_sizes(name, [read(m) for m in maps], **given)
    assert answer.verdict == verdict, answer
    assert (answer.counterexample is not None) == (verdict == "REFUTED")


@pytest.mark.parametrize(("place", "name", "wrong"), SHUFFLES, ids=lambda x: getattr(x, "__name__", ""))
def test_planted_mistakes_leave_a_shuffle_undecided(
    place: object, name: str, wrong: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(place, name, wrong)
    stated = [decide_for_all_sizes("bijective", [read(m)], shape=[n]) for m, n in ((SWAPPED, "2 * n"), (DOUBLED, "n"))]
    assert sorted(a.verdict for a in stated) == ["PROVED", "UNDECIDED"]


@pytest.mark.parametrize(("name", "text", "given", "smallest"), [
    ("injective", f"{GRID}, s >= 0".replace("k + d1", "s + d1").replace("{n, k}", "{n, k, s}"), {}, True),
    ("covers", GRID, {"shape": ["n * k + 1"]}, True),
    ("in_bounds", WINDOW, {"shape": ["n * s"]}, True),
    # sizes are not tried in the order of their magnitude
    ("in_bounds", "(d0){n} -> (d0), domain: d0 in [0, n - 1], n >= 0", {"shape": [1000]}, False),
    # k may be negative, and not all values of a variable are tried
    ("injective", "(d0, d1){k} -> (d0 * 2 + d1), domain: d0 in [0, 1], d1 in [0, 3 - k]", {}, False),
    ("in_bounds", "(d0){k} -> (d0), domain: k >= 0", {"shape": ["k"]}, False),
])  # fmt: skip
def test_a_counterexample_is_called_the_smallest_where_no_smaller_sizes_have_one(
    name: str, text: str, given: dict[str, list[object]], smallest: bool
) -> None:
    m = read(text)
    c = decide_for_all_sizes(name, [m], **given).counterexample
    assert c is not None
    assert c.minimal is smallest
    if not smallest:
        return
    at = {p: c.values[p] for p in m.parameters}
    for values in itertools.product(range(sum(at.values()) + 1), repeat=len(at)):
        sizes = dict(zip(at, values, strict=True))
        if (sum(values), values) < (sum(at.values()), tuple(at.values())) and all(
            b.evaluate(sizes) for b in m.on_parameters
        ):
            shape = {k: [read_size(e, sizes) for e in es] for k, es in given.items()}
            assert decide_property(name, [m.at(sizes)], **shape).proved, sizes
    shape = {k: [read_size(e, at) for e in es] for k, es in given.items()}
    there = decide_property(name, [m.at(at)], **shape).counterexample
    assert {**at, **there.values} == c.values


def read_size(text: object, sizes: dict[str, int]) -> int:
    return int(parse_expr(str(text), {p: var(p) for p in sizes}).evaluate(sizes))


def test_a_parameter_may_have_the_name_of_what_is_not_reached() -> None:
    m = read("(d0){t0} -> (d0), domain: d0 in [0, t0 - 2], t0 >= 1")
    c = decide_for_all_sizes("covers", [m], shape=["t0"]).counterexample
    assert c is not None
    assert (c.values, c.minimal) == ({"t0": 1, "t0_": 0}, True)


def test_a_proof_is_confirmed_by_the_second_solver() -> None:
    answer = decide_for_all_sizes("bijective", [read(GRID)], shape=["n * k"], confirm=True)
    assert (answer.proved, answer.confirmed_by) == (True, "cvc5")


def test_equality_of_relations() -> None:
    flat = read("(d0)[s0]{n, k} -> (s0), domain: d0 in [0, 3], s0 in [0, n * k - 1], k >= 1, n >= 1")
    split = read("(d0)[s0, s1]{n, k} -> (s0 * k + s1), domain: d0 in [0, 3], s0 in [0, n - 1], s1 in [0, k - 1]")
    assert equal_for_all_sizes(flat, split).proved
    with pytest.raises(InputError, match="not compared pointwise"):
        equal_for_all_sizes(flat, split, "pointwise")
    more = equal_for_all_sizes(flat, read(str(split).replace("s0 in [0, n - 1]", "s0 in [0, n]")))
    assert more.verdict is Status.REFUTED
    fixed = read_any_map("(d0)[s0] -> (s0), domain: d0 in [0, 3], s0 in [0, 5]")
    assert equal_for_all_sizes(flat, fixed).verdict is Status.REFUTED
    assert equal_for_all_sizes(fixed, fixed).proved


@pytest.mark.parametrize(("before", "after"), [
    (str(read(GRID).compose(read(BACK))), GRID.replace("(d0 * k + d1)", "(d0, d1)")),
    (str(read(BACK).compose(read(GRID))), BACK.replace("(d0 floordiv k, d0 mod k)", "(d0)")),
    ("(d0){n} -> (min(d0, n)), domain: d0 in [0, n - 1], d0 < n + 1", "(d0){n} -> (d0), domain: d0 in [0, n - 1]"),
    ("(d0){n} -> (d0 mod n), domain: d0 in [0, n], n >= 1", ""),
])  # fmt: skip
def test_what_is_simplified_is_equal(before: str, after: str) -> None:
    found = simplified(read(before))
    assert found == read(after or before)
    assert equal_for_all_sizes(read(before), found).proved


@pytest.mark.parametrize(("text", "given", "message"), [
    ("(d0){n} -> (d0 mod n), domain: d0 in [0, n]", {}, "`n` may be zero: at n = 0"),
    ("(d0){n, k} -> (d0), domain: d0 in [0, n], n floordiv k >= 1", {}, "`k` may be zero: at k = 0"),
    ("(d0){n} -> (d0), domain: d0 in [0, n], n > 3, n < 2", {}, "contradict each other"),
    ("(d0){n} -> (d0), domain: d0 in [0, n]", {"by": "n"}, "`n` may be less than 1: at n = 0"),
    ("(d0){n} -> (d0), domain: d0 <= n", {"by": 2, "along": "d0"}, "`d0` has no lower bound"),
    ("(d0){n} -> (d0), domain: d0 in [0, n], d0 * n >= 3", {"by": 2, "along": "d0"}, "is bounded by a product"),
    ("(d0){n} -> (d0), domain: d0 in [0, n]", {"by": "m"}, "unknown variable `m`"),
    ("(d0){n} -> (d0), domain: d0 in [0, n]", {"over": ["d1"]}, "no dimension or range `d1`"),
])  # fmt: skip
def test_what_is_refused(text: str, given: dict[str, object], message: str) -> None:
    with pytest.raises(InputError) as info:
        decide_for_all_sizes("aligned" if "by" in given else "injective", [read(text)], **given)
    assert message in str(info.value)


def test_a_name_is_not_a_parameter_here_and_a_variable_there() -> None:
    with pytest.raises(InputError, match="a parameter of one map and a variable of the other"):
        decide_for_all_sizes("disjoint", [read("(n){k} -> (n)"), read("(d0){n} -> (d0)")])


def test_a_value_read_at_each_point_is_no_parameter() -> None:
    """What is read at 0 may be 0 and at 1 something else, so that the maps have a common target."""
    read_there = read_any_map("(d0){rt0} -> (rt0), domain: d0 in [0, 3], rt0 in [0, 3]\n  hlo: x\n  (d0) -> (d0)")
    other = read("(d0){rt0, n} -> (rt0 + 1), domain: d0 in [0, n], n >= 1, rt0 in [0, 3]")
    with pytest.raises(InputError, match="`rt0` is read at run time"):
        decide_for_all_sizes("disjoint", [read_there, other])
    with pytest.raises(InputError, match="`rt0` is read at run time"):
        equal_for_all_sizes(other, read_there)
    anywhere = read_any_map("(d0){rt0} -> (rt0), domain: d0 in [0, 3], rt0 in [0, 3]")
    assert decide_for_all_sizes("disjoint", [anywhere, other]).proved


def test_a_divisor_of_the_inverse_that_may_be_zero_is_not_assumed_away() -> None:
    # at k = 0 only element 0 is written, and the inverse t // k is undefined
    m = read("(d0){n, k} -> (d0 * k), domain: d0 in [0, n], k in [0, 2], k != 2, n >= 1")
    assert decide_for_all_sizes("covers", [m], shape=["n + 1"]).verdict is Status.REFUTED
    assert len({v for v in read(GRID).variables if isinstance(v, Var)}) == 2


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda m: m.name)
def test_planted_mistakes(mistake: Mistake) -> None:
    for text, verdict in ((mistake.wrong, Status.REFUTED), (mistake.twin, Status.PROVED)):
        maps = [read_any_map(t) for t in (text, mistake.other) if t]
        answer = decide_for_all_sizes(mistake.name, maps, **mistake.given)
        assert answer.verdict is verdict, (text, answer)
