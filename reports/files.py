"""Texts of files, and why one cannot be read."""

from __future__ import annotations

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
