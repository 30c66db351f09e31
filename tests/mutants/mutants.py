"""Change one comparison or one number of the simplifier at a time, and check the results:
``python tests/mutants/mutants.py [--only FILE] [--sample N --seed S] [--state FILE]``; ``make mutants`` runs it.

Each mutant simplifies the maps of ``edges.py`` in a forked process, in which the code of one function was replaced.
Results that differ from those of the unchanged program are evaluated at points.  Verdicts, worst first:

* *wrong*: a result has another value, or another domain.  Code that only proposes or steers must never cause this;
* *crashed*, *hung*: an exception, too much processor time or memory;
* *refused*: the values are right, and the derivation is not accepted;
* *dearer*, *unstable*: a result costs more than its map, or changes when it is simplified again;
* *other*: right, but different from the digests in ``test_edges.py``;
* *same*: not noticed.  In trusted code the mutant must be in the table of ``equivalent.py``, with a reason.

Why no library: cosmic-ray and mutmut run a test command per mutant, in a fresh interpreter or at least through pytest, and
distinguish only killed and survived.  Here a mutant takes about a second, and it matters *how* it was noticed.
"""

from __future__ import annotations

import argparse
import ast
import copy
import gc
import hashlib
import importlib
import importlib.machinery
import json
import os
import random
import resource
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, Final

sys.path.append(str(Path(__file__).parents[1]))  # the folder of the development tools

import edges
from equivalent import EQUIVALENT

from indexproof.core.native import NATIVE

ROOT: Final = Path(__file__).resolve().parents[2]
#: Code that must be right.
TRUSTED: Final = (
    *[f"core/kernel/{n}.py" for n in ("form", "atoms", "measure", "ranges", "kernel")],
    *[f"core/extraction/{n}.py" for n in ("ledger", "choices", "given")],
    "core/constraint_normal.py",
    "core/simplify_map.py",
    "core/steps.py",
)
#: Code that only proposes.
UNTRUSTED: Final = (
    *[f"core/extraction/{n}.py" for n in ("proposals", "differences", "search")],
    *[f"core/strategies/{n}.py" for n in ("divisions", "sums")],
    "core/constraint_choose.py",
    "core/constraint_order.py",
    "core/simplify.py",
)
#: Code in trusted files that only steers: whatever it prefers is right and costs no more than the given map.
STEERING: Final = frozenset(
    f"core/extraction/ledger.py Ledger.{n}"
    for n in ("attempt", "best", "may_pay", "_spared", "_freed", "_needed", "_sum", "_priced")
) | {
    "core/extraction/given.py takes_sums_apart",
    "core/simplify_map.py _no_dearer",
    # the selection of rules and redexes, and code that only derivations need
    "core/constraint_normal.py ",
    *(f"core/constraint_normal.py {n}" for n in ("_rules", "_narrows")),
    *(f"core/constraint_normal.py Constraints.{n}" for n in ("merge", "subjects", "state", "contradicted")),
    "core/kernel/kernel.py Kernel._rank",
}
VERDICTS: Final = ("wrong", "crashed", "hung", "refused", "dearer", "unstable", "other", "same")
#: Limits on processor time in seconds: for a map, most of which take a millisecond, and for a whole mutant.
MAP: Final = 2
WHOLE: Final = 60
MEMORY: Final = 2 << 30
#: The derivations of at most this many changed results are checked.
DERIVED: Final = 10
#: Where no result changed, one in this many is simplified again and derived.
SAMPLE: Final = 64

COMPARISONS: Final[dict[type[ast.cmpop], type[ast.cmpop]]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
}  # fmt: skip


class Hung(BaseException):
    """A map takes too long."""


