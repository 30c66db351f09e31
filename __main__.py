"""The ``indexproof`` command, also as ``python -m indexproof``.

Loading the commands takes a tenth of a second and more, in which a person may already press Ctrl-C.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

__all__ = ["main"]

_INTERRUPTED = b"interrupted: nothing was checked\n"
_OPEN = 2


def main() -> NoReturn:
    """The entry point of the ``indexproof`` script."""
    with _nothing_to_lose():
        from .cli import main as command
    try:
        command()
    except KeyboardInterrupt:  # before the command line was read
        _leave()


@contextmanager
def _nothing_to_lose() -> Iterator[None]:
    """Ctrl-C ends the process at once: an exception in the middle of an import can become one of another kind."""
    before = signal.getsignal(signal.SIGINT)
    ours = before is signal.default_int_handler
    try:
        if ours:
            signal.signal(signal.SIGINT, _leave)
    except ValueError:  # in a thread, where there are no handlers
        ours = False
    try:
        yield
    finally:
        if ours:
            signal.signal(signal.SIGINT, before)


def _leave(*_: Any) -> NoReturn:
    try:
        os.write(2, _INTERRUPTED)
    finally:
        os._exit(_OPEN)


if __name__ == "__main__":
    main()
