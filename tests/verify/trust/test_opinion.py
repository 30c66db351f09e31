"""The second opinion: cvc5 confirms or contradicts verdicts, and a contradiction stops the run."""

from __future__ import annotations

import json
import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import z3

from indexproof.core.condition import all_of, any_of, negate
from indexproof.core.errors import InputError
from indexproof.core.expr import Expr, ceildiv, maximum, minimum, var
from indexproof.reports.selection import catalogue
from indexproof.verify.budget import Budget
from indexproof.verify.cache import Cache
from indexproof.verify.evidence import ProofQuestion, collecting
from indexproof.verify.linear import question
from indexproof.verify.obligation import Obligation
from indexproof.verify.proving import prove_all
from indexproof.verify.rulefiles import read_rule_file, stated_rule_obligations
from indexproof.verify.run import examine
from indexproof.verify.solve import _attempt, decide
from indexproof.verify.trust import opinion
from indexproof.verify.trust.disagreement import Disagreement
from indexproof.verify.trust.export import export
from indexproof.verify.trust.opinion import confirmer, second_opinion
from indexproof.verify.trust.smtlib import counterexample_script
from indexproof.verify.trust.solvers import Reply, cvc5_proof, cvc5_reply, z3_reply
from indexproof.verify.verdict import Status, Verdict

cvc5 = pytest.importorskip("cvc5")

BUDGET = Budget()
x, y, a, b, d = (var(name) for name in "xyabd")
SOUND = Obligation("test", "digits", "sound", (x.within(0, a - 1), y.within(0, b - 1)), x * b + y <= a * b - 1)
FALSE = Obligation("test", "slip", "sound", (x >= 0, y >= 0), x * y > 0)
FAR = Obligation("test", "far", "sound", (x >= 0,), x <= 1_000_003)
SOME = Obligation("test", "some", "not vacuous", (x >= 1, d < 0), x % d >= 0, question="exists")


@contextmanager
def changed(monkeypatch: pytest.MonkeyPatch, *changes: tuple[Any, str, Any]) -> Iterator[None]:
    """Replace functions by lying ones, with empty caches before and afterwards."""
    _attempt.cache_clear()
    opinion._reply.cache_clear()
    with monkeypatch.context() as patch:
        for owner, name, value in changes:
            patch.setattr(owner, name, value)
        yield
    _attempt.cache_clear()
    opinion._reply.cache_clear()


