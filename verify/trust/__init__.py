"""A second opinion on verdicts (reports/trust.md).

:mod:`.smtlib` writes an obligation as a script for any solver; :mod:`.opinion` asks cvc5 about it and about every
question that a proof rests on.
"""
