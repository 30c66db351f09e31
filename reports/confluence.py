"""What `indexproof confluence` says: how many critical pairs join, and the smallest expressions with two normal forms."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..core.rewrite import ConstraintRule, Rule
from ..verify.confluence import ConfluenceRun, Kind, Pair, counted, smallest
from ..verify.confluence.overlap import matched
from .layout import block, count, joined, table
from .machine import document

__all__ = ["PAGE", "confluence_json", "confluence_text", "page", "rows_of_page"]

#: The page about the catalogue, which is committed.
PAGE = Path(__file__).with_name("confluence.md")

_ORDER = (Kind.JOINABLE, Kind.NOT_JOINABLE, Kind.UNDECIDED, Kind.CONTRADICTORY, Kind.TRIVIAL)
#: So many pairs that are open are listed by name.
_LISTED = 40


def _verdict(run: ConfluenceRun) -> str:
    if not run.total:
        return "NO PAIRS"
    if run.exit_status == 1:
        return str(Kind.NOT_JOINABLE)
    return {0: "JOINABLE", 2: "NOT CHECKED" if run.interrupted else "UNDECIDED"}[run.exit_status]


def _derivation(start: str, steps: Sequence[tuple[str, str]]) -> str:
    return "\n".join([start, *(f"→ {after}   by {rule}" for rule, after in steps)])


def confluence_text(run: ConfluenceRun, *, seconds: float, details: bool = False) -> Iterator[str]:
    """The report, block by block; with ``details`` also the derivations of the pairs that join."""
    found = counted(run.pairs)
    yield "\n".join(
        table([("pairs", "verdict"), *((str(found[k]), str(k)) for k in _ORDER if found[k])], right=(0,))
    )
    for p in sorted(smallest(run.pairs).values(), key=lambda p: (p.rank, p.witness)):
        yield witness_block(p)
    if details:
        for p in run.pairs:
            if p.kind is Kind.JOINABLE:
                left, _, rest = (
                    p.statement.partition("  ←  ")
                    if "  ←  " in p.statement
                    else p.statement.partition(" <- ")
                )
                right = rest.partition("  →  ")[2] or rest.partition(" -> ")[2]
                yield block(
                    f"JOINABLE  {p.name}",
                    [
                        ("pair", p.statement),
                        *([("why", p.reason)] if p.reason else []),
                        ("left", _derivation(left, p.first)),
                        ("right", _derivation(right.partition("   when ")[0].partition(" if ")[0], p.second)),
                        *_further(p),
                    ],
                )
    open_ = [p for p in run.pairs if p.kind is Kind.UNDECIDED]
    if open_:
        lines = [(p.name, p.reason) for p in open_[:_LISTED]]
        more = [f"and {len(open_) - _LISTED} more (--json lists all)"] if len(open_) > _LISTED else []
        yield "\n".join(["UNDECIDED", *table([(f"  {a}", b) for a, b in lines]), *more])
    done = len(run.pairs)
    kept = f", {run.kept} of them kept from before" if run.kept else ""
    rest = f"; {run.total - done} were not checked" if done < run.total else ""
    yield f"{_verdict(run)}  {count(run.total, 'critical pair')}{kept}{rest}   in {seconds:.1f} s"


def _further(p: Pair) -> Iterator[tuple[str, str]]:
    """The derivations of further cases."""
    for first, second, meets in p.cases:
        for side, steps in (("left", first), ("right", second)):
            yield side, _derivation(f"in another case, to {meets}", steps)


def witness_block(p: Pair) -> str:
    """An expression with two normal forms, and both derivations."""
    lines = [
        ("take", p.witness + (f"   where {p.domain}" if p.domain else "")),
        ("left", _derivation(p.witness, p.first)),
        ("right", _derivation(p.witness, p.second)),
        ("ends", f"{p.forms[0]}   and   {p.forms[1]}"),
    ]
    if p.reason:
        lines.append(("note", p.reason))
    return block(f"NOT JOINABLE  {p.name}", lines)


def confluence_json(run: ConfluenceRun, *, seconds: float) -> dict[str, Any]:
    """The same as one document."""
    found = counted(run.pairs)
    return document(
        "confluence",
        _verdict(run),
        run.exit_status,
        interrupted=run.interrupted,
        total=run.total,
        counts={str(k): found[k] for k in _ORDER},
        pairs=[p.to_json() for p in run.pairs],
        timing={"seconds": round(seconds, 3), "from_checkpoint": run.kept},
    )


# ---------------------------------------------------------------------------------------------------------- the page
def page(run: ConfluenceRun, rules: Sequence[Rule | ConstraintRule]) -> str:
    """The committed page about the catalogue."""
    names = [r.name for r in matched([r for r in rules if isinstance(r, Rule)])]
    constraints = [r.name for r in rules if isinstance(r, ConstraintRule)]
    pairs = [p for p in run.pairs if not p.constraints]
    parts = [
        _INTRODUCTION,
        f"{len(pairs)} critical pairs of {len(names)} rules for expressions:\n\n{_kinds(pairs, _MEANING)}",
        "## Expressions with two normal forms\n\n" + _ABOUT_WITNESSES + "\n\n" + _listed(pairs, "expression"),
        "## Steps that do not descend as a whole\n\n" + _risen(pairs),
        "## What is open\n\n" + _open(pairs),
        "## Rules for constraints\n\n" + _constraints([p for p in run.pairs if p.constraints], constraints),
        "## By rule\n\nEach pair is counted with the rule whose left side contains the other's.\n\n"
        + _matrix(pairs, names),
        _METHOD,
    ]
    return "\n\n".join(parts) + "\n"


def _kinds(pairs: Sequence[Pair], meaning: Mapping[Kind, str]) -> str:
    found = counted(pairs)
    rows = "\n".join(f"| {k} | {found[k]} | {meaning[k]} |" for k in _ORDER)
    return f"| kind | pairs | meaning |\n|---|---:|---|\n{rows}"


def _listed(pairs: Sequence[Pair], what: str) -> str:
    worst = sorted(smallest(pairs).values(), key=lambda p: (p.rank, p.witness, p.name))
    return f"| {what} | where | two normal forms | first steps |\n|---|---|---|---|\n" + "\n".join(
        f"| `{p.witness}` | {p.domain or 'everywhere'} | {_forms(p)} | {p.name} |" for p in worst
    )


def _forms(p: Pair) -> str:
    """Both normal forms; those of domains hold commas."""
    return (" and " if p.constraints else ", ").join(f"`{f}`" for f in p.forms)


def _matrix(pairs: Sequence[Pair], names: Sequence[str]) -> str:
    by_rule: Mapping[str, Counter[Kind]] = {r: Counter() for r in names}
    for p in pairs:
        by_rule[p.outer][p.kind] += 1
    head = "| rule | " + " | ".join(map(str, _ORDER)) + " |\n|---|" + "---:|" * len(_ORDER) + "\n"
    return head + "\n".join(
        f"| {r} | " + " | ".join(str(by_rule[r][k]) for k in _ORDER) + " |" for r in names
    )


def _constraints(pairs: Sequence[Pair], names: Sequence[str]) -> str:
    """What is known of the pairs in which a constraint rule takes part."""
    own = [p for p in pairs if p.inner in names]
    mixed = [p for p in pairs if p.inner not in names]
    parts = [
        _ABOUT_CONSTRAINTS,
        f"{len(own)} critical pairs of {len(names)} rules for constraints with each other:",
        _kinds(own, _OF_DOMAINS),
        "### Domains with two normal forms\n\n" + _ABOUT_DOMAINS + "\n\n" + _listed(own, "constraints"),
        "### What is open between rules for constraints\n\n" + _left(own),
        "### Rules for expressions inside constraints",
        _ABOUT_INSIDE.format(count=count(len(mixed), "pair")),
        _kinds(mixed, _OF_DOMAINS),
        _listed(mixed, "constraints"),
        _left(mixed),
        "### Constraint rules one by one\n\n" + _matrix(own, names),
    ]
    return "\n\n".join(parts)


def _left(pairs: Sequence[Pair]) -> str:
    lines = [f"- {count(n, 'pair')}: {reason}" for reason, n in _reasons(pairs)]
    chosen = sum(p.kind is Kind.JOINABLE and p.chosen for p in pairs)
    cases = sum(p.kind is Kind.JOINABLE and bool(p.cases) for p in pairs)
    joined = sum(p.kind is Kind.JOINABLE for p in pairs)
    ends = Counter(p.reason for p in pairs if p.kind is Kind.JOINABLE and p.reason)
    ended = "".join(f"\n- {count(n, 'pair')}: {reason}" for reason, n in sorted(ends.items()))
    undecided = [f"| {p.name} | {p.reason} |" for p in pairs if p.kind is Kind.UNDECIDED]
    if undecided:
        lines += ["", "| pair | what is known |", "|---|---|", *undecided]
    return "\n".join(
        [
            *(lines or ["Nothing."]),
            "",
            f"Of the {joined} that are joinable {cases} are so in several cases of their constants and ranges, and "
            f"{chosen} by a step whose strategy is only assumed to propose what was chosen."
            + (f" Some are so by what both sides end in:\n{ended}" if ended else ""),
        ]
    )


def _reasons(pairs: Sequence[Pair]) -> list[tuple[str, int]]:
    reasons = Counter(
        "all instances join"
        if p.reason.startswith("all ")
        else "some instances reach too much"
        if p.constraints and p.reason.endswith("reach too much")
        else p.reason
        for p in pairs
        if p.kind is Kind.UNDECIDED
    )
    return sorted(reasons.items(), key=lambda r: (-r[1], r[0]))


def rows_of_page(text: str) -> dict[str, tuple[int, ...]]:
    """The counts of each rule on the page, in the order of the columns."""
    out: dict[str, tuple[int, ...]] = {}
    for line in text.split("## By rule", 1)[-1].splitlines():
        cells = [c.strip() for c in line.strip("|").split("|")]
        if len(cells) == len(_ORDER) + 1 and all(c.isdigit() for c in cells[1:]):
            out[cells[0]] = tuple(map(int, cells[1:]))
    return out


def counts_of(pairs: Sequence[Pair]) -> tuple[int, ...]:
    """The counts of some pairs, in the order of the columns of the page."""
    found = counted(pairs)
    return tuple(found[k] for k in _ORDER)


def _risen(pairs: Sequence[Pair]) -> str:
    least: dict[str, str] = {}
    for p in pairs:
        for note in p.notes:
            rule, _, text = note.partition(": ")
            if rule not in least or (len(text), text) < (len(least[rule]), least[rule]):
                least[rule] = text
    if not least:
        return "None was met: every step left a smaller expression, not only a smaller part."
    rows = "\n".join(f"| {r} | `{least[r]}` |" for r in sorted(least))
    return _ABOUT_RISEN + "\n\n| rule | the smallest step |\n|---|---|\n" + rows


def _open(pairs: Sequence[Pair]) -> str:
    never = sum(p.kind is Kind.CONTRADICTORY and "proposes nothing" in p.reason for p in pairs)
    apart = sum(p.kind is Kind.JOINABLE and bool(p.cases) for p in pairs)
    chosen = sum(p.kind is Kind.JOINABLE and p.chosen for p in pairs)
    unmet = sum(p.kind is Kind.JOINABLE and not p.tried for p in pairs)
    reaching = sum(p.kind is Kind.JOINABLE and p.given_up > 0 for p in pairs)
    lines = [f"- {count(n, 'pair')}: {reason}" for reason, n in _reasons(pairs)]
    undecided = [f"| {p.name} | {p.reason} |" for p in pairs if p.kind is Kind.UNDECIDED]
    if undecided:
        lines += ["", "| pair | what is known |", "|---|---|", *undecided]
    said = joined(["`indexproof confluence --json` lists them by name"])
    return "\n".join(
        [
            *(lines or ["Nothing."]),
            "",
            f"Of the pairs that are joinable, {apart} are so case by case, and {chosen} by a step that lets a value be "
            f"chosen. Of the latter one thing is assumed, not proved: that the strategy of the rule proposes the value "
            f"also where summands of an instance combine; no instance that was rewritten contradicts it. "
            f"All that are joinable were held, for a limited number of steps, against instances in which summands "
            f"combine or hide; for {unmet} of them no instance is known to which both rules apply, and of {reaching} "
            f"some instance reaches too much to be followed to its ends. "
            f"Of the contradictory pairs, {never} are so because a strategy proposes "
            f"nothing there. {said[0].upper() + said[1:] if not said.startswith('`') else said}.",
        ]
    )


_MEANING = {
    Kind.JOINABLE: "both results are rewritten to the same expression, for all constants, in every case that occurs",
    Kind.NOT_JOINABLE: "an expression is known that has two normal forms",
    Kind.UNDECIDED: "neither; never counted as joinable",
    Kind.CONTRADICTORY: "both rules never apply: their conditions exclude each other, or a strategy proposes nothing",
    Kind.TRIVIAL: "both results are the same, or a rule changes nothing there",
}

#: The same of pairs in which a rule for constraints takes part.
_OF_DOMAINS = {
    **_MEANING,
    Kind.JOINABLE: "both results are rewritten to the same constraints, for all constants, in every case that occurs",
    Kind.NOT_JOINABLE: "a domain is known that has two normal forms",
}

_INTRODUCTION = """<!-- Printed by `indexproof confluence --page`; edit reports/confluence.py instead. -->

