"""The claims that a user's files make, each with the place of its declaration.

A file is known by its suffix: Python with `@rule` and `@op`, rule files, claims files, HLO. What cannot be read costs only
itself: one statement of a rule file or a claims file, a whole Python or HLO file.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeVar

from ..core.errors import InputError, quoted
from ..core.op import Case
from ..verify.catalogue import MAX_RANK
from ..verify.claims import ClaimsFile, read_claims
from ..verify.rulefiles import read_rule_file
from .selection import Named, declared_in, read_text

__all__ = [
    "DeclaredClaim",
    "FileKind",
    "Place",
    "SourceFile",
    "Unread",
    "files_below",
    "kind_of_file",
    "read_source",
]

FileKind = Literal["python", "rules", "claims", "hlo"]
_SUFFIXES: dict[str, FileKind] = {
    ".py": "python",
    ".rules": "rules",
    ".json": "rules",
    ".txt": "rules",
    ".claims": "claims",
    ".hlo": "hlo",
    ".mlir": "hlo",
}
#: So many statements of one file are left out before the rest of it is given up.
_LEFT_OUT = 200
T = TypeVar("T")


@dataclass(frozen=True)
class Place:
    """Where something is declared; lines and columns count from one."""

    path: str
    line: int = 1
    column: int = 1

    def __str__(self) -> str:
        return f"{self.path}:{self.line}"


@dataclass(frozen=True)
class DeclaredClaim:
    """A claim and its place: a rule, a law or an instance of an op."""

    place: Place
    named: Named


@dataclass(frozen=True)
class Unread:
    """A statement or a file that cannot be read, and why."""

    place: Place
    message: str


@dataclass
class SourceFile:
    """The declarations of one file."""

    path: str
    kind: FileKind
    declared: list[DeclaredClaim] = field(default_factory=list)
    #: Of a claims file.
    claims: ClaimsFile | None = None
    unread: list[Unread] = field(default_factory=list)


def kind_of_file(path: str | Path) -> FileKind | None:
    """Return what a file holds, by its suffix; compressed HLO too."""
    return _SUFFIXES.get(Path(str(path).removesuffix(".gz")).suffix)


def files_below(paths: Iterable[str | Path]) -> list[str]:
    """Return the files, and those of a known kind below folders, in order and each once.

    Raises `InputError` for a path that is not there, or a file of an unknown kind.
    """
    found: dict[str, None] = {}
    for given in paths:
        path = Path(given)
        if path.is_dir():
            below = (
                p for p in sorted(path.rglob("*")) if p.is_file() and kind_of_file(p) not in (None, "rules")
            )
            rules = (p for p in sorted(path.rglob("*.rules")) if p.is_file())
            found.update(dict.fromkeys(map(str, (*below, *rules))))
        elif not path.is_file():
            raise InputError(f"there is no file {quoted(str(given), 200)}")
        elif kind_of_file(path) is None:
            raise InputError(
                f"{quoted(str(given), 200)} is of no known kind", expected=f"one of {', '.join(_SUFFIXES)}"
            )
        else:
            found[str(path)] = None
    return list(found)


def read_source(path: str, max_rank: int = MAX_RANK) -> SourceFile:
    """Read what a file declares.  A Python file is run.  What cannot be read is listed in ``unread``."""
    kind = kind_of_file(path)
    assert kind is not None, path
    source = SourceFile(path, kind)
    try:
        if kind == "python":
            source.declared = list(_python(path, max_rank))
        elif kind == "rules":
            text = read_text(path)
            is_json = text.lstrip("\ufeff \t\r\n").startswith(("{", "["))
            left_out = _without_rule if is_json else _without_statement
            rules = _recovered(source, text, lambda t: read_rule_file(t, path).rules, left_out) or ()
            begin = [start for start, _ in _elements(text)] if is_json else []
            for n, r in enumerate(rules):
                if r.name != _NOTHING:
                    place = (
                        _place(path, text, begin[n])
                        if begin
                        else Place(path, int(r.where.rpartition(":")[2]))
                    )
                    source.declared.append(DeclaredClaim(place, Named(r.name, r)))
        elif kind == "claims":
            source.claims = _recovered(
                source, read_text(path), lambda t: read_claims(t, path), _without_statement
            )
    except InputError as error:
        source.unread.append(_unread(error, path))
    return source


def _unread(error: InputError, path: str) -> Unread:
    return Unread(Place(path, max(error.line, 1), max(error.column, 1)), str(error))


def _python(path: str, max_rank: int) -> Iterator[DeclaredClaim]:
    places = (
        {
            node.name: Place(path, node.lineno, node.col_offset + 1)
            for node in ast.walk(ast.parse(read_text(path)))
            if isinstance(node, (ast.FunctionDef, ast.ClassDef))
        }
        if _parses(path)
        else {}
    )
    for named in declared_in(path, max_rank):
        name = type(named.claim.op).__name__ if isinstance(named.claim, Case) else named.name
        yield DeclaredClaim(places.get(name, Place(path)), named)


def _parses(path: str) -> bool:
    try:
        ast.parse(read_text(path))
    except (SyntaxError, ValueError):
        return False
    return True


# ------------------------------------------------------------------------------------------------------- recovery
def _recovered(
    source: SourceFile, text: str, read: Callable[[str], T], left_out: Callable[[str, InputError], str | None]
) -> T | None:
    """Read a text without the statements that cannot be read, which are listed."""
    for _ in range(_LEFT_OUT):
        try:
            return read(text)
        except InputError as error:
            source.unread.append(_unread(error, source.path))
            shorter = left_out(text, error)
            if shorter is None or shorter == text:
                return None
            text = shorter
    source.unread.append(Unread(Place(source.path), f"more than {_LEFT_OUT} statements cannot be read"))
    return None


def _without_statement(text: str, error: InputError) -> str | None:
    """Return the text with the statement at the error blanked: from a line that begins in the first column to the next."""
    lines = text.split("\n")
    at = error.line - 1
    if not 0 <= at < len(lines):
        return None

    def begins(line: str) -> bool:
        return bool(line) and not line[0].isspace() and not line.startswith("#")

    first = next((n for n in range(at, -1, -1) if begins(lines[n])), at)
    last = next((n for n in range(first + 1, len(lines)) if begins(lines[n])), len(lines))
    return "\n".join([*lines[:first], *[""] * (last - first), *lines[last:]])


#: The name of a rule that stands for one that cannot be read.
_NOTHING = "a rule that cannot be read"


def _without_rule(text: str, error: InputError) -> str | None:
    """Return a JSON rule file with a trivial rule, on as many lines, in place of the one that the error is about."""
    about = re.search(r"rules\[(\d+)\]", str(error))
    spans = list(_elements(text))
    if about is None or int(about[1]) >= len(spans):
        return None
    start, end = spans[int(about[1])]
    trivial = json.dumps({"name": _NOTHING, "left": 0, "right": 0})
    return text[:start] + trivial + "\n" * text[start:end].count("\n") + text[end:]


def _elements(text: str) -> Iterator[tuple[int, int]]:
    """Yield where each rule of a JSON rule file begins and ends, up to one that is no JSON."""
    found = re.search(r'"rules"\s*:\s*\[', text)
    at = found.end() if found else text.find("[") + 1
    decoder = json.JSONDecoder()
    while at < len(text):
        at = re.compile(r"[\s,]*").match(text, at).end()  # type: ignore[union-attr]
        try:
            end = decoder.raw_decode(text, at)[1]
        except ValueError:
            return
        yield at, end
        at = end


def _place(path: str, text: str, at: int) -> Place:
    return Place(path, text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at))
