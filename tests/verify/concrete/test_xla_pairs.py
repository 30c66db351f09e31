"""Maps before and after XLA's own simplifier (`xla_pairs.jsonl.gz`) are equal on their domains.

Each line of the data holds an HLO fusion and, per operand, `vars`, `domain` and the expressions `before` and
`after`.
"""

from __future__ import annotations

import gzip
import json
import statistics
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from indexproof.core.expr import Expr, ceildiv, lift, maximum, minimum, var
from indexproof.verify.concrete import equal_exprs

DATA = Path(__file__).parents[1] / "data" / "xla_pairs.jsonl.gz"
OPERATORS = {
    "add": lambda a, b: a + b,
    "mul": lambda a, b: a * b,
    "fdiv": lambda a, b: a // b,
    "mod": lambda a, b: a % b,
    "cdiv": ceildiv,
    "min": minimum,
    "max": maximum,
}


def expression(tree: Any) -> Expr:
    if isinstance(tree, list):
        return OPERATORS[tree[0]](*map(expression, tree[1:]))
    return var(tree) if isinstance(tree, str) else lift(tree)


@cache
def pairs() -> list[dict[str, Any]]:
    with gzip.open(DATA, "rt") as lines:
        found = [pair for line in lines for pair in json.loads(line)["pairs"]]
    for pair in found:
        pair["before"] = [expression(e) for e in pair["before"]]
        pair["after"] = [expression(e) for e in pair["after"]]
        pair["domain"] = [(expression(e), lo, hi) for e, lo, hi in pair["domain"]]
    return found


def test_every_pair_is_equal_and_quickly_so() -> None:
    seconds = []
    for pair in pairs():
        answer = equal_exprs(pair["before"], pair["after"], pair["vars"], pair["domain"])
        assert answer.verdict == "PROVED", (answer, pair["before"], pair["after"])
        seconds.append(answer.seconds)
    assert len(seconds) == 235
    # the targets are 20 ms and 5 s; they are meant to detect a regression by orders of magnitude
    assert statistics.median(seconds) < 0.02
    assert max(seconds) < 5


def test_second_opinions_agree() -> None:
    for pair in pairs()[::5]:
        answer = equal_exprs(pair["before"], pair["after"], pair["vars"], pair["domain"], confirm=True)
        assert answer.proved, pair
        assert answer.confirmed_by, (answer.tried, pair)


def differs(pair: dict[str, Any], after: list[Expr]) -> bool:
    """Return whether the values differ at some point of the domain, by evaluating all points."""
    axes = np.meshgrid(*(np.arange(lo, hi + 1) for _, lo, hi in pair["vars"]), indexing="ij")
    env = {name: axis for (name, _, _), axis in zip(pair["vars"], axes, strict=True)}
    inside = np.ones(axes[0].shape, dtype=bool)
    for e, lo, hi in pair["domain"]:
        inside &= (e.evaluate(env) >= lo) & (e.evaluate(env) <= hi)
    return any(
        (inside & (a.evaluate(env) != b.evaluate(env))).any() for a, b in zip(pair["before"], after, strict=True)
    )


def test_changed_results_are_refuted_by_a_point_of_the_domain() -> None:
    wrong = 0
    for k, pair in enumerate(pairs()):
        if not pair["vars"] or not pair["after"]:
            continue
        name, _, hi = pair["vars"][k % len(pair["vars"])]
        after = [*pair["after"][:-1], pair["after"][-1] + var(name) // max(hi, 1)]
        answer = equal_exprs(pair["before"], after, pair["vars"], pair["domain"])
        assert answer.verdict == ("REFUTED" if differs(pair, after) else "PROVED"), (answer, pair)
        found = answer.counterexample
        if found is None:
            continue
        assert found.left == tuple(e.evaluate(found.values) for e in pair["before"])
        assert found.right == tuple(e.evaluate(found.values) for e in after)
        assert found.left != found.right
        assert all(lo <= found.values[n] <= hi for n, lo, hi in pair["vars"])
        assert all(lo <= e.evaluate(found.values) <= hi for e, lo, hi in pair["domain"])
        wrong += 1
    assert wrong > 150
