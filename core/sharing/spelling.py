"""How atoms are written, where that is not as they are."""

from __future__ import annotations

from typing import Any, Final

from ..engine import Engine
from ..kernel.form import OPAQUE, QUOTIENT, REMAINDER, VARIABLE, Form, Terms
from .digit_with_rest import DigitWithRest

__all__ = ["Spelling"]

#: Below so many atoms it is seen whether one can be written with another: what is spent on a map grows with its size and
#: not faster.
REACH: Final = 48


class Spelling:
    """What has been chosen for atoms and sums, each with the rule that permits it."""

    def __init__(self) -> None:
        #: atoms written with another dividend and divisor, and what must be subtracted from them then
        self.dividend: dict[int, tuple[Form, int]] = {}
        self.offset: dict[int, Form] = {}
        #: the rules by which, and what those need to know
        self.reason: dict[int, tuple[str, tuple[Any, ...]]] = {}
        #: atoms written as minus the quotient of another dividend
        self.negated: dict[int, Form] = {}
        #: sums that are written as one remainder
        self.whole: dict[Form, DigitWithRest] = {}

    def __bool__(self) -> bool:
        """Whether anything is written in another way than it is."""
        return bool(self.dividend or self.negated or self.whole)

    def free_of(self, engine: Engine, f: Form, a: int) -> bool:
        """Whether the atom ``a`` is certainly not needed to write the form, as things are spelled so far."""
        kind, arg, dividend = engine.kind, engine.arg, self.dividend
        todo: list[Terms] = [f[1]]
        seen: set[int] = set()
        while todo:
            for t in todo.pop():
                b = t[0]
                if b == a:
                    return False
                of = kind[b]
                if of == VARIABLE or of == OPAQUE or b in seen:
                    continue
                seen.add(b)
                if len(seen) > REACH:
                    return False
                if b in dividend:
                    todo.append(dividend[b][0][1])
                elif of == QUOTIENT or of == REMAINDER:
                    todo.append(arg[b][1])
                else:
                    todo += [g[1] for g in engine.parts[b]]
        return True
