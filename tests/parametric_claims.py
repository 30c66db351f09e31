"""Claims with symbolic sizes only, as rules of a rule file in JSON.

Every claim is true and is named after its statement.  Together they measure the strength of the prover on
mixed-radix numbers, reshapes, interval bounds, operations and their inverses, tiles.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

Term = Any

__all__ = ["FAMILIES", "claims", "rule_file"]


# ------------------------------------------------------------------------------------------------------ terms
def _joined(op: str, neutral: int, terms: Sequence[Term]) -> Term:
    kept = [t for t in terms if t != neutral]
    total = kept[0] if kept else neutral
    for t in kept[1:]:
        total = [op, total, t]
    return total


def _binary(op: str) -> Callable[[Term, Term], Term]:
    return lambda a, b: [op, a, b]


sub, div, mod, eq, le, lt = map(_binary, ("sub", "fdiv", "mod", "eq", "le", "lt"))


def add(*terms: Term) -> Term:
    return _joined("add", 0, terms)


def mul(*factors: Term) -> Term:
    return _joined("mul", 1, factors)


def up(a: Term, b: Term) -> Term:
    """Return the quotient rounded up, as programs spell it."""
    return div(sub(add(a, b), 1), b)


def both(*parts: Term) -> Term:
    return parts[0] if len(parts) == 1 else ["and", *parts]


def inside(e: Term, size: Term) -> Term:
    return both(le(0, e), lt(e, size))


def within(e: Term, lo: Term, hi: Term) -> Term:
    return both(le(lo, e), le(e, hi))


def least(*args: Term) -> Term:
    return ["min", *args]


def greatest(*args: Term) -> Term:
    return ["max", *args]


def names(stem: str, count: int) -> list[str]:
    return [f"{stem}{k}" for k in range(count)]


def sizes(*of: Term) -> list[Term]:
    return [lt(0, n) for n in of]


def box(index: Sequence[Term], dims: Sequence[Term]) -> list[Term]:
    return [inside(i, n) for i, n in zip(index, dims, strict=True)]


def same(ones: Sequence[Term], others: Sequence[Term]) -> Term:
    return both(*(eq(a, b) for a, b in zip(ones, others, strict=True)))


def row_major(index: Sequence[Term], dims: Sequence[Term]) -> Term:
    """Return the row-major position, with the strides multiplied out."""
    return add(*(mul(i, *dims[k + 1 :]) for k, i in enumerate(index)))


def horner(index: Sequence[Term], dims: Sequence[Term]) -> Term:
    """Return the row-major position in Horner's form."""
    total = index[0]
    for i, n in zip(index[1:], dims[1:], strict=True):
        total = add(mul(total, n), i)
    return total


def digits(place: Term, dims: Sequence[Term]) -> list[Term]:
    """Return the coordinates of a position by the stride of each dimension."""
    out = []
    for k in range(len(dims)):
        stride = mul(*dims[k + 1 :])
        q = place if stride == 1 else div(place, stride)
        out.append(q if k == 0 else mod(q, dims[k]))
    return out


def peeled(place: Term, dims: Sequence[Term]) -> list[Term]:
    """Return the coordinates of a position by repeated division, the last dimension first."""
    out: list[Term] = []
    rest = place
    for n in reversed(dims[1:]):
        out.append(mod(rest, n))
        rest = div(rest, n)
    return [rest, *reversed(out)]


def remainders(place: Term, dims: Sequence[Term]) -> list[Term]:
    """Return the coordinates of a position from the remainders modulo the strides."""
    out: list[Term] = []
    rest = place
    for k in range(len(dims) - 1):
        stride = mul(*dims[k + 1 :])
        out.append(div(rest, stride))
        rest = mod(rest, stride)
    return [*out, rest]


# fmt: off
Claim = tuple[str, list[Term], Term]


