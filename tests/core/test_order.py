"""The plain driver goes down in the order with every step, also among many arguments."""

from __future__ import annotations

import itertools

import pytest

from dev.plain import Driver
from indexproof.core.expr import Expr, maximum, minimum, var
from indexproof.core.facts import Facts
from indexproof.core.interval import Interval
from indexproof.core.rewrite import measure
from indexproof.rules.catalog import RULES

a, b, c, d = (var(name) for name in "abcd")
BOXES = {v: Interval(0, 9) for v in (a, b, c, d)}


def steps(e: Expr) -> list[Expr]:
    """What the driver makes of ``e`` itself, step by step."""
    driver = Driver(RULES.rules, Facts(BOXES))
    made = [e]
    while (after := driver._step(made[-1])) is not None:
        made.append(after)
        assert len(made) < 50
    return made


@pytest.mark.parametrize("join", [minimum, maximum])
def test_every_step_on_an_extremum_descends(join) -> None:
    taken = 0
    for constants in itertools.product((-3, 0, 2), repeat=4):
        for n in (2, 3, 4):
            args = [v + k for v, k in zip((a, b, c, d), constants, strict=True)]
            for e in (join(*args[:n]), join(*args[:n], 4), join(*args[:n]) // 3):
                made = steps(e)
                taken += len(made) - 1
                for before, after in itertools.pairwise(made):
                    assert measure(after).values() < measure(before).values(), (before, after)
    assert taken > 200


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (minimum(a + 2, b + 2, c + 2), minimum(a, b, c) + 2),
        (minimum(a + 2, b + 2, 5), minimum(a, b, 3) + 2),
        # two of three have it in common, which gains nothing
        (minimum(a + 2, b + 2, c), minimum(a + 2, b + 2, c)),
        (maximum(a - 1, b - 1, c + 4), maximum(a, b, c + 5) - 1),
    ],
)
def test_constants_come_out_of_all_arguments(before: Expr, after: Expr) -> None:
    assert Driver(RULES.rules, Facts(BOXES))(before) is after
