"""Fault injection: every kind has enough cases, every case is noticed, and disabled checks lead to unnoticed cases."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from dev.faults import lies
from dev.faults import steps as false_steps
from dev.faults.bank import BUDGET, DIGITS, bank
from dev.faults.fault import Batch, Fault
from dev.faults.mutation import false_mutants, mutants
from dev.faults.run import faults_status, faults_text, perform, tasks
from indexproof.core.expr import var
from indexproof.verify import checker
from indexproof.verify.cache import Cache
from indexproof.verify.checker import CertificateRefused
from indexproof.verify.linear.formula import at_least
from indexproof.verify.linear.polynomial import constant
from indexproof.verify.obligation import Obligation
from indexproof.verify.recheck import is_example
from indexproof.verify.refute import confirmed
from indexproof.verify.solve import decide
from indexproof.verify.trust import solvers
from indexproof.verify.verdict import Status

x, d = var("x"), var("d")


def test_the_bank_is_what_it_says() -> None:
    for o, true in bank():
        v = decide(o, BUDGET)
        assert v.status is (Status.PROVED if true else Status.REFUTED), o.subject
        if not true:
            assert is_example(o, v.witness or {})


def test_mutants_are_false() -> None:
    o = Obligation("test", "digit", "sound", (d > 0, x.within(0, 5 * d - 1)), (x // d).within(0, 4))
    found = false_mutants(o, 8)
    assert len(found) == 8
    assert len({m.change for m in found}) >= 3
    for m in found:
        point = {v: m.point[v.name] for v in m.obligation.formula_variables() if v.name in m.point}
        assert confirmed(point, m.obligation.hypotheses, m.obligation.goal)
    # a mutant that stays true is no fault
    assert len(list(mutants(o))) > len(false_mutants(o, 10_000))


@pytest.mark.parametrize(("kind", "least"), [
    ("cache file", 60),
    ("rule file", 60),
    ("instance", 9),
    ("certificate", 28),
    ("derivation", 15),
    ("manifest", 50),
])  # fmt: skip
def test_everything_is_noticed(kind: str, least: int) -> None:
    """Every fault of the quick kinds is noticed; `make trust` injects all kinds."""
    found = perform(Batch(kind))
    assert len(found) >= least
    assert not [o.name for o in found if not o.noticed]


#: The reason for which each fault in an entry of the cache is refused.
_ENTRIES = {
    **dict.fromkeys(("another field", "an example of fractions"), "unreadable"),
    **dict.fromkeys(("wrong example", "forged refutation", "forged identity"), "untrue"),
    **dict.fromkeys(("verdict turned round", "entry of another", "seal of another", "a character"), "altered"),
    "truncated:": "altered",
    "truncated, sealed": "unreadable",
    "forged proof of what fails near zero": "untrue",
    "forged proof of what fails far away": "proved again",
}  # fmt: skip


def test_entries_of_the_cache_are_refused_for_what_is_wrong_with_them() -> None:
    found = perform(Batch("cache entry"))
    for kind, noticed in _ENTRIES.items():
        assert {o.noticed for o in found if o.name.startswith(kind)} == {noticed}, kind
    assert not [o.name for o in found if not o.noticed]


@pytest.fixture
def few_claims(monkeypatch: pytest.MonkeyPatch) -> None:
    """Restrict the bank to its first claims; `make trust` uses all of them."""
    claims = bank()[:6]
    monkeypatch.setattr(lies, "bank", lambda: claims)


@pytest.mark.usefixtures("few_claims")
@pytest.mark.skipif(not solvers.available(), reason="needs cvc5")
def test_lies_of_the_second_solver_are_noticed() -> None:
    found = perform(Batch("second solver", "sat for unsat"))
    assert len(found) > 3
    assert {o.noticed for o in found} == {"second solver"}


def test_tasks_are_different() -> None:
    assert len(tasks()) == len(set(tasks()))


# ------------------------------------------------------------------------------------ fault injection that could not fail
_BLIND = ("indexproof.verify.solve.small_point", lambda *_: None)
_ALONE = ("indexproof.verify.trust.solvers.available", lambda: False)
_SAME_DIGEST = lambda *_: "the same"  # noqa: E731
#: A disabled check: its replacements, the batch of faults, and the expected unnoticed ones.
_WITHOUT: dict[str, tuple[list[tuple[str, Any]], Batch, Callable[[list[Fault], list[str]], bool]]] = {
    "seals": ([("indexproof.verify.cache.hmac.compare_digest", lambda *_: True)], Batch("cache entry"), lambda
        found, missed: len(missed) > 50),
    "evaluation of entries": ([("indexproof.verify.recheck.believable", lambda *_: True)], Batch("cache entry"),
        lambda found, missed: any("wrong example" in name for name in missed)),
    "digests of files": ([(f"{m}.common_digest", _SAME_DIGEST) for m in ("dev.faults.manifests",
        "indexproof.verify.manifest")], Batch("manifest"), lambda found, missed: len(missed) > 50),
    # the wider claims are true; the only error is that the other claims are not instances of them
    "comparison of claims": ([("indexproof.verify.rulefiles.generalise._is_instance", lambda *_: True)],
        Batch("instance"), lambda found, missed: len(missed) == len(found) >= 9),
    # a contradictory fact about a remainder proves every claim with a division
    "sense in what is read": ([("indexproof.verify.linearised._remainder", lambda *_:
        iter([at_least(constant(-1))]))], Batch("whole rule"), lambda found, missed: len(missed) > 50),
    "evaluation": ([_BLIND, _ALONE], Batch("solver", "always unsat"), lambda found, missed: bool(missed)),
    "a question about digits": ([_BLIND, _ALONE], Batch("encoding", "recombined digits of whatever number"), lambda
        found, missed: {name.partition(": ")[2] for name in missed} == {d[0] for d in DIGITS}),
}  # fmt: skip


@pytest.mark.parametrize("check", _WITHOUT)
def test_what_is_left_out_would_be_noticed(monkeypatch: pytest.MonkeyPatch, check: str) -> None:
    changes, batch, expected = _WITHOUT[check]
    for target, value in changes:
        monkeypatch.setattr(target, value)
    found = perform(batch)
    assert expected(found, [o.name for o in found if not o.noticed])


def test_a_checker_that_does_not_ask_whether_terms_are_equal_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    prove = checker.Check.prove

    def believing(self: Any, proof: Any, facts: Any, names: Any, place: str) -> None:
        if ".cut" not in place:
            prove(self, proof, facts, names, place)

    assert all(o.noticed for o in perform(Batch("certificate")))
    monkeypatch.setattr(checker.Check, "prove", believing)
    assert not any(o.noticed for o in perform(Batch("certificate")))


@pytest.mark.parametrize("reason", ["is no new name", "means nothing here"])
def test_a_checker_without_one_of_its_reasons_would_be_noticed(monkeypatch: pytest.MonkeyPatch, reason: str) -> None:
    """Without one of its reasons for refusal the checker accepts a false step among those drawn."""
    require = checker.require

    def unless(holds: object, place: str, said: str) -> None:
        require(holds or reason in said, place, said)

    assert not any(a.untrue and a.accepted for a in false_steps.attempts(1, 1000))
    monkeypatch.setattr(checker, "require", unless)
    assert any(a.untrue and a.accepted for a in false_steps.attempts(1, 1000))


def test_forged_certificates_are_refused_for_what_they_say(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forged certificates are refused for their content, not as unreadable."""
    reasons = []
    refused = CertificateRefused.__init__

    def noted(self: CertificateRefused, place: str, reason: str) -> None:
        refused(self, place, reason)
        reasons.append((place, reason))

    monkeypatch.setattr(CertificateRefused, "__init__", noted)
    assert len(perform(Batch("certificate"))) == len(reasons) >= 28
    assert all(place.startswith("proof[0].cut") for place, _ in reasons), reasons


def test_the_report_says_what_was_not_noticed() -> None:
    fine = [Fault("solver", "always unsat: a", "evaluation"), Fault("cache entry", "swapped: b", "altered")]
    assert (faults_status(fine), faults_status([])) == (0, 1)
    assert "every one noticed" in list(faults_text(fine, 1.0))[-1]
    bad = [*fine, Fault("claim", "a slip", "")]
    assert faults_status(bad) == 1
    text = "\n".join(faults_text(bad, 1.0))
    assert "a slip" in text
    assert "NOT NOTICED  3 cases, 1 of them unnoticed" in text


@pytest.mark.usefixtures("few_claims")
def test_nothing_is_left_behind() -> None:
    from indexproof.verify.encode import Encoder

    before = vars(Encoder)["_witness"]
    perform(Batch("encoding", "division, remainder from one"))
    assert vars(Encoder)["_witness"] is before
    with Cache(None) as cache:
        assert cache.get("anything") is None
