"""Generated C against evaluation, compiled by the system's compiler with checks for undefined behaviour."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from indexproof import InputError, parse_map
from indexproof.core.codegen import c_code, c_source, width_bound
from indexproof.core.expr import Expr, ceildiv, minimum, var
from indexproof.core.indexing_map import IndexingMap

COMPILER = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
needs_a_compiler = pytest.mark.skipif(COMPILER is None, reason="no C compiler")
STRICT = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic-errors"]
# undefined behaviour becomes an illegal instruction, which needs no library
TRAPS = ["-fsanitize=undefined", "-fsanitize-undefined-trap-on-error"]


def built(folder: Path, source: str, *flags: str) -> Path:
    """Compile a source without warnings to an object file or a program, as ``flags`` say, and return its path."""
    assert COMPILER is not None
    (folder / "source.c").write_text(source, "utf-8")
    command = [COMPILER, *STRICT, *flags, "-o", "built", "source.c"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder / "built"


MAIN = """
#include <inttypes.h>
#include <stdio.h>

int main(void)
{
    int which;
    while (scanf("%d", &which) == 1) {
        int64_t v[8], out[4] = {0, 0, 0, 0};
        int64_t count = 0, ok;
        scanf("%" SCNd64, &count);
        for (int64_t i = 0; i < count; i++) scanf("%" SCNd64, &v[i]);
        ok = table[which](v, out);
        printf("%d", (int)ok);
        for (int i = 0; i < 4; i++) printf(" %" PRId64, out[i]);
        printf("\\n");
    }
    return 0;
}
"""


class Batch:
    """Many functions in one program, which reads which one to call and prints the result."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.parts: list[str] = []
        self.wrappers: list[str] = []
        self.questions: list[str] = []
        self.expected: list[str] = []

    def add(self, m: IndexingMap, source: str, bits: int, checked: bool) -> int:
        k = len(self.parts)
        # each source defines the same helpers
        for word in ("indexing_map", "floordiv", "floormod", "ceildiv"):
            source = source.replace(f"{word}(", f"{word}_{k}(")
        self.parts.append(source)
        args = ", ".join([*(f"(int{bits}_t)v[{i}]" for i in range(len(m.variables))), "r"])
        copy = " ".join(f"out[{i}] = r[{i}];" for i in range(len(m.results)))
        call = f"int64_t ok = indexing_map_{k}({args});" if checked else f"indexing_map_{k}({args});"
        self.wrappers.append(
            f"static int64_t call_{k}(const int64_t *v, int64_t *out)\n"
            f"{{ int{bits}_t r[4] = {{0, 0, 0, 0}}; (void)v; (void)out; {call} {copy} return {'ok' if checked else 1}; }}\n"
        )
        return k

    def ask(self, k: int, point: Sequence[int], target: tuple[int, ...] | None) -> None:
        self.questions.append(" ".join(map(str, (k, len(point), *point))))
        values = [1, *target] if target is not None else [0]
        self.expected.append(" ".join(map(str, [*values, *[0] * (5 - len(values))])))

    def run(self, *flags: str) -> list[tuple[str, str, str]]:
        """Return question, expected answer and actual answer where the answers differ."""
        names = ", ".join(f"call_{k}" for k in range(len(self.parts)))
        table = f"static int64_t (*const table[])(const int64_t *, int64_t *) = {{{names}}};\n"
        source = "\n".join([*self.parts, *self.wrappers, table, MAIN])
        program = built(self.folder, source, *TRAPS, *flags, "-Wno-unused-result")
        asked = "\n".join(self.questions) + "\n"
        done = subprocess.run([program], input=asked, capture_output=True, text=True, check=False)
        answers = done.stdout.splitlines()
        if done.returncode:  # the question after the last answer trapped
            answers += ["trapped"] * (len(self.expected) - len(answers))
        assert len(answers) == len(self.expected)
        rows = zip(self.questions, self.expected, answers, strict=True)
        return [(q, wanted, got) for q, wanted, got in rows if wanted != got]


