"""The laws of transforms, which change the variables of a map (`core/transform`).

A map relates a source to a target if there are values of its variables that satisfy its domain and give the target as
results.  A transform replaces some variables by others.  Its law states the old and the new variables, each with its
box, the old ones as expressions of the new ones (which are substituted in results and constraints), and the new ones
as expressions of the old ones.  Both directions together imply that each domain is the image of the other, so the
relation of the map is unchanged.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..core.condition import Condition, all_of
from ..core.expr import Expr, ceildiv, lift, maximum, minimum, var
from ..core.transform.variables import rescaled_box

#: A variable with its lower and upper bound.
Box = tuple[Expr, Expr | int, Expr | int]


@dataclass(frozen=True, eq=False)
class TransformLaw:
    """The law that variables ``old``, under ``old_where``, may become ``new``, under ``new_where``, given ``when``.

    ``back`` has the old variables in terms of the new ones, ``there`` the new ones in terms of the old ones, in order.
    The rest of the map may depend on the old variables in any way, except on those in ``unseen``.  ``compute`` is the
    production function for the box of the single new variable, and receives the values of ``parameters``.  A law about
    empty domains is marked ``nowhere``.
    """

    name: str
    doc: str
    old: tuple[Box, ...]
    new: tuple[Box, ...]
    back: tuple[Expr | int, ...]
    there: tuple[Expr | int, ...]
    old_where: tuple[Condition, ...] = ()
    new_where: tuple[Condition, ...] = ()
    when: tuple[Condition, ...] = ()
    unseen: tuple[Expr, ...] = ()
    parameters: tuple[Expr, ...] = ()
    compute: Callable[..., tuple[int, int]] | None = None
    nowhere: bool = False

    def old_domain(self) -> tuple[Condition, ...]:
        """Return the conditions on the old variables."""
        return (*(v.within(lo, hi) for v, lo, hi in self.old), *self.old_where)

    def new_domain(self) -> tuple[Condition, ...]:
        """Return the conditions on the new variables."""
        return (*(v.within(lo, hi) for v, lo, hi in self.new), *self.new_where)

    def statement(self) -> str:
        """Return the law on one line."""
        # a variable that keeps its name is the same on both sides
        old, new = (_listed([v for v, _, _ in side]) for side in (self.old, self.new))
        left, right = all_of(self.old_domain()), all_of(self.new_domain())
        values = ", ".join(f"{v} = {lift(e)}" for (v, _, _), e in zip(self.old, self.back, strict=True))
        given = f"   when {all_of(self.when)}" if self.when else ""
        return f"∃ {old}: {left}  ⇔  ∃ {new}: {right}   by {values}{given}"


def _listed(variables: list[Expr]) -> str:
    return ", ".join(map(str, variables)) or "nothing"


s, t, u, v, x, y, e, m, r, c, lo, hi, d = map(var, ("s", "t", "u", "v", "x", "y", "e", "m", "r", "c", "lo", "hi", "d"))


def _clamped(raw: Expr) -> Expr:
    return minimum(maximum(raw, lo), hi)


TRANSFORM_LAWS: tuple[TransformLaw, ...] = (
    TransformLaw(
        "unused_variable_leaves",
        "A variable that nothing depends on can be dropped if its box is not empty.",
        old=((s, lo, hi),),
        new=(),
        back=(lo,),
        there=(),
        when=(lo <= hi,),
        unseen=(s,),
    ),
    TransformLaw(
        "same_element_has_one_value",
        "Two runtime variables that read the same element x within the same bounds can be merged.",
        old=((u, lo, hi), (v, lo, hi)),
        new=((u, lo, hi),),
        back=(u, u),
        there=(u,),
        old_where=(u.eq(_clamped(x)), v.eq(_clamped(x))),
        new_where=(u.eq(_clamped(x)),),
    ),
    TransformLaw(
        "range_rescales",
        "A range over the numbers congruent to r modulo m can count them instead.",
        old=((s, lo, hi),),
        new=((t, ceildiv(lo - r, m), (hi - r) // m),),
        back=(m * t + r,),
        there=((s - r) // m,),
        old_where=((s % m).eq(r % m),),
        when=(m > 0,),
        parameters=(m, r, lo, hi),
        compute=rescaled_box,
    ),
    TransformLaw(
        "range_starts_at_zero",
        "A range can be shifted to start at 0.",
        old=((s, lo, hi),),
        new=((t, 0, hi - lo),),
        back=(t + lo,),
        there=(s - lo,),
    ),
    TransformLaw(
        "range_turns_round",
        "A range can be reversed to count down from its upper bound.",
        old=((s, lo, hi),),
        new=((t, 0, hi - lo),),
        back=(hi - t,),
        there=(hi - s,),
    ),
    TransformLaw(
        "equation_gives_range",
        "A range that an equation determines as an expression e of other variables can be replaced by e, within its box.",
        old=((s, lo, hi),),
        new=(),
        back=(e,),
        there=(),
        old_where=(s.eq(e),),
        new_where=(e.within(lo, hi),),
    ),
    TransformLaw(
        "composition_carries_the_box",
        "The coordinate between two composed maps is a result e of the one, which must lie in the box of the other.",
        old=((d, lo, hi),),
        new=(),
        back=(e,),
        there=(),
        old_where=(d.eq(e),),
        new_where=(e.within(lo, hi),),
    ),
    TransformLaw(
        "range_becomes_dimension",
        "A range can become a coordinate of the source: the same targets are reached.",
        old=((s, lo, hi),),
        new=((d, lo, hi),),
        back=(d,),
        there=(s,),
    ),
    TransformLaw(
        "names_do_not_matter",
        "A variable can be given any unused name.",
        old=((x, lo, hi),),
        new=((y, lo, hi),),
        back=(y,),
        there=(x,),
    ),
    TransformLaw(
        "empty_domain",
        "All empty domains are equal.",
        old=((s, lo, hi),),
        new=((t, 0, -1),),
        back=(t,),
        there=(s,),
        when=(hi < lo,),
        nowhere=True,
    ),
)
