"""The native core (`core/native`): built with every wheel where there is a C++ compiler, and left out where there is none.

A checkout that is installed as it is (`pip install -e`) runs the Python sources, which may be edited; `make native` builds
a wheel and installs it beside.
"""

import sys
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_py import build_py


class Packages(build_py):
    """The root is a package: this file lies in it, and is none of its modules."""

    def find_package_modules(self, package: str, package_dir: str) -> list[tuple[str, str, str]]:
        """The modules of ``package`` without this file."""
        found: list[tuple[str, str, str]] = super().find_package_modules(package, package_dir)
        return [m for m in found if m[1] != "setup"]


NATIVE = Extension(
    "indexproof.core.native._native",
    ["core/native/module.cc"],
    depends=sorted(map(str, Path("core/native").glob("*.h"))),
    language="c++",
    extra_compile_args=["-std=c++17", "-O3", "-fvisibility=hidden", "-ftls-model=initial-exec"]
    if sys.platform != "win32"
    else ["/std:c++17", "/O2"],
    # without a compiler pure Python serves
    optional=True,
)

setup(cmdclass={"build_py": Packages}, ext_modules=[] if "editable_wheel" in sys.argv else [NATIVE])