# ------------------------------------------------------------------------------------------------ mutants
@dataclass(frozen=True)
class Mutant:
    """One change: its place, the text of the statement before and after, and the changed module."""

    file: str
    function: str
    before: str
    after: str
    #: the number of this change among equal changes of a function
    number: int
    tree: ast.Module

    @property
    def trusted(self) -> bool:
        """Whether the mutated code is trusted, so that no later check catches a wrong result."""
        return self.file in TRUSTED and f"{self.file} {self.function}" not in STEERING

    @property
    def key(self) -> str:
        """A name that does not depend on lines."""
        again = f" #{self.number}" if self.number > 1 else ""
        return f"{self.file} {self.function}: {self.before}  ->  {self.after}{again}"


def changes(node: ast.AST) -> Iterator[tuple[str, Any]]:
    """Yield each mutated field of a node with its new value."""
    match node:
        case ast.Compare():
            for i, op in enumerate(node.ops):
                if type(op) in COMPARISONS:
                    yield "ops", [*node.ops[:i], COMPARISONS[type(op)](), *node.ops[i + 1 :]]
            match node:
                case ast.Compare(ops=[op], comparators=[ast.Constant(value=n)]) if type(n) is int:
                    # for integers one of the two neighbours is equivalent to the other comparison
                    for k in {ast.Gt: (1,), ast.LtE: (1,), ast.Lt: (-1,), ast.GtE: (-1,)}.get(type(op), (1, -1)):
                        yield "comparators", [ast.Constant(n + k)]
        case ast.Constant(value=n) if type(n) is int:
            yield "value", n + 1
            yield "value", n - 1
        case ast.BinOp(op=ast.Add()) | ast.AugAssign(op=ast.Add()):
            yield "op", ast.Sub()
        case ast.BinOp(op=ast.Sub()) | ast.AugAssign(op=ast.Sub()):
            yield "op", ast.Add()
        case ast.BinOp(op=ast.FloorDiv(), left=a, right=b):
            # rounded up
            yield "left", ast.BinOp(ast.BinOp(a, ast.Add(), b), ast.Sub(), ast.Constant(1))


