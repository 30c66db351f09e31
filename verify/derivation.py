"""The checker of derivations: it repeats every step from the declarations, without any code of the simplifier.

Trusted are the language of expressions (:mod:`indexproof.core.expr`), congruence, the declarations of the rules and,
for conditions on ranges, :mod:`.domain` and the concrete deciders.  The simplifier's matcher, engine, strategies and
ranges are not used, and nothing in a derivation is trusted:

* each rule must be in the given set, and if verdicts are given (:mod:`.replay`) it must be proved,
* the left side under the binding must be ``before`` and the right side ``after``, as the same interned expressions,
* all conditions of the rule must hold on the domain; for a rewrite of a constraint, they must follow from the box and
  the *other* constraints,
* the final form of an expression must follow from the equations by congruence (:mod:`indexproof.core.congruence`),
* constraints and boxes are replaced only by instances of constraint rules, and
* changes of the whole map must keep its relation, which the concrete deciders prove; runtime variables keep their
  sources and boxes, dimensions keep their order, and a variable that has left the map does not return.

The outcome must be the map that the derivation names.  If its dimensions differ from those of the given map, the answer
lists the removed ones and those that were ranges.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sized
from dataclasses import dataclass, field, replace
from typing import NoReturn

from ..core.condition import Condition, show_condition
from ..core.congruence import Congruence, Unfinished
from ..core.derivation import ConstraintChange, Derivation, MapChange, Position, RuleStep
from ..core.display import Shown
from ..core.errors import IndexproofError, InputError
from ..core.expr import Expr, Int, Sum, Var, postorder
from ..core.indexing_map import Constraint, IndexingMap, RuntimeVariable, unused_name
from ..core.notation import show
from ..core.rewrite import Bounded, ConstraintRule, Rule, RuleSet
from .concrete import equal_maps
from .domain import Domain, Finding


class DerivationRefused(IndexproofError):
    """Raised for an invalid derivation.  ``step`` counts from 1; 0 means the derivation as a whole."""

    def __init__(self, step: int, reason: str) -> None:
        self.step = step
        self.reason = reason
        super().__init__(f"step {step}: {reason}" if step else reason)


@dataclass
class Checked(Shown):
    """A checked derivation: for each step, the conditions of its rule and how each was decided."""

    findings: list[list[tuple[Condition, Finding]]] = field(default_factory=list)
    #: The engines that decided the changes of the whole map.
    engines: list[str] = field(default_factory=list)
    #: Dimensions of the map that are missing in its result, and dimensions of the result that were ranges of the map.
    removed_dims: tuple[str, ...] = ()
    new_dims: tuple[str, ...] = ()
    #: The derivation that was checked.
    derivation: Derivation | None = field(default=None, repr=False, compare=False)

    def __str__(self) -> str:
        if self.derivation is None:
            return repr(self)
        from .words import replay_text

        return replay_text(self.derivation, self, None)

    @property
    def steps(self) -> int:
        """The number of steps."""
        return len(self.findings)

    def decided_by(self) -> Counter[str]:
        """Count conditions by how they were decided."""
        return Counter(f.by for found in self.findings for _, f in found)


def check_derivation(derivation: Derivation, rules: RuleSet, proved: Collection[str] | None = None) -> Checked:
    """Check every step of ``derivation``, using only ``rules``.

    With ``proved``, every rule in use must be named there.  Raises :class:`DerivationRefused`.
    """
    try:
        return _Checker(derivation, rules, proved).run()
    except Unfinished as error:
        raise DerivationRefused(0, str(error)) from None


class _Checker:
    def __init__(self, derivation: Derivation, rules: RuleSet, proved: Collection[str] | None) -> None:
        self.derivation = derivation
        self.rules: dict[str, Rule | ConstraintRule] = {r.name: r for r in rules}
        self.proved = proved
        self.checked = Checked(derivation=derivation)
        #: For each dimension, its index in the given map, or ``None`` for a former range.
        self.dims: list[int | None] = list(range(len(derivation.before.dims)))
        self.start(derivation.before)

    def start(self, m: IndexingMap) -> None:
        """Continue with the map ``m``."""
        self.map = m
        self.known: Domain | None = None
        self.box = {v.expr: (v.lo, v.hi) for v in m.variables}
        #: Values of runtime variables are clamped to their boxes, which may therefore be used but not changed.
        self.fixed = {v.expr for v in m.rts}
        self.constraints = list(m.constraints)
        self.results = list(m.results)
        self.sources = m.source_indices
        #: Equations on the domain, and equations on the domain without the constraint that is being rewritten.
        self.equations, self.others = Congruence(), Congruence()
        self.unfinished: Position | None = None

    def run(self) -> Checked:
        for number, step in enumerate(self.derivation.steps, 1):
            self.number = number
            if self.unfinished and getattr(step, "position", None) != self.unfinished:
                self.refuse(f"the step before does not say what {self.unfinished} becomes")
            match step:
                case RuleStep():
                    self.rewrite(step)
                case ConstraintChange():
                    self.change(step)
                case MapChange():
                    self.exchange(step)
        self.number = 0
        if self.unfinished:
            self.refuse(f"the last step does not say what {self.unfinished} becomes")
        before, after = self.derivation.before, self.derivation.after
        if different := self.difference(after):
            self.refuse(f"the steps do not lead to the result: {different}")
        self.checked.removed_dims = tuple(v.name for k, v in enumerate(before.dims) if k not in self.dims)
        self.checked.new_dims = tuple(v.name for k, v in zip(self.dims, after.dims, strict=True) if k is None)
        return self.checked

    # -- what every instance owes
    def refuse(self, reason: str) -> NoReturn:
        raise DerivationRefused(self.number, reason) from None

    def placed(self, pattern: Expr, values: Mapping[Var, Expr], side: str) -> Expr:
        """Return one side of a rule under the binding."""
        try:
            return pattern.substitute(values)
        except ZeroDivisionError:
            self.refuse(f"the {side} side under the binding divides by zero")

    def bounded(self, side: str, b: Bounded, values: Mapping[Var, Expr]) -> Constraint:
        e, lo, hi = (self.placed(part, values, side) for part in (b.e, b.lo, b.hi))
        if not isinstance(lo, Int) or not isinstance(hi, Int):
            self.refuse(f"the bounds {show(lo)} and {show(hi)} are no constants")
        return Constraint(e, lo.value, hi.value)

    def instance(self, rule: Rule | ConstraintRule, binding: Mapping[str, Expr]) -> dict[Var, Expr]:
        """Return the values of the rule's variables; refuse unknown rules and values of the wrong kind."""
        if self.rules.get(rule.name) is not rule:
            self.refuse(f"the rule {rule.name} is not one of the given rules")
        if self.proved is not None and rule.name not in self.proved:
            self.refuse(f"the rule {rule.name} is not proved")
        names = {v.name for v in rule.variables}
        if set(binding) != names:
            odd = ", ".join(sorted(names ^ set(binding)))
            self.refuse(f"the binding is not one of the variables of {rule.name}: {odd}")
        values = {v: binding[v.name] for v in rule.variables}
        for v, e in values.items():
            if v.kind == "const" and not isinstance(e, Int):
                self.refuse(f"{v.name} = {show(e)} is no constant")
            for n in postorder(e):
                if isinstance(n, Var) and n not in self.box:
                    self.refuse(f"{v.name} = {show(e)} mentions {n}, which the map does not have")
        return values

    def conditions(self, rule: Rule | ConstraintRule, values: Mapping[Var, Expr], *domains: Domain) -> None:
        """Check that every condition of the rule holds on each of the domains."""
        found: list[tuple[Condition, Finding]] = []
        for c in rule.conditions:
            try:
                here = c.substitute(values)
            except ZeroDivisionError:
                self.refuse(f"{show_condition(c)} has no value under the binding")
            findings = [d.decide(here) for d in domains]
            finding = next((f for f in findings if not f.holds), findings[0])
            if not finding.holds:
                why = f": {finding.why[0]}" if finding.why else ""
                self.refuse(
                    f"the condition {show_condition(c)} of {rule.name} does not hold ({show_condition(here)}){why}"
                )
            found.append((here, finding))
        self.checked.findings.append(found)

    # -- expressions
    def rewrite(self, step: RuleStep) -> None:
        """Add one equation; the last equation about a constraint replaces it."""
        part, k = step.position
        there: dict[str, Sized] = {"result": self.results, "source": self.sources, "constraint": self.constraints}
        if not 0 <= k < len(there[part]):
            self.refuse(f"there is no {step.position}")
        if not isinstance(step.rule, Rule):
            self.refuse(f"{step.rule.name} is a rule for constraints")
        values = self.instance(step.rule, step.binding)
        for side, pattern, given in (("left", step.rule.left, step.before), ("right", step.rule.right, step.after)):
            found = self.placed(pattern, values, side)
            if found is not given:
                self.refuse(f"the {side} side under the binding is {show(found)}, not {show(given)}")
        about_constraint = part == "constraint"
        self.conditions(step.rule, values, self.domain(k if about_constraint else None))
        if not about_constraint:
            if step.becomes is not None:
                self.refuse(f"the map that follows says what {step.position} becomes")
            self.equations.add(step.before, step.after)
            return
        if self.unfinished is None:
            self.others = Congruence()
        self.unfinished = step.position
        self.others.add(step.before, step.after)
        if step.becomes is not None:
            c = self.constraints[k]
            if not self.others.equal(c.expr, step.becomes):
                self.refuse(f"it does not follow that {show(c.expr)} is {show(step.becomes)}")
            self.constraints[k] = replace(c, expr=step.becomes)
            self.known = self.unfinished = None

    def domain(self, without: int | None) -> Domain:
        """Return the domain of the map, without the constraint ``without`` if one is given."""
        if without is not None:
            return Domain(self.box, [c for k, c in enumerate(self.constraints) if k != without])
        if self.known is None:
            self.known = Domain(self.box, self.constraints)
        return self.known

    # -- constraints
    def change(self, step: ConstraintChange) -> None:
        """Check and apply one instance of a constraint rule."""
        rule = step.rule
        values = self.instance(rule, step.binding)
        if not isinstance(rule, ConstraintRule):
            self.refuse(f"{rule.name} is no rule for constraints")
        for side, patterns, given in (("left", rule.left, step.before), ("right", rule.right, step.after)):
            if len(patterns) != len(given):
                self.refuse(f"{rule.name} has {len(patterns)} constraints on its {side} side")
            for p, c in zip(patterns, given, strict=True):
                found = self.bounded(side, p, values)
                if found != c:
                    self.refuse(f"{_text(c)} is not {_text(found)}, the {side} side of {rule.name} under the binding")
        taken: list[int] = []
        boxes: set[Var] = set()
        for n, c in enumerate(step.before):
            v = self.boxed(c)
            # the second constraint is the box if possible: both are part of the domain and may be equal
            second = n > 0 and v is not None and v not in self.fixed and v not in boxes
            at = next((k for k, d in enumerate(self.constraints) if d == c and k not in taken), None)
            if at is not None and not second:
                taken.append(at)
                continue
            if v is None or v in boxes:
                self.refuse(f"{_text(c)} is neither a constraint nor a box of the map as it stands")
            boxes.add(v)
        place = min(taken, default=len(self.constraints))
        moved: list[Constraint] = []
        box = dict(self.box)
        replaced = boxes - self.fixed
        for c in step.after:
            image = _image(c)
            if image is not None and image[0] in replaced:
                v, lo, hi = image
                box[v] = (lo, hi)
                replaced.discard(v)
            else:
                moved.append(c)
        if replaced:
            lost = ", ".join(sorted(v.name for v in replaced))
            self.refuse(f"nothing is said about {lost} afterwards")
        before = [c for k, c in enumerate(self.constraints) if k < place]
        after = [c for k, c in enumerate(self.constraints) if k > place and k not in taken]
        constraints = [*before, *moved, *after]
        # the rule is an equivalence under its conditions, so these must follow from each side
        self.conditions(rule, values, Domain(self.box, self.constraints), Domain(box, constraints))
        self.box = box
        self.constraints = constraints
        self.known = None

    def boxed(self, c: Constraint) -> Var | None:
        """Return the variable whose box is exactly ``c``."""
        image = _image(c)
        if image is None:
            return None
        v, lo, hi = image
        return v if self.box.get(v) == (lo, hi) else None

    # -- maps
    def exchange(self, step: MapChange) -> None:
        """Replace the map by another one with the same relation."""
        if different := self.difference(step.before):
            self.refuse(f"the map as it stands is not the one that is changed: {different}")
        self.related(step)
        self.checked.findings.append([])
        if len(step.after.dims) < len(step.before.dims):
            kept = {v.name for v in step.after.dims}
            self.dims = [k for k, v in zip(self.dims, step.before.dims, strict=True) if v.name in kept]
        self.dims += [None] * (len(step.after.dims) - len(self.dims))
        self.start(step.after)

    def related(self, step: MapChange) -> None:
        """Check that both maps have the same relation over the variables of the first."""
        try:
            _expect_fewer_variables(step.before, step.after)
            after = _with_variables_of(step.before, step.after)
        except InputError as error:
            self.refuse(f"{step.why}: {error}")
        answer = equal_maps(step.before, after)
        if not answer.proved:
            said = answer.counterexample or f"not decided ({'; '.join(answer.tried)})"
            self.refuse(f"{step.why}: the map changes its meaning: {said}")
        self.checked.engines.append(answer.engine)

    def difference(self, m: IndexingMap) -> str:
        """Return how the current map differs from ``m``, ignoring the order of constraints."""
        own = self.map
        names = [[v.name for v in group] for group in (own.dims, own.ranges, own.rts)]
        theirs = [[v.name for v in group] for group in (m.dims, m.ranges, m.rts)]
        if names != theirs:
            return f"it has the variables {names}, not {theirs}"
        for v in m.variables:
            lo, hi = self.box[v.expr]
            if (lo, hi) != (v.lo, v.hi):
                return f"{v.name} is in [{lo}, {hi}], not in [{v.lo}, {v.hi}]"
        for what, ours, others in (
            ("result", self.results, m.results),
            ("index of a source", self.sources, m.source_indices),
        ):
            if len(ours) != len(others):
                return f"it has {len(ours)} expressions ({what}), not {len(others)}"
            for k, (a, b) in enumerate(zip(ours, others, strict=True)):
                if not self.equations.equal(a, b):
                    return f"{what} {k} is {show(a)}, and it does not follow that it is {show(b)}"
        if [r.source and r.source.hlo for r in own.rts] != [r.source and r.source.hlo for r in m.rts]:
            return "the runtime variables have other sources"
        have, want = _merged(self.constraints), _merged(m.constraints)
        for e in {**have, **want}:
            if have.get(e) != want.get(e):
                return f"the constraint on {show(e)} is {have.get(e, 'missing')}, not {want.get(e, 'missing')}"
        return ""


