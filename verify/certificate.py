"""The checker of certificates: a reduction to linear arithmetic again, step by step, without the prover's code.

A certificate (``indexproof prove --certificates``) says how a claim with symbolic divisors was reduced to questions of
linear arithmetic.  What is trusted here: the language of terms (:mod:`indexproof.core.expr`,
:mod:`indexproof.core.condition`), the statements of the lemmas (:mod:`.schemes`, each proved for itself), the two
solvers at the leaves, and this module.  Nothing that a certificate says is believed:

* the claim is read here; a hypothesis or negated goal among the facts must be what this reading of it gives,
* every quotient and remainder must satisfy ``a = b·q + r`` and ``0 <= r < b``, the equation by expansion and the
  bounds by an explicit combination of facts,
* a product may be replaced by what an equation says that it is,
* a name for a value must be new, and a definition must be an equation that has been shown,
* sign cases must be all there are, or the missing ones excluded by a combination of facts or because a divisor of the
  claim would be zero; cases of a minimum or maximum must cover all of its arguments,
* a term of a goal may be replaced by another one that is shown to be equal to it,
* a bound of a quotient may be replaced by that of its dividend where hypotheses say that the divisor is not negative,
* a factor may be left out of what a power of two divides where it is shown to be odd and the product is what it is,
* residue classes may stand for "a power of two divides this polynomial" where they are its roots, which is calculated,
* a number that a hypothesis calls a multiple may be replaced by one, and variables by their residues modulo a number if
  every combination of these is a case,
* each instance of a lemma must be what the lemma's statement gives, its premises shown, and the lemma be proved, and
* the facts of every leaf must contradict each other in *linear* integer arithmetic, with products as opaque
  integers, for every solver that is asked.

Divisors of the claim are assumed not to be zero, which is an obligation of its own.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from ..core.condition import (
    FALSE,
    TRUE,
    And,
    Compare,
    Condition,
    Divides,
    Not,
    Or,
    Truth,
    Within,
    all_exprs,
    all_of,
    any_of,
    divides,
    negate,
)
from ..core.errors import IndexproofError
from ..core.expr import (
    CeilDiv,
    Expr,
    FloorDiv,
    Int,
    Max,
    Min,
    Mod,
    Mul,
    Sum,
    Var,
    ceildiv,
    floordiv,
    integer,
    linear,
    maximum,
    minimum,
    mod,
    mul,
    postorder,
    var,
)
from .schemes import LEMMAS, STEPS

__all__ = ["CertificateRefused", "Solver", "Verified", "check_certificate", "cvc5_refutes", "z3_refutes"]

FORMAT = "indexproof certificate 1"

Json = Any
#: Whether a question in SMT-LIB is contradictory.
Solver = Callable[[str], bool]


class CertificateRefused(IndexproofError):
    """A certificate that proves nothing: what is wrong, and where."""

    def __init__(self, place: str, reason: str) -> None:
        self.place = place
        self.reason = reason
        super().__init__(f"{place}: {reason}")


@dataclass
class Verified:
    """What was checked: the claim, how many steps and leaves it took, the lemmas and the solvers that were asked."""

    name: str
    hypotheses: tuple[Condition, ...]
    goal: Condition
    steps: int = 0
    leaves: int = 0
    questions: int = 0
    lemmas: dict[str, int] = field(default_factory=dict)
    solvers: tuple[str, ...] = ()


# ---------------------------------------------------------------------------------------------- polynomials
Monomial = tuple[str, ...]
P = dict[Monomial, int]


def _clean(terms: Iterable[tuple[Monomial, int]]) -> P:
    out: P = {}
    for m, c in terms:
        out[m] = out.get(m, 0) + c
    return {m: c for m, c in out.items() if c}


def _plus(a: P, b: P, k: int = 1) -> P:
    return _clean([*a.items(), *((m, k * c) for m, c in b.items())])


def _times(a: P, b: P) -> P:
    return _clean((tuple(sorted(m + n)), c * d) for m, c in a.items() for n, d in b.items())


def _const(n: int) -> P:
    return {(): n} if n else {}


def _name(v: str) -> P:
    return {(v,): 1}


def _put(p: P, values: Mapping[str, P]) -> P:
    """``p`` with polynomials for names."""
    if not any(v in values for m in p for v in m):
        return p
    total: P = {}
    for m, c in p.items():
        term = {tuple(v for v in m if v not in values): c}
        for v in m:
            if v in values:
                term = _times(term, values[v])
        total = _plus(total, term)
    return total


def _names(p: P) -> set[str]:
    return {v for m in p for v in m}


def _key(p: P) -> tuple[tuple[Monomial, int], ...]:
    return tuple(sorted(p.items()))


def _over(p: P, d: P) -> P | None:
    """``p / d`` where that is a polynomial."""
    if not d:
        return None
    lead = max(d, key=lambda m: (len(m), m))
    out: P = {}
    rest = p
    for _ in range(len(p) * 4 + 8):
        if not rest:
            return out
        m = max(rest, key=lambda m: (len(m), m))
        left = list(m)
        for v in lead:
            if v not in left:
                return None
            left.remove(v)
        if rest[m] % d[lead]:
            return None
        term = {tuple(left): rest[m] // d[lead]}
        out = _plus(out, term)
        rest = _plus(rest, _times(term, d), -1)
    return None


#: So many classes are looked at to see that there are no other roots than those that are named.
_LOOKED_AT = 4096
#: How often products are replaced in one term.
_REWRITTEN = 8


def _split(p: P, product: Monomial) -> tuple[P, P]:
    """``kept`` and ``moved`` with ``p = kept + moved·product``; every term that the product divides is moved, once."""
    kept: P = {}
    moved: P = {}
    for m, c in p.items():
        rest = list(m)
        try:
            for v in product:
                rest.remove(v)
        except ValueError:
            kept[m] = c
        else:
            moved[tuple(rest)] = c
    return kept, moved


# ------------------------------------------------------------------------------------------------- formulas
#: ``("ge", p)``, ``("eq", p)``, ``("and", …)`` or ``("or", …)`` in a form that is the same for the same formula.
F = tuple[Any, ...]
_TRUE: F = ("and",)
_FALSE: F = ("or",)


def _gcd(numbers: Iterable[int]) -> int:
    found = 0
    for n in numbers:
        while n:
            found, n = n, found % n
        found = abs(found)
    return found


def _ge(p: P) -> F:
    """``p >= 0``."""
    g = _gcd(c for m, c in p.items() if m)
    if not g:
        return _TRUE if p.get((), 0) >= 0 else _FALSE
    return ("ge", _key(_clean((m, c // g) for m, c in p.items())))


def _eq(p: P) -> F:
    """``p = 0``; the sign of ``p`` does not matter."""
    g = _gcd(c for m, c in p.items() if m)
    if not g:
        return _FALSE if p else _TRUE
    if p.get((), 0) % g:
        return _FALSE
    made = _key({m: c // g for m, c in p.items()})
    turned = _key({m: -c // g for m, c in p.items()})
    return ("eq", max(made, turned))


def _ne(p: P) -> F:
    one = _const(1)
    return _or([_ge(_plus(p, one, -1)), _ge(_plus(_plus({}, p, -1), one, -1))])


def _and(parts: Iterable[F]) -> F:
    kept = {g for f in parts for g in (f[1:] if f[0] == "and" else (f,))}
    if _FALSE in kept:
        return _FALSE
    return next(iter(kept)) if len(kept) == 1 else ("and", *sorted(kept))


def _or(parts: Iterable[F]) -> F:
    kept = {g for f in parts for g in (f[1:] if f[0] == "or" else (f,))}
    if _TRUE in kept:
        return _TRUE
    return next(iter(kept)) if len(kept) == 1 else ("or", *sorted(kept))


def _parts(f: F) -> tuple[F, ...]:
    return f[1:] if f[0] == "and" else (f,)


def _moved(f: F, values: Mapping[str, P]) -> F:
    """``f`` with polynomials for names."""
    match f[0]:
        case "ge":
            return _ge(_put(dict(f[1]), values))
        case "eq":
            return _eq(_put(dict(f[1]), values))
        case "and":
            return _and(_moved(g, values) for g in f[1:])
    return _or(_moved(g, values) for g in f[1:])


def _atoms(f: F) -> Iterator[P]:
    if f[0] in ("and", "or"):
        for g in f[1:]:
            yield from _atoms(g)
    else:
        yield dict(f[1])


# ------------------------------------------------------------------------------------------- linear questions
def _script(formulas: Sequence[F]) -> str:
    """The question whether the formulas contradict each other, every monomial a variable, as SMT-LIB."""
    symbols: dict[Monomial, str] = {}

    def total(p: P) -> str:
        terms = []
        for m, c in sorted(p.items()):
            number = str(c) if c >= 0 else f"(- {-c})"
            if m:
                symbol = symbols.setdefault(m, f"m{len(symbols)}")
                terms.append(f"(* {number} {symbol})")
            else:
                terms.append(number)
        return f"(+ {' '.join(terms)})" if len(terms) > 1 else terms[0] if terms else "0"

    def text(f: F) -> str:
        match f[0]:
            case "ge":
                return f"(>= {total(dict(f[1]))} 0)"
            case "eq":
                return f"(= {total(dict(f[1]))} 0)"
        if len(f) == 1:
            return "true" if f[0] == "and" else "false"
        return f"({f[0]} {' '.join(map(text, f[1:]))})"

    asserted = [f"(assert {text(f)})" for f in formulas]
    declared = [f"(declare-const {s} Int)" for s in symbols.values()]
    return "\n".join(["(set-logic QF_LIA)", *declared, *asserted, "(check-sat)", ""])


def z3_refutes(script: str) -> bool:
    """Whether z3 says that the assertions contradict each other."""
    import z3

    solver = z3.SimpleSolver(ctx=z3.Context())
    solver.set("rlimit", 50_000_000)
    solver.from_string(script)
    return bool(solver.check() == z3.unsat)


def cvc5_refutes(script: str) -> bool:
    """The same by cvc5.  Raises :class:`ImportError` where it is not installed."""
    import cvc5

    manager = cvc5.TermManager() if hasattr(cvc5, "TermManager") else None
    solver = cvc5.Solver(manager) if manager is not None else cvc5.Solver()
    solver.setOption("rlimit", "5000000")
    parser = cvc5.InputParser(solver)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, script, "question")
    symbols = parser.getSymbolManager()
    answers = []
    while not (command := parser.nextCommand()).isNull():
        answers.append(str(command.invoke(solver, symbols)).strip())
    return [a for a in answers if a] == ["unsat"]


# --------------------------------------------------------------------------------------------------- reading
class _Unknown(Exception):
    """A division or an extremum of which nothing has been shown yet."""


_OPS: dict[str, Callable[..., Expr]] = {
    "fdiv": floordiv,
    "mod": mod,
    "cdiv": ceildiv,
    "mul": mul,
    "min": minimum,
    "max": maximum,
}


def _read_terms(table: Sequence[Json]) -> list[Expr]:
    out: list[Expr] = []
    for entry in table:
        match entry:
            case int():
                out.append(integer(_exactly(entry)))
            case ["var", str(name), str(kind)] if not kind or kind.isidentifier():
                out.append(var(name, kind))
            case ["sum", int(const), list(terms)]:
                out.append(linear(_exactly(const), [(out[t], _exactly(k)) for t, k in terms]))
            case [str(op), *args]:
                out.append(_OPS[op](*(out[a] for a in args)))
            case _:
                raise ValueError(f"no term: {entry}")
    return out


def _exactly(n: Json) -> int:
    """An integer; ``true`` and ``1.0`` are equal to one, and would take its place wherever it is used."""
    if type(n) is not int:
        raise ValueError(f"no integer: {n}")
    return n


def _read_condition(c: Json, terms: Sequence[Expr]) -> Condition:
    match c:
        case bool():
            return TRUE if c else FALSE
        case ["<=" | "<" | "==" | "!=" as op, a, b]:
            return Compare(op, terms[a], terms[b])
        case ["within", e, lo, hi]:
            return Within(terms[e], terms[lo], terms[hi])
        case ["divides", d, e]:
            return Divides(terms[d], terms[e])
        case ["not", arg]:
            return Not(_read_condition(arg, terms))
        case ["and", *args]:
            return And(tuple(_read_condition(a, terms) for a in args))
        case ["or", *args]:
            return Or(tuple(_read_condition(a, terms) for a in args))
    raise ValueError(f"no condition: {c}")


def _conjuncts(c: Condition) -> list[Condition]:
    """The parts of a conjunction, ranges as two comparisons."""
    match c:
        case Truth(True):
            return []
        case And(args):
            return [p for a in args for p in _conjuncts(a)]
        case Within(e, lo, hi):
            return [lo <= e, e <= hi]
    return [c]


def _is_natural(e: Expr, known: Sequence[Condition]) -> bool:
    """Whether hypotheses say so of ``e``, or of all that it is a product or a sum of."""
    if isinstance(e, Int):
        return e.value >= 0
    if any(_says_natural(h, e) for h in known):
        return True
    match e:
        case Mul():
            return all(_is_natural(f, known) for f in e.factors)
        case Sum():
            return e.const >= 0 and all(k > 0 and _is_natural(t, known) for t, k in e.terms)
    return False


def _says_natural(h: Condition, e: Expr) -> bool:
    """Whether a hypothesis compares ``e``, plus a constant, with a constant from which ``e >= 0`` follows.

    A range that something lies in is not empty: its upper end is not below the lower one.
    """
    match h:
        case Compare("<=" | "<", a, b):
            strict = 1 if h.op == "<" else 0
            pairs = [(b, a, strict), (-a, -b, strict)]
        case Within(x, lo, hi):
            pairs = [(x, lo, 0), (hi, lo, 0)]
        case _:
            return False
    for large, small, more in pairs:
        beyond = large - e
        # e = large - beyond >= small + more - beyond
        if isinstance(beyond, Int) and isinstance(small, Int) and small.value + more >= beyond.value:
            return True
    return False


def _divisors(roots: Iterable[Expr]) -> set[Expr]:
    """What is divided by in terms, but for numbers."""
    nodes = postorder(*roots)
    return {
        n.b
        for n in nodes
        if isinstance(n, (FloorDiv, Mod, CeilDiv)) and not (isinstance(n.b, Int) and n.b.value)
    }


def _opaque(root: Expr, names: dict[Expr, P]) -> P:
    """The polynomial of a term in which whatever is no sum or product is a name, the same for the same term."""
    for n in postorder(root, known=names):
        match n:
            case Int():
                names[n] = _const(n.value)
            case Sum():
                total = _const(n.const)
                for t, k in n.terms:
                    total = _plus(total, names[t], k)
                names[n] = total
            case Mul():
                product = _const(1)
                for f in n.factors:
                    product = _times(product, names[f])
                names[n] = product
            case _:
                names[n] = _name(f"#{len(names)}")
    return names[root]


def _shortened(c: Condition, shorter: Mapping[Expr, Expr]) -> Condition:
    """The condition with other terms below powers of two."""

    def of(part: Condition) -> Condition:
        match part:
            case Divides(Int() as d, e) if d.value > 1 and not d.value & (d.value - 1):
                return divides(d, shorter.get(e, e))
        return part

    return _replaced(c, of)


def _replaced(c: Condition, of: Callable[[Condition], Condition]) -> Condition:
    """The condition with ``of`` each of the parts that are put together by and, or and not."""
    match c:
        case And(args):
            return all_of(_replaced(a, of) for a in args)
        case Or(args):
            return any_of(_replaced(a, of) for a in args)
        case Not(arg):
            return negate(_replaced(arg, of))
    return of(c)


def _are_roots(p: Sequence[int], modulus: int, classes: Sequence[tuple[int, int]]) -> bool:
    """Whether a power of two divides a polynomial exactly at the integers of classes ``r + m·k``."""

    def at(r: int, m: int) -> list[int]:
        """The coefficients of ``p(r + m·y)``, by the binomial theorem."""
        return [
            sum(a * math.comb(i, j) * r ** (i - j) for i, a in enumerate(p) if i >= j) * m**j
            for j in range(len(p))
        ]

    if any(m < 1 or m & (m - 1) or any(a % modulus for a in at(r, m)) for r, m in classes):
        return False
    todo = [(0, 1)]
    for _ in range(_LOOKED_AT):
        if not todo:
            return True
        r, m = todo.pop()
        if any(m % other == 0 and (r - s) % other == 0 for s, other in classes):
            continue
        free, *rest = at(r, m)
        step = math.gcd(modulus, *rest)
        if free % step:
            continue  # some power of two divides all coefficients but this one
        if step == modulus:
            return False
        todo += [(r, 2 * m), (r + m, 2 * m)]
    return False


def _variable(v: Var) -> str:
    # made names have one `!`, which no name of a variable of a claim is given
    name = v.name.replace("!", "!!").replace(":", "::")
    return f"{name}:{v.kind}" if v.kind else name


class _State:
    """What is known in one case: definitions, signs, facts, and what divisions and extrema are."""

    def __init__(self) -> None:
        self.definitions: dict[str, P] = {}
        self.signs: list[tuple[P, int]] = []
        #: What equations among the facts say of products, in the order in which they replace them.
        self.rewrites: dict[Monomial, P] = {}
        self.facts: set[F] = set()
        self.named: set[F] = set()
        self.divisions: dict[Any, tuple[P, P]] = {}
        self.extrema: dict[Any, P] = {}
        self.extremes: dict[str, tuple[str, tuple[Any, ...]]] = {}
        self.made: dict[Any, tuple[Any, ...]] = {}
        self.names: set[str] = set()

    def copy(self) -> _State:
        """For one of several cases."""
        out = _State()
        for name, value in vars(self).items():
            setattr(out, name, value.copy())
        return out

    def define(self, name: str, value: P) -> None:
        """Replace a name everywhere."""
        one = {name: value}
        self.definitions = {v: _put(p, one) for v, p in self.definitions.items()} | one
        self.signs = [(_put(p, one), s) for p, s in self.signs]
        self.facts = {_moved(f, one) for f in self.facts}
        self.named = {_moved(f, one) for f in self.named}
        self.divisions = {
            (_key(_put(dict(a), one)), _key(_put(dict(b), one))): (_put(q, one), _put(r, one))
            for (a, b), (q, r) in self.divisions.items()
        }
        self.extrema = {
            (op, tuple(_key(_put(dict(a), one)) for a in args)): _put(v, one)
            for (op, args), v in self.extrema.items()
        }
        self.extremes = {
            v: (op, tuple(_key(_put(dict(a), one)) for a in args)) for v, (op, args) in self.extremes.items()
        }
        self.made = {
            (kind, *(_key(_put(dict(k), one)) for k in keys)): tuple(_key(_put(dict(n), one)) for n in names)
            for (kind, *keys), names in self.made.items()
        }

    def sign_facts(self) -> set[F]:
        """What the decided signs say."""
        one = _const(1)
        return {_ge(_plus(_times(p, _const(s)), one, -1)) if s else _eq(p) for p, s in self.signs}

    def is_zero(self, b: P) -> bool:
        """Whether ``b`` is zero in this case."""
        return not b or any(s == 0 and _over(b, p) is not None for p, s in self.signs)

    # -- the meaning of terms
    def value(self, e: Expr, memo: dict[Expr, P]) -> P:
        """The polynomial of a term.  Raises :class:`_Unknown` where a division is not known."""
        for n in postorder(e, known=memo):
            memo[n] = self._meaning(n, memo)
        return memo[e]

    def _meaning(self, n: Expr, memo: Mapping[Expr, P]) -> P:
        match n:
            case Int():
                return _const(n.value)
            case Var():
                name = _variable(n)
                return self.definitions.get(name, _name(name))
            case Sum():
                total = _const(n.const)
                for t, k in n.terms:
                    total = _plus(total, memo[t], k)
                return total
            case Mul():
                product = _const(1)
                for f in n.factors:
                    product = _times(product, memo[f])
                return self.rewritten(product)
            case FloorDiv():
                return self.quotient(memo[n.a], memo[n.b])[0]
            case Mod():
                return self.quotient(memo[n.a], memo[n.b])[1]
            case CeilDiv():
                a, b, one = memo[n.a], memo[n.b], _const(1)
                up = _key(_plus(_plus(a, b), one, -1)), _key(b)
                if up in self.divisions:
                    return self.divisions[up][0]
                a, b = _plus({}, a, -1), _plus({}, b, -1)
                down = _key(_plus(_plus(a, b), one, -1)), _key(b)
                if down in self.divisions:
                    return self.divisions[down][0]
            case Min() | Max():
                entry = type(n).__name__.lower(), tuple(_key(memo[a]) for a in n.args)
                if entry in self.extrema:
                    return self.extrema[entry]
        raise _Unknown

    def rewritten(self, p: P) -> P:
        """``p`` with products replaced by what equations say that they are."""
        for _ in range(_REWRITTEN if self.rewrites else 0):
            for product, value in self.rewrites.items():
                kept, moved = _split(p, product)
                if moved:
                    p = _plus(kept, _times(moved, value))
                    break
            else:
                break
        return p

    def quotient(self, a: P, b: P) -> tuple[P, P]:
        """Quotient and remainder of floor division."""
        a = self.rewritten(a)
        found = self.divisions.get((_key(a), _key(b)))
        if found is not None:
            return found
        found = self.divisions.get((_key(_plus({}, a, -1)), _key(_plus({}, b, -1))))
        if found is None:
            raise _Unknown
        return found[0], _plus({}, found[1], -1)

    def formula(self, c: Condition, memo: dict[Expr, P]) -> F:
        """A condition over polynomials.  Raises :class:`_Unknown`."""
        match c:
            case Truth(value):
                return _TRUE if value else _FALSE
            case Compare(op, x, y):
                gap = _plus(self.value(y, memo), self.value(x, memo), -1)
                match op:
                    case "<=":
                        return _ge(gap)
                    case "<":
                        return _ge(_plus(gap, _const(1), -1))
                    case "==":
                        return _eq(gap)
                return _ne(gap)
            case Within(e, lo, hi):
                return _and(
                    (self.formula(Compare("<=", lo, e), memo), self.formula(Compare("<=", e, hi), memo))
                )
            case And(args):
                return _and(self.formula(a, memo) for a in args)
            case Or(args):
                return _or(self.formula(a, memo) for a in args)
            case Divides(d, e):
                if self.is_zero(self.value(d, memo)):
                    return _FALSE
                return _eq(self.quotient(self.value(e, memo), self.value(d, memo))[1])
            case Not(Divides(d, e)):
                if self.is_zero(self.value(d, memo)):
                    return _TRUE
                return _ne(self.quotient(self.value(e, memo), self.value(d, memo))[1])
            case Not(arg):
                return self.formula(negate(arg), memo)
        raise TypeError(type(c).__name__)


# --------------------------------------------------------------------------------------------------- checking
def check_certificate(
    data: Json,
    claim: tuple[Sequence[Condition], Condition] | None = None,
    *,
    proved: Collection[str] | None = None,
    solvers: Mapping[str, Solver] | None = None,
) -> Verified:
    """Check every step of a certificate.

    With ``claim``, the certificate must be one of these hypotheses and this goal; with ``proved``, each lemma that it
    uses must be named there.  ``solvers`` are asked about every leaf and must all agree; z3 and cvc5 unless given.
    Raises :class:`CertificateRefused`.
    """
    asked = solvers if solvers is not None else {"z3": z3_refutes, "cvc5": cvc5_refutes}
    try:
        if data["format"] != FORMAT:
            raise CertificateRefused("certificate", f"the format is not {FORMAT!r}")
        terms = _read_terms(data["terms"])
        hypotheses = tuple(_read_condition(h, terms) for h in data["claim"]["hypotheses"])
        goal = _read_condition(data["claim"]["goal"], terms)
        if claim is not None and (tuple(claim[0]), claim[1]) != (hypotheses, goal):
            raise CertificateRefused("claim", "this is a certificate of another claim")
        found = Verified(str(data["claim"]["name"]), hypotheses, goal, solvers=tuple(asked))
        checker = _Checker(terms, proved, asked, found)
        known = [p for h in hypotheses for p in _conjuncts(h)]
        checker.prove(data["proof"], known, _conjuncts(goal), "proof")
    except RecursionError as error:
        raise CertificateRefused("certificate", "nested too deep") from error
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, _Unknown) as error:
        raise CertificateRefused("certificate", f"not of the documented form ({error!r})") from error
    if not asked:
        raise CertificateRefused("certificate", "no solver was asked")
    return found


class _Checker:
    def __init__(
        self,
        terms: Sequence[Expr],
        proved: Collection[str] | None,
        solvers: Mapping[str, Solver],
        found: Verified,
    ) -> None:
        self.terms = terms
        self.proved = proved
        self.solvers = solvers
        self.found = found

    # -- the tree
    def prove(self, node: Json, known: list[Condition], goals: list[Condition], place: str) -> None:
        """Check that a node proves that ``known`` implies all ``goals``."""
        match node["step"]:
            case "inline":
                self._inline(node, known, goals, place)
            case "goals":
                shown: list[Condition] = []
                for k, part in enumerate(node["parts"]):
                    goal = _read_condition(part["goal"], self.terms)
                    if goal is not TRUE and goal not in goals:
                        raise CertificateRefused(f"{place}.parts[{k}]", f"{goal} is no goal")
                    self.prove(part["proof"], [*known, *shown], [goal], f"{place}.parts[{k}]")
                    shown.append(goal)
                missing = [g for g in goals if g not in shown]
                if missing:
                    raise CertificateRefused(place, f"{missing[0]} is not shown")
            case "choice":
                self._choice(node, known, goals, place)
            case "quotient bound":
                self._quotient_bound(node, known, goals, place)
            case "equal terms":
                self._equal_terms(node, known, goals, place)
            case "odd factors":
                self._odd_factors(node, known, goals, place)
            case "roots":
                self._roots(node, known, goals, place)
            case "multiple":
                self._multiple(node, known, goals, place)
            case "residues":
                self._residues(node, known, goals, place)
            case "contradiction":
                self.prove(node["then"], known, [FALSE], f"{place}.then")
            case _:
                claim = _Claim(self, known, goals)
                state = _State()
                state.names = {_variable(v) for c in (*known, *goals) for v in c.variables()}
                claim.case(node, state, place)

    def _inline(self, node: Json, known: list[Condition], goals: list[Condition], place: str) -> None:
        v, e = self.terms[node["variable"]], self.terms[node["term"]]
        equations = [h for h in known if isinstance(h, Compare) and h.op == "==" and {h.a, h.b} == {v, e}]
        if not isinstance(v, Var) or not equations or v in e.variables():
            raise CertificateRefused(place, f"{v} = {e} is no hypothesis that defines a variable")
        try:
            rest = [p for h in known if h not in equations for p in _conjuncts(h.substitute({v: e}))]
            goals = [p for g in goals for p in _conjuncts(g.substitute({v: e}))]
        except ZeroDivisionError as error:
            raise CertificateRefused(place, f"{v} = {e} divides by zero") from error
        self.prove(node["then"], rest, goals, f"{place}.then")

    def _choice(self, node: Json, known: list[Condition], goals: list[Condition], place: str) -> None:
        term = self.terms[node["term"]]
        if not isinstance(term, (Min, Max)):
            raise CertificateRefused(place, f"{term} is no minimum or maximum")
        if len(node["cases"]) != len(term.args):
            raise CertificateRefused(place, f"{term} has {len(term.args)} cases, not {len(node['cases'])}")
        # its arguments are compared in the cases, and no divisor there is taken to be zero
        if not _divisors([term]) <= _divisors(e for c in (*known, *goals) for e in all_exprs(c)):
            raise CertificateRefused(place, f"{term} divides by what the claim does not")
        for k, chosen in enumerate(term.args):
            others = [x for n, x in enumerate(term.args) if n != k]
            given = [chosen <= x if isinstance(term, Min) else x <= chosen for x in others]
            try:
                here = [p for h in known for p in _conjuncts(h.substitute({term: chosen}))]
                wanted = [p for g in goals for p in _conjuncts(g.substitute({term: chosen}))]
            except ZeroDivisionError:
                continue  # a divisor of the claim would be zero
            here += [p for c in given for p in _conjuncts(c)]
            self.prove(node["cases"][k], here, wanted, f"{place}.cases[{k}]")

    def _quotient_bound(self, node: Json, known: list[Condition], goals: list[Condition], place: str) -> None:
        """A bound of a quotient is shown if that of its dividend is: ``a // d <= t`` by ``a <= d·t + d - 1``, and
        ``t <= a // d`` by ``d·t <= a``.
        """
        if len(goals) != 1 or not node["sides"]:
            raise CertificateRefused(place, "there is no one goal with a quotient")
        goal = goals[0]
        for side in node["sides"]:
            if not isinstance(goal, Compare) or goal.op not in ("<=", "<"):
                raise CertificateRefused(place, f"{goal} is no bound")
            gap = 1 if goal.op == "<" else 0
            quotient, t = (goal.a, goal.b - gap) if side == "small" else (goal.b, goal.a + gap)
            if side not in ("small", "large") or not isinstance(quotient, FloorDiv):
                raise CertificateRefused(place, f"{quotient} is no quotient")
            a, d = quotient.a, quotient.b
            # it is no zero, because it is a divisor of the claim
            if not _is_natural(d, known):
                raise CertificateRefused(place, f"{d} may be negative")
            goal = a <= d * t + d - 1 if side == "small" else d * t <= a
            self.lemma("quotient of a bound" if side == "small" else "quotient of a natural number", place)
            if side == "large":
                self.lemma("multiple leaves quotient", place)
            self.found.steps += 1
        self.prove(node["then"], known, _conjuncts(goal), f"{place}.then")

    def _equal_terms(self, node: Json, known: list[Condition], goals: list[Condition], place: str) -> None:
        """A goal is shown if it is shown with a term replaced by another one that is shown to be equal to it."""
        term, value = self.terms[node["term"]], self.terms[node["value"]]
        if not _divisors([value]) <= _divisors(e for c in (*known, *goals) for e in all_exprs(c)):
            raise CertificateRefused(place, f"{value} divides by what the claim does not")
        self.prove(node["equal"], known, _conjuncts(term.eq(value)), f"{place}.equal")
        try:
            replaced = [p for g in goals for p in _conjuncts(g.substitute({term: value}))]
        except ZeroDivisionError as error:
            raise CertificateRefused(place, f"{term} = {value} divides by zero") from error
        self.found.steps += 1
        self.prove(node["then"], known, replaced, f"{place}.then")

    def _odd_factors(self, node: Json, known: list[Condition], goals: list[Condition], place: str) -> None:
        """Where ``v`` is odd, ``2^w`` divides ``v·e`` where it divides ``e``.

        ``v·1 = 1 + 2·(v // 2)``, so v has an inverse modulo 2, hence modulo 4, 16, … and whatever divides one of these;
        and what has an inverse can be left out.
        """
        divisors = _divisors(e for c in (*known, *goals) for e in all_exprs(c))
        odd: list[Expr] = []
        for k, part in enumerate(node["odd"]):
            v = self.terms[part["factor"]]
            if not _divisors([v]) <= divisors:
                raise CertificateRefused(f"{place}.odd[{k}]", f"{v} divides by what the claim does not")
            self.prove(part["proof"], known, [Compare("==", mod(v, 2), integer(1))], f"{place}.odd[{k}]")
            odd.append(v)
        shorter: dict[Expr, Expr] = {}
        for k, part in enumerate(node["shorter"]):
            e, rest = self.terms[part["of"]], self.terms[part["rest"]]
            names: dict[Expr, P] = {}
            product = _opaque(rest, names)
            for n in part["factors"]:
                if not 0 <= n < len(odd):
                    raise CertificateRefused(f"{place}.shorter[{k}]", f"there is no odd factor {n}")
                product = _times(product, _opaque(odd[n], names))
            if not _divisors([rest]) <= divisors:
                raise CertificateRefused(
                    f"{place}.shorter[{k}]", f"{rest} divides by what the claim does not"
                )
            if product != _opaque(e, names):
                raise CertificateRefused(f"{place}.shorter[{k}]", f"{e} is no such product")
            shorter[e] = rest
            self.found.steps += 1
        for name in ("remainder", "inverse modulo a square", "invertible factor"):
            self.lemma(name, place)
        # where the hypotheses hold, the shorter conditions are equivalent to what they replace
        here = [*known, *(p for h in known for p in _conjuncts(_shortened(h, shorter)) if p not in known)]
        wanted = [p for g in goals for p in _conjuncts(_shortened(g, shorter))]
        self.prove(node["then"], here, wanted, f"{place}.then")

    def _roots(self, node: Json, known: list[Condition], goals: list[Condition], place: str) -> None:
        """Where ``2^w`` divides a polynomial in one variable, by classes ``r + m·k`` of that variable.

        That there is a root everywhere in each class, and none anywhere else, is calculated here: every integer is
        ``2·k`` or ``2·k + 1``.
        """
        classes: dict[Condition, Condition] = {}
        for k, part in enumerate(node["solved"]):
            e, v, modulus = self.terms[part["of"]], self.terms[part["variable"]], part["modulus"]
            if type(modulus) is not int or modulus < 2 or modulus & (modulus - 1):
                raise CertificateRefused(f"{place}.solved[{k}]", f"{modulus} is no power of two")
            found = [(int(r), int(m)) for r, m in part["classes"]]
            names: dict[Expr, P] = {}
            p = _opaque(e, names)
            if not isinstance(v, Var) or {n for n in names if not isinstance(n, (Int, Sum, Mul))} != {v}:
                raise CertificateRefused(f"{place}.solved[{k}]", f"{e} is no polynomial in {v}")
            coefficients = [0] * (1 + max(map(len, p)))
            for monomial, a in p.items():
                coefficients[len(monomial)] = a
            if not _are_roots(coefficients, modulus, found):
                raise CertificateRefused(f"{place}.solved[{k}]", f"these are not the roots of {e}")
            classes[divides(integer(modulus), e)] = any_of(divides(integer(m), v - r) for r, m in found)
            self.found.steps += 1
        self.lemma("radix", place)

        def of(c: Condition) -> Condition:
            return classes.get(c, c)

        here = [p for h in known for p in _conjuncts(_replaced(h, of))]
        wanted = [p for g in goals for p in _conjuncts(_replaced(g, of))]
        self.prove(node["then"], here, wanted, f"{place}.then")

    def _fresh(self, v: Expr, known: Sequence[Condition], goals: Sequence[Condition], place: str) -> Var:
        """A variable that the claim does not mention."""
        if not isinstance(v, Var) or any(v in c.variables() for c in (*known, *goals)):
            raise CertificateRefused(place, f"{v} is no new variable")
        return v

    def _multiple(self, node: Json, known: list[Condition], goals: list[Condition], place: str) -> None:
        """Where ``c`` divides a variable ``d``, ``d = c·k`` for a new k."""
        d, c = self.terms[node["variable"]], self.terms[node["divisor"]]
        k = self._fresh(self.terms[node["quotient"]], known, goals, place)
        if not isinstance(d, Var) or Divides(c, d) not in known or d in c.variables():
            raise CertificateRefused(place, f"no hypothesis says that {c} divides {d}")
        self.lemma("divisibility", place)
        self._instead(node["then"], {d: mul(c, k)}, known, goals, f"{place}.then")

    def _residues(self, node: Json, known: list[Condition], goals: list[Condition], place: str) -> None:
        """Every integer is ``m·k + r`` for some k and an r below m."""
        m = node["modulus"]
        if type(m) is not int or not 1 <= m <= len(node["cases"]):
            raise CertificateRefused(place, f"{m} is no modulus")
        variables = [self.terms[v["variable"]] for v in node["variables"]]
        quotients = [self._fresh(self.terms[v["quotient"]], known, goals, place) for v in node["variables"]]
        if len({*variables, *quotients}) != 2 * len(variables):
            raise CertificateRefused(place, "a variable is named twice")
        if not all(isinstance(v, Var) for v in variables):
            raise CertificateRefused(place, "only variables have residues here")
        if len(node["cases"]) != m ** len(variables):
            raise CertificateRefused(
                place, f"there are {m ** len(variables)} cases, not {len(node['cases'])}"
            )
        self.lemma("radix", place)
        residues = itertools.product(range(m), repeat=len(variables))
        for k, (rs, case) in enumerate(zip(residues, node["cases"], strict=True)):
            at = {v: linear(r, [(q, m)]) for v, q, r in zip(variables, quotients, rs, strict=True)}
            self._instead(case, at, known, goals, f"{place}.cases[{k}]")

    def _instead(
        self,
        node: Json,
        values: Mapping[Expr, Expr],
        known: Sequence[Condition],
        goals: Sequence[Condition],
        place: str,
    ) -> None:
        """The proof of the claim with terms for variables."""
        try:
            here = [p for h in known for p in _conjuncts(h.substitute(values))]
            wanted = [p for g in goals for p in _conjuncts(g.substitute(values))]
        except ZeroDivisionError:
            return  # a divisor of the claim would be zero
        self.prove(node, here, wanted, place)

    # -- leaves
    def contradictory(self, formulas: Sequence[F], place: str) -> None:
        """Every solver must say that the formulas contradict each other."""
        script = _script(formulas)
        self.found.questions += 1
        for name, refutes in self.solvers.items():
            if not refutes(script):
                raise CertificateRefused(place, f"{name} does not say that these facts contradict each other")

    def lemma(self, name: str, place: str) -> None:
        """A lemma that is used must be one that is proved."""
        if name not in LEMMAS and name not in STEPS:
            raise CertificateRefused(place, f"there is no lemma {name!r}")
        if self.proved is not None and name not in self.proved:
            raise CertificateRefused(place, f"the lemma {name!r} is not proved")
        self.found.lemmas[name] = self.found.lemmas.get(name, 0) + 1


class _Claim:
    """One claim, proved by sign cases and definitions."""

    def __init__(self, checker: _Checker, known: list[Condition], goals: list[Condition]) -> None:
        self.checker = checker
        self.known = known
        self.goals = goals

    @cached_property
    def divisors(self) -> list[Expr]:
        """The divisors of the claim; it is assumed that none is zero."""
        roots = [e for c in (*self.known, *self.goals) for e in all_exprs(c)]
        return list({n.b: None for n in postorder(*roots) if isinstance(n, (FloorDiv, Mod, CeilDiv))})

    def case(self, node: Json, state: _State, place: str) -> None:
        """Check a case that is divided further, makes definitions, or is a leaf."""
        step = node["step"]
        if step == "factor":
            self._signs(node, _Steps(self, state, place), {}, place)
            return
        state.rewrites = {}
        steps = _Steps(self, state, place)
        steps.run(node["steps"])
        match step:
            case "sign":
                self._signs(node, steps, node["excluded"], place)
            case "define":
                self._define(node, steps, place)
            case "leaf":
                self._leaf(node, steps, place)
            case _:
                raise CertificateRefused(place, f"there is no step {step!r}")

    def _signs(self, node: Json, steps: _Steps, excluded: Json, place: str) -> None:
        p = _read_poly(node["of"])
        steps.known_names(p)
        for s in (1, -1, 0):
            if str(s) in node["cases"]:
                state = steps.state.copy()
                state.signs.append((p, s))
                self.case(node["cases"][str(s)], state, f"{place}.cases[{s}]")
            elif s and str(s) in excluded:
                # p is not positive, or not negative
                steps.evidence(excluded[str(s)], _times(p, _const(-s)))
            elif s == 0 and "divisor" in node:
                self._not_zero(p, _read_poly(node["divisor"]), steps.state, place)
            else:
                raise CertificateRefused(place, f"the case in which {_show(p)} has the sign {s} is missing")
        self.checker.lemma("sign split", place)

    def _not_zero(self, p: P, divisor: P, state: _State, place: str) -> None:
        """``p`` is a factor of a divisor of the claim."""
        if _over(divisor, p) is None or not self.divides_by(divisor, state):
            raise CertificateRefused(place, f"{_show(p)} may be zero")

    def divides_by(self, divisor: P, state: _State) -> bool:
        """Whether a divisor of the claim is this polynomial, up to its sign."""
        memo: dict[Expr, P] = {}
        for d in self.divisors:
            try:
                value = state.value(d, memo)
            except _Unknown:
                continue
            if value in (divisor, _plus({}, divisor, -1)):
                return True
        return False

    def _define(self, node: Json, steps: _Steps, place: str) -> None:
        state = steps.state.copy()
        state.facts = steps.established()
        defined: dict[str, P] = {}
        for d in node["define"]:
            name, value, equation = str(d["name"]), _read_poly(d["value"]), d["equation"]
            if name in state.definitions or name in _names(value):
                raise CertificateRefused(place, f"{name} cannot be defined as {_show(value)}")
            if equation is None:
                # a new name for the negation
                fresh = _names(value)
                if len(fresh) != 1 or value != {tuple(fresh): -1} or fresh & state.names:
                    raise CertificateRefused(place, f"{_show(value)} is no negation of a new name")
                state.names |= fresh
            else:
                gap = _eq(_plus(_name(name), value, -1))
                shown = state.sign_facts() if equation == "sign" else {_moved(steps.fact(equation), defined)}
                if gap not in shown:
                    raise CertificateRefused(place, f"{name} = {_show(value)} is not what the equation says")
            state.define(name, value)
            defined = {v: _put(x, {name: value}) for v, x in defined.items()} | {name: value}
        self.checker.lemma("substitution", place)
        self.case(node["then"], state, f"{place}.then")

    def _leaf(self, node: Json, steps: _Steps, place: str) -> None:
        done: list[Condition] = []
        for k, part in enumerate(node["parts"]):
            here = f"{place}.parts[{k}]"
            goal = _read_condition(part["goal"], self.checker.terms) if "goal" in part else None
            if goal is not None and goal is not TRUE and goal not in self.goals:
                raise CertificateRefused(here, f"{goal} is no goal")
            steps.goal, steps.place = goal, here
            steps.run(part["steps"])
            self.checker.contradictory([steps.fact(n, goal) for n in part["refute"]], here)
            self.checker.found.leaves += 1
            if goal is None:
                return
            done.append(goal)
            steps.shown.append(goal)
        missing = [g for g in self.goals if g not in done]
        if missing:
            raise CertificateRefused(place, f"{missing[0]} is not shown")


def _read_poly(p: Json) -> P:
    out = {tuple(str(v) for v in t[1:]): int(t[0]) for t in p}
    if any(list(m) != sorted(m) for m in out) or not all(out.values()) or len(out) != len(p):
        raise ValueError("no polynomial in normal form")
    return out


def _read_formula(f: Json) -> F:
    match f:
        case ["ge", p]:
            return _ge(_read_poly(p))
        case ["eq", p]:
            return _eq(_read_poly(p))
        case ["and", *parts]:
            return _and(map(_read_formula, parts))
        case ["or", *parts]:
            return _or(map(_read_formula, parts))
    raise ValueError(f"no formula: {f}")


def _show(p: P) -> str:
    return (
        " + ".join("·".join(map(str, (*((c,) if c != 1 or not m else ()), *m))) for m, c in sorted(p.items()))
        or "0"
    )


class _Steps:
    """The steps of one case, in order; each adds facts that its name and its premises justify."""

    def __init__(self, claim: _Claim, state: _State, place: str) -> None:
        self.claim = claim
        self.state = state
        self.place = place
        self.goal: Condition | None = None
        self.shown: list[Condition] = []
        self._facts: dict[int, tuple[F, Condition | None]] = {}
        self._translated: set[F] = set()
        self._untranslated = True

    def refuse(self, reason: str) -> CertificateRefused:
        return CertificateRefused(self.place, reason)

    def established(self) -> set[F]:
        """The facts that do not depend on a negated goal."""
        return self.state.facts | {f for f, of in self._facts.values() if of is None}

    def fact(self, number: Json, goal: Condition | None = None) -> F:
        """A fact by its number; one that rests on a negated goal serves the refutation of that goal alone."""
        f, of = self._facts[number]
        if of is not None and of != (self.goal if goal is None else goal):
            raise self.refuse("a fact rests on the negation of another goal")
        return f

    def known_names(self, p: P) -> None:
        """Every name must mean something."""
        unknown = _names(p) - self.state.names
        if unknown:
            raise self.refuse(f"{min(unknown)} means nothing here")

    def run(self, steps: Sequence[Json]) -> None:
        """Check steps one after another."""
        place = self.place
        for k, step in enumerate(steps):
            self.place = f"{place}.steps[{k}]"
            self.claim.checker.found.steps += 1
            by = step["by"]
            self._rests: Condition | None = None
            made = getattr(self, "_by_" + str(by).replace(" ", "_"), None)
            if made is None:
                raise self.refuse(f"there is no step {by!r}")
            if "fact" not in step:
                made(step)
                if self._rests is not None:
                    raise self.refuse("what is named must not rest on the negation of a goal")
                self._untranslated = True
                continue
            f = _read_formula(step["fact"])
            for p in _atoms(f):
                self.known_names(p)
            made(step, f)
            self._facts[step["number"]] = f, self._rests
        self.place = place

    def _premise(self, number: Json) -> F:
        f, of = self._facts[number]
        if of is not None:
            if of != self.goal:
                raise self.refuse("a fact rests on the negation of another goal")
            self._rests = of
        return f

    # -- facts of the claim
    def _translate(self) -> None:
        """Read the hypotheses with what is known of divisions."""
        memo: dict[Expr, P] = {}
        for h in (*self.claim.known, *self.shown):
            try:
                self._translated.update(_parts(self.state.formula(h, memo)))
            except _Unknown:
                continue
        self._untranslated = False

    def _by_hypothesis(self, step: Json, f: F) -> None:
        if f not in self._translated and self._untranslated:
            self._translate()
        if f not in self._translated:
            raise self.refuse("this is no hypothesis of the claim")

    _by_equation = _by_hypothesis

    def _by_shown(self, step: Json, f: F) -> None:
        goal = _read_condition(step["goal"], self.claim.checker.terms)
        if goal not in self.shown or self.state.formula(goal, {}) != f:
            raise self.refuse("this has not been shown")

    def _by_negated_goal(self, step: Json, f: F) -> None:
        if self.goal is None or self.state.formula(negate(self.goal), {}) != f:
            raise self.refuse("this is not the negation of the goal")
        self._rests = self.goal

    def _by_sign(self, step: Json, f: F) -> None:
        if f not in self.state.sign_facts():
            raise self.refuse("no sign case says this")

    def _by_kept(self, step: Json, f: F) -> None:
        if f not in self.state.facts:
            raise self.refuse("this has not been shown before")

    def _by_named(self, step: Json, f: F) -> None:
        if f not in self.state.named:
            raise self.refuse("no name is introduced with this")

    _by_extreme = _by_named

    def _by_defined(self, step: Json, f: F) -> None:
        divisor = _read_poly(step["divisor"])
        if f != _FALSE or not self.state.is_zero(divisor) or not self.claim.divides_by(divisor, self.state):
            raise self.refuse("no divisor of the claim is zero here")

    # -- evidence
    def evidence(self, e: Json, p: P) -> None:
        """``p >= 0``, because it is a combination of facts and a rest with no negative coefficient."""
        shifts: dict[str, P] = {}
        for number in e["shifts"]:
            f = self._premise(number)
            if f[0] != "ge":
                raise self.refuse("a bound of a name is an inequality")
            bound = dict(f[1])
            names = [m for m in bound if m]
            if len(names) != 1 or len(names[0]) != 1 or abs(bound[names[0]]) != 1:
                raise self.refuse("a bound of a name is a bound of one name")
            (v,) = names[0]
            least = -bound.get((), 0)
            if bound[names[0]] > 0:
                shifts[v] = _plus(_name(v), _const(least))
            elif v not in shifts:
                shifts[v] = _plus(_const(-least), _name(v), -1)
        rest = p
        for cofactor, number in e["parts"]:
            k = _read_poly(cofactor)
            f = self._premise(number)
            if f[0] != "ge":
                raise self.refuse("only inequalities are combined")
            if any(c < 0 for c in _put(k, shifts).values()) or not _names(k) <= set(shifts):
                raise self.refuse(f"the factor {_show(k)} may be negative")
            rest = _plus(rest, _times(k, dict(f[1])), -1)
        if not _names(rest) <= set(shifts) or any(c < 0 for c in _put(rest, shifts).values()):
            raise self.refuse(f"{_show(p)} >= 0 does not follow from the facts that are named")
        self.claim.checker.lemma("certificate", self.place)

    def _by_combination(self, step: Json, f: F) -> None:
        p = _read_poly(step["of"]) if "of" in step else dict(f[1])
        if _ge(p) != f:
            raise self.refuse("the combination shows something else")
        self.evidence(step["evidence"], p)

    # -- quotients
    def _new(self, kind: str, entry: Sequence[P], names: tuple[P, ...]) -> None:
        """Names must be new, or mean this already."""
        meaning = (kind, *map(_key, entry))
        keys = tuple(_key(n) for n in names)
        if self.state.made.get(meaning) == keys:
            return
        for n in names:
            fresh = _names(n)
            if fresh & self.state.names or len(fresh) != 1 or n.get((next(iter(fresh)),)) != 1 or len(n) > 2:
                raise self.refuse(f"{_show(n)} is no new name")
            if any(m and len(m) != 1 for m in n):
                raise self.refuse(f"{_show(n)} is no new name")
            self.state.names |= fresh
        self.state.made[meaning] = keys

    def _by_name(self, step: Json) -> None:
        a, b, q, r = (_read_poly(step[k]) for k in ("dividend", "divisor", "quotient", "remainder"))
        for p in (a, b):
            self.known_names(p)
        self.evidence(step["one"], _plus(b, _const(1), -1))
        if _names(q) & _names(r):
            raise self.refuse("quotient and remainder share a name")
        self._new("quotient", (a, b), (q, r))
        self.state.named |= {
            _eq(_plus(_plus(a, _times(b, q), -1), r, -1)),
            _ge(r),
            _ge(_plus(_plus(b, r, -1), _const(1), -1)),
        }
        self.state.divisions[_key(a), _key(b)] = q, r
        self.claim.checker.lemma("radix", self.place)

    def _by_divisible(self, step: Json) -> None:
        a, b, k, given = (_read_poly(step[x]) for x in ("dividend", "divisor", "quotient", "given"))
        for p in (a, b):
            self.known_names(p)
        d, e = self.claim.checker.terms[step["d"]], self.claim.checker.terms[step["e"]]
        stated = [Divides(d, e), Compare("==", mod(e, d), integer(0)), Compare("==", integer(0), mod(e, d))]
        if not any(c in self.claim.known for c in stated):
            raise self.refuse(f"no hypothesis says that {d} divides {e}")
        memo: dict[Expr, P] = {}
        if self.state.value(d, memo) not in (b, _plus({}, b, -1)) or self.state.value(e, memo) != given:
            raise self.refuse("the hypothesis speaks of other terms")
        if _over(_plus(given, a, -1), b) is None:
            raise self.refuse("the dividends do not differ by a multiple of the divisor")
        self.evidence(step["one"], _plus(b, _const(1), -1))
        self._new("multiple", (a, b), (k,))
        self.state.named.add(_eq(_plus(a, _times(b, k), -1)))
        self.state.divisions[_key(a), _key(b)] = k, {}
        turned = _plus({}, a, -1)
        self.state.divisions[_key(turned), _key(b)] = _plus({}, k, -1), {}
        self.claim.checker.lemma("divisibility", self.place)

    def _by_quotient(self, step: Json) -> None:
        a, b, q, r = (_read_poly(step[k]) for k in ("dividend", "divisor", "quotient", "remainder"))
        for p in (a, b, q, r):
            self.known_names(p)
        gap = _plus(_plus(a, _times(b, q), -1), r, -1)
        for cofactor, number in step["equations"]:
            f = self._premise(number)
            if f[0] != "eq":
                raise self.refuse("only equations are multiplied with anything")
            product = _times(_read_poly(cofactor), dict(f[1]))
            # an equation is kept up to its sign
            gap = min((_plus(gap, product, s) for s in (-1, 1)), key=len)
        if gap:
            raise self.refuse(f"{_show(a)} is not ({_show(b)})·({_show(q)}) + {_show(r)}")
        self.evidence(step["low"], r)
        self.evidence(step["high"], _plus(_plus(b, r, -1), _const(1), -1))
        self.state.divisions[_key(a), _key(b)] = q, r
        self.claim.checker.lemma("unique quotient", self.place)

    def _by_rewrite(self, step: Json) -> None:
        product, value = _read_poly(step["product"]), _read_poly(step["value"])
        if len(product) != 1 or list(product.values()) != [1]:
            raise self.refuse(f"{_show(product)} is no product")
        if self._premise(step["equation"]) != _eq(_plus(product, value, -1)):
            raise self.refuse(f"no equation says that {_show(product)} = {_show(value)}")
        for p in (product, value):
            self.known_names(p)
        self.state.rewrites[next(iter(product))] = value
        self.claim.checker.lemma("substitution", self.place)

    def _known_quotient(self, step: Json) -> tuple[P, P, P]:
        a, b, q = (_read_poly(step[k]) for k in ("dividend", "divisor", "quotient"))
        if self.state.divisions.get((_key(a), _key(b)), ({},))[0] != q:
            raise self.refuse("this is not the quotient")
        return a, b, q

    def _by_quotient_of_a_natural_number(self, step: Json, f: F) -> None:
        a, _, q = self._known_quotient(step)
        if f not in (_ge(q), _TRUE):
            raise self.refuse("the quotient is another one")
        self.evidence(step["natural"], a)
        self.claim.checker.lemma("quotient of a natural number", self.place)

    def _by_quotient_of_a_bound(self, step: Json, f: F) -> None:
        a, b, q = self._known_quotient(step)
        t, one = _read_poly(step["t"]), _const(1)
        if f != _ge(_plus(t, q, -1)):
            raise self.refuse("the bound is another one")
        self.evidence(step["below"], _plus(_plus(_times(b, _plus(t, one)), one, -1), a, -1))
        self.claim.checker.lemma("quotient of a bound", self.place)

    def _by_divided_bound(self, step: Json, f: F) -> None:
        b, t, r, one = _read_poly(step["base"]), _read_poly(step["t"]), _read_poly(step["r"]), _const(1)
        if f != _ge(t):
            raise self.refuse("the bound is another one")
        self.evidence(step["one"], _plus(b, one, -1))
        self.evidence(step["of"], _plus(_times(b, t), r))
        self.evidence(step["gap"], _plus(_plus(b, r, -1), one, -1))
        self.claim.checker.lemma("divided bound", self.place)

    def _by_equal_digits(self, step: Json, f: F) -> None:
        b, t, r, one = _read_poly(step["base"]), _read_poly(step["t"]), _read_poly(step["r"]), _const(1)
        if self._premise(step["of"]) != _eq(_plus(_times(b, t), r)) or f not in (_eq(t), _eq(r)):
            raise self.refuse("the equation says something else")
        self.evidence(step["high"], _plus(_plus(b, r, -1), one, -1))
        self.evidence(step["low"], _plus(_plus(b, r), one, -1))
        self.claim.checker.lemma("equal digits", self.place)

    # -- extrema
    def _by_extremum(self, step: Json) -> None:
        op, args = str(step["name"]), [_read_poly(a) for a in step["args"]]
        sign = _const({"min": 1, "max": -1}[op])
        kept = list({_key(a): a for a in args}.values())
        for p in kept:
            self.known_names(p)
        for less, other, why in step["dropped"]:
            p, q = _read_poly(less), _read_poly(other)
            if p not in kept or q not in kept or p == q:
                raise self.refuse("an argument is left out for one that is not there")
            self.evidence(why, _times(_plus(p, q, -1), sign))
            kept.remove(p)
            self.claim.checker.lemma("decided extremum", self.place)
        value = _read_poly(step["value"])
        if len(kept) == 1:
            if value != kept[0]:
                raise self.refuse("the extremum is the argument that is left")
        else:
            self._new(op, kept, (value,))
            self.state.named |= {_ge(_times(_plus(p, value, -1), sign)) for p in kept}
            self.state.named.add(_or(_eq(_plus(p, value, -1)) for p in kept))
            self.state.extremes[str(_key(value))] = op, tuple(map(_key, kept))
            self.claim.checker.lemma("extremum", self.place)
        self.state.extrema[op, tuple(map(_key, args))] = value

    def _by_extremum_bound(self, step: Json, f: F) -> None:
        op, value, bound = str(step["name"]), _read_poly(step["value"]), _read_poly(step["bound"])
        sign = _const({"min": 1, "max": -1}[op])
        args = [_read_poly(a) for a in step["args"]]
        if self.state.extremes.get(str(_key(value))) != (op, tuple(map(_key, args))):
            raise self.refuse("this is not the extremum of these arguments")
        if f != _ge(_times(_plus(value, bound, -1), sign)) or len(step["each"]) != len(args):
            raise self.refuse("the bound is another one")
        for p, why in zip(args, step["each"], strict=True):
            self.evidence(why, _times(_plus(p, bound, -1), sign))
        self.claim.checker.lemma("extremum", self.place)

    # -- leaves
    def _by_substitution(self, step: Json, f: F) -> None:
        ((v, value),) = ((str(v), _read_poly(p)) for v, p in step["values"].items())
        if v in _names(value) or self._premise(step["equation"]) != _eq(_plus(_name(v), value, -1)):
            raise self.refuse(f"no equation says that {v} = {_show(value)}")
        if _moved(self._premise(step["of"]), {v: value}) != f:
            raise self.refuse("the substitution gives something else")
        self.claim.checker.lemma("substitution", self.place)

    def _by_lemma(self, step: Json, f: F) -> None:
        name = str(step["lemma"])
        if name not in LEMMAS:
            raise self.refuse(f"there is no lemma {name!r}")
        self.claim.checker.lemma(name, self.place)
        scheme = LEMMAS[name]
        meaning = _State()
        meaning.definitions = {v: _read_poly(p) for v, p in step["with"].items()}
        for p in meaning.definitions.values():
            self.known_names(p)
        variables = {v for c in (*scheme.given, scheme.then) for v in c.variables()}
        if {v.name for v in variables} - set(meaning.definitions):
            raise self.refuse(f"the instance of {name!r} leaves a variable open")
        if len(step["given"]) != len(scheme.given):
            raise self.refuse(f"the premises of {name!r} are not all there")
        memo: dict[Expr, P] = {}
        for c, why in zip(scheme.given, step["given"], strict=True):
            if not isinstance(c, Compare) or c.op == "!=":
                raise self.refuse(f"{name!r} has no instances here")
            if c.op == "==":
                if self._premise(why) != meaning.formula(c, memo):
                    raise self.refuse(f"a premise of {name!r} is not shown")
                continue
            gap = _plus(meaning.value(c.b, memo), meaning.value(c.a, memo), -1)
            self.evidence(why, _plus(gap, _const(1), -1) if c.op == "<" else gap)
        then = meaning.formula(scheme.then, memo)
        if f != then and f not in _parts(then):
            raise self.refuse(f"this is no instance of {name!r}")

    def _by_derived(self, step: Json, f: F) -> None:
        p = _read_poly(step["zero"])
        if f != _eq(p):
            raise self.refuse("something else is derived")
        self.known_names(p)
        self.claim.checker.contradictory([*(self._premise(n) for n in step["from"]), _ne(p)], self.place)
