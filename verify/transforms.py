"""The obligations of the law of a map transform."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from ..core.condition import FALSE, all_exprs, all_of
from ..core.expr import Expr, lift
from ..rules.transforms import TransformLaw
from .obligation import Obligation
from .obligations import defined


def transform_obligations(law: TransformLaw) -> Iterator[Obligation]:
    """Yield both directions, *defined* and *not vacuous*.

    *into*: each point of the old domain has a new one at which the old variables, and therefore results and
    constraints, have their old values.  *back*: each point of the new domain gives one of the old domain.
    """
    old = {v: e for (v, _, _), e in zip(law.old, law.back, strict=True)}
    new = {v: e for (v, _, _), e in zip(law.new, law.there, strict=True)}
    seen = [v for v, _, _ in law.old if v not in law.unseen]
    there = [c.substitute(new) for c in law.new_domain()]
    same = [lift(old[v]).substitute(new).eq(v) for v in seen]
    roots = [lift(e) for e in (*law.back, *law.there)]

    owe = partial(
        Obligation,
        "transform",
        law.name,
        show=tuple((f"{v}", e) for v, e in [*_shown(old), *_shown(new)]),
        where="transforms.py",
        claim=law.statement(),
    )
    yield owe("into", (*law.when, *law.old_domain()), all_of((*there, *same)))
    # an unused variable may have had any value, and must get one from its old range
    yield owe("back", (*law.when, *law.new_domain()), all_of(c.substitute(old) for c in law.old_domain()))
    stated = [e for c in (*law.old_domain(), *law.new_domain()) for e in all_exprs(c)]
    yield owe("defined", tuple(law.when), defined(*roots, *stated))
    possible = () if law.nowhere else law.old_domain()
    yield owe("not vacuous", (*law.when, *possible), FALSE, "exists")


def _shown(values: dict[Expr, Expr | int]) -> Iterator[tuple[Expr, Expr]]:
    for v, e in values.items():
        yield v, lift(e)