def _expect_fewer_variables(before: IndexingMap, after: IndexingMap) -> None:
    """Check that variables only leave, get new names, or turn from ranges into dimensions.  Raises :class:`InputError`.

    No variable may return and none may take the place of another, because equality of relations is checked for each
    step alone: a dimension that leaves and a later one are not the same, nor are two runtime values.
    """
    if len(after.dims) != len(before.dims):
        names = [v.name for v in before.dims]
        kept = [v.name for v in after.dims if v.name in names]
        if kept != [v.name for v in after.dims[: len(kept)]] or kept != [n for n in names if n in kept]:
            raise InputError("the dimensions that stay must keep their order, before all others")
        if len(kept) < min(len(names), len(after.dims)):
            raise InputError("dimensions cannot leave and come at once")
    come = max(len(after.dims) - len(before.dims), 0)
    if come + len(after.ranges) > len(before.ranges):
        raise InputError("a range comes from nowhere")
    places = _runtime_places(before, after)
    if after.is_trivially_empty:
        return
    there = {v.name for v in after.dims}
    gone = [v for v in before.dims if v.name not in there] if len(after.dims) < len(before.dims) else []
    gone += [v for k, v in enumerate(before.rts) if k not in places]
    if any(v.lo > v.hi for v in gone):
        raise InputError("what leaves has no value, and says so no more")
    for v, k in zip(after.rts, places, strict=True):
        # with another box, the value would be clamped differently
        if (v.lo, v.hi) != (before.rts[k].lo, before.rts[k].hi):
            raise InputError(f"the runtime variable {v.name} has another box")


