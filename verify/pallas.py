"""The claims of a ``pallas_call``: blocks in bounds, outputs written, no race, no return to a block after leaving it.

Index maps without data are in Presburger arithmetic, so :mod:`.concrete` decides each claim for grids of any size.  If
they read scalar prefetch operands with known elements, :mod:`.pallas_iterations` enumerates the iterations.  If sizes
are symbolic, :mod:`.pallas_for_all_sizes` tries concrete sizes and then proves the claim.  What a claim says of pairs of
iterations is stated in :mod:`.pallas_claims`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from ..core.blocks import point_text
from ..core.expr import Expr, var
from ..core.indexing_map import IndexingMap
from ..core.interval import Interval
from ..core.pallas_call import BlockedOperand, PallasCall
from ..core.transform.variables import remove_unused
from .concrete import Answer, Counterexample, covers, holds, in_bounds
from .concrete.points import joined
from .pallas_claims import elements, pair_claims
from .pallas_for_all_sizes import decided_for_all_sizes
from .pallas_iterations import by_enumeration
from .verdict import Status, worst

__all__ = ["CLAIMS", "CheckedPallasCall", "PallasClaim", "enumerated", "verify_pallas"]


#: Calls of symbolic sizes with at most this many iterations are enumerated.
_FEW = 1 << 10


@dataclass(frozen=True)
class PallasClaim:
    """One claim about an operand and its answer; the kind is a key of :data:`CLAIMS`.

    The counterexample names the iteration by the axes, and an earlier or concurrent iteration by primed axes.  Its left
    side is the index of the first block, its right side that of the second.
    """

    operand: str
    kind: str
    answer: Answer


#: The kinds of claims, in the order in which they are reported.
CLAIMS = {
    "in bounds": "every block lies in the array",
    "table": "every element read of scalar prefetch exists",
    "written": "every element belongs to the block of an iteration",
    "stored": "the kernel stores to it",
    "no race": "parallel iterations have blocks of their own",
    "consecutive": "the iterations of a block are consecutive",
    "alias race": "parallel iterations do not overwrite each other's input",
    "alias": "no input is fetched after its output was written",
}


#: Why a claim about blocks is false at its counterexample.
_REASONS = {
    "written": "no iteration has it",
    "stored": "the kernel never mentions its reference",
    "no race": "parallel iterations share it",
    "consecutive": "it was left and is taken up again",
    "alias race": "a parallel iteration writes what is read",
    "alias": "an earlier iteration has written what is read",
}


@dataclass(frozen=True)
class CheckedPallasCall:
    """A call and the answers to its claims."""

    call: PallasCall
    claims: tuple[PallasClaim, ...]

    @property
    def verdict(self) -> Status:
        """The worst of the answers; `NOT CHECKED` without any."""
        return worst([c.answer.verdict for c in self.claims])


def verify_pallas(call: PallasCall) -> CheckedPallasCall:
    """Check all claims of a call.  A claim that depends on unknown data is undecided."""
    return CheckedPallasCall(call, tuple(_checked(call, _for_all_sizes if call.parameters else _symbolic)))


def enumerated(call: PallasCall) -> CheckedPallasCall:
    """Check all claims by enumerating iterations, up to a limit; a counterexample is the first one in order."""
    return CheckedPallasCall(call, tuple(_checked(call, by_enumeration)))


#: Decides a claim of a kind about two operands: the first is written, the second written or read.
Decide = Callable[[PallasCall, str, BlockedOperand, BlockedOperand], Answer]


def _checked(call: PallasCall, decide: Decide) -> Iterator[PallasClaim]:
    for o in call.operands:
        source = next((s for s in call.operands if s.name == o.alias and not s.whole), None)
        for kind in CLAIMS:
            if not o.whole and _is_claimed(call, kind, o, source):
                other = source if source is not None and kind.startswith("alias") else o
                yield PallasClaim(o.name, kind, _answer(call, kind, o, other, decide))


def _is_claimed(call: PallasCall, kind: str, o: BlockedOperand, source: BlockedOperand | None) -> bool:
    if kind == "in bounds":
        return True
    if kind == "table":
        return isinstance(o.index, IndexingMap) and bool(o.index.rts)
    sequential = any("parallel" not in s and n != 1 for s, n in zip(call.semantics, call.grid, strict=True))
    if not o.output or not o.used:
        return False
    return {
        "written": not o.alias,
        "stored": not o.touched and not o.alias,
        "no race": bool(call.parallel),
        "consecutive": sequential and not o.revisits,
        "alias race": source is not None and bool(call.parallel),
        "alias": source is not None and sequential,
    }[kind]


def _answer(call: PallasCall, kind: str, o: BlockedOperand, other: BlockedOperand, decide: Decide) -> Answer:
    start = time.perf_counter()
    if kind == "stored":
        return Answer(Status.REFUTED, counterexample=Counterexample({}, reason=_REASONS[kind]))
    if o.index is None or other.index is None:
        return _undecided(o.why or other.why)
    if not call.parameters and kind != "table":
        # an element that is read but not used has no value in a counterexample
        used = {x: replace(x, index=remove_unused(_map(x), ranges=False).map) for x in (o, other)}
        o, other = used[o], used[other]
    reads = {} if call.parameters else _reads(kind, _map(o), _map(other))
    tables = [call.tables[t] for t in reads.values()]
    if tables and all(t.values is not None for t in tables):
        decide = by_enumeration
    elif tables and (
        decide is by_enumeration or kind not in ("in bounds", "table") or any(t.stated is None for t in tables)
    ):
        return _undecided(_needed(kind, o, reads))
    answer = decide(call, kind, o, other)
    found = answer.counterexample
    if found is not None:
        answer = replace(answer, counterexample=replace(found, reason=_REASONS.get(kind, found.reason)))
        if "race" in kind and call.direct:
            # each program may store only to elements of its own
            point = point_text(found.values)
            answer = _undecided(f"the kernel stores to the array itself, and programs share a block at {point}")
    return replace(answer, seconds=time.perf_counter() - start)


def _reads(kind: str, *maps: IndexingMap) -> dict[Expr, str]:
    """Return the runtime variables that a claim depends on, each with the table it is read from."""
    found: dict[Expr, str] = {}
    for m in maps:
        sources = {r.expr: r.source for r in m.rts if r.source is not None}
        exprs = [e for s in sources.values() for e in s.results] if kind == "table" else m.results
        found.update({v: sources[v].hlo for e in exprs for v in e.variables() if v in sources})
    return found


def _needed(kind: str, o: BlockedOperand, reads: Mapping[Expr, str]) -> str:
    text = f"depends on the elements of {' and '.join(dict.fromkeys(reads.values()))}"
    if kind != "in bounds":
        return text
    indices = zip(_map(o).results, o.dims, strict=True)
    needs = [f"{e} in {d.indices}" for e, d in indices if not reads.keys().isdisjoint(e.variables())]
    return f"{text}: needs {' and '.join(needs)}"


def _undecided(reason: str) -> Answer:
    return Answer(Status.UNDECIDED, tried=(reason,))


def _map(o: BlockedOperand) -> IndexingMap:
    assert isinstance(o.index, IndexingMap)
    return o.index


def _for_all_sizes(call: PallasCall, kind: str, o: BlockedOperand, other: BlockedOperand) -> Answer:
    def at(values: Mapping[str, int]) -> Answer:
        concrete = call.at(values)
        one, two = concrete.operand(o.name), concrete.operand(other.name)
        if not _is_claimed(concrete, kind, one, two):
            return Answer(Status.PROVED)
        # pairs of few iterations are all looked at before a solver looks for the smallest that goes wrong
        if (concrete.iterations or 0) <= _FEW and by_enumeration(concrete, kind, one, two).proved:
            return Answer(Status.PROVED)
        return _answer(concrete, kind, one, two, _symbolic)

    answer = decided_for_all_sizes(at, call, kind, o, other)
    if "race" in kind and call.direct and not answer.proved:
        return _undecided("the kernel stores to the array itself, and programs may share a block")
    return answer


# --------------------------------------------------------------------------------------------- for grids of any size
def _symbolic(call: PallasCall, kind: str, o: BlockedOperand, other: BlockedOperand) -> Answer:
    m = _map(o)
    if kind == "in bounds":
        return in_bounds(m, [d.indices for d in o.dims])
    if kind == "table":
        sources = [r.source for r in m.rts if r.source is not None]
        return joined([in_bounds(m.with_(results=s.results), call.tables[s.hlo].shape) for s in sources])
    if kind == "written":
        covered, sizes = elements(o)
        return covers(m if m.is_trivially_empty else covered.at({}), sizes)
    if m.is_trivially_empty:
        return joined([])
    box = {var(v.name + prime): Interval(v.lo, v.hi) for prime in ("", "'") for v in m.dims}
    answers = []
    for known, goal in pair_claims(call, kind, o, other):
        answers.append(holds(goal, box, known))
        found = answers[-1].counterexample
        if found is not None:
            points = list(found.values.values())
            n = len(m.dims)
            here, there = _map(other).evaluate(points[:n]), m.evaluate(points[n:])
            return replace(answers[-1], counterexample=replace(found, left=here, right=there))
        if not answers[-1].proved:
            return answers[-1]
    return joined(answers)
