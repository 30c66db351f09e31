"""Critical pairs: none is invented, none that joins is doubted, and the smallest expression with two ends is found."""

from __future__ import annotations

import itertools
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from indexproof.core.condition import FALSE, Condition
from indexproof.core.expr import interpret, postorder, var
from indexproof.core.rewrite import Rule
from indexproof.core.text import parse_expr
from indexproof.reports.confluence import PAGE, confluence_text, counts_of, rows_of_page
from indexproof.rules.catalog import RULES
from indexproof.verify.confluence import Kind, confluence, counted, decide_pair, smallest
from indexproof.verify.confluence.analysis import _examined
from indexproof.verify.confluence.ground import Ground, size, weighed
from indexproof.verify.confluence.instances import ExpressionTrial, Instance, instances
from indexproof.verify.confluence.joining import Known, join
from indexproof.verify.confluence.overlap import Overlap, matched, positions
from indexproof.verify.confluence.proposals import narrowed
from indexproof.verify.confluence.unify import State, unify
from indexproof.verify.refute import _Masked, failing_points
from indexproof.verify.rulefiles import StatedRule, read_rule_file

DATA = Path(__file__).parent / "data"


def stated(name: str) -> tuple[StatedRule, ...]:
    return read_rule_file((DATA / name).read_text("utf-8"), name).rules


# ------------------------------------------------------------------------------------------------------- planted sets
def test_a_planted_set_is_found_with_its_smallest_expression(broken: object) -> None:
    run = confluence(broken.rules, jobs=1)
    assert run.exit_status == 1
    worst = min(smallest(run.pairs).values(), key=lambda p: p.rank)
    assert worst.witness == broken.witness
    assert set(worst.forms) == broken.forms
    # a derivation begins with the rules of the pair, and ends in the normal forms
    assert worst.first[0][0] == worst.outer
    assert worst.second[0][0] == worst.inner
    assert (worst.first[-1][1], worst.second[-1][1]) == worst.forms


def test_one_rule_more_heals_it(mendable: object) -> None:
    run = confluence(mendable.healed, jobs=1)
    assert not counted(run.pairs)[Kind.NOT_JOINABLE]


def test_a_confluent_set_passes(sound: tuple[Rule, ...]) -> None:
    run = confluence(sound, jobs=1)
    assert run.pairs
    assert run.exit_status == 0, counted(run.pairs)