def _runtime_places(before: IndexingMap, after: IndexingMap) -> list[int]:
    """Return the index in ``before`` of each runtime variable of ``after``, by order if all are left, else by name."""
    if len(before.rts) == len(after.rts):
        places = list(range(len(after.rts)))
    else:
        names = {v.name: k for k, v in enumerate(before.rts)}
        places = [names.get(v.name, -1) for v in after.rts]
    if places != sorted(set(places)) or -1 in places:
        raise InputError("the runtime variables that stay must keep their names and their order")
    for v, k in zip(after.rts, places, strict=True):
        source = before.rts[k].source
        if (v.source and v.source.hlo) != (source and source.hlo):
            raise InputError(f"the runtime variable {v.name} has another source")
    return places


def _with_variables_of(before: IndexingMap, after: IndexingMap) -> IndexingMap:
    """Rewrite ``after`` with the dimensions and runtime variables of ``before``.

    Dimensions correspond by index if they are as many, otherwise by name.  A dimension missing in ``after`` takes all
    values of its box, and an additional one becomes a range.  Runtime variables get their names and indices in
    ``before``, so that equal ones coincide.
    """
    at = dict(zip(_runtime_places(before, after), after.rts, strict=True))
    names = {v.name: before.rts[k].name for k, v in at.items()}
    theirs = {v.name for v in before.rts}
    taken = {v.name for m in (before, after) for v in m.variables}
    for v in after.dims + after.ranges:
        if v.name in theirs:
            names[v.name] = unused_name(v.name, taken)
    after = after.rename(names)
    at = dict(zip(at, after.rts, strict=True))
    after = after.with_(rts=tuple(at.get(k) or RuntimeVariable(v.name, v.lo, v.hi) for k, v in enumerate(before.rts)))
    if len(before.dims) == len(after.dims):
        return after
    own = {v.name: v for v in after.dims}
    dims = [own[v.name] if v.name in own else v.named(unused_name(v.name, taken)) for v in before.dims]
    kept = {v.name for v in dims}
    ranges = tuple(v for v in after.dims if v.name not in kept)
    return after.with_(dims=tuple(dims), ranges=ranges + after.ranges)


def _image(c: Constraint) -> tuple[Var, int, int] | None:
    """Return v and the bounds on it that a constraint on ``±v + n`` states."""
    if isinstance(c.expr, Var):
        return c.expr, c.lo, c.hi
    if isinstance(c.expr, Sum) and len(c.expr.terms) == 1:
        v, k = c.expr.terms[0]
        n = c.expr.const
        if isinstance(v, Var) and k == 1:
            return v, c.lo - n, c.hi - n
        if isinstance(v, Var) and k == -1:
            return v, n - c.hi, n - c.lo
    return None


def _merged(constraints: Iterable[Constraint]) -> dict[Expr, tuple[int, int]]:
    out: dict[Expr, tuple[int, int]] = {}
    for c in constraints:
        lo, hi = out.get(c.expr, (c.lo, c.hi))
        out[c.expr] = (max(lo, c.lo), min(hi, c.hi))
    return out


def _text(c: Constraint) -> str:
    return f"{show(c.expr)} ∈ [{c.lo}, {c.hi}]"
