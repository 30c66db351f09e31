"""Certificates: what is proved has one that holds, and every change to one is refused."""

from __future__ import annotations

import ast
import copy
import json
import random
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from indexproof.cli import app
from indexproof.core.condition import Condition, all_of, divides
from indexproof.core.expr import Expr, lift, maximum, minimum, var
from indexproof.reports.selection import catalogue
from indexproof.verify import checker
from indexproof.verify.certificate import CertificateRefused, ClaimReader, check_certificate, z3_refutes
from indexproof.verify.lemmas import LemmaObligation, lemma_obligations, proved_lemmas
from indexproof.verify.linear import ReductionBudget as Limits
from indexproof.verify.linear import export
from indexproof.verify.linear.export import _with_quotient_bounds, certificate, certificate_json, recorded
from indexproof.verify.linear.prover import Reduction
from indexproof.verify.obligations import Obligation
from indexproof.verify.preprocess import unquotienting
from indexproof.verify.rulefiles import modular, read_rule_file
from indexproof.verify.rulefiles.cases import expanded
from indexproof.verify.rulefiles.certify import case_certificate
from indexproof.verify.schemes import LEMMAS, STEPS
from indexproof.verify.solve import decide, reduced
from indexproof.verify.verdict import Status

a, b, c, d, g, h, i, j, k, m, n, r, t, x, y, z = map(var, "abcdghijkmnrtxyz")
Json = Any
Z3 = {"z3": z3_refutes}

