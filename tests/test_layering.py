"""Imports point one way, ``core <- rules <- verify <- reports <- reports/commands <- cli``, and heavy packages
have one place.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from indexproof.rules.catalog import RULES

ROOT = Path(__file__).parent.parent

LAYERS = ("core", "rules", "verify", "reports", "reports/commands", "cli")
"""Each may import itself and what stands to its left; a folder within a layer may be a layer of its own."""

OUTSIDE = {
    # rich prints maps on a terminal; sympy and tvm are for conversions; all three are imported lazily
    "core": {"numpy", "rich", "sympy", "tvm"},
    # the boundary to jax: three files, not a layer
    "core/frameworks/dynamic_shapes.py": {"jax", "jaxlib"},
    "core/frameworks/jax.py": {"jax", "jaxlib"},
    "core/frameworks/pallas.py": {"jax"},
    "rules": {"numpy"},
    "verify": {"numpy", "z3", "islpy", "cvc5", "distributed"},
    "verify/testing/strategies.py": {"hypothesis"},
    "reports": {"numpy", "rich"},
    "reports/pytest_items.py": {"pytest"},
    "reports/commands": {"typer"},
    "cli": {"typer"},
    "__init__": set(),
    "__main__": set(),
    # builds the wheel and is not part of it
    "setup": {"setuptools"},
}
"""The imports that a layer may have beside the standard library, at the top of a module or inside a function."""

UNLOADED = ("z3", "islpy", "cvc5", "jax", "sympy", "tvm", "numpy", "rich", "typer", "distributed", "hypothesis")
"""The packages that ``import indexproof`` must not load."""


def modules() -> list[Path]:
    """Return the source files, relative to the root."""
    found = list(ROOT.glob("*.py"))
    for layer in LAYERS:
        found += (ROOT / layer).rglob("*.py")
    return sorted({path.relative_to(ROOT) for path in found})


def layer_of(parts: Sequence[str]) -> str:
    """Return the layer of a file or module, from the parts of its path or dotted name."""
    path = "/".join((*parts, ""))
    return max((name for name in LAYERS if path.startswith(f"{name}/")), key=len, default=parts[0])


def imported(source: str | ast.Module, path: Path) -> Iterator[tuple[int, str]]:
    """Yield line and dotted name of every import in a module; relative imports are resolved.

    ``from .a import b`` yields ``indexproof.….a.b``: whether ``b`` is a module does not matter here.
    """
    package = ("indexproof", *path.parts[:-1])
    tree = ast.parse(source, str(path)) if isinstance(source, str) else source
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                yield from ((node.lineno, alias.name) for alias in names)
            case ast.ImportFrom(module=module, names=names, level=level):
                base = package[: len(package) - level + 1] if level else ()
                prefix = ".".join((*base, *([module] if module else ())))
                yield from ((node.lineno, f"{prefix}.{alias.name}") for alias in names)
            case ast.Call(
                func=ast.Name(id="import_module" | "__import__") | ast.Attribute(attr="import_module"),
                args=[ast.Constant(value=str(name)), *_],
            ):
                yield node.lineno, name


def complaints(source: str, path: Path) -> Iterator[str]:
    """Yield a line for every import in ``source`` that its layer does not allow."""
    layer = layer_of(path.with_suffix("").parts)
    allowed = LAYERS[: LAYERS.index(layer) + 1] if layer in LAYERS else LAYERS
    for line, name in imported(source, path):
        top, *rest = name.split(".")
        if top == "indexproof":
            if rest[:1] != ["__version__"] and (not rest or layer_of(rest) not in allowed):
                yield f"{path}:{line}: {layer} may not import {name}"
        elif top not in sys.stdlib_module_names | OUTSIDE[layer] | OUTSIDE.get(path.as_posix(), set()):
            yield f"{path}:{line}: {layer} may not import {top}"


def test_imports_point_one_way() -> None:
    assert len(modules()) > 5
    found = [c for path in modules() for c in complaints((ROOT / path).read_text("utf-8"), path)]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(("path", "source"), [
    ("core/expr.py", "import z3"),
    ("core/expr.py", "from ..rules import sums"),
    ("core/hlo/reader.py", "from ... import rules"),
    ("core/hlo/reader.py", "from ...verify.solve import solve"),
    ("core/expr.py", "from .. import IndexingMap"),
    ("core/expr.py", "def f():\n    import jax"),
    ("rules/sums.py", "from ..verify import encode"),
    ("rules/sums.py", "import indexproof.verify.encode"),
    ("rules/sums.py", "import indexproof"),
    ("rules/ops/fold.py", "import islpy as isl"),
    ("rules/ops/fold.py", "importlib.import_module('z3')"),
    ("verify/solve.py", "from ..reports.terminal import show"),
    ("verify/solve.py", "from .. import cli"),
    ("reports/html.py", "from z3 import Solver"),
    ("reports/html.py", "import typer"),
    ("reports/html.py", "from .commands.frame import say"),
    ("reports/html.py", "from . import commands"),
    ("reports/commands/maps.py", "from ... import cli"),
    ("reports/commands/maps.py", "import z3"),
    ("cli.py", "import z3"),
    ("__init__.py", "import numpy"),
])  # fmt: skip
def test_a_wrong_import_is_noticed(path: str, source: str) -> None:
    assert list(complaints(source, Path(path)))


@pytest.mark.parametrize(("path", "source"), [
    ("core/hlo/reader.py", "from ..expr import Expr\nfrom . import shape\nimport numpy as np"),
    ("rules/ops/fold.py", "from ...core import expr"),
    ("core/frameworks/jax.py", "def f():\n    import jax.numpy"),
    ("verify/solve.py", "import z3\nfrom .. import __version__"),
    ("reports/commands/maps.py", "import typer\nfrom ..layout import write\nfrom .frame import say"),
    ("cli.py", "from .reports import terminal\nfrom .core.errors import InputError\nimport typer"),
    ("__init__.py", "from .core.expr import Expr"),
])  # fmt: skip
def test_a_right_import_is_left_alone(path: str, source: str) -> None:
    assert not list(complaints(source, Path(path)))


def test_importing_the_package_loads_nothing_heavy() -> None:
    code = (
        "import sys, indexproof\n"
        f"loaded = [name for name in {UNLOADED!r} if name in sys.modules]\n"
        "assert not loaded, loaded\n"
        "inner = [name for name in sys.modules if name.startswith('indexproof.')]\n"
        "assert not inner, inner\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("layer", ["core", "rules"])
def test_the_lower_layers_load_nothing_heavy_but_numpy(layer: str) -> None:
    """Importing all modules of a lower layer loads no heavy package but numpy, not even through other packages."""
    names = [".".join(("indexproof", *p.with_suffix("").parts)) for p in modules() if p.parts[0] == layer]
    names = [name.removesuffix(".__init__") for name in names]
    code = (
        "import sys, importlib\n"
        f"for name in {names!r}: importlib.import_module(name)\n"
        f"loaded = [name for name in {UNLOADED!r} if name != 'numpy' and name in sys.modules]\n"
        "assert not loaded, loaded\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_core_names_no_rule() -> None:
    """The core does not mention any rule, so that rules can be added, renamed and removed without changing it."""
    names = {r.name for r in (*RULES.rules, *RULES.constraints)}
    for path in (ROOT / "core").rglob("*.py"):
        found = names.intersection(re.findall(r"\w+", path.read_text("utf-8")))
        assert not found, (path.relative_to(ROOT), found)