# Local confluence

Two rules that can rewrite the same expression make a **critical pair**. It is *joinable* if both results can be rewritten
to a common one; where all pairs are joinable, and rewriting ends ([order](docs/order.md)), every expression has one normal
form, whatever the order in which rules are tried. `indexproof confluence` finds all critical pairs of a rule set and says
which are joinable, with the steps, and which are not, each with the smallest expression found that has two normal forms.

The figures are those of an earlier version of the rules: since then two rules about quotients and remainders have become
one, two about minimum and maximum have gone, and three have come. They were not counted again.

The catalogue is *not* confluent: its rules say what is true and what is simpler, and where two ways are left the production
simplifier decides by a fixed order, so that its results do not depend on chance. This page says where that matters."""

_ABOUT_WITNESSES = """For every two rules and place the smallest one: fewest symbols, then smallest constants, then
smallest domain, among the instances that were tried. Conditions are decided by evaluation at every point of the domain,
values that a rule lets be chosen are those that its strategy proposes, and all steps at all places were followed to
their ends: the two sets of normal forms have no member in common. `indexproof confluence RULE` prints both derivations."""

_ABOUT_RISEN = """*Progress* is proved of the expression that a rule rewrites. Where that stands inside another, the
whole should be smaller too. These steps were met that leave the whole no smaller in the documented order; no chain of
steps that leads back to where it came from was met."""

_ABOUT_CONSTRAINTS = """A domain is a box for every variable and a set of constraints; a rule for constraints rewrites
one of them, or two, or one and a box. Two such rules make a critical pair where they want the same constraint: both
the same one, one of two, or both of two, in every way in which their members can be matched. The other constraints
are left alone. A domain with an empty box, or with a number out of its bounds, is *nowhere*, in whatever way it came
to be so."""

_ABOUT_DOMAINS = """For every two rules and place the smallest one that was found: fewest symbols of its constraints,
then smallest numbers, then smallest boxes. All steps of all rules at all constraints were followed to their ends,
those of rules for expressions inside constraints too. Of boxes the normal forms show those that are no longer the
given ones."""

_ABOUT_INSIDE = """A rule for expressions that rewrites a part of a constraint, where a rule for constraints wants to
see that part: {count}. They are decided in the same way. Rules that rewrite any expression (`value_known`) have no
part of a pattern to meet, and rules for expressions that meet inside a variable of a constraint rule need no pair,
except that a rule for two constraints wants to see the same expression twice: where only one of them is rewritten the
other can be too."""

_METHOD = """## How

