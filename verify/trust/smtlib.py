"""Obligations as SMT-LIB 2 scripts: standalone, with the expected answer, for any solver to check.

The scripts are written from the obligation alone, by code that shares nothing with :mod:`..encode`, :mod:`..preprocess`
or :mod:`..linear`, so an answer is a second opinion on all of them.  A script asks for a counterexample: hypotheses,
nonzero divisors, and the negated goal.  ``unsat`` means that the hypotheses imply the goal.

SMT-LIB's own ``div`` rounds down for a positive divisor only, so the script defines floor division itself.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from ...core.condition import Condition, Relation, all_exprs, condition_interpret
from ...core.expr import Expr, Var, interpret, natural_key
from ...core.parametric import divisors_of

if TYPE_CHECKING:
    from ..obligation import Obligation

Answer = Literal["unsat", "sat", "unknown"]

#: Longer terms get a name, so that a script is not much longer than the expression is large.
_LONG = 160
_PLAIN = re.compile(r"[A-Za-z][0-9A-Za-z_]*")
#: Words with a meaning in scripts; variables with these names get a number instead.
_TAKEN = frozenset(
    re.findall(
        r"\w+",
        """
        abs and as assert bool check continue declare define distinct div echo eval exists exit exp false forall get help
        implies in include int is ite lambda let match maximize minimize mod model named not or par pop push real reset
        sat set simplify sin string to true unknown unsat xor floordiv floormod ceildiv minimum maximum
        """,
    )
)

_DEFINITIONS = {
    "floordiv": "(define-fun floordiv ((a Int) (b Int)) Int (ite (> b 0) (div a b) (div (- a) (- b))))",
    "floormod": "(define-fun floormod ((a Int) (b Int)) Int (- a (* b (floordiv a b))))",
    "ceildiv": "(define-fun ceildiv ((a Int) (b Int)) Int (- (floordiv (- a) b)))",
    "minimum": "(define-fun minimum ((a Int) (b Int)) Int (ite (<= a b) a b))",
    "maximum": "(define-fun maximum ((a Int) (b Int)) Int (ite (>= a b) a b))",
}
_NEEDS = {"floormod": ("floordiv",), "ceildiv": ("floordiv",)}


class _Text:
    """Translates expressions and conditions to SMT-LIB terms."""

    def __init__(self, names: Mapping[Var, str], named: bool = False) -> None:
        self.names = names
        self.named = named
        self._pairs: dict[tuple[str, str], tuple[str, str]] = {}
        self.used: dict[str, None] = {}
        self.lines: list[str] = []
        self.linear = True
        self._memo: dict[Expr, str] = {}

    def value(self, e: Expr) -> str:
        """Return the term of an expression."""
        return interpret((e,), self, self._memo)[0]

    def condition(self, c: Condition) -> str:
        """Return the formula of a condition."""
        return condition_interpret(c, self.value, self)

    # -- expressions
    def integer(self, n: int) -> str:
        return str(n) if n >= 0 else f"(- {-n})"

    def variable(self, v: Var) -> str:
        return self.names[v]

    def sum(self, const: int, terms: list[tuple[str, int]]) -> str:
        parts = [t if k == 1 else f"(- {t})" if k == -1 else f"(* {self.integer(k)} {t})" for t, k in terms]
        if const or not parts:
            parts.append(self.integer(const))
        return parts[0] if len(parts) == 1 else self._short(f"(+ {' '.join(parts)})")

    def product(self, factors: list[str]) -> str:
        self.linear = False
        return self._short(f"(* {' '.join(factors)})")

    def minimum(self, args: list[str]) -> str:
        return self._folded("minimum", args)

    def maximum(self, args: list[str]) -> str:
        return self._folded("maximum", args)

    def _named(self, a: str, b: str) -> tuple[str, str]:
        """Return names for quotient and remainder, and assert their definitions."""
        self.linear = self.linear and b.isdigit()
        if (a, b) not in self._pairs:
            n = len(self._pairs)
            q, r = f"q!{n}", f"r!{n}"
            self._pairs[a, b] = q, r
            self.lines += [
                f"(declare-const {q} Int)",
                f"(declare-const {r} Int)",
                f"(assert (= {a} (+ (* {b} {q}) {r})))",
                f"(assert (=> (> {b} 0) (and (<= 0 {r}) (< {r} {b}))))",
                f"(assert (=> (< {b} 0) (and (< {b} {r}) (<= {r} 0))))",
            ]
        return self._pairs[a, b]

    def floordiv(self, a: str, b: str) -> str:
        if self.named:
            return self._named(a, b)[0]
        return self._short(f"(div {a} {b})") if b.isdigit() else self._call("floordiv", a, b)

    def mod(self, a: str, b: str) -> str:
        if self.named:
            return self._named(a, b)[1]
        return self._short(f"(mod {a} {b})") if b.isdigit() else self._call("floormod", a, b)

    def ceildiv(self, a: str, b: str) -> str:
        if self.named:
            return f"(- {self._named(f'(- {a})', b)[0]})"
        return self._short(f"(- (div (- {a}) {b}))") if b.isdigit() else self._call("ceildiv", a, b)

    def _folded(self, name: str, args: list[str]) -> str:
        self.used[name] = None
        total = args[0]
        for a in args[1:]:
            total = self._short(f"({name} {total} {a})")
        return total

    def _call(self, name: str, a: str, b: str) -> str:
        self.linear = False
        self.used.update(dict.fromkeys((*_NEEDS.get(name, ()), name)))
        return self._short(f"({name} {a} {b})")

    def _short(self, term: str) -> str:
        if len(term) <= _LONG:
            return term
        name = f"t!{len(self.lines)}"
        self.lines.append(f"(define-fun {name} () Int {term})")
        return name

    # -- conditions
    def const(self, value: bool) -> str:
        return "true" if value else "false"

    def compare(self, op: Relation, a: str, b: str) -> str:
        return f"(not (= {a} {b}))" if op == "!=" else f"({'=' if op == '==' else op} {a} {b})"

    def within(self, e: str, lo: str, hi: str) -> str:
        return f"(and (<= {lo} {e}) (<= {e} {hi}))"

    def divides(self, d: str, e: str) -> str:
        return f"(and (not (= {d} 0)) (= {self.mod(e, d)} 0))"

    def conj(self, parts: list[str]) -> str:
        return f"(and {' '.join(parts)})"

    def disj(self, parts: list[str]) -> str:
        return f"(or {' '.join(parts)})"

    def neg(self, part: str) -> str:
        return f"(not {part})"


def names_of(conditions: Sequence[Condition]) -> dict[Var, str]:
    """Return a symbol for every variable, in order: its own name if that is a plain word and unique, else a number."""
    found = {v for c in conditions for v in c.variables()}
    variables = sorted(found, key=lambda v: (natural_key(v.name), v.kind))
    plain = [v.name for v in variables if _PLAIN.fullmatch(v.name) and v.name not in _TAKEN]
    return {v: v.name if plain.count(v.name) == 1 else f"v!{k}" for k, v in enumerate(variables, start=1)}


def counterexample_script(
    hypotheses: Sequence[Condition],
    goal: Condition,
    expected: Answer,
    *,
    point: Mapping[str, int] | None = None,
    comments: Sequence[str] = (),
    named: bool = False,
) -> str:
    """Return a script that asks for integers that satisfy the hypotheses and violate the goal, with nonzero divisors.

    With ``point`` the variables are fixed to these values, which makes ``sat`` easy to find and no weaker.  With
    ``named`` quotients and remainders are constants with their defining inequalities, instead of functions.
    """
    conditions = [*hypotheses, goal]
    names = names_of(conditions)
    text = _Text(names, named)
    asserts = [(f"(assert {text.condition(h)})", "") for h in hypotheses]
    divisors = divisors_of(e for c in conditions for e in all_exprs(c))
    asserts += [(f"(assert (not (= {text.value(d)} 0)))", "no division by zero") for d in divisors]
    asserts.append((f"(assert (not {text.condition(goal)}))", "the negated goal"))
    if point is not None:
        found = [(name, point.get(v.name)) for v, name in names.items()]
        asserts += [(f"(assert (= {name} {text.integer(n)}))", "an example") for name, n in found if n is not None]
    head = [
        *(f"; {' '.join(c.split())}" for c in comments),
        "(set-info :smt-lib-version 2.6)",
        f"(set-logic {'QF_LIA' if text.linear else 'QF_NIA'})",
        f"(set-info :status {expected})",
        *(_DEFINITIONS[name] for name in text.used),
    ]
    for v, name in names.items():
        head.append(f"(declare-const {name} Int){'' if name == v.name else f' ; {v.name}'}")
    said = ""
    body = []
    for line, why in asserts:
        if why != said:
            body.append(f"; {why}")
            said = why
        body.append(line)
    return "\n".join([*head, *text.lines, *body, "(check-sat)", ""])


def script_at(o: Obligation, point: Mapping[str, int]) -> str:
    """Return the script of an obligation that fails at a point, with its statement as a comment."""
    comments = [
        f"{o.family}: {o.subject}: {o.kind}",
        o.statement(),
        "asks for integers that satisfy the hypotheses and violate the goal",
    ]
    return counterexample_script(o.hypotheses, o.goal, "sat", point=point, comments=comments)
