"""Programs: every operation of an expression once, in printed order, with a range that holds."""

from __future__ import annotations

from typing import Any

import pytest

from indexproof import parse_map
from indexproof.core.codegen.program import Program, ProgramStep, domain_knowledge, fits, limits, width_bound
from indexproof.core.expr import Expr, Integers, Var, interpret, var
from indexproof.core.interval import Interval
from indexproof.core.text import format_expr, parse_expr

MEANING: dict[str, Any] = {
    "negate": lambda a: -a,
    "plus": lambda a, b: a + b,
    "minus": lambda a, b: a - b,
    "times": lambda a, b: a * b,
    "floordiv": lambda a, b: a // b,
    "mod": lambda a, b: a % b,
    "ceildiv": lambda a, b: -(-a // b),
    "minimum": min,
    "maximum": max,
}


def run(program: Program, env: dict[Var, int]) -> list[int]:
    """Return the value of every step."""
    values: list[int] = []
    for op, args, leaf in program.steps:
        if isinstance(leaf, Var):
            values.append(env[leaf])
        elif op == "integer":
            values.append(leaf)
        else:
            values.append(MEANING[op](*(values[a] for a in args)))
    return values


def text(program: Program) -> list[str]:
    exprs = program.exprs(range(len(program.steps)))
    return [format_expr(exprs[k]) for k in range(len(program.steps))]


@pytest.mark.parametrize(("source", "steps"), [
    ("a", ["a"]),
    ("7", ["7"]),
    ("-a", ["a", "-a"]),
    ("a * -3", ["a", "-3", "a * -3"]),
    ("a - b", ["a", "b", "a - b"]),
    # the absolute value of the coefficient, since a subtraction is printed
    ("a * 2 - b * 3", ["a", "b", "2", "a * 2", "3", "b * 3", "a * 2 - b * 3"]),
    ("a + b + c - 1", ["a", "b", "c", "a + b", "a + b + c", "1", "a + b + c - 1"]),
    ("(a + 1) floordiv 4", ["a", "1", "a + 1", "4", "(a + 1) floordiv 4"]),
    ("a mod 4 + a mod 4 * 2", ["a", "4", "a mod 4", "3", "(a mod 4) * 3"]),
    ("min(a, b, 5)", ["a", "b", "min(a, b)", "5", "min(a, b, 5)"]),
    ("a * b * c", ["a", "b", "c", "a * b", "a * b * c"]),
    ("ceildiv(a, b)", ["a", "b", "a ceildiv b"]),
])  # fmt: skip
def test_the_steps_of_an_expression(source: str, steps: list[str]) -> None:
    e = parse_expr(source)
    assert text(Program.of((e,), e.variables())) == steps


@pytest.mark.parametrize(("source", "steps"), [
    ("a * 4 + b * 4", ["a", "b", "a + b", "4", "(a + b) * 4"]),
    ("a * 4 - b * 4 + c", ["c", "a", "b", "a - b", "4", "(a - b) * 4", "c + (a - b) * 4"]),
    ("a * -4 - b * 4", ["a", "b", "a + b", "-4", "(a + b) * -4"]),
    ("-a - b + 3", ["a", "-a", "b", "-a - b", "3", "-a - b + 3"]),
])  # fmt: skip
def test_the_steps_of_a_lean_program(source: str, steps: list[str]) -> None:
    e = parse_expr(source)
    program = Program.of((e,), lean=True)
    assert set(text(program)) == {format_expr(parse_expr(s)) for s in steps}
    assert program.exprs(program.outputs)[program.outputs[0]] == e


def test_a_lean_program_computes_the_same(maps: Any) -> None:
    shorter = 0
    for _ in range(300):
        m = maps.map()
        variables = [v.expr for v in m.variables]
        plain, lean = Program.of(m.roots, variables), Program.of(m.roots, variables, lean=True)
        assert len(set(lean.steps)) == len(lean.steps)
        exprs = lean.exprs(range(len(lean.steps)))
        assert [exprs[k] for k in lean.outputs] == list(m.roots)
        box = lean.ranges(m.bounds)
        for point in maps.points(m, 5, outside=False):
            env: dict[Expr, int] = dict(zip(variables, point, strict=True))
            values = run(lean, env)
            assert [values[k] for k in lean.outputs] == interpret(m.roots, Integers(env))
            assert all(x in r for x, r in zip(values, box, strict=True))
        best = plain.shortened(m.roots, variables)
        assert best.operations == min(plain.operations, lean.operations)
        shorter += best == lean != plain
    assert shorter > 20


def test_no_step_occurs_twice_and_operands_come_first(maps: Any) -> None:
    for _ in range(200):
        m = maps.map()
        program = Program.of_map(m)
        assert len(set(program.steps)) == len(program.steps)
        assert all(a < k for k, step in enumerate(program.steps) for a in step.args)
        assert [s.leaf for s in program.steps[: program.inputs]] == [v.expr for v in m.variables]


def test_steps_have_the_values_and_ranges_of_what_they_stand_for(maps: Any) -> None:
    checked = 0
    for _ in range(200):
        m = maps.map()
        program = Program.of_map(m)
        exprs = program.exprs(range(len(program.steps)))
        box = program.ranges(m.bounds)
        inside = program.ranges(m.bounds, domain_knowledge(m, program))
        assert [exprs[k] for k in program.outputs] == list(m.roots)
        for point in maps.points(m, 10, outside=False):
            env: dict[Expr, int] = dict(zip((v.expr for v in m.variables), point, strict=True))
            values = run(program, env)
            assert values == interpret([exprs[k] for k in range(len(values))], Integers(env))
            assert all(x in r for x, r in zip(values, box, strict=True))
            if maps.target(m, point) is not None:
                assert all(x in r for x, r in zip(values, inside, strict=True))
                checked += 1
    assert checked > 500


def test_a_deep_expression() -> None:
    e: Expr = var("x")
    for _ in range(3_000):
        e = (e + 1) // 2
    program = Program.of((e,), e.variables())
    assert len(program.steps) == 3 + 2 * 3_000
    assert program.steps[program.outputs[0]].op == "floordiv"


def test_a_long_sum_has_a_linear_number_of_steps() -> None:
    e = sum((var(f"x{k}") * (k + 2) for k in range(1000)), var("x"))
    assert len(Program.of((e,), e.variables()).steps) == 1001 + 3 * 1000


@pytest.mark.parametrize(("source", "bits"), [
    ("(d0) -> (d0), domain: d0 in [0, 2147483647]", 32),
    ("(d0) -> (d0), domain: d0 in [0, 2147483648]", 64),
    ("(d0) -> (d0), domain: d0 in [-2147483648, 0]", 32),
    ("(d0) -> (-d0), domain: d0 in [-2147483648, 0]", 64),
    ("(d0) -> (), domain: d0 in [0, 9223372036854775808]", None),
    ("(d0, d1) -> ((d0 * 65536 + d1) mod 2), domain: d0 in [0, 32768], d1 in [0, 9]", 64),
    # the constraint says that the product is small
    ("(d0) -> (d0 * 65536), domain: d0 in [0, 65536], d0 * 65536 in [0, 99]", 32),
    ("(d0) -> (d0 * 65536), domain: d0 in [0, 65536], d0 in [0, 9]", 32),
    ("(d0) -> (d0 + 2147483648), domain: d0 in [-5, -1]", 64),
    ("(d0) -> (99999999999999999999), domain: d0 in [0, 1]", None),
    # nothing can overflow on an empty domain but a literal
    ("(d0) -> (d0 * 7), domain: d0 in [5, 4]", 32),
])  # fmt: skip
def test_the_width_that_intervals_show(source: str, bits: int | None) -> None:
    assert width_bound(parse_map(source)) == bits


def test_limits_and_fits() -> None:
    assert limits(32) == Interval(-(2**31), 2**31 - 1)
    assert fits([]) == 32
    assert fits([Interval(2**31, 2**31)]) == 64
    assert fits([Interval(0, float("inf"))]) is None


def test_a_step_is_hashable_by_its_parts() -> None:
    assert ProgramStep("plus", (0, 1)) == ProgramStep("plus", (0, 1))
    assert ProgramStep("plus", (0, 1)) != ProgramStep("minus", (0, 1))
