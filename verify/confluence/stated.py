"""Critical pairs of rules in a rule file: classical, on terms as they are written.

A rule of a file matches what its left side says, argument by argument: nothing is commutative but what a rule makes so
(whoever wants both orders states both).  A ``const`` matches any expression of constants, which the compiler computes, so
two of them are the same when they are the same number.  Unification of such terms is complete, so these are all critical
pairs.  Conditions, of constants and of expressions, are hypotheses of the pair; a rule applies where they imply its
conditions, which is proved like a rule; where the prover cannot tell, nothing is said to have two normal forms.

Only rules with the same semantics meet.  Nobody has proved that the rules of a file end, so derivations are bounded, and a
pair whose derivations are longer is UNDECIDED.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from ...core.errors import TooLargeError
from ..rulefiles.evaluate import Missing, truth, values
from ..rulefiles.obligations import source_of
from ..rulefiles.prove import decide_sound
from ..rulefiles.rule import StatedRule
from ..rulefiles.semantics import Semantics
from ..rulefiles.terms import OPERATORS, Kind, Term, below, show
from ..solve import Budget
from ..verdict import Status
from .analysis import Kind as Answer
from .analysis import Pair

__all__ = ["StatedOverlap", "decide_stated", "stated_overlaps"]

#: A term that can be compared: its operator and arguments, or its operator and value.
Node = tuple[object, ...]
#: Bindings of variables, and expressions of constants that must be the same number.
Bound = tuple[dict[Node, Node], list[tuple[Node, Node]]]
_LEAVES = ("int", "bool", "var", "flag")
#: Limits of the search, as counts.
_TERMS = 60
_STEPS = 30
_ASSIGNMENTS = 24
_VALUES = (0, 1, 2, 3, -1, 4, -2, 5)
_BUDGET = Budget(proof=400_000, model=200_000, quick=100_000, linear=30_000)


# ---------------------------------------------------------------------------------------------------------- terms
def node_of(root: Term, prime: str = "") -> Node:
    """The term as a value; operators that take any number of arguments lean to the left.  ``fold`` says nothing here."""
    done: dict[int, Node] = {}
    for t in below(root):
        if t.op in ("var", "flag"):
            done[id(t)] = (t.op, t.name + prime)
        elif t.op in _LEAVES:
            done[id(t)] = (t.op, t.value)
        elif t.op == "fold":
            done[id(t)] = done[id(t.args[0])]
        else:
            args = [done[id(a)] for a in t.args]
            made: Node = (t.op, *args[:2]) if OPERATORS[t.op].most == 0 else (t.op, *args)
            for a in args[2:] if OPERATORS[t.op].most == 0 else ():
                made = (t.op, made, a)
            done[id(t)] = made
    return done[id(root)]


def _children(n: Node) -> tuple[Node, ...]:
    return () if n[0] in _LEAVES else n[1:]  # type: ignore[return-value]


def _postorder(n: Node) -> list[Node]:
    out: list[Node] = []
    stack = [n]
    while stack:
        at = stack.pop()
        out.append(at)
        stack.extend(_children(at))
    return out[::-1]


def _rebuilt(n: Node, replace: Mapping[Node, Node]) -> Node:
    """``n`` with leaves replaced, simultaneously."""
    done: dict[Node, Node] = {}
    for at in _postorder(n):
        if at not in done:
            kids = _children(at)
            done[at] = (at[0], *(done[k] for k in kids)) if kids else replace.get(at, at)
    return done[n]


def term_of(n: Node) -> Term:
    """The term of a value."""
    done: dict[Node, Term] = {}
    for at in _postorder(n):
        if at not in done:
            kids = _children(at)
            if kids:
                done[at] = Term(str(at[0]), tuple(done[k] for k in kids))
            else:
                done[at] = Term(str(at[0]), (), at[1])  # type: ignore[arg-type]
    return done[n]


def text_of(n: Node) -> str:
    """The text form of a value."""
    return show(term_of(n))


def symbols(n: Node) -> int:
    """How many symbols it takes to write ``n``."""
    return len(_postorder(n))


def _sort(n: Node) -> str:
    if n[0] in _LEAVES:
        return "bool" if n[0] in ("flag", "bool") else "int"
    return OPERATORS[str(n[0])].result or "int"


# ----------------------------------------------------------------------------------------------------- unification
class _Kinds:
    """What variables stand for."""

    def __init__(self, kinds: Mapping[str, Kind]) -> None:
        self.kinds = dict(kinds)

    def constant(self, n: Node) -> bool:
        """Whether ``n`` is an expression of constants."""
        return all(
            leaf[0] == "int" or (leaf[0] == "var" and self.kinds[str(leaf[1])].name == "const")
            for leaf in _postorder(n)
            if leaf[0] in _LEAVES
        )


def _unified(pairs: Sequence[tuple[Node, Node]], kinds: _Kinds) -> Bound | None:
    """The most general unifier, and the expressions of constants that must be the same number."""
    bound: dict[Node, Node] = {}
    equal: list[tuple[Node, Node]] = []
    todo = list(pairs)
    while todo:
        a, b = (_resolved(n, bound) for n in todo.pop())
        if a == b:
            continue
        constants = kinds.constant(a), kinds.constant(b)
        if all(constants):
            v, e = (a, b) if a[0] == "var" else (b, a)
            if v[0] == "var" and v not in _postorder(e):
                bound[v] = e
            elif a[0] == b[0] == "int":
                return None
            else:
                equal.append((a, b))
            continue
        for v, e in ((a, b), (b, a)):
            if v[0] in ("var", "flag"):
                if _sort(v) != _sort(e) or v in _postorder(e):
                    return None
                if kinds.kinds[str(v[1])].name == "const" and not kinds.constant(e):
                    if e[0] != "var":
                        return None
                    v, e = e, v
                bound[v] = e
                break
        else:
            if a[0] != b[0] or len(a) != len(b) or not _children(a):
                return None
            todo.extend(zip(_children(a), _children(b), strict=True))
    return bound, equal


def _resolved(n: Node, bound: Mapping[Node, Node]) -> Node:
    while True:
        new = _rebuilt(n, bound)
        if new == n:
            return n
        n = new


def _matched(pattern: Node, n: Node, kinds: _Kinds, given: _Kinds) -> Bound | None:
    """Bindings of the pattern's variables, and the constants that must be the same number."""
    bound: dict[Node, Node] = {}
    equal: list[tuple[Node, Node]] = []
    todo = [(pattern, n)]
    while todo:
        p, e = todo.pop()
        if p[0] in ("var", "flag"):
            if _sort(p) != _sort(e):
                return None
            constant = kinds.kinds[str(p[1])].name == "const"
            if constant and not given.constant(e):
                return None
            if p in bound:
                if bound[p] != e:
                    if not constant:
                        return None
                    equal.append((bound[p], e))
                continue
            bound[p] = e
        elif p[0] == "int":
            if p != e:
                if not given.constant(e) or e[0] == "int":
                    return None
                equal.append((p, e))
        elif kinds.constant(p) and given.constant(e):
            unknown = [v for v in _postorder(p) if v[0] == "var" and v not in bound]
            if unknown:
                if p[0] != e[0] or len(p) != len(e):
                    return None
                todo.extend(zip(_children(p), _children(e), strict=True))
            else:
                equal.append((_rebuilt(p, bound), e))
        else:
            if p[0] != e[0] or len(p) != len(e) or (not _children(p) and p != e):
                return None
            todo.extend(zip(_children(p), _children(e), strict=True))
    return bound, equal


