"""`print` shows an answer like the commands do, not like a dataclass."""

from __future__ import annotations

import re
from html import escape
from pathlib import Path

import pytest
from typer.testing import CliRunner

import indexproof
from indexproof import equal_maps, module_maps, parse_map, read_module, replay, simplify, width
from indexproof.cli import app
from indexproof.core.errors import InputError
from indexproof.core.expr import var
from indexproof.core.indexing_map import IndexingMap
from indexproof.rules.division import small_remainder_vanishes
from indexproof.rules.ops.movement import Transpose
from indexproof.rules.simplifier import distinct
from indexproof.verify.access import utilization
from indexproof.verify.concrete import Answer, Counterexample, contains
from indexproof.verify.derivation import check_derivation
from indexproof.verify.tiles import tile_of
from indexproof.verify.verdict import Status
from indexproof.verify.width import Overflow, Width, subexpression_widths

LEFT = "(d0) -> ((d0 floordiv 4) * 4 + d0 mod 4), domain: d0 in [0, 15]"
RIGHT = "(d0) -> ((d0 floordiv 4) * 4 + d0 mod 2), domain: d0 in [0, 15]"
WIDE = "(d1, d0) -> ((d0 * 65536 + d1) mod 7), domain: d1 in [0, 9], d0 in [0, 99999]"


def said(*command: str) -> str:
    """Return the output of a command without the line that repeats the command."""
    shown = CliRunner().invoke(app, list(command), catch_exceptions=False).stdout
    return "\n".join(line for line in shown.splitlines() if not line.startswith("  again"))


def without_times(text: str) -> str:
    return re.sub(r" in [0-9.,]+ m?s\b", "", text)


@pytest.mark.parametrize("other", [LEFT, RIGHT])
def test_an_answer_is_what_equal_prints(other: str) -> None:
    answer = equal_maps(parse_map(LEFT), parse_map(other))
    assert without_times(str(answer)) == without_times(said("equal", LEFT, other))


def test_a_width_is_what_width_prints() -> None:
    for text in (LEFT, WIDE, WIDE.replace("99999]", "999999999999999999]")):
        m = parse_map(text)
        assert without_times(str(width(m))) == without_times(said("width", text))
        lines = [" ".join(str(p).split()) for p in subexpression_widths(m)]
        printed = said("width", "--each", text).splitlines()[-len(lines) :]
        # a subexpression by itself has no order of variables
        assert [line.split()[0] for line in lines] == [line.split()[0] for line in printed]
    assert str(width(parse_map(WIDE)).overflows[0]).startswith("int32  d0 * 65536 = 2147483648 overflows at d1 = 0")


def test_what_replay_says() -> None:
    steps = simplify(parse_map(LEFT), explain=True)
    text = str(replay(steps))
    assert text.startswith("PROVED  1 step, each an instance of a proved rule\n  map      (d0) -> ")
    assert "quotient_and_remainder_recombine" in text
    from indexproof.rules.catalog import RULES

    assert str(check_derivation(steps, RULES)) == text


def test_what_is_no_equality_is_not_called_one() -> None:
    m, n = parse_map(LEFT), parse_map(RIGHT)
    assert re.fullmatch(r"PROVED  by .* in .*s", str(contains(m, m)))
    assert str(contains(n, m)).startswith("REFUTED  ")
    assert "take     d0 = " in str(contains(n, m))


def test_transforms_and_modules() -> None:
    m = parse_map("(d0)[s0] -> (d0 * 2), domain: d0 in [0, 9], s0 in [0, 4]")
    assert str(indexproof.simplifier.reduce(m)).splitlines()[0] == "(d0) -> (d0 * 2), domain: d0 in [0, 9]"
    assert "removed" in str(indexproof.simplifier.reduce(m))
    assert str(distinct([m, parse_map(LEFT), m])).splitlines()[0].endswith("given as 0, 2")
    assert str(m.ranges[0]) == "s0 in [0, 4]"
    bounded = parse_map("(d0) -> (d0), domain: d0 in [0, 9], d0 mod 2 in [0, 0]")
    assert str(bounded.constraints[0]) == "d0 mod 2 in [0, 0]"
    module = read_module("p = f32[10,20] parameter(0)\nROOT t = f32[20,10] transpose(p), dimensions={1,0}\n")
    maps = module_maps(module)
    assert "2 instructions" in repr(maps)
    assert "(d0, d1) -> (d1, d0)" in str(maps.computation(module.entry, "output_to_input"))
    assert "transpose(" in str(module.entry.instructions[1])