# --------------------------------------------------------------------------------------------------- families
def collapse() -> Iterator[Claim]:
    """Claims about row-major positions in any number of dimensions, both ways."""
    for rank in range(2, 9):
        n, i, j, o = names("n", rank), names("i", rank), names("j", rank), "o"
        known = [*sizes(*n), *box(i, n)]
        place = row_major(i, n)
        listed = [*sizes(*n), inside(o, mul(*n))]
        yield f"collapse {rank}, in bounds", known, inside(place, mul(*n))
        yield f"collapse {rank}, there and back", known, same(digits(place, n), i)
        yield f"collapse {rank}, nested, there and peeled", known, same(peeled(horner(i, n), n), i)
        yield f"collapse {rank}, there and by remainders", known, same(remainders(place, n), i)
        yield f"expand {rank}, in bounds", listed, both(*box(digits(o, n), n))
        yield f"expand {rank}, there and back", listed, eq(row_major(digits(o, n), n), o)
        yield f"expand {rank}, peeled, there and back", listed, eq(horner(peeled(o, n), n), o)
        yield (f"collapse {rank}, injective",
            [*sizes(*n), *box(i, n), *box(j, n), eq(row_major(i, n), row_major(j, n))], same(i, j))


def reshapes() -> Iterator[Claim]:
    """Claims about reshapes to and from three dimensions."""
    for before, after in (
        (("a*b", "c"), ("a", "b", "c")),
        (("a", "b*c"), ("a", "b", "c")),
        (("a*b", "c"), ("a", "b*c")),
        (("a*b", "c*d"), ("a", "b*c", "d")),
        (("a*b*c",), ("a", "b", "c")),
        (("a", "b*c", "d"), ("a*b", "c", "d")),
        (("a*b", "c", "d"), ("a", "b", "c*d")),
        (("a*b", "c", "d*e"), ("a", "b*c*d", "e")),
    ):
        m = [mul(*text.split("*")) for text in before]
        n = [mul(*text.split("*")) for text in after]
        text = f"[{', '.join(before)}] and [{', '.join(after)}]"
        known = sizes(*sorted({v for part in (*before, *after) for v in part.split("*")}))
        for arrow, one, two in (("there", m, n), ("back", n, m)):
            i, o = names("i", len(one)), names("o", len(two))
            here = [*known, *box(i, one)]
            image = digits(row_major(i, one), two)
            yield f"reshape {text}, {arrow}, in bounds", here, both(*box(image, two))
            yield f"reshape {text}, {arrow}, sound", here, eq(row_major(image, two), row_major(i, one))
            related = [*here, *box(o, two), eq(row_major(o, two), row_major(i, one))]
            yield f"reshape {text}, {arrow}, complete", related, same(image, o)
            again = digits(row_major(image, two), one)
            yield f"reshape {text}, {arrow} and again", here, same(again, i)


