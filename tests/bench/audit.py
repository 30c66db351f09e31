"""List possible improvements of results: ``python tests/bench/audit.py atoms``, ``combinations``, ``table``, ``beaten``.

``atoms`` evaluates every quotient, remainder, minimum and maximum in the results of the benchmark's maps, also of those
made with other seeds, and lists the needless ones: those that have one value, that are an affine function of the
variables, or that equal another one up to sign and a constant.  On a small domain that may be a coincidence of its
bounds; on a domain that is not evaluated completely it may not hold everywhere.

``combinations`` writes quotients and remainders as linear combinations of one or two other atoms, dividends or
variables, where the values are equal and the map costs less: such a division is redundant.

``table`` enumerates small expressions of one variable (two of its quotients and remainders, their multiples and
sums, divided once more) and counts how often one of them has the values of a result and costs less.

``beaten`` lists the maps for which a peer's right result has no more operations, no more divisions, and fewer of one of
them.  It takes a minute for each seed.
"""

from __future__ import annotations

import argparse
import itertools
import random
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))

from answers import disagreement, limited
from corpora import CORPORA, GENERATED, Map
from peers import COMPARED, PEERS, Peer, available
from programs import DIVISIONS, Builder, Program, cost

#: The atoms that are evaluated; results on a domain with fewer points than ``FEWEST`` are not meaningful.
POINTS = 200_000
FEWEST = 40
#: Offsets that are added to the seeds of the generated corpora, besides 0.
SHIFTS = (0, 1_000, 2_000)
#: The number of operations that a division counts as.
WEIGHT = 3
ATOMS = DIVISIONS | {"min", "max"}


# ------------------------------------------------------------------------------------------------------------- atoms
@dataclass
class Needless:
    """A redundant atom of a result, and the reason."""

    corpus: str
    map: str
    why: str
    text: str
    #: whether the whole domain was evaluated
    everywhere: bool


@dataclass
class Found:
    """The atoms of a corpus."""

    maps: int = 0
    #: maps whose domain has too few points
    few: int = 0
    atoms: int = 0
    needless: list[Needless] = field(default_factory=list)


def needless_atoms(m: Map, program: Program, points: int = POINTS) -> Iterator[Needless]:
    """Return the redundant atoms of one result.  ``program`` is the result, over the variables of the map."""
    env = m.points(points)
    everywhere = np.prod([hi - lo + 1.0 for _, lo, hi in m.vars]) <= points
    live = program.live()
    values = dict(zip(live, program.evaluate(env, live), strict=True))
    variables = [v for v in env.values() if v.min() != v.max()]
    known: dict[bytes, int] = {}
    for i in live:
        node = program.nodes[i]
        if not isinstance(node, tuple) or node[0] not in ATOMS:
            continue
        value = values[i]
        why = _why(value, values[node[1]] if node[0] == "mod" else None, variables)
        if not why:
            from_first = np.asarray(value - value[0], dtype=np.int64)
            for other in (from_first, -from_first):
                if other.tobytes() in known:
                    why = "as another: " + _text(program, known[other.tobytes()])
            known.setdefault(from_first.tobytes(), i)
        if why:
            yield Needless(m.corpus, m.name, why, _text(program, i), bool(everywhere))


def _why(value: Any, dividend: Any, variables: Sequence[Any]) -> str:
    if value.min() == value.max():
        return "constant"
    if dividend is not None and (dividend - value).min() == (dividend - value).max():
        return "changes nothing"
    return "affine" if _is_affine(value, variables) else ""


def _is_affine(value: Any, variables: Sequence[Any]) -> bool:
    """Return whether the values are an affine function of the variables with integer coefficients."""
    if not variables or value.dtype == object:
        return False
    matrix = np.column_stack([*variables, np.ones(len(value), dtype=np.int64)])
    some = np.linspace(0, len(value) - 1, min(len(value), 500), dtype=np.int64)
    factors, _, rank, _ = np.linalg.lstsq(matrix[some].astype(float), value[some].astype(float), rcond=None)
    if rank < matrix.shape[1]:
        return False
    return bool((matrix @ np.rint(factors).astype(np.int64) == value).all())