def filled(batch: Batch, maps: Any, count: int) -> dict[int, int]:
    """Fill the batch with random maps of all sizes and their points; return the number of maps of each width."""
    widths = {32: 0, 64: 0}
    for k in range(count):
        scale, size = (9, 2**12, 2**30, 2**31, 2**60)[k % 5], (6, 2**10, 2**29, 2**31)[k % 4]
        m = maps.map(scale=scale, size=size, depth=3)
        bits = width_bound(m)
        if bits is None:
            continue
        points = [*maps.points(m, 20)]
        if all(-(2**31) <= x < 2**31 for p in points for x in p) or bits == 64:
            try:
                source = c_source(m, checked=True)
            except InputError:  # a constraint is too wide outside of the domain
                continue
            width = 32 if "int32_t" in source else 64
            number = batch.add(m, source, width, True)
            for p in points:
                if width == 64 or all(-(2**31) <= x < 2**31 for x in p):
                    batch.ask(number, p, maps.target(m, p))
        widths[bits] += 1
        number = batch.add(m, c_source(m, bits=bits), bits, False)
        for p in points:
            target = maps.target(m, p)
            if target is not None:
                batch.ask(number, p, target)
    return widths


@needs_a_compiler
@pytest.mark.parametrize("flags", [["-O0"], ["-O2"]], ids=" ".join)
def test_random_maps(maps: Any, tmp_path: Path, flags: list[str]) -> None:
    batch = Batch(tmp_path)
    widths = filled(batch, maps, 120)
    assert widths[32] > 20
    assert widths[64] > 20
    assert len(batch.questions) > 1500
    assert any(" 0 0 0 0 0" in f" {e}" for e in batch.expected)
    assert not batch.run(*flags)


