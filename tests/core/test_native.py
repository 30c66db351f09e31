"""The native core against pure Python, built with a check for invalid memory accesses.

``test_native_library.py`` checks for undefined behaviour, since a second check doubles the time to compile.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

SOURCES = Path(__file__).resolve().parents[2] / "core" / "native"
COMPILER = shutil.which("g++") or shutil.which("clang++")

pytestmark = pytest.mark.skipif(COMPILER is None, reason="no C++ compiler")


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("native") / "_native.so"
    flags = ["-std=c++17", "-O0", "-shared", "-fPIC", "-fsanitize=address", "-fno-sanitize-recover=all"]
    # calls to the checks, rather than their code in each place, compile faster
    flags += ["--param", "asan-instrumentation-with-call-threshold=0"]
    flags += [f"-I{sysconfig.get_paths()['include']}", str(SOURCES / "module.cc"), "-o", str(place)]
    assert COMPILER is not None
    done = subprocess.run([COMPILER, *flags], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return place


def run(library: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    assert COMPILER is not None
    first = [
        subprocess.check_output([COMPILER, f"-print-file-name={name}"], text=True).strip()
        for name in ("libasan.so", "libstdc++.so")
    ]
    env = {"LD_PRELOAD": " ".join(first), "ASAN_OPTIONS": "detect_leaks=0", "PYTHONMALLOC": "malloc"}
    return subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        env={**os.environ, **env},
        cwd=SOURCES.parents[1] / "tests",
        check=False,
    )


def test_same_results(library: Path) -> None:
    done = run(library, "-m", "dev.native", str(library), "--random", "300", "--seed", "3", "--every", "8")
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    said = [s for s in done.stdout.splitlines() if s]
    assert [s.partition(":")[0] for s in said] == ["builders", "corpora", "random maps"]
    assert all(s.endswith(" 0 different") for s in said)


def test_what_is_left_to_python(library: Path) -> None:
    """Numbers beyond 64 bits, unbounded variables and products are left to Python, with unchanged results."""
    code = f"""
import dev.native
dev.native.load({str(library)!r})
from indexproof.core import native
from indexproof.core.expr import mul, var
from indexproof.core.facts import Facts
from indexproof.core.simplify import Simplifier
from indexproof.rules.catalog import RULES
x, y = var("x"), var("y")
assert native.NATIVE
for e, boxes in (
    ((x * 4 + y) // 4, {{x: (0, 1 << 62), y: (0, 3)}}),
    ((x * (1 << 70) + y) // 4, {{x: (0, 9), y: (0, 3)}}),
    (x // 4 * 4 + x % 4, {{}}),
    ((mul(x, y) * 4 + y) // 4, {{x: (0, 9), y: (0, 3)}}),
    (x // y, {{x: (0, 9), y: (1, 3)}}),
):
    assert native.simplified(RULES.engine, (e,), boxes, [], 3, False, False) is None, e
    print(Simplifier(RULES, Facts(boxes)).all([e]))
e = (x * 4 + y) // 4
assert native.simplified(RULES.engine, (e,), {{x: (0, 9), y: (0, 3)}}, [], 3, False, False) == [x]
"""
    done = run(library, "-c", code)
    assert done.returncode == 0, done.stderr[-4000:]
    assert done.stdout.split("\n")[0] == "[x]"
    assert done.stdout.split("\n")[2] == "[x]"


def test_expressions_and_changed_rules(library: Path) -> None:
    """The tests of expressions, and of maps simplified by other rules than those of the catalogue, pass with it."""
    code = f"""
import sys, pytest, dev.native
dev.native.load({str(library)!r})
from indexproof.core.native import NATIVE
assert NATIVE
sys.exit(pytest.main(["-q", "-p", "no:cacheprovider", "core/test_expr.py", "core/test_simplify_constraints.py"]))
"""
    done = run(library, "-c", code)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
