"""The text form of rules: its meaning, its errors, and that printing is the inverse of reading."""

from __future__ import annotations

from pathlib import Path

import pytest

from indexproof.core.errors import InputError
from indexproof.verify.rulefiles import Kind, Semantics, parse_rules, read_rule_file, show, values

DATA = Path(__file__).parent / "data"
HEAD = "int x, y, z\nconst c0, c1\nbool p, q\n"


def term(text: str) -> str:
    """Read an expression as the left side of a rule and print it."""
    return show(parse_rules(f"{HEAD}r: {text} -> {text}")[0].left)


# ------------------------------------------------------------------------------------------------------ reading
@pytest.mark.parametrize(("text", "again"), [
    ("x - y - z", "x - y - z"),
    ("x - (y - z)", "x - (y - z)"),
    ("x / y * z % 3", "x / y * z % 3"),
    ("x * (y / z)", "x * (y / z)"),
    ("-x * y", "-x * y"),
    ("-(x * y)", "-(x * y)"),
    ("- 3 + x", "-3 + x"),
    ("x - -3", "x - -3"),
    ("x-3", "x - 3"),
    ("-(3)", "-(3)"),
    ("--x", "--x"),
    ("min(x, y, z)", "min(min(x, y), z)"),
    ("ceildiv(x, y) + select(p, x, y)", "ceildiv(x, y) + select(p, x, y)"),
    ("not p and q or p", "not p and q or p"),
    ("not (p and q)", "not (p and q)"),
    ("p and (q or p)", "p and (q or p)"),
    ("!p && q || p", "not p and q or p"),
    ("0 <= x < y", "0 <= x and x < y"),
    ("x < y < z <= 9", "x < y and y < z and z <= 9"),
    ("(x < y) == p", "(x < y) == p"),
    ("not x == y", "not x == y"),
    ("x + 1 in [y, z - 1] and p", "x + 1 in [y, z - 1] and p"),
    ("fold(c0 * c1) + x", "fold(c0 * c1) + x"),
    ("divides(c0, x)", "divides(c0, x)"),
    ("select(p, q, true)", "select(p, q, true)"),
    ("truncdiv(x, y) - floormod(x, y)", "truncdiv(x, y) - floormod(x, y)"),
])  # fmt: skip
def test_expressions(text: str, again: str) -> None:
    assert term(text) == again
    assert term(again) == again


@pytest.mark.parametrize(("text", "value"), [
    ("2 + 3 * 4", 14),
    ("(2 + 3) * 4", 20),
    ("10 - 3 - 2", 5),
    ("100 / 10 / 5", 2),
    ("-7 / 2", -4),
    ("7 % 4 * 2", 6),
    ("true or false and false", True),
    ("not false and false", False),
    ("1 < 2 == true", None),
    ("1 < 2 < 3", True),
    ("3 > 2 > 2", False),
    ("2 in [1, 3]", True),
    ("select(2 in [3, 1], 5, 6)", 6),
    ("min(4, 2, 3) + max(4, 2, 3)", 6),
])  # fmt: skip
def test_what_binds_tighter(text: str, value: object) -> None:
    if value is None:  # an integer compared with a truth value
        with pytest.raises(InputError):
            parse_rules(f"r: {text} -> {text}")
        return
    r = parse_rules(f"r: {text} -> {text}")[0]
    assert values((r.left,), {}, r.semantics)[id(r.left)] == value


def test_a_whole_file() -> None:
    rules = parse_rules(
        """\
# rules of two compilers
semantics trunc
integers 32 bits undefined
int x, y
const c0, c1      # constants
first: x / c0
       / c1       # a rule may take several lines
    -> x / fold(c0 * c1)
    if c0 > 0, c1 > 0 and c0 * c1 <= 100

semantics quotient floor remainder euclid
integers unbounded
int y in [-3, 9]
"a second one": x % y -> x % y
""",
        "two.rules",
    )
    first, second = rules
    assert first.statement() == "x / c0 / c1 -> x / fold(c0 * c1) if c0 > 0, c1 > 0, c0 * c1 <= 100"
    assert first.semantics == Semantics("trunc", "trunc", 32, "undefined")
    assert dict(first.variables) == {"x": Kind("int"), "c0": Kind("const"), "c1": Kind("const")}
    assert first.where == "two.rules:6"
    assert second.name == "a second one"
    assert second.semantics == Semantics("floor", "euclid")
    assert dict(second.variables) == {"x": Kind("int"), "y": Kind("int", -3, 9)}