# --------------------------------------------------------------------------------------------------------- overlaps
@dataclass(frozen=True, eq=False)
class StatedOverlap:
    """``start`` becomes ``first`` by ``outer`` and ``second`` by ``inner``, where the ``hypotheses`` hold."""

    outer: StatedRule
    inner: StatedRule
    path: tuple[int, ...]
    start: Node
    first: Node
    second: Node
    hypotheses: tuple[Node, ...]
    kinds: Mapping[str, Kind]

    @property
    def name(self) -> str:
        """The overlap, uniquely in its file."""
        where = "" if not self.path else f" at argument {'.'.join(str(i + 1) for i in self.path)}"
        return f"{self.outer.name} / {self.inner.name}{where}"

    def statement(self) -> str:
        """The pair on one line."""
        text = f"{text_of(self.first)} <- {text_of(self.start)} -> {text_of(self.second)}"
        return text + (f" if {', '.join(map(text_of, self.hypotheses))}" if self.hypotheses else "")


def _paths(n: Node) -> Iterator[tuple[tuple[int, ...], Node]]:
    stack: list[tuple[tuple[int, ...], Node]] = [((), n)]
    while stack:
        path, at = stack.pop()
        if at[0] not in _LEAVES:
            yield path, at
        stack.extend(((*path, i), k) for i, k in reversed(list(enumerate(_children(at)))))


