"""Rules that say of a compound term what is true of anything: the term becomes a variable.

``(y - x·(2·c)) % (a - b) -> y % (a - b)`` where ``a - b`` divides ``2·c`` is an instance of
``(y - x·t) % u -> y % u`` where u divides t, which is easier to prove: that a number divides a variable can be written
as a definition of the variable.  A rule follows from every rule of which it is an instance, so any occurrences of a term
may be replaced, if the variable can have every value of the term.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace

from .rule import StatedRule, sort_of
from .sample import table_of
from .semantics import Semantics
from .terms import BOOL, Kind, Term, below, show

__all__ = ["GENERALISED", "generalised", "repeated"]

#: The name of this strategy.
GENERALISED = "generalisation"
#: So many replacements are tried at points.
_ATTEMPTS = 12


def generalised(r: StatedRule) -> StatedRule | None:
    """A rule of which ``r`` is an instance and that no point of its table refutes; ``None`` where there is none.

    Terms that occur again, and have a value everywhere, are replaced, the largest first.
    """
    best = r
    refuted: set[str] = set()
    for _ in range(_ATTEMPTS):
        text = next((t for t in repeated(best) if t not in refuted), None)
        if text is None:
            break
        candidate = _with_variable(best, text)
        if table_of(candidate).counterexample() is None:
            best = candidate
        else:
            refuted.add(text)
    return None if best is r else best


def repeated(r: StatedRule) -> list[str]:
    """The compound terms that occur at several places and have a value everywhere, largest first."""
    sizes: dict[str, int] = {}
    counts: Counter[str] = Counter()
    excluded: set[str] = set()
    for root in (r.left, r.right, *r.conditions):
        for t in _occurrences(root):
            if t.args and t.op != "fold":
                text = show(t)
                counts[text] += 1
                sizes[text] = len(below(t))
                # in a condition no integer wraps around, so a machine integer is another one there
                if not _has_value(t, r.semantics) or (r.semantics.width and root in r.conditions):
                    excluded.add(text)
    several = [t for t in counts if counts[t] > 1 and t not in excluded]
    return sorted(several, key=lambda t: (-sizes[t], t))


def _has_value(t: Term, s: Semantics) -> bool:
    """Whether a term has a value at every point."""
    if s.width and s.overflow != "wrap":
        return False
    if s.quotient.endswith("0") and s.remainder.endswith("0"):
        return True
    return not any(a.op in ("fdiv", "mod", "cdiv") or a.op.endswith(("div", "mod")) for a in below(t))


def _occurrences(root: Term) -> Iterator[Term]:
    todo = [root]
    while todo:
        t = todo.pop()
        yield t
        todo.extend(reversed(t.args))


def _with_variable(r: StatedRule, text: str) -> StatedRule:
    """The rule with a new variable for a term."""
    name = next(f"t{k}" for k in range(1, len(r.variables) + 2) if f"t{k}" not in r.variables)
    done: dict[int, Term] = {}
    kinds: Mapping[str, Kind] = r.variables
    kind = Kind("int")
    for t in below(r.left, r.right, *r.conditions):
        if t.args and show(t) == text:
            if sort_of(t) == BOOL:
                kind = Kind("bool")
            elif all(kinds[a.name].name == "const" for a in below(t) if a.op in ("var", "flag")):
                kind = Kind("const")
            done[id(t)] = Term("flag" if kind.name == "bool" else "var", (), name)
        else:
            args = tuple(done[id(a)] for a in t.args)
            done[id(t)] = Term(t.op, args, t.value, t.at)
    sides = (r.left, r.right, *r.conditions)
    left, right, *conditions = (done[id(t)] for t in sides)
    known = {**r.variables, name: kind}
    mentioned = {t.name for t in below(left, right, *conditions) if t.op in ("var", "flag")}
    variables = {v: k for v, k in known.items() if v in mentioned}
    return replace(r, left=left, right=right, conditions=tuple(conditions), variables=variables)
