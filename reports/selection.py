"""Selection of claims by name, from the catalogue or from files."""

from __future__ import annotations

import ast
import copy
import difflib
import re
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any

from ..core.errors import InputError, quoted
from ..core.op import Case, Op
from ..core.rewrite import ConstraintRule, Rule, RuleSet
from ..rules import catalog
from ..rules.transfer import KnownLaw, TransferLaw
from ..rules.transforms import TransformLaw
from ..verify.budget import MAX_RANK, ranks
from ..verify.catalogue import Claim, claims, family_of, group_of, obligations_of
from ..verify.obligation import Obligation
from ..verify.rulefiles import StatedRule, is_rule_file, read_rule_file
from .files import collecting, read_text
from .layout import listed

#: Names that select a whole family, and the families of obligations that belong to it.
FAMILIES = {
    "rules": ("rule", "constraint rule"),
    "transfer": ("transfer",),
    "tiles": ("tile",),
    "transforms": ("transform",),
    "lemmas": ("lemma",),
    "ops": ("op",),
}
_SETS = [n for n in catalog.__all__ if n != "RULES" and isinstance(getattr(catalog, n), RuleSet)]


@dataclass(frozen=True)
class Named:
    """A claim with its name and, if a user's file declares it, the place: ``file``, ``line`` and ``column``."""

    name: str
    claim: Claim
    file: str = ""
    line: int = 0
    column: int = 0

    @property
    def family(self) -> str:
        """The family, as in :attr:`Obligation.family`."""
        return family_of(self.claim)

    @property
    def group(self) -> str:
        """The op of an instance; the name of any other claim."""
        return group_of(self.name, self.claim)


def by_group(claims: Iterable[Named]) -> dict[tuple[str, str], list[Named]]:
    """Group claims by family and by rule, law or op."""
    out: dict[tuple[str, str], list[Named]] = {}
    for c in claims:
        out.setdefault((c.family, c.group), []).append(c)
    return out


@dataclass(frozen=True)
class Selected:
    """A selected claim, with ``kind`` if only one of its obligations was selected."""

    named: Named
    kind: str = ""

    def obligations(self) -> list[Obligation]:
        """Return the selected obligations of the claim."""
        owed = list(obligations_of(self.named.claim))
        if self.named.line and not isinstance(self.named.claim, StatedRule):
            owed = [_placed(o, f"{self.named.file}:{self.named.line}") for o in owed]
        return [o for o in owed if o.kind == self.kind] if self.kind else owed


def _placed(o: Obligation, where: str) -> Obligation:
    """Return a copy of the obligation that is declared at ``where``."""
    placed = copy.copy(o)
    object.__setattr__(placed, "where", where)
    return placed


def everything(max_rank: int = MAX_RANK) -> list[Named]:
    """Return the whole catalogue."""
    return [Named(name, claim) for name, claim in claims(max_rank=max_rank)]


# ---------------------------------------------------------------------------------------------------- by name
def _bare(text: str) -> str:
    return re.sub(r"\s+", "", text)


def _matches(name: str, among: Sequence[Named]) -> list[Named]:
    if exact := [c for c in among if c.name == name]:
        return exact
    if name in FAMILIES:
        return [c for c in among if c.family in FAMILIES[name]]
    if name in _SETS:
        rules = {r.name for r in getattr(catalog, name)}
        return [c for c in among if c.name in rules]
    if whole := [c for c in among if c.group == name]:
        return whole
    # instances of an op are called `transpose rank 2, permutation=(1, 0)`; the rank or the rest may suffice
    wanted = _bare(name)
    found = []
    for c in among:
        if isinstance(c.claim, Case):
            rank, _, rest = c.claim.label.partition(", ")
            if wanted in (_bare(c.name), _bare(c.group + rest), _bare(c.group + rank)):
                found.append(c)
    return found


_LISTED = "`indexproof show` prints the names"