# ------------------------------------------------------------------------------------------------------ combinations
@dataclass
class Cheaper:
    """A map whose result costs less with a sum in place of one quotient or remainder."""

    corpus: str
    map: str
    spent: int
    least: int
    text: str


def audit_combinations(
    peer: Peer, names: Sequence[str], shifts: Sequence[int], points: int
) -> tuple[int, list[Cheaper]]:
    """Return the number of maps examined, and those that could be cheaper."""
    from indexproof.core.expr import postorder

    (ours,), _ = available(["indexproof"])
    maps, found = 0, []
    for m in _made(names, shifts):
        env = m.points(points)
        if not env or len(next(iter(env.values()))) < FEWEST or peer.refuses(m):
            continue
        program = peer.back(peer.simplify(peer.convert(m)), m)
        # every peer's result as our expressions, for the same cost and the same sums
        results = ours.convert(replace(m, program=program, constraints=[])).results
        nodes = postorder(*results)
        values = evaluate(nodes, env)
        maps += 1
        best = _cheapest(results, nodes, values)
        if best is not None:
            found.append(Cheaper(m.corpus, m.name, *best))
    return maps, found


def evaluate(nodes: Sequence[Any], env: dict[str, Any]) -> dict[Any, Any]:
    """The values of expressions at all points."""
    from indexproof.core.indexing_map import IndexingMap

    boxes = [(n, int(v.min()), int(v.max())) for n, v in env.items()]
    _, values = IndexingMap.of(boxes, results=list(nodes)).evaluate_many(list(env.values()))
    return dict(zip(nodes, np.broadcast_arrays(*values, *env.values()), strict=False))


def _cheapest(results: Sequence[Any], nodes: Sequence[Any], values: dict[Any, Any]) -> tuple[int, int, str] | None:
    """Return the cost of the results, their cost after the best replacement of one atom, and that replacement."""
    from indexproof.core.cost import cost as documented
    from indexproof.core.expr import FloorDiv, Mod, Var, linear, postorder, substitute_all

    atoms = [e for e in nodes if isinstance(e, (FloorDiv, Mod))]
    inside = {e: set(postorder(e)) for e in nodes}
    spent = least = documented(results).weighed(WEIGHT)
    text = ""
    for a in atoms:
        pool = dict.fromkeys([*atoms, *[b.a for b in atoms], *[e for e in nodes if isinstance(e, Var)]])
        there = [b for b in pool if a not in inside[b] and values[b].min() != values[b].max()]
        for k in (1, 2):
            for chosen in itertools.combinations(there, k):
                factors = _factors(values[a], [values[b] for b in chosen])
                if factors is None:
                    continue
                *by, constant = factors
                other = linear(constant, list(zip(chosen, by, strict=True)))
                now = documented(substitute_all(results, {a: other})).weighed(WEIGHT)
                if now < least:
                    least, text = now, f"{a} = {other}"
    return (spent, least, text) if text else None


def _factors(value: Any, others: Sequence[Any]) -> list[int] | None:
    """Return integer coefficients of ``others`` and a constant that give ``value``, the constant last."""
    matrix = np.column_stack([*others, np.ones(len(value), dtype=np.int64)])
    some = np.linspace(0, len(value) - 1, min(len(value), 24), dtype=np.int64)
    solved = np.linalg.lstsq(matrix[some].astype(float), value[some].astype(float), rcond=None)[0]
    whole = np.rint(solved)
    if np.abs(solved - whole).max() > 1e-6 or np.abs(whole).max() > 1e9:
        return None
    factors = whole.astype(np.int64)
    return [int(k) for k in factors] if (matrix @ factors == value).all() else None


def _text(program: Program, root: int) -> str:
    return Program(program.nodes, [root]).text()[1:-1]


def _made(names: Sequence[str], shifts: Sequence[int]) -> Iterator[Map]:
    """Yield the maps of corpora, those of generated ones with each of ``shifts`` added to the seed."""
    for name in names:
        if name in GENERATED:
            for shift in shifts:
                yield from GENERATED[name](shift=shift)
        else:
            yield from CORPORA[name]()


