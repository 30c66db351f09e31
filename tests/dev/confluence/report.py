"""The report of `indexproof dev confluence`: where results depend on the order of rules, with the smallest examples."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar

import indexproof
from indexproof.reports.layout import block, count, joined, table
from indexproof.reports.progress import Bar
from indexproof.reports.serializer import document, written_as

from .search import Example, Found, OverlapSearch, Pair

__all__ = ["PAGE", "PairWatcher", "confluence_json", "confluence_text", "page"]

#: The page about the catalogue, which is committed.
PAGE = Path(str(indexproof.__file__)).parent / "reports" / "confluence.md"
#: Limits on the examples that are printed, and on those of the page.
_SHOWN = 20
_ROWS = {"rewritten": 12, "renamed": 3, "reordered": 3}
_MADE = {
    "rewritten": "written as it is, or as one of the rules makes it",
    "renamed": "with other names of the variables, in another order",
    "reordered": "results and constraints in the opposite order",
}


def _worst(pairs: Sequence[Pair]) -> list[Pair]:
    """Return the pairs with a difference, the worst and then the smallest first."""
    found = [(p.example.rank, n, p) for n, p in enumerate(pairs) if p.example is not None]
    return [p for _, _, p in sorted(found, key=lambda f: f[:2])]


def _kinds(pairs: Sequence[Pair]) -> Iterator[tuple[int, int, str]]:
    """Yield the numbers of pairs and of their instances for each kind of finding."""
    for kind, text in (
        (Found.WRONG, "WRONG: a value changes"),
        (Found.COST, "ORDER MATTERS: results of different cost"),
        (Found.FORM, "ORDER MATTERS: the same cost in another form"),
    ):
        of = [p for p in pairs if p.example is not None and p.example.kind is kind]
        yield len(of), sum(p.instances for p in of), text
    none = [p for p in pairs if p.example is None and p.instances]
    yield len(none), sum(p.instances for p in none), "none found"
    yield sum(not p.instances for p in pairs), 0, "no instance"


def _ways(pairs: Sequence[Pair]) -> list[tuple[str, Counter[Found]]]:
    """Return the number of instances with a difference, by the way that caused it."""
    total: dict[str, Counter[Found]] = {how: Counter() for how in _MADE}
    for p in pairs:
        for how, counts in p.counts.items():
            total[how].update(counts)
    return list(total.items())


def _example(p: Pair, e: Example) -> str:
    found = sum(sum(c.values()) for c in p.counts.values())
    title = f"{p.verdict}  {p.outer} / {p.inner}   {count(found, 'difference')} in {count(p.instances, 'instance')}"
    return block(
        title,
        [
            ("take", e.given[0]),
            ("or", f"{e.given[1]}   ({e.way})"),
            ("become", f"{e.results[0]}   weight {e.weights[0]}"),
            ("and", f"{e.results[1]}   weight {e.weights[1]}" + (", with --quick" if e.quick else "")),
        ],
    )


def confluence_text(run: OverlapSearch, *, seconds: float) -> Iterator[str]:
    """Yield the report block by block."""
    rows = [(f"{n:,}", f"{i:,}", text) for n, i, text in _kinds(run.pairs) if n]
    yield "\n".join(table([("pairs", "instances", "verdict"), *rows], right=(0, 1)))
    found = _worst(run.pairs)
    for p in found[:_SHOWN]:
        assert p.example is not None
        yield _example(p, p.example)
    if len(found) > _SHOWN:
        yield f"and {len(found) - _SHOWN:,} more pairs (--json lists all)"
    left = run.total - len(run.pairs)
    said = [count(len(run.pairs), "pair"), count(run.instances, "instance")]
    said += [f"{count(left, 'pair')} not checked"] if left else []
    yield f"{run.verdict}  {', '.join(said)}   in {seconds:.1f} s"


written_as(Example, "kind way quick given results weights")
written_as(
    Pair,
    "outer inner verdict instances differences=counts examples",
    verdict=lambda pair: pair.verdict.partition(" (")[0],
)


def confluence_json(run: OverlapSearch, *, seconds: float) -> dict[str, Any]:
    """Return the answer of ``confluence``."""
    return document(
        "confluence",
        run.verdict,
        run.exit_status,
        interrupted=run.interrupted,
        total=run.total,
        count=run.count,
        instances=run.instances,
        counts=dict(sorted(Counter(map(_said, run.pairs)).items())),
        pairs=run.pairs,
        timing={"seconds": seconds},
    ) | {"format": "indexproof confluence 2"}


def _said(p: Pair) -> str:
    return p.verdict.partition(" (")[0]


class PairWatcher(Bar):
    """A progress bar, called with every pair."""

    verb: ClassVar[str] = "searching"
    remaining: ClassVar[bool] = True
    found = 0

    def __call__(self, pair: Pair) -> None:
        """Count one more pair."""
        self.found += pair.example is not None
        said = f"{self.found:,} where the order matters" if self.found else ""
        if self.show(1, said):
            self.tell(joined([self.share("pairs"), said]))


# ------------------------------------------------------------------------------------------------------ the page
def page(run: OverlapSearch) -> str:
    """Return the page about the catalogue."""
    rows = "\n".join(f"| {text} | {n:,} | {i:,} |" for n, i, text in _kinds(run.pairs))
    ways = "\n".join(
        f"| {how} | {_MADE[how]} | {c[Found.COST]:,} | {c[Found.FORM]:,} | {c[Found.WRONG]:,} |"
        for how, c in _ways(run.pairs)
    )
    return _PAGE.format(
        pairs=run.total,
        instances=run.instances,
        count=run.count,
        rows=rows,
        ways=ways,
        examples="\n".join(row for how in _MADE for row in _rows(run.pairs, how)),
    )


def _rows(pairs: Sequence[Pair], how: str) -> list[str]:
    """Return the first examples of one way: one for each rule, or one for each pair of results."""
    rewritten = how == "rewritten"
    found: dict[Any, str] = {}
    examples = [p.examples[how] for p in pairs if how in p.examples]
    for e in sorted(examples, key=lambda e: e.rank if rewritten else (e.kind is not Found.WRONG, e.size, e.rank)):
        quick = " (`--quick`)" if e.quick else ""
        results = f"`{_result(e, 0)}`, `{_result(e, 1)}`{quick}"
        row = f"| `{e.given[0]}` | {results} | {e.weights[0]}, {e.weights[1]} | {e.way} |"
        found.setdefault(e.way if rewritten else frozenset(e.results), row)
    return list(found.values())[: _ROWS[how]]


def _result(e: Example, n: int) -> str:
    """Return a result, without its domain where that is unchanged."""
    text, _, domain = e.results[n].partition(" -> ")[2].rpartition(", domain: ")
    return text if domain == e.given[0].rpartition(", domain: ")[2] else f"{text}, {domain}"


_PAGE = """<!-- Printed by `indexproof dev confluence --page`; edit tests/dev/confluence/report.py instead. -->