def intervals() -> Iterator[Claim]:
    """Claims about bounds of operators where the bounds are symbols."""
    x, y, a, b, c, d, k = "xyabcdk"
    ranges = [within(x, a, b), within(y, c, d)]
    four = [div(a, c), div(a, d), div(b, c), div(b, d)]
    products = [mul(a, c), mul(a, d), mul(b, c), mul(b, d)]
    yield "interval of a sum", ranges, within(add(x, y), add(a, c), add(b, d))
    yield "interval of a difference", ranges, within(sub(x, y), sub(a, d), sub(b, c))
    yield "interval of a minimum", ranges, within(least(x, y), least(a, c), least(b, d))
    yield "interval of a maximum", ranges, within(greatest(x, y), greatest(a, c), greatest(b, d))
    yield "interval of a product", ranges, within(mul(x, y), least(*products), greatest(*products))
    yield ("interval of a product of naturals", [*ranges, le(0, a), le(0, c)],
        within(mul(x, y), mul(a, c), mul(b, d)))
    yield "interval of a multiple", [within(x, a, b), le(0, k)], within(mul(x, k), mul(a, k), mul(b, k))
    yield "interval of a negative multiple", [within(x, a, b), le(k, 0)], within(mul(x, k), mul(b, k), mul(a, k))
    yield "interval of a quotient", [*ranges, lt(0, c)], within(div(x, y), least(*four[:2]), greatest(*four[2:]))
    yield ("interval of a quotient, all corners", [*ranges, lt(0, c)],
        within(div(x, y), least(*four), greatest(*four)))
    yield ("interval of a quotient by negatives", [*ranges, lt(d, 0)],
        within(div(x, y), least(*four[2:]), greatest(*four[:2])))
    yield ("interval of a quotient by negatives, all corners", [*ranges, lt(d, 0)],
        within(div(x, y), least(*four), greatest(*four)))
    yield ("interval of a quotient of naturals", [*ranges, lt(0, c), le(0, a)],
        within(div(x, y), div(a, d), div(b, c)))
    yield ("interval of a quotient of negatives", [*ranges, lt(0, c), lt(b, 0)],
        within(div(x, y), div(a, c), div(b, d)))
    fixed = [within(x, a, b)]
    yield "interval of a quotient by one", [*fixed, lt(0, k)], within(div(x, k), div(a, k), div(b, k))
    yield "interval of a quotient by one negative", [*fixed, lt(k, 0)], within(div(x, k), div(b, k), div(a, k))
    yield ("interval of a quotient across zero",
        [within(x, a, b), within(y, c, d), le(c, -1), le(1, d), ["ne", y, 0]],
        within(div(x, y), least(a, sub(0, b), b, sub(0, a)), greatest(a, sub(0, a), b, sub(0, b))))
    yield "interval of a ceiling", [*fixed, lt(0, k)], within(["cdiv", x, k], ["cdiv", a, k], ["cdiv", b, k])
    yield "interval of a remainder", [within(y, c, d), lt(0, c)], within(mod(x, y), 0, sub(d, 1))
    yield "interval of a negative remainder", [within(y, c, d), lt(d, 0)], within(mod(x, y), add(c, 1), 0)
    yield ("interval of a remainder across zero", [within(y, c, d), lt(c, 0), lt(0, d), ["ne", y, 0]],
        within(mod(x, y), add(c, 1), sub(d, 1)))
    yield "interval of a small remainder", [*ranges, le(0, a), lt(b, c)], within(mod(x, y), a, b)
    yield ("interval of a natural remainder", [*ranges, le(0, a), lt(0, c)],
        within(mod(x, y), 0, least(b, sub(d, 1))))
    yield ("interval of a remainder in one period", [*fixed, lt(0, k), eq(div(a, k), div(b, k))],
        within(mod(x, k), mod(a, k), mod(b, k)))
    yield "interval of a square", [*fixed, le(0, a)], within(mul(x, x), mul(a, a), mul(b, b))
    yield ("interval of a square across zero", [*fixed, le(a, 0), le(0, b)],
        within(mul(x, x), 0, greatest(mul(a, a), mul(b, b))))
    yield ("interval of a sum of products", [*sizes(a, b), inside(x, a), inside(y, b)],
        inside(add(mul(x, b), y), mul(a, b)))
    yield ("interval of an affine quotient", [*sizes(k, c), inside(x, c)],
        inside(div(add(mul(x, k), sub(k, 1)), k), c))
    yield "interval of a clamp", [le(a, b)], within(least(greatest(x, a), b), a, b)


