"""Compares deep expressions level by level, by merging quotients that are proved equal.

Expressions become linear forms over atoms as in :mod:`.normal_form`, but a new quotient or minimum is first compared
with earlier ones.  Two whose values differ by a constant at sample points are candidates.  Whether they are equal is a
question about a few levels of definitions, which is linear once every quotient is an integer with ``0 <= x - c·q < c``.
Atoms proved equal are merged, so a question about twelve nested divisions becomes a dozen questions about one or two.
Samples only suggest equalities; isl and z3 prove them.  isl is asked first: it is fast on few atoms, also with wide
coefficients, on which z3 is slow.  A minimum is a disjunction, of which isl decides each case if there are few.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np

from ...core.expr import Var, interpret
from ...core.interval import Interval, is_infinite
from .climbing import Definitions, climbed
from .enumerate import drawn, satisfied, shrunk
from .forms import Form, NotQuasiAffine, Row, add, add_term, combined, constant, is_constant, plus, scaled
from .narrowing import NarrowedBox, differences
from .problem import HOLDS, Box, Outcome, Point, Problem

NAME = "SAT sweeping"
#: Limit on the z3 resource units of one local question, and the factor for the last question about an option.
BUDGET = 60_000
_LAST = 5
#: Limit on isl operations, divided by the number of atoms since operations on many atoms take longer.
_OPERATIONS = 16_000
#: isl is asked first if disjunctions have at most so many cases together.
_CASES = 16
#: Upper limit on the budget of one local question; beyond it only the search for a counterexample grows.
_PATIENT = 4_000_000
#: The number of sample points, of points drawn for them, and of those that must satisfy the facts at least.
_SAMPLES = 96
_DRAWN = 2048
_FEWEST = 8
#: Limit on the candidates of each sign that are tried for one atom.
_TRIED = 3
#: Limit on the atoms that are unfolded to compute a range, the newest first.
_UNFOLDED = 48
#: Levels of definitions that local questions unfold, and the limit on their atoms.
_LEVELS = (1, 2, 4)
_ATOMS = 40
#: Generations of points in the search for counterexamples; they grow with the square root of the budget.
_GENERATIONS = 40
#: Generations before the box is narrowed, and the limit on options.
_FIRST = 8
_OPTIONS = 8
#: Limit on the differences by which the box is narrowed.
_DOUBTS = 24
_Answers: TypeAlias = "dict[str, tuple[bool | None, Point]]"
_NOTHING: Mapping[int, Form] = {}


class _Atoms(Definitions):
    """An algebra (see :func:`~indexproof.core.expr.interpret`) whose values are linear forms over shared atoms."""

    def __init__(
        self, box: Box, columns: Sequence[Any], budget: int, answers: _Answers, assumed: Mapping[int, Form] = _NOTHING
    ) -> None:
        self.budget = min(budget, _PATIENT)
        super().__init__()
        #: Cache of the solvers' answers to local questions.
        self.answers = answers
        #: Forms that atoms are assumed to equal; if there are any, z3 is not asked.
        self.assumed = assumed
        self.named: dict[object, Form] = {}
        self.alike: dict[object, list[int]] = {}
        self.samples: list[Any] = [np.array([1] * _length(columns), dtype=object)]
        for (v, (lo, hi)), column in zip(box, columns, strict=True):
            self.variables[v] = {self._atom(lo, hi, column): 1}

    def _atom(self, lo: int | float, hi: int | float, values: Any) -> int:
        atom = self.new_atom(lo, hi)
        self.samples.append(values)
        self.alike.setdefault(_shape(values), []).append(atom)
        return atom

    def values(self, f: Form) -> Any:
        """Return the values of ``f`` at the sample points."""
        return combined(f, self.samples)

    def range(self, f: Form) -> Interval:
        """Return an interval for ``f``, by the bounds of its atoms before and after unfolding quotients."""
        found = self.bounds(f)
        slack = Interval(0, 0)
        for _ in range(_UNFOLDED):
            pairs = ((m, *self.quotients[m]) for m in sorted(f, reverse=True) if m in self.quotients)
            hit = next(((m, a, c) for m, a, c in pairs if f[m] % c == 0), None)
            if hit is None:
                break
            m, a, c = hit
            k = -f[m] // c
            f = plus(plus(f, a, -k), {m: 1}, k * c)
            slack = slack.plus(Interval(min(0, k * (c - 1)), max(0, k * (c - 1))))
            found &= self.bounds(f).plus(slack)
        return found

    # -- local questions
    def implied(self, f: Form, within: Interval, levels: Sequence[int] = _LEVELS, factor: int = 1) -> bool:
        """Return whether ``f`` is proved to lie in ``within``, by its range or by unfolding a few levels of definitions."""
        if self.range(f).inside(within):
            return True
        before: set[int] = set()
        for level in levels:
            cone, complete = self._cone(f, level)
            if cone == before:
                break
            before = cone
            found, _ = self._asked(cone, (f, within), factor)
            if found is False:
                return True
            if complete and found:
                break
        return False

    def point(self, f: Form, within: Interval, factor: int) -> tuple[bool | None, dict[int, int]]:
        """Return whether ``f`` can leave ``within``, with all definitions unfolded, and values of atoms for it."""
        cone, _ = self._cone(f, len(self.lo))
        found, values = self._asked(cone, (f, within), factor)
        return found, dict(zip(sorted(cone), values, strict=False))

    def _cone(self, f: Form, levels: int) -> tuple[set[int], bool]:
        """Return the atoms that ``f`` depends on through ``levels`` definitions, and whether these are all."""
        cone = {m for m in f if m}
        layer = set(cone)
        for _ in range(levels):
            below = {j for m in layer for g in self._definition(m) for j in g if j} - cone
            if len(cone) + len(below) > _ATOMS:
                return cone, False
            if levels > 1:
                # add the atoms that share a fact with these
                touching = {j for g, _ in self.rows if not cone.isdisjoint(g) for j in g if j} - cone
                if len(cone) + len(below) + len(touching) <= _ATOMS:
                    below |= touching
            if not below:
                return cone, True
            cone |= below
            layer = below
        return cone, False

    def _definition(self, m: int) -> list[Form]:
        return [self.quotients[m][0]] if m in self.quotients else self.minima.get(m, [])

    def _asked(self, cone: set[int], goal: Row, factor: int) -> tuple[bool | None, Point]:
        number = {m: k for k, m in enumerate(sorted(cone), 1)} | {0: 0}
        rows: list[Row] = [row for row in self.rows if number.keys() >= row[0].keys()]
        choices: list[list[list[Row]]] = []
        for m in sorted(cone):
            if m in self.quotients:
                a, c = self.quotients[m]
                if number.keys() >= a.keys():
                    rows.append((plus(a, {m: 1}, -c), Interval(0, c - 1)))
            gaps = [plus(g, {m: 1}, -1) for g in self.minima.get(m, ()) if number.keys() >= g.keys()]
            rows += [(g, Interval(0, math.inf)) for g in gaps]
            if gaps and len(gaps) == len(self.minima[m]):
                choices.append([[(g, Interval(-math.inf, 0))] for g in gaps])

        def numbered(rows: Iterable[Row]) -> list[Row]:
            return [({number[m]: k for m, k in f.items()}, i) for f, i in rows]

        atoms = [Interval(self.lo[m], self.hi[m]) for m in sorted(cone)]
        (asked,) = numbered([goal])
        facts, alternatives = numbered(rows), [[numbered(r) for r in c] for c in choices]
        key = repr((atoms, asked, facts, alternatives))
        if key in self.answers:
            return self.answers[key]
        found: bool | None = None
        values: Point = ()
        if math.prod(map(len, alternatives)) <= _CASES:
            from . import isl

            for case in itertools.product(*alternatives):
                rows = [*facts, *itertools.chain(*case)]
                found, values = isl.counterexample(atoms, rows, asked, _OPERATIONS // max(len(atoms), 1))
                if found is not False:
                    break
        if not self.assumed and found is None:
            from . import smt

            found, values = smt.counterexample(atoms, facts, alternatives, asked, self.budget * factor)
        if found is not None:
            self.answers[key] = found, values
        return found, values

    # -- the algebra
    def quotient(self, a: Form, c: int) -> Form:
        out: Form = {}
        sign = 1
        while True:
            rest: Form = {}
            for m, k in a.items():
                q, r = divmod(k, c)
                if m and 2 * r > c:
                    q, r = q + 1, r - c
                add_term(out, m, sign * q)
                if r:
                    rest[m] = r
            g = math.gcd(c, *(k for m, k in rest.items() if m))
            if g > 1:
                a, c = {m: k // g for m, k in rest.items() if k // g}, c // g
                continue
            lo, hi = self.range(rest)
            if not (is_infinite(lo) or is_infinite(hi)) and lo // c == hi // c:
                add_term(out, 0, sign * int(lo // c))
                return out
            if rest[_lead(rest)] < 0:
                # x // c = -((c - 1 - x) // c)
                a, sign = plus(constant(c - 1), rest, -1), -sign
                continue
            content = frozenset(rest.items()), c
            if content not in self.named:
                self.named[content] = self._named(rest, c)
            add(out, self.named[content], sign)
            return out

    def minimum(self, args: list[Form]) -> Form:
        forms = self.least(args)
        if len(forms) == 1:
            return forms[0]
        # move common terms outside; of two forms, one becomes zero and the other has a positive leading coefficient
        base = {m: k for m, k in forms[0].items() if m and all(f.get(m) == k for f in forms)}
        add_term(base, 0, min(f.get(0, 0) for f in forms))
        if len(forms) == 2:
            gap = plus(forms[1], forms[0], -1)
            base = forms[0] if gap[_lead(gap)] > 0 else forms[1]
        forms = [plus(f, base, -1) for f in forms]
        content = frozenset(frozenset(f.items()) for f in forms)
        if content not in self.named:
            self.named[content] = self._named_minimum(forms)
        return plus(base, self.named[content], 1)

    def above(self, f: Form, g: Form) -> bool:
        """Return whether ``f >= g`` is proved."""
        gap = plus(f, g, -1)
        if is_constant(gap):
            return gap.get(0, 0) >= 0
        natural = Interval(0, math.inf)
        if self.range(gap).inside(natural):
            return True
        return bool(np.all(self.values(gap) >= 0)) and self.implied(gap, natural)

    def _named_minimum(self, forms: list[Form]) -> Form:
        """Return a form for the minimum: a known atom up to sign and constant if proved equal, else a new one."""
        values = np.minimum.reduce([self.values(f) for f in forms])
        candidates = [*self._candidates(values)]
        ranges = [self.range(f) for f in forms]
        atom = self._atom(min(r.lo for r in ranges), min(r.hi for r in ranges), values)
        self.minima[atom] = forms
        for f in candidates:
            # f is at most every argument, and equals their minimum
            if all(self.implied(plus(g, f, -1), Interval(0, math.inf)) for g in forms) and self.implied(
                plus(f, {atom: 1}, -1), Interval(0, 0)
            ):
                return f
        return self._doubted(atom, candidates)

    # -- quotients
    def _named(self, rest: Form, c: int) -> Form:
        """Return a form for ``rest // c``: a known atom up to sign and constant if proved equal, else a new one."""
        values = self.values(rest) // c
        tried = []
        for f in self._candidates(values):
            if self.implied(plus(rest, f, -c), Interval(0, c - 1)):
                return f
            tried.append(f)
        lo, hi = self.range(rest)
        low, high = (x if is_infinite(x) else x // c for x in (lo, hi))
        atom = self._atom(low, high, values)
        self.quotients[atom] = rest, c
        return self._doubted(atom, tried)

    def _doubted(self, atom: int, candidates: Iterable[Form]) -> Form:
        """Record that a new atom was not proved equal to ``candidates``; return its form, or the assumed one."""
        self.doubts += [plus({atom: 1}, f, -1) for f in candidates]
        return self.assumed.get(atom, {atom: 1})

    def _candidates(self, values: Any) -> Iterator[Form]:
        """Yield forms with these values at the sample points: a constant, or an atom or its negation plus a constant."""
        shape = _shape(values)
        if not any(shape):
            yield constant(int(values[0]))
        for sign in (1, -1):
            for m in self.alike.get(_shape(values * sign), ())[:_TRIED]:
                yield plus({m: sign}, {0: 1}, int(values[0]) - sign * int(self.samples[m][0]))


def _length(columns: Sequence[Any]) -> int:
    return len(columns[0]) if columns else 1


def _shape(values: Any) -> tuple[int, ...]:
    """Return the values minus the first one, as a key."""
    return tuple((values - values[0]).tolist())


def _lead(f: Form) -> int:
    return min(m for m in f if m)


# ------------------------------------------------------------------------------------------------ the engine
def _columns(problem: Problem) -> list[Any]:
    """Return sample values of each variable, at points that satisfy the facts if enough of those drawn do."""
    columns = [drawn(i, _DRAWN, k, object) for k, (_, i) in enumerate(problem.variables)]
    rows = np.flatnonzero(satisfied(problem.where, dict(zip((v for v, _ in problem.variables), columns, strict=True))))
    if len(rows) < _FEWEST:
        rows = np.arange(_DRAWN)
    return [c[rows[:_SAMPLES]] for c in columns]


def decide(problem: Problem, budget: int = BUDGET) -> Outcome:
    """Return ``holds`` or ``fails`` (rarely minimal) if merging quotients or climbing decides it, otherwise ``open``."""
    variables = {v for v, _ in problem.variables}
    # drop guesses that mention a variable which the problem does not have
    options = [o for option in problem.options for o in option.guessed() if o.variables() <= variables]
    if not 0 < len(options) <= _OPTIONS or not problem.variables:
        return Outcome("open", note="not tried")
    if any(is_infinite(x) for _, i in problem.variables for x in i):
        return Outcome("open", note="not tried")
    smaller, fixed = Problem(problem.variables, problem.where, tuple(options)), {}
    try:
        while True:
            simple = smaller.simplified()
            if simple is None:
                return HOLDS
            smaller, more = simple
            fixed.update(more)
            answers: _Answers = {}
            columns = _columns(smaller)
            atoms = _Atoms(smaller.variables, columns, budget, answers)
            rows = _open_rows(smaller, atoms)
            if not all(rows):
                return HOLDS
            if (found := _climbed(smaller, atoms, rows, _FIRST)) is None:
                box = _narrowed(smaller, atoms, rows, columns)
                if box is None:
                    return HOLDS
                sizes = [(i.size, j.size) for (_, i), (_, j) in zip(box, smaller.variables, strict=True)]
                if any(2 * new <= old for new, old in sizes):
                    smaller = replace(smaller, variables=box)
                    continue
                # counterexamples are usually found early, so generations grow slowly
                generations = math.isqrt(_GENERATIONS**2 * budget // BUDGET)
                found = _climbed(smaller, atoms, rows, generations)
            return _decided(problem, smaller, atoms, rows, fixed, found)
    except NotQuasiAffine:
        return Outcome("open", note="not quasi-affine")


def _open_rows(problem: Problem, atoms: _Atoms) -> list[list[Row]]:
    """Return the facts of each option that are not proved."""
    for f in problem.where:
        # one by one, so that each fact may help to merge atoms of the next
        (form,) = interpret([f.expr], atoms)
        atoms.rows.append((form, f.within))
    claims = [list(zip(interpret([f.expr for f in o.facts], atoms), o.facts, strict=True)) for o in problem.options]
    return [[(g, f.within) for g, f in claim if not atoms.implied(g, f.within)] for claim in claims]


def _narrowed(problem: Problem, atoms: _Atoms, rows: list[list[Row]], columns: list[Any]) -> Box | None:
    """Return a box that contains all counterexamples, or ``None`` if there are none.

    If the claim holds under the assumption that a difference is zero, the difference is nonzero at counterexamples.
    """
    bounds = NarrowedBox(atoms)
    if len(rows) == 1 and len(rows[0]) == 1 and not bounds.narrow(*rows[0][0]):
        return None
    for f in itertools.islice(differences(atoms), _DOUBTS):
        m = max(f)
        if abs(f[m]) != 1:
            continue
        same = scaled(plus(f, {m: 1}, -f[m]), -f[m])
        again = _Atoms(problem.variables, columns, atoms.budget, atoms.answers, {m: same})
        if not all(_open_rows(problem, again)) and not bounds.narrow(f, Interval(0, 0)):
            return None
    return tuple((v, bounds.box[m]) for m, (v, _) in enumerate(problem.variables, 1))


def _climbed(problem: Problem, atoms: _Atoms, rows: list[list[Row]], generations: int) -> dict[int, int] | None:
    return climbed(atoms, rows, problem, atoms.samples[1 : len(problem.variables) + 1], generations)


def _decided(
    problem: Problem,
    smaller: Problem,
    atoms: _Atoms,
    rows: list[list[Row]],
    fixed: dict[Var, int],
    found: dict[int, int] | None,
) -> Outcome:
    """Return the verdict from a ``found`` point, or from questions with all definitions unfolded."""
    if found is None and len(rows) == 1:
        for row in list(rows[0]):
            fails, values = atoms.point(*row, _LAST)
            if fails:
                found = values
                break
            if fails is False:
                rows[0].remove(row)
        if not rows[0]:
            return HOLDS
    if found is not None:
        # the atoms of variables come first, in their order
        known = {v: found[m] for m, (v, _) in enumerate(smaller.variables, 1) if m in found}
        point = problem.restored({**fixed, **known})
        if problem.violated_by(point):
            return Outcome("fails", shrunk(problem, point), minimal=False, note="not minimised")
    return Outcome("open", note="out of budget")
