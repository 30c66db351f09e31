"""Find tile sizes for which a map reads tiles: one condition that is exact for every size, and the tile as formulas.

If a map reads digits ``d floordiv s mod n`` of a dimension, each into another result, these are the digits of a mixed
radix.  The names below are those of laws of :mod:`indexproof.rules.tiles`, which are proved for all integers.

- A tile of t elements of the dimension that begins at a multiple of t is a product of ranges of digits if, for one of
  the digits, s divides t and t divides the next stride (`digit_of_tile`): digits above have one value each
  (`one_value_above`), digits below all. It is also one if the largest stride divides t (`digit_with_all_below`).
  Otherwise take the largest stride up to t. If t is no multiple of it, the first tile has the digits of an element
  outside the tile (`torn_by_broken_strides`); else a tile has the end of one period of the next stride and the
  beginning of the next (`across_end_of_period`), and so the digits of the first element (`torn_by_end_of_period`).
- If only a remainder by n is read, it is also a range if t is at least n (`period_in_tile`), with the last tile cut off
  by bounds (`period_cut_off`). Otherwise a tile omits a remainder between others (`remainder_left_out`), and the first
  tile has two neighbours.
- Tiles that begin anywhere, with more than one element and less than the dimension or period, cross the end of a period
  if there is one (`shifted_across_end_of_period`).
- A sum of digits takes a strided range if, by decreasing coefficients, one digit with several values is followed by
  digits read as a whole, and each coefficient is the next one times the number of values of its digit; all others have
  one value. By induction from the smallest, each digit makes a range of a range (`digit_with_all_below`). If this
  fails, the first tile, whose digits begin at zero, lacks the next multiple of the smallest coefficient
  (`gap_between_digits`). A negative coefficient reverses a digit, which changes nothing.
- A smaller last tile is cut off by bounds if its digit has the largest coefficient of its result
  (`beyond_largest_digit`; the sum of those below is less, `below_next_coefficient`). Otherwise it could continue on one
  side or the other (`smaller_digit_not_cut_off`).

No tiles are enumerated. Statements about any number of digits follow by induction, whose step is a law. No prover has
checked that the functions below build exactly the condition of these steps: tests compare it with trying every size.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import prod

from ..core.condition import FALSE, TRUE, Condition, all_of, any_of, show_condition
from ..core.expr import Expr, FloorDiv, Int, Mod, Sum, Var, as_sum, ceildiv, integer, minimum, mul, var
from ..core.facts import Facts
from ..core.indexing_map import IndexingMap, Variable
from ..core.interval import Interval

#: Variables, each with its index if it is a dimension.
_Known = dict[Expr, tuple[Variable, int | None]]


def _size(dim: int) -> Var:
    """Return the size of tiles in a dimension."""
    return var(f"t{dim}")


@dataclass(frozen=True)
class _Digit:
    #: None for a variable that takes all of its values in every tile
    dim: int | None
    stride: int
    size: int
    coefficient: int

    @property
    def step(self) -> int:
        return abs(self.coefficient)

    def taken(self, sizes: Sequence[int]) -> int:
        """Return how many of its values a tile takes."""
        return self.size if self.dim is None else min(self.size, -(-sizes[self.dim] // self.stride))

    def single(self) -> Condition:
        """Return the condition that a tile takes one value."""
        if self.dim is None:
            return FALSE
        t = _size(self.dim)
        return t <= self.stride if self.stride > 1 else t.eq(1)

    def full(self) -> Condition:
        """Return the condition that a tile takes all values."""
        return TRUE if self.dim is None else _size(self.dim) >= self.stride * self.size


@dataclass(frozen=True)
class TileSizes:
    """For which sizes ``t0``, ``t1``, ... of tiles, from 1 to those of the source, tiles are read, and which."""

    holding: Condition
    digits: tuple[tuple[_Digit, ...], ...]
    #: The sizes of the source.
    dims: tuple[int, ...]

    def holds(self, sizes: Sequence[int]) -> bool:
        """Return whether tiles of these sizes read tiles."""
        return self.holding.evaluate({_size(k): n for k, n in enumerate(sizes)})

    def read(self, sizes: Sequence[int]) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Return sizes and strides of the tiles that tiles of these sizes read, if the condition holds."""
        counts = tuple(prod(d.taken(sizes) for d in ds) for ds in self.digits)
        strides = (min((d.step for d in ds if d.taken(sizes) > 1), default=1) for ds in self.digits)
        return counts, tuple(strides)

    @property
    def condition(self) -> str:
        """The condition as text; ``true`` for all sizes."""
        return show_condition(self.holding, number_last=True)

    @property
    def sizes(self) -> tuple[Expr, ...]:
        """The sizes of the tiles that are read, as formulas in the sizes of the source's tiles."""
        return tuple(mul(*(self._taken(d) for d in ds)) for ds in self.digits)

    def _taken(self, d: _Digit) -> Expr:
        if d.dim is None:
            return integer(d.size)
        t = _size(d.dim)
        count = ceildiv(t, integer(d.stride)) if d.stride > 1 else t
        return count if d.stride * d.size == self.dims[d.dim] else minimum(integer(d.size), count)