def test_nesting_of_any_depth() -> None:
    depth = 10_100
    deep = "(" * depth + "x" + " + 1)" * depth
    r = parse_rules(f"int x\nr: {deep} -> x + {depth}")[0]
    assert len(show(r.left)) > depth
    assert values((r.left,), {"x": 1}, r.semantics)[id(r.left)] == depth + 1
    assert parse_rules("int x\nr: " + "-" * depth + "x -> x")[0].left.op == "neg"


# ----------------------------------------------------------------------------------------------------- printing
@pytest.mark.parametrize("path", sorted(DATA.glob("*.rules")), ids=lambda p: p.stem)
def test_statements_are_read_as_the_same_rules(path: Path) -> None:
    for r in read_rule_file(path.read_text("utf-8"), path.name):
        bounds = {v: "" if k.lo is None else f" in [{k.lo}, {k.hi}]" for v, k in r.variables.items()}
        lines = [f"semantics {r.semantics.division}", f"integers {r.semantics.integers}"]
        lines += [f"{k.name} {v}{bounds[v]}" for v, k in r.variables.items()]
        (again,) = parse_rules("\n".join([*lines, f"again: {r.statement()}"]))
        assert again.statement() == r.statement()
        assert again.semantics == r.semantics
        assert dict(again.variables) == dict(r.variables)


# -------------------------------------------------------------------------------------------------- complaints
BAD = {
    "r: x -> ": ("the statement ends too early", 8),
    "r: x + -> x": ("unexpected `->`", 8),
    "r: x y -> x": ("unexpected `y`", 6),
    "r: x -> x y": ("unexpected `y`", 11),
    "r: x -> x if": ("the statement ends too early", 13),
    "r: x -> x if p, ": ("the statement ends too early", 16),
    "r: (x -> x": ("unexpected `->`", 7),
    "r: min(x) -> x": ("unexpected `)`", 9),
    "r: select(p, x) -> x": ("unexpected `)`", 15),
    "r: select(p, x, y, z) -> x": ("unexpected `,`", 18),
    "r: ceildiv(x, y, z) -> x": ("unexpected `,`", 16),
    "r: ceildiv x -> x": ("unexpected `x`", 12),
    "r: x in [1 -> x": ("unexpected `->`", 12),
    "r: x in [1, 2, 3] -> p": ("unexpected `,`", 14),
    "r: w -> x": ("`w` is not declared", 4),
    "r: x + abs(x) -> x": ("no function is called `abs`", 8),
    "r: x (y) -> x": ("unexpected `(`", 6),
    "r: x + p -> x": ("`p` is a truth value elsewhere", 8),
    "r: x and p -> p": ("`x` is an integer elsewhere", 4),
    "r: p and x < y + 1 == q -> p": ("`q` is a truth value elsewhere", 23),
    "r: p and 3 -> p": ("this is an integer", 10),
    "r: x -> p": ("`p` is a truth value elsewhere", 9),
    "r: x -> x if x": ("`x` is an integer elsewhere", 14),
    "r: x -> fold(x)": ("`x` is not a constant, so it cannot be folded", 14),
    "r: x == p -> p": ("`p` is a truth value elsewhere", 9),
    "r: x $ y -> x": ("stray character `$`", 6),
    "r: if -> x": ("unexpected `if`", 4),
    "r: wrap(x) -> x": ("`wrap` says nothing of unbounded integers", 4),
    "integers 32 bits saturate": ("unexpected `saturate`", 18),
    "integers many": ("unexpected `many`", 10),
    "integers 0 bits": ("`0` is no width of integers", 10),
    "integers 32 wrap": ("unexpected `wrap`", 13),
    "semantics round": ("no division is called `round`", 11),
    "semantics": ("the statement ends too early", 10),
    "semantics quotient floor": ("the statement ends too early", 25),
    "semantics floor trunc": ("unexpected `trunc`", 17),
    "int x,": ("the statement ends too early", 7),
    "int min": ("`min` is a word of the language", 5),
    "int i in [3, 1]": ("no integer lies in [3, 1]", 10),
    "int i in [a, 1]": ("unexpected `a`", 11),
    "bool b in [0, 1]": ("unexpected `in`", 8),
    "declare x": ("unexpected `declare`", 1),
    "x + 1 -> 1 + x": ("unexpected `x`", 1),
    "r: x * (y + (z - 1) -> x": ("unexpected `->`", 21),
    "r: x -> x + y if x > 0": ("neither the left side nor a condition binds `y`", 13),
    "r: x -> select(p, x, x)": ("neither the left side nor a condition binds `p`", 16),
    "expect": ("the statement ends too early", 7),
    "expect UNDECIDED": ("unexpected `UNDECIDED`", 8),
    "expect REFUTED twice": ("unexpected `twice`", 16),
    "integers unbounded undefined": ("unexpected `undefined`", 20),
}


