"""The obligations of a rule of a rule file.

To the outside a rule owes to be *sound* where it says anything at all, and as findings that it *needs* each of its
conditions and, over unbounded integers, that its right side overflows no machine type where its left side fits.  A
:class:`StatedObligation` holds the rule in its own words and is decided in its own way (:mod:`.prove`), so that a large
file is dealt out to processes as text.

Inside, soundness is a list of ordinary obligations of the core language (:mod:`.lowering`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ...core.condition import FALSE, Condition, all_of, negate
from ..obligation import Obligation
from .lowering import FAMILY, MACHINE_TYPES, lowered, rule_of, source_of
from .rule import StatedRule, widened
from .terms import show

if TYPE_CHECKING:
    from ..budget import Budget
    from ..verdict import Status, Verdict

#: The kind of the obligations that decide about a rule.
SOUND = "sound"
#: How the finding about machine integers begins, as for rules of the catalogue.
NO_NEW_OVERFLOW = "no new overflow"


class StatedObligation(Obligation):
    """One thing that a rule owes, in the rule's own words: ``source`` is the rule as JSON text.

    ``condition`` is the number of the condition that is asked about, ``None`` where soundness is.  ``bits`` is the machine
    type about which it is asked whether the right side overflows it where the left side does not.  ``hypotheses`` and
    ``goal`` say the same in the core language; they are made when somebody wants them.
    """

    condition: int | None
    bits: int
    expects: Status

    def __init__(
        self,
        rule: StatedRule,
        source: str,
        condition: int | None = None,
        claim: str | None = None,
        *,
        bits: int = 0,
    ) -> None:
        sound = condition is None
        kind = SOUND if condition is None else f"needs {show(rule.conditions[condition])}"
        super().__init__(
            FAMILY,
            rule.name,
            f"{NO_NEW_OVERFLOW}, int{bits}" if bits else kind,
            hypotheses=(),
            goal=FALSE,
            question="valid" if sound else "exists",
            gate=sound and not bits,
            where=rule.where,
            claim=rule.statement() if claim is None else claim,
            width=rule.semantics.width,
            source=source,
        )
        for name, value in (("condition", condition), ("bits", bits), ("expects", rule.expected)):
            object.__setattr__(self, name, value)
        for name in ("hypotheses", "goal"):
            object.__delattr__(self, name)

    @property
    def expected(self) -> Status:
        """The verdict that the file expects of the rule."""
        return self.expects

    @property
    def rule(self) -> StatedRule:
        """The rule, under the name that all rules have in a ``source``; of machine integers if these are asked about."""
        r = rule_of(self.source)
        return widened(r, self.bits) if self.bits else r

    def decided(self, budget: Budget) -> Verdict:
        """The verdict."""
        from .findings import decide_needed, decide_overflow
        from .prove import decide_sound

        if self.bits:
            return decide_overflow(self.source, self.bits, budget)
        if self.condition is None:
            return decide_sound(self.source, budget)
        return decide_needed(self.source, self.condition, budget)

    def __getattr__(self, name: str) -> Any:
        if name not in ("hypotheses", "goal"):
            raise AttributeError(name)
        rule = lowered(self.rule)
        fails: Condition = negate(rule.goal)
        given: tuple[Condition, ...] = ()
        goal: Condition = FALSE
        if self.condition is None:
            goal = negate(all_of((*rule.given, fails)))
        else:
            k = len(rule.domain) + self.condition
            given = (*rule.given[:k], *rule.given[k + 1 :], fails)
        object.__setattr__(self, "hypotheses", given)
        object.__setattr__(self, "goal", goal)
        return self.__dict__[name]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, StatedObligation) and self._identity == other._identity

    def __hash__(self) -> int:
        return hash(self._identity)

    @property
    def _identity(self) -> tuple[str, str, int | None, int]:
        return self.subject, self.source, self.condition, self.bits


def stated_rule_obligations(r: StatedRule) -> Iterator[StatedObligation]:
    """The obligations of one rule."""
    source, claim = source_of(r), r.statement()
    yield StatedObligation(r, source, None, claim)
    for k in range(len(r.conditions)):
        yield StatedObligation(r, source, k, claim)
    if not r.semantics.width:
        for bits in MACHINE_TYPES:
            yield StatedObligation(r, source, None, claim, bits=bits)
