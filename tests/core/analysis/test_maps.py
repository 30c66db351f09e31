"""Maps of computations against a reference that executes them and records which elements each element reads."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from computation_maps import computation_maps
from hypothesis import HealthCheck, given, settings

from indexproof import strategies
from indexproof.core.analysis import ComputationMaps, ModuleMaps, NoMap, OpMaps, Options, Reads
from indexproof.core.errors import InputError
from indexproof.core.expr import var
from indexproof.core.hlo import (
    Computation,
    Instruction,
    Module,
    Shape,
    fill_shapes,
    format_module,
    leaves,
    read_module,
    read_shape,
)
from indexproof.core.indexing_map import IndexingMap, RuntimeSource
from indexproof.core.op import Direction
from indexproof.rules.ops import catalogue

O2I: Direction = "output_to_input"
I2O: Direction = "input_to_output"
ELEMENTWISE = ("add", "negate", "multiply", "copy")


def boxes(prefix: str, dims: Any) -> list[tuple[str, int, int]]:
    return [(f"{prefix}{k}", 0, n - 1) for k, n in enumerate(dims)]


def d(k: int) -> Any:
    return var(f"d{k}")


class Extended:
    """The catalogue of ops, with methods of a subclass for opcodes that it does not have."""

    def maps(self, instruction: Instruction, direction: Direction) -> OpMaps:
        made = getattr(self, f"op_{instruction.opcode}", None)
        return catalogue.maps(instruction, direction) if made is None else made(instruction)


class Reference:
    """Executes a computation on integers, and on sets of parameter elements."""

    def __init__(self, module: Module, arguments: dict[int, list[np.ndarray]]) -> None:
        self.module = module
        self.values: dict[str, Any] = {}
        made = {}
        for p in module.entry.parameters:
            taints = []
            for leaf, a in enumerate(arguments[p.parameter_number]):
                taint = np.empty(a.shape, dtype=object)
                for at in np.ndindex(a.shape):
                    taint[at] = frozenset([(p.parameter_number, leaf, at)])
                taints.append(taint)
            made[p.parameter_number] = (arguments[p.parameter_number], taints)
        _, self.roots = self.run(module.entry, made, "")

    def run(self, computation: Computation, arguments: dict[int, Any], where: str) -> tuple[list[Any], list[Any]]:
        known: dict[str, tuple[list[Any], list[Any]]] = {}
        for i in computation.instructions:
            parts = [known[o.name] for o in i.operands]
            if i.opcode == "parameter":
                found = arguments[i.parameter_number]
            elif i.opcode in ("call", "fusion"):
                callee = self.module.computation(i.called[0])
                found = self.run(callee, dict(enumerate(parts)), where + i.name + "/")
            elif i.opcode == "tuple":
                found = tuple(list(itertools.chain(*(p[side] for p in parts))) for side in (0, 1))
            elif i.opcode == "get-tuple-element":
                sizes = [len(list(leaves(e))) for e in i.operands[0].shape.elements]
                start = sum(sizes[: i.integer("index")])
                found = tuple(side[start : start + sizes[i.integer("index")]] for side in parts[0])
            elif i.opcode == "constant":
                values = np.array(eval(i.literal.replace("{", "[").replace("}", "]")), dtype=np.int64)
                found = ([values], [full(values.shape)])
            elif i.opcode == "iota":
                values = np.indices(i.array.dims)[i.integer("iota_dimension")]
                found = ([values], [full(values.shape)])
            else:
                found = self.step(i, [p[0][0] for p in parts], [p[1][0] for p in parts])
            found = tuple([np.asarray(a) if side == 0 else array(a) for a in found[side]] for side in (0, 1))
            known[i.name] = found
            if len(found[0]) == 1:
                self.values[where + i.name] = found[0][0]
        return known[computation.root.name]

    def step(self, i: Instruction, v: list[Any], t: list[Any]) -> tuple[list[Any], list[Any]]:
        if i.opcode in ELEMENTWISE:
            value = {"add": lambda: v[0] + v[1], "multiply": lambda: v[0] * v[1]}.get(i.opcode, lambda: v[0])()
            value = -value if i.opcode == "negate" else value
            return [value], [join(*t)]
        if i.opcode == "dynamic-slice":
            starts = [min(max(int(s), 0), n - m) for s, n, m in zip(v[1:], v[0].shape, i.array.dims, strict=True)]
            cut = tuple(slice(s, s + m) for s, m in zip(starts, i.array.dims, strict=True))
            return [v[0][cut]], [join(t[0][cut], *(np.broadcast_to(x, i.array.dims) for x in t[1:]))]
        if i.opcode == "reduce":
            half = len(v) // 2
            over = i.integers("dimensions")
            taint = full([n for k, n in enumerate(v[0].shape) if k not in over])
            for at in np.ndindex(v[0].shape):
                to = tuple(n for k, n in enumerate(at) if k not in over)
                taint[to] = taint[to].union(*(x[at] for x in t[:half]), *(x[()] for x in t[half:]))
            return [x.sum(axis=over) for x in v[:half]], [taint] * half
        move = {
            "transpose": lambda x: x.transpose(i.integers("dimensions")),
            "reverse": lambda x: np.flip(x, i.integers("dimensions")),
            "slice": lambda x: x[tuple(slice(c.start, c.limit, c.stride) for c in i.strides())],
            "reshape": lambda x: x.reshape(i.array.dims),
            "broadcast": lambda x: np.broadcast_to(x.reshape([i.array.dims[k] if k in i.integers("dimensions") else
                1 for k in range(i.array.rank)]), i.array.dims),
        }  # fmt: skip
        if i.opcode == "pad":
            value, taint = np.full(i.array.dims, v[1]), full(i.array.dims)
            for at in np.ndindex(i.array.dims):
                taint[at] = array(t[1])[()]
            places = [low + np.arange(n) * (gap + 1) for n, (low, _, gap) in zip(v[0].shape, i.padding(), strict=True)]
            value[np.ix_(*places)], taint[np.ix_(*places)] = v[0], t[0]
            return [value], [taint]
        if i.opcode == "concatenate":
            return [np.concatenate(v, i.integers("dimensions")[0])], [np.concatenate(t, i.integers("dimensions")[0])]
        return [move[i.opcode](v[0])], [move[i.opcode](t[0])]


def array(taint: Any) -> Any:
    """Return the taints as an array, of rank 0 where numpy has unwrapped a single element."""
    if isinstance(taint, np.ndarray):
        return taint
    made = np.empty((), dtype=object)
    made[()] = taint
    return made


def full(shape: Any) -> Any:
    """Return an array of empty sets."""
    made = np.empty(tuple(shape), dtype=object)
    for at in np.ndindex(made.shape):
        made[at] = frozenset()
    return made


def join(*taints: Any) -> Any:
    parts = [array(t) for t in taints]
    made = full(parts[0].shape)
    for at in np.ndindex(made.shape):
        made[at] = frozenset().union(*(t[at] for t in parts))
    return made


def arguments_of(module: Module, seed: int = 0) -> dict[int, list[np.ndarray]]:
    rng = np.random.default_rng(seed)
    return {
        p.parameter_number: [rng.integers(-2, 7, a.dims) for _, a in leaves(p.shape)] for p in module.entry.parameters
    }


def operands_for(m: IndexingMap, values: dict[str, Any]) -> dict[str, Any]:
    """Return the arrays for the sources of a map, found by the path at the start of each source's text."""
    texts = [v.source.hlo for v in m.rts if v.source is not None]
    return {text: values[text.split(" = ")[0]] for text in texts}