CLAIMS: dict[str, tuple[Sequence[Condition], Condition]] = {
    "small remainder": ([d > 0, divides(g, d), r.within(0, g - 1)], ((x * g + r) // d).eq(x // (d // g))),
    "signs": ([], ((-x) // (-d)).eq(x // d)),
    "nested": ([b > 0, a.ne(0)], (x // a // b).eq(x // (a * b))),
    "multiple": ([divides(d, c)], ((x * c + r) // d).eq(x * (c // d) + r // d)),
    "monotone": ([x <= y, d > 0], x // d <= y // d),
    "corners": (
        [x.within(a, b), y.within(c, d), c > 0],
        all_of((minimum(a // c, a // d) <= x // y, x // y <= maximum(b // c, b // d))),
    ),
    "tiles": (
        [n > 0, t > 0, i.within(0, n - 1), j.within(0, n - 1), (i // t * t + i % t).eq(j // t * t + j % t)],
        i.eq(j),
    ),
    "remainders multiply": ([n > 0], ((x % n) * (y % n) % n).eq(x * y % n)),
    "inlined": ([d > 0, y.eq(x // d * d)], (y % d).eq(0)),
    "product replaced": (
        [d > 0, n > 0, (m * c).eq(d * g), r.within(0, d - 1)],
        ((x * m * c * n + r) // d).eq(x * g * n),
    ),
    "two products replaced": (
        [d > 0, b > 0, (m * c).eq(d * g), (a * k).eq(b * h)],
        ((x * m * c + y) // d + (z * a * k + y) // b).eq(x * g + y // d + z * h + y // b),
    ),
    "product replaced within": (
        [d > 0, (m * c).eq(d * g)],
        (((x * m * c + y) // d + z * m * c) // d).eq((x * g + y // d) // d + z * g),
    ),
}


def made(name: str) -> Json:
    found, outcome = certificate(name, *CLAIMS[name])
    assert found is not None, outcome.reason
    return json.loads(json.dumps(found))


@pytest.mark.parametrize("name", CLAIMS)
def test_holds(name: str) -> None:
    hypotheses, goal = CLAIMS[name]
    found = check_certificate(made(name), (tuple(hypotheses), goal), proved={**LEMMAS, **STEPS}, solvers=Z3)
    assert found.leaves >= 1
    assert found.steps >= 1
    assert found.lemmas


@pytest.mark.parametrize("name", CLAIMS)
def test_cvc5_agrees_at_the_leaves(name: str) -> None:
    pytest.importorskip("cvc5")
    assert tuple(check_certificate(made(name)).solvers) == ("z3", "cvc5")


@pytest.mark.parametrize(
    "name",
    [
        # two dividends get names of their own, and are the same once a variable is substituted
        "inner_remainder_leaves_quotient: sound",
        # a quotient has a name before a hypothesis says that it leaves nothing
        "residue_is_rescaled: step 4: m ∣ y - t",
        # a hypothesis has a remainder by what is zero in one of the cases
        "remainder_takes_congruent: sound",
        # facts contradict each other, and a quotient would be another one when it is met again
        "remainders_merge: step back 1: x - w = (x // k)·a·m",
        # a quotient and its remainder have been replaced by sums with a name in common
        "implied_remainder_vanishes: sound ⇒",
        # a variable cancels once another one is replaced, and the proof still mentions it
        "remainder_subtracts_to_quotient: progress",
        # another name for a quotient whose remainder has one, of which there are three
        "remainders_merge: step 4: ((x - w) // n)·n = x - w",
    ],
)
def test_names_for_the_same_and_divisors_that_are_zero(name: str) -> None:
    (o,) = (o for o in catalogue([name.partition(":")[0]]) if o.name == name)
    found, outcome = certificate(o.name, o.hypotheses, o.goal)
    assert found is not None, outcome.reason
    check_certificate(json.loads(json.dumps(found)), (o.hypotheses, o.goal), solvers=Z3)


def test_certificates_that_are_written_hold() -> None:
    """Of the whole catalogue every 97th claim that is to be proved."""
    asked = [
        o
        for o in catalogue()
        if o.gate and o.question == "valid" and not o.source and not isinstance(o, LemmaObligation)
    ]
    written = 0
    for o in asked[::97]:
        found, _ = certificate(o.name, o.hypotheses, o.goal)
        if found is not None:
            written += 1
            check_certificate(json.loads(json.dumps(found)), (o.hypotheses, o.goal), solvers=Z3)
    assert written > 100


def test_what_is_false_has_none() -> None:
    assert certificate("false", [d > 0], (x // d).eq(0))[0] is None
    assert certificate("false", [], (x // d * d).eq(x))[0] is None


# --------------------------------------------------------------------------------------------------- mistakes
def refused(data: Json, part: str | None = None, **more: Any) -> None:
    with pytest.raises(CertificateRefused, match=part):
        check_certificate(data, solvers=more.pop("solvers", Z3), **more)


def objects(data: Json) -> Iterator[dict[str, Json]]:
    """Every object in a certificate."""
    todo = [data]
    while todo:
        at = todo.pop()
        if isinstance(at, dict):
            yield at
        todo += at.values() if isinstance(at, dict) else at if isinstance(at, list) else ()


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


@pytest.mark.parametrize("name", ["signs", "nested"])
def test_without_a_case(name: str) -> None:
    data = made(name)
    splits = [o for o in objects(data) if "cases" in o]
    assert splits
    for k, split in enumerate(splits):
        cases = split["cases"]
        for key in list(cases) if isinstance(cases, dict) else range(len(cases)):
            dropped = copy.deepcopy(data)
            del [o for o in objects(dropped) if "cases" in o][k]["cases"][key]
            refused(dropped)


def test_without_a_goal() -> None:
    data = made("corners")
    parts = [o for o in objects(data) if "parts" in o and any("goal" in p for p in o["parts"])]
    assert parts
    for k in range(len(parts)):
        dropped = copy.deepcopy(data)
        found = [o for o in objects(dropped) if "parts" in o and any("goal" in p for p in o["parts"])]
        del found[k]["parts"][-1]
        refused(dropped)


def stronger(f: Json) -> None:
    """Make a formula say more: its first inequality or equation by far."""
    while f[0] in ("and", "or"):
        f = f[1]
    constants = [t for t in f[1] if len(t) == 1]
    if constants:
        constants[0][0] -= 1_000_003
    else:
        f[1].append([-1_000_003])


WRONG_INSTANCES: dict[str, Callable[[Json], object]] = {
    "says more": lambda o: stronger(o["fact"]),
    "of other terms": lambda o: o["with"].update({key: [[7]] for key in o["with"]}),
    "of another lemma": lambda o: o.update(lemma="square" if o["lemma"] != "square" else "product of bounds"),
    "without a premise": lambda o: o["given"].pop() if o["given"] else o["given"].append(0),
}


@pytest.mark.parametrize("change", WRONG_INSTANCES)
def test_a_wrong_instance_of_a_lemma(change: str) -> None:
    data = made("corners")
    lemmas = [k for k, o in enumerate(objects(data)) if o.get("by") == "lemma"]
    assert len(lemmas) > 20
    for k in lemmas[:: len(lemmas) // 6]:
        wrong = copy.deepcopy(data)
        WRONG_INSTANCES[change](list(objects(wrong))[k])
        refused(wrong)


@pytest.mark.parametrize("name", [name for name in CLAIMS if "product" in name and "replaced" in name])
def test_a_wrong_replacement_of_a_product(name: str) -> None:
    data = made(name)
    places = [k for k, o in enumerate(objects(data)) if o.get("by") == "rewrite"]
    assert places
    changes: dict[str, Callable[[Json], object]] = {
        "says more": lambda o: o["value"].append([1_000_003]),
        "of a sum": lambda o: o["product"].append([1, "zz"]),
        "of another product": lambda o: o.update(product=[[1, "c", "zz"]]),
        "of a multiple": lambda o: o["product"][0].__setitem__(0, 2),
        "by another fact": lambda o: o.update(equation=0 if o["equation"] else 1),
    }
    for k in places:
        for change in changes.values():
            wrong = copy.deepcopy(data)
            change(list(objects(wrong))[k])
            refused(wrong)
    # without it the terms that are divided are other ones
    for at in list(objects(data)):
        if "steps" in at:
            at["steps"] = [o for o in at["steps"] if o.get("by") != "rewrite"]
    refused(data)


def test_a_lemma_that_is_not_proved() -> None:
    data = made("corners")
    used = check_certificate(data, solvers=Z3).lemmas
    for name in used:
        refused(data, "is not proved", proved={*LEMMAS, *STEPS} - {name})


def test_an_altered_leaf() -> None:
    data = made("monotone")
    leaves = [k for k, o in enumerate(objects(data)) if "refute" in o]
    for k in leaves:
        for n in range(len(list(objects(data))[k]["refute"])):
            fewer = copy.deepcopy(data)
            numbers = list(objects(fewer))[k]["refute"]
            del numbers[n]
            try:
                check_certificate(fewer, solvers=Z3)
            except CertificateRefused:
                continue
            # a fact that was not needed; the negated goal always is
            facts = {o["number"]: o for o in objects(data) if "number" in o}
            assert facts[list(objects(data))[k]["refute"][n]]["by"] != "negated goal"
        empty = copy.deepcopy(data)
        list(objects(empty))[k]["refute"].clear()
        refused(empty, "does not say that these facts contradict each other")


def test_solvers_must_agree() -> None:
    refused(made("signs"), "other does not say", solvers={**Z3, "other": lambda script: False})
    refused(made("signs"), "no solver was asked", solvers={})


def test_another_format() -> None:
    for data in ({}, {"format": "x"}, [], {**made("signs"), "format": "indexproof certificate 1"}):
        refused(data)


def _tampered(data: Json, rng: random.Random) -> str:
    """Change one number, name or reference below ``proof``; what was changed."""
    places: list[tuple[Json, Any]] = []
    todo: list[Json] = [data["proof"]]
    while todo:
        at = todo.pop()
        entries = list(at.items()) if isinstance(at, dict) else list(enumerate(at))
        for key, value in entries:
            if isinstance(value, (dict, list)):
                todo.append(value)
            elif key not in ("number", "step"):
                places.append((at, key))
    at, key = rng.choice(places)
    old = at[key]
    if isinstance(old, int) and not isinstance(old, bool):
        at[key] = old + rng.choice((-1, 1, 2))
    elif isinstance(old, str):
        at[key] = rng.choice(["x", "d", "sign", "hypothesis", "kept", "named", "lemma", "q!1", "ge", "eq"])
    else:
        at[key] = not old
    return f"{key}: {old} became {at[key]}"


@pytest.mark.parametrize("name", CLAIMS)
def test_a_tampered_certificate_never_proves_a_false_claim(name: str) -> None:
    """Changes that do no harm (a fact that is not needed, another true one) may pass, but not for what is false."""
    rng = random.Random(name)
    right = made(name)
    # the claim with its goal denied: whatever the proof says, it must not be accepted
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
    assert noticed >= 12


def test_every_lemma_can_be_what_it_takes() -> None:
    """A false lemma, were it in the list, would be refuted."""
    from indexproof.verify.schemes import Scheme

    wrong = Scheme("wrong", "a // b ≥ 0", (b >= 1,), a // b >= 0)
    (o, *_) = lemma_obligations(wrong)
    assert decide(o).status is Status.REFUTED


def test_lemmas_are_proved_without_the_reduction(monkeypatch: pytest.MonkeyPatch) -> None:
    from indexproof.verify import linear, solve

    def no(*args: object, **more: object) -> None:
        raise AssertionError("a lemma was proved by the reduction that uses it")

    monkeypatch.setattr(linear, "prove", no)
    monkeypatch.setattr(solve.linear, "prove", no)
    assert proved_lemmas() == {*LEMMAS, *STEPS}


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


def test_the_checker_has_the_lemmas_of_the_catalogue() -> None:
    """Its statements of them are its own; each is equivalent to the one that is proved."""
    assert set(checker.LEMMAS) == set(LEMMAS)
    for name, (given, then) in checker.LEMMAS.items():
        terms = checker.Terms()
        reader = ClaimReader(terms)
        stated = [reader.condition(c) for c in LEMMAS[name].given]
        own = [checker.nonnegative(p) if kind == "ge" else checker.compared("==", p) for kind, p in given]
        assert own == stated, name
        assert checker.State(terms).formula(reader.condition(LEMMAS[name].then), {}) == then, name


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


# ------------------------------------------------------------------------------------------------------ quotient bound
GRID = next(
    o
    for o in catalogue(["grid-order"])
    if o.name == "grid-order rank 0, {} over every axis: output to input in bounds"
)


@pytest.fixture(scope="module")
def bounded() -> Json:
    """A certificate of what the bounds of dividends prove; what has a quotient is not proved as it stands."""
    reduction = export.prove

    def without_quotients(known: Sequence[Condition], goal: Condition, **more: Any) -> Reduction:
        if next(iter(unquotienting(known, goal)), None) is not None:
            return Reduction(False, "", (), (), 0, 0)
        return reduction(known, goal, **more)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(export, "prove", without_quotients)
        proof = _with_quotient_bounds(GRID.hypotheses, GRID.goal, None)
    assert proof is not None
    return json.loads(json.dumps(certificate_json(GRID.name, GRID.hypotheses, GRID.goal, proof)))


def _quotient_bounds(node: Json) -> Iterator[Json]:
    if isinstance(node, dict):
        if node.get("step") == "quotient bound":
            yield node
        for value in node.values():
            yield from _quotient_bounds(value)
    elif isinstance(node, list):
        for value in node:
            yield from _quotient_bounds(value)


def test_what_the_bound_of_a_dividend_proves_has_a_certificate(bounded: Json) -> None:
    assert decide(GRID).strategy == "linear + quotient bound"
    found = check_certificate(bounded, (GRID.hypotheses, GRID.goal), proved=proved_lemmas(), solvers=Z3)
    assert found.lemmas["quotient of a bound"] > 0
    assert list(_quotient_bounds(bounded))
    without = proved_lemmas() - {"quotient of a bound"}
    with pytest.raises(CertificateRefused, match="not proved"):
        check_certificate(bounded, (GRID.hypotheses, GRID.goal), proved=without, solvers=Z3)


@pytest.mark.parametrize(
    ("sides", "reason"),
    [
        ([], "no one goal"),
        (["large"], "is no quotient"),
        (["beside"], "is no quotient"),
        (["small"] * 99, "is no"),
        (["small"], "proof"),
    ],
)
def test_a_wrong_quotient_bound_is_refused(bounded: Json, sides: list[str], reason: str) -> None:
    spoiled = copy.deepcopy(bounded)
    node = max(_quotient_bounds(spoiled), key=lambda n: (n["sides"][0][0] == "small", len(n["sides"])))
    assert len(node["sides"]) > 1
    node["sides"] = [[side, node["sides"][0][1]] for side in sides]
    with pytest.raises(CertificateRefused, match=reason):
        check_certificate(spoiled, (GRID.hypotheses, GRID.goal), solvers=Z3)


@pytest.mark.parametrize("sign", [(), (d <= 0,), (d >= -1,), (0 <= a,)], ids=str)
def test_a_quotient_bound_needs_the_sign_of_the_divisor(sign: Sequence[Condition]) -> None:
    hypotheses, goal = (*sign, x <= d * y + d - 1), x // d <= y
    honest, _ = certificate("a bound", (0 <= d, x <= d * y + d - 1), x <= d * y + d - 1)
    assert honest is not None
    claim = _claim_json(hypotheses, goal)
    quotient = next(k for k, t in enumerate(claim["terms"]) if isinstance(t, list) and t[0] == "fdiv")
    node = {"step": "quotient bound", "sides": [["small", quotient]], "then": honest["proof"]}
    with pytest.raises(CertificateRefused, match="may be negative"):
        check_certificate({**claim, "proof": node}, (hypotheses, goal), solvers=Z3)


def _claim_json(hypotheses: Sequence[Condition], goal: Condition) -> Json:
    return certificate_json("a bound", hypotheses, goal, {"step": "goals", "parts": []})


def test_of_what_is_a_natural_number() -> None:
    def is_natural(e: Expr, known: Sequence[Condition]) -> bool:
        reader = ClaimReader(checker.Terms())
        facts = [f for c in known for f in checker.conjuncts(reader.condition(c))]
        return checker.is_natural(reader.term(e), facts)

    for said in (lift(-d) <= 0, lift(-1) < d, d.within(0, 9), a.within(0, d - 1), a.within(0, d), 2 <= d + 2):
        assert is_natural(d, [said])
    for said in (
        lift(-d) <= 1,
        lift(-2) < d,
        d.within(-1, 9),
        a.within(0, d + 1),
        a.within(b, d),
        2 <= d + 3,
    ):
        assert not is_natural(d, [said])
    known = [0 <= d, g > 0, 3 <= h, -1 <= a]
    for e in (d, g, h, d * g, d * g + h + 1, 2 * h):
        assert is_natural(lift(e), known)
    for e in (a, d - 1, d * a, -d, d - g, b):
        assert not is_natural(lift(e), known)


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


CASES = ("two", "shared", "divided", "cofactor", "roots", "square", "cube")


def stated(text: str, name: str) -> list[Obligation]:
    (rule,) = [r for r in read_rule_file(text, "t").rules if r.name == name]
    return list(expanded(rule))


@pytest.fixture(scope="module")
def cases() -> dict[str, tuple[Json, Obligation]]:
    """For each of some rules the certificate of one case that the reduction alone does not prove."""
    found = {}
    for name in CASES:
        for o in stated(MACHINE_RULES, name):
            data = json.loads(json.dumps(case_certificate(o)))
            if data["proof"]["step"] in ("odd factors", "multiple", "residues", "roots"):
                found[name] = data, o
                break
    return found


@pytest.mark.parametrize("name", CASES)
def test_what_is_modular_has_certificates(cases: dict[str, tuple[Json, Obligation]], name: str) -> None:
    data, o = cases[name]
    used = check_certificate(data, (o.hypotheses, o.goal), proved={**LEMMAS, **STEPS}, solvers=Z3).lemmas
    lemmas = {
        "square": {"radix"},
        "cube": {"radix"},
        "roots": {"radix"},
        "divided": {"divisibility", "invertible factor"},
    }
    for lemma in lemmas.get(name, {"remainder", "inverse modulo a square", "invertible factor"}):
        assert used[lemma] > 0
        refused(data, "is not proved", proved={*LEMMAS, *STEPS} - {lemma})


def _forge(data: Json, change: Callable[[Json, list[Json]], object]) -> Json:
    wrong = copy.deepcopy(data)
    node = wrong["proof"]
    change(node["then"] if node["step"] == "multiple" else node, wrong["terms"])
    return wrong


def test_a_forged_odd_factor_is_refused(cases: dict[str, tuple[Json, Obligation]]) -> None:
    data = cases["two"][0]
    forgeries: list[tuple[Callable[[Json, list[Json]], object], str]] = [
        # another number is called odd, with the proof of the first
        (lambda n, ts: n["odd"][0].update(factor=_at(ts, ["var", "x", ""])), "proof"),
        (lambda n, ts: n["odd"][0].update(proof=n["then"]), "proof"),
        (lambda n, ts: n["shorter"][0]["factors"].append(0), "is no such product"),
        (lambda n, ts: n["shorter"][0]["factors"].append(7), "there is no odd factor 7"),
        (lambda n, ts: n["shorter"][0]["factors"].pop(), "is no such product"),
        (lambda n, ts: n["shorter"][0].update(rest=_at(ts, 0)), "is no such product"),
        (lambda n, ts: n["shorter"].clear(), "proof"),
    ]
    for change, reason in forgeries:
        refused(_forge(data, change), reason)


def _at(terms: list[Json], term: Json) -> int:
    terms.append(term)
    return len(terms) - 1


def test_an_even_factor_is_not_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """The prover is made to believe that every number is odd: it proves what is false, and its certificate is refused."""
    nothing = {"step": "goals", "parts": list[Json]()}
    monkeypatch.setattr(modular._Shorter, "oddness", lambda self, v: nothing)
    text = MACHINE_RULES.replace("c % 2 != 0, d % 4 == 3", "d % 4 == 3")
    open_ = [
        o for o in stated(text, "two") if not reduced(o.hypotheses, o.goal, Limits(patient=False)).proved
    ]
    assert open_
    assert all(modular.by_odd_factors(o, Limits())[0] for o in open_)
    for o in open_:
        refused(json.loads(json.dumps(case_certificate(o))), "goals are not shown")


def test_nothing_new_is_divided_by() -> None:
    """A divisor is assumed not to be zero; so a term without odd factors may bring in none."""
    given, rest = divides(lift(4), c * x), (c + z // y) * x - z // y * x
    then = recorded([given, divides(lift(4), rest)], y.ne(0))
    assert then is not None
    forged = {"step": "odd factors", "odd": [], "then": then}
    for shorter in (rest, x * c):
        # multiplied out, what is left of a product divides by nothing new; its proof rests on what it does not mention
        node = {**forged, "shorter": [{"of": c * x, "factors": [], "rest": shorter}]}
        refused(json.loads(json.dumps(certificate_json("forged", [given], y.ne(0), node))), "proof")
    node = {**forged, "odd": [{"factor": 2 * (z // y) + 1, "proof": then}], "shorter": []}
    refused(json.loads(json.dumps(certificate_json("forged", [given], y.ne(0), node))), "divides by what")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda n, ts: n["cases"].pop(), "is no modulus"),
        (lambda n, ts: n.update(modulus=2), "cases"),
        (lambda n, ts: n.update(modulus=10**9), "is no modulus"),
        (lambda n, ts: n["cases"].reverse(), "is no goal"),
        (lambda n, ts: n["variables"][0].update(quotient=n["variables"][0]["variable"]), "new variable"),
        (lambda n, ts: n["variables"][0].update(variable=n["variables"][0]["quotient"]), "twice"),
    ],
)
def test_forged_residues_are_refused(
    cases: dict[str, tuple[Json, Obligation]], change: Callable[[Json, list[Json]], object], reason: str
) -> None:
    refused(_forge(cases["cube"][0], change), reason)


def test_forged_roots_are_refused(cases: dict[str, tuple[Json, Obligation]]) -> None:
    data = cases["roots"][0]
    solved = data["proof"]["solved"]
    assert [sorted(p["classes"]) for p in solved] == [[[0, 256], [1, 256]]]
    forgeries: list[tuple[Callable[[Json, list[Json]], object], str]] = [
        (lambda n, ts: n["solved"][0]["classes"].pop(), "not the roots"),
        (lambda n, ts: n["solved"][0]["classes"].append([3, 256]), "not the roots"),
        (lambda n, ts: n["solved"][0].update(classes=[[0, 128], [1, 256]]), "not the roots"),
        (lambda n, ts: n["solved"][0].update(classes=[[0, 512], [256, 512]]), "not the roots"),
        (lambda n, ts: n["solved"][0].update(classes=[]), "not the roots"),
        (lambda n, ts: n["solved"][0].update(modulus=255), "no power of two"),
        (lambda n, ts: n["solved"][0].update(modulus=128), "not the roots"),
        (lambda n, ts: n["solved"][0].update(variable=_at(ts, ["var", "y", ""])), "no polynomial in y"),
        (lambda n, ts: n["solved"].clear(), "proof"),
    ]
    for change, reason in forgeries:
        refused(_forge(data, change), reason)


def test_a_forged_multiple_is_refused(cases: dict[str, tuple[Json, Obligation]]) -> None:
    data = cases["divided"][0]
    assert data["proof"]["step"] == "multiple"
    for key, other in (("variable", "divisor"), ("divisor", "variable"), ("quotient", "variable")):
        wrong = copy.deepcopy(data)
        wrong["proof"][key] = wrong["proof"][other]
        refused(wrong, "no hypothesis says|no new variable")
    wrong = copy.deepcopy(data)
    wrong["claim"]["hypotheses"] = [h for h in wrong["claim"]["hypotheses"] if h[0] != "divides"]
    refused(wrong, "no hypothesis says")


def test_hypotheses_that_contradict_each_other() -> None:
    hypotheses, goal = [d > 0, x.within(0, d - 1), (x // d).ne(0)], (y * y * y // x).eq(y)
    nothing = recorded(hypotheses, lift(0).eq(1))
    assert nothing is not None
    data = certificate_json("nothing", hypotheses, goal, {"step": "contradiction", "then": nothing})
    data = json.loads(json.dumps(data))
    assert check_certificate(data, (tuple(hypotheses), goal), solvers=Z3).leaves > 0
    data["claim"]["hypotheses"].pop()
    refused(data)


def test_a_quotient_that_has_a_name_may_turn_out_to_be_a_multiple() -> None:
    (o,) = (
        o for o in catalogue(["residue_is_rescaled"]) if o.name == "residue_is_rescaled: step 4: m ∣ y - t"
    )
    found, _ = certificate(o.name, o.hypotheses, o.goal)
    assert found is not None
    data = json.loads(json.dumps(found))
    assert check_certificate(data, (tuple(o.hypotheses), o.goal), solvers=Z3).leaves > 0
    # another name than that of the quotient is none that may be taken
    steps = [s for n in objects(data) for s in n.get("steps", ()) if s["by"] == "divisible"]
    named = [s for n in objects(data) for s in n.get("steps", ()) if s["by"] == "name"]
    (again,) = (s for s in steps if any(s["quotient"] == n["quotient"] for n in named))
    again["quotient"] = next(n["remainder"] for n in named if n["quotient"] == again["quotient"])
    refused(data, "is no new name")
