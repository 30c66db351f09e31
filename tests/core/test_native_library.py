"""The simplifier as a library without Python: equal to Python in every format, and safe on malformed input.

It is built as `make library` builds it, with checks for undefined behaviour, memory errors and leaks, and called from C and
from C++.
"""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
from collections import Counter
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from dev.native import numbered, random_maps
from indexproof.core.derivation import Derivation
from indexproof.core.derivation_json import trace_from_json
from indexproof.core.errors import InputError, TooLargeError
from indexproof.core.explain import explained
from indexproof.core.indexing_map import IndexingMap, RuntimeVariable
from indexproof.core.json_form import dump_json, map_to_json
from indexproof.core.json_text import load_json
from indexproof.core.simplify_map import simplify_map
from indexproof.core.steps import Trace
from indexproof.core.text import format_map, parse_map
from indexproof.reports.derivation import read_derivation
from indexproof.rules.catalog import RULES
from indexproof.verify.derivation import DerivationRefused, check_derivation

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(__file__).parent / "data"
# calls to the checks of addresses, rather than their code in each place, compile faster
CALLS = ["--param", "asan-instrumentation-with-call-threshold=0"]
CHECKED = ["-O0", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", *CALLS]
OK, MALFORMED, UNSUPPORTED = "", "! 1 ", "! 2 "

pytestmark = pytest.mark.skipif(not all(map(shutil.which, ("make", "g++", "gcc"))), reason="no make or no C++ compiler")


@pytest.fixture(scope="session")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the library, the example and the program in C."""
    venv = tmp_path_factory.mktemp("library")
    made = venv / "library"
    client = Path(__file__).parent / "native_client.c"
    for command in (
        ["make", "-s", "library", f"VENV={venv}", "CXX=g++", f"CXXFLAGS={' '.join(CHECKED)}"],
        ["gcc", "-std=gnu11", "-Wall", "-Wextra", "-Werror", *CHECKED, f"-I{made}", "-c", str(client)],
        ["g++", *CHECKED, "native_client.o", str(made / "libindexproof.a"), "-lpthread", "-o", "client"],
    ):
        cwd = ROOT if command[0] == "make" else made
        done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr[-3000:]
    return made


def said(place: Path, source: str, target: str, given: list[str], *options: str) -> list[str]:
    """Run the program in C on the lines ``given`` and return its output lines."""
    file = place / "given.txt"
    file.write_text("\n".join(given) + "\n", encoding="utf-8")
    done = subprocess.run(
        [place / "client", source, target, file, *options], capture_output=True, check=False, encoding="utf-8"
    )
    assert done.returncode == 0, done.stderr[-3000:]
    lines = done.stdout.removesuffix("\n").split("\n")
    assert len(lines) == len(given)
    return lines


def corpus_maps() -> list[IndexingMap]:
    """Maps of the benchmark, of XLA, and random ones, whose text is not exponentially long."""
    sys.path.insert(0, str(ROOT / "tests" / "bench"))
    corpora, ours = import_module("corpora"), import_module("peers").Ours()
    found = [parse_map(t) for t in (DATA / "xla_maps.txt").read_text().splitlines()[::2]]
    for name, make in corpora.CORPORA.items():
        if name != "xla":
            found += map(ours.convert, list(islice(make(), 14 if name == "depths" else None))[::5])
    far = IndexingMap.of([("d0", 0, 1 << 70)], results=[parse_map("(d0) -> (d0), domain: d0 in [0, 1]").results[0]])
    empty = parse_map("(d0)[s0] -> (d0 + s0), domain: d0 in [3, 2], s0 in [0, 4]")
    runtime = parse_map("(d0){rt0} -> ((d0 * 4 + rt0) // 4, rt0), domain: d0 in [0, 9], rt0 in [0, 3]")
    drawn = [m.with_(rts=[RuntimeVariable(v.name, v.lo, v.hi) for v in m.rts]) for m in random_maps(11, 250)]
    return [*found, *drawn, far, empty, runtime]


@pytest.fixture(scope="module")
def pairs() -> list[tuple[IndexingMap, IndexingMap, IndexingMap]]:
    """Maps with their results by default and with ``quick``."""
    maps = [m for m in corpus_maps() if short(m)]
    return [(m, *(simplify_map(m.with_(results=m.results), RULES, quick=q) for q in (False, True))) for m in maps]


def short(m: IndexingMap) -> bool:
    try:
        return len(dump_json(map_to_json(m))) < 20_000
    except TooLargeError:
        return False


def needs_python(m: IndexingMap) -> bool:
    """Return whether the library may refuse the map because of its large numbers."""
    return any(abs(n) > 1 << 40 for v in m.variables for n in (v.lo, v.hi))


def test_same_text_and_json(place: Path, pairs: list[Any]) -> None:
    texts = [format_map(m) for m, _, _ in pairs]
    documents = [dump_json(map_to_json(m)) for m, _, _ in pairs]
    for given, source, target, shown, quick in (
        (texts, "text", "text", format_map, False),
        (texts, "text", "text", format_map, True),
        (texts, "text", "json", lambda m: dump_json(map_to_json(m)), False),
        (documents, "json", "text", format_map, False),
    ):
        left = 0
        found = said(place, source, target, given, *["quick"] * quick)
        for (m, *after), line in zip(pairs, found, strict=True):
            if line.startswith("! "):
                assert line.startswith(UNSUPPORTED)
                assert needs_python(m), line
                left += 1
            else:
                assert line == shown(after[quick])
        assert 0 < left < len(pairs) // 10


def test_derivations(place: Path, pairs: list[Any]) -> None:
    """The library records the same derivation as Python, and the checker accepts it."""
    documents = said(place, "text", "derivation", [format_map(m) for m, _, _ in pairs])
    left = 0
    for (m, after, _), line in zip(pairs, documents, strict=True):
        if line.startswith("! "):
            assert needs_python(m), line
            left += 1
            continue
        given, result, recorded = trace_from_json(load_json(line), RULES)
        trace: Trace = []
        assert (given, result) == (m, simplify_map(m.with_(), RULES, trace)) == (m, after)
        if result != m:
            assert numbered(recorded) == numbered(trace)
        check_derivation(explained(given, result, recorded), RULES)
    assert 0 < left < len(pairs) // 10


def test_damaged_derivations(place: Path) -> None:
    """A derivation with missing or changed steps is ill-formed, refused, or still proves the same result."""
    text = "(d0, d1) -> ((d0 * 4 + d1) // 8, (d0 * 4 + d1) mod 4), domain: d0 in [0, 9], d1 in [0, 3], d0 * 2 + 1 in [3, 9]"
    (line,) = said(place, "text", "derivation", [text])
    document = load_json(line)
    good = read_derivation(document, RULES)
    assert len(good) > 2
    check_derivation(good, RULES)
    kinds = Counter[str]()
    for n, entry in enumerate(document["entries"]):
        for changed in (None, *([*entry[:k], x, *entry[k + 1 :]] for k in range(6) for x in (7, [], "step", "map"))):
            entries = document["entries"][:n] + ([] if changed is None else [changed]) + document["entries"][n + 1 :]
            kinds[replayed({**document, "entries": entries}, good)] += 1
    wider = {**document["after"], "dims": document["before"]["dims"]}
    assert replayed({**document, "after": wider}, good) == "refused"
    assert replayed({**document, "nodes": document["nodes"][:-1]}, good) == "ill-formed"
    assert set(kinds) == {"ill-formed", "refused", "true"}


def replayed(document: Any, good: Derivation) -> str:
    """Return "ill-formed", "refused", or "true" if the document proves the same result as ``good``."""
    try:
        read = read_derivation(document, RULES)
        check_derivation(read, RULES)
    except InputError as error:
        return "ill-formed" if str(error).startswith(("entries[", "nodes[")) else str(error)
    except DerivationRefused:
        return "refused"
    assert (read.before, read.after) == (good.before, good.after)
    return "true"


def test_flat(place: Path, pairs: list[Any]) -> None:
    """A simplified map survives writing to a flat buffer and reading back."""
    usual = [(m, after) for m, after, _ in pairs if m == canonical(m)]
    assert len(usual) > 200
    found = said(place, "text", "flat", [format_map(m) for m, _ in usual])
    for (m, after), line in zip(usual, found, strict=True):
        assert line == format_map(after) or (line.startswith(UNSUPPORTED) and needs_python(m))


def canonical(m: IndexingMap) -> IndexingMap:
    """The map with the names that a flat buffer gives to variables."""
    names = [f"{p}{k}" for p, vs in (("d", m.dims), ("s", m.ranges), ("rt", m.rts)) for k in range(len(vs))]
    return m.rename(dict(zip((v.name for v in m.variables), names, strict=True)))


def test_example(place: Path, tmp_path: Path) -> None:
    """The example program simplifies files of maps as XLA prints them, one map on one line or on several."""
    lines = (DATA / "xla_maps.txt").read_text().splitlines()
    maps = [parse_map(t) for t in lines]
    for n, text in enumerate(("\n".join(lines), "\n\n".join(format_map(m, multiline=True) for m in maps))):
        file = tmp_path / f"{n}.txt"
        file.write_text(text)
        done = subprocess.run([place / "simplify_maps", file], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert done.stdout.splitlines() == [format_map(simplify_map(m, RULES)) for m in maps]
        assert done.stderr == f"{len(maps)} maps, 0 left as they are, 0 malformed\n"
    file.write_text("(d0) -> (d0), domain: d0 in [0, 3]\n(d0) -> (d0 +), domain: d0 in [0, 3]\n")
    done = subprocess.run([place / "simplify_maps", file], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert f"{file}:2:14: unexpected `)`" in done.stderr


def test_what_is_left_alone(place: Path, tmp_path: Path) -> None:
    """A map with sources of runtime variables is printed unchanged."""
    source = (
        "(d0)[s0] -> (d0 + s0),\ndomain:\nd0 in [0, 9],\ns0 in [0, 3]\n  hlo: p = s32[] parameter(1)\n  (d0) -> ()\n"
    )
    file = tmp_path / "maps.txt"
    file.write_text(source + "(d0) -> (d0 mod 4), domain: d0 in [0, 3]\n")
    done = subprocess.run([place / "simplify_maps", file], capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert done.stdout == source + "(d0) -> (d0), domain: d0 in [0, 3]\n"
    assert done.stderr == "2 maps, 1 left as they are, 0 malformed\n"


def damaged(texts: list[str], count: int) -> list[str]:
    draw = random.Random(7)
    words = [
        *'()[]{},:+-*/%<>=d0 9"∈é',
        " in ",
        "mod",
        "min(",
        "floordiv",
        "d0",
        "s0",
        "18446744073709551616",
        "hlo: x",
        "->",
    ]
    out = []
    for _ in range(count):
        text = draw.choice(texts)
        for _ in range(draw.choice([1, 1, 2])):
            at = draw.randrange(len(text))
            end = at + draw.choice([0, 1, 1, 4])
            text = text[:at] + draw.choice(["", *words]) + text[end:]
        out.append(text)
    return out


def place_of_error(text: str) -> list[str]:
    with pytest.raises(InputError) as found:
        parse_map(text)
    return [str(found.value.line), str(found.value.column)]


def test_malformed_text(place: Path, pairs: list[Any]) -> None:
    """The library refuses the same texts as Python, at the same position."""
    texts = damaged([format_map(m) for m, _, _ in pairs if len(format_map(m)) < 300], 3000)
    count = dict.fromkeys((OK, MALFORMED, UNSUPPORTED), 0)
    for text, line in zip(texts, said(place, "text", "text", texts), strict=True):
        kind = line[:4] if line.startswith("! ") else OK
        count[kind] += 1
        if kind == OK:
            assert line == format_map(simplify_map(parse_map(text), RULES)), text
        elif kind == MALFORMED:
            assert line.split()[2:4] == place_of_error(text), (text, line)
    assert min(count.values()) > 20
    assert count[MALFORMED] > 1500


@pytest.mark.parametrize(("text", "column"), [
    ("", 1),
    ("[]", 1),
    ("{}", 2),
    ('{"dims": []}', 1),
    ('{"dims": [], "results": [1, ]}', 29),
    ('{"dims": [], "results": [01]}', 26),
    ('{"dims": [], "results": [1.5]}', 27),
    ('{"dims": [], "results": [["fdiv", 1, 0]]}', 26),
    ('{"dims": [], "results": [["add", 1]]}', 26),
    ('{"dims": [], "results": [["pow", 1, 2]]}', 27),
    ('{"dims": [["d0", 0, 1]], "results": [["mul", "d0", "d0"]]}', 38),
    ('{"dims": [["d0", 0, 1], ["d0", 0, 1]], "results": []}', 26),
    ('{"dims": [["min", 0, 1]], "results": []}', 12),
    ('{"dims": [], "results": [], "dims": []}', 29),
    ('{"dims": [], "results": [], "rank": 2}', 29),
    ('{"dims": [], "results": []} 1', 29),
    ('{"dims": [["d0", 0, 1]], "results": ["d1"]}', 38),
])  # fmt: skip
def test_malformed_json(place: Path, text: str, column: int) -> None:
    (line,) = said(place, "json", "text", [text])
    assert line.split()[:4] == ["!", "1", "1", str(column)], line


def test_damaged_input_in_threads(place: Path, pairs: list[Any]) -> None:
    """Several thousand damaged texts, documents and buffers cause no crash, in several threads at once."""
    texts = [format_map(m) for m, _, _ in pairs if len(format_map(m)) < 300]
    file = place / "texts.txt"
    file.write_text("\n".join(texts[::3]) + "\n")
    done = subprocess.run([place / "client", "stress", file, "1500"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    fine, malformed, left = map(int, done.stdout.split())
    assert fine > 150
    assert malformed > 1100
    assert fine + malformed + left == 3000
