"""The verdict on an overlap of constraint rules, or of a rule for expressions with one."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ...core.condition import FALSE
from ...core.rewrite import ConstraintRule, Rule
from ..solve import reduced
from ..verdict import Status
from .analysis import Kind, Pair, digest, possible
from .constraint_again import join_again, may_combine
from .constraint_further import examine_further, examine_opaque
from .constraint_instances import DomainExamination
from .constraint_joining import (
    QUESTIONS,
    SINGLE,
    ConstraintJoin,
    ConstraintStep,
    join_constraints,
)
from .constraint_overlap import ConstraintOverlap, statement_of
from .constraint_posed import Posed, posed
from .domains import Domain, DomainMove, Domains
from .hiding import examine_hiding_domains
from .joining import LIMITS
from .linear_form import joined_by_linear_form
from .overlap import matched
from .remainders import CONTRADICTORY, by_remainders
from .rewriting import Circle, Examined
from .solutions import joined_by_solutions, joined_by_vanishing, still_seen
from .tightening import joined_by_tightening

__all__ = [
    "BY_LINEAR_FORM",
    "BY_REMAINDERS",
    "BY_SEEING",
    "BY_SOLUTIONS",
    "BY_TIGHTENING",
    "BY_VANISHING",
    "constraint_key",
    "decide_constraint_pair",
    "further_verdict",
]

#: So many instances come before symbols; the others only where symbols do not decide.
_FIRST = 60
#: How many questions are asked about a rule for expressions inside a constraint.
_INSIDE = 24
_NO_INSTANCE = "no instance is known to which both rules apply"
#: Why a pair joins of which no steps are counted.
BY_TIGHTENING = "both rules only narrow bounds, monotonely"
BY_LINEAR_FORM = "constraints on sums have one form"
BY_REMAINDERS = "remainders of one expression end in one, or nowhere"
BY_SOLUTIONS = "constraints on one expression end in what their solutions say"
BY_VANISHING = "what is left always holds"
BY_SEEING = "the rule sees the same on both sides"
_OWN = (
    "constraint_again",
    "constraint_further",
    "constraint_instances",
    "constraint_joining",
    "constraint_overlap",
    "constraint_pairs",
    "constraint_posed",
    "domains",
    "draws",
    "linear_form",
    "remainders",
    "solutions",
    "tightening",
)


def constraint_key(o: ConstraintOverlap, rules: Sequence[Rule], constraints: Sequence[ConstraintRule]) -> str:
    """What a verdict on such a pair depends on: the pair, all rules, and the program."""
    parts = [digest(*_OWN), o.name, o.statement()]
    parts += [f"{r} {r.choose}" for r in matched(rules)] + [f"{r} {r.choose}" for r in constraints]
    return hashlib.blake2b("\n".join(parts).encode(), digest_size=16).hexdigest()


def decide_constraint_pair(
    o: ConstraintOverlap, rules: Sequence[Rule], constraints: Sequence[ConstraintRule], worlds: dict[Any, Any]
) -> Pair:
    """The verdict on one overlap.

    A domain with two normal forms decides, also against symbols; where there is none among those that are tried, a common
    result in every case, with symbols for all constants, expressions and ranges.
    """
    base = Pair(o.name, o.outer.name, o.inner.name, o.place, o.statement(), Kind.UNDECIDED, constraints=True)
    trivial = _trivial(o)
    if trivial:
        return base.but(kind=Kind.TRIVIAL, reason=trivial)
    cases = posed(o)
    open_ = [p for p in cases if not p.never]
    why = next((p.never for p in cases if p.never), "")
    spent = 0
    live: list[Posed] = []
    for p in open_:
        never, used = _refuted(p)
        spent += used
        why = never or why
        if not never:
            live.append(p)
    base = base.but(resources=spent)
    if not live:
        return base.but(kind=Kind.CONTRADICTORY, reason=why)
    domains = worlds.setdefault("domains", Domains(constraints, matched(rules)))
    try:
        examination = DomainExamination(o, live, domains)
        found = examination.until(_FIRST)
        joins = _joined(o, live, rules, constraints) if found.witness is None else None
        if found.witness is None and joins is None and joined_by_tightening(o, constraints):
            end = "the largest bounds within these that neither rule changes, or nowhere"
            return _ended(o, base, BY_TIGHTENING, "bounds", end)
        if found.witness is None and joins is None:
            found = examination.until()
        if found.witness is None and (
            joins is None or any(s.chosen for j in joins for s in (*j.left, *j.right))
        ):
            found = examination.wide()
    except Circle as circle:
        return base.but(reason=f"steps lead back to where they came from: {circle}")
    base = base.but(tried=found.tried, joined=found.joined, given_up=found.given_up)
    if found.witness is not None:
        return _apart(base, found)
    if joins is None:
        return further_verdict(o, base.but(reason=_open(found)), rules, constraints)
    if not joins:
        return base.but(kind=Kind.CONTRADICTORY, reason="every case contradicts itself")
    # the steps see symbols for rests: where summands combine, the ends may be others
    left = _Left(o, live, base, rules, constraints)
    for held in (_by_opaque_domains(left), _by_hiding_domains(left, brief=True)):
        if held.kind is Kind.NOT_JOINABLE:
            return held
    return _joinable(base.but(statement=live[0].overlap.statement()), joins)


def _refuted(p: Posed) -> tuple[str, int]:
    """Why a case cannot be, or nothing, and what it took to know."""
    names = tuple(v for side in (p.first, p.second) for b in side for v in b.e.variables())
    status, how, used = possible(p.overlap.name, p.given, names)
    if status is Status.UNDECIDED and reduced(p.given, FALSE, LIMITS).proved:
        status, how = Status.VACUOUS, "the reduction to linear arithmetic"
    return f"no integers satisfy what is known of both, by {how}" if status is Status.VACUOUS else "", used


@dataclass(frozen=True)
class _Left:
    """A pair that is open, with the cases that are left of it and what is known so far."""

    overlap: ConstraintOverlap
    cases: Sequence[Posed]
    base: Pair
    rules: Sequence[Rule]
    constraints: Sequence[ConstraintRule]

    def with_instances(self, found: Examined[Domain, DomainMove]) -> Pair:
        """What is known with further instances."""
        base = self.base.but(
            tried=self.base.tried + found.tried,
            joined=self.base.joined + found.joined,
            given_up=self.base.given_up + found.given_up,
        )
        return _apart(base.but(reason=""), found) if found.witness is not None else base


def further_verdict(
    o: ConstraintOverlap,
    base: Pair,
    rules: Sequence[Rule],
    constraints: Sequence[ConstraintRule],
) -> Pair:
    """The verdict on a pair that is open, by one attempt after the other; ``base`` is what is known so far.

    The cases are posed anew, so that nothing depends on what was asked before.
    """
    left = _Left(o, [p for p in posed(o) if not p.never and not _refuted(p)[0]], base, rules, constraints)
    for attempt in ATTEMPTS:
        try:
            found = attempt(left)
        except Circle as circle:
            return left.base.but(reason=f"steps lead back to where they came from: {circle}")
        if found is not None:
            if found.kind is not Kind.UNDECIDED:
                return found
            left = replace(left, base=found)
    known = left.base
    reason = (
        f"{known.given_up} instances reach too much"
        if known.given_up
        else f"all {known.joined} instances join"
    )
    return known.but(reason=reason if known.tried else _NO_INSTANCE)


#: A verdict, more that is known, or nothing.
Attempt = Callable[[_Left], Pair | None]


def _by_linear_form(left: _Left) -> Pair | None:
    """Constraints on sums have one form."""
    if not joined_by_linear_form(left.overlap, left.constraints):
        return None
    end = "the same sum without constant and factor, or nowhere"
    return _ended(left.overlap, left.base, BY_LINEAR_FORM, "the form of sums", end)


def _by_remainders(left: _Left) -> Pair | None:
    """Remainders of one expression end in one, or nowhere."""
    said = {by_remainders(p, left.constraints) for p in left.cases}
    if "" in said:
        return None
    if said == {CONTRADICTORY}:
        return left.base.but(
            kind=Kind.CONTRADICTORY, reason="one rule says that there is none, the other names one"
        )
    end = "one remainder, or nowhere"
    return _ended(left.overlap, left.base, BY_REMAINDERS, "remainders of one expression", end)


def _by_solutions(left: _Left) -> Pair | None:
    """Constraints on one expression end in what their solutions say."""
    if not all(joined_by_solutions(p, left.constraints, left.rules) for p in left.cases):
        return None
    end = "one remainder, and the least and the greatest solution, or nowhere"
    return _ended(left.overlap, left.base, BY_SOLUTIONS, "constraints on one expression", end)


def _by_vanishing(left: _Left) -> Pair | None:
    """What is left on either side always holds."""
    if not all(joined_by_vanishing(p) for p in left.cases):
        return None
    return _ended(left.overlap, left.base, BY_VANISHING, "constraints that always hold", "everywhere")


def _by_seeing(left: _Left) -> Pair | None:
    """Both rules apply on the side of the other one, and make the same."""
    if not all(still_seen(p, left.constraints) for p in left.cases):
        return None
    end = "the sum as it is rewritten, and the bounds that it leaves"
    return _ended(left.overlap, left.base, BY_SEEING, "the pair, each once", end)


def _by_domains(left: _Left) -> Pair | None:
    """Further domains, not of a rule for expressions inside one of two constraints: most of them reach too much.

    They have a memory of their own: how much is reached may depend on what is known.
    """
    o = left.overlap
    if o.at is not None and len(o.start) > 1:
        return None
    return left.with_instances(examine_further(o, left.cases, Domains(left.constraints, matched(left.rules))))


def _by_hiding_domains(left: _Left, *, brief: bool = False) -> Pair:
    """Domains that hide something from the rules."""
    found = examine_hiding_domains(
        left.overlap, left.cases, left.constraints, matched(left.rules), brief=brief
    )
    return left.with_instances(found)


def _by_opaque_domains(left: _Left) -> Pair:
    """Domains of expressions that hardly any rule rewrites."""
    return left.with_instances(
        examine_opaque(left.overlap, left.cases, left.constraints, matched(left.rules))
    )


def _by_joining_again(left: _Left) -> Pair | None:
    """A common result in every case, with few rules and much patience."""
    joins: list[ConstraintJoin] = []
    for p in left.cases:
        made = join_again(p, left.constraints, matched(left.rules))
        if made is None:
            return None
        joins += made
    if not joins:
        return left.base.but(kind=Kind.CONTRADICTORY, reason="every case contradicts itself")
    return _joinable(left.base.but(reason="", statement=left.cases[0].overlap.statement()), joins)


#: What is tried of a pair that nothing else decides, one after the other.
ATTEMPTS: tuple[Attempt, ...] = (
    _by_linear_form,
    _by_remainders,
    _by_solutions,
    _by_vanishing,
    _by_seeing,
    _by_domains,
    _by_opaque_domains,
    _by_hiding_domains,
    _by_joining_again,
)


def _joined(
    o: ConstraintOverlap,
    live: Sequence[Posed],
    rules: Sequence[Rule],
    constraints: Sequence[ConstraintRule],
) -> list[ConstraintJoin] | None:
    """A common result in every case, or nothing."""
    joins: list[ConstraintJoin] = []
    if any(map(may_combine, live)):
        return None
    for p in live:
        made = join_constraints(p, constraints, matched(rules), QUESTIONS if o.at is None else _INSIDE)
        if made is None:
            return None
        joins += made
    return joins


def _ended(o: ConstraintOverlap, base: Pair, reason: str, which: str, end: str) -> Pair:
    """The verdict where an argument says in what both sides end, and not after how many steps."""
    steps: tuple[tuple[str, str], ...] = ((f"rules for {which}, as long as they apply", end),)
    second = steps
    if isinstance(o.inner, Rule):
        # what the rule for expressions has rewritten on one side it rewrites on the other
        steps = (
            (o.inner.name, "the same expression as on the other side, but for factor and constant"),
            *steps,
        )
    return base.but(kind=Kind.JOINABLE, reason=reason, first=steps, second=second, meets=end)


def _open(found: Examined[Domain, DomainMove]) -> str:
    if not found.tried:
        return _NO_INSTANCE
    return (
        f"{found.given_up} instances reach too much"
        if found.given_up
        else f"all {found.joined} instances join"
    )


def _trivial(o: ConstraintOverlap) -> str:
    if set(o.first) == set(o.second):
        return "both results are the same"
    whole = all(i == j for i, j in o.shared) and len(o.shared) == len(o.outer.left)
    if whole and isinstance(o.inner, ConstraintRule) and o.inner is o.outer and o.inner.choose in SINGLE:
        return "a strategy that is asked twice says the same"
    return ""


def _apart(base: Pair, found: Examined[Domain, DomainMove]) -> Pair:
    w = found.witness
    assert w is not None
    return base.but(
        kind=Kind.NOT_JOINABLE,
        first=_derivation(w.left),
        second=_derivation(w.right),
        witness=str(w.instance),
        domain=w.instance.where(),
        forms=(w.left[-1].after.beside(w.instance), w.right[-1].after.beside(w.instance)),
        rank=w.instance.rank[:3],
    )


def _derivation(moves: Sequence[DomainMove]) -> tuple[tuple[str, str], ...]:
    return tuple((m.rule.name, m.after.beside(moves[0].before)) for m in moves)


def _joinable(base: Pair, joins: Sequence[ConstraintJoin]) -> Pair:
    parts = [(_steps(j.left), _steps(j.right), statement_of(j.meets)) for j in joins]
    steps = [s for j in joins for s in (*j.left, *j.right)]
    return base.but(
        kind=Kind.JOINABLE,
        first=parts[0][0],
        second=parts[0][1],
        meets=parts[0][2],
        chosen=any(s.chosen for s in steps),
        cases=tuple(parts[1:]),
    )


def _steps(steps: Sequence[ConstraintStep]) -> tuple[tuple[str, str], ...]:
    return tuple((s.rule, statement_of(s.after)) for s in steps)
