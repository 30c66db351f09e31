"""The kernel of the simplifier: the code that results rely on.

:mod:`.form` is the arithmetic of linear forms, :mod:`.ranges` derives their ranges, :mod:`.kernel` applies rules, and
:mod:`.patterns` and :mod:`.generate` write the code of rules from their declarations.  Everything else proposes.
"""
