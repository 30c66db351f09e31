"""Writing normal forms so that together they cost least: the last pass of the simplifier.

Normal forms are best for finding what is equal; as programs they can be written better.  A remainder is a difference where
its quotient is needed anyway; quotients and remainders can be those of another dividend that is there already; constants
and other summands can stand inside a quotient.  Each spelling is an instance of a rule of the set *sharing*, chosen where
it lowers the cost

    number of operations + (division weight - 1) · number of divisions,

operations and divisions counted once for all results.  The choices are greedy and made in a fixed order; the sums that
are compared are small, so an estimate of the change is enough.

:mod:`.rounds` chooses the forms, most of all by :mod:`.differences`; :mod:`.dividends` how their atoms are written,
:mod:`.constants` with what constants and :mod:`.factors` with what factors; :mod:`.speller` writes them.
"""

from .speller import Speller, with_differences

__all__ = ["Speller", "with_differences"]
