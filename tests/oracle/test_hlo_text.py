"""XLA's own parser accepts printed modules, and reads the same module from them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from indexproof import module_maps
from indexproof.core.errors import InputError
from indexproof.core.hlo import format_module, read_module
from indexproof.core.layout import memory
from indexproof.reports.hlo_files import hlo_file_text
from indexproof.verify.access import utilization

xla = pytest.importorskip("jaxlib._hlo")

NEGATE = "f { p = f32[4] parameter(0)\n ROOT n = f32[4] negate(p) }"
ADD = "add { x = f32[] parameter(0)\n y = f32[] parameter(1)\n ROOT s = f32[] add(x, y) }"
A = "a = f32[4] parameter(0)\n"

FORMS = {
    "dynamic sizes": "a = f32[<=5,3] parameter(0)",
    "size not known": "a = f32[?,3] parameter(0)",
    "no elements": "a = f32[0,3] parameter(0)",
    "token": "a = token[] after-all()",
    "opaque": "a = opaque[] parameter(0)",
    "nested tuples": "a = ((f32[2],s32[]),(),(pred[])) parameter(0)",
    "layout with everything": "a = s4[4,4]{0,1:D(D,C)T(8,128)(2,1)L(16)#(u32)*(u32)E(4)S(5)} parameter(0)",
    "combined dimensions": "a = f32[4,4,4]{2,1,0:T(*,2,128)} parameter(0)",
    "split configuration": "a = s4[400]{0:SC(0:200,300)} parameter(0)",
    "a tile of lower rank": "a = f32[4,4,4]{2,1,0:T(2)} parameter(0)",
    "spaces in shapes": "a = f32 [4, 5] {1, 0} parameter(0)",
    "space before a layout": "a = f32[4,5] {1,0} parameter(0)",
    "elided constant": "a = f32[40] constant({...})",
    "nested constant": "a = f32[2,2] constant({{1,2},{3,4}})",
    "constant that fills": "a = f32[2,2] constant(7)",
    "constant without elements": "a = f32[2,0] constant({{},{}})",
    "complex constant": "a = c64[2] constant({(1,2),(3,-inf)})",
    "nan with bits": "a = f32[] constant(nan(0x7fc))",
    "words for bits": "a = pred[2] constant({true,0})",
    "comment in a constant": "a = f32[2] constant({1, /*c*/ 2})",
    "comment to the end of the line": "a = f32[2] parameter(0) // hello\n",
    "comment over lines": "a = f32[2] /* one\ntwo */ parameter(0)",
    "asynchronous": [NEGATE, A + "s = ((f32[4]), f32[4], s32[]) async-start(a), calls=f\n"
        "u = ((f32[4]), f32[4], s32[]) async-update(s)\nROOT d = f32[4] async-done(u)"],
    "asynchronous, short": A + "s = ((f32[4]), f32[4], s32[]) negate-start(a)\n"
        "u = ((f32[4]), f32[4], s32[]) negate-update(s)\nROOT d = f32[4] negate-done(u)",
    "execution thread": [NEGATE + ', execution_thread="host"', A + "s = ((f32[4]), f32[4], s32[]) async-start(a), "
        'async_execution_thread="host", calls=f\nROOT d = f32[4] async-done(s)'],
    "all-gather in two": A + "s = (f32[4], f32[8]) all-gather-start(a), replica_groups={{0,1}}, dimensions={0}\n"
        "ROOT d = f32[8] all-gather-done(s)",
    "groups by iota": A + "ROOT s = f32[8] all-gather(a), replica_groups=[1,2]<=[2], dimensions={0}, channel_id=1, "
        "use_global_device_ids=true",
    "groups by transposed iota": A + "ROOT s = f32[8] all-gather(a), replica_groups=[2,2]<=[2,2]T(1,0), "
        "dimensions={0}, channel_id=1, use_global_device_ids=true",
    "groups along an axis of a mesh": A + "ROOT s = f32[8] all-gather(a), channel_id=1, "
        "replica_groups=mesh['a'=2,'b'=2] {'b'}, dimensions={0}, use_global_device_ids=true",
    "groups along part of an axis": A + "ROOT s = f32[8] all-gather(a), replica_groups=mesh['a'=4] {'a':(2)2}, "
        "dimensions={0}, channel_id=1, use_global_device_ids=true",
    "groups of a mesh with its own order": A + "ROOT s = f32[8] all-gather(a), replica_groups=mesh['a'=2,'b'=2], "
        "device_ids=([2,2]T(1,0)) {'a'}, dimensions={0}, channel_id=1, use_global_device_ids=true",
    "no space after ROOT": A + "ROOT%b = f32[4] negate(a)",
    "constant of a custom call": A + 'ROOT c = f32[4] custom-call(a), custom_call_target="x", literal=s32[] 1',
    "array of a custom call": A + 'ROOT c = f32[4] custom-call(a), literal=s32[2,2] {{1,2},{3,4}}, '
        'custom_call_target="x"',
    "instructions in place of operands":
        "ROOT s = f32[] add(f32[] parameter(0), f32[] exponential(exponential(f32[] constant(2))))",
    "buffers": "a = b(f32[4]{0}) parameter(0)\nROOT c = (b(f32[4]), f32[]) tuple(a, f32[] constant(1))",
    "shapes of operands": "a = (f32[4]{0}, s32[]) parameter(0)\n"
        "ROOT s = f32[4] get-tuple-element((f32[4]{0}, s32[]) a), index=0",
    "shapes of operands with tiles": "a = f32[4,4]{1,0:T(8,128)} parameter(0)\n"
        "ROOT s = f32[4,4]{1,0:T(8,128)} add(f32[4,4]{1,0:T(8,128)} %a, f32[4,4]{1,0:T(8,128)} %a)",
    "frontend attributes": 'a = f32[4] parameter(0), frontend_attributes={a="b{\\"",c={"x":1}}',
    "statistics": "a = f32[4] parameter(0), statistics={visualizing_index=0,stat-1=33,stat-2=44}",
    "origin": 'a = f32[4] parameter(0), origin={{"v1"}}',
    "control": A + "b = f32[4] negate(a)\nROOT c = f32[4] abs(a), control-predecessors={b}",
    "configuration as string": A + 'ROOT c = f32[4] abs(a), backend_config="foo{"',
    "configuration as JSON": A + 'ROOT c = f32[4] abs(a), backend_config={"a":[1,{"b":"}"}]}',
    "accuracy": A + "ROOT c = f32[4] tan(a), result_accuracy={tolerance={atol=0.03125,rtol=1.5,ulps=2}}",
    "sharding": "a = f32[4] parameter(0), sharding={devices=[2,2]<=[2,2]T(1,0) last_tile_dims={manual, replicated} "
        'metadata={op_name="x"}}',
    "sharding of a tuple": "a = (f32[4],s32[]) parameter(0), sharding={{replicated}, {maximal device=0}}",
    "custom call": "a = f32[4]{0} parameter(0)\nROOT c = f32[4]{0} custom-call(a), custom_call_target=\"f\\\"x\", "
        "operand_layout_constraints={f32[4]{0}}, output_to_operand_aliasing={{}: (0, {})}, "
        "api_version=API_VERSION_TYPED_FFI",
    "attributes on other lines": "a = f32[4] parameter(0)\nROOT c = f32[2] slice(a)\n  , slice=\n{[0:2]}",
    "one line": 'a = f32[4] parameter(0) b = f32[4] negate(a) ROOT c = f32[4] negate(b), metadata={op_name="q"}',
    "carriage returns": "a = f32[4] parameter(0)\r\n ROOT b = f32[4] negate(a), metadata={op_name=\"q\"}\r\n",
    "root in the middle": A + "ROOT b = f32[4] negate(a)\nc = f32[4] negate(b)",
    "window": "a = f32[4,4] parameter(0)\nz = f32[] constant(0)\n"
        "ROOT r = f32[3,4] reduce-window(a, z), window={size=2x2 pad=0_0x1_0 rhs_dilate=1x1}, to_apply=add",
    "infeed": 't = token[] after-all()\na = ((f32[3]{0}, pred[]), token[]) infeed(t), infeed_config="abc"',
    "send": "p = f32[2] parameter(0)\nt = token[] after-all()\ns = (f32[2], u32[], token[]) send(p, t), channel_id=1, "
        'is_host_transfer=true, frontend_attributes={a="x"}\n'
        "ROOT d = token[] send-done(s), channel_id=1, is_host_transfer=true",
    "domain": A + 'ROOT d = f32[4] domain(a), domain={kind="sharding", entry={maximal device=0}, '
        "exit={maximal device=1}}",
    "random bits": "a = u64[2] parameter(0)\nROOT r = (u64[2], u32[8]) rng-bit-generator(a), algorithm=rng_three_fry",
    "precision": A + "ROOT c = f32[] dot(a, a), lhs_contracting_dims={0}, rhs_contracting_dims={0}, "
        "operand_precision={highest,default}, algorithm=dot_bf16_bf16_f32",
    "solver": "a = f32[4,4] parameter(0)\nROOT d = f32[4,4] triangular-solve(a, a), left_side=true, lower=true, "
        "transpose_a=NO_TRANSPOSE",
    "loop": ["less { s = (s32[]) parameter(0)\ni = s32[] get-tuple-element(s), index=0\n"
        "ROOT c = pred[] compare(i, i), direction=LT }", "body { ROOT s = (s32[]) parameter(0) }",
        "s = (s32[]) parameter(0)\nROOT w = (s32[]) while(s), condition=less, body=body"],
    "branches": [NEGATE, A + "i = s32[] parameter(1)\n"
        "ROOT c = f32[4] conditional(i, a, a), branch_computations={f, f}"],
    "two branches": [NEGATE, A + "i = pred[] parameter(1)\n"
        "ROOT c = f32[4] conditional(i, a, a), true_computation=f, false_computation=f"],
}  # fmt: skip
"""Texts that XLA's parser takes and did not print for the corpus: the body of the entry, computations before it."""

