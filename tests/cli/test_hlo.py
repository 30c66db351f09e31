"""`indexproof hlo`."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from indexproof.core.json_form import map_from_json
from indexproof.core.text import parse_map
from json_forms import FORMS

Run = Callable[..., Any]

MODULE = """HloModule m

f {
  p0 = f32[8,6] parameter(0)
  k = s32[] parameter(1)
  z = s32[] constant(0)
  d = f32[2,6] dynamic-slice(p0, k, z), dynamic_slice_sizes={2,6}
  ROOT t = f32[6,2]{1,0:T(2,2)} transpose(d), dimensions={1,0}
}

ENTRY e {
  a = f32[8,6]{0,1} parameter(0)
  i = s32[] parameter(1)
  n = s32[] negate(i)
  o = f32[6,2]{1,0:T(2,2)} fusion(a, n), kind=kLoop, calls=f
  ROOT c = f32[6,2] custom-call(o), custom_call_target="mystery"
}
"""


def test_one_of_several_modules(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "several.hlo"
    body = "ENTRY e {{\n  p = f32[4] parameter(0)\n  ROOT r = f32[{}] slice(p), slice={{[0:{}]}}\n}}\n"
    path.write_text(f"HloModule a\n{body.format(2, 2)}// -----\nHloModule b, x=1\n{body.format(3, 9)}")
    assert "domain: d0 in [0, 1]" in run("hlo", path, "--module", "a").out
    done = run("hlo", path)
    assert done.status == 3
    assert "2 modules in one text; expected --module and one of a, b" in done.err
    assert "no module " in run("hlo", path, "--module", "c").err
    path.write_text(path.read_text().replace("slice(p)", "slice(q)"))
    assert "line 10, column" in run("hlo", path, "--module", "b").err


@pytest.fixture
def module(tmp_path: Path) -> str:
    path = tmp_path / "m.hlo"
    path.write_text(MODULE)
    return str(path)


FUSED = "  t f32[6,2] -> p0 f32[8,6]\n    (d0, d1){rt0} -> (d1 + rt0, d0),"


@pytest.mark.parametrize(("arguments", "parts"), [
    ("", ["e   entry, 5 instructions\n", "NO MAP   c   custom-call in e\n  because  c: mystery",
        "  c f32[6,2] -> a f32[8,6]\n    not known: c: mystery: what the called code reads",
        "4 of 5 instructions mapped"]),
    ("--fusions", ["f   fusion o, 5 instructions\n", FUSED, "hlo: k = s32[] parameter(1)"]),
    ("-c f", ["f   fusion o, 5 instructions\n", FUSED, "hlo: k = s32[] parameter(1)"]),
    # a constant index is not a runtime variable
    ("-i d --input-to-output", ["d   dynamic-slice in f, 1 instruction\n", "  d f32[2,6] -> p0 f32[8,6]\n",
        "  d f32[2,6] <- p0 f32[8,6]\n", "(d0, d1){rt0} -> (d0 + rt0, d1),"]),
    ("--from p0 --to t -c f --verify", ["p0 -> t   all paths in f, 3 instructions", FUSED,
        "\nPROVED  1 unit: 3 of 3 instructions mapped"]),
    ("--from t --to d -c f", ["no output depends on an input"]),
    # element (q, r) of the tiled array is at p = 2·q + r, and reads (r + rt0, q), at 8·q + r + rt0 = 6·q + p + rt0
    ("-i o --physical", ["  o f32[6,2]{1,0:T(2,2)} -> a f32[8,6]{0,1}\n",
        "(d0){rt0} -> ((d0 floordiv 2) * 6 + d0 + rt0),"]),
])  # fmt: skip
def test_the_maps_of_a_module(run: Run, module: str, arguments: str, parts: list[str]) -> None:
    done = run("hlo", module, *arguments.split())
    assert done.status == 0
    for part in parts:
        assert part in done.out


def test_json(run: Run, module: str) -> None:
    done = run("hlo", module, "--fusions", "--input-to-output", "--json")
    data = json.loads(done.out)
    assert set(data) == set(FORMS["hlo"])
    assert (data["format"], data["verdict"], data["module"]) == ("indexproof hlo 1", "NOT CHECKED", "m")
    (unit,) = data["units"]
    assert {m["direction"] for m in unit["maps"]} == {"output_to_input", "input_to_output"}
    for entry in unit["maps"]:
        for m in entry["maps"]:
            assert map_from_json(m["map"]) == parse_map(m["text"])
    (reason,) = json.loads(run("hlo", module, "--json").out)["units"][0]["unmapped"]
    assert (reason["name"], reason["opcode"]) == ("c", "custom-call")


def test_verify_proves_all_computations(run: Run, module: str) -> None:
    done = run("hlo", module, "--verify")
    assert done.status == 0
    head, f, e = done.out.splitlines()[:3]
    named = "computation is instructions mapped maps questions proved false open time"
    assert " ".join(head.split()) == named
    assert f.split()[:3] == ["f", "fusion", "o"]
    assert e.split()[:2] == ["e", "entry"]
    assert done.out.splitlines()[-1].startswith("PROVED  2 units: 9 of 10 instructions mapped, ")
    data = json.loads(run("hlo", module, "--verify", "--json").out)
    assert [u["verified"]["verdict"] for u in data["units"]] == ["PROVED", "PROVED"]
    assert data["units"][0]["verified"]["failed"] == []
    assert data["units"][0]["verified"]["questions"]["folded"] == 2


def test_what_is_false_decides_the_exit_status(run: Run, module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from indexproof.rules.ops.movement import Transpose

    monkeypatch.setattr(
        Transpose,
        "input_to_output",
        lambda self, k, i, rt, x: Transpose.output_to_input(self, k, [i[0] % 6, i[1] % 2], rt, x),
    )
    done = run("hlo", module, "--verify")
    assert done.status == 1
    assert "REFUTED  sound   t in f\n  because  " in done.out
    assert done.out.splitlines()[-1].startswith("REFUTED  2 units")


@pytest.mark.parametrize(("instruction", "said"), [
    ("f32[2,3] transpose(p), dimensions={1,0}", "r: transpose makes f32[3,2]; expected f32[2,3]"),
    ("f32[7] reshape(p)", "reshape: shape [2, 3] and sizes=(7,) differ in number of elements: 6 and 7"),
    ("f32[9,3] slice(p), slice={[0:9], [0:3]}", "slice: limit=(9, 3) is beyond the size 2 of dimension 0"),
])  # fmt: skip
def test_an_instruction_that_cannot_be_is_refuted(run: Run, instruction: str, said: str) -> None:
    text = f"HloModule m\nENTRY e {{\n  p = f32[2,3] parameter(0)\n  ROOT r = {instruction}\n}}\n"
    done = run("hlo", "-", "--verify", stdin=text)
    assert (done.status, done.err) == (1, "")
    assert f"REFUTED  shape   r in e\n  because  {said}" in done.out
    assert "NO MAP   r   " in done.out
    # without `--verify` it is only an instruction without maps
    assert run("hlo", "-", stdin=text).status == 0


def test_a_byte_order_mark_is_no_part_of_the_text(run: Run, tmp_path: Path) -> None:
    text = "\ufeffHloModule m\r\nENTRY e {\r\n  ROOT p = f32[] parameter(0)\r\n}\r\n"
    path = tmp_path / "m.hlo"
    path.write_text(text, "utf-8")
    for done in (run("hlo", "-", stdin=text), run("hlo", path)):
        assert (done.status, done.err) == (0, "")
    assert "line 3, column 13" in run("hlo", "-", stdin=text.replace("ROOT", "ROOT ROOT")).err


def test_compressed_files_and_standard_input(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "m.hlo.gz"
    path.write_bytes(gzip.compress(MODULE.encode()))
    assert run("hlo", str(path), "--summary").status == 0
    assert run("hlo", "-", "--summary", stdin=MODULE).out.splitlines()[0].split()[:2] == ["computation", "is"]
    path.write_bytes(b"no gzip")
    assert run("hlo", str(path)).status == 3


@pytest.mark.parametrize(("arguments", "said"), [
    (["-c", "g"], "there is no computation `g` in the module `m`; expected one of f, e"),
    (["-i", "q"], "--instruction: there is no instruction `q` in f, e; expected one of p0, k"),
    (["--verify", "-i", "d"], "--verify proves whole computations"),
    (["--verify", "--physical"], "--verify proves maps between elements"),
    (["--from", "nothing"], "--from: there is no instruction `nothing` in e"),
    (["--to", "x", "-c", "f"], "--to: there is no instruction `x` in f"),
    (["--to", "c", "--fusions"], "--from and --to ask about one computation"),
])  # fmt: skip
def test_what_is_not_there(run: Run, module: str, arguments: list[str], said: str) -> None:
    done = run("hlo", module, *arguments)
    assert done.status == 3
    assert said in done.err


def test_instructions_without_maps_and_arrays_without_elements(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "m.hlo"
    path.write_text(
        "HloModule m\nENTRY main { p = f32[0,5] parameter(0)\n n = f32[0,5] negate(p)\n"
        ' ROOT c = f32[2] custom-call(n), custom_call_target="t" }'
    )
    done = run("hlo", str(path), "-i", "c", "-i", "n")
    assert "NO MAP   c   custom-call in main\n" in done.out
    assert "  n f32[0,5] -> p f32[0,5]\n    it reads no element\n" in done.out
    assert "expected one of n, c, …, or another" in run("hlo", str(path), "-i", "nc").err


def test_text_that_is_no_hlo(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "m.hlo"
    path.write_text(MODULE.replace("f32[8,6] parameter(0)", "f32[8,6 parameter(0)", 1))
    done = run("hlo", str(path))
    assert done.status == 3
    assert f"in {path}" in done.err
    assert "line 4, column" in done.err
    assert run("hlo", str(tmp_path / "none.hlo")).status == 3


LOOP = """
body {
  s = (s32[], f32[4]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[4] get-tuple-element(s), index=1
  r = f32[4] reverse(x), dimensions={0}
  ROOT t = (s32[], f32[4]) tuple(i, r)
}
less {
  s = (s32[], f32[4]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  c = s32[] constant(3)
  ROOT p = pred[] compare(i, c), direction=LT
}
ENTRY e {
  s = (s32[], f32[4]) parameter(0)
  ROOT w = (s32[], f32[4]) while(s), condition=less, body=body
}
"""


def test_maps_of_loops_are_said_to_be_upper_bounds(run: Run) -> None:
    done = run("hlo", "-", stdin=LOOP)
    assert "    at most: w: how often the body runs is not known" in done.out
    assert done.out.splitlines()[-1].startswith("1 unit: 2 of 2 instructions mapped, 3 maps are upper bounds")
    done = run("hlo", "-", "--summary", stdin=LOOP)
    head, *rows = done.out.splitlines()[:4]
    assert head.split() == ["computation", "is", "instructions", "mapped", "maps", "bounds", "time"]
    assert {row.split()[0]: row.split()[-3] for row in rows} == {"body": "-", "less": "-", "e": "3"}
    (unit,) = json.loads(run("hlo", "-", "--json", stdin=LOOP).out)["units"]
    exact = {(m["output"].split()[0], m["operand"].split()[0]): m["exact"] for m in unit["maps"]}
    assert exact == {("w[0]", "s[0]"): True, ("w[1]", "s[0]"): False, ("w[1]", "s[1]"): False}
    assert all(m["exact"] == (not m["at_most"]) for m in unit["maps"])


def test_stablehlo_is_read_too(run: Run) -> None:
    pytest.importorskip("jax")
    text = """module @m {
  func.func public @main(%arg0: tensor<2x3xf32>) -> tensor<3x2xf32> {
    %0 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
    return %0 : tensor<3x2xf32>
  }
}
"""
    assert "(d0, d1) -> (d1, d0), domain: d0 in [0, 2], d1 in [0, 1]" in run("hlo", "-", stdin=text).out
    done = run("hlo", "-", stdin=text.replace("dims = [1, 0]", "dims = [1, 1]"))
    assert done.status == 3
    assert done.err.startswith("error: in standard input: line 3, column ")


def test_a_picture_shows_what_a_tile_reads(run: Run, module: str, tmp_path: Path) -> None:
    svg = tmp_path / "t.svg"
    assert run("hlo", module, "-c", "f", "-i", "t", "--tile", "3,1", "--svg", str(svg)).status == 0
    root = ElementTree.parse(svg).getroot()
    cells = {
        (c.findtext("{*}title"), c.get("fill")) for c in root.findall(".//{*}rect") if c.find("{*}title") is not None
    }
    assert {place for place, fill in cells if fill == "#f6ad55"} == {"(0, 0)", "(1, 0)", "(2, 0)"}
    assert {place for place, fill in cells if fill == "#63b3ed"} == {"(0, 0)", "(0, 1)", "(0, 2)"}
    assert len({t.get("font-size") for t in root.findall(".//{*}text") if (t.text or "").isdigit()}) == 1


def test_no_picture_of_what_is_not_known(run: Run, module: str, tmp_path: Path) -> None:
    svg = str(tmp_path / "no.svg")
    for words, said in (
        (["-i", "t", "--svg", svg], "--tile"),
        (["-i", "c", "--tile", "1,1", "--svg", svg], "all maps are known"),
        (["--all", "--tile", "1,1", "--svg", svg], "one output"),
        (["-i", "a", "--tile", "1,1", "--svg", svg], "nothing is read"),
    ):
        done = run("hlo", module, *words)
        assert (done.status, said in done.err) == (3, True), words
    assert not Path(svg).exists()


def test_analyze_sums_up_the_bytes(run: Run, tmp_path: Path) -> None:
    dot = tmp_path / "dot.hlo"
    dot.write_text(
        "HloModule m\nENTRY main {\na = f32[64,32] parameter(0)\nb = bf16[32,16] parameter(1)\n"
        "c = f32[32,16] convert(b)\n"
        "ROOT d = f32[64,16] dot(a, c), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n}\n"
    )
    read, written = 64 * 32 * 4 + 32 * 16 * 2, 64 * 16 * 4
    asked = 64 * 16 * 32 * (4 + 2)
    row = f"main {read:,} {written:,} {asked:,} {asked / (read + written):,.3g}"
    assert row in [" ".join(line.split()) for line in run("hlo", str(dot), "--analyze").out.splitlines()]


def test_analyze_counts_in_sizes_that_are_not_known(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "m.hlo"
    file.write_text(
        "HloModule m\nENTRY main {\na = f32[?,32] parameter(0)\nb = bf16[32,?] parameter(1)\nc = f32[4] parameter(2)\n"
        "d = f32[?,?] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
        "r = f32[4] reverse(c), dimensions={0}\nROOT t = (f32[?,?], f32[4]) tuple(d, r)\n}\n"
    )
    text = run("hlo", str(file), "--analyze").out
    assert "reads all n0 * 32 elements, each n1 times, where n1 >= 1" in text
    read, asked = "n0 * 128 + n1 * 64 + 16", "(n0 * n1) * 192 + 16"
    row = f"main {read} (n0 * n1) * 4 + 16 {asked} ({asked}) / ((n0 * n1) * 4 + n0 * 128 + n1 * 64 + 32)"
    assert row in [" ".join(line.split()) for line in text.splitlines()]
    # the map of an array of known size is printed once
    assert text.count("(d0) -> (-d0 + 3)") == 1
    first, *_ = json.loads(run("hlo", str(file), "--analyze", "--json").out)["units"][0]["maps"]
    assert first["use"] == {
        "elements": "32·n0",
        "distinct": "32·n0",
        "reads": "32·n0·n1",
        "fraction": "1",
        "reuse": "n1",
        "at_most": False,
        "conditions": ["1 ≤ n1"],
    }
    file.write_text(
        "HloModule m\nENTRY main {\na = f32[?,?] parameter(0)\nt = f32[?,?] transpose(a), dimensions={1,0}\n"
        "ROOT s = f32[?,?] add(a, t)\n}\n"
    )
    text = run("hlo", str(file), "--analyze", "--tile", "2,2").out
    assert "not counted: several maps may read one element" in text
    assert "reads a tile 2×2 at (t0 * 2, t1 * 2)" in text
    assert "reads a tile 2×2 at (t1 * 2, t0 * 2)" in text
    assert "no tilings: a size is not known" in run("hlo", str(file), "--tilings", "100").out


def test_what_interior_padding_leaves_is_counted_for_all_sizes(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "m.mlir"
    file.write_text(
        "module @m {\nfunc.func public @main(%a: tensor<?x?xf32>) -> tensor<?x?xf32> {\n"
        "%c = stablehlo.constant dense<0.0> : tensor<f32>\n"
        "%p = stablehlo.pad %a, %c, low = [2, 1], high = [1, 3], interior = [1, 2]"
        " : (tensor<?x?xf32>, tensor<f32>) -> tensor<?x?xf32>\nreturn %p : tensor<?x?xf32>\n}\n}\n"
    )
    assert "reads all n0 * n1 elements, each once" in run("hlo", str(file), "--analyze").out


def test_analyze_states_for_which_sizes_tiles_are_read(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "m.hlo"
    file.write_text(
        "HloModule m\nENTRY main {\na = f32[64,128] parameter(0)\nt = f32[128,64] transpose(a), dimensions={1,0}\n"
        "r = f32[8192] reshape(t)\ni = s32[] parameter(1)\n"
        "ROOT s = f32[100] dynamic-slice(r, i), dynamic_slice_sizes={100}\n}\n"
    )
    text = run("hlo", str(file), "--from", "a", "--to", "r", "--analyze").out
    assert "reads tiles min(t0, 64) × t0 ceildiv 64, only if t0 ∣ 64 or 64 ∣ t0" in text
    data = json.loads(run("hlo", str(file), "--from", "a", "--to", "r", "--analyze", "--json").out)
    entry = data["units"][0]["maps"][0]
    assert entry["tile_sizes"] == [{"condition": "t0 ∣ 64 or 64 ∣ t0", "sizes": ["min(t0, 64)", "ceildiv(t0, 64)"]}]
    assert "for which sizes it reads tiles was not decided" in run("hlo", str(file), "--analyze").out


@pytest.mark.parametrize("size", range(1, 7))
def test_tiles_are_those_of_the_output_where_a_part_of_it_reads(run: Run, tmp_path: Path, size: int) -> None:
    file = tmp_path / "m.hlo"
    file.write_text(
        "HloModule m\nENTRY main {\na = f32[9] parameter(0)\nb = f32[9] reverse(a), dimensions={0}\n"
        "z = f32[] constant(0)\np = f32[12] pad(a, z), padding=1_2\nc = f32[21] concatenate(b, p), dimensions={0}\n"
        "ROOT t = (f32[12], f32[21]) tuple(p, c)\n}\n"
    )
    padded = {d: d - 1 for d in range(1, 10)}
    wanted = [[padded], [{d + 9: x for d, x in padded.items()}, {d: 8 - d for d in range(9)}]]
    found = json.loads(run("hlo", str(file), "--tile", str(size), "--json").out)["units"][0]["maps"]
    for entry, length, reads in zip(found, (12, 21), wanted, strict=True):
        for tile, read in zip(entry["tiles"], reads, strict=True):
            offsets = map_from_json(tile["offsets"]["map"])
            ((low, high),) = tile["bounds"]
            for t in range(-(-length // size)):
                (first,) = offsets.evaluate((t,)) or (high + 1,)
                held = {first + k for k in range(tile["sizes"][0])} & {*range(low, high + 1)}
                assert held == {x for d, x in read.items() if d // size == t}


def test_tiles_where_a_size_is_not_known(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "m.hlo"
    file.write_text("HloModule m\nENTRY main {\na = f32[?,4] parameter(0)\nROOT r = f32[?] reshape(a)\n}\n")
    text = run("hlo", str(file), "--tile", "o:8").out
    told = "if n0 ≤ 1, and only then; none at n0 = 2: tile (o = 1) does not read (0, 0), which lies among what it reads"
    assert f"reads a tile 2×4 at (o floordiv 4, o mod 4), {told}" in text
    text = run("hlo", str(file), "--tile", "6").out
    told = "if 4·n0 ≤ 6 or n0 ≤ 1, and only then; none at n0 = 2: tile (0) does not read (1, 2)"
    assert f"at ((t0 * 3) floordiv 2, (t0 mod 2) * 2), {told}" in text
    back = tmp_path / "back.hlo"
    turned = "b = f32[?] reshape(a)\nROOT r = f32[?] reverse(b), dimensions={0}"
    back.write_text(file.read_text().replace("ROOT r = f32[?] reshape(a)", turned))
    text = run("hlo", str(back), "--tile", "6").out
    assert "n0 - 2, -((t0 * 2) mod 4)), if n0 ≤ 1; none at n0 = 2: tile (0) does not read (0, 0)" in text
    found = []
    for tile in ("o:8", "6"):
        ((entry,),) = (u["maps"] for u in json.loads(run("hlo", str(file), "--tile", tile, "--json").out)["units"])
        found += entry["tiles"]
    torn = {"tile": False, "place": [1], "missing": [0, 0], "dimension": None}
    assert [t.pop("offsets")["map"]["dims"] for t in found] == [["o"], ["t0"]]
    assert found == [
        {
            "tile": True,
            "sizes": ["2", "4"],
            "strides": ["1", "1"],
            "bounds": [["0", "n0 - 1"], ["0", "3"]],
            "condition": "n0 ≤ 1",
            "necessary": True,
            "at": {"n0": 2},
            "missing": torn,
        },
        {
            "tile": True,
            "sizes": ["min(2·n0, 3) - 1", "-2·min(2·n0, 3) + 8"],
            "strides": ["1", "1"],
            "bounds": [["0", "n0 - 1"], ["0", "3"]],
            "condition": "4·n0 ≤ 6 or n0 ≤ 1",
            "necessary": True,
            "at": {"n0": 2},
            "missing": torn | {"place": [0], "missing": [1, 2]},
        },
    ]


@pytest.mark.parametrize(("tile", "said"), [
    ("8:4", "column 1: --tile: `8` is no name for a place; expected another name for each place"),
    ("t0:4", "`t0` is no name"),
    ("o:4, o:4", "column 6: --tile: `o` is no name"),
    ("4,o:x", "column 5: --tile: `x` is no number"),
])  # fmt: skip
def test_a_place_has_a_name_of_letters(run: Run, module: str, tile: str, said: str) -> None:
    done = run("hlo", module, "-i", "o", "--tile", tile)
    assert (done.status, said in done.err) == (3, True), done.err


# ---------------- `indexproof equal` on two HLO instructions: compared by what they read, operand for operand
TRANSPOSE = "t = f32[3,2] transpose(f32[2,3] x), dimensions={1,0}"


@pytest.mark.parametrize(("left", "right", "status"), [
    (TRANSPOSE, "u = f32[3,2] transpose(f32[2,3] other), dimensions={1,0}", 0),
    ("r = f32[6] reshape(f32[2,3] x)", "p = f32[2,3] parameter(0)\nr = f32[6] reshape(p)", 0),
    ("t = f32[3,3] transpose(f32[3,3] x), dimensions={1,0}", "c = f32[3,3] copy(f32[3,3] x)", 1),
    ("a = f32[5] slice(f32[10] x), slice={[0:10:2]}", "b = f32[5] slice(f32[10] x), slice={[1:10:2]}", 1),
    ("a = f32[4] add(f32[4] x, f32[4] y)", "m = f32[4] multiply(f32[4] u, f32[4] v)", 0),
    ("d = f32[5] dynamic-slice(f32[10] x, s32[] i), dynamic_slice_sizes={5}",
        "e = f32[5] dynamic-slice(f32[10] p, s32[] q), dynamic_slice_sizes={5}", 0),
])  # fmt: skip
def test_two_instructions(run: Run, left: str, right: str, status: int) -> None:
    done = run("equal", left, right)
    assert done.status == status, done.out
    assert all("  operand " in line for line in done.out.splitlines() if not line.startswith(" "))
    data = json.loads(run("equal", left, right, "--json").out)
    assert set(data) == set(FORMS["equal (instructions)"])
    assert data["exit_status"] == status
    assert data["verdict"] == ("PROVED" if status == 0 else "REFUTED")


def test_files_and_standard_input(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "t.hlo"
    path.write_text(TRANSPOSE, "utf-8")
    assert run("equal", f"@{path}", "-", stdin=TRANSPOSE).status == 0


@pytest.mark.parametrize(("to", "heavy"), [
    ("r", {"z3", "islpy", "indexproof.verify.modules"}),
    ("t", {"z3", "islpy", "indexproof.verify.modules", "numpy"}),
])  # fmt: skip
def test_a_query_that_proves_nothing_loads_no_solver(to: str, heavy: set[str], tmp_path: Path) -> None:
    """A query without proofs imports no solver, and numpy only where it compares the maps of two paths."""
    path = tmp_path / "m.hlo"
    path.write_text(
        "ENTRY e {\n  p = f32[8,6] parameter(0)\n  t = f32[6,8] transpose(p), dimensions={1,0}\n"
        "  s = f32[6,8] reshape(p)\n  ROOT r = f32[6,8] add(t, s)\n}\n"
    )
    code = (
        "import sys\nfrom indexproof.cli import main\ntry:\n    main()\nfinally:\n"
        f"    print({heavy} & {{*sys.modules}})\n"
    )
    words = [sys.executable, "-c", code, "hlo", str(path), "--from", "p", "--to", to]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert done.stdout.count(" d1") >= (2 if to == "r" else 1)
    assert done.stdout.endswith("set()\n")
