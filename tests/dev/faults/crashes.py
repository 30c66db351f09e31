"""Faults in processes: a claim kills its worker."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator

from indexproof.verify.budget import Budget
from indexproof.verify.obligation import Obligation
from indexproof.verify.verdict import Status, Verdict

from .bank import BUDGET, TRUE_CLAIMS, obligations, x
from .fault import Batch, Fault

__all__ = ["crash_cases"]


class Fatal(Obligation):
    """A claim that kills every process that decides it, like a crash of a solver."""

    def decided(self, budget: Budget) -> Verdict | None:
        """Kill this process."""
        os.kill(os.getpid(), signal.SIGKILL)
        raise AssertionError("this process has been killed")


def crash_cases(task: Batch) -> Iterator[Fault]:
    """Yield the cases of a claim that kills its worker; all other claims must still be proved."""
    from indexproof.verify.proving import prove_all

    others = obligations(TRUE_CLAIMS[:9], "true")
    fatal = Fatal("faults", "a fault", "fatal", (), x >= 0)
    for at in (0, 7):
        todo = [*others[:at], fatal, *others[at:]]
        run = prove_all(todo, jobs=2, budget=BUDGET)
        said = {r.obligation.name: r.verdict.status for r in run.results}
        rest = all(said[o.name] is Status.PROVED for o in others)
        noticed = rest and said[fatal.name] is Status.UNDECIDED and run.exit_status != 0
        yield Fault("crash", f"a worker killed at claim {at + 1}", "undecided" if noticed else "")