HEADERS = [
    "HloModule m, is_scheduled=true, entry_computation_layout={(f32[4]{0})->f32[4]{0}}",
    "HloModule m, input_output_alias={ {}: (0, {}, may-alias) }, replica_count=2, num_partitions=2",
    "HloModule m, buffer_donor={ (0, {}) }",
    "HloModule m\n\nf (a: f32[]) -> f32[]{\n ROOT a = f32[] parameter(0) }",
    "HloModule m\n\nf (a: f32[4]) -> f32[4]{b = f32[4]{0} parameter(0)\n ROOT %c=f32[4]{0} negate(b) }",
    "HloModule m\n\nf (a: f32[4]) -> f32[4]{ %b = f32[4]{0} parameter(0) }",
    'HloModule m\n\nFileNames\n1"a"\n-2 "b"\n\nFunctionNames\n1"f"\n\nFileLocations\n'
    "1{file_name_id=1 function_name_id=1 line=1 end_line=1 column=1 end_column=2}\n\n"
    "StackFrames\n1{file_location_id=1 parent_frame_id=1}",
    'HloModule m, frontend_attributes={a="b"}, allow_spmd_sharding_propagation_to_output={true,false}',
]

TYPES = [
    "pred", "s1", "s2", "s4", "s8", "s16", "s32", "s64", "u1", "u2", "u4", "u8", "u16", "u32", "u64",
    "f16", "f32", "f64", "bf16", "c64", "c128", "f8e5m2", "f8e4m3", "f8e4m3fn", "f8e4m3b11fnuz",
    "f8e3m4", "f8e5m2fnuz", "f8e4m3fnuz", "f4e2m1fn", "f8e8m0fnu", "token", "opaque",
]  # fmt: skip

