"""Maps of branches, loops, asynchronous pairs and collectives."""

from __future__ import annotations

import time

import numpy as np
import pytest
from computation_maps import computation_maps

from indexproof.core.analysis import ComputationMaps, ModuleMaps, Options
from indexproof.core.analysis.catalogue import OpCatalogue
from indexproof.core.hlo import Module, read_module
from indexproof.core.indexing_map import IndexingMap
from indexproof.core.op import DIRECTIONS, Direction
from indexproof.core.simplify_map import simplify_map
from indexproof.rules.catalog import RULES
from indexproof.rules.ops import op_reader, why_not
from indexproof.verify.modules import ModuleVerifier


def simplify(m: IndexingMap) -> IndexingMap:
    return simplify_map(m, RULES)


def analysed(text: str, direction: Direction = "output_to_input") -> tuple[Module, ComputationMaps]:
    module = read_module(text)
    catalogue = OpCatalogue(op_reader(module), why_not)
    return module, computation_maps(module, catalogue, simplify, direction=direction)


def shown(maps: ComputationMaps) -> dict[tuple[int, int], list[str]]:
    return {key: [repr(m) for m in found] for key, found in maps.items()}


# ------------------------------------------------------------------------------------------------------------- branches
CONDITIONAL = """
flipped {
  x = f32[4] parameter(0)
  ROOT r = f32[4] reverse(x), dimensions={0}
}
first {
  t = (f32[4], f32[9]) parameter(0)
  ROOT r = f32[4] get-tuple-element(t), index=0
}
ENTRY e {
  p = pred[] parameter(0)
  a = f32[4] parameter(1)
  b = f32[4] parameter(2)
  c = f32[9] parameter(3)
  t = (f32[4], f32[9]) tuple(b, c)
  ROOT o = f32[4] conditional(p, a, t), true_computation=flipped, false_computation=first
}
"""


def test_every_branch_counts_and_the_choice_too() -> None:
    _, maps = analysed(CONDITIONAL)
    assert shown(maps) == {
        (0, 0): ["(d0) -> (), domain: d0 in [0, 3]"],
        (0, 1): ["(d0) -> (-d0 + 3), domain: d0 in [0, 3]"],
        (0, 2): ["(d0) -> (d0), domain: d0 in [0, 3]"],
    }
    assert maps.unknown == {}
    _, back = analysed(CONDITIONAL, "input_to_output")
    assert shown(back)[0, 0] == ["()[s0] -> (s0), domain: s0 in [0, 3]"]


def test_a_runtime_value_in_a_branch_is_named_with_its_branch() -> None:
    text = """
one {
  t = (f32[9], s32[]) parameter(0)
  x = f32[9] get-tuple-element(t), index=0
  k = s32[] get-tuple-element(t), index=1
  n = s32[] negate(k)
  ROOT r = f32[4] dynamic-slice(x, n), dynamic_slice_sizes={4}
}
two {
  t = (f32[9], s32[]) parameter(0)
  x = f32[9] get-tuple-element(t), index=0
  ROOT r = f32[4] slice(x), slice={[1:5]}
}
ENTRY e {
  i = s32[] parameter(0)
  x = f32[9] parameter(1)
  k = s32[] parameter(2)
  t = (f32[9], s32[]) tuple(x, k)
  ROOT o = f32[4] conditional(i, t, t), branch_computations={two, one}
}
"""
    _, maps = analysed(text)
    moved, fixed = sorted(maps[0, 1], key=lambda m: len(m.rts), reverse=True)
    assert repr(fixed) == "(d0) -> (d0 + 1), domain: d0 in [0, 3]"
    assert [v.source.hlo for v in moved.rts if v.source] == ["o#1/n = s32[] negate(k)"]


# ---------------------------------------------------------------------------------------------------------------- loops
LOOP = """
body {
  s = (s32[], f32[5,3], f32[5,3], f32[3]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[5,3] get-tuple-element(s), index=1
  y = f32[5,3] get-tuple-element(s), index=2
  h = f32[3] get-tuple-element(s), index=3
  one = s32[] constant(1)
  zero = s32[] constant(0)
  j = s32[] add(i, one)
  row = f32[1,3] dynamic-slice(x, i, zero), dynamic_slice_sizes={1,3}
  flat = f32[3] reshape(row)
  g = f32[3] add(h, flat)
  up = f32[1,3] reshape(g)
  z = f32[5,3] dynamic-update-slice(y, up, i, zero)
  ROOT r = (s32[], f32[5,3], f32[5,3], f32[3]) tuple(j, x, z, g)
}
cond {
  s = (s32[], f32[5,3], f32[5,3], f32[3]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(5)
  ROOT r = pred[] compare(i, n), direction=LT
}
ENTRY e {
  i = s32[] parameter(0)
  x = f32[5,3] parameter(1)
  y = f32[5,3] parameter(2)
  h = f32[3] parameter(3)
  s = (s32[], f32[5,3], f32[5,3], f32[3]) tuple(i, x, y, h)
  ROOT o = (s32[], f32[5,3], f32[5,3], f32[3]) while(s), condition=cond, body=body
}
"""


