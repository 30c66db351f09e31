"""Modules as values: users of instructions, callers of computations, attributes by name, headers and source tables."""

from __future__ import annotations

import pickle
import random
from dataclasses import replace

import pytest

from indexproof.core.errors import InputError
from indexproof.core.hlo import Instruction, format_module, read_instruction, read_module

LOOP = """HloModule loop, input_output_alias={ {0}: (0, {}, may-alias), {1,2}: (1, {3}, must-alias) }

body {
  s = (s32[], f32[4]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[4] get-tuple-element(s), index=1
  unused = f32[4] negate(x)
  one = s32[] constant(1)
  j = s32[] add(i, one)
  y = f32[4] add(x, x)
  ROOT t = (s32[], f32[4]) tuple(j, y)
}

less {
  s = (s32[], f32[4]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(10)
  ROOT c = pred[] compare(i, n), direction=LT
}

ENTRY main {
  s = (s32[], f32[4]) parameter(0)
  w = (s32[], f32[4]) while(s), condition=%less, body=%body, backend_config={"known_trip_count":{"n":"10"}}
  c = f32[4] custom-call(w), custom_call_target="a\\"b\\\\", called_computations={%less, body}
  ROOT r = f32[4] map(c), dimensions={0}, to_apply=other
}
"""


def test_who_reads_whom() -> None:
    body = read_module(LOOP).computation("%body")
    names = [i.name for i in body.instructions]
    assert names == ["s", "i", "x", "unused", "one", "j", "y", "t"]
    assert body.operand_positions == ((), (0,), (0,), (2,), (), (1, 4), (2, 2), (5, 6))
    assert body.users == ((1, 2), (5,), (3, 6), (), (5,), (7,), (7,), ())
    assert body.position("%j") == body.positions["j"] == 5
    assert body.instruction("j") is body.instructions[5]
    for missing in (body.position, body.instruction, read_module(LOOP).computation):
        with pytest.raises(KeyError):
            missing("nothing")


def test_free_operands_have_no_position() -> None:
    snippet = read_module("a = f32[2] add(f32[2] x, f32[2] y)\nb = f32[2] add(a, f32[2] x)").entry
    assert snippet.operand_positions == ((-1, -1), (0, -1))
    assert snippet.users == ((1,), ())


def test_who_calls_whom() -> None:
    module = read_module(LOOP)
    loop, call, _ = module.entry.instructions[1:]
    assert loop.calls == {"condition": ("less",), "body": ("body",)}
    assert loop.called == ("less", "body")
    assert call.calls == {"called_computations": ("less", "body")}
    assert [c.name for c in module.callees(loop)] == ["less", "body"]
    assert [c.name for c in module.callees(module.entry)] == ["less", "body"]
    assert module.entry.called == ("less", "body", "other")
    assert module.has_computation("%less")
    assert not module.has_computation("other")
    assert [(c.name, i.name) for c, i in module.callers["less"]] == [("main", "w"), ("main", "c")]
    assert [c.name for c in module.callees_first] == ["body", "less", "main"]


def test_computations_are_ordered_without_recursion() -> None:
    count = 5000
    random_ = random.Random(5)
    texts = [f"c{k} {{ ROOT a = f32[] call(), to_apply=c{k + 1} }}" for k in range(count)]
    texts.append(f"c{count} {{ ROOT a = f32[] constant(1) }}")
    random_.shuffle(texts)
    order = [c.name for c in read_module("\n".join(texts)).callees_first]
    assert order == [f"c{k}" for k in range(count, -1, -1)]
    with pytest.raises(InputError, match="'c3' calls itself"):
        _ = read_module(
            "c1 { ROOT a = f32[] call(), to_apply=c2 }\nc2 { ROOT a = f32[] call(), to_apply=c3 }\n"
            "c3 { ROOT a = f32[] call(), to_apply=c3 }"
        ).callees_first


