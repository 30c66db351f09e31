"""Claims with symbolic sizes only are all proved, quickly, with linear questions or none."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

import parametric_claims as CLAIMS
import pytest

from indexproof.verify.certificate import check_certificate
from indexproof.verify.checker import CertificateRefused, z3_refutes
from indexproof.verify.linear import prove
from indexproof.verify.linear.export import certificate
from indexproof.verify.rulefiles import StatedRule, read_rule_file, stated_rule_obligations
from indexproof.verify.rulefiles.cases import expanded
from indexproof.verify.rulefiles.json_form import parse_json_rules
from indexproof.verify.solve import decide
from indexproof.verify.verdict import Status


def rules(*families: str) -> tuple[StatedRule, ...]:
    return parse_json_rules(json.dumps(CLAIMS.rule_file(CLAIMS.claims(*families))), "claims.json")


@pytest.mark.parametrize("family", CLAIMS.FAMILIES)
def test_all_are_proved(family: str, linear_strategies: frozenset[str]) -> None:
    started = time.process_time()
    for r in rules(family):
        found = decide(next(stated_rule_obligations(r)))
        assert found.proved, r.name
        assert set(found.strategy.split(" + ")) <= linear_strategies, (r.name, found.strategy)
    # about 3 s on an idle machine; a single claim with a bad reduction takes as long
    assert time.process_time() - started < 60


def test_the_prover_itself_needs_no_vouching_for_divisors() -> None:
    for family in ("tiles", "reshapes"):
        for r in rules(family):
            for o in expanded(r):
                assert prove(o.hypotheses, o.goal).proved, r.name


SPELLINGS: dict[str, dict[str, Callable[..., Any]]] = {
    "counts as (n - 1) // t + 1": {"up": lambda a, b: ["add", ["fdiv", ["sub", a, 1], b], 1]},
    "counts as -(-n // t)": {"up": lambda a, b: ["sub", 0, ["fdiv", ["sub", 0, a], b]]},
    "closed ranges": {"inside": lambda e, n: ["within", e, 0, ["sub", n, 1]], "sizes": lambda *of: [["ge", n, 1] for
        n in of]},
}  # fmt: skip


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_spellings_do_not_matter(spelling: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, made in SPELLINGS[spelling].items():
        monkeypatch.setattr(CLAIMS, name, made)
    for r in rules("tiles", "ops"):
        assert decide(next(stated_rule_obligations(r))).proved, r.name


@pytest.mark.parametrize("name", ["tile 3, in bounds", "tile 2, injective", "collapse 4, injective", "pad, injective"])
def test_without_a_hypothesis_most_are_false(name: str) -> None:
    (claim,) = [c for c in CLAIMS.claims() if c[0] == name]
    weaker = [(name, [*claim[1][:k], *claim[1][k + 1 :]], claim[2]) for k in range(len(claim[1]))]
    asked = (
        o
        for w in weaker
        for r in parse_json_rules(json.dumps(CLAIMS.rule_file([w])), "claims.json")
        for o in expanded(r)
    )
    lost = (o for o in asked if not prove(o.hypotheses, o.goal).proved)
    # two are enough, because false claims take the prover longest
    assert len(list(islice(lost, 2))) == 2


# ------------------------------------------------------------------------------------------- tiles of tiles
def _two_levels(rank: int, order: tuple[int, ...]) -> str:
    """Return the place of an element in tiles of tiles: outer, middle and inner digits, the last two in this order."""
    place = "x0 / (s0 * u0)"
    for k in range(1, rank):
        place = f"({place}) * g{k} + x{k} / (s{k} * u{k})"
    for k in order:
        place = f"({place}) * s{k} + x{k} % (s{k} * u{k}) / u{k}"
    for k in order:
        place = f"({place}) * u{k} + x{k} % u{k}"
    return place


@pytest.mark.parametrize("order", [(0, 1), (1, 0), (0, 1, 2), (2, 0, 1)], ids=str)
def test_tiles_of_tiles_stay_inside(order: tuple[int, ...]) -> None:
    """Each digit has two upper bounds, and the search must not try too many combinations of them."""
    rank = len(order)
    dims = [f"g{k} * s{k} * u{k}" for k in range(rank)]
    given = [f"{v}{k} > 0" for v in "gsu" for k in range(rank)]
    given += [f"0 <= x{k} < {d}" for k, d in enumerate(dims)]
    names = ", ".join(f"{v}{k}" for v in "gsux" for k in range(rank))
    for size, status in ((" * ".join(dims), Status.PROVED), (f"{' * '.join(dims)} - 1", Status.REFUTED)):
        text = f"int {names}\nr: 0 <= {_two_levels(rank, order)} < {size} -> true if {', '.join(given)}\n"
        (r,) = read_rule_file(text, "t")
        found = decide(next(stated_rule_obligations(r)))
        assert found.status is status
        assert found.resources < 2000


# ------------------------------------------------------------------------------------------------ enough tiles
def _enough(rank: int, *, more: int = 0) -> StatedRule:
    """Return the claim that an element of a padded array lies in ``c`` tiles of ``t``, if ``c·t >= n``."""
    place = "x0 / t0"
    for k in range(1, rank):
        place = f"({place}) * c{k} + x{k} / t{k}"
    for k in range(rank):
        place = f"({place}) * t{k} + x{k} % t{k}"
    given = [c for k in range(rank) for c in (f"t{k} > 0", f"c{k} * t{k} >= n{k}", f"0 <= x{k} < n{k} + {more}")]
    size = " * ".join(f"{v}{k}" for v in "ct" for k in range(rank))
    names = ", ".join(f"{v}{k}" for v in "nctx" for k in range(rank))
    (r,) = read_rule_file(f"int {names}\nr: 0 <= {place} < {size} -> true if {', '.join(given)}\n", "t")
    return r


@pytest.mark.parametrize("rank", [1, 2, 3, 4])
def test_tiles_that_are_enough_hold_every_element(rank: int) -> None:
    """``x < n`` and ``n <= c·t`` bound ``x // t``, even if n is not a multiple of t."""
    found = decide(next(stated_rule_obligations(_enough(rank))))
    assert (found.status, found.strategy, found.resources) == (Status.PROVED, "identity", 0)
    assert decide(next(stated_rule_obligations(_enough(rank, more=1)))).status is Status.REFUTED


