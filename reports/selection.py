"""Claims by name: from the catalogue, or declared in a Python file that somebody wrote."""

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
from ..verify.budget import MAX_RANK
from ..verify.catalogue import Claim, claims, family_of, group_of, obligations_of
from ..verify.obligation import Obligation
from ..verify.rulefiles import StatedRule, is_rule_file, read_rule_file
from .files import collecting, read_text
from .layout import listed

#: Names that select a whole family, and the families of obligations that they stand for.
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
    """A claim, the name that selects it and where it is listed: a rule or law under its own name, an op's
    instance under the op.  ``file``, ``line`` and ``column`` say where a file of somebody's own declares it.
    """

    name: str
    claim: Claim
    file: str = ""
    line: int = 0
    column: int = 0

    @property
    def family(self) -> str:
        """As :attr:`Obligation.family`."""
        return family_of(self.claim)

    @property
    def group(self) -> str:
        """The op for an instance of one, else the name."""
        return group_of(self.name, self.claim)


def by_group(claims: Iterable[Named]) -> dict[tuple[str, str], list[Named]]:
    """The claims by family and by rule, law or op."""
    out: dict[tuple[str, str], list[Named]] = {}
    for c in claims:
        out.setdefault((c.family, c.group), []).append(c)
    return out


@dataclass(frozen=True)
class Selected:
    """A claim and, where only one of its obligations was named, the kind of that."""

    named: Named
    kind: str = ""

    def obligations(self) -> list[Obligation]:
        """Return the selected obligations of the claim."""
        owed = list(obligations_of(self.named.claim))
        if self.named.line and not isinstance(self.named.claim, StatedRule):
            owed = [_placed(o, f"{self.named.file}:{self.named.line}") for o in owed]
        return [o for o in owed if o.kind == self.kind] if self.kind else owed


def _placed(o: Obligation, where: str) -> Obligation:
    """The obligation, declared at ``where``."""
    placed = copy.copy(o)
    object.__setattr__(placed, "where", where)
    return placed


def everything(max_rank: int = MAX_RANK) -> list[Named]:
    """The whole catalogue."""
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
    # an op's instances are called `transpose rank 2, permutation=(1, 0)`; the rank, or the rest, is often enough
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
    """The claims with these names, in the order of the names, each once; everything for no name.

    A name is that of a rule, a law, an op, one instance of an op (``transpose permutation=(1, 0)``, ``transpose rank 2``),
    a rule set or a family, or that of one obligation (``quotient_by_one: sound``).  Raises :class:`InputError` with the
    nearest names for one that nothing has.
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
            # only what would be found: a file has few of the families, or none
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
    """The end of an error message about an unknown name: the nearest ones, or where names are listed."""
    unique = list(dict.fromkeys(known))
    if not (close := difflib.get_close_matches(name, unique, n=3, cutoff=0.6)):
        # a misremembered name often has a word in common with the real one
        words = [w for w in re.split(r"[\W_]+", name) if len(w) > 3]
        close = [n for n in unique if any(w in n for w in words)][:3]
    if not close:
        return otherwise
    return f"did you mean {' or '.join(map(quoted, close))}?"


# ------------------------------------------------------------------------------------------------ from a file
def is_file(name: str) -> bool:
    """Whether a name on the command line means a Python file with declarations."""
    return name.endswith(".py")


def files_among(names: Iterable[str]) -> list[str]:
    """Those names that mean files with declarations or rules, each once; ``-`` is standard input."""
    return [n for n in dict.fromkeys(names) if n == "-" or is_file(n) or is_rule_file(n)]


def chosen(
    names: Sequence[str],
    max_rank: int = MAX_RANK,
    read: Callable[[str], str] | None = None,
    problems: list[InputError] | None = None,
) -> list[Selected]:
    """The claims with these names, of the files among them, or else of the catalogue; all of these for no name.

    ``read`` gives the text of a rule file.  A file or a statement that is ill-formed is added to ``problems``, where that
    is given, and costs only itself as long as something is left.  Raises :class:`InputError` for what is not there.
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
    """The obligations of the claims with these names, as in :func:`chosen`, or of the whole catalogue."""
    return [o for s in chosen(list(names), max_rank) for o in s.obligations()]


def declared_in(path: str | Path, max_rank: int = MAX_RANK, problems: list[InputError] | None = None) -> list[Named]:
    """The rules, laws and ops that a Python file declares (what it imports from elsewhere is not among them).

    The file is run.  Raises :class:`InputError`, pointing into the file, for one that cannot be read, does
    not compile, fails while it runs, or declares nothing.  A declaration that makes no sense is added to ``problems``,
    where that is given, and costs no other one.
    """
    source = read_text(path)
    module = run_python(path, problems)
    ours = {id(claim) for _, claim in claims(max_rank=-1)}
    places = _places_of_names(source)
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
                # an op may only now turn out to make no sense
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


