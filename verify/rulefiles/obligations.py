"""The obligations of a rule of a rule file.

To the outside a rule owes to be *sound* where it says anything at all, and as findings that it *needs* each of its
conditions and, over unbounded integers, that its right side overflows no machine type where its left side fits.  A
:class:`StatedObligation` holds the rule in its own words and is decided in its own way (:mod:`.prove`), so that a large
file is dealt out to processes as text.

Inside, soundness is a list of ordinary obligations of the core language (:func:`expanded`), case by case
(:mod:`.cases`): *sound* (both sides are equal where both have a value; an equivalence of truth values in both
directions), *defined* (the right side has a value where the left one has), *no overflow* (where overflow is undefined:
the right side fits where the left one does).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from ...core.condition import FALSE, TRUE, Condition, all_of, any_of, negate, show_condition
from ..obligations import Obligation
from .cases import Case, Number, Truth2, cases
from .json_form import parse_json_rules, rules_to_json
from .rule import RuleFile, StatedRule, widened
from .terms import show

if TYPE_CHECKING:
    from ..solve import Budget
    from ..verdict import Verdict

__all__ = [
    "FAMILY",
    "NO_NEW_OVERFLOW",
    "SOUND",
    "StatedObligation",
    "expanded",
    "occurs",
    "stated_rule_obligations",
]

#: The family of these obligations, and the kind of those that decide about a rule.
FAMILY = "stated rule"
SOUND = "sound"
#: How the finding about machine integers begins, as for rules of the catalogue, and the types it is about.
NO_NEW_OVERFLOW = "no new overflow"
MACHINE_TYPES = (32, 64)


class StatedObligation(Obligation):
    """One thing that a rule owes, in the rule's own words: ``source`` is the rule as JSON text.

    ``condition`` is the number of the condition that is asked about, ``None`` where soundness is.  ``bits`` is the machine
    type about which it is asked whether the right side overflows it where the left side does not.  ``hypotheses`` and
    ``goal`` say the same in the core language; they are made when somebody wants them.
    """

    condition: int | None
    bits: int

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
        fields: dict[str, Any] = {
            "family": FAMILY,
            "subject": rule.name,
            "kind": f"{NO_NEW_OVERFLOW}, int{bits}" if bits else kind,
            "question": "valid" if sound else "exists",
            "show": (),
            "gate": sound and not bits,
            "where": rule.where,
            "claim": rule.statement() if claim is None else claim,
            "tags": (),
            "width": rule.semantics.width,
            "source": source,
            "condition": condition,
            "bits": bits,
        }
        for name, value in fields.items():
            object.__setattr__(self, name, value)

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
        if self.condition is None:
            claims = [(o.hypotheses, o.goal) for o in expanded(self.rule, total=True)]
            object.__setattr__(self, "hypotheses", ())
            object.__setattr__(self, "goal", all_of(any_of((negate(all_of(h)), g)) for h, g in claims))
        else:
            object.__setattr__(self, "hypotheses", _failing(self.rule, self.condition))
            object.__setattr__(self, "goal", FALSE)
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


def source_of(r: StatedRule) -> str:
    """A rule as text, without its name and place: what it states and nothing else."""
    return rules_to_json(RuleFile("", (replace(r, name="rule", doc="", where=""),)))


@lru_cache(maxsize=16)
def rule_of(source: str) -> StatedRule:
    """The rule of a source."""
    return parse_json_rules(source, "rule").rules[0]


def expanded(r: StatedRule, *, total: bool = False) -> Iterator[Obligation]:
    """Soundness as ordinary obligations; none where every case is true by the laws of sums alone.

    Their expressions may divide by what is zero outside of their case, with ``total`` by nothing that ever is.
    Raises :class:`~indexproof.core.errors.TooLargeError` for a rule with too many cases.
    """
    for case in cases(r, total=total):
        place = _place(case)
        for kind, hypotheses, goal in _claims(r, case):
            given = (*case.decided, *case.given, *hypotheses)
            yield Obligation(
                FAMILY,
                r.name,
                kind + place,
                tuple(h for h in given if h is not TRUE),
                goal,
                where=r.where,
                claim=r.statement(),
            )


def occurs(r: StatedRule) -> Iterator[tuple[Condition, ...]]:
    """Case by case, what holds where the rule says something."""
    for case in cases(r):
        ok = _has_value(case.left)
        if r.semantics.overflow == "nowrap" and case.right is not None:
            ok = all_of((ok, negate(_lost(case.right))))
        yield tuple(c for c in (*case.decided, *case.given, ok) if c is not TRUE)


def _place(case: Case) -> str:
    return f" where {', '.join(map(show_condition, case.decided))}" if case.decided else ""


def _has_value(side: Number | Truth2) -> Condition:
    """Where a side has a value."""
    if isinstance(side, Number):
        return FALSE if side.zero else side.fits
    return any_of((side.true, side.false)) if side.hole else negate(side.lost)


def _lost(side: Number | Truth2) -> Condition:
    """Where something in a side overflows that must not."""
    return negate(side.fits) if isinstance(side, Number) else side.lost


def _claims(r: StatedRule, case: Case) -> Iterator[tuple[str, tuple[Condition, ...], Condition]]:
    """The obligations of one case: kind, hypotheses besides those of the case, goal."""
    left, right = case.left, case.right
    assert right is not None
    given = _has_value(left)
    if r.semantics.overflow == "nowrap":
        given = all_of((given, negate(_lost(right))))
    elif _lost(right) is not FALSE:
        yield "no overflow", (given,), negate(_lost(right))
    valued = _has_value(right)
    if right.zero if isinstance(right, Number) else right.hole:
        yield "defined", (given,), any_of((valued, _lost(right)))
    if valued is FALSE:
        return
    for kind, hypotheses, goal in _equal(left, right, case):
        if goal is not TRUE and all_of(hypotheses) is not FALSE:
            yield kind, (given, valued, *hypotheses), goal


def _equal(
    left: Number | Truth2, right: Number | Truth2, case: Case
) -> Iterator[tuple[str, tuple[Condition, ...], Condition]]:
    if isinstance(left, Number):
        assert isinstance(right, Number)
        yield "sound", (), _same(left, right, case)
        return
    assert isinstance(right, Truth2)
    if left.true is TRUE or left.true is FALSE:
        yield "sound", (), right.true if left.true is TRUE else right.false
    elif right.true is TRUE or right.true is FALSE:
        yield "sound", (), left.true if right.true is TRUE else left.false
    elif left.true != right.true:
        yield "sound ⇒", (left.true,), right.true
        total = _has_value(left) is TRUE and _has_value(right) is TRUE
        yield ("sound ⇐", (right.true,), left.true) if total else ("sound ⇐", (left.false,), right.false)


def _same(left: Number, right: Number, case: Case) -> Condition:
    equal = case.same(left, right)
    return TRUE if case.known.truth(equal) else equal


def _failing(r: StatedRule, k: int) -> tuple[Condition, ...]:
    """Return the condition under which the rule would fail without its condition number ``k``."""
    alternatives = []
    for case in cases(r, without=k, total=True):
        fails = [all_of((*hypotheses, negate(goal))) for _, hypotheses, goal in _claims(r, case)]
        alternatives.append([*case.decided, *case.given, any_of(fails)])
    if not alternatives:
        return (FALSE,)
    common = [c for c in alternatives[0] if all(c in other for other in alternatives[1:])]
    rest = [all_of(c for c in a if c not in common) for a in alternatives]
    return (*common, any_of(rest))