def check_against_reference(text: str, *, seeds: int = 3, limit: int = 1000) -> None:
    """Check that the maps of both directions name exactly the elements that were read."""
    module = read_module(text)
    for seed in range(seeds):
        reference = Reference(module, arguments_of(module, seed))
        wanted: dict[tuple[int, int, int], set[Any]] = {}
        for root, taint in enumerate(reference.roots):
            for at in np.ndindex(taint.shape):
                for parameter, leaf, element in taint[at]:
                    wanted.setdefault((root, parameter, leaf), set()).add((at, element))
        for way in (O2I, I2O):
            maps = computation_maps(module, catalogue, direction=way, limit=limit)
            assert not maps.unknown
            found: dict[tuple[int, int, int], set[Any]] = {}
            for key, reads in maps.leaves.items():
                pairs: set[Any] = set()
                for m in reads.maps:
                    pairs |= m.relation(operands=operands_for(m, reference.values))
                if pairs:
                    found[key] = {p if way == O2I else p[::-1] for p in pairs}
            assert found == wanted, (way, seed)


MODULES = {
    "chain": """ENTRY e {
        p = s32[4,3] parameter(0)
        t = s32[3,4] transpose(p), dimensions={1,0}
        r = s32[3,4] reverse(t), dimensions={1}
        ROOT s = s32[2,2] slice(r), slice={[0:3:2],[1:4:2]} }""",
    "two maps of one input": """ENTRY e {
        p = s32[3,3] parameter(0)
        t = s32[3,3] transpose(p), dimensions={1,0}
        ROOT a = s32[3,3] add(p, t) }""",
    "concatenate then slice leaves one operand unread": """ENTRY e {
        p = s32[4] parameter(0)
        q = s32[3] parameter(1)
        c = s32[7] concatenate(p, q), dimensions={0}
        ROOT s = s32[3] slice(c), slice={[0:3]} }""",
    "fusion called twice": """
        f { a = s32[4] parameter(0)
            b = s32[4] parameter(1)
            r = s32[4] reverse(b), dimensions={0}
            ROOT c = s32[8] concatenate(a, r), dimensions={0} }
        ENTRY e {
            p = s32[4] parameter(0)
            q = s32[4] parameter(1)
            x = s32[8] fusion(p, q), kind=kLoop, calls=f
            y = s32[8] fusion(q, p), kind=kLoop, calls=f
            ROOT z = s32[8] add(x, y) }""",
    "unused parameter": """ENTRY e {
        p = s32[1] parameter(0)
        ROOT o = s32[2,4] iota(), iota_dimension=1 }""",
    "dynamic slice": """ENTRY e {
        p = s32[5,4] parameter(0)
        i = s32[] parameter(1)
        j = s32[] parameter(2)
        ROOT s = s32[2,3] dynamic-slice(p, i, j), dynamic_slice_sizes={2,3} }""",
    "dynamic slice of a dynamic slice": """ENTRY e {
        p = s32[9] parameter(0)
        i = s32[] parameter(1)
        j = s32[] parameter(2)
        a = s32[6] dynamic-slice(p, i), dynamic_slice_sizes={6}
        r = s32[6] reverse(a), dimensions={0}
        ROOT s = s32[3] dynamic-slice(r, j), dynamic_slice_sizes={3} }""",
    "dynamic slice in a fusion": """
        f { a = s32[9] parameter(0)
            i = s32[] parameter(1)
            n = s32[] negate(i)
            x = s32[5] dynamic-slice(a, i), dynamic_slice_sizes={5}
            ROOT y = s32[2] dynamic-slice(x, n), dynamic_slice_sizes={2} }
        ENTRY e {
            p = s32[9] parameter(0)
            i = s32[] parameter(1)
            j = s32[] parameter(2)
            x = s32[2] fusion(p, i), kind=kLoop, calls=f
            y = s32[2] fusion(p, j), kind=kLoop, calls=f
            ROOT z = s32[2] add(x, y) }""",
    "constant start": """
        f { a = s32[9] parameter(0)
            i = s32[] parameter(1)
            ROOT x = s32[5] dynamic-slice(a, i), dynamic_slice_sizes={5} }
        ENTRY e {
            p = s32[9] parameter(0)
            c = s32[] constant(7)
            x = s32[5] fusion(p, c), kind=kLoop, calls=f
            m = s32[] constant(-3)
            ROOT y = s32[2] dynamic-slice(x, m), dynamic_slice_sizes={2} }""",
    "start taken from an array": """ENTRY e {
        p = s32[9] parameter(0)
        starts = s32[4] parameter(1)
        r = s32[4] reverse(starts), dimensions={0}
        z = s32[] constant(2)
        i = s32[1] dynamic-slice(r, z), dynamic_slice_sizes={1}
        zero = s32[] constant(0)
        s = s32[] reduce(i, zero), dimensions={0}
        ROOT y = s32[2] dynamic-slice(p, s), dynamic_slice_sizes={2} }""",
    "start through a tuple": """
        f { a = s32[9] parameter(0)
            i = s32[] parameter(1)
            pair = (s32[], s32[9]) tuple(i, a)
            j = s32[] get-tuple-element(pair), index=0
            ROOT x = s32[5] dynamic-slice(a, j), dynamic_slice_sizes={5} }
        ENTRY e {
            p = s32[9] parameter(0)
            i = s32[] parameter(1)
            ROOT x = s32[5] call(p, i), to_apply=f }""",
    "variadic reduce": """
        add2 { a = s32[] parameter(0)
               b = s32[] parameter(1)
               c = s32[] parameter(2)
               d = s32[] parameter(3)
               x = s32[] add(a, c)
               y = s32[] add(b, d)
               ROOT r = (s32[], s32[]) tuple(x, y) }
        ENTRY e {
            p = s32[3,4] parameter(0)
            q = s32[3,4] parameter(1)
            i = s32[] parameter(2)
            j = s32[] parameter(3)
            ROOT o = (s32[4], s32[4]) reduce(p, q, i, j), dimensions={0}, to_apply=add2 }""",
    "softmax": """ENTRY e {
        p = s32[2,3,4] parameter(0)
        z = s32[] parameter(1)
        m = s32[2,3] reduce(p, z), dimensions={2}, to_apply=max
        b = s32[2,3,4] broadcast(m), dimensions={0,1}
        x = s32[2,3,4] add(p, b)
        n = s32[2,3] reduce(x, z), dimensions={2}, to_apply=max
        c = s32[2,3,4] broadcast(n), dimensions={0,1}
        ROOT o = s32[2,3,4] add(x, c) }""",
    "empty dimension": """ENTRY e {
        p = s32[0,3] parameter(0)
        q = s32[2,3] parameter(1)
        ROOT c = s32[2,3] concatenate(p, q), dimensions={0} }""",
    "rank 0": "ENTRY e { p = s32[] parameter(0)\n n = s32[] negate(p)\n ROOT a = s32[] add(p, n) }",
    "parameter as root": "ENTRY e { q = s32[2] parameter(1)\n ROOT p = s32[3] parameter(0) }",
}
MODULES["tuples everywhere"] = """
    f { a = (s32[4], s32[2,2]) parameter(0)
        g = s32[4] get-tuple-element(a), index=0
        h = s32[2,2] get-tuple-element(a), index=1
        t = s32[2,2] transpose(h), dimensions={1,0}
        r = s32[4] reverse(g), dimensions={0}
        inner = (s32[4], s32[4]) tuple(g, r)
        ROOT c = (s32[2,2], (s32[4], s32[4])) tuple(t, inner) }
    ENTRY e {
        p = (s32[4], s32[2,2]) parameter(0)
        c = (s32[2,2], (s32[4], s32[4])) call(p), to_apply=f
        b = (s32[2,2], (s32[4], s32[4])) optimization-barrier(c)
        i = (s32[4], s32[4]) get-tuple-element(b), index=1
        x = s32[4] get-tuple-element(i), index=0
        y = s32[4] get-tuple-element(i), index=1
        s = s32[4] add(x, y)
        ROOT o = ((s32[4], s32[4]), s32[4]) tuple(i, s) }"""