# --------------------------------------------------------------------------------------------- strides with gaps
def _with_gaps(rank: int, *, gaps: bool = True) -> tuple[list[str], list[str]]:
    """Return conditions and goals: equal places with strides ``size·stride + gap`` have equal digits."""
    stride, strides = "1", ["1"]
    for k in reversed(range(1, rank)):
        stride = f"(n{k} * {stride} + g{k})"
        strides.insert(0, stride)
    places = [" + ".join(f"{x}{k} * {s}" for k, s in enumerate(strides)) for x in "ij"]
    given = [f"n{k} > 0" for k in range(rank)] + [f"g{k} >= {0 if gaps else -1}" for k in range(1, rank)]
    given += [f"0 <= {x}{k} < n{k}" for x in "ij" for k in range(rank)] + [" == ".join(places)]
    return given, [f"i{k} == j{k}" for k in range(rank)]


def _gap_rule(rank: int, *, gaps: bool = True) -> StatedRule:
    given, goals = _with_gaps(rank, gaps=gaps)
    names = ", ".join([f"{v}{k}" for v in "nij" for k in range(rank)] + [f"g{k}" for k in range(1, rank)])
    (r,) = read_rule_file(f"int {names}\nr: {' and '.join(goals)} -> true if {', '.join(given)}\n", "t")
    return r


@pytest.mark.parametrize("rank", [2, 3, 4, 5])
def test_places_with_gaps_between_strides_are_injective(rank: int) -> None:
    found = decide(next(stated_rule_obligations(_gap_rule(rank))))
    assert (found.status, found.strategy, found.resources) == (Status.PROVED, "identity", 0)
    # with a negative gap, digits overlap
    assert decide(next(stated_rule_obligations(_gap_rule(rank, gaps=False)))).status is Status.REFUTED


# ----------------------------------------------------------------------------------------------- tiles in tiles
def _tiles_in_tiles(rank: int, up: str) -> dict[str, tuple[list[str], str]]:
    """Return claims about tiles of tiles whose sizes need not divide each other, so that middle sizes are sums."""
    at = [f"{{x}}{k} / t{k}" for k in range(rank)]
    at += [f"{{x}}{k} % t{k} / u{k}" for k in range(rank)] + [f"{{x}}{k} % t{k} % u{k}" for k in range(rank)]
    shape = [up.format(a=f"n{k}", b=f"t{k}") for k in range(rank)]
    shape += [up.format(a=f"t{k}", b=f"u{k}") for k in range(rank)] + [f"u{k}" for k in range(rank)]
    place = at[0]
    for digit, size in zip(at[1:], shape[1:], strict=True):
        place = f"({place}) * {size} + {digit}"
    i, j = place.format(x="i"), place.format(x="j")
    given = [f"{v}{k} > 0" for v in "ntu" for k in range(rank)] + [f"0 <= i{k} < n{k}" for k in range(rank)]
    digits = [
        f"p / ({' * '.join(shape[k + 1 :])}) % {size}" if shape[k + 1 :] else f"p % {size}"
        for k, size in enumerate(shape)
    ]
    digits[0] = digits[0].removesuffix(f" % {shape[0]}")
    back = [f"({digits[k]}) * t{k} + ({digits[rank + k]}) * u{k} + {digits[2 * rank + k]} == i{k}" for k in range(rank)]
    others = [f"0 <= j{k} < n{k}" for k in range(rank)]
    return {
        "inside": (given, f"0 <= {i} < {' * '.join(shape)}"),
        "back": ([*given, f"p == {i}"], " and ".join(back)),
        "injective": ([*given, *others, f"{i} == {j}"], " and ".join(f"i{k} == j{k}" for k in range(rank))),
    }


