"""Each proof has a certificate that holds, and every changed certificate is refused."""

from __future__ import annotations

import ast
import copy
import json
import random
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from indexproof.cli import app
from indexproof.core.condition import FALSE, Condition, all_of, divides
from indexproof.core.expr import maximum, minimum, var
from indexproof.reports.certificates import write_certificates
from indexproof.reports.selection import catalogue
from indexproof.rules.catalog import RULES
from indexproof.verify import checker
from indexproof.verify.budget import Budget
from indexproof.verify.certificate import check_certificate
from indexproof.verify.checker import CertificateRefused, z3_refutes
from indexproof.verify.lemmas import LemmaObligation, lemma_obligations
from indexproof.verify.linear import ReductionBudget as Limits
from indexproof.verify.linear import export
from indexproof.verify.linear.export import certificate, checked_json, recorded
from indexproof.verify.obligation import Obligation
from indexproof.verify.obligations import rule_obligations
from indexproof.verify.rulefiles import modular, read_rule_file
from indexproof.verify.rulefiles.cases import expanded
from indexproof.verify.rulefiles.certify import case_certificate
from indexproof.verify.schemes import LEMMAS, STEPS
from indexproof.verify.solve import decide, reduced

a, b, c, d, g, h, i, j, k, m, n, r, t, x, y, z = map(var, "abcdghijkmnrtxyz")
Json = Any
Z3 = {"z3": z3_refutes}

