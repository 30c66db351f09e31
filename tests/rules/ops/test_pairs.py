"""Both maps of every op are the relation that `reads` states: full evaluation on small instances."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from op_relation import holds, map_relation, reads_relation

from indexproof.core.errors import TooLargeError
from indexproof.core.op import DIRECTIONS, POSITION, WRITTEN, Op, concrete, coverage_claim, map_claim
from indexproof.rules.ops import OPS
from indexproof.rules.ops.reshape import Bitcast, Reshape
from indexproof.verify.testing.strategies import random_instance

RANKS = range(5)
# Enough to evaluate in full, small enough for many instances.
POINTS = 100_000


ELEMENTS = 300


def elements(op: Op, shapes: list[list[int]]) -> list[int]:
    """Return the numbers of elements of the operands and of the output."""
    output = [int(n.evaluate({})) for n in op.shape(*shapes)]
    return [math.prod(x) for x in (*shapes, output)]


def instances(cls: type[Op], rank: int) -> Iterator[tuple[Op, list[list[int]]]]:
    """Yield two instances of each case: an arbitrary one, which is often empty, and one without empty arrays."""
    rng = random.Random(f"{cls.name} {rank}")
    for case in cls.cases(rank):
        wanted = [0, 1]
        for _ in range(40):
            op, shapes = case.instance(random_instance(case, rng))
            counts = elements(op, shapes)
            if max(counts) > ELEMENTS or min(counts) < wanted[0]:
                continue
            op.validate(*(() if op.virtual else shapes))
            yield op, shapes
            wanted.pop(0)
            if not wanted:
                break


@pytest.mark.parametrize("rank", RANKS)
@pytest.mark.parametrize("cls", OPS.values(), ids=lambda cls: cls.name)
def test_both_maps_are_the_stated_relation(cls: type[Op], rank: int) -> None:
    related = checked = 0
    for op, shapes in instances(cls, rank):
        for k in range(op.arity):
            try:
                want = reads_relation(op, k, shapes, limit=POINTS)
            except TooLargeError:  # too many combinations of runtime values
                continue
            for direction in DIRECTIONS:
                got = map_relation(op, k, direction, shapes, limit=10 * POINTS)
                assert got == want, (op.text(), k, direction, shapes)
            related += len(want)
            checked += 1
    if any(True for _ in cls.cases(rank)):
        assert checked
        assert related, "only empty relations were compared"


@pytest.mark.parametrize("rank", RANKS)
@pytest.mark.parametrize("cls", OPS.values(), ids=lambda cls: cls.name)
def test_production_maps_are_the_stated_relation(cls: type[Op], rank: int) -> None:
    rng = random.Random(rank)
    for op, shapes in instances(cls, rank):
        given = [] if op.virtual else shapes
        # indices far outside their range too: they are clamped
        held = {
            k: np.array(rng.choices(range(-9, 10), k=math.prod(x)), dtype=int).reshape(x) for k, x in enumerate(shapes)
        }
        by_name = {f"operand {k}": values for k, values in held.items()}
        # the position of the executing replica, for collectives
        held[POSITION] = by_name["replica-position"] = np.array(rng.randrange(3))
        # the elements that updates of a scatter write, as an array of the output's sizes
        made = [int(n.evaluate({})) for n in op.shape(*shapes)]
        held[WRITTEN] = by_name["written"] = np.array(rng.choices((0, 1), k=math.prod(made))).reshape(made)
        for k in range(op.arity):
            want = reads_relation(op, k, shapes, held)
            there = concrete(op, k, "output_to_input", given).relation(operands=by_name)
            back = {(o, i) for i, o in concrete(op, k, "input_to_output", given).relation(operands=by_name)}
            assert there == want, (op.text(), k, shapes)
            assert back == want, (op.text(), k, shapes)


@pytest.mark.parametrize("rank", RANKS)
@pytest.mark.parametrize("cls", [Reshape, Bitcast], ids=lambda cls: cls.name)
def test_positions_agree_when_they_agree_in_every_block(cls: type[Op], rank: int) -> None:
    for op, shapes in instances(cls, rank):
        assert isinstance(op, Reshape | Bitcast)
        assert reads_relation(op, 0, shapes) == reads_relation(replace(op, blocks=()), 0, shapes)


@pytest.mark.parametrize("rank", RANKS)
@pytest.mark.parametrize("cls", OPS.values(), ids=lambda cls: cls.name)
def test_operands_share_out_the_output(cls: type[Op], rank: int) -> None:
    for op, shapes in instances(cls, rank):
        claim = coverage_claim(op, shapes)
        if claim is None:
            continue
        base = map_claim(op, 0, "output_to_input", shapes)
        sizes = [int(n.evaluate({})) for n in base.source_sizes]
        spans = [int(r.hi.evaluate({})) + 1 for r in base.runtime]
        points = list(itertools.product(*map(range, (*sizes, *spans))))
        columns = np.array(points).reshape(len(points), len(sizes) + len(spans)).T
        env = dict(zip([*base.source, *(r.variable for r in base.runtime)], columns, strict=True))
        assert holds([claim[1]], env, len(points)).all(), (op.text(), shapes)


@pytest.mark.parametrize("cls", OPS.values(), ids=lambda cls: cls.name)
def test_labels_tell_cases_apart(cls: type[Op]) -> None:
    labels = [case.label for rank in RANKS for case in cls.cases(rank)]
    assert labels
    assert len(set(labels)) == len(labels)
