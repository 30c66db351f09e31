"""C source of maps: C99, integers of one width, no undefined behaviour on the domain.

C's ``/`` and ``%`` round towards zero.  Where the dividend is never negative and the divisor positive, they equal floor
division and remainder and are used; elsewhere a helper function corrects them.  The steps are those of the program, in
its order, so the width of a map (reports/semantics.md, "Machine integers") holds for its code.  If the lean program is
shorter and intervals show that it needs no wider integers, its steps are used instead.  A map that was simplified with
``keep_width`` (:mod:`..room`) needs no wider integers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Final, NamedTuple

from ..errors import InputError, TooLargeError, quoted
from ..indexing_map import IndexingMap, RuntimeVariable, expect_map
from ..interval import Interval
from .program import WIDTHS, Operation, Program, domain_knowledge, fits, limits
from .statements import ATOM, CHOICE, PRODUCT, SIGN, SUM, Language, Names, Piece, Statements

_SIGNS: Final = {"floordiv": " / ", "mod": " % "}
_MAX_COMMENT: Final = 400  # limit on the length of the map that is repeated above its function, in characters

#: Words that C, C++ or a common header reserves.
_CLAIMED: Final = """
    alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t char32_t class
    compl complex concept const const_cast consteval constexpr constinit continue co_await co_return co_yield
    decltype default delete do double dynamic_cast else enum explicit export extern false far float for fortran
    friend goto huge i386 if imaginary inline int interrupt linux long main mutable namespace near new noexcept
    noreturn not not_eq nullptr operator or or_eq pascal private protected public register reinterpret_cast
    requires restrict return short signed sizeof static static_assert static_cast struct switch template this
    thread_local throw true try typedef typeid typename typeof typeof_unqual union unix unsigned using virtual
    void volatile wchar_t while xor xor_eq result errno assert stdin stdout stderr
"""
_PLAIN_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9]*(_[A-Za-z0-9]+)*_*\Z")
_RESERVED_NAME: Final = re.compile(r"\w+_t\Z|[A-Z][A-Z0-9_]*\Z|u?int\d+\w*\Z")

#: With include guards, so that functions for several maps can be in one file.
_HELPER: Final = """\
#ifndef INDEXPROOF_{guard}
#define INDEXPROOF_{guard}
{text}#endif
"""
_HELPERS: Final = {
    "floordiv": """\
/* a / b, rounded down */
static inline {type} {name}({type} a, {type} b)
{{
    {type} q = a / b;
    return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}}
""",
    "floormod": """\
/* a - b * (a / b, rounded down); the remainder by -1 is undefined in C for the least integer */
static inline {type} {name}({type} a, {type} b)
{{
    {type} r = b == -1 ? 0 : a % b;
    return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}}
""",
    "ceildiv": """\
/* a / b, rounded up */
static inline {type} {name}({type} a, {type} b)
{{
    {type} q = a / b;
    return a % b != 0 && (a < 0) == (b < 0) ? q + 1 : q;
}}
""",
}


_WORDS: Final = frozenset([*_CLAIMED.split(), *(f"{h}{bits}" for h in _HELPERS for bits in WIDTHS)])


def _refused(name: str) -> bool:
    """Return whether ``name`` may already have a meaning in C."""
    return name in _WORDS or not _PLAIN_NAME.match(name) or _RESERVED_NAME.match(name) is not None


class _C(Language):
    """Signed integers of ``bits`` bits; ``ranges`` are the ranges of the steps at the point of the next statements."""

    def __init__(self, program: Program, bits: int, ranges: Sequence[Interval]) -> None:
        super().__init__(program)
        self.bits = bits
        self.type = f"int{bits}_t"
        self.ranges = ranges
        self.helpers: set[str] = set()

    def literal(self, n: int) -> Piece:
        if n in (limits(32).lo, limits(64).lo):
            # without INT_MIN the digits would be a literal of a wider type, or of no type at all
            return Piece("INT32_MIN" if n == limits(32).lo else "INT64_MIN")
        return super().literal(n)

    def _plain(self, k: int) -> bool:
        """Return whether C's own division is exact here: the dividend is nonnegative and the divisor positive."""
        a, b = (self.ranges[i] for i in self.program.steps[k].args)
        return a.empty or b.empty or (a.lo >= 0 and b.lo > 0)

    def repeats(self, k: int) -> bool:
        # with C's own division, rounding up uses the operands twice, for quotient and remainder
        return super().repeats(k) or self.program.steps[k].op == "ceildiv"

    def special(self, k: int, op: Operation, a: Piece, b: Piece) -> tuple[str, int]:
        if op in ("minimum", "maximum"):
            relation = "<" if op == "minimum" else ">"
            return f"{a.at(SUM)} {relation} {b.at(SUM)} ? {a.at(SUM)} : {b.at(SUM)}", CHOICE
        if self._plain(k):
            if op == "ceildiv":
                return f"{a.at(PRODUCT)} / {b.at(SIGN)} + ({a.at(PRODUCT)} % {b.at(SIGN)} != 0)", SUM
            return a.at(PRODUCT) + _SIGNS[op] + b.at(SIGN), PRODUCT
        helper = "floormod" if op == "mod" else op
        self.helpers.add(helper)
        return f"{helper}{self.bits}({a.text}, {b.text})", ATOM

    def definitions(self) -> list[str]:
        """Return the definitions of the helper functions that are called."""
        found = []
        for helper, text in _HELPERS.items():
            if helper in self.helpers:
                name = f"{helper}{self.bits}"
                found.append(_HELPER.format(guard=name.upper(), text=text.format(type=self.type, name=name)))
        return found

    def assignment(self, name: str, text: str) -> str:
        return f"const {self.type} {name} = {text};"


