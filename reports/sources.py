"""Reading of the claims in users' files, each with the place of its declaration.

The suffix tells the kind of a file: Python with `@rule` and `@op`, rule files, claims files, HLO. An error affects only
the statement of a rule file or claims file, the declaration in a Python file that runs, or the whole HLO file.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from ..core.errors import InputError, quoted
from ..verify.budget import MAX_RANK
from ..verify.claims import Claim, read_claims
from .files import collecting, read_text
from .selection import Named, declared_in, stated_in

FileKind = Literal["python", "rules", "claims", "hlo"]
_SUFFIXES: dict[str, FileKind] = {".py": "python", **dict.fromkeys((".rules", ".json", ".txt"), "rules")}
_SUFFIXES |= {".claims": "claims", ".hlo": "hlo", ".mlir": "hlo"}


@dataclass
class SourceFile:
    """The declarations of one file."""

    path: str
    kind: FileKind
    declared: list[Named] = field(default_factory=list)
    #: The claims of a claims file.
    claims: tuple[Claim, ...] = ()
    #: The errors in statements, or in the whole file.
    unread: list[InputError] = field(default_factory=list)


def kind_of_file(path: str | Path) -> FileKind | None:
    """Return the kind of a file by its suffix, also for compressed HLO; ``None`` if it is unknown."""
    return _SUFFIXES.get(Path(str(path).removesuffix(".gz")).suffix)


def files_below(paths: Iterable[str | Path]) -> list[str]:
    """Return the given files and the files of a known kind below given folders, in order and each once.

    Raises `InputError` for a missing path, or a file of an unknown kind.
    """
    found: dict[str, None] = {}
    for given in paths:
        path = Path(given)
        if path.is_dir():
            found.update(dict.fromkeys(str(p) for p in sorted(path.rglob("*")) if _is_meant(p, path)))
        elif not path.is_file():
            raise InputError(f"there is no file {quoted(str(given), 200)}")
        elif kind_of_file(path) is None:
            said = f"{quoted(str(given), 200)} is of no known kind"
            raise InputError(said, expected=f"one of {', '.join(_SUFFIXES)}")
        else:
            found[str(path)] = None
    return list(found)


def _is_meant(path: Path, folder: Path) -> bool:
    """Return whether to read a file below a folder: no JSON or text, and Python only if it names indexproof."""
    hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
    if hidden or path.suffix in (".json", ".txt") or kind_of_file(path) is None or not path.is_file():
        return False
    return path.suffix != ".py" or b"indexproof" in path.read_bytes()


def read_source(path: str, max_rank: int = MAX_RANK) -> SourceFile:
    """Read the declarations of a file, running a Python file.  Errors are appended to ``unread``."""
    kind = kind_of_file(path)
    assert kind is not None, path
    source = SourceFile(path, kind)
    with collecting(source.unread) as unread:
        match kind:
            case "claims":
                source.claims = read_claims(read_text(path), path, unread).claims
            case "rules":
                source.declared = stated_in(path, read_text(path), unread)
            case "python":
                source.declared = declared_in(path, max_rank, unread)
    return source