def _put(n: Node, path: tuple[int, ...], new: Node) -> Node:
    way = [n]
    for i in path[:-1]:
        way.append(_children(way[-1])[i])
    for at, i in zip(reversed(way), reversed(path), strict=False):
        kids = list(_children(at))
        kids[i] = new
        new = (at[0], *kids)
    return new


def stated_overlaps(rules: Sequence[StatedRule]) -> Iterator[StatedOverlap]:
    """Every critical pair of rules with the same semantics; each rule meets itself, at other places than the root."""
    for i, outer in enumerate(rules):
        for j, inner in enumerate(rules):
            if outer.semantics != inner.semantics:
                continue
            yield from _between(outer, inner, root=j > i)


def _between(outer: StatedRule, inner: StatedRule, *, root: bool) -> Iterator[StatedOverlap]:
    kinds = _Kinds({**outer.variables, **{v + "'": k for v, k in inner.variables.items()}})
    left, right = node_of(outer.left), node_of(outer.right)
    other, result = node_of(inner.left, "'"), node_of(inner.right, "'")
    if other[0] in _LEAVES:
        return
    conditions = [node_of(c) for c in outer.conditions] + [node_of(c, "'") for c in inner.conditions]
    for path, at in _paths(left):
        if (not path and not root) or kinds.constant(at):
            continue
        found = _unified([(at, other)], kinds)
        if found is None:
            continue
        bound, equal = found
        start = _resolved(left, bound)
        given = [_resolved(c, bound) for c in conditions]
        given += [("eq", _resolved(a, bound), _resolved(b, bound)) for a, b in equal]
        given += _bounds({v: _resolved(v, bound) for v in bound}, kinds)
        first, inside = _resolved(right, bound), _resolved(result, bound)
        used = {
            str(v[1]): v
            for n in (start, first, inside, *given)
            for v in _postorder(n)
            if v[0] in ("var", "flag")
        }
        # a name with a prime is needed only where there is another variable of that name
        names: dict[Node, Node] = {
            v: (v[0], n[:-1]) for n, v in used.items() if n.endswith("'") and n[:-1] not in used
        }
        start, first, inside = (_rebuilt(n, names) for n in (start, first, inside))
        yield StatedOverlap(
            outer,
            inner,
            path,
            start,
            first,
            _put(start, path, inside),
            tuple(dict.fromkeys(_rebuilt(c, names) for c in given)),
            {str(names.get(v, v)[1]): kinds.kinds[n] for n, v in sorted(used.items())},
        )


