"""Conversion of maps to relations of isl and back."""

from __future__ import annotations

import itertools
import random
from itertools import product
from typing import Any

import islpy
import pytest
import z3

from dev.fuzz.validate import questions, validate
from indexproof import IndexingMap, InputError, parse_map
from indexproof.core.expr import Expr, floordiv, mod, var
from indexproof.verify import encode
from indexproof.verify.concrete import equal_maps, smt
from indexproof.verify.encode import Encoder
from indexproof.verify.isl_form import from_isl, to_isl
from indexproof.verify.verdict import Status


def pairs(relation: islpy.Map, m: IndexingMap, rts: list[int]) -> set[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Return the pairs of the relation for given values of its parameters."""
    for k, x in enumerate(rts):
        relation = relation.fix_val(islpy.dim_type.param, k, islpy.Val(x))
    found: set[tuple[tuple[int, ...], tuple[int, ...]]] = set()
    rank, total = len(m.dims), len(m.dims) + len(m.results)
    flat = relation.project_out(islpy.dim_type.param, 0, len(rts)).wrap().flatten()

    def visit(point: islpy.Point) -> None:
        at = [int(point.get_coordinate_val(islpy.dim_type.set, k).to_python()) for k in range(total)]
        found.add((tuple(at[:rank]), tuple(at[rank:])))

    flat.foreach_point(visit)
    return found


def test_the_relation_is_that_of_the_map(maps: Any) -> None:
    rng = random.Random(5)
    nonempty = 0
    for _ in range(150):
        m = maps.map(rank=rng.randint(0, 2), size=4, depth=2)
        relation = to_isl(m)
        rts = [rng.randint(v.lo, v.hi) for v in m.rts]
        expected = m.relation(rts)
        assert pairs(relation, m, rts) == expected, m
        nonempty += bool(expected)
    assert nonempty > 80


def test_both_ways_keep_the_relation(maps: Any) -> None:
    rng = random.Random(6)
    read = refused = 0
    for _ in range(150):
        m = maps.map(("add", "sub", "mul", "div", "mod", "ceil"), rank=rng.randint(0, 2), size=4, depth=2)
        try:
            back = from_isl(to_isl(m))
        except InputError:  # isl found no single conjunction
            refused += 1
            continue
        read += 1
        assert [v.name for v in (*back.dims, *back.rts)] == [v.name for v in (*m.dims, *m.rts)]
        for rts in itertools.product(*(range(v.lo, v.hi + 1) for v in m.rts)):
            # isl has no boxes: a value without pairs may lie outside the box that was read
            inside = all(v.lo <= x <= v.hi for v, x in zip(back.rts, rts, strict=True))
            assert (back.relation(rts) if inside else set()) == m.relation(rts), (m, back)
        # reading the printed relation gives an equal map
        assert equal_maps(from_isl(str(to_isl(m))), back).verdict is Status.PROVED
    assert read > 5 * refused, (read, refused)


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("{ [x] -> [x + 1] : 0 <= x <= 9 }", "(x) -> (x + 1), domain: x in [0, 9]"),
        ("[n] -> { [x] -> [x + n] : 0 <= x <= 9 and 1 <= n <= 3 }", "(x){n} -> (n + x), domain: x in [0, 9], n in [1, 3]"),
        ("{ [x] -> [y] : 4y <= x <= 4y + 3 and 0 <= x <= 9 }", "(x) -> (x floordiv 4), domain: x in [0, 9]"),
        ("{ [x] -> [x mod 4] : 0 <= x <= 9 }", "(x) -> (x mod 4), domain: x in [0, 9]"),
        ("{ [x] -> [x] : 0 <= x <= 9 and x mod 3 = 1 }", "(x) -> (x), domain: x in [1, 7], (x - 1) mod 3 in [0, 0]"),
        # outputs that are not determined become range variables
        ("{ [x] -> [y, x] : 0 <= y <= 3 and 0 <= x <= 9 }", "(x)[s0] -> (s0, x), domain: x in [0, 9], s0 in [0, 3]"),
        ("{ [x, y] : 0 <= x <= y <= 5 }", "(x, y) -> (), domain: x in [0, 5], y in [0, 5], y - x in [0, 5]"),
        ("{ [] -> [4] }", "() -> (4)"),
        ("{ [x] -> [y] : 1 = 0 }", "(x) -> (0), domain: x in [0, 0], 0 in [1, 0]"),
        # names of tuples are dropped, names that are not allowed are replaced
        ("{ A[in, x] -> B[x] : 0 <= in <= 2 and 0 <= x <= 1 }", "(d0, x) -> (x), domain: d0 in [0, 2], x in [0, 1]"),
    ],
)  # fmt: skip
def test_what_is_read(text: str, read: str) -> None:
    assert from_isl(text) == parse_map(read)


@pytest.mark.parametrize(("subject", "said"), [
    ("{ [x", "no map of isl"),
    ("{ [x] -> [y] : y >= x }", "the variable `x` has no lower bound"),
    ("{ [x] -> [x] : x >= 3 }", "the variable `x` has no upper bound"),
    ("{ [x] -> [x] : 0 <= x <= 3 or 7 <= x <= 9 }", "the relation has 2 pieces"),
    (7, "`int` is no map of isl"),
])  # fmt: skip
def test_what_is_no_map_is_refused(subject: object, said: str) -> None:
    with pytest.raises(InputError, match=said):
        from_isl(subject)


def test_basic_sets_and_maps() -> None:
    assert from_isl(islpy.BasicMap("{ [x] -> [2x] : 0 <= x <= 9 }")) == parse_map("(x) -> (x * 2), domain: x in [0, 9]")
    assert from_isl(islpy.BasicSet("{ [x] : 0 <= x <= 9 }")) == parse_map("(x) -> (), domain: x in [0, 9]")


def test_integers_that_isl_only_says_to_exist() -> None:
    text = (
        "{ [x, y] -> [] : exists a, b: 2x + 3y <= 7a + 5b <= 2x + 3y + 1 and 0 <= a <= x and 0 <= b <= y and a <= b"
        " and 0 <= x <= 9 and 0 <= y <= 9 }"
    )
    m = from_isl(text)
    assert len(m.ranges) == 2
    assert {source for source, _ in m.relation()} == {source for source, _ in pairs(islpy.Map(text), m, [])}


@pytest.mark.parametrize(("text", "read"), [
    ("(d0) -> (d0 floordiv 4), domain: d0 in [-20, 20], d0 mod 8 in [4, 4]", "d0 floordiv 4"),
    ("(d0, d1) -> ((d0 + d1) floordiv 2), domain: d0 in [0, 9], d1 in [0, 9], (d0 + d1) mod 2 in [0, 0]", ""),
])  # fmt: skip
def test_quotients_that_the_domain_makes_exact(text: str, read: str) -> None:
    m = parse_map(text)
    back = from_isl(to_isl(m))
    assert equal_maps(m, back).verdict is Status.PROVED
    assert read in str(back)


def test_quotients_with_and_without_an_expression_in_one_relation() -> None:
    """isl numbers the quotients in an expression without counting those that have no expression."""
    m = parse_map(
        "(d0)[s0] -> ((((s0 * 2) mod 3) mod -3) mod 16, (min(d0 * -3 + s0 * 8, d0 * -2 - 2) floordiv 12) mod 4),"
        " domain: d0 in [0, 5], s0 in [-5, -2]"
    )
    back = from_isl(to_isl(m))
    assert back.relation(()) == m.relation(())
    assert len(back.ranges) == 4


def test_a_context_of_ones_own() -> None:
    context = islpy.Context()
    m = parse_map("(d0)[s0] -> (d0 * 4 + s0), domain: d0 in [0, 3], s0 in [0, 3]")
    assert to_isl(m, context).get_ctx() == context


# ------------------------ What the solver is told about quotients beside their definitions follows from those
X = var("x")
Y = var("y")


def divided(divisors: tuple[int, ...]) -> list[Expr]:
    """Return quotients of one sum, and remainders of these quotients."""
    whole = X * 3 + Y
    out: list[Expr] = [floordiv(whole, d) for d in divisors]
    out += [mod(floordiv(whole, d), e) for d, e in product(divisors, divisors)]
    return out


def links(exprs: list[Expr]) -> tuple[list[Any], list[Any]]:
    """Return the constraints that define quotients, and the additional ones."""
    context = z3.Context()
    plain, linked = Encoder(context, "witness"), Encoder(context, "linked")
    for encoder in (plain, linked):
        for e in exprs:
            encoder.value(e)
    defined = {f.sexpr() for f in plain.facts}
    assert defined <= {f.sexpr() for f in linked.facts}
    return plain.facts, [f for f in linked.facts if f.sexpr() not in defined]


def follows(facts: list[Any], claim: Any) -> bool:
    solver = z3.Solver(ctx=claim.ctx)
    solver.set("rlimit", 5_000_000)
    solver.add(*facts, z3.Not(claim))
    return bool(solver.check() == z3.unsat)


@pytest.mark.parametrize("divisors", [(2, 6), (6, 2, 3), (4, 4, 8), (5, 7), (1, 3)])
def test_links_follow_from_the_definitions(divisors: tuple[int, ...]) -> None:
    facts, told = links(divided(divisors))
    assert told or divisors == (5, 7)
    assert all(follows(facts, f) for f in told)


def test_a_wrong_link_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    true = Encoder._link

    def one_too_little(self: Encoder, a: Any, d: int, q: Any) -> None:
        at = len(self.facts)
        true(self, a, d, q)
        self.facts[at:] = [f.arg(0) < f.arg(1) for f in self.facts[at:]]

    monkeypatch.setattr(Encoder, "_link", one_too_little)
    facts, told = links(divided((2, 6)))
    assert told
    assert not all(follows(facts, f) for f in told)


#: digits in three radices, recombined and split again in others
BEFORE = """(d0, d1)[s0] -> (((((d0 * 4 + d1 * 512 + s0) floordiv 7) mod 8) * 7
 + (((d0 * 4 + d1 * 512 + s0) floordiv 56) mod 3) * 56 + ((d0 * 4 + d1 * 512 + s0) floordiv 168) * 168
 + (d0 * 4 + d1 * 512 + s0) mod 7) floordiv 320), domain: d0 in [0, 127], d1 in [0, 50000], s0 in [0, 3]"""
AFTER = """(d0, d1)[s0] -> ((d0 * 4 + d1 * 512 + s0) floordiv 320),
 domain: d0 in [0, 127], d1 in [0, 50000], s0 in [0, 3]"""
WRONG = AFTER.replace("s0) floordiv", "s0 + 1) floordiv")


def maps(*texts: str) -> list[IndexingMap]:
    return [parse_map(t.replace("\n", "")) for t in texts]


def test_z3_decides_digits_in_other_radices(monkeypatch: pytest.MonkeyPatch) -> None:
    before, after, wrong = maps(BEFORE, AFTER, WRONG)
    assert validate(before, after).said["z3"] == "same"
    assert validate(before, wrong).said["z3"] == "different"
    (problem,) = questions(before, after)
    assert smt.decide(problem).status == "holds"
    monkeypatch.setattr(encode.Encoder, "_link", lambda *_: None)
    assert smt.decide(problem).status == "open"
