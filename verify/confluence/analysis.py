"""The critical pairs of a rule set, each with what is known about it."""

from __future__ import annotations

import hashlib
import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Any

from ...core.condition import FALSE, Condition
from ...core.expr import Var
from ...core.rewrite import Rule
from ..obligations import Obligation
from ..solve import Budget, exists
from ..verdict import Status
from .again import join_again
from .collisions import examine_collisions, examine_coprime
from .dependent import REWRITTEN, examine_dependent
from .further import examine_further
from .ground import Circle, Ground, Move
from .hiding import examine_hiding
from .instances import Instance, examine
from .joining import Join, Known, SymbolicStep, join
from .overlap import Overlap, matched, overlaps
from .proposals import narrowed
from .rewriting import Examined, Witness
from .unify import is_const
from .wide import APART, GIVEN_UP, examine_wide

__all__ = [
    "Kind",
    "Pair",
    "critical_pairs",
    "decide_pair",
    "digest",
    "further_pair",
    "held_against",
    "pair_key",
    "possible",
]


class Kind(StrEnum):
    """What is known about a critical pair."""

    JOINABLE = "JOINABLE"
    NOT_JOINABLE = "NOT JOINABLE"
    UNDECIDED = "UNDECIDED"
    CONTRADICTORY = "CONTRADICTORY"
    TRIVIAL = "TRIVIAL"


#: So many of the smallest instances of a case are rewritten; those of the pair itself are rewritten besides.
_FEWER = 6
#: So many batches of instances are drawn where nothing joins the pair; one where it joins.
_BATCHES = 4
#: What every pair has.
_ALWAYS = frozenset({"name", "outer", "inner", "place", "statement", "kind"})


#: A derivation: rules, and what they made.
Steps = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Pair:
    """The verdict on one critical pair, as texts, so that it can be kept in a file.

    ``first`` and ``second`` are derivations ``(rule, result)`` from the two sides to a common result, or, with a
    ``witness``, from the witness to its two normal forms.  ``chosen`` says that a step lets a value be chosen.
    ``tried`` instances were rewritten, ``joined`` of them join, ``given_up`` reach too many expressions.
    ``cases`` are the derivations and meeting points of further cases of what strategies propose.
    ``notes`` are steps ``rule: before → after`` that were met on the way and do not descend as a whole.
    """

    name: str
    outer: str
    inner: str
    place: str
    statement: str
    kind: Kind
    reason: str = ""
    first: tuple[tuple[str, str], ...] = ()
    second: tuple[tuple[str, str], ...] = ()
    meets: str = ""
    chosen: bool = False
    tried: int = 0
    joined: int = 0
    given_up: int = 0
    witness: str = ""
    domain: str = ""
    forms: tuple[str, str] = ("", "")
    rank: tuple[int, int, int] = (0, 0, 0)
    resources: int = 0
    notes: tuple[str, ...] = field(default=())
    cases: tuple[tuple[Steps, Steps, str], ...] = ()
    #: whether it is a pair of rules for constraints, or of one with a rule for expressions
    constraints: bool = False

    def but(self, **changes: Any) -> Pair:
        """The same with other values."""
        return replace(self, **changes)

    def to_json(self) -> dict[str, Any]:
        """Plain data; :meth:`from_json` reads it."""
        return {
            k: v
            for k, v in asdict(self).items()
            if k in _ALWAYS or v not in ("", (), 0, False, ("", ""), (0, 0, 0))
        }

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> Pair:
        """The pair that was written.

        Raises :class:`TypeError`, :class:`ValueError` or :class:`KeyError` for anything else.
        """
        values = dict(data)
        values["kind"] = Kind(values["kind"])
        for name in ("first", "second"):
            values[name] = tuple((str(a), str(b)) for a, b in values.get(name, ()))
        values["cases"] = tuple(
            (tuple((str(a), str(b)) for a, b in x), tuple((str(a), str(b)) for a, b in y), str(m))
            for x, y, m in values.get("cases", ())
        )
        for name in ("forms", "rank", "notes"):
            if name in values:
                values[name] = tuple(values[name])
        return Pair(**values)


def critical_pairs(rules: Sequence[Rule], among: Iterable[str] = ()) -> Iterator[Overlap]:
    """Every overlap of two rules that are matched, and of a rule with itself.

    Rules at the same place are met once.  With names in ``among`` only overlaps in which one of them takes part.
    """
    wanted = set(among)
    used = matched(rules)
    for i, outer in enumerate(used):
        for j, inner in enumerate(used):
            if wanted and outer.name not in wanted and inner.name not in wanted:
                continue
            for o in overlaps(outer, inner):
                if o.at_root and j < i and not isinstance(inner.left, Var):
                    continue
                yield o


