"""Strategy that proves a claim with variables in place of compound terms.

``(y - x·2·c) % (a - b) = y % (a - b)`` where ``a - b`` divides ``2·c`` is an instance of ``(y - x·t) % u = y % u`` where u
divides t.  The latter is easier to prove, since ``u ∣ t`` becomes a definition of the variable t.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from ...core.condition import Condition, Divides, all_exprs, atoms, substitute_conditions
from ...core.expr import Expr, Int, Mul, Sum, Var, linear, mul, postorder, rebuild, var
from ..linear.record import Node
from ..obligation import Obligation
from ..refute import small_point, variables_of
from .known import unscaled
from .modular import Show, attempted, proof_by_residues

#: The name of this strategy.
GENERALISED = "generalisation"
#: Limit on the replacements that points refute.
_REFUTED = 12


def proof_by_generalisation(o: Obligation, show: Show) -> Node | None:
    """Prove a claim of which this one is an instance; return the proof, or ``None``."""
    steps, wider = generalised(o)
    if not steps or not _is_instance(o, wider, {v: term for v, term, _ in steps}):
        return None
    node = show(wider.hypotheses, wider.goal) or proof_by_residues(wider, show)
    return node and {"step": "instance", "of": steps, "then": node}


by_generalisation = partial(attempted, proof_by_generalisation)


def _is_instance(o: Obligation, wider: Obligation, terms: Mapping[Var, Expr]) -> bool:
    """Return whether a claim is another one with terms for variables, however that one was found."""
    return substitute_conditions((*wider.hypotheses, wider.goal), terms) == [*o.hypotheses, o.goal]


#: A new variable, the term for which it stands, and all terms that change with it.
Step = tuple[Var, Expr, dict[Expr, Expr]]


def generalised(o: Obligation) -> tuple[list[Step], Obligation]:
    """Return a claim of which ``o`` is an instance and that no point refutes, and the steps that lead to it.

    Terms become variables greedily, the largest first.
    """
    steps: list[Step] = []
    refuted: set[Expr] = set()
    while len(refuted) < _REFUTED:
        conditions = (*o.hypotheses, o.goal)
        term = next((t for t in repeated(conditions) if t not in refuted), None)
        if term is None:
            break
        taken = {v.name for v in variables_of(conditions)}
        v = var(next(name for k in range(1, len(taken) + 2) if (name := f"t{k}") not in taken))
        changed = _with_variable(conditions, term, v)
        *hypotheses, goal = substitute_conditions(conditions, changed)
        wider = replace(o, hypotheses=tuple(hypotheses), goal=goal)
        if small_point(wider.hypotheses, wider.goal) is None:
            steps.append((v, term.substitute({w: t for w, t, _ in steps}), changed))
            o = wider
        else:
            refuted.add(term)
    return steps, o


def repeated(conditions: Sequence[Condition]) -> list[Expr]:
    """Return the compound terms that occur more than once, divide, or are divided by a hypothesis, the largest first."""
    roots = [e for c in conditions for e in all_exprs(c)]
    nodes = list(postorder(*roots))
    count = Counter([*roots, *(k for e in nodes for k in e.children)])
    for c in conditions:
        for a in atoms(c):
            if isinstance(a, Divides):
                count[a.d] += 1
                count[a.e] += 1
    size: dict[Expr, int] = {}
    for e in nodes:
        size[e] = 1 + sum(size[k] for k in e.children)
    # a term and its negation become the same variable
    found = dict.fromkeys(-e if unscaled(e)[1] < 0 else e for e in nodes if count[e] > 1)
    return sorted((e for e in found if not isinstance(e, (Int, Var))), key=lambda e: -size.get(e, 0))


def _with_variable(conditions: Sequence[Condition], term: Expr, v: Var) -> dict[Expr, Expr]:
    """Return the terms that change if ``v`` stands for ``term``, also where a product has its factors."""
    base, scale = unscaled(term)
    wanted = Counter(base.factors if isinstance(base, Mul) else (base,))
    done: dict[Expr, Expr] = {term: v, -term: -v}
    for e in postorder(*(e for c in conditions for e in all_exprs(c))):
        if e not in done:
            made = rebuild(e, [done[k] for k in e.children]) if e.children else e
            done[e] = made if isinstance(term, Sum) and base is term else _through(made, wanted, scale, v)
    return {e: made for e, made in done.items() if made is not e}


def _through(e: Expr, wanted: Counter[Expr], scale: int, v: Var) -> Expr:
    """Replace ``scale`` times the product of the ``wanted`` factors by ``v`` in every summand that has them."""
    const, terms = (e.const, e.terms) if isinstance(e, Sum) else (0, ((e, 1),))
    out: list[tuple[Expr, int]] = []
    for t, k in terms:
        factors = Counter(t.factors if isinstance(t, Mul) else (t,))
        if k % scale == 0 and wanted <= factors:
            out.append((mul(*(factors - wanted).elements(), v), k // scale))
        else:
            out.append((t, k))
    return linear(const, out)