def test_a_loop_reads_what_it_reads_after_some_number_of_runs() -> None:
    _, maps = analysed(LOOP)
    assert maps.unknown == {}
    found = shown(maps)
    # a carried value that the body passes on is unchanged
    assert found[1, 1] == ["(d0, d1) -> (d0, d1), domain: d0 in [0, 4], d1 in [0, 2]"]
    assert {key for key in found if key[0] == 1} == {(1, 1)}
    assert (1, 1, 0) not in maps.at_most
    # the sum may read any row of x, in its own column; the counter decides how many
    assert found[3, 1] == ["(d0)[s0] -> (s0, d0), domain: d0 in [0, 2], s0 in [0, 4]"]
    assert found[3, 3] == ["(d0) -> (d0), domain: d0 in [0, 2]"]
    assert found[3, 0] == ["(d0) -> (), domain: d0 in [0, 2]"]
    assert "how often the body runs" in str(maps.at_most[3, 1, 0][0])
    # a row of the result is the initial row, or a sum
    assert "(d0, d1) -> (d0, d1), domain: d0 in [0, 4], d1 in [0, 2]" in found[2, 2]
    assert all(
        m.relation() <= {((a, b), (c, b)) for a in range(5) for b in range(3) for c in range(5)} for m in maps[2, 1]
    )


def test_both_directions_of_a_loop_are_the_same_relation() -> None:
    _, there = analysed(LOOP)
    _, back = analysed(LOOP, "input_to_output")
    assert set(there) == set(back)
    for key in there:
        one = {pair for m in there[key] for pair in m.relation()}
        assert one == {(b, a) for m in back[key] for a, b in m.relation()}, key


def test_a_loop_without_end_of_maps_says_so() -> None:
    shift = (
        "  part = f32[2] slice(h), slice={[0:2]}\n  none = f32[] constant(0)\n"
        "  shifted = f32[3] pad(part, none), padding=1_0\n  g = f32[3]"
    )
    text = LOOP.replace("add(h, flat)", "add(h, shifted)").replace("  g = f32[3]", shift)
    _, maps = analysed(text)
    # shifting by one runs out of elements after three runs: still finite
    assert maps.unknown == {}
    assert len(maps[3, 3]) == 3
    ring = read_module(
        """
body {
  x = f32[64] parameter(0)
  a = f32[63] slice(x), slice={[1:64]}
  b = f32[1] slice(x), slice={[0:1]}
  ROOT r = f32[64] concatenate(a, b), dimensions={0}
}
cond {
  x = f32[64] parameter(0)
  ROOT r = pred[] constant(true)
}
ENTRY e {
  x = f32[64] parameter(0)
  ROOT o = f32[64] while(x), condition=cond, body=body
}
"""
    )
    maps = computation_maps(ring, OpCatalogue(op_reader(ring), why_not), simplify)
    assert [str(r) for r in maps.unknown[0, 0, 0]] == ["o: how often the body runs decides what it reads"]


# --------------------------------------------------------------------------------------------------------- known loops
COUNTED = LOOP.replace(
    "i = s32[] parameter(0)\n  x = f32[5,3] parameter(1)", "i = s32[] constant(0)\n  x = f32[5,3] parameter(1)"
)
COUNTED = (
    COUNTED.replace("parameter(1)", "parameter(0)")
    .replace("parameter(2)", "parameter(1)")
    .replace("parameter(3)", "parameter(2)")
)


def relation(maps: ComputationMaps, root: int, parameter: int) -> set[tuple[tuple[int, ...], tuple[int, ...]]]:
    return {pair for m in maps.get((root, parameter), []) for pair in m.relation()}


def test_a_loop_whose_runs_are_known_is_exact() -> None:
    for direction in DIRECTIONS:
        _, maps = analysed(COUNTED, direction)
        assert maps.unknown == {}
        assert maps.at_most == {}
        # the counter depends on no parameter
        assert not any(root == 0 for root, _ in maps)
        pairs = {key: relation(maps, *key) for key in maps}
        if direction == "input_to_output":
            pairs = {key: {(b, a) for a, b in found} for key, found in pairs.items()}
        rows, columns = range(5), range(3)
        # a row of the result reads all rows up to itself; all initial rows are overwritten
        assert pairs[2, 0] == {((k, c), (j, c)) for k in rows for j in range(k + 1) for c in columns}
        assert pairs[2, 2] == {((k, c), (c,)) for k in rows for c in columns}
        assert (2, 1) not in pairs
        assert pairs[3, 0] == {((c,), (j, c)) for j in rows for c in columns}


RING = """
body {
  s = (s32[], f32[9]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[9] get-tuple-element(s), index=1
  a = f32[8] slice(x), slice={[1:9]}
  b = f32[1] slice(x), slice={[0:1]}
  c = f32[9] concatenate(a, b), dimensions={0}
  step = s32[] constant(STEP)
  j = s32[] add(i, step)
  ROOT r = (s32[], f32[9]) tuple(j, c)
}
cond {
  s = (s32[], f32[9]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(END)
  ROOT r = pred[] compare(i, n), direction=TEST
}
ENTRY e {
  i = s32[] constant(START)
  x = f32[9] parameter(0)
  s = (s32[], f32[9]) tuple(i, x)
  ROOT o = (s32[], f32[9]) while(s), condition=cond, body=body
}
"""


