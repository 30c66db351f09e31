"""How far proofs go: the rank of ops, and what a solver may spend on one question, in resources and never in seconds."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["MAX_RANK", "Budget"]

#: Op pairs are proved for every rank up to this one.
MAX_RANK = 4


@dataclass(frozen=True)
class Budget:
    """Resource units (z3 ``rlimit``) for one solver call of each kind."""

    proof: int = 20_000_000
    model: int = 4_000_000
    quick: int = 150_000
    linear: int = 150_000

    def scaled(self, factor: float) -> Budget:
        """The same proportions, more or less patient."""
        return Budget(*(int(n * factor) for n in (self.proof, self.model, self.quick, self.linear)))
