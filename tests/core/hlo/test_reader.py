"""The reader and the printer: every corpus file, snippets without a header, attributes, mistakes."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from indexproof.core.errors import InputError
from indexproof.core.hlo import (
    Instruction,
    Module,
    Operand,
    Shape,
    Stride,
    fill_shapes,
    format_instruction,
    format_module,
    read_instruction,
    read_module,
    read_shape,
)
from indexproof.reports.hlo_files import hlo_file_text

TESTS = Path(__file__).parents[2]
FILES = sorted((Path(__file__).parent / "data").glob("*.hlo.gz"))


def corpus() -> list[tuple[str, str]]:
    """Return all real HLO in the tests with names."""
    texts = [(path.name, hlo_file_text(path)) for path in FILES]
    for case in json.loads(hlo_file_text(TESTS / "oracle/data/truth.json.gz"))["cases"]:
        texts += [(case["id"] + "." + key, case[key]) for key in ("hlo", "hlo_unoptimized") if key in case]
    pairs = hlo_file_text(TESTS / "verify/data/xla_pairs.jsonl.gz").splitlines()
    return texts + [(f"pair {k}", json.loads(line)["hlo"]) for k, line in enumerate(pairs)]


def same_after_printing(text: str, name: str = "") -> Module:
    module = read_module(text)
    for percent in (True, False):
        printed = format_module(module, percent)
        again = read_module(printed)
        assert again == module, name
        assert hash(again) == hash(module), name
        assert format_module(again, percent) == printed, name
    return module


def test_every_corpus_text_comes_back() -> None:
    texts = corpus()
    assert len(FILES) == 44
    assert len(texts) > 350
    for name, text in texts:
        module = same_after_printing(text, name)
        assert all(module.has_computation(n) for c in module.computations for n in c.called), name
        for computation, instruction in module.instructions():
            assert instruction.shape is not None, (name, instruction.name)
            assert all(o.shape is not None for o in instruction.operands), (name, instruction.name)
            assert computation.positions[instruction.name] >= 0


def test_a_compiled_module() -> None:
    module = read_module(hlo_file_text(FILES[0]))
    assert module.name == "jit_xent_grad"
    assert dict(module.attributes)["is_scheduled"] == "true"
    assert [table.name for table in module.tables] == ["FileNames", "FunctionNames", "FileLocations", "StackFrames"]
    assert module.tables[0].spelled[0] == (1, '"/src/corpus_build.py"')
    assert module.entry.signature is not None
    fused = module.computation("%fused_computation.1")
    reduce = fused.instruction("reduce_sum.17")
    assert reduce.opcode == "reduce"
    assert reduce.operands == (
        Operand("param_1.6", read_shape("f32[32,2]{1,0}")),
        Operand("constant.13", read_shape("f32[]")),
    )
    assert reduce.integers("dimensions") == (1,)
    assert reduce.called == ("region_3.7.clone",)
    assert (reduce.attribute("metadata") or "").endswith("stack_frame_id=5}")
    assert fused.root.name == "div.3"
    assert [p.name for p in fused.parameters] == ["param_0.2", "param_1.6"]


def test_lines_are_counted() -> None:
    module = read_module("HloModule m\n\nENTRY e {\n  a = f32[] parameter(0)\n\n  b = f32[] negate(a)\n}\n")
    assert [i.line for _, i in module.instructions()] == [4, 6]


# The forms that the published documents use.
SNIPPETS = {
    "bare list": """
        p0 = f32[10, 20] parameter(0)
        p1 = f32[10, 20] parameter(1)
        output = f32[10, 20] add(p0, p1)""",
    "bare computation": """
        f {
          p0 = f32[1000, 1000] parameter(0)
          transpose_p0 = f32[1000, 1000]{0, 1} transpose(p0), dimensions={1, 0}
          ROOT a0 = f32[1000, 1000] add(p0, transpose_p0)
        }""",
    "no shape": """
        src = s32[2,2,258] parameter(0)
        of1 = s32[] parameter(1)
        of2 = s32[] parameter(2)
        of3 = s32[] parameter(3)
        ds = dynamic-slice(s32[2,2,258] src, s32[] of1, s32[] of2, s32[] of3),
          dynamic_slice_sizes={1, 2, 32}""",
    "operands on another line": """
        src = s32[20,30] parameter(0)
        upd = s32[5,10] parameter(1)
        of1 = s32[] parameter(2)
        of2 = s32[] parameter(3)
        dus = s32[20,30] dynamic-update-slice(
          s32[20,30] src, s32[5,10] upd, s32[] of1, s32[] of2)""",
    "attributes on other lines": """
        operand = f32[33,76,70] parameter(0)
        indices = s32[1806,2] parameter(1)
        gather = f32[1806,7,8,4] gather(operand, indices),
          offset_dims={1,2,3},
          collapsed_slice_dims={},
          start_index_map={0,1},
          index_vector_dim=1,
          slice_sizes={7,8,4}""",
    "computation not given": """
        p0 = f32[256,10] parameter(0)
        p0_init = f32[] constant(-inf)
        p1 = s32[256,10] parameter(1)
        p1_init = s32[] constant(0)
        out = (f32[10], s32[10]) reduce(p0, p1, p0_init, p1_init),
          dimensions={0}, to_apply=max""",
    "ROOT in a list": """
        p0 = f32[2, 5, 7] parameter(0)
        p1 = f32[2, 11, 7] parameter(1)
        ROOT output = f32[2, 16, 7] concatenate(f32[2, 5, 7] p0, f32[2, 11, 7] p1), dimensions={1}""",
    "iota with dimensions": "iota = f32[2,4] iota(), dimensions={1}",
    "shape before the name": "f32[4, 8] out = reduce(f32[2, 4, 8, 16] in, f32[] zero), dimensions={0,3}",
    "free operands": "t = f32[3,2] transpose(f32[2,3] x), dimensions={1,0}",
    "hyphens in names": """
        c_inf = f32[] constant(-inf)
        p0 = f32[1024, 514] parameter(0)
        reduce-window = f32[1024, 3] reduce-window(p0, c_inf),
          window={size=1x512 pad=0_0x0_0}, to_apply=max""",
}


@pytest.mark.parametrize("name", SNIPPETS)
def test_loose_snippets(name: str) -> None:
    same_after_printing(SNIPPETS[name], name)


def test_what_loose_snippets_say() -> None:
    module = read_module(SNIPPETS["no shape"])
    slice_ = module.entry.root
    assert slice_.shape is None
    assert slice_.integers("dynamic_slice_sizes") == (1, 2, 32)
    shape = read_shape("s32[1,2,32]")
    assert fill_shapes(module, lambda i: shape if i.opcode == "dynamic-slice" else None).entry.root.shape == shape
    module = read_module(SNIPPETS["computation not given"])
    assert (module.entry.called, module.has_computation("max")) == (("max",), False)
    assert read_module(SNIPPETS["free operands"]).entry.root.operands == (Operand("x", read_shape("f32[2,3]")),)
    assert read_module(SNIPPETS["bare computation"]).entry.name == "f"


def test_the_root_need_not_come_last() -> None:
    module = same_after_printing("e {\n a = f32[] parameter(0)\n ROOT b = f32[] negate(a)\n c = f32[] negate(b)\n}")
    assert module.entry.root.name == "b"


@pytest.mark.parametrize("name", ["ENTRY", "ROOT", "HloModule", "FileNames", "StackFrames", "true", "f32"])
def test_words_may_be_names(name: str) -> None:
    module = same_after_printing(
        f"%{name} {{\n  %{name} = f32[] parameter(0)\n  ROOT %r = f32[] negate(%{name})\n}}\n\n"
        f"ENTRY %e {{\n  %x = f32[] parameter(0)\n  ROOT %c = f32[] call(%x), to_apply=%{name}\n}}"
    )
    assert [c.name for c in module.computations] == [name, "e"]
    same_after_printing(f"HloModule m\n\nENTRY %{name} {{ ROOT %{name} = f32[] parameter(0) }}")


def test_line_ends_do_not_matter() -> None:
    text = hlo_file_text(next(path for path in FILES if "transformer" in path.name and "opt" in path.name))
    module = read_module(text)
    for other in (text.replace("\n", " "), text.replace("\n", "\r\n"), text.replace(", ", ",\n ")):
        assert read_module(other) == module


def test_one_instruction() -> None:
    text = "t = f32[3,2] transpose(f32[2,3] x), dimensions={1,0}"
    instruction = read_instruction(text)
    assert instruction == Instruction(
        "t", "transpose", read_shape("f32[3,2]"), (Operand("x", read_shape("f32[2,3]")),), (("dimensions", "{1,0}"),)
    )
    assert format_instruction(instruction, percent=False, operand_shapes=True) == text
    with pytest.raises(InputError, match="after an instruction"):
        read_instruction(text + " more")


# The text of a value, and the same value as it is kept.
SPELLINGS = [
    ("dimensions={0,2}", "dimensions", "{0,2}"),
    ("dimensions={ 1 , 0 }", "dimensions", "{1,0}"),
    ("dimensions={ }", "dimensions", "{}"),
    ("k=-3", "k", "-3"),
    ("padding=", "padding", ""),
    ("slice={[5:10:1],\n  [0:50]}", "slice", "{[5:10:1], [0:50]}"),
    ("replica_groups={{0, 1}, {2, 3}}", "replica_groups", "{{0,1},{2,3}}"),
    ("replica_groups=[2,4]<=[4,2]T(1,0)", "replica_groups", "[2,4]<=[4,2]T(1,0)"),
    ("to_apply=max", "to_apply", "max"),
    ("calls=%f.1", "calls", "f.1"),
    ("branch_computations={%a,b.2}", "branch_computations", "{a, b.2}"),
    ("other=%f.1", "other", "%f.1"),
    ("select={%a 1}", "select", "{%a 1}"),
    ("window={size=1x512 pad=0_0x0_0}", "window", "{size=1x512 pad=0_0x0_0}"),
    ('metadata={op_name="a{b}\\"c\\"" id=5}', "metadata", '{op_name="a{b}\\"c\\"" id=5}'),
    ('backend_config={"a":{"b":[1, 2]},"c":"}"}', "backend_config", '{"a":{"b":[1, 2]},"c":"}"}'),
    ("sharding={{replicated}, {maximal device=0}}", "sharding", "{{replicated}, {maximal device=0}}"),
    ("odd={1,2", None, None),
]  # fmt: skip


@pytest.mark.parametrize(("text", "name", "value"), SPELLINGS)
def test_spelling_of_attributes(text: str, name: str | None, value: str | None) -> None:
    source = f"x = f32[2] frobnicate(f32[2] y), first=1, {text}, last=2"
    if name is None:
        with pytest.raises(InputError):
            read_module(source)
        return
    instruction = same_after_printing(source).entry.root
    assert instruction.attributes == (("first", "1"), (name, value), ("last", "2"))


@pytest.mark.parametrize(("text", "accessor", "value"), [
    ("{0,2}", "integers", (0, 2)),
    ("{ 1 , -1 }", "integers", (1, -1)),
    ("{}", "integers", ()),
    ("{0,LT}", "integers", None),
    ("{0,}", "integers", None),
    ("{{0}}", "integers", None),
    ("3", "integers", None),
    ("-3", "integer", -3),
    ("{3}", "integer", None),
    ("true", "integer", None),
    ("true", "flag", True),
    ("false", "flag", False),
    ("1", "flag", None),
    ("LT", "word", "LT"),
    ("b01f_01io->b01f", "word", "b01f_01io->b01f"),
    ('"a\\"b\\\\\\303"', "word", 'a"b\\Ã'),
    ("3", "word", None),
    ("true", "word", None),
    ("{LT}", "word", None),
    ("{{0,1},{1,0}}", "pairs", ((0, 1), (1, 0))),
    ("{}", "pairs", ()),
    ("{{0,1},{2}}", "pairs", None),
    ("{{0,1},2}", "pairs", None),
])  # fmt: skip
def test_accessors_read_the_text(text: str, accessor: str, value: object) -> None:
    instruction = read_instruction(f"x = f32[2] frobnicate(f32[2] y), k={text}")
    read = getattr(instruction, accessor)
    if value is None:
        with pytest.raises(InputError, match="frobnicate has k="):
            read("k")
    else:
        assert read("k") == value
        assert type(read("k")) is type(value)


@pytest.mark.parametrize(("text", "value"), [
    ("{[5:10:1], [3:20:7], [0:50]}", (Stride(5, 10), Stride(3, 20, 7), Stride(0, 50))),
    ("{[ 5 : 10 ],[-1:-2:-1]}", (Stride(5, 10), Stride(-1, -2, -1))),
    ("{}", ()),
    ("{[5:10],}", None),
    ("{[5:10] [0:1]}", None),
    ("{[5]}", None),
    ("[5:10]", None),
])  # fmt: skip
def test_strides(text: str, value: object) -> None:
    instruction = read_instruction(f"x = f32[2] slice(f32[2] y), slice={text}")
    if value is None:
        with pytest.raises(InputError, match="per dimension"):
            instruction.strides()
    else:
        assert instruction.strides() == value


def test_names_of_computations() -> None:
    text = "x = f32[2] f(f32[2] y), calls=%a, branches={b, %c.1}, other=%d, direction=LT, select={%e 1}"
    assert read_instruction(text).calls == {"calls": ("a",), "branches": ("b", "c.1"), "other": ("d",)}


def test_structured_attributes() -> None:
    conv = read_instruction(
        "c = f32[] convolution(f32[] a, f32[] b), window={size=2x3 stride=1x2 pad=2_1x-1_2 lhs_dilate=1x1 "
        "rhs_dilate=1x2 rhs_reversal=0x1}, dim_labels=01fb_1io0->b0f1"
    )
    first, second = conv.window()
    assert (first.size, first.stride, first.low, first.high, first.window_dilation) == (2, 1, 2, 1, 1)
    assert (second.size, second.stride, second.low, second.high, second.reversed) == (3, 2, -1, 2, True)
    assert conv.dim_labels() == ((3, 2, 0, 1), (2, 1, 3, 0), (0, 2, 1, 3))
    pad = read_instruction("p = f32[] pad(f32[] a, f32[] b), padding=1_4_1x-4_8")
    assert pad.padding() == ((1, 4, 1), (-4, 8, 0))
    assert read_instruction("p = f32[] pad(f32[] a, f32[] b), padding=").padding() == ()
    assert read_instruction("r = f32[] reduce-window(f32[] a)").window() == ()
    assert read_instruction("r = f32[] reduce-window(f32[3] a), window={size=3}").window()[0].size == 3


@pytest.mark.parametrize(("text", "call"), [
    ("a = f32[] b(), window={size=2x2 stride=1}", "window"),
    ("a = f32[] b(), window={stride=1}", "window"),
    ("a = f32[] b(), window={size=2 colour=3}", "window"),
    ("a = f32[] b(), window={size=axb}", "window"),
    ("a = f32[] b(), window={1,2}", "window"),
    ("a = f32[] b(), padding=1", "padding"),
    ("a = f32[] b(), padding=1_2_3_4", "padding"),
    ("a = f32[] b()", "padding"),
    ("a = f32[] b(), dim_labels=b0f_0io->b1f", "dim_labels"),
    ("a = f32[] b(), dim_labels=bb0f_0io->b0f", "dim_labels"),
    ("a = f32[] b(), dim_labels={}", "dim_labels"),
    ("a = f32[] b(), slice={1,2}", "strides"),
])  # fmt: skip
def test_attributes_that_make_no_sense(text: str, call: str) -> None:
    with pytest.raises(InputError) as caught:
        getattr(read_instruction(text), call)()
    assert "\n" not in str(caught.value)


def test_missing_and_mistyped_attributes() -> None:
    instruction = read_instruction("a = f32[2] b(f32[2] c), x=LT, y={1}, z=1")
    assert instruction.integer("w", 7) == 7
    assert instruction.integers("w", (1,)) == (1,)
    assert instruction.word("w", "EQ") == "EQ"
    for call in (
        lambda: instruction.integer("x"),
        lambda: instruction.integers("z"),
        lambda: instruction.word("y"),
        lambda: instruction.integer("w"),
        lambda: instruction.parameter_number,
    ):
        with pytest.raises(InputError):
            call()


def test_comments_are_skipped_and_positions_kept() -> None:
    text = (
        "a = f32[2] /* two\nlines */ parameter(0)\n// all\n"
        'b = f32[2] foo(a), m={op_name="/* no */ // no"}\nc = f32[2] foo(d)'
    )
    with pytest.raises(InputError) as caught:
        read_module(text)
    assert (caught.value.line, caught.value.column) == (5, 16)
    good = same_after_printing(text.rsplit("\n", 1)[0])
    assert good.entry.root.attribute("m") == '{op_name="/* no */ // no"}'


CONSTANTS = [
    ("f32[]", "0"),
    ("f32[3]", "-inf"),
    ("f32[2]", "{1, 2}"),
    ("s32[2,2]", "{ { 1, 2 }, { 3, 4 } }"),
    ("f32[2,0]", "{ {}, {} }"),
    ("f32[0,2]", "{ }"),
    ("f32[1000]", "{...}"),
    ("f32[2]{0:T(8,128)}", "{1, 2}"),
    ("c64[]", "(1, 2)"),
    ("c64[2]", "{(1, 2), (-inf, nan)}"),
    ("(c64[], s32[1])", "((1, 2), {3})"),
    ("opaque[]", '"a ) b"'),
    ("f32[3]", "{nan(0x7fc00001), -nan(0x1), -nan}"),
    ("f32[2,1]", "{ { nan(0x1) }, { 1e-3 } }"),
    ("f64[4]", "{1.5e+300, -inf, .5, 2.}"),
    ("c64[1]", "{(nan(0x1), -0)}"),
    ("pred[3]", "{true, false, 1}"),
    ("s4[2]", "{-8, 7}"),
    ("u64[1]", "{18446744073709551615}"),
    ("g32[2]", "{what, ever}"),
    ("s0[]", "6"),
    ("u1[2]", "{0, 1}"),
    ("f32[1,1,1,1,1]", "{{{{{ 5 }}}}}"),
]


@pytest.mark.parametrize(("shape", "literal"), CONSTANTS)
def test_constants_keep_their_text(shape: str, literal: str) -> None:
    module = same_after_printing(f"HloModule m\nENTRY e {{ ROOT c = {shape} constant({literal}) }}")
    assert module.entry.root.literal == literal
    comments = literal.replace(", ", ", /*index=5*/")
    again = read_module(f"HloModule m\nENTRY e {{\n  ROOT c = {shape} constant( {comments} )\n}}")
    assert (again.entry.root.literal or "").split() == literal.split()


WRONG_CONSTANTS = [
    ("f32[]", "{1}", 22, "an array where a scalar constant belongs"),
    ("f32[3]", "{1, 2}", 23, "2 values"),
    ("f32[1]", "{}", 23, "0 values"),
    ("f32[2,2]", "{1, 2, 3, 4}", 25, "4 values"),
    ("f32[2,2]", "{1, 2}", 25, "1 pairs of braces"),
    ("f32[2,2]", "{{1, 2}, {3, 4}, {5, 6}}", 25, "4 pairs of braces"),
    ("f32[2,2]", "{{1, 2}, {3}}", 25, "1 values"),
    ("f32[2]", "{1, 2}}", 29, "unexpected '}'"),
    ("f32[2]", "{1, 2", 28, "unexpected ')'"),
    ("s32[2]", "{1, 2.5}", 27, "unexpected '2.5' in a constant of shape s32[2]; expected an integer"),
    ("s32[]", "true", 22, "unexpected 'true' in a constant of shape s32[]; expected an integer"),
    ("pred[2]", "{1,  maybe}", 29, "unexpected 'maybe'"),
    ("f32[]", "abc", 22, "unexpected 'abc' in a constant of shape f32[]; expected a number"),
    ("f32[]", "0x10", 22, "unexpected '0x10'"),
    ("f32[]", "1.2.3", 22, "unexpected '1.2.3'"),
    ("f32[]", "- 1", 22, "unexpected '-'"),
    ("f32[]", "1, 2", 22, "2 values"),
    ("f32[]", '"1"', 22, "in a constant of shape f32[]"),
    ("c64[]", "1", 22, "expected a pair `(1, 2)`"),
    ("c64[1]", "{(1, 2, 3)}", 24, "expected a pair `(1, 2)`"),
    ("u8[]", "300", 21, "300 in a constant of type u8; expected 0 to 255"),
    ("u8[2]", "{0, -1}", 26, "-1 in a constant of type u8"),
    ("s4[]", "8", 21, "expected -8 to 7"),
    ("s64[]", "9223372036854775808", 22, "in a constant of type s64"),
    ("f32[]", "1e40", 22, "1e40 in a constant of type f32"),
    ("f16[2]", "{1, -70000}", 27, "-70000 in a constant of type f16"),
    ("f32[0]", "{1}", 24, "a value in a constant of shape f32[0]; expected no value"),
]


@pytest.mark.parametrize(("shape", "literal", "column", "message"), WRONG_CONSTANTS)
def test_a_constant_has_the_form_of_its_shape(shape: str, literal: str, column: int, message: str) -> None:
    with pytest.raises(InputError) as caught:
        read_module(f"ENTRY e {{\n  c = {shape} constant({literal})\n}}")
    assert (caught.value.line, message in str(caught.value)) == (2, True), str(caught.value)
    assert caught.value.column == column, str(caught.value)


MISTAKES = [
    ("", 1, 1, "no HLO here"),
    ("HloModule m", 1, 12, "the module has no computation"),
    ("HloModule", 1, 10, "the module has no name; expected a name after `HloModule`"),
    ("HloModule , x=1\nENTRY e { p = f32[] parameter(0) }", 1, 11, "the module has no name"),
    ("e { p = f32[] parameter(0)\n ROOT = f32[] negate(p) }", 2, 7, "where an instruction's name belongs"),
    ("e { p = f32[] parameter(0)\n ROOT a f32[] negate(p) }", 2, 9,
        "unexpected 'f32' in an instruction; expected `=`"),
    ("HloModule m\nfoo", 2, 1, "where a computation belongs"),
    ("ENTRY e {", 1, 10, "has no instructions"),
    ("e { a = f32[] parameter(0)", 1, 3, "is not closed"),
    ("e { a = f32[] parameter(0) ]", 1, 28, "where an instruction belongs"),
    ("e (p f32[]) -> f32[] { a = f32[] parameter(0) }", 1, 6, "after a parameter's name"),
    ("e (p: f32[]) { a = f32[] parameter(0) }", 1, 14, "after the parameters"),
    ("e (p: f32[]) -> f32[] { a = f32[] constant(0) }", 1, 3, "0 parameters, not the 1 of its header"),
    ("e (p: f32[2]) -> f32[] { ROOT a = f32[] parameter(0) }", 1, 3, "parameter(0) of computation 'e' is f32[]"),
    ("e (p: f32[]) -> f32[2] { ROOT a = f32[] parameter(0) }", 1, 3, "the root of computation 'e' is f32[]"),
    ("t = (s32[]) parameter(0)\nx = s32[] get-tuple-element(t), index=1", 2, 1, "element 1 of a tuple of 1"),
    ("t = () parameter(0)\nx = s32[] get-tuple-element(t), index=0", 2, 1, "element 0 of a tuple of 0"),
    ("t = s32[2] parameter(0)\nx = s32[] get-tuple-element(t), index=0", 2, 1, "an element of s32[2]"),
    ("t = (s32[2]) parameter(0)\nx = s32[] get-tuple-element(t), index=0", 2, 1, "element 0 is s32[2]"),
    ("a = f32[2] add(b, c)", 1, 16, "operand 'b' is not defined"),
    ("HloModule m\ne { a = f32[2] negate(f32[2] b) }", 2, 30, "operand 'b' is not defined"),
    ("a = f32[2] parameter(0)\na = f32[2] parameter(1)", 2, 1, "defined twice"),
    ("a = f32[2] parameter(0)\nb = f32[2] parameter(0)", 2, 1, "parameter 0 is defined twice"),
    ("HloModule m\ne { a = f32[2] parameter(1) }", 2, 29, "no parameter(0)"),
    ("e { ROOT a = f32[] parameter(0) ROOT b = f32[] negate(a) }", 1, 33, "two ROOT"),
    ("ENTRY a { x = f32[] constant(1) } ENTRY b { x = f32[] constant(1) }", 1, 35, "two computations are marked"),
    ("a { x = f32[] constant(1) } a { x = f32[] constant(1) }", 1, 29, "defined twice"),
    ("a = f32[2] parameter(x)", 1, 22, "a parameter number"),
    ("a = f32[2] constant()", 1, 21, "a constant without value"),
    ("a = f32[2] parameter(0)\nb = f32[2] negate(f32[3] a)", 2, 26, "was defined as"),
    ("a = f32[2] parameter(0)\nb = f32[2] add(a,)", 2, 18, "between operands; expected an operand"),
    ("a = f32[2] parameter(0)\nb = f32[2] add(a a)", 2, 18, "between operands"),
    ("a = f32[2] parameter(0)\nb = f32[2] add(a", 2, 15, "'(' is not closed"),
    ("a = f32[2] parameter(0), x={1", 1, 28, "'{' is not closed"),
    ('a = f32[2] parameter(0), x="1', 1, 28, "a string is not closed"),
    ("a = f32[2] parameter(0), x=", 1, 28, "where a value belongs"),
    ("a = f32[2] parameter(0), x=1, x=2", 1, 31, "given twice"),
    ("a = f32[2] parameter(0),", 1, 25, "after a comma"),
    ("a = f32[2]", 1, 11, "where an opcode belongs"),
    ("a = f32[2] 5(x)", 1, 12, "where an opcode belongs"),
    ("a : f32[2]", 1, 1, "where a computation belongs"),
    ("a = f32[2] parameter(0), x==1", 1, 28, "where a value belongs"),
    ("a = b(f32[2] parameter(0)", 1, 14, "after the array of a buffer"),
    ("a = f32[] negate(f32[] parameter(0), x=1)", 1, 39, "between operands"),
    ("a = f32[] f(" + "f(" * 60 + ")" * 61, 1, 113, "nested deeper than 50"),
    ("a = f32[] c(), literal=s32[2]{0} {1}", 1, 34, "1 values in the innermost braces"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "line", "column", "message"), MISTAKES)
def test_mistakes_say_where(text: str, line: int, column: int, message: str) -> None:
    with pytest.raises(InputError) as caught:
        read_module(text)
    error = caught.value
    assert (error.line, error.column) == (line, column), str(error)
    assert message in str(error)
    assert error.expected
    assert error.render().count("\n") == 2


def test_instructions_in_place_of_operands() -> None:
    module = read_module("ROOT r = f32[] add(f32[] parameter(0), f32[] negate(negate(parameter(1))))")
    assert [str(i) for i in module.entry.instructions] == [
        "%parameter.anon = f32[] parameter(0)",
        "%parameter.anon.1 = parameter(1)",
        "%negate.anon = negate(%parameter.anon.1)",
        "%negate.anon.1 = f32[] negate(%negate.anon)",
        "%r = f32[] add(%parameter.anon, %negate.anon.1)",
    ]
    assert module.entry.root.name == "r"
    with pytest.raises(InputError, match="in place of operands"):
        read_instruction("r = f32[] negate(f32[] parameter(0))")


def test_buffers_are_shapes_of_their_own() -> None:
    shape = read_shape("b(f32[2,3]{0,1:T(2)})")
    assert isinstance(shape, Shape)
    assert (shape.buffer, str(shape)) == (True, "b(f32[2,3]{0,1:T(2)})")
    assert shape.without_layout() == read_shape("b(f32[2,3])") != read_shape("f32[2,3]")


def test_deep_nesting_needs_no_stack() -> None:
    deep = "{" * 20_000
    for text in (
        f"a = f32[] b(), x={deep}",
        f"a = f32[] b(), x={deep}{'}' * 20_000}",
        f"a = f32[] constant({deep}{'}' * 20_000})",
        "a = " + "(" * 20_000,
    ):
        try:
            module = read_module(text)
        except InputError:
            continue
        assert read_module(format_module(module)) == module


HOSTILE = {
    "open braces": "a = f32[] b(), x=" + "{" * 200_000,
    "open parentheses": "a = " + "(" * 200_000,
    "nested JSON": "a = f32[] b(), backend_config=" + '{"a":' * 30_000 + "1" + "}" * 30_000,
    "escaped quotes": 'a = f32[] b(), x="' + '\\"' * 200_000,
    "open comments": "/*" * 200_000,
    "comments in strings": ('"' + "/*" * 1000) * 100,
    "commas": "a = f32[] b(" + "," * 200_000 + ")",
    "sizes": "a = f32[" + "1," * 100_000 + "1] b()",
    "operands": "a = f32[] parameter(0)\nb = () tuple(" + ", ".join(["a"] * 50_000) + ")",
    "attributes": "a = f32[] b()" + "".join(f", a{k}={k}" for k in range(30_000)),
    "elements of a tuple": "a = (" + ", ".join(["f32[2]"] * 30_000) + ") parameter(0)",
    "one long name": "a" * 400_000,
    "strings over lines": "\n".join(f'a{k} = f32[] b(), m="x' for k in range(5000)),
    "long attributes": "\n".join(f"b{k} = f32[] b(), m={{{'1,' * 3000}1}}" for k in range(50)),
    "open operands": "\n".join(f"a{k} = f32[] b(a, b, " for k in range(10_000)),
    "tiles": "a = f32[2]{0:T" + "(2)" * 30_000 + "} parameter(0)",
    "one line": "ENTRY e { a = f32[] parameter(0) "
    + " ".join(f'a{k} = f32[] negate(a), metadata={{op_name="x"}}' for k in range(5000))
    + "}",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_texts_take_no_longer(name: str) -> None:
    """Reading takes linear time: half a megabyte takes a tenth of a second, where quadratic time would be minutes."""
    started = time.process_time()
    try:
        module = read_module(HOSTILE[name])
    except InputError as error:
        error.render()
    else:
        assert read_module(format_module(module)) == module
    assert time.process_time() - started < 20


def test_speed() -> None:
    """Reading reaches 1 MB/s, which guards only against a loss of an order of magnitude; the benchmark measures."""
    text = hlo_file_text(next(path for path in FILES if "transformer" in path.name and "opt" in path.name))
    started = time.process_time()
    for _ in range(5):
        read_module(text)
    assert len(text) * 5 / (time.process_time() - started) > 200_000