def test_attributes_by_name() -> None:
    _, _, call, _ = read_module(LOOP).entry.instructions
    assert call.word("custom_call_target") == 'a"b\\'
    text = 'a = f32[] sort(f32[] b), is_stable=true, backend_config={}, metadata={op_name="x/\\303" id=3}'
    sort = read_instruction(text)
    assert sort.flag("is_stable")
    assert not sort.flag("other")
    assert [name for name, _ in sort.attributes] == ["is_stable", "backend_config", "metadata"]
    with pytest.raises(InputError, match="true or false"):
        sort.flag("metadata")
    permute = read_instruction("a = f32[] b(), source_target_pairs={{0,1},{1,0}}, other={{0,1},{2}}")
    assert permute.pairs("source_target_pairs") == ((0, 1), (1, 0))
    with pytest.raises(InputError, match="pairs of integers"):
        permute.pairs("other")


def groups_by_loop(shape: list[int], sizes: list[int], order: list[int]) -> list[list[int]]:
    """Compute the device numbers of the iota form by its definition."""
    places = [[]]
    for k in order:
        places = [[*place, (k, n)] for place in places for n in range(sizes[k])]
    numbers = []
    for place in places:
        number = 0
        for k, size in enumerate(sizes):
            number = number * size + dict(place)[k]
        numbers.append(number)
    return [numbers[k : k + shape[1]] for k in range(0, len(numbers), shape[1])]


@pytest.mark.parametrize(("text", "groups"), [
    ("{{0,2},{1,3}}", [[0, 2], [1, 3]]),
    ("{{0},{1,2}}", [[0], [1, 2]]),
    ("{}", []),
    ("{{}}", []),
    ("[2,4]<=[8]", groups_by_loop([2, 4], [8], [0])),
    ("[4,2]<=[2,4]T(1,0)", groups_by_loop([4, 2], [2, 4], [1, 0])),
    ("[6,4]<=[2,3,4]T(2,0,1)", groups_by_loop([6, 4], [2, 3, 4], [2, 0, 1])),
    ("[4,6]<=[2,3,4]T(1,2,0)", groups_by_loop([4, 6], [2, 3, 4], [1, 2, 0])),
    ("mesh['x'=8] {'x'}", [[0, 1, 2, 3, 4, 5, 6, 7]]),
    ("mesh['a'=2,'b'=4] {'a'}", groups_by_loop([4, 2], [2, 4], [1, 0])),
    ("mesh['a'=2,'b'=4]{'b'}", groups_by_loop([2, 4], [2, 4], [0, 1])),
    ("mesh['a'=2,'b'=3,'c'=4] {'c','a'}", groups_by_loop([3, 8], [2, 3, 4], [1, 2, 0])),
    ("mesh['a'=8] {'a':(2)2}", [[0, 2], [1, 3], [4, 6], [5, 7]]),
    ("mesh['a'=8] {'a':(4)2,'a':(1)2}", [[0, 4, 1, 5], [2, 6, 3, 7]]),
    ("mesh['a'=2,'b'=2], device_ids=([2,2]T(1,0)) {'b'}", [[0, 2], [1, 3]]),
    ("mesh['a'=2,'b'=2], device_ids=(3,1,2,0) {'a'}", [[3, 2], [1, 0]]),
])  # fmt: skip
def test_replica_groups(text: str, groups: list[list[int]]) -> None:
    found = read_instruction(f"a = f32[] all-reduce(f32[] b), replica_groups={text}").replica_groups()
    assert found == tuple(map(tuple, groups))


def test_replica_groups_as_printed() -> None:
    assert groups_by_loop([4, 2], [2, 4], [1, 0]) == [[0, 4], [1, 5], [2, 6], [3, 7]]
    for wrong in (
        *("[2,4]<=[9]", "[2,2]<=[2,2]T(0,0)", "[2,1048576]<=[2097152]", "[8]<=[8]", "{0,1}", "x"),
        *("mesh[] {'a'}", "mesh['a'=2] {}", "mesh['a'=2] {'b'}", "mesh['a'=6] {'a':(4)2}", "mesh['a'=4] {'a','a'}"),
        *("mesh['a'=2,'a'=2] {'a'}", "mesh['a'=4], device_ids=(0,1) {'a'}", "mesh['a'=2097152] {'a'}"),
    ):  # fmt: skip
        with pytest.raises(InputError, match="replica groups"):
            read_instruction(f"a = f32[] b(), replica_groups={wrong}").replica_groups()


