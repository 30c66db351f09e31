"""``indexproof.strategies``: Hypothesis strategies for maps and their parts, for tests of your own.

```python
from hypothesis import given
from indexproof import equal_maps, simplify, strategies

@given(strategies.maps())
def test_my_pass(m):
    assert equal_maps(m, my_pass(m)).proved
```

The numbers in one map are made from two: sizes, divisors, factors and bounds are one of them, their product, or one
more or less, so that they hit the boundaries that simplifiers compare.  Failing examples shrink to few and small parts.
Needs the extra ``hypothesis``.
"""

# Absolute imports, because this file is imported as ``indexproof.strategies`` from another folder.
from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, lru_cache
from typing import Any, TypeVar

from hypothesis import strategies as st

from indexproof.core.condition import Condition
from indexproof.core.expr import Expr, Var, ceildiv, integer, maximum, minimum, var
from indexproof.core.hlo import Layout, Module, Shape, Tile, read_module
from indexproof.core.indexing_map import Constraint, IndexingMap, RuntimeSource, RuntimeVariable, Variable
from indexproof.core.op import Case, Op
from indexproof.rules.ops import OPS
from indexproof.verify.budget import ranks

__all__ = [
    "OPERATIONS",
    "constraints",
    "domains",
    "expressions",
    "hlo_modules",
    "layouts",
    "maps",
    "numbers",
    "op_instances",
    "points",
    "shapes",
]

Numbers = tuple[int, ...]
T = TypeVar("T")

#: The operations of expressions; divisors and factors are constants.
OPERATIONS = ("add", "sub", "mul", "div", "mod", "digit", "min", "max", "ceil")
_SIZES = (2, 3, 4, 5, 6, 7, 8, 10, 12, 16)
_LARGE = (2**31, 2**32 + 1, 10**9 + 7, 2**53 + 1, 2**62, 2**62 - 1)
#: Prefixes of the names of dimensions, ranges and runtime variables.
_NAMES = ("d", "s", "rt")


#: Strategies are memoized, because making one costs more than drawing from it.
_sampled = lru_cache(1024)(st.sampled_from)
_integers = lru_cache(256)(st.integers)


def _pick(draw: st.DrawFn, *options: T) -> T:
    """Draw one of several options; shrinks to the first one."""
    found: T = draw(_sampled(options))
    return found


# ----------------------------------------------------------------------------------------------------- numbers
@st.composite
def numbers(draw: st.DrawFn, large: bool = False) -> Numbers:
    """Draw two sizes, their product and the square of the first, to make a map from; with ``large``, up to 2^62."""
    g = _pick(draw, *_SIZES, *(_LARGE if large else ()))
    n = _pick(draw, *_SIZES[:5])
    return g, n, g * n, g * g


@cache
def _near(of: Numbers) -> Numbers:
    """Return the numbers twice, with their neighbours once; small ones first."""
    return (*sorted(of), *of, *(n - 1 for n in of), *(n + 1 for n in of))


@cache
def _divisors(of: Numbers) -> Numbers:
    return tuple(n for n in (*_near(of), *_near(of), *(-n for n in of)) if n)


# ------------------------------------------------------------------------------------------------- expressions
def expressions(
    atoms: Sequence[str | Expr], of: Numbers = (2, 3, 6, 4), depth: int = 3, operations: Sequence[str] = OPERATIONS
) -> st.SearchStrategy[Expr]:
    """Expressions in ``atoms``, which are variables or their names, with at most ``depth`` operations on each path.

    Constants are made from the :func:`numbers` ``of``; among the ``operations``, ``digit`` is ``e // g % n``.  Raises
    :class:`ValueError` for an unknown operation.
    """
    if unknown := set(operations) - set(OPERATIONS):
        raise ValueError(f"there is no operation {min(unknown)!r}, but {', '.join(OPERATIONS)}")
    exprs = tuple(var(a) if isinstance(a, str) else a for a in atoms)
    return _expressions(exprs, of, depth, tuple(operations))