@pytest.mark.parametrize("name", [n for n in MODULES if n != "tuples everywhere"])
def test_maps_are_what_is_read(name: str) -> None:
    check_against_reference(MODULES[name])


def test_tuple_parameters_have_maps_per_leaf() -> None:
    shown = computation_maps(read_module(MODULES["tuples everywhere"]), catalogue)
    assert {key: sorted(map(repr, reads.maps)) for key, reads in shown.leaves.items()} == {
        (0, 0, 0): ["(d0) -> (d0), domain: d0 in [0, 3]"],
        (1, 0, 0): ["(d0) -> (-d0 + 3), domain: d0 in [0, 3]"],
        (2, 0, 0): ["(d0) -> (-d0 + 3), domain: d0 in [0, 3]", "(d0) -> (d0), domain: d0 in [0, 3]"],
    }
    whole = MODULES["tuples everywhere"].replace("optimization-barrier(c)", "call(c), to_apply=id")
    identity = "id { ROOT p = (s32[2,2], (s32[4], s32[4])) parameter(0) }"
    check_against_reference(identity + whole)
    used = whole.replace("tuple(i, s)", "tuple(i, s, t)").replace("(s32[4], s32[4]), s32[4]) tuple(", TUPLE)
    check_against_reference(
        identity + used.replace("ROOT o =", "t = s32[2,2] get-tuple-element(b), index=0\n ROOT o =")
    )