def tile_sizes(m: IndexingMap, anywhere: bool = False) -> TileSizes | None:
    """Return the exact condition on sizes of tiles of the source under which the map reads tiles.

    Tiles begin at multiples of their sizes.  With ``anywhere`` they begin at any element and are whole, and they read
    tiles of the same sizes everywhere.

    None if a result is no sum of digits of single dimensions with one radix each, if digits are left out, read twice or
    beside others of their dimension, and if there are constraints or runtime variables: `tile_of` decides single sizes
    there.
    """
    if m.constraints or m.rts:
        return None
    if any(sum(v.expr in _atoms(e) for e in m.results) > 1 for v in m.ranges):
        return None  # a diagonal
    known: _Known = {v.expr: (v, k if k < len(m.dims) else None) for k, v in enumerate((*m.dims, *m.ranges))}
    results = [_digits(e, known) for e in m.results]
    rows = [sorted(ds, key=lambda d: -d.step) for ds in results if ds is not None]
    if len(rows) < len(results) or any(a.step < b.step * b.size for ds in rows for a, b in pairwise(ds)):
        return None
    chains: dict[int, list[_Digit]] = {}
    for d in (d for ds in rows for d in ds):
        if d.dim is not None:
            chains.setdefault(d.dim, []).append(d)
    clauses: list[Condition] = []
    dims = tuple(v.size for v in m.dims)
    for k, chain in sorted(chains.items()):
        chain.sort(key=lambda d: -d.stride)
        whole = chain[0].stride * chain[0].size == dims[k]
        alone = len(chain) == 1 and chain in rows
        broken = any(a.stride != b.stride * b.size for a, b in pairwise(chain))
        if (
            broken
            or chain[-1].stride > 1
            or not (whole or alone)
            or any(sum(d.dim == k for d in ds) > 1 for ds in rows)
        ):
            return None
        clauses.append(_shifted(k, chain, whole) if anywhere else _box(k, chain, whole))
    for ds in rows:
        clauses += _merged(ds)
        if not anywhere:
            clauses += _cut_off(ds, dims)
    known_sizes = Facts({_size(k): Interval(1, n) for k, n in enumerate(dims)})
    kept = dict.fromkeys(c for c in clauses if not known_sizes.holds(c))
    return TileSizes(all_of(kept), tuple(map(tuple, rows)), dims)


def _atoms(e: Expr) -> Sequence[Expr]:
    return e.children if isinstance(e, Sum) else (e,)


def _digits(e: Expr, known: _Known) -> list[_Digit] | None:
    """Return the digits whose weighted sum is the result, or None."""
    weights: dict[Expr, dict[int, int]] = {}
    for term, weight in as_sum(e)[1]:
        found = _span(term)
        if found is None or found[0] not in known:
            return None
        x, p, q = found
        at = weights.setdefault(x, {})
        at[p] = at.get(p, 0) + weight
        if q:  # x // p mod n = x // p - n * (x // (p * n))
            at[q] = at.get(q, 0) - weight * (q // p)
    digits: list[_Digit] = []
    for x, at in weights.items():
        v, dim = known[x]
        # quotients by the size or more are zero
        divisors = sorted({1, v.size, *(d for d in at if d < v.size)})
        split = dim is None and set(at) != {1}
        if split or any(v.lo % a for a in at) or any(b % a for a, b in pairwise(divisors)):
            return None
        weight = 0
        for a, b in pairwise(divisors):
            weight += at.get(a, 0)
            if weight:
                digits.append(_Digit(dim, a, b // a, weight))
            weight *= b // a
    return digits


def _span(e: Expr) -> tuple[Expr, int, int] | None:
    """Return x, p and q of ``x // p mod (q // p)``, with q = 0 if there is no remainder; None for other terms."""
    if isinstance(e, Var):
        return e, 1, 0
    inner = _span(e.a) if isinstance(e, FloorDiv | Mod) and isinstance(e.b, Int) and e.b.value > 0 else None
    if inner is None:
        return None
    x, p, q = inner
    scaled = p * e.b.value  # type: ignore[attr-defined]
    if q % scaled:
        return None
    return (x, scaled, q) if isinstance(e, FloorDiv) else (x, p, scaled)


def _box(k: int, chain: list[_Digit], whole: bool) -> Condition:
    """Return the condition that tiles of a dimension are products of ranges of its digits, by decreasing stride."""
    first, t = chain[0], _size(k)
    if not whole:
        return any_of((t.divides(first.size), t >= first.size))
    inner = [all_of((integer(b.stride).divides(t), t.divides(a.stride))) for a, b in pairwise(chain)]
    return any_of((*reversed(inner), integer(first.stride).divides(t)))


def _shifted(k: int, chain: list[_Digit], whole: bool) -> Condition:
    """Return this condition for tiles that begin anywhere: from two elements on, some cross the end of a period."""
    if whole and len(chain) == 1:
        return TRUE
    return any_of((_size(k).eq(1), _size(k) >= chain[0].stride * chain[0].size))


def _merged(ds: list[_Digit]) -> Iterator[Condition]:
    """Yield the conditions under which a sum of digits takes a strided range, given by decreasing coefficient."""
    for j, b in enumerate(ds):
        for i, a in enumerate(ds[:j]):
            run = ds[i : j + 1]
            touching = all(x.step == y.step * y.size for x, y in pairwise(run))
            yield any_of((a.single(), b.single(), all_of(d.full() for d in run[1:]) if touching else FALSE))


def _cut_off(ds: list[_Digit], dims: tuple[int, ...]) -> Iterator[Condition]:
    """Yield the conditions under which last tiles are as large as others, except for the digit that bounds cut off."""
    for b in ds[1:]:
        # a tile within one value of b divides its stride, and so the dimension
        if b.dim is not None and b.stride * b.size == dims[b.dim]:
            yield _size(b.dim).divides(dims[b.dim])