1. **Overlaps.** For every two rules, and every part of the left side of one that is no variable, both are unified modulo
   the canonical form: summands have no order, each is assigned as a whole to a summand or a variable of the other side,
   constants are spread over variables freely, and equations between coefficients become hypotheses. `min` and `max` of two
   arguments meet in those of three. Laws of the canonical form (structural rules) are what is unified modulo; spellings
   (sharing rules) are chosen once, by cost, at the end, and are no steps.
2. **Not covered symbolically**: a summand whose coefficient is split between several variables of a left side, and a
   variable that would be bound to something it occurs in. Instances look there, bounded as below. Overlaps inside a
   variable need no pair: a rule keeps the value of what it rewrites, so the conditions of the other rule still hold, and
   it applies to the result; where it lets values be chosen and asks for a smaller result, this is not proved.
3. **What strategies propose.** A rule that lets values be chosen is applied where its strategy proposes some, so a pair is
   narrowed to those cases. What every strategy proposes is stated in `verify/confluence/proposals.py`: that the divisor
   exceeds one, that a quotient in a sum is written as one, that an argument without a constant has none to take out. A
   test holds each statement against every proposal on thousands of expressions. Unification is that of the overlaps:
   a summand that a pattern shows is there, and two are two.
4. **Contradictory** pairs: no point of a sample satisfies all conditions, and z3 or the reduction to linear arithmetic
   refutes them; or no case of what strategies propose is left. What is not refuted stays.
