"""Commands about one map or two: equality, properties, simplification, widths, conversion."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import typer

from ...core.errors import InputError
from ..layout import put
from .frame import FALSE, PROVED, emit, emit_json, finish, say, status_of
from .given import any_maps, as_map, certify, concrete_map, given_text, integers, one_size

if TYPE_CHECKING:
    from ...core.parametric import ParametricMap


def equal(left: str, right: str, *, at: str = "", pointwise: bool = False, json: bool = False) -> None:
    """Decide whether two maps, or HLO instructions, are the same.

    Two maps are the same if they have the same relation: whatever the order of the ranges, a source reaches
    the same targets. With --pointwise ranges correspond by position too. Dimensions correspond by position,
    runtime variables by what they read, parameters by name. Maps that differ are answered with the smallest
    source and target that only one of them relates, and every subterm's value there. Two HLO instructions are compared by
    what they read, operand for operand, and an instruction with one operand also with a map. Of a
    collective that is what it reads on its own device: groups and channels are not compared.

    Args:
        pointwise: Demand the same target for the same values of dimensions and ranges, as replacing one map
            by the other requires.
    """
    import shlex

    from ...verify.claims.instructions import is_instruction
    from ...verify.parametric import equal_for_all_sizes
    from ...verify.words import difference
    from ..machine import answer_json

    if left == right == "-":
        expected = "one of them from standard input, the other as text or @FILE"
        raise InputError("both maps are -", expected=expected)
    texts = given_text(left), given_text(right)
    options = [*(["--pointwise"] if pointwise else []), *(["--at", at] if at else [])]
    again = "" if "-" in (left, right) else shlex.join(["indexproof", "equal", *options, left, right])
    if any(map(is_instruction, texts)):
        if pointwise:
            raise InputError("--pointwise compares maps", expected="two maps instead of instructions")
        _equal_instructions(*texts, json, again)
    one, two = any_maps([(texts[0], "first map"), (texts[1], "second map")], at)
    answer = equal_for_all_sizes(one, two, "pointwise" if pointwise else "relation")
    status = status_of(answer.verdict.value)
    finish(
        status,
        json,
        lambda: answer_json("equal", answer, status, one, two, mode=answer.mode),
        lambda: difference(answer, one, two, again=again),
    )


def _equal_instructions(left: str, right: str, json: bool, again: str) -> NoReturn:
    """Compare two HLO instructions, or an instruction with a map."""
    from ...verify.claims.instructions import compare_instructions, compare_with_map, is_instruction
    from ..maps import instruction_difference, instructions_json

    if not is_instruction(left):
        answers = [compare_with_map(right, as_map(left, "first map"), map_first=True)]
    elif not is_instruction(right):
        answers = [compare_with_map(left, as_map(right, "second map"))]
    else:
        answers = compare_instructions(left, right)
    found = {status_of(a.answer.verdict.value) for a in answers}
    status = FALSE if FALSE in found else max(found)

    def text() -> str:
        return "\n".join(instruction_difference(a, again=again) for a in answers)

    finish(status, json, lambda: instructions_json(answers, status), text)


def property_(
    name: str,
    text: str,
    other: str = "",
    *,
    at: str = "",
    shape: str | None = None,
    over: str | None = None,
    along: str | None = None,
    width: str | None = None,
    by: str | None = None,
    strict: bool = False,
    certificates: Path | None = None,
    confirm: bool = False,
    json: bool = False,
) -> None:
    """Decide a property of a map, or of two.

    A point assigns values to dimensions and ranges, its target is the results. injective: no two points have
    one target (with --over th_x: no two threads do, so there is no race). covers: every index of the shape is
    a target. bijective: both, within the shape. in_bounds: every target is an index of the shape. disjoint:
    two maps have no common target. inverse: each map is the inverse of the other. contiguous: the elements of
    vectors along a variable are adjacent. aligned: places in memory are multiples. monotone: a later point
    has no earlier target. A false property is answered with the smallest points that show it. A map with
    parameters has the property for all sizes that its domain allows, or a condition on sizes is searched for;
    --shape, --width and --by may be made of parameters, as in n*k,128.

    Args:
        name (NAME): injective, covers (or surjective), bijective, in_bounds, disjoint, inverse, contiguous,
            aligned or monotone.
        other (MAP): The second map, for disjoint and inverse.
        shape (N,...): The shape of the tensor that the map leads to.
        over (VARS): injective: only points that differ in one of these count.
        along (VAR): The variable that numbers the elements of a vector.
        width (N): contiguous: elements of a vector; without it those of the widest aligned ones up to 16 that are
            proved.
        by (N): aligned: the number of elements.
        strict: monotone: later points have later targets.
        certificates (DIR): Write a certificate of each proof for all sizes.
        confirm: Let a second engine decide the same independently.
    """
    from ...core.indexing_map import IndexingMap
    from ...verify.obligation import Obligation
    from ...verify.parametric import condition_on_sizes, decide_for_all_sizes
    from ...verify.properties import vector_width
    from ...verify.words import answer_text
    from ..machine import property_json

    texts = [(text, "map"), *([(other, "second map")] if other else [])]
    maps = any_maps([(given_text(t), said) for t, said in texts], at)
    concrete = [m for m in maps if isinstance(m, IndexingMap)]
    symbolic = len(concrete) < len(maps)
    sizes: Any = shape
    if shape is not None:
        named = [n.strip() for n in shape.split(",") if n.strip()]
        sizes = named if symbolic else integers("--shape", shape)
    variables = None if over is None else [n.strip() for n in over.split(",")]
    given: dict[str, Any] = {"shape": sizes, "over": variables, "along": along}
    counts = {"width": width, "by": by}
    given |= {key: one_size(f"--{key}", x, symbolic) for key, x in counts.items() if x is not None}
    given |= {"strict": strict or None, "confirm": confirm or None}
    given = {key: value for key, value in given.items() if value is not None}
    if name == "contiguous" and along is not None and width is None and maps:
        widest, _ = vector_width(maps[0], along, given.get("shape"), decide=decide_for_all_sizes)
        given["width"] = max(widest, 2)
    proved: list[Obligation] = []
    answer = decide_for_all_sizes(name, maps, **given, proved=proved)
    found = None
    if symbolic and answer.counterexample is not None:
        found = condition_on_sizes(name, maps, **{k: x for k, x in given.items() if k != "confirm"})
    if certificates is not None:
        if not symbolic:
            said = "--certificates: these are of proofs for all sizes"
            raise InputError(said, expected="a map with parameters")
        certify(proved, certificates)
    status = status_of(answer.verdict.value)
    said = f"contiguous, {given['width']} elements" if "width" in given else name
    more = {"condition": found} if symbolic else {}
    finish(
        status,
        json,
        lambda: property_json(name, maps, given, answer, status, **more),
        lambda: answer_text(answer, said, maps) + (f"\n  holds    if {found}" if found else ""),
    )


def simplify(
    text: str,
    *,
    at: str = "",
    explain: bool = False,
    validate: bool = False,
    json: bool = False,
    remove_unused: bool = False,
    rescale_ranges: bool = False,
    ranges_to_dims: bool = False,
    keep_point_dims: bool = False,
    minimize: str = "cost",
    quick: bool = False,
    keep_width: bool = False,
    as_computed: bool = False,
) -> None:
    """Simplify a map with the rules that were proved.

    A remainder beside its quotient is computed as a difference, `d0 + (d0 floordiv 8) * -8`, and shown as
    `d0 mod 8`; --as-computed and --explain show the difference, and --json always has it.

    No solver is asked unless with --validate, which then also decides the exit status. Options that change
    the variables print what became of them, and --validate then compares with the result read that way.
    A note on standard error says when the result needs wider integers than the map.

    Of a map with parameters every step is proved for all sizes; it is simplified less, and has no other options.

    Args:
        explain: Print every step: rule, place, values, and the facts it rests on.
        validate: Prove the result equal to the map, by two engines.
        remove_unused: Remove variables that the map does not need.
        rescale_ranges: Replace ranges with a fixed remainder by ranges that count quotients.
        ranges_to_dims: Make the ranges further dimensions.
        keep_point_dims: Keep variables with only one value in the results.
        minimize (MEASURE): cost (a division weighs as much as 3 other operations), operations, divisions, or
            N: what a division weighs.
        quick: Return the normal forms, without a search for cheaper expressions.
        keep_width: Compute nothing in wider machine integers than the map needs.
        as_computed: Print remainders as the differences that are computed.
    """
    from ...core.cost import weight_of
    from ...core.explain import explained
    from ...core.parametric import ParametricMap
    from ...core.room import widening
    from ...core.text import format_map
    from ...core.transform import reduce_map
    from ...rules.catalog import RULES
    from ..maps import map_with_remainders

    found = any_maps([(given_text(text), "map")], at)[0]
    if isinstance(found, ParametricMap) and not (explain or remove_unused or rescale_ranges or ranges_to_dims):
        _simplify_for_all_sizes(found, validate, json)
    before = concrete_map(str(found), "map") if isinstance(found, ParametricMap) else found
    steps: list[Any] = []
    reduced = reduce_map(
        before,
        RULES,
        steps if explain or json else None,
        unused=remove_unused,
        unused_dims=remove_unused,
        rescale=rescale_ranges,
        eliminate=remove_unused,
        to_dims=ranges_to_dims,
        renumber=remove_unused,
        keep_points=keep_point_dims,
        division_weight=weight_of(int(minimize) if minimize.isdecimal() else minimize),
        quick=quick,
        keep_width=keep_width,
    )
    after = reduced.map
    wider = widening(before, after)
    changes = remove_unused or rescale_ranges or ranges_to_dims
    status = PROVED
    answer = None
    if validate:
        from ...verify.concrete import equal_maps

        answer = equal_maps(reduced.before, reduced.restored(), confirm=True)
        status = status_of(answer.verdict.value)
    if json:
        from ...core.derivation_json import derivation_to_json
        from ..derivation import steps_json
        from ..machine import answer_json
        from ..serializer import plain

        derivation = explained(before, after, steps)
        more = {"steps": steps_json(derivation), "derivation": derivation_to_json(derivation)}
        more |= {"wider": wider, **(plain(reduced) if changes else {})}
        emit_json(answer_json("simplify", answer, status, before, after, **more))
        raise typer.Exit(status)
    if explain:
        from ..derivation import derivation_text

        emit(derivation_text(explained(before, after, steps)))
    emit(format_map(after if as_computed or explain else map_with_remainders(after)))
    if wider:
        say(f"note: {wider}; --keep-width writes it in other ways")
    if changes:
        from ...core.transform import record_text

        emit(record_text(reduced) or "no variable changed")
    if answer is not None:
        from ...verify.words import difference

        emit(difference(answer, before, reduced.restored(), names=("before", "after")))
    raise typer.Exit(status)


def _simplify_for_all_sizes(before: ParametricMap, validate: bool, json: bool) -> NoReturn:
    """Print a map with parameters in a simpler form."""
    from ...verify.parametric import equal_for_all_sizes, simplified
    from ...verify.words import difference
    from ..machine import answer_json

    after = simplified(before)
    answer = equal_for_all_sizes(before, after, confirm=True) if validate else None
    status = PROVED if answer is None else status_of(answer.verdict.value)
    lines = [str(after)]
    if answer is not None:
        lines.append(difference(answer, before, after, names=("before", "after")))
    document = partial(answer_json, "simplify", answer, status, before, after)
    finish(status, json, document, lambda: "\n".join(lines))


def width(text: str, *, at: str = "", bits: int | None = None, each: bool = False, json: bool = False) -> None:
    """Say which machine integers a map needs.

    That is int32 if no subexpression overflows on its domain, or int64. The answer is exact. Of each width
    that is too small it names the first subexpression that overflows, and the smallest point where it does;
    reports/semantics.md says what the subexpressions are.

    Args:
        bits (N): Fail unless so many bits, 32 or 64, are enough.
        each: Name the smallest type of every subexpression, from int8 on.
    """
    from ...verify.width import subexpression_widths
    from ...verify.width import width as machine_width
    from ...verify.words import each_text, width_text, width_verdict
    from ..maps import width_json

    if bits not in (None, 32, 64):
        raise InputError(f"--bits: there are no integers of {bits} bits here", expected="32 or 64")
    m = concrete_map(given_text(text), "map", at)
    answer = machine_width(m)
    status = status_of(width_verdict(answer, bits).value)
    parts = subexpression_widths(m) if each else None

    def text_of() -> str:
        whole = width_text(answer, bits)
        return whole if parts is None else f"{whole}\n{each_text(parts, m)}"

    finish(status, json, lambda: width_json(answer, m, bits, status, parts), text_of)


def convert(
    text: str, *, to: str, at: str = "", domain: str = "", checked: bool = False, name: str = "", simple: bool = False
) -> None:
    """Print a map in another form.

    python and c are functions of the variables, with common subexpressions computed once; the integers of c
    are those that `indexproof width` finds. mlir is an affine_map with its domain as an affine_set.

    Args:
        text (MAP): A map as text, as JSON or as affine_map<...>; @FILE, or - for standard input.
        to (FORM): text, json, mlir, python, c, sympy, tvm or isl.
        domain (SET): The domain of an affine_map that no affine_set<...> follows, as such; @FILE.
        checked: Functions (python, c) that say where the map has no value.
        name (NAME): The name of the function.
        simple (--simplify): Simplify the map first; functions need no wider integers for it.
    """
    from ..convert import converted, read_any

    if domain == text == "-":
        raise InputError("both map and domain are -", expected="both in this order in one text")
    given = given_text(text)
    if at:
        (m,) = any_maps([(given, "map")], at)
    else:
        m = as_map(given, "map", lambda t: read_any(t, given_text(domain)))
    put(converted(m, to, checked=checked, name=name, simple=simple), sys.stdout)
