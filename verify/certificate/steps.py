"""The steps of one case: facts, and what divisions, products and extrema are."""

from __future__ import annotations

from collections.abc import Sequence

from ...core.condition import Compare, Condition, Divides, negate
from ...core.expr import Expr, integer, mod
from ..schemes import LEMMAS
from .check import CertificateRefused, CertifiedClaim
from .conditions import read_condition
from .polynomials import (
    CONTRADICTION,
    TAUTOLOGY,
    Formula,
    Json,
    Polynomial,
    atoms,
    disjunction,
    exact_quotient,
    nonnegative,
    nonzero,
    parts_of,
    read_formula,
    read_polynomial,
    substituted,
    variable,
    with_values,
    zero,
)
from .state import State, Unknown

__all__ = ["Steps"]


class Steps:
    """The steps of one case, in order; each adds facts that its name and its premises justify."""

    def __init__(self, claim: CertifiedClaim, state: State, place: str) -> None:
        self.claim = claim
        self.state = state
        self.place = place
        self.goal: Condition | None = None
        self.shown: list[Condition] = []
        self._facts: dict[int, tuple[Formula, Condition | None]] = {}
        self._translated: set[Formula] = set()
        self._untranslated = True

    def refuse(self, reason: str) -> CertificateRefused:
        """The exception to raise where the step at hand is wrong."""
        return CertificateRefused(self.place, reason)

    def established(self) -> set[Formula]:
        """The facts that do not depend on a negated goal."""
        return self.state.facts | {f for f, of in self._facts.values() if of is None}

    def fact(self, number: Json, goal: Condition | None = None) -> Formula:
        """A fact by its number; one that rests on a negated goal serves the refutation of that goal alone."""
        f, of = self._facts[number]
        if of is not None and of != (self.goal if goal is None else goal):
            raise self.refuse("a fact rests on the negation of another goal")
        return f

    def known_names(self, p: Polynomial) -> None:
        """Every name must mean something."""
        unknown = p.names - self.state.names
        if unknown:
            raise self.refuse(f"{min(unknown)} means nothing here")

    def run(self, steps: Sequence[Json]) -> None:
        """Check steps one after another."""
        place = self.place
        for k, step in enumerate(steps):
            self.place = f"{place}.steps[{k}]"
            self.claim.check.found.steps += 1
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
            f = read_formula(step["fact"])
            for p in atoms(f):
                self.known_names(p)
            made(step, f)
            self._facts[step["number"]] = f, self._rests
        self.place = place

    def _premise(self, number: Json) -> Formula:
        f, of = self._facts[number]
        if of is not None:
            if of != self.goal:
                raise self.refuse("a fact rests on the negation of another goal")
            self._rests = of
        return f

    # -- facts of the claim
    def _translate(self) -> None:
        """Read the hypotheses with what is known of divisions."""
        memo: dict[Expr, Polynomial] = {}
        for h in (*self.claim.known, *self.shown):
            try:
                self._translated.update(parts_of(self.state.formula(h, memo)))
            except Unknown:
                continue
        self._untranslated = False

    def _by_hypothesis(self, step: Json, f: Formula) -> None:
        if f not in self._translated and self._untranslated:
            self._translate()
        if f not in self._translated:
            raise self.refuse("this is no hypothesis of the claim")

    _by_equation = _by_hypothesis

    def _by_shown(self, step: Json, f: Formula) -> None:
        goal = read_condition(step["goal"], self.claim.check.terms)
        if goal not in self.shown or self.state.formula(goal, {}) != f:
            raise self.refuse("this has not been shown")

    def _by_negated_goal(self, step: Json, f: Formula) -> None:
        if self.goal is None or self.state.formula(negate(self.goal), {}) != f:
            raise self.refuse("this is not the negation of the goal")
        self._rests = self.goal

    def _by_sign(self, step: Json, f: Formula) -> None:
        if f not in self.state.sign_facts():
            raise self.refuse("no sign case says this")

    def _by_kept(self, step: Json, f: Formula) -> None:
        if f not in self.state.facts:
            raise self.refuse("this has not been shown before")

    def _by_named(self, step: Json, f: Formula) -> None:
        if f not in self.state.named:
            raise self.refuse("no name is introduced with this")

    _by_extreme = _by_named

    def _by_defined(self, step: Json, f: Formula) -> None:
        divisor = read_polynomial(step["divisor"])
        if (
            f != CONTRADICTION
            or not self.state.is_zero(divisor)
            or not self.claim.divides_by(divisor, self.state)
        ):
            raise self.refuse("no divisor of the claim is zero here")

    # -- evidence
    def evidence(self, e: Json, p: Polynomial) -> None:
        """``p >= 0``, because it is a combination of facts and a rest with no negative coefficient."""
        shifts: dict[str, Polynomial] = {}
        for number in e["shifts"]:
            f = self._premise(number)
            if f[0] != "ge":
                raise self.refuse("a bound of a name is an inequality")
            bound = Polynomial(f[1])
            names = [m for m in bound if m]
            if len(names) != 1 or len(names[0]) != 1 or abs(bound[names[0]]) != 1:
                raise self.refuse("a bound of a name is a bound of one name")
            (v,) = names[0]
            least = -bound.get((), 0)
            if bound[names[0]] > 0:
                shifts[v] = variable(v) + least
            elif v not in shifts:
                shifts[v] = -variable(v) - least
        rest = p
        for cofactor, number in e["parts"]:
            k = read_polynomial(cofactor)
            f = self._premise(number)
            if f[0] != "ge":
                raise self.refuse("only inequalities are combined")
            if any(c < 0 for c in with_values(k, shifts).values()) or not k.names <= set(shifts):
                raise self.refuse(f"the factor {k} may be negative")
            rest = rest - k * Polynomial(f[1])
        if not rest.names <= set(shifts) or any(c < 0 for c in with_values(rest, shifts).values()):
            raise self.refuse(f"{p} >= 0 does not follow from the facts that are named")
        self.claim.check.lemma("certificate", self.place)

    def _by_combination(self, step: Json, f: Formula) -> None:
        p = read_polynomial(step["of"]) if "of" in step else Polynomial(f[1])
        if nonnegative(p) != f:
            raise self.refuse("the combination shows something else")
        self.evidence(step["evidence"], p)

    # -- quotients
    def _new(self, kind: str, entry: Sequence[Polynomial], names: tuple[Polynomial, ...]) -> None:
        """Names must be new, or mean this already."""
        meaning = (kind, *(p.key for p in entry))
        keys = tuple(n.key for n in names)
        if (meaning, keys) in self.state.made:
            return
        for n in names:
            fresh = n.names
            if fresh & self.state.names or len(fresh) != 1 or n.get((next(iter(fresh)),)) != 1 or len(n) > 2:
                raise self.refuse(f"{n} is no new name")
            if any(m and len(m) != 1 for m in n):
                raise self.refuse(f"{n} is no new name")
            self.state.names |= fresh
        self.state.made.add((meaning, keys))

    def _made_quotients(self, a: Polynomial, b: Polynomial, r: Polynomial) -> list[Polynomial]:
        """Quotients with the remainder ``r``, from what was introduced for dividends that differ by multiples."""
        found = []
        for meaning, keys in self.state.made:
            if meaning[0] == "quotient" and meaning[2] == b.key and keys[1] == r.key:
                more = exact_quotient(a - Polynomial(meaning[1]), b)
                if more is not None:
                    found.append(Polynomial(keys[0]) + more)
        return found

    def _by_name(self, step: Json) -> None:
        a, b, q, r = (read_polynomial(step[k]) for k in ("dividend", "divisor", "quotient", "remainder"))
        for p in (a, b):
            self.known_names(p)
        self.evidence(step["one"], b - 1)
        made = self._made_quotients(a, b, r)
        if not made:
            self._new("quotient", (a, b), (q, r))
        elif q not in made:
            # another name for it
            self._new("the same quotient", (a, b), (q,))
        self.state.named |= {
            zero(a - b * q - r),
            nonnegative(r),
            nonnegative(b - r - 1),
        }
        self.state.divisions[a.key, b.key] = q, r
        self.claim.check.lemma("radix", self.place)

    def _by_divisible(self, step: Json) -> None:
        a, b, k, given = (read_polynomial(step[x]) for x in ("dividend", "divisor", "quotient", "given"))
        for p in (a, b):
            self.known_names(p)
        d, e = self.claim.check.terms[step["d"]], self.claim.check.terms[step["e"]]
        stated = [Divides(d, e), Compare("==", mod(e, d), integer(0)), Compare("==", integer(0), mod(e, d))]
        if not any(c in self.claim.known for c in stated):
            raise self.refuse(f"no hypothesis says that {d} divides {e}")
        memo: dict[Expr, Polynomial] = {}
        if self.state.value(d, memo) not in (b, -b) or self.state.value(e, memo) != given:
            raise self.refuse("the hypothesis speaks of other terms")
        if exact_quotient(given - a, b) is None:
            raise self.refuse("the dividends do not differ by a multiple of the divisor")
        self.evidence(step["one"], b - 1)
        known = self.state.divisions.get((a.key, b.key))
        if known is not None and known[0] == k:
            # the quotient that has been named: what the divisor divides leaves nothing
            self.claim.check.lemma("unique quotient", self.place)
        else:
            self._new("multiple", (a, b), (k,))
        self.state.named.add(zero(a - b * k))
        self.state.divisions[a.key, b.key] = k, Polynomial()
        self.state.divisions[(-a).key, b.key] = -k, Polynomial()
        self.claim.check.lemma("divisibility", self.place)

    def _by_quotient(self, step: Json) -> None:
        a, b, q, r = (read_polynomial(step[k]) for k in ("dividend", "divisor", "quotient", "remainder"))
        for p in (a, b, q, r):
            self.known_names(p)
        gap = a - b * q - r
        for cofactor, number in step["equations"]:
            f = self._premise(number)
            if f[0] != "eq":
                raise self.refuse("only equations are multiplied with anything")
            product = read_polynomial(cofactor) * Polynomial(f[1])
            # an equation is kept up to its sign
            gap = min((gap - product, gap + product), key=len)
        if gap:
            raise self.refuse(f"{a} is not ({b})·({q}) + {r}")
        self.evidence(step["low"], r)
        self.evidence(step["high"], b - r - 1)
        self.state.divisions[a.key, b.key] = q, r
        self.claim.check.lemma("unique quotient", self.place)

    def _by_rewrite(self, step: Json) -> None:
        product, value = read_polynomial(step["product"]), read_polynomial(step["value"])
        if len(product) != 1 or list(product.values()) != [1]:
            raise self.refuse(f"{product} is no product")
        if self._premise(step["equation"]) != zero(product - value):
            raise self.refuse(f"no equation says that {product} = {value}")
        for p in (product, value):
            self.known_names(p)
        self.state.rewrites[next(iter(product))] = value
        self.claim.check.lemma("substitution", self.place)

    def _known_quotient(self, step: Json) -> tuple[Polynomial, Polynomial, Polynomial]:
        a, b, q = (read_polynomial(step[k]) for k in ("dividend", "divisor", "quotient"))
        known = self.state.divisions.get((a.key, b.key))
        if known is None or known[0] != q:
            raise self.refuse("this is not the quotient")
        return a, b, q

    def _by_quotient_of_a_natural_number(self, step: Json, f: Formula) -> None:
        a, _, q = self._known_quotient(step)
        if f not in (nonnegative(q), TAUTOLOGY):
            raise self.refuse("the quotient is another one")
        self.evidence(step["natural"], a)
        self.claim.check.lemma("quotient of a natural number", self.place)

    def _by_quotient_of_a_bound(self, step: Json, f: Formula) -> None:
        a, b, q = self._known_quotient(step)
        t = read_polynomial(step["t"])
        if f != nonnegative(t - q):
            raise self.refuse("the bound is another one")
        self.evidence(step["below"], b * (t + 1) - 1 - a)
        self.claim.check.lemma("quotient of a bound", self.place)

    def _by_divided_bound(self, step: Json, f: Formula) -> None:
        b, t, r = (read_polynomial(step[k]) for k in ("base", "t", "r"))
        if f != nonnegative(t):
            raise self.refuse("the bound is another one")
        self.evidence(step["one"], b - 1)
        self.evidence(step["of"], b * t + r)
        self.evidence(step["gap"], b - r - 1)
        self.claim.check.lemma("divided bound", self.place)

    def _by_equal_digits(self, step: Json, f: Formula) -> None:
        b, t, r = (read_polynomial(step[k]) for k in ("base", "t", "r"))
        if self._premise(step["of"]) != zero(b * t + r) or f not in (zero(t), zero(r)):
            raise self.refuse("the equation says something else")
        self.evidence(step["high"], b - r - 1)
        self.evidence(step["low"], b + r - 1)
        self.claim.check.lemma("equal digits", self.place)

    # -- extrema
    def _by_extremum(self, step: Json) -> None:
        op, args = str(step["name"]), [read_polynomial(a) for a in step["args"]]
        sign = {"min": 1, "max": -1}[op]
        kept = list({a.key: a for a in args}.values())
        if not kept:
            raise self.refuse("an extremum has arguments")
        for p in kept:
            self.known_names(p)
        for less, other, why in step["dropped"]:
            p, q = read_polynomial(less), read_polynomial(other)
            if p not in kept or q not in kept or p == q:
                raise self.refuse("an argument is left out for one that is not there")
            self.evidence(why, (p - q) * sign)
            kept.remove(p)
            self.claim.check.lemma("decided extremum", self.place)
        value = read_polynomial(step["value"])
        if len(kept) == 1:
            if value != kept[0]:
                raise self.refuse("the extremum is the argument that is left")
        else:
            self._new(op, kept, (value,))
            self.state.named |= {nonnegative((p - value) * sign) for p in kept}
            self.state.named.add(disjunction(zero(p - value) for p in kept))
            self.state.extremes[str(value.key)] = op, tuple(p.key for p in kept)
            self.claim.check.lemma("extremum", self.place)
        self.state.extrema[op, tuple(a.key for a in args)] = value

    def _by_extremum_bound(self, step: Json, f: Formula) -> None:
        op, value, bound = str(step["name"]), read_polynomial(step["value"]), read_polynomial(step["bound"])
        sign = {"min": 1, "max": -1}[op]
        args = [read_polynomial(a) for a in step["args"]]
        if self.state.extremes.get(str(value.key)) != (op, tuple(a.key for a in args)):
            raise self.refuse("this is not the extremum of these arguments")
        if f != nonnegative((value - bound) * sign) or len(step["each"]) != len(args):
            raise self.refuse("the bound is another one")
        for p, why in zip(args, step["each"], strict=True):
            self.evidence(why, (p - bound) * sign)
        self.claim.check.lemma("extremum", self.place)

    # -- leaves
    def _by_substitution(self, step: Json, f: Formula) -> None:
        ((v, value),) = ((str(v), read_polynomial(p)) for v, p in step["values"].items())
        if v in value.names or self._premise(step["equation"]) != zero(variable(v) - value):
            raise self.refuse(f"no equation says that {v} = {value}")
        if substituted(self._premise(step["of"]), {v: value}) != f:
            raise self.refuse("the substitution gives something else")
        self.claim.check.lemma("substitution", self.place)

    def _by_lemma(self, step: Json, f: Formula) -> None:
        name = str(step["lemma"])
        if name not in LEMMAS:
            raise self.refuse(f"there is no lemma {name!r}")
        self.claim.check.lemma(name, self.place)
        scheme = LEMMAS[name]
        meaning = State()
        meaning.definitions = {v: read_polynomial(p) for v, p in step["with"].items()}
        for p in meaning.definitions.values():
            self.known_names(p)
        variables = {v for c in (*scheme.given, scheme.then) for v in c.variables()}
        if {v.name for v in variables} - set(meaning.definitions):
            raise self.refuse(f"the instance of {name!r} leaves a variable open")
        if len(step["given"]) != len(scheme.given):
            raise self.refuse(f"the premises of {name!r} are not all there")
        memo: dict[Expr, Polynomial] = {}
        for c, why in zip(scheme.given, step["given"], strict=True):
            if not isinstance(c, Compare) or c.op == "!=":
                raise self.refuse(f"{name!r} has no instances here")
            if c.op == "==":
                if self._premise(why) != meaning.formula(c, memo):
                    raise self.refuse(f"a premise of {name!r} is not shown")
                continue
            gap = meaning.value(c.b, memo) - meaning.value(c.a, memo)
            self.evidence(why, gap - 1 if c.op == "<" else gap)
        then = meaning.formula(scheme.then, memo)
        if f != then and f not in parts_of(then):
            raise self.refuse(f"this is no instance of {name!r}")

    def _by_derived(self, step: Json, f: Formula) -> None:
        p = read_polynomial(step["zero"])
        if f != zero(p):
            raise self.refuse("something else is derived")
        self.known_names(p)
        self.claim.check.contradictory([*(self._premise(n) for n in step["from"]), nonzero(p)], self.place)
