"""The claims of a ``pallas_call`` with symbolic sizes: refuted at small concrete sizes, or proved for all."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from ..core.condition import Condition, all_of
from ..core.expr import Expr, lift, substitute_all, var
from ..core.indexing_map import unused_name
from ..core.pallas_call import BlockedOperand, PallasCall
from ..core.parametric import ParametricMap
from .concrete import Answer
from .concrete.equality import not_minimal
from .size_claims import Claim, SizeQuestion, at_sizes, holds_at
from .verdict import Status

__all__ = ["AtSizes", "decided_for_all_sizes"]

#: Decides the claim at given values of the parameters.
AtSizes = Callable[[Mapping[str, int]], Answer]
#: Limit on the smaller sizes that are tried for a smaller counterexample.
_SMALLER = 300
#: Limit on the sizes that are tried before the proof, except for the first few.
_TRIED = 4096


def decided_for_all_sizes(at: AtSizes, call: PallasCall, kind: str, o: BlockedOperand, other: BlockedOperand) -> Answer:
    """Decide a claim about two operands for all sizes; ``at`` decides it at concrete sizes.

    A counterexample lists the parameters first.
    """
    last = [lift(d.last) for d in (*o.dims, *other.dims)]
    maps = [_elements(o)[0]] if kind == "written" else list(dict.fromkeys((_map(o), _map(other))))
    question = _Claim(maps, {"shape": last}, call=call, o=o, other=other, at=at)
    answer = question.decided(kind, False)
    if answer.verdict is Status.UNDECIDED:
        return replace(answer, tried=(*answer.tried[:-1], f"is not proved for all sizes, {answer.tried[-1]}"))
    found = answer.counterexample
    return answer if found is None or found.minimal else question.smaller(answer)


@dataclass(frozen=True, kw_only=True)
class _Claim(SizeQuestion):
    """A claim about the blocks of ``o``, and those blocks of ``other`` that they may meet."""

    call: PallasCall
    o: BlockedOperand
    other: BlockedOperand
    at: AtSizes

    # -- sizes
    def concrete(self, name: str, values: Mapping[str, int]) -> Answer | None:
        if not holds_at(all_of(self.sizes), values):
            return None
        return at_sizes(self.at(values), values)

    def values(self) -> Iterator[dict[str, int]]:
        # without this limit, numbers from known bounds of a size would be tried, however large
        return (v for k, v in enumerate(super().values()) if k < 8 or max(v.values()) <= _TRIED)

    def smaller(self, answer: Answer) -> Answer:
        """Return the smallest counterexample, or one where no single size can be reduced if there are too many."""
        values = self.values_of(answer)
        total = sum(values.values())
        if total ** len(values) <= _SMALLER:
            points = (p for p in itertools.product(range(1, total + 1), repeat=len(values)) if sum(p) <= total)
            for point in sorted(points, key=lambda p: (sum(p), p)):
                found = self.concrete("", dict(zip(values, point, strict=True)))
                if found is not None and not found.proved:
                    return found if found.verdict is Status.REFUTED else answer
        for p in values:
            step = values[p] // 2
            while step:
                values = self.values_of(answer)
                found = self.concrete("", {**values, p: values[p] - step})
                if found is not None and found.verdict is Status.REFUTED:
                    answer = not_minimal(found)
                else:
                    step //= 2
        return answer

    def values_of(self, answer: Answer) -> dict[str, int]:
        assert answer.counterexample is not None
        return {p: answer.counterexample.values[p] for p in self.parameters}

    # -- claims
    def claims(self, name: str) -> list[list[Claim]]:
        if name == "written":
            return self._covers(_elements(self.o)[1])
        if name == "in bounds":
            m = _map(self.o)
            indices = zip(m.results, self.o.dims, strict=True)
            made: list[Claim] = [(m.conditions, all_of([e >= 0, e <= d.last])) for e, d in indices]
        else:
            made = [*(self._races() if "race" in name else self._returns())]
        return [[claim] for claim in made] or [[((), all_of(()))]]

    @property
    def _two(self) -> tuple[list[Expr], list[Expr], tuple[Condition, ...]]:
        """Two iterations, and the conditions that ``other``'s block at the first meets ``o``'s at the second."""
        one, two = _map(self.other), _map(self.o).primed()
        meeting: list[Condition] = []
        for a, b, d, e in zip(two.results, one.results, self.o.dims, self.other.dims, strict=True):
            if d == e and d.aligned:
                meeting.append(a.eq(b))
                continue
            there, here = a * d.step - d.low, b * e.step - e.low
            meeting.append((here - there).within(1 - e.size, d.size - 1))
            # the shared element is in the array, not in its padding
            meeting += [there.within(1 - d.size, d.array - 1), here.within(1 - e.size, e.array - 1)]
        return [*one.variables], [*two.variables], (*one.conditions, *two.conditions, *meeting)

    def _races(self) -> Iterator[Claim]:
        """Yield that iterations which meet have equal coordinates along each parallel axis."""
        first, second, known = self._two
        for k in self.call.parallel:
            yield known, first[k].eq(second[k])

    def _returns(self) -> Iterator[Claim]:
        """Yield that an iteration that meets an earlier one of its core continues its predecessor's block.

        There is one claim for each first axis along which the two differ, and each axis along which the later iteration
        differs from its predecessor.
        """
        first, second, known = self._two
        call, results = self.call, _map(self.other).results
        long = [k for k, n in enumerate(call.grid) if n != 1]
        for changed in long:
            if changed in call.parallel:
                continue
            equal = [k for k in range(len(first)) if k in call.parallel or k < changed]
            where = (*known, *(first[k].eq(second[k]) for k in equal), first[changed] > second[changed])
            for moved in long:
                if moved < changed:
                    continue
                after = range(moved + 1, len(first))
                before = {first[moved]: first[moved] - 1, **{first[k]: lift(call.grid[k]) - 1 for k in after}}
                same = zip(results, substitute_all(results, before), strict=True)
                starts = (*(first[k].eq(0) for k in after), first[moved] >= 1)
                yield (*where, *starts), all_of(a.eq(b) for a, b in same)


def _map(o: BlockedOperand) -> ParametricMap:
    assert isinstance(o.index, ParametricMap)
    return o.index


def _elements(o: BlockedOperand) -> tuple[ParametricMap, list[Expr]]:
    """Return the map from iterations to the blocks (elements, if blocks may overlap) that they cover, and its sizes."""
    m = _map(o)
    taken = {*m.dims, *m.parameters}
    results, ranges, inside = [], [], []
    for k, (e, d) in enumerate(zip(m.results, o.dims, strict=True)):
        if not d.aligned:
            ranges.append(unused_name(f"s{k}", taken))
            s = var(ranges[-1])
            e = e * d.step - d.low + s
            inside += [s.within(0, d.size - 1), e.within(0, d.array - 1)]
        results.append(e)
    sizes = [lift(n if d.aligned else d.array) for n, d in zip(o.blocks, o.dims, strict=True)]
    return replace(m, ranges=tuple(ranges), results=tuple(results), conditions=(*m.conditions, *inside)), sizes
