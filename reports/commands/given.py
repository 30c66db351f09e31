"""The inputs of a command line: cache, claims, maps, points and numbers."""

from __future__ import annotations

import errno
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...core.errors import InputError, quoted
from ..files import collecting, noted, read_text, writable
from .frame import say, writing

if TYPE_CHECKING:
    from ...core.indexing_map import IndexingMap
    from ...verify.cache import Cache
    from ...verify.obligation import Obligation
    from ...verify.parametric import AnyMap
    from ..selection import Selected
    from ..sources import FileKind


# ------------------------------------------------------------------------------------------------------ cache
@contextmanager
def opened_cache(path: Path | None, no_cache: bool, read_only: bool) -> Iterator[Cache]:
    """Open the cache that the options select."""
    from ...verify.cache import Cache, default_cache

    if path is not None and str(path) == "off":
        path, no_cache = None, True
    if no_cache and (path is not None or read_only):
        raise InputError("--no-cache contradicts " + ("--cache" if path is not None else "--read-only-cache"))
    place = None if no_cache else path or default_cache()
    said, expected = quoted(path, 200), "the name of a file, or `off`"
    if path is not None and place is not None:
        try:
            place.stat()
        except (OSError, ValueError) as error:
            if isinstance(error, ValueError) or error.errno == errno.ENAMETOOLONG:
                raise InputError(f"--cache: {said} is not the name of a file", expected=expected) from None
        if place.is_dir():
            raise InputError(f"--cache: {said} is a folder", expected="the name of a file")
        if place.exists() and not place.is_file():
            # a device would accept every verdict and return none
            raise InputError(f"--cache: {said} is no file", expected=expected)
        if read_only and not place.is_file():
            raise InputError(f"--cache: there is no file {said} to read")
    if not read_only:
        place = writable(place)  # without a home folder there is no cache, and everything is proved
        if path is not None and place is None:
            raise InputError(f"--cache: cannot write {said}")
    with Cache(place, read_only=read_only) as cache:
        yield cache


# ----------------------------------------------------------------------------------------------------- claims
def rank(max_rank: int | None) -> int:
    """Return the largest rank up to which ops are proved."""
    from ...verify.budget import MAX_RANK

    return MAX_RANK if max_rank is None else max_rank


def chosen_claims(
    names: Sequence[str] | None, max_rank: int | None, problems: list[InputError] | None = None
) -> tuple[list[Selected], str]:
    """Return the claims that the command line names, and the command that selects their files again.

    Names may be rule files, Python files and folders of both; the other names select among their claims.  Ill-formed
    input is appended to ``problems``, if given.
    """
    import shlex

    from ..selection import FAMILIES, chosen, files_among
    from ..sources import files_below

    given = with_files_of_folders(names or (), ("python", "rules"), problems)
    for name in FAMILIES:
        if name in given and Path(name).is_dir() and files_below([name]):
            # the name selects from the catalogue, not from the folder
            say(f"`{name}` is a part of the catalogue; the folder is called `{name}/`")
    found = chosen(given, rank(max_rank), lambda path: file_text(path)[1], problems)
    return found, shlex.join(["indexproof", "prove", *files_among(given)])


def with_files_of_folders(
    names: Sequence[str], kinds: Sequence[FileKind], problems: list[InputError] | None = None, *, bare: bool = False
) -> list[str]:
    """Return the names, each once, with folders replaced by their files of these kinds.

    A folder must be named with a slash or a dot, unless ``bare`` is set.  A folder without such files, or a file of
    another kind, is appended to ``problems``, if given, and skipped.  Raises :class:`InputError` if nothing is left.
    """
    found: dict[str, None] = {}
    wrong: list[InputError] = []
    for name in names:
        with collecting(wrong):
            found.update(dict.fromkeys(_files_meant(name, kinds, bare)))
    if wrong and (problems is None or not found):
        raise wrong[0]
    if problems is not None:
        problems += wrong
    return list(found)


#: The command that takes a file, by suffix.
_COMMANDS = {".py": "prove", ".rules": "prove", ".claims": "check", ".hlo": "hlo", ".mlir": "hlo"}


def _files_meant(name: str, kinds: Sequence[FileKind], bare: bool) -> list[str]:
    """Return the name itself, or the files of these kinds below the folder that it names."""
    from ..sources import files_below, kind_of_file

    path = Path(name)
    if (bare or "/" in name or name in (".", "..")) and path.is_dir():
        if not (below := [f for f in files_below([name]) if kind_of_file(f) in kinds]):
            said = f"the folder {quoted(name, 200)} has no such file"
            raise InputError(said, expected=f"files of {' or '.join(kinds)}")
        return below
    command = _COMMANDS.get(path.suffix)
    if command is not None and kind_of_file(name) not in kinds and path.is_file():
        said = f"{quoted(name, 200)} is a file for `indexproof {command}`"
        raise InputError(said, expected=f"files of {' or '.join(kinds)}; `indexproof gate` takes all kinds")
    return [name]


def certify(proved: Sequence[Obligation], folder: Path, jobs: int | None = None) -> list[str]:
    """Write a certificate of every proof that has one; return the names of the other obligations."""
    from ...verify.outcome import available_cores
    from ..certificates import write_certificates

    with writing("--certificates: cannot write", folder):
        written, without = write_certificates(proved, folder, jobs or available_cores())
    say(f"{written} certificates in {folder}; {len(without)} proofs have none")
    return without


