"""Limits on proofs: the rank of ops, and the resource units a solver may spend on one question (never seconds)."""

from __future__ import annotations

from dataclasses import astuple, dataclass
from typing import Final

#: Op pairs are proved for every rank up to this limit.
MAX_RANK = 4
#: The largest resource limit of z3.  It takes the limit modulo 2³², so a larger number would mean a small limit or
#: none.
MAX_RLIMIT: Final = 2**32 - 1


@dataclass(frozen=True)
class Budget:
    """Resource units (z3 ``rlimit``) for one solver call of each kind."""

    proof: int = 20_000_000
    model: int = 4_000_000
    quick: int = 150_000
    linear: int = 150_000

    def scaled(self, factor: float) -> Budget:
        """Return the budget with every limit multiplied by ``factor``, at most :data:`MAX_RLIMIT`."""
        return Budget(*(int(min(n * factor, MAX_RLIMIT)) for n in astuple(self)))
