"""Second opinions on verdicts (reports/trust.md).

:mod:`.smtlib` writes an obligation as a script for any solver.  :mod:`.opinion` gives cvc5 this script and all
questions that a proof rests on.
"""