def _places_of_names(source: str) -> dict[str, tuple[int, int]]:
    """Line and column where each name of a module is first bound, decorators included."""
    found: dict[str, tuple[int, int]] = {}
    for node in ast.parse(source).body:
        # a decorator begins with its `@`
        first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
        for name in _names_bound(node):
            found.setdefault(name, (first, node.col_offset + 1))
    return found


def _names_bound(node: ast.stmt) -> list[str]:
    """The names that a statement of a module binds."""
    match node:
        case ast.FunctionDef() | ast.ClassDef():
            return [node.name]
        case ast.Assign():
            return [t.id for target in node.targets for t in ast.walk(target) if isinstance(t, ast.Name)]
        case ast.AnnAssign(target=ast.Name() as t):
            return [t.id]
        case ast.ImportFrom() | ast.Import():
            return [(a.asname or a.name) for a in node.names]
    return []


def _place_of_rule(claim: Claim, path: str, source: str) -> tuple[int, int] | None:
    """Line and column of a rule that a function in this very file declares."""
    file, _, number = getattr(claim, "where", "").rpartition(":")
    if not isinstance(claim, Rule | ConstraintRule) or file != Path(path).name or not number.isdigit():
        return None
    lines = source.split("\n")
    text = lines[int(number) - 1] if 0 < int(number) <= len(lines) else ""
    return int(number), len(text) - len(text.lstrip()) + 1


def stated_in(path: str | Path, text: str, problems: list[InputError] | None = None) -> list[Named]:
    """The rules that a rule file states.  Raises :class:`InputError`, pointing into the file.

    An ill-formed rule is added to ``problems``, where that is given, and costs no other one.
    """
    found = read_rule_file(text, str(path), problems)
    return [Named(r.name, r, str(path), r.line, r.column) for r in found]


def run_python(file: str | Path, problems: list[InputError] | None = None) -> ModuleType:
    """Run a Python file as a module.  Raises :class:`InputError`, pointing into the file, where that fails.

    A function or a class that cannot be declared is added to ``problems``, where that is given, and costs only itself and
    the statements that name it.
    """
    path, source = str(file), read_text(file)
    module = ModuleType(f"claims_of_{re.sub(r'[^0-9A-Za-z]', '_', path)}")
    module.__file__ = path
    try:
        body = ast.parse(source, path).body
    except (SyntaxError, ValueError) as error:
        raise blamed(error, path, source) from error
    # dataclasses look their module up by name; helpers beside the file may be imported
    sys.modules[module.__name__] = module
    sys.path.insert(0, str(Path(path).resolve().parent))
    wrong: list[InputError] = []
    try:
        _run_statements(body, module, path, source, wrong)
    except (Exception, SystemExit) as error:
        raise blamed(error, path, source) from error
    finally:
        sys.path.pop(0)
        _told(wrong, problems)
    return module


def _told(wrong: Sequence[InputError], problems: list[InputError] | None) -> None:
    """Add what is wrong to ``problems``.  Raises the first of it where that is not given."""
    if problems is not None:
        problems += wrong
    elif wrong:
        raise wrong[0]


def _run_statements(
    body: list[ast.stmt], module: ModuleType, path: str, source: str, problems: list[InputError]
) -> None:
    """Run the statements of a module one by one, as :func:`run_python` does."""
    future = [s for s in body if isinstance(s, ast.ImportFrom) and s.module == "__future__"]
    lost: set[str] = set()
    for statement in body:
        try:
            exec(compile(ast.Module([*future, statement], []), path, "exec", dont_inherit=True), vars(module))
        except Exception as error:
            if not (isinstance(error, NameError) and error.name in lost):  # the reason is told already
                if not isinstance(statement, ast.FunctionDef | ast.ClassDef):
                    raise
                problems.append(blamed(error, path, source))
            lost.update(_names_bound(statement))


def blamed(error: BaseException, path: str, source: str) -> InputError:
    """An error that a file caused while it was run, pointing at the line that did."""
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
    """The claims that a rule, a law, an op, an instance of one, or several of these stand for."""
    return list(_claims_in(value, getattr(value, "__module__", ""), max_rank))


def _claims_in(value: Any, module: str, max_rank: int) -> Iterator[Named]:
    """The claims that one value of a module stands for."""
    match value:
        case Rule() | ConstraintRule() | TransferLaw() | KnownLaw() | TransformLaw():
            yield Named(value.name, value)
        case Case():
            yield Named(f"{value.op.name} {value.label}", value)
        case RuleSet() | tuple() | list():
            for part in value:
                yield from _claims_in(part, module, max_rank)
        case type() if issubclass(value, Op) and value is not Op and value.__module__ == module:
            if not (cases := [c for rank in range(max_rank + 1) for c in value.cases(rank)]):
                said = f"op {value.name or value.__name__} has no cases up to rank {max_rank}"
                raise InputError(f"{said}: nothing to prove")
            for c in cases:
                yield Named(f"{c.op.name} {c.label}", c)