@pytest.mark.parametrize(("start", "step", "test", "end", "runs"), [
    (0, 1, "LT", 4, 4),
    (0, 1, "LE", 4, 5),
    (10, -3, "GT", 0, 4),
    (3, 2, "NE", 9, 3),
    (5, 1, "LT", 5, 0),
    (0, 1, "LT", 64, 64),
    (2147483646, 1, "GT", 0, 2),  # the counter wraps around
    (0, 1, "LT", 65, None),  # more runs than the limit on composition
    (0, 0, "EQ", 0, None),
])  # fmt: skip
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_a_rotation_by_one_in_each_run(
    start: int, step: int, test: str, end: int, runs: int | None, direction: Direction
) -> None:
    text = RING.replace("START", str(start)).replace("STEP", str(step)).replace("TEST", test)
    _, maps = analysed(text.replace("END", str(end)), direction)
    if runs is None:
        assert maps.unknown or maps.at_most
        return
    assert (maps.unknown, maps.at_most) == ({}, {})
    pairs = {((k,), ((k + runs) % 9,)) for k in range(9)}
    if direction == "input_to_output":
        pairs = {(b, a) for a, b in pairs}
    assert relation(maps, 1, 0) == pairs


def test_a_loop_in_a_called_computation_knows_what_it_is_given() -> None:
    text = RING.replace("START", "0").replace("STEP", "1").replace("TEST", "LT").replace("END", "3")
    text = text.replace("ENTRY e {", "inner {\n  s = (s32[], f32[9]) parameter(0)").replace(
        "  i = s32[] constant(0)\n  x = f32[9] parameter(0)\n  s = (s32[], f32[9]) tuple(i, x)\n", ""
    )
    text += """
ENTRY e {
  i = s32[] constant(0)
  x = f32[9] parameter(0)
  n = s32[] parameter(1)
  s = (s32[], f32[9]) tuple(i, x)
  a = (s32[], f32[9]) call(s), to_apply=inner
  y = f32[9] get-tuple-element(a), index=1
  t = (s32[], f32[9]) tuple(n, y)
  b = (s32[], f32[9]) call(t), to_apply=inner
  ROOT r = ((s32[], f32[9]), (s32[], f32[9])) tuple(a, b)
}
"""
    _, maps = analysed(text)
    assert relation(maps, 1, 0) == {((k,), ((k + 3) % 9,)) for k in range(9)}
    assert (1, 0, 0) not in {**maps.at_most, **maps.unknown}
    # the second loop starts with an unknown counter
    assert (3, 0, 0) in maps.at_most or (3, 0, 0) in maps.unknown


def test_loops_that_read_where_a_value_says_are_bounded_as_before() -> None:
    text = COUNTED.replace("dynamic-slice(x, i, zero)", "dynamic-slice(x, where, zero)").replace(
        "  row =",
        "  first = f32[1] slice(h), slice={[0:1]}\n  flat0 = f32[] reshape(first)\n  where = s32[] convert(flat0)\n  row =",
    )
    _, maps = analysed(text)
    assert (2, 0, 0) in maps.at_most


def test_many_runs_leave_few_maps() -> None:
    text = COUNTED.replace("[5,3]", "[40,3]").replace("constant(5)", "constant(40)")
    for direction in DIRECTIONS:
        _, maps = analysed(text, direction)
        assert (maps.unknown, maps.at_most) == ({}, {})
        assert len(maps[2, 0]) == len(maps[3, 0]) == 1
        rows = {((k, c), (j, c)) for k in range(40) for j in range(k + 1) for c in range(3)}
        found = relation(maps, 2, 0)
        assert ({(b, a) for a, b in found} if direction == "input_to_output" else found) == rows


def loops_in_loops(depth: int, count: int) -> str:
    """`x[k] += y[i]` in ``depth`` nested loops, where `i` is the sum of all counters."""
    carried = ", ".join(["s32[]"] * depth) + ", f32[64], f32[64]"
    text = "HloModule m\n"
    for level in reversed(range(depth)):
        names = [f"c{k}" for k in range(depth)]
        lines = [f"  s = ({carried}) parameter(0)"]
        lines += [f"  {n} = s32[] get-tuple-element(s), index={k}" for k, n in enumerate(names)]
        lines += [f"  {n} = f32[64] get-tuple-element(s), index={depth + k}" for k, n in enumerate("xy")]
        lines += ["  one = s32[] constant(1)", "  zero = s32[] constant(0)", f"  j = s32[] add(c{level}, one)"]
        if level == depth - 1:
            sums = " ".join(names)
            lines += ["  t0 = s32[] copy(zero)"]
            lines += [f"  t{k + 1} = s32[] add(t{k}, {n})" for k, n in enumerate(sums.split())]
            lines += [
                f"  e = f32[1] dynamic-slice(y, t{depth}), dynamic_slice_sizes={{1}}",
                f"  o = f32[1] dynamic-slice(x, c{level}), dynamic_slice_sizes={{1}}",
                "  a = f32[1] add(e, o)",
                f"  z = f32[64] dynamic-update-slice(x, a, c{level})",
            ]
        else:
            inner = [*names[: level + 1], "zero", *names[level + 2 :]]
            lines += [
                f"  i = ({carried}) tuple({', '.join(inner)}, x, y)",
                f"  w = ({carried}) while(i), condition=cond{level + 1}, body=body{level + 1}",
                f"  z = f32[64] get-tuple-element(w), index={depth}",
            ]
        names[level] = "j"
        lines += [f"  ROOT r = ({carried}) tuple({', '.join(names)}, z, y)"]
        text += f"body{level} {{\n" + "\n".join(lines) + "\n}\n"
        text += (
            f"cond{level} {{\n  s = ({carried}) parameter(0)\n  i = s32[] get-tuple-element(s), index={level}\n"
            f"  n = s32[] constant({count})\n  ROOT r = pred[] compare(i, n), direction=LT\n}}\n"
        )
        if level == 0:
            zeros = ", ".join(["zero"] * depth)
            text += (
                "ENTRY e {\n  zero = s32[] constant(0)\n  x = f32[64] parameter(0)\n  y = f32[64] parameter(1)\n"
                f"  s = ({carried}) tuple({zeros}, x, y)\n"
                f"  ROOT o = ({carried}) while(s), condition=cond0, body=body0\n}}\n"
            )
    # callees first
    return text


