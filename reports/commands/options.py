"""Declaration of the arguments and options of commands in the docstrings of their functions.

Parameters before the ``*`` are arguments, those after it options.  Each has an entry below ``Args:``, as in ``jobs (-j
N 1..): Processes to use.``  The parentheses may hold a flag that differs from the parameter's name, a short flag, a
placeholder for the value, and its bounds.  Entries that several commands share stand here.
"""

from __future__ import annotations

import functools
import inspect
import re
import textwrap
from collections.abc import Callable
from typing import Annotated, Any, get_origin, get_type_hints

import typer

_SHARED = """
json: Print one JSON document (see reports/json.md) and nothing else.
names (NAME): Rules, laws, ops, instances of ops ('transpose permutation=(1, 0)'), families (rules, transfer,
    transforms, ops), files FILE.py with declarations, rule files (FILE.rules as text, FILE.json, - for standard
    input), or folders of both (FOLDER/); everything without names.
jobs (-j N 1..): Processes to use (default: all cores).
budget (FACTOR 0..): Multiply the solver's budget by this.
cache (PATH|off): Keep verdicts in this file instead of the default one, or nowhere.
no_cache: Neither read nor keep verdicts; the same as --cache off.
read_only_cache: Use the kept verdicts, but add none.
max_rank (N 0..): Ops are proved up to this rank, at most 6 (default: 4).
text, left, right (MAP): A map as text, as JSON or as affine_map<...> affine_set<...>; @FILE, or - for standard input.
at (NAME=N,...): Values of parameters of the map, as in n=4,k=3.
verify: Prove everything that is printed.
"""
_ENTRY = re.compile(r"(\w+(?:, \w+)*)(?: \(([^)]*)\))?: (.*)")


def documented(command: Callable[..., None]) -> Callable[..., None]:
    """Declare the arguments and options of a command for typer.  Raises :class:`KeyError` for a missing entry."""
    said, _, entries = (inspect.getdoc(command) or "").partition("\nArgs:\n")
    known = _entries(_SHARED) | _entries(entries)
    hints = get_type_hints(command, include_extras=True)

    @functools.wraps(command)
    def run(**given: Any) -> None:
        command(**given)

    def made(p: inspect.Parameter) -> inspect.Parameter:
        hint = hints[p.name]
        if hint is typer.Context or get_origin(hint) is Annotated:  # typer reads these itself
            return p.replace(annotation=hint)
        return p.replace(annotation=hint, default=_info(p, *known[p.name]))

    signature = inspect.signature(command)
    run.__signature__ = signature.replace(  # type: ignore[attr-defined]
        parameters=[made(p) for p in signature.parameters.values()]
    )
    run.__doc__ = said
    return run


def _entries(text: str) -> dict[str, tuple[list[str], str]]:
    """Return for each parameter the words in parentheses and the help."""
    found: dict[str, tuple[list[str], str]] = {}
    for entry in re.split(r"\n(?=\S)", textwrap.dedent(text).strip()):
        if read := _ENTRY.fullmatch(" ".join(entry.split())):
            found |= dict.fromkeys(read[1].split(", "), ((read[2] or "").split(), read[3]))
    return found


def _info(p: inspect.Parameter, words: list[str], said: str) -> Any:
    default = ... if p.default is p.empty else p.default
    flags = [w for w in words if w.startswith("-")]
    bounds = next((w.split("..") for w in words if re.fullmatch(r"\d*\.\.\d*", w)), ["", ""])
    least, most = (int(b) if b else None for b in bounds)
    metavar = next((w for w in words if w not in flags and w != "..".join(bounds)), None)
    if p.kind is not p.KEYWORD_ONLY:
        return typer.Argument(default, metavar=metavar, show_default=False, help=said)
    if not any(f.startswith("--") for f in flags):
        flags.insert(0, f"--{p.name.replace('_', '-')}")
    return typer.Option(default, *flags, metavar=metavar, min=least, max=most, help=said)