@lru_cache(1024)
@st.composite
def _expressions(
    draw: st.DrawFn, atoms: tuple[Expr, ...], of: Numbers, depth: int, operations: tuple[str, ...]
) -> Expr:
    # divisions are drawn more often, because most mistakes are in sums of them and in nested ones
    divisions = tuple(o for o in operations if o in ("div", "mod"))
    some = (*operations, *divisions, *divisions) if depth > 0 else ()
    kind = _pick(draw, *(("atom",) if atoms else ()), "constant", *some)
    if kind == "atom":
        return _pick(draw, *atoms)
    if kind == "constant":
        return integer(_pick(draw, 0, 1, -1, *of, *(-n for n in of)))
    below = _expressions(atoms, of, depth - 1, operations)
    a = draw(below)
    match kind:
        case "add":
            return a + draw(below)
        case "sub":
            return a - draw(below)
        case "min":
            return minimum(a, draw(below))
        case "max":
            return maximum(a, draw(below))
    k = _pick(draw, *_divisors(of))
    match kind:
        case "mul":
            return a * k
        case "div":
            return a // k
        case "mod":
            return a % k
        case "ceil":
            return ceildiv(a, k)
    return a // k % _pick(draw, *_divisors(of))


# ------------------------------------------------------------------------------------------------------ domains
@lru_cache(256)
@st.composite
def _boxes(draw: st.DrawFn, of: Numbers, empty: bool) -> tuple[int, int]:
    """Draw a box, mostly from zero, whose size is near one of the numbers."""
    lo = _pick(draw, 0, 0, 0, 0, -1, 2, -of[0])
    size = _pick(draw, *_near(of), 1, 1, 1, 2)
    return lo, lo - 1 if empty and not draw(_integers(0, 9)) else lo + size - 1


def _variables(draw: st.DrawFn, prefix: str, least: int, most: int, of: Numbers, empty: bool) -> list[Variable]:
    found = draw(st.lists(_boxes(of, empty), min_size=least, max_size=most))
    return [Variable(f"{prefix}{k}", *box) for k, box in enumerate(found)]


@st.composite
def constraints(draw: st.DrawFn, atoms: Sequence[str | Expr], of: Numbers = (2, 3, 6, 4), depth: int = 2) -> Constraint:
    """Constraints: an expression within bounds; often a congruence, or an equation between variables."""
    exprs = tuple(var(a) if isinstance(a, str) else a for a in atoms)
    match _pick(draw, "any", "congruence", "equation") if exprs else "any":
        case "congruence":
            e = _pick(draw, *exprs) + draw(_integers(0, 3))
            lo = draw(_integers(0, 1))
            return Constraint(e % _pick(draw, *of), lo, lo)
        case "equation":
            lo = draw(_integers(-1, 3))
            return Constraint(_pick(draw, *exprs) - _pick(draw, *exprs) * _pick(draw, 1, *of), lo, lo)
    e = draw(expressions(atoms, of, depth))
    lo = _pick(draw, 0, 0, 1, -1, of[0] - 1)
    return Constraint(e, lo, lo + _pick(draw, 0, 0, 1, 3, *of))


@st.composite
def domains(draw: st.DrawFn, rank: int | None = None, facts: int = 2, empty: bool = False) -> IndexingMap:
    """Maps without results, with up to three dimensions or ``rank``, and up to ``facts`` constraints."""
    return draw(maps(rank, results=0, ranges=0, rts=0, facts=facts, empty=empty))


@st.composite
def maps(
    draw: st.DrawFn,
    rank: int | None = None,
    results: int | None = None,
    *,
    ranges: int = 2,
    rts: int = 1,
    facts: int = 2,
    depth: int = 3,
    operations: Sequence[str] = OPERATIONS,
    sources: bool = False,
    empty: bool = False,
    large: bool = False,
    of: Numbers = (),
    names: Sequence[str] = _NAMES,
) -> IndexingMap:
    """Maps with up to three dimensions and results, or with ``rank`` and ``results`` of them.

    ``ranges``, ``rts`` and ``facts`` limit the numbers of range and runtime variables and of constraints.  With
    ``sources`` some runtime variables have a source, with ``empty`` some boxes are empty, and with ``large`` numbers go
    up to 2^62. ``of`` replaces the drawn numbers.  ``names`` are the prefixes of the variables of each kind.
    """
    of = of or draw(numbers(large))
    d, s, rt = names
    some_dims = _variables(draw, d, rank or 0, 3 if rank is None else rank, of, empty)
    some_ranges = _variables(draw, s, 0, ranges, of, empty)
    atoms: list[Expr] = [v.expr for v in (*some_dims, *some_ranges)]
    some_rts: list[RuntimeVariable] = []
    for v in _variables(draw, rt, 0, rts, of, empty):
        source = None
        if sources and draw(st.booleans()):
            at = draw(st.lists(expressions(atoms, of, 1, operations), max_size=2))
            source = RuntimeSource(f"of_{v.name} = s32[9] parameter({len(some_rts)})", tuple(at))
        some_rts.append(RuntimeVariable(v.name, v.lo, v.hi, source))
        atoms.append(v.expr)
    least, most = (1, 3) if results is None else (results, results)
    exprs = draw(st.lists(expressions(atoms, of, depth, operations), min_size=least, max_size=most))
    known = draw(st.lists(constraints(atoms, of, min(depth, 2)), max_size=facts))
    return IndexingMap(tuple(some_dims), tuple(some_ranges), tuple(some_rts), tuple(exprs), tuple(known))