def _stated(names: str, given: list[str], goal: str) -> StatedRule:
    (r,) = read_rule_file(f"int {names}\nr: {goal} -> true if {', '.join(given)}\n", "t")
    return r


_UPS = ("ceildiv({a}, {b})", "(({a} + {b} - 1) / {b})")


@pytest.mark.parametrize("up", _UPS)
@pytest.mark.parametrize("what", ["inside", "back", "injective"])
@pytest.mark.parametrize("rank", [1, 2, 3])
def test_tiles_in_tiles_need_not_divide_anything(rank: int, what: str, up: str) -> None:
    given, goal = _tiles_in_tiles(rank, up)[what]
    names = ", ".join([f"{v}{k}" for v in "ntuij" for k in range(rank)] + ["p"])
    started = time.process_time()
    found = decide(next(stated_rule_obligations(_stated(names, given, goal))))
    assert (found.status, found.strategy) == (Status.PROVED, "identity")
    # 1.5 s on a busy machine
    assert time.process_time() - started < 20


def test_a_place_in_a_tile_that_is_too_short_is_found() -> None:
    given, goal = _tiles_in_tiles(2, "(1 + ({a} - 1) / {b})")["inside"]
    names = "n0, n1, t0, t1, u0, u1, i0, i1"
    assert decide(next(stated_rule_obligations(_stated(names, given, goal)))).proved
    found = decide(next(stated_rule_obligations(_stated(names, given, goal.replace("t1 - 1", "t1 - 2")))))
    assert found.status is Status.REFUTED


# ------------------------------------------------------------------------------- sizes that are whole numbers of tiles
#: Places in blocked arrays whose numbers of blocks are quotients: place, conditions and size.
_BLOCKED = {
    "channels": ("((((i * (c / x) + k / x) * h + j) * w + m) * x + k % x)", ["c % x == 0", "0 <= i < n",
        "0 <= k < c", "0 <= j < h", "0 <= m < w"], "n * c * h * w"),
    "filters": ("(((o / x * (c / y) + i / y) * h + k) * y + i % y) * x + o % x", ["n % x == 0", "c % y == 0",
        "0 <= o < n", "0 <= i < c", "0 <= k < h"], "n * c * h"),
    "windows": ("((i / w * (n / w) + j / w) * w + i % w) * w + j % w", ["n % w == 0", "m % w == 0", "0 <= i < m",
        "0 <= j < n"], "m * n"),
}  # fmt: skip


@pytest.mark.parametrize("name", _BLOCKED)
def test_places_in_blocks_that_divide_a_size(name: str) -> None:
    """``q·b + r < k·b`` implies ``q < k`` even if k is named after q."""
    place, given, size = _BLOCKED[name]
    given = [*(f"{v} > 0" for v in "xyw"), *given]
    names = "c, h, i, j, k, m, n, o, w, x, y"
    found = decide(next(stated_rule_obligations(_stated(names, given, f"0 <= {place} < {size}"))))
    assert (found.status, found.strategy, found.resources) == (Status.PROVED, "identity", 0)
    found = decide(next(stated_rule_obligations(_stated(names, given, f"{place} < {size} - 1"))))
    assert found.status is Status.REFUTED


def _tiles_in_two() -> StatedRule:
    return _stated("n0, n1, t0, t1, u0, u1, i0, i1", *_tiles_in_tiles(2, _UPS[0])["inside"])


def _windows() -> StatedRule:
    place, given, size = _BLOCKED["windows"]
    return _stated("i, j, m, n, w", ["w > 0", *given], f"{place} < {size}")