def test_loops_in_loops() -> None:
    _, maps = analysed(loops_in_loops(2, 4))
    assert (maps.unknown, maps.at_most) == ({}, {})
    assert relation(maps, 2, 1) == {((k,), (i + k,)) for k in range(4) for i in range(4)}
    assert relation(maps, 2, 0) == {((k,), (k,)) for k in range(64)}


def test_loops_in_loops_in_loops_end() -> None:
    started = time.process_time()
    _, maps = analysed(loops_in_loops(4, 50))
    assert maps.unknown or maps.at_most
    assert time.process_time() - started < 60


def test_windows_over_windows_are_one() -> None:
    """Windows over windows are merged, so the number of ranges does not grow with each run of a loop."""
    windows = "  none = f32[] constant(0)\n  c = f32[9] reduce-window(x, none), window={size=3 pad=1_1}, to_apply=sum\n"
    text = RING.replace("START", "0").replace("STEP", "1").replace("TEST", "LT").replace("END", "30")
    text = text.replace("  c = f32[9] concatenate(a, b), dimensions={0}\n", windows)
    text = "sum { l = f32[] parameter(0)\n r = f32[] parameter(1)\n ROOT s = f32[] add(l, r) }\n" + text
    for runs in (3, 30):
        _, maps = analysed(text.replace("constant(30)", f"constant({runs})"))
        assert (maps.unknown, maps.at_most) == ({}, {})
        assert relation(maps, 1, 0) == {((k,), (j,)) for k in range(9) for j in range(9) if abs(k - j) <= runs}


# ---------------------------------------------------------------------------------------------------- asynchronous pairs
ASYNC = """
inner {{
  p = f32[4,6] parameter(0)
  ROOT t = f32[6,4] transpose(p), dimensions={{1,0}}
}}
add {{
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b)
}}
ENTRY e {{
  x = f32[4,6] parameter(0)
  {0}
}}
"""


@pytest.mark.parametrize(("lines", "expected"), [
    ("s = ((f32[4,6]), f32[6,4], u32[]) async-start(x), calls=inner\n"
        "  u = ((f32[4,6]), f32[6,4], u32[]) async-update(s)\n  ROOT d = f32[6,4] async-done(u)",
        "(d0, d1) -> (d1, d0), domain: d0 in [0, 5], d1 in [0, 3]"),
    ("s = (f32[4,6]{0,1}, f32[4,6], u32[]) copy-start(x)\n  ROOT d = f32[4,6]{0,1} copy-done(s)",
        "(d0, d1) -> (d0, d1), domain: d0 in [0, 3], d1 in [0, 5]"),
    ("s = (f32[4,6], f32[8,6]) all-gather-start(x), replica_groups={{0,1}}, dimensions={0}\n"
        "  ROOT d = f32[8,6] all-gather-done(s)", "(d0, d1) -> (d0 mod 4, d1), domain: d0 in [0, 7], d1 in [0, 5]"),
    ("s = f32[4,6] all-reduce-start(x), replica_groups={{0,1}}, to_apply=add\n"
        "  ROOT d = f32[4,6] all-reduce-done(s)", "(d0, d1) -> (d0, d1), domain: d0 in [0, 3], d1 in [0, 5]"),
    ("s = (f32[4,6], f32[4,6], u32[], u32[]) collective-permute-start(x), source_target_pairs={{0,1},{1,0}}\n"
        "  ROOT d = f32[4,6] collective-permute-done(s)",
        "(d0, d1) -> (d0, d1), domain: d0 in [0, 3], d1 in [0, 5]"),
    ("b = (f32[4,6]) tuple(x)\n  o = (f32[4,6]) opt-barrier(b)\n"
        "  ROOT d = f32[4,6] get-tuple-element(o), index=0",
        "(d0, d1) -> (d0, d1), domain: d0 in [0, 3], d1 in [0, 5]"),
    ("b = (f32[4,6]) tuple(x)\n  o = (f32[4,6]) optimization-barrier(b)\n"
        "  ROOT d = f32[4,6] get-tuple-element(o), index=0",
        "(d0, d1) -> (d0, d1), domain: d0 in [0, 3], d1 in [0, 5]"),
    ("s = ((f32[4,6]), f32[2,3], u32[]) slice-start(x), slice={[1:3], [0:6:2]}\n"
        "  u = ((f32[4,6]), f32[2,3], u32[]) slice-update(s)\n  ROOT d = f32[2,3] slice-done(u)",
        "(d0, d1) -> (d0 + 1, d1 * 2), domain: d0 in [0, 1], d1 in [0, 2]"),
    ("s = ((f32[4,6]), f32[6,4]) fusion-start(x), kind=kLoop, calls=inner\n" "  ROOT d = f32[6,4] fusion-done(s)",
        "(d0, d1) -> (d1, d0), domain: d0 in [0, 5], d1 in [0, 3]"),
    ("s = ((f32[4,6]), f32[6,4]) call-start(x), to_apply=inner\n  ROOT d = f32[6,4] call-done(s)",
        "(d0, d1) -> (d1, d0), domain: d0 in [0, 5], d1 in [0, 3]"),
    ("k = token[] after-all()\n  ROOT d = f32[4,6] add-dependency(x, k)",
        "(d0, d1) -> (d0, d1), domain: d0 in [0, 3], d1 in [0, 5]"),
])  # fmt: skip
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_a_pair_is_the_operation_that_it_performs(lines: str, expected: str, direction: Direction) -> None:
    text = ASYNC.format(lines)
    _, maps = analysed(text, direction)
    assert maps.unknown == {}
    if direction == "output_to_input":
        assert shown(maps) == {(0, 0): [expected]}
        return
    _, back = analysed(text)
    assert {(b, a) for m in maps[0, 0] for a, b in m.relation()} == {p for m in back[0, 0] for p in m.relation()}


