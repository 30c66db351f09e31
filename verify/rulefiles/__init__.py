"""Rules of other systems, read from a file, interpreted in the arithmetic of their own compiler, and proved.

A rule file is plain text or JSON and is never executed; reports/rule_files.md defines both forms.  A :class:`StatedRule`
keeps the terms as stated.  :func:`stated_rule_obligations` yields its obligations.  :func:`judge` evaluates it exactly
at a point, in its own arithmetic.
"""

from __future__ import annotations

from pathlib import Path

from ...core.errors import InputError
from .evaluate import Missing, Outcome, judge, truth, values
from .json_form import parse_json_rules, rules_to_json
from .obligations import stated_rule_obligations
from .rule import StatedRule
from .semantics import Semantics
from .terms import Kind, Term, show, subterms
from .text_reader import parse_rules

__all__ = [
    "Kind",
    "Missing",
    "Outcome",
    "Semantics",
    "StatedRule",
    "Term",
    "is_rule_file",
    "judge",
    "parse_json_rules",
    "parse_rules",
    "read_rule_file",
    "rules_to_json",
    "show",
    "stated_rule_obligations",
    "subterms",
    "truth",
    "values",
]


def is_rule_file(name: str) -> bool:
    """Return whether a name on the command line denotes a rule file, by its suffix or because the file exists."""
    path = Path(name)
    if path.suffix == ".py":
        return False
    return path.suffix in (".rules", ".json", ".txt") or (("." in name or "/" in name) and path.is_file())


def read_rule_file(text: str, name: str, problems: list[InputError] | None = None) -> list[StatedRule]:
    """Read the rules of a file: JSON if it begins with a brace or bracket or is named ``.json``, else the text form.

    Raises only :class:`~indexproof.core.errors.InputError`.  If ``problems`` is given, the error of an ill-formed rule is
    appended to it, and the other rules are read.
    """
    if text.lstrip("\ufeff \t\r\n").startswith(("{", "[")) or name.endswith(".json"):
        return parse_json_rules(text, name, problems)
    return parse_rules(text, name, problems)