def c_source(m: IndexingMap, *, checked: bool = False, bits: int | None = None, name: str = "") -> str:
    """Return a C function of the variables of ``m``: dimensions, ranges and runtime variables in this order.

    It is ``void indexing_map(d0, …, result)`` and stores the results.  With ``checked`` it returns whether the point is
    in the domain, and stores nothing outside.  Otherwise the caller must ensure that it is.

    All integers have ``bits`` bits.  The default is the smallest width in which intervals show that no step overflows.
    If ``bits`` is given, the caller must ensure that it suffices, for instance by
    :func:`indexproof.verify.width.width`. Sources of functions with different names can be concatenated in one file.
    Raises :class:`~indexproof.core.errors.InputError` if intervals do not show that 64 bits suffice, or if ``name`` is
    not a valid name of a function.
    """
    expect_map(m)
    name = name or "indexing_map"
    if _refused(name):
        raise InputError(f"{quoted(name)} is no name for a function", expected="a C identifier")
    if bits is not None and bits not in WIDTHS:
        raise InputError(f"there are no integers of {bits} bits here", expected="32 or 64")
    variables = [v.expr for v in m.variables]
    roots, count = [*m.results, *(c.expr for c in m.constraints)], len(m.results)

    def known(program: Program) -> _Known:
        tested = {*range(program.inputs), *program.needed(program.outputs[count:])} if checked else set()
        return _Known(
            program,
            program.ranges(m.bounds),
            program.ranges(m.bounds, domain_knowledge(m, program)),
            tested,
            tested | {*range(program.inputs), *program.needed(program.outputs[:count])},
        )

    plain = known(Program.of(roots, variables))
    # constraints are evaluated at any point of the box, so their width must follow from intervals
    least = _width((plain.box[k] for k in plain.tested), m, "the constraints of ")
    if bits is not None and bits < least:
        raise InputError(
            f"intervals do not show that {bits} bits are enough to test the constraints", expected="64 bits"
        )
    if bits is None:
        bits = max(least, _width((plain.inside[k] for k in plain.needed), m))
    used = plain
    if (shorter := plain.program.shortened(roots, variables)) is not plain.program:
        lean = known(shorter)
        width = fits((lean.box if checked else lean.inside)[k] for k in lean.needed)
        if width is not None and width <= bits:
            used = lean
    program = used.program
    language = _C(program, bits, used.box if checked else used.inside)
    statements = Statements(program, language, Names(_refused, (name,)))
    lines, inputs = statements.lines, statements.inputs
    if checked:
        for v, x in zip(m.variables, inputs, strict=True):
            lines += _unless_within(language, partial(str, x), v.lo, v.hi)
        for c, k in zip(m.constraints, program.outputs[count:], strict=True):
            if not used.box[k].inside(Interval(c.lo, c.hi)):
                lines += _unless_within(language, partial(statements.name, k), c.lo, c.hi)
    language.ranges = used.inside
    values = statements.compute(program.outputs[:count])
    lines += [f"result[{i}] = {v.text};" for i, v in enumerate(values)]
    if checked:
        lines.append("return true;")
    written = set(re.findall(r"[A-Za-z_]\w*", " ".join(lines)))
    body = [*(f"(void){x};" for x in (*inputs, "result") if x not in written), *lines]
    parameters = ", ".join([*(f"{language.type} {x}" for x in inputs), f"{language.type} *result"])
    text = _text(m)
    comment = f"/* {text} */\n" if 0 < len(text) <= _MAX_COMMENT else ""
    head = f"{comment}{'bool' if checked else 'void'} {name}({parameters})"
    headers = ["stdbool.h", "stdint.h"] if checked else ["stdint.h"]
    includes = "".join(f"#include <{h}>\n" for h in headers)
    function = f"{head}\n{{\n{''.join(f'    {line}{chr(10)}' for line in body)}}}\n"
    return "\n".join([includes, *language.definitions(), function])


class _Known(NamedTuple):
    """A program with the ranges of its steps on the box and on the domain, and its tested and needed steps."""

    program: Program
    box: list[Interval]
    inside: list[Interval]
    tested: set[int]
    needed: set[int]


def _width(ranges: Iterable[Interval], m: IndexingMap, part: str = "") -> int:
    """Return the width that the ranges show to be enough for ``m``, or for a ``part`` of it."""
    found = fits(ranges)
    if found is None:
        what = part + (quoted(_text(m), 80) if _text(m) else "what is so large")
        raise InputError(f"intervals do not show that 64 bits are enough for {what}", expected="smaller bounds")
    return found


def _unless_within(language: _C, name: Callable[[], str], lo: int, hi: int) -> list[str]:
    """Return code that leaves the function unless ``lo <= name() <= hi``; comparisons that are always true are omitted.

    ``name`` emits the code for the value, so it is called only where a comparison is needed.
    """
    machine = limits(language.bits)
    if lo > hi or lo > machine.hi or hi < machine.lo:
        return ["return false;"]
    ends = [(" < ", lo)] if lo > machine.lo else []
    ends += [(" > ", hi)] if hi < machine.hi else []
    tests = [name() + sign + language.literal(end).text for sign, end in ends]
    return [f"if ({' || '.join(tests)}) return false;"] if tests else []


def _text(m: IndexingMap) -> str:
    """Return the map in its notation, without the sources of runtime variables; empty where that is too long."""
    try:
        # the text of an instruction may contain the end of a comment
        return m.with_(rts=tuple(RuntimeVariable(r.name, r.lo, r.hi) for r in m.rts)).text()
    except TooLargeError:
        return ""
