"""What the solver is told about quotients beside their definitions follows from those."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
import z3

from dev.fuzz.validate import questions, validate
from indexproof.core.expr import Expr, floordiv, mod, var
from indexproof.core.indexing_map import IndexingMap
from indexproof.core.text import parse_map
from indexproof.verify import encode
from indexproof.verify.concrete import smt
from indexproof.verify.encode import Encoder

X = var("x")
Y = var("y")


def divided(divisors: tuple[int, ...]) -> list[Expr]:
    """Quotients of one sum and of its quotients, and remainders."""
    whole = X * 3 + Y
    out: list[Expr] = [floordiv(whole, d) for d in divisors]
    out += [mod(floordiv(whole, d), e) for d, e in product(divisors, divisors)]
    return out


def links(exprs: list[Expr]) -> tuple[list[Any], list[Any]]:
    """What defines the quotients, and what is told beside."""
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


#: digits in three radices, put together again and taken apart in others
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
