"""Fault injection: every fault that could make a wrong verdict look right is injected, and must be noticed.

A case injects one fault: into an entry of the cache, a claim, the meaning of an operator, an answer of a solver, a step
of a certificate.  It is noticed if it causes no wrong verdict: the entry is refused, the engines contradict each other,
the claim is refuted, the certificate is refused, or nothing is proved.

A change without effect is no case: a claim that stays true is not counted, nor a wrong answer that changes no verdict.
Claims whose counterexamples are far from zero are examined only with cvc5, since only cvc5 notices these faults.
reports/trust.md says which engine notices which kind.

:mod:`.run` lists all batches of cases; each kind has a module.
"""
