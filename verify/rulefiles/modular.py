"""Three strategies for claims about polynomials modulo a number.

*Residues*: ``x·x % 4 <= 1`` is proved for ``x = 4·k + r`` with each r from 0 to 3: multiples of 4 then vanish from the
remainder, and the rest is linear.

*Roots* of a polynomial in one variable modulo a power of two are a few residue classes: ``2^w ∣ x·x - x`` exactly if
``2^w`` divides x or ``x - 1``.  They are found bit by bit, as in Hensel lifting.  Let ``p(r + 2^k·y) = a + b·y + …``.  All
integers of the class of r modulo ``2^k`` are roots if ``2^w`` divides every coefficient.  None is if some power of two
up to ``2^w`` divides all coefficients but a.  Otherwise the class is split into r and ``r + 2^k`` modulo ``2^(k+1)``.

*Odd factors*: for odd ``v``, ``2^w ∣ v·e`` exactly if ``2^w ∣ e``.  An odd ``v = 1 + 2·m`` has an inverse: ``1 - (2·m)^K``
is a multiple of ``1 + 2·m`` for even K, and ``2^w`` divides ``(2·m)^K`` for ``K >= w``, so ``v·u = 1 + 2^w·t`` for some u
and t.  So ``v·e = 2^w·q`` implies ``e = 2^w·(u·q - t·e)``.  That v is odd is proved separately, from the hypotheses or by
residues modulo 2.  Candidates for v are the factors that all summands share, and cofactors of other sums of the claim:
``x³ - y³`` is ``x·x + x·y + y·y`` times ``x - y``.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from ...core.condition import (
    REBUILD,
    Compare,
    Condition,
    Divides,
    all_exprs,
    any_of,
    atoms,
    condition_interpret,
    divides,
)
from ...core.expr import Expr, FloorDiv, Int, Mod, Mul, Sum, Var, integer, linear, mod, mul, postorder, var
from .. import linear as reduction
from ..linear.polynomial import Poly
from ..linear.record import Node
from ..obligation import Obligation
from ..solve import reduced
from .known import Polynomials

#: Proves that hypotheses imply a goal: returns a true value, as a recorded proof, or a false one.
Show = Callable[[Sequence[Condition], Condition], Any]
#: The names of these strategies.
RESIDUES = "residues"
ROOTS = "roots"
ODD = "odd factors"
#: Limit on the cases of residues.
_CASES = 96
#: Limits on the classes of roots, and on the classes visited to find them.
_CLASSES = 16
_VISITS = 4096
#: Limit on the degree of polynomials whose roots are computed.
_DEGREE = 12
#: Limits on the degree and the terms of polynomials that are divided.
_DIVIDED_DEGREE = 8
_TERMS = 64


def _power_divides(c: Condition) -> bool:
    """Return whether a condition is a divisibility by a power of two."""
    return isinstance(c, Divides) and isinstance(c.d, Int) and c.d.value > 1 and not c.d.value & (c.d.value - 1)


def _with_powers(c: Condition, instead: Callable[[Int, Expr], Condition]) -> Condition:
    """Replace divisibilities by powers of two."""

    def divided(d: Expr, e: Expr) -> Condition:
        plain = divides(d, e)
        return instead(d, e) if isinstance(d, Int) and _power_divides(plain) else plain

    return condition_interpret(c, lambda e: e, replace(REBUILD, divides=divided))


def attempted(
    strategy: Callable[[Obligation, Show], Any], o: Obligation, limits: reduction.ReductionBudget
) -> tuple[bool, int]:
    """Return whether a strategy proves a claim with the reduction as its prover, and the cost."""
    spent = 0

    def show(hypotheses: Sequence[Condition], goal: Condition) -> bool:
        nonlocal spent
        outcome = reduced(hypotheses, goal, limits)
        spent += outcome.resources
        return outcome.proved

    return bool(strategy(o, show)), spent


# --------------------------------------------------------------------------------------------------------- residues
def proof_by_residues(o: Obligation, show: Show) -> Node | None:
    """Prove the claim in every case of the residues of its variables; return the proof, or ``None``."""
    modulus, variables = _residue_cases(o)
    if not variables:
        return None
    quotients = {v: var(f"{v.name}/{modulus}", v.kind) for v in variables}
    cases = []
    for residues in itertools.product(range(modulus), repeat=len(variables)):
        at = {v: q * modulus + r for (v, q), r in zip(quotients.items(), residues, strict=True)}
        cases.append(show([h.substitute(at) for h in o.hypotheses], o.goal.substitute(at)))
        if not cases[-1]:
            return None
    named = [{"variable": v, "quotient": q} for v, q in quotients.items()]
    return {"step": "residues", "modulus": modulus, "variables": named, "cases": cases}


def _residue_cases(o: Obligation) -> tuple[int, list[Var]]:
    """Return a modulus and the variables of divided polynomials; no variables if there are too many cases.

    The modulus is the first with few enough cases: the least common multiple of the divisors; their greatest common
    divisor, since ``(x·x % 2^w) % 4`` depends on ``x % 4``; the largest power of two that divides it, since 4 divides
    ``x·x - 4·y - 3`` if ``2^w`` does.
    """
    moduli: list[int] = []
    found: set[Var] = set()
    conditions = (*o.hypotheses, o.goal)
    nodes = postorder(*(e for c in conditions for e in all_exprs(c)))
    divided = [(n.a, n.b) for n in nodes if isinstance(n, (FloorDiv, Mod))]
    divided += [(a.e, a.d) for c in conditions for a in atoms(c) if isinstance(a, Divides)]
    for a, b in divided:
        inside = {v for p in postorder(a) if isinstance(p, Mul) for v in p.variables()}
        if isinstance(b, Int) and b.value and inside:
            moduli.append(abs(b.value))
            found |= inside
    variables = sorted(found, key=lambda v: v.name)
    common = math.gcd(*moduli)
    powers = (1 << k for k in range(_CASES.bit_length() - 1, 0, -1) if common % (1 << k) == 0)
    for modulus in (math.lcm(*moduli), common, *powers):
        if modulus >= 2 and modulus ** len(found) <= _CASES:
            return modulus, variables
    return common, []


# ------------------------------------------------------------------------------------------------------------ roots
def proof_by_roots(o: Obligation, show: Show) -> Node | None:
    """Prove the claim with residue classes for divided polynomials; ``None`` without a proof or if products remain."""
    found: dict[tuple[Int, Expr], tuple[Var, list[tuple[int, int]]]] = {}
    left: list[Expr] = []

    def classes_of(d: Int, e: Expr) -> Condition:
        if not any(isinstance(n, Mul) for n in postorder(e)):
            return divides(d, e)
        p = _coefficients(e)
        classes = None if p is None else roots(p[1], d.value)
        if p is None or classes is None:
            left.append(e)
            return divides(d, e)
        found[d, e] = p[0], classes
        return any_of(divides(integer(m), p[0] - r) for r, m in classes)

    hypotheses = [_with_powers(h, classes_of) for h in o.hypotheses]
    goal = _with_powers(o.goal, classes_of)
    then = show(hypotheses, goal) if found and not left else None
    if not then:
        return None
    parts = [{"of": e, "variable": v, "modulus": d.value, "classes": classes} for (d, e), (v, classes) in found.items()]
    return {"step": "roots", "solved": parts, "then": then}


def _coefficients(e: Expr) -> tuple[Var, list[int]] | None:
    """Return the variable of a univariate polynomial and its coefficients by increasing degree, or ``None``."""
    atoms: dict[str, Expr] = {}
    p = _polynomial(e, atoms, _DEGREE, _DEGREE + 1)
    if p is None or len(atoms) != 1:
        return None
    ((name, v),) = atoms.items()
    assert isinstance(v, Var)
    return v, [p.terms.get((name,) * k, 0) for k in range(p.degree + 1)]


def roots(p: Sequence[int], modulus: int) -> list[tuple[int, int]] | None:
    """Return the classes ``r + m·k`` of integers at which ``modulus`` divides a polynomial, or ``None`` if too many.

    The modulus is a power of two.  The classes are disjoint, given as ``(r, m)`` with ``0 <= r < m``, in order.
    """
    found: list[tuple[int, int]] = []
    todo = [([a % modulus for a in p], 0, 1)]
    visits = 0
    while todo:
        # the class of r modulo m, and the coefficients of p(r + m·y)
        q, r, m = todo.pop()
        visits += 1
        if visits > _VISITS or len(found) > _CLASSES:
            return None
        step = math.gcd(modulus, *q[1:])
        if q[0] % step:
            continue
        if step == modulus:
            found.append((r, m))
            continue
        todo += [(_halved(q, b, modulus), r + b * m, 2 * m) for b in (0, 1)]
    return sorted(found) if len(found) <= _CLASSES else None


def _halved(q: Sequence[int], b: int, modulus: int) -> list[int]:
    """Return the coefficients of ``q(2·y + b)``, by Horner's rule."""
    out: list[int] = []
    for a in reversed(q):
        out = [(b * c + 2 * d) % modulus for c, d in zip([*out, 0], [0, *out], strict=True)]
        out[0] = (out[0] + a) % modulus
    return out