CLAIMS: dict[str, tuple[Sequence[Condition], Condition]] = {
    "small remainder": ([d > 0, divides(g, d), r.within(0, g - 1)], ((x * g + r) // d).eq(x // (d // g))),
    "signs": ([], ((-x) // (-d)).eq(x // d)),
    "nested": ([b > 0, a.ne(0)], (x // a // b).eq(x // (a * b))),
    "multiple": ([divides(d, c)], ((x * c + r) // d).eq(x * (c // d) + r // d)),
    "monotone": ([x <= y, d > 0], x // d <= y // d),
    "corners": ([x.within(a, b), y.within(c, d), c > 0], all_of((minimum(a // c, a // d) <= x // y, x // y <=
        maximum(b // c, b // d)))),
    "tiles": ([n > 0, t > 0, i.within(0, n - 1), j.within(0, n - 1), (i // t * t + i % t).eq(j // t * t + j % t)],
        i.eq(j)),
    "remainders multiply": ([n > 0], ((x % n) * (y % n) % n).eq(x * y % n)),
    "inlined": ([d > 0, y.eq(x // d * d)], (y % d).eq(0)),
    "product replaced": ([d > 0, n > 0, (m * c).eq(d * g), r.within(0, d - 1)], ((x * m * c * n + r) // d).eq(x * g
        * n)),
    "two products replaced": ([d > 0, b > 0, (m * c).eq(d * g), (a * k).eq(b * h)], ((x * m * c + y) // d + (z * a *
        k + y) // b).eq(x * g + y // d + z * h + y // b)),
    "product replaced within": ([d > 0, (m * c).eq(d * g)], (((x * m * c + y) // d + z * m * c) // d).eq((x * g + y
        // d) // d + z * g)),
}  # fmt: skip


def made(name: str) -> Json:
    found = certificate(name, *CLAIMS[name])
    assert found is not None
    return json.loads(json.dumps(found))


@pytest.mark.parametrize("name", CLAIMS)
def test_holds(name: str) -> None:
    hypotheses, goal = CLAIMS[name]
    found = check_certificate(made(name), (tuple(hypotheses), goal), solvers=Z3)
    assert found.leaves >= 1
    # linear arithmetic alone needs no lemmas
    assert (found.lemmas["product"] + found.lemmas["multiple"] >= 1) == (name != "tiles")


def test_a_certificate_is_the_same_whatever_was_proved_before() -> None:
    """Earlier proofs do not influence a certificate, although z3's unsatisfiable cores depend on its history."""
    rules = ("quotient_absorbs_summand", "quotient_absorbs_negated", "known_digit_joins_quotient")
    known = {o.name: o for o in catalogue() if o.subject in rules}
    asked = [known[f"{rule}: sound"] for rule in rules]

    def written(o: Obligation) -> str:
        return json.dumps(certificate(o.name, o.hypotheses, o.goal))

    forward = {o.name: written(o) for o in asked}
    assert {o.name: written(o) for o in reversed(asked)} == forward


@pytest.mark.parametrize("name", CLAIMS)
def test_cvc5_agrees_at_the_leaves(name: str) -> None:
    pytest.importorskip("cvc5")
    assert tuple(check_certificate(made(name)).solvers) == ("z3", "cvc5")


@pytest.mark.parametrize("name", [
    # two dividends have different names, but are equal once a variable is substituted
    "inner_remainder_leaves_quotient: sound",
    # a quotient is named before a hypothesis gives its remainder as zero
    "residue_is_rescaled: step 4: m ∣ y - t",
    # a hypothesis contains a remainder by a divisor that is zero in one of the cases
    "remainder_takes_congruent: sound",
    # the facts contradict each other, and the quotient would be a different one the second time
    "remainders_merge: step back 1: x - w = (x // k)·a·m",
    # a variable cancels once another one is replaced, but the proof still mentions it
    "remainder_subtracts_to_quotient: progress",
    # a quotient whose remainder already has a name gets another name; the proof has three of them
    "remainders_merge: step 4: ((x - w) // n)·n = x - w",
])  # fmt: skip
def test_names_for_the_same_and_divisors_that_are_zero(name: str) -> None:
    (o,) = (o for o in catalogue([name.partition(":")[0]]) if o.name == name)
    found = certificate(o.name, o.hypotheses, o.goal)
    assert found is not None
    check_certificate(json.loads(json.dumps(found)), (o.hypotheses, o.goal), solvers=Z3)


def test_certificates_that_are_written_hold() -> None:
    """A sample of the catalogue, each 97th provable claim, has certificates that hold."""
    asked = [
        o
        for o in catalogue()
        if o.gate and o.question == "valid" and not o.source and not isinstance(o, LemmaObligation)
    ]
    written = 0
    for o in asked[::97]:
        found = certificate(o.name, o.hypotheses, o.goal)
        if found is not None:
            written += 1
            check_certificate(json.loads(json.dumps(found)), (o.hypotheses, o.goal), solvers=Z3)
    assert written > 100


def test_processes_write_the_same_files(tmp_path: Path) -> None:
    """Names of files depend on the order of obligations, and are the same when other processes find the proofs."""
    sound = [next(rule_obligations(r)) for r in list(RULES)[:18]]
    owed = [replace(o, subject=f"same {k // 2}") for k, o in enumerate(sound)]
    of_each = [write_certificates(owed, tmp_path / f"{jobs}", jobs) for jobs in (1, 2)]
    written = [{file.name: file.read_bytes() for file in (tmp_path / f"{jobs}").iterdir()} for jobs in (1, 2)]
    assert of_each[0] == of_each[1]
    assert len(written[0]) > 15
    assert written[0] == written[1]


def test_what_is_false_has_none() -> None:
    assert certificate("false", [d > 0], (x // d).eq(0)) is None
    assert certificate("false", [], (x // d * d).eq(x)) is None


# --------------------------------------------------------------------------------------------------- mistakes
def refused(data: Json, part: str | None = None, **more: Any) -> None:
    with pytest.raises(CertificateRefused, match=part):
        check_certificate(data, solvers=more.pop("solvers", Z3), **more)


def test_of_another_claim() -> None:
    refused(made("signs"), "another claim", claim=CLAIMS["multiple"])
    data = made("monotone")
    data["claim"]["goal"][1:] = data["claim"]["goal"][:0:-1]
    refused(data)


def test_without_a_hypothesis() -> None:
    data = made("small remainder")
    for k in range(3):
        weaker = copy.deepcopy(data)
        del weaker["claim"]["hypotheses"][k]
        refused(weaker)


def proofs(proof: Json) -> Iterator[Json]:
    """Yield every list of steps in a proof."""
    yield proof
    for step in proof:
        for part in step[2:] if step[0] in ("cut", "split") else ():
            yield from proofs(part)


@pytest.mark.parametrize("name", CLAIMS)
def test_without_a_part(name: str) -> None:
    """A proof is refused without the steps of a case or of a cut, and without some single steps."""
    data = made(name)
    dropped = 0
    for n, steps in enumerate(proofs(data["proof"])):
        for k in range(len(steps)):
            spoiled = copy.deepcopy(data)
            del list(proofs(spoiled["proof"]))[n][k]
            try:
                check_certificate(spoiled, solvers=Z3)
            except CertificateRefused:
                dropped += 1
    assert dropped >= min(2, len(data["proof"]))
    if data["proof"]:
        refused({**data, "proof": []}, "does not say that these facts contradict each other")


def test_solvers_must_agree() -> None:
    refused(made("signs"), "other does not say", solvers={**Z3, "other": lambda script: False})
    refused(made("signs"), "no solver was asked", solvers={})


def test_another_format() -> None:
    for data in ({}, {"format": "x"}, [], {**made("signs"), "format": "indexproof certificate 2"}):
        refused(data)


def _tampered(data: Json, rng: random.Random) -> str:
    """Change one number or name below ``proof`` and return a description of the change."""
    places: list[tuple[Json, Any]] = []
    todo: list[Json] = [data["proof"]]
    while todo:
        at = todo.pop()
        entries = list(at.items()) if isinstance(at, dict) else list(enumerate(at))
        for key, value in entries:
            if isinstance(value, (dict, list)):
                todo.append(value)
            else:
                places.append((at, key))
    at, key = rng.choice(places)
    old = at[key]
    if isinstance(old, int) and not isinstance(old, bool):
        at[key] = old + rng.choice((-1, 1, 2))
    elif isinstance(old, str):
        at[key] = rng.choice(["x", "d", "!q0", "!r1", "q!1", "product", "multiple", "name", "split", "ge", "eq"])
    else:
        at[key] = not old
    return f"{key}: {old} became {at[key]}"


@pytest.mark.parametrize("name", [name for name in CLAIMS if name != "tiles"])
def test_a_tampered_certificate_never_proves_a_false_claim(name: str) -> None:
    """A harmless change may pass (an unused fact, another true one), but a false claim is never proved."""
    rng = random.Random(name)
    right = made(name)
    # the claim with its goal negated is refused with any proof
    false = copy.deepcopy(right)
    false["claim"]["goal"] = ["not", false["claim"]["goal"]]
    refused(false)
    noticed = 0
    for _ in range(20):
        wrong = copy.deepcopy(right)
        _tampered(wrong, rng)
        try:
            check_certificate(wrong, solvers=Z3)
        except CertificateRefused:
            noticed += 1
        lying = copy.deepcopy(false)
        lying["proof"] = wrong["proof"]
        refused(lying)
    assert noticed >= 8


def test_lemmas_are_proved_without_the_reduction(monkeypatch: pytest.MonkeyPatch) -> None:
    from indexproof.verify import linear, solve

    def no(*args: object, **more: object) -> None:
        raise AssertionError("a lemma was proved by the reduction that uses it")

    monkeypatch.setattr(linear, "prove", no)
    monkeypatch.setattr(solve.linear, "prove", no)
    for lemma in (*LEMMAS.values(), *STEPS.values()):
        assert all(decide(o, Budget()).proved for o in lemma_obligations(lemma)), lemma.name


def test_lemmas_are_in_the_catalogue() -> None:
    from indexproof.reports.selection import catalogue

    owed = [o for o in catalogue(["lemmas"]) if o.kind == "true"]
    assert {o.subject.removeprefix("lemma: ") for o in owed} == {*LEMMAS, *STEPS}
    assert all(isinstance(o, LemmaObligation) for o in owed)


def test_the_checker_imports_nothing_of_the_package() -> None:
    imported: set[str] = set()
    for node in ast.walk(ast.parse(Path(checker.__file__).read_text("utf-8"))):
        if isinstance(node, ast.Import):
            imported |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            imported.add("." * node.level + (node.module or ""))
    assert imported - {"z3", "cvc5"} <= sys.stdlib_module_names | {"collections.abc"}


# ------------------------------------------------------------------------------------------------ the command
def run(*words: str) -> tuple[int, str]:
    found = CliRunner().invoke(app, list(words))
    return found.exit_code, found.output


def test_commands(tmp_path: Path) -> None:
    stated = tmp_path / "some.rules"
    stated.write_text("semantics euclid0\nint x, y\nconst c\nr: (x * c + y) / c -> x + y / c if c != 0\n")
    folder = tmp_path / "certificates"
    status, _ = run("prove", str(stated), "--no-cache", "--jobs", "1", "--certificates", str(folder))
    (file,) = (f for f in folder.glob("*.json") if f.name != "manifest.json")
    assert status == 0
    status, text = run("replay", str(folder))
    assert (status, text.splitlines()[-1][:29]) == (0, "PROVED  1 of 1 certificates h"), text
    data = json.loads(file.read_text())
    Change = Callable[[Json], object]
    changes: list[Change] = [
        lambda d: d["parts"].pop(),
        lambda d: d["parts"].append(d["parts"][0]),
        lambda d: d["rule"]["rules"][0].update({"right": "x"}),
        lambda d: d["parts"].reverse(),
    ]
    for change in changes[: 4 if len(data["parts"]) > 1 else 3]:
        wrong = copy.deepcopy(data)
        change(wrong)
        file.write_text(json.dumps(wrong))
        status, text = run("replay", "--json", str(file))
        assert status == 1
        assert json.loads(text)["certificates"][0]["holds"] is False
    file.write_text("{}")
    assert run("replay", str(file))[0] != 0


# ------------------------------------------------------------------------------------------- cases of rules about machines
MACHINE_RULES = """
integers 8 bits wrap
int x, y
const c, d
two: x * c * d == 0 -> x == 0 if c % 2 != 0, d % 4 == 3
shared: x * c + y * c == 0 -> x + y == 0 if c % 2 == 1
divided: x * c == d -> x == fold(d / c) if divides(c, d), c % 2 != 0
cofactor: x * x * x == y * y * y -> x == y if x % 2 != 0
roots: x * x == x -> x == 0 or x == 1
integers unbounded
square: x * x % 4 <= 1 -> true
cube: (x * x * x - x) % 6 -> 0
"""


#: For each rule, a lemma that the proof of one of its cases needs.
CASES = {
    "two": "inverse",
    "shared": "inverse",
    "divided": "inverse",
    "cofactor": "inverse",
    "roots": "split",
    "square": "split",
    "cube": "split",
}


def stated(text: str, name: str) -> list[Obligation]:
    (rule,) = [r for r in read_rule_file(text, "t") if r.name == name]
    return list(expanded(rule))


@pytest.mark.parametrize("name", CASES)
def test_what_is_modular_has_certificates(name: str) -> None:
    used: set[str] = set()
    for o in stated(MACHINE_RULES, name):
        data = json.loads(json.dumps(case_certificate(o)))
        assert data is not None, o.name
        used |= set(check_certificate(data, (o.hypotheses, o.goal), solvers=Z3).lemmas)
    assert CASES[name] in used


def test_an_even_factor_is_not_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """If the prover takes every number for odd, it proves false claims, but there is no certificate of them."""
    nothing = {"step": "goals", "parts": list[Json]()}
    monkeypatch.setattr(modular._Shorter, "oddness", lambda self, v: nothing)
    text = MACHINE_RULES.replace("c % 2 != 0, d % 4 == 3", "d % 4 == 3")
    open_ = [o for o in stated(text, "two") if not reduced(o.hypotheses, o.goal, Limits(patient=False)).proved]
    assert open_
    assert all(modular.by_odd_factors(o, Limits())[0] for o in open_)
    assert not any(map(case_certificate, open_))


def test_roots_that_are_missing_prove_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """`x·x = x` modulo 256 has the roots 0 and 1; if the prover misses the second one, there is no certificate."""
    known = modular.roots
    (o,) = (
        o for o in stated(MACHINE_RULES.replace("x == 0 or x == 1", "x == 0"), "roots") if "256" in str(o.hypotheses)
    )
    monkeypatch.setattr(modular, "roots", lambda p, d: (known(p, d) or [])[:1])
    assert modular.by_roots(o, Limits())[0]
    assert case_certificate(o) is None


def test_hypotheses_that_contradict_each_other() -> None:
    hypotheses, goal = [d > 0, x.within(0, d - 1), (x // d).ne(0)], (y * y * y // x).eq(y)
    nothing = recorded(hypotheses, FALSE)
    assert nothing is not None
    data = json.loads(json.dumps(checked_json("nothing", hypotheses, goal, nothing)))
    assert check_certificate(data, (tuple(hypotheses), goal), solvers=Z3).leaves > 0
    data["claim"]["hypotheses"].pop()
    refused(data)


def test_what_does_not_hold_is_not_given_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """No certificate is written for a proof without steps or without its lemmas on products."""
    assert checked_json("false", [], (x // d).eq(0), {"step": "goals", "parts": []}) is None
    hypotheses, goal = CLAIMS["monotone"]
    assert certificate("monotone", hypotheses, goal) is not None
    written = export.certificate_json
    monkeypatch.setattr(export, "certificate_json", lambda *args, **more: {**written(*args, **more), "proof": []})
    assert certificate("monotone", hypotheses, goal) is None
