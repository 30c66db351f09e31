"""Peers in separate processes, all on the same processor: no peer has an advantage from code in the caches.

``python remote.py NAME`` is such a process.  A request is pickled: the name of a function of :mod:`measure` whose first
argument is a peer, and the other arguments.  The answer, ``("ok", value)`` or ``("failed", reason)``, is pickled too.
The process first sends the version of the peer.
"""

from __future__ import annotations

import contextlib
import gc
import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

import measure
from peers import PEERS, Peer


class Remote:
    """A peer in a separate process.  Raises :class:`ImportError` where it is not installed."""

    def __init__(self, kind: type[Peer]) -> None:
        self.name, self.note = kind.name, kind.note
        python = kind.python()
        if not Path(python).exists():
            raise ImportError("not built; make native builds it")
        env = dict(os.environ)
        if python != sys.executable:
            # the peer has its own copy of the package
            env.pop("PYTHONPATH", None)
        self.process = subprocess.Popen(
            [python, "-W", "ignore", __file__, kind.name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env
        )
        try:
            self.version: str = self._answer()
        except BaseException:
            self.close()
            raise

    def ask(self, what: Callable[..., Any], *args: Any) -> Any:
        """Call a function of :mod:`measure` for the peer.  Raises :class:`RuntimeError` if the function raises."""
        pickle.dump((what.__name__, args), self.process.stdin)
        self.process.stdin.flush()
        return self._answer()

    def _answer(self) -> Any:
        assert self.process.stdout is not None
        try:
            state, value = pickle.load(self.process.stdout)
        except EOFError:
            raise ImportError("its process ended; its reason is above") from None
        if state == "missing":
            raise ImportError(value)
        if state != "ok":
            raise RuntimeError(f"{self.name}: {value}")
        return value

    def close(self) -> None:
        """End the process."""
        with contextlib.suppress(OSError):
            self.process.communicate()


def started(names: Sequence[str] | None) -> tuple[list[Remote], dict[str, str]]:
    """Start the installed peers with those names, or all; return them, and the reasons why others are not measured."""
    found, missing = [], {}
    for kind in PEERS:
        if names is None or kind.name in names:
            try:
                found.append(Remote(kind))
            except ImportError as error:
                missing[kind.name] = str(error)
    return found, missing


def main() -> None:
    # other output must not mix with the answers
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    sys.setrecursionlimit(20_000)

    def send(answer: Any) -> None:
        pickle.dump(answer, out)
        out.flush()

    kind = next(kind for kind in PEERS if kind.name == sys.argv[1])
    try:
        peer = kind()
    except ImportError as error:
        send(("missing", str(error)))
        return
    send(("ok", peer.version))
    gc.collect()
    gc.freeze()
    while True:
        try:
            what, args = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        try:
            send(("ok", getattr(measure, what)(peer, *args)))
        except Exception as error:  # every exception is reported to the caller, which raises it
            send(("failed", f"{type(error).__name__}: {error}"))


if __name__ == "__main__":
    main()
