"""Examine claims under a fault, and check that it causes no wrong verdict."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import cache
from typing import Any

import z3

from indexproof.verify.obligation import Obligation
from indexproof.verify.recheck import is_example
from indexproof.verify.trust import opinion, solvers
from indexproof.verify.trust.disagreement import Disagreement
from indexproof.verify.verdict import Status, Verdict

from .bank import BUDGET, bank
from .fault import Fault

__all__ = ["Change", "honest_reply", "lied_about", "replaced", "without_reduction"]

#: A replacement: the class or module, the name of the attribute, and its new value.
Change = tuple[Any, str, Any]

#: The unmodified answer of cvc5.
honest_reply = solvers.cvc5_reply


def _examined(o: Obligation, confirm: bool) -> tuple[str, Verdict | None]:
    """Examine a claim; return the verdict, or the reason why the examination stopped."""
    from indexproof.verify.run import examine

    try:
        v = examine(o, BUDGET, confirm)
    except Disagreement as found:
        return ("second solver" if any("cvc5" in name for name in found.answers) else "evaluation"), None
    except (z3.Z3Exception, AssertionError, ArithmeticError, LookupError, TypeError, ValueError) as error:
        return f"stopped: {type(error).__name__}", None
    if confirm and v.proved and v.strategy != "identity" and not (v.opinion and v.opinion.confirms):
        return "not confirmed", v
    return v.status.value, v


def _wrong(o: Obligation, true: bool, v: Verdict | None, said: str) -> bool:
    """Return whether the verdict is wrong."""
    if v is None or said == "not confirmed":
        return False
    if v.proved:
        return not true
    refuted = v.status in (Status.REFUTED, Status.UNDEFINED)
    return refuted and (true or v.witness is None or not is_example(o, v.witness))


def lied_about(
    kind: str, name: str, tampering: Callable[[], Any], confirm: bool, baseline: Callable[[], Any] = nullcontext
) -> Iterator[Fault]:
    """Yield a case for each claim of the bank whose outcome under ``baseline`` the tampering changes."""
    for k, (o, true) in enumerate(bank()):
        with baseline(), _briefly():
            honest = _honest(k, confirm, baseline)
        with tampering(), _briefly():
            _forget()
            said, v = _examined(o, confirm)
            _forget()
        wrong = _wrong(o, true, v, said)
        settled = v is not None and v.status is not Status.UNDECIDED and said != "not confirmed"
        if not wrong and (said == honest or settled):
            continue  # the verdict is right in spite of the fault
        yield Fault(kind, f"{name}: {o.subject}", "" if wrong else _NOTICED.get(said, said))


def _briefly() -> Any:
    """Lower the limits of the second solver, since the claims are small."""
    return replaced((opinion, "_LIMITS", opinion.Limits(leaf=100_000, whole=5_000, patient=10_000)))


@cache
def _honest(k: int, confirm: bool, baseline: Callable[[], Any]) -> str:
    """Examine claim number ``k`` without a fault."""
    _forget()
    said = _examined(bank()[k][0], confirm)[0]
    _forget()
    return said


_NOTICED = {Status.UNDECIDED.value: "nothing is proved"}


def _forget() -> None:
    """Clear cached answers, which another solver may have given."""
    from indexproof.verify.solve import _attempt

    _attempt.cache_clear()
    if vars(opinion)["cvc5_reply"] is not honest_reply:
        opinion._reply.cache_clear()


_INHERITED = object()


@contextmanager
def replaced(*changes: Change) -> Iterator[None]:
    """Replace attributes of classes and modules temporarily."""
    # an inherited attribute must be deleted afterwards, not set on the class
    before = [(owner, name, vars(owner).get(name, _INHERITED)) for owner, name, _ in changes]
    try:
        for owner, name, value in changes:
            setattr(owner, name, value)
        yield
    finally:
        for owner, name, value in before:
            if value is _INHERITED:
                delattr(owner, name)
            else:
                setattr(owner, name, value)


def without_reduction() -> Change:
    """Return the change that disables the reduction to linear arithmetic, so that the encoding is used."""
    from indexproof.verify import linear
    from indexproof.verify.linear import Reduction as Reduced

    def nothing(*_: Any, **__: Any) -> Reduced:
        return Reduced(False, "linear", (), 0)

    return linear, "prove", nothing
