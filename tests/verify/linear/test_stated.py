"""Differently phrased statements about symbolic sizes: true ones are proved, false ones refuted, none stays open."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import pytest

from indexproof.verify.checker import cvc5_refutes
from indexproof.verify.linear import leaf_smtlib, prove
from indexproof.verify.rulefiles import StatedRule, judge, read_rule_file, stated_rule_obligations
from indexproof.verify.rulefiles.cases import expanded
from indexproof.verify.solve import decide
from indexproof.verify.verdict import Status, Verdict

DATA = Path(__file__).parent / "data"


def rules(name: str) -> tuple[StatedRule, ...]:
    return read_rule_file((DATA / f"{name}.rules").read_text("utf-8"), name)


def verdict(r: StatedRule) -> Verdict:
    return decide(next(iter(stated_rule_obligations(r))))


@pytest.mark.parametrize(("name", "least", "not_by"), [
    # digits of sizes are not divided again, so recombination is never needed
    ("sizes", 90, {"recombined digits"}),
    ("operations", 50, set()),
])  # fmt: skip
def test_true_statements(name: str, least: int, not_by: set[str], linear_strategies: frozenset[str]) -> None:
    started = time.process_time()
    stated = rules(name)
    assert len(stated) >= least
    for r in stated:
        found = verdict(r)
        assert found.proved, (r.name, found)
        assert set(found.strategy.split(" + ")) <= linear_strategies - not_by, (r.name, found.strategy)
    # 16 s on a busy machine
    assert time.process_time() - started < 60


def test_operations_with_a_mistake() -> None:
    mistaken = rules("operations_mistaken")
    assert len(mistaken) >= 30
    for r in mistaken:
        found = verdict(r)
        assert found.status in (Status.REFUTED, Status.UNDEFINED), (r.name, found)
        assert judge(r, found.witness or {}) in ("counterexample", "undefined"), r.name


def test_cvc5_agrees_at_every_leaf() -> None:
    pytest.importorskip("cvc5")
    leaves: dict[str, str] = {}
    for r in rules("sizes"):
        for o in expanded(r):
            found = prove(o.hypotheses, o.goal)
            assert found.proved, r.name
            leaves.update((leaf_smtlib(leaf), r.name) for leaf in found.leaves)
    assert len(leaves) > 60
    for script, name in leaves.items():
        assert cvc5_refutes(script), (name, script)


def test_no_weaker_statement_is_open() -> None:
    """A statement that lacks one of its conditions is proved or refuted, in many cases refuted."""
    weaker = [
        replace(r, name=f"{r.name}, without condition {k}", conditions=(*r.conditions[:k], *r.conditions[k + 1 :]))
        for r in rules("sizes")
        for k in range(len(r.conditions))
    ][::3]
    found = {r.name: verdict(r) for r in weaker}
    refuted = [r for r in weaker if found[r.name].status in (Status.REFUTED, Status.UNDEFINED)]
    assert len(refuted) > len(weaker) / 3
    for r in weaker:
        assert found[r.name].status in (Status.PROVED, Status.REFUTED, Status.UNDEFINED), (str(r), found[r.name])
    for r in refuted:
        _counts(r, found[r.name])


def _counts(r: StatedRule, found: Verdict) -> None:
    """Check that the counterexample is valid in the rule's own arithmetic, and small."""
    assert found.witness is not None, str(r)
    point = {v: bool(found.witness[v]) if k.name == "bool" else found.witness[v] for v, k in r.variables.items()}
    assert judge(r, point) in ("counterexample", "undefined"), (str(r), found.witness)
    if not r.semantics.width:
        assert all(abs(n) <= 12 for n in found.witness.values()), (str(r), found.witness)


def test_mistakes_and_their_corrections() -> None:
    mistakes, corrected = rules("mistakes"), rules("corrected")
    assert [r.name for r in mistakes] == [r.name for r in corrected]
    assert len(mistakes) >= 110
    for r in mistakes:
        found = verdict(r)
        assert found.status in (Status.REFUTED, Status.UNDEFINED), (str(r), found)
        _counts(r, found)
    for r in corrected:
        found = verdict(r)
        assert found.proved, (str(r), found)
