"""The documents that are printed from the catalogue itself, and the check that they are current."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..core.constraint_order import ConstraintMeasure, constraint_measure
from ..core.constraint_order import measured as measured_constraint
from ..core.notation import show
from ..core.op import Op
from ..core.rewrite import ConstraintRule, Measure, Rule, RuleSet, measure, measured
from ..rules import catalog
from ..rules.ops import OPS
from ..rules.transfer import KNOWN_LAWS, TRANSFER_LAWS, KnownLaw, TransferLaw
from ..rules.transforms import TRANSFORM_LAWS, TransformLaw
from ..verify.catalogue import MAX_RANK
from .catalogue import attributes, claim_lines, document_of, example_of, map_lines
from .layout import count
from .layouts import figures, layout_page

__all__ = ["documents", "outdated", "write_documents"]

_NOTE = "<!-- Printed from the declarations by `make docs`; edit those instead. -->"


def documents(help_texts: Mapping[str, str]) -> dict[str, str]:
    """Every document by file name.  ``help_texts`` is the help of every command."""
    pages = {
        "README.md": _index(),
        "rules.md": _rules(),
        "transfer.md": _transfer(),
        "transforms.md": _transforms(),
        "ops.md": _ops(),
        "layouts.md": layout_page(MAX_RANK),
        "order.md": _order(),
        "claims.md": _claims_format(),
        "cli.md": _cli(help_texts),
        "api.md": _api(),
    }
    return {name: f"{_NOTE}\n\n{text.rstrip()}\n" for name, text in pages.items()} | figures()


def outdated(pages: Mapping[str, str], folder: Path) -> dict[str, str]:
    """The documents in ``folder`` that differ from ``pages``, each with what is wrong with it."""
    stale: dict[str, str] = {}
    for name, text in pages.items():
        path = folder / name
        if not path.is_file():
            stale[name] = "is missing"
        elif path.read_bytes() != text.encode():
            stale[name] = "is not what the declarations say"
    for path in sorted(folder.glob("*.md")):
        if path.name not in pages:
            stale[path.name] = "is not a generated document"
    return stale


def write_documents(pages: Mapping[str, str], folder: Path) -> None:
    """Write every document that has changed.  Raises :class:`OSError` where that is not possible."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in outdated(pages, folder):
        if name in pages:
            (folder / name).write_bytes(pages[name].encode())


# ------------------------------------------------------------------------------------------------------ pages
def _index() -> str:
    return """# Reference

- [rules.md](rules.md): the rewrite rules of the simplifier, expressions and constraints
- [transfer.md](transfer.md): the laws by which it knows the ranges of expressions
- [transforms.md](transforms.md): the laws of the transforms that change a map's variables
- [ops.md](ops.md): the operations, what each reads, and both of its maps
- [layouts.md](layouts.md): layouts and tiles, as maps between elements and positions in memory
- [order.md](order.md): the well-founded order in which every rule descends
- [claims.md](claims.md): the format of claims files
- [rule_files.md](../rule_files.md): the format of rule files, and what their rules mean
- [published_maps.md](../published_maps.md): the published maps, audited
- [json.md](../json.md): what the commands print with `--json`
- [cli.md](cli.md): every command and option
- [api.md](api.md): every name of the Python package
"""


def _code(lines: Sequence[str]) -> str:
    return "\n".join(["```text", *lines, "```"])


def _first_paragraph(module: object) -> str:
    return inspect.cleandoc(inspect.getdoc(module) or "")


def _rules() -> str:
    order = [r.name for r in catalog.RULES]
    sets = [(n, getattr(catalog, n)) for n in catalog.__all__ if n != "RULES"]
    known = [(name, s) for name, s in sets if isinstance(s, RuleSet) and len(s)]
    known.sort(key=lambda item: min(order.index(r.name) for r in item[1]))
    out = [
        "# Rules",
        f"{count(len(catalog.RULES), 'rule')}, in the order in which they are tried. A rule is an equation "
        f"between its "
        "two sides that holds for all integers under its conditions (*when*); it is proved with every "
        "constant symbolic. A *guard* is needed for progress or taste, not for truth.",
        "`x`, `y` match any expression, `r…` the summands that are left over, all other letters integer "
        "constants. Sums match in any order. `//` rounds down, `a mod b` has the sign of `b`, `d ∣ e` says "
        "that d divides e. *fires* and *keeps* are examples, executed as tests: what the rule alone makes "
        "of an expression, and what it leaves as it is.",
    ]
    for name, rules in known:
        out.append(f"## {name}")
        out.append(_module_doc(name))
        out += [_entry(r) for r in rules]
    return "\n\n".join(out)