def identities() -> Iterator[Claim]:
    """Claims about quotients and remainders in mixed radix."""
    x, y, a, b, c, d, n, r, w = "xyabcdnrw"
    yield "nested quotients", sizes(a, b), eq(div(div(x, a), b), div(x, mul(a, b)))
    yield "three nested quotients", sizes(a, b, c), eq(div(div(div(x, a), b), c), div(x, mul(a, b, c)))
    yield "four nested quotients", sizes(a, b, c, d), eq(div(div(div(div(x, a), b), c), d), div(x, mul(a, b, c, d)))
    yield "remainder of a remainder", sizes(a, b), eq(mod(mod(x, mul(a, b)), a), mod(x, a))
    yield "quotient of a remainder", sizes(a, b), eq(div(mod(x, mul(a, b)), a), mod(div(x, a), b))
    yield "digits recombine", sizes(a, b), eq(add(mul(mod(div(x, a), b), a), mod(x, a)), mod(x, mul(a, b)))
    yield "high digits recombine", sizes(a, b), eq(add(mul(div(x, mul(a, b)), b), mod(div(x, a), b)), div(x, a))
    yield ("three digits recombine", sizes(a, b, c),
        eq(add(mul(mod(div(x, mul(a, b)), c), mul(a, b)), mul(mod(div(x, a), b), a), mod(x, a)), mod(x, mul(a, b,
            c))))
    yield ("all digits recombine", sizes(a, b),
        eq(add(mul(div(x, mul(a, b)), mul(a, b)), mul(mod(div(x, a), b), a), mod(x, a)), x))
    yield "multiple leaves quotient", sizes(d), eq(div(add(mul(x, d), y), d), add(x, div(y, d)))
    yield "multiple leaves remainder", sizes(d), eq(mod(add(mul(x, d), y), d), mod(y, d))
    yield "factor leaves quotient", sizes(a, d), eq(div(mul(x, a), mul(d, a)), div(x, d))
    yield "factor leaves remainder", sizes(a, d), eq(mod(mul(x, a), mul(d, a)), mul(mod(x, d), a))
    small = [*sizes(a, b), inside(r, a)]
    yield "small summand leaves quotient", small, eq(div(add(mul(x, a), r), mul(a, b)), div(x, b))
    yield "small summand stays", small, eq(mod(add(mul(x, a), r), mul(a, b)), add(mul(mod(x, b), a), r))
    yield "low digit", small, eq(mod(add(mul(x, a), r), a), r)
    yield "high digit", small, eq(div(add(mul(x, a), r), a), x)
    yield ("small summand leaves two quotients", [*sizes(a, b, c), inside(r, a), inside(y, b)],
        eq(div(add(mul(x, mul(a, b)), mul(y, a), r), mul(a, b, c)), div(x, c)))
    yield "remainders add", sizes(n), eq(mod(add(mod(x, n), mod(y, n)), n), mod(add(x, y), n))
    yield "remainders multiply", sizes(n), eq(mod(mul(mod(x, n), mod(y, n)), n), mod(mul(x, y), n))
    yield "remainder of a negation", sizes(n), eq(mod(add(mod(x, n), mod(sub(0, x), n)), n), 0)
    yield ("inner remainder of a multiple", sizes(n, w),
        eq(mod(mul(mod(x, n), w), mul(n, w)), mod(mul(x, w), mul(n, w))))
    yield "rounding up and down", sizes(d), eq(["cdiv", x, d], up(x, d))
    yield "rounding up a quotient", sizes(a, b), eq(up(up(x, a), b), up(x, mul(a, b)))
    yield "quotients are monotone", [*sizes(d), le(x, y)], le(div(x, d), div(y, d))
    yield "quotient below a bound", [*sizes(d, n), lt(x, mul(n, d))], lt(div(x, d), n)
    yield "bound below a quotient", [*sizes(d), le(mul(n, d), x)], le(n, div(x, d))
    yield ("quotient and remainder determine", [*sizes(d), eq(div(x, d), div(y, d)), eq(mod(x, d), mod(y, d))],
        eq(x, y))
    yield ("strided quotients", [*sizes(a, b, c), inside(y, c), inside(r, b)],
        eq(mod(div(add(mul(x, mul(c, b)), mul(y, b), r), b), c), y))
    yield ("two digits swap", [*sizes(a, b), inside(x, mul(a, b))],
        eq(add(mul(mod(x, b), a), div(x, b)), add(mul(mod(add(mul(div(x, b), b), mod(x, b)), b), a),
            div(add(mul(div(x, b), b), mod(x, b)), b))))
    for rank in (2, 3, 4):
        ns = names("n", rank)
        xs = [mod(div(x, mul(*ns[k + 1 :])) if k + 1 < rank else x, ns[k]) for k in range(rank)]
        yield f"{rank} digits are a remainder", sizes(*ns), eq(row_major(xs, ns), mod(x, mul(*ns)))


