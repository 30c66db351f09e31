"""The optional compiled core: ``INDEXPROOF_COMPILE=1 pip install .`` compiles the simplifier's hot modules with mypyc.

The same sources serve both: without the variable nothing is compiled, and what is compiled is found before the source
beside it.  `make compiled` builds a wheel, `make test-compiled` runs the simplifier's tests on it.
"""

import os
import shutil
import sys
import tempfile
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_py import build_py

#: Compiled together, so that calls between them cost what they do in C.
MODULES = [
    "core/constraint_matcher",
    "core/constraint_normal",
    "core/constraint_order",
    "core/cost",
    "core/engine",
    "core/expr",
    "core/extraction/choices",
    "core/extraction/differences",
    "core/extraction/given",
    "core/extraction/ledger",
    "core/extraction/narrow",
    "core/extraction/proposals",
    "core/extraction/search",
    "core/facts",
    "core/kernel/atoms",
    "core/kernel/form",
    "core/kernel/kernel",
    "core/kernel/measure",
    "core/kernel/ranges",
    "core/simplify",
    "core/simplify_map",
    "core/steps",
    "core/strategies/divisions",
    "core/strategies/sums",
    "rules/compiled",
]


class Packages(build_py):
    """The root is a package: this file lies in it, and is none of its modules."""

    def find_package_modules(self, package: str, package_dir: str) -> list[tuple[str, str, str]]:
        """The modules of ``package`` without this file."""
        found: list[tuple[str, str, str]] = super().find_package_modules(package, package_dir)
        return [m for m in found if m[1] != "setup"]


def compiled() -> list[Extension]:
    """The extension modules.

    mypyc names modules after the folders they are in, and the checkout may be called anything: it is given a copy.
    """
    from mypyc.build import mypycify

    copy = Path(tempfile.mkdtemp(prefix="mypyc-")) / "indexproof"
    copy.mkdir()
    for name in ("__init__.py", "py.typed"):
        shutil.copy(name, copy / name)
    for name in ("core", "rules", "verify"):
        shutil.copytree(name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
    files = [str(copy / f"{m}.py") for m in MODULES]
    flags = [
        "--config-file=",
        "--follow-imports=silent",
        "--ignore-missing-imports",
        "--no-warn-unused-ignores",
    ]
    extensions: list[Extension] = mypycify([*flags, *files], opt_level="3", debug_level="0")
    if sys.platform != "win32":
        for e in extensions:
            # all of it is one file of C: what it calls in itself need not be what another library may have put there
            # (mypyc gives all extensions the same list)
            e.extra_compile_args = [*e.extra_compile_args, "-fvisibility=hidden", "-fno-plt"]
    return extensions


# asked for metadata only, setup() is called as well
WANTED = os.environ.get("INDEXPROOF_COMPILE") == "1" and not {"egg_info", "dist_info"} & set(sys.argv)

setup(cmdclass={"build_py": Packages}, ext_modules=compiled() if WANTED else [])
