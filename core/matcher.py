"""Rules become functions: each declaration is compiled to Python source that matches its left side and builds its right.

The generated function has one loop per named summand, puts every test at the earliest point where its variables are
bound, and returns the rule's own right side.  :func:`instance` is the reference that it is tested against: it knows
nothing but substitution.  The engine's own names start with an underscore, because a rule may call its variable ``lo``.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeAlias

from . import expr as core
from .choose import STRATEGIES
from .condition import And, Compare, Condition, Divides, Not, Or, Truth, Within
from .expr import CeilDiv, Expr, FloorDiv, Int, Max, Min, Mod, Mul, Sum, Var, postorder, rebuild
from .facts import Facts
from .rewrite import DeclarationError, Rule, measure

__all__ = ["Match", "bindings", "compiled", "const_text", "instance", "matcher", "source"]

#: What a match returns: the replacement and the values of the rule's variables, in the order of ``Rule.variables``.
Match: TypeAlias = tuple[Expr, tuple[Expr, ...]]
Matcher: TypeAlias = Callable[[Expr, Facts], Match | None]


def instance(rule: Rule, redex: Expr, binding: Mapping[str, Expr], facts: Facts) -> Expr | None:
    """The reference meaning of "``rule`` applies to ``redex`` with ``binding``": the replacement, or ``None``.

    The left side under the binding must be the redex itself, and every condition must certainly hold.
    """
    values = {v: binding[v.name] for v in rule.variables}
    if any(v.kind == "const" and not isinstance(e, Int) for v, e in values.items()):
        return None
    try:
        if rule.left.substitute(values) is not redex:
            return None
        if not all(facts.holds(c.substitute(values)) for c in rule.conditions):
            return None
        return rule.right.substitute(values)
    except ZeroDivisionError:
        return None


def bindings(pattern: Expr, e: Expr) -> Iterator[dict[Var, Expr]]:
    """Every way in which ``pattern`` matches ``e``: the interpreted matcher.

    Slow and plain; constraint rules use it, and compiled matchers are compared with it.
    """
    todo: list[tuple[dict[Var, Expr], list[tuple[Expr, Expr]]]] = [({}, [(pattern, e)])]
    while todo:
        bound, open_ = todo.pop()
        if not open_:
            yield bound
            continue
        (p, at), rest = open_[0], open_[1:]
        todo.extend((b, [*more, *rest]) for b, more in reversed(list(_one(p, at, bound))))


def _one(
    p: Expr, e: Expr, bound: dict[Var, Expr]
) -> Iterator[tuple[dict[Var, Expr], list[tuple[Expr, Expr]]]]:
    """One level of :func:`bindings`: extended bindings, each with the matches that are still open."""
    match p:
        case Var():
            if p.kind == "const" and not isinstance(e, Int):
                return
            if bound.get(p, e) is e:
                yield {**bound, p: e}, []
        case Int():
            if p is e:
                yield bound, []
        case FloorDiv() | Mod() | CeilDiv():
            if type(p) is type(e):
                yield bound, [(p.b, e.b), (p.a, e.a)]
        case Min() | Max():
            if type(p) is type(e) and len(e.args) == len(p.args) == 2:
                first, second = e.args
                yield bound, [(p.args[0], first), (p.args[1], second)]
                yield bound, [(p.args[0], second), (p.args[1], first)]
        case Sum() | Mul():
            yield from _sum_bindings(p, e, bound)


def _sum_bindings(
    p: Expr, e: Expr, bound: dict[Var, Expr]
) -> Iterator[tuple[dict[Var, Expr], list[tuple[Expr, Expr]]]]:
    """Summands of ``p`` against summands of ``e``, in every assignment."""
    const, terms = (e.const, e.terms) if isinstance(e, Sum) else (0, ((e, 1),))
    if isinstance(e, Int):
        const, terms = e.value, ()
    named, constant, rest = _summand_patterns(p)
    if (rest is None and len(terms) != len(named)) or (rest is None and constant is None and const):
        return
    if constant is not None and const == 0:
        return
    for chosen in itertools.permutations(range(len(terms)), len(named)):
        more: list[tuple[Expr, Expr]] = []
        for (atom, coefficient), i in zip(named, chosen, strict=True):
            t, k = terms[i]
            if coefficient is None and k != 1:
                break
            if coefficient is not None:
                more.append((coefficient, core.integer(k)))
            more.append((atom, t))
        else:
            left = [t for i, t in enumerate(terms) if i not in chosen]
            if constant is not None:
                more.append((constant, core.integer(const)))
            if rest is not None:
                more.append((rest, core.linear(0 if constant is not None else const, left)))
            yield bound, more


def _summand_patterns(p: Expr) -> tuple[list[tuple[Expr, Var | None]], Var | None, Var | None]:
    """The named summands ``(atom, coefficient)`` of a sum pattern, its constant and its rest.

    Raises :class:`DeclarationError` for a pattern that no sum can be matched with.
    """
    const, terms = (p.const, p.terms) if isinstance(p, Sum) else (0, ((p, 1),))
    if const:
        raise DeclarationError(f"pattern {p}: name the constant of a sum with a Const variable")
    rest: Var | None = None
    constant: Var | None = None
    named: list[tuple[Expr, Var | None]] = []
    for t, k in terms:
        if k != 1:
            raise DeclarationError(f"pattern {p}: write the coefficient of {t} as a Const variable")
        if isinstance(t, Var) and t.kind == "rest":
            rest = t
        elif isinstance(t, Var) and t.kind == "const":
            constant = t
        elif isinstance(t, Mul):
            coefficients = [f for f in t.factors if isinstance(f, Var) and f.kind == "const"]
            atoms = [f for f in t.factors if f not in coefficients]
            if len(coefficients) != 1 or len(atoms) != 1:
                raise DeclarationError(f"pattern {p}: a summand is one expression times one Const")
            named.append((atoms[0], coefficients[0]))
        else:
            named.append((t, None))
    # structured summands first: a bare variable matches everything
    named.sort(key=lambda n: (isinstance(n[0], Var), -len(postorder(n[0])), str(n[0])))
    return named, constant, rest


def matcher(rule: Rule) -> Matcher:
    """The production function of a rule."""
    return _chosen(rule) if rule.choose else compiled(rule)


def _chosen(rule: Rule) -> Matcher:
    strategy = STRATEGIES.get(rule.choose)
    if strategy is None:
        raise DeclarationError(
            f"rule {rule.name}: no strategy is called {rule.choose!r}; there are {', '.join(STRATEGIES)}"
        )
    names = [v.name for v in rule.variables]

    def match(e: Expr, facts: Facts) -> Match | None:
        for binding in strategy(e, facts):
            result = instance(rule, e, binding, facts)
            if result is not None and measure(result).values() < measure(e).values():
                return result, tuple(binding[n] for n in names)
        return None

    return match


@cache
def compiled(rule: Rule) -> Matcher:
    """The compiled matcher of a rule without ``choose``."""
    names: dict[str, Any] = {
        "_Int": Int,
        "_Sum": Sum,
        "_FloorDiv": FloorDiv,
        "_Mod": Mod,
        "_CeilDiv": CeilDiv,
        "_Min": Min,
        "_Max": Max,
        "_integer": core.integer,
        "_linear": core.linear,
        "_mul": core.mul,
        "_floordiv": core.floordiv,
        "_mod": core.mod,
        "_ceildiv": core.ceildiv,
        "_minimum": core.minimum,
        "_maximum": core.maximum,
        "_divides": lambda d, n: d != 0 and n % d == 0,
    }
    conditions = list(rule.conditions)
    for k, c in enumerate(conditions):
        names[f"_condition{k}"] = c
    for v in rule.variables:
        names[f"_var_{v.name}"] = v
    exec(compile(source(rule), f"<rule {rule.name}>", "exec"), names)
    return names[rule.name]  # type: ignore[no-any-return]


@dataclass
class _Writer:
    """Source under construction."""

    rule: Rule
    lines: list[str]
    depth: int = 1
    bail: str = "return None"
    fresh: int = 0

    def __post_init__(self) -> None:
        self.bound: set[Var] = set()
        self.pending = list(enumerate(self.rule.conditions))

    def emit(self, text: str) -> None:
        self.lines.append("    " * self.depth + text)

    def name(self) -> str:
        self.fresh += 1
        return f"_t{self.fresh}"

    def test(self, failure: str) -> None:
        self.emit(f"if {failure}: {self.bail}")

    def bind(self, v: Var, value: str) -> None:
        if v in self.bound:
            self.test(f"{value} != {v.name}" if v.kind == "const" else f"{value} is not {v.name}")
            return
        if v.name != value:
            self.emit(f"{v.name} = {value}")
        self.bound.add(v)
        self.flush()

    def flush(self) -> None:
        """Emit the conditions whose variables have just become known."""
        for k, c in list(self.pending):
            if set(c.variables()) <= self.bound:
                self.pending.remove((k, c))
                self.test(f"not ({self.condition(k, c)})")

    def condition(self, k: int, c: Condition) -> str:
        if all(v.kind == "const" for v in c.variables()):
            return _const_condition(c)
        if (
            isinstance(c, Within)
            and isinstance(c.e, Var)
            and all(v.kind == "const" for v in (*c.lo.variables(), *c.hi.variables()))
        ):
            lo, hi = const_text(c.lo), const_text(c.hi)
            i = self.name()
            return f"({i} := _facts.interval({c.e.name})).lo >= {lo} and {i}.hi <= {hi} and {i}.lo <= {i}.hi"
        values = ", ".join(f"_var_{v.name}: {v.name}" for v in c.variables())
        return f"_facts.holds(_condition{k}.substitute({{{values}}}))"


def source(rule: Rule) -> str:
    """The Python source of a rule's matcher."""
    out = _Writer(rule, [f"def {rule.name}(_e, _facts):", f'    """{rule.statement()}"""'])
    _pattern(out, rule.left, "_e", top=True)
    out.flush()
    if out.pending:
        left = "; ".join(str(c) for _, c in out.pending)
        raise DeclarationError(f"rule {rule.name}: nothing binds the variables of {left}")
    values = ", ".join(f"_integer({v.name})" if v.kind == "const" else v.name for v in rule.variables)
    out.emit(f"return {_build(rule.right)}, ({values},)")
    return "\n".join(out.lines) + "\n"


