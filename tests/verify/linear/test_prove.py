"""The reduction to linear arithmetic: claims that it proves, that it leaves open, and that it must not prove."""

from __future__ import annotations

import dataclasses
import itertools
import json
import random
from collections.abc import Callable, Iterator, Sequence

import pytest
import z3
from parametric_claims import claims, rule_file

from indexproof.core.condition import Condition, all_of, any_of, divides
from indexproof.core.expr import Expr, add, ceildiv, integer, maximum, minimum, mul, postorder, rebuild, var
from indexproof.verify.linear import ReductionBudget, leaf_smtlib, prove
from indexproof.verify.rulefiles.cases import expanded
from indexproof.verify.rulefiles.json_form import parse_json_rules
from indexproof.verify.schemes import LEMMAS, STEPS

a, b, c, d, e, g, h, k, m, n, p, q, r, s, t, u, v, w, x, y, z = map(var, "abcdeghkmnpqrstuvwxyz")

Claim = tuple[Sequence[Condition], Condition]


def between(low: Sequence[Expr], e: Expr, high: Sequence[Expr]) -> Condition:
    return all_of((minimum(*low) <= e, e <= maximum(*high)))


# ---------------------------------------------------------------------------------------------- arithmetic
IDENTITIES: dict[str, Claim] = {
    "a multiple leaves the quotient": ([divides(d, c)], ((x * c + r) // d).eq(x * (c // d) + r // d)),
    "a multiple leaves the remainder": ([divides(d, c)], ((x * c + r) % d).eq(r % d)),
    "a small remainder vanishes": ([d > 0, divides(g, d), r.within(0, g - 1)], ((x * g + r) // d).eq(x // (d //
        g))),
    "a small remainder stays": ([d > 0, divides(g, d), r.within(0, g - 1)], ((x * g + r) % d).eq(x % (d // g) * g +
        r)),
    "digits recombine": ([d > 0, n > 0, p.eq(d * w)], (x // d % n * p + x % d * w + r).eq(x % (d * n) * w + r)),
    "high digits recombine": ([d > 0, n > 0], (x // (d * n) * n + x // d % n).eq(x // d)),
    "nested quotients": ([b > 0, a.ne(0)], (x // a // b).eq(x // (a * b))),
    "nested quotients of numbers": ([], (x // 6 // 4).eq(x // 24)),
    "a quotient of a remainder": ([a.ne(0), b > 0], (x % (a * b) // a).eq(x // a % b)),
    "a remainder of a remainder": ([a > 0, b > 0], (x % (a * b) % a).eq(x % a)),
    "the remainder is what is left": ([d.ne(0)], (d * (x // d) + x % d).eq(x)),
    "an inner remainder vanishes": ([divides(d, c * m), m.ne(0)], (((x % m) * c + r) % d).eq((x * c + r) % d)),
    "remainders add": ([n.ne(0)], ((x % n + y % n) % n).eq((x + y) % n)),
    "remainders multiply": ([n > 0], ((x % n) * (y % n) % n).eq(x * y % n)),
    "a common factor cancels": ([c.ne(0), d.ne(0)], (c * x // (c * d)).eq(x // d)),
    "a common factor leaves the remainder": ([c.ne(0), d.ne(0)], (c * x % (c * d)).eq(c * (x % d))),
    "signs cancel": ([d.ne(0)], ((-x) // (-d)).eq(x // d)),
    "rounding up is rounding down": ([d > 0], ceildiv(x, d).eq((x + d - 1) // d)),
    "rounding up opposite": ([d.ne(0)], ceildiv(x, d).eq(-((-x) // d))),
    "quotients are monotone": ([x <= y, d > 0], x // d <= y // d),
    "quotients by negatives are antitone": ([x <= y, d < 0], y // d <= x // d),
    "a quotient is at most": ([d > 0], any_of((all_of((x // d <= k, x < (k + 1) * d)), k < x // d))),
    "quotients and products": ([d > 0, k * d <= x], k <= x // d),
    "a difference of quotients": ([d > 0], (x // d - y // d).within((x - y) // d, (x - y) // d + 1)),
    "shift by the divisor": ([d.ne(0)], ((x + d) // d).eq(x // d + 1)),
    "divisibility is transitive": ([divides(a, b), divides(b, c)], divides(a, c)),
    "divisibility of a sum": ([divides(a, b), divides(a, c)], divides(a, b * x + c * y)),
    "divisibility of products": ([divides(m, x - r), divides(n, y - s), divides(g, m * n), divides(g, m * s),
        divides(g, n * r)], divides(g, x * y - r * s)),
    "equal or not": ([], any_of((divides(d, x), d.eq(0), (x % d).ne(0)))),
    "min and max sum up": ([], (minimum(x, y) + maximum(x, y)).eq(x + y)),
    "min of a shift": ([], (minimum(x, y) + c).eq(minimum(x + c, y + c))),
    "max under a quotient": ([d > 0], (maximum(x, y) // d).eq(maximum(x // d, y // d))),
    "clamped twice": ([], maximum(minimum(maximum(minimum(x, 9), 0), 9), 0).eq(maximum(minimum(x, 9), 0))),
    "a product of bounds": ([a >= 1, b >= 1, x.within(0, a - 1), y.within(0, b - 1)], x * b + y <= a * b - 1),
    "a bound that is a product": ([a >= 1, b >= 1, r.within(0, a * b - 1)], (r // b).within(0, a - 1)),
    "undefined on both sides": ([], (x // d).eq(x // d)),
    "nothing to divide": ([d.eq(0), d > 0], (x // d).eq(7)),
}  # fmt: skip

INTERVALS: dict[str, Claim] = {
    "quotient": ([x.within(a, b), y.within(c, d), c > 0], between((a // c, a // d), x // y, (b // c, b // d))),
    "quotient by negatives": ([x.within(a, b), y.within(c, d), d < 0], between((b // c, b // d), x // y, (a // c, a
        // d))),
    "remainder": ([y.within(c, d), c > 0], (x % y).within(0, d - 1)),
    "remainder of a small number": ([x.within(a, b), a >= 0, y > b], (x % y).within(a, b)),
    "product": ([x.within(a, b), y.within(c, d)], between((a * c, a * d, b * c, b * d), x * y, (a * c, a * d, b * c,
        b * d))),
    "minimum": ([x.within(a, b), y.within(c, d)], minimum(x, y).within(minimum(a, c), minimum(b, d))),
    "maximum": ([x.within(a, b), y.within(c, d)], maximum(x, y).within(maximum(a, c), maximum(b, d))),
    "multiple": ([x.within(a, b), k >= 0], (x * k).within(a * k, b * k)),
    "ceiling": ([x.within(a, b), d > 0], ceildiv(x, d).within(ceildiv(a, d), ceildiv(b, d))),
}  # fmt: skip


# -------------------------------------------------------------------------------------------------- maps
def stated(family: str) -> dict[str, Claim]:
    """Return hypotheses and goals of claims with symbolic sizes, read from their rule file."""
    rules = parse_json_rules(json.dumps(rule_file(claims(family))), "claims.json")
    return {r.name: (o.hypotheses, o.goal) for r in rules for o in expanded(r)}


COLLAPSE = stated("collapse")
#: Kinds of facts that do not come from lemmas.
GIVEN = ("hypothesis", "negated goal", "shown", "defined")
CLAIMS: dict[str, Claim] = {
    **IDENTITIES,
    **{f"interval of a {name}": claim for name, claim in INTERVALS.items()},
    **stated("reshapes"),
    **stated("ops"),
}


@pytest.mark.parametrize("name", CLAIMS)
def test_proves(name: str) -> None:
    hypotheses, goal = CLAIMS[name]
    outcome = prove(hypotheses, goal)
    assert outcome.proved
    assert outcome.leaves
    why = {f.why.removeprefix("lemma: ") for leaf in outcome.leaves for f in leaf}
    assert {w for w in why if not w.startswith("quotient ")} <= {*LEMMAS, *STEPS, *GIVEN}


def test_symbolic_digits_of_high_rank_need_no_solver() -> None:
    for name, (hypotheses, goal) in COLLAPSE.items():
        if "injective" in name:
            continue
        outcome = prove(hypotheses, goal)
        assert outcome.proved, name
        assert outcome.strategy == "identity", name
        assert outcome.resources == 0


# ------------------------------------------------------------------------------------- division by zero
def test_no_divisor_is_zero() -> None:
    assert prove([d.eq(0)], (x // d).eq(0)).proved
    assert prove([], (d * (x // d) + x % d).eq(x)).proved
    assert prove([b > 0], (x // a // b).eq(x // (a * b))).proved
    assert not prove([], (x % d).within(0, d - 1)).proved


def test_zero_divides_nothing() -> None:
    assert prove([divides(d, x)], d.ne(0)).proved
    assert prove([d.eq(0)], ~divides(d, x)).proved
    assert not prove([x.eq(0)], divides(d, x)).proved


# ----------------------------------------------------------------------------------------------- leaves
THERE = "reshape [a*b, c] and [a, b*c], there, complete"
HARD = ("interval of a quotient", THERE, "remainders multiply", "max under a quotient")


@pytest.mark.parametrize("name", HARD)
def test_every_leaf_is_a_contradiction_for_other_solvers(name: str) -> None:
    leaves = prove(*CLAIMS[name]).leaves
    for leaf in leaves:
        solver = z3.Solver(ctx=z3.Context())
        solver.from_string(leaf_smtlib(leaf))
        assert solver.check() == z3.unsat, leaf_smtlib(leaf)


@pytest.mark.parametrize("name", HARD)
def test_cvc5_agrees(name: str) -> None:
    cvc5 = pytest.importorskip("cvc5")
    for leaf in prove(*CLAIMS[name]).leaves:
        solver = cvc5.Solver()
        parser = cvc5.InputParser(solver)
        parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, leaf_smtlib(leaf), "leaf")
        manager = parser.getSymbolManager()
        answers = []
        while not (command := parser.nextCommand()).isNull():
            answers.append(command.invoke(solver, manager))
        assert "unsat" in "".join(map(str, answers))


def test_an_unproved_claim_leaves_no_leaf_of_its_own() -> None:
    outcome = prove([d > 0], (x // d).eq(0))
    assert not outcome.proved
    assert not outcome.leaves


def test_outcomes_repeat() -> None:
    for name in HARD:
        first, second = prove(*CLAIMS[name]), prove(*CLAIMS[name])
        assert first == second, name


def test_names_of_variables_do_not_matter() -> None:
    # names like the internal ones, like numbers, like SMT-LIB quotes; one name with two kinds
    strange = (var("q!1"), var("r!2"), var("|x|"), var("q!1", "const"), var("a*b"), var("d", "x:y"))
    renaming = dict(zip((x, d, n, p, w, r), strange, strict=True))
    hypotheses, goal = IDENTITIES["digits recombine"]
    assert prove([f.substitute(renaming) for f in hypotheses], goal.substitute(renaming)).proved
    hypotheses, goal = INTERVALS["quotient"]
    renaming = dict(zip((x, y, a, b, c, d), strange, strict=True))
    assert prove([f.substitute(renaming) for f in hypotheses], goal.substitute(renaming)).proved


def test_budgets_bound_the_work() -> None:
    hypotheses, goal = INTERVALS["quotient"]
    assert not prove(hypotheses, goal, budget=ReductionBudget(questions=2)).proved
    assert not prove(*IDENTITIES["a multiple leaves the quotient"], budget=ReductionBudget(leaves=1)).proved
    assert not prove(*IDENTITIES["nested quotients"], budget=ReductionBudget(readings=1)).proved
    assert not prove(hypotheses, goal, budget=ReductionBudget(rlimit=1)).proved


# ---------------------------------------------------------------------------------------- false claims
def _mutations(claim: Claim) -> Iterator[Claim]:
    """Yield copies of the claim with one change each."""
    hypotheses, goal = claim
    for n in range(len(hypotheses)):
        yield [*hypotheses[:n], *hypotheses[n + 1 :]], goal
    variables = goal.variables()
    everything = all_of((*hypotheses, goal)).variables()
    for one, other in itertools.product(variables, everything):
        if one is not other:
            yield hypotheses, goal.substitute({one: other})
    for one, more in itertools.product(variables, (-1, 1)):
        yield hypotheses, goal.substitute({one: one + more})
    nodes = dict.fromkeys(x for f in _expressions(goal) for x in postorder(f) if x.children)
    changes: list[Callable[[Expr], Expr]] = [lambda f: f + 1, lambda f: f - 1, lambda f: -f]
    for node, change in itertools.product(nodes, changes):
        yield hypotheses, goal.substitute({node: change(node)})
    for node in nodes:
        if len(node.children) == 2:
            first, second = node.children
            for made in (rebuild(node, (second, first)), add(first, second), mul(first, second)):
                yield hypotheses, goal.substitute({node: made})


def _expressions(goal: Condition) -> list[Expr]:
    parts = [goal]
    found: list[Expr] = []
    while parts:
        part = parts.pop()
        found += part.exprs()
        parts += part.parts()
    return found


def _counterexample(claim: Claim, generator: random.Random) -> dict[str, int] | None:
    """Return a point where everything is defined and the hypotheses hold, but not the goal; None if none is found."""
    hypotheses, goal = claim
    names = list(dict.fromkeys(v.name for f in (*hypotheses, goal) for v in f.variables()))
    for attempt in range(150):
        size = (2, 4, 9)[attempt % 3]
        point = {name: generator.randint(-1 if attempt % 2 else -size, size) for name in names}
        try:
            if all(f.evaluate(point) for f in hypotheses) and not goal.evaluate(point):
                return point
        except ZeroDivisionError:
            continue
    return None


def false_claims(count: int) -> list[tuple[str, Claim, dict[str, int]]]:
    """Return mutants of the claims above with counterexamples, deterministically."""
    generator = random.Random(20240611)
    every = []
    for name, claim in CLAIMS.items():
        mutants = list(_mutations(claim))
        generator.shuffle(mutants)
        every.append([(name, mutant) for mutant in mutants])
    found = []
    for name, mutant in (x for group in itertools.zip_longest(*every) for x in group if x is not None):
        point = _counterexample(mutant, generator)
        if point is not None:
            found.append((name, mutant, point))
        if len(found) == count:
            break
    return found


def test_no_false_claim_is_proved() -> None:
    mutants = false_claims(220)
    assert len(mutants) == 220
    budget = ReductionBudget(questions=8, instances=1_000, readings=100)
    for name, (hypotheses, goal), point in mutants:
        outcome = prove(hypotheses, goal, budget=budget)
        assert not outcome.proved, f"{name}: {hypotheses} ⊢ {goal} fails at {point}"


def test_a_claim_is_a_value() -> None:
    outcome = prove([], integer(1).eq(1))
    assert outcome.proved
    assert dataclasses.replace(outcome) == outcome
