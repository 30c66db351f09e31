"""The claims of a ``pallas_call`` with symbolic sizes: refuted at small concrete sizes, or proved for all."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from ..core.condition import all_of
from ..core.expr import lift
from ..core.pallas_call import BlockedOperand, PallasCall
from .concrete import Answer
from .concrete.equality import not_minimal
from .pallas_claims import elements, index_map, pair_claims
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
    maps = [elements(o)[0]] if kind == "written" else [*dict.fromkeys((index_map(o), index_map(other)))]
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
            return self._covers([*map(lift, elements(self.o)[1])])
        if name == "in bounds":
            m = index_map(self.o)
            indices = zip(m.results, self.o.dims, strict=True)
            made: list[Claim] = [(m.conditions, all_of([e >= 0, e <= d.last])) for e, d in indices]
        else:
            grid = (*index_map(self.other).conditions, *index_map(self.o).primed().conditions)
            made = [((*grid, *known), goal) for known, goal in pair_claims(self.call, name, self.o, self.other)]
        return [[claim] for claim in made] or [[((), all_of(()))]]
