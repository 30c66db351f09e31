"""Files that a run writes a line to for everything it has finished."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from ..core.errors import InputError, quoted

__all__ = ["leave_others_alone"]

_BEGIN: Final = b'{"key": "'


def leave_others_alone(path: Path | None) -> None:
    """Raises :class:`InputError` for a file that is there and was not written as a checkpoint of keyed lines.

    Its first line may have been cut off.
    """
    if path is None or not path.is_file():
        return
    with path.open("rb") as file:
        head = file.read(len(_BEGIN))
    if not _BEGIN.startswith(head):
        raise InputError(
            f"--checkpoint: {quoted(path, 200)} is not one of this program's checkpoints",
            expected="another file, or none",
        )
