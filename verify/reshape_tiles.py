"""Find the exact condition on sizes under which a reshape reads tiles, for symbolic sizes and tiles of given sizes.

The elements of both arrays have row-major positions. A boundary Z of the operand is a product of its last sizes, less
than the number of elements; W is one of the output. Elements are digits by the boundaries, so a tile is one of the
operand only if both kinds line up. The names below are those of laws of :mod:`indexproof.rules.tiles`, which are proved
for all integers.

- A tile holds a dimension as a whole if its size there is at least that of the dimension. Such dimensions join the one
  before them (`whole_rows_join`). If a tile holds all of them, it holds the array.
- Otherwise it has parts of rows of W elements: from the last dimension that it does not hold as a whole, with E
  positions from its start to that of the next tile. A boundary that divides W must divide E or be divided by it, exactly
  as for a single dimension (:mod:`.tile_sizes`).
- If it has parts of several rows, each boundary must divide W or be divided by it. Otherwise the first tile is torn if Z
  is less than W (`torn_by_rows_off_strides`). If Z is greater, a tile with the row of Z is torn, which has another row
  (`row_beside_a_boundary`): the row before (`torn_by_row_before`, `torn_within_first_rows`) or the one after
  (`torn_by_row_after`).
- Then a digit may have the parts of rows below W and the rows above it. Since the parts are less than a row, they must
  have one value of it: E divides a boundary that divides W (`gap_between_digits`). Otherwise W itself is a boundary.
  The same argument holds for the rows in place of the elements, with boundaries divided by W.
- If it has parts of one row, since its size is 1 in the dimension before, it is a tile of a longer row if E divides W
  (`parts_of_rows_continue`). Otherwise W must be a boundary, by which the last tile is cut off: all boundaries less
  than W divide it, because a tile of the second row is torn otherwise (`torn_in_second_row`,
  `torn_at_start_of_second_row`), and a digit beyond W would not be cut off (`smaller_digit_not_cut_off`).

No prover has checked that the functions below build exactly the condition of these steps: tests compare it with trying.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..core.condition import FALSE, TRUE, Condition, all_of, any_of, negate
from ..core.expr import Expr, integer, maximum, minimum, mod, mul
from ..core.op import digits_of, row_major
from .inversion import reduced

_ONE = integer(1)


@dataclass(frozen=True)
class ReshapeTile:
    """Tiles of ``tile`` elements of the array ``shape``, read from the array ``operand``."""

    shape: Sequence[Expr]
    operand: Sequence[Expr]
    tile: Sequence[int]

    def condition(self) -> Condition:
        """Return the condition under which they are tiles of the operand; it holds if nothing is read."""
        parts = all_of(self._dimension(k) for k in range(len(self.shape)))
        # up to rank 2 the other conditions hold for an empty array
        return any_of((self.operand[0] <= 0, parts)) if len(self.shape) > 2 and self.operand else parts

    def read(self) -> Iterator[tuple[Expr, Expr]]:
        """Yield size and stride of the tiles of the operand in each dimension, if they are tiles."""
        for k, digit in enumerate(digits_of(self._last(0), self.operand)):
            stride = maximum(_ONE, *self._strides(k))
            yield digit // stride + 1, stride

    # -- sizes
    def _row(self, k: int) -> Expr:
        """The number of elements for each index of the first k dimensions."""
        return mul(_ONE, *self.shape[k:])

    def _boundaries(self) -> Iterator[tuple[Expr, Condition]]:
        """Yield the boundaries, each with the condition under which it is the number of elements instead."""
        for k in range(1, len(self.operand)):
            yield mul(_ONE, *self.operand[k:]), mul(_ONE, *self.operand[:k]) <= 1

    def _last(self, k: int) -> Expr:
        """The position of the last element of the first tile, in a row of the dimensions from k on."""
        sizes, tile = self.shape[k:], self.tile[k:]
        return row_major([minimum(n, t) - 1 if t > 1 else 0 for n, t in zip(sizes, tile, strict=True)], sizes)

    def _strides(self, k: int) -> Iterator[Expr]:
        """Yield the strides of a digit in which the tile has rows, but one value of their parts."""
        boundary = mul(_ONE, *self.operand[k + 1 :])
        for d, t in enumerate(self.tile[:-1], 1):
            if t > 1 and (boundary is not _ONE or 1 in self.tile[d:]):
                # the digit of the second row, or 0 if its parts have several values or there is no second row
                digit = self._row(d) // boundary
                several = minimum(mul(*self.shape[:d]), 2) - 1
                digit = mod(digit, self.operand[k]) if k else mul(digit, several)
                if 1 in self.tile[: d - 1]:
                    digit = mul(digit, minimum(self.shape[d - 1], 2) - 1)
                yield mul(digit, 1 - minimum(self._last(d) // boundary, 1))

    # -- conditions
    def _dimension(self, k: int) -> Condition:
        """Return the condition for the parts of rows that begin in dimension k, if it is not held as a whole."""
        whole = self.shape[k] <= self.tile[k]
        return any_of((whole, self._parts(k, k), *(self._continued(k) if self.tile[k] == 1 else ())))

    def _continued(self, k: int) -> Iterator[Condition]:
        """Yield the conditions under which rows of one element in dimension k are parts of a longer row."""
        through: list[Condition] = []
        for j in range(k + 1, len(self.shape)):
            joined = _divides(self._extent(j), self._row(k + 1))
            yield all_of([*through, self.shape[j] > self.tile[j], joined])
            single = _divides(self._extent(j), self._row(j)) if self.tile[j] == 1 else FALSE
            through.append(any_of((self.shape[j] <= 1, single)))

    def _extent(self, k: int) -> Expr:
        """The number of elements from a tile to the next one along dimension k."""
        return mul(self.tile[k], self._row(k + 1))

    def _parts(self, k: int, of: int) -> Condition:
        """Return the condition for parts, along dimension ``of``, of rows that the first k dimensions tell apart."""
        extent, boundaries = self._extent(of), [*self._boundaries()]
        if k == 0:
            return all_of(any_of((whole, _aligned(z, extent))) for z, whole in boundaries)
        row, single = self._row(k), self.shape[k - 1] <= 1
        lines = all_of(
            any_of((whole, _divides(row, z), all_of([_divides(z, row), _aligned(z, extent)])))
            for z, whole in boundaries
        )
        met = [_equal(z, row) for z, _ in boundaries]
        if self.tile[k - 1] == 1:
            joined = _divides(extent, row)
            longer, shorter = any_of((single, joined)), negate(joined)
        else:
            longer, shorter = single, negate(single) if 1 in self.tile[: k - 1] else TRUE
            met += [all_of([_divides(extent, z), _divides(z, row)]) for z, _ in boundaries]
            # parts of one element have one value of every digit
            met += [_divides(extent, _ONE)] if self.tile[of] == 1 else []
        return any_of((all_of([longer, self._parts(k - 1, of)]), all_of([shorter, lines, any_of(met)])))


def _aligned(a: Expr, b: Expr) -> Condition:
    return any_of((_divides(a, b), _divides(b, a)))


def _divides(a: Expr, b: Expr) -> Condition:
    """Return that a divides b, without common factors, which are nonzero."""
    b, a = reduced(b, a)
    return TRUE if a is _ONE else a.divides(b)


def _equal(a: Expr, b: Expr) -> Condition:
    a, b = reduced(a, b)
    return a.eq(b)
