"""The checker of derivations shares no code with the simplifier, accepts true derivations and refuses false ones."""

from __future__ import annotations

import itertools
import json
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from test_structure import edges

import indexproof
from dev.fuzz.corpus import builtin_corpus
from dev.fuzz.generate import family_map, random_map
from dev.fuzz.runs import drawn
from indexproof.core.condition import Condition
from indexproof.core.derivation import ConstraintChange, Derivation, MapChange, Position, RuleStep
from indexproof.core.derivation_json import derivation_from_json, derivation_to_json
from indexproof.core.errors import InputError
from indexproof.core.explain import UnexplainedError, explain, explained, replayed
from indexproof.core.expr import Expr, integer, var
from indexproof.core.indexing_map import Constraint, IndexingMap
from indexproof.core.json_text import dump_json
from indexproof.core.rewrite import Const, Rest, Rewrite, RuleSet, rule
from indexproof.core.simplify_map import simplify_map
from indexproof.core.text import parse_expr, parse_map
from indexproof.core.transform import reduce_map
from indexproof.reports.derivation import derivation_text
from indexproof.rules.catalog import RULES
from indexproof.rules.simplifier import simplify
from indexproof.verify.derivation import DerivationRefused, check_derivation
from indexproof.verify.domain import Domain
from indexproof.verify.replay import proved_rules
from indexproof.verify.testing import strategies

XLA_PAIRS = Path(__file__).parent / "data" / "xla_pairs.jsonl.gz"


@cache
def proved() -> frozenset[str]:
    return proved_rules(RULES)


# -------------------------------------------------------------------------------------------- independence
#: These modules ask for known ranges when they compose or convert maps, which a checker does not do.
ASKING = ("indexproof.core.indexing_map", "indexproof.core.interop.foreign")
#: Parts of the simplifier, by prefixes of their names.
SIMPLIFIER = (
    "simplify", "matcher", "choose", "engine", "forms", "explain", "facts", "compiler", "sharing", "kernel",
    "constraint_", "transform", "extraction", "strategies",
)  # fmt: skip


def reachable(name: str) -> set[str]:
    """Return every module that ``name`` imports directly or indirectly, at the top or inside a function."""
    graph, found, todo = edges(), {name}, [name]
    packages = {name.rpartition(".")[0] for name in graph}
    while todo:
        at = todo.pop()
        new = graph[at] - found - packages - ({"indexproof.core.facts"} if at in ASKING else set())
        found |= new
        todo += new
    return found


def test_the_checker_shares_no_code_with_the_simplifier() -> None:
    found = reachable("indexproof.verify.derivation")
    assert len(found) > 15
    parts = [n.split(".") for n in found]
    assert not [p for p in parts if p[1] == "core" and len(p) > 2 and p[2].startswith(SIMPLIFIER)]
    assert not [p for p in parts if p[1] == "rules"], "the rules are an argument"
    assert "indexproof.core.engine" in reachable("indexproof.core.explain"), "the walk would notice"


