"""Mutants of rules in rule files: equivalent rules in the same language.

Variables are renamed and declared in another order; conditions are shuffled, and so are the arguments of connectives and
extrema; the two operands of ``+``, ``*``, ``==`` and ``!=`` may be swapped, which is valid even with overflow;
``a < b`` may become ``b > a``.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from indexproof.verify.rulefiles.lowering import source_of
from indexproof.verify.rulefiles.obligations import StatedObligation
from indexproof.verify.rulefiles.rule import StatedRule
from indexproof.verify.rulefiles.terms import Term, below

__all__ = ["stated_mutant", "stated_question"]

_STEMS: Final = ("z", "m", "long_name_", "A", "q0_")
_SHUFFLED: Final = frozenset({"and", "or", "min", "max"})
_EXCHANGED: Final = frozenset({"add", "mul", "eq", "ne"})
_TURNED: Final = {"lt": "gt", "gt": "lt", "le": "ge", "ge": "le"}


def stated_question(o: StatedObligation) -> StatedObligation:
    """Return the question of an obligation, which is equal for rules that differ only in name and position."""
    digest = hashlib.sha256(o.source.encode()).hexdigest()[:16]
    return StatedObligation(replace(o.rule, name=digest), o.source, o.condition)


def stated_mutant(o: StatedObligation, n: int) -> StatedObligation:
    """Return mutant number ``n`` of the soundness of a rule."""
    made = restated(o.rule, random.Random(f"{o.name} {n}"))
    return StatedObligation(replace(made, name=o.subject), source_of(made))


def restated(r: StatedRule, dice: random.Random) -> StatedRule:
    """Return a rule equivalent to ``r`` under other names."""
    order = list(r.variables)
    dice.shuffle(order)
    numbers = list(range(len(order)))
    dice.shuffle(numbers)
    stem = dice.choice(_STEMS)
    names = {v: f"{stem}{k}" for v, k in zip(order, numbers, strict=True)}
    done: dict[int, Term] = {}
    for t in below(r.left, r.right, *r.conditions):
        done[id(t)] = _reworded(t, names, lambda a: done[id(a)], dice)
    conditions = [done[id(c)] for c in r.conditions]
    dice.shuffle(conditions)
    return replace(
        r,
        left=done[id(r.left)],
        right=done[id(r.right)],
        conditions=tuple(conditions),
        variables={names[v]: r.variables[v] for v in order},
    )


def _reworded(t: Term, names: dict[str, str], of: Callable[[Term], Term], dice: random.Random) -> Term:
    if t.op in ("var", "flag"):
        return Term(t.op, (), names[t.name])
    args, op = [of(a) for a in t.args], t.op
    if op in _SHUFFLED:
        dice.shuffle(args)
    elif op in _EXCHANGED and len(args) == 2 and dice.random() < 0.5:
        args.reverse()
    elif op in _TURNED and dice.random() < 0.25:
        args.reverse()
        op = _TURNED[op]
    return Term(op, tuple(args), t.value)
