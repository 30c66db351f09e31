"""Checkpoints: a run adds a line to a file for each item that it finishes, and another run goes on from there.

A line is a JSON object whose first entry is a key: a digest of the question, and of everything that the answer depends on.
The last line may lack its end, where a run was interrupted.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO, Final, TypeVar

from ..core.errors import InputError, quoted

__all__ = ["Checkpoint"]

T = TypeVar("T")

_BEGIN: Final = b'{"key": "'


class Checkpoint:
    """A file of keyed lines, or none: then nothing is known, and nothing is kept.

    Raises :class:`InputError` for a file that is there and was not written as one.  Entered, it can be added to.
    """

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self._file: BinaryIO | None = None
        if path is not None and path.is_file():
            with path.open("rb") as file:
                head = file.read(len(_BEGIN))
            # the first line may have been cut off
            if not _BEGIN.startswith(head):
                raise InputError(
                    f"--checkpoint: {quoted(path, 200)} is not one of this program's checkpoints",
                    expected="another file, or none",
                )

    def known(
        self, read: Callable[[Mapping[str, Any]], T], better: Callable[[T, T], bool] = lambda new, old: True
    ) -> dict[str, T]:
        """Return the entries by key.

        Of several lines with one key, a later one counts if it is ``better`` than the one before.  Left out is what
        ``read`` raises :class:`ValueError`, :class:`TypeError`, :class:`KeyError` or :class:`AttributeError` for, and what
        was cut off.
        """
        found: dict[str, T] = {}
        if self.path is None or not self.path.exists():
            return found
        for line in self.path.read_text("utf-8", errors="replace").split("\n"):
            with suppress(ValueError, TypeError, KeyError, AttributeError):
                data = json.loads(line)
                key, entry = str(data["key"]), read(data)
                if key not in found or better(entry, found[key]):
                    found[key] = entry
        return found

    def __enter__(self) -> Checkpoint:
        if self.path is not None:
            self._file = file = self.path.open("a+b")
            if file.seek(0, os.SEEK_END):
                file.seek(-1, os.SEEK_END)
                if file.read(1) != b"\n":
                    file.write(b"\n")
        return self

    def __exit__(self, *exc: object) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def add(self, key: str, entry: Mapping[str, Any]) -> None:
        """Keep an entry."""
        if self._file is not None:
            line = json.dumps({"key": key, **entry}, ensure_ascii=False)
            self._file.write(line.encode() + b"\n")
            self._file.flush()
