"""Rules that say of a compound term what is true of anything: the term becomes a variable.

``(y - x·(2·c)) % (a - b) -> y % (a - b)`` where ``a - b`` divides ``2·c`` is an instance of
``(y - x·t) % u -> y % u`` where u divides t, which is easier to prove: that a number divides a variable can be written
as a definition of the variable.  A rule follows from every rule of which it is an instance, so any occurrences of a term
may be replaced, if the variable can have every value of the term.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from .rule import StatedRule, sort_of
from .sample import table_of
from .semantics import Semantics
from .terms import BOOL, Kind, Term, below, evaluated, show

__all__ = ["GENERALISED", "alike", "generalised", "repeated"]

#: The name of this strategy.
GENERALISED = "generalisation"
#: So many replacements are tried at points.
_ATTEMPTS = 12


def generalised(r: StatedRule, *, everywhere: bool = True) -> StatedRule | None:
    """A rule of which ``r`` is an instance and that no point of its table refutes; ``None`` where there is none.

    Terms that occur again, and have a value everywhere, are replaced, the largest first; otherwise also those that have
    one wherever the rule says something.
    """
    best = r
    refuted: set[str] = set()
    for _ in range(_ATTEMPTS):
        term = next((t for t in repeated(best, everywhere=everywhere) if show(t) not in refuted), None)
        if term is None:
            break
        candidate = _with_variable(best, term)
        if table_of(candidate).counterexample() is None:
            best = candidate
        else:
            refuted.add(show(term))
    return None if best is r else best


def repeated(r: StatedRule, *, everywhere: bool = True) -> list[Term]:
    """The compound terms that occur at several places and have a value everywhere, each once, largest first.

    Otherwise also those without whose value the left side or a condition has none: there the rule says nothing.
    """
    sides = below(r.left, r.right)
    number = alike([*sides, *below(*r.conditions)])
    count = Counter(number[id(t)] for t in sides)
    # in a condition no integer wraps around, so a machine integer is another one there
    conditional = Counter(number[id(t)] for t in below(*r.conditions))
    decisive = (r.left, *(() if r.semantics.width else r.conditions))
    needed: set[int] = set() if everywhere else {number[id(t)] for t in evaluated(*decisive)}
    size: dict[int, int] = {}
    found: dict[int, Term] = {}
    valued: set[int] = set()
    for t in [*sides, *below(*r.conditions)]:
        k = number[id(t)]
        size[k] = 1 + sum(size[number[id(a)]] for a in t.args)
        if k not in needed and not (
            _is_total(t, r.semantics) and valued.issuperset(number[id(a)] for a in t.args)
        ):
            continue
        valued.add(k)
        if t.args and t.op != "fold" and not (r.semantics.width and conditional[k]):
            found.setdefault(k, t)
    several = [k for k in found if count[k] + conditional[k] > 1]
    return [found[k] for k in sorted(several, key=lambda k: (-size[k], k))]


def _is_total(t: Term, s: Semantics) -> bool:
    """Whether an operator gives a value for all values."""
    if s.width and s.overflow != "wrap":
        return not t.args
    divides = t.op in ("fdiv", "mod", "cdiv") or t.op.endswith(("div", "mod"))
    return not divides or (s.quotient.endswith("0") and s.remainder.endswith("0"))


def alike(terms: Iterable[Term]) -> dict[int, int]:
    """The same number for terms that say the same, by ``id``; arguments come first."""
    numbers: dict[tuple[object, ...], int] = {}
    number: dict[int, int] = {}
    for t in terms:
        key = (t.op, t.value, type(t.value), *(number[id(a)] for a in t.args))
        number[id(t)] = numbers.setdefault(key, len(numbers))
    return number


def _with_variable(r: StatedRule, term: Term) -> StatedRule:
    """The rule with a new variable for a term."""
    name = next(f"t{k}" for k in range(1, len(r.variables) + 2) if f"t{k}" not in r.variables)
    below_term = [a for a in below(term) if a.op in ("var", "flag")]
    if sort_of(term) == BOOL:
        kind = Kind("bool")
    else:
        constant = all(r.variables[a.name].name == "const" for a in below_term)
        kind = Kind("const" if constant else "int")
    roots = (r.left, r.right, *r.conditions)
    terms = below(*roots)
    number = alike(terms)
    done: dict[int, Term] = {}
    for t in terms:
        if number[id(t)] == number[id(term)]:
            done[id(t)] = Term("flag" if kind.name == "bool" else "var", (), name)
        else:
            done[id(t)] = Term(t.op, tuple(done[id(a)] for a in t.args), t.value, t.at)
    left, right, *conditions = (done[id(t)] for t in roots)
    mentioned = {t.name for t in below(left, right, *conditions) if t.op in ("var", "flag")}
    variables = {v: k for v, k in {**r.variables, name: kind}.items() if v in mentioned}
    return replace(r, left=left, right=right, conditions=tuple(conditions), variables=variables)
