"""Other people's rules: stated in a file, in the meaning of their own compiler, and proved like ours.

A rule file is plain text or JSON and is never executed; reports/rule_files.md gives both forms and the meaning of every
word.  A :class:`StatedRule` keeps its terms; :func:`stated_rule_obligations` says in the core language what it owes,
case by case; :func:`judge` evaluates it at a point, exactly, in its own arithmetic.
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
    """Whether a name on the command line means a rule file: by its suffix, or because there is such a file."""
    path = Path(name)
    if path.suffix == ".py":
        return False
    return path.suffix in (".rules", ".json", ".txt") or (("." in name or "/" in name) and path.is_file())


def read_rule_file(text: str, name: str, problems: list[InputError] | None = None) -> list[StatedRule]:
    """The rules of a file: JSON where its first character is a brace, or where it is called so; else the text form.

    Raises :class:`~indexproof.core.errors.InputError` and nothing else.  An ill-formed rule is added to ``problems``,
    where that is given, and costs no other one.
    """
    if text.lstrip("\ufeff \t\r\n").startswith(("{", "[")) or name.endswith(".json"):
        return parse_json_rules(text, name, problems)
    return parse_rules(text, name, problems)