@pytest.mark.parametrize("text", BAD)
def test_what_is_wrong_is_pointed_at(text: str) -> None:
    message, column = BAD[text]
    source = f"{HEAD}good: x -> x\n{text}\nlater: y -> y\n"
    with pytest.raises(InputError) as caught:
        parse_rules(source)
    error = caught.value
    assert error.message == message
    assert (error.line, error.column) == (5, column)
    assert error.expected
    shown = error.render().split("\n")
    assert shown[-2] == f"  {text.rstrip()}" or shown[-2] == f"  {text}"
    assert shown[-1].index("^") - 2 == column - 1


@pytest.mark.parametrize(("source", "message", "line"), [
    ("", "the file states no rule", 1),
    ("# nothing\n\nint x\n", "the file states no rule", 4),
    ("  int x\n", "an indented line that continues nothing", 1),
    ("int x\nr: x -> x\nr: x -> x + 0\n", "another rule is called `r`, in line 2", 3),
    ('int x\n"r\x1b[2J": x -> x\n', "the name `r\\x1b[2J` cannot be printed", 2),
    ("int x\nr: x\n  -> x +\n\nint y\n", "the statement ends too early", 3),
    ("integers 8 bits\nint x\nr: x -> x + 128\n", "128 does not fit into 8 bits", 3),
    ("integers 8 bits\nint x\nr: wrap(x) -> x\n", "the sides of a rule are machine integers already", 3),
])  # fmt: skip
def test_what_is_wrong_with_a_file(source: str, message: str, line: int) -> None:
    with pytest.raises(InputError) as caught:
        parse_rules(source)
    assert caught.value.message == message
    assert caught.value.line == line


def test_conditions_may_speak_of_larger_integers() -> None:
    r = parse_rules("integers 8 bits\nint x\nr: x -> x if x * x < 40000, wrap(x + 128) > 0")[0]
    assert len(r.conditions) == 2


def test_a_file_is_never_executed(tmp_path: Path) -> None:
    sign = tmp_path / "sign"
    text = f"int x\n\"__import__('pathlib').Path('{sign}').touch()\": x -> x\n"
    assert len(parse_rules(text)) == 1
    assert not sign.exists()
    with pytest.raises(InputError):
        parse_rules(f"__import__('pathlib').Path('{sign}').touch()\n")
    assert not sign.exists()


@pytest.mark.parametrize("text", ["expect REFUTED\nr: x -> x", "r: x -> x\nexpect REFUTED\nexpect REFUTED"])
def test_one_verdict_is_expected_of_the_rule_above(text: str) -> None:
    with pytest.raises(InputError, match="there is no rule above that this is expected of"):
        parse_rules(f"int x\n{text}")


def test_what_is_expected_of_an_ill_formed_rule_goes_with_it() -> None:
    problems: list[InputError] = []
    read = parse_rules("int x\ngood: x -> x\nbad: x -> y\nexpect REFUTED\n", problems=problems)
    assert [(r.name, r.expected) for r in read] == [("good", "PROVED")]
    assert len(problems) == 1


def test_numbers_of_more_digits_than_the_limit_are_refused_where_they_stand() -> None:
    with pytest.raises(InputError, match="line 2, column 13: a number of 100001 digits"):
        parse_rules(f"int x\nr: x -> x + {'7' * 100_001}")