@cache
def digest(*more: str) -> str:
    """A digest of the text of what decides here: verdicts that are kept are those of this program."""
    here = Path(__file__).parent
    own = (
        "again",
        "analysis",
        "cases",
        "collisions",
        "dependent",
        "draws",
        "further",
        "ground",
        "hiding",
        "instances",
        "joining",
        "overlap",
        "proposals",
        "rewriting",
        "unify",
        "wide",
        *more,
    )
    names = [here / f"{n}.py" for n in own]
    names += [here.parents[1] / "core" / f"{n}.py" for n in ("choose", "rewrite", "expr")]
    text = hashlib.blake2b(digest_size=16)
    for p in names:
        text.update(p.read_bytes() if p.exists() else b"")
    return text.hexdigest()


def pair_key(o: Overlap, rules: Sequence[Rule]) -> str:
    """What a verdict on a pair depends on: the pair, the rules, and the program."""
    parts = [digest(), o.name, o.statement(), *(f"{r} {r.choose}" for r in matched(rules))]
    return hashlib.blake2b("\n".join(parts).encode(), digest_size=16).hexdigest()


def decide_pair(o: Overlap, rules: Sequence[Rule], worlds: dict[Any, Ground] | None = None) -> Pair:
    """The verdict on one critical pair.

    A symbolic join by steps that are taken whatever the values are decides.  Where it chooses values, instances come first:
    one without a common result decides, because the strategy of a rule may not propose what was chosen.
    """
    used = matched(rules)
    place = "" if o.at_root else str(o.at)
    base = Pair(o.name, o.outer.name, o.inner.name, place, o.statement(), Kind.UNDECIDED)
    trivial = _trivial(o)
    if trivial:
        return replace(base, kind=Kind.TRIVIAL, reason=trivial)
    status, how, spent = possible(o.name, o.hypotheses, o.variables)
    base = replace(base, resources=spent)
    if status is Status.VACUOUS:
        return replace(base, kind=Kind.CONTRADICTORY, reason=f"no integers satisfy both, by {how}")
    cases = narrowed(o)
    live: list[Overlap] = []
    why = cases.never
    for case in cases.overlaps:
        how, spent = _refuted(case)
        base = replace(base, resources=base.resources + spent)
        why = why or how
        if not how:
            live.append(case)
    joined = join(o, used)
    if joined is not None and not joined.chosen:
        return held_against(o, _joinable(base, joined), used, live)
    if not live and cases.whole:
        return replace(base, kind=Kind.CONTRADICTORY, reason=why)
    worlds = {} if worlds is None else worlds
    joins = [joined] if joined is not None else []
    drawn = live or [o]
    try:
        found = _examined(o, live, used, worlds)
        found = _drawn(found, drawn, used, worlds, range(1))
        if found.witness is None and not joins and cases.whole:
            joins = _joined_apart(o, live, used, signed=False) or _joined_apart(o, live, used, signed=True)
        if not joins:
            found = _drawn(found, drawn, used, worlds, range(1, _BATCHES))
    except Circle as circle:
        return replace(base, reason=f"steps lead back to where they came from: {circle}")
    base = replace(
        base,
        tried=found.tried,
        joined=found.joined,
        given_up=found.given_up,
        notes=tuple(f"{m.rule.name}: {m.before}  →  {m.after}" for m in found.risen),
    )
    if found.witness is not None:
        return _apart(base, found.witness)
    if joins:
        return held_against(o, _joinable(base, *joins), used, live)
    return further_pair(o, replace(base, reason=_open(base)), rules, live)


def _open(base: Pair) -> str:
    """What is known of a pair that is open."""
    if not base.tried:
        return "no instance is known to which both rules apply"
    if base.given_up:
        return f"{base.given_up} instances reach too much"
    return f"all {base.joined} instances join"


def _apart(base: Pair, w: Witness[Instance, Move]) -> Pair:
    return replace(
        base,
        kind=Kind.NOT_JOINABLE,
        first=_derivation(w.left),
        second=_derivation(w.right),
        witness=str(w.instance.start),
        domain=", ".join(f"{v} ∈ [{lo}, {hi}]" for v, (lo, hi) in w.instance.boxes),
        forms=(str(w.forms[0]), str(w.forms[1])),
        rank=w.instance.rank[:3],
    )