def points(m: IndexingMap) -> st.SearchStrategy[tuple[int, ...]]:
    """Points in the box of a map, as values of dimensions, ranges and runtime variables; often at its corners.

    There are no points if the box is empty.
    """
    if any(v.hi < v.lo for v in m.variables):
        return st.nothing()
    return st.tuples(*(st.one_of(st.integers(v.lo, v.hi), st.sampled_from((v.lo, v.hi))) for v in m.variables))


# ------------------------------------------------------------------------------------------- shapes and layouts
_TYPES = ("f32", "pred", "s32", "bf16", "s4", "u8", "c64", "f8e4m3fn")


@st.composite
def layouts(draw: st.DrawFn, rank: int, tiles: int = 2) -> Layout:
    """Layouts: an order of ``rank`` dimensions, and up to ``tiles`` tiles."""
    order = draw(st.permutations(tuple(reversed(range(rank)))))
    size = _sampled((2, 1, 3, 4, 8, 128))
    found = []
    for _ in range(draw(_integers(0, tiles)) if rank else 0):
        outer = draw(st.lists(st.one_of(size, st.none()), max_size=rank - 1))
        found.append(Tile((*outer, draw(size))))
    return Layout(tuple(order), tuple(found))


@st.composite
def shapes(draw: st.DrawFn, rank: int | None = None, layout: bool = True, empty: bool = True) -> Shape:
    """Arrays of up to four dimensions, or ``rank``; some without elements if ``empty``, some with a ``layout``."""
    n = draw(_integers(0, 4)) if rank is None else rank
    sizes = (1, 2, 3, 4, 5, 8, *((0,) if empty else ()))
    dims = draw(st.lists(_sampled(sizes), min_size=n, max_size=n))
    found = Shape(_pick(draw, *_TYPES), tuple(dims))
    return found.with_layout(draw(layouts(n))) if layout and n and draw(st.booleans()) else found


# ------------------------------------------------------------------------------------------------- ops and HLO
def op_instances(ops: Iterable[type[Op]] = (), max_rank: int = 2) -> st.SearchStrategy[tuple[Op, list[list[int]]]]:
    """Ops with attributes, and sizes of operands that they accept.

    The ops are ``ops``, classes decorated by ``@op``, or by default all that indexproof knows.
    """
    cases = [
        [case for rank in ranks(max_rank) for case in cls.cases(rank)] for cls in tuple(ops) or tuple(OPS.values())
    ]
    return st.sampled_from([some for some in cases if some]).flatmap(st.sampled_from).flatmap(_instances)


@st.composite
def _instances(draw: st.DrawFn, case: Case) -> tuple[Op, list[list[int]]]:
    try:
        values = random_instance(case, draw(st.randoms(use_true_random=False)), tries=30)
    except ValueError:  # the drawn choices are minimal, and none of the numbers satisfies the hypotheses
        values = random_instance(case, random.Random(0))
    return case.instance(values)


def random_instance(case: Case, rng: random.Random, low: int = -2, high: int = 4, tries: int = 2000) -> dict[Var, int]:
    """Return random values in ``[low, high]`` for the symbols of a case that satisfy its hypotheses.

    Values in a violated hypothesis are redrawn until all hold.  Raises :class:`ValueError` after ``tries`` draws
    without success.
    """
    hypotheses = [(c, c.variables()) for c in case.hypotheses]
    values = {v: rng.randint(low, high) for v in case.symbols}
    for _ in range(tries):
        failing = [symbols for c, symbols in hypotheses if not _true(c, values)]
        if not failing:
            return values
        for v in rng.choice(failing):
            values[v] = rng.randint(low, high)
    raise ValueError(f"{case.op.name} {case.label}: no instance in {tries} draws")


def _true(condition: Condition, values: Mapping[Any, int]) -> bool:
    """Return whether a condition holds; one with a division by zero does not."""
    try:
        return condition.evaluate(values)
    except ZeroDivisionError:
        return False


Dims = tuple[int, ...]


def _shape(dims: Dims) -> str:
    return f"f32[{','.join(map(str, dims))}]"


def _same(draw: st.DrawFn, name: str, x: Dims) -> tuple[str, Dims]:
    return _pick(draw, f"negate({name})", f"add({name}, {name})"), x