# ------------------------------------------------------------------------------------------------------ odd factors
def proof_by_odd_factors(o: Obligation, show: Show) -> Node | None:
    """Prove the claim without its odd factors; ``None`` if there are none or no proof is found."""
    # c ∣ d is used as the definition d = c·k
    factors = {
        h.e: (h.d, var(f"{h.e.name}/{h.d.name}", h.e.kind))
        for h in o.hypotheses
        if isinstance(h, Divides) and isinstance(h.d, Var) and isinstance(h.e, Var) and h.d is not h.e
    }
    multiple: Node | None = None
    if len(factors) == 1:
        ((d, (c, k)),) = factors.items()
        multiple, one = {"step": "multiple", "variable": d, "divisor": c, "quotient": k}, {d: c * k}
        hypotheses = tuple(h.substitute(one) for h in o.hypotheses)
        o = replace(o, hypotheses=hypotheses, goal=o.goal.substitute(one))
    shorter = _Shorter(o, show)
    found = [shorter.of(h) for h in o.hypotheses]
    goal = shorter.of(o.goal)
    # keep the original hypotheses, which may be needed as well
    then = show([*o.hypotheses, *found], goal) if shorter.without else None
    if not then:
        return None
    odd = list(dict.fromkeys(v for vs, _ in shorter.without.values() for v in vs))
    node: Node = {
        "step": "odd factors",
        "odd": [{"factor": v, "proof": shorter.oddness(v)} for v in odd],
        "shorter": [
            {"of": e, "factors": [odd.index(v) for v in vs], "rest": rest} for e, (vs, rest) in shorter.without.items()
        ],
        "then": then,
    }
    return node if multiple is None else {**multiple, "then": node}


