"""Maps of the kinds that break simplifiers (:data:`FAMILIES`), beside those of ``indexproof.strategies``.

They are made of what a generator of random numbers says: that of Hypothesis, or one with a seed (:func:`random_map`).
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from indexproof.core.cost import DIVISION_WEIGHT
from indexproof.core.expr import Expr, ExprLike, add, ceildiv, integer, maximum, minimum
from indexproof.core.indexing_map import Constraint, IndexingMap, RuntimeSource, RuntimeVariable, Variable

__all__ = ["BY_DEFAULT", "FAMILIES", "WEIGHTS", "Asked", "family_map", "random_map"]

#: Constants of machine programs end here; a simplifier that computes with machine integers does too.
LARGE = 2**62


#: Weights of a division: the documented one, and what asks for few operations and few divisions.
WEIGHTS: Final = (DIVISION_WEIGHT, 2, 12)


class Asked(NamedTuple):
    """Options with which a map is simplified (:func:`~indexproof.core.simplify_map.simplify_map`)."""

    division_weight: int = DIVISION_WEIGHT
    quick: bool = False

    @property
    def options(self) -> str:
        """The options of ``indexproof simplify`` that say so; none where it is simplified as it is by default."""
        said = []
        if self.division_weight != DIVISION_WEIGHT:
            said.append(f"--minimize {self.division_weight}")
        if self.quick:
            said.append("--quick")
        return " ".join(said)


#: As nobody asks for anything else.
BY_DEFAULT: Final = Asked()


@dataclass
class _Maker:
    """A map under construction."""

    rng: random.Random
    dims: list[Variable] = field(default_factory=list)
    ranges: list[Variable] = field(default_factory=list)
    rts: list[RuntimeVariable] = field(default_factory=list)
    results: list[Expr] = field(default_factory=list)
    constraints: list[Constraint] = field(default_factory=list)

    # -- variables
    def dim(self, lo: int, hi: int) -> Expr:
        """A new dimension variable."""
        self.dims.append(Variable(f"d{len(self.dims)}", lo, hi))
        return self.dims[-1].expr

    def range(self, lo: int, hi: int) -> Expr:
        """A new range variable."""
        self.ranges.append(Variable(f"s{len(self.ranges)}", lo, hi))
        return self.ranges[-1].expr

    def runtime(self, lo: int, hi: int) -> Expr:
        """A new runtime variable, half of the time with a source."""
        source = None
        if self.rng.random() < 0.5 and self.dims:
            at = tuple(self.small(self.atoms(), 1) for _ in range(self.rng.randint(0, 2)))
            source = RuntimeSource(f"p{len(self.rts)} = s32[] parameter({len(self.rts)})", at)
        self.rts.append(RuntimeVariable(f"rt{len(self.rts)}", lo, hi, source))
        return self.rts[-1].expr

    def atoms(self) -> list[Expr]:
        """All variables so far."""
        return [v.expr for v in (*self.dims, *self.ranges, *self.rts)]

    def box(self, size: int = 12) -> tuple[int, int]:
        """A small box, mostly from zero."""
        rng = self.rng
        lo = rng.choice((0, 0, 0, 0, -3, 2, -size))
        return lo, lo + rng.choice((0, 1, 2, 3, 4, 5, 7, 9, size))

    def some(self, dims: int, ranges: int = 0) -> list[Expr]:
        """That many variables with small boxes."""
        made = [self.dim(*self.box()) for _ in range(dims)]
        return made + [self.range(*self.box(5)) for _ in range(ranges)]

    def limit(self, e: Expr, lo: int, hi: int) -> None:
        """Add a constraint."""
        self.constraints.append(Constraint(e, lo, hi))

    # -- expressions
    def divisor(self) -> int:
        """A small divisor, sometimes negative, sometimes one."""
        return self.rng.choice((2, 2, 3, 4, 4, 5, 6, 7, 8, 12, 16, 1, -1, -2, -3, -4, -6))

    def affine(self, atoms: Sequence[Expr], reach: int = 8) -> Expr:
        """A small linear form."""
        rng = self.rng
        parts: list[ExprLike] = [rng.randint(-reach, reach) if rng.random() < 0.5 else 0]
        some = rng.sample(list(atoms), min(len(atoms), rng.randint(1, 3)))
        parts += [e * rng.choice((1, 1, -1, 2, 3, 4, -2, -3, 6, reach)) for e in some]
        return add(*parts)

    def small(self, atoms: Sequence[Expr], depth: int) -> Expr:
        """A nested expression with small constants."""
        rng = self.rng
        if depth <= 0 or not atoms:
            return self.affine(atoms) if atoms and rng.random() < 0.9 else integer(rng.randint(-9, 9))
        a = self.small(atoms, depth - 1)
        match rng.randrange(12):
            case 0 | 1 | 2:
                return a // self.divisor()
            case 3 | 4 | 5:
                return a % self.divisor()
            case 6:
                return ceildiv(a, self.divisor())
            case 7:
                return minimum(a, self.small(atoms, depth - 2))
            case 8:
                return maximum(a, self.small(atoms, depth - 2))
            case 9:
                return a * rng.choice((-1, 2, 3, 4, -6)) + self.small(atoms, depth - 2)
        return a + self.small(atoms, depth - 1)

    def nothing(self, e: Expr) -> Expr:
        """Zero, though not visibly."""
        rng = self.rng
        c, d = rng.choice((2, 3, 4, 6, 8)), rng.choice((2, 3, 5))
        return rng.choice(
            (
                (e // c) // d - e // (c * d),
                e - (e // c) * c - e % c,
                (c * e + d - 1) // c - e - (d - 1) // c,
                (e % (c * d)) // c - (e // c) % d,
                maximum(e, c) + minimum(e, c) - e - c,
                e // -c + ceildiv(e, c),
                e % (c * d) - e % c - e // c % d * c,
                e % -c + (-e) % c,
            )
        )

    def done(self) -> IndexingMap:
        """The map, with a result that uses something if there is none."""
        return IndexingMap(
            tuple(self.dims),
            tuple(self.ranges),
            tuple(self.rts),
            tuple(self.results),
            tuple(self.constraints),
        )


# ------------------------------------------------------------------------------------------------ families
def _factors(rng: random.Random, total: int, parts: int) -> list[int]:
    """``total`` as a product of ``parts`` numbers."""
    out = [1] * parts
    rest, p = total, 2
    while rest > 1:
        while rest % p:
            p += 1
        out[rng.randrange(parts)] *= p
        rest //= p
    return out


def _delinearized(line: Expr, shape: Sequence[int]) -> list[Expr]:
    out: list[Expr] = []
    stride = math.prod(shape)
    for k, n in enumerate(shape):
        stride //= n
        e = line // stride if stride != 1 else line
        out.append(e % n if k else e)
    return out


def _linearized(index: Sequence[Expr], shape: Sequence[int]) -> Expr:
    stride = 1
    parts: list[ExprLike] = [0]
    for e, n in zip(reversed(index), reversed(shape), strict=True):
        parts.append(e * stride)
        stride *= n
    return add(*parts)


def _chain(m: _Maker, index: list[Expr], shape: list[int], steps: int) -> tuple[list[Expr], list[int]]:
    """An index carried through shape changes, from an output back to an input."""
    rng = m.rng
    for _ in range(steps):
        match rng.choice(
            ("reshape", "reshape", "transpose", "reverse", "slice", "pad", "broadcast", "collapse")
        ):
            case "reshape":
                parts = rng.randint(1, 5)
                line = _linearized(index, shape)
                shape = _factors(rng, math.prod(shape), parts)
                index = _delinearized(line, shape)
            case "collapse" if len(shape) > 1:
                k = rng.randrange(len(shape) - 1)
                line = _linearized(index[k : k + 2], shape[k : k + 2])
                index[k : k + 2] = [line]
                shape[k : k + 2] = [shape[k] * shape[k + 1]]
            case "transpose":
                order = rng.sample(range(len(shape)), len(shape))
                index, shape = [index[k] for k in order], [shape[k] for k in order]
            case "reverse" if shape:
                k = rng.randrange(len(shape))
                index[k] = shape[k] - 1 - index[k]
            case "slice" if shape:
                k = rng.randrange(len(shape))
                start, step = rng.choice((0, 0, 1, 3)), rng.choice((1, 1, 2, 3))
                index[k] = index[k] * step + start
                shape[k] = shape[k] * step + start + rng.choice((0, 0, 1))
            case "pad" if shape:
                k = rng.randrange(len(shape))
                low = rng.randint(0, 2)
                if shape[k] > low:
                    index[k] = index[k] - low
                    shape[k] -= low + (rng.random() < 0.3 and shape[k] > low + 1)
                    m.limit(index[k], 0, shape[k] - 1)
            case "broadcast" if len(shape) > 2:
                k = rng.randrange(len(shape))
                del index[k], shape[k]
    return index, shape


def chains(m: _Maker) -> None:
    """Reshape, transpose, slice, pad, reverse, broadcast, one after the other."""
    rng = m.rng
    shape = [rng.choice((1, 2, 3, 4, 5, 6, 8, 10, 12, 16)) for _ in range(rng.randint(1, 4))]
    index = [m.dim(0, n - 1) for n in shape]
    if rng.random() < 0.25:
        k = rng.randrange(len(shape))
        shape.insert(k, rng.choice((2, 3, 5)))
        index.insert(k, m.range(0, shape[k] - 1))
    index, _ = _chain(m, index, list(shape), rng.randint(1, 5))
    m.results += index


def long_chains(m: _Maker) -> None:
    """Twice as many of the same, of larger shapes: sums that several results divide, and digits of those."""
    rng = m.rng
    shape = [1]
    while math.prod(shape) == 1 or math.prod(shape) > 100_000:
        shape = [rng.choice((2, 3, 4, 5, 7, 8, 12, 16, 32, 64, 128)) for _ in range(rng.randint(1, 4))]
    index = [m.dim(0, n - 1) for n in shape]
    index, _ = _chain(m, index, list(shape), rng.randint(5, 9))
    m.results += index


def threads(m: _Maker) -> None:
    """Threads, blocks and an unrolled range over the elements of a shape; what lies beyond its end is cut off."""
    rng = m.rng
    lanes = rng.choice((32, 64, 128, 100))
    vector = rng.choice((1, 2, 4))
    shape = [rng.choice((2, 3, 4, 7, 8, 16, 17, 32, 100)) for _ in range(rng.randint(1, 4))]
    total = math.prod(shape)
    blocks = -(-total // (lanes * vector))
    th, bl = m.dim(0, lanes - 1), m.dim(0, blocks - 1)
    line = (bl * lanes + th) * vector
    if vector > 1:
        line += m.range(0, vector - 1)
    if rng.random() < 0.3:
        times = rng.choice((2, 3, 5))
        line += m.range(0, times - 1) * (lanes * blocks * vector)
        total *= times
        shape[0] *= times
    if blocks * lanes * vector > total or rng.random() < 0.5:
        m.limit(line, 0, total - rng.choice((1, 1, 1, 3)))
    index = _delinearized(line, shape)
    if rng.random() < 0.5:
        index, _ = _chain(m, index, list(shape), rng.randint(1, 2))
    m.results += index


def windows(m: _Maker) -> None:
    """Windows of convolutions: strides, padding, dilation of the window and of the base."""
    rng = m.rng
    for _ in range(rng.randint(1, 2)):
        n, k = rng.choice((5, 8, 16, 33)), rng.choice((1, 2, 3, 5))
        stride, dilation, base, low = (
            rng.choice((1, 2, 3)),
            rng.choice((1, 1, 2)),
            rng.choice((1, 1, 2, 3)),
            rng.randint(0, 3),
        )
        e = m.dim(0, rng.choice((n - 1, n, 2 * n))) * stride + m.range(0, k - 1) * dilation - low
        if base > 1:
            m.limit(e % base, 0, 0)
            m.limit(e // base, 0, n - 1)
            m.results.append(e // base)
        else:
            m.limit(e, 0, n - 1)
            m.results.append(e)
    if rng.random() < 0.4:
        shape = [rng.choice((2, 3, 4)), rng.choice((4, 6, 8))]
        m.results += _delinearized(m.results[0], shape)


def tiles(m: _Maker) -> None:
    """Physical positions in a tiled layout, split or put together again."""
    rng = m.rng
    outer, inner = rng.choice(((8, 128), (4, 8), (2, 4), (3, 5))), rng.choice(((2, 1), (1, 2), (2, 2)))
    rows, columns = rng.choice((1, 2, 3, 5)), rng.choice((1, 2, 3))
    a = m.dim(0, rows * outer[0] - 1)
    b = m.dim(0, columns * outer[1] - 1)
    tile = (a // outer[0]) * columns + b // outer[1]
    x, y = a % outer[0], b % outer[1]
    place = (
        (x // inner[0] * (-(-outer[1] // inner[1])) + y // inner[1]) * (inner[0] * inner[1])
        + x % inner[0] * inner[1]
        + y % inner[1]
    )
    line = tile * (outer[0] * outer[1]) + place
    if rng.random() < 0.5:
        m.results.append(line)
    else:
        m.results += _delinearized(line, [rows * outer[0], columns * outer[1]])


def nested(m: _Maker) -> None:
    """Quotients, remainders, minima and maxima of one another, with divisors of both signs."""
    atoms = m.some(m.rng.randint(1, 3), m.rng.randint(0, 1))
    m.results += [m.small(atoms, m.rng.randint(2, 5)) for _ in range(m.rng.randint(1, 2))]


def constrained(m: _Maker) -> None:
    """Nested expressions under constraints on others like them."""
    rng = m.rng
    atoms = m.some(rng.randint(1, 3), rng.randint(0, 2))
    for _ in range(rng.randint(1, 4)):
        lo = rng.randint(-5, 5)
        m.limit(m.small(atoms, rng.randint(0, 2)), lo, lo + rng.choice((0, 0, 1, 3, 8, 20)))
    m.results += [m.small(atoms, rng.randint(1, 4)) for _ in range(rng.randint(1, 3))]
    if rng.random() < 0.5:
        # the simplifier should see in the results what it is told in the constraints
        c = rng.choice(m.constraints)
        m.results.append((c.expr + rng.randint(-2, 2)) // rng.choice((2, 4, max(abs(c.hi), 1))))


def congruences(m: _Maker) -> None:
    """Remainders of one expression by several moduli, compatible or not, and equations between variables."""
    rng = m.rng
    atoms = [m.dim(*rng.choice(((0, 30), (-20, 20), (0, 100), (5, 64)))) for _ in range(rng.randint(1, 2))]
    atoms += [m.range(0, rng.choice((5, 11, 23))) for _ in range(rng.randint(0, 2))]
    secret = rng.randrange(60)
    for _ in range(rng.randint(1, 4)):
        n = rng.choice((2, 3, 4, 5, 6, 8, 9, 12))
        e = rng.choice((rng.choice(atoms), m.affine(atoms)))
        r = (secret if rng.random() < 0.8 else rng.randrange(n)) % n
        m.limit(e % n, r, r if rng.random() < 0.85 else n - 1)
    if rng.random() < 0.4 and len(atoms) > 1:
        c = rng.randint(-3, 9)
        m.limit(m.affine(atoms), c, c + rng.choice((0, 0, 1)))
    for _ in range(rng.randint(1, 3)):
        e = rng.choice(atoms)
        n = rng.choice((2, 3, 4, 6, 12))
        m.results.append(rng.choice((e // n, e % n, (e + secret) // n * n, m.small(atoms, 2))))


def digits(m: _Maker) -> None:
    """Digits of one number in mixed radix, put together in parts."""
    rng = m.rng
    radices = [rng.choice((2, 3, 4, 5, 8, 10)) for _ in range(rng.randint(2, 5))]
    total = math.prod(radices)
    extra = rng.choice((0, 0, 1, 3))
    x = m.dim(rng.choice((0, 0, 0, -7, 5)), total - 1 + extra)
    if rng.random() < 0.4:
        x = x * rng.choice((1, 2, -1)) + m.dim(0, rng.choice((1, 3, 9)))
    parts: list[ExprLike] = []
    stride = 1
    for k, n in enumerate(radices):
        e = x // stride if stride > 1 else x
        e = e if k == len(radices) - 1 and rng.random() < 0.6 else e % n
        if rng.random() < 0.9:
            parts.append(e * (stride * rng.choice((1, 1, 1, 1, 2))))
        stride *= n
    e = add(*parts) if parts else x
    m.results.append(e)
    if rng.random() < 0.5:
        m.results.append(rng.choice((e // radices[0], e % radices[0], (e + m.dim(0, 3)) % total, x - e)))


def long_sums(m: _Maker) -> None:
    """Sums of ten and more terms, plain and divided."""
    rng = m.rng
    strides = [1]
    for _ in range(rng.randint(9, 15)):
        strides.append(strides[-1] * rng.choice((1, 2, 2, 3)))
    atoms: list[Expr] = []
    for k in range(len(strides)):
        size = rng.choice((1, 2, 2, 3, 4))
        atoms.append(m.dim(0, size - 1) if k % 3 else m.range(0, size - 1))
    sign = rng.choice((1, 1, 1, -1))
    line = add(rng.choice((0, 0, 1, -1, 7)), *(a * (s * sign) for a, s in zip(atoms, strides, strict=True)))
    d = rng.choice(strides[2:]) * rng.choice((1, 1, 2, 3))
    m.results.append(rng.choice((line, line // d, line % d)))
    m.results.append(
        rng.choice((line % max(d, 2) // 2, (line // d) % rng.choice((2, 3)), line // d + line % d))
    )
    if rng.random() < 0.3:
        m.limit(line, 0, rng.choice((d, 2 * d, strides[-1])))


def large(m: _Maker) -> None:
    """Boxes, coefficients, divisors and offsets up to 2^62, of both signs."""
    rng = m.rng

    def number() -> int:
        n = rng.choice(
            (
                LARGE,
                LARGE - 1,
                2**31,
                2**32 + 1,
                2**53 + 1,
                rng.randrange(1, LARGE),
                10**9 + 7,
                1 << rng.randrange(62),
            )
        )
        return n if rng.random() < 0.6 else -n

    atoms: list[Expr] = []
    for _ in range(rng.randint(1, 3)):
        lo = rng.choice((0, 0, number()))
        atoms.append(m.dim(lo, lo + rng.choice((1, 5, 1000, abs(number())))))
    if rng.random() < 0.3:
        atoms.append(m.range(0, rng.choice((3, abs(number())))))
    for _ in range(rng.randint(1, 2)):
        e = add(rng.choice((0, number())), *(a * rng.choice((1, 1, 2, number(), -1)) for a in atoms))
        d = rng.choice((number(), 2, 7, abs(number())))
        e = rng.choice((e // d, e % d, e, (e // d) * d + e % d, (e % d) // rng.choice((2, 3, -5))))
        if rng.random() < 0.4:
            e = rng.choice((minimum(e, number()), maximum(e, 0), e // rng.choice((2, number()))))
        m.results.append(e)
    if rng.random() < 0.5:
        lo = rng.choice((0, number()))
        m.limit(rng.choice((rng.choice(atoms), m.results[0], m.affine(atoms))), lo, lo + abs(number()))


def runtime(m: _Maker) -> None:
    """Runtime variables in results, constraints and sources."""
    rng = m.rng
    atoms = m.some(rng.randint(1, 2), rng.randint(0, 1))
    for _ in range(rng.randint(1, 2)):
        lo = rng.choice((0, 0, -4))
        atoms.append(m.runtime(lo, lo + rng.choice((0, 3, 7, 20))))
    m.results += [m.small(atoms, rng.randint(0, 3)) for _ in range(rng.randint(1, 3))]
    for _ in range(rng.choice((0, 1, 1, 2))):
        lo = rng.randint(-3, 5)
        m.limit(m.small(atoms, rng.randint(0, 1)), lo, lo + rng.choice((0, 3, 9)))


def clamps(m: _Maker) -> None:
    """Minima and maxima: clamped indices, shifted, divided, added up."""
    rng = m.rng
    atoms = m.some(rng.randint(1, 3))
    for _ in range(rng.randint(1, 2)):
        e = m.affine(atoms, 4)
        lo, hi = rng.randint(-3, 3), rng.randint(2, 12)
        e = (
            minimum(maximum(e, lo), hi)
            if rng.random() < 0.6
            else maximum(minimum(e, hi), lo, m.affine(atoms, 3))
        )
        if rng.random() < 0.5:
            e = e + rng.choice(
                (m.affine(atoms), maximum(m.affine(atoms, 2), lo), minimum(e, m.affine(atoms, 3)))
            )
        if rng.random() < 0.5:
            e = rng.choice((e // m.divisor(), e % m.divisor()))
        m.results.append(e)


def identities(m: _Maker) -> None:
    """An expression plus zero, where the zero does not show."""
    rng = m.rng
    atoms = m.some(rng.randint(1, 2), rng.randint(0, 1))
    for _ in range(rng.randint(1, 2)):
        e = m.small(atoms, rng.randint(0, 2))
        m.results.append(
            m.small(atoms, 1)
            + m.nothing(e) * rng.choice((1, 1, 2, -3))
            + (m.nothing(m.small(atoms, 1)) if rng.random() < 0.4 else 0)
        )


def empty(m: _Maker) -> None:
    """Empty boxes and constraints that contradict the box or each other."""
    rng = m.rng
    atoms = m.some(rng.randint(0, 2), rng.randint(0, 1))
    kind = rng.randrange(5)
    if kind == 0 or not atoms:
        atoms.append(m.dim(0, -1 - rng.randrange(3)))
    elif kind == 1:
        m.limit(rng.choice(atoms), 1000, 1003)
    elif kind == 2:
        e = m.small(atoms, 1)
        m.limit(e % 4, 1, 1)
        m.limit(e % 6, rng.choice((2, 4, 1)), 4)
    elif kind == 3:
        e = m.affine(atoms)
        m.limit(e, 0, 3)
        m.limit(e, 4 - (rng.random() < 0.3), 9)
    else:
        m.limit(m.small(atoms, 2), 5, 4)
    m.results += [m.small(atoms, rng.randint(0, 3)) for _ in range(rng.randint(0, 2))]
    if rng.random() < 0.3:
        m.limit(m.small(atoms, 1), 0, 5)


def unused(m: _Maker) -> None:
    """Variables that nothing needs, ranges that only a remainder sees, single values."""
    rng = m.rng
    atoms = m.some(rng.randint(1, 2))
    size = rng.choice((1, 1, 4, 6, 12, 30))
    s = m.range(rng.choice((0, 0, -2)), size)
    if rng.random() < 0.5:
        n = rng.choice((2, 3, 4, 6))
        m.limit(s % n, 0, rng.choice((0, 0, 1)))
        m.results.append(s // n + rng.choice(atoms) * 4)
    if rng.random() < 0.5:
        m.range(0, rng.choice((0, 3, -1)) if rng.random() < 0.2 else 3)
    if rng.random() < 0.4:
        n = rng.choice((5, 0, -7))
        atoms.append(m.dim(n, n))
    if rng.random() < 0.3:
        m.runtime(0, 4)
    m.results += [m.small(atoms, 1) for _ in range(rng.randint(1, 2))]


FAMILIES: dict[str, Callable[[_Maker], None]] = {
    "chains": chains,
    "threads": threads,
    "windows": windows,
    "tiles": tiles,
    "nested": nested,
    "constrained": constrained,
    "congruences": congruences,
    "digits": digits,
    "long sums": long_sums,
    "large": large,
    "runtime": runtime,
    "clamps": clamps,
    "identities": identities,
    "empty": empty,
    "unused": unused,
    "long chains": long_chains,
}
_NAMES = (*FAMILIES, "chains", "threads", "nested", "constrained")


def family_map(family: str, rng: random.Random) -> IndexingMap:
    """A map of a family, made of what a generator of random numbers says."""
    maker = _Maker(rng)
    FAMILIES[family](maker)
    return maker.done()


def random_map(seed: int, index: int) -> IndexingMap:
    """Map number ``index`` of the sequence ``seed``: the same one in every process, whatever was asked for before."""
    return family_map(_NAMES[index % len(_NAMES)], random.Random(f"indexproof {seed} {index}"))