def test_the_start_of_an_operation_without_map_is_opaque() -> None:
    text = ASYNC.format(
        's = ((f32[4,6]), f32[3], s32[]) custom-call-start(x), custom_call_target="f"\n'
        "  ROOT d = f32[3] custom-call-done(s)"
    )
    _, maps = analysed(text)
    assert [(u.instruction, u.reason[:3]) for u in maps.unknown[0, 0, 0]] == [("s", "f: ")]
    # the second half of another operation
    for opcode in ("recv-done", "slice-done", "slice-update"):
        _, maps = analysed(text.replace("custom-call-done(s)", f"{opcode}(s)"))
        assert [u.instruction for u in maps.unknown[0, 0, 0]] == ["d"]


# ---------------------------------------------------------------------------------------------------------- collectives
def collective(lines: str, shape: str = "f32[4,6]") -> str:
    return f"add {{\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT r = f32[] add(a, b)\n}}\nENTRY e {{\n  x = {shape} parameter(0)\n  {lines}\n}}\n"  # noqa: E501


GROUPS = "replica_groups={{0,1},{2,3}}"


Pairs = set[tuple[tuple[int, ...], tuple[int, ...]]]


def at(maps: ComputationMaps, position: int, others: int = 0) -> Pairs:
    """Return the relation on the replica at a position of its group, and at one of its group of `OTHERS`."""
    pairs = set()
    for m in maps[0, 0]:
        held = {v.source.hlo: np.array(others if OTHERS in v.source.hlo else position) for v in m.rts if v.source}
        assert all(text.startswith("replica-position = u32[] ") for text in held)
        pairs |= m.relation(operands=held)
    return pairs


OTHERS = "replica_groups={{0,2},{1,3}}"
COLLECTIVES = {
    f"{opcode} {dimension} {groups}": (opcode, dimension, groups)
    for opcode in ("all-gather", "all-reduce", "all-to-all", "reduce-scatter", "collective-permute")
    for dimension in ((0, 1) if opcode not in ("all-reduce", "collective-permute") else (0,))
    for groups in (GROUPS, OTHERS)
}


def performed(opcode: str, dimension: int, groups: str, arrays: list[np.ndarray]) -> list[np.ndarray]:
    """Return what four replicas hold after a collective, as arrays of sets."""
    found = []
    for r in range(4):
        group = [{0: 0, 1: 0, 2: 2, 3: 2}[r] + k for k in (0, 1)] if groups == GROUPS else [r % 2, r % 2 + 2]
        place, held = group.index(r), [arrays[q] for q in group]
        pieces = [np.split(a, 2, dimension)[place] if a.shape[dimension] % 2 == 0 else a for a in held]
        found.append(
            {
                "all-gather": lambda held=held: np.concatenate(held, dimension),
                "all-reduce": lambda held=held: held[0] | held[1],
                "all-to-all": lambda pieces=pieces: np.concatenate(pieces, dimension),
                "reduce-scatter": lambda pieces=pieces: pieces[0] | pieces[1],
                "collective-permute": lambda held=held, place=place: held[1 - place],
            }[opcode]()
        )
    return found


def line(name: str, operand: str, shape: tuple[int, ...], opcode: str, dimension: int, groups: str) -> str:
    stated = f"{groups}, dimensions={{{dimension}}}"
    if opcode == "collective-permute":
        a, b, c, d = (0, 1, 2, 3) if groups == GROUPS else (0, 2, 1, 3)
        stated = f"source_target_pairs={{{{{a},{b}}},{{{b},{a}}},{{{c},{d}}},{{{d},{c}}}}}"
    elif opcode == "all-reduce":
        stated = f"{groups}, to_apply=add"
    elif opcode == "reduce-scatter":
        stated += ", to_apply=add"
    return f"{name} = f32[{shape[0]},{shape[1]}] {opcode}({operand}), {stated}"


