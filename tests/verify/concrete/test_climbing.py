"""Counterexamples that are rare, and lie deep below divisions and extrema that lose most differences."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from indexproof.core.expr import Expr, maximum, minimum, var
from indexproof.core.interval import Interval
from indexproof.verify.concrete import Fact, Option, Problem, sat_sweeping
from indexproof.verify.concrete.climbing import Definitions, _apart

D = [var(f"d{k}") for k in range(8)]


def problem(left: Expr, right: Expr, *box: tuple[int, int]) -> Problem:
    """Whether both are equal in the box of d0, d1, ..."""
    variables = tuple((v, Interval(*i)) for v, i in zip(D, box, strict=False))
    return Problem(variables, (), (Option((Fact(left - right, Interval(0, 0)),)),))


def dividends_that_meet() -> Problem:
    """Modulo N and N + 1 a dividend is the same at all but one value in 10**17, for which large steps have to add up."""
    d0, d1, d2, d3, d4, d5, d6, d7 = D
    place = 1780838400000 * d0 + 27825600000 * d1 + 278256000 * d2 + 27825600 * d3 + 27200 * d4
    place = (place + 1700 * d5 + 17 * d6 + d7 + d3 // 4096) // 7 // 65536 // 1000 // 4 % 65536
    left = (place // 100 - 2 * (d6 // 12)) // 8 // 5
    number = 7294314086400000 * d0 + 113973657600000 * d1 + 1139736576000 * d2 + 113973657601 * d3
    number = (number + 111411200 * d4 + 6963200 * d5 + 69632 * d6 + 4096 * d7) % 492581209243648001
    right = (number - 1503238553600000 * (d6 // 12)) // 30064771072000000
    box = (
        (-3189, 65535),
        (-1, 2),
        (-162972, 999999),
        (-946, 999),
        (-59512, 65535),
        (-559, 999),
        (-27331, 65535),
    )
    return problem(left, right, *box, (-1765, 4095))


def arguments_that_seldom_count() -> Problem:
    """What differs nearly everywhere is above another argument of a minimum nearly everywhere."""
    d0, d1, d2, d3, d4, _, d6, d7 = D
    inner = 3 * (maximum((d0 + d4) // 3 + d4 // 1024, 3 * (d4 // 1024) + d0, d4 - 20) // 6) + d3
    count = 2 * (minimum(2 * d3 + 14, inner) // 4) + d2

    def around(q: Expr) -> Expr:
        e = 2 * (minimum(d4 + 29, maximum((2 * q + d0 + d4) // 3, 2 * q + d4, d0 - 25)) // 128) + d1
        return maximum((e + d3) // 3, e, d3 - 43)

    left, right = around(((count // 10 + d7) // 32 + d6) // 24), around((count + 320 * d6 + 10 * d7) // 7679)
    box = (0, 4095), (0, 7), (0, 2), (0, 999), (0, 999999), (0, 7), (0, 65535), (0, 2147483646)
    return problem(left, right, *box)


@pytest.mark.parametrize(("made", "factor"), [(dividends_that_meet, 1), (arguments_that_seldom_count, 5)])
def test_points_are_aimed_at_what_loses_the_difference(made: Callable[[], Problem], factor: int) -> None:
    asked = made()
    for times in sorted({1, 5, factor}):
        found = sat_sweeping.decide(asked, times * sat_sweeping.BUDGET)
        assert found.status == "fails" or (found.status == "open" and times != factor)
        assert found.status == "open" or asked.violated_by(found.point)


def test_dividends_are_compared_only_where_machine_integers_hold_them() -> None:
    atoms = Definitions()
    atoms.lo, atoms.hi = [1, 0, 0, 0, 0], [1, 2**21, 2**27, 2, 2]
    atoms.variables = {D[0]: {1: 1}, D[1]: {2: 1}}
    atoms.quotients = {3: ({1: 2**40}, 2**60), 4: ({2: 2**33}, 2**59 - 1)}
    small = [np.arange(64, dtype=np.int64)] * 2
    assert _apart(atoms, atoms.computed(small)) == [{4: 1, 3: -1}]
    exact = [x.astype(object) for x in small]
    assert _apart(atoms, atoms.computed(exact)) == [{4: 1, 3: -1}]
    # a dividend that is nearly the same, of the same divisor
    atoms.quotients[4] = {0: 1, 1: 2**40}, 2**60
    assert _apart(atoms, atoms.computed(small)) == [{4: 1, 3: -1}]
    atoms.quotients[4] = {0: 1, 1: 2**40, 3: 5}, 2**60
    assert _apart(atoms, atoms.computed(small)) == [{3: 5}, {4: 1, 3: -1}]


def test_random_choices_are_the_same_every_time() -> None:
    asked = dividends_that_meet()
    assert sat_sweeping.decide(asked) == sat_sweeping.decide(asked)
