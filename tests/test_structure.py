"""The structure of the package: no import cycles, short modules, unique names.

tests/test_layering.py checks the direction of imports.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from test_layering import ROOT, imported, modules

LONGEST = 500
"""Most lines of a module."""

LONG = {
    "core/analysis/dataflow.py": "to be split: one walk over all kinds of instructions that call computations",
    "core/expr.py": "one class with its constructors, which the hot path needs together",
    "core/kernel/kernel.py": "trusted at run time, and read as a whole",
    "core/op.py": "to be split: declarations of ops and the symbols that they are written with",
    "reports/pictures.py": "to be split: layouts and reads",
    "rules/compiled.py": "generated",
    "verify/checker.py": "the checker of certificates is one file that can be run alone",
}
"""The modules that are longer, each with the reason."""

SHARED = {"Compare"}
"""Class names that two modules have: the HLO operation is called so, and so is the condition."""


def trees() -> Iterator[tuple[Path, ast.Module]]:
    for path in modules():
        yield path, ast.parse((ROOT / path).read_text("utf-8"), str(path))


# ------------------------------------------------------------------------------------------------------- imports
def executed(tree: ast.Module) -> ast.Module:
    """Remove the code that only a type checker executes."""

    class Pruned(ast.NodeTransformer):
        def visit_If(self, node: ast.If) -> ast.AST | list[ast.stmt]:
            if ast.unparse(node.test) == "TYPE_CHECKING":
                return [*node.orelse]
            return self.generic_visit(node)

    return ast.fix_missing_locations(Pruned().visit(tree))


@cache
def edges() -> dict[str, set[str]]:
    """Return for each module its imports, at the top or inside a function, and their packages."""
    paths = {".".join(("indexproof", *p.with_suffix("").parts)).removesuffix(".__init__"): p for p in modules()}
    found: dict[str, set[str]] = {}
    for name, path in paths.items():
        targets = set()
        for _, target in imported(executed(ast.parse((ROOT / path).read_text("utf-8"))), path):
            if target not in paths:  # a name within a module
                target = target.rpartition(".")[0]
            while target and target not in (*paths, "indexproof"):
                target = target.rpartition(".")[0]
            while target and not f"{name}.".startswith(f"{target}."):
                targets.add(target)
                target = target.rpartition(".")[0]
        found[name] = targets & paths.keys()
    return found


def circles(graph: dict[str, set[str]]) -> list[str]:
    """Return one line for each module on an import cycle."""
    left = dict(graph)
    while free := [name for name, targets in left.items() if not targets & left.keys()]:
        for name in free:
            del left[name]
    # the rest leads to a cycle; a module that no remaining one imports is not on it
    while free := [name for name in left if not any(name in targets for targets in left.values())]:
        for name in free:
            del left[name]
    return [f"{name} imports {', '.join(sorted(targets & left.keys()))}" for name, targets in sorted(left.items())]


def test_no_import_goes_in_a_circle() -> None:
    found = circles(edges())
    assert not found, "\n".join(found)


def test_a_circle_is_noticed() -> None:
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"a", "d"}, "d": set(), "e": {"a"}}) == [
        "a imports b",
        "b imports c",
        "c imports a",
    ]
    graph = edges()
    assert "indexproof.core.errors" in graph["indexproof.core.expr_reader"]
    assert "indexproof.core.points" in graph["indexproof.core.indexing_map"], "imports inside functions count"


# ------------------------------------------------------------------------------------------------ sizes and names
def test_no_module_is_long_without_a_reason() -> None:
    sizes = {str(path): len((ROOT / path).read_text("utf-8").splitlines()) for path in modules()}
    long = {path: n for path, n in sizes.items() if n > LONGEST}
    assert not (long.keys() - LONG.keys()), {path: long[path] for path in long.keys() - LONG.keys()}
    assert not (LONG.keys() - long.keys()), "no longer long"


def test_no_two_public_classes_have_one_name() -> None:
    where: dict[str, list[str]] = defaultdict(list)
    for path, tree in trees():
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                where[node.name].append(str(path))
    assert {name for name, paths in where.items() if len(paths) > 1} == SHARED


def test_a_docstring_says_what_a_thing_does() -> None:
    """No docstring begins with ``What``."""
    found = []
    for path, tree in trees():
        for node in ast.walk(tree):
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
                text = node.value.value
                if isinstance(text, str) and text.startswith("What "):
                    found.append(f"{path}:{node.lineno}: {text.splitlines()[0]}")
    assert not found, "\n".join(found)