def _module_doc(name: str) -> str:
    from importlib import import_module

    return _first_paragraph(import_module(f"..rules.{name}", __package__))


def _entry(claim: Rule | ConstraintRule | TransferLaw | KnownLaw | TransformLaw) -> str:
    """Return the section of a rule or law."""
    return "\n\n".join([f"### {claim.name}", claim.doc, _code(list(_aligned(claim_lines(claim))))])


def _transfer() -> str:
    out = [
        "# Ranges",
        "What production, conditions, op maps and generated code know of the values of an expression, from the "
        "bounds of its variables and from constraints. Each law is proved *sound*, and *tight* (each bound is "
        "attained by some input) unless it says why it is not. A test asks the domain on all small numbers: it "
        "finds what the law says.",
    ]
    out += [_entry(law) for law in TRANSFER_LAWS]
    out += ["## What follows from what is known"]
    out += [_entry(law) for law in KNOWN_LAWS]
    return "\n\n".join(out)


def _transforms() -> str:
    out = ["# Map transforms", _module_doc("transforms")]
    out += [_entry(law) for law in TRANSFORM_LAWS]
    return "\n\n".join(out)


def _ops() -> str:
    out = [
        "# Operations",
        f"{count(len(OPS), 'op')}. *reads* is the meaning: which elements `i` of an operand the output "
        f"element `o` reads. "
        "The two maps are implementations; each is proved in bounds, sound and complete with respect to "
        "*reads*, for "
        f"symbolic sizes and attributes and every rank up to {MAX_RANK}. The instance shown is one of those.",
        "`s0, s1, …` are ranges, which make a map one-to-many; `rt0, …` are values known only when the "
        "program runs, clamped to the interval that is given. `Dims` is a tuple of dimension numbers, "
        "`Extents` one of sizes.",
    ]
    out += [_op(cls) for cls in OPS.values()]
    return "\n\n".join(out)


def _op(cls: type[Op]) -> str:
    cases = [c for rank in range(MAX_RANK + 1) for c in cls.cases(rank)]
    out = [f"## {cls.name}", document_of(cases[0])]
    facts = [f"- `{name}`: `{kind}`" for name, kind in attributes(cls)]
    if facts:
        out.append("\n".join(["Attributes:", "", *facts]))
    if cls.opcodes:
        out.append(f"HLO: {', '.join(f'`{o}`' for o in cls.opcodes)}")
    out.append(f"{count(len(cases), 'symbolic instance')} up to rank {MAX_RANK}; one of them:")
    out.append(_code(list(_aligned(map_lines(example_of(cases))))))
    return "\n\n".join(out)


def _aligned(lines: Sequence[tuple[str, str]]) -> Iterator[str]:
    width = max(len(label) for label, _ in lines) + 2
    for label, text in lines:
        yield f"{label:<{width}}{text}".rstrip()


def _order() -> str:
    out = [
        "# The order in which rules descend",
        inspect.cleandoc(Measure.__doc__ or "").replace("``", "`"),
        "`|x|`, `‖x‖`, `x⁻`, `x↺` and `x°` are the components of whatever a variable matches. Shown "
        "is the first component in which the two sides differ; where it can be equal, later ones decide. For most rules "
        "*progress* proves from the declaration that the right side is smaller. Where the last column says *measured*, the "
        "generated code measures both sides of every application, and refuses one that does not descend. So "
        "simplification ends.",
    ]
    rows = ["| rule | component | left | right | descent |", "|---|---|---|---|---|"]
    rows += [
        "| " + " | ".join(_descent(r)) + " |" for r in catalog.RULES.rules if not (r.structural or r.sharing)
    ]
    out.append("\n".join(rows))
    out += [
        "## Constraints",
        inspect.cleandoc(ConstraintMeasure.__doc__ or "").replace("``", "`"),
        "Constraint rules descend in this order, and the rules of expressions that rewrite a constraint do too: they "
        "lower one of its first components and touch no other constraint. Every application of a constraint rule is "
        "measured when it is made, and fires only where it descends. For most rules that is proved from the declaration "
        "as well; where the last column says *measured*, only the numbers at hand decide.",
    ]
    rows = ["| rule | component | left | right | descent |", "|---|---|---|---|---|"]
    rows += ["| " + " | ".join(_constraint_descent(r)) + " |" for r in catalog.RULES.constraints]
    return "\n\n".join([*out, "\n".join(rows)])


