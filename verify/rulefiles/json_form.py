"""Reads and writes rule files as JSON; reports/rule_files.md describes the form."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, TypeAlias

from ...core.errors import InputError, quoted
from ...core.json_text import dump_json, load_json
from ..verdict import Status
from .rule import EXPECTED, StatedRule, checked
from .semantics import Semantics, division_of, overflow_of, rounding_of, width_of
from .terms import OPERATORS, Kind, Term, below
from .text_reader import applied

#: Keys of notes for readers, which the prover ignores.
NOTES: Final = frozenset(
    {"comment", "doc", "file", "format", "id", "line", "note", "notes", "origin", "source", "tags", "title"}
    | {"url", "version"}
)
_MEANING: Final = ("semantics", "quotient", "remainder", "width", "overflow")
_FILE_KEYS: Final = ("rules", "name", *_MEANING)
_RULE_KEYS: Final = ("name", "vars", "if", "left", "right", "expect", *_MEANING)

Path: TypeAlias = tuple[str | int, ...]
#: A path as a linked list from the inside out, which deeply nested terms share.
Place: TypeAlias = "tuple[Place, str | int] | None"


def parse_json_rules(
    text: str, name: str = "<rules>", problems: list[InputError] | None = None, *, derived: bool = False
) -> list[StatedRule]:
    """Return the rules of a JSON text.  Raises only :class:`InputError`, with a position in the text.

    If ``problems`` is given, the error of an ill-formed rule is appended to it, and the other rules are read.  Rules
    ``derived`` from others, for example by dropping a condition, may have variables on the right side alone.
    """
    return _Reader(text, name, problems, derived=derived).rules()


class _Reader:
    def __init__(self, text: str, name: str, problems: list[InputError] | None, *, derived: bool) -> None:
        self.text = text
        self.name = name
        self.problems = problems
        self.derived = derived
        self.places: dict[int, dict[Any, int]] = {}
        self.data = load_json(text, self.places)
        self.names: dict[str, int] = {}

    def wrong(self, path: Path, message: str, expected: str) -> InputError:
        """Return an error that points to the value at ``path``, or to the key if the path ends with one."""
        at, value = len(self.text) - len(self.text.lstrip("\ufeff \t\r\n")), self.data
        for step in path:
            at, value = self.places[id(value)][step], value[step]
        return InputError.at(f"{place}: {message}" if (place := path_text(path)) else message, self.text, at, expected)

    def rules(self) -> list[StatedRule]:
        data = self.object(self.data, (), _FILE_KEYS, 'an object with `"rules"`')
        if "rules" not in data:
            raise self.wrong((), "the file states no rules", 'the key `"rules"`')
        rules = data["rules"]
        if not isinstance(rules, list):
            raise self.wrong(("rules",), f"{_what(rules)} is no list of rules", "a list")
        if not rules:
            raise self.wrong(("rules",), "the file states no rule", "at least one rule")
        semantics = self.semantics(data, (), Semantics())
        found = []
        line = offset = 0
        for k, (r, at) in enumerate(zip(rules, self.places[id(rules)].values(), strict=True)):
            line, offset = line + self.text.count("\n", offset, at), at
            column = offset - self.text.rfind("\n", 0, offset)
            try:
                rule = self.rule(r, ("rules", k), k, semantics)
                found.append(replace(rule, line=line + 1, column=column))
            except InputError as wrong:
                if self.problems is None:
                    raise
                self.problems.append(wrong)
        return found

    def object(self, data: Any, path: Path, keys: Sequence[str], expected: str) -> dict[str, Any]:
        if not isinstance(data, dict):
            raise self.wrong(path, f"{_what(data)} is no object", expected)
        for k in data:
            if k not in keys and k not in NOTES and not k.startswith("_"):
                raise self.wrong((*path, k), f"unknown key {quoted(k)}", ", ".join(f"`{x}`" for x in keys))
        return data

    def semantics(self, data: Mapping[str, Any], path: Path, outer: Semantics) -> Semantics:
        quotient, remainder = outer.quotient, outer.remainder
        if "semantics" in data:
            quotient, remainder = self.told(division_of, data["semantics"], (*path, "semantics"))
        if "quotient" in data:
            quotient = self.told(rounding_of, data["quotient"], (*path, "quotient"))
        if "remainder" in data:
            remainder = self.told(rounding_of, data["remainder"], (*path, "remainder"))
        width, overflow = outer.width, outer.overflow
        if data.get("width") is not None:
            width = self.told(width_of, data["width"], (*path, "width"))
        elif "width" in data:
            width = 0
        if "overflow" in data:
            overflow = self.told(overflow_of, data["overflow"], (*path, "overflow"))
        inherited = "overflow" in self.data and not ("overflow" in data or "width" in data)
        if path and not width and ("overflow" in data or inherited):
            at = ("overflow",) if inherited else (*path, "overflow")
            raise self.wrong(at, "unbounded integers do not overflow", "a `width` in bits as well")
        return Semantics(quotient, remainder, width, overflow)

    def told(self, read: Callable[[Any], Any], value: Any, path: Path) -> Any:
        try:
            return read(value)
        except InputError as wrong:
            raise self.wrong(path, wrong.message, wrong.expected) from None

    def rule(self, data: Any, path: Path, number: int, outer: Semantics) -> StatedRule:
        data = self.object(data, path, _RULE_KEYS, "a rule, as an object")
        for k in ("left", "right"):
            if k not in data:
                raise self.wrong(path, f"the rule has no {k} side", f'the key `"{k}"`')
        name = data.get("name", f"rule {number + 1}")
        if not isinstance(name, str) or not name.strip():
            given = quoted(json.dumps(name)) if isinstance(name, str) else _what(name)
            raise self.wrong((*path, "name"), f"{given} is no name", "a string that is not empty")
        if not name.isprintable():
            raise self.wrong(
                (*path, "name"), f"{quoted(name)} cannot be printed", "a name in one line, of printable characters"
            )
        # generated lists often repeat names
        count = self.names[name] = self.names.get(name, 0) + 1
        while count > 1 and f"{name} #{count}" in self.names:
            count += 1
        if count > 1:
            name = f"{name} #{count}"
            self.names[name] = 1
        kinds = self.kinds(data.get("vars", {}), (*path, "vars"))
        paths: list[Place] = []
        left = self.term(data["left"], (*path, "left"), paths)
        right = self.term(data["right"], (*path, "right"), paths)
        conditions = () if data.get("if") is None else (self.term(data["if"], (*path, "if"), paths),)
        expected = data.get("expect", "PROVED")
        if expected not in EXPECTED:
            message = f"{_what(expected)} is no verdict to expect"
            raise self.wrong((*path, "expect"), message, '`"PROVED"` or `"REFUTED"`')
        doc = next((data[k] for k in ("doc", "note", "comment") if isinstance(data.get(k), str)), "")
        where = f"{self.name}: {path_text(path)}"
        meaning = self.semantics(data, path, outer)
        found = StatedRule(name, left, right, conditions, kinds, meaning, doc, where, expected=Status(expected))
        return checked(
            found,
            lambda t, message, expected: self.wrong(path_of(paths[t.at]), message, expected),
            lenient=True,
            derived=self.derived,
        )

    def kinds(self, data: Any, path: Path) -> dict[str, Kind]:
        if not isinstance(data, dict):
            raise self.wrong(path, f"{_what(data)} declares no variables", 'an object such as `{"x": "int"}`')
        out: dict[str, Kind] = {}
        for name, kind in data.items():
            here = (*path, name)
            if not name.isprintable() or not name.strip() or name in ("true", "false"):
                raise self.wrong(here, f"{quoted(name)} cannot name a variable", "a word of printable characters")
            if isinstance(kind, str) and kind in ("int", "const", "bool"):
                out[name] = Kind(kind)  # type: ignore[arg-type]
                continue
            constant = isinstance(kind, list) and kind[:1] == ["const"]
            bounds = kind[1:] if constant else kind
            if not (isinstance(bounds, list) and len(bounds) == 2 and all(type(b) is int for b in bounds)):
                expected = '`"int"`, `"const"`, `"bool"` or `[LO, HI]`'
                raise self.wrong(here, f"{_what(kind)} is no kind of variable", expected)
            lo, hi = bounds
            if lo > hi:
                raise self.wrong(here, f"no integer lies in [{lo}, {hi}]", "the smaller bound first")
            out[name] = Kind("const" if constant else "int", lo, hi)
        return out

    def term(self, data: Any, path: Path, paths: list[Place]) -> Term:
        """Return the term that a value denotes; ``at`` of every term is an index into ``paths``."""
        done: list[Term] = []
        start: Place = None
        for step in path:
            start = start, step
        todo: list[tuple[Any, Place, bool]] = [(data, start, False)]
        while todo:
            value, here, inside = todo.pop()
            if inside:
                args = done[len(done) - len(value) + 1 :]
                del done[len(done) - len(value) + 1 :]
                paths.append(here)
                done.append(applied(value[0], args, len(paths) - 1))
                continue
            if isinstance(value, list):
                self.check_call(value, here)
                todo.append((value, here, True))
                todo.extend((a, (here, k), False) for k, a in reversed([*enumerate(value)][1:]))
                continue
            paths.append(here)
            op = {bool: "bool", int: "int", str: "var"}.get(type(value))
            if op is None:
                expected = "an integer, a name, `true`, `false` or a list"
                raise self.wrong(path_of(here), f"{_what(value)} is no expression", expected)
            done.append(Term(op, (), value, len(paths) - 1))
        return done[0]

    def check_call(self, value: list[Any], place: Place) -> None:
        if not value or not isinstance(value[0], str) or value[0] not in OPERATORS:
            what = f"there is no operator {quoted(value[0])}" if value else "an empty list is no expression"
            path = path_of(place)
            raise self.wrong((*path, 0) if value else path, what, f"one of {', '.join(OPERATORS)}")
        o = OPERATORS[value[0]]
        count = len(value) - 1
        if count < len(o.args) or (o.most and count > o.most):
            wanted = f"{o.most}" if o.most else f"at least {len(o.args)}"
            raise self.wrong(path_of(place), f"`{value[0]}` with {count} arguments", wanted)


def path_of(place: Place) -> Path:
    """Return the keys and indices from the outside in."""
    out: list[str | int] = []
    while place is not None:
        place, step = place
        out.append(step)
    return tuple(reversed(out))


def _what(value: Any) -> str:
    if isinstance(value, (dict, list)):
        return "an object" if isinstance(value, dict) else "a list"
    if value is None or isinstance(value, bool):
        return {None: "`null`", True: "`true`", False: "`false`"}[value]
    return quoted(value)


def path_text(path: Path) -> str:
    """Return a path as text, for example ``rules[3].left[1]``."""
    text = "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in path)
    return text.removeprefix(".")


# ------------------------------------------------------------------------------------------------------ printing
def rules_to_json(rules: Iterable[StatedRule]) -> str:
    """Return the rules as JSON text; reading it gives the same rules."""
    return dump_json({"rules": [_rule_to_json(r) for r in rules]}) + "\n"


def _rule_to_json(r: StatedRule) -> dict[str, Any]:
    out: dict[str, Any] = {"name": r.name, "vars": {v: _kind_to_json(k) for v, k in r.variables.items()}}
    if r.conditions:
        parts = [_term_to_json(c) for c in r.conditions]
        out["if"] = parts[0] if len(parts) == 1 else ["and", *parts]
    out |= {"left": _term_to_json(r.left), "right": _term_to_json(r.right)}
    s = r.semantics
    out["semantics"] = s.quotient if s.quotient == s.remainder else {"quotient": s.quotient, "remainder": s.remainder}
    if s.width:
        out |= {"width": s.width, "overflow": s.overflow}
    if r.expected is not Status.PROVED:
        out["expect"] = r.expected
    if r.doc:
        out["doc"] = r.doc
    return out


def _kind_to_json(kind: Kind) -> Any:
    if kind.lo is None:
        return kind.name
    return [kind.lo, kind.hi] if kind.name == "int" else [kind.name, kind.lo, kind.hi]


def _term_to_json(root: Term) -> Any:
    done: dict[int, Any] = {}
    for t in below(root):
        if t.op in ("int", "bool", "var", "flag"):
            done[id(t)] = t.value
        else:
            done[id(t)] = [t.op, *(done[id(a)] for a in t.args)]
    return done[id(root)]