def test_modules_are_values() -> None:
    module = read_module(LOOP)
    again = pickle.loads(pickle.dumps(module))
    assert again == module
    assert hash(again) == hash(module)
    assert again.entry.users == module.entry.users
    root = replace(module.entry.root, attributes=(("dimensions", "{1}"),))
    assert isinstance(root, Instruction)
    assert root.integers("dimensions") == (1,)
    assert root.has("dimensions")
    assert not root.has("to_apply")
    assert root != module.entry.root


@pytest.mark.parametrize(("layout", "message"), [
    ("{(f32[2)->f32[]}", "in a shape"),
    ("{(f32[2])}", "after the parameters"),
    ("{(f32[2])->f32[] x}", "after the result"),
    ("3", "in a layout of the entry"),
])  # fmt: skip
def test_a_malformed_layout_of_the_entry_is_reported_where_it_stands(layout: str, message: str) -> None:
    text = f"HloModule m, entry_computation_layout={layout}\nENTRY e {{ a = () tuple() }}"
    with pytest.raises(InputError, match=message) as caught:
        read_module(text)
    assert (caught.value.line, caught.value.source) == (1, text)


def test_a_layout_of_the_entry_is_kept() -> None:
    text = "(f32[2,3]{0,1:T(8,128)}, (s32[], /*index=5*/token[]))->f32[2]{0}"
    laid = read_module(f"HloModule m, entry_computation_layout={{{text}}}\nENTRY e {{ a = () tuple() }}")
    # the comment with its number is dropped
    assert "(s32[], token[])" in format_module(laid)
    assert read_module(format_module(laid)) == laid


TABLES = """HloModule m

FileNames
1 "a.py"
2 "/b\\"c.py"

FunctionNames
1 "main"
2 "f.<locals>.g"

FileLocations
1 {file_name_id=1 function_name_id=1 line=53 end_line=53 column=12 end_column=17}
2 {file_name_id=2 function_name_id=2 line=7 end_line=8 column=3 end_column=5}

StackFrames
1 {file_location_id=1 parent_frame_id=1}
2 {file_location_id=2 parent_frame_id=2}

ENTRY e {
  a = f32[] constant(1), metadata={op_name="x" stack_frame_id=2}
  b = f32[] negate(a), metadata={op_name="y" source_file="c.py" source_line=12}
  c = f32[] negate(a), metadata={op_name="y" stack_frame_id=3}
  ROOT d = f32[] negate(a)
}
"""


def test_source_tables_are_kept_as_written() -> None:
    module = read_module(TABLES)
    assert [t.name for t in module.tables] == ["FileNames", "FunctionNames", "FileLocations", "StackFrames"]
    assert module.tables[0].spelled == ((1, '"a.py"'), (2, '"/b\\"c.py"'))
    assert module.tables[3].spelled[1] == (2, "{file_location_id=2 parent_frame_id=2}")
    assert read_module(format_module(module)) == module
    spaced = read_module(TABLES.replace('1 "main"', ' 1   "main" '))
    assert spaced.tables == module.tables


def test_what_modules_show_of_themselves_is_short() -> None:
    module = read_module(
        "HloModule m\nf { ROOT p = f32[] parameter(0) }\nENTRY e { a = f32[] parameter(0)\n b = f32[] negate(a) }"
    )
    assert repr(module) == str(module) == "<Module m: 2 computations, 3 instructions, entry e>"
    assert repr(module.entry) == "<Computation e: 2 instructions, root b>"
    assert repr(module.computation("f")) == "<Computation f: 1 instruction, root p>"
