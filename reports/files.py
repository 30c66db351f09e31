"""Reading of text files, and collection of errors so that one bad input does not hide the others."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..core.errors import InputError, quoted


def read_text(path: str | Path) -> str:
    """Return the text of a file.  Raises :class:`InputError` with the reason if it cannot be read."""
    try:
        return Path(path).read_text("utf-8")
    except (OSError, ValueError) as error:
        raise unreadable(path, error) from None


def unreadable(path: str | Path, error: Exception) -> InputError:
    """Return the error that says why a file cannot be read."""
    if isinstance(error, UnicodeDecodeError):
        return InputError(f"{quoted(path, 200)} is not text: byte {error.start} is not UTF-8")
    return InputError(f"cannot read {quoted(path, 200)}: {getattr(error, 'strerror', None) or error}")


def writable(path: Path | None) -> Path | None:
    """Return ``path`` after creating the file and its parent folders; ``None`` if it cannot be written."""
    try:
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            # permission bits are not enough: in some folders not even the owner can create files
            path.open("ab").close()
    except OSError:
        return None
    return path


@contextmanager
def noted(place: str, unless_said: bool = False) -> Iterator[None]:
    """Add ``place``, as in ``in the first map``, as a note to an :class:`InputError` raised inside.

    With ``unless_said`` nothing is added to an error that already has a note, as for a domain given beside a map.
    """
    try:
        yield
    except InputError as error:
        if not (unless_said and hasattr(error, "__notes__")):
            error.add_note(place)
        raise


@contextmanager
def collecting(problems: list[InputError] | None, place: str = "") -> Iterator[list[InputError] | None]:
    """Append to ``problems`` the :class:`InputError` raised inside and those added to the yielded list.

    Without ``problems``, ``None`` is yielded and the error is raised.  An error that does not mention ``place`` gets a
    note with it.
    """
    found: list[InputError] = []
    try:
        yield None if problems is None else found
    except InputError as error:
        found.append(error)
        if problems is None:
            raise
    finally:
        for problem in found if place else ():
            if place not in str(problem):
                problem.add_note(f"in {place}")
        if problems is not None:
            problems += found