def _bounds(bound: Mapping[Node, Node], kinds: _Kinds) -> list[Node]:
    """Bounds of variables that have become something else."""
    out: list[Node] = []
    for v, e in bound.items():
        kind = kinds.kinds[str(v[1])]
        if kind.lo is not None:
            out.append(("ge", e, ("int", kind.lo)))
        if kind.hi is not None:
            out.append(("le", e, ("int", kind.hi)))
    return out


# --------------------------------------------------------------------------------------------------------- rewriting
class _Given:
    """Hypotheses, and what they imply."""

    def __init__(self, hypotheses: Sequence[Node], kinds: Mapping[str, Kind], semantics: Semantics) -> None:
        self.hypotheses = tuple(hypotheses)
        self.kinds = _Kinds(kinds)
        self.semantics = semantics
        self._memo: dict[Node, bool] = {}
        self.spent = 0
        #: whether something was asked that the prover could not decide, and counts as not implied
        self.unsure = False

    def _verdict(self, left: Node, right: Node) -> Status:
        names = {
            str(v[1])
            for n in (left, right, *self.hypotheses)
            for v in _postorder(n)
            if v[0] in ("var", "flag")
        }
        short = {n: n.replace("'", "_2") for n in sorted(names)}
        rename: dict[Node, Node] = {(op, n): (op, s) for n, s in short.items() for op in ("var", "flag")}
        rule = StatedRule(
            "asked",
            term_of(_rebuilt(left, rename)),
            term_of(_rebuilt(right, rename)),
            tuple(term_of(_rebuilt(h, rename)) for h in self.hypotheses),
            {short[n]: self.kinds.kinds[n] for n in sorted(names)},
            self.semantics,
        )
        try:
            verdict = decide_sound(source_of(rule), _BUDGET)
        except TooLargeError:
            return Status.UNDECIDED
        self.spent += verdict.resources
        return verdict.status

    def possible(self) -> Status:
        """``PROVED`` where something satisfies the hypotheses, ``VACUOUS`` where nothing does."""
        if not self.hypotheses:
            return Status.PROVED
        return self._verdict(("bool", True), ("bool", True))

    def implies(self, c: Node) -> bool:
        """Whether the hypotheses imply a condition, which is mathematics of unbounded integers."""
        if c == ("bool", True) or c in self.hypotheses:
            return True
        found = self._memo.get(c)
        if found is None:
            found = self._memo[c] = self._asked(c)
        return found

    def _asked(self, c: Node) -> bool:
        if not any(v[0] in ("var", "flag") for v in _postorder(c)):
            return truth(term_of(c), {}, self.semantics) is True
        if self.semantics.width:
            # a side of a rule is computed by the machine, a condition is not: ask for a contradiction of its opposite
            opposite = _Given((*self.hypotheses, ("not", c)), self.kinds.kinds, self.semantics)
            answer = opposite.possible()
            self.spent += opposite.spent
            self.unsure |= answer not in (Status.VACUOUS, Status.PROVED)
            return answer is Status.VACUOUS
        answer = self._verdict(c, ("bool", True))
        self.unsure |= answer not in (Status.PROVED, Status.REFUTED, Status.UNDEFINED)
        return answer is Status.PROVED

    def equal(self, a: Node, b: Node) -> bool:
        """Whether expressions of constants are the same number."""
        if a == b:
            return True
        if a[0] == b[0] == "int":
            return False
        return self.implies(("eq", a, b))

    def same(self, a: Node, b: Node) -> bool:
        """Whether two terms are the same, expressions of constants compared by value."""
        todo = [(a, b)]
        while todo:
            p, q = todo.pop()
            if p == q:
                continue
            if self.kinds.constant(p) and self.kinds.constant(q):
                if not self.equal(p, q):
                    return False
                continue
            if p[0] != q[0] or len(p) != len(q) or not _children(p):
                return False
            todo.extend(zip(_children(p), _children(q), strict=True))
        return True


Step = tuple[str, Node]


