"""Decides claims; for a false claim, finds an element that shows it and the correct maps."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

from ...core.errors import IndexproofError
from ...core.indexing_map import IndexingMap
from ...core.simplify_map import simplify_map
from ...core.text import format_map
from ...rules.catalog import RULES
from ..concrete import Answer, Counterexample, contains, equal_maps, in_bounds, inclusion, same_relation
from ..parametric import decide_for_all_sizes, equal_for_all_sizes
from ..verdict import Status
from ..words import tuple_text
from .program import NOTHING, Endpoint, sources_by_name
from .relations import aligned, sharing_runtime, targets_of
from .statements import Claim, ClaimsFile, Comparison, Dependence, PropertyClaim, Simplification

#: How good a claimed map is: ``exact``; ``over-approximation``: it contains the true relation and relates only existing
#: elements; ``wrong``: it lacks a pair, or relates elements that do not exist.
Accuracy: TypeAlias = Literal["exact", "over-approximation", "wrong", ""]


@dataclass(frozen=True)
class ClaimResult:
    """The answer to one claim.

    ``headline`` is a sentence that shows why a claim is false: an element, the claim about it, and the truth.
    ``explanation`` has further sentences.  ``right`` has the true maps, or the result of the simplifier, for a claim
    that is not exact.
    """

    claim: Claim
    verdict: Status
    engine: str = ""
    accuracy: Accuracy = ""
    headline: str = ""
    explanation: tuple[str, ...] = ()
    counterexample: Counterexample | None = None
    right: tuple[IndexingMap, ...] = ()
    tried: tuple[str, ...] = ()
    seconds: float = field(default=0.0, compare=False)

    @property
    def name(self) -> str:
        """The name of the claim."""
        return self.claim.name

    @property
    def line(self) -> int:
        """The line of the claim in its file."""
        return self.claim.line

    @property
    def expected(self) -> Status:
        """The verdict that the file expects."""
        return self.claim.expected

    @property
    def as_expected(self) -> bool:
        """Whether the verdict is the expected one."""
        return self.verdict is self.claim.expected


def check_claims(
    file: ClaimsFile | Iterable[Claim],
    *,
    names: Iterable[str] | None = None,
    confirm: bool = False,
    progress: Callable[[ClaimResult], None] | None = None,
) -> list[ClaimResult]:
    """Decide the claims of a file in order, or only those with ``names``.

    ``confirm`` asks a second, independent engine about every comparison.  ``progress`` is called with each result at
    once.
    """
    claims = file.claims if isinstance(file, ClaimsFile) else tuple(file)
    wanted = None if names is None else set(names)
    results = []
    for claim in claims:
        if wanted is None or claim.name in wanted:
            result = check_claim(claim, confirm=confirm)
            results.append(result)
            if progress is not None:
                progress(result)
    return results


def check_claim(claim: Claim, *, confirm: bool = False) -> ClaimResult:
    """Decide one claim."""
    start = time.perf_counter()
    decide: dict[type, Callable[..., ClaimResult]] = {Comparison: _compared, Simplification: _simplified}
    decide |= {PropertyClaim: _property, Dependence: _depends}
    result = decide[type(claim.statement)](claim, claim.statement, confirm)
    return replace(result, seconds=time.perf_counter() - start)


# ------------------------------------------------------------------------------------------------ map claims
def _compared(claim: Claim, s: Comparison, confirm: bool) -> ClaimResult:
    if not (isinstance(s.left, IndexingMap) and isinstance(s.right, IndexingMap)):
        answer = equal_for_all_sizes(s.left, s.right, confirm=confirm)
    elif s.relation == "equals":
        answer = equal_maps(s.left, s.right, confirm=confirm)
    elif s.relation == "within":
        answer = contains(s.right, s.left, confirm=confirm)
    else:
        answer = contains(s.left, s.right, confirm=confirm)
    headline = _plain_headline(answer, ("the left map", "the right map"), s.relation == "covers")
    return _result(claim, answer, headline=headline)


def _result(claim: Claim, answer: Answer, **more: Any) -> ClaimResult:
    """Return the result of a claim from an answer and further fields."""
    found, tried = answer.counterexample, answer.tried
    return ClaimResult(claim, answer.verdict, answer.engine, counterexample=found, tried=tried, **more)


def _property(claim: Claim, s: PropertyClaim, confirm: bool) -> ClaimResult:
    answer = decide_for_all_sizes(s.name, s.maps, **{**s.arguments, "confirm": confirm})
    c = answer.counterexample
    return _result(claim, answer, headline="" if c is None else str(c))


def _plain_headline(answer: Answer, names: tuple[str, str], swapped: bool = False) -> str:
    c = answer.counterexample
    if c is None:
        return ""
    targets = (c.right, c.left) if swapped else (c.left, c.right)
    if targets.count(None) == 2:
        return str(c)
    sides = ", ".join(f"{name} has {tuple_text(t)}" for name, t in zip(names, targets, strict=True))
    return f"at {_point(c)}: {sides}"


def _simplified(claim: Claim, s: Simplification, confirm: bool) -> ClaimResult:
    ours = simplify_map(s.before, RULES)
    if not equal_maps(s.before, ours, confirm=confirm).proved:
        # the simplifier is unsound, so no statement about it can be trusted
        raise IndexproofError(f"the simplifier turned {s.before} into {ours}, which is not proved equal")
    answer = equal_maps(s.before, s.after, confirm=confirm)
    if not answer.proved:
        accuracy, notes = ("wrong", ("the maps are not equal",)) if answer.verdict is Status.REFUTED else ("", ())
        headline = _plain_headline(answer, ("the map", "the claimed result"))
        more = {"headline": headline, "explanation": notes, "right": (ours,)}
        return _result(claim, answer, accuracy=accuracy, **more)
    if not _same_form(ours, s.after):
        headline = f"the maps are equal, but the simplifier yields {format_map(ours)}"
        refuted = Status.REFUTED, "simplifier"
        return ClaimResult(claim, *refuted, headline=headline, right=(ours,), tried=answer.tried)
    return ClaimResult(claim, Status.PROVED, answer.engine, "exact", tried=answer.tried)


def _same_form(a: IndexingMap, b: IndexingMap) -> bool:
    """Return whether maps are identical up to the names of variables and the order of constraints."""
    if [len(v) for v in (a.dims, a.ranges, a.rts)] != [len(v) for v in (b.dims, b.ranges, b.rts)]:
        return False
    b = b.rename({y.name: x.name for x, y in zip(a.variables, b.variables, strict=True)})
    return a.with_(constraints=()) == b.with_(constraints=()) and set(a.constraints) == set(b.constraints)


# ------------------------------------------------------------------------------------------------- op claims
def _depends(claim: Claim, s: Dependence, confirm: bool) -> ClaimResult:
    truth = s.program.maps(s.source, s.target)
    if any(_misfit(m, s) for m in s.maps):
        # a map between arrays of other ranks is false
        headline = next(filter(None, (_misfit(m, s) for m in s.maps)))
        return ClaimResult(claim, Status.REFUTED, "ranks", "wrong", headline, right=tuple(truth))
    real = aligned([sources_by_name(m) for m in truth], s.maps)
    claimed, real = sharing_runtime(s.maps, real), sharing_runtime(real, s.maps)
    both = _Sides(s, claimed, real)
    accuracy: Accuracy = ""
    notes: list[str] = []
    if s.relation == "equals":
        answer = same_relation(claimed, real, confirm)
        accuracy, notes = _accuracy(answer, both)
    elif s.relation == "within":
        answer = inclusion(real, claimed, confirm)
    else:
        answer = inclusion(claimed, real, confirm)
    if s.relation != "equals" and answer.proved and same_relation(claimed, real).proved:
        accuracy, notes = "exact", ["the claim could be stronger: both sides are equal"]
    headline = ""
    if answer.counterexample is not None:
        headline = _headline(answer.counterexample, both, s.relation == "within")
        notes = [n.replace(f": {headline}", "") for n in notes]
    more = {"headline": headline, "explanation": tuple(notes), "right": () if answer.proved else tuple(truth)}
    return _result(claim, answer, accuracy=accuracy, **more)


@dataclass(frozen=True)
class _Sides:
    """The claimed and the true maps, with the same names for the same runtime values."""

    statement: Dependence
    claimed: Sequence[IndexingMap]
    real: Sequence[IndexingMap]


def _misfit(m: IndexingMap, s: Dependence) -> str:
    for what, have, endpoint in (("dimension variables", len(m.dims), s.source), ("results", len(m.results), s.target)):
        if have != len(endpoint.dims):
            return f"the map has {have} {what}, but {_described(endpoint)} has {len(endpoint.dims)} dimensions"
    return ""


def _accuracy(answer: Answer, both: _Sides) -> tuple[Accuracy, list[str]]:
    if answer.proved:
        return "exact", []
    if answer.verdict is not Status.REFUTED:
        return "", []
    notes = _missing_elements(both.statement)
    covers = inclusion(both.real, both.claimed)
    if covers.proved and not notes:
        return "over-approximation", ["an over-approximation: sound, but it names more than there is"]
    if covers.proved:
        notes.append("apart from that it names everything that it should")
    elif covers.counterexample is not None:
        notes.append(f"it misses what it should name: {_headline(covers.counterexample, both, True)}")
    return "wrong", notes


def _missing_elements(s: Dependence) -> list[str]:
    """Return messages about elements in the claimed maps that the arrays do not have."""
    notes = []
    for endpoint, of_source in ((s.source, True), (s.target, False)):
        for m in s.maps:
            outside = in_bounds(m.with_(results=m.dim_vars) if of_source else m, endpoint.dims).counterexample
            if outside is not None:
                notes.append(f"it names {endpoint} {tuple_text(outside.left)}, but {endpoint} is {endpoint.shape}")
                break
    return notes


def _headline(c: Counterexample, both: _Sides, swapped: bool) -> str:
    """Describe the element of a counterexample, the claim about it, and the truth.

    ``swapped`` means that the counterexample has the truth on its left side.
    """
    s = both.statement
    if c.reason.startswith("the maps read different runtime"):
        return f"{c.reason} (at {_point(c)})"
    # the variables of the map that contains the pair come first, beginning with its dimensions
    source = tuple(c.values.values())[: len(s.source.dims)]
    runtime = {v.name: c.values[v.name] for m in (*both.claimed, *both.real) for v in m.rts if v.name in c.values}
    claimed, real = targets_of(both.claimed, source, runtime), targets_of(both.real, source, runtime)
    at = NOTHING if s.source.text == NOTHING else f"{s.source} {tuple_text(source)}"
    if runtime:
        at += " with " + ", ".join(f"{n} = {x}" for n, x in runtime.items())
    reads = s.program.direction(s.source, s.target) == "output_to_input"
    verb = "reads" if reads else "is read by"
    parts = [f"{at}: claimed that it {verb} {_said(s.target, claimed)}, in truth it {verb} {_said(s.target, real)}"]
    of_claim, of_truth = (c.right, c.left) if swapped else (c.left, c.right)
    target = of_claim if of_claim is not None else of_truth
    if any(" for " in t for t in (*claimed, *real)) and (of_claim is None or of_truth is None):
        parts.append(f"{'only the claim' if of_truth is None else 'only the truth'} has {tuple_text(target)}")
    for endpoint, element in ((s.source, source), (s.target, target)):
        if element is not None and any(not 0 <= x < n for x, n in zip(element, endpoint.dims, strict=True)):
            parts.append(f"{endpoint} is {endpoint.shape} and has no element {tuple_text(element)}")
    clamps = {v.name: v for m in both.real for v in m.rts if not v.lo <= runtime.get(v.name, v.lo) <= v.hi}
    parts += [f"{v.name} is clamped to [{v.lo}, {v.hi}]" for v in clamps.values()]
    return "; ".join(parts)


def _said(endpoint: Endpoint, targets: Sequence[str]) -> str:
    if not targets:
        return "nothing"
    name = "" if endpoint.text == NOTHING else f"{endpoint} "
    return name + " and ".join(targets)


def _described(endpoint: Endpoint) -> str:
    return f"{endpoint} ({endpoint.shape})" if endpoint.shape is not None else "the imagined operand"


def _point(c: Counterexample) -> str:
    return ", ".join(f"{n} = {x}" for n, x in c.values.items())
