"""How far proofs go: the rank of ops, and what a solver may spend on one question, in resources and never in seconds."""

from __future__ import annotations

from dataclasses import astuple, dataclass
from typing import Final

#: Op pairs are proved for every rank up to this one.
MAX_RANK = 4
#: The most resource units that z3 counts to: it takes a limit modulo 2³², so that a larger one would be a small one, or
#: none at all.
MAX_RLIMIT: Final = 2**32 - 1


@dataclass(frozen=True)
class Budget:
    """Resource units (z3 ``rlimit``) for one solver call of each kind."""

    proof: int = 20_000_000
    model: int = 4_000_000
    quick: int = 150_000
    linear: int = 150_000

    def scaled(self, factor: float) -> Budget:
        """More or less patient, in the same proportions up to the most that z3 counts to (:data:`MAX_RLIMIT`)."""
        return Budget(*(int(min(n * factor, MAX_RLIMIT)) for n in astuple(self)))
