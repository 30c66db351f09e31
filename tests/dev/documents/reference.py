"""The documents that are generated from the catalogue, and the check that they are current."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, ForwardRef

import indexproof
from indexproof.core.constraint_order import ConstraintMeasure, constraint_measure
from indexproof.core.constraint_order import measured as measured_constraint
from indexproof.core.layout import Memory, memory, placement
from indexproof.core.notation import show
from indexproof.core.op import Case, Op
from indexproof.core.rewrite import ConstraintRule, Measure, Rule, RuleSet, measure, measured
from indexproof.reports.catalogue import attributes, claim_lines, document_of, example_of, map_lines
from indexproof.reports.commands.dev import TOOLS
from indexproof.reports.layout import count
from indexproof.reports.pictures import layout_picture
from indexproof.rules import catalog
from indexproof.rules.ops import OPS
from indexproof.rules.tiles import TILE_LAWS
from indexproof.rules.transfer import KNOWN_LAWS, TRANSFER_LAWS, KnownLaw, TransferLaw
from indexproof.rules.transforms import TRANSFORM_LAWS, TransformLaw
from indexproof.verify.budget import MAX_RANK
from indexproof.verify.layouts import layout_cases, layout_obligations, verify_memory

_NOTE = "<!-- Printed from the declarations by `make docs`; edit those instead. -->"


def documents(help_texts: Mapping[str, str]) -> dict[str, str]:
    """Return every document by file name.  ``help_texts`` is the help of every command."""
    placed = [c for rank in range(MAX_RANK + 1) for c in layout_cases(rank)]
    pages = {
        "README": {},
        "rules": {"count": count(len(catalog.RULES), "rule"), "rules": "\n\n".join(_rules())},
        "transfer": {"laws": _entries(TRANSFER_LAWS), "known": _entries(KNOWN_LAWS)},
        "tiles": {"about": _module_doc("tiles"), "laws": _entries(TILE_LAWS)},
        "transforms": {"about": _module_doc("transforms"), "laws": _entries(TRANSFORM_LAWS)},
        "ops": {"count": count(len(OPS), "op"), "rank": str(MAX_RANK), "ops": "\n\n".join(map(_op, OPS.values()))},
        "layouts": {"placement": _prose(placement), "memory": _prose(inspect.getmodule(Memory)), "claims":
            "\n".join(f"- {c.claim}" for c in verify_memory(memory("f32[3,5]{1,0:T(2,2)}"))), "count":
            count(len(placed), "symbolic instance"), "rank": str(MAX_RANK), "rows": _rows(_layout_rows(placed))},
        "order": {"measure": _prose(Measure), "rules": _rows(_descent(r) for r in catalog.RULES.rules if not
            (r.structural or r.sharing)), "constraint_measure": _prose(ConstraintMeasure), "constraint_rules":
            _rows(map(_descent, catalog.RULES.constraints))},
        "claims": {},
        "cli": {"commands": "\n\n".join(_command(*item) for item in help_texts.items())},
        "api": {"names": "\n\n".join(filter(None, _names()))},
    }  # fmt: skip
    made = {f"{name}.md": f"{_NOTE}\n\n{_filled(name, parts)}" for name, parts in pages.items()}
    return made | _figures()


def _filled(name: str, parts: Mapping[str, str]) -> str:
    """Return the prose of a page with ``parts`` in place of their names in ``{{braces}}``."""
    text = Path(__file__).with_name(f"{name}.md.in").read_text("utf-8")
    return re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found[1]], text)


def _figures() -> dict[str, str]:
    """Return the two figures of the published description of tiled layouts by file name."""
    return {
        "tiled_layout_1.svg": layout_picture("f32[3,5]{1,0:T(2,2)}").svg,
        "tiled_layout_2.svg": layout_picture("f32[4,8]{1,0:T(2,4)(2,1)}", show="positions").svg,
    }


def outdated(pages: Mapping[str, str], folder: Path) -> dict[str, str]:
    """Return the documents in ``folder`` that differ from ``pages``, each with the difference."""
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


def help_texts(group: Any) -> dict[str, str]:
    """Return the help of every installed command at 80 columns, by its command line."""
    names = group.context_settings["help_option_names"]
    out: dict[str, str] = {}

    def add(command: Any, words: str, parent: Any) -> None:
        settings = {"terminal_width": 80, "help_option_names": names}
        context = command.context_class(command, info_name=words.rsplit(maxsplit=1)[-1], parent=parent, **settings)
        out[words] = command.get_help(context)
        for name, inner in getattr(command, "commands", {}).items():
            if name not in TOOLS:  # the help of these covers their options
                add(inner, f"{words} {name}", context)

    add(group, "indexproof", None)
    return out


# ------------------------------------------------------------------------------------------------------ parts
def _code(lines: Iterable[str]) -> str:
    return "\n".join(["```text", *lines, "```"])


def _rows(rows: Iterable[Iterable[str]]) -> str:
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _rules() -> Iterator[str]:
    order = [r.name for r in catalog.RULES]
    sets = [(n, getattr(catalog, n)) for n in catalog.__all__ if n != "RULES"]
    known = [(name, s) for name, s in sets if isinstance(s, RuleSet) and len(s)]
    for name, rules in sorted(known, key=lambda item: min(order.index(r.name) for r in item[1])):
        yield f"## {name}\n\n{_module_doc(name)}\n\n{_entries(rules)}"


def _module_doc(name: str) -> str:
    return inspect.getdoc(import_module(f"indexproof.rules.{name}")) or ""


def _entries(claims: Iterable[Rule | ConstraintRule | TransferLaw | KnownLaw | TransformLaw]) -> str:
    """Return a section for each rule or law."""
    return "\n\n".join(f"### {c.name}\n\n{c.doc}\n\n{_code(_aligned(claim_lines(c)))}" for c in claims)


def _op(cls: type[Op]) -> str:
    cases = [c for rank in range(MAX_RANK + 1) for c in cls.cases(rank)]
    out = [f"## {cls.name}", document_of(cases[0])]
    if facts := [f"- `{name}`: `{kind}`" for name, kind in attributes(cls)]:
        out.append("\n".join(["Attributes:", "", *facts]))
    if cls.opcodes:
        out.append(f"HLO: {', '.join(f'`{o}`' for o in cls.opcodes)}")
    out.append(f"{count(len(cases), 'symbolic instance')} up to rank {MAX_RANK}; one of them:")
    out.append(_code(_aligned(map_lines(example_of(cases)))))
    return "\n\n".join(out)


def _layout_rows(cases: Iterable[Case]) -> Iterator[tuple[str, ...]]:
    """Yield one row for every op and rank: the instances, and their number of obligations."""
    groups: dict[tuple[str, str], list[Case]] = {}
    for c in cases:
        groups.setdefault((c.label.partition(", ")[0], c.op.name), []).append(c)
    for (rank, name), found in groups.items():
        labels = ", ".join(f"`{c.label.partition(', ')[2].removeprefix('tile ')}`" for c in found)
        owed = sum(len(list(layout_obligations(c))) for c in found)
        yield rank.removeprefix("rank "), name, labels, f"{owed:,}"


def _aligned(lines: Sequence[tuple[str, str]]) -> Iterator[str]:
    width = max(len(label) for label, _ in lines) + 2
    for label, text in lines:
        yield f"{label:<{width}}{text}".rstrip()


def _descent(r: Rule | ConstraintRule) -> tuple[str, ...]:
    """Return the first component in which the measures of the two sides differ, on both sides."""
    left: Measure | ConstraintMeasure
    right: Measure | ConstraintMeasure
    if isinstance(r, Rule):
        left, right, known = measure(r.left), measure(r.right), measured(r)
    else:
        left, right = constraint_measure(r.left), constraint_measure(r.right)
        known = measured_constraint(r)
    k = next((k for k in range(len(left)) if left[k] is not right[k]), 0)
    sides = (f"`{show(m[k])}`".replace("|", "\\|") for m in (left, right))
    return r.name, left._fields[k], *sides, "measured" if known else "proved"


def _command(name: str, said: str) -> str:
    return f"## {name}\n\n{_code(line.rstrip() for line in said.rstrip().splitlines())}"


def _names() -> Iterator[str]:
    """Yield a section for every name of the package, the most used names first."""
    package = indexproof
    for name in package._HOME:
        yield from _described("##", name, getattr(package, name))
    for name in package._MODULES:
        module = getattr(package, name)
        yield from (f"## {name}: `{module.__name__}`", _prose(module))
        for own in module.__all__:
            value = getattr(module, own)
            if callable(value) and value.__doc__ and own not in package._HOME:
                yield from _described("###", own, value)


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


class _Bare(str):
    """An annotation that is printed without the quotes of a string."""

    __slots__ = ()
    __repr__ = str.__str__


def _signature(name: str, value: Any) -> str:
    try:
        s = inspect.signature(value)
    except (TypeError, ValueError):  # a base class of errors, or a type alias
        return name
    empty = inspect.Parameter.empty

    def bare(annotation: object) -> object:
        # fields of a NamedTuple have these in some versions of Python
        text = annotation.__forward_arg__ if isinstance(annotation, ForwardRef) else annotation
        text = text if isinstance(text, str) else inspect.formatannotation(text)
        return empty if annotation is empty else _Bare(text)

    parameters = [p.replace(annotation=bare(p.annotation)) for p in s.parameters.values() if p.name != "self"]
    returns = empty if isinstance(value, type) else bare(s.return_annotation)
    return f"{name}{s.replace(parameters=parameters, return_annotation=returns)}"


def _prose(value: object) -> str:
    """Return the docstring as Markdown."""
    text = inspect.cleandoc(value.__doc__ or "")
    text = re.sub(r":\w+:`~?(?:[\w.]*\.)?([\w]+)`", r"`\1`", text)
    return re.sub(r"``(.+?)``", r"`\1`", text, flags=re.DOTALL).replace("::\n", ":\n")