class _Shorter:
    """Removes odd factors from conditions, which are equivalent under the hypotheses."""

    def __init__(self, o: Obligation, show: Show) -> None:
        self.obligation = o
        self.show = show
        #: Sums of the claim of which a dividend may be a multiple.
        self.vanishing = list(dict.fromkeys(e for c in (*o.hypotheses, o.goal) for e in _vanishing(c)))
        #: Terms with odd factors: the factors, and the remaining cofactor.
        self.without: dict[Expr, tuple[list[Expr], Expr]] = {}
        self._odd: dict[Expr, Any] = {}

    def of(self, c: Condition) -> Condition:
        """Return the condition without odd factors."""
        return _with_powers(c, lambda d, e: divides(d, self._without(e)))

    def _without(self, e: Expr) -> Expr:
        """Return an expression without its odd factors."""
        polynomials = Polynomials()
        whole, left_out = e, []
        searching = True
        while searching:
            searching = False
            for v, rest in (*_common(e), *_cofactors(e, self.vanishing)):
                if self.oddness(v) and polynomials.of(e) == polynomials.of(mul(v, rest)):
                    e, searching = rest, True
                    left_out.append(v)
                    break
        if left_out:
            self.without[whole] = left_out, e
        return e

    def oddness(self, v: Expr) -> Any:
        """Return a proof that ``v`` is odd, or a false value."""
        if v not in self._odd:
            o = replace(self.obligation, goal=mod(v, 2).eq(1))
            self._odd[v] = self.show(o.hypotheses, o.goal) or proof_by_residues(o, self.show)
        return self._odd[v]


def _vanishing(c: Condition) -> Iterator[Sum]:
    """Yield the sums that a condition compares with zero or divides by a power of two."""
    for atom in atoms(c):
        match atom:
            case Divides(_, Sum() as e) if _power_divides(atom):
                yield e
            case Compare("==" | "!=", a, b) if isinstance(a - b, Sum):
                yield a - b  # type: ignore[misc]


def _cofactors(e: Expr, others: Sequence[Sum]) -> Iterator[tuple[Expr, Expr]]:
    """Yield factorisations of ``e`` into a quotient and one of ``others``."""
    atoms: dict[str, Expr] = {}
    whole = _polynomial(e, atoms, _DIVIDED_DEGREE, _TERMS)
    for other in others:
        if other is e or whole is None:
            continue
        part = _polynomial(other, atoms, _DIVIDED_DEGREE, _TERMS)
        quotient, rest = whole.divide(part, _TERMS) if part else (whole, whole)
        if not rest and not quotient.is_constant:
            terms = [(mul(*(atoms[v] for v in m)), c) for m, c in quotient.key if m]
            yield linear(quotient.constant, terms), other


def _polynomial(e: Expr, atoms: dict[str, Expr], degree: int, terms: int) -> Poly | None:
    """Return an expression as a polynomial in its variables within the limits, or ``None``; add them to ``atoms``."""
    if not all(isinstance(n, (Int, Var, Sum, Mul)) for n in postorder(e)):
        return None
    atoms |= {f"{v.name}:{v.kind}": v for v in e.variables()}
    p = Polynomials().of(e)
    return p if p.degree <= degree and len(p) <= terms else None


def _common(e: Expr) -> Iterator[tuple[Expr, Expr]]:
    """Yield each factor that all summands share, with the sum divided by it."""
    terms = e.terms if isinstance(e, Sum) else ((e, 1),)
    if isinstance(e, Int) or (isinstance(e, Sum) and e.const):
        return
    products = [(t.factors if isinstance(t, Mul) else (t,), k) for t, k in terms]
    for v in dict.fromkeys(products[0][0]):
        if all(v in factors for factors, _ in products):
            left = []
            for factors, k in products:
                others = list(factors)
                others.remove(v)
                left.append((mul(*others), k))
            yield v, linear(0, left)


by_residues = partial(attempted, proof_by_residues)
by_roots = partial(attempted, proof_by_roots)
by_odd_factors = partial(attempted, proof_by_odd_factors)