5. **Joining.** First the pair as it is, then each of its cases: alternatives among the conditions are cases of their own,
   a constant that another divides is written as its multiple, what lies within a block as its start and a rest; at last
   divisors of unknown sign are above zero in one case and below it in another, and one or more than one; all cases must
   join. Both
   results are rewritten, constants being symbols: a step needs that the conditions of the pair imply those of the rule,
   by the reduction to linear arithmetic, and, where values are chosen, that the result is smaller; that the strategy
   proposes them is not proved (it sees coefficients, and those of `x` and `r` add up where they share a summand). Two
   results are the same if they are so as expressions, with expressions of constants compared by value, which is proved.
   Searches are bounded by counts, so that answers are the same everywhere.
6. **Instances.** Small constants that satisfy the conditions, variables with small boxes, sums with and without their
   rest, variables written so that a condition on them holds; the 16 smallest, then some of each kind with larger boxes,
   with divisors that are not 1 or -1 and differ from each other, and with negative ones. Then the variables of the rules
   become expressions over one variable `a`, or that and `b`, so that they depend on each other: short ones, sums of two
   terms, sums part of which is nothing though no rule sees it. Every choice is evaluated at every point of three small
   boxes, and of those that satisfy the conditions the smallest and some of the others are rewritten, up to 200 whose two
   results differ. Where all of these join, instances are drawn, with a fixed seed, from larger constants that divide each
   other, boxes of up to 40 points a variable, multiples, quotients and sums: up to 100 whose results differ, 400 where
   nothing joins the pair. One with two normal forms is made smaller, one number, box or summand at a time, as long as it
   has two. An instance that does not join decides, even against a symbolic join whose chosen values no strategy
   proposes; instances that join decide nothing.
