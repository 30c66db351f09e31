"""Texts of files, why one cannot be read, and bad input that costs only itself."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..core.errors import InputError, quoted


def read_text(path: str | Path) -> str:
    """The text of a file.  Raises :class:`InputError` with the reason where it cannot be read."""
    try:
        return Path(path).read_text("utf-8")
    except (OSError, ValueError) as error:
        raise unreadable(path, error) from None


def unreadable(path: str | Path, error: Exception) -> InputError:
    """Return why a file cannot be read."""
    if isinstance(error, UnicodeDecodeError):
        return InputError(f"{quoted(path, 200)} is not text: byte {error.start} is not UTF-8")
    return InputError(f"cannot read {quoted(path, 200)}: {getattr(error, 'strerror', None) or error}")


def writable(path: Path | None) -> Path | None:
    """A file that can be written, made with the folders that lead to it; none where that is not possible."""
    try:
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            # permissions do not tell all: there are folders in which not even their owner can make files
            path.open("ab").close()
    except OSError:
        return None
    return path


@contextmanager
def noted(place: str, unless_said: bool = False) -> Iterator[None]:
    """Bad input found inside is reported with the place where it stands, as in ``in the first map``.

    With ``unless_said`` a place that was said already is enough, as ``in the domain`` that is given beside a map.
    """
    try:
        yield
    except InputError as error:
        if not (unless_said and hasattr(error, "__notes__")):
            error.add_note(place)
        raise


@contextmanager
def collecting(problems: list[InputError] | None, place: str = "") -> Iterator[list[InputError] | None]:
    """Add bad input to ``problems``, where that is given: what is raised inside, and what is added to the list yielded.

    Without ``problems`` no list is yielded, and the error is raised.  One that does not name its ``place`` is noted to
    stand in there.
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