def select(names: Iterable[str], among: Sequence[Named], where: str = "the catalogue") -> list[Selected]:
    """Return the claims with these names, in the order of the names and each once; all claims if no name is given.

    A name denotes a rule, a law, an op, one instance of an op (``transpose permutation=(1, 0)``, ``transpose rank 2``),
    a rule set, a family, or one obligation (``quotient_by_one: sound``).  Raises :class:`InputError` with the nearest
    names for an unknown one.
    """
    if not (wanted := list(names)):
        return [Selected(c) for c in among]
    chosen: dict[tuple[str, str], Selected] = {}
    for name in wanted:
        found, kind = _matches(name, among), ""
        if not found and ": " in name:
            subject, _, kind = name.partition(": ")
            found = _matches(subject, among)
            kinds = [o.kind for c in found for o in obligations_of(c.claim)]
            if found and kind not in kinds:
                expected = f"one of {', '.join(map(quoted, dict.fromkeys(kinds)))}"
                raise InputError(f"{quoted(subject)} does not owe {quoted(kind)}", expected=expected)
        if not found:
            # suggest only families and sets that contain a claim here
            several = (n for n in (*FAMILIES, *_SETS) if _matches(n, among))
            names_ = [*(c.name for c in among), *(c.group for c in among), *several]
            known = _LISTED
            if where != "the catalogue":
                known = f"there is {listed([quoted(c.name) for c in among])}"
            if Path(name).is_dir():
                known = f"the folder is called {quoted(name + '/', 80)}"
            nearest = suggestion(name.partition(": ")[0], names_, known)
            raise InputError(f"nothing in {where} is called {quoted(name, 80)}: {nearest}")
        for c in found:
            owed = [o.kind for o in obligations_of(c.claim)] if kind else []
            if not kind or kind in owed:
                chosen.setdefault((c.name, kind), Selected(c, kind))
    whole = {name for name, kind in chosen if not kind}
    return [s for (name, kind), s in chosen.items() if not kind or name not in whole]


def suggestion(name: str, known: Iterable[str], otherwise: str = _LISTED) -> str:
    """Return the end of an error message about an unknown name: the nearest names, or how to list names."""
    unique = list(dict.fromkeys(known))
    if not (close := difflib.get_close_matches(name, unique, n=3, cutoff=0.6)):
        # a misremembered name often shares a word with the real one
        words = [w for w in re.split(r"[\W_]+", name) if len(w) > 3]
        close = [n for n in unique if any(w in n for w in words)][:3]
    if not close:
        return otherwise
    return f"did you mean {' or '.join(map(quoted, close))}?"


# ------------------------------------------------------------------------------------------------ from a file
def is_file(name: str) -> bool:
    """Return whether a name on the command line means a Python file with declarations."""
    return name.endswith(".py")


def files_among(names: Iterable[str]) -> list[str]:
    """Return the names that mean files with declarations or rules, each once; ``-`` is standard input."""
    return [n for n in dict.fromkeys(names) if n == "-" or is_file(n) or is_rule_file(n)]


def chosen(
    names: Sequence[str],
    max_rank: int = MAX_RANK,
    read: Callable[[str], str] | None = None,
    problems: list[InputError] | None = None,
) -> list[Selected]:
    """Return the claims with these names, from the files among them or else from the catalogue; all if no name is left.

    ``read`` reads a rule file.  An ill-formed file or statement is appended to ``problems``, if given, and the rest is
    still selected.  Raises :class:`InputError` for unknown names, and if nothing is left.
    """
    files = files_among(names)
    rest = [n for n in names if n not in files]
    if not files:
        return select(rest, everything(max_rank))
    found: dict[str, Named] = {}
    for path in files:
        place = "standard input" if path == "-" else path
        own: list[Named] = []
        with collecting(problems, place) as ill_formed:
            if is_file(path):
                own = declared_in(path, max_rank, ill_formed)
            else:
                own = stated_in(place, (read or read_text)(path), ill_formed)
        for claim in own:
            with collecting(problems):
                if found.setdefault(claim.name, claim) is not claim:
                    verb = "declares" if is_file(path) else "states"
                    raise InputError(f"{path}: another of the files also {verb} {quoted(claim.name)}")
    if problems and not found:
        raise problems.pop()
    return select(rest, list(found.values()), " or ".join(files))