def test_loading_the_checker_loads_no_simplifier() -> None:
    code = (
        "import sys, indexproof.verify.derivation\nprint(*[m for m in sys.modules if m.startswith('indexproof.core.')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {m.split(".")[2] for m in done.stdout.split()}
    assert loaded & {"derivation", "expr"}
    assert not [m for m in loaded if m.startswith(SIMPLIFIER)]


# ------------------------------------------------------------------------------------------- true derivations
def agreed(m: IndexingMap, derivation: Derivation) -> None:
    assert check_derivation(derivation, RULES, proved()).steps == len(derivation)
    assert derivation.before == m


def explained_alike(m: IndexingMap) -> None:
    """Check that a result is the same with and without a derivation."""
    derivation = explain(m, RULES)
    agreed(m, derivation)
    assert derivation.after == simplify_map(m, RULES)


@pytest.mark.parametrize("part", range(4))
def test_random_maps_are_derived_step_by_step(part: int) -> None:
    used: Counter[str] = Counter()
    for index in range(part * 200, part * 200 + 200):
        m = random_map(1, index)
        derivation = explain(m, RULES)
        agreed(m, derivation)
        assert derivation.after == simplify_map(m, RULES)
        used.update(derivation.rules())
    assert len(used) > 30, used


@pytest.mark.parametrize("to_dims", [False, True])
def test_maps_with_fewer_variables_are_derived_too(to_dims: bool) -> None:
    changes: Counter[str] = Counter()

    def derived(m: IndexingMap) -> None:
        trace: list[Any] = []
        reduced = reduce_map(m, RULES, trace, to_dims=to_dims, unused_dims=to_dims)
        derivation = explained(m, reduced.map, trace)
        agreed(m, derivation)
        changes.update(s.why for s in derivation if isinstance(s, MapChange))

    drawn(strategies.maps(sources=True, empty=True), 150, 2, derived)
    assert len(changes) >= 3, changes


def test_a_value_that_was_known_before_the_map_changed() -> None:
    """Where a range leaves a map, its constraints are simplified again, in the order of the trace."""
    m = parse_map(
        "(d0)[s0, s1] -> (), domain: d0 in [-6, -5], s0 in [0, 1], s1 in [0, 9],"
        " ((s1 * 3) ceildiv 2) mod 3 in [0, 1], min((d0 * 8 - s0 + s1 * 3 + 7) floordiv 3, s1) in [-4, -4]"
    )
    trace: list[Any] = []
    reduced = reduce_map(m, RULES, trace)
    agreed(m, explained(m, reduced.map, trace))


def test_a_sum_becomes_what_its_own_digits_are_digits_of() -> None:
    """``x floordiv 420`` is rewritten inside a sum, but is also the result of rewriting the sum."""
    x = "((d1 * 2240 + d2 * 2 + 11298) floordiv 3)"
    digits = (
        f"({x} floordiv 210 mod 2) * 7 + ({x} floordiv 420 mod 4) * 14 + ({x} floordiv 1680 mod 2) * 56"
        f" + {x} floordiv 30 mod 7"
    )
    whole = f"(({digits}) mod 28) * 30 + (({digits}) floordiv 28) * 840 + {x} mod 30 + ({x} floordiv 3360) * 3360"
    m = parse_map(f"(d1, d2) -> (({whole}) floordiv 420, ({whole}) mod 5), domain: d1 in [0, 3], d2 in [0, 510]")
    explained_alike(m)
    assert str(simplify_map(m, RULES).results[0]) == "((2240·d1 + 2·d2) // 3 + 3766) // 420"


def test_constraints_are_not_told_with_what_rests_on_them() -> None:
    """Two constraints imply that d2 and d3 are even, which simplifies the results, but not these constraints."""
    x = "(d0 * 62645 + d1 * 12529 + d2 * 1139 + d3 * 67 + d4)"
    whole = f"({x} floordiv 10 mod 737) * 10 + ({x} floordiv 2 mod 5) * 2 + ({x} floordiv 7370) * 7370 + {x} mod 2"
    m = parse_map(
        f"(d0, d1, d2, d3, d4) -> ((({whole}) floordiv 67 mod 17) floordiv 2),"
        " domain: d0 in [0, 1], d1 in [0, 4], d2 in [0, 10], d3 in [0, 16], d4 in [0, 66],"
        f" (({whole}) floordiv 1139 mod 11 - 2) mod 2 in [0, 0], (({whole}) floordiv 67 mod 17) mod 2 in [0, 0]"
    )
    explained_alike(m)


def test_digits_of_a_sum_of_digits() -> None:
    """A step that was recorded in the inner sum applies again to the outer one, after the inner one is gone."""
    explained_alike(family_map("chains", random.Random("indexproof 202 46220")))


def test_what_applies_to_the_outer_sum_was_recorded_for_the_inner_one() -> None:
    x = "(d0 * 60 + d1 * 15 + d2 * 5 + d3)"
    y = f"({x} floordiv 5 mod 2 * 5 + {x} floordiv 10 mod 3 * 10 + {x} floordiv 30 * 30 + {x} mod 5)"
    z = f"({y} floordiv 2 mod 15 * 2 + {y} floordiv 30 * 30 + {y} mod 2)"
    m = parse_map(
        f"(d0, d1, d2, d3) -> ({z} floordiv 180, {z} floordiv 36 mod 5, -({z} floordiv 6 mod 6) + 5, {z} floordiv 2 mod 3,"
        f" {z} mod 2), domain: d0 in [0, 2], d1 in [0, 3], d2 in [0, 2], d3 in [0, 4]"
    )
    explained_alike(m)


def test_the_examples_of_all_rules_and_the_published_maps() -> None:
    for name, m in builtin_corpus(RULES):
        try:
            explained_alike(m)
        except (UnexplainedError, DerivationRefused) as error:
            raise AssertionError(f"{name}: {error}") from error


def test_what_xla_simplifies() -> None:
    from dev.fuzz.corpus import read_corpus

    maps = read_corpus(XLA_PAIRS)
    assert len(maps) == 470
    for _, m in maps[::3]:
        explained_alike(m)


def test_a_spelling_that_another_pass_could_improve() -> None:
    """An extracted result is not simplified a second time, with or without a derivation."""
    explained_alike(
        parse_map(
            "(d0)[s0] -> (d0 floordiv 992, (d0 mod 992) floordiv 128 - 1, ((d0 mod 992) floordiv 64) mod 2,"
            " (((d0 floordiv 8) mod 124) mod 8) * 2 + s0 - 1), domain: d0 in [0, 1983], s0 in [0, 1]"
        )
    )


@pytest.mark.parametrize("domain", [
    "d0 in [0, 7], d1 in [0, 2], d0 mod 5 in [0, 1], d0 mod 2 in [1, 1], d1 - d0 + 2 in [2, 2]",
    "d0 in [0, 9], d1 in [0, 2], d0 + d1 - 9 in [0, 1], d1 * 4 + d0 - 11 in [1, 2]",
])  # fmt: skip
def test_a_constraint_that_comes_to_say_what_the_box_says(domain: str) -> None:
    explained_alike(parse_map(f"(d0, d1) -> (), domain: {domain}"))


@pytest.mark.parametrize(("text", "weight"), [
    # a constraint that repeats the box, next to one that narrows it
    ("()[s0] -> (), domain: s0 in [0, 1], s0 - 3 in [-3, -3], s0 in [0, 1]", 3),
    # the other summands share variables or quotients with the dividend of a remainder
    ("(d0) -> (((d0 * 2 - 1) mod -6) * 3 + d0), domain: d0 in [0, 3]", 12),
    ("(d1, d2) -> ((((d1 * 3 + d2) floordiv 3) mod 3) * 9 + (d1 * 3 + d2) mod 3 + 3),"
        " domain: d1 in [0, 2], d2 in [0, 5]", 3),
    # the constant of a sum whose other summands cancel or merge
    ("(d0) -> ((((d0 * -3) floordiv 12) * -6 + (d0 * 3) ceildiv -2) floordiv 5), domain: d0 in [0, 3]", 12),
    # the remaining arguments of a maximum would have another normal form by themselves
    ("(d0) -> (min(max(min(d0 + 1, 3), d0, 2), d0)), domain: d0 in [0, 3]", 3),
    # an inner remainder becomes a difference whose dividend is part of another such difference
    ("(d0, d1) -> ((d1 + 1919) floordiv 1920 - 1, (((d1 + 5) floordiv 6 + 31) mod 32 + 13) floordiv 15 +"
        " ((d1 + 191) floordiv 192) * 2 - ((d1 + 1919) floordiv 1920) * 20, (((((d1 + 5) floordiv 6 + 31) mod 32)"
        " * 4 + (d1 + 5) mod 6) floordiv 10 + 5) mod 6, ((((d1 + 5) floordiv 6 + 31) mod 32) * 4 + (d1 + 5) mod 6)"
        " mod 10), domain: d0 in [2, 2], d1 in [3, 7680]", 3),
    # a remainder that would be a difference in a sum, and recombines in a dividend
    ("(d0) -> ((((d0 mod 11) floordiv 2 + 1) mod 2) * 16 + (((d0 mod 11 + 2) floordiv 4) * 8 + (d0 mod 11) mod 2"
        " + ((d0 floordiv 22) mod 3) * 16 + ((d0 floordiv 66) mod 4) * 2 + 1) floordiv 3"
        " + ((d0 floordiv 11) mod 2) * 32, ((((d0 mod 11 + 2) floordiv 4) * 8 + (d0 mod 11) mod 2"
        " + (d0 floordiv 22) * 16 + ((d0 floordiv 66) mod 4) * 2 + 1) mod 3) * 4 + d0 floordiv 264),"
        " domain: d0 in [2, 1054], d0 mod 11 in [2, 9]", 3),
    # a remainder becomes a difference with a quotient whose digits recombine
    ("(d0) -> ((((d0 * 15) floordiv 240 mod 2) * 3 + (d0 * 15) floordiv 480 * 15 - 1) mod 8), domain: d0 in [0, 35]",
        3),
    # arguments of a maximum in normal form, and a variable with a single value
    ("(d0)[s0] -> (max(d0 * 6 + s0, (d0 * 4 - s0) ceildiv 3, (s0 * -3 + d0) ceildiv 4)),"
        " domain: d0 in [0, 2], s0 in [-5, -5]", 3),
    # remainders in dividends become differences with existing quotients; afterwards normal forms differ
    ("(d0) -> (d0 floordiv 5, (-(d0 mod 5)) floordiv 2), domain: d0 in [0, 39]", 3),
    ("(d0, d1) -> (d0 floordiv 3, (d0 mod 3 + d1 * 4) floordiv 5, (d0 mod 3 + d1 * 4) mod 5),"
        " domain: d0 in [0, 29], d1 in [0, 8]", 3),
    ("(d0, d1)[s0] -> (d0 floordiv 4 - d0 floordiv 8 * 2, ((d0 floordiv 8 mod 54 + d1 + 1) floordiv 2 * 8"
        " + d0 floordiv 432 + s0 * 2 - 17) floordiv 112, ((d0 floordiv 8 mod 54 + d1 + 1) floordiv 2 * 8"
        " + d0 floordiv 432 + s0 * 2 - 17) mod 112), domain: d0 in [0, 863], d1 in [0, 2], s0 in [0, 9]", 3),
    ("(d0, d1) -> ((((d1 * 2 + (d0 + d1) mod 6) floordiv 2) mod 3) * 3"
        " - (((d1 * 2 + (d0 + d1) mod 6) mod 6) floordiv 2) * 3), domain: d0 in [0, 3], d1 in [0, 5]", 2),
    # the constraint that fixes a runtime variable stays, the other one vanishes
    ("(d0){rt0} -> (d0), domain: d0 in [0, 3], rt0 in [0, 2], rt0 in [0, 0], rt0 mod 2 in [0, 0]", 3),
])  # fmt: skip
def test_what_random_maps_could_not_explain(text: str, weight: int) -> None:
    derivation = simplify(parse_map(text), minimize=weight, explain=True)
    assert derivation.after == simplify(parse_map(text), minimize=weight)
    check_derivation(derivation, RULES)


def test_a_map_that_stays_needs_no_step() -> None:
    derivation = explain(parse_map("(d0) -> (d0), domain: d0 in [0, 9]"), RULES)
    assert not derivation.steps
    assert not derivation.rules()
    assert check_derivation(derivation, RULES).steps == 0


@pytest.mark.parametrize(("text", "steps"), [
    ("() -> (), domain: 0 in [1, 1]", []),
    ("() -> (0), domain: 0 in [1, 1]", []),
    ("() -> (7), domain: 0 in [1, 1]", ["empty_domain"]),
    ("() -> (), domain: 0 in [2, 3]", ["empty_domain"]),
    ("(d0) -> (d0), domain: d0 in [0, 3], 0 in [1, 1]", ["empty_domain"]),
    ("(){rt0} -> (0), domain: rt0 in [0, 3], 0 in [1, 1]", []),
    ("(){rt0} -> (0), domain: rt0 in [0, 3], rt0 in [4, 5]", ["impossible_constraint_is_false"]),
])  # fmt: skip
def test_no_step_of_an_empty_domain_changes_nothing(text: str, steps: list[str]) -> None:
    derivation = explain(parse_map(text), RULES)
    assert [s.why if isinstance(s, MapChange) else s.rule.name for s in derivation.steps] == steps
    assert check_derivation(derivation, RULES).steps == len(steps)
    assert derivation.after == simplify(derivation.before)


def test_expressions_of_any_depth() -> None:
    e: Expr = var("d0")
    for k in range(10_000):
        e = (e + k) // 2
    m = IndexingMap.of([("d0", 0, 2**20)], results=[e])
    derivation = explain(m, RULES)
    again = derivation_from_json(dump_json(derivation_to_json(derivation)), RULES)
    assert again == derivation
    agreed(m, again)


# ------------------------------------------------------------------------------------------------- storage
MAPS = (
    "(d0, d1) -> ((d0 * 4 + d1) floordiv 12, (d0 * 4 + d1) mod 4 + d0), domain: d0 in [0, 99], d1 in [0, 3]",
    "(d0, d1)[s0] -> ((d0 * 32 + d1) floordiv 8 mod 4 + s0), domain: d0 in [0, 100], d1 in [0, 40], s0 in [0, 20], "
    "d1 + s0 in [0, 12], s0 mod 3 in [0, 0]",
    "(d0) -> (d0), domain: d0 in [0, 3], d0 + 5 in [0, 2]",
    "(d0){rt0} -> (max(d0 + rt0, 0, d0)),\ndomain:\nd0 in [0, 9],\nrt0 in [0, 5]\n  hlo: p = s32[9] parameter(0)\n"
    "  (d0) -> ((d0 + 20) mod 10)",
)


@pytest.mark.parametrize("text", MAPS)
def test_a_stored_derivation_is_the_same(text: str) -> None:
    derivation = explain(parse_map(text), RULES)
    stored = json.dumps(derivation_to_json(derivation))
    again = derivation_from_json(stored, RULES)
    assert again == derivation
    agreed(derivation.before, again)
    assert json.dumps(derivation_to_json(again)) == stored


def test_another_process_checks_it(tmp_path: Path) -> None:
    path = tmp_path / "derivation.json"
    path.write_text(json.dumps([derivation_to_json(explain(parse_map(t), RULES)) for t in MAPS]), "utf-8")
    code = (
        "import json, sys\n"
        "from indexproof.core.derivation_json import derivation_from_json\n"
        "from indexproof.rules.catalog import RULES\n"
        "from indexproof.verify.derivation import check_derivation\n"
        "for d in json.load(open(sys.argv[1])):\n"
        "    print(check_derivation(derivation_from_json(d, RULES), RULES).steps)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True, check=True)
    assert [int(n) for n in done.stdout.split()] == [len(explain(parse_map(t), RULES)) for t in MAPS]


def changed(data: Any, path: str, value: Any) -> Any:
    copy = json.loads(json.dumps(data))
    at = copy
    *way, last = path.split(".")
    for step in way:
        at = at[int(step) if step.isdigit() else step]
    at[int(last) if last.isdigit() else last] = value
    return copy


@pytest.mark.parametrize(("path", "value", "said"), [
    ("format", "indexproof derivation 7", "format: the format is"),
    ("steps.0.rule", "no_such_rule", "steps[0].rule: no rule is called"),
    ("steps.0.rule", "same_expression_intersects",
        "steps[0].rule: same_expression_intersects is no rule for expressions"),
    ("steps.0.binding", 3, "steps[0].binding"),
    ("steps.0.before", 10**6, "there is no node"),
    ("steps.0.before", True, "is no integer"),
    ("steps.0.position", ["nowhere", 0], "steps[0].position"),
    ("steps.0.position", ["result", 0, 0], "steps[0].position"),
    ("steps.0", {}, "steps[0]: the key `rule` is missing"),
    ("nodes.2", ["pow", 0, 1], "nodes[2]"),
    ("nodes.2", ["fdiv", 0, 7], "there is no node 7"),
    ("nodes.0", "d 0", "nodes[0]"),
    ("before.dims.0", ["d0", 0], "before.dims[0]"),
    ("before", [], "before: an empty list is no object"),
    ("steps", None, "steps: null is no list"),
])  # fmt: skip
def test_a_damaged_document_is_refused_with_its_place(path: str, value: Any, said: str) -> None:
    data = derivation_to_json(explain(parse_map(MAPS[0]), RULES))
    with pytest.raises(InputError) as error:
        derivation_from_json(changed(data, path, value), RULES)
    assert said in str(error.value)


# ------------------------------------------------------------------------------------------------- sabotage
@rule()
def forged_small_remainder(x: Expr, g: Const, d: Const, r: Rest) -> Rewrite:
    """Drops a remainder without any bound on it."""
    return Rewrite((x * g + r) // d, x // (d // g), when=(d > 0, g.divides(d)), guard=(g > 1,))


def edited(d: Derivation, k: int, **changes: Any) -> Derivation:
    """Return the derivation with parts of step ``k`` (from 0) replaced."""
    steps = list(d.steps)
    steps[k] = replace(steps[k], **changes)
    return replace(d, steps=tuple(steps))


def rules_at(d: Derivation) -> list[str]:
    return [s.why if isinstance(s, MapChange) else s.rule.name for s in d.steps]


def number(d: Derivation, name: str) -> int:
    return rules_at(d).index(name)


def bound(derivation: Derivation, k: int, **values: Any) -> Derivation:
    step = derivation.steps[k]
    assert not isinstance(step, MapChange)
    binding = {**step.binding, **{n: integer(v) if isinstance(v, int) else v for n, v in values.items()}}
    return edited(derivation, k, binding=binding)


def without(d: Derivation, k: int) -> Derivation:
    return replace(d, steps=d.steps[:k] + d.steps[k + 1 :])


def swapped(d: Derivation, k: int) -> Derivation:
    steps = list(d.steps)
    steps[k], steps[k + 1] = steps[k + 1], steps[k]
    return replace(d, steps=tuple(steps))


def given(d: Derivation, text: str) -> Derivation:
    """Return the same steps for another map."""
    m = parse_map(text)
    return replace(d, before=m, after=d.after.with_(dims=m.dims, ranges=m.ranges))


PLAIN = "(d0, d1) -> ((d0 * 4 + d1) floordiv 12, (d0 * 4 + d1) mod 4 + d0), domain: d0 in [0, 99], d1 in [0, 3]"
NESTED = "(d0, d1) -> (((d0 * 4 + d1) floordiv 12 * 8 + d1) floordiv 8), domain: d0 in [0, 99], d1 in [0, 3]"
BOUND = (
    "(d0, d1) -> (d0 floordiv 4, d1), domain: d0 in [0, 99], d1 in [0, 20], d0 + 7 in [11, 26], d1 mod 4 in [2, 2], "
    "d0 + d1 in [0, 1000], (d0 + d1) mod 3 in [0, 1]"
)
EXTREMA = "(d0, d1) -> (min(d0, d1 + 20, max(d1, 40))), domain: d0 in [0, 9], d1 in [0, 30]"
RUNTIME = "(d0){rt0} -> (d0 + rt0), domain: d0 in [0, 9], rt0 in [0, 20], rt0 + 3 in [5, 40]"
EMPTY = "(d0) -> (d0), domain: d0 in [0, 3], d0 + 5 in [0, 2]"


@cache
def good(text: str) -> Derivation:
    derivation = explain(parse_map(text), RULES)
    agreed(derivation.before, derivation)
    return derivation


def narrowed(d: Derivation, lo: int, hi: int) -> Derivation:
    """Change the bounds in the first step that changes a box, and in the result."""
    for k, s in enumerate(d.steps):
        if isinstance(s, ConstraintChange) and s.rule.name == "same_expression_intersects":
            forged = edited(d, k, after=(Constraint(s.after[0].expr, lo, hi),))
            dims = tuple(replace(v, lo=lo, hi=hi) if v.expr is s.after[0].expr else v for v in d.after.dims)
            return replace(forged, after=d.after.with_(dims=dims))
    raise AssertionError(rules_at(d))


def circular() -> Derivation:
    """Rewrite ``d0 // 4`` to 0 by the constraint that states it, and then drop this constraint."""
    m = parse_map("(d0) -> (d0), domain: d0 in [0, 99], d0 floordiv 4 in [0, 0]")
    quotient, vanishes = RULES["quotient_known"], RULES["satisfied_constraint_vanishes"]
    e = m.constraints[0].expr
    steps = (
        RuleStep(quotient, {"x": var("d0"), "d": integer(4), "q": integer(0)}, Position("constraint", 0), e,
            integer(0), integer(0)),
        ConstraintChange(vanishes, {"x": integer(0), "lo": integer(0), "hi": integer(0)}, (Constraint(integer(0), 0,
            0),), ()),
    )  # fmt: skip
    return Derivation(m, m.with_(constraints=()), steps)


def rewritten(becomes: Expr | None, *more: RuleStep) -> Derivation:
    """Return a derivation that rewrites a constraint: ``d0 * 4 + d1`` modulo 4 is ``d1``."""
    m = parse_map("(d0, d1) -> (d0), domain: d0 in [0, 99], d1 in [0, 3], (d0 * 4 + d1) mod 4 in [1, 2]")
    e = m.constraints[0].expr
    step = RuleStep(
        RULES["remainder_certified"],
        {"x": parse_expr("d0 * 4 + d1"), "d": integer(4), "q": var("d0")},
        Position("constraint", 0),
        e,
        var("d1"),
        becomes,
    )
    return Derivation(m, m.with_(constraints=(Constraint(var("d1"), 1, 2),)), (step, *more))


def vanishing(hi: int) -> Derivation:
    """Drop a constraint that always holds: the box of a variable, or one that the map does not have."""
    m = parse_map("(d0) -> (d0), domain: d0 in [0, 9]")
    step = ConstraintChange(
        RULES["satisfied_constraint_vanishes"],
        {"x": var("d0"), "lo": integer(0), "hi": integer(hi)},
        (Constraint(var("d0"), 0, hi),),
        (),
    )
    return Derivation(m, m, (step,))


def runtime_box() -> Derivation:
    """Narrow the box of a runtime variable, which would clamp its value."""
    d = good(RUNTIME)
    rts = tuple(replace(v, lo=2) for v in d.after.rts)
    return replace(d, after=d.after.with_(rts=rts))


def two_changes(d: Derivation) -> Derivation:
    """Change the map that a step starts from."""
    k = number(d, "empty_domain")
    step = d.steps[k]
    assert isinstance(step, MapChange)
    return edited(d, k, before=step.before.with_(results=(integer(1),)))


def other_meaning(d: Derivation) -> Derivation:
    """Replace the empty map by one that is not empty."""
    k = number(d, "empty_domain")
    assert isinstance(d.steps[k], MapChange)
    wrong = parse_map("(d0) -> (0), domain: d0 in [0, 0]")
    return replace(edited(d, k, after=wrong), after=wrong)


def one_more(d: Derivation) -> Derivation:
    """Append a true step that has no effect."""
    e = parse_expr("(d0 * 6) floordiv 3")
    x = var("d0") * 2
    step = RuleStep(
        RULES["multiple_leaves_quotient"], {"x": x, "d": integer(3), "r": integer(0)}, Position("result", 0), e, x
    )
    return replace(d, steps=(*d.steps, step))


def wrong_pair(d: Derivation) -> Derivation:
    """Rewrite a minimum to its larger argument."""
    k = next(k for k, n in enumerate(rules_at(d)) if n == "min_keeps_smaller")
    step = d.steps[k]
    assert isinstance(step, RuleStep)
    other = next(a for a in step.before.children if a is not step.after)
    return edited(d, k, after=other, binding={"x": step.binding["y"], "y": step.binding["x"]})


def result_plus_one(d: Derivation) -> Derivation:
    return replace(d, after=d.after.with_(results=(d.after.results[0] + 1, *d.after.results[1:])))


def constraint_lost(d: Derivation) -> Derivation:
    return replace(d, after=d.after.with_(constraints=d.after.constraints[:-1]))


def box_wider(d: Derivation) -> Derivation:
    dims = (replace(d.after.dims[0], hi=d.after.dims[0].hi + 1), *d.after.dims[1:])
    return replace(d, after=d.after.with_(dims=dims))


def step_position(d: Derivation, k: int, **changes: Any) -> Derivation:
    step = d.steps[k]
    assert isinstance(step, RuleStep)
    return edited(d, k, position=step.position._replace(**changes))


SABOTAGE: dict[str, tuple[Callable[[], Derivation], int, str]] = {
    "wrong value": (lambda: bound(good(PLAIN), 0, x=var("d1")), 1, "the left side under the binding is"),
    "wrong constant": (lambda: bound(good(PLAIN), 0, d=24), 1, "the left side under the binding is"),
    "a value is missing": (lambda: edited(good(PLAIN), 0, binding={"x": var("d0")}), 1,
        "the binding is not one of the variables"),
    "an expression for a constant": (lambda: bound(good(PLAIN), 0, g=var("d0")), 1, "is no constant"),
    "a variable of no map": (lambda: bound(good(PLAIN), 0, x=var("d7")), 1, "which the map does not have"),
    "a pattern variable": (lambda: bound(good(PLAIN), 0, x=var("x", "expr")), 1, "which the map does not have"),
    "another rule": (lambda: edited(good(PLAIN), 0, rule=RULES["common_factor_leaves_remainder"]), 1,
        "the left side under the binding is"),
    "a rule for constraints": (lambda: edited(good(PLAIN), 0, rule=RULES["same_expression_intersects"]), 1,
        "is a rule for constraints"),
    "a rule of one's own": (lambda: edited(good(PLAIN), 0, rule=forged_small_remainder), 1,
        "is not one of the given rules"),
    "a step is left out": (lambda: without(good(PLAIN), 1), 0, "the steps do not lead to the result"),
    "an inner step is left out": (lambda: without(good(NESTED), 0), 0, "the steps do not lead to the result"),
    "a constraint does not become anything": (lambda: rewritten(None), 0,
        "the last step does not say what constraint 0 becomes"),
    "a constraint is left on its way": (lambda: rewritten(None, *good(PLAIN).steps), 2,
        "the step before does not say what constraint 0 becomes"),
    "a constraint becomes something else": (lambda: rewritten(var("d0")), 1, "it does not follow that"),
    "a result becomes something by itself": (lambda: edited(good(PLAIN), 0, becomes=var("d1")), 1,
        "the map that follows says what result 0 becomes"),
    "the result of a step": (lambda: edited(good(PLAIN), 0, after=parse_expr("d0 floordiv 4")), 1,
        "the right side under the binding is"),
    "the redex of a step": (lambda: edited(good(PLAIN), 0, before=parse_expr("(d0 * 4 + d1) floordiv 13")), 1,
        "the left side under the binding is"),
    "the place: no such result": (lambda: step_position(good(PLAIN), 0, number=2), 1, "there is no result 2"),
    "the place: no such constraint": (lambda: step_position(good(PLAIN), 0, part="constraint"), 1,
        "there is no constraint 0"),
    "the result": (lambda: result_plus_one(good(PLAIN)), 0, "the steps do not lead to the result: result 0 is"),
    "a condition that is false": (lambda: given(good(PLAIN), PLAIN.replace("d1 in [0, 3]", "d1 in [0, 4]")), 1,
        "does not hold"),
    "the larger of two": (lambda: wrong_pair(good(EXTREMA)), 2, "does not hold"),
    "a rule that is not proved": (lambda: good(PLAIN), 1, "is not proved"),
    "a constraint lost": (lambda: constraint_lost(good(BOUND)), 0,
        "the steps do not lead to the result: the constraint"),
    "a constraint change left out": (lambda: without(good(BOUND), 0), 1, "neither a constraint nor a box"),
    "constraint changes in another order": (lambda: swapped(good(BOUND), 0), 1, "neither a constraint nor a box"),
    "a box too narrow": (lambda: narrowed(good(BOUND), 5, 19), 2, "is not"),
    "a box too wide": (lambda: box_wider(good(BOUND)), 0, "the steps do not lead to the result: d0 is in"),
    "a box that vanishes": (lambda: vanishing(9), 1, "nothing is said about d0 afterwards"),
    "a box of a runtime variable": (runtime_box, 0, "rt0 is in [0, 20], not in [2, 20]"),
    "a constraint of no map": (lambda: vanishing(20), 1, "neither a constraint nor a box"),
    "a constraint because of itself": (circular, 1, "does not hold"),
    "another map changed": (lambda: two_changes(good(EMPTY)), 2, "is not the one that is changed"),
    "a change of meaning": (lambda: other_meaning(good(EMPTY)), 2, "the map changes its meaning"),
}  # fmt: skip


@pytest.mark.parametrize("name", SABOTAGE)
def test_sabotage_is_noticed(name: str) -> None:
    make, step, said = SABOTAGE[name]
    forged = make()
    allowed: Any = proved()
    if name == "a rule that is not proved":
        allowed -= {forged.steps[0].rule.name}
    with pytest.raises(DerivationRefused) as refused:
        check_derivation(forged, RULES, allowed)
    assert said in refused.value.reason, refused.value.reason
    assert refused.value.step == step, refused.value


def refused(d: Derivation) -> bool:
    try:
        check_derivation(d, RULES, proved())
    except DerivationRefused as refusal:
        return 0 <= refusal.step <= len(d)
    return False


@pytest.mark.parametrize("index", range(60))
def test_random_sabotage_is_noticed_or_harmless(index: int) -> None:
    """If an altered derivation is accepted, its claim is true nevertheless."""
    from indexproof.verify.concrete import equal_maps

    rng = random.Random(index)
    d = explain(random_map(3, index), RULES)
    if not d.steps:
        return
    for _ in range(6):
        k = rng.randrange(len(d.steps))
        step = d.steps[k]
        kind = rng.randrange(6)
        if kind == 0:
            forged = without(d, k)
        elif kind == 1 and k + 1 < len(d.steps):
            forged = swapped(d, k)
        elif kind == 2 and isinstance(step, RuleStep):
            forged = edited(d, k, after=step.after + rng.choice((1, -1)))
        elif kind == 3 and not isinstance(step, MapChange):
            name = rng.choice(list(step.binding))
            forged = edited(d, k, binding={**step.binding, name: step.binding[name] + 1})
        elif kind == 4 and d.after.constraints:
            forged = constraint_lost(d)
        elif d.after.results:
            forged = result_plus_one(d)
        else:
            continue
        if forged == d:
            continue
        if not refused(forged):
            assert equal_maps(forged.before, forged.after).proved, forged


def test_a_false_rule_is_refused_by_its_verdict() -> None:
    """The steps of a false rule are instances of it, so that only its missing proof makes the checker refuse them."""
    mine = RuleSet("mine", (forged_small_remainder,))
    assert proved_rules(mine) == frozenset()
    m = parse_map("(d0, d1) -> ((d0 * 4 + d1) floordiv 12), domain: d0 in [0, 99], d1 in [0, 30]")
    values = {"x": var("d0"), "g": integer(4), "d": integer(12), "r": var("d1")}
    step = RuleStep(forged_small_remainder, values, Position("result", 0), m.results[0], var("d0") // 3)
    derivation = Derivation(m, m.with_(results=(step.after,)), (step,))
    assert len(check_derivation(derivation, mine).findings) == 1
    with pytest.raises(DerivationRefused, match="is not proved"):
        check_derivation(derivation, mine, proved_rules(mine))


def test_a_trace_that_lacks_something_explains_nothing() -> None:
    m = parse_map(NESTED)
    trace: list[Any] = []
    after = simplify_map(m, RULES, trace)
    steps = [k for k, s in enumerate(trace) if hasattr(s, "rule")]
    for k in steps:
        with pytest.raises(UnexplainedError):
            explained(m, after, trace[:k] + trace[k + 1 :])
    with pytest.raises(UnexplainedError):
        explained(m, after.with_(results=(integer(0),)), trace)


def test_states_of_a_derivation() -> None:
    d = good(BOUND)
    states = [m for _, m in replayed(d)]
    assert states[0] == d.before
    assert len(states) == len(d)
    assert states[-1].dims[0] == d.after.dims[0] != d.before.dims[0]


def test_the_order_of_equations_and_idle_ones_do_not_matter() -> None:
    for d in (swapped(good(NESTED), 0), one_more(good(PLAIN)), rewritten(var("d1"))):
        check_derivation(d, RULES, proved())


# --------------------------------------------------------------------------------------- the checker's own ranges
def _conditions(rng: random.Random, e: Expr, f: Expr, span: tuple[int, int]) -> list[Condition]:
    lo, hi = span
    n = rng.choice((2, 3, 4, 6, -3))
    return [
        e.within(lo, hi),
        e.within(lo + 1, hi),
        e.within(lo, hi - 1),
        e <= hi,
        e < hi,
        e.ne(hi + 1),
        e.ne(lo),
        e.eq(lo),
        e <= f,
        integer(n).divides(e),
        integer(n).divides(e - lo),
        (e < lo) | (e >= lo),
        (e >= lo) & (f <= f + 1),
        ~integer(n).divides(e),
        ~(e <= hi),
    ]


@pytest.mark.parametrize("seed", range(80))
def test_conditions_are_decided_as_by_trying_all_points(maps: Any, seed: int) -> None:
    rng = random.Random(seed)
    names = ["a", "b", "c"][: rng.randint(1, 3)]
    box = {}
    for n in names:
        lo = rng.choice((0, 0, -4, 3))
        box[var(n)] = (lo, lo + rng.randint(0, 6))
    atoms: list[Expr] = list(box)
    constraints = []
    for _ in range(rng.choice((0, 1, 2))):
        c = maps.expr(atoms, rng.randint(0, 2))
        lo = rng.randint(-6, 6)
        constraints.append(Constraint(c, lo, lo + rng.choice((0, 2, 9))))
    domain = Domain(box, constraints)
    points = [
        dict(zip(box, p, strict=True)) for p in itertools.product(*(range(lo, hi + 1) for lo, hi in box.values()))
    ]
    inside = [p for p in points if all(c.lo <= c.expr.evaluate(p) <= c.hi for c in constraints)]
    for _ in range(4):
        e, f = maps.expr(atoms, 3), maps.expr(atoms, 2)
        values = [e.evaluate(p) for p in inside]
        if values:
            span = domain.span(e)
            assert span.lo <= min(values), (e, span)
            assert max(values) <= span.hi, (e, span)
            for x in values:
                assert x == span.r if span.m == 0 else x % span.m == span.r % span.m, (e, span, x)
        ends = (min(values, default=0), max(values, default=0))
        for c in _conditions(rng, e, f, ends):
            finding = domain.decide(c)
            # a false condition on constants is false even on an empty domain
            expected = all(c.evaluate(p) for p in inside) if c.variables() else c.evaluate({})
            assert finding.holds == expected, (c, finding, box, constraints)


def test_conditions_on_constants_need_no_engine() -> None:
    domain = Domain({})
    assert domain.decide(integer(3) < integer(4)) == (True, "constants", ())
    assert not domain.decide(integer(0).divides(integer(4))).holds
    assert domain.decide(integer(-2).divides(integer(4))).holds


def test_what_cannot_be_decided_does_not_hold() -> None:
    """No range and no engine is available for a divisor that is not constant, so that nothing follows."""
    domain = Domain({var("a"): (1, 9), var("b"): (1, 9)})
    assert not domain.decide((var("a") * var("b")).within(1, 80)).holds


def test_replay_from_python() -> None:
    m = parse_map("(d0, d1) -> ((d0 * 4 + d1) floordiv 4), domain: d0 in [0, 99], d1 in [0, 3]")
    derivation = indexproof.simplify(m, explain=True)
    assert indexproof.replay(derivation).steps == len(derivation) == 1
    assert indexproof.equal_maps(m, derivation.after).proved
    assert derivation_text(derivation).startswith("1  quotient_certified   in result 0\n")
    with pytest.raises(DerivationRefused):
        indexproof.replay(replace(derivation, after=m.with_(results=(integer(0),))))


def test_what_is_no_map_is_said_to_be_none() -> None:
    with pytest.raises(TypeError, match="expected an IndexingMap, got str; parse_map reads one from text"):
        indexproof.simplify("(d0) -> (d0)")
    for function in (indexproof.simplifier.reduce, indexproof.simplifier.canonical):
        with pytest.raises(TypeError, match="expected an IndexingMap, got NoneType"):
            function(None)