# ------------------------------------------------------------------------------------------------------ texts
def standard_input() -> str:
    """Read standard input as text."""
    try:
        return sys.stdin.read()
    except UnicodeDecodeError as error:
        raise InputError(f"standard input is not text: byte {error.start} is not UTF-8") from None


def file_text(name: str) -> tuple[str, str]:
    """Return the name of a file for messages, and its text; ``-`` is standard input."""
    return ("standard input", standard_input()) if name == "-" else (name, read_text(name))


def given_text(text: str) -> str:
    """Return an argument, the text of ``@FILE``, or standard input for ``-``."""
    if text == "-":
        return standard_input()
    return read_text(text[1:]) if text.startswith("@") else text


def as_map(text: str, name: str, read: Callable[[str], AnyMap] | None = None) -> Any:
    """Read a map as text, as JSON, or as an ``affine_map`` with its ``affine_set``; ``read`` replaces the reader."""
    from ...core.map_reader import read_map

    with noted(f"in the {name}", unless_said=True):
        return (read or read_map)(text)


def any_maps(texts: Sequence[tuple[str, str]], at: str = "") -> list[AnyMap]:
    """Read maps that may have parameters, each with its name for messages; ``at`` assigns some parameters."""
    from ...core.indexing_map import IndexingMap
    from ...core.map_reader import read_any_map

    found: list[AnyMap] = [as_map(text, name, read_any_map) for text, name in texts]
    if not at:
        return found
    known = dict.fromkeys(p for m in found if not isinstance(m, IndexingMap) for p in m.parameters)
    values = point_of(at, list(known), "the map has no parameter")
    return [
        m if isinstance(m, IndexingMap) else m.fixed({p: x for p, x in values.items() if p in m.parameters})
        for m in found
    ]


def concrete_map(text: str, name: str, at: str = "") -> IndexingMap:
    """Read a map whose parameters all have values, in its text or from ``at``."""
    found: IndexingMap = as_map(str(any_maps([(text, name)], at)[0]) if at else text, name)
    return found


def point_of(text: str, known: Sequence[str], missing: str = "the claim has no variable") -> dict[str, int]:
    """Parse ``x=1, g=2``.  Raises :class:`InputError` that points at the wrong part."""
    out: dict[str, int] = {}
    for start, piece in _pieces(text):
        if (found := re.fullmatch(r"([^\s=]+)\s*=\s*([-+]?[0-9]+)", piece)) is None:
            raise InputError.at(f"--at: {quoted(piece)} is no value", text, start, "NAME=INTEGER")
        name, value = found[1], found[2]
        if len(value) > 4000:
            long = f"--at: the value of {quoted(name)} has {len(value)} digits"
            raise InputError.at(long, text, start, "at most 4000")
        if name not in known:
            expected = f"one of {', '.join(known) or 'none'}"
            raise InputError.at(f"--at: {missing} {quoted(name)}", text, start, expected)
        if name in out:
            raise InputError.at(f"--at: {quoted(name)} has a value already", text, start, "each name once")
        out[name] = int(value)
    return out


def integers(option: str, text: str) -> tuple[int, ...]:
    """Parse ``2,3``.  Raises :class:`InputError` that points at the wrong part."""
    found = []
    for start, digits in _pieces(text) if text.strip() else ():
        if not (digits.isascii() and digits.isdigit() and len(digits) <= 40):
            said = f"{option}: {quoted(digits)} is no number"
            raise InputError.at(said, text, start, "numbers such as `2,3`")
        found.append(int(digits))
    return tuple(found)


def tile_sizes(option: str, text: str) -> tuple[tuple[int, ...], dict[int, str]]:
    """Parse ``16,o:32`` into sizes and the names of offsets by dimension.  Raises :class:`InputError`."""
    plain = text
    starts: dict[int, str] = {}
    for k, (start, piece) in enumerate(_pieces(text) if text.strip() else ()):
        name, colon, _ = piece.partition(":")
        if not colon:
            continue
        # without a digit, so that it differs from all other names
        if not re.fullmatch(r"[^\W\d]+", name) or name in starts.values():
            expected = "another name for each place, of letters, as in `o:32`"
            raise InputError.at(f"{option}: {quoted(name)} is no name for a place", text, start, expected)
        starts[k] = name
        # spaces keep the length, so that an error points at the right place
        plain = plain[:start] + " " * (len(name) + 1) + plain[start + len(name) + 1 :]
    return integers(option, plain), starts


def one_size(option: str, text: str, symbolic: bool) -> int | str:
    """Parse a number; if ``symbolic``, return an expression of parameters as text.  Raises :class:`InputError`."""
    if symbolic and not text.strip().isdecimal():
        return text
    found = integers(option, text)
    if len(found) != 1:
        raise InputError(f"{option}: {quoted(text)} is not one number", expected="one such as `4`")
    return found[0]


def _pieces(text: str) -> Iterator[tuple[int, str]]:
    """Split at commas, and return each part with its position."""
    return ((found.start(1), found[1]) for found in re.finditer(r"(?<![^,])\s*([^,]*?)\s*(?=,|\Z)", text))