def audit_atoms(peer: Peer, names: Sequence[str], shifts: Sequence[int], points: int) -> dict[str, Found]:
    """Return the atoms in the results of a peer, by corpus."""
    found: dict[str, Found] = {}
    for name in names:
        of = found[name] = Found()
        for m in _made([name], shifts):
            of.maps += 1
            env = m.points(points)
            if not env or len(next(iter(env.values()))) < FEWEST:
                of.few += 1
                continue
            if peer.refuses(m):
                continue
            program = peer.back(peer.simplify(peer.convert(m)), m)
            nodes = [program.nodes[i] for i in program.live()]
            of.atoms += sum(isinstance(n, tuple) and n[0] in ATOMS for n in nodes)
            of.needless += needless_atoms(m, program, points)
    return found


def print_atoms(found: dict[str, Found]) -> None:
    for name, of in found.items():
        kinds = Counter(n.why.partition(":")[0] for n in of.needless)
        said = ", ".join(f"{n} {why}" for why, n in sorted(kinds.items())) or "none needless"
        print(f"{name}: {of.maps:,} maps ({of.few} on fewer than {FEWEST} points), {of.atoms:,} atoms, {said}")
        for n in of.needless:
            where = "everywhere" if n.everywhere else "where evaluated"
            print(f"  {n.map}: {n.text}   {n.why}, {where}")


# ------------------------------------------------------------------------------------------------------------- table
class Table:
    """The cheapest small expression of ``x`` for each sequence of values on x from 0 to ``size - 1``."""

    def __init__(self, size: int, divisors: Sequence[int], factors: Sequence[int]) -> None:
        self.x = np.arange(size, dtype=np.int64)
        self.least: dict[bytes, tuple[int, Any]] = {}
        #: expressions that are divided once more, from which the sample is drawn
        self.divided: list[Any] = []
        atoms: list[Any] = ["x", *(["fdiv", "x", d] for d in divisors), *(["mod", "x", d] for d in divisors)]
        sums: list[Any] = []
        for i, a in enumerate(atoms):
            self.put(a)
            sums += [["mul", a, k] for k in factors]
            for b in atoms[i + 1 :]:
                sums += [["add", ["mul", a, k], ["mul", b, j]] for k in factors for j in factors]
        for s in sums:
            self.put(s)
            for d in divisors:
                for op in ("fdiv", "mod"):
                    self.put([op, s, d])
                    self.divided.append([op, s, d])
        rng = random.Random(0)
        for three in itertools.combinations(atoms, 3):
            for _ in range(60):
                a, b, c = (["mul", e, rng.choice(factors)] for e in three)
                self.put(["add", ["add", a, b], c])

    def put(self, e: Any) -> None:
        p = program_of(e)
        key, spent = self.key(p), weighed(p)
        if key not in self.least or spent < self.least[key][0]:
            self.least[key] = spent, e

    def key(self, p: Program) -> bytes:
        value = p.evaluate({"x": self.x})[0]
        return bytes(np.broadcast_to(np.asarray(value, dtype=np.int64), self.x.shape).tobytes())


def program_of(e: Any) -> Program:
    b = Builder()
    return b.program([b.nested(e)])


def weighed(p: Program) -> int:
    """Return the documented cost."""
    c = cost(p)
    return c.all + (WEIGHT - 1) * c.divisions


def audit_table(peer: Peer, table: Table, count: int, seed: int = 1) -> tuple[int, list[tuple[int, int, str, str]]]:
    """Return the number of distinct functions, and the suboptimal ones: cost, least cost, result, cheapest form."""
    seen: set[bytes] = set()
    dearer = []
    size = len(table.x)
    for e in random.Random(seed).sample(table.divided, min(count, len(table.divided))):
        p = program_of(e)
        key = table.key(p)
        if key in seen:
            continue
        seen.add(key)
        m = Map("table", p.text(), [("x", 0, size - 1)], p)
        result = peer.back(peer.simplify(peer.convert(m)), m)
        spent, (least, way) = weighed(result), table.least[key]
        if least < spent:
            dearer.append((spent, least, result.text(), program_of(way).text()))
    return len(seen), dearer


# ------------------------------------------------------------------------------------------------------------ beaten
@dataclass
class Beaten:
    """A map for which another peer's result is smaller: operations and divisions, and the results."""

    map: Map
    mine: tuple[int, int]
    other: str
    theirs: tuple[int, int]
    text: str
    other_text: str