@pytest.mark.parametrize("second", COLLECTIVES)
def test_what_replicas_send_was_computed_at_their_own_position(second: str) -> None:
    """Two collectives in turn read what four replicas hold after both; maps that say so read more."""
    exact = 0
    for first in COLLECTIVES.values():
        array = np.empty((4, 4), object)
        for index in np.ndindex(array.shape):
            array[index] = {index}
        between = performed(*first, [array] * 4)
        after = performed(*COLLECTIVES[second], between)
        lines = line("s", "x", between[0].shape, *first)
        last = line("g", "s", after[0].shape, *COLLECTIVES[second])
        module = collective(f"{lines}\n  ROOT {last}", "f32[4,4]")
        for direction in DIRECTIONS:
            _, maps = analysed(module, direction)
            assert not maps.unknown
            for r in range(4):
                place, other = r % 2, r // 2
                found = at(maps, place, other)
                found = found if direction == "output_to_input" else {(o, i) for i, o in found}
                truth = {(o, i) for o in np.ndindex(after[r].shape) for i in after[r][o]}
                assert found == truth if not maps.at_most else found >= truth, (first, second, r)
            exact += not maps.at_most
    assert exact


def test_what_is_kept_and_sent_is_exact_where_it_is_kept() -> None:
    scattered = line("s", "x", (2, 6), "reduce-scatter", 0, GROUPS)
    _, maps = analysed(collective(f"{scattered}\n  ROOT {line('g', 's', (4, 6), 'all-gather', 0, GROUPS)}"))
    assert [u.instruction for u in maps.at_most[0, 0, 0]] == ["s"]
    gathered = line("g", "s", (4, 6), "all-gather", 0, GROUPS)
    _, maps = analysed(collective(f"{scattered}\n  {gathered}\n  ROOT t = (f32[2,6], f32[4,6]) tuple(s, g)"))
    assert [*maps.at_most] == [(1, 0, 0)]
    assert at(maps, 1) == {((a, b), (a + 2, b)) for a in range(2) for b in range(6)}
    # so is an address that replicas compute
    address = "i = s32[] parameter(1)\n  z = s32[] constant(0)"
    sliced = f"{address}\n  s = f32[2,6] dynamic-slice(x, i, z), dynamic_slice_sizes={{2,6}}"
    _, maps = analysed(collective(f"{sliced}\n  ROOT {gathered}"))
    assert [u.instruction for u in maps.at_most[0, 0, 0]] == ["s"]


def test_a_loop_of_collectives_reads_at_any_position() -> None:
    text = (
        collective("").split("ENTRY")[0]
        + f"""
body {{
  p = (s32[], f32[4,4]) parameter(0)
  k = s32[] get-tuple-element(p), index=0
  v = f32[4,4] get-tuple-element(p), index=1
  one = s32[] constant(1)
  n = s32[] add(k, one)
  {line("w", "v", (4, 4), "all-to-all", 0, GROUPS)}
  ROOT r = (s32[], f32[4,4]) tuple(n, w)
}}
condition {{
  p = (s32[], f32[4,4]) parameter(0)
  k = s32[] get-tuple-element(p), index=0
  most = s32[] constant(2)
  ROOT c = pred[] compare(k, most), direction=LT
}}
ENTRY e {{
  x = f32[4,4] parameter(0)
  k = s32[] constant(0)
  t = (s32[], f32[4,4]) tuple(k, x)
  w = (s32[], f32[4,4]) while(t), condition=condition, body=body
  ROOT o = f32[4,4] get-tuple-element(w), index=1
}}
"""
    )
    _, maps = analysed(text)
    assert maps.at_most
    # two exchanges in turn change nothing
    assert at(maps, 0) >= {(index, index) for index in np.ndindex(4, 4)}


def test_a_component_of_an_index_is_followed_to_its_part() -> None:
    text = """
ENTRY e {
  x = f32[8,64] parameter(0)
  i = s32[8,5] parameter(1)
  r = s32[8,5,1] iota(), iota_dimension=0
  c = s32[8,5,1] reshape(i)
  v = s32[8,5,2] concatenate(r, c), dimensions={2}
  ROOT g = f32[8,5] gather(x, v), offset_dims={}, collapsed_slice_dims={0,1}, start_index_map={0,1},
    index_vector_dim=2, slice_sizes={1,1}
}
"""
    (m,) = analysed(text)[1][0, 0]
    (value,) = m.rts
    assert m.results == (m.dim_vars[0], value.expr)
    assert value.source.hlo.startswith("i = ")
    assert value.source.results == m.dim_vars


def test_an_exchange_of_tuples_is_the_exchange_of_the_array() -> None:
    whole = f"ROOT o = f32[4,6] all-to-all(x), {GROUPS}, dimensions={{1}}"
    parts = (
        "a = f32[4,3] slice(x), slice={[0:4], [0:3]}\n  b = f32[4,3] slice(x), slice={[0:4], [3:6]}\n"
        f"  t = (f32[4,3], f32[4,3]) all-to-all(a, b), {GROUPS}\n"
        "  u = f32[4,3] get-tuple-element(t), index=0\n  v = f32[4,3] get-tuple-element(t), index=1\n"
        "  ROOT o = f32[4,6] concatenate(u, v), dimensions={1}"
    )
    for direction in DIRECTIONS:
        one, two = (analysed(collective(lines), direction)[1] for lines in (whole, parts))
        for p in (0, 1):
            assert at(one, p) == at(two, p) != set()


