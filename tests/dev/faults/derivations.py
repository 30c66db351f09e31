"""Derivations with plausible single steps that lead to a different map: none may be accepted."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from indexproof.core.derivation import ConstraintChange, Derivation, MapChange
from indexproof.core.expr import Expr, integer, var
from indexproof.core.indexing_map import Constraint, IndexingMap, RuntimeSource
from indexproof.core.rewrite import ConstraintRule
from indexproof.core.text import parse_map
from indexproof.rules.catalog import RULES
from indexproof.verify.derivation import DerivationRefused, check_derivation

from .fault import Batch, Fault

__all__ = ["by_changes", "derivation_cases", "forged_derivations"]

d0, rt0 = var("d0"), var("rt0")


def by_changes(*maps: IndexingMap) -> Derivation:
    """Return the derivation from the first map to the last by changes of the whole map."""
    return Derivation(maps[0], maps[-1], tuple(MapChange("changed", a, b) for a, b in pairwise(maps)))


def _reading(hlo: str, *at: Expr) -> IndexingMap:
    """Return a map that adds a runtime value, without a source if ``hlo`` is empty."""
    source = RuntimeSource(hlo, at) if hlo else None
    return IndexingMap.of([("d0", 0, 9)], rts=[("rt0", 0, 5, source)], results=[d0 + rt0])


def _known(first: str, second: str, result: str) -> IndexingMap:
    """Return a map with two runtime variables, one of which is the result."""
    return IndexingMap.of(rts=[(first, 0, 5), (second, 0, 5)], results=[var(result)])


def _clamped(hi: int, *constraints: tuple[Expr, int, int]) -> IndexingMap:
    return IndexingMap.of([("d0", 0, 3)], rts=[("rt0", 0, hi)], results=[d0 + rt0], constraints=constraints)


def _narrowed(far: int, near: int) -> Derivation:
    """Return the derivation that shrinks the box [0, far] to [0, near] by claiming tighter bounds."""
    rule = RULES["bounds_meet_range"]
    assert isinstance(rule, ConstraintRule)
    before, after = Constraint(d0, 0, far), Constraint(d0, 0, near)
    bounds = {"lo": 0, "hi": far, "a": -near, "b": near}
    binding: dict[str, Expr] = {"x": d0, **{n: integer(k) for n, k in bounds.items()}}
    maps = [IndexingMap.of([("d0", c.lo, c.hi)], results=[d0]) for c in (before, after)]
    return Derivation(maps[0], maps[1], (ConstraintChange(rule, binding, (before,), (after,)),))


def forged_derivations() -> dict[str, Derivation]:
    """Return the forged derivations by description."""
    a, b = "a = s32[10] parameter(0)", "b = s32[10] parameter(1)"
    one, two = IndexingMap.of([("d0", 0, 3)], results=[d0]), IndexingMap.of([("d0", 0, 3)], results=[d0 + 7])
    nowhere = IndexingMap.of([("d0", 0, 3)], rts=[("rt0", 0, -1)], results=[d0])
    maps: dict[str, tuple[IndexingMap, ...]] = {
        "a value is read elsewhere, after its source was forgotten": (_reading(a), _reading(""), _reading(b)),
        "another element is read, likewise": (_reading(a, d0), _reading(""), _reading(a, integer(0))),
        "a source is forgotten": (_reading(a), _reading("")),
        "a source is invented": (_reading(""), _reading(a)),
        "two values exchange their names": (_known("a", "b", "a"), _known("c", "b", "c"), _known("c", "a", "c"),
            _known("b", "a", "b"), _known("a", "b", "b")),
        "one value leaves and another takes its place": (_known("a", "b", "a"), IndexingMap.of(rts=[("b", 0, 5)],
            results=[var("b")])),
        "a value is clamped where it was refused": (_clamped(9, (rt0, 0, 5)), _clamped(5)),
        "a value that there is not makes all maps equal": (one, nowhere, two),
        "a value that there is not leaves": (nowhere, one),
    }  # fmt: skip
    texts = {
        "a dimension leaves and comes back elsewhere": ("(d0, d1) -> (d0), domain: d0 in [0, 9], d1 in [0, 9]",
            "(d0) -> (d0), domain: d0 in [0, 9]", "(d1, d0) -> (d0), domain: d1 in [0, 9], d0 in [0, 9]"),
        "a dimension comes back with another box": ("(d0, d1) -> (d0), domain: d0 in [0, 9], d1 in [0, 9]",
            "(d0) -> (d0), domain: d0 in [0, 9]", "(d0, d1) -> (d0), domain: d0 in [0, 9], d1 in [0, 99]"),
        "a dimension comes from a range that comes from nowhere": ("(d0) -> (d0), domain: d0 in [0, 9]",
            "(d0)[s0] -> (d0), domain: d0 in [0, 9], s0 in [0, 9]",
            "(d0, d1) -> (d0), domain: d0 in [0, 9], d1 in [0, 9]"),
        "dimensions change their order while another leaves":
            ("(d0, d1, d2) -> (d0 * 2 + d1), domain: d0 in [0, 9], d1 in [0, 9], d2 in [0, 9]",
            "(d1, d0) -> (d0 * 2 + d1), domain: d1 in [0, 9], d0 in [0, 9]"),
        "all dimensions are other ones": ("(d0, d1)[s0] -> (0), domain: d0 in [0, 9], d1 in [0, 9], s0 in [0, 3]",
            "(d2) -> (0), domain: d2 in [0, 3]"),
        "an empty dimension leaves": ("(d0, d1) -> (d0), domain: d0 in [0, 9], d1 in [0, -1]",
            "(d0) -> (d0 + 7), domain: d0 in [0, 99]"),
    }  # fmt: skip
    maps |= {name: tuple(map(parse_map, given)) for name, given in texts.items()}
    found = {name: by_changes(*given) for name, given in maps.items()}
    # a box that is being rewritten is no fact, even with large numbers
    far = 10**41
    found["a box shrinks to a tenth"] = _narrowed(far, far // 10)
    found["a box shrinks by one"] = _narrowed(far, far - 1)
    return found


def derivation_cases(_: Batch) -> Iterator[Fault]:
    """Yield the case of every forged derivation, with all rules trusted."""
    for name, d in forged_derivations().items():
        try:
            check_derivation(d, RULES)
            noticed = ""
        except DerivationRefused:
            noticed = "the checker"
        yield Fault("derivation", name, noticed)
