"""Text and JSON about the catalogue: what `list` and `show` print about rules, laws and ops."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Iterator, Sequence
from typing import Any

from ..core.blocks import point_text
from ..core.condition import TRUE, show_condition
from ..core.expr import Expr, lift
from ..core.notation import show
from ..core.op import DIRECTIONS, Case, MapClaim, Op, RuntimeValue, map_claim
from ..core.rewrite import ConstraintRule, Rule
from ..rules.transfer import KnownLaw, TransferLaw
from ..rules.transforms import TransformLaw
from ..verify.budget import Budget
from ..verify.cache import Cache, content_key
from ..verify.catalogue import Claim, obligations_of
from ..verify.obligation import Obligation
from ..verify.rulefiles import StatedRule
from ..verify.rulefiles import show as show_stated
from ..verify.schemes import Scheme
from ..verify.verdict import Verdict
from .layout import block, count, table
from .refutation import ordered_point
from .selection import Named, by_group

#: Obligations are listed singly for at most this many claims.
_FEW = 3
#: The example of an op has at least this many symbols, and at least the rank at which its typical form appears.
_SYMBOLS = 2
_RANKS = {"dot": 2, "convolution": 3, "gather": 2, "concatenate": 2}


def document_of(claim: object) -> str:
    """Return the documentation of a claim with its paragraphs."""
    if isinstance(claim, Case):
        return inspect.cleandoc(type(claim.op).__doc__ or "")
    if isinstance(claim, Scheme):
        return claim.text
    return str(getattr(claim, "doc", ""))


def statement_of(claim: Claim) -> str:
    """Return the claim on one line, or the empty string for an op, which claims a pair of maps."""
    if isinstance(claim, Case):
        return ""
    return claim.text if isinstance(claim, Scheme) else claim.statement()


def sentence(text: str) -> str:
    """Return the first sentence, or the first paragraph if it has no full stop, on one line."""
    first = " ".join(text.split("\n\n", maxsplit=1)[0].split())
    end = first.find(". ")
    return first if end < 0 else first[: end + 1]


# ------------------------------------------------------------------------------------------------------- list
def list_text(claims: Sequence[Named]) -> str:
    """List family, name and first sentence of every rule, law and op, with the number of instances of ops."""
    rows: dict[str, list[tuple[str, str]]] = {}
    for (family, name), of in by_group(claims).items():
        more = f"   ({count(len(of), 'instance')})" if isinstance(of[0].claim, Case) else ""
        said = sentence(document_of(of[0].claim)) + more
        rows.setdefault(family, []).append((f"  {name}", said))
    return "\n\n".join("\n".join([f"{family}: {len(of)}", *table(of)]) for family, of in rows.items())


def list_json(claims: Sequence[Named]) -> dict[str, Any]:
    """Return the answer of ``show`` without a name."""
    from .serializer import document

    entries = []
    for (family, name), of in by_group(claims).items():
        first = of[0].claim
        said = {"family": family, "name": name, "doc": document_of(first), "statement": statement_of(first)}
        entries.append({**said, "instances": [c.name for c in of] if isinstance(first, Case) else []})
    return document("list", "", 0, claims=entries)


# ------------------------------------------------------------------------------------------------------- show
def show_text(found: Sequence[Named], cache: Cache) -> str:
    """Return a page for every rule, law and op; that of an op shows a symbolic instance."""
    blocks = []
    for of in by_group(found).values():
        first = of[0].claim
        blocks.append(_op_page(of) if isinstance(first, Case) else _page(of[0]))
        if len(of) <= _FEW:
            blocks += [_obligations(c, cache) for c in of]
        else:
            found_of = [v for c in of for _, v in _known(c.claim, cache)]
            proved = sum(v is not None and v.proved for v in found_of)
            owed = count(len(found_of), "obligation")
            blocks.append(f"{count(len(of), 'instance')} with {owed}, {proved:,} proved in the cache")
    return "\n\n".join(blocks)


def _headed(head: str, text: str) -> str:
    """Return the head of a page with the documentation below it, paragraphs kept."""
    return "\n".join([head, *(f"  {line}".rstrip() for line in text.split("\n") if text), ""])


def _page(c: Named) -> str:
    claim = c.claim
    if c.line:
        where = f"{c.file}:{c.line}"
    else:
        module = type(claim).__module__.rpartition(".")[2]
        where = claim.where if isinstance(claim, (Rule, ConstraintRule)) else f"{module}.py"
    return block(_headed(f"{c.name}   {c.family}, {where}", document_of(claim)), claim_lines(claim))


def claim_lines(claim: Claim) -> list[tuple[str, str]]:
    """Return what a rule or law states, its conditions and examples, as labelled lines."""
    lines: list[tuple[str, str]] = []
    match claim:
        case Rule():
            lines = [("claim", f"{show(claim.left)}  →  {show(claim.right)}"), *_conditions(claim)]
            if claim.structural:
                lines.append(("used", "by the constructors of expressions themselves; never matched"))
        case ConstraintRule():
            left, right = claim.claim()
            lines = [("claim", f"{show_condition(left)}  ⇔  {show_condition(right)}"), *_conditions(claim)]
        case TransferLaw():
            lines = [("value", _in_range(claim.value, claim.lo, claim.hi))]
            lines += [("for", _in_range(v, lo, hi)) for v, lo, hi in claim.inputs if v is not lo]
            lines += [("from", _in_range(*known)) for known in claim.known]
            lines += [("when", show_condition(k)) for k in (*claim.when, *claim.where)]
            loose = f"not tight: {claim.approximate}"
            lines.append(("bounds", loose if claim.approximate else "tight: both are attained"))
        case KnownLaw() | Scheme():
            lines = [("claim", show_condition(claim.then))]
            lines += [("when", show_condition(k)) for k in claim.given]
        case TransformLaw():
            lines = transform_lines(claim)
        case StatedRule():
            lines = [("claim", f"{show_stated(claim.left)}  →  {show_stated(claim.right)}")]
            lines += [("when", show_stated(k)) for k in claim.conditions]
            lines.append(("meaning", str(claim.semantics)))
    return lines


def _in_range(e: Expr, lo: Expr, hi: Expr) -> str:
    return f"{show(e)} ∈ [{show(lo)}, {show(hi)}]"


def transform_lines(law: TransformLaw) -> list[tuple[str, str]]:
    """Return labelled lines: old and new variables, their conditions, and the old in terms of the new ones."""
    lines = []
    for label, variables, where in (("old", law.old, law.old_where), ("new", law.new, law.new_where)):
        lines += [(label, _in_range(v, lift(lo), lift(hi))) for v, lo, hi in variables]
        lines += [(label, show_condition(k)) for k in where]
    values = zip(law.old, law.back, strict=True)
    lines += [("value", f"{show(v)} = {show(lift(e))}") for (v, _, _), e in values if v is not e]
    lines += [("unseen", show(v)) for v in law.unseen]
    return lines + [("when", show_condition(k)) for k in law.when]


def _conditions(rule: Rule | ConstraintRule) -> list[tuple[str, str]]:
    lines = [("when", show_condition(k)) for k in rule.when]
    lines += [("guard", f"{show_condition(k)}   (the rule is true without it)") for k in rule.guard]
    if isinstance(rule, Rule) and rule.sharing:
        lines.append(("chosen", "by cost, once, for the finished normal forms of all results together"))
    elif rule.choose:
        lines.append(("chosen", f"by the strategy `{rule.choose}`; every proposal is checked"))
    lines += [("fires", f"{before}  →  {after or 'true'}") for before, after in rule.fires.items()]
    lines += [("keeps", text) for text in rule.keeps]
    return lines


def _obligations(c: Named, cache: Cache) -> str:
    """List the obligations of the claim with what the cache knows about each."""
    rows = []
    for o, v in _known(c.claim, cache):
        missing = "not in the cache" if cache.path is not None else ""
        said = missing if v is None else f"{v.status.value} by {v.strategy}" if v.strategy else v.status.value
        if v is not None and v.witness:
            said += f"   {point_text(ordered_point(o, v.witness))}"
        rows.append((f"  {o.kind}" + ("" if o.gate else " (a finding)"), said))
    return "\n".join([f"{c.name} owes", *table(rows)])


def _known(claim: Claim, cache: Cache) -> Iterator[tuple[Obligation, Verdict | None]]:
    """Yield each obligation of a claim with its verdict, or ``None`` if the cache has no verdict."""
    budget = Budget()
    return ((o, cache.get(content_key(o, budget), o)) for o in obligations_of(claim))


# -------------------------------------------------------------------------------------------------------- ops
def attributes(cls: type[Op]) -> list[tuple[str, str]]:
    """Return name and type of every attribute."""
    known = dataclasses.fields(cls)  # type: ignore[arg-type]  # every op is a dataclass
    return [(f.name, getattr(f.type, "__name__", str(f.type))) for f in known]


def example_of(cases: Sequence[Case]) -> Case:
    """Choose the symbolic instance to show: small rank, maps other than the identity, many ranges, a short label."""

    def rank(case: Case) -> int:
        return int(case.label.removeprefix("rank ").split(",")[0])

    least = _RANKS.get(cases[0].op.name, 1)
    ranks = [rank(c) for c in cases if len(c.symbols) >= _SYMBOLS and rank(c) >= least]
    wanted = min(ranks or [max(map(rank, cases))])

    def merit(case: Case) -> tuple[object, ...]:
        claims = list(_claims(case))
        plain = sum(list(m.results) == list(m.source) for m in claims)
        detail = sum(len(m.ranges) + len(m.where) for m in claims if m.direction == "output_to_input")
        return plain, -detail, -len(case.symbols), len(case.label), case.label

    return min((c for c in cases if rank(c) == wanted), key=merit)


def _claims(case: Case) -> Iterator[MapClaim]:
    for k in range(case.op.arity):
        for direction in DIRECTIONS:
            yield map_claim(case.op, k, direction, case.shapes, case.facts)


def map_lines(case: Case) -> list[tuple[str, str]]:
    """Return labelled lines: sizes, meaning and both maps of every operand of a symbolic instance."""
    op = case.op
    sizes = ", ".join("[" + ", ".join(map(show, x)) + "]" for x in case.shapes)
    lines = [
        ("instance", f"{op.text()} on {sizes}"),
        ("output", "[" + ", ".join(map(show, op.shape(*case.shapes))) + "]"),
    ]
    given = dict.fromkeys([*case.facts, *(d for d, _ in op.demands(*case.shapes))])
    lines += [("given", show_condition(k)) for k in given if k is not TRUE]
    stated: list[object] = []
    for m in _claims(case):
        several = op.arity > 1
        alike = (m.direction, m.reads, m.results, m.where, m.target_sizes)
        if alike in stated:
            continue
        stated.append(alike)
        name = f"operand {m.operand}" if several else "operand"
        if m.direction == "output_to_input":
            read = ",  ".join(show_condition(k) for k in m.reads if k is not TRUE) or "every element"
            lines += [("", ""), ("reads", f"{name}: {read}")]
        arrow = f"output → {name}" if m.direction == "output_to_input" else f"{name} → output"
        lines.append((arrow, _map_text(m)))
        lines += [("", f"for {show(r.variable)} ∈ [0, {show(r.size - 1)}]") for r in m.ranges]
        for r in _used(m):
            place = "the replica's group" if r.operand < 0 else f"operand {r.operand} at ({_list(r.index)})"
            lines.append(("", f"{_in_range(r.variable, r.lo, r.hi)} from {place}"))
        lines += [("", f"where {show_condition(k)}") for k in m.where]
    return lines


def _used(m: MapClaim) -> list[RuntimeValue]:
    """Return the runtime values on which the map depends."""
    used = {v for e in m.results for v in e.variables()} | {v for k in m.where for v in k.variables()}
    return [r for r in m.runtime if r.variable in used]


def _list(es: Sequence[Any]) -> str:
    return ", ".join(map(show, es))


def _map_text(m: MapClaim) -> str:
    ranges = f"[{_list([r.variable for r in m.ranges])}]" if m.ranges else ""
    values = _used(m)
    runtime = "{" + _list([r.variable for r in values]) + "}" if values else ""
    return f"({_list(m.source)}){ranges}{runtime} -> ({_list(m.results)})"


def _op_page(of: Sequence[Named]) -> str:
    cases = [c.claim for c in of if isinstance(c.claim, Case)]
    case = example_of(cases)
    cls = type(case.op)
    known = enumerate(attributes(cls))
    lines = [("" if k else "attribute", f"{name}: {kind}") for k, (name, kind) in known]
    if cls.opcodes:
        listed = ", ".join(cls.opcodes) if len(cls.opcodes) <= 8 else f"{len(cls.opcodes)} opcodes"
        lines.append(("HLO", listed))
    lines += [*([("", "")] if lines else []), *map_lines(case)]
    place = f"{cls.__module__.rsplit('.', 1)[-1]}.py:{inspect.getsourcelines(cls)[1]}"
    where = f"{of[0].file}:{of[0].line}" if of[0].line else place
    return block(_headed(f"{cls.name}   op, {where}", document_of(case)), lines)


def show_json(found: Sequence[Named], cache: Cache) -> dict[str, Any]:
    """Return the answer of ``show`` about some claims."""
    from .serializer import document

    claims = []
    for c in found:
        claim = c.claim
        entry: dict[str, Any] = {"family": c.family, "name": c.name, "doc": document_of(claim)}
        if isinstance(claim, Case):
            lines = ((label, text) for label, text in map_lines(claim) if label or text)
            entry["maps"] = [{"label": label, "text": text} for label, text in lines]
        else:
            entry["statement"] = statement_of(claim)
        if isinstance(claim, (Rule, ConstraintRule)):
            entry |= {key: getattr(claim, key) for key in ("where", "when", "guard", "fires", "keeps")}
        entry["obligations"] = [
            {"obligation": o.kind, "gate": o.gate, "statement": o.statement(), "known": v and v.status}
            for o, v in _known(claim, cache)
        ]
        claims.append(entry)
    return document("show", "", 0, claims=claims)
