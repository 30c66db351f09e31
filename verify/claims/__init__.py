"""A claims file is plain text in which a person claims things about indexing maps and programs, and says of
each claim whether it is expected to hold.

    section Slices

    hlo strided
      p0 = f32[10, 20] parameter(0)
      s = f32[5, 3] slice(p0), slice={[5:10:1], [3:20:7]}

    s -> p0 :
      (d0, d1) -> (d0 + 5, d1 * 7 + 3)

    p0 -> s :
      (d0, d1) -> (d0 - 5, (d1 - 3) floordiv 7)
      domain:
      d0 in [5, 9],
      d1 in [3, 17]
    expect REFUTED    # the constraint on (d1 - 3) mod 7 is missing

    claim splitting_a_row
      simplify (d0, d1) -> ((20d0 + d1) floordiv 20, (20d0 + d1) mod 20), domain: d0 in [0, 9], d1 in [0, 19]
      to (d0, d1) -> (d0, d1)

## Lines

A line that begins in the first column begins a statement; indented and empty lines belong to the statement
above. A ``#`` at the beginning of a line or after a space begins a comment, except in a string.

## Statements

- ``section TEXT``: a heading for the claims below.
- ``hlo NAME`` and, indented below, HLO: instructions, or computations such as ``f { … }`` and ``ENTRY main
  { … }``. The op claims below it, up to the next ``hlo`` or ``section``, are about the entry computation
  (the last, if none is marked).
- ``claim NAME`` and, indented below or after a colon, a claim about maps:
    - ``MAP == MAP``: both have the same relation, that is, the same pairs of source and target;
    - ``MAP within MAP`` (or ``⊆``): every pair of the first is one of the second; ``MAP covers MAP`` (or
      ``⊇``): the other way round;
    - ``simplify MAP to MAP``: the simplifier makes exactly the second map of the first, up to the names of
      variables and the order of constraints, and both are proved equal.
    - ``property NAME ARGUMENTS : MAP``, for *disjoint* and *inverse* with ``and MAP`` behind it: what programs rely
      on, as in ``property injective over=d0 : MAP``, ``property covers shape=8,128 : MAP`` or ``property contiguous
      along=s0 width=4 : MAP``. Names and arguments are those of ``indexproof property``.
- ``ENDPOINT -> ENDPOINT : MAP``, a claim about the program above: these elements belong together. An
  endpoint is the name of an instruction, ``NAME[k]`` for the k-th array of a tuple, ``output`` for the
  root, or ``()`` for the imagined operand of an instruction that has none, such as iota. One endpoint must
  be computed from the other, in any number of steps: ``output -> p0`` says which elements of ``p0`` an
  element of the output reads, ``p0 -> output`` which elements of the output read an element of ``p0``.
    - Several maps are joined by ``and``: a pair belongs together if one of them has it. ``nothing`` stands
      for no map.
    - ``ENDPOINT -> ENDPOINT within MAP`` (or ``⊆``) claims less: what belongs together lies within the map,
      which may name more. This is the true form of an over-approximation. With ``covers`` (or ``⊇``) the
      map may name less.
    - Several claims about the same pair, such as a wrong one and the right one, are counted: the second is
      called ``PROGRAM: ENDPOINT -> ENDPOINT (2)``.
- ``expect PROVED`` or ``expect REFUTED``: the verdict expected for the claim above; ``PROVED`` where
  nothing is said.

## Maps

Maps are written in the textual notation or in JSON, on as many lines as they need. Bounds may be left out
where they are known: the second map of a claim has those of the first for variables of the same name, and
the dimensions of a map in an op claim run over the array.

A runtime variable in an op claim may say which element it is read from, on a line ``hlo: INSTRUCTION`` with
the map to the element on the next line; the name of the instruction is enough. Without that it stands for
the value of the same name, or else of the same place, in the map that the op really has.

## Verdicts

An op claim is compared with the map that follows from the proved declarations of the ops, by composition
along every path from the one instruction to the other. The verdict is ``PROVED`` or ``REFUTED``; a false
claim is answered with an element, what the claim and what the program say of it, and the right map. It is
further said whether a map that is not exact is an *over-approximation* (it names all that it should and
more, among elements that exist) or *wrong* (it misses something, or names what does not exist).

A run is successful when every verdict is the expected one. In the files that come with the package, a comment
that begins with ``#:`` repeats the answer to the claim above it.
"""

from __future__ import annotations

from .evaluate import Accuracy, ClaimResult, check_claim, check_claims, maps_text
from .reader import read_claims
from .statements import Claim, ClaimsFile, Comparison, Dependence, PropertyClaim, Relation, Simplification

__all__ = [
    "Accuracy",
    "Claim",
    "ClaimResult",
    "ClaimsFile",
    "Comparison",
    "Dependence",
    "PropertyClaim",
    "Relation",
    "Simplification",
    "builtin_claims",
    "check_claim",
    "check_claims",
    "maps_text",
    "read_claims",
]


def builtin_claims() -> list[ClaimsFile]:
    """The claims files that come with the package: every map that the published descriptions print."""
    from importlib.resources import files

    folder = files(__package__.split(".", maxsplit=1)[0]) / "rules" / "claims"
    found = sorted((f for f in folder.iterdir() if f.name.endswith(".claims")), key=lambda f: f.name)
    return [read_claims(f.read_text("utf-8"), f.name) for f in found]
