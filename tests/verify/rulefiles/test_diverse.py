"""About two hundred rules of many kinds in all semantics get the right verdict."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from indexproof.verify import linear
from indexproof.verify.budget import Budget
from indexproof.verify.rulefiles import StatedRule, judge, prove, read_rule_file, stated_rule_obligations
from indexproof.verify.rulefiles.cases import expanded
from indexproof.verify.rulefiles.lowering import source_of
from indexproof.verify.rulefiles.modular import ODD, RESIDUES, ROOTS, by_odd_factors, by_roots, roots
from indexproof.verify.rulefiles.sample import every_point, table_of
from indexproof.verify.solve import decide, reduced
from indexproof.verify.verdict import Status, Verdict

FILE = Path(__file__).parent / "data" / "diverse.rules"
RULES = read_rule_file(FILE.read_text("utf-8"), FILE.name)


def verdict_on(r: StatedRule) -> Verdict:
    return decide(next(stated_rule_obligations(r)))


def decided(text: str) -> Verdict:
    (r,) = read_rule_file(text, "t")
    return verdict_on(r)


def test_every_rule_is_decided_as_its_name_says() -> None:
    wrong = []
    for r in RULES:
        verdict = verdict_on(r)
        if r.name.startswith("true"):
            right = verdict.status is Status.PROVED
        else:
            right = (
                verdict.status in (Status.REFUTED, Status.UNDEFINED)
                and verdict.witness is not None
                and judge(r, verdict.witness) in ("counterexample", "undefined")
            )
        if not right:
            wrong.append(f"{r}: {verdict.status}")
    assert not wrong, "\n".join(wrong)


def test_a_third_of_them_is_false() -> None:
    false = sum(r.name.startswith("false") for r in RULES)
    assert len(RULES) > 200
    assert 3 * false > len(RULES)


def test_a_polynomial_modulo_a_number_is_decided_by_its_residues() -> None:
    for text in ("(x * x) % 4 <= 1 -> true", "(x * x * x - x) % 3 -> 0", "(x * x + y * y) % 4 != 3 -> true"):
        verdict = decided(f"int x, y\nr: {text}\n")
        assert verdict.status is Status.PROVED
        assert verdict.strategy == RESIDUES
    assert (
        decided("semantics trunc\nintegers 8 bits\nint x\nr: (x * x) % 4 <= 1 -> true\n").status is Status.PROVED
    )  # 256 residues would be too many
    assert (
        decided("semantics trunc\nintegers 8 bits\nint x\nr: (x * x) % 4 == 1 -> x % 2 == 1\n").status is Status.REFUTED
    )
    assert decided("int x\nr: (x * x) % 8 in [0, 3] -> true\n").status is Status.REFUTED


@pytest.mark.parametrize("width", [32, 64])
def test_what_a_power_of_two_divides_is_decided_by_residues_of_a_smaller_one(width: int) -> None:
    for text in (
        "x * (x + 1) % 2 == 0 -> true",
        "x * (x + 1) * (x + 3) % 2 != 0 -> false",
        "x * x == y * y + 2 -> false",
        "x * x == 4 * y + 3 -> false",
        "x * x + y * y == 3 -> false",
    ):
        verdict = decided(f"integers {width} bits\nint x, y\nr: {text}\n")
        assert (verdict.status, verdict.strategy) == (Status.PROVED, RESIDUES), text
    for text in ("x * x == y * y + 3 -> false", "x * x == 4 * y + 1 -> false", "x * x % 4 == 1 -> false"):
        assert decided(f"integers {width} bits\nint x, y\nr: {text}\n").status is Status.REFUTED


def test_a_sum_that_fits_once_it_is_negated_is_tried() -> None:
    for width in (16, 64):
        text = f"semantics trunc\nintegers {width} bits undefined\nint x, y\nconst c\n"
        verdict = decided(f"{text}r: x * c + y * c -> (x + y) * c if c != 0\n")
        assert (verdict.status, verdict.strategy) == (Status.REFUTED, "machine limits")


def test_the_only_quotient_that_overflows_is_tried_at_once() -> None:
    for sides in ("(x % c) % d -> x % d", "(x % c) / d -> x % c / d + 0 * (x / d)"):
        for width in (16, 32, 64):
            text = f"semantics trunc\nintegers {width} bits undefined\nint x, y\nconst c, d\n"
            verdict = decided(f"{text}r: {sides} if divides(d, c)\n")
            assert verdict.status is Status.REFUTED
            assert verdict.strategy in ("small points", "machine limits")


@pytest.mark.parametrize("overflow", ["wrap", "undefined"])
def test_large_multiples_are_tried(overflow: str) -> None:
    """A product that overflows where one number divides another is found by trying points, without a solver."""
    for width in (16, 32, 64):
        text = f"semantics trunc\nintegers {width} bits {overflow}\nint x, y, z\n"
        side = "(x * y) / z -> x * (y / z)" if overflow == "wrap" else "x * (y / z) -> (x * y) / z"
        verdict = decided(f"{text}r: {side} if y % z == 0, z > 1\n")
        assert verdict.status is Status.REFUTED
        assert verdict.strategy in ("small points", "machine limits")


def test_that_a_remainder_is_zero_is_divisibility() -> None:
    """``c % d == 0`` is as useful to a proof as ``divides(d, c)``, so that no solver is needed."""
    sides = "x * c % d / e -> x % fold(d / c) * fold(c / e)"
    for conditions in ("d % c == 0, c % e == 0", "divides(c, d), divides(e, c)", "0 == d % c, not c % e != 0"):
        for semantics in ("euclid0", "trunc", "floor"):
            text = f"semantics {semantics}\nint x\nconst c, d, e\nr: {sides} if {conditions}, c > 0, e > 0, d > 0\n"
            verdict = decided(text)
            assert verdict.status is Status.PROVED
            assert verdict.resources < 100_000
    assert decided("semantics trunc\nint x, y\nr: x % y == 0 -> x == 0 if y > 1\n").status is Status.REFUTED
    verdict = decided("semantics trunc0\nint x, y\nr: x % y == 0 -> divides(y, x)\n")
    assert (verdict.status, verdict.witness) == (Status.REFUTED, {"x": 0, "y": 0})


def test_the_quotient_that_overflows_is_tried_with_small_factors() -> None:
    for width in (16, 32, 64):
        text = f"semantics trunc\nintegers {width} bits undefined\nint x, y, z\n"
        verdict = decided(f"{text}r: (x * y) / z -> x * (y / z) if y % z == 0\n")
        assert (verdict.status, verdict.strategy) == (Status.REFUTED, "machine limits")


def test_literals_that_meet_before_any_variable_are_exact_too() -> None:
    """Subterms without variables are evaluated with exact integers, too."""
    for text, status in (
        ("integers 64 bits wrap\nint x\nr: x + select(x < 0, 1, 2) - select(x < 0, 1, 2) -> x", Status.PROVED),
        ("integers 64 bits wrap\nbool p\nr: select(p, 1, 2) + 1 -> select(p, 2, 3)", Status.PROVED),
        ("integers 64 bits undefined\nint x\nr: x * (7 / 2) -> x * 3", Status.PROVED),
        ("integers 64 bits wrap\nr: 7 / 2 + 1 -> 4", Status.PROVED),
        ("integers 64 bits wrap\nr: 7 / 2 + 1 -> 5", Status.REFUTED),
    ):  # fmt: skip
        assert decided(f"{text}\n").status is status
    # 2^40 · 2^40 overflows 64 bits: with a wrapped product the condition would seem to be needed
    big = "select(p, 1099511627776, 2)"
    (rule,) = read_rule_file(f"bool p\nint x\nr: x -> x + 0 * x if {big} * {big} * {big} > 0, x > 5\n", "t")
    assert table_of(rule).conditions[0].all()


ODD_FACTORS = """
true zero: x * c == 0 -> x == 0 if c % 2 != 0
true equal: x * c == y * c -> x == y if c % 2 == 1
true unequal: x * c != y * c -> x != y if divides(2, c + 1)
true two: x * c * d == 0 -> x == 0 if c % 2 != 0, d % 4 == 3
true term: x * (2 * c + 1) == 0 -> x == 0
true shared: x * c + y * c == 0 -> x + y == 0 if c % 2 == 1
true one: x * c == c -> x == 1 if c % 2 == 1
true either: x * c == y * c or x == y -> x == y if c % 2 == 1
true divided: x * c == d -> x == fold(d / c) if divides(c, d), c % 2 != 0
false divided even: x * c == d -> x == fold(d / c) if divides(c, d)
true variable: x * y == 0 -> x == 0 if y % 2 != 0
false even: x * c == 0 -> x == 0 if c % 2 == 0, c != 0
false third: x * c == y * c -> x == y if c % 3 == 1
false other: x * c * d == 0 -> x == 0 if c % 2 != 0, d != 0
false which: x * c == 0 -> c == 0 if c % 2 != 0
false partly: x * c + y == 0 -> x + y == 0 if c % 2 == 1
"""


def test_odd_factors_are_left_out_of_what_a_power_of_two_divides() -> None:
    for width in (8, 32, 64):
        for line in ODD_FACTORS.strip().splitlines():
            name, statement = line.split(":", 1)
            text = f'integers {width} bits wrap\nint x, y\nconst c, d\n"{name}":{statement}\n'
            verdict = decided(text)
            assert verdict.status is (Status.PROVED if name.startswith("true") else Status.REFUTED), (width, name)


def test_nothing_but_an_odd_factor_is_left_out() -> None:
    """The strategy by itself does not prove false claims."""
    limits = linear.ReductionBudget()
    for line in ODD_FACTORS.strip().splitlines():
        name, statement = line.split(":", 1)
        text = f'integers 8 bits wrap\nint x, y\nconst c, d\n"{name}":{statement}\n'
        (rule,) = read_rule_file(text, "t")
        proved = [by_odd_factors(o, limits)[0] for o in expanded(rule)]
        assert not all(proved) or name.startswith("true"), name


ROOT_RULES = """
true cube: x * x * x == 27 -> x == 3
true cubes: x * x * x == 1 -> x == 1
true idempotent: x * x == x -> x == 0 or x == 1
true neighbours: x * (x + 1) == 2 -> x == 1 or x == -2
true no root: x * x == 3 -> false
true fourth power: x * x * x * x == 9 -> false
true opposite: x * x != x -> not (x == 0 or x == 1)
false square: x * x == 0 -> x == 0
false root: x * x == 9 -> x == 3 or x == -3
false no root: x * x == 17 -> false
false cube: x * x * x == 8 -> x == 2
false other: x * x == y -> x == 0 or x == 1
"""


def _stated(line: str, width: int) -> Any:
    name, statement = line.split(":", 1)
    text = f'semantics trunc\nintegers {width} bits wrap\nint x, y\nconst c\n"{name}":{statement}\n'
    return name.startswith("true"), read_rule_file(text, "t")[0]


@pytest.mark.parametrize("width", [8, 32, 64])
@pytest.mark.parametrize("line", ROOT_RULES.strip().splitlines())
def test_a_polynomial_in_one_variable_has_few_roots(line: str, width: int) -> None:
    true, r = _stated(line, width)
    verdict = verdict_on(r)
    assert verdict.status is (Status.PROVED if true else Status.REFUTED)
    if true:
        assert ROOTS in verdict.strategy
    else:
        assert not all(by_roots(o, linear.ReductionBudget())[0] for o in expanded(r))


def test_roots_are_those_that_enumeration_finds() -> None:
    generator = random.Random(7)
    several = empty = 0
    for _ in range(600):
        w = generator.randint(1, 7)
        p = [generator.randint(-9, 9) << generator.choice((0, 0, 1, 2)) for _ in range(generator.randint(2, 5))]
        found = roots(p, 1 << w)
        if found is None:
            continue
        expected = [x for x in range(1 << w) if sum(a * x**k for k, a in enumerate(p)) % (1 << w) == 0]
        assert sorted(x for r, m in found for x in range(r, 1 << w, m)) == expected
        assert all(0 <= r < m for r, m in found)
        several += len(found) > 1
        empty += not found
    assert several > 40
    assert empty > 50
    # x·(x + 1)·…·(x + 5) is zero modulo 2^4 everywhere, and x·x modulo 2^64 where 2^32 divides x
    assert roots([0, 120, 274, 225, 85, 15, 1], 16) == [(r, 4) for r in range(4)]
    assert roots([0, 0, 1], 1 << 64) == [(0, 1 << 32)]
    # an odd coefficient of x and even ones of higher powers: exactly one root
    assert [m for _, m in roots([5, 3, 2, 4], 1 << 64) or ()] == [1 << 64]


COFACTORS = """
true cubes: x * x * x == y * y * y -> x == y if x % 2 != 0
true sum of cubes: x * x * x + y * y * y == 0 -> x == -y if x % 2 != 0
true fifth powers: x * x * x * x * x == y * y * y * y * y -> x == y if y % 2 != 0
true one to one: 2 * x * x + x == 2 * y * y + y -> x == y
true one to one, too: 4 * x * x * x + x == 4 * y * y * y + y -> x == y
false cubes: x * x * x == y * y * y -> x == y
false squares: x * x == y * y -> x == y if x % 2 != 0
false not one to one: x * x + x == y * y + y -> x == y
false cubic: x * x * x + x == y * y * y + y -> x == y
"""


@pytest.mark.parametrize("width", [8, 64])
@pytest.mark.parametrize("line", COFACTORS.strip().splitlines())
def test_an_odd_cofactor_of_a_difference_is_left_out(line: str, width: int) -> None:
    true, r = _stated(line, width)
    verdict = verdict_on(r)
    assert verdict.status is (Status.PROVED if true else Status.REFUTED)
    if true:
        assert ODD in verdict.strategy
    else:
        assert not all(by_odd_factors(o, linear.ReductionBudget())[0] for o in expanded(r))


def test_odd_numbers_and_no_others_can_be_left_out() -> None:
    """Exactly the odd numbers can be cancelled modulo 2^w, checked for every width up to 6."""
    for w in range(1, 7):
        m = 1 << w
        for v in range(m):
            assert all(e % m == 0 for e in range(m) if v * e % m == 0) == (v % 2 == 1)


def test_literals_may_be_of_any_size() -> None:
    googol = 10**100
    beyond = 10**400  # larger than any float
    for text, status in (
        (f"int x\nr: (x / 2) / {googol} -> x / {2 * googol}", Status.PROVED),
        (f"semantics trunc\nint x\nr: (x / 2) / {googol} -> x / {2 * googol + 1}", Status.REFUTED),
        (f"semantics euclid0\nint x\nr: (x / -{googol}) / 2 -> x / -{2 * googol}", Status.REFUTED),
        (f"semantics euclid0\nint x\nr: (x / 2) / -{googol} -> x / -{2 * googol}", Status.PROVED),
        (f"int x\nbool p\nr: x + select(p, {googol}, 2) -> select(p, x + {googol}, x + 2)", Status.PROVED),
        (f"int x\nr: x + 1 -> x + 1 if divides({googol}, x)", Status.PROVED),
        (f"int x\nr: x + {beyond} -> x", Status.REFUTED),
        (f"semantics trunc\nint x\nr: x + 2 % {googol} -> x + 2", Status.PROVED),
        (f"semantics trunc\nint x\nr: x + 7 / {googol} / 2 -> x", Status.PROVED),
        (f"int x\nr: min({googol}, -128) + x -> x - 128", Status.PROVED),
        (f"int x\nr: x / max(10, {googol}) -> x / {googol}", Status.PROVED),
        (f"int x\nr: {googol} - 7 / 2147483648 < x -> x > {googol}", Status.PROVED),
        (f"semantics trunc\nint x\nr: {googol} * x > 4 / -128 -> x >= 0", Status.REFUTED),
        (f"semantics trunc\nint x\nr: (x % 2) % {googol} -> x % 2 if -1 % {googol} == -1", Status.PROVED),
        (f"int x\nr: x / {beyond} -> 0 if x >= 0, x < {beyond + 1}", Status.REFUTED),
    ):
        assert decided(f"{text}\n").status is status, text


def test_a_rule_about_no_integers_says_nothing(recwarn: pytest.WarningsRecorder) -> None:
    """A rule is vacuous if no machine integer lies in the range of a variable."""
    for text in (
        "integers 2 bits\nint x in [2, 5]\nr: x -> 0",
        "integers 2 bits\nint x in [-5, -3]\nint y\nr: x + y -> 0 if x < y",
        "integers 8 bits undefined\nint x in [200, 2000]\nint y\nr: x + y -> 0 if x < y",
    ):
        assert decided(f"{text}\n").status is Status.VACUOUS, text
    assert not recwarn.list


@pytest.mark.parametrize(("rule", "needed"), [("(x * c + y) / c -> x + y / c", 1), ("x + c - c -> x", 0)])
def test_many_conditions_are_few_questions(monkeypatch: pytest.MonkeyPatch, rule: str, needed: int) -> None:
    """Deciding which of 400 inequations are needed takes few questions."""
    asked = 0

    def counted(*args: Any, **more: Any) -> Any:
        nonlocal asked
        asked += 1
        return reduced(*args, **more)

    monkeypatch.setattr(prove, "reduced", counted)
    many = ", ".join(f"c != {k}" for k in range(400))
    (stated,) = read_rule_file(f"semantics euclid0\nint x, y\nconst c\nr: {rule} if {many}\n", "t")
    sound, *needs = [decide(o) for o in stated_rule_obligations(stated) if not o.bits]
    assert sound.status is Status.PROVED
    assert sum(v.status is Status.PROVED for v in needs) == needed
    assert sum(v.status is Status.VACUOUS for v in needs) == 400 - needed
    assert asked <= 8
    assert len({v.resources for v in needs if v.status is Status.VACUOUS}) == 1


EVERY_POINT = """
semantics trunc
integers 8 bits wrap
int x, y
true_squares: x * x == y * y + 2 -> false
true_cubes: x * x * x == y * y * y -> x == y if x % 2 != 0
false_cube: x * x * x == 8 -> x == 2
vacuous: x -> x + 1 if x * x * x == 27, x != 3
integers 16 bits wrap
true_square: x * x == 1 -> x == 1 or x == -1 or x == 32767 or x == -32767
false_square: x * x == 1 -> x == 1 or x == -1 or x == 32767
integers 64 bits wrap
int z in [-100, 100]
true_fifth: z * z * z * z * z == 243 -> z == 3
"""


def test_rules_with_few_points_are_tried_at_all_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = {"true": Status.PROVED, "false": Status.REFUTED, "vacuous": Status.VACUOUS}
    rules = read_rule_file(EVERY_POINT, "t")
    for r in rules:
        assert verdict_on(r).status is expected[r.name.partition("_")[0]], r.name
    squares = verdict_on(rules[0])
    assert (squares.strategy, squares.resources > 0) == (prove.EVERY, True)
    # a rule that fails at a single point, which only this table contains
    monkeypatch.setattr(prove, "table_for", lambda source: table_of(rules[0]))
    wrong = prove._everywhere(source_of(rules[5]), 0, Budget())
    assert wrong.status is Status.REFUTED
    assert wrong.witness == {"x": -32767}


def test_all_points_of_a_rule() -> None:
    text = "semantics euclid0\nint x in [-9, 8]\nint y in [-3, 3]\nbool p\nr: select(p, x / y * y, x) -> x if y != 1\n"
    (r,) = read_rule_file(text, "t")
    table = every_point(r)
    points = [dict(zip(r.variables, row, strict=True)) for row in table.points.tolist()]
    assert len(points) == len({tuple(p.values()) for p in points}) == 18 * 7 * 2
    failing = [k for k, p in enumerate(points) if judge(r, p) == "counterexample"]
    assert failing == [k for k in range(len(points)) if table.fails[k] and table.conditions[0][k]]
    assert failing
    for bounds in ("", " in [1, 9999]"):
        (r,) = read_rule_file(f"int z{bounds}\nint w{bounds}\nr: z / 2 + w -> z\n", "t")
        assert every_point(r) is None
    # 64-bit integers cannot count 2^64 points
    (r,) = read_rule_file("integers 64 bits wrap\nint z\nr: z * z -> z\n", "t")
    assert every_point(r) is None
