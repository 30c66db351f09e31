"""Fault injection: every fault that could make a wrong verdict look right is injected, and must be noticed.

A case injects one fault: into an entry of the cache, a claim, the meaning of an operator, an answer of a solver, a step
of a certificate.  It is noticed if no wrong verdict comes of it: the entry is not believed, the engines contradict each
other, the claim is refuted, the certificate is refused, or nothing is proved.

A change that makes no difference is no case: a claim that stays true is not counted, nor a lie that changes no verdict.
Claims whose counterexamples are far away are examined only where cvc5 is installed, since only cvc5 notices.
reports/trust.md says which engine notices which kind.

:mod:`.run` lists all batches of cases; each kind has a module.
"""
