"""Projection of the ranges that composition leaves behind, which keeps the relation of a map.

A range that no result mentions only states that some value of it satisfies the constraints. Two ranges that only occur
as a sum act as one. Six rules remove such ranges, each exact:

- *images*: ranges that are connected to no dimension and no runtime value contribute a set of values to the results.
  If that set is a box, each of its sides becomes a range: `s0 floordiv 8` and `s0 mod 8` become two;
- *digits*: a range that only occurs in its quotient and its remainder by one number is replaced by these two;
- *residues*: a range whose remainder is fixed by a constraint is replaced by its quotient;
- *sums*: if one result adds two ranges, their sum replaces one of them, and the other is eliminated;
- *elimination* of a range that only constraints mention, by Fourier-Motzkin, if that is exact for integers;
- *quotients*: a range that only constraints mention, one of which leaves a single value, is replaced by that value.

Without them every layer of a program would leave its ranges and constraints in all maps through it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import pairwise
from math import prod

from ..expr import Expr, FloorDiv, Int, Mod, Var, as_sum, linear, postorder, substitute_all
from ..facts import Facts
from ..indexing_map import Constraint, IndexingMap, Variable, unused_name

# Limit on the enumerated values of ranges that belong together.
_MOST_POINTS = 1 << 14

Terms = tuple[tuple[Expr, int], ...]


def projected(m: IndexingMap) -> IndexingMap:
    """Return a map with the same relation and as few ranges as the rules of this module leave."""
    if m.is_trivially_empty:
        return m
    while m.ranges:
        after = _images(m) or _in_digits(m) or _counted(m) or _without_hidden(m) or _summed(m) or _determined(m)
        if after is None:
            break
        m = after
    return m


def summands(e: Expr) -> Terms:
    """Return the summands of an expression without its constant, with their coefficients."""
    return as_sum(e)[1]


def _replaced(
    m: IndexingMap, v: Variable, value: Expr, ranges: Iterable[Variable], constraints: Sequence[Constraint]
) -> IndexingMap:
    """Substitute a value for a range that no source mentions, and set ranges and constraints."""
    count = len(m.results)
    exprs = substitute_all([*m.results, *(c.expr for c in constraints)], {v.expr: value})
    said = zip(exprs[count:], constraints, strict=True)
    return m.with_(
        ranges=tuple(ranges),
        results=tuple(exprs[:count]),
        constraints=(*(Constraint(e, c.lo, c.hi) for e, c in said), Constraint(value, v.lo, v.hi)),
    )


def _variables(exprs: Iterable[Expr]) -> set[Expr]:
    return {n for n in postorder(*exprs) if isinstance(n, Var)}


# ------------------------------------------------------------------------------------------------------------ images
def _images(m: IndexingMap) -> IndexingMap | None:
    """Replace the first group of ranges whose values are a box by one range per side; None if there is none."""
    exprs = [*m.results, *m.source_indices]
    group, tied = _groups(m, exprs)
    for first in dict.fromkeys(group.values()):
        if first in tied:
            continue
        ranges = [v for v in m.ranges if group[v.expr] is first]
        inside = {v.expr for v in ranges}
        own = [[(t, k) for t, k in summands(e) if set() < _variables([t]) <= inside] for e in exprs]
        parts = {k: linear(0, terms) for k, terms in enumerate(own) if terms}
        constraints = [c for c in m.constraints if not inside.isdisjoint(_variables([c.expr]))]
        different = tuple(dict.fromkeys(parts.values()))
        single = not constraints and len(different) == len(ranges) == 1
        if single and all(isinstance(t, Var) for terms in own for t, _ in terms):
            continue  # a multiple of one range is simple already
        sides = _sides(tuple(ranges), different, tuple(constraints))
        if sides is None:
            continue
        names = [v.name for v in ranges]
        taken = {v.name for v in m.variables}
        made: dict[int, Variable] = {}
        for lo, count, step, column in sides:
            if column not in made:
                if len(made) == len(names):
                    names.append(unused_name(f"s{len(m.ranges) + len(names)}", taken))
                    taken.add(names[-1])
                made[column] = Variable(names[len(made)], lo // step, lo // step + count - 1)
        for k, part in parts.items():
            lo, _, step, column = sides[different.index(part)]
            exprs[k] = linear(lo % step, ((exprs[k], 1), (part, -1), (made[column].expr, step)))
        at = m.ranges.index(ranges[0])
        kept = [v for v in m.ranges if v not in ranges]
        rest = iter(exprs[len(m.results) :])
        rts = [v if v.source is None else v.indexed(tuple(next(rest) for _ in v.source.results)) for v in m.rts]
        return m.with_(
            ranges=(*kept[:at], *made.values(), *kept[at:]),
            rts=tuple(rts),
            results=tuple(exprs[: len(m.results)]),
            constraints=tuple(c for c in m.constraints if c not in constraints),
        )
    return None


def _groups(m: IndexingMap, exprs: Sequence[Expr]) -> tuple[dict[Expr, Expr], set[Expr]]:
    """Map each range to the representative of its group; also return those tied to dimensions or runtime values."""
    first: dict[Expr, Expr] = {v.expr: v.expr for v in m.ranges}
    tied: set[Expr] = set()

    def find(v: Expr) -> Expr:
        while first[v] is not v:
            v = first[v]
        return v

    def together(mentioned: set[Expr]) -> None:
        ranges = [find(v) for v in mentioned if v in first]
        for a, b in pairwise(ranges):
            first[find(a)] = find(b)
        if ranges and len(ranges) < len(mentioned):
            tied.add(find(ranges[0]))

    for e in exprs:
        loose: set[Expr] = set()
        for t, _ in summands(e):
            mentioned = _variables([t])
            if mentioned <= first.keys():
                loose |= mentioned
            else:
                together(mentioned)
        together(loose)
    for c in m.constraints:
        together(_variables([c.expr]))
    return {v: find(v) for v in first}, {find(v) for v in tied}


@lru_cache(maxsize=10_000)
def _sides(
    ranges: tuple[Variable, ...], parts: tuple[Expr, ...], constraints: tuple[Constraint, ...]
) -> list[tuple[int, int, int, int]] | None:
    """Return the sides of the box of values that the parts take together; None if these are no box.

    Each side has the least value, the number of values, their distance, and the first part that is always equal.
    """
    if not constraints and len(parts) == 1 and (side := _linear_side(ranges, parts[0])) is not None:
        return [(*side, 0)]
    if prod(v.size for v in ranges) > _MOST_POINTS:
        return None
    image = {b for _, b in IndexingMap((), ranges, (), parts, constraints).relation()}
    if not image:
        return None  # empty domains are left to the simplifier
    sides: list[tuple[int, int, int, int]] = []
    columns: dict[tuple[int, ...], int] = {}
    for k, column in enumerate(zip(*image, strict=True)):
        values = sorted(set(column))
        steps = {b - a for a, b in pairwise(values)}
        if len(steps) > 1:
            return None
        at = columns.setdefault(column, k)
        sides.append((values[0], len(values), next(iter(steps), 1), at))
    size = prod(n for k, (_, n, _, at) in enumerate(sides) if k == at)
    return sides if size == len(image) else None


def _linear_side(ranges: Sequence[Variable], part: Expr) -> tuple[int, int, int] | None:
    """Return first value, count and distance of the values of a linear sum; None if they are no progression."""
    box: dict[Expr, Variable] = {v.expr: v for v in ranges}
    terms = sorted(((box.get(t), k) for t, k in summands(part)), key=lambda term: abs(term[1]))
    lo, count, step = 0, 1, 0
    for v, k in terms:
        if v is None:
            return None
        step = step or abs(k)
        if abs(k) % step or abs(k) > step * count:
            return None
        lo += min(k * v.lo, k * v.hi)
        count += abs(k) // step * (v.size - 1)
    return lo, count, step


# ------------------------------------------------------------------------------------------------------------ digits
def _in_digits(m: IndexingMap) -> IndexingMap | None:
    """Replace the first range that only occurs in its quotient and remainder by one number by these two digits."""
    exprs = [*m.results, *(c.expr for c in m.constraints), *m.source_indices]
    users: dict[Expr, set[Expr]] = {v.expr: {e for e in exprs if e is v.expr} for v in m.ranges}
    for node in postorder(*exprs):
        for child in node.children:
            if child in users:
                users[child].add(node)
    for at, v in enumerate(m.ranges):
        radices = {e.b if isinstance(e, (FloorDiv, Mod)) and e.a is v.expr else None for e in users[v.expr]}
        n = radices.pop() if len(radices) == 1 else None
        if isinstance(n, Int) and n.value > 1 and v.lo % n.value == v.size % n.value == 0:
            low = Variable(unused_name(f"s{len(m.ranges)}", {u.name for u in m.variables}), 0, n.value - 1)
            high = Variable(v.name, v.lo // n.value, v.hi // n.value)
            digits = m.rewritten({v.expr // n: high.expr, v.expr % n: low.expr}, rts=m.rts)
            return digits.with_(ranges=(*m.ranges[:at], high, low, *m.ranges[at + 1 :]))
    return None


# ---------------------------------------------------------------------------------------------------------- residues
def _counted(m: IndexingMap) -> IndexingMap | None:
    """Replace a range that a constraint restricts to one remainder by a range that counts quotients."""
    ranges = {v.expr: v for v in m.ranges}
    held = _variables(m.source_indices)
    for c in m.constraints:
        e = c.expr
        if not isinstance(e, Mod) or not isinstance(e.b, Int) or not 0 <= c.lo == c.hi < e.b.value:
            continue
        n, terms = e.b.value, summands(e.a)
        for t, k in terms:
            nested = _variables(u for u, _ in terms if u is not t)
            if t not in ranges or abs(k) != 1 or t in held or t in nested:
                continue
            v = ranges[t]
            ends = Facts(m.bounds).interval(e.a)
            quotient = Variable(v.name, int(ends.lo) // n, int(ends.hi) // n)
            value = linear(k * c.lo, ((t, k * n), (e.a, -k), (t, 1)))
            others = [d for d in m.constraints if d is not c]
            return _replaced(m, v, value, [quotient if u is v else u for u in m.ranges], others)
    return None


# ------------------------------------------------------------------------------------------------------- elimination
def _without_hidden(m: IndexingMap) -> IndexingMap | None:
    """Eliminate the first range that only constraints mention, if one can be eliminated."""
    for v in _hidden(m):
        constraints = _eliminated(v, m.constraints, Facts(m.bounds))
        if constraints is not None and len(constraints) <= len(m.constraints):
            kept = tuple(u for u in m.ranges if u is not v)
            return m.with_(ranges=kept, constraints=constraints)
    return None


def _hidden(m: IndexingMap) -> list[Variable]:
    """Return the ranges that only constraints mention."""
    shown = _variables([*m.results, *m.source_indices])
    return [v for v in m.ranges if v.expr not in shown]


def _eliminated(v: Variable, constraints: Sequence[Constraint], facts: Facts) -> tuple[Constraint, ...] | None:
    """Eliminate a range that constraints bound, by Fourier-Motzkin; None if the result would not be exact."""
    x = v.expr
    # lower and upper bounds of `a·x`
    least: list[tuple[int, Expr]] = [(1, linear(v.lo, ()))]
    most: list[tuple[int, Expr]] = [(1, linear(v.hi, ()))]
    said: dict[Terms, tuple[int, int]] = {}

    def say(e: Expr, lo: int, hi: int) -> None:
        """Add a constraint, merged with others on the same sum without its constant."""
        shift, terms = as_sum(e)
        lo, hi = lo - shift, hi - shift
        if terms and terms[0][1] < 0:
            terms, lo, hi = tuple((t, -k) for t, k in terms), -hi, -lo
        have = said.get(terms, (lo, hi))
        said[terms] = max(lo, have[0]), min(hi, have[1])

    for c in constraints:
        shift, said_terms = as_sum(c.expr)
        terms = dict(said_terms)
        k = terms.pop(x, 0)
        if x in _variables(terms):
            return None  # x occurs below a division
        if not k:
            say(c.expr, c.lo, c.hi)
            continue
        sign = 1 if k > 0 else -1
        rest = [(t, -sign * j) for t, j in terms.items()]
        ends = [linear(sign * (end - shift), rest) for end in (c.lo, c.hi)[::sign]]
        least.append((abs(k), ends[0]))
        most.append((abs(k), ends[1]))
    for a, low in least:
        for b, high in most:
            room = linear(0, ((high, a), (low, -b)))
            room_ends = facts.interval(room)
            if room_ends.lo >= (a - 1) * (b - 1):
                continue  # an integer always lies between
            if min(a, b) > 1:
                return None
            say(room, 0, max(int(room_ends.hi), 0))
    return tuple(Constraint(linear(0, terms), lo, hi) for terms, (lo, hi) in said.items())


def _summed(m: IndexingMap) -> IndexingMap | None:
    """Replace two ranges that occur only as summands of one result by one range."""
    ranges = {v.expr: v for v in m.ranges}
    for place, e in enumerate(m.results):
        others = _variables([*(r for k, r in enumerate(m.results) if k != place), *m.source_indices])
        terms = summands(e)
        nested = _variables(t for t, _ in terms if not isinstance(t, Var))
        alone = [(t, k) for t, k in terms if t in ranges and t not in others and t not in nested]
        for gone, step in alone:
            for kept, unit in alone:
                if kept is gone or abs(unit) != 1 or step % unit:
                    continue
                after = _one_for_two(m, (ranges[gone], step), (ranges[kept], unit))
                if after is not None:
                    return after
    return None


def _one_for_two(m: IndexingMap, gone: tuple[Variable, int], kept: tuple[Variable, int]) -> IndexingMap | None:
    """Substitute `total = kept + step·gone` for `kept` and eliminate `gone`; None if that is not exact."""
    (v, step), (u, unit) = gone, kept
    step *= unit
    moved = linear(0, ((u.expr, 1), (v.expr, -step)))
    ends = (step * v.lo, step * v.hi)
    total = Variable(u.name, u.lo + min(ends), u.hi + max(ends))
    after = _replaced(m, u, moved, [total if w is u else w for w in m.ranges], m.constraints)
    found = _eliminated(v, after.constraints, Facts(after.bounds))
    if found is None or len(found) > len(m.constraints) + 1:
        return None
    return after.with_(ranges=tuple(w for w in after.ranges if w is not v), constraints=found)


def _determined(m: IndexingMap) -> IndexingMap | None:
    """Replace a hidden range by a quotient: `0 <= e - c·s <= h < c` implies that `s` is `e floordiv c`."""
    for v in _hidden(m):
        for c in m.constraints:
            terms = dict(summands(c.expr))
            k, width = terms.pop(v.expr, 0), c.hi - c.lo
            if not k or width >= abs(k) or v.expr in _variables(terms):
                continue
            sign = 1 if k < 0 else -1
            e = linear(0, ((c.expr, sign), (v.expr, abs(k)))) - min(sign * c.lo, sign * c.hi)
            others = [d for d in m.constraints if d is not c] + [Constraint(e % abs(k), 0, width)]
            return _replaced(m, v, e // abs(k), [u for u in m.ranges if u is not v], others)
    return None