def catalogue(names: Iterable[str] = (), max_rank: int = MAX_RANK) -> list[Obligation]:
    """Return the obligations of the claims with these names, as in :func:`chosen`, or of the whole catalogue."""
    return [o for s in chosen(list(names), max_rank) for o in s.obligations()]


def declared_in(path: str | Path, max_rank: int = MAX_RANK, problems: list[InputError] | None = None) -> list[Named]:
    """Run a Python file and return the rules, laws and ops that it declares, without those that it imports.

    Raises :class:`InputError` with the line for a file that cannot be read, does not compile, fails while it runs, or
    declares nothing.  An invalid declaration is appended to ``problems``, if given, and the others are still returned.
    """
    source = read_text(path)
    places: dict[str, tuple[int, int]] = {}
    module = run_python(path, problems, places)
    ours = {id(claim) for _, claim in claims(max_rank=-1)}
    found: dict[str, Named] = {}
    wrong: list[InputError] = []
    for name, value in list(vars(module).items()):
        place = places.get(name, (0, 0))
        try:
            for named in _claims_in(value, module.__name__, max_rank):
                known = found.get(named.name)
                if id(named.claim) in ours or (known is not None and known.claim is named.claim):
                    continue
                if known is not None:
                    raise InputError(f"{path}: two claims are called {quoted(named.name)}")
                # an op may turn out to be invalid only when its obligations are stated
                list(obligations_of(named.claim))
                line, column = _place_of_rule(named.claim, str(path), source) or place
                found[named.name] = replace(named, file=str(path), line=line, column=column)
        except Exception as error:
            made = error if isinstance(error, InputError) else blamed(error, str(path), source)
            if not made.line:
                made.source, (made.line, made.column) = source, place
            wrong.append(made)
    _told(wrong, problems)
    if not found and not problems:
        raise InputError(f"{path} declares nothing to prove", expected="a rule, a law or an op")
    return list(found.values())


def _place_of_rule(claim: Claim, path: str, source: str) -> tuple[int, int] | None:
    """Return line and column of a rule that a function in this file declares; ``None`` for other claims."""
    file, _, number = getattr(claim, "where", "").rpartition(":")
    if not isinstance(claim, Rule | ConstraintRule) or file != Path(path).name or not number.isdigit():
        return None
    lines = source.split("\n")
    text = lines[int(number) - 1] if 0 < int(number) <= len(lines) else ""
    return int(number), len(text) - len(text.lstrip()) + 1


def stated_in(path: str | Path, text: str, problems: list[InputError] | None = None) -> list[Named]:
    """Read the rules of a rule file.  Raises :class:`InputError` with the line.

    An ill-formed rule is appended to ``problems``, if given, and the others are still returned.
    """
    found = read_rule_file(text, str(path), problems)
    return [Named(r.name, r, str(path), r.line, r.column) for r in found]


def run_python(
    file: str | Path, problems: list[InputError] | None = None, places: dict[str, tuple[int, int]] | None = None
) -> ModuleType:
    """Run a Python file as a module.  Raises :class:`InputError` with the line if that fails.

    A function or class whose declaration fails is appended to ``problems``, if given; only it and the statements that
    name it are skipped.  Line and column of the statement that binds a name are added to ``places``, if given.
    """
    path, source = str(file), read_text(file)
    module = ModuleType(f"claims_of_{re.sub(r'[^0-9A-Za-z]', '_', path)}")
    module.__file__ = path
    try:
        body = ast.parse(source, path).body
    except (SyntaxError, ValueError) as error:
        raise blamed(error, path, source) from error
    # dataclasses look up their module by name; the file may import helpers from its folder
    sys.modules[module.__name__] = module
    sys.path.insert(0, str(Path(path).resolve().parent))
    wrong: list[InputError] = []
    try:
        _run_statements(body, module, path, source, wrong, {} if places is None else places)
    except (Exception, SystemExit) as error:
        raise blamed(error, path, source) from error
    finally:
        sys.path.pop(0)
        _told(wrong, problems)
    return module


