"""Sign cases: the decided signs and the definitions under which conditions are read, and the names of values."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace

from ...core.expr import Var
from .formula import Zero
from .polynomial import Poly, variable
from .record import LinearFact, Resolved


@dataclass(frozen=True)
class Witness:
    """``dividend = divisor·quotient + remainder`` with ``0 <= remainder < divisor``."""

    dividend: Poly
    divisor: Poly
    quotient: Poly
    remainder: Poly

    def substitute(self, values: dict[str, Poly]) -> Witness:
        """Return the equation after a substitution."""
        return Witness(
            self.dividend.substitute(values),
            self.divisor.substitute(values),
            self.quotient.substitute(values),
            self.remainder.substitute(values),
        )


@dataclass(frozen=True)
class Definition:
    """The substitution ``name = value``, with facts about the names in ``value`` that reading again would not find.

    ``equation`` is the fact that states it, ``None`` where the value only renames, as in ``b = -b'``.
    """

    name: str
    value: Poly
    facts: tuple[LinearFact, ...] = ()
    witness: Witness | None = None
    equation: LinearFact | None = None


@dataclass(frozen=True)
class SignCase:
    """Decisions under which conditions are read.  No value of a definition mentions a defined name."""

    definitions: dict[str, Poly] = field(default_factory=dict)
    signs: tuple[tuple[Poly, int], ...] = ()
    facts: tuple[LinearFact, ...] = ()
    witnesses: tuple[Witness, ...] = ()
    rejected: frozenset[str] = frozenset()

    def with_definition(self, d: Definition) -> SignCase:
        """Return the case with one more definition; a circular or second one is rejected."""
        value = d.value.substitute(self.definitions)
        if d.name in value.names or d.name in self.definitions:
            return replace(self, rejected=self.rejected | {d.name})
        one = {d.name: value}
        return replace(
            self,
            definitions={**{v: p.substitute(one) for v, p in self.definitions.items()}, d.name: value},
            facts=(*self.facts, *d.facts),
            witnesses=(*self.witnesses, *((d.witness,) if d.witness else ())),
        )

    def with_sign(self, p: Poly, sign: int) -> SignCase:
        """Return the case in which ``p`` has this sign."""
        p = p.substitute(self.definitions)
        case = replace(self, signs=(*self.signs, (p, sign)))
        name = p.single
        if name is not None and sign < 0:
            # write a negative name as the negation of a positive one: what follows only handles positive divisors
            return case.with_definition(Definition(name, -variable(f"{name}!neg")))
        if sign == 0:
            for v, c in p.units():
                return case.with_definition(Definition(v, p.without(v) * -c))
        return case


class ValueNames:
    """Names of values that are no polynomials.  A name means the same in every reading of a claim."""

    def __init__(self) -> None:
        self._of: dict[tuple[object, ...], Poly] = {}

    def of(self, stem: str, *meaning: object) -> Poly:
        """Return the name of the value that ``meaning`` determines."""
        entry = stem, *meaning
        if entry not in self._of:
            self._of[entry] = variable(f"{stem}!{len(self._of) + 1}")
        return self._of[entry]


class ImpossibleCase(Exception):
    """The hypotheses contradict the decisions of the case: they imply ``fact``, which is false."""

    def __init__(self, fact: LinearFact) -> None:
        super().__init__(fact.why)
        self.fact = fact


class NeedSign(Exception):
    """The sign of ``poly`` must be decided; ``options`` are the signs that bounds do not exclude."""

    def __init__(self, poly: Poly, options: tuple[int, ...], divisor: Poly, excluded: dict[int, Resolved]) -> None:
        super().__init__(str(poly))
        self.poly = poly
        self.options = options
        self.divisor = divisor
        self.excluded = excluded


def name_of(v: Var) -> str:
    """Return the polynomial name of a variable; the kind is part of a variable's identity.

    Names of :class:`ValueNames` have a single ``!``, which is doubled here: the two kinds of names never coincide.
    """
    name = v.name.replace("!", "!!").replace(":", "::")
    return f"{name}:{v.kind}" if v.kind else name


_RANKS = {"r": 1, "min": 1, "max": 1, "q": 2}


def rank(name: str) -> int:
    """Return the elimination rank: variables of the claim first, quotients last, since dividends are written in them."""
    stem, mark, number = name.rpartition("!")
    return _RANKS.get(stem, 0) if mark and number.isdecimal() else 0


def best_definition(facts: Iterable[LinearFact], rejected: Collection[str] = ()) -> tuple[str, Poly, LinearFact] | None:
    """Return the next equation to solve as a name, its value and the fact, or ``None``.

    Variables of the claim are eliminated before remainders and extrema, and those before quotients.
    """
    best: tuple[tuple[int, int, int, str], LinearFact, int] | None = None
    for f in facts:
        if isinstance(f.formula, Zero):
            p = f.formula.p
            for v, c in p.units():
                order = rank(v), p.degree, len(p), v
                if v not in rejected and (best is None or order < best[0]):
                    best = order, f, c
    if best is None:
        return None
    (_, _, _, name), equation, c = best
    assert isinstance(equation.formula, Zero)
    return name, equation.formula.p.without(name) * -c, equation
