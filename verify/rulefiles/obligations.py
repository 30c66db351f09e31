"""The obligations of a rule of a rule file.

A rule must be *sound* and not vacuous.  Findings are whether it *needs* each of its conditions and, over unbounded
integers, whether its right side overflows a machine type that its left side fits.  A :class:`StatedObligation` holds the
rule as text and is decided by :mod:`.prove`, so that a large file can be distributed to processes as text.

Internally, soundness is a list of ordinary obligations of the core language (:mod:`.lowering`, :mod:`.cases`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from ...core.condition import FALSE, Condition, all_of, negate
from ..obligation import STATED, Obligation
from .lowering import MACHINE_TYPES, lowered, rule_of, source_of
from .rule import StatedRule, widened
from .terms import show

if TYPE_CHECKING:
    from ..budget import Budget
    from ..verdict import Status, Verdict

#: The kind of the gating obligation of a rule.
SOUND = "sound"
#: Prefix of the kind of the finding about machine integers, as for rules of the catalogue.
NO_NEW_OVERFLOW = "no new overflow"


class StatedObligation(Obligation):
    """An obligation of a stated rule; ``source`` is the rule as JSON text.

    ``condition`` is the index of the condition whose need is asked, ``None`` for soundness.  ``bits`` is the width of the
    machine type for the finding about overflow, else 0.  ``hypotheses`` and ``goal`` state the obligation in the core
    language and are computed lazily.
    """

    condition: int | None
    bits: int
    expects: Status

    def __init__(
        self, rule: StatedRule, source: str, condition: int | None = None, claim: str | None = None, *, bits: int = 0
    ) -> None:
        kind = SOUND if condition is None else f"needs {show(rule.conditions[condition])}"
        # the class is frozen, and hypotheses and goal are properties here
        self.__dict__.update(
            family=STATED,
            subject=rule.name,
            kind=f"{NO_NEW_OVERFLOW}, int{bits}" if bits else kind,
            question="valid" if condition is None else "exists",
            gate=condition is None and not bits,
            where=rule.where,
            claim=rule.statement() if claim is None else claim,
            width=rule.semantics.width,
            source=source,
            condition=condition,
            bits=bits,
            expects=rule.expected,
        )

    @property
    def expected(self) -> Status:
        """The verdict that the file expects of the rule."""
        return self.expects

    @property
    def rule(self) -> StatedRule:
        """The rule, under the name that all rules have in a ``source``; over machine integers if ``bits`` is set."""
        r = rule_of(self.source)
        return widened(r, self.bits) if self.bits else r

    def decided(self, budget: Budget) -> Verdict:
        """Return the verdict."""
        from .findings import decide_needed, decide_overflow
        from .prove import decide_sound

        if self.bits:
            return decide_overflow(self.source, self.bits, budget)
        if self.condition is None:
            return decide_sound(self.source, budget)
        return decide_needed(self.source, self.condition, budget)

    @property
    def without(self) -> StatedRule:
        """The rule without the condition whose need is asked."""
        r, k = self.rule, self.condition
        return r if k is None else replace(r, conditions=(*r.conditions[:k], *r.conditions[k + 1 :]))

    @cached_property
    def hypotheses(self) -> tuple[Condition, ...]:
        """The conditions on a point at which the rule without the condition fails; none for soundness."""
        if self.condition is None:
            return ()
        rule = lowered(self.rule)
        k = len(rule.domain) + self.condition
        return (*rule.given[:k], *rule.given[k + 1 :], negate(rule.goal))

    @cached_property
    def goal(self) -> Condition:
        """The condition that the rule holds wherever it claims something; false for other obligations."""
        rule = lowered(self.rule)
        return FALSE if self.condition is not None else negate(all_of((*rule.given, negate(rule.goal))))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, StatedObligation) and self._identity == other._identity

    def __hash__(self) -> int:
        return hash(self._identity)

    @property
    def _identity(self) -> tuple[str, str, int | None, int]:
        return self.subject, self.source, self.condition, self.bits


def stated_rule_obligations(r: StatedRule) -> Iterator[StatedObligation]:
    """Yield the obligations of one rule."""
    source, claim = source_of(r), r.statement()
    yield StatedObligation(r, source, None, claim)
    for k in range(len(r.conditions)):
        yield StatedObligation(r, source, k, claim)
    if not r.semantics.width:
        for bits in MACHINE_TYPES:
            yield StatedObligation(r, source, None, claim, bits=bits)