def _transposed(draw: st.DrawFn, name: str, x: Dims) -> tuple[str, Dims]:
    order = draw(st.permutations(range(len(x))))
    return f"transpose({name}), dimensions={{{','.join(map(str, order))}}}", tuple(x[k] for k in order)


def _reversed(draw: st.DrawFn, name: str, x: Dims) -> tuple[str, Dims]:
    some = [k for k in range(len(x)) if draw(st.booleans())]
    return f"reverse({name}), dimensions={{{','.join(map(str, some))}}}", x


def _reshaped(draw: st.DrawFn, name: str, x: Dims) -> tuple[str, Dims]:
    """Split one dimension at a divisor of its size, or merge all into one."""
    splits = [(k, d) for k, n in enumerate(x) for d in range(2, n) if n % d == 0]
    one = _pick(draw, None, *splits)
    shape = (math.prod(x),) if one is None else (*x[: one[0]], x[one[0]] // one[1], one[1], *x[one[0] + 1 :])
    return f"reshape({name})", shape


def _broadcast(draw: st.DrawFn, name: str, x: Dims) -> tuple[str, Dims]:
    at, size = draw(_integers(0, len(x))), _pick(draw, 1, 2, 3)
    kept = [k + (k >= at) for k in range(len(x))]
    return f"broadcast({name}), dimensions={{{','.join(map(str, kept))}}}", (*x[:at], size, *x[at:])


def _sliced(draw: st.DrawFn, name: str, x: Dims) -> tuple[str, Dims]:
    parts, sizes = [], []
    for n in x:
        start = draw(_integers(0, max(n - 1, 0)))
        step = _pick(draw, 1, 2, 3)
        parts.append(f"[{start}:{n}:{step}]")
        sizes.append(-(-(n - start) // step))
    return f"slice({name}), slice={{{', '.join(parts)}}}", tuple(sizes)


def _padded(draw: st.DrawFn, name: str, x: Dims) -> tuple[str, Dims]:
    parts, sizes = [], []
    for n in x:
        low, high, inner = (draw(_integers(0, 2)) for _ in range(3))
        parts.append(f"{low}_{high}_{inner}")
        sizes.append(low + n + max(n - 1, 0) * inner + high)
    return (f"pad({name}, zero), padding={'x'.join(parts)}", tuple(sizes)) if x else _same(draw, name, x)


def _reduced(draw: st.DrawFn, name: str, x: Dims) -> tuple[str, Dims]:
    some = [k for k in range(len(x)) if draw(st.booleans())]
    left = tuple(n for k, n in enumerate(x) if k not in some)
    return f"reduce({name}, zero), dimensions={{{','.join(map(str, some))}}}, to_apply=sum", left


def _joined(draw: st.DrawFn, name: str, x: Dims) -> tuple[str, Dims]:
    if not x:
        return _same(draw, name, x)
    k = draw(_integers(0, len(x) - 1))
    return f"concatenate({name}, {name}), dimensions={{{k}}}", (*x[:k], 2 * x[k], *x[k + 1 :])


_INSTRUCTIONS: tuple[Callable[[st.DrawFn, str, Dims], tuple[str, Dims]], ...] = (
    *(_same, _transposed, _reversed, _reshaped, _broadcast, _sliced, _padded, _reduced, _joined),
)


@st.composite
def hlo_modules(draw: st.DrawFn, instructions: int = 5, elements: int = 2000) -> Module:
    """Modules that compute an array from one parameter, ``p0``, in up to ``instructions`` instructions.

    Arrays have at most ``elements`` elements.
    """
    dims = draw(st.lists(_sampled((1, 2, 3, 4, 6, 8)), max_size=3))
    arrays: list[tuple[str, Dims]] = [("p0", tuple(dims))]
    lines = [f"p0 = {_shape(tuple(dims))} parameter(0)", "zero = f32[] constant(0)"]
    for k in range(draw(_integers(0, instructions))):
        name, x = _pick(draw, *arrays[::-1])
        text, shape = _pick(draw, *_INSTRUCTIONS)(draw, name, x)
        if math.prod(shape) <= elements:
            arrays.append((f"i{k}", shape))
            lines.append(f"i{k} = {_shape(shape)} {text}")
    name, x = arrays[-1]
    lines.append(f"ROOT out = {_shape(x)} copy({name})")
    body = "\n".join(f"  {line}" for line in lines)
    return read_module(
        "HloModule drawn\n\nsum {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT c = f32[] add(a, b)\n}\n\n"
        f"ENTRY main {{\n{body}\n}}\n"
    )