FILES = sorted((Path(__file__).parents[1] / "core/hlo/data").glob("*.hlo.gz"))


@pytest.mark.parametrize("percent", [True, False])
def test_xla_reads_what_we_print(percent: bool) -> None:
    assert len(FILES) == 44
    for path in FILES:
        text = hlo_file_text(path)
        printed = format_module(read_module(text), percent)
        original = xla.hlo_module_from_text(text).to_string()
        assert xla.hlo_module_from_text(printed).to_string() == original, path.name
        # XLA's own output survives a round trip too
        assert format_module(read_module(original)) == format_module(read_module(format_module(read_module(original))))


def same_for_xla(text: str, name: str) -> None:
    """Check that XLA reads the same module from the text, and from our printing of the text and of XLA's printing."""
    original = xla.hlo_module_from_text(text).to_string()
    for percent in (True, False):
        for source in (text, original):
            module = read_module(source)
            printed = format_module(module, percent)
            assert read_module(printed) == module, name
            assert xla.hlo_module_from_text(printed).to_string() == original, name


@pytest.mark.parametrize("name", FORMS)
def test_forms_that_xla_takes(name: str) -> None:
    form = FORMS[name]
    *before, body = [form] if isinstance(form, str) else form
    if "to_apply=add" in body:
        before.append(ADD)
    same_for_xla("HloModule m\n\n" + "\n".join(before) + f"\n\nENTRY e {{\n{body}\n}}\n", name)


@pytest.mark.parametrize("header", HEADERS)
def test_headers_that_xla_takes(header: str) -> None:
    for entry in ("ENTRY e", "ENTRY%e"):
        same_for_xla(header + f"\n\n{entry} {{ ROOT a = f32[4]{{0}} parameter(0) }}\n", header)


@pytest.mark.parametrize("element_type", TYPES)
def test_element_types(element_type: str) -> None:
    body = f"ROOT a = ({element_type}[], {element_type}[]) parameter(0)"
    same_for_xla(f"HloModule m\n\nENTRY e {{ {body} }}\n", element_type)


