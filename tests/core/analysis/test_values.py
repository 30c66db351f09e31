"""Integers that do not depend on the arguments of a module: equal to numpy's, and unknown wherever they do depend."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from indexproof.core.analysis import values
from indexproof.core.analysis.tables import table_element
from indexproof.core.analysis.values import MOST_RUNS, evaluated, runs, specialized, values_of, wrapped
from indexproof.core.expr import var
from indexproof.core.hlo import Instruction, Module, read_module
from indexproof.core.op import DIRECTIONS
from indexproof.verify.analysed import module_maps

TYPES = ["s8", "u8", "s16", "u16", "s32", "u32", "s64", "u64"]
BINARY = {
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "minimum": np.minimum,
    "maximum": np.maximum,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "divide": lambda a, b: ((a - np.fmod(a, b)) // b).astype(a.dtype),  # towards zero
    "remainder": np.fmod,
}
UNARY = {"negate": np.negative, "not": np.invert, "abs": np.abs, "sign": np.sign}


def value(text: str) -> tuple[int, ...] | None:
    module = read_module(text)
    found = values_of({}, module.entry, {})
    return found.get(module.entry.root.name, {}).get(())


@pytest.mark.parametrize("element_type", TYPES)
@pytest.mark.parametrize("opcode", [*BINARY, *UNARY])
def test_machine_integers(opcode: str, element_type: str) -> None:
    rng = random.Random(f"{opcode} {element_type}")
    bits, signed = int(element_type[1:]), element_type[0] == "s"
    lo, hi = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
    dtype = np.dtype(("int" if signed else "uint") + str(bits))
    some = [lo, hi, 0, 1, hi - 1, *(rng.randint(lo, hi) for _ in range(6)), *range(2, 5)]
    for a in some:
        for b in some:
            if opcode in ("divide", "remainder") and (b == 0 or (a == lo and b == -1)):
                continue
            with np.errstate(over="ignore"):
                x, y = np.array([a], dtype), np.array([b], dtype)
                expected = BINARY[opcode](x, y) if opcode in BINARY else UNARY[opcode](x)
            given = "a, b" if opcode in BINARY else "a"
            text = (
                f"a = {element_type}[] constant({a})\nb = {element_type}[] constant({b})\n"
                f"r = {element_type}[] {opcode}({given})"
            )
            assert value(text) == (int(expected[0]),), (a, b)


@pytest.mark.parametrize(("text", "expected"), [
    ("a = s32[] constant(7)\nr = s32[1] reshape(a)", (7,)),
    ("a = s32[] constant(7)\nr = s32[2,2] broadcast(a), dimensions={}", (7, 7, 7, 7)),
    ("a = s32[] constant(300)\nr = u8[] convert(a)", (44,)),
    ("a = s8[] constant(-1)\nr = u32[] convert(a)", (4294967295,)),
    ("a = s32[] constant(-3)\nr = pred[] convert(a)", (1,)),
    ("a = s32[4] constant({5, 6, 7, 8})\nk = s32[] constant(9)\nr = s32[2] dynamic-slice(a, k)", (7, 8)),
    ("a = s32[2] constant({1, 2})\nb = s32[1] constant({7})\nr = s32[3] concatenate(a, b), dimensions={0}", (1, 2,
        7)),
    ("a = s32[] constant(3)\nr = s32[] slice(a), slice={}", (3,)),
    ("r = s32[2,3] iota(), iota_dimension=1", (0, 1, 2, 0, 1, 2)),
    ("a = s32[2] constant({1, 5})\nb = s32[] constant(2)\nc = s32[] constant(4)\nr = s32[2] clamp(b, a, c)", (2,
        4)),
    ("a = u8[] constant(200)\nb = u8[] constant(3)\nr = pred[] compare(a, b), direction=GT", (1,)),
    ("a = pred[] constant(false)\nb = s32[] constant(1)\nc = s32[] constant(2)\nr = s32[] select(a, b, c)", (2,)),
    ("a = pred[] constant(true)\nr = pred[] not(a)", (0,)),
    # unknown or unsupported
    ("a = s32[] parameter(0)\nb = s32[] constant(2)\nr = s32[] add(a, b)", None),
    ("a = f32[] constant(1)\nr = s32[] convert(a)", None),
    ("a = f32[] constant(1)\nr = f32[] negate(a)", None),
    ("a = s32[] constant(1)\nb = s32[] constant(0)\nr = s32[] divide(a, b)", None),
    ("a = s32[] constant(1)\nr = s32[] frobnicate(a)", None),
    ("a = s32[300] iota(), iota_dimension=0\nr = s32[300] negate(a)", None),
    ("a = s32[2] constant({...})\nr = s32[2] negate(a)", None),
    ("a = pred[] constant(true)\nb = pred[] constant(true)\nr = pred[] add(a, b)", None),
])  # fmt: skip
def test_values(text: str, expected: tuple[int, ...] | None) -> None:
    assert value(text) == expected


TABLES = {
    "reversed bits": [int(f"{k:06b}"[::-1], 2) for k in range(64)],
    "columns": [r * 20 + k for k in range(20) for r in range(16)],
    "three digits": [7 * (k // 20) ** 2 + 5 * (k // 5 % 4) - 2 * (k % 5) for k in range(60)],
    "nearest of 37": [(74 * k + 37) // 202 for k in range(101)],
    "squares": [k * k for k in range(30)],
    "drawn": random.Random(3).sample(range(50), 30),
}


@pytest.mark.parametrize("name", TABLES)
def test_closed_forms_of_tables(name: str) -> None:
    row, e = TABLES[name], var("k")
    found = table_element(row, (len(row),), (e,))
    assert (found is None) == (name in ("squares", "drawn"))
    if found is not None:
        assert [found.evaluate({e: k}) for k in range(len(row))] == row


def test_machine_integers_wrap_around() -> None:
    assert [wrapped(n, "s4") for n in (-9, -8, 7, 8, 16)] == [7, -8, 7, -8, 0]
    assert [wrapped(n, "u4") for n in (-1, 15, 16)] == [15, 15, 0]
    assert [wrapped(n, "pred") for n in (-1, 0, 2)] == [1, 0, 0]


CALLS = read_module("""
HloModule m
twice {
  x = s32[] parameter(0)
  y = f32[4] parameter(1)
  two = s32[] constant(2)
  p = s32[] multiply(x, two)
  d = f32[1] dynamic-slice(y, p), dynamic_slice_sizes={1}
  ROOT t = (s32[], f32[1]) tuple(p, d)
}
left { a = s32[] parameter(0) ROOT n = s32[] negate(a) }
right { ROOT a = s32[] parameter(0) }
ENTRY e {
  k = s32[] parameter(0)
  y = f32[4] parameter(1)
  c = (s32[], f32[1]) call(k, y), to_apply=twice
  g = s32[] get-tuple-element(c), index=0
  z = s32[] constant(0)
  p = pred[] compare(g, z), direction=GT
  b = s32[] conditional(p, g, g), true_computation=left, false_computation=right
  s = s32[] select(p, g, b)
  ROOT r = (s32[], s32[]) tuple(b, s)
}
""")


def everything(module: Module, k: int) -> dict[str, dict[tuple[int, ...], tuple[int, ...]]]:
    return values_of({c.name: c for c in module.computations}, module.entry, {(0, ()): (k,)})


def test_through_calls_tuples_and_branches() -> None:
    found = everything(CALLS, 3)
    assert found["r"] == {(0,): (-6,), (1,): (6,)}
    assert everything(CALLS, -3)["r"] == {(0,): (-6,), (1,): (-6,)}
    assert "y" not in found


def test_what_is_known_is_put_in() -> None:
    made = specialized(CALLS.entry, everything(CALLS, 3), "e@0")
    by_name = {i.name: i for i in made.instructions}
    assert (by_name["g"].opcode, by_name["g"].literal) == ("constant", "6")
    assert by_name["c"].opcode == "call"  # one element of its tuple is unknown
    assert [i.name for i in made.instructions] == [i.name for i in CALLS.entry.instructions]
    half = specialized(CALLS.entry, {"p": {(): (0,)}}, "e@1")
    by_name = {i.name: i for i in half.instructions}
    assert (by_name["b"].opcode, by_name["b"].called) == ("call", ("right",))
    assert (by_name["s"].opcode, [o.name for o in by_name["s"].operands]) == ("copy", ["b"])


def test_runs_of_a_loop() -> None:
    module = read_module("""