TUPLE = "(s32[4], s32[4]), s32[4], s32[2,2]) tuple("


def test_random_modules() -> None:
    """Maps of random modules are exact, also when a module is called on its own output."""

    @settings(deadline=None, max_examples=60, derandomize=True, suppress_health_check=list(HealthCheck))
    @given(strategies.hlo_modules(instructions=4, elements=60))
    def run(module: Module) -> None:
        text = format_module(module).replace("f32", "s32").replace("ENTRY %main", "%body")
        x, y = (i.shape.without_layout() for i in (module.entry.parameters[0], module.entry.root))
        x, y = (str(shape).replace("f32", "s32") for shape in (x, y))
        again = f"d = {y} call({'c' if x == y else 'p'}), to_apply=body\n ROOT a = {y} add(c, d)"
        check_against_reference(
            f"{text}\nENTRY main {{ p = {x} parameter(0)\n c = {y} call(p), to_apply=body\n {again} }}", seeds=1
        )

    run()


def test_names_of_runtime_sources() -> None:
    maps = computation_maps(read_module(MODULES["dynamic slice in a fusion"]), catalogue)
    first, second = sorted(maps[0, 0], key=repr)
    assert [v.source.hlo for v in first.rts if v.source] == ["x/n = s32[] negate(i)", "i = s32[] parameter(1)"]
    assert [v.source.hlo for v in second.rts if v.source] == ["y/n = s32[] negate(i)", "j = s32[] parameter(2)"]
    through = computation_maps(read_module(MODULES["start through a tuple"]), catalogue)[0, 0][0]
    assert [v.source for v in through.rts] == [RuntimeSource("i = s32[] parameter(1)", ())]
    array = computation_maps(read_module(MODULES["start taken from an array"]), catalogue)[0, 0][0]
    assert [v.source.hlo for v in array.rts if v.source] == ["s = s32[] reduce(i, zero), dimensions={0}"]