class _Rewriting:
    def __init__(self, rules: Sequence[StatedRule], given: _Given) -> None:
        self.given = given
        self.rules = [
            (
                r.name,
                node_of(r.left),
                node_of(r.right),
                [node_of(c) for c in r.conditions],
                _Kinds(r.variables),
            )
            for r in rules
            if r.semantics == given.semantics and r.left.op not in _LEAVES
        ]
        self._memo: dict[Node, list[Step]] = {}

    def computed(self, n: Node) -> Node:
        """``n`` with operators of literals computed, as compilers do."""
        done: dict[Node, Node] = {}
        for at in _postorder(n):
            if at in done:
                continue
            kids = tuple(done[k] for k in _children(at))
            made = (at[0], *kids) if kids else at
            if kids and all(k[0] in ("int", "bool") for k in kids):
                t = term_of(made)
                value = values((t,), {}, self.given.semantics)[id(t)]
                if not isinstance(value, Missing):
                    made = ("bool", value) if isinstance(value, bool) else ("int", int(value))
            done[at] = made
        return done[n]

    def steps(self, n: Node) -> list[Step]:
        """Every step from ``n``."""
        found = self._memo.get(n)
        if found is None:
            found = self._memo[n] = list(dict.fromkeys(self._stepped(n)))
        return found

    def _stepped(self, n: Node) -> Iterator[Step]:
        for path, at in reversed(list(_paths(n))):
            if self.given.kinds.constant(at):
                continue
            for name, left, right, conditions, kinds in self.rules:
                found = _matched(left, at, kinds, self.given.kinds)
                if found is None:
                    continue
                bound, equal = found
                asked = [("eq", a, b) for a, b in equal] + [_rebuilt(c, bound) for c in conditions]
                asked += _bounds(bound, kinds)
                after = self.computed(
                    _put(n, path, _rebuilt(right, bound)) if path else _rebuilt(right, bound)
                )
                if after != n and all(self.given.implies(c) for c in asked):
                    yield name, after

    def reached(self, n: Node) -> tuple[dict[Node, tuple[Step, ...]], bool]:
        """What can be reached, each with a shortest derivation, and whether that is everything."""
        n = self.computed(n)
        out: dict[Node, tuple[Step, ...]] = {n: ()}
        order = [n]
        for at in order:
            if len(out[at]) >= _STEPS:
                return out, False
            for name, after in self.steps(at):
                if after not in out:
                    if len(out) >= _TERMS:
                        return out, False
                    out[after] = (*out[at], (name, after))
                    order.append(after)
        return out, True

    def meeting(self, a: Node, b: Node) -> tuple[tuple[Step, ...], tuple[Step, ...], Node] | bool:
        """Derivations to a common result; else whether it is certain that there is none."""
        one, all_one = self.reached(a)
        two, all_two = self.reached(b)
        common = [n for n in one if n in two]
        if common:
            n = min(common, key=lambda n: (len(one[n]) + len(two[n]), text_of(n)))
            return one[n], two[n], n
        for p in one:
            for q in two:
                if self.given.same(p, q):
                    return one[p], two[q], q
        return all_one and all_two and not self.given.unsure

    def ended(self, n: Node) -> tuple[Step, ...]:
        """A derivation of a normal form."""
        out, _ = self.reached(n)
        ends = [path for at, path in out.items() if not self.steps(at)]
        return min(ends, key=lambda p: (len(p), str(p))) if ends else ()