HloModule m
body { s = (s32[], u8[]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  a = u8[] get-tuple-element(s), index=1
  two = s32[] constant(2)
  j = s32[] add(i, two)
  b = u8[] multiply(a, a)
  ROOT t = (s32[], u8[]) tuple(j, b) }
cond { s = (s32[], u8[]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(7)
  ROOT p = pred[] compare(i, n), direction=LT }
ENTRY e { s = (s32[], u8[]) parameter(0)
  ROOT w = (s32[], u8[]) while(s), condition=cond, body=body }
""")
    computations = {c.name: c for c in module.computations}
    cond, body = computations["cond"], computations["body"]
    found = runs(computations, cond, body, {(0,): (1,), (1,): (3,)})
    assert found is not None
    assert [r.before for r in found] == [{(0,): (1,), (1,): (3,)}, {(0,): (3,), (1,): (9,)}, {(0,): (5,), (1,): (81,)}]
    assert runs(computations, cond, body, {(1,): (3,)}) is None
    assert runs(computations, cond, body, {(0,): (7,)}) == []
    assert runs(computations, cond, body, {(0,): (7 - 2 * MOST_RUNS - 1,)}) is None


@pytest.mark.parametrize(("line", "expected"), [
    ("r = pred[1] slice(b), slice={[1:2]}", (1,)),
    ("r = pred[2] reverse(b), dimensions={0}", (1, 1)),
    ("r = pred[2,3] broadcast(b), dimensions={0}", (1,)),
    ("r = pred[4] concatenate(b, b), dimensions={0}", (1,) * 4),
    ("r = pred[1,2] bitcast(b)", (1, 1)),
    ("r = s32[2] convert(b)", (1, 1)),
    ("i = s32[] constant(1)\nr = pred[1] dynamic-slice(b, i), dynamic_slice_sizes={1}", (1,)),
])  # fmt: skip
def test_a_predicate_that_is_broadcast_moves_as_an_array(line: str, expected: tuple[int, ...]) -> None:
    assert value(f"p = pred[] constant(true)\nb = pred[2] broadcast(p), dimensions={{}}\n{line}") == expected


def test_an_operation_without_operands_is_not_known() -> None:
    shape = read_module("a = s32[] constant(1)").entry.root.shape
    assert evaluated(Instruction("r", "add", shape), []) is None


@pytest.mark.parametrize("line", [
    "r = s32[] select(a)",
    "r = s32[] select(p, a)",
    "r = s32[] conditional(a), branch_computations={}",
    "r = s32[] conditional(), branch_computations={}",
    "r = s32[] conditional(t, a, a), true_computation=f, false_computation=f",
    "r = s32[] call(a), to_apply=nowhere",
    "r = s32[] fusion(a)",
    "r = s32[] get-tuple-element(), index=0",
    "r = pred[3] broadcast()",
    "r = s32[4] dynamic-slice(a, a)",
    "r = s32[4] dynamic-slice(v, a)",
    "r = s32[3] add(v, v)",
    "r = s32[2] iota()",
    "r = s32[2] iota(), iota_dimension=4",
    "r = pred[] compare(a, a), direction=5",
    "r = pred[] compare(a, a)",
    "r = s32[2] clamp(a, v, v, v)",
    "o = s32[2] reshape(a)\n  r = s32[1] slice(o), slice={[1:2]}",
    "o = s32[1] reshape(v)\n  r = s32[1] reverse(o), dimensions={0}",
    "o = (s32[], s32[]) tuple(a)\n  r = s32[] get-tuple-element(o), index=1",
    "r = s32[] while(a), condition=nowhere, body=nowhere",
])  # fmt: skip
def test_what_makes_no_sense_is_not_known(line: str) -> None:
    module = read_module(
        "HloModule m\nf { ROOT x = s32[] parameter(0) }\nENTRY e {\n  a = s32[] constant(1)\n"
        f"  v = s32[2] constant({{1, 2}})\n  p = pred[] constant(true)\n  t = (s32[]) tuple(a)\n  {line}\n}}"
    )
    computations = {c.name: c for c in module.computations}
    found = values_of(computations, module.entry, {})
    assert "r" not in found
    specialized(module.entry, found, "e@0")
    for direction in DIRECTIONS:
        module_maps(module).computation(module.entry, direction)


def test_layers_share_what_is_evaluated(monkeypatch: pytest.MonkeyPatch) -> None:
    """A causal mask that every layer makes anew, with other names."""
    layer = """
  i{k} = s32[4,4] iota(), iota_dimension=0
  j{k} = s32[4,4] iota(), iota_dimension=1
  m{k} = pred[4,4] compare(i{k}, j{k}), direction={direction}
  x{next} = f32[4,4] select(m{k}, x{k}, z)"""
    directions = ["GE", "GE", "LE", "GE"]
    layers = "".join(layer.format(k=k, next=k + 1, direction=d) for k, d in enumerate(directions))
    text = f"ENTRY e {{\n  x0 = f32[4,4] parameter(0)\n  z = f32[4,4] parameter(1){layers}\n}}"
    asked = []

    def counted(instruction: Instruction, *rest: Any) -> Any:
        asked.append(instruction.opcode)
        return evaluated(instruction, *rest)

    monkeypatch.setattr(values, "evaluated", counted)
    maps = module_maps(read_module(f"HloModule m\n{text}")).computation("e", DIRECTIONS[0]).leaves
    assert sorted(asked) == ["compare", "compare", "iota", "iota"]
    assert {at for m in maps[0, 0, 0].maps for at, _ in m.relation()} == {(k, k) for k in range(4)}