def test_what_would_never_end_is_cut_short() -> None:
    e = var("d0")
    for _ in range(80):
        e = e // 2 + e % 3
    m = IndexingMap.of([("d0", 0, 9)], results=[e])
    point = Counterexample({"d0": 3}, (1,), (2,), "the results differ at source (3)")
    assert str(Answer(Status.REFUTED, counterexample=point, sides=(m, m))) == (
        "REFUTED  the results differ at source (3)\n  take     d0 = 3"
    )
    wide = Width(Status.REFUTED, None, (Overflow(64, e, 2**63, {"d0": 3}),), map=m)
    assert "the text of an expression would be longer" in str(wide)
    assert str(equal_maps(m, m)).startswith("PROVED  equal everywhere")


def test_results_show_in_a_notebook_as_they_print() -> None:
    m, n = parse_map(LEFT), parse_map(RIGHT)
    refuted = equal_maps(m, parse_map("(d0) -> (1), domain: d0 in [0, 15]"))
    module = read_module("p = f32[10,20] parameter(0)\nROOT t = f32[20,10] transpose(p), dimensions={1,0}\n")
    steps = simplify(m, explain=True)
    overflow = width(parse_map("(d0) -> (d0 * 65536), domain: d0 in [0, 65535]"))
    shown = [equal_maps(m, n), refuted, refuted.counterexample, overflow, overflow.overflows[0], steps, replay(steps)]
    shown += [indexproof.simplifier.reduce(m), distinct([m]), indexproof.memory("f32[8,128]{1,0:T(8,128)}")]
    shown += [module_maps(module).computation(module.entry, "output_to_input"), small_remainder_vanishes]
    shown += [
        utilization([m], 100),
        tile_of(m, (2,)),
        tile_of(parse_map("(d0) -> (d0 mod 5), domain: d0 in [0, 15]"), (4,)),
    ]
    for result in shown:
        html = result._repr_html_()
        assert html.startswith("<pre"), type(result)
        assert escape(str(result).split()[0]) in html


def test_proofs_print_as_the_command_does(tmp_path: Path) -> None:
    file = tmp_path / "own.rules"
    file.write_text("int x\nconst c\nhalves: (x / c) * c -> x if c > 0\nsame: x + 0 -> x\n", "utf-8")
    found = indexproof.prove(str(file))
    assert (found.verdict, found.proved) == (Status.REFUTED, False)
    (refuted,) = found.refutations
    assert (refuted.claim, refuted.verdict, set(refuted.values)) == ("halves", Status.REFUTED, {"x", "c"})
    printed = said("prove", "--no-cache", str(file))
    block = "\n".join(line for line in str(refuted).splitlines() if not line.startswith("  again"))
    assert block in printed
    assert block.splitlines()[0] in str(found)
    assert str(found).splitlines()[-1].split("   in ")[0] == printed.splitlines()[-1].split("   in ")[0]
    for shown in (found, refuted):
        html = shown._repr_html_()
        assert html.startswith("<pre")
        assert escape(block.splitlines()[0]) in html


def test_claims_are_proved_by_name_or_as_they_are() -> None:
    named = indexproof.prove("small_remainder_vanishes", findings=False)
    itself = indexproof.prove(small_remainder_vanishes, findings=False)
    assert named.proved
    assert not named.refutations
    assert [r.obligation.name for r in named.run.results] == [r.obligation.name for r in itself.run.results]
    assert str(itself).splitlines()[-1].startswith("PROVED  1 claim, ")
    op = indexproof.prove(Transpose, max_rank=1, findings=False)
    assert op.proved
    assert [c.group for c in op.claims] == ["transpose"] * len(op.claims) != []
    with pytest.raises(InputError, match="did you mean"):
        indexproof.prove("small_remainder_vanishs")
    with pytest.raises(InputError, match="nothing to prove"):
        indexproof.prove([])