def _pattern(out: _Writer, pattern: Expr, at: str, *, top: bool = False) -> None:
    """Emit the code that matches ``pattern`` against the expression named ``at``."""
    todo: list[tuple[Expr, str]] = [(pattern, at)]
    while todo:
        p, name = todo.pop(0)
        match p:
            case Var(kind="const"):
                out.test(f"type({name}) is not _Int")
                out.bind(p, f"{name}.value")
            case Var():
                out.bind(p, name)
            case Int():
                out.test(f"type({name}) is not _Int or {name}.value != {p.value}")
            case FloorDiv() | Mod() | CeilDiv():
                out.test(f"type({name}) is not _{type(p).__name__}")
                a, b = out.name(), out.name()
                out.emit(f"{a} = {name}.a; {b} = {name}.b")
                # the divisor first: it is a constant, and many conditions need nothing else
                todo[:0] = [(p.b, b), (p.a, a)]
            case Min() | Max():
                todo[:0] = _extremum(out, p, name)
            case Sum() | Mul():
                todo[:0] = _summands(out, p, name)
            case _:
                raise DeclarationError(f"rule {out.rule.name}: cannot match {p}")


def _extremum(out: _Writer, p: Min | Max, name: str) -> list[tuple[Expr, str]]:
    if len(p.args) != 2:
        raise DeclarationError(
            f"rule {out.rule.name}: state min and max of two arguments; longer ones are matched in pairs"
        )
    out.test(f"type({name}) is not _{type(p).__name__} or len({name}.args) != 2")
    one, other = out.name(), out.name()
    out.emit(f"for {one}, {other} in (({name}.args[0], {name}.args[1]), ({name}.args[1], {name}.args[0])):")
    out.depth += 1
    out.bail = "continue"
    # a compound argument first: it fails fastest
    args = sorted(p.args, key=lambda a: isinstance(a, Var))
    return [(args[0], one), (args[1], other)]


