"""Conditions as data: several at once, and many."""

from __future__ import annotations

import pytest

from indexproof.core import condition
from indexproof.core.condition import (
    FALSE,
    TRUE,
    And,
    Compare,
    Condition,
    all_of,
    any_of,
    divides,
    negate,
    substitute_conditions,
)
from indexproof.core.expr import var

a, b, x, y = map(var, "abxy")


def test_several_are_substituted_as_each_would_be() -> None:
    given: list[Condition] = [x <= y, ~divides(a, x + 1), (x // a).eq(y % a) | (y < 0), x.within(0, a), x <= y, TRUE]
    mapping = {x: y + 1, a: b * 2}
    found = substitute_conditions(given, mapping)
    assert found == [c.substitute(mapping) for c in given]
    assert found[0] == found[4] == (y + 1 <= y)
    for point in ({"y": 3, "b": 2}, {"y": -5, "b": -1}):
        values = {**point, "x": point["y"] + 1, "a": 2 * point["b"]}
        assert [c.evaluate(point) for c in found] == [c.evaluate(values) for c in given]
    assert substitute_conditions(iter(given[:2]), {}) == given[:2]
    assert substitute_conditions([], mapping) == []


def test_what_is_decided_by_a_substitution_is_decided() -> None:
    assert substitute_conditions([x <= 3, x < 3, divides(x, y)], {x: 3}) == [TRUE, FALSE, divides(var("x") * 0 + 3, y)]
    with pytest.raises(ZeroDivisionError):
        substitute_conditions([x <= 3, (y // x).eq(0)], {x: 0})


def test_common_parts_are_replaced_once(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    whole = condition.substitute_all
    monkeypatch.setattr(condition, "substitute_all", lambda roots, m: seen.append(list(roots)) or whole(roots, m))
    shared = (x * y + a) // b
    substitute_conditions([shared <= k for k in (a, b, x)] + [shared.eq(y)], {x: y})
    assert len(seen) == 1
    assert seen[0].count(shared) == 1


def test_many_conditions_are_compared_with_few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Joining 1,000 conditions takes far fewer than 1,000 times 1,000 comparisons."""
    compared = 0
    equal = Compare.__eq__

    def counted(one: Compare, other: object) -> bool:
        nonlocal compared
        compared += 1
        return equal(one, other)

    monkeypatch.setattr(Compare, "__eq__", counted)
    conditions = [x.ne(k) for k in range(1000)]
    joined = all_of([*conditions, *conditions])
    assert isinstance(joined, And)
    assert list(joined.args) == conditions
    assert len(any_of(conditions).parts()) == len(negate(joined).parts()) == 1000
    assert compared < 20_000
