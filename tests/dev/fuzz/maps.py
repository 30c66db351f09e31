"""Simplify maps and validate the results: :func:`examine` checks one map."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from hypothesis import strategies as st

from indexproof.core.cost import map_cost
from indexproof.core.explain import UnexplainedError, explained
from indexproof.core.indexing_map import IndexingMap
from indexproof.core.simplify_map import simplify_map
from indexproof.core.steps import Trace
from indexproof.core.text import format_map
from indexproof.core.transform import reduce_map
from indexproof.reports.layout import count
from indexproof.rules.catalog import RULES
from indexproof.verify.concrete import equal_maps
from indexproof.verify.derivation import DerivationRefused, check_derivation
from indexproof.verify.testing import strategies
from indexproof.verify.verdict import Status

from ..plain import plain_map
from .generate import BY_DEFAULT, FAMILIES, WEIGHTS, Asked, family_map
from .runs import Failed, Result, Run, attempted, run_text
from .validate import ENGINES, SAMPLES, Disagreement, read_as_before, validate

__all__ = ["beside_plain", "examine", "examine_corpus", "examine_some", "fuzz_text", "samples"]


# -------------------------------------------------------------------------------------------------- one map
def examine(
    m: IndexingMap, asked: Asked = BY_DEFAULT, checked: bool = False, proved: Sequence[str] = ()
) -> Counter[str]:
    """Simplify and validate one map; return counts of the work done.

    ``checked``: every step is derived, the derivation is checked (with the ``proved`` rules only, if any are named), and
    the result is compared with that of the plain driver.  Raises :class:`~.runs.Failed` on failure; each kind of failure
    is raised on its own line, by which Hypothesis distinguishes them.
    """

    def failed(kind: str, why: object, status: int = 1) -> Failed:
        how = [("simplified", f"with {asked.options}")] if asked.options else []
        return Failed(kind, status, ("map", format_map(m)), *how, ("because", why))

    counts = Counter({"maps": 1})
    trace: Trace | None = [] if checked else None
    try:
        after = _simplified(m, asked, trace)
        again = _simplified(after.with_(), asked)
        short: Trace | None = [] if checked else None
        reduced = reduce_map(m, RULES, short)
    except Exception as error:
        raise failed("the simplifier failed", repr(error), 4) from error
    try:
        found = validate(m, after)
    except Disagreement as error:
        raise failed("two engines contradict each other", error) from None
    counts[f"decided {found.decided_by}"] += 1
    counts.update(f"{engine} {said}" for engine, said in found.said.items())
    if found.said.get("z3") == "open" and found.said.get("isl") == "same":
        counts["z3 gave up, isl proved"] += 1
    if found.verdict is Status.REFUTED:
        raise failed("the simplified map differs", f"{format_map(after)}: {found.counterexample}")
    if found.verdict is not Status.PROVED:
        raise failed("no engine decided it", found.said, 2)
    if reduced.steps:
        # compared with the result, whose relation has been proved equal to the map's
        counts["reduced"] += 1
        answer = equal_maps(after, read_as_before(reduced))
        if answer.verdict is Status.REFUTED:
            raise failed("the simplified map differs", f"reduced to {format_map(reduced.map)}: {answer.counterexample}")
        if not answer.proved:
            raise failed("no engine decided it", f"reduced to {format_map(reduced.map)}", 2)
    for end, steps in ((after, trace), *([(reduced.map, short)] if reduced.steps else [])):
        if steps is None:
            continue
        try:
            derivation = explained(m, end, steps)
            derived = check_derivation(derivation, RULES, proved or None)
        except UnexplainedError as error:
            raise failed("the recorded steps do not lead to the result", error) from None
        except DerivationRefused as error:
            raise failed("a step is no instance of a proved rule", error) from None
        counts["derivations"] += 1
        counts["steps"] += derived.steps
        counts.update(f"rule {name}" for name in derivation.rules())
    if checked:
        unasked = _simplified(m, asked)
        if unasked != after:
            raise failed(
                "the result is another one when it is not explained", f"without a trace: {format_map(unasked)}"
            )
        if asked == BY_DEFAULT:
            counts[f"plainly {beside_plain(m, after)}"] += 1
    if again != after:
        raise failed("simplifying again changes the result", f"{format_map(after)} becomes {format_map(again)}")
    before, now = map_cost(m), map_cost(after)
    if now.weighed(asked.division_weight) > before.weighed(asked.division_weight):
        raise failed("the result costs more than the map", f"from {before} to {now}")
    for when, cost in (("before", before), ("after", now)):
        counts[f"divisions {when}"] += cost.divisions
        counts[f"operations {when}"] += cost.operations
    return counts


def _simplified(m: IndexingMap, asked: Asked, trace: Trace | None = None) -> IndexingMap:
    return simplify_map(m, RULES, trace, division_weight=asked.division_weight, quick=asked.quick)


def beside_plain(m: IndexingMap, after: IndexingMap) -> str:
    """Compare a result with that of the plain driver: the same rules one at a time, bottom-up, without extraction."""
    plain = plain_map(m)
    if plain == after:
        return "the same"
    cost, other = map_cost(after).weight, map_cost(plain).weight
    return "cheaper" if cost < other else "dearer" if cost > other else "as dear"


# ------------------------------------------------------------------------------------------------- many maps
@st.composite
def samples(draw: st.DrawFn) -> tuple[IndexingMap, Asked]:
    """Draw a map, of any kind or of a hard family, and the options of its simplification."""
    family = draw(st.sampled_from(("", "", "", "", *FAMILIES)))
    if family:
        m = family_map(family, draw(st.randoms(use_true_random=False)))
    else:
        m = draw(strategies.maps(sources=True, empty=True, large=draw(st.booleans())))
    return m, Asked(draw(st.sampled_from(WEIGHTS)), draw(st.sampled_from((False, False, False, True))))


def examine_some(task: tuple[int, int], checked: bool = False, proved: Sequence[str] = ()) -> Result:
    """Examine a number of maps that are drawn with a seed."""
    return attempted(samples(), *task, lambda s: examine(*s, checked, proved))


def examine_corpus(
    maps: Iterable[tuple[str, IndexingMap]], checked: bool, proved: Sequence[str] = (), asked: Asked = BY_DEFAULT
) -> Result:
    """Examine named maps until one fails."""
    counts: Counter[str] = Counter()
    for name, m in maps:
        try:
            counts.update(examine(m, asked, checked, proved))
        except Failed as error:
            return counts, (error.status, f"{name}\n{error}")
    return counts, None


def fuzz_text(run: Run, seconds: float, jobs: int) -> Iterator[str]:
    """Yield the report of a run over maps."""
    c = run.counts
    sampled = f"at {SAMPLES} points each of {c['evaluation open']:,}"
    lines = [
        ("evaluation", f"equal at every point of {c['evaluation same']:,}, and {sampled}"),
        *((e, f"proved {c[f'{e} same']:,}, gave up on {c[f'{e} open']:,}") for e in ENGINES[1:]),
        ("identity", f"{count(c['decided identity'], 'map')} came back unchanged"),
        ("reduced", f"{count(c['reduced'], 'map')} to fewer variables, with the same relation"),
        ("divisions", f"{c['divisions before']:,} → {c['divisions after']:,}"),
        ("operations", f"{c['operations before']:,} → {c['operations after']:,}"),
    ]
    if c["derivations"]:
        lines.append(("derived", f"{c['derivations']:,}, in {count(c['steps'], 'step')}"))
        lines += [(k, f"{c[k]:,}") for k in sorted(c) if k.startswith("plainly ")]
        unused = [r.name for r in RULES if not c[f"rule {r.name}"] and not getattr(r, "structural", False)]
        lines.append(("never used", ", ".join(unused) or "none"))
    left = [] if c["derivations"] else ["the derivations (--checked)"]
    left += [f"{c[f'{e} open']:,} maps by {e}" for e in ENGINES if c[f"{e} open"]]
    return run_text(run, "maps", lines, left, seconds, jobs)
