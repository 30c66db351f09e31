"""Check certificates: a deliberate second implementation, in one file that imports nothing of the package.

A certificate (``indexproof prove --certificates``) says how a claim was reduced to questions of linear arithmetic.
reports/certificates.md specifies the format.  Nothing in a certificate is trusted.  The checker reads the claim with a
name for every quotient, remainder and extremum, and with facts that define these names.  A proof adds names for further
quotients, instances of two laws about products, and case splits.  At each leaf every solver must find the facts
contradictory, with products as opaque integers.  Divisors of the claim are assumed to be nonzero.

Run it as ``indexproof-check DIR`` or ``python checker.py DIR``.  It needs Python and z3, and also asks cvc5 if that is
installed.
"""

from __future__ import annotations

import hashlib
import json
import math
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from multiprocessing import Pool
from pathlib import Path
from typing import Any

Json = Any
#: Sorted names, each repeated as often as it is a factor.
Monomial = tuple[str, ...]
#: ``("ge", p)`` for ``p >= 0``, ``("eq", p)`` for ``p = 0``, ``("and", parts)`` and ``("or", parts)``.
Formula = tuple[Any, ...]
#: Returns whether a script in SMT-LIB is unsatisfiable.
Solver = Callable[[str], bool]

FORMAT, FILE_FORMAT = "indexproof certificate 3", "indexproof certificates 3"
MANIFEST, MANIFEST_FORMAT = "manifest.json", "indexproof manifest of certificates 1"
#: Limit on the width of inverses modulo powers of two.
WIDEST = 4096
#: Up to this number of files, other processes are not started.
FEW = 32


class CertificateRefused(Exception):
    """Raised for a certificate that proves nothing, with the reason and the position."""

    def __init__(self, place: str, reason: str) -> None:
        self.place, self.reason = place, reason
        super().__init__(f"{place}: {reason}")


def require(holds: object, place: str, reason: str) -> None:
    """Refuse the certificate unless ``holds`` is true."""
    if not holds:
        raise CertificateRefused(place, reason)


# -------------------------------------------------------------------------------------------------------- polynomials
class Polynomial(dict[Monomial, int]):
    """Integer coefficients by monomial, none of them zero.  Immutable by convention."""

    @classmethod
    def of(cls, terms: Iterable[tuple[Monomial, int]]) -> Polynomial:
        """Return the sum of terms, of which several may have the same monomial."""
        out: dict[Monomial, int] = {}
        for m, c in terms:
            out[m] = out.get(m, 0) + c
        return cls({m: c for m, c in out.items() if c})

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))

    def __add__(self, other: Polynomial | int) -> Polynomial:
        added = constant(other) if isinstance(other, int) else other
        return Polynomial.of([*self.items(), *added.items()])

    def __neg__(self) -> Polynomial:
        return self * -1

    def __sub__(self, other: Polynomial | int) -> Polynomial:
        return self + -other

    def __mul__(self, other: Polynomial | int) -> Polynomial:
        by = constant(other) if isinstance(other, int) else other
        return Polynomial.of((tuple(sorted(m + n)), c * d) for m, c in self.items() for n, d in by.items())

    @property
    def names(self) -> set[str]:
        """The names that occur."""
        return {v for m in self for v in m}

    @property
    def literal(self) -> int | None:
        """The integer that this equals; ``None`` if a name occurs."""
        return None if any(self) else self.get((), 0)


def constant(n: int) -> Polynomial:
    """Return the polynomial ``n``."""
    return Polynomial({(): n} if n else {})


def variable(v: str) -> Polynomial:
    """Return the polynomial ``v``."""
    return Polynomial({(v,): 1})


def exactly(n: Json) -> int:
    """Return an integer, and refuse ``true`` and ``1.0``, which compare equal to 1."""
    if type(n) is not int:
        raise ValueError(f"no integer: {n}")
    return n