@pytest.mark.parametrize(
    "rule", [lambda: _enough(2), lambda: _gap_rule(2), lambda: _gap_rule(3), _tiles_in_two, _windows]
)
def test_bounds_and_digits_have_certificates(rule: Callable[[], StatedRule]) -> None:
    (o,) = expanded(rule())
    written = json.loads(json.dumps(certificate("written", o.hypotheses, o.goal)))
    claim = (tuple(o.hypotheses), o.goal)
    assert check_certificate(written, claim, solvers={"z3": z3_refutes}).lemmas["product"] > 0
    products = [k for k, step in enumerate(written["proof"]) if step[0] == "product"]
    spoiled = {**written, "proof": [step for k, step in enumerate(written["proof"]) if k not in products]}
    with pytest.raises(CertificateRefused):
        check_certificate(spoiled, claim, solvers={"z3": z3_refutes})


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_tiles_of_tiles_in_sizes_that_are_padded_to_both(rank: int) -> None:
    """The number of tiles of tiles is ``⌈n / (t·u)⌉``, and the digits of its dividend are known."""
    ks = range(rank)
    place = [f"{{x}}{k} / (t{k} * u{k})" for k in ks] + [f"{{x}}{k} / t{k} % u{k}" for k in ks]
    place += [f"{{x}}{k} % t{k}" for k in ks]
    shape = [f"{v}{k}" for v in "wut" for k in ks]
    at = place[0]
    for digit, n in zip(place[1:], shape[1:], strict=True):
        at = f"({at}) * {n} + {digit}"
    given = [f"{v}{k} > 0" for v in "ntu" for k in ks] + [f"0 <= {x}{k} < n{k}" for x in "ij" for k in ks]
    given += [f"w{k} == (n{k} + t{k} * u{k} - 1) / (t{k} * u{k})" for k in ks]
    i, j = at.format(x="i"), at.format(x="j")
    names = ", ".join(f"{v}{k}" for v in "ntuwij" for k in ks)
    for r in (
        _stated(names, given, f"0 <= {i} < {' * '.join(shape)}"),
        _stated(names, [*given, f"{i} == {j}"], " and ".join(f"i{k} == j{k}" for k in ks)),
    ):
        found = decide(next(stated_rule_obligations(r)))
        assert (found.status, found.strategy, found.resources) == (Status.PROVED, "identity", 0)


# ------------------------------------------------------------------------------------------------ several levels
def test_tiles_of_three_levels() -> None:
    """Claims are proved where bounds on the outermost size are long in digits of the innermost tiles."""
    up = "ceildiv({}, {})".format
    at = [f"{{x}}{k} / t{k}" for k in range(2)]
    at += [f"{{x}}{k} % t{k} / u{k}" for k in range(2)] + [f"{{x}}{k} % t{k} % u{k} / v{k}" for k in range(2)]
    at += [f"{{x}}{k} % t{k} % u{k} % v{k}" for k in range(2)]
    pairs = [(f"{a}{k}", f"{b}{k}") for a, b in ("nt", "tu", "uv") for k in range(2)]
    shape = [*(up(a, b) for a, b in pairs), "v0", "v1"]
    place = at[0]
    for digit, size in zip(at[1:], shape[1:], strict=True):
        place = f"({place}) * {size} + {digit}"
    i, j = place.format(x="i"), place.format(x="j")
    given = [f"{v}{k} > 0" for v in "ntuv" for k in range(2)]
    given += [f"0 <= {x}{k} < n{k}" for x in "ij" for k in range(2)]
    names = ", ".join(f"{v}{k}" for v in "ntuvij" for k in range(2))
    inside = _stated(names, given, f"0 <= {i} < {' * '.join(shape)}")
    injective = _stated(names, [*given, f"{i} == {j}"], "i0 == j0 and i1 == j1")
    for r in (inside, injective):
        found = decide(next(stated_rule_obligations(r)))
        assert (found.status, found.strategy) == (Status.PROVED, "identity")


def test_a_size_may_be_a_multiple_of_several() -> None:
    """A second divisor of a size does not prevent a proof about the remainder by the first."""
    given = ["m > 0", "n > 0", "l > 0", "divides(m, l)", "divides(n, l)", "x % l == r"]
    found = decide(next(stated_rule_obligations(_stated("l, m, n, r, x", given, "x % m == r % m and x % n == r % n"))))
    assert (found.status, found.strategy) == (Status.PROVED, "linear")


def _objects(data: Any) -> Iterator[dict[str, Any]]:
    if isinstance(data, dict):
        yield data
    for part in data.values() if isinstance(data, dict) else data if isinstance(data, list) else ():
        yield from _objects(part)
