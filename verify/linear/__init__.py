"""Reduction of claims with symbolic divisors and products to *linear* integer arithmetic.

Claims with symbolic divisors are undecidable in general, and solvers answer them unreliably.  This strategy never
asks a solver about products.  It

1. splits on the sign of every divisor whose sign is not known; no divisor is zero,
2. writes dividends in radix notation, ``x = b·q + r`` with ``0 <= r < b``, so that most divisions become
   exact,
3. substitutes equalities in solved form,
4. brings everything to polynomial normal form, in which each product is an opaque integer,
5. adds those instances of lemmas (:data:`..schemes.LEMMAS`, true of all integers) that a model of the question
   violates, and
6. asks *linear* integer arithmetic, which is decidable.

If the facts of every case contradict the negated goal, the claim is proved.  Otherwise nothing is known: the
reduction never refutes.  Each closed case is kept as a :class:`Leaf`, its linear facts as data, which another
solver can check.
"""

from __future__ import annotations

from .leaves import ReductionBudget
from .prover import Reduction, prove
from .question import Leaf, leaf_smtlib
from .record import LinearFact

__all__ = ["Leaf", "LinearFact", "Reduction", "ReductionBudget", "leaf_smtlib", "prove"]