def ops() -> Iterator[Claim]:
    """Claims about ops with symbolic attributes: in bounds, sound and complete, both ways."""
    i, o, n, low, high, gap, stride, limit, p = "i", "o", "n", "low", "high", "gap", "stride", "limit", "p"
    step = add(gap, 1)
    padded = add(low, n, high, mul(greatest(sub(n, 1), 0), gap))
    pad = [le(0, n), le(0, gap), le(0, padded)]
    hit = [eq(mod(sub(o, low), step), 0), inside(div(sub(o, low), step), n)]
    yield "pad, back, in bounds", [*pad, inside(o, padded), *hit], inside(div(sub(o, low), step), n)
    yield "pad, back, sound", [*pad, inside(o, padded), *hit], eq(o, add(mul(div(sub(o, low), step), step), low))
    related = [*pad, inside(i, n), inside(o, padded), eq(o, add(mul(i, step), low))]
    yield "pad, back, complete", related, both(*hit, eq(div(sub(o, low), step), i))
    yield ("pad, there, in bounds", [*pad, inside(i, n), le(0, low), le(0, high)],
        inside(add(mul(i, step), low), padded))
    yield ("pad, injective", [*pad, inside(i, n), inside(p, n), eq(add(mul(i, step), low), add(mul(p, step), low))],
        eq(i, p))
    count = up(sub(limit, low), stride)
    sliced = [le(0, low), le(low, limit), le(limit, n), lt(0, stride)]
    at = add(mul(o, stride), low)
    yield "slice, back, in bounds", [*sliced, inside(o, count)], inside(at, n)
    yield "slice, back, below the limit", [*sliced, inside(o, count)], within(at, low, sub(limit, 1))
    taken = [le(low, i), lt(i, limit), eq(mod(sub(i, low), stride), 0)]
    yield "slice, there, in bounds", [*sliced, *taken], inside(div(sub(i, low), stride), count)
    yield "slice, there, sound", [*sliced, *taken], eq(add(mul(div(sub(i, low), stride), stride), low), i)
    yield ("slice, there, complete", [*sliced, inside(o, count), eq(i, at)],
        both(*taken, eq(div(sub(i, low), stride), o)))
    yield "slice, there and back", [*sliced, inside(o, count)], eq(div(sub(at, low), stride), o)
    yield "reverse, in bounds", [lt(0, n), inside(o, n)], inside(sub(sub(n, 1), o), n)
    yield "reverse twice", [lt(0, n), inside(o, n)], eq(sub(sub(n, 1), sub(sub(n, 1), o)), o)
    m = "m"
    parts = [lt(0, n), lt(0, m)]
    yield "concatenate, second part", [*parts, le(n, o), lt(o, add(n, m))], inside(sub(o, n), m)
    yield ("concatenate, one part", [*parts, inside(o, add(n, m))],
        ["or", both(lt(o, n), ["not", inside(sub(o, n), m)]), both(["not", lt(o, n)], inside(sub(o, n), m))])
    yield ("dynamic slice, in bounds", [lt(0, m), le(m, n), inside(o, m)],
        inside(add(o, least(greatest(i, 0), sub(n, m))), n))
    yield ("dynamic update, in bounds", [lt(0, m), le(m, n), le(0, o), lt(o, m)],
        within(add(o, least(greatest(i, 0), sub(n, m))), 0, sub(n, 1)))
    w, s, base, wd = "w", "s", "base", "wd"
    seen = sub(add(mul(o, stride), mul(s, wd)), low)
    window = [*sizes(n, base, stride, wd, w), le(0, o), inside(s, w)]
    valid = [within(seen, 0, mul(sub(n, 1), base)), eq(mod(seen, base), 0)]
    yield "window, back, in bounds", [*window, *valid], inside(div(seen, base), n)
    yield ("window, back, sound", [*window, *valid],
        eq(add(mul(div(seen, base), base), low), add(mul(o, stride), mul(s, wd))))
    met = [*window, inside(i, n), eq(add(mul(i, base), low), add(mul(o, stride), mul(s, wd)))]
    yield "window, back, complete", met, both(*valid, eq(div(seen, base), i))
    out = add(div(sub(sub(add(n, low, high), mul(sub(w, 1), wd)), 1), stride), 1)
    full = [
        *sizes(n, stride, wd, w),
        le(0, low),
        le(0, high),
        inside(s, w),
        le(mul(sub(w, 1), wd), sub(add(n, low, high), 1)),
    ]
    yield ("window, below the padded size", [*full, inside(o, out)],
        inside(add(mul(o, stride), mul(s, wd)), add(n, low, high)))
    b, f = "b", "f"
    shuffle = [*sizes(b, f), inside(o, mul(b, f))]
    yield "pixel shuffle, there and back", shuffle, eq(add(mul(div(o, b), b), mod(o, b)), o)
    yield ("transpose by a line", [*sizes(m, n), inside(o, mul(m, n))],
        inside(add(mul(mod(o, n), m), div(o, n)), mul(m, n)))
    line = add(mul(mod(o, n), m), div(o, n))
    yield ("transpose by a line, twice", [*sizes(m, n), inside(o, mul(m, n))],
        eq(add(mul(mod(line, m), n), div(line, m)), o))
    yield ("all gather, in bounds", [*sizes(m, n), inside(o, mul(m, n))],
        both(inside(div(o, n), m), inside(mod(o, n), n)))
    yield ("reduce scatter, in bounds", [*sizes(m, n), inside(p, m), inside(o, n)],
        inside(add(mul(p, n), o), mul(m, n)))


