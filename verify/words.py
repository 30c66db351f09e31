"""Texts for people about verdicts on maps: equality, properties, machine integers, and derivations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from ..core.blocks import block, count, duration, point_text, table
from ..core.derivation import Derivation, MapChange
from ..core.errors import TooLargeError
from ..core.expr import Expr, Int, Integers, Var, interpret, postorder
from ..core.indexing_map import IndexingMap
from ..core.numerals import format_int
from ..core.text import format_expr
from .verdict import Status

if TYPE_CHECKING:
    from ..core.parametric import ParametricMap
    from .concrete.problem import Answer, Counterexample
    from .derivation import Checked, DerivationRefused
    from .width import Overflow, Subexpression, Width

    AnyMap = IndexingMap | ParametricMap


# ----------------------------------------------------------------------------------------------------- two maps
def tuple_text(values: Sequence[int] | None, otherwise: str = "nothing") -> str:
    """Format a tuple like ``(0, 1)``, or return ``otherwise`` for None."""
    return otherwise if values is None else f"({', '.join(map(str, values))})"


def _same_place(c: Counterexample, m: IndexingMap, other: IndexingMap) -> dict[Expr, int]:
    """Return the values of the variables of ``m`` at a counterexample, which uses the names of one of the two maps.

    Dimensions and ranges correspond by position, runtime variables by name and then by position.
    """
    names = list(c.values)
    own = [v.name for v in (*m.dims, *m.ranges)]
    theirs = [v.name for v in (*other.dims, *other.ranges)]
    holder = m if names[: len(own)] == own or names[: len(theirs)] != theirs else other
    env: dict[Expr, int] = {}
    for group, source in ((m.dims, holder.dims), (m.ranges, holder.ranges), (m.rts, holder.rts)):
        for k, v in enumerate(group):
            at = source[k].name if k < len(source) else v.name
            if group is m.rts and v.name in c.values:
                at = v.name
            if at in c.values:
                # a runtime value is clamped, to another box in the other map
                x = c.values[at]
                env[v.expr] = min(max(x, v.lo), v.hi) if group is m.rts else x
    return env


def sides_at(c: Counterexample, left: IndexingMap, right: IndexingMap) -> Iterator[tuple[str, str, int]]:
    """Yield side, term and value of every compound subexpression of both maps at a counterexample, innermost first."""
    for side, m, other in (("left", left, right), ("right", right, left)):
        env = _same_place(c, m, other)
        order = [v.expr for v in m.variables]
        known = [e for e in m.roots if all(v in env for v in e.variables())]
        values: dict[Expr, int] = {}
        interpret(known, Integers(env), values)
        # format the largest first, so that one too large to print is rejected before its parts are formatted
        terms = [e for e in reversed(list(postorder(*known))) if not isinstance(e, (Int, Var))]
        shown = [(format_expr(e, variables=order), int(values[e])) for e in terms]
        for term, value in reversed(shown):
            yield side, term, value


def difference(
    answer: Answer, left: AnyMap, right: AnyMap, *, again: str = "", names: tuple[str, str] = ("left", "right")
) -> str:
    """Describe whether two maps are equal, and if not, where they differ."""
    head = f"{answer.verdict.value}  "
    if answer.verdict is Status.PROVED and isinstance(left, IndexingMap) and isinstance(right, IndexingMap):
        return f"{head}{_equality(answer, left, right)}   by {answer.engine} in {duration(answer.seconds)}"
    if not (isinstance(left, IndexingMap) and isinstance(right, IndexingMap)):
        return answer_text(answer, "equal", (left, right))
    one, two = names
    lines = [(one, repr(left)), (two, repr(right))]
    c = answer.counterexample
    if c is None:
        head += "not decided"
        lines.append(("tried", "; ".join(answer.tried)))
    else:
        head += c.reason or "the maps differ"
        lines.append(("take", point_text(c.values) + ("" if c.minimal else "   (a smaller one may exist)")))
        for side, term, value in sides_at(c, left, right):
            lines.append((dict(zip(("left", "right"), names, strict=True))[side], f"{term} = {value}"))
        for name, m, other, target in ((one, left, right, c.left), (two, right, left, c.right)):
            lines.append((name, f"→ {tuple_text(target, _without_target(answer, m, other))}"))
            lines += [(name, said) for said in _violated(c, m, other)]
    if again:
        lines.append(("again", again))
    return block(head, lines)


def _equality(answer: Answer, left: IndexingMap, right: IndexingMap) -> str:
    """Describe which equality was proved; without ranges there is only one."""
    if answer.mode == "pointwise":
        return "equal at every point"
    if left.ranges or right.ranges:
        return "equal everywhere as relations, whatever the order of the ranges"
    return "equal everywhere"


def answer_text(answer: Answer, name: str = "", maps: Sequence[AnyMap] = ()) -> str:
    """Describe a decision and the points that show it; ``name`` is the property of the ``maps``."""
    if answer.sides is not None:
        with suppress(TooLargeError):
            return difference(answer, *answer.sides)
    head = answer.verdict.value
    c = answer.counterexample
    if answer.verdict is Status.PROVED:
        said = f"{name}   " if name else ""
        more = f", confirmed by {answer.confirmed_by}" if name and answer.confirmed_by else ""
        return f"{head}  {said}by {answer.engine} in {duration(answer.seconds)}{more}"
    lines = [("map", repr(m)) for m in maps]
    if c is None:
        return block(f"{head}  not decided", [*lines, ("tried", "; ".join(answer.tried))])
    if c.values:
        lines.append(("take", point_text(c.values) + ("" if c.minimal else "   (a smaller one may exist)")))
    targets = (c.left, c.right) if maps else ()
    lines += [("target" if not k else "and", tuple_text(t)) for k, t in enumerate(targets) if t is not None]
    return block(f"{head}  {c.reason}".rstrip(), lines)


def _without_target(answer: Answer, m: IndexingMap, other: IndexingMap) -> str:
    if len(m.dims) != len(other.dims):
        return f"nothing: a source has {count(len(m.dims), 'coordinate')} here"
    if answer.mode == "pointwise":
        return "nothing: the point is outside its domain"
    if m.ranges:
        return "does not reach this target from this source"
    return "nothing: the source is outside its domain"


def _violated(c: Counterexample, m: IndexingMap, other: IndexingMap) -> Iterator[str]:
    """Yield the bounds and constraints of ``m`` that a counterexample violates."""
    env = _same_place(c, m, other)
    for v in m.variables:
        x = env.get(v.expr)
        if x is not None and not v.lo <= x <= v.hi:
            yield f"{v.name} = {x} is not in [{v.lo}, {v.hi}]"
    for k in m.constraints:
        if all(v in env for v in k.expr.variables()):
            value = int(k.expr.evaluate(env))
            if not k.lo <= value <= k.hi:
                yield f"{format_expr(k.expr)} = {value} is not in [{k.lo}, {k.hi}]"


# ---------------------------------------------------------------------------------------------- machine integers
def width_verdict(answer: Width, bits: int | None) -> Status:
    """Return the verdict on whether ``bits``, or any width if None, suffice."""
    if answer.bits is None or bits is None or bits >= answer.bits:
        # the overflow of a width that is too small is known even if larger widths are undecided
        known = answer.verdict is Status.UNDECIDED and any(o.bits == bits for o in answer.overflows)
        return Status.REFUTED if known else answer.verdict
    return Status.REFUTED


def width_text(answer: Width, bits: int | None = None) -> str:
    """Describe which width suffices, and what overflows in smaller ones."""
    verdict = width_verdict(answer, bits)
    head = f"{verdict.value}  {_sentence(answer)}"
    if verdict is Status.PROVED:
        head += f"   by {', '.join(answer.engines)} in {duration(answer.seconds)}"
    m = answer.map
    order = [v.expr for v in m.variables] if m is not None else []
    lines = [("map", repr(m))] if m is not None and verdict is not Status.PROVED else []
    lines += [(f"int{o.bits}", f"{term_text(o, order)}{_overflowing(o)}") for o in answer.overflows]
    if answer.tried:
        lines.append(("tried", "; ".join(answer.tried)))
    return block(head, lines)


def each_text(parts: Sequence[Subexpression], m: IndexingMap | None = None) -> str:
    """Format a line for every subexpression: its type, and the value that overflows the next smaller one."""
    order = [v.expr for v in m.variables] if m is not None else []
    rows = []
    for p in parts:
        name = "undecided" if p.verdict is Status.UNDECIDED else "none" if p.bits is None else f"int{p.bits}"
        o = p.overflow
        said = "" if o is None else f"{format_int(o.value)} overflows int{o.bits}{_at(o)}"
        rows.append((f"  {name}", _term(p.expr, order), said))
    return "\n".join(table(rows))


def overflow_text(o: Overflow) -> str:
    """Describe the step that overflows a type, and where."""
    return f"int{o.bits}  {term_text(o, [])}{_overflowing(o)}"


def _overflowing(o: Overflow) -> str:
    return f" = {format_int(o.value)} overflows{_at(o)}"


def term_text(o: Overflow, order: list[Var]) -> str:
    """Describe the step that overflows."""
    return _term(o.expr, order)


def _term(e: Expr, order: list[Var]) -> str:
    try:
        return format_expr(e, variables=order)
    except TooLargeError as error:
        return f"<{type(e).__name__}: {error}>"


def _at(o: Overflow) -> str:
    where = f" at {point_text(o.values)}" if o.values else ""
    return where + ("" if o.minimal else "   (a smaller point may exist)")


def _sentence(answer: Width) -> str:
    if answer.verdict is Status.UNDECIDED:
        return "the width is not decided"
    if answer.bits is None:
        return "not even int64 is enough"
    smaller = [f"int{o.bits}" for o in answer.overflows]
    return f"int{answer.bits} is enough" + (f", {smaller[-1]} is not" if smaller else "")


# -------------------------------------------------------------------------------------------------- derivations
def replay_text(derivation: Derivation, checked: Checked | None, refused: DerivationRefused | None) -> str:
    """Describe whether a derivation holds: how its conditions were shown, or which step is wrong and why."""
    maps = [("map", repr(derivation.before)), ("result", repr(derivation.after))]
    if refused is not None:
        where = f"step {refused.step} of {len(derivation)}" if refused.step else "the derivation"
        lines = [*maps, ("because", refused.reason)]
        if refused.step:
            step = derivation.steps[refused.step - 1]
            lines.append(("step", step.why if isinstance(step, MapChange) else step.rule.statement()))
        return block(f"REFUTED  {where} is wrong", lines)
    assert checked is not None
    by = ", ".join(f"{n:,} by {name}" for name, n in checked.decided_by().most_common()) or "none"
    lines = [*maps, ("rules", ", ".join(derivation.rules()) or "none"), ("holds", f"conditions: {by}")]
    if checked.engines:
        lines.append(("changes", f"of the whole map, each proved: {', '.join(checked.engines)}"))
    if checked.removed_dims:
        lines.append(("removed", f"{', '.join(checked.removed_dims)}: nothing depends on it"))
    if checked.new_dims:
        lines.append(("new", f"{', '.join(checked.new_dims)}, a range of the map"))
    return block(f"PROVED  {count(len(derivation), 'step')}, each an instance of a proved rule", lines)
