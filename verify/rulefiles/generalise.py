"""Generalises rules by replacing repeated compound terms by variables.

``(y - x·(2·c)) % (a - b) -> y % (a - b)`` where ``a - b`` divides ``2·c`` is an instance of
``(y - x·t) % u -> y % u`` where u divides t.  The latter is easier to prove, since ``u ∣ t`` becomes a definition of the
variable t.  A rule follows from every rule of which it is an instance, so a term may be replaced if the variable can take
every value of the term.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from .instance import instance_terms
from .rule import StatedRule, sort_of
from .sample import table_of
from .terms import BOOL, Kind, Term, alike, below, show

#: The name of this strategy.
GENERALISED = "generalisation"
#: Limit on the replacements that points refute.
_REFUTED = 12


def generalised(r: StatedRule) -> StatedRule | None:
    """Return a rule of which ``r`` is an instance and that no point of its table refutes, or ``None``.

    Repeated terms become variables greedily, the largest first.
    """
    best = r
    refuted: set[str] = set()
    while len(refuted) < _REFUTED:
        wider = next((w for w in _wider(best) if show(w[0]) not in refuted), None)
        if wider is None:
            break
        term, candidate = wider
        if table_of(candidate).counterexample() is None:
            best = candidate
        else:
            refuted.add(show(term))
    return None if best is r else best


def repeated(r: StatedRule) -> list[Term]:
    """Return the repeated compound terms that may become variables, the largest first."""
    return [t for t, _ in _wider(r)]


def _wider(r: StatedRule) -> Iterator[tuple[Term, StatedRule]]:
    """Yield each repeated term with the rule that has a variable in its place, if ``r`` is an instance of that rule."""
    sides = below(r.left, r.right)
    terms = [*sides, *below(*r.conditions)]
    number = alike(terms)
    count = Counter(number[id(t)] for t in terms)
    size: dict[int, int] = {}
    found: dict[int, Term] = {}
    for t in terms:
        k = number[id(t)]
        size[k] = 1 + sum(size[number[id(a)]] for a in t.args)
        if t.args and t.op != "fold" and count[k] > 1:
            found.setdefault(k, t)
    for k in sorted(found, key=lambda k: (-size[k], k)):
        wider = _with_variable(r, found[k], terms, number)
        if instance_terms(wider, r) is not None:
            yield found[k], wider


def _with_variable(r: StatedRule, term: Term, terms: Sequence[Term], number: Mapping[int, int]) -> StatedRule:
    """Return the rule with a new variable for a term, given all its terms, arguments first, and their numbers."""
    name = next(f"t{k}" for k in range(1, len(r.variables) + 2) if f"t{k}" not in r.variables)
    constant = all(r.variables[a.name].name == "const" for a in below(term) if a.op in ("var", "flag"))
    kind = Kind("bool" if sort_of(term) == BOOL else "const" if constant else "int")
    done: dict[int, Term] = {}
    for t in terms:
        if id(t) in done:
            continue
        if number[id(t)] == number[id(term)]:
            done[id(t)] = Term("flag" if kind.name == "bool" else "var", (), name)
        else:
            done[id(t)] = Term(t.op, tuple(done[id(a)] for a in t.args), t.value, t.at)
    left, right, *conditions = (done[id(t)] for t in (r.left, r.right, *r.conditions))
    mentioned = {t.name for t in below(left, right, *conditions) if t.op in ("var", "flag")}
    variables = {v: k for v, k in {**r.variables, name: kind}.items() if v in mentioned}
    return replace(r, left=left, right=right, conditions=tuple(conditions), variables=variables)
