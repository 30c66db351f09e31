"""The obligations of claims: rules, constraint rules, transfer functions and op maps.

An :class:`Obligation` is a question about unbounded integers.  Most ask that the hypotheses imply the goal; an
existence obligation (*not vacuous*, *needed*) asks for a point that satisfies the hypotheses and violates the goal.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from ..core.condition import (
    FALSE,
    TRUE,
    Condition,
    Divides,
    all_exprs,
    all_of,
    any_of,
    atoms,
    negate,
    parts_of,
    show_condition,
)
from ..core.constraint_order import ConstraintMeasure, constraint_measure
from ..core.constraint_order import measured as measured_constraint
from ..core.expr import Expr, Int, Max, Min, Var, lift, postorder, var
from ..core.op import DIRECTIONS, Case, MapClaim, Question, box, coverage_claim, map_claim
from ..core.parametric import divisors_of
from ..core.rewrite import ConstraintRule, Measure, Rule, measure, measured
from ..rules.transfer import KnownLaw, TransferLaw
from .obligation import Obligation, Way


def defined(*roots: Expr) -> Condition:
    """Return the condition that no divisor below ``roots`` is zero."""
    return all_of(d.ne(0) for d in sorted(divisors_of(roots), key=str))


def _defined_conditions(conditions: Sequence[Condition]) -> Condition:
    return defined(*[e for c in conditions for e in all_exprs(c)])


# --------------------------------------------------------------------------------------------------------------- rules
def rule_obligations(rule: Rule, widths: Sequence[int] = ()) -> Iterator[Obligation]:
    """Yield the obligations of a rewrite rule (reports/semantics.md, "What a claim owes").

    *sound*, *defined*, *not vacuous*, *needs …* for every condition of ``when``, *progress* unless the rule is a law of
    the canonical form, and *no new overflow* for every width in ``widths``.
    """
    left, right, when = rule.left, rule.right, rule.when
    sides = ("left", left), ("right", right)

    owe = partial(Obligation, "rule", rule.name, where=rule.where, claim=rule.statement(), show=_subterms(*sides))
    yield owe("sound", tuple(when), left.eq(right))
    # the redex is defined, so its own divisors are nonzero
    given = defined(left)
    yield owe("defined", (given, *when), all_of((defined(right), _defined_conditions(rule.guard))))
    yield owe("not vacuous", (given, *rule.conditions), FALSE, question="exists")
    for k, c in enumerate(when):
        others = (given, *when[:k], *when[k + 1 :])
        goal = all_of((left.eq(right), defined(right)))
        yield owe(f"needs {show_condition(c)}", others, goal, question="exists", gate=False)
    if not rule.structural:
        # extraction chooses by cost, and a strategy's proposals are measured if the declaration alone does not descend
        if not rule.sharing and not (rule.choose and measured(rule)):
            before, after = measure(left), measure(right)
            hypotheses = (*_sizes(rule.variables, [left]), *rule.conditions)
            sizes = _labelled(Measure._fields, before, after)
            yield owe("progress", hypotheses, _lexicographic(before, after), show=sizes)
        for width in widths:
            # if every subexpression of the left side fits into the machine type, so must every one of the right side
            lo, hi = -(1 << (width - 1)), (1 << (width - 1)) - 1
            inside = [e.within(lo, hi) for e in (*_compound(left), *rule.variables)]
            fits = all_of(e.within(lo, hi) for e in _compound(right))
            kind = f"no new overflow, int{width}"
            yield owe(kind, (*rule.conditions, *inside), fits, gate=False, width=width)


def _sizes(variables: Sequence[Var], roots: Sequence[Expr]) -> list[Condition]:
    """Return that measures are non-negative, and at least two for an expression in a sum or division (no literal)."""
    out: list[Condition] = []
    loose = {a for n in postorder(*roots) if isinstance(n, (Min, Max)) for a in n.args}
    for v in variables:
        if v.kind == "const":
            continue
        least = 2 if v.kind == "expr" and v not in loose else 0
        out.append(var(f"|{v.name}|") >= least)
        out += [var(f"‖{v.name}‖") >= 0, *(var(f"{v.name}{mark}") >= 0 for mark in "⁻°↺")]
    return out


def _lexicographic(before: Sequence[Expr], after: Sequence[Expr]) -> Condition:
    """Return that ``after`` is lexicographically less than ``before``."""
    cases = []
    for k in range(len(before)):
        same = [after[j].eq(before[j]) for j in range(k)]
        cases.append(all_of([*same, after[k] < before[k]]))
    return any_of(cases)


def _labelled(names: Sequence[str], before: Sequence[Expr], after: Sequence[Expr]) -> tuple[tuple[str, Expr], ...]:
    """Return the measures of both sides with their names."""
    sides = ("left", before), ("right", after)
    return tuple((f"{side} {name}", m) for side, ms in sides for name, m in zip(names, ms, strict=True))


@dataclass(frozen=True)
class Needed(Obligation):
    """A finding about a condition of an equivalence: whether dropping it admits a counterexample.

    That there is none is shown in both directions, by the steps of the rule's own proofs.
    """

    proofs: tuple[Way, ...] = ()

    def ways(self) -> tuple[Way, ...]:
        """Return the two directions."""
        return self.proofs


def constraint_rule_obligations(rule: ConstraintRule) -> Iterator[Obligation]:
    """Yield the obligations of an equivalence: both directions, *defined*, *not vacuous*, *progress*, *needs …*."""
    left, right = rule.claim()
    when = rule.when
    shown = _subterms(*[("left", b.e) for b in rule.left], *[("right", b.e) for b in rule.right])
    where, said = rule.where, rule.statement()
    owe = partial(Obligation, "constraint rule", rule.name, where=where, claim=said, show=shown)
    given = _defined_conditions([b.condition() for b in rule.left])
    # the left side of a rule that finds a contradiction is unsatisfiable; the rest must be satisfiable
    possible = (given, *rule.conditions) if right is FALSE else (given, *rule.conditions, left)
    for k, step in enumerate(rule.by):
        yield owe(f"step {k + 1}: {show_condition(step)}", (given, *when, left, *rule.by[:k]), step)
    yield owe("sound ⇒", (given, *when, left, *rule.by), right)
    for k, step in enumerate(rule.back_by):
        yield owe(f"step back {k + 1}: {show_condition(step)}", (given, *when, right, *rule.back_by[:k]), step)
    yield owe("sound ⇐", (given, *when, right, *rule.back_by), left)
    yield owe("defined", (given, *when), _defined_conditions([right, *rule.guard]))
    yield owe("not vacuous", possible, FALSE, question="exists")
    if not measured_constraint(rule):
        before, after = constraint_measure(rule.left), constraint_measure(rule.right)
        smaller, sizes = _lexicographic(before, after), _labelled(ConstraintMeasure._fields, before, after)
        yield owe("progress", _natural_measures(rule), smaller, show=sizes)
    for k, c in enumerate(when):
        others = (given, *when[:k], *when[k + 1 :])
        goal = all_of((any_of((negate(left), right)), any_of((negate(right), left))))
        proofs = Way(left, rule.by, right), Way(right, rule.back_by, left)
        kind = f"needs {show_condition(c)}"
        needed = partial(Needed, "constraint rule", rule.name, where=where, claim=said, show=shown)
        yield needed(kind, others, goal, "exists", gate=False, proofs=proofs)


def _natural_measures(rule: ConstraintRule) -> tuple[Condition, ...]:
    """Return a rule's conditions, and that the measures of :mod:`~indexproof.core.constraint_order` are non-negative.

    A rule whose declaration does not imply progress owes no proof of it, because production measures every application.
    """
    variables = [v for v in rule.variables if v.kind != "const"]
    hypotheses = _sizes(variables, [b.e for b in rule.left])
    for v in variables:
        # an expression has at least one summand; the rest of a sum may be empty
        hypotheses.append(var(f"{v.name}#") >= (1 if v.kind == "expr" else 0))
        hypotheses += [var(f"{v.name}∘").within(0, 1), var(f"{v.name}∓") >= 0]
        hypotheses += [var(f"{v.name}′{mark}") >= 0 for mark in "#∘∓"]
    return (*hypotheses, *rule.conditions)


def _subterms(*sides: tuple[str, Expr]) -> tuple[tuple[str, Expr], ...]:
    """Return every compound subexpression, labelled by side, innermost first."""
    return tuple(dict.fromkeys((label, node) for label, root in sides for node in _compound(root)))


def _compound(root: Expr) -> list[Expr]:
    return [node for node in postorder(root) if not isinstance(node, (Var, Int))]


# ---------------------------------------------------------------------------------------------------- transfer functions
def transfer_obligations(law: TransferLaw) -> Iterator[Obligation]:
    """Yield *sound* for both bounds, *tight* for both unless the law is an approximation, and *not vacuous*."""
    owe = partial(
        Obligation,
        "transfer",
        law.name,
        show=_subterms(("value", law.value), ("lo", law.lo), ("hi", law.hi)),
        where="transfer.py",
        claim=law.statement(),
    )
    given = tuple(law.hypotheses())
    yield owe("sound below", given, law.lo <= law.value)
    yield owe("sound above", given, law.value <= law.hi)
    yield owe("not vacuous", given, FALSE, "exists")
    if law.approximate:
        return
    inputs = [*(v for v, _, _ in law.inputs), *law.unbounded]
    for kind, bound, points in (("tight below", law.lo, law.lo_at), ("tight above", law.hi, law.hi_at)):
        attained = []
        for point in points:
            at = dict(zip(inputs, point, strict=True))
            boxes = (*law.inputs, *law.known)
            inside = [lift(v.substitute(at)).within(lo, hi) for v, lo, hi in boxes]
            allowed = [c.substitute(at) for c in law.where]
            attained.append(all_of([*inside, *allowed, law.value.substitute(at).eq(bound)]))
        yield owe(kind, tuple(law.bounds()), any_of(attained))


def known_obligations(law: KnownLaw) -> Iterator[Obligation]:
    """Yield *sound* and *not vacuous*."""
    roots = [e for h in (*law.given, law.then) for e in all_exprs(h)]
    shown = _subterms(*[("term", e) for e in roots])
    where = f"{type(law).__module__.rpartition('.')[2]}.py"
    owe = partial(Obligation, law.family, law.name, show=shown, where=where, claim=law.statement())
    yield owe("sound", law.given, law.then)
    yield owe("not vacuous", law.given, FALSE, "exists")


# ------------------------------------------------------------------------------------------------------------------ ops
def op_obligations(case: Case) -> Iterator[Obligation]:
    """Yield the obligations of one symbolic instance of an op (reports/semantics.md, "What a claim owes").

    Both maps of every operand are *in bounds*, *sound*, *complete* and *defined*.  What the op reads and its sizes are
    *defined*.  If operands share the output, it is covered (*coverage*).  The instance is *not vacuous*.
    """
    op = case.op
    subject = f"{op.name} {case.label}"
    where = f"{type(op).__module__.rsplit('.', 1)[-1]}.py"
    several = op.arity > 1
    said = op.text()
    stated: list[tuple[tuple[Condition, ...], Condition]] = []
    assumed: tuple[Condition, ...] = ()

    def owe(kind: str, question: tuple[tuple[Condition, ...], Condition], **more: Any) -> Iterator[Obligation]:
        # operands that are treated alike have identical obligations, which are stated once
        if not (several and question in stated):
            stated.append(question)
            yield Obligation("op", subject, kind, *question, where=where, **{"claim": said, **more})

    for kind, question in sizes_defined(case):
        yield from owe(kind, question)
    for k in range(op.arity):
        place = f" {k}" if several else ""
        claims = {d: map_claim(op, k, d, case.shapes, case.facts) for d in DIRECTIONS}
        for direction, claim in claims.items():
            assumed = claim.assumed
            arrow = direction.replace("_to_", " to ")
            text = f"({', '.join(v.name for v in claim.source)}) -> ({', '.join(map(str, claim.results))})"
            shown = tuple((v.name, e) for v, e in zip(claim.target, claim.results, strict=False))
            for kind, question in {**claim.obligations(), **dict(map_defined(claim))}.items():
                yield from owe(f"{arrow}{place} {kind}", question, claim=f"{said}: {text}", show=shown)
        for kind, question in reads_defined(claims["output_to_input"]):
            yield from owe(f"reads{place} {kind}", question)
    coverage = coverage_claim(op, case.shapes, case.facts)
    if coverage is not None:
        yield Obligation("op", subject, "coverage", *coverage, where=where, claim=said)
    yield Obligation("op", subject, "not vacuous", assumed, FALSE, "exists", where=where, claim=said)


Owed = Iterator[tuple[str, Question]]


def sizes_defined(case: Case) -> Owed:
    """Yield that no divisor in the demands and in the sizes of the output is zero for legal sizes and attributes."""
    goal = all_of((_defined_conditions(case.hypotheses), defined(*case.op.shape(*case.shapes))))
    if goal is not TRUE:
        yield "sizes defined", (case.hypotheses, goal)


def map_defined(claim: MapClaim) -> Owed:
    """Yield that no divisor in a map is zero; see :func:`_defined_over`."""
    read = [e for r in claim.runtime for e in (*r.index, r.lo, r.hi)]
    divisible = [c.d for w in claim.where for c in atoms(w) if isinstance(c, Divides)]
    roots = [*claim.results, *(e for w in claim.where for e in all_exprs(w)), *(r.size for r in claim.ranges)]
    inside = [*box(claim.source, claim.source_sizes)]
    inside += box((r.variable for r in claim.ranges), (r.size for r in claim.ranges))
    yield from _defined_over(claim, inside, all_of((defined(*roots, *read), *(d.ne(0) for d in divisible))))


def reads_defined(claim: MapClaim) -> Owed:
    """Yield that no divisor in ``reads`` is zero; see :func:`_defined_over`."""
    inside = [*box(claim.source, claim.source_sizes), *box(claim.target, claim.target_sizes)]
    yield from _defined_over(claim, inside, _defined_conditions(claim.reads))


def _defined_over(claim: MapClaim, inside: Sequence[Condition], goal: Condition) -> Owed:
    """Yield *defined* and *defined at points*, unless trivial.

    Divisors made of sizes and attributes alone must be nonzero whenever output and operand have elements, because the
    map is built before points are known.  (If either is empty, :func:`map_claim` asks for no map.)  Other divisors must
    be nonzero at all points of the boxes, even where the map's conditions fail.
    """
    coordinates = {*claim.source, *claim.target}
    coordinates |= {r.variable for r in claim.ranges} | {r.variable for r in claim.runtime}
    moving = [c for c in parts_of(goal) if not coordinates.isdisjoint(c.variables())]
    fixed = [c for c in parts_of(goal) if c not in moving and c is not TRUE]
    if fixed:
        elements = [n >= 1 for n in (*claim.source_sizes, *claim.target_sizes) if not isinstance(n, Int)]
        assumed = [c for c in claim.assumed if coordinates.isdisjoint(c.variables())]
        yield "defined", ((*assumed, *elements), all_of(fixed))
    if moving:
        yield "defined at points", ((*claim.assumed, *inside), all_of(moving))