# ------------------------------------------------------------------------------------------------------------ scripts
@pytest.mark.parametrize("p", range(-7, 8))
@pytest.mark.parametrize("q", [-3, -2, -1, 1, 2, 3])
def test_scripts_divide_as_we_do(p: int, q: int) -> None:
    for divisor in (d, d * 1 + 0, y + d - y) if p == 5 else (d,):
        values: list[tuple[Expr, int]] = [
            (x // divisor, p // q),
            (x % divisor, p % q),
            (ceildiv(x, divisor), -(-p // q)),
        ]
        if q > 0:
            values += [(x // q, p // q), (x % q, p % q), (ceildiv(x, q), -(-p // q))]
        goal = all_of(e.eq(n) for e, n in values)
        for named in (False, True):
            s = counterexample_script((x.eq(p), d.eq(q)), goal, "unsat", named=named)
            assert cvc5_reply(s, 100_000).answer == z3_reply(s, 1_000_000).answer == "unsat"
        wrong = any_of(e.ne(n) for e, n in values)
        assert cvc5_reply(counterexample_script((x.eq(p), d.eq(q)), wrong, "sat"), 100_000).answer == "sat"


def test_scripts_say_what_conditions_mean() -> None:
    conditions = [
        x < y,
        x <= y,
        x.eq(y),
        x.ne(y),
        x.within(y, y + 2),
        d.divides(x),
        negate(d.divides(x)),
        x.ne(0) | (y > 1),
    ]
    conditions.append(minimum(x, y, d) <= maximum(x, y) - 1)
    for c in conditions:
        for px, py, pd in ((0, 0, 1), (3, 1, 3), (-4, 2, 2), (5, 5, -2), (2, 7, 4)):
            point = {"x": px, "y": py, "d": pd}
            fixed = (x.eq(px), y.eq(py), d.eq(pd))
            holds = c.evaluate({x: px, y: py, d: pd})
            said = cvc5_reply(counterexample_script(fixed, c, "sat"), 100_000).answer
            assert said == ("unsat" if holds else "sat"), (str(c), point)


def test_names_that_are_no_words_get_numbers() -> None:
    from indexproof.verify.trust.smtlib import names_of

    odd = [var("|x|"), var("x⁻"), var("mod"), var("x", "const"), var("x", "expr"), var("good_1"), var("ä b")]
    names = names_of([v >= 0 for v in odd])
    assert len(set(names.values())) == len(odd)
    assert names[var("good_1")] == "good_1"
    assert all(n.isascii() and " " not in n and n not in ("mod", "x") for n in names.values())
    text = counterexample_script([v >= 1 for v in odd], odd[0] + odd[4] >= 2, "unsat")
    assert cvc5_reply(text, 100_000).answer == z3_reply(text, 100_000).answer == "unsat"


def test_deep_terms_make_no_long_lines() -> None:
    e: Expr = x
    for _ in range(2000):
        e = (e + e) // 2 + y
    assert max(map(len, counterexample_script((), e.eq(e + 1), "unsat").splitlines())) < 1000


def test_the_expected_answer_is_not_told() -> None:
    text = counterexample_script((x >= 1,), x >= 1, "unsat")
    assert cvc5_reply(text.replace("status unsat", "status sat"), 100_000).answer == "unsat"


def test_what_is_no_script_is_an_input_error() -> None:
    for text in ("(assert", "(assert (> undeclared 0))(check-sat)", "nonsense"):
        with pytest.raises(InputError, match="cvc5 cannot read"):
            cvc5_reply(text, 1000)


def test_limits_are_counts() -> None:
    hard = counterexample_script((x >= 2, y >= 2, a >= 2, x * y * a >= 7), (x * y * a).ne(1_000_003 * 7), "unsat")
    first = cvc5_reply(hard, 2_000)
    assert first.answer == "unknown"
    assert first == cvc5_reply(hard, 2_000)


# ------------------------------------------------------------------------------------------------------- confirmation
def test_a_proof_is_confirmed_question_by_question() -> None:
    v = examine(SOUND, BUDGET, confirm=True)
    assert v.proved
    assert v.opinion.leaves == v.opinion.confirmed > 0
    assert "leaves" in v.opinion.by
    assert replace(v, opinion=None) == decide(SOUND)


def test_counterexamples_and_examples_are_confirmed() -> None:
    for o, status in ((FALSE, Status.REFUTED), (SOME, Status.PROVED)):
        v = examine(o, BUDGET, confirm=True)
        assert v.status is status
        assert v.opinion.by == ("example",)


def test_an_identity_is_confirmed_as_a_whole() -> None:
    o = Obligation("test", "identity", "sound", (x.eq(y + 1),), (x * 3 + a).eq(y * 3 + a + 3))
    assert examine(o, BUDGET, confirm=True).opinion.by == ("whole",)


def test_rules_of_rule_files_are_confirmed() -> None:
    text = """
semantics trunc0
int x, y
const c
multiple: (x * c) / c -> x if c != 0
carry: (x * c + y) / c -> x + y / c if c > 0, x >= 0, y >= 0
wrong: (x * c + y) / c -> x + y / c if c > 0
whole: (x / c) * c + x % c -> x if c != 0
"""
    rules = read_rule_file(text, "t.rules")
    run = prove_all([o for r in rules for o in stated_rule_obligations(r)], jobs=1, confirm="cvc5")
    verdicts = {r.obligation.subject: r.verdict for r in run.gated}
    assert {n: v.status.value for n, v in verdicts.items()} == {
        "multiple": "PROVED",
        "carry": "PROVED",
        "wrong": "REFUTED",
        "whole": "PROVED",
    }
    assert all(v.opinion is not None and v.opinion.confirms for v in verdicts.values())


def test_part_of_the_catalogue_is_confirmed() -> None:
    todo = [o for o in catalogue(max_rank=1) if o.subject.startswith(("interval_", "small_", "pad ", "reduce "))]
    run = prove_all(todo, jobs=1, confirm="cvc5")
    assert len(run.gated) > 30
    assert not [r.obligation.name for r in run.unconfirmed]
    assert run.exit_status == 0


def test_what_is_not_confirmed_does_not_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    with changed(monkeypatch, (opinion, "cvc5_reply", lambda *_, **__: Reply("unknown", 1))):
        run = prove_all([SOUND], jobs=1, confirm="cvc5")
    assert run.status is Status.PROVED
    assert [r.obligation for r in run.unconfirmed] == [SOUND]
    assert run.exit_status == 2


def test_opinions_are_kept_apart_in_the_cache(tmp_path: Path) -> None:
    with Cache(tmp_path / "c.sqlite") as cache:
        prove_all([SOUND], jobs=1, cache=cache)
        confirmed = prove_all([SOUND], jobs=1, cache=cache, confirm="cvc5")
        assert not confirmed.results[0].cached
        again = prove_all([SOUND], jobs=1, cache=cache, confirm="cvc5")
        assert again.results[0].cached
        assert again.results[0].verdict == confirmed.results[0].verdict
        assert prove_all([SOUND], jobs=1, cache=cache).results[0].verdict.opinion is None


def test_only_cvc5_is_asked() -> None:
    with pytest.raises(InputError, match="no second opinion"):
        confirmer("yices")


# ------------------------------------------------------------------------------------------------------- disagreement
def test_a_lie_about_a_question_stops_everything(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    # far away from all points that are tried
    with (
        changed(monkeypatch, (question.LinearQuestion, "contradictory", lambda self: True)),
        pytest.raises(Disagreement) as caught,
    ):
        prove_all([SOUND, FAR, FALSE], jobs=1, confirm="cvc5")
    found = caught.value
    assert found.obligation == FAR.name
    assert pickle.loads(pickle.dumps(found)).answers == found.answers
    # the report contains the question
    text, answers = found.write(tmp_path)
    assert cvc5_reply(text.read_text("utf-8"), 100_000).answer == "sat"
    assert z3_reply(text.read_text("utf-8"), 100_000).answer == "sat"
    said = json.loads(answers.read_text("utf-8"))
    assert said["obligation"] == FAR.name
    assert {said["answers"][k] for k in said["answers"] if k.startswith("cvc5")} == {"sat"}
    assert said["answers"]["verdict"] == "unsat"


def test_a_lie_about_something_near_is_noticed_without_cvc5(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = Obligation("test", "near", "sound", (d > 0,), x % d < d - 1)
    with (
        changed(monkeypatch, (z3.Solver, "check", lambda self, *more: z3.unsat)),
        pytest.raises(Disagreement, match="it is false at"),
    ):
        decide(wrong)


def test_a_wrong_claim_is_contradicted_as_a_whole() -> None:
    lie = Verdict(Status.PROVED, "linear")
    with pytest.raises(Disagreement) as caught:
        second_opinion(FAR, lie, [])
    assert "the claim is false by exact evaluation" in caught.value.note
    with pytest.raises(Disagreement):
        second_opinion(replace(FAR, question="exists"), Verdict(Status.VACUOUS, "model"), [])


def test_a_wrong_example_is_contradicted() -> None:
    for o, point in ((SOUND, {"x": 0, "y": 0, "a": 1, "b": 1}), (SOME, {"x": 1, "d": -1})):
        status = Status.REFUTED if o.question == "valid" else Status.PROVED
        with pytest.raises(Disagreement, match="is not an example"):
            second_opinion(o, Verdict(status, "model", witness=point), [])


def test_a_question_about_products_does_not_confirm() -> None:
    # a confirmation would only be as reliable as the encoding of the claim
    script = "(set-logic QF_NIA)\n(declare-const x Int)\n(assert (> (* x x) (* x x)))\n(check-sat)\n"
    hard = Obligation("test", "hard", "sound", (x >= 2, y >= 2, a >= 2), (x * y * a * a * x).ne(1_000_003 * 7))
    said = second_opinion(hard, Verdict(Status.PROVED, "witness"), [ProofQuestion("witness", script)])
    assert not said.confirms


# --------------------------------------------------------------------------------------------------- export and proofs
def test_exported_files_have_the_expected_answers() -> None:
    for n, o in enumerate((SOUND, FALSE, FAR, SOME)):
        v = decide(o)
        found = export(n, o, v, BUDGET, leaves=True, proofs=False)
        assert found.files
        for item in found.entry["questions"]:
            text = found.files[item["file"]]
            assert f"(set-info :status {item['expected']})" in text
            assert cvc5_reply(text, 200_000).answer in (item["expected"], "unknown")
            assert z3_reply(text, 2_000_000).answer in (item["expected"], "unknown")
    assert any(
        "question" in q["asks"]
        for q in export(1, SOUND, decide(SOUND), BUDGET, leaves=True, proofs=False).entry["questions"]
    )


def test_undecided_is_exported_as_unknown() -> None:
    found = export(7, SOUND, Verdict(Status.UNDECIDED), BUDGET, leaves=True, proofs=False)
    (text,) = found.files.values()
    assert "(set-info :status unknown)" in text


def test_questions_come_with_checked_proofs() -> None:
    with collecting() as evidence:
        assert decide(SOUND).proved
    for q in evidence:
        proof = cvc5_proof(q.smtlib(), 500_000)
        assert not proof.trusted
        assert proof.steps > 1
        assert "step" in proof.text
    assert cvc5_proof(counterexample_script((x >= 1,), x >= 2, "sat"), 100_000) is None
    found = export(1, SOUND, decide(SOUND), BUDGET, leaves=True, proofs=True)
    assert [q for q in found.entry["questions"] if q.get("proof")]