def parts(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the executed children of a node, without annotations and what :func:`changes` covers at the node itself."""
    for name, value in ast.iter_fields(node):
        if name not in ("annotation", "returns") and not (
            name == "comparators" and len(value) == 1 and isinstance(value[0], ast.Constant)
        ):
            yield from [v for v in (value if isinstance(value, list) else [value]) if isinstance(v, ast.AST)]


def headline(node: ast.stmt) -> str:
    """Return the text of a statement, or the first line of a compound one."""
    text = ast.unparse(node)
    return text.splitlines()[0] if hasattr(node, "body") else text


def mutants_of(file: str) -> Iterator[Mutant]:
    """Yield every mutant of a file.  All share one tree, which holds the change of the current mutant."""
    tree = ast.parse((ROOT / file).read_text("utf-8"))
    seen: Counter[str] = Counter()

    def walk(node: ast.AST, names: tuple[str, ...], stmt: ast.stmt) -> Iterator[Mutant]:
        if isinstance(node, ast.stmt):
            stmt = node
        for field, new in changes(node):
            before, old = headline(stmt), getattr(node, field)
            setattr(node, field, new)
            after = headline(stmt)
            seen[key := f"{names} {before} {after}"] += 1
            yield Mutant(file, ".".join(names), before, after, seen[key], tree)
            setattr(node, field, old)
        inner = names
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            inner = (*names, node.name)
        for child in parts(node):
            yield from walk(child, inner, stmt)

    for stmt in tree.body:
        yield from walk(stmt, (), stmt)


def functions(file: str) -> dict[str, FunctionType]:
    """Return the functions and methods of the module by qualified name."""
    module = importlib.import_module("indexproof." + file.removesuffix(".py").replace("/", "."))
    found: dict[str, FunctionType] = {}
    for value in vars(module).values():
        for f in (value, *(vars(value).values() if isinstance(value, type) else ())):
            f = f.fget if isinstance(f, property) else getattr(f, "__func__", f)
            if isinstance(f, FunctionType) and f.__module__ == module.__name__:
                found[f.__qualname__] = f
    return found


def codes(code: CodeType) -> Iterator[CodeType]:
    """Yield a code object and all nested ones."""
    yield code
    for c in code.co_consts:
        if isinstance(c, CodeType):
            yield from codes(c)


def put_in_place(mutant: Mutant) -> Any:
    """Install the mutant in this process and return the module of edges to use."""
    path = str(ROOT / mutant.file)
    code = compile(ast.fix_missing_locations(copy.deepcopy(mutant.tree)), path, "exec")
    function = functions(mutant.file).get(mutant.function)
    if function is not None:
        # all importers share the function object, so replacing its code suffices
        same = [c for c in codes(code) if c.co_qualname == mutant.function]
        if len(same) == 1:
            function.__code__ = same[0]
            return edges
    # a constant of the module or a class may have been copied, so all modules are imported anew
    for name in [n for n in sys.modules if n.partition(".")[0] in ("indexproof", "edges", "dev")]:
        del sys.modules[name]
    loader = importlib.machinery.SourceFileLoader
    get = loader.get_code
    loader.get_code = lambda self, name: code if self.path == path else get(self, name)
    return importlib.import_module("edges")


# ------------------------------------------------------------------------------------------------ examining
def examined(cases: list[Any], expected: list[Any], order: list[int], stop: bool) -> tuple[str, str, int]:
    """Return the worst verdict, its reason and the map's number; with ``stop``, the first one worse than *other*."""
    worst: tuple[str, str, int] = ("same", "", -1)
    derived = 0

    def alarm(*_: object) -> None:
        raise Hung

    def ask(n: int, question: Callable[[], str]) -> str:
        nonlocal worst
        signal.setitimer(signal.ITIMER_VIRTUAL, MAP)
        try:
            found = question()
        except Hung:
            found = "hung"
        except Exception as error:
            found = f"crashed: {type(error).__name__}: {error}"
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        verdict = found.partition(":")[0]
        if found and VERDICTS.index(verdict) < VERDICTS.index(worst[0]):
            worst = verdict, f"{cases[n].name}: {found}"[:400], n
        return found

    def simplified(n: int) -> str:
        after = cases[n].simplified(cases[n].map)
        return "" if edges.digest(cases[n], after) == expected[n] else cases[n].problem(after) or "other"

    signal.signal(signal.SIGVTALRM, alarm)
    for n in order:
        found = ask(n, lambda n=n: simplified(n))
        if found == "other" and derived < DERIVED:
            derived += 1
            ask(n, cases[n].refused)
        if stop and worst[0] not in ("other", "same"):
            return worst
    if worst[0] == "same":
        for n in order[::SAMPLE]:
            ask(n, lambda n=n: cases[n].refused() or cases[n].problem(cases[n].simplified(cases[n].map)))
            if worst[0] != "same":
                break
    return worst


def verdict(mutant: Mutant, cases: list[Any], expected: list[Any], order: list[int]) -> tuple[str, str, int]:
    """Run a mutant in a separate process and return the verdict."""
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        os.close(reader)
        try:
            resource.setrlimit(resource.RLIMIT_CPU, (WHOLE, WHOLE))
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            used = put_in_place(mutant)
            own = cases if used is edges else used.corpus()
            answer: object = examined(own, expected, order, mutant.trusted)
        except BaseException as error:
            answer = "crashed", f"at once: {type(error).__name__}: {error}"[:400], -1
        os.write(writer, json.dumps(answer).encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        said = pipe.read()
    os.waitpid(child, 0)
    if not said:
        return "hung", "no processor time or memory left", -1
    found = json.loads(said)
    return found[0], found[1], found[2]


# ------------------------------------------------------------------------------------------------ the run
def sources() -> str:
    """Return a digest of all files that a verdict depends on."""
    h = hashlib.blake2b(digest_size=16)
    for folder in ("core", "rules", "verify", "tests/mutants"):
        for p in sorted((ROOT / folder).rglob("*.py")):
            if p.name != "equivalent.py":
                h.update(p.read_bytes())
    return h.hexdigest()


def known(path: Path | None, program: str) -> dict[str, list[Any]]:
    """Return the verdicts of an interrupted run of this program."""
    found: dict[str, list[Any]] = {}
    for line in path.read_text("utf-8").splitlines() if path and path.exists() else ():
        try:
            entry = json.loads(line)
        except ValueError:
            continue  # a line cut off by an interruption
        if entry["program"] == program:
            found[entry["key"]] = entry["verdict"]
    return found


def run(files: list[str], sample: int | None, seed: int, state: Path | None) -> int:
    """Examine the mutants of the files and return the exit status."""
    cases = edges.corpus()
    # fresh copies of the maps are simplified, so the forked processes inherit no cached results
    expected = [edges.digest(c, c.simplified(c.map)) for c in cases]
    gc.collect()
    gc.freeze()  # keeps the collector of each forked process from scanning shared objects
    kills: Counter[int] = Counter()
    program = sources()
    found = known(state, program)
    counts: dict[str, Counter[str]] = {f: Counter() for f in files}
    failed: list[str] = []
    excused: set[str] = set()
    begin, done = time.monotonic(), 0
    total = {f: sum(1 for _ in mutants_of(f)) for f in files}
    chosen = set(range(sum(total.values())))
    if sample is not None:
        chosen = set(random.Random(seed).sample(sorted(chosen), min(sample, len(chosen))))
    log = state.open("a", encoding="utf-8") if state else None
    for number, mutant in enumerate(m for f in files for m in mutants_of(f)):
        if number not in chosen:
            continue
        answer = found.get(mutant.key)
        if answer is None:
            order = sorted(range(len(cases)), key=lambda n: (-kills[n], n))
            answer = list(verdict(mutant, cases, expected, order))
            if log:
                print(json.dumps({"program": program, "key": mutant.key, "verdict": answer}), file=log, flush=True)
        kills[answer[2]] += 1
        counts[mutant.file][answer[0]] += 1
        done += 1
        if mutant.key in EQUIVALENT:
            excused.add(mutant.key)
        wrong = answer[0] == "wrong" and not mutant.trusted
        left = answer[0] == "same" and mutant.trusted and mutant.key not in EQUIVALENT
        if wrong or left or (answer[0] != "same" and mutant.key in EQUIVALENT):
            failed.append(f"{answer[0]}: {mutant.key}\n    {answer[1]}")
            print(failed[-1], flush=True)
        if not done % 50:
            print(f"{done} of {len(chosen)}, {time.monotonic() - begin:.0f} s, {mutant.file}", flush=True)
    if sample is None:
        there = {m.key for f in files for m in mutants_of(f)}
        failed += [f"no such mutant: {k}" for k in EQUIVALENT if k.split(" ", 1)[0] in files and k not in there]
    print(f"{'file':34}" + "".join(f"{v:>9}" for v in (*VERDICTS, "all")))
    for f in files:
        print(f"{f:34}" + "".join(f"{counts[f][v]:9}" for v in VERDICTS) + f"{sum(counts[f].values()):9}")
    print(f"{len(failed)} to be looked at; {len(excused)} listed as equivalent")
    print("".join(f"{f}\n" for f in failed), end="")
    return 1 if failed else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", choices=[*TRUSTED, *UNTRUSTED], metavar="FILE")
    parser.add_argument("--sample", type=int, help="only so many mutants, drawn at random")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--state", type=Path, help="a file that keeps verdicts, so that a run can be resumed")
    asked = parser.parse_args()
    if NATIVE:
        parser.error("the native core does not change with its sources: set INDEXPROOF_PURE=1")
    return run(asked.only or [*TRUSTED, *UNTRUSTED], asked.sample, asked.seed, asked.state)


if __name__ == "__main__":
    sys.exit(main())
