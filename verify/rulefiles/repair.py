"""Repairs a false rule by the weakest single condition among documented candidates (reports/rule_files.md).

A repair is offered only if the rule with it is *proved* and not vacuous.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from ..budget import Budget
from .lowering import source_of
from .prove import decide_sound
from .rule import StatedRule
from .sample import table_of
from .terms import DIVISIONS, Term, below, show

#: Limits on the candidates given to the prover, and on the repairs offered.
_ATTEMPTS = 12
_MOST = 3
_BUDGET = Budget().scaled(0.2)


def _int(n: int) -> Term:
    return Term("int", (), n)


def _is(op: str, *args: Term) -> Term:
    return Term(op, args)


def candidates(r: StatedRule) -> Iterator[Term]:
    """Yield the candidate conditions, in order."""
    named = {v: Term("flag" if k.name == "bool" else "var", (), v) for v, k in r.variables.items()}
    constants = [named[v] for v, k in r.variables.items() if k.name == "const"]
    numbers = [named[v] for v, k in r.variables.items() if k.name == "int"]
    zero, one = _int(0), _int(1)
    for e in (*constants, *_divisors(r), *numbers):
        yield from (_is(op, e, zero) for op in ("ne", "ge", "le", "gt", "lt"))
        if e in constants:
            yield from (_is("ne", e, _int(-1)), _is("gt", e, one))
    for a, b in itertools.permutations(constants, 2):
        yield from (_is("divides", a, b), _is("le", a, b), _is("lt", a, b))
    for a, b in itertools.combinations(constants, 2):
        yield _is("eq", a, b)
    for x, y in itertools.permutations(numbers, 2):
        yield _is("le", x, y)
    for x, c in itertools.product(numbers, constants):
        yield _is("within", x, zero, _is("sub", c, one))
        yield _is("divides", c, x)
    for x, y in itertools.permutations(numbers, 2):
        yield _is("within", x, zero, _is("sub", y, one))
    for v, k in r.variables.items():
        if k.name == "bool":
            yield from (named[v], _is("not", named[v]))
    yield from _ranges(r)


def _divisors(r: StatedRule) -> list[Term]:
    """Return the divisors that are neither literals nor variables, each once."""
    found: dict[str, Term] = {}
    for t in below(r.left, r.right):
        if t.op in DIVISIONS and t.args[1].op not in ("int", "var"):
            found.setdefault(show(t.args[1]), t.args[1])
    return list(found.values())


def _ranges(r: StatedRule) -> Iterator[Term]:
    """Yield the conditions that the result of one operation fits into the machine integers."""
    s = r.semantics
    if not s.width:
        return
    seen: set[str] = set()
    for t in below(r.right, r.left):
        if t.op in ("add", "sub", "mul", "neg", "fdiv") and show(t) not in seen:
            seen.add(show(t))
            yield _is("within", t, _int(s.lo), _int(s.hi))


def weakest_repairs(r: StatedRule) -> list[Term]:
    """Return up to three conditions each of which makes a false rule true, the weakest first.

    A condition is weaker if it holds at more points of the rule's table.  A candidate is dropped if a kept one holds
    wherever it does.
    """
    table = table_of(r)
    stated = {show(c) for c in r.conditions}
    promising = []
    for k, c in enumerate(candidates(r)):
        if show(c) in stated:
            continue
        places = table.saved_by(c)
        if places is not None:
            promising.append((-int(places.sum()), k, c, places))
    promising.sort(key=lambda p: p[:2])
    found: list[Term] = []
    kept: list[Any] = []
    attempts = 0
    for _, _, c, places in promising:
        if any(not (places & ~other).any() for other in kept):
            continue  # a weaker kept condition holds wherever it does
        if attempts == _ATTEMPTS or len(found) == _MOST:
            break
        attempts += 1
        if decide_sound(source_of(replace(r, conditions=(*r.conditions, c))), _BUDGET).proved:
            found.append(c)
            kept.append(places)
    return found
