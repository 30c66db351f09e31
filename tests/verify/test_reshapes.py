"""Reshapes between shapes of symbolic sizes: an equation of positions gives the coordinates in both shapes."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

from indexproof.core.condition import Condition, all_of
from indexproof.core.expr import Expr, var
from indexproof.core.op import box, product, symbols
from indexproof.verify.certificate import check_certificate
from indexproof.verify.linear import export
from indexproof.verify.obligation import Obligation
from indexproof.verify.solve import decide
from indexproof.verify.verdict import Status

a, b, c, d, e, f = map(var, "abcdef")


def horner(index: Sequence[Expr], sizes: Sequence[Expr]) -> Expr:
    total = index[0]
    for x, s in zip(index[1:], sizes[1:], strict=True):
        total = total * s + x
    return total


def digits(place: Expr, sizes: Sequence[Expr]) -> list[Expr]:
    strides = [product(sizes[k + 1 :]) for k in range(len(sizes))]
    return [place // strides[0], *(place // s % n for s, n in zip(strides[1:], sizes[1:], strict=True))]


def complete(source: Sequence[Expr], target: Sequence[Expr]) -> tuple[list[Condition], list[Condition]]:
    """Return equal places in two shapes, and the goals that the digits of one are the coordinates of the other."""
    x, y = symbols("i", len(source)), symbols("o", len(target))
    known = [*(s >= 1 for s in (a, b, c, d, e, f)), *box(x, source), *box(y, target)]
    known.append(horner(x, source).eq(horner(y, target)))
    goals = [p.eq(q) for p, q in zip(digits(horner(x, source), target), y, strict=True)]
    return known, goals


SHAPES = [
    ((a * b, c, d), (a, b * c, d)),
    ((a * b * c, d, e * f), (a * b, c, d * e * f)),
    ((a, b * c * d, e * f), (a, b * c, d * e * f)),
    ((a * b, c, d, e * f), (a, b * c * d, e, f)),
]


@pytest.mark.parametrize("shapes", SHAPES, ids=str)
def test_reshapes_find_every_place(shapes: tuple[tuple[Expr, ...], tuple[Expr, ...]]) -> None:
    known, goals = complete(*shapes)
    found = decide(Obligation("reshape", "complete", "valid", tuple(known), all_of(goals)))
    assert found.status is Status.PROVED
    # no solver is needed
    assert (found.strategy, found.resources) == ("linear", 0)
    # a digit that is off by one is refuted
    wrong = all_of((*goals[:-1], goals[-1].a.eq(goals[-1].b + 1)))
    assert decide(Obligation("reshape", "wrong", "valid", tuple(known), wrong)).status is Status.REFUTED


def test_cvc5_agrees_at_the_leaves() -> None:
    pytest.importorskip("cvc5")
    for shapes in SHAPES:
        known, goals = complete(*shapes)
        proof = export.recorded(known, goals[0])
        assert proof is not None
        written = json.loads(json.dumps(export.certificate_json("reshape", known, goals[0], proof)))
        assert tuple(check_certificate(written, (tuple(known), goals[0])).solvers) == ("z3", "cvc5")
