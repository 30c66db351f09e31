"""False rules of rule files: changed rules, or rules claimed to be instances of true ones."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace

from indexproof.core.condition import TRUE
from indexproof.core.expr import Expr, var
from indexproof.verify.recheck import is_example
from indexproof.verify.rulefiles import StatedRule, generalise, parse_rules, read_rule_file, stated_rule_obligations
from indexproof.verify.rulefiles.cases import expanded
from indexproof.verify.rulefiles.generalise import Step, by_generalisation
from indexproof.verify.rulefiles.sample import table_of
from indexproof.verify.solve import decide, linear_limits
from indexproof.verify.verdict import Status

from .bank import BUDGET
from .fault import Batch, Fault
from .lies import replaced

__all__ = ["instance_cases", "rule_file_cases", "whole_rule_cases"]

#: True rules, under the semantics of several compilers.
_RULES = """
{semantics}
int x, y
const c0, c1
nested: (x / c0) / c1 -> x / fold(c0 * c1) if c0 > 0, c1 > 0
whole: (x / c0) * c0 + x % c0 -> x if c0 != 0
multiple: (x * c0) / c0 -> x if c0 != 0
apart: (x * c0 + y) / c0 -> x if c0 > 0, x >= 0, y >= 0, y < c0
small: x / c0 -> 0 if x >= 0, x < c0
rest: x % c0 -> x if x >= 0, x < c0
again: (x % c0) % c0 -> x % c0 if c0 > 0
scaled: (x * c0) % c0 -> 0 if c0 != 0
clamped: min(max(x, c0), c1) -> c0 if x <= c0, c0 <= c1
smaller: x / c0 <= x -> true if x >= 0, c0 > 0
"""
_SEMANTICS = ("floor", "trunc", "euclid", "floor0", "trunc0", "euclid0")


def _false_rules() -> Iterator[tuple[str, StatedRule]]:
    """Yield the rules without a condition or with another right-hand side that a point refutes."""
    from indexproof.verify.rulefiles.evaluate import judge
    from indexproof.verify.rulefiles.terms import Term

    one = Term("int", value=1)
    for semantics in _SEMANTICS:
        rules = read_rule_file(_RULES.format(semantics=f"semantics {semantics}"), "faults.rules")
        for r in rules:
            changed = [
                (f"without {k + 1}", replace(r, conditions=(*r.conditions[:k], *r.conditions[k + 1 :])))
                for k in range(len(r.conditions))
            ]
            if r.sort == "int":
                changed.append(("one more", replace(r, right=Term("add", (r.right, one)))))
                changed.append(("opposite", replace(r, right=Term("neg", (r.right,)))))
            for what, wrong in changed:
                point = table_of(wrong).counterexample()
                if point is not None and judge(wrong, point) in ("counterexample", "undefined"):
                    yield f"{semantics} {r.name}, {what}", wrong


def rule_file_cases(task: Batch) -> Iterator[Fault]:
    """Yield the cases of false rules, decided by the prover of rule files."""
    for what, wrong in _false_rules():
        o = next(stated_rule_obligations(wrong))
        v = decide(o, BUDGET)
        refuted = v.status in (Status.REFUTED, Status.UNDEFINED) and v.witness is not None
        shown = refuted and is_example(o, v.witness or {})
        yield Fault("rule file", what, "refuted" if shown else "")


def whole_rule_cases(task: Batch) -> Iterator[Fault]:
    """Yield the cases of false rules, decided by incremental linearisation alone, without refuting points."""
    from indexproof.verify.rulefiles.evaluate import judge
    from indexproof.verify.rulefiles.prove import as_a_whole

    for what, wrong in _false_rules():
        found = as_a_whole(wrong, 20 * BUDGET.linear)
        if found.proved:
            noticed = ""
        elif found.found is None:
            noticed = "nothing is proved"
        else:
            noticed = "refuted" if judge(wrong, found.found) in ("counterexample", "undefined") else ""
        yield Fault("whole rule", what, noticed)


x, y, c, d = var("x"), var("y"), var("c", "const"), var("d", "const")
#: False rules, each with a true rule that is wrongly claimed to be wider, and the terms said to stand for t1 and t2.
_INSTANCES: tuple[tuple[str, str, str, tuple[Expr, ...]], ...] = (
    ("two terms for one variable", "(x + y) * c - (x - y) * c -> 0", "t1 * c - t1 * c -> 0", (x + y,)),
    ("two terms that are nearly the same", "x * c + 1 <= x * d -> false", "t1 + 1 <= t1 -> false", (x * c,)),
    ("fewer values than the term has", "(x + y) / 8 + (x + y) * 0 -> 0", "i / 8 + i * 0 -> 0", (x + y,)),
    ("another literal", "(x + y) * 2 -> (x + y) + (x + y) + 1", "t1 * 2 -> t1 + t1", (x + y,)),
    ("another operator", "(x + y) % c -> (x + y) / c", "t1 % c -> t1 % c", (x + y,)),
    ("another variable", "x * c / d -> x * d / c", "t1 / t2 -> t1 / t2", (x * c, d)),
    ("a condition more", "(x + y) % c -> 0", "t1 % c -> 0 if t1 % c == 0", (x + y,)),
    ("another condition", "(x * y) % c -> x * y if x * y <= c", "t1 % c -> t1 if 0 <= t1, t1 < c", (x * y,)),
    ("another factor", "(x * c * y) % d -> x * y if d == c", "(x * t1) % d -> x * t1 if 0 <= x * t1, x * t1 < d", (c * y,)),
)  # fmt: skip


def instance_cases(task: Batch) -> Iterator[Fault]:
    """Yield the cases of rules that are wrongly claimed to be instances."""
    names = "int x, y, t1, t2\nint i in [0, 7]\nconst c, d\n"
    for name, false, true, terms in _INSTANCES:
        r, general = (parse_rules(f"{names}r: {rule}\n", "faults.rules", derived=True)[0] for rule in (false, true))
        assert table_of(r).counterexample() is not None, name
        steps: list[Step] = [(var(f"t{k}"), term, {}) for k, term in enumerate(terms, 1)]
        claims = [(w.hypotheses, w.goal) for w in expanded(general)] or [((), TRUE)]
        for o, (hypotheses, goal) in itertools.product(expanded(r), claims):
            wider = replace(o, hypotheses=hypotheses, goal=goal)
            with replaced((generalise, "generalised", lambda _, found=(steps, wider): found)):
                used, _ = by_generalisation(o, linear_limits(BUDGET))
            yield Fault("instance", name, "the comparison of the two claims" if not used else "")
