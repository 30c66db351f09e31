"""Certificates in folders: their connection with rule files and manifests, and forgeries of both."""

from __future__ import annotations

import itertools
import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from indexproof.cli import app
from indexproof.verify import checker
from indexproof.verify.certificate import check_certificate
from indexproof.verify.checker import CertificateRefused, Formula, Polynomial, constant, z3_refutes

Json = Any

RULES = """int x, y
const c
add100: x + 100 - 100 -> x
add101: x + 101 - 101 -> x
split: (x * c + y) / c -> x + y / c if c > 0
"""


def run(*words: object) -> tuple[int, str]:
    found = CliRunner().invoke(app, [str(w) for w in words])
    return found.exit_code, found.output


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a rule file and the certificates of its rules."""
    place = tmp_path_factory.mktemp("honest")
    (place / "some.rules").write_text(RULES, "utf-8")
    status, text = run(
        "prove", place / "some.rules", "--no-cache", "--jobs", 1, "--certificates", place / "certificates"
    )
    assert status == 0, text
    return place


@pytest.fixture
def place(honest: Path, tmp_path: Path) -> Path:
    shutil.copytree(honest, tmp_path / "copy")
    return tmp_path / "copy"


def replay(place: Path) -> tuple[int, str]:
    return run("replay", place / "certificates", "--against", place / "some.rules")


def certificate_of(place: Path, rule: str) -> Path:
    (file,) = (
        file
        for file in (place / "certificates").glob("*.json")
        if json.loads(file.read_text("utf-8")).get("obligation") == f"{rule}: sound"
    )
    return file


def rewritten(file: Path, change: Callable[[Json], object]) -> None:
    data = json.loads(file.read_text("utf-8"))
    change(data)
    file.write_text(json.dumps(data), "utf-8")


def listed_again(place: Path) -> None:
    """Write a new manifest for the files in the folder, as a forger would."""
    folder = place / "certificates"
    entries = [
        {
            "file": file.name,
            "obligation": json.loads(file.read_text("utf-8"))["obligation"],
            "sha256": checker.hashlib.sha256(file.read_bytes()).hexdigest(),
        }
        for file in sorted(folder.glob("*.json"))
        if file.name != checker.MANIFEST
    ]
    manifest = {"format": checker.MANIFEST_FORMAT, "certificates": entries, "without": []}
    (folder / checker.MANIFEST).write_text(json.dumps(manifest), "utf-8")


def test_honest_certificates_hold(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert replay(place)[0] == 0
    assert checker.main([str(place / "certificates")]) == 0
    # equal sums are identical, so that two certificates need no steps
    assert "3 files, 0 refused, 2 without a part" in capsys.readouterr().out
    manifest = json.loads((place / "certificates" / checker.MANIFEST).read_text("utf-8"))
    assert [e["obligation"] for e in manifest["certificates"]] == ["add100: sound", "add101: sound", "split: sound"]


def relabelled(place: Path) -> None:
    """Write the certificate of one rule under the name of another, changing the name throughout."""
    file = certificate_of(place, "add101")
    text = file.read_text("utf-8").replace("add101", "add100")
    certificate_of(place, "add100").write_text(text, "utf-8")


def test_a_certificate_under_another_label_is_refused(place: Path) -> None:
    """A certificate of `add101` does not prove `add100`, even under that name."""
    relabelled(place)
    listed_again(place)
    status, text = replay(place)
    assert status == 1
    assert "states another rule by this name: x + 100 - 100 -> x" in text.replace("\n  ", " ")
    assert "cannot be read" not in text


def test_a_label_that_is_not_that_of_the_rule_needs_no_rule_file_to_be_refused(place: Path) -> None:
    rewritten(certificate_of(place, "split"), lambda d: d.update(obligation="quotient: sound"))
    listed_again(place)
    status, text = run("replay", place / "certificates")
    assert (status, "the rule in the file is called `split`" in text) == (1, True)
    assert checker.main([str(place / "certificates")]) == 1


def test_all_rules_need_a_certificate(place: Path) -> None:
    certificate_of(place, "split").unlink()
    listed_again(place)
    status, text = replay(place)
    assert (status, "there is no certificate of this rule" in text) == (1, True)


def test_a_certificate_of_a_rule_that_is_not_in_the_file_is_refused(place: Path) -> None:
    (place / "some.rules").write_text(RULES.replace("add101: x + 101 - 101 -> x\n", ""), "utf-8")
    status, text = replay(place)
    assert (status, "no rule, or none left, is called so" in text) == (1, True)


@pytest.mark.parametrize(
    ("old", "new"), [("c > 0", "c != 0"), ("int x, y", "int x, y in [0, 9]"), ("int x", "integers 8 bits\nint x")]
)
def test_rules_are_compared_by_content(place: Path, old: str, new: str) -> None:
    (place / "some.rules").write_text(RULES.replace(old, new), "utf-8")
    status, text = replay(place)
    assert (status, "states another rule by this name" in text.replace("\n  ", " ")) == (1, True)


def test_how_a_rule_file_is_written_does_not_matter(place: Path) -> None:
    written = RULES.replace("x + 100 - 100", "(x + 100) - 100").replace("const c", "# some constant\nconst c")
    (place / "some.rules").write_text(written, "utf-8")
    assert replay(place)[0] == 0


def unlisted(folder: Path) -> None:
    file = next(f for f in folder.glob("*.json") if f.name != checker.MANIFEST)
    shutil.copy(file, folder / "more.json")


def altered(folder: Path) -> None:
    file = next(f for f in folder.glob("*.json") if f.name != checker.MANIFEST)
    rewritten(file, lambda d: d.update(note="harmless"))


FOLDERS: dict[str, tuple[Callable[[Path], object], str]] = {
    "there is no manifest": (lambda folder: (folder / checker.MANIFEST).unlink(), "there is no manifest"),
    "of another format": (lambda folder: rewritten(folder / checker.MANIFEST, lambda d: d.update(format="x")),
        "the format is not"),
    "a subset": (lambda folder: next(f for f in folder.glob("*.json") if f.name != checker.MANIFEST).unlink(),
        "is missing, and the manifest lists it"),
    "one more": (unlisted, "the manifest does not list it"),
    "altered": (altered, "it is not the file that the manifest lists"),
}  # fmt: skip


@pytest.mark.parametrize("name", FOLDERS)
def test_a_folder_is_what_its_manifest_lists(place: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    change, reason = FOLDERS[name]
    change(place / "certificates")
    assert checker.main([str(place / "certificates")]) == 1
    assert reason in capsys.readouterr().out
    status, text = run("replay", place / "certificates")
    assert status == 1
    assert reason in " ".join(text.split())


def test_the_parts_are_those_of_the_claim(place: Path) -> None:
    for change in (
        lambda d: d["parts"].clear(),
        lambda d: d["parts"][0]["claim"].update(name="other: sound"),
        lambda d: d["parts"][0]["claim"].update(goal=True),
    ):
        copy = place / "one.json"
        shutil.copy(certificate_of(place, "split"), copy)
        rewritten(copy, change)
        assert run("replay", copy)[0] == 1


def test_the_checker_is_a_file_that_runs_alone(place: Path) -> None:
    """The checker runs as a single file in another folder, without the package."""
    alone = place / "alone.py"
    shutil.copy(checker.__file__, alone)
    words = [sys.executable, "-P", str(alone), str(place / "certificates")]
    done = subprocess.run(words, capture_output=True, text=True, cwd=place, check=False)
    assert (done.returncode, done.stdout[:24]) == (0, "PROVED  3 files, 0 refused"[:24]), done.stderr
    assert subprocess.run(words[:3], capture_output=True, check=False, cwd=place).returncode == 3


# -------------- Certificates that are written to prove what is false, and what the laws of the checker say at
Z3 = {"z3": z3_refutes}

ONE, ZERO = [[1]], list[Json]()
X, U = [[1, "x"]], [[1, "u"]]
#: `u = -1` contradicts `u >= 0`, and `u = 0` contradicts `u < 0`.
MINUS_ONE, NONE = ["name", "u", "r", [[-1]], ONE], ["name", "u", "r", ZERO, ONE]


def forged(proof: Json, *, hypotheses: list[Json] = [], goal: Json = ("<=", 0, 1), more: Json = ()) -> Json:  # noqa: B006
    """Return a certificate, by default of ``x <= 0``, which is false; its terms are 0: x, 1: 0, 2: 2 and ``more``."""
    return {
        "format": checker.FORMAT,
        "claim": {"name": "forged", "hypotheses": hypotheses, "goal": list(goal)},
        "terms": [["var", "x", ""], 0, 2, *more],
        "proof": proof,
    }


#: Certificates that would prove false claims without the check, and the reason of the refusal.
FORGED: dict[str, tuple[Json, str]] = {
    "nothing": (forged([]), "does not say that these facts contradict"),
    "a goal that is not shown": (forged([["cut", ["ge", [[-1, "x"]]], []]]), "does not say"),
    "a case that is not shown": (forged([["split", X, [], [NONE]]]), "does not say"),
    "what a variable is": (forged([["name", "x", "r", ZERO, ONE]]), "x is no new name"),
    "a name twice": (forged([["name", "u", "u", [[7]], [[4]]]]), "u is no new name"),
    "a name again": (forged([NONE, ["name", "u", "s", ONE, ONE]]), "u is no new name"),
    "an inverse again": (forged([["name", "i", "r", [[2]], ONE], ["inverse", ZERO, 2, "i", "t"]]),
        "i is no new name"),
    "the name of a term": (forged([["name", "!q0", "r", X, ONE]], more=[["fdiv", 1, 2]]), "!q0 is no new name"),
    "cases of a name to come": (forged([["split", U, [MINUS_ONE], [NONE]]]), "u means nothing here"),
    "a name in a circle": (forged([["name", "u", "r", [[1], [1, "u"]], ONE]]), "u means nothing here"),
    "what is shown of a name to come": (forged([["cut", ["or", ["ge", U], ["ge", [[-1], [-1, "u"]]]], []],
        ["product", U, X]]), "u means nothing here"),
}  # fmt: skip


def refused(data: Json, reason: str) -> None:
    with pytest.raises(CertificateRefused, match=reason):
        check_certificate(data, solvers=Z3)


@pytest.mark.parametrize("name", FORGED)
def test_what_is_forged_is_refused(name: str) -> None:
    refused(*FORGED[name])


@pytest.mark.parametrize(("reason", "name"), [
    ("contradict each other", "nothing"),
    ("is no new name", "what a variable is"),
    ("is no new name", "a name again"),
    ("is no new name", "an inverse again"),
    ("means nothing here", "cases of a name to come"),
    ("means nothing here", "a name in a circle"),
])  # fmt: skip
def test_without_the_check_what_is_forged_would_be_accepted(
    reason: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    require = checker.require
    monkeypatch.setattr(checker, "require", lambda holds, place, said: require(holds or reason in said, place, said))
    assert check_certificate(FORGED[name][0], solvers=Z3).leaves >= 1


@pytest.mark.parametrize(("step", "reason"), [
    (["nothing"], "there is no step 'nothing'"),
    (["product", X], "there is no step"),
    (["inverse", ZERO, 0, "i", "t"], "there is no step"),
    (["inverse", ZERO, -1, "i", "t"], "there is no step"),
    (["inverse", ZERO, 10**9, "i", "t"], "there is no step"),
    (["inverse", ZERO, True, "i", "t"], "not of the documented form"),
    (["inverse", ZERO, 1.0, "i", "t"], "there is no step"),
    (["name", 1, "r", X, ONE], "is no new name"),
    (["name", ["u"], "r", X, ONE], "is no new name"),
    (["product", [[True, "x"]], X], "not of the documented form"),
    (["product", [[1.0, "x"]], X], "not of the documented form"),
    (["product", [[1, 7]], X], "not of the documented form"),
    (["cut", ["le", X], []], "not of the documented form"),
    (["split", X, []], "not of the documented form"),
    ([], "not of the documented form"),
], ids=str)  # fmt: skip
def test_what_is_no_step_is_refused(step: Json, reason: str) -> None:
    refused(forged([step]), reason)
    if step[:1] == ["split"]:
        refused(forged([["split", X, [], []], ["product", X, X]]), "a proof goes on after its cases")


@pytest.mark.parametrize(
    "term",
    [True, 1.0, "x", ["var", "x", "a b"], ["fdiv", 0, 1], ["mod", 0, 9], ["sum", 0, [[0, True]]], ["max"]],
    ids=str,
)
def test_what_is_no_term_is_refused(term: Json) -> None:
    refused(forged([], more=[term]), "not of the documented form")


def _integers(data: Json) -> Iterator[tuple[Json, Any]]:
    """Yield the container and the key of every integer in a document."""
    for key, value in list(data.items() if isinstance(data, dict) else enumerate(data)):
        if isinstance(value, (dict, list)):
            yield from _integers(value)
        elif isinstance(value, int):
            yield data, key


def test_every_integer_is_one() -> None:
    """Neither ``true`` nor ``1.0`` stands for 1, and terms are not counted from the end."""
    more = [[op, 0, 2] for op in ("fdiv", "mod", "rest", "cdiv", "min", "max", "mul")] + [["sum", 1, [[0, 1], [2, 1]]]]
    given = [["within", 0, 1, 2], ["divides", 2, 0], ["not", ["<", 2, 0]], ["!=", 0, 1], ["<=", 0, 1]]
    proof = [["name", "u", "w", X, ONE], ["inverse", X, 3, "i", "t"], ["cut", ["ge", [[1]]], []]]
    data = forged(proof, hypotheses=given, goal=["==", 0, 1], more=more)
    check_certificate(data, solvers=Z3)
    places = list(_integers(data))
    assert len(places) == 39
    for at, key in places:
        right = at[key]
        for wrong in (True, False, 1.0):
            at[key] = wrong
            refused(data, "not of the documented form|there is no step")
        at[key] = right
    refused(forged([], hypotheses=[["<=", -1, 0]]), "not of the documented form")


# ---------------------------------------------------------------------------------- divisors that are not zero
NOT_ZERO: Json = ("!=", 0, 1)


def test_only_divisors_of_the_claim_are_not_zero() -> None:
    """A divisor is nonzero only if the claim itself divides by it."""
    by_x = ["fdiv", 0, 0]
    refused(forged([], goal=NOT_ZERO, more=[by_x]), "does not say")
    # a term that cancels is not part of the claim, and comparing two claims ignores it
    cancelled = [by_x, ["sum", 0, [[3, 1], [3, -1], [0, 1]]]]
    refused(forged([], goal=["!=", 4, 1], more=cancelled), "does not say")
    # the claim divides by x, so that x is nonzero
    given = [["==", 3, 3], ["<=", 3, 2]]
    assert check_certificate(forged([], hypotheses=given, goal=NOT_ZERO, more=[by_x]), solvers=Z3).leaves


def test_divisibility_may_be_by_zero() -> None:
    denied = ["not", ["divides", 0, 2]]
    refused(forged([], hypotheses=[denied], goal=NOT_ZERO), "does not say")
    # x divides 2, so that x is nonzero
    assert check_certificate(forged([], hypotheses=[["divides", 0, 2]], goal=NOT_ZERO), solvers=Z3).leaves


def test_names_are_no_variables() -> None:
    """The name of a variable never equals the name of a term."""
    for name in ("!q0", "q!0", "!!q0"):
        terms = checker.Terms([["var", name, ""], ["var", "y", ""], ["fdiv", 0, 1], ["mod", 0, 1]])
        assert len({str(p) for p in terms.table}) == 4
    assert checker.Terms([["var", "a:b", ""]]).table != checker.Terms([["var", "a", "b"]]).table


# ------------------------------------------------------------------------------------------------------- the laws
def holds(f: Formula) -> bool:
    """Evaluate a formula without names."""
    if f[0] in ("and", "or"):
        return (all if f[0] == "and" else any)(map(holds, f[1]))
    raise AssertionError(f)


def numbers(most: int, count: int) -> Iterator[list[Polynomial]]:
    for values in itertools.product(range(-most, most + 1), repeat=count):
        yield [constant(n) for n in values]


def test_a_quotient_and_a_remainder_are_what_is_said() -> None:
    for a, b, q, r in numbers(3, 4):
        n, d = a.literal or 0, b.literal or 0
        assert holds(checker.quotient(a, b, q, r)) == (not d or (q.literal, r.literal) == divmod(n, d))


def test_products_and_multiples_are_what_is_said() -> None:
    for u, v in numbers(5, 2):
        assert holds(checker.product(u, v))
        assert holds(checker.multiple(u, v))


def test_odd_numbers_have_inverses() -> None:
    for h, w in itertools.product(range(-20, 20), range(1, 9)):
        i = pow(2 * h + 1, -1, 1 << w)
        t, rest = divmod((2 * h + 1) * i - 1, 1 << w)
        assert rest == 0
        assert holds(checker.inverse(1 << w, constant(h), constant(i), constant(t)))
        assert not holds(checker.inverse(1 << w, constant(h), constant(i + 1), constant(t)))


def test_an_extremum_is_what_is_said() -> None:
    for op in ("min", "max"):
        terms = checker.Terms([["var", "a", ""], ["var", "b", ""], [op, 0, 1]])
        (meaning,) = terms.facts([])
        for a, b, e in itertools.product(range(-2, 3), repeat=3):
            check = checker.Check("", terms, Z3)
            said = [check.text(checker.zero(p - n)) for p, n in zip(terms.table, (a, b, e), strict=True)]
            declared = " ".join(f"(declare-const {s} Int)" for s in ("m0", "m1", "m2"))
            asserted = "".join(f"(assert {f})" for f in [*said, check.text(meaning)])
            assert z3_refutes(f"{declared}{asserted}") == (e != (min if op == "min" else max)(a, b))


def test_what_is_denied_does_not_hold() -> None:
    x = checker.variable("x")
    facts = [checker.nonnegative(x * 2 - 3), checker.zero(x * 2 - 4), checker.nonzero(x + 1)]
    facts += [checker.both(*facts), checker.either(*facts)]
    for f, n in itertools.product(facts, range(-5, 6)):
        assert _at(f, n) != _at(checker.negation(f), n)


def _at(f: Formula, n: int) -> bool:
    """Evaluate a formula in x at x = n."""
    if f[0] in ("and", "or"):
        return (all if f[0] == "and" else any)(_at(g, n) for g in f[1])
    total = sum(c * n ** len(m) for m, c in f[1].items())
    return total >= 0 if f[0] == "ge" else total == 0