def test_no_smaller_expression_over_the_planted_rules_has_two_ends(planted: ModuleType) -> None:
    """Every expression ``k·a // c // d`` with smaller constants, and every part of it, has one normal form."""
    rules = planted.BROKEN[0].rules
    a = var("a")
    for k, c, d in itertools.product((1, 2), repeat=3):
        ground = Ground(rules, {a: (0, 1)})
        for e in ((a * k) // c, (a * k) // c // d):
            if (k, c, d) != (2, 2, 2):
                assert len(ground.normal_forms(e)) == 1, e
    assert len(Ground(rules, {a: (0, 1)}).normal_forms((a * 2) // 2 // 2)) == 2


# ---------------------------------------------------------------------------------------------------------- rule files
@pytest.mark.parametrize("name", ["textbook.rules", "divisions.rules"])
def test_a_textbook_set_passes(name: str) -> None:
    run = confluence(stated(name), jobs=1)
    assert run.total == len(run.pairs) > 2
    assert set(counted(run.pairs)) <= {Kind.JOINABLE, Kind.TRIVIAL}
    assert run.exit_status == 0


def test_a_planted_file_is_found_with_its_smallest_expression() -> None:
    run = confluence(stated("planted.rules"), jobs=1)
    (worst,) = smallest(run.pairs).values()
    assert (worst.outer, worst.inner) == ("nested", "whole")
    assert worst.witness == "x * 2 / 2 / 2"
    assert worst.forms == ("x * 2 / 4", "x / 2")
    text = "\n".join(confluence_text(run, seconds=0))
    assert "→ x / 2   by whole" in text
    assert text.splitlines()[-1].startswith("NOT JOINABLE  2 critical pairs")


def test_what_does_not_end_is_no_answer() -> None:
    run = confluence(stated("endless.rules"), jobs=1)
    assert [p.kind for p in run.pairs] == [Kind.UNDECIDED]
    assert "do not end" in run.pairs[0].reason
    assert run.exit_status == 2


def test_conditions_that_exclude_each_other_make_no_pair() -> None:
    text = "int x\nconst c\nup: x * c -> x + x if c > 3\ndown: x * c -> x if c < 2\n"
    (pair,) = confluence(read_rule_file(text, "t").rules, jobs=1).pairs
    assert pair.kind is Kind.CONTRADICTORY


def test_a_condition_on_an_expression_is_a_hypothesis() -> None:
    text = "semantics floor\nint x\nbool p\nsmall: x % 8 -> x if x in [0, 7]\ntwice: (x % 8) % 8 -> x % 8\n"
    run = confluence(read_rule_file(text, "t").rules, jobs=1)
    assert {p.kind for p in run.pairs} <= {Kind.JOINABLE, Kind.TRIVIAL}
    assert any("x in [0, 7]" in p.statement for p in run.pairs)


def test_rules_of_different_semantics_do_not_meet() -> None:
    text = "int x\nconst c\nsemantics floor\na: x / c -> x if c == 1\nsemantics trunc\nb: x / c -> 0 - x if c == 1\n"
    assert not confluence(read_rule_file(text, "t").rules, jobs=1).total


# --------------------------------------------------------------------------------------------------------- unification
def test_every_unifier_makes_both_sides_equal() -> None:
    rules = matched(RULES.rules)
    met = 0
    for outer, inner in itertools.product(rules[::3], rules[::2]):
        names = {v: var(v.name + "'", v.kind) for v in inner.variables}
        left = inner.left.substitute(names)
        for at in positions(outer.left):
            for state in itertools.islice(unify(((at, left),), State()), 6):
                met += 1
                points = _points_for(state, at, left)
                if points is None:
                    continue
                a, b = points
                assert np.array_equal(a, b), (outer.name, inner.name, str(at))
    assert met > 60


def _points_for(state: State, one: object, other: object) -> tuple[object, object] | None:
    """The values of both sides at random points that satisfy the equations of a unifier."""
    a, b = state.of(one), state.of(other)  # type: ignore[arg-type]
    known = Known(_resolved(state), (*a.variables(), *b.variables()))
    if not len(known.points):
        return None
    columns = {v: known.points[:, k] for k, v in enumerate(known.names)}
    algebra = _Masked(columns, len(known.points))
    x, y = (np.broadcast_to(interpret((e,), algebra)[0], (len(known.points),)) for e in (a, b))
    defined = ~algebra.undefined
    return x[defined], y[defined]


def _resolved(state: State) -> list[Condition]:
    return [c.substitute({v: state.of(v) for v in c.variables()}) for c in state.equations]


def test_a_coefficient_is_found_where_the_dividend_is_negative() -> None:
    """``x·w + (x mod d)·v`` matches ``a + (-a) mod 2`` with ``x = -a`` and ``w = -1``."""
    a = var("a")
    rule = RULES["remainder_subtracts_to_quotient"]
    assert isinstance(rule, Rule)
    assert Ground([rule], {a: (0, 3)}).results(rule, a + (-a) % 2) == (((-a) // 2) * -2,)


def test_both_results_of_an_overlap_have_the_value_of_its_expression(
    expression_overlaps: dict[str, Overlap],
) -> None:
    compared = 0
    for o in list(expression_overlaps.values())[::29]:
        known = Known(o.hypotheses, o.variables)
        for side in (o.first, o.second):
            if len(known.points):
                goal = o.start.eq(side)
                compared += 1
                assert not len(failing_points(known.points, known.names, (), goal)), o.statement()
    assert compared > 25


def test_symbolic_steps_keep_the_value(expression_overlaps: dict[str, Overlap]) -> None:
    joined = 0
    for o in list(expression_overlaps.values())[5::300]:
        known = Known(o.hypotheses, o.variables)
        found = join(o, matched(RULES.rules))
        if found is None or not len(known.points):
            continue
        joined += 1
        for step in (*found.left, *found.right):
            if set(step.after.variables()) <= set(known.names):
                assert not known.refutes(step.before.eq(step.after)), (o.name, str(step))
    assert joined > 1


# ------------------------------------------------------------------------------------------------------- the catalogue
def test_the_page_says_what_the_catalogue_does(expression_overlaps: dict[str, Overlap]) -> None:
    """The rows of rules that take little time, and a sample of the others by their listed expressions."""
    text = PAGE.read_text("utf-8")
    rows = rows_of_page(text)
    assert list(rows) == [r.name for r in matched(RULES.rules)], "run `indexproof confluence --page`"
    assert sum(map(sum, rows.values())) == len(expression_overlaps), "run `indexproof confluence --page`"
    for name in ("remainder_by_one", "ceiling_of_positive", "negative_divisor_moves_up"):
        pairs = [decide_pair(o, RULES.rules) for o in expression_overlaps.values() if o.outer.name == name]
        assert counts_of(pairs) == rows[name], name


def test_an_expression_on_the_page_has_two_normal_forms(expression_overlaps: dict[str, Overlap]) -> None:
    """They have the same value everywhere, no rule applies to either, and they are different expressions."""
    text = PAGE.read_text("utf-8")
    listed = [line for line in text.splitlines() if line.startswith("| `") and " #" in line]
    assert listed
    for line in listed[:3]:
        expression, _, forms, name = (c.strip() for c in line.strip("|").split("|")[:4])
        found = _examined(
            expression_overlaps[name], narrowed(expression_overlaps[name]).overlaps, matched(RULES.rules), {}
        )
        assert found.witness is not None, name
        assert f"`{found.witness.instance.start}`" == expression
        assert forms == ", ".join(f"`{e}`" for e in found.witness.forms)
        ground = Ground(matched(RULES.rules), dict(found.witness.instance.boxes))
        one, two = found.witness.forms
        assert one is not two
        assert not ground.moves(one)
        assert not ground.moves(two)
        assert ground.facts.holds(one.eq(two))
        assert ground.facts.holds(one.eq(found.witness.instance.start))
        assert one in ground.normal_forms(found.witness.instance.start)
        assert two in ground.normal_forms(found.witness.instance.start)


def test_what_the_page_lists_is_no_matter_of_the_search(expression_overlaps: dict[str, Overlap]) -> None:
    """Read from the page, some of its expressions have two normal forms, with steps of both rules of the pair."""
    lines = [line for line in PAGE.read_text("utf-8").splitlines() if line.startswith("| `") and " #" in line]
    rows = [[c.strip() for c in line.strip("|").split("|")] for line in lines]
    for expression, where, _, name in [r for r in rows if r[3] in expression_overlaps][::20]:
        start = parse_expr(expression.strip("`").replace("·", "*"))
        boxes = re.findall(r"(\w+) ∈ \[(-?\d+), (-?\d+)\]", where)
        domain = tuple((var(v), (int(lo), int(hi))) for v, lo, hi in boxes)
        o = expression_overlaps[name]
        trial = ExpressionTrial(o, matched(RULES.rules), {}, 900)
        spots = (start,) if o.at_root else postorder(start)
        assert any(trial.witness(Instance(start, spot, domain)) for spot in spots), name


def test_instances_come_smallest_first_and_satisfy_the_hypotheses(
    expression_overlaps: dict[str, Overlap],
) -> None:
    for o in list(expression_overlaps.values())[3::160]:
        ranks = [i.rank[:3] for i in instances(o)]
        assert ranks == sorted(ranks), o.name


def test_size_counts_what_is_written() -> None:
    a, b = var("a"), var("b")
    assert size(a * 2 + 3) == 5
    assert size(a // 4 - b) == 5
    assert weighed(a // 4) > weighed(a)


# ---------------------------------------------------------------------------------------------------------- running
def test_an_interrupted_run_goes_on(tmp_path: Path, planted: ModuleType) -> None:
    place = tmp_path / "pairs"
    rules = planted.HEALED_CONSTRAINTS + planted.SOUND[1]
    whole = confluence(rules, jobs=1)
    confluence(rules, ("far_is_natural", "multiple_is_divided"), jobs=1, checkpoint=place)
    kept = place.read_text("utf-8").splitlines()
    assert 0 < len(kept) < whole.total
    # a line that was cut off, and one that is no such thing
    place.write_text("\n".join([*kept[:-1], "{}", kept[-1][: len(kept[-1]) // 2]]), "utf-8")
    again = confluence(rules, jobs=1, checkpoint=place)
    assert again.kept == len(kept) - 1
    assert again.pairs == whole.pairs
    assert confluence(rules, jobs=1, checkpoint=place).kept == whole.total


def test_processes_make_no_difference(planted: ModuleType) -> None:
    rules = (*planted.HEALED_CONSTRAINTS, *planted.JOINING_CONSTRAINTS[:1], *planted.SOUND[1])
    assert confluence(rules, jobs=2).pairs == confluence(rules, jobs=1).pairs


def test_hashes_make_no_difference() -> None:
    outputs = set()
    for seed in ("1", "2"):
        command = [
            sys.executable,
            "-m",
            "indexproof",
            "confluence",
            "ceiling_of_negative",
            "--json",
            "--jobs",
            "1",
        ]
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        done = subprocess.run(command, capture_output=True, env=environment, check=False, text=True)
        assert done.returncode == 0, done.stderr
        answer = json.loads(done.stdout)
        answer.pop("timing")
        outputs.add(json.dumps(answer, sort_keys=True))
    assert len(outputs) == 1


def test_contradictory_hypotheses_are_left_out(expression_overlaps: dict[str, Overlap]) -> None:
    assert all(FALSE not in o.hypotheses for o in expression_overlaps.values())
