"""Fixed maps: the examples of the rules, the published maps, and maps from files."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from indexproof.core.errors import InputError
from indexproof.core.expr import Var
from indexproof.core.indexing_map import Constraint, IndexingMap, Variable
from indexproof.core.json_form import expr_from_json
from indexproof.core.map_reader import read_map
from indexproof.core.rewrite import ConstraintRule, RuleSet
from indexproof.core.text import parse_expr
from indexproof.reports.hlo_files import hlo_file_text

__all__ = ["builtin_corpus", "read_corpus", "rule_examples"]

#: The box of a variable that an example leaves free.
FREE: Final = (-(10**6), 10**6)
_BOX = re.compile(r"(.+?) in \[(-?\d+), (-?\d+)\]")

Named = tuple[str, IndexingMap]


def builtin_corpus(rules: RuleSet) -> list[Named]:
    """Return the examples of all rules, and every map of the claims files of the package."""
    from indexproof.verify.claims import Comparison, Simplification, builtin_claims

    found = list(rule_examples(rules))
    for file in builtin_claims():
        for claim in file.claims:
            s = claim.statement
            maps = (
                (s.left, s.right)
                if isinstance(s, Comparison)
                else (s.before, s.after)
                if isinstance(s, Simplification)
                else s.maps
            )
            found += [(f"{file.filename}:{claim.line}", m) for m in maps if isinstance(m, IndexingMap)]
    return found


def rule_examples(rules: RuleSet) -> Iterator[Named]:
    """Yield the positive and negative examples of each rule as maps."""
    for rule in rules:
        for text in (*rule.fires, *rule.keeps):
            before, _, domain = text.partition(" | ")
            said = {e.strip(" ,"): (int(lo), int(hi)) for e, lo, hi in _BOX.findall(domain)}
            bounds = {e: box for e, box in said.items() if e.isidentifier()}
            constraints = [Constraint(parse_expr(e), *box) for e, box in said.items() if e not in bounds]
            parts = [part for part in before.split(";") if part.strip()]
            if isinstance(rule, ConstraintRule):
                m = _over([], [*map(_constraint, parts), *constraints], bounds)
            else:
                m = _over(parts, constraints, bounds)
            yield f"{rule.name}: {text}", m


def _constraint(text: str) -> Constraint:
    found = _BOX.fullmatch(text.strip())
    assert found is not None, "an example is `expression in [lo, hi]`"
    return Constraint(parse_expr(found[1]), int(found[2]), int(found[3]))


def _over(results: list[str], constraints: list[Constraint], bounds: Mapping[str, tuple[int, int]]) -> IndexingMap:
    exprs = [parse_expr(r) for r in results]
    names = {v.name for e in (*exprs, *(c.expr for c in constraints)) for v in e.variables()} | set(bounds)
    dims = tuple(Variable(n, *bounds.get(n, FREE)) for n in sorted(names))
    return IndexingMap(dims, (), (), tuple(exprs), tuple(constraints))


def read_corpus(path: Path) -> list[Named]:
    """Read the maps of a file, one per line.

    A line is a map as text or JSON, or a JSON object with ``pairs``, each ``vars``, ``domain`` and the expressions
    ``before`` and ``after``.  Maps of several lines are separated by empty lines.  ``.gz`` files are unpacked.  Raises
    :class:`InputError` that names the file and the line.
    """
    try:
        text = hlo_file_text(path)
    except InputError as error:
        raise InputError(f"--corpus: {error}") from None
    found: list[Named] = []
    for line, block in _blocks(text):
        name = f"{path.name}:{line}"
        try:
            if block.startswith("{") and '"pairs"' in block:
                found += [(f"{name}, pair {k}", m) for k, p in enumerate(json.loads(block)["pairs"]) for m in _pair(p)]
            elif not block.startswith("#"):
                found.append((name, read_map(block)))
        except (InputError, ValueError, KeyError, TypeError) as error:
            raise InputError(f"--corpus: {name}: {error}") from None
    return found


def _blocks(text: str) -> Iterator[tuple[int, str]]:
    """Yield maps with the number of their first line: single lines, or several up to an empty one."""
    lines = text.splitlines()
    at = 0
    while at < len(lines):
        if not lines[at].strip():
            at += 1
            continue
        end = at + 1
        head = lines[at].rstrip()
        if not head.startswith("{") and (
            head.endswith("domain:") or (end < len(lines) and lines[end].startswith("domain:"))
        ):
            while end < len(lines) and lines[end].strip():
                end += 1
        yield at + 1, "\n".join(lines[at:end]).strip()
        at = end


def _pair(pair: Mapping[str, Any]) -> Iterator[IndexingMap]:
    dims = tuple(Variable(*v) for v in pair["vars"])
    scope: dict[str, Var] = {v.name: v.expr for v in dims}
    constraints = tuple(Constraint(expr_from_json(e, scope), lo, hi) for e, lo, hi in pair["domain"])
    for side in ("before", "after"):
        yield IndexingMap(dims, (), (), tuple(expr_from_json(e, scope) for e in pair[side]), constraints)