def test_several_operands_are_reduced_each_by_itself() -> None:
    text = """
add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b)
}
ENTRY e {
  x = f32[4] parameter(0)
  y = f32[2,3] parameter(1)
  ROOT o = (f32[4], f32[2,3]) all-reduce(x, y), replica_groups={}, to_apply=add
}
"""
    _, maps = analysed(text)
    assert set(maps) == {(0, 0), (1, 1)}


def test_groups_that_are_not_stated_are_told_by_the_shapes_or_missed() -> None:
    _, maps = analysed(collective("ROOT o = f32[8,6] all-gather(x), dimensions={0}"))
    assert shown(maps)[0, 0] == ["(d0, d1) -> (d0 mod 4, d1), domain: d0 in [0, 7], d1 in [0, 5]"]
    _, maps = analysed(collective("ROOT o = f32[4,6] all-to-all(x), dimensions={0}"))
    assert "how many replicas" in str(maps.unknown[0, 0, 0][0])


# ------------------------------------------------------------------------------------------------- what has no map, size
def test_a_call_of_unknown_code_is_named() -> None:
    text = collective('ROOT o = f32[4,6] custom-call(x), custom_call_target="mystery"')
    module, maps = analysed(text)
    assert [str(r) for r in maps.unknown[0, 0, 0]] == [
        "o: mystery: what the called code reads is not part of the program"
    ]
    catalogue = OpCatalogue(op_reader(module), why_not)
    assert list(ModuleMaps(module, Options(catalogue)).unmapped("e")) == ["o"]
    known = collective('ROOT o = f32[4,6] custom-call(x), custom_call_target="Sharding"')
    assert analysed(known)[1].unknown == {}


@pytest.mark.parametrize("target", ["Sharding", "SPMDShardToFullShape", "xla.sdy.FuncResultSharding", "Pin"])
def test_a_call_about_devices_moves_nothing_or_takes_a_part(target: str) -> None:
    _, maps = analysed(collective(f'ROOT o = f32[4,6] custom-call(x), custom_call_target="{target}"'))
    assert shown(maps) == {(0, 0): ["(d0, d1) -> (d0, d1), domain: d0 in [0, 3], d1 in [0, 5]"]}
    assert not maps.at_most
    _, maps = analysed(collective(f'ROOT o = f32[2,6] custom-call(x), custom_call_target="{target}"'))
    assert shown(maps) == {(0, 0): ["(d0, d1)[s0] -> (s0, d1), domain: d0 in [0, 1], d1 in [0, 5], s0 in [0, 3]"]}
    assert [r.instruction for r in maps.at_most[0, 0, 0]] == ["o"]
    _, maps = analysed(collective(f'ROOT o = f32[24] custom-call(x), custom_call_target="{target}"'))
    assert [r.instruction for r in maps.unknown[0, 0, 0]] == ["o"]


def test_bounds_are_said_wherever_they_come_from() -> None:
    text = """
ENTRY e {
  a = f32[2,3,3] parameter(0)
  b = f32[2] parameter(1)
  z = s32[] parameter(2)
  c = f32[2,3,3] cholesky(a), lower=true
  t = f32[3,3,2] transpose(c), dimensions={1,2,0}
  n = (f32[3,3,2], f32[2], f32[2]) batch-norm-training(t, b, b), epsilon=0.1, feature_index=2
  m = f32[2] get-tuple-element(n), index=1
  p = f32[2] collective-permute(m, b, z, z), source_target_pairs={{0,1}}, slice_sizes={{1}}
  ROOT r = (f32[2], f32[2]) tuple(m, p)
}
"""
    for direction in DIRECTIONS:
        _, maps = analysed(text, direction)
        assert maps.unknown == {}
        said = {key: {r.instruction for r in reasons} for key, reasons in maps.at_most.items()}
        # the mean depends on nothing but the array
        assert said == {(0, 0, 0): {"c"}, (1, 0, 0): {"c", "p"}, (1, 1, 0): {"p"}, (1, 2, 0): {"p"}}
    assert shown(analysed(text)[1])[0, 0] == [
        "(d0)[s0, s1] -> (d0, s0, s1), domain: d0 in [0, 1], s0 in [0, 2], s1 in [0, 2]"
    ]


def test_slices_that_begin_where_tuples_say() -> None:
    text = """
ENTRY e {
  a = f32[4,4] parameter(0)
  b = f32[4,4] parameter(1)
  z = s32[] parameter(2)
  s = (s32[], s32[]) tuple(z, z)
  ROOT p = f32[4,4] collective-permute(a, b, s, s), source_target_pairs={{0,1}}, slice_sizes={{1,1}}
}
"""
    for direction in DIRECTIONS:
        module, maps = analysed(text, direction)
        assert maps.unknown == {}
        assert maps.at_most.keys() == {(0, 0, 0), (0, 1, 0), (0, 2, 0)}
    report = ModuleVerifier(module).check(module.entry)
    assert report.failed == []
    assert {c.where for c in report.checked if c.kind == "sound"} == {"p"}