def test_constants_are_folded_after_clamping() -> None:
    maps = computation_maps(read_module(MODULES["constant start"]), catalogue)[0, 0]
    assert [repr(m) for m in maps] == ["(d0) -> (d0 + 4), domain: d0 in [0, 1]"]


@pytest.mark.parametrize(("constant", "shape", "wanted"), [
    ("{3, 3}", "s32[2]", "3"),
    ("{1, 2}", "s32[2]", "d1 + 1"),
    ("{...}", "s32[2]", None),
    ("1.5", "f32[]", None),
    ("true", "pred[]", None),
])  # fmt: skip
def test_only_known_constants_are_folded(constant: str, shape: str, wanted: str | None) -> None:
    text = f"""ENTRY e {{
        p = s32[9,2] parameter(0)
        c = {shape} constant({constant})
        ROOT s = s32[1,2] gatherish(p, c) }}"""

    class Gatherish(Extended):
        def op_gatherish(self, i: Instruction) -> OpMaps:
            index = (d(1),) if i.operand_arrays[1].dims else ()
            rts = [("rt0", 0, 8, RuntimeSource(i.operands[1].name, index))]
            data = IndexingMap.of(boxes("d", i.array.dims), rts=rts, results=[d(0) + var("rt0"), d(1)])
            return [[Reads((data,)), Reads()]]

    (m,) = computation_maps(read_module(text), Gatherish())[0, 0]
    assert ([] if m.rts else [str(m.results[0])]) == ([f"d0 + {wanted}"] if wanted else [])


