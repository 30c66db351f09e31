"""Instances that are drawn, and how one with two normal forms is made smaller."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import ModuleType

import pytest

from indexproof.core.expr import Expr, Var, integer, var
from indexproof.core.rewrite import Const, Rewrite, rule
from indexproof.rules.catalog import RULES
from indexproof.verify.confluence import Kind, critical_pairs, decide_pair
from indexproof.verify.confluence import analysis as analysis_module
from indexproof.verify.confluence import wide as wide_module
from indexproof.verify.confluence.drawn import drawn_numbers
from indexproof.verify.confluence.ground import Move
from indexproof.verify.confluence.instances import Examined, Instance, examine
from indexproof.verify.confluence.joining import join
from indexproof.verify.confluence.overlap import Overlap, matched
from indexproof.verify.confluence.proposals import narrowed
from indexproof.verify.confluence.rewriting import Witness
from indexproof.verify.confluence.unify import State, is_constantless, is_share, unify
from indexproof.verify.confluence.wide import examine_wide

#: Pairs whose listed instances all join.
_HIDDEN = [
    "quotient_absorbs_digit / quotient_absorbs_summand at x // m #3",
    "quotient_absorbs_digit / quotient_of_remainder at x // m #1",
]


@pytest.mark.parametrize("name", _HIDDEN)
def test_what_is_drawn_shows_two_normal_forms(
    name: str,
    expression_overlaps: dict[str, Overlap],
    check_witness: Callable[[Witness[Instance, Move]], None],
) -> None:
    """Listed instances do not show them."""
    o, used = expression_overlaps[name], matched(RULES.rules)
    assert examine(o, used, {}).witness is None
    witness = examine_wide(o, used, {}).witness
    assert witness is not None
    check_witness(witness)


@rule()
def digit_of_block(x: Expr, a: Const, b: Const) -> Rewrite:
    """A digit of a block is a quotient of what is left of the block."""
    return Rewrite((x // a) % b, (x % (a * b)) // a, when=(a > 8, b > 8))


def test_divisors_that_no_listed_instance_has_are_drawn(
    monkeypatch: pytest.MonkeyPatch, planted: ModuleType
) -> None:
    """A digit above eight of a multiple: nothing says that what is left of the block is a multiple."""
    rules = (digit_of_block, planted.multiple_is_divided)
    apart = [p for o in critical_pairs(rules) if (p := decide_pair(o, rules)).kind is Kind.NOT_JOINABLE]
    assert apart
    monkeypatch.setattr(analysis_module, "examine_wide", lambda *_: Examined(0, 0, 0, None))
    assert all(decide_pair(o, rules).kind is not Kind.NOT_JOINABLE for o in critical_pairs(rules))


def test_a_witness_is_made_smaller(
    monkeypatch: pytest.MonkeyPatch, expression_overlaps: dict[str, Overlap]
) -> None:
    o, used = expression_overlaps[_HIDDEN[0]], matched(RULES.rules)
    small = examine_wide(o, used, {}).witness
    monkeypatch.setattr(wide_module, "_SMALLER", 0)
    large = examine_wide(o, used, {}).witness
    assert small is not None
    assert large is not None
    assert small.instance.rank < large.instance.rank


def test_the_same_is_drawn_every_time(expression_overlaps: dict[str, Overlap]) -> None:
    o = expression_overlaps[_HIDDEN[0]]
    one, two, other = (list(wide_module._Draws(o, batch)) for batch in (0, 0, 1))
    assert one
    assert one == two
    assert one != other


def test_numbers_that_are_drawn_satisfy_what_is_known() -> None:
    import numpy as np

    a, b, c = (var(n, "const") for n in "abc")
    known = (a > 1, a.divides(b), b.ne(c), c < 0)
    found = drawn_numbers((a, b, c), known, np.random.default_rng(5))
    assert len(found) > 100
    for row in found:
        at: dict[Var, Expr] = {v: integer(n) for v, n in zip((a, b, c), row, strict=True)}
        assert all(h.substitute(at).value for h in known)  # type: ignore[attr-defined]


def test_a_pair_that_joins_whatever_its_constants_are_has_no_witness(planted: ModuleType) -> None:
    rules = planted.SOUND[0] if isinstance(planted.SOUND[0], tuple) else planted.SOUND[0].rules
    tried = 0
    for o in critical_pairs(rules):
        found = examine_wide(o, rules, {})
        assert found.witness is None
        tried += found.tried
    assert tried > 50


# ------------------------------------------------------------------------------------------ what holds no constant
def test_what_two_variables_share_holds_no_constant_where_each_has_one_of_its_own() -> None:
    """Of ``x·d + r = y·e + s`` all constants are written out, of ``x + 1 = y + 2`` only their difference is."""
    x, y, r, s = var("x", "expr"), var("y", "expr"), var("r", "rest"), var("s", "rest")
    d, e = var("d", "const"), var("e", "const")
    shared = [v for state in unify(((x * d + r, y * e + s),), State()) for v in state.of(x).variables()]
    assert any(is_constantless(v) for v in shared)
    for state in unify(((x + 1, y + 2),), State()):
        assert not any(is_constantless(v) for v in state.of(x).variables())


def test_a_complement_has_no_constant_beside_what_is_shared(
    expression_overlaps: dict[str, Overlap],
) -> None:
    o = expression_overlaps["multiple_leaves_quotient / complement_leaves_quotient #1"]
    (case,) = narrowed(o).overlaps
    (minuend,) = [h for h in case.hypotheses if h not in o.hypotheses and "= 0" in str(h).replace("==", "=")]
    assert all(v.kind == "const" for v in minuend.variables())
    assert decide_pair(o, RULES.rules).kind is Kind.JOINABLE


def test_of_constants_that_contradict_each_other_nothing_is_asked_for_ever(
    expression_overlaps: dict[str, Overlap],
) -> None:
    """Where nothing satisfies the conditions every share of a constant is nothing, and is so once."""
    o = expression_overlaps["multiple_leaves_quotient / complement_leaves_quotient #1"]
    share = next(v for v in o.variables if is_share(v))
    never = replace(o, hypotheses=(*o.hypotheses, share > 0, share < 0))
    join(never, matched(RULES.rules))