7. **Further instances**, where nothing else decides. Where a rule takes a constant out of extrema: constants are drawn
   first, then every equation that gives a variable by others is solved, what must be a multiple or lie in a block is
   written as one, and what is left is drawn: a variable of its own with a constant for each, or expressions over `a` and
   `b` that have a property which no rule sees (`min(2·a, 2·b)` is even, `(a + 1) // 2 + (-a) // 2` is nothing), remainders
   of multiples of `a` by one modulus, and short ones; up to 60 of each kind whose two results differ. Of all pairs, up to
   150 of each case whose constants hardly divide one another, on boxes of up to 100 points, in which every division
   divides something. They are rewritten with a memory of their own, so that what is known of them does not depend on
   which pairs came before.
8. **Summands that combine.** Symbols see the rest of a sum as one summand, with which nothing else in the sum combines.
   But where a rest holds what a step makes, the coefficients add up, and a rule that wants one of them no longer applies:
   `2·(x // (-2)) + r` is `r - x` where `x` is even, and so is `2·((-x) // 2) + r`, unless `r` holds `(-x) // 2`. So
   instances are drawn from expressions that hardly any rule rewrites (remainders that are not known, extrema of
   multiples), both results are rewritten a little way, and the summands that are met there and not in the instance are
   added to what rests and other variables stand for, once or as often as makes them vanish: up to 400 such instances of
   each case, in three batches. Pairs that *join* with symbols are held against such instances, too (one
   batch of each case), because their steps see symbols for rests: one with two normal forms decides.
