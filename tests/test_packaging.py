"""The installed package: the list of packages, the wheel, the pinned versions and the public names."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from fnmatch import fnmatch
from importlib.metadata import requires
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import indexproof

ROOT = Path(__file__).parent.parent
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
SETUPTOOLS = PROJECT["tool"]["setuptools"]
LAYERS = ("core", "rules", "verify", "reports")
PUBLIC = sorted(indexproof.__all__)


def source_files() -> list[Path]:
    """Return every file of the source folders and every module at the root, relative to the root."""
    found = [p for p in ROOT.glob("*.py") if p.name != "setup.py"]  # builds wheels and is not part of them
    for layer in LAYERS:
        found += (p for p in (ROOT / layer).rglob("*") if p.is_file())
    relative = (p.relative_to(ROOT) for p in found)
    return sorted(p for p in relative if "__pycache__" not in p.parts and p.suffix != ".pyc")


def package_of(path: Path) -> str:
    return ".".join(("indexproof", *path.parent.parts))


def test_the_list_of_packages_is_the_folders_on_disk() -> None:
    on_disk = {package_of(p) for p in source_files() if p.suffix == ".py"}
    assert sorted(on_disk) == sorted(SETUPTOOLS["packages"])


def test_every_package_has_an_init() -> None:
    # Without it a folder is a namespace package, which type checkers and importlib.resources treat differently.
    for name in SETUPTOOLS["packages"]:
        assert (ROOT.joinpath(*name.split(".")[1:]) / "__init__.py").is_file(), name


def test_every_data_file_is_installed() -> None:
    patterns = [
        str(Path(*package.split(".")[1:], pattern))
        for package, patterns in SETUPTOOLS["package-data"].items()
        for pattern in patterns
    ]
    missed = [str(p) for p in source_files() if p.suffix != ".py" and not any(fnmatch(str(p), q) for q in patterns)]
    assert not missed


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel from a copy, so that no files are left in the work tree."""
    pytest.importorskip("setuptools", minversion="77")
    place = tmp_path_factory.mktemp("wheel")
    copy = place / "a copy"
    for path in [*source_files(), Path("pyproject.toml"), Path("README.md"), Path("py.typed")]:
        (copy / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / path, copy / path)
    build = "from setuptools import build_meta; build_meta.build_wheel('dist')"
    done = subprocess.run([sys.executable, "-c", build], cwd=copy, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (built,) = (copy / "dist").glob("*.whl")
    return built


def test_the_wheel_holds_the_sources_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = {n for n in archive.namelist() if ".dist-info/" not in n}
    assert names == {Path("indexproof", p).as_posix() for p in [*source_files(), Path("py.typed")]}


def test_every_module_of_the_wheel_imports_from_an_empty_folder(wheel: Path, tmp_path: Path) -> None:
    modules = [".".join(("indexproof", *p.with_suffix("").parts)) for p in source_files() if p.suffix == ".py"]
    modules = [name.removesuffix(".__init__") for name in modules]
    code = (
        "import sys, importlib\n"
        f"sys.path.insert(0, {str(wheel)!r})\n"
        f"for name in {modules!r}: importlib.import_module(name)\n"
        f"assert sys.modules['indexproof'].__file__.startswith({str(wheel)!r}), 'not the wheel'\n"
    )
    # -P keeps the working directory off the path.
    command = [sys.executable, "-P", "-c", code]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def pins() -> dict[str, str]:
    lines = (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    lines = [line for line in lines if line and not line.startswith("#")]
    for line in lines:
        assert re.fullmatch(r"[A-Za-z0-9._-]+==[A-Za-z0-9.!+]+", line), (
            f"constraints.txt: {line!r} is not NAME==VERSION"
        )
    return {canonicalize_name(name): version for name, version in (line.split("==") for line in lines)}


VERSIONS = ("3.11", "3.12", "3.13", "3.14")
OTHERS = [v for v in VERSIONS if v != f"{sys.version_info[0]}.{sys.version_info[1]}"]


@pytest.mark.slow
@pytest.mark.parametrize("version", OTHERS)
def test_the_wheel_works_in_other_pythons(wheel: Path, version: str, tmp_path: Path) -> None:
    """The wheel can be installed with the pinned versions; then one claim is proved and another refuted."""
    found = _python(version)
    if found is None:
        pytest.skip(f"there is no Python {version} here")
    subprocess.run([found, "-m", "venv", "--without-pip", tmp_path / "env"], check=True)
    python = tmp_path / "env/bin/python"
    pins = ["--no-compile", "--only-binary", ":all:", "-c", str(ROOT / "constraints.txt"), str(wheel)]
    subprocess.run([sys.executable, "-m", "pip", "--python", python, "install", "-q", *pins], check=True)
    (tmp_path / "own.rules").write_text("int x\nconst c\nwhole: (x / c) * c -> x if c > 0\n", "utf-8")
    for claim, status in (("small_remainder_vanishes", 0), ("own.rules", 1)):
        command = [python, "-m", "indexproof", "prove", claim, "--no-cache"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == status, done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("version", VERSIONS)
def test_what_is_required_can_be_had_for_each_python(version: str, tmp_path: Path) -> None:
    """Every pinned requirement has a wheel for each Python version, whether or not that interpreter is installed."""
    platforms = [f"manylinux_2_{n}_x86_64" for n in (17, 27, 28)]
    wanted = ["--python-version", version, *(w for p in platforms for w in ("--platform", p))]
    pins = ["-c", str(ROOT / "constraints.txt"), *PROJECT["project"]["dependencies"]]
    command = [sys.executable, "-m", "pip", "install", "-q", "--dry-run", "--ignore-installed", "--target", tmp_path]
    subprocess.run([*command, "--only-binary", ":all:", *wanted, *pins], check=True)


def _python(version: str) -> str | None:
    """Return the path of a Python of this version, or None if none starts."""
    found = shutil.which(f"python{version}")
    command = [found or "", "-c", "import sys; print(sys.executable)"]
    env = {**os.environ, "PYENV_VERSION": version}  # pyenv starts only a version that is requested
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False) if found else None
    return done.stdout.strip() if done is not None and done.returncode == 0 else None


def test_every_requirement_is_pinned_within_its_bounds() -> None:
    project = PROJECT["project"]
    extras = project["optional-dependencies"].values()
    declared = [Requirement(r) for group in (project["dependencies"], *extras) for r in group]
    pinned = pins()
    for requirement in declared:
        name = canonicalize_name(requirement.name)
        if name != "indexproof":
            assert name in pinned, f"{name} is not in constraints.txt"
            assert requirement.specifier.contains(pinned[name]), (
                f"{requirement}, but constraints.txt pins {pinned[name]}"
            )


def test_the_pins_are_complete() -> None:
    """Requirements of installed requirements are pinned, too."""
    pinned = pins()
    seen: set[str] = set()
    todo = [r for group in PROJECT["project"]["optional-dependencies"].values() for r in group]
    todo += PROJECT["project"]["dependencies"]
    while todo:
        requirement = Requirement(todo.pop())
        name = canonicalize_name(requirement.name)
        if name in seen or name == "indexproof":
            continue
        seen.add(name)
        assert name in pinned, f"{name} is needed, and is not in constraints.txt"
        try:
            needed = requires(name) or []
        except ModuleNotFoundError:  # an extra that is not installed here
            continue
        todo += [r for r in needed if (m := Requirement(r).marker) is None or m.evaluate({"extra": ""})]


@pytest.mark.parametrize("name", PUBLIC)
def test_a_public_name_is_there(name: str) -> None:
    assert getattr(indexproof, name) is not None
    assert name in dir(indexproof)


def test_a_type_checker_sees_the_public_names() -> None:
    tree = ast.parse((ROOT / "__init__.py").read_text("utf-8"))
    (block,) = (n for n in tree.body if isinstance(n, ast.If) and ast.unparse(n.test) == "TYPE_CHECKING")
    imported = [(n.module, a) for n in ast.walk(block) if isinstance(n, ast.ImportFrom) for a in n.names]
    assert {a.asname: m for m, a in imported if a.asname in indexproof._HOME} == indexproof._HOME
    modules = {a.asname: f"{m}.{a.name}" for m, a in imported if a.asname not in indexproof._HOME}
    assert modules == indexproof._MODULES
    assert sorted(indexproof.__all__) == sorted([*indexproof._HOME, *modules, "__version__"])


def test_the_facade_is_small() -> None:
    """The package itself has at most 13 names; all others are in modules."""
    assert len(indexproof._HOME) <= 13


def test_a_misspelt_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'IndexingMop'"):
        _ = indexproof.IndexingMop
