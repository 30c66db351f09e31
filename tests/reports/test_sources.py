"""Claims are read from files and folders with their places; an ill-formed claim does not affect the others."""

from __future__ import annotations

from pathlib import Path

import pytest

from indexproof.reports.sources import SourceFile, files_below, kind_of_file, read_source

FILES = {
    "a.rules": (
        "semantics floor\nint x, y\nok: x + y -> y + x\nbad: x + + y ->\n  3\n"
        "other: x + z -> x\ngood: x - x -> 0\n"
        "no name: x -> y\nexpect REFUTED\nlast: x -> x\n"
    ),
    "b.json": (
        '{"rules": [\n  {"name": "a", "vars": {"x": "int"}, "left": ["add", "x", 0], "right": "x"},\n'
        '  {"left": ["addd", 1, 0], "right": 1}, {"name": "c", "vars": {}, "left": ["mul", 1, 1], "right": 1}]}\n'
    ),
    "c.claims": (
        "hlo one\n  p0 = f32[4] parameter(0)\n  s = f32[4] negate(p0)\n\ns -> p0 : (d0) -> (d0)\n"
        "s -> q : (d0) -> (d0)\nexpect REFUTED\n"
        "hlo two\n  p0 = f32[4] parameter(0)\n  s = f32[5] negate(p0)\ns -> p0 : (d0) -> (d0)\nexpect REFUTED\n"
        "claim x: (d0) -> (d0), domain: d0 in [0, 3] == (d0) -> (d0 mod 4)\n"
        "claim y: (d0) -> (d0), domain: d0 in [0, 3] = (d0) -> (d0)\nexpect REFUTED\n"
    ),
    "d.hlo": "// dumped\nHloModule small\n\nENTRY main {\n  ROOT p = f32[10] parameter(0)\n}\n",
    "sub/own.py": (
        "from indexproof.core.rewrite import Const, Expr, Rewrite, rule\n"
        "from indexproof.core.op import Op\n\n\n"
        "@rule()\n"
        "def twice(x: Expr, d: Const) -> Rewrite:\n"
        '    """Doubled."""\n'
        "    return Rewrite((x * d) // d, x, when=(d > 0,))\n\n\n"
        "@rule()\n"
        "def nothing(x: Expr) -> Rewrite:\n"
        "    return Rewrite(x, unknown)\n\n\n"
        "BOTH = (twice, nothing)\n\n\n"
        "class Odd(Op):\n"
        '    name = "odd"\n'
    ),
    "sub/notes.py": "print('not about claims')\n",
    "broken.rules": "int x,\nr: x -> x\n",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    return tmp_path


def sources(folder: Path) -> list[SourceFile]:
    return [read_source(f) for f in files_below([folder, folder / "b.json", folder / "a.rules"])]


def test_every_claim_has_its_place(folder: Path) -> None:
    places = [
        (d.name, str(Path(d.file).relative_to(folder)), d.line, d.column) for s in sources(folder) for d in s.declared
    ]
    assert places == [
        ("ok", "a.rules", 3, 1),
        ("good", "a.rules", 7, 1),
        ("last", "a.rules", 10, 1),
        ("twice", "sub/own.py", 5, 1),
        ("a", "b.json", 2, 3),
        ("c", "b.json", 3, 41),
    ]
    claims = [(c.name, c.line, c.expected) for s in sources(folder) for c in s.claims]
    assert claims == [("one: s -> p0", 5, "PROVED"), ("x", 13, "PROVED")]


def test_what_is_ill_formed_costs_only_itself(folder: Path) -> None:
    places = [(Path(s.path).name, e.line, e.column) for s in sources(folder) for e in s.unread]
    assert places == [
        ("a.rules", 4, 10),
        ("a.rules", 6, 12),
        ("a.rules", 8, 1),
        ("broken.rules", 1, 7),
        ("c.claims", 6, 6),
        ("c.claims", 10, 3),
        ("c.claims", 14, 45),
        ("own.py", 11, 1),
        ("own.py", 19, 1),
        ("b.json", 3, 13),
    ]


@pytest.mark.parametrize(
    ("name", "kind"),
    [("a.rules", "rules"), ("a.json", "rules"), ("a.hlo.gz", "hlo"), ("x.py", "python"), ("README", None)],
)
def test_kinds_by_name(name: str, kind: str | None) -> None:
    assert kind_of_file(name) == kind
