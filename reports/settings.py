"""`[tool.indexproof]` of a repository's pyproject.toml: files with declarations, the base and the floor."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from ..core.errors import InputError, quoted
from ..verify.budget import MAX_RANK, ranks
from .files import noted
from .sources import files_below, kind_of_file

#: The file with the settings.
SETTINGS = "pyproject.toml"
_KINDS = ("rules", "python", "claims", "hlo")


@dataclass(frozen=True)
class Settings:
    """`[tool.indexproof]` of a repository."""

    root: Path
    files: tuple[str, ...]
    #: The base: a file with an earlier document, a Git revision, or empty.
    base: str = ""
    #: At least this many claims must have their expected verdict.
    floor: int = 0
    floor_line: int = 1
    max_rank: int = MAX_RANK
    #: Patterns that match no file, each with its line.
    unmatched: tuple[tuple[str, int], ...] = ()


def settings_of(root: Path) -> Settings:
    """Read `[tool.indexproof]`.  Raises `InputError` for missing or invalid settings."""
    path = root / SETTINGS
    try:
        text = path.read_text("utf-8")
        data = tomllib.loads(text)
    except OSError:
        said = f"there is no {quoted(str(path), 200)}"
        raise InputError(said, expected="a repository with [tool.indexproof]") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: {error}") from None
    tools = data.get("tool")
    table = tools.get("indexproof") if isinstance(tools, dict) else None
    if not isinstance(table, dict):
        expected = "for instance  rules = ['rules/*.rules']"
        raise InputError(f"{path} has no [tool.indexproof]", expected=expected)
    known = {*_KINDS, "base", "floor", "max-rank"}
    for key in table:
        if key not in known:
            said = f"{path}: [tool.indexproof] has no key {quoted(key)}"
            raise InputError(said, expected=", ".join(sorted(known)))
    found: dict[str, None] = {}
    unmatched: list[tuple[str, int]] = []
    for kind in _KINDS:
        for pattern in _strings(path, kind, table.get(kind, [])):
            try:
                # some versions of Python read `**x` as `*x`
                if any("**" in part and part != "**" for part in Path(pattern).parts):
                    raise ValueError(pattern)
                paths = sorted(root.glob(pattern))
            except (ValueError, NotImplementedError, IndexError):
                expected = "a file, a folder or a pattern below the repository"
                raise InputError(f"{path}: {kind} has {quoted(pattern)}", expected=expected) from None
            matches = [p for p in paths if p.is_dir() or kind_of_file(p) is not None]
            if not matches:
                unmatched.append((pattern, _line_of(text, pattern)))
            found.update(dict.fromkeys(str(p.relative_to(root)) for p in matches))
    floor, rank = table.get("floor", 0), table.get("max-rank", MAX_RANK)
    for key, value in (("floor", floor), ("max-rank", rank)):
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            raise InputError(f"{path}: {key} = {value!r}", expected="a number")
    with noted(f"in max-rank of {path}"):
        ranks(rank)
    base = table.get("base", "")
    if not isinstance(base, str):
        raise InputError(f"{path}: base = {base!r}", expected="a document that `gate --to` wrote, or a Git revision")
    return Settings(root, tuple(found), base, floor, _line_of(text, "floor"), rank, tuple(unmatched))


def _line_of(text: str, word: str) -> int:
    """Return the first line of our table, or below it, that mentions a word."""
    start = max(text.find("[tool.indexproof"), 0)
    return text.count("\n", 0, max(text.find(word, start), 0)) + 1


def _strings(path: Path, key: str, value: object) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(v, str) for v in value):
        raise InputError(f"{path}: {key} = {value!r}", expected="a list of files, folders and patterns")
    return value


def files_below_root(root: Path, names: Iterable[str]) -> list[str]:
    """Return the files that settings name, relative to the repository."""
    return [str(Path(f).relative_to(root)) for f in files_below(root / n for n in names)]