def test_iota_is_folded_only_where_it_does_not_wrap() -> None:
    for element, count, folded in (("s32", 300, True), ("s8", 100, True), ("s8", 300, False), ("f32", 9, False)):

        class Pick(Extended):
            def op_pick(self, i: Instruction) -> OpMaps:
                rts = [("rt0", 0, 500, RuntimeSource(i.operands[1].name + " = something", (d(0),)))]
                m = IndexingMap.of(boxes("d", i.array.dims), rts=rts, results=[var("rt0")])
                return [[Reads((m,)), Reads()]]

        text = f"""ENTRY e {{
            p = s32[501] parameter(0)
            i = {element}[{count}] iota(), iota_dimension=0
            ROOT s = s32[{count}] pick(p, i) }}"""
        (m,) = computation_maps(read_module(text), Pick())[0, 0]
        assert (not m.rts) == folded, element


def test_what_has_no_map_is_said() -> None:
    module = read_module("""
        f { a = s32[4] parameter(0)
            b = s32[4] parameter(1)
            ROOT c = s32[4] mystery(a, b) }
        ENTRY e {
            p = s32[4] parameter(0)
            q = s32[4] parameter(1)
            r = s32[4] parameter(2)
            n = s32[4] negate(p)
            m = s32[4] fusion(n, q), kind=kLoop, calls=f
            ROOT a = s32[4] add(m, r) }""")
    for way in (O2I, I2O):
        maps = computation_maps(module, catalogue, direction=way)
        reason = NoMap("m/c", "no op for the opcode `mystery` in the catalogue")
        assert maps.unknown == {(0, 0, 0): [reason], (0, 1, 0): [reason]}
        assert [repr(m) for m in maps[0, 2]] == ["(d0) -> (d0), domain: d0 in [0, 3]"]
        assert maps[0, 0] == []
        assert set(maps) == {(0, 0), (0, 1), (0, 2)}
        assert len(maps) == 3
        with pytest.raises(KeyError):
            maps[0, 3]


@pytest.mark.parametrize(("text", "reason"), [
    ("ENTRY e { p = s32[4] parameter(0)\n ROOT c = s32[4] call(p), to_apply=g }", "computation g is not defined"),
    ("e { p = s32[4] parameter(0)\n ROOT c = s32[4] call(p), to_apply=e }", "computation e calls itself"),
    ("ENTRY e { p = s32[4] parameter(0)\n ROOT c = s32[4] call(p) }", "computation None is not defined"),
    ("f { ROOT c = s32[4] iota() }\n" "ENTRY e { p = s32[4] parameter(0)\n ROOT c = s32[4] call(p), to_apply=f }",
        "1 operands for the 0 parameters of f"),
    ("ENTRY e { p = s32[4] parameter(0)\n ROOT c = transpose(p), dimensions={0} }", "the shape is not known"),
    ("ENTRY e { p = s32[4] parameter(0)\n ROOT c = s32[4] transpose(p) }", "c: transpose has no attribute"),
    ("ENTRY e { p = (s32[4]) parameter(0)\n ROOT c = s32[4] negate(p) }", "negate of a tuple"),
    ("ENTRY e { p = (s32[4]) parameter(0)\n ROOT c = s32[4] get-tuple-element(p) }", "has no attribute index"),
])  # fmt: skip
def test_reasons(text: str, reason: str) -> None:
    maps = computation_maps(read_module(text), catalogue)
    assert [reason in str(r) for reads in maps.unknown.values() for r in reads] == [True], maps.unknown


def test_a_value_read_along_many_paths_gives_one_map() -> None:
    lines = ["p = s32[4] parameter(0)", "x0 = s32[4] negate(p)"]
    lines += [f"x{k + 1} = s32[4] add(x{k}, x{k})" for k in range(200)]
    maps = computation_maps(read_module("\n".join(lines)), catalogue)
    assert [repr(m) for m in maps[0, 0]] == ["(d0) -> (d0), domain: d0 in [0, 3]"]


def powers_of_three(count: int) -> Module:
    """Return a module with 2**count maps, of which no two can be merged: sums of twice different powers of three."""
    n = 3 ** (count + 1)
    lines = [f"x0 = s32[{n}] parameter(0)"]
    for k in range(count):
        shift = 2 * 3**k
        n -= shift
        lines += [
            f"a{k} = s32[{n}] slice(x{k}), slice={{[0:{n}]}}",
            f"b{k} = s32[{n}] slice(x{k}), slice={{[{shift}:{n + shift}]}}",
            f"x{k + 1} = s32[{n}] add(a{k}, b{k})",
        ]
    return read_module("\n".join(lines))