@needs_a_compiler
def test_truncating_division_would_be_noticed(maps: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The batch finds the mistake of compiling every division as one of natural numbers."""
    monkeypatch.setattr(c_code._C, "_plain", lambda self, k: True)
    batch = Batch(tmp_path)
    filled(batch, maps, 60)
    assert batch.run("-O0")


@needs_a_compiler
def test_an_overflow_would_be_noticed(tmp_path: Path) -> None:
    m = parse_map("(d0) -> (d0 * 65536), domain: d0 in [0, 65536]")
    batch = Batch(tmp_path)
    k = batch.add(m, c_source(m, bits=32), 32, False)
    batch.ask(k, [65536], (2**32,))
    assert batch.run("-O0")[0][2] == "trapped"


@needs_a_compiler
@pytest.mark.parametrize("bits", [32, 64])
def test_every_sign_and_corner_of_division(tmp_path: Path, bits: int) -> None:
    """The helpers are right for every pair of signs and for the least integer."""
    low, high = -(2 ** (bits - 1)), 2 ** (bits - 1) - 1
    numerators = sorted({low, low + 1, high, high - 1, *range(-9, 10)})
    divisors = sorted({low, low + 1, high, -1, 1, *range(-5, 0), *range(1, 6)})
    x = var("x")
    parts = []
    for k, d in enumerate(divisors):
        for name, e in (("quotient", x // d), ("remainder", x % d), ("upwards", ceildiv(x, d))):
            m = IndexingMap.of([("x", low, high)], results=[e])
            parts.append(c_source(m, bits=bits, name=f"{name}{k}"))
    functions = [
        f"{{{', '.join(f'{name}{k}' for k in range(len(divisors)))}}}" for name in ("quotient", "remainder", "upwards")
    ]
    texts = ", ".join(str(n) if n > low else f"{n + 1} - 1" for n in numerators)
    # the quotient of the least integer by -1 is no machine integer; its remainder is
    parts.append(f"""
#include <stdio.h>
int main(void)
{{
    const int{bits}_t a[] = {{{texts}}};
    void (*const quotient[])(int{bits}_t, int{bits}_t *) = {functions[0]};
    void (*const remainder[])(int{bits}_t, int{bits}_t *) = {functions[1]};
    void (*const upwards[])(int{bits}_t, int{bits}_t *) = {functions[2]};
    for (int i = 0; i < {len(numerators)}; i++)
        for (int j = 0; j < {len(divisors)}; j++) {{
            int{bits}_t q = 0, r = 0, u = 0;
            remainder[j](a[i], &r);
            printf("%lld", (long long)r);
            if (i > 0 || j != {divisors.index(-1)}) {{
                quotient[j](a[i], &q);
                upwards[j](a[i], &u);
                printf(" %lld %lld", (long long)q, (long long)u);
            }}
            printf("\\n");
        }}
    return 0;
}}
""")
    program = built(tmp_path, "\n".join(parts), *TRAPS, "-O1", "-fno-builtin")
    done = subprocess.run([program], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [
        "0" if (a, b) == (low, -1) else f"{a % b} {a // b} {-(-a // b)}" for a in numerators for b in divisors
    ]


@needs_a_compiler
def test_functions_of_several_maps_stand_in_one_file(tmp_path: Path) -> None:
    parts = []
    for n, end in enumerate((5, 7, 2**40, 2**50)):
        m = parse_map(f"(d0) -> ((d0 - 9) floordiv 4, (d0 - 9) mod 4), domain: d0 in [0, {end}]")
        parts.append(c_source(m, name=f"map{n}"))
    built(tmp_path, "\n".join(parts), "-c")


@needs_a_compiler
def test_a_deep_expression_compiles(tmp_path: Path) -> None:
    e: Expr = var("x")
    for k in range(3_000):
        # few divisions: a compiler takes quadratic time for thousands of them in one block
        e = minimum(e + 1, var("y")) if k % 50 else e // 3
    source = c_source(IndexingMap.of([("x", 0, 10**6), ("y", 0, 10**6)], results=[e]))
    type_ = "int64_t" if "int64_t x" in source else "int32_t"
    call = f"{type_} r; indexing_map(123456, 98765, &r);"
    main = f'\n#include <stdio.h>\nint main(void) {{ {call} printf("%d\\n", (int)r); return 0; }}\n'
    done = subprocess.run([built(tmp_path, source + main, "-O0")], capture_output=True, text=True, check=True)
    assert int(done.stdout) == e.evaluate({"x": 123456, "y": 98765})


def test_the_source() -> None:
    m = parse_map(
        "(d0, d1)[s0] -> ((d0 * 4 + d1) floordiv 12, (d0 * 4 + d1) mod 12, (d0 - d1) mod 4, min(d0, s0)),"
        " domain: d0 in [0, 9], d1 in [0, 3], s0 in [0, 1], d0 + s0 in [0, 5]"
    )
    assert c_source(m) == (
        """\
#include <stdint.h>

"""
        "#ifndef INDEXPROOF_FLOORMOD32\n#define INDEXPROOF_FLOORMOD32\n"
        + c_code._HELPERS["floormod"].format(type="int32_t", name="floormod32")
        + """\
#endif

/* (d0, d1)[s0] -> ((d0 * 4 + d1) floordiv 12, (d0 * 4 + d1) mod 12, (d0 - d1) mod 4, min(d0, s0)), domain: d0 in [0, 9], d1 in [0, 3], s0 in [0, 1], d0 + s0 in [0, 5] */
void indexing_map(int32_t d0, int32_t d1, int32_t s0, int32_t *result)
{
    const int32_t t0 = d0 * 4 + d1;
    result[0] = t0 / 12;
    result[1] = t0 % 12;
    result[2] = floormod32(d0 - d1, 4);
    result[3] = d0 < s0 ? d0 : s0;
}
"""  # noqa: E501 - a line of the generated file
    )
    checked = c_source(m, checked=True, bits=64, name="f")
    assert "bool f(int64_t d0, int64_t d1, int64_t s0, int64_t *result)" in checked
    assert "    if (d0 < 0 || d0 > 9) return false;\n" in checked
    assert "    const int64_t t0 = d0 + s0;\n    if (t0 < 0 || t0 > 5) return false;\n" in checked
    assert "    return true;\n" in checked


def test_what_has_the_same_factor_is_added_first_where_that_fits() -> None:
    m = parse_map("(d0, d1) -> (d0 * 4 + d1 * 4), domain: d0 in [0, 9], d1 in [0, 9]")
    assert "result[0] = (d0 + d1) * 4;" in c_source(m)
    # in printed order every partial sum fits 31 bits, but 4 * (d0 + d2) does not
    large = f"[0, {1 << 28}]"
    m = parse_map(
        f"(d0, d1, d2) -> (d0 * 4 - d1 + d2 * 4), domain: d0 in {large}, d1 in [{1 << 30}, {(1 << 30) + 1}], d2 in {large}"
    )
    for bits in (None, 32):
        source = c_source(m, bits=bits)
        assert "int32_t d0" in source
        assert "result[0] = d0 * 4 - d1 + d2 * 4;" in source
    assert "result[0] = (d2 + d0) * 4 - d1;" in c_source(m, bits=64)


def test_no_operand_is_computed_twice() -> None:
    """Each operand is computed once, even where only the constraints show that C's own division suffices."""
    e: Expr = var("x")
    for _ in range(40):
        e = ceildiv(e + 1, 2)
    m = IndexingMap.of([("x", -9, 10**6)], results=[e], constraints=[(var("x"), 0, 10**6)])
    for checked in (False, True):
        source = c_source(m, checked=checked)
        assert source.count(" / 2") == 40
        assert len(source) < 8000


def test_names_that_c_claims() -> None:
    names = ["int", "INT_MAX", "_x", "a__b", "size_t", "linux", "t0", "result", "floormod32"]
    m = IndexingMap.of(
        [(n, 0, 9) for n in names],
        results=[(var("int") + var("t0")) // 2 + (var("int") + var("t0")) % 3, var("floormod32") // -2],
    )
    source = c_source(m)
    declared = source.split("indexing_map(")[1].split(")")[0]
    given = [p.split()[-1] for p in declared.split(",")[:-1]]
    assert len(set(given)) == len(names)
    assert "t0" in given
    assert not any(c_code._refused(n) for n in given)
    with pytest.raises(InputError, match="no name for a function"):
        c_source(m, name="while")
    with pytest.raises(InputError, match="no name for a function"):
        c_source(m, name="a b")


@pytest.mark.parametrize(("source", "said"), [
    ("(d0) -> (d0 * 4), domain: d0 in [0, 9223372036854775807]", "64 bits are enough"),
    ("(d0) -> (18446744073709551616), domain: d0 in [0, 1]", "64 bits are enough"),
])  # fmt: skip
def test_maps_beyond_64_bits_are_refused(source: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        c_source(parse_map(source))
    assert c_source(parse_map(source), bits=64)  # an explicit width is not checked


def test_a_checked_function_answers_for_its_tests_itself() -> None:
    m = parse_map("(d0) -> (d0), domain: d0 in [0, 65536], d0 * 65536 in [0, 9]")
    assert "int64_t d0" in c_source(m, checked=True)
    assert "int32_t d0" in c_source(m)
    with pytest.raises(InputError, match="32 bits are enough to test the constraints"):
        c_source(m, checked=True, bits=32)


def test_wrong_requests() -> None:
    m = parse_map("(d0) -> (d0), domain: d0 in [0, 9]")
    with pytest.raises(InputError):
        c_source(m, bits=16)


@needs_a_compiler
@pytest.mark.parametrize("text", [
    "(d0) -> (d0 mod 7), domain: d0 in [0, 2], d0 * 3 in [5, 0]",
    "(d0) -> (d0 floordiv 7), domain: d0 in [0, 2], -d0 in [4, 3], d0 * 5 in [0, 5]",
    "(d0) -> (d0), domain: d0 in [0, 2], d0 * 5 in [99999999999, 99999999999]",
])  # fmt: skip
def test_a_constraint_that_never_holds_leaves_nothing_unused(tmp_path: Path, text: str) -> None:
    built(tmp_path, c_source(parse_map(text), checked=True), "-c")
