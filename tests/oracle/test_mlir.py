"""MLIR itself, through the bindings in jaxlib: it reads our output, and prints it unchanged."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from indexproof import IndexingMap, parse_map
from indexproof.core.expr import ceildiv, var
from indexproof.core.interop import from_mlir, to_mlir, to_mlir_set

ir = pytest.importorskip("jaxlib.mlir.ir")

DATA = Path(__file__).parent.parent / "core" / "data"
MAPS = (DATA / "xla_maps.txt").read_text("utf-8").splitlines()


def printed(text: str) -> str:
    """Read an attribute with MLIR and print it."""
    with ir.Context():
        return str(ir.Attribute.parse(text))


def test_maps_of_xla_are_printed_by_mlir_as_they_are_written() -> None:
    same = simpler = 0
    for source in MAPS:
        m = parse_map(source)
        for text in (to_mlir(m), to_mlir_set(m)):
            theirs = printed(text)
            if theirs == text:
                same += 1
            else:  # MLIR simplified it
                simpler += 1
                assert len(theirs) <= len(text), (text, theirs)
    assert same > 20 * simpler, (same, simpler)
    assert same > 100


def test_what_mlir_prints_means_the_same(maps: Any) -> None:
    same = 0
    for _ in range(300):
        m = maps.map(("add", "sub", "mul", "div", "mod", "ceil"), rank=3, runtime=False, constraints=0)
        theirs = printed(to_mlir(m))
        same += theirs == to_mlir(m)
        back = from_mlir(theirs, printed(to_mlir_set(m)))
        for point in maps.points(m, 5, outside=False):
            assert back.evaluate(point[:3], point[3:]) == m.evaluate(point[:3], point[3:])
    assert same > 100


def evaluated(e: Any, values: list[int]) -> int:
    """The constant that MLIR folds an expression to."""
    composed = e.compose(ir.AffineMap.get(0, 0, [ir.AffineConstantExpr.get(x) for x in values]))
    return int(ir.AffineConstantExpr(composed).value)


def test_operators_have_the_same_values_in_mlir() -> None:
    """Divisions round as in MLIR, for both signs of the dividend and of the divisor."""
    with ir.Context():
        for divisor in (1, 2, 3, 7, -1, -2, -5):
            for build in (lambda a, b: a // b, lambda a, b: a % b, ceildiv):
                m = IndexingMap.of([("d0", -9, 9)], results=[build(var("d0"), divisor)])
                text = to_mlir(m)
                (e,) = ir.AffineMapAttr(ir.Attribute.parse(text)).value.results
                for x in range(-9, 10):
                    assert (evaluated(e, [x]),) == m.evaluate([x]), (text, x)


@pytest.mark.parametrize("text", [
    "affine_map<(d0) -> (d0 / 2)>",
    "affine_map<(d0) -> (d0,)>",
    "affine_map<(d0,) -> (d0)>",
    "affine_map<(d0)[s0 -> (d0)>",
    "affine_map<(d0) (d0)>",
    "affine_map<(d0, d0) -> (d0)>",
    "affine_map<(d0) -> (d0 * d0)>",
    "affine_map<(d0) -> (d1)>",
    "affine_map<(d0) -> (d0)",
    "affine_map<(d0) -> (9223372036854775808)>",
    "affine_map<(d0) -> (2 d0)>",
    "affine_map<(d0) -> (min(d0, 3))>",
    "affine_set<(d0) : (d0 > 0)>",
    "affine_set<(d0) : (d0 >= 0,)>",
    "affine_set<(d0) -> (d0 >= 0)>",
])  # fmt: skip
def test_mlir_refuses_what_is_refused(text: str) -> None:
    with pytest.raises((ValueError, ir.MLIRError)):
        printed(text)
    with pytest.raises(ValueError, match="line 1, column"):
        from_mlir(text, bounds={"d0": (0, 9)})


def declared(text: str) -> list[str]:
    """Return the names of the dimensions."""
    return [n.strip() for n in text[text.index("(") + 1 : text.index(")")].split(",")]


@pytest.mark.parametrize("text", [
    "affine_map<(i, j) -> (j - i, 2 * i, (i + 4) * 3 - j * -2)>",
    "affine_map<(d0)[] -> (-(d0 + 1) floordiv 3)>",
    "affine_map<(d0) -> (d0 * 2 floordiv 3 ceildiv 4 mod 5)>",
    "affine_map<(d0, d1) -> (- - d0 - d1 * 2 - (d0 - d1))>",
    "affine_map<(d0, d1) -> (-d0 * 3 + d1, -(d0 * 3) mod 4, d0 - -3)>",
    "affine_map<(a.b, c$) -> (a.b + 0x10 * c$)>",
])  # fmt: skip
def test_mlir_reads_a_text_in_the_same_way(text: str) -> None:
    names = declared(text)
    mine = from_mlir(text, bounds=dict.fromkeys(names, (-9, 9)))
    theirs = printed(text)
    read = from_mlir(theirs, bounds=dict.fromkeys(declared(theirs), (-9, 9)))
    for k in range(40):
        point = [(7 * k + 5 * i) % 19 - 9 for i in range(len(names))]
        assert mine.evaluate(point) == read.evaluate(point)
