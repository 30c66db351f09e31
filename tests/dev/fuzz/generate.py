"""Maps of kinds that are hard for simplifiers (:data:`FAMILIES`), beside those of ``indexproof.strategies``.

They are drawn with a random number generator: that of Hypothesis, or one with a seed (:func:`random_map`).
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from indexproof.core.cost import DIVISION_WEIGHT
from indexproof.core.expr import Expr, ExprLike, add, ceildiv, integer, maximum, minimum, mul
from indexproof.core.indexing_map import Constraint, IndexingMap, RuntimeSource, RuntimeVariable, Variable

__all__ = ["BY_DEFAULT", "FAMILIES", "WEIGHTS", "Asked", "family_map", "random_map"]

#: Weights of a division: the documented one, one for few operations, and one for few divisions.
WEIGHTS: Final = (DIVISION_WEIGHT, 2, 12)


class Asked(NamedTuple):
    """Options with which a map is simplified (:func:`~indexproof.core.simplify_map.simplify_map`)."""

    division_weight: int = DIVISION_WEIGHT
    quick: bool = False

    @property
    def options(self) -> str:
        """The corresponding options of ``indexproof simplify``; empty for the default."""
        said = []
        if self.division_weight != DIVISION_WEIGHT:
            said.append(f"--minimize {self.division_weight}")
        if self.quick:
            said.append("--quick")
        return " ".join(said)


#: The default options.
BY_DEFAULT: Final = Asked()


class Maker:
    """A map under construction, with two parameters g and n, drawn if ``numbers`` is set."""

    def __init__(self, rng: random.Random, numbers: bool = False) -> None:
        self.rng = rng
        self.dims: list[Variable] = []
        self.ranges: list[Variable] = []
        self.rts: list[RuntimeVariable] = []
        self.results: list[Expr] = []
        self.constraints: list[Constraint] = []
        self.g = rng.choice((2, 2, 3, 4, 4, 5, 6, 8)) if numbers else 2
        self.n = rng.choice((2, 3, 4, 5)) if numbers else 2

    def near(self, n: int) -> int:
        """Draw ``n`` or, less often, a neighbour of it."""
        return n + self.rng.choice((0, 0, 0, 0, -1, 1))

    def sign(self) -> int:
        """Draw 1 or, less often, -1."""
        return self.rng.choice((1, 1, 1, -1))

    def dim(self, lo: int, hi: int) -> Expr:
        """Create a dimension variable."""
        self.dims.append(Variable(f"d{len(self.dims)}", lo, hi))
        return self.dims[-1].expr

    def range(self, lo: int, hi: int) -> Expr:
        """Create a range variable."""
        self.ranges.append(Variable(f"s{len(self.ranges)}", lo, hi))
        return self.ranges[-1].expr

    def runtime(self, lo: int, hi: int, source: RuntimeSource | None) -> Expr:
        """Create a runtime variable."""
        self.rts.append(RuntimeVariable(f"rt{len(self.rts)}", lo, hi, source))
        return self.rts[-1].expr

    def digit(self, g: int) -> Expr:
        """Create a variable with a box equal or close to [0, g - 1]."""
        lo = self.near(0) if self.rng.random() < 0.4 else 0
        return self.dim(lo, max(lo, self.near(g - 1)))

    def wide(self) -> Expr:
        """Create a variable with more values than any divisor, from 0 or another number."""
        lo = self.rng.choice((0, 0, 0, -1, -self.g, -20, 1, self.g))
        return self.dim(lo, lo + self.near(self.g * self.n * self.rng.choice((2, 3, 7))) - 1)

    def limit(self, e: Expr, lo: int, hi: int) -> None:
        """Add a constraint."""
        self.constraints.append(Constraint(e, lo, max(lo, hi)))

    def split(self, e: Expr, d: int) -> Expr:
        """Draw a quotient or a remainder."""
        return self.rng.choice((e // d, e % d))

    def nothing(self, e: Expr) -> Expr:
        """Draw an expression that equals zero but does not show it."""
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

    def map(self) -> IndexingMap:
        """Return the map; unlike a map that is read, it may multiply variables."""
        parts = tuple(self.dims), tuple(self.ranges), tuple(self.rts), tuple(self.results or [integer(0)])
        return IndexingMap._trusted(*parts, self.constraints)


# ----------------------------------------------------------------------------------------------- of programs
def _factors(rng: random.Random, total: int, parts: int) -> list[int]:
    """Factor ``total`` into ``parts`` numbers."""
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


def _chain(m: Maker, index: list[Expr], shape: list[int], steps: int) -> tuple[list[Expr], list[int]]:
    """Return an index carried through shape changes, from an output back to an input."""
    rng = m.rng
    for _ in range(steps):
        match rng.choice(("reshape", "reshape", "transpose", "reverse", "slice", "pad", "broadcast", "collapse")):
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


def chains(m: Maker) -> None:
    """Sequences of reshape, transpose, slice, pad, reverse and broadcast."""
    rng = m.rng
    shape = [rng.choice((1, 2, 3, 4, 5, 6, 8, 10, 12, 16)) for _ in range(rng.randint(1, 4))]
    index = [m.dim(0, n - 1) for n in shape]
    if rng.random() < 0.25:
        k = rng.randrange(len(shape))
        shape.insert(k, rng.choice((2, 3, 5)))
        index.insert(k, m.range(0, shape[k] - 1))
    index, _ = _chain(m, index, list(shape), rng.randint(1, 5))
    m.results += index


def long_chains(m: Maker) -> None:
    """Sequences twice as long, with larger shapes: sums that several results divide, and digits of those."""
    rng = m.rng
    shape = [1]
    while math.prod(shape) == 1 or math.prod(shape) > 100_000:
        shape = [rng.choice((2, 3, 4, 5, 7, 8, 12, 16, 32, 64, 128)) for _ in range(rng.randint(1, 4))]
    index = [m.dim(0, n - 1) for n in shape]
    index, _ = _chain(m, index, list(shape), rng.randint(5, 9))
    m.results += index


def threads(m: Maker) -> None:
    """Threads, blocks and an unrolled range over the elements of a shape, with a constraint at its end."""
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


def windows(m: Maker) -> None:
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


def tiles(m: Maker) -> None:
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


def long_sums(m: Maker) -> None:
    """Sums of ten or more terms, plain and divided."""
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
    m.results.append(rng.choice((line % max(d, 2) // 2, (line // d) % rng.choice((2, 3)), line // d + line % d)))
    if rng.random() < 0.3:
        m.limit(line, 0, rng.choice((d, 2 * d, strides[-1])))


def identities(m: Maker) -> None:
    """Sums of an expression and a hidden zero."""
    rng = m.rng
    x, y = m.wide(), m.digit(rng.choice((2, 3, 4, 8)))
    for _ in range(rng.randint(1, 2)):
        e = rng.choice((x, x + y, x * 2 - y, x // 3 + y, x % -6 - y))
        zero = m.nothing(e) * rng.choice((1, 1, 2, -3)) + (m.nothing(y) if rng.random() < 0.4 else 0)
        m.results.append(rng.choice((x, y, x + y, e // 2)) + zero)


# -------------------------------------------------------------------------------------------------- at edges
def blocks(m: Maker) -> None:
    """Dividends whose remainder fills a block of the divisor, exactly or nearly."""
    g, n, rng = m.g, m.n, m.rng
    x, r = m.wide(), m.digit(g)
    e = x * (m.near(g) * m.sign()) + r * m.sign()
    if rng.random() < 0.4:
        e += m.digit(rng.choice((1, 2, n))) * rng.choice((g, g * n, -g, 1, g - 1))
    e += rng.choice((0, 0, 1, -1, g - 1, g, -g, g * n - 1))
    d = rng.choice((g, g, g * n, g * n, -g, 1, g * n * 2))
    m.results += [e // d, e % d] if rng.random() < 0.6 else [m.split(e, d)]


def digits(m: Maker) -> None:
    """Digits and quotients that recombine, exactly or nearly."""
    g, n, rng = m.g, m.n, m.rng
    x = m.wide()
    if rng.random() < 0.4:
        x = x * rng.choice((1, 2, n)) + m.digit(n) + rng.choice((0, 0, 1, -1, g))
    w = rng.choice((1, 1, 2, -1, n))
    low, up = x % g, x // m.near(g) if rng.random() < 0.2 else x // g
    if rng.random() < 0.5:
        up %= m.near(n) if n > 2 else n
    elif rng.random() < 0.3:
        up = (x + g * n * rng.choice((1, -1))) // g
    other = m.dim(0, 3) if rng.random() < 0.4 else integer(rng.choice((0, 1)))
    m.results.append(
        low * w + up * (m.near(g) * w if rng.random() < 0.3 else g * w) + other * rng.choice((1, g, g * n))
    )
    if rng.random() < 0.4:
        m.results.append(m.split(m.results[0], rng.choice((g, n, g * n))))
    if rng.random() < 0.4:
        m.results.append(x * rng.choice((1, w)) - low * rng.choice((1, w)))


def nested(m: Maker) -> None:
    """Nested divisions with summands in between."""
    g, n, rng = m.g, m.n, m.rng
    x, y = m.wide(), m.digit(n)
    inner = m.split(x + rng.choice((0, 0, 1, g)), rng.choice((g, g * n, n)))
    e = inner * rng.choice((1, 1, -1, n, g)) + y * rng.choice((0, 1, 1, g, n)) + rng.choice((0, 0, 1, -1, n - 1))
    if rng.random() < 0.4:
        e += (x // (g * n)) * rng.choice((n, -n, n * g, 1))
    d = rng.choice((g, n, g * n, -n, n * n))
    m.results.append(m.split(e, d))
    if rng.random() < 0.5:
        m.results.append(m.split(m.split(e, d), rng.choice((2, n, g))))


def extrema(m: Maker) -> None:
    """Minima and maxima in which one argument dominates, exactly or nearly; with common constants and factors."""
    g, n, rng = m.g, m.n, m.rng
    x, y = m.digit(g), m.digit(n)
    pick = rng.choice((minimum, maximum))
    other = maximum if pick is minimum else minimum
    c = rng.choice((0, 0, 1, g, -1))
    k = rng.choice((1, 1, g, -1))
    args: list[Expr] = [x * k + c, rng.choice((y * k + c, integer(m.near(g - 1)), integer(m.near(0)), x * k + y + c))]
    if rng.random() < 0.5:
        args.append(rng.choice((x + y, integer(c), y * k + c, other(x, y), x // n, x % n, m.wide() * k + c)))
    e = pick(*args)
    f = other(*args) if rng.random() < 0.4 else pick(*args[:2])
    m.results.append(e * rng.choice((1, -1, g)) + f * rng.choice((0, 1, 1, g)) + rng.choice((integer(0), y, x)))
    if rng.random() < 0.5:
        m.results.append(m.split(e * rng.choice((1, g, n)) + y * rng.choice((0, 1, n)), rng.choice((g, n))))
    if rng.random() < 0.4:
        m.results.append(rng.choice((minimum, maximum))(e + rng.choice((0, 1)), *args[1:], integer(m.near(n))))


def turned(m: Maker) -> None:
    """Negated dividends, negative divisors, and ceiling divisions."""
    g, n, rng = m.g, m.n, m.rng
    x = m.wide()
    y = m.digit(n) if rng.random() < 0.6 else integer(0)
    e = x - y + rng.choice((0, 1))
    m.results += [e // g, (m.near(g - 1) - e) // g, m.split(e, -g), m.split(-e, g), ceildiv(e, rng.choice((g, -g)))]
    m.results = rng.sample(m.results, rng.randint(1, 4))
    if rng.random() < 0.5:
        r = rng.randrange(g)
        m.limit(e % g, r, r)
        m.results.append(-(e // g) + y)


def known(m: Maker) -> None:
    """Constraints on sums, digits and quotients, which imply facts about other expressions."""
    g, n, rng = m.g, m.n, m.rng
    x, y = m.wide(), m.digit(g * n)
    z = m.digit(n) if rng.random() < 0.5 else integer(1)
    a, b = rng.choice((1, 1, 1, g, n)), rng.choice((1, 1, -1, g, -n))
    s = x * a + y * b
    if rng.random() < 0.3:
        s += z
    lo = rng.choice((0, 0, -1, 1, g))
    what = rng.choice((s, s, s, s // g, s % (g * n), x % (g * n) + y, x // g + z, x % g, minimum(s, z)))
    m.limit(what, lo, lo + m.near(g * rng.choice((1, 1, n)) - 1))
    if rng.random() < 0.4:
        m.limit(rng.choice((s, y - x, x // (g * n), x % (g * n), s + z, x // n % g)), m.near(0), m.near(g * n - 1))
    k = rng.choice((1, 1, 2, -1, g))
    e = rng.choice((s, s * k + z, s + x, s - x, s + y * b, x // g + z, x % (g * n) // g, x % (g * n), x))
    e += rng.choice((0, 0, 1, -lo, -1))
    d = rng.choice((g, n, g * n))
    m.results += [m.split(e, d), rng.choice((minimum, maximum))(e, m.near(g * n - 1)), m.split(e, g * n)]
    m.results = rng.sample(m.results, rng.randint(1, 3))


def congruent(m: Maker) -> None:
    """Remainders that constraints determine: of multiples, of larger sums, of higher digits."""
    g, n, rng = m.g, m.n, m.rng
    x, y = m.wide(), m.digit(g)
    s = x * rng.choice((1, 1, 2, n)) + y * rng.choice((0, 1, 1, -1, g)) + rng.choice((0, 0, 1))
    r = rng.randrange(g)
    m.limit(s % g, r, r)
    if rng.random() < 0.4:
        q = rng.randrange(n)
        m.limit(rng.choice((s // g % n, x % n, y % 2)), q, q)
    j = rng.choice((1, 1, 2, n, -1))
    e = s * j + m.digit(2) * rng.choice((0, 1, g)) + rng.choice((0, 0, -r, 1, g))
    d = rng.choice((g, g, g * n, m.near(g * 2), n))
    m.results += [
        e % d,
        (e // d) * rng.choice((1, d, g)),
        (s // (g * n)) * n + rng.choice((0, 1)),
        (s // g % n) * g + y,
    ]
    m.results = rng.sample(m.results, rng.randint(1, 3))


def constrained(m: Maker) -> None:
    """Constraints that narrow boxes, merge, or bound a runtime variable; most are satisfiable."""
    g, n, rng = m.g, m.n, m.rng
    x, y = m.wide(), m.digit(g * n)
    known = [x, y]
    if rng.random() < 0.4:
        source = RuntimeSource("s32[8] parameter(0)", (rng.choice((x, y)), (x + y * g) % (g * n)))
        known.append(m.runtime(0, m.near(g * n), rng.choice((None, source))))
    point = {v.expr: rng.randint(v.lo, v.hi) for v in (*m.dims, *m.rts)}
    shifts = (0, 0, 1, -1, g, -n, 2 * g + 1)
    dividends = []
    for _ in range(rng.randint(1, 4)):
        a, b = rng.sample(known, 2)
        s = a * rng.choice((1, 1, 1, -1)) + rng.choice((0, 0, 0, 0, b, -b, b * g, b * -n)) + rng.choice(shifts)
        dividends.append(s)
        k = rng.choice((1, 1, 2, -1, -3, g))
        what = rng.choice((
            *(s % d for d in (g, g * n, g * n, n, g + 1)),
            a * k + b * rng.choice((1, -1, g, -n)), a * k - b * n, a * g - b,
            s // g * k + b * rng.choice((0, 1, -1, g)), minimum(s, b), maximum(s, b), a,
        ))  # fmt: skip
        here = what.evaluate(point) if rng.random() < 0.9 else rng.randrange(g * n)
        below, above = rng.choice(((0, 0), (0, 0), (0, 1), (1, 0), (1, g), (n, n), (g * n, 2), (0, g * n * 9)))
        m.limit(what, here - below, here + above)
    e = rng.choice(dividends) + rng.choice((0, 0, *shifts))
    m.results += [m.split(e, d) for d in (g, g * n, n)] + [m.split(known[-1] * g + y, g), x - y * g, e * 2]
    m.results = rng.sample(m.results, rng.randint(1, 4))


def shared(m: Maker) -> None:
    """Several results that can be expressed by each other."""
    g, n, rng = m.g, m.n, m.rng
    x = m.wide() * rng.choice((1, 1, n, g)) + m.digit(g) * rng.choice((1, 1, n)) + rng.choice((0, 0, 1, 7))
    y = m.digit(g * n)
    s = x + y * rng.choice((0, 1, 1, -1, g))
    pool = [
        s // g, s % g, s // (g * n), s % (g * n), s // g % n, (s + rng.choice((1, g, -1, g - 1))) // g, (s + g) % (g * n),
        (s * n + m.digit(n)) // (g * n), (s * g + y) % (g * n), -s // g, (g - 1 - s) // g, (g - 1 - s) % g,
        s // g * g + y, x - s // g * g, s % g + y // g * g, s % g * n + y % n, s % (g * n) * g + y,
        (s % (g * n) + x) // g, (s // g + y) // n, (s // g + rng.choice((1, n))) % n, (s * (g - 1)) % g,
        (s * (g * n + 1)) % (g * n),
        ((s // g) * g * n + y) // (g * n), s // g + x, s // g - 1, minimum(s // g, y), maximum(s % g, y) + s, s, s + 1,
    ]  # fmt: skip
    m.results = rng.sample(pool, rng.randint(2, 6))


def large(m: Maker) -> None:
    """Bounds and coefficients near the limit beyond which numbers count as infinite."""
    g, rng = m.g, m.rng
    end = m.near(rng.choice((1 << 60, 1 << 62, 1 << 1024, 1 << 4096, 1 << 8192)))
    x = m.dim(rng.choice((0, -end, -1)), rng.choice((end, end, 5)) if end > 5 else end)
    y = m.digit(g)
    c = rng.choice((1, g, m.near(1 << 1024), 1 << 4096))
    e = x * rng.choice((g, 1, c, -1)) + y + rng.choice((0, 0, c))
    m.results += [m.split(e, rng.choice((g, c + 1, -g))), minimum(e, rng.choice((0, c, end)))]
    if rng.random() < 0.4:
        m.limit(x + y, -c, end)
    m.results = rng.sample(m.results, rng.randint(1, 2))


def opaque(m: Maker) -> None:
    """Products of variables, and variable divisors, which are opaque to all rules."""
    g, n, rng = m.g, m.n, m.rng
    x, y, z = m.wide(), m.dim(1, m.near(g)), m.digit(n)
    inner = x % g if rng.random() < 0.5 else x + z - z
    p = rng.choice((mul(inner, y), inner // y, inner % y, ceildiv(inner, y), mul(x // g * g + x % g, y)))
    e = p * rng.choice((1, g, -1)) + z + rng.choice((0, 1))
    m.results += [m.split(e, g), e, minimum(e, p), m.split(p * g * n + z, g), maximum(p, p - 1) % n, p // n * n + p % n]
    m.results = rng.sample(m.results, rng.randint(1, 3))
    if rng.random() < 0.3:
        m.limit(rng.choice((p, z + x)), m.near(0), m.near(g * n))


def points_only(m: Maker) -> None:
    """Variables with one or two values, and empty boxes."""
    g, rng = m.g, m.rng
    x, y = m.dim(m.near(0), rng.choice((0, 1, 1, -1))), m.digit(2)
    if m.dims[0].hi < m.dims[0].lo and rng.random() < 0.8:
        m.dims[0] = Variable("d0", m.dims[0].hi, m.dims[0].lo)
    z = m.digit(rng.choice((1, 2, g)))
    e = add(x * rng.choice((1, g, g - 1, 2 * g + 1)), y * rng.choice((1, g, 3)), z * rng.choice((1, -1, g)))
    e += rng.choice((0, 1, g - 1))
    m.results += [e // g, e % g, x * y if rng.random() < 0.1 else minimum(x, y)]
    if rng.random() < 0.3:
        m.limit(rng.choice((x + y, z, x - z)), m.near(0), m.near(1))


def linear(m: Maker) -> None:
    """Constraints on sums, also of digits, whose bounds others imply, exactly or nearly; and proportional sums."""
    g, n, rng = m.g, m.n, m.rng
    for _ in range(rng.choice((2, 2, 3, 3, 6, 7))):
        lo = rng.choice((0, 0, -1, 2, -4))
        m.dim(lo, lo + rng.choice((1, 2, 3, 5)))
    atoms: list[Expr] = [v.expr for v in m.dims]
    if rng.random() < 0.5:
        x = m.dim(0, g * n * 4 - 1)
        atoms = [*atoms[:2], x // g, x // (g * n), x % (g * n), x // g % n, x]

    def sum_of(some: list[Expr]) -> Expr:
        return add(*[e * rng.choice((1, 1, 2, 3, -1, -2)) for e in some], rng.choice((0, 0, 1, -3)))

    for _ in range(rng.choice((1, 1, 2))):
        some = rng.sample(atoms, rng.randint(1 if len(atoms) > 5 else 2, len(atoms) if len(atoms) > 5 else 2))
        e = sum_of(some)
        values = [e.evaluate({v.expr: rng.randint(v.lo, v.hi) for v in m.dims}) for _ in range(9)]
        lo, hi = min(values), max(values)
        m.limit(e, lo + rng.choice((0, 1, 1, -99)), hi + rng.choice((0, -1, -1, 99)))
        k = rng.choice((1, 2, 3, -1, -2))
        m.results += [e * k, e * k + rng.choice(atoms), sum_of(some), sum_of(atoms[-3:])]
        m.results += [minimum(e, rng.choice((lo, hi)), atoms[0]), m.split(e, rng.choice((g, n, hi - lo + 1)))]
    m.results = rng.sample(m.results, rng.randint(2, 4))


#: Maps whose numbers lie at the bounds that the simplifier compares with: a box ends at a divisor or next to it, a
#: constraint ends at a bound of its expression, and coefficients fit together exactly or nearly.
EDGES: Final[dict[str, Callable[[Maker], None]]] = {
    f.__name__: f
    for f in (
        *(blocks, digits, nested, extrema, turned, known, congruent, shared, large, opaque, points_only),
        *(linear, constrained),
    )
}
#: The families of programs, and those other families that all engines can decide.
FAMILIES: Final[dict[str, Callable[[Maker], None]]] = {
    **{f.__name__: f for f in (chains, threads, windows, tiles, long_sums, identities, long_chains)},
    **{name: f for name, f in EDGES.items() if name not in ("large", "opaque", "points_only", "constrained")},
}


def family_map(family: str, rng: random.Random) -> IndexingMap:
    """Draw a map of a family with a random number generator."""
    m = Maker(rng, numbers=family in EDGES)
    FAMILIES[family](m)
    return IndexingMap(tuple(m.dims), tuple(m.ranges), (), tuple(m.results), tuple(m.constraints))


def random_map(seed: int, index: int) -> IndexingMap:
    """Return map number ``index`` of the sequence ``seed``, which depends on nothing else."""
    names = tuple(FAMILIES)
    return family_map(names[index % len(names)], random.Random(f"indexproof {seed} {index}"))
