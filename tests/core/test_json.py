"""The JSON form: round trip of every map, exact positions in every error."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from indexproof.core.errors import InputError, TooLargeError
from indexproof.core.expr import ceildiv, floordiv, integer, linear, maximum, minimum, mod, mul, var
from indexproof.core.indexing_map import IndexingMap
from indexproof.core.json_form import dump_json, expr_from_json, expr_to_json, load_json, map_from_json, map_to_json
from indexproof.core.map_reader import read_map
from indexproof.core.text import parse_map

DATA = Path(__file__).parent / "data"
MAPS = (DATA / "xla_maps.txt").read_text().splitlines() + (DATA / "published_maps.txt").read_text().split("\n\n")

d0, d1 = var("d0"), var("d1")


def test_round_trip_of_every_map() -> None:
    for text in MAPS:
        m = parse_map(text)
        data = map_to_json(m)
        assert map_from_json(data) == m
        written = dump_json(data)
        assert json.loads(written) == data
        assert read_map(written) == m


def test_the_form_is_the_documented_one() -> None:
    m = parse_map(
        "(d0)[s0]{rt0} -> (d0 * 8 + s0 - rt0, d0 mod 3), domain: d0 in [0, 3], s0 in [0, 7], rt0 in [0, "
        "1], d0 + s0 in [0, 9]"
    )
    assert map_to_json(m) == {
        "dims": [["d0", 0, 3]],
        "ranges": [["s0", 0, 7]],
        "rts": [["rt0", 0, 1]],
        "results": [["add", ["add", ["mul", "d0", 8], ["mul", "rt0", -1]], "s0"], ["mod", "d0", 3]],
        "constraints": [[["add", "d0", "s0"], 0, 9]],
    }


def test_sources_are_kept_beside_the_runtime_variables() -> None:
    m = parse_map(
        "(d0){rt0, rt1} -> (d0 + rt0 + rt1)\nd0 in [0, 3] rt0 in [0, 1] rt1 in [0, 5]\n hlo: i = s32[9]\n "
        "(d0) -> (d0 + 1)"
    )
    data = map_to_json(m)
    assert data["rts"] == [["rt0", 0, 1], ["rt1", 0, 5]]
    assert data["sources"] == [None, {"hlo": "i = s32[9]", "results": [["add", "d0", 1]]}]
    assert map_from_json(dump_json(data)) == m


@pytest.mark.parametrize(("data", "expected"), [
    (3, integer(3)),
    ("d0", d0),
    (["add", "d0", -2], d0 - 2),
    (["mul", 3, ["add", "d0", "d1"]], d0 * 3 + d1 * 3),
    (["fdiv", "d0", 4], floordiv(d0, 4)),
    (["mod", "d0", -4], mod(d0, -4)),
    (["cdiv", "d0", 4], ceildiv(d0, 4)),
    (["min", "d0", ["max", "d1", 3]], minimum(d0, maximum(d1, 3))),
    (["add", 1, 2, "d0", "d1"], d0 + d1 + 3),
    (["mul", "d0", "d1"], mul(d0, d1)),
])  # fmt: skip
def test_expressions(data: Any, expected: Any) -> None:
    assert expr_from_json(data) is expected
    assert expr_from_json(expr_to_json(expected)) is expected


def test_reads_deep_and_huge_input() -> None:
    e = d0
    for _ in range(3_000):
        e = e // 2 + 1
    m = IndexingMap.of([("d0", 0, 10**6000)], results=[e - 10**5000])
    assert map_from_json(map_to_json(m)) == m
    assert read_map(dump_json(map_to_json(m))) == m
    with pytest.raises(InputError, match="the JSON ends too early"):
        load_json("[" * 100_000)
    with pytest.raises(InputError, match="unknown variable `x`") as caught:
        read_map('{"dims": [], "results": [' + '["add", 1, ' * 20_000 + '"x"' + "]" * 20_000 + "]}")
    assert len(str(caught.value)) < 300


def test_shared_subexpressions_are_shared_in_memory() -> None:
    e = d0
    for _ in range(200):
        e = e // 2 + e % 3
    assert expr_from_json(expr_to_json(e)) is e
    with pytest.raises(TooLargeError):
        dump_json(expr_to_json(e))


def test_sums_within_sums_are_added_up_once() -> None:
    names = [f"d{i}" for i in range(5_000)]
    left: Any = names[0]
    for name in names[1:]:
        left = ["add", left, name]
    right: Any = names[-1]
    for name in reversed(names[:-1]):
        right = ["add", name, ["mul", right, -1]]
    assert expr_from_json(left) is linear(0, [(var(n), 1) for n in names])
    assert expr_from_json(right) is linear(0, [(var(n), (-1) ** i) for i, n in enumerate(names)])
    # a shared node counts once per occurrence
    half = linear(0, [(d0, 1), (mul(d1, 3), 1), (integer(1), 1)])
    shared: Any = ["add", "d0", ["mul", 3, "d1"], 1]
    for _ in range(80):
        shared = ["add", shared, shared]
    assert expr_from_json(shared) is mul(half, 2**80)
    assert expr_from_json(["mul", ["add", 2, -2], ["add", "d0", 1]], quasi_affine=True) is integer(0)
    with pytest.raises(InputError, match="division by zero"):
        expr_from_json(["mod", "d0", ["add", 2, ["mul", ["add", 1, 0], -2]]])
    with pytest.raises(InputError, match="not quasi-affine"):
        expr_from_json(["mul", ["add", "d0", 0], ["add", "d1", 0]], quasi_affine=True)


def test_lists_that_contain_themselves() -> None:
    loop: list[Any] = ["add", 1, 2]
    loop[2] = loop
    with pytest.raises(InputError, match=r"results\[0\]\[2\]: the list contains itself"):
        map_from_json({"dims": [], "results": [loop]})


BASE = {"dims": [["d0", 0, 3]], "results": ["d0"]}


@pytest.mark.parametrize(("data", "message"), [
    ([], "$: an empty list is no object; expected the keys dims, ranges"),
    (None, "$: null is no object"),
    ({"dims": []}, "$: the key `results` is missing"),
    ({**BASE, "dim": []}, "$: unknown key `dim`"),
    ({**BASE, "dims": {}}, "dims: an object is no list"),
    ({**BASE, "dims": [["d0", 0]]}, "dims[0]: unexpected a list of 2; expected [name, lo, hi]"),
    ({**BASE, "dims": ["d0"]}, "dims[0]: unexpected the string `d0`"),
    ({**BASE, "dims": [["", 0, 1]]}, "dims[0][0]: the string `` is no name for a variable"),
    ({**BASE, "dims": [["d 0", 0, 1]]}, "dims[0][0]: the string `d 0` is no name"),
    ({**BASE, "dims": [[0, 0, 1]]}, "dims[0][0]: the number `0` is no name"),
    ({**BASE, "dims": [["d0", "0", 1]]}, "dims[0][1]: the string `0` is no bound; expected an integer"),
    ({**BASE, "dims": [["d0", 0, 1.0]]}, "dims[0][2]: the number `1.0` is no bound"),
    ({**BASE, "dims": [["d0", 0, True]]}, "dims[0][2]: true is no bound"),
    ({**BASE, "ranges": [["d0", 0, 1]]}, "ranges[0][0]: duplicate variable `d0`"),
    ({**BASE, "rts": [["d0", 0, 1]]}, "rts[0][0]: duplicate variable `d0`"),
    ({**BASE, "results": ["d1"]}, "results[0]: unknown variable `d1`; expected `d0`"),
    ({**BASE, "results": [["add", "d0", ["mul", 2, "q"]]]}, "results[0][2][2]: unknown variable `q`"),
    ({**BASE, "results": [["sub", "d0", 1]]}, "results[0][0]: unknown operator `sub`; expected one of add, mul,"),
    ({**BASE, "results": [[]]}, "results[0]: an empty list where an expression stands"),
    ({**BASE, "results": [[3, 4, 5]]}, "results[0][0]: the number `3` where an operator stands"),
    ({**BASE, "results": [["add", "d0"]]}, "results[0]: `add` has 1 argument; expected at least 2 arguments"),
    ({**BASE, "results": [["mod", "d0", 2, 3]]}, "results[0]: `mod` has 3 arguments; expected 2 arguments"),
    ({**BASE, "results": [["fdiv", "d0", 0]]}, "results[0][2]: division by zero"),
    ({**BASE, "results": [["mod", 7, "d0"]]}, "results[0][2]: the divisor is not a constant"),
    ({**BASE, "results": [["mul", "d0", "d0"]]}, "results[0]: a product of two variables"),
    ({**BASE, "results": [None]}, "results[0]: null is no expression"),
    ({**BASE, "results": [1.5]}, "results[0]: the number `1.5` is no expression"),
    ({**BASE, "results": [False]}, "results[0]: false is no expression"),
    ({**BASE, "results": "d0"}, "results: the string `d0` is no list"),
    ({**BASE, "constraints": [["d0", 0]]}, "constraints[0]: unexpected a list of 2"),
    ({**BASE, "constraints": [[["mod", "d0", 0], 0, 1]]}, "constraints[0][0][2]: division by zero"),
    ({**BASE, "constraints": [["d0", 0, "1"]]}, "constraints[0][2]: the string `1` is no bound"),
    ({**BASE, "sources": [None]}, "sources: 1 sources for 0 runtime variables"),
    ({**BASE, "rts": [["r", 0, 1]], "sources": ["x"]}, "sources[0]: the string `x` is no object"),
    ({**BASE, "rts": [["r", 0, 1]], "sources": [{"hlo": "", "results": []}]},
        "sources[0].hlo: the source of a runtime variable is the text of one HLO instruction"),
    ({**BASE, "rts": [["r", 0, 1]], "sources": [{"hlo": "p", "results": ["q"]}]},
        "sources[0].results[0]: unknown variable `q`"),
    ({**BASE, "rts": [["r", 0, 1]], "sources": [{"hlo": "p", "results": ["r"]}]},
        "$: the sources of the runtime variables r need each other in a circle"),
])  # fmt: skip
def test_complaints_name_the_place(data: Any, message: str) -> None:
    for form in (data, dump_json(data)):
        with pytest.raises(InputError) as caught:
            map_from_json(form)
        assert str(caught.value).startswith(message)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("text", "message"), [
    ("", "line 1, column 1: the JSON ends too early; expected a JSON value"),
    ("{", "line 1, column 2: the JSON ends too early; expected a key in double quotes"),
    ("{,}", "line 1, column 2: unexpected `,`; expected a key in double quotes"),
    ('{"a" 1}', "line 1, column 6: unexpected `1`; expected `:`"),
    ('{"a": 1,}', "line 1, column 9: unexpected `}`; expected a key"),
    ('{"a": 1\n "b": 2}', 'line 2, column 2: unexpected `"`; expected `,` or `}` (opened in line 1, column 1)'),
    ('{"a": 1, "a": 2}', "line 1, column 10: duplicate key `a`"),
    ("[1, 2", "line 1, column 6: the JSON ends too early; expected `,` or `]`"),
    ("[1,, 2]", "line 1, column 4: unexpected `,`; expected a JSON value"),
    ("[1] 2", "line 1, column 5: unexpected `2`; expected the end of the JSON"),
    ("[01]", "line 1, column 2: unexpected `0`"),
    ("[NaN]", "line 1, column 2: unexpected `N`"),
    ("[tru]", "line 1, column 2: unexpected `t`"),
    ('["\\x"]', 'line 1, column 2: unexpected `"`; expected a string'),
    ('["a\nb"]', 'line 1, column 2: unexpected `"`; expected a string'),
    ("['a']", "line 1, column 2: unexpected `'`"),
    ("[1}", "line 1, column 3: unexpected `}`; expected `,` or `]`"),
])  # fmt: skip
def test_text_that_is_no_json(text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        load_json(text)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize("value", [
    None,
    True,
    False,
    0,
    -7,
    1.5,
    1e300,
    "",
    'a"\\\n\té\u2028😀',
    [],
    {},
    [[]],
    {"a": {}},
    [1, [2, {"x": [None]}], "y"],
])  # fmt: skip
def test_json_text_agrees_with_the_standard_library(value: Any) -> None:
    assert dump_json(value) == json.dumps(value)
    assert load_json(json.dumps(value)) == value
    assert load_json(f" \t\n{json.dumps(value, indent=2)}\r\n") == value
    assert load_json(json.dumps(value, ensure_ascii=False)) == value


def test_only_json_is_written() -> None:
    loop: list[Any] = []
    loop.append(loop)
    with pytest.raises(TooLargeError):
        dump_json(loop)
    with pytest.raises(TypeError, match="set has no JSON form"):
        dump_json([{1}])