def test_too_many_maps_are_given_up_and_said() -> None:
    module = powers_of_three(5)
    assert len(computation_maps(module, catalogue, limit=32)[0, 0]) == 32
    given_up = computation_maps(module, catalogue, limit=20)
    assert given_up[0, 0] == []
    assert "more than 20 different maps" in str(given_up.unknown[0, 0, 0][0])


def test_deduplication_uses_what_it_is_given() -> None:
    module = read_module("""ENTRY e {
        p = s32[1,4] parameter(0)
        r = s32[1,4] reverse(p), dimensions={0}
        ROOT a = s32[1,4] add(p, r) }""")
    assert len(computation_maps(module, catalogue)[0, 0]) == 2

    def same(a: IndexingMap, b: IndexingMap) -> bool:
        return a.relation() == b.relation()

    assert len(computation_maps(module, catalogue, equal=same)[0, 0]) == 1

    def no_first(m: IndexingMap) -> IndexingMap:
        return m.with_(results=(m.results[0].substitute({var("d0"): 0}), *m.results[1:]))

    assert len(computation_maps(module, catalogue, no_first)[0, 0]) == 1


def test_many_maps_are_not_compared_with_each_other() -> None:
    """For the 318 maps of a scan, the comparisons of all pairs did not end in four minutes."""
    asked: list[IndexingMap] = []

    def same(a: IndexingMap, b: IndexingMap) -> bool:
        asked.append(a)
        return False

    assert len(computation_maps(powers_of_three(4), catalogue, equal=same)[0, 0]) == 16
    assert len(asked) == 16 * 15 // 2
    asked.clear()
    assert len(computation_maps(powers_of_three(5), catalogue, equal=same)[0, 0]) == 32
    assert not asked


def instruction_maps(module: Module, name: str, computation: str) -> ComputationMaps:
    return ModuleMaps(module, Options(catalogue)).instruction(name, computation, O2I)


def test_maps_of_one_instruction() -> None:
    maps = instruction_maps(read_module(MODULES["fusion called twice"]), "y", "e")
    assert {key: list(map(repr, found)) for key, found in maps.items()} == {
        (0, 0): ["(d0) -> (d0), domain: d0 in [0, 3]"],
        (0, 1): ["(d0) -> (-d0 + 7), domain: d0 in [4, 7]"],
    }
    element = read_module(MODULES["start through a tuple"])
    maps = instruction_maps(element, "j", "f")
    assert {key: [repr(m) for m in reads.maps] for key, reads in maps.leaves.items()} == {(0, 0, 0): ["() -> ()"]}
    free = read_module("t = s32[3,2] transpose(s32[2,3] x), dimensions={1,0}")
    assert [repr(m) for m in instruction_maps(free, "t", free.entry_name)[0, 0]] == [
        "(d0, d1) -> (d1, d0), domain: d0 in [0, 2], d1 in [0, 1]"
    ]


def test_a_catalogue_must_name_operands_as_sources() -> None:
    class Wrong(Extended):
        def op_transpose(self, i: Instruction) -> OpMaps:
            rts = [("rt0", 0, 1, RuntimeSource("zebra", ()))]
            return [[Reads((IndexingMap.of(boxes("d", i.array.dims), rts=rts),))]]

    with pytest.raises(InputError, match="zebra"):
        computation_maps(read_module("p = s32[2] parameter(0)\nt = s32[2] transpose(p)"), Wrong())


def test_unwritten_shapes_are_filled_by_a_rule() -> None:
    module = read_module("p = s32[2,3] parameter(0)\nt = transpose(p), dimensions={1,0}\nn = negate(t)")

    def rule(i: Instruction) -> Any:
        dims = i.operand_arrays[0].dims
        return Shape("s32", tuple(reversed(dims)) if i.opcode == "transpose" else dims)

    filled = fill_shapes(module, rule)
    assert filled.entry.root.shape == read_shape("s32[3,2]")
    assert [repr(m) for m in computation_maps(filled, catalogue)[0, 0]] == [
        "(d0, d1) -> (d1, d0), domain: d0 in [0, 2], d1 in [0, 1]"
    ]