def tiles() -> Iterator[Claim]:
    """Claims about tiles of one to three dimensions and their positions in memory."""
    for rank in (1, 2, 3):
        n, t, i, j = names("n", rank), names("t", rank), names("i", rank), names("j", rank)
        counts = [up(a, b) for a, b in zip(n, t, strict=True)]
        made = [["cdiv", a, b] for a, b in zip(n, t, strict=True)]
        m = names("m", rank)
        known = [*sizes(*n, *t), *box(i, n)]

        def split(at: Sequence[Term], t: Sequence[Term] = t) -> list[Term]:
            pairs = list(zip(at, t, strict=True))
            return [*(div(a, b) for a, b in pairs), *(mod(a, b) for a, b in pairs)]

        for text, number in (("", counts), (" (ceiling)", made)):
            shape = [*number, *t]
            place = row_major(split(i), shape)
            yield f"tile {rank}{text}, in bounds", known, inside(place, mul(*shape))
            yield f"tile {rank}{text}, coordinates in bounds", known, both(*box(split(i), shape))
            yield (f"tile {rank}{text}, injective", [*known, *box(j, n), eq(place, row_major(split(j), shape))],
                same(i, j))
            o = digits(place, shape)
            yield (f"tile {rank}{text}, there and back", known,
                same([add(mul(o[k], t[k]), o[rank + k]) for k in range(rank)], i))
        # whole tiles: m[k] tiles of size t[k]
        shape = [*m, *t]
        whole = [*sizes(*m, *t), *box(i, [mul(a, b) for a, b in zip(m, t, strict=True)])]
        place = row_major(split(i), shape)
        yield f"whole tile {rank}, in bounds", whole, inside(place, mul(*shape))
        yield (f"whole tile {rank}, injective",
            [*whole, *box(j, [mul(a, b) for a, b in zip(m, t, strict=True)]), eq(place, row_major(split(j),
                shape))],
            same(i, j))
        p = "p"
        o = digits(p, shape)
        listed = [*sizes(*m, *t), inside(p, mul(*shape))]
        element = [add(mul(o[k], t[k]), o[rank + k]) for k in range(rank)]
        yield (f"whole tile {rank}, back, in bounds", listed,
            both(*box(element, [mul(a, b) for a, b in zip(m, t, strict=True)])))
        yield f"whole tile {rank}, back and there", listed, eq(row_major(split(element), shape), p)
    n0, n1, t0, t1, s0, s1 = "n0", "n1", "t0", "t1", "s0", "s1"
    i0, i1, j0, j1 = "i0", "i1", "j0", "j1"
    known = [*sizes(n0, n1, t0, t1, s0, s1), inside(i0, n0), inside(i1, n1)]

    def twice(a: Term, b: Term) -> list[Term]:
        return [
            div(a, t0), div(b, t1),
            div(mod(a, t0), s0), div(mod(b, t1), s1),
            mod(mod(a, t0), s0), mod(mod(b, t1), s1),
        ]  # fmt: skip

    shape = [up(n0, t0), up(n1, t1), up(t0, s0), up(t1, s1), s0, s1]
    place = row_major(twice(i0, i1), shape)
    yield "tile of a tile, in bounds", known, inside(place, mul(*shape))
    yield ("tile of a tile, injective",
        [*known, inside(j0, n0), inside(j1, n1), eq(place, row_major(twice(j0, j1), shape))],
        both(eq(i0, j0), eq(i1, j1)))


FAMILIES = {f.__name__: f for f in (identities, intervals, collapse, reshapes, ops, tiles)}


def claims(*families: str) -> list[Claim]:
    """Return the claims of the named families, by default of all."""
    return [c for name in families or FAMILIES for c in FAMILIES[name]()]


def _variables(*terms: Term) -> list[str]:
    found: dict[str, None] = {}
    todo = list(reversed(terms))
    while todo:
        t = todo.pop()
        if isinstance(t, str):
            found[t] = None
        elif isinstance(t, list):
            todo += reversed(t[1:])
    return list(found)


def rule_file(of: Sequence[Claim]) -> dict[str, Any]:
    """Return the claims as a rule file."""
    rules = []
    for name, known, goal in of:
        rule: dict[str, Any] = {"name": name, "vars": dict.fromkeys(_variables(*known, goal), "int")}
        if known:
            rule["if"] = both(*itertools.chain(known))
        sides = (goal[1], goal[2]) if goal[0] == "eq" else (goal, True)
        rules.append({**rule, "left": sides[0], "right": sides[1]})
    return {"semantics": "floor", "rules": rules}