def _summands(out: _Writer, p: Expr, name: str) -> list[tuple[Expr, str]]:
    """A sum: one loop per named summand; what is left over is the rest."""
    named, constant, rest = _summand_patterns(p)
    c, ts = out.name(), out.name()
    out.emit(f"{c}, {ts} = ({name}.const, {name}.terms) if type({name}) is _Sum else (0, (({name}, 1),))")
    out.test(f"len({ts}) {'<' if rest is not None else '!='} {len(named)}")
    if rest is None and constant is None:
        out.test(f"{c} != 0")
    if constant is not None:
        out.test(f"{c} == 0")
        out.bind(constant, c)
    inner: list[tuple[Expr, str]] = []
    taken: list[str] = []
    for atom, coefficient in named:
        i, a, k = out.name(), out.name(), out.name()
        out.emit(f"for {i}, ({a}, {k}) in enumerate({ts}):")
        out.depth += 1
        out.bail = "continue"
        for other in taken:
            out.test(f"{i} == {other}")
        taken.append(i)
        if not isinstance(atom, Var):
            out.test(f"type({a}) is not _{type(atom).__name__}")
        if coefficient is None:
            out.test(f"{k} != 1")
        else:
            out.bind(coefficient, k)
        if isinstance(atom, Var):
            out.bind(atom, a)
        else:
            inner.append((atom, a))
    if rest is not None:
        left = f"[_u for _i, _u in enumerate({ts}) if _i not in ({', '.join(taken)},)]" if taken else ts
        r = out.name()
        out.emit(f"{r} = _linear({'0' if constant is not None else c}, {left})")
        # the rest is tested last, after everything cheaper
        inner.append((rest, r))
    return inner


