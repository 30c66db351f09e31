"""Dividends that equal another term by hypothesis: replacements, proofs, certificates and planted mistakes."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

from indexproof.core.condition import Condition, all_of
from indexproof.core.expr import Expr, var
from indexproof.core.op import box, product, symbols
from indexproof.verify import solve
from indexproof.verify.certificate import check_certificate
from indexproof.verify.checker import CertificateRefused, z3_refutes
from indexproof.verify.equate import equated
from indexproof.verify.linear import export
from indexproof.verify.obligation import Obligation
from indexproof.verify.solve import decide
from indexproof.verify.verdict import Status

a, b, c, d, e, f, i, j, k, m, n = map(var, "abcdefijkmn")
Z3 = {"z3": z3_refutes}
LIMITS = solve.linear_limits(solve.Budget())


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


def test_a_dividend_is_replaced_by_what_it_is_equal_to() -> None:
    one, two = i * n + j, k * m + d
    steps, rest, goal = equated([n > 0, one.eq(two)], (one // m).eq(k))
    assert steps == [(one, two)]
    assert rest == [n > 0]
    assert goal == (two // m).eq(k)
    # an equation is used in either direction
    assert equated([two.eq(one)], (one // m).eq(k))[0] == [(one, two)]


@pytest.mark.parametrize(("known", "goal"), [
    # no equation; other terms; a variable; terms with divisions; both sides are dividends
    ([(i * n + j) <= k * m + d], ((i * n + j) // m).eq(k)),
    ([(i * n + j).eq(k * m + d)], ((i * n - j) // m).eq(k)),
    ([(i * n + j).eq(k)], ((i * n + j) // m).eq(k)),
    ([(i * n + j).eq(k // m + d)], ((i * n + j) // m).eq(k)),
    ([(i * n + j).eq(k * m + d)], ((i * n + j) // m).eq((k * m + d) // m)),
])  # fmt: skip
def test_nothing_else_is_replaced(known: list[Condition], goal: Condition) -> None:
    assert equated(known, goal) == ([], known, goal)


@pytest.mark.parametrize("shapes", SHAPES, ids=str)
def test_reshapes_find_every_place(shapes: tuple[tuple[Expr, ...], tuple[Expr, ...]]) -> None:
    known, goals = complete(*shapes)
    found = decide(Obligation("reshape", "complete", "valid", tuple(known), all_of(goals)))
    assert found.status is Status.PROVED
    # no solver is needed
    assert found.resources == 0
    # a digit that is off by one is refuted
    wrong = all_of((*goals[:-1], goals[-1].a.eq(goals[-1].b + 1)))
    assert decide(Obligation("reshape", "wrong", "valid", tuple(known), wrong)).status is Status.REFUTED


def test_cvc5_agrees_at_the_leaves() -> None:
    pytest.importorskip("cvc5")
    for shapes in SHAPES:
        known, goals = complete(*shapes)
        proof = export._with_equated_dividends(known, goals[0])
        assert proof is not None
        written = json.loads(json.dumps(export.certificate_json("reshape", known, goals[0], proof)))
        assert tuple(check_certificate(written, (tuple(known), goals[0])).solvers) == ("z3", "cvc5")


# ------------------------------------------------------------------------------------------------ planted mistakes
def proposing(monkeypatch: pytest.MonkeyPatch, one: Expr, other: Expr) -> None:
    """Make the prover replace ``one`` by ``other``, whatever the hypotheses are."""

    def proposed(
        hypotheses: Sequence[Condition], goal: Condition
    ) -> tuple[list[tuple[Expr, Expr]], list[Condition], Condition]:
        return [(one, other)], list(hypotheses), goal.substitute({one: other})

    monkeypatch.setattr(solve, "equated", proposed)
    monkeypatch.setattr(export, "equated", proposed)


KNOWN = (m > 0, d.within(0, m - 1), (i * n + j).eq(k * m + d))


@pytest.mark.parametrize("planted", [k * m + d + 1, k * m - d, i * m + d], ids=str)
def test_a_wrong_replacement_is_not_believed(planted: Expr, monkeypatch: pytest.MonkeyPatch) -> None:
    goal = ((i * n + j) // m).eq(planted // m)
    proposing(monkeypatch, i * n + j, planted)
    assert [o.proved for o in solve.by_equated_dividends(KNOWN, goal, LIMITS)] == [False]
    assert export._with_equated_dividends(KNOWN, goal) is None
    # a right replacement is used
    right = ((i * n + j) // m).eq((k * m + d) // m)
    proposing(monkeypatch, i * n + j, k * m + d)
    assert [o.proved for o in solve.by_equated_dividends(KNOWN, right, LIMITS)] == [True, True]


def test_a_certificate_with_another_replacement_is_refused() -> None:
    goal = ((i * n + j) // m).eq(k)
    proof = export._with_equated_dividends(KNOWN, goal)
    written = json.loads(json.dumps(export.checked_json("quotient", KNOWN, goal, proof)))
    assert check_certificate(written, (KNOWN, goal), solvers=Z3).leaves > 0
    nothing = {"step": "goals", "parts": []}
    for change in ({"value": proof["value"] + 1}, {"equal": nothing}, {"then": nothing}):
        spoiled = json.loads(json.dumps(export.certificate_json("quotient", KNOWN, goal, {**proof, **change})))
        if "equal" not in change:
            with pytest.raises(CertificateRefused):
                check_certificate(spoiled, (KNOWN, goal), solvers=Z3)
