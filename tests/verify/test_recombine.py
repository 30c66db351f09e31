"""Digits that recombine before they are divided again."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from typing import Any

import pytest
from broken.recombinations import BROKEN

from indexproof.core.condition import TRUE, Condition, all_of
from indexproof.core.expr import Expr, add, integer, var
from indexproof.core.op import box, product
from indexproof.verify import linear, recombine, solve
from indexproof.verify.certificate import check_certificate
from indexproof.verify.checker import CertificateRefused, z3_refutes
from indexproof.verify.linear import export
from indexproof.verify.linear.export import _with_recombined_digits, checked_json
from indexproof.verify.obligation import Obligation
from indexproof.verify.recombine import recombinations, recombined
from indexproof.verify.solve import decide
from indexproof.verify.verdict import Status

a, b, c, d, e, m, n, w, x, y = map(var, "abcdemnwxy")
i0, i1, i2, i3 = map(var, ("i0", "i1", "i2", "i3"))


@pytest.mark.parametrize(("digits", "number"), [
    (x // d * d + x % d, x),
    (x // d * d * w + x % d * w + y, x * w + y),
    (x // d * d * 3 + x % d * 3 + 1, x * 3 + 1),
    (x // d % n * d + x % d, x % (d * n)),
    (x // (d * n) * (d * n) + x // d % n * d + x % d, x),
    (x // (d * n * m) * (d * n * m) + x // (d * n) % m * (d * n) + x // d % n * d + x % d, x),
    (x // d * d + x // integer(1) % d, x),
    # another number, another weight, another divisor
    (x // d * d + y % d, None),
    (x // d * n + x % d, None),
    (x // n * d + x % d, None),
    (x // d + x % d, None),
    (x // d % n * n + x % d, None),
    (x // d * d - x % d, None),
    (x, None),
])  # fmt: skip
def test_what_digits_make_up(digits: Expr, number: Expr | None) -> None:
    assert recombined(digits) is (digits if number is None else number)


def test_what_is_proposed_is_true_of_numbers() -> None:
    rng = random.Random(3)
    names = (d, n, m, w, x)
    for digits in (
        x // d * d * w + x % d * w,
        x // (d * n) * (d * n) + x // d % n * d + x % d,
        x // d % n * d * w + x % d * w,
    ):
        for _ in range(200):
            at = dict(zip(names, (*(rng.randint(1, 9) for _ in range(4)), rng.randint(-99, 99)), strict=True))
            assert digits.evaluate(at) == recombined(digits).evaluate(at)


def test_only_dividends_are_replaced_and_no_divisor_is_new() -> None:
    whole = x // d * d + x % d
    assert recombinations(whole.eq(x)) == ([], whole.eq(x))
    steps, goal = recombinations((whole // c).eq(y))
    assert (steps, goal) == ([(whole, x)], (x // c).eq(y))
    part = x // d % n * d + x % d
    assert recombinations((part // c).eq(y))[0] == []
    steps, _ = recombinations((part // (d * n)).eq(y))
    assert steps == [(part, x % (d * n))]


def strided(place: Expr, shape: tuple[Expr, ...]) -> list[Expr]:
    """Return the coordinates in a shape by the stride of each dimension."""
    strides = [product(shape[k + 1 :]) for k in range(len(shape))]
    return [place // strides[0], *(place // s % size for s, size in zip(strides[1:], shape[1:], strict=True))]


def summed(index: Sequence[Expr], shape: tuple[Expr, ...]) -> Expr:
    """Return the row-major position with the strides multiplied out."""
    return add(*(x * product(shape[k + 1 :]) for k, x in enumerate(index)))


def reshape(source: tuple[Expr, ...], target: tuple[Expr, ...]) -> tuple[tuple[Condition, ...], Condition]:
    """Return the claim that reshaping and reshaping back is the identity; only the products of the sizes agree."""
    index = (i0, i1, i2, i3)[: len(source)]
    known = (*(v >= 1 for v in (a, b, c, d, e)), *box(index, source))
    there = strided(summed(index, source), target)
    back = strided(summed(there, target), source)
    return known, all_of(x.eq(y) for x, y in zip(back, index, strict=True))


RESHAPE = reshape((a * b, c, d * e), (d, a * c, b * e))


def obligation(claim: tuple[tuple[Condition, ...], Condition]) -> Obligation:
    return Obligation("test", "reshape", "valid", *claim)


@pytest.mark.parametrize("claim", [RESHAPE, reshape((a, b, c, d), (d, c, b * a))])
def test_reshapes_without_common_factors_are_inverse_to_each_other(
    claim: tuple[tuple[Condition, ...], Condition],
) -> None:
    found = decide(obligation(claim))
    assert found.status is Status.PROVED
    assert "recombined digits" in found.strategy


def test_a_reshape_to_the_wrong_size_is_refuted() -> None:
    known, _ = RESHAPE
    place = summed((i0, i1, i2), (a * b, c, d * e))
    # the middle digit is taken modulo b instead of a·c
    again = summed((place // (a * c * b * e), place // (b * e) % b, place % (b * e)), (d, a * c, b * e))
    assert decide(obligation((known, (again // (c * d * e)).eq(i0)))).status is Status.REFUTED


# ------------------------------------------------------------------------------------------------ planted mistakes
PLANTED = pytest.mark.parametrize("planted", BROKEN, ids=lambda p: p.name)
POSITIVE = (d > 0, n > 0, w > 0, c > 0)


@PLANTED
def test_a_planted_mistake_is_found(planted: Any) -> None:
    digits, number = planted.wrong
    assert recombined(digits) is not number
    found = decide(obligation((POSITIVE, digits.eq(number))))
    assert found.status is Status.REFUTED
    assert found.witness is not None
    assert digits.evaluate(found.witness) != number.evaluate(found.witness)
    digits, number = planted.twin
    assert recombined(digits) is number
    assert decide(obligation((POSITIVE, digits.eq(number)))).proved


def proposing(monkeypatch: pytest.MonkeyPatch, digits: Expr, number: Expr) -> None:
    """Make the prover propose ``number`` for ``digits``, and prevent a refutation by small points."""

    def proposed(asked: Condition) -> tuple[list[tuple[Expr, Expr]], Condition]:
        shorter = asked.substitute({digits: number})
        return ([(digits, number)], shorter) if shorter != asked else ([], asked)

    monkeypatch.setattr(solve, "recombinations", proposed)
    monkeypatch.setattr(export, "recombinations", proposed)
    monkeypatch.setattr(solve, "small_point", lambda *_: None)


LIMITS = solve.linear_limits(solve.Budget())


def outcomes(goal: Condition) -> list[bool]:
    return [o.proved for o in solve.by_recombined_digits(POSITIVE, goal, LIMITS)]


@PLANTED
def test_a_planted_mistake_is_not_believed(planted: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A proposal is used only if it is proved."""
    digits, number = planted.wrong
    goal = (digits // c).eq(number // c)
    proposing(monkeypatch, digits, number)
    assert outcomes(goal) == [False]
    assert export._with_recombined_digits(POSITIVE, goal) is None
    digits, number = planted.twin
    goal = (digits // c).eq(number // c)
    proposing(monkeypatch, digits, number)
    assert outcomes(goal) == [True, True]


@PLANTED
def test_a_planted_mistake_would_be_believed_if_nobody_asked(planted: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the proof that digits recombine to the number, the prover and the checker would accept the mistake."""
    digits, number = planted.wrong
    goal = (digits // c).eq(number // c)
    proposing(monkeypatch, digits, number)
    prove = linear.prove

    def unasked(known: Sequence[Condition], claim: Condition, **more: Any) -> linear.Reduction:
        return prove(known, TRUE if claim == digits.eq(number) else claim, **more)

    monkeypatch.setattr(linear, "prove", unasked)
    monkeypatch.setattr(export, "prove", unasked)
    assert outcomes(goal) == [True, True]
    proof = export._with_recombined_digits(POSITIVE, goal)
    assert proof is not None
    forged = json.loads(json.dumps(export.certificate_json("wrong", POSITIVE, goal, proof)))
    with pytest.raises(CertificateRefused, match=r"\.cut"):
        check_certificate(forged, (POSITIVE, goal), solvers={"z3": z3_refutes})
    assert export.checked_json("wrong", POSITIVE, goal, proof) is None


# ---------------------------------------------------------------------------------------------------- certificates
def test_recombined_digits_have_a_certificate() -> None:
    known, _ = RESHAPE
    place = summed((i0, i1, i2), (a * b, c, d * e))
    again = summed(strided(place, (d, a * c, b * e)), (d, a * c, b * e))
    goal = (again // (c * d * e)).eq(i0)
    # the reduction alone proves this, too
    proof = _with_recombined_digits(known, goal)
    assert proof["step"] == "equal terms"
    written = json.loads(json.dumps(checked_json("a digit", known, goal, proof)))
    assert check_certificate(written, (tuple(known), goal), solvers={"z3": z3_refutes}).lemmas["cut"] > 0
    assert checked_json("a digit", known, goal, {**proof, "value": proof["value"] + 1}) is None


def test_digits_that_are_a_number_are_left_alone() -> None:
    assert recombine.recombined(integer(3)) is integer(3)


def test_sizes_of_both_sides_agree() -> None:
    assert product((a * b, c, d * e)) is product((d, a * c, b * e))
