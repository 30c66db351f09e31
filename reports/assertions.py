"""Assertions for users' tests; a failure shows the block that the command line prints."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from ..core.errors import InputError
from ..core.indexing_map import IndexingMap
from ..core.op import Case, Op
from ..core.rewrite import ConstraintRule, Rule
from ..verify.budget import MAX_RANK, ranks
from ..verify.catalogue import Claim
from ..verify.concrete import equal_maps
from .proofs import prove

__all__ = ["assert_equal_maps", "assert_op_sound", "assert_rule_sound"]


def assert_equal_maps(
    left: IndexingMap, right: IndexingMap, *, mode: Literal["relation", "pointwise"] = "relation"
) -> None:
    """Assert that two maps have the same relation.

    With ``mode="pointwise"`` they must also read the same elements for equal values of their range variables, as
    replacing one expression by another requires.  Raises :class:`AssertionError` with a counterexample, and also if the
    budget does not suffice to decide.
    """
    __tracebackhide__ = True  # pytest shows the caller's line
    answer = equal_maps(left, right, mode=mode)
    if not answer.proved:
        raise AssertionError(f"\n{answer}")


def assert_rule_sound(*rules: Rule | ConstraintRule) -> None:
    """Assert that rules declared with ``@rule`` are sound and defined, and fulfil all their other gating obligations.

    Raises :class:`AssertionError` with a counterexample for each rule that does not, and for each that is undecided.
    """
    __tracebackhide__ = True
    _assert_proved(rules)


def assert_op_sound(op: type[Op], max_rank: int = MAX_RANK) -> None:
    """Assert for all cases of an op declared with ``@op`` that both its maps state its relation, in bounds and defined.

    Raises :class:`AssertionError` with a counterexample, and :class:`InputError` for an op without cases.
    """
    __tracebackhide__ = True
    cases: list[Case] = [case for rank in ranks(max_rank) for case in op.cases(rank)]
    if not cases:
        said = f"{op.__name__} has no cases up to rank {max_rank}"
        raise InputError(said, expected="`cases` that yield some")
    _assert_proved(cases)


def _assert_proved(claims: Iterable[Claim]) -> None:
    __tracebackhide__ = True
    found = prove(list(claims), findings=False)
    if not found.proved:
        raise AssertionError("\n" + "\n\n".join(map(str, found.refutations)))