def _live(o: Overlap) -> list[Overlap]:
    """The cases of what strategies propose that are not refuted."""
    return [case for case in narrowed(o).overlaps if not _refuted(case)[0]]


def held_against(
    o: Overlap, pair: Pair, rules: Sequence[Rule], cases: Sequence[Overlap] | None = None
) -> Pair:
    """A pair that joins with symbols, unless an instance has two normal forms in which summands combine or hide.

    A step with symbols sees the rest of a sum as one summand that nothing else in it can be combined with, and assumes
    that strategies propose what they would of that.  ``cases`` are those of the overlap that are not refuted, if these
    are known.
    """
    cases = _live(o) if cases is None else cases
    for looked in (examine_collisions, examine_hiding):
        try:
            found = looked(o, cases or [o], rules, {}, brief=True)
        except Circle as circle:
            return replace(_unjoined(pair), reason=f"steps lead back to where they came from: {circle}")
        pair = _with_numbers(pair, found)
        if found.witness is not None:
            return _apart(_unjoined(pair), found.witness)
    return pair


def _with_numbers(pair: Pair, found: Examined[Instance, Move]) -> Pair:
    return pair.but(
        tried=pair.tried + found.tried,
        joined=pair.joined + found.joined,
        given_up=pair.given_up + found.given_up,
    )


def _unjoined(pair: Pair) -> Pair:
    return pair.but(kind=Kind.UNDECIDED, first=(), second=(), meets="", chosen=False, cases=())


def further_pair(
    o: Overlap,
    base: Pair,
    rules: Sequence[Rule],
    cases: Sequence[Overlap] | None = None,
    attempts: Sequence[Attempt] | None = None,
) -> Pair:
    """The verdict on a pair that is open, by one attempt after the other; ``base`` is what is known so far.

    ``cases`` are those of the overlap that are not refuted, if these are known.
    """
    used = matched(rules)
    cases = _live(o) if cases is None else cases
    for attempt in ATTEMPTS if attempts is None else attempts:
        try:
            found = attempt(o, cases or [o], used)
        except Circle as circle:
            return replace(base, reason=f"steps lead back to where they came from: {circle}")
        if found is None:
            continue
        base = _with_numbers(base, found)
        if found.witness is not None:
            return _apart(replace(base, reason=""), found.witness)
    joins = join_again(o, used)
    if joins:
        return held_against(o, _joinable(replace(base, reason=""), *joins), used, cases)
    return replace(base, reason=_open(base))


#: What instances of the cases of a pair say, or nothing where an attempt is not for such pairs.  Each has a memory of
#: its own, because how much is reached may depend on what is known.
Attempt = Callable[[Overlap, Sequence[Overlap], Sequence[Rule]], Examined[Instance, Move] | None]


def _common_constants(
    o: Overlap, cases: Sequence[Overlap], rules: Sequence[Rule]
) -> Examined[Instance, Move] | None:
    """Instances for rules that take a constant out of extrema, whose arguments must all have one."""
    asked = "common_constant" in (o.outer.choose, o.inner.choose)
    return examine_further(o, cases, rules, {}) if asked else None


def _collisions(
    o: Overlap, cases: Sequence[Overlap], rules: Sequence[Rule]
) -> Examined[Instance, Move] | None:
    """Instances in which rests hold what steps make."""
    return examine_collisions(o, cases, rules, {})


def _coprime(o: Overlap, cases: Sequence[Overlap], rules: Sequence[Rule]) -> Examined[Instance, Move] | None:
    """Instances whose constants hardly divide one another."""
    return examine_coprime(o, cases, rules, {})


def _hiding(o: Overlap, cases: Sequence[Overlap], rules: Sequence[Rule]) -> Examined[Instance, Move] | None:
    """Instances that hide something from the rules."""
    return examine_hiding(o, cases, rules, {})


#: What is tried of a pair that nothing else decides, one after the other.
ATTEMPTS: tuple[Attempt, ...] = (_common_constants, _coprime, _collisions, _hiding)


def _joined_apart(o: Overlap, live: Sequence[Overlap], rules: Sequence[Rule], *, signed: bool) -> list[Join]:
    """A common result in every case, or nothing."""
    if not signed and any(c.statement() == o.statement() for c in live):
        return []  # which was tried
    parts = []
    for case in live:
        part = join(case, rules, signed=signed)
        if part is None:
            return []
        parts.append(part)
    return parts