def test_deep_call_chains_need_no_stack() -> None:
    lines = ["f0 { ROOT p = s32[4] parameter(0) }"]
    lines += [f"f{k + 1} {{ p = s32[4] parameter(0)\n ROOT c = s32[4] call(p), to_apply=f{k} }}" for k in range(3000)]
    maps = computation_maps(read_module("\n".join(lines)), catalogue)
    assert [repr(m) for m in maps[0, 0]] == ["(d0) -> (d0), domain: d0 in [0, 3]"]


# ------------------------------------------------------------------------------------- between any two instructions
def layered(layers: int, size: int = 8) -> str:
    """Return a module of layers that sum, broadcast and transpose rows; each layer reads the previous one twice."""
    lines = [f"x0 = s32[{size},{size}] parameter(0)", "zero = s32[] constant(0)"]
    for k in range(layers):
        lines += [
            f"t{k} = s32[{size},{size}] transpose(x{k}), dimensions={{1,0}}",
            f"r{k} = s32[{size}] reduce(t{k}, zero), dimensions={{0}}, to_apply=sum",
            f"b{k} = s32[{size},{size}] broadcast(r{k}), dimensions={{1}}",
            f"x{k + 1} = s32[{size},{size}] add(x{k}, b{k})",
        ]
    lines[-1] = "ROOT " + lines[-1]
    body = "\n  ".join(lines)
    return (
        "sum { a = s32[] parameter(0)\n b = s32[] parameter(1)\n ROOT c = s32[] add(a, b) }\n"
        f"ENTRY e {{\n  {body}\n}}\n"
    )


def test_maps_between_any_two_instructions() -> None:
    made = ModuleMaps(read_module(layered(6)), Options(catalogue))
    for direction in (O2I, I2O):
        near = made.between(["x2"], ["x3"], "e", direction)
        assert near.leaves.keys() == {(0, 0, 0)}
        pairs = {pair for m in near[0, 0] for pair in m.relation()}
        wanted = {((i, j), (i, j)) for i in range(8) for j in range(8)}
        wanted |= {((i, j), (j, k)) for i in range(8) for j in range(8) for k in range(8)}
        assert pairs == (wanted if direction == O2I else {(b, a) for a, b in wanted})
        # no path leads backwards, and instructions outside of all paths are not analysed
        assert not made.between(["x3"], ["x2"], "e", direction).leaves
    assert [i.name for i in made.path(["x2"], ["x3"], "e")] == ["x2", "t2", "r2", "b2", "x3"]
    both = made.between(["r0", "x2"], ["x3", "t2"], "e", O2I)
    assert both.leaves.keys() == {(0, 0, 0), (0, 1, 0), (1, 0, 0), (1, 1, 0)}


def test_maps_of_a_group_of_instructions() -> None:
    made = ModuleMaps(read_module(layered(3)), Options(catalogue))
    outputs, operands, maps = made.group(["b1", "x2", "t1"], "e")
    assert [i.name for i in outputs] == ["t1", "x2"]
    assert [i.name for i in operands] == ["x1", "r1"]
    assert {key: [repr(m) for m in found.maps] for key, found in maps.leaves.items()} == {
        (0, 0, 0): ["(d0, d1) -> (d1, d0), domain: d0 in [0, 7], d1 in [0, 7]"],
        (1, 0, 0): ["(d0, d1) -> (d0, d1), domain: d0 in [0, 7], d1 in [0, 7]"],
        (1, 1, 0): ["(d0, d1) -> (d1), domain: d0 in [0, 7], d1 in [0, 7]"],
    }


def test_layers_alike_are_composed_once() -> None:
    steps: list[object] = []
    for layers in (20, 200):
        seen: list[object] = []
        module = read_module(layered(layers))
        maps = ModuleMaps(module, Options(catalogue, observe=seen.append)).computation(module.entry, O2I)
        assert len(maps[0, 0]) <= 8
        steps.append(len(seen))
    assert steps[0] == steps[1]