# Does the order matter?

The catalogue is *not* confluent: its rules say what is true, and where two of them apply, the production simplifier decides
by cost. `indexproof dev confluence` searches for inputs on which its result depends on what it meets first. It examines
production itself (`indexproof.simplify`), by default and with `--quick`, and no model of it.

{pairs:,} pairs of rules, up to {count} instances of each, {instances:,} in all:

| verdict | pairs | instances |
|---|---:|---:|
{rows}

*none found* says that this search found nothing. It never says that there is nothing.
*no instance* are mostly rules that do not overlap; the search may also have missed an overlap.

Instances with a difference, by what made it:

| way | the same map | cost | form | wrong |
|---|---|---:|---:|---:|
{ways}

## The smallest examples

Of maps that were rewritten first those for which a cheaper result exists than the map has as it is, one for each rule; then
the smallest that depend on names or on order. The weight is the documented cost of a result.

| map | two results | weights | second way |
|---|---|---|---|
{examples}

## What is done

1. **Instances.** Each rule is instantiated with small constants, boxes and expressions under which its conditions hold. An
   equation among the conditions gives the value of a variable, bounds give a fresh variable's box; the rest is drawn from
   a few values. `Facts` checks every condition in the end.
2. **Overlaps.** A part of one rule's left side is matched with an instance of the other rule, and the other way round;
   two rules for sums may also share one summand, the others being in the rest of either. Of rules for constraints one
   constraint is shared, or a rule for expressions applies within it. Structural and sharing rules are left out.
3. **Questions.** The map as it is, after one rule and after the other (the declaration's right side under the same
   substitution) are simplified; so are the map with renamed variables, which changes the order of summands, and maps with
   results and constraints in the opposite order. Of one group all results should be the same; the order of constraints
   is no difference.
4. **Values.** Whatever is given and whatever results is evaluated at the same points. A difference is **WRONG**, whatever
   the order, and stands above everything else.

Random choices are seeded by the names of the two rules and the number of the attempt. The clock and the number of processes
change nothing. Small means few symbols, then small constants, then small boxes; what is shown is the smallest found.
"""