def _refuted(case: Overlap) -> tuple[str, int]:
    """Why a case cannot be, or nothing."""
    status, how, spent = possible(case.name, case.hypotheses, case.variables)
    said = f"no integers satisfy what the strategies propose for both, by {how}"
    return said if status is Status.VACUOUS else "", spent


def _examined(
    o: Overlap, live: Sequence[Overlap], rules: Sequence[Rule], worlds: dict[Any, Ground]
) -> Examined[Instance, Move]:
    """What instances say: those of the overlap, those of the cases in which something is proposed, and those of both in
    which variables depend on each other."""
    found = examine(o, rules, worlds)
    for case in live:
        if found.witness is not None or (case.start is o.start and case.hypotheses == o.hypotheses):
            continue
        found = _both(found, examine(case, rules, worlds, _FEWER))
    others = [c for c in live if c.start is not o.start]
    for case in (o, *others):
        if found.witness is None:
            limit = REWRITTEN if case is o else REWRITTEN // (3 * len(others))
            found = _both(found, examine_dependent(case, rules, worlds, limit))
    return found


def _drawn(
    found: Examined[Instance, Move],
    cases: Sequence[Overlap],
    rules: Sequence[Rule],
    worlds: dict[Any, Ground],
    batches: Iterable[int],
) -> Examined[Instance, Move]:
    """The same with instances that are drawn, of all cases: what is drawn hardly ever fits a strategy by chance."""
    for batch, case in itertools.product(batches, cases):
        if found.witness is not None:
            break
        more = examine_wide(case, rules, worlds, APART // len(cases), batch)
        found = _both(found, more)
        if more.given_up >= GIVEN_UP:
            # others would reach too much as well
            break
    return found


def _both(found: Examined[Instance, Move], more: Examined[Instance, Move]) -> Examined[Instance, Move]:
    risen = {m.rule.name: m for m in (*more.risen, *found.risen)}
    return Examined(
        found.tried + more.tried,
        found.joined + more.joined,
        found.given_up + more.given_up,
        more.witness,
        tuple(risen[n] for n in sorted(risen)),
    )


def _joinable(base: Pair, joined: Join, *more: Join) -> Pair:
    """The verdict, with the derivations of the first case and, if there are several, of the others."""
    more = tuple(part for j in (joined, *more) for part in (j, *j.others))[1:]
    return replace(
        base,
        kind=Kind.JOINABLE,
        first=_steps(joined.left),
        second=_steps(joined.right),
        meets=str(joined.meets),
        chosen=any(j.chosen for j in (joined, *more)),
        cases=tuple((_steps(j.left), _steps(j.right), str(j.meets)) for j in more),
    )


def _trivial(o: Overlap) -> str:
    if o.first is o.second:
        return "both results are the same"
    if o.start in (o.first, o.second):
        return "one of the rules changes nothing"
    if is_const(o.spot) or is_const(o.start):
        return "a constant is computed, not rewritten"
    return ""


def possible(name: str, hypotheses: tuple[Condition, ...], names: Sequence[Var]) -> tuple[Status, str, int]:
    """Whether some integers satisfy the hypotheses, and how that is known."""
    if len(Known(hypotheses, names).points):
        return Status.PROVED, "a point", 0
    asked = Obligation("confluence", name, "possible", hypotheses, FALSE, question="exists", gate=False)
    verdict = exists(asked, Budget().scaled(0.2))
    return verdict.status, verdict.strategy, verdict.resources


def _steps(steps: Iterable[SymbolicStep]) -> tuple[tuple[str, str], ...]:
    return tuple((s.rule, str(s.after)) for s in steps)


def _derivation(moves: Iterable[Move]) -> tuple[tuple[str, str], ...]:
    return tuple((m.rule.name, str(m.after)) for m in moves)


def counted(pairs: Iterable[Pair]) -> Counter[Kind]:
    """How many pairs there are of every kind."""
    return Counter(p.kind for p in pairs)


def smallest(pairs: Iterable[Pair]) -> dict[tuple[str, str, str], Pair]:
    """For every two rules and place with a witness, the smallest one."""
    out: dict[tuple[str, str, str], Pair] = {}
    for p in pairs:
        if p.kind is Kind.NOT_JOINABLE:
            key = (p.outer, p.inner, p.place)
            if key not in out or (p.rank, p.witness) < (out[key].rank, out[key].witness):
                out[key] = p
    return out
