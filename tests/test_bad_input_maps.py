"""Malformed maps in text and JSON give a one-line error with a position and no other exception."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from indexproof.core.errors import InputError
from indexproof.core.interop import from_mlir, to_mlir, to_mlir_set
from indexproof.core.json_form import dump_json, map_from_json, map_to_json
from indexproof.core.map_reader import read_map
from indexproof.core.text import format_map, parse_condition, parse_expr, parse_map

DATA = Path(__file__).parent / "core" / "data"
TEXTS = sorted(
    {*(DATA / "xla_maps.txt").read_text().splitlines(), *(DATA / "published_maps.txt").read_text().split("\n\n")}
)
SEEDS = [t for t in TEXTS if len(t) < 400]
# fmt: off
WORDS = [
    *"()[]{},:+-*/%=<>", *"'\"§\n\t\0é\ud800",
    "->", "in", "mod", "floordiv", "ceildiv", "min(", "max(", "domain:", "hlo:", "hlo: x",
    "is_simplified: true", "d0", "d7", "s0", "rt0", "x", "0", "1", "-1", "99999999999999999999", "1.5",
    "(d0) -> ()", "in [0, 1]", "d0 * d1", "mod 0", "// d0", "[0, d0]", "[1]",
]
MLIR = [
    "affine_map<(d0, d1)[s0] -> ((d0 * 4 - s0 + d1) floordiv 12, -d0 + 7, s0 mod 4)>",
    "affine_set<(d0)[s0] : (d0 >= 0, -d0 + 9 >= 0, s0 - 2 == 0, d0 + s0 <= 5)>",
]
MLIR_WORDS = [
    *"()[]{},:+-*=<>#§\n0", "->", ">=", "<=", "==", "mod", "floordiv", "ceildiv", "affine_map<", "affine_set<",
    "d0", "s0", "d7", "min(", "0x", "0x1f", "99999999999999999999", "// d0", "(d0) -> (", "d0 * d0", "mod 0",
]
JUNK: list[Any] = [
    None, True, -1, 0, 3, 1.5, 10**40, "", "d0", "q", "é\n", [], {}, {"hlo": 3},
    ["add"], ["sub", 1, 2], ["mod", "d0", 0], ["mul", "d0", "d0"], [["d0", 0, 1]],
]
# fmt: on
BUDGET = settings(
    max_examples=1500,
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
)


def complaint(source: Any) -> InputError | None:
    """Return the error of reading text or JSON values, if any; any other exception fails the test."""
    try:
        read_map(source) if isinstance(source, str) else map_from_json(source)
    except InputError as error:
        return error
    return None


def check(error: InputError, text: str) -> None:
    message = str(error)
    assert "\n" not in message
    assert message.isprintable()
    if error.line:
        lines = text.split("\n")
        assert 1 <= error.line <= len(lines)
        assert 1 <= error.column <= len(lines[error.line - 1]) + 1
        assert message.startswith(f"line {error.line}, column {error.column}: ")
        assert error.render().splitlines()[-1].strip(" \t") == "^"
    else:
        assert error.path, message
        assert message.startswith(f"{error.path}: ")
    assert error.expected, message


@st.composite
def mutated(draw: st.DrawFn, seeds: list[str], words: list[str]) -> str:
    """Draw a valid map with one to three small typing errors."""
    text = draw(st.sampled_from(seeds))
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(text)))
        length = draw(st.integers(0, 6))
        match draw(st.integers(0, 4)):
            case 0:  # delete some characters
                text = text[:at] + text[at + 1 + length :]
            case 1:  # insert a word
                text = text[:at] + draw(st.sampled_from(words)) + text[at:]
            case 2:  # replace some characters by a word
                text = text[:at] + draw(st.sampled_from(words)) + text[at + length :]
            case 3:  # truncate the text
                text = text[:at]
            case 4:  # repeat some characters
                text = text[: at + length] + text[at:]
    return text


def test_mutated_text() -> None:
    malformed: set[str] = set()
    messages: set[str] = set()

    @BUDGET
    @given(mutated(SEEDS, WORDS))
    def run(text: str) -> None:
        error = complaint(text)
        if error is not None:
            check(error, text)
            malformed.add(text)
            messages.add(error.message)
        else:
            m = read_map(text)
            assert parse_map(format_map(m)) == m

    run()
    assert len(malformed) >= 300, len(malformed)
    assert len(messages) >= 40, "the accidents are of many kinds"


def arbitrary(words: list[str]) -> st.SearchStrategy[str]:
    return st.one_of(st.text(), st.lists(st.sampled_from(words), max_size=30).map(" ".join))


def test_mutated_and_arbitrary_text_of_mlir() -> None:
    messages: set[str] = set()

    @BUDGET
    @given(st.one_of(mutated(MLIR, MLIR_WORDS), arbitrary(MLIR_WORDS)))
    def run(text: str) -> None:
        try:
            m = from_mlir(text)
        except InputError as error:
            check(error, text)
            messages.add(error.message)
            return
        again = from_mlir(to_mlir(m), to_mlir_set(m))
        assert [(v.lo, v.hi) for v in again.variables] == [(v.lo, v.hi) for v in m.variables]
        assert to_mlir(again) == to_mlir(m)

    run()
    assert len(messages) >= 25, messages


def test_arbitrary_text() -> None:
    @BUDGET
    @given(arbitrary(WORDS))
    def run(text: str) -> None:
        error = complaint(text)
        if error is not None:
            check(error, text)
        for read in (parse_expr, parse_condition):
            try:
                read(text)
            except InputError as found:
                check(found, text)

    run()


def places(data: Any) -> list[list[Any]]:
    """Yield the path of every value in ``data``."""
    out: list[list[Any]] = []
    todo: list[tuple[Any, list[Any]]] = [(data, [])]
    while todo:
        value, path = todo.pop()
        items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        for k, x in items:
            out.append([*path, k])
            todo.append((x, [*path, k]))
    return out


@st.composite
def mutated_json(draw: st.DrawFn) -> Any:
    data = copy.deepcopy(map_to_json(parse_map(draw(st.sampled_from(SEEDS)))))
    for _ in range(draw(st.integers(1, 2))):
        found = places(data)
        if not found:
            break
        path = draw(st.sampled_from(found))
        holder = data
        for step in path[:-1]:
            holder = holder[step]
        match draw(st.integers(0, 2)):
            case 0:
                del holder[path[-1]]
            case 1:
                holder[path[-1]] = copy.deepcopy(draw(st.sampled_from(JUNK)))
            case 2 if isinstance(holder, list):
                holder.insert(path[-1], copy.deepcopy(draw(st.sampled_from(JUNK))))
            case _:
                holder[draw(st.sampled_from(["", "dim", "sources", "results"]))] = copy.deepcopy(
                    draw(st.sampled_from(JUNK))
                )
    return data


def test_mutated_json() -> None:
    malformed: set[str] = set()

    @BUDGET
    @given(mutated_json())
    def run(data: Any) -> None:
        text = dump_json(data)
        error = complaint(data)
        assert str(complaint(text)) == str(error)
        if error is not None:
            check(error, text)
            assert error.path
            malformed.add(text)

    run()
    assert len(malformed) >= 300, len(malformed)


def test_mutated_json_text() -> None:
    texts = [dump_json(map_to_json(parse_map(t))) for t in SEEDS[:60]]

    @BUDGET
    @given(st.sampled_from(texts), st.data())
    def run(text: str, data: st.DataObject) -> None:
        at = data.draw(st.integers(1, len(text)))
        word = data.draw(st.sampled_from(["", *WORDS]))
        text = text[:at] + word + text[at + data.draw(st.integers(0, 3)) :]
        error = complaint(text)
        if error is not None:
            check(error, text)

    run()


@pytest.mark.parametrize(("text", "where", "message", "expected"), [
    ("", (1, 1), "there is no text", "`(`"),
    ("(d0", (1, 4), "the text ends too early", "`,` or `)` (the `(` of line 1, column 1 is open)"),
    ("(d0, , d1) -> ()", (1, 6), "unexpected `,`", "a variable name or `)`"),
    ("(0) -> ()", (1, 2), "unexpected `0`", "a variable name"),
    ("(mod) -> ()", (1, 2), "`mod` is an operator", "a variable name"),
    ("(d0, d0) -> ()", (1, 6), "duplicate variable `d0`", "a name that is not used yet"),
    ("(d0)[d0] -> ()", (1, 6), "duplicate variable `d0`", "a name"),
    ("(d0) (d0)", (1, 6), "unexpected `(`", "`[`, `{` or `->`"),
    ("(d0) -> d0", (1, 9), "unexpected `d0`", "`(`"),
    ("(d0) -> (d1)", (1, 10), "unknown variable `d1`", "`d0`"),
    ("() -> (d1)", (1, 8), "unknown variable `d1`", "no variable"),
    ("(d0) -> (d0)", (1, 2), "the variable `d0` has no bounds", "`d0 in [lo, hi]` in the domain"),
    ("(d0) -> (d0) d0 in [0 1]", (1, 23), "unexpected `1`", "`,` (the `[` of line 1, column 20 is open)"),
    ("(d0) -> (d0) d0 in [0, x]", (1, 24), "unexpected `x`", "an integer bound"),
    ("(d0) -> (d0) d0 in [0, 1.5]", (1, 25), "stray character `.`", "`]`"),
    ("(d0) -> (d0)\nd0 in [0, 1],\nd1 in [0, 2]", (3, 1), "bounds for `d1`, which is not", "`d0`"),
    ("(d0) -> (d0)\nd0 in 3", (2, 7), "unexpected `3`", "`[`"),
    ("(d0) -> (d0)\nd0 = 3", (2, 4), "unexpected `=`", "an operator or `in [lo, hi]`"),
    ("(a, b) -> (a * b)", (1, 14), "a product of two variables is not quasi-affine", "a constant factor"),
    ("(a, b) -> (a mod b)", (1, 18), "the divisor is not a constant", "an integer"),
    ("(a, b) -> (a / (2 - 2))", (1, 16), "division by zero", "a divisor other than 0"),
    ("(a) -> (a floordiv -0)", (1, 20), "division by zero", "a divisor other than 0"),
    ("(a) -> (ceildiv(a))", (1, 9), "`ceildiv` has 1 arguments", "`ceildiv(a, b)`"),
    ("(a) -> (min())", (1, 13), "unexpected `)`", "a variable, an integer"),
    ("(a) -> (min)", (1, 12), "unexpected `)`", "`(`"),
    ("(a) -> ((a + 1)", (1, 16), "the text ends too early", "(the `(` of line 1, column 8 is open)"),
    ("(a) -> (a + 1))", (1, 15), "unexpected `)`", "a variable"),
    ("(a) -> (a 1)", (1, 11), "unexpected `1`", "an operator, `,` or `)`"),
    ("(a) -> (2 a)", (1, 11), "unexpected `a`", "an operator"),
    ("(a) -> (+a)", (1, 9), "unexpected `+`", "a variable"),
    ("(a) -> (a @ 1)", (1, 11), "stray character `@`", "an operator"),
    ("() -> (), is_simplified: maybe", (1, 26), "unexpected `maybe`", "`true` or `false`"),
    ("() -> ()\nhlo: p", (2, 1), "an `hlo:` line that belongs to no variable", "`VARIABLE in [lo, hi]`"),
    ("(a) -> () a in [0, 1] hlo: p\n() -> ()", (1, 23), "only a range or runtime variable has a source",
        "a domain"),
    ("(){a} -> () a in [0, 1] hlo:\n() -> ()", (1, 25), "an empty `hlo:` line", "the text of an HLO instruction"),
    ("(){a} -> () a in [0, 1] hlo: p\n(b) -> ()", (2, 1), "the map of the source has 1 dimension",
        "0 as in the map"),
    ("(){a} -> () a in [0, 1] hlo: p\n(){a} -> (a)", (1, 1), "the sources of the runtime variables a need",
        "an order"),
])  # fmt: skip
def test_complaints(text: str, where: tuple[int, int], message: str, expected: str) -> None:
    error = complaint(text)
    assert (error.line, error.column) == where
    assert error.message.startswith(message)
    assert expected in error.expected
    check(error, text)


def test_the_caret_stands_below_the_place() -> None:
    error = complaint("(d0) -> (d0)\ndomain:\n\td0 in [3, ]")
    assert error.render() == (
        "line 3, column 12: unexpected `]`; expected an integer bound\n  \td0 in [3, ]\n  \t          ^"
    )
    long = "(d0) -> (" + "d0 + " * 100 + "§" + " + d0" * 100
    error = complaint(long)
    line, caret = error.render().splitlines()[1:]
    assert line[caret.index("^")] == "§"
    assert len(line) < 110


@pytest.mark.parametrize("value", [None, 3, b"() -> ()", ["() -> ()"], object()])
def test_things_that_are_not_text(value: Any) -> None:
    for read in (parse_map, read_map, parse_expr, parse_condition, map_from_json):
        with pytest.raises(InputError):
            read(value)