def decide_stated(o: StatedOverlap, rules: Sequence[StatedRule]) -> Pair:
    """The verdict on one critical pair of a rule file."""
    place = ".".join(str(i + 1) for i in o.path)
    base = Pair(o.name, o.outer.name, o.inner.name, place, o.statement(), Answer.UNDECIDED)
    if o.first == o.second:
        return replace(base, kind=Answer.TRIVIAL, reason="both results are the same")
    given = _Given(o.hypotheses, o.kinds, o.outer.semantics)
    if given.possible() is Status.VACUOUS:
        return replace(
            base, kind=Answer.CONTRADICTORY, reason="nothing satisfies both", resources=given.spent
        )
    rewriting = _Rewriting(rules, given)
    met = rewriting.meeting(o.first, o.second)
    base = replace(base, resources=given.spent)
    if not isinstance(met, bool):
        first, second, at = met
        return replace(
            base, kind=Answer.JOINABLE, first=_told(first), second=_told(second), meets=text_of(at)
        )
    return _by_instances(o, rules, replace(base, resources=given.spent), certain=met)


def _by_instances(o: StatedOverlap, rules: Sequence[StatedRule], base: Pair, *, certain: bool) -> Pair:
    """The verdict where symbols do not tell: small constants, one assignment after the other."""
    tried = joined = 0
    for at, facts in _assignments(o):
        start = _rebuilt(o.start, at)
        here = _Given(facts, o.kinds, o.outer.semantics)
        if facts and here.possible() is not Status.PROVED:
            continue
        concrete = _Rewriting(rules, here)
        if concrete.computed(start) != start:
            continue  # the compiler has computed some of it, and the rules do not meet here
        one, two = (concrete.computed(_rebuilt(n, at)) for n in (o.first, o.second))
        tried += 1
        answer = concrete.meeting(one, two)
        if not isinstance(answer, bool):
            joined += 1
            continue
        if not answer:
            certain = False
            continue
        left, right = concrete.ended(one), concrete.ended(two)
        numbers = sum(abs(int(str(v[1]))) for v in _postorder(start) if v[0] == "int")
        return replace(
            base,
            kind=Answer.NOT_JOINABLE,
            first=_told(((o.outer.name, one), *left)),
            second=_told(((o.inner.name, two), *right)),
            witness=text_of(start),
            domain=", ".join(map(text_of, facts)),
            forms=(text_of(left[-1][1] if left else one), text_of(right[-1][1] if right else two)),
            rank=(symbols(start), numbers, 0),
            tried=tried,
            joined=joined,
        )
    if tried == joined and tried:
        reason = f"all {tried} instances join"
    elif not tried:
        reason = "no instance is known"
    else:
        reason = "no instance tells" if certain else "derivations do not end within the bounds"
    return replace(base, reason=reason, tried=tried, joined=joined)


def _told(steps: Sequence[Step]) -> tuple[tuple[str, str], ...]:
    return tuple((name, text_of(n)) for name, n in steps)


def _assignments(o: StatedOverlap) -> Iterator[tuple[dict[Node, Node], tuple[Node, ...]]]:
    """Small constants that satisfy the hypotheses about constants, and what is left of the others."""
    names = [v for v, k in o.kinds.items() if k.name == "const"]
    wide = _VALUES if len(names) <= 4 else _VALUES[: 5 if len(names) <= 6 else 3]
    rows = sorted(
        itertools.islice(itertools.product(wide, repeat=len(names)), 60_000),
        key=lambda r: (sum(map(abs, r)), sum(x < 0 for x in r), r),
    )
    kinds = _Kinds(o.kinds)
    count = 0
    for row in rows:
        point = dict(zip(names, row, strict=True))
        if any(
            (k.lo is not None and point[v] < k.lo) or (k.hi is not None and point[v] > k.hi)
            for v, k in o.kinds.items()
            if v in point
        ):
            continue
        at: dict[Node, Node] = {("var", v): ("int", n) for v, n in point.items()}
        facts = []
        for h in o.hypotheses:
            if all(kinds.constant(v) for v in _postorder(h) if v[0] in _LEAVES and v[0] != "bool"):
                if truth(term_of(h), point, o.outer.semantics) is not True:
                    break
            else:
                facts.append(_rebuilt(h, at))
        else:
            yield at, tuple(facts)
            count += 1
            if count >= _ASSIGNMENTS:
                return
