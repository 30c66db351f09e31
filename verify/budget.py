"""Limits on proofs: the rank of ops, and the resource units a solver may spend on one question (never seconds)."""

from __future__ import annotations

from dataclasses import astuple, dataclass
from typing import Final

from ..core.errors import InputError

#: Op pairs are proved for every rank up to this limit.
MAX_RANK = 4
#: The largest rank that may be asked for: 10,000 cases of ops up to rank 6, and 52,000 up to rank 7.
LARGEST_RANK: Final = 6
#: The largest resource limit of z3.  It takes the limit modulo 2³², so a larger number would mean a small limit or
#: none.
MAX_RLIMIT: Final = 2**32 - 1


def ranks(most: int) -> range:
    """Return the ranks up to ``most``.  Raises :class:`InputError` if that is more than :data:`LARGEST_RANK`."""
    if most > LARGEST_RANK:
        said = f"ops are proved up to rank {LARGEST_RANK}, not {most}: the number of cases grows with the factorial"
        raise InputError(said, expected=f"a rank from 0 to {LARGEST_RANK}")
    return range(most + 1)


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