def test_what_is_received_is_known_from_its_receipt_on() -> None:
    text = """
ENTRY e {
  k = token[] after-all()
  x = f32[4] parameter(0)
  s = (f32[4], u32[], token[]) send(x, k), channel_id=1
  d = token[] send-done(s), channel_id=1
  r = (f32[4], u32[], token[]) recv(k), channel_id=2
  v = (f32[4], token[]) recv-done(r), channel_id=2
  g = f32[4] get-tuple-element(v), index=0
  ROOT o = (f32[4], u32[], token[]) tuple(g, i, d)
}
""".replace("  ROOT", "  i = u32[] partition-id()\n  ROOT")
    module, maps = analysed(text)
    assert (dict(maps), maps.unknown) == ({}, {})
    catalogue = OpCatalogue(op_reader(module), why_not)
    assert list(ModuleMaps(module, Options(catalogue)).unmapped("e")) == ["s", "r"]


RECEIVED = """
body {
  c = (f32[4]) parameter(0)
  k = token[] after-all()
  r = (f32[4], u32[], token[]) recv(k), channel_id=1
  v = (f32[4], token[]) recv-done(r), channel_id=1
  x = f32[4] get-tuple-element(c), index=0
  s = (f32[4], u32[], token[]) send(x, k), channel_id=1
  d = token[] send-done(s), channel_id=1
  g = f32[4] get-tuple-element(v), index=0
  ROOT o = (f32[4]) tuple(g)
}
ENTRY e {
  y = f32[4] parameter(0)
  t = (f32[4]) tuple(y)
  b = (f32[4]) call(t), to_apply=body
  a = f32[4] get-tuple-element(b), index=0
  n = f32[4] negate(y)
  ROOT o = (f32[4], f32[4]) tuple(a, n)
}
"""


def test_what_the_program_itself_sends_to_another_replica_may_be_read() -> None:
    for direction in DIRECTIONS:
        _, maps = analysed(RECEIVED, direction)
        assert maps.unknown.keys() == {(0, 0, 0)}
        assert str(maps.unknown[0, 0, 0][0]).startswith("b/r: ")
        _, maps = analysed(RECEIVED.replace("channel_id=1", "channel_id=1, is_host_transfer=true"), direction)
        assert maps.unknown == {}


def test_a_call_that_does_not_fit_says_so() -> None:
    text = """
f {
  x = f32[4,6,1] parameter(0)
  ROOT r = f32[4,6,1] negate(x)
}
ENTRY e {
  x = f32[4,6] parameter(0)
  ROOT o = f32[4,6] call(x), to_apply=f
}
"""
    _, maps = analysed(text)
    assert str(maps.unknown[0, 0, 0][0]) == "o: f is of f32[4,6,1] where the call has f32[4,6]"


def test_a_chain_of_diamonds_stays_small() -> None:
    adds = "\n".join(f"  v{k + 1} = f32[8,8] add(v{k}, v{k})" for k in range(40))
    turns = "\n".join(
        f"  t{k} = f32[8,8] transpose(w{k}), dimensions={{1,0}}\n  w{k + 1} = f32[8,8] add(w{k}, t{k})"
        for k in range(40)
    )
    text = f"ENTRY e {{\n  v0 = f32[8,8] parameter(0)\n{adds}\n  w0 = f32[8,8] copy(v40)\n{turns}\n  ROOT r = f32[8,8] copy(w40)\n}}\n"  # noqa: E501
    start = time.process_time()
    for direction in DIRECTIONS:
        _, maps = analysed(text, direction)
        # 2^80 paths, two maps
        assert sorted(shown(maps)[0, 0]) == [
            "(d0, d1) -> (d0, d1), domain: d0 in [0, 7], d1 in [0, 7]",
            "(d0, d1) -> (d1, d0), domain: d0 in [0, 7], d1 in [0, 7]",
        ]
    assert time.process_time() - start < 5


def test_sorted_operands_depend_on_the_keys_that_are_compared() -> None:
    text = """
less {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  c = s32[] parameter(2)
  d = s32[] parameter(3)
  ROOT r = pred[] compare(a, b), direction=LT
}
ENTRY e {
  x = f32[4,6] parameter(0)
  y = s32[4,6] parameter(1)
  ROOT o = (f32[4,6], s32[4,6]) sort(x, y), dimensions={1}, to_apply=less
}
"""
    _, maps = analysed(text)
    row = ["(d0, d1)[s0] -> (d0, s0), domain: d0 in [0, 3], d1 in [0, 5], s0 in [0, 5]"]
    assert shown(maps) == {(0, 0): row, (1, 0): row, (1, 1): row}


def test_an_instruction_of_a_called_computation() -> None:
    module = read_module(LOOP)
    catalogue = OpCatalogue(op_reader(module), why_not)
    maps = ModuleMaps(module, Options(catalogue, simplify)).instruction("z", "body", "output_to_input")
    assert set(maps) == {(0, 0), (0, 1), (0, 2), (0, 3)}


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_a_loop_over_another_tuple_than_its_body_has_no_map(direction: Direction) -> None:
    text = """
body {
  s = (s32[], f32[4]) parameter(0)
  ROOT t = (s32[], f32[4]) copy(s)
}
less {
  s = (s32[], f32[4]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  ROOT p = pred[] compare(i, i), direction=LT
}
ENTRY e {
  i = s32[] parameter(0)
  t = (s32[]) tuple(i)
  ROOT w = (s32[], f32[4]) while(t), condition=less, body=body
}
"""
    _, maps = analysed(text, direction)
    assert not any(found for found in maps.values())
    assert {u.instruction for found in maps.unknown.values() for u in found} == {"w"}