@pytest.mark.parametrize("layout", ["{1,1}", "{1,0:T()}", "{1,0:T(0,2)}", "{1,0:T(2,2}", "{1,0:T(2,2)(}"])
def test_mistakes_that_xla_does_not_see(layout: str) -> None:
    text = f"HloModule m\n\nENTRY e {{\n  ROOT a = f32[4,4]{layout} parameter(0)\n}}\n"
    xla.hlo_module_from_text(text)
    with pytest.raises(InputError) as caught:
        read_module(text)
    error = caught.value
    assert error.line == 4
    assert 20 <= error.column <= 32
    assert error.expected
    assert error.render().splitlines()[-1].strip() == "^"


# ------------ XLA's own parser reads the layouts that we print, and silently accepts mistakes that we refuse
#: How XLA stores the size `*`; the description of tiled layouts says -1.
COMBINED = -(2**63)

TEXTS = [
    "f32[]",
    "f32[2,3]{0,1}",
    "f32[3,5]{1,0:T(2,2)}",
    "bf16[16,256]{1,0:T(8,128)(2,1)}",
    "f32[2,7,8,11,10]{4,3,2,1,0:T(*,*,2,*,3)}",
    "f32[]{:T(128)}",
    "f32[2]{0:T(2,2)}",
    "f32[3,5]{1,0:T(2,2)L(32)}",
    "s4[3,3]{1,0:T(2,2)E(4)S(1)}",
    "f32[<=5,3]{1,0:T(2,2)}",
]


@pytest.mark.parametrize("text", TEXTS)
def test_xla_reads_the_same_layout(text: str) -> None:
    at = memory(text)
    shape = xla.Shape(str(at.shape))
    layout = shape.layout()
    assert layout.minor_to_major() == at.layout.minor_to_major
    tiles = [tuple(COMBINED if t is None else t for t in tile.sizes) for tile in at.layout.tiles]
    assert list(layout.tiling() or []) == tiles
    module = f"HloModule m\n\nENTRY e {{\n  ROOT p = {at.shape} parameter(0)\n}}\n"
    assert str(at.shape) in xla.hlo_module_from_text(module).to_string()


@pytest.mark.parametrize("text", ["f32[2,2]{1,1}", "f32[2,2]{1,0:T(2,2}", "f32[2]{0:T()}", "f32[2,2]{1,0:T(0,2)}"])
def test_xla_takes_these_and_we_do_not(text: str) -> None:
    module = f"HloModule m\n\nENTRY e {{\n  ROOT p = {text} parameter(0)\n}}\n"
    assert "parameter(0)" in xla.hlo_module_from_text(module).to_string()
    with pytest.raises(InputError):
        memory(text)


# ------------- The bytes that XLA's cost analysis counts for single operations are those of the elements that
jax = pytest.importorskip("jax")
jnp = jax.numpy


@pytest.mark.parametrize(("function", "shapes"), [
    (lambda x: x[::2, :10] * 2, [(10, 20)]),
    (lambda x: x[3:, 1:19:3], [(10, 20)]),
    (lambda x, y: x @ y, [(64, 32), (32, 16)]),
    (lambda x: jnp.broadcast_to(x[:, None], (8, 16)) + 1, [(8,)]),
    (lambda x, y: jnp.concatenate([x[:4], y]), [(8,), (8,)]),
    (lambda x: x.sum(0), [(32, 8)]),
    (lambda x: jax.lax.reduce_window(x, 0.0, jax.lax.add, (3,), (1,), "VALID"), [(32,)]),
    (lambda x: x.T[::-1], [(6, 4)]),
], ids=["strided slice", "slice", "dot", "broadcast", "concatenate", "reduce", "window", "reverse"])  # fmt: skip
def test_elements_read_are_the_bytes_that_xla_counts(function: Callable[..., Any], shapes: list[Any]) -> None:
    import indexproof.jax

    arrays = [jax.ShapeDtypeStruct(s, jnp.float32) for s in shapes]
    counted = jax.jit(function).lower(*arrays).compile().cost_analysis()
    module = indexproof.jax.module(function, *arrays)
    leaves = module_maps(module).computation(module.entry, "output_to_input").leaves
    read = [utilization(reads.maps, 1 << 20).distinct for reads in leaves.values()]
    # a fusion may have its operands in another order
    bytes_accessed = [counted[f"bytes accessed{k}{{}}"] for k in range(len(shapes))]
    assert sorted(4 * n for n in read if n is not None) == sorted(bytes_accessed)