# ------------------------------------------------------------------------------------------------- building code text
class _ConstText:
    """Python text of an expression over constants only."""

    def integer(self, n: int) -> str:
        return f"({n})" if n < 0 else str(n)

    def variable(self, v: Var) -> str:
        return v.name

    def sum(self, const: int, terms: list[tuple[str, int]]) -> str:
        return "(" + " + ".join([*(t if k == 1 else f"{k} * {t}" for t, k in terms), str(const)]) + ")"

    def product(self, factors: list[str]) -> str:
        return "(" + " * ".join(factors) + ")"

    def floordiv(self, a: str, b: str) -> str:
        return f"({a} // {b})"

    def mod(self, a: str, b: str) -> str:
        return f"({a} % {b})"

    def ceildiv(self, a: str, b: str) -> str:
        return f"(-(-{a} // {b}))"

    def minimum(self, args: list[str]) -> str:
        return f"min({', '.join(args)})"

    def maximum(self, args: list[str]) -> str:
        return f"max({', '.join(args)})"


def const_text(e: Expr) -> str:
    """Python text that computes an expression over constants."""
    return core.interpret((e,), _ConstText())[0]


def _const_condition(c: Condition) -> str:
    match c:
        case Truth(value):
            return str(value)
        case Compare(op, a, b):
            return f"{const_text(a)} {op} {const_text(b)}"
        case Within(e, lo, hi):
            return f"{const_text(lo)} <= {const_text(e)} <= {const_text(hi)}"
        case Divides(d, e):
            return f"_divides({const_text(d)}, {const_text(e)})"
        case And(args):
            return " and ".join(f"({_const_condition(a)})" for a in args)
        case Or(args):
            return " or ".join(f"({_const_condition(a)})" for a in args)
        case Not(arg):
            return f"not ({_const_condition(arg)})"
    raise AssertionError(c)


def _is_const(e: Expr) -> bool:
    return all(v.kind == "const" for v in e.variables())


def _build(e: Expr) -> str:
    """Python text that builds ``e``; constants are computed as integers on the way."""
    if _is_const(e):
        return f"_integer({const_text(e)})"
    match e:
        case Var():
            return e.name
        case Sum():
            const = core.linear(e.const, [(t, k) for t, k in e.terms if _is_const(t)])
            parts = [_scaled(t, k) for t, k in e.terms if not _is_const(t)]
            return f"_linear({const_text(const)}, ({', '.join(parts)},))"
        case Mul():
            return f"_linear(0, ({_scaled(e, 1)},))"
        case FloorDiv() | Mod() | CeilDiv():
            return f"_{type(e).__name__.lower()}({_build(e.a)}, {_build(e.b)})"
        case Min():
            return f"_minimum({', '.join(map(_build, e.args))})"
        case Max():
            return f"_maximum({', '.join(map(_build, e.args))})"
    raise AssertionError(e)


def _scaled(t: Expr, k: int) -> str:
    """A ``(term, coefficient)`` pair of a sum."""
    if isinstance(t, Mul):
        scale = [f for f in t.factors if _is_const(f)]
        rest = [f for f in t.factors if not _is_const(f)]
        term = _build(rest[0]) if len(rest) == 1 else f"_mul({', '.join(map(_build, rest))})"
        return f"({term}, {const_text(core.mul(k, *scale))})"
    return f"({_build(t)}, {k})"


def pairs(args: tuple[Expr, ...]) -> Iterator[tuple[Expr, Expr, tuple[Expr, ...]]]:
    """Every pair of arguments of an extremum, with the others."""
    for i in range(len(args)):
        for j in range(i + 1, len(args)):
            yield args[i], args[j], args[:i] + args[i + 1 : j] + args[j + 1 :]


def rejoined(e: Min | Max, x: Expr, y: Expr, joined: Expr, others: tuple[Expr, ...]) -> Expr | None:
    """The extremum ``e`` with ``joined`` for its arguments x and y, if that descends in the order.

    One argument less descends in any case; otherwise what both became goes on with the others, and stands below one
    extremum more than they did.
    """
    whole = rebuild(e, (joined, *others))
    return whole if joined in (x, y) or measure(whole).values() < measure(e).values() else None