def audit_beaten(
    peer: Peer, others: Sequence[Peer], names: Sequence[str], shifts: Sequence[int]
) -> Iterator[Beaten | None]:
    """Yield for each map the smallest peer result that is no larger in any measure and smaller in one, or ``None``."""
    for m in _made(names, shifts):
        made = peer.back(peer.simplify(peer.convert(m)), m)
        c = cost(made)
        mine = c.all, c.divisions
        least: Beaten | None = None
        for other in others:
            if other.refuses(m):
                continue
            other.fresh()
            state, _, answer = limited(other, lambda other=other, m=m: other.timed(m))
            if state:
                continue
            program = other.back(answer[1], m)
            c = cost(program)
            theirs = c.all, c.divisions
            if theirs == mine or theirs[0] > mine[0] or theirs[1] > mine[1] or disagreement(m, program):
                continue
            if least is None or sum(theirs) < sum(least.theirs):
                least = Beaten(m, mine, other.name, theirs, made.text(), program.text())
        yield least


def print_beaten(found: Iterator[Beaten | None], show: int) -> None:
    rows = list(found)
    beaten = [b for b in rows if b is not None]
    print(f"{len(beaten)} of {len(rows):,} maps are smaller in somebody else's result")
    for b in sorted(beaten, key=lambda b: sum(b.theirs) - sum(b.mine))[:show]:
        print(f"  {b.map.corpus} {b.map.name}: {b.mine[0]} with {b.mine[1]} divisions  {b.text}")
        print(f"    {b.other}: {b.theirs[0]} with {b.theirs[1]} divisions  {b.other_text}")
        where = "".join(f", {_text(b.map.program, c)} in [{lo}, {hi}]" for c, lo, hi in b.map.constraints)
        print(f"    of {b.map.program.text()} for {b.map.vars}{where}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("what", choices=["atoms", "combinations", "table", "beaten"])
    parser.add_argument("--peer", default="indexproof", choices=[p.name for p in PEERS])
    parser.add_argument("--corpus", action="append", choices=[*GENERATED, "xla", "published"])
    parser.add_argument("--shift", type=int, action="append", help="what is added to the seeds of the maps")
    parser.add_argument("--points", type=int, default=POINTS)
    parser.add_argument("--size", type=int, default=96, help="values of the variable of the table")
    parser.add_argument("--count", type=int, default=2_500, help="how many of its expressions are simplified")
    parser.add_argument("--show", type=int, default=40, help="how many of the dearer ones are printed")
    args = parser.parse_args()
    sys.setrecursionlimit(20_000)
    peers, missing = available([args.peer])
    if not peers:
        sys.exit(f"{args.peer} cannot be asked: {missing[args.peer]}")
    if args.what == "beaten":
        others, _ = available([n for n in COMPARED if n != args.peer])
        names = args.corpus or list(GENERATED)
        print_beaten(audit_beaten(peers[0], others, names, args.shift or SHIFTS), args.show)
        return
    if args.what == "atoms":
        names = args.corpus or [*GENERATED, "xla"]
        print_atoms(audit_atoms(peers[0], names, args.shift or SHIFTS, args.points))
        return
    if args.what == "combinations":
        names = args.corpus or [*GENERATED, "xla"]
        maps, cheaper = audit_combinations(peers[0], names, args.shift or [0], min(args.points, 4_000))
        print(f"{len(cheaper)} of {maps:,} maps could cost less, {sum(c.spent - c.least for c in cheaper)} in all")
        for c in sorted(cheaper, key=lambda c: c.least - c.spent)[: args.show]:
            print(f"  {c.corpus} {c.map}: {c.spent}, {c.least} with {c.text}")
        return
    table = Table(args.size, (2, 3, 4, 6, 8, 12, 16, 24), (1, -1, 2, 3, -2, 4, 6))
    asked, dearer = audit_table(peers[0], table, args.count)
    print(f"{len(table.least):,} functions; of {asked:,} expressions {len(dearer)} could be written cheaper")
    by = Counter(spent - least for spent, least, _, _ in dearer)
    print("by " + ", ".join(f"{k}: {n}" for k, n in sorted(by.items())))
    for spent, least, result, way in sorted(dearer, key=lambda d: d[1] - d[0])[: args.show]:
        print(f"  {spent} {result}   {least} {way}")


if __name__ == "__main__":
    main()
