"""Rules as stated in a file, and the inference of the sorts of their terms."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ...core.errors import InputError, quoted
from ..verdict import Status
from .semantics import Semantics
from .terms import BOOL, INT, OPERATORS, Kind, Sort, Term, below, show

#: The verdicts that a file may expect of a rule.
EXPECTED = (Status.PROVED, Status.REFUTED)
#: Returns an error that points at a term, from a message and the expected input.
Complaint = Callable[[Term, str, str], InputError]


@dataclass(frozen=True, eq=False)
class StatedRule:
    """The rule that ``left`` may be replaced by ``right`` if all ``conditions`` hold.

    ``variables`` are the declared variables that occur, in order of declaration.  ``where`` is the file and the line;
    ``line`` and ``column`` of its beginning are counted from one.
    """

    name: str
    left: Term
    right: Term
    conditions: tuple[Term, ...]
    variables: Mapping[str, Kind]
    semantics: Semantics = field(default_factory=Semantics)
    doc: str = ""
    where: str = ""
    line: int = 0
    column: int = 1
    expected: Status = Status.PROVED

    @property
    def sort(self) -> Sort:
        """The sort of both sides."""
        return sort_of(self.left)

    def ranges(self) -> dict[str, tuple[int | None, int | None]]:
        """Return the least and the greatest value of every variable, ``None`` if unbounded."""
        s = self.semantics
        out: dict[str, tuple[int | None, int | None]] = {}
        for v, kind in self.variables.items():
            lo, hi = (0, 1) if kind.name == "bool" else (kind.lo, kind.hi)
            if s.width and kind.name != "bool":
                lo = s.lo if lo is None else max(lo, s.lo)
                hi = s.hi if hi is None else min(hi, s.hi)
            out[v] = lo, hi
        return out

    def statement(self) -> str:
        """Return the rule on one line, in the text form."""
        text = f"{show(self.left)} -> {show(self.right)}"
        return text + (f" if {', '.join(map(show, self.conditions))}" if self.conditions else "")

    def __str__(self) -> str:
        return f"{self.name}: {self.statement()}"


def widened(r: StatedRule, width: int) -> StatedRule:
    """Return the rule over machine integers that must not overflow."""
    return replace(r, semantics=replace(r.semantics, width=width, overflow="undefined"))


def sort_of(t: Term) -> Sort:
    """Return the sort of a typed term."""
    while t.op in ("fold", "select"):
        t = t.args[-1]
    match t.op:
        case "int" | "var":
            return INT
        case "bool" | "flag":
            return BOOL
    return OPERATORS[t.op].result or INT


# ------------------------------------------------------------------------------------------------------ typing
_NAMES: dict[Sort, str] = {INT: "an integer", BOOL: "a truth value"}


class _Sorts:
    """The sorts of terms and variables that were inferred so far."""

    def __init__(self, complain: Complaint) -> None:
        self.complain = complain
        #: Groups of terms of equal sort, inner ones first.
        self.alike: list[Sequence[Term]] = []
        self._told: dict[int | str, Sort] = {}

    def _place(self, t: Term) -> int | str:
        return t.name if t.op == "var" else id(t)

    def of(self, t: Term) -> Sort:
        """Return the sort of ``t``, by default integer."""
        return self._told.get(self._place(t), INT)

    def require(self, t: Term, sort: Sort) -> None:
        """Require that ``t`` has this sort.  Raises the error of ``complain`` if it has the other."""
        if self._told.setdefault(self._place(t), sort) != sort:
            other = _NAMES[BOOL if sort == INT else INT]
            what = f"{quoted(t.name)} is {other} elsewhere" if t.op == "var" else f"this is {other}"
            raise self.complain(t, what, _NAMES[sort])

    def spread(self) -> None:
        """Propagate sorts within groups of equal sort until a fixpoint."""
        before = -1
        while before != len(self._told):
            before = len(self._told)
            for terms in (*self.alike, *reversed(self.alike)):
                sort = next((self.of(t) for t in terms if self._place(t) in self._told), None)
                if sort is not None:
                    for t in terms:
                        self.require(t, sort)


def _infer(terms: Sequence[Term], kinds: Mapping[str, Kind], sorts: _Sorts, *, lenient: bool) -> None:
    for t in terms:
        if t.op == "var":
            kind = kinds[t.name]
            if not lenient or kind.sort == BOOL or kind.lo is not None:
                sorts.require(t, kind.sort)
        elif not t.args:
            sorts.require(t, INT if t.op == "int" else BOOL)
        else:
            o = OPERATORS[t.op]
            alike = [a for k, a in enumerate(t.args) if not o.sort_of(k)]
            sorts.alike.append(alike if o.result else [*alike, t])
            if o.result:
                sorts.require(t, o.result)
    sorts.spread()
    for t in terms:
        for k, a in enumerate(t.args):
            if wanted := OPERATORS[t.op].sort_of(k):
                sorts.require(a, wanted)


def checked(r: StatedRule, complain: Complaint, *, lenient: bool = False, derived: bool = False) -> StatedRule:
    """Check a rule as read, drop variables that do not occur, and turn variables for truth values into flags, in place.

    If ``lenient``, an integer variable without bounds that is only used as a truth value becomes one.  Raises the error
    of ``complain`` for an undeclared variable, a term of the wrong sort, a variable below ``fold``, a literal that does
    not fit the machine integers, a misplaced ``wrap``, and, unless ``derived``, a variable only on the right side.
    """
    left, right, kinds, semantics = r.left, r.right, r.variables, r.semantics
    conditions = tuple(flat("and", r.conditions))
    terms = below(left, right, *conditions)
    for t in terms:
        if t.op == "var" and t.name not in kinds:
            known = ", ".join(map(quoted, kinds)) or "none"
            raise complain(t, f"{quoted(t.name)} is not declared", f"one of the variables: {known}")
    sorts = _Sorts(complain)
    _infer(terms, kinds, sorts, lenient=lenient)
    sorts.alike.append([left, right])
    for c in conditions:
        sorts.require(c, BOOL)
    sorts.spread()
    for t in terms:
        if t.op == "fold":
            _only_constants(t, kinds, complain)
        if t.op == "wrap" and not semantics.width:
            raise complain(t, "`wrap` says nothing of unbounded integers", "integers of some width")
    if semantics.width:
        for t in below(left, right):
            if t.op == "wrap":
                raise complain(t, "the sides of a rule are machine integers already", "`wrap` in a condition")
            if t.op == "int" and not semantics.lo <= int(t.value) <= semantics.hi:
                raise complain(
                    t,
                    f"{t.value} does not fit into {semantics.width} bits",
                    f"an integer in [{semantics.lo}, {semantics.hi}]",
                )
    if not derived:
        _only_bound(left, right, conditions, complain)
    named = {t.name: t for t in terms if t.op == "var"}
    used = {v: Kind("bool") if sorts.of(named[v]) == BOOL else kind for v, kind in kinds.items() if v in named}
    for t in terms:
        if t.op == "var" and used[t.name].sort == BOOL:
            t.op = "flag"
    return replace(r, conditions=conditions, variables=used)


def _only_bound(left: Term, right: Term, conditions: Sequence[Term], complain: Complaint) -> None:
    bound = {t.name for t in below(left, *conditions) if t.op == "var"}
    for t in below(right):
        if t.op == "var" and t.name not in bound:
            message = f"neither the left side nor a condition binds {quoted(t.name)}"
            raise complain(t, message, "a variable of these")


def flat(op: str, terms: Sequence[Term]) -> list[Term]:
    """Return the parts of nested conjunctions, or of disjunctions, in order."""
    out: list[Term] = []
    todo = [*reversed(terms)]
    while todo:
        t = todo.pop()
        if t.op == op:
            todo.extend(reversed(t.args))
        else:
            out.append(t)
    return out


def _only_constants(t: Term, kinds: Mapping[str, Kind], complain: Complaint) -> None:
    for a in below(t):
        if a.op == "var" and kinds[a.name].name != "const":
            raise complain(a, f"{quoted(a.name)} is not a constant, so it cannot be folded", "constants only")