9. **What is hidden.** `t` and `max(t, t + e) - t` together show no `t`; `(3·t) mod 2 - t mod 2` is nothing, and no rule
   sees it, so that a strategy which looks how far the rest of a sum reaches leaves it out on the one side only;
   `t mod 2 + (t + 1) mod 2` is one, and with factors of its own for each summand another quotient is proposed. Such pieces
   are added to what variables stand for in instances to which both rules apply: up to 1,200 instances of each case, the
   smallest first. Pairs that join with symbols are held against some of these, too: of each case until 60 have two
   different results, 100 are rewritten, 600 are looked at, or two reach too much. What is counted is that a step of the
   one rule and a step of the other have no common end; where both rules match an instance in several ways, these need
   not be the steps of that very overlap (the figures are in [benchmarks](benchmarks.md)).
10. **Joining once more**, where all of these join: with more of what strategies propose (what a common factor leaves of
   a constant is below the factor; what the complement of a block is made of has no negative factors), with negatives,
   quotients and remainders of the values that are known, and with bounds of products.

## How rules for constraints are compared

1. **Overlaps.** The constraints that both rules want are unified, expressions as above and bounds as constants.
2. **What strategies propose.** What an expression may be is written as two symbols, its least and its greatest value;
   those of a multiple, of a sum with a constant and of a quotient follow from those of what is below. A strategy that
   looks up ranges proposes these, one that takes out a factor all of what the summands have in common, one that looks
   for a summand a summand by itself, which is neither a sum nor a multiple; a rule for expressions inside a constraint
   proposes what it does elsewhere. Where that and the conditions exclude each other, or no integers satisfy them, the
   pair is **contradictory**. A test holds each statement against every proposal on thousands of constraints. Then the
   pair is written more simply: a variable of which a strategy wants no constant has none, and a constant below zero is
   the negative of one above.
3. **Instances** come before symbols: variables become short expressions over `a` and `b`, constants small numbers that
   satisfy what is known of them, on seven boxes. Then the ends of every expression are numbers, and the bounds are
   chosen, among what lies on, within and beyond these ends, so that all that the rules and their strategies ask of
   bounds holds; constraints on a variable are also written as the box of that variable. Of up to 1,200 such domains
   the 16 smallest, then some of every kind in turns, are given to both rules: until 60 have two different results, and
   where symbols do not decide until 120 have, or 600 were looked at; these are rewritten to all their ends. A condition
   holds if it does at every point of the boxes, and strategies see the exact ranges on the boxes. One domain with two
   normal forms decides; smaller ones are then tried. Where symbols do not decide, or choose a value, up to 100 more whose
   results differ are drawn as above, and one with two normal forms is made smaller.
4. **Joining.** Only if no instance has two normal forms: both sides are rewritten, with symbols for constants,
   expressions and ranges, and compared at every stage: first by the rules of the pair itself and those that have no
   conditions, then also by those that find that nothing is left, by those that see any expression, and by all, with
   the rules for expressions inside constraints (of three constraints not by the last two); at last by those that look at
   ranges first, knowing how the ends of a sum lie to those of its parts. A step needs that what is
   known implies its conditions, by the reduction to linear arithmetic; where it implies neither them nor their opposite,
   both are cases, and all cases must join, bounds being compared by value. Questions are few and short, and their number
   is bounded, so some that would join stay **undecided**. Pairs that join so are held against up to 300 domains of
   expressions that hardly any rule rewrites, as the steps see symbols for the rests of sums: one with two normal forms
   decides.