def _constraint_descent(r: ConstraintRule) -> tuple[str, str, str, str, str]:
    left, right = constraint_measure(r.left), constraint_measure(r.right)
    k = next((k for k in range(len(left)) if left[k] is not right[k]), 0)
    cell = [show(m[k]).replace("|", "\\|") for m in (left, right)]
    shown = "measured" if measured_constraint(r) else "proved"
    return r.name, ConstraintMeasure._fields[k], f"`{cell[0]}`", f"`{cell[1]}`", shown


def _descent(r: Rule) -> tuple[str, ...]:
    left, right = measure(r.left), measure(r.right)
    k = next((k for k in range(len(left)) if left[k] is not right[k]), 0)
    cell = [show(m[k]).replace("|", "\\|") for m in (left, right)]
    shown = "measured" if measured(r) else "proved"
    return r.name, Measure._fields[k], f"`{cell[0]}`", f"`{cell[1]}`", shown


def _claims_format() -> str:
    from ..verify import claims

    return f"# Claims files\n\n{inspect.cleandoc(claims.__doc__ or '').replace('``', '`')}"


def _cli(help_texts: Mapping[str, str]) -> str:
    out = ["# Commands"]
    for name, text in help_texts.items():
        out += [f"## {name}", _code([line.rstrip() for line in text.rstrip().split("\n")])]
    return "\n\n".join(out)


def _api() -> str:
    out = [
        "# Python",
        "`import indexproof` loads nothing else; a name loads its module when it is first used. Answers print what the "
        "command line prints, and a notebook shows them so. The names of everyday use come first, and after them the "
        "modules with everything else: `from indexproof import interop`.",
    ]
    package = sys.modules[__name__.partition(".")[0]]
    for name in package._HOME:
        out += _described("##", name, getattr(package, name))
    for name in package._MODULES:
        module = getattr(package, name)
        out += [f"## {name}: `{module.__name__}`", _prose(module)]
        for own in module.__all__:
            value = getattr(module, own)
            if callable(value) and value.__doc__ and own not in package._HOME:
                out += _described("###", own, value)
    return "\n\n".join(o for o in out if o)


def _described(heading: str, name: str, value: Any) -> Iterator[str]:
    """Yield the section of a function or class."""
    yield from (f"{heading} {name}", _code([_signature(name, value)]), _prose(value))
    if isinstance(value, type) and not issubclass(value, BaseException):
        yield "\n".join(_members(value))


def _members(cls: type) -> Iterator[str]:
    """Yield a line for every public method and property that has a docstring."""
    for name, member in vars(cls).items():
        value = member.__func__ if isinstance(member, (classmethod, staticmethod)) else member
        if not name.startswith("_") and (callable(value) or isinstance(value, property)) and value.__doc__:
            shown = name if isinstance(value, property) else _signature(name, value)
            yield f"- `{shown}`: {_prose(value).split(chr(10) * 2, maxsplit=1)[0]}"


class _Bare:
    """An annotation that is printed without the quotes of a string."""

    def __init__(self, annotation: object) -> None:
        self.annotation = annotation

    def __repr__(self) -> str:
        return (
            self.annotation if isinstance(self.annotation, str) else inspect.formatannotation(self.annotation)
        )


def _signature(name: str, value: Any) -> str:
    try:
        s = inspect.signature(value)
    except (TypeError, ValueError):  # a base class of errors, or a type alias
        return name
    empty = inspect.Parameter.empty

    def bare(annotation: object) -> object:
        return empty if annotation is empty else _Bare(annotation)

    parameters = [p.replace(annotation=bare(p.annotation)) for p in s.parameters.values() if p.name != "self"]
    returns = empty if isinstance(value, type) else bare(s.return_annotation)
    return f"{name}{s.replace(parameters=parameters, return_annotation=returns)}"


def _prose(value: object) -> str:
    """Return the docstring as Markdown."""
    text = inspect.cleandoc(value.__doc__ or "")
    text = re.sub(r":\w+:`~?(?:[\w.]*\.)?([\w]+)`", r"`\1`", text)
    return re.sub(r"``(.+?)``", r"`\1`", text, flags=re.DOTALL).replace("::\n", ":\n")
