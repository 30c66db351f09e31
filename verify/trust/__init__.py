"""Why a verdict should be believed, and what happens when it should not (reports/trust.md).

:mod:`.smtlib` writes an obligation as a script for any solver; :mod:`.opinion` asks cvc5 about it and about every
question that a proof rests on; :mod:`.sabotage` tampers with everything and counts what is not noticed; :mod:`.stability`
proves again under other names, orders and seeds.
"""
