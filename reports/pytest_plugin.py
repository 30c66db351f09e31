"""The pytest plugin: an item for every claim of rule files, claims files and declared modules.

pytest loads this file at every start, so it imports nothing of indexproof.  :mod:`.pytest_items` is imported for the
first file with claims.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

_SUFFIXES = (".rules", ".claims")


def pytest_addoption(parser: Any) -> None:
    """Add the option and the setting that name files with claims."""
    parser.getgroup("indexproof").addoption(
        "--indexproof",
        action="store_true",
        help="prove all that [tool.indexproof] of pyproject.toml declares, wherever it lies",
    )
    parser.addini(
        "indexproof_files",
        "patterns of files with claims: rule files, claims files, Python modules with @rule and @op, HLO",
        type="args",
        default=[],
    )


def pytest_configure(config: Any) -> None:
    """Add the declared files to the collection if ``--indexproof`` is given."""
    if config.getoption("--indexproof"):
        known = {str(arg) for arg in config.args}
        config.args += [f for f in map(str, _declared(config)) if f not in known]


def pytest_collection(session: Any) -> None:
    """Read the settings before any file, so that an error in them is reported once."""
    _declared(session.config)


def pytest_collect_file(file_path: Path, parent: Any) -> Any:
    """Collect a file that is declared, that matches a pattern, or that is a rule or claims file of the command line."""
    config = parent.config
    named = file_path.suffix in _SUFFIXES and parent.session.isinitpath(file_path)
    if not (
        named
        or any(file_path.match(pattern) for pattern in config.getini("indexproof_files"))
        or file_path in _declared(config)
    ):
        return None
    from .pytest_items import DeclarationsFile

    return DeclarationsFile.from_parent(parent, path=file_path)


def _declared(config: Any) -> tuple[Path, ...]:
    """Return the files of ``[tool.indexproof]``; none without such a table."""
    if (found := getattr(config, "_indexproof_declared", None)) is None:
        path = config.rootpath / "pyproject.toml"
        found = ()
        if path.is_file() and "[tool.indexproof]" in path.read_text("utf-8"):
            from .pytest_items import declared_files

            found = declared_files(config.rootpath)
        config._indexproof_declared = found
    return found