5. **By what both sides end in**, where neither instances nor symbols decide. These are arguments about all derivations,
   so no number of steps is given; what they need of each rule is proved (`verify/confluence/tightening.py`,
   `remainders.py`, `linear_form.py`), and tests plant rules for which it does not hold.
   *Bounds*: two rules that have the same expressions on both sides, and of bounds within others make bounds within what
   they make of those, end in the largest bounds within the given ones that neither changes. This includes boxes, since of
   smaller boxes ranges are narrower.
   *Remainders*: a set of remainders of one expression has no solutions, and then one is out of range or two contradict
   each other, or any two with moduli above zero merge; so one is left, or nothing, and one with given solutions is unique.
   *Sums*: a constraint on a sum loses its constant and its common factor and is turned one way, so a rule for expressions
   that commutes with factors and constants makes no difference; one that commutes with constants makes none where a
   constant is moved.
   *Solutions* (`solutions.py`): remainders with moduli above zero, and bounds, of one expression lose constants and
   factors, merge, and move bounds to solutions, so one remainder is left and the least and the greatest solution, or
   nothing. What a constraint implies that always holds vanishes as it does. A rule that bounds a dividend sees its
   quotient beside what makes remainders only.
6. **Further domains, and joining once more**, where that does not decide either: domains drawn as the further instances
   are, up to 50 of each kind whose results differ (not where a rule for expressions rewrites one of two constraints: most
   of those reach too much). Then up to 300 domains of expressions that hardly any rule rewrites, with bounds that are
   drawn as well: if a rule for expressions takes away what a rule for two constraints wants to see, a constraint that
   holds from the start vanishes on the one side, and is made narrower, and stays, on the other. Then a search with fewer
   rules, more patience and less known at a time: first only what speaks of the constants that are asked about. A rule
   for expressions of the pair applies where its constraint still stands; what is left of an expression without a summand
   has the same ends however it is written; if a common divisor shows that two remainders contradict each other, so does
   the greatest one; constraints on sums that differ by constants and sign end in one form; and where both sides are
   constraints on the same expressions, each of which after some steps by rules that narrow bounds lies within what the
   other was before such steps, both end in the same bounds. Bounds that are the same as far as their expression reaches
   meet its range. The sign of a divisor, and on which side of a quotient that is known a bound lies, are cases, each with
   what it says of products. Before that, domains hide summands as instances do; some of those on this page were made by
   reasoning and then made smaller. Where a rule for two constraints wants to see a summand, and a rule for expressions
   makes one that may combine with it, symbols say nothing.
7. **What a joinable pair assumes.** Where steps are given, it joins for all constants and bounds, all expressions, and
   all ranges of these, as long as the ranges are the same on both sides: the boxes that they come from are not among the
   constraints that the pair rewrites. Where one is, facts become sharper on the way, and only instances speak. That ranges
   of multiples, of sums with a constant and of quotients are those that follow from what is below, and that an expression
   and what it is rewritten to have the same, holds of exact ranges; an enclosure need not be exact. Where a step takes
   out a factor, moves a constant out of a remainder or merges remainders, it is assumed that the strategy proposes that.
8. **Not covered**: two rules that want different constraints of a domain, where one of them narrows a box from which
   the other has its facts, as a pair of their own; instances of other pairs meet such steps on the way to their ends.

## Rule files

`indexproof confluence FILE.rules` does the same for the rules of a rule file ([rule files](rule_files.md)), in their
own semantics and for all their operators. Terms are as they are written: nothing is commutative, a `const` matches
whatever is made of constants, and operators of literals are computed, as compilers do. Then unification is complete.
Conditions, also those on variables, are hypotheses, and a rule applies where they imply its conditions, which is
proved like a rule; a variable with bounds matches what is proved to lie within them. Where the prover cannot tell whether
a rule applies (conditions that are nonlinear in variables, some about machine integers) nothing is said to have two
normal forms: such pairs are `UNDECIDED`. So are those whose derivations go on for more than 30 steps or 60
expressions, because nobody has proved that the rules of a file end. Rules with different semantics do not meet.
"""
