"""False rules of rule files: changed rules, or rules claimed to be instances of true ones."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from indexproof.verify.recheck import is_example
from indexproof.verify.rulefiles import StatedRule, parse_rules, read_rule_file, stated_rule_obligations
from indexproof.verify.solve import decide
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
    from indexproof.verify.rulefiles.sample import table_of
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


#: False rules, each with a true rule that is wrongly claimed to be wider: preamble, rule, claimed wider rule.
_INSTANCES: tuple[tuple[str, str, str, str], ...] = (
    ("two terms for one variable", "", "(x + y) * c - (x - y) * c -> 0", "t1 * c - t1 * c -> 0"),
    ("two terms that are nearly the same", "", "x * c + 1 <= x * d -> false", "t1 + 1 <= t1 -> false"),
    ("fewer values than the term has", "", "(x + y) / 8 + (x + y) * 0 -> 0", "i / 8 + i * 0 -> 0"),
    ("another literal", "", "(x + y) * 2 -> (x + y) + (x + y) + 1", "t1 * 2 -> t1 + t1"),
    ("another operator", "", "(x + y) % c -> (x + y) / c", "t1 % c -> t1 % c"),
    ("another variable", "", "x * c / d -> x * d / c", "t1 / t2 -> t1 / t2"),
    ("a condition more", "", "(x + y) % c -> 0", "t1 % c -> 0 if t1 % c == 0"),
    ("another condition", "", "(x * y) % c -> x * y if x * y <= c", "t1 % c -> t1 if 0 <= t1, t1 < c"),
    ("a term without a value", "semantics floor", "0 -> x / y - x / y", "0 -> t1 - t1"),
    ("a remainder without a value", "semantics trunc", "0 -> x % c - x % c", "0 -> t1 - t1"),
    ("a sum that overflows", "integers 8 bits undefined", "x * 0 -> (x + y) - (x + y)", "x * 0 -> t1 - t1"),
    ("a term without a value that is not chosen", "semantics trunc",
        "select(y == 0, x, x / y) -> select(x / y == x / y, select(y == 0, x, x / y), 7)",
        "select(y == 0, x, t1) -> select(t1 == t1, select(y == 0, x, t1), 7)"),
    ("a part without a value of what is true without it", "semantics floor",
        "p or x / y == c -> (p or x / y == c) and x / y <= x / y", "p or t1 == c -> (p or t1 == c) and t1 <= t1"),
    ("a condition that does not overflow", "integers 8 bits undefined", "x -> (x + y) - (x + y) + x if x + y > 0",
        "x -> t1 - t1 + x if t1 > 0"),
    ("a condition that sees another number", "integers 8 bits wrap", "max(x + 1, 0) -> x + 1 if x + 1 > 0",
        "max(t1, 0) -> t1 if t1 > 0"),
    ("a truth value for an integer", "", "select(x < y, c, d) -> select(x < c, c, d)",
        "select(p, c, d) -> select(p, c, d)"),
)  # fmt: skip


def instance_cases(task: Batch) -> Iterator[Fault]:
    """Yield the cases of rules that are wrongly claimed to be instances, for the prover and in a certificate."""
    from indexproof.verify.rulefiles import prove
    from indexproof.verify.rulefiles.evaluate import judge
    from indexproof.verify.rulefiles.sample import table_of

    names = "int x, y, t1, t2\nint i in [0, 7]\nconst c, d\nbool p\n"
    for name, head, false, true in _INSTANCES:
        r, wider = (
            parse_rules(f"{head}\n{names}r: {rule}\n", "faults.rules", derived=True)[0] for rule in (false, true)
        )
        point = table_of(r).counterexample()
        assert point is not None, name
        assert judge(r, point) in ("counterexample", "undefined"), name
        with replaced((prove, "generalised", lambda _, wider=wider, **__: wider)):
            used, _ = prove._as_instance(r, BUDGET)
        yield Fault("instance", name, "" if used else "the comparison of the two rules")
