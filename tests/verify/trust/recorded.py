"""Claims that say where and by whom they are decided; workers of a cluster import them by this name."""

from __future__ import annotations

import os
import signal
from dataclasses import fields
from pathlib import Path

from indexproof.verify.budget import Budget
from indexproof.verify.obligation import Obligation
from indexproof.verify.verdict import Verdict


class Recorded(Obligation):
    """A claim that writes a line to the file ``where`` whenever it is decided, and is then decided as ever."""

    def decided(self, budget: Budget) -> Verdict | None:
        with open(self.where, "a", encoding="utf-8") as f:
            f.write(f"{os.getpid()} {self.name}\n")
        return None


class Fatal(Recorded):
    """A claim that ends every process that looks at it."""

    def decided(self, budget: Budget) -> Verdict | None:
        super().decided(budget)
        os.kill(os.getpid(), signal.SIGKILL)
        raise AssertionError("this process has been killed")


def recorded(o: Obligation, number: int, log: Path) -> Recorded:
    """The same claim, recorded; ``number`` makes its name unique."""
    given = {f.name: getattr(o, f.name) for f in fields(Obligation)}
    return Recorded(**{**given, "subject": f"{number} {o.subject}", "where": str(log)})


def decisions(log: Path) -> list[tuple[int, str]]:
    """The processes and the claims that they decided, in order."""
    lines = log.read_text("utf-8").splitlines() if log.exists() else []
    return [(int(pid), name) for pid, _, name in (line.partition(" ") for line in lines)]