def _told(wrong: Sequence[InputError], problems: list[InputError] | None) -> None:
    """Append the errors to ``problems``, or raise the first one if ``problems`` is ``None``."""
    if problems is not None:
        problems += wrong
    elif wrong:
        raise wrong[0]


def _run_statements(
    body: list[ast.stmt],
    module: ModuleType,
    path: str,
    source: str,
    problems: list[InputError],
    places: dict[str, tuple[int, int]],
) -> None:
    """Run the statements of a module one by one; see :func:`run_python`."""
    future = [s for s in body if isinstance(s, ast.ImportFrom) and s.module == "__future__"]
    lost: set[str] = set()
    for statement in body:
        before = {**vars(module)}
        try:
            exec(compile(ast.Module([*future, statement], []), path, "exec", dont_inherit=True), vars(module))
        except Exception as error:
            if not (isinstance(error, NameError) and error.name in lost):  # a consequence of an error already reported
                if not isinstance(statement, ast.FunctionDef | ast.ClassDef):
                    raise
                problems.append(blamed(error, path, source))
            lost.add(getattr(statement, "name", ""))
            lost |= {n.id for n in ast.walk(statement) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        # a declaration begins with the `@` of its first decorator
        first = min([statement.lineno, *(d.lineno for d in getattr(statement, "decorator_list", ()))])
        made = (name for name, value in vars(module).items() if before.get(name) is not value)
        places.update(dict.fromkeys(made, (first, statement.col_offset + 1)))


def blamed(error: BaseException, path: str, source: str) -> InputError:
    """Return the error of a file that failed while it ran, with the line that caused it."""
    if isinstance(error, SyntaxError) and error.filename == path:
        message, line, column = f"{path}: {error.msg}", error.lineno or 0, error.offset or 1
        return InputError(message, source=source, line=line, column=max(column, 1))
    frames = reversed(traceback.extract_tb(error.__traceback__))
    line = next((f.lineno or 0 for f in frames if f.filename == path), 0)
    text = source.split("\n")[line - 1] if 0 < line <= source.count("\n") + 1 else ""
    column = len(text) - len(text.lstrip()) + 1
    said = " ".join(str(error).split())
    kind = type(error).__name__
    return InputError(f"{path}: {kind}{': ' + said if said else ''}", source=source, line=line, column=column)


def declared_by(value: Any, max_rank: int = MAX_RANK) -> list[Named]:
    """Return the claims of a rule, a law, an op, an instance of an op, or a sequence of these."""
    return list(_claims_in(value, getattr(value, "__module__", ""), max_rank))


def _claims_in(value: Any, module: str, max_rank: int) -> Iterator[Named]:
    """Yield the claims of one value of a module."""
    match value:
        case Rule() | ConstraintRule() | TransferLaw() | KnownLaw() | TransformLaw():
            yield Named(value.name, value)
        case Case():
            yield Named(f"{value.op.name} {value.label}", value)
        case RuleSet() | tuple() | list():
            for part in value:
                yield from _claims_in(part, module, max_rank)
        case type() if issubclass(value, Op) and value is not Op and value.__module__ == module:
            if not (cases := [c for rank in ranks(max_rank) for c in value.cases(rank)]):
                said = f"op {value.name or value.__name__} has no cases up to rank {max_rank}"
                raise InputError(f"{said}: nothing to prove")
            for c in cases:
                yield Named(f"{c.op.name} {c.label}", c)
