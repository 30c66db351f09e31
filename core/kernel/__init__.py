"""The kernel of the simplifier: what has to be right for a result to be right.

:mod:`.form` is the arithmetic of linear forms, :mod:`.ranges` says what is known about them, :mod:`.kernel` applies rules,
:mod:`.plan` and :mod:`.generate` write the code of rules from their declarations.  Everything else proposes.
"""