def read_polynomial(p: Json) -> Polynomial:
    """Return a polynomial from JSON.  Raises :class:`ValueError`."""
    if not all(isinstance(v, str) for t in p for v in t[1:]):
        raise ValueError(f"no polynomial: {p}")
    return Polynomial.of((tuple(sorted(t[1:])), exactly(t[0])) for t in p)


# ----------------------------------------------------------------------------------------------------------- formulas
TAUTOLOGY: Formula = ("and", ())
CONTRADICTION: Formula = ("or", ())


def nonnegative(p: Polynomial) -> Formula:
    """Return ``p >= 0``, with the coefficients divided by their greatest common divisor."""
    g = math.gcd(*(c for m, c in p.items() if m))
    if not g:
        return TAUTOLOGY if p.get((), 0) >= 0 else CONTRADICTION
    return ("ge", p if g == 1 else Polynomial.of((m, c // g) for m, c in p.items()))


def zero(p: Polynomial) -> Formula:
    """Return ``p = 0``, in one form for ``p`` and ``-p``."""
    g = math.gcd(*(c for m, c in p.items() if m))
    if not g or p.get((), 0) % g:
        return CONTRADICTION if p else TAUTOLOGY
    return ("eq", Polynomial.of((m, c // g if max(p.items())[1] > 0 else -c // g) for m, c in p.items()))


def nonzero(p: Polynomial) -> Formula:
    """Return ``p != 0``."""
    return either(nonnegative(p - 1), nonnegative(-p - 1))


def joined(kind: str, parts: Iterable[Formula]) -> Formula:
    """Return the conjunction (``and``) or disjunction (``or``) of the parts."""
    kept = tuple(dict.fromkeys(g for f in parts for g in (f[1] if f[0] == kind else (f,))))
    absorbing = CONTRADICTION if kind == "and" else TAUTOLOGY
    return absorbing if absorbing in kept else kept[0] if len(kept) == 1 else (kind, kept)


def both(*parts: Formula) -> Formula:
    """Return the conjunction of the parts."""
    return joined("and", parts)


def either(*parts: Formula) -> Formula:
    """Return the disjunction of the parts."""
    return joined("or", parts)


def negation(f: Formula) -> Formula:
    """Return the negation of ``f``."""
    if f[0] in ("and", "or"):
        return joined("or" if f[0] == "and" else "and", map(negation, f[1]))
    return nonnegative(-f[1] - 1) if f[0] == "ge" else nonzero(f[1])


def polynomials(f: Formula) -> Iterator[Polynomial]:
    """Yield the polynomials that occur in a formula."""
    if f[0] in ("and", "or"):
        for part in f[1]:
            yield from polynomials(part)
    else:
        yield f[1]


def read_formula(f: Json) -> Formula:
    """Return a formula over polynomials from JSON.  Raises :class:`ValueError`."""
    match f:
        case ["ge", p]:
            return nonnegative(read_polynomial(p))
        case ["eq", p]:
            return zero(read_polynomial(p))
        case ["and" | "or" as kind, *parts]:
            return joined(kind, map(read_formula, parts))
    raise ValueError(f"no formula: {f}")


# ------------------------------------------------------------------------------------------------------------- the laws
def quotient(a: Polynomial, b: Polynomial, q: Polynomial, r: Polynomial) -> Formula:
    """Return that q and r are quotient and remainder of a by b if b is not zero; such integers exist."""
    positive = either(nonnegative(-b), both(nonnegative(r), nonnegative(b - r - 1)))
    negative = either(nonnegative(b), both(nonnegative(-r), nonnegative(r - b - 1)))
    return either(zero(b), both(zero(a - b * q - r), positive, negative))


def product(u: Polynomial, v: Polynomial) -> Formula:
    """Return that ``u >= 0`` and ``v >= 0`` imply ``u·v >= 0``."""
    return either(nonnegative(-u - 1), nonnegative(-v - 1), nonnegative(u * v))


def multiple(u: Polynomial, v: Polynomial) -> Formula:
    """Return that ``u = 0`` implies ``u·v = 0``."""
    return either(nonzero(u), zero(u * v))


def inverse(modulus: int, h: Polynomial, i: Polynomial, k: Polynomial) -> Formula:
    """Return that i is an inverse of the odd number ``2·h + 1`` modulo a power of two; an inverse exists."""
    return zero((h * 2 + 1) * i - k * modulus - 1)


# -------------------------------------------------------------------------------------------------------------- terms
class Terms:
    """The terms of a certificate as polynomials, with names for quotients, remainders and extrema.

    These names begin with a single ``!``, unlike names of variables; equal terms have equal names.
    """

    def __init__(self, table: Sequence[Json] = ()) -> None:
        #: For each name, its defining fact and a divisor that is assumed to be nonzero.
        self.meaning: dict[str, tuple[Formula, Polynomial | None]] = {}
        self._names: dict[tuple[Any, ...], Polynomial] = {}
        self.variables: set[str] = set()
        self.table: list[Polynomial] = []
        for entry in table:
            self.add(entry)

    def add(self, entry: Json) -> int:
        """Read one more term of the table and return its number."""
        self.table.append(self._read(entry))
        return len(self.table) - 1

    def _read(self, entry: Json) -> Polynomial:
        t = self.numbered
        match entry:
            case int():
                return constant(exactly(entry))
            case ["var", str(name), str(kind)] if not kind or kind.isidentifier():
                name = name.replace("!", "!!").replace(":", "::")
                name = f"{name}:{kind}" if kind else name
                self.variables.add(name)
                return variable(name)
            case ["sum", int(const), list(terms)]:
                parts = [(t(n), exactly(k)) for n, k in terms]
                return Polynomial.of([((), exactly(const)), *((m, c * k) for p, k in parts for m, c in p.items())])
            case ["mul", *args] if args:
                return math.prod((t(a) for a in args), start=constant(1))
            case ["fdiv", a, b]:
                return self.divided(t(a), t(b))[0]
            case ["mod", a, b]:
                return self.divided(t(a), t(b))[1]
            case ["rest", a, b]:
                return self.divided(t(a), t(b), defined=False)[1]
            case ["cdiv", a, b]:
                return -self.divided(-t(a), t(b))[0]
            case ["min" | "max" as op, *args] if args:
                return self._extremum(op, [t(a) for a in args])
        raise ValueError(f"no term: {entry}")

    def numbered(self, n: Json) -> Polynomial:
        """Return a term by its number, which must be that of an earlier entry.  Raises :class:`ValueError`."""
        if not 0 <= exactly(n) < len(self.table):
            raise ValueError(f"no number of a term: {n}")
        return self.table[n]

    def _named(self, *key: Any) -> tuple[Polynomial, bool]:
        new = key not in self._names
        made = self._names.setdefault(key, variable(f"!{key[0]}{len(self._names)}"))
        return made, new

    def divided(self, a: Polynomial, b: Polynomial, defined: bool = True) -> tuple[Polynomial, Polynomial]:
        """Return quotient and remainder; with ``defined``, the divisor is assumed to be nonzero."""
        if b.literal == 0 and defined:
            raise ValueError("a division by zero")
        assumed = b if defined and b.literal is None else None
        (q, new), (r, _) = (self._named(kind, a, b, assumed) for kind in "qr")
        if new:
            said = quotient(a, b, q, r), assumed
            self.meaning.update(dict.fromkeys([*q.names, *r.names], said))
        return q, r

    def _extremum(self, op: str, args: Sequence[Polynomial]) -> Polynomial:
        e, new = self._named(op, *args)
        if new:
            ends = [nonnegative(p - e if op == "min" else e - p) for p in args]
            self.meaning[min(e.names)] = both(*ends, either(*(zero(p - e) for p in args))), None
        return e

    def condition(self, c: Json) -> Formula:
        """Return a condition over terms given by their numbers in the table.  Raises :class:`ValueError`."""
        t = self.numbered
        match c:
            case bool():
                return TAUTOLOGY if c else CONTRADICTION
            case ["<=" | "<" as op, a, b]:
                return nonnegative(t(b) - t(a) - (1 if op == "<" else 0))
            case ["==", a, b]:
                return zero(t(b) - t(a))
            case ["!=", a, b]:
                return nonzero(t(b) - t(a))
            case ["within", e, lo, hi]:
                return both(nonnegative(t(e) - t(lo)), nonnegative(t(hi) - t(e)))
            case ["divides", d, e]:
                return both(nonzero(t(d)), zero(self.divided(t(e), t(d), defined=False)[1]))
            case ["not", arg]:
                return negation(self.condition(arg))
            case ["and" | "or" as kind, *args]:
                return joined(kind, map(self.condition, args))
        raise ValueError(f"no condition: {c}")

    def facts(self, claim: Iterable[Formula]) -> list[Formula]:
        """Return the definitions of all names, and that no divisor in a claim is zero."""
        seen: set[str] = set()
        todo = [v for f in claim for p in polynomials(f) for v in p.names]
        while todo:
            v = todo.pop()
            if v in self.meaning and v not in seen:
                todo += [u for p in polynomials(self.meaning[v][0]) for u in p.names]
            seen.add(v)
        divisors = (d for v, (_, d) in self.meaning.items() if d is not None and v in seen)
        return [*dict.fromkeys(f for f, _ in self.meaning.values()), *map(nonzero, dict.fromkeys(divisors))]


# ------------------------------------------------------------------------------------------------------------- proofs
@dataclass
class Check:
    """One check: the claim, the solvers, and the numbers of steps, leaves and uses of laws so far."""

    name: str
    terms: Terms
    solvers: Mapping[str, Solver]
    hypotheses: tuple[Formula, ...] = ()
    goal: Formula = TAUTOLOGY
    steps: int = 0
    leaves: int = 0
    lemmas: Counter[str] = field(default_factory=Counter)
    symbols: dict[Monomial, str] = field(default_factory=dict)

    def prove(self, proof: Json, facts: Sequence[str], names: Iterable[str], place: str) -> None:
        """Check a proof that facts, which are SMT-LIB terms over known names, contradict each other."""
        known, meant = list(facts), set(names)
        for k, step in enumerate(proof):
            here = f"{place}[{k}]"
            self.steps += 1
            self.lemmas[str(step[0])] += 1
            if step[0] != "split":
                known.append(self.text(self.fact(step, known, meant, here)))
                continue
            require(k == len(proof) - 1, here, "a proof goes on after its cases")
            _, p, yes, no = step
            p = self.read(p, meant, here)
            self.prove(yes, [*known, self.text(nonnegative(p))], meant, f"{here}.yes")
            self.prove(no, [*known, self.text(nonnegative(-p - 1))], meant, f"{here}.no")
            return
        self.leaves += 1
        declared = [f"(declare-const {s} Int)" for s in self.symbols.values()]
        asserted = [f"(assert {f})" for f in known]
        script = "\n".join(["(set-logic QF_LIA)", *declared, *asserted, "(check-sat)", ""])
        for name, refutes in self.solvers.items():
            require(refutes(script), place, f"{name} does not say that these facts contradict each other")

    def fact(self, step: Json, known: Sequence[str], names: set[str], place: str) -> Formula:
        """Return the fact that a step adds; names that it defines are added to ``names``."""

        def read(*ps: Json) -> list[Polynomial]:
            return [self.read(p, names, place) for p in ps]

        def fresh(*made: Json) -> list[Polynomial]:
            for v in made:
                require(isinstance(v, str) and v not in names, place, f"{v} is no new name")
                names.add(v)
            return [variable(v) for v in made]

        match step:
            case ["name", q, r, a, b]:
                return quotient(*read(a, b), *fresh(q, r))
            case ["product", u, v]:
                return product(*read(u, v))
            case ["multiple", u, v]:
                return multiple(*read(u, v))
            case ["inverse", h, int(w), i, t] if 0 < w <= WIDEST:
                return inverse(1 << exactly(w), *read(h), *fresh(i, t))
            case ["cut", f, shown]:
                f = read_formula(f)
                self.meant(polynomials(f), names, place)
                self.prove(shown, [*known, self.text(negation(f))], names, f"{place}.cut")
                return f
        raise CertificateRefused(place, f"there is no step {step[0]!r}")

    def read(self, p: Json, names: set[str], place: str) -> Polynomial:
        """Return a polynomial over defined names."""
        self.meant([found := read_polynomial(p)], names, place)
        return found

    def meant(self, ps: Iterable[Polynomial], names: set[str], place: str) -> None:
        """Refuse the certificate if polynomials contain undefined names."""
        unknown = {v for p in ps for v in p.names} - names
        require(not unknown, place, f"{min(unknown, default='')} means nothing here")

    def text(self, f: Formula) -> str:
        """Return a formula as SMT-LIB, with a symbol for every monomial."""
        if f[0] in ("and", "or"):
            return f"({f[0]} {' '.join(map(self.text, f[1]))} {'true' if f[0] == 'and' else 'false'})"
        terms = []
        for m, c in f[1].items():
            number = str(c) if c >= 0 else f"(- {-c})"
            terms.append(f"(* {number} {self.symbols.setdefault(m, f'm{len(self.symbols)}')})" if m else number)
        return f"({'>=' if f[0] == 'ge' else '='} (+ {' '.join(terms)} 0) 0)"


# ------------------------------------------------------------------------------------------------------------ solvers
def z3_refutes(script: str) -> bool:
    """Return whether z3 finds the assertions contradictory."""
    import z3

    solver = z3.SimpleSolver()
    solver.set("rlimit", 50_000_000)
    solver.from_string(script)
    return bool(solver.check() == z3.unsat)


def cvc5_refutes(script: str, rlimit: int = 5_000_000) -> bool:
    """Return whether cvc5 finds the assertions contradictory.  Raises :class:`ImportError` if it is not installed."""
    import cvc5

    manager = cvc5.TermManager() if hasattr(cvc5, "TermManager") else None
    solver = cvc5.Solver(manager) if manager is not None else cvc5.Solver()
    solver.setOption("rlimit", str(rlimit))
    parser = cvc5.InputParser(solver)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, script, "question")
    symbols = parser.getSymbolManager()
    answers = []
    while not (command := parser.nextCommand()).isNull():
        answers.append(str(command.invoke(solver, symbols)).strip())
    return [a for a in answers if a] == ["unsat"]


def solvers_at_hand() -> dict[str, Solver]:
    """Return z3, and cvc5 if it is installed."""
    try:
        import cvc5  # noqa: F401
    except ImportError:
        return {"z3": z3_refutes}
    return {"z3": z3_refutes, "cvc5": cvc5_refutes}


# ------------------------------------------------------------------------------------------------------- certificates
def check_certificate(data: Json, solvers: Mapping[str, Solver] | None = None) -> Check:
    """Check every step of a certificate; every leaf is given to all of ``solvers``.

    Raises :class:`CertificateRefused`.
    """
    asked = solvers_at_hand() if solvers is None else solvers
    require(asked, "certificate", "no solver was asked")
    try:
        require(data["format"] == FORMAT, "certificate", f"the format is not {FORMAT!r}")
        terms = Terms(data["terms"])
        hypotheses = tuple(terms.condition(h) for h in data["claim"]["hypotheses"])
        goal = terms.condition(data["claim"]["goal"])
        check = Check(str(data["claim"]["name"]), terms, asked, hypotheses, goal)
        facts = [check.text(f) for f in (*hypotheses, *terms.facts((*hypotheses, goal)), negation(goal))]
        check.prove(data["proof"], facts, terms.variables | set(terms.meaning), "proof")
    except RecursionError as error:
        raise CertificateRefused("certificate", "nested too deep") from error
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        raise CertificateRefused("certificate", f"not of the documented form ({error!r})") from error
    return check


# -------------------------------------------------------------------------------------------------------------- files
def listed(folder: Path) -> list[Path]:
    """Return the certificates in a folder, which must be exactly those that its manifest lists, unchanged.

    Raises :class:`CertificateRefused`.
    """
    try:
        manifest = json.loads((folder / MANIFEST).read_text("utf-8"))
        digests = {str(entry["file"]): entry["sha256"] for entry in manifest["certificates"]}
        known = manifest["format"] == MANIFEST_FORMAT
    except (OSError, ValueError, LookupError, TypeError, RecursionError) as error:
        raise CertificateRefused(str(folder / MANIFEST), f"there is no manifest ({error})") from error
    require(known, str(folder / MANIFEST), f"the format is not {MANIFEST_FORMAT!r}")
    there = {file.name for file in folder.glob("*.json")} - {MANIFEST}
    for name in sorted(there | set(digests)):
        require(name in digests, str(folder / name), "the manifest does not list it")
        require(name in there, str(folder / name), "it is missing, and the manifest lists it")
        digest = hashlib.sha256((folder / name).read_bytes()).hexdigest()
        require(digest == digests[name], str(folder / name), "it is not the file that the manifest lists")
    return [folder / name for name in digests]


def check_parts(data: Json, solvers: Mapping[str, Solver] | None = None) -> list[Check]:
    """Check the certificates of one file, which are the cases of one claim.  Raises :class:`CertificateRefused`."""
    well_formed = isinstance(data, dict) and isinstance(data.get("parts"), list)
    require(well_formed and data.get("format") == FILE_FORMAT, "file", f"the format is not {FILE_FORMAT!r}")
    checks = [check_certificate(part, solvers) for part in data["parts"]]
    for check in checks:
        require(check.name == data.get("obligation"), "claim", f"it is one of {check.name!r}")
    return checks


def _checked(file: Path) -> tuple[int, int, int, str]:
    """Return the numbers of parts, steps and leaves of a file, and a message if it is refused."""
    try:
        checks = check_parts(json.loads(file.read_text("utf-8")), solvers_at_hand())
    except (CertificateRefused, OSError, ValueError, RecursionError) as error:
        return 0, 0, 0, f"REFUSED  {file}\n  because  {error}"
    return len(checks), sum(c.steps for c in checks), sum(c.leaves for c in checks), ""


def main(arguments: Sequence[str] | None = None) -> int:
    """Check files and folders from the command line; return 0 if all hold, 3 if there is nothing to check, else 1."""
    bad = empty = steps = leaves = 0
    files = list[Path]()
    for path in map(Path, sys.argv[1:] if arguments is None else arguments):
        try:
            files += listed(path) if path.is_dir() else [path]
        except CertificateRefused as error:
            bad += 1
            print(f"REFUSED  {error}")
    # long ones first: a proof that comes last keeps one process busy and the others idle
    files.sort(key=lambda file: file.stat().st_size if file.is_file() else 0, reverse=True)
    with Pool() if len(files) > FEW else nullcontext() as pool:
        for found, more, last, refused in pool.imap(_checked, files) if pool else map(_checked, files):
            steps, leaves = steps + more, leaves + last
            bad += bool(refused)
            empty += not found and not refused
            print(refused, end="\n" if refused else "")
    if not files and not bad:
        print("usage: indexproof-check DIR or FILE..., as `indexproof prove --certificates DIR` wrote them")
        return 3
    counts = f"{steps:,} steps, {leaves:,} leaves confirmed by {' and '.join(solvers_at_hand())}"
    said = f"{len(files)} files, {bad} refused, {empty} without a part: {counts}"
    print(f"{'REFUSED' if bad else 'PROVED'}  {said}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
