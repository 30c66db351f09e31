"""Claims that log when and by which process they are decided; workers of a cluster import them from here."""

from __future__ import annotations

import os
import signal
from dataclasses import fields
from pathlib import Path

from indexproof.verify.budget import Budget
from indexproof.verify.obligation import Obligation
from indexproof.verify.verdict import Verdict


class Recorded(Obligation):
    """A claim that appends a line to the file ``where`` before it is decided as usual."""

    def decided(self, budget: Budget) -> Verdict | None:
        with open(self.where, "a", encoding="utf-8") as f:
            f.write(f"{os.getpid()} {self.name}\n")
        return None


class Fatal(Recorded):
    """A claim that kills every process that decides it."""

    def decided(self, budget: Budget) -> Verdict | None:
        super().decided(budget)
        os.kill(os.getpid(), signal.SIGKILL)
        raise AssertionError("this process has been killed")


def recorded(o: Obligation, number: int, log: Path) -> Recorded:
    """Return the same claim as a recorded one; ``number`` makes its name unique."""
    given = {f.name: getattr(o, f.name) for f in fields(Obligation)}
    return Recorded(**{**given, "subject": f"{number} {o.subject}", "where": str(log)})


def decisions(log: Path) -> list[tuple[int, str]]:
    """Return the processes and the claims that they decided, in order."""
    lines = log.read_text("utf-8").splitlines() if log.exists() else []
    return [(int(pid), name) for pid, _, name in (line.partition(" ") for line in lines)]
