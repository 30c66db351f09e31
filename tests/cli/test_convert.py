"""`indexproof convert`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import islpy

from indexproof import parse_map
from indexproof.core.interop import SympyMap, from_mlir, from_sympy
from indexproof.core.json_form import map_from_json
from indexproof.reports.convert import FORMS
from indexproof.verify.concrete import equal_maps
from indexproof.verify.isl_form import from_isl
from indexproof.verify.verdict import Status

Run = Callable[..., Any]

SOURCE = (
    "(d0, d1)[s0] -> ((d0 * 4 + d1) floordiv 12, (d0 * 4 + d1) mod 12 + s0), domain: d0 in [0, 99],"
    " d1 in [0, 3], s0 in [0, 1], d0 + d1 in [0, 50]"
)
MAP = parse_map(SOURCE)


def test_text_and_json(run: Run) -> None:
    assert run("convert", SOURCE, "--to", "text").out == SOURCE + "\n"
    text = run("convert", SOURCE, "--to", "json").out
    assert map_from_json(json.loads(text)) == MAP
    assert run("convert", "-", "--to", "text", stdin=text).out == SOURCE + "\n"


def test_mlir_both_ways(run: Run) -> None:
    affine_map, affine_set = run("convert", SOURCE, "--to", "mlir").out.splitlines()
    assert from_mlir(affine_map, affine_set) == MAP
    done = run("convert", affine_map, "--domain", affine_set, "--to", "text")
    assert (done.status, done.out) == (0, SOURCE + "\n")


def test_what_is_printed_as_mlir_is_read_by_every_command(run: Run, tmp_path: Path) -> None:
    text = run("convert", SOURCE, "--to", "mlir").out
    assert run("convert", "-", "--to", "text", stdin=text).out == SOURCE + "\n"
    (tmp_path / "m.mlir").write_text(text, "utf-8")
    (tmp_path / "set.mlir").write_text(text.splitlines()[1], "utf-8")
    affine_map = text.splitlines()[0]
    given = ("convert", affine_map, "--domain", f"@{tmp_path / 'set.mlir'}", "--to", "text")
    assert run(*given).out == SOURCE + "\n"
    file = f"@{tmp_path / 'm.mlir'}"
    assert run("simplify", file).out == run("simplify", SOURCE).out
    assert run("width", file).out.startswith("PROVED  int32 is enough")
    done = run("equal", file, SOURCE)
    assert (done.status, done.out.split()[0]) == (0, "PROVED")
    done = run("simplify", affine_map)
    assert done.status == 3
    assert "the variable `d0` has no bounds; expected a domain that bounds it" in done.err
    done = run("simplify", f"{text}\naffine_set<(d0) : (d0 >= 0)>")
    assert "line 4, column 1: unexpected `affine_set`; expected the end of the text" in done.err
    done = run("simplify", f"{affine_map} (d0)")
    assert "unexpected `(`; expected `affine_set<` or the end of the text" in done.err


def test_isl(run: Run) -> None:
    text = run("convert", SOURCE, "--to", "isl").out
    assert equal_maps(from_isl(islpy.Map(text)), MAP).verdict is Status.PROVED


def test_sympy_source_is_a_program(run: Run) -> None:
    scope: dict[str, Any] = {}
    exec(run("convert", SOURCE, "--to", "sympy").out, scope)
    bounds = [(v, lo, hi) for v, (lo, hi) in scope["bounds"].items()]
    back = from_sympy(
        SympyMap(
            tuple(bounds[:2]),
            tuple(bounds[2:]),
            results=tuple(scope["results"]),
            constraints=tuple(scope["constraints"]),
        )
    )
    assert back.variables == MAP.variables
    assert equal_maps(back, MAP, "pointwise").verdict is Status.PROVED


def test_functions(run: Run) -> None:
    scope: dict[str, Any] = {}
    exec(run("convert", SOURCE, "--to", "python", "--checked", "--name", "f").out, scope)
    for point in ((9, 3, 1), (50, 1, 0), (99, 3, 0), (0, 0, 2)):
        assert scope["f"](*point) == MAP.evaluate(point[:2], point[2:])
    assert "void indexing_map(int32_t d0" in run("convert", SOURCE, "--to", "c").out
    assert "bool g(int32_t d0" in run("convert", SOURCE, "--to", "c", "--checked", "--name", "g").out


def test_every_form_is_named_in_the_help(run: Run) -> None:
    text = run("convert", "--help").out
    assert all(form in text for form in FORMS)
