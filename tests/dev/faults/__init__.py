"""Sabotage: everything that could make a wrong verdict look right is done on purpose, and must be noticed.

A case tampers with one thing: an entry of the cache, a claim, the meaning of an operator, an answer of a solver, a step
of a certificate.  It is noticed if no wrong verdict comes of it: the entry is not believed, the engines contradict each
other, the claim is refuted, the certificate is refused, or nothing is proved.  What makes no difference is no case: a
claim that stays true is not counted, nor a lie that changes no outcome.  Claims whose counterexamples are far away are
lied about only where cvc5 is installed, which is what notices; reports/trust.md says which kind rests on what.

:mod:`.run` knows all tasks, each kind of which has a module: :mod:`.claims`, :mod:`.encodings`, :mod:`.answers`,
:mod:`.rules`, :mod:`.certificates`, :mod:`.cached`, :mod:`.manifests` and :mod:`.crashes`.
"""
